/*
 * all_reduce.c: every chip gets the sum of the tensors of all: with semaphores of the caller's (all_reduce_async) or without.
 *
 * Models ttnn 0.81: sums are scattered and gathered again where a dimension can be cut into whole tiles for every chip; else all
 * tensors are gathered and each chip adds them up. Without an axis it goes over one axis after the other.
 */
#include "golden/golden_collective.h"
#include "ops/collective/async.h"
#include "ops/dims.h"
#include "ops/movement/movement.h"

/* A list, or the only one. */
static const struct ttnn_value *item(const struct ttnn_value *list, uint32_t place)
{
	return list->kind == TTNN_VALUE_LIST && place < list->count ? &list->items[place] : list;
}

/* The last dimension whose extent, in tiles where there are any, can be cut among the chips; -1: none. */
static int64_t cut_dim(const struct ttnn_tensor_spec *spec, uint32_t size)
{
	for (uint32_t i = spec->shape.rank; i-- > 0;) {
		uint32_t behind = spec->shape.rank - 1 - i, extent = spec->padded.dim[i];

		if (spec->layout == TTNN_TILE && behind < 2)
			extent /= behind ? spec->tile.height : spec->tile.width;
		if (extent % size == 0)
			return i;
	}
	return -1;
}

/* Whether parts along a dimension are whole tiles, and the tensor has no padding there. */
static bool has_whole_parts(const struct ttnn_tensor_spec *in, int64_t dim, uint32_t size)
{
	uint32_t behind, extent, tile;

	if (dim < 0 || in->layout != TTNN_TILE)
		return false;
	behind = in->shape.rank - 1 - (uint32_t)dim;
	if (behind > 1)
		return true;
	extent = in->shape.dim[dim];
	tile = behind ? in->tile.height : in->tile.width;
	return extent % tile == 0 && (extent % size || extent / size % tile == 0);
}

/* Through a buffer that has room for everybody's shards. */
static tt_status reduce_buffered(struct tt_call *call, struct tt_tensor *in)
{
	struct ttnn_value attrs[TT_ASYNC_COUNT] = {0};
	struct tt_tensor *buffer = tt_call_tensor(call, "buffer_tensor");
	struct tt_async_request request = {.in = in,
					   .memory = tt_call_memory(call, "memory_config")};

	TT_TRY(tt_async_on_mesh(call, buffer));
	TT_TRY(tt_async_bind(attrs, call, &request));
	return TT_LAUNCH_RETURN(call, &tt_prog_reduce_async, TT_INPUTS(in, buffer), .attrs = attrs);
}

/* ---- gathered and added up -------------------------------------------------------------------------------- */

static tt_status to_layout(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			   enum ttnn_layout layout)
{
	return TT_CALL(out, call, "ttnn.to_layout", {"tensor", ttnn_v_tensor(in)},
		       {"layout", tt_value_enum(&tt_enum_layout, layout)});
}

/* float32 is added up with the members next to what they are members of. */
static tt_status sum_floats(struct tt_tensor **out, struct tt_temps *temps, struct tt_tensor *in,
			    const struct ttnn_memory_config *memory)
{
	static const uint32_t dims[2] = {0, 1};
	struct ttnn_shape shape = {.rank = in->spec.shape.rank + 1};
	struct tt_tensor *view, *turned;

	TT_NEED(shape.rank <= TTNN_MAX_RANK, "a tensor of rank %u cannot be added up",
		in->spec.shape.rank);
	shape.dim[0] = in->spec.shape.dim[0];
	shape.dim[1] = 1;
	for (uint32_t d = 1; d < in->spec.shape.rank; d++)
		shape.dim[d + 1] = in->spec.shape.dim[d];
	TT_TRY(tt_call_reshape(&view, temps->call,
			       &(struct tt_reshape_args){.in = in, .shape = &shape}));
	tt_temps_keep(temps, view);
	TT_TRY(tt_call_transpose(&turned, temps->call,
				 &(struct tt_permute_args){.in = view, .dims = dims}));
	tt_temps_keep(temps, turned);
	return TT_CALL(out, temps->call, "ttnn.sum", {"input_tensor", ttnn_v_tensor(turned)},
		       {"dim", ttnn_v_int(1)}, {"keepdim", ttnn_v_bool(false)},
		       {"memory_config", ttnn_v_memory(memory)});
}

