/*
 * prod.c: products over a dimension, or over all. The program works along one of the first two
 * of four dimensions; the others are brought there. The product of everything goes through the
 * host.
 *
 * Models ProdNcDeviceOperation and ProdAllDeviceOperation of ttnn 0.81 (reduction/prod/device),
 * each with its one factory: refusals, memory, cores. ProdAll has one core multiply all tiles
 * into one. Not modelled: the order of factors.
 */
#include <inttypes.h>

#include "backend/backend.h"
#include "golden/golden_reduction.h"
#include "ops/movement/movement.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/reduce_program.h"
#include "tensor/core.h"
#include "tensor/text.h"

#define RANK 4

/* ---- one of the first dimensions ------------------------------------------------------------------------ */

#define NC_ATTRS(X) X(NC_DIM, "dim")
TT_ATTRS(nc_schema, "ProdNcParams", NC_ATTRS);

#define IS(type) "input.dtype() == tt::tt_metal::DataType::" type

/* What the program multiplies. */
static tt_status nc_validate(struct tt_launch *launch)
{
	enum ttnn_dtype dtype = launch->inputs[0]->spec.dtype;

	TT_REQUIRE(dtype == TTNN_BFLOAT16 || dtype == TTNN_FLOAT32 || dtype == TTNN_BFLOAT8_B,
		   IS("BFLOAT16") " || " IS("FLOAT32") " || " IS("BFLOAT8_B"),
		   "Error - unsupported data type for prod, expected BFLOAT16, FLOAT32 or "
		   "BFLOAT8_B but got DataType::%s.",
		   tt_enum_name(&tt_enum_dtype, dtype));
	return TTNN_OK;
}

static tt_status prod_memory(struct tt_plan *plan, const struct tt_launch *launch, uint64_t units)
{
	const ttnn_core_set *cores;

	TT_TRY(tt_cores_for(&cores, launch, units));
	return TT_PLAN(plan, cores, TT_DFB_ROW(0, "input", .pages = 2, .page = tt_page_in0(launch)),
		       TT_DFB_ROW(1, "output", .pages = 2, .page = tt_page_out0(launch)));
}

/* Shards of the result lie on cores that work. */
static tt_status check_shards(const struct tt_launch *launch)
{
	const struct tt_tensor *result = launch->outputs[0];
	const struct ttnn_memory_config *memory = &result->spec.memory;
	const ttnn_core_set *grid = memory->has_shard ? memory->shard.grid : memory->nd_shard.grid;
	struct tt_str texts[2] = {{0}};
	const ttnn_core_set *cores;

	TT_TRY(tt_cores_for(&cores, launch, result->spec.pages));
	if (!tt_tensor_is_sharded(result) || tt_core_set_includes(cores, grid))
		return TTNN_OK;
	tt_text_core_set(&texts[0], grid, TTNN_DIALECT_TT_METAL);
	tt_text_core_set(&texts[1], cores, TTNN_DIALECT_TT_METAL);
	tt_fail_cond(TTNN_INVALID,
		     memory->has_shard ? "all_cores.contains(shard_grid)"
				       : "all_cores.contains(nd_shard_grid)",
		     "Prod_nc output %sshard grid %s must be contained in program core grid %s",
		     memory->has_shard ? "" : "ND ", tt_str_text(&texts[0]),
		     tt_str_text(&texts[1]));
	tt_str_deinit(&texts[0]);
	tt_str_deinit(&texts[1]);
	return TTNN_INVALID;
}

static tt_status nc_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	TT_TRY(check_shards(launch));
	return prod_memory(plan, launch, launch->outputs[0]->spec.pages);
}

/* Along one of the first two of four dimensions. */
static tt_status nc_kernel(struct tt_launch *launch)
{
	struct tt_reduce_job job = {.out = launch->outputs[0],
				    .in = launch->inputs[0],
				    .kind = TT_REDUCE_PROD,
				    .dims = 1u << launch->attrs[NC_DIM].integer,
				    .scale = 1};

	return tt_backend_get()->reduce(&job);
}

static const struct tt_prog prog_nc = {
	.device_op = "ProdNcDeviceOperation",
	.prim = "ttnn::prim::prod_nc",
	.attrs = &nc_schema,
	.validate = nc_validate,
	TT_FACTORY("ttnn::prim::ProdNcDeviceOperation::ProdNcProgramFactory", nc_memory),
	TT_KERNEL(nc_kernel),
};

