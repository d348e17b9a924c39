/*
 * attention_joint.c: attention over two sequences as if one stood behind the other, and the result of each.
 *
 * Models JointSDPADeviceOperation of ttnn 0.81 with its one factory: refusals, memory, cores. Not modelled: the chunks
 * in which a core walks keys and values.
 */
#include <math.h>
#include <string.h>

#include "backend/backend.h"
#include "ops/attention/attention.h"
#include "ops/attention/heads.h"
#include "ops/compute.h"
#include "ops/creation/creation.h"
#include "ops/objects.h"
#include "ops/usual.h"

#define ATTRS(X)                                                                                   \
	X(STRATEGY, "joint_strategy")                                                              \
	X(SCALE, "scale")                                                                          \
	X(MEMORY, "output_memory_config")                                                          \
	X(CONFIG, "program_config", .text = TT_TEXT_PLACES)                                        \
	X(COMPUTE, "compute_kernel_config")
TT_ATTRS(schema, "JointSDPAParams", ATTRS);
enum { Q, K, V, JOINT_Q, JOINT_K, JOINT_V, INPUTS };

/* ---- specs and refusals ------------------------------------------------------------------------------ */

static tt_status joint_infer(struct tt_launch *launch)
{
	const struct tt_tensor *const q[] = {launch->inputs[Q], launch->inputs[JOINT_Q]};

	for (int i = Q; i < INPUTS; i++) {
		TT_TRY(tt_need_dim(&launch->inputs[i]->spec.shape, 3));
		TT_NEED(launch->inputs[i]->spec.shape.rank == 4, "inputs have 4 dimensions, not %u",
			launch->inputs[i]->spec.shape.rank);
	}
	launch->output_count = TT_COUNT(q);
	for (size_t i = 0; i < TT_COUNT(q); i++)
		TT_TRY(tt_spec_simple(&launch->specs[i], &q[i]->spec.shape, q[i]->spec.dtype,
				      TTNN_TILE, launch->attrs[MEMORY].memory));
	return TTNN_OK;
}

static tt_status check_kinds(const struct tt_launch *launch)
{
	enum ttnn_dtype dtype = launch->inputs[Q]->spec.dtype;

	for (int i = Q; i < INPUTS; i++)
		TT_REQUIRE(launch->inputs[i]->spec.dtype == dtype, "tensor.dtype() == dtype",
			   "All tensors must have the same dtype. Expected DataType::%s, got "
			   "DataType::%s",
			   ttnn_dtype_name(dtype, TTNN_DIALECT_TT_METAL),
			   ttnn_dtype_name(launch->inputs[i]->spec.dtype, TTNN_DIALECT_TT_METAL));
	for (int i = Q; i < INPUTS; i++) {
		const struct ttnn_tensor_spec *spec = &launch->inputs[i]->spec;

		TT_REQUIRE(spec->layout == TTNN_TILE, "tensor.layout() == Layout::TILE",
			   "Inputs to Joint SDPA must be tilized");
		TT_REQUIRE(dtype == TTNN_BFLOAT16 || dtype == TTNN_BFLOAT8_B,
			   "tensor.dtype() == DataType::BFLOAT16 || tensor.dtype() == "
			   "DataType::BFLOAT8_B",
			   "Inputs to Joint SDPA must be BF16 or BF8");
		TT_REQUIRE(spec->memory.buffer == TTNN_DRAM,
			   "tensor.buffer()->buffer_type() == tt::tt_metal::BufferType::DRAM",
			   "Operands to Joint SDPA need to be in DRAM");
	}
	return TTNN_OK;
}

/* The extents of all inputs in one dimension. */
static void extents(uint32_t out[INPUTS], const struct tt_launch *launch, int dim)
{
	for (int i = Q; i < INPUTS; i++)
		out[i] = launch->inputs[i]->spec.shape.dim[dim];
}

static tt_status check_batches(const struct tt_launch *launch)
{
	uint32_t n[INPUTS];

	extents(n, launch, 0);
	TT_REQUIRE(n[K] == n[Q] && n[V] == n[Q],
		   "k_shape[0] == q_shape[0] && v_shape[0] == q_shape[0]",
		   "Batch sizes must match. Got Q: %u, K: %u, V: %u", n[Q], n[K], n[V]);
	TT_REQUIRE(n[JOINT_K] == n[JOINT_Q] && n[JOINT_V] == n[JOINT_Q],
		   "joint_k_shape[0] == joint_q_shape[0] && joint_v_shape[0] == joint_q_shape[0]",
		   "Joint batch sizes must match. Got Q: %u, K: %u, V: %u", n[JOINT_Q], n[JOINT_K],
		   n[JOINT_V]);
	TT_REQUIRE(n[Q] == n[JOINT_Q], "q_shape[0] == joint_q_shape[0]",
		   "Q and joint Q must have same batch size. Got Q: %u, joint Q: %u", n[Q],
		   n[JOINT_Q]);
	return TTNN_OK;
}

