/* svg.c: laid-out diagrams as SVG. */
#include "report/svg.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/utf8.h"
#include "trace/session.h"

#define LEGEND_LINE 22.0
#define LEGEND_GAP 16.0
#define FLUSH 65536

/* What kinds look like. */
static const struct {
	const char *name, *words, *fill, *line;
} kinds[] = {
#define X(constant, name, words, fill, line) {name, words, fill, line},
	TT_BOX_KINDS(X)
#undef X
};

struct svg {
	struct tt_file_out *file; /* NULL: all stays in the text */
	struct tt_str *text;      /* not yet written */
	const struct tt_diagram *diagram;
	double width, height;
};

static void flush(struct svg *svg, size_t from)
{
	if (svg->file && svg->text->length >= from && svg->text->length > 0 && !svg->text->failed) {
		tt_file_write(svg->file, svg->text->data, svg->text->length);
		tt_str_clear(svg->text);
	}
}

/* ---- texts --------------------------------------------------------------------------------------- */

static void put(struct svg *svg, const char *text)
{
	tt_str_adds(svg->text, text);
}

/* A coordinate with one digit behind the point, whatever the locale. */
static void put_number(struct svg *svg, const char *before, double value)
{
	long tenths = lround(value * 10);
	const char *sign = tenths < 0 ? "-" : "";

	tenths = labs(tenths);
	if (tenths % 10)
		tt_str_addf(svg->text, "%s%s%ld.%ld", before, sign, tenths / 10, tenths % 10);
	else
		tt_str_addf(svg->text, "%s%s%ld", before, sign, tenths / 10);
}

/* Whether XML 1.0 has the character. */
static bool xml_has(uint32_t code)
{
	return code == '\t' || code == '\n' || (code >= 0x20 && code < 0xd800) ||
	       (code >= 0xe000 && code < 0xfffe) || code >= 0x10000;
}

static void put_escaped_part(struct svg *svg, const char *text, size_t length)
{
	for (size_t i = 0; i < length;) {
		uint32_t code;
		char bytes[4];

		i += tt_utf8_get(&code, text + i, length - i);
		switch (code) {
		case '&':
			put(svg, "&amp;");
			break;
		case '<':
			put(svg, "&lt;");
			break;
		case '>':
			put(svg, "&gt;");
			break;
		case '"':
			put(svg, "&quot;");
			break;
		default:
			tt_str_add(svg->text, bytes,
				   tt_utf8_put(bytes, xml_has(code) ? code : TT_UTF8_BAD));
		}
	}
}

static void put_escaped(struct svg *svg, const char *text)
{
	put_escaped_part(svg, text, text ? strlen(text) : 0);
}

static void put_tip(struct svg *svg, const char *tip)
{
	if (!tip)
		return;
	put(svg, "<title>");
	put_escaped(svg, tip);
	put(svg, "</title>");
}

static void put_part(struct svg *svg, const char *class, struct tt_layout_point at,
		     const char *text, size_t length)
{
	tt_str_addf(svg->text, "<text class=\"%s\"", class);
	put_number(svg, " x=\"", at.x);
	put_number(svg, "\" y=\"", at.y);
	put(svg, "\">");
	put_escaped_part(svg, text, length);
	put(svg, "</text>");
}

static void put_text(struct svg *svg, const char *class, double x, double y, const char *text)
{
	put_part(svg, class, (struct tt_layout_point){x, y}, text, strlen(text));
}

static void put_rect(struct svg *svg, const struct tt_box *box, double round)
{
	put_number(svg, "<rect x=\"", box->x);
	put_number(svg, "\" y=\"", box->y);
	put_number(svg, "\" width=\"", box->width);
	put_number(svg, "\" height=\"", box->height);
	put_number(svg, "\" rx=\"", round);
	put(svg, "\"/>");
}

/* ---- parts ----------------------------------------------------------------------------------------- */

