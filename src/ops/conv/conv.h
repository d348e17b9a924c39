/*
 * conv.h: the room of windows over images. Other rooms use nothing of it; the tables of objects and enumerations
 * take the schemas and tt_enum_slice.
 *
 *	sliding_window, parallel_config, halo   sizes of windows, their cores, the sticks they reach
 *	pool_*                                  the largest or the average of windows
 *	upsample*, grid_sample, rotate          larger images, images looked at in places, images turned
 *	conv_*                                  convolutions
 *	conv3d*                                 those of volumes
 *	fold*                                   squares of images as channels
 *
 * Convolutions have parts: the configuration that callers give (conv_config.c), how
 * the work is spread and cut into blocks (conv_plan.c), circular buffers (conv_memory.c), the program
 * (conv_program.c), weights (conv_weights.c), cutting images that do not fit into L1 (conv_slice.c),
 * and the operations (conv.c, conv_l1.c, conv_dram.c).
 *
 * Index 0 of a pair is down, 1 across; padding is top, bottom, left, right.
 */
#ifndef TT_OPS_CONV_CONV_H
#define TT_OPS_CONV_CONV_H

#include "backend/backend.h"
#include "ops/conv/halo.h"
#include "ops/conv/parallel_config.h"

/* ---- what callers give ------------------------------------------------------------------------------ */

/* Something that may be left open. */
enum tt_choice { TT_CHOICE_OPEN = 0, TT_CHOICE_NO, TT_CHOICE_YES };

/* The fields of Conv2dConfig that matter here. */
struct tt_conv_config {
	bool has_weights_dtype, has_layout;
	enum ttnn_dtype weights_dtype;
	enum ttnn_memory_layout layout; /* of shards */
	struct ttnn_value activation;   /* or none */
	bool free_input, move_halo, tables_in_dram;
	uint32_t block_height, width_div; /* act_block_h_override, act_block_w_div */
	bool reshard, override_cores, override_output;
	const ttnn_core_set *cores;
	bool transpose_shards;
	enum ttnn_layout out_layout;
	bool double_act, double_weights, full_inner, reuse, replicate;
	enum tt_choice fold, split_reader;
};
extern const struct tt_schema tt_schema_conv, tt_schema_slice, tt_schema_conv3d, tt_schema_yuv;
#define TT_SIG_CONV                                                                                \
	"*, weights_dtype: DataType? = None, activation: Unary? = None, "                          \
	"deallocate_activation: bool = False, reallocate_halo_output: bool = True, "               \
	"config_tensors_in_dram: bool = False, act_block_h_override: int = 0, "                    \
	"act_block_w_div: int = 1, reshard_if_not_optimal: bool = False, "                         \
	"override_sharding_config: bool = False, shard_layout: MemoryLayout? = None, "             \
	"core_grid: CoreRangeSet? = None, transpose_shards: bool = False, "                        \
	"output_layout: Layout = TILE, enable_act_double_buffer: bool = False, "                   \
	"enable_weights_double_buffer: bool = False, full_inner_dim: bool = False, "               \
	"enable_kernel_stride_folding: bool? = None, enable_activation_reuse: bool = False, "      \
	"force_split_reader: bool? = None, override_output_sharding_config: bool = False, "        \
	"padding_mode: PaddingMode = Zeros"
#define TT_SIG_CONV3D                                                                               \
	"*, weights_dtype: DataType = BFLOAT16, output_layout: Layout = ROW_MAJOR, "                \
	"T_out_block: size = 1, W_out_block: size = 1, H_out_block: size = 1, C_out_block: size = " \
	"0, C_in_block: size = 0, dilation: sizes = [1, 1, 1], alignment: size = 32, "              \
	"compute_with_storage_grid_size: CoreCoord = [1, 1], enable_fp32_operand_split: bool = "    \
	"False"
#define TT_SIG_YUV                                                                                 \
	"y: floats = [0.0, 0.0, 0.0, 0.0], cb: floats = [0.0, 0.0, 0.0, 0.0], cr: floats = [0.0, " \
	"0.0, 0.0, 0.0]"
#define TT_SIG_SLICE "*, slice_type: enum, num_slices: int = 0"
void tt_conv_config_read(struct tt_conv_config *out, const struct ttnn_value *value);

/* How a convolution in DRAM is cut. */
enum tt_slice_kind { TT_SLICE_L1 = 0, TT_SLICE_HEIGHT, TT_SLICE_WIDTH };
extern const struct tt_enum tt_enum_slice;
struct tt_conv_slices {
	bool given;
	enum tt_slice_kind kind;
	uint32_t count; /* 0: as many as necessary */
};
void tt_conv_slices_read(struct tt_conv_slices *out, const struct ttnn_value *value);

/* ---- a convolution ------------------------------------------------------------------------------------ */

