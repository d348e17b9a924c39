/* operations for training against their goldens: gradients, losses, steps, and upstream's examples; what they refuse */
#include "test.h"

#include <math.h>

#include "golden.h"
#include "ops/given.h"
#include "ops/golden_dims.h"

#define CASES 20
#define BF16 TTNN_BFLOAT16

/* A tensor of bfloat16 in tiles of this shape. */
static ttnn_tensor *add(struct given *given, const char *name, const struct ttnn_shape *shape,
			double low, double high)
{
	struct ttnn_spec_args spec = {.shape = *shape, .dtype = BF16, .layout = TTNN_TILE};

	return given_tensor(given, name, &spec, low, high);
}

static void add_bools(struct given *given, struct ttnn_value *items, const bool *values,
		      size_t count)
{
	for (size_t i = 0; i < count; i++)
		items[i] = ttnn_v_bool(values[i]);
	given_add(given, "are_required_outputs", ttnn_v_list(items, count));
}

/* ---- products ------------------------------------------------------------------------------------ */

TEST(gradients_of_products)
{
	for (size_t n = 0; n < CASES; n++) {
		uint32_t m = 30 + 7 * (uint32_t)n, k = 64 - (uint32_t)n, w = 33 + (uint32_t)n;
		struct ttnn_shape a = {3, {2, m, k}}, b = {3, {2, k, w}}, g = {3, {2, m, w}};
		bool wanted[] = {n % 3 != 1, n % 3 != 2};
		struct ttnn_value items[2];
		struct given given = {.state = n + 1};

		add(&given, "output_grad", &g, -1, 1);
		add(&given, "input", &a, -1, 1);
		add(&given, "mat2", &b, -1, 1);
		add_bools(&given, items, wanted, 2);
		if (wanted[0])
			add(&given, "input_grad", &a, 0, 1);
		if (wanted[1])
			add(&given, "mat2_grad", &b, 0, 1);
		given_case(&given, "ttnn.moreh_bmm_backward", n, 30);
		a = (struct ttnn_shape){4, {n % 2 ? 1 : 2, 3, m, k}};
		b = (struct ttnn_shape){n % 4 == 3 ? 2 : 4, {2, n % 2 ? 3 : 1, k, w}};
		if (b.rank == 2)
			b = (struct ttnn_shape){2, {k, w}};
		g = (struct ttnn_shape){4, {b.rank == 2 && n % 2 ? 1 : 2, 3, m, w}};
		add(&given, "output_grad", &g, -1, 1);
		add(&given, "input_a", &a, -1, 1);
		add(&given, "input_b", &b, -1, 1);
		add(&given, "input_a_grad", &a, 0, 1);
		add(&given, "input_b_grad", &b, 0, 1);
		given_case(&given, "ttnn.moreh_matmul_backward", n, 60);
	}
}

TEST(gradients_of_layers_and_vectors)
{
	for (size_t n = 0; n < CASES; n++) {
		uint32_t m = 20 + 5 * (uint32_t)n, k = 40 + (uint32_t)n, w = 33 + (uint32_t)n;
		struct ttnn_shape a = {n % 2 ? 3 : 4, {2, 2, m, k}}, b = {2, {w, k}}, g;
		struct ttnn_shape bias = {2, {1, n % 3 ? w : 1}}, one = {4, {1, 1, 1, 1}};
		struct given given = {.state = n + 1};

		if (a.rank == 3)
			a = (struct ttnn_shape){3, {2, m, k}};
		g = a;
		g.dim[g.rank - 1] = w;
		add(&given, "output_grad", &g, -1, 1);
		add(&given, "input", &a, -1, 1);
		add(&given, "weight", &b, -1, 1);
		add(&given, "bias", &bias, -1, 1);
		add(&given, "input_grad", &a, 0, 1);
		add(&given, "weight_grad", &b, 0, 1);
		add(&given, "bias_grad", &bias, 0, 1);
		given_case(&given, "ttnn.moreh_linear_backward", n, 60);
		a = (struct ttnn_shape){4, {1, 1, 1, m * 3}};
		add(&given, "output_grad", &one, 1, 2);
		add(&given, "input", &a, -1, 1);
		add(&given, "other", &a, -1, 1);
		if (n % 3)
			add(&given, "input_grad", &a, 0, 1);
		if (n % 3 != 1)
			add(&given, "other_grad", &a, 0, 1);
		given_case(&given, "ttnn.moreh_dot_backward", n, 4);
	}
	golden_check_family("moreh_matmul_backward");
}

