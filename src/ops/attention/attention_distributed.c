/*
 * attention_distributed.c: causal attention whose queries are shared out: each chip has all rows, and computes one part from
 * the front and one from the back of them, so that all have the same to do.
 *
 * Models RingDistributedSdpaDeviceOperation of ttnn 0.81 with its one factory: refusals, memory, cores; a program for each
 * chip. Not modelled: the chunks in which a core walks keys and values.
 */
#include <math.h>

#include "device/device.h"
#include "device/devtensor.h"
#include "ops/attention/attention_ring.h"
#include "ops/attention/heads.h"
#include "ops/compute.h"
#include "ops/cost.h"
#include "ops/creation/creation.h"
#include "ops/mem_rows.h"
#include "ops/movement/movement.h"
#include "ops/objects.h"
#include "ops/usual.h"
#include "tensor/core.h"
#include "tensor/shape.h"
#include "tensor/spec.h"
#include "tensor/tile.h"

#define ATTRS(X)                                                                                   \
	X(RING, "ring_size")                                                                       \
	X(ID, "ring_id")                                                                           \
	X(SCALE, "scale")                                                                          \
	X(MEMORY, "output_mem_config")                                                             \
	X(CONFIG, "program_config", .text = TT_TEXT_PLACES)                                        \
	X(COMPUTE, "compute_kernel_config")                                                        \
	X(START, "chunk_start_idx")
TT_ATTRS(schema, "RingDistributedSDPAParams", ATTRS);
enum { Q, K, V, PAGES, INPUTS };

static uint32_t ring_of(const struct tt_launch *launch)
{
	return (uint32_t)launch->attrs[RING].integer;
}

static tt_status distributed_infer(struct tt_launch *launch)
{
	struct ttnn_shape shape = launch->inputs[Q]->spec.shape;

	for (int i = Q; i <= V; i++) {
		TT_TRY(tt_need_dim(&launch->inputs[i]->spec.shape, 3));
		TT_NEED(launch->inputs[i]->spec.shape.rank == 4, "inputs have 4 dimensions, not %u",
			launch->inputs[i]->spec.shape.rank);
	}
	TT_REQUIRE(ring_of(launch), "operation_attributes.ring_size > 0",
		   "ring_size must be greater than 0, got 0");
	shape.dim[2] =
		ring_of(launch) > shape.dim[2] ? 0 : shape.dim[2] / (2 * ring_of(launch)) * 2;
	return tt_infer_one(launch, &shape, launch->inputs[Q]->spec.dtype, TTNN_TILE);
}

static tt_status check_kinds(const struct tt_launch *launch)
{
	uint32_t ring = ring_of(launch);
	const struct ttnn_value *id = &launch->attrs[ID];
	enum ttnn_dtype dtype = launch->inputs[Q]->spec.dtype;

	TT_REQUIRE(ring <= 32, "operation_attributes.ring_size <= 32",
		   "ring_size must be <= 32 for practical use, got %u", ring);
	TT_REQUIRE(!tt_value_given(id) || id->integer < ring,
		   "operation_attributes.ring_id.value() < operation_attributes.ring_size",
		   "ring_id must be less than ring_size, got ring_id=%lld, ring_size=%u",
		   (long long)id->integer, ring);
	TT_REQUIRE(ring % 2 == 0, "operation_attributes.ring_size % 2 == 0",
		   "ring_size must be even for balanced distribution, got %u", ring);
	for (int i = Q; i <= V; i++)
		TT_REQUIRE(launch->inputs[i]->spec.dtype == dtype, "tensor.dtype() == dtype",
			   "All tensors must have the same dtype. Expected DataType::%s, got "
			   "DataType::%s",
			   ttnn_dtype_name(dtype, TTNN_DIALECT_TT_METAL),
			   ttnn_dtype_name(launch->inputs[i]->spec.dtype, TTNN_DIALECT_TT_METAL));
	for (int i = Q; i <= V; i++) {
		const struct ttnn_tensor_spec *spec = &launch->inputs[i]->spec;

		TT_REQUIRE(spec->layout == TTNN_TILE, "tensor.layout() == Layout::TILE",
			   "Inputs to ring-distributed SDPA must be tilized");
		TT_REQUIRE(dtype == TTNN_BFLOAT16 || dtype == TTNN_BFLOAT8_B ||
				   dtype == TTNN_BFLOAT4_B,
			   "tensor.dtype() == DataType::BFLOAT16 || tensor.dtype() == "
			   "DataType::BFLOAT8_B || tensor.dtype() == DataType::BFLOAT4_B",
			   "Inputs to ring-distributed SDPA must be BF16, BF8, or BF4");
		TT_REQUIRE(spec->memory.buffer == TTNN_DRAM,
			   "tensor.buffer()->buffer_type() == tt::tt_metal::BufferType::DRAM",
			   "Operands to ring-distributed SDPA need to be in DRAM");
	}
	return TTNN_OK;
}

