/*
 * diagram.c: boxes, links, and their places. Every scope is laid out for itself, the innermost first;
 * its box is then a node in the layout of the scope around it.
 */
#include "report/diagram.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/utf8.h"

#define CHIP_GAP 4.0
#define CHIP_ROW 230.0 /* chips are broken into rows of this width, unless the box is wider */
#define PAGE_PAD 20.0
#define PAGE_TITLE 34.0
#define CONTENT_GAP 6.0

tt_status tt_diagram_init(struct tt_diagram *diagram, const char *title)
{
	memset(diagram, 0, sizeof(*diagram));
	diagram->title = title ? tt_arena_strdup(&diagram->arena, title) : "";
	if (!diagram->title ||
	    tt_diagram_box(diagram, TT_BOX_PAGE, TT_BOX_NONE, "") == TT_BOX_NONE) {
		tt_diagram_deinit(diagram);
		return tt_fail_nomem();
	}
	return TTNN_OK;
}

void tt_diagram_deinit(struct tt_diagram *diagram)
{
	TT_VEC_DEINIT(&diagram->boxes);
	TT_VEC_DEINIT(&diagram->links);
	TT_VEC_DEINIT(&diagram->lines);
	tt_arena_deinit(&diagram->arena);
	tt_arena_deinit(&diagram->scratch);
	diagram->child_at = diagram->children = NULL;
}

uint32_t tt_diagram_box(struct tt_diagram *diagram, enum tt_box_kind kind, uint32_t parent,
			const char *title)
{
	struct tt_box *box =
		diagram->boxes.count < TT_BOX_NONE ? TT_VEC_PUSH(&diagram->boxes) : NULL;

	if (!box)
		return TT_BOX_NONE;
	*box = (struct tt_box){.kind = kind,
			       .parent = parent,
			       .same = TT_BOX_NONE,
			       .time = (uint32_t)diagram->boxes.count,
			       .title = title};
	return (uint32_t)diagram->boxes.count - 1;
}

tt_status tt_diagram_link(struct tt_diagram *diagram, uint32_t from, uint32_t to, const char *tip)
{
	struct tt_link *link = TT_VEC_PUSH(&diagram->links);

	if (!link)
		return tt_fail_nomem();
	*link = (struct tt_link){from, to, tip};
	return TTNN_OK;
}

/* ---- children -------------------------------------------------------------------------------- */

struct timed {
	uint32_t parent, time, box;
};

static int compare_timed(const void *a, const void *b)
{
	const struct timed *first = a, *second = b;

	if (first->parent != second->parent)
		return first->parent < second->parent ? -1 : 1;
	if (first->time != second->time)
		return first->time < second->time ? -1 : 1;
	return first->box < second->box ? -1 : first->box > second->box;
}

tt_status tt_diagram_index(struct tt_diagram *diagram)
{
	size_t count = diagram->boxes.count, kept = 0;

	tt_arena_deinit(&diagram->scratch);
	struct timed *sorted = tt_arena_calloc(&diagram->scratch, count, sizeof(*sorted));
	diagram->child_at = tt_arena_calloc(&diagram->scratch, count + 1, sizeof(uint32_t));
	diagram->children = tt_arena_calloc(&diagram->scratch, count, sizeof(uint32_t));
	if (!sorted || !diagram->child_at || !diagram->children)
		return tt_fail_nomem();
	for (size_t i = 1; i < count; i++) {
		const struct tt_box *box = &diagram->boxes.data[i];

		if (!box->gone)
			sorted[kept++] = (struct timed){box->parent, box->time, (uint32_t)i};
	}
	qsort(sorted, kept, sizeof(*sorted), compare_timed);
	for (size_t i = 0; i < kept; i++) {
		diagram->children[i] = sorted[i].box;
		diagram->child_at[sorted[i].parent + 1]++;
	}
	for (size_t i = 0; i < count; i++)
		diagram->child_at[i + 1] += diagram->child_at[i];
	return TTNN_OK;
}

