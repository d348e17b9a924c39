/*
 * group_norm.c: groups of channels of an image, normalised together: [batch, 1, pixels, channels].
 *
 * Models GroupNormDeviceOperation of ttnn 0.81: refusals, memory, cores. Not modelled: the order of sums on the
 * chip.
 */
#include "backend/backend.h"
#include "device/device.h"
#include "device/devtensor.h"
#include "device/work_split.h"
#include "golden/golden_norm.h"
#include "ops/compute.h"
#include "ops/cost.h"
#include "ops/mem_rows.h"
#include "ops/movement/movement.h"
#include "ops/usual.h"
#include "tensor/core.h"
#include "tensor/shape.h"
#include "tensor/spec.h"
#include "tensor/tile.h"

/* What stands in the program config. */
enum { LAYOUT, GRID, BLOCKS, SETTINGS };
#define ATTRS(X)                                                                                   \
	X(EPS, "eps")                                                                              \
	X(GROUPS, "num_groups")                                                                    \
	X(MEMORY, "output_mem_config")                                                             \
	X(CONFIG, "program_config", .text = TT_TEXT_FIXED, .fixed = "<variant>")                   \
	X(COMPUTE, "compute_kernel_config")                                                        \
	X(WELFORD, "use_welford")                                                                  \
	X(NEGATIVE_MASK, "use_negative_mask")
TT_ATTRS(schema, "GroupNormParams", ATTRS);
enum { IN, WEIGHT, BIAS, MASK, INPUTS };

static const struct ttnn_value *setting(const struct tt_launch *launch, int which)
{
	return &launch->attrs[CONFIG].items[which];
}

/* ---- how the work is spread --------------------------------------------------------------------------- */

/*
 * A grid of cores as upstream sees it: columns of cores share the channels, as many as divide both
 * their tiles and the groups; the rest of each row of the grid makes further rows.
 */
struct spread {
	uint32_t columns, rows; /* of the work */
	struct ttnn_core grid;  /* cores that take part */
};

static struct spread spread_of(struct ttnn_core grid, uint32_t channels, uint32_t groups)
{
	uint32_t columns = grid.x;

	while (columns > 1 && (channels / TT_TILE % columns != 0 || groups % columns != 0))
		columns--;
	return (struct spread){columns,
			       columns ? grid.x / columns * grid.y : 0,
			       {columns ? grid.x / columns * columns : 0, grid.y}};
}

static bool fits(const struct spread *spread, uint64_t height, uint32_t batches)
{
	return spread->rows && spread->rows <= height && height % spread->rows == 0 &&
	       (spread->rows % batches == 0 || batches % spread->rows == 0);
}

/* The most cores of a grid that can be used. */
static struct ttnn_core largest(struct ttnn_core grid, const struct ttnn_tensor_spec *in,
				uint32_t groups)
{
	struct ttnn_core best = {1, 1};

	for (uint32_t y = grid.y; y > 0; y--)
		for (uint32_t x = grid.x; x > 0; x--) {
			struct spread spread =
				spread_of((struct ttnn_core){x, y}, in->padded.dim[3], groups);

			if (x * y > best.x * best.y &&
			    fits(&spread, in->rows / TT_TILE, in->padded.dim[0]))
				best = (struct ttnn_core){x, y};
		}
	return best;
}

/* Tiles that a group of channels can touch, wherever it begins. */
static uint64_t group_tiles(uint32_t channels, uint32_t groups)
{
	uint32_t width = channels / groups;
	uint64_t most = 1;

	for (uint32_t start = 0; width && start < channels; start += width) {
		uint64_t tiles = (start + width - 1) / TT_TILE - start / TT_TILE + 1;

		most = tiles > most ? tiles : most;
	}
	return most;
}

/* ---- specs and refusals ---------------------------------------------------------------------------------- */

static tt_status group_norm_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec;

	return tt_infer_one(launch, &in->shape, in->dtype,
			    (enum ttnn_layout)setting(launch, LAYOUT)->integer);
}

