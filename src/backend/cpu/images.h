/*
 * images.h: images with their channels last, as dense rows of pixels, for convolution, pooling and
 * resizing.
 */
#ifndef TT_BACKEND_CPU_IMAGES_H
#define TT_BACKEND_CPU_IMAGES_H

#include "backend/cpu/cpu_backend.h"

/*
 * Refuses windows without extent, and tensors that hold other pixels, or too few unless the input may
 * have fewer.
 */
tt_status tt_images_check(const struct tt_window *window, const struct tt_tensor *out,
			  uint32_t out_channels, const struct tt_tensor *in, bool fewer);

/* How many pixels the result has. */
static inline uint64_t tt_images_pixels(const struct tt_window *window)
{
	return (uint64_t)window->batch * window->out_height * window->out_width;
}

/* A pixel of the result. */
struct tt_pixel {
	uint32_t batch, y, x;
};
struct tt_pixel tt_images_pixel(const struct tt_window *window, uint64_t number);

/* The number of an input pixel. It must lie inside of the image. */
static inline uint64_t tt_images_number(const struct tt_window *window, uint32_t batch, int64_t y,
					int64_t x)
{
	return ((uint64_t)batch * window->height + (uint64_t)y) * window->width + (uint64_t)x;
}

/* Where the window's element k lies in one direction (0 down, 1 across): outside is below 0 or more. */
static inline int64_t tt_images_at(const struct tt_window *window, int direction, uint32_t at,
				   uint32_t k)
{
	return (int64_t)at * window->stride[direction] - window->pad[direction] +
	       (int64_t)k * window->dilation[direction];
}

#endif
