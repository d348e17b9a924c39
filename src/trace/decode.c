#include "trace/decode.h"

#include <stddef.h>
#include <string.h>

#include "base/mem.h"
#include "event/fields.h"
#include "tensor/shape.h"
#include "trace/terms.h"

/* ---- bytes ---------------------------------------------------------------------------------------------- */

uint64_t tt_bytes_number(struct tt_bytes *bytes)
{
	uint64_t number = 0;

	for (unsigned shift = 0; shift < 64 && bytes->at < bytes->end; shift += 7) {
		unsigned char byte = *bytes->at++;

		number |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return number;
	}
	bytes->bad = true;
	return 0;
}

int64_t tt_bytes_signed(struct tt_bytes *bytes)
{
	uint64_t number = tt_bytes_number(bytes);

	return (int64_t)(number >> 1 ^ (0 - (number & 1)));
}

const void *tt_bytes_take(struct tt_bytes *bytes, uint64_t size)
{
	const void *data = bytes->at;

	if (size > (uint64_t)(bytes->end - bytes->at)) {
		bytes->bad = true;
		return NULL;
	}
	bytes->at += size;
	return data;
}

bool tt_bytes_text(const char **text, size_t *length, struct tt_bytes *bytes)
{
	uint64_t size = tt_bytes_number(bytes);

	*length = size ? (size_t)size - 1 : 0;
	*text = size ? tt_bytes_take(bytes, *length) : NULL;
	return *text != NULL;
}

/* How many things follow: each takes a byte at least, so no number can make the reader allocate much. */
static size_t get_count(struct tt_decoder *d)
{
	uint64_t count = tt_bytes_number(&d->bytes);

	if (count > (uint64_t)(d->bytes.end - d->bytes.at)) {
		d->bytes.bad = true;
		return 0;
	}
	return (size_t)count;
}

static void *get_room(struct tt_decoder *d, size_t count, size_t size)
{
	void *room = tt_arena_calloc(d->arena, count + 1, size);

	d->terms->nomem |= !room;
	return room;
}

static uint64_t get_U64(struct tt_decoder *d)
{
	return tt_bytes_number(&d->bytes);
}

static uint32_t get_U32(struct tt_decoder *d)
{
	return (uint32_t)tt_bytes_number(&d->bytes);
}

static unsigned get_ENUM(struct tt_decoder *d)
{
	return get_U32(d);
}

/* A member of an enumeration whose names are known: others are refused, printers rely on it. */
static unsigned get_known(struct tt_decoder *d, const struct tt_enum *type)
{
	unsigned member = get_U32(d);

	if (tt_enum_name(type, member))
		return member;
	d->bytes.bad = true;
	return 0;
}

static bool get_BOOL(struct tt_decoder *d)
{
	return tt_bytes_number(&d->bytes) != 0;
}

static float get_F32(struct tt_decoder *d)
{
	const void *data = tt_bytes_take(&d->bytes, sizeof(float));
	float real = 0;

	if (data)
		memcpy(&real, data, sizeof(real));
	return real;
}

static double get_F64(struct tt_decoder *d)
{
	const void *data = tt_bytes_take(&d->bytes, sizeof(double));
	double real = 0;

	if (data)
		memcpy(&real, data, sizeof(real));
	return real;
}

/* A text for one event. */
static const char *get_TEXT(struct tt_decoder *d)
{
	const char *text, *copy;
	size_t length;

	if (!tt_bytes_text(&text, &length, &d->bytes))
		return NULL;
	copy = tt_arena_strndup(d->arena, text, length);
	d->terms->nomem |= !copy;
	return copy;
}

/* A text that stays. */
static const char *get_lasting(struct tt_decoder *d)
{
	const char *text;
	size_t length;

	if (!tt_bytes_text(&text, &length, &d->bytes))
		return NULL;
	return tt_terms_name(d->terms, text, length);
}

/* ---- things with numbers -------------------------------------------------------------------------------- */

/*
 * The number of a thing: 1 to known->count, or one more for a new one (*fresh), whose place is made;
 * 0 when it is none or anything is wrong.
 */
#define GET_NUMBER(d, table, fresh) get_number((d), (table)->count, (fresh))