/* ---- sums and softmax ---------------------------------------------------------------------------- */

/* The shape of a result over dimensions from `first` on, `count` of them. */
static struct ttnn_shape reduced(const struct ttnn_shape *in, uint32_t first, uint32_t count,
				 bool keep)
{
	struct ttnn_shape out = {0};

	for (uint32_t d = 0; d < in->rank; d++) {
		bool gone = d >= first && d < first + count;

		if (!gone || keep || d + 2 >= in->rank)
			out.dim[out.rank++] = gone ? 1 : in->dim[d];
	}
	return out;
}

TEST(gradients_of_sums)
{
	static const double orders[] = {2, 1, 3, 2.5, INFINITY, 0};

	for (size_t n = 0; n < CASES; n++) {
		struct ttnn_shape in = {4, {2, 3, 30 + (uint32_t)n, 50 + (uint32_t)n}}, out;
		uint32_t first = (uint32_t)n % 4, count = n % 5 == 4 && first < 3 ? 2 : 1;
		bool keep = n % 3 == 0;
		struct given given = {.state = n + 1};

		out = reduced(&in, first, count, keep);
		for (size_t which = 0; which < 3; which++) {
			static const char *const names[] = {"ttnn.moreh_sum_backward",
							    "ttnn.moreh_mean_backward",
							    "ttnn.moreh_norm_backward"};
			bool norm = which == 2;

			if (norm) {
				add(&given, "input", &in, -2, 2);
				add(&given, "output", &out, 3, 6);
			}
			add(&given, "output_grad", &out, -1, 1);
			if (norm)
				given_add(&given, "p", ttnn_v_real(orders[n % 6]));
			given_add(&given, "dim", given_list(&given, first, 1, count));
			given_add(&given, "keepdim", ttnn_v_bool(keep));
			if (which == 0)
				add(&given, "input", &in, 0, 1);
			if (which == 1 && n % 2)
				given_add(&given, "input_grad_shape", ttnn_v_shape(&in));
			else if (n % 2 == 0 || which != 0)
				add(&given, "input_grad", &in, 0, 1);
			given_case(&given, names[which], n, 4);
		}
	}
	golden_check_family("moreh_backward");
}

TEST(softmax_and_its_gradients)
{
	static const char *const names[] = {"softmax", "softmin", "logsoftmax"};

	for (size_t n = 0; n < CASES; n++)
		for (size_t i = 0; i < 3; i++) {
			struct ttnn_shape shape = {n % 5 == 4 ? 2 : 4,
						   {n % 5 == 4 ? 37 : 2, n % 5 == 4 ? 90 : 3,
						    20 + (uint32_t)n, 45 + (uint32_t)n}};
			int64_t dim = (int64_t)(n % shape.rank);
			struct given given = {.state = n + 1};
			char name[64];

			snprintf(name, sizeof(name), "ttnn.moreh_%s", names[i]);
			add(&given, NULL, &shape, -3, 3);
			given_add(&given, NULL, ttnn_v_int(dim));
			given_case(&given, name, n, 4);
			snprintf(name, sizeof(name), "ttnn.moreh_%s_backward", names[i]);
			add(&given, NULL, &shape, i == 2 ? -3 : 0, i == 2 ? 0 : 0.2);
			add(&given, NULL, &shape, -1, 1);
			given_add(&given, NULL, ttnn_v_int(dim));
			if (n % 2)
				add(&given, "input_grad_tensor", &shape, 0, 1);
			given_case(&given, name, n, 8);
		}
	golden_check_family("moreh_softmax");
}

