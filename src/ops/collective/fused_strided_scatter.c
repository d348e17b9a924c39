/*
 * fused_strided_scatter.c: minimal_matmul_strided_reduce_scatter_async, a product in blocks of a given size, whose sums over
 * the chips of a ring are spread among them, with a gate behind the sums.
 *
 * Models MinimalMatmulStridedReduceScatterAsync of ttnn 0.81: specs, refusals, buffers of those who send and of the product,
 * and where they count what is ready. A product in a window is not kept: it holds zeros. Not modelled: strides, who
 * signals what, counts in the caller's tensors, and the order in which programs give up those of their own.
 */
#include <inttypes.h>
#include <string.h>
#include <ttnn_frontend.h>

#include "backend/backend.h"
#include "device/device.h"
#include "device/devtensor.h"
#include "golden/golden_fused.h"
#include "ops/collective/fused_minimal.h"
#include "ops/compute.h"
#include "ops/usual.h"
#include "tensor/text.h"

#define SEMAPHORES .text = TT_TEXT_EACH, .fixed = "<GlobalSemaphore>", .unkeyed = true
#define BARRIER_OF .text = TT_TEXT_FIXED, .fixed = "<GlobalSemaphore>", .unkeyed = true
#define SUB_DEVICE .text = TT_TEXT_ALWAYS, .fixed = "<StrongType>"

#define WHOLE_ATTRS(X)                                                                             \
	X(PRODUCT, "matmul_struct")                                                                \
	X(SCALAR, "fused_ternary_scalar")                                                          \
	X(M_DIM, "dim")                                                                            \
	X(M_LINKS, "num_links")                                                                    \
	X(M_SIZE, "ring_size")                                                                     \
	X(M_MEMORY, "rs_output_mem_config")                                                        \
	X(M_BETWEEN, "rs_intermediate_mem_config")                                                 \
	X(M_TOPOLOGY, "topology")                                                                  \
	X(M_SIGNALS, "semaphore", SEMAPHORES)                                                      \
	X(M_BARRIER, "barrier_semaphore", BARRIER_OF)                                              \
	X(M_PERSISTENT, "using_persistent_buffers")                                                \
	X(M_SUB_DEVICE, "sub_device_id", SUB_DEVICE)                                               \
	X(M_AXIS, "cluster_axis")                                                                  \
	X(M_WORKERS, "num_workers_per_link")                                                       \
	X(M_BUFFERS, "num_buffers_per_channel")                                                    \
	X(M_CHUNK_W, "chunk_width_in_mm_blocks")                                                   \
	X(WINDOW, "mm_window_blocks")                                                              \
	X(OFFSET, "reduce_scatter_core_grid_offset", .text = TT_TEXT_FIXED, .fixed = "<xy_pair>")
TT_ATTRS(whole_schema, "MinimalMatmulStridedReduceScatterAsyncParams", WHOLE_ATTRS);

/* ---- sums of products: specs -------------------------------------------------------------------------------------------- */

enum { IN, WEIGHT, OUTPUT, BIAS, ADDED, GATE, PROGRESS, CREDITS, SUFFIX, INPUTS };

/* The product alone: of an operand, or of two whose rows continue each other. */
static struct tt_launch product_part(const struct tt_launch *launch, struct tt_tensor **inputs)
{
	struct tt_launch part = *launch;

	inputs[0] = launch->inputs[IN];
	inputs[1] = launch->inputs[WEIGHT];
	inputs[2] = launch->inputs[BIAS];
	inputs[5] = launch->inputs[SUFFIX];
	part.prog = &tt_prog_minimal_matmul;
	part.attrs = tt_blocks_attrs(launch);
	part.inputs = inputs;
	part.input_count = 6;
	part.output_count = 1;
	return part;
}

static int64_t window_of(const struct tt_launch *launch)
{
	const struct ttnn_value *window = &launch->attrs[WINDOW];

	return window->kind == TTNN_VALUE_INT ? window->integer : -1;
}

