/*
 * rotary_llama.c: rotary position embedding of neighbouring columns, by a matrix that rotates
 * them: a tile of trans_mat swaps columns 2i and 2i + 1 and negates one, so that the matrix
 * engine does what the vector unit would do slowly.
 *
 * Models, of ttnn 0.81 (experimental/transformer), RotaryEmbeddingLlamaDeviceOperation with its
 * factories MultiCore (prefill) and MultiCoreSharded (decode), and
 * RotaryEmbeddingLlamaFusedQKDeviceOperation, for queries and keys on cores of their own:
 * refusals, memory, cores. Not modelled: rounding between the steps; positions are rows of the
 * tables, which the caller gathered.
 */
#include "backend/backend.h"
#include "ops/attention/rotary.h"
#include "ops/compute.h"
#include "ops/movement/movement.h"

/* A buffer that is a tensor's shard. */
static struct tt_buffer_row in_shard(uint32_t index, const char *name, struct tt_tensor *tensor)
{
	return (struct tt_buffer_row)TT_DFB_ROW(index, name, .pages = tt_shard_tiles(&tensor->spec),
						.page = tt_tensor_tile_bytes(tensor),
						.backing = tensor);
}

/* ---- one tensor -------------------------------------------------------------------------------------- */

#define ATTRS(X)                                                                                   \
	X(DECODE, "is_decode_mode")                                                                \
	X(MEMORY, "output_mem_config")                                                             \
	X(COMPUTE, "compute_kernel_config")
TT_ATTRS(schema, "RotaryEmbeddingLlamaParams", ATTRS);
enum { IN, COS, SIN, MATRIX, INPUTS };

static tt_status rotary_llama_validate(struct tt_launch *launch)
{
	for (int i = 0; i < INPUTS; i++)
		TT_REQUIRE(launch->inputs[i]->spec.dtype == TTNN_BFLOAT16,
			   "input_tensor.dtype() == cos.dtype() && cos.dtype() == sin.dtype() && "
			   "sin.dtype() == trans_mat.dtype() && trans_mat.dtype() == "
			   "DataType::BFLOAT16",
			   "All input tensors must have dtype = bfloat16");
	if (launch->attrs[DECODE].boolean)
		TT_REQUIRE(launch->inputs[IN]->spec.memory.layout == TTNN_HEIGHT_SHARDED,
			   "(input_tensor.memory_config().memory_layout() == "
			   "TensorMemoryLayout::HEIGHT_SHARDED)",
			   "Sharded inputs for RoPE must be HEIGHT_SHARDED.");
	return TTNN_OK;
}

/*
 * Prefill: all cores have all buffers, used or not; a head at a time, double so that the next
 * one comes meanwhile.
 */
static tt_status rotary_llama_rows(struct tt_plan *plan, const struct tt_launch *launch)
{
	uint64_t width = tt_shape_last(&launch->inputs[IN]->spec.padded, 1) / TT_TILE;
	uint64_t t_in = tt_tensor_tile_bytes(launch->inputs[IN]),
		 t_cos = tt_tensor_tile_bytes(launch->inputs[COS]);
	uint64_t t_sin = tt_tensor_tile_bytes(launch->inputs[SIN]);

	return TT_PLAN(plan, launch->grid,
		       TT_DFB_ROW(0, "input_cb", .pages = 2 * width, .page = t_in),
		       TT_DFB_ROW(1, "cos_cb", .pages = 2 * width, .page = t_cos),
		       TT_DFB_ROW(2, "sin_cb", .pages = 2 * width, .page = t_sin),
		       TT_DFB_ROW(3, "trans_mat_cb", .pages = 1,
				  .page = tt_tensor_tile_bytes(launch->inputs[MATRIX])),
		       TT_DFB_ROW(24, "rotated_input_interm_cb", .pages = width, .page = t_in),
		       TT_DFB_ROW(25, "cos_interm_cb", .pages = width, .page = t_cos),
		       TT_DFB_ROW(26, "sin_interm_cb", .pages = width, .page = t_sin),
		       TT_DFB_ROW(16, "output_cb", .pages = 2 * width,
				  .page = tt_tensor_tile_bytes(launch->outputs[0])),
		       TT_SCRATCH_ROW(17, "scratch", .pages = width, .page = t_in));
}

