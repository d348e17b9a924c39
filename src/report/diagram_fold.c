/*
 * diagram_fold.c: repeated layers, drawn once. Calls of equal content have equal hashes; in the sequence
 * of a scope's calls a part that follows itself at once is a repetition. Short parts are folded first,
 * so that loops within loops come out as such.
 */
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "report/diagram.h"

/* How often a part of this many calls has to follow itself to be folded. X(up to calls, times) */
static const struct {
	uint32_t calls, times;
} rules[] = {{3, 4}, {5, 3}, {UINT32_MAX, 2}};

#define PERIOD_MAX 2000

/* A call, or a repetition found before. */
struct item {
	uint32_t box;
	uint64_t hash;
};

/* What a repetition holds: members[first .. first + count). */
struct group {
	uint32_t box, first, count;
};

struct fold {
	struct tt_diagram *diagram;
	TT_VEC(uint32_t) members;
	TT_VEC(struct group) groups; /* group of box groups_from + i is groups[i] */
	uint32_t groups_from;
	struct item *items;
	uint32_t count;
};

static uint32_t times_wanted(uint32_t calls)
{
	size_t i = 0;

	while (calls > rules[i].calls)
		i++;
	return rules[i].times;
}

/* The boxes directly inside: children as they were before folding, or the members of a repetition. */
static const uint32_t *inside(const struct fold *fold, uint32_t box, uint32_t *count)
{
	const struct tt_diagram *diagram = fold->diagram;

	if (box >= fold->groups_from) {
		const struct group *group = &fold->groups.data[box - fold->groups_from];

		*count = group->count;
		return fold->members.data + group->first;
	}
	*count = diagram->child_at[box + 1] - diagram->child_at[box];
	return diagram->children + diagram->child_at[box];
}

/* `gone` and all it holds stand for the equal `kept`. As deep as calls are nested. */
static void merge(struct fold *fold, uint32_t kept, uint32_t gone)
{
	struct tt_box *box = &fold->diagram->boxes.data[gone];
	uint32_t count, same;
	const uint32_t *there = inside(fold, gone, &count), *here = inside(fold, kept, &same);

	if (!box->gone) {
		box->gone = true;
		box->same = kept;
		fold->diagram->folded += !tt_box_is_chip(box->kind) && box->kind != TT_BOX_REPEAT;
	}
	for (uint32_t i = 0; i < count && i < same; i++)
		merge(fold, here[i], there[i]);
}

/* Makes items[at ..] of `period` calls, `times` over, one item. */
static tt_status fold_run(struct fold *fold, uint32_t at, uint32_t period, uint32_t times)
{
	struct tt_diagram *diagram = fold->diagram;
	struct item *items = fold->items + at;
	uint64_t hash = times;
	char *title = tt_arena_printf(&diagram->arena, "× %u", times);
	char *tip = tt_arena_printf(&diagram->arena, "%u calls, %u times in a row; drawn once",
				    period, times);
	uint32_t scope = diagram->boxes.data[items[0].box].parent;
	uint32_t index =
		title && tip ? tt_diagram_box(diagram, TT_BOX_REPEAT, scope, title) : TT_BOX_NONE;
	struct group *group = index != TT_BOX_NONE ? TT_VEC_PUSH(&fold->groups) : NULL;

	if (!group || !TT_VEC_RESERVE(&fold->members, period))
		return tt_fail_nomem();
	struct tt_box *box = &diagram->boxes.data[index];
	box->times = times;
	box->tip = tip;
	box->time = diagram->boxes.data[items[0].box].time;
	*group = (struct group){index, (uint32_t)fold->members.count, period};
	for (uint32_t i = 0; i < period; i++) {
		diagram->boxes.data[items[i].box].parent = index;
		fold->members.data[fold->members.count++] = items[i].box;
		hash = tt_hash_u64(hash, items[i].hash);
	}
	for (uint32_t i = period; i < period * times; i++)
		merge(fold, items[i % period].box, items[i].box);
	items[0] = (struct item){index, hash};
	return TTNN_OK;
}

/* Whether a part only gives back: neighbours of that kind become one box, which counts them. */
static bool only_releases(const struct fold *fold, uint32_t at, uint32_t period)
{
	uint32_t end = at + period;

	while (at < end && fold->diagram->boxes.data[fold->items[at].box].kind == TT_BOX_RELEASE)
		at++;
	return at == end;
}

static bool is_release(const struct fold *fold, uint32_t item)
{
	return fold->diagram->boxes.data[fold->items[item].box].kind == TT_BOX_RELEASE;
}

static bool same_call(const struct fold *fold, uint32_t a, uint32_t b)
{
	const struct tt_box *boxes = fold->diagram->boxes.data;
	const struct tt_box *one = &boxes[fold->items[a].box], *other = &boxes[fold->items[b].box];

	return one->kind == other->kind && strcmp(one->title, other->title) == 0;
}

/*
 * How far into a part that repeats from `at` on its block begins. The first turn of a loop is often unlike the others in what
 * it gives back, so that equality begins in the midst of it: calls just before (the last of `kept` items) that have the
 * names of the part's last ones are the beginning of that turn.
 */
static uint32_t block_edge(const struct fold *fold, uint32_t kept, uint32_t at, uint32_t period)
{
	uint32_t before = kept, inside = at + period, edge = at;

	for (;;) {
		while (before && is_release(fold, before - 1))
			before--;
		while (inside > at && is_release(fold, inside - 1))
			inside--;
		if (!before || inside <= at || !same_call(fold, before - 1, inside - 1))
			return edge - at;
		edge = --inside;
		before--;
	}
}

