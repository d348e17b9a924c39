/* Pictures of graphs: well-formed, nothing overlaps, repeated layers once, hostile names harmless. */
#include "test.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/str.h"
#include "formats/svg_lines.h"
#include "report/svg.h"

/* ---- graphs to draw ------------------------------------------------------------------------------------ */

struct maker {
	struct tt_str json;
	unsigned count, tensor; /* nodes; the last tensor's node */
};

/* Appends a node; `params` are the members of its object. */
static unsigned node(struct maker *m, const char *type, const char *params, const char *connections,
		     unsigned level)
{
	tt_str_addf(&m->json,
		    "%s{\"counter\":%u,\"node_type\":\"%s\",\"params\":{%s},\"connections\":[%s],"
		    "\"arguments\":[],\"input_tensors\":[],\"stacking_level\":%u}",
		    m->count ? "," : "[", m->count, type, params, connections, level);
	return m->count++;
}

/* A tensor is mentioned before the call that takes it, `ahead` nodes further. */
static void mention(struct maker *m, unsigned tensor, unsigned width, unsigned ahead)
{
	char params[400], connections[32];

	snprintf(params, sizeof(params),
		 "\"tensor_id\":%u,\"shape\":\"Shape([1, %u])\",\"dtype\":\"DataType::BFLOAT16\"",
		 tensor, width);
	snprintf(connections, sizeof(connections), "%u", m->count + ahead);
	node(m, "tensor", params, connections, 1);
}

/* A call that takes tensor `input` and gives a new one, mentioned after it; allocates L1. */
static void call(struct maker *m, const char *name, unsigned input, unsigned width)
{
	char params[400], connections[32];

	mention(m, input, width, 1);
	snprintf(params, sizeof(params), "\"name\":\"%s\",\"inputs\":\"1\"", name);
	node(m, "function_start", params, "", 1);
	node(m, "circular_buffer_allocate", "\"size\":4096,\"address\":100", "", 1);
	node(m, "circular_buffer_allocate", "\"size\":4096,\"address\":4196", "", 1);
	node(m, "buffer_allocate", "\"size\":24576,\"type\":\"L1\",\"address\":9", "", 1);
	snprintf(connections, sizeof(connections), "%u", m->count + 1);
	node(m, "function_end", params, connections, 1);
	m->tensor++;
	snprintf(params, sizeof(params), "\"tensor_id\":%u,\"shape\":\"Shape([1, %u])\"", m->tensor,
		 width);
	node(m, "tensor", params, "", 0);
}

/* The buffer of a tensor's node, which is to come. */
static void buffer(struct maker *m, unsigned tensor)
{
	char connections[32];

	snprintf(connections, sizeof(connections), "%u", tensor);
	node(m, "buffer", "\"size\":4096,\"type\":\"DRAM\"", connections, 1);
}

static unsigned tensor(struct maker *m, unsigned width)
{
	char params[100];

	snprintf(params, sizeof(params), "\"tensor_id\":%u,\"shape\":\"Shape([1, %u])\"",
		 ++m->tensor, width);
	return node(m, "tensor", params, "", 0);
}

/* Memory is freed that belongs to a tensor of apply(): its buffer stands before the call's end. */
static void release(struct maker *m, unsigned given)
{
	char connections[32];

	snprintf(connections, sizeof(connections), "%u", given - 2);
	node(m, "buffer_deallocate", "\"size\":4096,\"type\":\"DRAM\"", connections, 1);
}

static void start(struct maker *m, const char *name, const char *inputs)
{
	tt_str_addf(
		&m->json,
		"%s{\"counter\":%u,\"node_type\":\"function_start\",\"params\":{\"name\":\"%s\"},"
		"\"connections\":[],\"arguments\":[],\"input_tensors\":[%s],\"stacking_level\":1}",
		m->count ? "," : "[", m->count, name, inputs);
	m->count++;
}

/* A call that takes these nodes of tensors ("3, 7") and gives a new one in a buffer: its node. */
static unsigned apply(struct maker *m, const char *name, const char *inputs)
{
	char params[400], connections[32];

	start(m, name, inputs);
	buffer(m, m->count + 2);
	snprintf(params, sizeof(params), "\"name\":\"%s\"", name);
	snprintf(connections, sizeof(connections), "%u", m->count + 1);
	node(m, "function_end", params, connections, 1);
	return tensor(m, 32);
}

/* The same of one input. */
static unsigned apply_to(struct maker *m, const char *name, unsigned input)
{
	char inputs[32];

	snprintf(inputs, sizeof(inputs), "%u", input);
	return apply(m, name, inputs);
}

