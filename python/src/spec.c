/* spec.c: Tile and TensorSpec. They never change. */
#include "py.h"

PyTypeObject *py_tile_type, *py_spec_type;

/* ---- Tile -------------------------------------------------------------------------------------------- */

static const struct ttnn_tile *tile_of(PyObject *self)
{
	return &((struct py_tile *)self)->tile;
}

PyObject *py_new_tile(const struct ttnn_tile *tile)
{
	struct py_tile *self = (struct py_tile *)py_tile_type->tp_alloc(py_tile_type, 0);

	if (self)
		self->tile = *tile;
	return (PyObject *)self;
}

static PyObject *tile_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
	static char *names[] = {"tile_shape", "transpose_tile", NULL};
	struct ttnn_spec_args check = {.layout = TTNN_TILE};
	struct ttnn_tensor_spec spec;
	struct ttnn_shape shape;
	enum ttnn_status status;
	PyObject *given;
	int transpose = 0;

	(void)type;
	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|p:Tile", names, &given, &transpose) ||
	    py_read_shape(&shape, given, "tile_shape") < 0)
		return NULL;
	if (shape.rank != 2)
		return PyErr_Format(PyExc_TypeError, "tile_shape must be a height and a width");
	check.tile = (struct ttnn_tile){shape.dim[0], shape.dim[1], transpose != 0};
	/* Only a tensor spec knows which tiles there are. */
	status = ttnn_tensor_spec_make(&spec, &check);
	return status == TTNN_OK ? py_new_tile(&check.tile) : py_fail(status, "Tile");
}

static PyObject *tile_compare(PyObject *self, PyObject *other, int what)
{
	const struct ttnn_tile *a = tile_of(self), *b;

	if (Py_TYPE(other) != Py_TYPE(self) || (what != Py_EQ && what != Py_NE))
		Py_RETURN_NOTIMPLEMENTED;
	b = tile_of(other);
	return PyBool_FromLong((a->height == b->height && a->width == b->width &&
				a->transpose == b->transpose) == (what == Py_EQ));
}

static Py_hash_t tile_hash(PyObject *self)
{
	return (Py_hash_t)(tile_of(self)->height << 8 | tile_of(self)->width);
}

static uint32_t face(uint32_t extent)
{
	return extent < 16 ? extent : 16;
}

enum { TILE_SHAPE, FACE_SHAPE, NUM_FACES, PARTIAL_FACE, NARROW_TILE, TRANSPOSED };

static PyObject *tile_field(PyObject *self, void *which)
{
	const struct ttnn_tile *tile = tile_of(self);
	uint32_t height = face(tile->height), width = face(tile->width);

	switch ((intptr_t)which) {
	case TILE_SHAPE:
		return Py_BuildValue("[II]", tile->height, tile->width);
	case FACE_SHAPE:
		return Py_BuildValue("[II]", height, width);
	case NUM_FACES:
		return PyLong_FromUnsignedLong(tile->height / height * (tile->width / width));
	case PARTIAL_FACE:
		return PyBool_FromLong(tile->height < 16);
	case NARROW_TILE:
		return PyBool_FromLong(tile->width < 32);
	default:
		return PyBool_FromLong(tile->transpose);
	}
}

/* Bytes of a tile of this type: those of the smallest tensor. */
static PyObject *tile_bytes(PyObject *self, PyObject *dtype)
{
	struct ttnn_spec_args args = {.shape = {2, {1, 1}}, .layout = TTNN_TILE};
	struct ttnn_tensor_spec spec;
	enum ttnn_status status;
	int64_t number;

	if (py_enum_need(&number, dtype, py_enum_dtype, "dtype") < 0)
		return NULL;
	args.tile = *tile_of(self);
	args.dtype = (enum ttnn_dtype)number;
	status = ttnn_tensor_spec_make(&spec, &args);
	return status == TTNN_OK ? PyLong_FromUnsignedLongLong(spec.bytes)
				 : py_fail(status, "Tile");
}

