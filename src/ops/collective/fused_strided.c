/*
 * fused_strided.c: strided_all_gather_async, which gathers in the order in which a product takes blocks, and
 * strided_all_gather_minimal_matmul_async with that product.
 *
 * Models StridedAllGatherAsync and StridedAllGatherMinimalMatmulAsync of ttnn 0.81: refusals, tensors, the buffers of the
 * product and of those who send; two cores more gather the signals where they fit. Not modelled: strides, and who signals
 * what.
 */
#include <inttypes.h>

#include "device/device.h"
#include "golden/golden_collective.h"
#include "golden/golden_fused.h"
#include "ops/collective/fused_minimal.h"
#include "ops/op_enums.h"
#include "ops/usual.h"

#define SEMAPHORES .text = TT_TEXT_EACH, .fixed = "<GlobalSemaphore>", .unkeyed = true
#define XY .text = TT_TEXT_FIXED, .fixed = "<xy_pair>"

/* How it gathers. */
#define STRIDED_ATTRS(X)                                                                           \
	X(S_DIM, "dim")                                                                            \
	X(S_LINKS, "num_links")                                                                    \
	X(S_SIZE, "ring_size")                                                                     \
	X(S_MEMORY, "output_mem_config")                                                           \
	X(S_TOPOLOGY, "topology")                                                                  \
	X(S_SIGNALS, "semaphore", SEMAPHORES)                                                      \
	X(S_AXIS, "cluster_axis")                                                                  \
	X(S_WORKERS, "num_workers_per_link")                                                       \
	X(S_BUFFERS, "num_buffers_per_channel")                                                    \
	X(S_CORES_Y, "mm_cores_y")                                                                 \
	X(S_BLOCK_H, "mm_block_ht")                                                                \
	X(S_BLOCK_W, "mm_block_wt")
TT_ATTRS(strided_schema, "StridedAllGatherAsyncParams", STRIDED_ATTRS);

#define WHOLE_ATTRS(X)                                                                             \
	X(GATHERING, "strided_all_gather_async_struct")                                            \
	X(PRODUCT, "matmul_struct")                                                                \
	X(OFFSET, "all_gather_core_grid_offset", XY)                                               \
	X(LOCAL, "read_local_slice_from_input")                                                    \
	X(GATHER_OP, "ag_op")                                                                      \
	X(AGGREGATORS, "mm_signal_aggregator_mode")
TT_ATTRS(strided_matmul_schema, "StridedAllGatherMinimalMatmulAsyncParams", WHOLE_ATTRS);
static const struct tt_schema gather_op_schema = {"StridedAllGatherAsync", NULL, 0, false};

enum { AGGREGATORS_AUTO, AGGREGATORS_ON, AGGREGATORS_OFF };

static const struct ttnn_value *strided(const struct tt_launch *launch)
{
	return launch->attrs[GATHERING].items;
}

static tt_status strided_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[TT_BLOCKS_IN]->spec;
	struct ttnn_shape shape = in->shape;
	int64_t dim = strided(launch)[S_DIM].integer;

	TT_NEED(shape.rank == 4 && launch->inputs[TT_BLOCKS_WEIGHT]->spec.shape.rank >= 2 &&
			dim < 4,
		"StridedAllGatherMinimalMatmulAsync takes tensors of four dimensions, and a "
		"matrix");
	shape.dim[dim] *= (uint32_t)strided(launch)[S_SIZE].integer;
	TT_TRY(tt_blocks_infer(launch, 1, shape));
	if (tt_infer_given(launch, 0))
		return TTNN_OK;
	return tt_spec_simple(&launch->specs[0], &shape, in->dtype, in->layout,
			      strided(launch)[S_MEMORY].memory);
}

