/*
 * matmul.c: the program of matrix products. Which blocks it works on and what it keeps is decided elsewhere
 * (matmul.h); here is what it makes of its attributes and tensors.
 *
 * Models MatmulDeviceOperation of ttnn 0.81 with seven factories: specs, refusals (matmul_check*.c), the choice of
 * a program config (matmul_auto.c), memory, cores. Not modelled: the order in which blocks are summed, results of
 * several devices fused with it, what sparse_matmul does, and that an operand a of block floats is packed again where
 * the program transposes it: numbers are rounded in tensors only.
 */
#include "ops/matmul/matmul.h"

#include "backend/backend.h"
#include "ops/activation.h"
#include "ops/compute.h"
#include "ops/movement/movement.h"
#include "tensor/text.h"

#define ATTRS(X)                                                                                   \
	X(CONFIG, "program_config", .text = TT_TEXT_FIXED, .fixed = "<variant>")                   \
	X(BROADCAST, "bcast_batch")                                                                \
	X(MEMORY, "output_mem_config")                                                             \
	X(DTYPE, "output_dtype")                                                                   \
	X(COMPUTE, "compute_kernel_config")                                                        \
	X(UNTILIZE, "untilize_out")                                                                \
	X(GRID, "user_core_coord", .text = TT_TEXT_FIXED, .fixed = "<xy_pair>")                    \
	X(ACTIVATION, "user_fused_activation", .text = TT_TEXT_FIXED,                              \
	  .fixed = "<BasicUnaryWithParam>")                                                        \
	X(BATCHED, "user_run_batched")                                                             \
	X(TRANSPOSE_A, "transpose_a")                                                              \
	X(TRANSPOSE_B, "transpose_b")                                                              \
	X(TILE, "output_tile")                                                                     \
	X(GLOBAL_CB, "global_cb", .text = TT_TEXT_FIXED, .fixed = "<GlobalCircularBuffer>")        \
	X(SUB_DEVICE, "sub_device_id")                                                             \
	X(PIPES, "prefetcher_pipes", .text = TT_TEXT_FIXED, .fixed = "{}")                         \
	X(COLUMN_OFFSET, "in0_column_offset")
TT_ATTRS(schema, "MatmulParams", ATTRS);

/* ---- what is multiplied ------------------------------------------------------------------------------- */

uint32_t tt_matmul_batch(const struct ttnn_shape *shape)
{
	uint32_t batch = 1;

	for (uint32_t i = 0; i + 2 < shape->rank; i++)
		batch *= shape->dim[i];
	return batch;
}

/* With its last two extents exchanged; a vector has but one. */
static struct ttnn_shape transposed(const struct ttnn_shape *shape, bool transpose)
{
	struct ttnn_shape out = *shape;

	if (transpose && out.rank >= 2) {
		out.dim[out.rank - 1] = shape->dim[out.rank - 2];
		out.dim[out.rank - 2] = shape->dim[out.rank - 1];
	}
	return out;
}

static struct ttnn_tile transposed_tile(const struct ttnn_tile *tile, bool transpose)
{
	if (!transpose)
		return *tile;
	return (struct ttnn_tile){tile->width, tile->height, !tile->transpose};
}

/*
 * Extents in tiles, as upstream's checks and cuts take them: M, K and N of padded shapes after
 * transposition. `room` is the L1 below the lowest tensor, so it changes as tensors come and go.
 */
void tt_matmul_measure(struct tt_matmul *matmul)
{
	struct tt_device *device = matmul->device;
	uint64_t lowest = device->info.l1_size;

	matmul->a_shape = transposed(&matmul->a->spec.shape, matmul->transpose_a);
	matmul->b_shape = transposed(&matmul->b->spec.shape, matmul->transpose_b);
	matmul->a_padded = transposed(&matmul->a->spec.padded, matmul->transpose_a);
	matmul->b_padded = transposed(&matmul->b->spec.padded, matmul->transpose_b);
	matmul->a_tile = transposed_tile(&matmul->a->spec.tile, matmul->transpose_a);
	matmul->b_tile = transposed_tile(&matmul->b->spec.tile, matmul->transpose_b);
	matmul->m = tt_shape_last(&matmul->a_padded, 2) / matmul->a_tile.height;
	matmul->k = tt_shape_last(&matmul->a_padded, 1) / matmul->a_tile.width;
	matmul->n = tt_shape_last(&matmul->b_padded, 1) / matmul->b_tile.width;
	matmul->batch_a = tt_matmul_batch(&matmul->a_padded);
	matmul->batch_b = tt_matmul_batch(&matmul->b_padded);
	matmul->fp32 = tt_compute_has(&matmul->compute, TT_COMPUTE_FP32);
	matmul->l1_acc = tt_compute_has(&matmul->compute, TT_COMPUTE_L1_ACC);
	matmul->full_grid = device->info.compute_grid;
	tt_allocator_lowest(&lowest, &device->memory->allocator, TTNN_L1);
	matmul->room = lowest - device->limits.l1_base;
}

