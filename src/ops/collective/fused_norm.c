/*
 * fused_norm.c: dit_fused_distributed_rmsnorm and _layernorm, norms of rows that lie across the chips of a row or column of
 * the mesh, scaled, cut into heads and rotated by position in one program; and the buffers they gather sums in.
 *
 * Models DitFusedDistributedRmsnormDeviceOperation of ttnn 0.81: specs, refusals, how many cores work and pass on, and
 * their buffers. Without a group, or for heads that are brought to a scale each, one program does all. Not modelled:
 * affine_tile_row_map, and the order in which sums travel.
 */
#include "backend/backend.h"
#include "device/device.h"
#include "device/devtensor.h"
#include "golden/golden_fused.h"
#include "ops/collective/fused.h"
#include "ops/compute.h"
#include "ops/op_enums.h"
#include "ops/usual.h"

#define ATTRS(X)                                                                                   \
	X(EPSILON, "epsilon")                                                                      \
	X(HEADS, "num_heads_per_device")                                                           \
	X(PER_HEAD, "per_head_norm")                                                               \
	X(LAYER, "norm_type")                                                                      \
	X(DTYPE, "dtype")                                                                          \
	X(MEMORY, "output_mem_config")                                                             \
	X(AXIS, "cluster_axis")                                                                    \
	X(LINKS, "num_links")                                                                      \
	X(SIZE, "ring_size")                                                                       \
	X(TOPOLOGY, "topology")                                                                    \
	X(COMPUTE, "compute_kernel_config")                                                        \
	X(SIGNALS, "multi_device_global_semaphore", .unkeyed = true)
TT_ATTRS(schema, "<DitFusedDistributedRmsnormParams>", ATTRS);

enum { IN, WEIGHT, BIAS, MATRIX, COS, SIN, STATS, RECIPROCALS, INPUTS };

#define PACKET 4352u /* bytes that go through the fabric at once */
#define STICK 128u   /* a sum for each row of a tile, in float32 */
#define FEW_ROWS 4u  /* fewer tile rows than these are one core's */

/* ---- how work is cut ------------------------------------------------------------------------------------------------- */

struct cut {
	uint32_t rows, columns;    /* tiles */
	uint32_t workers, senders; /* cores; none sends when nothing is gathered */
	uint32_t sums;             /* of a row: squares, or mean and variance */
	uint32_t sticks;           /* in a packet */
	uint32_t pages;            /* of the buffer that sums are gathered in */
};

/* What the cut depends on. */
struct wish {
	const struct tt_device *device;
	const struct ttnn_tensor_spec *in;
	uint32_t links, size;
	bool layer, per_head;
};

/* Whole rows of the grid work where there are so many; a packet has room for a sum of each worker. */
static uint32_t most_workers(const struct wish *wish, uint32_t sticks)
{
	struct ttnn_core grid = wish->device->info.compute_grid;
	uint32_t cores = grid.x * grid.y;
	uint32_t left = cores > wish->links ? cores - wish->links : 1;
	uint32_t most = left / grid.x * grid.x;

	most = most ? most : left;
	return most < sticks * wish->links ? most : sticks * wish->links;
}

static struct cut cut_of(const struct wish *wish)
{
	uint32_t width = tt_shape_last(&wish->in->padded, 1);
	struct cut cut = {.columns = width / TT_TILE, .sums = wish->layer ? 2 : 1};
	uint64_t volume = 1;

	for (uint32_t i = 0; i + 1 < wish->in->padded.rank; i++)
		volume *= wish->in->padded.dim[i];
	cut.rows = (uint32_t)(volume / TT_TILE);
	cut.sticks = PACKET / (STICK * cut.sums);
	if (wish->size == 1 || wish->per_head) {
		uint32_t cores = (uint32_t)ttnn_core_set_cores(wish->device->grid);

		cut.workers = cut.rows < cores ? cut.rows : cores;
		return cut;
	}
	cut.workers = most_workers(wish, cut.sticks);
	cut.workers = cut.rows < FEW_ROWS ? 1 : cut.rows < cut.workers ? cut.rows : cut.workers;
	cut.senders = wish->links < cut.workers ? wish->links : cut.workers;
	cut.pages = wish->size * cut.senders * (uint32_t)tt_div_up(cut.rows, cut.workers);
	return cut;
}

static tt_status stats_spec(struct ttnn_tensor_spec *out, const struct cut *cut)
{
	static const struct ttnn_memory_config dram = {.buffer = TTNN_DRAM};

	return tt_spec_simple(out, &TT_SHAPE(1, 1, cut->pages, cut->sticks * cut->sums * TT_TILE),
			      TTNN_FLOAT32, TTNN_ROW_MAJOR, &dram);
}

static bool layer(const struct tt_launch *launch)
{
	return launch->attrs[LAYER].integer != 0;
}

static bool per_head(const struct tt_launch *launch)
{
	return launch->attrs[PER_HEAD].boolean;
}

