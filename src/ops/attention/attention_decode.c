/*
 * attention_decode.c: attention of one new token of every user to a cache of keys and values.
 *
 * Models SdpaDecodeDeviceOperation of ttnn 0.81 with its one factory: refusals, memory, cores. Not modelled: the
 * tree in which cores of a head combine their parts.
 */
#include <math.h>

#include "backend/backend.h"
#include "device/device.h"
#include "device/devtensor.h"
#include "ops/attention/attention.h"
#include "ops/attention/heads.h"
#include "ops/compute.h"
#include "ops/mem_rows.h"
#include "ops/movement/movement.h"
#include "ops/objects.h"
#include "ops/usual.h"
#include "tensor/dtype.h"
#include "tensor/enums.h"
#include "tensor/shape.h"
#include "tensor/spec.h"
#include "tensor/tile.h"

#define FACE 16u

#define ATTRS(X)                                                                                   \
	X(CAUSAL, "is_causal")                                                                     \
	X(PAGED, "paged_attention")                                                                \
	X(POSITIONS, "cur_pos", .unkeyed = true)                                                   \
	X(SCALE, "scale")                                                                          \
	X(WINDOW, "sliding_window_size")                                                           \
	X(MEMORY, "output_mem_config")                                                             \
	X(CONFIG, "program_config", .text = TT_TEXT_PLACES)                                        \
	X(COMPUTE, "compute_kernel_config")                                                        \
	X(K_CHUNK, "k_chunk_size")                                                                 \
	X(SHARE, "share_cache")                                                                    \
	X(MLA, "use_mla")                                                                          \
	X(V_WIDTH, "head_dim_v")                                                                   \
	X(GEOMETRY, "paged_cache_geometry", .text = TT_TEXT_FIXED,                                 \
	  .fixed = "PagedCacheGeometryOverride(0, 0)")                                             \
	X(MODULO, "cache_position_modulo")                                                         \
	X(SPECULATIVE, "spec_multi_pos_tiles")
TT_ATTRS(schema, "SdpaDecodeParams", ATTRS);
enum { Q, K, V, POSITION_TENSOR, PAGES, MASK, SINK, INPUTS };

/* ---- specs and refusals ---------------------------------------------------------------------------------- */

static tt_status sdpa_decode_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *q = &launch->inputs[Q]->spec;

	TT_TRY(tt_heads_need_rank(&q->shape, 3));
	return tt_infer_one(launch, &q->shape, q->dtype, TTNN_TILE);
}

static tt_status check_kinds(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *q = &launch->inputs[Q]->spec;

	for (int i = Q; i <= V; i++) {
		enum ttnn_dtype dtype = launch->inputs[i]->spec.dtype;

		TT_REQUIRE(dtype == TTNN_BFLOAT16 || dtype == TTNN_BFLOAT8_B ||
				   dtype == TTNN_BFLOAT4_B,
			   "input_tensor.dtype() == DataType::BFLOAT16 || input_tensor.dtype() == "
			   "DataType::BFLOAT8_B || input_tensor.dtype() == DataType::BFLOAT4_B",
			   "Unsupported data type DataType::%s.",
			   ttnn_dtype_name(dtype, TTNN_DIALECT_TT_METAL));
		TT_TRY(tt_heads_need_rank(&launch->inputs[i]->spec.shape, 3));
	}
	TT_REQUIRE(tt_memory_config_is_sharded(&q->memory) || q->memory.buffer == TTNN_DRAM,
		   "Q_memcfg.buffer_type() == tt::tt_metal::BufferType::DRAM",
		   "Q tensor buffer type must be DRAM when not sharded but got BufferType::%s",
		   tt_enum_name(&tt_enum_buffer_type, q->memory.buffer));
	TT_REQUIRE(q->layout == TTNN_TILE || tt_memory_config_is_sharded(&q->memory),
		   "input_tensors.at(0).is_sharded()",
		   "ROW_MAJOR Q is only supported when Q is HEIGHT_SHARDED in L1; interleaved "
		   "ROW_MAJOR Q is not supported. Convert Q to TILE layout or shard it.");
	return TTNN_OK;
}

