/* module.c: the module ttnn._ttnn and its submodules, failures, run modes. */
#include "py.h"

static PyObject *root, *submodules; /* by their full names */

PyObject *py_submodule(const char *path)
{
	PyObject *module = root;
	char full[256] = "ttnn._ttnn";
	size_t length = strlen(full);

	while (*path) {
		size_t part = strcspn(path, ".");
		char name[128];
		PyObject *inner;

		if (part >= sizeof(name) || length + part + 2 > sizeof(full)) {
			PyErr_SetString(PyExc_SystemError, "the name of a module is too long");
			return NULL;
		}
		memcpy(name, path, part);
		name[part] = '\0';
		full[length++] = '.';
		memcpy(full + length, name, part + 1);
		length += part;
		inner = PyImport_AddModule(full); /* borrowed: our list of modules keeps it */
		if (!inner || PyDict_SetItemString(submodules, full, inner) < 0 ||
		    (!PyObject_HasAttrString(module, name) &&
		     PyObject_SetAttrString(module, name, inner) < 0))
			return NULL;
		module = inner;
		path += part + (path[part] == '.');
	}
	return module;
}

PyTypeObject *py_add_type(const char *path, PyType_Spec *spec)
{
	PyObject *module = py_submodule(path);
	PyObject *type = module ? PyType_FromSpec(spec) : NULL;
	const char *dot = strrchr(spec->name, '.');

	if (type && PyObject_SetAttrString(module, dot ? dot + 1 : spec->name, type) < 0)
		Py_CLEAR(type);
	return (PyTypeObject *)type;
}

/* ---- failures ------------------------------------------------------------------------------------------ */

/* With the library's message, which may hold names of files and other texts that are no UTF-8. */
static void raise_error(PyObject *type)
{
	const char *message = ttnn_error();
	PyObject *text =
		PyUnicode_DecodeUTF8(message, (Py_ssize_t)strlen(message), "backslashreplace");

	if (text)
		PyErr_SetObject(type, text);
	Py_XDECREF(text);
}

PyObject *py_fail(enum ttnn_status status, const char *place)
{
	const char *message = ttnn_error(), *condition = ttnn_error_condition();

	if (PyErr_Occurred())
		return NULL;
	if (status == TTNN_NOMEM)
		return PyErr_NoMemory();
	if (status == TTNN_TYPE)
		raise_error(PyExc_TypeError);
	else if (status == TTNN_RANGE)
		raise_error(PyExc_IndexError);
	else if (!*condition)
		raise_error(PyExc_RuntimeError);
	else if (!*message)
		PyErr_Format(PyExc_RuntimeError, "TT_FATAL @ %s:0: %s\n", place, condition);
	else
		PyErr_Format(PyExc_RuntimeError, "%s @ %s:0: %s\ninfo:\n%s\n",
			     strcmp(condition, "tt::exception") == 0 ? "TT_THROW" : "TT_FATAL",
			     place, condition, message);
	return NULL;
}

PyObject *py_text(enum ttnn_status status, char **text)
{
	PyObject *string;

	if (status != TTNN_OK)
		return py_fail(status, "text");
	string = PyUnicode_DecodeFSDefault(*text);
	ttnn_free(*text);
	return string;
}

enum ttnn_dialect py_dialect(void)
{
	return ttnn_dialect_of_environment();
}

/* ---- the module ------------------------------------------------------------------------------------------ */

/* set_no_dispatch(on) → what it was: for this thread. */
static PyObject *set_no_dispatch(PyObject *module, PyObject *on)
{
	int truth = PyObject_IsTrue(on);

	(void)module;
	if (truth < 0)
		return NULL;
	return PyBool_FromLong(ttnn_set_run_mode(truth ? TTNN_RUN_NO_DISPATCH : TTNN_RUN_NORMAL) ==
			       TTNN_RUN_NO_DISPATCH);
}

/* Refuses environment variables that are set to what they cannot be. */
static PyObject *check_environment(PyObject *module, PyObject *unused)
{
	(void)module;
	(void)unused;
	if (ttnn_environment_check() != TTNN_OK) {
		raise_error(PyExc_ValueError);
		return NULL;
	}
	Py_RETURN_NONE;
}

/* read_file(path) → bytes, however the file comes; Ctrl-C ends it. */
static PyObject *read_file(PyObject *module, PyObject *path)
{
	PyObject *name, *bytes;
	enum ttnn_status status;
	struct py_call guard;
	size_t size = 0;
	char *data = NULL;

	(void)module;
	if (!PyUnicode_FSConverter(path, &name))
		return NULL;
	py_call_begin(&guard);
	status = ttnn_file_read(&data, &size, PyBytes_AS_STRING(name));
	if (py_call_end(&guard, status, NULL) != status) {
		ttnn_free(data);
		status = TTNN_CANCELLED;
	}
	Py_DECREF(name);
	if (status != TTNN_OK)
		return py_fail(status, "read_file");
	bytes = PyBytes_FromStringAndSize(data, (Py_ssize_t)size);
	ttnn_free(data);
	return bytes;
}

