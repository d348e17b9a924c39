#include "backend/cpu/images.h"

#include "tensor/shape.h"

/* How many pixels a tensor may have beside those that are wanted. */
enum rest { EXACT = 0, MORE = 1, FEWER = 2 };

/* Whether the tensor's elements are `pixels` of so many channels. */
static tt_status check_volume(const struct tt_tensor *tensor, uint64_t pixels, uint32_t channels,
			      unsigned rest)
{
	uint64_t volume, wanted;

	TT_TRY(tt_cpu_volume(&volume, tensor));
	if (__builtin_mul_overflow(pixels, channels, &wanted))
		return tt_fail_nomem();
	if (volume == wanted || ((rest & (volume > wanted ? MORE : FEWER)) &&
				 tt_shape_last(&tensor->spec.shape, 1) == channels))
		return TTNN_OK;
	return tt_fail(TTNN_INTERNAL, "%llu elements are not %llu pixels of %u channels",
		       (unsigned long long)volume, (unsigned long long)pixels, channels);
}

tt_status tt_images_check(const struct tt_window *window, const struct tt_tensor *out,
			  uint32_t out_channels, const struct tt_tensor *in, bool fewer)
{
	uint64_t pixels = (uint64_t)window->height * window->width;

	for (int d = 0; d < 2; d++)
		if (!window->kernel[d] || !window->stride[d] || !window->dilation[d])
			return tt_fail(TTNN_INTERNAL, "a window without extent");
	if (__builtin_mul_overflow(pixels, window->batch, &pixels))
		return tt_fail_nomem();
	TT_TRY(check_volume(in, pixels, window->channels, fewer ? MORE | FEWER : MORE));
	if (tt_shape_last(&out->spec.shape, 1) != out_channels)
		return tt_fail(TTNN_INTERNAL, "the output's rows are not pixels");
	return check_volume(out, tt_images_pixels(window), out_channels, EXACT);
}

struct tt_pixel tt_images_pixel(const struct tt_window *window, uint64_t number)
{
	uint64_t line = number / window->out_width;

	return (struct tt_pixel){
		.batch = (uint32_t)(line / window->out_height),
		.y = (uint32_t)(line % window->out_height),
		.x = (uint32_t)(number % window->out_width),
	};
}
