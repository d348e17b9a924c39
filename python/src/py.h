/*
 * py.h: the parts of the extension ttnn._ttnn.
 *
 *	call.c      calls of the library: the GIL, signals
 *	module.c    the module, its submodules, run modes
 *	enums.c     enumerations, made from the library's tables
 *	shape.c     Shape, MeshShape, MeshCoordinate
 *	cores.c     CoreCoord, CoreGrid, CoreRange, CoreRangeSet
 *	memory.c    ShardSpec, NdShardSpec, MemoryConfig
 *	spec.c      Tile, TensorSpec
 *	object.c    configuration objects, made from the library's tables
 *	convert.c   Python objects → struct ttnn_value, and back
 *	op.c        operations, made from the library's tables
 *	tensor.c    Tensor; tensor_ops.c its operators and the methods that are operations
 *	data.c      arrays of others: DLPack and the buffer protocol, both ways
 *	parts.c     parts of tensors on a mesh; comparing
 *	device.c    MeshDevice, memory views
 *	graph.c     captures and queries of graphs; graph_nodes.c makes their dictionaries
 *	params.c    calls as they were written, for parameter files
 *	trace.c     operations that are captured on a device to be run again
 *	zones.c     zones and messages for profilers, lines of callers
 *	configs.c   configurations traced from models, as parameters of tests
 *	sweep.c     sweeps: vector files, vectors in child processes, results
 *
 * Functions that return PyObject * give a new reference, or NULL with an exception set; those that
 * return int give 0, or -1 with an exception set. All need the GIL. Types are made once, when the
 * module is imported, and kept in the variables below.
 */
#ifndef TTNN_PY_H
#define TTNN_PY_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <ttnn_frontend.h>

/* Which attribute a getter that serves several is asked for: its closure. */
#define PY_FIELD(number) ((void *)(intptr_t)(number))

/* ---- objects ------------------------------------------------------------------------------------ */

struct py_shape {
	PyObject_HEAD struct ttnn_shape shape;
};
struct py_core {
	PyObject_HEAD struct ttnn_core core;
};
struct py_range {
	PyObject_HEAD struct ttnn_core_range range;
};
struct py_cores {
	PyObject_HEAD const ttnn_core_set *set;
};
struct py_shard {
	PyObject_HEAD struct ttnn_shard_spec own;
	PyObject *config; /* (optional) the MemoryConfig whose spec this is, instead of `own` */
};
struct py_nd_shard {
	PyObject_HEAD struct ttnn_nd_shard_spec spec;
};
struct py_memory {
	PyObject_HEAD struct ttnn_memory_config config;
};
struct py_tile {
	PyObject_HEAD struct ttnn_tile tile;
};
struct py_spec {
	PyObject_HEAD struct ttnn_tensor_spec spec;
};
struct py_object {
	PyObject_HEAD ttnn_object *object;
};
struct py_tensor {
	PyObject_HEAD ttnn_tensor *tensor; /* NULL before __init__ */
	PyObject *weak;
};
struct py_device {
	PyObject_HEAD ttnn_device *device;
	PyObject *dict, *weak;
};

extern PyTypeObject *py_shape_type, *py_mesh_shape_type, *py_mesh_coord_type;
extern PyTypeObject *py_core_type, *py_grid_type, *py_range_type, *py_cores_type;
extern PyTypeObject *py_shard_type, *py_nd_shard_type, *py_memory_type;
extern PyTypeObject *py_tile_type, *py_spec_type, *py_object_type;
extern PyTypeObject *py_tensor_type, *py_device_type, *py_op_type;

/* ---- call.c --------------------------------------------------------------------------------------- */

/*
 * Around a call of the library that may take long: between these the GIL is free, and signals are seen to.
 * The end gives the status, or TTNN_CANCELLED with the exception that a handler raised; a result that
 * is not wanted any more (NULL: there is none) is given back then.
 */
struct py_call {
	PyThreadState *state;
	ttnn_poll *before;
	PyObject *raised[3]; /* by a handler in the call around it */
};
void py_call_begin(struct py_call *call);
enum ttnn_status py_call_end(const struct py_call *call, enum ttnn_status status,
			     ttnn_tensor **result);

/* Within a call, with the GIL: handlers of signals that came run now, and what one raises ends that call. */
void py_call_ask(void);

