/* tensor.c: Tensor: what can be asked of one, and how it is made. */
#include "py.h"

#include <structmember.h>

PyTypeObject *py_tensor_type;

static struct ttnn_print_options print_options;

/* ---- life -------------------------------------------------------------------------------------------- */

PyObject *py_new_tensor(ttnn_tensor *tensor)
{
	struct py_tensor *self;

	if (!tensor)
		Py_RETURN_NONE;
	self = (struct py_tensor *)py_tensor_type->tp_alloc(py_tensor_type, 0);
	if (self)
		self->tensor = tensor;
	else
		ttnn_tensor_unref(tensor);
	return (PyObject *)self;
}

static void tensor_dealloc(PyObject *object)
{
	struct py_tensor *self = (struct py_tensor *)object;
	PyTypeObject *type = Py_TYPE(object);

	if (self->weak)
		PyObject_ClearWeakRefs(object);
	ttnn_tensor_drop(self->tensor);
	type->tp_free(object);
	Py_DECREF(type);
}

/* By identity: == is an operation. */
static Py_hash_t tensor_hash(PyObject *self)
{
	return (Py_hash_t)((uintptr_t)self >> 4);
}

/* The tensor, borrowed; NULL with an exception when __init__ was never called. */
static ttnn_tensor *tensor_of(PyObject *self)
{
	ttnn_tensor *tensor = ((struct py_tensor *)self)->tensor;

	if (!tensor)
		PyErr_SetString(PyExc_RuntimeError, "this Tensor was never initialised");
	return tensor;
}

static const struct ttnn_tensor_spec *spec_of(PyObject *self)
{
	ttnn_tensor *tensor = tensor_of(self);

	return tensor ? ttnn_tensor_get_spec(tensor) : NULL;
}

/* ---- making ---------------------------------------------------------------------------------------------- */

struct made {
	PyObject *source, *shape, *dtype, *layout, *device, *memory, *tile, *pad;
};

/* The spec of a tensor from a list of numbers. */
static int read_spec(struct ttnn_tensor_spec *out, const struct made *made)
{
	struct ttnn_spec_args args = {.dtype = TTNN_FLOAT32};
	int64_t dtype = TTNN_FLOAT32, layout = TTNN_ROW_MAJOR;
	enum ttnn_status status;

	if (py_read_shape(&args.shape, made->shape, "shape") < 0 ||
	    (made->dtype && py_enum_need(&dtype, made->dtype, py_enum_dtype, "data_type") < 0) ||
	    (made->layout && py_enum_need(&layout, made->layout, py_enum_layout, "layout") < 0))
		return -1;
	args.dtype = (enum ttnn_dtype)dtype;
	args.layout = (enum ttnn_layout)layout;
	if (made->tile && made->tile != Py_None && Py_TYPE(made->tile) == py_tile_type)
		args.tile = ((struct py_tile *)made->tile)->tile;
	status = ttnn_tensor_spec_make(out, &args);
	if (status != TTNN_OK)
		py_fail(status, "Tensor");
	return status == TTNN_OK ? 0 : -1;
}

static PyObject *make_from_list(const struct made *made)
{
	double pad = made->pad && made->pad != Py_None ? PyFloat_AsDouble(made->pad) : 0;
	struct ttnn_tensor_spec spec;
	PyObject *args[3] = {NULL, made->device, made->memory}, *moved;
	ttnn_tensor *tensor;

	if (PyErr_Occurred() || read_spec(&spec, made) < 0)
		return NULL;
	tensor = py_tensor_from_numbers(made->source, &spec, pad);
	args[0] = tensor ? py_new_tensor(tensor) : NULL;
	if (!args[0] || !made->device || made->device == Py_None)
		return args[0];
	moved = py_run_method("ttnn.Tensor.to", args, made->memory ? 3 : 2, NULL);
	Py_DECREF(args[0]);
	return moved;
}

