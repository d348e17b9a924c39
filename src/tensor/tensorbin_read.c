/* tensorbin_read.c: reading tensor files. See tensorbin.h. */
#include <inttypes.h>
#include <string.h>

#include "base/flatbuf.h"
#include "base/mem.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"
#include "tensor/tensorbin.h"
#include "tensor/tensorbin_tables.h"

#define HEADER_MOST ((uint64_t)64 << 20)
#define IDENTIFIER "TTNB" /* newer writers put it behind the root reference */
#define VERSION 1         /* of those writers; nothing but the number is new in it */

static tt_status bad(const char *what)
{
	return tt_fail(TTNN_FORMAT, "not a tensor file: %s", what);
}

static tt_status get_u32(uint32_t *out, const struct tt_fb_table *table, unsigned field)
{
	uint64_t value;

	TT_TRY(tt_fb_get(&value, table, field, 4, 0));
	*out = (uint32_t)value;
	return TTNN_OK;
}

static tt_status get_bool(bool *out, const struct tt_fb_table *table, unsigned field)
{
	uint64_t value;

	TT_TRY(tt_fb_get(&value, table, field, 1, 0));
	*out = value != 0;
	return TTNN_OK;
}

/* A number below `count`, as enumerations have. */
static tt_status get_enum(unsigned *out, const struct tt_fb_table *table, unsigned field,
			  size_t bytes, unsigned count)
{
	uint64_t value;

	TT_TRY(tt_fb_get(&value, table, field, bytes, 0));
	if (value >= count)
		return tt_fail(TTNN_FORMAT,
			       "not a tensor file: field %u of the table at header offset %zu is "
			       "%" PRIu64 ", beyond what is known",
			       field, table->at, value);
	*out = (unsigned)value;
	return TTNN_OK;
}

static tt_status get_shape(struct ttnn_shape *out, const struct tt_fb_table *table, unsigned field)
{
	struct tt_fb_vector vector;

	TT_TRY(tt_fb_get_vector(&vector, table, field, 4));
	if (vector.count > TTNN_MAX_RANK)
		return tt_fail(TTNN_FORMAT, "not a tensor file: a shape of %u dimensions",
			       vector.count);
	*out = (struct ttnn_shape){.rank = vector.count};
	for (uint32_t i = 0; i < vector.count; i++)
		out->dim[i] = (uint32_t)tt_fb_load(vector.data + 4 * i, 4);
	return TTNN_OK;
}

/* A shape that is the only field of a table: mesh shapes and mesh coordinates are. */
static tt_status get_boxed_shape(struct ttnn_shape *out, const struct tt_fb_table *table,
				 unsigned field)
{
	struct tt_fb_table box;

	TT_TRY(tt_fb_get_table(&box, table, field));
	if (!box.fb)
		return bad("a mesh shape or coordinate is missing");
	return get_shape(out, &box, 0);
}

static tt_status get_core(struct ttnn_core *out, const struct tt_fb_table *range, unsigned field)
{
	struct tt_fb_table core;

	TT_TRY(tt_fb_get_table(&core, range, field));
	if (!core.fb)
		return bad("a core is missing");
	TT_TRY(get_u32(&out->x, &core, CORE_X));
	return get_u32(&out->y, &core, CORE_Y);
}

static tt_status get_grid(const ttnn_core_set **out, const struct tt_fb_table *table,
			  unsigned field)
{
	struct ttnn_core_range *ranges;
	struct tt_fb_table grid, range;
	struct tt_fb_vector vector;
	tt_status status = TTNN_OK;

	TT_TRY(tt_fb_get_table(&grid, table, field));
	TT_TRY(tt_fb_get_vector(&vector, &grid, 0, 4));
	/* Checking that ranges do not overlap takes quadratic time: no chip has as many cores. */
	if (vector.count > 1024)
		return bad("a grid of more than 1024 core ranges");
	ranges = tt_calloc(vector.count, sizeof(*ranges));
	if (!ranges)
		return tt_fail_nomem();
	for (uint32_t i = 0; i < vector.count && status == TTNN_OK; i++) {
		status = tt_fb_element(&range, &vector, i);
		if (status == TTNN_OK)
			status = get_core(&ranges[i].start, &range, RANGE_START);
		if (status == TTNN_OK)
			status = get_core(&ranges[i].end, &range, RANGE_END);
	}
	if (status == TTNN_OK)
		status = ttnn_core_set_make(out, ranges, vector.count);
	tt_free(ranges);
	return status;
}