static struct cut cut_for(const struct tt_launch *launch)
{
	return cut_of(&(struct wish){.device = launch->device,
				     .in = &launch->inputs[IN]->spec,
				     .links = tt_attr_u32(launch, LINKS),
				     .size = tt_attr_u32(launch, SIZE),
				     .layer = layer(launch),
				     .per_head = per_head(launch)});
}

static bool gathers(const struct tt_launch *launch)
{
	return tt_attr_u32(launch, SIZE) > 1 && !per_head(launch);
}

/* ---- specs and refusals ---------------------------------------------------------------------------------------------------- */

/* Heads take the place of batches, which are then rows. */
static tt_status norm_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec;
	const struct ttnn_value *dtype = &launch->attrs[DTYPE];
	uint32_t heads = tt_attr_u32(launch, HEADS);
	struct ttnn_shape shape = in->shape;
	struct ttnn_tensor_spec stats;
	struct cut cut;

	TT_NEED(shape.rank == 4, "Input rank must be 4, got %u", shape.rank);
	TT_NEED(heads && shape.dim[3] / heads, "num_heads_per_device must be >= 1");
	if (heads > 1) {
		shape.dim[2] *= shape.dim[1];
		shape.dim[1] = heads;
		shape.dim[3] /= heads;
	}
	TT_TRY(tt_spec_simple(&launch->specs[0], &shape,
			      tt_value_given(dtype) ? (enum ttnn_dtype)dtype->integer : in->dtype,
			      TTNN_TILE, launch->attrs[MEMORY].memory));
	if (!gathers(launch) || !launch->inputs[STATS])
		return TTNN_OK;
	launch->output_count = 2;
	cut = cut_for(launch);
	TT_NEED(cut.pages, "there are no rows to bring to a scale");
	TT_TRY(stats_spec(&stats, &cut));
	launch->specs[1] = stats;
	return TTNN_OK;
}

static tt_status check_layer(const struct tt_launch *launch)
{
	struct tt_tensor *const *in = launch->inputs;
	const struct tt_tensor *table = in[RECIPROCALS];

	if (!layer(launch))
		return TTNN_OK;
	TT_REQUIRE(in[IN]->spec.dtype == TTNN_BFLOAT16, "input.dtype() == DataType::BFLOAT16",
		   "LayerNorm currently requires BFLOAT16 input; got DataType::%s",
		   ttnn_dtype_name(in[IN]->spec.dtype, TTNN_DIALECT_TT_METAL));
	TT_REQUIRE(!in[MATRIX] && !in[COS] && !in[SIN],
		   "!trans_mat.has_value() && !rope_cos.has_value() && !rope_sin.has_value()",
		   "LayerNorm does not support fused RoPE yet");
	if (!table)
		return TTNN_OK;
	TT_REQUIRE(table->spec.dtype == TTNN_FLOAT32, "recip.dtype() == DataType::FLOAT32",
		   "reciprocals must be FLOAT32, got DataType::%s",
		   ttnn_dtype_name(table->spec.dtype, TTNN_DIALECT_TT_METAL));
	TT_REQUIRE(table->spec.layout == TTNN_ROW_MAJOR, "recip.layout() == Layout::ROW_MAJOR",
		   "reciprocals must be ROW_MAJOR, got Layout::TILE");
	TT_REQUIRE(tt_shape_last(&table->spec.shape, 1) == in[IN]->spec.shape.dim[3],
		   "recip.logical_shape()[-1] == input.logical_shape()[3]",
		   "reciprocals last dim (%u) must equal per-device H (%u)",
		   tt_shape_last(&table->spec.shape, 1), in[IN]->spec.shape.dim[3]);
	return TTNN_OK;
}

static tt_status check_input(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec;
	uint32_t heads = tt_attr_u32(launch, HEADS);

	TT_REQUIRE(in->layout == TTNN_TILE, "input.layout() == Layout::TILE",
		   "Input layout must be TILE, got Layout::ROW_MAJOR");
	TT_REQUIRE(in->dtype == TTNN_BFLOAT16 || in->dtype == TTNN_FLOAT32,
		   "input.dtype() == DataType::BFLOAT16 || input.dtype() == DataType::FLOAT32",
		   "Input dtype must be BFLOAT16 or FLOAT32, got DataType::%s",
		   ttnn_dtype_name(in->dtype, TTNN_DIALECT_TT_METAL));
	TT_REQUIRE(in->shape.dim[0] == 1, "shape[0] == 1",
		   "Input dim0 must be 1 (shape [1, batch, N, H]); got %u", in->shape.dim[0]);
	TT_REQUIRE(in->shape.dim[1] == 1 || !per_head(launch), "!args.per_head_norm",
		   "Batched input (dim1=%u) does not support per_head_norm", in->shape.dim[1]);
	TT_REQUIRE(in->shape.dim[3] % heads == 0, "shape[3] % args.num_heads_per_device == 0",
		   "Input H (%u) must be divisible by num_heads_per_device (%u)", in->shape.dim[3],
		   heads);
	TT_REQUIRE(in->padded.dim[3] == in->shape.dim[3], "padded[3] == shape[3]",
		   "Input last logical dim (%u) must equal padded last dim (%u)", in->shape.dim[3],
		   in->padded.dim[3]);
	TT_NEED(in->shape.dim[3] / heads % TT_TILE == 0 && in->pages,
		"a head is whole tiles wide, and there are rows");
	return TTNN_OK;
}

