/*
 * golden_collective.c: goldens of operations in which chips give each other their data. A golden
 * is that of one chip, the first of its group: it reads the parts of the others out of the
 * mesh's tensor.
 */
#include "golden/golden_collective.h"

#include <inttypes.h>
#include <math.h>

#include "device/device.h"
#include "device/devtensor.h"
#include "golden/golden_mesh.h"

tt_status tt_golden_all_broadcast(struct tt_golden *golden)
{
	struct tt_golden_mesh members;

	TT_TRY(tt_golden_mesh_find(&members, golden, "input_tensor"));
	for (uint32_t i = 0; i < members.count; i++) {
		const struct tt_array *in =
			tt_golden_mesh_in(golden, "input_tensor", i * members.step);
		struct tt_array *out = in ? tt_golden_out(golden, &in->shape, in->dtype) : NULL;

		TT_NEED_MEMORY(out);
		for (uint64_t k = 0; k < in->count; k++)
			*tt_at(out, k) = *tt_at(in, k);
	}
	return TTNN_OK;
}

/* The chip at the coordinate that an argument is. */
static tt_status chip_at(uint32_t *out, struct tt_golden *golden, const char *name)
{
	struct tt_tensor *in = tt_call_tensor(&golden->call, "input_tensor");
	const struct tt_device *device = in ? tt_tensor_device(in) : NULL;
	int64_t at[2];
	size_t count;

	TT_TRY(tt_call_ints(at, &count, 2, &golden->call, name));
	TT_NEED(device && count == 2 && at[0] >= 0 && at[0] < device->rows && at[1] >= 0 &&
			at[1] < device->cols,
		"%s: the golden needs a place on the mesh", golden->op->name);
	*out = (uint32_t)(at[0] * device->cols + at[1]);
	return TTNN_OK;
}

/* What one chip has. */
static tt_status copy_of(struct tt_golden *golden, uint32_t chip)
{
	const struct tt_array *in = tt_golden_mesh_in(golden, "input_tensor", chip);
	struct tt_array *out = in ? tt_golden_out(golden, &in->shape, in->dtype) : NULL;

	TT_NEED_MEMORY(out);
	for (uint64_t k = 0; k < in->count; k++)
		*tt_at(out, k) = *tt_at(in, k);
	return TTNN_OK;
}

tt_status tt_golden_broadcast(struct tt_golden *golden)
{
	uint32_t sender;

	TT_TRY(chip_at(&sender, golden, "sender_coord"));
	return copy_of(golden, sender);
}

/* The first chip has its own, unless it is the one that receives. */
tt_status tt_golden_point_to_point(struct tt_golden *golden)
{
	uint32_t sender, receiver;

	TT_TRY(chip_at(&sender, golden, "sender_coord"));
	TT_TRY(chip_at(&receiver, golden, "receiver_coord"));
	golden->first_chip = true;
	return copy_of(golden, receiver ? 0 : sender);
}

/* The first part along a dimension. */
tt_status tt_golden_partition(struct tt_golden *golden)
{
	const struct tt_array *in;
	struct ttnn_shape shape;
	struct tt_golden_mesh members;
	struct tt_array *out;
	int64_t dim = tt_call_int(&golden->call, "dim", 0);

	TT_TRY(tt_golden_mesh_find(&members, golden, "input_tensor"));
	in = tt_golden_mesh_in(golden, "input_tensor", 0);
	TT_NEED_MEMORY(in);
	shape = in->shape;
	dim += dim < 0 ? shape.rank : 0;
	TT_NEED(dim >= 0 && dim < shape.rank, "%s: there is no dimension %lld", golden->op->name,
		(long long)dim);
	shape.dim[dim] /= members.count;
	out = tt_golden_out(golden, &shape, in->dtype);
	TT_NEED_MEMORY(out);
	for (uint64_t k = 0; k < out->count; k++) {
		uint64_t at[TTNN_MAX_RANK];

		tt_array_coordinate(at, out, k);
		*tt_at(out, k) = *tt_at(in, tt_array_index(in, at));
	}
	return TTNN_OK;
}

/* Column `chip` of the mapping says whose expert it is. */
static bool owns(const struct tt_array *mapping, uint32_t chip, double expert)
{
	uint64_t at[TTNN_MAX_RANK] = {0, 0, 0, chip};

	if (!(expert >= 0 && expert < mapping->shape.dim[2]))
		return false;
	at[2] = (uint64_t)expert;
	return *tt_at(mapping, tt_array_index(mapping, at)) != 0;
}

/* Tokens are [1, batch, sequence, width] of all chips: one of the two in between is spread over them. */
static tt_status spread_dim(uint32_t *out, const struct tt_golden *golden, const char *name)
{
	int64_t dim = tt_call_int(&golden->call, name, 1);

	if (dim != 1 && dim != 2)
		return tt_fail(TTNN_INVALID, "%s: %s is %lld, and can be 1 or 2", golden->op->name,
			       name, (long long)dim);
	*out = (uint32_t)dim;
	return TTNN_OK;
}

