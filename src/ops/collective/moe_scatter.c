/*
 * moe_scatter.c: deepseek_moe_reduce_scatter: of eight tensors on each of eight chips in a ring, a chip gets the sum of those at
 * its place.
 *
 * Models DeepseekMoEReduceScatterDeviceOperation of ttnn 0.81 (experimental/ccl/deepseek_moe_reduce_scatter): refusals, eight
 * tensors for what is on the way, the cores of shards and one more where they are odd, buffers that lie in the tensors, two
 * semaphores. Not modelled: routes; sums are rounded once, not at each chip.
 */
#include <inttypes.h>

#include "golden/golden_collective.h"
#include "ops/collective/collective.h"
#include "ops/movement/movement.h"
#include "ops/op_enums.h"

#define ATTRS(X)                                                                                   \
	X(MEMORY, "output_memory_config")                                                          \
	X(DIM, "dim")                                                                              \
	X(LINKS, "num_links")                                                                      \
	X(AXIS, "cluster_axis")
TT_ATTRS(schema, "DeepseekMoEReduceScatterParams", ATTRS);

#define RING 8    /* chips, and tensors of each */
#define WAYS 2    /* along a link */
#define AT_ONCE 2 /* tiles that are added up */
#define NAME "deepseek_moe_reduce_scatter"

/* Eight like those that come in, and the result. */
static tt_status moe_scatter_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct ttnn_spec_args args = {.shape = in->shape,
				      .dtype = in->dtype,
				      .layout = in->layout,
				      .tile = in->tile,
				      .memory = in->memory};

	launch->output_count = RING + 1;
	for (size_t i = 0; i <= RING; i++) {
		if (i == RING)
			args.memory = *launch->attrs[MEMORY].memory;
		TT_TRY(ttnn_tensor_spec_make(&launch->specs[i], &args));
	}
	return TTNN_OK;
}

/* How the tiles of a tensor lie in shards. */
struct shards {
	uint64_t count, tiles; /* of each */
};

static struct shards shards_of(const struct ttnn_tensor_spec *spec)
{
	uint64_t tiles = tt_shape_count(&spec->memory.nd_shard.shape) / (TT_TILE * TT_TILE);
	uint64_t all = spec->rows * spec->cols / (TT_TILE * TT_TILE);

	return (struct shards){tiles ? all / tiles : 0, tiles};
}

static tt_status check_first(const struct tt_launch *launch)
{
	const struct tt_tensor *in = launch->inputs[0];
	const struct ttnn_tensor_spec *spec = &in->spec;
	uint64_t above = 1;
	struct shards shards;

	TT_REQUIRE(spec->page_bytes % tt_page_alignment(in) == 0,
		   "first_input_tensor.buffer()->page_size() % "
		   "first_input_tensor.buffer()->alignment() == 0",
		   NAME " requires aligned pages");
	TT_REQUIRE(spec->memory.buffer == TTNN_L1, "first_input_tensor.buffer()->is_l1()",
		   NAME " requires input tensors allocated in L1");
	TT_REQUIRE(spec->layout == TTNN_TILE, "first_input_tensor.layout() == ttnn::Layout::TILE",
		   NAME " requires tiled input tensors");
	TT_REQUIRE(tt_element_bytes(in) <= 2, "first_input_tensor.element_size() <= 2",
		   NAME " requires element size <= 2 bytes for scatter_write usage");
	TT_REQUIRE(spec->padded.rank >= 2, "input_tensor_rank >= 2",
		   NAME " requires input tensor must have rank at least 2, but has %u",
		   spec->padded.rank);
	for (uint32_t i = 0; i + 1 < spec->padded.rank; i++)
		above *= spec->padded.dim[i];
	TT_REQUIRE(above == TT_TILE, "outer_dims_product == tt::constants::TILE_HEIGHT",
		   NAME " requires the collapsed upper dims to be the height of a single tile, but "
			"has %" PRIu64,
		   above);
	TT_REQUIRE(spec->memory.has_nd_shard, "first_input_tensor.nd_shard_spec().has_value()",
		   NAME " requires nd sharded input tensors");
	shards = shards_of(spec);
	TT_REQUIRE(shards.tiles && shards.tiles % 2 == 0, "num_pages_per_shard % 2 == 0",
		   NAME " requires shards have an even number pages");
	TT_REQUIRE(shards.count <= (uint64_t)WAYS * tt_attr_u32(launch, LINKS),
		   "num_shards <= num_directions_per_link * num_links",
		   NAME " requires number of shards per input tensor is <= "
			"num_directions_per_link * num_links");
	return TTNN_OK;
}

