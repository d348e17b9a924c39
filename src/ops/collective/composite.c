/*
 * composite.c: collectives that are made of other operations where no program can do them: parts that are gathered by broadcasting and
 * concatenating them, as composite_all_gather of ttnn 0.81 does.
 */
#include "ops/collective/reduce_scatter.h"
#include "ops/movement/movement.h"
#include "ops/op_enums.h"

/* The next step's tensor is the current one from now on; the caller's own stays. */
static tt_status step(struct tt_tensor **now, const struct tt_tensor *own, struct tt_call *call,
		      tt_status status, struct tt_tensor *const *next)
{
	if (*now != own)
		return tt_call_replace(now, call, status, next);
	if (status == TTNN_OK)
		*now = *next;
	return status;
}

static tt_status to_memory(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			   const struct ttnn_memory_config *memory)
{
	return TT_CALL(out, call, "ttnn.to_memory_config", {"tensor", ttnn_v_tensor(in)},
		       {"memory_config", ttnn_v_memory(memory)});
}

static bool has_cut_tiles(const struct ttnn_tensor_spec *spec)
{
	return spec->layout == TTNN_TILE &&
	       ((spec->shape.rank > 1 && tt_shape_last(&spec->shape, 2) % spec->tile.height) ||
		tt_shape_last(&spec->shape, 1) % spec->tile.width);
}

/* Interleaved where shards were, and in numbers that can be moved one by one. */
static tt_status make_plain(struct tt_tensor **now, struct tt_call *call,
			    const struct tt_gather_args *args, bool rounds)
{
	static const struct ttnn_memory_config dram = {.buffer = TTNN_DRAM};
	struct tt_tensor *next;

	if (tt_tensor_is_sharded(args->in))
		TT_TRY(step(
			now, args->in, call,
			to_memory(&next, call, *now,
				  tt_memory_config_is_sharded(args->memory) ? &dram : args->memory),
			&next));
	if (rounds)
		TT_TRY(step(now, args->in, call, tt_call_cast(&next, call, *now, TTNN_BFLOAT16),
			    &next));
	return TTNN_OK;
}

static tt_status broadcast_all(struct ttnn_results *parts, struct tt_call *call,
			       struct tt_tensor *in, const struct tt_gather_args *args)
{
	const struct ttnn_arg list[] = {{"input_tensor", ttnn_v_tensor(in)},
					{"cluster_axis", args->axis},
					{"subdevice_id", args->sub_device},
					{"memory_config", ttnn_v_memory(&in->spec.memory)},
					{"num_links", args->links},
					{"topology", args->topology}};

	return tt_call_op_all(parts, call, "ttnn.all_broadcast", list, TT_COUNT(list));
}

/* The parts behind each other, as what was gathered. */
static tt_status concat_parts(struct tt_tensor **out, struct tt_call *call,
			      const struct ttnn_results *parts, const struct tt_gather_args *args,
			      bool rounds)
{
	struct ttnn_value *items = tt_arena_alloc(call->arena, parts->count * sizeof(*items));
	struct tt_tensor *next;

	TT_NEED_MEMORY(items);
	for (size_t i = 0; i < parts->count; i++)
		items[i] = ttnn_v_tensor(parts->tensors[i]);
	TT_TRY(TT_CALL(out, call, "ttnn.concat", {"tensors", ttnn_v_list(items, parts->count)},
		       {"dim", ttnn_v_int(args->dim)}));
	if (rounds)
		TT_TRY(tt_call_replace(
			out, call, tt_call_cast(&next, call, *out, args->in->spec.dtype), &next));
	if (args->memory && tt_memory_config_is_sharded(args->memory))
		TT_TRY(tt_call_replace(out, call, to_memory(&next, call, *out, args->memory),
				       &next));
	return TTNN_OK;
}

