#include "store/element.h"

#include <string.h>

#include "base/vec.h"
#include "store/order.h"
#include "tensor/text.h"
#include "tensor/tile.h"

/* ---- tables ---------------------------------------------------------------------------------------- */

/* Enumerations that print without their name. */
static const char *const bare_enums[] = {"TileReshapeMapMode", "EmbeddingsType"};

/* Objects that were called otherwise, and fields that were, or that are newer and stay away at their default. */
static const struct {
	const char *object, *now, *then;
} object_names[] = {
	{"ComputeKernelConfig", NULL, "WormholeComputeKernelConfig"},
	{"SDPAProgramConfig", "compute_with_storage_grid_size", "compute_grid"},
};

static const struct {
	const char *object, *field, *usual; /* its text */
} newer_fields[] = {
	{NULL, "allowed_worker_cores", "\"std::nullopt\""},
	{NULL, "num_workers_per_dram_bank", "1"},
	{NULL, "stream_in1", "0"},
	{"SDPAProgramConfig", "sub_core_grids", "\"std::nullopt\""},
	{"SDPAProgramConfig", "exp_approx_mode", "\"std::nullopt\""},
	{"SDPAProgramConfig", "max_cores_per_head_batch", "16"},
	{"SDPAProgramConfig", "max_k_splits", "1"},
	{"SDPAProgramConfig", "matmul_math_fidelity", "\"std::nullopt\""},
	{"SDPAProgramConfig", "segmented_accumulation", "0"},
};

/* How lists of extents were printed: as a Shape, or as the list that they are. Others as they come. */
static const struct {
	const char *op, *arg; /* op NULL: any */
	bool shape;
} extents[] = {
	{"ttnn.reshape", "shape", false},  {NULL, "shape", true},
	{NULL, "logical_shape", true},     {NULL, "padded_shape", true},
	{NULL, "output_tensor_end", true}, {NULL, "output_tensor_shape", true},
};

/* ---- texts ------------------------------------------------------------------------------------------- */

static void put_text(struct tt_jsonw *w, struct tt_str *text)
{
	if (tt_str_status(text) != TTNN_OK && w->status == TTNN_OK)
		w->status = TTNN_NOMEM;
	tt_jsonw_stringn(w, tt_str_text(text), text->length);
	tt_str_deinit(text);
}

static void put_member(struct tt_jsonw *w, const struct tt_enum *type, int64_t member)
{
	struct tt_str text = {0};
	const char *name = tt_enum_name(type, member);

	for (size_t i = 0; i < TT_COUNT(bare_enums); i++)
		if (name && strcmp(bare_enums[i], type->name) == 0) {
			tt_jsonw_string(w, name);
			return;
		}
	tt_text_enum(&text, type, member, "::");
	put_text(w, &text);
}

/* Whether a value is a number, or a list of such: it is printed as a text. */
static bool is_plain(const struct ttnn_value *value)
{
	bool plain = value->kind == TTNN_VALUE_BOOL || value->kind == TTNN_VALUE_INT ||
		     value->kind == TTNN_VALUE_REAL || value->kind == TTNN_VALUE_LIST ||
		     value->kind == TTNN_VALUE_SHAPE;

	for (uint32_t i = 0; plain && value->kind == TTNN_VALUE_LIST && i < value->count; i++)
		plain = is_plain(&value->items[i]);
	return plain;
}

static void add_plain(struct tt_str *out, const struct ttnn_value *value)
{
	if (value->kind == TTNN_VALUE_BOOL)
		tt_str_addc(out, value->boolean ? '1' : '0');
	else if (value->kind == TTNN_VALUE_INT)
		tt_str_addi(out, value->integer);
	else if (value->kind == TTNN_VALUE_REAL)
		tt_str_addf(out, "%g", value->real); /* streams know six digits */
	if (value->kind != TTNN_VALUE_LIST && value->kind != TTNN_VALUE_SHAPE)
		return;
	tt_str_addc(out, '[');
	for (uint32_t i = 0; value->kind == TTNN_VALUE_LIST && i < value->count; i++) {
		tt_str_adds(out, i ? ", " : "");
		add_plain(out, &value->items[i]);
	}
	for (uint32_t i = 0; value->kind == TTNN_VALUE_SHAPE && i < value->shape->rank; i++) {
		tt_str_adds(out, i ? ", " : "");
		tt_str_addu(out, value->shape->dim[i]);
	}
	tt_str_addc(out, ']');
}