static size_t get_number(struct tt_decoder *d, size_t known, bool *fresh)
{
	uint64_t number = tt_bytes_number(&d->bytes);

	*fresh = number == known + 1;
	if (number <= known || *fresh)
		return (size_t)number;
	d->bytes.bad = true;
	*fresh = false;
	return 0;
}

/* Adds a thing to its table; evaluates to whether that worked. */
#define ADD(d, table, thing)                                                                       \
	(TT_VEC_RESERVE((table), 1) ? ((table)->data[(table)->count++] = (thing), true)            \
				    : ((d)->terms->nomem = true, false))

static const char *get_NAME(struct tt_decoder *d)
{
	bool fresh;
	size_t number = GET_NUMBER(d, &d->names, &fresh);

	if (fresh && !ADD(d, &d->names, get_lasting(d)))
		return NULL;
	return number ? d->names.data[number - 1] : NULL;
}

static const ttnn_core_set *define_cores(struct tt_decoder *d)
{
	size_t count = get_count(d);
	struct ttnn_core_range *ranges = get_room(d, count, sizeof(*ranges));
	const ttnn_core_set *set = NULL;

	for (size_t i = 0; ranges && i < count; i++) {
		ranges[i].start.x = get_U32(d);
		ranges[i].start.y = get_U32(d);
		ranges[i].end.x = get_U32(d);
		ranges[i].end.y = get_U32(d);
	}
	if (!ranges || d->bytes.bad)
		return NULL;
	switch (ttnn_core_set_make(&set, ranges, count)) {
	case TTNN_OK:
		return set;
	case TTNN_NOMEM:
		d->terms->nomem = true;
		return NULL;
	default:
		d->bytes.bad = true;
		return NULL;
	}
}

static const ttnn_core_set *get_CORES(struct tt_decoder *d)
{
	bool fresh;
	size_t number = GET_NUMBER(d, &d->core_sets, &fresh);

	if (fresh && !ADD(d, &d->core_sets, define_cores(d)))
		return NULL;
	return number ? d->core_sets.data[number - 1] : NULL;
}

static const struct tt_schema *define_schema(struct tt_decoder *d)
{
	struct tt_schema schema = {.name = get_NAME(d), .named = get_BOOL(d)};
	struct tt_field *fields;

	schema.count = get_count(d);
	fields = get_room(d, schema.count, sizeof(*fields));
	for (size_t i = 0; fields && i < schema.count; i++) {
		uint64_t flags;
		unsigned text;

		fields[i].name = get_NAME(d);
		text = get_ENUM(d);
		fields[i].text = text < TT_TEXTS ? (enum tt_field_text)text : TT_TEXT_VALUE;
		fields[i].fixed = get_NAME(d);
		flags = get_U64(d);
		fields[i].unkeyed = flags & 1;
		fields[i].unprinted = flags >> 1 & 1;
		fields[i].omit_empty = flags >> 2 & 1;
		fields[i].spaced = flags >> 3 & 1;
		fields[i].words = flags >> 4 & 1;
		fields[i].json = get_NAME(d);
		/* Who prints a schema takes its texts for granted. */
		if (!fields[i].name ||
		    ((fields[i].text == TT_TEXT_FIXED || fields[i].text == TT_TEXT_ALWAYS) &&
		     !fields[i].fixed))
			d->bytes.bad = true;
	}
	schema.fields = fields;
	if (!schema.name)
		d->bytes.bad = true;
	return fields && !d->bytes.bad ? tt_terms_schema(d->terms, &schema) : NULL;
}

static const struct tt_schema *get_SCHEMA(struct tt_decoder *d)
{
	bool fresh;
	size_t number = GET_NUMBER(d, &d->schemas, &fresh);

	if (fresh && !ADD(d, &d->schemas, define_schema(d)))
		return NULL;
	return number ? d->schemas.data[number - 1] : NULL;
}

static struct ttnn_value define_member(struct tt_decoder *d)
{
	const char *type = get_NAME(d);
	int64_t member = tt_bytes_signed(&d->bytes);
	const char *name = get_NAME(d);

	if (!type) {
		d->bytes.bad = true;
		return (struct ttnn_value){0};
	}
	return tt_terms_member(d->terms, type, member, name);
}

static struct ttnn_value get_member(struct tt_decoder *d)
{
	bool fresh;
	size_t number = GET_NUMBER(d, &d->members, &fresh);

