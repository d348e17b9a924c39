/*
 * golden_cache.c: goldens of caches of keys and values, whole or in pages that a table gives to
 * users. The result is the cache after the call: what is not written stays.
 */
#include "golden/golden_attention.h"

#include <math.h>

/* The cache as it was, as the result; NULL on failure. */
static struct tt_array *copy_of(struct tt_golden *golden, const struct tt_array *cache)
{
	struct tt_array *out = cache ? tt_golden_out(golden, &cache->shape, cache->dtype) : NULL;

	for (uint64_t i = 0; out && i < out->count; i++)
		*tt_at(out, i) = *tt_at(cache, i);
	return out;
}

static const struct tt_array *either(struct tt_golden *golden, const char *one, const char *other)
{
	const struct tt_array *array = tt_golden_in(golden, one);

	return array ? array : tt_golden_in(golden, other);
}

static bool has_row(const struct tt_array *array, const uint64_t place[4])
{
	if (array->shape.rank != 4)
		tt_array_stray();
	for (unsigned i = 0; i < 3; i++)
		if (place[i] >= array->shape.dim[i])
			return false;
	return true;
}

uint64_t tt_golden_paged_element(const struct tt_array *cache, const struct tt_paged_view *view,
				 const uint64_t place[4])
{
	const uint32_t *dim = cache->shape.dim;
	uint64_t down, across, tile;

	if (cache->shape.rank != 4)
		return UINT64_MAX; /* which no array has */
	if (!view || (view->heads == dim[1] && view->rows == dim[2] && view->width == dim[3]))
		return tt_array_index(cache, place);
	if (dim[2] % TT_TILE || dim[3] % TT_TILE || view->rows % TT_TILE || view->width % TT_TILE ||
	    !dim[2] || !dim[3])
		return UINT64_MAX;
	down = dim[2] / TT_TILE;
	across = dim[3] / TT_TILE;
	tile = (place[1] * (view->rows / TT_TILE) + place[2] / TT_TILE) * (view->width / TT_TILE) +
	       place[3] / TT_TILE;
	return tt_array_index(
		cache, (const uint64_t[4]){place[0], tile / across / down,
					   tile / across % down * TT_TILE + place[2] % TT_TILE,
					   tile % across * TT_TILE + place[3] % TT_TILE});
}

/* A row into a cache that is seen so; what lies outside is left out. */
static void put_paged(struct tt_array *out, const struct tt_paged_view *view, uint64_t to[4],
		      const struct tt_array *in, const uint64_t from[4])
{
	const uint32_t *dim = out->shape.dim;

	if (to[0] >= dim[0] || to[1] >= view->heads || to[2] >= view->rows || !has_row(in, from) ||
	    view->heads * view->rows * view->width != (uint64_t)dim[1] * dim[2] * dim[3])
		return;
	for (to[3] = 0; to[3] < in->shape.dim[3] && to[3] < view->width; to[3]++)
		*tt_at(out, tt_golden_paged_element(out, view, to)) =
			*tt_at(in, tt_array_index(in, from) + to[3]);
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
		*tt_at(out, tt_array_index(out, to) + c) = *tt_at(in, tt_array_index(in, from) + c);
}

