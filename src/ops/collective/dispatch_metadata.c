/*
 * dispatch_metadata.c: all_to_all_dispatch_metadata: tokens to the chips of their experts, and everybody's choices and scores to one
 * core of all chips.
 *
 * Models AllToAllDispatchMetadataDeviceOperation of ttnn 0.81 (experimental/ccl/all_to_all_dispatch_metadata): refusals, output
 * specs, one program for each chip with its buffers, and two semaphores on the workers unless the caller's is taken. Not modelled:
 * routes; rows that no expert of a chip asked for are zeros, which upstream leaves as they were.
 */
#include <inttypes.h>

#include "backend/backend.h"
#include "device/devtensor.h"
#include "device/fabric.h"
#include "golden/golden_collective.h"
#include "ops/collective/exchange.h"
#include "ops/movement/movement.h"
#include "ops/op_enums.h"

#define ATTRS(X)                                                                                   \
	X(SHARED, "shared_expert_ids")                                                             \
	X(WORKERS, "worker_core_range_set", .text = TT_TEXT_ALWAYS, .fixed = "<CoreRangeSet>")     \
	X(AXIS, "axis")                                                                            \
	X(LINKS, "num_links")                                                                      \
	X(TOPOLOGY, "topology")                                                                    \
	X(DRAIN, "drain_sync_tilizer_core", .text = TT_TEXT_FIXED, .fixed = "<xy_pair>")           \
	X(MODE, "worker_mode")                                                                     \
	X(MUX, "mux_core_range_set", .text = TT_TEXT_ALWAYS, .fixed = "<CoreRangeSet>")            \
	X(ALGORITHM, "dispatch_algorithm")                                                         \
	X(SIGNAL, "cross_device_semaphore", .text = TT_TEXT_FIXED, .fixed = "<GlobalSemaphore>",   \
	  .unkeyed = true)
TT_ATTRS(schema, "operation_attributes_t", ATTRS);

enum { TOKENS, CHOICES, SCORES, MAPPING, INPUTS };
enum { TOKENS_OUT, CHOICES_OUT, SCORES_OUT, OUTPUTS };

#define HEADERS 8 /* of packets */

static const struct ttnn_shape *shape_of(const struct tt_launch *launch, size_t input)
{
	return &launch->inputs[input]->spec.shape;
}

/* The chips along the axis, or all. */
static uint32_t members_of(const struct tt_launch *launch)
{
	return tt_group_size(launch->device, tt_group_axis(&launch->attrs[AXIS]));
}

static uint64_t own_tokens(const struct tt_launch *launch)
{
	const struct ttnn_shape *in = shape_of(launch, TOKENS);
	uint32_t width = tt_shape_last(in, 1);

	return width ? tt_shape_count(in) / width : 0;
}

/* ---- specs and refusals ------------------------------------------------------------------------------------- */

/* All tokens of a group in rows; choices and scores in one shard. */
static tt_status metadata_infer(struct tt_launch *launch)
{
	static const size_t from[] = {TOKENS, CHOICES, SCORES};
	const struct ttnn_shape *in = shape_of(launch, TOKENS);
	uint32_t k = tt_shape_last(shape_of(launch, CHOICES), 1) + launch->attrs[SHARED].count;
	struct ttnn_memory_config memory = {.buffer = TTNN_DRAM};
	struct ttnn_core_range drain = {launch->attrs[DRAIN].core, launch->attrs[DRAIN].core};
	uint64_t rows;

	TT_TRY(tt_need_dim(in, 2));
	rows = (uint64_t)in->dim[0] * in->dim[1] * in->dim[2] * members_of(launch);
	TT_NEED(rows <= UINT32_MAX, "there are too many tokens: %" PRIu64, rows);
	launch->output_count = OUTPUTS;
	for (size_t i = 0; i < OUTPUTS; i++) {
		const struct ttnn_tensor_spec *like = &launch->inputs[from[i]]->spec;
		struct ttnn_shape shape = {3, {1, (uint32_t)rows, i ? k : tt_shape_last(in, 1)}};

		if (tt_infer_given(launch, i))
			continue;
		if (i == CHOICES_OUT) {
			memory = (struct ttnn_memory_config){.layout = TTNN_HEIGHT_SHARDED,
							     .buffer = TTNN_L1,
							     .has_shard = true};
			memory.shard =
				(struct ttnn_shard_spec){.height = (uint32_t)rows, .width = k};
			TT_TRY(ttnn_core_set_make(&memory.shard.grid, &drain, 1));
		}
		TT_TRY(tt_spec_simple(&launch->specs[i], &shape, like->dtype, like->layout,
				      &memory));
	}
	return TTNN_OK;
}

