/*
 * exchange.c: tokens to the chips of their experts, and what experts made of them back.
 *
 * Models AllToAllDispatchDeviceOperation and AllToAllCombineDeviceOperation of ttnn 0.81: refusals, output specs, one program for
 * each chip with its buffers, and two semaphores. Not modelled: routes; what upstream leaves undefined is zeros here.
 */
#include <inttypes.h>

#include "device/fabric.h"
#include "golden/golden_collective.h"
#include "ops/collective/exchange.h"
#include "ops/movement/movement.h"
#include "ops/op_enums.h"

/* Both have the same attributes, of which each prints some. */
#define ATTRS(X, DISPATCH, COMBINE)                                                                \
	X(CORES, "worker_core_range_set", .text = TT_TEXT_ALWAYS, .fixed = "<CoreRangeSet>",       \
	  .unprinted = COMBINE)                                                                    \
	X(MEMORY, "output_mem_config")                                                             \
	X(AXIS, "cluster_axis")                                                                    \
	X(LINKS, "num_links")                                                                      \
	X(TOPOLOGY, "topology")                                                                    \
	X(IMPL, "impl", .unprinted = COMBINE)                                                      \
	X(REDUCED, "locally_reduced", .unprinted = DISPATCH)                                       \
	X(CORES_TOO, "worker_core_range_set", .text = TT_TEXT_ALWAYS, .fixed = "<CoreRangeSet>",   \
	  .unprinted = DISPATCH)                                                                   \
	X(ALONG, "output_dim")                                                                     \
	X(GIVEN, "optional_output_tensors", .unprinted = true)
#define DISPATCH_ATTRS(X) ATTRS(X, true, false)
#define COMBINE_ATTRS(X) ATTRS(X, false, true)
enum { DISPATCH_ATTRS(TT_ATTR_ID) ATTR_COUNT };
static const struct tt_field dispatch_fields[ATTR_COUNT] = {DISPATCH_ATTRS(TT_ATTR_FIELD)};
static const struct tt_field combine_fields[ATTR_COUNT] = {COMBINE_ATTRS(TT_ATTR_FIELD)};
static const struct tt_schema dispatch_schema = {"operation_attributes_t", dispatch_fields,
						 ATTR_COUNT, false};
static const struct tt_schema combine_schema = {"operation_attributes_t", combine_fields,
						ATTR_COUNT, false};

/* What a chip tells its fabric for each header, as combine has it. */
#define CLIENT_BYTES 3280

enum { TOKENS, CHOICES, MAPPING };

/* Combining is given the mapping before the choices. */
static size_t place_of(const struct tt_launch *launch, size_t which)
{
	bool combine = launch->prog->attrs == &combine_schema;

	return combine && which != TOKENS ? CHOICES + MAPPING - which : which;
}

static const struct tt_tensor *input_of(const struct tt_launch *launch, size_t which)
{
	return launch->inputs[place_of(launch, which)];
}

/* ---- tokens to their experts ------------------------------------------------------------------------------- */

/* What both refuse; `choices` is what upstream calls them. */
static tt_status check_experts(const struct tt_launch *launch, const char *choices)
{
	const struct ttnn_tensor_spec *in = &input_of(launch, TOKENS)->spec;
	const struct ttnn_tensor_spec *ids = &input_of(launch, CHOICES)->spec;

	TT_REQUIRE(in->layout == TTNN_ROW_MAJOR,
		   "input_tensor.layout() == tt::tt_metal::Layout::ROW_MAJOR",
		   "Input tensor must be in row major layout");
	TT_REQUIRE(ids->layout == TTNN_ROW_MAJOR, "layout() == tt::tt_metal::Layout::ROW_MAJOR",
		   "%s tensor must be in row major layout", choices);
	TT_REQUIRE(in->dtype == TTNN_BFLOAT16,
		   "input_tensor.dtype() == tt::tt_metal::DataType::BFLOAT16",
		   "Input tensor must be bfloat16");
	TT_REQUIRE(ids->dtype == TTNN_UINT16, "dtype() == tt::tt_metal::DataType::UINT16",
		   "%s tensor must be uint16", choices);
	return TTNN_OK;
}

