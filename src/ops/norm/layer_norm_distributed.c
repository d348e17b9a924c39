/*
 * layer_norm_distributed.c: normalisation of rows that lie across devices, in two halves. The first gives the
 * sums of each device's part, which are gathered; the second normalises with the sums of all. Models
 * LayerNormPreAllGather and LayerNormPostAllGather of ttnn 0.81 with their factories: by rows, on a grid of two dimensions,
 * and with Welford's method, whose halves exchange mean and variance. What they compute is in layer_norm_parts.c.
 */
#include "golden/golden_norm.h"
#include "ops/movement/movement.h"
#include "ops/norm/layer_norm.h"
#include "ops/objects.h"
#include "tensor/text.h"

/* Whether an operation is the one that subtracts no mean. */
static bool is_rms(const struct tt_call *call)
{
	return *(const bool *)call->entry->op->row;
}

static uint64_t kinds_of(bool rms)
{
	return rms ? 1 : 2;
}

/* ---- before the gathering --------------------------------------------------------------------------- */

#define BEFORE_ATTRS(X)                                                                            \
	X(BEFORE_TYPE, "norm_type")                                                                \
	X(BEFORE_DTYPE, "dtype")                                                                   \
	X(BEFORE_MEMORY, "output_mem_config")                                                      \
	X(BEFORE_COMPUTE, "compute_kernel_config")                                                 \
	X(BEFORE_CONFIG, "program_config", .text = TT_TEXT_ALWAYS, .fixed = "<variant>")           \
	X(BEFORE_2D, "use_2d_core_grid")                                                           \
	X(BEFORE_FAST, "fast_and_approximate_mode")
TT_ATTRS(before_schema, "LayerNormPreAllGatherParams", BEFORE_ATTRS);
enum { BEFORE_IN, BEFORE_RESIDUAL, BEFORE_RECIPROCALS, BEFORE_INPUTS };

/* The extents in upstream's message are those at index 3, whatever the rank. */
static tt_status norm_before_infer(struct tt_launch *launch)
{
	struct ttnn_shape shape = launch->inputs[0]->spec.shape;

	TT_TRY(tt_need_dim(&shape, 3));
	shape.dim[3] =
		(uint32_t)kinds_of(launch->attrs[BEFORE_TYPE].integer == TT_NORM_RMS) * TT_TILE;
	return tt_infer_one(launch, &shape, (enum ttnn_dtype)launch->attrs[BEFORE_DTYPE].integer,
			    TTNN_TILE);
}

static bool fp32_of(const struct ttnn_value *compute)
{
	return tt_compute_has(compute, TT_COMPUTE_FP32);
}

static uint64_t between_tile(const struct ttnn_value *compute)
{
	return tt_tile_bytes_of(fp32_of(compute) ? TTNN_FLOAT32 : TTNN_BFLOAT16);
}

static bool is_2d(const struct ttnn_value *wanted)
{
	return tt_value_given(wanted) && wanted->boolean;
}

static bool is_float(enum ttnn_dtype dtype)
{
	return dtype == TTNN_BFLOAT16 || dtype == TTNN_BFLOAT8_B || dtype == TTNN_FLOAT32;
}

/* Squares of float32 need registers of float32; Welford's method needs a table of reciprocals. */
static tt_status norm_before_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[BEFORE_IN]->spec;
	bool rms = launch->attrs[BEFORE_TYPE].integer == TT_NORM_RMS;

	TT_REQUIRE(in->layout == TTNN_TILE, "input.layout() == Layout::TILE",
		   "Only tilized inputs supported.");
	TT_REQUIRE(is_float(in->dtype),
		   "input.dtype() == DataType::BFLOAT16 || input.dtype() == DataType::BFLOAT8_B || "
		   "input.dtype() == DataType::FLOAT32",
		   "Input data format not supported.");
	TT_REQUIRE(in->dtype != TTNN_FLOAT32 || fp32_of(&launch->attrs[BEFORE_COMPUTE]),
		   "!(input.dtype() == DataType::FLOAT32 && "
		   "!args.compute_kernel_config.fp32_dest_acc_en)",
		   "%s_norm_pre_all_gather with Float32 input requires fp32_dest_acc_en=true in "
		   "the compute kernel config; otherwise precision is silently lost in the "
		   "unpacker format conversion.",
		   rms ? "rms" : "layer");
	if (!tt_norm_config_welford(&launch->attrs[BEFORE_CONFIG]))
		return TTNN_OK;
	TT_REQUIRE(!rms, "args.norm_type != LayerNormDistributedType::RMSNORM",
		   "RMSNorm with Welford's algorithm not supported in pre_all_gather");
	TT_REQUIRE(launch->inputs[BEFORE_RECIPROCALS], "tensor_args.recip_tensor.has_value()",
		   "Welford algorithm requires recip_tensor. Use "
		   "ttnn.create_layer_norm_reciprocals() to create it.");
	return TTNN_OK;
}

