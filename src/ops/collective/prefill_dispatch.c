/*
 * prefill_dispatch.c: tokens of a prefill to the buffers of their experts, and what experts made of them back.
 *
 * Models DispatchDeviceOperation and CombineDeviceOperation of ttnn 0.81 (deepseek_prefill) with their factories: refusals, specs,
 * semaphores, one program for each chip with its buffers. Not modelled: routes, and how many links there
 * are to a neighbour. What upstream leaves undefined is zeros here.
 */
#include <inttypes.h>
#include <string.h>

#include "device/fabric.h"
#include "golden/golden_dispatch.h"
#include "ops/collective/exchange.h"
#include "ops/movement/movement.h"
#include "ops/op_enums.h"
#include "ops/usual.h"
#include "tensor/spread.h"

#define DISPATCH_ATTRS(X)                                                                          \
	X(GROUP, "dispatch_group_size")                                                            \
	X(EACH, "experts_per_chip")                                                                \
	X(EXPERTS, "num_routed_experts")                                                           \
	X(CHOICES, "num_experts_per_tok")                                                          \
	X(FIELDS, "metadata_len")                                                                  \
	X(ROOM, "max_dispatch_buffer_token_size")                                                  \
	X(AXIS, "cluster_axis")                                                                    \
	X(LINKS, "num_links")                                                                      \
	X(TOPOLOGY, "topology")                                                                    \
	X(MEMORY, "output_mem_config")                                                             \
	X(CORES, "worker_core_range_set", .text = TT_TEXT_ALWAYS, .fixed = "<CoreRangeSet>")       \
	X(SMALL, "use_l1_small_for_semaphores")                                                    \
	X(FP8, "fp8_output")                                                                       \
	X(WORKERS, "num_workers_per_sender")                                                       \
	X(PADDED, "has_padding_config")                                                            \
	X(SCALED, "fp8_scaled_input")
TT_ATTRS(dispatch_schema, "DispatchParams", DISPATCH_ATTRS);
#define COMBINE_ATTRS(X)                                                                           \
	X(C_GROUP, "dispatch_group_size")                                                          \
	X(C_EACH, "experts_per_chip")                                                              \
	X(C_CHOICES, "num_experts_per_tok")                                                        \
	X(C_TOKENS, "seq_len_per_chip")                                                            \
	X(C_AXIS, "cluster_axis")                                                                  \
	X(C_LINKS, "num_links")                                                                    \
	X(C_TOPOLOGY, "topology")                                                                  \
	X(C_MEMORY, "output_mem_config")                                                           \
	X(C_CORES, "worker_core_range_set", .text = TT_TEXT_ALWAYS, .fixed = "<CoreRangeSet>")     \
	X(C_ZEROS, "init_zeros")                                                                   \
	X(C_SMALL, "use_l1_small_for_semaphores")                                                  \
	X(C_FP8, "use_fp8_combine")
TT_ATTRS(combine_schema, "CombineParams", COMBINE_ATTRS);
enum { TOKENS, CHOSEN, OFFSETS, TABLE, PADDING, SCALES };
enum { BUFFER, METADATA, COUNTS, REGIONS };
#define ROUTING_FIELDS 3 /* of metadata: a chip, its token, which of its choices */
#define SCALE_BLOCK 128  /* numbers that have a scale together */
#define MOST_LINKS 4
#define PLAN_HEADER 16 /* bytes of what a reader tells a writer, */
#define PLAN_ENTRY 48  /* and of each token in it */
#define ROUTE_BYTES 64 /* where a token goes, along a line */
#define PACKET_HEADERS 2
#define MOST_BLOCK 8          /* tiles that are untilized at once */
#define MOST_UNTILIZERS 4     /* for each sender */
#define SLOTS 16              /* of an untilizer in its sender's memory */
#define BURST_BLACKHOLE 16384 /* zeros that are written at once */
#define BURST_WORMHOLE 8192

/* ---- refusals --------------------------------------------------------------------------------------------------- */

struct rule {
	size_t input;
	const char *condition, *text; /* `text` with the type that was given */
	enum ttnn_dtype dtypes[2];
};

static tt_status check_dtypes(const struct tt_launch *launch, const struct rule *rule)
{
	enum ttnn_dtype dtype = launch->inputs[rule->input]->spec.dtype;
	char text[160];

	snprintf(text, sizeof(text), "%s, got DataType::%s", rule->text,
		 tt_enum_name(&tt_enum_dtype, (int64_t)dtype));
	TT_REQUIRE(dtype == rule->dtypes[0] || dtype == rule->dtypes[1], rule->condition, "%s",
		   text);
	return TTNN_OK;
}

static tt_status check_rows(const struct tt_launch *launch, size_t input, const char *name,
			    const char *text)
{
	char condition[128];

	snprintf(condition, sizeof(condition),
		 "tensor_args.%s.layout() == tt::tt_metal::Layout::ROW_MAJOR", name);
	TT_REQUIRE(launch->inputs[input]->spec.layout == TTNN_ROW_MAJOR, condition, "%s", text);
	return TTNN_OK;
}