/* The shape without one of its dimensions. */
static struct ttnn_shape without(const struct ttnn_shape *shape, uint32_t which)
{
	struct ttnn_shape out = {.rank = 0};

	for (uint32_t i = 0; i < shape->rank; i++)
		if (i != which)
			out.dim[out.rank++] = shape->dim[i];
	return out;
}

/*
 * As torch.matmul has it: a vector's dimension is added for the product and dropped behind it. b
 * may have more dimensions than a only where those are 1.
 */
tt_status tt_matmul_shape(struct ttnn_shape *out, const struct ttnn_shape *a,
			  const struct ttnn_shape *b)
{
	uint32_t rank = (a->rank > b->rank ? a->rank : b->rank) - (a->rank == 1 || b->rank == 1);
	uint32_t extra = rank > a->rank ? rank - a->rank : 0;

	*out = b->rank > a->rank ? *b : *a;
	for (uint32_t i = 0; i < extra; i++)
		TT_REQUIRE(b->dim[i] == 1, "input_shape_b[index] == 1",
			   "When in1 rank greater than in0 rank front dimensions need to be 1");
	for (uint32_t i = 0; i + 1 < a->rank; i++)
		out->dim[extra + i] = a->dim[i];
	out->dim[out->rank - 1] = tt_shape_last(b, 1);
	if (a->rank == 1 && out->rank > 1)
		*out = without(out, out->rank - 2);
	if (b->rank == 1)
		*out = without(out, out->rank - 1);
	/* One matrix a serves all matrices of b. */
	for (uint32_t i = 0; a->rank == b->rank && i + 2 < a->rank; i++)
		if (a->dim[i] == 1)
			out->dim[i] = b->dim[i];
	return TTNN_OK;
}

/* ---- what callers leave open ----------------------------------------------------------------------------- */

static bool low_precision(enum ttnn_dtype dtype)
{
	return dtype == TTNN_BFLOAT8_B || dtype == TTNN_BFLOAT4_B;
}

static enum tt_fidelity fidelity_of(const struct tt_matmul *matmul, bool chosen)
{
	enum ttnn_dtype a = matmul->a->spec.dtype, b = matmul->b->spec.dtype;

	if (a == TTNN_FLOAT32 && b == TTNN_FLOAT32)
		return tt_is_blackhole(matmul->device) ? TT_HIFI4 : TT_HIFI3;
	return chosen || (low_precision(a) && low_precision(b)) ? TT_LOFI : TT_HIFI2;
}

static void complete_compute(struct tt_matmul *matmul, bool chosen, const struct ttnn_value *given)
{
	bool whole = matmul->dtype == TTNN_FLOAT32;
	struct tt_compute_usual usual = {
		.fidelity = fidelity_of(matmul, chosen), .fp32 = whole, .l1_acc = !whole};

	matmul->compute = tt_compute_config(matmul->call, given, &usual);
}

tt_status tt_matmul_refuse_memory(const char *condition, const struct ttnn_memory_config *given,
				  const struct ttnn_memory_config *wanted)
{
	struct tt_str texts[2] = {{0}};

	tt_text_memory_config(&texts[0], given, TTNN_DIALECT_TT_METAL);
	tt_text_memory_config(&texts[1], wanted, TTNN_DIALECT_TT_METAL);
	tt_fail_cond(TTNN_INVALID, condition,
		     "Memory config mismatch between optional output tensor %s & output tensor %s",
		     tt_str_text(&texts[0]), tt_str_text(&texts[1]));
	tt_str_deinit(&texts[0]);
	tt_str_deinit(&texts[1]);
	return TTNN_INVALID;
}