/* A row of tiles twice, its squares, twice too where that fits, and with a residual that twice and the sum of both. */
static tt_status norm_before_rows(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct tt_tensor *in = launch->inputs[BEFORE_IN];
	const struct tt_tensor *residual = launch->inputs[BEFORE_RESIDUAL];
	uint64_t between = between_tile(&launch->attrs[BEFORE_COMPUTE]);
	uint64_t width = tt_tiles_across(in);
	struct tt_buffer_row rows[] = {
		TT_DFB_ROW(6, "x2", .pages = 2 * width, .page = between),
		TT_DFB_ROW(0, "input", .pages = 2 * width, .page = tt_tensor_tile_bytes(in)),
		TT_DFB_ROW(1, "reduce", .pages = 1, .page = between),
		TT_DFB_ROW(5, "residual", .pages = residual ? 2 * width : 0,
			   .page = tt_tensor_tile_bytes(residual)),
		TT_DFB_ROW(7, "fused", .pages = residual ? width : 0, .page = between),
		TT_DFB_ROW(14, "out",
			   .pages = kinds_of(launch->attrs[BEFORE_TYPE].integer == TT_NORM_RMS),
			   .page = tt_tensor_tile_bytes(launch->outputs[0])),
	};
	const ttnn_core_set *cores;

	if (tt_buffers_bytes(rows, TT_COUNT(rows)) > tt_l1_free(launch->device))
		rows[0].pages = width;
	TT_TRY(tt_norm_cores(&cores, launch));
	return TT_PLAN(plan, cores, rows[1], rows[2], rows[3], rows[4], rows[0], rows[5]);
}

/* Cores in two dimensions, columns for rows of tiles: as many each way, of those the grid has in y, as divide the tiles. */
struct norm_grid {
	const ttnn_core_set *cores;
	uint64_t down, across; /* of the grid: cores for rows of tiles, and for tiles of a row */
};

static uint64_t cores_for(uint64_t tiles, uint64_t most)
{
	uint64_t cores = tiles < most ? tiles : most;

	while (cores > 1 && tiles % cores)
		cores--;
	return cores;
}

static tt_status norm_grid_of(struct norm_grid *out, const struct tt_launch *launch)
{
	const struct tt_tensor *in = launch->inputs[0];
	uint64_t most = launch->device->info.compute_grid.y;

	out->across = cores_for(tt_tiles_across(in), most);
	out->down = cores_for(in->spec.rows / TT_TILE, most);
	TT_NEED(out->across && out->down, "there are no tiles to normalise");
	return tt_core_set_grid(&out->cores, (uint32_t)out->down, (uint32_t)out->across);
}

/* The first core of each column adds up what the others have. */
static tt_status norm_before_grid(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct tt_tensor *in = launch->inputs[BEFORE_IN];
	const struct tt_tensor *residual = launch->inputs[BEFORE_RESIDUAL];
	uint64_t between = between_tile(&launch->attrs[BEFORE_COMPUTE]);
	uint64_t width = tt_tiles_across(in);
	const ttnn_core_set *merging;
	struct norm_grid grid;

	TT_TRY(norm_grid_of(&grid, launch));
	TT_TRY(tt_core_set_grid(&merging, (uint32_t)grid.down, 1));
	return TT_PLAN(plan, grid.cores,
		       TT_DFB_ROW(0, "input", .pages = 2 * width, .page = tt_tensor_tile_bytes(in)),
		       TT_DFB_ROW(1, "reduce", .pages = 1, .page = between),
		       TT_DFB_ROW(5, "residual", .pages = residual ? 2 * width : 0,
				  .page = tt_tensor_tile_bytes(residual)),
		       TT_DFB_ROW(7, "fused", .pages = residual ? width : 0, .page = between),
		       TT_DFB_ROW(6, "x2", .pages = 2 * width, .page = between),
		       TT_DFB_ROW(15, "x2_merge", .pages = grid.across, .page = between),
		       TT_DFB_ROW(14, "partial_out", .pages = 1, .page = between),
		       TT_DFB_ROW(13, "zero", .pages = 1, .page = between),
		       TT_DFB_ROW(16, "out_final", .pages = 1,
				  .page = tt_tensor_tile_bytes(launch->outputs[0]),
				  .cores = merging));
}