/* Tensor(array, data_type, device, layout, mem_config, tile, ..., pad_value) */
static PyObject *make_from_data(const struct made *made, int64_t wanted)
{
	static const char *const names[] = {"dtype",         "device", "layout",
					    "memory_config", "tile",   "pad_value"};
	PyObject *const given[] = {made->dtype,  made->device, made->layout,
				   made->memory, made->tile,   made->pad};
	PyObject *args[7] = {NULL}, *kwnames = PyTuple_New(6), *result = NULL;
	ttnn_tensor *data = py_data_tensor(made->source, (int)wanted);

	args[0] = data ? py_new_tensor(data) : NULL;
	for (int i = 0; kwnames && i < 6; i++) {
		PyObject *name = PyUnicode_InternFromString(names[i]);

		args[i + 1] = given[i] ? given[i] : Py_None;
		if (!name)
			Py_CLEAR(kwnames);
		else
			PyTuple_SET_ITEM(kwnames, i, name);
	}
	if (args[0] && kwnames)
		result = py_run_method("ttnn.from_torch", args, 1, kwnames);
	Py_XDECREF(args[0]);
	Py_XDECREF(kwnames);
	return result;
}

/* Behind data and data type come device, layout, memory and tile: `count` arguments without names. */
static int take_after_dtype(struct made *made, Py_ssize_t count)
{
	PyObject *third = made->dtype, *fifth = made->device, *sixth = made->memory;

	if ((count > 2 && count < 5 && made->device) || (count == 5 && made->memory) ||
	    (count == 6 && made->tile)) {
		PyErr_SetString(PyExc_TypeError, "Tensor: an argument is given twice");
		return -1;
	}
	made->dtype = made->shape;
	if (count > 2)
		made->device = third;
	if (count > 4)
		made->memory = fifth;
	if (count > 5)
		made->tile = sixth;
	return 0;
}

static int tensor_init(PyObject *object, PyObject *args, PyObject *kwargs)
{
	static char *names[] = {"tensor",     "shape", "data_type", "layout", "device",
				"mem_config", "tile",  "pad_value", NULL};
	struct py_tensor *self = (struct py_tensor *)object;
	struct made made = {0};
	PyObject *found;
	ttnn_tensor *before = self->tensor;
	int64_t wanted = -1;

	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|OOOOOOO:Tensor", names, &made.source,
					 &made.shape, &made.dtype, &made.layout, &made.device,
					 &made.memory, &made.tile, &made.pad))
		return -1;
	if (PyObject_TypeCheck(made.source, py_tensor_type) && !made.shape) {
		found = Py_NewRef(made.source);
	} else if (PyList_Check(made.source) && made.shape) {
		found = make_from_list(&made);
	} else {
		/* The second argument is the data type, if any. */
		const ttnn_enum *type;

		if (made.shape && py_enum_read(&type, &wanted, made.shape) &&
		    type == py_enum_dtype) {
			if (take_after_dtype(&made, PyTuple_GET_SIZE(args)) < 0)
				return -1;
		} else if (made.dtype && !py_enum_read(&type, &wanted, made.dtype))
			wanted = -1;
		found = make_from_data(&made, wanted);
	}
	if (!found)
		return -1;
	self->tensor = tensor_of(found) ? ttnn_tensor_ref(tensor_of(found)) : NULL;
	ttnn_tensor_drop(before);
	Py_DECREF(found);
	return self->tensor ? 0 : -1;
}

/* ---- asking ------------------------------------------------------------------------------------------------- */

enum { SHAPE, PADDED_SHAPE, DTYPE, LAYOUT, TILE, TENSOR_ID, SPEC };

