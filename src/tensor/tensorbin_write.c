/*
 * tensorbin_write.c: writing tensor files. See tensorbin.h. Tables are built in the order in which
 * upstream builds them, so that the bytes come out the same.
 */
#include <string.h>

#include "base/flatbuf.h"
#include "base/mem.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"
#include "tensor/tensorbin.h"
#include "tensor/tensorbin_tables.h"

#define ALIGN 64

/* A table with a vector of numbers as its only field. */
static tt_fb_ref put_boxed_shape(struct tt_fb_builder *fb, const struct ttnn_shape *shape)
{
	tt_fb_ref values = tt_fb_vector_u32(fb, shape->dim, shape->rank);

	tt_fb_table_begin(fb);
	tt_fb_add_ref(fb, 0, values);
	return tt_fb_table_end(fb);
}

static tt_fb_ref put_core(struct tt_fb_builder *fb, const struct ttnn_core *core)
{
	tt_fb_table_begin(fb);
	tt_fb_add(fb, CORE_Y, 4, core->y, 0);
	tt_fb_add(fb, CORE_X, 4, core->x, 0);
	return tt_fb_table_end(fb);
}

static tt_fb_ref put_grid(struct tt_fb_builder *fb, const ttnn_core_set *grid)
{
	size_t count;
	const struct ttnn_core_range *ranges = ttnn_core_set_ranges(grid, &count);
	tt_fb_ref *refs = tt_calloc(count, sizeof(*refs)), vector;

	if (!refs) {
		fb->failed = true;
		return 0;
	}
	for (size_t i = 0; i < count; i++) {
		tt_fb_ref start = put_core(fb, &ranges[i].start);
		tt_fb_ref end = put_core(fb, &ranges[i].end);

		tt_fb_table_begin(fb);
		tt_fb_add_ref(fb, RANGE_END, end);
		tt_fb_add_ref(fb, RANGE_START, start);
		refs[i] = tt_fb_table_end(fb);
	}
	vector = tt_fb_vector_refs(fb, refs, count);
	tt_free(refs);
	tt_fb_table_begin(fb);
	tt_fb_add_ref(fb, 0, vector);
	return tt_fb_table_end(fb);
}

static tt_fb_ref put_shard_spec(struct tt_fb_builder *fb, const struct ttnn_shard_spec *spec)
{
	tt_fb_ref grid = put_grid(fb, spec->grid);

	tt_fb_table_begin(fb);
	tt_fb_add(fb, SHARDSPEC_WIDTH, 4, spec->width, 0);
	tt_fb_add(fb, SHARDSPEC_HEIGHT, 4, spec->height, 0);
	tt_fb_add_ref(fb, SHARDSPEC_GRID, grid);
	tt_fb_add(fb, SHARDSPEC_ORIENTATION, 1, spec->orientation, 0);
	return tt_fb_table_end(fb);
}

static tt_fb_ref put_nd_shard_spec(struct tt_fb_builder *fb, const struct ttnn_nd_shard_spec *spec)
{
	tt_fb_ref shape = tt_fb_vector_u32(fb, spec->shape.dim, spec->shape.rank);
	tt_fb_ref grid = put_grid(fb, spec->grid);

	tt_fb_table_begin(fb);
	tt_fb_add_ref(fb, ND_GRID, grid);
	tt_fb_add_ref(fb, ND_SHAPE, shape);
	tt_fb_add(fb, ND_STRATEGY, 1, spec->strategy, 0);
	tt_fb_add(fb, ND_ORIENTATION, 1, spec->orientation, 0);
	return tt_fb_table_end(fb);
}

static tt_fb_ref put_memory(struct tt_fb_builder *fb, const struct ttnn_memory_config *memory)
{
	tt_fb_ref shard = memory->has_shard ? put_shard_spec(fb, &memory->shard) : 0;
	tt_fb_ref nd = memory->has_nd_shard ? put_nd_shard_spec(fb, &memory->nd_shard) : 0;

	tt_fb_table_begin(fb);
	tt_fb_add_ref(fb, MEMORY_ND, nd);
	tt_fb_add_ref(fb, MEMORY_SHARD, shard);
	tt_fb_add(fb, MEMORY_BUFFER, 2, memory->buffer, 0);
	tt_fb_add(fb, MEMORY_LAYOUT, 2, memory->layout, 0);
	tt_fb_add(fb, MEMORY_LOCKSTEP, 1, memory->range_lockstep_allocation, 0);
	tt_fb_add(fb, MEMORY_PER_CORE, 1, memory->per_core_allocation, 0);
	tt_fb_add(fb, MEMORY_BY_ND, 1, memory->created_with_nd_shard, 0);
	return tt_fb_table_end(fb);
}