/* A call that gives a tensor back. */
static void deallocate(struct maker *m, const char *name, unsigned given)
{
	char params[100], inputs[32];

	snprintf(inputs, sizeof(inputs), "%u", given);
	snprintf(params, sizeof(params), "\"name\":\"%s\"", name);
	start(m, name, inputs);
	release(m, given);
	node(m, "function_end", params, "", 1);
}

static tt_status draw(char **svg, size_t *size, struct maker *m,
		      const struct tt_diagram_options *options)
{
	struct tt_graph graph = {0};
	const char *path = test_path("picture.svg");
	tt_status status;

	tt_str_adds(&m->json, "]");
	status = tt_str_status(&m->json);
	if (status == TTNN_OK)
		status = tt_graph_parse(&graph, tt_str_text(&m->json), m->json.length, "graph");
	if (status == TTNN_OK)
		status = tt_svg_save(path, &graph, "a <picture>", options);
	if (status == TTNN_OK)
		status = tt_file_read(svg, size, path);
	tt_graph_deinit(&graph);
	tt_str_deinit(&m->json);
	return status;
}

/* ---- looking at pictures --------------------------------------------------------------------------------- */

static size_t count_of(const char *text, const char *part)
{
	size_t count = 0;

	for (; (text = strstr(text, part)); text += strlen(part))
		count++;
	return count;
}

/* Elements are closed in order, texts hold no bare "<" or "&", all is UTF-8 without control bytes. */
static bool well_formed(const char *svg)
{
	char open[64][16];
	size_t depth = 0;

	for (const char *p = svg; *p; p++) {
		if ((unsigned char)*p < 0x20 && *p != '\n' && *p != '\t')
			return false;
		if (*p == '&' && strncmp(p, "&amp;", 5) != 0 && strncmp(p, "&lt;", 4) != 0 &&
		    strncmp(p, "&gt;", 4) != 0 && strncmp(p, "&quot;", 6) != 0)
			return false;
		if (*p != '<' || p[1] == '?')
			continue;
		bool close = p[1] == '/';
		const char *name = p + 1 + close, *end = strchr(p, '>');
		size_t length = strcspn(name, " />");

		if (!end || length == 0 || length > 15 || depth > 60)
			return false;
		if (close) {
			if (!depth || strlen(open[depth - 1]) != length ||
			    strncmp(open[--depth], name, length) != 0)
				return false;
		} else if (end[-1] != '/') {
			snprintf(open[depth++], sizeof(open[0]), "%.*s", (int)length, name);
		}
		p = end;
	}
	return depth == 0;
}

/* The box that a text stands in, the first of those that say this. */
static struct rect box_of(const char *svg, const char *text)
{
	const char *found = strstr(svg, text), *p = found;
	struct rect r = {0};

	CHECK(found);
	while (p && p > svg && strncmp(p, "<rect x=", 8) != 0)
		p--;
	if (p && p > svg)
		read_rects(&r, 1, p);
	return r;
}

/* Whether the box of one text stands below that of another. */
static bool below(const char *svg, const char *lower, const char *upper)
{
	struct rect low = box_of(svg, lower), high = box_of(svg, upper);

	return low.y >= high.y + high.height && high.height > 0;
}

/* Pairs that intersect and where neither holds the other. */
static size_t count_overlaps(const char *svg, size_t *boxes)
{
	enum { MOST = 20000 };
	struct rect *rects = malloc(sizeof(*rects) * MOST);
	size_t count = rects ? read_rects(rects, MOST, svg) : 0, overlaps = 0;

	for (size_t i = 0; i < count; i++) {
		for (size_t j = i + 1; j < count; j++) {
			const struct rect *a = &rects[i], *b = &rects[j];

			overlaps += a->x < b->x + b->width && b->x < a->x + a->width &&
				    a->y < b->y + b->height && b->y < a->y + a->height &&
				    !holds(a, b) && !holds(b, a);
		}
	}
	free(rects);
	*boxes = count;
	return overlaps;
}

/* Boxes on the page that begin, with room for a word, in the first screen at scale 1. */
static size_t in_first_screen(const char *svg)
{
	struct rect rects[200];
	size_t count = read_rects(rects, TT_COUNT(rects), svg), seen = 0;

	/* The first is the page. */
	for (size_t i = 1; i < count; i++)
		seen += rects[i].x + 60 < 1280 && rects[i].y + 15 < 800;
	return seen;
}

static void check_picture(const char *svg)
{
	size_t boxes;

	CHECK(in_first_screen(svg));
	CHECK(well_formed(svg));
	CHECK_INT(count_overlaps(svg, &boxes), 0);
	CHECK(boxes > 0);
}

