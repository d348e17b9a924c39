/*
 * skim.c: being past records and fields that nobody wants: their bytes are counted, nothing is made of them. What
 * they define (names, schemas, specs, core sets, and tensors and blocks that others may refer to) is defined as
 * record_parts.c and decode.c do it.
 *
 * TT_DECODER_SLACK zeros follow the data, so that the end is looked at once for each record and element, not
 * for each number.
 */
#include "event/fields.h"
#include "event/value_kinds.h"
#include "trace/record_parts.h"

/* No field, and no record but its lists, has more numbers than there is slack. */
_Static_assert(TT_DECODER_SLACK >= 32, "the numbers of a record may be read past the end");

static inline const unsigned char *skim_number(const unsigned char *at)
{
	while (__builtin_expect(*at & 0x80, 0))
		at++;
	return at + 1;
}

static inline uint64_t read_number(const unsigned char **at)
{
	const unsigned char *p = *at;
	uint64_t number = *p++;

	if (__builtin_expect(number >= 0x80, 0)) {
		number &= 0x7f;
		for (unsigned shift = 7; shift < 64; shift += 7) {
			number |= (uint64_t)(*p & 0x7f) << shift;
			if (!(*p++ & 0x80))
				break;
		}
	}
	*at = p;
	return number;
}

static const unsigned char *fail(struct tt_decoder *d)
{
	d->bytes.bad = true;
	return d->bytes.end;
}

static inline const unsigned char *skim_bytes(struct tt_decoder *d, const unsigned char *at,
					      uint64_t size)
{
	if (at > d->bytes.end || size > (uint64_t)(d->bytes.end - at))
		return fail(d);
	return at + size;
}

/* A definition: read as it is read elsewhere. */
static const unsigned char *define(struct tt_decoder *d, const unsigned char *at,
				   bool (*definition)(struct tt_decoder *d))
{
	if (at > d->bytes.end)
		return fail(d);
	d->bytes.at = at;
	if (!definition(d))
		d->bytes.bad = true;
	return d->bytes.at;
}

/* The number of a thing; if it is a new one, past its definition too. */
#define SKIM_NUMBERED(d, at, table, definition)                                                    \
	do {                                                                                       \
		uint64_t number = read_number(&(at));                                              \
                                                                                                   \
		if (__builtin_expect(number > (d)->table.count, 0))                                \
			(at) = number == (d)->table.count + 1 ? define((d), (at), (definition))    \
							      : fail(d);                           \
	} while (0)

/* ---- fields --------------------------------------------------------------------------------------------- */

static inline const unsigned char *skim_U64(struct tt_decoder *d, const unsigned char *at)
{
	(void)d;
	return skim_number(at);
}
#define skim_U32 skim_U64
#define skim_ENUM skim_U64
#define skim_BOOL skim_U64

static inline const unsigned char *skim_TEXT(struct tt_decoder *d, const unsigned char *at)
{
	uint64_t size = read_number(&at);

	return size ? skim_bytes(d, at, size - 1) : at;
}

static inline const unsigned char *skim_NAME(struct tt_decoder *d, const unsigned char *at)
{
	SKIM_NUMBERED(d, at, names, tt_part_define_name);
	return at;
}

static inline const unsigned char *skim_CORES(struct tt_decoder *d, const unsigned char *at)
{
	SKIM_NUMBERED(d, at, core_sets, tt_part_define_cores);
	return at;
}

static inline const unsigned char *skim_SCHEMA(struct tt_decoder *d, const unsigned char *at)
{
	SKIM_NUMBERED(d, at, schemas, tt_part_define_schema);
	return at;
}

/* A new tensor; kept if later ones may be called by its number. */
static const unsigned char *skim_new_tensor(struct tt_decoder *d, const unsigned char *at)
{
	struct tt_event_tensor tensor;
	uint64_t flags;

	if (d->wants.tensors || d->wants.blocks) {
		if (at > d->bytes.end)
			return fail(d);
		d->bytes.at = at;
		tt_part_define_tensor(&tensor, d);
		return d->bytes.at;
	}
	at = skim_number(at);
	SKIM_NUMBERED(d, at, specs, tt_part_define_spec);
	flags = read_number(&at);
	if (flags >> 4 & 1)
		at = skim_number(at);
	if (flags >> 2 & 1)
		at = skim_number(skim_number(skim_number(at)));
	return at;
}

static inline const unsigned char *skim_tensor(struct tt_decoder *d, const unsigned char *at)
{
	if (__builtin_expect(*at, 1))
		return skim_number(at);
	return skim_new_tensor(d, at + 1);
}

