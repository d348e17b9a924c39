/*
 * high_bw.c: high_bw_all_gather, which puts the parts of the chips of a row or column behind one another in a tensor of the
 * caller's: all of them, one batch of a cache, or only what is in use, which a tensor may say.
 *
 * Models HighBwAllGatherDeviceOperation of ttnn 0.81: refusals, semaphores, and the buffers of HighBwAllGatherUnicastFactory:
 * more senders where pages go to all banks. Not modelled: rings that wind through a whole mesh, routes of several hops.
 */
#include <inttypes.h>
#include <string.h>
#include <ttnn_frontend.h>

#include "backend/backend.h"
#include "device/device.h"
#include "device/devtensor.h"
#include "device/fabric.h"
#include "device/generation.h"
#include "golden/golden_collective.h"
#include "ops/collective/async.h"
#include "ops/collective/exchange.h"
#include "ops/op_enums.h"
#include "ops/usual.h"

#define SIGNAL .text = TT_TEXT_FIXED, .fixed = "<GlobalSemaphore>", .unkeyed = true

#define ATTRS(X)                                                                                   \
	X(DIM, "dim")                                                                              \
	X(MEMORY, "output_mem_config")                                                             \
	X(AXIS, "cluster_axis")                                                                    \
	X(WHOLE, "linearized_mesh_ring")                                                           \
	X(FABRIC, "fabric_config")                                                                 \
	X(DEVICES, "axis_num_devices")                                                             \
	X(SIZE, "num_devices")                                                                     \
	X(LINKS, "num_links")                                                                      \
	X(RING_ROWS, "ring_rows")                                                                  \
	X(RING_COLS, "ring_cols")                                                                  \
	X(PACKET, "packet_size")                                                                   \
	X(SUB_DEVICE, "requested_subdevice_id", .text = TT_TEXT_FIXED, .fixed = "<StrongType>")    \
	X(SUB_CORES, "requested_sub_core_grid", .text = TT_TEXT_FIXED, .fixed = "<CoreRangeSet>")  \
	X(SUB_DEVICE_OF, "subdevice_id", .text = TT_TEXT_ALWAYS, .fixed = "<StrongType>")          \
	X(CORES, "sub_core_grid", .text = TT_TEXT_ALWAYS, .fixed = "<CoreRangeSet>")               \
	X(READY, "ready_semaphore", SIGNAL)                                                        \
	X(VALID, "data_valid_semaphore", SIGNAL)                                                   \
	X(BATCH, "input_batch_index")                                                              \
	X(ACTIVE, "gathered_dim_size")                                                             \
	X(LAYERS, "batch_slot_num_layers")                                                         \
	X(LAYER, "batch_slot_layer_idx")                                                           \
	X(SLAB, "gathered_slab_global")                                                            \
	X(AXIS_LINKS, "axis_num_links", .unprinted = true)
TT_ATTRS(schema, "HighBwAllGatherParams", ATTRS);

enum { IN, OUT, USER, PREFIX };

#define SELF "high_bw_all_gather "
#define MANY 1500000u   /* bytes over a link that are worth a sender for each bank, */
#define MOST 32000000u  /* and eight at least */
#define NUMBER_BYTES 64 /* of a buffer for one number */

/* ---- what is gathered ------------------------------------------------------------------------------------------------- */

static uint32_t dim_of(const struct tt_launch *launch)
{
	return tt_attr_u32(launch, DIM);
}

/* The axis of the mesh that its chips are along; -1: both. */
static int64_t axis_of(const struct tt_launch *launch)
{
	return launch->attrs[WHOLE].boolean ? -1 : launch->attrs[AXIS].integer;
}

static bool given(const struct tt_launch *launch, int attr)
{
	return tt_value_given(&launch->attrs[attr]);
}

/* One batch of several is gathered, which a number or a tensor tells. */
static bool one_batch(const struct tt_launch *launch)
{
	return given(launch, BATCH) || launch->inputs[USER];
}