static unsigned chunk_of(const struct tt_launch *launch, int field)
{
	return (unsigned)tt_sdpa_number(&launch->attrs[CONFIG], field, TT_TILE);
}

static tt_status check_pages(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *pages = &launch->inputs[PAGES]->spec;
	unsigned batches = launch->inputs[Q]->spec.shape.dim[0];

	TT_REQUIRE(pages->dtype == TTNN_INT32, "page_table_tensor.dtype() == DataType::INT32",
		   "page_table tensor must have INT32 dtype. Got DataType::%s",
		   ttnn_dtype_name(pages->dtype, TTNN_DIALECT_TT_METAL));
	if (pages->shape.rank != 2)
		return tt_fail_shapes(
			TTNN_INVALID, "page_table_shape.size() == 2",
			"page_table must be 2D tensor [batch_size x num_pages]. Got shape: %s",
			&pages->shape, &pages->shape);
	TT_REQUIRE(
		pages->shape.dim[0] == batches, "page_table_shape[0] == B",
		"page_table batch size must match input batch size. Got page_table batch: %u, input "
		"batch: %u",
		pages->shape.dim[0], batches);
	return TTNN_OK;
}

/* A part of a longer sequence, whose keys are in the blocks of a cache. */
static tt_status check_start(const struct tt_launch *launch)
{
	long long start = launch->attrs[START].integer;
	unsigned rows = launch->inputs[Q]->spec.shape.dim[2];
	unsigned block = launch->inputs[K]->spec.shape.dim[2];
	unsigned q = chunk_of(launch, TT_SDPA_Q_CHUNK), k = chunk_of(launch, TT_SDPA_K_CHUNK);

	TT_REQUIRE(launch->inputs[PAGES], "has_page_table",
		   "page_table must be provided when chunk_start_idx is set. chunk_start_idx: %lld",
		   start);
	TT_REQUIRE(start >= 0, "operation_attributes.chunk_start_idx.value() >= 0",
		   "chunk_start_idx must be non-negative. Got chunk_start_idx: %lld", start);
	TT_REQUIRE(start % q == 0,
		   "operation_attributes.chunk_start_idx.value() % q_chunk_size == 0",
		   "chunk_start_idx must be a multiple of q_chunk_size. Got chunk_start_idx: %lld, "
		   "q_chunk_size: %u",
		   start, q);
	TT_REQUIRE(
		block, "block_size > 0",
		"block_size (K's sequence dimension in paged mode) must be positive. Got block_size: "
		"%u",
		block);
	TT_REQUIRE(rows % block == 0, "Sq % block_size == 0",
		   "Sequence length must be a multiple of block_size. Got sequence length: %u, "
		   "block_size: %u",
		   rows, block);
	TT_REQUIRE(start % block == 0,
		   "operation_attributes.chunk_start_idx.value() % block_size == 0",
		   "chunk_start_idx must be a multiple of block_size. Got chunk_start_idx: %lld, "
		   "block_size: %u",
		   start, block);
	TT_NEED(start <= (long long)block * launch->inputs[PAGES]->spec.shape.dim[1] - rows,
		"%u pages of %u rows do not hold %u rows behind %lld",
		launch->inputs[PAGES]->spec.shape.dim[1], block, rows, start);
	TT_REQUIRE(
		(rows + start) % k == 0,
		"(Sq + operation_attributes.chunk_start_idx.value()) % k_chunk_size == 0",
		"sequence length + chunk_start_idx must be divisible by k_chunk_size. Got sequence "
		"length: %u, chunk_start_idx: %lld, k_chunk_size: %u",
		rows, start, k);
	return TTNN_OK;
}