struct tt_conv {
	struct tt_device *device;
	uint32_t batch, in_channels, out_channels, groups;
	uint32_t groups_given; /* 0: one; what attributes say */
	uint32_t in[2], kernel[2], stride[2], pad[4], dilation[2];
	bool transposed, mirror; /* mirror: weights are mirrored, as transposing needs */
	uint32_t out_pad[2];     /* transposed */
	bool bias;
	enum ttnn_dtype in_dtype, dtype; /* of the result */
	enum ttnn_layout in_layout;
	struct tt_conv_config config;
	struct ttnn_value compute; /* tt_compute_config() */
	bool fp32, l1_acc;         /* of it */
	bool matmul;               /* is a product of matrices, maybe after folding */
};

/* How large the result is. */
void tt_conv_out(uint32_t out[2], const struct tt_conv *conv);

/* The window, without cores. */
struct tt_slide tt_conv_slide(const struct tt_conv *conv);

/* The same work as a plain convolution of stride 1 over an image with holes. */
struct tt_conv tt_conv_untransposed(const struct tt_conv *conv);

/* Whether it is a product of matrices: a kernel of 1 × 1 that touches every element once. */
bool tt_conv_is_matmul(const struct tt_conv *conv);

/* Each channel by itself, in one dimension. */
bool tt_conv_is_depthwise_1d(const struct tt_conv *conv);

/* ---- the plan ------------------------------------------------------------------------------------------ */

struct tt_conv_plan {
	struct tt_parallel in, out;
	struct ttnn_memory_config memory; /* of the result */
	struct ttnn_core out_grid;        /* columns and rows around its cores */
	uint32_t cores_nhw, cores_in, cores_out;
	uint32_t out_h, out_w; /* tiles of a core's result */
	uint32_t act_h, act_w, sub_h, sub_w;
	uint32_t channels; /* of the input, padded for its cores */
	bool by_taps; /* one tap of a depthwise kernel after the other, not a row of them at once */
};

/* What input channels are aligned to. `memory` (optional) is the input's. */
uint32_t tt_conv_alignment(enum ttnn_memory_layout scheme, enum ttnn_layout layout, bool sliced,
			   bool matmul, const struct ttnn_memory_config *memory);

/* The cores of the input for conv->config.layout. */
tt_status tt_conv_parallel(struct tt_parallel *out, const struct tt_conv *conv, bool matmul,
			   uint32_t alignment);

/* Shards of an input of `rows` sticks whose channels are aligned so. */
tt_status tt_conv_input_memory(struct ttnn_memory_config *out, const struct tt_conv *conv,
			       const struct tt_parallel *parallel, uint64_t rows,
			       uint32_t alignment);

/* Blocks for an input that is on these cores. */
tt_status tt_conv_plan(struct tt_conv_plan *plan, const struct tt_conv *conv,
		       const struct tt_parallel *in, uint32_t alignment, bool matmul);

/* The bytes of L1 that a core needs, if the input is sharded like this (NULL: in the best way). */
struct tt_conv_usage {
	uint64_t halo_in, halo_out, total;
	uint32_t cores;
};
tt_status tt_conv_usage(struct tt_conv_usage *out, const struct tt_conv *conv, bool matmul,
			const struct ttnn_memory_config *given);

/* Sets conv->config.layout to the kind of shards that needs least L1. */
tt_status tt_conv_choose_layout(struct tt_conv *conv, bool matmul);

/* ---- circular buffers ----------------------------------------------------------------------------------- */

/* Those of the program, in its order. */
enum tt_conv_cb_kind {
	TT_CONV_WEIGHTS,
	TT_CONV_PARTIALS,
	TT_CONV_ACT,
	TT_CONV_SECOND,
	TT_CONV_TILIZED,
	TT_CONV_BIAS,
	TT_CONV_ROWS,
	TT_CONV_OUT,
	TT_CONV_INDICES,
	TT_CONV_SCRATCH,
	TT_CONV_SHARD,
	TT_CONV_CBS
};
struct tt_conv_cb {
	uint64_t pages, page;
	bool borrowed;
};

struct tt_conv_cb_args {
	const struct tt_conv_plan *plan;
	enum ttnn_memory_layout scheme;
	uint64_t weight_rows, weight_cols;  /* padded */
	uint32_t shard_height, shard_width; /* of the halo */
	bool alone;                         /* one core needs no input of others */
};
void tt_conv_cbs(struct tt_conv_cb out[TT_CONV_CBS], const struct tt_conv *conv,
		 const struct tt_conv_cb_args *args);

/* Whether two readers share the work. `channels` are the input's, padded. */
bool tt_conv_splits(const struct tt_conv *conv, const struct tt_conv_plan *plan,
		    enum ttnn_memory_layout scheme, uint32_t channels);

/* ---- the program ------------------------------------------------------------------------------------------- */

