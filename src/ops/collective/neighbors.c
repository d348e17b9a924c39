/*
 * neighbors.c: rows of the chips before and behind around one's own, for convolutions of what is cut along rows and columns.
 *
 * Models, of ttnn 0.81, the device operation NeighborPadAsync: output specs, refusals, one program for each chip, whose senders and
 * copying cores hold two rows each. Not modelled: routes and links (one, unless more are asked for).
 */
#include <inttypes.h>
#include <string.h>

#include "backend/backend.h"
#include "device/device.h"
#include "device/devtensor.h"
#include "golden/golden_collective.h"
#include "ops/collective/collective.h"
#include "ops/cost.h"
#include "ops/mem_rows.h"
#include "ops/usual.h"
#include "tensor/core.h"
#include "tensor/shape.h"
#include "tensor/spec.h"

#define ATTRS(X)                                                                                   \
	X(DIM, "dim")                                                                              \
	X(LEFT, "padding_left")                                                                    \
	X(RIGHT, "padding_right")                                                                  \
	X(AXIS, "cluster_axis")                                                                    \
	X(MODE, "padding_mode")                                                                    \
	X(LINKS, "num_links")                                                                      \
	X(MEMORY, "output_mem_config")                                                             \
	X(HEIGHT, "logical_h")                                                                     \
	X(FRONT, "t_front_pad")
TT_ATTRS(schema, "<NeighborPadAsyncParams>", ATTRS);

/* ---- the kernel --------------------------------------------------------------------------------------------- */

/* What goes around a tensor along one dimension, from the chips before and behind along an axis of the mesh. */
struct rim {
	uint32_t dim, before, behind;
	int64_t axis, links;
};

#define RIMS_MAX 2

static uint32_t rims_of(struct rim *out, const struct tt_launch *launch)
{
	const struct ttnn_value *attrs = launch->attrs, *links = &attrs[LINKS];

	for (uint32_t i = 0; i < attrs[DIM].count; i++)
		out[i] = (struct rim){.dim = (uint32_t)attrs[DIM].items[i].integer,
				      .before = (uint32_t)attrs[LEFT].items[i].integer,
				      .behind = (uint32_t)attrs[RIGHT].items[i].integer,
				      .axis = attrs[AXIS].items[i].integer,
				      .links = links->kind == TTNN_VALUE_LIST && i < links->count
						       ? links->items[i].integer
						       : 1};
	return attrs[DIM].count;
}

/* Rows of the result along one dimension: how many, of which chip, from which of its rows on. */
struct run {
	uint32_t to, rows, from, chip;
};

/* The rows that the chip has itself: those that are left when rows beyond a height of all are zeros. */
static uint32_t own_rows(const struct tt_launch *launch, uint32_t extent, uint32_t place)
{
	uint64_t height = (uint64_t)launch->attrs[HEIGHT].integer,
		 before = (uint64_t)place * extent;

	if (!height || height >= before + extent)
		return extent;
	return height > before ? (uint32_t)(height - before) : 0;
}

/*
 * The runs of one dimension: rows of the chip before, its own, rows of the one behind. Where there is none, copies of
 * the outermost row, one by one, or nothing: zeros stay.
 */
static size_t runs_of(struct run *out, const struct tt_launch *launch, const struct rim *rim,
		      uint32_t chip)
{
	uint32_t extent = launch->inputs[0]->spec.shape.dim[rim->dim], at = rim->before;
	bool copies = strcmp(launch->attrs[MODE].text, "zeros") != 0;
	bool first = launch->attrs[DIM].items[0].integer == rim->dim;
	struct tt_group group;
	size_t count = 0;

	tt_group_find(&group, launch->device, rim->axis, chip);
	if (group.own > 0)
		out[count++] = (struct run){0, rim->before, extent - rim->before,
					    group.chips[group.own - 1]};
	for (uint32_t i = 0; i < rim->before && group.own == 0 && copies; i++)
		out[count++] = (struct run){i, 1, 0, chip};
	out[count++] =
		(struct run){at, first ? own_rows(launch, extent, group.own) : extent, 0, chip};
	at += extent;
	if (group.own + 1 < group.count)
		out[count++] = (struct run){at, rim->behind, 0, group.chips[group.own + 1]};
	for (uint32_t i = 0; i < rim->behind && group.own + 1 == group.count && copies; i++)
		out[count++] = (struct run){at + i, 1, extent - 1, chip};
	return count;
}

