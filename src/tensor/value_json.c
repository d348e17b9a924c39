#include "tensor/value_json.h"

#include "base/mem.h"
#include "base/vec.h"
#include "tensor/enums.h"
#include "tensor/read.h"
#include "tensor/text.h"

/* ---- writing ------------------------------------------------------------------------------------ */

/* What upstream's serializer says in place of an ND shard's shape. */
static const char lost_shape[] = "ttsl::json::to_json_t: Unsupported type span<const unsigned int>";

static void key_uint(struct tt_jsonw *w, const char *key, uint64_t value)
{
	tt_jsonw_key(w, key);
	tt_jsonw_uint(w, value);
}

static void key_bool(struct tt_jsonw *w, const char *key, bool value)
{
	tt_jsonw_key(w, key);
	tt_jsonw_bool(w, value);
}

void tt_json_write_core(struct tt_jsonw *w, struct ttnn_core core)
{
	tt_jsonw_object(w);
	key_uint(w, "x", core.x);
	key_uint(w, "y", core.y);
	tt_jsonw_end(w);
}

void tt_json_write_core_range(struct tt_jsonw *w, const struct ttnn_core_range *range)
{
	tt_jsonw_object(w);
	tt_jsonw_key(w, "end");
	tt_json_write_core(w, range->end);
	tt_jsonw_key(w, "start");
	tt_json_write_core(w, range->start);
	tt_jsonw_end(w);
}

void tt_json_write_core_set(struct tt_jsonw *w, const ttnn_core_set *set)
{
	const struct ttnn_core_range *ranges;
	size_t count;

	ranges = ttnn_core_set_ranges(set, &count);
	tt_jsonw_array(w);
	for (size_t i = 0; i < count; i++)
		tt_json_write_core_range(w, &ranges[i]);
	tt_jsonw_end(w);
}

void tt_json_write_shape(struct tt_jsonw *w, const struct ttnn_shape *shape)
{
	tt_jsonw_array(w);
	for (uint32_t i = 0; i < shape->rank; i++)
		tt_jsonw_uint(w, shape->dim[i]);
	tt_jsonw_end(w);
}

void tt_json_write_shard_spec(struct tt_jsonw *w, const struct ttnn_shard_spec *spec)
{
	tt_jsonw_object(w);
	tt_jsonw_key(w, "grid");
	tt_json_write_core_set(w, spec->grid);
	key_uint(w, "orientation", spec->orientation);
	tt_jsonw_key(w, "shape");
	tt_jsonw_array(w);
	tt_jsonw_uint(w, spec->height);
	tt_jsonw_uint(w, spec->width);
	tt_jsonw_end(w);
	tt_jsonw_end(w);
}

void tt_json_write_nd_shard_spec(struct tt_jsonw *w, const struct ttnn_nd_shard_spec *spec,
				 enum ttnn_dialect dialect)
{
	tt_jsonw_object(w);
	tt_jsonw_key(w, "grid");
	tt_json_write_core_set(w, spec->grid);
	key_uint(w, "orientation", spec->orientation);
	key_uint(w, "shard_distribution_strategy", spec->strategy);
	tt_jsonw_key(w, "shard_shape");
	if (tt_text_style(dialect)->shard_shape_lost)
		tt_jsonw_string(w, lost_shape);
	else
		tt_json_write_shape(w, &spec->shape);
	tt_jsonw_end(w);
}

void tt_json_write_memory_config(struct tt_jsonw *w, const struct ttnn_memory_config *config,
				 enum ttnn_dialect dialect)
{
	tt_jsonw_object(w);
	key_uint(w, "buffer_type", config->buffer);
	key_bool(w, "created_with_nd_shard_spec", config->created_with_nd_shard);
	key_uint(w, "memory_layout", config->layout);
	if (config->created_with_nd_shard && config->has_nd_shard) {
		tt_jsonw_key(w, "nd_shard_spec");
		tt_json_write_nd_shard_spec(w, &config->nd_shard, dialect);
	}
	key_bool(w, "per_core_allocation", config->per_core_allocation);
	if (config->range_lockstep_allocation)
		key_bool(w, "range_lockstep_allocation", true);
	if (!config->created_with_nd_shard && config->has_shard) {
		tt_jsonw_key(w, "shard_spec");
		tt_json_write_shard_spec(w, &config->shard);
	}
	tt_jsonw_end(w);
}

