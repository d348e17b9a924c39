"""Settings for reading the log of a card's kernels."""

from tracy.common import PROFILER_ARTIFACTS_DIR, PROFILER_DEVICE_SIDE_LOG, generate_logs_folder


class default_setup:
    """What is read, and which times are taken of it."""

    def __init__(self):
        logs = generate_logs_folder(PROFILER_ARTIFACTS_DIR)
        self.deviceInputLog = str(logs / PROFILER_DEVICE_SIDE_LOG)
        self.outputFolder = str(PROFILER_ARTIFACTS_DIR / "output/device")
        self.timerAnalysis, self.eventAnalysis, self.detectOps = {}, [], True


class test_base(default_setup):
    """The same, for tests that add what they measure."""
