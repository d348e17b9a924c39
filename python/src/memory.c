/* memory.c: ShardSpec, NdShardSpec and MemoryConfig. The fields of shard specs can be set. */
#include "py.h"

PyTypeObject *py_shard_type, *py_nd_shard_type, *py_memory_type;

/* ---- ShardSpec --------------------------------------------------------------------------------------- */

struct ttnn_shard_spec *py_shard_of(PyObject *object)
{
	struct py_shard *self = (struct py_shard *)object;

	return self->config ? &((struct py_memory *)self->config)->config.shard : &self->own;
}

PyObject *py_new_shard(const struct ttnn_shard_spec *spec)
{
	struct py_shard *self = (struct py_shard *)py_shard_type->tp_alloc(py_shard_type, 0);

	if (self)
		self->own = *spec;
	return (PyObject *)self;
}

/* The spec of a configuration: what is set in the one is set in the other. */
static PyObject *shard_in(PyObject *config)
{
	struct py_shard *self = (struct py_shard *)py_shard_type->tp_alloc(py_shard_type, 0);

	if (self)
		self->config = Py_NewRef(config);
	return (PyObject *)self;
}

static void shard_dealloc(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);

	Py_XDECREF(((struct py_shard *)self)->config);
	type->tp_free(self);
	Py_DECREF(type);
}

static int read_height_width(struct ttnn_shard_spec *spec, PyObject *object)
{
	struct ttnn_shape shape;

	if (py_read_shape(&shape, object, "shard_shape") < 0)
		return -1;
	if (shape.rank != 2) {
		PyErr_SetString(PyExc_TypeError, "shard_shape must be a height and a width");
		return -1;
	}
	spec->height = shape.dim[0];
	spec->width = shape.dim[1];
	return 0;
}

static PyObject *shard_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
	static char *names[] = {"grid", "shard_shape", "shard_orientation", NULL};
	PyObject *grid, *shape, *orientation = NULL;
	struct ttnn_shard_spec spec = {0};
	int64_t number = 0;

	(void)type;
	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|O:ShardSpec", names, &grid, &shape,
					 &orientation) ||
	    py_read_cores(&spec.grid, grid, "grid") < 0 || read_height_width(&spec, shape) < 0 ||
	    (orientation &&
	     py_enum_need(&number, orientation, py_enum_orientation, "shard_orientation") < 0))
		return NULL;
	spec.orientation = (enum ttnn_orientation)number;
	return py_new_shard(&spec);
}

static bool same_shard(const struct ttnn_shard_spec *a, const struct ttnn_shard_spec *b)
{
	return a->grid == b->grid && a->height == b->height && a->width == b->width &&
	       a->orientation == b->orientation;
}

static PyObject *shard_compare(PyObject *self, PyObject *other, int what)
{
	if (Py_TYPE(other) != Py_TYPE(self) || (what != Py_EQ && what != Py_NE))
		Py_RETURN_NOTIMPLEMENTED;
	return PyBool_FromLong(same_shard(py_shard_of(self), py_shard_of(other)) ==
			       (what == Py_EQ));
}

static Py_hash_t shard_hash(PyObject *self)
{
	const struct ttnn_shard_spec *spec = py_shard_of(self);

	return (Py_hash_t)(((uintptr_t)spec->grid ^ ((uint64_t)spec->height << 32 | spec->width)) >>
			   1);
}

static PyObject *shard_grid(PyObject *self, void *unused)
{
	(void)unused;
	return py_new_cores(py_shard_of(self)->grid);
}

static PyObject *shard_shape(PyObject *self, void *unused)
{
	(void)unused;
	return Py_BuildValue("[II]", py_shard_of(self)->height, py_shard_of(self)->width);
}

static PyObject *shard_orientation(PyObject *self, void *unused)
{
	(void)unused;
	return py_enum_member(py_enum_orientation, py_shard_of(self)->orientation);
}

static int refuse_delete(PyObject *value)
{
	if (!value)
		PyErr_SetString(PyExc_AttributeError, "this cannot be deleted");
	return value ? 0 : -1;
}

static int shard_set_grid(PyObject *self, PyObject *value, void *unused)
{
	(void)unused;
	return refuse_delete(value) < 0 ? -1
					: py_read_cores(&py_shard_of(self)->grid, value, "grid");
}

