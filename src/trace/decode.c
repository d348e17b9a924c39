#include "trace/decode.h"

#include <stddef.h>
#include <string.h>

#include "base/mem.h"
#include "event/fields.h"
#include "event/value_kinds.h"
#include "trace/record_parts.h"

/* ---- fields --------------------------------------------------------------------------------------------- */

/* The forms of event/fields.h: get_FORM(d), of lists get_FORM(d, &count). */
#define get_U64 tt_part_u64
#define get_U32 tt_part_u32
#define get_ENUM tt_part_u32
#define get_BOOL tt_part_bool
#define get_NAME tt_part_name
#define get_CORES tt_part_cores

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

/* ---- values --------------------------------------------------------------------------------------------- */

static void get_value(struct ttnn_value *value, struct tt_decoder *d, int depth);

/* What lists without elements point at. */
static const max_align_t nothing;

static const struct ttnn_value *get_items(struct tt_decoder *d, size_t count, int depth)
{
	struct ttnn_value *items;

	if (depth > TT_VALUE_DEPTH_MAX || count > UINT32_MAX) {
		d->bytes.bad = true;
		return NULL;
	}
	if (!count)
		return (const void *)&nothing;
	items = tt_part_room(d, count, sizeof(*items));
	for (size_t i = 0; items && i < count && !d->bytes.bad; i++)
		get_value(&items[i], d, depth);
	return items;
}