/* How its gate is told of, in the words of this operation. */
static tt_status strided_check_gated(const struct tt_launch *launch)
{
	const struct ttnn_value *attrs = tt_blocks_attrs(launch);
	const struct tt_tensor *a = launch->inputs[TT_BLOCKS_ADDED],
			       *b = launch->inputs[TT_BLOCKS_GATE];
	uint32_t n = tt_shape_last(&launch->inputs[TT_BLOCKS_WEIGHT]->spec.shape, 1);
	int64_t chunks = attrs[TT_MINIMAL_CHUNKS].integer;
	bool activated = tt_value_given(&attrs[TT_MINIMAL_ACTIVATION]);

	TT_REQUIRE(!a == !b,
		   "tensor_args.fused_ternary_input_a.has_value() == "
		   "tensor_args.fused_ternary_input_b.has_value()",
		   "StridedAllGatherMinimalMatmulAsync fused addcmul requires both ternary inputs "
		   "(a and b) or neither.");
	if (tt_blocks_swiglu(launch)) {
		TT_REQUIRE(!activated, "!attributes.matmul_struct.fused_activation.has_value()",
			   "StridedAllGatherMinimalMatmulAsync cannot combine fuse_swiglu with a "
			   "unary fused_activation");
		TT_REQUIRE(!a, "!tensor_args.fused_ternary_input_a.has_value()",
			   "StridedAllGatherMinimalMatmulAsync cannot combine fuse_swiglu with "
			   "fused ternary (addcmul)");
		TT_REQUIRE(n % (2 * TT_TILE) == 0, "N % (2 * tt::constants::TILE_WIDTH) == 0",
			   "StridedAllGatherMinimalMatmulAsync fuse_swiglu requires weight width "
			   "N=%u to be a multiple of 2*TILE_WIDTH=%u",
			   n, 2u * TT_TILE);
		TT_REQUIRE(n / chunks % (2 * TT_TILE) == 0,
			   "(N / chunks) % (2 * tt::constants::TILE_WIDTH) == 0",
			   "StridedAllGatherMinimalMatmulAsync fuse_swiglu requires per-chunk "
			   "weight width N/chunks=%" PRId64 " to be a multiple of 2*TILE_WIDTH=%u",
			   n / chunks, 2u * TT_TILE);
	}
	if (!a)
		return TTNN_OK;
	TT_REQUIRE(!activated, "!attributes.matmul_struct.fused_activation.has_value()",
		   "StridedAllGatherMinimalMatmulAsync cannot combine fused_activation with "
		   "ternary (addcmul) inputs.");
	TT_REQUIRE(a->spec.layout == TTNN_TILE && b->spec.layout == TTNN_TILE,
		   "ternary_a.layout() == tt::tt_metal::Layout::TILE && ternary_b.layout() == "
		   "tt::tt_metal::Layout::TILE",
		   "StridedAllGatherMinimalMatmulAsync ternary inputs must be TILE layout.");
	return tt_minimal_check_gated(&launch->inputs[TT_BLOCKS_ADDED]->spec.shape,
				      &launch->inputs[TT_BLOCKS_GATE]->spec.shape,
				      &launch->inputs[TT_BLOCKS_IN]->spec.shape,
				      tt_blocks_width(launch));
}

/* Behind what upstream refuses: what nothing could be computed of. */
static tt_status strided_check_fits(const struct tt_launch *launch)
{
	const struct ttnn_value *config = &tt_blocks_attrs(launch)[TT_MINIMAL_CONFIG];
	struct ttnn_shape shape = launch->inputs[TT_BLOCKS_IN]->spec.shape;
	const struct ttnn_tensor_spec *w = &launch->inputs[TT_BLOCKS_WEIGHT]->spec;
	const struct tt_tensor *bias = launch->inputs[TT_BLOCKS_BIAS];
	uint32_t n = tt_shape_last(&w->shape, 1);

	shape.dim[3] *= (uint32_t)strided(launch)[S_SIZE].integer;
	TT_NEED(launch->inputs[TT_BLOCKS_IN]->spec.layout == TTNN_TILE && w->layout == TTNN_TILE &&
			tt_blocks_takes(launch->inputs[TT_BLOCKS_IN]) &&
			tt_blocks_takes(launch->inputs[TT_BLOCKS_WEIGHT]),
		"StridedAllGatherMinimalMatmulAsync multiplies tiles of floats");
	TT_NEED(shape.dim[3] == tt_shape_last(&w->shape, 2) && w->pages,
		"StridedAllGatherMinimalMatmulAsync: a row has %u values, a column of the weights "
		"%u",
		shape.dim[3], tt_shape_last(&w->shape, 2));
	for (uint32_t i = 0; i + 2 < w->shape.rank; i++)
		TT_NEED(w->shape.dim[i] == 1,
			"StridedAllGatherMinimalMatmulAsync takes one matrix of weights");
	TT_NEED(!bias || (tt_shape_last(&bias->spec.shape, 1) == n &&
			  tt_shape_last(&bias->spec.shape, 2) == 1),
		"StridedAllGatherMinimalMatmulAsync: the bias is a row of %u values", n);
	TT_NEED(config->items[TT_MINIMAL_GRID].kind == TTNN_VALUE_CORE,
		"StridedAllGatherMinimalMatmulAsync needs the grid of its config");
	return tt_check_given(launch, 0, &shape);
}