static int shard_set_shape(PyObject *self, PyObject *value, void *unused)
{
	(void)unused;
	return refuse_delete(value) < 0 ? -1 : read_height_width(py_shard_of(self), value);
}

static int shard_set_orientation(PyObject *self, PyObject *value, void *unused)
{
	int64_t number;

	(void)unused;
	if (refuse_delete(value) < 0 ||
	    py_enum_need(&number, value, py_enum_orientation, "orientation") < 0)
		return -1;
	py_shard_of(self)->orientation = (enum ttnn_orientation)number;
	return 0;
}

static PyObject *shard_cores(PyObject *self, PyObject *unused)
{
	(void)unused;
	return PyLong_FromSize_t(ttnn_core_set_cores(py_shard_of(self)->grid));
}

/* Makes from_json of a type: a parser of the library, and what makes the object. */
#define FROM_JSON(function, struct_, parse, make, place)                                           \
	static PyObject *function(PyObject *type, PyObject *text)                                  \
	{                                                                                          \
		const char *json = PyUnicode_AsUTF8(text);                                         \
		enum ttnn_status status;                                                           \
		struct_ value;                                                                     \
                                                                                                   \
		(void)type;                                                                        \
		if (!json)                                                                         \
			return NULL;                                                               \
		status = parse(&value, json);                                                      \
		return status == TTNN_OK ? make(&value) : py_fail(status, place);                  \
	}
FROM_JSON(shard_from_json, struct ttnn_shard_spec, ttnn_shard_spec_parse, py_new_shard, "ShardSpec")

static PyObject *shard_reduce(PyObject *self, PyObject *unused)
{
	(void)unused;
	return Py_BuildValue("O(NNN)", Py_TYPE(self), shard_grid(self, NULL),
			     shard_shape(self, NULL), shard_orientation(self, NULL));
}

static PyGetSetDef shard_fields[] = {
	{"grid", shard_grid, shard_set_grid, "The cores.", NULL},
	{"shape", shard_shape, shard_set_shape, "Height and width of a shard.", NULL},
	{"orientation", shard_orientation, shard_set_orientation, "In which order.", NULL},
	{NULL, NULL, NULL, NULL, NULL},
};
static PyMethodDef shard_methods[] = {
	PY_TO_JSON,
	{"from_json", shard_from_json, METH_O | METH_CLASS, "The value of a JSON text."},
	{"num_cores", shard_cores, METH_NOARGS, "The number of cores."},
	{"__reduce__", shard_reduce, METH_NOARGS, NULL},
	{NULL, NULL, 0, NULL},
};

/* ---- NdShardSpec ------------------------------------------------------------------------------------------ */

static struct ttnn_nd_shard_spec *nd_of(PyObject *self)
{
	return &((struct py_nd_shard *)self)->spec;
}

PyObject *py_new_nd_shard(const struct ttnn_nd_shard_spec *spec)
{
	struct py_nd_shard *self =
		(struct py_nd_shard *)py_nd_shard_type->tp_alloc(py_nd_shard_type, 0);

	if (self)
		self->spec = *spec;
	return (PyObject *)self;
}

static PyObject *nd_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
	static char *names[] = {"shard_shape", "grid", "orientation", "shard_distribution_strategy",
				NULL};
	PyObject *shape, *grid, *orientation = NULL, *strategy = NULL;
	struct ttnn_nd_shard_spec spec = {0};
	int64_t order = 0, how = 0;

	(void)type;
	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|OO:NdShardSpec", names, &shape, &grid,
					 &orientation, &strategy) ||
	    py_read_shape(&spec.shape, shape, "shard_shape") < 0 ||
	    py_read_cores(&spec.grid, grid, "grid") < 0 ||
	    (orientation &&
	     py_enum_need(&order, orientation, py_enum_orientation, "orientation") < 0) ||
	    (strategy &&
	     py_enum_need(&how, strategy, py_enum_strategy, "shard_distribution_strategy") < 0))
		return NULL;
	spec.orientation = (enum ttnn_orientation)order;
	spec.strategy = (enum ttnn_shard_strategy)how;
	return py_new_nd_shard(&spec);
}

static PyObject *nd_compare(PyObject *self, PyObject *other, int what)
{
	const struct ttnn_nd_shard_spec *a = nd_of(self), *b;
	bool same;

	if (Py_TYPE(other) != Py_TYPE(self) || (what != Py_EQ && what != Py_NE))
		Py_RETURN_NOTIMPLEMENTED;
	b = nd_of(other);
	same = a->grid == b->grid && ttnn_shape_equal(&a->shape, &b->shape) &&
	       a->orientation == b->orientation && a->strategy == b->strategy;
	return PyBool_FromLong(same == (what == Py_EQ));
}