/* A block of another chip, or its own: a run along each dimension that has a rim. */
static tt_status place_block(struct tt_tensor *out, const struct tt_launch *launch,
			     const struct rim *rims, const struct run *const *runs)
{
	const struct ttnn_shape *shape = &launch->inputs[0]->spec.shape;
	struct tt_move_loop loops[TTNN_MAX_RANK];
	struct tt_move_job job = {.out = out, .loops = loops, .loop_count = shape->rank};
	tt_status status;

	for (uint32_t d = 0; d < shape->rank; d++)
		loops[d] = (struct tt_move_loop){.extent = shape->dim[d],
						 .in_dim = (int32_t)d,
						 .out_dim = (int32_t)d,
						 .in_step = 1,
						 .out_step = 1};
	for (uint32_t i = 0; i < RIMS_MAX && runs[i]; i++) {
		loops[rims[i].dim].extent = runs[i]->rows;
		job.in_start[rims[i].dim] = runs[i]->from;
		job.out_start[rims[i].dim] = runs[i]->to;
		if (!runs[i]->rows)
			return TTNN_OK;
	}
	if (launch->attrs[FRONT].integer)
		job.out_start[rims[0].dim - 1] = launch->attrs[FRONT].integer;
	TT_TRY(tt_tensor_resident(&job.in, launch->inputs[0], runs[0]->chip, TT_BUFFER_READ));
	status = tt_backend_get()->move(&job);
	ttnn_tensor_unref(job.in);
	return status;
}

/* Columns are those of a neighbour's padded rows: runs of rows are looked for where a run of columns comes from. */
static tt_status pad_chip(struct tt_tensor *out, const struct tt_launch *launch, uint32_t chip)
{
	struct rim rims[RIMS_MAX];
	uint32_t count = rims_of(rims, launch);
	struct run *columns, *rows;
	size_t column_count = 1;

	columns =
		tt_arena_calloc(launch->arena, rims[count - 1].before + rims[count - 1].behind + 3u,
				sizeof(*columns));
	rows = tt_arena_calloc(launch->arena, rims[0].before + rims[0].behind + 3u, sizeof(*rows));
	if (!columns || !rows)
		return tt_fail_nomem();
	columns[0].chip = chip;
	if (count > 1)
		column_count = runs_of(columns, launch, &rims[1], chip);
	TT_TRY(tt_backend_get()->fill(out, 0, TT_FILL_ALL));
	for (size_t c = 0; c < column_count; c++) {
		size_t row_count = runs_of(rows, launch, &rims[0], columns[c].chip);

		for (size_t r = 0; r < row_count; r++)
			TT_TRY(place_block(
				out, launch, rims,
				(const struct run *[]){&rows[r], count > 1 ? &columns[c] : NULL}));
	}
	return TTNN_OK;
}

static tt_status pad_kernel(struct tt_launch *launch)
{
	for (uint32_t chip = 0; chip < launch->device->rows * launch->device->cols; chip++) {
		struct tt_tensor *out;
		tt_status status;

		TT_TRY(tt_tensor_resident(&out, launch->outputs[0], chip, TT_BUFFER_OVERWRITE));
		status = pad_chip(out, launch, chip);
		ttnn_tensor_unref(out);
		TT_TRY(status);
	}
	return TTNN_OK;
}

/* ---- the program ---------------------------------------------------------------------------------------------- */

static tt_status pad_infer(struct tt_launch *launch)
{
	struct ttnn_shape shape = launch->inputs[0]->spec.shape;
	struct rim rims[RIMS_MAX];
	uint32_t count = rims_of(rims, launch);

	for (uint32_t i = 0; i < count; i++)
		if (rims[i].dim < shape.rank)
			shape.dim[rims[i].dim] += rims[i].before + rims[i].behind;
	if (rims[0].dim > 0 && rims[0].dim < shape.rank)
		shape.dim[rims[0].dim - 1] += (uint32_t)launch->attrs[FRONT].integer;
	return tt_infer_reshaped(launch, &shape);
}

static tt_status check_rim(const struct tt_launch *launch, const struct rim *rim)
{
	const struct ttnn_shape *shape = &launch->inputs[0]->spec.padded;
	uint64_t work = 1;

	TT_REQUIRE(rim->before <= shape->dim[rim->dim] && rim->behind <= shape->dim[rim->dim],
		   "args.padding_left <= input_tensor_shape[args.dim] && args.padding_right <= "
		   "input_tensor_shape[args.dim]",
		   "One of the padding values %u or %u exceeds the shape of the input tensor in "
		   "that dim %u.",
		   rim->before, rim->behind, shape->dim[rim->dim]);
	TT_REQUIRE(rim->axis == 0 || rim->axis == 1,
		   "args.cluster_axis == 0 || args.cluster_axis == 1",
		   "Unsupported cluster axis %" PRId64 ".", rim->axis);
	TT_REQUIRE(rim->links > 0, "args.num_links > 0",
		   "Error, num_links should be more than 0 but has %" PRId64, rim->links);
	for (uint32_t d = 0; d < shape->rank - 1; d++)
		if (rim->dim ? d < rim->dim : d > 0)
			work *= shape->dim[d];
	TT_REQUIRE(work >= (uint64_t)rim->links, "outer_dim_size >= args.num_links",
		   "Not enough work to split among links, reduce num links");
	return TTNN_OK;
}