static PyObject *version(PyObject *module, PyObject *unused)
{
	(void)module;
	(void)unused;
	return PyUnicode_FromString(ttnn_version());
}

static PyObject *mark(PyObject *self, PyObject *args)
{
	const char *text, *detail = NULL;

	(void)self;
	if (!PyArg_ParseTuple(args, "s|z:mark", &text, &detail))
		return NULL;
	ttnn_mark(text, detail);
	Py_RETURN_NONE;
}

/*
 * import_report(input, output, db_name, schema, strict, tables, svg) → (summary, None), or with a sentence about the broken
 * files of a folder whose others were imported.
 */
static PyObject *import_report(PyObject *module, PyObject *args)
{
	struct ttnn_import_options options = {0};
	PyObject *input, *output, *text = NULL;
	enum ttnn_status status;
	struct py_call guard;
	int strict, tables, svg;
	char *summary = NULL;

	(void)module;
	if (!PyArg_ParseTuple(args, "O&O&zzppp", PyUnicode_FSConverter, &input,
			      PyUnicode_FSConverter, &output, &options.db_name, &options.schema,
			      &strict, &tables, &svg))
		return NULL;
	options.strict = strict;
	options.as_tables = tables;
	options.svg = svg;
	py_call_begin(&guard);
	status = ttnn_import_report(&summary, PyBytes_AS_STRING(input), PyBytes_AS_STRING(output),
				    &options);
	status = py_call_end(&guard, status, NULL);
	if (status == TTNN_OK)
		text = Py_BuildValue("NO", PyUnicode_DecodeFSDefault(summary), Py_None);
	else if (status == TTNN_FORMAT && summary)
		text = Py_BuildValue("NN", PyUnicode_DecodeFSDefault(summary),
				     PyUnicode_DecodeFSDefault(ttnn_error()));
	else
		py_fail(status, "import_report");
	ttnn_free(summary);
	Py_DECREF(input);
	Py_DECREF(output);
	return text;
}

/* Types and numbers of the library are one interpreter's; the GIL of another would not guard them. */
static int check_interpreter(void)
{
	if (PyInterpreterState_Get() == PyInterpreterState_Main())
		return 0;
	PyErr_SetString(
		PyExc_ImportError,
		"ttnn cannot be imported into a sub-interpreter: the library belongs to the main "
		"interpreter of the process. Use a process of its own instead");
	return -1;
}

/*
 * restore_modules(): Python keeps this module when it is taken out of sys.modules and imported again, but not
 * those inside of it.
 */
static PyObject *restore_modules(PyObject *module, PyObject *unused)
{
	PyObject *all = PyImport_GetModuleDict(), *name, *inner;
	Py_ssize_t at = 0;

	(void)module;
	(void)unused;
	if (check_interpreter() < 0)
		return NULL;
	while (PyDict_Next(submodules, &at, &name, &inner))
		if (!PyDict_SetDefault(all, name, inner))
			return NULL;
	Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
	{"restore_modules", restore_modules, METH_NOARGS,
	 "Makes the inner modules known again after a second import."},
	{"mark", mark, METH_VARARGS,
	 "mark(text, detail=None): a word in the recordings; costs nothing while nobody records."},
	{"import_report", import_report, METH_VARARGS, "Makes a database of a report."},
	{"set_no_dispatch", set_no_dispatch, METH_O,
	 "Whether this thread's operations compute no data; returns what it was."},
	{"check_environment", check_environment, METH_NOARGS,
	 "ValueError for a variable that is mistyped."},
	{"read_file", read_file, METH_O, "The content of a file, or of a pipe or terminal."},
	{"version", version, METH_NOARGS, "The version of the library."},
	{NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
	PyModuleDef_HEAD_INIT,
	"ttnn._ttnn",
	"The library, as Python sees it.",
	-1,
	functions,
	NULL,
	NULL,
	NULL,
	NULL,
};

PyMODINIT_FUNC PyInit__ttnn(void);
PyMODINIT_FUNC PyInit__ttnn(void)
{
	static int (*const parts[])(void) = {
		py_init_enums,   py_init_shapes, py_init_cores,  py_init_memory,  py_init_spec,
		py_init_data,    py_init_parts,  py_init_tensor, py_init_devices, py_init_objects,
		py_init_ops,     py_init_inner,  py_init_params, py_init_graph,   py_init_trace,
		py_init_configs, py_init_sweep,  py_init_zones,
	};

	if (check_interpreter() < 0)
		return NULL;
	if (root) {
		PyErr_SetString(PyExc_ImportError,
				"ttnn._ttnn can be initialized once in a process");
		return NULL;
	}
	submodules = PyDict_New();
	root = submodules ? PyModule_Create(&definition) : NULL;
	for (size_t i = 0; root && i < sizeof(parts) / sizeof(parts[0]); i++)
		if (parts[i]() < 0)
			Py_CLEAR(root);
	return Py_XNewRef(root);
}
