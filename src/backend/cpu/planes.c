#include "backend/cpu/planes.h"

#include "backend/cpu/strips.h"
#include "base/large.h"
#include "tensor/shape.h"

tt_status tt_planes_init(struct tt_planes *out, const struct tt_area *area)
{
	if (area->shape.rank > 4)
		return tt_fail(TTNN_UNSUPPORTED, "attention over %u dimensions", area->shape.rank);
	*out = (struct tt_planes){
		.area = *area,
		.outer = tt_shape_last(&area->shape, 4),
		.inner = tt_shape_last(&area->shape, 3),
		.rows = tt_shape_last(&area->shape, 2),
		.width = tt_shape_last(&area->shape, 1),
	};
	return TTNN_OK;
}

/* The number of a row in the area's matrix. */
static uint64_t matrix_row(const struct tt_planes *planes, const struct tt_plane_part *part)
{
	uint32_t rank = planes->area.shape.rank;
	uint64_t row = part->row;

	if (rank > 2)
		row += part->inner * planes->area.step[rank - 3];
	if (rank > 3)
		row += part->outer * planes->area.step[rank - 4];
	return row;
}

const float *tt_planes_load(float *room, const struct tt_planes *planes,
			    const struct tt_plane_part *part)
{
	uint64_t row = matrix_row(planes, part);
	uint32_t skip = 0;
	struct tt_area rows;

	if (tt_area_is_tiled(&planes->area))
		skip = (uint32_t)(part->row % planes->area.tile.height);
	rows = tt_part_rows(&planes->area, row - skip, part->rows + skip);
	return (const float *)tt_part_load(room, &rows, TTNN_FLOAT32) +
	       (size_t)skip * planes->width;
}

void tt_planes_store(const struct tt_planes *planes, const struct tt_plane_part *part,
		     const float *rows)
{
	struct tt_area to = tt_part_rows(&planes->area, matrix_row(planes, part), part->rows);

	tt_part_store(&to, rows, TTNN_FLOAT32);
}

/* ---- positions and pages ------------------------------------------------------------------------ */

/* A number for each batch, or one for all of them. */
static tt_status read_tensor(int64_t *out, struct tt_session *session,
			     const struct tt_tensor *tensor, uint64_t count)
{
	struct tt_scratch scratch = {0};
	struct tt_area area, rows;
	uint64_t volume;
	tt_status status;

	TT_TRY(tt_cpu_volume(&volume, tensor));
	if (volume < count && volume != 1)
		return tt_fail(TTNN_INTERNAL, "%llu positions for %llu batches",
			       (unsigned long long)volume, (unsigned long long)count);
	TT_TRY(tt_session_read(&area, session, tensor));
	status = tt_cpu_rows(&rows, &scratch, &area, TTNN_INT32);
	for (uint64_t i = 0; status == TTNN_OK && i < count; i++)
		out[i] = ((const int32_t *)rows.data)[volume == 1 ? 0 : i];
	tt_scratch_deinit(&scratch);
	return status;
}

tt_status tt_starts_read(int64_t **out, struct tt_session *session, const struct tt_starts *starts,
			 uint64_t count)
{
	tt_status status = TTNN_OK;

	*out = tt_large_alloc((size_t)count * sizeof(**out));
	if (!*out)
		return tt_fail_nomem();
	for (uint64_t i = 0; i < count; i++)
		(*out)[i] = starts->list ? starts->list[i] : starts->start;
	if (starts->tensor)
		status = read_tensor(*out, session, starts->tensor, count);
	if (status == TTNN_OK)
		return TTNN_OK;
	tt_large_free(*out, (size_t)count * sizeof(**out));
	*out = NULL;
	return status;
}

tt_status tt_pages_read(struct tt_pages *out, struct tt_session *session,
			const struct tt_tensor *tensor)
{
	struct tt_area area, rows;
	uint64_t batches;

	*out = (struct tt_pages){0};
	if (!tensor)
		return TTNN_OK;
	TT_TRY(tt_shape_rows(&batches, &tensor->spec.shape));
	TT_TRY(tt_session_read(&area, session, tensor));
	TT_TRY(tt_cpu_rows(&rows, &out->scratch, &area, TTNN_INT32));
	out->data = rows.data;
	out->batches = (uint32_t)batches;
	out->blocks = tt_shape_last(&rows.shape, 1);
	return TTNN_OK;
}

tt_status tt_pages_find(struct tt_plane_part *part, const struct tt_pages *pages,
			const struct tt_planes *planes, uint64_t batch, uint64_t row)
{
	uint64_t block, left;

	if (pages->data && pages->modulo)
		row %= pages->modulo;
	part->row = row;
	part->outer = batch;
	if (pages->data) {
		block = row / planes->rows;
		if (batch >= pages->batches || block >= pages->blocks)
			return tt_fail(TTNN_INVALID, "the page table has no row %llu of batch %llu",
				       (unsigned long long)row, (unsigned long long)batch);
		block = batch * pages->blocks + block;
		part->outer = pages->data[block] < 0 ? TT_NO_PLANE : (uint64_t)pages->data[block];
		part->row = row % planes->rows;
	}
	if ((part->outer >= planes->outer && part->outer != TT_NO_PLANE) ||
	    part->row >= planes->rows)
		return tt_fail(TTNN_INVALID, "row %llu of batch %llu lies outside of the cache",
			       (unsigned long long)row, (unsigned long long)batch);
	left = planes->rows - part->row;
	if (part->rows > left)
		part->rows = (uint32_t)left;
	return TTNN_OK;
}