static tt_status launch_nc(struct tt_call *call, struct tt_tensor *out, struct tt_tensor *in,
			   uint32_t dim)
{
	struct tt_tensor *same;

	TT_TRY(TT_LAUNCH(&same, call, &prog_nc, TT_INPUTS(in), TT_OUTPUTS(out),
			 .attrs = (struct ttnn_value[]){[NC_DIM] = ttnn_v_int(dim)}));
	ttnn_tensor_unref(same);
	return TTNN_OK;
}

/* ---- everything ------------------------------------------------------------------------------------------- */

#define ALL_ATTRS(X) X(ALL_MEMORY, "output_mem_config")
TT_ATTRS(all_schema, "ProdAllParams", ALL_ATTRS);

#define ALL_WIDTH 1024

/* A row as long as a tile, of which the first is the product. */
static tt_status all_infer(struct tt_launch *launch)
{
	enum ttnn_dtype dtype = launch->inputs[0]->spec.dtype;

	return tt_infer_one(launch, &(struct ttnn_shape){4, {1, 1, 1, ALL_WIDTH}},
			    tt_dtype_is_block(dtype) ? TTNN_FLOAT32 : dtype, TTNN_TILE);
}

/* Block floats of 4 bits too. */
static tt_status all_validate(struct tt_launch *launch)
{
	enum ttnn_dtype dtype = launch->inputs[0]->spec.dtype;

	TT_REQUIRE(
		dtype == TTNN_BFLOAT16 || dtype == TTNN_FLOAT32 || tt_dtype_is_block(dtype),
		IS("BFLOAT16") " || " IS("FLOAT32") " || " IS("BFLOAT8_B") " || " IS("BFLOAT4_B"),
		"Error - unsupported data type for prod, expected BFLOAT16, FLOAT32, BFLOAT8_B "
		"or BFLOAT4_B but got DataType::%s.",
		tt_enum_name(&tt_enum_dtype, dtype));
	return TTNN_OK;
}

static tt_status all_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	return prod_memory(plan, launch, 1);
}

/* The product is the first element of a row of ones. */
static tt_status all_kernel(struct tt_launch *launch)
{
	struct tt_tensor *out = launch->outputs[0], *one;
	struct ttnn_shape shape = {4, {1, 1, 1, 1}};
	struct tt_reduce_job job = {.in = launch->inputs[0],
				    .kind = TT_REDUCE_PROD,
				    .dims = (1u << launch->inputs[0]->spec.shape.rank) - 1,
				    .scale = 1};

	TT_TRY(tt_scratch_f32(&one, &shape));
	job.out = one;
	TT_TRY(tt_backend_get()->reduce(&job));
	TT_TRY(tt_backend_get()->fill(out, 1, TT_FILL_ALL));
	return tt_move_part(out, one, &(struct tt_move_block){.extent = shape.dim});
}

static const struct tt_prog prog_all = {
	.device_op = "ProdAllDeviceOperation",
	.prim = "ttnn::prim::prod_all",
	.attrs = &all_schema,
	.infer = all_infer,
	.validate = all_validate,
	TT_FACTORY("ttnn::prim::ProdAllDeviceOperation::ProdAllProgramFactory", all_memory),
	TT_KERNEL(all_kernel),
};

/* ---- through the host --------------------------------------------------------------------------------------- */

/* A host tensor of one number, without dimensions; without the number in a dry run. */
static tt_status make_scalar(struct tt_tensor **out, enum ttnn_dtype dtype, enum ttnn_layout layout,
			     const double *value)
{
	struct ttnn_spec_args args = {
		.dtype = dtype, .layout = layout, .alignment = TT_SHAPE(32, 32)};
	struct ttnn_tensor_spec spec;
	float number;

	TT_TRY(ttnn_tensor_spec_make(&spec, &args));
	if (!value)
		return tt_host_hollow(out, &spec);
	number = (float)*value;
	return ttnn_tensor_from_data(out, &number, TTNN_FLOAT32, &spec, 0);
}

