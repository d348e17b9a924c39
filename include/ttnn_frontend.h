/*
 * ttnn_frontend.h: what a binding to another language needs besides <ttnn.h>: the tables of
 * operations, enumerations and configuration objects, texts of values, and what a tensor's owner
 * may ask about it. Programs in C do without.
 *
 * The conventions are those of <ttnn.h>.
 */
#ifndef TTNN_FRONTEND_H
#define TTNN_FRONTEND_H

#include <ttnn.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What the last failure on this thread is a violation of, in upstream's words ("shard_shape[0] >
 * 0"), or "" when it has none. Borrowed until the next failure.
 */
TTNN_API const char *ttnn_error_condition(void);

/* ---- operations ------------------------------------------------------------------------------ */

/* A row of the table of operations; lives until the process ends. */
typedef struct tt_op_entry ttnn_op;

struct ttnn_op_info {
	const char *name;     /* "ttnn.add" */
	const char *cpp_name; /* "ttnn::add" */
	const char *shown;    /* the name that recordings show; "": they do not */
	const char *family;   /* "binary" */
	const char *doc;      /* one sentence */
	size_t signatures;    /* tried in order */
	bool many;            /* gives a list of tensors, or none at all, or complex ones */
	const char *
		gives; /* "Tensor", "[Tensor]", "Complex", "Tensor, (int, int), (Tensor, Tensor)" */
	bool golden;   /* ttnn_op_golden() works */
	double pcc;    /* how close it comes to its golden function */
};

/* Operation i in order of their names, NULL behind the last; the operation of a name, or NULL. */
TTNN_API const ttnn_op *ttnn_op_at(size_t i);
TTNN_API const ttnn_op *ttnn_op_find(const char *name);

/* Other name i of an operation ("ttnn.mul"), and what it is *of; NULL behind the last. */
TTNN_API const char *ttnn_op_alias(const char **of, size_t i);

/* Fills in what a row says; all texts are borrowed. */
TTNN_API void ttnn_op_get_info(struct ttnn_op_info *out, const ttnn_op *op);

/* "add(input_tensor_a: ttnn.Tensor, ...)", signature i of it; free with ttnn_free(). */
TTNN_API enum ttnn_status ttnn_op_signature(char **out, const ttnn_op *op, size_t i);

/* Where ttnn_results_value() puts what its value points at. */
struct ttnn_results_room {
	struct ttnn_value tensors[64], parts[4], numbers[TTNN_MAX_RANK];
};

/*
 * What a call gave, as its operation says it: a tensor, a list of tensors, or a list of tensors, numbers and
 * lists of them, without what was not asked for; absent where a tensor was not made. Borrows the results.
 */
TTNN_API struct ttnn_value ttnn_results_value(struct ttnn_results_room *room,
					      const struct ttnn_results *results,
					      const ttnn_op *op);

/* As ttnn_call(), without looking for the name. */
TTNN_API enum ttnn_status ttnn_op_call(struct ttnn_results *out, const ttnn_op *op,
				       const struct ttnn_arg *args, size_t arg_count,
				       enum ttnn_frontend frontend);

/*
 * The same results computed slowly and obviously in float64, as row-major host tensors: float32 for
 * floating-point results, else the dtype that the operation gives. Tensors may be anywhere.
 */
TTNN_API enum ttnn_status ttnn_op_golden(struct ttnn_results *out, const ttnn_op *op,
					 const struct ttnn_arg *args, size_t arg_count);

/*
 * Whom calls of this thread ask whether to go on: on this thread, every 10 ms or so, and never in a call that
 * is shorter. Once it says false the running call ends soon: it fails with TTNN_CANCELLED, its results are
 * given up, and what it was to write into is undefined; one that was nearly done may yet succeed. Calls made
 * later fail likewise until the next setting. NULL: nobody, as in the beginning. Returns what it was. What it
 * calls may use this library; it is not asked meanwhile.
 */
typedef bool ttnn_poll(void);
TTNN_API ttnn_poll *ttnn_set_poll(ttnn_poll *poll);

/*
 * As if the one that is set had just said false: for a binding that set another for a call within a call, after
 * it has set back the one of the outer call, which was given up already.
 */
