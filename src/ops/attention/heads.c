/*
 * heads.c: queries, keys and values out of one fused tensor, and heads back into one row.
 *
 * A fused row is [q heads | k heads | v heads], each head as wide as the others; results are
 * [batch, heads, rows, width].
 *
 * Models, of ttnn 0.81 (experimental/transformer), NlpCreateHeadsDeviceOperation (both
 * factories), NLPConcatHeadsDeviceOperation, and the ones for models with fixed heads (Falcon
 * 7B, SegFormer, ViT), whose numbers are in their names: refusals, memory, cores.
 */
#include "ops/attention/heads.h"

#include "backend/backend.h"
#include "ops/movement/movement.h"

tt_status tt_heads_check_tiles(const struct ttnn_tensor_spec *in, const char *condition)
{
	TT_REQUIRE(in->dtype == TTNN_FLOAT32 || in->dtype == TTNN_BFLOAT16 ||
			   in->dtype == TTNN_BFLOAT8_B,
		   "input_tensor.dtype() == tt::tt_metal::DataType::FLOAT32 || "
		   "input_tensor.dtype() == tt::tt_metal::DataType::BFLOAT16 || "
		   "input_tensor.dtype() == tt::tt_metal::DataType::BFLOAT8_B",
		   "Unsupported data format");
	TT_REQUIRE(in->layout == TTNN_TILE, condition,
		   "Input tensor layout must be TILE but got Layout::%s",
		   tt_enum_name(&tt_enum_layout, in->layout));
	return TTNN_OK;
}

/*
 * As many cores as there are rows of tiles, `times` over: how programs that go by tile rows are
 * spread.
 */
static tt_status cores_by_rows(const ttnn_core_set **out, const struct tt_launch *launch,
			       uint64_t times)
{
	const struct ttnn_shape *padded = &launch->inputs[0]->spec.padded;

	return tt_cores_for(out, launch,
			    (uint64_t)padded->dim[0] * (tt_shape_last(padded, 2) / TT_TILE) *
				    times);
}

/* ---- taking apart ----------------------------------------------------------------------------------- */

#define ATTRS(X)                                                                                   \
	X(Q_HEADS, "num_q_heads")                                                                  \
	X(KV_HEADS, "num_kv_heads")                                                                \
	X(HEAD_DIM, "head_dim")                                                                    \
	X(TRANSPOSE, "transpose_k_heads")                                                          \
	X(TIED, "kv_tied")                                                                         \
	X(MEMORY, "output_mem_config")                                                             \
	X(GRID, "sub_core_grids")
TT_ATTRS(schema, "operation_attributes_t", ATTRS);
enum { IN, KV_IN, INPUTS };

/* Keys come transposed if so asked: what a product with queries wants. */
static tt_status create_heads_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec;
	uint32_t width = tt_attr_u32(launch, HEAD_DIM);
	struct ttnn_shape q = TT_SHAPE(in->shape.dim[0], tt_attr_u32(launch, Q_HEADS),
				       tt_shape_last(&in->shape, 2), width);
	struct ttnn_shape k = q, v;

	k.dim[1] = tt_attr_u32(launch, KV_HEADS);
	v = k;
	if (launch->attrs[TRANSPOSE].boolean) {
		k.dim[2] = width;
		k.dim[3] = q.dim[2];
	}
	launch->output_count = 3;
	for (int i = 0; i < 3; i++) {
		const struct ttnn_shape *shape = i == 0 ? &q : i == 1 ? &k : &v;
		struct ttnn_memory_config memory;

		TT_TRY(tt_heads_shard_memory(&memory, launch, launch->attrs[MEMORY].memory,
					     shape->dim[1], width));
		TT_TRY(tt_spec_simple(&launch->specs[i], shape, in->dtype, TTNN_TILE, &memory));
	}
	return TTNN_OK;
}

static tt_status create_heads_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec;

	TT_REQUIRE(in->dtype == TTNN_FLOAT32 || in->dtype == TTNN_BFLOAT16 ||
			   in->dtype == TTNN_BFLOAT8_B,
		   "input_tensor.dtype() == DataType::FLOAT32 || input_tensor.dtype() == "
		   "DataType::BFLOAT16 || input_tensor.dtype() == DataType::BFLOAT8_B",
		   "Unsupported data format");
	TT_REQUIRE(in->layout == TTNN_TILE, "input_tensor.layout() == Layout::TILE",
		   "Input tensor layout must be TILE but got Layout::%s",
		   tt_enum_name(&tt_enum_layout, in->layout));
	return tt_heads_shards_check(&(struct tt_heads_shards){
		.in = in,
		.kv = launch->inputs[KV_IN] ? &launch->inputs[KV_IN]->spec : NULL,
		.wanted = launch->attrs[MEMORY].memory,
		.grid = launch->device->info.compute_grid,
		.heads = tt_attr_u32(launch, Q_HEADS),
		.kv_heads = tt_attr_u32(launch, KV_HEADS),
		.width = tt_attr_u32(launch, HEAD_DIM),
		.transpose = launch->attrs[TRANSPOSE].boolean,
		.tied = launch->attrs[TIED].boolean});
}