	if (fresh && !ADD(d, &d->members, define_member(d)))
		return (struct ttnn_value){0};
	if (!number)
		d->bytes.bad = true;
	return number ? d->members.data[number - 1] : (struct ttnn_value){0};
}

/* ---- specs ---------------------------------------------------------------------------------------------- */

static void get_shape(struct ttnn_shape *out, struct tt_decoder *d)
{
	uint32_t rank = get_U32(d);

	if (rank > TTNN_MAX_RANK) {
		d->bytes.bad = true;
		rank = 0;
	}
	out->rank = rank;
	for (uint32_t i = 0; i < rank; i++)
		out->dim[i] = get_U32(d);
}

static void get_tile(struct ttnn_tile *out, struct tt_decoder *d)
{
	out->height = get_U32(d);
	out->width = get_U32(d);
	out->transpose = get_BOOL(d);
}

/* A grid is never missing: who prints a shard spec takes it for granted. */
static const ttnn_core_set *get_grid(struct tt_decoder *d)
{
	const ttnn_core_set *grid = get_CORES(d);

	d->bytes.bad |= !grid;
	return grid;
}

static void get_shard(struct ttnn_shard_spec *out, struct tt_decoder *d)
{
	out->grid = get_grid(d);
	out->height = get_U32(d);
	out->width = get_U32(d);
	out->orientation = get_known(d, &tt_enum_orientation);
}

static void get_nd_shard(struct ttnn_nd_shard_spec *out, struct tt_decoder *d)
{
	get_shape(&out->shape, d);
	out->grid = get_grid(d);
	out->orientation = get_known(d, &tt_enum_orientation);
	out->strategy = get_known(d, &tt_enum_shard_strategy);
}

static void get_memory_config(struct ttnn_memory_config *out, struct tt_decoder *d)
{
	uint64_t flags;

	out->layout = get_known(d, &tt_enum_memory_layout);
	out->buffer = get_known(d, &tt_enum_buffer_type);
	flags = get_U64(d);
	out->has_shard = flags & 1;
	out->has_nd_shard = flags >> 1 & 1;
	out->created_with_nd_shard = flags >> 2 & 1;
	out->per_core_allocation = flags >> 3 & 1;
	out->range_lockstep_allocation = flags >> 4 & 1;
	if (out->has_shard)
		get_shard(&out->shard, d);
	if (out->has_nd_shard)
		get_nd_shard(&out->nd_shard, d);
}

static const struct ttnn_tensor_spec *define_spec(struct tt_decoder *d)
{
	struct ttnn_tensor_spec spec;

	memset(&spec, 0, sizeof(spec)); /* padding too: the bytes are what tells specs apart */
	get_shape(&spec.shape, d);
	spec.dtype = get_known(d, &tt_enum_dtype);
	spec.layout = get_known(d, &tt_enum_layout);
	get_tile(&spec.tile, d);
	get_memory_config(&spec.memory, d);
	get_shape(&spec.alignment, d);
	get_shape(&spec.padded, d);
	spec.rows = get_U64(d);
	spec.cols = get_U64(d);
	spec.page_rows = get_U64(d);
	spec.page_cols = get_U64(d);
	spec.page_bytes = get_U64(d);
	spec.pages = get_U64(d);
	spec.bytes = get_U64(d);
	return d->bytes.bad ? NULL : tt_terms_spec(d->terms, &spec);
}

static const struct ttnn_tensor_spec *get_spec(struct tt_decoder *d)
{
	bool fresh;
	size_t number = GET_NUMBER(d, &d->specs, &fresh);

	if (fresh && !ADD(d, &d->specs, define_spec(d)))
		return NULL;
	/* There is no tensor without one. */
	d->bytes.bad |= !number || !d->specs.data[number - 1];
	return number ? d->specs.data[number - 1] : NULL;
}

static void define_tensor(struct tt_event_tensor *out, struct tt_decoder *d)
{
	uint64_t flags;

	out->id = d->last_tensor += (uint64_t)tt_bytes_signed(&d->bytes);
	out->spec = get_spec(d);
	flags = get_U64(d);
	out->on_device = flags & 1;
	out->owns = flags >> 1 & 1;
	out->spread = flags >> 4 & 1   ? get_U64(d)
		      : flags >> 3 & 1 ? TT_SPREAD_MESH
				       : TT_SPREAD_LINE;
	if (flags >> 2 & 1) {
		out->buffer_id = d->last_buffer += (uint64_t)tt_bytes_signed(&d->bytes);
		out->address = get_U64(d);
		out->device_id = get_U32(d);
	}
}

