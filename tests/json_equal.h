/* json_equal.h: whether two JSON values are the same, and whether a slice cursor sees the same. */
#ifndef TT_TESTS_JSON_EQUAL_H
#define TT_TESTS_JSON_EQUAL_H

#include <math.h>
#include <string.h>

#include "base/jsonslice.h"

/* Members in order; -0.0 is not 0.0, all NaNs are alike. */
static inline bool json_equal(const struct tt_json *a, const struct tt_json *b)
{
	enum tt_json_kind kind = tt_json_kind(a);
	struct tt_json_iter ia = tt_json_iter(a), ib = tt_json_iter(b);
	size_t la = 0, lb = 0;
	const char *sa = tt_json_string(a, &la), *sb = tt_json_string(b, &lb);
	uint64_t ua = 0, ub = 0;
	int64_t na = 0, nb = 0;
	double ra = 0, rb = 0;
	bool ba = false, bb = false;

	if (kind != tt_json_kind(b) || tt_json_count(a) != tt_json_count(b))
		return false;
	while (tt_json_next(&ia) && tt_json_next(&ib))
		if ((ia.key && (ia.key_length != ib.key_length ||
				memcmp(ia.key, ib.key, ia.key_length) != 0)) ||
		    !json_equal(ia.value, ib.value))
			return false;
	switch (kind) {
	case TT_JSON_STRING:
		return la == lb && memcmp(sa, sb, la) == 0;
	case TT_JSON_INT:
		return tt_json_int(&na, a) == tt_json_int(&nb, b) && na == nb &&
		       tt_json_uint(&ua, a) == tt_json_uint(&ub, b) && ua == ub;
	case TT_JSON_REAL:
		tt_json_real(&ra, a);
		tt_json_real(&rb, b);
		return isnan(ra) ? isnan(rb) : ra == rb && !signbit(ra) == !signbit(rb);
	case TT_JSON_BOOL:
		tt_json_bool(&ba, a);
		tt_json_bool(&bb, b);
		return ba == bb;
	default:
		return true;
	}
}

/*
 * Walks the present value of the cursor beside `value`, entering containers down to `enter` levels
 * and reading below; true when all that is seen is the same.
 */
static inline bool json_slices_equal(struct tt_jsonslice *slices, const struct tt_json *value,
				     int enter)
{
	struct tt_json_iter it = tt_json_iter(value);

	if (tt_jsonslice_kind(slices) == TT_JSON_ABSENT || enter == 0) {
		const struct tt_json *seen = tt_jsonslice_read(slices);

		return seen && json_equal(seen, value);
	}
	if (tt_jsonslice_kind(slices) != tt_json_kind(value))
		return false;
	for (tt_jsonslice_enter(slices); tt_jsonslice_next(slices);) {
		size_t length;
		const char *key = tt_jsonslice_key(slices, &length);

		if (!tt_json_next(&it) || !key != !it.key ||
		    (key && (length != it.key_length || memcmp(key, it.key, length) != 0)) ||
		    !json_slices_equal(slices, it.value, enter - 1))
			return false;
	}
	return !tt_json_next(&it) && tt_jsonslice_status(slices) == TTNN_OK;
}

#endif