/* A row for all, for each batch, or for each row: of a weight or a bias. */
static tt_status check_affine(const struct tt_launch *launch, int which, const char *name)
{
	const struct tt_tensor *tensor = launch->inputs[which];
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec;
	uint32_t rows = tensor ? tt_shape_last(&tensor->spec.shape, 2) : 1;

	if (!tensor)
		return TTNN_OK;
	TT_REQUIRE(in->shape.dim[1] == 1 || rows == 1, "!pt_w && !pt_b",
		   "Batched input (dim1=%u) does not support per-token ([.,N,H]) weight/bias yet "
		   "(the per-token reader indexes by the global folded row)",
		   in->shape.dim[1]);
	TT_REQUIRE(tensor->spec.layout == TTNN_TILE, "layout() == Layout::TILE",
		   "%s layout must be TILE", name);
	TT_REQUIRE(tensor->spec.dtype == TTNN_BFLOAT16 || tensor->spec.dtype == TTNN_FLOAT32,
		   "dtype() == DataType::BFLOAT16 || dtype() == DataType::FLOAT32",
		   "%s dtype must be BFLOAT16 or FLOAT32, got DataType::%s", name,
		   ttnn_dtype_name(tensor->spec.dtype, TTNN_DIALECT_TT_METAL));
	TT_REQUIRE(tt_shape_last(&tensor->spec.padded, 1) == in->padded.dim[3],
		   "padded_shape()[-1] == padded[3]",
		   "%s last dim (%u) must equal input H per device (%u)", name,
		   tt_shape_last(&tensor->spec.padded, 1), in->padded.dim[3]);
	TT_REQUIRE(rows == 1 || rows == in->shape.dim[2], "w_n == 1 || w_n == shape[2]",
		   "%s second-to-last logical dim (%u) must be 1 (broadcast) or N (%u) for "
		   "per-token",
		   name, rows, in->shape.dim[2]);
	for (uint32_t back = 3; back <= tensor->spec.shape.rank; back++) {
		uint32_t own = tt_shape_last(&tensor->spec.shape, back);

		TT_NEED(own == 1 || own == tt_shape_last(&in->shape, back),
			"%s has %u in dimension -%u, which fits no batch", name, own, back);
	}
	return TTNN_OK;
}

static tt_status check_rotation(const struct tt_launch *launch)
{
	struct tt_tensor *const *in = launch->inputs;
	const uint32_t *own, *whole = in[IN]->spec.shape.dim;
	uint32_t heads = tt_attr_u32(launch, HEADS);

	TT_REQUIRE((!in[MATRIX] && !in[COS] && !in[SIN]) || (in[MATRIX] && in[COS] && in[SIN]),
		   "!rope_present || rope_complete",
		   "RoPE requires transformation_mat, rope_cos, and rope_sin all to be provided "
		   "together");
	if (!in[COS])
		return TTNN_OK;
	if (!ttnn_shape_equal(&in[COS]->spec.shape, &in[SIN]->spec.shape))
		return tt_fail_shapes(TTNN_INVALID, "cos_shape == sin_shape",
				      "rope_cos and rope_sin must have the same shape (%s vs %s)",
				      &in[COS]->spec.shape, &in[SIN]->spec.shape);
	TT_REQUIRE(in[COS]->spec.shape.rank == 4, "cos_shape.rank() == 4",
		   "rope_cos must be 4D, got rank %u", in[COS]->spec.shape.rank);
	own = in[COS]->spec.shape.dim;
	TT_REQUIRE(own[1] == 1 || own[1] == heads,
		   "cos_shape[1] == 1 || cos_shape[1] == args.num_heads_per_device",
		   "rope_cos dim 1 (%u) must be 1 (broadcast across heads) or num_heads_per_device "
		   "(%u)",
		   own[1], heads);
	TT_REQUIRE(own[0] == 1 || own[0] == whole[1], "cos_shape[0] == 1 || cos_shape[0] == batch",
		   "rope_cos dim 0 (%u) must be 1 (broadcast across the input batch) or the input "
		   "batch (%u)",
		   own[0], whole[1]);
	TT_REQUIRE(own[2] == whole[2], "cos_shape[2] == shape[2]",
		   "rope_cos seq dim (%u) must equal input N (%u) — the reader indexes cos/sin by "
		   "the within-batch seq row",
		   own[2], whole[2]);
	TT_NEED(own[3] == whole[3] / heads &&
			tt_shape_last(&in[MATRIX]->spec.shape, 1) == TT_TILE &&
			tt_shape_last(&in[MATRIX]->spec.shape, 2) == TT_TILE &&
			in[MATRIX]->spec.pages == 1,
		"rope_cos is as wide as a head, and transformation_mat a tile");
	return TTNN_OK;
}

