/* golden_dispatch.c: see golden_dispatch.h. */
#include "golden/golden_dispatch.h"

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
		for (double n = tokens_for(golden, members, members->count, e); n > 0; n -= TT_TILE)
			place += TT_TILE;
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