static void put_plain(struct tt_jsonw *w, const struct ttnn_value *value)
{
	struct tt_str text = {0};

	add_plain(&text, value);
	put_text(w, &text);
}

/* ---- cores, shards, memory --------------------------------------------------------------------------- */

static void put_numbers(struct tt_jsonw *w, const uint32_t *numbers, uint32_t count)
{
	tt_jsonw_array(w);
	for (uint32_t i = 0; i < count; i++)
		tt_jsonw_uint(w, numbers[i]);
	tt_jsonw_end(w);
}

static void put_core(struct tt_jsonw *w, struct ttnn_core core)
{
	tt_jsonw_object(w);
	tt_jsonw_key(w, "x");
	tt_jsonw_uint(w, core.x);
	tt_jsonw_key(w, "y");
	tt_jsonw_uint(w, core.y);
	tt_jsonw_end(w);
}

/* One range is [first, last]; several are a list of those; none is {}. */
static void put_grid(struct tt_jsonw *w, const ttnn_core_set *set)
{
	size_t count = 0;
	const struct ttnn_core_range *ranges = ttnn_core_set_ranges(set, &count);

	if (!count) {
		tt_jsonw_object(w);
		tt_jsonw_end(w);
		return;
	}
	if (count > 1)
		tt_jsonw_array(w);
	for (size_t i = 0; i < count; i++) {
		tt_jsonw_array(w);
		put_core(w, ranges[i].start);
		put_core(w, ranges[i].end);
		tt_jsonw_end(w);
	}
	if (count > 1)
		tt_jsonw_end(w);
}

static void key_member(struct tt_jsonw *w, const char *key, const struct tt_enum *type,
		       int64_t member)
{
	tt_jsonw_key(w, key);
	put_member(w, type, member);
}

/* "[32, 64]", or in other brackets. */
static void key_pair(struct tt_jsonw *w, const char *key, const char *brackets, uint32_t a,
		     uint32_t b)
{
	struct tt_str text = {0};

	tt_str_addc(&text, brackets[0]);
	tt_str_addu(&text, a);
	tt_str_adds(&text, ", ");
	tt_str_addu(&text, b);
	tt_str_addc(&text, brackets[1]);
	tt_jsonw_key(w, key);
	put_text(w, &text);
}

static void put_shard(struct tt_jsonw *w, const struct ttnn_shard_spec *spec)
{
	tt_jsonw_object(w);
	tt_jsonw_key(w, "grid");
	put_grid(w, spec->grid);
	key_pair(w, "shape", "[]", spec->height, spec->width);
	key_member(w, "orientation", &tt_enum_orientation, spec->orientation);
	tt_jsonw_end(w);
}

static void put_nd_shard(struct tt_jsonw *w, const struct ttnn_nd_shard_spec *spec)
{
	tt_jsonw_object(w);
	tt_jsonw_key(w, "shard_shape");
	put_numbers(w, spec->shape.dim, spec->shape.rank);
	tt_jsonw_key(w, "grid");
	put_grid(w, spec->grid);
	key_member(w, "orientation", &tt_enum_orientation, spec->orientation);
	key_member(w, "shard_distribution_strategy", &tt_enum_shard_strategy, spec->strategy);
	tt_jsonw_end(w);
}

