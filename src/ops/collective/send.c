/*
 * send.c: point_to_point: one chip gets the tensor of another.
 *
 * Models PointToPointOp of ttnn 0.81: refusals, the tensor that packets arrive in, a program each for the chip that sends and
 * the one that receives, or one that copies where both are the same. Not modelled: routes.
 */
#include <inttypes.h>

#include "backend/backend.h"
#include "device/fabric.h"
#include "golden/golden_collective.h"
#include "ops/collective/collective.h"
#include "ops/movement/movement.h"
#include "ops/op_enums.h"

#define ATTRS(X)                                                                                   \
	X(RECEIVE, "receive_coord")                                                                \
	X(SEND, "send_coord")                                                                      \
	X(TOPOLOGY, "topology")                                                                    \
	X(SPEC, "input_tensor_spec", .text = TT_TEXT_ALWAYS, .fixed = "<TensorSpec>")              \
	X(FROM, "from", .unprinted = true)                                                         \
	X(TO, "to", .unprinted = true)
TT_ATTRS(schema, "operation_attributes_t", ATTRS);

enum { BETWEEN, RESULT };

/* What packets of bfloat16 have at most: a power of two. */
#define PACKET_BF16 4096

/* Pages that go together in a packet, or packets that a page takes. */
struct packets {
	uint64_t bytes, pages, count;
};

static struct packets packets_of(const struct ttnn_tensor_spec *spec)
{
	uint64_t most =
		spec->dtype == TTNN_BFLOAT16 ? PACKET_BF16 : tt_fabric_channel(tt_fabric_of(false));
	uint64_t page = tt_align_to(spec->page_bytes, 16), together;

	if (!page || !spec->pages)
		return (struct packets){page, 1, 0};
	if (page > most)
		return (struct packets){most, 1, tt_div_up(page, most) * spec->pages};
	together = most / page < spec->pages ? most / page : spec->pages;
	return (struct packets){page * together, together, tt_div_up(spec->pages, together)};
}

static bool stays(const struct tt_launch *launch)
{
	return launch->attrs[FROM].integer == launch->attrs[TO].integer;
}

/* Packets as rows of elements; nothing of the kind where no link is taken. */
enum ttnn_status ttnn_point_to_point_spec(struct ttnn_tensor_spec *out,
					  const struct ttnn_tensor_spec *in, bool same)
{
	struct ttnn_spec_args args = {.shape = TT_SHAPE(1, 1),
				      .dtype = in->dtype,
				      .layout = in->layout,
				      .tile = in->tile,
				      .memory = in->memory};
	struct packets packets = packets_of(in);

	if (!same) {
		TT_NEED(!tt_dtype_is_block(in->dtype), "datum for bfp2, bfp4, bfp8 is invalid");
		TT_NEED(packets.count <= UINT32_MAX, "there are too many packets to send");
		args.shape = TT_SHAPE((uint32_t)packets.count,
				      (uint32_t)(packets.bytes / tt_dtype_bytes(in->dtype)));
	}
	return ttnn_tensor_spec_make(out, &args);
}

static tt_status send_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;

	launch->output_count = 2;
	TT_TRY(ttnn_point_to_point_spec(&launch->specs[BETWEEN], in, stays(launch)));
	launch->specs[RESULT] = *in;
	return launch->outputs[BETWEEN] ? tt_create_for_nothing(launch, BETWEEN) : TTNN_OK;
}

static tt_status send_prepare(struct tt_launch *launch)
{
	return launch->extra ? tt_create_for_nothing(launch, RESULT) : TTNN_OK;
}

static tt_status check_receiver(const struct ttnn_tensor_spec *out,
				const struct ttnn_tensor_spec *in)
{
	TT_REQUIRE(out->layout == in->layout, "output_tensor.layout() == input_tensor.layout()",
		   "Output tensor must have same layout as input");
	if (ttnn_tensor_spec_equal(out, in))
		return TTNN_OK;
	return tt_fail_specs("output_spec == output_tensor.tensor_spec()",
			     "Optional sparse output token tensor spec %s does not match computed "
			     "output spec %s",
			     out, in);
}