static tt_status group_norm_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec;
	const struct tt_tensor *mask = launch->inputs[MASK];
	uint32_t groups = (uint32_t)launch->attrs[GROUPS].integer;
	uint64_t width = group_tiles(in->padded.dim[3], groups) * TT_TILE;

	TT_REQUIRE(in->padded.dim[3] % groups == 0, "a.padded_shape()[3] % args.num_groups == 0",
		   "channel must be divisible by num_groups!");
	TT_REQUIRE(!mask || tt_shape_last(&mask->spec.padded, 1) == width,
		   "input_mask.value().padded_shape()[3] == block_wt * tile_width",
		   "input mask width (%u) must have the same width as block_wt * TILE_WIDTH (%llu)",
		   tt_shape_last(&mask->spec.padded, 1), (unsigned long long)width);
	return TTNN_OK;
}

/* ---- program memory ------------------------------------------------------------------------------------------ */

enum { SHARDED, ALONE, TOGETHER };

static uint64_t tile_of(const struct tt_tensor *tensor)
{
	return tt_tile_bytes_of(tensor ? tensor->spec.dtype : TTNN_BFLOAT16);
}

struct work {
	struct spread spread;
	uint64_t wide, high, across; /* tiles of a group, of a core's rows and of its columns */
};

static struct work work_of(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec;
	uint32_t groups = (uint32_t)launch->attrs[GROUPS].integer;
	uint64_t blocks = (uint64_t)setting(launch, BLOCKS)->integer;
	struct work work = {
		.spread = spread_of(setting(launch, GRID)->core, in->padded.dim[3], groups),
		.wide = group_tiles(in->padded.dim[3], groups)};

	/* A core that has more than one image works on them one by one. */
	work.high = in->rows / TT_TILE /
		    (work.spread.rows > in->padded.dim[0] ? work.spread.rows : in->padded.dim[0]);
	work.high = tt_div_up(work.high, blocks ? blocks : 1);
	work.across = in->padded.dim[3] / TT_TILE / (work.spread.columns ? work.spread.columns : 1);
	return work;
}

static tt_status group_norm_choose(uint32_t *out, struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec;
	struct work work = work_of(launch);

	*out = tt_memory_config_is_sharded(&in->memory)   ? SHARDED
	       : work.spread.rows / in->padded.dim[0] > 1 ? TOGETHER
							  : ALONE;
	return TTNN_OK;
}

/* A block of the image; with cores that work alone, there is a second kind of them: here none. */
static tt_status add_blocks(struct tt_plan *plan, const ttnn_core_set *cores,
			    const struct tt_buffer_row *rows, size_t count, bool alone)
{
	const ttnn_core_set *none;

	TT_TRY(tt_plan_buffers(plan, cores, rows, count));
	if (!alone)
		return TTNN_OK;
	TT_TRY(ttnn_core_set_make(&none, NULL, 0));
	for (size_t i = 0; i < count; i++)
		TT_TRY(tt_plan_add(plan, &(struct tt_plan_row){.kind = TT_CB,
							       .index = rows[i].index,
							       .page = rows[i].page,
							       .cores = none}));
	return TTNN_OK;
}