#define SAME(what_, condition_, text_)                                                             \
	TT_REQUIRE(what_, "first_input_tensor." condition_ " == input_tensor." condition_,         \
		   NAME " requires all input tensors have the same " text_)

static tt_status check_same(const struct ttnn_tensor_spec *a, const struct ttnn_tensor_spec *b)
{
	SAME(a->dtype == b->dtype, "dtype()", "dtype");
	SAME(a->layout == b->layout, "layout()", "layout");
	SAME(ttnn_shape_equal(&a->shape, &b->shape), "logical_shape()", "logical shape");
	SAME(ttnn_shape_equal(&a->padded, &b->padded), "padded_shape()", "padded shape");
	SAME(ttnn_tensor_spec_equal(a, b), "tensor_spec()", "tensor spec");
	return TTNN_OK;
}

static tt_status moe_scatter_validate(struct tt_launch *launch)
{
	uint32_t rank = launch->inputs[0]->spec.padded.rank;

	TT_REQUIRE(launch->input_count == RING, "input_tensors.size() == required_ring_size",
		   NAME " requires 8 input tensors, but has %zu", launch->input_count);
	TT_TRY(check_first(launch));
	for (size_t i = 1; i < RING; i++)
		TT_TRY(check_same(&launch->inputs[0]->spec, &launch->inputs[i]->spec));
	TT_REQUIRE(tt_group_members(launch) == RING, "num_devices == required_ring_size",
		   NAME " is hardcoded for 8 devices, but has %u", tt_group_members(launch));
	TT_REQUIRE(tt_attr_u32(launch, DIM) == rank - 1, "dim == input_tensor_rank - 1",
		   NAME " only supports scattering on the last dim, but has dim %u",
		   tt_attr_u32(launch, DIM));
	return TTNN_OK;
}

/* The core that completes a pair: the best for so many links, or the first that is free. */
static tt_status core_besides(struct ttnn_core *out, const struct tt_launch *launch,
			      const ttnn_core_set *used, uint64_t links)
{
	static const struct ttnn_core best[] = {{2, 5}, {3, 5}, {6, 5}, {0, 5}};
	uint64_t all = ttnn_core_set_cores(launch->grid);

	if (links - 1 < TT_COUNT(best)) {
		*out = best[links - 1];
		if (!tt_core_set_contains(used, *out))
			return TTNN_OK;
	}
	for (uint64_t i = 0; i < all; i++) {
		*out = tt_core_set_at(launch->grid, i, TTNN_ORIENT_ROW_MAJOR);
		if (!tt_core_set_contains(used, *out))
			return TTNN_OK;
	}
	return tt_fail_cond(TTNN_INVALID, "false", NAME " requires an even number of worker cores");
}

/* Those that have shards, and their partner. */
static tt_status find_workers(const ttnn_core_set **out, const struct tt_launch *launch)
{
	const struct ttnn_nd_shard_spec *shard = &launch->inputs[0]->spec.memory.nd_shard;
	uint64_t count = shards_of(&launch->inputs[0]->spec).count;
	struct ttnn_core_range more;
	const ttnn_core_set *partner;

	TT_REQUIRE(count <= ttnn_core_set_cores(shard->grid), "worker_cores.size() == num_shards",
		   NAME " requires each shard to be located on a different core");
	TT_TRY(tt_cores_first(out, shard->grid, count, shard->orientation));
	if (count % WAYS == 0)
		return TTNN_OK;
	TT_TRY(core_besides(&more.start, launch, *out, tt_div_up(count, WAYS)));
	more.end = more.start;
	TT_TRY(ttnn_core_set_make(&partner, &more, 1));
	return tt_core_set_merge(out, *out, partner);
}

/* What comes in, what is on the way, and two sums at a time, twice. */
static tt_status moe_scatter_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	uint64_t tiles = shards_of(in).tiles;
	const ttnn_core_set *cores;

	TT_TRY(find_workers(&cores, launch));
	for (uint32_t i = 0; i < WAYS * RING; i++)
		TT_TRY(TT_PLAN(plan, cores,
			       TT_CB_ROW(i, i < RING ? "input_slice" : "intermediate_slice",
					 .pages = tiles, .page = in->page_bytes,
					 .backing = i < RING ? launch->inputs[i]
							     : launch->outputs[i - RING])));
	return TT_PLAN(plan, cores,
		       TT_CB_ROW(16, "compute", .pages = 2 * AT_ONCE, .page = in->page_bytes));
}