/* ---- tests ------------------------------------------------------------------------------------------------- */

TEST(a_small_graph_shows_everything)
{
	struct maker m = {.tensor = 100};
	char *svg = NULL;
	size_t size;

	call(&m, "ttnn::relu", 7, 32);
	call(&m, "ttnn::exp", 101, 32);
	CHECK_OK(draw(&svg, &size, &m, &(struct tt_diagram_options){0}));
	if (!svg)
		return;
	check_picture(svg);
	CHECK(strstr(svg, "a &lt;picture&gt;"));
	CHECK(strstr(svg, ">ttnn::relu<") && strstr(svg, ">ttnn::exp<"));
	CHECK(strstr(svg, "→ [1, 32]"));
	CHECK(strstr(svg, ">tensor 7<") && strstr(svg, ">[1, 32] BFLOAT16<"));
	CHECK(!strstr(svg, ">tensor 101<")); /* relu gives it: a line */
	CHECK(strstr(svg, ">CB 4 KiB<") && strstr(svg, ">×2<") && strstr(svg, ">L1 24 KiB<"));
	CHECK_INT(count_of(svg, "marker-end"), 2);
	CHECK(strstr(svg, "<title>tensor 7 → ttnn::relu"));
	CHECK(strstr(svg, "<title>ttnn::relu → ttnn::exp"));
	CHECK(strstr(svg,
		     "<title>circular_buffer_allocate, node 2\nsize: 4096\naddress: 100</title>"));
	CHECK(strstr(svg, "id=\"legend\"") && strstr(svg, ">memory of the program<"));
	CHECK(!strstr(svg, ">repeated<"));
	tt_free(svg);
}

/* The levelized graph: no memory in it. */
TEST(flow_has_no_memory)
{
	struct maker m = {.tensor = 100};
	char *svg = NULL;
	size_t size;

	call(&m, "ttnn::relu", 7, 32);
	call(&m, "ttnn::exp", 101, 32);
	CHECK_OK(draw(&svg, &size, &m, &(struct tt_diagram_options){.flow = true}));
	if (!svg)
		return;
	check_picture(svg);
	CHECK_INT(count_of(svg, "marker-end"), 2);
	CHECK(!strstr(svg, "KiB"));
	tt_free(svg);
}

TEST(hostile_names_are_text)
{
	struct maker m = {.tensor = 100};
	char *svg = NULL;
	size_t size;

	call(&m, "</text><script>alert(1)</script>&\\\"'\\u0001\\ufffe", 7, 32);
	call(&m,
	     "ttnn::\\u4e2d\\u6587\\ud83d\\ude00 and a name that is much longer than any box may be, "
	     "which is as wide as a hundred letters or nearly so, and none is made wider than that",
	     101, 32);
	CHECK_OK(draw(&svg, &size, &m, &(struct tt_diagram_options){0}));
	if (!svg)
		return;
	check_picture(svg);
	CHECK(!strstr(svg, "<script"));
	CHECK(strstr(svg, "&lt;/text&gt;&lt;script&gt;alert(1)"));
	CHECK(strstr(svg, "中文😀"));
	CHECK(strstr(svg, "…</text>"));
	tt_free(svg);
}

/* Twenty equal layers of a chain are one, with what comes before and after. */
TEST(layers_are_folded)
{
	static const char *const names[] = {"ttnn::norm",   "ttnn::linear", "ttnn::gelu",
					    "ttnn::linear", "ttnn::add",    "ttnn::reshard"};
	struct maker m = {.tensor = 1000};
	char *svg = NULL;
	size_t size;

	call(&m, "ttnn::embedding", 7, 64);
	for (unsigned layer = 0; layer < 20; layer++) {
		for (unsigned i = 0; i < 6; i++)
			call(&m, names[i], m.tensor, 64 + 32 * i);
	}
	call(&m, "ttnn::softmax", m.tensor, 10);
	CHECK_OK(draw(&svg, &size, &m, &(struct tt_diagram_options){0}));
	if (!svg)
		return;
	check_picture(svg);
	CHECK_INT(count_of(svg, ">× 20<"), 1);
	CHECK_INT(count_of(svg, ">ttnn::gelu<"), 1);
	CHECK_INT(count_of(svg, ">ttnn::linear<"), 2);
	CHECK(strstr(svg, "6 calls, 20 times in a row"));
	/* The tensors of other layers are not on its lines. */
	CHECK_INT(count_of(svg, "class=\"label\""), 0);
	/* tensor → embedding → layers → softmax, and five within a layer. */
	CHECK_INT(count_of(svg, "marker-end"), 8);
	tt_free(svg);
}

