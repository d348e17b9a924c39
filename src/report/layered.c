/*
 * layered.c: rows, order, places (layout_*.c), then columns and the ways of edges.
 */
#include "report/layered.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/layout_graph.h"

const struct tt_layout_style tt_layout_default = {
	.gap_x = 18,
	.gap_y = 26,
	.row_width = 2600,
	.column_height = 900,
	.aspect = 1.5,
	.tag_height = 16,
	.tag_more = 62,
	.far_rows = 24,
};

#define PASS_WIDTH 4.0  /* of the place of an edge in a row */
#define PORT_MARGIN 8.0 /* edges do not end nearer to a corner */
#define TRACK 7.0       /* between edges beside each other from one column to the next */
#define TRACKS 120.0    /* all of them take no more than this ... */
#define TRACK_PAD 16.0  /* ... and this on both sides */

/* Everything while a layout is made. */
struct work {
	struct tt_layout *layout;
	struct tt_layout_rows rows;
	struct tt_layout_graph graph;
	uint32_t *passed;      /* of each edge its first vertex that is no node */
	uint32_t *first_step;  /* of each edge, and then of each tag */
	double *up_x, *down_x; /* where a step starts and ends */
	/* Of each step: where it has to start and end, from the left of its vertex; 0: anywhere. */
	double *fixed[2];
	double *top, *tall;     /* of each row */
	double *gap;            /* below each row */
	uint32_t *column;       /* of each row */
	double *left, *right;   /* of each row, before columns are moved */
	double *shift, *bottom; /* of each column: what to add to x; its end */
	double *edge_right;     /* of each column */
	uint32_t *track;        /* of each step that changes columns */
	uint32_t *tracks;       /* of each column: steps that leave it */
	struct tt_arena scratch;
};

static bool drawn(const struct tt_layout_edge *edge)
{
	return !edge->hidden && !edge->far && edge->from != edge->to;
}

static uint32_t upper(const struct tt_layout_edge *edge)
{
	return edge->from < edge->to ? edge->from : edge->to;
}

static uint32_t lower(const struct tt_layout_edge *edge)
{
	return edge->from < edge->to ? edge->to : edge->from;
}

/* ---- the graph ------------------------------------------------------------------------------ */

/* One tag for each node that far edges go to. */
static tt_status make_tags(struct work *w, struct tt_arena *arena)
{
	struct tt_layout *layout = w->layout;
	uint32_t *tag_of =
		tt_arena_calloc(&w->scratch, (size_t)layout->node_count + 1, sizeof(*tag_of));
	uint32_t count = 0;

	if (!tag_of)
		return tt_fail_nomem();
	for (uint32_t i = 0; i < layout->edge_count; i++) {
		if (layout->edges[i].far && !tag_of[lower(&layout->edges[i])])
			tag_of[lower(&layout->edges[i])] = ++count;
	}
	layout->tag_count = count;
	layout->tags = tt_arena_calloc(arena, (size_t)count + 1, sizeof(*layout->tags));
	if (!layout->tags)
		return tt_fail_nomem();
	for (uint32_t i = 0; i < layout->edge_count; i++) {
		if (!layout->edges[i].far)
			continue;
		uint32_t node = lower(&layout->edges[i]);
		struct tt_layout_tag *tag = &layout->tags[tag_of[node] - 1];

		if (!tag->count++) {
			tag->node = node;
			tag->edge = i;
			tag->width = layout->nodes[layout->edges[i].from].tag_width;
		}
		if (tag->count == 2)
			tag->width += layout->style->tag_more;
	}
	return TTNN_OK;
}