/* Where the product lies: where the caller says, or as the operand. */
static const struct ttnn_memory_config *product_memory(const struct tt_launch *launch)
{
	const struct ttnn_value *memory = &tt_blocks_attrs(launch)[TT_MINIMAL_MEMORY];

	return memory->kind == TTNN_VALUE_MEMORY ? memory->memory
						 : &launch->inputs[IN]->spec.memory;
}

static bool in_l1(const struct tt_launch *launch)
{
	return window_of(launch) >= 0 || product_memory(launch)->buffer == TTNN_L1;
}

static const struct ttnn_value *config_of(const struct tt_launch *launch)
{
	const struct ttnn_value *config = &tt_blocks_attrs(launch)[TT_MINIMAL_CONFIG];

	return config->kind == TTNN_VALUE_OBJECT &&
			       config->items[TT_MINIMAL_GRID].kind == TTNN_VALUE_CORE
		       ? config
		       : NULL;
}

/* In L1 it is in shards on the cores that compute it; in a window of so many blocks of rows on each. */
static tt_status product_spec(struct ttnn_tensor_spec *out, const struct tt_launch *launch,
			      struct ttnn_shape shape, enum ttnn_dtype dtype)
{
	const struct ttnn_value *config = config_of(launch);
	struct ttnn_shard_spec shard = {.orientation = TTNN_ORIENT_ROW_MAJOR};
	struct ttnn_memory_config memory = *product_memory(launch);
	struct ttnn_core grid;
	uint64_t rows;

	TT_REQUIRE(window_of(launch) != 0, "*attributes.mm_window_blocks >= 1",
		   "mm_window_blocks must be >= 1, got 0 — a zero-height window has no valid shard "
		   "geometry (2 is the measured perf-neutral default).");
	grid = config ? config->items[TT_MINIMAL_GRID].core : (struct ttnn_core){0};
	if (!in_l1(launch) || !grid.x || !grid.y)
		return tt_spec_simple(out, &shape, dtype, TTNN_TILE, &memory);
	rows = tt_div_up(tt_shape_last(&shape, 2) / TT_TILE, grid.y);
	if (window_of(launch) > 0) {
		rows = (uint64_t)window_of(launch) * tt_minimal_block(config, TT_MINIMAL_M);
		TT_NEED(rows * grid.y < UINT32_MAX / TT_TILE, "mm_window_blocks is too large");
		shape.dim[shape.rank - 2] = (uint32_t)rows * grid.y * TT_TILE;
	}
	shard.height = (uint32_t)rows * TT_TILE;
	shard.width = (uint32_t)tt_div_up(tt_shape_last(&shape, 1) / TT_TILE, grid.x) * TT_TILE;
	TT_TRY(tt_core_set_grid(&shard.grid, grid.x, grid.y));
	TT_TRY(ttnn_memory_config_sharded(&memory, TTNN_BLOCK_SHARDED, TTNN_L1, &shard));
	return tt_spec_simple(out, &shape, dtype, TTNN_TILE, &memory);
}

static tt_status whole_infer(struct tt_launch *launch)
{
	static const struct ttnn_memory_config dram = {.buffer = TTNN_DRAM};
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec;
	const struct ttnn_value *given = &tt_blocks_attrs(launch)[TT_MINIMAL_DTYPE];
	const struct ttnn_value *between = &launch->attrs[M_BETWEEN];
	enum ttnn_dtype dtype = tt_value_given(given) ? (enum ttnn_dtype)given->integer : in->dtype;
	uint32_t dim = tt_attr_u32(launch, M_DIM);
	struct ttnn_shape shape = in->shape;

	TT_TRY(tt_need_dim(&shape, dim));
	TT_NEED(shape.rank >= 2 && launch->inputs[WEIGHT]->spec.shape.rank >= 2,
		"minimal_matmul_strided_reduce_scatter_async multiplies matrices");
	launch->output_count = 3;
	shape.dim[shape.rank - 1] = tt_shape_last(&launch->inputs[WEIGHT]->spec.shape, 1);
	TT_TRY(product_spec(&launch->specs[0], launch, shape, dtype));
	TT_TRY(tt_spec_simple(&launch->specs[1], &shape, dtype, TTNN_TILE,
			      between->kind == TTNN_VALUE_MEMORY ? between->memory
			      : in_l1(launch)                    ? &dram
								 : product_memory(launch)));
	if (tt_infer_given(launch, 2))
		return TTNN_OK;
	shape.dim[dim] /= tt_attr_u32(launch, M_SIZE);
	return tt_spec_simple(&launch->specs[2], &shape, dtype, TTNN_TILE,
			      launch->attrs[M_MEMORY].memory);
}