/* Four dimensions of everything, and a column of the mapping for every chip. */
static tt_status check_ranks(const struct tt_launch *launch, const char *text)
{
	const struct ttnn_shape *mapping = &input_of(launch, MAPPING)->spec.shape;

	TT_REQUIRE(input_of(launch, TOKENS)->spec.shape.rank == 4 &&
			   input_of(launch, CHOICES)->spec.shape.rank == 4 && mapping->rank == 4,
		   "input_shape.rank() == 4", "%s", text);
	return TTNN_OK;
}

/* Results are behind each other along batches or rows, chip after chip of a group. */
static tt_status dispatch_infer(struct tt_launch *launch)
{
	const struct ttnn_shape *in = &launch->inputs[TOKENS]->spec.shape;
	const struct ttnn_shape *ids = &launch->inputs[CHOICES]->spec.shape;
	uint32_t size = tt_group_members(launch);
	int64_t along = launch->attrs[ALONG].integer;
	struct ttnn_shape shape = {
		4, {1, in->rank ? in->dim[0] : 1, tt_shape_last(ids, 2), tt_shape_last(in, 1)}};

	TT_TRY(check_ranks(launch, "Input and indices tensor must have the same number of "
				   "dimensions"));
	if (along == 1 || along == 2)
		shape.dim[along] *= size;
	launch->output_count = 2;
	for (uint32_t i = 0; i < 2; i++) {
		if (i)
			shape.dim[3] = tt_shape_last(ids, 1);
		TT_TRY(tt_spec_simple(&launch->specs[i], &shape, launch->inputs[i]->spec.dtype,
				      launch->inputs[i]->spec.layout,
				      launch->attrs[MEMORY].memory));
	}
	return TTNN_OK;
}

static tt_status check_given(const struct tt_launch *launch, size_t which, const char *condition,
			     const char *format)
{
	if (ttnn_tensor_spec_equal(&launch->outputs[which]->spec, &launch->specs[which]))
		return TTNN_OK;
	return tt_fail_specs(condition, format, &launch->outputs[which]->spec,
			     &launch->specs[which]);
}

static tt_status dispatch_validate(struct tt_launch *launch)
{
	const struct ttnn_shape *in = &launch->inputs[TOKENS]->spec.shape;
	const struct ttnn_shape *ids = &launch->inputs[CHOICES]->spec.shape;
	int64_t along = launch->attrs[ALONG].integer;

	TT_TRY(check_experts(launch, "Indices"));
	TT_REQUIRE(!tt_memory_config_is_sharded(launch->attrs[MEMORY].memory),
		   "!operation_attributes.output_mem_config.is_sharded()",
		   "Output memory config must not be sharded");
	TT_TRY(check_given(launch, 0, "output_specs[0] == sparse_token_tensor.tensor_spec()",
			   "Optional sparse output token tensor spec %s does not match computed "
			   "output spec %s"));
	TT_TRY(check_given(launch, 1, "output_specs[1] == metadata_tensor.tensor_spec()",
			   "Optional metadata tensor spec %s does not match computed output spec "
			   "%s"));
	TT_REQUIRE(launch->attrs[LINKS].integer > 0, "operation_attributes.num_links > 0",
		   "Number of links must be greater than 0");
	for (uint32_t i = 0; i < 3; i++)
		TT_REQUIRE(in->dim[i] == ids->dim[i], "input_shape[i] == indices_shape[i]",
			   "Input and indices tensor must have the same shape for all dimensions "
			   "except the last. Mismatch at dimension %u with shape %u and %u",
			   i, in->dim[i], ids->dim[i]);
	TT_REQUIRE(along == 1 || along == 2,
		   "operation_attributes.output_concat_dim == 1 || "
		   "operation_attributes.output_concat_dim == 2",
		   "Output concat dimension must be 1 or 2, got %" PRId64
		   ". Output concat dimension is used to determine the dimension to concat the "
		   "output tokens along.",
		   along);
	TT_REQUIRE(in->dim[1] == 1, "input_shape[1] == 1",
		   "Input tensor must have one row of batches, got %u", in->dim[1]);
	return TTNN_OK;
}

/* Pages and their sizes in the order in which upstream lists them. */
struct dispatch_buffers {
	uint64_t pages[6], page[6], cores;
};