static tt_status make_vertices(struct work *w)
{
	struct tt_layout *layout = w->layout;
	struct tt_layout_graph *graph = &w->graph;
	size_t vertices = (size_t)layout->node_count + layout->tag_count;
	size_t steps = layout->tag_count;

	for (uint32_t i = 0; i < layout->edge_count; i++) {
		const struct tt_layout_edge *edge = &layout->edges[i];

		if (drawn(edge)) {
			uint32_t span = w->rows.row[lower(edge)] - w->rows.row[upper(edge)];

			vertices += span - 1;
			steps += span;
		}
	}
	if (vertices >= UINT32_MAX || steps >= UINT32_MAX)
		return tt_fail(TTNN_UNSUPPORTED, "a drawing of %zu places is too large", vertices);
	graph->style = layout->style;
	graph->vertex_count = (uint32_t)vertices;
	graph->step_count = (uint32_t)steps;
	graph->row_count = w->rows.count;
	graph->vertices = tt_arena_calloc(&w->scratch, vertices + 1, sizeof(*graph->vertices));
	graph->steps = tt_arena_calloc(&w->scratch, steps + 1, sizeof(*graph->steps));
	graph->keys = tt_arena_calloc(&w->scratch, vertices + 1, sizeof(*graph->keys));
	graph->scratch = tt_arena_calloc(&w->scratch, vertices + 2, sizeof(*graph->scratch));
	graph->order = tt_arena_calloc(&w->scratch, vertices + 1, sizeof(*graph->order));
	graph->row_at =
		tt_arena_calloc(&w->scratch, (size_t)w->rows.count + 2, sizeof(*graph->row_at));
	w->passed = tt_arena_calloc(&w->scratch, (size_t)layout->edge_count + 1, sizeof(uint32_t));
	w->first_step = tt_arena_calloc(
		&w->scratch, (size_t)layout->edge_count + layout->tag_count + 1, sizeof(uint32_t));
	if (!graph->vertices || !graph->steps || !graph->keys || !graph->scratch || !graph->order ||
	    !graph->row_at || !w->passed || !w->first_step)
		return tt_fail_nomem();
	return TTNN_OK;
}

static void fill_vertices(struct work *w)
{
	struct tt_layout *layout = w->layout;
	struct tt_layout_graph *graph = &w->graph;
	uint32_t vertex = layout->node_count + layout->tag_count, step = 0;

	for (uint32_t i = 0; i < layout->node_count; i++)
		graph->vertices[i] = (struct tt_layout_vertex){
			.width = layout->nodes[i].width,
			.row = w->rows.row[i],
			.port = layout->nodes[i].port != TT_LAYOUT_NO_PORT,
			.box = layout->nodes[i].port == TT_LAYOUT_NO_PORT};
	for (uint32_t i = 0; i < layout->tag_count; i++) {
		uint32_t node = layout->tags[i].node;

		graph->vertices[layout->node_count + i] = (struct tt_layout_vertex){
			.width = layout->tags[i].width, .row = w->rows.row[node] - 1, .box = true};
		w->first_step[layout->edge_count + i] = step;
		graph->steps[step++] = (struct tt_layout_step){layout->node_count + i, node};
	}
	for (uint32_t i = 0; i < layout->edge_count; i++) {
		const struct tt_layout_edge *edge = &layout->edges[i];
		uint32_t from = upper(edge), to = lower(edge);

		w->passed[i] = vertex;
		w->first_step[i] = step;
		if (edge->trailing)
			graph->vertices[to].aside = true;
		if (!drawn(edge))
			continue;
		for (uint32_t row = w->rows.row[from] + 1; row < w->rows.row[to]; row++) {
			graph->vertices[vertex] = (struct tt_layout_vertex){
				.width = PASS_WIDTH, .row = row, .aside = edge->trailing};
			graph->steps[step++] = (struct tt_layout_step){from, vertex};
			from = vertex++;
		}
		graph->steps[step++] = (struct tt_layout_step){from, to};
	}
}

/* Rows as ranges of order[], in the order of vertices. */
static void fill_rows(struct tt_layout_graph *graph)
{
	for (uint32_t i = 0; i < graph->vertex_count; i++)
		graph->row_at[graph->vertices[i].row + 1]++;
	for (uint32_t row = 0; row < graph->row_count; row++)
		graph->row_at[row + 1] += graph->row_at[row];
	for (uint32_t i = graph->vertex_count; i-- > 0;)
		graph->order[--graph->row_at[graph->vertices[i].row + 1]] = i;
	/* Each entry has moved from the end of its row to its start: one further up. */
	memmove(graph->row_at, graph->row_at + 1, sizeof(uint32_t) * graph->row_count);
	graph->row_at[graph->row_count] = graph->vertex_count;
}

