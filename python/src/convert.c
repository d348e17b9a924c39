/* convert.c: Python objects as values of the library, and back. */
#include "py.h"

/* ---- scratch ----------------------------------------------------------------------------------------- */

struct block {
	struct block *next;
	_Alignas(16) char data[];
};

void *py_scratch_alloc(struct py_scratch *scratch, size_t size)
{
	struct block *block;

	size = (size + 15) & ~(size_t)15;
	if (size <= sizeof(scratch->room) - scratch->used) {
		scratch->used += size;
		return scratch->room + scratch->used - size;
	}
	block = PyMem_Malloc(sizeof(*block) + size);
	if (!block)
		return PyErr_NoMemory();
	block->next = scratch->blocks;
	scratch->blocks = block;
	return block->data;
}

void py_scratch_deinit(struct py_scratch *scratch)
{
	for (struct block *block = scratch->blocks, *next; block; block = next) {
		next = block->next;
		PyMem_Free(block);
	}
}

/* ---- reading single values ------------------------------------------------------------------------------ */

int py_read_u32(uint32_t *out, PyObject *object, const char *what)
{
	PyObject *index = PyNumber_Index(object);
	unsigned long long number = index ? PyLong_AsUnsignedLongLong(index) : 0;

	Py_XDECREF(index);
	if (PyErr_Occurred() || number > UINT32_MAX) {
		PyErr_Clear();
		PyErr_Format(PyExc_TypeError, "%s must be a number from 0 to 4294967295, not %R",
			     what, object);
		return -1;
	}
	*out = (uint32_t)number;
	return 0;
}

int py_u32(PyObject *object, void *out)
{
	return py_read_u32(out, object, "the argument") == 0;
}

int py_u64(PyObject *object, void *out)
{
	PyObject *index = PyNumber_Index(object);
	unsigned long long number = index ? PyLong_AsUnsignedLongLong(index) : 0;

	Py_XDECREF(index);
	if (PyErr_Occurred()) {
		PyErr_Clear();
		PyErr_Format(PyExc_TypeError,
			     "the argument must be a number from 0 to 18446744073709551615, not %R",
			     object);
		return 0;
	}
	*(unsigned long long *)out = number;
	return 1;
}

int py_read_shape(struct ttnn_shape *out, PyObject *object, const char *what)
{
	PyTypeObject *type = Py_TYPE(object);
	PyObject *items;
	int status = 0;

	if (type == py_shape_type || type == py_mesh_shape_type || type == py_mesh_coord_type) {
		*out = ((struct py_shape *)object)->shape;
		return 0;
	}
	if (PyUnicode_Check(object) || PyBytes_Check(object) ||
	    !(items = PySequence_Fast(object, ""))) {
		PyErr_Clear();
		PyErr_Format(PyExc_TypeError, "%s must be a list of numbers, not %.100s", what,
			     type->tp_name);
		return -1;
	}
	if (PySequence_Fast_GET_SIZE(items) > TTNN_MAX_RANK) {
		PyErr_Format(PyExc_TypeError, "%s has %zd numbers, at most %d are possible", what,
			     PySequence_Fast_GET_SIZE(items), TTNN_MAX_RANK);
		status = -1;
	}
	out->rank = (uint32_t)PySequence_Fast_GET_SIZE(items);
	for (uint32_t i = 0; status == 0 && i < out->rank; i++)
		status = py_read_u32(&out->dim[i], PySequence_Fast_GET_ITEM(items, i), what);
	Py_DECREF(items);
	return status;
}

int py_read_core(struct ttnn_core *out, PyObject *object, const char *what)
{
	struct ttnn_shape pair;

	if (Py_TYPE(object) == py_core_type || Py_TYPE(object) == py_grid_type) {
		*out = ((struct py_core *)object)->core;
		return 0;
	}
	if (py_read_shape(&pair, object, what) < 0)
		return -1;
	if (pair.rank != 2) {
		PyErr_Format(PyExc_TypeError, "%s must be a core: x and y", what);
		return -1;
	}
	*out = (struct ttnn_core){pair.dim[0], pair.dim[1]};
	return 0;
}