static tt_status check_shapes(const struct tt_launch *launch)
{
	const uint32_t *q = launch->inputs[Q]->spec.shape.dim,
		       *k = launch->inputs[K]->spec.shape.dim;
	const uint32_t *v = launch->inputs[V]->spec.shape.dim;

	if (!tt_value_given(&launch->attrs[START])) {
		TT_REQUIRE(q[2] == k[2], "Sq == Sk",
			   "Ring-distributed SDPA is causal and requires Q and K to have the same "
			   "sequence length when not using prefix caching. Got Q: %u, K: %u",
			   q[2], k[2]);
		TT_REQUIRE(k[0] == q[0] && v[0] == q[0], "k_shape[0] == B && v_shape[0] == B",
			   "Batch sizes must match. Got Q: %u, K: %u, V: %u", q[0], k[0], v[0]);
		TT_REQUIRE(v[2] == k[2], "v_shape[2] == Sk",
			   "K and V sequence length must match. Got K: %u, V: %u", k[2], v[2]);
	} else {
		TT_REQUIRE(
			v[2] == k[2], "v_shape[2] == k_shape[2]",
			"K and V block_size (sequence dimension in paged mode) must match. Got K: %u, "
			"V: %u",
			k[2], v[2]);
		TT_NEED(v[0] == k[0], "there are %u blocks of keys and %u of values", k[0], v[0]);
	}
	TT_REQUIRE(v[1] == k[1], "v_shape[1] == nkv",
		   "K and V num_heads must match. Got K: %u, V: %u", k[1], v[1]);
	TT_REQUIRE(k[3] == q[3] && v[3] == q[3], "k_shape[3] == DH && v_shape[3] == DH",
		   "Head dimensions must match. Got Q: %u, K: %u, V: %u", q[3], k[3], v[3]);
	TT_REQUIRE(
		k[1] > 0 && q[1] >= k[1] && q[1] % k[1] == 0,
		"nkv > 0 && nqh >= nkv && nqh % nkv == 0",
		"Q num_heads must be >= K num_heads and divisible by K num_heads, and K num_heads must "
		"be greater than 0. Got Q: %u, K: %u",
		q[1], k[1]);
	return TTNN_OK;
}

static tt_status check_parts(const struct tt_launch *launch)
{
	unsigned rows = launch->inputs[Q]->spec.shape.dim[2], ring = ring_of(launch);
	unsigned q = chunk_of(launch, TT_SDPA_Q_CHUNK), part = rows / (2 * ring);

	TT_REQUIRE(rows / TT_TILE >= 2 * ring,
		   "Sq / tt::constants::TILE_WIDTH >= 2 * operation_attributes.ring_size",
		   "Sequence length tiles must be at least 2*ring_size for ring distribution. Got "
		   "seq_len: %u, ring_size: %u",
		   rows, ring);
	TT_REQUIRE(
		rows % (2 * ring) == 0, "Sq % (2 * operation_attributes.ring_size) == 0",
		"Sequence length must be divisible by 2*ring_size for even chunk distribution. Got "
		"seq_len: %u, ring_size: %u",
		rows, ring);
	TT_REQUIRE(
		q <= part, "q_chunk_size <= Sq / (2 * operation_attributes.ring_size)",
		"q_chunk_size must be less than or equal to per-device sequence length. Got "
		"q_chunk_size: %u, per-device sequence length: %u, global sequence length: %u, ring "
		"size: %u",
		q, part, rows, ring);
	TT_REQUIRE(
		part % q == 0, "(Sq / (2 * operation_attributes.ring_size)) % q_chunk_size == 0",
		"per-device sequence length must be divisible by q_chunk_size. Got per-device sequence "
		"length: %u, q_chunk_size: %u",
		part, q);
	return TTNN_OK;
}

/* A chip's place in the ring: what is said, or that of its row or column of the mesh. */
static tt_status place_of(uint32_t *out, const struct tt_launch *launch, uint32_t chip)
{
	const struct tt_device *device = launch->device;

	if (tt_value_given(&launch->attrs[ID]))
		*out = (uint32_t)launch->attrs[ID].integer;
	else if (device->rows == ring_of(launch))
		*out = chip / device->cols;
	else if (device->cols == ring_of(launch))
		*out = chip % device->cols;
	else
		return tt_fail_cond(TTNN_INVALID, "false",
				    "Ring size %u doesn't match mesh dimensions [%u, %u]",
				    ring_of(launch), device->rows, device->cols);
	return TTNN_OK;
}

