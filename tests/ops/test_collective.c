/* Collectives on a mesh of 2 x 4 devices: what every one of them gets, worked out element by element. */
#include "test.h"

#include <ttnn_frontend.h>

#include "device/devtensor.h"
#include "ops/op.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

#define ROWS 2u
#define COLS 4u
#define CHIPS (ROWS * COLS)

static ttnn_device *mesh;

/* The value of an element on a chip: small whole numbers, which all types hold. */
static double value_at(uint32_t chip, uint64_t index)
{
	return (double)((index * 7 + chip * 5) % 13) - 6;
}

static ttnn_tensor *make(const struct ttnn_spec_args *args)
{
	struct ttnn_tensor_spec spec;
	ttnn_tensor *out = NULL;
	uint64_t count = 0;

	CHECK_OK(ttnn_tensor_spec_make(&spec, args));
	CHECK_OK(ttnn_shape_volume(&count, &args->shape));
	for (uint32_t chip = 0; chip < CHIPS; chip++) {
		float *data = calloc(count, sizeof(*data));
		ttnn_tensor *host = NULL, *part = NULL;

		for (uint64_t i = 0; i < count; i++)
			data[i] = (float)value_at(chip, i);
		CHECK_OK(ttnn_tensor_from_data(&host, data, TTNN_FLOAT32, &spec, 0));
		free(data);
		if (!out)
			CHECK_OK(ttnn_call_one(&out, "ttnn.to_device",
					       (struct ttnn_arg[]){{NULL, ttnn_v_tensor(host)},
								   {NULL, ttnn_v_device(mesh)}},
					       2, TTNN_FRONTEND_C));
		CHECK_OK(tt_tensor_resident(&part, out, chip, TT_BUFFER_OVERWRITE));
		memcpy(tt_tensor_data(part), tt_tensor_data(host), (size_t)spec.bytes);
		ttnn_tensor_unref(part);
		ttnn_tensor_unref(host);
	}
	return out;
}

/* The chips that work together with this one, in order; returns how many. */
static uint32_t group_of(uint32_t *out, uint32_t chip, int axis)
{
	uint32_t count = 0;

	for (uint32_t r = 0; r < ROWS; r++)
		for (uint32_t c = 0; c < COLS; c++)
			if (axis < 0 || (axis == 0 && c == chip % COLS) ||
			    (axis == 1 && r == chip / COLS))
				out[count++] = r * COLS + c;
	return count;
}

enum what {
	GATHER,
	REVERSED,
	SCATTER,
	REDUCE,
	BROADCAST,
	SEND,
	PARTITION,
	EVERYBODY,
	RESHARD,
	PAD
};

struct wish {
	const char *op;
	enum what what;
};

/* What a chip should have at a coordinate of the result. */
static double expected(enum what what, const struct ttnn_shape *in, const uint32_t *at,
		       uint32_t dim, uint32_t chip, int axis)
{
	uint32_t group[CHIPS], count = group_of(group, chip, axis), own = 0, from = chip;
	uint32_t here[TTNN_MAX_RANK];
	uint64_t index = 0;
	double sum = 0;

	while (group[own] != chip)
		own++;
	memcpy(here, at, sizeof(here));
	if (what == GATHER || what == EVERYBODY || what == REVERSED) {
		uint32_t place = at[dim] / in->dim[dim];

		from = group[what == REVERSED ? count - 1 - place : place];
		here[dim] = at[dim] % in->dim[dim];
	}
	if (what == EVERYBODY)
		here[in->rank - 1] += own * (in->dim[in->rank - 1] / count);
	if (what == RESHARD) {
		uint32_t row = own + at[0] + dim; /* one row each, from one on */

		from = group[row / in->dim[0]];
		here[0] = row % in->dim[0];
	}
	if (what == PAD) { /* two rows before, one behind */
		int64_t row = (int64_t)at[dim] - 2 + (int64_t)own * in->dim[dim];

		if (row < 0 || row >= (int64_t)count * in->dim[dim])
			return 0;
		from = group[row / in->dim[dim]];
		here[dim] = (uint32_t)(row % in->dim[dim]);
	}
	if (what == SCATTER || what == PARTITION)
		here[dim] += own * (in->dim[dim] / count);
	if (what == BROADCAST || (what == SEND && chip == 6))
		from = 1;
	for (uint32_t d = 0; d < in->rank; d++)
		index = index * in->dim[d] + here[d];
	if (what != SCATTER && what != REDUCE)
		return value_at(from, index);
	for (uint32_t i = 0; i < count; i++)
		sum += value_at(group[i], index);
	return sum;
}

