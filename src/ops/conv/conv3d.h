/*
 * conv3d.h: convolutions of volumes: conv3d.c is the operation and its program, conv3d_weights.c prepares weights.
 * Index 0 of three is along the depth (time), 1 down, 2 across.
 */
#ifndef TT_OPS_CONV_CONV3D_H
#define TT_OPS_CONV_CONV3D_H

#include "ops/op.h"

/* The channels of a block of weights where nobody says how many: whole tiles of rows, aligned in L1. */
uint32_t tt_conv3d_block(const uint32_t kernel[3]);

struct tt_conv3d_prep {
	struct tt_tensor *weight; /* [out, in / groups, depth, height, width] */
	int64_t groups, block, alignment;
	struct tt_device *device;
};

/* Weights as rows of [blocks of channels, kernel, channels of a block] on the device. *out is the caller's. */
tt_status tt_conv3d_prepare(struct tt_tensor **out, struct tt_call *call,
			    const struct tt_conv3d_prep *prep);

#endif
