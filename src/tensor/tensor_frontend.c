/* tensor_frontend.c: what <ttnn_frontend.h> says of values and host tensors. */
#include <string.h>
#include <ttnn_frontend.h>

#include "base/hash.h"
#include "base/mem.h"
#include "tensor/core.h"
#include "tensor/shape.h"
#include "tensor/sharding.h"
#include "tensor/tensor.h"
#include "tensor/value_json.h"

bool ttnn_tensor_hide(bool on)
{
	return tt_tensor_hide(on);
}

bool ttnn_tensor_number(uint64_t *out)
{
	if (atomic_load_explicit(&tt_tensor_renumbering, memory_order_relaxed) <= 0)
		return false;
	*out = tt_tensor_next_id();
	return true;
}

const char *ttnn_error_condition(void)
{
	return tt_fail_condition();
}

/* ---- values ------------------------------------------------------------------------------------ */

/* Reads one JSON text with a reader of this layer. */
#define PARSE(out, json, reader)                                                                   \
	do {                                                                                       \
		struct tt_json_doc *doc;                                                           \
		tt_status status;                                                                  \
		TT_TRY(tt_json_parse(&doc, json, strlen(json), "from_json"));                      \
		status = reader(out, tt_json_root(doc));                                           \
		tt_json_free(doc);                                                                 \
		return status;                                                                     \
	} while (0)

enum ttnn_status ttnn_memory_config_parse(struct ttnn_memory_config *out, const char *json)
{
	PARSE(out, json, tt_json_read_memory_config);
}

enum ttnn_status ttnn_shard_spec_parse(struct ttnn_shard_spec *out, const char *json)
{
	PARSE(out, json, tt_json_read_shard_spec);
}

enum ttnn_status ttnn_nd_shard_spec_parse(struct ttnn_nd_shard_spec *out, const char *json)
{
	PARSE(out, json, tt_json_read_nd_shard_spec);
}

enum ttnn_status ttnn_core_set_parse(const ttnn_core_set **out, const char *json)
{
	PARSE(out, json, tt_json_read_core_set);
}

uint64_t ttnn_memory_config_hash(const struct ttnn_memory_config *config)
{
	const struct ttnn_nd_shard_spec *nd = &config->nd_shard;
	uint64_t hash = (uint64_t)config->layout << 8 | config->buffer |
			(uint64_t)config->per_core_allocation << 16 |
			(uint64_t)config->range_lockstep_allocation << 17;

	if (config->has_shard && !config->created_with_nd_shard) {
		hash = tt_hash_u64(hash, tt_core_set_hash(config->shard.grid));
		hash = tt_hash_u64(hash,
				   (uint64_t)config->shard.height << 32 | config->shard.width);
		hash = tt_hash_u64(hash, config->shard.orientation);
	}
	if (config->has_nd_shard && config->created_with_nd_shard) {
		hash = tt_hash_u64(hash, tt_core_set_hash(nd->grid));
		hash = tt_hash_u64(hash, (uint64_t)nd->orientation << 8 | nd->strategy);
		for (uint32_t i = 0; i < nd->shape.rank; i++)
			hash = tt_hash_u64(hash, nd->shape.dim[i]);
	}
	return hash;
}

enum ttnn_status ttnn_core_set_box(struct ttnn_core_range *out, const ttnn_core_set *set)
{
	return tt_core_set_box(out, set);
}

bool ttnn_core_set_includes(const ttnn_core_set *set, const ttnn_core_set *inner)
{
	return tt_core_set_includes(set, inner);
}

enum ttnn_status ttnn_core_set_merge(const ttnn_core_set **out, const ttnn_core_set *a,
				     const ttnn_core_set *b)
{
	return tt_core_set_merge(out, a, b);
}

enum ttnn_status ttnn_core_set_subtract(const ttnn_core_set **out, const ttnn_core_set *a,
					const ttnn_core_set *b)
{
	return tt_core_set_subtract(out, a, b);
}