static tt_status check_inputs(const struct tt_launch *launch)
{
	static const char *const names[] = {"Input", "Indices", "Scores"};
	static const char *const kinds[] = {"bfloat16", "uint16", "bfloat16"};
	static const char *const conditions[][2] = {
		{"input_tensor.layout() == tt::tt_metal::Layout::ROW_MAJOR",
		 "input_tensor.dtype() == tt::tt_metal::DataType::BFLOAT16"},
		{"indices_tensor.layout() == tt::tt_metal::Layout::ROW_MAJOR",
		 "indices_tensor.dtype() == tt::tt_metal::DataType::UINT16"},
		{"scores_tensor.layout() == tt::tt_metal::Layout::ROW_MAJOR",
		 "scores_tensor.dtype() == tt::tt_metal::DataType::BFLOAT16"}};

	TT_REQUIRE(tt_value_given(&launch->attrs[AXIS]), "operation_attributes.axis.has_value()",
		   "Cluster axis argument required");
	for (size_t i = TOKENS; i <= SCORES; i++)
		TT_REQUIRE(launch->inputs[i]->spec.layout == TTNN_ROW_MAJOR, conditions[i][0],
			   "%s tensor must be in row major layout", names[i]);
	for (size_t i = TOKENS; i <= SCORES; i++)
		TT_REQUIRE(launch->inputs[i]->spec.dtype ==
				   (i == CHOICES ? TTNN_UINT16 : TTNN_BFLOAT16),
			   conditions[i][1], "%s tensor must be %s", names[i], kinds[i]);
	if (!ttnn_shape_equal(shape_of(launch, CHOICES), shape_of(launch, SCORES)))
		return tt_fail_shapes(TTNN_INVALID, "indices_shape == scores_shape",
				      "Scores tensor shape %s must match indices tensor shape %s",
				      shape_of(launch, SCORES), shape_of(launch, CHOICES));
	return TTNN_OK;
}

/* Upstream takes given tensors of any shape, and writes beyond their ends. */
static tt_status check_outputs(const struct tt_launch *launch)
{
	static const char *const names[] = {"Output", "Output indices", "Output scores"};
	static const char *const conditions[] = {
		"sparse_token_tensor.layout() == tt::tt_metal::Layout::ROW_MAJOR",
		"indices_tensor_out.layout() == tt::tt_metal::Layout::ROW_MAJOR",
		"scores_tensor_out.layout() == tt::tt_metal::Layout::ROW_MAJOR"};
	const struct ttnn_shape *in = shape_of(launch, TOKENS);
	uint32_t k = tt_shape_last(shape_of(launch, CHOICES), 1) + launch->attrs[SHARED].count;
	uint64_t rows = (uint64_t)in->dim[0] * in->dim[1] * in->dim[2] * members_of(launch);

	TT_REQUIRE(
		!tt_value_given(&launch->attrs[SIGNAL]) || launch->extra,
		"tensor_args.optional_output_tensors.has_value()",
		"When cross_device_semaphore is provided, all 3 output tensors (tokens, indices, "
		"scores) must be provided as persistent buffers to enable semaphore-free mode");
	for (size_t i = 0; i < OUTPUTS; i++)
		TT_REQUIRE(launch->outputs[i]->spec.layout == TTNN_ROW_MAJOR, conditions[i],
			   "%s tensor must be in row major layout", names[i]);
	for (size_t i = 0; i < OUTPUTS; i++) {
		struct ttnn_shape shape = {3, {1, (uint32_t)rows, i ? k : tt_shape_last(in, 1)}};

		TT_TRY(tt_check_given(launch, i, &shape));
	}
	return TTNN_OK;
}