static tt_status get_shard_spec(struct ttnn_memory_config *out, const struct tt_fb_table *memory)
{
	struct ttnn_shard_spec *spec = &out->shard;
	struct tt_fb_table table;
	unsigned orientation = 0;

	TT_TRY(tt_fb_get_table(&table, memory, MEMORY_SHARD));
	if (!table.fb)
		return TTNN_OK;
	TT_TRY(get_grid(&spec->grid, &table, SHARDSPEC_GRID));
	TT_TRY(get_u32(&spec->height, &table, SHARDSPEC_HEIGHT));
	TT_TRY(get_u32(&spec->width, &table, SHARDSPEC_WIDTH));
	TT_TRY(get_enum(&orientation, &table, SHARDSPEC_ORIENTATION, 1, TTNN_ORIENT_COL_MAJOR + 1));
	spec->orientation = (enum ttnn_orientation)orientation;
	out->has_shard = true;
	return TTNN_OK;
}

static tt_status get_nd_shard_spec(struct ttnn_memory_config *out, const struct tt_fb_table *memory)
{
	struct ttnn_nd_shard_spec *spec = &out->nd_shard;
	unsigned orientation = 0, strategy = 0;
	struct tt_fb_table table;

	TT_TRY(tt_fb_get_table(&table, memory, MEMORY_ND));
	if (!table.fb)
		return TTNN_OK;
	TT_TRY(get_shape(&spec->shape, &table, ND_SHAPE));
	TT_TRY(get_grid(&spec->grid, &table, ND_GRID));
	TT_TRY(get_enum(&orientation, &table, ND_ORIENTATION, 1, TTNN_ORIENT_COL_MAJOR + 1));
	TT_TRY(get_enum(&strategy, &table, ND_STRATEGY, 1, TTNN_CONTIGUOUS_1D + 1));
	spec->orientation = (enum ttnn_orientation)orientation;
	spec->strategy = (enum ttnn_shard_strategy)strategy;
	out->has_nd_shard = true;
	return TTNN_OK;
}

static tt_status get_memory(struct ttnn_memory_config *out, const struct tt_fb_table *layout)
{
	struct tt_fb_table table;
	unsigned kind = 0, buffer = 0;

	TT_TRY(tt_fb_get_table(&table, layout, LAYOUT_MEMORY));
	TT_TRY(get_enum(&kind, &table, MEMORY_LAYOUT, 2, TTNN_ND_SHARDED + 1));
	TT_TRY(get_enum(&buffer, &table, MEMORY_BUFFER, 2, TTNN_TRACE + 1));
	out->layout = (enum ttnn_memory_layout)kind;
	out->buffer = (enum ttnn_buffer_type)buffer;
	TT_TRY(get_shard_spec(out, &table));
	TT_TRY(get_nd_shard_spec(out, &table));
	TT_TRY(get_bool(&out->created_with_nd_shard, &table, MEMORY_BY_ND));
	TT_TRY(get_bool(&out->per_core_allocation, &table, MEMORY_PER_CORE));
	return get_bool(&out->range_lockstep_allocation, &table, MEMORY_LOCKSTEP);
}

static tt_status get_page(struct ttnn_spec_args *out, const struct tt_fb_table *layout)
{
	struct tt_fb_table page, tile;
	unsigned type = 0;

	TT_TRY(get_enum(&type, layout, LAYOUT_PAGE_TYPE, 1, PAGE_TILE + 1));
	if (type != PAGE_TILE) {
		out->layout = TTNN_ROW_MAJOR;
		return type == PAGE_ROW_MAJOR ? TTNN_OK : bad("the layout is missing");
	}
	out->layout = TTNN_TILE;
	TT_TRY(tt_fb_get_table(&page, layout, LAYOUT_PAGE));
	TT_TRY(tt_fb_get_table(&tile, &page, 0));
	TT_TRY(get_u32(&out->tile.height, &tile, TILE_HEIGHT));
	TT_TRY(get_u32(&out->tile.width, &tile, TILE_WIDTH));
	return get_bool(&out->tile.transpose, &tile, TILE_TRANSPOSE);
}