static tt_status check_dispatch_types(const struct tt_launch *launch)
{
	static const struct rule rules[] = {
		{TOKENS,
		 "tensor_args.input_tensor.dtype() == DataType::BFLOAT16 || "
		 "tensor_args.input_tensor.dtype() == DataType::FP8_E4M3",
		 "Input tensor must be BFLOAT16 or FP8_E4M3",
		 {TTNN_BFLOAT16, TTNN_FP8_E4M3}},
		{CHOSEN,
		 "tensor_args.indices_tensor.dtype() == DataType::UINT16",
		 "Indices tensor must be UINT16 (matching moe_grouped_topk output)",
		 {TTNN_UINT16, TTNN_UINT16}},
		{OFFSETS,
		 "tensor_args.expert_offsets_tensor.dtype() == DataType::INT32 || "
		 "tensor_args.expert_offsets_tensor.dtype() == DataType::UINT32",
		 "Expert offsets tensor must be INT32 or UINT32",
		 {TTNN_INT32, TTNN_UINT32}},
		{TABLE,
		 "tensor_args.expert_dispatch_table_tensor.dtype() == DataType::INT32",
		 "Expert dispatch table tensor must be INT32",
		 {TTNN_INT32, TTNN_INT32}},
	};

	TT_TRY(check_rows(launch, CHOSEN, "indices_tensor",
			  "Indices tensor must be ROW_MAJOR layout"));
	TT_TRY(check_rows(launch, OFFSETS, "expert_offsets_tensor",
			  "Expert offsets tensor must be ROW_MAJOR layout"));
	TT_TRY(check_rows(launch, TABLE, "expert_dispatch_table_tensor",
			  "Expert dispatch table tensor must be ROW_MAJOR layout"));
	for (size_t i = 0; i < TT_COUNT(rules); i++)
		TT_TRY(check_dtypes(launch, &rules[i]));
	return TTNN_OK;
}

static tt_status check_padding(const struct ttnn_tensor_spec *padding)
{
	TT_REQUIRE(padding->layout == TTNN_ROW_MAJOR,
		   "padding_config.layout() == tt::tt_metal::Layout::ROW_MAJOR",
		   "padding_config tensor must be ROW_MAJOR layout");
	TT_REQUIRE(padding->dtype == TTNN_UINT32 || padding->dtype == TTNN_INT32,
		   "padding_config.dtype() == DataType::UINT32 || padding_config.dtype() == "
		   "DataType::INT32",
		   "padding_config tensor must be UINT32 or INT32, got DataType::%s",
		   tt_enum_name(&tt_enum_dtype, (int64_t)padding->dtype));
	TT_REQUIRE(tt_shape_last(&padding->shape, 1) == 2,
		   "padding_config.logical_shape()[-1] == 2",
		   "padding_config last dim must be 2 ([local_real_tokens, pad_side]), got %u",
		   tt_shape_last(&padding->shape, 1));
	return TTNN_OK;
}

/* A scale for each block of a token's numbers: they travel with its metadata. */
static tt_status check_scale_count(const struct tt_launch *launch)
{
	const struct ttnn_shape *in = &launch->inputs[TOKENS]->spec.shape;
	const struct ttnn_shape *scales = &launch->inputs[SCALES]->spec.shape;
	uint32_t count = tt_shape_last(scales, 1), width = tt_shape_last(in, 1);
	uint64_t tokens = width ? tt_shape_count(in) / width : 0;
	uint64_t rows = count ? tt_shape_count(scales) / count : 0;

	TT_REQUIRE(tt_attr_u32(launch, FIELDS) == ROUTING_FIELDS + count,
		   "operation_attributes.metadata_len == 3 + num_scales",
		   "metadata_len (%u) must equal 3 routing fields + scales last dim (%u) = %u",
		   tt_attr_u32(launch, FIELDS), count, ROUTING_FIELDS + count);
	TT_REQUIRE(rows == tokens, "scale_rows == input_tokens",
		   "scales row count (%" PRIu64 ") must match input token count (%" PRIu64 ")",
		   rows, tokens);
	TT_REQUIRE(width % SCALE_BLOCK == 0 && count == width / SCALE_BLOCK,
		   "input_hidden % numbers_per_scale_block == 0 && num_scales == input_hidden / "
		   "numbers_per_scale_block",
		   "fp8_scaled_input requires input hidden dim (%u) divisible by %u with one fp32 "
		   "scale per block; got %u scale words (expected %u)",
		   width, SCALE_BLOCK, count, width / SCALE_BLOCK);
	return TTNN_OK;
}

static tt_status check_scales(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[TOKENS]->spec, *scales;

	if (!launch->attrs[SCALED].boolean) {
		TT_REQUIRE(!launch->inputs[SCALES], "!tensor_args.scales_tensor.has_value()",
			   "scales_tensor was provided but fp8_scaled_input is false; pass "
			   "fp8_scaled_input=True to use scales");
		return TTNN_OK;
	}
	TT_REQUIRE(launch->inputs[SCALES], "tensor_args.scales_tensor.has_value()",
		   "fp8_scaled_input requires a scales_tensor (per_token_cast_to_fp8 scales)");
	scales = &launch->inputs[SCALES]->spec;
	TT_REQUIRE(scales->layout == TTNN_ROW_MAJOR,
		   "scales.layout() == tt::tt_metal::Layout::ROW_MAJOR",
		   "scales tensor must be ROW_MAJOR layout");
	TT_REQUIRE(scales->dtype == TTNN_FLOAT32, "scales.dtype() == DataType::FLOAT32",
		   "scales tensor must be FLOAT32, got DataType::%s",
		   tt_enum_name(&tt_enum_dtype, (int64_t)scales->dtype));
	TT_REQUIRE(in->layout == TTNN_ROW_MAJOR && in->dtype == TTNN_FP8_E4M3,
		   "tensor_args.input_tensor.layout() == tt::tt_metal::Layout::ROW_MAJOR && "
		   "tensor_args.input_tensor.dtype() == DataType::FP8_E4M3",
		   "fp8_scaled_input requires a fp8 (FP8_E4M3) ROW_MAJOR input (the "
		   "per_token_cast_to_fp8 compression path)");
	return check_scale_count(launch);
}