static tt_status check_experts(const struct tt_golden *golden, const struct tt_array *in,
			       const struct tt_array *ids, const struct tt_array *mapping)
{
	if (in->shape.rank == 4 && ids->shape.rank == 4 && mapping->shape.rank == 4)
		return TTNN_OK;
	return tt_fail(TTNN_INVALID, "%s: tensors have %u, %u and %u dimensions instead of four",
		       golden->op->name, in->shape.rank, ids->shape.rank, mapping->shape.rank);
}

/* Whether the first chip has one of a token's experts: `owners` says it of the chip that has the token. */
static bool first_owns(struct tt_golden *golden, const struct tt_array *owners, uint64_t row,
		       const double *experts, uint64_t k)
{
	const struct ttnn_value *algorithm = tt_call_arg(&golden->call, "dispatch_algorithm");
	uint64_t all = tt_shape_last(&owners->shape, 1);

	for (uint64_t i = 0; i < k; i++)
		if (experts[i] < (double)all &&
		    *tt_at(owners, row * all + (uint64_t)experts[i]) == 0)
			return true;
	return algorithm->integer == 0; /* BROADCAST */
}

/* Tokens, choices and scores of all chips behind each other; shared experts are chosen by all, with score 1. */
tt_status tt_golden_dispatch_metadata(struct tt_golden *golden)
{
	const struct ttnn_value *shared = tt_call_arg(&golden->call, "shared_expert_ids");
	const struct tt_array *owners = tt_golden_in(golden, "expert_mapping_tensor");
	struct tt_golden_mesh members;
	struct tt_array *out[3] = {NULL};

	TT_TRY(tt_golden_mesh_find(&members, golden, "input_tensor"));
	for (uint32_t m = 0; m < members.count; m++) {
		uint32_t chip = m * members.step;
		const struct tt_array *in = tt_golden_mesh_in(golden, "input_tensor", chip);
		const struct tt_array *ids =
			tt_golden_mesh_in(golden, "expert_indices_tensor", chip);
		const struct tt_array *scores =
			tt_golden_mesh_in(golden, "expert_scores_tensor", chip);
		uint64_t k, all, width, tokens;

		TT_GOLDEN_NEED(in && ids && scores && owners);
		k = tt_shape_last(&ids->shape, 1), all = k + shared->count;
		width = tt_shape_last(&in->shape, 1), tokens = in->count / (width ? width : 1);
		for (uint32_t i = 0; m == 0 && i < 3; i++) {
			struct ttnn_shape shape = {3, {1, (uint32_t)(tokens * members.count)}};

			shape.dim[2] = (uint32_t)(i ? all : width);
			out[i] = tt_golden_out(golden, &shape, i == 1 ? ids->dtype : in->dtype);
			TT_GOLDEN_NEED(out[i]);
		}
		for (uint64_t t = 0; t < tokens; t++) {
			uint64_t row = m * tokens + t;

			for (uint64_t i = 0; i < all; i++) {
				*tt_at(out[1], row * all + i) =
					i < k ? *tt_at(ids, t * k + i)
					      : (double)shared->items[i - k].integer;
				*tt_at(out[2], row * all + i) =
					i < k ? *tt_at(scores, t * k + i) : 1;
			}
			if (!first_owns(golden, owners, chip, tt_array_span(out[1], row * all, all),
					all))
				continue;
			for (uint64_t c = 0; c < width; c++)
				*tt_at(out[0], row * width + c) = *tt_at(in, t * width + c);
		}
	}
	return TTNN_OK;
}

tt_status tt_golden_all_to_all_dispatch(struct tt_golden *golden)
{
	const struct tt_array *mapping = tt_golden_in(golden, "expert_mapping_tensor");
	struct tt_array *tokens = NULL, *choices = NULL;
	struct tt_golden_mesh members;
	uint32_t along = 1;

	TT_TRY(spread_dim(&along, golden, "output_concat_dim"));
	TT_TRY(tt_golden_mesh_find(&members, golden, "input_tensor"));
	for (uint32_t m = 0; m < members.count; m++) {
		const struct tt_array *in =
			tt_golden_mesh_in(golden, "input_tensor", m * members.step);
		const struct tt_array *ids =
			tt_golden_mesh_in(golden, "expert_indices_tensor", m * members.step);

		if (!in || !ids || !mapping)
			return tt_fail_nomem();
		TT_TRY(check_experts(golden, in, ids, mapping));
		if (!tokens) {
			struct ttnn_shape shape = {
				4, {1, in->shape.dim[0], in->shape.dim[2], in->shape.dim[3]}};

			shape.dim[along] *= members.count;
			tokens = tt_golden_out(golden, &shape, in->dtype);
			shape.dim[3] = ids->shape.dim[3];
			choices = tt_golden_out(golden, &shape, ids->dtype);
		}
		if (!tokens || !choices)
			return tt_fail_nomem();
		for (uint64_t i = 0; i < ids->count; i++) {
			uint64_t from[TTNN_MAX_RANK], to[TTNN_MAX_RANK] = {0};

			tt_array_coordinate(from, ids, i);
			to[1] = from[0] + (along == 1 ? m * in->shape.dim[0] : 0);
			to[2] = from[2] + (along == 2 ? m * in->shape.dim[2] : 0);
			to[3] = from[3];
			*tt_at(choices, tt_array_index(choices, to)) = *tt_at(ids, i);
			for (uint32_t c = 0;
			     owns(mapping, 0, *tt_at(ids, i)) && c < in->shape.dim[3]; c++) {
				to[3] = from[3] = c;
				*tt_at(tokens, tt_array_index(tokens, to)) =
					*tt_at(in, tt_array_index(in, from));
			}
		}
	}
	return TTNN_OK;
}