static tt_status get_spec(struct ttnn_tensor_spec *out, const struct tt_fb_table *tensor)
{
	struct ttnn_spec_args args = {0};
	struct tt_fb_table spec, layout;
	uint64_t dtype;

	TT_TRY(tt_fb_get_table(&spec, tensor, TENSOR_SPEC));
	TT_TRY(get_shape(&args.shape, &spec, SPEC_SHAPE));
	TT_TRY(tt_fb_get_table(&layout, &spec, SPEC_LAYOUT));
	if (!layout.fb)
		return bad("the tensor spec is missing");
	TT_TRY(tt_fb_get(&dtype, &layout, LAYOUT_DTYPE, 1, 0));
	if (!tt_dtype_of_file(&args.dtype, (unsigned)dtype))
		return tt_fail(TTNN_FORMAT, "not a tensor file: %" PRIu64 " is no data type",
			       dtype);
	TT_TRY(get_page(&args, &layout));
	TT_TRY(get_memory(&args.memory, &layout));
	TT_TRY(get_shape(&args.alignment, &layout, LAYOUT_ALIGNMENT));
	return ttnn_tensor_spec_make(out, &args);
}

/* Where the shards lie, while they are being read. */
struct input {
	const uint8_t *data;
	uint64_t size;
	struct tt_mapping *mapping; /* or NULL */
	uint64_t base;              /* of the data in the mapping */
	uint64_t shard_bytes;       /* by the spec */
	struct tt_fb_vector shards;
	uint64_t *offsets; /* of the shards so far */
	uint64_t spread;
};

static bool inside(const struct ttnn_shape *coord, const struct ttnn_shape *mesh)
{
	for (uint32_t i = 0; i < mesh->rank; i++)
		if (coord->dim[i] >= mesh->dim[i])
			return false;
	return coord->rank == mesh->rank;
}

static tt_status load_bytes(struct tt_storage **out, const struct input *in, uint64_t offset)
{
	if (in->mapping)
		return tt_storage_new_mapped(out, in->mapping, in->base + offset, in->shard_bytes);
	TT_TRY(tt_storage_new(out, in->shard_bytes));
	memcpy((*out)->data, in->data + offset, (size_t)in->shard_bytes);
	return TTNN_OK;
}

/*
 * Replicas lie in one place of the file and in one storage. Other shards must not overlap: so all
 * together never need more memory than the file has bytes.
 */
static tt_status share_bytes(struct tt_mesh_layout *layout, const struct input *in, uint32_t index)
{
	struct tt_shard *shard = &layout->shards[index];
	uint64_t offset = in->offsets[index];

	for (uint32_t i = 0; i < index; i++) {
		uint64_t other = in->offsets[i];

		if (ttnn_shape_equal(&layout->shards[i].coord, &shard->coord))
			return bad("two shards for one mesh coordinate");
		if (other == offset && !shard->storage)
			shard->storage = tt_storage_ref(layout->shards[i].storage);
		else if (other != offset &&
			 (other < offset ? offset - other : other - offset) < in->shard_bytes)
			return tt_fail(TTNN_FORMAT,
				       "not a tensor file: the bytes of shards %u and %u overlap",
				       i, index);
	}
	return TTNN_OK;
}

static tt_status read_shard(struct tt_mesh_layout *layout, struct input *in, uint32_t index)
{
	struct tt_shard *shard = &layout->shards[index];
	struct tt_fb_table table;
	uint64_t offset, bytes;
	const uint8_t *place;
	unsigned type = 0;

	TT_TRY(tt_fb_element(&table, &in->shards, index));
	TT_TRY(get_enum(&type, &table, SHARD_BUFFER_TYPE, 1, BUFFER_INLINE + 1));
	TT_TRY(tt_fb_get_struct(&place, &table, SHARD_BUFFER, 16));
	if (type != BUFFER_INLINE || !place)
		return bad("a shard has no data in this file");
	TT_TRY(get_boxed_shape(&shard->coord, &table, SHARD_COORD));
	if (!inside(&shard->coord, &layout->mesh))
		return bad("a shard lies outside of the mesh");
	offset = tt_fb_load(place, 8);
	bytes = tt_fb_load(place + 8, 8);
	if (bytes != in->shard_bytes)
		return tt_fail(TTNN_FORMAT,
			       "not a tensor file: shard %u has %" PRIu64
			       " bytes, the tensor spec means %" PRIu64,
			       index, bytes, in->shard_bytes);
	if (offset > in->size || bytes > in->size - offset)
		return tt_fail(TTNN_FORMAT,
			       "the file ends too early: shard %u needs %" PRIu64
			       " bytes from offset %" PRIu64 " of the data, there are %" PRIu64,
			       index, bytes, offset, in->size);
	in->offsets[index] = offset;
	TT_TRY(share_bytes(layout, in, index));
	return shard->storage ? TTNN_OK : load_bytes(&shard->storage, in, offset);
}