static tt_status check_cache(const struct tt_launch *launch)
{
	const uint32_t *q = launch->inputs[Q]->spec.shape.dim;
	const uint32_t *k = launch->inputs[K]->spec.shape.dim;
	const uint32_t *v = launch->inputs[V]->spec.shape.dim;

	TT_REQUIRE(launch->inputs[PAGES] || launch->attrs[SHARE].boolean || k[0] == q[1],
		   "k_shape[0] == B", "K tensor batch size (%u) must equal B (%u)", k[0], q[1]);
	TT_REQUIRE(k[2] == v[2], "k_shape[-2] == v_shape[-2]",
		   "K and V tensors must have the same sequence length. K: %u, V: %u", k[2], v[2]);
	TT_REQUIRE(k[1] == 1 || !tt_memory_config_is_sharded(launch->attrs[MEMORY].memory),
		   "!operation_attributes.output_mem_config.is_sharded()",
		   "Sharded output not supported for GQA");
	TT_REQUIRE(k[1] && q[2] % k[1] == 0, "q_shape_unpadded[2] % k_shape[1] == 0",
		   "GQA expects Q to have a multiple of K heads, but got %u and %u", q[2], k[1]);
	return TTNN_OK;
}

static tt_status sdpa_decode_validate(struct tt_launch *launch)
{
	const struct ttnn_value *list = &launch->attrs[POSITIONS];
	uint32_t users, given = list->kind == TTNN_VALUE_LIST ? list->count : 0;

	TT_TRY(check_kinds(launch));
	TT_TRY(check_cache(launch));
	users = launch->inputs[Q]->spec.shape.dim[1];
	if (launch->attrs[CAUSAL].boolean && !launch->inputs[POSITION_TENSOR] && given < users)
		return tt_fail(
			TTNN_INVALID,
			"vector::_M_range_check: __n (which is %u) >= this->size() (which is "
			"%u)",
			given, given);
	return TTNN_OK;
}

/* ---- program memory ---------------------------------------------------------------------------------------- */

/* How many cores share the columns of one head of a user. */
static uint64_t sharers(const struct tt_launch *launch, uint64_t cores)
{
	uint64_t users = launch->inputs[Q]->spec.shape.dim[1];
	uint64_t heads = launch->inputs[K]->spec.shape.dim[1];
	uint64_t most = tt_sdpa_number(&launch->attrs[CONFIG], TT_SDPA_MAX_CORES, cores);
	uint64_t per_user = (most * users * heads < cores ? most * users * heads : cores) / users;

	return per_user / heads ? per_user / heads : 1;
}

static uint64_t k_tiles(const struct tt_launch *launch)
{
	uint64_t chunk = (uint64_t)launch->attrs[K_CHUNK].integer;

	/* 0: as many columns as the matrix engine holds tiles. */
	if (chunk)
		return chunk / TT_TILE;
	return tt_compute_tiles(&launch->attrs[COMPUTE]);
}

static uint64_t tile_of(const struct tt_tensor *tensor)
{
	return tt_tile_bytes_of(tensor->spec.dtype);
}

/*
 * Few heads are worked on in half tiles. All but keys, values and the result lie in tiles of that
 * height.
 */