/* A set, list or tuple of ranges. */
static int read_ranges(const ttnn_core_set **out, PyObject *object, const char *what)
{
	PyObject *items = PySequence_List(object);
	Py_ssize_t count = items ? PyList_GET_SIZE(items) : 0;
	struct ttnn_core_range *ranges = PyMem_Calloc((size_t)count + 1, sizeof(*ranges));
	enum ttnn_status status;
	int result = items && ranges ? 0 : -1;

	for (Py_ssize_t i = 0; result == 0 && i < count; i++) {
		PyObject *item = PyList_GET_ITEM(items, i);

		if (Py_TYPE(item) == py_range_type)
			ranges[i] = ((struct py_range *)item)->range;
		else {
			PyErr_Format(PyExc_TypeError, "%s must be CoreRanges, not %.100s", what,
				     Py_TYPE(item)->tp_name);
			result = -1;
		}
	}
	if (result == 0) {
		status = ttnn_core_set_make(out, ranges, (size_t)count);
		if (status != TTNN_OK) {
			py_fail(status, "CoreRangeSet");
			result = -1;
		}
	}
	PyMem_Free(ranges);
	Py_XDECREF(items);
	return result;
}

int py_read_cores(const ttnn_core_set **out, PyObject *object, const char *what)
{
	struct ttnn_core_range range;
	enum ttnn_status status;

	if (Py_TYPE(object) == py_cores_type) {
		*out = ((struct py_cores *)object)->set;
		return 0;
	}
	if (Py_TYPE(object) == py_range_type) {
		range = ((struct py_range *)object)->range;
	} else if (Py_TYPE(object) == py_core_type) {
		range.start = range.end = ((struct py_core *)object)->core;
	} else if (PyList_Check(object) || PyTuple_Check(object) || PyAnySet_Check(object)) {
		return read_ranges(out, object, what);
	} else {
		PyErr_Format(PyExc_TypeError, "%s must be a CoreRangeSet, not %.100s", what,
			     Py_TYPE(object)->tp_name);
		return -1;
	}
	status = ttnn_core_set_make(out, &range, 1);
	if (status != TTNN_OK)
		py_fail(status, "CoreRangeSet");
	return status == TTNN_OK ? 0 : -1;
}

/* ---- any value ---------------------------------------------------------------------------------------------- */

static int list_value(struct ttnn_value *out, PyObject *object, struct py_scratch *scratch)
{
	PyObject *items = PySequence_Fast(object, "a sequence is expected");
	size_t count = items ? (size_t)PySequence_Fast_GET_SIZE(items) : 0;
	struct ttnn_value *values =
		items ? py_scratch_alloc(scratch, (count + 1) * sizeof(*values)) : NULL;
	int status = values ? 0 : -1;

	if (status == 0 && Py_EnterRecursiveCall(" in an argument"))
		status = -1;
	else if (status == 0) {
		for (size_t i = 0; status == 0 && i < count; i++)
			status = py_value(&values[i], PySequence_Fast_GET_ITEM(items, i), scratch);
		Py_LeaveRecursiveCall();
	}
	/* The items of a list or tuple live as long as that, which the caller holds. */
	Py_XDECREF(items);
	if (status == 0)
		*out = ttnn_v_list(values, count);
	return status;
}

/* What an object says that it is for the library (mappers of meshes): nothing in it outlives the call. */
static int said_value(struct ttnn_value *out, PyObject *object, struct py_scratch *scratch)
{
	PyObject *value = PyObject_GetAttrString(object, "_ttnn_value");
	int status = value ? py_value(out, value, scratch) : -1;

	Py_XDECREF(value);
	return status;
}

