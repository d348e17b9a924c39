/*
 * rotary.c: rotary position embedding by halves of a row, as Falcon and Hugging Face do it: x ×
 * cos + rotate_half(x) × sin, where rotate_half swaps the halves of a row and negates the first.
 *
 * Models, of ttnn 0.81 (experimental/transformer), RotaryEmbeddingDeviceOperation with one
 * factory, RotaryEmbeddingHfDeviceOperation with two (interleaved; sharded while decoding) and
 * RotateHalfDeviceOperation with one: refusals, memory, cores. Not modelled: rounding of the
 * products before they are added.
 */
#include "ops/attention/rotary.h"

#include "backend/backend.h"
#include "ops/compute.h"
#include "ops/movement/movement.h"

/* A row of tiles for each core, or shards where they are. */
tt_status tt_rotary_cores(const ttnn_core_set **out, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct tt_work_split split;

	if (in->memory.has_shard) {
		*out = in->memory.shard.grid;
		return TTNN_OK;
	}
	TT_TRY(tt_split_work(&split, launch->device->info.compute_grid, in->rows / TT_TILE,
			     TTNN_ORIENT_ROW_MAJOR));
	*out = split.all;
	return TTNN_OK;
}

/* ---- the program ---------------------------------------------------------------------------------- */

#define ATTRS(X)                                                                                   \
	X(SEQUENCE, "seq_len")                                                                     \
	X(TOKEN, "token_idx", .unkeyed = true)                                                     \
	X(MEMORY, "output_mem_config")                                                             \
	X(COMPUTE, "compute_kernel_config")
TT_ATTRS(schema, "RotaryEmbeddingParams", ATTRS);
enum { IN, COS, SIN, INPUTS };

/* What was padding of the input belongs to the result. */
static tt_status rotary_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec;

	return tt_infer_one(launch, &in->padded, in->dtype, TTNN_TILE);
}

static tt_status rotary_validate(struct tt_launch *launch)
{
	TT_REQUIRE(launch->inputs[COS]->spec.dtype == launch->inputs[SIN]->spec.dtype,
		   "cos.dtype() == sin.dtype()", "Cos and Sin dtypes must match");
	return TTNN_OK;
}

/*
 * All tokens: rows of cosines and sines pass by with the rows. One token: its row is cut out of the
 * tables first.
 */
static tt_status rotary_rows(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[IN], *out = launch->outputs[0];
	bool one = tt_value_given(&launch->attrs[TOKEN]);
	uint64_t width = tt_tiles_across(in), held = one ? width : 2 * width;
	uint64_t t_in = tt_tensor_tile_bytes(in), t_cos = tt_tensor_tile_bytes(launch->inputs[COS]);
	uint64_t t_sin = tt_tensor_tile_bytes(launch->inputs[SIN]), own = tt_shard_tiles(&in->spec);
	const ttnn_core_set *cores;

	TT_TRY(tt_rotary_cores(&cores, launch));
	return TT_PLAN(
		plan, cores,
		TT_CB_ROW(0, "input_cb", .pages = own ? own : 2 * width, .page = t_in,
			  .backing = own ? in : NULL),
		TT_CB_ROW(1, "rotated_input_cb", .pages = width > 1 ? 2 * width : 1, .page = t_in),
		TT_CB_ROW(2, "cos_cb", .pages = held, .page = t_cos),
		TT_CB_ROW(3, "sin_cb", .pages = held, .page = t_sin),
		TT_CB_ROW(4, "src_scalar_cb", .pages = width > 1,
			  .page = tt_tile_bytes_of(TTNN_BFLOAT16)),
		TT_CB_ROW(24, "rotated_input_interm_cb", .pages = 1, .page = t_in),
		TT_CB_ROW(25, "cos_interm_cb", .pages = 1, .page = width > 1 ? t_cos : t_in),
		TT_CB_ROW(26, "sin_interm_cb", .pages = 1, .page = width > 1 ? t_sin : t_in),
		TT_CB_ROW(16, "output_cb", .pages = own ? own : 2 * width,
			  .page = tt_tensor_tile_bytes(out), .backing = own ? out : NULL),
		TT_CB_ROW(27, "untilized_cos_interm_cb", .pages = one ? width : 0, .page = t_cos),
		TT_CB_ROW(28, "untilized_sin_interm_cb", .pages = one ? width : 0, .page = t_cos),
		TT_CB_ROW(29, "retilized_cos_cb", .pages = one ? width : 0, .page = t_sin),
		TT_CB_ROW(30, "retilized_sin_cb", .pages = one ? width : 0, .page = t_sin));
}

