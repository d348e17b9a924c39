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
#include "report/diagram_links.h"

#define CHIP_GAP 4.0
#define CHIP_ROW 230.0 /* chips are broken into rows of this width, unless the box is wider */
#define PAGE_PAD 20.0
#define PAGE_TITLE 34.0
#define CONTENT_GAP 6.0
#define TITLE_GAP 5.0 /* between a title and the lines beside it */
#define TAG_PAD 14.0

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

tt_status tt_diagram_link(struct tt_diagram *diagram, const struct tt_link *link)
{
	struct tt_link *slot = TT_VEC_PUSH(&diagram->links);

	if (!slot)
		return tt_fail_nomem();
	*slot = *link;
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

uint32_t tt_diagram_list(uint32_t **out, struct tt_diagram *diagram)
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
	uint32_t count = tt_diagram_list(&list, diagram);

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

/*
 * Letters are all equally wide: six tenths of their size, twice that for those of East Asia. Arrows and
 * other signs stand among those.
 */
static double letter_width(uint32_t code)
{
	bool sign = code >= 0x2000 && code < 0x2e80;

	return code >= 0x1100 && !sign && code != TT_UTF8_BAD ? 1.2 : 0.61;
}

double tt_diagram_text_width(const char *text, double size)
{
	size_t length = text ? strlen(text) : 0;
	double width = 0, widest = 0;

	for (size_t i = 0; i < length;) {
		uint32_t code;

		i += tt_utf8_get(&code, text + i, length - i);
		width = code == '\n' ? 0 : width + letter_width(code);
		widest = fmax(widest, width);
	}
	return widest * size;
}

const char *tt_diagram_fit(struct tt_arena *arena, const char *text, double width, double size)
{
	size_t length = strlen(text), end = 0;
	double used = letter_width(0x2026) * size;

	/* Sums of letters do not come out even. */
	if (tt_diagram_text_width(text, size) <= width + 0.01)
		return text;
	while (end < length) {
		uint32_t code;
		size_t bytes = tt_utf8_get(&code, text + end, length - end);

		used += letter_width(code) * size;
		if (used > width)
			break;
		end += bytes;
	}
	return tt_arena_printf(arena, "%.*s…", (int)end, text);
}

/* A chip is as wide as its text, if that has room; "×12" behind it. */
static tt_status size_chip(struct tt_diagram *diagram, struct tt_box *chip, double room)
{
	chip->title = tt_diagram_fit(&diagram->arena, chip->title, room - 8, TT_CHIP_SIZE);
	if (!chip->title)
		return tt_fail_nomem();
	chip->width = tt_diagram_text_width(chip->title, TT_CHIP_SIZE) + 8;
	if (chip->times > 1) {
		char times[32];

		snprintf(times, sizeof(times), "×%u", chip->times);
		chip->width += tt_diagram_text_width(times, TT_CHIP_SIZE) + 3;
	}
	chip->height = TT_CHIP_LINE;
	return TTNN_OK;
}

/* Puts the chips of a box in rows below y. Makes *width, of the box until now, and *y what they need. */
static tt_status place_chips(struct tt_diagram *diagram, uint32_t scope, double *width, double *y)
{
	double x = 0, room = fmax(*width, CHIP_ROW);
	bool any = false;

	for (uint32_t c = diagram->child_at[scope]; c < diagram->child_at[scope + 1]; c++) {
		struct tt_box *chip = &diagram->boxes.data[diagram->children[c]];

		if (!tt_box_is_chip(chip->kind))
			continue;
		TT_TRY(size_chip(diagram, chip, fmax(room, TT_TEXT_ROOM)));
		if (any && x + chip->width > room) {
			x = 0;
			*y += TT_CHIP_LINE + CHIP_GAP;
		}
		chip->x = x;
		chip->y = *y;
		x += chip->width + CHIP_GAP;
		*width = fmax(*width, x - CHIP_GAP);
		any = true;
	}
	if (any)
		*y += TT_CHIP_LINE + CHIP_GAP;
	return TTNN_OK;
}

/* ---- one scope ---------------------------------------------------------------------------------- */

struct scope {
	struct tt_diagram *diagram;
	uint32_t box;
	const struct tt_bundle *bundles; /* of this scope */
	size_t bundle_count;
	uint32_t *node_of; /* of each box: its node in the layout of its scope */
	struct tt_layout layout;
	uint32_t *box_of;                   /* of each node */
	const struct tt_bundle **bundle_of; /* of each edge; NULL: none */
};

/* "↑ title" */
static double tag_width(const char *title)
{
	return fmin(tt_diagram_text_width(title, TT_CHIP_SIZE), TT_TEXT_ROOM) +
	       2 * 0.61 * TT_CHIP_SIZE + TAG_PAD;
}

static enum tt_layout_port port_of(const struct tt_box *box)
{
	if (box->kind != TT_BOX_PORT)
		return TT_LAYOUT_NO_PORT;
	return box->time ? TT_LAYOUT_PORT_OUT : TT_LAYOUT_PORT_IN;
}

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
		layout->nodes[layout->node_count++] =
			(struct tt_layout_node){.width = box->width,
						.height = box->height,
						.port = port_of(box),
						.tag_width = tag_width(box->title)};
	}
	return TTNN_OK;
}