static bool a_part(const struct tt_launch *launch)
{
	return given(launch, ACTIVE) || launch->inputs[PREFIX];
}

static uint32_t link_count(const struct tt_launch *launch)
{
	return given(launch, LINKS) ? tt_attr_u32(launch, LINKS) : tt_attr_u32(launch, AXIS_LINKS);
}

/* ---- refusals --------------------------------------------------------------------------------------------------------- */

/* One whole number on the device. */
static tt_status check_number(const struct tt_tensor *tensor, const char *name)
{
	TT_REQUIRE(tensor->spec.dtype == TTNN_UINT32, "meta.dtype() == DataType::UINT32",
		   SELF "%s must be UINT32, got DataType::%s", name,
		   ttnn_dtype_name(tensor->spec.dtype, TTNN_DIALECT_TT_METAL));
	TT_REQUIRE(tensor->spec.layout == TTNN_ROW_MAJOR, "meta.layout() == ROW_MAJOR_LAYOUT",
		   SELF "%s must be ROW_MAJOR", name);
	TT_REQUIRE(tt_shape_count(&tensor->spec.shape) == 1, "meta.logical_volume() == 1",
		   SELF "%s must hold exactly one element, got volume %" PRIu64, name,
		   tt_shape_count(&tensor->spec.shape));
	return TTNN_OK;
}

static tt_status check_numbers(const struct tt_launch *launch)
{
	int64_t slab = launch->attrs[SLAB].integer;
	uint32_t size = tt_attr_u32(launch, SIZE);

	if (launch->inputs[USER]) {
		TT_REQUIRE(!given(launch, BATCH), "!args.input_batch_index.has_value()",
			   "high_bw_all_gather: input_batch_index and input_batch_index_tensor are "
			   "mutually exclusive -- pass the scalar OR the 1-element tensor, never "
			   "both (the tensor is the trace-safe form)");
		TT_TRY(check_number(launch->inputs[USER], "input_batch_index_tensor"));
	}
	if (!launch->inputs[PREFIX]) {
		TT_REQUIRE(slab == 0, "args.gathered_slab_global == 0",
			   SELF "gathered_slab_global is only meaningful with "
				"gathered_prefix_tensor");
		return TTNN_OK;
	}
	TT_REQUIRE(
		!given(launch, ACTIVE), "!args.gathered_dim_size.has_value()",
		"high_bw_all_gather: gathered_dim_size and gathered_prefix_tensor are mutually "
		"exclusive -- pass the scalar extent OR the 1-element start-position tensor (the "
		"tensor is the trace-safe form)");
	TT_REQUIRE(slab > 0, "args.gathered_slab_global > 0",
		   SELF
		   "gathered_prefix_tensor requires gathered_slab_global > 0 (the block-cyclic "
		   "slab width in gathered-dim elements); the reader rounds the populated "
		   "prefix up to whole slabs");
	TT_REQUIRE(slab % size == 0, "args.gathered_slab_global % args.num_devices == 0",
		   SELF "gathered_slab_global %" PRId64 " must divide evenly across %u devices",
		   slab, size);
	return check_number(launch->inputs[PREFIX], "gathered_prefix_tensor");
}

