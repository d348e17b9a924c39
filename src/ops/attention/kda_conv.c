/*
 * kda_conv.c: queries, keys and values before linear attention (Kimi Delta Attention): each channel convolved with four taps over the
 * tokens before, silu, and split: kda.qkv_causal_conv1d_silu.
 *
 * Models QkvCausalConv1dSiluOperation of ttnn 0.81 with its one factory: specs, refusals, memory, cores. Rows are tilized first. Not
 * modelled: chips that exchange their last rows (qkv_causal_conv1d_silu_with_carry).
 */
#include <inttypes.h>
#include <math.h>

#include "ops/attention/attention.h"
#include "ops/attention/kda.h"
#include "ops/compute.h"
#include "ops/creation/creation.h"
#include "ops/objects.h"
#include "ops/usual.h"
#include "ops/values.h"

#define ATTRS(X)                                                                                   \
	X(ROWS, "sequence")                                                                        \
	X(Q_WIDTH, "q_width")                                                                      \
	X(K_WIDTH, "k_width")                                                                      \
	X(V_WIDTH, "v_width")                                                                      \
	X(CHUNK, "channel_chunk_size")                                                             \
	X(AXIS, "sequence_parallel_axis")                                                          \
	X(OFFSET, "input_column_offset")                                                           \
	X(EXCHANGE, "exchange_semaphores", .text = TT_TEXT_ARRAY)                                  \
	X(MEMORY, "output_mem_config")                                                             \
	X(COMPUTE, "compute_kernel_config")
TT_ATTRS(schema, "QkvCausalConv1dSiluParams", ATTRS);
enum { IN, HISTORY, TAPS, START = TAPS + 4, CARRY, INPUTS };
#define TAP_COUNT 4
#define NAME "qkv_causal_conv1d_silu"

/* What a core keeps beside its buffers: so many bytes, and for each tile of channels. */
#define SCRATCH 128
#define SCRATCH_TILE 5824
#define NUMBER_PAGE 128

static uint64_t channels_of(const struct tt_launch *launch)
{
	return (uint64_t)tt_attr_u32(launch, Q_WIDTH) + tt_attr_u32(launch, K_WIDTH) +
	       tt_attr_u32(launch, V_WIDTH);
}

/* ---- specs and refusals --------------------------------------------------------------------------------------------- */

static tt_status kda_conv_infer(struct tt_launch *launch)
{
	launch->output_count = 3;
	for (int i = 0; i < 3; i++) {
		const struct ttnn_shape shape = {
			3, {1, tt_attr_u32(launch, ROWS), tt_attr_u32(launch, Q_WIDTH + i)}};

		TT_TRY(tt_spec_simple(&launch->specs[i], &shape, TTNN_BFLOAT16, TTNN_TILE,
				      launch->attrs[MEMORY].memory));
	}
	return TTNN_OK;
}

static tt_status check_tensor(const struct tt_launch *launch, size_t input, const char *name,
			      const struct ttnn_spec_args *wanted)
{
	const struct ttnn_tensor_spec *spec = &launch->inputs[input]->spec;

	TT_REQUIRE(spec->layout == wanted->layout, "tensor.layout() == required_layout",
		   NAME ": %s must use %s layout, got Layout::%s", name,
		   tt_enum_name(&tt_enum_layout, (int64_t)wanted->layout),
		   tt_enum_name(&tt_enum_layout, (int64_t)spec->layout));
	TT_REQUIRE(spec->dtype == wanted->dtype, "tensor.dtype() == required_dtype",
		   NAME ": %s must be %s, got DataType::%s", name,
		   tt_enum_name(&tt_enum_dtype, (int64_t)wanted->dtype),
		   tt_enum_name(&tt_enum_dtype, (int64_t)spec->dtype));
	TT_REQUIRE(!tt_memory_config_is_sharded(&spec->memory), "!tensor.is_sharded()",
		   NAME ": %s must be interleaved", name);
	return TTNN_OK;
}