/* Dimension `index` of a distribution: *axis has its extent already. */
static tt_status read_placement(struct tt_spread *axis, const struct tt_fb_vector *placements,
				uint32_t index)
{
	struct tt_fb_table table;
	uint32_t dim;
	unsigned type = 0;

	TT_TRY(tt_fb_element(&table, placements, index));
	TT_TRY(get_enum(&type, &table, PLACEMENT_TYPE, 1, PLACEMENT_SHARD + 1));
	TT_TRY(get_u32(&dim, &table, PLACEMENT_DIM));
	axis->shard = type == PLACEMENT_SHARD;
	axis->dim = axis->shard ? (int32_t)dim : 0;
	return tt_spread_fits(index, axis) ? TTNN_OK : bad("a topology that no mesh has");
}

static bool has_coord(const struct tt_mesh_layout *layout, size_t count,
		      const struct ttnn_shape *coord)
{
	for (size_t i = 0; i < count; i++)
		if (ttnn_shape_equal(&layout->coords[i], coord))
			return true;
	return false;
}

/* A shard whose place the topology does not know would be lost when the tensor is saved. */
static tt_status read_topology(struct tt_mesh_layout *layout, struct input *in,
			       const struct tt_fb_table *topology,
			       const struct tt_fb_vector *placements,
			       const struct tt_fb_vector *coords)
{
	struct ttnn_shape distribution;
	struct tt_fb_table coord;
	uint64_t positions;

	TT_TRY(get_boxed_shape(&distribution, topology, TOPOLOGY_DISTRIBUTION));
	TT_TRY(ttnn_shape_volume(&positions, &distribution));
	if (positions != coords->count || placements->count != distribution.rank)
		return bad("the topology contradicts itself");
	in->spread = 0;
	for (uint32_t i = 0; i < placements->count; i++) {
		struct tt_spread axis = {.extent = distribution.dim[i]};

		TT_TRY(read_placement(&axis, placements, i));
		in->spread = tt_spread_with(in->spread, i, axis);
	}
	for (uint32_t i = 0; i < coords->count; i++) {
		TT_TRY(tt_fb_element(&coord, coords, i));
		TT_TRY(get_shape(&layout->coords[i], &coord, 0));
		if (!inside(&layout->coords[i], &layout->mesh))
			return bad("the topology leaves the mesh");
		if (has_coord(layout, i, &layout->coords[i]))
			return bad("the topology names a mesh coordinate twice");
	}
	for (size_t i = 0; i < layout->shard_count; i++)
		if (!has_coord(layout, layout->coord_count, &layout->shards[i].coord))
			return tt_fail(TTNN_FORMAT,
				       "not a tensor file: the topology has no place for shard %zu",
				       i);
	return TTNN_OK;
}

/* Files without a topology: every shard is its own replica, as upstream reads them. */
static void assume_topology(struct tt_mesh_layout *layout, struct input *in)
{
	in->spread = tt_spread_copies(&TT_SHAPE((uint32_t)layout->coord_count));
	for (size_t i = 0; i < layout->coord_count; i++)
		layout->coords[i] = layout->shards[i].coord;
}