static tt_status check_widths(const struct tt_launch *launch)
{
	uint32_t n[INPUTS];

	extents(n, launch, 3);
	TT_REQUIRE(n[K] == n[Q] && n[V] == n[Q],
		   "k_shape[3] == q_shape[3] && v_shape[3] == q_shape[3]",
		   "Head dimensions must match. Got Q: %u, K: %u, V: %u", n[Q], n[K], n[V]);
	TT_REQUIRE(n[JOINT_K] == n[JOINT_Q] && n[JOINT_V] == n[JOINT_Q],
		   "joint_k_shape[3] == joint_q_shape[3] && joint_v_shape[3] == joint_q_shape[3]",
		   "Joint head dimensions must match. Got Q: %u, K: %u, V: %u", n[JOINT_Q],
		   n[JOINT_K], n[JOINT_V]);
	TT_REQUIRE(n[Q] == n[JOINT_Q], "q_shape[3] == joint_q_shape[3]",
		   "Q and joint Q must have same head dimension. Got Q: %u, joint Q: %u", n[Q],
		   n[JOINT_Q]);
	return TTNN_OK;
}

/* What values have of their own, heads and rows, is left to chance upstream. */
static tt_status check_heads(const struct tt_launch *launch)
{
	uint32_t n[INPUTS], rows[INPUTS];

	extents(n, launch, 1);
	extents(rows, launch, 2);
	TT_REQUIRE(n[K] > 0 && n[Q] == n[K], "nkv > 0 && nqh == nkv",
		   "Q num_heads must be equal to K num_heads, and greater than 0. Got Q: %u, K: %u",
		   n[Q], n[K]);
	TT_REQUIRE(n[JOINT_Q] == n[JOINT_K], "joint_nqh == joint_nkv",
		   "Joint Q num_heads must be equal to Joint K num_heads. Got Q: %u, K: %u",
		   n[JOINT_Q], n[JOINT_K]);
	TT_REQUIRE(n[JOINT_K] == n[K], "joint_nkv == nkv",
		   "Joint K num_heads must be equal to K num_heads. Got Joint K: %u, K: %u",
		   n[JOINT_K], n[K]);
	for (int i = K; i < INPUTS; i += JOINT_K - K)
		TT_NEED(n[i + 1] == n[i] && rows[i + 1] == rows[i],
			"values of %u heads and %u rows do not fit keys of %u heads and %u rows",
			n[i + 1], rows[i + 1], n[i], rows[i]);
	return TTNN_OK;
}

static tt_status check_chunks(const struct tt_launch *launch)
{
	static const struct {
		int field;
		const char *condition, *name;
	} rows[] = {
		{TT_SDPA_Q_CHUNK,
		 "q_chunk_size > 0 && q_chunk_size % tt::constants::TILE_WIDTH == 0",
		 "q_chunk_size"},
		{TT_SDPA_K_CHUNK,
		 "k_chunk_size > 0 && k_chunk_size % tt::constants::TILE_WIDTH == 0",
		 "k_chunk_size"},
	};

	for (size_t i = 0; i < TT_COUNT(rows); i++) {
		uint64_t size = tt_sdpa_number(&launch->attrs[CONFIG], rows[i].field, TT_TILE);

		TT_REQUIRE(size && size % TT_TILE == 0, rows[i].condition,
			   "%s must be a positive multiple of TILE_SIZE. Got %s: %llu, TILE_SIZE: "
			   "32",
			   rows[i].name, rows[i].name, (unsigned long long)size);
	}
	return TTNN_OK;
}

static tt_status joint_validate(struct tt_launch *launch)
{
	const char *strategy = launch->attrs[STRATEGY].text;

	TT_REQUIRE(strcmp(strategy, "rear") == 0, "args.joint_strategy == \"rear\"",
		   "Joint strategy must be 'rear'. Got: %s", strategy);
	TT_TRY(check_kinds(launch));
	TT_TRY(check_batches(launch));
	TT_TRY(check_widths(launch));
	TT_TRY(check_heads(launch));
	TT_TRY(check_chunks(launch));
	for (int i = Q; i < INPUTS; i++) {
		const struct ttnn_tensor_spec *spec = &launch->inputs[i]->spec;

		TT_REQUIRE(spec->shape.dim[3] == spec->padded.dim[3],
			   "logical_shape[3] == padded_shape[3]",
			   "Padding is not supported on the head_dim dimension");
	}
	return TTNN_OK;
}