/* Where and of what type the result is; a given output tensor decides. */
static tt_status complete_output(struct tt_matmul *matmul, const enum ttnn_dtype *dtype)
{
	static const struct ttnn_memory_config plain = {.buffer = TTNN_DRAM};
	const struct ttnn_tensor_spec *given = matmul->output ? &matmul->output->spec : NULL;

	matmul->dtype = dtype ? *dtype : matmul->a->spec.dtype;
	if (!given)
		return TTNN_OK;
	if (ttnn_memory_config_equal(&matmul->memory, &plain))
		matmul->memory = given->memory;
	else if (!ttnn_memory_config_equal(&matmul->memory, &given->memory))
		return tt_matmul_refuse_memory(
			"optional_output_tensor->memory_config() == output_mem_config",
			&given->memory, &matmul->memory);
	TT_REQUIRE(!dtype || *dtype == given->dtype,
		   "optional_output_tensor->dtype() == output_dtype.value()",
		   "Type mismatch between optional output tensor DataType::%s & output tensor "
		   "DataType::%s",
		   ttnn_dtype_name(given->dtype, TTNN_DIALECT_TT_METAL),
		   ttnn_dtype_name(*dtype, TTNN_DIALECT_TT_METAL));
	matmul->dtype = given->dtype;
	return TTNN_OK;
}

/*
 * A tile of the result may be wider than b's only in shards, and then at most a face (16 rows)
 * tall.
 */
static tt_status complete_tile(struct tt_matmul *matmul, const struct ttnn_tile *tile)
{
	struct ttnn_tile a = transposed_tile(&matmul->a->spec.tile, matmul->transpose_a);
	struct ttnn_tile b = transposed_tile(&matmul->b->spec.tile, matmul->transpose_b);

	matmul->tile = (struct ttnn_tile){a.height, b.width, false};
	TT_REQUIRE(!tile || !matmul->output,
		   "!(optional_output_tensor_tile.has_value() && output_tile.has_value())",
		   "Matmul cannot have both an output_tile and an optional_output_tensor. "
		   "Configure the tile type of the output tensor instead if both are required.");
	if (!tile && !matmul->output)
		return TTNN_OK;
	matmul->tile = tile ? *tile : matmul->output->spec.tile;
	TT_REQUIRE(b.width != 0 && matmul->tile.width % b.width == 0,
		   "out_tile_shape[1] % in1_tile_w == 0",
		   "the override output tile width (%u) must be a multiple of in1 tile width (%u)",
		   matmul->tile.width, b.width);
	TT_REQUIRE(matmul->tile.height == a.height, "out_tile_shape[0] == in0_tile_h",
		   "the override output tile height (%u) must equal to the in0 tile height (%u)",
		   matmul->tile.height, a.height);
	TT_REQUIRE(matmul->tile.width == b.width || matmul->tile.height <= 16,
		   "out_tile_shape[0] <= constants::FACE_HEIGHT",
		   "the override output tile height (%u) must equal or less to face height (%u)",
		   matmul->tile.height, 16u);
	TT_REQUIRE(tt_memory_config_is_sharded(&matmul->memory) || matmul->tile.width == b.width,
		   "out_tile_shape[1] == in1_tile_w",
		   "the override output tile width (%u) must equal the in0 tile width (%u)",
		   matmul->tile.width, b.width);
	return TTNN_OK;
}

/*
 * What upstream's create_matmul_attributes() fills in: dtype, compute kernel config, tile, whether
 * b is broadcast over batches. A config and a core grid exclude each other.
 */