static tt_status dispatch_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[TOKENS]->spec;
	enum ttnn_dtype out = launch->specs[0].dtype;

	TT_TRY(check_dispatch_types(launch));
	if (in->layout == TTNN_ROW_MAJOR)
		TT_REQUIRE(in->dtype == out, "tensor_args.input_tensor.dtype() == output_dtype",
			   "Row-major dispatch is a byte copy: input dtype (DataType::%s) must "
			   "match output dtype (DataType::%s). Use fp8 input for fp8 output, bf16 "
			   "input for bf16 output, or TILE layout to convert.",
			   tt_enum_name(&tt_enum_dtype, (int64_t)in->dtype),
			   tt_enum_name(&tt_enum_dtype, (int64_t)out));
	TT_REQUIRE(!tt_memory_config_is_sharded(launch->attrs[MEMORY].memory),
		   "!operation_attributes.output_mem_config.is_sharded()",
		   "Output memory config must be DRAM interleaved, not sharded");
	if (launch->inputs[PADDING])
		TT_TRY(check_padding(&launch->inputs[PADDING]->spec));
	TT_NEED(tt_attr_u32(launch, FIELDS) >= ROUTING_FIELDS,
		"metadata_len must be at least %d, for a chip, its token and its choice",
		ROUTING_FIELDS);
	return check_scales(launch);
}

static tt_status check_combine_types(const struct tt_launch *launch)
{
	static const struct rule rules[] = {
		{METADATA,
		 "tensor_args.dispatched_metadata.dtype() == DataType::INT32",
		 "Dispatched metadata must be INT32",
		 {TTNN_INT32, TTNN_INT32}},
		{COUNTS,
		 "tensor_args.expert_token_counts.dtype() == DataType::INT32 || "
		 "tensor_args.expert_token_counts.dtype() == DataType::UINT32",
		 "Experts token counter must be INT32 or UINT32",
		 {TTNN_INT32, TTNN_UINT32}},
		{REGIONS,
		 "tensor_args.expert_region_offsets.dtype() == DataType::INT32 || "
		 "tensor_args.expert_region_offsets.dtype() == DataType::UINT32",
		 "Expert region offsets must be INT32 or UINT32",
		 {TTNN_INT32, TTNN_UINT32}},
	};
	const struct ttnn_tensor_spec *in = &launch->inputs[BUFFER]->spec;

	TT_TRY(check_rows(launch, METADATA, "dispatched_metadata",
			  "Dispatched metadata must be ROW_MAJOR layout"));
	TT_TRY(check_rows(launch, COUNTS, "expert_token_counts",
			  "Experts token counter must be ROW_MAJOR layout"));
	TT_TRY(check_rows(launch, REGIONS, "expert_region_offsets",
			  "Expert region offsets must be ROW_MAJOR layout"));
	TT_REQUIRE(in->dtype == TTNN_BFLOAT16 ||
			   (in->dtype == TTNN_BFLOAT8_B && in->layout == TTNN_TILE),
		   "tensor_args.dispatched_buffer.dtype() == DataType::BFLOAT16 || "
		   "(tensor_args.dispatched_buffer.dtype() == DataType::BFLOAT8_B && "
		   "tensor_args.dispatched_buffer.layout() == tt::tt_metal::Layout::TILE)",
		   "Dispatched buffer must be BFLOAT16 or BFLOAT8_B with TILE layout, got "
		   "DataType::%s",
		   tt_enum_name(&tt_enum_dtype, (int64_t)in->dtype));
	for (size_t i = 0; i < TT_COUNT(rules); i++)
		TT_TRY(check_dtypes(launch, &rules[i]));
	return TTNN_OK;
}

static tt_status check_combine_shapes(const struct tt_launch *launch)
{
	const struct ttnn_shape *in = &launch->inputs[BUFFER]->spec.shape;
	const struct ttnn_shape *metadata = &launch->inputs[METADATA]->spec.shape;
	const struct ttnn_shape *counts = &launch->inputs[COUNTS]->spec.shape;
	int64_t each = launch->attrs[C_EACH].integer;

	TT_TRY(tt_need_dim(in, 2));
	TT_TRY(tt_need_dim(metadata, 2));
	TT_REQUIRE(in->dim[0] == metadata->dim[0] && in->dim[0] == counts->dim[0],
		   "dispatched_shape[0] == metadata_shape[0] && dispatched_shape[0] == "
		   "counter_shape[0]",
		   "First dimension (per_device_batch) must match across all input tensors");
	TT_REQUIRE(in->dim[2] == metadata->dim[2], "dispatched_shape[2] == metadata_shape[2]",
		   "Flat buffer dim must match: dispatched[2]=%u vs metadata[2]=%u", in->dim[2],
		   metadata->dim[2]);
	TT_NEED(each > 0, "experts_per_chip must be > 0");
	TT_REQUIRE(tt_shape_last(counts, 1) % each == 0,
		   "counter_shape[-1] % operation_attributes.experts_per_chip == 0",
		   "counter last dim (num_routed_experts=%u) must be divisible by "
		   "experts_per_chip=%" PRId64,
		   tt_shape_last(counts, 1), each);
	TT_NEED(tt_shape_last(metadata, 1) >= ROUTING_FIELDS,
		"metadata has at least %d fields for each token", ROUTING_FIELDS);
	return TTNN_OK;
}

static tt_status combine_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[BUFFER]->spec;
	const struct ttnn_shape *regions = &launch->inputs[REGIONS]->spec.shape;
	const struct ttnn_shape *counts = &launch->inputs[COUNTS]->spec.shape;

	TT_TRY(check_combine_types(launch));
	if (!ttnn_shape_equal(regions, counts))
		return tt_fail_shapes(
			TTNN_INVALID,
			"tensor_args.expert_region_offsets.tensor_spec().logical_shape() == "
			"tensor_args.expert_token_counts.tensor_spec().logical_shape()",
			"expert_region_offsets shape %s must match expert_token_counts shape %s",
			regions, counts);
	TT_REQUIRE(!tt_memory_config_is_sharded(launch->attrs[C_MEMORY].memory),
		   "!operation_attributes.output_mem_config.is_sharded()",
		   "Output memory config must be interleaved (L1 or DRAM), not sharded");
	if (launch->attrs[C_FP8].boolean)
		TT_REQUIRE(in->layout == TTNN_TILE,
			   "tensor_args.dispatched_buffer.layout() == tt::tt_metal::Layout::TILE",
			   "use_fp8_combine=true requires TILE-layout dispatched buffer; only the "
			   "TILE path retargets the untilize CB to Fp8_e4m3 (got layout "
			   "Layout::%s)",
			   tt_enum_name(&tt_enum_layout, (int64_t)in->layout));
	return check_combine_shapes(launch);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static tt_status dispatch_infer(struct tt_launch *launch)
{
	const struct ttnn_memory_config *memory = launch->attrs[MEMORY].memory;
	struct ttnn_shape shape = {4,
				   {1, 1, tt_attr_u32(launch, ROOM),
				    tt_shape_last(&launch->inputs[TOKENS]->spec.shape, 1)}};

	launch->output_count = 2;
	TT_TRY(tt_spec_simple(&launch->specs[0], &shape,
			      launch->attrs[FP8].boolean ? TTNN_FP8_E4M3 : TTNN_BFLOAT16,
			      TTNN_ROW_MAJOR, memory));
	shape.dim[3] = tt_attr_u32(launch, FIELDS);
	return tt_spec_simple(&launch->specs[1], &shape, TTNN_INT32, TTNN_ROW_MAJOR, memory);
}