/* ---- module.c ------------------------------------------------------------------------------------- */

/* The submodule "operations.core", made when it is missing; borrowed. "" is the module itself. */
PyObject *py_submodule(const char *path);

/* Makes a type of the spec, whose name is "ttnn._ttnn.PATH.Name", and puts it there. Kept. */
PyTypeObject *py_add_type(const char *path, PyType_Spec *spec);

/* Raises what a failure of the library means; place is where, for texts that name one. NULL. */
PyObject *py_fail(enum ttnn_status status, const char *place);

/* The text that a call of the library put there, as str; frees it. Raises when the call failed. */
PyObject *py_text(enum ttnn_status status, char **text);

/* The nodes of a graph: a list of dictionaries. NULL with an exception. */
PyObject *py_graph_nodes(const ttnn_graph *graph);

/* How texts are spelled in this process (TTNN_DIALECT). */
enum ttnn_dialect py_dialect(void);

/* Tells where the call comes from that is made next, if somebody records it. */
void py_emit_stack(void);

/* The same of the line alone, if somebody profiles. */
void py_emit_place(void);

/* Whether a frame is the package's own: users ask where their call is. */
bool py_is_ours(PyFrameObject *frame);

/* Each part of the extension puts its types and functions into the module. */
int py_init_enums(void);
int py_init_shapes(void);
int py_init_cores(void);
int py_init_memory(void);
int py_init_spec(void);
int py_init_objects(void);
int py_init_ops(void);
int py_init_inner(void);
int py_init_tensor(void);
int py_init_data(void);
int py_init_parts(void);
int py_init_devices(void);
int py_init_params(void);
int py_init_graph(void);
int py_init_trace(void);
int py_init_zones(void);
int py_init_configs(void);
int py_init_sweep(void);

/* ---- enums.c ---------------------------------------------------------------------------------------- */

/* The members of the enumerations that this extension itself reads or makes. */
extern const ttnn_enum *py_enum_dtype, *py_enum_layout, *py_enum_buffer, *py_enum_memory_layout;
extern const ttnn_enum *py_enum_orientation, *py_enum_strategy, *py_enum_storage, *py_enum_arch;

/* Whether this is a member; false, without an exception, when it is not. */
bool py_enum_read(const ttnn_enum **type, int64_t *value, PyObject *member);

/* The number of a member of `type`, or TypeError that names `what`. */
int py_enum_need(int64_t *value, PyObject *member, const ttnn_enum *type, const char *what);

/* The member with this number; the number itself when there is none. */
PyObject *py_enum_member(const ttnn_enum *type, int64_t value);

/* ---- convert.c ---------------------------------------------------------------------------------------- */

/* Memory of a call's values: small ones inside, the rest on the heap. */
struct py_scratch {
	size_t used;
	void *blocks; /* chain */
	_Alignas(16) char room[1024];
};
static inline void py_scratch_init(struct py_scratch *scratch)
{
	scratch->used = 0;
	scratch->blocks = NULL;
}
void py_scratch_deinit(struct py_scratch *scratch);
/* Not cleared; NULL with MemoryError set. */
void *py_scratch_alloc(struct py_scratch *scratch, size_t size);

/* Any object as a value. What it points at is in scratch or in the object, which is borrowed. */
int py_value(struct ttnn_value *out, PyObject *object, struct py_scratch *scratch);

/* A value as an object. */
PyObject *py_from_value(const struct ttnn_value *value);

/* Arguments of a vectorcall as the library takes them; *count of them, at most PY_ARGS. */
#define PY_ARGS 64
int py_args(struct ttnn_arg *out, size_t *count, PyObject *const *args, size_t nargs,
	    PyObject *kwnames, struct py_scratch *scratch);
/* The same for a tuple and a dict (which may be NULL). */
int py_args_tuple(struct ttnn_arg *out, size_t *count, PyObject *args, PyObject *kwargs,
		  struct py_scratch *scratch);

/* Numbers of a Shape, MeshShape, list, tuple or any other sequence of integers. */
int py_read_shape(struct ttnn_shape *out, PyObject *object, const char *what);
/* A CoreCoord, CoreGrid or pair. */
int py_read_core(struct ttnn_core *out, PyObject *object, const char *what);
/* A CoreRangeSet, CoreRange, or list or set of ranges. */
int py_read_cores(const ttnn_core_set **out, PyObject *object, const char *what);
int py_read_u32(uint32_t *out, PyObject *object, const char *what);
/* The same for "O&" of PyArg_Parse, whose "I" and "K" cut numbers without a word. */
int py_u32(PyObject *object, void *out);
int py_u64(PyObject *object, void *out);