/* Recorded as Tensor::to_layout, as upstream's host step. */
static tt_status tilize_scalar(struct tt_tensor **out, struct tt_call *call, enum ttnn_dtype dtype,
			       const double *value)
{
	struct tt_tensor *row;
	struct ttnn_value args[2];
	tt_status status;

	TT_TRY(make_scalar(&row, dtype, TTNN_ROW_MAJOR, value));
	args[0] = ttnn_v_tensor(row);
	args[1] = ttnn_v_layout(TTNN_TILE);
	tt_host_begin(call, "Tensor::to_layout", args, TT_COUNT(args));
	status = make_scalar(out, dtype, TTNN_TILE, value);
	tt_host_end(call, status == TTNN_OK ? *out : NULL, status);
	ttnn_tensor_unref(row);
	return status;
}

/* The first number of the program's result, as a tensor of its own on the device. */
static tt_status first_number(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *row,
			      const struct ttnn_memory_config *memory)
{
	bool dry = tt_run_mode() != TTNN_RUN_NORMAL;
	struct tt_tensor *host, *scalar;
	double *numbers = tt_arena_calloc(call->arena, ALL_WIDTH, sizeof(*numbers));
	tt_status status;

	TT_NEED_MEMORY(numbers);
	TT_TRY(tt_host_from_device(&host, call, row));
	status = dry ? TTNN_OK : tt_tensor_numbers(numbers, ALL_WIDTH, host);
	ttnn_tensor_unref(host);
	TT_TRY(status);
	TT_TRY(tilize_scalar(&scalar, call, row->spec.dtype, dry ? NULL : numbers));
	status = tt_host_to_device(out, call, scalar, tt_tensor_device(row), memory);
	ttnn_tensor_unref(scalar);
	return status;
}

/* Read back to the host, and sent to the device again as one number. */
static tt_status product_of_all(struct tt_call *call, struct tt_tensor *in, bool keep,
				const struct ttnn_memory_config *memory)
{
	struct ttnn_shape ones = {in->spec.shape.rank, {0}};
	struct tt_tensor *row, *out, *next;

	TT_TRY(TT_LAUNCH(&row, call, &prog_all, TT_INPUTS(in),
			 .attrs = (struct ttnn_value[]){[ALL_MEMORY] = ttnn_v_memory(memory)}));
	TT_TRY(tt_call_drop_after(call, first_number(&out, call, row, memory), row));
	if (out->spec.dtype != in->spec.dtype) {
		tt_call_own(call, out);
		TT_TRY(tt_call_cast(&next, call, out, in->spec.dtype));
		tt_call_overwrite(call, out);
		out = next;
	}
	for (uint32_t d = 0; d < ones.rank; d++)
		ones.dim[d] = 1;
	if (keep) {
		tt_call_own(call, out);
		TT_TRY(tt_call_reshape(&next, call,
				       &(struct tt_reshape_args){.in = out, .shape = &ones}));
		out = next;
	}
	tt_call_return(call, out);
	return TTNN_OK;
}

/* ---- a dimension ---------------------------------------------------------------------------------------------- */

struct request {
	struct tt_call *call;
	const struct ttnn_memory_config *memory;
};

/* A tensor for the result, made on the host. */
static tt_status make_result(struct tt_tensor **out, const struct request *request,
			     struct tt_tensor *in, uint32_t dim)
{
	struct ttnn_shape shape = in->spec.shape;
	struct ttnn_value device = {.kind = TTNN_VALUE_DEVICE, .device = tt_tensor_device(in)};
	struct ttnn_arg args[] = {{"shape", ttnn_v_shape(&shape)},
				  {"dtype", ttnn_v_dtype(in->spec.dtype)},
				  {"layout", ttnn_v_layout(TTNN_TILE)},
				  {"device", device},
				  {"memory_config", ttnn_v_memory(request->memory)}};

	shape.dim[dim] = 1;
	return tt_call_op(out, request->call, "ttnn.zeros", args, TT_COUNT(args));
}

/* The result is made first and written to. */
static tt_status product_nc(struct tt_tensor **out, const struct request *request,
			    struct tt_tensor *in, uint32_t dim)
{
	tt_status status;

	TT_TRY(make_result(out, request, in, dim));
	status = launch_nc(request->call, *out, in, dim);
	if (status != TTNN_OK)
		tt_call_drop(request->call, *out);
	return status;
}

