/*
 * fused_minimal.c: all_gather_minimal_matmul_async, the product in blocks of a given size of what is gathered, cut into
 * chunks, gated or with an activation.
 *
 * Models AllGatherMinimalMatmulAsyncOp of ttnn 0.81: refusals, the tensors it makes, buffers. It gathers into a tensor
 * that it gives up, and may gather the weights along the other axis of the mesh as well; its senders only pass on, and
 * have no buffers. The kernel is that of ops/matmul/minimal_matmul.c. Not modelled: which core computes what, routes.
 */
#include <inttypes.h>

#include "device/device.h"
#include "golden/golden_fused.h"
#include "ops/collective/fused_minimal.h"
#include "ops/compute.h"
#include "ops/op_enums.h"
#include "ops/usual.h"

#define SEMAPHORES .text = TT_TEXT_EACH, .fixed = "<GlobalSemaphore>", .unkeyed = true

/* ---- attributes ------------------------------------------------------------------------------------------------- */

#define GATHER_ATTRS(X)                                                                            \
	X(PRODUCT, "matmul_struct")                                                                \
	X(LINKS, "num_links")                                                                      \
	X(SIZE, "ring_size")                                                                       \
	X(TOPOLOGY, "topology")                                                                    \
	X(SIGNALS, "semaphore", SEMAPHORES)                                                        \
	X(AXIS, "cluster_axis")                                                                    \
	X(BARRIER, "barrier_semaphore", .unkeyed = true)                                           \
	X(TURNED, "force_transpose")                                                               \
	X(WORKERS, "num_workers_per_link")                                                         \
	X(BUFFERS, "num_buffers_per_channel")                                                      \
	X(DIM, "dim")                                                                              \
	X(WIDTHS, "chunk_sizes")                                                                   \
	X(WEIGHT_AXIS, "fsdp_cluster_axis")                                                        \
	X(WEIGHT_SIZE, "fsdp_ring_size")                                                           \
	X(WEIGHT_SIGNALS, "fsdp_semaphore", SEMAPHORES)                                            \
	X(WEIGHT_TOPOLOGY, "fsdp_topology")
TT_ATTRS(gather_schema, "<AllGatherMinimalMatmulAsyncParams>", GATHER_ATTRS);

/* ---- gathering: refusals --------------------------------------------------------------------------------------------- */

#define SELF "all_gather_minimal_matmul_async "

static tt_status check_operands(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *a = &launch->inputs[TT_BLOCKS_IN]->spec,
				      *w = &launch->inputs[TT_BLOCKS_WEIGHT]->spec;
	const struct tt_tensor *bias = launch->inputs[TT_BLOCKS_BIAS];
	uint64_t k = (uint64_t)tt_shape_last(&a->shape, 1) * tt_attr_u32(launch, SIZE);
	uint64_t k_w = (uint64_t)tt_shape_last(&w->shape, 2) * tt_attr_u32(launch, WEIGHT_SIZE);

	TT_REQUIRE(a->layout == TTNN_TILE && w->layout == TTNN_TILE,
		   "act_tensor.layout() == Layout::TILE && weight_tensor.layout() == Layout::TILE",
		   SELF "requires TILE layout for activation and weight");
	TT_REQUIRE(!bias || bias->spec.layout == TTNN_TILE, "bias_ptr->layout() == Layout::TILE",
		   SELF "requires TILE layout for bias");
	TT_REQUIRE(tt_blocks_takes(launch->inputs[TT_BLOCKS_IN]) &&
			   tt_blocks_takes(launch->inputs[TT_BLOCKS_WEIGHT]),
		   "dtype_supported(act_tensor.dtype()) && dtype_supported(weight_tensor.dtype())",
		   SELF "supports only BFLOAT16, BFLOAT8_B, BFLOAT4_B, and FLOAT32 for inputs");
	TT_REQUIRE(!bias || tt_blocks_takes(bias), "dtype_supported(bias_ptr->dtype())",
		   SELF "supports only BFLOAT16, BFLOAT8_B, and BFLOAT4_B for bias");
	TT_REQUIRE(a->shape.rank >= 2 && w->shape.rank >= 2,
		   "a_logical.rank() >= 2 && w_logical.rank() >= 2",
		   SELF "expects rank >= 2 tensors");
	for (uint32_t i = 0; i + 2 < w->shape.rank; i++)
		TT_REQUIRE(w->shape.dim[i] == 1, "w_logical[i] == 1",
			   SELF "weight must have 1 in all dims < -2");
	TT_REQUIRE(k == k_w, "K == K_w",
		   SELF "inner dimensions must match, got K=%" PRIu64 " and K_w=%" PRIu64, k, k_w);
	TT_REQUIRE(a->pages && w->pages, "M > 0 && K > 0 && N > 0",
		   SELF "dimensions must be positive");
	return TTNN_OK;
}