/* All boxes below the page, each before what it holds; the count, or 0 when memory is exhausted. */
static uint32_t list_boxes(uint32_t **out, struct tt_diagram *diagram)
{
	uint32_t *list = tt_arena_calloc(&diagram->scratch, diagram->boxes.count, sizeof(*list));
	uint32_t count = 1;

	*out = list;
	if (!list)
		return 0;
	list[0] = 0;
	for (uint32_t i = 0; i < count; i++) {
		for (uint32_t c = diagram->child_at[list[i]]; c < diagram->child_at[list[i] + 1];
		     c++)
			list[count++] = diagram->children[c];
	}
	return count;
}

tt_status tt_diagram_hash(struct tt_diagram *diagram)
{
	uint32_t *list;
	uint32_t count = list_boxes(&list, diagram);

	if (!count)
		return tt_fail_nomem();
	while (count-- > 0) {
		struct tt_box *box = &diagram->boxes.data[list[count]];
		uint64_t hash = tt_hash(box->kind, box->title, strlen(box->title));

		if (box->detail)
			hash = tt_hash(hash, box->detail, strlen(box->detail));
		hash = tt_hash_u64(hash, (uint64_t)box->failed << 32 | box->times);
		for (uint32_t c = diagram->child_at[list[count]];
		     c < diagram->child_at[list[count] + 1]; c++)
			hash = tt_hash_u64(hash, diagram->boxes.data[diagram->children[c]].hash);
		box->hash = hash;
	}
	return TTNN_OK;
}

/* ---- sizes ------------------------------------------------------------------------------------- */

/* Letters are all equally wide: six tenths of their size, twice that for those of East Asia. */
double tt_diagram_text_width(const char *text, double size)
{
	size_t length = text ? strlen(text) : 0;
	double width = 0;

	for (size_t i = 0; i < length;) {
		uint32_t code;

		i += tt_utf8_get(&code, text + i, length - i);
		width += code >= 0x1100 && code != TT_UTF8_BAD ? 1.2 : 0.61;
	}
	return width * size;
}

static double chip_width(const struct tt_box *box)
{
	return tt_diagram_text_width(box->title, TT_CHIP_SIZE) +
	       (box->times > 1 ? 4 : 0) * 0.61 * TT_CHIP_SIZE + 8;
}

/* Puts the chips of a box in rows below y; the width they need, and where they end. */
static double place_chips(struct tt_diagram *diagram, uint32_t scope, double width, double *y)
{
	double x = 0, widest = 0;
	bool any = false;

	for (uint32_t c = diagram->child_at[scope]; c < diagram->child_at[scope + 1]; c++) {
		struct tt_box *chip = &diagram->boxes.data[diagram->children[c]];

		if (!tt_box_is_chip(chip->kind))
			continue;
		chip->width = chip_width(chip);
		chip->height = TT_CHIP_LINE;
		if (any && x + chip->width > width) {
			x = 0;
			*y += TT_CHIP_LINE + CHIP_GAP;
		}
		chip->x = x;
		chip->y = *y;
		x += chip->width + CHIP_GAP;
		widest = fmax(widest, x - CHIP_GAP);
		any = true;
	}
	if (any)
		*y += TT_CHIP_LINE + CHIP_GAP;
	return widest;
}

/* ---- links in the scope that holds both ends --------------------------------------------------- */

struct lifted {
	uint32_t scope, from, to, link;
};

static int compare_lifted(const void *a, const void *b)
{
	const struct lifted *first = a, *second = b;
	const uint32_t x[] = {first->scope, first->from, first->to, first->link};
	const uint32_t y[] = {second->scope, second->from, second->to, second->link};

	for (size_t i = 0; i < sizeof(x) / sizeof(x[0]); i++) {
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	}
	return 0;
}

static uint32_t resolve(const struct tt_diagram *diagram, uint32_t box)
{
	while (diagram->boxes.data[box].same != TT_BOX_NONE)
		box = diagram->boxes.data[box].same;
	return box;
}

