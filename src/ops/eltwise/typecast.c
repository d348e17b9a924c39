/*
 * typecast.c: the same numbers in another type.
 *
 * Models TypecastDeviceOperation of ttnn 0.81 (copy/typecast/device): refusals, memory, cores,
 * and the choice of a factory (typecast_choose()): shards of tiles that are alike on both sides
 * are cast where they are; else pages are, tiles by all cores or by a sub-grid, rows in pieces
 * that fit into L1. What does not fit into whole numbers ends as in ckernel_sfpu_typecast.h.
 */
#include <math.h>

#include "backend/backend.h"
#include "golden/golden.h"
#include "ops/eltwise/eltwise.h"
#include "ops/movement/movement.h"
#include "ops/usual.h"

#define ATTRS(X)                                                                                   \
	X(FROM, "input_dtype")                                                                     \
	X(TO, "output_dtype")                                                                      \
	X(MEMORY, "output_memory_config")                                                          \
	X(FP32_ACC, "fp32_dest_acc_en")                                                            \
	X(KEEP_FP32, "preserve_fp32_precision")                                                    \
	X(BFP8_PRECISE, "bfp8_pack_precise")                                                       \
	X(SUB_GRID, "sub_core_grids", .text = TT_TEXT_FIXED, .fixed = "<CoreRangeSet>")
TT_ATTRS(schema, "TypecastParams", ATTRS);

/* ---- specs and refusals ------------------------------------------------------------------------- */

/* All but dtype and memory stays. */
static tt_status typecast_infer(struct tt_launch *launch)
{
	struct ttnn_spec_args args = tt_tensor_spec_args(&launch->inputs[0]->spec);

	if (tt_infer_given(launch, 0))
		return TTNN_OK;
	args.dtype = (enum ttnn_dtype)launch->attrs[TO].integer;
	args.memory = *launch->attrs[MEMORY].memory;
	return ttnn_tensor_spec_make(&launch->specs[0], &args);
}

static const char *layout_name(enum ttnn_memory_layout layout)
{
	return tt_enum_name(&tt_enum_memory_layout, (int64_t)layout);
}

/* The memory layout cannot change with the dtype. */
static tt_status typecast_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_tensor_spec *out = &launch->outputs[0]->spec;

	TT_REQUIRE(in->layout != TTNN_ROW_MAJOR || !tt_value_given(&launch->attrs[SUB_GRID]),
		   "args.sub_core_grids.has_value() == false",
		   "Typecast operation does not support sub_core_grids when input tensor is in "
		   "Row-Major layout.");
	TT_REQUIRE(in->memory.layout == out->memory.layout,
		   "input_tensor_memory_layout == out_memory_config.memory_layout()",
		   "Typecast operation requires Input and Output memory layout to match. Input "
		   "layout: TensorMemoryLayout::%s, Output layout: TensorMemoryLayout::%s",
		   layout_name(in->memory.layout), layout_name(out->memory.layout));
	if (!ttnn_shape_equal(&in->shape, &out->shape))
		return tt_fail_shapes(
			TTNN_INVALID,
			"preallocated_output_tensor.value().logical_shape() == "
			"input_tensor.logical_shape()",
			"Typecast operation requires input and preallocated output logical "
			"shapes to match. Input shape: %s, Preallocated output shape: %s",
			&in->shape, &out->shape);
	TT_REQUIRE(in->layout == out->layout,
		   "preallocated_output_tensor.value().layout() == input_tensor.layout()",
		   "Typecast operation requires input and output layouts to match. Input layout: "
		   "Layout::%s, Output layout: Layout::%s",
		   tt_enum_name(&tt_enum_layout, in->layout),
		   tt_enum_name(&tt_enum_layout, out->layout));
	return TTNN_OK;
}

/* ---- program memory ------------------------------------------------------------------------------- */

/* In upstream's order, which traces show. */
enum { PAGES, SHARDS, SUBGRID, ROWS };

struct work {
	const ttnn_core_set *cores;
	uint64_t pages;
	bool in_place; /* on the shards where they lie */
};

