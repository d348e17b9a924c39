/*
 * record_parts.h: what records are made of, for trace/decode.c and trace/skim.c: numbers, room, and the things that
 * are numbered within a chunk. Those that are known are found in place; a new one is defined by record_parts.c.
 */
#ifndef TT_TRACE_RECORD_PARTS_H
#define TT_TRACE_RECORD_PARTS_H

#include "trace/decode.h"

/* ---- numbers and room ----------------------------------------------------------------------------------- */

static inline uint64_t tt_part_u64(struct tt_decoder *d)
{
	return tt_bytes_number(&d->bytes);
}

static inline uint32_t tt_part_u32(struct tt_decoder *d)
{
	return (uint32_t)tt_bytes_number(&d->bytes);
}

static inline bool tt_part_bool(struct tt_decoder *d)
{
	return tt_bytes_number(&d->bytes) != 0;
}

/* How many things follow: each takes a byte at least, so no number can make the reader allocate much. */
static inline size_t tt_part_count(struct tt_decoder *d)
{
	uint64_t count = tt_bytes_number(&d->bytes);

	if (__builtin_expect(count > (uint64_t)(d->bytes.end - d->bytes.at), 0)) {
		d->bytes.bad = true;
		return 0;
	}
	return (size_t)count;
}

/* Room for one event, not cleared; NULL when memory is exhausted, which is remembered. */
static inline void *tt_part_room(struct tt_decoder *d, size_t count, size_t size)
{
	struct tt_arena *arena = d->arena;
	size_t bytes = (count * size + 15) & ~(size_t)15;
	void *room = arena->next;

	if (__builtin_expect(bytes && (size_t)(arena->end - arena->next) >= bytes, 1)) {
		arena->next += bytes;
		arena->bytes += bytes;
		return room;
	}
	room = tt_arena_alloc(arena, bytes);
	d->terms->nomem |= !room;
	return room;
}

/* The same, cleared. */
void *tt_part_cleared(struct tt_decoder *d, size_t count, size_t size);

/* ---- things with numbers -------------------------------------------------------------------------------- */

/*
 * The number of a thing: 1 to `known`, or one more for a new one (*fresh), whose definition follows; 0 when
 * it is none or anything is wrong.
 */
static inline size_t tt_part_number(struct tt_decoder *d, size_t known, bool *fresh)
{
	uint64_t number = tt_bytes_number(&d->bytes);

	*fresh = false;
	if (__builtin_expect(number <= known, 1))
		return (size_t)number;
	if (number == known + 1) {
		*fresh = true;
		return (size_t)number;
	}
	d->bytes.bad = true;
	return 0;
}

/* Each reads the definition of a new thing and puts it into its table; false when memory is exhausted. */
bool tt_part_define_name(struct tt_decoder *d);
bool tt_part_define_cores(struct tt_decoder *d);
bool tt_part_define_schema(struct tt_decoder *d);
bool tt_part_define_member(struct tt_decoder *d);
bool tt_part_define_spec(struct tt_decoder *d);
bool tt_part_define_frame(struct tt_decoder *d);

/* A new tensor, to *out and into the table. */
void tt_part_define_tensor(struct tt_event_tensor *out, struct tt_decoder *d);

/* tt_part_X(d): the thing whose number comes next, or `none`. */
#define TT_PART_FIND(name, type, table, none)                                                      \
	static inline type tt_part_##name(struct tt_decoder *d)                                    \
	{                                                                                          \
		bool fresh;                                                                        \
		size_t number = tt_part_number(d, d->table.count, &fresh);                         \
                                                                                                   \
		if (__builtin_expect(fresh, 0) && !tt_part_define_##name(d))                       \
			return none;                                                               \
		return number ? d->table.data[number - 1] : none;                                  \
	}
TT_PART_FIND(name, const char *, names, NULL)
TT_PART_FIND(cores, const ttnn_core_set *, core_sets, NULL)
TT_PART_FIND(schema, const struct tt_schema *, schemas, NULL)
TT_PART_FIND(spec, const struct ttnn_tensor_spec *, specs, NULL)
TT_PART_FIND(member, struct ttnn_value, members, (struct ttnn_value){0})
#undef TT_PART_FIND

/* ---- parts of values ------------------------------------------------------------------------------------ */

void tt_part_shape(struct ttnn_shape *out, struct tt_decoder *d);
void tt_part_tile(struct ttnn_tile *out, struct tt_decoder *d);
void tt_part_shard(struct ttnn_shard_spec *out, struct tt_decoder *d);
void tt_part_nd_shard(struct ttnn_nd_shard_spec *out, struct tt_decoder *d);
void tt_part_memory_config(struct ttnn_memory_config *out, struct tt_decoder *d);

/* A grid is never missing: who prints a shard spec takes it for granted. */
const ttnn_core_set *tt_part_grid(struct tt_decoder *d);

/* ---- skim.c --------------------------------------------------------------------------------------------- */

/* The place behind a field that nobody wants; bytes.bad is set when there is none. */
const unsigned char *tt_skim_values(struct tt_decoder *d, const unsigned char *at);
const unsigned char *tt_skim_tensors(struct tt_decoder *d, const unsigned char *at);
const unsigned char *tt_skim_frames(struct tt_decoder *d, const unsigned char *at);
const unsigned char *tt_skim_schema(struct tt_decoder *d, const unsigned char *at);

/* ---- decode.c ------------------------------------------------------------------------------------------- */

/* A block that has a number now: into the table. */
bool tt_part_define_block(struct tt_decoder *d);

/* Reads fields by their letters, only to be past them. */
void tt_part_pass_over(struct tt_decoder *d, const char *forms);

#endif
