/* tensors from nothing, from data, to a device and back: values, sharing, refusals */
#include "test.h"

#include <ttnn_frontend.h>

#include "golden.h"
#include "tensor/core.h"

static const uint32_t shapes[][6] = {
	/* rank, then extents */
	{1, 1},         {1, 45},           {2, 32, 32},       {2, 33, 65},
	{3, 2, 31, 40}, {4, 1, 2, 64, 64}, {4, 2, 3, 45, 70}, {5, 2, 1, 2, 5, 33},
	{2, 1, 100},
};
#define SHAPES (sizeof(shapes) / sizeof(shapes[0]))

static struct ttnn_shape shape_of(size_t i)
{
	struct ttnn_shape shape = {.rank = shapes[i][0]};

	memcpy(shape.dim, &shapes[i][1], shape.rank * sizeof(shape.dim[0]));
	return shape;
}

static const enum ttnn_dtype dtypes[] = {TTNN_BFLOAT16, TTNN_FLOAT32,   TTNN_INT32, TTNN_UINT32,
					 TTNN_UINT16,   TTNN_BFLOAT8_B, TTNN_UINT8};
#define DTYPES (sizeof(dtypes) / sizeof(dtypes[0]))

static const struct ttnn_memory_config l1 = {.buffer = TTNN_L1};

static void unref(ttnn_tensor *tensor)
{
	ttnn_tensor_unref(tensor);
}

/* ---- goldens ----------------------------------------------------------------------------------- */

TEST(full_and_its_relatives)
{
	static const char *const names[] = {"ttnn.zeros", "ttnn.ones", "ttnn.full"};

	for (size_t i = 0; i < SHAPES * DTYPES; i++) {
		struct ttnn_shape shape = shape_of(i % SHAPES);
		enum ttnn_dtype dtype = dtypes[i / SHAPES];
		bool tile = tt_dtype_is_block(dtype) || i % 2;

		for (size_t n = 0; n < 3; n++) {
			struct ttnn_arg args[] = {
				{"shape", ttnn_v_shape(&shape)},
				{"dtype", ttnn_v_dtype(dtype)},
				{"layout", ttnn_v_layout(tile ? TTNN_TILE : TTNN_ROW_MAJOR)},
				{"device", i % 3 ? ttnn_v_device(golden_device()) : ttnn_v_none()},
				{"memory_config", i % 4 ? ttnn_v_none() : ttnn_v_memory(&l1)},
				{"fill_value", ttnn_v_real(i % 5 ? 2.5 : 7)},
			};

			golden_case(names[n], args, n == 2 ? 6 : 5, 1);
		}
	}
}

TEST(like_another_tensor)
{
	uint64_t state = 1;

	for (size_t i = 0; i < SHAPES * 4; i++) {
		static const enum ttnn_dtype own[] = {TTNN_BFLOAT16, TTNN_FLOAT32, TTNN_INT32,
						      TTNN_UINT16};
		struct ttnn_spec_args spec = {.shape = shape_of(i % SHAPES),
					      .dtype = own[i / SHAPES],
					      .layout = i % 2 ? TTNN_TILE : TTNN_ROW_MAJOR};
		ttnn_tensor *like = golden_tensor(&spec, &state, 0, 9);
		struct ttnn_arg args[] = {{NULL, ttnn_v_tensor(like)},
					  {"fill_value", ttnn_v_real(3)}};
		bool fills = tt_op_find("ttnn.fill") || spec.layout == TTNN_ROW_MAJOR ||
			     tt_dtype_is_integer(spec.dtype);

		if (fills) {
			golden_case("ttnn.full_like", args, 2, 1);
			golden_case("ttnn.zeros_like", args, 1, 1);
			golden_case("ttnn.ones_like", args, 1, 1);
		}
		if (spec.dtype != TTNN_UINT16 && spec.shape.rank > 1)
			golden_case("ttnn.moreh_full_like", args, 2, 1);
		unref(like);
	}
}