/* ---- normalisation ------------------------------------------------------------------------------- */

TEST(gradients_of_layer_normalisation)
{
	for (size_t n = 0; n < CASES; n++) {
		struct ttnn_shape in = {4, {2, 2, 30 + (uint32_t)n, 33 + (uint32_t)n}};
		struct ttnn_shape lead = {0}, tail = {0};
		uint32_t dims = (uint32_t)n % 3 + 1;
		struct given given = {.state = n + 1};

		for (uint32_t d = 0; d < 4; d++) {
			struct ttnn_shape *side = d < 4 - dims ? &lead : &tail;

			side->dim[side->rank++] = in.dim[d];
		}
		if (lead.rank == 1)
			lead = (struct ttnn_shape){2, {1, lead.dim[0]}};
		if (tail.rank == 1)
			tail = (struct ttnn_shape){2, {1, tail.dim[0]}};
		add(&given, "output_grad", &in, -1, 1);
		add(&given, "input", &in, -2, 2);
		add(&given, "mean", &lead, -0.1, 0.1);
		add(&given, "rstd", &lead, 0.8, 1.2);
		given_add(&given, "normalized_dims", ttnn_v_int(dims));
		if (n % 2)
			add(&given, "gamma", &tail, 0.5, 2);
		if (n % 4 != 3)
			add(&given, "input_grad", &in, 0, 1);
		if (n % 5 != 1)
			add(&given, "gamma_grad", &tail, 0, 1);
		if (n % 5 != 2)
			add(&given, "beta_grad", &tail, 0, 1);
		given_case(&given, "ttnn.moreh_layer_norm_backward", n, 20);
	}
	golden_check_family("moreh_layer_norm_backward");
}

TEST(group_normalisation)
{
	for (size_t n = 0; n < CASES; n++) {
		uint32_t groups = (uint32_t)n % 3 + 1, channels = 2 * groups;
		struct ttnn_shape in = {4, {2, channels, 30 + (uint32_t)n, 40 + (uint32_t)n}};
		struct ttnn_shape gain = {4, {1, 1, 1, channels}}, row = {4, {1, 1, 2, groups}};
		bool wanted[] = {n % 4 != 3, n % 2 == 0, n % 3 == 0};
		struct ttnn_spec_args spec = {.dtype = BF16, .layout = TTNN_TILE};
		struct ttnn_value items[3];
		struct given given = {.state = n + 1};

		spec.shape = in;
		given.tensors[given.tensor_count++] = golden_uneven(&spec, &given.state, -2, 3);
		given_add(&given, "input", ttnn_v_tensor(given.tensors[0]));
		given_add(&given, "num_groups", ttnn_v_int(groups));
		if (n % 2)
			add(&given, "gamma", &gain, 0.5, 2);
		if (n % 3)
			add(&given, "beta", &gain, -1, 1);
		add_bools(&given, items, wanted, 3);
		if (n % 5 == 0)
			add(&given, "mean", &row, 0, 1);
		given_case(&given, "ttnn.moreh_group_norm", n, 8);
		add(&given, "output_grad", &in, -1, 1);
		add(&given, "input", &in, -2, 2);
		add(&given, "mean", &row, -0.1, 0.1);
		add(&given, "rstd", &row, 0.8, 1.2);
		given_add(&given, "num_groups", ttnn_v_int(groups));
		add_bools(&given, items, wanted, 3);
		if (n % 2)
			add(&given, "gamma", &gain, 0.5, 2);
		if (n % 5 == 0)
			add(&given, "gamma_grad", &gain, 0, 1);
		given_case(&given, "ttnn.moreh_group_norm_backward", n, 20);
	}
	golden_check_family("moreh_group_norm");
}