static tt_status combine_infer(struct tt_launch *launch)
{
	struct ttnn_shape shape = {5,
				   {1, 1, tt_attr_u32(launch, C_TOKENS),
				    tt_attr_u32(launch, C_CHOICES),
				    tt_shape_last(&launch->inputs[BUFFER]->spec.shape, 1)}};

	launch->output_count = 1;
	return tt_spec_simple(&launch->specs[0], &shape,
			      launch->attrs[C_FP8].boolean ? TTNN_FP8_E4M3 : TTNN_BFLOAT16,
			      TTNN_ROW_MAJOR, launch->attrs[C_MEMORY].memory);
}

/* Cores of the first row that are at these places of groups of so many. */
static tt_status row_cores(const ttnn_core_set **out, const bool *taken, uint32_t count)
{
	struct ttnn_core_range ranges[TT_GROUP_MAX];
	size_t used = 0;

	for (uint32_t x = 0; x < count && used < TT_COUNT(ranges); x++)
		if (taken[x])
			ranges[used++] = (struct ttnn_core_range){{x, 0}, {x, 0}};
	return ttnn_core_set_make(out, ranges, used);
}

/* The largest number of tiles that divides a row of them. */
static uint64_t block_tiles(uint32_t width)
{
	uint64_t tiles = width / TT_TILE, block = MOST_BLOCK;

	while (tiles % block)
		block--;
	return block;
}

/* Senders, each with its workers behind it. */
static tt_status dispatch_cores(const ttnn_core_set **senders, const ttnn_core_set **workers,
				const struct tt_launch *launch)
{
	uint32_t count = tt_attr_u32(launch, LINKS), each = 1 + tt_attr_u32(launch, WORKERS);
	uint32_t across = tt_grid_size(launch->grid).x;
	bool sends[TT_GROUP_MAX] = {false}, works[TT_GROUP_MAX] = {false};

	TT_REQUIRE(each > 1, "num_workers >= 1", "num_workers_per_sender must be >= 1; got %u.",
		   each - 1);
	TT_REQUIRE(each <= across && across >= each * count,
		   "total_row_cores >= cores_per_sender * num_cores",
		   "Same-row has only %u cores for %u senders — need %u cores per sender (>= %u "
		   "required)",
		   across, count, each, each * count);
	for (uint32_t i = 0; i < each * count && i < TT_GROUP_MAX; i++)
		(i % each ? works : sends)[i] = true;
	TT_TRY(row_cores(senders, sends, across));
	return row_cores(workers, works, across);
}

/* The bytes of where a token goes; a fabric of planes needs a chip's number alone. */
static uint64_t route_bytes(const struct tt_launch *launch)
{
	return tt_fabric_is_plane(ttnn_fabric_get()) ? launch->device->info.l1_alignment
						     : ROUTE_BYTES;
}

/* What one worker after the other gives its sender. */
static tt_status sender_memory(struct tt_plan *plan, const struct tt_launch *launch,
			       const ttnn_core_set *senders, uint64_t batch)
{
	static const uint32_t first[] = {4, 16};
	uint64_t header = tt_fabric_header(tt_fabric_of(false));

	for (uint32_t i = 0; i < tt_attr_u32(launch, WORKERS); i++) {
		uint32_t at = i < 2 ? first[i] : 19 + 3 * (i - 2);

		TT_TRY(TT_PLAN(
			plan, senders,
			TT_CB_ROW(at, "route_info", .pages = batch, .page = route_bytes(launch)),
			TT_CB_ROW(at + 1, "payload_for_writer", .pages = batch,
				  .page = tt_aligned_page(launch->outputs[0])),
			TT_CB_ROW(at + 2, "metadata_for_writer", .pages = batch,
				  .page = tt_aligned_page(launch->outputs[1]))));
	}
	return TT_PLAN(plan, senders,
		       TT_CB_ROW(8, "packet_header", .pages = PACKET_HEADERS, .page = header));
}