/* 0 is followed by a new one; odd numbers say how long ago, even ones which. */
static void get_tensor(struct tt_event_tensor *out, struct tt_decoder *d)
{
	uint64_t number = get_U64(d), ago = number >> 1, known = d->tensors.count;

	if (!number) {
		define_tensor(out, d);
		if (!d->bytes.bad)
			ADD(d, &d->tensors, *out);
	} else if (number & 1 ? ago < known : ago <= known) {
		*out = d->tensors.data[number & 1 ? known - 1 - ago : ago - 1];
	} else {
		d->bytes.bad = true;
	}
}

static const struct tt_event_tensor *get_TENSORS(struct tt_decoder *d, size_t *count)
{
	struct tt_event_tensor *tensors;

	*count = get_count(d);
	tensors = get_room(d, *count, sizeof(*tensors));
	for (size_t i = 0; tensors && i < *count && !d->bytes.bad; i++)
		get_tensor(&tensors[i], d);
	return tensors;
}

/* ---- values --------------------------------------------------------------------------------------------- */

static struct ttnn_value get_value(struct tt_decoder *d, int depth);

static const struct ttnn_value *get_items(struct tt_decoder *d, size_t count, int depth)
{
	struct ttnn_value *items;

	if (depth > TT_VALUE_DEPTH_MAX || count > UINT32_MAX) {
		d->bytes.bad = true;
		return NULL;
	}
	items = get_room(d, count, sizeof(*items));
	for (size_t i = 0; items && i < count && !d->bytes.bad; i++)
		items[i] = get_value(d, depth);
	return items;
}

static void get_object(struct ttnn_value *out, struct tt_decoder *d, int depth)
{
	out->schema = get_SCHEMA(d);
	if (!out->schema) {
		d->bytes.bad = true;
		return;
	}
	if (out->schema->count > (size_t)(d->bytes.end - d->bytes.at)) {
		d->bytes.bad = true;
		return;
	}
	out->count = (uint32_t)out->schema->count;
	out->items = get_items(d, out->schema->count, depth + 1);
}

static void get_text(struct ttnn_value *out, struct tt_decoder *d)
{
	out->text = get_TEXT(d);
	if (!out->text) {
		d->bytes.bad = true;
		return;
	}
	out->count = (uint32_t)strlen(out->text);
}

/* Values that point at a struct of their own, in the arena of the event. */
#define POINTED(member, get)                                                                       \
	do {                                                                                       \
		void *room = get_room(d, 1, sizeof(*value.member));                                \
		if (room)                                                                          \
			get(room, d);                                                              \
		value.member = room;                                                               \
	} while (0)

static struct ttnn_value get_value(struct tt_decoder *d, int depth)
{
	uint64_t kind = get_U64(d);
	struct ttnn_value value = {.kind = (uint8_t)kind};

	if (kind >= TTNN_VALUE_KINDS) {
		d->bytes.bad = true;
		return (struct ttnn_value){0};
	}
	switch ((enum ttnn_value_kind)kind) {
	case TTNN_VALUE_BOOL:
		value.boolean = get_BOOL(d);
		break;
	case TTNN_VALUE_INT:
		value.integer = tt_bytes_signed(&d->bytes);
		break;
	case TTNN_VALUE_REAL:
		value.real = get_F64(d);
		break;
	case TTNN_VALUE_STRING:
	case TTNN_VALUE_OPAQUE:
		get_text(&value, d);
		break;
	case TTNN_VALUE_ENUM:
		value = get_member(d);
		break;
	case TTNN_VALUE_SHAPE:
		POINTED(shape, get_shape);
		break;
	case TTNN_VALUE_MEMORY:
		POINTED(memory, get_memory_config);
		break;
	case TTNN_VALUE_CORE:
		value.core.x = get_U32(d);
		value.core.y = get_U32(d);
		break;
	case TTNN_VALUE_CORE_SET:
		value.core_set = get_grid(d);
		break;
	case TTNN_VALUE_TILE:
		POINTED(tile, get_tile);
		break;
	case TTNN_VALUE_SHARD:
		POINTED(shard, get_shard);
		break;
	case TTNN_VALUE_ND_SHARD:
		POINTED(nd_shard, get_nd_shard);
		break;
	case TTNN_VALUE_SEEN_TENSOR:
		POINTED(seen, get_tensor);
		break;
	case TTNN_VALUE_SEEN_DEVICE:
		value.count = get_U32(d);
		break;
	case TTNN_VALUE_LIST:
	case TTNN_VALUE_DICT: {
		size_t count = get_count(d);

		value.count = (uint32_t)count;
		value.items = get_items(d, count, depth + 1);
		break;
	}
	case TTNN_VALUE_OBJECT:
		get_object(&value, d, depth);
		break;
	case TTNN_VALUE_TENSOR:
	case TTNN_VALUE_DEVICE: /* alive: never in a file */
	case TTNN_VALUE_KINDS:
		d->bytes.bad = true;
		break;
	case TTNN_VALUE_ABSENT:
	case TTNN_VALUE_NONE:
		break;
	}
	return value;
}

