/*
 * halo.h: the program that gives each core of a sharded image the sticks that its windows reach
 * (sliding_window.h).
 *
 * What follows, a pool or a convolution, is computed from the image itself, which is carried along
 * beside the halo: the halo has a place and a size, but no values. Only windows of one element that
 * meet each once have: those are the images with their padding (fold.c).
 */
#ifndef TT_OPS_CONV_HALO_H
#define TT_OPS_CONV_HALO_H

#include "ops/conv/sliding_window.h"
#include "ops/op.h"

/* A halo and the image it was made of. Both are the holder's. */
struct tt_haloed {
	struct tt_tensor *halo;
	struct tt_tensor *image;
};

struct tt_halo_args {
	const struct tt_slide *slide;
	const struct ttnn_value *compute; /* (optional) the caller's compute config */
	uint32_t pad_value;               /* its bits */
	bool fp32;                        /* without one: accumulate in float32 */
	bool tiled_out;                   /* for who reads it, results are tiles */
	bool tables_in_dram;              /* not in the small part of L1 */
	bool free_input;                  /* deallocate the input as soon as it is read */
	bool take_input;                  /* and give up the call's reference to it */
	bool move_output;                 /* then to where there is room */
};

/* Launches it on a sharded tensor. The caller drops the parts of *out. */
tt_status tt_halo(struct tt_haloed *out, struct tt_call *call, struct tt_tensor *in,
		  const struct tt_halo_args *args);

/*
 * Tables of a program, on the cores of a sharded tensor or in DRAM, with a row for each core: all
 * made on the host, then moved. The launch keeps them; out[0 .. count) borrow.
 */
struct tt_halo_tables {
	uint32_t cores;
	const uint32_t *widths;
	size_t count; /* at most TT_KEPT_MAX */
	bool in_dram;
};
tt_status tt_halo_tables(struct tt_tensor **out, struct tt_launch *launch,
			 const struct tt_halo_tables *tables);

/* Appends those buffers that have pages, numbered in order whatever index their rows have. */
tt_status tt_plan_numbered(struct tt_plan *plan, const ttnn_core_set *cores,
			   const struct tt_buffer_row *rows, size_t count);
#define TT_PLAN_NUMBERED(plan, cores, ...)                                                         \
	tt_plan_numbered(plan, cores, (const struct tt_buffer_row[]){__VA_ARGS__},                 \
			 TT_COUNT(((const struct tt_buffer_row[]){__VA_ARGS__})))

/* Bytes of a bank of L1 that tensors have now: an attribute of some programs. */
uint64_t tt_l1_used(struct tt_device *device);

/* The image on the chip a kernel works on, until the kernel ends. */
tt_status tt_halo_image(struct tt_tensor **out, const struct tt_launch *launch);

#endif