/* ---- reading ------------------------------------------------------------------------------------ */

static tt_status fail(const char *what, const struct tt_json *value)
{
	return tt_fail(TTNN_FORMAT, "expected %s, not %s", what, tt_json_kind_name(value));
}

static bool get_text(struct tt_span *out, const struct tt_json *value)
{
	out->text = tt_json_string(value, &out->length);
	return out->text != NULL;
}

static bool is_none(const struct tt_json *value)
{
	struct tt_span text;

	return tt_json_kind(value) <= TT_JSON_NULL ||
	       (get_text(&text, value) && tt_read_is_none(text));
}

static bool get_u32(uint32_t *out, const struct tt_json *value)
{
	uint64_t number;

	if (!tt_json_uint(&number, value) || number > UINT32_MAX)
		return false;
	*out = (uint32_t)number;
	return true;
}

/* A flag as true, 1 or absent. */
static bool get_flag(const struct tt_json *value)
{
	bool flag = false;
	int64_t number = 0;

	return (tt_json_bool(&flag, value) && flag) || (tt_json_int(&number, value) && number != 0);
}

/* A member by number or by name; an absent one leaves *out alone. */
static tt_status get_enum(int64_t *out, const struct tt_enum *type, const struct tt_json *value)
{
	struct tt_span text;
	int64_t number;

	if (tt_json_kind(value) == TT_JSON_ABSENT)
		return TTNN_OK;
	if (get_text(&text, value) && tt_enum_parse(out, type, text.text, text.length))
		return TTNN_OK;
	if (tt_json_int(&number, value) && tt_enum_name(type, number)) {
		*out = number;
		return TTNN_OK;
	}
	return tt_fail(TTNN_FORMAT, "expected a member of %s, not %s", type->name,
		       text.text ? text.text : tt_json_kind_name(value));
}

tt_status tt_json_read_shape(struct ttnn_shape *out, const struct tt_json *value)
{
	struct tt_json_iter it = tt_json_iter(value);
	struct ttnn_shape shape = {0};
	struct tt_span text;

	if (get_text(&text, value))
		return tt_read_shape(out, text);
	if (tt_json_kind(value) != TT_JSON_ARRAY)
		return fail("a shape", value);
	while (tt_json_next(&it)) {
		if (shape.rank == TTNN_MAX_RANK)
			return tt_fail(TTNN_FORMAT, "expected a shape of at most %d dimensions",
				       TTNN_MAX_RANK);
		if (!get_u32(&shape.dim[shape.rank++], it.value))
			return fail("an extent", it.value);
	}
	*out = shape;
	return TTNN_OK;
}

static bool get_core(struct ttnn_core *out, const struct tt_json *value)
{
	return get_u32(&out->x, tt_json_get(value, "x")) &&
	       get_u32(&out->y, tt_json_get(value, "y"));
}

/* {"start": core, "end": core} or [core, core]. */
static bool get_range(struct ttnn_core_range *out, const struct tt_json *value)
{
	bool pair = tt_json_kind(value) == TT_JSON_ARRAY && tt_json_count(value) == 2;

	return get_core(&out->start, pair ? tt_json_at(value, 0) : tt_json_get(value, "start")) &&
	       get_core(&out->end, pair ? tt_json_at(value, 1) : tt_json_get(value, "end"));
}

tt_status tt_json_read_core_set(const ttnn_core_set **out, const struct tt_json *value)
{
	TT_VEC(struct ttnn_core_range) ranges = {0};
	struct tt_json_iter it = tt_json_iter(value);
	struct ttnn_core_range single;
	tt_status status = TTNN_OK;
	struct tt_span text;

	if (get_text(&text, value))
		return tt_read_core_set(out, text);
	if (tt_json_kind(value) != TT_JSON_ARRAY)
		return fail("a core range set", value);
	if (get_range(&single, value)) /* older files write one range without a list around it */
		return ttnn_core_set_make(out, &single, 1);
	while (status == TTNN_OK && tt_json_next(&it)) {
		struct ttnn_core_range *range = TT_VEC_PUSH(&ranges);

		if (!range)
			status = tt_fail_nomem();
		else if (!get_range(range, it.value))
			status = fail("a range of cores", it.value);
	}
	if (status == TTNN_OK)
		status = ttnn_core_set_make(out, ranges.data, ranges.count);
	TT_VEC_DEINIT(&ranges);
	return status;
}