/* Decode: everything is where it is needed; the sums on the way are the only new memory. */
static tt_status rows_sharded(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *const *inputs = launch->inputs;
	uint64_t width = tt_shape_last(&inputs[IN]->spec.padded, 1) / TT_TILE;

	return TT_PLAN(plan, inputs[IN]->spec.memory.shard.grid,
		       in_shard(0, "input_cb", inputs[IN]), in_shard(1, "cos_cb", inputs[COS]),
		       in_shard(2, "sin_cb", inputs[SIN]),
		       in_shard(3, "trans_mat_cb", inputs[MATRIX]),
		       TT_DFB_ROW(24, "rotated_input_interm_cb", .pages = width,
				  .page = tt_tensor_tile_bytes(inputs[IN])),
		       TT_DFB_ROW(25, "cos_interm_cb", .pages = width,
				  .page = tt_tensor_tile_bytes(inputs[COS])),
		       TT_DFB_ROW(26, "sin_interm_cb", .pages = width,
				  .page = tt_tensor_tile_bytes(inputs[SIN])),
		       in_shard(16, "output_cb", launch->outputs[0]));
}

static tt_status rotary_llama_choose(uint32_t *out, struct tt_launch *launch)
{
	*out = launch->attrs[DECODE].boolean;
	return TTNN_OK;
}

/* Turns by a matrix, of which every core may have a copy: then by the first. */
static tt_status turn_by(struct tt_rotary_job *job)
{
	struct tt_tensor *all = job->matrix;
	uint32_t size = tt_shape_last(&all->spec.shape, 1), extent[TTNN_MAX_RANK];
	struct ttnn_shape shape = all->spec.shape;

	job->kind = TT_ROTARY_MATRIX;
	if (tt_shape_last(&all->spec.shape, 2) <= size)
		return tt_backend_get()->rotary(job);
	for (uint32_t i = 0; i < shape.rank; i++)
		extent[i] = shape.dim[i] = i + 2 < shape.rank ? 1 : size;
	TT_TRY(tt_scratch_f32(&job->matrix, &shape));
	TT_TRY(tt_move_part(job->matrix, all, &(struct tt_move_block){.extent = extent}));
	return tt_backend_get()->rotary(job);
}

/* While decoding every head of a user has the user's position: the first row of its tables. */
static tt_status rotary_llama_kernel(struct tt_launch *launch)
{
	return turn_by(&(struct tt_rotary_job){.out = launch->outputs[0],
					       .in = launch->inputs[IN],
					       .cos = launch->inputs[COS],
					       .sin = launch->inputs[SIN],
					       .matrix = launch->inputs[MATRIX],
					       .same_row = launch->attrs[DECODE].boolean});
}

static const struct tt_factory factories[] = {
	{.name = "ttnn::experimental::prim::RotaryEmbeddingLlamaMultiCore",
	 .memory = rotary_llama_rows},
	{.name = "ttnn::experimental::prim::RotaryEmbeddingLlamaMultiCoreSharded",
	 .memory = rows_sharded},
};
static const struct tt_prog program = {
	.device_op = "RotaryEmbeddingLlamaDeviceOperation",
	.prim = "ttnn::prim::rotary_embedding_llama",
	.attrs = &schema,
	.validate = rotary_llama_validate,
	TT_FACTORIES(factories),
	.choose = rotary_llama_choose,
	TT_KERNEL(rotary_llama_kernel),
};

/* ---- queries and keys at once ---------------------------------------------------------------------------- */

#define FUSED_ATTRS(X)                                                                             \
	X(Q_MEMORY, "q_output_mem_config")                                                         \
	X(K_MEMORY, "k_output_mem_config")                                                         \
	X(FUSED_COMPUTE, "compute_kernel_config")                                                  \
	X(FUSED_ROWS, "row_major_QK")
TT_ATTRS(fused_schema, "RotaryEmbeddingLlamaFusedQkParams", FUSED_ATTRS);
enum { Q, K, FUSED_COS, FUSED_SIN, FUSED_MATRIX, FUSED_INPUTS };

static tt_status fused_infer(struct tt_launch *launch)
{
	launch->output_count = 2;
	for (int i = 0; i < 2; i++) {
		const struct ttnn_tensor_spec *in = &launch->inputs[i]->spec;

		TT_TRY(tt_spec_simple(&launch->specs[i], &in->shape, in->dtype, in->layout,
				      launch->attrs[i].memory));
	}
	return TTNN_OK;
}