TEST(filled_by_a_program)
{
	const ttnn_core_set *grid;
	struct ttnn_memory_config sharded;

	CHECK_OK(tt_core_set_grid(&grid, 4, 1));
	CHECK_OK(ttnn_memory_config_sharded(&sharded, TTNN_HEIGHT_SHARDED, TTNN_L1,
					    &(struct ttnn_shard_spec){grid, 32, 64, 0}));
	for (size_t i = 0; i < SHAPES * 3; i++) {
		static const enum ttnn_dtype own[] = {TTNN_BFLOAT16, TTNN_FLOAT32, TTNN_INT32};
		struct ttnn_shape shape = shape_of(i % SHAPES);
		bool fits = shape.rank == 4 && shape.dim[2] == 64 && shape.dim[3] == 64;
		struct ttnn_arg args[] = {
			{NULL, ttnn_v_shape(&shape)},
			{NULL, ttnn_v_real(-4)},
			{NULL, ttnn_v_device(golden_device())},
			{"dtype", ttnn_v_dtype(own[i / SHAPES])},
			{"memory_config", ttnn_v_memory(fits ? &sharded : &l1)},
		};

		if (shape.rank > 1)
			golden_case("ttnn.moreh_full", args, 5, 1);
	}
}

TEST(ranges)
{
	static const int64_t bounds[][3] = {{0, 10, 1},   {5, 100, 7}, {10, 0, -3}, {0, 128, 2},
					    {-50, 50, 9}, {3, 3, 1},   {0, 1, 1}};

	for (size_t i = 0; i < 7 * 4; i++) {
		static const enum ttnn_dtype own[] = {TTNN_BFLOAT16, TTNN_FLOAT32, TTNN_INT32,
						      TTNN_FLOAT32};
		const int64_t *bound = bounds[i % 7];
		struct ttnn_arg args[] = {
			{NULL, ttnn_v_int(bound[0])},
			{NULL, ttnn_v_int(bound[1])},
			{NULL, ttnn_v_int(bound[2])},
			{"dtype", ttnn_v_dtype(own[i / 7])},
			{"layout", ttnn_v_layout(i % 2 ? TTNN_TILE : TTNN_ROW_MAJOR)},
			{"device", i % 3 ? ttnn_v_device(golden_device()) : ttnn_v_none()},
		};

		golden_case("ttnn.arange", args, 6, 1);
	}
}

TEST(every_creation_has_its_cases)
{
	golden_check_counts("creation");
}

static ttnn_tensor *on_host(const struct ttnn_spec_args *args, uint64_t *state)
{
	ttnn_tensor *device = golden_tensor(args, state, -3, 3), *host = NULL;

	CHECK_OK(ttnn_call_one(&host, "ttnn.from_device",
			       (struct ttnn_arg[]){{NULL, ttnn_v_tensor(device)}}, 1,
			       TTNN_FRONTEND_C));
	unref(device);
	return host;
}

TEST(to_a_device_and_back)
{
	uint64_t state = 2;

	for (size_t i = 0; i < SHAPES * 3; i++) {
		static const enum ttnn_dtype own[] = {TTNN_FLOAT32, TTNN_BFLOAT16, TTNN_INT32};
		struct ttnn_spec_args spec = {.shape = shape_of(i % SHAPES),
					      .dtype = own[i / SHAPES]};
		ttnn_tensor *rows = on_host(&spec, &state), *tiles = NULL;
		struct ttnn_value device = ttnn_v_device(golden_device());
		struct ttnn_arg from_rows[] = {
			{NULL, ttnn_v_tensor(rows)},
			{"dtype", ttnn_v_dtype(own[(i + 1) % 2])},
			{"layout", ttnn_v_layout(i % 2 ? TTNN_TILE : TTNN_ROW_MAJOR)},
			{"device", device},
			{"memory_config", ttnn_v_memory(&l1)}};

		golden_case("ttnn.from_torch", from_rows, 5, 1);
		golden_case("ttnn.as_tensor", from_rows, 5, 1);
		golden_case("ttnn.from_torch", from_rows, 3, 1);
		golden_case("ttnn.to_dtype",
			    (struct ttnn_arg[]){{NULL, ttnn_v_tensor(rows)},
						{NULL, ttnn_v_dtype(own[(i + 1) % 2])}},
			    2, 1);
		CHECK_OK(
			ttnn_tensor_to_layout(&tiles, rows, i % 2 ? TTNN_TILE : TTNN_ROW_MAJOR, 5));
		golden_case("ttnn.to_device",
			    (struct ttnn_arg[]){{NULL, ttnn_v_tensor(tiles)}, {NULL, device}}, 2,
			    1);
		golden_case("ttnn.Tensor.to",
			    (struct ttnn_arg[]){{NULL, ttnn_v_tensor(tiles)}, {NULL, device}}, 2,
			    1);
		golden_case("ttnn.to_torch", (struct ttnn_arg[]){{NULL, ttnn_v_tensor(tiles)}}, 1,
			    1);
		golden_case("ttnn.from_device", (struct ttnn_arg[]){{NULL, ttnn_v_tensor(tiles)}},
			    1, 1);
		golden_case("ttnn.Tensor.cpu", (struct ttnn_arg[]){{NULL, ttnn_v_tensor(tiles)}}, 1,
			    1);
		unref(tiles);
		unref(rows);
	}
	golden_check_counts("host");
}

