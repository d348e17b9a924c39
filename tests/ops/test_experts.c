/* gates, sums and weights of experts, elements among others, parts with padding, pictures: against their goldens */
#include "test.h"

#include "golden.h"
#include "ops/given_mesh.h"
#include "ops/golden_cases.h"
#include "ops/golden_dims.h"
#include "ops/op_enums.h"

static const struct ttnn_memory_config l1 = {.buffer = TTNN_L1};

static struct ttnn_spec_args in_rows(enum ttnn_dtype dtype, struct ttnn_shape shape)
{
	return (struct ttnn_spec_args){.shape = shape, .dtype = dtype, .layout = TTNN_ROW_MAJOR};
}

TEST(elements_among_others)
{
	const struct golden_wants wants = {
		.dtypes = GOLDEN_FLOATS | GOLDEN_BIT(TTNN_INT32) | GOLDEN_BIT(TTNN_UINT32),
		.layouts = GOLDEN_BOTH_LAYOUTS,
		.places = GOLDEN_BIT(GOLDEN_DRAM) | GOLDEN_BIT(GOLDEN_L1)};

	for (size_t n = 0; n < GOLDEN_CASES; n++) {
		struct ttnn_spec_args spec = golden_input(n, &wants);
		struct ttnn_spec_args tests = spec;
		struct given given = {.state = n + 1};

		/* few bits, so that some are equal */
		given_tensor(&given, NULL, &spec, -20, 20);
		tests.shape = n % 3 ? (struct ttnn_shape){2, {1 + (uint32_t)n % 3, 40}}
				    : (struct ttnn_shape){1, {5 + (uint32_t)n}};
		given_tensor(&given, NULL, &tests, -20, 20);
		given_add(&given, "invert", ttnn_v_bool(n % 4 == 1));
		given_add(&given, "assume_unique", ttnn_v_bool(n % 5 == 1));
		given_case(&given, "ttnn.experimental.isin", n, 0);
	}
	golden_check_family("isin");
}

/* Into a tensor that was given; NaN equals nothing, infinities themselves. */
TEST(elements_that_are_no_numbers)
{
	static const float elements[] = {NAN, INFINITY, 0, -INFINITY, 7, -0.0f};
	static const float tests[] = {NAN, -INFINITY, 0};
	static const double wants[] = {0, 0, 4294967295.0, 4294967295.0, 0, 4294967295.0};
	struct ttnn_spec_args a = in_rows(TTNN_FLOAT32, (struct ttnn_shape){1, {6}});
	struct ttnn_spec_args b = in_rows(TTNN_FLOAT32, (struct ttnn_shape){1, {3}});
	struct ttnn_spec_args o = in_rows(TTNN_UINT32, (struct ttnn_shape){1, {6}});
	uint64_t state = 1;
	ttnn_tensor *x = golden_upload(elements, TTNN_FLOAT32, &a, 0), *result = NULL;
	ttnn_tensor *y = golden_upload(tests, TTNN_FLOAT32, &b, 0);
	ttnn_tensor *out = golden_make(&o, &state, 0, 9);
	struct ttnn_arg args[] = {
		{NULL, ttnn_v_tensor(x)}, {NULL, ttnn_v_tensor(y)}, {"out", ttnn_v_tensor(out)}};
	double got[6];

	CHECK_OK(ttnn_call_one(&result, "ttnn.experimental.isin", args, 3, TTNN_FRONTEND_C));
	CHECK_OK(tt_tensor_numbers(got, 6, out));
	for (int i = 0; i < 6; i++)
		CHECK(got[i] == wants[i]);
	ttnn_tensor_unref(result);
	ttnn_tensor_unref(x);
	ttnn_tensor_unref(y);
	ttnn_tensor_unref(out);
}