static void check(const struct wish *wish, ttnn_tensor *got, const struct ttnn_shape *in,
		  uint32_t dim, int axis)
{
	const struct ttnn_shape *shape = &got->spec.shape;
	uint64_t count = 0;
	double *values;

	CHECK_OK(ttnn_shape_volume(&count, shape));
	values = calloc(count, sizeof(*values));
	for (uint32_t chip = 0; chip < CHIPS; chip++) {
		ttnn_tensor *shard = NULL;
		uint64_t wrong = 0;

		CHECK_OK(ttnn_tensor_shard(&shard, got, chip));
		CHECK_OK(tt_tensor_numbers(values, count, shard));
		ttnn_tensor_unref(shard);
		for (uint64_t i = 0; i < count; i++) {
			uint32_t at[TTNN_MAX_RANK] = {0};
			uint64_t rest = i;

			for (uint32_t d = shape->rank; d-- > 0; rest /= shape->dim[d])
				at[d] = (uint32_t)(rest % shape->dim[d]);
			wrong += values[i] != expected(wish->what, in, at, dim, chip, axis);
		}
		if (wrong)
			TEST_FAIL("%s: device %u has %llu of %llu elements wrong", wish->op, chip,
				  (unsigned long long)wrong, (unsigned long long)count);
	}
	free(values);
}

static const struct wish wishes[] = {
	{"ttnn.all_gather", GATHER},
	{"ttnn.experimental.all_gather_async", GATHER},
	{"ttnn.reduce_scatter", SCATTER},
	{"ttnn.experimental.reduce_scatter_minimal_async", SCATTER},
	{"ttnn.experimental.reduce_scatter_minimal_direct", SCATTER},
	{"ttnn.all_reduce", REDUCE},
	{"ttnn.broadcast", BROADCAST},
	{"ttnn.point_to_point", SEND},
	{"ttnn.mesh_partition", PARTITION},
	{"ttnn.experimental.all_gather_async_reversed", REVERSED},
	{"ttnn.experimental.all_reduce_async", REDUCE},
	{"ttnn.experimental.all_to_all_async_generic", EVERYBODY},
	{"ttnn.experimental.slice_reshard_async", RESHARD},
	{"ttnn.experimental.neighbor_pad_async", PAD},
};

/* Arguments of the operations that have others than a dimension and an axis. */
static size_t more_args(struct ttnn_arg *call, enum what what, const char *op, uint32_t dim,
			int axis)
{
	static const struct ttnn_value three[3] = {
		{.kind = TTNN_VALUE_INT}, {.kind = TTNN_VALUE_INT}, {.kind = TTNN_VALUE_INT}};
	static struct ttnn_value ints[4];
	const struct ttnn_value semaphores = ttnn_v_list(three, 2);
	size_t count = 0;

	if (strcmp(op, "ttnn.experimental.all_reduce_async") == 0) {
		call[count++] = (struct ttnn_arg){"barrier_semaphores", semaphores};
		call[count++] = (struct ttnn_arg){"rs_global_semaphores", ttnn_v_list(three, 3)};
		call[count++] = (struct ttnn_arg){"ag_global_semaphores", semaphores};
	} else if (what == EVERYBODY) {
		call[count++] = (struct ttnn_arg){"in_dim", ttnn_v_int(dim)};
		call[count++] = (struct ttnn_arg){"out_dim", ttnn_v_int(-1)};
	} else if (what == RESHARD) {
		call[count++] = (struct ttnn_arg){"output_dim_offset", ttnn_v_int(dim)};
		call[count++] =
			(struct ttnn_arg){"output_dim_shape", ttnn_v_int(axis ? COLS : ROWS)};
		call[count++] = (struct ttnn_arg){"dim", ttnn_v_int(0)};
		call[count++] = (struct ttnn_arg){"final_semaphore", ttnn_v_int(0)};
		call[count++] = (struct ttnn_arg){"barrier_semaphore", ttnn_v_int(0)};
	} else if (what == PAD) {
		ints[0] = ttnn_v_int(dim);
		ints[1] = ttnn_v_int(2);
		ints[2] = ttnn_v_int(1);
		ints[3] = ttnn_v_int(axis);
		call[count++] = (struct ttnn_arg){"dim", ttnn_v_list(&ints[0], 1)};
		call[count++] = (struct ttnn_arg){"padding_left", ttnn_v_list(&ints[1], 1)};
		call[count++] = (struct ttnn_arg){"padding_right", ttnn_v_list(&ints[2], 1)};
		call[count++] = (struct ttnn_arg){"cluster_axis", ttnn_v_list(&ints[3], 1)};
		call[count++] = (struct ttnn_arg){"padding_mode", ttnn_v_string("zeros")};
		call[count++] = (struct ttnn_arg){"neighbor_semaphore", semaphores};
		call[count++] = (struct ttnn_arg){"barrier_semaphore", semaphores};
	}
	return count;
}

