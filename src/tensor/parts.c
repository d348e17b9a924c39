/*
 * parts.c: host tensors and the parts of them that the devices of a mesh have. Parts are numbered
 * row by row over the mesh; each dimension of it cuts a dimension of the tensor, or none.
 */
#include <string.h>
#include <ttnn_frontend.h>

#include "tensor/layout.h"
#include "tensor/tensor.h"

/* The coordinate of position i, row by row. */
static struct ttnn_shape coordinate(const struct ttnn_shape *mesh, size_t i)
{
	struct ttnn_shape coord = {.rank = mesh->rank};

	for (uint32_t d = mesh->rank; d-- > 0; i /= mesh->dim[d])
		coord.dim[d] = (uint32_t)(i % mesh->dim[d]);
	return coord;
}

/* The buffer of a part on a device; 0: on the host, or deallocated. */
static uint64_t buffer_of(const ttnn_tensor *part)
{
	const struct tt_storage *storage = part->storage;

	return storage->ops->place && !part->layout ? storage->ops->place(storage).buffer_id : 0;
}

/* Parts on the host, or (`anywhere`) in one buffer of a device: *count of them. */
static tt_status check_parts(uint64_t *count, ttnn_tensor *const *parts,
			     const struct ttnn_shape *mesh, bool anywhere)
{
	TT_TRY(ttnn_shape_volume(count, mesh));
	if (*count == 0 || mesh->rank == 0)
		return tt_fail(TTNN_INVALID, "a mesh of no devices has no parts");
	for (size_t i = 0; i < *count; i++) {
		uint64_t buffer = anywhere ? buffer_of(parts[i]) : 0;

		if (!buffer)
			TT_TRY(tt_tensor_need_host(parts[i], "a part"));
		if (anywhere && buffer != buffer_of(parts[0]))
			return tt_fail_cond(
				TTNN_INVALID,
				"storage.get().get_mesh_buffer_leak_ownership() == first_mesh_buffer",
				"tensor shards must be allocated on the same mesh buffer.");
		if (!ttnn_tensor_spec_equal(&parts[i]->spec, &parts[0]->spec))
			return tt_fail(TTNN_INVALID, "part %zu has another spec than part 0", i);
	}
	return TTNN_OK;
}

/* Whether a distribution is a corner of the mesh; else its positions follow the rows of the mesh. */
static bool lies_in(const struct ttnn_shape *distribution, const struct ttnn_shape *mesh)
{
	for (uint32_t d = 0; d < mesh->rank; d++)
		if (d >= distribution->rank || distribution->dim[d] > mesh->dim[d])
			return false;
	return distribution->rank == mesh->rank;
}

static tt_status read_spread(uint64_t *out, const struct ttnn_shape *distribution,
			     const struct ttnn_placement *placements)
{
	*out = 0;
	for (uint32_t d = 0; d < distribution->rank; d++) {
		struct tt_spread axis = {distribution->dim[d], placements[d].shard,
					 placements[d].dim};

		if (!tt_spread_fits(d, &axis))
			return tt_fail(
				TTNN_INVALID,
				"a tensor cannot be spread like this: %u "
				"devices along dimension %u of a mesh, dimension %d of the tensor",
				axis.extent, d, axis.dim);
		*out = tt_spread_with(*out, d, axis);
	}
	return TTNN_OK;
}

enum ttnn_status ttnn_tensor_set_placements(ttnn_tensor *tensor,
					    const struct ttnn_shape *distribution,
					    const struct ttnn_placement *placements)
{
	uint64_t spread;

	TT_TRY(read_spread(&spread, distribution, placements));
	if (!spread)
		return tt_fail(TTNN_INVALID, "a distribution has at least one dimension");
	tensor->spread = spread;
	return TTNN_OK;
}

enum ttnn_status ttnn_tensor_gather(ttnn_tensor **out, ttnn_tensor *const *parts,
				    const struct ttnn_shape *mesh,
				    const struct ttnn_shape *distribution,
				    const struct ttnn_placement *placements)
{
	struct tt_mesh_layout *layout;
	uint64_t spread, count, places;

	TT_TRY(check_parts(&count, parts, distribution, true));
	TT_TRY(ttnn_shape_volume(&places, mesh));
	if (count > places)
		return tt_fail(TTNN_INVALID, "a mesh of %llu devices has no place for %llu parts",
			       (unsigned long long)places, (unsigned long long)count);
	TT_TRY(read_spread(&spread, distribution, placements));
	TT_TRY(tt_mesh_layout_new(&layout, (size_t)count, (size_t)count));
	layout->mesh = *mesh;
	for (size_t i = 0; i < count; i++) {
		layout->coords[i] = layout->shards[i].coord =
			coordinate(lies_in(distribution, mesh) ? distribution : mesh, i);
		layout->shards[i].storage = tt_storage_ref(parts[i]->storage);
	}
	TT_TRY(tt_tensor_wrap(out, &parts[0]->spec, tt_storage_ref(parts[0]->storage), layout));
	(*out)->spread = spread;
	return TTNN_OK;
}

/* ---- cutting and joining --------------------------------------------------------------------------- */

static tt_status need_rows(const ttnn_tensor *tensor, const char *what)
{
	TT_TRY(tt_tensor_need_host(tensor, what));
	if (tensor->spec.layout != TTNN_ROW_MAJOR)
		return tt_fail(TTNN_INVALID, "%s is not in rows", what);
	return TTNN_OK;
}

