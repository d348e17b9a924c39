#include "ops/objects.h"

#include <string.h>

#include "ops/activation.h"
#include "ops/conv/conv.h"
#include "ops/matmul/matmul.h"
#include "ops/norm/norm.h"

/* ---- the kinds ----------------------------------------------------------------------------------- */

static const struct tt_field compute_fields[TT_COMPUTE_FIELDS] = {
	[TT_COMPUTE_FIDELITY] = {.name = "math_fidelity"},
	[TT_COMPUTE_APPROX] = {.name = "math_approx_mode"},
	[TT_COMPUTE_FP32] = {.name = "fp32_dest_acc_en"},
	[TT_COMPUTE_L1_ACC] = {.name = "packer_l1_acc"},
	[TT_COMPUTE_FULL_SYNC] = {.name = "dst_full_sync_en"},
	[TT_COMPUTE_THROTTLE] = {.name = "throttle_level"},
};
const struct tt_schema tt_schema_compute = {"WormholeComputeKernelConfig", compute_fields,
					    TT_COMPUTE_FIELDS, true};

static const struct tt_field norm_fields[TT_NORM_FIELDS] = {
	[TT_NORM_GRID] = {.name = "compute_with_storage_grid_size"},
	[TT_NORM_SUBBLOCK_W] = {.name = "subblock_w"},
	[TT_NORM_BLOCK_H] = {.name = "block_h"},
	[TT_NORM_BLOCK_W] = {.name = "block_w"},
	[TT_NORM_INPLACE] = {.name = "inplace"},
	[TT_NORM_LEGACY_REDUCTION] = {.name = "legacy_reduction"},
	[TT_NORM_LEGACY_RSQRT] = {.name = "legacy_rsqrt", .unprinted = true},
	[TT_NORM_WELFORD] = {.name = "use_welford"},
};
const struct tt_schema tt_schema_norm_sharded = {"LayerNormShardedMultiCoreProgramConfig",
						 norm_fields, TT_NORM_FIELDS, true};
const struct tt_schema tt_schema_norm_default = {"LayerNormDefaultProgramConfig",
						 &norm_fields[TT_NORM_LEGACY_REDUCTION],
						 TT_NORM_FIELDS - TT_NORM_LEGACY_REDUCTION, true};

bool tt_norm_config_welford(const struct ttnn_value *config)
{
	return config->kind == TTNN_VALUE_OBJECT && config->schema == &tt_schema_norm_default &&
	       config->items[TT_NORM_WELFORD - TT_NORM_LEGACY_REDUCTION].boolean;
}

static const struct tt_field sdpa_fields[TT_SDPA_FIELDS] = {
	[TT_SDPA_GRID] = {.name = "compute_with_storage_grid_size"},
	[TT_SDPA_SUB_GRID] = {.name = "sub_core_grids", .spaced = true},
	[TT_SDPA_Q_CHUNK] = {.name = "q_chunk_size", .spaced = true},
	[TT_SDPA_K_CHUNK] = {.name = "k_chunk_size", .spaced = true},
	[TT_SDPA_EXP_APPROX] = {.name = "exp_approx_mode", .spaced = true, .words = true},
	[TT_SDPA_MAX_CORES] = {.name = "max_cores_per_head_batch", .spaced = true},
	[TT_SDPA_K_SPLITS] = {.name = "max_k_splits", .spaced = true},
	[TT_SDPA_FIDELITY] = {.name = "matmul_math_fidelity", .spaced = true},
	[TT_SDPA_SEGMENTED] = {.name = "segmented_accumulation", .spaced = true, .words = true},
};
const struct tt_schema tt_schema_sdpa = {"SDPAProgramConfig", sdpa_fields, TT_SDPA_FIELDS, true};

static const struct tt_field paged_fields[TT_PAGED_FIELDS] = {
	[TT_PAGED_BLOCK] = {.name = "block_size"},
	[TT_PAGED_KV_HEADS] = {.name = "num_kv_heads"},
};
const struct tt_schema tt_schema_paged_geometry = {"PagedCacheGeometryOverride", paged_fields,
						   TT_PAGED_FIELDS, true};

