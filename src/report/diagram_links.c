/* diagram_links.c: links as they are drawn: in the scope that holds both ends, equal ones as one. */
#include "report/diagram_links.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

#define LABEL_LINES 4 /* of different tensors; those that are left over are counted */
#define LABEL_TIPS 8

struct lifted {
	uint32_t scope, from, to, kind;
	uint32_t other; /* 1: in a repeated part, and of a turn that is not drawn */
	uint32_t tensor, link;
};

static int compare_lifted(const void *a, const void *b)
{
	const struct lifted *first = a, *second = b;
	const uint32_t x[] = {first->scope, first->from,   first->to,  first->kind,
			      first->other, first->tensor, first->link};
	const uint32_t y[] = {second->scope, second->from,   second->to,  second->kind,
			      second->other, second->tensor, second->link};

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

static bool in_repetition(const struct tt_diagram *diagram, uint32_t box)
{
	while (box != TT_BOX_NONE && diagram->boxes.data[box].kind != TT_BOX_REPEAT)
		box = diagram->boxes.data[box].parent;
	return box != TT_BOX_NONE;
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
	/* What a call gives back inside is its own affair. */
	if (out->kind != TT_LINK_TENSOR && b != out->to)
		return false;
	out->from = a;
	out->to = b;
	out->scope = boxes[a].parent;
	/* From one turn of a repetition to the next: not drawn. */
	return boxes[a].time < boxes[b].time;
}

/* All links that are drawn. */
static size_t lift_links(struct lifted *lifted, struct tt_diagram *diagram, const uint32_t *depth)
{
	size_t count = 0;

	for (size_t i = 0; i < diagram->links.count; i++) {
		const struct tt_link *link = &diagram->links.data[i];
		struct lifted one = {.from = resolve(diagram, link->from),
				     .to = resolve(diagram, link->to),
				     .kind = link->kind,
				     .tensor = link->tensor,
				     .link = (uint32_t)i};

		one.other = one.from != link->from || one.to != link->to;
		if (!lift(&one, diagram, depth))
			continue;
		one.other = one.other && in_repetition(diagram, one.scope);
		lifted[count++] = one;
	}
	return count;
}

/* ---- labels ------------------------------------------------------------------------------------ */

struct label_line {
	const char *text;
	uint32_t count;
};

/* Whether this is the first link of its tensor. */
static bool first_of_tensor(const struct lifted *lifted, size_t i)
{
	return i == 0 || lifted[i].tensor != lifted[i - 1].tensor;
}

/* Of links [0, count): which tensors, and how many of each sort. */
static void add_sorts(struct tt_str *out, const struct tt_diagram *diagram,
		      const struct lifted *lifted, size_t count)
{
	struct label_line lines[LABEL_LINES];
	uint32_t used = 0, more = 0;

	for (size_t i = 0; i < count; i++) {
		const char *text = diagram->links.data[lifted[i].link].text;
		uint32_t k = 0;

		if (!first_of_tensor(lifted, i))
			continue;
		text = text && *text ? text : "tensor";
		while (k < used && strcmp(lines[k].text, text) != 0)
			k++;
		if (k < used)
			lines[k].count++;
		else if (used < LABEL_LINES)
			lines[used++] = (struct label_line){text, 1};
		else
			more++;
	}
	for (uint32_t k = 0; k < used; k++) {
		tt_str_adds(out, k ? "\n" : "");
		if (lines[k].count > 1)
			tt_str_addf(out, "%u × ", lines[k].count);
		tt_str_adds(out, lines[k].text);
	}
	if (more)
		tt_str_addf(out, "\n… %u more", more);
}

static void add_tips(struct tt_str *out, const struct tt_diagram *diagram,
		     const struct lifted *lifted, size_t count)
{
	uint32_t shown = 0;

	for (size_t i = 0; i < count; i++) {
		const char *tip = diagram->links.data[lifted[i].link].tip;

		if (tip && first_of_tensor(lifted, i) && shown++ < LABEL_TIPS)
			tt_str_addf(out, "%s%s", shown > 1 ? "\n\n" : "", tip);
	}
	if (shown > LABEL_TIPS)
		tt_str_addf(out, "\n\n… %u more", shown - LABEL_TIPS);
}

/* A box on the line of a bundle, just after the one that it comes from. */
static tt_status make_label(struct tt_bundle *bundle, struct tt_diagram *diagram,
			    const struct lifted *lifted, size_t count)
{
	struct tt_str title = {0}, tip = {0};
	char *texts[2] = {NULL, NULL};

	add_sorts(&title, diagram, lifted, count);
	add_tips(&tip, diagram, lifted, count);
	if (!title.failed && !tip.failed) {
		texts[0] = tt_arena_strdup(&diagram->arena, tt_str_text(&title));
		texts[1] = tt_arena_strdup(&diagram->arena, tt_str_text(&tip));
	}
	tt_str_deinit(&title);
	tt_str_deinit(&tip);
	if (texts[0] && texts[1])
		bundle->label = tt_diagram_box(diagram, TT_BOX_LABEL, bundle->scope, texts[0]);
	if (bundle->label == TT_BOX_NONE)
		return tt_fail_nomem();
	struct tt_box *label = &diagram->boxes.data[bundle->label];
	label->time = diagram->boxes.data[bundle->from].time;
	label->tip = texts[1];
	return TTNN_OK;
}

/*
 * One bundle of links [0, count), of which the first is the most important. So many tensors as
 * `named` need no label.
 */
static tt_status make_bundle(struct tt_bundle *out, struct tt_diagram *diagram,
			     const struct lifted *lifted, size_t count, uint32_t named)
{
	size_t told = 0;

	*out = (struct tt_bundle){.scope = lifted->scope,
				  .from = lifted->from,
				  .to = lifted->to,
				  .kind = (enum tt_link_kind)lifted->kind,
				  .link = lifted->link,
				  .label = TT_BOX_NONE,
				  .enter = TT_BOX_NONE,
				  .leave = TT_BOX_NONE};
	/* Other turns have tensors of their own, which are not drawn. */
	while (told < count && lifted[told].kind == lifted->kind && !lifted[told].other)
		out->count += first_of_tensor(lifted, told++);
	if (out->kind == TT_LINK_TENSOR && out->count > 1 && out->count != named)
		return make_label(out, diagram, lifted, told);
	out->count = out->count && out->count == named ? named : 1;
	return TTNN_OK;
}

/* ---- into repetitions, and out of them --------------------------------------------------- */

struct bundles {
	struct tt_diagram *diagram;
	TT_VEC(struct tt_bundle) list;
};

static tt_status add_bundles(struct bundles *bundles, struct lifted *lifted, size_t count,
			     uint32_t named);

/* A new port in a repetition, for the first of these links. */
static uint32_t make_port(struct tt_diagram *diagram, uint32_t scope, const struct lifted *lifted)
{
	const struct tt_link *link = &diagram->links.data[lifted->link];
	uint32_t port =
		tt_diagram_box(diagram, TT_BOX_PORT, scope, diagram->boxes.data[link->from].title);

	if (port != TT_BOX_NONE) {
		diagram->boxes.data[port].time = scope == lifted->to ? 0 : UINT32_MAX;
		diagram->boxes.data[port].far = resolve(diagram, link->from);
	}
	return port;
}

/*
 * Tensors of links [0, count), which are those of the bundle, go on inside of the repetition at one
 * of its ends: between a new port and each of the boxes that take or give them there. As deep as
 * repetitions are nested.
 */
static tt_status pass_border(uint32_t *port, struct bundles *bundles,
			     const struct tt_bundle *bundle, const struct lifted *lifted,
			     size_t count)
{
	struct tt_diagram *diagram = bundles->diagram;
	bool in = port == &bundle->enter;
	uint32_t scope = in ? bundle->to : bundle->from;
	struct lifted *inner = tt_arena_calloc(&diagram->scratch, count, sizeof(*inner));
	size_t kept = 0;

	*port = make_port(diagram, scope, lifted);
	if (!inner || *port == TT_BOX_NONE)
		return tt_fail_nomem();
	for (; kept < count && lifted[kept].kind == TT_LINK_TENSOR; kept++) {
		const struct tt_link *link = &diagram->links.data[lifted[kept].link];
		uint32_t from = resolve(diagram, link->from), to = resolve(diagram, link->to);
		uint32_t end = in ? to : from;

		inner[kept] = lifted[kept];
		inner[kept].other = from != link->from || to != link->to;
		inner[kept].scope = scope;
		while (diagram->boxes.data[end].parent != scope)
			end = diagram->boxes.data[end].parent;
		inner[kept].from = in ? *port : end;
		inner[kept].to = in ? end : *port;
	}
	return add_bundles(bundles, inner, kept, bundle->count);
}

static int compare_bundles(const void *a, const void *b)
{
	const struct tt_bundle *first = a, *second = b;

	if (first->scope != second->scope)
		return first->scope < second->scope ? -1 : 1;
	if (first->from != second->from)
		return first->from < second->from ? -1 : 1;
	return first->to < second->to ? -1 : first->to > second->to;
}

/* Bundles of these links, in any order. */
static tt_status add_bundles(struct bundles *bundles, struct lifted *lifted, size_t count,
			     uint32_t named)
{
	struct tt_diagram *diagram = bundles->diagram;

	qsort(lifted, count, sizeof(*lifted), compare_lifted);
	for (size_t i = 0, end; i < count; i = end) {
		struct tt_bundle bundle;

		for (end = i + 1;
		     end < count && lifted[end].scope == lifted[i].scope &&
		     lifted[end].from == lifted[i].from && lifted[end].to == lifted[i].to;
		     end++)
			;
		TT_TRY(make_bundle(&bundle, diagram, lifted + i, end - i, named));
		bool tensors = bundle.kind == TT_LINK_TENSOR;
		if (tensors && diagram->boxes.data[bundle.to].kind == TT_BOX_REPEAT)
			TT_TRY(pass_border(&bundle.enter, bundles, &bundle, lifted + i, end - i));
		if (tensors && diagram->boxes.data[bundle.from].kind == TT_BOX_REPEAT)
			TT_TRY(pass_border(&bundle.leave, bundles, &bundle, lifted + i, end - i));
		struct tt_bundle *slot = TT_VEC_PUSH(&bundles->list);
		if (!slot)
			return tt_fail_nomem();
		*slot = bundle;
	}
	return TTNN_OK;
}

tt_status tt_diagram_bundle(struct tt_bundle **out, size_t *count, struct tt_diagram *diagram)
{
	struct bundles bundles = {.diagram = diagram};
	size_t most = diagram->links.count + 1, links;
	uint32_t *list;

	TT_TRY(tt_diagram_index(diagram));
	uint32_t boxes = tt_diagram_list(&list, diagram);
	uint32_t *depth = tt_arena_calloc(&diagram->scratch, diagram->boxes.count, sizeof(*depth));
	struct lifted *lifted = tt_arena_calloc(&diagram->scratch, most, sizeof(*lifted));
	if (!boxes || !depth || !lifted)
		return tt_fail_nomem();
	depth[0] = 1;
	for (uint32_t i = 1; i < boxes; i++)
		depth[list[i]] = depth[diagram->boxes.data[list[i]].parent] + 1;
	links = lift_links(lifted, diagram, depth);
	tt_status status = add_bundles(&bundles, lifted, links, 0);
	*count = bundles.list.count;
	*out = tt_arena_calloc(&diagram->arena, *count + 1, sizeof(**out));
	if (status == TTNN_OK && !*out)
		status = tt_fail_nomem();
	if (status == TTNN_OK && *count) {
		memcpy(*out, bundles.list.data, *count * sizeof(**out));
		qsort(*out, *count, sizeof(**out), compare_bundles);
	}
	TT_VEC_DEINIT(&bundles.list);
	return status;
}