static tt_status sum_tiles(struct tt_tensor **out, struct tt_temps *temps, struct tt_tensor *in,
			   const struct ttnn_memory_config *memory)
{
	struct tt_call *call = temps->call;
	struct tt_tensor *wide = in, *next;

	if (in->spec.dtype == TTNN_FLOAT32)
		return sum_floats(out, temps, in, memory);
	if (in->spec.dtype == TTNN_BFLOAT8_B) {
		TT_TRY(tt_call_cast(&wide, call, in, TTNN_BFLOAT16));
		tt_temps_keep(temps, wide);
	}
	TT_TRY(TT_CALL(out, call, "ttnn.moreh_sum", {"input", ttnn_v_tensor(wide)},
		       {"dim", ttnn_v_int(0)}, {"keepdim", ttnn_v_bool(true)},
		       {"memory_config", ttnn_v_memory(memory)}));
	if (wide == in)
		return TTNN_OK;
	return tt_call_replace(out, call, tt_call_cast(&next, call, *out, TTNN_BFLOAT8_B), &next);
}

/* Along the first dimension, of which there is one for each member. */
static tt_status sum_members(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			     const struct ttnn_memory_config *memory)
{
	struct tt_temps temps = {.call = call};
	bool rows = in->spec.layout == TTNN_ROW_MAJOR;
	struct tt_tensor *sum;
	tt_status status;

	if (rows) {
		TT_TRY(to_layout(&in, call, in, TTNN_TILE));
		tt_temps_keep(&temps, in);
	}
	status = sum_tiles(&sum, &temps, in, memory);
	if (status == TTNN_OK && rows) {
		tt_temps_keep(&temps, sum);
		status = to_layout(out, call, sum, TTNN_ROW_MAJOR);
	} else {
		*out = sum;
	}
	return tt_temps_end(&temps, status);
}

/* `flat` is the tensor, or its shards where they are not any more. */
static tt_status reduce_gathered(struct tt_call *call, struct tt_tensor *in, struct tt_tensor *flat,
				 const struct ttnn_memory_config *memory)
{
	struct ttnn_shape shape = in->spec.shape, more = {.rank = shape.rank + 1, .dim = {1}};
	struct tt_tensor *view, *all, *sum, *out;
	struct ttnn_value links;
	tt_status status;

	TT_NEED(more.rank <= TTNN_MAX_RANK, "a tensor of rank %u cannot be added up", shape.rank);
	memcpy(&more.dim[1], shape.dim, shape.rank * sizeof(shape.dim[0]));
	TT_TRY(tt_group_links(&links, call, tt_tensor_device(in)));
	TT_TRY(tt_call_reshape(&view, call, &(struct tt_reshape_args){.in = flat, .shape = &more}));
	status = tt_gather_by_concat(
		&all, call,
		&(struct tt_gather_args){.in = view,
					 .memory = flat == in ? memory : NULL,
					 .axis = *tt_call_arg(call, "cluster_axis"),
					 .sub_device = *tt_call_arg(call, "subdevice_id"),
					 .links = links});
	tt_call_drop(call, view);
	TT_TRY(status);
	status = sum_members(&sum, call, all, memory);
	tt_call_drop(call, all);
	TT_TRY(status);
	status = tt_call_reshape(&out, call, &(struct tt_reshape_args){.in = sum, .shape = &shape});
	tt_call_drop(call, sum);
	return tt_call_give(call, status, &out);
}

/* ---- scattered and gathered ------------------------------------------------------------------------------ */

