#include "tensor/text.h"

#include <inttypes.h>

#include "tensor/core.h"
#include "tensor/shape.h"
#include "tensor/tile.h"

static const struct tt_text_style styles[] = {
	[TTNN_DIALECT_SEED] =
		{
			.shape = "ttnn.Shape",
			.core_open = "(x=",
			.core_mid = ",y=",
			.core_end = ")",
			.no = "false",
			.yes = "true",
			.row_tile = true,
		},
	[TTNN_DIALECT_TT_METAL] =
		{
			.shape = "Shape",
			.core_open = "",
			.core_mid = "-",
			.core_end = "",
			.no = "0",
			.yes = "1",
			.qualified = true,
			.memory_tail = true,
			.shard_shape_lost = true,
		},
};

const struct tt_text_style *tt_text_style(enum ttnn_dialect dialect)
{
	size_t count = sizeof(styles) / sizeof(styles[0]);

	return &styles[(size_t)dialect < count ? (size_t)dialect : TTNN_DIALECT_SEED];
}

void tt_text_list(struct tt_str *str, const char *name, const struct ttnn_shape *values)
{
	tt_str_adds(str, name);
	tt_str_addc(str, '(');
	tt_shape_list(str, values);
	tt_str_addc(str, ')');
}

void tt_text_shape(struct tt_str *str, const struct ttnn_shape *shape, enum ttnn_dialect dialect)
{
	tt_text_list(str, tt_text_style(dialect)->shape, shape);
}

void tt_text_enum(struct tt_str *str, const struct tt_enum *type, int64_t value,
		  const char *separator)
{
	const char *name = tt_enum_name(type, value);

	tt_str_adds(str, type->name);
	tt_str_adds(str, separator);
	tt_str_adds(str, name ? name : "Invalid");
}

void tt_text_member(struct tt_str *str, const struct tt_enum *type, int64_t value,
		    enum ttnn_dialect dialect)
{
	const char *name = tt_enum_name(type, value);

	if (tt_text_style(dialect)->qualified)
		tt_text_enum(str, type, value, "::");
	else if (name && type == &tt_enum_dtype)
		tt_str_adds(str, ttnn_dtype_name((enum ttnn_dtype)value, dialect));
	else
		tt_str_adds(str, name ? name : "Invalid");
}

/* ---- cores ---------------------------------------------------------------------------------- */

void tt_text_core(struct tt_str *str, struct ttnn_core core, enum ttnn_dialect dialect)
{
	const struct tt_text_style *style = tt_text_style(dialect);

	tt_str_adds(str, style->core_open);
	tt_str_addu(str, core.x);
	tt_str_adds(str, style->core_mid);
	tt_str_addu(str, core.y);
	tt_str_adds(str, style->core_end);
}

void tt_text_core_range(struct tt_str *str, const struct ttnn_core_range *range,
			enum ttnn_dialect dialect)
{
	tt_str_addc(str, '[');
	tt_text_core(str, range->start, dialect);
	tt_str_adds(str, " - ");
	tt_text_core(str, range->end, dialect);
	tt_str_addc(str, ']');
}

void tt_text_core_set(struct tt_str *str, const ttnn_core_set *set, enum ttnn_dialect dialect)
{
	const struct ttnn_core_range *ranges;
	size_t count;

	ranges = ttnn_core_set_ranges(set, &count);
	tt_str_addc(str, '{');
	for (size_t i = 0; i < count; i++) {
		if (i > 0)
			tt_str_adds(str, ", ");
		tt_text_core_range(str, &ranges[i], dialect);
	}
	tt_str_addc(str, '}');
}

void tt_text_core_grid(struct tt_str *str, uint32_t width, uint32_t height)
{
	tt_str_addf(str, "ttnn.CoreGrid(x=%" PRIu32 ", y=%" PRIu32 ")", width, height);
}

/* A grid inside a shard spec; legacy specs leave the last brace of each range away. */
static void add_grid(struct tt_str *str, const ttnn_core_set *set, const char *end)
{
	const struct ttnn_core_range *ranges;
	size_t count;

	ranges = ttnn_core_set_ranges(set, &count);
	tt_str_addc(str, '[');
	for (size_t i = 0; i < count; i++)
		tt_str_addf(str,
			    "%s{\"start\":{\"x\":%" PRIu32 ",\"y\":%" PRIu32
			    "},\"end\":{\"x\":%" PRIu32 ",\"y\":%" PRIu32 "%s",
			    i ? ", " : "", ranges[i].start.x, ranges[i].start.y, ranges[i].end.x,
			    ranges[i].end.y, end);
	tt_str_addc(str, ']');
}

/* ---- tiles, memory, specs -------------------------------------------------------------------- */

void tt_text_tile(struct tt_str *str, const struct ttnn_tile *tile)
{
	struct tt_faces faces = tt_tile_faces(tile);

	tt_str_addf(str,
		    "Tile(tile_shape={%" PRIu32 ", %" PRIu32 "},face_shape={%" PRIu32 ", %" PRIu32
		    "},num_faces=%" PRIu32 ")",
		    tile->height, tile->width, faces.height, faces.width, faces.count);
}

void tt_text_tile_repr(struct tt_str *str, const struct ttnn_tile *tile)
{
	tt_str_addf(str, "Tile with shape: [%" PRIu32 ", %" PRIu32 "]", tile->height, tile->width);
}

