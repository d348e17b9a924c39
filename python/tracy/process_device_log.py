"""The log of a card's kernels, profile_log_device.csv: its head is read here; its times need a card."""


def extract_device_info(path):
    """(architecture, clock in MHz, number of compute cores) of the head of a log."""
    with open(path) as file:
        head = file.readline()
    fields = [field.rpartition(":")[2].strip() for field in head.split(",")]
    if not head.startswith("ARCH") or len(fields) < 3:
        raise ValueError(f"{path} is no log of a device: its head is {head.strip()!r}")
    return fields[0], int(fields[1]), int(fields[2])


def _refuse(name):
    def call(*unused, **ignored):
        raise RuntimeError(f"tracy.process_device_log.{name} reads times of kernels, which need a machine with cards; `ttnn show --profile` reads reports")

    return call


import_device_profile_log, import_log_run_stats = _refuse("import_device_profile_log"), _refuse("import_log_run_stats")