/* The buffer for sums is as create_stats_buffer makes it. */
static tt_status check_stats(const struct tt_launch *launch)
{
	const struct tt_tensor *given = launch->inputs[STATS];
	const struct ttnn_value *signals = &launch->attrs[SIGNALS];
	const struct ttnn_shape *want = &launch->specs[1].shape, *own;

	if (!gathers(launch))
		return TTNN_OK;
	TT_REQUIRE(signals->kind != TTNN_VALUE_LIST || signals->count,
		   "!args.multi_device_global_semaphore.empty()",
		   "multi_device_global_semaphore must be non-empty when ring_size > 1");
	own = &given->spec.shape;
	TT_REQUIRE(given->spec.layout == TTNN_ROW_MAJOR, "buf.layout() == expected.layout()",
		   "persistent_output_buffer layout must be Layout::ROW_MAJOR (got Layout::TILE)");
	TT_REQUIRE(given->spec.dtype == TTNN_FLOAT32, "buf.dtype() == expected.data_type()",
		   "persistent_output_buffer dtype must be DataType::FLOAT32 (got DataType::%s)",
		   ttnn_dtype_name(given->spec.dtype, TTNN_DIALECT_TT_METAL));
	TT_REQUIRE(given->spec.memory.buffer == TTNN_DRAM,
		   "buf.memory_config().buffer_type() == expected.memory_config().buffer_type()",
		   "persistent_output_buffer must be in DRAM");
	TT_REQUIRE(
		given->spec.memory.layout == TTNN_INTERLEAVED,
		"buf.memory_config().memory_layout() == expected.memory_config().memory_layout()",
		"persistent_output_buffer must be INTERLEAVED");
	TT_REQUIRE(own->rank == 4, "b_shape.rank() == 4",
		   "persistent_output_buffer rank must be 4 (got %u)", own->rank);
	TT_REQUIRE(ttnn_shape_equal(own, want),
		   "b_shape[0] == e_shape[0] && b_shape[1] == e_shape[1] && b_shape[2] == "
		   "e_shape[2] && b_shape[3] == e_shape[3]",
		   "persistent_output_buffer shape must be [1, 1, %u, %u], got [%u, %u, %u, %u]",
		   want->dim[2], want->dim[3], own->dim[0], own->dim[1], own->dim[2], own->dim[3]);
	return TTNN_OK;
}

static tt_status norm_validate(struct tt_launch *launch)
{
	TT_REQUIRE(!gathers(launch) || launch->inputs[STATS],
		   "tensor_args.persistent_output_buffer.has_value()",
		   "persistent_output_buffer is required for TP>1 with multiple workers");
	TT_TRY(check_layer(launch));
	TT_TRY(check_input(launch));
	TT_TRY(check_affine(launch, WEIGHT, "Weight"));
	TT_TRY(check_affine(launch, BIAS, "Bias"));
	TT_TRY(check_rotation(launch));
	TT_REQUIRE(tt_attr_u32(launch, LINKS) >= 1, "args.num_links >= 1",
		   "num_links must be >= 1");
	TT_REQUIRE(!per_head(launch) || tt_attr_u32(launch, HEADS) > 1,
		   "args.num_heads_per_device > 1",
		   "per_head_norm requires num_heads_per_device > 1 (got %u)",
		   tt_attr_u32(launch, HEADS));
	TT_TRY(check_stats(launch));
	TT_REQUIRE(tt_compute_has(&launch->attrs[COMPUTE], TT_COMPUTE_FP32), "fp32_dest_acc_en",
		   "dit_fused_distributed_rmsnorm requires fp32_dest_acc_en=true in the compute "
		   "kernel config (internals are always fp32); got fp32_dest_acc_en=false.");
	return TTNN_OK;
}

/* ---- program memory ---------------------------------------------------------------------------------------------------------- */

/* Cores `first` to before `end` of the grid, row by row. */
static tt_status grid_cores(const ttnn_core_set **out, const struct tt_launch *launch,
			    uint32_t first, uint32_t count)
{
	struct ttnn_core start = tt_core_set_at(launch->device->grid, first, TTNN_ORIENT_ROW_MAJOR);

	return tt_split_cores_in(out, launch->device->grid, start, count, TTNN_ORIENT_ROW_MAJOR);
}

static uint64_t tile_of(const struct tt_tensor *tensor, enum ttnn_dtype otherwise)
{
	return tt_tile_bytes_of(tensor ? tensor->spec.dtype : otherwise);
}

/* What of a row waits on a core: all of it, or blocks where it is too long. */
struct room {
	uint64_t block, row; /* tiles */
	uint64_t input, between, result;
};

/* Bytes of L1 that upstream leaves for other things: in its sums, and below the lowest tensor. */
#define OVERHEAD 196608u
#define BUDGET 1572864u
#define SMALL 225000u
#define RESERVED 112640u