/* A block of values, once in a chunk: it stays until that ends. */
static struct tt_block define_block(struct tt_decoder *d, struct tt_arena *arena)
{
	struct tt_arena *before = d->arena;
	struct tt_block block = {.count = get_count(d)};

	d->arena = arena;
	block.values = get_items(d, block.count, 0);
	d->arena = before;
	return block;
}

/* The values behind the last single one, and the absent ones behind those. */
static struct tt_block get_block(struct tt_decoder *d)
{
	static const struct tt_block none;
	bool fresh;
	size_t number = GET_NUMBER(d, &d->blocks, &fresh);

	if (!number)
		return define_block(d, d->arena);
	if (fresh && !ADD(d, &d->blocks, define_block(d, &d->kept)))
		return none;
	/* So that a few bytes never stand for much. */
	d->bytes.bad |= d->blocks.data[number - 1].count > TT_BLOCK_MAX;
	return d->blocks.data[number - 1];
}

/* How many; how many of them one by one; those; the others. */
static const struct ttnn_value *get_VALUES(struct tt_decoder *d, size_t *count)
{
	uint64_t all = get_U64(d);
	struct tt_block single = {.count = get_count(d)}, block = {0};
	struct ttnn_value *values;

	*count = 0;
	single.values = get_items(d, single.count, 0);
	if (all > single.count && !d->bytes.bad)
		block = get_block(d);
	if (all < single.count + block.count || all - single.count - block.count > TT_VALUES_ABSENT)
		d->bytes.bad = true;
	if (d->bytes.bad || d->terms->nomem)
		return NULL;
	*count = (size_t)all;
	if (all == single.count || (!single.count && all == block.count))
		return single.count ? single.values : block.values;
	values = get_room(d, (size_t)all, sizeof(*values));
	if (!values) {
		*count = 0;
		return NULL;
	}
	memcpy(values, single.values, single.count * sizeof(*values));
	if (block.count)
		memcpy(&values[single.count], block.values, block.count * sizeof(*values));
	return values;
}

static struct tt_event_block get_BLOCK(struct tt_decoder *d)
{
	struct tt_event_block block = {0};

	block.values = get_VALUES(d, &block.count);
	return block;
}

/* ---- devices and stacks --------------------------------------------------------------------------------- */

static void get_chips(struct ttnn_device_info *info, struct tt_decoder *d)
{
	size_t count = get_count(d);
	uint32_t *chips = get_room(d, count, sizeof(*chips));

	for (size_t i = 0; chips && i < count; i++)
		chips[i] = get_U32(d);
	info->chips = chips;
	info->chip_count = chips ? (uint32_t)count : 0;
}

static const struct ttnn_device_info *get_INFO(struct tt_decoder *d)
{
	struct ttnn_device_info *info;
	const unsigned char *length, *end;

	if (!get_BOOL(d))
		return NULL;
	length = tt_bytes_take(&d->bytes, 4);
	if (!length || tt_get_u32(length) > (size_t)(d->bytes.end - d->bytes.at)) {
		d->bytes.bad = true;
		return NULL;
	}
	end = d->bytes.at + tt_get_u32(length);
	info = get_room(d, 1, sizeof(*info));
	if (!info)
		return NULL;
#define F(form, member) info->member = get_##form(d);
	TT_FIELDS_info(F)
#undef F
		get_chips(info, d);
	if (d->bytes.at > end)
		d->bytes.bad = true;
	else
		d->bytes.at = end;
	return info;
}

