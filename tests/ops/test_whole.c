/*
 * Whole numbers over their whole range: no operation takes them through float32. Every operation of the
 * registry that can be called with tensors and numbers alone is called with the edges of its types and
 * compared with its golden, element by element, without any tolerance. Where a golden's float64 cannot
 * tell (beyond 2^53, fractions, what the type does not hold), the laws of wrapping below tell.
 */
#include "test.h"

#include <ttnn_frontend.h>

#include "golden.h"
#include "ops/op_enums.h"

#define SIDE 24
#define EXACT 9007199254740992.0 /* 2^53 */

static const int64_t edges[] = {0,          1,
				-1,         2,
				-2,         3,
				31,         16777215,
				16777216,   16777217,
				-16777215,  -16777217,
				33554433,   -33554433,
				1073741825, 123456789,
				INT32_MAX,  INT32_MAX - 1,
				INT32_MIN,  INT32_MIN + 1,
				UINT32_MAX, UINT32_MAX - 1,
				3123456789, 2147483649};

/* Computed in floats, as upstream does: families by nature, operations that cast on the way. */
static const char *const in_floats[] = {
	"norm",
	"rotary",
	"loss",
	"attention",
	"softmax",
	"random",
	"collective",
	"gate",
	"ttnn.addcdiv",
	"ttnn.div_no_nan",
	"ttnn.l1_loss",
	"ttnn.moreh_abs_pow",
	"ttnn.moreh_norm",
	"ttnn.mse_loss",
	"ttnn.experimental.rotary_embedding_hf",
	"ttnn.layer_norm_post_all_gather",
	"ttnn.rms_norm_post_all_gather",
};

/* Products of two: float64 holds them up to so much. Of many: it never does. */
#define PRODUCT_EDGE 33554433
static const char *const products[] = {
	"ttnn.addalpha", "ttnn.addcmul",
	"ttnn.lcm",      "ttnn.lerp",
	"ttnn.mac",      "ttnn.mul",
	"ttnn.mul_",     "ttnn.multiply",
	"ttnn.outer",    "ttnn.multiply_",
	"ttnn.square",   "ttnn.squared_difference",
	"ttnn.subalpha", "ttnn.squared_difference_",
};
static const char *const many_products[] = {"ttnn.cumprod", "ttnn.pow", "ttnn.prod"};

#define IS_IN(list, name) is_in(list, sizeof(list) / sizeof((list)[0]), name)

static bool is_in(const char *const *list, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(list[i], name) == 0)
			return true;
	return false;
}

static bool is_in_floats(const struct tt_op *op)
{
	return IS_IN(in_floats, op->name) || IS_IN(in_floats, op->family) ||
	       IS_IN(many_products, op->name) ||
	       strcmp(op->name + strlen(op->name) - 3, "_bw") == 0;
}

/* An edge, or its low bits; no edge is farther from 0 than `most`. */
static uint32_t number_at(uint64_t i, uint32_t turn, int64_t most)
{
	size_t count = sizeof(edges) / sizeof(edges[0]);
	uint64_t row = i / SIDE, col = i % SIDE;
	int64_t edge = edges[(turn == 0 ? row : turn == 1 ? col : row + col + turn) % count];

	/* Below 0 an unsigned one is far away. */
	return (uint32_t)(most == INT64_MAX ? edge : llabs(edge) % most);
}

static ttnn_tensor *make(enum ttnn_dtype dtype, enum ttnn_layout layout, uint32_t turn,
			 int64_t most)
{
	struct ttnn_spec_args args = {.shape = {2, {SIDE, SIDE}}, .dtype = dtype, .layout = layout};
	static uint32_t data[SIDE * SIDE];

	for (uint64_t i = 0; i < SIDE * SIDE; i++)
		data[i] = number_at(i, turn, most);
	return golden_upload(data, TTNN_UINT32, &args, 77);
}

/* The numbers of a device tensor; of 32 bits, so float64 holds them. */
static bool read_numbers(double *out, uint64_t count, ttnn_tensor *tensor)
{
	struct ttnn_arg arg = {NULL, ttnn_v_tensor(tensor)};
	ttnn_tensor *rows = NULL;
	tt_status status;

	if (ttnn_call_one(&rows, "ttnn.to_torch", &arg, 1, TTNN_FRONTEND_C) != TTNN_OK)
		return false;
	status = tt_tensor_numbers(out, count, rows);
	ttnn_tensor_unref(rows);
	return status == TTNN_OK;
}

static bool holds(enum ttnn_dtype dtype, double value)
{
	return fabs(value) < EXACT && value == floor(value) && tt_golden_fit(dtype, value) == value;
}