static void get_object(struct ttnn_value *out, struct tt_decoder *d, int depth)
{
	out->schema = tt_part_schema(d);
	if (!out->schema || out->schema->count > (size_t)(d->bytes.end - d->bytes.at)) {
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

/* 0 is followed by a new one; odd numbers say how long ago, even ones which. */
static inline void get_tensor(struct tt_event_tensor *out, struct tt_decoder *d)
{
	uint64_t number = tt_part_u64(d), ago = number >> 1, known = d->tensors.count;

	if (!number)
		tt_part_define_tensor(out, d);
	else if (number & 1 ? ago < known : ago <= known)
		*out = d->tensors.data[number & 1 ? known - 1 - ago : ago - 1];
	else
		d->bytes.bad = true;
}

/* The content of a value whose kind was read, for each word of event/value_kinds.h. */
#define CONTENT(word, statement)                                                                   \
	static inline void content_##word(struct ttnn_value *value, struct tt_decoder *d,          \
					  int depth)                                               \
	{                                                                                          \
		(void)depth;                                                                       \
		statement;                                                                         \
	}
/* Values that point at a struct of their own, in the arena of the event. */
#define CONTENT_STRUCT(member, get)                                                                \
	static void content_##member(struct ttnn_value *value, struct tt_decoder *d, int depth)    \
	{                                                                                          \
		void *room = tt_part_cleared(d, 1, sizeof(*value->member));                        \
                                                                                                   \
		(void)depth;                                                                       \
		if (room)                                                                          \
			get(room, d);                                                              \
		value->member = room;                                                              \
	}

static void content_member(struct ttnn_value *value, struct tt_decoder *d, int depth)
{
	(void)depth;
	*value = tt_part_member(d);
	/* A member has a type. */
	d->bytes.bad |= value->kind != TTNN_VALUE_ENUM;
}

static void content_core(struct ttnn_value *value, struct tt_decoder *d, int depth)
{
	(void)depth;
	value->core.x = tt_part_u32(d);
	value->core.y = tt_part_u32(d);
}

static void content_seen_tensor(struct ttnn_value *value, struct tt_decoder *d, int depth)
{
	struct tt_event_tensor *seen = tt_part_room(d, 1, sizeof(*seen));

	(void)depth;
	if (seen)
		get_tensor(seen, d);
	value->seen = seen;
}

static void content_items(struct ttnn_value *value, struct tt_decoder *d, int depth)
{
	size_t count = tt_part_count(d);

	value->count = (uint32_t)count;
	value->items = get_items(d, count, depth + 1);
}

/* clang-format off */
CONTENT(empty, (void)value; (void)d)
CONTENT(boolean, value->boolean = tt_part_bool(d))
CONTENT(integer, value->integer = tt_bytes_signed(&d->bytes))
CONTENT(real, value->real = get_F64(d))
CONTENT(text, get_text(value, d))
CONTENT(core_set, value->core_set = tt_part_grid(d))
CONTENT(seen_device, value->count = tt_part_u32(d))
CONTENT(object, get_object(value, d, depth))
CONTENT(alive, (void)value; d->bytes.bad = true) /* never in a file */
CONTENT_STRUCT(shape, tt_part_shape)
CONTENT_STRUCT(memory, tt_part_memory_config)
CONTENT_STRUCT(tile, tt_part_tile)
CONTENT_STRUCT(shard, tt_part_shard)
CONTENT_STRUCT(nd_shard, tt_part_nd_shard)
/* clang-format on */
#define content_tensor content_alive
#define content_device content_alive

static void get_value(struct ttnn_value *value, struct tt_decoder *d, int depth)
{
	uint64_t kind = tt_part_u64(d);

	*value = (struct ttnn_value){.kind = (uint8_t)kind};
	if (kind >= TTNN_VALUE_KINDS) {
		*value = (struct ttnn_value){0};
		d->bytes.bad = true;
		return;
	}
	switch ((enum ttnn_value_kind)kind) {
#define ROW(KIND, name, content, alike, text, json)                                                \
	case TTNN_VALUE_##KIND:                                                                    \
		content_##content(value, d, depth);                                                \
		break;
		TT_VALUE_KIND_LIST(ROW)
#undef ROW
	case TTNN_VALUE_KINDS:
		break;
	}
}

/* A block of values, once in a chunk: it stays until that ends. */
static struct tt_block define_block(struct tt_decoder *d, struct tt_arena *arena)
{
	struct tt_arena *before = d->arena;
	struct tt_block block = {.count = tt_part_count(d)};

	d->arena = arena;
	block.values = get_items(d, block.count, 0);
	d->arena = before;
	return block;
}

bool tt_part_define_block(struct tt_decoder *d)
{
	struct tt_block block = define_block(d, &d->kept), *room = TT_VEC_PUSH(&d->blocks);

	/* So that a few bytes never stand for much. */
	d->bytes.bad |= block.count > TT_BLOCK_MAX;
	d->terms->nomem |= !room;
	if (room)
		*room = block;
	return room;
}

/* The values behind the last single one, and the absent ones behind those. */
static struct tt_block get_block(struct tt_decoder *d)
{
	static const struct tt_block none;
	bool fresh;
	size_t number = tt_part_number(d, d->blocks.count, &fresh);

	if (!number)
		return d->bytes.bad ? none : define_block(d, d->arena);
	if (fresh && !tt_part_define_block(d))
		return none;
	d->same = d->blocks.data[number - 1];
	return d->same;
}

/* How many; how many of them one by one; those; the others. */
static const struct ttnn_value *get_all_values(struct tt_decoder *d, size_t *count)
{
	uint64_t all = tt_part_u64(d);
	struct tt_block single = {.count = tt_part_count(d)}, block = {0};
	struct ttnn_value *values;

	*count = 0;
	d->same = block;
	d->same_from = single.count;
	single.values = get_items(d, single.count, 0);
	if (all > single.count && !d->bytes.bad)
		block = get_block(d);
	/* A block without a number is this record's alone: nothing stands for its values but themselves. */
	if (!d->same.values)
		d->same_from = (size_t)all;
	if (all < single.count + block.count || all - single.count - block.count > TT_VALUES_ABSENT)
		d->bytes.bad = true;
	if (d->bytes.bad || d->terms->nomem)
		return NULL;
	*count = (size_t)all;
	if (all == single.count || (!single.count && all == block.count))
		return single.count ? single.values : block.values;
	values = tt_part_room(d, (size_t)all, sizeof(*values));
	if (!values) {
		*count = 0;
		return NULL;
	}
	memcpy(values, single.values, single.count * sizeof(*values));
	if (block.count)
		memcpy(&values[single.count], block.values, block.count * sizeof(*values));
	all -= single.count + block.count;
	if (all)
		memset(&values[single.count + block.count], 0, (size_t)all * sizeof(*values));
	return values;
}

static inline const struct ttnn_value *get_VALUES(struct tt_decoder *d, size_t *count)
{
	if (d->wants.values)
		return get_all_values(d, count);
	*count = 0;
	d->bytes.at = tt_skim_values(d, d->bytes.at);
	return NULL;
}

/* What is printed of arguments goes with them. */
static inline const struct tt_schema *get_SCHEMA(struct tt_decoder *d)
{
	if (d->wants.values)
		return tt_part_schema(d);
	d->bytes.at = tt_skim_schema(d, d->bytes.at);
	return NULL;
}

static struct tt_event_block get_BLOCK(struct tt_decoder *d)
{
	struct tt_event_block block = {0};

	if (!d->wants.blocks) {
		d->bytes.at = tt_skim_values(d, d->bytes.at);
		return block;
	}
	block.values = get_all_values(d, &block.count);
	return block;
}

static const struct tt_event_tensor *get_TENSORS(struct tt_decoder *d, size_t *count)
{
	struct tt_event_tensor *tensors;

	*count = 0;
	if (!d->wants.tensors) {
		d->bytes.at = tt_skim_tensors(d, d->bytes.at);
		return NULL;
	}
	*count = tt_part_count(d);
	if (!*count)
		return (const void *)&nothing;
	tensors = tt_part_room(d, *count, sizeof(*tensors));
	for (size_t i = 0; tensors && i < *count && !d->bytes.bad; i++)
		get_tensor(&tensors[i], d);
	return tensors;
}

/* ---- devices and stacks --------------------------------------------------------------------------------- */

static void get_chips(struct ttnn_device_info *info, struct tt_decoder *d)
{
	size_t count = tt_part_count(d);
	uint32_t *chips = tt_part_cleared(d, count, sizeof(*chips));

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
	info = tt_part_cleared(d, 1, sizeof(*info));
	if (!info)
		return NULL;
#define F(form, member) info->member = get_##form(d);
	TT_FIELDS_info(F)
#undef F
		get_chips(info, d);
	if (d->bytes.at < end) {
#define F(form, member) info->member = get_##form(d);
		TT_FIELDS_machine(F)
#undef F
	}
	if (d->bytes.at > end)
		d->bytes.bad = true;
	else
		d->bytes.at = end;
	return info;
}

static const struct ttnn_device_row *get_ROW(struct tt_decoder *d)
{
	const size_t known = sizeof(struct ttnn_device_row) / sizeof(uint64_t);
	size_t count = tt_part_count(d);
	uint64_t *row;

	if (!count)
		return NULL;
	row = tt_part_cleared(d, known, sizeof(*row));
	for (size_t i = 0; row && i < count; i++) {
		uint64_t number = get_U64(d);

		if (i < known)
			row[i] = number;
	}
	return (const struct ttnn_device_row *)row;
}

static void get_frame(struct tt_event_frame *out, struct tt_decoder *d)
{
	bool fresh;
	size_t number = tt_part_number(d, d->frames.count, &fresh);

	*out = (struct tt_event_frame){0};
	if (fresh && !tt_part_define_frame(d))
		return;
	if (number)
		*out = d->frames.data[number - 1];
	else
		out->text = get_TEXT(d);
}

static const struct tt_event_frame *get_FRAMES(struct tt_decoder *d, size_t *count)
{
	struct tt_event_frame *frames;

	*count = 0;
	if (!d->wants.frames) {
		d->bytes.at = tt_skim_frames(d, d->bytes.at);
		return NULL;
	}
	*count = tt_part_count(d);
	frames = tt_part_cleared(d, *count, sizeof(*frames));
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

void tt_part_pass_over(struct tt_decoder *d, const char *forms)
{
	for (; *forms; forms++)
		pass_over(d, *forms);
}

/* The fields of a kind, as this version writes them. */
#define F(form, member) to->member = get_##form(d);
#define L(form, member, count) to->member = get_##form(d, &to->count);
#define DEFINE(list)                                                                               \
	static inline void get_##list(struct tt_event_##list *to, struct tt_decoder *d)            \
	{                                                                                          \
		*to = (struct tt_event_##list){0};                                                 \
		TT_FIELDS_##list(F, L)                                                             \
	}
TT_EVENT_STRUCT_LIST(DEFINE)
#undef DEFINE
#undef F
#undef L

/* The same as far as the file has them: its list begins as ours does, or is shorter. */
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
	static const char *get_some_##list(struct tt_event_##list *to, struct tt_decoder *d,       \
					   const char *has)                                        \
	{                                                                                          \
		*to = (struct tt_event_##list){0};                                                 \
		TT_FIELDS_##list(F, L) return has;                                                 \
	}
TT_EVENT_STRUCT_LIST(DEFINE)
#undef DEFINE
#undef F
#undef L

/* Of another version's file. */
static void get_fields_of(struct tt_event *out, struct tt_decoder *d)
{
	const char *has = d->terms->forms[out->kind];

	switch (out->kind) {
#define X(kind, list, text)                                                                        \
	case TT_EVENT_##kind:                                                                      \
		has = get_some_##list(&out->list, d, has);                                         \
		break;
		TT_EVENT_LIST(X)
#undef X
	case TT_EVENT_KINDS:
		break;
	}
	tt_part_pass_over(d, has);
	d->same_from =
		SIZE_MAX; /* values that were passed over may have come behind the arguments */
}

static inline void get_fields(struct tt_event *out, struct tt_decoder *d)
{
	if (!(d->ours >> out->kind & 1)) {
		get_fields_of(out, d);
		return;
	}
	switch (out->kind) {
#define X(kind, list, text)                                                                        \
	case TT_EVENT_##kind:                                                                      \
		get_##list(&out->list, d);                                                         \
		break;
		TT_EVENT_LIST(X)
#undef X
	case TT_EVENT_KINDS:
		break;
	}
}

void tt_decoder_start(struct tt_decoder *d, struct tt_terms *terms, struct tt_arena *arena,
		      const struct tt_bytes *data, const struct tt_decoder_wants *wants)
{
	static const struct tt_decoder_wants all = {UINT32_MAX, true, true, true, true};

	d->terms = terms;
	d->arena = arena;
	d->bytes = *data;
	d->wants = wants ? *wants : all;
	d->ours = 0;
	for (unsigned i = 0; i < TT_EVENT_KINDS; i++)
		if (strcmp(terms->forms[i], tt_event_forms(i)) == 0)
			d->ours |= UINT32_C(1) << i;
	d->ticks = d->op = d->last_tensor = d->last_buffer = 0;
	d->begun = false;
	d->names.count = d->schemas.count = d->core_sets.count = 0;
	d->specs.count = d->frames.count = d->members.count = 0;
	d->tensors.count = d->blocks.count = 0;
	d->chunk = ++terms->chunks;
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

static bool is_call(const struct tt_event_call *call, const struct tt_decoder *d)
{
	if (!d->wants.values)
		return call->name;
	if (!call->name || call->value_count != TT_CALL_VALUES)
		return false;
	return call->values[TT_CALL_ARGS].kind == TTNN_VALUE_LIST &&
	       call->values[TT_CALL_KWARGS].kind == TTNN_VALUE_DICT &&
	       call->values[TT_CALL_KWARGS].count % 2 == 0;
}

/* Members are numbered from 0 on, but for those with a number of their own. */
static inline bool is_member(const struct tt_enum *type, unsigned member)
{
	return (member < type->count && type->rows[member].value == member) ||
	       tt_enum_name(type, member);
}

/* What projections take for granted. */
static inline bool is_whole(const struct tt_event *event, const struct tt_decoder *d)
{
	switch (event->kind) {
	case TT_EVENT_SCOPE_BEGIN:
		return event->begin.name && event->begin.kind <= TT_SCOPE_HOST &&
		       (!d->wants.values || event->begin.left_out <= event->begin.arg_count) &&
		       (!event->begin.schema ||
			event->begin.schema->count == event->begin.arg_count);
	case TT_EVENT_BUFFER_ALLOC:
	case TT_EVENT_BUFFER_FREE:
	case TT_EVENT_BUFFER_THERE:
		return is_member(&tt_enum_buffer_type, event->buffer.type) &&
		       is_member(&tt_enum_memory_layout, event->buffer.layout);
	case TT_EVENT_PROGRAM_MEMORY:
		return event->memory.cores && event->memory.kind <= TT_MEMORY_PLANNED;
	case TT_EVENT_ERROR:
		return event->error.message && event->error.condition;
	case TT_EVENT_MARK:
		return event->mark.text && event->mark.kind <= TT_MARK_FRAME;
	case TT_EVENT_PYTHON_IO:
		return event->python_io.json;
	case TT_EVENT_LOSS:
		return event->loss.reason;
	case TT_EVENT_CALL:
		return is_call(&event->call, d);
	case TT_EVENT_THREAD:
		return event->thread.name;
	case TT_EVENT_PROGRAM_RUN:
		return event->run.name;
	case TT_EVENT_METAL_TRACE:
		return event->metal_trace.step <= TT_METAL_TRACE_DONE;
	case TT_EVENT_PLACE:
		return event->place.file;
	case TT_EVENT_ZONE_BEGIN:
		return event->zone.name || event->zone.function;
	case TT_EVENT_DEVICE_OPEN:
		return event->device.info && event->device.row && event->device.info->arch &&
		       event->device.info->arch_name && event->device.info->profile;
	default:
		return true;
	}
}

tt_status tt_decoder_next(struct tt_event *out, bool *begins, struct tt_decoder *d)
{
	unsigned kind;

	(void)tt_decoder_peek(d);
	d->begun = false;
	kind = d->first & TT_RECORD_KIND;
	out->ticks = 0;
	*begins = d->first & TT_RECORD_OP;
	if (*begins)
		d->op += (uint64_t)tt_bytes_signed(&d->bytes);
	if (kind < TT_EVENT_KINDS && d->terms->forms[kind][0]) {
		out->kind = (enum tt_event_kind)kind;
		get_fields(out, d);
	} else {
		out->kind = TT_EVENT_KINDS;
		if (!d->terms->forms[kind][0])
			return tt_fail(TTNN_FORMAT, "a record of unknown kind %u", kind);
		tt_part_pass_over(d, d->terms->forms[kind]);
	}
	if (__builtin_expect(d->terms->nomem, 0)) {
		d->terms->nomem = false;
		return tt_fail_nomem();
	}
	if (__builtin_expect(d->bytes.bad || !is_whole(out, d), 0))
		return tt_fail(TTNN_FORMAT, "a %s record that makes no sense",
			       tt_event_kind_name(out->kind));
	return TTNN_OK;
}
