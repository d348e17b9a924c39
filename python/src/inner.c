/*
 * inner.c: calls that operations make as upstream's, written in Python, make them: heard by a Python
 * object while calls are recorded. It has begin(name, args, kwargs) and end(tensors, error).
 */
#include "py.h"

static PyObject *listener; /* NULL: none */

/* A shape that such an operation makes is a tuple upstream. */
static PyObject *from_shape(const struct ttnn_shape *shape)
{
	PyObject *tuple = PyTuple_New(shape->rank);

	for (uint32_t i = 0; tuple && i < shape->rank; i++) {
		PyObject *extent = PyLong_FromUnsignedLong(shape->dim[i]);

		if (!extent)
			Py_CLEAR(tuple);
		else
			PyTuple_SET_ITEM(tuple, i, extent);
	}
	return tuple;
}

/* Arguments as they would be written in Python. */
static int as_written(PyObject *list, PyObject *dict, const struct ttnn_arg *args, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		PyObject *value = args[i].value.kind == TTNN_VALUE_SHAPE
					  ? from_shape(args[i].value.shape)
					  : py_from_value(&args[i].value);
		int failed =
			!value || (args[i].name ? PyDict_SetItemString(dict, args[i].name, value)
						: PyList_Append(list, value));

		Py_XDECREF(value);
		if (failed)
			return -1;
	}
	return 0;
}

/*
 * Recording never breaks the call: what goes wrong is printed; an interrupt comes again behind it. Handlers of
 * signals have run before, so that what they raise is the call's.
 */
static void told(PyObject *answer)
{
	if (!answer && PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) {
		PyErr_Clear();
		PyErr_SetInterrupt();
	} else if (!answer) {
		PyErr_WriteUnraisable(NULL);
	}
	Py_XDECREF(answer);
}

static void begin(const char *name, const struct ttnn_arg *args, size_t arg_count)
{
	PyGILState_STATE state = PyGILState_Ensure();
	PyObject *list = PyList_New(0), *dict = PyDict_New(), *hearer = Py_XNewRef(listener);

	if (hearer) {
		py_call_ask();
		/* It hears of every begin: each has an end. */
		if (!list || !dict || as_written(list, dict, args, arg_count) < 0)
			told(NULL);
		told(PyObject_CallMethod(hearer, "begin", "sOO", name, list ? list : Py_None,
					 dict ? dict : Py_None));
	}
	Py_XDECREF(hearer);
	Py_XDECREF(list);
	Py_XDECREF(dict);
	PyGILState_Release(state);
}

static PyObject *tensors_of(const struct ttnn_results *results)
{
	PyObject *list = PyList_New(0);

	for (size_t i = 0; list && results && i < results->count; i++) {
		PyObject *tensor = results->tensors[i]
					   ? py_new_tensor(ttnn_tensor_ref(results->tensors[i]))
					   : Py_NewRef(Py_None);

		if (!tensor || PyList_Append(list, tensor) < 0)
			Py_CLEAR(list);
		Py_XDECREF(tensor);
	}
	return list;
}

/* The exception that Python would see, or None. */
static PyObject *error_of(enum ttnn_status status)
{
	PyObject *type, *value, *trace;

	if (status == TTNN_OK)
		return Py_NewRef(Py_None);
	py_fail(status, "ttnn");
	PyErr_Fetch(&type, &value, &trace);
	PyErr_NormalizeException(&type, &value, &trace);
	Py_XDECREF(type);
	Py_XDECREF(trace);
	return value ? value : Py_NewRef(Py_None);
}

static void end(enum ttnn_status status, const struct ttnn_results *results)
{
	PyGILState_STATE state = PyGILState_Ensure();
	PyObject *tensors, *error, *hearer = Py_XNewRef(listener);

	if (hearer) {
		py_call_ask();
		tensors = tensors_of(results);
		if (!tensors)
			told(NULL);
		error = error_of(status);
		told(PyObject_CallMethod(hearer, "end", "OO", tensors ? tensors : Py_None, error));
		Py_XDECREF(tensors);
		Py_DECREF(error);
	}
	Py_XDECREF(hearer);
	PyGILState_Release(state);
}

/* hear_inner_calls(object or None) */
static PyObject *hear(PyObject *module, PyObject *object)
{
	static const struct ttnn_inner_calls calls = {begin, end};
	PyObject *before = listener;

	(void)module;
	listener = object == Py_None ? NULL : Py_NewRef(object);
	ttnn_hear_inner_calls(listener ? &calls : NULL);
	Py_XDECREF(before);
	Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
	{"hear_inner_calls", hear, METH_O,
	 "Tells an object of calls that operations make themselves; None: no more."},
	{NULL, NULL, 0, NULL},
};

int py_init_inner(void)
{
	return PyModule_AddFunctions(py_submodule(""), functions);
}