/* Fills the scope; false when one end holds the other, or an end is not drawn. */
static bool lift(struct lifted *out, const struct tt_diagram *diagram, const uint32_t *depth)
{
	const struct tt_box *boxes = diagram->boxes.data;
	uint32_t a = out->from, b = out->to;

	if (!depth[a] || !depth[b])
		return false;
	while (depth[a] > depth[b])
		a = boxes[a].parent;
	while (depth[b] > depth[a])
		b = boxes[b].parent;
	if (a == b)
		return false;
	while (boxes[a].parent != boxes[b].parent) {
		a = boxes[a].parent;
		b = boxes[b].parent;
	}
	out->from = a;
	out->to = b;
	out->scope = boxes[a].parent;
	/* From one turn of a repetition to the next: not drawn. */
	return boxes[a].time < boxes[b].time;
}

/* All links that are drawn, by scope, equal ones beside each other. */
static tt_status lift_links(struct lifted **out, size_t *count, struct tt_diagram *diagram,
			    const uint32_t *depth)
{
	struct lifted *lifted =
		tt_arena_calloc(&diagram->scratch, diagram->links.count + 1, sizeof(*lifted));

	*count = 0;
	if (!lifted)
		return tt_fail_nomem();
	for (size_t i = 0; i < diagram->links.count; i++) {
		const struct tt_link *link = &diagram->links.data[i];
		struct lifted one = {.from = resolve(diagram, link->from),
				     .to = resolve(diagram, link->to),
				     .link = (uint32_t)i};

		if (lift(&one, diagram, depth))
			lifted[(*count)++] = one;
	}
	qsort(lifted, *count, sizeof(*lifted), compare_lifted);
	*out = lifted;
	return TTNN_OK;
}

/* ---- one scope ---------------------------------------------------------------------------------- */

struct scope {
	struct tt_diagram *diagram;
	uint32_t box;
	const struct lifted *lifted; /* of this scope */
	size_t lifted_count;
	uint32_t *node_of; /* of each box: its node in the layout of its scope */
	struct tt_layout layout;
	uint32_t *box_of;               /* of each node */
	uint32_t *link_of, *link_count; /* of each edge: the first link drawn by it, and how many */
};

static tt_status collect_nodes(struct scope *s)
{
	struct tt_diagram *diagram = s->diagram;
	uint32_t from = diagram->child_at[s->box], to = diagram->child_at[s->box + 1];
	struct tt_layout *layout = &s->layout;

	layout->nodes = tt_arena_calloc(&diagram->scratch, to - from + 1, sizeof(*layout->nodes));
	s->box_of = tt_arena_calloc(&diagram->scratch, to - from + 1, sizeof(*s->box_of));
	if (!layout->nodes || !s->box_of)
		return tt_fail_nomem();
	for (; from < to; from++) {
		uint32_t child = diagram->children[from];
		const struct tt_box *box = &diagram->boxes.data[child];

		if (tt_box_is_chip(box->kind))
			continue;
		s->node_of[child] = layout->node_count;
		s->box_of[layout->node_count] = child;
		layout->nodes[layout->node_count].width = box->width;
		layout->nodes[layout->node_count++].height = box->height;
	}
	return TTNN_OK;
}

/*
 * Links as edges. What happens inside a call happens in order: there a call without a link from one
 * before it is put below that; on the page and in repeated parts it may stand beside others.
 */
static tt_status collect_edges(struct scope *s)
{
	struct tt_diagram *diagram = s->diagram;
	struct tt_layout *layout = &s->layout;
	enum tt_box_kind kind = diagram->boxes.data[s->box].kind;
	size_t most = s->lifted_count + layout->node_count + 1;
	bool *linked = tt_arena_calloc(&diagram->scratch, (size_t)layout->node_count + 1, 1);

	layout->edges = tt_arena_calloc(&diagram->scratch, most, sizeof(*layout->edges));
	s->link_of = tt_arena_calloc(&diagram->scratch, most, sizeof(*s->link_of));
	s->link_count = tt_arena_calloc(&diagram->scratch, most, sizeof(*s->link_count));
	if (!linked || !layout->edges || !s->link_of || !s->link_count)
		return tt_fail_nomem();
	for (size_t i = 0; i < s->lifted_count; i++) {
		const struct lifted *one = &s->lifted[i];

		if (i > 0 && one->from == one[-1].from && one->to == one[-1].to) {
			s->link_count[layout->edge_count - 1]++;
			continue;
		}
		s->link_of[layout->edge_count] = one->link;
		s->link_count[layout->edge_count] = 1;
		layout->edges[layout->edge_count++] = (struct tt_layout_edge){
			.from = s->node_of[one->from], .to = s->node_of[one->to]};
		linked[s->node_of[one->to]] = true;
	}
	if (kind == TT_BOX_PAGE || kind == TT_BOX_REPEAT)
		return TTNN_OK;
	for (uint32_t i = 0, last = TT_LAYOUT_NONE; i < layout->node_count; i++) {
		/* What is given back matters to nobody: it may stand beside. */
		if (diagram->boxes.data[s->box_of[i]].kind == TT_BOX_RELEASE)
			continue;
		if (!linked[i] && last != TT_LAYOUT_NONE)
			layout->edges[layout->edge_count++] =
				(struct tt_layout_edge){.from = last, .to = i, .hidden = true};
		last = i;
	}
	return TTNN_OK;
}

