#include "device/program.h"

#include <inttypes.h>
#include <stdatomic.h>

#include "base/mem.h"
#include "tensor/core.h"

/* Pages are counted in 16 bits on the chip. */
#define PAGES_MAX 65535

#define RANGE_FORMAT "[%u-%u - %u-%u]"
#define RANGE_ARGS(range) (range)->start.x, (range)->start.y, (range)->end.x, (range)->end.y

/* Upstream words a failed condition and a plain throw differently; this stands for the latter. */
#define THROWN "tt::exception"

/* Texts of what a program's memory is made of. */
static const struct {
	const char *buffer, *buffers;
} names[] = {
	[TT_MEMORY_CIRCULAR_BUFFER] = {"circular buffer", "circular buffers"},
	[TT_MEMORY_DATAFLOW_BUFFER] = {"dataflow buffer", "dataflow buffers"},
	[TT_MEMORY_SCRATCHPAD] = {"dataflow buffer", "dataflow buffers"},
};

/* Upstream makes two objects of every program it builds and numbers both. */
#define IDS_PER_PROGRAM 2

static _Atomic uint64_t next_id;

void tt_program_start(struct tt_program *program)
{
	program->id = atomic_fetch_add_explicit(&next_id, IDS_PER_PROGRAM, memory_order_relaxed);
	program->rows.count = 0;
	program->regions.count = 0;
	program->indices = 0;
	program->same_cores = true;
}

void tt_program_set_next_id(uint64_t id)
{
	atomic_store_explicit(&next_id, id, memory_order_relaxed);
}

void tt_program_deinit(struct tt_program *program)
{
	TT_VEC_DEINIT(&program->rows);
	TT_VEC_DEINIT(&program->regions);
	*program = (struct tt_program){0};
}

/* ---- adding -------------------------------------------------------------------------------- */

static bool ranges_meet(const struct ttnn_core_range *a, const struct ttnn_core_range *b)
{
	return a->start.x <= b->end.x && b->start.x <= a->end.x && a->start.y <= b->end.y &&
	       b->start.y <= a->end.y;
}

static bool ranges_equal(const struct ttnn_core_range *a, const struct ttnn_core_range *b)
{
	return a->start.x == b->start.x && a->start.y == b->start.y && a->end.x == b->end.x &&
	       a->end.y == b->end.y;
}

static bool range_meets_set(const struct ttnn_core_range *range, const ttnn_core_set *set)
{
	size_t count;
	const struct ttnn_core_range *ranges = ttnn_core_set_ranges(set, &count);

	for (size_t i = 0; i < count; i++)
		if (ranges_meet(range, &ranges[i]))
			return true;
	return false;
}

static bool sets_meet(const ttnn_core_set *a, const ttnn_core_set *b)
{
	size_t count;
	const struct ttnn_core_range *ranges = ttnn_core_set_ranges(a, &count);

	for (size_t i = 0; i < count; i++)
		if (range_meets_set(&ranges[i], b))
			return true;
	return false;
}

static bool row_has_index(const struct tt_program_row *row, uint32_t index)
{
	for (uint32_t i = 0; i < row->view_count; i++)
		if (row->views[i].index == index)
			return true;
	return false;
}