static tt_status rows(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *const *in = launch->inputs;
	uint32_t heads = in[Q]->spec.shape.dim[2];
	const struct ttnn_tile form = {heads <= FACE ? FACE : TT_TILE, TT_TILE, false};
	uint64_t tile = tt_dtype_tile_bytes(TTNN_BFLOAT16, &form);
	uint64_t q_tile = tt_dtype_tile_bytes(in[Q]->spec.dtype, &form);
	uint64_t high = tt_div_up(heads, form.height), width = in[Q]->spec.padded.dim[3] / TT_TILE;
	uint64_t across = k_tiles(launch), full = tt_tile_bytes_of(TTNN_BFLOAT16), others;
	uint64_t position = in[POSITION_TENSOR] ? tt_aligned_page(in[POSITION_TENSOR]) : 0;
	const ttnn_core_set *cores;

	TT_TRY(tt_sdpa_cores(&cores, launch, &launch->attrs[CONFIG]));
	others = sharers(launch, ttnn_core_set_cores(cores)) - 1;
	TT_REQUIRE(others < 64, "num_tree_reduction_rounds <= MAX_TREE_REDUCTION_ROUNDS",
		   "Tree reduction max 6 rounds (64 cores/head), got %llu cores/head",
		   (unsigned long long)others + 1);
	return TT_PLAN(
		plan, cores, TT_CB_ROW(0, "cb_q_in", .pages = high * width, .page = q_tile),
		TT_CB_ROW(1, "cb_k_in", .pages = 2 * across * width, .page = tile_of(in[K])),
		TT_CB_ROW(2, "cb_v_in", .pages = 2 * across * width, .page = tile_of(in[V])),
		TT_CB_ROW(3, "cb_mask_in", .pages = high * across, .page = tile),
		TT_CB_ROW(4, "cb_attention_sink", .pages = in[SINK] ? high : 0, .page = tile),
		TT_CB_ROW(5, "cb_identity_scale_in", .pages = 1, .page = tile),
		TT_CB_ROW(6, "cb_m_in", .pages = high, .page = tile),
		TT_CB_ROW(7, "cb_l_in", .pages = high, .page = tile),
		TT_CB_ROW(8, "cb_writer_cur_pos", .pages = position != 0, .page = position),
		TT_CB_ROW(15, "cb_compute_cur_pos", .pages = position != 0, .page = position),
		TT_CB_ROW(9, "cb_page_table", .pages = in[PAGES] != NULL,
			  .page = in[PAGES] ? tt_aligned_page(in[PAGES]) : 0),
		TT_CB_ROW(10, "cb_q_rm", .pages = high * width, .page = q_tile),
		TT_CB_ROW(11, "cb_col_identity", .pages = 1, .page = full),
		TT_CB_ROW(12, "cb_zero_in", .pages = 1, .page = tile),
		TT_CB_ROW(13, "cb_sliding_window_mask_in",
			  .pages = tt_value_given(&launch->attrs[WINDOW]) ? high * across : 0,
			  .page = tile),
		TT_CB_ROW(24, "cb_qk_im", .pages = high * across, .page = tile),
		TT_CB_ROW(25, "cb_out_im", .pages = high * width, .page = tile),
		TT_CB_ROW(26, "cb_out_accumulate_im", .pages = high * width, .page = tile),
		TT_CB_ROW(27, "cb_max_1", .pages = high, .page = tile),
		TT_CB_ROW(28, "cb_max_2", .pages = high, .page = tile),
		TT_CB_ROW(29, "cb_sum_1", .pages = high, .page = tile),
		TT_CB_ROW(30, "cb_sum_2", .pages = high, .page = tile),
		TT_CB_ROW(31, "cb_exp_max_diff", .pages = high, .page = tile),
		TT_CB_ROW(21, "cb_prev_sum_2", .pages = high, .page = tile),
		TT_CB_ROW(22, "cb_exp_max_diff_2", .pages = high, .page = tile),
		TT_CB_ROW(16, "cb_out_o", .pages = high * width, .page = tile),
		TT_CB_ROW(17, "cb_out_m", .pages = high * width, .page = tile),
		TT_CB_ROW(18, "cb_out_l", .pages = high, .page = tile),
		TT_CB_ROW(19, NULL, .pages = high, .page = tile),
		TT_CB_ROW(23, NULL, .pages = others * (width + 2) * high, .page = tile),
		TT_CB_ROW(20, "cb_out", .pages = tt_div_up(heads, TT_TILE) * width,
			  .page = tile_of(launch->outputs[0])));
}

/* ---- running ----------------------------------------------------------------------------------------------- */

static tt_status positions_of(const int32_t **out, const struct tt_launch *launch)
{
	const struct ttnn_value *list = &launch->attrs[POSITIONS];
	uint32_t count = list->kind == TTNN_VALUE_LIST ? list->count : 0;
	int32_t *numbers;

	*out = NULL;
	if (!count || launch->inputs[POSITION_TENSOR])
		return TTNN_OK;
	numbers = tt_arena_calloc(launch->arena, count, sizeof(*numbers));
	if (!numbers)
		return tt_fail_nomem();
	for (uint32_t i = 0; i < count; i++)
		numbers[i] = (int32_t)list->items[i].integer;
	*out = numbers;
	return TTNN_OK;
}