static tt_status strided_validate(struct tt_launch *launch)
{
	const struct ttnn_shape *in = &launch->inputs[TT_BLOCKS_IN]->spec.padded;
	const struct ttnn_value *attrs = strided(launch);

	TT_REQUIRE(attrs[S_DIM].integer == 3, "attributes.strided_all_gather_async_struct.dim == 3",
		   "StridedAllGatherMinimalMatmulAsync requires dim=3 for the AllGather "
		   "operations.");
	TT_REQUIRE(in->dim[0] == 1 && in->dim[1] == 1,
		   "tensor_args.input_tensor.padded_shape()[0] == 1 && "
		   "tensor_args.input_tensor.padded_shape()[1] == 1",
		   "StridedAllGatherMinimalMatmulAsync requires input tensor to have batch size "
		   "of 1.");
	TT_TRY(strided_check_gated(launch));
	TT_TRY(strided_check_fits(launch));
	if (attrs[S_TOPOLOGY].integer != TT_TOPOLOGY_LINEAR)
		TT_TRY(tt_blocks_check_ring(launch, tt_group_axis(&attrs[S_AXIS])));
	return TTNN_OK;
}

/* Cores of the grid, row by row, that stay on it behind an offset, of so many. */
static uint32_t cores_on_grid(const struct tt_launch *launch, uint32_t count)
{
	struct ttnn_core from = launch->attrs[OFFSET].core;
	uint32_t inside = 0;

	for (uint32_t i = 0; i < count && i < ttnn_core_set_cores(launch->device->grid); i++) {
		struct ttnn_core core =
			tt_core_set_at(launch->device->grid, i, TTNN_ORIENT_ROW_MAJOR);

		core.x += from.x;
		core.y += from.y;
		inside += tt_core_set_contains(launch->device->grid, core);
	}
	return inside;
}

/* For each direction a core gathers the signals, if they fit behind the senders: it needs a semaphore for each worker. */
static tt_status check_aggregators(const struct tt_launch *launch)
{
	const struct ttnn_value *attrs = strided(launch), *given = &attrs[S_SIGNALS];
	int64_t mode = launch->attrs[AGGREGATORS].integer;
	uint32_t workers = (uint32_t)(attrs[S_WORKERS].integer * attrs[S_LINKS].integer);
	uint32_t senders = 2 * (workers + (uint32_t)attrs[S_LINKS].integer), all = senders + 2;
	uint32_t inside = cores_on_grid(launch, all), last = 2;

	TT_REQUIRE(mode != AGGREGATORS_ON || inside == all, "aggregators_fit",
		   "strided AG: matmul-signal aggregators need %u worker cores (%u mux/worker + 2 "
		   "aggregator), but at core grid offset %u-%u the last %u of them fall outside "
		   "the worker grid",
		   all, senders, launch->attrs[OFFSET].core.x, launch->attrs[OFFSET].core.y,
		   all - inside);
	if (mode != AGGREGATORS_OFF && inside == all)
		for (; last < 2 + 2 * workers; last++)
			TT_TRY(tt_check_semaphores(given, last));
	TT_TRY(tt_check_semaphores(given, 0));
	return tt_check_semaphores(given, 1);
}