/* With the caller's semaphores, or as the operations that have their own. */
static tt_status scatter_sums(struct tt_tensor **out, struct tt_call *call,
			      struct tt_async_request *request, struct ttnn_value links)
{
	request->semaphores = tt_call_arg(call, "rs_global_semaphores");
	request->barrier = item(tt_call_arg(call, "barrier_semaphores"), 0);
	if (tt_value_given(request->semaphores) && tt_value_given(request->barrier))
		return tt_async_scatter(out, call, request);
	return TT_CALL(
		out, call, "ttnn.reduce_scatter", {"input_tensor", ttnn_v_tensor(request->in)},
		{"dim", ttnn_v_int(request->dim)},
		{"cluster_axis", *tt_call_arg(call, "cluster_axis")},
		{"subdevice_id", *tt_call_arg(call, "subdevice_id")},
		{"memory_config", ttnn_v_memory(request->memory)}, {"num_links", links},
		{"topology",
		 tt_group_topology(tt_tensor_device(request->in), tt_call_arg(call, "topology"),
				   tt_group_axis(tt_call_arg(call, "cluster_axis")))});
}

static tt_status gather_sums(struct tt_tensor **out, struct tt_call *call,
			     struct tt_async_request *request)
{
	request->semaphores = tt_call_arg(call, "ag_global_semaphores");
	request->barrier = item(tt_call_arg(call, "barrier_semaphores"), 1);
	if (tt_value_given(request->semaphores) && tt_value_given(request->barrier))
		return tt_async_gather(out, call, request, NULL);
	return TT_CALL(out, call, "ttnn.all_gather", {"input_tensor", ttnn_v_tensor(request->in)},
		       {"dim", ttnn_v_int(request->dim)},
		       {"cluster_axis", *tt_call_arg(call, "cluster_axis")},
		       {"subdevice_id", *tt_call_arg(call, "subdevice_id")},
		       {"memory_config", ttnn_v_memory(request->memory)});
}

/* Shards leave and come back. */
static tt_status reduce_parts(struct tt_call *call, struct tt_tensor *in, struct tt_tensor *flat,
			      struct tt_async_request *request,
			      const struct ttnn_memory_config *memory)
{
	struct tt_tensor *part, *out, *back;
	struct ttnn_value links;
	tt_status status;

	TT_TRY(tt_group_links(&links, call, tt_tensor_device(in)));
	request->in = flat;
	TT_TRY(scatter_sums(&part, call, request, links));
	tt_call_own(call, part);
	if (flat != in)
		tt_call_drop(call, flat);
	request->in = part;
	TT_TRY(gather_sums(&out, call, request));
	tt_call_drop(call, part);
	/* Whatever its two halves say: sums are the same along the axis. */
	out->spread = tt_group_spread(in, tt_group_axis(tt_call_arg(call, "cluster_axis")),
				      TT_GROUP_SAME, 0);
	if (flat == in) {
		tt_call_return(call, out);
		return TTNN_OK;
	}
	status = TT_CALL(&back, call, "ttnn.to_memory_config", {"tensor", ttnn_v_tensor(out)},
			 {"memory_config", ttnn_v_memory(memory)});
	tt_call_overwrite(call, out);
	return tt_call_give(call, status, &back);
}

static tt_status reduce_line(struct tt_call *call, struct tt_tensor *in)
{
	const struct ttnn_memory_config *memory = tt_memory_or_like(call, in);
	struct ttnn_memory_config plain = {.buffer = in->spec.memory.buffer};
	bool asked = tt_value_given(tt_call_arg(call, "rs_global_semaphores"));
	struct tt_async_request request = {.memory = memory};
	struct tt_tensor *flat = in;
	uint32_t size = tt_group_size(tt_tensor_device(in),
				      tt_group_axis(tt_call_arg(call, "cluster_axis")));

	request.dim = cut_dim(&in->spec, size);
	if (in->spec.memory.layout != TTNN_INTERLEAVED) {
		TT_TRY(TT_CALL(&flat, call, "ttnn.sharded_to_interleaved",
			       {"input_tensor", ttnn_v_tensor(in)},
			       {"memory_config", ttnn_v_memory(&plain)}));
		tt_call_own(call, flat);
		/* Programs with the caller's semaphores leave their results as they work. */
		request.memory = asked ? &plain : memory;
	}
	if (has_whole_parts(&in->spec, request.dim, size))
		return reduce_parts(call, in, flat, &request, memory);
	return reduce_gathered(call, in, flat, memory);
}