static void put_memory(struct tt_jsonw *w, const struct ttnn_memory_config *config)
{
	tt_jsonw_object(w);
	key_member(w, "memory_layout", &tt_enum_memory_layout, config->layout);
	key_member(w, "buffer_type", &tt_enum_buffer_type, config->buffer);
	tt_jsonw_key(w, "shard_spec");
	if (config->has_shard)
		put_shard(w, &config->shard);
	else
		tt_jsonw_string(w, "std::nullopt");
	tt_jsonw_key(w, "nd_shard_spec");
	if (config->has_nd_shard)
		put_nd_shard(w, &config->nd_shard);
	else
		tt_jsonw_string(w, "std::nullopt");
	tt_jsonw_key_int(w, "created_with_nd_shard_spec", config->created_with_nd_shard);
	tt_jsonw_end(w);
}

/* ---- tensors ----------------------------------------------------------------------------------------- */

static void put_tile(struct tt_jsonw *w, const struct ttnn_tile *tile)
{
	struct tt_faces faces = tt_tile_faces(tile);

	tt_jsonw_object(w);
	key_pair(w, "tile_shape", "{}", tile->height, tile->width);
	key_pair(w, "face_shape", "{}", faces.height, faces.width);
	tt_jsonw_key_int(w, "num_faces", faces.count);
	tt_jsonw_end(w);
}

/* A page configuration says a tile, whatever the layout. */
static void put_spec(struct tt_jsonw *w, const struct ttnn_tensor_spec *spec)
{
	tt_jsonw_object(w);
	tt_jsonw_key(w, "logical_shape");
	put_numbers(w, spec->shape.dim, spec->shape.rank);
	tt_jsonw_key(w, "tensor_layout");
	tt_jsonw_object(w);
	key_member(w, "dtype", &tt_enum_dtype, spec->dtype);
	tt_jsonw_key(w, "page_config");
	tt_jsonw_object(w);
	tt_jsonw_key(w, "config");
	tt_jsonw_object(w);
	tt_jsonw_key(w, "tile");
	put_tile(w, &spec->tile);
	tt_jsonw_end(w);
	tt_jsonw_end(w);
	tt_jsonw_key(w, "memory_config");
	put_memory(w, &spec->memory);
	tt_jsonw_key(w, "alignment");
	put_numbers(w, spec->alignment.dim, spec->alignment.rank);
	tt_jsonw_end(w);
	tt_jsonw_end(w);
}

/* Lists of tensors had neither storage type nor layout. */
static void put_tensor(struct tt_jsonw *w, const struct tt_event_tensor *tensor, bool listed)
{
	tt_jsonw_object(w);
	tt_jsonw_key(w, "storage");
	tt_jsonw_object(w);
	tt_jsonw_end(w);
	tt_jsonw_key(w, "tensor_spec");
	put_spec(w, tensor->spec);
	if (!listed) {
		tt_jsonw_key_string(w, "storage_type",
				    tensor->on_device ? "StorageType::DEVICE"
						      : "StorageType::HOST");
		key_member(w, "layout", &tt_enum_layout, tensor->spec->layout);
	}
	tt_jsonw_end(w);
}

/* ---- objects ------------------------------------------------------------------------------------------ */

static const char *name_then(const char *object, const char *field)
{
	for (size_t i = 0; i < TT_COUNT(object_names); i++)
		if (strcmp(object_names[i].object, object) == 0 &&
		    (field ? object_names[i].now && strcmp(object_names[i].now, field) == 0
			   : !object_names[i].now))
			return object_names[i].then;
	return field ? field : object;
}

static const char *usual_text(const char *object, const char *field)
{
	for (size_t i = 0; i < TT_COUNT(newer_fields); i++)
		if ((!newer_fields[i].object || strcmp(newer_fields[i].object, object) == 0) &&
		    strcmp(newer_fields[i].field, field) == 0)
			return newer_fields[i].usual;
	return NULL;
}

static void put_fields(struct tt_jsonw *w, const struct ttnn_value *value);

