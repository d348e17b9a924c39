/*
 * golden_cases.h: inputs for the golden tests of a family, many at little cost. Include it after
 * test.h and golden.h, which it builds on.
 *
 * A test names what an operation takes (struct golden_wants), asks golden_input() for the spec of
 * case 0, 1, 2, ... and gives the tensor made of it (golden_make()) to golden_case(). The series runs
 * through ranks 1 to 5, extents that fill no tile, every type, layout and placement that was asked
 * for; twenty cases in a row meet each of them. Case 7 is large enough for several threads.
 *
 *	struct golden_wants wants = {.dtypes = GOLDEN_FLOATS, .layouts = GOLDEN_BOTH_LAYOUTS};
 *	uint64_t state = 1;
 *
 *	for (size_t n = 0; n < GOLDEN_CASES; n++) {
 *		struct ttnn_spec_args spec = golden_input(n, &wants);
 *		ttnn_tensor *x = golden_make(&spec, &state, -3, 3);
 *
 *		golden_case_on_threads("ttnn.relu", (struct ttnn_arg[]){{NULL, ttnn_v_tensor(x)}}, 1, 1);
 *		ttnn_tensor_unref(x);
 *	}
 *	golden_check_family("unary");
 *
 * Padding of every tensor is 77, or the highest value for block floats: a result that sees it is
 * wrong by much.
 */
#ifndef TT_TESTS_OPS_GOLDEN_CASES_H
#define TT_TESTS_OPS_GOLDEN_CASES_H

#include "base/pool.h"
#include "base/vec.h"
#include "golden.h"
#include "tensor/core.h"

#define GOLDEN_CASES 22

#define GOLDEN_BIT(value) (1u << (value))
#define GOLDEN_FLOATS (GOLDEN_BIT(TTNN_BFLOAT16) | GOLDEN_BIT(TTNN_FLOAT32))
#define GOLDEN_BLOCKS (GOLDEN_BIT(TTNN_BFLOAT8_B) | GOLDEN_BIT(TTNN_BFLOAT4_B))
#define GOLDEN_INTEGERS (GOLDEN_BIT(TTNN_INT32) | GOLDEN_BIT(TTNN_UINT32) | GOLDEN_BIT(TTNN_UINT16))
#define GOLDEN_BOTH_LAYOUTS (GOLDEN_BIT(TTNN_TILE) | GOLDEN_BIT(TTNN_ROW_MAJOR))

/* Where a tensor lies. */
enum golden_place {
	GOLDEN_DRAM,
	GOLDEN_L1,
	GOLDEN_HEIGHT, /* sharded in L1 */
	GOLDEN_WIDTH,
	GOLDEN_BLOCK,
	GOLDEN_PLACES
};

/* What an operation takes; a mask of 0 stands for what is said beside it. */
struct golden_wants {
	uint32_t dtypes;             /* GOLDEN_FLOATS */
	uint32_t layouts;            /* tiles */
	uint32_t places;             /* all of them */
	uint32_t min_rank, max_rank; /* 1, 5 */
	uint32_t multiple;           /* the last two extents are multiples of this; 0: of nothing */
};

/* The n-th set bit of a mask, round and round. */
static inline uint32_t golden_pick(uint32_t mask, size_t n)
{
	n %= (size_t)__builtin_popcount(mask);
	while (n--)
		mask &= mask - 1;
	return (uint32_t)__builtin_ctz(mask);
}

static inline struct ttnn_shape golden_shape(size_t n, const struct golden_wants *wants)
{
	static const struct ttnn_shape shapes[] = {
		{2, {32, 32}}, {2, {33, 65}},         {3, {2, 31, 40}},       {4, {1, 2, 64, 96}},
		{1, {45}},     {5, {2, 1, 2, 5, 33}}, {4, {2, 3, 45, 70}},    {3, {5, 96, 128}},
		{2, {1, 100}}, {4, {2, 2, 1, 1}},     {5, {1, 2, 1, 64, 32}}, {1, {1}},
		{2, {100, 1}},
	};
	uint32_t low = wants->min_rank ? wants->min_rank : 1;
	uint32_t high = wants->max_rank ? wants->max_rank : 5;
	struct ttnn_shape shape;

	do
		shape = shapes[n++ % (sizeof(shapes) / sizeof(shapes[0]))];
	while (shape.rank < low || shape.rank > high);
	for (uint32_t i = 0; i < 2 && i < shape.rank && wants->multiple; i++) {
		uint32_t *dim = &shape.dim[shape.rank - 1 - i];

		*dim = (*dim + wants->multiple - 1) / wants->multiple * wants->multiple;
	}
	return shape;
}