/* What is freed between calls stands there: below the last call before, not above all. */
TEST(frees_stand_where_they_happen)
{
	struct maker m = {.tensor = 100};
	char *svg = NULL;
	size_t size;

	unsigned a = apply(&m, "ttnn::first", ""), b = apply_to(&m, "ttnn::second", a);
	unsigned c = apply_to(&m, "ttnn::third", b);
	release(&m, a);
	release(&m, b);
	unsigned d = apply_to(&m, "ttnn::fourth", c);
	apply_to(&m, "ttnn::fifth", d);
	release(&m, c);
	CHECK_OK(draw(&svg, &size, &m, &(struct tt_diagram_options){0}));
	if (!svg)
		return;
	check_picture(svg);
	/* Two at once are one box. */
	CHECK_INT(count_of(svg, ">free DRAM 4 KiB"), 2);
	CHECK(below(svg, ">free DRAM 4 KiB ×2<", ">ttnn::third<"));
	CHECK(box_of(svg, ">free DRAM 4 KiB ×2<").y <= box_of(svg, ">ttnn::fourth<").y);
	CHECK(below(svg, ">free DRAM 4 KiB<", ">ttnn::fifth<"));
	/* A dashed line from the last use of each. */
	CHECK_INT(count_of(svg, "<path class=\"last\""), 3);
	CHECK(strstr(svg, "<title>ttnn::fourth → free DRAM 4 KiB</title>"));
	tt_free(svg);
}

/*
 * A loop whose body of `length` calls takes tensors from outside at several places, and from which
 * others take: the arrows end at the calls. `before` calls stand between what gives those tensors
 * and the loop, and between it and the last that takes from it, so that some are far.
 */
static void draw_loop(char **svg, unsigned length, unsigned before, bool nested)
{
	struct maker m = {.tensor = 100};
	char name[40], both[40];
	unsigned first = apply(&m, "ttnn::weights", ""), second = apply(&m, "ttnn::mask", "");
	unsigned last = apply_to(&m, "ttnn::embedding", first), mid = 0;
	size_t size;

	for (unsigned i = 0; i < before; i++) {
		snprintf(name, sizeof(name), "ttnn::early%u", i);
		last = apply_to(&m, name, last);
	}
	for (unsigned turn = 0; turn < (length > 2 ? 12 : 30); turn++) {
		for (unsigned i = 0; i < length; i++) {
			snprintf(name, sizeof(name), "ttnn::body%u", i);
			snprintf(both, sizeof(both), "%u,%u", last,
				 i % 3 == 0   ? first
				 : i % 3 == 1 ? second
				 : mid        ? mid
					      : last);
			last = apply(&m, name, both);
			mid = i == length / 2 ? last : mid;
			for (unsigned k = 0; nested && i == 1 && k < 5; k++) {
				snprintf(both, sizeof(both), "%u,%u", last, first);
				last = apply(&m, "ttnn::inner", both);
			}
		}
	}
	snprintf(both, sizeof(both), "%u,%u", last, mid);
	last = apply(&m, "ttnn::after", both);
	for (unsigned i = 0; i < before; i++) {
		snprintf(name, sizeof(name), "ttnn::late%u", i);
		last = apply_to(&m, name, last);
	}
	snprintf(both, sizeof(both), "%u,%u", last, mid);
	last = apply(&m, "ttnn::end", both);
	apply_to(&m, "ttnn::last", last);
	release(&m, first);
	release(&m, last);
	CHECK_OK(draw(svg, &size, &m, &(struct tt_diagram_options){0}));
}

TEST(arrows_enter_repetitions)
{
	static const unsigned lengths[] = {1, 2, 4, 9, 40}, befores[] = {0, 3, 30};

	for (size_t i = 0; i < TT_COUNT(lengths); i++)
		for (size_t k = 0; k < TT_COUNT(befores); k++)
			for (int nested = 0; nested < 2; nested++) {
				char *svg = NULL;

				draw_loop(&svg, lengths[i], befores[k], nested);
				if (!svg)
					return;
				check_picture(svg);
				CHECK(check_lines(svg) >= 6);
				tt_free(svg);
			}
}

