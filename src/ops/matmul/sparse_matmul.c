/*
 * sparse_matmul.c: products of those pairs of matrices that a third tensor marks, or an index names. The others'
 * places are zeros, or left out.
 *
 * Models SparseMatmulDeviceOperation of ttnn 0.81 with its one factory: specs, refusals, memory, cores. Not modelled:
 * a count of marks (nnz) that is not that of the tensor, which hangs a chip: marks alone count here.
 */
#include <inttypes.h>

#include "backend/backend.h"
#include "golden/golden_matmul.h"
#include "ops/compute.h"
#include "ops/matmul/matmul.h"
#include "ops/movement/movement.h"
#include "ops/values.h"

#define ATTRS(X)                                                                                   \
	X(NNZ, "nnz")                                                                              \
	X(SPARSE_A, "is_input_a_sparse")                                                           \
	X(SPARSE_B, "is_input_b_sparse")                                                           \
	X(INDEXED, "use_indices")                                                                  \
	X(BIASED, "has_bias")                                                                      \
	X(CONFIG, "program_config", .text = TT_TEXT_FIXED, .fixed = "<variant>")                   \
	X(MEMORY, "output_mem_config")                                                             \
	X(DTYPE, "output_dtype")                                                                   \
	X(COMPUTE, "compute_kernel_config")                                                        \
	X(GRID, "user_core_coord", .text = TT_TEXT_FIXED, .fixed = "<xy_pair>")                    \
	X(TILE, "output_tile")                                                                     \
	X(GLOBAL_CB, "global_cb")                                                                  \
	X(SUB_DEVICE, "sub_device_id")
TT_ATTRS(schema, "SparseMatmulParams", ATTRS);
enum { A, B, MARKS, INDICES, BIAS, INPUTS };

static bool flag(const struct tt_launch *launch, size_t attr)
{
	return launch->attrs[attr].boolean;
}

/* ---- specs --------------------------------------------------------------------------------------------- */

/* Outer extents of a, then those of b; pairs of both, or of a alone, share theirs. */
static tt_status expanded_shape(struct ttnn_shape *out, const struct tt_launch *launch)
{
	const struct ttnn_shape *a = &launch->inputs[A]->spec.shape;
	const struct ttnn_shape *b = &launch->inputs[B]->spec.shape;
	bool both = flag(launch, SPARSE_A) && flag(launch, SPARSE_B);
	bool a_alone = flag(launch, SPARSE_A) && !flag(launch, SPARSE_B);
	uint32_t outer_a = both || a->rank <= 2 ? 0 : a->rank - 2;
	uint32_t outer_b = a_alone || b->rank <= 2 ? 0 : b->rank - 2;

	TT_REQUIRE(outer_a + outer_b + 2 <= TTNN_MAX_RANK, "output_rank <= MAX_RANK",
		   "The result of sparse_matmul has %u dimensions, at most %d are possible",
		   outer_a + outer_b + 2, TTNN_MAX_RANK);
	out->rank = 0;
	for (uint32_t i = 0; i < outer_a; i++)
		out->dim[out->rank++] = a->dim[i];
	for (uint32_t i = 0; i < outer_b; i++)
		out->dim[out->rank++] = b->dim[i];
	out->dim[out->rank++] = tt_shape_last(a, 2);
	out->dim[out->rank++] = tt_shape_last(b, 1);
	if (launch->inputs[INDICES] && out->rank > 2)
		out->dim[out->rank - 3] =
			(uint32_t)tt_shape_count(&launch->inputs[INDICES]->spec.shape);
	return TTNN_OK;
}

/* Only the pairs that are marked, in order. */
static struct ttnn_shape compact_shape(const struct tt_launch *launch)
{
	return (struct ttnn_shape){4,
				   {1, (uint32_t)launch->attrs[NNZ].integer,
				    tt_shape_last(&launch->inputs[A]->spec.shape, 2),
				    tt_shape_last(&launch->inputs[B]->spec.shape, 1)}};
}

static bool is_compact(const struct tt_launch *launch, const struct ttnn_shape *out)
{
	struct ttnn_shape compact = compact_shape(launch);

	return tt_value_given(&launch->attrs[NNZ]) && ttnn_shape_equal(out, &compact);
}

/* A given output keeps its spec; it is checked later. */
static tt_status sparse_infer(struct tt_launch *launch)
{
	struct ttnn_spec_args args = {.dtype = (enum ttnn_dtype)launch->attrs[DTYPE].integer,
				      .layout = TTNN_TILE,
				      .memory = *launch->attrs[MEMORY].memory,
				      .tile = *launch->attrs[TILE].tile};

	if (tt_infer_given(launch, 0))
		return TTNN_OK;
	TT_TRY(expanded_shape(&args.shape, launch));
	return ttnn_tensor_spec_make(&launch->specs[0], &args);
}