/*
 * A head at a time, or where keys are transposed or come from elsewhere a tile row. The reader
 * takes as many tiles at once as divide a head: 8, 4 or else 2, double. Transposing goes through
 * the compute engine, in (src0) and out.
 */
static tt_status create_heads_rows(struct tt_plan *plan, const struct tt_launch *launch)
{
	bool transpose = launch->attrs[TRANSPOSE].boolean, apart = launch->inputs[KV_IN] != NULL;
	uint64_t tile = tt_tile_bytes_of(launch->inputs[IN]->spec.dtype), tiles = 4;
	uint64_t heads = tt_attr_u32(launch, Q_HEADS) + 2ull * tt_attr_u32(launch, KV_HEADS);
	const ttnn_core_set *cores;

	for (uint64_t block = 8; !transpose && block > 2; block /= 2)
		if (tt_attr_u32(launch, HEAD_DIM) / TT_TILE % block == 0) {
			tiles = 2 * block;
			break;
		}
	TT_TRY(cores_by_rows(&cores, launch, transpose || apart ? 1 : heads));
	return TT_PLAN(plan, cores, TT_DFB_ROW(1, "src1_cb", .pages = tiles, .page = tile),
		       TT_DFB_ROW(0, "src0_cb", .pages = transpose ? tiles : 0, .page = tile),
		       TT_DFB_ROW(16, "out_cb", .pages = transpose ? tiles : 0, .page = tile));
}

/* Heads out of the columns of a row, from `start` on. */
struct part {
	struct tt_tensor *out, *in;
	uint32_t start;
	bool transpose;
	uint32_t group,
		pitch; /* (optional) so many heads are together, groups so many columns apart */
};

/*
 * A block of columns becomes heads: four loops of a move, whose steps say that column h * width
 * + c of a row is column c of head h.
 */
static tt_status heads_take(const struct part *part)
{
	const struct ttnn_shape *shape = &part->out->spec.shape;
	uint32_t row = part->transpose ? 3 : 2, column = part->transpose ? 2 : 3;
	uint32_t width = shape->dim[column], left = part->in->spec.shape.dim[3];
	uint32_t group = part->group ? part->group : shape->dim[1];
	uint32_t groups = group ? shape->dim[1] / group : 0;
	const struct tt_move_loop loops[] = {
		{shape->dim[0], 0, 0, 1, 1},       {groups, 3, 1, part->pitch, group},
		{group, 3, 1, width, 1},           {shape->dim[row], 2, (int32_t)row, 1, 1},
		{width, 3, (int32_t)column, 1, 1},
	};
	struct tt_move_job job = {
		.out = part->out, .in = part->in, .loops = loops, .loop_count = TT_COUNT(loops)};

	/* Heads that are wider than what there is of them: no tile is cut, and nobody reads that. */
	if (part->start + (uint64_t)shape->dim[1] * width > left)
		return tt_fail(TTNN_UNSUPPORTED,
			       "heads whose width is not a multiple of 32 cannot be computed");
	job.in_start[3] = part->start;
	return tt_backend_get()->move(&job);
}

/* Of each core: its queries, a key, a value. */
static tt_status take_shards(struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[IN], *kv = launch->inputs[KV_IN];
	uint32_t width = tt_attr_u32(launch, HEAD_DIM),
		 sections = launch->attrs[TIED].boolean ? 1 : 2;
	uint32_t queries = tt_attr_u32(launch, Q_HEADS) / tt_attr_u32(launch, KV_HEADS);
	uint32_t start = kv ? 0 : queries * width;
	uint32_t pitch = (kv ? sections : queries + sections) * width;

	TT_TRY(heads_take(&(struct part){launch->outputs[0], in, 0, false, queries,
					 kv ? queries * width : pitch}));
	in = kv ? kv : in;
	TT_TRY(heads_take(&(struct part){launch->outputs[1], in, start, false, 1, pitch}));
	return heads_take(&(struct part){launch->outputs[2], in, start + (sections - 1) * width,
					 false, 1, pitch});
}

/*
 * Where each part begins: keys behind the queries, values behind the keys, or both in a tensor
 * of their own.
 */
