/* rotary.c: rotary position embedding by halves of a row, as Falcon and Hugging Face do it. */
#include "ops/rotary.h"

#include "backend/backend.h"
#include "device/device.h"
#include "device/devtensor.h"
#include "device/split.h"
#include "ops/compute.h"
#include "ops/movement.h"
#include "ops/rows.h"
#include "tensor/shape.h"
#include "tensor/spec.h"

#define TILE 32u

static uint64_t tile_of(const struct tt_tensor *tensor)
{
	return tt_tile_bytes_of(tensor->spec.dtype);
}

static uint64_t tiles_across(const struct tt_tensor *tensor)
{
	return tt_shape_last(&tensor->spec.padded, 1) / TILE;
}

tt_status tt_rotary_cores(const ttnn_core_set **out, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct tt_work_split split;

	if (in->memory.has_shard) {
		*out = in->memory.shard.grid;
		return TTNN_OK;
	}
	TT_TRY(tt_split_work(&split, launch->device->info.compute_grid, in->rows / TILE,
			     TTNN_ORIENT_ROW_MAJOR));
	*out = split.all;
	return TTNN_OK;
}

/* ---- the program ---------------------------------------------------------------------------------- */

enum { SEQUENCE, TOKEN, MEMORY, COMPUTE, ATTRS };
static const struct tt_field attr_fields[ATTRS] = {
	[SEQUENCE] = {.name = "seq_len"},
	[TOKEN] = {.name = "token_idx", .unkeyed = true},
	[MEMORY] = {.name = "output_mem_config"},
	[COMPUTE] = {.name = "compute_kernel_config"},
};
static const struct tt_schema attrs_schema = {"RotaryEmbeddingParams", attr_fields, ATTRS, false};
enum { IN, COS, SIN, INPUTS };

/* What was padding of the input belongs to the result. */
static tt_status infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec;

	launch->output_count = 1;
	return tt_spec_simple(&launch->specs[0], &in->padded, in->dtype, TTNN_TILE,
			      launch->attrs[MEMORY].memory);
}

static tt_status validate(struct tt_launch *launch)
{
	TT_REQUIRE(launch->inputs[COS]->spec.dtype == launch->inputs[SIN]->spec.dtype,
		   "cos.dtype() == sin.dtype()", "Cos and Sin dtypes must match");
	return TTNN_OK;
}

/*
 * All tokens: rows of cosines and sines pass by with the rows. One token: its row is cut out of the
 * tables first.
 */
static tt_status rows(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[IN], *out = launch->outputs[0];
	bool one = tt_value_given(&launch->attrs[TOKEN]);
	uint64_t width = tiles_across(in), held = one ? width : 2 * width;
	uint64_t t_in = tile_of(in), t_cos = tile_of(launch->inputs[COS]);
	uint64_t t_sin = tile_of(launch->inputs[SIN]), own = tt_shard_tiles(&in->spec);
	const struct tt_page_row all[] = {
		{TT_CB, 0, own ? own : 2 * width, t_in, own ? in : NULL},
		{TT_CB, 1, width > 1 ? 2 * width : 1, t_in, NULL},
		{TT_CB, 2, held, t_cos, NULL},
		{TT_CB, 3, held, t_sin, NULL},
		{TT_CB, 4, width > 1, tt_tile_bytes_of(TTNN_BFLOAT16), NULL},
		{TT_CB, 24, 1, t_in, NULL},
		{TT_CB, 25, 1, width > 1 ? t_cos : t_in, NULL},
		{TT_CB, 26, 1, width > 1 ? t_sin : t_in, NULL},
		{TT_CB, 16, own ? own : 2 * width, tile_of(out), own ? out : NULL},
		{TT_CB, 27, one ? width : 0, t_cos, NULL},
		{TT_CB, 28, one ? width : 0, t_cos, NULL},
		{TT_CB, 29, one ? width : 0, t_sin, NULL},
		{TT_CB, 30, one ? width : 0, t_sin, NULL},
	};
	const ttnn_core_set *cores;

	TT_TRY(tt_rotary_cores(&cores, launch));
	return tt_plan_rows(plan, cores, all, TT_COUNT(all));
}

