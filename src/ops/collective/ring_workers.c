/*
 * ring_workers.c: what gathers parts of tensors beside ring attention, and by itself (ring_gather.c): the buffers of two
 * workers for each link. Models ring_attention_all_gather_async_multi_core_with_workers of ttnn 0.81.
 */
#include <ttnn_frontend.h>

#include "device/fabric.h"
#include "device/generation.h"
#include "ops/collective/collective.h"
#include "ops/usual.h"

tt_status tt_ring_workers(const ttnn_core_set **out, const struct tt_launch *launch,
			  const struct tt_ring_senders *s, const uint64_t number[2])
{
	uint64_t each = number[0], own = number[1], outside = 0, side;
	struct ttnn_core offset = s->offset, first = {0}, core;
	struct ttnn_core_range box, *ranges;

	TT_NEED(s->links <= ttnn_core_set_cores(launch->grid), "there are no %llu links",
		(unsigned long long)s->links);
	TT_TRY(tt_core_set_box(&box, launch->grid));
	side = (s->columns ? box.end.y : box.end.x) + 1;
	ranges = tt_arena_calloc(launch->arena, s->links, sizeof(*ranges));
	if (!ranges)
		return tt_fail_nomem();
	for (uint64_t n = s->links * each; n-- > 0;) {
		core.x = (uint32_t)(offset.x + (s->columns ? n / side : n % side));
		core.y = (uint32_t)(offset.y + (s->columns ? n % side : n / side));
		if (!tt_core_set_contains(launch->grid, core)) {
			first = core;
			outside++;
		}
		if (n % each == own)
			ranges[n / each] = (struct ttnn_core_range){core, core};
	}
	TT_REQUIRE(
		!outside, "selection.all_placeable()",
		"Core grid offset %u-%u pushed %llu of the %llu selected worker cores (first: %u-%u) "
		"off the worker grid; kernels cannot be placed there. Request fewer cores or use a "
		"smaller offset.",
		offset.x, offset.y, (unsigned long long)outside,
		(unsigned long long)(s->links * each), first.x, first.y);
	return ttnn_core_set_make(out, ranges, s->links);
}

/*
 * Packets of whole pages, eight at a time, and their headers; the first worker of a link sends back and the other one
 * forth.
 */
tt_status tt_ring_sender_rows(struct tt_plan *plan, const struct tt_launch *launch,
			      const struct tt_ring_senders *s)
{
	uint32_t header = tt_fabric_header(ttnn_fabric_get());
	uint64_t most = tt_is_blackhole(launch->device) ? 4 : 2; /* pages that go out at once */
	uint64_t pages =
		8 * tt_lesser(most, s->page < TT_FABRIC_PAYLOAD ? TT_FABRIC_PAYLOAD / s->page : 1);
	const ttnn_core_set *forward, *back;

	TT_TRY(tt_ring_workers(&back, launch, s, (const uint64_t[]){2, 0}));
	TT_TRY(tt_ring_workers(&forward, launch, s, (const uint64_t[]){2, 1}));
	TT_TRY(TT_PLAN(plan, forward, TT_CB_ROW(0, "cb_forward", .pages = pages, .page = s->page),
		       TT_CB_ROW(2, "cb_backward", .pages = pages, .page = s->page, .cores = back),
		       TT_CB_ROW(1, NULL, .pages = 16, .page = header),
		       TT_CB_ROW(1, NULL, .pages = 16, .page = header, .cores = back)));
	return s->numbers ? TT_PLAN(plan, forward, TT_CB_ROW(3, NULL, .pages = 1, .page = 4),
				    TT_CB_ROW(3, NULL, .pages = 1, .page = 4, .cores = back))
			  : TTNN_OK;
}