static tt_status create_heads_kernel(struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[IN], *kv = launch->inputs[KV_IN];
	uint32_t width = tt_attr_u32(launch, HEAD_DIM);
	uint32_t k_start = kv ? 0 : tt_attr_u32(launch, Q_HEADS) * width;
	uint32_t v_start =
		k_start + (launch->attrs[TIED].boolean ? 0 : tt_attr_u32(launch, KV_HEADS) * width);

	if (tt_tensor_is_sharded(in))
		return take_shards(launch);
	TT_TRY(heads_take(&(struct part){launch->outputs[0], in, 0, false, 0, 0}));
	if (!tt_attr_u32(launch, KV_HEADS))
		return TTNN_OK;
	TT_TRY(heads_take(&(struct part){launch->outputs[1], kv ? kv : in, k_start,
					 launch->attrs[TRANSPOSE].boolean, 0, 0}));
	return heads_take(&(struct part){launch->outputs[2], kv ? kv : in, v_start, false, 0, 0});
}

#define FACTORY "ttnn::operations::experimental::transformer::NlpCreateHeadsDeviceOperation::"
static const struct tt_factory create_heads_factories[] = {
	{.name = FACTORY "Interleaved", .memory = create_heads_rows},
	{.name = FACTORY "Sharded", .memory = tt_heads_shards_memory},
};

static tt_status create_heads_choose(uint32_t *out, struct tt_launch *launch)
{
	*out = tt_tensor_is_sharded(launch->inputs[IN]);
	return TTNN_OK;
}

static const struct tt_prog program = {
	.device_op = "NlpCreateHeadsDeviceOperation",
	.prim = "ttnn::prim::nlp_create_qkv_heads",
	.attrs = &schema,
	.infer = create_heads_infer,
	.validate = create_heads_validate,
	TT_FACTORIES(create_heads_factories),
	.choose = create_heads_choose,
	.drops_forward = true,
	TT_KERNEL(create_heads_kernel),
	.cost = tt_cost_unmodelled_move,
};

/* What the heads are made of. */
struct fused {
	struct tt_tensor *in, *kv;
	int64_t heads, kv_heads;
	bool transpose, tied;
	const struct ttnn_memory_config *memory; /* NULL: the input's */
	struct tt_tensor *given[3];              /* outputs, or NULL */
};

/* head_dim is rounded up to tiles: what is stored, not what is meant. */
static tt_status launch_create(struct tt_tensor *out[3], struct tt_call *call,
			       const struct fused *fused, uint32_t width)
{
	struct tt_tensor *const inputs[INPUTS] = {fused->in, fused->kv};
	const struct ttnn_memory_config *own = &fused->in->spec.memory;
	struct ttnn_value attrs[schema_count];
	size_t count;

	attrs[Q_HEADS] = ttnn_v_int(fused->heads);
	attrs[KV_HEADS] = ttnn_v_int(fused->kv_heads);
	attrs[HEAD_DIM] = ttnn_v_int((int64_t)tt_align_to(width, TT_TILE));
	attrs[TRANSPOSE] = ttnn_v_bool(fused->transpose);
	attrs[TIED] = ttnn_v_bool(fused->tied);
	attrs[MEMORY] = ttnn_v_memory(fused->memory ? fused->memory : own);
	attrs[GRID] = ttnn_v_none();
	return tt_call_programs(out, &count, call,
				&(struct tt_program_args){.prog = &program,
							  .attrs = attrs,
							  .inputs = inputs,
							  .input_count = INPUTS,
							  .outputs = fused->given,
							  .output_count = 3});
}

/*
 * The width of a head, from how many there are in a row: kv_tied counts keys once, as values are
 * the same columns. What upstream refuses there is a row that would fit untied as well: it
 * cannot know which was meant.
 */
static tt_status head_width(uint32_t *out, const struct fused *fused)
{
	const struct ttnn_shape *padded = &fused->in->spec.padded;
	int64_t sections = fused->heads + (fused->kv ? 0 : (fused->tied ? 1 : 2) * fused->kv_heads);
	int64_t untied = fused->heads + 2 * fused->kv_heads, width;

	TT_TRY(tt_need_dim(padded, 3));
	width = padded->dim[3];
	TT_REQUIRE(fused->heads > 0, "num_q_heads > 0", "num_q_heads must be greater than 0");
	TT_REQUIRE(fused->kv_heads >= 0, "num_kv_heads >= 0", "num_kv_heads must not be negative");
	TT_REQUIRE(
		!fused->tied || fused->kv || width % untied != 0,
		"fused_width % untied_sections != 0",
		"Ambiguous kv_tied fused input shape: width %lld is divisible by both %lld (tied) "
		"and %lld (untied) sections",
		(long long)width, (long long)sections, (long long)untied);
	TT_REQUIRE(width % sections == 0,
		   "input_tensor_q.padded_shape()[3] % (num_q_heads + 2 * num_kv_heads_val) == 0",
		   "Unsupported input shape");
	*out = (uint32_t)(width / sections);
	return TTNN_OK;
}