/* ---- program memory ------------------------------------------------------------------------------------ */

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Whether a core has more than one chunk of queries: batches go to cores first, then heads, then chunks. */
static bool has_more_chunks(const struct tt_launch *launch, uint64_t cores, uint64_t chunk)
{
	const uint32_t *q = launch->inputs[Q]->spec.shape.dim;
	uint64_t chunks = tt_div_up(q[2], chunk) +
			  tt_div_up(launch->inputs[JOINT_Q]->spec.shape.dim[2], chunk);
	uint64_t batches = least(q[0] ? q[0] : 1, cores), heads = least(cores / batches, q[1]);

	return tt_div_up(chunks, least(cores / (batches * heads), chunks)) > 1;
}

static tt_status joint_rows(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_value *config = &launch->attrs[CONFIG];
	uint64_t q_chunk = tt_sdpa_number(config, TT_SDPA_Q_CHUNK, TT_TILE), q = q_chunk / TT_TILE;
	uint64_t k_chunk = tt_sdpa_number(config, TT_SDPA_K_CHUNK, TT_TILE), k = k_chunk / TT_TILE;
	uint64_t width = launch->inputs[Q]->spec.shape.dim[3] / TT_TILE;
	uint64_t small = tt_tile_bytes_of(TTNN_BFLOAT16);
	uint64_t tile = tt_tile_bytes_of(launch->inputs[Q]->spec.dtype), cores;
	bool masked = launch->inputs[Q]->spec.shape.dim[2] % k_chunk != 0 ||
		      launch->inputs[JOINT_Q]->spec.shape.dim[2] % k_chunk != 0;
	const ttnn_core_set *grid;

	TT_TRY(tt_sdpa_cores(&grid, launch, config));
	cores = ttnn_core_set_cores(grid);
	TT_TRY(tt_sdpa_check_cores(launch, grid));
	return TT_PLAN(
		plan, grid,
		TT_CB_ROW(0, "cb_q_in",
			  .pages = q * width * (has_more_chunks(launch, cores, q_chunk) ? 2 : 1),
			  .page = tile),
		TT_CB_ROW(1, "cb_k_in", .pages = 2 * k * width, .page = tile),
		TT_CB_ROW(2, "cb_v_in", .pages = 2 * k * width, .page = tile),
		TT_CB_ROW(3, "cb_mask_in", .pages = masked ? q * k : 0,
			  .page = tt_tile_bytes_of(TTNN_BFLOAT4_B)),
		TT_CB_ROW(5, "cb_identity_scale_in", .pages = 1, .page = small),
		TT_CB_ROW(7, "cb_col_identity", .pages = 1, .page = small),
		TT_CB_ROW(24, "cb_qk_im", .pages = q * k, .page = small),
		TT_CB_ROW(25, "cb_out_im", .pages = q * width, .page = small),
		TT_CB_ROW(26, "cb_out_accumulate_im", .pages = q * width, .page = small),
		TT_CB_ROW(27, "cb_cur_max", .pages = q, .page = small),
		TT_CB_ROW(28, "cb_prev_max", .pages = q, .page = small),
		TT_CB_ROW(29, "cb_cur_sum", .pages = q, .page = small),
		TT_CB_ROW(30, "cb_prev_sum", .pages = q, .page = small),
		TT_CB_ROW(31, "cb_exp_max_diff", .pages = q, .page = small),
		TT_CB_ROW(16, "cb_out", .pages = q * width, .page = tile));
}

/* ---- running ----------------------------------------------------------------------------------------------- */

/* One sequence with the other behind it: what a block float holds is a bfloat16, too. */
static tt_status put_together(struct tt_tensor **out, struct tt_tensor *first,
			      struct tt_tensor *second)
{
	struct tt_tensor *const parts[] = {first, second};
	const uint32_t *dim = first->spec.shape.dim;
	const struct ttnn_shape shape =
		TT_SHAPE(dim[0], dim[1], dim[2] + second->spec.shape.dim[2], dim[3]);
	int64_t row = 0;