static tt_status fill_near(struct work *w)
{
	struct tt_layout_graph *graph = &w->graph;

	for (int side = 0; side < 2; side++) {
		uint32_t *at =
			tt_arena_calloc(&w->scratch, (size_t)graph->vertex_count + 2, sizeof(*at));
		uint32_t *near =
			tt_arena_calloc(&w->scratch, (size_t)graph->step_count + 1, sizeof(*near));
		uint32_t *steps =
			tt_arena_calloc(&w->scratch, (size_t)graph->step_count + 1, sizeof(*steps));

		if (!at || !near || !steps)
			return tt_fail_nomem();
		for (uint32_t i = 0; i < graph->step_count; i++)
			at[(side ? graph->steps[i].down : graph->steps[i].up) + 2]++;
		for (uint32_t i = 2; i < graph->vertex_count + 2; i++)
			at[i] += at[i - 1];
		for (uint32_t i = 0; i < graph->step_count; i++) {
			const struct tt_layout_step *step = &graph->steps[i];
			uint32_t slot = at[(side ? step->down : step->up) + 1]++;

			near[slot] = side ? step->up : step->down;
			steps[slot] = i;
		}
		graph->near_at[side] = at;
		graph->near[side] = near;
		graph->near_step[side] = steps;
	}
	return TTNN_OK;
}

/* ---- where steps start and end -------------------------------------------------------------- */

struct port {
	double wanted;
	uint32_t step;
};

static int compare_ports(const void *a, const void *b)
{
	const struct port *first = a, *second = b;

	if (first->wanted != second->wanted)
		return first->wanted < second->wanted ? -1 : 1;
	return first->step < second->step ? -1 : first->step > second->step;
}

/* Where a step starts (side 0) or ends at a vertex, if that is fixed; else the vertex's middle. */
static double known_x(const struct work *w, uint32_t step, int side, uint32_t vertex)
{
	const struct tt_layout_vertex *v = &w->graph.vertices[vertex];

	return w->fixed[side][step] != 0 ? v->x - v->width / 2 + w->fixed[side][step] : v->x;
}

/* Spreads the steps of one side of a vertex over its width: a single one goes straight if it can. */
static void spread_ports(struct work *w, uint32_t vertex, int side, struct port *ports)
{
	const struct tt_layout_graph *graph = &w->graph;
	const struct tt_layout_vertex *v = &graph->vertices[vertex];
	uint32_t from = graph->near_at[side][vertex];
	uint32_t count = graph->near_at[side][vertex + 1] - from;
	double room = v->box ? fmax(v->width - 2 * PORT_MARGIN, 0) : 0;
	double *x = side ? w->down_x : w->up_x;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t step = graph->near_step[side][from + i];

		/* Those above are known when those below are asked for. */
		ports[i] = (struct port){side ? w->up_x[step]
					      : known_x(w, step, 1, graph->near[side][from + i]),
					 step};
	}
	qsort(ports, count, sizeof(*ports), compare_ports);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t step = ports[i].step;

		x[step] = v->x + room * ((i + 0.5) / count - 0.5);
		if (w->fixed[side][step] != 0)
			x[step] = known_x(w, step, side, vertex);
		else if (count == 1)
			x[step] = fmin(fmax(ports[0].wanted, v->x - room / 2), v->x + room / 2);
	}
}

/* What edges give of where they start and end. Those that are turned round give nothing. */
static void fix_ports(struct work *w)
{
	const struct tt_layout *layout = w->layout;

	for (uint32_t i = 0; i < layout->edge_count; i++) {
		const struct tt_layout_edge *edge = &layout->edges[i];
		uint32_t first = w->first_step[i];

		if (!drawn(edge) || edge->from > edge->to)
			continue;
		w->fixed[0][first] = edge->from_x;
		w->fixed[1][first + w->rows.row[edge->to] - w->rows.row[edge->from] - 1] =
			edge->to_x;
	}
	for (uint32_t i = 0; i < layout->tag_count; i++)
		w->fixed[1][w->first_step[layout->edge_count + i]] =
			layout->edges[layout->tags[i].edge].to_x;
}