static tt_status pad_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const char *mode = launch->attrs[MODE].text;
	struct rim rims[RIMS_MAX];
	uint32_t count = rims_of(rims, launch);

	TT_REQUIRE(rims[0].dim + 1 < in->shape.rank, "args.dim < input_rank - 1",
		   "Error, neighbor pad only supports padding non-last dim, provided dim=%u for "
		   "rank-%u tensor",
		   rims[0].dim, in->shape.rank);
	TT_REQUIRE(in->layout == TTNN_ROW_MAJOR,
		   "tensor_args.input_tensor.layout() == Layout::ROW_MAJOR",
		   "Unsupported input tensor layout Layout::%s.", "TILE");
	TT_REQUIRE(in->memory.layout == TTNN_INTERLEAVED, "!tensor_args.input_tensor.is_sharded()",
		   "Neighbor pad does not support sharded input tensors.");
	TT_REQUIRE(strcmp(mode, "zeros") == 0 || strcmp(mode, "replicate") == 0,
		   "args.padding_mode == \"zeros\" || args.padding_mode == \"replicate\"",
		   "Unsupported padding mode %s.", mode);
	TT_TRY(check_rim(launch, &rims[0]));
	TT_REQUIRE(!launch->attrs[FRONT].integer || rims[0].dim >= 1, "args.dim >= 1",
		   "t_front_pad requires dim >= 1 (T dim is dim-1), got dim=%u", rims[0].dim);
	TT_REQUIRE(!launch->attrs[FRONT].integer || in->shape.dim[0] == 1,
		   "input_tensor_shape[0] == 1", "t_front_pad only supports B=1 tensors, got B=%u",
		   in->shape.dim[0]);
	if (count == 1)
		return TTNN_OK;
	TT_REQUIRE(rims[1].dim + 1 < in->shape.rank, "dim2 < input_rank - 1",
		   "Secondary pad dim must be a non-last dim, provided dim2=%u for rank-%u tensor",
		   rims[1].dim, in->shape.rank);
	TT_REQUIRE(rims[1].dim != rims[0].dim, "dim2 != args.dim",
		   "Secondary pad dim %u must differ from primary pad dim %u", rims[1].dim,
		   rims[0].dim);
	TT_REQUIRE(rims[1].dim > rims[0].dim, "dim2 > args.dim",
		   "Secondary pad dim %u must be greater than primary pad dim %u", rims[1].dim,
		   rims[0].dim);
	return check_rim(launch, &rims[1]);
}

/* So many cores of the grid, row by row, from one on. */
static tt_status some_cores(const ttnn_core_set **out, const struct tt_launch *launch,
			    uint64_t from, uint64_t count)
{
	struct ttnn_core_range *ranges =
		tt_arena_alloc(launch->arena, (count + 1) * sizeof(*ranges));

	if (!ranges)
		return tt_fail_nomem();
	TT_REQUIRE(from + count <= ttnn_core_set_cores(launch->device->grid), "num_cores <= grid",
		   "Not enough cores available for so many links");
	for (uint64_t i = 0; i < count; i++)
		ranges[i].start = ranges[i].end =
			tt_core_set_at(launch->device->grid, from + i, TTNN_ORIENT_ROW_MAJOR);
	return ttnn_core_set_make(out, ranges, count);
}

/* Two senders a link: those of rows hold what they send and what they got, if columns follow; all others copy. */
static tt_status pad_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	uint64_t page = launch->inputs[0]->spec.page_bytes, used = 0;
	const ttnn_core_set *cores;
	struct rim rims[RIMS_MAX];
	uint32_t count = rims_of(rims, launch);

	for (uint32_t i = 0; i < count; used += 2 * (uint64_t)rims[i].links, i++) {
		TT_TRY(some_cores(&cores, launch, used, 2 * (uint64_t)rims[i].links));
		TT_TRY(TT_PLAN(plan, cores, TT_CB_ROW(0, "sender", .pages = 2, .page = page)));
		if (!i && count > 1)
			TT_TRY(TT_PLAN(plan, cores,
				       TT_CB_ROW(1, "received", .pages = 2, .page = page)));
	}
	TT_TRY(some_cores(&cores, launch, used, ttnn_core_set_cores(launch->device->grid) - used));
	return TT_PLAN(plan, cores, TT_CB_ROW(0, "copied", .pages = 2, .page = page));
}

