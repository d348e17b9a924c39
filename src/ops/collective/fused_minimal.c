/*
 * fused_minimal.c: all_gather_minimal_matmul_async and strided_all_gather_minimal_matmul_async, products in blocks of a
 * given size of what is gathered, cut into chunks, gated or with an activation.
 *
 * Models AllGatherMinimalMatmulAsyncOp and StridedAllGatherMinimalMatmulAsync of ttnn 0.81: refusals, the tensors they
 * make, buffers. The first gathers into a tensor that it gives up, and may gather the weights along the other axis of
 * the mesh as well; its senders only pass on, and have no buffers. The kernel is that of ops/matmul/minimal_matmul.c. Not
 * modelled: which core computes what, and routes.
 */
#include <inttypes.h>
#include <string.h>

#include "device/device.h"
#include "golden/golden_fused.h"
#include "ops/activation.h"
#include "ops/collective/fused.h"
#include "ops/compute.h"
#include "ops/matmul/matmul.h"
#include "ops/op_enums.h"
#include "ops/usual.h"

#define SEMAPHORES .text = TT_TEXT_EACH, .fixed = "<GlobalSemaphore>", .unkeyed = true
#define XY .text = TT_TEXT_FIXED, .fixed = "<xy_pair>"

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

/* How the strided one gathers. */
#define STRIDED_ATTRS(X)                                                                           \
	X(S_DIM, "dim")                                                                            \
	X(S_LINKS, "num_links")                                                                    \
	X(S_SIZE, "ring_size")                                                                     \
	X(S_MEMORY, "output_mem_config")                                                           \
	X(S_TOPOLOGY, "topology")                                                                  \
	X(S_SIGNALS, "semaphore", SEMAPHORES)                                                      \
	X(S_AXIS, "cluster_axis")                                                                  \
	X(S_WORKERS, "num_workers_per_link")                                                       \
	X(S_BUFFERS, "num_buffers_per_channel")                                                    \
	X(S_CORES_Y, "mm_cores_y")                                                                 \
	X(S_BLOCK_H, "mm_block_ht")                                                                \
	X(S_BLOCK_W, "mm_block_wt")
TT_ATTRS(strided_schema, "StridedAllGatherAsyncParams", STRIDED_ATTRS);

#define WHOLE_ATTRS(X)                                                                             \
	X(GATHERING, "strided_all_gather_async_struct")                                            \
	X(STRIDED_PRODUCT, "matmul_struct")                                                        \
	X(OFFSET, "all_gather_core_grid_offset", XY)                                               \
	X(LOCAL, "read_local_slice_from_input")                                                    \
	X(GATHER_OP, "ag_op")                                                                      \
	X(AGGREGATORS, "mm_signal_aggregator_mode")
TT_ATTRS(strided_matmul_schema, "StridedAllGatherMinimalMatmulAsyncParams", WHOLE_ATTRS);
static const struct tt_schema gather_op_schema = {"StridedAllGatherAsync", NULL, 0, false};

enum { IN, WEIGHT, BIAS, GIVEN, ADDED, GATE, GIVEN_WEIGHT, INPUTS };
enum { AGGREGATORS_AUTO, AGGREGATORS_ON, AGGREGATORS_OFF };

/* ---- what both share ---------------------------------------------------------------------------------------------- */

static const struct ttnn_value *product_attrs(const struct tt_launch *launch)
{
	return launch->attrs[launch->prog->attrs == &gather_schema ? PRODUCT : STRIDED_PRODUCT]
		.items;
}

static bool swiglu(const struct tt_launch *launch)
{
	return product_attrs(launch)[TT_MINIMAL_SWIGLU].boolean;
}

/* The product alone, of these operands; its outputs are those from `first` on. */
static struct tt_launch product_part(const struct tt_launch *launch, struct tt_tensor **inputs,
				     size_t first)
{
	struct tt_launch part = *launch;

	part.prog = &tt_prog_minimal_matmul;
	part.attrs = product_attrs(launch);
	part.inputs = inputs;
	part.input_count = 5;
	part.output_count = launch->output_count - first;
	for (size_t i = 0; i < part.output_count; i++)
		part.outputs[i] = launch->outputs[first + i];
	inputs[2] = launch->inputs[BIAS];
	inputs[3] = launch->inputs[ADDED];
	inputs[4] = launch->inputs[GATE];
	return part;
}

/* The result is as wide as the weights, or half of it; chunks share that, or have widths of their own. */
static uint32_t result_width(const struct tt_launch *launch)
{
	uint32_t width = tt_shape_last(&launch->inputs[WEIGHT]->spec.shape, 1);

	return swiglu(launch) ? width / 2 : width;
}