static tt_status make_ports(struct work *w)
{
	size_t count = (size_t)w->graph.step_count + 1;
	struct port *ports = tt_arena_calloc(&w->scratch, count, sizeof(*ports));

	w->up_x = tt_arena_calloc(&w->scratch, count, sizeof(double));
	w->down_x = tt_arena_calloc(&w->scratch, count, sizeof(double));
	w->fixed[0] = tt_arena_calloc(&w->scratch, count, sizeof(double));
	w->fixed[1] = tt_arena_calloc(&w->scratch, count, sizeof(double));
	if (!ports || !w->up_x || !w->down_x || !w->fixed[0] || !w->fixed[1])
		return tt_fail_nomem();
	fix_ports(w);
	for (int side = 0; side < 2; side++) {
		for (uint32_t i = 0; i < w->graph.vertex_count; i++)
			spread_ports(w, i, side, ports);
	}
	return TTNN_OK;
}

/* ---- rows below each other, in columns ------------------------------------------------------ */

static double box_height(const struct work *w, uint32_t vertex)
{
	if (vertex < w->layout->node_count)
		return w->layout->nodes[vertex].height;
	return w->graph.vertices[vertex].box ? w->layout->style->tag_height : 0;
}

/* The extent of every row. */
static tt_status measure_rows(struct work *w)
{
	const struct tt_layout_graph *graph = &w->graph;
	size_t count = (size_t)graph->row_count + 1;

	w->top = tt_arena_calloc(&w->scratch, count, sizeof(double));
	w->tall = tt_arena_calloc(&w->scratch, count, sizeof(double));
	w->left = tt_arena_calloc(&w->scratch, count, sizeof(double));
	w->right = tt_arena_calloc(&w->scratch, count, sizeof(double));
	w->gap = tt_arena_calloc(&w->scratch, count, sizeof(double));
	w->column = tt_arena_calloc(&w->scratch, count, sizeof(uint32_t));
	w->shift = tt_arena_calloc(&w->scratch, count, sizeof(double));
	w->bottom = tt_arena_calloc(&w->scratch, count, sizeof(double));
	w->edge_right = tt_arena_calloc(&w->scratch, count, sizeof(double));
	w->tracks = tt_arena_calloc(&w->scratch, count, sizeof(uint32_t));
	w->track = tt_arena_calloc(&w->scratch, (size_t)graph->step_count + 1, sizeof(uint32_t));
	if (!w->top || !w->tall || !w->gap || !w->left || !w->right || !w->column || !w->shift ||
	    !w->bottom || !w->edge_right || !w->tracks || !w->track)
		return tt_fail_nomem();
	for (uint32_t row = 0; row < graph->row_count; row++) {
		w->left[row] = INFINITY;
		w->right[row] = -INFINITY;
		for (uint32_t i = graph->row_at[row]; i < graph->row_at[row + 1]; i++) {
			const struct tt_layout_vertex *v = &graph->vertices[graph->order[i]];

			w->left[row] = fmin(w->left[row], v->x - v->width / 2);
			w->right[row] = fmax(w->right[row], v->x + v->width / 2);
			w->tall[row] = fmax(w->tall[row], box_height(w, graph->order[i]));
		}
	}
	return TTNN_OK;
}

/* Below a row: more where edges go far to the side, so that they do not lie flat. */
static double gap_below(const struct work *w, uint32_t row)
{
	const struct tt_layout_graph *graph = &w->graph;
	double gap = w->layout->style->gap_y, far = 0;

	for (uint32_t i = graph->row_at[row]; i < graph->row_at[row + 1]; i++) {
		uint32_t vertex = graph->order[i];

		for (uint32_t n = graph->near_at[0][vertex]; n < graph->near_at[0][vertex + 1];
		     n++) {
			uint32_t step = graph->near_step[0][n];

			far = fmax(far, fabs(w->down_x[step] - w->up_x[step]));
		}
	}
	return gap + fmin(far * 0.06, 2 * gap);
}

/* Edges that pass between a row and the next. */
static uint32_t row_steps(const struct tt_layout_graph *graph, uint32_t row)
{
	uint32_t count = 0;

	for (uint32_t i = graph->row_at[row]; i < graph->row_at[row + 1]; i++)
		count +=
			graph->near_at[0][graph->order[i] + 1] - graph->near_at[0][graph->order[i]];
	return count;
}

/* Whether a row holds nothing but what trails, or ports: it belongs to the row above. */
static bool row_trails(const struct tt_layout_graph *graph, uint32_t row)
{
	uint32_t i = graph->row_at[row];

	while (i < graph->row_at[row + 1] &&
	       (graph->vertices[graph->order[i]].aside || graph->vertices[graph->order[i]].port))
		i++;
	return i == graph->row_at[row + 1];
}