static tt_status check_swiglu(const struct tt_launch *launch)
{
	const struct ttnn_value *attrs = tt_blocks_attrs(launch);
	uint32_t n = tt_shape_last(&launch->inputs[TT_BLOCKS_WEIGHT]->spec.shape, 1);

	if (!tt_blocks_swiglu(launch))
		return TTNN_OK;
	TT_REQUIRE(!tt_value_given(&attrs[TT_MINIMAL_ACTIVATION]) &&
			   !tt_value_given(&attrs[TT_MINIMAL_SCALAR]),
		   "!attributes.fused_activation.has_value() && "
		   "!attributes.fused_ternary_scalar.has_value()",
		   SELF "fuse_swiglu is mutually exclusive with fused_activation / ternary");
	TT_REQUIRE(attrs[TT_MINIMAL_CHUNKS].integer == 1, "attributes.chunks == 1",
		   SELF "fuse_swiglu does not yet support chunks > 1");
	TT_REQUIRE(n % (2 * TT_TILE) == 0, "N % (2 * tt::constants::TILE_WIDTH) == 0",
		   SELF
		   "fuse_swiglu requires weight width N=%u to be a multiple of 2*TILE_WIDTH=%u",
		   n, 2u * TT_TILE);
	return TTNN_OK;
}

/* Weights that are gathered too: along the other axis, as far as the operand, and into a tensor of the caller's. */
static tt_status check_weights(const struct tt_launch *launch)
{
	const struct ttnn_value *axis = &launch->attrs[WEIGHT_AXIS],
				*signals = &launch->attrs[WEIGHT_SIGNALS];
	const struct tt_tensor *given = launch->inputs[TT_BLOCKS_GIVEN_WEIGHT];
	uint32_t size = tt_attr_u32(launch, SIZE), own = tt_attr_u32(launch, WEIGHT_SIZE);
	uint32_t k = size * tt_shape_last(&launch->inputs[TT_BLOCKS_IN]->spec.shape, 1);
	uint32_t n = tt_shape_last(&launch->inputs[TT_BLOCKS_WEIGHT]->spec.shape, 1);

	if (!tt_value_given(axis))
		return TTNN_OK;
	TT_REQUIRE(own > 1, "attributes.fsdp_ring_size > 1",
		   "fsdp_cluster_axis is set but fsdp_ring_size is %u (expected > 1)", own);
	for (int i = 0; i < 2; i++)
		TT_REQUIRE(launch->attrs[i ? WEIGHT_TOPOLOGY : TOPOLOGY].integer ==
				   TT_TOPOLOGY_LINEAR,
			   "topology == ttnn::ccl::Topology::Linear",
			   "FSDP-fused all_gather_minimal_matmul_async requires %s topology Linear "
			   "(got %d)",
			   i ? "FSDP" : "TP",
			   (int)launch->attrs[i ? WEIGHT_TOPOLOGY : TOPOLOGY].integer);
	TT_REQUIRE(size == own, "attributes.ring_size == attributes.fsdp_ring_size",
		   "FSDP-fused all_gather_minimal_matmul_async requires ring_size == "
		   "fsdp_ring_size (got %u vs %u)",
		   size, own);
	TT_REQUIRE(!tt_value_given(&launch->attrs[AXIS]) ||
			   launch->attrs[AXIS].integer != axis->integer,
		   "!attributes.cluster_axis.has_value() || attributes.cluster_axis.value() != "
		   "attributes.fsdp_cluster_axis.value()",
		   "fsdp_cluster_axis (%d) must not equal cluster_axis (%d)", (int)axis->integer,
		   (int)launch->attrs[AXIS].integer);
	TT_REQUIRE(signals->kind == TTNN_VALUE_LIST && signals->count >= 2,
		   "attributes.fsdp_semaphore.size() >= 2",
		   "fsdp_semaphore must have at least 2 entries (ping-pong) when "
		   "fsdp_cluster_axis is set, got %u",
		   signals->kind == TTNN_VALUE_LIST ? signals->count : 0);
	TT_REQUIRE(given, "tensor_args.persistent_weight_buffer.has_value()",
		   "persistent_weight_buffer must be provided when fsdp_cluster_axis is set");
	TT_REQUIRE(given->spec.dtype == launch->inputs[TT_BLOCKS_WEIGHT]->spec.dtype,
		   "pwb.dtype() == weight_tensor.dtype()",
		   "persistent_weight_buffer dtype must match weight_tensor dtype");
	TT_REQUIRE(tt_shape_last(&given->spec.shape, 2) == k &&
			   tt_shape_last(&given->spec.shape, 1) == n,
		   "pwb_logical[-2] == K && pwb_logical[-1] == N",
		   "persistent_weight_buffer shape must be [..., K=%u, N=%u], got [..., %u, %u]", k,
		   n, tt_shape_last(&given->spec.shape, 2), tt_shape_last(&given->spec.shape, 1));
	return TTNN_OK;
}