static Py_hash_t nd_hash(PyObject *self)
{
	return (Py_hash_t)((uintptr_t)nd_of(self)->grid >> 4);
}

enum { ND_SHAPE, ND_GRID, ND_ORIENTATION, ND_STRATEGY };

static PyObject *nd_field(PyObject *self, void *which)
{
	const struct ttnn_nd_shard_spec *spec = nd_of(self);

	switch ((intptr_t)which) {
	case ND_SHAPE:
		return py_new_shape(py_shape_type, &spec->shape);
	case ND_GRID:
		return py_new_cores(spec->grid);
	case ND_ORIENTATION:
		return py_enum_member(py_enum_orientation, spec->orientation);
	default:
		return py_enum_member(py_enum_strategy, spec->strategy);
	}
}

static PyObject *nd_cores(PyObject *self, PyObject *unused)
{
	(void)unused;
	return PyLong_FromSize_t(ttnn_core_set_cores(nd_of(self)->grid));
}

FROM_JSON(nd_from_json, struct ttnn_nd_shard_spec, ttnn_nd_shard_spec_parse, py_new_nd_shard,
	  "NdShardSpec")

static PyObject *nd_reduce(PyObject *self, PyObject *unused)
{
	(void)unused;
	return Py_BuildValue("O(NNNN)", Py_TYPE(self), nd_field(self, PY_FIELD(ND_SHAPE)),
			     nd_field(self, PY_FIELD(ND_GRID)),
			     nd_field(self, PY_FIELD(ND_ORIENTATION)),
			     nd_field(self, PY_FIELD(ND_STRATEGY)));
}

static PyGetSetDef nd_fields[] = {
	{"shard_shape", nd_field, NULL, "The shape of a shard.", PY_FIELD(ND_SHAPE)},
	{"grid", nd_field, NULL, "The cores.", PY_FIELD(ND_GRID)},
	{"orientation", nd_field, NULL, "In which order.", PY_FIELD(ND_ORIENTATION)},
	{"shard_distribution_strategy", nd_field, NULL, "How shards are dealt.",
	 PY_FIELD(ND_STRATEGY)},
	{NULL, NULL, NULL, NULL, NULL},
};
static PyMethodDef nd_methods[] = {
	PY_TO_JSON,
	{"from_json", nd_from_json, METH_O | METH_CLASS, "The value of a JSON text."},
	{"num_cores", nd_cores, METH_NOARGS, "The number of cores."},
	{"__reduce__", nd_reduce, METH_NOARGS, NULL},
	{NULL, NULL, 0, NULL},
};

/* ---- MemoryConfig -------------------------------------------------------------------------------------------- */

static struct ttnn_memory_config *config_of(PyObject *self)
{
	return &((struct py_memory *)self)->config;
}

PyObject *py_new_memory(const struct ttnn_memory_config *config)
{
	struct py_memory *self = (struct py_memory *)py_memory_type->tp_alloc(py_memory_type, 0);

	if (self)
		self->config = *config;
	return (PyObject *)self;
}

/* (buffer_type, nd_shard_spec) */
static PyObject *memory_nd(PyObject *buffer, PyObject *nd)
{
	struct ttnn_memory_config config;
	int64_t type = TTNN_DRAM;
	enum ttnn_status status;

	if (Py_TYPE(nd) != py_nd_shard_type)
		return PyErr_Format(PyExc_TypeError, "nd_shard_spec must be a NdShardSpec");
	if (buffer && py_enum_need(&type, buffer, py_enum_buffer, "buffer_type") < 0)
		return NULL;
	status = ttnn_memory_config_nd(&config, (enum ttnn_buffer_type)type, nd_of(nd));
	return status == TTNN_OK ? py_new_memory(&config) : py_fail(status, "MemoryConfig");
}