/* In both dialects a loop has one: as an event, and as a call that no program made. */
TEST(frees_of_a_loop_are_folded)
{
	for (int called = 0; called < 2; called++) {
		struct maker m = {.tensor = 100};
		char *svg = NULL;
		size_t size;
		unsigned last = apply(&m, "ttnn::ones", "");

		for (unsigned i = 0; i < 30; i++) {
			unsigned next = apply_to(&m, "ttnn::add", last);

			if (called)
				deallocate(&m, "Tensor::deallocate", last);
			else
				release(&m, last);
			last = next;
		}
		/* It belongs to no turn. */
		release(&m, last);
		CHECK_OK(draw(&svg, &size, &m, &(struct tt_diagram_options){0}));
		if (!svg)
			return;
		check_picture(svg);
		CHECK_INT(count_of(svg, ">× 30<"), 1);
		CHECK_INT(count_of(svg, ">ttnn::add<"), 1);
		CHECK_INT(count_of(svg, ">free DRAM 4 KiB<"), 2);
		CHECK(below(svg, ">free DRAM 4 KiB<", ">ttnn::add<"));
		tt_free(svg);
	}
}

/*
 * The first turn has nothing to give back, so that equality begins with the call after what the others give back: the frame
 * begins with the first call of a turn all the same.
 */
TEST(folds_begin_where_a_turn_does)
{
	static const char *const names[] = {"ttnn::first", "ttnn::second", "ttnn::third"};

	for (unsigned where = 0; where < 3; where++) {
		struct maker m = {.tensor = 100};
		char *svg = NULL;
		size_t size;
		unsigned last = apply(&m, "ttnn::ones", ""), before = 0;

		for (unsigned turn = 0; turn < 12; turn++) {
			unsigned was = last;

			for (unsigned i = 0; i < 3; i++) {
				last = apply_to(&m, names[i], last);
				if (i == where && before)
					release(&m, before);
			}
			before = was;
		}
		CHECK_OK(draw(&svg, &size, &m, &(struct tt_diagram_options){0}));
		if (!svg)
			return;
		check_picture(svg);
		CHECK_INT(count_of(svg, ">× 11<"), 1);
		const char *frame = strstr(svg, ">× 11<"), *first, *second;

		first = frame ? strstr(frame, ">ttnn::first<") : NULL;
		second = frame ? strstr(frame, ">ttnn::second<") : NULL;
		CHECK(first && second && first < second);
		CHECK(first && strstr(first, ">ttnn::third<"));
		CHECK(frame && below(frame, ">ttnn::third<", ">ttnn::second<"));
		tt_free(svg);
	}
}

/* In large graphs too what is freed at once is one box, and no repetition. */
TEST(frees_at_once_are_counted)
{
	struct maker m = {.tensor = 100};
	unsigned given[30];
	char *svg = NULL, name[40];
	size_t size;

	for (unsigned i = 0; i < 30; i++) {
		snprintf(name, sizeof(name), "ttnn::op%u", i);
		given[i] = i ? apply_to(&m, name, given[i - 1]) : apply(&m, name, "");
	}
	for (unsigned i = 0; i < 30; i++) {
		if (i < 20)
			release(&m, given[i]);
		else
			deallocate(&m, "ttnn::deallocate", given[i]);
	}
	CHECK_OK(draw(&svg, &size, &m, &(struct tt_diagram_options){0}));
	if (!svg)
		return;
	check_picture(svg);
	CHECK(!strstr(svg, "class=\"rep\""));
	CHECK_INT(count_of(svg, "class=\"rel\""), 2 + 1); /* and in the legend */
	CHECK(strstr(svg, ">free DRAM 4 KiB ×20<"));
	CHECK(strstr(svg, ">ttnn::deallocate ×10<") && strstr(svg, ">free DRAM 4 KiB ×10<"));
	tt_free(svg);
}

/* A tensor is given back below all that use it: the lowest, and the last in time. */
TEST(a_tensor_is_given_back_below_its_uses)
{
	struct maker m = {.tensor = 100};
	char *svg = NULL, both[32];
	size_t size;

	unsigned given = apply(&m, "ttnn::giver", ""), last = apply(&m, "ttnn::one", "");
	last = apply_to(&m, "ttnn::two", last);
	last = apply_to(&m, "ttnn::three", last);
	snprintf(both, sizeof(both), "%u,%u", last, given);
	apply(&m, "ttnn::lowest", both);
	apply_to(&m, "ttnn::latest", given);
	deallocate(&m, "ttnn::deallocate", given);
	CHECK_OK(draw(&svg, &size, &m, &(struct tt_diagram_options){0}));
	if (!svg)
		return;
	check_picture(svg);
	CHECK(below(svg, ">ttnn::deallocate<", ">ttnn::lowest<"));
	CHECK(below(svg, ">ttnn::deallocate<", ">ttnn::latest<"));
	CHECK(strstr(svg, ">free DRAM 4 KiB<"));
	CHECK_INT(count_of(svg, "<path class=\"last\""), 1);
	CHECK(strstr(svg, "<title>ttnn::latest → ttnn::deallocate</title>"));
	tt_free(svg);
}