tt_status tt_golden_all_to_all_combine(struct tt_golden *golden)
{
	const struct tt_array *mapping = tt_golden_in(golden, "expert_mapping_tensor");
	bool reduced = tt_call_bool(&golden->call, "local_reduce", false);
	struct tt_array *out = NULL;
	struct tt_golden_mesh members;
	uint32_t along = 1;

	TT_TRY(spread_dim(&along, golden, "output_shard_dim"));
	TT_TRY(tt_golden_mesh_find(&members, golden, "input_tensor"));
	for (uint32_t m = 0; m < members.count; m++) {
		uint32_t chip = m * members.step;
		const struct tt_array *in = tt_golden_mesh_in(golden, "input_tensor", chip);
		const struct tt_array *ids =
			tt_golden_mesh_in(golden, "expert_metadata_tensor", chip);

		if (!in || !ids || !mapping)
			return tt_fail_nomem();
		TT_TRY(check_experts(golden, in, ids, mapping));
		if (!out) {
			struct ttnn_shape shape = {4,
						   {ids->shape.dim[3], ids->shape.dim[1],
						    ids->shape.dim[2], in->shape.dim[3]}};

			shape.dim[along] /= members.count;
			out = tt_golden_out(golden, &shape, in->dtype);
		}
		TT_NEED_MEMORY(out);
		for (uint64_t i = 0; i < out->count; i++) {
			uint64_t at[TTNN_MAX_RANK], id[TTNN_MAX_RANK] = {0}, local = 0;
			double expert;
			bool before = false;

			tt_array_coordinate(at, out, i);
			id[1] = at[1];
			id[2] = at[2];
			for (id[3] = 0; id[3] < at[0]; id[3]++)
				before |= owns(mapping, chip, *tt_at(ids, tt_array_index(ids, id)));
			expert = *tt_at(ids, tt_array_index(ids, id));
			if (!owns(mapping, chip, expert) || (reduced && before))
				continue;
			for (double e = 0; e < expert && !reduced; e++)
				local += owns(mapping, chip, e);
			at[0] = local;
			*tt_at(out, i) = *tt_at(in, tt_array_index(in, at));
		}
	}
	return TTNN_OK;
}

/* Softmax over all chips: maxima of all, sums and values weighted by their distance from those. */
/* Whether a token is among those that chose an expert. */
static bool chose(const struct tt_array *ids, uint64_t token, double expert)
{
	uint64_t k = ids->shape.dim[3];

	for (uint64_t i = 0; i < k; i++)
		if (*tt_at(ids, token * k + i) == expert)
			return true;
	return false;
}

/* Of the first chip: expert after expert, in the order of the mapping. */
tt_status tt_golden_expert_token_remap(struct tt_golden *golden)
{
	const struct tt_array *scores = tt_golden_mesh_in(golden, "topk_tensor", 0);
	const struct tt_array *mapping = tt_golden_mesh_in(golden, "expert_mapping_tensor", 0);
	const struct tt_array *ids = tt_golden_mesh_in(golden, "expert_metadata_tensor", 0);
	int64_t run = tt_call_int(&golden->call, "reduction_size", 16);
	struct tt_array *own, *needed;
	uint64_t local, tokens;

	if (!scores || !mapping || !ids)
		return tt_fail_nomem();
	TT_TRY(check_experts(golden, scores, ids, mapping));
	local = mapping->shape.dim[2] / mapping->shape.dim[3];
	tokens = (uint64_t)ids->shape.dim[1] * ids->shape.dim[2];
	golden->first_chip = true;
	own = tt_golden_out(golden,
			    &TT_SHAPE(1, ids->shape.dim[1], ids->shape.dim[2], (uint32_t)local),
			    scores->dtype);
	needed = tt_golden_out(golden,
			       &TT_SHAPE(1, 1, (uint32_t)(tokens / (uint64_t)run), (uint32_t)local),
			       TTNN_UINT16);
	if (!own || !needed)
		return tt_fail_nomem();
	for (uint64_t expert = 0, place = 0; expert < mapping->shape.dim[2] && place < local;
	     expert++) {
		if (!owns(mapping, 0, (double)expert))
			continue;
		for (uint64_t token = 0; token < tokens; token++) {
			if (!chose(ids, token, (double)expert))
				continue;
			*tt_at(own, token * local + place) =
				*tt_at(scores, token * scores->shape.dim[3] + expert);
			*tt_at(needed, token / (uint64_t)run * local + place) = 1;
		}
		place++;
	}
	return TTNN_OK;
}