/* Shards are worked on where they lie when both sides are in L1 and tiles of the same size. */
static bool same_shards(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_tensor_spec *out = &launch->outputs[0]->spec;

	return in->memory.has_shard && out->memory.has_shard && in->memory.buffer != TTNN_DRAM &&
	       in->memory.layout != TTNN_ND_SHARDED && out->memory.buffer != TTNN_DRAM &&
	       tt_tile_bytes_of(in->dtype) == tt_tile_bytes_of(out->dtype) &&
	       !tt_value_given(&launch->attrs[SUB_GRID]);
}

/* Each core casts its own shard. */
static tt_status choose_shards(struct work *work, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	size_t cores = ttnn_core_set_cores(in->memory.shard.grid);
	size_t out_cores = ttnn_core_set_cores(launch->outputs[0]->spec.memory.shard.grid);

	TT_REQUIRE(cores == out_cores, "out_shard_spec.num_cores() == ncores",
		   "Output tensor should have same number of cores %zu as input tensor %zu",
		   out_cores, cores);
	work->cores = in->memory.shard.grid;
	work->pages = tt_shard_tiles(in);
	work->in_place = true;
	return TTNN_OK;
}

/* Else a page at a time, spread over columns of cores; rows and subgrids over rows of them. */
static tt_status choose_pages(uint32_t *out, struct work *work, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	bool sharded = tt_memory_config_is_sharded(&in->memory);
	struct tt_work_split split;

	*out = PAGES;
	if (!sharded && in->layout == TTNN_ROW_MAJOR)
		*out = ROWS;
	else if (!sharded && tt_value_given(&launch->attrs[SUB_GRID]))
		*out = SUBGRID;
	if (*out == SUBGRID)
		TT_TRY(tt_split_work_in(&split, launch->attrs[SUB_GRID].core_set, in->pages,
					TTNN_ORIENT_ROW_MAJOR));
	else
		TT_TRY(tt_split_work(&split, launch->device->info.compute_grid, in->pages,
				     *out == ROWS ? TTNN_ORIENT_ROW_MAJOR : TTNN_ORIENT_COL_MAJOR));
	work->cores = split.all;
	work->pages = 2;
	return TTNN_OK;
}

static tt_status typecast_choose(uint32_t *out, struct tt_launch *launch)
{
	struct work *work = tt_work_new(launch, sizeof(*work));

	if (!work)
		return TTNN_NOMEM;
	*out = SHARDS;
	return same_shards(launch) ? choose_shards(work, launch) : choose_pages(out, work, launch);
}

/* Shards are buffers, or two pages each way. */
static tt_status typecast_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct work *work = launch->work;

	return TT_PLAN(plan, work->cores,
		       TT_DFB_ROW(0, "cb_src0", .pages = work->pages, .page = tt_page_in0(launch),
				  .backing = work->in_place ? launch->inputs[0] : NULL),
		       TT_DFB_ROW(2, "cb_output", .pages = work->pages,
				  .page = tt_page_out0(launch),
				  .backing = work->in_place ? launch->outputs[0] : NULL));
}

#define FACTORY(name_)                                                                             \
	{                                                                                          \
		.name = "ttnn::prim::Typecast" name_ "ProgramFactory", .memory = typecast_memory   \
	}
static const struct tt_factory factories[] = {
	[PAGES] = FACTORY(""),
	[SHARDS] = FACTORY("Sharded"),
	[SUBGRID] = FACTORY("Subgrid"),
	[ROWS] = FACTORY("RowMajorChunked"),
};

/* ---- running ---------------------------------------------------------------------------------------- */

