/* Layered layouts: nothing overlaps, edges go round boxes, and large graphs take no time to speak of. */
#include "test.h"

#include "base/clock.h"
#include "report/layered.h"

struct graph {
	struct tt_layout layout;
	struct tt_arena arena;
};

static bool graph_init(struct graph *graph, uint32_t nodes, uint32_t edges)
{
	memset(graph, 0, sizeof(*graph));
	graph->layout.style = &tt_layout_default;
	graph->layout.nodes =
		tt_arena_calloc(&graph->arena, nodes + 1, sizeof(struct tt_layout_node));
	graph->layout.edges =
		tt_arena_calloc(&graph->arena, edges + 1, sizeof(struct tt_layout_edge));
	graph->layout.node_count = nodes;
	graph->layout.edge_count = edges;
	for (uint32_t i = 0; i < nodes && graph->layout.nodes; i++) {
		graph->layout.nodes[i].width = 60 + (i * 37) % 150;
		graph->layout.nodes[i].height = 20 + (i * 53) % 90;
		graph->layout.nodes[i].tag_width = 50 + (i * 29) % 200;
	}
	return graph->layout.nodes && graph->layout.edges;
}

/* Boxes as the checks see them: nodes, then tags. */
struct rect {
	double left, top, right, bottom;
};

static struct rect rect_at(const struct tt_layout *layout, uint32_t i)
{
	if (i < layout->node_count) {
		const struct tt_layout_node *node = &layout->nodes[i];

		return (struct rect){node->x, node->y, node->x + node->width,
				     node->y + node->height};
	}
	const struct tt_layout_tag *tag = &layout->tags[i - layout->node_count];
	return (struct rect){tag->x, tag->y, tag->x + tag->width,
			     tag->y + layout->style->tag_height};
}

static size_t count_overlaps(const struct tt_layout *layout)
{
	uint32_t count = layout->node_count + layout->tag_count;
	size_t overlaps = 0;

	for (uint32_t i = 0; i < count; i++) {
		struct rect a = rect_at(layout, i);

		overlaps += a.left < -0.01 || a.top < -0.01 || a.right > layout->width + 0.01 ||
			    a.bottom > layout->height + 0.01;
		for (uint32_t j = i + 1; j < count; j++) {
			struct rect b = rect_at(layout, j);

			overlaps += a.left < b.right && b.left < a.right && a.top < b.bottom &&
				    b.top < a.bottom;
		}
	}
	return overlaps;
}

/* A point of a line between two points, as the contract of edges says. */
static struct tt_layout_point between(struct tt_layout_point a, struct tt_layout_point b, double t)
{
	double u = 1 - t, middle = (a.y + b.y) / 2;

	if (a.x == b.x || a.y == b.y)
		return (struct tt_layout_point){a.x * u + b.x * t, a.y * u + b.y * t};
	return (struct tt_layout_point){(u * u * u + 3 * u * u * t) * a.x +
						(3 * u * t * t + t * t * t) * b.x,
					u * u * u * a.y + 3 * u * t * middle + t * t * t * b.y};
}

/* Points of edges that lie inside a box. */
static size_t count_hits(const struct tt_layout *layout)
{
	size_t hits = 0;

	for (uint32_t e = 0; e < layout->edge_count; e++) {
		const struct tt_layout_edge *edge = &layout->edges[e];

		for (uint32_t p = 0; p + 1 < edge->point_count; p++) {
			for (int step = 1; step < 8; step++) {
				struct tt_layout_point at =
					between(edge->points[p], edge->points[p + 1], step / 8.0);

				for (uint32_t i = 0; i < layout->node_count + layout->tag_count;
				     i++) {
					struct rect box = rect_at(layout, i);

					hits += at.x > box.left + 0.01 && at.x < box.right - 0.01 &&
						at.y > box.top + 0.01 && at.y < box.bottom - 0.01;
				}
			}
		}
	}
	return hits;
}

/* Every edge starts at the bottom of its first box and ends at the top of its last. */
static size_t count_loose(const struct tt_layout *layout)
{
	size_t loose = 0;

	for (uint32_t e = 0; e < layout->edge_count; e++) {
		const struct tt_layout_edge *edge = &layout->edges[e];

		if (edge->far || edge->hidden || edge->from == edge->to) {
			loose += edge->point_count != 0;
			continue;
		}
		if (edge->point_count < 2) {
			loose += !(edge->trailing && layout->columns > 1);
			continue;
		}
		bool down = edge->from < edge->to;
		struct rect from = rect_at(layout, down ? edge->from : edge->to);
		struct rect to = rect_at(layout, down ? edge->to : edge->from);
		struct tt_layout_point first = edge->points[down ? 0 : edge->point_count - 1];
		struct tt_layout_point last = edge->points[down ? edge->point_count - 1 : 0];

		loose += first.x < from.left || first.x > from.right ||
			 fabs(first.y - from.bottom) > 0.01 || last.x < to.left ||
			 last.x > to.right || fabs(last.y - to.top) > 0.01;
	}
	return loose;
}