static void find_room(struct room *out, const struct tt_launch *launch, const struct cut *cut)
{
	struct tt_tensor *const *in = launch->inputs;
	const struct ttnn_value *compute = &launch->attrs[COMPUTE];
	uint64_t block = tt_compute_tiles(compute), row = tt_div_up(cut->columns, block) * block;
	uint64_t own = tile_of(in[IN], 0), result = tile_of(launch->outputs[0], 0);
	uint64_t between = tt_tile_bytes_of(
		tt_compute_has(compute, TT_COMPUTE_FP32) ? TTNN_FLOAT32 : TTNN_BFLOAT16);
	uint64_t weight = in[WEIGHT] ? cut->columns * tile_of(in[WEIGHT], 0) : 0;
	uint64_t bias = in[BIAS] ? cut->columns * tile_of(in[BIAS], 0) : 0;
	bool table = layer(launch) && in[RECIPROCALS], blocks, after;
	uint64_t more = (table ? cut->columns * STICK : 0) +
			(layer(launch) ? 2 * tt_tile_bytes_of(TTNN_FLOAT32) : 0);
	uint64_t kept = row * (between + 2 * result) + weight + bias;

	blocks = !per_head(launch) &&
		 2 * cut->columns * own + 2 * row * (between + result) + weight + OVERHEAD + more >
			 BUDGET;
	if (per_head(launch))
		kept += row * between + 2 * cut->columns * own;
	else if (in[COS] || layer(launch))
		kept += row * between;
	after = kept + SMALL > launch->device->info.l1_size - RESERVED - more ||
		(table && gathers(launch) && cut->columns >= 56);
	blocks |= after && !per_head(launch);
	*out = (struct room){.block = block, .row = row};
	out->input = blocks ? (gathers(launch) ? 2 : 4) * block : 2ull * cut->columns;
	out->between = (per_head(launch) ? after : blocks) ? 2 * block : row;
	out->result = 2 * out->between;
}

static tt_status norm_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *const *in = launch->inputs;
	uint32_t size = tt_attr_u32(launch, SIZE), heads = tt_attr_u32(launch, HEADS);
	uint64_t full = tt_tile_bytes_of(TTNN_FLOAT32), half = tt_tile_bytes_of(TTNN_BFLOAT16);
	bool fp32 = tt_compute_has(&launch->attrs[COMPUTE], TT_COMPUTE_FP32);
	bool table = layer(launch) && in[RECIPROCALS];
	const ttnn_core_set *workers, *senders = NULL;
	struct cut cut = cut_for(launch);
	uint64_t angles = 1, between = fp32 ? full : half;
	struct room room;

	TT_NEED(cut.workers, "there are no rows to bring to a scale");
	find_room(&room, launch, &cut);
	if (in[COS])
		angles = in[COS]->spec.shape.dim[1] == heads ? cut.columns : cut.columns / heads;
	TT_TRY(grid_cores(&workers, launch, 0, cut.workers));
	if (cut.senders)
		TT_TRY(grid_cores(&senders, launch, cut.workers, cut.senders));
	return TT_PLAN(
		plan, workers,
		TT_CB_ROW(0, "input", .pages = room.input, .page = tile_of(in[IN], 0)),
		TT_CB_ROW(1, "stats_local", .pages = 1, .page = full),
		TT_CB_ROW(2, "stats_gathered", .pages = per_head(launch) ? heads : size,
			  .page = full),
		TT_CB_ROW(16, "stats_transposed_local", .pages = cut.sums, .page = full),
		TT_CB_ROW(19, "stats_transposed_gathered", .pages = senders ? size * cut.sums : 1,
			  .page = full),
		TT_CB_ROW(17, "packet", .pages = senders ? 2 : 0,
			  .page = cut.sticks * cut.sums * STICK, .cores = launch->device->grid),
		TT_CB_ROW(3, "weight", .pages = in[WEIGHT] ? cut.columns : 1,
			  .page = tile_of(in[WEIGHT], TTNN_BFLOAT16)),
		TT_CB_ROW(20, "bias", .pages = in[BIAS] ? cut.columns : 1,
			  .page = tile_of(in[BIAS], TTNN_BFLOAT16)),
		TT_CB_ROW(18, "reciprocals", .pages = 1, .page = table ? cut.columns * STICK : 4),
		TT_CB_ROW(21, "welford_zero", .pages = layer(launch) ? 2 : 1, .page = full),
		TT_CB_ROW(4, "reduce_scalar_sum", .pages = 1, .page = full),
		TT_CB_ROW(5, "reduce_scalar_avg", .pages = 1, .page = full),
		TT_CB_ROW(6, "epsilon", .pages = 1, .page = half),
		TT_CB_ROW(7, "reduce_result", .pages = 1, .page = full),
		TT_CB_ROW(9, "pre_intermediate", .pages = 1, .page = full),
		TT_CB_ROW(11, "transformation_mat", .pages = 1, .page = half),
		TT_CB_ROW(12, "rope_cos", .pages = angles, .page = tile_of(in[COS], TTNN_FLOAT32)),
		TT_CB_ROW(13, "rope_sin", .pages = angles, .page = tile_of(in[COS], TTNN_FLOAT32)),
		TT_CB_ROW(8, "intermediate", .pages = room.between, .page = between),
		TT_CB_ROW(14, "rotated_input", .pages = room.between, .page = between),
		TT_CB_ROW(10, "output", .pages = room.result,
			  .page = tile_of(launch->outputs[0], 0)),
		TT_CB_ROW(15, "packet_header", .pages = senders ? 4 : 1, .page = senders ? 48 : 4,
			  .cores = senders));
}

