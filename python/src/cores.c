/* cores.c: CoreCoord, CoreGrid, CoreRange and CoreRangeSet. They never change. */
#include "py.h"

PyTypeObject *py_core_type, *py_grid_type, *py_range_type, *py_cores_type;

/* ---- CoreCoord, CoreGrid -------------------------------------------------------------------------- */

static struct ttnn_core core_of(PyObject *self)
{
	return ((struct py_core *)self)->core;
}

PyObject *py_new_core(PyTypeObject *type, struct ttnn_core core)
{
	struct py_core *self = (struct py_core *)type->tp_alloc(type, 0);

	if (self)
		self->core = core;
	return (PyObject *)self;
}

static PyObject *core_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
	static char *names[] = {"x", "y", NULL};
	PyObject *x, *y = NULL;
	struct ttnn_core core;

	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O:CoreCoord", names, &x, &y))
		return NULL;
	if (!y ? py_read_core(&core, x, "CoreCoord") < 0
	       : py_read_u32(&core.x, x, "x") < 0 || py_read_u32(&core.y, y, "y") < 0)
		return NULL;
	return py_new_core(type, core);
}

static PyObject *grid_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
	static char *names[] = {"x", "y", NULL};
	PyObject *x, *y;
	struct ttnn_core core;

	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "$OO:CoreGrid", names, &x, &y) ||
	    py_read_u32(&core.x, x, "x") < 0 || py_read_u32(&core.y, y, "y") < 0)
		return NULL;
	return py_new_core(type, core);
}

static PyObject *grid_repr(PyObject *self)
{
	return PyUnicode_FromFormat("ttnn.CoreGrid(x=%u, y=%u)", core_of(self).x, core_of(self).y);
}

static PyObject *core_compare(PyObject *self, PyObject *other, int what)
{
	struct ttnn_core a = core_of(self), b;

	if (what != Py_EQ && what != Py_NE)
		Py_RETURN_NOTIMPLEMENTED;
	if (Py_TYPE(other) == Py_TYPE(self)) {
		b = core_of(other);
	} else if (!PyTuple_Check(other) || py_read_core(&b, other, "core") < 0) {
		PyErr_Clear();
		Py_RETURN_NOTIMPLEMENTED;
	}
	return PyBool_FromLong((a.x == b.x && a.y == b.y) == (what == Py_EQ));
}

static Py_hash_t core_hash(PyObject *self)
{
	struct ttnn_core core = core_of(self);

	return (Py_hash_t)(((uint64_t)core.x << 32 | core.y) * 0x9e3779b97f4a7c15u >> 2);
}

static PyObject *core_field(PyObject *self, void *y)
{
	return PyLong_FromUnsignedLong(y ? core_of(self).y : core_of(self).x);
}

static PyObject *grid_cores(PyObject *self, void *unused)
{
	(void)unused;
	return PyLong_FromUnsignedLongLong((unsigned long long)core_of(self).x * core_of(self).y);
}

static PyObject *core_reduce(PyObject *self, PyObject *unused)
{
	(void)unused;
	return Py_BuildValue("O(II)", Py_TYPE(self), core_of(self).x, core_of(self).y);
}

/* {"x":3,"y":4}: read as the start of a range that ends there. */
static PyObject *core_from_json(PyObject *type, PyObject *text)
{
	PyObject *range = PyUnicode_Check(text)
				  ? PyUnicode_FromFormat("[{\"start\":%U,\"end\":%U}]", text, text)
				  : NULL;
	const char *json = range ? PyUnicode_AsUTF8(range) : NULL;
	const ttnn_core_set *set;
	enum ttnn_status status = json ? ttnn_core_set_parse(&set, json) : TTNN_NOMEM;

	Py_XDECREF(range);
	if (!json && !PyErr_Occurred())
		PyErr_SetString(PyExc_TypeError, "JSON is a text");
	if (!json)
		return NULL;
	if (status != TTNN_OK)
		return py_fail(status, "CoreCoord");
	return py_new_core((PyTypeObject *)type, ttnn_core_set_ranges(set, NULL)->start);
}

static PyGetSetDef core_fields[] = {
	{"x", core_field, NULL, "The column.", NULL},
	{"y", core_field, NULL, "The row.", "y"},
	{NULL, NULL, NULL, NULL, NULL},
};
static PyGetSetDef grid_fields[] = {
	{"x", core_field, NULL, "Columns.", NULL},
	{"y", core_field, NULL, "Rows.", "y"},
	{"num_cores", grid_cores, NULL, "Columns times rows.", NULL},
	{NULL, NULL, NULL, NULL, NULL},
};
static PyMethodDef core_methods[] = {
	PY_TO_JSON,
	{"from_json", core_from_json, METH_O | METH_CLASS, "The value of a JSON text."},
	{"__reduce__", core_reduce, METH_NOARGS, NULL},
	{NULL, NULL, 0, NULL},
};