TEST(parts_with_padding)
{
	for (uint32_t n = 0; n < 2 * GOLDEN_CASES; n++) {
		static const enum ttnn_dtype dtypes[] = {TTNN_BFLOAT16, TTNN_FLOAT32, TTNN_INT32,
							 TTNN_BFLOAT8_B};
		uint32_t images = 1 + n % 2, height = 4 + n % 5, width = 8 + 4 * (n % 3);
		uint32_t channels = 8 * (1 + n % 7), rows, padded = (channels + 31) / 32 * 32;
		enum ttnn_dtype dtype = dtypes[n % 4];
		struct ttnn_spec_args spec = {.shape = {4, {images, height, width, channels}},
					      .dtype = dtype,
					      .layout = n % 3 == 1 || dtype == TTNN_BFLOAT8_B
								? TTNN_TILE
								: TTNN_ROW_MAJOR};
		uint32_t top = n % 3, left = n % 4;
		struct ttnn_shard_spec shard = {.width = n % 2 ? padded : channels};
		struct ttnn_memory_config memory;
		struct given given = {.state = n + 1};
		struct ttnn_value start[4], end[4];

		rows = images * (height - top) * (width - left);
		for (int d = 0; d < 4; d++) {
			start[d] = ttnn_v_int(d == 1 ? top : d == 2 ? left : 0);
			end[d] = ttnn_v_int(spec.shape.dim[d]);
		}
		if (n % 5 == 4) { /* blocks of channels */
			shard.width = padded / 2;
			shard.height = (rows + 3) / 4;
			CHECK_OK(tt_core_set_grid(&shard.grid, 2, 4));
			CHECK_OK(ttnn_memory_config_sharded(&memory, TTNN_BLOCK_SHARDED, TTNN_L1,
							    &shard));
		} else {
			shard.height = (rows + 7) / 8;
			CHECK_OK(tt_core_set_grid(&shard.grid, 8, 1));
			CHECK_OK(ttnn_memory_config_sharded(&memory, TTNN_HEIGHT_SHARDED, TTNN_L1,
							    &shard));
		}
		given_tensor(&given, NULL, &spec, -9, 9);
		given_add(&given, NULL, ttnn_v_list(start, 4));
		given_add(&given, NULL, ttnn_v_list(end, 4));
		given_add(&given, "memory_config", ttnn_v_memory(&memory));
		given_case(&given, "ttnn.experimental.padded_slice", n, 2);
	}
	golden_check_family("padded_slice");
}

/* Rows of shards into lines of images. */
TEST(shards_written_into_parts)
{
	for (uint32_t n = 0; n < GOLDEN_CASES; n++) {
		uint32_t images = 1 + n % 2, lines = 2 + n % 3, width = 8 * (1 + n % 2);
		bool tiles = n % 4 >= 2; /* whose lines are whole ones */
		uint32_t channels = 32 * (1 + n % 3);
		struct ttnn_spec_args spec = in_rows(
			n % 3 ? TTNN_BFLOAT16 : TTNN_FLOAT32,
			(struct ttnn_shape){
				4, {1, 1, images * lines * (tiles ? 32 : width), channels}});
		struct ttnn_spec_args whole = spec;
		struct ttnn_value start[4], end[4], step[4];
		struct given given = {.state = n + 1};

		spec.layout = tiles ? TTNN_TILE : TTNN_ROW_MAJOR;
		golden_put(&spec, n % 2 ? GOLDEN_HEIGHT : GOLDEN_BLOCK);
		whole.layout = spec.layout;
		whole.shape =
			(struct ttnn_shape){4, {images, lines + n % 4, width + n % 5, channels}};
		for (int d = 0; d < 4; d++) {
			uint32_t first = d == 1 ? n % 4 : d == 2 ? n % 5 : 0;

			start[d] = ttnn_v_int(first);
			end[d] = ttnn_v_int(whole.shape.dim[d]);
			step[d] = ttnn_v_int(1);
		}
		given_tensor(&given, NULL, &spec, -9, 9);
		given_tensor(&given, NULL, &whole, -9, 9);
		given_add(&given, NULL, ttnn_v_list(start, 4));
		given_add(&given, NULL, ttnn_v_list(end, 4));
		given_add(&given, NULL, ttnn_v_list(step, 4));
		given_case(&given, "ttnn.experimental.slice_write", n, 0);
	}
}

