/*
 * op.c: operations as callable objects. There is one for each row of the library's table; a row
 * that is added there is here without an edit.
 *
 * A call turns its arguments into values of the library and runs it without the GIL. With an
 * interceptor (set_interceptor) that function is called instead, with the operation and its
 * arguments: hooks and tracers are Python, and cost nothing while there are none.
 */
#include "py.h"

#include <structmember.h>

PyTypeObject *py_op_type;

struct py_op {
	PyObject_HEAD vectorcallfunc vectorcall;
	const ttnn_op *op;
	struct ttnn_op_info info;
	PyObject *dict;
};

static PyObject *interceptor; /* NULL: none */
static PyObject *by_name;     /* "ttnn.add" → operation */

static struct py_op *op_of(PyObject *self)
{
	return (struct py_op *)self;
}

static void drop_results(const struct ttnn_results *results, size_t first)
{
	for (size_t i = first; i < results->count; i++)
		ttnn_tensor_drop(results->tensors[i]);
}

PyObject *py_results(struct ttnn_results *results, bool many)
{
	PyObject *list;
	size_t i = 0;

	if (!many && results->count == 1)
		return py_new_tensor(results->tensors[0]);
	if (results->count == 0)
		Py_RETURN_NONE;
	list = PyList_New((Py_ssize_t)results->count);
	for (; list && i < results->count; i++) {
		PyObject *item = py_new_tensor(results->tensors[i]);

		if (!item)
			Py_CLEAR(list);
		else
			PyList_SET_ITEM(list, (Py_ssize_t)i, item);
	}
	if (!list)
		drop_results(results, i);
	return list;
}

/* What results are made of, as it is; lists are tuples. Takes the tensors. */
static PyObject *from_parts(const struct ttnn_value *value)
{
	PyObject *all;
	bool good;

	if (value->kind == TTNN_VALUE_TENSOR)
		return py_new_tensor(value->tensor);
	if (value->kind == TTNN_VALUE_INT)
		return PyLong_FromLongLong(value->integer);
	if (value->kind != TTNN_VALUE_LIST)
		Py_RETURN_NONE;
	all = PyTuple_New(value->count);
	good = all;
	for (uint32_t i = 0; i < value->count; i++) {
		PyObject *part = from_parts(&value->items[i]);

		good &= part != NULL;
		if (all && part)
			PyTuple_SET_ITEM(all, i, part);
		else
			Py_XDECREF(part);
	}
	if (!good)
		Py_CLEAR(all);
	return all;
}

static PyObject *tuple_results(const struct ttnn_results *results, const ttnn_op *op)
{
	struct ttnn_results_room room;
	struct ttnn_value value = ttnn_results_value(&room, results, op);

	return from_parts(&value);
}

/* What two results of operations on complex numbers are: real and imaginary part. */
static PyTypeObject *complex_type;
static PyStructSequence_Field complex_fields[] = {
	{"real", "The real part."}, {"imag", "The imaginary part."}, {NULL, NULL}};
static PyStructSequence_Desc complex_desc = {"ttnn._ttnn.operations.complex.ComplexTensor",
					     "ComplexTensor((real, imag))", complex_fields, 2};

/* Complex tensors of parts in turn, as a list. */
static PyObject *complex_list(PyObject *parts)
{
	Py_ssize_t count = PyList_GET_SIZE(parts) / 2;
	PyObject *all = PyList_New(count);

	for (Py_ssize_t i = 0; all && i < count; i++) {
		PyObject *pair = PyList_GetSlice(parts, 2 * i, 2 * i + 2);
		PyObject *both = pair ? PyObject_CallOneArg((PyObject *)complex_type, pair) : NULL;

		Py_XDECREF(pair);
		if (both)
			PyList_SET_ITEM(all, i, both);
		else
			Py_CLEAR(all);
	}
	return all;
}

/* A complex tensor; gradients come as a list of them. */
static PyObject *complex_results(struct ttnn_results *results, bool list)
{
	PyObject *parts = py_results(results, true), *all = parts ? complex_list(parts) : NULL;
	PyObject *only;

	Py_XDECREF(parts);
	if (!all || PyList_GET_SIZE(all) != 1 || list)
		return all;
	only = Py_NewRef(PyList_GET_ITEM(all, 0));
	Py_DECREF(all);
	return only;
}