enum ttnn_status ttnn_memory_config_create(struct ttnn_memory_config *out,
					   const struct ttnn_sharded_options *options)
{
	struct tt_sharded_args args = {
		.shape = options->shape,
		.grid_width = options->grid.x,
		.grid_height = options->grid.y,
		.cores = options->cores,
		.layout = options->layout,
		.orientation = options->orientation,
		.shard_is_shape = options->shape_of_shard,
	};

	return tt_memory_config_create_sharded(out, &args);
}

enum ttnn_status ttnn_tensor_spec_shard(struct ttnn_tensor_spec *out,
					const struct ttnn_tensor_spec *spec,
					enum ttnn_memory_layout layout, const ttnn_core_set *cores,
					enum ttnn_orientation orientation)
{
	struct tt_shard_target target = {cores, orientation};

	return tt_spec_shard_2d(out, spec, layout, &target);
}

/* ---- bytes of others --------------------------------------------------------------------------- */

struct borrowed {
	struct tt_storage base;
	void (*release)(void *owner);
	void *owner;
};

static void borrowed_destroy(struct tt_storage *storage)
{
	struct borrowed *borrowed = (struct borrowed *)storage;

	borrowed->release(borrowed->owner);
	tt_free(borrowed);
}

static const struct tt_storage_ops borrowed_ops = {.name = "borrowed", .destroy = borrowed_destroy};

enum ttnn_status ttnn_tensor_borrow(ttnn_tensor **out, const void *bytes,
				    const struct ttnn_tensor_spec *spec,
				    void (*release)(void *owner), void *owner)
{
	struct borrowed *borrowed = tt_alloc(sizeof(*borrowed));

	if (!borrowed) {
		release(owner);
		return tt_fail_nomem();
	}
	/* Nobody writes to storage that others may share. */
	tt_storage_init(&borrowed->base, &borrowed_ops, (void *)(uintptr_t)bytes, spec->bytes);
	borrowed->release = release;
	borrowed->owner = owner;
	return tt_tensor_wrap(out, spec, &borrowed->base, NULL);
}

/* ---- parts ---------------------------------------------------------------------------------------- */

/* The mesh of a tensor without a layout: a part of a tensor on several devices has all of theirs. */
static struct ttnn_shape mesh_of(const ttnn_tensor *tensor)
{
	const struct tt_storage *storage = tensor->storage;
	struct tt_storage_place place = {0};

	if (storage->ops->place)
		place = storage->ops->place(storage);
	return place.open ? TT_SHAPE(place.rows, place.cols) : TT_SHAPE(1, 1);
}

void ttnn_tensor_get_topology(struct ttnn_topology *out, const ttnn_tensor *tensor)
{
	const struct tt_mesh_layout *layout = tensor->layout;

	*out = (struct ttnn_topology){.mesh = layout ? layout->mesh : mesh_of(tensor),
				      .distribution = tt_spread_extents(tensor->spread)};
	out->placements = out->distribution.rank;
	out->coords = layout ? layout->coord_count : out->mesh.dim[0] * out->mesh.dim[1];
}

struct ttnn_placement ttnn_tensor_placement(const ttnn_tensor *tensor, size_t i)
{
	struct tt_spread axis = tt_spread_at(tensor->spread, i < TT_SPREAD_DIMS ? (unsigned)i : 4);

	return (struct ttnn_placement){axis.shard, axis.shard ? axis.dim : 0};
}

struct ttnn_shape ttnn_tensor_coord(const ttnn_tensor *tensor, size_t i)
{
	const struct tt_mesh_layout *layout = tensor->layout;

	uint32_t cols;

	if (layout && i < layout->coord_count)
		return layout->coords[i];
	cols = layout ? 1 : mesh_of(tensor).dim[1];
	return (struct ttnn_shape){2, {(uint32_t)i / cols, (uint32_t)i % cols}};
}

/* ---- numbers of tensors ----------------------------------------------------------------------------- */

uint64_t ttnn_tensor_get_id(const ttnn_tensor *tensor)
{
	return tensor->id;
}

void ttnn_tensor_set_id(ttnn_tensor *tensor, uint64_t id)
{
	tensor->id = id;
}
