/* Rims of pictures that are cut among the chips of a mesh of 2 x 4, against their goldens and against pictures with a rim. */
#include "test.h"

#include "event/value.h"
#include "golden.h"
#include "ops/given_mesh.h"
#include "ops/golden_cases.h"

#define ROWS 2u
#define COLS 4u
#define CASES 30

static const char *const exchange = "ttnn.experimental.neighbor_pad_halo";
static const char *const scatter = "ttnn.experimental.halo_scatter";

/* A picture of a chip: with the rim it has already (inside), and the one that is asked for. */
struct wish {
	uint32_t batches, frames, height, width, channels, inside, up, left, right, more;
	enum ttnn_dtype dtype;
	int64_t axis;
	bool zeros, padded;
};

static struct wish wish_of(uint32_t n)
{
	return (struct wish){.batches = 1 + n % 2,
			     .frames = 1 + n % 3,
			     .height = 3 + n % 4,
			     .width = 4 + n % 5,
			     .channels = 8 * (1 + n % 4),
			     .inside = n % 7 == 3 ? 1 : 0,
			     .up = 1 + n % 3 / 2,
			     .left = 1 + n % 4 / 3,
			     .right = n % 6 ? 1 + n % 4 / 3 : 0,
			     .more = n % 5 == 4 ? 7 : 0,
			     .dtype = n % 4 == 2 ? TTNN_FLOAT32 : TTNN_BFLOAT16,
			     .axis = n % 8 == 5,
			     .zeros = n % 3 != 1,
			     .padded = n % 5 == 1};
}

static struct ttnn_spec_args rows_spec(enum ttnn_dtype dtype, struct ttnn_shape shape)
{
	return (struct ttnn_spec_args){.shape = shape, .dtype = dtype, .layout = TTNN_ROW_MAJOR};
}

static uint32_t halo_rows(const struct wish *w)
{
	return w->batches * w->frames *
	       (2 * w->up * w->width + (w->left + w->right) * (w->height + 2 * w->up));
}

static struct ttnn_shape picture(const struct wish *w, uint32_t up, uint32_t left, uint32_t right)
{
	return (struct ttnn_shape){
		5,
		{w->batches, w->frames, w->height + 2 * up, w->width + left + right, w->channels}};
}

static void add_exchange(struct given *given, const struct wish *w)
{
	static const struct tt_enum_row rows[] = {{1, "Linear"}};
	static const struct tt_enum topology = {"Topology", rows, 1};
	const struct ttnn_spec_args in =
		rows_spec(w->dtype, picture(w, w->inside, w->inside, w->inside));
	const struct ttnn_spec_args out =
		rows_spec(w->dtype, (struct ttnn_shape){2, {halo_rows(w) + w->more, w->channels}});
	const struct ttnn_spec_args whole =
		rows_spec(w->dtype, picture(w, w->up, w->left, w->right));

	given_chips(given, "input", &in, -2, 2);
	given_tensor(given, "halo_buffer", &out, 3, 4);
	if (w->padded)
		given_tensor(given, "padded_output", &whole, 3, 4);
	given_add(given, "np_padding_h", ttnn_v_int(w->up));
	given_add(given, "np_padding_w", ttnn_v_int(w->left));
	given_add(given, "np_cluster_axis", ttnn_v_int(w->axis));
	given_add(given, "np_num_links", ttnn_v_int(1));
	given_add(given, "np_topology", tt_value_enum(&topology, 1));
	given_add(given, "h_neighbor_semaphore", ttnn_v_int(0));
	given_add(given, "barrier_semaphore", ttnn_v_int(0));
	given_add(given, "w_neighbor_semaphore", ttnn_v_int(0));
	given_add(given, "np_pad_dim2", ttnn_v_int(3));
	given_add(given, "np_pad2_left", ttnn_v_int(w->left));
	given_add(given, "np_pad2_right", ttnn_v_int(w->right));
	given_add(given, "np_pad2_cluster_axis", ttnn_v_int(!w->axis));
	given_add(given, "np_pad2_num_links", ttnn_v_int(1));
	given_add(given, "padding_mode", ttnn_v_string(w->zeros ? "zeros" : "replicate"));
	if (w->inside) {
		given_add(given, "input_pad_h", ttnn_v_int(w->inside));
		given_add(given, "input_pad_w", ttnn_v_int(w->inside));
	}
}

TEST(exchanged)
{
	struct given given = {.state = 1};

	given_mesh(ROWS, COLS);
	for (uint32_t n = 0; n < CASES; n++) {
		struct wish w = wish_of(n);

		add_exchange(&given, &w);
		given_case(&given, exchange, n, 1);
	}
}