tt_status tt_golden_reduce_to_root(struct tt_golden *golden)
{
	static const char *const names[] = {"input_tensor_l", "input_tensor_s", "input_tensor_m"};
	double scale = tt_call_real(&golden->call, "scale_fp32", 1);
	const struct tt_array *m, *s, *l;
	struct tt_array *out[3];
	uint64_t ratio, core = tt_golden_tensor(golden, names[1])->spec.memory.shard.width;
	struct tt_golden_mesh members;

	TT_TRY(tt_golden_mesh_find(&members, golden, names[0]));
	for (size_t i = 0; i < 3; i++) {
		const struct tt_array *like = tt_golden_mesh_in(golden, names[i], 0);

		out[i] = like ? tt_golden_out(golden, &like->shape, like->dtype) : NULL;
		TT_NEED_MEMORY(out[i]);
	}
	if (!core || !out[2]->count)
		return tt_fail(TTNN_INVALID, "ttnn.reduce_to_root needs states in shards");
	ratio = out[0]->count / out[2]->count;
	if (ratio == 0)
		return tt_fail(TTNN_INVALID, "ttnn.reduce_to_root needs a value for each sum");
	for (uint64_t i = 0; i < out[2]->count; i++)
		*tt_at(out[2], i) = -INFINITY;
	for (uint32_t chip = 0; chip < members.count; chip++) {
		m = tt_golden_mesh_in(golden, names[2], chip);
		for (uint64_t i = 0; m && i < m->count; i++)
			*tt_at(out[2], i) = fmax(*tt_at(out[2], i), *tt_at(m, i));
	}
	for (uint32_t chip = 0; chip < members.count; chip++) {
		l = tt_golden_mesh_in(golden, names[0], chip);
		s = tt_golden_mesh_in(golden, names[1], chip);
		m = tt_golden_mesh_in(golden, names[2], chip);
		if (!l || !s || !m)
			return tt_fail_nomem();
		for (uint64_t i = 0; i < s->count; i++)
			*tt_at(out[1], i) +=
				*tt_at(s, i) * exp((*tt_at(m, i) - *tt_at(out[2], i)) * scale);
		for (uint64_t i = 0; i < l->count; i++) {
			uint64_t first = i / (core * ratio) * core;

			*tt_at(out[0], i) +=
				*tt_at(l, i) *
				exp((*tt_at(m, first) - *tt_at(out[2], first)) * scale);
		}
	}
	for (uint64_t i = 0; i < out[0]->count; i++)
		*tt_at(out[0], i) /= *tt_at(out[1], i / (core * ratio) * core);
	return TTNN_OK;
}

/* ---- parts that are moved, and sums -------------------------------------------------------------------------- */

/* Where an element of the first chip's result comes from: the member, and the place there in `at`. */
struct moving {
	uint32_t dim, extent; /* along which it is found, and how far a member reaches */
	uint32_t offset;      /* of the first chip */
	bool reversed;
};

static tt_status fill_moved(struct tt_golden *golden, const struct ttnn_shape *shape,
			    const struct moving *moving)
{
	const struct tt_tensor *in = tt_call_tensor(&golden->call, "input_tensor");
	struct tt_array *out = tt_golden_out(golden, shape, in->spec.dtype);
	struct tt_golden_mesh members;

	TT_TRY(tt_golden_mesh_find(&members, golden, "input_tensor"));
	for (uint32_t i = 0; out && i < members.count; i++) {
		uint32_t which = moving->reversed ? members.count - 1 - i : i;
		const struct tt_array *part =
			tt_golden_mesh_in(golden, "input_tensor", which * members.step);
		uint64_t at[TTNN_MAX_RANK];

		if (!part)
			return tt_fail_nomem();
		for (uint64_t k = 0; k < out->count; k++) {
			uint64_t global;

			tt_array_coordinate(at, out, k);
			global = at[moving->dim] + moving->offset;
			at[moving->dim] = global % moving->extent;
			if (global / moving->extent == i)
				*tt_at(out, k) = *tt_at(part, tt_array_index(part, at));
		}
	}
	return out ? TTNN_OK : tt_fail_nomem();
}