/* ---- numbers -------------------------------------------------------------------------------------------------------------------- */

static struct tt_norm_job norm_of(const struct tt_launch *launch)
{
	return (struct tt_norm_job){.kind = layer(launch) ? TT_NORM_LAYER : TT_NORM_RMS,
				    .epsilon = launch->attrs[EPSILON].real};
}

/* The chip's part of rows that were brought to a scale as a whole; or of those whose heads are still to be. */
static tt_status own_rows(struct tt_tensor **out, const struct tt_launch *launch, uint32_t chip,
			  const struct tt_group *group)
{
	const struct tt_group alone = {.chips = {chip}, .count = 1};
	struct tt_share part = tt_share_whole(launch, 3);

	if (!per_head(launch))
		return tt_part_norm(out, launch, gathers(launch) ? group : &alone, norm_of(launch));
	TT_TRY(tt_scratch_f32(out, &launch->inputs[IN]->spec.shape));
	return tt_share_receive(*out, launch, chip, &part);
}

/* Columns as heads, in front of batches and rows. */
static tt_status by_heads(struct tt_tensor **out, const struct tt_launch *launch,
			  struct tt_tensor *in)
{
	const uint32_t *dim = in->spec.shape.dim;
	uint32_t heads = tt_attr_u32(launch, HEADS), width = dim[3] / heads;
	const struct tt_move_loop loops[] = {{heads, 3, 0, width, 1},
					     {dim[1], 1, 1, 1, 1},
					     {dim[2], 2, 2, 1, 1},
					     {width, 3, 3, 1, 1}};

	TT_TRY(tt_scratch_f32(out, &TT_SHAPE(heads, dim[1], dim[2], width)));
	return tt_backend_get()->move(
		&(struct tt_move_job){.out = *out, .in = in, .loops = loops, .loop_count = 4});
}

/* A table of angles as large as the heads: for all of them, or for each. */
static tt_status spread_angles(struct tt_tensor **out, struct tt_tensor *table,
			       const struct ttnn_shape *shape)
{
	const uint32_t *own = table->spec.shape.dim;
	const struct tt_move_loop loops[] = {
		{shape->dim[0], own[1] > 1 ? 1 : -1, 0, 1, 1},
		{shape->dim[1], own[0] > 1 ? 0 : -1, 1, 1, 1},
		{shape->dim[2], 2, 2, 1, 1},
		{shape->dim[3], 3, 3, 1, 1},
	};

	TT_TRY(tt_scratch_f32(out, shape));
	return tt_backend_get()->move(
		&(struct tt_move_job){.out = *out, .in = table, .loops = loops, .loop_count = 4});
}

/* x cos + (x matrix) sin; the matrix turns 32 columns at a time. */
static tt_status rotate(struct tt_tensor *heads, struct tt_tensor *const in[3])
{
	const struct ttnn_shape *shape = &heads->spec.shape;
	uint32_t rows = shape->dim[0] * shape->dim[1] * shape->dim[2];
	const struct ttnn_shape flat = TT_SHAPE(rows * (shape->dim[3] / TT_TILE), TT_TILE);
	struct tt_tensor *cos, *sin, *before, *after, *turned, *matrix;
	const struct tt_backend *backend = tt_backend_get();
	const struct tt_move_loop loops[] = {
		{TT_TILE, (int32_t)in[0]->spec.shape.rank - 2, 0, 1, 1},
		{TT_TILE, (int32_t)in[0]->spec.shape.rank - 1, 1, 1, 1}};

	TT_TRY(tt_scratch_f32(&before, &flat));
	TT_TRY(tt_scratch_f32(&after, &flat));
	TT_TRY(tt_scratch_f32(&matrix, &TT_SHAPE(TT_TILE, TT_TILE)));
	TT_TRY(tt_scratch_f32(&turned, shape));
	TT_TRY(backend->move(&(struct tt_move_job){
		.out = matrix, .in = in[0], .loops = loops, .loop_count = 2}));
	TT_TRY(backend->reshape(before, heads));
	TT_TRY(backend->matmul(
		&(struct tt_matmul_job){.out = after, .a = before, .b = matrix, .alpha = 1}));
	TT_TRY(backend->reshape(turned, after));
	TT_TRY(spread_angles(&cos, in[1], shape));
	TT_TRY(spread_angles(&sin, in[2], shape));
	TT_TRY(tt_part_combine(heads, cos, TT_BINARY_MUL));
	TT_TRY(tt_part_combine(turned, sin, TT_BINARY_MUL));
	return tt_part_combine(heads, turned, TT_BINARY_ADD);
}

