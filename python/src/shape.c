/* shape.c: lists of extents: Shape, MeshShape, MeshCoordinate. They never change. */
#include "py.h"

PyTypeObject *py_shape_type, *py_mesh_shape_type, *py_mesh_coord_type;

static struct ttnn_shape *shape_of(PyObject *self)
{
	return &((struct py_shape *)self)->shape;
}

PyObject *py_new_shape(PyTypeObject *type, const struct ttnn_shape *shape)
{
	struct py_shape *self = (struct py_shape *)type->tp_alloc(type, 0);

	if (self)
		self->shape = *shape;
	return (PyObject *)self;
}

/* Name(1, 2) and Name([1, 2]). */
static PyObject *shape_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
	PyObject *given = args;
	struct ttnn_shape shape;

	if (kwargs && PyDict_GET_SIZE(kwargs)) {
		given = PyDict_GetItemString(kwargs, "shape");
		if (!given)
			return PyErr_Format(PyExc_TypeError, "%s() takes extents only",
					    type->tp_name);
	} else if (PyTuple_GET_SIZE(args) == 1 && !PyIndex_Check(PyTuple_GET_ITEM(args, 0))) {
		given = PyTuple_GET_ITEM(args, 0);
	}
	if (py_read_shape(&shape, given, type->tp_name) < 0)
		return NULL;
	return py_new_shape(type, &shape);
}

static PyObject *shape_repr(PyObject *self)
{
	const struct ttnn_shape *shape = shape_of(self);
	const char *dot = strrchr(Py_TYPE(self)->tp_name, '.');
	char text[16 * TTNN_MAX_RANK] = "";
	size_t used = 0;

	for (uint32_t i = 0; i < shape->rank; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%u", i ? ", " : "",
					 shape->dim[i]);
	return PyUnicode_FromFormat("%s([%s])", dot ? dot + 1 : Py_TYPE(self)->tp_name, text);
}

static Py_ssize_t shape_length(PyObject *self)
{
	return shape_of(self)->rank;
}

static PyObject *shape_item(PyObject *self, PyObject *key)
{
	const struct ttnn_shape *shape = shape_of(self);
	Py_ssize_t index = PyNumber_AsSsize_t(key, PyExc_IndexError);
	Py_ssize_t rank = shape->rank;

	if (index == -1 && PyErr_Occurred())
		return NULL;
	if (index < 0)
		index += rank;
	if (index < 0 || index >= rank)
		return PyErr_Format(PyExc_RuntimeError,
				    "TT_THROW @ shape:0: tt::exception\ninfo:\nShapeBase[] index "
				    "out of range. %zd not in [%zd, %zd)\n",
				    PyNumber_AsSsize_t(key, NULL), -(rank < 4 ? 4 : rank), rank);
	return PyLong_FromUnsignedLong(shape->dim[index]);
}

static PyObject *shape_list(PyObject *self)
{
	const struct ttnn_shape *shape = shape_of(self);
	PyObject *list = PyTuple_New(shape->rank);

	for (uint32_t i = 0; list && i < shape->rank; i++) {
		PyObject *item = PyLong_FromUnsignedLong(shape->dim[i]);

		if (!item)
			Py_CLEAR(list);
		else
			PyTuple_SET_ITEM(list, i, item);
	}
	return list;
}

static PyObject *shape_iter(PyObject *self)
{
	PyObject *list = shape_list(self);
	PyObject *iter = list ? PyObject_GetIter(list) : NULL;

	Py_XDECREF(list);
	return iter;
}

/* A list or tuple of the same numbers is equal too. */
static PyObject *shape_compare(PyObject *self, PyObject *other, int what)
{
	struct ttnn_shape shape;
	bool same;

	if (what != Py_EQ && what != Py_NE)
		Py_RETURN_NOTIMPLEMENTED;
	if (Py_TYPE(other) == Py_TYPE(self))
		shape = *shape_of(other);
	else if (!PyList_Check(other) && !PyTuple_Check(other))
		Py_RETURN_NOTIMPLEMENTED;
	else if (py_read_shape(&shape, other, "shape") < 0) {
		PyErr_Clear();
		Py_RETURN_NOTIMPLEMENTED;
	}
	same = ttnn_shape_equal(shape_of(self), &shape);
	return PyBool_FromLong(same == (what == Py_EQ));
}

static Py_hash_t shape_hash(PyObject *self)
{
	PyObject *list = shape_list(self);
	Py_hash_t hash = list ? PyObject_Hash(list) : -1;

	Py_XDECREF(list);
	return hash;
}