static tt_status distributed_validate(struct tt_launch *launch)
{
	TT_TRY(check_kinds(launch));
	for (int k = 0; k < 2; k++) {
		unsigned size = chunk_of(launch, k ? TT_SDPA_K_CHUNK : TT_SDPA_Q_CHUNK);

		TT_REQUIRE(size && size % TT_TILE == 0,
			   k ? "k_chunk_size > 0 && k_chunk_size % tt::constants::TILE_WIDTH == 0"
			     : "q_chunk_size > 0 && q_chunk_size % tt::constants::TILE_WIDTH == 0",
			   "%c_chunk_size must be a positive multiple of TILE_WIDTH. Got "
			   "%c_chunk_size: %u, TILE_WIDTH: 32",
			   k ? 'k' : 'q', k ? 'k' : 'q', size);
	}
	if (launch->inputs[PAGES])
		TT_TRY(check_pages(launch));
	if (tt_value_given(&launch->attrs[START]))
		TT_TRY(check_start(launch));
	TT_TRY(check_shapes(launch));
	TT_TRY(check_parts(launch));
	for (int i = Q; i <= V; i++) {
		const struct ttnn_tensor_spec *spec = &launch->inputs[i]->spec;

		TT_REQUIRE(spec->shape.dim[3] == spec->padded.dim[3],
			   "logical_shape[3] == padded_shape[3]",
			   "Padding is not supported on the head_dim dimension");
	}
	return TTNN_OK;
}

/* Buffers are numbered as they come. */
static tt_status distributed_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	uint64_t q = chunk_of(launch, TT_SDPA_Q_CHUNK) / TT_TILE;
	uint64_t k = chunk_of(launch, TT_SDPA_K_CHUNK) / TT_TILE;
	uint64_t width = launch->inputs[Q]->spec.shape.dim[3] / TT_TILE;
	uint64_t tile = tt_tensor_tile_bytes(launch->inputs[Q]);
	uint64_t small = tt_tile_bytes_of(TTNN_BFLOAT16);
	bool paged = tt_value_given(&launch->attrs[START]);
	const ttnn_core_set *grid;
	uint32_t place;

	TT_TRY(place_of(&place, launch, 0));
	TT_TRY(tt_sdpa_cores(&grid, launch, &launch->attrs[CONFIG]));
	TT_TRY(tt_sdpa_check_cores(launch, grid));
	return TT_PLAN(plan, grid, TT_CB_ROW(0, "cb_q_in", .pages = 2 * q * width, .page = tile),
		       TT_CB_ROW(1, "cb_k_in", .pages = 2 * k * width, .page = tile),
		       TT_CB_ROW(2, "cb_v_in", .pages = 2 * k * width, .page = tile),
		       TT_CB_ROW(3, "cb_mask_in", .pages = 2, .page = small),
		       TT_CB_ROW(4, "cb_identity_scale_in", .pages = 1, .page = small),
		       TT_CB_ROW(5, "cb_col_identity", .pages = 1, .page = small),
		       TT_CB_ROW(6, "cb_page_table", .pages = paged,
				 .page = paged ? tt_aligned_page(launch->inputs[PAGES]) : 0),
		       TT_CB_ROW(7, "cb_qk_im", .pages = q * k, .page = small),
		       TT_CB_ROW(8, "cb_out_im_A", .pages = q * width, .page = small),
		       TT_CB_ROW(9, "cb_out_im_B", .pages = q * width, .page = small),
		       TT_CB_ROW(10, "cb_max_A", .pages = q, .page = small),
		       TT_CB_ROW(11, "cb_max_B", .pages = q, .page = small),
		       TT_CB_ROW(12, "cb_sum_A", .pages = q, .page = small),
		       TT_CB_ROW(13, "cb_sum_B", .pages = q, .page = small),
		       TT_CB_ROW(14, "cb_exp_max_diff", .pages = q, .page = small),
		       TT_CB_ROW(15, "cb_out", .pages = q * width, .page = tile));
}

