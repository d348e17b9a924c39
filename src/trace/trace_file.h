/*
 * trace_file.h: a .ttrace file, or a capture, as a list of chunks and what it says about itself. For
 * trace/source.c alone.
 */
#ifndef TT_TRACE_TRACE_FILE_H
#define TT_TRACE_TRACE_FILE_H

#include "event/store.h"
#include "trace/decode.h"
#include "trace/source.h"

/* Texts of the info are in the terms. All zero but fd, -1, is one that is not open. */
struct tt_trace_file {
	int fd; /* -1: in `bytes` */
	bool own_fd;
	struct tt_trace_bytes bytes;
	struct tt_chunk_place *places;
	size_t place_count, place_room;
	uint32_t checksum; /* of the head's body */
	uint64_t head_end;
	/* The last chunk is cut: where, and how often that was counted as damage. */
	uint64_t torn_offset, torn_count;
	uint64_t last_ops; /* of a ring: so many are to be shown; 0: all */
	struct tt_trace_info info;
	uint64_t bad_at_open;
	char damage[256];
};

/*
 * From a file, from its bytes in memory, from a capture; terms->forms is filled. Of a trace that was not
 * ended also what lies beside it (trace/left.h): in memory `beside`, which may be NULL.
 */
tt_status tt_trace_file_open(struct tt_trace_file *file, struct tt_terms *terms, const char *path);
tt_status tt_trace_file_bytes(struct tt_trace_file *file, struct tt_terms *terms,
			      const struct tt_trace_bytes *bytes,
			      const struct tt_trace_bytes *beside);
tt_status tt_trace_file_capture(struct tt_trace_file *file, struct tt_terms *terms,
				struct tt_capture *capture);

/* Reads the head of a chunk. This and the next two may be called by several threads at a time. */
tt_status tt_trace_file_head(struct tt_chunk_head *head, const struct tt_trace_file *file,
			     const struct tt_chunk_place *place);

/* Reads the data of the chunk of this head, stored_size bytes, whose checksum must be right. */
tt_status tt_trace_file_data(unsigned char *out, const struct tt_chunk_head *head,
			     const struct tt_trace_file *file, const struct tt_chunk_place *place);

/*
 * Reads a chunk whose checksum is right: *stored is the caller's to free, or the chunk's own if it is in
 * memory.
 */
tt_status tt_trace_file_chunk(struct tt_chunk_head *head, unsigned char **stored,
			      const struct tt_trace_file *file, const struct tt_chunk_place *place);

/* Adds a chunk that is in memory, sharing it. */
tt_status tt_trace_file_add(struct tt_trace_file *file, const struct tt_chunk_head *head,
			    struct tt_chunk *chunk);

/* Notes the first damage. */
void tt_trace_file_damage(struct tt_trace_file *file, uint64_t offset, const char *what);

void tt_trace_file_close(struct tt_trace_file *file);

#endif