static void put_head(struct svg *svg)
{
	put_number(svg,
		   "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		   "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"",
		   svg->width);
	put_number(svg, "\" height=\"", svg->height);
	put_number(svg, "\" viewBox=\"0 0 ", svg->width);
	put_number(svg, " ", svg->height);
	put(svg,
	    "\">\n<style>\n"
	    "text{font-family:\"DejaVu Sans Mono\",Menlo,Consolas,\"Liberation Mono\",monospace;"
	    "fill:#1b1b1b;white-space:pre}\n"
	    ".t{font-size:11px;font-weight:bold}.d{font-size:9.5px;fill:#444}"
	    ".c{font-size:9px}.h{font-size:15px;font-weight:bold}\n"
	    "rect{stroke-width:1}path{fill:none;stroke:#555;stroke-width:1.1}\n"
	    ".last{stroke:#9a9a9a;stroke-dasharray:3 3}.label>rect{stroke-width:.8}\n"
	    "path:hover{stroke:#d10;stroke-width:2.5}g:hover>rect{stroke-width:2.2}\n"
	    ".rep>rect,.free>rect,.rel>rect{stroke-dasharray:4 3}.tag text{fill:#555}a{cursor:pointer}\n"
	    ".bad>rect{stroke:#b3261e;stroke-width:2}\n");
	for (size_t i = 0; i < TT_BOX_KIND_COUNT; i++)
		tt_str_addf(svg->text, ".%s>rect{fill:%s;stroke:%s}\n", kinds[i].name,
			    kinds[i].fill, kinds[i].line);
	put(svg, "</style>\n<defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"7.5\" refY=\"4\" "
		 "markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\"><path d=\"M0 1L8 4L0 7Z\" "
		 "style=\"fill:#555;stroke:none\"/></marker></defs>\n");
	tt_str_addf(svg->text, "<g class=\"page\"><rect width=\"100%%\" height=\"100%%\"/></g>\n");
}

/* The kinds that occur, each with its colours. */
static void put_legend(struct svg *svg, double y)
{
	bool seen[TT_BOX_KIND_COUNT] = {false};
	double x = 20;

	for (size_t i = 0; i < svg->diagram->boxes.count; i++) {
		if (!svg->diagram->boxes.data[i].gone)
			seen[svg->diagram->boxes.data[i].kind] = true;
	}
	put(svg, "<g id=\"legend\">\n");
	for (size_t i = 0; i < TT_BOX_KIND_COUNT; i++) {
		struct tt_box sample = {.x = x, .y = y, .width = 16, .height = 11};

		if (!seen[i] || !*kinds[i].words)
			continue;
		tt_str_addf(svg->text, "<g class=\"%s\">", kinds[i].name);
		put_rect(svg, &sample, 2);
		put(svg, "</g>");
		put_text(svg, "d", x + 21, y + 9, kinds[i].words);
		put(svg, "\n");
		x += 21 + tt_diagram_text_width(kinds[i].words, TT_DETAIL_SIZE) + LEGEND_GAP;
	}
	put(svg, "</g>\n");
}

static double legend_width(const struct tt_diagram *diagram)
{
	bool seen[TT_BOX_KIND_COUNT] = {false};
	double width = 40;

	for (size_t i = 0; i < diagram->boxes.count; i++) {
		const struct tt_box *box = &diagram->boxes.data[i];

		if (!box->gone && !seen[box->kind] && *kinds[box->kind].words)
			width += 21 + LEGEND_GAP +
				 tt_diagram_text_width(kinds[box->kind].words, TT_DETAIL_SIZE);
		seen[box->kind] |= !box->gone;
	}
	return width;
}

static void put_chip(struct svg *svg, const struct tt_box *box)
{
	char times[32];

	put_rect(svg, box, 3);
	put_text(svg, "c", box->x + 4, box->y + 9.5, box->title);
	if (box->times > 1) {
		snprintf(times, sizeof(times), "×%u", box->times);
		put_text(svg, "c", box->x + 4 + tt_diagram_text_width(box->title, TT_CHIP_SIZE) + 3,
			 box->y + 9.5, times);
	}
}

static void put_tag(struct svg *svg, const struct tt_box *box)
{
	put_rect(svg, box, 8);
	put_text(svg, "c", box->x + 7, box->y + 11.5, box->title);
}

/* A line of text below the other. */
static void put_label(struct svg *svg, const struct tt_box *box)
{
	double y = box->y + 10;

	put_rect(svg, box, 6);
	for (const char *line = box->title, *end; line; line = end ? end + 1 : NULL) {
		end = strchr(line, '\n');
		put_part(svg, "c", (struct tt_layout_point){box->x + TT_BOX_PAD, y}, line,
			 end ? (size_t)(end - line) : strlen(line));
		y += TT_LABEL_LINE;
	}
}

static void put_texts(struct svg *svg, const struct tt_box *box)
{
	double y = box->y + (*box->title ? 13 : 0);

	if (*box->title)
		put_text(svg, "t", box->x + TT_BOX_PAD, y, box->title);
	if (box->detail)
		put_text(svg, "d", box->x + TT_BOX_PAD, y + 12, box->detail);
}