/* A grid on the host; and what comes of it says the same to grid_sample as the grid itself. */
TEST(grids_worked_out_before)
{
	for (uint32_t n = 0; n < GOLDEN_CASES; n++) {
		uint32_t images = 1 + n % 2, rows = 3 + n % 4, columns = 5;
		uint32_t height = 4 + n % 9, width = 1 + n % 6;
		struct ttnn_spec_args args =
			in_rows(TTNN_FLOAT32, (struct ttnn_shape){4, {images, rows, columns, 2}});
		struct ttnn_value shape[] = {ttnn_v_int(images), ttnn_v_int(height),
					     ttnn_v_int(width), ttnn_v_int(32)};
		struct ttnn_tensor_spec spec;
		struct given given = {.state = n + 1};
		float numbers[2 * 6 * 5 * 2];
		ttnn_tensor *grid;

		for (size_t i = 0; i < TT_COUNT(numbers); i++)
			numbers[i] = (float)golden_number(&given.state, TTNN_FLOAT32, -1.3, 1.3);
		CHECK_OK(ttnn_tensor_spec_make(&spec, &args));
		CHECK_OK(ttnn_tensor_from_data(&grid, numbers, TTNN_FLOAT32, &spec, 0));
		given.tensors[given.tensor_count++] = grid;
		given_add(&given, NULL, ttnn_v_tensor(grid));
		given_add(&given, NULL, ttnn_v_list(shape, 4));
		given_add(&given, "align_corners", ttnn_v_bool(n % 3 == 1));
		given_case(&given, "ttnn.prepare_grid_sample_grid", n, 2);
	}
	golden_check_family("grid_prepare");
}

static ttnn_tensor *called(const char *name, const struct ttnn_arg *args, size_t count)
{
	ttnn_tensor *out = NULL;

	CHECK_OK(ttnn_call_one(&out, name, args, count, TTNN_FRONTEND_C));
	return out;
}

/* Zeros outside, whole pixels as numbers: exact but for the rounded weights. */
TEST(grids_say_the_same)
{
	struct ttnn_spec_args image = in_rows(TTNN_BFLOAT16, (struct ttnn_shape){4, {1, 7, 9, 32}});
	struct ttnn_spec_args args = in_rows(TTNN_FLOAT32, (struct ttnn_shape){4, {1, 6, 6, 2}});
	struct ttnn_value shape[] = {ttnn_v_int(1), ttnn_v_int(7), ttnn_v_int(9), ttnn_v_int(32)};
	struct ttnn_tensor_spec spec;
	uint64_t state = 3;
	ttnn_tensor *x = golden_make(&image, &state, -3, 3), *grid, *ready, *there, *a, *b, *live;
	float numbers[72];
	double one[6 * 6 * 32], other[6 * 6 * 32];

	for (int i = 0; i < 72; i++)
		numbers[i] = (float)golden_number(&state, TTNN_FLOAT32, -1.3, 1.3);
	CHECK_OK(ttnn_tensor_spec_make(&spec, &args));
	CHECK_OK(ttnn_tensor_from_data(&grid, numbers, TTNN_FLOAT32, &spec, 0));
	ready = called(
		"ttnn.prepare_grid_sample_grid",
		(struct ttnn_arg[]){{NULL, ttnn_v_tensor(grid)}, {NULL, ttnn_v_list(shape, 4)}}, 2);
	there = called("ttnn.to_device",
		       (struct ttnn_arg[]){{NULL, ttnn_v_tensor(ready)},
					   {NULL, ttnn_v_device(golden_device())}},
		       2);
	live = golden_upload(numbers, TTNN_FLOAT32, &args, 0);
	a = called("ttnn.grid_sample",
		   (struct ttnn_arg[]){{NULL, ttnn_v_tensor(x)},
				       {NULL, ttnn_v_tensor(there)},
				       {"use_precomputed_grid", ttnn_v_bool(true)}},
		   3);
	b = called("ttnn.grid_sample",
		   (struct ttnn_arg[]){{NULL, ttnn_v_tensor(x)}, {NULL, ttnn_v_tensor(live)}}, 2);
	CHECK_OK(tt_tensor_numbers(one, TT_COUNT(one), a));
	CHECK_OK(tt_tensor_numbers(other, TT_COUNT(other), b));
	for (size_t i = 0; i < TT_COUNT(one); i++)
		CHECK(fabs(one[i] - other[i]) < 0.05);
	CHECK(golden_pcc(one, other, TT_COUNT(one)) > 0.999);
	ttnn_tensor *all[] = {x, grid, ready, there, a, b, live};
	for (size_t i = 0; i < TT_COUNT(all); i++)
		ttnn_tensor_unref(all[i]);
}