static tt_status fused_check_inputs(const struct tt_launch *launch)
{
	static const char *const names[FUSED_INPUTS] = {"Q input", "K input", "Cos", "Sin",
							"Trans mat"};
	static const char *const again[] = {"Q input", "K input", "cos", "sin"};
	bool rows = launch->attrs[FUSED_ROWS].boolean;

	for (int i = 0; i < FUSED_INPUTS; i++) {
		const struct ttnn_tensor_spec *spec = &launch->inputs[i]->spec;

		TT_REQUIRE(spec->memory.layout == TTNN_HEIGHT_SHARDED && spec->memory.has_shard,
			   "tensor.memory_config().memory_layout() == "
			   "TensorMemoryLayout::HEIGHT_SHARDED",
			   "%s tensor must be HEIGHT_SHARDED.", names[i]);
		TT_REQUIRE(spec->dtype == TTNN_BFLOAT16, "tensor.dtype() == DataType::BFLOAT16",
			   "%s tensor must be bfloat16", names[i]);
	}
	for (size_t i = 0; i < TT_COUNT(again); i++)
		TT_REQUIRE(launch->inputs[i]->spec.layout == (rows ? TTNN_ROW_MAJOR : TTNN_TILE),
			   "tensor.layout() == tensor_layout",
			   "%s tensor must be in layout Layout::%s", again[i],
			   rows ? "ROW_MAJOR" : "TILE");
	return TTNN_OK;
}

/* As many users of keys as of queries, each with a row of the tables. */
static tt_status fused_check_users(const struct tt_launch *launch)
{
	const struct ttnn_shape *q = &launch->inputs[Q]->spec.shape;
	const struct ttnn_shape *k = &launch->inputs[K]->spec.shape;
	const struct ttnn_shape *cos = &launch->inputs[FUSED_COS]->spec.shape;
	uint32_t width = tt_shape_last(q, 1);

	if (q->rank != 4 || k->rank != 4 || cos->rank != 4)
		return tt_fail(TTNN_INVALID, "rotary_embedding_llama_fused_qk takes tensors of "
					     "four dimensions");
	TT_REQUIRE(q->dim[0] == 1 && k->dim[0] == 1,
		   "q_input_tensor.logical_shape()[0] == 1 && k_input_tensor.logical_shape()[0] "
		   "== 1",
		   "rotary_embedding_llama_fused_qk currently only supports decode mode with "
		   "seq_len=1.");
	TT_REQUIRE(width == tt_shape_last(k, 1),
		   "q_input_tensor.logical_shape()[-1] == k_input_tensor.logical_shape()[-1]",
		   "Q input tensor and K input tensor must have same head dimensions");
	TT_REQUIRE(width <= 128 || !tt_compute_has(&launch->attrs[FUSED_COMPUTE], TT_COMPUTE_FP32),
		   "head_dim <= 128 || args.compute_kernel_config.fp32_dest_acc_en == false",
		   "If head_dim is > 128, fp32_dest_acc_en must be False");
	TT_REQUIRE(width % TT_TILE == 0, "head_dim % TILE_WIDTH == 0",
		   "Head dim must be a multiple of TILE_WIDTH");
	TT_REQUIRE(q->dim[1] == k->dim[1], "q_batch_size == k_batch_size",
		   "Q and K must have the equal batch size");
	TT_REQUIRE(q->dim[1] <= 32, "q_batch_size <= 32",
		   "Q and K must have batch size less than or equal to 32, due to "
		   "parallelization over core-grid of 64");
	return TTNN_OK;
}