/* Tiles of a row pass by in blocks, as many as registers hold and divide it. */
static tt_status norm_before_welford(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct tt_tensor *in = launch->inputs[BEFORE_IN];
	const struct tt_tensor *residual = launch->inputs[BEFORE_RESIDUAL];
	struct tt_tensor *reciprocals = launch->inputs[BEFORE_RECIPROCALS];
	uint64_t between = between_tile(&launch->attrs[BEFORE_COMPUTE]);
	uint64_t out = tt_tensor_tile_bytes(launch->outputs[0]);
	uint64_t block = fp32_of(&launch->attrs[BEFORE_COMPUTE]) ? 4 : 8, twice;
	const ttnn_core_set *cores;

	while (tt_tiles_across(in) % block)
		block /= 2;
	twice = 2 * block;
	TT_REQUIRE(reciprocals->spec.memory.buffer == TTNN_L1 ||
			   reciprocals->spec.memory.buffer == TTNN_L1_SMALL,
		   "tensor_spec.memory_config().is_l1()",
		   "DFB 'prewf_recip' borrows memory from TensorParameter 'prewf_recip_t', but its "
		   "TensorSpec is not L1-resident (L1 is required). Both L1 and L1_SMALL are "
		   "accepted.");
	TT_TRY(tt_norm_cores(&cores, launch));
	return TT_PLAN(plan, cores,
		       TT_DFB_ROW(0, "input", .pages = twice, .page = tt_tensor_tile_bytes(in)),
		       TT_DFB_ROW(5, "residual", .pages = residual ? twice : 0,
				  .page = tt_tensor_tile_bytes(residual)),
		       TT_DFB_ROW(7, "fused", .pages = residual ? twice : 0, .page = between),
		       TT_DFB_ROW(8, "mean_spill", .pages = residual != NULL, .page = between),
		       TT_DFB_ROW(9, "m2_spill", .pages = residual != NULL, .page = between),
		       TT_DFB_ROW(1, "scratch", .pages = twice, .page = out),
		       TT_DFB_ROW(14, "out", .pages = twice, .page = out),
		       TT_DFB_ROW(2, "recip", .pages = 1,
				  .page = tt_tensor_buffer(reciprocals)->layout.bank_bytes,
				  .backing = reciprocals));
}

enum { BEFORE_ROWS, BEFORE_GRID, BEFORE_WELFORD };

static tt_status norm_before_choose(uint32_t *out, struct tt_launch *launch)
{
	*out = is_2d(&launch->attrs[BEFORE_2D])                        ? BEFORE_GRID
	       : tt_norm_config_welford(&launch->attrs[BEFORE_CONFIG]) ? BEFORE_WELFORD
								       : BEFORE_ROWS;
	return TTNN_OK;
}

static const struct tt_factory before_factories[] = {
	[BEFORE_ROWS] = {"ttnn::prim::LayerNormPreAllGatherProgramFactory", norm_before_rows},
	[BEFORE_GRID] = {"ttnn::prim::LayerNormPreAllGather2DProgramFactory", norm_before_grid},
	[BEFORE_WELFORD] = {"ttnn::prim::LayerNormPreAllGatherWelfordProgramFactory",
			    norm_before_welford},
};

/* Sums, not averages: the second half divides by the width of all devices. */
static tt_status norm_before_kernel(struct tt_launch *launch)
{
	const struct tt_norm_job job = {
		.out = launch->outputs[0],
		.in = launch->inputs[BEFORE_IN],
		.residual = launch->inputs[BEFORE_RESIDUAL],
		.kind = (enum tt_norm_kind)launch->attrs[BEFORE_TYPE].integer};

	TT_NEED(job.in->spec.shape.rank == 4,
		"the sums of rows of %u dimensions have no place in a result of as many",
		job.in->spec.shape.rank);
	return tt_norm_config_welford(&launch->attrs[BEFORE_CONFIG]) ? tt_norm_parts_of(&job)
								     : tt_norm_sums(&job, false);
}

static const struct tt_prog before_program = {
	.device_op = "LayerNormPreAllGatherDeviceOperation",
	.prim = "ttnn::prim::layer_norm_pre_all_gather",
	.attrs = &before_schema,
	.infer = norm_before_infer,
	.validate = norm_before_validate,
	.factories = before_factories,
	.factory_count = TT_COUNT(before_factories),
	.choose = norm_before_choose,
	TT_KERNEL(norm_before_kernel),
};

/* ---- after it ---------------------------------------------------------------------------------------- */

#define AFTER_ATTRS(X)                                                                             \
	X(AFTER_TYPE, "norm_type")                                                                 \
	X(AFTER_EPS, "eps")                                                                        \
	X(AFTER_MEMORY, "memory_config")                                                           \
	X(AFTER_COMPUTE, "compute_kernel_config")                                                  \
	X(AFTER_DTYPE, "dtype")                                                                    \
	X(AFTER_2D, "use_2d_core_grid")                                                            \
	X(AFTER_CONFIG, "program_config", .text = TT_TEXT_ALWAYS, .fixed = "<variant>")
TT_ATTRS(after_schema, "LayerNormPostAllGatherParams", AFTER_ATTRS);
enum { AFTER_IN, AFTER_STATS, AFTER_WEIGHT, AFTER_BIAS, AFTER_INPUTS };

/* As the input, in tiles. */
static tt_status norm_after_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[AFTER_IN]->spec;
	const struct ttnn_value *dtype = &launch->attrs[AFTER_DTYPE];

	return tt_infer_one(launch, &in->shape,
			    tt_value_given(dtype) ? (enum ttnn_dtype)dtype->integer : in->dtype,
			    TTNN_TILE);
}

/* A tile has two dimensions, also where a tensor has fewer. */
static struct ttnn_shape padded_of(const struct ttnn_tensor_spec *spec)
{
	return spec->padded.rank < 2 ? TT_SHAPE((uint32_t)spec->rows, (uint32_t)spec->cols)
				     : spec->padded;
}