TTNN_API void ttnn_cancel(void);

/*
 * While on, tensors that this thread makes get no number of their own: a binding's own copies, which
 * its user never sees. Returns what it was.
 */
TTNN_API bool ttnn_tensor_hide(bool on);

/* Number of a chip of this mesh among all of its machine, row by row, as fabrics count them; its count if it has none such. */
TTNN_API uint32_t ttnn_device_fabric_chip(const ttnn_device *device, uint32_t chip);

/*
 * What a bank of DRAM of one chip (by its place in the mesh) has at an address: the bytes of the buffers that live
 * there, zeros elsewhere. Refuses banks and addresses that there are none of.
 */
struct ttnn_bank_place {
	uint32_t chip, bank;
	uint64_t address;
};
TTNN_API enum ttnn_status ttnn_device_read_bank(void *out, size_t bytes, ttnn_device *device,
						const struct ttnn_bank_place *at);

/*
 * Memory of a device as a tensor of this spec would take it, for what is no tensor: semaphores, rings between cores. Graphs
 * tell of the buffer, and of no operation. What is in it is not defined.
 */
TTNN_API enum ttnn_status ttnn_tensor_reserve(ttnn_tensor **out, ttnn_device *device,
					      const struct ttnn_tensor_spec *spec);

/*
 * Cuts the computing cores of a device into sub-devices, numbered in this order: matmul and linear, with program configs of
 * one and two dimensions, run on the one whose number they are given. Sets that meet, or reach beyond the device, are
 * refused, and are all that is looked for by the first. A count of 0: all cores are the only one.
 */
TTNN_API enum ttnn_status ttnn_device_check_sub_devices(ttnn_device *device,
							const ttnn_core_set *const *cores,
							size_t count);
TTNN_API enum ttnn_status ttnn_device_set_sub_devices(ttnn_device *device,
						      const ttnn_core_set *const *cores,
						      size_t count);

/* Frees all memory that tensors and programs have on the device, under their owners; those know it as after deallocate(). */
TTNN_API enum ttnn_status ttnn_device_deallocate_buffers(ttnn_device *device);

/* Takes the next number, for an array of another library; false when no capture counts those. */
TTNN_API bool ttnn_tensor_number(uint64_t *out);

/* ---- captures ---------------------------------------------------------------------------------- */

/* As ttnn_graph_begin(). All zero: NORMAL, dialect `seed`, of every thread. */
struct ttnn_graph_options {
	enum ttnn_run_mode mode;
	enum ttnn_dialect dialect;
	bool this_thread; /* hears the calling thread only, in every dialect */
	const char
		*where; /* (optional) "model.py, line 12", for warnings that it is open; copied */
};
TTNN_API enum ttnn_status ttnn_graph_begin_with(const struct ttnn_graph_options *options);

/*
 * The warning of ttnn_graph_begin() if it would give one now, for a binding that gives its own: it is not given
 * then. *out is NULL when there is none; free it with ttnn_free().
 */
TTNN_API enum ttnn_status ttnn_graph_open(char **out);

/* ---- telling what was called ------------------------------------------------------------------ */

/*
 * Whether someone records calls as they were written: then a binding says after every operation
 * that it ran for its user (TTNN_FRONTEND_PYTHON) what was given and what came of it, or why it failed
 * (`result` is not looked at then). One branch. The thread's error stays as it is.
 */
TTNN_API bool ttnn_calls_heard(void);
TTNN_API void ttnn_emit_call(const char *name, const struct ttnn_arg *args, size_t arg_count,
			     const struct ttnn_value *result, const char *error);

/*
 * An operation that a binding's user wrote, around those that it calls: recordings and graphs show it as they show
 * the library's. False when nobody records: then it is not to be ended. Begin and end on the same thread; `error`
 * is NULL when it succeeded.
 */
TTNN_API bool ttnn_operation_begin(const char *name, const struct ttnn_arg *args, size_t arg_count);
TTNN_API void ttnn_operation_end(const struct ttnn_value *result, const char *error);
TTNN_API bool ttnn_recording(void);