/* A core turns the heads of one user, of queries or of keys. */
static tt_status fused_check_cores(const struct tt_launch *launch)
{
	const ttnn_core_set *q = launch->inputs[Q]->spec.memory.shard.grid;
	const ttnn_core_set *k = launch->inputs[K]->spec.memory.shard.grid;
	const struct ttnn_shape *cos = &launch->inputs[FUSED_COS]->spec.shape;
	const struct ttnn_tensor_spec *matrix = &launch->inputs[FUSED_MATRIX]->spec;
	uint64_t cores = ttnn_core_set_cores(q) + ttnn_core_set_cores(k);
	uint32_t users = launch->inputs[Q]->spec.shape.dim[1];
	const ttnn_core_set *common;

	TT_REQUIRE(cores <= 64, "q_num_cores + k_num_cores <= 64",
		   "Q and K must not exceed max core grid size of 64");
	TT_TRY(tt_core_set_intersect(&common, q, k));
	TT_REQUIRE(!ttnn_core_set_cores(common), "!is_overlap", "Q and K must not overlap");
	TT_REQUIRE(ttnn_shape_equal(cos, &launch->inputs[FUSED_SIN]->spec.shape),
		   "cos.logical_shape() == sin.logical_shape()", "Cos and Sin dims must match");
	TT_REQUIRE(cos->dim[1] == 2 * users, "cos_sin_batch_size == (q_batch_size + k_batch_size)",
		   "Cos and Sin are repeated for Q and K, so they must have the same batch size "
		   "as the sum of Q and K batch sizes");
	TT_REQUIRE(matrix->layout == TTNN_TILE, "(trans_mat.layout() == Layout::TILE)",
		   "transformation matrix must be tilized");
	TT_REQUIRE(ttnn_core_set_cores(matrix->memory.shard.grid) >= cores,
		   "trans_mat_num_cores >= (q_num_cores + k_num_cores)",
		   "Transformation matrix is repeated for Q and K must be sharded over core grid "
		   "of Q and K");
	TT_REQUIRE(matrix->memory.shard.height == TT_TILE && matrix->memory.shard.width == TT_TILE,
		   "trans_mat.shard_spec()->shape[0] == TILE_HEIGHT && "
		   "trans_mat.shard_spec()->shape[1] == TILE_WIDTH",
		   "Transformation matrix must be sharded to single tile of shape (32, 32)");
	return TTNN_OK;
}

static tt_status fused_validate(struct tt_launch *launch)
{
	TT_TRY(fused_check_inputs(launch));
	TT_TRY(fused_check_users(launch));
	return fused_check_cores(launch);
}

/*
 * The buffers are made on the cores of the tables, which are those of both: a core has either
 * queries or keys, and the other one's rows are the same shard that it does not touch.
 */
static tt_status fused_rows(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *const *inputs = launch->inputs;
	uint64_t width = tt_shape_last(&inputs[Q]->spec.padded, 1) / TT_TILE;

	return TT_PLAN(plan, inputs[FUSED_COS]->spec.memory.shard.grid,
		       in_shard(0, "q_input_cb", inputs[Q]), in_shard(1, "k_input_cb", inputs[K]),
		       in_shard(2, "cos_cb", inputs[FUSED_COS]),
		       in_shard(3, "sin_cb", inputs[FUSED_SIN]),
		       in_shard(4, "trans_mat_cb", inputs[FUSED_MATRIX]),
		       TT_DFB_ROW(24, "rotated_input_interm_cb", .pages = width,
				  .page = tt_tensor_tile_bytes(inputs[Q])),
		       TT_DFB_ROW(25, "cos_interm_cb", .pages = width,
				  .page = tt_tensor_tile_bytes(inputs[FUSED_COS])),
		       TT_DFB_ROW(26, "sin_interm_cb", .pages = width,
				  .page = tt_tensor_tile_bytes(inputs[FUSED_SIN])),
		       in_shard(16, "q_output_cb", launch->outputs[0]),
		       in_shard(17, "k_output_cb", launch->outputs[1]));
}

/* The rows of a table for one of both: those of the queries come first. */
static tt_status table_part(struct tt_tensor **out, struct tt_tensor *table, uint32_t from,
			    uint32_t users)
{
	struct ttnn_shape shape = table->spec.shape;
	int64_t start[TTNN_MAX_RANK] = {0};

	shape.dim[1] = users;
	start[1] = from;
	TT_TRY(tt_scratch_f32(out, &shape));
	return tt_move_part(*out, table,
			    &(struct tt_move_block){.extent = shape.dim, .in_start = start});
}

/*
 * Queries or keys with their part of the tables: the first users' rows are the queries', the
 * next ones' the keys'.
 */
static tt_status llama_turn(struct tt_launch *launch, int which)
{
	uint32_t users = launch->inputs[which]->spec.shape.dim[1];
	uint32_t from = which == K ? launch->inputs[Q]->spec.shape.dim[1] : 0;
	struct tt_tensor *cos, *sin;

	TT_TRY(table_part(&cos, launch->inputs[FUSED_COS], from, users));
	TT_TRY(table_part(&sin, launch->inputs[FUSED_SIN], from, users));
	return turn_by(&(struct tt_rotary_job){.out = launch->outputs[which],
					       .in = launch->inputs[which],
					       .cos = cos,
					       .sin = sin,
					       .matrix = launch->inputs[FUSED_MATRIX],
					       .same_row = true});
}