static void put_box(struct svg *svg, uint32_t index)
{
	const struct tt_box *box = &svg->diagram->boxes.data[index];

	if (box->kind == TT_BOX_PORT)
		return;
	/* A tag leads to where its line would come from. */
	if (box->kind == TT_BOX_TAG)
		tt_str_addf(svg->text, "<a href=\"#b%u\">", box->far);
	tt_str_addf(svg->text, "<g id=\"b%u\" class=\"%s%s\">", index, kinds[box->kind].name,
		    box->failed ? " bad" : "");
	put_tip(svg, box->tip);
	if (box->kind == TT_BOX_TAG) {
		put_tag(svg, box);
	} else if (box->kind == TT_BOX_LABEL) {
		put_label(svg, box);
	} else if (tt_box_is_chip(box->kind)) {
		put_chip(svg, box);
	} else {
		put_rect(svg, box, box->kind == TT_BOX_TENSOR ? 9 : 4);
		put_texts(svg, box);
		if (box->far) {
			/* A mark at the corner: more leaves here than the lines show. */
			put_number(svg, "<path d=\"M", box->x + box->width - 9);
			put_number(svg, " ", box->y + box->height - 2);
			put(svg, "h7v-7z\" style=\"fill:#888;stroke:none\"/>");
		}
	}
	put(svg, box->kind == TT_BOX_TAG ? "</g></a>\n" : "</g>\n");
	flush(svg, FLUSH);
}

/* The way of a line, from its start. */
static void put_way(struct svg *svg, const struct tt_line *line)
{
	const struct tt_box *scope = &svg->diagram->boxes.data[line->scope];

	for (uint32_t i = 0; i < line->point_count; i++) {
		const struct tt_layout_point *p = &line->points[i], *last = i ? p - 1 : NULL;

		if (!last) {
			put(svg, "M");
		} else if (last->x == p->x || last->y == p->y) {
			put(svg, "L");
		} else {
			double middle = (last->y + p->y) / 2 + scope->y;

			put_number(svg, "C", last->x + scope->x);
			put_number(svg, " ", middle);
			put_number(svg, " ", p->x + scope->x);
			put_number(svg, " ", middle);
			put(svg, " ");
		}
		put_number(svg, "", p->x + scope->x);
		put_number(svg, " ", p->y + scope->y);
	}
}

/* What the tooltip of a line says about one of its ends. */
static void put_end(struct svg *svg, uint32_t index, uint32_t otherwise)
{
	const struct tt_box *box = &svg->diagram->boxes.data[index];

	if (box->kind == TT_BOX_LABEL || box->kind == TT_BOX_PORT)
		box = &svg->diagram->boxes.data[otherwise];
	put_escaped(svg, *box->title ? box->title : box->detail);
}

static void put_line(struct svg *svg, const struct tt_line *line)
{
	const struct tt_diagram *diagram = svg->diagram;

	if (line->point_count < 2)
		return;
	tt_str_addf(svg->text, "<path%s%s d=\"", line->dashed ? " class=\"last\"" : "",
		    line->open || line->dashed ? "" : " marker-end=\"url(#arrow)\"");
	put_way(svg, line);
	put(svg, "\"><title>");
	put_end(svg, line->from, diagram->links.data[line->link].from);
	put(svg, " → ");
	put_end(svg, line->to, diagram->links.data[line->link].to);
	if (line->count > 1)
		tt_str_addf(svg->text, "\n%u tensors, the first:", line->count);
	if (diagram->links.data[line->link].tip)
		put(svg, "\n");
	put_escaped(svg, diagram->links.data[line->link].tip);
	put(svg, "</title></path>\n");
	flush(svg, FLUSH);
}

/* Whether a box and all that hold it are drawn. Those that hold others come before them or are few. */
static bool box_drawn(const struct tt_diagram *diagram, uint32_t box)
{
	for (; box != TT_BOX_NONE; box = diagram->boxes.data[box].parent) {
		if (diagram->boxes.data[box].gone)
			return false;
	}
	return true;
}