/*
 * Operations that upstream writes in Python call others there, which its recordings show as calls of
 * their own. A binding that records calls hears of those here, on the calling thread, while an
 * operation runs for its user: before, and after with what came of it (NULL: it failed, and the
 * thread's error says why). NULL: no more. What is passed must live until the process ends.
 */
struct ttnn_inner_calls {
	void (*begin)(const char *name, const struct ttnn_arg *args, size_t arg_count);
	void (*end)(enum ttnn_status status, const struct ttnn_results *results);
};
TTNN_API void ttnn_hear_inner_calls(const struct ttnn_inner_calls *hear);

/* A dictionary of `count` keys and values in turn, borrowed: a value that only recordings keep. */
TTNN_API struct ttnn_value ttnn_v_dict(const struct ttnn_value *items, size_t count);

/* ---- parameter files ---------------------------------------------------------------------------- */

/* The switches of ttnn_params_trace() one by one. */
enum ttnn_params_flag {
	TTNN_PARAMS_ENABLED,
	TTNN_PARAMS_VALUES,
	TTNN_PARAMS_SERIALIZING, /* set: nothing is written; reads true while a file is being made */
};
TTNN_API bool ttnn_params_get(enum ttnn_params_flag flag);
TTNN_API enum ttnn_status ttnn_params_set(enum ttnn_params_flag flag, bool on);

/*
 * A binding turns a call's arguments into values between these, and tells the call after. False: this
 * thread does so already (or SERIALIZING is set), and the call is not to be told.
 */
TTNN_API bool ttnn_params_enter(void);
TTNN_API void ttnn_params_leave(void);

/* Says on stderr, the first time, that a call could not be written and why (NULL: ttnn_error()). */
TTNN_API void ttnn_params_lose(const char *name, const char *why);

/* The number of the last file; the next one has the number after it. */
TTNN_API uint64_t ttnn_params_counter(void);
TTNN_API void ttnn_params_set_counter(uint64_t number);

/* Whether somebody records where calls come from: a binding then tells it before each call. */
TTNN_API bool ttnn_stacks_heard(void);

/* The stack of the call that this thread makes next: a line for each frame, innermost first. */
TTNN_API void ttnn_emit_stack(const char *const *lines, size_t count);

/* Whether somebody profiles: a binding then tells before each call of which line it is. */
TTNN_API bool ttnn_places_heard(void);

/* The line of the call that this thread makes next; the texts live as long as the process (ttnn_intern()). */
TTNN_API void ttnn_emit_place(const char *file, const char *function, uint32_t line);

/* The same text for ever; NULL when memory is exhausted. */
TTNN_API const char *ttnn_intern(const char *text);

/* TTNN_INVALID when an environment variable is set to what it cannot be; the message names the choices. */
TTNN_API enum ttnn_status ttnn_environment_check(void);

/* The content of a file or pipe, unpacked if it is gzip, and a zero byte; free with ttnn_free(). Ends with the poll. */
TTNN_API enum ttnn_status ttnn_file_read(char **out, size_t *size, const char *path);

/* What TTNN_DIALECT says. */
TTNN_API enum ttnn_dialect ttnn_dialect_of_environment(void);

/*
 * From now on this process shares the count of numbers with all that say so with the same file, and notes
 * there what it makes: after 4096 bytes, which are the count's and begin as zeros, "F" and the whole path of
 * a file or "D" and that of a folder, and a zero byte. Children of forks do likewise. NULL: notes no more.
 */
TTNN_API enum ttnn_status ttnn_params_session(const char *path);

/* The test that runs, which files name; NULL: none does. */
TTNN_API enum ttnn_status ttnn_params_set_test(const char *name);

/* Does what TTNN_TRACE_PARAMS asks for; called once, by the library at the first operation. */
TTNN_API void ttnn_params_environment(void);

/* Where files go: NULL or "" is the default of the dialect. */
TTNN_API enum ttnn_status ttnn_params_set_dir(const char *dir);

/* Where they go now. Borrowed, valid for ever. */
TTNN_API const char *ttnn_params_dir(void);