static inline const unsigned char *skim_TENSORS(struct tt_decoder *d, const unsigned char *at)
{
	uint64_t count = read_number(&at);

	for (; count; count--) {
		if (__builtin_expect(at >= d->bytes.end, 0))
			return fail(d);
		at = skim_tensor(d, at);
	}
	return at;
}

static const unsigned char *skim_value(struct tt_decoder *d, const unsigned char *at, int depth);

static inline const unsigned char *skim_items(struct tt_decoder *d, const unsigned char *at,
					      uint64_t count, int depth)
{
	if (depth > TT_VALUE_DEPTH_MAX)
		return fail(d);
	for (; count; count--) {
		if (__builtin_expect(at >= d->bytes.end || d->bytes.bad, 0))
			return fail(d);
		at = skim_value(d, at, depth);
	}
	return at;
}

static const unsigned char *skim_object(struct tt_decoder *d, const unsigned char *at, int depth)
{
	const struct tt_schema *schema;
	uint64_t number = read_number(&at);

	if (number == d->schemas.count + 1)
		at = define(d, at, tt_part_define_schema);
	if (!number || number > d->schemas.count)
		return fail(d);
	schema = d->schemas.data[number - 1];
	return schema ? skim_items(d, at, schema->count, depth + 1) : fail(d);
}

/* The content of a value whose kind was read, for each word of event/value_kinds.h. */
#define SKIM(word, expression)                                                                     \
	static inline const unsigned char *content_##word(struct tt_decoder *d,                    \
							  const unsigned char *at, int depth)      \
	{                                                                                          \
		(void)d;                                                                           \
		(void)at;                                                                          \
		(void)depth;                                                                       \
		return expression;                                                                 \
	}
/* Those that are rarely told one by one: read as values, for what they define. */
#define SKIM_STRUCT(word, type, part)                                                              \
	static const unsigned char *content_##word(struct tt_decoder *d, const unsigned char *at,  \
						   int depth)                                      \
	{                                                                                          \
		struct type unused = {0};                                                          \
                                                                                                   \
		(void)depth;                                                                       \
		if (at > d->bytes.end)                                                             \
			return fail(d);                                                            \
		d->bytes.at = at;                                                                  \
		part(&unused, d);                                                                  \
		return d->bytes.at;                                                                \
	}

static inline const unsigned char *content_member(struct tt_decoder *d, const unsigned char *at,
						  int depth)
{
	(void)depth;
	SKIM_NUMBERED(d, at, members, tt_part_define_member);
	return at;
}

static inline const unsigned char *content_items(struct tt_decoder *d, const unsigned char *at,
						 int depth)
{
	uint64_t count = read_number(&at);

	return skim_items(d, at, count, depth + 1);
}

/* clang-format off */
SKIM(empty, at)
SKIM(boolean, skim_number(at))
SKIM(integer, skim_number(at))
SKIM(real, skim_bytes(d, at, sizeof(double)))
SKIM(text, skim_TEXT(d, at))
SKIM(core, skim_number(skim_number(at)))
SKIM(core_set, skim_CORES(d, at))
SKIM(tile, skim_number(skim_number(skim_number(at))))
SKIM(object, skim_object(d, at, depth))
SKIM(seen_tensor, skim_tensor(d, at))
SKIM(seen_device, skim_number(at))
SKIM(alive, fail(d)) /* never in a file */
SKIM_STRUCT(shape, ttnn_shape, tt_part_shape)
SKIM_STRUCT(memory, ttnn_memory_config, tt_part_memory_config)
SKIM_STRUCT(shard, ttnn_shard_spec, tt_part_shard)
SKIM_STRUCT(nd_shard, ttnn_nd_shard_spec, tt_part_nd_shard)
/* clang-format on */
#define content_tensor content_alive
#define content_device content_alive