static void find_buffers(struct dispatch_buffers *out, struct tt_tensor *const in[3],
			 uint64_t links, int64_t axis)
{
	const struct tt_device *device = tt_tensor_device(in[TOKENS]);
	uint64_t width = tt_shape_last(&in[TOKENS]->spec.shape, 1);
	uint64_t tokens = width ? tt_shape_count(&in[TOKENS]->spec.shape) / width : 0;
	uint64_t each = links ? tt_div_up(tokens, links) : tokens;
	uint64_t ids = tt_aligned_page(in[CHOICES]);

	*out = (struct dispatch_buffers){
		.pages = {2, each, in[MAPPING]->spec.pages, 2, device->rows * device->cols,
			  tokens * tt_group_size(device, axis)},
		.page = {tt_aligned_page(in[TOKENS]), ids, tt_aligned_page(in[MAPPING]),
			 tt_fabric_header(tt_fabric_of(false)), each, ids},
		.cores = each ? tt_div_up(tokens, each) : 1};
	out->cores = out->cores < links ? out->cores : links;
}

static tt_status dispatch_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	static const char *const names[] = {"input",         "indices",          "mapping",
					    "packet_header", "send_preparation", "metadata"};
	bool full = strstr(launch->attrs[IMPL].text, "Full") != NULL;
	struct dispatch_buffers buffers;
	const ttnn_core_set *cores;

	find_buffers(&buffers, launch->inputs, tt_attr_u32(launch, LINKS),
		     tt_group_axis(&launch->attrs[AXIS]));
	TT_REQUIRE(tt_attr_u32(launch, LINKS) <= ttnn_core_set_cores(launch->grid),
		   "subdevice_cores.size() >= num_links",
		   "Not enough cores %zu to send all links %u", ttnn_core_set_cores(launch->grid),
		   tt_attr_u32(launch, LINKS));
	TT_TRY(tt_cores_first(&cores, launch->grid, buffers.cores, TTNN_ORIENT_ROW_MAJOR));
	for (uint32_t i = 0; i < TT_COUNT(names) - !full; i++)
		TT_TRY(TT_PLAN(plan, cores,
			       TT_CB_ROW(i, names[i], .pages = buffers.pages[i],
					 .page = buffers.page[i])));
	return TTNN_OK;
}

static tt_status exchange_choose(uint32_t *out, struct tt_launch *launch)
{
	*out = 0;
	TT_TRY(tt_keep_semaphores(launch, 2, false));
	TT_REQUIRE(tt_group_members(launch) > 1 || ttnn_fabric_get() == TTNN_FABRIC_NONE,
		   "!neighbors.empty()", "No neighbors found");
	return TTNN_OK;
}

/* Whether an expert is on a chip. */
static bool lives(const struct tt_launch *launch, const double *mapping, double expert,
		  uint32_t chip)
{
	const struct ttnn_shape *shape = &input_of(launch, MAPPING)->spec.shape;
	uint32_t experts = tt_shape_last(shape, 2), chips = tt_shape_last(shape, 1);

	return expert < experts && chip < chips && mapping[(uint64_t)expert * chips + chip] != 0;
}

/* Where the tokens of a member begin, and how far apart its batches are. */
struct span {
	uint64_t rows, first, stride;
};

static struct span span_of(const struct tt_launch *launch, const struct ttnn_shape *part,
			   uint32_t member, uint32_t members)
{
	uint64_t batches = part->dim[0], rows = part->dim[2];

	if (launch->attrs[ALONG].integer == 1)
		return (struct span){rows, member * batches * rows, rows};
	return (struct span){rows, member * rows, rows * members};
}

/* A chip gets a token if one of its experts was chosen, and every token's choices. */
static void take_tokens(const struct tt_launch *launch, float *const *out, double *const *in,
			uint32_t chip, const struct span *span)
{
	uint64_t width = tt_shape_last(&launch->inputs[TOKENS]->spec.shape, 1);
	uint64_t k = tt_shape_last(&input_of(launch, CHOICES)->spec.shape, 1);
	uint64_t tokens = tt_shape_count(&input_of(launch, CHOICES)->spec.shape) / (k ? k : 1);

	for (uint64_t token = 0; token < tokens; token++) {
		uint64_t to = span->first + token / span->rows * span->stride + token % span->rows;
		const double *ids = &in[CHOICES][token * k];
		bool here = false;

		for (uint64_t i = 0; i < k; i++) {
			out[1][to * k + i] = (float)ids[i];
			here |= lives(launch, in[MAPPING], ids[i], chip);
		}
		for (uint64_t i = 0; here && i < width; i++)
			out[0][to * width + i] = (float)in[TOKENS][token * width + i];
	}
}