/* Rows that one core has of the result, in blocks. */
static uint64_t blocks_down(const struct tt_launch *launch, const struct tt_blocks *b)
{
	const struct ttnn_core grid =
		tt_blocks_attrs(launch)[TT_MINIMAL_CONFIG].items[TT_MINIMAL_GRID].core;
	uint32_t m = tt_shape_last(&launch->outputs[0]->spec.padded, 2);
	uint32_t n = tt_shape_last(&launch->inputs[TT_BLOCKS_WEIGHT]->spec.padded, 1);
	uint64_t side = m > n ? grid.x : grid.y;

	return side ? tt_div_up(tt_div_up(m / TT_TILE, side), b->m) : 1;
}

static tt_status strided_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_value *attrs = strided(launch);
	struct tt_launch gathering = *launch;
	struct tt_senders senders = {.workers = (uint32_t)attrs[S_WORKERS].integer,
				     .mux = 1,
				     .from = &launch->attrs[OFFSET].core};
	uint64_t down, weights = tt_blocks_tile(launch->inputs[TT_BLOCKS_WEIGHT]);
	uint64_t result = tt_blocks_tile(launch->outputs[1]);
	const ttnn_core_set *cores;
	struct tt_blocks b;
	bool split;

	TT_TRY(tt_blocks_find(&b, launch));
	down = blocks_down(launch, &b);
	split = !launch->inputs[TT_BLOCKS_ADDED] && !tt_blocks_swiglu(launch) && down == 1 &&
		b.m > 1;
	TT_TRY(TT_PLAN(plan, b.cores,
		       TT_CB_ROW(0, "in0_cb", .pages = 2 * b.m * b.k,
				 .page = tt_blocks_tile(launch->outputs[0])),
		       TT_CB_ROW(1, "in1_cb", .pages = 2 * b.k * b.n, .page = weights),
		       TT_CB_ROW(7, "in1_scratch_cb", .pages = b.k * b.n, .page = weights),
		       TT_CB_ROW(2, "out_cb",
				 .pages = b.m * b.n * (down == 1 ? 1 : 2) /
					  (tt_blocks_swiglu(launch) ? 2 : 1),
				 .page = result),
		       TT_CB_ROW(8, "out_cb_b", .pages = split ? b.m * b.n : 0, .page = result)));
	TT_TRY(tt_blocks_more(plan, launch, &b));
	gathering.prog = &(const struct tt_prog){.attrs = &strided_schema};
	gathering.attrs = attrs;
	TT_TRY(tt_sender_cores(&cores, &gathering, &senders));
	TT_TRY(check_aggregators(launch));
	return TT_PLAN(plan, cores,
		       TT_CB_ROW(0, "sender", .pages = 3 * tt_packet_pages(launch),
				 .page = launch->inputs[TT_BLOCKS_IN]->spec.page_bytes));
}

static tt_status strided_kernel(struct tt_launch *launch)
{
	struct tt_tensor *inputs[5] = {launch->outputs[0], launch->inputs[TT_BLOCKS_WEIGHT]};
	struct tt_launch part;

	TT_TRY(tt_part_gather(launch, &(struct tt_gathering){launch->outputs[0],
							     launch->inputs[TT_BLOCKS_IN], 3,
							     &strided(launch)[S_AXIS]}));
	part = tt_blocks_part(launch, inputs, 1);
	return tt_part_run(&part);
}

/* All but semaphores. */
static void strided_key(struct tt_key *key, const struct tt_launch *launch)
{
	const struct ttnn_value *attrs = strided(launch);

	for (size_t i = 0; i < strided_schema_count; i++)
		if (!strided_schema_fields[i].unkeyed)
			tt_key_values(key, &attrs[i], 1);
	tt_key_values(key, &launch->attrs[PRODUCT], 3);
	tt_key_values(key, &launch->attrs[AGGREGATORS], 1);
	for (size_t i = 0; i < launch->input_count; i++) {
		tt_key_number(key, launch->inputs[i] != NULL);
		if (launch->inputs[i])
			tt_key_spec(key, &launch->inputs[i]->spec);
	}
}