tt_status tt_call_by_axes(struct tt_call *call, struct tt_tensor *in, const char *const *others,
			  size_t count)
{
	struct tt_tensor *now = in, *next;
	struct ttnn_arg args[16 + 2];

	for (int axis = 0; axis < 2; axis++) {
		tt_status status;

		args[0] = (struct ttnn_arg){"input_tensor", ttnn_v_tensor(now)};
		args[1] = (struct ttnn_arg){"cluster_axis", ttnn_v_int(axis)};
		for (size_t i = 0; i < count; i++)
			args[i + 2] = (struct ttnn_arg){others[i], *tt_call_arg(call, others[i])};
		status = tt_call_op(&next, call, call->entry->op->name, args, count + 2);
		if (axis)
			TT_TRY(tt_call_replace(&now, call, status, &next));
		TT_TRY(status);
		now = next;
	}
	tt_call_return(call, now);
	return TTNN_OK;
}

tt_status tt_gather_by_concat(struct tt_tensor **out, struct tt_call *call,
			      const struct tt_gather_args *args)
{
	bool rounds = has_cut_tiles(&args->in->spec) && args->in->spec.dtype == TTNN_BFLOAT8_B;
	struct ttnn_results parts = {.count = 0};
	struct tt_tensor *now = args->in;
	tt_status status;

	TT_REQUIRE(!tt_tensor_is_sharded(args->in) || args->memory,
		   "!(input_memory_config.is_sharded() && !memory_config.has_value())",
		   "If input memory config is sharded, then output memory config must be provided. "
		   "Defaulting the output memory config to the input sharded memory config will "
		   "break the op as the input and output shapes are different.");
	status = make_plain(&now, call, args, rounds);
	if (status == TTNN_OK)
		status = broadcast_all(&parts, call, now, args);
	if (status == TTNN_OK)
		status = concat_parts(out, call, &parts, args, rounds);
	tt_call_drop_all(call, parts.tensors, parts.count);
	if (now != args->in)
		tt_call_drop(call, now);
	return status;
}

/* ---- sums in parts that are no whole tiles ------------------------------------------------------------------ */

/* The parts, each in whole tiles. */
struct parts {
	struct ttnn_results tensors;
	struct tt_tensor *joined, *sum;
};

static tt_status pad_rows(struct tt_tensor **part, struct tt_call *call)
{
	struct ttnn_memory_config memory = (*part)->spec.memory;
	struct tt_tensor *next;

	return tt_call_assign(part, call,
			      TT_CALL(&next, call, "ttnn.tilize_with_zero_padding",
				      {"input_tensor", ttnn_v_tensor(*part)},
				      {"memory_config", ttnn_v_memory(&memory)},
				      {"use_multicore", ttnn_v_bool(true)}),
			      &next);
}

static tt_status pad_tiles(struct tt_tensor **part, struct tt_call *call)
{
	const struct ttnn_tensor_spec *spec = &(*part)->spec;
	struct ttnn_memory_config memory = spec->memory;
	struct ttnn_value items[2][2], pairs[2];
	struct tt_tensor *next;

	for (uint32_t i = 0; i < 2; i++) {
		items[i][0] = ttnn_v_int(0);
		items[i][1] = ttnn_v_int(tt_shape_last(&spec->padded, 2 - i) -
					 tt_shape_last(&spec->shape, 2 - i));
		pairs[i] = ttnn_v_list(items[i], 2);
	}
	return tt_call_assign(part, call,
			      TT_CALL(&next, call, "ttnn.pad",
				      {"input_tensor", ttnn_v_tensor(*part)},
				      {"padding", ttnn_v_list(pairs, 2)}, {"value", ttnn_v_real(0)},
				      {"use_multicore", ttnn_v_bool(true)},
				      {"memory_config", ttnn_v_memory(&memory)}),
			      &next);
}