/* ---- losses -------------------------------------------------------------------------------------- */

/* Targets from -1 (of no class) to classes - 1, in tiles. */
static void add_targets(struct given *given, const struct ttnn_shape *shape, uint32_t classes)
{
	struct ttnn_spec_args spec = {.shape = *shape, .dtype = TTNN_INT32, .layout = TTNN_TILE};

	given_tensor(given, "target_tensor", &spec, -1, classes);
}

static void run_loss(size_t n, const char *reduction)
{
	uint32_t rank = (uint32_t)n % 4 + 2, classes = 5 + (uint32_t)n;
	struct ttnn_shape in = {rank, {3 + (uint32_t)n, classes, 5, 7, 4}}, target = {0};
	struct ttnn_shape one = {2, {1, 1}}, weight = {1, {classes}}, loss;
	bool mean = reduction[0] == 'm', none = reduction[0] == 'n';
	struct given given = {.state = n + 1};

	for (uint32_t d = 0; d < rank; d++)
		if (d != 1)
			target.dim[target.rank++] = in.dim[d];
	loss = rank > 2 ? target : (struct ttnn_shape){2, {1, in.dim[0]}};
	add(&given, "input_tensor", &in, -3, 0);
	add_targets(&given, &target, classes);
	given_add(&given, "reduction", ttnn_v_string(reduction));
	if (n % 2)
		add(&given, "weight_tensor", &weight, 0.5, 2);
	if (mean)
		add(&given, "divisor_tensor", &one, 0, 1);
	if (n % 3 == 0)
		given_add(&given, "ignore_index", ttnn_v_int(2));
	given_case(&given, "ttnn.moreh_nll_loss", n, 40);
	add_targets(&given, &target, classes);
	add(&given, "output_grad_tensor", none ? &loss : &one, 0.5, 1);
	if (!none)
		given_add(&given, "reduction_mean", ttnn_v_bool(mean));
	if (n % 2)
		add(&given, "weight_tensor", &weight, 0.5, 2);
	add(&given, "input_grad_tensor", &in, 0, 1);
	if (mean)
		add(&given, "divisor_tensor", &one, 2, 3);
	given_case(&given,
		   none ? "ttnn.moreh_nll_loss_unreduced_backward" : "ttnn.moreh_nll_loss_backward",
		   n, 4);
}

TEST(losses_and_their_gradients)
{
	for (size_t n = 0; n < CASES; n++) {
		run_loss(n, "mean");
		run_loss(n, "sum");
		run_loss(n, "none");
	}
	golden_check_family("moreh_nll_loss");
}

/* ---- steps --------------------------------------------------------------------------------------- */

TEST(steps_of_training)
{
	for (size_t n = 0; n < CASES; n++) {
		struct ttnn_shape shape = {3, {2, 20 + 3 * (uint32_t)n, 40 + (uint32_t)n}};
		struct given given = {.state = n + 1};

		add(&given, "param_in", &shape, -1, 1);
		add(&given, "grad", &shape, -1, 1);
		if (n % 2)
			add(&given, "momentum_buffer_in", &shape, -1, 1);
		if (n % 3)
			given_add(&given, "momentum", ttnn_v_real(0.9));
		given_add(&given, "dampening", ttnn_v_real(0.25));
		given_add(&given, "lr", ttnn_v_real(0.5));
		given_add(&given, "weight_decay", ttnn_v_real(n % 4 ? 0.5 : 0));
		given_add(&given, "nesterov", ttnn_v_bool(n % 5 == 1));
		given_add(&given, "momentum_initialized", ttnn_v_bool(n % 2));
		given_case(&given, "ttnn.moreh_sgd", n, 4);
		for (size_t i = 0; i < 2; i++) {
			add(&given, "param_in", &shape, -1, 1);
			add(&given, "grad", &shape, -1, 1);
			add(&given, "exp_avg_in", &shape, -1, 1);
			add(&given, "exp_avg_sq_in", &shape, 0.5, 1);
			given_add(&given, "lr", ttnn_v_real(0.25));
			given_add(&given, "weight_decay", ttnn_v_real(n % 4 ? 0.5 : 0));
			given_add(&given, "step", ttnn_v_int((int)n + 1));
			given_add(&given, "amsgrad", ttnn_v_bool(n % 2));
			if (n % 2)
				add(&given, "max_exp_avg_sq_in", &shape, 0.5, 1);
			if (n % 3 == 0)
				add(&given, "exp_avg_out", &shape, 0, 1);
			given_case(&given, i ? "ttnn.moreh_adamw" : "ttnn.moreh_adam", n, 4);
		}
	}
	golden_check_family("moreh_step");
}