static tt_status add_line(struct tt_diagram *diagram, const struct tt_line *line)
{
	struct tt_line *slot = TT_VEC_PUSH(&diagram->lines);

	if (!slot)
		return tt_fail_nomem();
	*slot = *line;
	return TTNN_OK;
}

/* A tag is a box that stands for far links. */
static tt_status add_tag(struct scope *s, const struct tt_layout_tag *tag, double x, double y)
{
	struct tt_diagram *diagram = s->diagram;
	uint32_t to = s->box_of[tag->node];
	uint32_t from = s->box_of[s->layout.edges[tag->edge].from];
	const char *name = diagram->boxes.data[from].title;
	char more[32] = "";

	if (tag->count > 1)
		snprintf(more, sizeof(more), ", %u more", tag->count - 1);
	const char *title =
		tt_arena_printf(&diagram->arena, "↑ %.*s%s", tag->count > 1 ? 13 : 22, name, more);
	uint32_t index = title ? tt_diagram_box(diagram, TT_BOX_TAG, s->box, title) : TT_BOX_NONE;
	if (index == TT_BOX_NONE)
		return tt_fail_nomem();
	struct tt_box *box = &diagram->boxes.data[index];
	box->same = TT_BOX_NONE;
	box->x = tag->x + x;
	box->y = tag->y + y;
	box->width = s->layout.style->tag_width;
	box->height = s->layout.style->tag_height;
	box->far = from; /* where it leads to */
	return add_line(diagram, &(struct tt_line){index, to, s->link_of[tag->edge], tag->count,
						   tag->points, tag->point_count, s->box});
}

/* Children stand at (x, y) and further; lines and tags are kept. */
static tt_status apply_layout(struct scope *s, double x, double y)
{
	struct tt_diagram *diagram = s->diagram;
	struct tt_layout *layout = &s->layout;

	for (uint32_t i = 0; i < layout->node_count; i++) {
		struct tt_box *box = &diagram->boxes.data[s->box_of[i]];

		box->x = layout->nodes[i].x + x;
		box->y = layout->nodes[i].y + y;
	}
	for (uint32_t i = 0; i < layout->tag_count; i++)
		TT_TRY(add_tag(s, &layout->tags[i], x, y));
	for (uint32_t i = 0; i < layout->edge_count; i++) {
		const struct tt_layout_edge *edge = &layout->edges[i];
		uint32_t from = s->box_of[edge->from];

		if (edge->far)
			diagram->boxes.data[from].far++;
		if (edge->point_count)
			TT_TRY(add_line(diagram,
					&(struct tt_line){from, s->box_of[edge->to], s->link_of[i],
							  s->link_count[i], edge->points,
							  edge->point_count, s->box}));
	}
	return TTNN_OK;
}