/* Chunks are alike and whole tiles wide, or have widths that make up the result. */
static tt_status check_chunks(const struct tt_launch *launch)
{
	const struct ttnn_value *attrs = tt_blocks_attrs(launch), *widths = &launch->attrs[WIDTHS];
	int64_t chunks = attrs[TT_MINIMAL_CHUNKS].integer, dim = launch->attrs[DIM].integer;
	uint32_t n = tt_shape_last(&launch->inputs[TT_BLOCKS_WEIGHT]->spec.shape, 1), width;
	uint64_t sum = 0;

	TT_REQUIRE(dim == -1, "dim == -1",
		   "minimal_matmul currently only supports dim=-1, got dim=%" PRId64, dim);
	if (widths->kind != TTNN_VALUE_LIST || widths->count == 0) {
		TT_REQUIRE(chunks == 1 || n % chunks == 0, "N % chunks == 0",
			   "Output width N=%u must be divisible by chunks=%" PRId64, n, chunks);
		TT_REQUIRE(chunks == 1 || n / chunks % TT_TILE == 0,
			   "N_per_chunk % tt::constants::TILE_WIDTH == 0",
			   "Each chunk size N/chunks=%" PRId64
			   " must be a multiple of TILE_WIDTH=%u",
			   n / chunks, TT_TILE);
		return TTNN_OK;
	}
	TT_REQUIRE(widths->count == chunks,
		   "static_cast<int32_t>(explicit_chunk_sizes.size()) == chunks",
		   "chunk_sizes must have exactly chunks=%" PRId64 " entries, got %u", chunks,
		   widths->count);
	for (uint32_t i = 0; i < widths->count; i++) {
		TT_TRY(tt_blocks_chunk(&width, launch, i));
		TT_REQUIRE(width % TT_TILE == 0, "width % tt::constants::TILE_WIDTH == 0",
			   "chunk_sizes[%u]=%u must be a multiple of TILE_WIDTH=%u", i, width,
			   TT_TILE);
		sum += width;
	}
	TT_REQUIRE(sum == n, "chunk_sizes_sum == N",
		   "chunk_sizes must sum to the output width N=%u, got %" PRIu64, n, sum);
	return TTNN_OK;
}

static tt_status check_bias(const struct tt_launch *launch)
{
	const struct tt_tensor *bias = launch->inputs[TT_BLOCKS_BIAS];
	uint32_t n = tt_shape_last(&launch->inputs[TT_BLOCKS_WEIGHT]->spec.shape, 1);

	if (!bias)
		return TTNN_OK;
	for (uint32_t i = 0; i + 1 < bias->spec.shape.rank; i++)
		TT_REQUIRE(bias->spec.shape.dim[i] == 1, "b_logical[i] == 1",
			   SELF "bias must be 1 in all dims except the last");
	TT_REQUIRE(tt_shape_last(&bias->spec.shape, 1) == n, "b_logical[-1] == N",
		   SELF "bias last dimension must equal N (%u), got %u", n,
		   tt_shape_last(&bias->spec.shape, 1));
	return TTNN_OK;
}

