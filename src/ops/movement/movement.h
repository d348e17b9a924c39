/*
 * movement.h: the room of operations that move values and compute nothing.
 *
 *	layouts         tilize, untilize (also with unpadding), to_layout
 *	shapes          reshape, buffer_view, permute, transpose, getitem
 *	parts           slice, split, concat, pad, host_pad, repeat, repeat_interleave, roll
 *	by index        gather, scatter, indexed_fill, nonzero
 *	places          copy, shard_ops, reshard
 *
 * Where an operation and its program are two files, NAME_program.c is the program. All of this header is for
 * other rooms as well: facts about pages and shards, the cores that hold data, operations that others call, and
 * the jobs by which the backend moves. What two files of the room share is in headers of their names.
 */
#ifndef TT_OPS_MOVEMENT_MOVEMENT_H
#define TT_OPS_MOVEMENT_MOVEMENT_H

#include "device/generation.h"
#include "ops/creation/creation.h"
#include "ops/dims.h"
#include "ops/usual.h"

#define TT_DFB TT_MEMORY_DATAFLOW_BUFFER
#define TT_CB TT_MEMORY_CIRCULAR_BUFFER
#define TT_SCRATCH TT_MEMORY_SCRATCHPAD

/*
 * The fields of a row of this family; signatures last. Values are moved exactly; but block floats on
 * their way through tensors of their own type may be rounded more than once.
 */
#define TT_MOVE_ROW(name_, expand_, golden_, doc_, ...)                                            \
	.name = "ttnn." name_, .family = "movement", .doc = doc_, .sigs = {__VA_ARGS__},           \
	.expand = expand_, .golden = golden_, .pcc = 0.998

/* ---- tensors --------------------------------------------------------------------------------- */

static inline bool tt_tensor_is_sharded(const struct tt_tensor *tensor)
{
	return tt_memory_config_is_sharded(&tensor->spec.memory);
}

/* Bytes of one element. */
uint64_t tt_element_bytes(const struct tt_tensor *tensor);

/* Bytes from page to page in a bank, and what they are a multiple of. The tensor is on a device. */
uint64_t tt_aligned_page(const struct tt_tensor *tensor);
uint64_t tt_page_alignment(const struct tt_tensor *tensor);

/* The last two extents of a shard, by whichever spec there is; 0 without one. */
uint32_t tt_shard_height(const struct ttnn_memory_config *memory);
uint32_t tt_shard_width(const struct ttnn_memory_config *memory);

/* Whether the last shard of a row or column is not full, or there are none of a legacy spec. */
bool tt_shards_uneven(const struct ttnn_tensor_spec *spec);

/* value rounded up to a multiple. For sizes of pages: no overflow is possible there. */
static inline uint64_t tt_align_to(uint64_t value, uint64_t multiple)
{
	return (value + multiple - 1) / multiple * multiple;
}

/* What pages of a kind of memory are aligned to on this device. */
uint64_t tt_memory_alignment(struct tt_device *device, enum ttnn_buffer_type type);

/* L1 that programs and tensors of a core can share; and what tensors have left of it now. */
uint64_t tt_l1_room(const struct tt_device *device);
uint64_t tt_l1_free(struct tt_device *device);

/* Half of L1, without what is below its base: what some programs allow themselves. */
uint64_t tt_l1_half(const struct tt_device *device);

/*
 * What a tensor of this spec will take of the L1 of the fullest core: for choices that are made
 * before the output exists. 0 when it is sharded, not in L1, or impossible.
 */
uint64_t tt_l1_pending(struct tt_device *device, const struct ttnn_spec_args *args);

/* ---- memory rows ------------------------------------------------------------------------------- */

/* Whether input and output differ in dtype. */
bool tt_converts(const struct tt_launch *launch);

/* The number of the factory that was chosen. */
static inline uint32_t tt_factory_index(const struct tt_launch *launch)
{
	return (uint32_t)(launch->factory - launch->prog->factories);
}

/*
 * Tilize and untilize split wide matrices into blocks, of which the last in a row may be narrower: buffers
 * for the full blocks on their cores, others for the last ones on theirs.
 */
struct tt_block_request {
	const ttnn_core_set *cores;
	enum ttnn_orientation order;
	const struct ttnn_tensor_spec *tiled; /* the side that has tiles */
	struct ttnn_tile tile;
	uint64_t in_tile, out_tile; /* bytes */
	bool scratch;               /* tilize reads rows through a scratchpad */
};
tt_status tt_block_plan(struct tt_plan *plan, const struct tt_launch *launch,
			const struct tt_block_request *request);

