"""Graph capture: what operations do, as a graph, and questions about it.

The captures and the queries are the library's; graphs are lists of dictionaries here. TTNN_DIALECT
says how they are written ("tt-metal": as upstream's 0.81.1 does).
"""

import contextlib
import json
import os
import pathlib
import sys
import threading
import warnings

from ttnn import _ttnn, comparison_records, python_io
from ttnn._ttnn.graph import RunMode, track_function_end, track_function_start
from ttnn.comparison_records import (
    flush_comparison_records_to_db,
    has_comparison_records,
    record_tensor_comparison_data,
    reset_comparison_records_data,
)
from ttnn.python_io import (
    append_python_io_record,
    disable_python_io_recording,
    disable_python_stack_traces,
    enable_python_io_recording,
    enable_python_stack_traces,
    is_python_io_recording_enabled,
    is_python_stack_trace_enabled,
    record_python_operation,
    record_python_operation_error,
    store_captured_graph,
    store_output_tensor_ids,
)
from ttnn.python_io import argument_text as _safe_arg_str
from ttnn.python_io import configure_stacks as _configure_python_stack_traces_for_outer_graph_capture

REPORT_VERSION = 1
COMPARISON_RECORDS_SIDECAR_SUFFIX = comparison_records.SUFFIX
_python_io_data = []  # what python_io recorded of the capture
_outermost = threading.local()  # how the outermost capture of a thread was begun
_cpp_end_graph_capture = _ttnn.graph.end
_cpp_end_graph_capture_to_file = _ttnn.graph.end_to_file

# ---- captures


def _where():
    """The user's line that is being run, as notebooks call it there."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__") in (__name__, "contextlib"):
        frame = frame.f_back
    file, compiler = frame.f_code.co_filename, None
    if ask := getattr(sys.modules.get("IPython"), "get_ipython", None):  # whose import may be under way
        compiler = getattr(ask(), "compile", None)
    cell = compiler.format_code_name(file) if hasattr(compiler, "format_code_name") else None
    return f"{' '.join(cell) if cell else file}, line {frame.f_lineno}"


def begin_graph_capture(run_mode=None, *, this_thread=False, _internal=False):
    """Begins a capture on this thread; the outermost one's mode decides what is run.

    It hears all threads, or only this one; in dialect tt-metal always only this one. A warning is given, once, if another
    is open on this thread: maybe it was forgotten. `with capture():` forgets none.
    """
    if run_mode is not None and not isinstance(run_mode, RunMode):
        raise TypeError(f"run_mode is {run_mode!r}; it can be RunMode.NORMAL or RunMode.NO_DISPATCH of ttnn.graph")
    outermost = not is_graph_capture_active()
    if outermost:
        python_io.begin()
        _outermost.dry = run_mode == RunMode.NO_DISPATCH
        if not _internal:
            reset_comparison_records_data()
    if not outermost and (text := _ttnn.graph.open_text()):
        warnings.warn(text, RuntimeWarning, stacklevel=2)
    try:
        _ttnn.graph.begin(run_mode == RunMode.NO_DISPATCH, this_thread, _where())
    except BaseException:
        if outermost:
            python_io.end()
        raise


def is_graph_capture_active():
    return _ttnn.graph.depth() > 0


def is_dry():
    """Whether this thread's operations compute nothing: its outermost capture is one of NO_DISPATCH."""
    return is_graph_capture_active() and getattr(_outermost, "dry", False)


def _end(end, report=None):
    if not is_graph_capture_active():
        return end()  # which refuses, and says who has one
    written = None
    try:
        graph = end()
        written = report
    finally:
        if not is_graph_capture_active():
            python_io.end(written)
    return graph


def end_graph_capture():
    """Ends the newest capture of this thread: its nodes. RuntimeError when it has none."""
    return _end(_cpp_end_graph_capture)


def end_graph_capture_to_file(report_path):
    """The same, and writes a report of it. Directories are made."""
    graph = _end(lambda: _cpp_end_graph_capture_to_file(report_path), report_path)
    if graph is not None and has_comparison_records():
        comparison_records.write(pathlib.Path(report_path).with_suffix(COMPARISON_RECORDS_SIDECAR_SUFFIX))
        reset_comparison_records_data()
    return graph


def get_current_report():
    """The report of the newest capture as it would be now."""
    return json.loads(_ttnn.graph.report())


def load(path):
    """The nodes of a graph or report in JSON of any dialect, or of a .ttrace file."""
    return _ttnn.graph.load(path)