/* Rows of tokens whose experts are elsewhere stay zero. */
static tt_status dispatch_kernel(struct tt_launch *launch)
{
	int64_t axis = tt_group_axis(&launch->attrs[AXIS]);

	for (uint32_t chip = 0; chip < tt_chip_count(launch); chip++) {
		float *out[2] = {tt_chip_zeros(launch, 0), tt_chip_zeros(launch, 1)};
		struct tt_group group;

		if (!out[0] || !out[1])
			return tt_fail_nomem();
		tt_group_find(&group, launch->device, axis, chip);
		for (uint32_t i = 0; i < group.count; i++) {
			struct span span = span_of(launch, &launch->inputs[TOKENS]->spec.shape, i,
						   group.count);
			double *in[3];

			for (size_t k = TOKENS; k <= MAPPING; k++)
				TT_TRY(tt_chip_read(&in[k], launch, place_of(launch, k),
						    group.chips[i]));
			take_tokens(launch, out, in, chip, &span);
		}
		TT_TRY(tt_chip_write(launch, 0, chip, out[0]));
		TT_TRY(tt_chip_write(launch, 1, chip, out[1]));
	}
	return TTNN_OK;
}

/* ---- and back ------------------------------------------------------------------------------------------------ */

/* [choices, batch, sequence, width], of which one dimension is shared by the group. */
static tt_status combine_infer(struct tt_launch *launch)
{
	const struct ttnn_shape *ids = &input_of(launch, CHOICES)->spec.shape;
	const struct ttnn_tensor_spec *in = &launch->inputs[TOKENS]->spec;
	int64_t along = launch->attrs[ALONG].integer;
	struct ttnn_shape shape;

	TT_TRY(check_ranks(launch, "Input, metadata, and mapping tensors must all be rank 4"));
	shape = (struct ttnn_shape){
		4, {ids->dim[3], ids->dim[1], ids->dim[2], tt_shape_last(&in->shape, 1)}};
	if (along == 1 || along == 2)
		shape.dim[along] /= tt_group_members(launch);
	TT_TRY(tt_spec_simple(&launch->specs[0], &shape, in->dtype, in->layout,
			      launch->attrs[MEMORY].memory));
	return launch->outputs[0] ? tt_create_for_nothing(launch, 0) : TTNN_OK;
}

/* Contributions of each local expert, or of all of them together. */
static tt_status check_contributions(const struct tt_launch *launch)
{
	const struct ttnn_shape *in = &launch->inputs[TOKENS]->spec.shape;
	uint32_t experts = input_of(launch, MAPPING)->spec.shape.dim[2];
	uint32_t chips = tt_chip_count(launch);

	TT_REQUIRE(experts % chips == 0, "experts % num_devices == 0",
		   "Number of experts %u should be evenly divisible by devices: %u", experts,
		   chips);
	if (launch->attrs[REDUCED].boolean)
		TT_REQUIRE(in->dim[0] == 1, "input_shape[0] == 1",
			   "Expecting input dim 0 equal to num devices: %u, got: %u", chips,
			   in->dim[0]);
	else
		TT_REQUIRE(in->dim[0] == experts / chips, "input_shape[0] == experts / num_devices",
			   "Expected input shape dim 0: %u to be equal to expert mapping dim 2: %u",
			   in->dim[0], experts);
	return TTNN_OK;
}

