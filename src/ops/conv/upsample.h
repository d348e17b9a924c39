/* upsample.h: what the operation that makes images larger hands to its program. */
#ifndef TT_OPS_CONV_UPSAMPLE_H
#define TT_OPS_CONV_UPSAMPLE_H

#include "ops/conv/halo.h"

struct tt_upsample {
	struct tt_haloed haloed; /* of the linear form; first: for tt_halo_image() */
	float scale[2];
	const char *mode; /* as it was asked for */
	bool linear;
	uint32_t nhwc[4]; /* of the input */
	const struct ttnn_memory_config *memory;
	struct ttnn_value compute;
	const struct tt_slide *slide; /* of the linear form, or NULL */
};

/* Images have four dimensions: others are refused inside of the program. */
tt_status tt_upsample_check_rank(const struct tt_tensor *in);

/* Launches it; the input is the image, or the halo of the linear form. */
tt_status tt_upsample_launch(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			     const struct tt_upsample *upsample);

#endif