static tt_status check_mapping(const struct tt_launch *launch)
{
	const struct ttnn_shape *mapping = shape_of(launch, MAPPING);

	TT_REQUIRE(mapping->rank == 2, "mapping_shape.rank() == 2",
		   "Expert mapping tensor must have rank 2 with shape [devices, experts], got rank "
		   "%u",
		   mapping->rank);
	TT_REQUIRE(mapping->dim[0] == tt_chip_count(launch), "mapping_shape[0] == expected_devices",
		   "Expert mapping tensor first dimension must equal number of devices (%u), got "
		   "%u",
		   tt_chip_count(launch), mapping->dim[0]);
	TT_REQUIRE(launch->attrs[SHARED].kind != TTNN_VALUE_LIST || launch->attrs[SHARED].count,
		   "!shared_expert_ids->empty()",
		   "If shared_expert_ids is provided it must not be empty");
	return TTNN_OK;
}

static tt_status metadata_validate(struct tt_launch *launch)
{
	const struct ttnn_shape *in = shape_of(launch, TOKENS), *ids = shape_of(launch, CHOICES);

	TT_TRY(check_inputs(launch));
	TT_REQUIRE(in->rank != 4 || ids->rank >= 1, "indices", "Indices must have dimensions");
	if (in->rank == 4)
		TT_TRY(check_outputs(launch));
	TT_REQUIRE(launch->attrs[LINKS].integer > 0, "operation_attributes.num_links > 0",
		   "Number of links must be greater than 0");
	TT_REQUIRE(launch->attrs[TOPOLOGY].integer != TT_TOPOLOGY_LINEAR ||
			   launch->attrs[ALGORITHM].integer != TT_DISPATCH_ONE_WAY,
		   "!(operation_attributes.topology == tt::tt_fabric::Topology::Linear && "
		   "operation_attributes.dispatch_algorithm == "
		   "DispatchAlgorithm::SPARSE_MCAST_LINEAR)",
		   "DispatchAlgorithm::SPARSE_MCAST_LINEAR is not supported with Linear fabric "
		   "topology");
	TT_REQUIRE(in->rank == 4 && ids->rank == 4,
		   "input_shape.rank() == 4 && (input_shape.rank() == indices_shape.rank())",
		   "Input and indices tensor must have the same number of dimensions");
	for (uint32_t i = 0; i < 3; i++)
		TT_REQUIRE(in->dim[i] == ids->dim[i], "input_shape[i] == indices_shape[i]",
			   "Input and indices tensor must have the same shape for all dimensions "
			   "except the last. Mismatch at dimension %u with shape %u and %u",
			   i, in->dim[i], ids->dim[i]);
	return check_mapping(launch);
}

/* ---- the program -------------------------------------------------------------------------------------------- */

/* Neighbours along the axis of the chip that has most of them; none if it is alone. */
static uint32_t most_neighbors(const struct tt_launch *launch)
{
	uint32_t members = members_of(launch);

	return members < 3 ? members - 1 : 2;
}

static tt_status metadata_choose(uint32_t *out, struct tt_launch *launch)
{
	*out = 0;
	if (!tt_value_given(&launch->attrs[SIGNAL]))
		TT_TRY(tt_keep_semaphores(launch, 2, false));
	TT_REQUIRE(members_of(launch) > 1 || ttnn_fabric_get() == TTNN_FABRIC_NONE,
		   "!neighbors.empty()", "No neighbors found");
	return TTNN_OK;
}

/* Cores that pass on what several workers of a link send: one for each link and neighbour. */
static tt_status check_mux(const struct tt_launch *launch)
{
	uint64_t links = tt_attr_u32(launch, LINKS);
	uint64_t have = ttnn_core_set_cores(launch->attrs[MUX].core_set);
	uint64_t need = links * most_neighbors(launch);

	TT_REQUIRE(have >= links, "mux_cores.size() >= num_links",
		   "Not enough mux cores %" PRIu64 " to support %" PRIu64
		   " links (need at least 1 mux per link)",
		   have, links);
	TT_REQUIRE(have >= need,
		   "corerange_to_cores(mux_core_range_set).size() >= num_mux_cores_needed",
		   "Not enough mux cores in mux_core_range_set. Need %" PRIu64 " cores (%" PRIu64
		   " links × %u neighbors), have %" PRIu64,
		   need, links, most_neighbors(launch), have);
	return TTNN_OK;
}