/* The dialect of files: "seed", "tt-metal" or "2026-01". TTNN_NOTFOUND when it is none. */
TTNN_API enum ttnn_status ttnn_params_set_dialect(const char *name);
TTNN_API const char *ttnn_params_dialect(void);

/* A call as its user wrote it. */
struct ttnn_told_call {
	const char *name;
	const struct ttnn_arg *args;
	size_t arg_count;
	struct ttnn_value result;
};

/*
 * Writes the file of a call now, to dir (NULL: as above), whatever the switches say. *path (unless
 * path is NULL) is to be given back with ttnn_free().
 */
TTNN_API enum ttnn_status ttnn_params_write(char **path, const struct ttnn_told_call *call,
					    const char *dir, bool values);

/* A value as it stands in a file, as JSON; free with ttnn_free(). */
TTNN_API enum ttnn_status ttnn_params_json(char **out, const struct ttnn_value *value, bool values);

/* ---- enumerations ------------------------------------------------------------------------------ */

/* An enumeration with upstream's name and numbers; lives until the process ends. */
typedef struct tt_enum ttnn_enum;

/* Enumeration i, NULL behind the last; *module is where upstream has it ("operations.unary"). */
TTNN_API const ttnn_enum *ttnn_enum_at(const char **module, size_t i);
TTNN_API const char *ttnn_enum_name(const ttnn_enum *type);

/* Member i; false behind the last. Several may have the same number. */
TTNN_API bool ttnn_enum_member(const char **name, int64_t *value, const ttnn_enum *type, size_t i);

/* A member as an argument. */
TTNN_API struct ttnn_value ttnn_v_enum(const ttnn_enum *type, int64_t member);

/* ---- configuration objects ----------------------------------------------------------------------- */

/* An object such as a WormholeComputeKernelConfig, with values of its own. Not for two threads. */
typedef struct tt_object ttnn_object;

/* The name of kind i, NULL behind the last; *module as above. */
TTNN_API const char *ttnn_object_kind(const char **module, size_t i);

/* A new object of a kind; TTNN_TYPE when the arguments do not fit it. */
TTNN_API enum ttnn_status ttnn_object_new(ttnn_object **out, const char *kind,
					  const struct ttnn_arg *args, size_t arg_count);
/* NULL is fine. */
/* An object like the one that a value holds, such as a field of another; *kind names it. */
TTNN_API enum ttnn_status ttnn_object_from_value(ttnn_object **out, const char **kind,
						 const struct ttnn_value *value);

TTNN_API void ttnn_object_free(ttnn_object *object);

/* The object as an argument; borrowed until the object is changed. */
TTNN_API struct ttnn_value ttnn_object_value(const ttnn_object *object);

/* The name of field i, NULL behind the last. */
TTNN_API const char *ttnn_object_field(const ttnn_object *object, size_t i);

/* One more object with the field of this name changed. TTNN_TYPE when the value does not fit. */
TTNN_API enum ttnn_status ttnn_object_set(ttnn_object *object, const char *field,
					  const struct ttnn_value *value);

/* ---- values -------------------------------------------------------------------------------------- */

/* The text that upstream's Python shows of a value; free with ttnn_free(). */
TTNN_API enum ttnn_status ttnn_value_text(char **out, const struct ttnn_value *value);

/* The JSON that upstream's to_json() gives; TTNN_UNSUPPORTED for values that have none. */
TTNN_API enum ttnn_status ttnn_value_json(char **out, const struct ttnn_value *value,
					  enum ttnn_dialect dialect);

/* The way back, from any spelling that files are known to have. */
TTNN_API enum ttnn_status ttnn_memory_config_parse(struct ttnn_memory_config *out,
						   const char *json);
TTNN_API enum ttnn_status ttnn_shard_spec_parse(struct ttnn_shard_spec *out, const char *json);
TTNN_API enum ttnn_status ttnn_nd_shard_spec_parse(struct ttnn_nd_shard_spec *out,
						   const char *json);
TTNN_API enum ttnn_status ttnn_core_set_parse(const ttnn_core_set **out, const char *json);

/* A number that equal configs share in every process. */
TTNN_API uint64_t ttnn_memory_config_hash(const struct ttnn_memory_config *config);