/* A dimension of the input, which has something along it. */
static tt_status golden_dim(uint32_t *out, const struct tt_golden *golden, const char *name)
{
	const struct tt_tensor *in = tt_call_tensor(&golden->call, "input_tensor");
	int64_t dim = tt_call_int(&golden->call, name, 0);

	TT_NEED(in, "the golden needs a tensor");
	dim += dim < 0 ? in->spec.shape.rank : 0;
	TT_NEED(dim >= 0 && dim < in->spec.shape.rank && in->spec.shape.dim[dim],
		"a tensor has nothing along %s %" PRId64, name, dim);
	*out = (uint32_t)dim;
	return TTNN_OK;
}

static tt_status gathered(struct tt_golden *golden, bool reversed)
{
	struct moving moving = {.reversed = reversed};
	struct tt_golden_mesh members;
	struct ttnn_shape shape;

	TT_TRY(golden_dim(&moving.dim, golden, "dim"));
	TT_TRY(tt_golden_mesh_find(&members, golden, "input_tensor"));
	shape = tt_golden_tensor(golden, "input_tensor")->spec.shape;
	moving.extent = shape.dim[moving.dim];
	shape.dim[moving.dim] *= members.count;
	return fill_moved(golden, &shape, &moving);
}

tt_status tt_golden_all_gather(struct tt_golden *golden)
{
	return gathered(golden, tt_call_bool(&golden->call, "reverse_order", false));
}

tt_status tt_golden_all_gather_reversed(struct tt_golden *golden)
{
	return gathered(golden, true);
}

/* Cut along one dimension, of which the first chip has the first part. */
tt_status tt_golden_all_to_all(struct tt_golden *golden)
{
	struct moving moving = {0};
	struct tt_golden_mesh members;
	struct ttnn_shape shape;
	uint32_t to;

	TT_TRY(golden_dim(&moving.dim, golden, "in_dim"));
	TT_TRY(golden_dim(&to, golden, "out_dim"));
	TT_TRY(tt_golden_mesh_find(&members, golden, "input_tensor"));
	shape = tt_golden_tensor(golden, "input_tensor")->spec.shape;
	shape.dim[to] /= members.count;
	TT_NEED(shape.dim[to], "nothing to cut for %u chips", members.count);
	moving.extent = shape.dim[moving.dim];
	shape.dim[moving.dim] *= members.count;
	return fill_moved(golden, &shape, &moving);
}

tt_status tt_golden_slice_reshard(struct tt_golden *golden)
{
	struct moving moving = {
		.offset = (uint32_t)tt_call_int(&golden->call, "output_dim_offset", 0)};
	struct tt_golden_mesh members;
	struct ttnn_shape shape;

	TT_TRY(golden_dim(&moving.dim, golden, "dim"));
	TT_TRY(tt_golden_mesh_find(&members, golden, "input_tensor"));
	shape = tt_golden_tensor(golden, "input_tensor")->spec.shape;
	moving.extent = shape.dim[moving.dim];
	shape.dim[moving.dim] =
		(uint32_t)tt_call_int(&golden->call, "output_dim_shape", 0) / members.count;
	return fill_moved(golden, &shape, &moving);
}

/* The sum of all, or the first part of it along a dimension. */
static tt_status summed(struct tt_golden *golden, bool cut)
{
	const struct tt_tensor *in = tt_call_tensor(&golden->call, "input_tensor");
	struct tt_golden_mesh members;
	struct ttnn_shape shape;
	struct tt_array *out;
	uint32_t dim = 0;

	TT_TRY(tt_golden_mesh_find(&members, golden, "input_tensor"));
	shape = in->spec.shape;
	if (cut) {
		TT_TRY(golden_dim(&dim, golden, "dim"));
		shape.dim[dim] /= members.count;
	}
	out = tt_golden_out(golden, &shape, tt_call_dtype(&golden->call, "dtype", in->spec.dtype));
	for (uint32_t i = 0; out && i < members.count; i++) {
		const struct tt_array *part =
			tt_golden_mesh_in(golden, "input_tensor", i * members.step);
		uint64_t at[TTNN_MAX_RANK];

		if (!part)
			return tt_fail_nomem();
		for (uint64_t k = 0; k < out->count; k++) {
			tt_array_coordinate(at, out, k);
			*tt_at(out, k) += *tt_at(part, tt_array_index(part, at));
		}
	}
	return out ? TTNN_OK : tt_fail_nomem();
}

tt_status tt_golden_reduce_scatter(struct tt_golden *golden)
{
	return summed(golden, true);
}

/* The first chip has the sum of the first tensors of all. */
tt_status tt_golden_moe_reduce_scatter(struct tt_golden *golden)
{
	const struct ttnn_value *list = tt_call_arg(&golden->call, "input_tensors");
	struct tt_tensor *in = list->count ? list->items[0].tensor : NULL;
	struct tt_golden_mesh members;
	struct tt_array *out;

	TT_GOLDEN_NEED(in && tt_tensor_device(in));
	tt_golden_mesh_of(&members, golden, tt_tensor_device(in));
	out = tt_golden_out(golden, &in->spec.shape, in->spec.dtype);
	for (uint32_t i = 0; out && i < members.count; i++) {
		const struct tt_array *part = tt_golden_part(golden, in, i * members.step);

		TT_GOLDEN_NEED(part);
		for (uint64_t k = 0; k < out->count; k++)
			*tt_at(out, k) += *tt_at(part, k);
	}
	return out ? TTNN_OK : tt_fail_nomem();
}