/* The elements that differ from the golden; the rest of the call's story is told once. */
static void compare(const char *name, enum ttnn_dtype dtype, ttnn_tensor *result,
		    const struct tt_array *want)
{
	double *got = calloc(want->count + 1, sizeof(*got));
	uint64_t bad = 0, first = 0;

	if (got && read_numbers(got, want->count, result))
		for (uint64_t i = 0; i < want->count; i++)
			if (holds(dtype, want->data[i]) && got[i] != want->data[i] && !bad++)
				first = i;
	if (bad)
		TEST_FAIL("%s of %s: %llu elements differ, the first (%llu) is %.0f and not %.0f",
			  name, ttnn_dtype_name(dtype, TTNN_DIALECT_TT_METAL),
			  (unsigned long long)bad, (unsigned long long)first, got[first],
			  want->data[first]);
	free(got);
}

/*
 * A call and its golden, which has tensors of its own: some operations write over theirs. First the
 * call: goldens believe what they are given. Whether there was something to compare.
 */
static bool try_call(const char *name, const struct ttnn_arg *args, const struct ttnn_arg *same,
		     size_t count)
{
	struct tt_arena arena = {0};
	struct ttnn_results results;
	struct tt_golden golden;
	bool compared = false;

	if (ttnn_call(&results, name, args, count, TTNN_FRONTEND_C) != TTNN_OK)
		return false;
	if (tt_golden_run(&golden, &arena, name, same, count) != TTNN_OK)
		golden.out_count = 0;
	for (size_t i = 0; i < results.count && i < golden.out_count; i++) {
		const struct ttnn_tensor_spec *spec =
			results.tensors[i] ? ttnn_tensor_get_spec(results.tensors[i]) : NULL;

		if (!spec || !tt_dtype_is_integer(spec->dtype))
			continue;
		compare(name, spec->dtype, results.tensors[i], &golden.out[i]);
		compared = true;
	}
	for (size_t i = 0; i < results.count; i++)
		ttnn_tensor_unref(results.tensors[i]);
	tt_arena_deinit(&arena);
	return compared;
}

/* What a signature needs: tensors and numbers, or it is none of ours. */
static bool fill(struct ttnn_arg *args, size_t *count, const struct tt_sig *sig, double number)
{
	*count = 0;
	for (size_t i = 0; i < sig->count; i++) {
		const char *type = tt_arg_type_name(sig->args[i].types[0]);

		if (sig->args[i].has_default)
			continue;
		args[*count].name = sig->args[i].name;
		if (strcmp(type, "Tensor") == 0)
			args[*count].value = (struct ttnn_value){.kind = TTNN_VALUE_TENSOR};
		else if (strcmp(type, "Scalar") == 0 || strcmp(type, "float") == 0)
			args[*count].value = ttnn_v_int((int64_t)number);
		else if (strcmp(type, "int") == 0 && strcmp(sig->args[i].name, "dim") == 0)
			args[*count].value = ttnn_v_int(-1);
		else if (strcmp(type, "int") == 0) /* a size, mostly: not too many */
			args[*count].value = ttnn_v_int(3);
		else
			return false;
		++*count;
	}
	return *count > 0;
}

/* Tensors where the signature has them; how many. */
static uint32_t place(struct ttnn_arg *args, size_t count, const struct ttnn_spec_args *spec,
		      int64_t most)
{
	uint32_t turn = 0;

	for (size_t i = 0; i < count; i++)
		if (args[i].value.kind == TTNN_VALUE_TENSOR)
			args[i].value =
				ttnn_v_tensor(make(spec->dtype, spec->layout, turn++, most));
	return turn;
}

static void drop(struct ttnn_arg *args, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (args[i].value.kind == TTNN_VALUE_TENSOR)
			ttnn_tensor_unref(args[i].value.tensor);
}

static bool try_signature(const struct tt_op_entry *entry, const struct tt_sig *sig,
			  const struct ttnn_spec_args *spec)
{
	static const double numbers[] = {3, 16777217, -16777217, 31, 2147483647};
	bool product = IS_IN(products, entry->op->name), any = false;
	int64_t most = product ? PRODUCT_EDGE : INT64_MAX;
	struct ttnn_arg args[TT_ARGS_MAX], same[TT_ARGS_MAX];
	size_t count;

	for (size_t n = 0; n < (product ? 2 : 5); n++) {
		uint32_t tensors;

		if (!fill(args, &count, sig, numbers[n]) || !fill(same, &count, sig, numbers[n]))
			return any;
		tensors = place(args, count, spec, most);
		place(same, count, spec, most);
		any |= tensors && try_call(entry->op->name, args, same, count);
		drop(args, count);
		drop(same, count);
		if (!tensors || tensors == count)
			break;
	}
	return any;
}