/* Statistics have a row for each row of the input. */
static tt_status check_stats(const struct ttnn_tensor_spec *in,
			     const struct ttnn_tensor_spec *stats)
{
	static const struct {
		const char *condition, *what;
	} dims[] = {{"stats.padded_shape()[0] == a.padded_shape()[0]", "batch sizes"},
		    {"stats.padded_shape()[1] == a.padded_shape()[1]", "dim1"},
		    {"stats.padded_shape()[2] == a.padded_shape()[2]", "dim2"}};

	TT_REQUIRE(stats->layout == TTNN_TILE, "stats.layout() == Layout::TILE",
		   "Stats tensor must have TILE layout, got: Layout::%s",
		   tt_enum_name(&tt_enum_layout, stats->layout));
	TT_REQUIRE(is_float(stats->dtype),
		   "stats.dtype() == DataType::BFLOAT16 || stats.dtype() == DataType::BFLOAT8_B || "
		   "stats.dtype() == DataType::FLOAT32",
		   "Stats tensor must be BFLOAT16, BFLOAT8_B, or FLOAT32, got: DataType::%s",
		   ttnn_dtype_name(stats->dtype, TTNN_DIALECT_TT_METAL));
	for (uint32_t i = 0; i < TT_COUNT(dims); i++) {
		const struct ttnn_shape got = padded_of(stats), want = padded_of(in);

		TT_TRY(tt_need_dim(&got, i));
		TT_TRY(tt_need_dim(&want, i));
		TT_REQUIRE(got.dim[i] == want.dim[i], dims[i].condition,
			   "Stats and input %s must match, got stats: %u vs input: %u",
			   dims[i].what, got.dim[i], want.dim[i]);
	}
	return TTNN_OK;
}

/* Weights: upstream's words for gamma and for beta. */
struct weight_words {
	const char *name, *dtype, *width, *height, *volume;
};
#define WEIGHT_WORDS(name_, tensor_)                                                               \
	{                                                                                          \
		.name = name_,                                                                     \
		.dtype = tensor_ ".dtype() == DataType::BFLOAT16 || " tensor_                      \
				 ".dtype() == DataType::FLOAT32",                                  \
		.width = "a.logical_shape()[-1] == " tensor_ ".logical_shape()[-1] && "            \
			 "a.padded_shape()[-1] == " tensor_ ".padded_shape()[-1]",                 \
		.height = tensor_ ".padded_shape()[-2] == tile_height",                            \
		.volume = "(" tensor_ ".padded_shape()[-1] == tile_width && " tensor_              \
			  ".physical_volume() / tile_width == a.padded_shape()[-1] / tile_width)"  \
	}

/* A row of tiles as wide as the input, or rows of 32 numbers that are as many. */
static tt_status check_weight(const struct ttnn_tensor_spec *in, const struct tt_tensor *weight,
			      const struct weight_words *words)
{
	const struct ttnn_tensor_spec *spec = weight ? &weight->spec : NULL;
	bool gamma = words->name[0] == 'G';
	uint32_t wide, all = tt_shape_last(&in->padded, 1);
	uint64_t volume = 0;

	if (!spec)
		return TTNN_OK;
	wide = tt_shape_last(&spec->padded, 1);
	TT_REQUIRE(spec->dtype == TTNN_BFLOAT16 || spec->dtype == TTNN_FLOAT32, words->dtype,
		   "%s tensor must be BFLOAT16 or FLOAT32, got: DataType::%s", words->name,
		   ttnn_dtype_name(spec->dtype, TTNN_DIALECT_TT_METAL));
	if (spec->layout == TTNN_TILE) {
		uint32_t width = tt_shape_last(&in->shape, 1), own = tt_shape_last(&spec->shape, 1);

		TT_REQUIRE(width == own && all == wide, words->width,
			   "Input and %s last logical and padded dims must match, got input: "
			   "logical[-1]=%u padded[-1]=%u vs %s: logical[-1]=%u padded[-1]=%u",
			   gamma ? "gamma" : "beta", width, all, gamma ? "gamma" : "beta", own,
			   wide);
		TT_REQUIRE(tt_shape_last(&spec->padded, 2) == TT_TILE, words->height,
			   "%s tensor height must equal tile height (32), got: %u", words->name,
			   tt_shape_last(&spec->padded, 2));
		return TTNN_OK;
	}
	TT_TRY(ttnn_shape_volume(&volume, &spec->padded));
	TT_REQUIRE(wide == TT_TILE && volume / TT_TILE == all / TT_TILE, words->volume,
		   "%s tensor dimensions must align with input tensor. Got %s padded shape: %u, "
		   "physical volume: %llu, input padded shape: %u, tile_width: 32",
		   words->name, gamma ? "gamma" : "beta", wide, (unsigned long long)volume, all);
	return TTNN_OK;
}