/* Inside an object numbers are numbers. */
static void put_field(struct tt_jsonw *w, const struct tt_field *field,
		      const struct ttnn_value *value)
{
	struct tt_str text = {0};

	switch ((enum ttnn_value_kind)value->kind) {
	case TTNN_VALUE_ABSENT:
	case TTNN_VALUE_NONE:
		tt_jsonw_string(w, "std::nullopt");
		break;
	case TTNN_VALUE_BOOL:
		tt_jsonw_int(w, value->boolean);
		break;
	case TTNN_VALUE_INT:
		if (strcmp(field->name, "throttle_level") != 0) {
			tt_jsonw_int(w, value->integer);
			break;
		}
		tt_str_adds(&text, "ThrottleLevel::");
		if (value->integer)
			tt_str_addf(&text, "LEVEL_%lld", (long long)value->integer);
		else
			tt_str_adds(&text, "NO_THROTTLE");
		put_text(w, &text);
		break;
	case TTNN_VALUE_REAL:
		tt_jsonw_real(w, value->real);
		break;
	case TTNN_VALUE_ENUM:
		if (field->text == TT_TEXT_MEMBER || value->enumeration == &tt_enum_math_fidelity)
			tt_jsonw_string(w, tt_enum_name(value->enumeration, value->integer));
		else
			put_member(w, value->enumeration, value->integer);
		break;
	case TTNN_VALUE_OBJECT:
		put_fields(w, value);
		break;
	case TTNN_VALUE_LIST:
		tt_jsonw_array(w);
		for (uint32_t i = 0; i < value->count; i++)
			put_field(w, field, &value->items[i]);
		tt_jsonw_end(w);
		break;
	case TTNN_VALUE_SHAPE:
		put_numbers(w, value->shape->dim, value->shape->rank);
		break;
	case TTNN_VALUE_MEMORY:
		put_memory(w, value->memory);
		break;
	default:
		tt_element_value(w, value);
	}
}

/* The text of a field, to be compared. */
static bool is_usual(const struct tt_field *field, const struct ttnn_value *value,
		     const char *usual)
{
	struct tt_str text = {0};
	struct tt_jsonw w;
	bool same;

	if (!usual)
		return false;
	tt_jsonw_init_str(&w, &text, (struct tt_jsonw_style){0});
	put_field(&w, field, value);
	same = tt_jsonw_finish(&w) == TTNN_OK && strcmp(tt_str_text(&text), usual) == 0;
	tt_str_deinit(&text);
	return same;
}

static void put_fields(struct tt_jsonw *w, const struct ttnn_value *value)
{
	const struct tt_schema *schema = value->schema;

	tt_jsonw_object(w);
	for (uint32_t i = 0; i < value->count; i++) {
		const struct tt_field *field = &schema->fields[i];
		const struct ttnn_value *item = &value->items[i];
		const char *then = name_then(schema->name, field->name);

		if (is_usual(field, item, usual_text(schema->name, field->name)))
			continue;
		tt_jsonw_key(w, then);
		/* A grid under its old name is a list. */
		if (then != field->name && item->kind == TTNN_VALUE_CORE)
			put_numbers(w, (const uint32_t[]){item->core.x, item->core.y}, 2);
		else
			put_field(w, field, item);
	}
	tt_jsonw_end(w);
}

/* {name: VALUE}, the value to be written by the caller. */
static void open_named(struct tt_jsonw *w, const char *name)
{
	tt_jsonw_object(w);
	tt_jsonw_key(w, name);
}

static void put_list(struct tt_jsonw *w, const struct ttnn_value *value)
{
	struct tt_event_tensor tensor;

	tt_jsonw_array(w);
	for (uint32_t i = 0; i < value->count; i++)
		if (tt_value_seen_tensor(&tensor, &value->items[i]))
			put_tensor(w, &tensor, true);
		else
			tt_element_value(w, &value->items[i]);
	tt_jsonw_end(w);
}

