/*
 * rotary_indexed.c: rotary position embedding of a chunk of a prompt, whose rows lie on the chips as those of its cache (padded_cache.c).
 *
 * Models RotaryEmbeddingIndexedDeviceOperation of ttnn 0.81 (deepseek_prefill) with its factory: specs, refusals, memory, cores. Not modelled:
 * rounding between the steps.
 */
#include <inttypes.h>

#include "backend/backend.h"
#include "device/device.h"
#include "device/devtensor.h"
#include "ops/attention/kv_cache.h"
#include "ops/compute.h"
#include "ops/mem_rows.h"
#include "ops/movement/movement.h"
#include "ops/usual.h"
#include "ops/values.h"
#include "tensor/enums.h"
#include "tensor/shape.h"
#include "tensor/spec.h"
#include "tensor/tile.h"

#define ATTRS(X)                                                                                   \
	X(AXIS, "cluster_axis")                                                                    \
	X(SUB, "seq_subshard_axis")                                                                \
	X(PRIOR, "kv_actual_global", .unkeyed = true)                                              \
	X(WIDTH, "rotary_dim")                                                                     \
	X(PART, "has_rotary_dim")                                                                  \
	X(OFFSET, "rotary_offset")                                                                 \
	X(MEMORY, "output_mem_config")                                                             \
	X(COMPUTE, "compute_kernel_config")
TT_ATTRS(schema, "operation_attributes_t", ATTRS);
enum { IN, COS, SIN, MATRIX, NUMBER, PREFIX, INPUTS };
#define NUMBER_BYTES 16 /* that the kernel keeps for a number out of a tensor */
#define MOST_ROWS 8     /* of tiles for which a core keeps the tables */

static struct tt_cache_share sub_of(const struct tt_launch *launch)
{
	return launch->attrs[SUB].kind == TTNN_VALUE_INT
		       ? tt_cache_share(launch, &launch->attrs[SUB])
		       : (struct tt_cache_share){1, 0};
}

static uint32_t prefix_width(const struct tt_launch *launch)
{
	return launch->inputs[PREFIX] ? tt_shape_last(&launch->inputs[PREFIX]->spec.shape, 1) : 0;
}

static tt_status indexed_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec;
	struct ttnn_shape shape = in->shape;

	if (shape.rank)
		shape.dim[shape.rank - 1] += prefix_width(launch);
	launch->output_count = 1;
	return tt_spec_simple(&launch->specs[0], &shape, in->dtype, in->layout,
			      launch->attrs[MEMORY].memory);
}

/* ---- refusals --------------------------------------------------------------------------------------------------- */

static tt_status check_shapes(const struct tt_launch *launch)
{
	static const char *const names[] = {"input", "cos", "sin", "trans_mat"};
	static const char *const conditions[] = {
		"input.layout() == Layout::TILE", "cos.layout() == Layout::TILE",
		"sin.layout() == Layout::TILE", "trans_mat.layout() == Layout::TILE"};
	const struct ttnn_shape *in = &launch->inputs[IN]->spec.padded;
	const struct ttnn_shape *cos = &launch->inputs[COS]->spec.padded;
	const struct ttnn_shape *matrix = &launch->inputs[MATRIX]->spec.padded;

	for (size_t i = IN; i <= MATRIX; i++)
		TT_REQUIRE(launch->inputs[i]->spec.layout == TTNN_TILE, conditions[i],
			   "%s must be TILE layout", names[i]);
	TT_REQUIRE(in->rank == 4, "input_shape.rank() == 4", "input must be 4D (got rank %u)",
		   in->rank);
	TT_REQUIRE(cos->rank == 4, "cos_shape.rank() == 4", "cos must be 4D (got rank %u)",
		   cos->rank);
	if (!ttnn_shape_equal(matrix, &(struct ttnn_shape){4, {1, 1, TT_TILE, TT_TILE}}))
		return tt_fail_shapes(
			TTNN_INVALID,
			"trans_mat_shape.rank() == 4 && trans_mat_shape[0] == 1 && "
			"trans_mat_shape[1] == 1 && trans_mat_shape[-2] == TILE_HEIGHT && "
			"trans_mat_shape[-1] == TILE_WIDTH",
			"trans_mat must be a single tile [1, 1, 32, 32] (got %s)", matrix, matrix);
	TT_REQUIRE(launch->inputs[COS]->spec.dtype == launch->inputs[SIN]->spec.dtype,
		   "cos.dtype() == sin.dtype()", "cos and sin dtype must match");
	TT_REQUIRE(ttnn_shape_equal(cos, &launch->inputs[SIN]->spec.padded),
		   "cos_shape == sin_shape", "cos and sin must have the same shape");
	return TTNN_OK;
}