static tt_status chunk_width(uint32_t *out, const struct tt_launch *launch, size_t chunk)
{
	const struct ttnn_value *widths = tt_launch_attr(launch, "chunk_sizes");
	uint32_t chunks = (uint32_t)product_attrs(launch)[TT_MINIMAL_CHUNKS].integer;
	int64_t width;

	*out = result_width(launch) / chunks;
	if (widths->kind != TTNN_VALUE_LIST || widths->count == 0)
		return TTNN_OK;
	TT_NEED(chunk < widths->count && tt_value_integer(&width, &widths->items[chunk]) &&
			width > 0 && width <= UINT32_MAX,
		"chunk_sizes has no width of chunk %zu", chunk);
	*out = (uint32_t)width;
	return TTNN_OK;
}

/* The chunks of the product, in tiles, from output `first` on. */
static tt_status infer_chunks(struct tt_launch *launch, size_t first)
{
	const struct ttnn_value *attrs = product_attrs(launch);
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec;
	const struct ttnn_value *memory = &attrs[TT_MINIMAL_MEMORY],
				*dtype = &attrs[TT_MINIMAL_DTYPE];
	struct ttnn_shape shape = in->shape;

	launch->output_count = first + (size_t)attrs[TT_MINIMAL_CHUNKS].integer;
	for (size_t i = first; i < launch->output_count; i++) {
		TT_TRY(chunk_width(&shape.dim[shape.rank - 1], launch, i - first));
		TT_TRY(tt_spec_simple(
			&launch->specs[i], &shape,
			tt_value_given(dtype) ? (enum ttnn_dtype)dtype->integer : in->dtype,
			TTNN_TILE,
			memory->kind == TTNN_VALUE_MEMORY ? memory->memory : &in->memory));
	}
	return TTNN_OK;
}

/* Blocks of the operands twice, of sums once; of the result as the program has it. */
struct blocks {
	uint64_t m, k, n;
	const ttnn_core_set *cores;
};

static tt_status find_blocks(struct blocks *out, const struct tt_launch *launch)
{
	const struct ttnn_value *config = &product_attrs(launch)[TT_MINIMAL_CONFIG];

	*out = (struct blocks){.m = tt_minimal_block(config, TT_MINIMAL_M),
			       .k = tt_minimal_block(config, TT_MINIMAL_K),
			       .n = tt_minimal_block(config, TT_MINIMAL_N),
			       .cores = launch->device->grid};
	if (config->kind != TTNN_VALUE_OBJECT ||
	    config->items[TT_MINIMAL_GRID].kind != TTNN_VALUE_CORE)
		return TTNN_OK;
	return tt_core_set_grid(&out->cores, config->items[TT_MINIMAL_GRID].core.x,
				config->items[TT_MINIMAL_GRID].core.y);
}

static uint64_t tile_of(const struct tt_tensor *tensor)
{
	return tensor ? tt_tile_bytes_of(tensor->spec.dtype) : 0;
}

/* What follows the sums: a bias, what is added, the gate. */
static tt_status more_blocks(struct tt_plan *plan, const struct tt_launch *launch,
			     const struct blocks *blocks)
{
	bool fp32 = tt_compute_has(&product_attrs(launch)[TT_MINIMAL_COMPUTE], TT_COMPUTE_FP32);
	uint64_t area = blocks->m * blocks->n;
	struct tt_tensor *const *in = launch->inputs;

	return TT_PLAN(plan, blocks->cores,
		       TT_CB_ROW(3, "intermediate_cb", .pages = area,
				 .page = tt_tile_bytes_of(fp32 ? TTNN_FLOAT32 : TTNN_BFLOAT16)),
		       TT_CB_ROW(4, "in2_cb", .pages = in[BIAS] ? blocks->n : 0,
				 .page = tile_of(in[BIAS])),
		       TT_CB_ROW(5, "ternary_a_cb", .pages = in[ADDED] ? area : 0,
				 .page = tile_of(in[ADDED])),
		       TT_CB_ROW(6, "ternary_c_cb", .pages = in[GATE] ? blocks->n : 0,
				 .page = tile_of(in[GATE])));
}

/* A ring is closed where one line of chips is the whole mesh. */
static tt_status check_ring(const struct tt_launch *launch, int64_t axis)
{
	uint32_t size = tt_group_size(launch->device, axis);
	struct tt_group group;

	tt_group_find(&group, launch->device, axis, 0);
	TT_REQUIRE(size == launch->device->rows * launch->device->cols || size == 2,
		   "forwarding_direction.has_value()",
		   "Could not find any forwarding direction from src (M0, D0) to dst (M0, D%u)",
		   group.chips[size - 1]);
	return TTNN_OK;
}

/* ---- gathering: refusals --------------------------------------------------------------------------------------------- */

#define SELF "all_gather_minimal_matmul_async "

static bool takes(const struct tt_tensor *tensor)
{
	return !tt_dtype_is_integer(tensor->spec.dtype);
}