static tt_status heads_create(struct tt_tensor *out[3], struct tt_call *call,
			      const struct fused *fused)
{
	uint32_t width;

	TT_TRY(head_width(&width, fused));
	return launch_create(out, call, fused, width);
}

/* ---- putting together --------------------------------------------------------------------------------- */

static const struct tt_field concat_fields[] = {{.name = "output_mem_config"}};
static const struct tt_schema concat_schema = {"NlpConcatHeadsParams", concat_fields, 1, false};

/* Shards of several heads below each other have them side by side in the result. */
static tt_status nlp_concat_memory(struct ttnn_memory_config *out,
				   const struct ttnn_tensor_spec *in,
				   const struct ttnn_memory_config *wanted)
{
	struct ttnn_shard_spec shard = in->memory.shard;
	uint32_t heads;

	*out = *wanted;
	if (!in->memory.has_shard || !tt_memory_config_is_sharded(wanted))
		return TTNN_OK;
	heads = in->padded.dim[2] ? shard.height / in->padded.dim[2] : 0;
	TT_REQUIRE(heads > 0, "shard_shape[0] >= sequence_length",
		   "Shard height %u must hold whole heads of %u rows", shard.height,
		   in->padded.dim[2]);
	shard.height /= heads;
	shard.width *= heads;
	return ttnn_memory_config_sharded(out, wanted->layout, wanted->buffer, &shard);
}

/* [batch, heads, rows, width] becomes [batch, 1, rows, heads × width]. */
static tt_status nlp_concat_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct ttnn_memory_config memory;
	struct ttnn_shape shape;

	TT_TRY(tt_need_dim(&in->shape, 2));
	TT_TRY(tt_need_dim(&in->shape, 3));
	shape = TT_SHAPE(in->shape.dim[0], 1, in->shape.dim[2],
			 in->shape.dim[1] * in->shape.dim[3]);
	TT_TRY(nlp_concat_memory(&memory, in, launch->attrs[0].memory));
	return tt_spec_simple(&launch->specs[0], &shape, in->dtype, TTNN_TILE, &memory);
}

static tt_status nlp_concat_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_memory_config *out = launch->attrs[0].memory;

	TT_REQUIRE(in->layout == TTNN_TILE, "input_tensor.layout() == tt::tt_metal::Layout::TILE",
		   "Input tensor layout must be TILE but got Layout::%s",
		   tt_enum_name(&tt_enum_layout, in->layout));
	if (!tt_memory_config_is_sharded(&in->memory))
		return TTNN_OK;
	TT_REQUIRE(out->layout != TTNN_HEIGHT_SHARDED,
		   "args.output_mem_config.memory_layout() != "
		   "tt::tt_metal::TensorMemoryLayout::HEIGHT_SHARDED",
		   "Output memory config layout must not be HEIGHT_SHARDED but got "
		   "TensorMemoryLayout::HEIGHT_SHARDED");
	TT_REQUIRE(tt_memory_config_is_sharded(out), "args.output_mem_config.is_sharded()",
		   "Sharded input requires a sharded output memory config but got "
		   "TensorMemoryLayout::%s",
		   tt_enum_name(&tt_enum_memory_layout, out->layout));
	return TTNN_OK;
}

/* Shards become shards on the same cores; else a row of tiles of all heads, double. */
static tt_status nlp_concat_rows(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[0], *out = launch->outputs[0];
	uint64_t heads = in->spec.padded.dim[1], tile = tt_tile_bytes_of(in->spec.dtype);
	const ttnn_core_set *cores;

	if (in->spec.memory.has_shard) /* where they lie */
		return TT_PLAN(plan, in->spec.memory.shard.grid,
			       TT_DFB_ROW(0, "src0_cb", .pages = tt_shard_tiles(&in->spec),
					  .page = tile, .backing = in),
			       TT_DFB_ROW(16, "out_cb", .pages = tt_shard_tiles(&out->spec),
					  .page = tile, .backing = out));
	TT_TRY(cores_by_rows(&cores, launch, heads));
	return TT_PLAN(plan, cores,
		       TT_DFB_ROW(0, "src0_cb",
				  .pages = 2 * heads * (in->spec.padded.dim[3] / TT_TILE),
				  .page = tile));
}

/* Head h of a row goes to column h × width. */
static tt_status nlp_concat_kernel(struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[0];
	const struct ttnn_shape *shape = &in->spec.shape;
	const struct tt_move_loop loops[] = {
		{shape->dim[0], 0, 0, 1, 1},
		{shape->dim[1], 1, 3, 1, shape->dim[3]},
		{shape->dim[2], 2, 2, 1, 1},
		{shape->dim[3], 3, 3, 1, 1},
	};

	return tt_backend_get()->move(&(struct tt_move_job){
		.out = launch->outputs[0], .in = in, .loops = loops, .loop_count = 4});
}