static tt_status check_gated(const struct tt_launch *launch)
{
	const struct ttnn_value *attrs = tt_blocks_attrs(launch);
	const struct tt_tensor *a = launch->inputs[TT_BLOCKS_ADDED],
			       *b = launch->inputs[TT_BLOCKS_GATE];
	bool scaled = tt_value_given(&attrs[TT_MINIMAL_SCALAR]);

	TT_REQUIRE(!(a && b) || scaled, "!(has_ternary_tensors && !has_fused_ternary)",
		   "fused_ternary_scalar must be provided when addcmul input tensors are provided");
	if (!scaled)
		return TTNN_OK;
	TT_REQUIRE(a && b, "has_ternary_tensors",
		   "If fused_ternary_scalar is provided, both fused_ternary_input_a and "
		   "fused_ternary_input_b must be provided");
	TT_REQUIRE(!tt_value_given(&attrs[TT_MINIMAL_ACTIVATION]),
		   "!attributes.fused_activation.has_value()",
		   "minimal_matmul does not support using fused_activation together with ternary "
		   "inputs (dit_minimal_matmul_addcmul_fused). Please use either fused_activation "
		   "or ternary inputs, not both.");
	TT_REQUIRE(a->spec.layout == TTNN_TILE, "ternary_a.layout() == Layout::TILE",
		   "fused_ternary_input_a must be TILE layout");
	TT_REQUIRE(b->spec.layout == TTNN_TILE, "ternary_b.layout() == Layout::TILE",
		   "fused_ternary_input_b must be TILE layout");
	TT_REQUIRE(tt_blocks_takes(a) && tt_blocks_takes(b),
		   "dtype_supported(ternary_a.dtype()) && dtype_supported(ternary_b.dtype())",
		   "fused_ternary tensors must have supported dtypes");
	return tt_minimal_check_gated(&launch->inputs[TT_BLOCKS_ADDED]->spec.shape,
				      &launch->inputs[TT_BLOCKS_GATE]->spec.shape,
				      &launch->inputs[TT_BLOCKS_IN]->spec.shape,
				      tt_blocks_width(launch));
}

/* A field of the config as it is written, not replaced where it is 0. */
static int64_t config_field(const struct ttnn_value *config, size_t field)
{
	int64_t out = 0;

	return tt_value_integer(&out, &config->items[field]) ? out : 0;
}

static tt_status check_config(const struct tt_launch *launch)
{
	const struct ttnn_value *config = &tt_blocks_attrs(launch)[TT_MINIMAL_CONFIG];
	uint32_t tiles = tt_shape_last(&launch->inputs[TT_BLOCKS_IN]->spec.padded, 1) / TT_TILE;
	struct ttnn_core grid, most = launch->device->info.compute_grid;
	int64_t f[TT_MINIMAL_GRID];

	if (config->kind != TTNN_VALUE_OBJECT)
		return TTNN_OK;
	for (size_t i = 0; i < TT_MINIMAL_GRID; i++)
		f[i] = config_field(config, i);
	TT_REQUIRE(f[0] > 0 && f[1] > 0 && f[2] > 0,
		   "cfg.M_block_size > 0 && cfg.K_block_size > 0 && cfg.N_block_size > 0",
		   "Block sizes must be > 0");
	TT_REQUIRE(launch->attrs[TOPOLOGY].integer == TT_TOPOLOGY_LINEAR || tiles % f[1] == 0,
		   "K_tiles_per_device % cfg.K_block_size == 0",
		   "K_block_size (%" PRId64 ") must evenly divide the number of K tiles per device "
		   "(%u) for Ring topology",
		   f[1], tiles);
	TT_REQUIRE(f[1] <= tiles, "cfg.K_block_size <= K_tiles_per_device",
		   "K_block_size (%" PRId64 ") must be <= K tiles per device (%u)", f[1], tiles);
	TT_REQUIRE(f[3] > 0 && f[4] > 0, "cfg.subblock_h > 0 && cfg.subblock_w > 0",
		   "Subblock sizes must be > 0");
	TT_REQUIRE(f[0] % f[3] == 0, "(cfg.M_block_size % cfg.subblock_h) == 0",
		   "M_block_size (%" PRId64 ") must be divisible by subblock_h (%" PRId64 ")", f[0],
		   f[3]);
	TT_REQUIRE(f[2] % f[4] == 0, "(cfg.N_block_size % cfg.subblock_w) == 0",
		   "N_block_size (%" PRId64 ") must be divisible by subblock_w (%" PRId64 ")", f[2],
		   f[4]);
	grid = config->items[TT_MINIMAL_GRID].core;
	TT_REQUIRE(grid.x >= 2 && grid.y >= 2,
		   "cfg.compute_with_storage_grid_size.x >= 2 && "
		   "cfg.compute_with_storage_grid_size.y >= 2",
		   "compute_with_storage_grid_size must be >= 2x2");
	TT_REQUIRE(grid.x <= most.x && grid.y <= most.y,
		   "cfg.compute_with_storage_grid_size.x <= device_grid.x && "
		   "cfg.compute_with_storage_grid_size.y <= device_grid.y",
		   "compute_with_storage_grid_size must be <= device grid size");
	TT_REQUIRE(f[3] * f[4] <= (tt_compute_has(&tt_blocks_attrs(launch)[TT_MINIMAL_COMPUTE],
						  TT_COMPUTE_FP32)
					   ? 4
					   : 8),
		   "cfg.subblock_h * cfg.subblock_w <= max_dest_volume",
		   "subblock_h * subblock_w must be <= max_dest_volume");
	return TTNN_OK;
}