static tt_status dispatch_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *const *in = launch->inputs;
	bool rows = in[TOKENS]->spec.layout == TTNN_ROW_MAJOR;
	uint64_t batch = rows ? MOST_BLOCK : TT_TILE, line = launch->device->info.l1_alignment;
	uint64_t entries = batch * tt_attr_u32(launch, CHOICES);
	uint64_t out = tt_aligned_page(launch->outputs[0]);
	uint64_t block = block_tiles(tt_shape_last(&in[TOKENS]->spec.shape, 1));
	const struct tt_tensor *padding = in[PADDING], *scales = in[SCALES];
	const ttnn_core_set *senders, *workers;

	TT_TRY(dispatch_cores(&senders, &workers, launch));
	TT_TRY(TT_PLAN(
		plan, workers,
		TT_CB_ROW(0, "worker_input_scratch", .pages = 2 * (rows ? batch : block),
			  .page = rows ? out : tt_aligned_page(in[TOKENS])),
		TT_CB_ROW(1, "worker_indices_scratch", .pages = batch,
			  .page = tt_aligned_page(in[CHOSEN])),
		TT_CB_ROW(3, "worker_offsets_tensor", .pages = in[OFFSETS]->spec.pages,
			  .page = tt_aligned_page(in[OFFSETS])),
		TT_CB_ROW(9, "worker_dispatch_table_tensor", .pages = in[TABLE]->spec.pages,
			  .page = tt_aligned_page(in[TABLE])),
		TT_CB_ROW(10, "signal", .pages = rows ? 0 : 2, .page = line),
		TT_CB_ROW(11, "worker_untilize_output", .pages = rows ? 0 : 2 * batch, .page = out),
		TT_CB_ROW(13, "worker_metadata_scratch", .pages = entries + 1,
			  .page = tt_aligned_page(launch->outputs[1])),
		TT_CB_ROW(15, "route_info_scratch", .pages = 1, .page = route_bytes(launch)),
		TT_CB_ROW(14, "plan", .pages = 2, .page = PLAN_HEADER + entries * PLAN_ENTRY)));
	TT_TRY(sender_memory(plan, launch, senders, batch));
	return TT_PLAN(plan, workers,
		       TT_CB_ROW(16, "padding_config_reader", .pages = padding ? 1 : 0,
				 .page = padding ? tt_aligned_page(padding) : 0),
		       TT_CB_ROW(17, "padding_config_writer", .pages = padding ? 1 : 0,
				 .page = padding ? tt_aligned_page(padding) : 0),
		       TT_CB_ROW(18, "scales", .pages = scales ? batch : 0,
				 .page = scales ? tt_aligned_page(scales) : 0));
}

/* The first row in groups of a sender and at most four that untilize for it. */
struct line {
	uint32_t senders, at[MOST_LINKS], helpers[MOST_LINKS];
	const ttnn_core_set *sending, *helping;
};

static tt_status combine_cores(struct line *line, const struct tt_launch *launch)
{
	uint32_t across = tt_grid_size(launch->grid).x, at = 0;
	bool sends[TT_GROUP_MAX] = {false}, helps[TT_GROUP_MAX] = {false};

	line->senders = tt_attr_u32(launch, C_LINKS);
	TT_REQUIRE(across > line->senders, "total_row_cores > num_cores",
		   "Worker line has only %u cores for %u senders — need at least one untilizer "
		   "core per sender",
		   across, line->senders);
	for (uint32_t s = 0; s < line->senders; s++) {
		uint32_t size = across / line->senders +
				(s >= line->senders - across % line->senders ? 1 : 0);

		line->at[s] = at;
		line->helpers[s] = size - 1 < MOST_UNTILIZERS ? size - 1 : MOST_UNTILIZERS;
		sends[at] = true;
		for (uint32_t i = 1; i <= line->helpers[s]; i++)
			helps[at + i] = true;
		at += size;
	}
	TT_TRY(row_cores(&line->sending, sends, across));
	return row_cores(&line->helping, helps, across);
}

/* Rows and their metadata from each that untilizes for a sender. */
static tt_status rings_memory(struct tt_plan *plan, const struct tt_launch *launch,
			      const struct line *line)
{
	for (uint32_t s = 0; s < line->senders; s++) {
		struct ttnn_core_range range = {{line->at[s], 0}, {line->at[s], 0}};
		uint64_t slots = (uint64_t)line->helpers[s] * SLOTS;
		const ttnn_core_set *own;

		TT_TRY(ttnn_core_set_make(&own, &range, 1));
		TT_TRY(TT_PLAN(plan, own,
			       TT_CB_ROW(18, "receive_buf", .pages = slots,
					 .page = tt_aligned_page(launch->outputs[0])),
			       TT_CB_ROW(19, "metadata_ring", .pages = slots,
					 .page = tt_aligned_page(launch->inputs[METADATA]))));
	}
	return TTNN_OK;
}

static tt_status check_groups(const struct tt_launch *launch)
{
	uint64_t experts = tt_shape_last(&launch->inputs[COUNTS]->spec.shape, 1);
	uint64_t each = tt_attr_u32(launch, C_EACH), size = tt_attr_u32(launch, C_GROUP);

	TT_REQUIRE(size > 0, "operation_attributes.dispatch_group_size > 0",
		   "dispatch_group_size must be > 0");
	TT_REQUIRE(experts > 0, "num_routed_experts > 0", "num_routed_experts must be > 0");
	TT_REQUIRE(experts >= each * size && experts % (each * size) == 0,
		   "computed_ndg > 0 && computed_ndg * operation_attributes.experts_per_chip * "
		   "operation_attributes.dispatch_group_size == num_routed_experts",
		   "num_dispatch_groups computation failed: routed_experts=%" PRIu64
		   " experts_per_chip=%" PRIu64 " group_size=%" PRIu64,
		   experts, each, size);
	return TTNN_OK;
}