tt_status tt_matmul_complete(struct tt_matmul *matmul, const struct tt_matmul_config *config,
			     const enum ttnn_dtype *dtype, const struct ttnn_tile *tile,
			     const struct ttnn_value *compute)
{
	struct ttnn_shape b = transposed(&matmul->b->spec.padded, matmul->transpose_b);
	int64_t id;

	matmul->device = tt_tensor_device(matmul->a);
	TT_REQUIRE(matmul->device, "device != nullptr", "Operand to matmul must be on device");
	matmul->broadcast = tt_matmul_batch(&b) == 1;
	if (config && config->kind == TT_MATMUL_REUSE)
		matmul->broadcast =
			matmul->broadcast && tt_matmul_batch(&matmul->a->spec.padded) > 1;
	TT_REQUIRE(!matmul->has_grid || !config, "!(has_user_grid && has_program_config)",
		   "Cannot use both user core grid/coordinates and a program config");
	if (tt_value_given(&matmul->sub_device_id)) {
		TT_NEED(tt_value_integer(&id, &matmul->sub_device_id) && id >= 0,
			"sub_device_id is no number of a sub-device");
		TT_TRY(tt_device_sub_device(&matmul->sub_device, matmul->device, (uint64_t)id));
	}
	TT_TRY(complete_output(matmul, dtype));
	complete_compute(matmul, config || matmul->has_grid, compute);
	TT_TRY(complete_tile(matmul, tile));
	tt_matmul_measure(matmul);
	return TTNN_OK;
}

/* ---- the result's spec ---------------------------------------------------------------------------------------- */

tt_status tt_matmul_rectangle(const ttnn_core_set **out, struct ttnn_core start, uint64_t width,
			      uint64_t height)
{
	struct ttnn_core_range range = {
		start, {start.x + (uint32_t)width - 1, start.y + (uint32_t)height - 1}};

	return ttnn_core_set_make(out, &range, 1);
}

static tt_status allowed_box(struct ttnn_core_range *out, const struct tt_matmul_config *config)
{
	if (config->allowed)
		return tt_core_set_box(out, config->allowed);
	*out = (struct ttnn_core_range){{0, 0}, {config->grid.x - 1, config->grid.y - 1}};
	return TTNN_OK;
}

/* The cores of a sharded result. */
static tt_status result_cores(struct ttnn_shard_spec *shard, const struct tt_matmul *matmul,
			      const struct tt_matmul_config *config)
{
	bool fused = config->kind != TT_MATMUL_1D || config->fuse_batch;
	uint64_t rows = tt_div_up(tt_matmul_rows(matmul, fused), config->m);
	uint64_t cols = tt_div_up(matmul->n, config->n);
	struct ttnn_core grid = matmul->full_grid;
	struct ttnn_core_range box;

	if (config->kind != TT_MATMUL_DRAM) {
		TT_TRY(allowed_box(&box, config));
		grid = (struct ttnn_core){box.end.x - box.start.x + 1, box.end.y - box.start.y + 1};
	}
	if (config->kind == TT_MATMUL_2D) {
		shard->orientation =
			config->transpose_cast ? TTNN_ORIENT_COL_MAJOR : TTNN_ORIENT_ROW_MAJOR;
		return config->transpose_cast
			       ? tt_matmul_rectangle(&shard->grid, box.start, rows, cols)
			       : tt_matmul_rectangle(&shard->grid, box.start, cols, rows);
	}
	if (config->kind == TT_MATMUL_REUSE) {
		shard->orientation = TTNN_ORIENT_COL_MAJOR;
		if (matmul->a->spec.memory.has_shard)
			shard->orientation = matmul->a->spec.memory.shard.orientation;
		else if (matmul->b->spec.memory.has_shard)
			shard->orientation = matmul->b->spec.memory.shard.orientation;
		if (matmul->memory.has_shard) {
			shard->grid = matmul->memory.shard.grid;
			return TTNN_OK;
		}
	}
	return tt_split_cores(&shard->grid, grid, (struct ttnn_core){0, 0}, rows * cols,
			      shard->orientation);
}

/* A block sharded request on one line of cores becomes height or width sharded. */
static bool one_line(struct ttnn_memory_config *memory)
{
	struct ttnn_core_range box;

	if (memory->layout != TTNN_BLOCK_SHARDED || !memory->has_shard ||
	    tt_core_set_box(&box, memory->shard.grid) != TTNN_OK ||
	    (box.start.x != box.end.x && box.start.y != box.end.y))
		return false;
	memory->layout = box.start.x == box.end.x ? TTNN_HEIGHT_SHARDED : TTNN_WIDTH_SHARDED;
	return true;
}