static PyObject *tile_reduce(PyObject *self, PyObject *unused)
{
	(void)unused;
	return Py_BuildValue("O(NN)", Py_TYPE(self), tile_field(self, PY_FIELD(TILE_SHAPE)),
			     tile_field(self, PY_FIELD(TRANSPOSED)));
}

static PyGetSetDef tile_fields[] = {
	{"tile_shape", tile_field, NULL, "Height and width.", PY_FIELD(TILE_SHAPE)},
	{"face_shape", tile_field, NULL, "Height and width of a face.", PY_FIELD(FACE_SHAPE)},
	{"num_faces", tile_field, NULL, "The number of faces.", PY_FIELD(NUM_FACES)},
	{"partial_face", tile_field, NULL, "Whether faces are lower than 16.",
	 PY_FIELD(PARTIAL_FACE)},
	{"narrow_tile", tile_field, NULL, "Whether the tile is narrower than 32.",
	 PY_FIELD(NARROW_TILE)},
	{"transpose_within_face", tile_field, NULL, "Whether values go column by column.",
	 PY_FIELD(TRANSPOSED)},
	{"transpose_of_faces", tile_field, NULL, "Whether faces go column by column.",
	 PY_FIELD(TRANSPOSED)},
	{NULL, NULL, NULL, NULL, NULL},
};
static PyMethodDef tile_methods[] = {
	{"get_tile_size", tile_bytes, METH_O, "Bytes of a tile of this data type."},
	{"__reduce__", tile_reduce, METH_NOARGS, NULL},
	{NULL, NULL, 0, NULL},
};

/* ---- TensorSpec ------------------------------------------------------------------------------------------ */

static const struct ttnn_tensor_spec *spec_of(PyObject *self)
{
	return &((struct py_spec *)self)->spec;
}

PyObject *py_new_spec(const struct ttnn_tensor_spec *spec)
{
	struct py_spec *self = (struct py_spec *)py_spec_type->tp_alloc(py_spec_type, 0);

	if (self)
		self->spec = *spec;
	return (PyObject *)self;
}

/* A config is given as such, or as a buffer type with or without a shard spec. */
static int read_memory(struct ttnn_memory_config *out, PyObject *config, PyObject *buffer)
{
	const ttnn_enum *type;
	int64_t number;

	if (config && Py_TYPE(config) == py_memory_type) {
		*out = ((struct py_memory *)config)->config;
		return 0;
	}
	if (!buffer)
		buffer = config;
	if (!buffer || buffer == Py_None)
		return 0;
	if (py_enum_read(&type, &number, buffer) && type == py_enum_buffer) {
		out->buffer = (enum ttnn_buffer_type)number;
		return 0;
	}
	PyErr_Format(PyExc_TypeError, "memory_config must be a MemoryConfig, not %.100s",
		     Py_TYPE(buffer)->tp_name);
	return -1;
}

/*
 * Upstream's other signatures, as the MemoryConfig they stand for: a memory layout with a shard spec, or
 * shards of any rank. A new reference; NULL without an error if the arguments are none of these.
 */
static PyObject *memory_of_shards(PyObject *memory, PyObject *shards, PyObject *nd,
				  PyObject *buffer)
{
	PyObject *kept = buffer && buffer != Py_None ? Py_NewRef(buffer)
						     : py_enum_member(py_enum_buffer, TTNN_DRAM);
	PyObject *config = NULL;
	const ttnn_enum *type;
	int64_t number;

	if (memory && Py_TYPE(memory) == py_nd_shard_type)
		nd = memory;
	if (nd && nd != Py_None)
		config = PyObject_CallFunction((PyObject *)py_memory_type, "OO", kept, nd);
	else if (memory && py_enum_read(&type, &number, memory) && type == py_enum_memory_layout)
		config = PyObject_CallFunction((PyObject *)py_memory_type, "OOO", memory, kept,
					       shards ? shards : Py_None);
	Py_DECREF(kept);
	return config;
}