TEST(gradients_are_clipped)
{
	static const double orders[] = {2, 1, 2.5, -1, INFINITY, -INFINITY};

	for (size_t n = 0; n < CASES; n++) {
		struct ttnn_value items[70];
		size_t count = n == 19 ? 70 : n % 4 + 1;
		struct ttnn_shape one = {2, {1, 1}};
		struct given given = {.state = n + 1};
		ttnn_tensor *tensors[70];
		double *values, largest = 0;

		for (size_t i = 0; i < count; i++) {
			struct ttnn_spec_args spec =
				given_spec(BF16, 1, 2, 10 + (uint32_t)n, 20 + (uint32_t)i);

			tensors[i] = golden_tensor(&spec, &given.state, 0.5, 2);
			items[i] = ttnn_v_tensor(tensors[i]);
		}
		given_add(&given, "inputs", ttnn_v_list(items, count));
		given_add(&given, "max_norm", ttnn_v_real(0.125));
		given_add(&given, "norm_type", ttnn_v_real(orders[n % 6]));
		given_add(&given, "error_if_nonfinite", ttnn_v_bool(n % 3 == 0));
		if (n % 2)
			add(&given, "total_norm", &one, 0, 1);
		given_case(&given, "ttnn.moreh_clip_grad_norm", n, 8);
		values = calloc(1u << 16, sizeof(*values));
		for (size_t i = 0; i < count; i++) {
			uint64_t volume;

			CHECK_OK(ttnn_shape_volume(&volume, &tensors[i]->spec.shape));
			CHECK_OK(tt_tensor_numbers(values, volume, tensors[i]));
			for (uint64_t k = 0; k < volume; k++)
				largest = fmax(largest, fabs(values[k]));
			ttnn_tensor_unref(tensors[i]);
		}
		if (orders[n % 6] > 0 && largest > 0.13)
			TEST_FAIL("case %zu: %g is left of a gradient", n, largest);
		free(values);
	}
	golden_check_family("moreh_clip");
}

/* ---- parts of tensors ----------------------------------------------------------------------------- */

TEST(numbers_in_a_row)
{
	for (size_t n = 0; n < CASES; n++) {
		enum ttnn_dtype dtype = n % 3 == 0 ? BF16 : n % 3 == 1 ? TTNN_FLOAT32 : TTNN_INT32;
		struct given given = {.state = n + 1};

		given_add(&given, "start", ttnn_v_real((double)n - 5));
		given_add(&given, "end", ttnn_v_real(3.0 * (double)n + 7));
		given_add(&given, "step", ttnn_v_real((double)(n % 4 + 1)));
		given_add(&given, "device", ttnn_v_device(golden_device()));
		given_add(&given, "untilize_out", ttnn_v_bool(n % 2));
		given_add(&given, "dtype", ttnn_v_dtype(dtype));
		given_case(&given, "ttnn.moreh_arange", n, 1);
	}
	golden_check_family("moreh_arange");
}