	TT_TRY(tt_scratch(out, &shape, TTNN_BFLOAT16, TTNN_TILE));
	for (size_t i = 0; i < TT_COUNT(parts); i++) {
		uint32_t rows = parts[i]->spec.shape.dim[2];
		const struct tt_move_loop loops[] = {
			{dim[0], 0, 0, 1, 1},
			{dim[1], 1, 1, 1, 1},
			{rows, 2, 2, 1, 1},
			{dim[3], 3, 3, 1, 1},
		};

		if (rows)
			TT_TRY(tt_backend_get()->move(&(struct tt_move_job){
				.out = *out,
				.in = parts[i],
				.loops = loops,
				.loop_count = TT_COUNT(loops),
				.out_start = {0, 0, row, 0},
			}));
		row += rows;
	}
	return TTNN_OK;
}

static tt_status joint_kernel(struct tt_launch *launch)
{
	struct tt_tensor *const *in = launch->inputs;
	struct tt_tensor *const q[] = {in[Q], in[JOINT_Q]};
	struct tt_attention_job job = {.scale = launch->attrs[SCALE].real};

	TT_TRY(put_together(&job.k, in[K], in[JOINT_K]));
	TT_TRY(put_together(&job.v, in[V], in[JOINT_V]));
	for (size_t i = 0; i < TT_COUNT(q); i++) {
		job.q = q[i];
		job.out = launch->outputs[i];
		if (q[i]->spec.shape.dim[2])
			TT_TRY(tt_backend_get()->attention(&job));
	}
	return TTNN_OK;
}

/* Two products, of each query with each key and of the weights with the values. */
static void joint_cost(struct tt_cost *cost, const struct tt_launch *launch)
{
	const uint32_t *q = launch->inputs[Q]->spec.shape.dim;
	uint64_t joint = launch->inputs[JOINT_Q]->spec.shape.dim[2];

	tt_cost_set_product(cost, launch,
			    &(struct tt_perf_product){
				    .m = q[2] + joint,
				    .k = 2 * (uint64_t)q[3],
				    .n = launch->inputs[K]->spec.shape.dim[2] + joint,
				    .batch = (uint64_t)q[0] * q[1],
			    });
}

static const struct tt_prog program = {
	.device_op = "JointSDPADeviceOperation",
	.prim = "ttnn::prim::joint_scaled_dot_product_attention",
	.attrs = &schema,
	.infer = joint_infer,
	.validate = joint_validate,
	TT_FACTORY("ttnn::prim::JointSDPADeviceOperation::JointSDPAProgramFactory", joint_rows),
	TT_KERNEL(joint_kernel),
	.cost = joint_cost,
	.drops_forward = true,
};

/* ---- operations -------------------------------------------------------------------------------------------- */

static tt_status joint_sdpa_attend(struct tt_call *call)
{
	static const struct tt_compute_usual usual = {.fidelity = TT_HIFI2, .approx = true};
	static const struct ttnn_memory_config dram;
	struct tt_tensor *q = tt_call_tensor(call, "input_tensor_q");

	TT_TRY(tt_need_device(q));
	return TT_LAUNCH_RETURN(
		call, &program,
		TT_INPUTS(q, tt_call_tensor(call, "input_tensor_k"),
			  tt_call_tensor(call, "input_tensor_v"),
			  tt_call_tensor(call, "joint_tensor_q"),
			  tt_call_tensor(call, "joint_tensor_k"),
			  tt_call_tensor(call, "joint_tensor_v")),
		TT_BIND(call, schema,
			[SCALE] = ttnn_v_real((float)tt_call_real(
				call, "scale",
				1.0f / sqrtf((float)tt_shape_last(&q->spec.shape, 1)))),
			[MEMORY] = ttnn_v_memory(&dram),
			[COMPUTE] = tt_compute_config(
				call, tt_call_arg(call, "compute_kernel_config"), &usual)));
}

static const struct tt_op ops[] = {
	{.name = "ttnn.transformer.joint_scaled_dot_product_attention",
	 .doc = "Attention over two sequences, one behind the other; the result of each.",
	 .sigs = {"input_tensor_q: Tensor, input_tensor_k: Tensor, input_tensor_v: Tensor, "
		  "joint_tensor_q: Tensor, joint_tensor_k: Tensor, joint_tensor_v: Tensor, *, "
		  "joint_strategy: str, program_config: ProgramConfig, scale: float? = None, "
		  "compute_kernel_config: ComputeConfig? = None"},
	 .expand = joint_sdpa_attend,
	 .golden = tt_golden_attention_joint,
	 .pcc = 0.99,
	 .gives = "Tensor, Tensor",
	 TT_PROGRAMS(&program)},
};

const struct tt_op_family tt_family_attention_joint = {"attention_joint", ops, TT_COUNT(ops)};
