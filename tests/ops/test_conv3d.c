/* Convolutions of volumes, and their weights, against their goldens. */
#include "test.h"

#include "golden.h"
#include "ops/conv/conv.h"
#include "ops/given.h"
#include "ops/golden_cases.h"
#include "ops/images.h"
#include "ops/objects.h"
#include "tensor/shape.h"

/* Volumes, output channels, groups, kernels, and blocks of channels (0: any). */
static const struct layer {
	uint32_t nthwc[5], outs, groups, kernel[3], stride[3], pad[3], dilation[3], block;
} layers[] = {
	{{1, 4, 6, 5, 32}, 32, 1, {3, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}, 32},
	{{1, 3, 5, 4, 64}, 48, 1, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}, 32},
	{{2, 5, 7, 6, 32}, 33, 1, {3, 3, 3}, {2, 2, 2}, {1, 1, 1}, {1, 1, 1}, 0},
	{{1, 4, 7, 7, 64}, 64, 4, {3, 3, 3}, {1, 2, 1}, {0, 1, 1}, {1, 1, 1}, 32},
	{{1, 2, 8, 8, 32}, 32, 1, {2, 4, 4}, {2, 4, 4}, {0, 0, 0}, {1, 1, 1}, 16},
	{{1, 5, 6, 6, 96}, 48, 3, {2, 1, 3}, {1, 1, 1}, {1, 0, 2}, {1, 1, 1}, 0},
	{{2, 3, 5, 5, 32}, 64, 1, {1, 3, 3}, {1, 1, 1}, {0, 2, 2}, {1, 2, 2}, 32},
};

struct numbers {
	struct ttnn_value items[3];
};

static struct ttnn_value three(struct numbers *to, const uint32_t from[3])
{
	for (int d = 0; d < 3; d++)
		to->items[d] = ttnn_v_int(from[d]);
	return ttnn_v_list(to->items, 3);
}

static ttnn_tensor *rows(struct given *given, const char *name, struct ttnn_shape shape,
			 enum ttnn_dtype dtype, enum ttnn_layout layout)
{
	struct ttnn_spec_args spec = {.shape = shape, .dtype = dtype, .layout = layout};

	return given_tensor(given, name, &spec, -1, 1);
}

/* The tensor that was given last, on the host. */
static void to_host(struct given *given)
{
	ttnn_tensor **at = &given->tensors[given->tensor_count - 1], *host = NULL;

	CHECK_OK(ttnn_call_one(&host, "ttnn.from_device",
			       (struct ttnn_arg[]){{NULL, ttnn_v_tensor(*at)}}, 1,
			       TTNN_FRONTEND_C));
	ttnn_tensor_unref(*at);
	*at = host;
	given->args[given->count - 1].value = ttnn_v_tensor(host);
}

static void add_config(struct given *given, struct tt_arena *arena, const struct layer *l)
{
	struct ttnn_value config, grid[] = {ttnn_v_int(8), ttnn_v_int(8)};
	struct ttnn_arg fields[] = {{"C_in_block", ttnn_v_int(l->block)},
				    {"compute_with_storage_grid_size", ttnn_v_list(grid, 2)},
				    {"H_out_block", ttnn_v_int(2)}};

	CHECK_OK(tt_object_make(&config, arena, "Conv3dConfig", fields, TT_COUNT(fields)));
	given_add(given, "config", config);
}

/* Rows above, below and beside each slice; or rows and columns that do not count. */
static void add_surroundings(struct given *given, const struct layer *l, size_t n)
{
	uint32_t slices = l->nthwc[0] * l->nthwc[1], high = l->nthwc[2] + 2 * l->pad[1];
	struct ttnn_shape halo = {
		2, {2 * slices * (l->pad[1] * l->nthwc[3] + l->pad[2] * high), l->nthwc[4]}};
	struct ttnn_shape pair = {2, {1, 2}};

	if (n % 2 && l->dilation[1] == 1 && l->kernel[1] > 1 && halo.dim[0])
		rows(given, "halo_buffer", halo, TTNN_BFLOAT16, TTNN_ROW_MAJOR);
	given_numbers(given, "pad_offset_tensor", &pair, TTNN_UINT32, (const int32_t[]){2, 1});
	given_add(given, "logical_h_mask", ttnn_v_int(5));
	if (n % 3)
		given_add(given, "logical_w_mask", ttnn_v_int(4));
}

