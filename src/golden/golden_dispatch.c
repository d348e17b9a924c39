/* golden_dispatch.c: see golden_dispatch.h. */
#include "golden/golden_dispatch.h"

#include <math.h>

#include "golden/golden_mesh.h"
#include "tensor/tile.h"

/* How many tokens the first `chips` of the group have for an expert. */
static double tokens_for(struct tt_golden *golden, const struct tt_golden_mesh *members,
			 uint32_t chips, uint64_t expert)
{
	double sum = 0;

	for (uint32_t i = 0; i < chips; i++) {
		const struct tt_array *in =
			tt_golden_mesh_in(golden, "input_tensor", i * members->step);

		sum += in ? *tt_at(in, expert) : 0;
	}
	return sum;
}

/* Where an expert's region begins: behind the whole tiles of those before it on its chip. */
static double region_of(struct tt_golden *golden, const struct tt_golden_mesh *members,
			uint64_t expert)
{
	uint64_t each = (uint64_t)tt_call_int(&golden->call, "experts_per_chip", 1);
	double place = 0;

	for (uint64_t e = expert / each * each; e < expert; e++)
		place += TT_TILE * ceil(tokens_for(golden, members, members->count, e) / TT_TILE);
	return place;
}

tt_status tt_golden_offset_cumsum(struct tt_golden *golden)
{
	struct tt_array *own, *totals, *regions, *all;
	struct tt_golden_mesh members;
	const struct tt_array *in;
	struct ttnn_shape shape;

	TT_TRY(tt_golden_mesh_find(&members, golden, "input_tensor"));
	in = tt_golden_mesh_in(golden, "input_tensor", 0);
	TT_GOLDEN_NEED(in && tt_call_int(&golden->call, "experts_per_chip", 0) > 0);
	shape = (struct ttnn_shape){2, {1, (uint32_t)in->count}};
	own = tt_golden_out(golden, &shape, TTNN_UINT32);
	totals = tt_golden_out(golden, &shape, TTNN_UINT32);
	regions = tt_golden_out(golden, &shape, TTNN_UINT32);
	shape.dim[0] = members.count;
	all = tt_golden_out(golden, &shape, TTNN_UINT32);
	TT_GOLDEN_NEED(own && totals && regions && all);
	for (uint64_t e = 0; e < in->count; e++) {
		*tt_at(totals, e) = tokens_for(golden, &members, members.count, e);
		*tt_at(own, e) = *tt_at(regions, e) = region_of(golden, &members, e);
		for (uint32_t chip = 0; chip < members.count; chip++)
			*tt_at(all, chip * in->count + e) =
				*tt_at(regions, e) + tokens_for(golden, &members, chip, e);
	}
	return TTNN_OK;
}

/* The tokens of the first chip's group that go to it, in the order in which places are given out. */
tt_status tt_golden_prefill_dispatch(struct tt_golden *golden)
{
	uint32_t room = (uint32_t)tt_call_int(&golden->call, "max_dispatch_buffer_token_size", 0);
	bool fp8 = tt_call_bool(&golden->call, "fp8_output", false);
	const struct tt_array *in = tt_golden_mesh_in(golden, "input_tensor", 0);
	struct tt_array *tokens, *metadata;
	struct tt_golden_mesh members;
	struct ttnn_shape shape;

	TT_TRY(tt_golden_mesh_find(&members, golden, "input_tensor"));
	TT_GOLDEN_NEED(in);
	shape = (struct ttnn_shape){4, {1, 1, room, tt_shape_last(&in->shape, 1)}};
	tokens = tt_golden_out(golden, &shape, fp8 ? TTNN_FP8_E4M3 : TTNN_BFLOAT16);
	shape.dim[3] = (uint32_t)tt_call_int(&golden->call, "metadata_len", 3);
	metadata = tt_golden_out(golden, &shape, TTNN_INT32);
	TT_GOLDEN_NEED(tokens && metadata);
	for (uint32_t m = 0; m < members.count; m++) {
		uint32_t chip = m * members.step;
		const struct tt_array *own = tt_golden_mesh_in(golden, "input_tensor", chip);
		const struct tt_array *ids = tt_golden_mesh_in(golden, "indices_tensor", chip);
		const struct tt_array *at =
			tt_golden_mesh_in(golden, "expert_offsets_tensor", chip);
		const struct tt_array *table =
			tt_golden_mesh_in(golden, "expert_dispatch_table_tensor", chip);
		uint64_t width = shape.dim[3];

		TT_GOLDEN_NEED(own && ids && at && table);
		for (uint64_t i = 0; i < ids->count; i++) {
			uint64_t expert = (uint64_t)*tt_at(ids, i);
			uint64_t choices = tt_shape_last(&ids->shape, 1);
			uint64_t page, token = i / choices;

			if (expert >= at->count || *tt_at(table, expert) < 0)
				continue;
			page = (uint64_t)(*tt_at(at, expert))++;
			if (*tt_at(table, expert) != 0 || page >= room)
				continue;
			for (uint64_t c = 0; c < tokens->shape.dim[3]; c++)
				*tt_at(tokens, page * tokens->shape.dim[3] + c) =
					*tt_at(own, token * tokens->shape.dim[3] + c);
			*tt_at(metadata, page * width) = chip;
			*tt_at(metadata, page * width + 1) = (double)token;
			*tt_at(metadata, page * width + 2) = (double)(i % choices);
		}
	}
	return TTNN_OK;
}