/* Gives every row its column, none much higher than `page`: breaks where few edges are cut. */
static void break_columns(struct work *w, double page)
{
	uint32_t rows = w->graph.row_count, column = 0, row = 0;

	while (row < rows) {
		double used = 0;
		uint32_t end = row, best = rows, fewest = UINT32_MAX;

		/* A row belongs to the page if more than half of it fits. */
		while (end < rows && (end == row || used + w->tall[end] / 2 < page)) {
			used += w->tall[end] + w->gap[end];
			end++;
			uint32_t cut = row_steps(&w->graph, end - 1);
			if (used > page * 0.8 && cut <= fewest) {
				fewest = cut;
				best = end;
			}
		}
		if (end == rows && used <= page * 1.1)
			best = rows;
		else if (best == rows && end < rows)
			best = end;
		while (best < rows && row_trails(&w->graph, best))
			best++;
		for (; row < best; row++)
			w->column[row] = column;
		column++;
	}
	w->layout->columns = column;
}

/* The extent of the columns as they are. */
static struct tt_layout_point measure_columns(const struct work *w)
{
	struct tt_layout_point size = {0, 0};
	uint32_t row = 0;

	for (uint32_t column = 0; column < w->layout->columns; column++) {
		double left = INFINITY, right = -INFINITY, height = 0;

		for (; row < w->graph.row_count && w->column[row] == column; row++) {
			left = fmin(left, w->left[row]);
			right = fmax(right, w->right[row]);
			height += w->tall[row] + w->gap[row];
		}
		size.x += right - left + 3 * TRACK_PAD;
		size.y = fmax(size.y, height);
	}
	return size;
}

/* As many columns as make a page of the style's aspect: from many to one, until it is not too wide. */
static void choose_columns(struct work *w)
{
	const struct tt_layout_style *style = w->layout->style;
	double height = 0, narrowest = INFINITY;

	for (uint32_t row = 0; row < w->graph.row_count; row++) {
		w->gap[row] = gap_below(w, row);
		height += w->tall[row] + w->gap[row];
		if (w->right[row] > w->left[row])
			narrowest = fmin(narrowest, w->right[row] - w->left[row]);
	}
	double columns = 1;
	if (height > style->column_height)
		columns = fmin(ceil(sqrt(style->aspect * height / fmax(narrowest, 100))), 64);
	for (; columns > 1; columns--) {
		break_columns(w, height / columns);
		struct tt_layout_point size = measure_columns(w);
		if (size.x <= size.y * style->aspect * 1.2)
			return;
	}
	break_columns(w, height);
}

struct crossing {
	double x;
	uint32_t step;
};

static int compare_crossings(const void *a, const void *b)
{
	const struct crossing *first = a, *second = b;

	if (first->x != second->x)
		return first->x > second->x ? -1 : 1;
	return first->step < second->step ? -1 : first->step > second->step;
}

/* Numbers the edges that go from a column to the next: the rightmost turns first. What trails is not drawn. */
static tt_status number_tracks(struct work *w)
{
	const struct tt_layout_graph *graph = &w->graph;
	struct crossing *found =
		tt_arena_calloc(&w->scratch, (size_t)graph->step_count + 1, sizeof(*found));

	if (!found)
		return tt_fail_nomem();
	for (uint32_t row = 0; row + 1 < graph->row_count; row++) {
		uint32_t count = 0;

		if (w->column[row] == w->column[row + 1])
			continue;
		for (uint32_t i = graph->row_at[row]; i < graph->row_at[row + 1]; i++) {
			uint32_t vertex = graph->order[i];

			for (uint32_t n = graph->near_at[0][vertex];
			     n < graph->near_at[0][vertex + 1]; n++) {
				uint32_t step = graph->near_step[0][n];

				if (!graph->vertices[graph->steps[step].down].aside)
					found[count++] = (struct crossing){w->up_x[step], step};
			}
		}
		qsort(found, count, sizeof(*found), compare_crossings);
		for (uint32_t i = 0; i < count; i++)
			w->track[found[i].step] = i;
		w->tracks[w->column[row]] = count;
	}
	return TTNN_OK;
}