/* The smallest range around all cores; refuses the empty set. */
TTNN_API enum ttnn_status ttnn_core_set_box(struct ttnn_core_range *out, const ttnn_core_set *set);

/* Whether every core of `inner` is in `set`. */
TTNN_API bool ttnn_core_set_includes(const ttnn_core_set *set, const ttnn_core_set *inner);

/* The cores of both, in the fewest rows; the cores of a that are not in b. */
TTNN_API enum ttnn_status ttnn_core_set_merge(const ttnn_core_set **out, const ttnn_core_set *a,
					      const ttnn_core_set *b);
TTNN_API enum ttnn_status ttnn_core_set_subtract(const ttnn_core_set **out, const ttnn_core_set *a,
						 const ttnn_core_set *b);

/* The first `count` cores of a grid, row by row or column by column, as a set. */
TTNN_API enum ttnn_status ttnn_core_set_first(const ttnn_core_set **out, struct ttnn_core grid,
					      uint32_t count, bool row_wise);

/* The same inside a set, from its core `start` on. */
TTNN_API enum ttnn_status ttnn_core_set_some(const ttnn_core_set **out, const ttnn_core_set *set,
					     struct ttnn_core start, uint32_t count, bool row_wise);

/* Units of work on cores, in two groups: those of the first have one unit more. */
struct ttnn_work_split {
	uint64_t cores; /* with work */
	const ttnn_core_set *all;
	const ttnn_core_set *group[2]; /* the second is empty when all have the same */
	uint64_t units[2];             /* for each core of a group */
};

/* Spreads units over a set of cores, or over a grid when there is no set. */
TTNN_API enum ttnn_status ttnn_work_split_make(struct ttnn_work_split *out,
					       const ttnn_core_set *set, struct ttnn_core grid,
					       uint64_t units, bool row_wise);

/* How ttnn_memory_config_create() cuts. Exactly one of grid and cores is given. */
struct ttnn_sharded_options {
	struct ttnn_shape shape;
	struct ttnn_core grid;          /* a rectangle at the origin, or 0 × 0 */
	const ttnn_core_set *cores;     /* or any cores: then shape_of_shard must be set */
	enum ttnn_memory_layout layout; /* HEIGHT, WIDTH or BLOCK */
	enum ttnn_orientation orientation;
	bool shape_of_shard; /* height and width are those of a shard */
};

/* An L1 config that spreads a tensor evenly over the cores. */
TTNN_API enum ttnn_status ttnn_memory_config_create(struct ttnn_memory_config *out,
						    const struct ttnn_sharded_options *options);

/* One shard per core, as even as can be; everything else of the spec stays. */
TTNN_API enum ttnn_status ttnn_tensor_spec_shard(struct ttnn_tensor_spec *out,
						 const struct ttnn_tensor_spec *spec,
						 enum ttnn_memory_layout layout,
						 const ttnn_core_set *cores,
						 enum ttnn_orientation orientation);

/* What ttnn.point_to_point of a tensor of this spec receives packets in; `same`: both devices are one. */
TTNN_API enum ttnn_status ttnn_point_to_point_spec(struct ttnn_tensor_spec *out,
						   const struct ttnn_tensor_spec *spec, bool same);

/* ---- tensors -------------------------------------------------------------------------------------- */

/* The number of a tensor in this process; frontends may give it another. */
TTNN_API uint64_t ttnn_tensor_get_id(const ttnn_tensor *tensor);
TTNN_API void ttnn_tensor_set_id(ttnn_tensor *tensor, uint64_t id);

/* The device a tensor lies on, borrowed; NULL: on the host, or the device was closed. */
TTNN_API ttnn_device *ttnn_tensor_get_device(const ttnn_tensor *tensor);

/* Where a tensor lies in the memory of its device. */
struct ttnn_buffer_info {
	uint64_t id, address;
	uint64_t page_size, aligned_page_size, pages;
};

/* False when it lies in none: on the host, or not allocated any more. */
TTNN_API bool ttnn_tensor_get_buffer(struct ttnn_buffer_info *out, const ttnn_tensor *tensor);