static tt_status norm_after_validate(struct tt_launch *launch)
{
	static const struct weight_words gamma = WEIGHT_WORDS("Gamma", "gamma_tensor");
	static const struct weight_words beta = WEIGHT_WORDS("Beta", "beta_tensor");
	const struct ttnn_tensor_spec *in = &launch->inputs[AFTER_IN]->spec;

	TT_REQUIRE(in->layout == TTNN_TILE, "a.layout() == Layout::TILE",
		   "Input tensor must have TILE layout, got: Layout::%s",
		   tt_enum_name(&tt_enum_layout, in->layout));
	TT_REQUIRE(is_float(in->dtype),
		   "a.dtype() == DataType::BFLOAT16 || a.dtype() == DataType::BFLOAT8_B || "
		   "a.dtype() == DataType::FLOAT32",
		   "Input tensor must be BFLOAT16, BFLOAT8_B, or FLOAT32, got: DataType::%s",
		   ttnn_dtype_name(in->dtype, TTNN_DIALECT_TT_METAL));
	TT_TRY(check_stats(in, &launch->inputs[AFTER_STATS]->spec));
	TT_TRY(check_weight(in, launch->inputs[AFTER_WEIGHT], &gamma));
	TT_TRY(check_weight(in, launch->inputs[AFTER_BIAS], &beta));
	TT_REQUIRE(launch->attrs[AFTER_TYPE].integer != TT_NORM_RMS ||
			   !tt_norm_config_welford(&launch->attrs[AFTER_CONFIG]),
		   "!(program_config.use_welford && args.norm_type == "
		   "LayerNormDistributedType::RMSNORM)",
		   "RMS norm is not compatible with Welford algorithm. Please disable use_welford "
		   "flag.");
	return TTNN_OK;
}

/* Each device gave a tile for each kind of sum. */
static tt_status check_devices(const struct tt_launch *launch)
{
	uint64_t kinds = kinds_of(launch->attrs[AFTER_TYPE].integer == TT_NORM_RMS);
	uint64_t tiles = tt_tiles_across(launch->inputs[AFTER_STATS]);

	TT_REQUIRE(tiles / kinds > 0, "num_devices > 0",
		   "Number of devices must be greater than 0");
	TT_REQUIRE(tiles % kinds == 0, "num_devices * tile_cols_per_device == stats_tiles_cols",
		   "Number of devices must divide number of stats tiles");
	return TTNN_OK;
}

/* Tiles of a row that stay in L1, of `width`: all, or where they do not fit, a seventh of what does. */
static uint64_t tiles_kept(const struct tt_launch *launch, uint64_t width)
{
	uint64_t tile = tt_tensor_tile_bytes(launch->inputs[AFTER_IN]);
	double usable = (double)tt_l1_free(launch->device) * 0.95;

	return (double)(width * tile) > usable ? (uint64_t)(usable / (double)tile) / 7 : width;
}

/* A whole row of tiles stays in L1 between its two passes; layer_norm keeps x - mean beside it. */
static tt_status norm_after_rows(struct tt_plan *plan, const struct tt_launch *launch)
{
	bool mean = launch->attrs[AFTER_TYPE].integer != TT_NORM_RMS;
	const struct tt_tensor *in = launch->inputs[AFTER_IN], *stats = launch->inputs[AFTER_STATS];
	const struct tt_tensor *gamma = launch->inputs[AFTER_WEIGHT];
	const struct tt_tensor *beta = launch->inputs[AFTER_BIAS];
	const struct ttnn_value *compute = &launch->attrs[AFTER_COMPUTE];
	uint64_t small = tt_tile_bytes_of(TTNN_BFLOAT16), inter = between_tile(compute);
	uint64_t width = tt_tiles_across(in);
	struct norm_grid grid;

	TT_TRY(check_devices(launch));
	TT_REQUIRE((in->spec.dtype != TTNN_FLOAT32 && stats->spec.dtype != TTNN_FLOAT32) ||
			   fp32_of(compute),
		   "!((in_data_format == tt::DataFormat::Float32 || stats_data_format == "
		   "tt::DataFormat::Float32) && !fp32_dest_acc_en)",
		   "FLOAT32 input/stats require fp32_dest_acc_en=true in the compute kernel "
		   "config.");
	if (is_2d(&launch->attrs[AFTER_2D])) {
		TT_TRY(norm_grid_of(&grid, launch));
		width /= grid.across;
	} else {
		TT_TRY(tt_norm_cores(&grid.cores, launch));
		width = tiles_kept(launch, width);
	}
	return TT_PLAN(plan, grid.cores,
		       TT_DFB_ROW(0, "input", .pages = width, .page = tt_tensor_tile_bytes(in)),
		       TT_DFB_ROW(1, "stats", .pages = tt_tiles_across(stats),
				  .page = tt_tensor_tile_bytes(stats)),
		       TT_DFB_ROW(2, "gamma", .pages = gamma ? width : 0,
				  .page = tt_tensor_tile_bytes(gamma)),
		       TT_DFB_ROW(3, "beta", .pages = beta ? width : 0,
				  .page = tt_tensor_tile_bytes(beta)),
		       TT_DFB_ROW(4, "eps", .pages = 1, .page = small),
		       TT_DFB_ROW(5, "reduce", .pages = 1,
				  .page = in->spec.dtype == TTNN_FLOAT32 ? tt_tensor_tile_bytes(in)
									 : small),
		       TT_DFB_ROW(6, "stats_reduced", .pages = mean ? 2 : 0, .page = inter),
		       TT_DFB_ROW(7, "mean_squared", .pages = mean, .page = inter),
		       TT_DFB_ROW(9, "x_minus_mean", .pages = mean ? width : 0, .page = inter),
		       TT_DFB_ROW(8, "var", .pages = 1, .page = inter),
		       TT_DFB_ROW(10, "recip_sqrt_var", .pages = 1, .page = inter),
		       TT_DFB_ROW(13, "x_normed", .pages = gamma || (beta && mean) ? width : 0,
				  .page = inter),
		       TT_DFB_ROW(12, "times_gamma_out", .pages = gamma && beta ? width : 0,
				  .page = inter),
		       TT_DFB_ROW(14, "out", .pages = width,
				  .page = tt_tensor_tile_bytes(launch->outputs[0])));
}