static PyObject *run(const struct py_op *self, PyObject *const *args, size_t nargs,
		     PyObject *kwnames, enum ttnn_frontend frontend)
{
	struct ttnn_arg given[PY_ARGS];
	struct py_scratch scratch;
	struct ttnn_results results;
	enum ttnn_status status, ended;
	struct py_call guard;
	size_t count;

	py_scratch_init(&scratch);
	if (py_args(given, &count, args, nargs, kwnames, &scratch) < 0) {
		py_scratch_deinit(&scratch);
		return NULL;
	}
	if (frontend == TTNN_FRONTEND_PYTHON)
		py_emit_stack();
	py_emit_place();
	py_call_begin(&guard);
	status = ttnn_op_call(&results, self->op, given, count, frontend);
	ended = py_call_end(&guard, status, NULL);
	py_scratch_deinit(&scratch);
	if (ended != TTNN_OK) {
		if (status == TTNN_OK)
			drop_results(&results, 0);
		return py_fail(ended, self->info.name);
	}
	if (strchr(self->info.gives, ','))
		return tuple_results(&results, self->op);
	if (results.pairs)
		return complex_results(&results, self->info.gives[0] == '[');
	return py_results(&results, self->info.many);
}

/* interceptor(operation, args, kwargs) */
static PyObject *intercept(PyObject *self, PyObject *const *args, size_t nargs, PyObject *kwnames)
{
	PyObject *tuple = PyTuple_New((Py_ssize_t)nargs), *dict = PyDict_New(), *result = NULL;
	PyObject *function = Py_NewRef(interceptor); /* may be replaced meanwhile */
	size_t named = kwnames ? (size_t)PyTuple_GET_SIZE(kwnames) : 0;

	for (size_t i = 0; tuple && i < nargs; i++)
		PyTuple_SET_ITEM(tuple, (Py_ssize_t)i, Py_NewRef(args[i]));
	for (size_t i = 0; dict && i < named; i++)
		if (PyDict_SetItem(dict, PyTuple_GET_ITEM(kwnames, (Py_ssize_t)i),
				   args[nargs + i]) < 0)
			Py_CLEAR(dict);
	if (tuple && dict)
		result = PyObject_CallFunctionObjArgs(function, self, tuple, dict, NULL);
	Py_DECREF(function);
	Py_XDECREF(tuple);
	Py_XDECREF(dict);
	return result;
}

/* The call, and what is told of it: as it was written in `told`, which has as many arguments. */
static PyObject *call(PyObject *self, PyObject *const *args, size_t nargs, PyObject *kwnames,
		      PyObject *const *told)
{
	PyObject *result = interceptor
				   ? intercept(self, args, nargs, kwnames)
				   : run(op_of(self), args, nargs, kwnames, TTNN_FRONTEND_PYTHON);

	if (ttnn_calls_heard() && *op_of(self)->info.shown)
		py_emit_call(op_of(self)->info.shown, told, nargs, kwnames, result);
	return result;
}

static PyObject *op_call(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
	return call(self, args, (size_t)PyVectorcall_NARGS(nargsf), kwnames, args);
}

/* operation.run(...): the call itself, past any interceptor. */
static PyObject *op_run(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
	return run(op_of(self), args, (size_t)nargs, kwnames, TTNN_FRONTEND_PYTHON);
}

static PyObject *op_golden(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
			   PyObject *kwnames)
{
	struct ttnn_arg given[PY_ARGS];
	struct py_scratch scratch;
	struct ttnn_results results;
	enum ttnn_status status, ended;
	struct py_call guard;
	size_t count;

	py_scratch_init(&scratch);
	if (py_args(given, &count, args, (size_t)nargs, kwnames, &scratch) < 0) {
		py_scratch_deinit(&scratch);
		return NULL;
	}
	py_call_begin(&guard);
	status = ttnn_op_golden(&results, op_of(self)->op, given, count);
	ended = py_call_end(&guard, status, NULL);
	py_scratch_deinit(&scratch);
	if (ended != TTNN_OK) {
		if (status == TTNN_OK)
			drop_results(&results, 0);
		return py_fail(ended, op_of(self)->info.name);
	}
	return py_results(&results, op_of(self)->info.many);
}

static PyObject *find_op(const char *name)
{
	PyObject *op = by_name ? PyDict_GetItemString(by_name, name) : NULL;

	if (!op)
		PyErr_Format(PyExc_RuntimeError, "there is no operation %s", name);
	return op;
}

PyObject *py_call_op(const char *name, PyObject *const *args, size_t nargs, PyObject *kwnames)
{
	PyObject *op = find_op(name);

	return op ? op_call(op, args, nargs, kwnames) : NULL;
}

PyObject *py_call_op_as(const char *name, PyObject *const *args, size_t nargs,
			PyObject *const *told)
{
	PyObject *op = find_op(name);

	return op ? call(op, args, nargs, NULL, told) : NULL;
}