struct tt_conv_inputs {
	struct tt_haloed haloed;
	struct tt_tensor *weight, *bias; /* prepared; bias may be NULL */
};
tt_status tt_conv_launch(struct tt_tensor **out, struct tt_call *call,
			 const struct tt_conv_inputs *inputs, const struct tt_conv *conv,
			 const struct tt_conv_plan *plan);

/* ---- weights ------------------------------------------------------------------------------------------------- */

/*
 * Prepared weights are a matrix on the device, of the size that upstream's has, padding included. Its
 * logical rows are [kernel down, kernel across, input channel of a group], the columns output
 * channels, whatever the shards are; with groups only the first rows are used. Those of products of
 * matrices have a row for every input channel instead.
 */
struct tt_conv_prep {
	const struct tt_conv *conv; /* folded already, if that is wanted */
	const struct tt_conv_plan *plan;
	uint32_t alignment;
	bool matmul, interleaved; /* a product, and of an input that is not sharded */
	bool fold;
	uint32_t fold_stride[2];
};
tt_status tt_conv_prepare_weights(struct tt_tensor **out, struct tt_call *call,
				  struct tt_tensor *weight, const struct tt_conv_prep *prep);
tt_status tt_conv_prepare_bias(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *bias,
			       const struct tt_conv_prep *prep, enum ttnn_dtype dtype);

/* Whether a tensor on the device is prepared already. */
bool tt_conv_weights_ready(const struct tt_tensor *weight, const struct tt_conv *conv);
bool tt_conv_bias_ready(const struct tt_tensor *bias, const struct tt_conv *conv);

/* ---- running ---------------------------------------------------------------------------------------------------- */

/* A convolution under way. weight and bias start as the caller's and end as prepared ones. */
struct tt_conv_run {
	struct tt_call *call;
	struct tt_tensor *in, *weight, *bias;
	struct tt_conv conv;
	const struct ttnn_memory_config *memory; /* wanted, or NULL */
	struct tt_conv_slices slices;
	struct tt_tensor *new_weight, *new_bias; /* made on the way, or NULL: the runner's */
	struct tt_tensor *folded;                /* or NULL: the call's */
	uint32_t fold_stride[2];                 /* that the image was folded by, or 0 */
};

/*
 * A kernel that steps by its own size sees each element once: its window can become channels. Whether
 * it does, for such an input; what the convolution then is; and folding the image as well.
 */
bool tt_conv_folds(const struct tt_conv *conv, const struct ttnn_memory_config *memory,
		   enum ttnn_layout layout);
void tt_conv_fold_sizes(struct tt_conv *conv, uint32_t stride[2]);
tt_status tt_conv_fold(struct tt_conv_run *run);

/* Through L1, all at once. The caller drops *out. */
tt_status tt_conv_run_l1(struct tt_tensor **out, struct tt_conv_run *run);

/* From DRAM to DRAM, in slices if L1 is too small. */
tt_status tt_conv_run_dram(struct tt_tensor **out, struct tt_conv_run *run);

/* Into how many slices, and along which dimension. */
tt_status tt_conv_choose_slices(struct tt_conv_slices *out, const struct tt_conv *conv,
				const struct tt_conv_slices *request);

/*
 * Makes of a convolution that of its first slice, as weights beforehand are made for it, and says how
 * the image of the slice is sharded.
 */
tt_status tt_conv_first_slice(struct ttnn_memory_config *memory, struct tt_conv *conv,
			      const struct tt_conv_slices *slices);

/* Goes through the slices of a result of this size and layout. */
struct tt_slice_walk {
	uint32_t out[2], along, unit, count, index, at;
};
struct tt_slice_walk tt_slice_walk(const uint32_t out[2], enum ttnn_layout layout,
				   const struct tt_conv_slices *slices);
bool tt_slice_next(struct tt_slice *out, struct tt_slice_walk *walk);

/* Which way images of this size are cut best. */
enum tt_slice_kind tt_slice_guess(const uint32_t in[2], enum ttnn_layout layout);

/* Runs slice by slice into `out`, which is in DRAM. */
tt_status tt_conv_run_slices(struct tt_conv_run *run, struct tt_tensor *out,
			     const struct tt_conv_slices *slices);

/* Parts of images in DRAM: fetched into shards as [1, 1, n × h × w, c], and written back. */
struct tt_image_part {
	uint32_t batch, start[2], size[2], channels;
	uint32_t pitch; /* elements from row to row in what is written */
};
tt_status tt_part_fetch(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *image,
			const struct tt_image_part *part, const struct ttnn_memory_config *memory);
tt_status tt_part_write(struct tt_call *call, struct tt_tensor *sharded, struct tt_tensor *image,
			const struct tt_image_part *part);

/* [n, h, w, c] → [1, 1, n × h × w, c]; the tensor itself when it is so already. */
tt_status tt_conv_flatten(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in);

#endif