static void check(struct graph *graph)
{
	CHECK_OK(tt_layout_run(&graph->layout, &graph->arena));
	CHECK_INT(count_overlaps(&graph->layout), 0);
	CHECK_INT(count_hits(&graph->layout), 0);
	CHECK_INT(count_loose(&graph->layout), 0);
}

TEST(nothing_and_one_box)
{
	struct graph graph;

	CHECK(graph_init(&graph, 0, 0));
	check(&graph);
	CHECK(graph.layout.width == 0 && graph.layout.height == 0);
	tt_arena_deinit(&graph.arena);
	CHECK(graph_init(&graph, 1, 1));
	graph.layout.edges[0] = (struct tt_layout_edge){.from = 0, .to = 0};
	check(&graph);
	CHECK(graph.layout.width == 60 && graph.layout.height == 20);
	tt_arena_deinit(&graph.arena);
}

TEST(a_chain_is_a_straight_line)
{
	struct graph graph;

	CHECK(graph_init(&graph, 6, 5));
	for (uint32_t i = 0; i < 5; i++)
		graph.layout.edges[i] = (struct tt_layout_edge){.from = i, .to = i + 1};
	check(&graph);
	CHECK_INT(graph.layout.columns, 1);
	for (uint32_t i = 0; i < 5; i++) {
		const struct tt_layout_edge *edge = &graph.layout.edges[i];

		CHECK_INT(edge->point_count, 2);
		CHECK(edge->points[0].x == edge->points[1].x);
		CHECK(graph.layout.nodes[i].y < graph.layout.nodes[i + 1].y);
	}
	tt_arena_deinit(&graph.arena);
}

/* An input of a late operation stands beside it, not at the top. */
TEST(inputs_stand_where_they_are_wanted)
{
	struct graph graph;

	CHECK(graph_init(&graph, 12, 11));
	for (uint32_t i = 0; i < 10; i++)
		graph.layout.edges[i] = (struct tt_layout_edge){.from = i + 1, .to = i + 2};
	graph.layout.edges[10] = (struct tt_layout_edge){.from = 0, .to = 11};
	for (uint32_t i = 0; i < 12; i++)
		graph.layout.nodes[i].height = 20;
	check(&graph);
	CHECK(graph.layout.nodes[0].y > graph.layout.nodes[9].y);
	tt_arena_deinit(&graph.arena);
}

TEST(hidden_edges_only_order)
{
	struct graph graph;

	CHECK(graph_init(&graph, 3, 2));
	graph.layout.edges[0] = (struct tt_layout_edge){.from = 0, .to = 1, .hidden = true};
	graph.layout.edges[1] = (struct tt_layout_edge){.from = 1, .to = 2, .hidden = true};
	check(&graph);
	CHECK(graph.layout.nodes[0].y < graph.layout.nodes[1].y);
	CHECK(graph.layout.nodes[1].y < graph.layout.nodes[2].y);
	tt_arena_deinit(&graph.arena);
}

/* What trails stands below all that it follows. */
TEST(trailing_boxes_stand_below)
{
	uint64_t random = 5;
	uint32_t seen = 0;

	for (uint32_t round = 0; round < 60; round++) {
		uint32_t nodes = 4 + round * 3, edges = nodes * 2;
		struct graph graph;

		CHECK(graph_init(&graph, nodes, edges));
		for (uint32_t i = 0; i < edges; i++) {
			uint32_t to = 1 + (uint32_t)(test_random(&random) % (nodes - 1));
			uint32_t from = (uint32_t)(test_random(&random) % to);
			bool trailing = to % 4 == 3;

			from -= from % 4 == 3; /* nothing follows what trails */
			graph.layout.edges[i] = (struct tt_layout_edge){
				.from = from,
				.to = to,
				.trailing = trailing,
				.hidden = trailing && test_random(&random) % 2};
		}
		check(&graph);
		for (uint32_t i = 0; i < edges && graph.layout.columns == 1; i++) {
			const struct tt_layout_edge *edge = &graph.layout.edges[i];

			CHECK(graph.layout.nodes[edge->to].y >=
			      rect_at(&graph.layout, edge->from).bottom);
			seen += edge->trailing;
		}
		tt_arena_deinit(&graph.arena);
	}
	CHECK(seen > 50);
}

