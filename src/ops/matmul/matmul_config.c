/* matmul_config.c: program configs of matrix products: the objects that callers give, as structs. */
#include <stddef.h>
#include <string.h>

#include "ops/matmul/matmul.h"

/* ---- the fields of all kinds ----------------------------------------------------------------------- */

enum field_type { GRID, SIZE, FLAG, VALUE, CORES };

/* To add a field: a row here, and its name in the fields and signature of the kinds that have it. */
static const struct row {
	const char *name;
	enum field_type type;
	size_t offset;
} rows[] = {
#define ROW(name, type, member)                                                                    \
	{                                                                                          \
		name, type, offsetof(struct tt_matmul_config, member)                              \
	}
	ROW("compute_with_storage_grid_size", GRID, grid),
	ROW("in0_block_w", SIZE, k),
	ROW("out_subblock_h", SIZE, sub_h),
	ROW("out_subblock_w", SIZE, sub_w),
	ROW("out_block_h", SIZE, block_h),
	ROW("out_block_w", SIZE, block_w),
	ROW("per_core_M", SIZE, m),
	ROW("per_core_N", SIZE, n),
	ROW("transpose_mcast", FLAG, transpose_cast),
	ROW("fused_activation", VALUE, activation),
	ROW("fuse_batch", FLAG, fuse_batch),
	ROW("mcast_in0", FLAG, cast_a),
	ROW("gather_in0", FLAG, gather_a),
	ROW("hop_cores", CORES, hops),
	ROW("num_global_cb_receivers", SIZE, receivers),
	ROW("untilize_out", FLAG, untilize),
	ROW("allowed_worker_cores", CORES, allowed),
	ROW("stream_in1", FLAG, stream_b),
	ROW("num_workers_per_dram_bank", SIZE, bank_workers),
#undef ROW
};

/* Fields that several have, one behind the other. */
/* clang-format off */
#define BLOCK_FIELDS                                                                               \
	{.name = "compute_with_storage_grid_size"}, {.name = "in0_block_w"},                       \
	{.name = "out_subblock_h"}, {.name = "out_subblock_w"}
#define OUT_BLOCK_FIELDS {.name = "out_block_h"}, {.name = "out_block_w"}
#define PER_CORE_FIELDS {.name = "per_core_M"}, {.name = "per_core_N"}
/* clang-format on */

static const struct tt_field multi_fields[] = {{.name = "allowed_worker_cores"}};
static const struct tt_field reuse_fields[] = {
	BLOCK_FIELDS,
	PER_CORE_FIELDS,
	{.name = "allowed_worker_cores"},
};
static const struct tt_field fields_2d[] = {
	BLOCK_FIELDS,
	OUT_BLOCK_FIELDS,
	PER_CORE_FIELDS,
	{.name = "transpose_mcast"},
	{.name = "fused_activation"},
	{.name = "fuse_batch"},
	{.name = "allowed_worker_cores"},
};
static const struct tt_field fields_1d[] = {
	BLOCK_FIELDS,
	OUT_BLOCK_FIELDS,
	PER_CORE_FIELDS,
	{.name = "fuse_batch"},
	{.name = "fused_activation"},
	{.name = "mcast_in0"},
	{.name = "gather_in0"},
	{.name = "hop_cores"},
	{.name = "num_global_cb_receivers"},
	{.name = "untilize_out"},
	{.name = "allowed_worker_cores"},
	{.name = "stream_in1"},
};
static const struct tt_field dram_fields[] = {
	{.name = "in0_block_w"},
	PER_CORE_FIELDS,
	{.name = "fused_activation"},
	{.name = "num_workers_per_dram_bank"},
};
static const struct tt_field batched_dram_fields[] = {
	{.name = "in0_block_w"},
	PER_CORE_FIELDS,
	{.name = "fused_activation"},
};