static tt_status moe_scatter_choose(uint32_t *out, struct tt_launch *launch)
{
	*out = 0;
	return tt_keep_semaphores(launch, 2, false);
}

/* The tensors at the place of the chip, added up. */
static tt_status serve_moe_scatter(struct tt_tensor *out, const struct tt_launch *launch,
				   uint32_t chip, const struct tt_group *group)
{
	struct tt_launch own = *launch;

	(void)chip;
	own.inputs += group->own;
	return tt_share_sum(out, &own, group, tt_share_whole(&own, 0));
}
TT_SERVE(moe_scatter, RING)

static const struct tt_prog program = {
	.device_op = "DeepseekMoEReduceScatterDeviceOperation",
	.prim = "ttnn::prim::deepseek_moe_reduce_scatter",
	.attrs = &schema,
	.infer = moe_scatter_infer,
	.validate = moe_scatter_validate,
	TT_FACTORY("ttnn::experimental::prim::DeepseekMoEReduceScatterMeshWorkloadFactory",
		   moe_scatter_memory),
	.choose = moe_scatter_choose,
	TT_KERNEL(moe_scatter_kernel),
	.per_chip = true,
	.together = true,
	.drops_forward = true,
};

/* The tensors of the list, all on one device. */
static tt_status read_list(struct tt_tensor **out, const struct ttnn_value *list)
{
	TT_NEED(list->count > 0, NAME " requires 8 input tensors, but has 0");
	TT_NEED(list->count <= TT_PROGRAM_INPUTS_MAX, NAME " requires 8 input tensors, but has %u",
		list->count);
	for (size_t i = 0; i < list->count; i++) {
		out[i] = tt_value_item_tensor(list, i);
		TT_REQUIRE(out[i] && tt_tensor_device(out[i]),
			   "input_tensor.storage_type() == StorageType::DEVICE",
			   "Input tensor must be on device");
	}
	return TTNN_OK;
}

static tt_status moe_scatter_expand(struct tt_call *call)
{
	const struct ttnn_value *list = tt_call_arg(call, "input_tensors");
	struct ttnn_value attrs[schema_count] = {0}, topology;
	int64_t axis = tt_group_axis(tt_call_arg(call, "cluster_axis"));
	struct tt_tensor *in[TT_PROGRAM_INPUTS_MAX], *all[TT_OUTPUTS_MAX];
	int64_t dim = tt_call_int(call, "dim", 0);
	size_t count;

	TT_TRY(read_list(in, list));
	TT_TRY(tt_group_links(&attrs[LINKS], call, tt_tensor_device(in[0])));
	TT_REQUIRE(axis < 2, "cluster_axis < 2", "Invalid cluster axis %" PRId64 ". Must be 0 or 1",
		   axis);
	topology = tt_group_topology(tt_tensor_device(in[0]), tt_call_arg(call, "topology"), axis);
	TT_REQUIRE(topology.integer == TT_TOPOLOGY_RING, "usable_topology == required_topology",
		   NAME " is hardcoded for tt::tt_fabric::Topology::Ring, but has usable_topology "
			"Topology::Linear");
	attrs[DIM] = ttnn_v_int((uint32_t)(dim < 0 ? dim + in[0]->spec.shape.rank : dim));
	TT_TRY(tt_call_programs(all, &count, call,
				&(struct tt_program_args){
					.prog = &program,
					.inputs = in,
					.input_count = list->count,
					.attrs = tt_attrs_bind(call, &schema, attrs),
				}));
	tt_call_drop_all(call, all, RING);
	tt_call_return(call, all[RING]);
	return TTNN_OK;
}

static const struct tt_op ops[] = {
	{
		.name = "ttnn.experimental.deepseek_moe_reduce_scatter",
		.doc = "Of eight tensors on each device of a ring, the sum of those at its own place.",
		.sigs = {"input_tensors: Tensors, output_memory_config: MemoryConfig, dim: int, *, "
			 "num_links: size? = None, topology: Topology? = Ring, "
			 "cluster_axis: size? = None"},
		.expand = moe_scatter_expand,
		.golden = tt_golden_moe_reduce_scatter,
		TT_PROGRAMS(&program),
	},
};

const struct tt_op_family tt_family_moe_scatter = {"collective_moe", ops, TT_COUNT(ops)};