/* Size and pages of one circular buffer by itself, in upstream's order. */
static tt_status check_views(const struct tt_program_row *row)
{
	if (row->borrowed && row->far)
		return tt_fail_cond(TTNN_INVALID, THROWN,
				    "Only L1 buffers can have an associated circular buffer!");
	if (row->borrowed && row->room && row->size > row->room)
		return tt_fail_cond(TTNN_INVALID, "total_size <= max_size",
				    "Cannot set circular buffer size to %" PRIu64
				    ". This is larger than the associated dynamically allocated L1 "
				    "buffer bank size of %" PRIu64 " B",
				    row->size, row->room);
	for (uint32_t i = 0; i < row->view_count; i++) {
		uint32_t index = row->views[i].index, page = row->views[i].page_size;

		if (index >= TT_PROGRAM_INDICES)
			return tt_fail_cond(
				TTNN_INVALID, "buffer_index < capacity",
				"Buffer index (%u) exceeds max number of circular buffers per core (%u)",
				index, TT_PROGRAM_INDICES);
		if (page == 0 || row->size % page != 0)
			return tt_fail_cond(TTNN_INVALID, THROWN,
					    "Total circular buffer size %" PRIu64
					    " B must be divisible by page size %u B",
					    row->size, page);
	}
	for (uint32_t i = 0; i < row->view_count; i++) {
		uint64_t pages = row->size / row->views[i].page_size;

		if (pages > PAGES_MAX)
			return tt_fail_cond(TTNN_INVALID, "num_pages <= max_num_cb_pages",
					    "For buffer index %u, number of CB pages %" PRIu64
					    " is greater than %u. Would cause wraparound in the CB "
					    "calculations.",
					    row->views[i].index, pages, PAGES_MAX);
	}
	return TTNN_OK;
}

/* The numbers of a circular buffer: allowed on this chip, and free on all its cores. */
static tt_status check_indices(const struct tt_program *program, const struct tt_program_row *row,
			       const struct tt_program_limits *limits)
{
	for (uint32_t i = 0; i < row->view_count; i++)
		if (row->views[i].index >= limits->indices)
			return tt_fail_cond(
				TTNN_INVALID, THROWN,
				"Buffer index (%u) exceeds max number of circular buffers per core (%u)",
				row->views[i].index, limits->indices);
	for (uint32_t i = 0; i < row->view_count; i++) {
		uint32_t index = row->views[i].index;

		if (!(program->indices >> index & 1))
			continue;
		for (size_t k = 0; k < program->rows.count; k++) {
			const struct tt_program_row *other = &program->rows.data[k];

			if (row_has_index(other, index) && sets_meet(other->cores, row->cores))
				return tt_fail_cond(TTNN_INVALID, THROWN,
						    "Invalid circular buffer index: Cannot add "
						    "circular buffer at index %u, another circular "
						    "buffer already exists",
						    index);
		}
	}
	return TTNN_OK;
}

static bool is_circular(const struct tt_program *program)
{
	return program->rows.count && program->rows.data[0].kind == TT_MEMORY_CIRCULAR_BUFFER;
}

static tt_status check_kind(const struct tt_program *program, const struct tt_program_row *row)
{
	bool circular = row->kind == TT_MEMORY_CIRCULAR_BUFFER;

	if (row->size > UINT32_MAX)
		return tt_fail(TTNN_INVALID, "A %s of %" PRIu64 " B is larger than any L1",
			       names[row->kind].buffer, row->size);
	if (row->view_count > TT_PROGRAM_VIEWS)
		return tt_fail(TTNN_INVALID, "A buffer under %u numbers: at most %d are possible",
			       row->view_count, TT_PROGRAM_VIEWS);
	if (!program->rows.count || circular == is_circular(program))
		return TTNN_OK;
	if (circular)
		return tt_fail_cond(
			TTNN_INVALID, "this->dataflow_buffers_.empty()",
			"Cannot add circular buffer to a program that already has dataflow buffers");
	return tt_fail_cond(TTNN_INVALID, "this->circular_buffers_.empty()",
			    "Cannot add dataflow buffer to a program with circular buffers");
}

/* Most rows of a program have the set of the row before them, so that one is remembered. */
static tt_status cut_normal(const ttnn_core_set **out, struct tt_program *program,
			    const ttnn_core_set *cores)
{
	if (program->given != cores) {
		TT_TRY(tt_core_set_merge(&program->normal, cores, NULL));
		program->given = cores;
	}
	*out = program->normal;
	return TTNN_OK;
}