/* The input in the shape of the output, with zeros where it was padding. */
static tt_status filled_up(struct tt_tensor **out, struct tt_tensor *in, struct tt_tensor *like)
{
	struct ttnn_spec_args args = {.shape = like->spec.shape, .dtype = TTNN_FLOAT32};
	struct ttnn_tensor_spec spec;

	TT_TRY(ttnn_tensor_spec_make(&spec, &args));
	TT_TRY(ttnn_tensor_new(out, &spec));
	return tt_move_part(*out, in, &(struct tt_move_block){.extent = in->spec.shape.dim});
}

static tt_status kernel(struct tt_launch *launch)
{
	bool one = tt_value_given(&launch->attrs[TOKEN]);
	struct tt_tensor *in = launch->inputs[IN], *filled = NULL;
	tt_status status = TTNN_OK;

	if (!ttnn_shape_equal(&in->spec.shape, &launch->outputs[0]->spec.shape))
		status = filled_up(&filled, in, launch->outputs[0]);
	if (status == TTNN_OK)
		status = tt_backend_get()->rotary(&(struct tt_rotary_job){
			.out = launch->outputs[0],
			.in = filled ? filled : in,
			.cos = launch->inputs[COS],
			.sin = launch->inputs[SIN],
			.kind = TT_ROTARY_HALVES,
			.start = one ? (uint32_t)launch->attrs[TOKEN].integer : 0,
			.same_row = one});
	ttnn_tensor_unref(filled);
	return status;
}

static const struct tt_factory factories[] = {
	{"ttnn::experimental::prim::RotaryEmbeddingProgramFactory", NULL, 0, rows},
};
static const struct tt_prog program = {
	.device_op = "RotaryEmbeddingDeviceOperation",
	.prim = "ttnn::prim::rotary_embedding",
	.attrs = &attrs_schema,
	.infer = infer,
	.validate = validate,
	.factories = factories,
	.factory_count = 1,
	TT_KERNEL(kernel),
};

/* ---- Hugging Face --------------------------------------------------------------------------------- */

enum { HF_DECODE, HF_MEMORY, HF_COMPUTE, HF_ATTRS };
static const struct tt_field hf_fields[HF_ATTRS] = {
	[HF_DECODE] = {.name = "is_decode_mode"},
	[HF_MEMORY] = {.name = "output_mem_config"},
	[HF_COMPUTE] = {.name = "compute_kernel_config"},
};
static const struct tt_schema hf_schema = {"RotaryEmbeddingHfParams", hf_fields, HF_ATTRS, false};

static tt_status hf_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec;

	launch->output_count = 1;
	return tt_spec_simple(&launch->specs[0], &in->shape, in->dtype, TTNN_TILE,
			      launch->attrs[HF_MEMORY].memory);
}

/* Rows of one tile are turned by a matrix: that takes less. */
static tt_status hf_rows(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[IN], *out = launch->outputs[0];
	uint64_t width = tiles_across(in), twice = width > 1 ? 2 * width : 1, t_in = tile_of(in);
	uint64_t t_cos = tile_of(launch->inputs[COS]), t_sin = tile_of(launch->inputs[SIN]);
	const struct tt_page_row all[] = {
		{TT_CB, 0, 2 * width, t_in, NULL},
		{TT_CB, 1, twice, t_in, NULL},
		{TT_CB, 2, twice, t_cos, NULL},
		{TT_CB, 3, twice, t_sin, NULL},
		{TT_CB, 4, width > 1, tt_tile_bytes_of(TTNN_BFLOAT16), NULL},
		{TT_CB, 24, 1, t_in, NULL},
		{TT_CB, 25, 1, width > 1 ? t_cos : t_in, NULL},
		{TT_CB, 26, 1, width > 1 ? t_sin : t_in, NULL},
		{TT_CB, 16, 2 * width, tile_of(out), NULL},
	};
	const ttnn_core_set *cores;

	TT_TRY(tt_rotary_cores(&cores, launch));
	return tt_plan_rows(plan, cores, all, TT_COUNT(all));
}

