/*
 * narrow.c: a part of a tensor along one dimension, where it lies.
 *
 * Models ttnn::narrow of ttnn 0.81: refusals, specs, addresses; a part shares the memory of its tensor. Not
 * modelled: parts of shards with rims, which are copies here.
 */
#include <inttypes.h>

#include "golden/golden_movement.h"
#include "ops/movement/movement.h"

/* The part that is asked for. */
struct part {
	uint32_t dim, start, length;
};

/* Tiles are cut at tiles; rows along their width at 16 or 32 elements, by the kind of memory. */
static tt_status check_part(const struct tt_tensor *in, const struct part *part)
{
	const struct ttnn_shape *shape = &in->spec.padded;
	bool tiles = in->spec.layout == TTNN_TILE, last = part->dim + 1 == shape->rank;
	bool rows = part->dim + 2 == shape->rank, even;
	uint64_t alignment;

	TT_REQUIRE(part->start < shape->dim[part->dim], "start < input_tensor_shape[dim]",
		   "Narrow start index %u out of bounds for dimension %u with size %u", part->start,
		   part->dim, shape->dim[part->dim]);
	TT_REQUIRE(part->length > 0 &&
			   (uint64_t)part->start + part->length <= shape->dim[part->dim],
		   "length > 0 && start + length <= input_tensor_shape[dim]",
		   "Narrow length %u out of bounds for dimension %u with start index %u and size "
		   "%u",
		   part->length, part->dim, part->start, shape->dim[part->dim]);
	TT_REQUIRE(tt_tensor_device(in), "input_tensor.storage_type() == StorageType::DEVICE",
		   "NarrowOperation currently only supports DEVICE tensors, got "
		   "StorageType::HOST");
	even = part->start % TT_TILE == 0 && part->length % TT_TILE == 0;
	TT_REQUIRE(!tiles || !last || even,
		   "input_tensor.layout() != ttnn::TILE_LAYOUT || !narrow_width || (start % "
		   "tt::constants::TILE_WIDTH == 0 && length % tt::constants::TILE_WIDTH == 0)",
		   "Narrowing on width for TILE layout requires start and length to be multiples "
		   "of TILE_WIDTH (32), got start %u and length %u",
		   part->start, part->length);
	TT_REQUIRE(!tiles || !rows || even,
		   "input_tensor.layout() != ttnn::TILE_LAYOUT || !narrow_height || (start % "
		   "tt::constants::TILE_HEIGHT == 0 && length % tt::constants::TILE_HEIGHT == 0)",
		   "Narrowing on height for TILE layout requires start and length to be multiples "
		   "of TILE_HEIGHT (32), got start %u and length %u",
		   part->start, part->length);
	alignment = in->spec.memory.buffer == TTNN_DRAM ? 32 : 16;
	TT_REQUIRE(tiles || !last || part->start % alignment == 0,
		   "input_tensor.layout() != ttnn::ROW_MAJOR_LAYOUT || !narrow_width || start % "
		   "buffer->alignment() == 0",
		   "Narrowing on width for ROW_MAJOR layout requires start (%u) to be aligned to "
		   "buffer alignment (%" PRIu64 ")",
		   part->start, alignment);
	return TTNN_OK;
}

/* Pages of a part in DRAM begin where they would begin without what lies before. */
static tt_status check_banks(const struct tt_tensor *in, const struct part *part)
{
	const struct ttnn_shape *shape = &in->spec.padded;
	uint64_t block = 1, page = in->spec.page_bytes, first;
	uint64_t element = tt_dtype_bytes(in->spec.dtype);

	for (uint32_t i = 0; i < part->dim; i++)
		TT_REQUIRE(shape->dim[i] == 1, "all_preceding_dims_trivial",
			   "Narrowing on dimension %u for DRAM INTERLEAVED tensors requires all "
			   "preceding dimensions to be trivial (size 1). Got non-trivial "
			   "dimensions before dimension %u.",
			   part->dim, part->dim);
	for (uint32_t i = part->dim + 1; i < shape->rank; i++)
		block *= shape->dim[i];
	if (!element)
		element = 1;
	if (in->spec.layout == TTNN_TILE)
		page = 1024 * element;
	first = page ? part->start * element * block / page : 0;
	TT_REQUIRE(first % tt_tensor_device(in)->info.dram_banks == 0,
		   "start_page_id % num_banks == 0",
		   "Start page ID must be aligned with number of banks for INTERLEAVED DRAM "
		   "buffer");
	return TTNN_OK;
}

/* Which shards the part takes, and how much of each. */
struct cut {
	uint32_t height, width;      /* of a shard of the part */
	uint64_t start, end, extent; /* in rows or columns of the whole; of a shard there */
	bool across;
};