static const struct tt_prog strided_minimal = {
	.device_op = "StridedAllGatherMinimalMatmulAsync",
	.prim = "ttnn::prim::strided_all_gather_minimal_matmul_async",
	.attrs = &strided_matmul_schema,
	.infer = strided_infer,
	.validate = strided_validate,
	.key = strided_key,
	TT_FACTORY("ttnn::experimental::prim::StridedAllGatherMinimalMatmulAsyncProgramFactory",
		   strided_memory),
	TT_KERNEL(strided_kernel),
	.cost = tt_cost_product,
	.per_chip = true,
	.together = true,
	.drops_forward = true,
};

static tt_status bind_strided(struct ttnn_value *attrs, struct tt_call *call, struct tt_tensor *in,
			      const struct ttnn_value *config)
{
	const struct ttnn_value *axis = tt_call_arg(call, "cluster_axis");
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config_ag");

	attrs[S_DIM] = ttnn_v_int(tt_call_int(call, "dim", 3));
	TT_NEED(attrs[S_DIM].integer >= 0, "%s: dim is not negative", call->entry->op->name);
	attrs[S_LINKS] = ttnn_v_int(tt_call_int(call, "num_links", 1));
	attrs[S_SIZE] = ttnn_v_int(tt_group_size(tt_tensor_device(in), tt_group_axis(axis)));
	attrs[S_MEMORY] = ttnn_v_memory(memory ? memory : &in->spec.memory);
	attrs[S_SIGNALS] = *tt_call_arg(call, "multi_device_global_semaphore");
	attrs[S_WORKERS] = ttnn_v_int(tt_call_int(call, "num_workers_per_link", 1));
	attrs[S_CORES_Y] = ttnn_v_int(config->items[TT_MINIMAL_GRID].core.y);
	attrs[S_BLOCK_H] = config->items[TT_MINIMAL_M];
	attrs[S_BLOCK_W] = config->items[TT_MINIMAL_K];
	tt_attrs_bind(call, &strided_schema, attrs);
	return TTNN_OK;
}

static tt_status strided_expand(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor"),
			 *weight = tt_call_tensor(call, "weight_tensor"),
			 *given = tt_call_tensor(call, "persistent_output_buffer"),
			 *added = tt_call_tensor(call, "fused_ternary_input_a");
	const struct ttnn_value *config = tt_call_arg(call, "config"),
				*mode = tt_call_arg(call, "mm_signal_aggregator_mode");
	struct ttnn_value attrs[strided_matmul_schema_count] = {0};
	struct ttnn_value gathering[strided_schema_count] = {0};
	struct ttnn_value scalar = *tt_call_arg(call, "fused_ternary_scalar");

	TT_TRY(tt_async_on_mesh(call, in));
	TT_NEED(config->kind == TTNN_VALUE_OBJECT && config->schema == &tt_schema_minimal_matmul,
		"%s needs a MinimalMatmulConfig", call->entry->op->name);
	TT_NEED(tt_value_given(tt_call_arg(call, "compute_kernel_config")), "bad optional access");
	if (added && !tt_value_given(&scalar))
		scalar = ttnn_v_real(1);
	TT_TRY(bind_strided(gathering, call, in, config));
	attrs[GATHERING] = tt_value_object(&strided_schema, gathering);
	TT_TRY(tt_blocks_bind(&attrs[PRODUCT], call, "memory_config_mm", &scalar));
	TT_TRY(tt_part_offset(&attrs[OFFSET], call, "strided_all_gather_core_grid_offset"));
	attrs[LOCAL] = ttnn_v_bool(tt_call_bool(call, "read_local_slice_from_input", false));
	attrs[GATHER_OP] = tt_value_object(&gather_op_schema, NULL);
	attrs[AGGREGATORS] = tt_value_enum(&tt_enum_signal_aggregators,
					   mode->kind == TTNN_VALUE_ENUM ? mode->integer : 0);
	return TT_LAUNCH_RETURN(call, &strided_minimal,
				TT_INPUTS(in, weight, tt_call_tensor(call, "bias"), given, added,
					  tt_call_tensor(call, "fused_ternary_input_b")),
				TT_OUTPUTS(given), .attrs = attrs, .in_place = given != NULL);
}

/* ---- gathering alone ------------------------------------------------------------------------------------------------ */

