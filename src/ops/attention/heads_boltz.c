/*
 * heads_boltz.c: heads of pairs of tokens, as Boltz has them, put beside each other; and a part of all users' caches, a shard for each.
 *
 * Models NLPConcatHeadsBoltzDeviceOperation, of inputs that are not in shards, and NlpKVCacheLoadSliceDeviceOperation of ttnn 0.81: specs,
 * refusals, memory, cores.
 */
#include <inttypes.h>

#include "backend/backend.h"
#include "ops/attention/heads.h"
#include "ops/creation/creation.h"
#include "ops/movement/movement.h"
#include "ops/usual.h"

/* ---- heads beside each other ------------------------------------------------------------------------------------- */

#define CONCAT_ATTRS(X) X(MEMORY, "output_mem_config")
TT_ATTRS(concat_schema, "NLPConcatHeadsBoltzParams", CONCAT_ATTRS);

/* [heads, rows, columns, width] becomes [1, rows, columns, heads × width]. */
static tt_status concat_boltz_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct ttnn_shape shape;

	TT_TRY(tt_need_dim(&in->shape, 3));
	shape = TT_SHAPE(1, in->shape.dim[1], in->shape.dim[2],
			 in->shape.dim[0] * in->shape.dim[3]);
	if (tt_infer_given(launch, 0))
		return tt_check_given(launch, 0, &shape);
	return tt_spec_simple(&launch->specs[0], &shape, in->dtype, TTNN_TILE,
			      launch->attrs[MEMORY].memory);
}

static tt_status concat_boltz_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_memory_config *out = launch->attrs[MEMORY].memory;

	TT_TRY(tt_heads_check_tiles(in, "input_tensor.layout() == tt::tt_metal::Layout::TILE"));
	TT_REQUIRE(out->layout == TTNN_INTERLEAVED,
		   "args.output_mem_config.memory_layout() == "
		   "tt::tt_metal::TensorMemoryLayout::INTERLEAVED",
		   "Output memory config layout must be INTERLEAVED but got TensorMemoryLayout::%s",
		   tt_enum_name(&tt_enum_memory_layout, out->layout));
	return TTNN_OK;
}

/* A row of tiles of all heads, double. */
static tt_status concat_boltz_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const uint32_t *dim = in->padded.dim;
	const ttnn_core_set *cores;

	TT_TRY(tt_cores_for(&cores, launch, (uint64_t)dim[1] * (dim[2] / TT_TILE)));
	return TT_PLAN(plan, cores,
		       TT_CB_ROW(0, "src0", .pages = 2 * (uint64_t)dim[0] * (dim[3] / TT_TILE),
				 .page = tt_tile_bytes_of(in->dtype)));
}

static tt_status concat_boltz_kernel(struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[0];
	const uint32_t *dim = in->spec.shape.dim;
	const struct tt_move_loop loops[] = {
		{dim[0], 0, 3, 1, dim[3]},
		{dim[1], 1, 1, 1, 1},
		{dim[2], 2, 2, 1, 1},
		{dim[3], 3, 3, 1, 1},
	};

	return tt_backend_get()->move(&(struct tt_move_job){.out = launch->outputs[0],
							    .in = in,
							    .loops = loops,
							    .loop_count = TT_COUNT(loops)});
}

static const struct tt_prog concat_program = {
	.device_op = "NLPConcatHeadsBoltzDeviceOperation",
	.prim = "ttnn::prim::nlp_concat_heads_boltz",
	.attrs = &concat_schema,
	.infer = concat_boltz_infer,
	.validate = concat_boltz_validate,
	TT_FACTORY("ttnn::device_operation::MeshDeviceOperationAdapter<ttnn::experimental::prim::"
		   "NLPConcatHeadsBoltzDeviceOperation>::DirectDescriptorFactory",
		   concat_boltz_memory),
	TT_KERNEL(concat_boltz_kernel),
	.cost = tt_cost_unmodelled_move,
};

static tt_status concat_boltz_expand(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor");
	struct ttnn_value attr;

	TT_TRY(tt_need_device(in));
	if (tt_memory_config_is_sharded(&in->spec.memory))
		return tt_fail(TTNN_UNSUPPORTED, "heads in shards are not supported");
	attr = tt_value_memory_or_like(call, in);
	return TT_LAUNCH_RETURN(call, &concat_program, .attrs = &attr, TT_INPUTS(in),
				TT_OUTPUTS(tt_call_tensor(call, "output_tensor")));
}