/* (memory_layout, buffer_type, shard_spec) */
static PyObject *memory_2d(PyObject *layout, PyObject *buffer, PyObject *shard)
{
	int64_t how = TTNN_INTERLEAVED, type = TTNN_DRAM;
	struct ttnn_memory_config config = {0};
	enum ttnn_status status = TTNN_OK;

	if ((layout && py_enum_need(&how, layout, py_enum_memory_layout, "memory_layout") < 0) ||
	    (buffer && py_enum_need(&type, buffer, py_enum_buffer, "buffer_type") < 0))
		return NULL;
	if (shard == Py_None)
		shard = NULL;
	if (shard && Py_TYPE(shard) != py_shard_type)
		return PyErr_Format(PyExc_TypeError, "shard_spec must be a ShardSpec, not %.100s",
				    Py_TYPE(shard)->tp_name);
	config.layout = (enum ttnn_memory_layout)how;
	config.buffer = (enum ttnn_buffer_type)type;
	if (how != TTNN_INTERLEAVED || shard)
		status = ttnn_memory_config_sharded(&config, config.layout, config.buffer,
						    shard ? py_shard_of(shard) : NULL);
	return status == TTNN_OK ? py_new_memory(&config) : py_fail(status, "MemoryConfig");
}

static PyObject *memory_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
	static char *names[] = {"memory_layout", "buffer_type", "shard_spec", "nd_shard_spec",
				NULL};
	PyObject *layout = NULL, *buffer = NULL, *shard = NULL, *nd = NULL;
	const ttnn_enum *first;
	int64_t unused;

	(void)type;
	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OOOO:MemoryConfig", names, &layout,
					 &buffer, &shard, &nd))
		return NULL;
	if (nd && nd != Py_None)
		return memory_nd(layout ? layout : buffer, nd);
	/* MemoryConfig(BufferType.L1, NdShardSpec(...)), or with the buffer type alone */
	if (layout && py_enum_read(&first, &unused, layout) && first == py_enum_buffer) {
		if (buffer && buffer != Py_None)
			return memory_nd(layout, buffer);
		return memory_2d(NULL, layout, NULL);
	}
	return memory_2d(layout, buffer, shard);
}

static PyObject *memory_compare(PyObject *self, PyObject *other, int what)
{
	if (Py_TYPE(other) != Py_TYPE(self) || (what != Py_EQ && what != Py_NE))
		Py_RETURN_NOTIMPLEMENTED;
	return PyBool_FromLong(ttnn_memory_config_equal(config_of(self), config_of(other)) ==
			       (what == Py_EQ));
}

static Py_hash_t memory_hash(PyObject *self)
{
	return (Py_hash_t)(ttnn_memory_config_hash(config_of(self)) >> 1);
}

enum { LAYOUT, BUFFER, SHARD, ND_SHARD, INTERLEAVED };

static PyObject *memory_field(PyObject *self, void *which)
{
	const struct ttnn_memory_config *config = config_of(self);

	switch ((intptr_t)which) {
	case LAYOUT:
		return py_enum_member(py_enum_memory_layout, config->layout);
	case BUFFER:
		return py_enum_member(py_enum_buffer, config->buffer);
	case SHARD:
		return config->has_shard ? shard_in(self) : Py_NewRef(Py_None);
	case ND_SHARD:
		return config->has_nd_shard ? py_new_nd_shard(&config->nd_shard)
					    : Py_NewRef(Py_None);
	default:
		return PyBool_FromLong(config->layout == TTNN_INTERLEAVED);
	}
}

static PyObject *memory_sharded(PyObject *self, PyObject *unused)
{
	(void)unused;
	return PyBool_FromLong(config_of(self)->layout != TTNN_INTERLEAVED);
}

/* The two switches that upstream calls experimental; a buffer has one address on all cores, or one on each. */
static PyObject *memory_per_core(PyObject *self, PyObject *on)
{
	struct ttnn_memory_config *config = config_of(self);
	int truth = PyObject_IsTrue(on);

	if (truth < 0)
		return NULL;
	if (truth && config->range_lockstep_allocation) {
		PyErr_SetString(PyExc_RuntimeError,
				"per_core_allocation and range_lockstep_allocation are "
				"mutually exclusive");
		return NULL;
	}
	config->per_core_allocation = truth;
	Py_RETURN_NONE;
}

static PyObject *memory_lockstep(PyObject *self, PyObject *on)
{
	struct ttnn_memory_config *config = config_of(self);
	int truth = PyObject_IsTrue(on);

	if (truth < 0)
		return NULL;
	if (truth && config->per_core_allocation) {
		PyErr_SetString(PyExc_RuntimeError,
				"range_lockstep_allocation and per_core_allocation are "
				"mutually exclusive");
		return NULL;
	}
	config->range_lockstep_allocation = truth;
	Py_RETURN_NONE;
}