TEST(experts_of_groups)
{
	for (uint32_t n = 0; n < GOLDEN_CASES; n++) {
		static const uint32_t shapes[][3] = {{1, 1, 1}, {1, 1, 40}, {2, 3, 32}, {1, 2, 70}};
		const uint32_t *dim = shapes[n % 4];
		struct ttnn_spec_args spec = given_spec(TTNN_BFLOAT16, dim[0], dim[1], dim[2], 256);
		struct given given = {.state = n + 1};

		given_tensor(&given, NULL, &spec, -3, 3);
		given_tensor(&given, NULL, &spec, -1, 1);
		if (n % 3)
			given_add(&given, "route_scale", ttnn_v_real(0.5 * n));
		if (n % 2)
			given_add(&given, "memory_config", ttnn_v_memory(&l1));
		given_case(&given, "ttnn.experimental.deepseek_grouped_gate", n, 2);
	}
	golden_check_family("grouped_gate");
}

TEST(sums_in_parts)
{
	for (uint32_t n = 0; n < GOLDEN_CASES; n++) {
		enum ttnn_dtype dtype = n % 4 == 3 ? TTNN_BFLOAT8_B : TTNN_BFLOAT16;
		struct ttnn_spec_args spec =
			given_spec(dtype, 1 + n % 5, 1 + n % 3, 20 + n, 64 * (1 + n % 4));
		struct given given = {.state = n + 1};

		given_tensor(&given, NULL, &spec, 0.1, 2);
		given_add(&given, NULL, ttnn_v_int(n % 3 == 2 ? -3 : (int)n % 2));
		given_add(&given, "split_size", ttnn_v_int(n % 2 ? 32 : 64));
		if (n % 5 == 1)
			given_add(&given, "output_memory_config", ttnn_v_memory(&l1));
		given_case(&given, "ttnn.experimental.deepseek_moe_fast_reduce_nc", n, 4);
	}
}

/* What `routed` experts made of tokens and some that all have, with scores; experts are on chips by a mapping of `rows` rows. */
static void add_scored(struct given *given, uint32_t n, uint32_t rows)
{
	static const int32_t owners[] = {0, 5, 3, 1, 4, 0, 2, 7, 0, 6, 5, 0, 4, 4, 1, 0};
	uint32_t routed = 1 + n % 4, shared = n % 3, experts = routed + shared, tokens = 20 + n;
	bool second = n % 4 == 2;
	int32_t choices[4 * 64], mapping[8 * 16];
	struct ttnn_spec_args in =
		given_spec(n % 5 == 3 ? TTNN_BFLOAT8_B : TTNN_BFLOAT16, second ? 2 : experts,
			   second ? experts : 1, tokens, 64 * (1 + n % 2));
	struct ttnn_spec_args scores =
		in_rows(TTNN_BFLOAT16, (struct ttnn_shape){4, {tokens, 1, 1, routed}});

	for (uint32_t i = 0; i < tokens * routed; i++)
		choices[i] = (int32_t)(i * (7 + n) % 16);
	for (uint32_t i = 0; i < rows * 16; i++)
		mapping[i] = owners[(i + i / 16) % 16];
	given_tensor(given, "input_tensor", &in, -2, 2);
	given_numbers(given, "expert_indices_tensor", &scores.shape, TTNN_UINT16, choices);
	given_numbers(given, "expert_mapping_tensor", &(struct ttnn_shape){2, {rows, 16}},
		      TTNN_UINT16, mapping);
	given_add(given, "reduce_dim", ttnn_v_int(second ? -3 : 0));
	given_add(given, "split_size", ttnn_v_int(n % 2 ? 32 : 64));
	given_add(given, "cluster_axis", ttnn_v_int(n / 2 % 2));
	if (n % 7 != 6)
		given_tensor(given, "scores_tensor", &scores, 0, 1);
	given_add(given, "num_shared_experts", ttnn_v_int(shared));
	given_add(given, "shared_expert_scale", ttnn_v_real(0.3 * (n % 5)));
	if (n % 5 == 1)
		given_add(given, "output_memory_config", ttnn_v_memory(&l1));
}