static tt_status combine_validate(struct tt_launch *launch)
{
	const struct ttnn_shape *in = &launch->inputs[TOKENS]->spec.shape;
	const struct ttnn_tensor_spec *mapping = &input_of(launch, MAPPING)->spec;
	const struct ttnn_shape *ids = &input_of(launch, CHOICES)->spec.shape;
	int64_t along = launch->attrs[ALONG].integer;

	TT_TRY(check_experts(launch, "Metadata"));
	TT_REQUIRE(mapping->dtype == TTNN_UINT16,
		   "mapping_tensor.dtype() == tt::tt_metal::DataType::UINT16",
		   "Indices tensor must be uint32");
	TT_REQUIRE(mapping->layout == TTNN_ROW_MAJOR,
		   "mapping_tensor.layout() == tt::tt_metal::Layout::ROW_MAJOR",
		   "Metadata tensor must be in row major layout");
	TT_REQUIRE(!tt_memory_config_is_sharded(launch->attrs[MEMORY].memory),
		   "!operation_attributes.output_mem_config.is_sharded()",
		   "Output memory config must not be sharded");
	TT_TRY(check_given(launch, 0, "output_spec == output_tensor.tensor_spec()",
			   "Optional sparse output token tensor spec %s does not match computed "
			   "output spec %s"));
	TT_TRY(check_contributions(launch));
	TT_REQUIRE(tt_group_axis(&launch->attrs[AXIS]) >= 0,
		   "operation_attributes.axis.has_value()", "Axis must be specified at the moment");
	TT_REQUIRE(along == 1 || along == 2,
		   "operation_attributes.output_shard_dim == 1 || "
		   "operation_attributes.output_shard_dim == 2",
		   "Output shard dimension must be 1 or 2, got %" PRId64
		   ". Output shard dimension is used to determine the dimension to shard the "
		   "output tokens along.",
		   along);
	TT_REQUIRE(ids->dim[along] % tt_group_members(launch) == 0, "batch % axis_group == 0",
		   along == 1 ? "Batch %u must be divisible by axis group"
			      : "Sequence length %u must be divisible by axis group",
		   ids->dim[along]);
	TT_REQUIRE(launch->attrs[LINKS].integer > 0, "operation_attributes.num_links > 0",
		   "Number of links must be greater than 0, got %" PRId64,
		   launch->attrs[LINKS].integer);
	TT_REQUIRE(in->dim[1] == ids->dim[1] && in->dim[2] == ids->dim[2],
		   "input_shape[1] == metadata_shape[1]",
		   "Contributions have %u batches of %u tokens, the metadata %u of %u", in->dim[1],
		   in->dim[2], ids->dim[1], ids->dim[2]);
	return TTNN_OK;
}

/* A token's contributions, a row of the mapping, the local experts, a token's choices, and what the fabric is told. */
static tt_status combine_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *ids = &input_of(launch, CHOICES)->spec;
	const struct ttnn_tensor_spec *mapping = &input_of(launch, MAPPING)->spec;
	uint64_t links = tt_attr_u32(launch, LINKS), local, each, used;
	uint64_t tokens = (uint64_t)ids->shape.dim[1] * ids->shape.dim[2];
	const ttnn_core_set *cores;

	TT_REQUIRE(links <= ttnn_core_set_cores(launch->grid),
		   "subdevice_cores.size() >= num_links",
		   "Not enough cores %zu to send all links %u", ttnn_core_set_cores(launch->grid),
		   (uint32_t)links);
	local = mapping->shape.dim[2] / tt_chip_count(launch);
	each = tt_div_up(tokens, links);
	used = each ? tt_div_up(tokens, each) : 1;
	TT_TRY(tt_cores_first(&cores, launch->grid, used < links ? used : links,
			      TTNN_ORIENT_ROW_MAJOR));
	return TT_PLAN(
		plan, cores,
		TT_CB_ROW(0, "data", .pages = local, .page = tt_aligned_page(launch->inputs[0])),
		TT_CB_ROW(1, "mapping", .pages = 1, .page = tt_align_to(mapping->page_bytes, 16)),
		TT_CB_ROW(2, "local_experts", .pages = 1, .page = tt_align_to(2 * local, 16)),
		TT_CB_ROW(3, "metadata", .pages = 1, .page = tt_align_to(ids->page_bytes, 16)),
		TT_CB_ROW(4, "client_interface", .pages = 3, .page = CLIENT_BYTES));
}