/* Whether an operation takes this case: tiles or rows alone, an axis, an extent that can be cut. */
static bool takes(const struct wish *wish, const struct ttnn_spec_args *args, uint32_t dim,
		  int axis)
{
	const struct ttnn_shape *shape = &args->shape;
	uint32_t last = shape->rank - 1;

	/* Whole tiles of a line. */
	if (strstr(wish->op, "_direct"))
		return shape->rank > 1 && args->layout == TTNN_TILE && axis >= 0 &&
		       shape->dim[dim] % ((axis ? COLS : ROWS) * (dim + 2 > last ? 32 : 1)) == 0;
	switch (wish->what) {
	case SCATTER:
		return shape->dim[dim] % CHIPS == 0 && shape->rank > 1;
	case PARTITION: /* tiles are cut whole */
		return shape->dim[dim] % CHIPS == 0 &&
		       (args->layout == TTNN_ROW_MAJOR || dim + 2 < shape->rank ||
			shape->dim[dim] % 256 == 0);
	case SEND:
		return axis < 0;
	case REVERSED: /* a whole tile of a row for each */
		return dim == last ? shape->dim[last] % 32 == 0 : shape->dim[last] % 256 == 0;
	case EVERYBODY:
		return args->layout == TTNN_TILE && dim + 2 < shape->rank &&
		       shape->dim[last] % 256 == 0;
	case RESHARD:
		return args->layout == TTNN_ROW_MAJOR && axis >= 0 && shape->dim[0] > dim;
	case PAD:
		return args->layout == TTNN_ROW_MAJOR && dim < last && axis >= 0 &&
		       shape->dim[dim] > 1;
	default:
		return true;
	}
}

static void run_case(const struct wish *wish, const struct ttnn_spec_args *args, uint32_t dim,
		     int axis)
{
	static const struct ttnn_shape sender = {2, {0, 1}}, receiver = {2, {1, 2}};
	ttnn_tensor *in = make(args), *out = NULL;
	struct ttnn_arg call[12] = {{"input_tensor", ttnn_v_tensor(in)}};
	size_t count = 1;

	count += more_args(&call[1], wish->what, wish->op, dim, axis);
	if (wish->what == GATHER || wish->what == SCATTER || wish->what == PARTITION ||
	    wish->what == REVERSED)
		call[count++] = (struct ttnn_arg){"dim", ttnn_v_int(dim)};
	if (axis >= 0 && wish->what != PAD)
		call[count++] = (struct ttnn_arg){"cluster_axis", ttnn_v_int(axis)};
	if (wish->what == BROADCAST || wish->what == SEND)
		call[count++] = (struct ttnn_arg){"sender_coord", ttnn_v_shape(&sender)};
	if (wish->what == SEND)
		call[count++] = (struct ttnn_arg){"receiver_coord", ttnn_v_shape(&receiver)};
	CHECK_OK(ttnn_call_one(&out, wish->op, call, count, TTNN_FRONTEND_C));
	if (out)
		check(wish, out, &args->shape, dim, axis);
	ttnn_tensor_unref(out);
	ttnn_tensor_unref(in);
}

TEST(every_device_gets_what_it_should)
{
	static const struct ttnn_shape shapes[] = {
		{4, {1, 1, 32, 256}},    {4, {2, 8, 64, 64}},     {3, {8, 40, 16}},
		{2, {64, 24}},           {5, {1, 2, 8, 32, 32}},  {1, {64}},
		{4, {1, 1, 8, 8}},       {5, {2, 1, 3, 32, 256}}, {4, {4, 6, 8, 8}},
		{5, {2, 1, 2, 32, 256}}, {3, {6, 8, 32}},         {4, {2, 8, 32, 256}},
		{2, {16, 64}},           {5, {2, 2, 2, 32, 256}}, {4, {2, 4, 6, 16}}};
	static const enum ttnn_dtype types[] = {TTNN_BFLOAT16, TTNN_FLOAT32, TTNN_BFLOAT16};

	CHECK_OK(ttnn_mesh_open(&mesh, &(struct ttnn_mesh_options){.rows = ROWS, .cols = COLS},
				&(struct ttnn_device_options){.profile = "t3k"}));
	for (size_t w = 0; w < sizeof(wishes) / sizeof(wishes[0]); w++) {
		size_t cases = 0;

		for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
			for (int axis = -1; axis < 2; axis++)
				for (uint32_t dim = 0; dim < shapes[i].rank; dim++) {
					struct ttnn_spec_args args = {
						.shape = shapes[i],
						.dtype = types[i % 3],
						.layout = i % 2 ? TTNN_TILE : TTNN_ROW_MAJOR};

					if (!takes(&wishes[w], &args, dim, axis))
						continue;
					run_case(&wishes[w], &args, dim, axis);
					cases++;
				}
		printf("%s: %zu cases\n", wishes[w].op, cases);
		CHECK(cases >= 20);
	}
	ttnn_device_unref(mesh);
}