/* Objects of a type over a copy of the value. */
PyObject *py_new_shape(PyTypeObject *type, const struct ttnn_shape *shape);
PyObject *py_new_core(PyTypeObject *type, struct ttnn_core core);
PyObject *py_new_range(const struct ttnn_core_range *range);
PyObject *py_new_cores(const ttnn_core_set *set);
PyObject *py_new_shard(const struct ttnn_shard_spec *spec);
struct ttnn_shard_spec *py_shard_of(PyObject *object); /* a ShardSpec: its spec, to read or set */
PyObject *py_new_nd_shard(const struct ttnn_nd_shard_spec *spec);
PyObject *py_new_memory(const struct ttnn_memory_config *config);
PyObject *py_new_tile(const struct ttnn_tile *tile);
PyObject *py_new_spec(const struct ttnn_tensor_spec *spec);
/* Take over the reference, also when they fail; NULL gives None. */
PyObject *py_new_tensor(ttnn_tensor *tensor);
PyObject *py_new_device(ttnn_device *device);
/* The configuration object that a value holds. */
PyObject *py_object_of(const struct ttnn_value *value);

/* __repr__, to_json and __reduce__-like methods that all value types share. */
PyObject *py_repr(PyObject *self);
PyObject *py_to_json(PyObject *self, PyObject *unused);
#define PY_TO_JSON                                                                                 \
	{                                                                                          \
		"to_json", py_to_json, METH_NOARGS, "The value as JSON text."                      \
	}

/* ---- op.c ------------------------------------------------------------------------------------------------ */

/* Calls an operation of the table by its name, as ttnn.NAME(args...) does. */
PyObject *py_call_op(const char *name, PyObject *const *args, size_t nargs, PyObject *kwnames);

/* The same where the user wrote the arguments otherwise: recordings show `told`. */
PyObject *py_call_op_as(const char *name, PyObject *const *args, size_t nargs,
			PyObject *const *told);

/* Runs it without a Python scope: methods that upstream records as such. */
PyObject *py_run_method(const char *name, PyObject *const *args, size_t nargs, PyObject *kwnames);

/* Results as upstream gives them: a tensor, a list, or None. Takes them over. */
PyObject *py_results(struct ttnn_results *results, bool many);

/* ---- params.c -------------------------------------------------------------------------------------------- */

/* Tells who listens what was called, as it was written. Never fails: what goes wrong is said once. */
void py_emit_call(const char *name, PyObject *const *args, size_t nargs, PyObject *kwnames,
		  PyObject *result);

/* ---- data.c ------------------------------------------------------------------------------------------------ */

/*
 * Anything with DLPack or the buffer protocol as a row-major host tensor, without a copy where type
 * and strides allow. `wanted` is the dtype it is for, or -1. A host tensor of ours is itself.
 */
ttnn_tensor *py_data_tensor(PyObject *object, int wanted);

/* A host tensor in rows as a DLPack capsule; steals the reference. */
PyObject *py_dlpack(ttnn_tensor *tensor);

/* Its numbers as nested lists. */
PyObject *py_list_of(const ttnn_tensor *tensor);

/* A tensor from a list of numbers, as the old constructor makes it. */
ttnn_tensor *py_tensor_from_numbers(PyObject *numbers, const struct ttnn_tensor_spec *spec,
				    double pad_value);

/* The logical elements of a tensor in rows on the host (block floats as float32); new reference. */
ttnn_tensor *py_rows(ttnn_tensor *tensor);

/* ---- tensor_ops.c -------------------------------------------------------------------------------------------- */

/* The slots and methods of Tensor that are operations. */
extern PyMethodDef py_tensor_op_methods[];
int py_add_tensor_methods(PyTypeObject *type);
PyObject *py_tensor_compare(PyObject *self, PyObject *other, int what);
PyObject *py_tensor_getitem(PyObject *self, PyObject *key);
extern PyType_Slot py_tensor_number_slots[];

#endif