static PyObject *tensor_field(PyObject *self, void *which)
{
	const struct ttnn_tensor_spec *spec = spec_of(self);

	if (!spec)
		return NULL;
	switch ((intptr_t)which) {
	case SHAPE:
		return py_new_shape(py_shape_type, &spec->shape);
	case PADDED_SHAPE:
		return py_new_shape(py_shape_type, &spec->padded);
	case DTYPE:
		return py_enum_member(py_enum_dtype, spec->dtype);
	case LAYOUT:
		return py_enum_member(py_enum_layout, spec->layout);
	case TILE:
		return py_new_tile(&spec->tile);
	case TENSOR_ID:
		return PyLong_FromUnsignedLongLong(ttnn_tensor_get_id(tensor_of(self)));
	default:
		return py_new_spec(spec);
	}
}

static int tensor_set_id(PyObject *self, PyObject *value, void *unused)
{
	unsigned long long id = value ? PyLong_AsUnsignedLongLong(value) : 0;

	(void)unused;
	if (!value)
		PyErr_SetString(PyExc_AttributeError, "tensor_id cannot be deleted");
	if (PyErr_Occurred() || !tensor_of(self))
		return -1;
	ttnn_tensor_set_id(tensor_of(self), id);
	return 0;
}

static PyObject *tensor_dtype(PyObject *self, PyObject *unused)
{
	(void)unused;
	return tensor_field(self, PY_FIELD(DTYPE));
}

static PyObject *tensor_layout(PyObject *self, PyObject *unused)
{
	(void)unused;
	return tensor_field(self, PY_FIELD(LAYOUT));
}

static PyObject *tensor_tile(PyObject *self, PyObject *unused)
{
	(void)unused;
	return tensor_field(self, PY_FIELD(TILE));
}

static PyObject *tensor_volume(PyObject *self, PyObject *unused)
{
	const struct ttnn_tensor_spec *spec = spec_of(self);
	uint64_t volume;

	(void)unused;
	if (!spec || ttnn_shape_volume(&volume, &spec->padded) != TTNN_OK)
		return NULL;
	return PyLong_FromUnsignedLongLong(volume);
}

static PyObject *tensor_logical_volume(PyObject *self, PyObject *unused)
{
	const struct ttnn_tensor_spec *spec = spec_of(self);
	uint64_t volume;

	(void)unused;
	if (!spec || ttnn_shape_volume(&volume, &spec->shape) != TTNN_OK)
		return NULL;
	return PyLong_FromUnsignedLongLong(volume);
}

/* A tensor whose device was closed is still one of a device, without memory. */
static bool on_device(ttnn_tensor *tensor)
{
	return ttnn_tensor_get_device(tensor) ||
	       (!ttnn_tensor_bytes(tensor) && !ttnn_tensor_is_allocated(tensor));
}

static PyObject *tensor_storage(PyObject *self, PyObject *unused)
{
	ttnn_tensor *tensor = tensor_of(self);

	(void)unused;
	return tensor ? py_enum_member(py_enum_storage, on_device(tensor)) : NULL;
}

static PyObject *tensor_device(PyObject *self, PyObject *unused)
{
	ttnn_tensor *tensor = tensor_of(self);
	ttnn_device *device = tensor ? ttnn_tensor_get_device(tensor) : NULL;

	(void)unused;
	if (!tensor)
		return NULL;
	if (!device || !ttnn_tensor_is_allocated(tensor))
		Py_RETURN_NONE;
	return py_new_device(ttnn_device_ref(device));
}

static PyObject *tensor_memory(PyObject *self, PyObject *unused)
{
	const struct ttnn_tensor_spec *spec = spec_of(self);

	(void)unused;
	return spec ? py_new_memory(&spec->memory) : NULL;
}

static PyObject *tensor_is_allocated(PyObject *self, PyObject *unused)
{
	ttnn_tensor *tensor = tensor_of(self);

	(void)unused;
	return tensor ? PyBool_FromLong(ttnn_tensor_is_allocated(tensor)) : NULL;
}

static PyObject *tensor_is_sharded(PyObject *self, PyObject *unused)
{
	const struct ttnn_tensor_spec *spec = spec_of(self);

	(void)unused;
	return spec ? PyBool_FromLong(spec->memory.layout != TTNN_INTERLEAVED) : NULL;
}