static void put_dict(struct tt_jsonw *w, const struct ttnn_value *value)
{
	tt_jsonw_object(w);
	for (uint32_t i = 0; i + 1 < value->count; i += 2) {
		if (value->items[i].kind != TTNN_VALUE_STRING)
			continue;
		tt_jsonw_keyn(w, value->items[i].text, value->items[i].count);
		tt_element_value(w, &value->items[i + 1]);
	}
	tt_jsonw_end(w);
}

static void put_unsupported(struct tt_jsonw *w, const char *type)
{
	struct tt_str text = {0};

	tt_str_addf(&text, "[ unsupported type , std::reference_wrapper<%s>]", type);
	put_text(w, &text);
}

/* What stands in an object of its name. */
static bool put_named(struct tt_jsonw *w, const struct ttnn_value *value)
{
	switch ((enum ttnn_value_kind)value->kind) {
	case TTNN_VALUE_SHAPE:
		open_named(w, "Shape");
		put_numbers(w, value->shape->dim, value->shape->rank);
		break;
	case TTNN_VALUE_MEMORY:
		open_named(w, "MemoryConfig");
		put_memory(w, value->memory);
		break;
	case TTNN_VALUE_TILE:
		open_named(w, "Tile");
		put_tile(w, value->tile);
		break;
	case TTNN_VALUE_SHARD:
		open_named(w, "ShardSpec");
		put_shard(w, value->shard);
		break;
	case TTNN_VALUE_ND_SHARD:
		open_named(w, "NdShardSpec");
		put_nd_shard(w, value->nd_shard);
		break;
	case TTNN_VALUE_OBJECT:
		open_named(w, name_then(value->schema->name, NULL));
		put_fields(w, value);
		break;
	default:
		return false;
	}
	tt_jsonw_end(w);
	return true;
}

void tt_element_value(struct tt_jsonw *w, const struct ttnn_value *value)
{
	struct tt_event_tensor tensor;
	uint32_t device;

	if (!tt_value_given(value))
		tt_jsonw_string(w, "nullopt");
	else if (value->kind != TTNN_VALUE_SHAPE && is_plain(value))
		put_plain(w, value);
	else if (tt_value_seen_tensor(&tensor, value)) {
		open_named(w, "Tensor");
		put_tensor(w, &tensor, false);
		tt_jsonw_end(w);
	} else if (tt_value_seen_device(&device, value))
		put_unsupported(w, "tt::tt_metal::distributed::MeshDevice*");
	else if (value->kind == TTNN_VALUE_STRING)
		tt_jsonw_stringn(w, value->text, value->count);
	else if (value->kind == TTNN_VALUE_ENUM)
		put_member(w, value->enumeration, value->integer);
	else if (value->kind == TTNN_VALUE_CORE)
		put_core(w, value->core);
	else if (value->kind == TTNN_VALUE_CORE_SET)
		put_grid(w, value->core_set);
	else if (value->kind == TTNN_VALUE_LIST)
		put_list(w, value);
	else if (value->kind == TTNN_VALUE_DICT)
		put_dict(w, value);
	else if (value->kind == TTNN_VALUE_OPAQUE)
		put_unsupported(w, value->text);
	else if (!put_named(w, value))
		tt_jsonw_string(w, "nullopt");
}

/* ---- arguments ----------------------------------------------------------------------------------------- */

static bool is_whole(const struct ttnn_value *list)
{
	uint32_t i = 0;

	while (i < list->count && list->items[i].kind == TTNN_VALUE_INT)
		i++;
	return i == list->count;
}

/* A list of extents, however it was given, as the release printed this argument. */
static bool put_extents(struct tt_jsonw *w, const char *op, const char *arg,
			const struct ttnn_value *value)
{
	for (size_t i = 0; i < TT_COUNT(extents); i++) {
		if ((extents[i].op && strcmp(extents[i].op, op) != 0) ||
		    strcmp(extents[i].arg, arg) != 0)
			continue;
		if (!is_plain(value) ||
		    (value->kind != TTNN_VALUE_SHAPE && value->kind != TTNN_VALUE_LIST))
			return false;
		if (!extents[i].shape) {
			put_plain(w, value);
			return true;
		}
		if (value->kind == TTNN_VALUE_SHAPE)
			return put_named(w, value);
		if (!is_whole(value))
			return false;
		open_named(w, "Shape");
		tt_jsonw_array(w);
		for (uint32_t k = 0; k < value->count; k++)
			tt_jsonw_int(w, value->items[k].integer);
		tt_jsonw_end(w);
		tt_jsonw_end(w);
		return true;
	}
	return false;
}