static const struct tt_field delta_fused_fields[TT_DELTA_FUSED_FIELDS] = {
	[TT_DELTA_PRODUCERS] = {.name = "num_producers"},
	[TT_DELTA_RECEIVERS] = {.name = "num_receivers"},
	[TT_DELTA_ROW_LOCAL] = {.name = "row_local"},
	[TT_DELTA_DEPTH] = {.name = "handoff_depth"},
	[TT_DELTA_UNICAST] = {.name = "unicast"},
	[TT_DELTA_POSTED] = {.name = "posted"},
	[TT_DELTA_POOL] = {.name = "producer_pool"},
	[TT_DELTA_SHARE] = {.name = "pool_extra_share"},
	[TT_DELTA_CHECKS] = {.name = "handoff_checks"},
	[TT_DELTA_FAULT] = {.name = "handoff_fault"},
};
const struct tt_schema tt_schema_delta_fused = {"ChunkGdnFusedProgramConfig", delta_fused_fields,
						TT_DELTA_FUSED_FIELDS, true};
static const struct tt_field delta_phased_fields[TT_DELTA_PHASED_FIELDS] = {
	[TT_DELTA_MCAST] = {.name = "use_mcast"},
	[TT_DELTA_SCAN_SERIAL] = {.name = "scan_serial"},
	[TT_DELTA_PREP_SERIAL] = {.name = "prep_serial"},
};
const struct tt_schema tt_schema_delta_phased = {"ChunkGdnPhasedProgramConfig", delta_phased_fields,
						 TT_DELTA_PHASED_FIELDS, true};
const struct tt_schema tt_schema_delta_mono = {"ChunkGdnMonoProgramConfig", NULL, 0, true};

static const struct tt_field indexer_fields[TT_INDEXER_FIELDS] = {
	[TT_INDEXER_Q] = {.name = "q_chunk_size"},
	[TT_INDEXER_K] = {.name = "k_chunk_size"},
	[TT_INDEXER_HEADS] = {.name = "head_group_size"},
};
const struct tt_schema tt_schema_indexer = {"IndexerScoreProgramConfig", indexer_fields,
					    TT_INDEXER_FIELDS, false};

static const struct tt_field conv_silu_fields[] = {{.name = "channel_chunk_size"}};
const struct tt_schema tt_schema_conv_silu = {"QkvCausalConv1dSiluProgramConfig", conv_silu_fields,
					      TT_COUNT(conv_silu_fields), true};

static const struct tt_field semaphore_fields[] = {
	{.name = "cores"},
	{.name = "value", .unkeyed = true},
	{.name = "buffer_type"},
};
static const struct tt_schema schema_semaphore = {"GlobalSemaphore", semaphore_fields,
						  TT_COUNT(semaphore_fields), true};

static const struct tt_field global_cb_fields[TT_GLOBAL_CB_FIELDS] = {
	[TT_GLOBAL_CB_ROOM] = {.name = "room", .unkeyed = true},
	[TT_GLOBAL_CB_SENDERS] = {.name = "senders"},
	[TT_GLOBAL_CB_RECEIVERS] = {.name = "receivers"},
	[TT_GLOBAL_CB_SIZE] = {.name = "size"},
};
const struct tt_schema tt_schema_global_cb = {"GlobalCircularBuffer", global_cb_fields,
					      TT_GLOBAL_CB_FIELDS, false};

tt_status tt_global_cb_read(const struct ttnn_value **fields, const struct ttnn_value *value)
{
	const struct ttnn_value *senders, *receivers;

	*fields = NULL;
	if (!tt_value_given(value))
		return TTNN_OK;
	if (value->kind != TTNN_VALUE_OBJECT || value->schema != &tt_schema_global_cb)
		return tt_fail(TTNN_TYPE, "global_cb is no global circular buffer");
	senders = &value->items[TT_GLOBAL_CB_SENDERS];
	receivers = &value->items[TT_GLOBAL_CB_RECEIVERS];
	TT_NEED(value->items[TT_GLOBAL_CB_ROOM].kind == TTNN_VALUE_TENSOR &&
			senders->kind == TTNN_VALUE_LIST && receivers->kind == TTNN_VALUE_LIST &&
			senders->count > 0 && senders->count == receivers->count &&
			value->items[TT_GLOBAL_CB_SIZE].integer > 0,
		"A global circular buffer has memory, senders, and receivers for each");
	for (size_t i = 0; i < senders->count; i++)
		TT_NEED(senders->items[i].kind == TTNN_VALUE_CORE &&
				receivers->items[i].kind == TTNN_VALUE_CORE_SET,
			"Senders of a global circular buffer are cores, receivers sets of cores");
	*fields = value->items;
	return TTNN_OK;
}

#define NORM "legacy_reduction: bool = False, legacy_rsqrt: bool = False, use_welford: bool = False"