/* Places that no product is written to are zeros. */
static tt_status sparse_prepare(struct tt_launch *launch)
{
	struct tt_tensor *out = launch->outputs[0], *same;
	const struct ttnn_arg args[] = {{NULL, ttnn_v_tensor(out)},
					{"optional_tensor", ttnn_v_tensor(out)}};

	if (tt_call_tensor(launch->call, "optional_output_tensor") &&
	    is_compact(launch, &out->spec.shape))
		return TTNN_OK;
	TT_TRY(tt_call_op(&same, launch->call, "ttnn.zeros_like", args, TT_COUNT(args)));
	ttnn_tensor_unref(same);
	return TTNN_OK;
}

/* ---- refusals ------------------------------------------------------------------------------------------- */

/* Marks are rows: the reader takes one page of them. */
static tt_status check_tensors(const struct tt_launch *launch)
{
	static const char layout[] = "%s must be %s layout, got Layout::%s";
	static const char number[] = "%s must be a floating point type, got DataType::%s";
	const struct ttnn_tensor_spec *a = &launch->inputs[A]->spec, *b = &launch->inputs[B]->spec;
	const struct ttnn_tensor_spec *marks = &launch->inputs[MARKS]->spec;

	TT_REQUIRE(a->layout == TTNN_TILE, "input_tensor_a.layout() == ttnn::Layout::TILE", layout,
		   "Input tensor A", "TILE", tt_enum_name(&tt_enum_layout, a->layout));
	TT_REQUIRE(b->layout == TTNN_TILE, "input_tensor_b.layout() == ttnn::Layout::TILE", layout,
		   "Input tensor B", "TILE", tt_enum_name(&tt_enum_layout, b->layout));
	TT_REQUIRE(!tt_dtype_is_integer(a->dtype), "is_floating_point(input_tensor_a.dtype())",
		   number, "Input tensor A", tt_enum_name(&tt_enum_dtype, a->dtype));
	TT_REQUIRE(!tt_dtype_is_integer(b->dtype), "is_floating_point(input_tensor_b.dtype())",
		   number, "Input tensor B", tt_enum_name(&tt_enum_dtype, b->dtype));
	TT_REQUIRE(marks->layout == TTNN_ROW_MAJOR, "sparsity.layout() == ttnn::Layout::ROW_MAJOR",
		   layout, "Sparsity tensor", "ROW_MAJOR",
		   tt_enum_name(&tt_enum_layout, marks->layout));
	TT_REQUIRE(flag(launch, SPARSE_A) || flag(launch, SPARSE_B),
		   "operation_attributes.is_input_a_sparse || "
		   "operation_attributes.is_input_b_sparse",
		   "sparse_matmul requires at least one of is_input_a_sparse or "
		   "is_input_b_sparse to be true");
	TT_REQUIRE(tt_shape_last(&a->padded, 1) == tt_shape_last(&b->padded, 2),
		   "a_shape_padded[-1] == b_shape_padded[-2]",
		   "Dimension K (A.shape[-1] %u) and B.shape[-2] (%u) must match for A and B",
		   tt_shape_last(&a->padded, 1), tt_shape_last(&b->padded, 2));
	return TTNN_OK;
}

static void add_shape(struct tt_str *text, const struct ttnn_shape *shape)
{
	tt_str_adds(text, "Shape(");
	tt_shape_list(text, shape);
	tt_str_addc(text, ')');
}

/* Marks, as many as there are pairs. */
static uint64_t pairs(const struct tt_launch *launch)
{
	uint64_t a = tt_matmul_batch(&launch->inputs[A]->spec.padded);
	uint64_t b = tt_matmul_batch(&launch->inputs[B]->spec.padded);

	if (flag(launch, SPARSE_A))
		return flag(launch, SPARSE_B) ? b : a;
	return a * b;
}

/* One mark for each pair of matrices. nnz may say how many are set. */
static tt_status check_marks(const struct tt_launch *launch)
{
	const struct ttnn_shape *marks = &launch->inputs[MARKS]->spec.shape;
	int64_t nnz = tt_value_given(&launch->attrs[NNZ]) ? launch->attrs[NNZ].integer : 1;
	uint64_t count = pairs(launch);
	struct tt_str shape = {0};

	TT_REQUIRE(nnz > 0, "operation_attributes.nnz.value_or(1) > 0",
		   "nnz (%" PRId64 ") must be greater than 0", nnz);
	if (tt_shape_count(marks) != count) {
		add_shape(&shape, marks);
		tt_fail_cond(TTNN_INVALID, "sparsity.logical_volume() == batch_length",
			     "sparsity logical_volume (%" PRIu64
			     ") must equal batch_length (%" PRIu64
			     ") [sparsity_shape=%s, is_input_a_sparse=%s, is_input_b_sparse=%s]",
			     tt_shape_count(marks), count, tt_str_text(&shape),
			     flag(launch, SPARSE_A) ? "true" : "false",
			     flag(launch, SPARSE_B) ? "true" : "false");
		tt_str_deinit(&shape);
		return TTNN_INVALID;
	}
	TT_REQUIRE((uint64_t)nnz <= count, "operation_attributes.nnz.value_or(1) <= batch_length",
		   "nnz (%" PRId64
		   ") must be less than or equal to the length of all batch dimensions (%" PRIu64
		   ")",
		   nnz, count);
	return TTNN_OK;
}