/* ---- sums of products: refusals ------------------------------------------------------------------------------------------ */

/* What the sums are added to, and what they are multiplied by before. */
static tt_status check_gate(const struct tt_launch *launch)
{
	const struct tt_tensor *a = launch->inputs[ADDED], *b = launch->inputs[GATE];
	uint32_t m = tt_shape_last(&launch->inputs[IN]->spec.padded, 2), rows;
	uint32_t n = tt_shape_last(&launch->inputs[WEIGHT]->spec.padded, 1) /
		     tt_attr_u32(launch, M_SIZE);

	if (!a && !b)
		return TTNN_OK;
	TT_REQUIRE(
		a && b,
		"tensor_args.addcmul_input_tensor1.has_value() && "
		"tensor_args.addcmul_input_tensor2.has_value()",
		"Both addcmul_input_tensor1 and addcmul_input_tensor2 must be provided together.");
	TT_REQUIRE(tt_value_given(&launch->attrs[SCALAR]),
		   "attributes.fused_ternary_scalar.has_value()",
		   "fused_ternary_scalar must be set when addcmul inputs are provided.");
	TT_REQUIRE(a->spec.layout == TTNN_TILE, "ta.layout() == Layout::TILE",
		   "addcmul_input_tensor1 must be TILE layout");
	TT_REQUIRE(b->spec.layout == TTNN_TILE, "tb.layout() == Layout::TILE",
		   "addcmul_input_tensor2 must be TILE layout");
	TT_REQUIRE(tt_blocks_takes(a) && tt_blocks_takes(b),
		   "dtype_supported(ta.dtype()) && dtype_supported(tb.dtype())",
		   "addcmul tensors must have supported dtypes (BFLOAT16, BFLOAT8_B, BFLOAT4_B, "
		   "FLOAT32)");
	rows = tt_shape_last(&a->spec.shape, 2);
	TT_REQUIRE(rows == m && tt_shape_last(&a->spec.shape, 1) == n,
		   "ta_shape[-2] == M && ta_shape[-1] == N_rs",
		   "addcmul_input_tensor1 shape must match RS output [M=%u, N/ring_size=%u], got "
		   "[%u, %u]",
		   m, n, rows, tt_shape_last(&a->spec.shape, 1));
	rows = tt_shape_last(&b->spec.shape, 2);
	TT_REQUIRE((rows == 1 || rows == m) && tt_shape_last(&b->spec.shape, 1) == n,
		   "(tb_shape[-2] == 1 || tb_shape[-2] == M) && tb_shape[-1] == N_rs",
		   "addcmul_input_tensor2 shape must be broadcast [1, N/ring_size=%u] or full "
		   "[M=%u, N/ring_size=%u], got [%u, %u]",
		   n, m, n, rows, tt_shape_last(&b->spec.shape, 1));
	return TTNN_OK;
}

static tt_status check_counter(const struct tt_tensor *counter, const char *name, uint64_t slots)
{
	const struct ttnn_memory_config *memory = &counter->spec.memory;

	TT_REQUIRE(
		memory->buffer == TTNN_L1 && memory->has_shard,
		"t.memory_config().buffer_type() == tt::tt_metal::BufferType::L1 && "
		"t.memory_config().shard_spec().has_value()",
		"%s must be an L1 sharded tensor so that its row lands at the same local address "
		"on every core that reads it",
		name);
	TT_REQUIRE(counter->spec.dtype == TTNN_UINT32, "t.dtype() == DataType::UINT32",
		   "%s must be uint32, got DataType::%s", name,
		   ttnn_dtype_name(counter->spec.dtype, TTNN_DIALECT_TT_METAL));
	TT_REQUIRE(memory->shard.width >= slots, "row_slots >= min_row_slots",
		   "%s provides %u uint32 slots per row but at least %" PRIu64
		   " are needed; allocate a [num_cores, num_cores] square over the full compute "
		   "grid (see CCLManager)",
		   name, memory->shard.width, slots);
	return TTNN_OK;
}

