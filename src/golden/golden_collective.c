/*
 * golden_collective.c: goldens of operations in which chips give each other their data. A golden
 * is that of one chip, the first of its group: it reads the parts of the others out of the
 * mesh's tensor.
 */
#include "golden/golden_collective.h"

#include <math.h>

#include "device/device.h"
#include "device/devtensor.h"

/* The chips that take part with the first one: `step` apart. */
struct members {
	uint32_t count, step;
};

static tt_status members_of(struct members *out, struct tt_golden *golden, const char *name)
{
	struct tt_tensor *tensor = tt_call_tensor(&golden->call, name);
	const struct tt_device *device = tensor ? tt_tensor_device(tensor) : NULL;
	int64_t axis = tt_call_int(&golden->call, "cluster_axis", -1);

	if (!device)
		return tt_fail(TTNN_INVALID, "%s: the golden needs a tensor on a mesh of chips",
			       golden->op->name);
	*out = (struct members){device->rows * device->cols, 1};
	if (axis == 0)
		*out = (struct members){device->rows, device->cols};
	else if (axis > 0)
		out->count = device->cols;
	golden->first_chip = true;
	return TTNN_OK;
}

static const struct tt_array *on_chip(struct tt_golden *golden, const char *name, uint32_t chip)
{
	const struct tt_array *array;
	struct tt_tensor *shard;

	if (ttnn_tensor_shard(&shard, tt_call_tensor(&golden->call, name), chip) != TTNN_OK)
		return NULL;
	array = tt_golden_read(golden, shard);
	ttnn_tensor_unref(shard);
	return array;
}

tt_status tt_golden_all_broadcast(struct tt_golden *golden)
{
	struct members members;

	TT_TRY(members_of(&members, golden, "input_tensor"));
	for (uint32_t i = 0; i < members.count; i++) {
		const struct tt_array *in = on_chip(golden, "input_tensor", i * members.step);
		struct tt_array *out = in ? tt_golden_out(golden, &in->shape, in->dtype) : NULL;

		TT_NEED_MEMORY(out);
		for (uint64_t k = 0; k < in->count; k++)
			*tt_at(out, k) = *tt_at(in, k);
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

tt_status tt_golden_all_to_all_dispatch(struct tt_golden *golden)
{
	const struct tt_array *mapping = tt_golden_in(golden, "expert_mapping_tensor");
	struct tt_array *tokens = NULL, *choices = NULL;
	struct members members;
	uint32_t along = 1;

	TT_TRY(spread_dim(&along, golden, "output_concat_dim"));
	TT_TRY(members_of(&members, golden, "input_tensor"));
	for (uint32_t m = 0; m < members.count; m++) {
		const struct tt_array *in = on_chip(golden, "input_tensor", m * members.step);
		const struct tt_array *ids =
			on_chip(golden, "expert_indices_tensor", m * members.step);

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
	struct members members;
	uint32_t along = 1;

	TT_TRY(spread_dim(&along, golden, "output_shard_dim"));
	TT_TRY(members_of(&members, golden, "input_tensor"));
	for (uint32_t m = 0; m < members.count; m++) {
		uint32_t chip = m * members.step;
		const struct tt_array *in = on_chip(golden, "input_tensor", chip);
		const struct tt_array *ids = on_chip(golden, "expert_metadata_tensor", chip);

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
tt_status tt_golden_reduce_to_root(struct tt_golden *golden)
{
	static const char *const names[] = {"input_tensor_l", "input_tensor_s", "input_tensor_m"};
	double scale = tt_call_real(&golden->call, "scale_fp32", 1);
	const struct tt_array *m, *s, *l;
	struct tt_array *out[3];
	uint64_t ratio, core = tt_call_tensor(&golden->call, names[1])->spec.memory.shard.width;
	struct members members;

	TT_TRY(members_of(&members, golden, names[0]));
	for (size_t i = 0; i < 3; i++) {
		const struct tt_array *like = on_chip(golden, names[i], 0);

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
		m = on_chip(golden, names[2], chip);
		for (uint64_t i = 0; m && i < m->count; i++)
			*tt_at(out[2], i) = fmax(*tt_at(out[2], i), *tt_at(m, i));
	}
	for (uint32_t chip = 0; chip < members.count; chip++) {
		l = on_chip(golden, names[0], chip);
		s = on_chip(golden, names[1], chip);
		m = on_chip(golden, names[2], chip);
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