static PyObject *tensor_element_size(PyObject *self, PyObject *unused)
{
	static const unsigned char sizes[] = {
#define TTNN_X(NAME, name, code, class, bytes, mantissa, layouts, file) [code] = bytes,
		TTNN_DTYPE_LIST(TTNN_X)
#undef TTNN_X
	};
	const struct ttnn_tensor_spec *spec = spec_of(self);

	(void)unused;
	return spec ? PyLong_FromLong(sizes[spec->dtype]) : NULL;
}

/* One number of the buffer; on the host there is none. */
static PyObject *buffer_number(PyObject *self, char which)
{
	ttnn_tensor *tensor = tensor_of(self);
	struct ttnn_buffer_info info;

	if (!tensor)
		return NULL;
	if (!ttnn_tensor_get_buffer(&info, tensor))
		return PyErr_Format(PyExc_RuntimeError,
				    "TT_FATAL @ tensor:0: is_allocated()\ninfo:\n%s\n",
				    on_device(tensor) ? "Tensor is not allocated."
						      : "Expected Tensor with DeviceStorage, got "
							"StorageType::HOST");
	return PyLong_FromUnsignedLongLong(which == 'a'   ? info.address
					   : which == 'n' ? info.pages
					   : which == 'p' ? info.page_size
					   : which == 'u' ? info.id
							  : info.aligned_page_size);
}

#define BUFFER(name, which)                                                                        \
	static PyObject *name(PyObject *self, PyObject *unused)                                    \
	{                                                                                          \
		(void)unused;                                                                      \
		return buffer_number(self, which);                                                 \
	}
BUFFER(tensor_address, 'a')
BUFFER(tensor_pages, 'n')
BUFFER(tensor_page_size, 'p')
BUFFER(tensor_aligned_page, 'g')
BUFFER(tensor_unique_id, 'u')

static PyObject *tensor_coords(PyObject *self, PyObject *unused)
{
	ttnn_tensor *tensor = tensor_of(self);
	struct ttnn_topology topology;
	PyObject *list;

	(void)unused;
	if (!tensor)
		return NULL;
	ttnn_tensor_get_topology(&topology, tensor);
	list = PyList_New((Py_ssize_t)topology.coords);
	for (size_t i = 0; list && i < topology.coords; i++) {
		struct ttnn_shape coord = ttnn_tensor_coord(tensor, i);
		PyObject *item = py_new_shape(py_mesh_coord_type, &coord);

		if (!item)
			Py_CLEAR(list);
		else
			PyList_SET_ITEM(list, (Py_ssize_t)i, item);
	}
	return list;
}

/* topology() → (distribution shape, [dim or None, ...], coordinates) */
static PyObject *tensor_topology(PyObject *self, PyObject *unused)
{
	ttnn_tensor *tensor = tensor_of(self);
	struct ttnn_topology topology;
	PyObject *list;

	(void)unused;
	if (!tensor)
		return NULL;
	ttnn_tensor_get_topology(&topology, tensor);
	list = PyList_New((Py_ssize_t)topology.placements);
	for (size_t i = 0; list && i < topology.placements; i++) {
		struct ttnn_placement placement = ttnn_tensor_placement(tensor, i);
		PyObject *dim =
			placement.shard ? PyLong_FromLong(placement.dim) : Py_NewRef(Py_None);

		if (!dim)
			Py_CLEAR(list);
		else
			PyList_SET_ITEM(list, (Py_ssize_t)i, dim);
	}
	return list ? Py_BuildValue("(NNN)",
				    py_new_shape(py_mesh_shape_type, &topology.distribution), list,
				    tensor_coords(self, NULL))
		    : NULL;
}