TEST(volumes)
{
	struct tt_arena arena = {0};

	for (size_t n = 0; n < 4 * TT_COUNT(layers); n++) {
		const struct layer *l = &layers[n % TT_COUNT(layers)];
		const uint32_t *d = l->nthwc, *k = l->kernel;
		enum ttnn_dtype dtype = n % 4 == 3 ? TTNN_FLOAT32 : TTNN_BFLOAT16;
		bool ready = n % 3 == 1;
		struct given given = {.state = n + 1};
		struct numbers numbers[4];

		rows(&given, "input_tensor", (struct ttnn_shape){5, {d[0], d[1], d[2], d[3], d[4]}},
		     dtype, TTNN_ROW_MAJOR);
		if (ready) {
			rows(&given, "weight_tensor", TT_SHAPE(k[0] * k[1] * k[2] * d[4], l->outs),
			     dtype, n % 2 ? TTNN_TILE : TTNN_ROW_MAJOR);
		} else {
			rows(&given, "weight_tensor",
			     (struct ttnn_shape){5, {l->outs, d[4] / l->groups, k[0], k[1], k[2]}},
			     dtype, TTNN_ROW_MAJOR);
			to_host(&given);
			given_add(&given, "device", ttnn_v_device(image_device()));
		}
		given_add(&given, "groups", ttnn_v_int(ready ? 1 : l->groups));
		if (n % 2)
			rows(&given, "bias_tensor", TT_SHAPE(1, l->outs), dtype, TTNN_TILE);
		given_add(&given, "dtype", ttnn_v_dtype(dtype));
		given_add(&given, "output_channels", ttnn_v_int(l->outs));
		given_add(&given, "kernel_size", three(&numbers[0], l->kernel));
		given_add(&given, "stride", three(&numbers[1], l->stride));
		given_add(&given, "padding", three(&numbers[2], l->pad));
		given_add(&given, "dilation", three(&numbers[3], l->dilation));
		if (l->block)
			add_config(&given, &arena, l);
		if (dtype == TTNN_BFLOAT16 && n % 5 > 2)
			add_surroundings(&given, l, n);
		else if (n % 5 == 1)
			given_add(&given, "padding_mode", ttnn_v_string("replicate"));
		else if (n % 5 == 2)
			given_add(&given, "output_pad_w", ttnn_v_int(2));
		given_case(&given, "ttnn.experimental.conv3d", n, 16);
	}
	tt_arena_deinit(&arena);
}

TEST(weights)
{
	for (size_t n = 0; n < 4 * TT_COUNT(layers); n++) {
		const struct layer *l = &layers[n % TT_COUNT(layers)];
		const uint32_t *k = l->kernel;
		uint32_t ins = n % 4 == 1 ? 3 : l->nthwc[4] / l->groups;
		struct given given = {.state = n + 1};

		rows(&given, "weight_tensor",
		     (struct ttnn_shape){5, {l->outs, ins, k[0], k[1], k[2]}},
		     n % 2 ? TTNN_FLOAT32 : TTNN_BFLOAT16, TTNN_ROW_MAJOR);
		if (n % 3)
			to_host(&given);
		given_add(&given, "device", ttnn_v_device(image_device()));
		given_add(&given, "groups", ttnn_v_int(l->groups));
		if (n % 2)
			given_add(&given, "C_in_block", ttnn_v_int(16));
		given_add(&given, "alignment", ttnn_v_int(n % 5 == 2 ? 16 : 32));
		given_case(&given, "ttnn.experimental.prepare_conv3d_weights", n, 1);
	}
	golden_check_family("conv3d");
}

/* What does not fit is refused, by goldens too. */
TEST(what_does_not_fit)
{
	static const struct {
		uint32_t rank, rows, kernel, stride, outs;
	} cases[] = {{4, 864, 3, 1, 32}, {5, 800, 3, 1, 32}, {5, 864, 0, 1, 32}, {5, 864, 3, 0, 32},
		     {5, 864, 9, 1, 32}, {5, 864, 3, 1, 0},  {0, 864, 3, 1, 32}};

	for (size_t i = 0; i < TT_COUNT(cases); i++) {
		const uint32_t kernel[3] = {cases[i].kernel, 3, 3},
			       stride[3] = {1, 1, cases[i].stride};
		struct given given = {.state = i + 1};
		struct numbers numbers[2];
		ttnn_tensor *out = NULL;

		rows(&given, "input_tensor", (struct ttnn_shape){cases[i].rank, {1, 4, 6, 5, 32}},
		     TTNN_BFLOAT16, TTNN_ROW_MAJOR);
		rows(&given, "weight_tensor", TT_SHAPE(cases[i].rows, 32), TTNN_BFLOAT16,
		     TTNN_TILE);
		given_add(&given, "dtype", ttnn_v_dtype(TTNN_BFLOAT16));
		given_add(&given, "output_channels", ttnn_v_int(cases[i].outs));
		given_add(&given, "kernel_size", three(&numbers[0], kernel));
		given_add(&given, "stride", three(&numbers[1], stride));
		CHECK_FAILS(ttnn_call_one(&out, "ttnn.experimental.conv3d", given.args, given.count,
					  TTNN_FRONTEND_C),
			    TTNN_INVALID, "");
		given_free(&given);
	}
}