/* There is no form in parts of rows here: what does not fit is refused. */
static tt_status norm_after_welford(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct tt_tensor *in = launch->inputs[AFTER_IN], *stats = launch->inputs[AFTER_STATS];
	const struct tt_tensor *gamma = launch->inputs[AFTER_WEIGHT];
	const struct tt_tensor *beta = launch->inputs[AFTER_BIAS];
	const struct ttnn_value *compute = &launch->attrs[AFTER_COMPUTE];
	uint64_t inter = between_tile(compute), width = tiles_kept(launch, tt_tiles_across(in));
	const ttnn_core_set *cores;

	TT_TRY(check_devices(launch));
	TT_REQUIRE(width == tt_tiles_across(in), "W <= tile_width * in0_tiles",
		   "W (%u) exceeds the maximum supported size of tile buffer (32 * %llu, kernel "
		   "limitation right now)",
		   tt_shape_last(&in->spec.padded, 1), (unsigned long long)width);
	TT_REQUIRE(
		in->spec.dtype != TTNN_FLOAT32 || fp32_of(compute),
		"!(in_data_format == tt::DataFormat::Float32 && !fp32_dest_acc_en)",
		"layer_norm_post_all_gather with Float32 input requires fp32_dest_acc_en=true in "
		"the compute kernel config; otherwise precision is silently lost in the "
		"unpacker format conversion.");
	TT_TRY(tt_norm_cores(&cores, launch));
	return TT_PLAN(
		plan, cores,
		TT_DFB_ROW(0, "input", .pages = width, .page = tt_tensor_tile_bytes(in)),
		TT_DFB_ROW(1, "stats", .pages = tt_tiles_across(stats),
			   .page = tt_tensor_tile_bytes(stats)),
		TT_DFB_ROW(2, "gamma", .pages = gamma ? width : 0,
			   .page = tt_tensor_tile_bytes(gamma)),
		TT_DFB_ROW(3, "beta", .pages = beta ? width : 0,
			   .page = tt_tensor_tile_bytes(beta)),
		TT_DFB_ROW(4, "eps", .pages = 1, .page = tt_tile_bytes_of(TTNN_BFLOAT16)),
		TT_DFB_ROW(5, "reduce", .pages = 1, .page = inter),
		TT_DFB_ROW(6, "stats_reduced", .pages = 2, .page = inter),
		TT_DFB_ROW(10, "recip_sqrt_var", .pages = 1, .page = inter),
		TT_DFB_ROW(9, "x_minus_mean", .pages = width, .page = inter),
		TT_DFB_ROW(13, "x_normed", .pages = gamma || beta ? width : 0, .page = inter),
		TT_DFB_ROW(12, "times_gamma_out", .pages = gamma && beta ? width : 0,
			   .page = inter),
		TT_DFB_ROW(14, "out", .pages = width,
			   .page = tt_tensor_tile_bytes(launch->outputs[0])));
}

static tt_status norm_after_choose(uint32_t *out, struct tt_launch *launch)
{
	*out = tt_norm_config_welford(&launch->attrs[AFTER_CONFIG]);
	return TTNN_OK;
}

static const struct tt_factory after_factories[] = {
	{"ttnn::prim::LayerNormPostAllGatherProgramFactory", norm_after_rows},
	{"ttnn::prim::LayerNormPostAllGatherWelfordProgramFactory", norm_after_welford},
};

/* The counterpart of norm_before_kernel(). */
static tt_status norm_after_kernel(struct tt_launch *launch)
{
	const struct tt_norm_job job = {
		.out = launch->outputs[0],
		.in = launch->inputs[AFTER_IN],
		.gamma = launch->inputs[AFTER_WEIGHT],
		.beta = launch->inputs[AFTER_BIAS],
		.kind = (enum tt_norm_kind)launch->attrs[AFTER_TYPE].integer,
		.epsilon = launch->attrs[AFTER_EPS].real};

	return tt_norm_config_welford(&launch->attrs[AFTER_CONFIG])
		       ? tt_norm_apply_parts(&job, launch->inputs[AFTER_STATS])
		       : tt_norm_apply(&job, launch->inputs[AFTER_STATS], false);
}