/* Cut, padded and put together again, so that every part is whole tiles. */
static tt_status join_padded(struct parts *parts, struct tt_call *call, struct tt_tensor *in,
			     const struct tt_scatter_args *args)
{
	uint32_t size = tt_group_size(tt_tensor_device(in),
				      tt_group_axis(tt_call_arg(call, "cluster_axis")));
	const struct ttnn_arg list[] = {
		{"input_tensor", ttnn_v_tensor(in)},
		{"split_size", ttnn_v_int(in->spec.shape.dim[args->dim] / size)},
		{"dim", ttnn_v_int(args->dim)},
		{"memory_config", ttnn_v_memory(&in->spec.memory)}};
	struct ttnn_results *tensors = &parts->tensors;
	struct ttnn_value items[TT_OUTPUTS_MAX];

	TT_TRY(tt_call_op_all(tensors, call, "ttnn.split", list, TT_COUNT(list)));
	for (size_t i = 0; i < tensors->count && in->spec.layout == TTNN_ROW_MAJOR; i++)
		TT_TRY(pad_rows(&tensors->tensors[i], call));
	for (size_t i = 0; i < tensors->count; i++)
		TT_TRY(pad_tiles(&tensors->tensors[i], call));
	for (size_t i = 0; i < tensors->count; i++)
		items[i] = ttnn_v_tensor(tensors->tensors[i]);
	return TT_CALL(&parts->joined, call, "ttnn.concat",
		       {"tensors", ttnn_v_list(items, tensors->count)},
		       {"dim", ttnn_v_int(args->dim)});
}

/* The part of the sum without its padding. */
static tt_status cut_padding(struct tt_tensor **out, struct tt_call *call,
			     const struct ttnn_shape *shape, struct tt_tensor *sum, bool rows)
{
	struct ttnn_shape from = {.rank = shape->rank}, last = *shape;

	if (!rows)
		return tt_call_slice(out, call,
				     &(struct tt_part){.in = sum,
						       .begin = &from,
						       .end = shape,
						       .memory = &sum->spec.memory});
	for (uint32_t i = 0; i < last.rank; i++)
		last.dim[i] -= last.dim[i] > 0;
	return TT_CALL(out, call, "ttnn.untilize_with_unpadding",
		       {"input_tensor", ttnn_v_tensor(sum)},
		       {"output_tensor_end", ttnn_v_shape(&last)},
		       {"memory_config", ttnn_v_memory(&sum->spec.memory)});
}

/* The sum of whole tiles, then what was asked for of it. */
static tt_status scatter_joined(struct tt_tensor **out, struct tt_call *call, struct parts *parts,
				const struct tt_scatter_args *args)
{
	const struct ttnn_tensor_spec *in = &args->in->spec;
	struct tt_scatter_args along = *args;
	struct ttnn_shape shape = in->shape;
	struct tt_tensor *next;

	along.in = parts->joined;
	along.given = NULL;
	along.padded = true;
	if (tt_tensor_is_sharded(args->in) || tt_memory_config_is_sharded(args->memory))
		along.memory = &parts->joined->spec.memory;
	TT_TRY(tt_scatter_along(&parts->sum, call, &along));
	shape.dim[args->dim] /= tt_group_size(tt_tensor_device(args->in),
					      tt_group_axis(tt_call_arg(call, "cluster_axis")));
	TT_TRY(cut_padding(out, call, &shape, parts->sum, in->layout == TTNN_ROW_MAJOR));
	if (in->layout == TTNN_TILE && in->dtype == TTNN_BFLOAT8_B) {
		TT_TRY(tt_call_drop_after(call, tt_call_cast(&next, call, *out, in->dtype), *out));
		*out = next;
	}
	if (tt_memory_config_is_sharded(args->memory))
		TT_TRY(tt_call_replace(out, call, to_memory(&next, call, *out, args->memory),
				       &next));
	return TTNN_OK;
}

tt_status tt_scatter_padded(struct tt_tensor **out, struct tt_call *call,
			    const struct tt_scatter_args *args)
{
	const struct tt_gather_args plain = {.in = args->in, .memory = args->memory};
	bool rounds = args->in->spec.layout == TTNN_TILE && args->in->spec.dtype == TTNN_BFLOAT8_B;
	struct parts parts = {.tensors = {.count = 0}};
	struct tt_tensor *now = args->in;
	tt_status status = make_plain(&now, call, &plain, rounds);

	if (status == TTNN_OK)
		status = join_padded(&parts, call, now, args);
	if (status == TTNN_OK)
		status = scatter_joined(out, call, &parts, args);
	tt_call_drop(call, parts.sum);
	tt_call_drop(call, parts.joined);
	tt_call_drop_all(call, parts.tensors.tensors, parts.tensors.count);
	if (now != args->in)
		tt_call_drop(call, now);
	return status;
}
