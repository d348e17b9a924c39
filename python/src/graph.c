/*
 * graph.c: ttnn._ttnn.graph: captures, and queries of graphs. Graphs go out as lists of dictionaries and
 * come in as JSON text, which python/ttnn/graph.py writes.
 */
#include "py.h"

/* The nodes of a graph, which is freed. */
static PyObject *graph_nodes(enum ttnn_status status, ttnn_graph *graph)
{
	PyObject *nodes;

	if (status != TTNN_OK)
		return py_fail(status, "graph");
	nodes = py_graph_nodes(graph);
	Py_BEGIN_ALLOW_THREADS;
	ttnn_graph_free(graph);
	Py_END_ALLOW_THREADS;
	return nodes;
}

/* begin(no_dispatch, this_thread, where) */
static PyObject *begin(PyObject *module, PyObject *given)
{
	struct ttnn_graph_options options = {.dialect = py_dialect()};
	enum ttnn_status status;
	int dry, this_thread;

	(void)module;
	if (!PyArg_ParseTuple(given, "ppz", &dry, &this_thread, &options.where))
		return NULL;
	options.mode = dry ? TTNN_RUN_NO_DISPATCH : TTNN_RUN_NORMAL;
	options.this_thread = this_thread;
	status = ttnn_graph_begin_with(&options);
	if (status != TTNN_OK)
		return py_fail(status, "graph");
	Py_RETURN_NONE;
}

/* What is to be said, once, before a capture begins inside of another; None: nothing. */
static PyObject *open_text(PyObject *module, PyObject *unused)
{
	char *text;
	enum ttnn_status status = ttnn_graph_open(&text);

	(void)module;
	(void)unused;
	if (status == TTNN_OK && !text)
		Py_RETURN_NONE;
	return py_text(status, &text);
}

static PyObject *end(PyObject *module, PyObject *unused)
{
	ttnn_graph *graph = NULL;
	enum ttnn_status status;

	(void)module;
	(void)unused;
	Py_BEGIN_ALLOW_THREADS;
	status = ttnn_graph_end(&graph);
	Py_END_ALLOW_THREADS;
	return graph_nodes(status, graph);
}

/* The nodes of the graph that `make` gives for a path. */
static PyObject *graph_of_path(enum ttnn_status (*make)(ttnn_graph **, const char *),
			       PyObject *path)
{
	ttnn_graph *graph = NULL;
	enum ttnn_status status;
	PyObject *bytes;

	if (!PyUnicode_FSConverter(path, &bytes))
		return NULL;
	Py_BEGIN_ALLOW_THREADS;
	status = make(&graph, PyBytes_AS_STRING(bytes));
	Py_END_ALLOW_THREADS;
	Py_DECREF(bytes);
	return graph_nodes(status, graph);
}

/* end_to_file(path) */
static PyObject *end_to_file(PyObject *module, PyObject *path)
{
	(void)module;
	return graph_of_path(ttnn_graph_end_to_file, path);
}

static PyObject *report(PyObject *module, PyObject *unused)
{
	char *text = NULL;
	enum ttnn_status status;

	(void)module;
	(void)unused;
	Py_BEGIN_ALLOW_THREADS;
	status = ttnn_graph_report(&text);
	Py_END_ALLOW_THREADS;
	return py_text(status, &text);
}

static PyObject *depth(PyObject *module, PyObject *unused)
{
	(void)module;
	(void)unused;
	return PyLong_FromUnsignedLong(ttnn_graph_depth());
}

/* query(text of a graph, what, argument) → JSON text */
static PyObject *query(PyObject *module, PyObject *args)
{
	ttnn_graph *graph = NULL;
	char *answer = NULL;
	enum ttnn_status status;
	const char *text, *what;
	Py_ssize_t length;
	long long argument;

	(void)module;
	if (!PyArg_ParseTuple(args, "s#sL", &text, &length, &what, &argument))
		return NULL;
	Py_BEGIN_ALLOW_THREADS;
	status = ttnn_graph_parse(&graph, text, (size_t)length);
	if (status == TTNN_OK)
		status = ttnn_graph_query(&answer, graph, what, argument);
	ttnn_graph_free(graph);
	Py_END_ALLOW_THREADS;
	return py_text(status, &answer);
}