static tt_status check_columns(const struct tt_launch *launch)
{
	uint32_t all = tt_shape_last(&launch->inputs[IN]->spec.padded, 1);
	int64_t width = launch->attrs[WIDTH].integer, offset = launch->attrs[OFFSET].integer;

	TT_NEED(all == tt_shape_last(&launch->inputs[IN]->spec.shape, 1),
		"rotary_embedding_indexed: heads must be whole tiles wide");
	TT_REQUIRE(width > 0 && width % TT_TILE == 0,
		   "args.rotary_dim > 0 && args.rotary_dim % TILE_WIDTH == 0",
		   "rotary_dim must be positive and tile-aligned");
	TT_REQUIRE(offset % TT_TILE == 0, "args.rotary_offset % TILE_WIDTH == 0",
		   "rotary_offset must be tile-aligned");
	TT_REQUIRE(width <= all && offset <= all - width,
		   "args.rotary_dim <= input_width && args.rotary_offset <= input_width - "
		   "args.rotary_dim",
		   "rotary region must fit within input head dim");
	TT_REQUIRE(width == tt_shape_last(&launch->inputs[COS]->spec.padded, 1),
		   "args.rotary_dim == cos_shape[-1]", "rotary_dim and cos head dim must match");
	return TTNN_OK;
}

static tt_status check_prefix(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec, *prefix;

	if (!launch->inputs[PREFIX])
		return TTNN_OK;
	prefix = &launch->inputs[PREFIX]->spec;
	TT_REQUIRE(prefix->layout == TTNN_TILE, "tensor.layout() == Layout::TILE",
		   "rotary_embedding_indexed does not currently support non-TILE layouts, but "
		   "concat_prefix has Layout::%s layout",
		   tt_enum_name(&tt_enum_layout, (int64_t)prefix->layout));
	TT_REQUIRE(prefix->dtype == in->dtype, "prefix.dtype() == input.dtype()",
		   "concat_prefix dtype must match input");
	TT_REQUIRE(prefix->shape.rank == 4, "prefix.logical_shape().rank() == 4",
		   "concat_prefix must be rank 4");
	for (uint32_t i = 0; i < 3; i++)
		TT_REQUIRE(prefix->shape.dim[i] == in->shape.dim[i],
			   "prefix.logical_shape()[dim] == input.logical_shape()[dim]",
			   "concat_prefix leading shape must match input");
	TT_REQUIRE(prefix->shape.dim[3] % TT_TILE == 0,
		   "prefix.logical_shape()[-1] % TILE_WIDTH == 0",
		   "concat_prefix width must be tile-aligned");
	return TTNN_OK;
}

/* The chip that is furthest ahead must find its rows in the tables. */
static tt_status check_rows(const struct tt_launch *launch)
{
	int64_t prior = launch->attrs[PRIOR].integer;
	uint64_t rows = launch->inputs[IN]->spec.padded.dim[2] * sub_of(launch).count;
	uint32_t table = launch->inputs[COS]->spec.padded.dim[2];
	struct tt_cache_share first = {tt_cache_share(launch, &launch->attrs[AXIS]).count, 0};

	TT_REQUIRE(prior % TT_TILE == 0, "args.kv_actual_global % TILE_HEIGHT == 0",
		   "kv_actual_global (%" PRId64 ") must be tile-aligned (a multiple of %u)", prior,
		   TT_TILE);
	TT_REQUIRE(tt_cache_first_row((uint64_t)prior, rows, &first) + rows <= table,
		   "max_update_idxt + chunk_local_t <= cos_shard_Ht",
		   "kv_actual_global (%" PRId64
		   " tok) + chunk would index past the per-device cos/sin shard (%u tiles)",
		   prior, table / TT_TILE);
	return TTNN_OK;
}