static tt_status combine_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *const *in = launch->inputs;
	bool rows = in[BUFFER]->spec.layout == TTNN_ROW_MAJOR;
	bool zeros = launch->attrs[C_ZEROS].boolean;
	uint64_t burst = tt_is_blackhole(launch->device) ? BURST_BLACKHOLE : BURST_WORMHOLE;
	uint64_t out = tt_aligned_page(launch->outputs[0]), counts = tt_aligned_page(in[COUNTS]);
	uint64_t batch = rows ? TT_TILE : in[BUFFER]->spec.tile.height;
	uint64_t metadata = tt_aligned_page(in[METADATA]), pages = in[COUNTS]->spec.pages + 1;
	uint64_t block = block_tiles(tt_shape_last(&in[BUFFER]->spec.shape, 1));
	struct line line;

	TT_TRY(combine_cores(&line, launch));
	TT_TRY(check_groups(launch));
	TT_TRY(TT_PLAN(
		plan, line.sending,
		TT_CB_ROW(1, "dispatched_metadata_scratch", .pages = batch, .page = metadata),
		TT_CB_ROW(2, "expert_token_counts", .pages = pages, .page = counts),
		TT_CB_ROW(8, "expert_region_offsets", .pages = in[REGIONS]->spec.pages,
			  .page = tt_aligned_page(in[REGIONS]))));
	TT_TRY(rings_memory(plan, launch, &line));
	TT_TRY(TT_PLAN(plan, line.sending,
		       TT_CB_ROW(3, "route_info_and_data", .pages = 2,
				 .page = launch->device->info.l1_alignment + out),
		       TT_CB_ROW(5, "packet_header", .pages = PACKET_HEADERS,
				 .page = tt_fabric_header(tt_fabric_of(false)))));
	return TT_PLAN(plan, line.helping,
		       TT_CB_ROW(1, "expert_token_counts", .pages = pages, .page = counts),
		       TT_CB_ROW(0, "dispatched_buffer_untilizer", .pages = rows ? 0 : 2 * block,
				 .page = tt_aligned_page(in[BUFFER])),
		       TT_CB_ROW(2, "untilize", .pages = 2 * batch, .page = out),
		       TT_CB_ROW(9, "metadata_batch", .pages = 2 * batch, .page = metadata),
		       TT_CB_ROW(7, "zeros", .pages = zeros, .page = burst, .cores = line.sending),
		       TT_CB_ROW(6, "zeros", .pages = zeros, .page = burst));
}

/* Semaphores on all cores, and somebody to send to. */
static tt_status choose_with(struct tt_launch *launch, uint32_t semaphores)
{
	const struct ttnn_value *small = tt_launch_attr(launch, "use_l1_small_for_semaphores");

	TT_TRY(tt_keep_semaphores(launch, semaphores, small->boolean));
	TT_REQUIRE(tt_group_members(launch) > 1, "!neighbors.empty()", "No neighbors found");
	return TTNN_OK;
}

static tt_status dispatch_choose(uint32_t *out, struct tt_launch *launch)
{
	*out = 0;
	return choose_with(launch, 3);
}

static tt_status combine_choose(uint32_t *out, struct tt_launch *launch)
{
	*out = 0;
	return choose_with(launch, 2);
}

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

/* What a member of a group has, and what a chip gets. */
struct parcel {
	const struct tt_launch *launch;
	uint32_t from, to; /* places on the mesh */
	const struct tt_group *group;
	double *in[6];
	float *tokens;
	int32_t *metadata;
};

/* The tokens that a chip looks at: all, or to the end of the batch of the last that is one. */
static uint64_t token_count(const struct parcel *parcel)
{
	const struct ttnn_tensor_spec *in = &parcel->launch->inputs[TOKENS]->spec;
	uint32_t width = tt_shape_last(&in->shape, 1);
	uint64_t all = width ? tt_shape_count(&in->shape) / width : 0;
	uint64_t batch = in->layout == TTNN_TILE ? TT_TILE : MOST_BLOCK, some;

	if (!parcel->in[PADDING] || parcel->in[PADDING][1] != 0)
		return all;
	some = (uint64_t)parcel->in[PADDING][0];
	if (some >= all)
		return all;
	some = (some + batch - 1) / batch * batch;
	return some < all ? some : all;
}

static void put_token(struct parcel *parcel, uint64_t page, uint64_t token, uint64_t choice)
{
	const struct tt_launch *launch = parcel->launch;
	uint64_t width = tt_shape_last(&launch->inputs[TOKENS]->spec.shape, 1);
	uint64_t fields = tt_attr_u32(launch, FIELDS);
	int32_t *metadata = &parcel->metadata[page * fields];

	for (uint64_t i = 0; i < width; i++)
		parcel->tokens[page * width + i] = (float)parcel->in[TOKENS][token * width + i];
	metadata[0] = (int32_t)parcel->from;
	metadata[1] = (int32_t)token;
	metadata[2] = (int32_t)choice;
	for (uint64_t i = ROUTING_FIELDS; i < fields && parcel->in[SCALES]; i++) {
		float scale = (float)parcel->in[SCALES][token * (fields - ROUTING_FIELDS) + i -
							ROUTING_FIELDS];

		memcpy(&metadata[i], &scale, sizeof(scale));
	}
}

/* Places of an expert's tokens are counted up, also of those that find no room. */
static tt_status send_tokens(struct parcel *parcel)
{
	const struct tt_launch *launch = parcel->launch;
	uint64_t k = tt_attr_u32(launch, CHOICES), room = tt_attr_u32(launch, ROOM);
	uint64_t row = tt_shape_last(&launch->inputs[CHOSEN]->spec.shape, 1);
	uint64_t ids = tt_shape_count(&launch->inputs[CHOSEN]->spec.shape);
	uint64_t experts = tt_shape_count(&launch->inputs[OFFSETS]->spec.shape);
	uint64_t table = tt_shape_count(&launch->inputs[TABLE]->spec.shape);
	uint64_t count = token_count(parcel);

	for (uint64_t i = 0; i < count * k; i++) {
		uint64_t token = i / k, choice = i % k, expert;
		double chip, page;

		if (choice >= row || token * row + choice >= ids)
			continue;
		expert = (uint64_t)parcel->in[CHOSEN][token * row + choice];
		chip = expert < table && expert < experts ? parcel->in[TABLE][expert] : -1;
		if (chip < 0 || chip >= parcel->group->count)
			continue;
		page = parcel->in[OFFSETS][expert]++;
		if (page >= 0 && page < (double)room &&
		    parcel->group->chips[(uint32_t)chip] == parcel->to)
			put_token(parcel, (uint64_t)page, token, choice);
	}
	return TTNN_OK;
}

static tt_status read_member(struct parcel *parcel)
{
	for (size_t i = TOKENS; i <= SCALES; i++) {
		parcel->in[i] = NULL;
		if (parcel->launch->inputs[i])
			TT_TRY(tt_chip_read(&parcel->in[i], parcel->launch, i, parcel->from));
	}
	return TTNN_OK;
}