/* svg(graph as JSON text, title) → a picture */
static PyObject *svg(PyObject *module, PyObject *args)
{
	ttnn_graph *graph = NULL;
	char *picture = NULL;
	enum ttnn_status status;
	const char *text, *title;
	Py_ssize_t length;

	(void)module;
	if (!PyArg_ParseTuple(args, "s#z", &text, &length, &title))
		return NULL;
	Py_BEGIN_ALLOW_THREADS;
	status = ttnn_graph_parse(&graph, text, (size_t)length);
	if (status == TTNN_OK)
		status = ttnn_graph_svg(&picture, graph, title);
	ttnn_graph_free(graph);
	Py_END_ALLOW_THREADS;
	return py_text(status, &picture);
}

/* load(path) → the nodes of the graph in a file of any kind */
static PyObject *load(PyObject *module, PyObject *path)
{
	(void)module;
	return graph_of_path(ttnn_graph_load, path);
}

static PyObject *set_switch(PyObject *module, PyObject *args)
{
	int which, on;

	(void)module;
	if (!PyArg_ParseTuple(args, "ip", &which, &on))
		return NULL;
	ttnn_graph_set((enum ttnn_graph_switch)which, on);
	Py_RETURN_NONE;
}

static PyObject *get_switch(PyObject *module, PyObject *which)
{
	long number = PyLong_AsLong(which);

	(void)module;
	if (number == -1 && PyErr_Occurred())
		return NULL;
	return PyBool_FromLong(ttnn_graph_is_set((enum ttnn_graph_switch)number));
}

/* set_dry_addresses(on) → what it was: for this thread. */
static PyObject *dry_addresses(PyObject *module, PyObject *on)
{
	int truth = PyObject_IsTrue(on);

	(void)module;
	return truth < 0 ? NULL : PyBool_FromLong(ttnn_set_dry_addresses(truth));
}

static PyObject *track_start(PyObject *module, PyObject *name)
{
	const char *text = PyUnicode_AsUTF8(name);
	enum ttnn_status status;

	(void)module;
	if (!text)
		return NULL;
	status = ttnn_function_begin(text);
	if (status != TTNN_OK)
		return py_fail(status, "graph");
	Py_RETURN_NONE;
}

static PyObject *track_end(PyObject *module, PyObject *unused)
{
	enum ttnn_status status = ttnn_function_end();

	(void)module;
	(void)unused;
	if (status != TTNN_OK)
		return py_fail(status, "graph");
	Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
	{"begin", begin, METH_VARARGS,
	 "begin(no_dispatch, this_thread, where): a capture on this thread."},
	{"open_text", open_text, METH_NOARGS, "What is to be said of the newest capture, once."},
	{"end", end, METH_NOARGS, "Ends the newest capture; its nodes."},
	{"end_to_file", end_to_file, METH_O, "The same, and writes the report to this path."},
	{"report", report, METH_NOARGS, "The report of the newest capture so far, as JSON text."},
	{"depth", depth, METH_NOARGS, "How many captures this thread has begun."},
	{"query", query, METH_VARARGS, "query(graph as JSON text, what, argument) -> JSON text."},
	{"svg", svg, METH_VARARGS, "svg(graph as JSON text, title) -> an SVG document."},
	{"load", load, METH_O, "The nodes of the graph in a file."},
	{"track_function_start", track_start, METH_O,
	 "track_function_start(function_name): a function of yours begins on this thread."},
	{"track_function_end", track_end, METH_NOARGS, "The newest function of yours ends."},
	{"set_switch", set_switch, METH_VARARGS, "set_switch(which, on)"},
	{"get_switch", get_switch, METH_O, "Whether a switch is on."},
	{"set_dry_addresses", dry_addresses, METH_O,
	 "Whether dry runs of this thread place their buffers; returns what it was."},
	{NULL, NULL, 0, NULL},
};

int py_init_graph(void)
{
	PyObject *module = py_submodule("graph");

	if (!module || PyModule_AddFunctions(module, functions) < 0 ||
	    PyModule_AddIntConstant(module, "STACKS", TTNN_GRAPH_STACKS) < 0 ||
	    PyModule_AddIntConstant(module, "PYTHON_STACKS", TTNN_GRAPH_PYTHON_STACKS) < 0 ||
	    PyModule_AddIntConstant(module, "PAGES", TTNN_GRAPH_PAGES) < 0)
		return -1;
	return 0;
}