tt_status tt_program_add(struct tt_program *program, const struct tt_program_row *row,
			 const struct tt_program_limits *limits)
{
	const ttnn_core_set *cores = row->cores;
	struct tt_program_row *slot;

	TT_TRY(check_kind(program, row));
	if (row->kind == TT_MEMORY_CIRCULAR_BUFFER) {
		TT_TRY(check_views(row));
		TT_TRY(check_indices(program, row, limits));
	} else {
		TT_TRY(cut_normal(&cores, program, cores));
	}
	slot = TT_VEC_PUSH(&program->rows);
	if (!slot)
		return tt_fail_nomem();
	*slot = *row;
	slot->cores = cores;
	if (row->kind == TT_MEMORY_CIRCULAR_BUFFER)
		for (uint32_t i = 0; i < row->view_count; i++)
			program->indices |= (uint64_t)1 << row->views[i].index;
	program->same_cores = program->rows.count == 1 ||
			      (program->same_cores && cores == program->rows.data[0].cores);
	return TTNN_OK;
}

bool tt_program_takes_room(const struct tt_program *program)
{
	for (size_t i = 0; i < program->rows.count; i++)
		if (!program->rows.data[i].borrowed)
			return true;
	return false;
}

/* ---- placing ------------------------------------------------------------------------------- */

static uint64_t round_up(uint64_t address, uint32_t alignment)
{
	return (address + alignment - 1) / alignment * alignment;
}

static struct tt_program_region *find_region(const struct tt_program *program,
					     const struct ttnn_core_range *range)
{
	for (size_t i = 0; i < program->regions.count; i++)
		if (ranges_equal(&program->regions.data[i].range, range))
			return &program->regions.data[i];
	return NULL;
}

/* A region for every range of the set that has none yet, in the order of first use. */
static tt_status add_regions(struct tt_program *program, const ttnn_core_set *set)
{
	size_t count;
	const struct ttnn_core_range *ranges = ttnn_core_set_ranges(set, &count);

	for (size_t i = 0; i < count; i++) {
		struct tt_program_region *region;

		if (find_region(program, &ranges[i]))
			continue;
		region = TT_VEC_PUSH(&program->regions);
		if (!region)
			return tt_fail_nomem();
		*region = (struct tt_program_region){ranges[i], 0};
	}
	return TTNN_OK;
}

/*
 * Behind all that lies on the very ranges of the row. Regions that only share cores with it are then
 * moved on too, unless they are already beyond: what took them there may lie on other cores.
 */
static void place_buffer(struct tt_program *program, struct tt_program_row *row,
			 const struct tt_program_limits *limits)
{
	size_t count;
	const struct ttnn_core_range *ranges = ttnn_core_set_ranges(row->cores, &count);
	uint64_t address = limits->l1_base;

	for (size_t i = 0; i < count; i++) {
		const struct tt_program_region *region = find_region(program, &ranges[i]);

		if (region && region->end > address)
			address = region->end;
	}
	address = round_up(address, limits->alignment);
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < program->regions.count; k++) {
			struct tt_program_region *region = &program->regions.data[k];

			if (ranges_meet(&region->range, &ranges[i]) && address >= region->end)
				region->end = address + row->size;
		}
	row->address = address;
}

/* Behind everything that shares a core with the row. */
static tt_status place_scratchpad(struct tt_program *program, struct tt_program_row *row,
				  const struct tt_program_limits *limits)
{
	uint64_t address = limits->l1_base;

	TT_TRY(add_regions(program, row->cores));
	for (size_t k = 0; k < program->regions.count; k++) {
		const struct tt_program_region *region = &program->regions.data[k];

		if (region->end > address && range_meets_set(&region->range, row->cores))
			address = region->end;
	}
	address = round_up(address, limits->alignment);
	for (size_t k = 0; k < program->regions.count; k++) {
		struct tt_program_region *region = &program->regions.data[k];

		if (range_meets_set(&region->range, row->cores))
			region->end = address + row->size;
	}
	row->address = address;
	return TTNN_OK;
}

