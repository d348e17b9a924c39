/*
 * planes.h: tensors of up to four dimensions as planes of rows, [outer, inner, rows, width], and the
 * rows of a plane as float32: for attention and its caches.
 */
#ifndef TT_BACKEND_CPU_PLANES_H
#define TT_BACKEND_CPU_PLANES_H

#include "backend/cpu/cpu_backend.h"

struct tt_planes {
	struct tt_area area;
	uint32_t outer, inner, rows, width;
};

/* Some rows of one plane. */
struct tt_plane_part {
	uint64_t outer, inner, row;
	uint32_t rows;
};

/* Rows that tt_planes_load() may need room for, besides those that are asked for. */
#define TT_PLANES_MORE 31

/* Fails with more than four dimensions. */
tt_status tt_planes_init(struct tt_planes *out, const struct tt_area *area);

/*
 * The rows, dense, as float32: where they lie if they are such, else in `room`, which has room for
 * TT_PLANES_MORE rows more, because tiles are read whole.
 */
const float *tt_planes_load(float *room, const struct tt_planes *planes,
			    const struct tt_plane_part *part);

/* Stores rows that begin where a tile does and end where one, or the plane, does. */
void tt_planes_store(const struct tt_planes *planes, const struct tt_plane_part *part,
		     const float *rows);

/* ---- positions and pages ------------------------------------------------------------------------ */

/* Where each batch begins: from a tensor, a list (NULL: none), or `start` for all. */
struct tt_starts {
	const struct tt_tensor *tensor;
	const int32_t *list;
	int64_t start;
};

/* For tt_large_free(), with count × 8 bytes. */
tt_status tt_starts_read(int64_t **out, struct tt_session *session, const struct tt_starts *starts,
			 uint64_t count);

/* Which block holds which rows of a batch. */
struct tt_pages {
	struct tt_scratch scratch;
	const int32_t *data; /* NULL: none; then the planes are those of the batch */
	uint32_t batches, blocks;
	uint32_t modulo; /* not 0: row j lies where row j % modulo does */
};

/* The caller deinits the scratch, also on failure. */
tt_status tt_pages_read(struct tt_pages *out, struct tt_session *session,
			const struct tt_tensor *tensor);

#define TT_NO_PLANE UINT64_MAX

/*
 * Where `row` of batch `batch` lies in the planes (outer and row of *part; inner stays), and in
 * part->rows, which holds how many are wanted, how many rows follow on it there. Outer is TT_NO_PLANE
 * where the table has a number below 0. Fails when there is no such row.
 */
tt_status tt_pages_find(struct tt_plane_part *part, const struct tt_pages *pages,
			const struct tt_planes *planes, uint64_t batch, uint64_t row);

#endif