static tt_status check(const struct tt_tensor *in, int64_t from, int64_t to)
{
	TT_REQUIRE(!tt_tensor_is_sharded(in), "!input_tensor.is_sharded()",
		   "Point to point does not yet support sharded configs");
	TT_REQUIRE(from >= 0, "mesh_device->get_view().contains(operation_attributes.send_coord)",
		   "Mesh device must contain sender coordinate device");
	TT_REQUIRE(to >= 0, "mesh_device->get_view().contains(operation_attributes.receive_coord)",
		   "Mesh device must contain receiver coordinate device");
	return TTNN_OK;
}

static tt_status check_page(const struct ttnn_tensor_spec *in)
{
	TT_REQUIRE(in->page_bytes % 16 == 0,
		   "input_page_size_bytes % l1_alignment == 0 || input_page_size_bytes == "
		   "l1_alignment",
		   "Tensor page size must be 16 byte aligned");
	return TTNN_OK;
}

static tt_status send_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;

	TT_TRY(check(launch->inputs[0], launch->attrs[FROM].integer, launch->attrs[TO].integer));
	TT_TRY(check_receiver(&launch->outputs[RESULT]->spec, in));
	return check_page(in);
}

/* A fabric of lines has no way round a corner. */
static tt_status send_choose(uint32_t *out, struct tt_launch *launch)
{
	uint32_t from = tt_attr_u32(launch, FROM), to = tt_attr_u32(launch, TO);
	uint32_t cols = launch->device->cols;

	*out = 0;
	if (from == to)
		return TTNN_OK;
	TT_TRY(tt_keep_semaphores(launch, 1, false));
	TT_REQUIRE(from / cols == to / cols || from % cols == to % cols ||
			   ttnn_fabric_get() == TTNN_FABRIC_NONE,
		   "tt::exception", "Routing coordinates %s and %s invalid for 1D fabric",
		   launch->attrs[SEND].text, launch->attrs[RECEIVE].text);
	return TTNN_OK;
}

enum { SENDER, RECEIVER };

static uint32_t send_part(const struct tt_launch *launch, uint32_t chip)
{
	if (chip == tt_attr_u32(launch, FROM))
		return SENDER;
	return chip == tt_attr_u32(launch, TO) ? RECEIVER : TT_NO_PART;
}

/* Both sides have a packet and headers; one reads pages, the other writes those of three packets. */
static tt_status send_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct packets packets = packets_of(in);
	uint64_t header = tt_fabric_header(tt_fabric_of(false));
	uint64_t page = tt_align_to(in->page_bytes, 16);
	const ttnn_core_set *core;

	if (stays(launch)) {
		TT_TRY(tt_cores_for(&core, launch, in->pages));
		return TT_PLAN(plan, core, TT_CB_ROW(0, "cb_src0", .pages = 2, .page = page));
	}
	TT_TRY(tt_cores_first(&core, launch->device->grid, 1, TTNN_ORIENT_ROW_MAJOR));
	if (launch->part == SENDER)
		return TT_PLAN(plan, core, TT_CB_ROW(0, "sender", .pages = 2, .page = page),
			       TT_CB_ROW(1, "packet_header", .pages = 4, .page = header),
			       TT_CB_ROW(2, "packet", .pages = 1, .page = packets.bytes));
	return TT_PLAN(
		plan, core, TT_CB_ROW(0, "packet_header", .pages = 4, .page = header),
		TT_CB_ROW(1, "packet", .pages = 1, .page = packets.bytes),
		TT_CB_ROW(2, "receiver", .pages = 3 * packets.pages, .page = in->page_bytes));
}

/* What takes no part keeps what a given tensor has there, or has its own part of the input. */
static tt_status send_kernel(struct tt_launch *launch)
{
	uint32_t to = tt_attr_u32(launch, TO), from = tt_attr_u32(launch, FROM);
	bool given = launch->extra != NULL;

	for (uint32_t chip = 0; chip < launch->device->rows * launch->device->cols; chip++) {
		struct tt_tensor *out;
		struct tt_share part = tt_share_whole(launch, 0);
		tt_status status;

		if (given && chip != to)
			continue;
		TT_TRY(tt_tensor_resident(&out, launch->outputs[RESULT], chip,
					  TT_BUFFER_OVERWRITE));
		status = tt_share_receive(out, launch, chip == to ? from : chip, &part);
		ttnn_tensor_unref(out);
		TT_TRY(status);
	}
	return TTNN_OK;
}

