#include "golden/golden_attention.h"
#include "tensor/shape.h"

/* The cache as it was, as the result; NULL on failure. */
static struct tt_array *copy_of(struct tt_golden *golden, const struct tt_array *cache)
{
	struct tt_array *out = cache ? tt_golden_out(golden, &cache->shape, cache->dtype) : NULL;

	for (uint64_t i = 0; out && i < out->count; i++)
		out->data[i] = cache->data[i];
	return out;
}

static const struct tt_array *either(struct tt_golden *golden, const char *one, const char *other)
{
	const struct tt_array *array = tt_golden_in(golden, one);

	return array ? array : tt_golden_in(golden, other);
}

static bool has_row(const struct tt_array *array, const uint64_t place[4])
{
	for (unsigned i = 0; i < 3; i++)
		if (place[i] >= array->shape.dim[i])
			return false;
	return true;
}

/*
 * A row of the input, and where it goes: out[to[0], to[1], to[2], :] = in[from[0..2], :]. Calls that the operation refuses come
 * here too: what lies outside is left out.
 */
static void put(struct tt_array *out, const uint64_t to[4], const struct tt_array *in,
		const uint64_t from[4])
{
	uint64_t width = in->shape.dim[3];

	if (!has_row(out, to) || !has_row(in, from))
		return;
	for (uint64_t c = 0; c < width && c < out->shape.dim[3]; c++)
		out->data[tt_array_index(out, to) + c] = in->data[tt_array_index(in, from) + c];
}

tt_status tt_golden_update_cache(struct tt_golden *golden)
{
	const struct tt_array *in = either(golden, "input", "input_tensor");
	struct tt_array *out = copy_of(golden, either(golden, "cache", "cache_tensor"));
	int64_t position = tt_call_int(&golden->call, "update_idx",
				       tt_call_int(&golden->call, "update_index", 0));
	int64_t offset = tt_call_int(&golden->call, "batch_offset", 0);

	if (!out || !in)
		return tt_fail_prefix(TTNN_INVALID, "golden");
	for (uint64_t h = 0; h < in->shape.dim[1]; h++)
		for (uint64_t b = 0; b < out->shape.dim[0]; b++) {
			const uint64_t to[4] = {b, h, (uint64_t)position, 0};
			const uint64_t from[4] = {0, h, b + (uint64_t)offset, 0};

			if (from[2] < in->shape.dim[2])
				put(out, to, in, from);
		}
	return TTNN_OK;
}

tt_status tt_golden_fill_cache(struct tt_golden *golden)
{
	const struct tt_array *in = either(golden, "input", "input_tensor");
	struct tt_array *out = copy_of(golden, either(golden, "cache", "cache_tensor"));
	int64_t batch = tt_call_int(&golden->call, "batch_idx",
				    tt_call_int(&golden->call, "batch_index", 0));
	int64_t position = tt_call_int(&golden->call, "update_idx", 0);

	if (!out || !in)
		return tt_fail_prefix(TTNN_INVALID, "golden");
	for (uint64_t h = 0; h < in->shape.dim[1]; h++)
		for (uint64_t row = 0; row < in->shape.dim[2]; row++) {
			const uint64_t to[4] = {(uint64_t)batch, h, (uint64_t)position + row, 0};
			const uint64_t from[4] = {0, h, row, 0};

			put(out, to, in, from);
		}
	return TTNN_OK;
}

/* Where position `position` of a user lies: its own batch, or a block by the table. */
static void place(uint64_t to[4], const struct tt_array *pages, const struct tt_array *cache,
		  uint64_t user, uint64_t position)
{
	uint64_t rows = cache->shape.dim[2], page;

	to[0] = user;
	to[2] = position;
	if (!pages || !rows)
		return;
	page = user * tt_shape_last(&pages->shape, 1) + position / rows;
	to[0] = page < pages->count && pages->data[page] >= 0 ? (uint64_t)pages->data[page]
							      : UINT64_MAX;
	to[2] = position % rows;
}

static tt_status update(struct tt_golden *golden, const char *cache, const char *input)
{
	const struct tt_array *in = tt_golden_in(golden, input);
	struct tt_array *out = copy_of(golden, tt_golden_in(golden, cache));
	const struct tt_array *pages = tt_golden_in(golden, "page_table");
	const struct tt_array *positions = tt_golden_in(golden, "update_idxs_tensor");
	bool share = tt_call_bool(&golden->call, "share_cache", false);
	int64_t list[64];
	size_t count;

	if (!out || !in)
		return tt_fail_prefix(TTNN_INVALID, "golden");
	TT_TRY(tt_call_ints(list, &count, 64, &golden->call, "update_idxs"));
	if ((positions ? positions->count : count) < in->shape.dim[1])
		return tt_fail(TTNN_INVALID, "golden: each user has an update_idx, %llu of them",
			       (unsigned long long)in->shape.dim[1]);
	for (uint64_t user = 0; user < in->shape.dim[1]; user++) {
		double position = positions ? positions->data[user] : (double)list[user];

		for (uint64_t h = 0; h < in->shape.dim[2] && position >= 0; h++) {
			const uint64_t from[4] = {0, user, h, 0};
			uint64_t to[4] = {0, h, 0, 0};

			place(to, pages, out, share ? 0 : user, (uint64_t)position);
			if (h < out->shape.dim[1])
				put(out, to, in, from);
		}
	}
	return TTNN_OK;
}

tt_status tt_golden_paged_update(struct tt_golden *golden)
{
	return update(golden, "cache_tensor", "input_tensor");
}

tt_status tt_golden_paged_update_both(struct tt_golden *golden)
{
	TT_TRY(update(golden, "cache_tensor1", "input_tensor1"));
	return update(golden, "cache_tensor2", "input_tensor2");
}

tt_status tt_golden_paged_fill(struct tt_golden *golden)
{
	const struct tt_array *in = tt_golden_in(golden, "input_tensor");
	const struct tt_array *pages = tt_golden_in(golden, "page_table");
	const struct tt_array *batches = tt_golden_in(golden, "batch_idx_tensor");
	struct tt_array *out = copy_of(golden, tt_golden_in(golden, "cache_tensor"));
	int64_t batch = tt_call_int(&golden->call, "batch_idx", 0);

	if (!out || !in || !pages)
		return tt_fail_prefix(TTNN_INVALID, "golden");
	for (uint64_t h = 0; h < in->shape.dim[1]; h++)
		for (uint64_t row = 0; row < in->shape.dim[2]; row++) {
			const uint64_t from[4] = {0, h, row, 0};
			uint64_t to[4] = {0, h, 0, 0};

			place(to, pages, out,
			      (uint64_t)(batches ? batches->data[0] : (double)batch), row);
			put(out, to, in, from);
		}
	return TTNN_OK;
}

tt_status tt_golden_plus_one(struct tt_golden *golden)
{
	const struct tt_array *in = tt_golden_in(golden, "input_tensor");
	struct tt_array *out = copy_of(golden, in);
	bool skip = tt_call_bool(&golden->call, "skip_negative_entries", false);

	if (!out)
		return tt_fail_prefix(TTNN_INVALID, "golden");
	for (uint64_t i = 0; i < in->count; i++)
		if (!skip || in->data[i] >= 0)
			out->data[i] = tt_golden_fit(out->dtype, in->data[i] + 1);
	return TTNN_OK;
}