/* Inside of a call too: what it frees after other calls stands below them. */
TEST(a_call_frees_below_its_calls)
{
	struct maker m = {.tensor = 100};
	char *svg = NULL;
	size_t size;

	start(&m, "ttnn::outer", "");
	unsigned made = apply(&m, "ttnn::inner", "");
	apply_to(&m, "ttnn::user", made);
	release(&m, made);
	node(&m, "function_end", "\"name\":\"ttnn::outer\"", "", 1);
	CHECK_OK(draw(&svg, &size, &m, &(struct tt_diagram_options){0}));
	if (!svg)
		return;
	check_picture(svg);
	CHECK(below(svg, ">free DRAM 4 KiB<", ">ttnn::user<"));
	tt_free(svg);
}

#define LONG_NAME                                                                                  \
	"ttnn::operations::experimental::transformer::a_name_of_some_eighty_letters_in_all"

/* Boxes are as wide as names, and a name has all the room that its box has. */
TEST(names_are_cut_for_want_of_room_alone)
{
	struct maker m = {.tensor = 100};
	struct tt_str huge = {0}, open = {0};
	char *svg = NULL, both[32];
	size_t size;
	unsigned first = apply(&m, LONG_NAME, ""), last = first;

	for (unsigned i = 0; i < 30; i++) {
		char name[40];

		snprintf(name, sizeof(name), "ttnn::op%u", i);
		last = apply_to(&m, name, last);
	}
	snprintf(both, sizeof(both), "%u,%u", first, last);
	apply(&m, "ttnn::far", both);
	for (unsigned i = 0; i < 15; i++)
		tt_str_adds(&huge, "a_part_of_it::");
	/* Twelve calls beside each other make the one around them wide. */
	tt_str_addf(&open, "ttnn::wide::%s", tt_str_text(&huge));
	start(&m, tt_str_text(&open), "");
	last = apply(&m, "ttnn::inner", "");
	for (unsigned i = 0; i < 12; i++)
		apply_to(&m, "ttnn::a_call_with_a_name", last);
	node(&m, "function_end", "\"name\":\"ttnn::wide\"", "", 1);
	apply(&m, tt_str_text(&huge), "");
	CHECK_OK(draw(&svg, &size, &m, &(struct tt_diagram_options){.no_fold = true}));
	if (!svg)
		return;
	check_picture(svg);
	CHECK(strstr(svg, ">" LONG_NAME "<"));
	CHECK(strstr(svg, ">↑ " LONG_NAME "<"));
	tt_str_adds(&open, "<");
	CHECK(strstr(svg, tt_str_text(&open)));
	CHECK(strstr(svg, ">a_part_of_it::a_part_of_it::") && strstr(svg, "…</text>"));
	tt_str_deinit(&huge);
	tt_str_deinit(&open);
	tt_free(svg);
}

/* A call that gives tensors of these widths, and one that takes them all. */
static void give_and_take(struct maker *m, const unsigned *widths, unsigned count)
{
	struct tt_str connections = {0};
	unsigned first;

	start(m, "ttnn::split", "");
	first = m->count + 1;
	for (unsigned i = 0; i < count; i++)
		tt_str_addf(&connections, "%s%u", i ? "," : "", first + i);
	node(m, "function_end", "\"name\":\"ttnn::split\"", tt_str_text(&connections), 1);
	for (unsigned i = 0; i < count; i++)
		tensor(m, widths[i]);
	start(m, "ttnn::concat", tt_str_text(&connections));
	/* What a call inside takes is no other tensor. */
	start(m, "ttnn::prim::concat", tt_str_text(&connections));
	node(m, "function_end", "\"name\":\"ttnn::prim::concat\"", "", 1);
	node(m, "function_end", "\"name\":\"ttnn::concat\"", "", 1);
	tt_str_deinit(&connections);
}

/* Several tensors on one line are named there; one needs no name. */
TEST(several_tensors_are_labelled)
{
	static const struct {
		unsigned widths[8], count;
		const char *lines[5];
	} rows[] = {
		{{32}, 1, {NULL}},
		{{32, 32, 32}, 3, {">3 × [1, 32]<"}},
		{{32, 64, 32}, 3, {">2 × [1, 32]<", ">[1, 64]<"}},
		{{1, 2, 3, 4, 5, 6},
		 6,
		 {">[1, 1]<", ">[1, 2]<", ">[1, 3]<", ">[1, 4]<", ">… 2 more<"}},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct maker m = {.tensor = 100};
		char *svg = NULL;
		size_t size;

		give_and_take(&m, rows[i].widths, rows[i].count);
		CHECK_OK(draw(&svg, &size, &m, &(struct tt_diagram_options){0}));
		if (!svg)
			return;
		check_picture(svg);
		CHECK_INT(count_of(svg, "class=\"label\""), rows[i].count > 1);
		CHECK_INT(count_of(svg, "marker-end"), 1);
		for (size_t k = 0; k < 5 && rows[i].lines[k]; k++) {
			CHECK(strstr(svg, rows[i].lines[k]));
			CHECK(below(svg, rows[i].lines[k], ">ttnn::split<"));
			CHECK(below(svg, ">ttnn::concat<", rows[i].lines[k]));
		}
		tt_free(svg);
	}
}