/* Whether more cores can work on a matrix in blocks than row by row of tiles. */
tt_status tt_block_is_wider(bool *out, const ttnn_core_set *cores, const struct ttnn_shape *padded,
			    uint64_t block_tiles, uint64_t rows);

/* The cores of an attribute sub_core_grids, or all. */
const ttnn_core_set *tt_cores_or_all(const struct tt_launch *launch,
				     const struct ttnn_value *given);

/* ---- cores ------------------------------------------------------------------------------------- */

/* These cores as a set in the normal cut. */
tt_status tt_cores_set(const ttnn_core_set **out, const struct ttnn_core *cores, size_t count);

/* The first `count` cores of a set, counted in this order. */
tt_status tt_cores_first(const ttnn_core_set **out, const ttnn_core_set *set, uint64_t count,
			 enum ttnn_orientation order);

/*
 * The cores that should work on a sharded tensor: those that hold data, or for one in DRAM those
 * that are closest to the banks that do.
 */
tt_status tt_cores_near(const ttnn_core_set **out, const struct tt_tensor *tensor);

/* The width and height of a set that is one rectangle from (0, 0): the grid of a launch. */
struct ttnn_core tt_grid_size(const ttnn_core_set *grid);

/*
 * `units` of work shared out column by column: among the cores that were given, or those of the launch's grid.
 */
tt_status tt_split_among(struct tt_work_split *out, const struct tt_launch *launch,
			 const struct ttnn_value *cores, uint64_t units);

/* Cores for `units` of work, column by column, on the launch's grid. */
tt_status tt_cores_for(const ttnn_core_set **out, const struct tt_launch *launch, uint64_t units);

/* ---- tensors on the way -------------------------------------------------------------------------- */

/*
 * What one step of an operation makes on its way. Operations that are made of others, which again
 * have such steps, must give things up where upstream does, or addresses would differ: not when the
 * call ends, as with tt_call_own(), but when the step does.
 */
struct tt_temps {
	struct tt_call *call;
	struct tt_tensor *tensors[8];
	uint32_t count;
};

/* The tensor is given up when the step ends. Returns its argument. At most eight. */
struct tt_tensor *tt_temps_keep(struct tt_temps *temps, struct tt_tensor *tensor);

/* Gives up all, newest first; returns status. */
tt_status tt_temps_end(struct tt_temps *temps, tt_status status);

/* ---- other operations ---------------------------------------------------------------------------- */

/* ttnn::reshape(); a NULL padded shape is not given, sub_cores may be NULL. *out is the caller's. */
struct tt_reshape_args {
	struct tt_tensor *in;
	const struct ttnn_shape *shape, *padded;
	const ttnn_core_set *sub_cores;
};
tt_status tt_call_reshape(struct tt_tensor **out, struct tt_call *call,
			  const struct tt_reshape_args *args);

/* The tensor with its outer dimensions folded until four are left: itself, or a reshaped one. */
tt_status tt_call_fold_to_4d(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			     const ttnn_core_set *sub_cores);

/* Exactly four dimensions, whatever the rank: tt_call_to_4d() or tt_call_fold_to_4d(). */
tt_status tt_call_in_4d(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in);

/* Memory configs: blocks of DRAM banks; shards that cut rows, not only between them. */
static inline bool tt_is_dram_blocks(const struct ttnn_memory_config *memory)
{
	return memory->layout == TTNN_BLOCK_SHARDED && memory->buffer == TTNN_DRAM;
}
static inline bool tt_is_cut_across(const struct ttnn_memory_config *memory)
{
	return memory->layout == TTNN_WIDTH_SHARDED || memory->layout == TTNN_BLOCK_SHARDED;
}

/* The shape with its outer extents multiplied until `rank` are left. */
struct ttnn_shape tt_shape_folded(const struct ttnn_shape *shape, uint32_t rank);

/* Into the tensor that was given, if any, where it is not there. Takes over the result's reference. */
tt_status tt_call_into(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *given,
		       struct tt_tensor *result);

/*
 * *next takes the place of *tensor, which is given up as by an assignment; after a failure there is no
 * next one, *tensor is given up as by a destructor and becomes NULL. Returns the status, so that a step
 * can be the argument.
 */
tt_status tt_call_replace(struct tt_tensor **tensor, struct tt_call *call, tt_status status,
			  struct tt_tensor *const *next);

