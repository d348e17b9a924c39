#include "device/mesh.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"

/* How a shape and a place print. */
#define SHAPE "MeshShape([%" PRIu32 ", %" PRIu32 "])"
#define PLACE "MeshCoordinate([%" PRIu32 ", %" PRIu32 "])"

/* Steps after which a search for a ring gives up. */
#define MAX_STEPS 5000000

/* ---- lines ------------------------------------------------------------------------------- */

/* The places round the edge of at least 2 × 2, clockwise from the first; returns how many. */
static uint32_t walk_edge(struct tt_mesh_place *out, uint32_t rows, uint32_t cols)
{
	uint32_t n = 0;

	for (uint32_t c = 0; c < cols; c++)
		out[n++] = (struct tt_mesh_place){0, c};
	for (uint32_t r = 1; r < rows; r++)
		out[n++] = (struct tt_mesh_place){r, cols - 1};
	for (uint32_t c = cols - 1; c-- > 0;)
		out[n++] = (struct tt_mesh_place){rows - 1, c};
	for (uint32_t r = rows - 1; r-- > 1;)
		out[n++] = (struct tt_mesh_place){r, 0};
	return n;
}

struct search {
	const struct tt_mesh *mesh;
	struct tt_mesh_place *path;
	bool *used; /* by place, row by row */
	uint32_t length;
	bool ring; /* the end must be a neighbour of the start */
	uint32_t steps;
};

static uint32_t distance(struct tt_mesh_place a, struct tt_mesh_place b)
{
	return (a.row > b.row ? a.row - b.row : b.row - a.row) +
	       (a.col > b.col ? a.col - b.col : b.col - a.col);
}

/* Extends a path of `done` places; right before down before left before up. */
static bool extend(struct search *s, uint32_t done)
{
	static const struct {
		int row, col;
	} ways[] = {{0, 1}, {1, 0}, {0, -1}, {-1, 0}};
	struct tt_mesh_place end = s->path[done - 1];

	if (s->steps++ > MAX_STEPS)
		return false;
	if (s->ring && distance(end, s->path[0]) > s->length - done + 1)
		return false;
	if (done == s->length)
		return true;
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		struct tt_mesh_place next = {end.row + (uint32_t)ways[i].row,
					     end.col + (uint32_t)ways[i].col};
		bool *used;

		if (next.row >= s->mesh->rows || next.col >= s->mesh->cols)
			continue;
		used = &s->used[next.row * s->mesh->cols + next.col];
		if (*used)
			continue;
		*used = true;
		s->path[done] = next;
		if (extend(s, done + 1))
			return true;
		*used = false;
	}
	return false;
}

static bool search_line(struct search *s, struct tt_mesh_place start)
{
	s->steps = 0;
	for (uint32_t i = 0; i < s->mesh->rows * s->mesh->cols; i++)
		s->used[i] = false;
	s->used[start.row * s->mesh->cols + start.col] = true;
	s->path[0] = start;
	return extend(s, 1);
}

/* The part of the edge that starts at a place. */
static void cut_edge(uint32_t *out, const struct tt_mesh *mesh, const struct search *s,
		     struct tt_mesh_place start)
{
	uint32_t n = walk_edge(s->path, mesh->rows, mesh->cols), first = 0;

	while (first < n && distance(s->path[first], start))
		first++;
	for (uint32_t i = 0; i < s->length; i++, first = first + 1 < n ? first + 1 : 0)
		out[i] = mesh->chips[s->path[first].row * mesh->cols + s->path[first].col];
}

/* A line of linked chips from a place on; *found is false when there is none. */
static tt_status lay_line(uint32_t *out, bool *found, const struct tt_mesh *mesh, uint32_t length,
			  struct tt_mesh_place start)
{
	size_t places = (size_t)mesh->rows * mesh->cols;
	struct search s = {.mesh = mesh, .length = length};