TEST(windows_are_put_back)
{
	for (size_t n = 0; n < CASES; n++) {
		int64_t kernel[] = {1 + (int64_t)n % 3, 2}, stride[] = {1 + (int64_t)n % 2, 1};
		int64_t padding[] = {(int64_t)n % 2, 1}, dilation[] = {1, 1 + (int64_t)n % 2};
		int64_t size[] = {9, 7 + (int64_t)n}, fits[2];
		struct ttnn_value items[5][2];
		const int64_t *const numbers[] = {size, kernel, dilation, padding, stride};
		static const char *const names[] = {"output_size", "kernel_size", "dilation",
						    "padding", "stride"};
		struct ttnn_spec_args spec = {.dtype = n % 3 ? BF16 : TTNN_FLOAT32};
		struct given given = {.state = n + 1};

		for (size_t i = 0; i < 2; i++)
			fits[i] = (size[i] + 2 * padding[i] - dilation[i] * (kernel[i] - 1) - 1) /
					  stride[i] +
				  1;
		spec.shape = (struct ttnn_shape){
			n % 2 ? 2 : 3,
			{2, (uint32_t)(3 * kernel[0] * kernel[1]), (uint32_t)(fits[0] * fits[1])}};
		if (n % 2)
			spec.shape = (struct ttnn_shape){
				2, {spec.shape.dim[1], (uint32_t)(fits[0] * fits[1])}};
		given_tensor(&given, "input", &spec, -1, 1);
		for (size_t i = 0; i < 5; i++) {
			items[i][0] = ttnn_v_int(numbers[i][0]);
			items[i][1] = ttnn_v_int(numbers[i][1]);
			given_add(&given, names[i], ttnn_v_list(items[i], 2));
		}
		given_case(&given, "ttnn.moreh_fold", n, 4);
	}
	golden_check_family("moreh_fold");
}

TEST(parts_by_index)
{
	for (size_t n = 0; n < CASES; n++) {
		bool tiles = n % 2;
		uint32_t first = (uint32_t)n % 3, count = n % 5 == 4 && first < 2 ? 2 : 1;
		struct ttnn_spec_args spec = given_spec(n % 3 ? BF16 : TTNN_INT32, 4, 5, 6, 40);
		struct ttnn_spec_args index = {.shape = {1, {3 + (uint32_t)n}},
					       .dtype = TTNN_INT32};
		struct ttnn_value items[2], dims[2];
		struct given given = {.state = n + 1};

		if (!tiles)
			spec.layout = TTNN_ROW_MAJOR;
		else if (n % 4 == 3)
			first = 3;
		count = first == 3 ? 1 : count;
		given_tensor(&given, "input", &spec, -9, 9);
		for (size_t i = 0; i < count; i++) {
			ttnn_tensor *tensor = golden_tensor(&index, &given.state, -4, 4);

			given.tensors[given.tensor_count++] = tensor;
			items[i] = ttnn_v_tensor(tensor);
			dims[i] = ttnn_v_int((int)(first + i));
		}
		given_add(&given, "index_tensors", ttnn_v_list(items, count));
		given_add(&given, "index_dims", ttnn_v_list(dims, count));
		given_case(&given, "ttnn.moreh_getitem", n, 1);
	}
	golden_check_family("moreh_getitem");
}

TEST(examples)
{
	for (size_t n = 0; n < CASES; n++) {
		struct ttnn_shape shape = {3, {2, 10 + (uint32_t)n, 45}};
		struct given given = {.state = n + 1};

		add(&given, NULL, &shape, -1, 1);
		given_case(&given, "ttnn.composite_example", n, 1);
		add(&given, NULL, &shape, -1, 1);
		given_add(&given, "return_output1", ttnn_v_bool(n % 3 != 1));
		given_add(&given, "return_output2", ttnn_v_bool(n % 3 != 2));
		given_case(&given, "ttnn.composite_example_multiple_return", n, 1);
	}
	golden_check_family("example");
}

TEST(the_end)
{
	golden_close();
}