static const struct tt_prog concat_program = {
	.device_op = "NLPConcatHeadsDeviceOperation",
	.prim = "ttnn::prim::nlp_concat_heads",
	.attrs = &concat_schema,
	.infer = nlp_concat_infer,
	.validate = nlp_concat_validate,
	TT_FACTORY("ttnn::experimental::prim::NLPConcatHeadsProgramFactory", nlp_concat_rows),
	TT_KERNEL(nlp_concat_kernel),
	.cost = tt_cost_unmodelled_move,
};

static tt_status concat(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in)
{
	struct ttnn_value attr;

	attr = tt_value_memory_or_like(call, in);
	return TT_LAUNCH(out, call, &concat_program, .attrs = &attr, TT_INPUTS(in));
}

/* ---- the forms of single models ----------------------------------------------------------------------- */

static const struct tt_fixed_heads *fixed_of(const struct tt_launch *launch)
{
	return launch->extra;
}

/*
 * Heads of models whose program has them built in; without a number (SegFormer) as many as the row
 * holds.
 */
static uint32_t fixed_heads(const struct tt_launch *launch, int which)
{
	const struct tt_fixed_heads *fixed = fixed_of(launch);

	if (!fixed->heads)
		return tt_shape_last(&launch->inputs[0]->spec.padded, 1) / fixed->width;
	return which == 0 ? fixed->heads : fixed->kv_heads;
}

static tt_status fixed_validate(struct tt_launch *launch)
{
	const struct tt_fixed_heads *fixed = fixed_of(launch);
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	uint32_t width = tt_shape_last(&in->padded, 1);

	TT_TRY(tt_heads_check_tiles(in, "input_tensor.layout() == Layout::TILE"));
	TT_REQUIRE(!fixed->heads || (in->padded.rank == 4 && in->padded.dim[1] == 1 &&
				     width == (fixed->heads + 2 * fixed->kv_heads) * fixed->width),
		   "input_shape[3] == expected", "Unsupported input shape");
	return TTNN_OK;
}

static tt_status fixed_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;

	TT_TRY(tt_need_dim(&in->shape, fixed_of(launch)->heads ? 2 : 3));
	launch->output_count = 3;
	if (tt_memory_config_is_sharded(launch->attrs[0].memory)) {
		const char *name = fixed_of(launch)->unsharded;

		TT_REQUIRE(!name, "false", "Sharded output memory config is not supported for %s",
			   name);
		TT_TRY(fixed_validate(launch));
	}
	for (int i = 0; i < 3; i++) {
		struct ttnn_shape shape = TT_SHAPE(in->padded.dim[0], fixed_heads(launch, i),
						   in->padded.dim[2], fixed_of(launch)->width);

		TT_TRY(tt_spec_simple(&launch->specs[i], &shape, in->dtype, TTNN_TILE,
				      launch->attrs[0].memory));
	}
	return TTNN_OK;
}

/*
 * A whole fused row of tiles at a time, double: these programs are simpler than
 * nlp_create_qkv_heads.
 */
static tt_status fixed_rows(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct tt_tensor *in = launch->inputs[0];
	const ttnn_core_set *cores;

	TT_TRY(tt_cores_for(&cores, launch, in->spec.rows / TT_TILE));
	return TT_PLAN(plan, cores,
		       TT_CB_ROW(0, "src0_cb",
				 .pages = 2 * (tt_shape_last(&in->spec.padded, 1) / TT_TILE),
				 .page = tt_tile_bytes_of(in->spec.dtype)));
}

/* The row with its padding, which is 0, where heads reach into that. */
static tt_status whole_row(struct tt_tensor **out, struct tt_tensor *in)
{
	*out = in;
	if (ttnn_shape_equal(&in->spec.shape, &in->spec.padded))
		return TTNN_OK;
	TT_TRY(tt_scratch(out, &in->spec.padded, in->spec.dtype, TTNN_TILE));
	TT_TRY(tt_backend_get()->fill(*out, 0, TT_FILL_ALL));
	return tt_move_part(*out, in, &(struct tt_move_block){.extent = in->spec.shape.dim});
}

static tt_status fixed_kernel(struct tt_launch *launch)
{
	const struct tt_fixed_heads *fixed = fixed_of(launch);
	struct tt_tensor *row;
	uint32_t start = 0;

	TT_TRY(whole_row(&row, launch->inputs[0]));
	for (int i = 0; i < 3; i++) {
		TT_TRY(heads_take(&(struct part){launch->outputs[i], row, start, false, 0, 0}));
		start += fixed->heads ? fixed_heads(launch, i) * fixed->width : 0;
	}
	return TTNN_OK;
}