static tt_status fused_kernel(struct tt_launch *launch)
{
	TT_TRY(llama_turn(launch, Q));
	return llama_turn(launch, K);
}

static const struct tt_prog fused_program = {
	.device_op = "RotaryEmbeddingLlamaFusedQKDeviceOperation",
	.prim = "ttnn::prim::rotary_embedding_llama_fused_qk",
	.attrs = &fused_schema,
	.infer = fused_infer,
	.validate = fused_validate,
	TT_FACTORY("ttnn::experimental::prim::RotaryEmbeddingLlamaFusedQKProgramFactory",
		   fused_rows),
	.mute = true,
	.drops_forward = true,
	TT_KERNEL(fused_kernel),
};

/* ---- operations ------------------------------------------------------------------------------------------- */

static const struct tt_compute_usual usual = {.fidelity = TT_HIFI4, .approx = true};

static tt_status llama_embed(struct tt_call *call)
{
	struct tt_tensor *const inputs[INPUTS] = {
		tt_call_tensor(call, "input_tensor"), tt_call_tensor(call, "cos_cache"),
		tt_call_tensor(call, "sin_cache"), tt_call_tensor(call, "trans_mat")};
	struct ttnn_value attrs[schema_count];

	attrs[DECODE] = ttnn_v_bool(tt_call_bool(call, "is_decode_mode", false));
	attrs[MEMORY] = tt_value_memory_or_like(call, inputs[IN]);
	attrs[COMPUTE] =
		tt_compute_config(call, tt_call_arg(call, "compute_kernel_config"), &usual);
	return TT_LAUNCH_RETURN(call, &program, .attrs = attrs, .inputs = inputs,
				.input_count = INPUTS);
}

static tt_status embed_both(struct tt_call *call)
{
	struct tt_tensor *const inputs[FUSED_INPUTS] = {
		tt_call_tensor(call, "q_input_tensor"), tt_call_tensor(call, "k_input_tensor"),
		tt_call_tensor(call, "cos_cache"), tt_call_tensor(call, "sin_cache"),
		tt_call_tensor(call, "trans_mat")};
	struct ttnn_value attrs[fused_schema_count];

	for (int i = 0; i < 2; i++)
		attrs[i] = ttnn_v_memory(&inputs[Q + i]->spec.memory);
	attrs[FUSED_COMPUTE] =
		tt_compute_config(call, tt_call_arg(call, "compute_kernel_config"), &usual);
	attrs[FUSED_ROWS] = ttnn_v_bool(inputs[Q]->spec.layout == TTNN_ROW_MAJOR &&
					inputs[K]->spec.layout == TTNN_ROW_MAJOR);
	return TT_LAUNCH_RETURN(call, &fused_program, .attrs = attrs, .inputs = inputs,
				.input_count = FUSED_INPUTS);
}

static const struct tt_op ops[] = {
	{.name = "ttnn.experimental.rotary_embedding_llama",
	 .doc = "Rows turned by the angles of their positions, pair by pair.",
	 .sigs = {"input_tensor: Tensor, cos_cache: Tensor, sin_cache: Tensor, trans_mat: Tensor, "
		  "*, is_decode_mode: bool = False, memory_config: MemoryConfig? = None, "
		  "compute_kernel_config: ComputeConfig? = None"},
	 .expand = llama_embed,
	 .golden = tt_golden_rotary_llama},
	{.name = "ttnn.experimental.rotary_embedding_llama_fused_qk",
	 .doc = "The same for the queries and keys of each user at once.",
	 .sigs = {"q_input_tensor: Tensor, k_input_tensor: Tensor, cos_cache: Tensor, sin_cache: "
		  "Tensor, trans_mat: Tensor, *, compute_kernel_config: ComputeConfig? = None"},
	 .expand = embed_both,
	 .golden = tt_golden_rotary_fused,
	 .gives = "[Tensor]"},
};

const struct tt_op_family tt_family_rotary_llama = {"rotary_llama", ops, TT_COUNT(ops)};