static const unsigned char *skim_value(struct tt_decoder *d, const unsigned char *at, int depth)
{
	uint64_t kind = read_number(&at);

	if (kind >= TTNN_VALUE_KINDS)
		return fail(d);
	switch ((enum ttnn_value_kind)kind) {
#define ROW(KIND, name, content, alike, text, json)                                                \
	TT_VALUE_CASE(KIND, content_##content(d, at, depth))
		TT_VALUE_KIND_LIST(ROW)
#undef ROW
	case TTNN_VALUE_KINDS:
		break;
	}
	return fail(d);
}

/* A block that is defined here: kept if others may refer to it. */
static const unsigned char *skim_new_block(struct tt_decoder *d, const unsigned char *at)
{
	struct tt_block *block;
	uint64_t count;

	if (d->wants.blocks)
		return define(d, at, tt_part_define_block);
	block = TT_VEC_PUSH(&d->blocks);
	if (!block) {
		d->terms->nomem = true;
		return fail(d);
	}
	*block = (struct tt_block){0};
	count = read_number(&at);
	return skim_items(d, at, count, 0);
}

static inline const unsigned char *skim_VALUES(struct tt_decoder *d, const unsigned char *at)
{
	uint64_t all = read_number(&at), single = read_number(&at), number;

	if (single)
		at = skim_items(d, at, single, 0);
	if (all <= single)
		return at;
	number = read_number(&at);
	if (__builtin_expect(number && number <= d->blocks.count, 1))
		return at;
	if (number == d->blocks.count + 1)
		return skim_new_block(d, at);
	if (number)
		return fail(d);
	number = read_number(&at);
	return skim_items(d, at, number, 0);
}
#define skim_BLOCK skim_VALUES

static const unsigned char *skim_FRAMES(struct tt_decoder *d, const unsigned char *at)
{
	uint64_t count = read_number(&at);

	for (; count; count--) {
		if (at >= d->bytes.end || d->bytes.bad)
			return fail(d);
		if (!*at)
			at = skim_TEXT(d, at + 1);
		else
			SKIM_NUMBERED(d, at, frames, tt_part_define_frame);
	}
	return at;
}

/* Rare ones: read as they are elsewhere. */
static const unsigned char *skim_form(struct tt_decoder *d, const unsigned char *at,
				      enum tt_form form)
{
	const char forms[] = {(char)form, 0};

	if (at > d->bytes.end)
		return fail(d);
	d->bytes.at = at;
	tt_part_pass_over(d, forms);
	return d->bytes.at;
}

static const unsigned char *skim_INFO(struct tt_decoder *d, const unsigned char *at)
{
	return *at ? skim_form(d, at, TT_FORM_INFO) : at + 1;
}

static const unsigned char *skim_ROW(struct tt_decoder *d, const unsigned char *at)
{
	return *at ? skim_form(d, at, TT_FORM_ROW) : at + 1;
}

const unsigned char *tt_skim_values(struct tt_decoder *d, const unsigned char *at)
{
	at = skim_VALUES(d, at);
	return at > d->bytes.end ? fail(d) : at;
}

const unsigned char *tt_skim_tensors(struct tt_decoder *d, const unsigned char *at)
{
	at = skim_TENSORS(d, at);
	return at > d->bytes.end ? fail(d) : at;
}

const unsigned char *tt_skim_frames(struct tt_decoder *d, const unsigned char *at)
{
	at = skim_FRAMES(d, at);
	return at > d->bytes.end ? fail(d) : at;
}

const unsigned char *tt_skim_schema(struct tt_decoder *d, const unsigned char *at)
{
	at = skim_SCHEMA(d, at);
	return at > d->bytes.end ? fail(d) : at;
}

/* ---- records -------------------------------------------------------------------------------------------- */

#define F(form, member) at = skim_##form(d, at);
#define L(form, member, count) at = skim_##form(d, at);
#define DEFINE(list)                                                                               \
	static inline const unsigned char *skim_##list(struct tt_decoder *d,                       \
						       const unsigned char *at)                    \
	{                                                                                          \
		TT_FIELDS_##list(F, L) return at;                                                  \
	}
TT_EVENT_STRUCT_LIST(DEFINE)
#undef DEFINE
#undef F
#undef L

static inline const unsigned char *skim_fields(struct tt_decoder *d, const unsigned char *at,
					       unsigned kind)
{
	switch ((enum tt_event_kind)kind) {
#define X(kind, list, text)                                                                        \
	case TT_EVENT_##kind:                                                                      \
		return skim_##list(d, at);
		TT_EVENT_LIST(X)
#undef X
	case TT_EVENT_KINDS:
		break;
	}
	return at;
}

/* Numbers are counted here, not looked at; a text or an element that does not fit is found at once. */
void tt_decoder_skim(struct tt_decoder *d)
{
	/* Kinds of this version's form that are not wanted. */
	uint32_t pass = d->ours & ~d->wants.kinds;
	const unsigned char *at = d->bytes.at, *end = d->bytes.end;
	uint64_t ticks = d->ticks;

	while (at < end && *at < 32 && (pass >> *at & 1)) {
		const unsigned char *record = at++;
		uint64_t later = read_number(&at);

		at = skim_fields(d, at, *record);
		if (__builtin_expect(at > end || d->bytes.bad || d->terms->nomem, 0)) {
			at = record;
			break;
		}
		ticks += later;
	}
	d->bytes.at = at;
	d->ticks = ticks;
}