static tt_status hf_rows_sharded(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[IN], *out = launch->outputs[0];
	struct tt_tensor *cos = launch->inputs[COS], *sin = launch->inputs[SIN];
	uint64_t width = tiles_across(in);
	const struct tt_page_row all[] = {
		{TT_CB, 0, tt_shard_tiles(&in->spec), tile_of(in), in},
		{TT_CB, 2, tt_shard_tiles(&cos->spec), tile_of(cos), cos},
		{TT_CB, 3, tt_shard_tiles(&sin->spec), tile_of(sin), sin},
		{TT_CB, 4, 1, tt_tile_bytes_of(TTNN_BFLOAT16), NULL},
		{TT_CB, 24, width, tile_of(in), NULL},
		{TT_CB, 25, width, tile_of(cos), NULL},
		{TT_CB, 26, width, tile_of(sin), NULL},
		{TT_CB, 16, tt_shard_tiles(&out->spec), tile_of(out), out},
	};

	return tt_plan_rows(plan, in->spec.memory.shard.grid, all, TT_COUNT(all));
}

static tt_status hf_choose(uint32_t *out, struct tt_launch *launch)
{
	*out = launch->attrs[HF_DECODE].boolean && launch->inputs[IN]->spec.memory.has_shard;
	return TTNN_OK;
}

static tt_status hf_kernel(struct tt_launch *launch)
{
	return tt_backend_get()->rotary(
		&(struct tt_rotary_job){.out = launch->outputs[0],
					.in = launch->inputs[IN],
					.cos = launch->inputs[COS],
					.sin = launch->inputs[SIN],
					.kind = TT_ROTARY_HALVES,
					.same_row = launch->attrs[HF_DECODE].boolean});
}

static const struct tt_factory hf_factories[] = {
	{"ttnn::experimental::prim::RotaryEmbeddingHfMultiCore", NULL, 0, hf_rows},
	{"ttnn::experimental::prim::RotaryEmbeddingHfMultiCoreSharded", NULL, 0, hf_rows_sharded},
};
static const struct tt_prog hf_program = {
	.device_op = "RotaryEmbeddingHfDeviceOperation",
	.prim = "ttnn::prim::rotary_embedding_hf",
	.attrs = &hf_schema,
	.infer = hf_infer,
	.factories = hf_factories,
	.factory_count = TT_COUNT(hf_factories),
	.choose = hf_choose,
	TT_KERNEL(hf_kernel),
};

/* ---- half a turn alone ------------------------------------------------------------------------------ */

static const struct tt_field half_fields[] = {{.name = "output_mem_config"}};
static const struct tt_schema half_schema = {"RotateHalfParams", half_fields, 1, false};

static tt_status half_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;

	launch->output_count = 1;
	return tt_spec_simple(&launch->specs[0], &in->shape, in->dtype, TTNN_TILE,
			      launch->attrs[0].memory);
}

static tt_status half_rows(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_core_range first = {{0, 0}, {0, 0}};
	uint64_t tile = tile_of(launch->inputs[0]);
	const ttnn_core_set *core;

	TT_TRY(ttnn_core_set_make(&core, &first, 1));
	return tt_plan_rows(plan, core,
			    (struct tt_page_row[]){
				    {TT_CB, 0, 2, tile, NULL},
				    {TT_CB, 1, 1, tt_tile_bytes_of(TTNN_BFLOAT16), NULL},
				    {TT_CB, 2, 2, tile, NULL},
				    {TT_CB, 16, 2, tile_of(launch->outputs[0]), NULL},
			    },
			    4);
}

/* x × 0 + turned(x) × 1. */
static tt_status half_kernel(struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[0], *factors[2] = {NULL, NULL};
	struct ttnn_spec_args args = {.shape = TT_SHAPE(tt_shape_last(&in->spec.shape, 1)),
				      .dtype = TTNN_FLOAT32};
	struct ttnn_tensor_spec spec;
	tt_status status = ttnn_tensor_spec_make(&spec, &args);

	for (int i = 0; i < 2 && status == TTNN_OK; i++) {
		status = ttnn_tensor_new(&factors[i], &spec);
		if (status == TTNN_OK)
			status = tt_backend_get()->fill(factors[i], i, TT_FILL_ALL);
	}
	if (status == TTNN_OK)
		status =
			tt_backend_get()->rotary(&(struct tt_rotary_job){.out = launch->outputs[0],
									 .in = in,
									 .cos = factors[0],
									 .sin = factors[1],
									 .kind = TT_ROTARY_HALVES});
	ttnn_tensor_unref(factors[0]);
	ttnn_tensor_unref(factors[1]);
	return status;
}