/* One owner less, as ttnn_tensor_unref(), and recorded if the last owner lets device memory go. */
TTNN_API void ttnn_tensor_drop(ttnn_tensor *tensor);

/*
 * A host tensor over bytes that belong to someone else, spec->bytes of them, laid out as spec says.
 * release(owner) is called once, on any thread, when the last tensor over them is gone; also when
 * this function fails.
 */
TTNN_API enum ttnn_status ttnn_tensor_borrow(ttnn_tensor **out, const void *bytes,
					     const struct ttnn_tensor_spec *spec,
					     void (*release)(void *owner), void *owner);

/* How one dimension of a mesh cuts a tensor: along its dimension dim, or not at all. */
struct ttnn_placement {
	bool shard;
	int32_t dim;
};

/*
 * How the parts of a tensor lie on a mesh: the extents of what it was spread over, for each of them
 * how it cuts, and where part i is. Borrowed pointers.
 */
struct ttnn_topology {
	struct ttnn_shape mesh, distribution;
	size_t placements, coords;
};
TTNN_API void ttnn_tensor_get_topology(struct ttnn_topology *out, const ttnn_tensor *tensor);
TTNN_API struct ttnn_placement ttnn_tensor_placement(const ttnn_tensor *tensor, size_t i);
TTNN_API struct ttnn_shape ttnn_tensor_coord(const ttnn_tensor *tensor, size_t i);

/* Says how the values of a tensor are spread: one placement for each dimension of `distribution`. */
TTNN_API enum ttnn_status ttnn_tensor_set_placements(ttnn_tensor *tensor,
						     const struct ttnn_shape *distribution,
						     const struct ttnn_placement *placements);

/*
 * Host tensors of one spec, or the parts that lie in one buffer of a device, as the parts of one tensor:
 * one for each position of `distribution`, row by row, in that corner of the mesh or along its rows. One
 * placement for each dimension of the distribution.
 */
TTNN_API enum ttnn_status ttnn_tensor_gather(ttnn_tensor **out, ttnn_tensor *const *parts,
					     const struct ttnn_shape *mesh,
					     const struct ttnn_shape *distribution,
					     const struct ttnn_placement *placements);

/*
 * The parts of a host tensor in rows for a mesh, row by row over it: as many as the mesh has places,
 * each with a reference. Parts that are the whole tensor are the tensor itself.
 */
TTNN_API enum ttnn_status ttnn_tensor_cut(ttnn_tensor **out, ttnn_tensor *tensor,
					  const struct ttnn_shape *mesh,
					  const struct ttnn_placement *placements);

/* The way back: parts in rows, of one spec, put together along the dimensions of the placements. */
TTNN_API enum ttnn_status ttnn_tensor_join(ttnn_tensor **out, ttnn_tensor *const *parts,
					   const struct ttnn_shape *mesh,
					   const struct ttnn_placement *placements);

/*
 * Pearson's correlation of the elements of two host tensors in rows, which may have different types
 * and shapes, as upstream's tests take it: NaN and infinities count as 0; where there is nothing to
 * correlate (all zero, or one number everywhere) it is 1 when the two are close, else 0.
 */
TTNN_API enum ttnn_status ttnn_tensor_pcc(double *out, const ttnn_tensor *expected,
					  const ttnn_tensor *actual);

/* The same for tensors of one shape, the actual one in the other's type: what upstream's comp_pcc() gives. */
TTNN_API enum ttnn_status ttnn_tensor_comp_pcc(double *out, const ttnn_tensor *expected,
					       ttnn_tensor *actual);

/*
 * The same for a result and its golden (ttnn_op_golden()): a golden that is one number everywhere, or one number at all,
 * has to be met as far as a type of few bits can tell, if it is made of `terms` numbers of about 1 (elements of the
 * inputs); 0 when the result has a NaN or an infinity where the golden has a number.
 */
TTNN_API enum ttnn_status ttnn_tensor_alike(double *out, const ttnn_tensor *golden,
					    const ttnn_tensor *result, uint64_t terms);

