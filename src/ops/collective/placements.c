/*
 * placements.c: how results of collectives are spread over the mesh.
 *
 * Models what the device operations of ttnn 0.81 say of their outputs (TensorTopology), as the released library shows
 * it on meshes of 2 x 4 and 1 x 8. Along the axis of the group every chip has the same afterwards, or its part of a
 * dimension. What no placements can say stays as the input's: a dimension that is cut along a later axis, too, so that
 * parts of one chip are no neighbours. Cut along an earlier one it is cut along all chips in a line.
 */
#include "device/devtensor.h"
#include "ops/collective/collective.h"

struct group_change {
	enum tt_group_result result;
	struct ttnn_shape mesh;
	uint32_t dim, rank; /* of the tensor */
};

static bool cuts(const struct tt_spread *axis, const struct group_change *change)
{
	int32_t dim = axis->dim + (axis->dim < 0 ? (int32_t)change->rank : 0);

	return axis->shard && dim == (int32_t)change->dim;
}

/* All chips in a line, each with its part of the dimension. */
static uint64_t line(const struct group_change *change)
{
	struct tt_spread axis = {change->mesh.dim[0] * change->mesh.dim[1], true,
				 (int32_t)change->dim};

	return tt_spread_with(0, 0, axis);
}

/* Along axis `at` of the mesh; what was a line becomes its axes. */
static uint64_t change_axis(uint64_t in, const struct group_change *change, unsigned at)
{
	bool in_line = tt_spread_rank(in) == 1,
	     parts = change->result != TT_GROUP_SAME && change->result != TT_GROUP_GATHERED;
	struct tt_spread own = tt_spread_at(in, in_line ? 0 : at), other;
	uint64_t out;

	other = in_line ? own : tt_spread_at(in, 1 - at);
	own.extent = change->mesh.dim[at];
	other.extent = change->mesh.dim[1 - at];
	if (own.extent == 1)
		return in;
	if (in_line && other.extent == 1)
		return parts ? line(change)
			     : tt_spread_with(0, 0, (struct tt_spread){own.extent, 0, 0});
	if (change->result == TT_GROUP_DIVIDED && own.shard && !cuts(&own, change))
		return in;
	if (cuts(&other, change) && other.extent > 1) {
		if (at == 0 &&
		    (parts || (change->result == TT_GROUP_GATHERED && cuts(&own, change))))
			return in;
		if (at == 1 && parts)
			return line(change);
	}
	if (parts && other.extent == 1 && cuts(&other, change))
		other.shard = false;
	own.shard = parts;
	own.dim = (int32_t)change->dim;
	out = tt_spread_with(0, at, own);
	return tt_spread_with(out, 1 - at, other);
}

/* All chips take part: along one axis after the other, as upstream's does. */
static uint64_t change_all(uint64_t in, const struct group_change *change)
{
	bool flat = change->mesh.dim[0] == 1 || change->mesh.dim[1] == 1;
	struct ttnn_shape extents = tt_spread_extents(in);
	struct tt_spread axis;

	if (change->result == TT_GROUP_SAME || change->result == TT_GROUP_GATHERED)
		return tt_spread_copies(flat ? &extents : &change->mesh);
	if (change->result == TT_GROUP_SCATTERED && !flat)
		return change_axis(change_axis(in, change, 0), change, 1);
	for (unsigned i = 0; (axis = tt_spread_at(in, i)).extent; i++)
		if (change->result == TT_GROUP_DIVIDED && axis.extent > 1 && axis.shard &&
		    !cuts(&axis, change))
			return in;
	return line(change);
}

uint64_t tt_group_spread(const struct tt_tensor *in, int64_t axis, enum tt_group_result result,
			 uint32_t dim)
{
	const struct tt_device *device = tt_tensor_device(in);
	struct group_change change = {
		result, {2, {device->rows, device->cols}}, dim, in->spec.shape.rank};

	/* One device, or a distribution of some other mesh. */
	if (change.mesh.dim[0] * change.mesh.dim[1] == 1 || tt_spread_rank(in->spread) > 2)
		return in->spread;
	return axis < 0 ? change_all(in->spread, &change)
			: change_axis(in->spread, &change, axis > 0);
}