static tt_status serve_norm(struct tt_tensor *out, const struct tt_launch *launch, uint32_t chip,
			    const struct tt_group *group)
{
	struct tt_tensor *in[INPUTS] = {NULL}, *values, *heads;

	for (int i = WEIGHT; i <= SIN; i++)
		TT_TRY(tt_part_here(&in[i], launch->inputs[i], chip));
	TT_TRY(own_rows(&values, launch, chip, group));
	if (per_head(launch)) {
		struct tt_tensor *rows = values;
		const uint32_t *dim = rows->spec.shape.dim;
		uint32_t count = tt_attr_u32(launch, HEADS);

		/* Heads are rows of their own, and columns again for what they are scaled by. */
		TT_TRY(tt_scratch_f32(&heads, &TT_SHAPE(dim[1], dim[2], count, dim[3] / count)));
		TT_TRY(tt_backend_get()->reshape(heads, rows));
		TT_TRY(tt_part_normed(&heads, norm_of(launch)));
		TT_TRY(tt_backend_get()->reshape(rows, heads));
	}
	TT_TRY(tt_part_combine(values, in[WEIGHT], TT_BINARY_MUL));
	TT_TRY(tt_part_combine(values, in[BIAS], TT_BINARY_ADD));
	TT_TRY(by_heads(&heads, launch, values));
	if (in[COS])
		TT_TRY(rotate(heads, &in[MATRIX]));
	TT_TRY(tt_scratch_f32(&values, &out->spec.shape));
	TT_TRY(tt_backend_get()->reshape(values, heads));
	return tt_backend_get()->map(&(struct tt_map_job){.out = out, .arity = 1, .in = {values}});
}
TT_SERVE(norm, 0)

/* ---- programs ----------------------------------------------------------------------------------------------------------------------- */

#define PROGRAM                                                                                    \
	.device_op = "DitFusedDistributedRmsnormDeviceOperation",                                  \
	.prim = "ttnn::prim::dit_fused_distributed_rmsnorm", .attrs = &schema,                     \
	.infer = norm_infer, .validate = norm_validate,                                            \
	TT_FACTORY("ttnn::experimental::prim::DitFusedDistributedRmsnormMeshWorkloadFactory",      \
		   norm_memory),                                                                   \
	TT_KERNEL(norm_kernel), .together = true, .drops_forward = true
static const struct tt_prog gathering_program = {PROGRAM, .per_chip = true};
static const struct tt_prog own_program = {PROGRAM};

/* ---- calls -------------------------------------------------------------------------------------------------------------------------- */

/* How many chips share a row: one, where no axis is named. */
static uint32_t chips_of_row(const struct tt_call *call, const struct tt_tensor *in)
{
	const struct ttnn_value *axis = tt_call_arg(call, "cluster_axis");

	return tt_value_given(axis) ? tt_group_size(tt_tensor_device(in), tt_group_axis(axis)) : 1;
}

static bool is_layer(const struct tt_call *call)
{
	return call->entry->op->row != NULL;
}

static tt_status check_counts(const struct tt_call *call)
{
	static const char *const names[] = {"num_heads_per_device", "num_preferred_links",
					    "num_links"};

	for (size_t i = 0; i < TT_COUNT(names); i++) {
		int64_t count = tt_call_int(call, names[i], 1);

		TT_NEED(count >= 1 && count <= UINT16_MAX, "%s: %s must be >= 1",
			call->entry->op->name, names[i]);
	}
	return TTNN_OK;
}

static tt_status norm_expand(struct tt_call *call)
{
	static const struct tt_compute_usual usual = {.fidelity = TT_HIFI4, .fp32 = true};
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor"),
			 *stats = tt_call_tensor(call, "persistent_output_buffer"),
			 *all[TT_OUTPUTS_MAX];
	struct ttnn_value attrs[schema_count] = {0};
	bool heads = tt_call_bool(call, "per_head_norm", false), together;
	size_t count;

	TT_TRY(tt_async_on_mesh(call, in));
	TT_TRY(check_counts(call));
	if (tt_value_given(tt_call_arg(call, "affine_tile_row_map")))
		return tt_fail(TTNN_UNSUPPORTED, "%s does not support affine_tile_row_map yet",
			       call->entry->op->name);
	attrs[EPSILON] = ttnn_v_real((float)tt_call_real(call, "epsilon", 1e-5));
	attrs[PER_HEAD] = ttnn_v_bool(heads);
	attrs[LAYER] = ttnn_v_int(is_layer(call));
	attrs[MEMORY] = tt_value_memory_or_like(call, in);
	attrs[SIZE] = ttnn_v_int(chips_of_row(call, in));
	attrs[LINKS] = ttnn_v_int(tt_call_int(call, "num_preferred_links", 1));
	attrs[TOPOLOGY] = tt_group_topology(tt_tensor_device(in), tt_call_arg(call, "topology"),
					    tt_group_axis(tt_call_arg(call, "cluster_axis")));
	attrs[COMPUTE] =
		tt_compute_config(call, tt_call_arg(call, "compute_kernel_config"), &usual);
	tt_attrs_bind(call, &schema, attrs);
	together = attrs[SIZE].integer > 1 && !heads;
	stats = together ? stats : NULL;
	TT_TRY(tt_call_programs(
		all, &count, call,
		&(struct tt_program_args){.prog = together ? &gathering_program : &own_program,
					  .attrs = attrs,
					  TT_INPUTS(in, tt_call_tensor(call, "weight"),
						    tt_call_tensor(call, "bias"),
						    tt_call_tensor(call, "transformation_mat"),
						    tt_call_tensor(call, "rope_cos"),
						    tt_call_tensor(call, "rope_sin"), stats,
						    tt_call_tensor(call, "reciprocals")),
					  TT_OUTPUTS(NULL, stats),
					  .in_place = stats != NULL}));
	tt_call_return(call, all[0]);
	tt_call_drop_all(call, &all[1], count - 1);
	return TTNN_OK;
}