static tt_status fail_shape(const char *condition, const char *format,
			    const struct ttnn_shape *shape)
{
	return tt_fail_shapes(TTNN_INVALID, condition, format, shape, shape);
}

/* Indexed mode: a list of matrices of b, in one row of uint16, in place of marks and of nnz. */
static tt_status check_indices(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *ids = &launch->inputs[INDICES]->spec;
	const struct ttnn_shape *b = &launch->inputs[B]->spec.padded;
	uint64_t count = tt_shape_count(&ids->shape);

	TT_REQUIRE(flag(launch, SPARSE_B), "operation_attributes.is_input_b_sparse",
		   "Indexed/gather mode requires is_input_b_sparse=true (the indexed operand is "
		   "the expert weight tensor B, laid out as [..., E, K, N]).");
	TT_REQUIRE(ids->layout == TTNN_ROW_MAJOR, "indices.layout() == ttnn::Layout::ROW_MAJOR",
		   "indices must be ROW_MAJOR layout, got Layout::%s",
		   tt_enum_name(&tt_enum_layout, ids->layout));
	TT_REQUIRE(ids->dtype == TTNN_UINT16, "indices.dtype() == tt::tt_metal::DataType::UINT16",
		   "indices must be UINT16 dtype, got DataType::%s",
		   tt_enum_name(&tt_enum_dtype, ids->dtype));
	if (tt_shape_last(&ids->shape, 1) != count)
		return fail_shape("indices_shape[-1] == indices.logical_volume()",
				  "indices must occupy a single ROW_MAJOR stick (all dimensions "
				  "except the last must be 1), got shape %s",
				  &ids->shape);
	TT_REQUIRE(!tt_value_given(&launch->attrs[NNZ]), "!operation_attributes.nnz.has_value()",
		   "nnz (%" PRId64 ") must not be supplied together with indices: the "
		   "indexed/gather loop count is num_active (the length of indices), so nnz would "
		   "be ignored",
		   launch->attrs[NNZ].integer);
	if (b->rank < 3)
		return fail_shape("b_shape_padded.rank() >= 3",
				  "Indexed/gather mode requires input B to have a sparse-group "
				  "axis (rank >= 3), got shape %s",
				  b);
	TT_REQUIRE(tt_matmul_batch(b) == tt_shape_last(b, 3),
		   "batch_length_B == b_shape_padded[-3]",
		   "Indexed/gather mode requires input B's sparse-group axis to be its only batch "
		   "dimension (B batch length %u != B.shape[-3] %u)",
		   tt_matmul_batch(b), tt_shape_last(b, 3));
	TT_REQUIRE(count <= tt_matmul_batch(b), "indices.logical_volume() <= batch_length_B",
		   "indices length / num_active (%" PRIu64
		   ") must be <= the number of sparse groups in input B (%u)",
		   count, tt_matmul_batch(b));
	return TTNN_OK;
}

/* A row of tiles for each matrix of b. */
static tt_status check_bias(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *bias = &launch->inputs[BIAS]->spec;
	const struct ttnn_shape *b = &launch->inputs[B]->spec.padded, *shape = &bias->padded;
	uint32_t groups = tt_matmul_batch(b), width = tt_shape_last(b, 1);
	struct tt_str text = {0};

	TT_REQUIRE(bias->layout == TTNN_TILE, "bias.layout() == ttnn::Layout::TILE",
		   "bias must be TILE layout, got Layout::%s",
		   tt_enum_name(&tt_enum_layout, bias->layout));
	TT_REQUIRE(bias->dtype == TTNN_BFLOAT16, "bias.dtype() == tt::tt_metal::DataType::BFLOAT16",
		   "bias must be BFLOAT16 (it is added at bias precision, not the weight dtype), "
		   "got DataType::%s",
		   tt_enum_name(&tt_enum_dtype, bias->dtype));
	if (shape->rank >= 3 && tt_shape_last(shape, 1) == width &&
	    tt_shape_last(shape, 2) == bias->tile.height && tt_shape_last(shape, 3) == groups &&
	    tt_matmul_batch(shape) == groups)
		return TTNN_OK;
	add_shape(&text, shape);
	tt_fail_cond(TTNN_INVALID,
		     "bias_shape.rank() >= 3 && bias_shape[-1] == b_shape_padded[-1] && "
		     "bias_shape[-2] == bias_tile.get_height() && bias_shape[-3] == "
		     "batch_length_B && bias.padded_shape().volume() == bias_shape[-1] * "
		     "bias_shape[-2] * bias_shape[-3]",
		     "bias must have padded shape [E, tile_height, N] with E the number of sparse "
		     "groups (%u) and N the output width (%u), got %s",
		     groups, width, tt_str_text(&text));
	tt_str_deinit(&text);
	return TTNN_INVALID;
}