/* Folds all parts of this many calls in a row of items. */
static tt_status fold_period(struct fold *fold, uint32_t period)
{
	uint32_t wanted = times_wanted(period), kept = 0;
	struct item *items = fold->items;

	for (uint32_t i = 0; i < fold->count;) {
		uint32_t equal = 0;

		while (i + equal + period < fold->count &&
		       items[i + equal].hash == items[i + equal + period].hash)
			equal++;
		uint32_t times = equal / period + 1;
		if (times >= wanted && !only_releases(fold, i, period)) {
			uint32_t edge = block_edge(fold, kept, i, period);

			if (edge <= equal && (equal - edge) / period + 1 >= wanted) {
				times = (equal - edge) / period + 1;
				for (; edge; edge--)
					items[kept++] = items[i++];
			}
			TT_TRY(fold_run(fold, i, period, times));
			items[kept++] = items[i];
			i += period * times;
			continue;
		}
		/* Where a comparison failed no part can start that reaches over it. */
		for (uint32_t n = 0; n <= equal && i < fold->count; n++)
			items[kept++] = items[i++];
	}
	fold->count = kept;
	return TTNN_OK;
}

static tt_status fold_scope(struct fold *fold, uint32_t scope)
{
	struct tt_diagram *diagram = fold->diagram;

	fold->count = 0;
	for (uint32_t c = diagram->child_at[scope]; c < diagram->child_at[scope + 1]; c++) {
		uint32_t child = diagram->children[c];
		const struct tt_box *box = &diagram->boxes.data[child];

		if (!tt_box_is_chip(box->kind) && box->kind != TT_BOX_TENSOR)
			fold->items[fold->count++] = (struct item){child, box->hash};
	}
	for (uint32_t period = 1; period <= fold->count / 2 && period <= PERIOD_MAX; period++)
		TT_TRY(fold_period(fold, period));
	return TTNN_OK;
}

/* ---- tensors from before ----------------------------------------------------------------------- */

static uint32_t depth_of(const struct tt_diagram *diagram, uint32_t box)
{
	uint32_t depth = 0;

	for (; box != TT_BOX_NONE; box = diagram->boxes.data[box].parent)
		depth++;
	return depth;
}

/* The innermost repetition (or the page) that holds both; `scope` NONE: the one that holds `box`. */
static uint32_t common(const struct tt_diagram *diagram, uint32_t scope, uint32_t box)
{
	const struct tt_box *boxes = diagram->boxes.data;
	uint32_t other = boxes[box].parent;

	if (scope == TT_BOX_NONE)
		scope = other;
	uint32_t a = depth_of(diagram, scope), b = depth_of(diagram, other);
	for (; a > b; a--)
		scope = boxes[scope].parent;
	for (; b > a; b--)
		other = boxes[other].parent;
	while (scope != other) {
		scope = boxes[scope].parent;
		other = boxes[other].parent;
	}
	while (boxes[scope].kind != TT_BOX_PAGE && boxes[scope].kind != TT_BOX_REPEAT)
		scope = boxes[scope].parent;
	return scope;
}

/*
 * A tensor that only left-out calls use is left out with them: its twin is drawn. Others move into the
 * repetition they are used in, just before their first use.
 */
static tt_status move_tensors(struct tt_diagram *diagram)
{
	size_t count = diagram->boxes.count;
	uint32_t *scope = tt_arena_alloc(&diagram->scratch, count * sizeof(*scope));
	bool *used = tt_arena_calloc(&diagram->scratch, count, 1);

	if (!scope || !used)
		return tt_fail_nomem();
	memset(scope, 0xff, count * sizeof(*scope));
	for (size_t i = 0; i < diagram->links.count; i++) {
		const struct tt_link *link = &diagram->links.data[i];
		struct tt_box *boxes = diagram->boxes.data;

		if (boxes[link->from].kind != TT_BOX_TENSOR || boxes[link->to].gone)
			continue;
		scope[link->from] = common(diagram, scope[link->from], link->to);
		used[link->from] = true;
	}
	for (size_t i = 0; i < count; i++) {
		struct tt_box *box = &diagram->boxes.data[i];

		if (box->kind != TT_BOX_TENSOR)
			continue;
		box->gone = !used[i];
		diagram->folded += box->gone;
		if (used[i])
			box->parent = scope[i];
	}
	return TTNN_OK;
}

tt_status tt_diagram_fold(struct tt_diagram *diagram)
{
	uint32_t boxes = (uint32_t)diagram->boxes.count;
	struct fold fold = {.diagram = diagram, .groups_from = boxes};
	tt_status status;

	TT_TRY(tt_diagram_index(diagram));
	TT_TRY(tt_diagram_hash(diagram));
	fold.items = tt_arena_calloc(&diagram->scratch, boxes, sizeof(*fold.items));
	if (!fold.items)
		return tt_fail_nomem();
	status = TTNN_OK;
	for (uint32_t scope = 0; scope < boxes && status == TTNN_OK; scope++) {
		if (!diagram->boxes.data[scope].gone)
			status = fold_scope(&fold, scope);
	}
	TT_VEC_DEINIT(&fold.members);
	TT_VEC_DEINIT(&fold.groups);
	if (status == TTNN_OK && diagram->folded > 0)
		status = move_tensors(diagram);
	return status;
}