static tt_status indexed_validate(struct tt_launch *launch)
{
	int64_t axis = launch->attrs[AXIS].integer, sub = launch->attrs[SUB].integer;
	const struct ttnn_tensor_spec *number;

	TT_TRY(check_shapes(launch));
	TT_TRY(check_columns(launch));
	TT_REQUIRE(axis == 0 || axis == 1, "args.cluster_axis == 0 || args.cluster_axis == 1",
		   "cluster_axis (%" PRId64 ") must be 0 or 1", axis);
	TT_REQUIRE(launch->attrs[SUB].kind != TTNN_VALUE_INT || (sub < 2 && sub != axis),
		   "args.seq_subshard_axis.value() < 2 && args.seq_subshard_axis.value() != "
		   "args.cluster_axis",
		   "seq_subshard_axis must be a different mesh axis from cluster_axis");
	TT_TRY(check_prefix(launch));
	TT_REQUIRE(launch->inputs[IN]->spec.padded.dim[2] > 0, "chunk_local_t > 0",
		   "input chunk seq dim (%u) must be at least one tile",
		   launch->inputs[IN]->spec.padded.dim[2]);
	if (!launch->inputs[NUMBER])
		return check_rows(launch);
	number = &launch->inputs[NUMBER]->spec;
	TT_REQUIRE(number->dtype == TTNN_UINT32, "metadata.dtype() == DataType::UINT32",
		   "metadata must be uint32 (holds kv_actual_global, read on-device as uint32), "
		   "got DataType::%s",
		   tt_enum_name(&tt_enum_dtype, (int64_t)number->dtype));
	TT_REQUIRE(tt_shape_count(&number->shape) == 1, "metadata.logical_shape().volume() == 1",
		   "metadata must be a single-element tensor (kv_actual_global at element [0]), "
		   "got %" PRIu64 " elements",
		   tt_shape_count(&number->shape));
	return TTNN_OK;
}

/* ---- the program -------------------------------------------------------------------------------------------------- */

/*
 * All cores have all buffers; for few rows a core keeps the tables, for more it reads them again and again.
 * Columns that are only copied have a room of their own.
 */
static tt_status indexed_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_shape *in = &launch->inputs[IN]->spec.padded;
	uint64_t cores = ttnn_core_set_cores(launch->grid), down = in->dim[2] / TT_TILE;
	uint64_t batches = in->dim[0] < cores ? in->dim[0] : cores;
	uint64_t each = cores / (batches ? batches : 1), parts = each < down ? each : down;
	uint64_t rows = tt_div_up(down, parts ? parts : 1), width = tt_attr_u32(launch, WIDTH),
		 copied;
	bool again = rows * in->dim[1] > MOST_ROWS ||
		     launch->inputs[COS]->spec.padded.dim[1] == in->dim[1];
	uint64_t t_in = tt_page_in0(launch), t_cos = tt_page_in1(launch);

	copied = (in->dim[3] - width + prefix_width(launch)) / TT_TILE;
	width /= TT_TILE;
	rows = again ? 1 : rows;
	return TT_PLAN(plan, launch->grid,
		       TT_DFB_ROW(0, "input", .pages = 2 * width * rows, .page = t_in),
		       TT_DFB_ROW(1, "cos", .pages = 2 * width * rows, .page = t_cos),
		       TT_DFB_ROW(2, "sin", .pages = 2 * width * rows, .page = t_cos),
		       TT_DFB_ROW(3, "trans_mat", .pages = 1,
				  .page = tt_tensor_tile_bytes(launch->inputs[MATRIX])),
		       TT_DFB_ROW(4, "rotated_interm", .pages = width, .page = t_in),
		       TT_DFB_ROW(5, "cos_interm", .pages = width, .page = t_cos),
		       TT_DFB_ROW(6, "sin_interm", .pages = width, .page = t_cos),
		       TT_DFB_ROW(7, "out", .pages = 2 * width, .page = tt_page_out0(launch)),
		       TT_SCRATCH_ROW(8, "zero", .pages = copied ? copied : 1,
				      .page = tt_page_out0(launch)),
		       TT_SCRATCH_ROW(9, "meta", .pages = launch->inputs[NUMBER] ? 1 : 0,
				      .page = NUMBER_BYTES));
}

/* Columns of a tensor from one place to another's. */
static tt_status move_columns(struct tt_tensor *out, uint64_t to, struct tt_tensor *in,
			      uint64_t from, uint64_t count)
{
	struct ttnn_shape extent = in->spec.shape;
	int64_t start[TTNN_MAX_RANK] = {0}, goal[TTNN_MAX_RANK] = {0};

	extent.dim[3] = (uint32_t)count;
	start[3] = (int64_t)from;
	goal[3] = (int64_t)to;
	return tt_move_part(out, in,
			    &(struct tt_move_block){
				    .extent = extent.dim, .in_start = start, .out_start = goal});
}