/* A given output has the shape of all pairs, or of those that are marked. */
static tt_status check_output(const struct tt_launch *launch)
{
	const struct ttnn_shape *out = &launch->outputs[0]->spec.shape;
	const struct ttnn_value *nnz = &launch->attrs[NNZ];
	struct ttnn_shape all, compact = compact_shape(launch);
	struct tt_str text = {0};

	TT_TRY(expanded_shape(&all, launch));
	if (ttnn_shape_equal(out, &all) || is_compact(launch, out))
		return TTNN_OK;
	if (launch->inputs[INDICES])
		return tt_fail_shapes(TTNN_INVALID, "optional_output_shape == indexed_output_shape",
				      "Optional output tensor shape %s must match the indexed "
				      "output shape %s when indices are provided",
				      out, &all);
	if (!tt_value_given(nnz))
		return tt_fail_shapes(TTNN_INVALID,
				      "optional_output_shape == expanded_output_shape",
				      "Optional output tensor shape %s must match expanded output "
				      "shape %s when nnz is not provided",
				      out, &all);
	tt_str_adds(&text, "Optional output tensor shape ");
	add_shape(&text, out);
	tt_str_adds(&text, " must match expanded output shape ");
	add_shape(&text, &all);
	tt_str_adds(&text, " or compact output shape ");
	add_shape(&text, &compact);
	tt_fail_cond(TTNN_INVALID,
		     "optional_output_shape == expanded_output_shape || optional_output_shape == "
		     "compact_output_shape",
		     "%s when nnz=%" PRId64, tt_str_text(&text), nnz->integer);
	tt_str_deinit(&text);
	return TTNN_INVALID;
}

/* As of all one-dimensional configs; checked here because this operation has its own validation. */
static tt_status check_blocks(const struct tt_matmul_config *config)
{
	static const char divides[] = "sparse_matmul: %s (%u) must be divisible by %s (%u)";

	if (config->kind != TT_MATMUL_1D)
		return TTNN_OK;
	TT_REQUIRE(config->sub_w && config->sub_h,
		   "pc->out_subblock_w != 0 && pc->out_subblock_h != 0",
		   "sparse_matmul: out_subblock_w and out_subblock_h must be non-zero");
	TT_REQUIRE(config->block_w && config->block_h,
		   "pc->out_block_w != 0 && pc->out_block_h != 0",
		   "sparse_matmul: out_block_w and out_block_h must be non-zero");
	TT_REQUIRE(config->m && config->n, "pc->per_core_M != 0 && pc->per_core_N != 0",
		   "sparse_matmul: per_core_M and per_core_N must be non-zero");
	TT_REQUIRE(config->block_w % config->sub_w == 0,
		   "pc->out_block_w % pc->out_subblock_w == 0",
		   "sparse_matmul: out_block_w (%u) must be divisible by out_subblock_w (%u); "
		   "otherwise in1_num_subblocks becomes 0 and the mcast_in0 kernel deadlocks",
		   config->block_w, config->sub_w);
	TT_REQUIRE(config->block_h % config->sub_h == 0,
		   "pc->out_block_h % pc->out_subblock_h == 0", divides, "out_block_h",
		   config->block_h, "out_subblock_h", config->sub_h);
	TT_REQUIRE(config->m % config->block_h == 0, "pc->per_core_M % pc->out_block_h == 0",
		   divides, "per_core_M", config->m, "out_block_h", config->block_h);
	TT_REQUIRE(config->n % config->block_w == 0, "pc->per_core_N % pc->out_block_w == 0",
		   divides, "per_core_N", config->n, "out_block_w", config->block_w);
	return TTNN_OK;
}

/* In upstream's order. */
static tt_status sparse_validate(struct tt_launch *launch)
{
	const struct tt_matmul_plan *plan = launch->extra;

	TT_TRY(check_tensors(launch));
	TT_TRY(check_marks(launch));
	if (launch->inputs[INDICES])
		TT_TRY(check_indices(launch));
	if (launch->inputs[BIAS])
		TT_TRY(check_bias(launch));
	TT_TRY(check_output(launch));
	return check_blocks(&plan->config);
}

/* ---- program memory ---------------------------------------------------------------------------------------- */