static tt_status golden_concat(struct tt_golden *golden)
{
	const struct tt_array *in = tt_golden_in4(golden, "input_tensor");
	const uint32_t *dim;
	struct tt_array *out;

	TT_GOLDEN_NEED(in);
	dim = in->shape.dim;
	out = tt_golden_out(golden, &TT_SHAPE(1, dim[1], dim[2], dim[0] * dim[3]), in->dtype);
	TT_GOLDEN_NEED(out);
	for (uint64_t i = 0; i < out->count; i++) {
		uint64_t wide = (uint64_t)dim[0] * dim[3], place = i / wide, column = i % wide;

		*tt_at(out, i) = *tt_at(in, ((column / dim[3] * dim[1] * dim[2]) + place) * dim[3] +
						    column % dim[3]);
	}
	return TTNN_OK;
}

/* ---- a part of caches ---------------------------------------------------------------------------------------------- */

#define SLICE_ATTRS(X)                                                                             \
	X(START, "output_tensor_start")                                                            \
	X(END, "output_tensor_end")
TT_ATTRS(slice_schema, "NlpKvCacheLoadSliceParams", SLICE_ATTRS);

/* A shard for each head of each user, on as many cores, row after row. */
static tt_status slice_place(struct ttnn_memory_config *out, const struct tt_launch *launch,
			     uint32_t rows)
{
	const uint32_t *dim = launch->inputs[0]->spec.padded.dim;
	struct ttnn_core grid = launch->device->info.compute_grid;
	uint64_t heads = (uint64_t)dim[0] * dim[1], all = (uint64_t)grid.x * grid.y;
	struct ttnn_shard_spec shard = {
		.height = rows, .width = dim[3], .orientation = TTNN_ORIENT_ROW_MAJOR};
	struct ttnn_core_range ranges[2];
	size_t count = 0;

	TT_REQUIRE(heads <= all, "target_num_cores <= total_available_cores",
		   "Target number of cores %" PRIu64
		   " is greater than total number of available cores %" PRIu64,
		   heads, all);
	TT_NEED(heads, "there are no heads");
	if (heads >= grid.x)
		ranges[count++] = (struct ttnn_core_range){
			{0, 0}, {grid.x - 1, (uint32_t)(heads / grid.x) - 1}};
	if (heads % grid.x)
		ranges[count++] = (struct ttnn_core_range){
			{0, (uint32_t)(heads / grid.x)},
			{(uint32_t)(heads % grid.x) - 1, (uint32_t)(heads / grid.x)}};
	TT_TRY(ttnn_core_set_make(&shard.grid, ranges, count));
	return ttnn_memory_config_sharded(out, TTNN_HEIGHT_SHARDED, TTNN_L1, &shard);
}

static tt_status slice_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_shape *start = launch->attrs[START].shape;
	const struct ttnn_shape *end = launch->attrs[END].shape;
	struct ttnn_memory_config memory;
	struct ttnn_shape shape = in->padded;

	TT_NEED(end->dim[2] + 1 >= start->dim[2], "a part of a cache ends before it starts");
	shape.dim[2] = end->dim[2] - start->dim[2] + 1;
	if (tt_infer_given(launch, 0))
		return tt_check_given(launch, 0, &shape);
	TT_TRY(slice_place(&memory, launch, shape.dim[2]));
	return tt_spec_simple(&launch->specs[0], &shape, in->dtype, in->layout, &memory);
}

static tt_status slice_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_shape *start = launch->attrs[START].shape;
	const struct ttnn_shape *end = launch->attrs[END].shape;

	TT_REQUIRE(in->layout == TTNN_TILE, "input_tensor_a.layout() == tt::tt_metal::Layout::TILE",
		   "Input tensor layout must be TILE but got Layout::%s",
		   tt_enum_name(&tt_enum_layout, in->layout));
	for (uint32_t i = 0; i < in->padded.rank; i++) {
		TT_REQUIRE(start->dim[i] < in->padded.dim[i],
			   "args.output_tensor_start[i] < input_tensor_a.padded_shape()[i]",
			   "Output tensor start[%u] (%u) must be less than input tensor shape[%u] "
			   "(%u)",
			   i, start->dim[i], i, in->padded.dim[i]);
		TT_REQUIRE(end->dim[i] < in->padded.dim[i],
			   "args.output_tensor_end[i] < input_tensor_a.padded_shape()[i]",
			   "Output tensor end[%u] (%u) must be less than input tensor shape[%u] "
			   "(%u)",
			   i, end->dim[i], i, in->padded.dim[i]);
	}
	TT_REQUIRE(start->dim[2] % TT_TILE == 0,
		   "(output_tensor_shape[-2] % TILE_HEIGHT == 0) && "
		   "(args.output_tensor_start[-2] % TILE_HEIGHT == 0)",
		   "Can only unpad tilized tensor with full tiles");
	return TTNN_OK;
}

static tt_status slice_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *out = launch->outputs[0];

	if (!out->spec.memory.has_shard)
		return TTNN_OK;
	return TT_PLAN(plan, out->spec.memory.shard.grid,
		       TT_CB_ROW(0, "src0", .pages = tt_shard_tiles(&out->spec),
				 .page = tt_tile_bytes_of(out->spec.dtype), .backing = out));
}