static tt_status typecast_kernel(struct tt_launch *launch)
{
	struct tt_tensor *out = launch->outputs[0], *in = launch->inputs[0];
	const struct tt_unary_step step = {
		.fn = TT_UNARY_TYPECAST,
		.params = {(double)in->spec.dtype, (double)out->spec.dtype},
		.count = 2,
	};
	bool fits = !tt_dtype_is_integer(out->spec.dtype) ||
		    (tt_dtype_is_integer(in->spec.dtype) && out->spec.dtype != TTNN_UINT16);

	return tt_backend_get()->map(&(struct tt_map_job){
		.out = out, .arity = 1, .in = {in}, .post = &step, .post_count = !fits});
}

static const struct tt_prog program = {
	.device_op = "TypecastDeviceOperation",
	.prim = "ttnn::prim::typecast",
	.attrs = &schema,
	.infer = typecast_infer,
	.validate = typecast_validate,
	TT_FACTORIES(factories),
	.choose = typecast_choose,
	TT_KERNEL(typecast_kernel),
};

/* ---- operations --------------------------------------------------------------------------------------- */

/* Recorded as to_dtype. */
static tt_status on_host(struct tt_call *call, struct tt_tensor *input, enum ttnn_dtype dtype)
{
	const struct ttnn_value args[] = {ttnn_v_tensor(input), ttnn_v_dtype(dtype)};
	struct tt_tensor *out = NULL;
	tt_status status;

	tt_host_begin(call, "tt::tt_metal::to_dtype", args, 2);
	status = ttnn_tensor_to_dtype(&out, input, dtype);
	tt_host_end_as_is(call, status == TTNN_OK ? out : NULL, status);
	TT_TRY(status);
	tt_call_return(call, out);
	return TTNN_OK;
}

/*
 * Numbers of four bytes go through registers of float32; KEEP_FP32 keeps float32 whole on its way
 * in.
 */
static tt_status typecast_launch(struct tt_call *call, struct tt_tensor *input,
				 struct tt_tensor *output, enum ttnn_dtype to)
{
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");
	const ttnn_core_set *grid = tt_call_core_set(call, "sub_core_grids");
	enum ttnn_dtype from = input->spec.dtype;
	const struct ttnn_memory_config *own = &input->spec.memory;
	struct ttnn_value attrs[schema_count];

	attrs[FROM] = ttnn_v_dtype(from);
	attrs[TO] = ttnn_v_dtype(to);
	attrs[MEMORY] = ttnn_v_memory(memory ? memory : output ? &output->spec.memory : own);
	attrs[FP32_ACC] = ttnn_v_bool(tt_dtype_is_wide(from) || tt_dtype_is_wide(to));
	attrs[KEEP_FP32] = ttnn_v_bool(from == TTNN_FLOAT32 || from == TTNN_UINT8 ||
				       (to == TTNN_UINT8 && !tt_dtype_is_wide_integer(from)));
	attrs[BFP8_PRECISE] = ttnn_v_bool(to == TTNN_BFLOAT8_B);
	attrs[SUB_GRID] = ttnn_v_core_set(grid);
	return TT_LAUNCH_RETURN(call, &program, .attrs = attrs, TT_INPUTS(input),
				TT_OUTPUTS(output));
}

static struct tt_tensor *output_of(const struct tt_call *call)
{
	struct tt_tensor *output = tt_call_tensor(call, "output_tensor");

	return output ? output : tt_call_tensor(call, "optional_output_tensor");
}

static enum ttnn_dtype target(const struct tt_call *call, enum ttnn_dtype fallback)
{
	return tt_call_dtype(call, "dtype", tt_call_dtype(call, "output_dtype", fallback));
}

/* On the host it is another scope and no program. */
static tt_status typecast_expand(struct tt_call *call)
{
	struct tt_tensor *input = tt_call_tensor(call, "input_tensor");
	struct tt_tensor *output = output_of(call);
	enum ttnn_dtype from = tt_call_dtype(call, "input_dtype", input->spec.dtype);
	enum ttnn_dtype to = target(call, input->spec.dtype);

	TT_REQUIRE(from == input->spec.dtype, "tt_input_dtype == input_tensor.dtype()",
		   "input dtype and input tensor's dtype provided should match");
	TT_REQUIRE(!output || output->spec.dtype == to,
		   "output_dtype == optional_output_tensor.value().dtype()",
		   "If both output dtype and output tensor provided dtype should match");
	if (!tt_tensor_device(input))
		return on_host(call, input, to);
	return typecast_launch(call, input, output, to);
}