static tt_status sdpa_decode_kernel(struct tt_launch *launch)
{
	const struct ttnn_value *attrs = launch->attrs;
	struct tt_attention_job job = {
		.out = launch->outputs[0],
		.q = launch->inputs[Q],
		.k = launch->inputs[K],
		.v = launch->inputs[V],
		.mask = launch->inputs[MASK],
		.pages = launch->inputs[PAGES],
		.sink = launch->inputs[SINK],
		.positions = launch->inputs[POSITION_TENSOR],
		.scale = tt_value_given(&attrs[SCALE])
				 ? attrs[SCALE].real
				 : 1 / sqrt(launch->inputs[Q]->spec.shape.dim[3]),
		.causal = attrs[CAUSAL].boolean,
		.decode = true,
		.window = tt_value_given(&attrs[WINDOW]) ? (uint32_t)attrs[WINDOW].integer : 0,
	};

	TT_TRY(positions_of(&job.position_list, launch));
	return tt_backend_get()->attention(&job);
}

static const struct tt_prog program = {
	.device_op = "SdpaDecodeDeviceOperation",
	.prim = "ttnn::prim::sdpa_decode",
	.attrs = &schema,
	.infer = sdpa_decode_infer,
	.validate = sdpa_decode_validate,
	TT_FACTORY("ttnn::device_operation::MeshDeviceOperationAdapter<ttnn::prim::"
		   "SdpaDecodeDeviceOperation>::DirectDescriptorFactory",
		   rows),
	TT_KERNEL(sdpa_decode_kernel),
};

/* ---- operations ---------------------------------------------------------------------------------------------- */

/* The largest chunk of up to 512 columns, a power of two of tiles, that divides the cache. */
static uint64_t usual_chunk(uint64_t columns)
{
	uint64_t chunk = 512;

	while (chunk > TT_TILE && columns % chunk != 0)
		chunk /= 2;
	return chunk;
}

/* A paged cache is worked on by one core a head, tile by tile, unless a config says otherwise. */
static tt_status usual_config(struct ttnn_value *out, struct tt_call *call,
			      const struct tt_device *device)
{
	struct ttnn_value *fields = tt_arena_calloc(call->arena, TT_SDPA_FIELDS, sizeof(*fields));

	if (!fields)
		return tt_fail_nomem();
	for (int i = 0; i < TT_SDPA_FIELDS; i++)
		fields[i] = ttnn_v_none();
	fields[TT_SDPA_GRID] =
		(struct ttnn_value){.kind = TTNN_VALUE_CORE, .core = device->info.compute_grid};
	fields[TT_SDPA_Q_CHUNK] = fields[TT_SDPA_K_CHUNK] = ttnn_v_int(TT_TILE);
	fields[TT_SDPA_MAX_CORES] = fields[TT_SDPA_K_SPLITS] = ttnn_v_int(1);
	fields[TT_SDPA_SEGMENTED] = ttnn_v_bool(false);
	*out = tt_value_object(&tt_schema_sdpa, fields);
	return TTNN_OK;
}