static tt_status distributed_kernel(struct tt_launch *launch)
{
	uint64_t ring = ring_of(launch), part = launch->inputs[Q]->spec.shape.dim[2] / (2 * ring);
	bool paged = tt_value_given(&launch->attrs[START]);
	uint64_t start = paged ? (uint64_t)launch->attrs[START].integer : 0;
	const struct tt_attention_job job = {
		.k = launch->inputs[K],
		.v = launch->inputs[V],
		.pages = paged ? launch->inputs[PAGES] : NULL,
		.scale = launch->attrs[SCALE].real,
		.causal = true,
	};
	uint32_t place;

	TT_TRY(place_of(&place, launch, launch->chip));
	for (uint64_t i = 0; i < 2; i++) {
		uint64_t at = part * (i ? 2 * ring - 1 - place : place);

		TT_TRY(tt_ring_attend(launch->outputs[0], launch->inputs[Q],
				      &(struct tt_ring_part){at, i * part, part, start + at}, job));
	}
	return TTNN_OK;
}

static void distributed_cost(struct tt_cost *cost, const struct tt_launch *launch)
{
	const uint32_t *q = launch->inputs[Q]->spec.shape.dim;
	const struct ttnn_value *start = &launch->attrs[START];

	cost->inputs = 3;
	tt_cost_set_product(
		cost, launch,
		&(struct tt_perf_product){
			.m = launch->outputs[0]->spec.shape.dim[2],
			.k = q[3],
			.n = tt_value_given(start) ? q[2] + (uint64_t)start->integer : q[2],
			.batch = (uint64_t)q[0] * q[1],
		});
}

static const struct tt_prog program = {
	.device_op = "RingDistributedSdpaDeviceOperation",
	.prim = "ttnn::prim::ring_distributed_sdpa",
	.attrs = &schema,
	.infer = distributed_infer,
	.validate = distributed_validate,
	TT_FACTORY(
		"ttnn::prim::RingDistributedSdpaDeviceOperation::RingDistributedSdpaProgramFactory",
		distributed_memory),
	TT_KERNEL(distributed_kernel),
	.cost = distributed_cost,
	.per_chip = true,
};

static tt_status attend(struct tt_call *call)
{
	static const struct tt_compute_usual usual = {.fidelity = TT_HIFI2, .approx = true};
	static const struct ttnn_memory_config dram;
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");
	struct tt_tensor *q = tt_call_tensor(call, "input_tensor_q");

	TT_TRY(tt_need_device(q));
	return TT_LAUNCH_RETURN(
		call, &program,
		TT_INPUTS(q, tt_call_tensor(call, "input_tensor_k"),
			  tt_call_tensor(call, "input_tensor_v"),
			  tt_call_tensor(call, "page_table")),
		TT_BIND(call, schema,
			[SCALE] = ttnn_v_real((float)tt_call_real(
				call, "scale",
				1.0f / sqrtf((float)tt_shape_last(&q->spec.shape, 1)))),
			[MEMORY] = ttnn_v_memory(memory ? memory : &dram),
			[COMPUTE] = tt_compute_config(
				call, tt_call_arg(call, "compute_kernel_config"), &usual)));
}

static const struct tt_prog *const programs[] = {&program, NULL};
static const struct tt_op ops[] = {
	{.name = "ttnn.transformer.ring_distributed_scaled_dot_product_attention",
	 .family = "attention_distributed",
	 .doc = "Causal attention of which each chip computes a part of the rows.",
	 .sigs = {"input_tensor_q: Tensor, input_tensor_k: Tensor, input_tensor_v: Tensor, ring_size: "
		  "size, ring_id: size? = None, *, scale: float? = None, memory_config: "
		  "MemoryConfig? = None, program_config: ProgramConfig? = None, "
		  "compute_kernel_config: ComputeConfig? = None, page_table: Tensor? = None, "
		  "chunk_start_idx: long? = None"},
	 .expand = attend,
	 .golden = tt_golden_attention_distributed,
	 .pcc = 0.99,
	 .programs = programs},
};

const struct tt_op_family tt_family_attention_distributed = {"attention_distributed", ops,
							     TT_COUNT(ops)};