/* ---- CoreRange ---------------------------------------------------------------------------------------- */

static struct ttnn_core_range *range_of(PyObject *self)
{
	return &((struct py_range *)self)->range;
}

PyObject *py_new_range(const struct ttnn_core_range *range)
{
	struct py_range *self = (struct py_range *)py_range_type->tp_alloc(py_range_type, 0);

	if (self)
		self->range = *range;
	return (PyObject *)self;
}

/* The set of this range alone; checks the range too. */
static const ttnn_core_set *range_set(const struct ttnn_core_range *range)
{
	const ttnn_core_set *set;
	enum ttnn_status status = ttnn_core_set_make(&set, range, 1);

	if (status == TTNN_OK)
		return set;
	py_fail(status, "CoreRange");
	return NULL;
}

static PyObject *range_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
	static char *names[] = {"start", "end", NULL};
	struct ttnn_core_range range;
	PyObject *start, *end = NULL;

	(void)type;
	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O:CoreRange", names, &start, &end) ||
	    py_read_core(&range.start, start, "start") < 0 ||
	    py_read_core(&range.end, end ? end : start, "end") < 0 || !range_set(&range))
		return NULL;
	return py_new_range(&range);
}

static PyObject *range_repr(PyObject *self)
{
	const struct ttnn_core_range *range = range_of(self);

	return PyUnicode_FromFormat("[%u-%u - %u-%u]", range->start.x, range->start.y, range->end.x,
				    range->end.y);
}

static PyObject *range_compare(PyObject *self, PyObject *other, int what)
{
	if (Py_TYPE(other) != Py_TYPE(self) || (what != Py_EQ && what != Py_NE))
		Py_RETURN_NOTIMPLEMENTED;
	return PyBool_FromLong((memcmp(range_of(self), range_of(other),
				       sizeof(struct ttnn_core_range)) == 0) == (what == Py_EQ));
}

static Py_hash_t range_hash(PyObject *self)
{
	return (Py_hash_t)((uintptr_t)range_set(range_of(self)) >> 4);
}

static PyObject *range_end(PyObject *self, void *end)
{
	return py_new_core(py_core_type, end ? range_of(self)->end : range_of(self)->start);
}

static PyObject *range_size(PyObject *self, PyObject *unused)
{
	const struct ttnn_core_range *range = range_of(self);
	struct ttnn_core size = {range->end.x - range->start.x + 1,
				 range->end.y - range->start.y + 1};

	(void)unused;
	return py_new_core(py_core_type, size);
}

/* Whether all cores of a core, range or set are in this set. */
static PyObject *holds(const ttnn_core_set *set, PyObject *other)
{
	const ttnn_core_set *inner;

	if (PyTuple_Check(other) || Py_TYPE(other) == py_core_type) {
		struct ttnn_core_range range;

		if (py_read_core(&range.start, other, "core") < 0)
			return NULL;
		range.end = range.start;
		inner = range_set(&range);
	} else if (py_read_cores(&inner, other, "cores") < 0) {
		return NULL;
	}
	return inner ? PyBool_FromLong(ttnn_core_set_includes(set, inner)) : NULL;
}

static PyObject *range_contains(PyObject *self, PyObject *other)
{
	const ttnn_core_set *set = range_set(range_of(self));

	return set ? holds(set, other) : NULL;
}

static PyObject *range_to_json(PyObject *self, PyObject *unused)
{
	const struct ttnn_core_range *range = range_of(self);

	(void)unused;
	return PyUnicode_FromFormat("{\"end\":{\"x\":%u,\"y\":%u},\"start\":{\"x\":%u,\"y\":%u}}",
				    range->end.x, range->end.y, range->start.x, range->start.y);
}