/* A column does not begin with what trails alone. */
TEST(trailing_boxes_stay_in_their_column)
{
	for (uint32_t end = 10; end < 60; end++) {
		struct graph graph;

		CHECK(graph_init(&graph, end + 1, end));
		for (uint32_t i = 0; i < end; i++)
			graph.layout.edges[i] = (struct tt_layout_edge){
				.from = i, .to = i + 1, .trailing = i + 1 == end};
		check(&graph);
		CHECK(graph.layout.nodes[end].y > graph.layout.nodes[end - 1].y);
		tt_arena_deinit(&graph.arena);
	}
}

/* Long edges become tags; a high drawing gets columns. */
TEST(far_edges_and_columns)
{
	struct graph graph;

	CHECK(graph_init(&graph, 200, 202));
	for (uint32_t i = 0; i < 199; i++)
		graph.layout.edges[i] = (struct tt_layout_edge){.from = i, .to = i + 1};
	graph.layout.edges[199] = (struct tt_layout_edge){.from = 2, .to = 150};
	graph.layout.edges[200] = (struct tt_layout_edge){.from = 3, .to = 150};
	graph.layout.edges[201] = (struct tt_layout_edge){.from = 3, .to = 9};
	check(&graph);
	CHECK(graph.layout.edges[199].far && graph.layout.edges[200].far);
	CHECK(!graph.layout.edges[201].far);
	CHECK_INT(graph.layout.tag_count, 1);
	CHECK_INT(graph.layout.tags[0].node, 150);
	CHECK_INT(graph.layout.tags[0].count, 2);
	/* As wide as the name of the first, and more for the second. */
	CHECK(graph.layout.tags[0].width ==
	      graph.layout.nodes[2].tag_width + tt_layout_default.tag_more);
	CHECK(graph.layout.columns > 2);
	CHECK(graph.layout.width < 3 * graph.layout.height);
	CHECK(graph.layout.height < 3 * graph.layout.width);
	tt_arena_deinit(&graph.arena);
}

TEST(random_graphs)
{
	uint64_t random = 7;

	for (uint32_t round = 0; round < 60; round++) {
		uint32_t nodes = 2 + round * 4,
			 edges = (uint32_t)(test_random(&random) % (nodes * 2));
		struct graph graph;

		CHECK(graph_init(&graph, nodes, edges));
		for (uint32_t i = 0; i < edges; i++) {
			/* Mostly forwards and near, some from anywhere to anywhere. */
			uint32_t from = (uint32_t)(test_random(&random) % nodes);
			uint32_t to = (uint32_t)(from + 1 + test_random(&random) % 6);

			if (to >= nodes || test_random(&random) % 8 == 0)
				to = (uint32_t)(test_random(&random) % nodes);
			graph.layout.edges[i] = (struct tt_layout_edge){.from = from, .to = to};
		}
		check(&graph);
		tt_arena_deinit(&graph.arena);
	}
}

/* What nobody would draw must not take memory or time beyond measure either. */
TEST(hostile_graphs)
{
	enum { NODES = 6000 };
	static const char *const shapes[] = {"no edges", "one feeds all", "all feed one", "a chain",
					     "a dense mesh"};

	for (size_t shape = 0; shape < sizeof(shapes) / sizeof(shapes[0]); shape++) {
		static const uint32_t edges[] = {0, NODES - 1, NODES - 1, NODES - 1, NODES * 4};
		struct graph graph;
		uint64_t random = 3, start = tt_clock_ns();

		CHECK(graph_init(&graph, NODES, edges[shape]));
		for (uint32_t i = 0; i < edges[shape]; i++) {
			uint32_t from = shape == 1 ? 0 : shape == 4 ? i / 4 : i;
			uint32_t to = shape == 2   ? NODES - 1
				      : shape == 4 ? (uint32_t)(test_random(&random) % NODES)
						   : i + 1;

			graph.layout.edges[i] = (struct tt_layout_edge){.from = from, .to = to};
		}
		CHECK_OK(tt_layout_run(&graph.layout, &graph.arena));
		printf("  %s: %.0f ms\n", shapes[shape], (double)(tt_clock_ns() - start) / 1e6);
		if (shape < 4)
			CHECK_INT(count_overlaps(&graph.layout), 0);
		tt_arena_deinit(&graph.arena);
	}
}

SCENARIO(layout_without_memory)
{
	struct graph graph;
	tt_status status = graph_init(&graph, 40, 60) ? TTNN_OK : TTNN_NOMEM;

	for (uint32_t i = 0; i < 60 && status == TTNN_OK; i++)
		graph.layout.edges[i] = (struct tt_layout_edge){.from = i % 39, .to = (i * 7) % 40};
	if (status == TTNN_OK)
		status = tt_layout_run(&graph.layout, &graph.arena);
	tt_arena_deinit(&graph.arena);
	return status;
}