static const struct tt_factory half_factories[] = {
	{"ttnn::device_operation::MeshDeviceOperationAdapter<ttnn::experimental::prim::"
	 "RotateHalfDeviceOperation>::DirectDescriptorFactory",
	 NULL, 0, half_rows},
};
static const struct tt_prog half_program = {
	.device_op = "RotateHalfDeviceOperation",
	.prim = "ttnn::prim::rotate_half",
	.attrs = &half_schema,
	.infer = half_infer,
	.factories = half_factories,
	.factory_count = 1,
	TT_KERNEL(half_kernel),
};

/* ---- operations --------------------------------------------------------------------------------------- */

static tt_status launch(struct tt_call *call, const struct tt_program_args *args)
{
	struct tt_tensor *out;

	TT_TRY(tt_call_program(&out, call, args));
	tt_call_return(call, out);
	return TTNN_OK;
}

static tt_status check_table(const struct ttnn_tensor_spec *table, const struct ttnn_shape *in,
			     bool cosine)
{
	const struct ttnn_shape *padded = &table->padded;
	uint32_t width = tt_shape_last(in, 1);
	struct tt_str text = {0};
	tt_status status;

	if (padded->rank == 4 && padded->dim[0] == 1 && padded->dim[1] == 1 &&
	    padded->dim[3] == width)
		return TTNN_OK;
	tt_shape_list(&text, padded);
	status = tt_fail_cond(
		TTNN_INVALID,
		cosine ? "cos_cache.padded_shape()[0] == 1 && "
			 "cos_cache.padded_shape()[1] == 1 && "
			 "cos_cache.padded_shape()[-1] == X"
		       : "sin_cache.padded_shape()[0] == 1 && "
			 "sin_cache.padded_shape()[1] == 1 && "
			 "sin_cache.padded_shape()[-1] == X",
		"%s cache dimensions must match input dimensions. Expected (1, 1, %u), "
		"but got Shape(%s).",
		cosine ? "Cosine" : "Sine", width, tt_str_text(&text));
	tt_str_deinit(&text);
	return status;
}

static tt_status check(const struct tt_call *call, struct tt_tensor *const inputs[INPUTS])
{
	const struct ttnn_shape *in = &inputs[IN]->spec.padded;
	uint32_t width = tt_shape_last(in, 1), length = tt_shape_last(in, 2);
	uint32_t table = tt_shape_last(&inputs[COS]->spec.padded, 2);

	TT_REQUIRE(
		width == TILE || width % (2 * TILE) == 0,
		"input_tensor.padded_shape()[-1] == TILE_WIDTH || input_tensor.padded_shape()[-1] "
		"% (TILE_WIDTH * 2) == 0",
		"Input X dimension (%u) must be either 32 (single tile) or divisible by 64 "
		"(rotate_half midpoint must align with a tile boundary).",
		width);
	TT_TRY(check_table(&inputs[COS]->spec, in, true));
	TT_TRY(check_table(&inputs[SIN]->spec, in, false));
	if (!tt_value_given(tt_call_arg(call, "token_index")))
		TT_REQUIRE(table >= length, "cos_seq_len >= input_seq_len",
			   "Cosine cache must cover the input sequence length. Input sequence "
			   "length: %u, Cos cache sequence length: %u.",
			   length, table);
	else if (tt_call_int(call, "token_index", 0) < 0 ||
		 tt_call_int(call, "token_index", 0) >= (int64_t)table)
		return tt_fail(TTNN_INVALID, "token_index is not in the cosine cache");
	return TTNN_OK;
}

static const struct tt_compute_usual usual = {.fidelity = TT_HIFI4, .approx = true};