/* One tensor for each device that holds a part. */
static PyObject *tensor_parts(PyObject *self, PyObject *unused)
{
	ttnn_tensor *tensor = tensor_of(self), *part;
	size_t count = tensor ? ttnn_tensor_shard_count(tensor) : 0;
	PyObject *list = tensor ? PyList_New((Py_ssize_t)count) : NULL;

	(void)unused;
	for (size_t i = 0; list && i < count; i++) {
		enum ttnn_status status = ttnn_tensor_shard(&part, tensor, i);
		PyObject *item = status == TTNN_OK ? py_new_tensor(part)
						   : py_fail(status, "get_device_tensors");

		if (!item)
			Py_CLEAR(list);
		else
			PyList_SET_ITEM(list, (Py_ssize_t)i, item);
	}
	return list;
}

/* ---- values ----------------------------------------------------------------------------------------------------- */

/* A tensor whose memory was given back has no values to show. */
static PyObject *text_without_values(const struct ttnn_tensor_spec *spec)
{
	char *shape = NULL;
	PyObject *result,
		*list = py_text(ttnn_shape_text(&shape, &spec->shape, TTNN_DIALECT_TT_METAL),
				&shape);

	if (!list)
		return NULL;
	result = PyUnicode_FromFormat(
		"ttnn.Tensor(<buffer is not allocated>, shape=%U, dtype=DataType::%s, layout=Layout::%s)",
		list, ttnn_dtype_name(spec->dtype, TTNN_DIALECT_TT_METAL),
		spec->layout == TTNN_TILE ? "TILE" : "ROW_MAJOR");
	Py_DECREF(list);
	return result;
}

static PyObject *tensor_repr(PyObject *self)
{
	struct ttnn_print_options options = print_options;
	PyObject *host, *result = NULL;
	char *text = NULL;

	options.dialect = py_dialect();
	if (!tensor_of(self))
		return NULL;
	if (on_device(tensor_of(self)) && !ttnn_tensor_is_allocated(tensor_of(self)))
		return text_without_values(spec_of(self));
	host = py_run_method("ttnn.Tensor.cpu", &self, 1, NULL);
	if (host)
		result = py_text(ttnn_tensor_text(&text, tensor_of(host), &options), &text);
	Py_XDECREF(host);
	return result;
}

static PyObject *tensor_dlpack(PyObject *self, PyObject *args, PyObject *kwargs)
{
	ttnn_tensor *tensor = tensor_of(self), *rows = tensor ? py_rows(tensor) : NULL;

	(void)args;
	(void)kwargs; /* stream, max_version, dl_device, copy: the host's memory, always a copy */
	return rows ? py_dlpack(rows) : NULL;
}

static PyObject *tensor_dlpack_device(PyObject *self, PyObject *unused)
{
	(void)self;
	(void)unused;
	return Py_BuildValue("(ii)", 1, 0);
}

/* dlpack_view(): of a host tensor in rows, its bytes shared. */
static PyObject *tensor_dlpack_view(PyObject *self, PyObject *unused)
{
	const struct ttnn_tensor_spec *spec = spec_of(self);
	uint64_t logical = 0, stored = 0;

	(void)unused;
	if (!spec || ttnn_shape_volume(&logical, &spec->shape) != TTNN_OK ||
	    ttnn_shape_volume(&stored, &spec->padded) != TTNN_OK)
		return NULL;
	if (spec->layout != TTNN_ROW_MAJOR || !ttnn_tensor_bytes(tensor_of(self)) ||
	    logical != stored)
		return PyErr_Format(PyExc_RuntimeError, "only host tensors in rows can be shared");
	return py_dlpack(ttnn_tensor_ref(tensor_of(self)));
}

static PyObject *tensor_list(PyObject *self, PyObject *unused)
{
	ttnn_tensor *tensor = tensor_of(self), *rows = tensor ? py_rows(tensor) : NULL;
	PyObject *list = rows ? py_list_of(rows) : NULL;

	(void)unused;
	ttnn_tensor_unref(rows);
	return list;
}