static tt_status check_batch(const struct tt_launch *launch, struct ttnn_shape *want)
{
	const struct ttnn_shape *in = &launch->inputs[IN]->spec.padded,
				*out = &launch->outputs[0]->spec.padded;
	int64_t layer = launch->attrs[LAYER].integer, layers = launch->attrs[LAYERS].integer;
	char format[192];

	if (!one_batch(launch))
		return TTNN_OK;
	TT_REQUIRE(dim_of(launch) != 0, "args.dim != 0",
		   SELF "input_batch_index cannot be used when gathering dim 0");
	TT_REQUIRE(!given(launch, BATCH) || tt_attr_u32(launch, BATCH) < in->dim[0],
		   "*args.input_batch_index < input_padded_shape[0]",
		   SELF "input_batch_index %u must be < input batch %u", tt_attr_u32(launch, BATCH),
		   in->dim[0]);
	TT_REQUIRE(!launch->inputs[USER] || layer < layers,
		   "args.batch_slot_layer_idx < args.batch_slot_num_layers",
		   SELF "batch_slot_layer_idx %" PRId64 " must be < batch_slot_num_layers %" PRId64,
		   layer, layers);
	TT_REQUIRE(out->dim[0] == 1, "output_shape[0] == 1",
		   SELF "selected-batch output must have batch 1, got %u", out->dim[0]);
	snprintf(format, sizeof(format),
		 SELF "selected-batch path requires singleton dimensions between batch and dim; "
		      "input shape %%s, output shape %%s, dim %u",
		 dim_of(launch));
	for (uint32_t i = 1; i < dim_of(launch); i++)
		if (in->dim[i] != 1 || out->dim[i] != 1)
			return tt_fail_shapes(TTNN_INVALID,
					      "input_padded_shape[i] == 1 && output_shape[i] == 1",
					      format, in, out);
	want->dim[0] = 1;
	return TTNN_OK;
}

static tt_status check_active(const struct tt_launch *launch, uint32_t all)
{
	int64_t active = launch->attrs[ACTIVE].integer;
	uint32_t size = tt_attr_u32(launch, SIZE);

	if (!given(launch, ACTIVE))
		return TTNN_OK;
	TT_REQUIRE(active > 0 && active <= all,
		   "gathered_dim_size > 0 && gathered_dim_size <= expected_output_shape[args.dim]",
		   SELF "gathered_dim_size %" PRId64 " must be in (0, %u]", active, all);
	TT_REQUIRE(active % size == 0, "gathered_dim_size % args.num_devices == 0",
		   SELF "gathered_dim_size %" PRId64 " must divide evenly across %u devices",
		   active, size);
	return TTNN_OK;
}

static tt_status check_output(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec,
				      *out = &launch->outputs[0]->spec;
	struct ttnn_shape want = in->padded;

	TT_REQUIRE(out->layout == in->layout, "output_tensor.layout() == input_tensor.layout()",
		   "Output tensor layout Layout::%s should be same as input tensor layout "
		   "Layout::%s",
		   tt_enum_name(&tt_enum_layout, out->layout),
		   tt_enum_name(&tt_enum_layout, in->layout));
	TT_REQUIRE(out->dtype == in->dtype, "output_tensor.dtype() == input_tensor.dtype()",
		   "Output tensor dtype DataType::%s should be same as input tensor dtype "
		   "DataType::%s",
		   ttnn_dtype_name(out->dtype, TTNN_DIALECT_TT_METAL),
		   ttnn_dtype_name(in->dtype, TTNN_DIALECT_TT_METAL));
	want.dim[dim_of(launch)] *= tt_attr_u32(launch, SIZE);
	TT_REQUIRE(out->padded.rank == want.rank,
		   "output_shape.size() == input_padded_shape.size()",
		   "Output tensor shape should have same number of dimensions as input tensor but "
		   "has %u",
		   out->padded.rank);
	TT_TRY(check_batch(launch, &want));
	if (!ttnn_shape_equal(&out->padded, &want))
		return tt_fail_shapes(TTNN_INVALID, "output_shape == expected_output_shape",
				      "Output tensor shape must be the worst-case gathered shape "
				      "%s, got %s",
				      &want, &out->padded);
	TT_TRY(check_active(launch, want.dim[dim_of(launch)]));
	TT_REQUIRE(out->memory.layout == TTNN_INTERLEAVED && out->memory.buffer == TTNN_DRAM,
		   "args.output_mem_config.memory_layout() == TensorMemoryLayout::INTERLEAVED && "
		   "args.output_mem_config.buffer_type() == BufferType::DRAM",
		   SELF "requires interleaved DRAM output");
	return TTNN_OK;
}