/* Outer boxes before inner ones, level by level: a stack of those whose children are to come. */
static tt_status put_boxes(struct svg *svg)
{
	const struct tt_diagram *diagram = svg->diagram;
	size_t count = diagram->boxes.count, listed = 0;
	uint32_t *depth = tt_calloc(count + 1, sizeof(*depth));
	uint32_t *order = tt_calloc(count + 1, sizeof(*order));
	uint32_t deepest = 0;

	for (size_t i = 1; depth && i < count; i++) {
		for (uint32_t box = (uint32_t)i; box; box = diagram->boxes.data[box].parent)
			depth[i]++;
		deepest = depth[i] > deepest ? depth[i] : deepest;
		if (!box_drawn(diagram, (uint32_t)i))
			depth[i] = 0;
	}
	for (uint32_t level = 1; depth && order && level <= deepest; level++) {
		for (size_t i = 1; i < count; i++) {
			if (depth[i] == level)
				order[listed++] = (uint32_t)i;
		}
	}
	tt_status status = depth && order ? TTNN_OK : tt_fail_nomem();
	for (size_t i = 0; i < listed && status == TTNN_OK; i++)
		put_box(svg, order[i]);
	tt_free(depth);
	tt_free(order);
	return status;
}

/* Writes a diagram that is laid out: to the text, and from there to the file if there is one. */
static tt_status write_diagram(struct tt_str *text, struct tt_file_out *file,
			       const struct tt_diagram *diagram)
{
	const struct tt_box *page = &diagram->boxes.data[0];
	struct svg svg = {.file = file,
			  .text = text,
			  .diagram = diagram,
			  .width = fmax(page->width, legend_width(diagram)),
			  .height = page->height + LEGEND_LINE + 6};

	put_head(&svg);
	put_text(&svg, "h", 20, 25, diagram->title);
	put(&svg, "\n");
	tt_status status = put_boxes(&svg);
	for (size_t i = 0; i < diagram->lines.count; i++)
		put_line(&svg, &diagram->lines.data[i]);
	put_legend(&svg, page->height + 2);
	put(&svg, "</svg>\n");
	flush(&svg, 0);
	return status == TTNN_OK ? tt_str_status(text) : status;
}

/* A graph as a diagram in which everything has its place. */
static tt_status draw_as(struct tt_diagram *out, const struct tt_graph *graph, const char *title,
			 const struct tt_diagram_options *options)
{
	tt_status status;

	TT_TRY(tt_diagram_init(out, title));
	status = tt_diagram_calls(out, graph, options);
	if (status == TTNN_OK)
		status = tt_diagram_layout(out);
	if (status != TTNN_OK)
		tt_diagram_deinit(out);
	return status;
}

/* ---- large pictures ---------------------------------------------------------------------------------- */

/* What programs still show, and people still find their way in: 20 megapixels. */
#define PIXELS_MAX 20e6
/* Redrawn with fewer calls, so often at most. */
#define CUTS 16

static double pixels_of(const struct tt_diagram *diagram)
{
	const struct tt_box *page = &diagram->boxes.data[0];

	return fmax(page->width, legend_width(diagram)) * (page->height + LEGEND_LINE + 6);
}

/* How deep calls are nested, and how many there are outermost. */
static void measure(uint32_t *deepest, size_t *calls, const struct tt_graph *graph)
{
	uint32_t depth = 0;

	*deepest = 0;
	*calls = 0;
	for (size_t i = 0; i < graph->count; i++) {
		if (graph->nodes[i].type == TT_GRAPH_FUNCTION_END && depth)
			depth--;
		if (graph->nodes[i].type != TT_GRAPH_FUNCTION_START)
			continue;
		*calls += !depth++;
		*deepest = depth > *deepest ? depth : *deepest;
	}
}

/* The title and a warning say what is not in the picture. */
static tt_status say_part(struct tt_diagram *diagram, const struct tt_diagram_options *how,
			  uint32_t levels, size_t calls)
{
	const char *title = diagram->title;
	char part[128] = "";
	int length = 0;

	if (!how->flow && how->levels < levels)
		length = snprintf(part, sizeof(part), "levels 1 to %u of %u", how->levels, levels);
	if (how->calls)
		snprintf(
			part + length, sizeof(part) - (size_t)length,
			"%scalls 1 to %zu of %zu (--first %zu draws those after them of a trace, --levels 1 all)",
			length ? ", " : "", how->calls, calls, how->calls + 1);
	tt_log(TT_LOG_WARN, "%s: the whole picture has more than 20 megapixels; drawn: %s", title,
	       part);
	diagram->title = tt_arena_printf(&diagram->arena, "%s: %s", title, part);
	return diagram->title ? TTNN_OK : tt_fail_nomem();
}