/* The input in the shape of the output, with zeros where it was padding. */
static tt_status filled_up(struct tt_tensor **out, struct tt_tensor *in, struct tt_tensor *like)
{
	TT_TRY(tt_scratch_f32(out, &like->spec.shape));
	return tt_move_part(*out, in, &(struct tt_move_block){.extent = in->spec.shape.dim});
}

/* With token_index all rows have one position: that of the token. */
static tt_status rotary_kernel(struct tt_launch *launch)
{
	bool one = tt_value_given(&launch->attrs[TOKEN]);
	struct tt_tensor *in = launch->inputs[IN];

	if (!ttnn_shape_equal(&in->spec.shape, &launch->outputs[0]->spec.shape))
		TT_TRY(filled_up(&in, in, launch->outputs[0]));
	return tt_backend_get()->rotary(
		&(struct tt_rotary_job){.out = launch->outputs[0],
					.in = in,
					.cos = launch->inputs[COS],
					.sin = launch->inputs[SIN],
					.kind = TT_ROTARY_HALVES,
					.start = one ? (uint32_t)launch->attrs[TOKEN].integer : 0,
					.same_row = one});
}

static const struct tt_prog program = {
	.device_op = "RotaryEmbeddingDeviceOperation",
	.prim = "ttnn::prim::rotary_embedding",
	.attrs = &schema,
	.infer = rotary_infer,
	.validate = rotary_validate,
	TT_FACTORY("ttnn::experimental::prim::RotaryEmbeddingProgramFactory", rotary_rows),
	TT_KERNEL(rotary_kernel),
};

/* ---- Hugging Face --------------------------------------------------------------------------------- */

#define HF_ATTRS(X)                                                                                \
	X(HF_DECODE, "is_decode_mode")                                                             \
	X(HF_MEMORY, "output_mem_config")                                                          \
	X(HF_COMPUTE, "compute_kernel_config")
TT_ATTRS(hf_schema, "RotaryEmbeddingHfParams", HF_ATTRS);

/* Rows of one tile are turned by a matrix: that takes less. */
static tt_status hf_rows(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[IN], *out = launch->outputs[0];
	uint64_t width = tt_tiles_across(in), twice = width > 1 ? 2 * width : 1,
		 t_in = tt_tensor_tile_bytes(in);
	uint64_t t_cos = tt_tensor_tile_bytes(launch->inputs[COS]),
		 t_sin = tt_tensor_tile_bytes(launch->inputs[SIN]);
	const ttnn_core_set *cores;

	TT_TRY(tt_rotary_cores(&cores, launch));
	return TT_PLAN(
		plan, cores, TT_CB_ROW(0, "input_cb", .pages = 2 * width, .page = t_in),
		TT_CB_ROW(1, "rotated_input_cb", .pages = twice, .page = t_in),
		TT_CB_ROW(2, "cos_cb", .pages = twice, .page = t_cos),
		TT_CB_ROW(3, "sin_cb", .pages = twice, .page = t_sin),
		TT_CB_ROW(4, "src_scalar_cb", .pages = width > 1,
			  .page = tt_tile_bytes_of(TTNN_BFLOAT16)),
		TT_CB_ROW(24, "rotated_input_interm_cb", .pages = 1, .page = t_in),
		TT_CB_ROW(25, "cos_interm_cb", .pages = 1, .page = width > 1 ? t_cos : t_in),
		TT_CB_ROW(26, "sin_interm_cb", .pages = 1, .page = width > 1 ? t_sin : t_in),
		TT_CB_ROW(16, "output_cb", .pages = 2 * width, .page = tt_tensor_tile_bytes(out)));
}