static uint64_t send_spread(const struct tt_launch *launch)
{
	return launch->inputs[0]->spread;
}

static const struct tt_prog program = {
	.device_op = "PointToPointOp",
	.prim = "ttnn::prim::point_to_point",
	.attrs = &schema,
	.infer = send_infer,
	.prepare = send_prepare,
	.validate = send_validate,
	TT_FACTORY("ttnn::operations::point_to_point::PointToPointOp::SendReceive", send_memory),
	.choose = send_choose,
	TT_KERNEL(send_kernel),
	.spread = send_spread,
	.cost = tt_cost_unmodelled_move,
	.per_chip = true,
	.part = send_part,
	.parts = 2,
	.few = true,
	.together = true,
	.mute = true,
};

/* The place of a coordinate; -1 when it is not on the mesh. */
static tt_status read_place(struct ttnn_value *text, int64_t *place, struct tt_call *call,
			    const char *name)
{
	const struct tt_device *device = call->device;
	int64_t at[2] = {0, 0};
	size_t count;
	char *kept;

	TT_TRY(tt_call_ints(at, &count, 2, call, name));
	TT_NEED(count == 2, "%s: %s has %zu numbers, not two", call->entry->op->name, name, count);
	*place = at[0] * device->cols + at[1];
	if (at[0] < 0 || at[0] >= device->rows || at[1] < 0 || at[1] >= device->cols)
		*place = -1;
	kept = tt_arena_printf(call->arena, "MeshCoordinate([%" PRId64 ", %" PRId64 "])", at[0],
			       at[1]);
	TT_NEED_MEMORY(kept);
	*text = ttnn_v_string(kept);
	return TTNN_OK;
}

static tt_status send_expand(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor"), *all[TT_OUTPUTS_MAX];
	struct tt_tensor *given = tt_call_tensor(call, "output_tensor");
	const struct ttnn_value *asked = tt_call_arg(call, "topology");
	struct ttnn_value attrs[schema_count] = {[SPEC] = ttnn_v_none()};
	int64_t from, to;
	size_t count;

	TT_REQUIRE(tt_tensor_device(in), "storage_type == DEVICE",
		   "%s: the tensor must be on a device", call->entry->op->name);
	TT_TRY(read_place(&attrs[SEND], &from, call, "sender_coord"));
	TT_TRY(read_place(&attrs[RECEIVE], &to, call, "receiver_coord"));
	attrs[TOPOLOGY] = asked->kind == TTNN_VALUE_ENUM
				  ? *asked
				  : tt_value_enum(&tt_enum_topology, TT_TOPOLOGY_LINEAR);
	attrs[FROM] = ttnn_v_int(from);
	attrs[TO] = ttnn_v_int(to);
	/* From a place to itself, into the same tensor: nothing is to be done. */
	if (from == to && given && tt_tensor_buffer(in) &&
	    tt_tensor_buffer(given) == tt_tensor_buffer(in)) {
		TT_TRY(check(in, from, to));
		TT_TRY(check_receiver(&given->spec, &in->spec));
		TT_TRY(check_page(&in->spec));
		tt_call_return(call, ttnn_tensor_ref(given));
		return TTNN_OK;
	}
	TT_TRY(tt_call_programs(
		all, &count, call,
		&(struct tt_program_args){
			.prog = &program,
			TT_INPUTS(in),
			TT_OUTPUTS(tt_call_tensor(call, "intermediate_tensor"), given),
			.attrs = attrs,
			.extra = given}));
	tt_call_drop(call, all[BETWEEN]);
	tt_call_return(call, all[RESULT]);
	return TTNN_OK;
}

static const struct tt_op ops[] = {
	{
		.name = "ttnn.point_to_point",
		.doc = "One device gets the tensor of another.",
		.sigs = {"input_tensor: Tensor, sender_coord: sizes, receiver_coord: sizes, *, "
			 "output_tensor: Tensor? = None, intermediate_tensor: Tensor? = None, "
			 "topology: enum? = None"},
		.expand = send_expand,
		.golden = tt_golden_point_to_point,
		TT_PROGRAMS(&program),
	},
};

const struct tt_op_family tt_family_point_to_point = {"collective", ops, TT_COUNT(ops)};