static tt_status rows_interleaved(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct work work = work_of(launch);
	struct tt_tensor *const *in = launch->inputs;
	bool alone = launch->factory == &launch->prog->factories[ALONE];
	uint64_t tile = tile_of(in[IN]), small = tt_tile_bytes_of(TTNN_BFLOAT16);
	uint64_t block = work.high * work.wide;
	const struct tt_buffer_row blocks[] = {
		TT_CB_ROW(0, "in0_cb", .pages = block, .page = tile),
		TT_CB_ROW(1, "in_cb", .pages = block, .page = tile),
		TT_CB_ROW(16, "output_cb", .pages = block, .page = tile),
		TT_CB_ROW(24, "x_cb", .pages = block, .page = tile),
		TT_CB_ROW(23, "xmm2_cb", .pages = block, .page = tile),
		TT_CB_ROW(25, "xmm_cb", .pages = block, .page = tile),
		TT_CB_ROW(22, "xmm3_cb", .pages = block, .page = tile),
	};
	const ttnn_core_set *all, *singles;

	TT_TRY(tt_core_set_grid(&all, work.spread.grid.x, work.spread.grid.y));
	TT_TRY(tt_split_singles(&singles, all, ttnn_core_set_cores(all), TTNN_ORIENT_COL_MAJOR));
	TT_TRY(add_blocks(plan, singles, blocks, 2, alone));
	TT_TRY(add_blocks(plan, singles, &blocks[2], 1, alone));
	TT_TRY(TT_PLAN(
		plan, all, TT_CB_ROW(2, "in2_cb", .pages = 1, .page = tile),
		TT_CB_ROW(3, "in3_cb", .pages = 1, .page = small),
		TT_CB_ROW(4, "in4_cb", .pages = 1, .page = tile),
		TT_CB_ROW(5, "in5_cb", .pages = in[WEIGHT] ? work.across : 0,
			  .page = tile_of(in[WEIGHT])),
		TT_CB_ROW(6, "in6_cb", .pages = in[BIAS] ? work.across : 0,
			  .page = tile_of(in[BIAS])),
		TT_CB_ROW(28, "in_mask_cb", .pages = 2 * work.wide, .page = tile_of(in[MASK]))));
	for (int i = 3; i < 7; i++)
		TT_TRY(add_blocks(plan, singles, &blocks[i], 1, alone));
	return TT_PLAN(plan, all, TT_CB_ROW(8, "ex_cb_partial", .pages = 1, .page = tile),
		       TT_CB_ROW(9, "ex_cb", .pages = 1, .page = tile),
		       TT_CB_ROW(10, "ex_cb_external", .pages = 1, .page = tile),
		       TT_CB_ROW(15, "ex_global_cb", .pages = 1, .page = tile),
		       TT_CB_ROW(17, "cb_ex2pe", .pages = 1, .page = tile),
		       TT_CB_ROW(27, "cb_ex2pe", .pages = 1, .page = tile));
}

static tt_status rows_sharded(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *const *in = launch->inputs;
	const struct ttnn_tensor_spec *spec = &in[IN]->spec;
	const struct ttnn_shard_spec *shard = &spec->memory.shard;
	uint64_t tile = tile_of(in[IN]), small = tt_tile_bytes_of(TTNN_BFLOAT16);
	uint64_t high = tt_div_up(shard->height, TT_TILE),
		 across = tt_div_up(shard->width, TT_TILE);
	uint64_t wide = group_tiles(spec->padded.dim[3], (uint32_t)launch->attrs[GROUPS].integer);
	struct tt_tensor *out = launch->outputs[0];
	bool apart = out->storage != in[IN]->storage;

	return TT_PLAN(
		plan, shard->grid,
		TT_CB_ROW(0, "in0_cb", .pages = high * across, .page = tile, .backing = in[IN]),
		TT_CB_ROW(16, "output_cb", .pages = apart ? high * across : 0, .page = tile,
			  .backing = out),
		TT_CB_ROW(29, "in_cb", .pages = high * across, .page = tile),
		TT_CB_ROW(30, "out_cb", .pages = high * across, .page = tile),
		TT_CB_ROW(2, "in2_cb", .pages = 1, .page = small),
		TT_CB_ROW(3, "in3_cb", .pages = 1, .page = small),
		TT_CB_ROW(4, "in4_cb", .pages = 1, .page = small),
		TT_CB_ROW(5, "in5_cb", .pages = in[WEIGHT] ? across : 0,
			  .page = tile_of(in[WEIGHT])),
		TT_CB_ROW(6, "in6_cb", .pages = in[BIAS] ? across : 0, .page = tile_of(in[BIAS])),
		TT_CB_ROW(7, "in_mask_cb", .pages = 2 * wide, .page = tile_of(in[MASK])),
		TT_CB_ROW(24, "x_cb", .pages = high * wide, .page = tile),
		TT_CB_ROW(8, "ex_cb_partial", .pages = 1, .page = tile),
		TT_CB_ROW(9, "ex_cb", .pages = 1, .page = tile),
		TT_CB_ROW(10, "ex_cb_external", .pages = 1, .page = tile),
		TT_CB_ROW(15, "ex_global_cb", .pages = 1, .page = tile),
		TT_CB_ROW(27, "cb_ex2pe", .pages = 1, .page = tile));
}

