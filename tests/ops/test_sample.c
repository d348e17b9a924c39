/* images in the places of a grid, normalisation over dimensions: against their goldens */
#include "test.h"

#include "golden.h"
#include "ops/given.h"
#include "ops/golden_cases.h"
#include "ops/golden_dims.h"

#define CASES 22

static struct ttnn_spec_args rows(enum ttnn_dtype dtype, const uint32_t dims[4])
{
	struct ttnn_spec_args spec = given_spec(dtype, dims[0], dims[1], dims[2], dims[3]);

	spec.layout = TTNN_ROW_MAJOR;
	return spec;
}

/* A grid that was worked out: pixels as the bits of bfloat16, and weights. */
static void precomputed_grid(struct given *given, const uint32_t dims[4], bool nearest)
{
	struct ttnn_spec_args args = rows(TTNN_BFLOAT16, dims);
	struct ttnn_tensor_spec spec;
	ttnn_tensor *out;
	uint16_t *bits;

	CHECK_OK(ttnn_tensor_spec_make(&spec, &args));
	bits = malloc(spec.bytes);
	for (uint32_t i = 0; i < spec.bytes / 2; i++) {
		uint32_t at = i % (nearest ? 2 : 6);

		/* rows and columns from -1 on; weights of 0.25 to 0.75 */
		given->state = given->state * 6364136223846793005u + 1442695040888963407u;
		bits[i] = at < 2 ? (uint16_t)((given->state >> 33) % 12 - 1)
				 : (uint16_t)(0x3e80 + (given->state >> 33) % 0xc0);
	}
	out = golden_upload(bits, TTNN_BFLOAT16, &args, 0);
	free(bits);
	given->tensors[given->tensor_count++] = out;
	given_add(given, NULL, ttnn_v_tensor(out));
}

TEST(images_in_the_places_of_a_grid)
{
	for (size_t n = 0; n < CASES; n++) {
		static const uint32_t images[][4] = {
			{1, 16, 16, 32}, {2, 7, 9, 64}, {3, 1, 5, 96}, {1, 10, 10, 256}};
		const uint32_t *image = images[n % 4];
		uint32_t points = (uint32_t)n % 3 + 1, numbers = n % 5 == 3 ? 6 : 2;
		uint32_t grid[4] = {image[0], 3 + (uint32_t)n % 4, 5, points * numbers};
		enum ttnn_dtype dtype = n % 4 == 1 ? TTNN_FLOAT32 : TTNN_BFLOAT16;
		struct ttnn_spec_args spec = rows(dtype, image), places = rows(dtype, grid);
		struct given given = {.state = n + 1};
		bool made = n % 5 >= 3;

		given_tensor(&given, NULL, &spec, -2, 2);
		if (made)
			precomputed_grid(&given, grid, n % 5 == 4);
		else
			given_tensor(&given, NULL, &places, -1.2, 1.2);
		if (made)
			given_add(&given, "use_precomputed_grid", ttnn_v_bool(true));
		if (n % 5 == 4)
			given_add(&given, "mode", ttnn_v_string("nearest"));
		given_add(&given, "align_corners", ttnn_v_bool(n % 2 == 1));
		given_add(&given, "batch_output_channels", ttnn_v_bool(points > 1 && n % 2 == 0));
		given_case(&given, "ttnn.grid_sample", n, 4);
	}
	golden_check_family("grid_sample");
}

TEST(weighted_sums_of_places)
{
	for (uint32_t n = 0; n < CASES; n++) {
		uint32_t images = 1 + n % 3, queries = 1 + n * 7 % 40, points = 1 + n % 5;
		struct ttnn_spec_args value =
			rows(TTNN_BFLOAT16,
			     (const uint32_t[]){images, 1 + n % 7, 2 + n % 9, 16 + 16 * (n % 5)});
		struct ttnn_spec_args grid =
			rows(TTNN_BFLOAT16, (const uint32_t[]){images, queries * points, 1, 2});
		struct ttnn_spec_args weights =
			rows(TTNN_BFLOAT16, (const uint32_t[]){images, queries, points, 0});
		struct given given = {.state = n + 1};

		given_tensor(&given, NULL, &value, -2, 2);
		given_tensor(&given, NULL, &grid, -1.2, 1.2);
		given_tensor(&given, NULL, &weights, 0, 1);
		given_add(&given, "align_corners", ttnn_v_bool(n % 2 == 1));
		given_case(&given, "ttnn.experimental.multi_scale_deformable_attn", n, 4);
	}
	golden_check_family("deformable_attention");
}