/* The buffer that a row's sums are gathered in; none where nothing is. */
static tt_status stats_expand(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor"), *out;
	struct ttnn_tensor_spec spec;
	struct wish wish;
	struct cut cut;

	TT_TRY(tt_async_on_mesh(call, in));
	TT_TRY(check_counts(call));
	wish = (struct wish){.device = tt_tensor_device(in),
			     .in = &in->spec,
			     .links = (uint32_t)tt_call_int(call, "num_links", 1),
			     .size = chips_of_row(call, in),
			     .layer = is_layer(call),
			     .per_head = tt_call_bool(call, "per_head_norm", false)};
	cut = cut_of(&wish);
	if (!cut.senders)
		return TTNN_OK;
	TT_NEED(cut.pages, "%s: there are no rows", call->entry->op->name);
	TT_TRY(stats_spec(&spec, &cut));
	return tt_call_give(call, tt_call_create(&out, call, tt_tensor_device(in), &spec), &out);
}

/* ---- rows ------------------------------------------------------------------------------------------------------------------------------- */

#define PLACE_ARGS                                                                                 \
	"input_tensor: Tensor, cluster_axis: int?, mesh_device: Device, "                          \
	"multi_device_global_semaphore: any, *, topology: Topology = Ring, "                       \
	"epsilon: float = 1e-5, num_heads_per_device: int = 1, "
#define TABLE_ARGS                                                                                 \
	"transformation_mat: Tensor? = None, rope_cos: Tensor? = None, rope_sin: Tensor? = None"
#define NORM_ARGS                                                                                  \
	"weight: Tensor? = None, bias: Tensor? = None, " TABLE_ARGS ", dtype: DataType? = None, "  \
	"persistent_output_buffer: Tensor? = None, num_preferred_links: int? = None, "             \
	"subdevice_id: SubDeviceId? = None, memory_config: MemoryConfig? = None, "                 \
	"compute_kernel_config: ComputeConfig? = None, "
#define STATS_ARGS                                                                                 \
	"input_tensor: Tensor, cluster_axis: int?, mesh_device: Device, *, "                       \
	"num_heads_per_device: int = 1, "
#define STATS_MORE "num_links: int = 1, weight: Tensor? = None, " TABLE_ARGS

static const struct tt_op ops[] = {
	{.name = "ttnn.experimental.dit_fused_distributed_rmsnorm",
	 .doc = "rms_norm of rows that lie across devices, as heads, rotated by position.",
	 .sigs = {PLACE_ARGS "per_head_norm: bool = False, " NORM_ARGS
			     "affine_tile_row_map: Tensor? = None"},
	 .expand = norm_expand,
	 .golden = tt_golden_fused_rms,
	 TT_PROGRAMS(&gathering_program, &own_program)},
	{.name = "ttnn.experimental.dit_fused_distributed_layernorm",
	 .doc = "layer_norm of rows that lie across devices, as heads.",
	 .sigs = {PLACE_ARGS NORM_ARGS "reciprocals: Tensor? = None"},
	 .expand = norm_expand,
	 .golden = tt_golden_fused_layer,
	 .row = &gathering_program,
	 TT_PROGRAMS(&gathering_program, &own_program)},
	{.name = "ttnn.experimental.dit_fused_distributed_rmsnorm_create_stats_buffer",
	 .doc = "What dit_fused_distributed_rmsnorm gathers its sums in.",
	 .family = "collective_buffers",
	 .sigs = {STATS_ARGS "per_head_norm: bool = False, " STATS_MORE},
	 .expand = stats_expand},
	{.name = "ttnn.experimental.dit_fused_distributed_layernorm_create_stats_buffer",
	 .doc = "What dit_fused_distributed_layernorm gathers its sums in.",
	 .family = "collective_buffers",
	 .sigs = {STATS_ARGS STATS_MORE},
	 .expand = stats_expand,
	 .row = &gathering_program},
};

const struct tt_op_family tt_family_fused_norm = {"collective_norm", ops, TT_COUNT(ops)};