static tt_status check_tensors(const struct tt_launch *launch)
{
	static const struct ttnn_spec_args tiles = {.dtype = TTNN_BFLOAT16, .layout = TTNN_TILE};
	static const struct ttnn_spec_args rows = {.dtype = TTNN_BFLOAT16,
						   .layout = TTNN_ROW_MAJOR};
	static const struct ttnn_spec_args number = {.dtype = TTNN_UINT32,
						     .layout = TTNN_ROW_MAJOR};
	static const char *const taps[TAP_COUNT] = {"tap0", "tap1", "tap2", "tap3"};
	const struct ttnn_tensor_spec *one = &launch->inputs[CARRY]->spec;
	const struct ttnn_tensor_spec *other = &launch->inputs[HISTORY]->spec;
	uint64_t volume;

	TT_REQUIRE(ttnn_shape_equal(&one->shape, &other->shape) && one->dtype == other->dtype &&
			   one->layout == other->layout &&
			   ttnn_memory_config_equal(&one->memory, &other->memory),
		   "in.predecessor_carry->tensor_spec() == in.history.tensor_spec()",
		   "qkv convolution: carries must match");
	TT_TRY(check_tensor(launch, IN, "input", &tiles));
	TT_TRY(check_tensor(launch, HISTORY, "history", &rows));
	for (size_t i = 0; i < TAP_COUNT; i++)
		TT_TRY(check_tensor(launch, TAPS + i, taps[i], &tiles));
	TT_TRY(check_tensor(launch, START, "actual_start", &number));
	TT_TRY(ttnn_shape_volume(&volume, &launch->inputs[START]->spec.shape));
	TT_REQUIRE(volume == 1, "actual_start.logical_shape().volume() == 1",
		   NAME ": actual_start must be a scalar");
	return TTNN_OK;
}

static tt_status check_widths(const struct tt_launch *launch)
{
	uint64_t all = channels_of(launch), chunk = tt_attr_u32(launch, CHUNK);

	for (int i = 0; i < 3; i++)
		TT_REQUIRE(tt_attr_u32(launch, Q_WIDTH + i) > 0,
			   "attrs.q_width > 0 && attrs.k_width > 0 && attrs.v_width > 0",
			   NAME ": Q/K/V widths must be positive");
	for (int i = 0; i < 3; i++)
		TT_REQUIRE(tt_attr_u32(launch, Q_WIDTH + i) % TT_TILE == 0,
			   "attrs.q_width % tt::constants::TILE_WIDTH == 0 && attrs.k_width % "
			   "tt::constants::TILE_WIDTH == 0 && attrs.v_width % "
			   "tt::constants::TILE_WIDTH == 0",
			   NAME ": Q/K/V widths must be tile aligned");
	TT_REQUIRE(chunk > 0, "attrs.channel_chunk_size > 0",
		   NAME ": channel_chunk_size must be positive");
	TT_REQUIRE(chunk % TT_TILE == 0,
		   "attrs.channel_chunk_size % tt::constants::TILE_WIDTH == 0",
		   NAME ": channel_chunk_size must be tile aligned");
	TT_REQUIRE(chunk <= all, "attrs.channel_chunk_size <= channels",
		   NAME ": channel_chunk_size must not exceed Q+K+V width");
	TT_REQUIRE(all % chunk == 0, "channels % attrs.channel_chunk_size == 0",
		   NAME ": channel_chunk_size must divide Q+K+V width exactly");
	return TTNN_OK;
}

static tt_status check_shapes(const struct tt_launch *launch)
{
	const struct ttnn_shape *in = &launch->inputs[IN]->spec.shape;
	const struct ttnn_shape *history = &launch->inputs[HISTORY]->spec.shape;
	uint64_t all = channels_of(launch), offset = tt_attr_u32(launch, OFFSET), volume;
	uint32_t rows = tt_attr_u32(launch, ROWS);

	TT_REQUIRE(in->dim[0] == 1 && in->dim[2] >= offset + all,
		   "input_shape.rank() == 3 && input_shape[0] == 1 && input_shape[1] == "
		   "attrs.sequence && input_shape[2] >= attrs.input_column_offset + channels",
		   NAME ": input must be [1,T,W] holding the convolution channels from "
			"input_column_offset");
	TT_REQUIRE(offset % TT_TILE == 0,
		   "attrs.input_column_offset % tt::constants::TILE_WIDTH == 0",
		   NAME ": input_column_offset must be tile aligned");
	TT_REQUIRE(history->rank == 3 && history->dim[0] == 1 && history->dim[1] == TAP_COUNT - 1 &&
			   history->dim[2] == all,
		   "history_shape.rank() == 3 && history_shape[0] == 1 && history_shape[1] == "
		   "qkv_conv::history_rows && history_shape[2] == channels",
		   NAME ": history must be [1,3,Q+K+V]");
	TT_REQUIRE(rows > 0 && rows % TT_TILE == 0,
		   "attrs.sequence > 0 && attrs.sequence % tt::constants::TILE_HEIGHT == 0",
		   NAME ": sequence must be positive and tile aligned");
	for (int i = 0; i < TAP_COUNT; i++) {
		const struct ttnn_shape *tap = &launch->inputs[TAPS + i]->spec.shape;

		TT_REQUIRE(tap->rank && tap->dim[tap->rank - 1] == all,
			   "tensor->logical_shape()[-1] == channels",
			   NAME ": tap%d last dimension must equal Q+K+V", i);
		TT_TRY(ttnn_shape_volume(&volume, tap));
		TT_REQUIRE(volume == all, "tensor->logical_volume() == channels",
			   NAME ": tap%d logical volume must equal Q+K+V", i);
	}
	return TTNN_OK;
}