static uint32_t slots_of(const struct tt_launch *launch)
{
	return launch->device->info.compute_grid.x * launch->device->info.compute_grid.y;
}

/* A product in L1 is in a window, which the caller's tensors count. */
static tt_status check_window(const struct tt_launch *launch)
{
	const struct tt_tensor *progress = launch->inputs[PROGRESS],
			       *credits = launch->inputs[CREDITS];
	uint64_t senders = 2ull * tt_attr_u32(launch, M_LINKS) * tt_attr_u32(launch, M_WORKERS);

	TT_REQUIRE(!in_l1(launch) || window_of(launch) >= 0,
		   "!l1_mm_output || attributes.mm_window_blocks.has_value()",
		   "An L1 MM output (explicit memory_config_mm, or inherited from an L1 input when "
		   "memory_config_mm is omitted) requires mm_window_blocks: the L1 handoff must "
		   "bound its resident shard. Pass mm_window_blocks=2 (measured perf-neutral vs "
		   "full residency), or mm_window_blocks=ceil(Mt_per_core / M_block_size) to keep "
		   "the whole MM output resident.");
	if (window_of(launch) < 0)
		return TTNN_OK;
	TT_REQUIRE(
		progress, "tensor_args.mm_progress_counters.has_value()",
		"mm_window_blocks requires a caller-owned mm_progress_counters tensor (uint32, "
		"L1 HEIGHT_SHARDED over the compute grid, one slot per matmul core per row); see "
		"CCLManager.get_mm_progress_counters_buffer.");
	TT_REQUIRE(credits, "tensor_args.mm_credit_counters.has_value()",
		   "mm_window_blocks requires a caller-owned mm_credit_counters tensor (uint32, L1 "
		   "HEIGHT_SHARDED over the compute grid, one slot per RS reader per row, i.e. at "
		   "least 2 * num_links * num_workers_per_link slots); see "
		   "CCLManager.get_mm_credit_counters_buffer.");
	TT_TRY(check_counter(progress, "mm_progress_counters", slots_of(launch)));
	return check_counter(credits, "mm_credit_counters", senders);
}

/* The product's own refusals, which know nothing of the gate. */
static tt_status check_product(const struct tt_launch *launch)
{
	struct tt_tensor *inputs[6] = {NULL};
	struct tt_launch part = product_part(launch, inputs);

	return part.prog->validate(&part);
}

static tt_status check_scattered(const struct tt_launch *launch)
{
	const struct ttnn_value *signals = &launch->attrs[M_SIGNALS];
	uint32_t tiles = tt_shape_last(&launch->inputs[WEIGHT]->spec.padded, 1) / TT_TILE;
	struct ttnn_shape shape = launch->specs[1].shape;
	uint32_t size = tt_attr_u32(launch, M_SIZE);

	TT_REQUIRE(tt_attr_u32(launch, M_LINKS) > 0, "attributes.num_links > 0",
		   "num_links must be greater than 0.");
	TT_REQUIRE(signals->kind != TTNN_VALUE_LIST || signals->count == 3,
		   "attributes.semaphore.size() == expected_semaphores",
		   "Expected 3 semaphores but got %u.", signals->count);
	TT_REQUIRE(tiles % size == 0, "N_tiles % attributes.ring_size == 0",
		   "MM output N_tiles (%u) must be divisible by ring_size (%u).", tiles, size);
	TT_NEED(shape.dim[3] % size == 0, "columns (%u) are as many for each of %u devices",
		shape.dim[3], size);
	shape.dim[3] /= size;
	TT_REQUIRE(ttnn_shape_equal(&launch->specs[2].shape, &shape),
		   "optional_rs_output_tensor.logical_shape() == rs_output_shape",
		   "optional_rs_output_tensor has not the shape of the result");
	TT_NEED(config_of(launch), "bad optional access");
	return TTNN_OK;
}