static const struct ttnn_device_row *get_ROW(struct tt_decoder *d)
{
	const size_t known = sizeof(struct ttnn_device_row) / sizeof(uint64_t);
	size_t count = get_count(d);
	uint64_t *row;

	if (!count)
		return NULL;
	row = get_room(d, known, sizeof(*row));
	for (size_t i = 0; row && i < count; i++) {
		uint64_t number = get_U64(d);

		if (i < known)
			row[i] = number;
	}
	return (const struct ttnn_device_row *)row;
}

static struct tt_event_frame define_frame(struct tt_decoder *d)
{
	struct tt_event_frame frame = {.address = get_U64(d)};

	frame.module = get_lasting(d);
	frame.offset = get_U64(d);
	frame.symbol = get_lasting(d);
	frame.symbol_offset = get_U64(d);
	return frame;
}

static void get_frame(struct tt_event_frame *out, struct tt_decoder *d)
{
	bool fresh;
	size_t number = GET_NUMBER(d, &d->frames, &fresh);

	if (fresh && !ADD(d, &d->frames, define_frame(d)))
		return;
	if (number)
		*out = d->frames.data[number - 1];
	else
		out->text = get_TEXT(d);
}

static const struct tt_event_frame *get_FRAMES(struct tt_decoder *d, size_t *count)
{
	struct tt_event_frame *frames;

	*count = get_count(d);
	frames = get_room(d, *count, sizeof(*frames));
	for (size_t i = 0; frames && i < *count && !d->bytes.bad; i++)
		get_frame(&frames[i], d);
	return frames;
}

/* ---- records -------------------------------------------------------------------------------------------- */

/* Reads a field only to be past it: one that a later version has added. */
static void pass_over(struct tt_decoder *d, char form)
{
	size_t count;

	switch ((enum tt_form)form) {
	case TT_FORM_BOOL:
	case TT_FORM_ENUM:
	case TT_FORM_U32:
	case TT_FORM_U64:
		get_U64(d);
		break;
	case TT_FORM_NAME:
		get_NAME(d);
		break;
	case TT_FORM_TEXT:
		get_TEXT(d);
		break;
	case TT_FORM_CORES:
		get_CORES(d);
		break;
	case TT_FORM_SCHEMA:
		get_SCHEMA(d);
		break;
	case TT_FORM_VALUES:
		get_VALUES(d, &count);
		break;
	case TT_FORM_TENSORS:
		get_TENSORS(d, &count);
		break;
	case TT_FORM_INFO:
		get_INFO(d);
		break;
	case TT_FORM_ROW:
		get_ROW(d);
		break;
	case TT_FORM_FRAMES:
		get_FRAMES(d, &count);
		break;
	}
}

static void pass_over_all(struct tt_decoder *d, const char *has)
{
	for (; *has; has++)
		pass_over(d, *has);
}

/* The fields of a kind, as far as the file has them: its list begins as ours does, or is shorter. */
#define F(form, member)                                                                            \
	if (*has) {                                                                                \
		to->member = get_##form(d);                                                        \
		has++;                                                                             \
	}
#define L(form, member, count)                                                                     \
	if (*has) {                                                                                \
		to->member = get_##form(d, &to->count);                                            \
		has++;                                                                             \
	}
#define DEFINE(list)                                                                               \
	static const char *get_##list(struct tt_event_##list *to, struct tt_decoder *d,            \
				      const char *has)                                             \
	{                                                                                          \
		TT_FIELDS_##list(F, L) return has;                                                 \
	}
TT_EVENT_STRUCT_LIST(DEFINE)
#undef DEFINE
#undef F
#undef L

static void get_fields(struct tt_event *out, struct tt_decoder *d)
{
	const char *has = d->terms->forms[out->kind];

	switch (out->kind) {
#define X(kind, list, text)                                                                        \
	case TT_EVENT_##kind:                                                                      \
		has = get_##list(&out->list, d, has);                                              \
		break;
		TT_EVENT_LIST(X)
#undef X
	case TT_EVENT_KINDS:
		break;
	}
	pass_over_all(d, has);
}