static tt_status kda_conv_validate(struct tt_launch *launch)
{
	TT_TRY(check_tensors(launch));
	TT_TRY(check_widths(launch));
	TT_TRY(check_shapes(launch));
	TT_REQUIRE(!tt_memory_config_is_sharded(launch->attrs[MEMORY].memory),
		   "!memory_config.is_sharded()", NAME ": output memory must be interleaved");
	TT_REQUIRE(!tt_compute_has(&launch->attrs[COMPUTE], TT_COMPUTE_L1_ACC),
		   "!config.packer_l1_acc",
		   NAME ": packer_l1_acc=true is unsupported because the compute kernel does not "
			"accumulate through L1");
	TT_REQUIRE(!tt_compute_has(&launch->attrs[COMPUTE], TT_COMPUTE_APPROX),
		   "!attrs.compute_kernel_config.math_approx_mode",
		   NAME ": math_approx_mode=true is unsupported because the fused SiLU uses the "
			"precise sigmoid");
	return TTNN_OK;
}

/* ---- the program ------------------------------------------------------------------------------------------------------ */

/* A core for each chunk of channels of each row of tiles. */
static tt_status kda_conv_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	uint64_t chunk = tt_attr_u32(launch, CHUNK), tiles = chunk / TT_TILE;
	uint64_t page = tt_tile_bytes_of(TTNN_BFLOAT16);
	struct tt_work_split split;

	TT_REQUIRE(launch->attrs[AXIS].integer < 2,
		   "sequence_parallel_axis < device.shape().dims()",
		   "KDA: invalid sequence_parallel_axis");
	TT_TRY(tt_split_work(&split, launch->device->info.compute_grid,
			     tt_attr_u32(launch, ROWS) / TT_TILE * (channels_of(launch) / chunk),
			     TTNN_ORIENT_ROW_MAJOR));
	return TT_PLAN(
		plan, split.all, TT_DFB_ROW(0, "rows", .pages = 8 * tiles, .page = page),
		TT_DFB_ROW(1, "taps", .pages = 4 * tiles, .page = page),
		TT_DFB_ROW(2, "act_tile", .pages = 1, .page = page),
		TT_DFB_ROW(3, "products", .pages = 4 * tiles, .page = page),
		TT_DFB_ROW(4, "out", .pages = 2 * tiles, .page = page),
		TT_SCRATCH_ROW(0, "start", .pages = 1, .page = NUMBER_PAGE),
		TT_SCRATCH_ROW(1, "rows", .pages = 1, .page = SCRATCH + SCRATCH_TILE * tiles));
}

/* The numbers of a launch. */
struct conv {
	double *in, *history, *carry, *taps[TAP_COUNT];
	uint64_t all, wide, offset; /* channels; columns of the input, the first that counts */
	struct tt_kda_course course;
};

/* What is so many rows before a row: its own, or of the history that its part of the sequence has. */
static double row_before(const struct conv *c, uint64_t row, uint64_t back, uint64_t channel)
{
	bool tail = row >= c->course.head;
	uint64_t first = tail ? c->course.head : 0, seen = row - first;
	const double *before = tail || c->course.place ? c->carry : c->history;

	if (back <= seen)
		return c->in[(row - back) * c->wide + c->offset + channel];
	return before[(TAP_COUNT - 1 + seen - back) * c->all + channel];
}

static tt_status write_part(const struct tt_launch *launch, const struct conv *c, int output,
			    uint64_t from)
{
	uint64_t rows = tt_attr_u32(launch, ROWS), width = tt_attr_u32(launch, Q_WIDTH + output);
	float *out = tt_arena_alloc(launch->arena, (rows * width + 1) * sizeof(*out));

	TT_NEED_MEMORY(out);
	for (uint64_t i = 0; i < rows * width; i++) {
		uint64_t channel = from + i % width;
		double sum = 0;

		for (uint64_t t = 0; t < TAP_COUNT; t++)
			sum += c->taps[t][channel] *
			       row_before(c, i / width, TAP_COUNT - 1 - t, channel);
		out[i] = (float)(sum / (1 + exp(-sum)));
	}
	return tt_values_write(launch->outputs[output], out, TTNN_FLOAT32);
}