TEST(every_operation_on_whole_numbers_is_exact)
{
	static const enum ttnn_dtype dtypes[] = {TTNN_INT32, TTNN_UINT32, TTNN_UINT16};
	size_t count, covered = 0;
	const struct tt_op_entry *all = tt_op_all(&count);

	for (size_t i = 0; i < count; i++) {
		bool any = false;

		if (!all[i].op->golden || is_in_floats(all[i].op))
			continue;
		for (size_t s = 0; s < all[i].overloads.count; s++)
			for (size_t d = 0; d < 3; d++)
				for (uint32_t layout = 0; layout < 2; layout++)
					any |= try_signature(
						&all[i], &all[i].overloads.sigs[s],
						&(struct ttnn_spec_args){
							.dtype = dtypes[d],
							.layout = (enum ttnn_layout)layout});
		covered += any;
	}
	printf("%zu operations on whole numbers\n", covered);
	CHECK(covered >= 80);
	golden_close();
}

/* ---- what wraps ------------------------------------------------------------------------------------- */

/* The low 32 bits of what an operation gives, in integers. */
struct law {
	const char *name;
	uint32_t (*of)(uint32_t a, uint32_t b);
	enum ttnn_dtype dtype;
};

static uint32_t sum(uint32_t a, uint32_t b)
{
	return a + b;
}

static uint32_t difference(uint32_t a, uint32_t b)
{
	return a - b;
}

static uint32_t product(uint32_t a, uint32_t b)
{
	return a * b;
}

static uint32_t squared(uint32_t a, uint32_t b)
{
	return (a - b) * (a - b);
}

static uint32_t shifted(uint32_t a, uint32_t b)
{
	return b < 32 ? a << b : 0;
}

static const struct law laws[] = {
	{"ttnn.add", sum, TTNN_INT32},
	{"ttnn.add", sum, TTNN_UINT32},
	{"ttnn.subtract", difference, TTNN_INT32},
	{"ttnn.subtract", difference, TTNN_UINT32},
	{"ttnn.multiply", product, TTNN_INT32},
	{"ttnn.multiply", product, TTNN_UINT32},
	{"ttnn.squared_difference", squared, TTNN_INT32},
	{"ttnn.bitwise_left_shift", shifted, TTNN_INT32},
	{"ttnn.bitwise_left_shift", shifted, TTNN_UINT32},
};

TEST(sums_and_products_wrap)
{
	static uint32_t got[SIDE * SIDE];

	for (size_t k = 0; k < sizeof(laws) / sizeof(laws[0]); k++) {
		ttnn_tensor *a = make(laws[k].dtype, TTNN_TILE, 0, INT64_MAX),
			    *b = make(laws[k].dtype, TTNN_TILE, 1, INT64_MAX);
		ttnn_tensor *out = NULL, *rows = NULL;
		struct ttnn_arg args[] = {{NULL, ttnn_v_tensor(a)}, {NULL, ttnn_v_tensor(b)}}, read;
		uint64_t bad = 0;

		CHECK_OK(ttnn_call_one(&out, laws[k].name, args, 2, TTNN_FRONTEND_C));
		read = (struct ttnn_arg){NULL, ttnn_v_tensor(out)};
		CHECK_OK(ttnn_call_one(&rows, "ttnn.to_torch", &read, 1, TTNN_FRONTEND_C));
		CHECK_OK(ttnn_tensor_to_data(got, sizeof(got), laws[k].dtype, rows));
		for (uint64_t i = 0; i < SIDE * SIDE; i++)
			bad += got[i] !=
			       laws[k].of(number_at(i, 0, INT64_MAX), number_at(i, 1, INT64_MAX));
		if (bad)
			TEST_FAIL("%s: %llu elements are wrong", laws[k].name,
				  (unsigned long long)bad);
		ttnn_tensor_unref(rows);
		ttnn_tensor_unref(out);
		ttnn_tensor_unref(b);
		ttnn_tensor_unref(a);
	}
	golden_close();
}

/* ---- what has several steps -------------------------------------------------------------------------- */

static void download(uint32_t *out, size_t bytes, ttnn_tensor *tensor)
{
	struct ttnn_arg arg = {NULL, ttnn_v_tensor(tensor)};
	ttnn_tensor *rows = NULL;

	CHECK_OK(ttnn_call_one(&rows, "ttnn.to_torch", &arg, 1, TTNN_FRONTEND_C));
	CHECK_OK(ttnn_tensor_to_data(out, bytes, ttnn_tensor_get_spec(tensor)->dtype, rows));
	ttnn_tensor_unref(rows);
	ttnn_tensor_unref(tensor);
}