/* Which of a chip's experts this one is: they are in order. */
static uint64_t local_expert(const struct tt_launch *launch, const double *mapping, double expert,
			     uint32_t chip)
{
	uint64_t before = 0;

	for (uint64_t e = 0; (double)e < expert && !launch->attrs[REDUCED].boolean; e++)
		before += lives(launch, mapping, (double)e, chip);
	return before;
}

/* What one chip gives the tokens of another: a row for each choice of an expert of its own. */
static void give_rows(const struct tt_launch *launch, float *out, double *const *in, uint32_t from,
		      uint32_t own)
{
	const struct ttnn_shape *ids = &input_of(launch, CHOICES)->spec.shape;
	const struct ttnn_shape *part = &launch->outputs[0]->spec.shape;
	uint64_t k = part->dim[0], rows = part->dim[2], width = part->dim[3];
	uint64_t all = (uint64_t)ids->dim[1] * ids->dim[2];
	bool batches = launch->attrs[ALONG].integer == 1;

	for (uint64_t token = 0; token < part->dim[1] * rows; token++) {
		uint64_t batch = token / rows + (batches ? own * part->dim[1] : 0);
		uint64_t row = token % rows + (batches ? 0 : own * rows);
		uint64_t at = batch * ids->dim[2] + row;
		bool given = false;

		for (uint64_t i = 0; i < k; i++) {
			double expert = in[CHOICES][at * k + i];
			uint64_t local;

			if (!lives(launch, in[MAPPING], expert, from) ||
			    (given && launch->attrs[REDUCED].boolean))
				continue;
			given = true;
			local = local_expert(launch, in[MAPPING], expert, from);
			if (local >= launch->inputs[TOKENS]->spec.shape.dim[0])
				continue; /* the mapping names more experts than there are contributions */
			for (uint64_t c = 0; c < width; c++)
				out[(i * part->dim[1] * rows + token) * width + c] =
					(float)in[TOKENS][(local * all + at) * width + c];
		}
	}
}

/* Every chip takes back the rows of its own tokens. */
static tt_status combine_kernel(struct tt_launch *launch)
{
	int64_t axis = tt_group_axis(&launch->attrs[AXIS]);

	for (uint32_t chip = 0; chip < tt_chip_count(launch); chip++) {
		float *out = tt_chip_zeros(launch, 0);
		struct tt_group group;

		TT_NEED_MEMORY(out);
		tt_group_find(&group, launch->device, axis, chip);
		for (uint32_t i = 0; i < group.count; i++) {
			double *in[3];

			for (size_t k = TOKENS; k <= MAPPING; k++)
				TT_TRY(tt_chip_read(&in[k], launch, place_of(launch, k),
						    group.chips[i]));
			give_rows(launch, out, in, group.chips[i], group.own);
		}
		TT_TRY(tt_chip_write(launch, 0, chip, out));
	}
	return TTNN_OK;
}

/* ---- calls --------------------------------------------------------------------------------------------------- */