tt_status tt_golden_all_reduce(struct tt_golden *golden)
{
	return summed(golden, false);
}

/* What all chips have of the input, added up; NULL without memory. */
static const struct tt_array *sum_parts(struct tt_golden *golden,
					const struct tt_golden_mesh *members, const char *name)
{
	struct tt_array *sum = NULL;

	for (uint32_t i = 0; i < members->count; i++) {
		const struct tt_array *part = tt_golden_mesh_in(golden, name, i * members->step);

		if (part && !sum)
			sum = tt_golden_temp(golden, &part->shape);
		if (!part || !sum)
			return NULL;
		for (uint64_t k = 0; k < part->count; k++)
			*tt_at(sum, k) += *tt_at(part, k);
	}
	return sum;
}

/* The sum at a place; none behind its end. */
static double sum_at(const struct tt_array *sum, const uint64_t *at)
{
	for (uint32_t d = 0; d < sum->shape.rank; d++)
		if (at[d] >= sum->shape.dim[d])
			return 0;
	return *tt_at(sum, tt_array_index(sum, at));
}

tt_status tt_golden_first_part(struct tt_golden *golden, const struct tt_golden_shards *of)
{
	struct ttnn_shape shape = of->sum->shape;
	uint32_t last = tt_from_end(&shape, 1), width = shape.dim[last];
	uint64_t at[TTNN_MAX_RANK], cores;
	struct tt_array *out;

	TT_NEED(of->memory->has_shard, "%s: the golden needs a sharded tensor", golden->op->name);
	cores = tt_divisor(ttnn_core_set_cores(of->memory->shard.grid));
	if (width % tt_divisor(of->memory->shard.width))
		width = (uint32_t)((width / 32 + cores - 1) / cores * cores * 32);
	shape.dim[last] = width / of->chips;
	out = tt_golden_out(golden, &shape, of->dtype);
	for (uint64_t i = 0; out && i < out->count; i++) {
		tt_array_coordinate(at, out, i);
		*tt_at(out, i) = sum_at(of->sum, at);
	}
	return out ? TTNN_OK : tt_fail_nomem();
}

tt_status tt_golden_shards_added(struct tt_golden *golden, const char *name)
{
	const struct tt_tensor *in = tt_call_tensor(&golden->call, name);
	struct tt_golden_mesh members;
	const struct tt_array *sum;

	TT_TRY(tt_golden_mesh_find(&members, golden, name));
	sum = sum_parts(golden, &members, name);
	TT_NEED_MEMORY(sum);
	return tt_golden_first_part(
		golden,
		&(struct tt_golden_shards){sum, &in->spec.memory, members.count, in->spec.dtype});
}

tt_status tt_golden_llama_reduce_scatter(struct tt_golden *golden)
{
	return tt_golden_shards_added(golden, "input_tensor");
}

/* Queries, keys and values stand side by side in a row; all three results have room for as many heads as queries. */
tt_status tt_golden_llama_heads(struct tt_golden *golden)
{
	const struct tt_tensor *in = tt_call_tensor(&golden->call, "input_tensor");
	uint32_t heads = (uint32_t)tt_call_int(&golden->call, "num_heads", 1);
	uint32_t kv = (uint32_t)tt_call_int(&golden->call, "num_kv_heads", 1);
	struct tt_golden_mesh members;
	const struct tt_array *sum;
	uint32_t width;

	TT_NEED(heads + 2 * kv > 0 && in->spec.shape.rank == 4, "no heads in the last of four");
	width = in->spec.shape.dim[3] / (heads + 2 * kv);
	TT_TRY(tt_golden_mesh_find(&members, golden, "input_tensor"));
	sum = sum_parts(golden, &members, "input_tensor");
	TT_NEED_MEMORY(sum);
	for (uint32_t which = 0; which < 3; which++) {
		const struct ttnn_shape shape = {
			4, {1, in->spec.shape.dim[2] / members.count, heads, width}};
		uint32_t first = which ? heads + (which - 1) * kv : 0;
		struct tt_array *out = tt_golden_out(golden, &shape, in->spec.dtype);

		for (uint64_t i = 0; out && i < out->count; i++) {
			uint64_t to[TTNN_MAX_RANK], from[TTNN_MAX_RANK] = {0};

			tt_array_coordinate(to, out, i);
			from[2] = to[1];
			from[3] = (first + to[2]) * width + to[3];
			if (to[2] < (which ? kv : heads))
				*tt_at(out, i) = sum_at(sum, from);
		}
		TT_NEED_MEMORY(out);
	}
	return TTNN_OK;
}

