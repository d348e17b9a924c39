/*
 * cpu_backend.h: what the kernels of the CPU backend share: where a tensor's elements lie, scratch tensors,
 * and the jobs themselves, one file each, which cpu_backend.c puts into the backend's struct.
 *
 * Kernels see tensors as areas (tensor/layout.h): a matrix of rows or tiles, with the extents of the
 * logical shape and the steps between them, so any alignment is like any other.
 */
#ifndef TT_BACKEND_CPU_CPU_BACKEND_H
#define TT_BACKEND_CPU_CPU_BACKEND_H

#include "backend/backend.h"
#include "tensor/layout.h"

/* Elements of a piece that stays in the first-level cache while functions are applied to it. */
#define TT_CPU_PIECE 1024
/* Elements that are worth another thread. */
#define TT_CPU_GRAIN 32768

/* ---- tensors --------------------------------------------------------------------------------- */

/*
 * The tensors of one job. A device makes bytes when they are asked for, and gives a writer others
 * when someone reads the old ones: so inputs are opened before outputs, and all stay held until the
 * end of the job. All zero is an empty session.
 */
struct tt_session {
	struct tt_storage *held[8];
	uint32_t count;
};

/* Where the elements of an input lie. */
tt_status tt_session_read(struct tt_area *out, struct tt_session *session,
			  const struct tt_tensor *tensor);

/* The same of an output; its elements are undefined unless `keep`. */
tt_status tt_session_write(struct tt_area *out, struct tt_session *session,
			   const struct tt_tensor *tensor, bool keep);

/* Lets go of all tensors; returns `status`, so that a job can end with it. */
tt_status tt_session_end(struct tt_session *session, tt_status status);

/* The number of elements of the logical shape. */
tt_status tt_cpu_volume(uint64_t *out, const struct tt_tensor *tensor);

static inline bool tt_area_is_tiled(const struct tt_area *area)
{
	return area->tile.height != 0;
}

/* Whether the elements follow each other in row-major order with nothing between them. */
bool tt_area_is_dense(const struct tt_area *area);

/* Whether equal indices lie at equal places, whatever the element types are. */
bool tt_area_alike(const struct tt_area *a, const struct tt_area *b);

/* Whether something besides the elements of the logical shape is stored. */
bool tt_area_has_padding(const struct tt_area *area);

/* ---- scratch --------------------------------------------------------------------------------- */

/* A tensor for the time of a job. All zero is none. */
struct tt_scratch {
	struct tt_area area;
	void *block;
	size_t bytes;
};

/* Rows without padding, or TILE layout when a tile is given; `dtype` is no block float. */
tt_status tt_scratch_init(struct tt_scratch *out, const struct ttnn_shape *shape,
			  enum ttnn_dtype dtype, const struct ttnn_tile *tile);
void tt_scratch_deinit(struct tt_scratch *scratch);

/* The type that holds all values of `dtype` and has single elements: bfloat16 for block floats. */
enum ttnn_dtype tt_cpu_single(enum ttnn_dtype dtype);

/*
 * The elements as dense rows of this type: the area itself when it is such, else a copy in
 * `scratch`, which the caller deinits either way (also on failure).
 */
tt_status tt_cpu_rows(struct tt_area *out, struct tt_scratch *scratch, const struct tt_area *in,
		      enum ttnn_dtype dtype);

/* ---- jobs ------------------------------------------------------------------------------------ */

tt_status tt_cpu_map(const struct tt_map_job *job);
tt_status tt_cpu_move(const struct tt_move_job *job);
tt_status tt_cpu_reshape(struct tt_tensor *out, struct tt_tensor *in);
tt_status tt_cpu_bitcast(struct tt_tensor *out, struct tt_tensor *in);
tt_status tt_cpu_fill(struct tt_tensor *out, double value, enum tt_fill_region region);
tt_status tt_cpu_range(struct tt_tensor *out, double start, double step);
tt_status tt_cpu_reduce(const struct tt_reduce_job *job);
tt_status tt_cpu_scan(const struct tt_scan_job *job);
tt_status tt_cpu_states(const struct tt_states_job *job);
tt_status tt_cpu_softmax(const struct tt_softmax_job *job);
tt_status tt_cpu_sort(const struct tt_sort_job *job);
tt_status tt_cpu_index(const struct tt_index_job *job);
tt_status tt_cpu_sample(const struct tt_sample_job *job);
tt_status tt_cpu_rotate(const struct tt_rotate_job *job);
tt_status tt_cpu_yuv(const struct tt_yuv_job *job);
tt_status tt_cpu_nonzero(struct tt_tensor *count, struct tt_tensor *where, struct tt_tensor *in);
tt_status tt_cpu_random(const struct tt_random_job *job);
tt_status tt_cpu_matmul(const struct tt_matmul_job *job);
tt_status tt_cpu_conv(const struct tt_conv_job *job);
tt_status tt_cpu_conv3d(const struct tt_conv3d_job *job);
tt_status tt_cpu_pool(const struct tt_pool_job *job);
tt_status tt_cpu_resize(const struct tt_resize_job *job);
tt_status tt_cpu_norm(const struct tt_norm_job *job);
tt_status tt_cpu_attention(const struct tt_attention_job *job);
tt_status tt_cpu_cache(const struct tt_cache_job *job);
tt_status tt_cpu_rotary(const struct tt_rotary_job *job);

/*
 * Copies between areas of the same shape, whatever type and layout they have; padding becomes
 * zeros or stays. The areas are the same memory only when they lie alike and have one type.
 */
tt_status tt_cpu_copy(const struct tt_area *out, const struct tt_area *in);

/* Copies bytes with all threads. */
void tt_cpu_memcpy(void *out, const void *in, uint64_t bytes);

#endif