static const struct tt_prog program = {
	.device_op = "NeighborPadAsyncDeviceOperation",
	.prim = "ttnn::prim::neighbor_pad_async",
	.attrs = &schema,
	.infer = pad_infer,
	.validate = pad_validate,
	TT_FACTORY("ttnn::experimental::prim::NeighborPadAsyncMeshWorkloadFactory", pad_memory),
	TT_KERNEL(pad_kernel),
	.cost = tt_cost_unmodelled_move,
	.per_chip = true,
	.together = true,
};

/* ---- the call ---------------------------------------------------------------------------------------------------- */

/* A list of numbers from 0 on, one for each dimension; `wanted` is 0 for that of the dimensions. */
static tt_status read_list(struct ttnn_value *out, const struct tt_call *call, const char *name,
			   size_t wanted)
{
	struct ttnn_value *items = tt_arena_calloc(call->arena, RIMS_MAX, sizeof(*items));
	int64_t values[RIMS_MAX + 1];
	size_t count;

	if (!items)
		return tt_fail_nomem();
	TT_TRY(tt_call_ints(values, &count, RIMS_MAX + 1, call, name));
	TT_REQUIRE(wanted || (count && count <= RIMS_MAX), "!dim.empty() && dim.size() <= 2",
		   "dim must have 1 or 2 elements, got %zu", count);
	TT_REQUIRE(!wanted || count == wanted, "size() == num_dims",
		   "%s size (%zu) must match dim size (%zu)", name, count, wanted);
	for (size_t i = 0; i < count; i++) {
		TT_REQUIRE(values[i] >= 0 && values[i] <= INT32_MAX, "dim[i] >= 0",
			   "%s[%zu] must be non-negative, got %" PRId64, name, i, values[i]);
		items[i] = ttnn_v_int(values[i]);
	}
	*out = ttnn_v_list(items, count);
	return TTNN_OK;
}

static tt_status pad_expand(struct tt_call *call)
{
	static const char *const names[] = {"dim", "padding_left", "padding_right", "cluster_axis",
					    "num_links"};
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor");
	bool links = tt_value_given(tt_call_arg(call, "num_links"));
	struct ttnn_value lists[TT_COUNT(names)] = {[4] = ttnn_v_none()};
	int64_t front = tt_call_int(call, "t_front_pad", 0);

	TT_REQUIRE(tt_tensor_device(in), "storage_type == DEVICE",
		   "%s: the tensor must be on a device", call->entry->op->name);
	for (size_t i = 0; i < TT_COUNT(names) - !links; i++)
		TT_TRY(read_list(&lists[i], call, names[i], i ? lists[0].count : 0));
	for (size_t i = 0; i < lists[0].count; i++)
		TT_REQUIRE(lists[0].items[i].integer < in->spec.shape.rank,
			   "args.dim < input_rank - 1",
			   "Error, neighbor pad only supports padding non-last dim, provided "
			   "dim=%" PRId64 " for rank-%u tensor",
			   lists[0].items[i].integer, in->spec.shape.rank);
	TT_REQUIRE(front >= 0 && front <= INT32_MAX && tt_call_int(call, "logical_h", 0) >= 0,
		   "t_front_pad >= 0", "t_front_pad and logical_h must be non-negative");
	return TT_LAUNCH_RETURN(call, &program, TT_INPUTS(in),
				TT_OUTPUTS(tt_call_tensor(call, "persistent_output_buffer")),
				TT_BIND(call, schema, [DIM] = lists[0], [LEFT] = lists[1],
					[RIGHT] = lists[2], [AXIS] = lists[3], [LINKS] = lists[4],
					[MEMORY] = tt_value_memory_or_like(call, in)));
}

static const struct tt_op ops[] = {
	{
		.name = "ttnn.experimental.neighbor_pad_async",
		.doc = "Every device's tensor with rows of its neighbours around it.",
		.sigs = {"input_tensor: Tensor, dim: ints, padding_left: ints, padding_right: ints, "
			 "padding_mode: str, cluster_axis: ints, neighbor_semaphore: any, "
			 "barrier_semaphore: any, *, num_links: ints? = None, "
			 "memory_config: MemoryConfig? = None, topology: Topology? = Linear, "
			 "persistent_output_buffer: Tensor? = None, logical_h: int = 0, "
			 "t_front_pad: int = 0"},
		.expand = pad_expand,
		.golden = tt_golden_neighbor_pad,
		.pcc = 0.999,
		.programs = (const struct tt_prog *const[]){&program, NULL},
	},
};

const struct tt_op_family tt_family_neighbors = {"collective", ops, TT_COUNT(ops)};
