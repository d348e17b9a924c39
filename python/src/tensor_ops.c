/* tensor_ops.c: the operators of Tensor, and its methods that are operations. */
#include "py.h"

/* ---- operators ----------------------------------------------------------------------------------------- */

static bool is_number(PyObject *object)
{
	return PyLong_Check(object) || PyFloat_Check(object) ||
	       (PyNumber_Check(object) &&
		!PyObject_HasAttrString((PyObject *)Py_TYPE(object), "__dlpack__"));
}

static bool is_tensor(PyObject *object)
{
	return PyObject_TypeCheck(object, py_tensor_type);
}

/* a op b; with a number on the left, the operation for that with the tensor first. */
static PyObject *operate(PyObject *a, PyObject *b, const char *op, const char *reverse)
{
	PyObject *args[2] = {a, b};

	if (is_tensor(a) && (is_tensor(b) || is_number(b)))
		return py_call_op(op, args, 2, NULL);
	if (!reverse || !is_tensor(b) || !is_number(a))
		Py_RETURN_NOTIMPLEMENTED;
	args[0] = b;
	args[1] = a;
	return py_call_op(reverse, args, 2, NULL);
}

static PyObject *add(PyObject *a, PyObject *b)
{
	return operate(a, b, "ttnn.add", "ttnn.add");
}

static PyObject *subtract(PyObject *a, PyObject *b)
{
	return operate(a, b, "ttnn.subtract", "ttnn.rsub");
}

static PyObject *multiply(PyObject *a, PyObject *b)
{
	return operate(a, b, "ttnn.multiply", "ttnn.multiply");
}

static PyObject *divide(PyObject *a, PyObject *b)
{
	return operate(a, b, "ttnn.divide", "ttnn.rdiv");
}

static PyObject *matmul(PyObject *a, PyObject *b)
{
	return operate(a, b, "ttnn.matmul", NULL);
}

static PyObject *power(PyObject *a, PyObject *b, PyObject *modulo)
{
	if (modulo != Py_None)
		Py_RETURN_NOTIMPLEMENTED;
	return operate(a, b, "ttnn.pow", NULL);
}

static PyObject *negative(PyObject *a)
{
	return py_call_op("ttnn.neg", &a, 1, NULL);
}

PyType_Slot py_tensor_number_slots[] = {
	{Py_nb_add, add},
	{Py_nb_subtract, subtract},
	{Py_nb_multiply, multiply},
	{Py_nb_true_divide, divide},
	{Py_nb_matrix_multiply, matmul},
	{Py_nb_power, power},
	{Py_nb_negative, negative},
	{0, NULL},
};

PyObject *py_tensor_compare(PyObject *self, PyObject *other, int what)
{
	static const char *const ops[] = {
		[Py_LT] = "ttnn.lt", [Py_LE] = "ttnn.le", [Py_EQ] = "ttnn.eq",
		[Py_NE] = "ttnn.ne", [Py_GT] = "ttnn.gt", [Py_GE] = "ttnn.ge",
	};

	return operate(self, other, ops[what], NULL);
}

PyObject *py_tensor_getitem(PyObject *self, PyObject *key)
{
	PyObject *args[2] = {self, PyTuple_Check(key) ? Py_NewRef(key) : PyTuple_Pack(1, key)};
	PyObject *told[2] = {self, key};
	PyObject *result = args[1] ? py_call_op_as("ttnn.Tensor.__getitem__", args, 2, told) : NULL;

	Py_XDECREF(args[1]);
	return result;
}

/* ---- methods -------------------------------------------------------------------------------------------------- */

/* An operation with the tensor before the other arguments: one that recordings show as a method. */
static PyObject *run(const char *name, PyObject *self, PyObject *const *args, Py_ssize_t nargs,
		     PyObject *kwnames)
{
	size_t named = kwnames ? (size_t)PyTuple_GET_SIZE(kwnames) : 0;
	size_t count = (size_t)nargs + named;
	PyObject *all[PY_ARGS];

	if (count + 1 > PY_ARGS)
		return PyErr_Format(PyExc_TypeError, "more than %d arguments", PY_ARGS);
	all[0] = self;
	if (count)
		memcpy(all + 1, args, count * sizeof(*all));
	return py_run_method(name, all, (size_t)nargs + 1, kwnames);
}

/* to(layout) and to(device, ...); on a device another layout is an operation of its own. */
static PyObject *run_to(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
	ttnn_tensor *tensor = ((struct py_tensor *)self)->tensor;
	const ttnn_enum *type;
	int64_t layout;

	if (tensor && ttnn_tensor_get_device(tensor) && nargs > 0 &&
	    py_enum_read(&type, &layout, args[0]) && type == py_enum_layout)
		return run("ttnn.to_layout", self, args, 1, NULL);
	return run("ttnn.Tensor.to", self, args, nargs, kwnames);
}