static PyObject *tensor_item(PyObject *self, PyObject *unused)
{
	PyObject *list, *inner;
	const struct ttnn_tensor_spec *spec = spec_of(self);
	uint64_t volume = 0;

	(void)unused;
	if (!spec || ttnn_shape_volume(&volume, &spec->shape) != TTNN_OK)
		return NULL;
	if (volume != 1)
		return PyErr_Format(
			PyExc_RuntimeError,
			"TT_FATAL @ tensor:0: this->logical_volume() == 1\ninfo:\n"
			"tensor.item() requires tensor to have exactly one element, but "
			"got %llu elements\n",
			(unsigned long long)volume);
	list = tensor_list(self, NULL);
	while (list && PyList_Check(list)) {
		inner = Py_NewRef(PyList_GET_ITEM(list, 0));
		Py_SETREF(list, inner);
	}
	return list;
}

static PyObject *tensor_save(PyObject *self, PyObject *path)
{
	PyObject *bytes = NULL, *host = NULL;
	enum ttnn_status status = TTNN_OK;
	struct py_call guard;

	if (!tensor_of(self) || !PyUnicode_FSConverter(path, &bytes))
		return NULL;
	host = py_run_method("ttnn.Tensor.cpu", &self, 1, NULL);
	if (host) {
		py_call_begin(&guard);
		status = ttnn_tensor_save(PyBytes_AS_STRING(bytes), tensor_of(host));
		status = py_call_end(&guard, status, NULL);
	}
	Py_DECREF(bytes);
	if (!host || status != TTNN_OK) {
		Py_XDECREF(host);
		return host ? py_fail(status, "dump_tensor") : NULL;
	}
	Py_DECREF(host);
	Py_RETURN_NONE;
}

/* load(path) */
static PyObject *load(PyObject *module, PyObject *path)
{
	PyObject *bytes = NULL;
	enum ttnn_status status;
	struct py_call guard;
	ttnn_tensor *tensor;

	(void)module;
	if (!PyUnicode_FSConverter(path, &bytes))
		return NULL;
	py_call_begin(&guard);
	status = ttnn_tensor_load(&tensor, PyBytes_AS_STRING(bytes));
	status = py_call_end(&guard, status, &tensor);
	Py_DECREF(bytes);
	return status == TTNN_OK ? py_new_tensor(tensor) : py_fail(status, "load_tensor");
}

/* set_print_options(profile, sci, precision): numbers of the library; -1: as it is */
static PyObject *set_print_options(PyObject *module, PyObject *args)
{
	int profile, sci, precision;

	(void)module;
	if (!PyArg_ParseTuple(args, "iii", &profile, &sci, &precision))
		return NULL;
	if (profile >= 0)
		print_options.profile = (enum ttnn_print_profile)profile;
	if (sci >= 0)
		print_options.sci = (enum ttnn_print_sci)sci;
	if (precision >= 0)
		print_options.precision = precision ? (uint32_t)precision : TTNN_PRINT_NO_DIGITS;
	Py_RETURN_NONE;
}

/* ---- the type -------------------------------------------------------------------------------------------------------- */

static PyGetSetDef tensor_fields[] = {
	{"shape", tensor_field, NULL, "The logical shape.", PY_FIELD(SHAPE)},
	{"padded_shape", tensor_field, NULL, "What storage holds.", PY_FIELD(PADDED_SHAPE)},
	{"dtype", tensor_field, NULL, "The type of elements.", PY_FIELD(DTYPE)},
	{"layout", tensor_field, NULL, "Rows or tiles.", PY_FIELD(LAYOUT)},
	{"tile", tensor_field, NULL, "The tile.", PY_FIELD(TILE)},
	{"spec", tensor_field, NULL, "Everything but the data.", PY_FIELD(SPEC)},
	{"tensor_id", tensor_field, tensor_set_id, "The number of the tensor.",
	 PY_FIELD(TENSOR_ID)},
	{NULL, NULL, NULL, NULL, NULL},
};