static inline uint32_t golden_share(uint64_t extent, uint32_t parts, uint32_t step)
{
	uint64_t share = (extent + parts - 1) / parts;

	return (uint32_t)((share + step - 1) / step * step);
}

/*
 * Puts a spec there, with shards that fit its extents: over four cores, or over two by two. Tiles are
 * never cut; rows stay whole unless they can be cut evenly.
 */
static inline void golden_put(struct ttnn_spec_args *args, enum golden_place place)
{
	static const struct ttnn_memory_config l1 = {.buffer = TTNN_L1};
	uint32_t down = place == GOLDEN_HEIGHT ? 4 : place == GOLDEN_BLOCK ? 2 : 1;
	uint32_t across = place == GOLDEN_WIDTH ? 4 : place == GOLDEN_BLOCK ? 2 : 1;
	static const enum ttnn_memory_layout kinds[] = {
		[GOLDEN_HEIGHT] = TTNN_HEIGHT_SHARDED,
		[GOLDEN_WIDTH] = TTNN_WIDTH_SHARDED,
		[GOLDEN_BLOCK] = TTNN_BLOCK_SHARDED,
	};
	uint32_t step = args->layout == TTNN_TILE ? 32 : 1;
	struct ttnn_shard_spec shard = {.grid = NULL};
	struct ttnn_tensor_spec plain;

	args->memory = place == GOLDEN_DRAM ? (struct ttnn_memory_config){0} : l1;
	CHECK_OK(ttnn_tensor_spec_make(&plain, args));
	if (place < GOLDEN_HEIGHT)
		return;
	shard.height = golden_share(plain.rows, down, step);
	shard.width = golden_share(plain.cols, across, step);
	if (step == 1 && plain.cols % shard.width)
		return;
	/* no core without a shard: upstream's programs are at odds with those */
	down = (uint32_t)((plain.rows + shard.height - 1) / shard.height);
	across = (uint32_t)((plain.cols + shard.width - 1) / shard.width);
	CHECK_OK(tt_core_set_grid(&shard.grid, place == GOLDEN_BLOCK ? across : across * down,
				  place == GOLDEN_BLOCK ? down : 1));
	CHECK_OK(ttnn_memory_config_sharded(&args->memory, kinds[place], TTNN_L1, &shard));
}

/* The spec of case n. Block floats always come in tiles. */
static inline struct ttnn_spec_args golden_input(size_t n, const struct golden_wants *wants)
{
	uint32_t dtypes = wants->dtypes ? wants->dtypes : GOLDEN_FLOATS;
	uint32_t layouts = wants->layouts ? wants->layouts : GOLDEN_BIT(TTNN_TILE);
	uint32_t places = wants->places ? wants->places : GOLDEN_BIT(GOLDEN_PLACES) - 1;
	struct ttnn_spec_args args = {
		.shape = golden_shape(n, wants),
		.dtype = (enum ttnn_dtype)golden_pick(dtypes, n + n / 7),
		.layout = (enum ttnn_layout)golden_pick(layouts, n / 3),
	};

	if (tt_dtype_is_block(args.dtype))
		args.layout = TTNN_TILE;
	golden_put(&args, (enum golden_place)golden_pick(places, n + n / 5));
	return args;
}

/* A device tensor of such values; integers from low up to, not including, high. */
static inline ttnn_tensor *golden_make(const struct ttnn_spec_args *args, uint64_t *state,
				       double low, double high)
{
	if (low < 0 &&
	    (args->dtype == TTNN_UINT32 || args->dtype == TTNN_UINT16 || args->dtype == TTNN_UINT8))
		low = 0;
	return golden_tensor(args, state, low, high);
}