static tt_fb_ref put_page(struct tt_fb_builder *fb, const struct ttnn_tensor_spec *spec)
{
	tt_fb_ref tile = 0;

	if (spec->layout == TTNN_TILE) {
		tt_fb_table_begin(fb);
		tt_fb_add(fb, TILE_WIDTH, 4, spec->tile.width, 0);
		tt_fb_add(fb, TILE_HEIGHT, 4, spec->tile.height, 0);
		tt_fb_add(fb, TILE_TRANSPOSE, 1, spec->tile.transpose, 0);
		tile = tt_fb_table_end(fb);
	}
	tt_fb_table_begin(fb);
	tt_fb_add_ref(fb, 0, tile);
	return tt_fb_table_end(fb);
}

static tt_fb_ref put_spec(struct tt_fb_builder *fb, const struct ttnn_tensor_spec *spec)
{
	tt_fb_ref shape = tt_fb_vector_u32(fb, spec->shape.dim, spec->shape.rank);
	tt_fb_ref alignment = tt_fb_vector_u32(fb, spec->alignment.dim, spec->alignment.rank);
	tt_fb_ref page = put_page(fb, spec);
	tt_fb_ref memory = put_memory(fb, &spec->memory), layout;

	tt_fb_table_begin(fb);
	tt_fb_add_ref(fb, LAYOUT_ALIGNMENT, alignment);
	tt_fb_add_ref(fb, LAYOUT_MEMORY, memory);
	tt_fb_add_ref(fb, LAYOUT_PAGE, page);
	tt_fb_add(fb, LAYOUT_PAGE_TYPE, 1, spec->layout == TTNN_TILE ? PAGE_TILE : PAGE_ROW_MAJOR,
		  0);
	tt_fb_add(fb, LAYOUT_DTYPE, 1, (uint64_t)tt_dtype_find(spec->dtype)->file, 0);
	layout = tt_fb_table_end(fb);
	tt_fb_table_begin(fb);
	tt_fb_add_ref(fb, SPEC_LAYOUT, layout);
	tt_fb_add_ref(fb, SPEC_SHAPE, shape);
	return tt_fb_table_end(fb);
}

/* One block of bytes in the file. */
struct chunk {
	const struct tt_storage *storage;
	uint64_t offset;
};

struct output {
	struct tt_fb_builder fb;
	const struct ttnn_tensor_spec *spec;
	const struct tt_mesh_layout *layout;
	uint64_t spread;
	struct chunk *chunks; /* in the order of the file */
	size_t *groups;       /* for each position of the distribution: its chunk */
	tt_fb_ref *refs;      /* of what is in a vector soon */
	size_t chunk_count;
};

static const struct tt_shard *find_shard(const struct tt_mesh_layout *layout,
					 const struct ttnn_shape *coord)
{
	for (size_t i = 0; i < layout->shard_count; i++)
		if (ttnn_shape_equal(&layout->shards[i].coord, coord))
			return &layout->shards[i];
	return NULL;
}

static bool same_bytes(const struct tt_storage *a, const struct tt_storage *b)
{
	return a == b || (a->bytes == b->bytes && memcmp(a->data, b->data, (size_t)a->bytes) == 0);
}

/* The chunk for the shard at a position; a new one unless an equal one is known. */
static tt_status choose_chunk(struct output *out, size_t position, const struct tt_shard *shard)
{
	size_t first = tt_spread_first(out->spread, position), i = 0;
	uint64_t end = 0;

	if (first < position && find_shard(out->layout, &out->layout->coords[first])) {
		i = out->groups[first];
		if (!same_bytes(out->chunks[i].storage, shard->storage))
			return tt_fail(TTNN_INVALID,
				       "by the topology shards %zu and %zu hold the same data, but "
				       "they differ",
				       first, position);
	} else {
		while (i < out->chunk_count && out->chunks[i].storage != shard->storage)
			i++;
	}
	out->groups[position] = i;
	if (i < out->chunk_count)
		return TTNN_OK;
	if (i > 0)
		end = out->chunks[i - 1].offset + out->spec->bytes;
	out->chunks[i].storage = shard->storage;
	if (!tt_round_up(&out->chunks[i].offset, end, ALIGN))
		return tt_fail(TTNN_INVALID, "the shards are too large for a file");
	out->chunk_count++;
	return TTNN_OK;
}