#define FIXED(var, device, params, factory_name, ...)                                              \
	static const struct tt_schema var##_schema = {params, concat_fields, 1, false};            \
	static const struct tt_factory var##_factories[] = {                                       \
		{.name = factory_name, .memory = fixed_rows}};                                     \
	static const struct tt_prog var##_program = {.device_op = device,                          \
						     .prim = "ttnn::prim::" #var,                  \
						     .attrs = &var##_schema,                       \
						     .infer = fixed_infer,                         \
						     .validate = fixed_validate,                   \
						     .factories = var##_factories,                 \
						     .factory_count = 1,                           \
						     TT_KERNEL(fixed_kernel),                      \
						     .cost = tt_cost_unmodelled_move,              \
						     __VA_ARGS__}
#define DIRECT(device)                                                                             \
	"ttnn::device_operation::MeshDeviceOperationAdapter<ttnn::experimental::prim::" device     \
	">::DirectDescriptorFactory"
FIXED(falcon, "NlpCreateHeadsFalcon7BDeviceOperation", "NlpCreateQkvHeadsFalcon7bParams",
      DIRECT("NlpCreateHeadsFalcon7BDeviceOperation"), .mute = false);
FIXED(vit, "NlpCreateHeadsVitDeviceOperation", "NlpCreateQkvHeadsVitParams",
      DIRECT("NlpCreateHeadsVitDeviceOperation"), .drops_forward = true);
FIXED(segformer, "NlpCreateHeadsSegformerDeviceOperation", "NlpCreateQkvHeadsSegformerParams",
      DIRECT("NlpCreateHeadsSegformerDeviceOperation"), .mute = true, .drops_forward = true);

/* ---- operations ------------------------------------------------------------------------------------------ */

static void give(struct tt_call *call, struct tt_tensor *const out[3])
{
	for (int i = 0; i < 3; i++)
		tt_call_return(call, out[i]);
}

/* The tensors of a list argument that may hold None. */
static void given_outputs(struct tt_tensor *out[3], const struct tt_call *call)
{
	const struct ttnn_value *list = tt_call_arg(call, "output_tensors");

	for (uint32_t i = 0; list->kind == TTNN_VALUE_LIST && i < 3 && i < list->count; i++)
		if (list->items[i].kind == TTNN_VALUE_TENSOR)
			out[i] = list->items[i].tensor;
}

/* ttnn.experimental.nlp_create_qkv_heads: the program as it is. */
static tt_status nlp_create(struct tt_call *call)
{
	struct fused fused = {
		.in = tt_call_tensor(call, "input"),
		.kv = tt_call_tensor(call, "input_kv"),
		.heads = tt_call_int(call, "num_heads", 0),
		.transpose = tt_call_bool(call, "transpose_k_heads", true),
		.tied = tt_call_bool(call, "kv_tied", false),
		.memory = tt_call_memory(call, "memory_config"),
	};
	struct tt_tensor *out[3];

	fused.kv_heads = tt_call_int(call, "num_kv_heads", fused.heads);
	given_outputs(fused.given, call);
	TT_TRY(heads_create(out, call, &fused));
	give(call, out);
	return TTNN_OK;
}

/* [batch, rows, width] as [batch, 1, padded rows, width]; *out belongs to the call. */
static tt_status widen(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in)
{
	const struct ttnn_shape *padded = &in->spec.padded;
	struct ttnn_shape shape = TT_SHAPE(padded->dim[0], 1, padded->dim[1], padded->dim[2]);

	return tt_call_owned(call, tt_call_view(out, call, in, &shape, &shape), out);
}

/* The padded rows of a result are no rows any more. */
static tt_status shorten(struct tt_tensor **tensor, struct tt_call *call, uint32_t dim,
			 uint32_t rows)
{
	struct tt_tensor *whole = *tensor, *view;
	struct ttnn_shape shape = whole->spec.shape;

	shape.dim[dim] = rows;
	TT_TRY(tt_call_view(&view, call, whole, &shape, &whole->spec.padded));
	tt_call_own(call, whole);
	*tensor = view;
	return TTNN_OK;
}

/* Rows of so many heads, in tiles of whole heads. */
static tt_status check_fused(const struct tt_tensor *in, int64_t heads)
{
	int64_t width = in->spec.shape.dim[2], head = heads > 0 ? width / heads : 0;

	TT_REQUIRE(in->spec.layout == TTNN_TILE,
		   "input_tensor.layout() == tt::tt_metal::Layout::TILE",
		   "Invalid layout: input tensor must use TILE_LAYOUT, but found %d.",
		   (int)in->spec.layout);
	TT_REQUIRE(head % TT_TILE == 0, "head_size % tt::constants::TILE_WIDTH == 0",
		   "Invalid head size: %lld. The head size must be a multiple of the tile width "
		   "(32). Please adjust the dimensions accordingly.",
		   (long long)head);
	return TTNN_OK;
}