/* A copy into another type, which casts on the way out. */
static tt_status experimental_expand(struct tt_call *call)
{
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");
	struct tt_shard_want want = {.in = tt_call_tensor(call, "input_tensor"),
				     .out = tt_call_tensor(call, "optional_output_tensor")};
	struct tt_tensor *out;

	want.memory = memory ? memory : &want.in->spec.memory;
	want.dtype = target(call, want.in->spec.dtype);
	return tt_call_give(call, tt_copy_launch(&out, call, &want), &out);
}

/*
 * As the chip casts: floats are cut, to uint16 rounded, and held inside of the type; bytes and whole
 * numbers wrap, but for uint16, which holds those of 32 bits.
 */
static double cast_value(enum ttnn_dtype from, enum ttnn_dtype to, double value)
{
	const struct tt_dtype *row = tt_dtype_find(to);
	double range = ldexp(1, (int)row->bytes * 8);
	double low = row->kind == TT_DTYPE_SIGNED ? -range / 2 : 0, high = low + range - 1;

	if (!tt_dtype_is_integer(to))
		return value;
	if (to == TTNN_UINT8 && !tt_dtype_is_integer(from))
		return fabs(value) < 0x1p31 ? tt_golden_fit(to, value) : 0;
	if (tt_dtype_is_integer(from) && !(to == TTNN_UINT16 && tt_dtype_is_wide_integer(from)))
		return tt_golden_fit(to, value);
	if (isnan(value))
		return signbit(value) ? low : high;
	value = to == TTNN_UINT16 ? round(value) : trunc(value);
	return value < low ? low : value > high ? high : value;
}

/* What is copied into another type is cut and wraps. */
static double copied_value(enum ttnn_dtype from, enum ttnn_dtype to, double value)
{
	(void)from;
	return tt_golden_fit(to, value);
}

static tt_status cast_golden(struct tt_golden *golden,
			     double (*cast)(enum ttnn_dtype from, enum ttnn_dtype to, double value))
{
	const struct tt_array *in = tt_golden_in(golden, "input_tensor");
	struct tt_array *out =
		in ? tt_golden_out(golden, &in->shape, target(&golden->call, in->dtype)) : NULL;

	TT_GOLDEN_NEED(out);
	for (uint64_t i = 0; i < in->count; i++)
		*tt_at(out, i) = cast(in->dtype, out->dtype, *tt_at(in, i));
	return TTNN_OK;
}

static tt_status experimental_golden(struct tt_golden *golden)
{
	return cast_golden(golden, copied_value);
}

static tt_status typecast_golden(struct tt_golden *golden)
{
	return cast_golden(golden, cast_value);
}

#define TAIL                                                                                       \
	"memory_config: MemoryConfig? = None, output_tensor: Tensor? = None, "                     \
	"sub_core_grids: CoreRangeSet? = None"
static const struct tt_op ops[] = {
	{.name = "ttnn.experimental.typecast",
	 .doc = "The same numbers in another type.",
	 .sigs = {"input_tensor: Tensor, dtype: DataType, memory_config: MemoryConfig? = None, "
		  "optional_output_tensor: Tensor? = None"},
	 .expand = experimental_expand,
	 .golden = experimental_golden,
	 .pcc = 0.99},
	{.name = "ttnn.typecast",
	 .doc = "The same numbers in another type; from float to integer they are cut.",
	 .sigs = {"input_tensor: Tensor, dtype: DataType, *, " TAIL,
		  "input_tensor: Tensor, input_dtype: DataType, output_dtype: DataType, *, " TAIL},
	 .expand = typecast_expand,
	 .golden = typecast_golden,
	 .pcc = 0.99},
};

const struct tt_op_family tt_family_typecast = {"typecast", ops, TT_COUNT(ops)};
