/* repeat_plan.c: shards of repeated tensors, and which of them the usual program takes. */
#include "ops/movement/movement.h"
#include "ops/movement/repeat.h"
#include "ops/movement/shard_derive.h"

/* Whether exactly one dimension is repeated. */
bool tt_repeat_single(uint32_t *dim, const struct tt_repeats *repeats)
{
	uint32_t found = 0;

	for (uint32_t d = 0; d < repeats->rank; d++)
		if (repeats->times[d] != 1) {
			*dim = d;
			found++;
		}
	return found == 1;
}

/* ---- shards ------------------------------------------------------------------------------------------------ */

/* Whether what is repeated is whole in shards, so that copies stay on their core. */
static bool stays_local(const struct ttnn_tensor_spec *in, uint32_t dim, uint32_t times)
{
	uint64_t group = 1;

	if (dim + 1 == in->padded.rank || times <= 1)
		return true;
	for (uint32_t d = dim; d + 1 < in->padded.rank; d++)
		group *= in->padded.dim[d];
	return in->memory.shard.height && group && in->memory.shard.height % group == 0;
}

/*
 * Whether each core can repeat its own shard: full shards in L1 on the same cores, whole tiles,
 * and a dimension that shards do not cut. Otherwise pages travel, and interleaved ones are
 * cheaper to find.
 */
bool tt_repeat_in_place(const struct ttnn_tensor_spec *in, const struct ttnn_memory_config *memory,
			uint32_t dim, uint32_t times)
{
	bool cut =
		in->memory.layout == TTNN_WIDTH_SHARDED || in->memory.layout == TTNN_BLOCK_SHARDED;

	if (!tt_memory_config_is_sharded(&in->memory) || in->memory.buffer == TTNN_DRAM ||
	    tt_shards_uneven(in))
		return false;
	if (in->layout == TTNN_TILE &&
	    (in->shape.rank < 2 || tt_shape_last(&in->shape, 1) % TT_TILE ||
	     tt_shape_last(&in->shape, 2) % TT_TILE))
		return false;
	if (in->layout == TTNN_ROW_MAJOR && dim + 1 == in->shape.rank && cut)
		return false;
	if (tt_memory_config_is_sharded(memory) &&
	    (memory->buffer == TTNN_DRAM || memory->layout != in->memory.layout ||
	     (memory->has_shard && memory->shard.grid != in->memory.shard.grid)))
		return false;
	return stays_local(in, dim, times);
}

/* A shard grows along the repeated side. */
struct ttnn_shard_spec tt_repeat_shard(const struct ttnn_shard_spec *shard, bool last,
				       uint32_t times)
{
	struct ttnn_shard_spec out = *shard;

	if (last)
		out.width *= times;
	else
		out.height *= times;
	return out;
}

/*
 * Shards for the repeated shape. Rows that cannot be aligned take those that tiles would have, if
 * these fit.
 */
tt_status tt_repeat_new_shards(bool *found, struct ttnn_shard_spec *out,
			       const struct tt_repeat_request *request)
{
	const struct ttnn_tensor_spec *in = &request->in->spec;
	uint64_t element = tt_element_bytes(request->in), rows,
		 width = tt_shape_last(request->padded, 1);
	struct tt_shard_request want = {.device = tt_tensor_device(request->in),
					.padded = request->padded,
					.layout = request->layout,
					.orientation = request->order ? *request->order
						       : in->memory.has_shard
							       ? in->memory.shard.orientation
							       : TTNN_ORIENT_ROW_MAJOR,
					.tiled = in->layout == TTNN_TILE};

	*found = false;
	TT_TRY(tt_shape_rows(&rows, request->padded));
	if ((request->layout != TTNN_HEIGHT_SHARDED && request->layout != TTNN_WIDTH_SHARDED &&
	     request->layout != TTNN_BLOCK_SHARDED) ||
	    !rows || !width)
		return TTNN_OK;
	TT_TRY(tt_shard_make(out, &want, "Repeat"));
	*found = true;
	if (in->layout != TTNN_ROW_MAJOR)
		return TTNN_OK;
	TT_TRY(tt_shard_align_rows(found, out, &want, element, true));
	if (*found)
		return TTNN_OK;
	want.tiled = true;
	TT_TRY(tt_shard_make(out, &want, "Repeat (tile fallback)"));
	*found = out->width &&
		 out->width * element %
				 tt_memory_alignment(tt_tensor_device(request->in), TTNN_L1) ==
			 0 &&
		 width % out->width == 0;
	return TTNN_OK;
}