class capture:
    """A capture as long as a block lasts, also when that fails:

        with ttnn.graph.capture(RunMode.NO_DISPATCH) as captured:
            ...
        captured.graph  # its nodes

    With a path its report is written there, unless the block fails. Captures that the block left open are ended with it.
    """

    def __init__(self, run_mode=None, path=None, *, this_thread=False):
        self.graph = None
        self._how = run_mode, path, this_thread

    def __enter__(self):
        self._depth = _ttnn.graph.depth()
        begin_graph_capture(self._how[0], this_thread=self._how[2])
        return self

    def __exit__(self, failure, *unused):
        while _ttnn.graph.depth() > self._depth + 1:
            end_graph_capture()
        if _ttnn.graph.depth() > self._depth:
            path = self._how[1] if failure is None else None
            self.graph = end_graph_capture() if path is None else end_graph_capture_to_file(path)


@contextlib.contextmanager
def dry_addresses():
    """NO_DISPATCH captures meanwhile give buffers the addresses that a real run would."""
    before = _ttnn.graph.set_dry_addresses(True)
    try:
        yield
    finally:
        _ttnn.graph.set_dry_addresses(before)


@contextlib.contextmanager
def full_graph_capture(report_path, *, run_mode=None, slow_dispatch=True):
    """A capture with stacks and pages, written to a file unless the block fails."""
    before = is_stack_trace_enabled(), is_buffer_pages_enabled()
    enable_stack_traces()
    enable_buffer_pages()
    try:
        with capture(run_mode, report_path):
            yield
    finally:
        _ttnn.graph.set_switch(_ttnn.graph.STACKS, before[0])
        _ttnn.graph.set_switch(_ttnn.graph.PAGES, before[1])


# ---- switches


def _switches(which):
    def enable():
        _ttnn.graph.set_switch(which, True)

    def disable():
        _ttnn.graph.set_switch(which, False)

    def enabled():
        return _ttnn.graph.get_switch(which)

    return enable, disable, enabled


_enable_c_stacks, _disable_c_stacks, is_stack_trace_enabled = _switches(_ttnn.graph.STACKS)


def enable_stack_traces():
    """Stacks of C functions; captures of dialect tt-metal have none of C and tell Python's."""
    _enable_c_stacks()
    if os.environ.get("TTNN_DIALECT") == "tt-metal":
        enable_python_stack_traces()


def disable_stack_traces():
    _disable_c_stacks()
    if os.environ.get("TTNN_DIALECT") == "tt-metal":
        disable_python_stack_traces()


enable_buffer_pages, disable_buffer_pages, is_buffer_pages_enabled = _switches(_ttnn.graph.PAGES)
enable_detailed_buffer_tracing = enable_buffer_pages
disable_detailed_buffer_tracing = disable_buffer_pages
is_detailed_buffer_tracing_enabled = is_buffer_pages_enabled

# ---- queries


def _ask(trace, what, argument=0):
    return json.loads(_ttnn.graph.query(json.dumps(trace), what, argument))


def extract_calltrace(trace):
    """The names of all functions, in order."""
    return _ask(trace, "calltrace")


def extract_levelized_graph(trace, max_level=1):
    """Operations and tensors, and the data that flows between them, down to a level."""
    return _ask(trace, "levelized", max_level)


def extract_peak_L1_memory_usage(trace):
    return _ask(trace, "peak_l1")


def count_intermediate_and_output_tensors(trace):
    return tuple(_ask(trace, "counts"))


def extract_output_tensors(trace):
    """The counters of the nodes of the results."""
    return set(_ask(trace, "output_tensors"))


class TensorInfo:
    """Shape, bytes and kind of memory of a result."""

    def __init__(self, shape, size, type):
        self.shape, self.size, self.type = shape, size, type

    def __eq__(self, other):
        return isinstance(other, TensorInfo) and repr(self) == repr(other)

    def __repr__(self):
        return f"TensorInfo(shape={self.shape}, size={self.size}, type={self.type.name})"


def extract_output_info(trace):
    import ttnn

    def shape(text):
        inner = text[text.find("[") + 1 : text.rfind("]")]
        return ttnn.Shape([int(n) for n in inner.split(",") if n.strip()])

    return [TensorInfo(shape(i["shape"]), i["size"], getattr(ttnn.BufferType, i["type"])) for i in _ask(trace, "output_info")]


class PeakMemoryUsagePerCore:
    """Bytes of one core at the highest: each kind by itself, and the sum."""

    _names = (
        ("peak_cb", "CB"),
        ("peak_l1", "L1"),
        ("peak_dataflow_buffer", "DFB"),
        ("peak_scratchpad", "Scratchpad"),
        ("peak_total", "Total"),
    )

    def __init__(self, numbers):
        self.__dict__.update(numbers)

    def __setattr__(self, name, value):
        raise AttributeError(f"{name} cannot be set")

    def __repr__(self):
        fields = ", ".join(f"{name}={getattr(self, name)}" for name, _ in self._names)
        return f"PeakMemoryUsagePerCore({fields})"

    def __str__(self):
        lines = (f"  {label}: {getattr(self, name)} bytes" for name, label in self._names)
        return "\n".join(["Peak Memory Usage Per Core:", *lines])