static PyObject *spec_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
	static char *names[] = {"shape",         "dtype",       "layout",     "memory_config",
				"tile",          "buffer_type", "shard_spec", "nd_shard_spec",
				"memory_layout", NULL};
	PyObject *shape, *dtype, *layout, *memory = NULL, *tile = NULL, *buffer = NULL;
	PyObject *shards = NULL, *nd = NULL, *how_laid = NULL, *config;
	struct ttnn_spec_args given = {0};
	struct ttnn_tensor_spec spec;
	enum ttnn_status status;
	int64_t number, how;

	(void)type;
	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOO|OOOOOO:TensorSpec", names, &shape,
					 &dtype, &layout, &memory, &tile, &buffer, &shards, &nd,
					 &how_laid))
		return NULL;
	if (tile && Py_TYPE(tile) ==
			    py_shard_type) { /* (shape, dtype, layout, memory layout, shard spec) */
		shards = tile;
		tile = NULL;
	}
	config = memory_of_shards(how_laid ? how_laid : memory, shards, nd, buffer);
	if (PyErr_Occurred())
		return NULL;
	if (config)
		memory = config;
	if (py_read_shape(&given.shape, shape, "shape") < 0 ||
	    py_enum_need(&number, dtype, py_enum_dtype, "dtype") < 0 ||
	    py_enum_need(&how, layout, py_enum_layout, "layout") < 0 ||
	    read_memory(&given.memory, memory, buffer) < 0) {
		Py_XDECREF(config);
		return NULL;
	}
	Py_XDECREF(config);
	given.dtype = (enum ttnn_dtype)number;
	given.layout = (enum ttnn_layout)how;
	if (tile && tile != Py_None) {
		if (Py_TYPE(tile) != py_tile_type)
			return PyErr_Format(PyExc_TypeError, "tile must be a Tile, not %.100s",
					    Py_TYPE(tile)->tp_name);
		given.tile = *tile_of(tile);
	}
	status = ttnn_tensor_spec_make(&spec, &given);
	return status == TTNN_OK ? py_new_spec(&spec) : py_fail(status, "TensorSpec");
}

static PyObject *spec_compare(PyObject *self, PyObject *other, int what)
{
	if (Py_TYPE(other) != Py_TYPE(self) || (what != Py_EQ && what != Py_NE))
		Py_RETURN_NOTIMPLEMENTED;
	return PyBool_FromLong(ttnn_tensor_spec_equal(spec_of(self), spec_of(other)) ==
			       (what == Py_EQ));
}

static Py_hash_t spec_hash(PyObject *self)
{
	const struct ttnn_tensor_spec *spec = spec_of(self);

	return (Py_hash_t)((spec->bytes << 8 | (uint64_t)spec->dtype << 1 | spec->layout) >> 1);
}

enum { SHAPE, PADDED_SHAPE, DTYPE, LAYOUT, MEMORY_CONFIG, TILE };

static PyObject *spec_field(PyObject *self, void *which)
{
	const struct ttnn_tensor_spec *spec = spec_of(self);

	switch ((intptr_t)which) {
	case SHAPE:
		return py_new_shape(py_shape_type, &spec->shape);
	case PADDED_SHAPE:
		return py_new_shape(py_shape_type, &spec->padded);
	case DTYPE:
		return py_enum_member(py_enum_dtype, spec->dtype);
	case LAYOUT:
		return py_enum_member(py_enum_layout, spec->layout);
	case MEMORY_CONFIG:
		return py_new_memory(&spec->memory);
	default:
		return py_new_tile(&spec->tile);
	}
}

static PyObject *shard_2d(PyObject *self, PyObject *args, PyObject *kwargs,
			  enum ttnn_memory_layout layout)
{
	static char *names[] = {"core_ranges", "orientation", NULL};
	PyObject *given, *orientation = NULL;
	const ttnn_core_set *cores;
	struct ttnn_tensor_spec spec;
	enum ttnn_status status;
	int64_t order = 0;

	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O", names, &given, &orientation) ||
	    py_read_cores(&cores, given, "core_ranges") < 0 ||
	    (orientation &&
	     py_enum_need(&order, orientation, py_enum_orientation, "orientation") < 0))
		return NULL;
	status = ttnn_tensor_spec_shard(&spec, spec_of(self), layout, cores,
					(enum ttnn_orientation)order);
	return status == TTNN_OK ? py_new_spec(&spec) : py_fail(status, "TensorSpec");
}