static void add_edge(struct scope *s, const struct tt_layout_edge *edge,
		     const struct tt_bundle *bundle)
{
	s->bundle_of[s->layout.edge_count] = bundle;
	s->layout.edges[s->layout.edge_count++] = *edge;
}

/* Where a line passes the border of a repetition, from its left; 0: it does not. */
static double port_x(const struct scope *s, uint32_t port)
{
	return port == TT_BOX_NONE ? 0 : s->diagram->boxes.data[port].x;
}

/* The links of a bundle are one edge, or two: to the label and on from there. */
static void add_bundle(struct scope *s, const struct tt_bundle *bundle)
{
	struct tt_layout_edge edge = {.from = s->node_of[bundle->from],
				      .to = s->node_of[bundle->to],
				      .from_x = port_x(s, bundle->leave),
				      .to_x = port_x(s, bundle->enter),
				      .hidden = bundle->kind == TT_LINK_USE,
				      .trailing = bundle->kind != TT_LINK_TENSOR};

	if (bundle->label != TT_BOX_NONE) {
		edge.to = s->node_of[bundle->label];
		edge.to_x = 0;
		add_edge(s, &edge, bundle);
		edge = (struct tt_layout_edge){.from = edge.to,
					       .to = s->node_of[bundle->to],
					       .to_x = port_x(s, bundle->enter)};
	}
	add_edge(s, &edge, bundle);
}

/*
 * What is in order although no link says so. A tensor is given back below the call before. Inside a call
 * everything happens in order: there a call without a link from one before it is put below that; on the
 * page and in repeated parts it may stand beside others.
 */
static void add_order(struct scope *s, const bool *linked)
{
	const struct tt_box *boxes = s->diagram->boxes.data;
	enum tt_box_kind scope = boxes[s->box].kind;
	bool ordered = scope != TT_BOX_PAGE && scope != TT_BOX_REPEAT;

	for (uint32_t i = 0, last = TT_LAYOUT_NONE; i < s->layout.node_count; i++) {
		enum tt_box_kind kind = boxes[s->box_of[i]].kind;
		bool release = kind == TT_BOX_RELEASE;

		if (kind == TT_BOX_LABEL || kind == TT_BOX_TENSOR || kind == TT_BOX_PORT)
			continue;
		if (last != TT_LAYOUT_NONE && (release || (ordered && !linked[i])))
			add_edge(
				s,
				&(struct tt_layout_edge){
					.from = last, .to = i, .hidden = true, .trailing = release},
				NULL);
		/* What is given back matters to nobody. */
		if (!release)
			last = i;
	}
}