static tt_status permute(struct tt_tensor **out, const struct request *request,
			 struct tt_tensor *in, const uint32_t *dims)
{
	return tt_call_permute(
		out, request->call,
		&(struct tt_permute_args){.in = in, .dims = dims, .memory = request->memory});
}

/* What is given up when the result has its shape; each (optional). */
struct spare {
	struct tt_tensor *product, *back;
};

static void give_up(const struct request *request, const struct spare *spare)
{
	if (spare->product)
		tt_call_overwrite(request->call, spare->product);
	if (spare->back)
		tt_call_drop(request->call, spare->back);
}

/* Height or width: in front first, and back to their place. */
static tt_status product_hw(struct tt_tensor **out, struct spare *spare,
			    const struct request *request, struct tt_tensor *in, bool width)
{
	static const uint32_t front_h[] = {2, 0, 1, 3}, front_w[] = {3, 0, 1, 2};
	static const uint32_t again[] = {1, 2, 0, 3}, last_two[] = {2, 3};
	struct tt_tensor *front, *product, *placed;
	tt_status status;

	TT_TRY(permute(&front, request, in, width ? front_w : front_h));
	tt_call_own(request->call, front);
	TT_TRY(product_nc(&product, request, front, 0));
	spare->product = product;
	status = permute(&placed, request, product, again);
	if (status == TTNN_OK && width) {
		spare->back = placed;
		status = tt_call_transpose(out, request->call,
					   &(struct tt_permute_args){.in = placed,
								     .dims = last_two,
								     .memory = request->memory});
	} else if (status == TTNN_OK) {
		*out = placed;
	}
	return status;
}

static tt_status product_4d(struct tt_tensor **out, struct spare *spare,
			    const struct request *request, struct tt_tensor *in, uint32_t dim)
{
	if (dim < 2)
		return product_nc(out, request, in, dim);
	return product_hw(out, spare, request, in, dim == 3);
}

static tt_status reshape(struct tt_tensor **out, const struct request *request,
			 struct tt_tensor *in, const struct ttnn_shape *shape)
{
	return tt_call_reshape(out, request->call,
			       &(struct tt_reshape_args){.in = in, .shape = shape});
}

/* Through four dimensions; the result has the rank of the input, the dimension an extent of 1. */
static tt_status product_folded(struct tt_tensor **out, const struct request *request,
				struct tt_tensor *in, uint32_t dim)
{
	struct ttnn_shape shape = in->spec.shape, cube = tt_shape_folded(&shape, RANK);
	uint32_t rank = shape.rank;
	struct tt_tensor *view, *product;
	struct spare spare = {NULL, NULL};
	tt_status status;

	if (rank == RANK) {
		status = product_4d(out, &spare, request, in, dim);
		give_up(request, &spare);
		return status;
	}
	while (cube.rank < RANK) {
		for (uint32_t d = cube.rank++; d > 0; d--)
			cube.dim[d] = cube.dim[d - 1];
		cube.dim[0] = 1;
	}
	shape.dim[dim] = 1;
	TT_TRY(reshape(&view, request, in, &cube));
	status = product_4d(&product, &spare, request, view, dim + RANK - rank);
	ttnn_tensor_unref(view);
	if (status == TTNN_OK) {
		status = reshape(out, request, product, &shape);
		tt_call_drop(request->call, product);
	}
	give_up(request, &spare);
	return status;
}

/* Dimensions before the last four change places with the fourth last. */
static tt_status product(struct tt_tensor **out, const struct request *request,
			 struct tt_tensor *in, uint32_t dim)
{
	uint32_t rank = in->spec.shape.rank, dims[TTNN_MAX_RANK];
	struct tt_tensor *swapped, *result;

	if (rank <= RANK || dim + 3 >= rank)
		return product_folded(out, request, in, dim);
	for (uint32_t d = 0; d < rank; d++)
		dims[d] = d;
	dims[dim] = rank - 3;
	dims[rank - 3] = dim;
	TT_TRY(permute(&swapped, request, in, dims));
	tt_call_own(request->call, swapped);
	TT_TRY(product_folded(&result, request, swapped, rank - 3));
	return tt_call_overwrite_after(request->call, permute(out, request, result, dims), result);
}