static tt_status embed(struct tt_call *call)
{
	struct tt_tensor *inputs[INPUTS] = {tt_call_tensor(call, "input_tensor"),
					    tt_call_tensor(call, "cos_cache"),
					    tt_call_tensor(call, "sin_cache")};
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");
	const struct ttnn_memory_config *own = &inputs[IN]->spec.memory;
	struct ttnn_value attrs[ATTRS];

	TT_TRY(check(call, inputs));
	for (int i = 0; i < INPUTS; i++)
		if (inputs[i]->spec.layout != TTNN_TILE) {
			const struct ttnn_arg args[] = {{NULL, ttnn_v_tensor(inputs[i])}};

			TT_TRY(tt_call_op(&inputs[i], call, "ttnn.tilize_with_zero_padding", args,
					  1));
			tt_call_own(call, inputs[i]);
		}
	attrs[SEQUENCE] = ttnn_v_int(tt_value_given(tt_call_arg(call, "token_index"))
					     ? 1
					     : tt_shape_last(&inputs[IN]->spec.padded, 2));
	attrs[TOKEN] = *tt_call_arg(call, "token_index");
	attrs[MEMORY] = ttnn_v_memory(memory ? memory : own);
	attrs[COMPUTE] =
		tt_compute_config(call, tt_call_arg(call, "compute_kernel_config"), &usual);
	return launch(call, &(struct tt_program_args){.prog = &program,
						      .attrs = attrs,
						      .inputs = inputs,
						      .input_count = INPUTS});
}

static tt_status embed_hf(struct tt_call *call)
{
	struct tt_tensor *const inputs[INPUTS] = {tt_call_tensor(call, "input_tensor"),
						  tt_call_tensor(call, "cos_cache"),
						  tt_call_tensor(call, "sin_cache")};
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");
	const struct ttnn_memory_config *own = &inputs[IN]->spec.memory;
	struct ttnn_value attrs[HF_ATTRS];

	attrs[HF_DECODE] = ttnn_v_bool(tt_call_bool(call, "is_decode_mode", false));
	attrs[HF_MEMORY] = ttnn_v_memory(memory ? memory : own);
	attrs[HF_COMPUTE] =
		tt_compute_config(call, tt_call_arg(call, "compute_kernel_config"), &usual);
	return launch(call, &(struct tt_program_args){.prog = &hf_program,
						      .attrs = attrs,
						      .inputs = inputs,
						      .input_count = INPUTS});
}

static tt_status rotate_half(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input");
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");
	const struct ttnn_memory_config *own = &in->spec.memory;
	uint32_t width = tt_shape_last(&in->spec.padded, 1);
	struct ttnn_value attr;

	TT_REQUIRE(width % (2 * TILE) == 0,
		   "input_tensor.padded_shape()[-1] % (TILE_WIDTH * 2) == 0",
		   "Input X dimension (%u) must be divisible by 64 for tiling.", width);
	attr = ttnn_v_memory(memory ? memory : own);
	return launch(call, &(struct tt_program_args){.prog = &half_program,
						      .attrs = &attr,
						      .inputs = &in,
						      .input_count = 1});
}

#define TABLES "input_tensor: Tensor, cos_cache: Tensor, sin_cache: Tensor, "
#define TAIL "memory_config: MemoryConfig? = None, compute_kernel_config: ComputeConfig? = None"
static const struct tt_op ops[] = {
	{.name = "ttnn.experimental.rotary_embedding",
	 .family = "rotary",
	 .doc = "Rows turned by the angles of their positions, half against half.",
	 .sigs = {TABLES "token_index: int? = None, *, " TAIL},
	 .expand = embed,
	 .golden = tt_golden_rotary,
	 .pcc = 0.999},
	{.name = "ttnn.experimental.rotary_embedding_hf",
	 .family = "rotary",
	 .doc = "The same with tables for the tokens at hand, or for each user.",
	 .sigs = {TABLES "*, is_decode_mode: bool = False, " TAIL},
	 .expand = embed_hf,
	 .golden = tt_golden_rotary,
	 .pcc = 0.999},
	{.name = "ttnn.experimental.rotate_half",
	 .family = "rotary",
	 .doc = "The second half of each row, negated, before the first.",
	 .sigs = {"input: Tensor, *, memory_config: MemoryConfig? = None"},
	 .expand = rotate_half,
	 .golden = tt_golden_rotate_half,
	 .pcc = 0.9999},
};

const struct tt_op_family tt_family_rotary = {"rotary", ops, TT_COUNT(ops)};
