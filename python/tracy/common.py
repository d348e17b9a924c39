"""Names of files and folders of profiles."""

import os
import shutil
from pathlib import Path

TT_METAL_HOME = Path(os.environ.get("TT_METAL_HOME", Path.cwd()))

PROFILER_DEVICE_SIDE_LOG = "profile_log_device.csv"
PROFILER_HOST_SIDE_LOG = "profile_log_host.csv"
PROFILER_HOST_DEVICE_SYNC_INFO = "sync_device_info.csv"
PROFILER_CPP_DEVICE_PERF_REPORT = "cpp_device_perf_report.csv"

PROFILER_SCRIPTS_ROOT = TT_METAL_HOME / "tools/tracy"
PROFILER_ARTIFACTS_DIR = Path(os.environ.get("TT_METAL_PROFILER_DIR", TT_METAL_HOME / "generated/profiler"))
PROFILER_BIN_DIR = TT_METAL_HOME / "build/tools/profiler/bin"
PROFILER_WASM_DIR = TT_METAL_HOME / "build/profiler/build_wasm"
PROFILER_WASM_TRACE_FILE_NAME = "embed.tracy"
PROFILER_WASM_TRACES_DIR = PROFILER_WASM_DIR / "traces"
PROFILER_DEFAULT_OP_SUPPORT_COUNT = 1000

TRACY_OPS_TIMES_FILE_NAME = "tracy_ops_times.csv"
TRACY_OPS_DATA_FILE_NAME = "tracy_ops_data.csv"
TRACY_MODULE_PATH = TT_METAL_HOME / "tt_metal/third_party/tracy"
TRACY_FILE_NAME = "tracy_profile_log_host.tracy"
TRACY_CAPTURE_TOOL = "tracy-capture"
TRACY_CSVEXPROT_TOOL = "tracy-csvexport"


def resolve_tracy_tool_path(bin_folder, tool_name):
    """The tool in that folder, or None."""
    candidate = Path(bin_folder) / tool_name
    return candidate if candidate.is_file() else None


def generate_logs_folder(outFolder):
    return Path(outFolder) / ".logs"


def generate_reports_folder(outFolder):
    return Path(outFolder) / "reports"


PROFILER_LOGS_DIR = generate_logs_folder(PROFILER_ARTIFACTS_DIR)
PROFILER_OUTPUT_DIR = generate_reports_folder(PROFILER_ARTIFACTS_DIR)


def rm(path):
    if os.path.isfile(path) or os.path.islink(path):
        os.remove(path)
    elif os.path.exists(path):
        shutil.rmtree(path)


def clear_profiler_runtime_artifacts():
    rm(PROFILER_ARTIFACTS_DIR)