/*
 * Decode: input and tables are buffers as they are; the scalar tile holds -1, which negates a
 * half.
 */
static tt_status hf_rows_sharded(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[IN], *out = launch->outputs[0];
	struct tt_tensor *cos = launch->inputs[COS], *sin = launch->inputs[SIN];
	uint64_t width = tt_tiles_across(in);

	return TT_PLAN(
		plan, in->spec.memory.shard.grid,
		TT_CB_ROW(0, "input_cb", .pages = tt_shard_tiles(&in->spec),
			  .page = tt_tensor_tile_bytes(in), .backing = in),
		TT_CB_ROW(2, "cos_cb", .pages = tt_shard_tiles(&cos->spec),
			  .page = tt_tensor_tile_bytes(cos), .backing = cos),
		TT_CB_ROW(3, "sin_cb", .pages = tt_shard_tiles(&sin->spec),
			  .page = tt_tensor_tile_bytes(sin), .backing = sin),
		TT_CB_ROW(4, "src_scalar_cb", .pages = 1, .page = tt_tile_bytes_of(TTNN_BFLOAT16)),
		TT_CB_ROW(24, "rotated_input_interm_cb", .pages = width,
			  .page = tt_tensor_tile_bytes(in)),
		TT_CB_ROW(25, "cos_interm_cb", .pages = width, .page = tt_tensor_tile_bytes(cos)),
		TT_CB_ROW(26, "sin_interm_cb", .pages = width, .page = tt_tensor_tile_bytes(sin)),
		TT_CB_ROW(16, "output_cb", .pages = tt_shard_tiles(&in->spec),
			  .page = tt_tensor_tile_bytes(out), .backing = out));
}

static tt_status hf_choose(uint32_t *out, struct tt_launch *launch)
{
	*out = launch->attrs[HF_DECODE].boolean;
	return TTNN_OK;
}

static tt_status hf_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec;

	return tt_infer_one(launch, &in->shape, in->dtype, in->layout);
}

/* Decode: a user's heads are a shard, and so is its row of the tables. */
static tt_status hf_validate_users(struct tt_tensor *const inputs[INPUTS])
{
	const struct ttnn_shape *cos = &inputs[COS]->spec.padded, *in = &inputs[IN]->spec.padded;

	TT_REQUIRE(tt_tensor_is_sharded(inputs[IN]), "input_tensor.is_sharded()",
		   "Input must be sharded in decode mode");
	TT_REQUIRE(inputs[IN]->spec.memory.layout == TTNN_HEIGHT_SHARDED,
		   "input_tensor.memory_config().memory_layout() == "
		   "tt::tt_metal::TensorMemoryLayout::HEIGHT_SHARDED",
		   "Input must be HEIGHT_SHARDED in decode mode");
	TT_REQUIRE(tt_tensor_is_sharded(inputs[COS]), "cos.is_sharded()",
		   "Cos must be sharded in decode mode");
	TT_REQUIRE(tt_tensor_is_sharded(inputs[SIN]), "sin.is_sharded()",
		   "Sin must be sharded in decode mode");
	TT_REQUIRE(cos->dim[1] == in->dim[1], "cos.padded_shape()[1] == batch_size",
		   "Cos batch dim must match input");
	return TTNN_OK;
}