static tt_status place_each(struct tt_program *program, const struct tt_program_limits *limits)
{
	struct tt_program_row *rows = program->rows.data;

	/* all ranges are known before the first is placed, so that sharing cores counts both ways */
	for (size_t i = 0; i < program->rows.count; i++)
		if (rows[i].kind != TT_MEMORY_SCRATCHPAD)
			TT_TRY(add_regions(program, rows[i].cores));
	for (size_t i = 0; i < program->rows.count; i++)
		if (rows[i].kind != TT_MEMORY_SCRATCHPAD && !rows[i].borrowed)
			place_buffer(program, &rows[i], limits);
	for (size_t i = 0; i < program->rows.count; i++)
		if (rows[i].kind == TT_MEMORY_SCRATCHPAD && !rows[i].borrowed)
			TT_TRY(place_scratchpad(program, &rows[i], limits));
	return TTNN_OK;
}

/*
 * The usual case, all rows on the same cores, is a stack: every range is taken equally far, so the
 * first one, which messages name, stands for all.
 */
static tt_status place_stack(struct tt_program *program, const struct tt_program_limits *limits)
{
	struct tt_program_row *rows = program->rows.data;
	struct tt_program_region *region = TT_VEC_PUSH(&program->regions);
	uint64_t end = limits->l1_base;
	bool any = false;

	if (!region)
		return tt_fail_nomem();
	for (int pads = 0; pads <= 1; pads++)
		for (size_t i = 0; i < program->rows.count; i++) {
			if ((rows[i].kind == TT_MEMORY_SCRATCHPAD) != pads || rows[i].borrowed)
				continue;
			rows[i].address = round_up(end, limits->alignment);
			end = rows[i].address + rows[i].size;
			any = true;
		}
	*region = (struct tt_program_region){ttnn_core_set_ranges(rows[0].cores, NULL)[0],
					     any ? end : 0};
	return TTNN_OK;
}

/* The first core of the range outside of the grid, column by column or row by row. */
static bool core_outside(struct ttnn_core *out, const struct ttnn_core_range *range,
			 struct ttnn_core grid, enum ttnn_orientation order)
{
	bool right = range->end.x >= grid.x, below = range->end.y >= grid.y;
	struct ttnn_core first_right = {range->start.x > grid.x ? range->start.x : grid.x,
					range->start.y};
	struct ttnn_core first_below = {range->start.x,
					range->start.y > grid.y ? range->start.y : grid.y};

	if (!right && !below)
		return false;
	if (order == TTNN_ORIENT_COL_MAJOR)
		*out = below && range->start.x < grid.x ? first_below : first_right;
	else
		*out = right && range->start.y < grid.y ? first_right : first_below;
	return true;
}

/* Whether the row before has the same cores, so that what holds for them is known. */
static bool same_as_before(const struct tt_program *program, size_t i)
{
	return i && program->rows.data[i].cores == program->rows.data[i - 1].cores;
}

/* Upstream seals the L1 of a program's cores before it places anything there. */
static tt_status check_workers(const struct tt_program *program,
			       const struct tt_program_limits *limits)
{
	for (size_t i = 0; i < program->rows.count; i++) {
		size_t count;
		const struct ttnn_core_range *ranges =
			ttnn_core_set_ranges(program->rows.data[i].cores, &count);
		struct ttnn_core core;

		for (size_t k = 0; k < count && !same_as_before(program, i); k++)
			if (core_outside(&core, &ranges[k], limits->worker, TTNN_ORIENT_COL_MAJOR))
				return tt_fail_cond(
					TTNN_INVALID,
					"core.x < grid_width_ && core.y < grid_height_",
					"Persistent L1 core %u-%u is outside the worker grid %ux%u",
					core.x, core.y, limits->worker.x, limits->worker.y);
	}
	return TTNN_OK;
}

tt_status tt_program_place(struct tt_program *program, const struct tt_program_limits *limits)
{
	program->regions.count = 0;
	if (!program->rows.count)
		return TTNN_OK;
	if (is_circular(program))
		TT_TRY(check_workers(program, limits));
	if (program->same_cores && ttnn_core_set_cores(program->rows.data[0].cores))
		return place_stack(program, limits);
	return place_each(program, limits);
}

/* ---- checking ------------------------------------------------------------------------------ */