/* A token twice, and what is known of a link's tokens: choices, scores, who gets them. */
static tt_status metadata_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	uint64_t links = tt_attr_u32(launch, LINKS), all = ttnn_core_set_cores(launch->grid);
	uint64_t choices = tt_aligned_page(launch->outputs[CHOICES_OUT]);
	uint64_t scores = tt_aligned_page(launch->outputs[SCORES_OUT]);
	uint64_t tokens = own_tokens(launch), each = tt_div_up(tokens, links);
	bool mux = launch->attrs[MODE].integer != TT_WORKER_DIRECT;
	const ttnn_core_set *cores;

	TT_REQUIRE(all >= links, "subdevice_cores.size() >= num_links",
		   "Not enough cores %" PRIu64 " to send all links %" PRIu64, all, links);
	TT_TRY(tt_cores_first(&cores, launch->grid, mux ? all / links * links : links,
			      TTNN_ORIENT_ROW_MAJOR));
	if (mux)
		TT_TRY(check_mux(launch));
	return TT_PLAN(
		plan, cores,
		TT_CB_ROW(0, "input_tensor", .pages = 2,
			  .page = tt_aligned_page(launch->inputs[TOKENS])),
		TT_CB_ROW(1, "indices_tensor", .pages = each, .page = choices),
		TT_CB_ROW(6, "scores_tensor", .pages = each, .page = scores),
		TT_CB_ROW(2, "mapping_tensor", .pages = 1,
			  .page = tt_aligned_page(launch->inputs[MAPPING])),
		TT_CB_ROW(3, "packet_header", .pages = HEADERS,
			  .page = tt_fabric_header(tt_fabric_of(false))),
		TT_CB_ROW(4, "send_preparation", .pages = tt_chip_count(launch), .page = each),
		TT_CB_ROW(5, "metadata", .pages = tokens, .page = choices + scores));
}

/* Whether one of a token's experts is on the chip, as the chip that has the token sees it. */
static bool wants(const struct tt_launch *launch, const double *ids, const double *owners,
		  uint32_t chip)
{
	uint32_t experts = tt_shape_last(shape_of(launch, MAPPING), 1);
	uint32_t k = tt_shape_last(shape_of(launch, CHOICES), 1);
	const struct ttnn_value *shared = &launch->attrs[SHARED];

	if (launch->attrs[ALGORITHM].integer == TT_DISPATCH_BROADCAST)
		return true;
	for (uint32_t i = 0; i < k + shared->count; i++) {
		double expert = i < k ? ids[i] : (double)shared->items[i - k].integer;

		if (expert < experts && owners[(uint64_t)expert] == chip)
			return true;
	}
	return false;
}

/* A token of another chip as a row. */
static tt_status move_token(struct tt_tensor *out, struct tt_tensor *in, uint64_t token,
			    uint64_t row)
{
	const struct ttnn_shape *from = &in->spec.shape;
	const struct tt_move_loop along = {from->dim[3], 3, 2, 1, 1};
	struct tt_move_job job = {.out = out, .in = in, .loops = &along, .loop_count = 1};

	job.in_start[2] = (int64_t)(token % from->dim[2]);
	job.in_start[1] = (int64_t)(token / from->dim[2] % from->dim[1]);
	job.in_start[0] = (int64_t)(token / from->dim[2] / from->dim[1]);
	job.out_start[1] = (int64_t)row;
	return tt_backend_get()->move(&job);
}

/* What a chip gets of one member of its group. */
struct arrivals {
	struct tt_tensor *tokens; /* on the chip */
	float *choices, *scores;
	uint32_t chip, member; /* the member's place */
};

static tt_status take_from(struct arrivals *to, const struct tt_launch *launch, uint32_t chip)
{
	const struct ttnn_value *shared = &launch->attrs[SHARED];
	uint64_t k = tt_shape_last(shape_of(launch, CHOICES), 1), all = k + shared->count;
	uint64_t tokens = own_tokens(launch), experts = tt_shape_last(shape_of(launch, MAPPING), 1);
	double *ids, *scores, *mapping;
	struct tt_tensor *in;
	tt_status status = TTNN_OK;

	TT_TRY(tt_chip_read(&ids, launch, CHOICES, chip));
	TT_TRY(tt_chip_read(&scores, launch, SCORES, chip));
	TT_TRY(tt_chip_read(&mapping, launch, MAPPING, chip));
	TT_TRY(tt_tensor_resident(&in, launch->inputs[TOKENS], chip, TT_BUFFER_READ));
	for (uint64_t token = 0; token < tokens && status == TTNN_OK; token++) {
		uint64_t row = to->member * tokens + token;

		for (uint64_t i = 0; i < all; i++) {
			to->choices[row * all + i] = i < k ? (float)ids[token * k + i]
							   : (float)shared->items[i - k].integer;
			to->scores[row * all + i] = i < k ? (float)scores[token * k + i] : 1;
		}
		if (wants(launch, ids + token * k, mapping + chip * experts, to->chip))
			status = move_token(to->tokens, in, token, row);
	}
	ttnn_tensor_unref(in);
	return status;
}