/* A part of the columns: taken out, turned, and put among the others. */
static tt_status turn_part(const struct tt_launch *launch, struct tt_rotary_job *job)
{
	uint64_t width = tt_attr_u32(launch, WIDTH), offset = tt_attr_u32(launch, OFFSET);
	struct tt_tensor *in = job->in, *out = job->out, *part = NULL, *turned = NULL;
	struct ttnn_spec_args args = {.shape = in->spec.shape, .dtype = TTNN_FLOAT32};
	uint64_t before = prefix_width(launch);
	struct ttnn_tensor_spec spec;
	tt_status status;

	args.shape.dim[3] = (uint32_t)width;
	TT_TRY(ttnn_tensor_spec_make(&spec, &args));
	status = ttnn_tensor_new(&part, &spec);
	if (status == TTNN_OK)
		status = ttnn_tensor_new(&turned, &spec);
	if (status == TTNN_OK)
		status = move_columns(part, 0, in, offset, width);
	job->in = part;
	job->out = turned;
	if (status == TTNN_OK)
		status = tt_backend_get()->rotary(job);
	if (status == TTNN_OK && before)
		status = move_columns(out, 0, launch->inputs[PREFIX], 0, before);
	if (status == TTNN_OK)
		status = move_columns(out, before, in, 0, in->spec.shape.dim[3]);
	if (status == TTNN_OK)
		status = move_columns(out, before + offset, turned, 0, width);
	ttnn_tensor_unref(part);
	ttnn_tensor_unref(turned);
	return status;
}

static tt_status indexed_kernel(struct tt_launch *launch)
{
	const struct ttnn_shape *in = &launch->inputs[IN]->spec.shape;
	const struct ttnn_shape *cos = &launch->inputs[COS]->spec.shape;
	struct tt_cache_share sp = tt_cache_share(launch, &launch->attrs[AXIS]),
			      sub = sub_of(launch);
	uint64_t rows = launch->inputs[IN]->spec.padded.dim[2], count, start;
	uint64_t prior = (uint64_t)launch->attrs[PRIOR].integer;
	struct tt_rotary_job job = {.out = launch->outputs[0],
				    .in = launch->inputs[IN],
				    .cos = launch->inputs[COS],
				    .sin = launch->inputs[SIN],
				    .matrix = launch->inputs[MATRIX],
				    .kind = TT_ROTARY_MATRIX};

	if (launch->inputs[NUMBER]) {
		double *value;

		TT_TRY(tt_values_of(&value, &count, launch, NUMBER));
		prior = (uint64_t)value[0] / TT_TILE * TT_TILE;
	}
	start = tt_cache_first_row(prior, rows * sub.count, &sp) + sub.own * rows;
	TT_NEED(start + in->dim[2] <= cos->dim[2] && cos->dim[2] > 1,
		"rows from %" PRIu64 " on are not in tables of %u", start, cos->dim[2]);
	for (uint32_t i = 0; i < 2; i++)
		TT_NEED(cos->dim[i] == 1 || cos->dim[i] == in->dim[i],
			"tables for %u are not for %u", cos->dim[i], in->dim[i]);
	job.start = (uint32_t)start;
	if (prefix_width(launch) || launch->attrs[WIDTH].integer != in->dim[3])
		return turn_part(launch, &job);
	return tt_backend_get()->rotary(&job);
}

static const struct tt_prog program = {
	.device_op = "RotaryEmbeddingIndexedDeviceOperation",
	.prim = "ttnn::prim::rotary_embedding_indexed",
	.attrs = &schema,
	.infer = indexed_infer,
	.validate = indexed_validate,
	TT_FACTORY("ttnn::operations::experimental::deepseek_prefill::rotary_embedding_indexed::"
		   "RotaryEmbeddingIndexedDeviceOperation::MeshWorkloadFactory",
		   indexed_memory),
	TT_KERNEL(indexed_kernel),
	.per_chip = true,
};

static tt_status indexed_expand(struct tt_call *call)
{
	static const struct tt_compute_usual usual = {.fidelity = TT_HIFI4, .approx = true};
	struct tt_tensor *in = tt_call_tensor(call, "input");
	bool held = tt_call_arg(call, "kv_actual_global")->kind == TTNN_VALUE_TENSOR;
	bool part = tt_call_arg(call, "rotary_dim")->kind == TTNN_VALUE_INT;

	return TT_LAUNCH_RETURN(
		call, &program,
		TT_INPUTS(in, tt_call_tensor(call, "cos"), tt_call_tensor(call, "sin"),
			  tt_call_tensor(call, "trans_mat"),
			  held ? tt_call_tensor(call, "kv_actual_global") : NULL,
			  tt_call_tensor(call, "concat_prefix")),
		TT_BIND(call, schema, [PART] = ttnn_v_bool(part),
			[PRIOR] = ttnn_v_int(held ? 0 : tt_call_int(call, "kv_actual_global", 0)),
			[WIDTH] = ttnn_v_int(tt_call_int(call, "rotary_dim",
							 tt_shape_last(&in->spec.padded, 1))),
			[MEMORY] = tt_value_memory_or_like(call, in),
			[COMPUTE] = tt_compute_config(
				call, tt_call_arg(call, "compute_kernel_config"), &usual)));
}

