#include "trace/record_parts.h"

#include <string.h>

#include "base/mem.h"
#include "tensor/shape.h"
#include "trace/terms.h"

uint64_t tt_bytes_long_number(struct tt_bytes *bytes)
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

void *tt_part_cleared(struct tt_decoder *d, size_t count, size_t size)
{
	void *room = tt_part_room(d, count ? count : 1, size);

	if (room)
		memset(room, 0, (count ? count : 1) * size);
	return room;
}

/* A member of an enumeration whose names are known: others are refused, printers rely on it. */
static unsigned get_known(struct tt_decoder *d, const struct tt_enum *type)
{
	unsigned member = tt_part_u32(d);

	if (tt_enum_name(type, member))
		return member;
	d->bytes.bad = true;
	return 0;
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

/* Adds a thing to its table; evaluates to whether that worked. */
#define ADD(d, table, thing)                                                                       \
	(TT_VEC_RESERVE((table), 1) ? ((table)->data[(table)->count++] = (thing), true)            \
				    : ((d)->terms->nomem = true, false))

/* ---- definitions ---------------------------------------------------------------------------------------- */

bool tt_part_define_name(struct tt_decoder *d)
{
	if (!tt_terms_have_room(d->terms))
		d->bytes.bad = true;
	return ADD(d, &d->names, d->bytes.bad ? NULL : get_lasting(d));
}

static const ttnn_core_set *define_cores(struct tt_decoder *d)
{
	size_t count = tt_part_count(d);
	struct ttnn_core_range *ranges = tt_part_cleared(d, count, sizeof(*ranges));
	const ttnn_core_set *set = NULL;

	for (size_t i = 0; ranges && i < count; i++) {
		ranges[i].start.x = tt_part_u32(d);
		ranges[i].start.y = tt_part_u32(d);
		ranges[i].end.x = tt_part_u32(d);
		ranges[i].end.y = tt_part_u32(d);
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

bool tt_part_define_cores(struct tt_decoder *d)
{
	return ADD(d, &d->core_sets, define_cores(d));
}

static void get_field(struct tt_field *field, struct tt_decoder *d)
{
	uint64_t flags;
	unsigned text;

	field->name = tt_part_name(d);
	text = tt_part_u32(d);
	field->text = text < TT_TEXTS ? (enum tt_field_text)text : TT_TEXT_VALUE;
	field->fixed = tt_part_name(d);
	flags = tt_part_u64(d);
	field->unkeyed = flags & 1;
	field->unprinted = flags >> 1 & 1;
	field->omit_empty = flags >> 2 & 1;
	field->spaced = flags >> 3 & 1;
	field->words = flags >> 4 & 1;
	field->defaulted = flags >> 5 & 1;
	field->json = tt_part_name(d);
	/* Who prints a schema takes its texts for granted. */
	if (!field->name ||
	    ((field->text == TT_TEXT_FIXED || field->text == TT_TEXT_ALWAYS) && !field->fixed))
		d->bytes.bad = true;
}

static const struct tt_schema *define_schema(struct tt_decoder *d)
{
	struct tt_schema schema = {.name = tt_part_name(d)};
	struct tt_field *fields;

	schema.named = tt_part_bool(d);
	schema.count = tt_part_count(d);
	fields = tt_part_cleared(d, schema.count, sizeof(*fields));
	for (size_t i = 0; fields && i < schema.count; i++)
		get_field(&fields[i], d);
	schema.fields = fields;
	if (!schema.name || !tt_terms_have_room(d->terms))
		d->bytes.bad = true;
	return fields && !d->bytes.bad ? tt_terms_schema(d->terms, &schema) : NULL;
}

bool tt_part_define_schema(struct tt_decoder *d)
{
	return ADD(d, &d->schemas, define_schema(d));
}

static struct ttnn_value define_member(struct tt_decoder *d)
{
	const char *type = tt_part_name(d);
	int64_t member = tt_bytes_signed(&d->bytes);
	const char *name = tt_part_name(d);

	if (!type || !tt_terms_have_room(d->terms)) {
		d->bytes.bad = true;
		return (struct ttnn_value){0};
	}
	return tt_terms_member(d->terms, type, member, name);
}

bool tt_part_define_member(struct tt_decoder *d)
{
	return ADD(d, &d->members, define_member(d));
}

static struct tt_event_frame define_frame(struct tt_decoder *d)
{
	struct tt_event_frame frame = {.address = tt_part_u64(d)};

	if (!tt_terms_have_room(d->terms)) {
		d->bytes.bad = true;
		return frame;
	}
	frame.module = get_lasting(d);
	frame.offset = tt_part_u64(d);
	frame.symbol = get_lasting(d);
	frame.symbol_offset = tt_part_u64(d);
	return frame;
}

bool tt_part_define_frame(struct tt_decoder *d)
{
	return ADD(d, &d->frames, define_frame(d));
}

/* ---- specs ---------------------------------------------------------------------------------------------- */

void tt_part_shape(struct ttnn_shape *out, struct tt_decoder *d)
{
	uint32_t rank = tt_part_u32(d);

	if (rank > TTNN_MAX_RANK) {
		d->bytes.bad = true;
		rank = 0;
	}
	out->rank = rank;
	for (uint32_t i = 0; i < rank; i++)
		out->dim[i] = tt_part_u32(d);
}

void tt_part_tile(struct ttnn_tile *out, struct tt_decoder *d)
{
	out->height = tt_part_u32(d);
	out->width = tt_part_u32(d);
	out->transpose = tt_part_bool(d);
}

const ttnn_core_set *tt_part_grid(struct tt_decoder *d)
{
	const ttnn_core_set *grid = tt_part_cores(d);

	d->bytes.bad |= !grid;
	return grid;
}

void tt_part_shard(struct ttnn_shard_spec *out, struct tt_decoder *d)
{
	out->grid = tt_part_grid(d);
	out->height = tt_part_u32(d);
	out->width = tt_part_u32(d);
	out->orientation = get_known(d, &tt_enum_orientation);
}

void tt_part_nd_shard(struct ttnn_nd_shard_spec *out, struct tt_decoder *d)
{
	tt_part_shape(&out->shape, d);
	out->grid = tt_part_grid(d);
	out->orientation = get_known(d, &tt_enum_orientation);
	out->strategy = get_known(d, &tt_enum_shard_strategy);
}

void tt_part_memory_config(struct ttnn_memory_config *out, struct tt_decoder *d)
{
	uint64_t flags;

	out->layout = get_known(d, &tt_enum_memory_layout);
	out->buffer = get_known(d, &tt_enum_buffer_type);
	flags = tt_part_u64(d);
	out->has_shard = flags & 1;
	out->has_nd_shard = flags >> 1 & 1;
	out->created_with_nd_shard = flags >> 2 & 1;
	out->per_core_allocation = flags >> 3 & 1;
	out->range_lockstep_allocation = flags >> 4 & 1;
	if (out->has_shard)
		tt_part_shard(&out->shard, d);
	if (out->has_nd_shard)
		tt_part_nd_shard(&out->nd_shard, d);
}

static void get_spec(struct ttnn_tensor_spec *spec, struct tt_decoder *d)
{
	tt_part_shape(&spec->shape, d);
	spec->dtype = get_known(d, &tt_enum_dtype);
	spec->layout = get_known(d, &tt_enum_layout);
	tt_part_tile(&spec->tile, d);
	tt_part_memory_config(&spec->memory, d);
	tt_part_shape(&spec->alignment, d);
	tt_part_shape(&spec->padded, d);
	spec->rows = tt_part_u64(d);
	spec->cols = tt_part_u64(d);
	spec->page_rows = tt_part_u64(d);
	spec->page_cols = tt_part_u64(d);
	spec->page_bytes = tt_part_u64(d);
	spec->pages = tt_part_u64(d);
	spec->bytes = tt_part_u64(d);
}

/* Specs live as long as their chunk: a program may make ever new ones. */
bool tt_part_define_spec(struct tt_decoder *d)
{
	struct ttnn_tensor_spec *spec = tt_arena_calloc(&d->kept, 1, sizeof(*spec));

	if (!spec) {
		d->terms->nomem = true;
		return false;
	}
	get_spec(spec, d);
	return ADD(d, &d->specs, d->bytes.bad ? NULL : spec);
}

void tt_part_define_tensor(struct tt_event_tensor *out, struct tt_decoder *d)
{
	uint64_t flags;

	*out = (struct tt_event_tensor){0};
	out->id = d->last_tensor += (uint64_t)tt_bytes_signed(&d->bytes);
	out->spec = tt_part_spec(d);
	/* There is no tensor without one. */
	d->bytes.bad |= !out->spec;
	flags = tt_part_u64(d);
	out->on_device = flags & 1;
	out->owns = flags >> 1 & 1;
	out->spread = flags >> 4 & 1   ? tt_part_u64(d)
		      : flags >> 3 & 1 ? TT_SPREAD_MESH
				       : TT_SPREAD_LINE;
	if (flags >> 2 & 1) {
		out->buffer_id = d->last_buffer += (uint64_t)tt_bytes_signed(&d->bytes);
		out->address = tt_part_u64(d);
		out->device_id = tt_part_u32(d);
	}
	if (!d->bytes.bad)
		(void)ADD(d, &d->tensors, *out);
}