static tt_status kda_conv_kernel(struct tt_launch *launch)
{
	struct conv c = {.all = channels_of(launch),
			 .wide = launch->inputs[IN]->spec.shape.dim[2],
			 .offset = tt_attr_u32(launch, OFFSET)};
	uint64_t count, from = 0;

	TT_TRY(tt_kda_course_of(&c.course, launch,
				&(struct tt_kda_question){launch->attrs[AXIS].integer,
							  tt_attr_u32(launch, ROWS), START,
							  INPUTS}));
	TT_TRY(tt_values_of(&c.in, &count, launch, IN));
	TT_TRY(tt_values_of(&c.history, &count, launch, HISTORY));
	TT_TRY(tt_values_of(&c.carry, &count, launch, CARRY));
	for (size_t i = 0; i < TAP_COUNT; i++)
		TT_TRY(tt_values_of(&c.taps[i], &count, launch, TAPS + i));
	for (int i = 0; i < 3; i++) {
		TT_TRY(write_part(launch, &c, i, from));
		from += tt_attr_u32(launch, Q_WIDTH + i);
	}
	return TTNN_OK;
}

static const struct tt_prog program = {
	.device_op = "QkvCausalConv1dSiluOperation",
	.prim = "ttnn::prim::qkv_causal_conv1d_silu",
	.attrs = &schema,
	.infer = kda_conv_infer,
	.validate = kda_conv_validate,
	TT_FACTORY("ttnn::experimental::prim::QkvCausalConv1dSiluProgramFactory", kda_conv_memory),
	TT_KERNEL(kda_conv_kernel),
	.per_chip = true,
	.in_order = true,
	.drops_forward = true,
};

/* ---- the call ----------------------------------------------------------------------------------------------------------- */

static tt_status kda_conv_bind(struct ttnn_value attrs[schema_count], struct tt_call *call,
			       const struct tt_tensor *in)
{
	static const struct ttnn_memory_config dram;
	static const struct tt_compute_usual usual = {.fidelity = TT_HIFI4};
	static const struct ttnn_value zeros[3] = {
		{.kind = TTNN_VALUE_INT}, {.kind = TTNN_VALUE_INT}, {.kind = TTNN_VALUE_INT}};
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");
	const struct ttnn_value *config = tt_call_arg(call, "program_config");

	TT_NEED(config->kind == TTNN_VALUE_OBJECT && config->schema == &tt_schema_conv_silu,
		"program_config is a QkvCausalConv1dSiluProgramConfig");
	TT_NEED(config->items[0].kind == TTNN_VALUE_INT && config->items[0].integer >= 0 &&
			config->items[0].integer <= UINT32_MAX,
		"channel_chunk_size is a whole number");
	attrs[ROWS] = ttnn_v_int(in->spec.shape.dim[1]);
	for (int i = 0; i < 3; i++)
		attrs[Q_WIDTH + i] =
			ttnn_v_int(tt_call_int(call, schema_fields[Q_WIDTH + i].name, 0));
	attrs[CHUNK] = config->items[0];
	attrs[AXIS] = ttnn_v_int(tt_call_int(call, "sequence_parallel_axis", 0));
	attrs[OFFSET] = ttnn_v_int(tt_call_int(call, "input_column_offset", 0));
	attrs[EXCHANGE] = ttnn_v_list(zeros, 3);
	attrs[MEMORY] = ttnn_v_memory(memory ? memory : &dram);
	attrs[COMPUTE] =
		tt_compute_config(call, tt_call_arg(call, "compute_kernel_config"), &usual);
	return TTNN_OK;
}