TEST(sums_by_scores)
{
	static const char *const name = "ttnn.experimental.deepseek_moe_fast_reduce_nc_fused";
	struct given given = {.state = 3};

	for (uint32_t n = 0; n < GOLDEN_CASES; n++) {
		add_scored(&given, n, 1);
		given_case(&given, name, n, 4);
	}
	given_mesh(2, 4);
	for (uint32_t n = 0; n < GOLDEN_CASES; n++) {
		add_scored(&given, n, n % 3 ? 8 : 1);
		given_case(&given, name, n, 4);
	}
	golden_close();
	golden_check_family("moe_fast_reduce");
}

TEST(weights_of_chips)
{
	for (uint32_t n = 0; n < GOLDEN_CASES; n++) {
		uint32_t experts = 8 * (1 + n);
		struct ttnn_spec_args spec = in_rows(n % 3 == 1 ? TTNN_FLOAT32 : TTNN_BFLOAT16,
						     (struct ttnn_shape){2, {1, experts}});
		float weights[8 * 22] = {0};
		struct given given = {.state = n + 1};
		ttnn_tensor *x;

		for (uint32_t i = 0; i < experts; i += 1 + n % 3)
			weights[i] = (float)(i % 7 + 1) / 8;
		x = golden_upload(weights, TTNN_FLOAT32, &spec, 0);
		given.tensors[given.tensor_count++] = x;
		given_add(&given, NULL, ttnn_v_tensor(x));
		given_add(&given, NULL, ttnn_v_int(1 + n % 8)); /* more than these are left out */
		given_add(&given, NULL, ttnn_v_int(1));
		given_add(&given, NULL, ttnn_v_int(n % 2));
		if (n % 4 == 1)
			given_add(&given, "memory_config", ttnn_v_memory(&l1));
		given_case(&given, "ttnn.moe_routing_remap", n, 0);
	}
	golden_check_family("moe_routing_remap");
}

TEST(bytes_of_pictures)
{
	for (uint32_t n = 0; n < GOLDEN_CASES; n++) {
		struct ttnn_spec_args spec = in_rows(
			TTNN_BFLOAT16,
			(struct ttnn_shape){4, {3, 2 * (1 + n % 5), 2 * (1 + n % 4), 1 + n}});
		struct given given = {.state = n + 1};

		given_tensor(&given, NULL, &spec, n % 3 ? -1.2 : 0, 1.2);
		given_add(&given, "color_space", tt_value_enum(&tt_enum_yuv_space, n % 3));
		given_add(&given, "input_range", tt_value_enum(&tt_enum_rgb_range, n % 2));
		given_add(&given, "output_range", tt_value_enum(&tt_enum_yuv_range, n / 2 % 2));
		given_add(&given, "wide_rows", ttnn_v_bool(n % 4 == 1));
		given_case(&given, "ttnn.experimental.rgb_to_yuv", n, 0);
	}
	golden_check_family("yuv");
	golden_close();
}

/* Long rows, on the chip that has this alone. */
TEST(places_of_the_largest)
{
	golden_profile = "p150";
	for (uint32_t n = 0; n < GOLDEN_CASES; n++) {
		uint32_t width = 64 + 300 * (n % 4), k = 16 * (1 + n % 4);
		struct ttnn_spec_args spec =
			in_rows(TTNN_BFLOAT16, n % 3 ? (struct ttnn_shape){2, {1 + n % 5, width}}
						     : (struct ttnn_shape){1, {width}});
		struct given given = {.state = n + 1};
		int32_t length[] = {(int32_t)(32 + n)};
		const struct ttnn_shape one = {1, {1}};

		given.tensors[given.tensor_count++] = golden_uneven(&spec, &given.state, -3, 3);
		given_add(&given, NULL, ttnn_v_tensor(given.tensors[0]));
		given_add(&given, "k", ttnn_v_int(k));
		if (n % 5 == 1)
			given_add(&given, "valid_length", ttnn_v_int(width - 13));
		if (n % 5 == 2) {
			given_numbers(&given, "valid_length_tensor", &one, TTNN_UINT32, length);
			given_add(&given, "valid_length_offset", ttnn_v_int(n));
		}
		if (n % 10 == 2)
			given_numbers(&given, "valid_end_tensor", &one, TTNN_UINT32, length);
		given_case(&given, "ttnn.experimental.topk_large_indices", n, 0);
	}
	golden_check_family("topk_large");
	golden_close();
	golden_profile = "n150";
}