/* "torch.Tensor": what messages call an object that the library knows nothing about. */
static int opaque_value(struct ttnn_value *out, PyObject *object, struct py_scratch *scratch)
{
	PyObject *type = (PyObject *)Py_TYPE(object);
	PyObject *module = PyObject_GetAttrString(type, "__module__");
	PyObject *name = PyObject_GetAttrString(type, "__qualname__");
	PyObject *full = NULL;
	const char *text = NULL;
	Py_ssize_t size = 0;
	char *copy;

	if (module && name && PyUnicode_Check(module) && PyUnicode_Check(name) &&
	    PyUnicode_CompareWithASCIIString(module, "builtins") != 0)
		full = PyUnicode_FromFormat("%U.%U", module, name);
	else if (name)
		full = PyObject_Str(name);
	if (full)
		text = PyUnicode_AsUTF8AndSize(full, &size);
	copy = text ? py_scratch_alloc(scratch, (size_t)size + 1) : NULL;
	if (copy)
		memcpy(copy, text, (size_t)size + 1);
	Py_XDECREF(module);
	Py_XDECREF(name);
	Py_XDECREF(full);
	if (!copy)
		return -1;
	*out = (struct ttnn_value){.kind = TTNN_VALUE_OPAQUE, .text = copy};
	return 0;
}

/* Types of this extension, which are compared exactly: none has subclasses but Tensor. */
static bool own_value(struct ttnn_value *out, PyObject *object)
{
	PyTypeObject *type = Py_TYPE(object);

	if (type == py_memory_type)
		*out = ttnn_v_memory(&((struct py_memory *)object)->config);
	else if (type == py_shape_type || type == py_mesh_shape_type || type == py_mesh_coord_type)
		*out = ttnn_v_shape(&((struct py_shape *)object)->shape);
	else if (type == py_core_type || type == py_grid_type)
		*out = (struct ttnn_value){.kind = TTNN_VALUE_CORE,
					   .core = ((struct py_core *)object)->core};
	else if (type == py_cores_type)
		*out = ttnn_v_core_set(((struct py_cores *)object)->set);
	else if (type == py_device_type)
		*out = ttnn_v_device(((struct py_device *)object)->device);
	else if (type == py_tile_type)
		*out = (struct ttnn_value){.kind = TTNN_VALUE_TILE,
					   .tile = &((struct py_tile *)object)->tile};
	else if (type == py_shard_type)
		*out = (struct ttnn_value){.kind = TTNN_VALUE_SHARD, .shard = py_shard_of(object)};
	else if (type == py_nd_shard_type)
		*out = (struct ttnn_value){.kind = TTNN_VALUE_ND_SHARD,
					   .nd_shard = &((struct py_nd_shard *)object)->spec};
	else if (PyObject_TypeCheck(object, py_object_type))
		*out = ttnn_object_value(((struct py_object *)object)->object);
	else if (PyObject_TypeCheck(object, py_device_type))
		*out = ttnn_v_device(((struct py_device *)object)->device);
	else
		return false;
	return true;
}

static int int_value(struct ttnn_value *out, PyObject *object)
{
	int overflow;
	long long number = PyLong_AsLongLongAndOverflow(object, &overflow);

	if (number == -1 && PyErr_Occurred())
		return -1;
	if (overflow) {
		PyErr_Format(PyExc_TypeError, "%R has more than 64 bits", object);
		return -1;
	}
	*out = ttnn_v_int(number);
	return 0;
}

/* Numbers of other libraries: they have __index__ or __float__, but are no arrays. */
static int number_value(struct ttnn_value *out, PyObject *object, bool whole)
{
	PyObject *number = whole ? PyNumber_Index(object) : PyNumber_Float(object);
	int status = number ? 0 : -1;

	if (number && whole)
		status = int_value(out, number);
	else if (number)
		*out = ttnn_v_real(PyFloat_AS_DOUBLE(number));
	Py_XDECREF(number);
	return status;
}

static int slice_value(struct ttnn_value *out, PySliceObject *slice, struct py_scratch *scratch)
{
	PyObject *parts[] = {slice->start, slice->stop, slice->step};
	struct ttnn_value *values =
		py_scratch_alloc(scratch, sizeof(parts) / sizeof(parts[0]) * sizeof(*values));

	if (!values)
		return -1;
	for (size_t i = 0; i < 3; i++)
		if (py_value(&values[i], parts[i], scratch) < 0)
			return -1;
	*out = ttnn_v_list(values, 3);
	return 0;
}