/* ---- what goldens cannot tell ------------------------------------------------------------------- */

static ttnn_tensor *call(const char *name, const struct ttnn_arg *args, size_t count)
{
	ttnn_tensor *out = NULL;

	CHECK_OK(ttnn_call_one(&out, name, args, count, TTNN_FRONTEND_C));
	return out;
}

static double first_number(ttnn_tensor *tensor)
{
	uint64_t count = 0;
	double *values, first;

	CHECK_OK(ttnn_shape_volume(&count, &tensor->spec.shape));
	values = calloc(count + 1, sizeof(*values));
	CHECK_OK(tt_tensor_numbers(values, count, tensor));
	first = values[0];
	free(values);
	return first;
}

TEST(host_and_device_do_not_see_each_others_writes)
{
	struct ttnn_shape shape = {2, {32, 32}};
	struct ttnn_value device = ttnn_v_device(golden_device());
	ttnn_tensor *host = call("ttnn.full",
				 (struct ttnn_arg[]){{NULL, ttnn_v_shape(&shape)},
						     {NULL, ttnn_v_real(5)},
						     {"layout", ttnn_v_layout(TTNN_TILE)}},
				 3);
	ttnn_tensor *there =
		call("ttnn.to_device",
		     (struct ttnn_arg[]){{NULL, ttnn_v_tensor(host)}, {NULL, device}}, 2);
	ttnn_tensor *copy =
		call("ttnn.from_device", (struct ttnn_arg[]){{NULL, ttnn_v_tensor(there)}}, 1);
	ttnn_tensor *written = call("ttnn.full",
				    (struct ttnn_arg[]){{NULL, ttnn_v_shape(&shape)},
							{NULL, ttnn_v_real(9)},
							{"optional_tensor", ttnn_v_tensor(there)}},
				    3);

	CHECK(written == there);
	CHECK(first_number(there) == 9);
	CHECK(first_number(host) == 5);
	CHECK(first_number(copy) == 5);
	unref(written);
	unref(copy);
	unref(there);
	unref(host);
}

TEST(a_mesh_gets_every_part)
{
	struct ttnn_shape shape = {2, {32, 32}};
	ttnn_tensor *tensor = NULL, *host;
	ttnn_device *mesh = NULL;

	CHECK_OK(ttnn_mesh_open(&mesh, NULL, &(struct ttnn_device_options){.profile = "p150_x4"}));
	CHECK_OK(ttnn_call_one(&tensor, "ttnn.full",
			       (struct ttnn_arg[]){{NULL, ttnn_v_shape(&shape)},
						   {NULL, ttnn_v_real(3)},
						   {"device", ttnn_v_device(mesh)}},
			       3, TTNN_FRONTEND_C));
	host = call("ttnn.from_device", (struct ttnn_arg[]){{NULL, ttnn_v_tensor(tensor)}}, 1);
	CHECK_INT(ttnn_tensor_shard_count(host), 4);
	for (size_t i = 0; i < 4; i++) {
		ttnn_tensor *part = NULL;

		CHECK_OK(ttnn_tensor_shard(&part, host, i));
		CHECK(first_number(part) == 3);
		unref(part);
	}
	CHECK_FAILS(ttnn_call_one(&tensor, "ttnn.to_torch",
				  (struct ttnn_arg[]){{NULL, ttnn_v_tensor(host)}}, 1,
				  TTNN_FRONTEND_C),
		    TTNN_INVALID, "distributed on MeshShape([2, 2]) mesh");
	unref(host);
	unref(tensor);
	ttnn_device_unref(mesh);
}