/* The dimension of a tensor that a placement names; numbers below 0 count from the end. */
static tt_status find_dim(uint32_t *out, const struct ttnn_shape *shape,
			  const struct ttnn_placement *placement)
{
	int64_t dim = placement->dim + (placement->dim < 0 ? (int64_t)shape->rank : 0);

	if (dim < 0 || dim >= shape->rank)
		return tt_fail(TTNN_INVALID, "a tensor of rank %u has no dimension %d",
			       (unsigned)shape->rank, (int)placement->dim);
	*out = (uint32_t)dim;
	return TTNN_OK;
}

/* One cut after the other: where the part of a coordinate begins, and *part, which is `whole` first. */
static tt_status find_part(uint32_t start[TTNN_MAX_RANK], struct ttnn_shape *part,
			   const struct ttnn_shape *mesh, const struct ttnn_placement *placements,
			   const struct ttnn_shape *coord)
{
	memset(start, 0, TTNN_MAX_RANK * sizeof(*start));
	for (uint32_t d = 0; d < mesh->rank; d++) {
		uint32_t dim = 0;

		if (!placements[d].shard || mesh->dim[d] == 1)
			continue;
		TT_TRY(find_dim(&dim, part, &placements[d]));
		if (part->dim[dim] % mesh->dim[d])
			return tt_fail(TTNN_INVALID,
				       "dimension %d of size %u cannot be cut into %u parts",
				       (int)placements[d].dim, (unsigned)part->dim[dim],
				       (unsigned)mesh->dim[d]);
		part->dim[dim] /= mesh->dim[d];
		start[dim] += coord->dim[d] * part->dim[dim];
	}
	return TTNN_OK;
}

static tt_status rows_of(ttnn_tensor **out, const struct ttnn_shape *shape, enum ttnn_dtype dtype)
{
	struct ttnn_spec_args args = {.shape = *shape, .dtype = dtype};
	struct ttnn_tensor_spec spec;

	TT_TRY(ttnn_tensor_spec_make(&spec, &args));
	return tt_tensor_alloc(out, &spec);
}

/* A part as a tensor of its own; all of it is the tensor itself. */
static tt_status cut_one(ttnn_tensor **out, ttnn_tensor *tensor, const uint32_t *start,
			 const struct ttnn_shape *shape)
{
	struct tt_area from = tt_area_of(ttnn_tensor_bytes(tensor), &tensor->spec), to;
	tt_status status;

	if (ttnn_shape_equal(shape, &tensor->spec.shape)) {
		*out = ttnn_tensor_ref(tensor);
		return TTNN_OK;
	}
	TT_TRY(rows_of(out, shape, tensor->spec.dtype));
	from = tt_area_part(&from, start, shape);
	to = tt_area_of(tt_tensor_data(*out), &(*out)->spec);
	status = tt_layout_copy(&to, &from, NULL);
	if (status != TTNN_OK)
		ttnn_tensor_unref(*out);
	return status;
}

enum ttnn_status ttnn_tensor_cut(ttnn_tensor **out, ttnn_tensor *tensor,
				 const struct ttnn_shape *mesh,
				 const struct ttnn_placement *placements)
{
	uint64_t count;
	size_t made = 0;
	tt_status status = TTNN_OK;

	TT_TRY(need_rows(tensor, "the tensor"));
	TT_TRY(ttnn_shape_volume(&count, mesh));
	while (status == TTNN_OK && made < count) {
		struct ttnn_shape part = tensor->spec.shape, coord = coordinate(mesh, made);
		uint32_t start[TTNN_MAX_RANK];

		status = find_part(start, &part, mesh, placements, &coord);
		if (status == TTNN_OK)
			status = cut_one(&out[made], tensor, start, &part);
		made += status == TTNN_OK;
	}
	while (status != TTNN_OK && made)
		ttnn_tensor_unref(out[--made]);
	return status;
}

/* The shape of all parts together. */
static tt_status joined_shape(struct ttnn_shape *whole, const struct ttnn_shape *mesh,
			      const struct ttnn_placement *placements)
{
	for (uint32_t d = 0; d < mesh->rank; d++) {
		uint64_t extent;
		uint32_t dim = 0;

		if (mesh->dim[d] == 1)
			continue;
		TT_TRY(find_dim(&dim, whole, &placements[d]));
		extent = (uint64_t)whole->dim[dim] * mesh->dim[d];
		if (extent > UINT32_MAX)
			return tt_fail(TTNN_INVALID, "the parts together are too large");
		whole->dim[dim] = (uint32_t)extent;
	}
	return TTNN_OK;
}

enum ttnn_status ttnn_tensor_join(ttnn_tensor **out, ttnn_tensor *const *parts,
				  const struct ttnn_shape *mesh,
				  const struct ttnn_placement *placements)
{
	struct ttnn_shape whole;
	tt_status status = TTNN_OK;
	struct tt_area to;
	uint64_t count;

	TT_TRY(check_parts(&count, parts, mesh, false));
	TT_TRY(need_rows(parts[0], "a part"));
	whole = parts[0]->spec.shape;
	TT_TRY(joined_shape(&whole, mesh, placements));
	TT_TRY(rows_of(out, &whole, parts[0]->spec.dtype));
	to = tt_area_of(tt_tensor_data(*out), &(*out)->spec);
	for (size_t i = 0; status == TTNN_OK && i < count; i++) {
		struct tt_area from = tt_area_of(ttnn_tensor_bytes(parts[i]), &parts[i]->spec);
		struct ttnn_shape part = whole, coord = coordinate(mesh, i);
		uint32_t start[TTNN_MAX_RANK];
		struct tt_area place;

		status = find_part(start, &part, mesh, placements, &coord);
		if (status != TTNN_OK)
			break;
		place = tt_area_part(&to, start, &part);
		status = tt_layout_copy(&place, &from, NULL);
	}
	if (status != TTNN_OK)
		ttnn_tensor_unref(*out);
	return status;
}
