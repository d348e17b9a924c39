/*
 * sliding_window.h: windows that slide over images, and how their work is spread over cores. What a window
 * sees is a matrix of sticks: one row for each element of the images, padding included, with the
 * channels beside each other. Each core makes a run of results and needs the sticks from the first
 * one's window to the last one's: its halo.
 *
 * Programs that gather a halo, or read windows from one, take tables along that say where things
 * are. Only the sizes of those tables matter to memory, and only they are worked out here.
 *
 * Index 0 of a pair is down, 1 across.
 */
#ifndef TT_OPS_CONV_SLIDING_WINDOW_H
#define TT_OPS_CONV_SLIDING_WINDOW_H

#include "base/arena.h"
#include "event/value.h"

struct tt_call;
struct tt_device;

struct tt_slide {
	uint32_t batch, channels;
	uint32_t in[2], window[2], stride[2];
	uint32_t pad[4]; /* top, bottom, left, right */
	uint32_t out_pad[2], dilation[2];
	bool has_ceil_pad; /* given, not worked out from ceil */
	uint32_t ceil_pad[2];
	uint32_t cores_nhw, cores_c;
	const ttnn_core_set *cores;
	bool snap; /* a core's results are whole tiles */
	bool bilinear, transpose, ceil;
	bool replicate;    /* padding is the nearest element inside, not zeros */
	uint32_t scale[2]; /* bilinear: how much larger the result is; 0 stands for 1 */
};

/* How large the result is. */
void tt_slide_out(uint32_t out[2], const struct tt_slide *slide);

/* What rounding up adds at the bottom and on the right. */
void tt_slide_ceil_pad(uint32_t out[2], const struct tt_slide *slide);

/* A transposed window: the image with its holes and padding, and the padding as in pad. */
void tt_slide_transposed(uint32_t size[2], uint32_t pad[4], const struct tt_slide *slide);

/* Results start .. end of a slice, down and across. */
struct tt_slice {
	uint32_t start[2], end[2];
};

/* The part of the images that a slice of the result needs, as a window of its own; it begins at `start`. */
struct tt_slide tt_slide_part(uint32_t start[2], const struct tt_slide *slide,
			      const struct tt_slice *slice);

/* Results of one core; all but the last ones have as many. */
uint32_t tt_slide_share(const struct tt_slide *slide);

/* Sticks of the largest halo. */
uint32_t tt_slide_halo_sticks(const struct tt_slide *slide);

/* Where sticks come from: a sharded tensor. */
struct tt_slide_source {
	uint32_t shard_height;
	bool tiled, block, transposed; /* tiles; sharded in blocks; those column by column */
	uint32_t box_width;            /* cores of the grid across */
};

/* How wide the four tables of a halo are: padding for both readers, then sticks for both. */
tt_status tt_slide_halo_tables(uint32_t out[4], struct tt_arena *arena,
			       const struct tt_slide *slide, const struct tt_slide_source *source,
			       struct tt_device *device);

/*
 * How wide the table of windows is. A reader's block has `first` results; with two readers, who take
 * turns, the other's has `second`. All results are one block when first is 0.
 */
uint32_t tt_slide_window_table(const struct tt_slide *slide, uint32_t stride, uint32_t first,
			       uint32_t second);

/* As an attribute, in `arena`. Absent when memory is exhausted. */
struct ttnn_value tt_slide_value(struct tt_arena *arena, const struct tt_slide *slide);

/* Arguments of a call: [height, width]; padding also as [top, bottom, left, right]. What was not given stays. */
tt_status tt_slide_pair(uint32_t out[2], const struct tt_call *call, const char *name);
tt_status tt_slide_padding(uint32_t out[4], const struct tt_call *call);

#endif