/* Results that got other numbers on their way through Python are as many as there are. */
TEST(renamed_tensors_are_labelled)
{
	struct maker m = {.tensor = 100};
	char *svg = NULL, inputs[64];
	size_t size;

	start(&m, "ttnn::split", "");
	snprintf(inputs, sizeof(inputs), "%u", m.count + 1);
	node(&m, "function_end", "\"name\":\"ttnn::split\"", inputs, 1);
	tensor(&m, 32);
	unsigned first = tensor(&m, 32), second = tensor(&m, 32), third = tensor(&m, 32);
	snprintf(inputs, sizeof(inputs), "%u,%u,%u,%u", first, second, third, first);
	start(&m, "ttnn::concat", inputs);
	node(&m, "function_end", "\"name\":\"ttnn::concat\"", "", 1);
	CHECK_OK(draw(&svg, &size, &m, &(struct tt_diagram_options){0}));
	if (!svg)
		return;
	check_picture(svg);
	CHECK(strstr(svg, ">3 × [1, 32]<"));
	CHECK_INT(count_of(svg, "class=\"tensor\""), 0);
	tt_free(svg);
}

/* A thousand calls that are all different, and some that feed much later ones. */
TEST(large_graphs)
{
	struct maker m = {.tensor = 10000};
	char *svg = NULL, name[40];
	size_t size, boxes;

	for (unsigned i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "ttnn::op%u", i);
		if (i % 9 == 8)
			mention(&m, 10000 + i / 2, 32 + i / 2, 2);
		call(&m, name, m.tensor, 32 + i);
	}
	uint64_t start = tt_clock_ns();
	CHECK_OK(draw(&svg, &size, &m, &(struct tt_diagram_options){.levels = 8}));
	printf("  7,000 nodes: %.0f ms, %zu bytes\n", (double)(tt_clock_ns() - start) / 1e6, size);
	if (!svg)
		return;
	CHECK(well_formed(svg));
	CHECK_INT(count_overlaps(svg, &boxes), 0);
	CHECK(boxes > 3000);
	CHECK(strstr(svg, "class=\"tag\"") && strstr(svg, "<a href=\"#b"));
	tt_free(svg);
}

/* One call that feeds very many, and one that takes what they give: wide rows begin at the left. */
TEST(the_first_screen_of_a_wide_picture_has_calls)
{
	static const unsigned counts[] = {1, 20, 300};

	for (size_t k = 0; k < TT_COUNT(counts); k++) {
		struct maker m = {.tensor = 100};
		char *svg = NULL, name[80];
		size_t size;
		unsigned last = apply(&m, "ttnn::first", "");

		for (unsigned i = 0; i < counts[k]; i++) {
			snprintf(name, sizeof(name), "ttnn::a_call_with_a_rather_long_name_%u", i);
			apply_to(&m, name, last);
		}
		CHECK_OK(draw(&svg, &size, &m, &(struct tt_diagram_options){0}));
		if (!svg)
			return;
		check_picture(svg);
		tt_free(svg);
	}
}

/* Width times height of a picture, as its head says. */
static double pixels(const char *svg)
{
	const char *width = strstr(svg, "width=\""), *height = strstr(svg, "height=\"");

	return strtod(width + 7, NULL) * strtod(height + 8, NULL);
}