/* What lies before the first chip of a mesh, in a corner of it: zeros, or copies; behind are its neighbours. */
tt_status tt_golden_neighbor_pad(struct tt_golden *golden)
{
	static const char *const names[] = {"dim", "padding_left", "padding_right", "cluster_axis"};
	struct tt_tensor *in = tt_call_tensor(&golden->call, "input_tensor");
	const struct tt_device *device = tt_tensor_device(in);
	const char *mode = tt_call_arg(&golden->call, "padding_mode")->text;
	bool zeros = !mode || mode[0] == 'z';
	int64_t lists[4][3] = {{0}}, front = tt_call_int(&golden->call, "t_front_pad", 0);
	int64_t height = tt_call_int(&golden->call, "logical_h", 0);
	const struct tt_array *parts[64] = {NULL};
	struct ttnn_shape shape = in->spec.shape;
	struct tt_array *out;
	size_t count = 0;

	TT_NEED(device && device->rows * device->cols <= 64,
		"%s: the golden needs a tensor on a mesh of chips", golden->op->name);
	for (size_t i = 0; i < 4; i++)
		TT_TRY(tt_call_ints(lists[i], &count, 3, &golden->call, names[i]));
	for (size_t i = 0; i < count; i++)
		TT_NEED(lists[0][i] >= (front ? 1 : 0) && lists[0][i] < shape.rank,
			"a tensor of %u dimensions has no dimension %" PRId64, shape.rank,
			lists[0][i]);
	TT_NEED(front >= 0 && (!front || count), "nothing lies before the first dimension");
	for (size_t i = 0; i < count; i++)
		shape.dim[lists[0][i]] += (uint32_t)(lists[1][i] + lists[2][i]);
	if (front)
		shape.dim[lists[0][0] - 1] += (uint32_t)front;
	golden->first_chip = true;
	out = tt_golden_out(golden, &shape, in->spec.dtype);
	for (uint64_t k = 0; out && k < out->count; k++) {
		uint64_t at[TTNN_MAX_RANK];
		uint32_t chip = 0;
		bool empty = false;

		tt_array_coordinate(at, out, k);
		if (front && at[lists[0][0] - 1] < (uint64_t)front)
			continue;
		if (front)
			at[lists[0][0] - 1] -= (uint64_t)front;
		for (size_t i = 0; i < count; i++) {
			int64_t extent = in->spec.shape.dim[lists[0][i]];
			int64_t place = (int64_t)at[lists[0][i]] - lists[1][i];
			uint32_t chips = lists[3][i] ? device->cols : device->rows;

			empty |=
				i == 0 && height && place >= height && place >= 0 && place < extent;
			if (place >= extent && chips > 1) {
				chip += lists[3][i] ? 1 : device->cols;
				place -= extent;
			} else if (place < 0 || place >= extent) {
				empty |= zeros;
				place = place < 0 ? 0 : extent - 1;
			}
			at[lists[0][i]] = (uint64_t)place;
		}
		if (!empty) {
			if (!parts[chip])
				parts[chip] = tt_golden_mesh_in(golden, "input_tensor", chip);
			if (!parts[chip])
				return tt_fail_nomem();
			*tt_at(out, k) = *tt_at(parts[chip], tt_array_index(parts[chip], at));
		}
	}
	return out ? TTNN_OK : tt_fail_nomem();
}

/* A token's row of what one expert made, on one chip: dense is [pieces, rows, experts, tokens of a row, piece]. */
struct dense_row {
	uint64_t row, expert, n;
};

static void add_dense(struct tt_array *out, uint64_t choice, uint64_t token,
		      const struct tt_array *dense, const struct dense_row *from)
{
	for (uint64_t c = 0; c < out->shape.dim[2]; c++) {
		uint64_t piece = dense->shape.dim[4];
		uint64_t to[TTNN_MAX_RANK] = {choice, token, c};
		uint64_t at[TTNN_MAX_RANK] = {c / piece, from->row, from->expert, from->n,
					      c % piece};

		*tt_at(out, tt_array_index(out, to)) = *tt_at(dense, tt_array_index(dense, at));
	}
}

/* What one chip has of the tokens of the first. */
static void combine_from(struct tt_array *out, const struct tt_array *const in[4], uint64_t tokens)
{
	uint64_t experts = in[0]->shape.dim[2], rows = in[0]->shape.dim[1];
	uint64_t stride = in[1]->count / tokens, step = in[2]->count / experts / (tokens + 1);

	for (uint64_t e = 0; e < experts; e++) {
		uint64_t count = (uint64_t)*tt_at(in[3], e), i = 0;

		for (uint64_t row = 0; row < rows; row++) {
			uint64_t share = count / rows + (row < count % rows);

			for (uint64_t n = 0; n < share && i <= tokens; n++, i++) {
				double token = *tt_at(in[2], (e * (tokens + 1) + i) * step);
				uint64_t t = 0;

				while (t < tokens && *tt_at(in[1], t * stride) != token)
					t++;
				if (t < tokens && token < out->shape.dim[1])
					add_dense(out, (uint64_t)*tt_at(in[1], t * stride + 1 + e),
						  (uint64_t)token, in[0],
						  &(struct dense_row){row, e, n});
			}
		}
	}
}