/* Between the passes over several dimensions, too. */
TEST(sums_over_several_dimensions_wrap)
{
	enum { N = 2, C = 3, H = 33, W = 40 };
	static const enum ttnn_dtype dtypes[] = {TTNN_INT32, TTNN_UINT32};
	static uint32_t data[N * C * H * W], got[H * W], want[H * W];
	const struct ttnn_value dims[] = {ttnn_v_int(0), ttnn_v_int(1)};
	uint64_t state = 3;

	memset(want, 0, sizeof(want));
	for (size_t i = 0; i < N * C * H * W; i++) {
		data[i] = (uint32_t)test_random(&state);
		want[i % (H * W)] += data[i];
	}
	for (size_t k = 0; k < 2; k++) {
		ttnn_tensor *in = golden_upload(data, TTNN_UINT32,
						&(struct ttnn_spec_args){.shape = {4, {N, C, H, W}},
									 .dtype = dtypes[k],
									 .layout = TTNN_TILE},
						77);
		ttnn_tensor *sum_of = NULL;

		CHECK_OK(ttnn_call_one(&sum_of, "ttnn.sum",
				       (struct ttnn_arg[]){{NULL, ttnn_v_tensor(in)},
							   {"dim", ttnn_v_list(dims, 2)}},
				       2, TTNN_FRONTEND_C));
		download(got, sizeof(got), sum_of);
		CHECK(memcmp(got, want, sizeof(got)) == 0);
		ttnn_tensor_unref(in);
	}
	golden_close();
}

/* 32 bits hold what stands between an operation and its activation. */
TEST(activations_see_what_wrapped)
{
	static uint32_t got[SIDE * SIDE];
	ttnn_tensor *a = make(TTNN_INT32, TTNN_TILE, 0, INT64_MAX);
	ttnn_tensor *b = make(TTNN_INT32, TTNN_TILE, 1, INT64_MAX), *out = NULL;
	struct ttnn_arg kind = {NULL, ttnn_v_enum(&tt_enum_unary, TT_UNARY_RELU)};
	struct ttnn_value activation;
	ttnn_object *object = NULL;

	CHECK_OK(ttnn_object_new(&object, "UnaryWithParam", &kind, 1));
	activation = ttnn_object_value(object);
	CHECK_OK(ttnn_call_one(&out, "ttnn.add",
			       (struct ttnn_arg[]){{NULL, ttnn_v_tensor(a)},
						   {NULL, ttnn_v_tensor(b)},
						   {"activations", ttnn_v_list(&activation, 1)}},
			       3, TTNN_FRONTEND_C));
	download(got, sizeof(got), out);
	for (uint64_t i = 0; i < SIDE * SIDE; i++) {
		uint32_t all = number_at(i, 0, INT64_MAX) + number_at(i, 1, INT64_MAX);

		CHECK(got[i] == ((int32_t)all > 0 ? all : 0));
	}
	ttnn_object_free(object);
	ttnn_tensor_unref(a);
	ttnn_tensor_unref(b);
	golden_close();
}

TEST(images_of_whole_numbers_are_enlarged)
{
	enum { SIZE = 8, CHANNELS = 32 };
	static uint32_t data[SIZE * SIZE * CHANNELS], got[4 * SIZE * SIZE * CHANNELS];
	uint64_t state = 5;
	ttnn_tensor *in, *out = NULL;

	for (size_t i = 0; i < SIZE * SIZE * CHANNELS; i++)
		data[i] = (uint32_t)test_random(&state);
	in = golden_upload(data, TTNN_UINT32,
			   &(struct ttnn_spec_args){.shape = {4, {1, SIZE, SIZE, CHANNELS}},
						    .dtype = TTNN_INT32},
			   77);
	CHECK_OK(
		ttnn_call_one(&out, "ttnn.upsample",
			      (struct ttnn_arg[]){{NULL, ttnn_v_tensor(in)}, {NULL, ttnn_v_int(2)}},
			      2, TTNN_FRONTEND_C));
	download(got, sizeof(got), out);
	for (size_t i = 0; i < 4 * SIZE * SIZE * CHANNELS; i++) {
		size_t y = i / CHANNELS / (2 * SIZE) / 2, x = i / CHANNELS % (2 * SIZE) / 2;

		CHECK(got[i] == data[(y * SIZE + x) * CHANNELS + i % CHANNELS]);
	}
	ttnn_tensor_unref(in);
	golden_close();
}