/* ---- experts --------------------------------------------------------------------------------------------- */

static ttnn_tensor *whole(const struct ttnn_shape *shape, enum ttnn_dtype dtype,
			  float (*value)(uint64_t, const struct ttnn_shape *))
{
	struct ttnn_spec_args args = {.shape = *shape, .dtype = dtype};
	struct ttnn_tensor_spec spec;
	ttnn_tensor *host = NULL, *out = NULL;
	uint64_t count = 0;
	float *data;

	CHECK_OK(ttnn_tensor_spec_make(&spec, &args));
	CHECK_OK(ttnn_shape_volume(&count, shape));
	data = calloc(count + 1, sizeof(*data));
	for (uint64_t i = 0; i < count; i++)
		data[i] = value(i, shape);
	CHECK_OK(ttnn_tensor_from_data(&host, data, TTNN_FLOAT32, &spec, 0));
	free(data);
	CHECK_OK(ttnn_call_one(
		&out, "ttnn.to_device",
		(struct ttnn_arg[]){{NULL, ttnn_v_tensor(host)}, {NULL, ttnn_v_device(mesh)}}, 2,
		TTNN_FRONTEND_C));
	ttnn_tensor_unref(host);
	return out;
}

/* Expert e is on chip e modulo chips; choice i of a token is expert (token * 3 + i * 5) modulo experts. */
static float is_home(uint64_t i, const struct ttnn_shape *shape)
{
	return i / shape->dim[3] % shape->dim[3] == i % shape->dim[3];
}

static uint32_t experts_now;

static float chosen(uint64_t i, const struct ttnn_shape *shape)
{
	uint64_t k = shape->dim[3];

	return (float)((i / k * 3 + i % k * 5) % experts_now);
}

static float score(uint64_t i, const struct ttnn_shape *shape)
{
	(void)shape;
	return (float)(i % 61 + 1);
}

/* Every chip's own scores, and which of its experts a run of tokens needs, from the sentences above. */
static void check_remap(ttnn_tensor *const *out, uint32_t tokens, uint32_t k, uint32_t run)
{
	uint32_t local = experts_now / CHIPS;

	for (uint32_t chip = 0; chip < CHIPS; chip++) {
		double *own = calloc((size_t)tokens * local, sizeof(*own));
		double *needed = calloc((size_t)(tokens / run) * local, sizeof(*needed));
		ttnn_tensor *part = NULL;
		uint64_t wrong = 0;

		CHECK_OK(ttnn_tensor_shard(&part, out[0], chip));
		CHECK_OK(tt_tensor_numbers(own, (uint64_t)tokens * local, part));
		ttnn_tensor_unref(part);
		CHECK_OK(ttnn_tensor_shard(&part, out[1], chip));
		CHECK_OK(tt_tensor_numbers(needed, (uint64_t)(tokens / run) * local, part));
		ttnn_tensor_unref(part);
		for (uint32_t e = 0; e < local; e++)
			for (uint32_t r = 0; r < tokens / run; r++) {
				bool any = false;

				for (uint32_t t = r * run; t < (r + 1) * run; t++) {
					uint32_t expert = e * CHIPS + chip;
					bool here = false;

					for (uint32_t i = 0; i < k; i++)
						here |= (t * 3 + i * 5) % experts_now == expert;
					wrong += own[t * local + e] !=
						 (here ? (t * experts_now + expert) % 61 + 1 : 0);
					any |= here;
				}
				wrong += needed[r * local + e] != any;
			}
		CHECK(wrong == 0);
		free(own);
		free(needed);
	}
}