/* Between the tracks behind a column. */
static double track_gap(const struct work *w, uint32_t column)
{
	return fmin(TRACK, TRACKS / fmax(w->tracks[column], 1));
}

/* What the tracks behind a column take of space. */
static double track_space(const struct work *w, uint32_t column)
{
	return w->tracks[column] ? w->tracks[column] * track_gap(w, column) + TRACK_PAD : 0;
}

static void place_columns(struct work *w)
{
	struct tt_layout *layout = w->layout;
	uint32_t rows = w->graph.row_count;
	double x = 0, y_first = 0;

	for (uint32_t column = 0; column < layout->columns; column++)
		y_first = fmax(y_first, track_space(w, column));
	layout->height = 0;
	for (uint32_t row = 0, column = 0; row < rows; column++) {
		double left = INFINITY, right = -INFINITY, y = y_first;

		for (; row < rows && w->column[row] == column; row++) {
			left = fmin(left, w->left[row]);
			right = fmax(right, w->right[row]);
			w->top[row] = y;
			w->bottom[column] = y + w->tall[row];
			y = w->bottom[column] + w->gap[row];
		}
		w->shift[column] = x - left;
		w->edge_right[column] = x + right - left;
		layout->height = fmax(layout->height, w->bottom[column] + track_space(w, column));
		x = w->edge_right[column];
		layout->width = x;
		x += track_space(w, column) + 2 * TRACK_PAD;
	}
}

/* ---- results -------------------------------------------------------------------------------- */

static double column_shift(const struct work *w, uint32_t vertex)
{
	return w->shift[w->column[w->graph.vertices[vertex].row]];
}

/* Where a box stands: at the top of its row, but what nothing leads to stands near what it feeds. */
static struct tt_layout_point corner(const struct work *w, uint32_t vertex)
{
	const struct tt_layout_graph *graph = &w->graph;
	const struct tt_layout_vertex *v = &graph->vertices[vertex];
	double y = w->top[v->row];

	if (graph->near_at[1][vertex] == graph->near_at[1][vertex + 1] &&
	    graph->near_at[0][vertex] != graph->near_at[0][vertex + 1])
		y += w->tall[v->row] - box_height(w, vertex);
	return (struct tt_layout_point){v->x - v->width / 2 + column_shift(w, vertex), y};
}

struct route {
	struct tt_layout_point *points;
	uint32_t count;
};

static void add_point(struct route *route, double x, double y)
{
	if (route->count > 0) {
		const struct tt_layout_point *last = &route->points[route->count - 1];

		if (last->x == x && last->y == y)
			return;
	}
	route->points[route->count++] = (struct tt_layout_point){x, y};
}

/* The points of one step: into the next row, or round the end of a column into the next one. */
static void route_step(const struct work *w, uint32_t index, struct route *route)
{
	const struct tt_layout_step *step = &w->graph.steps[index];
	uint32_t up_row = w->graph.vertices[step->up].row, column = w->column[up_row];
	double from = w->up_x[index] + column_shift(w, step->up);
	double to = w->down_x[index] + column_shift(w, step->down);

	add_point(route, from, w->top[up_row] + w->tall[up_row]);
	if (column != w->column[up_row + 1]) {
		double gap = track_gap(w, column), at = w->track[index] * gap;
		double last = (w->tracks[column] - 1) * gap;
		double below = w->bottom[column] + TRACK_PAD / 2 + at;
		double beside = w->edge_right[column] + TRACK_PAD + at;
		double above = w->top[up_row + 1] - TRACK_PAD / 2 - (last - at);

		add_point(route, from, below);
		add_point(route, beside, below);
		add_point(route, beside, above);
		add_point(route, to, above);
	}
	add_point(route, to, w->top[up_row + 1]);
}

static void route_edge(const struct work *w, uint32_t index, struct route *route)
{
	const struct tt_layout_edge *edge = &w->layout->edges[index];
	uint32_t up = upper(edge), down = lower(edge), step = w->first_step[index];
	uint32_t last = step + w->rows.row[down] - w->rows.row[up] - 1;

	add_point(route, w->up_x[step] + column_shift(w, up), corner(w, up).y + box_height(w, up));
	for (uint32_t i = step; i <= last; i++)
		route_step(w, i, route);
	add_point(route, w->down_x[last] + column_shift(w, down), corner(w, down).y);
	if (up == edge->from)
		return;
	for (uint32_t i = 0, j = route->count; i + 1 < j; i++) {
		struct tt_layout_point point = route->points[i];

		route->points[i] = route->points[--j];
		route->points[j] = point;
	}
}

