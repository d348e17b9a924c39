/* diagram_release.c: boxes of what is given back. */
#include "report/diagram_release.h"

#include <string.h>

#include "base/str.h"

#define SORTS_MAX 6 /* sizes that are told apart */
#define TIPS_MAX 16

uint32_t tt_release_box(struct tt_diagram *diagram, const char *name, uint32_t scope)
{
	uint32_t box = tt_diagram_box(diagram, TT_BOX_RELEASE, scope, *name ? name : "free");

	/* What it frees tells all of a call that the program did not make: the library's own. */
	if (box != TT_BOX_NONE)
		diagram->boxes.data[box].nameless = strncmp(name, "ttnn", 4) != 0;
	return box;
}

/* Counts memory in the list of a box, whose last entry is for all sorts (NULL) that are too many. */
static tt_status count_freed(struct tt_diagram *diagram, struct tt_box *box, const char *memory,
			     uint32_t count)
{
	struct tt_freed **slot = &box->freed;
	uint32_t sorts = 0;

	for (; *slot && (*slot)->memory; slot = &(*slot)->next, sorts++) {
		if (memory && strcmp((*slot)->memory, memory) == 0)
			break;
	}
	if (!*slot) {
		*slot = tt_arena_calloc(&diagram->arena, 1, sizeof(**slot));
		if (!*slot)
			return tt_fail_nomem();
		(*slot)->memory = sorts < SORTS_MAX ? memory : NULL;
	}
	(*slot)->count += count;
	return TTNN_OK;
}

/* "free DRAM 4 KiB ×2, L1 1 KiB" */
static tt_status write_detail(struct tt_diagram *diagram, struct tt_box *box)
{
	struct tt_str text = {0};
	tt_status status;

	for (const struct tt_freed *freed = box->freed; freed; freed = freed->next) {
		tt_str_adds(&text, text.length ? ", " : "free ");
		if (!freed->memory)
			tt_str_addf(&text, "%u more", freed->count);
		else if (freed->count > 1)
			tt_str_addf(&text, "%s ×%u", freed->memory, freed->count);
		else
			tt_str_adds(&text, freed->memory);
	}
	status = tt_str_status(&text);
	if (status == TTNN_OK && text.length) {
		box->detail = tt_arena_strdup(&diagram->arena, tt_str_text(&text));
		status = box->detail ? TTNN_OK : tt_fail_nomem();
	}
	tt_str_deinit(&text);
	return status;
}

tt_status tt_release_add(struct tt_diagram *diagram, uint32_t index, const char *memory)
{
	struct tt_box *box = &diagram->boxes.data[index];

	TT_TRY(count_freed(diagram, box, memory, 1));
	if (box->nameless)
		box->title = "";
	return write_detail(diagram, box);
}

/* ---- neighbours -------------------------------------------------------------------------------- */

/* Whether two boxes that follow each other say the same but for what they free. */
static bool alike(const struct tt_box *a, const struct tt_box *b)
{
	return a->failed == b->failed && strcmp(a->title, b->title) == 0;
}

/* Makes boxes[0 .. count) of a scope, which follow each other, the first of them. */
static tt_status merge_run(struct tt_diagram *diagram, const uint32_t *boxes, uint32_t count)
{
	struct tt_box *kept = &diagram->boxes.data[boxes[0]];
	struct tt_str tip = {0};
	tt_status status = TTNN_OK;

	for (uint32_t i = 0; i < count && status == TTNN_OK; i++) {
		struct tt_box *box = &diagram->boxes.data[boxes[i]];

		if (box->tip && i < TIPS_MAX)
			tt_str_addf(&tip, "%s%s", tip.length ? "\n\n" : "", box->tip);
		if (i == 0)
			continue;
		box->gone = true;
		box->same = boxes[0];
		for (const struct tt_freed *freed = box->freed; freed && status == TTNN_OK;
		     freed = freed->next)
			status = count_freed(diagram, kept, freed->memory, freed->count);
	}
	if (count > TIPS_MAX)
		tt_str_addf(&tip, "\n\n… %u more", count - TIPS_MAX);
	if (status == TTNN_OK)
		status = tt_str_status(&tip);
	if (status == TTNN_OK)
		status = write_detail(diagram, kept);
	if (status == TTNN_OK && *kept->title)
		kept->title = tt_arena_printf(&diagram->arena, "%s ×%u", kept->title, count);
	if (status == TTNN_OK)
		kept->tip = tt_arena_strdup(&diagram->arena, tt_str_text(&tip));
	tt_str_deinit(&tip);
	return status == TTNN_OK && (!kept->title || !kept->tip) ? tt_fail_nomem() : status;
}

tt_status tt_release_merge(struct tt_diagram *diagram)
{
	uint32_t *run, count = 0;

	TT_TRY(tt_diagram_index(diagram));
	run = tt_arena_calloc(&diagram->scratch, diagram->boxes.count + 1, sizeof(*run));
	if (!run)
		return tt_fail_nomem();
	for (uint32_t c = 0, total = diagram->child_at[diagram->boxes.count]; c <= total; c++) {
		const struct tt_box *box =
			c < total ? &diagram->boxes.data[diagram->children[c]] : NULL;
		const struct tt_box *last = count ? &diagram->boxes.data[run[count - 1]] : NULL;

		if (box && last && box->parent == last->parent &&
		    (tt_box_is_chip(box->kind) || box->kind == TT_BOX_TENSOR))
			continue;
		bool release = box && box->kind == TT_BOX_RELEASE;
		if (last && !(release && box->parent == last->parent && alike(box, last))) {
			if (count > 1)
				TT_TRY(merge_run(diagram, run, count));
			count = 0;
		}
		if (release)
			run[count++] = diagram->children[c];
	}
	return TTNN_OK;
}
