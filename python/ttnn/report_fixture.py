"""Reports of tests: what CONFIG.enable_graph_report makes pytest do (docs/python.md)."""

import hashlib
import pathlib
import sys

_NAME_LENGTH = 64
_HASH_LENGTH = 8


def derive_report_name(nodeid):
    """The name of a report that has none: file, test, and a hash that tells parameters apart."""
    file, _, test = nodeid.partition("::")
    test = test.rpartition("::")[2]
    stem = pathlib.Path(file).stem
    name = f"{stem}_{test}" if test else stem
    return f"{name[:_NAME_LENGTH - _HASH_LENGTH - 1]}_{hashlib.sha1(nodeid.encode()).hexdigest()[:_HASH_LENGTH]}"


def _finish(folder, detailed):
    """Ends the capture and turns it into a database, which stays; the capture's own file goes."""
    import ttnn
    from ttnn import graph_report

    if not ttnn.graph.is_graph_capture_active():
        print("ttnn: warning: the graph capture has ended before the test: no report", file=sys.stderr)
    else:
        capture = folder / "graph_capture.json"
        nodes = ttnn.graph.end_graph_capture_to_file(str(capture))
        try:
            graph_report.import_report(folder, folder)
        except RuntimeError as error:
            if len(nodes) > 2:  # more than its start and its end
                raise
            print(f"ttnn: warning: the test called nothing: no report: {error}", file=sys.stderr)
        capture.unlink(missing_ok=True)
    if detailed:
        ttnn.graph.disable_detailed_buffer_tracing()


def run_pytest_graph_report_fixture(request):
    """The body of a fixture: captures the test into CONFIG.report_path when a report is wanted."""
    import ttnn

    config = ttnn.CONFIG
    if not config.enable_graph_report or ttnn.graph.is_graph_capture_active():
        yield
        return
    # Devices are asked for here, so that they are closed after the report is made.
    for name in ("mesh_device", "device"):
        if name in request.fixturenames:
            request.getfixturevalue(name)
    name = config.report_name or derive_report_name(request.node.nodeid)
    with ttnn.manage_config("report_name", name):
        folder = pathlib.Path(config.report_path)
        detailed = config.enable_detailed_buffer_report
        if detailed:
            ttnn.graph.enable_detailed_buffer_tracing()
        ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NORMAL)
        try:
            yield
        finally:
            folder.mkdir(parents=True, exist_ok=True)
            _finish(folder, detailed)
            ttnn.save_config_to_json_file(folder / "config.json")