#define PROGRAM(name, device_, prim_, factory_)                                                    \
	.device_op = device_, .prim = "ttnn::prim::" prim_, .attrs = &name##_schema,               \
	.infer = name##_infer, .validate = name##_validate,                                        \
	TT_FACTORY("ttnn::operations::ccl::" device_ "::" factory_, name##_memory),                \
	.choose = exchange_choose, TT_KERNEL(name##_kernel), .cost = tt_cost_unmodelled_move,      \
	.per_chip = true, .together = true, .kept_order = TT_KEPT_FORWARD
static const struct tt_prog dispatch_program = {PROGRAM(dispatch, "AllToAllDispatchDeviceOperation",
							"all_to_all_dispatch",
							"AllToAllDispatchSparse"),
						.mute = true};
static const struct tt_prog combine_program = {PROGRAM(combine, "AllToAllCombineDeviceOperation",
						       "all_to_all_combine",
						       "AllToAllCombineFromSparse")};

/* What both programs are told. */
static tt_status bind(struct ttnn_value *attrs, struct tt_call *call, const struct tt_tensor *in,
		      const char *along)
{
	int64_t axis = tt_group_axis(tt_call_arg(call, "cluster_axis"));
	const struct tt_device *device = tt_tensor_device(in);

	TT_REQUIRE(device, "storage_type == DEVICE", "%s: the tensor must be on a device",
		   call->entry->op->name);
	TT_TRY(tt_group_links(&attrs[LINKS], call, device));
	TT_REQUIRE(axis < 2, "cluster_axis < 2", "Invalid cluster axis %" PRId64 ". Must be 0 or 1",
		   axis);
	TT_NEED(attrs[LINKS].integer >= 0, "num_links must not be negative");
	attrs[AXIS] = *tt_call_arg(call, "cluster_axis");
	attrs[MEMORY] = tt_value_memory_or_like(call, in);
	attrs[TOPOLOGY] = tt_group_topology(device, tt_call_arg(call, "topology"), axis);
	attrs[REDUCED] = ttnn_v_bool(tt_call_bool(call, "local_reduce", false));
	attrs[ALONG] = ttnn_v_int(tt_call_int(call, along, 1));
	attrs[CORES] = attrs[CORES_TOO] = attrs[GIVEN] = attrs[IMPL] = ttnn_v_none();
	return TTNN_OK;
}

/* L1 that results will take of the fullest core, if they are there. */
static uint64_t result_bytes(struct tt_device *device, struct tt_tensor *const in[3],
			     const struct ttnn_value *attrs)
{
	uint64_t sum = 0;

	for (size_t i = TOKENS; i <= CHOICES; i++) {
		struct ttnn_spec_args args = {.shape = in[i]->spec.shape,
					      .dtype = in[i]->spec.dtype,
					      .layout = in[i]->spec.layout,
					      .memory = *attrs[MEMORY].memory};

		if (args.shape.rank)
			args.shape.dim[0] *= tt_group_size(device, tt_group_axis(&attrs[AXIS]));
		sum += tt_l1_pending(device, &args);
	}
	return sum;
}

/* Whole packets where all choices fit into L1 together; else page by page. */
static tt_status dispatch_expand(struct tt_call *call)
{
	struct tt_tensor *in[3] = {tt_call_tensor(call, "input_tensor"),
				   tt_call_tensor(call, "expert_indices_tensor"),
				   tt_call_tensor(call, "expert_mapping_tensor")};
	const struct ttnn_value *given = tt_call_arg(call, "output_tensors");
	struct ttnn_value attrs[ATTR_COUNT] = {0};
	struct dispatch_buffers buffers;
	const ttnn_core_set *cores;
	struct ttnn_memory_view view;
	uint64_t bytes = 0;

	TT_TRY(bind(attrs, call, in[TOKENS], "output_concat_dim"));
	for (size_t i = CHOICES; i <= MAPPING; i++)
		TT_REQUIRE(tt_tensor_device(in[i]), "storage_type == DEVICE",
			   "%s: the tensor must be on a device", call->entry->op->name);
	TT_NEED(!tt_value_given(given) || given->count == 2, "%s: output_tensors are two, not %u",
		call->entry->op->name, given->count);
	TT_TRY(tt_group_cores(&cores, call, tt_tensor_device(in[TOKENS])));
	TT_REQUIRE(attrs[LINKS].integer, "operation_attributes.num_links > 0",
		   "Number of links must be greater than 0");
	find_buffers(&buffers, in, (uint64_t)attrs[LINKS].integer, tt_group_axis(&attrs[AXIS]));
	for (size_t i = 0; i < 6; i++)
		bytes += buffers.pages[i] * buffers.page[i];
	bytes += result_bytes(tt_tensor_device(in[TOKENS]), in, attrs);
	TT_TRY(ttnn_device_memory(&view, tt_tensor_device(in[TOKENS]), TTNN_L1));
	attrs[IMPL] = ttnn_v_string(view.largest_free < bytes ? "AllToAllTransferType::PageByPage"
							      : "AllToAllTransferType::FullPacket");
	attrs[GIVEN] = ttnn_v_bool(tt_value_given(given));
	return TT_LAUNCH_RETURN(
		call, &dispatch_program, .inputs = in, .input_count = 3,
		TT_OUTPUTS(tt_value_item_tensor(given, 0), tt_value_item_tensor(given, 1)),
		.attrs = attrs, .grid = cores);
}

/* Into zeros, if nothing was given. */
static tt_status zeros_for(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			   const struct tt_tensor *choices, const struct ttnn_value *attrs)
{
	const struct tt_device *device = tt_tensor_device(in);
	const struct ttnn_shape *ids = &choices->spec.shape;
	int64_t along = attrs[ALONG].integer, axis = tt_group_axis(&attrs[AXIS]);
	struct ttnn_tensor_spec spec;
	struct ttnn_shape shape;

	TT_REQUIRE(ids->rank == 4, "input_shape.rank() == 4",
		   "Input, metadata, and mapping tensors must all be rank 4");
	shape = (struct ttnn_shape){
		4, {ids->dim[3], ids->dim[1], ids->dim[2], tt_shape_last(&in->spec.shape, 1)}};
	if (along == 1 || along == 2)
		shape.dim[along] /= tt_group_size(device, axis);
	TT_TRY(tt_spec_simple(&spec, &shape, in->spec.dtype, in->spec.layout,
			      attrs[MEMORY].memory));
	return TT_CALL(out, call, "ttnn.moreh_full", {"shape", ttnn_v_shape(&shape)},
		       {"fill_value", ttnn_v_real(0)},
		       {"device", ttnn_v_device(tt_tensor_device(in))},
		       {"dtype", tt_value_enum(&tt_enum_dtype, in->spec.dtype)},
		       {"layout", tt_value_enum(&tt_enum_layout, in->spec.layout)},
		       {"memory_config", ttnn_v_memory(&spec.memory)});
}

static tt_status combine_expand(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor");
	struct tt_tensor *choices = tt_call_tensor(call, "expert_metadata_tensor");
	struct tt_tensor *mapping = tt_call_tensor(call, "expert_mapping_tensor");
	struct tt_tensor *given = tt_call_tensor(call, "output_tensor");
	struct ttnn_value attrs[ATTR_COUNT] = {0};
	const ttnn_core_set *cores;

	TT_TRY(bind(attrs, call, in, "output_shard_dim"));
	TT_REQUIRE(tt_tensor_device(choices) && tt_tensor_device(mapping), "storage_type == DEVICE",
		   "%s: the tensor must be on a device", call->entry->op->name);
	TT_TRY(tt_group_cores(&cores, call, tt_tensor_device(in)));
	if (!given) {
		TT_TRY(zeros_for(&given, call, in, choices, attrs));
		tt_call_own(call, given);
	}
	return TT_LAUNCH_RETURN(call, &combine_program, TT_INPUTS(in, mapping, choices),
				TT_OUTPUTS(given), .attrs = attrs, .grid = cores);
}

#define LINK_ARGS "num_links: int? = None, topology: enum? = None"
#define PLACE_ARGS "subdevice_id: SubDeviceId? = None, memory_config: MemoryConfig? = None"

static const struct tt_op ops[] = {
	{.name = "ttnn.all_to_all_combine",
	 .doc = "What experts made of tokens, back to the devices of those.",
	 .sigs = {"input_tensor: Tensor, expert_metadata_tensor: Tensor, "
		  "expert_mapping_tensor: Tensor, *, local_reduce: bool = False, "
		  "output_shard_dim: int? = 1, cluster_axis: int? = None, " PLACE_ARGS
		  ", output_tensor: Tensor? = None, " LINK_ARGS},
	 .expand = combine_expand,
	 .golden = tt_golden_all_to_all_combine,
	 TT_PROGRAMS(&combine_program)},
	{.name = "ttnn.all_to_all_dispatch",
	 .doc = "Tokens to the devices of their experts, and everybody's choices of experts to all.",
	 .sigs = {"input_tensor: Tensor, expert_indices_tensor: Tensor, "
		  "expert_mapping_tensor: Tensor, *, cluster_axis: int? = None, "
		  "output_tensors: Tensors? = None, " LINK_ARGS
		  ", memory_config: MemoryConfig? = None, subdevice_id: SubDeviceId? = None, "
		  "output_concat_dim: int? = 1"},
	 .expand = dispatch_expand,
	 .golden = tt_golden_all_to_all_dispatch,
	 .gives = "[Tensor]",
	 TT_PROGRAMS(&dispatch_program)},
};

const struct tt_op_family tt_family_exchange = {"exchange", ops, TT_COUNT(ops)};