TEST(experts_of_a_device_get_their_scores)
{
	static const uint32_t experts[] = {8, 16, 64}, runs[] = {1, 2, 4, 8};
	size_t cases = 0;

	CHECK_OK(ttnn_mesh_open(&mesh, NULL, &(struct ttnn_device_options){.profile = "t3k"}));
	for (size_t i = 0; i < 24; i++) {
		uint32_t batch = 1 + (uint32_t)i % 4, rows = 8, k = 1 + (uint32_t)i % 3,
			 run = runs[i % 4];
		struct ttnn_results results = {.count = 0};
		ttnn_tensor *scores, *mapping, *ids;

		experts_now = experts[i % 3];
		scores = whole(&TT_SHAPE(1, batch, rows, experts_now),
			       i % 2 ? TTNN_FLOAT32 : TTNN_BFLOAT16, score);
		mapping = whole(&TT_SHAPE(1, 1, experts_now, CHIPS), TTNN_UINT16, is_home);
		ids = whole(&TT_SHAPE(1, batch, rows, k), TTNN_UINT16, chosen);
		CHECK_OK(ttnn_call(&results, "ttnn.moe_expert_token_remap",
				   (struct ttnn_arg[]){{NULL, ttnn_v_tensor(scores)},
						       {NULL, ttnn_v_tensor(mapping)},
						       {NULL, ttnn_v_tensor(ids)},
						       {"reduction_size", ttnn_v_int(run)}},
				   4, TTNN_FRONTEND_C));
		if (results.count == 2)
			check_remap(results.tensors, batch * rows, k, run);
		cases += results.count == 2;
		for (size_t r = 0; r < results.count; r++)
			ttnn_tensor_unref(results.tensors[r]);
		ttnn_tensor_unref(scores);
		ttnn_tensor_unref(mapping);
		ttnn_tensor_unref(ids);
	}
	CHECK(cases == 24);
	ttnn_device_unref(mesh);
}

/* A fabric of lines has no words for both axes at once; without one that was chosen nothing is refused. */
TEST(a_fabric_that_is_chosen_refuses)
{
	struct ttnn_spec_args args = {
		.shape = TT_SHAPE(1, 1, 32, 64), .dtype = TTNN_BFLOAT16, .layout = TTNN_TILE};
	ttnn_tensor *in, *out = NULL;
	struct ttnn_arg call[2] = {{NULL, {0}}, {"dim", ttnn_v_int(3)}};

	CHECK_OK(ttnn_mesh_open(&mesh, NULL, &(struct ttnn_device_options){.profile = "t3k"}));
	in = make(&args);
	call[0].value = ttnn_v_tensor(in);
	CHECK(ttnn_fabric_get() == TTNN_FABRIC_NONE);
	CHECK_OK(ttnn_call_one(&out, "ttnn.all_gather", call, 2, TTNN_FRONTEND_C));
	ttnn_tensor_unref(out);
	ttnn_fabric_set(TTNN_FABRIC_1D);
	CHECK_FAILS(ttnn_call_one(&out, "ttnn.all_gather", call, 2, TTNN_FRONTEND_C), TTNN_INVALID,
		    "1D fabric on a 2D mesh_device requires cluster_axis to be set");
	ttnn_fabric_set(TTNN_FABRIC_2D);
	CHECK_OK(ttnn_call_one(&out, "ttnn.all_gather", call, 2, TTNN_FRONTEND_C));
	ttnn_tensor_unref(out);
	ttnn_fabric_set(TTNN_FABRIC_NONE);
	ttnn_tensor_unref(in);
	ttnn_device_unref(mesh);
}

TEST(what_cannot_be_cut_is_refused)
{
	struct ttnn_spec_args args = {.shape = TT_SHAPE(3, 32), .dtype = TTNN_BFLOAT16};
	static const struct ttnn_shape outside = {2, {7, 7}};
	ttnn_tensor *in, *out;

	CHECK_OK(ttnn_mesh_open(&mesh, NULL, &(struct ttnn_device_options){.profile = "t3k"}));
	in = make(&args);
	CHECK_FAILS(
		ttnn_call_one(&out, "ttnn.reduce_scatter",
			      (struct ttnn_arg[]){{NULL, ttnn_v_tensor(in)}, {NULL, ttnn_v_int(0)}},
			      2, TTNN_FRONTEND_C),
		TTNN_INVALID, "Dimension 0 must be divisible by ring_size");
	CHECK_FAILS(ttnn_call_one(&out, "ttnn.broadcast",
				  (struct ttnn_arg[]){{NULL, ttnn_v_tensor(in)},
						      {NULL, ttnn_v_shape(&outside)}},
				  2, TTNN_FRONTEND_C),
		    TTNN_INVALID, "sender_coord is not on the mesh of 2 x 4 devices");
	ttnn_tensor_unref(in);
	ttnn_device_unref(mesh);
}