/*
 * Whether shards hold the pages of the tensor and nothing else, so that page i of the tensor can
 * be found by counting. Padding within shards, or rows in pieces, would put other pages in
 * between.
 */
static bool is_paged(const struct ttnn_memory_config *memory, const struct ttnn_shape *shape,
		     enum ttnn_layout layout)
{
	const struct ttnn_shard_spec *shard = &memory->shard;
	uint64_t unit = layout == TTNN_TILE ? 32 : 1, height = 1, width, down, across, cores;
	struct ttnn_core_range box;
	bool by_row = shard->orientation == TTNN_ORIENT_ROW_MAJOR;

	if (!tt_memory_config_is_sharded(memory))
		return true;
	if (!memory->has_shard || shape->rank < 2 || !shard->height || !shard->width ||
	    shard->height % unit || shard->width % unit)
		return false;
	for (uint32_t d = 0; d + 2 < shape->rank; d++)
		height *= shape->dim[d];
	height *= tt_align_to(tt_shape_last(shape, 2), unit);
	width = tt_align_to(tt_shape_last(shape, 1), unit);
	if (height % shard->height || width % shard->width)
		return false;
	down = height / shard->height;
	across = width / shard->width;
	cores = ttnn_core_set_cores(shard->grid);
	if (layout != TTNN_TILE && across != 1)
		return false;
	if (memory->layout == TTNN_HEIGHT_SHARDED)
		return across == 1 && down <= cores;
	if (memory->layout == TTNN_WIDTH_SHARDED)
		return down == 1 && across <= cores;
	if (memory->layout != TTNN_BLOCK_SHARDED || tt_core_set_box(&box, shard->grid) != TTNN_OK ||
	    tt_core_range_cores(&box) != cores)
		return false;
	return down == (by_row ? box.end.y - box.start.y : box.end.x - box.start.x) + 1 &&
	       across == (by_row ? box.end.x - box.start.x : box.end.y - box.start.y) + 1;
}

/* ---- steps -------------------------------------------------------------------------------------------------- */

bool tt_repeat_by_rows(const struct tt_tensor *in, const struct tt_repeats *repeats)
{
	const struct ttnn_shape *shape = &in->spec.shape;

	return in->spec.layout == TTNN_TILE && shape->rank >= 2 &&
	       (tt_shape_last(shape, 1) % TT_TILE || tt_shape_last(shape, 2) % TT_TILE) &&
	       (repeats->times[shape->rank - 2] > 1 || repeats->times[shape->rank - 1] > 1);
}

/* A dimension of extent 1 is repeated together with the next one. */
static void fold(struct tt_repeat_plan *plan, const struct ttnn_shape *shape, uint32_t limit)
{
	for (uint32_t d = 0; d + 1 <= limit; d++)
		if (shape->dim[d] == 1 && plan->times[d] > 1 && plan->times[d + 1] > 1) {
			plan->times[d + 1] *= plan->times[d];
			plan->times[d] = 1;
		}
}

/*
 * The steps of the generated program: detours out of shards and tiles, dimensions that are
 * repeated together, the order, and where the last step writes.
 */
void tt_repeat_plan(struct tt_repeat_plan *plan, const struct tt_tensor *in,
		    const struct tt_repeats *repeats, const struct ttnn_memory_config *memory)
{
	const struct ttnn_shape *shape = &in->spec.shape;
	struct ttnn_shape result = *shape;
	uint32_t rank = shape->rank, kept;
	bool tiles, in_place;

	*plan = (struct tt_repeat_plan){.by_rows = tt_repeat_by_rows(in, repeats)};
	plan->unshard = tt_tensor_is_sharded(in) &&
			(plan->by_rows || !is_paged(&in->spec.memory, shape, in->spec.layout));
	plan->between.buffer = plan->unshard ? TTNN_DRAM : in->spec.memory.buffer;
	tiles = in->spec.layout == TTNN_TILE && !plan->by_rows;
	for (uint32_t d = 0; d < rank; d++) {
		plan->times[d] = repeats->times[d];
		result.dim[d] *= repeats->times[d];
	}
	/* The dimensions that make a page stay as they are. */
	kept = tiles ? 3 : 2;
	if (rank > kept)
		fold(plan, shape, rank - kept);
	for (uint32_t i = 0; i < rank; i++) {
		uint32_t d = tiles ? i : rank - 1 - i;

		if (plan->times[d] > 1)
			plan->dims[plan->count++] = d;
	}
	in_place = !plan->by_rows && is_paged(memory, &result, in->spec.layout);
	plan->last = in_place ? *memory : (struct ttnn_memory_config){.buffer = memory->buffer};
	plan->into_given = in_place;
	for (uint32_t d = 0; d < rank; d++)
		plan->into_given = plan->into_given && plan->times[d] == repeats->times[d];
}