static tt_status whole_validate(struct tt_launch *launch)
{
	const struct ttnn_shape *in = &launch->inputs[IN]->spec.padded;

	TT_REQUIRE(launch->attrs[M_DIM].integer == 3, "attributes.dim == 3",
		   "MinimalMatmulStridedReduceScatterAsync requires dim=3 for the ReduceScatter "
		   "operation.");
	TT_NEED(in->rank == 4, "minimal_matmul_strided_reduce_scatter_async takes four dimensions");
	TT_REQUIRE(
		in->dim[0] == 1 && in->dim[1] == 1,
		"tensor_args.input_tensor.padded_shape()[0] == 1 && "
		"tensor_args.input_tensor.padded_shape()[1] == 1",
		"MinimalMatmulStridedReduceScatterAsync requires input tensor to have batch size "
		"of 1.");
	TT_REQUIRE(launch->attrs[M_TOPOLOGY].integer == TT_TOPOLOGY_RING,
		   "attributes.topology == ttnn::ccl::Topology::Ring",
		   "MinimalMatmulStridedReduceScatterAsync only supports Ring topology.");
	TT_TRY(check_product(launch));
	TT_TRY(check_gate(launch));
	TT_TRY(check_window(launch));
	return check_scattered(launch);
}

/* ---- sums of products: the program ---------------------------------------------------------------------------------------- */

static tt_status send_cores(const ttnn_core_set **out, const struct tt_launch *launch)
{
	struct tt_senders senders = {.workers = tt_attr_u32(launch, M_WORKERS),
				     .mux = 1,
				     .from = &launch->attrs[OFFSET].core};

	return tt_sender_cores(out, launch, &senders);
}

/* A caller's tensor that counts must be on all cores that look there. */
static tt_status check_cover(const struct tt_tensor *counter, const ttnn_core_set *cores,
			     bool credits)
{
	struct tt_str texts[2] = {{0}};
	tt_status status;

	if (tt_core_set_includes(counter->spec.memory.shard.grid, cores))
		return TTNN_OK;
	tt_text_core_set(&texts[0], counter->spec.memory.shard.grid, TTNN_DIALECT_TT_METAL);
	tt_text_core_set(&texts[1], cores, TTNN_DIALECT_TT_METAL);
	status =
		credits ? tt_fail_cond(TTNN_INVALID,
				       "credits_shard_spec->grid.contains(mm_core_range_set)",
				       "mm_credit_counters is sharded over %s which does not cover "
				       "the matmul cores %s",
				       tt_str_text(&texts[0]), tt_str_text(&texts[1]))
			: tt_fail_cond(TTNN_INVALID,
				       "counters_shard_spec->grid.contains(sender_worker_core_"
				       "range_set)",
				       "mm_progress_counters is sharded over %s which does not "
				       "cover the RS worker cores %s",
				       tt_str_text(&texts[0]), tt_str_text(&texts[1]));
	tt_str_deinit(&texts[0]);
	tt_str_deinit(&texts[1]);
	return status;
}

static tt_status check_progress(const struct tt_launch *launch, const ttnn_core_set *cores)
{
	const struct tt_tensor *counter = launch->inputs[PROGRESS];
	uint64_t row, need = 4ull * slots_of(launch);

	TT_REQUIRE(counter->spec.memory.buffer == TTNN_L1 && counter->spec.memory.has_shard,
		   "counters.memory_config().buffer_type() == tt::tt_metal::BufferType::L1 && "
		   "counters_shard_spec.has_value()",
		   "mm_progress_counters must be an L1 sharded tensor so that its row lands at the "
		   "same local address on every RS worker core");
	TT_TRY(check_cover(counter, cores, false));
	row = counter->spec.memory.shard.width * (uint64_t)tt_dtype_bytes(counter->spec.dtype);
	TT_REQUIRE(row >= need, "provided_row_bytes >= counters_row_bytes",
		   "mm_progress_counters provides %" PRIu64
		   " B per core but the MM grid needs %u slots (%" PRIu64 " B)",
		   row, slots_of(launch), need);
	return TTNN_OK;
}