static tt_status dispatch_kernel(struct tt_launch *launch)
{
	uint64_t fields = tt_shape_count(&launch->outputs[1]->spec.shape);
	struct parcel parcel = {.launch = launch};

	parcel.metadata = tt_arena_alloc(launch->arena, (fields + 1) * sizeof(*parcel.metadata));
	TT_NEED_MEMORY(parcel.metadata);
	for (uint32_t chip = 0; chip < tt_chip_count(launch); chip++) {
		struct tt_group group;

		tt_group_find(&group, launch->device, tt_group_axis(&launch->attrs[AXIS]), chip);
		parcel.to = chip;
		parcel.group = &group;
		parcel.tokens = tt_chip_zeros(launch, 0);
		TT_NEED_MEMORY(parcel.tokens);
		memset(parcel.metadata, 0, fields * sizeof(*parcel.metadata));
		for (uint32_t i = 0; i < group.count; i++) {
			parcel.from = group.chips[i];
			TT_TRY(read_member(&parcel));
			TT_TRY(send_tokens(&parcel));
		}
		TT_TRY(tt_chip_write(launch, 0, chip, parcel.tokens));
		TT_TRY(tt_chip_write_as(launch, 1, chip, parcel.metadata, TTNN_INT32));
	}
	return TTNN_OK;
}

/* The first expert of a chip: groups are columns, and chips of a group are rows. */
static uint64_t first_expert(const struct tt_launch *launch, uint32_t chip)
{
	uint64_t experts = tt_shape_last(&launch->inputs[COUNTS]->spec.shape, 1);
	uint64_t each = tt_attr_u32(launch, C_EACH), size = tt_attr_u32(launch, C_GROUP);
	uint32_t cols = launch->device->cols;

	return chip % cols % (experts / (each * size)) * each * size + chip / cols * each;
}

/* What the experts of a member made of the chip's tokens. */
static void return_tokens(struct parcel *parcel)
{
	const struct tt_launch *launch = parcel->launch;
	const struct ttnn_shape *out = &launch->outputs[0]->spec.shape;
	const struct ttnn_shape *metadata = &launch->inputs[METADATA]->spec.shape;
	uint64_t fields = tt_shape_last(metadata, 1), width = out->dim[4];
	uint64_t rows = tt_shape_last(metadata, 2), first = first_expert(launch, parcel->from);
	uint64_t own_rows = tt_shape_last(&launch->inputs[BUFFER]->spec.shape, 2);
	uint64_t room = rows < own_rows ? rows : own_rows;
	uint64_t experts = tt_shape_last(&launch->inputs[COUNTS]->spec.shape, 1);

	for (uint64_t e = first; e < first + tt_attr_u32(launch, C_EACH) && e < experts; e++) {
		double start = parcel->in[REGIONS][e], end = start + parcel->in[COUNTS][e];

		if (start < 0 || start >= (double)room)
			continue;
		for (uint64_t page = (uint64_t)start; page < room && (double)page < end; page++) {
			const double *own = &parcel->in[METADATA][page * fields];
			uint64_t slot;

			if (own[0] != parcel->to || own[1] < 0 || own[1] >= out->dim[2] ||
			    own[2] < 0 || own[2] >= out->dim[3])
				continue;
			slot = (uint64_t)own[1] * out->dim[3] + (uint64_t)own[2];
			for (uint64_t i = 0; i < width; i++)
				parcel->tokens[slot * width + i] =
					(float)parcel->in[BUFFER][page * width + i];
		}
	}
}