	s.path = tt_calloc(places, sizeof(*s.path));
	s.used = tt_calloc(places, sizeof(*s.used));
	if (!s.path || !s.used) {
		tt_free(s.path);
		tt_free(s.used);
		return tt_fail_nomem();
	}
	if ((mesh->rows == 2 && mesh->cols > 2) || (mesh->cols == 2 && mesh->rows > 2)) {
		cut_edge(out, mesh, &s, start);
		*found = true;
	} else {
		s.ring = length % 2 == 0;
		*found = search_line(&s, start);
		if (!*found && s.ring) {
			s.ring = false;
			*found = search_line(&s, start);
		}
		for (uint32_t i = 0; *found && i < length; i++)
			out[i] = mesh->chips[s.path[i].row * mesh->cols + s.path[i].col];
	}
	tt_free(s.path);
	tt_free(s.used);
	return TTNN_OK;
}

/* ---- rectangles -------------------------------------------------------------------------- */

static bool fits(const struct tt_mesh *mesh, uint32_t rows, uint32_t cols, struct tt_mesh_place at)
{
	return at.row < mesh->rows && rows <= mesh->rows - at.row && at.col < mesh->cols &&
	       cols <= mesh->cols - at.col;
}

static void copy(uint32_t *out, const struct tt_mesh *mesh, uint32_t rows, uint32_t cols,
		 struct tt_mesh_place at)
{
	for (uint32_t r = 0; r < rows; r++)
		for (uint32_t c = 0; c < cols; c++)
			*out++ = mesh->chips[(at.row + r) * mesh->cols + at.col + c];
}

/* Rows are taken from the mesh's columns, always from its first place: upstream's way. */
static void copy_transposed(uint32_t *out, const struct tt_mesh *mesh, uint32_t rows, uint32_t cols)
{
	for (uint32_t r = 0; r < rows; r++)
		for (uint32_t c = 0; c < cols; c++)
			*out++ = mesh->chips[c * mesh->cols + r];
}

/* ---- what is asked for -------------------------------------------------------------------- */

static tt_status fail_shape(const struct tt_mesh *system, uint32_t rows, uint32_t cols,
			    struct tt_mesh_place at)
{
	return tt_fail(TTNN_INVALID,
		       "Requested mesh is too big and is not rotatable: " SHAPE
		       " and SystemMesh " SHAPE ", offset " PLACE,
		       rows, cols, system->rows, system->cols, at.row, at.col);
}

static tt_status check_start(const struct tt_mesh *system, struct tt_mesh_place start)
{
	if (start.row >= system->rows || start.col >= system->cols)
		return tt_fail_cond(TTNN_INVALID,
				    "system_shape[0] > system_offset[0] && system_shape[1] > "
				    "system_offset[1]",
				    "The specified offset " PLACE
				    " is out of bounds for the system mesh shape " SHAPE,
				    start.row, start.col, system->rows, system->cols);
	return TTNN_OK;
}

tt_status tt_mesh_map(uint32_t *out, const struct tt_mesh *system, uint32_t rows, uint32_t cols,
		      const struct tt_mesh_place *at)
{
	uint64_t size = (uint64_t)rows * cols;
	struct tt_mesh_place start = at ? *at : (struct tt_mesh_place){0, 0};
	struct tt_mesh_place transposed = {start.col, start.row};
	struct tt_mesh system_transposed = {system->cols, system->rows, NULL};
	bool found;

	if (size == 0)
		return tt_fail_cond(TTNN_INVALID, "requested_size > 0",
				    "Requested mesh shape " SHAPE
				    " has zero devices (mesh_size=0). "
				    "MeshShape must have at least one device.",
				    rows, cols);
	if (size > (uint64_t)system->rows * system->cols)
		return tt_fail_cond(TTNN_INVALID, "requested_size <= system_size",
				    "Requested mesh shape " SHAPE " requires %" PRIu64
				    " devices, but only %" PRIu32
				    " devices are available in the system mesh " SHAPE ".",
				    rows, cols, size, system->rows * system->cols, system->rows,
				    system->cols);
	if (rows == 1 || cols == 1) {
		TT_TRY(check_start(system, start));
		TT_TRY(lay_line(out, &found, system, (uint32_t)size, start));
		return found ? TTNN_OK : fail_shape(system, rows, cols, start);
	}
	if (fits(system, rows, cols, start))
		copy(out, system, rows, cols, start);
	else if (fits(&system_transposed, rows, cols, transposed))
		copy_transposed(out, system, rows, cols);
	else
		return fail_shape(system, rows, cols, start);
	return TTNN_OK;
}