def extract_resource_usage_per_core(trace, interleaved_storage_cores=None):
    if interleaved_storage_cores is not None:
        warnings.warn(
            "interleaved_storage_cores is needed for graphs without max_size_per_bank only",
            DeprecationWarning,
            stacklevel=2,
        )
    return PeakMemoryUsagePerCore(_ask(trace, "per_core", interleaved_storage_cores or 0))


def extract_total_duration_from_graph(graph):
    """Seconds of the capture; 0.0 if it has no end."""
    return _ask(graph, "duration") / 1e9


def extract_operation_durations(graph):
    """{name: seconds}; of several functions of a name the last."""
    return {
        node["params"]["name"]: node["duration_ns"] / 1e9
        for node in graph
        if node["node_type"] == "function_end" and "duration_ns" in node
    }


# ---- text and pictures


def pretty_format(graph):
    """A line for each node, indented by function."""
    return _ask(graph, "pretty")


def pretty_print(graph):
    print(pretty_format(graph))


def visualize_node(graphviz_graph, node):
    params = node["params"] or {}
    label = "\n".join(str(t) for t in (node["node_type"], params.get("name", params.get("tensor_id"))) if t is not None)
    graphviz_graph.node(f"node_{node['counter']}", label=label, fillcolor="#DCDCDC")


def visualize_edge(graphviz_graph, source_id, sink_id):
    graphviz_graph.edge(f"node_{source_id}", f"node_{sink_id}")


class ExitStackWithPop(contextlib.ExitStack):
    """An exit stack whose newest context can be left early."""

    def pop(self):
        is_sync, callback = self._exit_callbacks.pop()
        callback(None, None, None)


class Picture:
    """A drawing of a graph: an SVG document that notebooks show and that can be saved."""

    def __init__(self, graph, title=None):
        self.svg = _ttnn.graph.svg(json.dumps(graph), title)

    def _repr_svg_(self):
        return self.svg

    def save(self, file_name):
        """Writes the document, under another name until it is complete."""
        path = pathlib.Path(file_name)
        aside = path.with_name(f".{os.getpid()}-{threading.get_ident()}.svg")
        try:
            aside.write_text(self.svg, encoding="utf-8")
            aside.replace(path)
        finally:
            aside.unlink(missing_ok=True)


def _digraph(graph, visualize_node, visualize_edge):
    """The graph in graphviz's terms: a cluster for each function."""
    try:
        import graphviz
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError("functions of one's own and .png or .pdf files need the package graphviz; a .svg file needs nothing") from error
    picture = graphviz.Digraph()
    picture.attr("graph", rankdir="TB")
    picture.attr("node", shape="box", style="filled", fontsize="10", height="0.2", margin="0")
    open_clusters = [picture]
    with ExitStackWithPop() as stack:
        for node in graph:
            if node["node_type"] == "function_start":
                inner = stack.enter_context(open_clusters[-1].subgraph(name=f"cluster_{node['counter']}"))
                inner.attr(label=node["params"]["name"], bgcolor="#dce9f8", color="#2f66a8")
                open_clusters.append(inner)
            visualize_node(open_clusters[-1], node)
            if node["node_type"] == "function_end" and len(open_clusters) > 1:
                open_clusters.pop()
                stack.pop()
    for node in graph:
        for sink in node["connections"]:
            visualize_edge(picture, node["counter"], sink)
    return picture


def visualize(graph, *, file_name=None, visualize_node=visualize_node, visualize_edge=visualize_edge):
    """Draws a graph, to a .svg file if one is named: a Picture. With functions of one's own for nodes or edges, and for
    .png and .pdf files, graphviz draws: a graphviz.Digraph."""
    if file_name is not None and not str(file_name).endswith((".svg", ".png", ".pdf")):
        raise ValueError(f"{file_name} must end in .svg, .png or .pdf")
    unfinished = sum({"function_start": 1, "function_end": -1}.get(node["node_type"], 0) for node in graph)
    if unfinished > 0:
        raise ValueError(f"{unfinished} functions have not ended")
    own = globals()["visualize_node"], globals()["visualize_edge"]
    if (visualize_node, visualize_edge) == own and (file_name is None or str(file_name).endswith(".svg")):
        picture = Picture(graph)
        if file_name is not None:
            picture.save(file_name)
        return picture
    picture = _digraph(graph, visualize_node, visualize_edge)
    if file_name is not None:
        stem, suffix = os.path.splitext(str(file_name))
        picture.render(stem, format=suffix[1:], cleanup=True)
    return picture


def import_report(report_path, output_dir, db_name="db.sqlite", generate_svgs=False):
    """Makes the database of ttnn-visualizer from a report."""
    from ttnn import graph_report

    return graph_report.import_report(report_path, output_dir, db_name, generate_svgs)