/* ---- golden ---------------------------------------------------------------------------------------------------------- */

/* A row by its matrix, 32 columns at a time. */
static double turned(const struct tt_array *in, uint64_t row, uint64_t column,
		     const struct tt_array *matrix)
{
	double sum = 0;

	for (uint64_t k = 0; k < 32; k++)
		sum += *tt_at(in, row + column / 32 * 32 + k) *
		       *tt_at(matrix, k * 32 + column % 32);
	return sum;
}

static tt_status golden(struct tt_golden *golden)
{
	const struct tt_array *in = tt_golden_in(golden, "input"),
			      *cos = tt_golden_in(golden, "cos");
	const struct tt_array *sin = tt_golden_in(golden, "sin");
	const struct tt_array *matrix = tt_golden_in(golden, "trans_mat");
	const struct tt_array *prefix = tt_golden_in(golden, "concat_prefix");
	const struct tt_array *held = tt_golden_in(golden, "kv_actual_global");
	uint64_t first = held ? (uint64_t)*tt_at(held, 0)
			      : (uint64_t)tt_call_int(&golden->call, "kv_actual_global", 0);
	uint64_t before = prefix ? tt_shape_last(&prefix->shape, 1) : 0, offset, width;
	struct tt_array *out;
	struct ttnn_shape shape;

	TT_GOLDEN_NEED(in && cos && sin && matrix && in->shape.rank == 4 && cos->shape.rank == 4 &&
		       matrix->count == 1024);
	shape = in->shape;
	shape.dim[3] += (uint32_t)before;
	offset = (uint64_t)tt_call_int(&golden->call, "rotary_offset", 0);
	width = (uint64_t)tt_call_int(&golden->call, "rotary_dim", in->shape.dim[3]);
	out = tt_golden_out(golden, &shape, in->dtype);
	TT_GOLDEN_NEED(out && width == cos->shape.dim[3] && sin->count == cos->count);
	for (uint64_t i = 0; i < out->count; i++) {
		uint64_t row = i / shape.dim[3], c = i % shape.dim[3] - before;
		uint64_t head = row / shape.dim[2] % shape.dim[1], at;

		if (i % shape.dim[3] < before) {
			*tt_at(out, i) = *tt_at(prefix, row * before + i % shape.dim[3]);
			continue;
		}
		*tt_at(out, i) = *tt_at(in, row * in->shape.dim[3] + c);
		if (c < offset || c >= offset + width)
			continue;
		at = (head % cos->shape.dim[1] * cos->shape.dim[2] + first + row % shape.dim[2]) *
			     width +
		     c - offset;
		TT_GOLDEN_NEED(at < cos->count);
		*tt_at(out, i) = *tt_at(out, i) * *tt_at(cos, at) +
				 turned(in, row * in->shape.dim[3], c, matrix) * *tt_at(sin, at);
	}
	return TTNN_OK;
}

#define REST                                                                                       \
	"cluster_axis: size, memory_config: MemoryConfig? = None, compute_kernel_config: "         \
	"ComputeConfig? = None, seq_subshard_axis: size? = None, rotary_dim: size? = None, "       \
	"rotary_offset: size = 0, concat_prefix: Tensor? = None"
static const struct tt_prog *const programs[] = {&program, NULL};
static const struct tt_op ops[] = {
	{.name = "ttnn.experimental.deepseek_prefill.rotary_embedding_indexed",
	 .family = "rotary_indexed",
	 .doc = "Rows of a chunk turned by the angles of their positions.",
	 .sigs = {"input: Tensor, cos: Tensor, sin: Tensor, trans_mat: Tensor, kv_actual_global: "
		  "size, " REST,
		  "input: Tensor, cos: Tensor, sin: Tensor, trans_mat: Tensor, kv_actual_global: "
		  "Tensor, " REST},
	 .expand = indexed_expand,
	 .golden = golden,
	 .pcc = 0.999,
	 .programs = programs},
};

const struct tt_op_family tt_family_rotary_indexed = {"rotary_indexed", ops, TT_COUNT(ops)};
