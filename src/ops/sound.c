#include "ops/sound.h"

#include "tensor/core.h"
#include "tensor/tile.h"

static tt_status check(const struct ttnn_value *value);

static tt_status check_cores(const ttnn_core_set *cores)
{
	if (!cores || ttnn_core_set_cores(cores) > 0)
		return TTNN_OK;
	return tt_fail_cond(TTNN_INVALID, "max_num_cores > 0",
			    "Core grid must contain at least one core");
}

static tt_status check_memory(const struct ttnn_memory_config *memory)
{
	if (memory->has_shard)
		TT_TRY(check_cores(memory->shard.grid));
	return memory->has_nd_shard ? check_cores(memory->nd_shard.grid) : TTNN_OK;
}

static tt_status check_member(const struct ttnn_value *value)
{
	if (tt_enum_name(value->enumeration, value->integer))
		return TTNN_OK;
	return tt_fail(TTNN_TYPE, "%lld is not a valid %s", (long long)value->integer,
		       value->enumeration->name);
}

/* A field of an object may be a set of no cores (hop_cores). */
static tt_status check_items(const struct ttnn_value *value)
{
	bool fields = value->kind == TTNN_VALUE_OBJECT;

	for (uint32_t i = 0; i < value->count; i++)
		if (!fields || value->items[i].kind != TTNN_VALUE_CORE_SET)
			TT_TRY(check(&value->items[i]));
	return TTNN_OK;
}

static tt_status check(const struct ttnn_value *value)
{
	switch (value->kind) {
	case TTNN_VALUE_ENUM:
		return check_member(value);
	case TTNN_VALUE_TILE:
		return tt_tile_check(value->tile);
	case TTNN_VALUE_CORE_SET:
		return check_cores(value->core_set);
	case TTNN_VALUE_MEMORY:
		return check_memory(value->memory);
	case TTNN_VALUE_SHARD:
		return check_cores(value->shard->grid);
	case TTNN_VALUE_ND_SHARD:
		return check_cores(value->nd_shard->grid);
	case TTNN_VALUE_LIST:
	case TTNN_VALUE_OBJECT:
		return check_items(value);
	default:
		return TTNN_OK;
	}
}

tt_status tt_args_sound(const struct tt_args *args)
{
	uint64_t given = args->given;

	for (size_t i = 0; given; i++, given >>= 1)
		if (given & 1)
			TT_TRY(check(&args->values[i]));
	return TTNN_OK;
}
