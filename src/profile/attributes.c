/* Attributes of operations in performance reports. */
#include "profile/attributes.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/vec.h"
#include "event/value_text.h"
#include "tensor/text.h"

/*
 * The keys that operations had in mid-2025, from reports of that time, separated by blanks. An operation that is not
 * here shows all it has. To add one: a row.
 */
static const struct {
	const char *op_code, *keys;
} seed_keys[] = {
	{"BinaryNgDeviceOperation",
	 "binary_op_type compute_kernel_config dtype input_dtype is_quant_op is_sfpu lhs_activations "
	 "memory_config post_activations rhs_activations scalar subtile_broadcast_type worker_grid"},
	{"UnaryDeviceOperation", "bfp8_pack_precise fp32_dest_acc_en op_chain output_dtype "
				 "output_memory_config preserve_fp32_precision"},
	{"TypecastDeviceOperation",
	 "bfp8_pack_precise fp32_dest_acc_en input_dtype output_dtype output_memory_config "
	 "preserve_fp32_precision sub_core_grids"},
	{"ConcatDeviceOperation", "dim groups output_mem_config"},
	{"CopyDeviceOperation", "output_dtype output_mem_config"},
	{"MoveDeviceOperation", "move_op_parallelization_strategy output_mem_config"},
	{"PermuteDeviceOperation", "dims output_mem_config pad_value"},
	{"SliceDeviceOperation", "output_mem_config slice_end slice_start step"},
	{"AccumulationDeviceOperation", "dim dtype flip op output_memory_config"},
	{"InterleavedToShardedDeviceOperation", "keep_l1_aligned output_dtype output_mem_config"},
	{"ShardedToInterleavedDeviceOperation", "output_dtype output_mem_config"},
};

/* Whether a blank-separated list has this word; NULL has all. */
static bool has_word(const char *list, const char *word)
{
	size_t length = strlen(word);

	if (!list)
		return true;
	for (const char *at = list; (at = strstr(at, word)); at += length)
		if ((at == list || at[-1] == ' ') && (!at[length] || at[length] == ' '))
			return true;
	return false;
}

static const char *keys_of(const char *op_code, enum ttnn_dialect dialect)
{
	for (size_t i = 0; dialect == TTNN_DIALECT_SEED && i < TT_COUNT(seed_keys); i++)
		if (strcmp(seed_keys[i].op_code, op_code) == 0)
			return seed_keys[i].keys;
	return NULL;
}

/*
 * A value by itself: what stands between the brackets of an object that has nothing else. Placeholders, which
 * other printers of upstream leave for what they cannot print ("<variant>"), are none of this one's.
 */
static void add_alone(struct tt_str *out, const struct tt_field *field,
		      const struct ttnn_value *value)
{
	struct tt_field alone = {
		.name = "", .text = field->text, .fixed = field->fixed, .words = true};
	struct tt_schema schema = {"", &alone, 1, false};
	struct ttnn_value object;
	struct tt_str text = {0};

	if (field->fixed && field->fixed[0] == '<')
		alone.text = TT_TEXT_VALUE;
	object = tt_value_object(&schema, value);
	tt_value_text(&text, &object);
	if (text.length > 2)
		tt_str_add(out, text.data + 1, text.length - 2);
	out->failed |= text.failed;
	tt_str_deinit(&text);
}

/* ---- values inside of values ------------------------------------------------------------------------------ */

/* How members of a struct are joined, and pairs of numbers written. To make another differ: a row. */
static const struct object_style {
	const char *schema; /* NULL: all others */
	const char *between;
	const char *open, *comma, *close; /* of lists of two */
} styles[] = {
	{"SlidingWindowConfig", ", ", "(", ",", ")"},
	{NULL, ",", "{", ", ", "}"},
};

static const struct object_style *style_of(const struct tt_schema *schema)
{
	const struct object_style *style = styles;

	while (style->schema && strcmp(style->schema, schema->name) != 0)
		style++;
	return style;
}

static void add_value(struct tt_str *out, const struct tt_field *field,
		      const struct ttnn_value *value, enum ttnn_dialect dialect);

static void add_items(struct tt_str *out, const struct ttnn_value *value,
		      const struct object_style *style, enum ttnn_dialect dialect)
{
	static const struct tt_field plain = {.name = ""};

	tt_str_adds(out, style->open);
	for (uint32_t i = 0; i < value->count; i++) {
		if (i)
			tt_str_adds(out, style->comma);
		add_value(out, &plain, &value->items[i], dialect);
	}
	tt_str_adds(out, style->close);
}