PyObject *py_run_method(const char *name, PyObject *const *args, size_t nargs, PyObject *kwnames)
{
	PyObject *op = find_op(name);

	return op ? run(op_of(op), args, nargs, kwnames, TTNN_FRONTEND_METHOD) : NULL;
}

/* ---- the type ------------------------------------------------------------------------------------------ */

static void op_dealloc(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);

	PyObject_GC_UnTrack(self);
	Py_XDECREF(op_of(self)->dict);
	type->tp_free(self);
	Py_DECREF(type);
}

static int op_traverse(PyObject *self, visitproc visit, void *arg)
{
	Py_VISIT(op_of(self)->dict);
	Py_VISIT(Py_TYPE(self));
	return 0;
}

static int op_clear(PyObject *self)
{
	Py_CLEAR(op_of(self)->dict);
	return 0;
}

static PyObject *op_repr(PyObject *self)
{
	return PyUnicode_FromFormat("FastOperation(python_fully_qualified_name='%s')",
				    op_of(self)->info.name);
}

/* All signatures as a tuple of texts. */
static PyObject *op_signatures(PyObject *self, void *unused)
{
	size_t count = op_of(self)->info.signatures;
	PyObject *tuple = PyTuple_New((Py_ssize_t)count);

	(void)unused;
	for (size_t i = 0; tuple && i < count; i++) {
		char *text = NULL;
		PyObject *item = py_text(ttnn_op_signature(&text, op_of(self)->op, i), &text);

		if (!item)
			Py_CLEAR(tuple);
		else
			PyTuple_SET_ITEM(tuple, (Py_ssize_t)i, item);
	}
	return tuple;
}

/* The signatures, then the sentence. */
static PyObject *op_doc(PyObject *self, void *unused)
{
	PyObject *lines = op_signatures(self, NULL), *newline = PyUnicode_FromString("\n");
	PyObject *joined = lines && newline ? PyUnicode_Join(newline, lines) : NULL;
	PyObject *doc = NULL;

	(void)unused;
	if (joined)
		doc = PyUnicode_FromFormat("%U\n\n%s", joined, op_of(self)->info.doc);
	Py_XDECREF(lines);
	Py_XDECREF(newline);
	Py_XDECREF(joined);
	return doc;
}

enum { NAME, CPP_NAME, FAMILY, MODULE };

static PyObject *op_text(PyObject *self, void *which)
{
	const struct ttnn_op_info *info = &op_of(self)->info;

	switch ((intptr_t)which) {
	case CPP_NAME:
		return PyUnicode_FromString(info->cpp_name);
	case FAMILY:
		return PyUnicode_FromString(info->family);
	case MODULE:
		return PyUnicode_FromString("ttnn");
	default:
		return PyUnicode_FromString(info->name);
	}
}

enum { HAS_GOLDEN, PCC, IS_EXPERIMENTAL, IS_CPP, IS_SHOWN, IS_OPERATION };

static PyObject *op_flag(PyObject *self, void *which)
{
	const struct ttnn_op_info *info = &op_of(self)->info;

	switch ((intptr_t)which) {
	case HAS_GOLDEN:
		return PyBool_FromLong(info->golden);
	case PCC:
		return PyFloat_FromDouble(info->pcc);
	case IS_EXPERIMENTAL:
		return PyBool_FromLong(strncmp(info->name, "ttnn.experimental.", 18) == 0);
	case IS_CPP:
		return PyBool_FromLong(1);
	case IS_SHOWN:
		return PyBool_FromLong(*info->shown != 0);
	default:
		Py_RETURN_NONE;
	}
}