#define MANY 262144u /* bytes over a link that four senders share; fewer have two */

static tt_status gather_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct ttnn_shape shape = in->shape;
	int64_t dim = launch->attrs[S_DIM].integer;

	if (dim > UINT32_MAX / 2)
		dim -= (int64_t)UINT32_MAX + 1 - shape.rank;
	TT_NEED(dim >= 0, "strided_all_gather_async: a tensor of %u dimensions has no such one",
		shape.rank);
	TT_TRY(tt_need_dim(&shape, (uint32_t)dim));
	shape.dim[dim] *= tt_attr_u32(launch, S_SIZE);
	TT_TRY(tt_check_given(launch, 0, &shape));
	if (tt_infer_given(launch, 0))
		return TTNN_OK;
	return tt_spec_simple(&launch->specs[0], &shape, in->dtype, in->layout,
			      launch->attrs[S_MEMORY].memory);
}

/* Chips that follow each other neighbour each other, in a ring the last the first as well. */
static tt_status check_line(const struct tt_launch *launch)
{
	uint32_t rows = launch->device->rows, cols = launch->device->cols;

	TT_REQUIRE(rows == 1 || cols == 1 || tt_value_given(&launch->attrs[S_AXIS]),
		   "forwarding_direction.has_value()",
		   "Could not find any forwarding direction from src (M0, D%u) to dst (M0, D%u)",
		   cols - 1, cols);
	if (launch->attrs[S_TOPOLOGY].integer == TT_TOPOLOGY_LINEAR)
		return TTNN_OK;
	return tt_blocks_check_ring(launch, tt_group_axis(&launch->attrs[S_AXIS]));
}

static tt_status gather_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;

	TT_TRY(tt_need_dim(&in->padded, 3));
	TT_NEED(in->pages, "strided_all_gather_async: there is nothing to gather");
	TT_TRY(check_line(launch));
	TT_TRY(tt_check_semaphores(&launch->attrs[S_SIGNALS], 0));
	return tt_check_semaphores(&launch->attrs[S_SIGNALS], 1);
}

static uint32_t gather_workers(const struct tt_launch *launch)
{
	const struct ttnn_value *given = &launch->attrs[S_WORKERS];
	uint32_t links = tt_link_count(launch), size = tt_attr_u32(launch, S_SIZE);
	double bytes = (double)launch->outputs[0]->spec.bytes * (size - 1) / size /
		       (links ? links : 1) / (tt_group_is_ring(launch) ? 2 : 1);
	uint32_t cores = (uint32_t)ttnn_core_set_cores(launch->grid);
	uint32_t workers = bytes > MANY ? 4 : 2;

	if (given->kind == TTNN_VALUE_INT)
		return (uint32_t)given->integer;
	while (workers > 1 && (uint64_t)links * 2 * (workers + 1) > cores)
		workers /= 2;
	return workers;
}

static tt_status gather_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_senders senders = {.workers = gather_workers(launch), .mux = 1};
	const ttnn_core_set *cores;

	TT_TRY(tt_sender_cores(&cores, launch, &senders));
	return TT_PLAN(plan, cores,
		       TT_CB_ROW(0, "sender", .pages = 3 * tt_packet_pages(launch),
				 .page = launch->inputs[0]->spec.page_bytes));
}

static tt_status gather_kernel(struct tt_launch *launch)
{
	int64_t dim = launch->attrs[S_DIM].integer;

	if (dim > UINT32_MAX / 2)
		dim -= (int64_t)UINT32_MAX + 1 - launch->inputs[0]->spec.shape.rank;
	return tt_part_gather(launch,
			      &(struct tt_gathering){launch->outputs[0], launch->inputs[0],
						     (uint32_t)dim, &launch->attrs[S_AXIS]});
}

static const struct tt_prog strided_gather = {
	.device_op = "StridedAllGatherAsync",
	.prim = "ttnn::prim::strided_all_gather_async",
	.attrs = &strided_schema,
	.infer = gather_infer,
	.validate = gather_validate,
	TT_FACTORY("ttnn::experimental::prim::StridedAllGatherAsyncProgramFactory", gather_memory),
	TT_KERNEL(gather_kernel),
	.cost = tt_cost_unmodelled_move,
	.per_chip = true,
	.together = true,
	.drops_forward = true,
};