/* How a tensor is reordered; dims has the tensor's rank. */
struct tt_permute_args {
	struct tt_tensor *in;
	const uint32_t *dims;
	const struct ttnn_memory_config *memory; /* NULL: not given */
	double pad_value;
};

/* ttnn::permute() in a scope of its own. */
tt_status tt_call_permute(struct tt_tensor **out, struct tt_call *call,
			  const struct tt_permute_args *args);

/* Launches the program that reorders any dimensions; memory is given. */
tt_status tt_permute_launch(struct tt_tensor **out, struct tt_call *call,
			    const struct tt_permute_args *args);

/* ttnn::transpose() in a scope of its own; dims are the two to swap. */
tt_status tt_call_transpose(struct tt_tensor **out, struct tt_call *call,
			    const struct tt_permute_args *args);

/* ttnn::typecast() in a scope of its own. */
tt_status tt_call_cast(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
		       enum ttnn_dtype dtype);

/* ttnn::slice() with steps of 1, in a scope of its own; both shapes have the tensor's rank. */
struct tt_part {
	struct tt_tensor *in;
	const struct ttnn_shape *begin, *end;
	const struct ttnn_memory_config *memory; /* (optional) */
};
tt_status tt_call_slice(struct tt_tensor **out, struct tt_call *call, const struct tt_part *part);

/* The buffers and refusals of the program that takes a part, for one that has it as its own. Plan NULL: refusals alone. */
tt_status tt_slice_plan(struct tt_plan *plan, const struct tt_launch *launch,
			const struct tt_part *part);

/* Another layout on the host, recorded as Tensor::to_layout; block floats have no rows and stay. */
tt_status tt_host_to_layout(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			    enum ttnn_layout layout);

/* The scope "Tensor::pad": a host tensor with padding of this value around it. */
tt_status tt_host_pad(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
		      const struct ttnn_shape *const shapes[2], double value);

/* ---- other shapes over the same buffer (buffer_view.c) -------------------------------------------- */

/*
 * The bytes of a tensor under another shape with this padding, in a scope "Tensor::reshape". What the
 * elements then are is the caller's concern; only the size is checked, and that shards allow it.
 */
tt_status tt_call_view(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
		       const struct ttnn_shape *shape, const struct ttnn_shape *padded);

/* The same under a shape alone, padded as its layout wants it: recorded with the shape twice. */
tt_status tt_call_view_to(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			  const struct ttnn_shape *shape);

/* The same with the padding that the layout demands; the tensor itself when nothing changes. */
tt_status tt_call_perform_view(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			       const struct ttnn_shape *shape, const struct ttnn_shape *padded);

/* The shape with its last two extents rounded up to tiles of 32 × 32; at least two dimensions. */
struct ttnn_shape tt_shape_in_tiles(const struct ttnn_shape *shape);

/* ---- running ------------------------------------------------------------------------------------- */

/* What a copy is to be. */
struct tt_shard_want {
	struct tt_tensor *in, *out; /* out: given, or NULL */
	const struct ttnn_memory_config *memory;
	enum ttnn_dtype dtype;
};

/* Launches CopyDeviceOperation: any layout, memory and type to any other. */
tt_status tt_copy_launch(struct tt_tensor **out, struct tt_call *call,
			 const struct tt_shard_want *want);

/* A program with one input that has the values of its input, element by element. */
tt_status tt_kernel_copy(struct tt_launch *launch);

/* out = in, of the same shape. */
tt_status tt_move_copy(struct tt_tensor *out, struct tt_tensor *in);

/* out = in with dimensions in another order: dimension d of out is dimension dims[d] of in. */
tt_status tt_move_permute(struct tt_tensor *out, struct tt_tensor *in, const uint32_t *dims);

/*
 * Copies a block of `extent` from in at in_start (steps apart in_step) to out at out_start. All have
 * the rank of both tensors; NULL starts are all 0, a NULL in_step all 1.
 */
struct tt_move_block {
	const uint32_t *extent;
	const int64_t *in_start, *in_step, *out_start;
};
tt_status tt_move_part(struct tt_tensor *out, struct tt_tensor *in,
		       const struct tt_move_block *block);

/* What PaddedSliceDeviceOperation needs of L1: for rows, for tiles. Its only input is read, its only output is in shards. */
#define TT_PADDED_SLICE_FACTORIES 2
extern const struct tt_factory tt_padded_slice_factories[TT_PADDED_SLICE_FACTORIES];

#endif