static tt_status group_norm_kernel(struct tt_launch *launch)
{
	return tt_backend_get()->norm(
		&(struct tt_norm_job){.out = launch->outputs[0],
				      .in = launch->inputs[IN],
				      .gamma = launch->inputs[WEIGHT],
				      .beta = launch->inputs[BIAS],
				      .kind = TT_NORM_GROUP,
				      .groups = (uint32_t)launch->attrs[GROUPS].integer,
				      .epsilon = launch->attrs[EPS].real});
}

#define FACTORY "ttnn::prim::GroupNormDeviceOperation::GroupNorm"
static const struct tt_factory factories[] = {
	[SHARDED] = {.name = FACTORY "ShardedProgramFactory", .memory = rows_sharded},
	[ALONE] = {.name = FACTORY "NoMcastProgramFactory", .memory = rows_interleaved},
	[TOGETHER] = {.name = FACTORY "McastProgramFactory", .memory = rows_interleaved},
};
static const struct tt_prog program = {
	.device_op = "GroupNormDeviceOperation",
	.prim = "ttnn::prim::group_norm",
	.attrs = &schema,
	.infer = group_norm_infer,
	.validate = group_norm_validate,
	TT_FACTORIES(factories),
	.choose = group_norm_choose,
	TT_KERNEL(group_norm_kernel),
	.cost = tt_cost_tensors,
};

/* ---- the operation --------------------------------------------------------------------------------------------- */

static tt_status check(const struct tt_call *call, const struct ttnn_tensor_spec *in,
		       int64_t groups)
{
	bool in_place = tt_call_bool(call, "inplace", true);

	TT_REQUIRE(!in_place || in->layout != TTNN_TILE, "!inplace.value()",
		   "In-place operation not supported: Tile layout requires non-inplace tensors. "
		   "(inplace=true)");
	TT_REQUIRE(in->shape.rank == 4, "input_shape.rank() == 4",
		   "Invalid tensor shape: Input tensor must have rank 4. (rank=%u)",
		   in->shape.rank);
	TT_REQUIRE(
		groups > 0 && in->shape.dim[3] % groups == 0, "input_shape[-1] % num_groups == 0",
		"Invalid channel configuration: Number of channels (%u) must be divisible by the "
		"number of groups (%lld).",
		in->shape.dim[3], (long long)groups);
	return TTNN_OK;
}

/* The cores to use: those asked for, if they can be used, or as many as can. */
static tt_status choose_grid(struct ttnn_core *out, const struct tt_call *call,
			     const struct tt_tensor *in, uint32_t groups)
{
	const struct ttnn_value *asked = tt_call_arg(call, "core_grid");
	const struct ttnn_tensor_spec *spec = &in->spec;
	uint64_t height = spec->rows / TT_TILE;
	struct spread spread;
	struct ttnn_core best;

	if (asked->kind != TTNN_VALUE_CORE) {
		*out = largest(tt_tensor_device(in)->info.compute_grid, spec, groups);
		return TTNN_OK;
	}
	*out = asked->core;
	spread = spread_of(*out, spec->padded.dim[3], groups);
	if (tt_memory_config_is_sharded(&spec->memory) ||
	    fits(&spread, height, spec->padded.dim[0]))
		return TTNN_OK;
	best = largest(*out, spec, groups);
	return tt_fail_cond(
		TTNN_INVALID, "tt::exception",
		"group_norm: Requested core_grid (x=%u, y=%u) is invalid for the input dimensions "
		"(Ht=%llu, W=%u, num_groups=%u, num_batches=%u). The grid must satisfy: "
		"num_virtual_rows = (grid_x / num_virtual_cols) * grid_y <= Ht, Ht must be divisible "
		"by num_virtual_rows, and num_virtual_rows must be divisible by num_batches (for "
		"uniform multicast groups). Computed num_virtual_rows=%u, num_virtual_cols=%u. The "
		"largest valid grid that fits is (x=%u, y=%u).",
		out->x, out->y, (unsigned long long)height, spec->padded.dim[3], groups,
		spec->padded.dim[0], spread.rows, spread.columns, best.x, best.y);
}