static tt_status gather_expand(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor"),
			 *given = tt_call_tensor(call, "persistent_output_buffer");
	struct ttnn_value attrs[strided_schema_count] = {0}, *topology = &attrs[S_TOPOLOGY];

	TT_TRY(tt_async_on_mesh(call, in));
	attrs[S_SIZE] = ttnn_v_int(tt_group_size(tt_tensor_device(in),
						 tt_group_axis(tt_call_arg(call, "cluster_axis"))));
	TT_REQUIRE(attrs[S_SIZE].integer > 1, "num_devices > 1",
		   "strided_all_gather_async op will only work for num_devices > 1, but has %d",
		   (int)attrs[S_SIZE].integer);
	attrs[S_DIM] = ttnn_v_int((uint32_t)tt_call_int(call, "dim", 3));
	attrs[S_MEMORY] = tt_value_memory_or_like(call, in);
	attrs[S_SIGNALS] = *tt_call_arg(call, "multi_device_global_semaphore");
	*topology = *tt_call_arg(call, "topology");
	if (attrs[S_SIZE].integer == 2)
		*topology = tt_value_enum(&tt_enum_topology, TT_TOPOLOGY_LINEAR);
	tt_attrs_bind(call, &strided_schema, attrs);
	return TT_LAUNCH_RETURN(call, &strided_gather, TT_INPUTS(in, given), TT_OUTPUTS(given),
				.attrs = attrs, .in_place = given != NULL);
}

/* ---- rows ----------------------------------------------------------------------------------------------------------- */

static const struct tt_op ops[] = {
	{.name = "ttnn.experimental.strided_all_gather_minimal_matmul_async",
	 .doc = "The parts of all devices, one behind the other, and the product of them and a "
		"matrix, in blocks of a given size.",
	 .sigs = {"input_tensor: Tensor, weight_tensor: Tensor, "
		  "persistent_output_buffer: Tensor?, dim: int, "
		  "multi_device_global_semaphore: any, "
		  "strided_all_gather_core_grid_offset: CoreCoord, *, num_links: int = 1, "
		  "memory_config_ag: MemoryConfig? = None, topology: Topology = Ring, "
		  "cluster_axis: int? = None, bias: Tensor? = None, "
		  "fused_activation: UnaryWithParam? = None, config: ProgramConfig? = None, "
		  "memory_config_mm: MemoryConfig? = None, "
		  "compute_kernel_config: ComputeConfig? = None, "
		  "num_workers_per_link: int? = None, num_buffers_per_channel: int? = None, "
		  "read_local_slice_from_input: bool? = None, "
		  "fused_ternary_input_a: Tensor? = None, fused_ternary_input_b: Tensor? = None, "
		  "fused_ternary_scalar: float? = None, chunks: int = 1, "
		  "mm_signal_aggregator_mode: enum? = None, fuse_swiglu: bool = False"},
	 .expand = strided_expand,
	 .golden = tt_golden_strided_minimal,
	 .gives = "[Tensor]",
	 TT_PROGRAMS(&strided_minimal)},
	{.name = "ttnn.experimental.strided_all_gather_async",
	 .doc = "The parts of all devices, one behind the other, as a product takes them.",
	 .family = "collective_strided",
	 .sigs = {"input_tensor: Tensor, persistent_output_buffer: Tensor?, dim: int, "
		  "multi_device_global_semaphore: any, *, num_links: size = 1, "
		  "memory_config: MemoryConfig? = None, topology: Topology = Ring, "
		  "cluster_axis: size? = None, num_workers_per_link: size? = None, "
		  "num_buffers_per_channel: size? = None, mm_cores_y: size? = None, "
		  "mm_block_ht: size? = None, mm_block_wt: size? = None"},
	 .expand = gather_expand,
	 .golden = tt_golden_all_gather,
	 TT_PROGRAMS(&strided_gather)},
};

const struct tt_op_family tt_family_fused_strided = {"collective_fused", ops, TT_COUNT(ops)};