/* The senders along one side of the grid are in groups, one for each link; who passes on is outside of the grid. */
static tt_status check_senders(const struct tt_launch *launch)
{
	const struct ttnn_value *config = &tt_blocks_attrs(launch)[TT_MINIMAL_CONFIG];
	struct ttnn_core full = launch->device->info.compute_grid, grid = full, mux;
	uint32_t workers = tt_attr_u32(launch, WORKERS), links = tt_attr_u32(launch, LINKS);
	uint32_t rows = tt_shape_last(&launch->inputs[TT_BLOCKS_IN]->spec.padded, 2);
	uint32_t n = tt_shape_last(&launch->inputs[TT_BLOCKS_WEIGHT]->spec.padded, 1), side;
	bool turned;

	if (config->kind == TTNN_VALUE_OBJECT)
		grid = config->items[TT_MINIMAL_GRID].core;
	for (uint32_t back = 3; back <= launch->inputs[TT_BLOCKS_IN]->spec.padded.rank; back++)
		rows *= tt_shape_last(&launch->inputs[TT_BLOCKS_IN]->spec.padded, back);
	turned = launch->attrs[TURNED].boolean || rows > n;
	side = turned ? grid.x : grid.y;
	TT_NEED(workers, "num_workers_per_link must be positive");
	TT_REQUIRE(((uint64_t)side + workers - 1) / workers == links,
		   "(in0_axis + num_workers_per_link - 1) / num_workers_per_link == num_links",
		   "The in0 sender axis (%u) must form exactly num_links (%u) groups of "
		   "num_workers_per_link (%u)",
		   side, links, workers);
	TT_REQUIRE(2 * links <= full.x,
		   "(mux_index_on_x ? full_grid_size.x : full_grid_size.y) >= num_mux_cores",
		   "There are not enough cores along the mux axis (%u) for the number of mux cores "
		   "requested (%u)",
		   full.x, 2 * links);
	mux = (struct ttnn_core){(workers - 1) % full.x, full.y - 1};
	TT_REQUIRE((!turned && grid.x < full.x) || mux.x >= grid.x || mux.y >= grid.y,
		   "local_noc0_in_use and local_noc1_in_use",
		   "Illegal NOC usage: data movement kernels on logical core %u-%u cannot use the "
		   "same NOC, doing so results in hangs!",
		   mux.x, mux.y);
	return TTNN_OK;
}

static tt_status gather_validate(struct tt_launch *launch)
{
	struct ttnn_shape shape = launch->inputs[TT_BLOCKS_IN]->spec.shape;

	TT_TRY(check_operands(launch));
	TT_TRY(check_swiglu(launch));
	TT_TRY(check_weights(launch));
	TT_TRY(check_chunks(launch));
	TT_TRY(check_bias(launch));
	TT_TRY(check_gated(launch));
	TT_TRY(check_config(launch));
	TT_TRY(check_senders(launch));
	TT_TRY(tt_check_semaphores(&launch->attrs[SIGNALS], 0));
	TT_TRY(tt_check_semaphores(&launch->attrs[SIGNALS], 1));
	shape.dim[shape.rank - 1] *= tt_attr_u32(launch, SIZE);
	return tt_check_given(launch, 0, &shape);
}

/* ---- gathering: the program ----------------------------------------------------------------------------------------- */

static bool gathers_weights(const struct tt_launch *launch)
{
	return tt_value_given(&launch->attrs[WEIGHT_AXIS]);
}