#define COMPUTE                                                                                    \
	"math_fidelity: MathFidelity = Invalid, math_approx_mode: bool = True, "                   \
	"fp32_dest_acc_en: bool = False, packer_l1_acc: bool = False, "                            \
	"dst_full_sync_en: bool = False, throttle_level: any = 0"

/*
 * To add a kind: its schema and a row here. The arguments of the signature are the fields of the
 * schema, in the same order.
 */
struct kind {
	const char *name;
	const struct tt_schema *schema;
	const char *sig;
};
static const struct kind kinds[] = {
	{"UnaryWithParam", &tt_schema_unary, "op_type: enum, params: any = []"},
	{"WormholeComputeKernelConfig", &tt_schema_compute, COMPUTE},
	{"BlackholeComputeKernelConfig", &tt_schema_compute, COMPUTE},
	{"SoftmaxDefaultProgramConfig", &tt_schema_softmax_default, ""},
	{"SoftmaxShardedMultiCoreProgramConfig", &tt_schema_softmax_sharded,
	 "compute_with_storage_grid_size: CoreCoord, subblock_w: int, block_h: int, block_w: int"},
	{"LayerNormDefaultProgramConfig", &tt_schema_norm_default, "*, " NORM},
	{"LayerNormShardedMultiCoreProgramConfig", &tt_schema_norm_sharded,
	 "*, compute_with_storage_grid_size: CoreCoord, subblock_w: int, block_h: int, "
	 "block_w: int, inplace: bool, " NORM},
	{"SDPAProgramConfig", &tt_schema_sdpa,
	 "*, compute_with_storage_grid_size: CoreCoord, sub_core_grids: CoreRangeSet? = None, "
	 "q_chunk_size: int, k_chunk_size: int, exp_approx_mode: bool? = None, "
	 "max_cores_per_head_batch: int = 16, max_k_splits: int = 1, "
	 "matmul_math_fidelity: MathFidelity? = None, segmented_accumulation: bool = False"},
	{"MinimalMatmulConfig", &tt_schema_minimal_matmul, TT_SIG_MINIMAL_MATMUL},
	{"Conv1dConfig", &tt_schema_conv, TT_SIG_CONV},
	{"Conv2dConfig", &tt_schema_conv, TT_SIG_CONV},
	{"Conv3dConfig", &tt_schema_conv3d, TT_SIG_CONV3D},
	{"Conv2dSliceConfig", &tt_schema_slice, TT_SIG_SLICE},
	{"Op2DSliceConfig", &tt_schema_slice, TT_SIG_SLICE},
	{"PagedCacheGeometryOverride", &tt_schema_paged_geometry,
	 "block_size: int = 0, num_kv_heads: int = 0"},
	{"YUVCoefficients", &tt_schema_yuv, TT_SIG_YUV},
	{"ChunkGdnFusedProgramConfig", &tt_schema_delta_fused,
	 "*, num_producers: int? = None, num_receivers: int? = None, row_local: bool? = None, "
	 "handoff_depth: int? = None, unicast: bool = True, posted: bool = False, "
	 "producer_pool: bool? = None, pool_extra_share: float? = None, "
	 "handoff_checks: bool = False, handoff_fault: int = 0"},
	{"ChunkGdnPhasedProgramConfig", &tt_schema_delta_phased,
	 "*, use_mcast: bool = True, scan_serial: bool = False, prep_serial: bool = False"},
	{"ChunkGdnMonoProgramConfig", &tt_schema_delta_mono, ""},
	{"QkvCausalConv1dSiluProgramConfig", &tt_schema_conv_silu, "*, channel_chunk_size: int"},
	{"IndexerScoreProgramConfig", &tt_schema_indexer,
	 "*, q_chunk_size: size = 32, k_chunk_size: size = 32, head_group_size: size = 1"},
	{"GlobalCircularBuffer", &tt_schema_global_cb,
	 "room: any, senders: any, receivers: any, size: size"},
	{"GlobalSemaphore", &schema_semaphore,
	 "cores: CoreRangeSet, value: int, buffer_type: BufferType = L1"},
};

/* Program configs of products are rows of their own table. */
static bool find_matmul(struct kind *out, const char *name)
{
	for (int i = TT_MATMUL_REUSE; i <= TT_MATMUL_BATCHED_DRAM; i++)
		if (strcmp(tt_schema_matmul[i].name, name) == 0) {
			*out = (struct kind){name, &tt_schema_matmul[i], tt_sig_matmul[i]};
			return true;
		}
	return false;
}

static bool find(struct kind *out, const char *name)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kinds[i].name, name) == 0) {
			*out = kinds[i];
			return true;
		}
	return find_matmul(out, name);
}

