/* gates against their goldens */
#include "test.h"

#include "golden.h"
#include "ops/golden_cases.h"

/* On the architecture that has all the functions they are made of. */
static void run_row(const struct tt_op_entry *entry)
{
	const struct golden_wants wants = {.dtypes = GOLDEN_BIT(TTNN_BFLOAT16) |
						     GOLDEN_BIT(TTNN_BFLOAT8_B)};
	const struct tt_sig *sig = &entry->overloads.sigs[0];
	uint64_t state = 1;

	for (size_t n = 0; n < GOLDEN_CASES; n++) {
		struct ttnn_spec_args spec = golden_input(n, &wants);
		ttnn_tensor *gate = golden_make(&spec, &state, -2, 2);
		ttnn_tensor *up = golden_make(&spec, &state, -2, 2);
		struct ttnn_arg args[4] = {{NULL, ttnn_v_tensor(gate)},
					   {NULL, ttnn_v_tensor(up)},
					   {NULL, ttnn_v_real(1.5)},
					   {NULL, ttnn_v_real(1.25)}};
		size_t count = 0;

		while (count < 4 && !sig->args[count].keyword_only)
			count++;
		if (!(n == 7 ? golden_case_on_threads : golden_case)(entry->op->name, args, count,
								     4))
			TEST_FAIL("%s: case %zu", entry->op->name, n);
		ttnn_tensor_unref(up);
		ttnn_tensor_unref(gate);
	}
}

TEST(gates)
{
	size_t count;
	const struct tt_op_entry *entries = tt_op_all(&count);

	golden_profile = "p150";
	for (size_t i = 0; i < count; i++)
		if (strcmp(entries[i].op->family, "gate") == 0)
			run_row(&entries[i]);
	golden_check_family("gate");
	golden_close();
}
