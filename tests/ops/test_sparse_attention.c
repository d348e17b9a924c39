/* attention to chosen columns, which Blackhole has, against its golden */
#include "test.h"

#include "event/value.h"
#include "golden.h"
#include "ops/given.h"
#include "ops/golden_cases.h"
#include "ops/op_enums.h"

#define CASES 22
#define NOTHING (-1)

static void open_blackhole(void)
{
	if (!golden_opened)
		CHECK_OK(ttnn_device_open(&golden_opened, 0,
					  &(struct ttnn_device_options){.profile = "p150"}));
}

/* Choices of each row of a group: some numbers below `count`, then nothing; one is there twice. */
static void add_choices(struct given *given, uint32_t groups, uint32_t rows, uint32_t count)
{
	static int32_t numbers[4 * 40 * 64];
	const struct ttnn_shape shape = {4, {1, groups, rows, 64}};

	for (uint32_t i = 0; i < groups * rows; i++)
		for (uint32_t n = 0; n < 64; n++)
			numbers[i * 64 + n] = n > i % 64 || n > count / 2
						      ? NOTHING
						      : (int32_t)((i * 7 + n / 2 * 3) % count);
	given_numbers(given, "indices", &shape, TTNN_UINT32, numbers);
}

static struct ttnn_spec_args rows_of(uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
	struct ttnn_spec_args spec = given_spec(TTNN_BFLOAT16, a, b, c, d);

	spec.layout = TTNN_ROW_MAJOR;
	return spec;
}

TEST(columns)
{
	struct given given = {.state = 3};

	open_blackhole();
	for (uint32_t n = 0; n < CASES; n++) {
		uint32_t rows = 1 + 5 * n % 12, width = 32 * (2 + n % 3), slots = 1 + n % 3;
		struct ttnn_spec_args q = rows_of(1, 32 * (1 + n % 2), rows, width);
		struct ttnn_spec_args kv = rows_of(slots, 1, 50 + 30 * (n % 3), width);

		q.shape.dim[3] = kv.shape.dim[3] = width = n % 3 == 1 ? 128 : width;
		given_tensor(&given, "q", &q, -2, 2);
		given_tensor(&given, "kv", &kv, -2, 2);
		add_choices(&given, 1, rows, kv.shape.dim[2]);
		given_add(&given, "v_dim", ttnn_v_int(n % 2 ? 32 : 64));
		given_add(&given, "kv_format", tt_value_enum(&tt_enum_sparse_kv_format, 0));
		given_add(&given, "k_chunk_size", ttnn_v_int(n % 2 ? 32 : 64));
		if (slots > 1)
			given_add(&given, "cache_batch_idx", ttnn_v_int(slots - 1));
		if (n % 4 == 1)
			given_add(&given, "scale", ttnn_v_real(0.2));
		if (n % 5 == 2) {
			struct ttnn_spec_args sink = rows_of(1, 1, 1, q.shape.dim[1]);

			given_tensor(&given, "attention_sink", &sink, -2, 2);
		}
		given_case(&given, "ttnn.transformer.sparse_sdpa", n, 3);
	}
}

TEST(blocks)
{
	struct given given = {.state = 4};

	open_blackhole();
	for (uint32_t n = 0; n < CASES; n++) {
		uint32_t rows = 1 + 5 * n % 12, groups = 1 + n % 2, block = n % 3 ? 32 : 64;
		struct ttnn_spec_args q = rows_of(1, groups * (n % 4 ? 32 : 16), rows, 64);
		struct ttnn_spec_args k = given_spec(n % 5 == 4 ? TTNN_BFLOAT8_B : TTNN_BFLOAT16,
						     1 + n % 3 / 2, groups, 128, 64),
				      v = k;

		v.shape.dim[3] = n % 2 ? 32 : 64;
		given_tensor(&given, "q", &q, -2, 2);
		given_tensor(&given, "k", &k, -2, 2);
		given_tensor(&given, "v", &v, -2, 2);
		add_choices(&given, groups, rows, 128 / block);
		given_add(&given, "block_size", ttnn_v_int(block));
		if (k.shape.dim[0] > 1)
			given_add(&given, "cache_batch_idx", ttnn_v_int(1));
		if (n % 2)
			given_add(&given, "chunk_start_idx", ttnn_v_int(40 * (n % 4)));
		given_case(&given, "ttnn.transformer.sparse_sdpa_msa", n, 3);
	}
}

TEST(zz_all_rows)
{
	golden_check_family("attention_sparse");
	golden_close();
}