FROM_JSON(memory_from_json, struct ttnn_memory_config, ttnn_memory_config_parse, py_new_memory,
	  "MemoryConfig")

static PyObject *memory_reduce(PyObject *self, PyObject *unused)
{
	const struct ttnn_memory_config *config = config_of(self);

	(void)unused;
	if (config->per_core_allocation || config->range_lockstep_allocation)
		return Py_BuildValue("N(N)", PyObject_GetAttrString(self, "from_json"),
				     PyObject_CallMethod(self, "to_json", NULL));
	if (config->created_with_nd_shard)
		return Py_BuildValue("O(NN)", Py_TYPE(self), memory_field(self, PY_FIELD(BUFFER)),
				     memory_field(self, PY_FIELD(ND_SHARD)));
	return Py_BuildValue("O(NNN)", Py_TYPE(self), memory_field(self, PY_FIELD(LAYOUT)),
			     memory_field(self, PY_FIELD(BUFFER)),
			     memory_field(self, PY_FIELD(SHARD)));
}

static PyGetSetDef memory_fields[] = {
	{"memory_layout", memory_field, NULL, "How tensors are cut.", PY_FIELD(LAYOUT)},
	{"buffer_type", memory_field, NULL, "Where they lie.", PY_FIELD(BUFFER)},
	{"shard_spec", memory_field, NULL, "The shards, or None.", PY_FIELD(SHARD)},
	{"nd_shard_spec", memory_field, NULL, "Shards of any rank, or None.", PY_FIELD(ND_SHARD)},
	{"interleaved", memory_field, NULL, "Whether pages go round the banks.",
	 PY_FIELD(INTERLEAVED)},
	{NULL, NULL, NULL, NULL, NULL},
};
static PyMethodDef memory_methods[] = {
	PY_TO_JSON,
	{"from_json", memory_from_json, METH_O | METH_CLASS, "The value of a JSON text."},
	{"is_sharded", memory_sharded, METH_NOARGS, "Whether tensors are cut into shards."},
	{"experimental_set_per_core_allocation", memory_per_core, METH_O, NULL},
	{"experimental_set_range_lockstep_allocation", memory_lockstep, METH_O, NULL},
	{"__reduce__", memory_reduce, METH_NOARGS, NULL},
	{NULL, NULL, 0, NULL},
};

/* ---- types ------------------------------------------------------------------------------------------------------ */

