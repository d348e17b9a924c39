/* quantization, losses and complex numbers against their goldens */
#include "test.h"

#include "golden.h"
#include "ops/golden_cases.h"
#include "ops/op_enums.h"

/* ---- quantization ------------------------------------------------------------------------------- */

/* A scale or zero point as a number, as a tensor of one, or as one per channel. */
static struct ttnn_value part(ttnn_tensor **made, int form, uint32_t channels, bool whole,
			      uint64_t *state)
{
	struct ttnn_spec_args spec = {.shape = {1, {form == 2 ? channels : 1}},
				      .dtype = whole ? TTNN_INT32 : TTNN_FLOAT32,
				      .layout = TTNN_TILE};

	*made = NULL;
	if (form == 0)
		return whole ? ttnn_v_int(3) : ttnn_v_real(0.25);
	*made = golden_make(&spec, state, whole ? -9 : 0.1, whole ? 9 : 0.5);
	return ttnn_v_tensor(*made);
}

/* Bytes without a sign, and channels on one side alone: (in, out) forms of requantize. */
static void byte_case(const char *name, size_t n, uint64_t *state)
{
	bool whole = strcmp(name, "ttnn.quantize") != 0, twice = name[5] == 'r';
	struct ttnn_spec_args spec = {.shape = {2, {32, 64}},
				      .layout = TTNN_TILE,
				      .dtype = !whole  ? TTNN_FLOAT32
					       : n % 2 ? TTNN_UINT8
						       : TTNN_INT32};
	int forms[2] = {(int)(n % 3), (int)(n / 3 % 3)};
	bool channels = forms[0] == 2 || (twice && forms[1] == 2);
	ttnn_tensor *made[5] = {golden_make(&spec, state, whole ? 0 : -90, 90)};
	struct ttnn_arg args[7] = {{NULL, ttnn_v_tensor(made[0])}};
	size_t count = 1;

	for (int i = 0; i < (twice ? 4 : 2); i++, count++)
		args[count].value = part(&made[count], forms[i / 2], 64, i % 2, state);
	if (channels)
		args[count++] = (struct ttnn_arg){"axis", ttnn_v_int(-1)};
	else if (strcmp(name, "ttnn.dequantize") != 0 && n % 4 == 0)
		args[count++] = (struct ttnn_arg){"dtype", ttnn_v_dtype(TTNN_UINT8)};
	/* a tensor as zero point is converted without an end, which bytes have */
	if (forms[twice] != 1 || n % 4 || channels)
		if (!golden_case(name, args, count, 6))
			TEST_FAIL("%s: case %zu, forms %d %d", name, n, forms[0], forms[1]);
	for (int i = 0; i < 5; i++)
		ttnn_tensor_unref(made[i]);
}

TEST(bytes_and_channels_on_one_side)
{
	uint64_t state = 9;

	for (size_t n = 0; n < 18; n++) {
		byte_case("ttnn.quantize", n, &state);
		byte_case("ttnn.dequantize", n, &state);
		byte_case("ttnn.requantize", n, &state);
	}
}

static void quantize_case(const char *name, size_t n, uint64_t *state)
{
	bool whole = strcmp(name, "ttnn.quantize") != 0, twice = name[5] == 'r';
	const struct golden_wants wants = {
		.dtypes = whole ? GOLDEN_BIT(TTNN_INT32) : 0, .places = 3, .min_rank = 2};
	struct ttnn_spec_args spec = golden_input(n, &wants);
	int forms[2] = {n % 5 == 4 ? 2 : (int)(n % 2), n % 5 == 4 ? 2 : (int)(n / 2 % 2)};
	uint32_t axis = spec.shape.rank - 1, channels = spec.shape.dim[axis];
	ttnn_tensor *made[5] = {golden_make(&spec, state, -60, 60)};
	struct ttnn_arg args[6] = {{NULL, ttnn_v_tensor(made[0])}};
	size_t count = 1;

	for (int i = 0; i < (twice ? 4 : 2); i++, count++)
		args[count].value = part(&made[count], forms[i % 2], channels, i % 2, state);
	if (forms[0] == 2)
		args[count++] = (struct ttnn_arg){"axis", ttnn_v_int(axis)};
	/* several operations cut where the golden rounds, and their reals in between have few digits */
	if (!golden_case(name, args, count, 5))
		TEST_FAIL("%s: case %zu, forms %d %d", name, n, forms[0], forms[1]);
	for (int i = 0; i < 5; i++)
		ttnn_tensor_unref(made[i]);
}