/* As Python's get_device_tensors() takes them out before it reads them. */
TEST(a_part_on_a_device_is_that_chips)
{
	struct ttnn_shape shape = {2, {32, 32}}, two = {2, {2, 2}};
	struct ttnn_placement all[2] = {{0}};
	ttnn_tensor *parts[4], *spread = NULL, *tensor;
	ttnn_device *mesh = NULL;

	CHECK_OK(ttnn_mesh_open(&mesh, NULL, &(struct ttnn_device_options){.profile = "p150_x4"}));
	for (size_t i = 0; i < 4; i++)
		parts[i] = call("ttnn.full",
				(struct ttnn_arg[]){{NULL, ttnn_v_shape(&shape)},
						    {NULL, ttnn_v_real((double)i)}},
				2);
	CHECK_OK(ttnn_tensor_gather(&spread, parts, &two, &two, all));
	tensor = call(
		"ttnn.to_device",
		(struct ttnn_arg[]){{NULL, ttnn_v_tensor(spread)}, {NULL, ttnn_v_device(mesh)}}, 2);
	for (size_t i = 0; i < 4; i++) {
		ttnn_tensor *part = NULL, *host;

		CHECK_OK(ttnn_tensor_shard(&part, tensor, i));
		host = call("ttnn.from_device", (struct ttnn_arg[]){{NULL, ttnn_v_tensor(part)}},
			    1);
		CHECK(first_number(host) == (double)i);
		unref(host);
		unref(part);
		unref(parts[i]);
	}
	unref(spread);
	unref(tensor);
	ttnn_device_unref(mesh);
}

TEST(deallocated_memory_is_free_at_once)
{
	struct ttnn_shape shape = {2, {64, 64}};
	struct ttnn_value device = ttnn_v_device(golden_device());
	struct ttnn_arg args[] = {{NULL, ttnn_v_shape(&shape)}, {"device", device}};
	ttnn_tensor *first = call("ttnn.zeros", args, 2), *second;
	uint64_t address = tt_tensor_buffer(first)->address;
	struct ttnn_results none;

	CHECK_OK(ttnn_call(&none, "ttnn.deallocate",
			   (struct ttnn_arg[]){{NULL, ttnn_v_tensor(first)}}, 1, TTNN_FRONTEND_C));
	CHECK_INT(none.count, 0);
	CHECK(!tt_tensor_buffer(first));
	CHECK_OK(ttnn_call(&none, "ttnn.deallocate",
			   (struct ttnn_arg[]){{NULL, ttnn_v_tensor(first)}}, 1, TTNN_FRONTEND_C));
	second = call("ttnn.zeros", args, 2);
	CHECK_INT(tt_tensor_buffer(second)->address, address);
	CHECK_FAILS(ttnn_call(&none, "ttnn.from_device",
			      (struct ttnn_arg[]){{NULL, ttnn_v_tensor(first)}}, 1,
			      TTNN_FRONTEND_C),
		    TTNN_INVALID, "Tensor is not allocated");
	unref(second);
	unref(first);
}

/* Far more than memory: nothing of it is made. */
TEST(a_dry_run_makes_no_values)
{
	struct ttnn_shape shape = {4, {8, 64, 32768, 32768}};
	enum ttnn_run_mode before = ttnn_set_run_mode(TTNN_RUN_NO_DISPATCH);
	ttnn_tensor *tensor = call("ttnn.ones",
				   (struct ttnn_arg[]){{NULL, ttnn_v_shape(&shape)},
						       {"device", ttnn_v_device(golden_device())}},
				   2);

	CHECK_INT(tensor->spec.bytes, 8ull * 64 * 32768 * 32768 * 2);
	unref(tensor);
	ttnn_set_run_mode(before);
}