tt_status tt_json_read_shard_spec(struct ttnn_shard_spec *out, const struct tt_json *value)
{
	struct ttnn_shard_spec spec = {0};
	struct ttnn_shape shape = {0};
	int64_t orientation = TTNN_ORIENT_ROW_MAJOR;
	struct tt_span text;

	if (get_text(&text, value))
		return tt_read_shard_spec(out, text);
	if (tt_json_kind(value) != TT_JSON_OBJECT)
		return fail("a shard spec", value);
	TT_TRY(tt_json_read_core_set(&spec.grid, tt_json_get(value, "grid")));
	TT_TRY(tt_json_read_shape(&shape, tt_json_get(value, "shape")));
	TT_TRY(get_enum(&orientation, &tt_enum_orientation, tt_json_get(value, "orientation")));
	if (shape.rank != 2)
		return tt_fail(TTNN_FORMAT, "expected a shard of two dimensions, not %u",
			       shape.rank);
	spec.height = shape.dim[0];
	spec.width = shape.dim[1];
	spec.orientation = (enum ttnn_orientation)orientation;
	*out = spec;
	return TTNN_OK;
}

tt_status tt_json_read_nd_shard_spec(struct ttnn_nd_shard_spec *out, const struct tt_json *value)
{
	struct ttnn_nd_shard_spec spec = {0};
	int64_t orientation = TTNN_ORIENT_ROW_MAJOR, strategy = TTNN_ROUND_ROBIN_1D;
	struct tt_span text;

	if (get_text(&text, value))
		return tt_read_nd_shard_spec(out, text);
	if (tt_json_kind(value) != TT_JSON_OBJECT)
		return fail("an ND shard spec", value);
	TT_TRY(tt_json_read_core_set(&spec.grid, tt_json_get(value, "grid")));
	TT_TRY(tt_json_read_shape(&spec.shape, tt_json_get(value, "shard_shape")));
	TT_TRY(get_enum(&orientation, &tt_enum_orientation, tt_json_get(value, "orientation")));
	TT_TRY(get_enum(&strategy, &tt_enum_shard_strategy,
			tt_json_get(value, "shard_distribution_strategy")));
	spec.orientation = (enum ttnn_orientation)orientation;
	spec.strategy = (enum ttnn_shard_strategy)strategy;
	*out = spec;
	return TTNN_OK;
}

tt_status tt_json_read_memory_config(struct ttnn_memory_config *out, const struct tt_json *value)
{
	const struct tt_json *shard = tt_json_get(value, "shard_spec");
	const struct tt_json *nd_shard = tt_json_get(value, "nd_shard_spec");
	struct ttnn_memory_config config = {0};
	int64_t layout = TTNN_INTERLEAVED, buffer = TTNN_DRAM;
	struct tt_span text;

	if (get_text(&text, value))
		return tt_read_memory_config(out, text);
	if (tt_json_kind(value) != TT_JSON_OBJECT)
		return fail("a memory config", value);
	TT_TRY(get_enum(&layout, &tt_enum_memory_layout, tt_json_get(value, "memory_layout")));
	TT_TRY(get_enum(&buffer, &tt_enum_buffer_type, tt_json_get(value, "buffer_type")));
	config.layout = (enum ttnn_memory_layout)layout;
	config.buffer = (enum ttnn_buffer_type)buffer;
	config.has_shard = !is_none(shard);
	config.has_nd_shard = !is_none(nd_shard);
	config.created_with_nd_shard = get_flag(tt_json_get(value, "created_with_nd_shard_spec"));
	config.per_core_allocation = get_flag(tt_json_get(value, "per_core_allocation"));
	config.range_lockstep_allocation =
		get_flag(tt_json_get(value, "range_lockstep_allocation"));
	if (config.has_shard)
		TT_TRY(tt_json_read_shard_spec(&config.shard, shard));
	if (config.has_nd_shard)
		TT_TRY(tt_json_read_nd_shard_spec(&config.nd_shard, nd_shard));
	*out = config;
	return TTNN_OK;
}