static tt_status kda_conv_expand(struct tt_call *call)
{
	static const char *const names[INPUTS] = {
		"input", "history", "tap0",         "tap1",
		"tap2",  "tap3",    "actual_start", "predecessor_carry"};
	struct ttnn_value attrs[schema_count];
	struct tt_tensor *in[INPUTS], *tiles;

	for (int i = 0; i < INPUTS; i++) {
		in[i] = tt_call_tensor(call, names[i]);
		TT_TRY(tt_need_device(in[i]));
	}
	TT_REQUIRE(in[IN]->spec.shape.rank == 3,
		   "input.storage_type() == StorageType::DEVICE && input.buffer() != nullptr && "
		   "input.logical_shape().rank() == 3",
		   NAME ": input must be an allocated device tensor of rank 3");
	TT_TRY(kda_conv_bind(attrs, call, in[IN]));
	if (in[IN]->spec.layout == TTNN_ROW_MAJOR) {
		TT_TRY(TT_CALL(&tiles, call, "ttnn.tilize",
			       {"input_tensor", ttnn_v_tensor(in[IN])}));
		in[IN] = tt_call_own(call, tiles);
	}
	return TT_LAUNCH_RETURN(call, &program, .attrs = attrs, .inputs = in,
				.input_count = INPUTS);
}

/* ---- the golden ---------------------------------------------------------------------------------------------------------- */

/* The tokens of the first chip with the three before, in a line of which the rows after the split have one of their own. */
static tt_status golden_conv(struct tt_golden *golden)
{
	static const char *const widths[] = {"q_width", "k_width", "v_width"};
	static const char *const taps[] = {"tap0", "tap1", "tap2", "tap3"};
	const struct tt_call *call = &golden->call;
	const struct tt_device *device = tt_golden_device(golden, "input");
	const struct tt_array *in = tt_golden_in(golden, "input"),
			      *start = tt_golden_in(golden, "actual_start");
	const struct tt_array *history = tt_golden_in(golden, "history");
	const struct tt_array *carry = tt_golden_in(golden, "predecessor_carry");
	uint64_t offset = (uint64_t)tt_call_int(call, "input_column_offset", 0), from = 0, rows,
		 all;
	uint64_t chips =
		tt_call_int(call, "sequence_parallel_axis", 0) ? device->cols : device->rows;
	uint64_t first, split;

	TT_GOLDEN_NEED(in && start && history && carry);
	golden->first_chip = true;
	rows = in->shape.dim[1];
	TT_NEED(in->shape.rank == 3 && rows, "a chip must have rows");
	all = history->shape.dim[2];
	first = (uint64_t)*tt_at(start, 0) / rows % chips;
	split = chips > 1 && first == 0 ? rows - (uint64_t)*tt_at(start, 0) % rows : rows;
	for (int part = 0; part < 3; part++) {
		uint64_t width = (uint64_t)tt_call_int(call, widths[part], 32);
		struct tt_array *out = tt_golden_out(
			golden, &(struct ttnn_shape){3, {1, (uint32_t)rows, (uint32_t)width}},
			TTNN_BFLOAT16);

		TT_GOLDEN_NEED(out);
		for (uint64_t i = 0; i < out->count; i++) {
			uint64_t row = i / width, channel = from + i % width,
				 begin = row < split ? 0 : split;
			const struct tt_array *before = first == 0 && row < split ? history : carry;
			double sum = 0;

			for (uint64_t t = 0; t < 4; t++) {
				const struct tt_array *tap = tt_golden_in(golden, taps[t]);
				uint64_t line = row - begin + t; /* of the three and the rows */
				double value =
					line < 3
						? *tt_at(before, line * all + channel)
						: *tt_at(in, (line - 3 + begin) * in->shape.dim[2] +
								     offset + channel);

				sum += *tt_at(tap, channel) * value;
			}
			*tt_at(out, i) = sum / (1 + exp(-sum));
		}
		from += width;
	}
	return TTNN_OK;
}

static const struct tt_op ops[] = {
	{.name = "ttnn.experimental.kda.qkv_causal_conv1d_silu",
	 .doc = "Channels convolved over the tokens before, silu, as queries, keys and values.",
	 .sigs = {"input: Tensor, history: Tensor, tap0: Tensor, tap1: Tensor, tap2: Tensor, tap3: "
		  "Tensor, q_width: size, k_width: size, v_width: size, *, program_config: "
		  "ProgramConfig, actual_start: Tensor, predecessor_carry: Tensor, memory_config: "
		  "MemoryConfig? = None, compute_kernel_config: ComputeConfig? = None, "
		  "sequence_parallel_axis: size = 0, input_column_offset: size = 0"},
	 .expand = kda_conv_expand,
	 .golden = golden_conv,
	 .gives = "Tensor, Tensor, Tensor",
	 TT_PROGRAMS(&program)},
};

const struct tt_op_family tt_family_kda_conv = {"kda_conv", ops, TT_COUNT(ops)};