/* One of more than 20 megapixels is drawn in part and says so; all of it is there for who asks. */
TEST(no_picture_is_too_large_to_show)
{
	static const unsigned counts[] = {10, 300, 1000, 3000};

	for (int flow = 0; flow < 2; flow++)
		for (size_t k = 0; k < TT_COUNT(counts); k++) {
			struct tt_diagram_options how = {.flow = flow};
			char *svg = NULL, name[40];
			size_t size, boxes;
			double all = 0, part = 0;
			bool said;

			for (int whole = 1; whole >= 0; whole--) {
				struct maker m = {.tensor = 10000};

				for (unsigned i = 0; i < counts[k]; i++) {
					snprintf(name, sizeof(name), "ttnn::op%u", i);
					call(&m, name, i % 3 ? 10000 + i / 2 : m.tensor, 32 + i);
				}
				how.levels = whole ? 1 : 0;
				CHECK_OK(draw(&svg, &size, &m, &how));
				if (!svg)
					return;
				CHECK(well_formed(svg));
				CHECK_INT(count_overlaps(svg, &boxes), 0);
				said = strstr(svg, "(--first ") != NULL;
				if (whole) {
					all = pixels(svg);
					CHECK(!said);
				} else {
					part = pixels(svg);
				}
				tt_free(svg);
			}
			CHECK(part <= 20e6);
			CHECK_INT(said, all > 20e6);
			CHECK(said || part == all);
		}
}

/* Calls that never end, ends without a call, an empty graph. */
TEST(unbalanced_graphs)
{
	struct maker m = {.tensor = 100};
	char *svg = NULL;
	size_t size;

	node(&m, "function_end", "\"name\":\"ttnn::stray\"", "", 1);
	node(&m, "function_start", "\"name\":\"ttnn::open\"", "", 1);
	node(&m, "error", "\"error_message\":\"no <memory>\"", "", 2);
	CHECK_OK(draw(&svg, &size, &m, &(struct tt_diagram_options){0}));
	if (!svg)
		return;
	check_picture(svg);
	CHECK(strstr(svg, "did not end") && strstr(svg, "class=\"op bad\""));
	CHECK(strstr(svg, ">no &lt;memory&gt;<"));
	tt_free(svg);
	m = (struct maker){0};
	tt_str_adds(&m.json, "[");
	CHECK_OK(draw(&svg, &size, &m, &(struct tt_diagram_options){0}));
	CHECK(svg && well_formed(svg));
	tt_free(svg);
}

/* Calls within calls, deeper than is drawn. */
TEST(deep_calls)
{
	struct maker m = {.tensor = 100};
	char *svg = NULL;
	size_t size;

	for (unsigned i = 0; i < 300; i++)
		node(&m, "function_start", "\"name\":\"ttnn::down\"", "", i + 1);
	for (unsigned i = 0; i < 300; i++)
		node(&m, "function_end", "\"name\":\"ttnn::down\"", "", 300 - i);
	CHECK_OK(draw(&svg, &size, &m, &(struct tt_diagram_options){.levels = 1000}));
	if (!svg)
		return;
	check_picture(svg);
	CHECK_INT(count_of(svg, ">ttnn::down<"), 60);
	tt_free(svg);
}

/* Both pictures of a report file, in a folder that is made. */
TEST(pictures_of_a_report)
{
	struct maker m = {.tensor = 100};
	const char *folder = test_path("graphs");
	struct tt_graph graph = {0};
	char path[400];
	uint64_t count = 0;
	char *svg;
	size_t size;

	call(&m, "ttnn::relu", 7, 32);
	tt_str_adds(&m.json, "]");
	CHECK_OK(tt_graph_parse(&graph, tt_str_text(&m.json), m.json.length, "graph"));
	tt_str_deinit(&m.json);
	CHECK_OK(tt_svg_report(&count, folder, "a/folder/some.report.json", &graph));
	for (int flow = 0; flow < 2; flow++) {
		snprintf(path, sizeof(path), "%s/some.report%s.svg", folder, flow ? ".flow" : "");
		svg = NULL;
		CHECK_OK(tt_file_read(&svg, &size, path));
		CHECK(svg && strstr(svg, ">ttnn::relu<"));
		CHECK(svg && (strstr(svg, "KiB") == NULL) == (flow == 1));
		tt_free(svg);
		unlink(path);
	}
	CHECK_INT(rmdir(folder), 0);
	CHECK_FAILS(tt_svg_report(&count, "no/such/folder", "some.report.json", &graph), TTNN_IO,
		    "no/such/folder");
	tt_graph_deinit(&graph);
	CHECK_INT(count, 2);
}

SCENARIO(pictures_without_memory)
{
	struct maker m = {.tensor = 1000};
	char *svg = NULL;
	size_t size;

	call(&m, "ttnn::embedding", 7, 64);
	for (unsigned i = 0; i < 6; i++)
		call(&m, "ttnn::relu", m.tensor, 64);
	unsigned given = apply(&m, "ttnn::ones", ""), other = apply_to(&m, "ttnn::exp", given);
	release(&m, given);
	release(&m, other);
	give_and_take(&m, (const unsigned[]){32, 64, 32}, 3);
	tt_status status = draw(&svg, &size, &m, &(struct tt_diagram_options){.fold = true});
	tt_free(svg);
	return status;
}
