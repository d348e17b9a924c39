/*
 * decode.h: the records of a chunk as events again: the other direction of event/encode.c. The reader
 * (trace/source.c) keeps one struct tt_terms for all chunks and one struct tt_decoder for each that is open.
 */
#ifndef TT_TRACE_DECODE_H
#define TT_TRACE_DECODE_H

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "event/encode.h"
#include "event/event.h"

/* Bytes being read. `bad` is set by what does not fit, and reading goes on with zeros. */
struct tt_bytes {
	const unsigned char *at, *end;
	bool bad;
};

uint64_t tt_bytes_number(struct tt_bytes *bytes);
int64_t tt_bytes_signed(struct tt_bytes *bytes);
/* The next `size` bytes, or NULL. */
const void *tt_bytes_take(struct tt_bytes *bytes, uint64_t size);
/* A text in place, without a zero at its end; false when it is NULL. */
bool tt_bytes_text(const char **text, size_t *length, struct tt_bytes *bytes);

/* What lives as long as the source: every name, spec, schema and enumeration once. */
struct tt_terms {
	struct tt_arena arena;
	struct tt_map names, specs, schemas, enums;
	char forms[TT_RECORD_KIND + 1][TT_CHUNK_KINDS]; /* the fields that the file has */
	bool nomem;
};

void tt_terms_deinit(struct tt_terms *terms);

/* The one copy of a text; NULL when memory is exhausted, which is remembered. */
const char *tt_terms_name(struct tt_terms *terms, const char *text, size_t length);

/* Values that a chunk tells more than once. */
struct tt_block {
	const struct ttnn_value *values;
	size_t count;
};

/* One chunk on its way. All zero is one without a chunk. */
struct tt_decoder {
	struct tt_terms *terms;
	struct tt_arena *arena; /* for one event */
	struct tt_bytes bytes;
	uint64_t ticks, op; /* of the last record; ticks since the first */
	uint64_t last_tensor, last_buffer;
	TT_VEC(const char *) names;
	TT_VEC(const struct tt_schema *) schemas;
	TT_VEC(const ttnn_core_set *) core_sets;
	TT_VEC(const struct ttnn_tensor_spec *) specs;
	TT_VEC(struct tt_event_frame) frames;
	TT_VEC(struct ttnn_value) members;
	TT_VEC(struct tt_event_tensor) tensors; /* all that the chunk has told */
	TT_VEC(struct tt_block) blocks;
	struct tt_arena kept; /* what is in blocks */
};

void tt_decoder_start(struct tt_decoder *decoder, struct tt_terms *terms, struct tt_arena *arena,
		      const unsigned char *data, size_t size);
void tt_decoder_deinit(struct tt_decoder *decoder);

/* Frees what grows with a chunk, after its last event. */
void tt_decoder_release(struct tt_decoder *decoder);

/* The ticks of the record that comes next; false at the end of the chunk. */
bool tt_decoder_peek(uint64_t *ticks, const struct tt_decoder *decoder);

/*
 * Reads a record; *begins: it begins an outermost call, decoder->op. One of a later version's kinds is
 * passed over: its kind is TT_EVENT_KINDS. TTNN_FORMAT: the rest of the chunk cannot be read.
 */
tt_status tt_decoder_next(struct tt_event *out, bool *begins, struct tt_decoder *decoder);

#endif
