/* how alike tensors are, against what upstream's tests say of the same numbers */
#include "test.h"

#include <ttnn_frontend.h>

#include "base/json.h"
#include "tensor/pcc.h"

static ttnn_tensor *make(const struct tt_json *list, enum ttnn_dtype dtype)
{
	struct ttnn_spec_args args = {.shape = {1, {(uint32_t)tt_json_count(list)}},
				      .dtype = dtype};
	struct tt_json_iter it = tt_json_iter(list);
	struct ttnn_tensor_spec spec;
	ttnn_tensor *tensor = NULL;
	float data[64];
	size_t count = 0;

	while (tt_json_next(&it) && count < 64)
		data[count++] = strtof(tt_json_string(it.value, NULL), NULL);
	CHECK_OK(ttnn_tensor_spec_make(&spec, &args));
	CHECK_OK(ttnn_tensor_from_data(&tensor, data, TTNN_FLOAT32, &spec, 0));
	return tensor;
}

TEST(upstream_says_the_same)
{
	struct tt_json_doc *doc = NULL;
	struct tt_json_iter it;
	size_t count = 0;

	CHECK_OK(tt_json_load(&doc, "tests/data/values/pcc_cases.json"));
	for (it = tt_json_iter(tt_json_root(doc)); tt_json_next(&it); count++) {
		bool half = strstr(it.key, "bfloat16") != NULL;
		enum ttnn_dtype dtype = half ? TTNN_BFLOAT16 : TTNN_FLOAT32;
		ttnn_tensor *golden = make(tt_json_get(it.value, "golden"), dtype);
		ttnn_tensor *found = make(tt_json_get(it.value, "calc"), dtype);
		double pcc = -2,
		       want = strtod(
			       tt_json_string(tt_json_at(tt_json_get(it.value, "head"), 1), NULL),
			       NULL);

		CHECK_OK(ttnn_tensor_pcc(&pcc, golden, found));
		if (!(fabs(pcc - want) < 1e-15))
			printf("%s: %.17g, not %.17g\n", it.key, pcc, want);
		CHECK(fabs(pcc - want) < 1e-15);
		ttnn_tensor_unref(golden);
		ttnn_tensor_unref(found);
	}
	CHECK(count >= 30);
	tt_json_free(doc);
}

TEST(batches_are_one_list)
{
	static const double a[] = {1, 2, 3, 4, 9}, b[] = {1, 3, 2, 4, -1};
	struct tt_pcc pcc = tt_pcc_begin();

	for (size_t i = 0; i < 5; i++)
		tt_pcc_look(&pcc, a + i, b + i, 1);
	tt_pcc_add(&pcc, a, b, 2);
	tt_pcc_add(&pcc, a + 2, b + 2, 3);
	CHECK(tt_pcc_value(&pcc) == tt_pcc_of(a, b, 5));
	CHECK(fabs(tt_pcc_of(a, b, 4) - 0.8) < 1e-12); /* by hand: 4 / 5 */
	CHECK(tt_pcc_of(a, b, 0) == 1);
}