/* ---- the operation ----------------------------------------------------------------------------------------------- */

/* Tiles whose padding is 1. */
static tt_status prod_prepare(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in)
{
	struct ttnn_arg args[] = {{"input_tensor", ttnn_v_tensor(in)},
				  {"fill_value", ttnn_v_real(1)}};

	if (in->spec.layout == TTNN_ROW_MAJOR)
		TT_TRY(tt_reduction_tilize(out, call, in, 1));
	else
		TT_TRY(tt_call_op(out, call, "ttnn.fill_implicit_tile_padding", args,
				  TT_COUNT(args)));
	tt_call_own(call, *out);
	return TTNN_OK;
}

/* Several of the first two dimensions, into a given tensor. */
static tt_status expand_into(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor"), *next;
	struct tt_tensor *out = tt_call_tensor(call, "output_tensor");
	struct tt_reduction_dims dims;

	TT_TRY(tt_need_device(in));
	TT_TRY(tt_reduction_dims(&dims, call, "dims", in->spec.shape.rank));
	for (uint32_t i = dims.count; i-- > 0;) {
		struct ttnn_spec_args args = {.shape = in->spec.shape,
					      .dtype = in->spec.dtype,
					      .layout = TTNN_TILE,
					      .memory = out->spec.memory};
		struct ttnn_tensor_spec spec;

		TT_NEED(dims.dim[i] <= 1, "Unsupported dim %u for prod nc op", dims.dim[i]);
		args.shape.dim[dims.dim[i]] = 1;
		next = out;
		if (i > 0) {
			TT_TRY(ttnn_tensor_spec_make(&spec, &args));
			TT_TRY(tt_call_create(&next, call, tt_tensor_device(in), &spec));
			tt_call_own(call, next);
		}
		TT_TRY(launch_nc(call, next, in, dims.dim[i]));
		in = next;
	}
	tt_call_return(call, ttnn_tensor_ref(out));
	return TTNN_OK;
}

/* A given output takes another way, with dimensions as a list. */
static tt_status prod_expand(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor"), *kept, *out;
	struct request request = {call, tt_memory_or_like(call, in)};
	bool keep = tt_call_bool(call, "keepdim", false), given;
	int64_t dim = tt_call_int(call, "dim", 0), rank = in->spec.shape.rank;
	struct tt_reduction_dims dims = {.count = 1};
	struct ttnn_shape shape;

	if (tt_call_tensor(call, "output_tensor"))
		return expand_into(call);
	given = tt_value_given(tt_call_arg(call, "dim"));
	TT_REQUIRE(
		!given || (dim >= -rank && dim < rank) || (rank == 0 && (dim == 0 || dim == -1)),
		"!dim.has_value() || (*dim >= -old_rank && *dim <= old_rank - 1) || (old_rank == "
		"0 && (*dim == 0 || *dim == -1))",
		"Dimension for prod is out of range (expected to be in range of [%" PRId64
		", %" PRId64 "])",
		-rank, rank - 1);
	TT_TRY(tt_need_device(in));
	TT_TRY(prod_prepare(&in, call, in));
	if (!given || rank < 2)
		return product_of_all(call, in, keep, request.memory);
	dims.dim[0] = (uint32_t)(dim < 0 ? dim + rank : dim);
	shape = tt_reduction_shape(&in->spec.shape, &dims, false);
	TT_TRY(product(&kept, &request, in, dims.dim[0]));
	if (keep) {
		tt_call_return(call, kept);
		return TTNN_OK;
	}
	tt_call_own(call, kept);
	return tt_call_give(call, reshape(&out, &request, kept, &shape), &out);
}

static const struct tt_op ops[] = {
	{.name = "ttnn.prod",
	 .doc = "The product over a dimension, or of everything.",
	 .sigs = {"input_tensor: Tensor, dim: int? = None, keepdim: bool = False, *, memory_config: "
		  "MemoryConfig? = None",
		  "input_tensor: Tensor, output_tensor: Tensor, *, dims: ints, memory_config: "
		  "MemoryConfig? = None"},
	 .expand = prod_expand,
	 .golden = tt_golden_prod},
};

const struct tt_op_family tt_family_prod = {"reduction", ops, TT_COUNT(ops)};
