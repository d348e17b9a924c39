/*
 * view.c: other shapes over the same storage.
 *
 * Two shapes can share storage when element number n of both lies in the same place, for all n.
 * Places are walked by nested loops, one for each dimension; loops that follow each other without a
 * gap are one loop. What remains is unique: the places are the same when these loops are.
 */
#include <inttypes.h>
#include <string.h>

#include "tensor/layout.h"
#include "tensor/shape.h"
#include "tensor/spec.h"
#include "tensor/tensor.h"
#include "tensor/tile.h"

/* A walk over positions, innermost loop first, with no two loops that could be one. */
struct walk {
	uint32_t loops;
	uint64_t extent[TTNN_MAX_RANK], step[TTNN_MAX_RANK];
};

static void walk_add(struct walk *walk, uint64_t extent, uint64_t step)
{
	uint32_t last = walk->loops - 1;

	if (extent == 1)
		return;
	if (walk->loops && walk->extent[last] * walk->step[last] == step) {
		walk->extent[last] *= extent;
		return;
	}
	walk->extent[walk->loops] = extent;
	walk->step[walk->loops++] = step;
}

/* Where the elements lie in order: positions for rows; matrix rows for tiles. */
static struct walk walk_of(const struct tt_area *area)
{
	bool tiled = area->tile.height != 0;
	uint64_t per_row = tiled ? 1 : area->cols;
	struct walk walk = {0};

	if (!tiled)
		walk_add(&walk, tt_shape_last(&area->shape, 1), 1);
	for (uint32_t back = 2; back <= area->shape.rank; back++)
		walk_add(&walk, tt_shape_last(&area->shape, back),
			 area->step[area->shape.rank - back] * per_row);
	return walk;
}

bool tt_area_same_places(const struct tt_area *a, const struct tt_area *b)
{
	struct walk x = walk_of(a), y = walk_of(b);

	if (!tt_tile_equal(&a->tile, &b->tile) ||
	    (a->tile.height != 0 &&
	     (a->cols != b->cols || tt_shape_last(&a->shape, 1) != tt_shape_last(&b->shape, 1))))
		return false;
	return x.loops == y.loops &&
	       memcmp(x.extent, y.extent, x.loops * sizeof(x.extent[0])) == 0 &&
	       memcmp(x.step, y.step, x.loops * sizeof(x.step[0])) == 0;
}

static tt_status check_view(const struct ttnn_tensor_spec *view, const struct ttnn_tensor_spec *old)
{
	struct tt_area now = tt_area_of(NULL, view), before = tt_area_of(NULL, old);
	struct tt_str to = {0}, from = {0};
	uint64_t view_volume, old_volume;

	TT_TRY(ttnn_shape_volume(&view_volume, &view->shape));
	TT_TRY(ttnn_shape_volume(&old_volume, &old->shape));
	if (view_volume == old_volume && view->bytes == old->bytes &&
	    (old_volume == 0 || tt_area_same_places(&now, &before)))
		return TTNN_OK;
	tt_shape_list(&to, &view->shape);
	tt_shape_list(&from, &old->shape);
	if (view_volume != old_volume)
		tt_fail(TTNN_INVALID,
			"Shape(%s) has %" PRIu64 " elements and cannot be a view of Shape(%s), "
			"which has %" PRIu64,
			tt_str_text(&to), view_volume, tt_str_text(&from), old_volume);
	else
		tt_fail(TTNN_UNSUPPORTED,
			"Shape(%s) cannot be a view of Shape(%s): in the storage elements would "
			"have to move",
			tt_str_text(&to), tt_str_text(&from));
	tt_str_deinit(&to);
	tt_str_deinit(&from);
	return view_volume != old_volume ? TTNN_INVALID : TTNN_UNSUPPORTED;
}

enum ttnn_status ttnn_tensor_view(ttnn_tensor **out, ttnn_tensor *tensor,
				  const struct ttnn_shape *shape)
{
	struct ttnn_spec_args args = tt_tensor_spec_args(&tensor->spec);
	struct ttnn_tensor_spec spec;

	args.shape = *shape;
	TT_TRY(ttnn_tensor_spec_make(&spec, &args));
	TT_TRY(check_view(&spec, &tensor->spec));
	return tt_tensor_share(out, tensor, &spec);
}