void tt_text_shard_spec(struct tt_str *str, const struct ttnn_shard_spec *spec)
{
	tt_str_adds(str, "ShardSpec{grid=");
	add_grid(str, spec->grid, "}");
	tt_str_addf(str, ", shape=[%" PRIu32 ", %" PRIu32 "], orientation=", spec->height,
		    spec->width);
	tt_text_enum(str, &tt_enum_orientation, spec->orientation, "::");
	tt_str_addc(str, '}');
}

void tt_text_nd_shard_spec(struct tt_str *str, const struct ttnn_nd_shard_spec *spec)
{
	tt_str_adds(str, "{\"shard_shape\":");
	tt_shape_list(str, &spec->shape);
	tt_str_adds(str, ",\"grid\":");
	add_grid(str, spec->grid, "}}");
	tt_str_adds(str, ",\"orientation\":\"");
	tt_text_enum(str, &tt_enum_orientation, spec->orientation, "::");
	tt_str_adds(str, "\",\"shard_distribution_strategy\":\"");
	tt_text_enum(str, &tt_enum_shard_strategy, spec->strategy, "::");
	tt_str_adds(str, "\"}");
}

void tt_text_memory_config(struct tt_str *str, const struct ttnn_memory_config *config,
			   enum ttnn_dialect dialect)
{
	tt_str_adds(str, "MemoryConfig(memory_layout=");
	tt_text_enum(str, &tt_enum_memory_layout, config->layout, "::");
	tt_str_adds(str, ",buffer_type=");
	tt_text_enum(str, &tt_enum_buffer_type, config->buffer, "::");
	tt_str_adds(str, ",shard_spec=");
	if (config->has_shard)
		tt_text_shard_spec(str, &config->shard);
	else
		tt_str_adds(str, "std::nullopt");
	tt_str_adds(str, ",nd_shard_spec=");
	if (config->has_nd_shard)
		tt_text_nd_shard_spec(str, &config->nd_shard);
	else
		tt_str_adds(str, "std::nullopt");
	tt_str_addf(str, ",created_with_nd_shard_spec=%d", config->created_with_nd_shard);
	/* A dialect without them says them all the same where they matter: a text loses nothing. */
	if (tt_text_style(dialect)->memory_tail || config->per_core_allocation ||
	    config->range_lockstep_allocation)
		tt_str_addf(str, ",per_core_allocation=%d,range_lockstep_allocation=%d",
			    config->per_core_allocation, config->range_lockstep_allocation);
	tt_str_addc(str, ')');
}

static void add_page_config(struct tt_str *str, const struct ttnn_tensor_spec *spec,
			    enum ttnn_dialect dialect)
{
	bool tiled = spec->layout == TTNN_TILE;

	tt_str_adds(str, tiled ? "TilePageConfig(" : "RowMajorPageConfig(");
	if (tiled || tt_text_style(dialect)->row_tile) {
		tt_str_adds(str, "tile=");
		tt_text_tile(str, &spec->tile);
	}
	tt_str_addc(str, ')');
}

void tt_text_tensor_spec(struct tt_str *str, const struct ttnn_tensor_spec *spec,
			 enum ttnn_dialect dialect)
{
	tt_str_adds(str, "TensorSpec(logical_shape=");
	tt_text_shape(str, &spec->shape, dialect);
	tt_str_adds(str, ",tensor_layout=TensorLayout(dtype=");
	tt_text_enum(str, &tt_enum_dtype, spec->dtype, "::");
	tt_str_adds(str, ",page_config=PageConfig(config=");
	add_page_config(str, spec, dialect);
	tt_str_adds(str, "),memory_config=");
	tt_text_memory_config(str, &spec->memory, dialect);
	tt_str_adds(str, ",alignment=");
	tt_text_list(str, "Alignment", &spec->alignment);
	tt_str_adds(str, "))");
}

/* ---- for users ------------------------------------------------------------------------------- */

enum ttnn_status ttnn_shape_text(char **out, const struct ttnn_shape *shape,
				 enum ttnn_dialect dialect)
{
	struct tt_str str = {0};

	TT_TRY(tt_shape_check(shape));
	tt_text_shape(&str, shape, dialect);
	return tt_str_take(out, &str);
}

enum ttnn_status ttnn_core_set_text(char **out, const ttnn_core_set *set, enum ttnn_dialect dialect)
{
	struct tt_str str = {0};

	tt_text_core_set(&str, set, dialect);
	return tt_str_take(out, &str);
}

enum ttnn_status ttnn_memory_config_text(char **out, const struct ttnn_memory_config *config,
					 enum ttnn_dialect dialect)
{
	struct tt_str str = {0};

	if (config->has_nd_shard)
		TT_TRY(tt_shape_check(&config->nd_shard.shape));
	tt_text_memory_config(&str, config, dialect);
	return tt_str_take(out, &str);
}

enum ttnn_status ttnn_tensor_spec_text(char **out, const struct ttnn_tensor_spec *spec,
				       enum ttnn_dialect dialect)
{
	struct tt_str str = {0};

	TT_TRY(tt_shape_check(&spec->shape));
	TT_TRY(tt_shape_check(&spec->alignment));
	if (spec->memory.has_nd_shard)
		TT_TRY(tt_shape_check(&spec->memory.nd_shard.shape));
	tt_text_tensor_spec(&str, spec, dialect);
	return tt_str_take(out, &str);
}