/* Prefill: all heads and batches turn by the same rows, of which there may be more than needed. */
static tt_status hf_validate_tokens(struct tt_tensor *const inputs[INPUTS])
{
	uint32_t tokens = tt_shape_last(&inputs[IN]->spec.shape, 2);
	uint32_t cos = tt_shape_last(&inputs[COS]->spec.shape, 2);
	uint32_t sin = tt_shape_last(&inputs[SIN]->spec.shape, 2);

	TT_REQUIRE(inputs[COS]->spec.padded.dim[1] == 1, "cos.padded_shape()[1] == 1",
		   "Cos must have batch dim = 1 in prefill mode");
	TT_REQUIRE(cos >= tokens, "cos_seq_len >= seq_len",
		   "Cos seq_len must be >= input seq_len. Input seq_len: %u, Cos seq_len: %u.",
		   tokens, cos);
	TT_REQUIRE(sin >= tokens, "sin_seq_len >= seq_len",
		   "Sin seq_len must be >= input seq_len. Input seq_len: %u, Sin seq_len: %u.",
		   tokens, sin);
	TT_REQUIRE(inputs[IN]->spec.memory.layout != TTNN_WIDTH_SHARDED,
		   "input_tensor.memory_config().memory_layout() != "
		   "tt::tt_metal::TensorMemoryLayout::WIDTH_SHARDED",
		   "Input cannot be WIDTH_SHARDED");
	return TTNN_OK;
}

static tt_status hf_validate(struct tt_launch *launch)
{
	static const char *const conditions[INPUTS] = {
		"input_tensor.layout() == tt::tt_metal::Layout::TILE",
		"cos.layout() == tt::tt_metal::Layout::TILE",
		"sin.layout() == tt::tt_metal::Layout::TILE"};
	static const char *const names[INPUTS] = {"Input", "Cos", "Sin"};
	struct tt_tensor *const *inputs = launch->inputs;
	const struct ttnn_shape *cos = &inputs[COS]->spec.padded;
	uint32_t width = tt_shape_last(&inputs[IN]->spec.padded, 1);

	for (int i = 0; i < INPUTS; i++)
		TT_REQUIRE(inputs[i]->spec.layout == TTNN_TILE, conditions[i], "%s must be tilized",
			   names[i]);
	TT_REQUIRE(width == TT_TILE || width % (2 * TT_TILE) == 0,
		   "input_tensor.padded_shape()[-1] == TILE_WIDTH || "
		   "input_tensor.padded_shape()[-1] % (TILE_WIDTH * 2) == 0",
		   "Input X dim (%u) must be either 32 (single tile) or divisible by 64 "
		   "(rotate_half midpoint must align with a tile boundary).",
		   width);
	TT_REQUIRE(inputs[COS]->spec.dtype == inputs[SIN]->spec.dtype, "cos.dtype() == sin.dtype()",
		   "Cos and Sin dtypes must match");
	TT_REQUIRE(ttnn_shape_equal(cos, &inputs[SIN]->spec.padded),
		   "cos.padded_shape() == sin.padded_shape()", "Cos and Sin shapes must match");
	TT_REQUIRE(cos->dim[0] == 1 && tt_shape_last(cos, 1) == width,
		   "cos.padded_shape()[0] == 1 && cos.padded_shape()[-1] == X",
		   "Cos dims must match input dims");
	if (launch->attrs[HF_DECODE].boolean)
		TT_TRY(hf_validate_users(inputs));
	else
		TT_TRY(hf_validate_tokens(inputs));
	TT_REQUIRE(launch->attrs[HF_MEMORY].memory->layout != TTNN_WIDTH_SHARDED,
		   "args.output_mem_config.memory_layout() != "
		   "tt::tt_metal::TensorMemoryLayout::WIDTH_SHARDED",
		   "Output cannot be WIDTH_SHARDED");
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
	{.name = "ttnn::experimental::prim::RotaryEmbeddingHfMultiCore", .memory = hf_rows},
	{.name = "ttnn::experimental::prim::RotaryEmbeddingHfMultiCoreSharded",
	 .memory = hf_rows_sharded},
};
static const struct tt_prog hf_program = {
	.device_op = "RotaryEmbeddingHfDeviceOperation",
	.prim = "ttnn::prim::rotary_embedding_hf",
	.attrs = &hf_schema,
	.infer = hf_infer,
	.validate = hf_validate,
	TT_FACTORIES(hf_factories),
	.choose = hf_choose,
	TT_KERNEL(hf_kernel),
};