static tt_status check_grid(const struct tt_program *program,
			    const struct tt_program_limits *limits)
{
	for (size_t i = 0; i < program->rows.count; i++) {
		size_t count;
		const struct ttnn_core_range *ranges =
			ttnn_core_set_ranges(program->rows.data[i].cores, &count);

		for (size_t k = 0; k < count && !same_as_before(program, i); k++)
			if (ranges[k].end.x >= limits->grid.x || ranges[k].end.y >= limits->grid.y)
				return tt_fail_cond(
					TTNN_INVALID,
					"in_worker_grid || entirely_on_service_cores(cr)",
					"Circular buffer core range " RANGE_FORMAT
					" in program %" PRIu64
					" exceeds device compute grid (%ux%u) and is not entirely "
					"on cores claimed via ServiceCoreManager",
					RANGE_ARGS(&ranges[k]), program->id, limits->grid.x,
					limits->grid.y);
	}
	return TTNN_OK;
}

tt_status tt_program_check(const struct tt_program *program, const struct tt_program_limits *limits,
			   uint64_t lowest)
{
	if (is_circular(program))
		TT_TRY(check_grid(program, limits));
	for (size_t i = 0; i < program->regions.count; i++) {
		const struct tt_program_region *region = &program->regions.data[i];
		enum tt_program_memory_kind kind = program->rows.data[0].kind;

		if (region->end > limits->l1_size)
			return tt_fail_cond(TTNN_DEVICE_OOM, THROWN,
					    "Statically allocated %s on core range " RANGE_FORMAT
					    " grow to %" PRIu64
					    " B which is beyond max L1 size of %" PRIu64 " B",
					    names[kind].buffers, RANGE_ARGS(&region->range),
					    region->end, limits->l1_size);
		if (lowest < region->end)
			return tt_fail_cond(TTNN_DEVICE_OOM, THROWN,
					    "Statically allocated %s in program %" PRIu64
					    " clash with L1 buffers on core range " RANGE_FORMAT
					    ". L1 buffer allocated at %" PRIu64
					    " and static %s region ends at %" PRIu64,
					    names[kind].buffers, program->id,
					    RANGE_ARGS(&region->range), lowest, names[kind].buffer,
					    region->end);
	}
	return TTNN_OK;
}

tt_status tt_program_check_unit(const char *name, const ttnn_core_set *cores,
				const struct tt_program_limits *limits)
{
	size_t count;
	const struct ttnn_core_range *ranges = ttnn_core_set_ranges(cores, &count);
	struct ttnn_core node;

	for (size_t i = 0; i < count; i++)
		if (core_outside(&node, &ranges[i], limits->grid, TTNN_ORIENT_ROW_MAJOR))
			return tt_fail_cond(
				TTNN_INVALID,
				"node.x < compute_grid_size.x && node.y < compute_grid_size.y",
				"WorkUnitSpec '%s' targets node (%u,%u), which is out of bounds. "
				"The compute worker grid on this device is %ux%u.",
				name, node.x, node.y, limits->grid.x, limits->grid.y);
	return TTNN_OK;
}

tt_status tt_program_check_kernel(const char *name, const ttnn_core_set *cores,
				  const struct tt_program_limits *limits)
{
	struct ttnn_core grid = limits->grid, worker = limits->worker;
	size_t count;
	const struct ttnn_core_range *ranges = ttnn_core_set_ranges(cores, &count);

	for (size_t i = 0; i < count; i++) {
		const struct ttnn_core_range *r = &ranges[i];
		/* the part of the range on the chip sticks out of the compute grid */
		uint32_t right = r->end.x < worker.x ? r->end.x : worker.x - 1;
		uint32_t bottom = r->end.y < worker.y ? r->end.y : worker.y - 1;

		if (r->start.x <= right && r->start.y <= bottom &&
		    (right >= grid.x || bottom >= grid.y))
			return tt_fail_cond(TTNN_INVALID, "not on_dispatch_core",
					    "Illegal kernel placement for %s, Kernels cannot be "
					    "placed on dispatch cores!",
					    name);
	}
	return TTNN_OK;
}