static tt_status group_norm_expand(struct tt_call *call)
{
	static const struct tt_compute_usual usual = {.fidelity = TT_HIFI4, .approx = true};
	static const struct ttnn_memory_config dram;
	struct tt_tensor *inputs[INPUTS] = {
		tt_call_tensor(call, "input_tensor"), tt_call_tensor(call, "weight"),
		tt_call_tensor(call, "bias"), tt_call_tensor(call, "input_mask")};
	struct tt_tensor *in = inputs[IN], *output = NULL;
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");
	const struct ttnn_value *layout = tt_call_arg(call, "output_layout");
	int64_t groups = tt_call_int(call, "num_groups", 1);
	struct ttnn_value attrs[schema_count], settings[SETTINGS];
	int64_t blocks = tt_call_int(call, "num_out_blocks", 1);
	struct ttnn_core grid;

	TT_TRY(check(call, &in->spec, groups));
	TT_TRY(tt_need_device(in));
	TT_TRY(choose_grid(&grid, call, in, (uint32_t)groups));
	TT_REQUIRE(tt_call_dtype(call, "dtype", in->spec.dtype) == in->spec.dtype,
		   "out_dtype == input_tensor.dtype()",
		   "group_norm output dtype must match input dtype (DataType::%s), got "
		   "dtype=DataType::%s",
		   ttnn_dtype_name(in->spec.dtype, TTNN_DIALECT_TT_METAL),
		   ttnn_dtype_name(tt_call_dtype(call, "dtype", in->spec.dtype),
				   TTNN_DIALECT_TT_METAL));
	if (tt_call_bool(call, "inplace", true) && tt_tensor_is_sharded(in))
		output = in;
	attrs[EPS] = ttnn_v_real(tt_call_real(call, "epsilon", 1e-12));
	attrs[GROUPS] = ttnn_v_int(groups);
	attrs[MEMORY] = ttnn_v_memory(memory ? memory : &dram);
	settings[LAYOUT] =
		layout->kind == TTNN_VALUE_ENUM ? *layout : ttnn_v_layout(in->spec.layout);
	settings[GRID] = (struct ttnn_value){.kind = TTNN_VALUE_CORE, .core = grid};
	settings[BLOCKS] = ttnn_v_int(blocks < 1 ? 1 : blocks);
	attrs[CONFIG] = ttnn_v_list(settings, SETTINGS);
	attrs[COMPUTE] =
		tt_compute_config(call, tt_call_arg(call, "compute_kernel_config"), &usual);
	attrs[WELFORD] = ttnn_v_bool(tt_call_bool(call, "use_welford", false));
	attrs[NEGATIVE_MASK] = ttnn_v_bool(tt_call_tensor(call, "negative_mask") != NULL);
	if (in->spec.layout == TTNN_ROW_MAJOR && !tt_tensor_is_sharded(in)) {
		const struct ttnn_arg args[] = {{NULL, ttnn_v_tensor(in)}};

		TT_TRY(tt_call_op(&inputs[IN], call, "ttnn.tilize_with_zero_padding", args, 1));
		tt_call_own(call, inputs[IN]);
	}
	return TT_LAUNCH_RETURN(call, &program, .attrs = attrs, .inputs = inputs,
				.input_count = INPUTS, TT_OUTPUTS(output));
}

static const struct tt_prog *const programs[] = {&program, NULL};
static const struct tt_op ops[] = {
	{.name = "ttnn.group_norm",
	 .family = "group_norm",
	 .doc = "Groups of channels of each image with mean and deviation taken off.",
	 .sigs = {"input_tensor: Tensor, *, num_groups: int, epsilon: float = 1e-12, input_mask: "
		  "Tensor? = None, weight: Tensor? = None, bias: Tensor? = None, memory_config: "
		  "MemoryConfig? = None, dtype: DataType? = None, core_grid: CoreGrid? = None, "
		  "inplace: bool? = True, output_layout: Layout? = None, num_out_blocks: int? = "
		  "None, compute_kernel_config: ComputeConfig? = None, negative_mask: Tensor? = "
		  "None, use_welford: bool = False"},
	 .expand = group_norm_expand,
	 .golden = tt_golden_group_norm,
	 .pcc = 0.999,
	 .programs = programs},
};

const struct tt_op_family tt_family_group_norm = {"group_norm", ops, TT_COUNT(ops)};
