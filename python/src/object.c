/*
 * object.c: configuration objects, such as WormholeComputeKernelConfig. Every kind of the library's
 * table is a type of its own, a subclass of one that knows how to read and set fields.
 */
#include "py.h"

PyTypeObject *py_object_type;
static PyObject *types; /* kind → type */

static ttnn_object *object_of(PyObject *self)
{
	return ((struct py_object *)self)->object;
}

/* "UnaryWithParam" of "ttnn._ttnn.activation.UnaryWithParam", also of a subclass in Python. */
static const char *kind_of(PyTypeObject *type)
{
	while (type->tp_base && type->tp_base != py_object_type)
		type = type->tp_base;
	return strrchr(type->tp_name, '.') ? strrchr(type->tp_name, '.') + 1 : type->tp_name;
}

/*
 * Arguments of a UnaryWithParam in our one form, (type, [numbers]): upstream takes the numbers one by one, or
 * type and number as a pair. A new reference.
 */
static PyObject *unary_args(PyObject *args)
{
	PyObject *first = PyTuple_GET_SIZE(args) > 0 ? PyTuple_GET_ITEM(args, 0) : NULL;
	PyObject *numbers, *made;

	if (first && PyTuple_GET_SIZE(args) == 1 && (PyTuple_Check(first) || PyList_Check(first)) &&
	    PySequence_Size(first) == 2)
		args = PySequence_Tuple(first);
	else if (PyTuple_GET_SIZE(args) < 3)
		return Py_NewRef(args);
	else
		Py_INCREF(args);
	if (!args)
		return NULL;
	numbers = PyList_New(PyTuple_GET_SIZE(args) - 1);
	for (Py_ssize_t i = 1; numbers && i < PyTuple_GET_SIZE(args); i++) {
		PyObject *number = PyNumber_Float(PyTuple_GET_ITEM(args, i));

		if (number)
			PyList_SET_ITEM(numbers, i - 1, number);
		else
			Py_CLEAR(numbers);
	}
	made = numbers ? PyTuple_Pack(2, PyTuple_GET_ITEM(args, 0), numbers) : NULL;
	Py_XDECREF(numbers);
	Py_DECREF(args);
	return made;
}

static PyObject *object_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
	struct py_scratch scratch;
	struct ttnn_arg given[PY_ARGS];
	ttnn_object *made = NULL;
	enum ttnn_status status;
	struct py_object *self;
	size_t count;

	args = strcmp(kind_of(type), "UnaryWithParam") == 0 ? unary_args(args) : Py_NewRef(args);
	if (!args)
		return NULL;
	py_scratch_init(&scratch);
	if (py_args_tuple(given, &count, args, kwargs, &scratch) < 0) {
		py_scratch_deinit(&scratch);
		Py_DECREF(args);
		return NULL;
	}
	status = ttnn_object_new(&made, kind_of(type), given, count);
	py_scratch_deinit(&scratch);
	Py_DECREF(args);
	if (status != TTNN_OK)
		return py_fail(status, kind_of(type));
	self = (struct py_object *)type->tp_alloc(type, 0);
	if (self)
		self->object = made;
	else
		ttnn_object_free(made);
	return (PyObject *)self;
}

PyObject *py_object_of(const struct ttnn_value *value)
{
	const char *kind;
	ttnn_object *made;
	enum ttnn_status status = ttnn_object_from_value(&made, &kind, value);
	PyTypeObject *type;
	struct py_object *self;

	if (status != TTNN_OK)
		return py_fail(status, "value");
	type = (PyTypeObject *)PyDict_GetItemString(types, kind);
	self = type ? (struct py_object *)type->tp_alloc(type, 0) : NULL;
	if (self)
		self->object = made;
	else
		ttnn_object_free(made);
	return (PyObject *)self;
}

static void object_dealloc(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);

	ttnn_object_free(object_of(self));
	type->tp_free(self);
	Py_DECREF(type);
}

/* Compute configs have no text of their own upstream either. */
static PyObject *object_repr(PyObject *self)
{
	struct ttnn_value value = ttnn_object_value(object_of(self));
	const char *kind = kind_of(Py_TYPE(self));
	char *text = NULL;

	if (strstr(kind, "ComputeKernelConfig"))
		return PyUnicode_FromFormat("<%s object at %p>", Py_TYPE(self)->tp_name, self);
	return py_text(ttnn_value_text(&text, &value), &text);
}

static const struct ttnn_value *find_field(PyObject *self, const char *name)
{
	const char *field;

	for (size_t i = 0; (field = ttnn_object_field(object_of(self), i)); i++)
		if (strcmp(field, name) == 0)
			return &ttnn_object_value(object_of(self)).items[i];
	return NULL;
}

static PyObject *object_getattr(PyObject *self, PyObject *name)
{
	const char *text = PyUnicode_AsUTF8(name);
	const struct ttnn_value *field = text ? find_field(self, text) : NULL;

	if (!text)
		return NULL;
	return field ? py_from_value(field) : PyObject_GenericGetAttr(self, name);
}