static const struct tt_prog after_program = {
	.device_op = "LayerNormPostAllGatherDeviceOperation",
	.prim = "ttnn::prim::layer_norm_post_all_gather",
	.attrs = &after_schema,
	.infer = norm_after_infer,
	.validate = norm_after_validate,
	.factories = after_factories,
	.factory_count = TT_COUNT(after_factories),
	.choose = norm_after_choose,
	TT_KERNEL(norm_after_kernel),
};

/* ---- operations ---------------------------------------------------------------------------------------- */

/* Shards go through the program of the whole, which wants a configuration. */
static tt_status on_shards(struct tt_call *call, const struct tt_norm_args *args)
{
	static const struct ttnn_value fields[3] = {
		{.kind = TTNN_VALUE_BOOL}, {.kind = TTNN_VALUE_BOOL}, {.kind = TTNN_VALUE_BOOL}};
	const struct ttnn_value plain = tt_value_object(&tt_schema_norm_default, fields);
	struct tt_norm_args with = *args;
	struct tt_tensor *out;

	if (!tt_value_given(args->config))
		with.config = &plain;
	return tt_call_give(call, tt_norm_launch(&out, call, &with), &out);
}

static tt_status other_shapes(const struct ttnn_tensor_spec *in,
			      const struct ttnn_tensor_spec *residual)
{
	const struct ttnn_shape *shapes[] = {&in->shape, &in->padded, &residual->shape,
					     &residual->padded};
	struct tt_str texts[TT_COUNT(shapes)] = {{0}};
	tt_status status;

	for (size_t i = 0; i < TT_COUNT(shapes); i++)
		tt_text_shape(&texts[i], shapes[i], TTNN_DIALECT_TT_METAL);
	status = tt_fail_cond(TTNN_INVALID,
			      "input.logical_shape() == b.logical_shape() && input.padded_shape() "
			      "== b.padded_shape()",
			      "Input and residual logical and padded shapes must match, got input: "
			      "logical=%s padded=%s vs residual: logical=%s padded=%s",
			      tt_str_text(&texts[0]), tt_str_text(&texts[1]),
			      tt_str_text(&texts[2]), tt_str_text(&texts[3]));
	for (size_t i = 0; i < TT_COUNT(shapes); i++)
		tt_str_deinit(&texts[i]);
	return status;
}

/* Before anything is filled. */
static tt_status check_residual(const struct ttnn_tensor_spec *in, const struct tt_tensor *residual)
{
	if (!residual)
		return TTNN_OK;
	TT_REQUIRE(residual->spec.layout == TTNN_TILE, "b.layout() == Layout::TILE",
		   "Residual tensor must have TILE layout, got: Layout::%s",
		   tt_enum_name(&tt_enum_layout, residual->spec.layout));
	if (!ttnn_shape_equal(&in->shape, &residual->spec.shape) ||
	    !ttnn_shape_equal(&in->padded, &residual->spec.padded))
		return other_shapes(in, &residual->spec);
	TT_REQUIRE(!tt_memory_config_is_sharded(&residual->spec.memory),
		   "b.memory_config().memory_layout() == TensorMemoryLayout::INTERLEAVED",
		   "Residual tensor must be interleaved.");
	return TTNN_OK;
}

/* What lies beside the values of a tile is counted, so it is made zeros. */
static tt_status zeros_beside(struct tt_tensor **out, struct tt_call *call,
			      struct tt_tensor *tensor)
{
	*out = NULL;
	if (!tensor)
		return TTNN_OK;
	TT_TRY(TT_CALL(out, call, "ttnn.fill_implicit_tile_padding",
		       {"input_tensor", ttnn_v_tensor(tensor)}, {"fill_value", ttnn_v_real(0)}));
	tt_call_own(call, *out);
	return TTNN_OK;
}

/*
 * Shards go through the program of layer_norm.c with a stage; only interleaved input takes this
 * one.
 */
static tt_status norm_before(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor");
	struct tt_tensor *residual = tt_call_tensor(call, "residual_input_tensor");
	struct tt_tensor *inputs[BEFORE_INPUTS] = {NULL};
	const struct tt_compute_usual usual = {.fidelity = TT_HIFI4, .approx = true};
	struct tt_norm_args args = {
		.type = is_rms(call) ? TT_NORM_RMS : TT_NORM_LAYER,
		.stage = TT_NORM_BEFORE_GATHER,
		.inputs = {in, residual},
		.memory = tt_call_memory(call, "memory_config"),
		.config = tt_call_arg(call, "program_config"),
		.dtype = ttnn_v_dtype(tt_call_dtype(call, "dtype", TTNN_BFLOAT16)),
		.compute =
			tt_compute_config(call, tt_call_arg(call, "compute_kernel_config"), &usual),
	};
	struct ttnn_memory_config own = in->spec.memory;
	struct ttnn_value attrs[before_schema_count];

	if (tt_tensor_is_sharded(in))
		return on_shards(call, &args);
	TT_TRY(tt_need_device(in));
	TT_TRY(check_residual(&in->spec, residual));
	TT_TRY(zeros_beside(&inputs[BEFORE_IN], call, in));
	TT_TRY(zeros_beside(&inputs[BEFORE_RESIDUAL], call, residual));
	inputs[BEFORE_RECIPROCALS] = tt_call_tensor(call, "recip_tensor");
	attrs[BEFORE_TYPE] = tt_value_enum(&tt_enum_norm_distributed, args.type);
	attrs[BEFORE_DTYPE] = args.dtype;
	attrs[BEFORE_MEMORY] = ttnn_v_memory(args.memory ? args.memory : &own);
	attrs[BEFORE_COMPUTE] = args.compute;
	attrs[BEFORE_CONFIG] = *args.config;
	attrs[BEFORE_2D] = *tt_call_arg(call, "use_2d_core_grid");
	attrs[BEFORE_FAST] = *tt_call_arg(call, "fast_and_approximate_mode");
	return TT_LAUNCH_RETURN(call, &before_program, .attrs = attrs, .inputs = inputs,
				.input_count = BEFORE_INPUTS);
}