const char *tt_object_kind(size_t i)
{
	const size_t count = sizeof(kinds) / sizeof(kinds[0]);

	if (i < count)
		return kinds[i].name;
	i = i - count + TT_MATMUL_REUSE;
	return i <= TT_MATMUL_BATCHED_DRAM ? tt_schema_matmul[i].name : NULL;
}

const char *tt_object_kind_of(const struct tt_schema *schema)
{
	struct kind kind;
	const char *name;

	for (size_t i = 0; (name = tt_object_kind(i)); i++)
		if (find(&kind, name) && kind.schema == schema)
			return name;
	return NULL;
}

const struct tt_schema *tt_object_schema(const char *name)
{
	struct kind kind;
	const char *other;

	for (size_t i = 0; (other = tt_object_kind(i)); i++)
		if (find(&kind, other) && strcmp(kind.schema->name, name) == 0)
			return kind.schema;
	return NULL;
}

bool tt_object_known(const char *name)
{
	struct kind kind;

	return find(&kind, name);
}

bool tt_object_core(struct ttnn_core *out, const struct ttnn_value *value)
{
	int64_t x, y;

	if (value->kind == TTNN_VALUE_CORE) {
		*out = value->core;
		return true;
	}
	if (value->kind != TTNN_VALUE_LIST || value->count != 2 ||
	    !tt_value_integer(&x, &value->items[0]) || !tt_value_integer(&y, &value->items[1]) ||
	    x < 0 || y < 0 || x > UINT32_MAX || y > UINT32_MAX)
		return false;
	*out = (struct ttnn_core){(uint32_t)x, (uint32_t)y};
	return true;
}

/* A core may be given as a pair. */
static void cored(struct ttnn_value *value, const struct tt_arg *arg)
{
	struct ttnn_core core;

	if (strcmp(tt_arg_type_name(arg->types[0]), "CoreCoord") == 0 &&
	    tt_object_core(&core, value))
		*value = (struct ttnn_value){.kind = TTNN_VALUE_CORE, .core = core};
}

/* An activation may be given as a function, alone or with its parameter. */
static tt_status activated(struct ttnn_value *value, const struct tt_arg *arg,
			   struct tt_arena *arena)
{
	const struct ttnn_value given = *value;

	if (strcmp(tt_arg_type_name(arg->types[0]), "Unary") != 0 || !tt_value_given(value))
		return TTNN_OK;
	return tt_activation_of(value, arena, &given);
}

/* A single parameter is a list of one. */
static tt_status listed(struct ttnn_value *value, struct tt_arena *arena)
{
	struct ttnn_value *items;

	if (value->kind == TTNN_VALUE_LIST)
		return TTNN_OK;
	items = tt_arena_alloc(arena, sizeof(*items));
	TT_NEED_MEMORY(items);
	*items = *value;
	*value = ttnn_v_list(items, tt_value_given(items) ? 1 : 0);
	return TTNN_OK;
}

tt_status tt_object_signature(struct tt_sig *out, struct tt_arena *arena, const char *name)
{
	struct kind kind;

	if (!find(&kind, name))
		return tt_fail(TTNN_NOTFOUND, "there is no configuration object %s", name);
	return tt_sig_parse(out, arena, kind.sig);
}

tt_status tt_object_make(struct ttnn_value *out, struct tt_arena *arena, const char *name,
			 const struct ttnn_arg *args, size_t arg_count)
{
	struct tt_overloads overloads = {.name = name, .count = 1};
	const struct tt_sig *sig = &overloads.sigs[0];
	struct ttnn_value *fields;
	struct tt_args resolved;
	struct kind kind;

	if (!find(&kind, name))
		return tt_fail(TTNN_NOTFOUND, "there is no configuration object %s", name);
	TT_TRY(tt_sig_parse(&overloads.sigs[0], arena, kind.sig));
	TT_TRY(tt_sig_resolve(&resolved, &overloads, args, arg_count));
	fields = tt_arena_calloc(arena, sig->count, sizeof(*fields));
	TT_NEED_MEMORY(fields);
	memcpy(fields, resolved.values, sig->count * sizeof(*fields));
	for (size_t i = 0; i < sig->count; i++) {
		cored(&fields[i], &sig->args[i]);
		TT_TRY(activated(&fields[i], &sig->args[i], arena));
	}
	if (kind.schema == &tt_schema_unary)
		TT_TRY(listed(&fields[1], arena));
	tt_matmul_config_complete(kind.schema, fields);
	*out = tt_value_object(kind.schema, fields);
	return TTNN_OK;
}