/* Whether an edge goes from a column to another. */
static bool turns(const struct work *w, uint32_t index)
{
	const struct tt_layout_edge *edge = &w->layout->edges[index];

	return w->column[w->rows.row[edge->from]] != w->column[w->rows.row[edge->to]];
}

static tt_status make_routes(struct work *w, struct tt_arena *arena)
{
	struct tt_layout *layout = w->layout;
	uint32_t spans_max = 1;

	for (uint32_t i = 0; i < layout->edge_count; i++) {
		if (drawn(&layout->edges[i])) {
			uint32_t span = w->rows.row[lower(&layout->edges[i])] -
					w->rows.row[upper(&layout->edges[i])];
			spans_max = span > spans_max ? span : spans_max;
		}
	}
	/* Six points a step at most, and both ends. */
	struct tt_layout_point *points =
		tt_arena_calloc(&w->scratch, (size_t)spans_max * 6 + 2, sizeof(*points));
	if (!points)
		return tt_fail_nomem();
	for (uint32_t i = 0; i < layout->edge_count; i++) {
		struct route route = {points, 0};

		if (!drawn(&layout->edges[i]) || (layout->edges[i].trailing && turns(w, i)))
			continue;
		route_edge(w, i, &route);
		struct tt_layout_point *copy = tt_arena_calloc(arena, route.count, sizeof(*copy));
		if (!copy)
			return tt_fail_nomem();
		memcpy(copy, points, sizeof(*copy) * route.count);
		layout->edges[i].points = copy;
		layout->edges[i].point_count = route.count;
	}
	return TTNN_OK;
}

/* A tag's way is a step like others. */
static void finish_tags(struct work *w)
{
	struct tt_layout *layout = w->layout;

	for (uint32_t i = 0; i < layout->tag_count; i++) {
		struct tt_layout_tag *tag = &layout->tags[i];
		uint32_t vertex = layout->node_count + i;
		uint32_t step = w->first_step[layout->edge_count + i];
		struct tt_layout_point at = corner(w, vertex);
		struct route route = {tag->points, 0};

		tag->x = at.x;
		tag->y = at.y;
		add_point(&route, w->up_x[step] + column_shift(w, vertex),
			  at.y + layout->style->tag_height);
		route_step(w, step, &route);
		add_point(&route, w->down_x[step] + column_shift(w, tag->node),
			  corner(w, tag->node).y);
		tag->point_count = route.count;
	}
}

static tt_status run(struct work *w, struct tt_arena *arena)
{
	struct tt_layout *layout = w->layout;

	TT_TRY(tt_layout_rows(&w->rows, layout, &w->scratch));
	TT_TRY(make_tags(w, arena));
	TT_TRY(make_vertices(w));
	fill_vertices(w);
	fill_rows(&w->graph);
	TT_TRY(fill_near(w));
	TT_TRY(tt_layout_arrange(&w->graph, &w->scratch));
	TT_TRY(tt_layout_place(&w->graph, &w->scratch));
	TT_TRY(make_ports(w));
	TT_TRY(measure_rows(w));
	choose_columns(w);
	TT_TRY(number_tracks(w));
	place_columns(w);
	for (uint32_t i = 0; i < layout->node_count; i++) {
		struct tt_layout_point at = corner(w, i);

		layout->nodes[i].x = at.x;
		layout->nodes[i].y = at.y;
	}
	finish_tags(w);
	return make_routes(w, arena);
}

tt_status tt_layout_run(struct tt_layout *layout, struct tt_arena *arena)
{
	struct work w = {.layout = layout};
	tt_status status = TTNN_OK;

	layout->tag_count = layout->columns = 0;
	layout->width = layout->height = 0;
	for (uint32_t i = 0; i < layout->edge_count; i++) {
		layout->edges[i].points = NULL;
		layout->edges[i].point_count = 0;
	}
	if (layout->node_count > 0)
		status = run(&w, arena);
	tt_arena_deinit(&w.scratch);
	return status;
}