/* All results of a call as numbers, one after the other; yours to free. NULL when it failed. */
static inline double *golden_numbers(uint64_t *total, const char *name, const struct ttnn_arg *args,
				     size_t count)
{
	struct ttnn_results results = {.count = 0};
	double *values = calloc(1, sizeof(*values));

	*total = 0;
	CHECK_OK(ttnn_call(&results, name, args, count, TTNN_FRONTEND_C));
	for (size_t i = 0; i < results.count; i++) {
		uint64_t volume = 0;
		double *grown;

		CHECK_OK(ttnn_shape_volume(&volume, &results.tensors[i]->spec.shape));
		grown = realloc(values, (*total + volume + 1) * sizeof(*values));
		CHECK(grown != NULL);
		values = grown ? grown : values;
		if (grown)
			CHECK_OK(tt_tensor_numbers(values + *total, volume, results.tensors[i]));
		*total += grown ? volume : 0;
		ttnn_tensor_unref(results.tensors[i]);
	}
	return values;
}

/*
 * golden_case(), and the same call again on one thread and on two, whose results must be the same to
 * the last bit. Not for operations that change their arguments.
 */
static inline bool golden_case_on_threads(const char *name, const struct ttnn_arg *args,
					  size_t count, double slack)
{
	bool fine = golden_case(name, args, count, slack);
	uint64_t one_count, two_count;
	double *one, *two;

	if (!fine)
		return false;
	tt_pool_set_threads(1);
	one = golden_numbers(&one_count, name, args, count);
	tt_pool_set_threads(2);
	two = golden_numbers(&two_count, name, args, count);
	tt_pool_set_threads(0);
	fine = one && two && one_count == two_count &&
	       memcmp(one, two, one_count * sizeof(*one)) == 0;
	if (!fine)
		TEST_FAIL("%s: one thread and two give different results", name);
	free(one);
	free(two);
	return fine;
}

/* Every row of the family has a golden and had its 20 cases; the counts are printed. */
static inline void golden_check_family(const char *family)
{
	size_t count;
	const struct tt_op_entry *entries = tt_op_all(&count);

	for (size_t i = 0; i < count; i++)
		if (!entries[i].op->golden && strcmp(entries[i].op->family, family) == 0)
			TEST_FAIL("%s has no golden", entries[i].op->name);
	golden_check_counts(family);
}

/* A call with so many tensors. */
struct golden_call {
	const char *name;
	size_t tensors;
};

/* Some calls, one after the other, on a device of its own; what was made is given back: for SCENARIO. */
static inline tt_status golden_scenario(const struct golden_call *calls, size_t count)
{
	struct ttnn_shape shape = {2, {40, 50}};
	struct ttnn_results results = {.count = 0};
	ttnn_device *device;
	ttnn_tensor *x = NULL;
	tt_status status;

	TT_TRY(ttnn_device_open(&device, 0, &(struct ttnn_device_options){.profile = "n150"}));
	status = ttnn_call_one(&x, "ttnn.ones",
			       (struct ttnn_arg[]){{NULL, ttnn_v_shape(&shape)},
						   {"layout", ttnn_v_layout(TTNN_TILE)},
						   {"device", ttnn_v_device(device)}},
			       3, TTNN_FRONTEND_PYTHON);
	for (size_t i = 0; i < count && status == TTNN_OK; i++) {
		struct ttnn_arg args[] = {{NULL, ttnn_v_tensor(x)},
					  {NULL, ttnn_v_tensor(x)},
					  {NULL, ttnn_v_tensor(x)}};

		status = ttnn_call(&results, calls[i].name, args, calls[i].tensors,
				   TTNN_FRONTEND_PYTHON);
		for (size_t k = 0; k < results.count && status == TTNN_OK; k++)
			ttnn_tensor_unref(results.tensors[k]);
	}
	ttnn_tensor_unref(x);
	ttnn_device_unref(device);
	tt_call_forget_thread();
	return status;
}

#endif