static int object_setattr(PyObject *self, PyObject *name, PyObject *value)
{
	const char *text = PyUnicode_AsUTF8(name);
	struct py_scratch scratch;
	struct ttnn_value given;
	enum ttnn_status status;
	int bad;

	if (!text)
		return -1;
	if (!value || !find_field(self, text))
		return PyObject_GenericSetAttr(self, name, value);
	py_scratch_init(&scratch);
	bad = py_value(&given, value, &scratch);
	status = bad ? TTNN_OK : ttnn_object_set(object_of(self), text, &given);
	py_scratch_deinit(&scratch);
	if (status != TTNN_OK)
		py_fail(status, kind_of(Py_TYPE(self)));
	return bad || status != TTNN_OK ? -1 : 0;
}

static PyObject *object_compare(PyObject *self, PyObject *other, int what)
{
	char *a = NULL, *b = NULL;
	struct ttnn_value left, right;
	PyObject *result = NULL;

	if (Py_TYPE(other) != Py_TYPE(self) || (what != Py_EQ && what != Py_NE))
		Py_RETURN_NOTIMPLEMENTED;
	left = ttnn_object_value(object_of(self));
	right = ttnn_object_value(object_of(other));
	if (ttnn_value_text(&a, &left) == TTNN_OK && ttnn_value_text(&b, &right) == TTNN_OK)
		result = PyBool_FromLong((strcmp(a, b) == 0) == (what == Py_EQ));
	else
		PyErr_NoMemory();
	ttnn_free(a);
	ttnn_free(b);
	return result;
}

static PyObject *object_dir(PyObject *self, PyObject *unused)
{
	PyObject *list = PyObject_CallMethod((PyObject *)&PyBaseObject_Type, "__dir__", "O", self);
	const char *field;

	(void)unused;
	for (size_t i = 0; list && (field = ttnn_object_field(object_of(self), i)); i++) {
		PyObject *name = PyUnicode_FromString(field);

		if (!name || PyList_Append(list, name) < 0)
			Py_CLEAR(list);
		Py_XDECREF(name);
	}
	return list;
}

/* A copy is made from the fields by name. */
static PyObject *object_reduce(PyObject *self, PyObject *unused)
{
	PyObject *fields = PyDict_New();
	const char *field;

	(void)unused;
	for (size_t i = 0; fields && (field = ttnn_object_field(object_of(self), i)); i++) {
		PyObject *value = py_from_value(&ttnn_object_value(object_of(self)).items[i]);

		if (!value || PyDict_SetItemString(fields, field, value) < 0)
			Py_CLEAR(fields);
		Py_XDECREF(value);
	}
	if (!fields)
		return NULL;
	return Py_BuildValue("N(O()N)", PyObject_GetAttrString(py_submodule(""), "_rebuild"),
			     Py_TYPE(self), fields);
}

/* _rebuild(type, args, kwargs) */
static PyObject *rebuild(PyObject *module, PyObject *args)
{
	PyObject *type, *given, *kwargs;

	(void)module;
	if (!PyArg_ParseTuple(args, "OO!O!", &type, &PyTuple_Type, &given, &PyDict_Type, &kwargs))
		return NULL;
	return PyObject_Call(type, given, kwargs);
}

static PyMethodDef object_methods[] = {
	PY_TO_JSON,
	{"__dir__", object_dir, METH_NOARGS, NULL},
	{"__reduce__", object_reduce, METH_NOARGS, NULL},
	{NULL, NULL, 0, NULL},
};
static PyMethodDef functions[] = {{"_rebuild", rebuild, METH_VARARGS, NULL}, {NULL, NULL, 0, NULL}};
static PyType_Slot object_slots[] = {
	{Py_tp_dealloc, object_dealloc},     {Py_tp_repr, object_repr},
	{Py_tp_richcompare, object_compare}, {Py_tp_hash, PyObject_HashNotImplemented},
	{Py_tp_getattro, object_getattr},    {Py_tp_setattro, object_setattr},
	{Py_tp_methods, object_methods},     {0, NULL},
};
static PyType_Spec object_spec = {
	"ttnn._ttnn.ConfigObject", sizeof(struct py_object), 0,
	Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION, object_slots};

static int add_kind(const char *kind, const char *module)
{
	PyType_Slot slots[] = {{Py_tp_base, py_object_type}, {Py_tp_new, object_new}, {0, NULL}};
	PyType_Spec spec = {NULL, sizeof(struct py_object), 0,
			    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
	PyObject *name = PyUnicode_FromFormat("ttnn._ttnn.%s.%s", module, kind);
	PyTypeObject *type;

	/* Before Python 3.12 a type keeps pointing at the name it was made with. */
	if (!name)
		return -1;
	spec.name = PyUnicode_AsUTF8(name);
	type = py_add_type(module, &spec);
	if (!type || PyDict_SetItemString(types, kind, (PyObject *)type) < 0)
		return -1;
	return 0; /* name stays for as long as the type: for ever */
}

int py_init_objects(void)
{
	const char *kind, *module;

	py_object_type = py_add_type("", &object_spec);
	types = PyDict_New();
	if (!py_object_type || !types || PyModule_AddFunctions(py_submodule(""), functions) < 0)
		return -1;
	for (size_t i = 0; (kind = ttnn_object_kind(&module, i)); i++)
		if (add_kind(kind, module) < 0)
			return -1;
	return 0;
}