#define KEYWORDS(function) (PyCFunction)(void (*)(void))(function), METH_VARARGS | METH_KEYWORDS
static PyMethodDef tensor_methods[] = {
	{"get_dtype", tensor_dtype, METH_NOARGS, NULL},
	{"get_layout", tensor_layout, METH_NOARGS, NULL},
	{"get_tile", tensor_tile, METH_NOARGS, NULL},
	{"volume", tensor_volume, METH_NOARGS, "Elements with padding."},
	{"physical_volume", tensor_volume, METH_NOARGS, "Elements with padding."},
	{"logical_volume", tensor_logical_volume, METH_NOARGS, "Elements of the logical shape."},
	{"storage_type", tensor_storage, METH_NOARGS, "On the host or on a device."},
	{"device", tensor_device, METH_NOARGS, "The device, or None."},
	{"memory_config", tensor_memory, METH_NOARGS, "Where it lies."},
	{"is_allocated", tensor_is_allocated, METH_NOARGS, "Whether its data is there."},
	{"is_sharded", tensor_is_sharded, METH_NOARGS, "Whether it is cut into shards."},
	{"element_size", tensor_element_size, METH_NOARGS, "Bytes of an element."},
	{"buffer_address", tensor_address, METH_NOARGS, "The address in every bank."},
	{"buffer_num_pages", tensor_pages, METH_NOARGS, NULL},
	{"buffer_page_size", tensor_page_size, METH_NOARGS, NULL},
	{"buffer_aligned_page_size", tensor_aligned_page, METH_NOARGS, NULL},
	{"buffer_unique_id", tensor_unique_id, METH_NOARGS, NULL},
	{"device_coords", tensor_coords, METH_NOARGS, "Where on the mesh its parts are."},
	{"_topology", tensor_topology, METH_NOARGS, NULL},
	{"_parts", tensor_parts, METH_NOARGS, NULL},
	{"_dlpack_view", tensor_dlpack_view, METH_NOARGS, NULL},
	{"_save", tensor_save, METH_O, NULL},
	{"to_list", tensor_list, METH_NOARGS, "The numbers in nested lists."},
	{"item", tensor_item, METH_NOARGS, "The only number."},
	{"__dlpack__", KEYWORDS(tensor_dlpack), "The elements in rows for another library."},
	{"__dlpack_device__", tensor_dlpack_device, METH_NOARGS, NULL},
	{NULL, NULL, 0, NULL},
};
static PyMemberDef tensor_members[] = {
	{"__weaklistoffset__", T_PYSSIZET, offsetof(struct py_tensor, weak), READONLY, NULL},
	{NULL, 0, 0, 0, NULL},
};
static PyMethodDef functions[] = {
	{"load", load, METH_O, NULL},
	{"set_print_options", set_print_options, METH_VARARGS, NULL},
	{NULL, NULL, 0, NULL},
};

int py_init_tensor(void)
{
	PyType_Slot slots[48] = {
		{Py_tp_new, PyType_GenericNew},         {Py_tp_init, tensor_init},
		{Py_tp_dealloc, tensor_dealloc},        {Py_tp_repr, tensor_repr},
		{Py_tp_richcompare, py_tensor_compare}, {Py_tp_hash, tensor_hash},
		{Py_mp_subscript, py_tensor_getitem},   {Py_tp_getset, tensor_fields},
		{Py_tp_methods, tensor_methods},        {Py_tp_members, tensor_members},
	};
	PyType_Spec spec = {"ttnn._ttnn.tensor.Tensor", sizeof(struct py_tensor), 0,
			    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
	size_t used = 10;

	for (size_t i = 0; py_tensor_number_slots[i].slot; i++)
		slots[used++] = py_tensor_number_slots[i];
	py_tensor_type = py_add_type("tensor", &spec);
	if (!py_tensor_type || py_add_tensor_methods(py_tensor_type) < 0)
		return -1;
	return PyModule_AddFunctions(py_submodule("tensor"), functions);
}
