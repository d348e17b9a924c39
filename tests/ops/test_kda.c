/* what Kimi Delta Attention has of its own, against its goldens */
#include "test.h"

#include "golden.h"
#include "ops/given.h"
#include "ops/golden_cases.h"

#define CASES 24

TEST(norms)
{
	struct given given = {.state = 1};

	for (uint32_t n = 0; n < CASES; n++) {
		uint32_t batches = 1 + n % 2, heads = 1 + n % 4, rows = 32 * (1 + n % 3);
		uint32_t width = 32 * (1 + n % 5 / 2), offset = n % 4 == 3 ? 32 : 0;
		enum ttnn_dtype dtype = n % 3 ? TTNN_FLOAT32 : TTNN_BFLOAT16;
		const struct ttnn_spec_args in = given_spec(dtype, batches * heads, rows, width, 0);
		const struct ttnn_spec_args gate =
			given_spec(TTNN_BFLOAT16, batches, rows,
				   heads * width + offset + (n % 6 == 2 ? 64 : 0), 0);
		const struct ttnn_spec_args weight = given_spec(TTNN_BFLOAT16, width, 0, 0, 0);

		given_tensor(&given, "input", &in, -2, 2);
		given_tensor(&given, "gate", &gate, -3, 3);
		given_tensor(&given, "weight", &weight, -1, 2);
		given_add(&given, "num_heads", ttnn_v_int(heads));
		if (n % 5 == 1)
			given_add(&given, "epsilon", ttnn_v_real(0.125));
		if (n % 2)
			given_add(&given, "output_dtype", ttnn_v_dtype(TTNN_BFLOAT16));
		if (offset)
			given_add(&given, "gate_column_offset", ttnn_v_int(offset));
		given_case(&given, "ttnn.experimental.kda.sigmoid_gated_rms_norm", n, 2);
	}
}

TEST(zz_all_rows)
{
	golden_check_family("kda_norm");
	golden_close();
}