void tt_decoder_start(struct tt_decoder *d, struct tt_terms *terms, struct tt_arena *arena,
		      const unsigned char *data, size_t size)
{
	d->terms = terms;
	d->arena = arena;
	d->bytes = (struct tt_bytes){data, data + size, false};
	d->ticks = d->op = d->last_tensor = d->last_buffer = 0;
	d->names.count = d->schemas.count = d->core_sets.count = 0;
	d->specs.count = d->frames.count = d->members.count = 0;
	d->tensors.count = d->blocks.count = 0;
	tt_arena_reset(&d->kept);
}

void tt_decoder_release(struct tt_decoder *d)
{
	TT_VEC_DEINIT(&d->tensors);
	TT_VEC_DEINIT(&d->blocks);
	tt_arena_deinit(&d->kept);
}

void tt_decoder_deinit(struct tt_decoder *d)
{
	TT_VEC_DEINIT(&d->names);
	TT_VEC_DEINIT(&d->schemas);
	TT_VEC_DEINIT(&d->core_sets);
	TT_VEC_DEINIT(&d->specs);
	TT_VEC_DEINIT(&d->frames);
	TT_VEC_DEINIT(&d->members);
	tt_decoder_release(d);
}

bool tt_decoder_peek(uint64_t *ticks, const struct tt_decoder *d)
{
	struct tt_bytes bytes = d->bytes;

	if (bytes.at >= bytes.end)
		return false;
	bytes.at++;
	*ticks = d->ticks + tt_bytes_number(&bytes);
	return true;
}

static bool is_call(const struct tt_event_call *call)
{
	if (!call->name || call->value_count != TT_CALL_VALUES)
		return false;
	return call->values[TT_CALL_ARGS].kind == TTNN_VALUE_LIST &&
	       call->values[TT_CALL_KWARGS].kind == TTNN_VALUE_DICT &&
	       call->values[TT_CALL_KWARGS].count % 2 == 0;
}

/* What projections take for granted. */
static bool is_whole(const struct tt_event *event)
{
	switch (event->kind) {
	case TT_EVENT_SCOPE_BEGIN:
		return event->begin.name && event->begin.kind <= TT_SCOPE_HOST &&
		       (!event->begin.schema ||
			event->begin.schema->count == event->begin.arg_count);
	case TT_EVENT_BUFFER_ALLOC:
	case TT_EVENT_BUFFER_FREE:
	case TT_EVENT_BUFFER_THERE:
		return tt_enum_name(&tt_enum_buffer_type, event->buffer.type) &&
		       tt_enum_name(&tt_enum_memory_layout, event->buffer.layout);
	case TT_EVENT_PROGRAM_MEMORY:
		return event->memory.cores && event->memory.kind <= TT_MEMORY_PLANNED;
	case TT_EVENT_ERROR:
		return event->error.message && event->error.condition;
	case TT_EVENT_MARK:
		return event->mark.text;
	case TT_EVENT_PYTHON_IO:
		return event->python_io.json;
	case TT_EVENT_LOSS:
		return event->loss.reason;
	case TT_EVENT_CALL:
		return is_call(&event->call);
	case TT_EVENT_THREAD:
		return event->thread.name;
	case TT_EVENT_DEVICE_OPEN:
		return event->device.info && event->device.row && event->device.info->arch &&
		       event->device.info->arch_name && event->device.info->profile;
	default:
		return true;
	}
}

tt_status tt_decoder_next(struct tt_event *out, bool *begins, struct tt_decoder *d)
{
	unsigned char first = *d->bytes.at++;
	unsigned kind = first & TT_RECORD_KIND;

	memset(out, 0, sizeof(*out));
	d->ticks += tt_bytes_number(&d->bytes);
	*begins = first & TT_RECORD_OP;
	if (*begins)
		d->op += (uint64_t)tt_bytes_signed(&d->bytes);
	if (!d->terms->forms[kind][0])
		return tt_fail(TTNN_FORMAT, "a record of unknown kind %u", kind);
	if (kind < TT_EVENT_KINDS) {
		out->kind = (enum tt_event_kind)kind;
		get_fields(out, d);
	} else {
		out->kind = TT_EVENT_KINDS;
		pass_over_all(d, d->terms->forms[kind]);
	}
	if (d->terms->nomem) {
		d->terms->nomem = false;
		return tt_fail_nomem();
	}
	if (d->bytes.bad || !is_whole(out))
		return tt_fail(TTNN_FORMAT, "a %s record that makes no sense",
			       tt_event_kind_name(out->kind));
	return TTNN_OK;
}