static size_t first_chunk(const struct tt_launch *launch)
{
	return 1 + gathers_weights(launch);
}

/* What is gathered is of the result's type, and lies where the result does. */
static tt_status gather_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *w = &launch->inputs[TT_BLOCKS_WEIGHT]->spec;
	struct ttnn_shape shape = launch->inputs[TT_BLOCKS_IN]->spec.shape;
	size_t first = first_chunk(launch);

	TT_NEED(shape.rank >= 2 && w->shape.rank >= 2, SELF "expects rank >= 2 tensors");
	TT_TRY(tt_blocks_infer(launch, first, shape));
	shape.dim[shape.rank - 1] *= tt_attr_u32(launch, SIZE);
	if (!tt_infer_given(launch, 0))
		TT_TRY(tt_spec_simple(&launch->specs[0], &shape, launch->specs[first].dtype,
				      TTNN_TILE, &launch->specs[first].memory));
	if (!gathers_weights(launch) || tt_infer_given(launch, 1))
		return TTNN_OK;
	shape = w->shape;
	shape.dim[shape.rank - 2] *= tt_attr_u32(launch, WEIGHT_SIZE);
	return tt_spec_simple(&launch->specs[1], &shape, w->dtype, TTNN_TILE, &w->memory);
}

static tt_status gather_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *const *out = launch->outputs;
	struct tt_blocks b;

	TT_TRY(tt_blocks_find(&b, launch));
	TT_TRY(TT_PLAN(
		plan, b.cores,
		TT_CB_ROW(0, "in0_cb", .pages = 2 * b.m * b.k, .page = tt_blocks_tile(out[0])),
		TT_CB_ROW(1, "in1_cb", .pages = 2 * b.k * b.n,
			  .page = tt_blocks_tile(launch->inputs[TT_BLOCKS_WEIGHT])),
		TT_CB_ROW(2, "out_cb", .pages = b.m * b.n / (tt_blocks_swiglu(launch) ? 2 : 1),
			  .page = tt_blocks_tile(out[first_chunk(launch)]))));
	return tt_blocks_more(plan, launch, &b);
}

static tt_status gather_kernel(struct tt_launch *launch)
{
	struct tt_tensor *inputs[5] = {launch->outputs[0], launch->inputs[TT_BLOCKS_WEIGHT]};
	const struct ttnn_shape *shape = &launch->outputs[0]->spec.shape;
	struct tt_launch part;

	TT_TRY(tt_part_gather(
		launch, &(struct tt_gathering){launch->outputs[0], launch->inputs[TT_BLOCKS_IN],
					       shape->rank - 1, &launch->attrs[AXIS]}));
	if (gathers_weights(launch)) {
		inputs[1] = launch->outputs[1];
		shape = &launch->outputs[1]->spec.shape;
		TT_TRY(tt_part_gather(
			launch,
			&(struct tt_gathering){inputs[1], launch->inputs[TT_BLOCKS_WEIGHT],
					       shape->rank - 2, &launch->attrs[WEIGHT_AXIS]}));
	}
	part = tt_blocks_part(launch, inputs, first_chunk(launch));
	return tt_part_run(&part);
}

static const struct tt_prog gather_minimal = {
	.device_op = "AllGatherMinimalMatmulAsyncOp",
	.prim = "ttnn::prim::all_gather_minimal_matmul_async",
	.attrs = &gather_schema,
	.infer = gather_infer,
	.validate = gather_validate,
	TT_FACTORY("ttnn::experimental::prim::AllGatherMinimalMatmulAsyncProgramFactory",
		   gather_memory),
	TT_KERNEL(gather_kernel),
	.cost = tt_cost_product,
	.per_chip = true,
	.together = true,
	.drops_forward = true,
};

/* ---- calls ----------------------------------------------------------------------------------------------------------------- */

/* What was gathered is given up as soon as the chunks are there. */
static tt_status give_chunks(struct tt_call *call, const struct tt_program_args *args, size_t first)
{
	struct tt_tensor *all[TT_OUTPUTS_MAX];
	size_t count;

	TT_TRY(tt_call_programs(all, &count, call, args));
	for (size_t i = first; i < count; i++)
		tt_call_return(call, all[i]);
	tt_call_drop_all(call, all, first);
	return TTNN_OK;
}