/* What the program is cut into. */
struct cut {
	uint64_t steps;        /* along K */
	uint64_t blocks;       /* a core each */
	struct ttnn_core grid; /* columns and rows of cores */
	bool twice;            /* blocks of the inputs are there twice */
};

/* Only mcast_in0 is there: a goes to all cores, each has columns of the result. */
static tt_status find_cut(struct cut *out, const struct tt_matmul_plan *plan)
{
	const struct tt_matmul_config *config = &plan->config;
	const struct tt_matmul *matmul = &plan->matmul;
	uint64_t outer = matmul->batch_a;
	struct ttnn_core_range box = {{0, 0}, {config->grid.x - 1, config->grid.y - 1}};

	TT_NEED(config->kind == TT_MATMUL_1D, "std::get: wrong index for variant");
	if (config->allowed)
		TT_TRY(tt_core_set_box(&box, config->allowed));
	out->grid = (struct ttnn_core){box.end.x - box.start.x + 1, box.end.y - box.start.y + 1};
	TT_REQUIRE(config->k && matmul->k % config->k == 0, "Kt % in0_block_w == 0",
		   "Kt (%u) must be divisible by in0_block_w (%u)", matmul->k, config->k);
	out->blocks = tt_div_up(matmul->m, config->m) * tt_div_up(matmul->n, config->n);
	TT_REQUIRE(out->blocks <= (uint64_t)out->grid.x * out->grid.y,
		   "num_blocks_total <= num_cores_available",
		   "Number of blocks exceeds number of cores available: %" PRIu64
		   " blocks > %u cores",
		   out->blocks, out->grid.x * out->grid.y);
	TT_REQUIRE(config->cast_a, "mcast_in0", "Only mcast_in0 is supported for sparse matmul");
	out->steps = matmul->k / config->k;
	out->twice = outer * matmul->batch_b * out->steps > 1;
	return TTNN_OK;
}

static uint64_t aligned_tile(const struct tt_launch *launch, const struct tt_tensor *tensor)
{
	uint64_t bytes = tt_dtype_tile_bytes(tensor->spec.dtype, &tensor->spec.tile), out;

	return tt_round_up(&out, bytes, launch->device->limits.alignment) ? out : bytes;
}

/*
 * The cores must fill a rectangle, because a is multicast to one. Marks are read by the first
 * core, indices by all.
 */
static tt_status sparse_memory(struct tt_plan *out, const struct tt_launch *launch)
{
	const struct tt_matmul_plan *plan = launch->work;
	const struct tt_matmul_config *config = &plan->config;
	const struct tt_matmul *matmul = &plan->matmul;
	struct tt_tensor *ids = launch->inputs[INDICES], *bias = launch->inputs[BIAS];
	const ttnn_core_set *all, *first;
	uint64_t area = (uint64_t)config->block_h * config->block_w, depth;
	enum ttnn_dtype sums;
	struct ttnn_core_range box;
	struct cut cut = {0};

	TT_TRY(find_cut(&cut, plan));
	TT_TRY(tt_split_cores(&all, cut.grid, (struct ttnn_core){0, 0}, cut.blocks,
			      TTNN_ORIENT_ROW_MAJOR));
	TT_TRY(tt_core_set_grid(&first, 1, 1));
	TT_TRY(tt_core_set_box(&box, all));
	TT_REQUIRE(
		cut.blocks == (uint64_t)(box.end.x + 1) * (box.end.y + 1),
		"num_cores_with_work == in0_mcast_receiver_num_cores",
		"num_cores_with_work (%" PRIu64
		") must be equal to in0_mcast_receiver_num_cores (%u), please adjust the core grid "
		"to make it rectangular.",
		cut.blocks, (box.end.x + 1) * (box.end.y + 1));
	sums = tt_matmul_sums(matmul, cut.steps);
	depth = (uint64_t)config->k * (cut.twice ? 2 : 1);
	return TT_PLAN(out, all,
		       TT_DFB_ROW(0, "in0", .pages = config->block_h * depth,
				  .page = aligned_tile(launch, matmul->a)),
		       TT_DFB_ROW(1, "in1", .pages = config->block_w * depth,
				  .page = aligned_tile(launch, matmul->b)),
		       TT_DFB_ROW(6, "sparsity", .pages = 1,
				  .page = tt_aligned_page(launch->inputs[MARKS]), .cores = first),
		       TT_DFB_ROW(7, "sparsity_in1", .pages = 1,
				  .page = tt_aligned_page(ids ? ids : launch->inputs[MARKS])),
		       TT_DFB_ROW(4, "out", .pages = area,
				  .page = tt_dtype_tile_bytes(matmul->dtype, &matmul->tile)),
		       TT_DFB_ROW(5, "interm0", .pages = sums != matmul->dtype ? area : 0,
				  .page = tt_dtype_tile_bytes(sums, &matmul->tile)),
		       TT_DFB_ROW(3, "bias", .pages = bias ? 2ull * config->block_w : 0,
				  .page = bias ? aligned_tile(launch, bias) : 0));
}