/* The same for the second half. */
static tt_status norm_after(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor");
	struct tt_tensor *const inputs[AFTER_INPUTS] = {in, tt_call_tensor(call, "stats"),
							tt_call_tensor(call, "weight"),
							tt_call_tensor(call, "bias")};
	const struct tt_compute_usual usual = {.fidelity = TT_HIFI4, .approx = true};
	struct tt_norm_args args = {
		.type = is_rms(call) ? TT_NORM_RMS : TT_NORM_LAYER,
		.stage = TT_NORM_AFTER_GATHER,
		.inputs = {in, NULL, inputs[AFTER_WEIGHT], inputs[AFTER_BIAS], inputs[AFTER_STATS]},
		.memory = tt_call_memory(call, "memory_config"),
		.config = tt_call_arg(call, "program_config"),
		.dtype = *tt_call_arg(call, "dtype"),
		.compute =
			tt_compute_config(call, tt_call_arg(call, "compute_kernel_config"), &usual),
		.eps = tt_call_real(call, "epsilon", 1e-12),
	};
	struct ttnn_memory_config own = in->spec.memory;
	struct ttnn_value attrs[after_schema_count];

	if (tt_tensor_is_sharded(in))
		return on_shards(call, &args);
	attrs[AFTER_TYPE] = tt_value_enum(&tt_enum_norm_distributed, args.type);
	attrs[AFTER_EPS] = ttnn_v_real(args.eps);
	attrs[AFTER_MEMORY] = ttnn_v_memory(args.memory ? args.memory : &own);
	attrs[AFTER_COMPUTE] = args.compute;
	attrs[AFTER_DTYPE] = args.dtype;
	attrs[AFTER_2D] = *tt_call_arg(call, "use_2d_core_grid");
	attrs[AFTER_CONFIG] = *args.config;
	return TT_LAUNCH_RETURN(call, &after_program, .attrs = attrs, .inputs = inputs,
				.input_count = AFTER_INPUTS);
}

static const bool layer = false, rms = true;

#define BEFORE                                                                                     \
	"input_tensor: Tensor, *, dtype: DataType = BFLOAT16, residual_input_tensor: Tensor? = "   \
	"None, compute_kernel_config: ComputeConfig? = None, program_config: ProgramConfig? = "    \
	"None, memory_config: MemoryConfig? = None, "
#define AFTER                                                                                      \
	"input_tensor: Tensor, stats: Tensor, *, epsilon: float = 1e-12, weight: Tensor? = None, " \
	"bias: Tensor? = None, memory_config: MemoryConfig? = None, compute_kernel_config: "       \
	"ComputeConfig? = None, program_config: ProgramConfig? = None, dtype: DataType? = None"
#define OP(called, what, sig, function, truth, which)                                              \
	{                                                                                          \
		.name = called, .doc = what, .sigs = {sig}, .expand = function, .golden = truth,   \
		.row = which                                                                       \
	}
static const struct tt_op ops[] = {
	OP("ttnn.layer_norm_post_all_gather", "layer_norm with the sums of all devices.", AFTER,
	   norm_after, tt_golden_norm_apply, &layer),
	OP("ttnn.layer_norm_pre_all_gather",
	   "The sums that layer_norm needs, of one device's part.",
	   BEFORE "recip_tensor: Tensor? = None, fast_and_approximate_mode: bool = False",
	   norm_before, tt_golden_norm_sums, &layer),
	OP("ttnn.rms_norm_post_all_gather", "rms_norm with the sums of all devices.",
	   AFTER ", use_2d_core_grid: bool? = None", norm_after, tt_golden_norm_apply, &rms),
	OP("ttnn.rms_norm_pre_all_gather", "The sums that rms_norm needs, of one device's part.",
	   BEFORE "use_2d_core_grid: bool? = None, fast_and_approximate_mode: bool = False",
	   norm_before, tt_golden_norm_sums, &rms),
};

const struct tt_op_family tt_family_norm_gather = {"norm_gather", ops, TT_COUNT(ops)};