TEST(scales_and_zero_points)
{
	uint64_t state = 1;

	for (size_t n = 0; n < GOLDEN_CASES; n++) {
		quantize_case("ttnn.quantize", n, &state);
		quantize_case("ttnn.dequantize", n, &state);
		quantize_case("ttnn.requantize", n, &state);
	}
	golden_check_family("quantization");
}

/* ---- losses --------------------------------------------------------------------------------------- */

TEST(losses)
{
	const struct golden_wants wants = {.places = 3, .min_rank = 2, .max_rank = 4};
	uint64_t state = 2;

	for (size_t n = 0; n < 2 * GOLDEN_CASES; n++) {
		struct ttnn_spec_args spec = golden_input(n / 2, &wants);
		ttnn_tensor *a = golden_make(&spec, &state, -2, 2);
		ttnn_tensor *b = golden_make(&spec, &state, -2, 2);
		struct ttnn_arg args[] = {{NULL, ttnn_v_tensor(a)},
					  {NULL, ttnn_v_tensor(b)},
					  {"reduction", tt_value_enum(&tt_enum_loss_reduction,
								      (int64_t)(n / 2 % 3))}};

		if (!golden_case(n % 2 ? "ttnn.l1_loss" : "ttnn.mse_loss", args, 3, 4))
			TEST_FAIL("loss: case %zu", n);
		ttnn_tensor_unref(b);
		ttnn_tensor_unref(a);
	}
	golden_check_family("loss");
}

/* ---- complex numbers --------------------------------------------------------------------------------- */

static void complex_row(const struct tt_op_entry *entry)
{
	const struct tt_sig *sig = &entry->overloads.sigs[0];
	const struct golden_wants wants = {.dtypes = GOLDEN_FLOATS};
	static const struct ttnn_memory_config dram = {0};
	/* a long way in bfloat16, and large numbers that cancel each other */
	bool long_way = strcmp(entry->op->name, "ttnn.div_bw") == 0 ||
			strcmp(entry->op->name, "ttnn.reciprocal_bw") == 0;
	double slack = long_way ? 30 : 4;
	uint64_t state = 3;

	for (size_t n = 0; n < GOLDEN_CASES; n++) {
		struct ttnn_spec_args spec = golden_input(n, &wants);
		ttnn_tensor *made[6];
		struct ttnn_value z[6];
		struct ttnn_arg args[5];
		size_t count = 0, used = 0, i;

		for (i = 0; i < 6; i++) {
			made[i] = golden_make(&spec, &state, 0.3, 2);
			z[i] = ttnn_v_tensor(made[i]);
		}
		for (i = 0; i < sig->count && !sig->args[i].keyword_only; i++) {
			const char *type = tt_arg_type_name(sig->args[i].types[0]);
			bool pair = strcmp(type, "ComplexTensor") == 0;

			if (strcmp(type, "float") == 0) {
				args[count++] = (struct ttnn_arg){NULL, ttnn_v_real(1.5)};
				continue;
			}
			args[count++] =
				(struct ttnn_arg){NULL, pair ? ttnn_v_list(&z[used], 2) : z[used]};
			used += pair ? 2 : 1;
		}
		if (i < sig->count && !sig->args[i].optional)
			args[count++] = (struct ttnn_arg){"memory_config", ttnn_v_memory(&dram)};
		if (!(n == 7 ? golden_case_on_threads : golden_case)(entry->op->name, args, count,
								     slack))
			TEST_FAIL("%s: case %zu", entry->op->name, n);
		for (i = 0; i < 6; i++)
			ttnn_tensor_unref(made[i]);
	}
}

TEST(complex_numbers)
{
	size_t count;
	const struct tt_op_entry *entries = tt_op_all(&count);

	for (size_t i = 0; i < count; i++)
		if (strcmp(entries[i].op->family, "complex") == 0)
			complex_row(&entries[i]);
		else if (entries[i].other && strcmp(entries[i].other->op->family, "complex") == 0)
			complex_row(entries[i].other);
	golden_check_family("complex");
	golden_close();
}