/* What experts of all chips made of the tokens of the first one. */
tt_status tt_golden_reduce_combine(struct tt_golden *golden)
{
	static const char *const names[] = {"dense_input_tensor", "dense_activations_tensor",
					    "dense_token_maps_tensor", "dense_token_counts_tensor"};
	uint64_t tokens = (uint64_t)(tt_call_int(&golden->call, "batch_size", 0) *
				     tt_call_int(&golden->call, "seq_size", 0));
	const struct tt_array *before = tt_golden_in(golden, "output_tensor"), *in[4];
	struct ttnn_shape shape = {3, {0}};
	struct tt_golden_mesh members;
	struct tt_array *out = NULL;

	TT_TRY(tt_golden_mesh_find(&members, golden, names[0]));
	TT_NEED(tokens && tokens < UINT32_MAX, "no golden for so many tokens");
	shape.dim[0] = (uint32_t)tt_call_int(&golden->call, "select_experts_k", 0);
	shape.dim[1] = (uint32_t)(tokens / members.count);
	shape.dim[2] = (uint32_t)tt_call_int(&golden->call, "hidden_size", 0);
	for (uint32_t m = 0; m < members.count; m++) {
		for (uint32_t i = 0; i < 4; i++) {
			in[i] = tt_golden_mesh_in(golden, names[i], m * members.step);
			TT_GOLDEN_NEED(in[i] && in[i]->count);
		}
		TT_GOLDEN_NEED(in[0]->shape.rank == 5);
		out = out ? out : tt_golden_out(golden, &shape, in[0]->dtype);
		TT_GOLDEN_NEED(out);
		for (uint64_t i = 0; m == 0 && before && i < out->count; i++)
			*tt_at(out, i) = *tt_at(before, i);
		combine_from(out, in, tokens);
	}
	return TTNN_OK;
}

/* A number that a tensor of one says, or an argument. */
static double number_of(struct tt_golden *golden, const char *tensor, const char *name,
			double otherwise)
{
	const struct tt_array *array = tt_golden_mesh_in(golden, tensor, 0);

	return array ? *tt_at(array, 0) : tt_call_real(&golden->call, name, otherwise);
}

/* So many places along the dimension every chip gives of its own. */
static uint64_t places_in_use(struct tt_golden *golden, uint64_t own, uint32_t chips)
{
	double slab = tt_call_real(&golden->call, "gathered_slab_global", 0), all;

	all = number_of(golden, "gathered_prefix_tensor", "gathered_dim_size",
			(double)(own * chips)) +
	      slab;
	while (slab >= 1 && (uint64_t)all % (uint64_t)slab)
		all++;
	return (uint64_t)all / chips < own ? (uint64_t)all / chips : own;
}

tt_status tt_golden_high_bw_gather(struct tt_golden *golden)
{
	const struct tt_array *before = tt_golden_mesh_in(golden, "output_tensor", 0), *in;
	const struct tt_tensor *given = tt_call_tensor(&golden->call, "output_tensor");
	int64_t dim = tt_call_int(&golden->call, "dim", 0);
	double batch = number_of(golden, "input_batch_index_tensor", "input_batch_index", 0);
	struct tt_array *out = tt_golden_out(golden, &given->spec.shape, given->spec.dtype);
	uint64_t at[TTNN_MAX_RANK], own, used;
	struct tt_golden_mesh mesh;

	TT_TRY(tt_golden_mesh_find(&mesh, golden, "input_tensor"));
	TT_NEED_MEMORY(out && before);
	if (tt_call_tensor(&golden->call, "input_batch_index_tensor"))
		batch = batch * tt_call_real(&golden->call, "batch_slot_num_layers", 1) +
			tt_call_real(&golden->call, "batch_slot_layer_idx", 0);
	dim = tt_place_of(dim, given->spec.shape.rank);
	for (uint32_t chip = 0; chip < mesh.count; chip++) {
		in = tt_golden_mesh_in(golden, "input_tensor", chip * mesh.step);
		own = tt_divisor(tt_array_extent(in, (uint32_t)dim));
		used = places_in_use(golden, own, mesh.count);
		for (uint64_t i = 0; i < out->count; i++) {
			tt_array_coordinate(at, out, i);
			if (at[dim] / own != chip)
				continue;
			at[dim] %= own;
			at[0] += (uint64_t)batch;
			*tt_at(out, i) = at[dim] < used ? *tt_at(in, tt_array_index(in, at))
							: *tt_at(before, i);
		}
	}
	return TTNN_OK;
}
