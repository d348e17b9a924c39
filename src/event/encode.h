/*
 * encode.h: events as bytes: one thread's current chunk and the tables of what it has named already.
 * The recorder (event/capture.c) owns one for every thread; trace/decode.c is the other direction.
 *
 * A record is a byte with the kind (and a bit for "an outermost call begins"), the time since the
 * record before it, and the fields of event/fields.h. Things that come again and again (names,
 * schemas, enumeration members, core sets, specs, stack frames) are numbered from 1 within the chunk: a
 * number one higher than the highest so far introduces a new one, whose definition follows at once.
 */
#ifndef TT_EVENT_ENCODE_H
#define TT_EVENT_ENCODE_H

#include <stdatomic.h>

#include "event/event.h"
#include "event/ttrace.h"

/* In the first byte of a record. */
#define TT_RECORD_KIND 0x3f
#define TT_RECORD_OP 0x80

/* Lists, and objects in objects, deeper than this are written as "nothing". */
#define TT_VALUE_DEPTH_MAX 16

/* Blocks of more values than this have no number: they are written out each time. */
#define TT_BLOCK_MAX 1024

/* At most so many values that are absent follow the last one that is not. */
#define TT_VALUES_ABSENT 256

/* So many of the tensors a chunk has told last are called by how long ago that was. */
#define TT_TENSORS_RECENT 8

struct tt_encoder;

/*
 * When a record was made (0: with the one before it, but not as the first of a chunk), and the number
 * of the outermost call that it begins, or 0.
 */
struct tt_stamp {
	uint64_t ticks, op;
	bool together; /* told with the record before it: the same places hold the same */
};

/* How often scopes of a name began in a chunk. */
struct tt_name_count {
	const char *name;
	uint32_t kind, count;
};

/* An encoder without a chunk. */
tt_status tt_encoder_new(struct tt_encoder **out);
void tt_encoder_free(struct tt_encoder *encoder);

/*
 * Begins a chunk in `room` bytes at `data`, which stay the caller's. *committed (optional) becomes the
 * bytes of whole records, little-endian, after each.
 */
void tt_encoder_start(struct tt_encoder *encoder, unsigned char *data, size_t room,
		      atomic_uint_least32_t *committed);

/* Appends a record, or changes nothing and returns false: it does not fit any more. */
bool tt_encoder_put(struct tt_encoder *encoder, const struct tt_event *event,
		    const struct tt_stamp *stamp);

/* What the chunk holds so far: events, operations, counts and raw_size are set, times not. */
const struct tt_chunk_head *tt_encoder_head(struct tt_encoder *encoder);

/* The ticks of its first and last record. */
void tt_encoder_ticks(uint64_t *first, uint64_t *last, const struct tt_encoder *encoder);

/* The names of its scopes. Borrowed until the next start. */
const struct tt_name_count *tt_encoder_names(size_t *count, const struct tt_encoder *encoder);

/* ---- for the head of a file -------------------------------------------------------------------- */

/* Appends to bytes as records do: a number, a text (or NULL). */
void tt_encode_number(struct tt_str *out, uint64_t number);
void tt_encode_text(struct tt_str *out, const char *text);

/* The name of a kind of event in files, and the letters of its fields (enum tt_form). */
const char *tt_event_kind_name(enum tt_event_kind kind);
const char *tt_event_forms(enum tt_event_kind kind);

/* Appends the names of all kinds with the forms of their fields, which is the last of what a head tells. */
void tt_encode_kinds(struct tt_str *out);

#endif