/* What the first chip's program is refused for. */
static tt_status check_first(const struct tt_launch *launch, const ttnn_core_set *senders)
{
	const ttnn_core_set *both;
	struct tt_blocks b;

	TT_TRY(tt_strided_check_ring(launch, &launch->attrs[M_AXIS]));
	TT_TRY(tt_blocks_find(&b, launch));
	TT_TRY(tt_core_set_intersect(&both, b.cores, senders));
	TT_REQUIRE(!ttnn_core_set_cores(both), "tt::exception",
		   "Invalid circular buffer index: Cannot add circular buffer at index 0, another "
		   "circular buffer already exists");
	return TTNN_OK;
}

/* Without a caller's tensor every chip's program has one of its own, on the cores that send. */
static tt_status whole_choose(uint32_t *out, struct tt_launch *launch)
{
	struct ttnn_spec_args args = {
		.dtype = TTNN_UINT32,
		.memory = {.layout = TTNN_HEIGHT_SHARDED, .buffer = TTNN_L1, .has_shard = true}};
	uint32_t chips = launch->device->rows * launch->device->cols;
	const ttnn_core_set *cores;
	struct ttnn_tensor_spec spec;
	struct tt_tensor *counter;

	*out = 0;
	TT_TRY(send_cores(&cores, launch));
	if (launch->inputs[PROGRESS]) {
		TT_TRY(check_progress(launch, cores));
		return check_first(launch, cores);
	}
	TT_NEED(chips <= TT_KEPT_MAX, "a mesh of %u chips is too large", chips);
	args.shape =
		(struct ttnn_shape){2, {(uint32_t)ttnn_core_set_cores(cores), slots_of(launch)}};
	args.memory.shard =
		(struct ttnn_shard_spec){.grid = cores, .height = 1, .width = slots_of(launch)};
	TT_TRY(ttnn_tensor_spec_make(&spec, &args));
	for (uint32_t i = 0; i < chips; i++) {
		TT_TRY(ttnn_tensor_reserve(&counter, launch->device, &spec));
		TT_TRY(tt_launch_keep(launch, counter));
		if (i == 0)
			TT_TRY(check_first(launch, cores));
	}
	return TTNN_OK;
}

static tt_status whole_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_value *attrs = tt_blocks_attrs(launch);
	struct tt_tensor *const *in = launch->inputs;
	bool fp32 = tt_compute_has(&attrs[TT_MINIMAL_COMPUTE], TT_COMPUTE_FP32);
	struct tt_launch sums = *launch;
	const ttnn_core_set *cores;
	struct tt_blocks b;

	sums.inputs = launch->outputs;
	TT_TRY(send_cores(&cores, launch));
	TT_TRY(tt_strided_memory(plan, cores, &sums, in[ADDED] != NULL));
	TT_TRY(tt_blocks_find(&b, launch));
	if (window_of(launch) >= 0)
		TT_TRY(check_cover(in[CREDITS], b.cores, true));
	return TT_PLAN(
		plan, b.cores,
		TT_CB_ROW(0, "in0_cb", .pages = 2 * b.m * b.k, .page = tt_blocks_tile(in[IN])),
		TT_CB_ROW(1, "in1_cb", .pages = 2 * b.k * b.n, .page = tt_blocks_tile(in[WEIGHT])),
		TT_CB_ROW(2, "out_cb", .pages = 2 * b.m * b.n,
			  .page = tt_blocks_tile(launch->outputs[0])),
		TT_CB_ROW(3, "intermediate_cb", .pages = b.m * b.n,
			  .page = tt_tile_bytes_of(fp32 ? TTNN_FLOAT32 : TTNN_BFLOAT16)),
		TT_CB_ROW(4, "in2_cb", .pages = in[BIAS] ? b.n : 0,
			  .page = tt_blocks_tile(in[BIAS])));
}