/* One dimension more for what has less than two. */
static tt_status reduce_wider(struct tt_call *call, struct tt_tensor *in)
{
	static const char *const same[] = {"cluster_axis", "subdevice_id", "memory_config",
					   "num_links", "topology"};
	struct ttnn_shape shape = {2, {1, in->spec.shape.rank ? in->spec.shape.dim[0] : 1}};
	struct ttnn_arg args[TT_COUNT(same) + 1];
	struct tt_tensor *view, *sum, *out;
	tt_status status;

	TT_TRY(tt_call_reshape(&view, call, &(struct tt_reshape_args){.in = in, .shape = &shape}));
	args[0] = (struct ttnn_arg){"input_tensor", ttnn_v_tensor(view)};
	for (size_t i = 0; i < TT_COUNT(same); i++)
		args[i + 1] = (struct ttnn_arg){same[i], *tt_call_arg(call, same[i])};
	status = tt_call_op(&sum, call, "ttnn.all_reduce", args, TT_COUNT(args));
	tt_call_drop(call, view);
	TT_TRY(status);
	status = tt_call_reshape(&out, call,
				 &(struct tt_reshape_args){.in = sum, .shape = &in->spec.shape});
	tt_call_drop(call, sum);
	return tt_call_give(call, status, &out);
}

/* ---- calls ------------------------------------------------------------------------------------------------- */

static tt_status reduce_async_expand(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor");

	TT_TRY(tt_async_on_mesh(call, in));
	if (tt_call_tensor(call, "buffer_tensor"))
		return reduce_buffered(call, in);
	return in->spec.shape.rank < 2 ? reduce_wider(call, in) : reduce_line(call, in);
}

static tt_status reduce_expand(struct tt_call *call)
{
	static const char *const others[] = {"subdevice_id", "memory_config", "num_links",
					     "topology"};
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor");
	const struct tt_device *device = tt_tensor_device(in);
	int64_t axis = tt_group_axis(tt_call_arg(call, "cluster_axis"));

	TT_REQUIRE(device, "storage_type == DEVICE", "%s: the tensor must be on a device",
		   call->entry->op->name);
	TT_REQUIRE(axis < 2, "cluster_axis < 2", "Invalid cluster axis %lld. Must be 0 or 1",
		   (long long)axis);
	if (axis < 0 && device->rows > 1 && device->cols > 1)
		return tt_call_by_axes(call, in, others, TT_COUNT(others));
	return in->spec.shape.rank < 2 ? reduce_wider(call, in) : reduce_line(call, in);
}

#define REDUCE_MORE                                                                                \
	", memory_config: MemoryConfig? = None, topology: Topology? = Linear, "                    \
	"num_links: int? = None, subdevice_id: SubDeviceId? = None"

static const struct tt_op ops[] = {
	{
		.name = "ttnn.all_reduce",
		.doc = "Every device gets the sum of the tensors of all.",
		.sigs = {"input_tensor: Tensor, *, cluster_axis: int? = None, "
			 "subdevice_id: SubDeviceId? = None, memory_config: MemoryConfig? = None, "
			 "num_links: int? = None, topology: enum? = None"},
		.expand = reduce_expand,
		.golden = tt_golden_all_reduce,
	},
	{
		.name = "ttnn.experimental.all_reduce_async",
		.doc = "Every device gets the sum of the tensors of all.",
		.sigs = {"input_tensor: Tensor, num_devices: int, barrier_semaphores: any, "
			 "rs_global_semaphores: any, ag_global_semaphores: any, math_op: enum, *" REDUCE_MORE,
			 "input_tensor: Tensor, cluster_axis: int? = None, mesh_device: Device? = "
			 "None, "
			 "barrier_semaphores: any = None, rs_global_semaphores: any = None, "
			 "ag_global_semaphores: any = None, math_op: enum? = None, *" REDUCE_MORE,
			 "input_tensor: Tensor, buffer_tensor: Tensor, cluster_axis: int, "
			 "mesh_device: Device, multi_device_global_semaphore: any, *, "
			 "dtype: DataType? = None" REDUCE_MORE ", use_noc1_only: bool = False, "
			 "use_optimal_ccl_for_llama: bool = False, fp32_dest_acc: bool = False"},
		.expand = reduce_async_expand,
		.golden = tt_golden_all_reduce,
		.pcc = 0.999,
	},
};

const struct tt_op_family tt_family_all_reduce = {"collective", ops, TT_COUNT(ops)};