/* ---- half a turn alone ------------------------------------------------------------------------------ */

static const struct tt_field half_fields[] = {{.name = "output_mem_config"}};
static const struct tt_schema half_schema = {"RotateHalfParams", half_fields, 1, false};

/* One core does all: upstream has no other factory for it. */
static tt_status half_rows(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_core_range first = {{0, 0}, {0, 0}};
	uint64_t tile = tt_tensor_tile_bytes(launch->inputs[0]);
	const ttnn_core_set *core;

	TT_TRY(ttnn_core_set_make(&core, &first, 1));
	return tt_plan_buffers(plan, core,
			       (struct tt_buffer_row[]){
				       TT_CB_ROW(0, "src_no_mul_cb", .pages = 2, .page = tile),
				       TT_CB_ROW(1, "src_scalar_cb", .pages = 1,
						 .page = tt_tile_bytes_of(TTNN_BFLOAT16)),
				       TT_CB_ROW(2, "src_mul_cb", .pages = 2, .page = tile),
				       TT_CB_ROW(16, "output_mul_cb", .pages = 2,
						 .page = tt_tensor_tile_bytes(launch->outputs[0])),
			       },
			       4);
}

/* x × 0 + turned(x) × 1. */
static tt_status half_kernel(struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[0], *factors[2];

	for (int i = 0; i < 2; i++) {
		TT_TRY(tt_scratch_f32(&factors[i], &TT_SHAPE(tt_shape_last(&in->spec.shape, 1))));
		TT_TRY(tt_backend_get()->fill(factors[i], i, TT_FILL_ALL));
	}
	return tt_backend_get()->rotary(&(struct tt_rotary_job){.out = launch->outputs[0],
								.in = in,
								.cos = factors[0],
								.sin = factors[1],
								.kind = TT_ROTARY_HALVES});
}

static const struct tt_prog half_program = {
	.device_op = "RotateHalfDeviceOperation",
	.prim = "ttnn::prim::rotate_half",
	.attrs = &half_schema,
	.infer = tt_infer_tiles,
	TT_FACTORY("ttnn::device_operation::MeshDeviceOperationAdapter<ttnn::experimental::prim::"
		   "RotateHalfDeviceOperation>::DirectDescriptorFactory",
		   half_rows),
	TT_KERNEL(half_kernel),
};

/* ---- operations --------------------------------------------------------------------------------------- */