/* values = values op tensor, whose last two dimensions count; one row is for all, and more rows than there are do not. */
static tt_status combine_rows(struct tt_tensor *values, struct tt_tensor *tensor, uint32_t op)
{
	const struct ttnn_shape *shape = &values->spec.shape;
	int32_t last = (int32_t)tensor->spec.shape.rank - 1;
	bool one = tt_shape_last(&tensor->spec.shape, 2) == 1;
	const struct tt_move_loop loops[] = {{shape->dim[2], one ? -1 : last - 1, 2, 1, 1},
					     {shape->dim[3], last, 3, 1, 1}};
	struct tt_tensor *with;

	TT_TRY(tt_scratch_f32(&with, shape));
	TT_TRY(tt_backend_get()->move(
		&(struct tt_move_job){.out = with, .in = tensor, .loops = loops, .loop_count = 2}));
	return tt_part_combine(values, with, op);
}

/* The sum of what is in the first input, gated. */
static tt_status serve_gated(struct tt_tensor *out, const struct tt_launch *launch, uint32_t chip,
			     const struct tt_group *group)
{
	struct tt_tensor *added, *gate, *sum;
	double scalar = 1;

	if (!launch->inputs[ADDED])
		return tt_serve_scatter(out, launch, chip, group);
	tt_value_number(&scalar, &launch->attrs[SCALAR]);
	TT_TRY(tt_part_here(&added, launch->inputs[ADDED], chip));
	TT_TRY(tt_part_here(&gate, launch->inputs[GATE], chip));
	TT_TRY(tt_scratch_f32(&sum, &out->spec.shape));
	TT_TRY(tt_serve_scatter(sum, launch, chip, group));
	TT_TRY(combine_rows(sum, gate, TT_BINARY_MUL));
	TT_TRY(tt_backend_get()->map(&(struct tt_map_job){.out = sum,
							  .arity = 2,
							  .op = TT_BINARY_MUL,
							  .in = {sum, NULL},
							  .scalar = {0, scalar}}));
	TT_TRY(combine_rows(sum, added, TT_BINARY_ADD));
	return tt_backend_get()->map(&(struct tt_map_job){.out = out, .arity = 1, .in = {sum}});
}

/* A product that is only in a window is worked out where sums are on the way. */
static tt_status whole_kernel(struct tt_launch *launch)
{
	struct tt_tensor *product = launch->outputs[window_of(launch) >= 0], *inputs[6] = {NULL};
	struct tt_launch part = product_part(launch, inputs), sums = *launch;
	struct tt_tensor *of[INPUTS];

	part.outputs[0] = product;
	TT_TRY(tt_part_run(&part));
	memcpy(of, launch->inputs, sizeof(of));
	of[0] = product;
	sums.inputs = of;
	return tt_group_serve(&sums, 2, serve_gated);
}

static const struct tt_prog minimal_strided = {
	.device_op = "MinimalMatmulStridedReduceScatterAsync",
	.prim = "ttnn::prim::minimal_matmul_strided_reduce_scatter_async",
	.attrs = &whole_schema,
	.infer = whole_infer,
	.validate = whole_validate,
	TT_FACTORY("ttnn::experimental::prim::MinimalMatmulStridedReduceScatterAsyncProgramFactory",
		   whole_memory),
	.choose = whole_choose,
	TT_KERNEL(whole_kernel),
	.cost = tt_cost_product,
	.per_chip = true,
	.kept_order = TT_KEPT_BY_CHIP,
	.together = true,
	.drops_forward = true,
};

static tt_status whole_bind(struct ttnn_value *attrs, struct tt_call *call,
			    const struct tt_tensor *in)
{
	const struct ttnn_value none = {0}, *scalar = tt_call_arg(call, "fused_ternary_scalar");
	double factor;

	TT_TRY(tt_strided_bind(&attrs[M_SIZE], call, in));
	TT_TRY(tt_blocks_bind(&attrs[PRODUCT], call, "memory_config_mm", &none));
	attrs[SCALAR] = tt_value_number(&factor, scalar) ? ttnn_v_real(factor) : ttnn_v_none();
	attrs[M_DIM] = *tt_call_arg(call, "dim");
	attrs[M_MEMORY] = *tt_call_arg(call, "rs_output_mem_config");
	if (attrs[M_MEMORY].kind != TTNN_VALUE_MEMORY)
		attrs[M_MEMORY] = ttnn_v_memory(&in->spec.memory);
	attrs[M_SIGNALS] = *tt_call_arg(call, "multi_device_global_semaphore");
	attrs[M_WORKERS] = ttnn_v_int(tt_call_int(call, "num_workers_per_link", 1));
	TT_NEED(attrs[M_WORKERS].integer > 0, "num_workers_per_link must be positive");
	return tt_part_offset(&attrs[OFFSET], call, "reduce_scatter_core_grid_offset");
}