static PyObject *range_from_json(PyObject *type, PyObject *text)
{
	PyObject *listed = PyUnicode_Check(text) ? PyUnicode_FromFormat("[%U]", text) : NULL;
	const char *json = listed ? PyUnicode_AsUTF8(listed) : NULL;
	const ttnn_core_set *set;
	enum ttnn_status status = json ? ttnn_core_set_parse(&set, json) : TTNN_NOMEM;
	const struct ttnn_core_range *ranges;
	size_t count;

	(void)type;
	Py_XDECREF(listed);
	if (!json && !PyErr_Occurred())
		PyErr_SetString(PyExc_TypeError, "JSON is a text");
	if (!json)
		return NULL;
	if (status != TTNN_OK)
		return py_fail(status, "CoreRange");
	ranges = ttnn_core_set_ranges(set, &count);
	if (count != 1)
		return PyErr_Format(PyExc_RuntimeError, "this is no CoreRange: %U", text);
	return py_new_range(ranges);
}

static PyObject *range_reduce(PyObject *self, PyObject *unused)
{
	(void)unused;
	return Py_BuildValue("O(NN)", Py_TYPE(self), range_end(self, NULL), range_end(self, "end"));
}

static PyGetSetDef range_fields[] = {
	{"start", range_end, NULL, "The first core.", NULL},
	{"end", range_end, NULL, "The last core, which belongs to the range.", "end"},
	{NULL, NULL, NULL, NULL, NULL},
};
static PyMethodDef range_methods[] = {
	{"to_json", range_to_json, METH_NOARGS, "The value as JSON text."},
	{"from_json", range_from_json, METH_O | METH_CLASS, "The value of a JSON text."},
	{"grid_size", range_size, METH_NOARGS, "Columns and rows."},
	{"contains", range_contains, METH_O, "Whether all of these cores are in the range."},
	{"__reduce__", range_reduce, METH_NOARGS, NULL},
	{NULL, NULL, 0, NULL},
};

/* ---- CoreRangeSet ------------------------------------------------------------------------------------------ */

static const ttnn_core_set *set_of(PyObject *self)
{
	return ((struct py_cores *)self)->set;
}

PyObject *py_new_cores(const ttnn_core_set *set)
{
	struct py_cores *self = (struct py_cores *)py_cores_type->tp_alloc(py_cores_type, 0);

	if (self)
		self->set = set;
	return (PyObject *)self;
}

static PyObject *cores_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
	static char *names[] = {"core_ranges", NULL};
	const ttnn_core_set *set;
	PyObject *ranges;

	(void)type;
	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O:CoreRangeSet", names, &ranges) ||
	    py_read_cores(&set, ranges, "core_ranges") < 0)
		return NULL;
	return py_new_cores(set);
}

static PyObject *cores_compare(PyObject *self, PyObject *other, int what)
{
	if (Py_TYPE(other) != Py_TYPE(self) || (what != Py_EQ && what != Py_NE))
		Py_RETURN_NOTIMPLEMENTED;
	return PyBool_FromLong((set_of(self) == set_of(other)) == (what == Py_EQ));
}

static Py_hash_t cores_hash(PyObject *self)
{
	return (Py_hash_t)((uintptr_t)set_of(self) >> 4);
}

static PyObject *cores_ranges(PyObject *self, PyObject *unused)
{
	size_t count;
	const struct ttnn_core_range *ranges = ttnn_core_set_ranges(set_of(self), &count);
	PyObject *list = PyList_New((Py_ssize_t)count);

	(void)unused;
	for (size_t i = 0; list && i < count; i++) {
		PyObject *range = py_new_range(&ranges[i]);

		if (!range)
			Py_CLEAR(list);
		else
			PyList_SET_ITEM(list, (Py_ssize_t)i, range);
	}
	return list;
}

static PyObject *cores_number(PyObject *self, PyObject *unused)
{
	(void)unused;
	return PyLong_FromSize_t(ttnn_core_set_cores(set_of(self)));
}

static PyObject *cores_size(PyObject *self, PyObject *unused)
{
	size_t count;

	(void)unused;
	ttnn_core_set_ranges(set_of(self), &count);
	return PyLong_FromSize_t(count);
}

static PyObject *cores_empty(PyObject *self, PyObject *unused)
{
	(void)unused;
	return PyBool_FromLong(ttnn_core_set_cores(set_of(self)) == 0);
}

static PyObject *cores_box(PyObject *self, PyObject *unused)
{
	struct ttnn_core_range box;
	enum ttnn_status status = ttnn_core_set_box(&box, set_of(self));

	(void)unused;
	return status == TTNN_OK ? py_new_range(&box) : py_fail(status, "CoreRangeSet");
}

static PyObject *cores_contains(PyObject *self, PyObject *other)
{
	return holds(set_of(self), other);
}

typedef enum ttnn_status (*combine)(const ttnn_core_set **out, const ttnn_core_set *a,
				    const ttnn_core_set *b);