static tt_status collect_edges(struct scope *s)
{
	struct tt_diagram *diagram = s->diagram;
	struct tt_layout *layout = &s->layout;
	size_t most = 2 * s->bundle_count + layout->node_count + 1;
	bool *linked = tt_arena_calloc(&diagram->scratch, (size_t)layout->node_count + 1, 1);

	layout->edges = tt_arena_calloc(&diagram->scratch, most, sizeof(*layout->edges));
	s->bundle_of = tt_arena_calloc(&diagram->scratch, most, sizeof(*s->bundle_of));
	if (!linked || !layout->edges || !s->bundle_of)
		return tt_fail_nomem();
	for (size_t i = 0; i < s->bundle_count; i++) {
		add_bundle(s, &s->bundles[i]);
		linked[s->node_of[s->bundles[i].to]] = true;
	}
	add_order(s, linked);
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

/*
 * The line of an edge between two boxes, without its way. One that goes on inside of a box has its
 * arrow there.
 */
static struct tt_line make_line(const struct scope *s, uint32_t from, uint32_t to, uint32_t edge)
{
	const struct tt_bundle *bundle = s->bundle_of[edge];
	const struct tt_box *boxes = s->diagram->boxes.data;
	bool enters = to == bundle->to && bundle->enter != TT_BOX_NONE;

	return (struct tt_line){.from = from,
				.to = to,
				.link = bundle->link,
				.count = bundle->count,
				.dashed = bundle->kind == TT_LINK_LAST_USE,
				.open = to == bundle->label || boxes[to].kind == TT_BOX_PORT ||
					(enters && boxes[bundle->enter].joined),
				.scope = s->box};
}

/*
 * Further lines from a tag of several far links: to the ports of those that go on inside of the box
 * below it.
 */
static tt_status add_far_lines(struct scope *s, const struct tt_layout_tag *tag, uint32_t index)
{
	bool enters = tag->count > 1 && s->layout.edges[tag->edge].to_x > 0;

	for (uint32_t i = tag->edge + 1; enters && i < s->layout.edge_count; i++) {
		const struct tt_layout_edge *edge = &s->layout.edges[i];

		if (!edge->far || edge->to != tag->node || edge->to_x == 0)
			continue;
		struct tt_layout_point *points =
			tt_arena_calloc(&s->diagram->arena, tag->point_count, sizeof(*points));
		struct tt_line line = make_line(s, index, s->box_of[tag->node], i);

		if (!points)
			return tt_fail_nomem();
		/* They part where the tag's own line is above its end. */
		uint32_t p = tag->point_count;
		double end = tag->points[p - 1].x;

		memcpy(points, tag->points, sizeof(*points) * p);
		while (--p > 0 && points[p].x == end)
			points[p].x = s->layout.nodes[tag->node].x + edge->to_x;
		line.points = points;
		line.point_count = tag->point_count;
		TT_TRY(add_line(s->diagram, &line));
	}
	return TTNN_OK;
}

/* A tag is a box that stands for far links. */
static tt_status add_tag(struct scope *s, const struct tt_layout_tag *tag, double x, double y)
{
	struct tt_diagram *diagram = s->diagram;
	uint32_t to = s->box_of[tag->node];
	uint32_t from = s->box_of[s->layout.edges[tag->edge].from];
	double room = s->layout.nodes[s->layout.edges[tag->edge].from].tag_width - TAG_PAD;
	const char *title =
		tt_arena_printf(&diagram->arena, "↑ %s", diagram->boxes.data[from].title);

	if (title)
		title = tt_diagram_fit(&diagram->arena, title, room, TT_CHIP_SIZE);
	if (title && tag->count > 1)
		title = tt_arena_printf(&diagram->arena, "%s, %u more", title, tag->count - 1);
	uint32_t index = title ? tt_diagram_box(diagram, TT_BOX_TAG, s->box, title) : TT_BOX_NONE;
	if (index == TT_BOX_NONE)
		return tt_fail_nomem();
	struct tt_box *box = &diagram->boxes.data[index];
	box->same = TT_BOX_NONE;
	box->x = tag->x + x;
	box->y = tag->y + y;
	box->width = tag->width;
	box->height = s->layout.style->tag_height;
	/* where it leads to */
	box->far = diagram->boxes.data[from].kind == TT_BOX_PORT ? diagram->boxes.data[from].far
								 : from;
	struct tt_line line = make_line(s, index, to, tag->edge);
	line.count = tag->count;
	line.points = tag->points;
	line.point_count = tag->point_count;
	TT_TRY(add_line(diagram, &line));
	return add_far_lines(s, tag, index);
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

		if (edge->far && diagram->boxes.data[from].kind != TT_BOX_PORT)
			diagram->boxes.data[from].far++;
		if (!edge->point_count)
			continue;
		struct tt_line line = make_line(s, from, s->box_of[edge->to], i);
		line.points = edge->points;
		line.point_count = edge->point_count;
		TT_TRY(add_line(diagram, &line));
	}
	return TTNN_OK;
}

/* What a box is made wide for, at least. */
static double text_width(const struct tt_diagram *diagram, const struct tt_box *box)
{
	double wide = tt_diagram_text_width(box->detail, TT_DETAIL_SIZE);

	if (box->kind == TT_BOX_LABEL)
		wide = tt_diagram_text_width(box->title, TT_CHIP_SIZE);
	else if (box->kind == TT_BOX_PAGE)
		wide = tt_diagram_text_width(diagram->title, TT_HEADING_SIZE);
	else
		wide = fmax(wide, tt_diagram_text_width(box->title, TT_TITLE_SIZE));
	return fmin(wide, TT_TEXT_ROOM);
}

/* What the texts of a box take of its height. */
static double text_height(const struct tt_box *box)
{
	double lines = 1;

	if (box->kind == TT_BOX_PAGE)
		return PAGE_TITLE;
	if (box->kind == TT_BOX_LABEL) {
		for (const char *c = box->title; *c; c++)
			lines += *c == '\n';
		return lines * TT_LABEL_LINE;
	}
	return (*box->title ? TT_TITLE_LINE : 2) + (box->detail ? TT_DETAIL_LINE : 0);
}