static PyObject *shape_rank(PyObject *self, void *unused)
{
	(void)unused;
	return PyLong_FromUnsignedLong(shape_of(self)->rank);
}

/* More dimensions of 1 in front, or fewer. */
static PyObject *shape_to_rank(PyObject *self, PyObject *arg)
{
	const struct ttnn_shape *from = shape_of(self);
	struct ttnn_shape to = {0};
	uint32_t rank;

	if (py_read_u32(&rank, arg, "rank") < 0)
		return NULL;
	if (rank > TTNN_MAX_RANK)
		return PyErr_Format(PyExc_RuntimeError, "no shape has rank %u", rank);
	to.rank = rank;
	for (uint32_t i = 0; i < rank; i++)
		to.dim[rank - 1 - i] = i < from->rank ? from->dim[from->rank - 1 - i] : 1;
	for (uint32_t i = rank; i < from->rank; i++)
		if (from->dim[from->rank - 1 - i] != 1)
			return PyErr_Format(PyExc_RuntimeError,
					    "TT_FATAL @ shape:0: shape_[i] == 1\ninfo:\nCan't "
					    "convert shape rank\n");
	return py_new_shape(Py_TYPE(self), &to);
}

static PyObject *shape_volume(PyObject *self, PyObject *unused)
{
	uint64_t volume;
	enum ttnn_status status = ttnn_shape_volume(&volume, shape_of(self));

	(void)unused;
	return status == TTNN_OK ? PyLong_FromUnsignedLongLong(volume) : py_fail(status, "shape");
}

static PyObject *shape_dims(PyObject *self, PyObject *unused)
{
	(void)unused;
	return shape_rank(self, NULL);
}

/* Copies and pickles: the type and its numbers. */
static PyObject *shape_reduce(PyObject *self, PyObject *unused)
{
	(void)unused;
	return Py_BuildValue("O(N)", Py_TYPE(self), shape_list(self));
}

static PyGetSetDef shape_fields[] = {{"rank", shape_rank, NULL, "The number of dimensions.", NULL},
				     {NULL, NULL, NULL, NULL, NULL}};
static PyMethodDef shape_methods[] = {
	{"to_rank", shape_to_rank, METH_O, "With more or fewer dimensions of 1 in front."},
	{"volume", shape_volume, METH_NOARGS, "The number of elements."},
	{"__reduce__", shape_reduce, METH_NOARGS, NULL},
	{NULL, NULL, 0, NULL},
};
static PyMethodDef mesh_methods[] = {
	{"mesh_size", shape_volume, METH_NOARGS, "The number of devices."},
	{"dims", shape_dims, METH_NOARGS, "The number of dimensions."},
	{"__reduce__", shape_reduce, METH_NOARGS, NULL},
	{NULL, NULL, 0, NULL},
};

#define SLOTS(methods)                                                                             \
	{Py_tp_new, shape_new}, {Py_tp_repr, shape_repr}, {Py_tp_richcompare, shape_compare},      \
		{Py_tp_hash, shape_hash}, {Py_tp_iter, shape_iter}, {Py_mp_length, shape_length},  \
		{Py_mp_subscript, shape_item},                                                     \
	{                                                                                          \
		Py_tp_methods, methods                                                             \
	}

static PyType_Slot shape_slots[] = {SLOTS(shape_methods), {Py_tp_getset, shape_fields}, {0, NULL}};
static PyType_Slot mesh_slots[] = {SLOTS(mesh_methods), {0, NULL}};

static PyType_Spec shape_spec = {"ttnn._ttnn.types.Shape", sizeof(struct py_shape), 0,
				 Py_TPFLAGS_DEFAULT, shape_slots};
static PyType_Spec mesh_shape_spec = {"ttnn._ttnn.multi_device.MeshShape", sizeof(struct py_shape),
				      0, Py_TPFLAGS_DEFAULT, mesh_slots};
static PyType_Spec mesh_coord_spec = {"ttnn._ttnn.multi_device.MeshCoordinate",
				      sizeof(struct py_shape), 0, Py_TPFLAGS_DEFAULT, mesh_slots};

int py_init_shapes(void)
{
	py_shape_type = py_add_type("types", &shape_spec);
	py_mesh_shape_type = py_add_type("multi_device", &mesh_shape_spec);
	py_mesh_coord_type = py_add_type("multi_device", &mesh_coord_spec);
	return py_shape_type && py_mesh_shape_type && py_mesh_coord_type ? 0 : -1;
}