static tt_status attend(struct tt_call *call, struct tt_tensor *pages)
{
	static const struct tt_compute_usual usual = {.fidelity = TT_HIFI2, .approx = true};
	static const struct ttnn_memory_config dram;
	struct tt_tensor *const inputs[INPUTS] = {
		[Q] = tt_call_tensor(call, "input_tensor_q"),
		[K] = tt_call_tensor(call, "input_tensor_k"),
		[V] = tt_call_tensor(call, "input_tensor_v"),
		[POSITION_TENSOR] = tt_call_tensor(call, "cur_pos_tensor"),
		[PAGES] = pages,
		[MASK] = tt_call_tensor(call, "attn_mask"),
		[SINK] = tt_call_tensor(call, "attention_sink"),
	};
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");
	struct ttnn_value attrs[schema_count], config = *tt_call_arg(call, "program_config");
	uint64_t columns = tt_shape_last(&inputs[K]->spec.shape, 2), chunk;
	double scale;

	TT_TRY(tt_need_device(inputs[Q]));
	if (pages && !tt_value_given(&config))
		TT_TRY(usual_config(&config, call, tt_tensor_device(inputs[Q])));
	chunk = tt_sdpa_number(&config, TT_SDPA_K_CHUNK, 0);
	attrs[CAUSAL] = ttnn_v_bool(tt_call_bool(call, "is_causal", true));
	attrs[PAGED] = ttnn_v_bool(pages != NULL);
	attrs[POSITIONS] = *tt_call_arg(call, "cur_pos");
	if (attrs[POSITIONS].kind != TTNN_VALUE_LIST)
		attrs[POSITIONS] = ttnn_v_list(NULL, 0);
	attrs[SCALE] = tt_value_number(&scale, tt_call_arg(call, "scale")) ? ttnn_v_real(scale)
									   : ttnn_v_none();
	attrs[WINDOW] = *tt_call_arg(call, "sliding_window_size");
	attrs[MEMORY] = ttnn_v_memory(memory ? memory : &dram);
	attrs[CONFIG] = config;
	attrs[COMPUTE] =
		tt_compute_config(call, tt_call_arg(call, "compute_kernel_config"), &usual);
	attrs[K_CHUNK] = ttnn_v_int((int64_t)(chunk || pages ? chunk : usual_chunk(columns)));
	attrs[SHARE] = *tt_call_arg(call, "share_cache");
	attrs[MLA] = attrs[V_WIDTH] = ttnn_v_none();
	attrs[GEOMETRY] = ttnn_v_int(0);
	attrs[MODULO] = *tt_call_arg(call, "cache_position_modulo");
	attrs[SPECULATIVE] = ttnn_v_int(tt_call_int(call, "spec_multi_pos_tiles", 0));
	return TT_LAUNCH_RETURN(call, &program, .attrs = attrs, .inputs = inputs,
				.input_count = INPUTS);
}

static tt_status attend_whole(struct tt_call *call)
{
	return attend(call, NULL);
}

static tt_status attend_paged(struct tt_call *call)
{
	return attend(call, tt_call_tensor(call, "page_table_tensor"));
}

#define QKV "input_tensor_q: Tensor, input_tensor_k: Tensor, input_tensor_v: Tensor, "
#define TAIL                                                                                       \
	"cur_pos_tensor: Tensor? = None, attention_sink: Tensor? = None, scale: float? = None, "   \
	"sliding_window_size: int? = None, memory_config: MemoryConfig? = None, program_config: "  \
	"ProgramConfig? = None, compute_kernel_config: ComputeConfig? = None, "
static const struct tt_prog *const programs[] = {&program, NULL};
static const struct tt_op ops[] = {
	{.name = "ttnn.transformer.paged_scaled_dot_product_attention_decode",
	 .family = "attention_decode",
	 .doc = "Attention of a token of every user to the blocks that a table gives it.",
	 .sigs = {QKV "page_table_tensor: Tensor, *, is_causal: bool = True, attn_mask: Tensor? = "
		      "None, " TAIL
		      "paged_cache_geometry: any? = None, cache_position_modulo: int? "
		      "= None, spec_multi_pos_tiles: int = 0"},
	 .expand = attend_paged,
	 .golden = tt_golden_attention_decode,
	 .pcc = 0.99,
	 .programs = programs},
	{.name = "ttnn.transformer.scaled_dot_product_attention_decode",
	 .family = "attention_decode",
	 .doc = "Attention of a token of every user to what it said before.",
	 .sigs = {QKV
		  "*, is_causal: bool = True, attn_mask: Tensor? = None, cur_pos: ints = [], " TAIL
		  "share_cache: bool? = None"},
	 .expand = attend_whole,
	 .golden = tt_golden_attention_decode,
	 .pcc = 0.99,
	 .programs = programs},
};

const struct tt_op_family tt_family_attention_decode = {"attention_decode", ops, TT_COUNT(ops)};
