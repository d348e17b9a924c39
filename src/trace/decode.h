/*
 * decode.h: the records of a chunk as events again: the other direction of event/encode.c. The reader
 * (trace/source.c) keeps one struct tt_terms for all chunks and one struct tt_decoder for each that is open.
 *
 *	decode.c   records, values                 skim.c   being past what nobody wants
 *	record_parts.c    what is numbered in a chunk     terms.c  what all chunks have in common
 */
#ifndef TT_TRACE_DECODE_H
#define TT_TRACE_DECODE_H

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "event/encode.h"
#include "event/event.h"
#include "trace/bytes.h"

/*
 * What lives as long as the source: every name, schema and enumeration once. A program has so many of them
 * as its code has; a file that claims more than TT_TERMS_MAX bytes of them is none of ours.
 */
struct tt_terms {
	struct tt_arena arena;
	struct tt_map names, schemas, enums;
	size_t member_count;
	uint64_t chunks;                                /* that were begun, of all decoders */
	char forms[TT_RECORD_KIND + 1][TT_CHUNK_KINDS]; /* the fields that the file has */
	bool nomem;
};

#define TT_TERMS_MAX ((size_t)32 << 20)

void tt_terms_deinit(struct tt_terms *terms);

/* The one copy of a text; NULL when memory is exhausted, which is remembered. */
const char *tt_terms_name(struct tt_terms *terms, const char *text, size_t length);

/* Values that a chunk tells more than once. */
struct tt_block {
	const struct ttnn_value *values;
	size_t count;
};

/* What is made of records; see struct tt_source_wants. */
struct tt_decoder_wants {
	uint32_t kinds; /* bits: those that tt_decoder_skim() does not pass over */
	bool values, tensors, frames;
	bool blocks; /* somebody wants values of blocks, which may be told first where nobody does */
};

/* One chunk on its way. All zero is one without a chunk. */
struct tt_decoder {
	struct tt_terms *terms;
	struct tt_arena *arena; /* for one event */
	struct tt_bytes bytes;
	uint64_t ticks, op; /* of the last record; ticks since the first */
	bool begun;         /* a record is: its first byte and ticks are read */
	unsigned char first;
	uint64_t last_tensor, last_buffer;
	struct tt_decoder_wants wants;
	uint32_t ours; /* bits: kinds whose fields are those of this version */
	TT_VEC(const char *) names;
	TT_VEC(const struct tt_schema *) schemas;
	TT_VEC(const ttnn_core_set *) core_sets;
	TT_VEC(const struct ttnn_tensor_spec *) specs;
	TT_VEC(struct tt_event_frame) frames;
	TT_VEC(struct ttnn_value) members;
	TT_VEC(struct tt_event_tensor) tensors; /* all that the chunk has told */
	TT_VEC(struct tt_block) blocks;
	struct tt_arena kept; /* specs, and what is in blocks */
	uint64_t chunk;       /* its number; never that of another */
	struct tt_block same; /* of the values that were read last, those of a block; none: NULL */
	size_t same_from;     /* how many came before them */
};

/* Readable zeros behind the data of a chunk that is skimmed. */
#define TT_DECODER_SLACK 64

/* Everything is wanted unless *wants (optional) says less: then TT_DECODER_SLACK zeros follow the data. */
void tt_decoder_start(struct tt_decoder *decoder, struct tt_terms *terms, struct tt_arena *arena,
		      const struct tt_bytes *data, const struct tt_decoder_wants *wants);
void tt_decoder_deinit(struct tt_decoder *decoder);

/* Frees what grows with a chunk, after its last event. */
void tt_decoder_release(struct tt_decoder *decoder);

/* Begins with the next record: decoder->ticks are its. False at the end of the chunk. */
static inline bool tt_decoder_peek(struct tt_decoder *decoder)
{
	if (decoder->bytes.at >= decoder->bytes.end)
		return decoder->begun;
	if (!decoder->begun) {
		decoder->begun = true;
		decoder->first = *decoder->bytes.at++;
		decoder->ticks += tt_bytes_number(&decoder->bytes);
	}
	return true;
}

/*
 * Passes over records of kinds that nobody wants, to the first that is wanted, begins an outermost call, or
 * makes no sense (tt_decoder_next() tells of that one). What they define is defined.
 */
void tt_decoder_skim(struct tt_decoder *decoder);

/*
 * Reads a record, which there must be; *begins: it begins an outermost call, decoder->op. One of a later version's kinds is
 * passed over: its kind is TT_EVENT_KINDS. TTNN_FORMAT: the rest of the chunk cannot be read.
 */
tt_status tt_decoder_next(struct tt_event *out, bool *begins, struct tt_decoder *decoder);

#endif
