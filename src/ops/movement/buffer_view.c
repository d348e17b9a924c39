#include "ops/movement/movement.h"

#include <inttypes.h>

/*
 * At least two dimensions, the last two rounded up to 32: what a tiled tensor of this shape is
 * padded to.
 */
struct ttnn_shape tt_shape_in_tiles(const struct ttnn_shape *shape)
{
	struct ttnn_shape out = *shape;

	if (out.rank < 2) {
		out.rank = 2;
		out.dim[0] = 1;
		out.dim[1] = tt_shape_last(shape, 1);
	}
	for (uint32_t back = 1; back <= 2; back++)
		out.dim[out.rank - back] = (uint32_t)tt_align_to(out.dim[out.rank - back], TT_TILE);
	return out;
}

/* Both shapes are in the text. */
static tt_status fail_width(const struct ttnn_tensor_spec *old, const struct ttnn_shape *shape)
{
	struct tt_str texts[2] = {{0}};

	tt_shape_list(&texts[0], &old->padded);
	tt_shape_list(&texts[1], shape);
	tt_fail_cond(TTNN_INVALID,
		     "!input_memory_config.is_sharded() || !changing_last_dim || "
		     "input_memory_config.shard_spec()->shape[1] == tensor.padded_shape()[-1]",
		     "Changing the last dimension of a sharded tensor is not supported unless "
		     "the shard width matches the input last dimension. Input shape: Shape(%s), "
		     "New shape: Shape(%s), Shard width: %u",
		     tt_str_text(&texts[0]), tt_str_text(&texts[1]), old->memory.shard.width);
	tt_str_deinit(&texts[0]);
	tt_str_deinit(&texts[1]);
	return TTNN_INVALID;
}

/* The shards of the new shape: as they are, but rows may become longer or shorter. */
static tt_status view_memory(struct ttnn_memory_config *out, const struct ttnn_tensor_spec *old,
			     const struct ttnn_shape *shape, const struct ttnn_shape *padded)
{
	struct ttnn_shard_spec shard = old->memory.shard;
	uint32_t width = tt_shape_last(padded, 1);
	bool changes = width != tt_shape_last(&old->padded, 1);

	*out = old->memory;
	if (!tt_memory_config_is_sharded(&old->memory))
		return TTNN_OK;
	if (!old->memory.has_shard) {
		if (ttnn_shape_equal(padded, &old->padded) ||
		    (old->shape.rank < 2 && padded->rank == 2))
			return TTNN_OK;
		return tt_fail_shapes(
			TTNN_INVALID, "is_rank_expansion_to_2d || is_same_physical_shape",
			"View is not supported for ND sharded tensors except for rank "
			"expansion to 2D or same-physical-shape (logical-only) metadata "
			"updates. Input shape: %s, New shape: %s",
			&old->shape, shape);
	}
	if (changes && shard.width != tt_shape_last(&old->padded, 1))
		return fail_width(old, shape);
	if (changes && old->layout == TTNN_ROW_MAJOR && width) {
		shard.height = (uint32_t)((uint64_t)shard.height * shard.width / width);
		shard.width = width;
	}
	return ttnn_memory_config_sharded(out, old->memory.layout, old->memory.buffer, &shard);
}

/*
 * A tensor on the same buffer. Its spec may be smaller than the buffer, never larger; upstream's
 * two texts depend on whether pages divide it.
 */
static tt_status make_view(struct tt_tensor **out, struct tt_tensor *in,
			   const struct ttnn_shape *shape, const struct ttnn_shape *padded)
{
	const struct ttnn_tensor_spec *old = &in->spec;
	struct ttnn_spec_args args = {
		.shape = *shape, .dtype = old->dtype, .layout = old->layout, .tile = old->tile};
	struct ttnn_tensor_spec spec;

	if (!ttnn_tensor_is_allocated(in))
		return tt_fail_cond(TTNN_INVALID, "tt::exception", "Tensor is not allocated");
	/* Of the same shape its shards are the same ones, of any rank; others have a layout's own alignment. */
	if (tt_memory_config_is_sharded(&old->memory) && ttnn_shape_equal(shape, &old->shape) &&
	    ttnn_shape_equal(padded, &old->padded)) {
		spec = *old;
		return tt_tensor_share(out, in, &spec);
	}
	TT_TRY(view_memory(&args.memory, old, shape, padded));
	tt_memory_config_strip(&args.memory);
	TT_TRY(tt_tensor_spec_padded(&spec, &args, padded));
	/* Another shape is recorded by rows and columns of a shard, where it has them. */
	spec.memory.created_with_nd_shard =
		old->memory.created_with_nd_shard && spec.memory.has_nd_shard &&
		(!old->memory.has_shard || ttnn_shape_equal(shape, &old->shape));
	TT_REQUIRE(spec.bytes <= old->bytes || old->bytes % spec.page_bytes != 0,
		   "mesh_buffer_->size() >= spec_.compute_packed_buffer_size_bytes()",
		   "MeshBuffer must be large enough to hold the tensor.");
	TT_REQUIRE(spec.bytes <= old->bytes, "size % page_size == 0",
		   "For valid non-interleaved buffers page size %" PRIu64
		   " must equal buffer size %" PRIu64
		   ". For interleaved-buffers, buffer size should be divisible by the page size",
		   spec.page_bytes, old->bytes);
	return tt_tensor_share(out, in, &spec);
}

/* Recorded as Tensor::reshape: no program runs. */
tt_status tt_call_view(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
		       const struct ttnn_shape *shape, const struct ttnn_shape *padded)
{
	struct ttnn_value args[] = {ttnn_v_tensor(in), ttnn_v_shape(shape), ttnn_v_shape(padded)};
	tt_status status;

	tt_host_begin(call, "Tensor::reshape", args, TT_COUNT(args));
	status = make_view(out, in, shape, padded);
	tt_host_end(call, status == TTNN_OK ? *out : NULL, status);
	return status;
}

/*
 * The padded shape follows from the shape; what is recorded has the shape twice, as upstream's
 * call does.
 */
tt_status tt_call_view_to(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			  const struct ttnn_shape *shape)
{
	struct ttnn_value args[] = {ttnn_v_tensor(in), ttnn_v_shape(shape), ttnn_v_shape(shape)};
	bool tiles = in->spec.layout == TTNN_TILE && shape->rank > 1;
	struct ttnn_shape padded = tiles ? tt_shape_in_tiles(shape) : *shape;
	tt_status status;

	tt_host_begin(call, "Tensor::reshape", args, TT_COUNT(args));
	status = make_view(out, in, shape, &padded);
	tt_host_end(call, status == TTNN_OK ? *out : NULL, status);
	return status;
}

/*
 * ttnn's PerformView: nothing for the same shapes, a shape of tiles where the last two dimensions
 * are not whole ones.
 */
tt_status tt_call_perform_view(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			       const struct ttnn_shape *shape, const struct ttnn_shape *padded)
{
	struct ttnn_shape tiles;

	if (ttnn_shape_equal(&in->spec.shape, shape) &&
	    ttnn_shape_equal(&in->spec.padded, padded)) {
		*out = ttnn_tensor_ref(in);
		return TTNN_OK;
	}
	if (shape->rank <= 1)
		return tt_call_view(out, call, in, shape, shape);
	if (in->spec.layout != TTNN_TILE ||
	    (tt_shape_last(shape, 1) % TT_TILE == 0 && tt_shape_last(shape, 2) % TT_TILE == 0))
		return tt_call_view(out, call, in, shape, padded);
	tiles = tt_shape_in_tiles(shape);
	return tt_call_view(out, call, in, shape, &tiles);
}