/* In place of one that is too large: with fewer levels of calls, then with fewer calls. */
static tt_status draw_part(struct tt_diagram *out, const struct tt_graph *graph, const char *title,
			   const struct tt_diagram_options *options)
{
	struct tt_diagram_options how = *options;
	double pixels = pixels_of(out);
	uint32_t levels;
	size_t calls;

	measure(&levels, &calls, graph);
	how.levels = options->flow ? 0 : levels;
	for (unsigned cuts = 0; pixels > PIXELS_MAX && (how.levels > 1 || cuts < CUTS);) {
		if (how.levels > 1) {
			how.levels--;
		} else {
			/* Wide ones grow with the square of their calls. */
			double share = sqrt(0.9 * PIXELS_MAX / pixels);
			size_t before = how.calls ? how.calls : calls;

			how.calls = before > 1 ? (size_t)fmax(1, share * (double)before) : 1;
			cuts++;
		}
		tt_diagram_deinit(out);
		TT_TRY(draw_as(out, graph, title, &how));
		pixels = pixels_of(out);
	}
	return say_part(out, &how, levels, calls);
}

/* The same; one that is too large is drawn in part, unless somebody asked for all of it. */
static tt_status draw(struct tt_diagram *out, const struct tt_graph *graph, const char *title,
		      const struct tt_diagram_options *options)
{
	tt_status status;

	TT_TRY(draw_as(out, graph, title, options));
	if (pixels_of(out) <= PIXELS_MAX || options->levels || options->no_fold)
		return TTNN_OK;
	status = draw_part(out, graph, title, options);
	if (status != TTNN_OK)
		tt_diagram_deinit(out);
	return status;
}

tt_status tt_svg_text(struct tt_str *out, const struct tt_graph *graph, const char *title,
		      const struct tt_diagram_options *options)
{
	struct tt_diagram diagram;
	tt_status status;

	TT_TRY(draw(&diagram, graph, title, options));
	status = write_diagram(out, NULL, &diagram);
	tt_diagram_deinit(&diagram);
	return status;
}

enum ttnn_status ttnn_graph_svg(char **out, const ttnn_graph *graph, const char *title)
{
	struct tt_str text = {0};
	tt_status status = tt_svg_text(&text, graph, title, &(struct tt_diagram_options){0});

	if (status == TTNN_OK)
		status = tt_str_take(out, &text);
	tt_str_deinit(&text);
	return status;
}

tt_status tt_svg_save(const char *path, const struct tt_graph *graph, const char *title,
		      const struct tt_diagram_options *options)
{
	struct tt_diagram diagram;
	struct tt_file_out *file = NULL;
	struct tt_str text = {0};
	tt_status status;

	TT_TRY(draw(&diagram, graph, title, options));
	status = tt_file_create(&file, path);
	if (status == TTNN_OK)
		status = write_diagram(&text, file, &diagram);
	if (status == TTNN_OK)
		status = tt_file_commit(file);
	else
		tt_file_discard(file);
	tt_str_deinit(&text);
	tt_diagram_deinit(&diagram);
	return status;
}

/* The name of a file without folders, ".gz" and its last suffix: x.json and x.ttrace are two pictures. */
static void add_stem(struct tt_str *out, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	size_t length = tt_length_without(name, strlen(name), ".gz");
	const char *dot;

	dot = tt_is_trace(path) ? NULL : memrchr(name, '.', length);
	tt_str_add(out, name, dot && dot > name ? (size_t)(dot - name) : length);
}

tt_status tt_svg_report(uint64_t *count, const char *folder, const char *file,
			const struct tt_graph *graph)
{
	struct tt_str name = {0}, path = {0};
	tt_status status = TTNN_OK;

	if (mkdir(folder, 0777) != 0 && errno != EEXIST)
		return tt_fail(TTNN_IO, "%s: cannot make the folder: %s", folder, strerror(errno));
	add_stem(&name, file);
	for (int flow = 0; flow < 2 && status == TTNN_OK; flow++) {
		tt_str_clear(&path);
		tt_str_addf(&path, "%s/%s%s.svg", folder, tt_str_text(&name), flow ? ".flow" : "");
		status = name.failed ? tt_fail_nomem() : tt_str_status(&path);
		if (status == TTNN_OK)
			status = tt_svg_save(tt_str_text(&path), graph, tt_str_text(&name),
					     &(struct tt_diagram_options){.flow = flow});
		*count += status == TTNN_OK;
	}
	tt_str_deinit(&name);
	tt_str_deinit(&path);
	return status;
}