/* A part lies within one shard, or is whole shards; everything else is refused. */
static tt_status cut_shards(struct cut *out, const struct tt_tensor *in, const struct part *part)
{
	const struct ttnn_shape *shape = &in->spec.shape;
	const struct ttnn_shard_spec *shard = &in->spec.memory.shard;
	bool last = part->dim + 1 == shape->rank;
	uint64_t rows = 1, start, length, extent = last ? shard->width : shard->height;

	for (uint32_t i = part->dim + 1; i + 1 < shape->rank; i++)
		rows *= shape->dim[i];
	start = last ? part->start : part->start * rows;
	length = last ? part->length : part->length * rows;
	*out = (struct cut){shard->height, shard->width, start, start + length, extent, last};
	if (extent && start % extent + length <= extent &&
	    (!last || in->spec.layout != TTNN_TILE || shard->height == in->spec.tile.height)) {
		if (last)
			out->width = (uint32_t)length;
		else
			out->height = (uint32_t)length;
		return TTNN_OK;
	}
	TT_REQUIRE(extent && start % extent == 0 && length % extent == 0, "false",
		   "Narrowing on %s dimension for L1 sharded tensor only supports full shards or "
		   "splitting within single shard. Got start %u and length %u with shard shape "
		   "(%u, %u)",
		   last ? "last" : "non-last", part->start, part->length, shard->height,
		   shard->width);
	return TTNN_OK;
}

/* The cores that hold shards of the part. */
static tt_status part_memory(struct ttnn_memory_config *out, struct tt_call *call,
			     const struct tt_tensor *in, const struct part *part)
{
	const struct ttnn_memory_config *old = &in->spec.memory;
	size_t cores = ttnn_core_set_cores(old->shard.grid), kept = 0;
	struct ttnn_core_range *ranges = tt_arena_alloc(call->arena, cores * sizeof(*ranges));
	struct ttnn_shard_spec shard = old->shard;
	uint64_t columns;
	struct cut cut;

	TT_NEED_MEMORY(ranges);
	TT_TRY(cut_shards(&cut, in, part));
	columns = tt_div_up(tt_shape_last(&in->spec.padded, 1), old->shard.width);
	for (size_t i = 0; i < cores; i++) {
		uint64_t place = cut.across ? i % columns : i / columns;

		if ((place + 1) * cut.extent <= cut.start || place * cut.extent >= cut.end)
			continue;
		ranges[kept].start = ranges[kept].end =
			tt_core_set_at(old->shard.grid, i, old->shard.orientation);
		kept++;
	}
	TT_TRY(ttnn_core_set_make(&shard.grid, ranges, kept));
	if (shard.orientation == TTNN_ORIENT_ROW_MAJOR)
		TT_TRY(tt_core_set_merge(&shard.grid, shard.grid, shard.grid));
	shard.height = cut.height;
	shard.width = cut.width;
	return ttnn_memory_config_sharded(out, old->layout, old->buffer, &shard);
}

/* A copy of the part. */
static tt_status copy_part(struct tt_call *call, struct tt_tensor *in, const struct part *part,
			   const struct ttnn_memory_config *memory)
{
	const struct ttnn_shape *shape = &in->spec.shape;
	struct ttnn_value starts[TTNN_MAX_RANK], ends[TTNN_MAX_RANK], steps[TTNN_MAX_RANK];
	struct tt_tensor *out;

	for (uint32_t i = 0; i < shape->rank; i++) {
		bool own = i == part->dim;

		starts[i] = ttnn_v_int(own ? part->start : 0);
		ends[i] = ttnn_v_int(own ? part->start + part->length : shape->dim[i]);
		steps[i] = ttnn_v_int(1);
	}
	return tt_call_give(
		call,
		tt_call_op(&out, call, "ttnn.slice",
			   (struct ttnn_arg[]){{NULL, ttnn_v_tensor(in)},
					       {NULL, ttnn_v_list(starts, shape->rank)},
					       {NULL, ttnn_v_list(ends, shape->rank)},
					       {NULL, ttnn_v_list(steps, shape->rank)},
					       {"memory_config", ttnn_v_memory(memory)}},
			   5),
		&out);
}

/* Pages of the part from where the tensor's begin, in a bank; `cut` is NULL for pages in DRAM that go round. */
static uint64_t pages_before(const struct tt_tensor *in, uint64_t bytes, const struct cut *cut)
{
	const struct ttnn_tensor_spec *spec = &in->spec;
	bool tiles = spec->layout == TTNN_TILE;
	uint64_t height = tiles ? spec->tile.height : 1, width = spec->memory.shard.width;
	uint64_t page = tiles ? spec->tile.width : width;

	if (!cut)
		return bytes / spec->page_bytes / tt_tensor_device(in)->info.dram_banks;
	if (!cut->extent || !page)
		return 0;
	if (cut->across)
		return cut->start % cut->extent / page;
	return cut->start % cut->extent / height * width / page;
}

/* How many elements or tiles there are along a dimension, and how much of it each is. */
static uint64_t units_of(uint64_t *step, const struct ttnn_tensor_spec *spec, uint32_t dim)
{
	uint32_t back = spec->padded.rank - dim;

	*step = 1;
	if (spec->layout == TTNN_TILE && back <= 2)
		*step = back == 1 ? spec->tile.width : spec->tile.height;
	return spec->padded.dim[dim] / *step;
}