#define SLOTS(prefix, ...)                                                                         \
	{                                                                                          \
		__VA_ARGS__{Py_tp_new, prefix##_new}, {Py_tp_repr, py_repr},                       \
			{Py_tp_richcompare, prefix##_compare}, {Py_tp_hash, prefix##_hash},        \
			{Py_tp_methods, prefix##_methods}, {Py_tp_getset, prefix##_fields},        \
		{                                                                                  \
			0, NULL                                                                    \
		}                                                                                  \
	}
static PyType_Slot shard_slots[] = SLOTS(shard, {Py_tp_dealloc, shard_dealloc}, );
static PyType_Slot nd_slots[] = SLOTS(nd, );
static PyType_Slot memory_slots[] = SLOTS(memory, );

#define SPEC(variable, name, struct_, slots)                                                       \
	static PyType_Spec variable = {"ttnn._ttnn.tensor." name, sizeof(struct_), 0,              \
				       Py_TPFLAGS_DEFAULT, slots}
SPEC(shard_spec, "ShardSpec", struct py_shard, shard_slots);
SPEC(nd_spec, "NdShardSpec", struct py_nd_shard, nd_slots);
SPEC(memory_spec, "MemoryConfig", struct py_memory, memory_slots);

/* create_sharded_memory_config(shape, grid or cores, layout, orientation, shape_of_shard) */
static PyObject *create(PyObject *module, PyObject *args)
{
	struct ttnn_sharded_options options = {0};
	struct ttnn_memory_config config;
	PyObject *shape, *cores, *layout, *orientation;
	enum ttnn_status status;
	int64_t how, order;
	int of_shard;

	(void)module;
	if (!PyArg_ParseTuple(args, "OOOOp", &shape, &cores, &layout, &orientation, &of_shard) ||
	    py_read_shape(&options.shape, shape, "shape") < 0 ||
	    py_enum_need(&how, layout, py_enum_memory_layout, "strategy") < 0 ||
	    py_enum_need(&order, orientation, py_enum_orientation, "orientation") < 0)
		return NULL;
	if (Py_TYPE(cores) == py_grid_type)
		options.grid = ((struct py_core *)cores)->core;
	else if (py_read_cores(&options.cores, cores, "core_grid") < 0)
		return NULL;
	options.layout = (enum ttnn_memory_layout)how;
	options.orientation = (enum ttnn_orientation)order;
	options.shape_of_shard = of_shard;
	status = ttnn_memory_config_create(&config, &options);
	return status == TTNN_OK ? py_new_memory(&config)
				 : py_fail(status, "create_sharded_memory_config");
}

/* first_cores(count, grid, row_wise) */
static PyObject *first_cores(PyObject *module, PyObject *args)
{
	const ttnn_core_set *set;
	struct ttnn_core grid;
	enum ttnn_status status;
	PyObject *size;
	uint32_t count;
	int row_wise;

	(void)module;
	if (!PyArg_ParseTuple(args, "O&Op", py_u32, &count, &size, &row_wise) ||
	    py_read_core(&grid, size, "grid") < 0)
		return NULL;
	status = ttnn_core_set_first(&set, grid, count, row_wise);
	return status == TTNN_OK ? py_new_cores(set) : py_fail(status, "num_cores_to_corerangeset");
}

/* some_cores(start, count, set, row_wise) */
static PyObject *some_cores(PyObject *module, PyObject *args)
{
	const ttnn_core_set *set, *found;
	struct ttnn_core start;
	enum ttnn_status status;
	PyObject *core, *cores;
	uint32_t count;
	int row_wise;

	(void)module;
	if (!PyArg_ParseTuple(args, "OO&Op", &core, py_u32, &count, &cores, &row_wise) ||
	    py_read_core(&start, core, "start_core") < 0 ||
	    py_read_cores(&set, cores, "sub_core_grids") < 0)
		return NULL;
	status = ttnn_core_set_some(&found, set, start, count, row_wise);
	return status == TTNN_OK ? py_new_cores(found)
				 : py_fail(status, "num_cores_to_corerangeset_in_subcoregrids");
}

/* split_work_to_cores(grid or cores, units, row_wise) */
static PyObject *split_work(PyObject *module, PyObject *args, PyObject *kwargs)
{
	static char *names[] = {"core_grid", "units_to_divide", "row_wise", NULL};
	const ttnn_core_set *set = NULL;
	struct ttnn_work_split split;
	struct ttnn_core grid = {0};
	unsigned long long units;
	enum ttnn_status status;
	PyObject *where;
	int row_wise = 0;

	(void)module;
	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO&|p:split_work_to_cores", names, &where,
					 py_u64, &units, &row_wise) ||
	    (PyObject_TypeCheck(where, py_cores_type)
		     ? py_read_cores(&set, where, "core_grid")
		     : py_read_core(&grid, where, "grid_size")) < 0)
		return NULL;
	status = ttnn_work_split_make(&split, set, grid, units, row_wise);
	if (status != TTNN_OK)
		return py_fail(status, "split_work_to_cores");
	return Py_BuildValue("KNNNKK", (unsigned long long)split.cores, py_new_cores(split.all),
			     py_new_cores(split.group[0]), py_new_cores(split.group[1]),
			     (unsigned long long)split.units[0],
			     (unsigned long long)split.units[1]);
}

static PyMethodDef functions[] = {
	{"create_sharded_memory_config", create, METH_VARARGS, NULL},
	{"some_cores", some_cores, METH_VARARGS, NULL},
	{"split_work_to_cores", (PyCFunction)(void (*)(void))split_work,
	 METH_VARARGS | METH_KEYWORDS,
	 "(cores, all, more, rest, units of more, units of rest) of a grid or a set of cores."},
	{"first_cores", first_cores, METH_VARARGS, NULL},
	{NULL, NULL, 0, NULL},
};

int py_init_memory(void)
{
	py_shard_type = py_add_type("tensor", &shard_spec);
	py_nd_shard_type = py_add_type("tensor", &nd_spec);
	py_memory_type = py_add_type("tensor", &memory_spec);
	if (!py_shard_type || !py_nd_shard_type || !py_memory_type)
		return -1;
	return PyModule_AddFunctions(py_submodule("tensor"), functions);
}