/* ---- what L1 allows --------------------------------------------------------------------------------------------- */

/* Where a part of the way is: what it reads. */
struct leg {
	struct tt_device *device;
	struct ttnn_spec_args args;
	struct ttnn_tensor_spec spec;
	uint64_t taken; /* bytes of L1, in each bank */
};

static uint64_t bank_bytes(const struct leg *leg)
{
	struct tt_buffer_layout layout;

	if (leg->spec.memory.buffer != TTNN_L1 ||
	    tt_buffer_layout_make(&layout, leg->device->memory, &leg->spec) != TTNN_OK)
		return 0;
	return layout.bank_bytes;
}

static uint64_t page_of(const struct leg *leg)
{
	return tt_align_to(leg->spec.page_bytes,
			   tt_memory_alignment(leg->device, leg->spec.memory.buffer));
}

static bool go_to(struct leg *leg, const struct ttnn_memory_config *memory)
{
	leg->args.layout = TTNN_ROW_MAJOR;
	leg->args.memory = *memory;
	return ttnn_tensor_spec_make(&leg->spec, &leg->args) == TTNN_OK;
}

/* What is asked of L1: to have room for two pages at all, or for one page now. */
struct room {
	uint64_t bytes;
	bool now, given;
};

static bool has_room(const struct room *room, uint64_t taken, uint64_t page)
{
	if (taken >= room->bytes)
		return false;
	return (room->now ? page : 2 * page) <= room->bytes - taken;
}

/*
 * Whether L1 has room for each step's tensors and buffers, all along the way: a repeat of
 * several dimensions goes through tensors in between, of which the last two are alive at once.
 * Upstream asks this before it decides between its two programs, so that recordings depend on
 * what is free.
 */
static bool legs_fit(struct tt_tensor *in, const struct tt_repeats *repeats,
		     const struct ttnn_memory_config *memory, const struct room *room)
{
	struct leg leg = {.device = tt_tensor_device(in), .spec = in->spec};
	struct ttnn_memory_config dram = {0};
	struct tt_repeat_plan plan;

	leg.args = (struct ttnn_spec_args){.shape = in->spec.shape, .dtype = in->spec.dtype};
	tt_repeat_plan(&plan, in, repeats, memory);
	leg.taken = room->now ? 0 : bank_bytes(&leg);
	if (plan.unshard && !go_to(&leg, &dram))
		return false;
	if (plan.by_rows) {
		if (!go_to(&leg, &plan.between))
			return false;
		leg.taken += bank_bytes(&leg);
	}
	for (uint32_t i = 0; i < plan.count; i++) {
		bool last = i + 1 == plan.count;
		uint64_t before = page_of(&leg), after;

		leg.args.shape.dim[plan.dims[i]] *= plan.times[plan.dims[i]];
		if (!go_to(&leg, last ? &plan.last : &plan.between))
			return false;
		if (!(last && plan.into_given && room->given))
			leg.taken += bank_bytes(&leg);
		after = page_of(&leg);
		if (!has_room(room, leg.taken, before > after ? before : after))
			return false;
	}
	return true;
}