/* Cuts texts for which there is no room. Labels are made of short ones. */
static tt_status fit_texts(struct tt_diagram *diagram, struct tt_box *box, double wide)
{
	struct tt_arena *arena = &diagram->arena;

	if (box->kind == TT_BOX_PAGE)
		diagram->title = tt_diagram_fit(arena, diagram->title, wide, TT_HEADING_SIZE);
	else if (box->kind != TT_BOX_LABEL)
		box->title = tt_diagram_fit(arena, box->title, wide, TT_TITLE_SIZE);
	if (box->detail) {
		box->detail = tt_diagram_fit(arena, box->detail, wide, TT_DETAIL_SIZE);
		if (!box->detail)
			return tt_fail_nomem();
	}
	return box->title && diagram->title ? TTNN_OK : tt_fail_nomem();
}

/* Where content has to begin so that lines from the border to its ports pass beside the title. */
static double clear_of_title(const struct scope *s, double pad)
{
	double left = INFINITY;

	for (uint32_t i = 0; i < s->layout.node_count; i++) {
		if (s->layout.nodes[i].port == TT_LAYOUT_PORT_IN)
			left = fmin(left, s->layout.nodes[i].x);
	}
	return pad + text_width(s->diagram, &s->diagram->boxes.data[s->box]) + TITLE_GAP - left;
}

/*
 * The points of lines from the n-th on, relative to the content's corner, become relative to that
 * of the box; those of ports go on to its border.
 */
static tt_status move_lines(const struct scope *s, size_t first, double x, double y)
{
	struct tt_diagram *diagram = s->diagram;
	double height = diagram->boxes.data[s->box].height;

	for (size_t i = first; i < diagram->lines.count; i++) {
		struct tt_line *line = &diagram->lines.data[i];
		struct tt_box *from = &diagram->boxes.data[line->from];
		uint32_t count = line->point_count, n = 0;
		struct tt_layout_point *moved =
			tt_arena_calloc(&diagram->arena, count + 2, sizeof(*moved));

		if (!moved)
			return tt_fail_nomem();
		if (!count)
			continue;
		if (from->kind == TT_BOX_PORT) {
			from->joined = true;
			moved[n++] = (struct tt_layout_point){line->points[0].x + x, 0};
		}
		for (uint32_t p = 0; p < count; p++)
			moved[n++] = (struct tt_layout_point){line->points[p].x + x,
							      line->points[p].y + y};
		if (diagram->boxes.data[line->to].kind == TT_BOX_PORT) {
			moved[n] = (struct tt_layout_point){moved[n - 1].x, height};
			n++;
		}
		line->points = moved;
		line->point_count = n;
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
	double wide = text_width(diagram, box), y = text_height(box);

	TT_TRY(collect_nodes(s));
	TT_TRY(collect_edges(s));
	s->layout.style = &tt_layout_default;
	TT_TRY(tt_layout_run(&s->layout, &diagram->arena));
	wide = fmax(wide, s->layout.width);
	y += 3;
	TT_TRY(place_chips(diagram, s->box, &wide, &y));
	TT_TRY(fit_texts(diagram, box, wide));
	/* Content is in the middle when the title is wider, or clear of the title. */
	double x = fmax(pad + (wide - s->layout.width) / 2, clear_of_title(s, pad));
	wide = fmax(wide, x - pad + s->layout.width);
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
	return move_lines(s, first, x, y);
}

tt_status tt_diagram_layout(struct tt_diagram *diagram)
{
	uint32_t *list, count;
	size_t bundle_count, end;
	struct tt_bundle *bundles = NULL;

	TT_TRY(tt_diagram_bundle(&bundles, &bundle_count, diagram));
	TT_TRY(tt_diagram_index(diagram));
	count = tt_diagram_list(&list, diagram);
	uint32_t *node_of =
		tt_arena_calloc(&diagram->scratch, diagram->boxes.count, sizeof(*node_of));
	/* Bundles of a scope start here in `bundles`, which is in the order of scopes. */
	size_t *at = tt_arena_calloc(&diagram->scratch, diagram->boxes.count + 1, sizeof(*at));
	if (!count || !node_of || !at)
		return tt_fail_nomem();
	end = diagram->boxes.count;
	for (size_t i = 0; i < bundle_count; i++)
		at[bundles[i].scope + 1]++;
	for (size_t i = 0; i < end; i++)
		at[i + 1] += at[i];
	for (uint32_t i = count; i-- > 0;) {
		uint32_t box = list[i];
		struct scope scope = {.diagram = diagram,
				      .box = box,
				      .node_of = node_of,
				      .bundles = bundles + at[box],
				      .bundle_count = at[box + 1] - at[box]};

		if (!tt_box_is_chip(diagram->boxes.data[box].kind) &&
		    diagram->boxes.data[box].kind != TT_BOX_PORT)
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