static int core_range_value(struct ttnn_value *out, PyObject *object)
{
	const ttnn_core_set *set;

	if (py_read_cores(&set, object, "range") < 0)
		return -1;
	*out = ttnn_v_core_set(set);
	return 0;
}

/* Anything that is neither a number of Python's nor a type of ours. */
static int other_value(struct ttnn_value *out, PyObject *object, struct py_scratch *scratch)
{
	const PyNumberMethods *numbers = Py_TYPE(object)->tp_as_number;
	const char *text;

	if (PyUnicode_Check(object)) {
		text = PyUnicode_AsUTF8(object);
		*out = ttnn_v_string(text);
		return text ? 0 : -1;
	}
	if (object == Py_Ellipsis) {
		*out = ttnn_v_string("...");
		return 0;
	}
	if (PySlice_Check(object))
		return slice_value(out, (PySliceObject *)object, scratch);
	if (Py_TYPE(object) == py_range_type)
		return core_range_value(out, object);
	if (numbers && !PyObject_HasAttrString((PyObject *)Py_TYPE(object), "__dlpack__")) {
		if (numbers->nb_index)
			return number_value(out, object, true);
		if (numbers->nb_float)
			return number_value(out, object, false);
	}
	if (PyObject_HasAttrString((PyObject *)Py_TYPE(object), "_ttnn_value"))
		return said_value(out, object, scratch);
	return opaque_value(out, object, scratch);
}

int py_value(struct ttnn_value *out, PyObject *object, struct py_scratch *scratch)
{
	const ttnn_enum *type;
	int64_t member;

	if (PyObject_TypeCheck(object, py_tensor_type)) {
		*out = ttnn_v_tensor(((struct py_tensor *)object)->tensor);
		return 0;
	}
	if (object == Py_None) {
		*out = ttnn_v_none();
		return 0;
	}
	if (PyBool_Check(object)) {
		*out = ttnn_v_bool(object == Py_True);
		return 0;
	}
	if (PyLong_Check(object))
		return int_value(out, object);
	if (PyFloat_Check(object)) {
		*out = ttnn_v_real(PyFloat_AS_DOUBLE(object));
		return 0;
	}
	if (own_value(out, object))
		return 0;
	if (py_enum_read(&type, &member, object)) {
		*out = ttnn_v_enum(type, member);
		return 0;
	}
	if (PyList_Check(object) || PyTuple_Check(object))
		return list_value(out, object, scratch);
	return other_value(out, object, scratch);
}

int py_args(struct ttnn_arg *out, size_t *count, PyObject *const *args, size_t nargs,
	    PyObject *kwnames, struct py_scratch *scratch)
{
	size_t named = kwnames ? (size_t)PyTuple_GET_SIZE(kwnames) : 0;

	if (nargs + named > PY_ARGS) {
		PyErr_Format(PyExc_TypeError, "more than %d arguments", PY_ARGS);
		return -1;
	}
	for (size_t i = 0; i < nargs + named; i++) {
		out[i].name = NULL;
		if (i >= nargs) {
			PyObject *name = PyTuple_GET_ITEM(kwnames, (Py_ssize_t)(i - nargs));

			out[i].name = PyUnicode_AsUTF8(name);
			if (!out[i].name)
				return -1;
		}
		if (py_value(&out[i].value, args[i], scratch) < 0)
			return -1;
	}
	*count = nargs + named;
	return 0;
}

int py_args_tuple(struct ttnn_arg *out, size_t *count, PyObject *args, PyObject *kwargs,
		  struct py_scratch *scratch)
{
	size_t nargs = (size_t)PyTuple_GET_SIZE(args);
	PyObject *key, *value;
	Py_ssize_t at = 0;