#define SCHEMA(name, fields)                                                                       \
	{                                                                                          \
		name, fields, sizeof(fields) / sizeof((fields)[0]), true                           \
	}
const struct tt_schema tt_schema_matmul[] = {
	[TT_MATMUL_MULTI] = SCHEMA("MatmulMultiCoreProgramConfig", multi_fields),
	[TT_MATMUL_REUSE] = SCHEMA("MatmulMultiCoreReuseProgramConfig", reuse_fields),
	[TT_MATMUL_2D] = SCHEMA("MatmulMultiCoreReuseMultiCastProgramConfig", fields_2d),
	[TT_MATMUL_1D] = SCHEMA("MatmulMultiCoreReuseMultiCast1DProgramConfig", fields_1d),
	[TT_MATMUL_DRAM] =
		SCHEMA("MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig", dram_fields),
	[TT_MATMUL_BATCHED_DRAM] =
		SCHEMA("MatmulMultiCoreReuseMultiCastBatchedDRAMShardedProgramConfig",
		       batched_dram_fields),
};

#define BLOCKS                                                                                     \
	"*, compute_with_storage_grid_size: CoreCoord, in0_block_w: int, out_subblock_h: int, "    \
	"out_subblock_w: int, "
#define OUT_BLOCKS "out_block_h: int ? = None, out_block_w: int ? = None, "
#define PER_CORE "per_core_M: int, per_core_N: int"
#define ACTIVATION ", fused_activation: Unary ? = None"
#define ALLOWED ", allowed_worker_cores: CoreRangeSet ? = None"

const char *const tt_sig_matmul[] = {
	[TT_MATMUL_MULTI] = "*, allowed_worker_cores: CoreRangeSet ? = None",
	[TT_MATMUL_REUSE] = BLOCKS PER_CORE ALLOWED,
	[TT_MATMUL_2D] = BLOCKS OUT_BLOCKS PER_CORE ", transpose_mcast: bool" ACTIVATION
						    ", fuse_batch: bool = True" ALLOWED,
	[TT_MATMUL_1D] = BLOCKS OUT_BLOCKS PER_CORE
	", fuse_batch: bool" ACTIVATION ", mcast_in0: bool, gather_in0: bool = False, "
	"hop_cores: CoreRangeSet ? = None, num_global_cb_receivers: int = 1, "
	"untilize_out: bool = False" ALLOWED ", stream_in1: bool = False",
	[TT_MATMUL_DRAM] =
		"*, in0_block_w: int, " PER_CORE ACTIVATION ", num_workers_per_dram_bank: int = 1",
	[TT_MATMUL_BATCHED_DRAM] = "*, in0_block_w: int, " PER_CORE ACTIVATION,
};

/* ---- reading and writing ----------------------------------------------------------------------------- */

static const struct row *find_row(const char *name)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strcmp(rows[i].name, name) == 0)
			return &rows[i];
	return NULL;
}

/* Each kind is a type of its own in Python; -1 for other objects. */
static int kind_of(const struct ttnn_value *value)
{
	if (value->kind != TTNN_VALUE_OBJECT)
		return -1;
	for (int i = TT_MATMUL_MULTI; i <= TT_MATMUL_BATCHED_DRAM; i++)
		if (value->schema == &tt_schema_matmul[i])
			return i;
	return -1;
}

bool tt_matmul_config_is(const struct ttnn_value *value)
{
	return kind_of(value) >= 0;
}

static struct ttnn_value *find_field(const struct tt_schema *schema, struct ttnn_value *fields,
				     const char *name)
{
	for (size_t i = 0; i < schema->count; i++)
		if (strcmp(schema->fields[i].name, name) == 0)
			return &fields[i];
	return NULL;
}

/*
 * Upstream's constructors: out_block_h and out_block_w default to per_core_M and per_core_N,
 * hop_cores to none.
 */