/* The tensor that tells the channels of a group from its neighbours' in group_norm. */
struct ttnn_group_mask {
	uint32_t channels, groups;
	uint32_t cores; /* that share the channels: groups is a multiple of it */
	enum ttnn_dtype dtype;
	uint32_t tile_height, tile_width; /* 32 × 32 usually */
	uint32_t last_rows; /* else 0: masks for a last tile that has only so many rows follow */
	bool negative;      /* zeros for the group and ones around it */
};
TTNN_API enum ttnn_status ttnn_group_mask_new(ttnn_tensor **out,
					      const struct ttnn_group_mask *mask);

/* A tensor for group_norm, and the cores there are. */
struct ttnn_group_spread {
	uint32_t channels, groups;
	uint64_t rows; /* N × H × W */
	struct ttnn_core grid;
	bool height;    /* shards of rows alone; else of rows and channels */
	bool row_major; /* blocks along rows of cores */
};

/* The shards in L1 that upstream expects, and the grid of their cores. */
TTNN_API enum ttnn_status ttnn_group_norm_shards(struct ttnn_memory_config *out,
						 struct ttnn_core *grid,
						 const struct ttnn_group_spread *spread);

/* The grid for a tensor that is not in shards: the widest, then the highest that fits. */
TTNN_API enum ttnn_status ttnn_group_norm_grid(struct ttnn_core *out,
					       const struct ttnn_group_spread *spread);

/* ---- devices ---------------------------------------------------------------------------------------- */

/* A block of one bank; addresses count from the lowest one of a buffer. */
struct ttnn_memory_block {
	uint64_t address, size;
	bool allocated;
};

/* All blocks of a kind of memory by address; give the array back with ttnn_free(). */
TTNN_API enum ttnn_status ttnn_device_blocks(struct ttnn_memory_block **out, size_t *count,
					     ttnn_device *device, enum ttnn_buffer_type type);

/* ---- graphs -------------------------------------------------------------------------------------- */

/* What ttnn_graph_get() leaves out of a node: how its JSON is written. */
struct ttnn_graph_form {
	int64_t counter;
	uint64_t duration_ns;
	bool has_duration;
	bool null_params; /* null, not {} */
	bool bare;        /* no arguments, input_tensors and stacking_level */
	uint32_t param_count;
};

enum ttnn_graph_kind {
	TTNN_GRAPH_STRING,
	TTNN_GRAPH_INT,
	TTNN_GRAPH_UINT, /* beyond what an int64_t holds */
	TTNN_GRAPH_BOOL,
	TTNN_GRAPH_JSON, /* the text is JSON */
};

/* A member of a node's params. Equal texts of a graph are the same pointer. */
struct ttnn_graph_param {
	const char *key, *text;
	enum ttnn_graph_kind kind;
	uint32_t length; /* of the text */
	uint64_t number; /* INT (as signed), UINT, BOOL */
};

/* False behind the last node, and behind the last of its params. All is borrowed. */
TTNN_API bool ttnn_graph_get_form(struct ttnn_graph_form *out, const ttnn_graph *graph,
				  size_t index);
TTNN_API bool ttnn_graph_get_param(struct ttnn_graph_param *out, const ttnn_graph *graph,
				   size_t index, size_t i);

/* ---- links between chips ---------------------------------------------------------------------- */

/*
 * How chips are connected, for operations in which they send to each other: in lines, rings, or over rows and columns at
 * once. Without a choice (NONE, at first) each has what it needs. A fabric that was chosen refuses what upstream's refuses
 * with it, and is printed in graphs. Of the process; any thread.
 */
enum ttnn_fabric {
	TTNN_FABRIC_NONE,
	TTNN_FABRIC_1D_NEIGHBORS,
	TTNN_FABRIC_1D,
	TTNN_FABRIC_1D_RING,
	TTNN_FABRIC_2D,
	TTNN_FABRIC_2D_TORUS_X,
	TTNN_FABRIC_2D_TORUS_Y,
	TTNN_FABRIC_2D_TORUS_XY
};
TTNN_API void ttnn_fabric_set(enum ttnn_fabric fabric);
TTNN_API enum ttnn_fabric ttnn_fabric_get(void);

#ifdef __cplusplus
}
#endif

#endif