/* Which expert's region a page of a chip's buffer is in; the experts of the first chip's group are the first of all. */
static bool is_used(struct tt_golden *golden, uint32_t chip, uint32_t member, uint64_t page)
{
	const struct tt_array *counts = tt_golden_mesh_in(golden, "expert_token_counts", chip);
	const struct tt_array *regions = tt_golden_mesh_in(golden, "expert_region_offsets", chip);
	int64_t each = tt_call_int(&golden->call, "experts_per_chip", 1);

	for (int64_t e = member * each; counts && regions && e < (member + 1) * each; e++) {
		double start = *tt_at(regions, (uint64_t)e);

		if ((double)page >= start && (double)page < start + *tt_at(counts, (uint64_t)e))
			return true;
	}
	return false;
}

tt_status tt_golden_prefill_combine(struct tt_golden *golden)
{
	const struct tt_array *in = tt_golden_mesh_in(golden, "dispatched_buffer", 0);
	struct tt_golden_mesh members;
	struct ttnn_shape shape = {5, {1, 1}};
	struct tt_array *out;

	TT_TRY(tt_golden_mesh_find(&members, golden, "dispatched_buffer"));
	TT_GOLDEN_NEED(in);
	shape.dim[2] = (uint32_t)tt_call_int(&golden->call, "seq_len_per_chip", 0);
	shape.dim[3] = (uint32_t)tt_call_int(&golden->call, "num_experts_per_tok", 0);
	shape.dim[4] = tt_shape_last(&in->shape, 1);
	out = tt_golden_out(golden, &shape,
			    tt_call_bool(&golden->call, "use_fp8_combine", false) ? TTNN_FP8_E4M3
										  : TTNN_BFLOAT16);
	TT_GOLDEN_NEED(out);
	for (uint32_t m = 0; m < members.count; m++) {
		uint32_t chip = m * members.step;
		const struct tt_array *own = tt_golden_mesh_in(golden, "dispatched_buffer", chip);
		const struct tt_array *from =
			tt_golden_mesh_in(golden, "dispatched_metadata", chip);
		uint64_t fields, pages;

		TT_GOLDEN_NEED(own && from);
		fields = tt_shape_last(&from->shape, 1);
		pages = tt_shape_last(&from->shape, 2);
		for (uint64_t page = 0; page < pages; page++) {
			const double *place = tt_array_span(from, page * fields, 3);
			uint64_t slot = (uint64_t)place[1] * shape.dim[3] + (uint64_t)place[2];

			if (place[0] != 0 || !is_used(golden, chip, m, page))
				continue;
			for (uint64_t c = 0; c < shape.dim[4]; c++)
				*tt_at(out, slot * shape.dim[4] + c) =
					*tt_at(own, page * shape.dim[4] + c);
		}
	}
	return TTNN_OK;
}