/* A tensor that is cut over the whole mesh along the dimension; its ring is not modelled. */
static tt_status check_whole(const struct tt_launch *launch)
{
	uint64_t spread = launch->inputs[IN]->spread, parts = 1;

	if (!launch->attrs[WHOLE].boolean)
		return TTNN_OK;
	for (unsigned i = 0; i < TT_SPREAD_DIMS; i++) {
		struct tt_spread axis = tt_spread_at(spread, i);
		int32_t dim = axis.dim < 0 ? axis.dim + (int32_t)launch->inputs[IN]->spec.shape.rank
					   : axis.dim;

		if (axis.extent && axis.shard && dim == (int32_t)dim_of(launch))
			parts *= axis.extent;
	}
	TT_REQUIRE(parts == tt_attr_u32(launch, SIZE),
		   "ttnn::operations::ccl::common::tensor_dim_shard_factor(input_tensor, args.dim) "
		   "== args.num_devices",
		   SELF "full-mesh ring requires the input to be sharded over gather dim %u across "
			"all %u devices",
		   dim_of(launch), tt_attr_u32(launch, SIZE));
	return TTNN_OK;
}

static tt_status gather_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec;

	TT_REQUIRE(given(launch, READY) == given(launch, VALID), "has_ready == has_data_valid",
		   SELF "ready_semaphore and data_valid_semaphore must be supplied together or "
			"both omitted");
	TT_TRY(check_numbers(launch));
	TT_REQUIRE(launch->attrs[DIM].integer >= 0 && dim_of(launch) < in->shape.rank,
		   "args.dim >= -rank && args.dim < rank",
		   "Invalid gather dim %d for %uD input tensor", (int)launch->attrs[DIM].integer,
		   in->shape.rank);
	TT_TRY(check_whole(launch));
	TT_REQUIRE(in->memory.buffer == TTNN_DRAM, "input_tensor.buffer()->is_dram()",
		   SELF "requires DRAM input");
	TT_TRY(check_output(launch));
	TT_NEED(in->pages, "there is nothing to gather");
	return TTNN_OK;
}

/* ---- the program -------------------------------------------------------------------------------------------------------- */

static tt_status gather_infer(struct tt_launch *launch)
{
	tt_infer_given(launch, 0);
	return TTNN_OK;
}

static uint32_t banks_of(const struct tt_launch *launch)
{
	return launch->device->info.dram_banks;
}

/* Pages of every bank have a sender of their own. */
static bool covers_banks(const struct tt_launch *launch, uint32_t workers)
{
	const struct tt_tensor *in = launch->inputs[IN], *out = launch->outputs[0];
	uint64_t pages = in->spec.pages, senders = (uint64_t)workers * link_count(launch),
		 stripe = 1;
	const struct ttnn_shape *shape = &in->spec.padded;
	uint64_t count = tt_shape_count(shape);

	for (uint32_t i = dim_of(launch); i < shape->rank; i++)
		stripe *= shape->dim[i];
	stripe = count ? stripe * pages / count : 0;
	if (one_batch(launch) || a_part(launch))
		pages = stripe;
	return in->spec.page_bytes == out->spec.page_bytes && stripe == pages &&
	       senders >= banks_of(launch) && pages >= senders;
}

static bool fits(const struct tt_launch *launch, uint32_t workers)
{
	return (uint64_t)link_count(launch) * 2 * (workers + (workers > 1)) <=
	       ttnn_core_set_cores(launch->grid);
}

/* As many senders in each direction of a link as bytes are worth it: of Wormhole so many that there is one for each bank. */
static uint32_t wanted_workers(const struct tt_launch *launch)
{
	uint64_t bytes = launch->outputs[0]->spec.bytes / link_count(launch);
	bool wormhole = !tt_is_blackhole(launch->device);
	uint32_t some = wormhole ? (uint32_t)tt_div_up(banks_of(launch), link_count(launch)) : 4;
	uint32_t most = some > 8 ? some : 8, workers = 2;

	if (bytes >= MANY && covers_banks(launch, some))
		workers = some;
	if (bytes >= MOST && covers_banks(launch, most))
		return most;
	if (bytes >= MOST && !wormhole && !covers_banks(launch, some) &&
	    launch->inputs[IN]->spec.page_bytes >= 2048)
		return most;
	return workers;
}