/*
 * Shards of the result follow from the program config, not from what was asked for: per_core_M ×
 * per_core_N tiles each, on as many cores as there are blocks. Only batched DRAM shards,
 * gather_in0 and a result on one line of cores keep the shards that were given.
 */
static tt_status result_memory(struct ttnn_memory_config *out, const struct tt_matmul *matmul,
			       const struct tt_matmul_config *config)
{
	uint32_t ratio = matmul->tile.width / matmul->b_tile.width;
	struct ttnn_shard_spec shard = {.height = config->m * matmul->a_tile.height,
					.width = config->n * matmul->b_tile.width};

	*out = matmul->memory;
	if (!tt_memory_config_is_sharded(out))
		return TTNN_OK;
	TT_NEED(config->kind != TT_MATMUL_MULTI, "Unsupported op for output sharding");
	if (config->kind == TT_MATMUL_DRAM && matmul->a->spec.memory.has_shard) {
		uint32_t width = matmul->a->spec.memory.shard.width / matmul->a_tile.width;

		TT_REQUIRE(width && matmul->k % width == 0, "K % per_core_K == 0",
			   "in DRAM sharded Matmul we don't have support for un-even sharding "
			   "currently. K: %u, per_core_K: %u.",
			   matmul->k, width);
	}
	TT_REQUIRE(config->kind != TT_MATMUL_2D || config->fuse_batch || matmul->batch_a <= 1,
		   "program_config.fuse_batch || get_batch_size(a_shape_padded) == 1",
		   "Block-sharded output is incompatible with batch > 1 (B=%u). The output CB is "
		   "backed by the shard buffer which only holds per_core_M * per_core_N = %u "
		   "tiles, but the kernel would produce B * per_core_M * per_core_N = %u tiles "
		   "without draining. Use fuse_batch=True.",
		   matmul->batch_a, config->m * config->n, matmul->batch_a * config->m * config->n);
	TT_REQUIRE(config->kind != TT_MATMUL_BATCHED_DRAM || out->has_shard,
		   "attributes.output_mem_config.shard_spec().has_value()",
		   "Output memory config must have a shard spec for batched DRAM sharded matmul");
	TT_REQUIRE(config->n % ratio == 0, "per_core_N % tile_width_ratio == 0",
		   "per_core_N (%u) must be a multiple of the output/in1 tile-width ratio (%u) so "
		   "columns fill whole output tiles",
		   config->n, ratio);
	if (config->kind == TT_MATMUL_BATCHED_DRAM || config->gather_a ||
	    (config->kind == TT_MATMUL_1D && one_line(out)))
		return TTNN_OK;
	TT_NEED(config->m && config->n, "Arithmetic exception: division by zero");
	TT_TRY(result_cores(&shard, matmul, config));
	return ttnn_memory_config_sharded(out, out->layout, out->buffer, &shard);
}

/* untilize_out gives rows only to a sharded result; others stay tiles. */
tt_status tt_matmul_result(struct ttnn_tensor_spec *out, const struct tt_matmul_plan *plan)
{
	const struct tt_matmul *matmul = &plan->matmul;
	struct ttnn_spec_args args = {.dtype = matmul->dtype, .tile = matmul->tile};

	TT_TRY(tt_matmul_shape(&args.shape, &matmul->a_shape, &matmul->b_shape));
	if (tt_memory_config_is_sharded(&matmul->memory))
		TT_TRY(tt_matmul_refused(plan));
	TT_TRY(result_memory(&args.memory, matmul, &plan->config));
	args.layout = matmul->untilize && tt_memory_config_is_sharded(&args.memory) ? TTNN_ROW_MAJOR
										    : TTNN_TILE;
	if (args.layout == TTNN_ROW_MAJOR)
		args.tile = TT_TILE_DEFAULT;
	return ttnn_tensor_spec_make(out, &args);
}

static tt_status matmul_infer(struct tt_launch *launch)
{
	if (tt_infer_given(launch, 0))
		return TTNN_OK;
	return tt_matmul_result(&launch->specs[0], launch->extra);
}