/* reshape(shape) and reshape(1, 2, 3) */
static PyObject *run_reshape(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
			     PyObject *kwnames)
{
	PyObject *list, *result;

	if (nargs == 0 || kwnames || !PyLong_Check(args[0]))
		return run("ttnn.Tensor.reshape", self, args, nargs, kwnames);
	list = PyList_New(nargs);
	for (Py_ssize_t i = 0; list && i < nargs; i++)
		PyList_SET_ITEM(list, i, Py_NewRef(args[i]));
	result = list ? run("ttnn.Tensor.reshape", self, &list, 1, NULL) : NULL;
	Py_XDECREF(list);
	return result;
}

/* The only argument of a method, or NULL with an exception. */
static PyObject *only(const char *name, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
	if (nargs == 1 && !kwnames)
		return args[0];
	return PyErr_Format(PyExc_TypeError, "%s() takes exactly one argument", name);
}

static PyObject *run_pad_to_tile(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
				 PyObject *kwnames)
{
	PyObject *value = only("pad_to_tile", args, nargs, kwnames);
	double pad = value ? PyFloat_AsDouble(value) : 0;
	ttnn_tensor *tensor = ((struct py_tensor *)self)->tensor, *result;
	enum ttnn_status status;
	struct py_call guard;

	if (PyErr_Occurred() || !tensor)
		return NULL;
	py_call_begin(&guard);
	status = ttnn_tensor_pad_to_tile(&result, tensor, pad);
	status = py_call_end(&guard, status, &result);
	return status == TTNN_OK ? py_new_tensor(result) : py_fail(status, "Tensor.pad_to_tile");
}

static PyObject *run_unpad_from_tile(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
				     PyObject *kwnames)
{
	PyObject *shape = only("unpad_from_tile", args, nargs, kwnames);
	ttnn_tensor *tensor = ((struct py_tensor *)self)->tensor, *result;
	struct ttnn_shape wanted;
	enum ttnn_status status;
	struct py_call guard;

	if (!shape || py_read_shape(&wanted, shape, "shape") < 0 || !tensor)
		return NULL;
	py_call_begin(&guard);
	status = ttnn_tensor_unpad_from_tile(&result, tensor, &wanted);
	status = py_call_end(&guard, status, &result);
	return status == TTNN_OK ? py_new_tensor(result)
				 : py_fail(status, "Tensor.unpad_from_tile");
}

/* What came of a method, which is recorded as it was written. */
static PyObject *told(const char *name, PyObject *self, PyObject *const *args, Py_ssize_t nargs,
		      PyObject *kwnames, PyObject *result)
{
	size_t named = kwnames ? (size_t)PyTuple_GET_SIZE(kwnames) : 0;
	PyObject *all[PY_ARGS];

	if (!result || !ttnn_calls_heard() || (size_t)nargs + named + 1 > PY_ARGS)
		return result;
	all[0] = self;
	if (nargs || named)
		memcpy(all + 1, args, ((size_t)nargs + named) * sizeof(*all));
	py_emit_call(name, all, (size_t)nargs + 1, kwnames, result);
	return result;
}

/* The method of a name, which is the operation ttnn.Tensor.NAME, or another function. */
#define METHOD_AS(name, run_it)                                                                    \
	static PyObject *method_##name(PyObject *self, PyObject *const *args, Py_ssize_t nargs,    \
				       PyObject *kwnames)                                          \
	{                                                                                          \
		return told("ttnn.Tensor." #name, self, args, nargs, kwnames, run_it);             \
	}
#define METHOD(name) METHOD_AS(name, run("ttnn.Tensor." #name, self, args, nargs, kwnames))
METHOD(cpu)
METHOD(deallocate)
METHOD(pad)
METHOD(unpad)
METHOD_AS(to, run_to(self, args, nargs, kwnames))
METHOD_AS(reshape, run_reshape(self, args, nargs, kwnames))
METHOD_AS(pad_to_tile, run_pad_to_tile(self, args, nargs, kwnames))
METHOD_AS(unpad_from_tile, run_unpad_from_tile(self, args, nargs, kwnames))

/* To add one: METHOD() above, a row. */
#define FAST(name) #name, (PyCFunction)(void (*)(void))method_##name, METH_FASTCALL | METH_KEYWORDS
static PyMethodDef methods[] = {
	{FAST(cpu), "A copy on the host."},
	{FAST(to), "A copy on a device, or in another layout."},
	{FAST(deallocate), "Gives the device memory back now."},
	{FAST(pad), "With more padding around what a host tensor stores."},
	{FAST(unpad), "A part of what a host tensor stores."},
	{FAST(reshape), "Another shape of the same elements."},
	{FAST(pad_to_tile), "Padded to whole tiles, in rows."},
	{FAST(unpad_from_tile), "The way back."},
	{NULL, NULL, 0, NULL},
};

int py_add_tensor_methods(PyTypeObject *type)
{
	for (PyMethodDef *row = methods; row->ml_name; row++) {
		PyObject *descriptor = PyDescr_NewMethod(type, row);
		int status = descriptor ? PyObject_SetAttrString((PyObject *)type, row->ml_name,
								 descriptor)
					: -1;

		Py_XDECREF(descriptor);
		if (status < 0)
			return -1;
	}
	return 0;
}