static tt_status metadata_chip(const struct tt_launch *launch, uint32_t chip)
{
	struct arrivals to = {.chip = chip,
			      .choices = tt_chip_zeros(launch, CHOICES_OUT),
			      .scores = tt_chip_zeros(launch, SCORES_OUT)};
	struct tt_group group;
	tt_status status;

	if (!to.choices || !to.scores)
		return tt_fail_nomem();
	tt_group_find(&group, launch->device, tt_group_axis(&launch->attrs[AXIS]), chip);
	TT_TRY(tt_tensor_resident(&to.tokens, launch->outputs[TOKENS_OUT], chip,
				  TT_BUFFER_OVERWRITE));
	status = tt_backend_get()->fill(to.tokens, 0, TT_FILL_ALL);
	for (; to.member < group.count && status == TTNN_OK; to.member++)
		status = take_from(&to, launch, group.chips[to.member]);
	ttnn_tensor_unref(to.tokens);
	TT_TRY(status);
	TT_TRY(tt_chip_write(launch, CHOICES_OUT, chip, to.choices));
	return tt_chip_write(launch, SCORES_OUT, chip, to.scores);
}

static tt_status metadata_kernel(struct tt_launch *launch)
{
	for (uint32_t chip = 0; chip < tt_chip_count(launch); chip++)
		TT_TRY(metadata_chip(launch, chip));
	return TTNN_OK;
}

static const struct tt_prog program = {
	.device_op = "AllToAllDispatchMetadataDeviceOperation",
	.prim = "ttnn::prim::all_to_all_dispatch_metadata",
	.attrs = &schema,
	.infer = metadata_infer,
	.validate = metadata_validate,
	TT_FACTORY("ttnn::operations::experimental::ccl::AllToAllDispatchMetadataDeviceOperation::"
		   "AllToAllDispatchMetadataSparse",
		   metadata_memory),
	.choose = metadata_choose,
	TT_KERNEL(metadata_kernel),
	.cost = tt_cost_unmodelled_move,
	.per_chip = true,
	.together = true,
	.kept_order = TT_KEPT_FORWARD,
	.mute = true,
};

/* ---- the call ------------------------------------------------------------------------------------------------- */

/* The core that choices and scores go to: as it was said, or that of the tensors that were given. */
static tt_status find_drain(struct ttnn_value *out, const struct tt_call *call)
{
	const struct ttnn_value *core = tt_call_arg(call, "drain_sync_tilizer_core");
	const struct tt_tensor *choices =
		tt_value_item_tensor(tt_call_arg(call, "output_tensors"), CHOICES_OUT);
	const struct ttnn_memory_config *memory = choices ? &choices->spec.memory : NULL;
	int64_t at[2];
	size_t count;

	out->kind = TTNN_VALUE_CORE;
	if (tt_value_given(core)) {
		TT_NEED(core->count == 2, "drain_sync_tilizer_core is two numbers, not %u",
			core->count);
		TT_TRY(tt_call_ints(at, &count, 2, call, "drain_sync_tilizer_core"));
		out->core = (struct ttnn_core){(uint32_t)at[0], (uint32_t)at[1]};
		return TTNN_OK;
	}
	TT_REQUIRE(!choices || memory->has_shard, "shard_spec.has_value()",
		   "Persistent metadata tensor must have a shard spec");
	TT_REQUIRE(!choices || ttnn_core_set_cores(memory->shard.grid) == 1, "cores.size() == 1",
		   "Persistent metadata tensor must be sharded on exactly 1 core, got %zu",
		   ttnn_core_set_cores(memory->shard.grid));
	TT_REQUIRE(
		choices, "resolved_drain_sync_tilizer_core.has_value()",
		"drain_sync_tilizer_core must be provided explicitly OR persistent output tensors "
		"must be provided (so drain core can be extracted from their shard spec)");
	out->core = tt_core_set_at(memory->shard.grid, 0, TTNN_ORIENT_ROW_MAJOR);
	return TTNN_OK;
}