	if (nargs + (kwargs ? (size_t)PyDict_GET_SIZE(kwargs) : 0) > PY_ARGS) {
		PyErr_Format(PyExc_TypeError, "more than %d arguments", PY_ARGS);
		return -1;
	}
	for (size_t i = 0; i < nargs; i++) {
		out[i].name = NULL;
		if (py_value(&out[i].value, PyTuple_GET_ITEM(args, (Py_ssize_t)i), scratch) < 0)
			return -1;
	}
	while (kwargs && PyDict_Next(kwargs, &at, &key, &value)) {
		out[nargs].name = PyUnicode_AsUTF8(key);
		if (!out[nargs].name || py_value(&out[nargs].value, value, scratch) < 0)
			return -1;
		nargs++;
	}
	*count = nargs;
	return 0;
}

/* ---- back ------------------------------------------------------------------------------------------------------ */

static PyObject *from_list(const struct ttnn_value *value)
{
	PyObject *list = PyList_New(value->count);

	for (uint32_t i = 0; list && i < value->count; i++) {
		PyObject *item = py_from_value(&value->items[i]);

		if (!item)
			Py_CLEAR(list);
		else
			PyList_SET_ITEM(list, i, item);
	}
	return list;
}

static PyObject *from_dict(const struct ttnn_value *value)
{
	PyObject *dict = PyDict_New();

	for (uint32_t i = 0; dict && i + 1 < value->count; i += 2) {
		PyObject *key = py_from_value(&value->items[i]);
		PyObject *item = key ? py_from_value(&value->items[i + 1]) : NULL;

		if (!item || PyDict_SetItem(dict, key, item) < 0)
			Py_CLEAR(dict);
		Py_XDECREF(key);
		Py_XDECREF(item);
	}
	return dict;
}

PyObject *py_from_value(const struct ttnn_value *value)
{
	switch (value->kind) {
	case TTNN_VALUE_BOOL:
		return PyBool_FromLong(value->boolean);
	case TTNN_VALUE_INT:
		return PyLong_FromLongLong(value->integer);
	case TTNN_VALUE_REAL:
		return PyFloat_FromDouble(value->real);
	case TTNN_VALUE_STRING:
	case TTNN_VALUE_OPAQUE:
		return PyUnicode_FromString(value->text);
	case TTNN_VALUE_ENUM:
		return py_enum_member(value->enumeration, value->integer);
	case TTNN_VALUE_SHAPE:
		return py_new_shape(py_shape_type, value->shape);
	case TTNN_VALUE_MEMORY:
		return py_new_memory(value->memory);
	case TTNN_VALUE_CORE:
		return py_new_core(py_core_type, value->core);
	case TTNN_VALUE_CORE_SET:
		return py_new_cores(value->core_set);
	case TTNN_VALUE_TILE:
		return py_new_tile(value->tile);
	case TTNN_VALUE_SHARD:
		return py_new_shard(value->shard);
	case TTNN_VALUE_ND_SHARD:
		return py_new_nd_shard(value->nd_shard);
	case TTNN_VALUE_TENSOR:
		return py_new_tensor(ttnn_tensor_ref(value->tensor));
	case TTNN_VALUE_DEVICE:
		return py_new_device(ttnn_device_ref(value->device));
	case TTNN_VALUE_OBJECT:
		return py_object_of(value);
	case TTNN_VALUE_LIST:
		return from_list(value);
	case TTNN_VALUE_DICT:
		return from_dict(value);
	default:
		Py_RETURN_NONE;
	}
}

/* ---- what value types share --------------------------------------------------------------------------------------- */

PyObject *py_repr(PyObject *self)
{
	struct py_scratch scratch;
	struct ttnn_value value;
	char *text = NULL;

	py_scratch_init(&scratch);
	if (py_value(&value, self, &scratch) < 0)
		return NULL;
	return py_text(ttnn_value_text(&text, &value), &text);
}

PyObject *py_to_json(PyObject *self, PyObject *unused)
{
	struct py_scratch scratch;
	struct ttnn_value value;
	char *text = NULL;

	(void)unused;
	py_scratch_init(&scratch);
	if (py_value(&value, self, &scratch) < 0)
		return NULL;
	return py_text(ttnn_value_json(&text, &value, py_dialect()), &text);
}