static PyGetSetDef op_fields[] = {
	{"python_fully_qualified_name", op_text, NULL, "ttnn.add", PY_FIELD(NAME)},
	{"name", op_text, NULL, "ttnn.add", PY_FIELD(NAME)},
	{"is_shown", op_flag, NULL, "Whether recordings show it, not only what it calls.",
	 PY_FIELD(IS_SHOWN)},
	{"cpp_name", op_text, NULL, "ttnn::add", PY_FIELD(CPP_NAME)},
	{"family", op_text, NULL, "Which operations it belongs to.", PY_FIELD(FAMILY)},
	{"__name__", op_text, NULL, NULL, PY_FIELD(NAME)},
	{"__qualname__", op_text, NULL, NULL, PY_FIELD(NAME)},
	{"__module__", op_text, NULL, NULL, PY_FIELD(MODULE)},
	{"__doc__", op_doc, NULL, NULL, NULL},
	{"__ttnn_operation__", op_flag, NULL, NULL, PY_FIELD(IS_OPERATION)},
	{"signatures", op_signatures, NULL, "How it can be called.", NULL},
	{"has_golden", op_flag, NULL, "Whether golden() works.", PY_FIELD(HAS_GOLDEN)},
	{"pcc", op_flag, NULL, "How close it comes to its golden function.", PY_FIELD(PCC)},
	{"is_experimental", op_flag, NULL, NULL, PY_FIELD(IS_EXPERIMENTAL)},
	{"is_cpp_operation", op_flag, NULL, NULL, PY_FIELD(IS_CPP)},
	{"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
	{NULL, NULL, NULL, NULL, NULL},
};

#define FAST(function) (PyCFunction)(void (*)(void))(function), METH_FASTCALL | METH_KEYWORDS
static PyMethodDef op_methods[] = {
	{"run", FAST(op_run), "The call itself, without hooks."},
	{"golden", FAST(op_golden), "The results computed slowly in float64, as host tensors."},
	{NULL, NULL, 0, NULL},
};
static PyMemberDef op_members[] = {
	{"__vectorcalloffset__", T_PYSSIZET, offsetof(struct py_op, vectorcall), READONLY, NULL},
	{"__dictoffset__", T_PYSSIZET, offsetof(struct py_op, dict), READONLY, NULL},
	{NULL, 0, 0, 0, NULL},
};
static PyType_Slot op_slots[] = {
	{Py_tp_dealloc, op_dealloc},     {Py_tp_traverse, op_traverse}, {Py_tp_clear, op_clear},
	{Py_tp_call, PyVectorcall_Call}, {Py_tp_repr, op_repr},         {Py_tp_getset, op_fields},
	{Py_tp_methods, op_methods},     {Py_tp_members, op_members},   {0, NULL},
};
static PyType_Spec op_spec = {"ttnn._ttnn.Operation", sizeof(struct py_op), 0,
			      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
				      Py_TPFLAGS_DISALLOW_INSTANTIATION,
			      op_slots};

/* ---- the table --------------------------------------------------------------------------------------------- */

/* set_interceptor(function or None) → the one before. */
static PyObject *set_interceptor(PyObject *module, PyObject *function)
{
	PyObject *before = interceptor ? interceptor : Py_NewRef(Py_None);

	(void)module;
	interceptor = function == Py_None ? NULL : Py_NewRef(function);
	return before;
}

/* all_operations() → {name: operation} */
static PyObject *operations(PyObject *module, PyObject *unused)
{
	(void)module;
	(void)unused;
	return PyDict_Copy(by_name);
}

/* run_method(name, tensor, ...): what a method of the tensor does, for the package itself: no call is recorded. */
static PyObject *run_method(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
			    PyObject *kwnames)
{
	const char *name = nargs > 1 ? PyUnicode_AsUTF8(args[0]) : NULL;

	(void)module;
	if (name)
		return py_run_method(name, args + 1, (size_t)nargs - 1, kwnames);
	return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "which method, of what?");
}

static PyMethodDef functions[] = {
	{"run_method", FAST(run_method), "run_method(name, tensor, ...): not recorded."},
	{"set_interceptor", set_interceptor, METH_O,
	 "Calls this function in place of every operation; None: no more. Returns the one before."},
	{"all_operations", operations, METH_NOARGS, "All operations by name."},
	{NULL, NULL, 0, NULL},
};

int py_init_ops(void)
{
	const char *alias, *of;
	const ttnn_op *op;

	py_op_type = py_add_type("", &op_spec);
	complex_type = PyStructSequence_NewType(&complex_desc);
	by_name = PyDict_New();
	if (!py_op_type || !complex_type || !by_name ||
	    PyObject_SetAttrString(py_submodule("operations.complex"), "ComplexTensor",
				   (PyObject *)complex_type) < 0 ||
	    PyModule_AddFunctions(py_submodule(""), functions) < 0)
		return -1;
	for (size_t i = 0; (op = ttnn_op_at(i)); i++) {
		struct py_op *self = (struct py_op *)py_op_type->tp_alloc(py_op_type, 0);
		int status;

		if (!self)
			return -1;
		self->vectorcall = op_call;
		self->op = op;
		ttnn_op_get_info(&self->info, op);
		status = PyDict_SetItemString(by_name, self->info.name, (PyObject *)self);
		Py_DECREF(self);
		if (status < 0)
			return -1;
	}
	for (size_t i = 0; (alias = ttnn_op_alias(&of, i)); i++) {
		PyObject *found = PyDict_GetItemString(by_name, of);

		if (found && PyDict_SetItemString(by_name, alias, found) < 0)
			return -1;
	}
	return 0;
}