tt_status tt_mesh_part(uint32_t *out, const struct tt_mesh *parent, uint32_t rows, uint32_t cols,
		       const struct tt_mesh_place *at)
{
	struct tt_mesh_place start = at ? *at : (struct tt_mesh_place){0, 0};

	if (rows == 0 || cols == 0)
		return tt_fail(TTNN_INVALID,
			       "Invalid submesh shape: (" SHAPE
			       "). All dimensions must be positive.",
			       rows, cols);
	if (!fits(parent, rows, cols, start))
		return tt_fail_cond(TTNN_INVALID,
				    "offset_coord[i] + submesh_shape[i] - 1 < view_->shape()[i]",
				    "Submesh shape " SHAPE " and offset " PLACE
				    " does not fit within parent mesh (" SHAPE ").",
				    rows, cols, start.row, start.col, parent->rows, parent->cols);
	copy(out, parent, rows, cols, start);
	return TTNN_OK;
}

static bool holds_all(const struct tt_mesh *mesh, const uint32_t *chips)
{
	uint32_t count = mesh->rows * mesh->cols;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t k = 0;

		while (k < count && mesh->chips[k] != chips[i])
			k++;
		if (k == count)
			return false;
	}
	return true;
}

static tt_status fail_reshape(const struct tt_mesh *now, uint32_t rows, uint32_t cols)
{
	return tt_fail_cond(
		TTNN_INVALID,
		"current_fabric_nodes.contains(new_mapped_devices.fabric_node_ids[i])",
		"User has requested a reshape of the MeshDevice to shape: " SHAPE
		", but it is not possible to form a physically connected mesh grid with "
		"the opened devices from the original shape: " SHAPE ".",
		rows, cols, now->rows, now->cols);
}

tt_status tt_mesh_reshape(uint32_t *out, const struct tt_mesh *now, const struct tt_mesh *system,
			  uint32_t rows, uint32_t cols)
{
	uint32_t count = now->rows * now->cols;
	bool found = true;

	if ((uint64_t)rows * cols != count)
		return tt_fail_cond(TTNN_INVALID, "new_shape.mesh_size() == num_devices",
				    "New shape must have the same number of devices as current "
				    "shape");
	/* The same, or one line made into another: nothing moves. */
	if (rows == now->rows || ((rows == 1 || cols == 1) && (now->rows == 1 || now->cols == 1)))
		copy(out, now, now->rows, now->cols, (struct tt_mesh_place){0, 0});
	else if (rows == 1 || cols == 1)
		TT_TRY(lay_line(out, &found, now, count, (struct tt_mesh_place){0, 0}));
	else
		TT_TRY(tt_mesh_map(out, system, rows, cols, NULL));
	return found && holds_all(now, out) ? TTNN_OK : fail_reshape(now, rows, cols);
}

tt_status tt_mesh_check_cut(const struct tt_mesh *parent, uint32_t rows, uint32_t cols)
{
	if (rows == 0 || cols == 0)
		return tt_mesh_part(NULL, parent, rows, cols, NULL);
	if (parent->rows % rows || parent->cols % cols)
		return tt_fail_cond(TTNN_INVALID, "shape()[dim] % submesh_shape[dim] == 0",
				    "Shape " SHAPE " is not divisible by submesh shape " SHAPE
				    " along dimension %d",
				    parent->rows, parent->cols, rows, cols,
				    parent->rows % rows ? 0 : 1);
	return TTNN_OK;
}