/* Where rows are in blocks, a head of keys follows its queries. */
static tt_status split_blocks(struct tt_tensor *out[3], struct tt_call *call,
			      const struct fused *fused)
{
	TT_REQUIRE(!fused->kv, "!input_tensor_kv.has_value()",
		   "Invalid operation: KV tensor should not be provided when the input tensor is "
		   "sharded. Please ensure that the KV tensor is only used in non-sharded "
		   "configurations.");
	return tt_heads_groups(out, call,
			       &(struct tt_heads_groups){.in = fused->in,
							 .heads = fused->heads,
							 .kv_heads = fused->kv_heads,
							 .transpose = fused->transpose});
}

/*
 * ttnn.transformer.split_query_key_value_and_split_heads: three dimensions in, padding rows cut
 * off behind it, and block shards by a program of their own (heads_split.c).
 */
static tt_status split(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor");
	struct tt_tensor *kv = tt_call_tensor(call, "kv_input_tensor");
	struct fused fused = {
		.heads = tt_call_int(call, "num_heads", 0),
		.transpose = tt_call_bool(call, "transpose_key", true),
		.memory = tt_call_memory(call, "memory_config"),
	};
	uint32_t rows_in;
	struct tt_tensor *out[3];

	fused.kv_heads = tt_call_int(call, "num_kv_heads", fused.heads);
	TT_REQUIRE(in->spec.shape.rank == 3, "input_shape.rank() == 3",
		   "Invalid input tensor: expected 3 dimensions, but found %u.",
		   in->spec.shape.rank);
	TT_TRY(check_fused(in, fused.heads + (kv ? 0 : 2 * fused.kv_heads)));
	rows_in = in->spec.shape.dim[1];
	TT_TRY(widen(&fused.in, call, in));
	if (kv && kv->spec.shape.rank == 3)
		TT_TRY(widen(&fused.kv, call, kv));
	if (tt_tensor_is_sharded(in))
		TT_TRY(split_blocks(out, call, &fused));
	else
		TT_TRY(heads_create(out, call, &fused));
	for (int i = 0; i < 3 && rows_in % TT_TILE != 0; i++) {
		tt_status status =
			shorten(&out[i], call, i == 1 && fused.transpose ? 3 : 2, rows_in);

		if (status != TTNN_OK) {
			for (int k = 0; k < 3; k++)
				tt_call_own(call, out[k]);
			return status;
		}
	}
	give(call, out);
	return TTNN_OK;
}

static tt_status nlp_concat(struct tt_call *call)
{
	struct tt_tensor *out;

	return tt_call_give(call, concat(&out, call, tt_call_tensor(call, "input_tensor")), &out);
}

/*
 * ttnn.transformer.concatenate_heads: the same as nlp_concat_heads with the heads' dimension
 * dropped by a view.
 */
static tt_status concatenate(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor"), *out, *flat;
	const struct ttnn_value wanted = tt_value_memory_or_like(call, in);
	struct ttnn_shape shape, padded;

	if (in->spec.shape.rank != 4)
		return tt_fail_shapes(TTNN_INVALID, "input_logical_shape.rank() == 4",
				      "Input tensor must have rank 4. Shape: %s%.0s",
				      &in->spec.shape, &in->spec.shape);
	TT_REQUIRE(in->spec.shape.dim[3] % TT_TILE == 0, "head_size % ttnn::types::TILE_SIZE == 0",
		   "Head size must be a multiple of 32 but was found to be %u. Update the matmul "
		   "that uses the output of this operation to include padding in the weights.",
		   in->spec.shape.dim[3]);
	if (tt_tensor_is_sharded(in) && !tt_memory_config_is_sharded(wanted.memory)) {
		const struct ttnn_memory_config plain = {.buffer = wanted.memory->buffer};
		const struct ttnn_arg args[] = {{NULL, ttnn_v_tensor(in)},
						{NULL, ttnn_v_memory(&plain)}};

		TT_TRY(tt_call_op(&in, call, "ttnn.to_memory_config", args, TT_COUNT(args)));
		tt_call_own(call, in);
	}
	TT_TRY(concat(&out, call, in));
	tt_call_own(call, out);
	shape = TT_SHAPE(out->spec.shape.dim[0], out->spec.shape.dim[2], out->spec.shape.dim[3]);
	padded =
		TT_SHAPE(out->spec.padded.dim[0], out->spec.padded.dim[2], out->spec.padded.dim[3]);
	return tt_call_give(call, tt_call_view(&flat, call, out, &shape, &padded), &flat);
}