static PyObject *spec_height(PyObject *self, PyObject *args, PyObject *kwargs)
{
	return shard_2d(self, args, kwargs, TTNN_HEIGHT_SHARDED);
}

static PyObject *spec_width(PyObject *self, PyObject *args, PyObject *kwargs)
{
	return shard_2d(self, args, kwargs, TTNN_WIDTH_SHARDED);
}

static PyObject *spec_block(PyObject *self, PyObject *args, PyObject *kwargs)
{
	return shard_2d(self, args, kwargs, TTNN_BLOCK_SHARDED);
}

static PyGetSetDef spec_fields[] = {
	{"shape", spec_field, NULL, "The logical shape.", PY_FIELD(SHAPE)},
	{"padded_shape", spec_field, NULL, "What storage holds.", PY_FIELD(PADDED_SHAPE)},
	{"dtype", spec_field, NULL, "The type of elements.", PY_FIELD(DTYPE)},
	{"layout", spec_field, NULL, "Rows or tiles.", PY_FIELD(LAYOUT)},
	{"memory_config", spec_field, NULL, "Where it lies.", PY_FIELD(MEMORY_CONFIG)},
	{"tile", spec_field, NULL, "The tile.", PY_FIELD(TILE)},
	{NULL, NULL, NULL, NULL, NULL},
};
#define KEYWORDS(function) (PyCFunction)(void (*)(void))(function), METH_VARARGS | METH_KEYWORDS
static PyMethodDef spec_methods[] = {
	{"height_sharded", KEYWORDS(spec_height), "The same, cut along its height."},
	{"width_sharded", KEYWORDS(spec_width), "The same, cut along its width."},
	{"block_sharded", KEYWORDS(spec_block), "The same, cut both ways."},
	{NULL, NULL, 0, NULL},
};

/* ---- types --------------------------------------------------------------------------------------------------- */

static PyType_Slot tile_slots[] = {
	{Py_tp_new, tile_new},
	{Py_tp_repr, py_repr},
	{Py_tp_richcompare, tile_compare},
	{Py_tp_hash, tile_hash},
	{Py_tp_methods, tile_methods},
	{Py_tp_getset, tile_fields},
	{0, NULL},
};
static PyType_Slot spec_slots[] = {
	{Py_tp_new, spec_new},         {Py_tp_richcompare, spec_compare}, {Py_tp_hash, spec_hash},
	{Py_tp_methods, spec_methods}, {Py_tp_getset, spec_fields},       {0, NULL},
};
static PyType_Spec tile_spec = {"ttnn._ttnn.tensor.Tile", sizeof(struct py_tile), 0,
				Py_TPFLAGS_DEFAULT, tile_slots};
static PyType_Spec spec_spec = {"ttnn._ttnn.tensor.TensorSpec", sizeof(struct py_spec), 0,
				Py_TPFLAGS_DEFAULT, spec_slots};

/* point_to_point_spec(spec, same): what a device receives packets in. */
static PyObject *point_to_point_spec(PyObject *module, PyObject *args)
{
	struct ttnn_tensor_spec spec;
	enum ttnn_status status;
	PyObject *given;
	int same;

	(void)module;
	if (!PyArg_ParseTuple(args, "O!p", py_spec_type, &given, &same))
		return NULL;
	status = ttnn_point_to_point_spec(&spec, spec_of(given), same);
	return status == TTNN_OK ? py_new_spec(&spec) : py_fail(status, "point_to_point");
}

static PyMethodDef functions[] = {
	{"point_to_point_spec", point_to_point_spec, METH_VARARGS, NULL},
	{NULL, NULL, 0, NULL},
};

int py_init_spec(void)
{
	py_tile_type = py_add_type("tensor", &tile_spec);
	py_spec_type = py_add_type("tensor", &spec_spec);
	if (!py_tile_type || !py_spec_type)
		return -1;
	return PyModule_AddFunctions(py_submodule("tensor"), functions);
}