static tt_status read_layout(struct tt_mesh_layout **out, struct input *in,
			     const struct tt_fb_table *tensor)
{
	struct tt_fb_vector placements, coords;
	struct tt_mesh_layout *layout;
	struct tt_fb_table topology;
	tt_status status;

	TT_TRY(tt_fb_get_table(&topology, tensor, TENSOR_TOPOLOGY));
	TT_TRY(tt_fb_get_vector(&placements, &topology, TOPOLOGY_PLACEMENTS, 4));
	TT_TRY(tt_fb_get_vector(&coords, &topology, TOPOLOGY_COORDS, 4));
	if (in->shards.count == 0)
		return bad("there are no shards");
	/* Looking for shards that share data takes quadratic time: no mesh is as large. */
	if (in->shards.count > 4096 || coords.count > 4096 || placements.count > TTNN_MAX_RANK)
		return bad("a mesh of more than 4096 devices");
	if (!topology.fb && in->shards.count > TT_SPREAD_EXTENT)
		return bad("a topology that no mesh has");
	TT_TRY(tt_mesh_layout_new(&layout, topology.fb ? coords.count : in->shards.count,
				  in->shards.count));
	status = get_boxed_shape(&layout->mesh, tensor, TENSOR_MESH);
	for (uint32_t i = 0; i < in->shards.count && status == TTNN_OK; i++)
		status = read_shard(layout, in, i);
	if (status == TTNN_OK && topology.fb)
		status = read_topology(layout, in, &topology, &placements, &coords);
	if (!topology.fb)
		assume_topology(layout, in);
	if (status != TTNN_OK)
		tt_mesh_layout_unref(layout);
	else
		*out = layout;
	return status;
}

static tt_status read_tensor(ttnn_tensor **out, struct input *in, const struct tt_fb_table *root)
{
	struct tt_mesh_layout *layout = NULL;
	struct ttnn_tensor_spec spec;
	struct tt_storage *storage;
	tt_status status;

	TT_TRY(get_spec(&spec, root));
	TT_TRY(tt_fb_get_vector(&in->shards, root, TENSOR_SHARDS, 4));
	in->shard_bytes = spec.bytes;
	in->offsets = tt_calloc(in->shards.count, sizeof(*in->offsets));
	if (!in->offsets)
		return tt_fail_nomem();
	status = read_layout(&layout, in, root);
	tt_free(in->offsets);
	if (status != TTNN_OK)
		return status;
	storage = tt_storage_ref(layout->shards[0].storage);
	if (tt_mesh_layout_is_plain(layout)) {
		tt_mesh_layout_unref(layout);
		layout = NULL;
	}
	TT_TRY(tt_tensor_wrap(out, &spec, storage, layout));
	(*out)->spread = in->spread;
	return TTNN_OK;
}

tt_status tt_tensorbin_read(ttnn_tensor **out, const void *data, size_t size,
			    struct tt_mapping *mapping)
{
	struct input in = {.mapping = mapping};
	struct tt_fb_table root;
	uint64_t header, version = 0;
	struct tt_fb fb;

	if (size < 8)
		return bad("it is shorter than 8 bytes");
	header = tt_fb_load(data, 8);
	if (header > size - 8)
		return tt_fail(TTNN_FORMAT,
			       "the file ends too early, or is no tensor file: a header of %" PRIu64
			       " bytes in a file of %zu",
			       header, size);
	if (header > HEADER_MOST)
		return bad("the header has more than 64 MB");
	fb = (struct tt_fb){(const uint8_t *)data + 8, (size_t)header};
	in.base = 8 + header;
	in.data = (const uint8_t *)data + in.base;
	in.size = size - in.base;
	TT_TRY(tt_fb_root(&root, &fb));
	if (tt_fb_has_identifier(&fb, IDENTIFIER))
		TT_TRY(tt_fb_get(&version, &root, TENSOR_VERSION, 4, 0));
	if (version > VERSION)
		return tt_fail(TTNN_UNSUPPORTED,
			       "the tensor file has version %" PRIu64
			       ", this library reads up to %d",
			       version, VERSION);
	return read_tensor(out, &in, &root);
}

enum ttnn_status ttnn_tensor_load(ttnn_tensor **out, const char *path)
{
	struct tt_mapping *mapping;
	const struct tt_file_map *map;
	tt_status status;

	TT_TRY(tt_mapping_new(&mapping, path));
	map = tt_mapping_get(mapping);
	status = tt_tensorbin_read(out, map->data, map->size, mapping);
	tt_mapping_unref(mapping);
	return status == TTNN_OK ? TTNN_OK : tt_fail_prefix(status, "%s", path);
}