/* A model's heads, which the golden takes too, and its program. */
struct fixed_row {
	struct tt_fixed_heads heads; /* the first member */
	const struct tt_prog *program;
};
static const struct fixed_row falcon = {
	{.heads = 71, .kv_heads = 1, .width = 64, .unsharded = "nlp_create_qkv_heads_falcon7b"},
	&falcon_program};
static const struct fixed_row vit = {{.heads = 12, .kv_heads = 12, .width = 64}, &vit_program};
static const struct fixed_row segformer = {
	{.width = 32, .unsharded = "nlp_create_qkv_heads_segformer"}, &segformer_program};

static tt_status fixed(struct tt_call *call)
{
	const struct fixed_row *row = call->entry->op->row;
	struct tt_tensor *in = tt_call_tensor(call, "input");
	struct tt_tensor *given[3] = {0}, *out[3];
	struct ttnn_value attr;
	size_t count;

	attr = tt_value_memory_or_like(call, in);
	given_outputs(given, call);
	TT_TRY(tt_call_programs(out, &count, call,
				&(struct tt_program_args){.prog = row->program,
							  .attrs = &attr,
							  .inputs = &in,
							  .input_count = 1,
							  .outputs = given,
							  .output_count = 3,
							  .extra = &row->heads}));
	give(call, out);
	return TTNN_OK;
}

#define OUT "memory_config: MemoryConfig? = None"
#define OUTS ", output_tensors: any? = None"
static const struct tt_op ops[] = {
	{.name = "ttnn.experimental.nlp_concat_heads",
	 .doc = "The heads of each row beside each other, in four dimensions.",
	 .sigs = {"input_tensor: Tensor, *, " OUT},
	 .expand = nlp_concat,
	 .golden = tt_golden_concat_heads,
	 .pcc = 0.9999,
	 TT_PROGRAMS(&concat_program)},
	{.name = "ttnn.experimental.nlp_create_qkv_heads",
	 .doc = "Queries, keys and values of each head out of fused rows.",
	 .sigs = {"input: Tensor, input_kv: Tensor? = None, *, num_heads: int, num_kv_heads: int? = "
		  "None, transpose_k_heads: bool = True, kv_tied: bool = False, " OUT OUTS},
	 .expand = nlp_create,
	 .golden = tt_golden_nlp_create_heads,
	 .pcc = 0.9999,
	 .gives = "[Tensor]",
	 TT_PROGRAMS(&program)},
	{.name = "ttnn.experimental.nlp_create_qkv_heads_falcon7b",
	 .doc = "71 heads of queries and one of keys and values, 64 wide.",
	 .sigs = {"input: Tensor, *, " OUT},
	 .expand = fixed,
	 .golden = tt_golden_fixed_heads,
	 .pcc = 0.9999,
	 .row = &falcon,
	 .gives = "[Tensor]"},
	{.name = "ttnn.experimental.nlp_create_qkv_heads_segformer",
	 .doc = "Heads of 32 columns; the same for queries, keys and values.",
	 .sigs = {"input: Tensor, *, " OUT OUTS},
	 .expand = fixed,
	 .golden = tt_golden_fixed_heads,
	 .pcc = 0.9999,
	 .row = &segformer,
	 .gives = "[Tensor]"},
	{.name = "ttnn.experimental.nlp_create_qkv_heads_vit",
	 .doc = "Twelve heads each of queries, keys and values, 64 wide.",
	 .sigs = {"input: Tensor, *, " OUT OUTS},
	 .expand = fixed,
	 .golden = tt_golden_fixed_heads,
	 .pcc = 0.9999,
	 .row = &vit,
	 .gives = "[Tensor]"},
	{.name = "ttnn.transformer.concatenate_heads",
	 .doc = "The heads of each row beside each other, in three dimensions.",
	 .sigs = {"input_tensor: Tensor, *, " OUT},
	 .expand = concatenate,
	 .golden = tt_golden_concat_heads,
	 .pcc = 0.9999,
	 TT_PROGRAMS(&concat_program)},
	{.name = "ttnn.transformer.split_query_key_value_and_split_heads",
	 .doc = "Queries, keys and values of each head out of fused rows in three dimensions.",
	 .sigs = {"input_tensor: Tensor, kv_input_tensor: Tensor? = None, *, num_heads: int, "
		  "num_kv_heads: int? = None, transpose_key: bool = True, " OUT
		  ", use_falcon7b_backend: bool = False"},
	 .expand = split,
	 .golden = tt_golden_split_fused_heads,
	 .pcc = 0.9999,
	 .gives = "[Tensor]",
	 TT_PROGRAMS(&program)},
};

const struct tt_op_family tt_family_heads = {"heads", ops, TT_COUNT(ops)};