/* Which bytes of the tensor are the part's. False when others lie between them, the rims of shards. */
static bool find_bytes(struct tt_buffer_part *out, const struct ttnn_tensor_spec *whole,
		       const struct ttnn_tensor_spec *spec, const struct part *part)
{
	bool tiles = whole->layout == TTNN_TILE;
	uint64_t unit = tiles ? whole->page_bytes : tt_dtype_bytes(whole->dtype), outer = 1;
	uint64_t extent, step, own;

	for (uint32_t i = 0; i < part->dim; i++)
		outer *= units_of(&own, whole, i);
	for (uint32_t i = part->dim + 1; i < whole->padded.rank; i++)
		unit *= units_of(&own, whole, i);
	extent = units_of(&step, whole, part->dim);
	*out = (struct tt_buffer_part){.offset = part->start / step * unit,
				       .run = tt_div_up(part->length, step) * unit,
				       .pitch = extent * unit};
	return spec->bytes && out->pitch * outer == whole->bytes && out->run * outer == spec->bytes;
}

/* A tensor in a part of the memory of this one. */
static tt_status share_part(struct tt_call *call, struct tt_tensor *in, const struct part *part,
			    const struct ttnn_memory_config *memory)
{
	struct ttnn_spec_args args = tt_tensor_spec_args(&in->spec);
	bool sharded = tt_memory_config_is_sharded(memory);
	struct ttnn_tensor_spec spec;
	struct tt_buffer_part bytes;
	struct tt_tensor *out;
	struct cut cut;

	args.shape.dim[part->dim] = part->length;
	args.memory = *memory;
	TT_TRY(ttnn_tensor_spec_make(&spec, &args));
	if (!find_bytes(&bytes, &in->spec, &spec, part))
		return copy_part(call, in, part, memory);
	if (sharded)
		TT_TRY(cut_shards(&cut, in, part));
	bytes.whole = tt_tensor_buffer(in);
	TT_NEED(bytes.whole, "Tensor is not allocated");
	bytes.address = pages_before(in, bytes.offset, sharded ? &cut : NULL) *
			bytes.whole->layout.aligned_page;
	return tt_call_give(call, tt_device_tensor_part(&out, in, &spec, &bytes), &out);
}

/* Interleaved in DRAM, or sharded in L1: no other memory. */
static tt_status narrow_expand(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor");
	int64_t start = tt_call_int(call, "start", 0), length = tt_call_int(call, "length", 0);
	int64_t dim = tt_call_int(call, "dim", 0), rank = in->spec.shape.rank;
	const struct ttnn_memory_config *old = &in->spec.memory;
	struct ttnn_memory_config memory;
	struct part part;

	if (dim < 0)
		dim += rank;
	TT_REQUIRE(dim >= 0 && dim < rank, "normalized_index >= 0 and normalized_index < rank",
		   "Index is out of bounds for the rank, should be between 0 and %" PRId64
		   " however is %" PRIu64,
		   rank - 1, (uint64_t)dim);
	TT_NEED(in->spec.padded.rank == in->spec.shape.rank,
		"narrow: a tensor of one dimension has no parts in tiles");
	if (start < 0)
		start += in->spec.padded.dim[dim];
	TT_REQUIRE(start >= 0 && start <= UINT32_MAX && length >= 0 && length <= UINT32_MAX,
		   "start < input_tensor_shape[dim]",
		   "Narrow start index %" PRId64 " out of bounds for dimension %" PRId64
		   " with size %u",
		   start, dim, in->spec.padded.dim[dim]);
	part = (struct part){(uint32_t)dim, (uint32_t)start, (uint32_t)length};
	if (!part.start && part.length == in->spec.padded.dim[dim]) {
		tt_call_return(call, ttnn_tensor_ref(in));
		return TTNN_OK;
	}
	TT_TRY(check_part(in, &part));
	if (old->buffer == TTNN_DRAM && old->layout == TTNN_INTERLEAVED) {
		TT_TRY(check_banks(in, &part));
		return share_part(call, in, &part, old);
	}
	TT_REQUIRE(old->buffer == TTNN_L1 && tt_memory_config_is_sharded(old) && old->has_shard,
		   "false",
		   "Narrowing for the given tensor configuration is not yet implemented."
		   "Supported: DRAM INTERLEAVED tensors on first non-trivial dimension, L1 sharded "
		   "tensors with restrictions.");
	TT_TRY(part_memory(&memory, call, in, &part));
	return share_part(call, in, &part, &memory);
}

static const struct tt_op ops[] = {
	{TT_MOVE_ROW("narrow", narrow_expand, tt_golden_narrow,
		     "A part of a tensor along one dimension, where it lies.",
		     "input_tensor: Tensor, dim: int, start: int, length: int")},
};

const struct tt_op_family tt_family_narrow = {"movement", ops, TT_COUNT(ops)};
