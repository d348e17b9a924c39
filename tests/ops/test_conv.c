/* Convolutions of images against their goldens. */
#include "test.h"

#include "golden.h"
#include "ops/conv/conv.h"
#include "ops/golden_cases.h"
#include "ops/images.h"
#include "ops/objects.h"
#include "ops/op_enums.h"

/* Kernels of all kinds, on images that fill no tile. */
static const struct layer {
	uint32_t nhwc[4], outs, groups, kernel[2], stride[2], pad[2], dilation[2];
} layers[] = {
	{{1, 16, 16, 16}, 32, 1, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
	{{1, 14, 14, 64}, 64, 1, {3, 3}, {2, 2}, {1, 1}, {1, 1}},
	{{1, 30, 30, 3}, 17, 1, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
	{{2, 9, 11, 40}, 24, 1, {3, 3}, {1, 1}, {0, 0}, {1, 1}},
	{{1, 12, 12, 64}, 96, 1, {1, 1}, {1, 1}, {0, 0}, {1, 1}},
	{{1, 28, 28, 64}, 64, 64, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
	{{1, 15, 15, 32}, 64, 4, {3, 3}, {2, 2}, {1, 1}, {1, 1}},
	{{1, 24, 24, 16}, 64, 1, {7, 7}, {2, 2}, {3, 3}, {1, 1}},
	{{1, 17, 17, 32}, 32, 1, {3, 3}, {1, 1}, {2, 2}, {2, 2}},
	{{2, 8, 8, 32}, 48, 1, {1, 1}, {2, 2}, {0, 0}, {1, 1}},
	{{1, 7, 19, 32}, 32, 1, {5, 3}, {1, 2}, {2, 0}, {1, 1}},
	{{1, 6, 6, 256}, 256, 1, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
	{{1, 10, 10, 64}, 32, 2, {1, 1}, {1, 1}, {0, 0}, {1, 1}},
	{{4, 5, 5, 8}, 16, 1, {2, 2}, {1, 1}, {0, 1}, {1, 1}},
};
#define LAYERS (sizeof(layers) / sizeof(layers[0]))

/* A call; everything it points at. */
struct conv_args {
	struct ttnn_arg args[24];
	struct ttnn_value pairs[5][2];
	size_t count;
	ttnn_tensor *image, *weight, *bias;
};

static void add(struct conv_args *conv, const char *name, struct ttnn_value value)
{
	conv->args[conv->count++] = (struct ttnn_arg){name, value};
}

/* A tensor on the host, as weights come. */
static ttnn_tensor *host_tensor(const struct ttnn_shape *shape, enum ttnn_dtype dtype,
				uint64_t *state)
{
	struct ttnn_spec_args args = {.shape = *shape, .dtype = dtype};
	struct ttnn_tensor_spec spec;
	ttnn_tensor *out = NULL;
	uint64_t count = 0;
	float *data;

	CHECK_OK(ttnn_tensor_spec_make(&spec, &args));
	CHECK_OK(ttnn_shape_volume(&count, shape));
	data = calloc(count + 1, sizeof(*data));
	for (uint64_t i = 0; i < count && data; i++)
		data[i] = (float)golden_number(state, dtype, -1, 1);
	CHECK_OK(ttnn_tensor_from_data(&out, data, TTNN_FLOAT32, &spec, 0));
	free(data);
	return out;
}

static void begin(struct conv_args *conv, const struct layer *l, size_t n, uint64_t *state)
{
	enum ttnn_dtype dtype = n % 4 == 3 ? TTNN_FLOAT32 : TTNN_BFLOAT16;
	enum ttnn_layout layout = n % 5 == 4 ? TTNN_TILE : TTNN_ROW_MAJOR;
	struct ttnn_shape bias = {4, {1, 1, 1, l->outs}};

	*conv = (struct conv_args){.image = image_make(l->nhwc, dtype, layout, state),
				   .bias = host_tensor(&bias, TTNN_BFLOAT16, state)};
	add(conv, "input_tensor", ttnn_v_tensor(conv->image));
	add(conv, "device", ttnn_v_device(image_device()));
	add(conv, "in_channels", ttnn_v_int(l->nhwc[3]));
	add(conv, "out_channels", ttnn_v_int(l->outs));
	add(conv, "batch_size", ttnn_v_int(l->nhwc[0]));
	add(conv, "groups", ttnn_v_int(l->groups));
	if (n % 2)
		add(conv, "bias_tensor", ttnn_v_tensor(conv->bias));
	if (n % 7 == 6)
		add(conv, "dtype", ttnn_v_dtype(TTNN_BFLOAT8_B));
}

static void window(struct conv_args *conv, const struct layer *l)
{
	add(conv, "weight_tensor", ttnn_v_tensor(conv->weight));
	add(conv, "input_height", ttnn_v_int(l->nhwc[1]));
	add(conv, "input_width", ttnn_v_int(l->nhwc[2]));
	add(conv, "kernel_size", image_pair(conv->pairs[0], l->kernel[0], l->kernel[1]));
	add(conv, "stride", image_pair(conv->pairs[1], l->stride[0], l->stride[1]));
	add(conv, "padding", image_pair(conv->pairs[2], l->pad[0], l->pad[1]));
	add(conv, "dilation", image_pair(conv->pairs[3], l->dilation[0], l->dilation[1]));
}

static void end(struct conv_args *conv)
{
	ttnn_tensor_unref(conv->image);
	ttnn_tensor_unref(conv->weight);
	ttnn_tensor_unref(conv->bias);
}

TEST(images)
{
	uint64_t state = 1;

	for (size_t n = 0; n < 2 * LAYERS; n++) {
		const struct layer *l = &layers[n % LAYERS];
		struct ttnn_shape shape = {
			4, {l->outs, l->nhwc[3] / l->groups, l->kernel[0], l->kernel[1]}};
		struct conv_args conv;

		begin(&conv, l, n, &state);
		conv.weight = host_tensor(&shape, TTNN_BFLOAT16, &state);
		window(&conv, l);
		golden_case_on_threads("ttnn.conv2d", conv.args, conv.count, 6);
		end(&conv);
	}
}

/* What a configuration changes is where things lie, not what comes out. */
TEST(configurations)
{
	static const enum ttnn_memory_layout schemes[] = {TTNN_HEIGHT_SHARDED, TTNN_BLOCK_SHARDED,
							  TTNN_WIDTH_SHARDED};
	struct ttnn_value relu[] = {
		{.kind = TTNN_VALUE_ENUM, .enumeration = &tt_enum_unary, .integer = TT_UNARY_RELU}};
	struct tt_arena arena = {0};
	struct ttnn_value activation;
	uint64_t state = 2;

	CHECK_OK(tt_object_make(&activation, &arena, "UnaryWithParam",
				(struct ttnn_arg[]){{NULL, relu[0]}}, 1));
	for (size_t n = 0; n < 12; n++) {
		const struct layer *l = &layers[n % 4];
		struct ttnn_shape shape = {4, {l->outs, l->nhwc[3], l->kernel[0], l->kernel[1]}};
		struct ttnn_arg fields[] = {
			{"shard_layout",
			 {.kind = TTNN_VALUE_ENUM,
			  .enumeration = &tt_enum_memory_layout,
			  .integer = schemes[n % 3]}},
			{"activation", activation},
			{"weights_dtype", ttnn_v_dtype(n % 2 ? TTNN_BFLOAT8_B : TTNN_BFLOAT16)},
			{"output_layout", ttnn_v_layout(TTNN_ROW_MAJOR)},
			{"enable_act_double_buffer", ttnn_v_bool(true)}};
		struct ttnn_value config;
		struct conv_args conv;

		CHECK_OK(tt_object_make(&config, &arena, "Conv2dConfig", fields, 1 + n % 5));
		begin(&conv, l, 0, &state);
		conv.weight = host_tensor(&shape, TTNN_BFLOAT16, &state);
		window(&conv, l);
		add(&conv, "conv_config", config);
		golden_case("ttnn.conv2d", conv.args, conv.count, n % 2 ? 40 : 6);
		end(&conv);
	}
	tt_arena_deinit(&arena);
}

TEST(replicated_padding)
{
	struct ttnn_arg field = {"padding_mode", tt_value_enum(&tt_enum_padding, 1)};
	struct tt_arena arena = {0};
	struct ttnn_value config;
	uint64_t state = 5;

	CHECK_OK(tt_object_make(&config, &arena, "Conv2dConfig", &field, 1));
	for (size_t n = 0; n < 2 * LAYERS; n += 5) {
		const struct layer *l = &layers[n % LAYERS];
		bool back = n >= LAYERS; /* transposed */
		uint32_t ins = l->nhwc[3], outs = l->outs;
		struct ttnn_shape shape = {4,
					   {back ? ins : outs, (back ? outs : ins) / l->groups,
					    l->kernel[0], l->kernel[1]}};
		struct conv_args conv;

		begin(&conv, l, n % 4, &state);
		conv.weight = host_tensor(&shape, TTNN_BFLOAT16, &state);
		window(&conv, l);
		add(&conv, "conv_config", config);
		golden_case(back ? "ttnn.conv_transpose2d" : "ttnn.conv2d", conv.args, conv.count,
			    6);
		end(&conv);
	}
	tt_arena_deinit(&arena);
}

/* Kernels that step by their own size are folded. */
TEST(patches)
{
	uint64_t state = 3;

	for (size_t n = 0; n < 3; n++) {
		const struct layer l = {{1, 32, 32, 3}, 64, 1, {8, 8}, {8, 8}, {0, 0}, {1, 1}};
		struct ttnn_shape shape = {4, {l.outs, l.nhwc[3], l.kernel[0], l.kernel[1]}};
		struct conv_args conv;

		begin(&conv, &l, n, &state);
		conv.weight = host_tensor(&shape, TTNN_BFLOAT16, &state);
		window(&conv, &l);
		golden_case("ttnn.conv2d", conv.args, conv.count, 3);
		end(&conv);
	}
}

TEST(transposed)
{
	uint64_t state = 4;

	for (size_t n = 0; n < 24; n++) {
		const struct layer *l = &layers[n % LAYERS];
		struct ttnn_shape shape = {
			4, {l->nhwc[3], l->outs / l->groups, l->kernel[0], l->kernel[1]}};
		struct conv_args conv;

		begin(&conv, l, n % 6, &state);
		conv.weight = host_tensor(&shape, TTNN_BFLOAT16, &state);
		window(&conv, l);
		add(&conv, "output_padding",
		    image_pair(conv.pairs[4], l->stride[0] > 1, l->stride[1] > 1));
		add(&conv, "mirror_kernel", ttnn_v_bool(n % 3 != 1));
		golden_case("ttnn.conv_transpose2d", conv.args, conv.count, 3);
		end(&conv);
	}
}

TEST(lines)
{
	uint64_t state = 5;

	for (uint32_t n = 0; n < 24; n++) {
		uint32_t length = 20 + 7 * n, channels = 8 * (1 + n % 5), kernel = 1 + n % 4;
		uint32_t groups = n % 6 == 5 ? channels : 1;
		const struct layer l = {{1 + n % 2, 1, length, channels},
					channels,
					groups,
					{1, kernel},
					{1, 1},
					{0, 0},
					{1, 1}};
		struct ttnn_shape shape = {3, {channels, channels / groups, kernel}};
		struct conv_args conv;

		begin(&conv, &l, n % 6, &state);
		conv.weight = host_tensor(&shape, TTNN_BFLOAT16, &state);
		add(&conv, "weight_tensor", ttnn_v_tensor(conv.weight));
		add(&conv, "input_length", ttnn_v_int(length));
		add(&conv, "kernel_size", ttnn_v_int(kernel));
		add(&conv, "stride", ttnn_v_int(1 + n % 2));
		add(&conv, "padding", ttnn_v_int(kernel / 2));
		add(&conv, "dilation", ttnn_v_int(1 + n % 3 / 2));
		golden_case("ttnn.conv1d", conv.args, conv.count, 3);
		end(&conv);
	}
}

/* Cut down or across, into parts of different sizes. */
TEST(slices)
{
	static const struct layer cut[] = {
		{{1, 64, 64, 32}, 32, 1, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
		{{2, 33, 40, 16}, 24, 1, {3, 3}, {2, 2}, {1, 1}, {1, 1}},
		{{1, 40, 50, 3}, 17, 1, {5, 5}, {1, 1}, {2, 2}, {1, 1}},
		{{1, 30, 70, 40}, 64, 4, {3, 3}, {1, 1}, {0, 0}, {2, 2}},
	};
	struct tt_arena arena = {0};
	uint64_t state = 8;

	for (size_t n = 0; n < 32; n++) {
		const struct layer *l = &cut[n % 4];
		bool back = n >= 16; /* transposed */
		struct ttnn_shape plain = {
			4, {l->outs, l->nhwc[3] / l->groups, l->kernel[0], l->kernel[1]}};
		struct ttnn_shape turned = {
			4, {l->nhwc[3], l->outs / l->groups, l->kernel[0], l->kernel[1]}};
		struct ttnn_arg fields[] = {
			{"slice_type", tt_value_enum(&tt_enum_slice,
						     n / 4 % 2 ? TT_SLICE_WIDTH : TT_SLICE_HEIGHT)},
			{"num_slices", ttnn_v_int(n % 16 < 8 ? 2 : 3)}};
		struct ttnn_arg rows = {"output_layout", ttnn_v_layout(TTNN_ROW_MAJOR)};
		struct ttnn_value slices, config;
		struct conv_args conv;

		begin(&conv, l, n % 2 ? 1 : 0, &state);
		conv.weight = host_tensor(back ? &turned : &plain, TTNN_BFLOAT16, &state);
		window(&conv, l);
		if (back)
			add(&conv, "output_padding",
			    image_pair(conv.pairs[4], l->stride[0] > 1, l->stride[1] > 1));
		CHECK_OK(tt_object_make(&slices, &arena, "Conv2dSliceConfig", fields, 2));
		CHECK_OK(tt_object_make(&config, &arena, "Conv2dConfig", &rows, 1));
		add(&conv, back ? "dram_slice_config" : "slice_config", slices);
		if (n % 16 >= 8)
			add(&conv, "conv_config", config);
		golden_case(back ? "ttnn.conv_transpose2d" : "ttnn.conv2d", conv.args, conv.count,
			    6);
		end(&conv);
		/* Its tables go with a program: there is not room for all of them. */
		ttnn_device_program_cache_clear(image_device());
	}
	tt_arena_deinit(&arena);
}

static ttnn_tensor *call_one(const char *name, const struct conv_args *conv)
{
	struct ttnn_results results = {.count = 0};

	CHECK_OK(ttnn_call(&results, name, conv->args, conv->count, TTNN_FRONTEND_C));
	CHECK_INT(results.count, 1);
	return results.count ? results.tensors[0] : NULL;
}

static void same_numbers(ttnn_tensor *a, ttnn_tensor *b)
{
	uint64_t count = 0;
	double *values;

	CHECK(a && b && ttnn_shape_equal(&a->spec.shape, &b->spec.shape));
	if (!a || !b)
		return;
	CHECK_OK(ttnn_shape_volume(&count, &a->spec.shape));
	values = calloc(2 * count + 1, sizeof(*values));
	CHECK_OK(tt_tensor_numbers(values, count, a));
	CHECK_OK(tt_tensor_numbers(values + count, count, b));
	CHECK(memcmp(values, values + count, count * sizeof(*values)) == 0);
	free(values);
}

/* What preparing beforehand needs to know of the convolution. */
static ttnn_tensor *ready(const char *name, const struct conv_args *from, struct ttnn_arg what)
{
	struct conv_args ahead = *from;
	size_t kept = 0;

	for (size_t i = 0; i < ahead.count; i++)
		if (strcmp(ahead.args[i].name, "input_tensor") != 0 &&
		    strcmp(ahead.args[i].name, "weight_tensor") != 0 &&
		    strcmp(ahead.args[i].name, "bias_tensor") != 0)
			ahead.args[kept++] = ahead.args[i];
	ahead.count = kept;
	ahead.args[ahead.count++] = what;
	add(&ahead, "input_memory_config", ttnn_v_memory(&from->image->spec.memory));
	add(&ahead, "input_layout", ttnn_v_layout(from->image->spec.layout));
	add(&ahead, "input_dtype", ttnn_v_dtype(from->image->spec.dtype));
	if (strcmp(what.name, "weight_tensor") == 0) {
		add(&ahead, "weights_format", ttnn_v_string("OIHW"));
		add(&ahead, "has_bias", ttnn_v_bool(true));
	}
	return call_one(name, &ahead);
}

static void with_ready_weights(const char *op, const char *weights, struct conv_args *conv)
{
	struct conv_args second = *conv;
	ttnn_tensor *ready_weight, *ready_bias, *plain, *out;

	ready_weight = ready(weights, conv,
			     (struct ttnn_arg){"weight_tensor", ttnn_v_tensor(conv->weight)});
	ready_bias = ready("ttnn.prepare_conv_bias", conv,
			   (struct ttnn_arg){"bias_tensor", ttnn_v_tensor(conv->bias)});
	add(conv, "bias_tensor", ttnn_v_tensor(conv->bias));
	add(&second, "bias_tensor", ttnn_v_tensor(ready_bias));
	for (size_t i = 0; i < second.count; i++)
		if (strcmp(second.args[i].name, "weight_tensor") == 0)
			second.args[i].value = ttnn_v_tensor(ready_weight);
	plain = call_one(op, conv);
	out = call_one(op, &second);
	same_numbers(plain, out);
	ttnn_tensor_unref(ready_weight);
	ttnn_tensor_unref(ready_bias);
	ttnn_tensor_unref(plain);
	ttnn_tensor_unref(out);
}

TEST(weights_that_were_prepared_beforehand)
{
	uint64_t state = 9;

	for (size_t n = 0; n < LAYERS; n++) {
		const struct layer *l = &layers[n];
		struct ttnn_shape shape = {
			4, {l->outs, l->nhwc[3] / l->groups, l->kernel[0], l->kernel[1]}};
		struct conv_args conv;

		begin(&conv, l, 0, &state);
		conv.weight = host_tensor(&shape, TTNN_BFLOAT16, &state);
		window(&conv, l);
		with_ready_weights("ttnn.conv2d", "ttnn.prepare_conv_weights", &conv);
		end(&conv);
	}
}

TEST(every_row_was_tested)
{
	golden_check_family("conv");
	golden_close();
}