/* Fewer where there are not so many cores. */
static tt_status find_workers(uint32_t *out, const struct tt_launch *launch)
{
	bool wormhole = !tt_is_blackhole(launch->device), owned;
	uint32_t some = wormhole ? (uint32_t)tt_div_up(banks_of(launch), link_count(launch)) : 4;
	const uint32_t tiers[] = {some > 8 ? some : 8, some, 2, 1};
	uint32_t wanted = wanted_workers(launch);

	*out = wanted;
	owned = covers_banks(launch, wanted);
	for (size_t i = 0; i < TT_COUNT(tiers) && !fits(launch, *out); i++)
		if (tiers[i] <= wanted)
			*out = tiers[i];
	if (owned && !covers_banks(launch, *out) && *out > 2)
		*out = 2;
	TT_REQUIRE(fits(launch, *out), "worker_count_fits(workers_per_dir)",
		   SELF "needs at least %u worker cores for %u link(s), but only %zu are available",
		   link_count(launch) * 2 * (*out + (*out > 1)), link_count(launch),
		   ttnn_core_set_cores(launch->grid));
	return TTNN_OK;
}

static tt_status check_parts(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec;
	uint32_t dim = dim_of(launch), rank = in->padded.rank, size = tt_attr_u32(launch, SIZE);
	uint32_t part =
		given(launch, ACTIVE) ? tt_attr_u32(launch, ACTIVE) / size : in->padded.dim[dim];

	if (in->layout == TTNN_TILE && dim + 2 >= rank)
		TT_REQUIRE(part % TT_TILE == 0,
			   dim + 1 == rank ? "extent % tile_spec.get_width() == 0"
					   : "extent % tile_spec.get_height() == 0",
			   SELF "active gather extent %u must be tile-%s aligned (%u)", part,
			   dim + 1 == rank ? "width" : "height", TT_TILE);
	for (uint32_t i = 1; i < dim && a_part(launch); i++)
		if (in->padded.dim[i] != 1)
			return tt_fail_shapes(TTNN_INVALID, "input_shape[i] == 1",
					      SELF "selected/partial gather requires singleton "
						   "dimensions between batch and dim; input shape "
						   "%s",
					      &in->padded, &in->padded);
	TT_REQUIRE(!a_part(launch) || one_batch(launch) || in->padded.dim[0] == 1 || dim == 0,
		   "input_shape[0] == 1",
		   SELF
		   "gathered_dim_size without input_batch_index requires input batch 1, got %u",
		   in->padded.dim[0]);
	return TTNN_OK;
}

static tt_status gather_choose(uint32_t *out, struct tt_launch *launch)
{
	uint32_t links = link_count(launch), most = tt_attr_u32(launch, AXIS_LINKS);

	*out = 0;
	TT_REQUIRE(links <= most || ttnn_fabric_get() == TTNN_FABRIC_NONE,
		   "*args.num_links <= discovered_num_links",
		   SELF "requested %u links, but only %u usable links were discovered on "
			"cluster_axis %d",
		   links, most, (int)launch->attrs[AXIS].integer);
	TT_NEED(links, SELF "needs a link");
	if (!given(launch, READY))
		TT_TRY(tt_keep_semaphores(launch, 2, false));
	return check_parts(launch);
}