static tt_status whole_expand(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor"), *suffix = NULL;
	struct tt_tensor *given = tt_call_tensor(call, "optional_rs_output_tensor");
	const struct ttnn_value *input = tt_call_arg(call, "input_tensor");
	struct ttnn_value attrs[whole_schema_count] = {0};
	struct tt_tensor *all[TT_OUTPUTS_MAX];
	size_t count;

	if (input->kind == TTNN_VALUE_LIST) {
		TT_REQUIRE(
			input->count == 2, "inputs->size() == 2",
			"minimal_matmul_strided_reduce_scatter_async: list input must be exactly "
			"2 tensors [prefix, suffix] for fused concat over K, got %u",
			input->count);
		in = input->items[0].tensor;
		suffix = input->items[1].tensor;
	}
	TT_TRY(whole_bind(attrs, call, in));
	tt_attrs_bind(call, &whole_schema, attrs);
	TT_TRY(tt_call_programs(
		all, &count, call,
		&(struct tt_program_args){.prog = &minimal_strided,
					  .attrs = attrs,
					  TT_INPUTS(in, tt_call_tensor(call, "weight_tensor"),
						    given, tt_call_tensor(call, "bias"),
						    tt_call_tensor(call, "addcmul_input_tensor1"),
						    tt_call_tensor(call, "addcmul_input_tensor2"),
						    tt_call_tensor(call, "mm_progress_counters"),
						    tt_call_tensor(call, "mm_credit_counters"),
						    suffix),
					  TT_OUTPUTS(NULL, NULL, given),
					  .in_place = given != NULL}));
	tt_call_return(call, all[0]);
	tt_call_return(call, all[2]);
	tt_call_drop(call, all[1]);
	return TTNN_OK;
}

/* ---- rows ----------------------------------------------------------------------------------------------------------------- */

static const struct tt_op ops[] = {
	{.name = "ttnn.experimental.minimal_matmul_strided_reduce_scatter_async",
	 .doc = "A product in blocks of a given size; the products of all devices of a ring added up, "
		"and each device gets its part.",
	 .sigs = {"input_tensor: Tensor | Tensors, weight_tensor: Tensor, dim: size, "
		  "multi_device_global_semaphore: any, reduce_scatter_core_grid_offset: CoreCoord, "
		  "*, compute_kernel_config: ComputeConfig, num_links: size = 1, "
		  "memory_config_mm: MemoryConfig? = None, "
		  "rs_output_mem_config: MemoryConfig? = None, "
		  "rs_intermediate_mem_config: MemoryConfig? = None, topology: Topology = Ring, "
		  "cluster_axis: size? = None, bias: Tensor? = None, "
		  "fused_activation: UnaryWithParam? = None, config: ProgramConfig? = None, "
		  "barrier_semaphore: any? = None, using_persistent_buffers: bool = False, "
		  "sub_device_id: SubDeviceId? = None, num_workers_per_link: size? = None, "
		  "num_buffers_per_channel: size? = None, chunk_width_in_mm_blocks: size? = None, "
		  "optional_rs_output_tensor: Tensor? = None, fused_ternary_scalar: float? = None, "
		  "addcmul_input_tensor1: Tensor? = None, addcmul_input_tensor2: Tensor? = None, "
		  "dtype: DataType? = None, mm_progress_counters: Tensor? = None, "
		  "mm_window_blocks: size? = None, mm_credit_counters: Tensor? = None"},
	 .expand = whole_expand,
	 .golden = tt_golden_minimal_scatter,
	 .gives = "[Tensor]",
	 TT_PROGRAMS(&minimal_strided)},
};

const struct tt_op_family tt_family_fused_strided_scatter = {"collective_strided", ops,
							     TT_COUNT(ops)};