static tt_fb_ref put_shard(struct output *out, const struct ttnn_shape *coord, uint64_t offset)
{
	tt_fb_ref at = put_boxed_shape(&out->fb, coord);
	tt_fb_ref place = tt_fb_struct_u64(&out->fb, (uint64_t[]){offset, out->spec->bytes}, 2);

	tt_fb_table_begin(&out->fb);
	tt_fb_add_ref(&out->fb, SHARD_COORD, at);
	tt_fb_add_ref(&out->fb, SHARD_BUFFER, place);
	tt_fb_add(&out->fb, SHARD_BUFFER_TYPE, 1, BUFFER_INLINE, 0);
	return tt_fb_table_end(&out->fb);
}

static tt_status put_shards(tt_fb_ref *ref, struct output *out)
{
	const struct tt_mesh_layout *layout = out->layout;
	size_t count = 0;

	for (size_t i = 0; i < layout->coord_count; i++) {
		const struct tt_shard *shard = find_shard(layout, &layout->coords[i]);

		if (!shard) /* it is with another host */
			continue;
		if (!shard->storage->data)
			return tt_fail(TTNN_UNSUPPORTED,
				       "saving needs a tensor on the host, this one is in %s",
				       shard->storage->ops->name);
		TT_TRY(choose_chunk(out, i, shard));
		out->refs[count++] =
			put_shard(out, &layout->coords[i], out->chunks[out->groups[i]].offset);
	}
	*ref = tt_fb_vector_refs(&out->fb, out->refs, count);
	return TTNN_OK;
}

static tt_fb_ref put_topology(struct output *out)
{
	const struct tt_mesh_layout *layout = out->layout;
	struct tt_fb_builder *fb = &out->fb;
	struct ttnn_shape extents = tt_spread_extents(out->spread);
	tt_fb_ref distribution = put_boxed_shape(fb, &extents), placements, coords;

	for (unsigned i = 0; i < extents.rank; i++) {
		struct tt_spread axis = tt_spread_at(out->spread, i);

		tt_fb_table_begin(fb);
		tt_fb_add(fb, PLACEMENT_DIM, 4, axis.shard ? (uint32_t)axis.dim : UINT32_MAX, 0);
		tt_fb_add(fb, PLACEMENT_TYPE, 1, axis.shard ? PLACEMENT_SHARD : PLACEMENT_REPLICATE,
			  0);
		out->refs[i] = tt_fb_table_end(fb);
	}
	placements = tt_fb_vector_refs(fb, out->refs, extents.rank);
	for (size_t i = 0; i < layout->coord_count; i++)
		out->refs[i] = put_boxed_shape(fb, &layout->coords[i]);
	coords = tt_fb_vector_refs(fb, out->refs, layout->coord_count);
	tt_fb_table_begin(fb);
	tt_fb_add_ref(fb, TOPOLOGY_COORDS, coords);
	tt_fb_add_ref(fb, TOPOLOGY_PLACEMENTS, placements);
	tt_fb_add_ref(fb, TOPOLOGY_DISTRIBUTION, distribution);
	return tt_fb_table_end(fb);
}

static tt_status build_header(struct output *out)
{
	struct tt_fb_builder *fb = &out->fb;
	tt_fb_ref spec = put_spec(fb, out->spec), shards = 0, mesh, topology;

	TT_TRY(put_shards(&shards, out));
	mesh = put_boxed_shape(fb, &out->layout->mesh);
	topology = put_topology(out);
	tt_fb_table_begin(fb);
	tt_fb_add_ref(fb, TENSOR_TOPOLOGY, topology);
	tt_fb_add_ref(fb, TENSOR_SHARDS, shards);
	tt_fb_add_ref(fb, TENSOR_MESH, mesh);
	tt_fb_add_ref(fb, TENSOR_SPEC, spec);
	tt_fb_finish(fb, tt_fb_table_end(fb));
	return tt_fb_builder_status(fb);
}