static tt_status slice_kernel(struct tt_launch *launch)
{
	struct tt_tensor *out = launch->outputs[0];
	const uint32_t *dim = out->spec.shape.dim;
	const struct tt_move_loop loops[] = {
		{dim[0], 0, 0, 1, 1},
		{dim[1], 1, 1, 1, 1},
		{dim[2], 2, 2, 1, 1},
		{dim[3], 3, 3, 1, 1},
	};

	return tt_backend_get()->move(
		&(struct tt_move_job){.out = out,
				      .in = launch->inputs[0],
				      .loops = loops,
				      .loop_count = TT_COUNT(loops),
				      .in_start = {0, 0, launch->attrs[START].shape->dim[2], 0}});
}

static const struct tt_prog slice_program = {
	.device_op = "NlpKVCacheLoadSliceDeviceOperation",
	.prim = "ttnn::prim::nlp_kv_cache_load_slice",
	.attrs = &slice_schema,
	.infer = slice_infer,
	.validate = slice_validate,
	TT_FACTORY("ttnn::device_operation::MeshDeviceOperationAdapter<ttnn::experimental::prim::"
		   "NlpKVCacheLoadSliceDeviceOperation>::DirectDescriptorFactory",
		   slice_memory),
	TT_KERNEL(slice_kernel),
	.cost = tt_cost_unmodelled_move,
};

static tt_status slice_expand(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor");
	const struct ttnn_shape *padded = &in->spec.padded;
	struct ttnn_shape start = {4, {0}}, end = *padded;
	const struct ttnn_value attrs[slice_schema_count] = {
		[START] = ttnn_v_shape(&start), [END] = ttnn_v_shape(&end)};
	int64_t from = tt_call_int(call, "seq_len_start", 0);
	int64_t to = tt_call_int(call, "seq_len_end", 0);

	TT_TRY(tt_need_device(in));
	TT_TRY(tt_need_dim(padded, 3));
	TT_NEED(padded->rank == 4, "Input tensor must be 4D");
	TT_NEED(from >= 0 && to >= from && to <= UINT32_MAX, "a part of a cache has rows");
	TT_REQUIRE(to > from, "!shard_grid_fit_error.has_value()",
		   "Shard shape must be greater than 0 in each sharded dim, got [0, %u]",
		   padded->dim[3]);
	start.dim[2] = (uint32_t)from;
	for (uint32_t i = 0; i < 4; i++)
		end.dim[i] = (i == 2 ? (uint32_t)to : padded->dim[i]) - 1;
	return TT_LAUNCH_RETURN(call, &slice_program, .attrs = attrs, TT_INPUTS(in),
				TT_OUTPUTS(tt_call_tensor(call, "output_tensor")));
}

static tt_status golden_slice(struct tt_golden *golden)
{
	const struct tt_array *in = tt_golden_in4(golden, "input_tensor");
	uint64_t from = (uint64_t)tt_call_int(&golden->call, "seq_len_start", 0), rows;
	struct ttnn_shape shape;
	struct tt_array *out;

	TT_GOLDEN_NEED(in);
	shape = in->shape;
	rows = (uint64_t)tt_call_int(&golden->call, "seq_len_end", 0) - from;
	shape.dim[2] = (uint32_t)rows;
	out = tt_golden_out(golden, &shape, in->dtype);
	TT_GOLDEN_NEED(out);
	for (uint64_t i = 0; i < out->count; i++) {
		uint64_t row = i / shape.dim[3];

		*tt_at(out, i) = *tt_at(in, (row / rows * in->shape.dim[2] + from + row % rows) *
							    shape.dim[3] +
						    i % shape.dim[3]);
	}
	return TTNN_OK;
}

#define OUT "memory_config: MemoryConfig? = None, output_tensor: Tensor? = None"
static const struct tt_op ops[] = {
	{.name = "ttnn.experimental.nlp_concat_heads_boltz",
	 .doc = "Heads of pairs of tokens beside each other.",
	 .sigs = {"input_tensor: Tensor, *, " OUT},
	 .expand = concat_boltz_expand,
	 .golden = golden_concat,
	 .pcc = 0.9999,
	 TT_PROGRAMS(&concat_program)},
	{.name = "ttnn.experimental.nlp_kv_cache_load_slice",
	 .doc = "Some rows of all users' caches, a shard for each head.",
	 .sigs = {"input_tensor: Tensor, *, seq_len_start: size, seq_len_end: size, " OUT},
	 .expand = slice_expand,
	 .golden = golden_slice,
	 .pcc = 0.9999,
	 TT_PROGRAMS(&slice_program)},
};

const struct tt_op_family tt_family_heads_boltz = {"heads_boltz", ops, TT_COUNT(ops)};