/* Once against L1 as it would be empty, once against what is free now. */
static bool rows_fit(struct tt_tensor *in, const struct tt_repeats *repeats,
		     const struct ttnn_memory_config *memory, bool given)
{
	struct tt_device *device = tt_tensor_device(in);
	uint64_t bytes = (uint64_t)tt_shape_last(&in->spec.shape, 1) *
			 repeats->times[repeats->rank - 1] * tt_element_bytes(in);
	uint64_t page = tt_align_to(bytes, tt_memory_alignment(device, TTNN_DRAM));
	struct room at_all = {.bytes = tt_l1_room(device)};
	struct room now = {.bytes = tt_l1_free(device), .now = true, .given = given};

	if (in->spec.memory.buffer == TTNN_DRAM && memory->buffer == TTNN_DRAM) {
		if (!page || 2 * page > at_all.bytes)
			return false;
	} else if (!legs_fit(in, repeats, memory, &at_all)) {
		return false;
	}
	return legs_fit(in, repeats, memory, &now);
}

/* ---- what the other programs do better ---------------------------------------------------------------------------- */

static struct ttnn_core extent_of(const ttnn_core_set *cores)
{
	struct ttnn_core_range box;

	if (tt_core_set_box(&box, cores) != TTNN_OK)
		return (struct ttnn_core){1, 1};
	return (struct ttnn_core){box.end.x - box.start.x + 1, box.end.y - box.start.y + 1};
}

static bool only_last(const struct tt_repeats *repeats)
{
	uint32_t dim;

	return tt_repeat_single(&dim, repeats) && dim + 1 == repeats->rank;
}

/*
 * Shapes for which upstream measured the older program to be faster. There is no rule behind
 * them but the measurement: rows in height shards on a grid wider than high, shards that are
 * repeated in place, and some that end up in L1.
 */
static bool is_demoted(const struct tt_tensor *in, const struct tt_repeats *repeats,
		       const struct ttnn_memory_config *memory)
{
	const struct ttnn_tensor_spec *spec = &in->spec;
	bool rows = spec->layout == TTNN_ROW_MAJOR, one;
	bool by_height = spec->memory.layout == TTNN_HEIGHT_SHARDED &&
			 spec->memory.buffer == TTNN_L1 && spec->memory.has_shard;
	struct ttnn_core extent = {1, 1};
	struct tt_repeat_plan plan;
	uint32_t dim = 0;

	if (!tt_tensor_is_sharded(in))
		return false;
	if (by_height)
		extent = extent_of(spec->memory.shard.grid);
	one = tt_repeat_single(&dim, repeats);
	if (rows && by_height && memory->layout == TTNN_HEIGHT_SHARDED && spec->shape.rank >= 2 &&
	    is_paged(&spec->memory, &spec->shape, TTNN_ROW_MAJOR) && only_last(repeats) &&
	    extent.x > extent.y)
		return true;
	if (rows && one && !is_paged(&spec->memory, &spec->shape, TTNN_ROW_MAJOR) &&
	    tt_repeat_in_place(spec, memory, dim, repeats->times[dim]))
		return true;
	if (!by_height || spec->shape.rank < 3 ||
	    (rows && (memory->layout != TTNN_INTERLEAVED || memory->buffer != TTNN_L1)))
		return false;
	tt_repeat_plan(&plan, in, repeats, memory);
	return !plan.unshard && !plan.by_rows && plan.count &&
	       plan.dims[0] + 2 < spec->shape.rank && extent.y == 1 && extent.x >= 8;
}

/*
 * Whether upstream takes its generated program: two to four dimensions, none of them repeated
 * zero times, ordinary tiles, shards that were asked for with a spec, and room for rows where
 * tiles have to go through rows.
 */
bool tt_repeat_pages_can(struct tt_tensor *in, const struct tt_repeats *repeats,
			 const struct ttnn_memory_config *memory, bool given)
{
	const struct ttnn_tensor_spec *spec = &in->spec;
	uint32_t rank = spec->shape.rank;
	bool any = false;

	if (!tt_tensor_device(in) || repeats->rank != rank || rank < 2 || rank > 4)
		return false;
	for (uint32_t d = 0; d < rank; d++) {
		if (!repeats->times[d])
			return false;
		any = any || repeats->times[d] > 1;
	}
	if (!any || (spec->layout == TTNN_TILE &&
		     (spec->tile.height != 32 || spec->tile.width != 32 || spec->tile.transpose)))
		return false;
	if (is_demoted(in, repeats, memory) ||
	    (tt_memory_config_is_sharded(memory) && !memory->has_shard))
		return false;
	if (spec->layout == TTNN_TILE && !tt_repeat_by_rows(in, repeats))
		return true;
	return spec->dtype != TTNN_BFLOAT8_B && rows_fit(in, repeats, memory, given);
}