TEST(grids_that_do_not_fit)
{
	const uint32_t image[] = {2, 4, 4, 32};
	static const struct {
		uint32_t grid[4];
		const char *mode, *says;
	} cases[] = {
		{{1, 3, 3, 2}, "bilinear", "does not fit 2 images"},
		{{2, 3, 3, 3}, "bilinear", "does not fit 2 images"},
		{{2, 3, 3, 2}, "bicubic", "not bicubic"},
	};
	struct ttnn_spec_args spec = rows(TTNN_BFLOAT16, image);

	for (size_t i = 0; i < TT_COUNT(cases); i++) {
		struct ttnn_spec_args grid = rows(TTNN_BFLOAT16, cases[i].grid);
		struct given given = {.state = i + 1};
		ttnn_tensor *out = NULL;

		given_tensor(&given, NULL, &spec, -1, 1);
		given_tensor(&given, NULL, &grid, -1, 1);
		given_add(&given, "mode", ttnn_v_string(cases[i].mode));
		CHECK_FAILS(ttnn_call_one(&out, "ttnn.grid_sample", given.args, given.count,
					  TTNN_FRONTEND_C),
			    TTNN_INVALID, "");
		given_refused(&given, "ttnn.grid_sample", cases[i].says);
	}
}

TEST(images_turned_around_a_point)
{
	for (size_t n = 0; n < CASES; n++) {
		static const uint32_t images[][4] = {
			{1, 16, 16, 32}, {2, 7, 9, 64}, {3, 1, 5, 96}, {1, 10, 10, 256}};
		uint32_t image[4];
		enum ttnn_dtype dtype = n % 3 == 1 ? TTNN_FLOAT32 : TTNN_BFLOAT16;
		struct ttnn_value center[] = {ttnn_v_real((double)n / 2), ttnn_v_int((int)n % 7)};
		struct given given = {.state = n + 1};
		struct ttnn_spec_args spec;

		memcpy(image, images[n % 4], sizeof(image));
		if (n % 5 == 0) /* channels that fill no tile: the nearest pixel alone */
			image[3] = 17;
		spec = rows(dtype, image);
		given_tensor(&given, NULL, &spec, -2, 2);
		given_add(&given, "angle", ttnn_v_real((double)n * 37 - 300));
		if (n % 3 == 2)
			given_add(&given, "center", ttnn_v_list(center, 2));
		if (n % 2)
			given_add(&given, "fill", ttnn_v_real(0.5));
		if (n % 5 && n % 4 != 1)
			given_add(&given, "interpolation_mode", ttnn_v_string("bilinear"));
		given_case(&given, "ttnn.rotate", n, 4);
	}
	golden_check_family("rotate");
}

TEST(normalisation_over_dimensions)
{
	for (size_t n = 0; n < CASES; n++) {
		static const uint32_t shapes[][4] = {
			{2, 3, 64, 96}, {1, 2, 37, 45}, {3, 2, 32, 70}, {0, 0, 50, 64}};
		const uint32_t *dims = shapes[n % 4];
		struct ttnn_spec_args spec =
			given_spec(TTNN_BFLOAT16, dims[0], dims[1], dims[2], dims[3]);
		uint32_t over = (uint32_t)n % (spec.shape.rank == 2 ? 2 : 3) + 1;
		struct ttnn_spec_args gain = spec;
		struct given given = {.state = n + 1};

		gain.shape.rank = over > 1 ? over : 2;
		for (uint32_t d = 0; d < gain.shape.rank; d++)
			gain.shape.dim[d] = spec.shape.dim[spec.shape.rank - gain.shape.rank + d];
		if (over == 1)
			gain.shape.dim[0] = 1;
		given.tensors[given.tensor_count++] = golden_uneven(&spec, &given.state, -2, 3);
		given_add(&given, NULL, ttnn_v_tensor(given.tensors[0]));
		given_add(&given, NULL, ttnn_v_int(over));
		given_add(&given, NULL, ttnn_v_real(1e-5));
		if (n % 3) {
			given_tensor(&given, "gamma", &gain, 0.5, 2);
			given_tensor(&given, "beta", &gain, -1, 1);
		}
		/* statistics have the dimensions in front, of which there are at least two */
		gain.shape = spec.shape;
		gain.shape.rank -= over;
		if (gain.shape.rank < 2)
			gain.shape = TT_SHAPE(1, gain.shape.rank ? spec.shape.dim[0] : 1);
		given_tensor(&given, "mean", &gain, 0, 1);
		given_tensor(&given, "rstd", &gain, 0, 1);
		given_case(&given, "ttnn.moreh_layer_norm", n, 8);
	}
	golden_check_family("moreh_layer_norm");
	golden_close();
}