static tt_status matmul_validate(struct tt_launch *launch)
{
	const struct tt_matmul_plan *plan = launch->extra;

	return tt_matmul_check(&plan->matmul, &plan->config, &launch->outputs[0]->spec);
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

enum { F_MULTI, F_REUSE, F_1D, F_1D_GATHER, F_2D, F_DRAM, F_BATCHED_DRAM };

static const struct tt_factory factories[] = {
	[F_MULTI] = {.name = "ttnn::prim::MatmulMultiCoreProgramFactory",
		     .memory = tt_matmul_memory},
	[F_REUSE] = {.name = "ttnn::prim::MatmulMultiCoreReuseOptimizedProgramFactory",
		     .memory = tt_matmul_memory},
	[F_1D] = {.name = "ttnn::prim::MatmulMultiCoreReuseMcast1DProgramFactory",
		  .memory = tt_matmul_memory},
	[F_1D_GATHER] =
		{.name = "ttnn::prim::MatmulMeshWorkloadMultiCoreReuseMcast1DProgramFactory",
		 .memory = tt_matmul_memory},
	[F_2D] = {.name = "ttnn::prim::MatmulMultiCoreReuseMcast2DProgramFactory",
		  .memory = tt_matmul_memory},
	[F_DRAM] = {.name = "ttnn::prim::MatmulMultiCoreReuseMultiCastDRAMShardedProgramFactory",
		    .memory = tt_matmul_memory},
	[F_BATCHED_DRAM] =
		{.name = "ttnn::prim::MatmulMultiCoreReuseBatchedHSDRAMShardedProgramFactory",
		 .memory = tt_matmul_memory},
};

/*
 * The kind of config decides; gather_in0 is a factory of its own. The plan is copied, because the
 * memory rows of a cached program need it after the call is over.
 */
static tt_status matmul_choose(uint32_t *out, struct tt_launch *launch)
{
	static const uint8_t index[] = {
		[TT_MATMUL_MULTI] = F_MULTI, [TT_MATMUL_REUSE] = F_REUSE,
		[TT_MATMUL_2D] = F_2D,       [TT_MATMUL_1D] = F_1D,
		[TT_MATMUL_DRAM] = F_DRAM,   [TT_MATMUL_BATCHED_DRAM] = F_BATCHED_DRAM,
	};
	struct tt_matmul_plan *plan = tt_arena_alloc(launch->arena, sizeof(*plan));

	TT_NEED_MEMORY(plan);
	*plan = *(const struct tt_matmul_plan *)launch->extra;
	launch->work = plan;
	*out = plan->config.gather_a ? F_1D_GATHER : index[plan->config.kind];
	return TTNN_OK;
}

/* A bias that does not fit is refused behind the program: what it gives then is never seen. */
static struct tt_tensor *fitting_bias(struct tt_tensor *bias, const struct tt_tensor *result)
{
	const struct ttnn_shape *out = &result->spec.shape;

	for (uint32_t back = 1; bias && back <= 2; back++) {
		uint32_t extent = tt_shape_last(&bias->spec.shape, back);

		if (extent != 1 && extent != tt_shape_last(out, back))
			return NULL;
	}
	return bias;
}

/* The backend computes the whole product at once; blocks matter only to the model. */
static tt_status matmul_kernel(struct tt_launch *launch)
{
	const struct tt_matmul_plan *plan = launch->extra;
	struct tt_unary_step post[TT_UNARY_STEPS_MAX];
	struct tt_matmul_job job = {.out = launch->outputs[0],
				    .a = launch->inputs[0],
				    .b = launch->inputs[1],
				    .transpose_a = plan->matmul.transpose_a,
				    .transpose_b = plan->matmul.transpose_b,
				    .alpha = 1,
				    .bias = fitting_bias(launch->inputs[2], launch->outputs[0]),
				    .beta = 1,
				    .post = post};
	size_t count = 0;

	if (tt_value_given(&plan->config.activation)) {
		struct ttnn_value chain = ttnn_v_list(&plan->config.activation, 1);

		TT_TRY(tt_unary_steps(post, &count, &chain));
	}
	job.post_count = (uint32_t)count;
	return tt_backend_get()->matmul(&job);
}

const struct tt_prog tt_prog_matmul = {
	.device_op = "MatmulDeviceOperation",
	.prim = "ttnn::prim::matmul",
	.attrs = &schema,
	.infer = matmul_infer,
	.validate = matmul_validate,
	.factories = factories,
	.factory_count = sizeof(factories) / sizeof(factories[0]),
	.choose = matmul_choose,
	TT_KERNEL(matmul_kernel),
	.cost = tt_cost_product,
};

static struct ttnn_value core_value(struct ttnn_core core)
{
	return (struct ttnn_value){.kind = TTNN_VALUE_CORE, .core = core};
}

/*
 * The attributes are upstream's MatmulParams in its order: their texts and the cache key come from
 * them.
 */
static tt_status bind(struct ttnn_value *attrs, const struct tt_matmul_plan *plan)
{
	const struct tt_matmul *matmul = &plan->matmul;

	TT_TRY(tt_matmul_config_value(&attrs[CONFIG], matmul->call->arena, &plan->config));
	attrs[BROADCAST] = ttnn_v_bool(matmul->broadcast);
	attrs[MEMORY] = ttnn_v_memory(&matmul->memory);
	attrs[DTYPE] = ttnn_v_dtype(matmul->dtype);
	attrs[COMPUTE] = matmul->compute;
	attrs[UNTILIZE] = ttnn_v_bool(matmul->untilize);
	attrs[GRID] = matmul->has_grid ? core_value(matmul->user_grid) : ttnn_v_none();
	attrs[ACTIVATION] = matmul->activation;
	attrs[BATCHED] = ttnn_v_bool(matmul->batched);
	attrs[TRANSPOSE_A] = ttnn_v_bool(matmul->transpose_a);
	attrs[TRANSPOSE_B] = ttnn_v_bool(matmul->transpose_b);
	attrs[TILE] = (struct ttnn_value){.kind = TTNN_VALUE_TILE, .tile = &matmul->tile};
	attrs[GLOBAL_CB] = tt_value_given(&matmul->global_cb) ? matmul->global_cb : ttnn_v_none();
	attrs[COLUMN_OFFSET] = ttnn_v_none();
	attrs[SUB_DEVICE] = matmul->sub_device_id;
	attrs[PIPES] = ttnn_v_list(NULL, 0);
	return TTNN_OK;
}

/* Whether there is nothing to multiply: no config fits that, and whoever validates refuses it. */
static bool is_empty(const struct tt_matmul *matmul)
{
	return !matmul->m || !matmul->k || !matmul->n || !matmul->batch_a || !matmul->batch_b;
}

/* Without a config the object says none, and the plan has the one that is chosen. */
tt_status tt_matmul_plan_make(struct tt_matmul_plan *out, struct ttnn_value *attrs,
			      const struct tt_matmul *matmul, const struct tt_matmul_config *config)
{
	struct ttnn_value *fields =
		tt_arena_alloc(matmul->call->arena, schema_count * sizeof(*fields));

	TT_NEED_MEMORY(fields);
	*out = (struct tt_matmul_plan){.matmul = *matmul, .fused = TT_MATMUL_BEHIND};
	if (config)
		out->config = *config;
	else if (!is_empty(matmul))
		out->refused = tt_matmul_choose(&out->config, matmul) != TTNN_OK;
	TT_TRY(bind(fields, out));
	if (!config)
		fields[CONFIG] = ttnn_v_none();
	*attrs = tt_value_object(&schema, fields);
	return TTNN_OK;
}

tt_status tt_matmul_refused(const struct tt_matmul_plan *plan)
{
	struct tt_matmul_config none;

	return plan->refused ? tt_matmul_choose(&none, &plan->matmul) : TTNN_OK;
}

tt_status tt_matmul_launch(struct tt_tensor **out, struct tt_call *call, struct tt_matmul *matmul,
			   const struct tt_matmul_config *config)
{
	struct tt_tensor *const inputs[] = {matmul->a, matmul->b, matmul->bias};
	struct tt_matmul_plan plan = {.matmul = *matmul};
	struct ttnn_value attrs[schema_count];

	if (config)
		plan.config = *config;
	else
		TT_TRY(tt_matmul_choose(&plan.config, matmul));
	TT_TRY(bind(attrs, &plan));
	return TT_LAUNCH(out, call, &tt_prog_matmul, .attrs = attrs, .inputs = inputs,
			 .input_count = 3, .outputs = &matmul->output, .output_count = 1,
			 .extra = &plan,
			 .grid = matmul->sub_device); /* which cores: not only its number */
}