TEST(scattered)
{
	struct given given = {.state = 2};

	given_mesh(ROWS, COLS);
	for (uint32_t n = 0; n < CASES; n++) {
		struct wish w = wish_of(n);
		bool border = n % 3 == 1;
		struct ttnn_spec_args in, halo;

		w.right = w.left = n % 4 ? w.left : 0;
		in = rows_spec(w.dtype,
			       border ? picture(&w, w.up, w.left, w.left) : picture(&w, 0, 0, 0));
		halo = rows_spec(w.dtype,
				 (struct ttnn_shape){2, {halo_rows(&w) + w.more, w.channels}});
		given_tensor(&given, "compact_buffer", &halo, -2, 2);
		given_tensor(&given, "interior_src", &in, -2, 2);
		given_add(&given, "np_padding_h", ttnn_v_int(w.up));
		given_add(&given, "np_padding_w", ttnn_v_int(w.left));
		if (border)
			given_add(&given, "border_only", ttnn_v_bool(true));
		given_case(&given, scatter, n, 1);
	}
}

static ttnn_tensor *run(const char *op, const struct ttnn_arg *args, size_t count)
{
	struct ttnn_results results = {0};

	CHECK_OK(ttnn_call(&results, op, args, count, TTNN_FRONTEND_C));
	return results.count ? results.tensors[0] : NULL;
}

static void compare(ttnn_tensor *a, ttnn_tensor *b)
{
	uint64_t count = 0;
	double *x, *y;

	CHECK_OK(ttnn_shape_volume(&count, &a->spec.shape));
	x = calloc(2 * count, sizeof(*x));
	y = x + count;
	for (uint32_t chip = 0; chip < ROWS * COLS; chip++) {
		ttnn_tensor *one = NULL, *other = NULL;

		CHECK_OK(ttnn_tensor_shard(&one, a, chip));
		CHECK_OK(ttnn_tensor_shard(&other, b, chip));
		CHECK_OK(tt_tensor_numbers(x, count, one));
		CHECK_OK(tt_tensor_numbers(y, count, other));
		CHECK(memcmp(x, y, count * sizeof(*x)) == 0);
		ttnn_tensor_unref(one);
		ttnn_tensor_unref(other);
	}
	free(x);
}

/* What is exchanged and put around a picture is the picture that neighbor_pad_async makes, on all chips. */
TEST(all_chips)
{
	struct given given = {.state = 3};

	given_mesh(ROWS, COLS);
	for (uint32_t n = 0; n < 6; n++) {
		struct wish w = wish_of(n);
		const struct ttnn_value dims[] = {ttnn_v_int(2), ttnn_v_int(3)};
		const struct ttnn_value axes[] = {ttnn_v_int(0), ttnn_v_int(1)};
		struct ttnn_value pads[2];
		ttnn_tensor *halo, *padded, *whole;

		w.inside = 0;
		w.axis = 0;
		w.padded = false;
		w.right = w.left;
		pads[0] = ttnn_v_int(w.up);
		pads[1] = ttnn_v_int(w.left);
		add_exchange(&given, &w);
		halo = run(exchange, given.args, given.count);
		padded = run(scatter,
			     (const struct ttnn_arg[]){{"compact_buffer", ttnn_v_tensor(halo)},
						       {"interior_src", given.args[0].value},
						       {"np_padding_h", pads[0]},
						       {"np_padding_w", pads[1]}},
			     4);
		whole = run(
			"ttnn.experimental.neighbor_pad_async",
			(const struct ttnn_arg[]){
				{"input_tensor", given.args[0].value},
				{"dim", ttnn_v_list(dims, 2)},
				{"padding_left", ttnn_v_list(pads, 2)},
				{"padding_right", ttnn_v_list(pads, 2)},
				{"padding_mode", ttnn_v_string(w.zeros ? "zeros" : "replicate")},
				{"cluster_axis", ttnn_v_list(axes, 2)},
				{"neighbor_semaphore", ttnn_v_list(axes, 2)},
				{"barrier_semaphore", ttnn_v_list(axes, 2)}},
			8);
		compare(padded, whole);
		ttnn_tensor_unref(halo);
		ttnn_tensor_unref(padded);
		ttnn_tensor_unref(whole);
		given_free(&given);
	}
}

TEST(zz_all_rows)
{
	golden_check_family("neighbor_halo");
	golden_close();
}