static tt_status gather_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	uint64_t page = launch->inputs[IN]->spec.page_bytes, alignment = 32;
	uint32_t numbers = (launch->inputs[USER] != NULL) + 2u * (launch->inputs[PREFIX] != NULL);
	struct tt_launch sending = *launch;
	struct ttnn_value attrs[schema_count];
	struct tt_senders senders = {0};
	const ttnn_core_set *cores;
	uint64_t packet;

	TT_TRY(find_workers(&senders.workers, launch));
	senders.mux = senders.workers > 1;
	memcpy(attrs, launch->attrs, sizeof(attrs));
	attrs[LINKS] = ttnn_v_int(link_count(launch));
	sending.attrs = attrs;
	TT_TRY(tt_sender_cores(&cores, &sending, &senders));
	page = (page + alignment - 1) / alignment * alignment;
	packet = TT_FABRIC_PAYLOAD / page;
	TT_TRY(TT_PLAN(plan, cores,
		       TT_CB_ROW(0, "src0", .pages = 3, .page = page * (packet ? packet : 1))));
	for (uint32_t i = 0; i < numbers; i++)
		TT_TRY(TT_PLAN(plan, cores,
			       TT_CB_ROW(1 + i, "number", .pages = 1, .page = NUMBER_BYTES)));
	return TTNN_OK;
}

/* ---- numbers ------------------------------------------------------------------------------------------------------------- */

/* What a chip gives of its own, and where its place in the result is. */
struct slice {
	uint32_t batch;
	uint64_t active, stride; /* along the dimension */
};

static tt_status find_slice(struct slice *out, const struct tt_launch *launch, uint32_t chip)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec;
	uint32_t dim = dim_of(launch), size = tt_attr_u32(launch, SIZE);
	uint64_t all = (uint64_t)in->padded.dim[dim] * size, slab = tt_attr_u32(launch, SLAB);
	double *number, batch = given(launch, BATCH) ? tt_attr_u32(launch, BATCH) : 0;

	*out = (struct slice){.stride = in->padded.dim[dim], .active = in->padded.dim[dim]};
	if (launch->inputs[USER]) {
		TT_TRY(tt_chip_read(&number, launch, USER, chip));
		batch = number[0] * (double)launch->attrs[LAYERS].integer +
			(double)launch->attrs[LAYER].integer;
	}
	TT_NEED(batch >= 0 && batch < in->shape.dim[0] + (dim == 0),
		SELF "selects batch %.0f of %u", batch, in->shape.dim[0]);
	out->batch = (uint32_t)batch;
	if (given(launch, ACTIVE))
		out->active = tt_attr_u32(launch, ACTIVE) / size;
	if (launch->inputs[PREFIX]) {
		TT_TRY(tt_chip_read(&number, launch, PREFIX, chip));
		TT_NEED(number[0] >= 0 && number[0] <= UINT32_MAX,
			SELF "begins at a place beyond all");
		out->active = tt_div_up((uint64_t)number[0] + slab, slab) * slab;
		out->active = (out->active < all ? out->active : all) / size;
	}
	if (out->active > in->shape.dim[dim])
		out->active = in->shape.dim[dim];
	return TTNN_OK;
}

/* The part of chip `from`, to its place in a result. */
static tt_status take(struct tt_tensor *out, const struct tt_launch *launch, uint32_t from,
		      uint32_t place)
{
	const struct ttnn_shape *shape = &out->spec.shape;
	struct tt_move_loop loops[TTNN_MAX_RANK];
	uint32_t dim = dim_of(launch);
	struct tt_move_job job = {.out = out, .loops = loops, .loop_count = shape->rank};
	struct slice slice;
	uint64_t left;

	TT_TRY(find_slice(&slice, launch, from));
	for (uint32_t d = 0; d < shape->rank; d++)
		loops[d] = (struct tt_move_loop){shape->dim[d], (int32_t)d, (int32_t)d, 1, 1};
	if (slice.stride * place >= shape->dim[dim])
		return TTNN_OK;
	left = shape->dim[dim] - slice.stride * place;
	loops[dim].extent = (uint32_t)(slice.active < left ? slice.active : left);
	job.out_start[dim] = (int64_t)(slice.stride * place);
	if (one_batch(launch))
		job.in_start[0] = slice.batch;
	TT_TRY(tt_tensor_resident(&job.in, launch->inputs[IN], from, TT_BUFFER_READ));
	TT_TRY(tt_scratch_keep(job.in));
	return loops[dim].extent ? tt_backend_get()->move(&job) : TTNN_OK;
}