/* The plan is kept for the memory rows, as in matmul.c. */
static tt_status sparse_choose(uint32_t *out, struct tt_launch *launch)
{
	struct tt_matmul_plan *plan = tt_work_new(launch, sizeof(*plan));

	*out = 0;
	if (!plan)
		return TTNN_NOMEM;
	*plan = *(const struct tt_matmul_plan *)launch->extra;
	return TTNN_OK;
}

/* ---- running --------------------------------------------------------------------------------------------------- */

static uint32_t lesser(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* One matrix of a tensor, as much of it as there is room for; index counts those of its outer dimensions. */
static tt_status copy_matrix(struct tt_tensor *out, uint64_t to, struct tt_tensor *in,
			     uint64_t from)
{
	struct tt_move_loop loops[2];
	struct tt_move_job job = {.out = out, .in = in, .loops = loops, .loop_count = 2};
	const struct ttnn_shape *shapes[2] = {&in->spec.shape, &out->spec.shape};
	int64_t *starts[2] = {job.in_start, job.out_start};
	uint64_t index[2] = {from, to};

	for (uint32_t i = 0; i < 2; i++) {
		uint32_t d = shapes[0]->rank - 2 + i, e = shapes[1]->rank - 2 + i;

		loops[i] = (struct tt_move_loop){
			.extent = lesser(shapes[0]->dim[d], shapes[1]->dim[e]),
			.in_dim = (int32_t)d,
			.out_dim = (int32_t)e,
			.in_step = 1,
			.out_step = 1};
		for (uint32_t k = shapes[i]->rank - 2; k-- > 0;) {
			starts[i][k] = (int64_t)(index[i] % shapes[i]->dim[k]);
			index[i] /= shapes[i]->dim[k];
		}
	}
	return tt_backend_get()->move(&job);
}

/* The first row of a matrix, as much of it as there is room for. */
static tt_status copy_row(struct tt_tensor *out, struct tt_tensor *in, uint64_t from)
{
	const struct ttnn_shape *shape = &in->spec.shape;
	struct tt_move_loop loop = {
		.extent = lesser(tt_shape_last(shape, 1), tt_shape_last(&out->spec.shape, 1)),
		.in_dim = (int32_t)shape->rank - 1,
		.out_dim = 1,
		.in_step = 1,
		.out_step = 1};
	struct tt_move_job job = {.out = out, .in = in, .loops = &loop, .loop_count = 1};

	for (uint32_t k = shape->rank - 2; k-- > 0; from /= shape->dim[k])
		job.in_start[k] = (int64_t)(from % shape->dim[k]);
	return tt_backend_get()->move(&job);
}

/* Of zeros: a bias may be narrower. */
static tt_status new_matrix(struct tt_tensor **out, enum ttnn_dtype dtype, uint32_t rows,
			    uint32_t cols)
{
	return tt_scratch(out, &TT_SHAPE(rows, cols),
			  dtype == TTNN_FLOAT32 ? TTNN_FLOAT32 : TTNN_BFLOAT16, TTNN_ROW_MAJOR);
}

enum { LEFT, RIGHT, RESULT, ROW, MATRICES };

/* Tiles of a and b go equally deep; values that one of them has not are zeros. */
static tt_status new_matrices(struct tt_tensor **out, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *a = &launch->inputs[A]->spec, *b = &launch->inputs[B]->spec;
	uint32_t m = tt_shape_last(&a->shape, 2), n = tt_shape_last(&b->shape, 1);
	uint32_t k = lesser(tt_shape_last(&a->shape, 1), tt_shape_last(&b->shape, 2));

	TT_TRY(new_matrix(&out[LEFT], a->dtype, m, k));
	TT_TRY(new_matrix(&out[RIGHT], b->dtype, k, n));
	TT_TRY(new_matrix(&out[RESULT], TTNN_FLOAT32, m, n));
	return launch->inputs[BIAS] ? new_matrix(&out[ROW], TTNN_FLOAT32, 1, n) : TTNN_OK;
}

/* Which matrices make which of the result. */
struct pair {
	uint64_t a, b, out;
};

/* One pair of matrices, copied out, multiplied and copied to its place. */
static tt_status multiply(const struct tt_launch *launch, struct tt_tensor *const *matrices,
			  const struct pair *pair)
{
	struct tt_tensor *bias = launch->inputs[BIAS], *row = NULL;

	TT_TRY(copy_matrix(matrices[LEFT], 0, launch->inputs[A], pair->a));
	TT_TRY(copy_matrix(matrices[RIGHT], 0, launch->inputs[B], pair->b));
	if (bias) {
		row = matrices[ROW];
		TT_TRY(copy_row(row, bias, pair->b));
	}
	TT_TRY(tt_backend_get()->matmul(&(struct tt_matmul_job){.out = matrices[RESULT],
								.a = matrices[LEFT],
								.b = matrices[RIGHT],
								.alpha = 1,
								.bias = row,
								.beta = 1}));
	return copy_matrix(launch->outputs[0], pair->out, matrices[RESULT], 0);
}

/* The pair of a mark, or of an index for each matrix of a. */
static struct pair pair_of(const struct tt_launch *launch, uint64_t mark)
{
	uint64_t b = tt_matmul_batch(&launch->inputs[B]->spec.shape);

	if (!flag(launch, SPARSE_A))
		return (struct pair){mark / b, mark % b, mark};
	return (struct pair){mark, mark % b, mark};
}

/* A compact result has a place for each mark that is set; otherwise those without stay zero. */
static tt_status multiply_marked(const struct tt_launch *launch, struct tt_tensor *const *matrices,
				 const double *marks)
{
	bool compact = is_compact(launch, &launch->outputs[0]->spec.shape);
	uint64_t room = tt_matmul_batch(&launch->outputs[0]->spec.shape), count = pairs(launch);

	for (uint64_t i = 0, done = 0; i < count && done < room; i++) {
		struct pair pair = pair_of(launch, i);

		if (marks[i] == 0)
			continue;
		if (compact)
			pair.out = done;
		done++;
		TT_TRY(multiply(launch, matrices, &pair));
	}
	return TTNN_OK;
}

/*
 * Indices name matrices of b; with a sparse too they go in pairs, otherwise every matrix of a
 * meets all of them.
 */
static tt_status multiply_indexed(const struct tt_launch *launch, struct tt_tensor *const *matrices,
				  const double *ids)
{
	uint64_t count = tt_shape_count(&launch->inputs[INDICES]->spec.shape);
	uint64_t groups = tt_matmul_batch(&launch->inputs[B]->spec.shape);
	bool paired = flag(launch, SPARSE_A);
	uint64_t outer = paired ? 1 : tt_matmul_batch(&launch->inputs[A]->spec.shape);

	for (uint64_t i = 0; i < outer * count; i++) {
		uint64_t id = (uint64_t)ids[i % count];

		TT_REQUIRE(id < groups, "indices[i] < E",
			   "Index %" PRIu64 " is beyond the %" PRIu64 " matrices of input B", id,
			   groups);
		TT_TRY(multiply(launch, matrices, &(struct pair){paired ? i : i / count, id, i}));
	}
	return TTNN_OK;
}

/* Matrices on the way are of the backend, not of the model: no memory of the chip is taken. */
static tt_status sparse_kernel(struct tt_launch *launch)
{
	struct tt_tensor *matrices[MATRICES] = {NULL};
	bool indexed = launch->inputs[INDICES];
	uint64_t count;
	double *values;

	TT_TRY(tt_values_of(&values, &count, launch, indexed ? INDICES : MARKS));
	TT_TRY(new_matrices(matrices, launch));
	return indexed ? multiply_indexed(launch, matrices, values)
		       : multiply_marked(launch, matrices, values);
}

static const struct tt_prog program = {
	.device_op = "SparseMatmulDeviceOperation",
	.prim = "ttnn::prim::sparse_matmul",
	.attrs = &schema,
	.infer = sparse_infer,
	.prepare = sparse_prepare,
	.validate = sparse_validate,
	.choose = sparse_choose,
	TT_FACTORY("ttnn::prim::SparseMatmulMultiCoreReuseMcast1DProgramFactory", sparse_memory),
	TT_KERNEL(sparse_kernel),
	.cost = tt_cost_product,
};

/* ---- calls ------------------------------------------------------------------------------------------------------- */

/* Global circular buffers and sub-devices are not modelled here. */
static tt_status refuse_senders(const struct tt_call *call)
{
	static const char *const names[] = {"global_cb", "sub_device_id"};

	for (size_t i = 0; i < TT_COUNT(names); i++)
		if (tt_value_given(tt_call_arg(call, names[i])))
			return tt_fail(TTNN_UNSUPPORTED, "sparse_matmul does not support %s yet",
				       names[i]);
	return TTNN_OK;
}

/* Upstream's own text for any device operation. */
static tt_status refuse_host_tensors(const struct tt_call *call)
{
	static const char *const names[] = {"input_tensor_b", "sparsity", "indices", "bias"};

	for (size_t i = 0; i < TT_COUNT(names); i++) {
		struct tt_tensor *tensor = tt_call_tensor(call, names[i]);

		TT_REQUIRE(!tensor || tt_tensor_device(tensor), "tt::exception",
			   "Device Operations expect device tensors as inputs");
	}
	return TTNN_OK;
}

/* Matrices only; the text is our own. */
static tt_status refuse_vectors(const struct tt_call *call)
{
	static const char *const names[] = {"input_tensor_a", "input_tensor_b"};

	for (size_t i = 0; i < TT_COUNT(names); i++) {
		uint32_t rank = tt_call_tensor(call, names[i])->spec.shape.rank;

		TT_REQUIRE(rank >= 2, "rank >= 2",
			   "sparse_matmul expects matrices, and %s has rank %u", names[i], rank);
	}
	return TTNN_OK;
}

/* The same completion as of matmul, with the caller's config, which has no default here. */
static tt_status complete(struct tt_matmul_plan *plan, struct tt_call *call)
{
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");
	const struct ttnn_value *tile = tt_call_arg(call, "output_tile");
	enum ttnn_dtype dtype = tt_call_dtype(call, "dtype", TTNN_BFLOAT16);

	plan->matmul = (struct tt_matmul){
		.call = call,
		.a = tt_call_tensor(call, "input_tensor_a"),
		.b = tt_call_tensor(call, "input_tensor_b"),
		.output = tt_call_tensor(call, "optional_output_tensor"),
		.memory = memory ? *memory : (struct ttnn_memory_config){.buffer = TTNN_DRAM},
		.activation = ttnn_v_none(),
	};
	TT_TRY(tt_matmul_config_read(&plan->config, tt_call_arg(call, "program_config")));
	if (tt_call_arg(call, "core_grid")->kind == TTNN_VALUE_CORE) {
		plan->matmul.has_grid = true;
		plan->matmul.user_grid = tt_call_arg(call, "core_grid")->core;
	}
	return tt_matmul_complete(&plan->matmul, &plan->config,
				  tt_value_given(tt_call_arg(call, "dtype")) ? &dtype : NULL,
				  tile->kind == TTNN_VALUE_TILE ? tile->tile : NULL,
				  tt_call_arg(call, "compute_kernel_config"));
}

/* A bias is for indexed mode only. */
static tt_status sparse_expand(struct tt_call *call)
{
	struct tt_tensor *indices = tt_call_tensor(call, "indices");
	struct tt_tensor *bias = tt_call_tensor(call, "bias");
	struct tt_matmul_plan plan;
	struct ttnn_value config;

	TT_TRY(refuse_vectors(call));
	TT_REQUIRE(!bias || indices, "indices.has_value()",
		   "sparse_matmul bias requires indices (indexed/gather mode)");
	TT_TRY(refuse_senders(call));
	TT_TRY(complete(&plan, call));
	TT_TRY(refuse_host_tensors(call));
	TT_TRY(tt_matmul_config_value(&config, call->arena, &plan.config));
	return TT_LAUNCH_RETURN(
		call, &program,
		TT_INPUTS(plan.matmul.a, plan.matmul.b, tt_call_tensor(call, "sparsity"), indices,
			  bias),
		TT_OUTPUTS(plan.matmul.output),
		TT_BIND(call, schema, [INDEXED] = ttnn_v_bool(indices != NULL),
			[BIASED] = ttnn_v_bool(bias != NULL), [CONFIG] = config,
			[MEMORY] = ttnn_v_memory(&plan.matmul.memory),
			[DTYPE] = ttnn_v_dtype(plan.matmul.dtype), [COMPUTE] = plan.matmul.compute,
			[GRID] = ttnn_v_none(),
			[TILE] = {.kind = TTNN_VALUE_TILE, .tile = &plan.matmul.tile},
			[GLOBAL_CB] = ttnn_v_none(), [SUB_DEVICE] = ttnn_v_none()),
		.extra = &plan);
}

static const struct tt_op ops[] = {
	{.name = "ttnn.sparse_matmul",
	 .doc = "Products of those pairs of matrices that a tensor marks, zeros for the others.",
	 .sigs = {"input_tensor_a: Tensor, input_tensor_b: Tensor, *, sparsity: Tensor, "
		  "program_config: MatmulConfig, nnz: int ? = None, "
		  "is_input_a_sparse: bool = False, is_input_b_sparse: bool = True, "
		  "memory_config: MemoryConfig ? = None, dtype: DataType ? = None, "
		  "compute_kernel_config: ComputeConfig ? = None, core_grid: CoreGrid ? = None, "
		  "output_tile: Tile ? = None, optional_output_tensor: Tensor ? = None, "
		  "global_cb: GlobalCb ? = None, sub_device_id: SubDeviceId ? = None, "
		  "indices: Tensor ? = None, bias: Tensor ? = None"},
	 .expand = sparse_expand,
	 .golden = tt_golden_sparse_matmul},
};

const struct tt_op_family tt_family_sparse_matmul = {"sparse_matmul", ops, TT_COUNT(ops)};