static tt_status gather_expand(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor"),
			 *weight = tt_call_tensor(call, "weight_tensor"),
			 *given = tt_call_tensor(call, "persistent_output_buffer"),
			 *given_weight = tt_call_tensor(call, "persistent_weight_buffer");
	const struct ttnn_value *axis = tt_call_arg(call, "cluster_axis"),
				*other = tt_call_arg(call, "fsdp_cluster_axis");
	struct ttnn_value attrs[gather_schema_count] = {0};
	struct ttnn_value scalar = *tt_call_arg(call, "scalar");
	struct tt_device *device;

	TT_TRY(tt_async_on_mesh(call, in));
	device = tt_tensor_device(in);
	TT_NEED(!tt_value_given(other) || other->integer == 0 || other->integer == 1,
		"%s: fsdp_cluster_axis is 0 or 1", call->entry->op->name);
	TT_TRY(tt_blocks_bind(&attrs[PRODUCT], call, "memory_config", &scalar));
	attrs[SIZE] = ttnn_v_int(tt_group_size(device, tt_group_axis(axis)));
	attrs[TOPOLOGY] =
		tt_group_topology(device, tt_call_arg(call, "topology"), tt_group_axis(axis));
	attrs[SIGNALS] = *tt_call_arg(call, "multi_device_global_semaphore");
	attrs[WEIGHT_SIGNALS] = *tt_call_arg(call, "fsdp_multi_device_global_semaphore");
	attrs[WEIGHT_SIZE] =
		ttnn_v_int(tt_value_given(other) ? tt_group_size(device, tt_group_axis(other)) : 1);
	attrs[WEIGHT_TOPOLOGY] =
		tt_group_topology(device, tt_call_arg(call, "fsdp_topology"), tt_group_axis(other));
	attrs[DIM] = ttnn_v_int(tt_call_int(call, "dim", -1));
	attrs[LINKS] = ttnn_v_int(tt_call_int(call, "num_links", 1));
	attrs[WORKERS] = ttnn_v_int(tt_call_int(call, "num_workers_per_link", 1));
	tt_attrs_bind(call, &gather_schema, attrs);
	return give_chunks(
		call,
		&(struct tt_program_args){
			.prog = &gather_minimal,
			.attrs = attrs,
			TT_INPUTS(in, weight, tt_call_tensor(call, "bias_tensor"), given,
				  tt_call_tensor(call, "addcmul_input_tensor1"),
				  tt_call_tensor(call, "addcmul_input_tensor2"), given_weight),
			TT_OUTPUTS(given, tt_value_given(other) ? given_weight : NULL),
			.in_place = given || given_weight},
		1 + tt_value_given(other));
}

/* ---- rows -------------------------------------------------------------------------------------------------------------------- */

#define PRODUCT_ARGS "config: ProgramConfig? = None, "

static const struct tt_op ops[] = {
	{.name = "ttnn.experimental.all_gather_minimal_matmul_async",
	 .doc = "The product of a matrix and what all devices have, one part behind the other, in "
		"blocks of a given size.",
	 .sigs = {"input_tensor: Tensor, weight_tensor: Tensor, *, bias_tensor: Tensor? = None, "
		  "scalar: float? = None, addcmul_input_tensor1: Tensor? = None, "
		  "addcmul_input_tensor2: Tensor? = None, fused_activation: UnaryWithParam? = "
		  "None, " PRODUCT_ARGS "multi_device_global_semaphore: any, "
		  "topology: Topology = Ring, memory_config: MemoryConfig? = None, "
		  "dtype: DataType? = None, compute_kernel_config: ComputeConfig? = None, "
		  "persistent_output_buffer: Tensor? = None, num_links: int = 1, "
		  "cluster_axis: int? = None, barrier_semaphore: any? = None, "
		  "force_transpose: bool = True, num_workers_per_link: int = 1, "
		  "num_buffers_per_channel: int = 1, chunks: int = 1, dim: int = -1, "
		  "fsdp_cluster_axis: int? = None, fsdp_multi_device_global_semaphore: any? = "
		  "None, persistent_weight_buffer: Tensor? = None, fsdp_topology: Topology? = "
		  "None, fuse_swiglu: bool = False, chunk_sizes: ints? = None"},
	 .expand = gather_expand,
	 .golden = tt_golden_gather_minimal,
	 .gives = "[Tensor]",
	 TT_PROGRAMS(&gather_minimal)},
};

const struct tt_op_family tt_family_fused_minimal = {"collective_fused", ops, TT_COUNT(ops)};