static tt_status gather_on(const struct tt_launch *launch, uint32_t chip)
{
	struct tt_group group;
	struct tt_tensor *out;
	tt_status status = TTNN_OK;

	tt_group_find(&group, launch->device, axis_of(launch), chip);
	TT_TRY(tt_tensor_resident(&out, launch->outputs[0], chip, TT_BUFFER_UPDATE));
	for (uint32_t i = 0; i < group.count && status == TTNN_OK; i++)
		status = take(out, launch, group.chips[i], i);
	ttnn_tensor_unref(out);
	return status;
}

static tt_status gather_kernel(struct tt_launch *launch)
{
	for (uint32_t chip = 0; chip < launch->device->rows * launch->device->cols; chip++)
		TT_TRY(gather_on(launch, chip));
	return TTNN_OK;
}

static uint64_t gather_spread(const struct tt_launch *launch)
{
	return tt_group_spread(launch->inputs[IN], axis_of(launch), TT_GROUP_GATHERED,
			       dim_of(launch));
}

static const struct tt_prog program = {
	.device_op = "HighBwAllGatherDeviceOperation",
	.prim = "ttnn::prim::high_bw_all_gather",
	.attrs = &schema,
	.infer = gather_infer,
	.validate = gather_validate,
	TT_FACTORY("ttnn::operations::experimental::high_bw_all_gather::"
		   "HighBwAllGatherUnicastFactory",
		   gather_memory),
	.choose = gather_choose,
	TT_KERNEL(gather_kernel),
	.spread = gather_spread,
	.cost = tt_cost_unmodelled_move,
	.per_chip = true,
	.together = true,
};

/* ---- call ----------------------------------------------------------------------------------------------------------------- */

/* The axis is one of the mesh, with several chips; without one the fabric has two. */
static tt_status check_axis(const struct tt_call *call, const struct tt_device *device)
{
	const struct ttnn_value *axis = tt_call_arg(call, "cluster_axis"),
				*links = tt_call_arg(call, "num_links");
	enum ttnn_fabric fabric = ttnn_fabric_get();

	if (tt_value_given(axis)) {
		TT_REQUIRE(axis->integer < 2,
			   "*cluster_axis < 2 && *cluster_axis < mesh_shape.dims()",
			   SELF "cluster_axis must be 0, 1, or None; got %" PRId64
				" for mesh shape MeshShape([%u, %u])",
			   axis->integer, device->rows, device->cols);
		TT_REQUIRE(tt_group_size(device, axis->integer) > 1,
			   "mesh_shape[*cluster_axis] > 1",
			   SELF "cluster_axis %" PRId64
				" selects a singleton mesh axis in mesh shape MeshShape([%u, %u])",
			   axis->integer, device->rows, device->cols);
	}
	TT_REQUIRE(tt_value_given(axis) || fabric >= TTNN_FABRIC_2D || fabric == TTNN_FABRIC_NONE,
		   "!linearized_mesh_ring || tt::tt_fabric::is_2d_fabric_config(fabric_config)",
		   SELF "cluster_axis=None requires a 2D fabric config (FABRIC_2D or "
			"FABRIC_2D_TORUS_X/Y/XY), got FabricConfig::%s",
		   tt_enum_name(&tt_enum_fabric, fabric));
	TT_REQUIRE(!tt_value_given(links) || links->integer > 0, "*num_links > 0",
		   SELF "num_links must be greater than 0 when specified, got %" PRId64,
		   links->integer);
	return TTNN_OK;
}