static void write_out(struct tt_file_out *file, const struct output *out)
{
	static const uint8_t zeros[ALIGN];
	uint64_t at = 8 + out->fb.size, header = (at + ALIGN - 1) / ALIGN * ALIGN - 8, data = 0;
	uint8_t size[8];

	for (int i = 0; i < 8; i++)
		size[i] = (uint8_t)(header >> (8 * i));
	tt_file_write(file, size, 8);
	tt_file_write(file, tt_fb_builder_data(&out->fb), out->fb.size);
	tt_file_write(file, zeros, (size_t)(8 + header - at));
	for (size_t i = 0; i < out->chunk_count; i++) {
		tt_file_write(file, zeros, (size_t)(out->chunks[i].offset - data));
		tt_file_write(file, out->chunks[i].storage->data, (size_t)out->spec->bytes);
		data = out->chunks[i].offset + out->spec->bytes;
	}
}

/* What the file says about a tensor that knows of no mesh. */
static tt_status plain_layout(struct tt_mesh_layout **out, const ttnn_tensor *tensor)
{
	struct tt_mesh_layout *layout;

	TT_TRY(tt_mesh_layout_new(&layout, 1, 1));
	layout->mesh = TT_SHAPE(1, 1);
	layout->coords[0] = layout->shards[0].coord = TT_SHAPE(0, 0);
	layout->shards[0].storage = tt_storage_ref(tensor->storage);
	*out = layout;
	return TTNN_OK;
}

static tt_status write_layout(struct tt_file_out *file, const ttnn_tensor *tensor,
			      const struct tt_mesh_layout *layout)
{
	struct output out = {.spec = &tensor->spec, .layout = layout, .spread = tensor->spread};
	size_t most = layout->coord_count > TT_SPREAD_DIMS ? layout->coord_count : TT_SPREAD_DIMS;
	struct ttnn_shape extents = tt_spread_extents(tensor->spread);
	tt_status status = TTNN_OK;
	uint64_t devices;

	/* A part of a tensor says how the whole is spread; a file has the part alone. */
	TT_TRY(ttnn_shape_volume(&devices, &extents));
	if (devices != layout->coord_count)
		out.spread = tt_spread_copies(&TT_SHAPE((uint32_t)layout->coord_count));
	out.chunks = tt_calloc(layout->coord_count, sizeof(*out.chunks));
	out.groups = tt_calloc(layout->coord_count, sizeof(*out.groups));
	out.refs = tt_calloc(most, sizeof(*out.refs));
	if (!out.chunks || !out.groups || !out.refs)
		status = tt_fail_nomem();
	if (status == TTNN_OK)
		status = build_header(&out);
	if (status == TTNN_OK)
		write_out(file, &out);
	tt_free(out.chunks);
	tt_free(out.groups);
	tt_free(out.refs);
	tt_fb_builder_deinit(&out.fb);
	return status;
}

tt_status tt_tensorbin_write(struct tt_file_out *file, const ttnn_tensor *tensor)
{
	struct tt_mesh_layout *plain;
	tt_status status;

	if (tt_dtype_find(tensor->spec.dtype)->file < 0)
		return tt_fail(TTNN_UNSUPPORTED, "%s cannot be serialized to flatbuffer",
			       ttnn_dtype_name(tensor->spec.dtype, TTNN_DIALECT_TT_METAL));
	if (tensor->layout)
		return write_layout(file, tensor, tensor->layout);
	TT_TRY(plain_layout(&plain, tensor));
	status = write_layout(file, tensor, plain);
	tt_mesh_layout_unref(plain);
	return status;
}

enum ttnn_status ttnn_tensor_save(const char *path, const ttnn_tensor *tensor)
{
	struct tt_file_out *file;
	tt_status status;

	TT_TRY(tt_file_create(&file, path));
	status = tt_tensorbin_write(file, tensor);
	if (status != TTNN_OK) {
		tt_file_discard(file);
		return tt_fail_prefix(status, "%s", path);
	}
	return tt_file_commit(file);
}