tt_status tt_golden_update_cache(struct tt_golden *golden)
{
	const struct tt_array *in = either(golden, "input", "input_tensor");
	struct tt_array *out = copy_of(golden, either(golden, "cache", "cache_tensor"));
	int64_t position = tt_call_int(&golden->call, "update_idx",
				       tt_call_int(&golden->call, "update_index", 0));
	int64_t offset = tt_call_int(&golden->call, "batch_offset", 0);

	TT_GOLDEN_NEED(out && in);
	TT_NEED(position >= 0 && position < tt_array_extent(out, 2),
		"position %u is beyond the cache's %u", (uint32_t)position, out->shape.dim[2]);
	for (uint64_t h = 0; h < in->shape.dim[1]; h++)
		for (uint64_t b = 0; b < out->shape.dim[0]; b++) {
			const uint64_t to[TTNN_MAX_RANK] = {b, h, (uint64_t)position, 0};
			const uint64_t from[TTNN_MAX_RANK] = {0, h, b + (uint64_t)offset, 0};

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

	TT_GOLDEN_NEED(out && in);
	for (uint64_t h = 0; h < in->shape.dim[1]; h++)
		for (uint64_t row = 0; row < in->shape.dim[2]; row++) {
			const uint64_t to[TTNN_MAX_RANK] = {(uint64_t)batch, h,
							    (uint64_t)position + row, 0};
			const uint64_t from[TTNN_MAX_RANK] = {0, h, row, 0};

			put(out, to, in, from);
		}
	return TTNN_OK;
}

/* The number that an argument is, or that the tensor given for it holds. */
static uint64_t number(struct tt_golden *golden, const char *name)
{
	const struct tt_array *held = tt_golden_in(golden, name);

	return held ? (uint64_t)*tt_at(held, 0)
		    : (uint64_t)tt_call_int(&golden->call, name, UINT32_MAX);
}

static uint64_t batch_of(struct tt_golden *golden)
{
	return number(golden, "slot_idx") * number(golden, "num_layers") +
	       number(golden, "layer_idx");
}

/* On one chip: tokens behind those that are there; those of the last 32 that hold one. */
tt_status tt_golden_update_padded_cache(struct tt_golden *golden)
{
	const struct tt_array *in = tt_golden_in(golden, "input");
	const struct tt_array *rope = tt_golden_in(golden, "rope");
	struct tt_array *out = copy_of(golden, tt_golden_in(golden, "cache"));
	uint64_t first = number(golden, "kv_actual_global"), end = number(golden, "valid_global");

	TT_GOLDEN_NEED(out && in && out->shape.rank == 4 && in->shape.rank == 4);
	for (uint64_t i = 0; i < out->count; i++) {
		uint64_t c = i % out->shape.dim[3], token = i / out->shape.dim[3];
		uint64_t h = token / out->shape.dim[2] % out->shape.dim[1], own = in->shape.dim[3];
		const struct tt_array *from = c < own ? in : rope;
		uint64_t b = token / out->shape.dim[2] / out->shape.dim[1], row;

		token %= out->shape.dim[2];
		row = token - first;
		if (!from || b != batch_of(golden) || token / 32 * 32 >= end || token < first ||
		    row >= in->shape.dim[2] || h >= from->shape.dim[1])
			continue;
		*tt_at(out, i) = *tt_at(
			from, tt_array_index(
				      from, (const uint64_t[4]){0, h, row, c < own ? c : c - own}));
	}
	return TTNN_OK;
}

tt_status tt_golden_zero_padded_cache(struct tt_golden *golden)
{
	struct tt_array *out = copy_of(golden, tt_golden_in(golden, "cache"));
	uint64_t end = number(golden, "valid_global"), align = number(golden, "pad_align");

	TT_GOLDEN_NEED(out && out->shape.rank == 4 && align);
	align = align > UINT16_MAX ? 128 : align;
	for (uint64_t token = end; token % align && token < out->shape.dim[2]; token++) {
		const uint64_t to[TTNN_MAX_RANK] = {batch_of(golden), 0, token, 0};

		for (uint64_t c = 0; has_row(out, to) && c < out->shape.dim[3]; c++)
			*tt_at(out, tt_array_index(out, to) + c) = 0;
	}
	return TTNN_OK;
}

/* Where position `position` of a user lies: its own batch, or a block by the table. */
static void place(uint64_t to[4], const struct tt_array *pages, uint64_t rows, uint64_t user,
		  uint64_t position)
{
	uint64_t page;

	to[0] = user;
	to[2] = position;
	if (!pages || !rows)
		return;
	page = user * tt_shape_last(&pages->shape, 1) + position / rows;
	to[0] = page < pages->count && *tt_at(pages, page) >= 0 ? (uint64_t)*tt_at(pages, page)
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
	int64_t modulo = tt_call_int(&golden->call, "cache_position_modulo", 0), list[64];
	struct tt_paged_view view;
	size_t count;

	TT_GOLDEN_NEED(out && in);
	TT_TRY(tt_call_ints(list, &count, 64, &golden->call, "update_idxs"));
	if ((positions ? positions->count : count) < in->shape.dim[1])
		return tt_fail(TTNN_INVALID, "golden: each user has an update_idx, %llu of them",
			       (unsigned long long)in->shape.dim[1]);
	view = (struct tt_paged_view){
		(uint64_t)tt_call_int(&golden->call, "num_kv_heads", out->shape.dim[1]),
		(uint64_t)tt_call_int(&golden->call, "block_size", out->shape.dim[2]),
		pages ? in->shape.dim[3] : out->shape.dim[3]};
	for (uint64_t user = 0; user < in->shape.dim[1]; user++) {
		double position = positions ? *tt_at(positions, user) : (double)list[user];

		for (uint64_t h = 0; h < in->shape.dim[2] && position >= 0; h++) {
			const uint64_t from[TTNN_MAX_RANK] = {0, user, h, 0};
			uint64_t to[TTNN_MAX_RANK] = {0, h, 0, 0};

			place(to, pages, view.rows, share ? 0 : user,
			      (uint64_t)(modulo > 0 ? fmod(position, (double)modulo) : position));
			put_paged(out, &view, to, in, from);
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
	const struct tt_array *valid = tt_golden_in(golden, "valid_seq_len_tensor");
	int64_t batch = tt_call_int(&golden->call, "batch_idx", 0);
	int64_t modulo = tt_call_int(&golden->call, "cache_position_modulo", 0);
	struct tt_paged_view view;
	uint64_t end;
	double blocks;

	TT_GOLDEN_NEED(out && in && pages);
	view = (struct tt_paged_view){
		in->shape.dim[1],
		(uint64_t)tt_call_int(&golden->call, "block_size", out->shape.dim[2]),
		in->shape.dim[3]};
	end = in->shape.dim[2];
	blocks = valid && view.rows ? ceil(*tt_at(valid, 0) / (double)view.rows) : 0;
	if (blocks > 0 && blocks * (double)view.rows < (double)end)
		end = (uint64_t)blocks * view.rows;
	if (batches && batches->count < in->shape.dim[0])
		return tt_fail(TTNN_INVALID, "%s: there are fewer numbers than batches",
			       golden->op->name);
	for (uint64_t n = 0; n < in->shape.dim[0] * (uint64_t)in->shape.dim[1]; n++)
		for (uint64_t row = 0; row < end; row++) {
			uint64_t b = n / in->shape.dim[1], h = n % in->shape.dim[1];
			const uint64_t from[TTNN_MAX_RANK] = {b, h, row, 0};
			uint64_t to[TTNN_MAX_RANK] = {0, h, 0, 0};

			place(to, pages, view.rows,
			      (uint64_t)(batches ? *tt_at(batches, b) : (double)batch),
			      modulo > 0 ? row % (uint64_t)modulo : row);
			put_paged(out, &view, to, in, from);
		}
	return TTNN_OK;
}

tt_status tt_golden_plus_one(struct tt_golden *golden)
{
	const struct tt_array *in = tt_golden_in(golden, "input_tensor");
	struct tt_array *out = copy_of(golden, in);
	bool skip = tt_call_bool(&golden->call, "skip_negative_entries", false);

	TT_GOLDEN_NEED(out);
	for (uint64_t i = 0; i < in->count; i++)
		if (!skip || *tt_at(in, i) >= 0)
			*tt_at(out, i) = tt_golden_fit(out->dtype, *tt_at(in, i) + 1);
	return TTNN_OK;
}