/* So many chips along each axis, as graphs tell it. */
static tt_status devices_text(struct ttnn_value *out, struct tt_call *call,
			      const struct tt_group_axes *axes)
{
	char *text = tt_arena_alloc(call->arena, 32);

	TT_NEED_MEMORY(text);
	snprintf(text, 32, "array(%d, %d)", (int)axes->devices.items[0].integer,
		 (int)axes->devices.items[1].integer);
	*out = ttnn_v_string(text);
	return TTNN_OK;
}

static tt_status gather_expand(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor"),
			 *out = tt_call_tensor(call, "output_tensor");
	const struct ttnn_value *axis = tt_call_arg(call, "cluster_axis"),
				*cores_given = tt_call_arg(call, "sub_core_grids");
	struct ttnn_value attrs[schema_count] = {0};
	int64_t dim = tt_call_int(call, "dim", 0), along = tt_group_axis(axis);
	const ttnn_core_set *cores;
	struct tt_group_axes axes;
	struct tt_device *device = tt_tensor_device(in);

	TT_NEED(device && tt_tensor_device(out) == device,
		SELF "input and output tensors must be on the same mesh device");
	TT_TRY(check_axis(call, device));
	TT_TRY(tt_group_axes(&axes, call, device, along));
	TT_TRY(tt_group_cores(&cores, call, device));
	attrs[DIM] = ttnn_v_int(dim < 0 ? dim + in->spec.shape.rank : dim);
	attrs[MEMORY] = ttnn_v_memory(&out->spec.memory);
	attrs[AXIS] = ttnn_v_int(along < 0 ? 0 : along);
	attrs[WHOLE] = ttnn_v_bool(along < 0);
	attrs[FABRIC] = axes.fabric;
	TT_TRY(devices_text(&attrs[DEVICES], call, &axes));
	attrs[SIZE] = ttnn_v_int(axes.size);
	attrs[RING_ROWS] = ttnn_v_int(along < 0 ? device->rows : 0);
	attrs[RING_COLS] = ttnn_v_int(along < 0 ? device->cols : 0);
	attrs[PACKET] = ttnn_v_int(TT_FABRIC_PAYLOAD);
	attrs[SUB_DEVICE] = *tt_call_arg(call, "subdevice_id");
	attrs[SUB_CORES] = tt_value_given(cores_given) ? *cores_given : ttnn_v_none();
	attrs[CORES] = tt_value_cores(cores);
	attrs[BATCH] = *tt_call_arg(call, "input_batch_index");
	attrs[ACTIVE] = *tt_call_arg(call, "gathered_dim_size");
	attrs[AXIS_LINKS] = axes.links.items[along == 0 ? 0 : 1];
	tt_attrs_bind(call, &schema, attrs);
	return TT_LAUNCH_RETURN(call, &program,
				TT_INPUTS(in, out, tt_call_tensor(call, "input_batch_index_tensor"),
					  tt_call_tensor(call, "gathered_prefix_tensor")),
				TT_OUTPUTS(out), .attrs = attrs, .grid = cores, .in_place = true);
}

static const struct tt_op ops[] = {
	{.name = "ttnn.experimental.high_bw_all_gather",
	 .doc = "The parts of all devices one behind the other, in a given tensor: all, or those in use.",
	 .sigs = {"input_tensor: Tensor, dim: int, output_tensor: Tensor, *, cluster_axis: size?, "
		  "subdevice_id: SubDeviceId? = None, sub_core_grids: CoreRangeSet? = None, "
		  "num_links: size? = None, input_batch_index: size? = None, "
		  "gathered_dim_size: size? = None, input_batch_index_tensor: Tensor? = None, "
		  "batch_slot_num_layers: size = 1, batch_slot_layer_idx: size = 0, "
		  "gathered_prefix_tensor: Tensor? = None, gathered_slab_global: size = 0, "
		  "ready_semaphore: any? = None, data_valid_semaphore: any? = None"},
	 .expand = gather_expand,
	 .golden = tt_golden_high_bw_gather,
	 TT_PROGRAMS(&program)},
};

const struct tt_op_family tt_family_high_bw = {"collective_strided", ops, TT_COUNT(ops)};