static tt_status combine_kernel(struct tt_launch *launch)
{
	struct parcel parcel = {.launch = launch};

	for (uint32_t chip = 0; chip < tt_chip_count(launch); chip++) {
		struct tt_group group;

		tt_group_find(&group, launch->device, tt_group_axis(&launch->attrs[C_AXIS]), chip);
		parcel.to = chip;
		parcel.tokens = tt_chip_zeros(launch, 0);
		TT_NEED_MEMORY(parcel.tokens);
		for (uint32_t i = 0; i < group.count; i++) {
			parcel.from = group.chips[i];
			for (size_t k = BUFFER; k <= REGIONS; k++)
				TT_TRY(tt_chip_read(&parcel.in[k], launch, k, parcel.from));
			return_tokens(&parcel);
		}
		TT_TRY(tt_chip_write(launch, 0, chip, parcel.tokens));
	}
	return TTNN_OK;
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

/* Every chip has its own. */
static uint64_t dispatch_spread(const struct tt_launch *launch)
{
	uint64_t out = launch->inputs[TOKENS]->spread;

	for (unsigned i = 0; i < 2; i++)
		out = tt_spread_with(
			out, i, (struct tt_spread){tt_spread_at(out, i).extent, true, (int32_t)i});
	return out;
}

#define PREFILL "ttnn::operations::experimental::deepseek_prefill::"
#define PROGRAM(name, Name)                                                                        \
	.device_op = Name "DeviceOperation", .prim = "ttnn::prim::prefill_" #name,                 \
	.attrs = &name##_schema, .infer = name##_infer, .validate = name##_validate,               \
	.choose = name##_choose, TT_KERNEL(name##_kernel),                                         \
	TT_FACTORY(PREFILL #name "::" Name "ProgramFactory", name##_memory),                       \
	.cost = tt_cost_unmodelled_move, .per_chip = true, .together = true,                       \
	.kept_order = TT_KEPT_BUILT_FORWARD
static const struct tt_prog dispatch_program = {PROGRAM(dispatch, "Dispatch"),
						.spread = dispatch_spread, .mute = true};
static const struct tt_prog combine_program = {PROGRAM(combine, "Combine")};

/* The links and the topology that there are. */
static tt_status find_links(struct ttnn_value *links, struct ttnn_value *topology,
			    struct tt_call *call, const struct tt_tensor *in)
{
	const struct ttnn_value *given = tt_call_arg(call, "num_links");
	const struct ttnn_value *asked = tt_call_arg(call, "topology");
	int64_t axis = tt_group_axis(tt_call_arg(call, "cluster_axis")), count, kind;

	count = given->kind == TTNN_VALUE_INT ? given->integer : 1;
	kind = tt_value_given(asked) ? asked->integer : TT_TOPOLOGY_LINEAR;
	TT_REQUIRE(axis <= 0, "cluster_axis.value_or(0) == 0",
		   "cluster_axis must be 0 (current value: %" PRId64
		   "). Other values are not tested.",
		   axis);
	TT_REQUIRE(count >= 1 && count <= MOST_LINKS,
		   "num_links.value_or(1) >= 1 && num_links.value_or(1) <= 4",
		   "num_links must be between 1 and 4 (current value: %" PRId64 ").", count);
	TT_REQUIRE(kind == TT_TOPOLOGY_LINEAR || kind == TT_TOPOLOGY_RING,
		   "topology_ == tt::tt_fabric::Topology::Linear || topology_ == "
		   "tt::tt_fabric::Topology::Ring",
		   "topology must be Linear or Ring. 2D topologies are not supported.");
	*links = ttnn_v_int(count);
	if (given->kind != TTNN_VALUE_INT)
		TT_TRY(tt_group_links(links, call, tt_tensor_device(in)));
	*topology = tt_group_topology(tt_tensor_device(in),
				      &(struct ttnn_value){.kind = TTNN_VALUE_ENUM,
							   .enumeration = &tt_enum_topology,
							   .integer = kind},
				      axis);
	return TTNN_OK;
}

static tt_status dispatch_expand(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor");
	struct tt_tensor *padding = tt_call_tensor(call, "padding_config");
	struct ttnn_value links, topology;
	const ttnn_core_set *cores;

	TT_REQUIRE(tt_tensor_device(in), "storage_type == DEVICE",
		   "%s: the tensor must be on a device", call->entry->op->name);
	TT_TRY(find_links(&links, &topology, call, in));
	TT_TRY(tt_group_cores(&cores, call, tt_tensor_device(in)));
	return TT_LAUNCH_RETURN(
		call, &dispatch_program,
		TT_INPUTS(in, tt_call_tensor(call, "indices_tensor"),
			  tt_call_tensor(call, "expert_offsets_tensor"),
			  tt_call_tensor(call, "expert_dispatch_table_tensor"), padding,
			  tt_call_tensor(call, "scales_tensor")),
		TT_BIND(call, dispatch_schema, [LINKS] = links, [TOPOLOGY] = topology,
			[MEMORY] = tt_value_memory_or_like(call, in), [CORES] = ttnn_v_none(),
			[PADDED] = ttnn_v_bool(padding != NULL)),
		.grid = cores);
}

static tt_status combine_expand(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "dispatched_buffer");
	struct ttnn_value links, topology;
	const ttnn_core_set *cores;

	TT_REQUIRE(tt_tensor_device(in), "storage_type == DEVICE",
		   "%s: the tensor must be on a device", call->entry->op->name);
	TT_TRY(find_links(&links, &topology, call, in));
	TT_TRY(tt_group_cores(&cores, call, tt_tensor_device(in)));
	return TT_LAUNCH_RETURN(
		call, &combine_program,
		TT_INPUTS(in, tt_call_tensor(call, "dispatched_metadata"),
			  tt_call_tensor(call, "expert_token_counts"),
			  tt_call_tensor(call, "expert_region_offsets")),
		TT_BIND(call, combine_schema, [C_LINKS] = links, [C_TOPOLOGY] = topology,
			[C_MEMORY] = tt_value_memory_or_like(call, in), [C_CORES] = ttnn_v_none()),
		.grid = cores);
}

#define PLACE_ARGS "memory_config: MemoryConfig? = None, subdevice_id: SubDeviceId? = None, "
#define LINK_ARGS "cluster_axis: int? = None, num_links: int? = 1, topology: Topology? = Linear, "

static const struct tt_op ops[] = {
	{.name = "ttnn.experimental.deepseek_prefill.combine",
	 .doc = "What experts made of tokens, back to the chips of those, choice by choice.",
	 .sigs = {"dispatched_buffer: Tensor, dispatched_metadata: Tensor, expert_token_counts: "
		  "Tensor, expert_region_offsets: Tensor, *, dispatch_group_size: size, "
		  "experts_per_chip: size, num_experts_per_tok: size, seq_len_per_chip: "
		  "size, " PLACE_ARGS LINK_ARGS "init_zeros: bool = True, "
		  "use_l1_small_for_semaphores: bool = False, use_fp8_combine: bool = False"},
	 .expand = combine_expand,
	 .golden = tt_golden_prefill_combine,
	 .pcc = 0.9999,
	 TT_PROGRAMS(&combine_program)},
	{.name = "ttnn.experimental.deepseek_prefill.dispatch",
	 .doc = "Tokens to the buffers of their experts' chips, and where each comes from.",
	 .sigs = {"input_tensor: Tensor, indices_tensor: Tensor, expert_offsets_tensor: Tensor, "
		  "expert_dispatch_table_tensor: Tensor, *, dispatch_group_size: size, "
		  "experts_per_chip: size, num_routed_experts: size, num_experts_per_tok: size, "
		  "metadata_len: size, max_dispatch_buffer_token_size: size, padding_config: "
		  "Tensor? = None, scales_tensor: Tensor? = None, " PLACE_ARGS LINK_ARGS
		  "use_l1_small_for_semaphores: bool = False, fp8_output: bool = False, "
		  "fp8_scaled_input: bool = False, num_workers_per_sender: size = 2"},
	 .expand = dispatch_expand,
	 .golden = tt_golden_prefill_dispatch,
	 .pcc = 0.9999,
	 .gives = "[Tensor]",
	 TT_PROGRAMS(&dispatch_program)},
};

const struct tt_op_family tt_family_prefill_dispatch = {"prefill_dispatch", ops, TT_COUNT(ops)};