static tt_status rotary_launch(struct tt_call *call, const struct tt_program_args *args)
{
	return tt_launch_return(call, args);
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

/*
 * Widths are one tile, which goes by a matrix, or pairs of tiles, as halves must be whole tiles.
 * Tables are as wide as the input and no shorter.
 */
static tt_status rotary_check(const struct tt_call *call, struct tt_tensor *const inputs[INPUTS])
{
	const struct ttnn_shape *in = &inputs[IN]->spec.padded;
	uint32_t width = tt_shape_last(in, 1), length = tt_shape_last(in, 2);
	uint32_t table = tt_shape_last(&inputs[COS]->spec.padded, 2);

	TT_REQUIRE(
		width == TT_TILE || width % (2 * TT_TILE) == 0,
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

/* Rows are tilized first, tables too, each by an operation that recordings show. */
static tt_status rotary_embed(struct tt_call *call)
{
	struct tt_tensor *inputs[INPUTS] = {tt_call_tensor(call, "input_tensor"),
					    tt_call_tensor(call, "cos_cache"),
					    tt_call_tensor(call, "sin_cache")};
	struct ttnn_value attrs[schema_count];

	TT_TRY(rotary_check(call, inputs));
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
	attrs[MEMORY] = tt_value_memory_or_like(call, inputs[IN]);
	attrs[COMPUTE] =
		tt_compute_config(call, tt_call_arg(call, "compute_kernel_config"), &usual);
	return rotary_launch(call, &(struct tt_program_args){.prog = &program,
							     .attrs = attrs,
							     .inputs = inputs,
							     .input_count = INPUTS});
}

static tt_status embed_hf(struct tt_call *call)
{
	struct tt_tensor *const inputs[INPUTS] = {tt_call_tensor(call, "input_tensor"),
						  tt_call_tensor(call, "cos_cache"),
						  tt_call_tensor(call, "sin_cache")};
	static const char *const conditions[INPUTS] = {
		"input_tensor.storage_type() == StorageType::DEVICE",
		"cos_cache.storage_type() == StorageType::DEVICE",
		"sin_cache.storage_type() == StorageType::DEVICE"};
	static const char *const names[INPUTS] = {"input_tensor", "cos_cache", "sin_cache"};
	struct ttnn_value attrs[hf_schema_count];

	for (int i = 0; i < INPUTS; i++)
		TT_REQUIRE(tt_tensor_device(inputs[i]), conditions[i],
			   "rotary_embedding_hf requires %s on device; host tensors are not "
			   "supported.",
			   names[i]);
	attrs[HF_DECODE] = ttnn_v_bool(tt_call_bool(call, "is_decode_mode", false));
	attrs[HF_MEMORY] = tt_value_memory_or_like(call, inputs[IN]);
	attrs[HF_COMPUTE] =
		tt_compute_config(call, tt_call_arg(call, "compute_kernel_config"), &usual);
	return rotary_launch(call, &(struct tt_program_args){.prog = &hf_program,
							     .attrs = attrs,
							     .inputs = inputs,
							     .input_count = INPUTS});
}

static tt_status rotate_half(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input");
	uint32_t width = tt_shape_last(&in->spec.padded, 1);
	struct ttnn_value attr;

	TT_REQUIRE(width % (2 * TT_TILE) == 0,
		   "input_tensor.padded_shape()[-1] % (TILE_WIDTH * 2) == 0",
		   "Input X dimension (%u) must be divisible by 64 for tiling.", width);
	attr = tt_value_memory_or_like(call, in);
	return rotary_launch(call, &(struct tt_program_args){.prog = &half_program,
							     .attrs = &attr,
							     .inputs = &in,
							     .input_count = 1});
}

#define TABLES "input_tensor: Tensor, cos_cache: Tensor, sin_cache: Tensor, "
#define TAIL "memory_config: MemoryConfig? = None, compute_kernel_config: ComputeConfig? = None"
static const struct tt_op ops[] = {
	{.name = "ttnn.experimental.rotary_embedding",
	 .doc = "Rows turned by the angles of their positions, half against half.",
	 .sigs = {TABLES "token_index: int? = None, *, " TAIL},
	 .expand = rotary_embed,
	 .golden = tt_golden_rotary},
	{.name = "ttnn.experimental.rotary_embedding_hf",
	 .doc = "The same with tables for the tokens at hand, or for each user.",
	 .sigs = {TABLES "*, is_decode_mode: bool = False, " TAIL},
	 .expand = embed_hf,
	 .golden = tt_golden_rotary},
	{.name = "ttnn.experimental.rotate_half",
	 .doc = "The second half of each row, negated, before the first.",
	 .sigs = {"input: Tensor, *, memory_config: MemoryConfig? = None"},
	 .expand = rotate_half,
	 .golden = tt_golden_rotate_half,
	 .pcc = 0.9999},
};

const struct tt_op_family tt_family_rotary = {"rotary", ops, TT_COUNT(ops)};