TEST(refusals)
{
	struct ttnn_shape shape = {2, {32, 32}}, other = {2, {32, 64}};
	struct ttnn_value device = ttnn_v_device(golden_device());
	ttnn_tensor *host =
		call("ttnn.zeros", (struct ttnn_arg[]){{NULL, ttnn_v_shape(&shape)}}, 1);
	ttnn_tensor *there =
		call("ttnn.zeros",
		     (struct ttnn_arg[]){{NULL, ttnn_v_shape(&other)}, {"device", device}}, 2);
	struct ttnn_results none;
	struct ttnn_arg copy[] = {{NULL, ttnn_v_tensor(host)}, {NULL, ttnn_v_tensor(there)}};
	ttnn_tensor *out;

	CHECK_FAILS(ttnn_call(&none, "ttnn.copy_host_to_device_tensor", copy, 2, TTNN_FRONTEND_C),
		    TTNN_INVALID, "Host tensor has different shape");
	CHECK_FAILS(ttnn_call_one(&out, "ttnn.empty_like",
				  (struct ttnn_arg[]){{NULL, ttnn_v_tensor(host)}}, 1,
				  TTNN_FRONTEND_C),
		    TTNN_INVALID, "is on the host");
	CHECK_FAILS(ttnn_call_one(&out, "ttnn.to_dtype",
				  (struct ttnn_arg[]){{NULL, ttnn_v_tensor(there)},
						      {NULL, ttnn_v_dtype(TTNN_FLOAT32)}},
				  2, TTNN_FRONTEND_C),
		    TTNN_INVALID, "Expected Tensor with HostStorage, got StorageType::DEVICE");
	CHECK_FAILS(ttnn_call_one(&out, "ttnn.arange",
				  (struct ttnn_arg[]){{NULL, ttnn_v_int(INT64_MIN)},
						      {NULL, ttnn_v_int(INT64_MAX)}},
				  2, TTNN_FRONTEND_C),
		    TTNN_INVALID, "more elements than a dimension can have");
	CHECK_FAILS(ttnn_call_one(&out, "ttnn.full",
				  (struct ttnn_arg[]){{NULL, ttnn_v_shape(&shape)},
						      {NULL, ttnn_v_string("a")}},
				  2, TTNN_FRONTEND_C),
		    TTNN_TYPE, "full(ttnn._ttnn.types.Shape, str)");
	unref(there);
	unref(host);
}

TEST(device_is_closed_last)
{
	golden_close();
}

/* ---- memory ---------------------------------------------------------------------------------------- */

static tt_status make_and_move(ttnn_device *device)
{
	struct ttnn_shape shape = {2, {40, 50}};
	ttnn_tensor *there = NULL, *back = NULL, *rows = NULL;
	tt_status status;

	status = ttnn_call_one(&there, "ttnn.full",
			       (struct ttnn_arg[]){{NULL, ttnn_v_shape(&shape)},
						   {NULL, ttnn_v_real(2)},
						   {"dtype", ttnn_v_dtype(TTNN_BFLOAT8_B)},
						   {"device", ttnn_v_device(device)}},
			       4, TTNN_FRONTEND_PYTHON);
	if (status == TTNN_OK)
		status = ttnn_call_one(&back, "ttnn.to_torch",
				       (struct ttnn_arg[]){{NULL, ttnn_v_tensor(there)}}, 1,
				       TTNN_FRONTEND_PYTHON);
	if (status == TTNN_OK)
		status = ttnn_call_one(&rows, "ttnn.from_torch",
				       (struct ttnn_arg[]){{NULL, ttnn_v_tensor(back)},
							   {"dtype", ttnn_v_dtype(TTNN_BFLOAT16)},
							   {"device", ttnn_v_device(device)}},
				       3, TTNN_FRONTEND_PYTHON);
	ttnn_tensor_unref(rows);
	ttnn_tensor_unref(back);
	ttnn_tensor_unref(there);
	return status;
}

SCENARIO(creation_gives_all_memory_back)
{
	ttnn_device *device;
	tt_status status;

	TT_TRY(ttnn_device_open(&device, 0, &(struct ttnn_device_options){.profile = "n150"}));
	status = make_and_move(device);
	ttnn_device_unref(device);
	tt_call_forget_thread();
	return status;
}