/* The size of a box, and the places of what it holds relative to its corner. */
static tt_status layout_scope(struct scope *s)
{
	struct tt_diagram *diagram = s->diagram;
	struct tt_box *box = &diagram->boxes.data[s->box];
	bool page = box->kind == TT_BOX_PAGE;
	double pad = page ? PAGE_PAD : TT_BOX_PAD;
	double wide = fmax(tt_diagram_text_width(page ? diagram->title : box->title, TT_TITLE_SIZE),
			   tt_diagram_text_width(box->detail, TT_DETAIL_SIZE));
	double y = page ? PAGE_TITLE : TT_TITLE_LINE + (box->detail ? TT_DETAIL_LINE : 0);

	TT_TRY(collect_nodes(s));
	TT_TRY(collect_edges(s));
	s->layout.style = &tt_layout_default;
	TT_TRY(tt_layout_run(&s->layout, &diagram->arena));
	wide = fmax(wide, s->layout.width);
	y += 3;
	double chips = place_chips(diagram, s->box, fmax(wide, CHIP_ROW), &y);
	wide = fmax(wide, chips);
	/* Content is in the middle when the title is wider. */
	double x = pad + (wide - s->layout.width) / 2;
	if (s->layout.node_count > 0)
		y += CONTENT_GAP;
	box->width = wide + 2 * pad;
	box->height = y + s->layout.height + (s->layout.node_count ? pad : 1);
	for (uint32_t c = diagram->child_at[s->box]; c < diagram->child_at[s->box + 1]; c++) {
		struct tt_box *chip = &diagram->boxes.data[diagram->children[c]];

		if (tt_box_is_chip(chip->kind))
			chip->x += pad;
	}
	size_t first = diagram->lines.count;
	TT_TRY(apply_layout(s, x, y));
	/* From the content's corner to that of the box. */
	for (size_t i = first; i < diagram->lines.count; i++) {
		struct tt_line *line = &diagram->lines.data[i];
		struct tt_layout_point *moved =
			tt_arena_calloc(&diagram->arena, line->point_count + 1, sizeof(*moved));

		if (!moved)
			return tt_fail_nomem();
		for (uint32_t p = 0; p < line->point_count; p++)
			moved[p] = (struct tt_layout_point){line->points[p].x + x,
							    line->points[p].y + y};
		line->points = moved;
	}
	return TTNN_OK;
}

tt_status tt_diagram_layout(struct tt_diagram *diagram)
{
	uint32_t *list, count;
	size_t lifted_count, end;
	struct lifted *lifted = NULL;

	TT_TRY(tt_diagram_index(diagram));
	count = list_boxes(&list, diagram);
	uint32_t *depth = tt_arena_calloc(&diagram->scratch, diagram->boxes.count, sizeof(*depth));
	uint32_t *node_of =
		tt_arena_calloc(&diagram->scratch, diagram->boxes.count, sizeof(*node_of));
	/* Links of a scope start here in `lifted`, which is in the order of scopes. */
	size_t *at = tt_arena_calloc(&diagram->scratch, diagram->boxes.count + 1, sizeof(*at));
	if (!count || !depth || !node_of || !at)
		return tt_fail_nomem();
	depth[0] = 1;
	for (uint32_t i = 1; i < count; i++)
		depth[list[i]] = depth[diagram->boxes.data[list[i]].parent] + 1;
	TT_TRY(lift_links(&lifted, &lifted_count, diagram, depth));
	end = diagram->boxes.count;
	for (size_t i = 0; i < lifted_count; i++)
		at[lifted[i].scope + 1]++;
	for (size_t i = 0; i < end; i++)
		at[i + 1] += at[i];
	for (uint32_t i = count; i-- > 0;) {
		uint32_t box = list[i];
		struct scope scope = {.diagram = diagram,
				      .box = box,
				      .node_of = node_of,
				      .lifted = lifted + at[box],
				      .lifted_count = at[box + 1] - at[box]};

		if (!tt_box_is_chip(diagram->boxes.data[box].kind))
			TT_TRY(layout_scope(&scope));
	}
	/* From relative to absolute: what holds others comes first; tags were added at the end. */
	for (uint32_t i = 1; i < count; i++) {
		struct tt_box *box = &diagram->boxes.data[list[i]];

		box->x += diagram->boxes.data[box->parent].x;
		box->y += diagram->boxes.data[box->parent].y;
	}
	for (size_t i = end; i < diagram->boxes.count; i++) {
		struct tt_box *box = &diagram->boxes.data[i];

		box->x += diagram->boxes.data[box->parent].x;
		box->y += diagram->boxes.data[box->parent].y;
	}
	return TTNN_OK;
}