/* The cores of this argument, or eight in a column. */
static tt_status find_cores(struct ttnn_value *out, const struct tt_call *call, const char *name,
			    uint32_t column)
{
	const struct ttnn_core_range usual = {{column, 0}, {column, 7}};
	const ttnn_core_set *cores = tt_call_core_set(call, name);

	if (!cores)
		TT_TRY(ttnn_core_set_make(&cores, &usual, 1));
	TT_NEED(ttnn_core_set_cores(cores), "%s must not be empty", name);
	*out = tt_value_cores(cores);
	return TTNN_OK;
}

static tt_status metadata_expand(struct tt_call *call)
{
	static const char *const names[INPUTS] = {"input_tensor", "expert_indices_tensor",
						  "expert_scores_tensor", "expert_mapping_tensor"};
	const struct ttnn_value *given = tt_call_arg(call, "output_tensors");
	struct ttnn_value attrs[schema_count] = {0}, none = {0};
	int64_t axis = tt_group_axis(tt_call_arg(call, "cluster_axis"));
	const struct tt_device *device;
	struct tt_tensor *in[INPUTS];

	for (size_t i = 0; i < INPUTS; i++) {
		in[i] = tt_call_tensor(call, names[i]);
		TT_REQUIRE(i || tt_tensor_device(in[i]), "storage_type == DEVICE",
			   "%s: the tensor must be on a device", call->entry->op->name);
	}
	device = tt_tensor_device(in[TOKENS]);
	TT_NEED(!tt_value_given(given) || given->count == OUTPUTS,
		"%s: output_tensors are three, not %u", call->entry->op->name, given->count);
	TT_TRY(tt_group_links(&attrs[LINKS], call, device));
	TT_REQUIRE(axis < 2, "cluster_axis < 2", "Invalid cluster axis %" PRId64 ". Must be 0 or 1",
		   axis);
	attrs[TOPOLOGY] = tt_group_usual_topology(device, &none, axis);
	TT_TRY(find_drain(&attrs[DRAIN], call));
	TT_TRY(find_cores(&attrs[WORKERS], call, "worker_core_range_set", 0));
	TT_TRY(find_cores(&attrs[MUX], call, "mux_core_range_set", 1));
	attrs[AXIS] = *tt_call_arg(call, "cluster_axis");
	return TT_LAUNCH_RETURN(
		call, &program, .inputs = in, .input_count = INPUTS,
		TT_OUTPUTS(tt_value_item_tensor(given, 0), tt_value_item_tensor(given, 1),
			   tt_value_item_tensor(given, 2)),
		.attrs = tt_attrs_bind(call, &schema, attrs), .grid = attrs[WORKERS].core_set,
		.extra = tt_value_given(given) ? given : NULL);
}

static const struct tt_op ops[] = {
	{
		.name = "ttnn.experimental.all_to_all_dispatch_metadata",
		.doc = "Tokens to the devices of their experts, choices and scores to one core of all.",
		.sigs = {"input_tensor: Tensor, expert_indices_tensor: Tensor, "
			 "expert_scores_tensor: Tensor, expert_mapping_tensor: Tensor, *, "
			 "shared_expert_ids: sizes? = None, cluster_axis: size? = None, "
			 "output_tensors: Tensors? = None, num_links: size? = None, "
			 "drain_sync_tilizer_core: sizes? = None, worker_mode: WorkerMode = DIRECT, "
			 "dispatch_algorithm: DispatchAlgorithm = SPARSE_MCAST_SHORTEST_PATH, "
			 "worker_core_range_set: CoreRangeSet? = None, "
			 "mux_core_range_set: CoreRangeSet? = None, "
			 "cross_device_semaphore: any? = None"},
		.expand = metadata_expand,
		.golden = tt_golden_dispatch_metadata,
		.gives = "[Tensor]",
		TT_PROGRAMS(&program),
	},
};

const struct tt_op_family tt_family_dispatch_metadata = {"collective_moe", ops, TT_COUNT(ops)};