static tt_status check_operands(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *a = &launch->inputs[IN]->spec,
				      *w = &launch->inputs[WEIGHT]->spec;
	const struct tt_tensor *bias = launch->inputs[BIAS];
	uint64_t k = (uint64_t)tt_shape_last(&a->shape, 1) * tt_attr_u32(launch, SIZE);
	uint64_t k_w = (uint64_t)tt_shape_last(&w->shape, 2) * tt_attr_u32(launch, WEIGHT_SIZE);

	TT_REQUIRE(a->layout == TTNN_TILE && w->layout == TTNN_TILE,
		   "act_tensor.layout() == Layout::TILE && weight_tensor.layout() == Layout::TILE",
		   SELF "requires TILE layout for activation and weight");
	TT_REQUIRE(!bias || bias->spec.layout == TTNN_TILE, "bias_ptr->layout() == Layout::TILE",
		   SELF "requires TILE layout for bias");
	TT_REQUIRE(takes(launch->inputs[IN]) && takes(launch->inputs[WEIGHT]),
		   "dtype_supported(act_tensor.dtype()) && dtype_supported(weight_tensor.dtype())",
		   SELF "supports only BFLOAT16, BFLOAT8_B, BFLOAT4_B, and FLOAT32 for inputs");
	TT_REQUIRE(!bias || takes(bias), "dtype_supported(bias_ptr->dtype())",
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
	const struct ttnn_value *attrs = product_attrs(launch);
	uint32_t n = tt_shape_last(&launch->inputs[WEIGHT]->spec.shape, 1);

	if (!swiglu(launch))
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
	const struct tt_tensor *given = launch->inputs[GIVEN_WEIGHT];
	uint32_t size = tt_attr_u32(launch, SIZE), own = tt_attr_u32(launch, WEIGHT_SIZE);
	uint32_t k = size * tt_shape_last(&launch->inputs[IN]->spec.shape, 1);
	uint32_t n = tt_shape_last(&launch->inputs[WEIGHT]->spec.shape, 1);

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
	TT_REQUIRE(given->spec.dtype == launch->inputs[WEIGHT]->spec.dtype,
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
	const struct ttnn_value *attrs = product_attrs(launch), *widths = &launch->attrs[WIDTHS];
	int64_t chunks = attrs[TT_MINIMAL_CHUNKS].integer, dim = launch->attrs[DIM].integer;
	uint32_t n = tt_shape_last(&launch->inputs[WEIGHT]->spec.shape, 1), width;
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
		TT_TRY(chunk_width(&width, launch, i));
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
	const struct tt_tensor *bias = launch->inputs[BIAS];
	uint32_t n = tt_shape_last(&launch->inputs[WEIGHT]->spec.shape, 1);

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

/* What is added, and the gate, which may be one row; outer extents are those of the result. */
static tt_status check_gate_shapes(const struct tt_launch *launch)
{
	const struct ttnn_shape *act = &launch->inputs[IN]->spec.shape;
	uint32_t m = tt_shape_last(act, 2), n = result_width(launch);
	const struct ttnn_shape *a = &launch->inputs[ADDED]->spec.shape,
				*b = &launch->inputs[GATE]->spec.shape;

	TT_REQUIRE(tt_shape_last(a, 2) == m && tt_shape_last(a, 1) == n,
		   "ternary_a_logical[-2] == M && ternary_a_logical[-1] == N",
		   "fused_ternary_input_a shape must match output [M=%u, N=%u], got [%u, %u]", m, n,
		   tt_shape_last(a, 2), tt_shape_last(a, 1));
	TT_REQUIRE((tt_shape_last(b, 2) == 1 || tt_shape_last(b, 2) == m) &&
			   tt_shape_last(b, 1) == n,
		   "(ternary_b_logical[-2] == 1 || ternary_b_logical[-2] == M) && "
		   "ternary_b_logical[-1] == N",
		   "fused_ternary_input_b shape must be [1, N=%u] (broadcast) or [M=%u, N=%u] "
		   "(full), got [%u, %u]",
		   n, m, n, tt_shape_last(b, 2), tt_shape_last(b, 1));
	for (uint32_t back = 3; back <= TTNN_MAX_RANK; back++)
		for (int i = 0; i < 2; i++) {
			uint32_t own = tt_shape_last(i ? b : a, back);

			TT_REQUIRE(own == 1 || own == tt_shape_last(act, back),
				   "ternary_logical[i] == 1 || ternary_logical[i] == output[i]",
				   "fused_ternary_input_%c has %u in dimension -%u, where the "
				   "output has %u",
				   'a' + i, own, back, tt_shape_last(act, back));
		}
	return TTNN_OK;
}

static tt_status check_gated(const struct tt_launch *launch)
{
	const struct ttnn_value *attrs = product_attrs(launch);
	const struct tt_tensor *a = launch->inputs[ADDED], *b = launch->inputs[GATE];
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
	TT_REQUIRE(takes(a) && takes(b),
		   "dtype_supported(ternary_a.dtype()) && dtype_supported(ternary_b.dtype())",
		   "fused_ternary tensors must have supported dtypes");
	return check_gate_shapes(launch);
}

/* A field of the config as it is written, not replaced where it is 0. */
static int64_t config_field(const struct ttnn_value *config, size_t field)
{
	int64_t out = 0;

	return tt_value_integer(&out, &config->items[field]) ? out : 0;
}

static tt_status check_config(const struct tt_launch *launch)
{
	const struct ttnn_value *config = &product_attrs(launch)[TT_MINIMAL_CONFIG];
	uint32_t tiles = tt_shape_last(&launch->inputs[IN]->spec.padded, 1) / TT_TILE;
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
	TT_REQUIRE(f[3] * f[4] <= (tt_compute_has(&product_attrs(launch)[TT_MINIMAL_COMPUTE],
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
	const struct ttnn_value *config = &product_attrs(launch)[TT_MINIMAL_CONFIG];
	struct ttnn_core full = launch->device->info.compute_grid, grid = full, mux;
	uint32_t workers = tt_attr_u32(launch, WORKERS), links = tt_attr_u32(launch, LINKS);
	uint32_t rows = tt_shape_last(&launch->inputs[IN]->spec.padded, 2);
	uint32_t n = tt_shape_last(&launch->inputs[WEIGHT]->spec.padded, 1), side;
	bool turned;

	if (config->kind == TTNN_VALUE_OBJECT)
		grid = config->items[TT_MINIMAL_GRID].core;
	for (uint32_t back = 3; back <= launch->inputs[IN]->spec.padded.rank; back++)
		rows *= tt_shape_last(&launch->inputs[IN]->spec.padded, back);
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
	struct ttnn_shape shape = launch->inputs[IN]->spec.shape;

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
	const struct ttnn_tensor_spec *w = &launch->inputs[WEIGHT]->spec;
	struct ttnn_shape shape = launch->inputs[IN]->spec.shape;
	size_t first = first_chunk(launch);

	TT_NEED(shape.rank >= 2 && w->shape.rank >= 2, SELF "expects rank >= 2 tensors");
	TT_TRY(infer_chunks(launch, first));
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
	struct blocks b;

	TT_TRY(find_blocks(&b, launch));
	TT_TRY(TT_PLAN(plan, b.cores,
		       TT_CB_ROW(0, "in0_cb", .pages = 2 * b.m * b.k, .page = tile_of(out[0])),
		       TT_CB_ROW(1, "in1_cb", .pages = 2 * b.k * b.n,
				 .page = tile_of(launch->inputs[WEIGHT])),
		       TT_CB_ROW(2, "out_cb", .pages = b.m * b.n / (swiglu(launch) ? 2 : 1),
				 .page = tile_of(out[first_chunk(launch)]))));
	return more_blocks(plan, launch, &b);
}

static tt_status gather_kernel(struct tt_launch *launch)
{
	struct tt_tensor *inputs[5] = {launch->outputs[0], launch->inputs[WEIGHT]};
	const struct ttnn_shape *shape = &launch->outputs[0]->spec.shape;
	struct tt_launch part;

	TT_TRY(tt_part_gather(launch,
			      &(struct tt_gathering){launch->outputs[0], launch->inputs[IN],
						     shape->rank - 1, &launch->attrs[AXIS]}));
	if (gathers_weights(launch)) {
		inputs[1] = launch->outputs[1];
		shape = &launch->outputs[1]->spec.shape;
		TT_TRY(tt_part_gather(launch,
				      &(struct tt_gathering){inputs[1], launch->inputs[WEIGHT],
							     shape->rank - 2,
							     &launch->attrs[WEIGHT_AXIS]}));
	}
	part = product_part(launch, inputs, first_chunk(launch));
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

/* ---- in strides -------------------------------------------------------------------------------------------------------- */

static const struct ttnn_value *strided(const struct tt_launch *launch)
{
	return launch->attrs[GATHERING].items;
}

static tt_status strided_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec;
	struct ttnn_shape shape = in->shape;
	int64_t dim = strided(launch)[S_DIM].integer;

	TT_NEED(shape.rank == 4 && launch->inputs[WEIGHT]->spec.shape.rank >= 2 && dim < 4,
		"StridedAllGatherMinimalMatmulAsync takes tensors of four dimensions, and a "
		"matrix");
	TT_TRY(infer_chunks(launch, 1));
	if (tt_infer_given(launch, 0))
		return TTNN_OK;
	shape.dim[dim] *= (uint32_t)strided(launch)[S_SIZE].integer;
	return tt_spec_simple(&launch->specs[0], &shape, in->dtype, in->layout,
			      strided(launch)[S_MEMORY].memory);
}

/* How its gate is told of, in the words of this operation. */
static tt_status strided_check_gated(const struct tt_launch *launch)
{
	const struct ttnn_value *attrs = product_attrs(launch);
	const struct tt_tensor *a = launch->inputs[ADDED], *b = launch->inputs[GATE];
	uint32_t n = tt_shape_last(&launch->inputs[WEIGHT]->spec.shape, 1);
	int64_t chunks = attrs[TT_MINIMAL_CHUNKS].integer;
	bool activated = tt_value_given(&attrs[TT_MINIMAL_ACTIVATION]);

	TT_REQUIRE(!a == !b,
		   "tensor_args.fused_ternary_input_a.has_value() == "
		   "tensor_args.fused_ternary_input_b.has_value()",
		   "StridedAllGatherMinimalMatmulAsync fused addcmul requires both ternary inputs "
		   "(a and b) or neither.");
	if (swiglu(launch)) {
		TT_REQUIRE(!activated, "!attributes.matmul_struct.fused_activation.has_value()",
			   "StridedAllGatherMinimalMatmulAsync cannot combine fuse_swiglu with a "
			   "unary fused_activation");
		TT_REQUIRE(!a, "!tensor_args.fused_ternary_input_a.has_value()",
			   "StridedAllGatherMinimalMatmulAsync cannot combine fuse_swiglu with "
			   "fused ternary (addcmul)");
		TT_REQUIRE(n % (2 * TT_TILE) == 0, "N % (2 * tt::constants::TILE_WIDTH) == 0",
			   "StridedAllGatherMinimalMatmulAsync fuse_swiglu requires weight width "
			   "N=%u to be a multiple of 2*TILE_WIDTH=%u",
			   n, 2u * TT_TILE);
		TT_REQUIRE(n / chunks % (2 * TT_TILE) == 0,
			   "(N / chunks) % (2 * tt::constants::TILE_WIDTH) == 0",
			   "StridedAllGatherMinimalMatmulAsync fuse_swiglu requires per-chunk "
			   "weight width N/chunks=%" PRId64 " to be a multiple of 2*TILE_WIDTH=%u",
			   n / chunks, 2u * TT_TILE);
	}
	if (!a)
		return TTNN_OK;
	TT_REQUIRE(!activated, "!attributes.matmul_struct.fused_activation.has_value()",
		   "StridedAllGatherMinimalMatmulAsync cannot combine fused_activation with "
		   "ternary (addcmul) inputs.");
	TT_REQUIRE(a->spec.layout == TTNN_TILE && b->spec.layout == TTNN_TILE,
		   "ternary_a.layout() == tt::tt_metal::Layout::TILE && ternary_b.layout() == "
		   "tt::tt_metal::Layout::TILE",
		   "StridedAllGatherMinimalMatmulAsync ternary inputs must be TILE layout.");
	return check_gate_shapes(launch);
}

/* Behind what upstream refuses: what nothing could be computed of. */
static tt_status strided_check_fits(const struct tt_launch *launch)
{
	const struct ttnn_value *config = &product_attrs(launch)[TT_MINIMAL_CONFIG];
	struct ttnn_shape shape = launch->inputs[IN]->spec.shape;
	const struct ttnn_tensor_spec *w = &launch->inputs[WEIGHT]->spec;
	const struct tt_tensor *bias = launch->inputs[BIAS];
	uint32_t n = tt_shape_last(&w->shape, 1);

	shape.dim[3] *= (uint32_t)strided(launch)[S_SIZE].integer;
	TT_NEED(launch->inputs[IN]->spec.layout == TTNN_TILE && w->layout == TTNN_TILE &&
			takes(launch->inputs[IN]) && takes(launch->inputs[WEIGHT]),
		"StridedAllGatherMinimalMatmulAsync multiplies tiles of floats");
	TT_NEED(shape.dim[3] == tt_shape_last(&w->shape, 2) && w->pages,
		"StridedAllGatherMinimalMatmulAsync: a row has %u values, a column of the weights "
		"%u",
		shape.dim[3], tt_shape_last(&w->shape, 2));
	for (uint32_t i = 0; i + 2 < w->shape.rank; i++)
		TT_NEED(w->shape.dim[i] == 1,
			"StridedAllGatherMinimalMatmulAsync takes one matrix of weights");
	TT_NEED(!bias || (tt_shape_last(&bias->spec.shape, 1) == n &&
			  tt_shape_last(&bias->spec.shape, 2) == 1),
		"StridedAllGatherMinimalMatmulAsync: the bias is a row of %u values", n);
	TT_NEED(config->items[TT_MINIMAL_GRID].kind == TTNN_VALUE_CORE,
		"StridedAllGatherMinimalMatmulAsync needs the grid of its config");
	return tt_check_given(launch, 0, &shape);
}

static tt_status strided_validate(struct tt_launch *launch)
{
	const struct ttnn_shape *in = &launch->inputs[IN]->spec.padded;
	const struct ttnn_value *attrs = strided(launch);

	TT_REQUIRE(attrs[S_DIM].integer == 3, "attributes.strided_all_gather_async_struct.dim == 3",
		   "StridedAllGatherMinimalMatmulAsync requires dim=3 for the AllGather "
		   "operations.");
	TT_REQUIRE(in->dim[0] == 1 && in->dim[1] == 1,
		   "tensor_args.input_tensor.padded_shape()[0] == 1 && "
		   "tensor_args.input_tensor.padded_shape()[1] == 1",
		   "StridedAllGatherMinimalMatmulAsync requires input tensor to have batch size "
		   "of 1.");
	TT_TRY(strided_check_gated(launch));
	TT_TRY(strided_check_fits(launch));
	if (attrs[S_TOPOLOGY].integer != TT_TOPOLOGY_LINEAR)
		TT_TRY(check_ring(launch, tt_group_axis(&attrs[S_AXIS])));
	return TTNN_OK;
}

/* Cores of the grid, row by row, that stay on it behind an offset, of so many. */
static uint32_t cores_on_grid(const struct tt_launch *launch, uint32_t count)
{
	struct ttnn_core from = launch->attrs[OFFSET].core;
	uint32_t inside = 0;

	for (uint32_t i = 0; i < count && i < ttnn_core_set_cores(launch->device->grid); i++) {
		struct ttnn_core core =
			tt_core_set_at(launch->device->grid, i, TTNN_ORIENT_ROW_MAJOR);

		core.x += from.x;
		core.y += from.y;
		inside += tt_core_set_contains(launch->device->grid, core);
	}
	return inside;
}

/* For each direction a core gathers the signals, if they fit behind the senders: it needs a semaphore for each worker. */
static tt_status check_aggregators(const struct tt_launch *launch)
{
	const struct ttnn_value *attrs = strided(launch), *given = &attrs[S_SIGNALS];
	int64_t mode = launch->attrs[AGGREGATORS].integer;
	uint32_t workers = (uint32_t)(attrs[S_WORKERS].integer * attrs[S_LINKS].integer);
	uint32_t senders = 2 * (workers + (uint32_t)attrs[S_LINKS].integer), all = senders + 2;
	uint32_t inside = cores_on_grid(launch, all), last = 2;

	TT_REQUIRE(mode != AGGREGATORS_ON || inside == all, "aggregators_fit",
		   "strided AG: matmul-signal aggregators need %u worker cores (%u mux/worker + 2 "
		   "aggregator), but at core grid offset %u-%u the last %u of them fall outside "
		   "the worker grid",
		   all, senders, launch->attrs[OFFSET].core.x, launch->attrs[OFFSET].core.y,
		   all - inside);
	if (mode != AGGREGATORS_OFF && inside == all)
		for (; last < 2 + 2 * workers; last++)
			TT_TRY(tt_check_semaphores(given, last));
	TT_TRY(tt_check_semaphores(given, 0));
	return tt_check_semaphores(given, 1);
}

/* Rows that one core has of the result, in blocks. */
static uint64_t blocks_down(const struct tt_launch *launch, const struct blocks *b)
{
	const struct ttnn_core grid =
		product_attrs(launch)[TT_MINIMAL_CONFIG].items[TT_MINIMAL_GRID].core;
	uint32_t m = tt_shape_last(&launch->outputs[0]->spec.padded, 2);
	uint32_t n = tt_shape_last(&launch->inputs[WEIGHT]->spec.padded, 1);
	uint64_t side = m > n ? grid.x : grid.y;

	return side ? tt_div_up(tt_div_up(m / TT_TILE, side), b->m) : 1;
}

static tt_status strided_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_value *attrs = strided(launch);
	struct tt_launch gathering = *launch;
	struct tt_senders senders = {.workers = (uint32_t)attrs[S_WORKERS].integer,
				     .mux = 1,
				     .from = &launch->attrs[OFFSET].core};
	uint64_t down, weights = tile_of(launch->inputs[WEIGHT]);
	uint64_t result = tile_of(launch->outputs[1]);
	const ttnn_core_set *cores;
	struct blocks b;
	bool split;

	TT_TRY(find_blocks(&b, launch));
	down = blocks_down(launch, &b);
	split = !launch->inputs[ADDED] && !swiglu(launch) && down == 1 && b.m > 1;
	TT_TRY(TT_PLAN(
		plan, b.cores,
		TT_CB_ROW(0, "in0_cb", .pages = 2 * b.m * b.k, .page = tile_of(launch->outputs[0])),
		TT_CB_ROW(1, "in1_cb", .pages = 2 * b.k * b.n, .page = weights),
		TT_CB_ROW(7, "in1_scratch_cb", .pages = b.k * b.n, .page = weights),
		TT_CB_ROW(2, "out_cb",
			  .pages = b.m * b.n * (down == 1 ? 1 : 2) / (swiglu(launch) ? 2 : 1),
			  .page = result),
		TT_CB_ROW(8, "out_cb_b", .pages = split ? b.m * b.n : 0, .page = result)));
	TT_TRY(more_blocks(plan, launch, &b));
	gathering.prog = &(const struct tt_prog){.attrs = &strided_schema};
	gathering.attrs = attrs;
	TT_TRY(tt_sender_cores(&cores, &gathering, &senders));
	TT_TRY(check_aggregators(launch));
	return TT_PLAN(plan, cores,
		       TT_CB_ROW(0, "sender", .pages = 3 * tt_packet_pages(launch),
				 .page = launch->inputs[IN]->spec.page_bytes));
}

static tt_status strided_kernel(struct tt_launch *launch)
{
	struct tt_tensor *inputs[5] = {launch->outputs[0], launch->inputs[WEIGHT]};
	struct tt_launch part;

	TT_TRY(tt_part_gather(launch, &(struct tt_gathering){launch->outputs[0], launch->inputs[IN],
							     3, &strided(launch)[S_AXIS]}));
	part = product_part(launch, inputs, 1);
	return tt_part_run(&part);
}

/* All but semaphores. */
static void strided_key(struct tt_key *key, const struct tt_launch *launch)
{
	const struct ttnn_value *attrs = strided(launch);

	for (size_t i = 0; i < strided_schema_count; i++)
		if (!strided_schema_fields[i].unkeyed)
			tt_key_values(key, &attrs[i], 1);
	tt_key_values(key, &launch->attrs[STRIDED_PRODUCT], 3);
	tt_key_values(key, &launch->attrs[AGGREGATORS], 1);
	for (size_t i = 0; i < launch->input_count; i++) {
		tt_key_number(key, launch->inputs[i] != NULL);
		if (launch->inputs[i])
			tt_key_spec(key, &launch->inputs[i]->spec);
	}
}

static const struct tt_prog strided_minimal = {
	.device_op = "StridedAllGatherMinimalMatmulAsync",
	.prim = "ttnn::prim::strided_all_gather_minimal_matmul_async",
	.attrs = &strided_matmul_schema,
	.infer = strided_infer,
	.validate = strided_validate,
	.key = strided_key,
	TT_FACTORY("ttnn::experimental::prim::StridedAllGatherMinimalMatmulAsyncProgramFactory",
		   strided_memory),
	TT_KERNEL(strided_kernel),
	.cost = tt_cost_product,
	.per_chip = true,
	.together = true,
	.drops_forward = true,
};

/* ---- calls ----------------------------------------------------------------------------------------------------------------- */

/* What both say of the product, as an object in the arena. */
static tt_status bind_product(struct ttnn_value *out, struct tt_call *call, const char *memory,
			      const struct ttnn_value *scalar)
{
	static const struct tt_compute_usual usual = {
		.fidelity = TT_HIFI2, .fp32 = true, .l1_acc = true};
	struct ttnn_value *attrs =
		tt_arena_alloc(call->arena, TT_MINIMAL_ATTR_COUNT * sizeof(*attrs));
	int64_t chunks = tt_call_int(call, "chunks", 1);
	double factor;

	TT_NEED_MEMORY(attrs);
	memset(attrs, 0, TT_MINIMAL_ATTR_COUNT * sizeof(*attrs));
	TT_REQUIRE(chunks >= 1, "chunks >= 1",
		   "minimal_matmul requires chunks >= 1, got chunks=%" PRId64, chunks);
	TT_NEED(chunks <= TT_OUTPUTS_MAX - 2, "%s makes at most %d chunks, got chunks=%" PRId64,
		call->entry->op->name, TT_OUTPUTS_MAX - 2, chunks);
	attrs[TT_MINIMAL_CONFIG] = *tt_call_arg(call, "config");
	TT_TRY(tt_activation_of(&attrs[TT_MINIMAL_ACTIVATION], call->arena,
				tt_call_arg(call, "fused_activation")));
	attrs[TT_MINIMAL_MEMORY] = *tt_call_arg(call, memory);
	attrs[TT_MINIMAL_DTYPE] = *tt_call_arg(call, "dtype");
	if (tt_value_number(&factor, scalar))
		attrs[TT_MINIMAL_SCALAR] = ttnn_v_real(factor);
	attrs[TT_MINIMAL_COMPUTE] =
		tt_compute_config(call, tt_call_arg(call, "compute_kernel_config"), &usual);
	attrs[TT_MINIMAL_CHUNKS] = ttnn_v_int(chunks);
	attrs[TT_MINIMAL_DIM] = ttnn_v_int(-1);
	attrs[TT_MINIMAL_SWIGLU] = ttnn_v_bool(tt_call_bool(call, "fuse_swiglu", false));
	*out = tt_value_object(tt_prog_minimal_matmul.attrs, attrs);
	return TTNN_OK;
}

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
	TT_TRY(bind_product(&attrs[PRODUCT], call, "memory_config", &scalar));
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

static tt_status bind_strided(struct ttnn_value *attrs, struct tt_call *call, struct tt_tensor *in,
			      const struct ttnn_value *config)
{
	const struct ttnn_value *axis = tt_call_arg(call, "cluster_axis");
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config_ag");

	attrs[S_DIM] = ttnn_v_int(tt_call_int(call, "dim", 3));
	TT_NEED(attrs[S_DIM].integer >= 0, "%s: dim is not negative", call->entry->op->name);
	attrs[S_LINKS] = ttnn_v_int(tt_call_int(call, "num_links", 1));
	attrs[S_SIZE] = ttnn_v_int(tt_group_size(tt_tensor_device(in), tt_group_axis(axis)));
	attrs[S_MEMORY] = ttnn_v_memory(memory ? memory : &in->spec.memory);
	attrs[S_SIGNALS] = *tt_call_arg(call, "multi_device_global_semaphore");
	attrs[S_WORKERS] = ttnn_v_int(tt_call_int(call, "num_workers_per_link", 1));
	attrs[S_CORES_Y] = ttnn_v_int(config->items[TT_MINIMAL_GRID].core.y);
	attrs[S_BLOCK_H] = config->items[TT_MINIMAL_M];
	attrs[S_BLOCK_W] = config->items[TT_MINIMAL_K];
	tt_attrs_bind(call, &strided_schema, attrs);
	return TTNN_OK;
}

static tt_status strided_expand(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor"),
			 *weight = tt_call_tensor(call, "weight_tensor"),
			 *given = tt_call_tensor(call, "persistent_output_buffer"),
			 *added = tt_call_tensor(call, "fused_ternary_input_a");
	const struct ttnn_value *config = tt_call_arg(call, "config"),
				*mode = tt_call_arg(call, "mm_signal_aggregator_mode");
	struct ttnn_value attrs[strided_matmul_schema_count] = {0};
	struct ttnn_value gathering[strided_schema_count] = {0};
	struct ttnn_value scalar = *tt_call_arg(call, "fused_ternary_scalar");

	TT_TRY(tt_async_on_mesh(call, in));
	TT_NEED(config->kind == TTNN_VALUE_OBJECT && config->schema == &tt_schema_minimal_matmul,
		"%s needs a MinimalMatmulConfig", call->entry->op->name);
	TT_NEED(tt_value_given(tt_call_arg(call, "compute_kernel_config")), "bad optional access");
	if (added && !tt_value_given(&scalar))
		scalar = ttnn_v_real(1);
	TT_TRY(bind_strided(gathering, call, in, config));
	attrs[GATHERING] = tt_value_object(&strided_schema, gathering);
	TT_TRY(bind_product(&attrs[STRIDED_PRODUCT], call, "memory_config_mm", &scalar));
	TT_TRY(tt_part_offset(&attrs[OFFSET], call, "strided_all_gather_core_grid_offset"));
	attrs[LOCAL] = ttnn_v_bool(tt_call_bool(call, "read_local_slice_from_input", false));
	attrs[GATHER_OP] = tt_value_object(&gather_op_schema, NULL);
	attrs[AGGREGATORS] = tt_value_enum(&tt_enum_signal_aggregators,
					   mode->kind == TTNN_VALUE_ENUM ? mode->integer : 0);
	return TT_LAUNCH_RETURN(call, &strided_minimal,
				TT_INPUTS(in, weight, tt_call_tensor(call, "bias"), given, added,
					  tt_call_tensor(call, "fused_ternary_input_b")),
				TT_OUTPUTS(given), .attrs = attrs, .in_place = given != NULL);
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
	{.name = "ttnn.experimental.strided_all_gather_minimal_matmul_async",
	 .doc = "The parts of all devices, one behind the other, and the product of them and a "
		"matrix, in blocks of a given size.",
	 .sigs = {"input_tensor: Tensor, weight_tensor: Tensor, "
		  "persistent_output_buffer: Tensor?, dim: int, "
		  "multi_device_global_semaphore: any, "
		  "strided_all_gather_core_grid_offset: CoreCoord, *, num_links: int = 1, "
		  "memory_config_ag: MemoryConfig? = None, topology: Topology = Ring, "
		  "cluster_axis: int? = None, bias: Tensor? = None, "
		  "fused_activation: UnaryWithParam? = None, " PRODUCT_ARGS
		  "memory_config_mm: MemoryConfig? = None, "
		  "compute_kernel_config: ComputeConfig? = None, "
		  "num_workers_per_link: int? = None, num_buffers_per_channel: int? = None, "
		  "read_local_slice_from_input: bool? = None, "
		  "fused_ternary_input_a: Tensor? = None, fused_ternary_input_b: Tensor? = None, "
		  "fused_ternary_scalar: float? = None, chunks: int = 1, "
		  "mm_signal_aggregator_mode: enum? = None, fuse_swiglu: bool = False"},
	 .expand = strided_expand,
	 .golden = tt_golden_strided_minimal,
	 .gives = "[Tensor]",
	 TT_PROGRAMS(&strided_minimal)},
};

const struct tt_op_family tt_family_fused_minimal = {"collective_fused", ops, TT_COUNT(ops)};