static void put_argument(struct tt_jsonw *w, const char *op, const char *key,
			 const struct tt_event_scope_begin *scope, size_t index)
{
	open_named(w, key);
	if (!put_extents(w, op, scope->schema->fields[index].name, &scope->args[index]))
		tt_element_value(w, &scope->args[index]);
	tt_jsonw_end(w);
}

static size_t find(const struct tt_schema *schema, const char *name, size_t length)
{
	size_t i = 0;

	while (i < schema->count && (strncmp(schema->fields[i].name, name, length) != 0 ||
				     schema->fields[i].name[length]))
		i++;
	return i;
}

/* Newer arguments: what says nothing is left out. */
static bool says_something(const struct ttnn_value *value)
{
	double number;

	if (tt_value_number(&number, value) && value->kind != TTNN_VALUE_ENUM)
		return value->kind != TTNN_VALUE_BOOL && number != 0;
	return tt_value_given(value) && !(value->kind == TTNN_VALUE_LIST && !value->count);
}

#define KEY 16

/* "arg12"; no operation has a thousand. */
static void name_place(char out[KEY], unsigned place)
{
	size_t length = 3;

	memcpy(out, "arg", 3);
	if (place >= 100)
		out[length++] = (char)('0' + place / 100 % 10);
	if (place >= 10)
		out[length++] = (char)('0' + place / 10 % 10);
	out[length++] = (char)('0' + place % 10);
	out[length] = '\0';
}

/* A word of the order: an argument, or the text of one that there is not. */
static size_t put_word(struct tt_jsonw *w, const char *op, unsigned position,
		       const struct tt_event_scope_begin *scope, struct tt_order_word word)
{
	size_t index = find(scope->schema, word.name, word.length);
	bool there = index < scope->schema->count && index < scope->arg_count;
	char key[KEY];

	name_place(key, position);
	if (there && (tt_value_given(&scope->args[index]) || !word.usual_length)) {
		put_argument(w, op, key, scope, index);
		return index;
	}
	open_named(w, key);
	if (word.usual_length)
		tt_jsonw_stringn(w, word.usual, word.usual_length);
	else
		tt_jsonw_string(w, "nullopt");
	tt_jsonw_end(w);
	return index;
}

static void put_ordered(struct tt_jsonw *w, const char *op, const char *names,
			const struct tt_event_scope_begin *scope)
{
	struct tt_order_word word;
	uint64_t put = 0;

	for (unsigned i = 0; tt_order_next(&word, &names); i++) {
		size_t index = put_word(w, op, i, scope, word);

		put |= index < 64 ? UINT64_C(1) << index : 0;
	}
	for (size_t i = 0; i < scope->arg_count - scope->left_out && i < 64; i++)
		if (!(put >> i & 1) && says_something(&scope->args[i]))
			put_argument(w, op, scope->schema->fields[i].name, scope, i);
}

void tt_element_args(struct tt_jsonw *w, const char *op, const struct tt_event_scope_begin *scope)
{
	const char *names = scope->schema ? tt_order_of(op, scope->schema) : NULL;
	char key[KEY];

	tt_jsonw_array(w);
	if (names)
		put_ordered(w, op, names, scope);
	for (size_t i = 0; !names && i < scope->arg_count; i++) {
		name_place(key, (unsigned)i);
		if (scope->schema) {
			put_argument(w, op, key, scope, i);
			continue;
		}
		open_named(w, key);
		tt_element_value(w, &scope->args[i]);
		tt_jsonw_end(w);
	}
	tt_jsonw_end(w);
}