void tt_matmul_config_complete(const struct tt_schema *schema, struct ttnn_value *fields)
{
	static const char *const pairs[][2] = {{"out_block_h", "per_core_M"},
					       {"out_block_w", "per_core_N"}};
	struct ttnn_value *hops = find_field(schema, fields, "hop_cores");
	const ttnn_core_set *none;

	if (hops && !tt_value_given(hops) && ttnn_core_set_make(&none, NULL, 0) == TTNN_OK)
		*hops = ttnn_v_core_set(none);
	for (size_t i = 0; i < 2; i++) {
		struct ttnn_value *open = find_field(schema, fields, pairs[i][0]);

		if (open && !tt_value_given(open))
			*open = *find_field(schema, fields, pairs[i][1]);
	}
}

/* A field of the object into its member of the struct; `row` says where and of what type. */
static tt_status read_field(struct tt_matmul_config *out, const struct row *row,
			    const struct ttnn_value *value)
{
	void *at = (char *)out + row->offset;
	int64_t number;

	switch (row->type) {
	case GRID:
		if (value->kind == TTNN_VALUE_CORE)
			*(struct ttnn_core *)at = value->core;
		break;
	case SIZE:
		TT_NEED(tt_value_integer(&number, value) && number >= 0 && number <= UINT32_MAX,
			"%s of a program config is no size", row->name);
		*(uint32_t *)at = (uint32_t)number;
		break;
	case FLAG:
		*(bool *)at = value->kind == TTNN_VALUE_BOOL && value->boolean;
		break;
	case VALUE:
		*(struct ttnn_value *)at = tt_value_given(value) ? *value : ttnn_v_none();
		break;
	case CORES:
		*(const ttnn_core_set **)at =
			value->kind == TTNN_VALUE_CORE_SET ? value->core_set : NULL;
		break;
	}
	return TTNN_OK;
}

/* Fields of other kinds stay zero. */
tt_status tt_matmul_config_read(struct tt_matmul_config *out, const struct ttnn_value *value)
{
	int kind = kind_of(value);

	if (kind < 0)
		return tt_fail(TTNN_TYPE, "%s is no program config of a matrix product",
			       tt_value_kind_name(value));
	*out = (struct tt_matmul_config){.kind = (enum tt_matmul_kind)kind,
					 .activation = ttnn_v_none()};
	for (size_t i = 0; i < value->schema->count; i++)
		TT_TRY(read_field(out, find_row(value->schema->fields[i].name), &value->items[i]));
	return TTNN_OK;
}

/* The way back, for attributes. */
static struct ttnn_value field_value(const struct tt_matmul_config *config, const struct row *row)
{
	const void *at = (const char *)config + row->offset;

	switch (row->type) {
	case GRID:
		return (struct ttnn_value){.kind = TTNN_VALUE_CORE,
					   .core = *(const struct ttnn_core *)at};
	case SIZE:
		return ttnn_v_int(*(const uint32_t *)at);
	case FLAG:
		return ttnn_v_bool(*(const bool *)at);
	case VALUE:
		return *(const struct ttnn_value *)at;
	default:
		return ttnn_v_core_set(*(const ttnn_core_set *const *)at);
	}
}

/* A struct as the object that upstream's attributes hold. */
tt_status tt_matmul_config_value(struct ttnn_value *out, struct tt_arena *arena,
				 const struct tt_matmul_config *config)
{
	const struct tt_schema *schema = &tt_schema_matmul[config->kind];
	struct ttnn_value *fields = tt_arena_calloc(arena, schema->count, sizeof(*fields));

	TT_NEED_MEMORY(fields);
	for (size_t i = 0; i < schema->count; i++)
		fields[i] = field_value(config, find_row(schema->fields[i].name));
	*out = tt_value_object(schema, fields);
	return TTNN_OK;
}

const char *tt_matmul_config_name(const struct tt_matmul_config *config)
{
	return tt_schema_matmul[config->kind].name;
}