/* "Name(field=value,field=value)": names also where other printers of upstream go by position. */
static void add_object(struct tt_str *out, const struct ttnn_value *value,
		       enum ttnn_dialect dialect)
{
	const struct tt_schema *schema = value->schema;
	const struct object_style *style = style_of(schema);
	const char *before = "";

	tt_str_addf(out, "%s(", schema->name);
	for (size_t i = 0; i < schema->count; i++) {
		const struct tt_field *field = &schema->fields[i];
		const struct ttnn_value *item = &value->items[i];

		if (field->unprinted || (field->omit_empty && !item->count))
			continue;
		tt_str_addf(out, "%s%s=", before, field->name);
		before = style->between;
		if (item->kind == TTNN_VALUE_BOOL && !field->words)
			tt_str_addc(out, item->boolean ? '1' : '0');
		else if (item->kind == TTNN_VALUE_LIST && item->count == 2 && style->schema)
			add_items(out, item, style, dialect);
		else
			add_value(out, field, item, dialect);
	}
	tt_str_addc(out, ')');
}

/* A sharded place as it was written in mid-2025. */
static void add_seed_shards(struct tt_str *out, const struct ttnn_memory_config *memory)
{
	tt_str_adds(out, "MemoryConfig(memory_layout=");
	tt_text_enum(out, &tt_enum_memory_layout, memory->layout, "::");
	tt_str_adds(out, ",buffer_type=");
	tt_text_enum(out, &tt_enum_buffer_type, memory->buffer, "::");
	tt_str_adds(out, ",shard_spec=ShardSpec(grid=");
	tt_text_core_set(out, memory->shard.grid, TTNN_DIALECT_SEED);
	tt_str_addf(out, ",shape={%u, %u},orientation=", memory->shard.height, memory->shard.width);
	tt_text_enum(out, &tt_enum_orientation, memory->shard.orientation, "::");
	tt_str_addf(out,
		    ",mode=ShardMode::PHYSICAL,physical_shard_shape=std::nullopt),nd_shard_spec="
		    "std::nullopt,created_with_nd_shard_spec=%d)",
		    memory->created_with_nd_shard);
}

static void add_value(struct tt_str *out, const struct tt_field *field,
		      const struct ttnn_value *value, enum ttnn_dialect dialect)
{
	if (value->kind == TTNN_VALUE_CORE_SET)
		tt_text_core_set(out, value->core_set, TTNN_DIALECT_SEED);
	else if (value->kind == TTNN_VALUE_CORE)
		tt_text_core(out, value->core, TTNN_DIALECT_SEED);
	else if (value->kind == TTNN_VALUE_MEMORY && dialect == TTNN_DIALECT_SEED &&
		 value->memory->has_shard && !value->memory->created_with_nd_shard)
		add_seed_shards(out, value->memory);
	else if (value->kind == TTNN_VALUE_MEMORY)
		tt_text_memory_config(out, value->memory, dialect);
	else if (value->kind == TTNN_VALUE_OBJECT)
		add_object(out, value, dialect);
	else if (value->kind == TTNN_VALUE_LIST && field->text == TT_TEXT_VALUE)
		add_items(out, value, &styles[TT_COUNT(styles) - 1], dialect);
	else
		add_alone(out, field, value);
}

static int by_name(const void *a, const void *b)
{
	const struct tt_ops_attribute *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static bool add_row(struct tt_ops_attributes *out, const struct tt_field *field,
		    const struct ttnn_value *value, enum ttnn_dialect dialect)
{
	struct tt_str text = {0};
	char *taken;

	add_value(&text, field, value, dialect);
	if (tt_str_take(&taken, &text) != TTNN_OK)
		return false;
	if (!taken)
		taken = tt_strdup("");
	if (!taken)
		return false;
	out->rows[out->count++] = (struct tt_ops_attribute){field->name, taken};
	return true;
}

struct tt_ops_attributes *tt_ops_attributes_make(const struct tt_event_scope_begin *begin,
						 enum ttnn_dialect dialect)
{
	size_t count = begin->schema ? begin->schema->count : 0;
	const char *keys = keys_of(begin->name, dialect);
	struct tt_ops_attributes *out = tt_calloc(1, sizeof(*out));

	if (!out)
		return NULL;
	out->refs = 1;
	out->rows = tt_calloc(count + 1, sizeof(*out->rows));
	for (size_t i = 0; out->rows && i < count && i < begin->arg_count; i++) {
		const struct tt_field *field = &begin->schema->fields[i];

		if (has_word(keys, field->name) && !add_row(out, field, &begin->args[i], dialect)) {
			tt_ops_attributes_unref(out);
			return NULL;
		}
	}
	if (!out->rows) {
		tt_ops_attributes_unref(out);
		return NULL;
	}
	qsort(out->rows, out->count, sizeof(*out->rows), by_name);
	return out;
}