static PyObject *combined(PyObject *self, PyObject *other, combine function)
{
	const ttnn_core_set *set;
	enum ttnn_status status;

	if (py_read_cores(&set, other, "other") < 0)
		return NULL;
	status = function(&set, set_of(self), set);
	return status == TTNN_OK ? py_new_cores(set) : py_fail(status, "CoreRangeSet");
}

static PyObject *cores_merge(PyObject *self, PyObject *other)
{
	return combined(self, other, ttnn_core_set_merge);
}

static PyObject *cores_subtract(PyObject *self, PyObject *other)
{
	return combined(self, other, ttnn_core_set_subtract);
}

static PyObject *cores_from_json(PyObject *type, PyObject *text)
{
	const char *json = PyUnicode_AsUTF8(text);
	const ttnn_core_set *set;
	enum ttnn_status status;

	(void)type;
	if (!json)
		return NULL;
	status = ttnn_core_set_parse(&set, json);
	return status == TTNN_OK ? py_new_cores(set) : py_fail(status, "CoreRangeSet");
}

static PyObject *cores_reduce(PyObject *self, PyObject *unused)
{
	(void)unused;
	return Py_BuildValue("O(N)", Py_TYPE(self), cores_ranges(self, NULL));
}

static PyMethodDef cores_methods[] = {
	PY_TO_JSON,
	{"from_json", cores_from_json, METH_O | METH_CLASS, "The value of a JSON text."},
	{"ranges", cores_ranges, METH_NOARGS, "The ranges in the order given."},
	{"num_cores", cores_number, METH_NOARGS, "The number of cores."},
	{"size", cores_size, METH_NOARGS, "The number of ranges."},
	{"empty", cores_empty, METH_NOARGS, "Whether there is no core."},
	{"bounding_box", cores_box, METH_NOARGS, "The smallest range around all cores."},
	{"contains", cores_contains, METH_O, "Whether all of these cores are in the set."},
	{"merge", cores_merge, METH_O, "The cores of both."},
	{"subtract", cores_subtract, METH_O, "The cores that are not in the other."},
	{"__reduce__", cores_reduce, METH_NOARGS, NULL},
	{NULL, NULL, 0, NULL},
};

/* ---- types ---------------------------------------------------------------------------------------------------- */

static PyType_Slot core_slots[] = {
	{Py_tp_new, core_new},
	{Py_tp_repr, py_repr},
	{Py_tp_richcompare, core_compare},
	{Py_tp_hash, core_hash},
	{Py_tp_methods, core_methods},
	{Py_tp_getset, core_fields},
	{0, NULL},
};
static PyType_Slot grid_slots[] = {
	{Py_tp_new, grid_new},   {Py_tp_repr, grid_repr},     {Py_tp_richcompare, core_compare},
	{Py_tp_hash, core_hash}, {Py_tp_getset, grid_fields}, {0, NULL},
};
static PyType_Slot range_slots[] = {
	{Py_tp_new, range_new},
	{Py_tp_repr, range_repr},
	{Py_tp_richcompare, range_compare},
	{Py_tp_hash, range_hash},
	{Py_tp_methods, range_methods},
	{Py_tp_getset, range_fields},
	{0, NULL},
};
static PyType_Slot cores_slots[] = {
	{Py_tp_new, cores_new},
	{Py_tp_repr, py_repr},
	{Py_tp_richcompare, cores_compare},
	{Py_tp_hash, cores_hash},
	{Py_tp_methods, cores_methods},
	{0, NULL},
};

#define SPEC(variable, name, struct_, slots)                                                       \
	static PyType_Spec variable = {"ttnn._ttnn.tensor." name, sizeof(struct_), 0,              \
				       Py_TPFLAGS_DEFAULT, slots}
SPEC(core_spec, "CoreCoord", struct py_core, core_slots);
SPEC(grid_spec, "CoreGrid", struct py_core, grid_slots);
SPEC(range_spec, "CoreRange", struct py_range, range_slots);
SPEC(cores_spec, "CoreRangeSet", struct py_cores, cores_slots);

int py_init_cores(void)
{
	py_core_type = py_add_type("tensor", &core_spec);
	py_grid_type = py_add_type("tensor", &grid_spec);
	py_range_type = py_add_type("tensor", &range_spec);
	py_cores_type = py_add_type("tensor", &cores_spec);
	return py_core_type && py_grid_type && py_range_type && py_cores_type ? 0 : -1;
}
