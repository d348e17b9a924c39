/*
 * concat.c: tensors joined along a dimension. Where pages cannot be joined as they are, tensors are
 * brought into a form in which they can, and the result back.
 */
#include "ops/movement/concat.h"

#include "golden/golden_movement.h"
#include "ops/movement/movement.h"
#include "ops/movement/permute.h"
#include "ops/movement/shard_ops.h"
#include "ops/movement/untilize.h"

/* What a step does to one of the tensors. */
typedef tt_status (*step_fn)(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in);

/* The tensors after a step, in the call's arena; on failure nothing is kept. */
static tt_status each(struct tt_tensor ***out, struct tt_call *call,
		      const struct tt_concat_args *args, step_fn step)
{
	struct tt_tensor **made =
		tt_arena_calloc(call->arena, args->count, sizeof(struct tt_tensor *));

	TT_NEED_MEMORY(made);
	for (size_t i = 0; i < args->count; i++) {
		tt_status status = step(&made[i], call, args->in[i]);

		if (status != TTNN_OK) {
			while (i > 0)
				tt_call_drop(call, made[--i]);
			return status;
		}
	}
	*out = made;
	return TTNN_OK;
}

/* ---- one program, or several ------------------------------------------------------------------------------- */

static tt_status join(struct tt_tensor **out, struct tt_call *call,
		      const struct tt_concat_args *args);

/* More tensors than a program takes are joined in batches first. */
static tt_status join_batches(struct tt_tensor **out, struct tt_call *call,
			      const struct tt_concat_args *args, size_t most)
{
	size_t batches = (args->count + most - 1) / most, made = 0;
	struct tt_tensor **parts =
		tt_arena_calloc(call->arena, batches, sizeof(struct tt_tensor *));
	struct tt_concat_args batch = *args;
	tt_status status = TTNN_OK;

	TT_NEED_MEMORY(parts);
	for (; made < batches && status == TTNN_OK; made++) {
		batch.in = args->in + made * most;
		batch.count = args->count - made * most < most ? args->count - made * most : most;
		status = join(&parts[made], call, &batch);
	}
	if (status == TTNN_OK) {
		batch.in = parts;
		batch.count = batches;
		status = join(out, call, &batch);
	} else {
		made--;
	}
	tt_call_drop_all(call, parts, made);
	return status;
}

static tt_status to_dram(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in)
{
	static const struct ttnn_memory_config dram;

	return tt_call_to_memory(out, call, in, &dram);
}

/* The inputs moved by a step, then joined. */
static tt_status join_moved(struct tt_tensor **out, struct tt_call *call,
			    const struct tt_concat_args *args, step_fn step)
{
	struct tt_concat_args moved = *args;
	struct tt_tensor **tensors = NULL;
	tt_status status;

	TT_TRY(each(&tensors, call, args, step));
	moved.in = tensors;
	status = join(out, call, &moved);
	tt_call_drop_all(call, tensors, args->count);
	return status;
}

/* Sharded inputs to an interleaved output: through shards where the direction allows it. */
static tt_status join_shards_apart(struct tt_tensor **out, struct tt_call *call,
				   const struct tt_concat_args *args)
{
	const struct ttnn_tensor_spec *first = &args->in[0]->spec;
	bool width = args->dim + 1 == first->shape.rank,
	     height = args->dim + 2 == first->shape.rank;
	bool block = first->memory.layout == TTNN_BLOCK_SHARDED;
	struct ttnn_shard_spec shard = first->memory.shard;
	struct ttnn_memory_config memory;
	struct tt_concat_args joined = *args;
	struct tt_tensor *together;

	if (!(width && (block || first->memory.layout == TTNN_HEIGHT_SHARDED)) &&
	    !(height && (block || first->memory.layout == TTNN_WIDTH_SHARDED)))
		return join_moved(out, call, args, to_dram);
	*(width ? &shard.width : &shard.height) = 0;
	for (size_t i = 0; i < args->count; i++)
		*(width ? &shard.width : &shard.height) +=
			width ? args->in[i]->spec.memory.shard.width
			      : args->in[i]->spec.memory.shard.height;
	TT_TRY(ttnn_memory_config_sharded(&memory, first->memory.layout, TTNN_L1, &shard));
	joined.memory = &memory;
	joined.cores = NULL;
	TT_TRY(tt_concat_launch(&together, call, &joined));
	tt_call_own(call, together);
	return tt_call_to_memory(out, call, together, args->memory);
}

/*
 * Shards in L1 that are cut alike are joined where they lie. Others go page by page; rows cut
 * across, through DRAM.
 */
static tt_status join_shards(struct tt_tensor **out, struct tt_call *call,
			     const struct tt_concat_args *args)
{
	const struct ttnn_tensor_spec *first = &args->in[0]->spec;
	bool in_place = tt_concat_in_place(args);
	bool whole_rows =
		first->layout != TTNN_ROW_MAJOR || (first->memory.layout == TTNN_HEIGHT_SHARDED &&
						    (!tt_memory_config_is_sharded(args->memory) ||
						     args->memory->layout == TTNN_HEIGHT_SHARDED));
	struct tt_concat_args plain = *args;

	TT_REQUIRE(in_place || args->groups == 1, "!routes_to_generic_factory || groups == 1",
		   "Groups > 1 is not supported for DRAM-sharded concat (groups=%u was "
		   "provided). Move the inputs and output to L1 sharding, or unshard them first.",
		   args->groups);
	if (!in_place && !whole_rows)
		return join_moved(out, call, args, to_dram);
	plain.cores = NULL;
	if (tt_memory_config_is_sharded(args->memory) || !in_place)
		return tt_concat_launch(out, call, &plain);
	return join_shards_apart(out, call, args);
}

/* Rows joined along their width must end at aligned places: the program copies whole pages. */
static tt_status check_rows(const struct tt_concat_args *args)
{
	const struct ttnn_tensor_spec *first = &args->in[0]->spec;

	if (first->layout != TTNN_ROW_MAJOR || args->dim + 1 != first->shape.rank)
		return TTNN_OK;
	for (size_t i = 0; i < args->count; i++)
		TT_REQUIRE(
			tt_shape_last(&args->in[i]->spec.padded, 1) *
					tt_element_bytes(args->in[i]) %
					tt_page_alignment(args->in[i]) ==
				0,
			"(input_tensor.padded_shape()[dim] * input_tensor.element_size()) % "
			"input_tensor.buffer()->alignment() == 0",
			"Current concat implementation requires aligned last dim when concatting "
			"on last dim");
	return TTNN_OK;
}

/* A single tensor is cloned only if its memory is to be another. */
static tt_status join_one(struct tt_tensor **out, struct tt_call *call,
			  const struct tt_concat_args *args)
{
	struct ttnn_arg clone[] = {{"input", ttnn_v_tensor(args->in[0])},
				   {"memory_config", ttnn_v_memory(args->memory)}};

	if (!ttnn_memory_config_equal(&args->in[0]->spec.memory, args->memory))
		return tt_call_op(out, call, "ttnn.clone", clone, TT_COUNT(clone));
	*out = ttnn_tensor_ref(args->in[0]);
	return TTNN_OK;
}

/* Whether a tensor of rows could be one of tiles without padding. */
static bool is_whole_tiles(const struct tt_tensor *in)
{
	const struct ttnn_shape *shape = &in->spec.padded;

	return shape->rank >= 2 && tt_shape_last(shape, 2) % TT_TILE == 0 &&
	       tt_shape_last(shape, 1) % TT_TILE == 0;
}

/* The layout in which all can be joined: the first one's, unless another cannot have tiles. */
static enum ttnn_layout common_layout(const struct tt_concat_args *args)
{
	for (size_t i = 0; i < args->count; i++)
		if (args->in[i]->spec.layout == TTNN_ROW_MAJOR && !is_whole_tiles(args->in[i]))
			return TTNN_ROW_MAJOR;
	return args->in[0]->spec.layout;
}

/* The same tensor where it has the layout already. */
static tt_status in_layout(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			   enum ttnn_layout layout, const ttnn_core_set *cores)
{
	struct ttnn_arg args[] = {{"tensor", ttnn_v_tensor(in)},
				  {"layout", ttnn_v_layout(layout)},
				  {"sub_core_grids", ttnn_v_core_set(cores)}};

	if (in->spec.layout != layout)
		return tt_call_op(out, call, "ttnn.to_layout", args, cores ? 3 : 2);
	*out = ttnn_tensor_ref(in);
	return TTNN_OK;
}

/* Tensors in one layout; rows go to width and block shards by way of DRAM. */
static tt_status join_formatted(struct tt_tensor **out, struct tt_call *call,
				const struct tt_concat_args *args)
{
	static const struct ttnn_memory_config dram;
	struct tt_concat_args plain = *args;
	struct tt_tensor *joined;

	if (!tt_memory_config_is_sharded(args->memory) ||
	    args->in[0]->spec.layout != TTNN_ROW_MAJOR ||
	    args->memory->layout == TTNN_HEIGHT_SHARDED)
		return tt_concat_launch(out, call, args);
	plain.memory = &dram;
	TT_TRY(tt_concat_launch(&joined, call, &plain));
	tt_call_own(call, joined);
	return tt_call_to_memory(out, call, joined, args->memory);
}

/* All in one layout first: tiles if every tensor can be joined as tiles, else rows. */
static tt_status join_interleaved(struct tt_tensor **out, struct tt_call *call,
				  const struct tt_concat_args *args)
{
	enum ttnn_layout layout = common_layout(args);
	struct tt_concat_args formatted = *args;
	struct tt_tensor **tensors;
	tt_status status = TTNN_OK;
	size_t made = 0;

	TT_TRY(check_rows(args));
	tensors = tt_arena_calloc(call->arena, args->count, sizeof(struct tt_tensor *));
	TT_NEED_MEMORY(tensors);
	while (made < args->count && status == TTNN_OK) {
		status = in_layout(&tensors[made], call, args->in[made], layout, args->cores);
		made += status == TTNN_OK;
	}
	formatted.in = tensors;
	if (status == TTNN_OK)
		status = join_formatted(out, call, &formatted);
	tt_call_drop_all(call, tensors, made);
	return status;
}

/*
 * A program takes so many tensors at most: 44 in shards, 16 in block shards, more when pages are
 * read. Longer lists are joined in batches.
 */
static tt_status join(struct tt_tensor **out, struct tt_call *call,
		      const struct tt_concat_args *args)
{
	bool in_place = tt_concat_in_place(args);
	bool block = args->in[0]->spec.memory.layout == TTNN_BLOCK_SHARDED;
	size_t most = !in_place ? TT_CONCAT_MAX : block ? 16 : 44;

	if (args->count == 1)
		return join_one(out, call, args);
	TT_REQUIRE(
		args->count <= most || !block,
		"!(input_tensors[0].is_sharded() && "
		"input_tensors[0].memory_config().memory_layout() == "
		"TensorMemoryLayout::BLOCK_SHARDED)",
		"Block-sharded concat supports at most 16 input tensors (got %zu). Batching with "
		"intermediate shard specs is not supported for block-sharded concat.",
		args->count);
	if (args->count > most)
		return join_batches(out, call, args, most);
	if (tt_tensor_is_sharded(args->in[0]))
		return join_shards(out, call, args);
	return join_interleaved(out, call, args);
}

/* ---- other forms ------------------------------------------------------------------------------------------------ */

/* A form in which tensors can be joined that cannot be as they are. */
struct form {
	bool (*wanted)(const struct tt_concat_args *args);
	step_fn into;
	/* the result back from it; args are those of the join */
	tt_status (*back)(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			  const struct tt_concat_args *args);
	int32_t shift; /* of the dimension along which they are joined */
};

/* Tiles that are not full along the dimension become rows, and tiles again. */
static bool has_partial_tiles(const struct tt_concat_args *args)
{
	for (size_t i = 0; i < args->count; i++) {
		const struct ttnn_tensor_spec *in = &args->in[i]->spec;

		if (in->layout == TTNN_TILE &&
		    (in->shape.rank == 1 || in->shape.dim[args->dim] != in->padded.dim[args->dim]))
			return true;
	}
	return false;
}

/* Rows without padding, up to and including the last element. */
static tt_status untilize(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in)
{
	struct ttnn_shape end = in->spec.shape;
	struct tt_unpad_args args = {.in = in, .end = &end, .multicore = true};

	TT_REQUIRE(in->spec.layout == TTNN_TILE, "input_tensor.layout() == ttnn::TILE_LAYOUT",
		   "ttnn.concat: expected all input tensors to be in tile layout");
	for (uint32_t d = 0; d < end.rank; d++)
		end.dim[d]--;
	return tt_call_unpad(out, call, &args);
}

/* Back to tiles, with zeros as padding. */
static tt_status tilize(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			const struct tt_concat_args *args)
{
	struct ttnn_shape padded = tt_shape_in_tiles(&in->spec.padded);

	(void)args;
	return TT_CALL(
		out, call, "ttnn.tilize_with_val_padding", {"input_tensor", ttnn_v_tensor(in)},
		{"output_tensor_shape", ttnn_v_shape(&padded)}, {"pad_value", ttnn_v_real(0)},
		{"memory_config", ttnn_v_memory(&in->spec.memory)});
}

static bool is_unaligned_row(const struct tt_tensor *in)
{
	return tt_shape_last(&in->spec.padded, 1) * tt_element_bytes(in) % tt_page_alignment(in);
}

/* Lines become rows of a matrix. */
static bool has_unaligned_lines(const struct tt_concat_args *args)
{
	for (size_t i = 0; args->dim == 0 && i < args->count; i++)
		if (args->in[i]->spec.layout == TTNN_ROW_MAJOR &&
		    args->in[i]->spec.shape.rank == 1 && is_unaligned_row(args->in[i]))
			return true;
	return false;
}

static tt_status add_dim(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in)
{
	return TT_CALL(out, call, "ttnn.unsqueeze", {"input_tensor", ttnn_v_tensor(in)},
		       {"dim", ttnn_v_int(0)});
}

static tt_status take_dim(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			  const struct tt_concat_args *args)
{
	(void)args;
	return TT_CALL(out, call, "ttnn.squeeze", {"input_tensor", ttnn_v_tensor(in)},
		       {"dim", ttnn_v_int(0)});
}

/* Rows whose ends are not aligned are joined along the dimension before the last. */
static bool has_unaligned_rows(const struct tt_concat_args *args)
{
	if (args->dim + 1 != args->in[0]->spec.shape.rank)
		return false;
	for (size_t i = 0; i < args->count; i++)
		if (is_unaligned_row(args->in[i]))
			return true;
	return false;
}

static tt_status transpose(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in)
{
	uint32_t rank = in->spec.shape.rank, dims[] = {rank - 2, rank - 1};

	return tt_call_transpose(out, call, &(struct tt_permute_args){.in = in, .dims = dims});
}

static tt_status transpose_back(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
				const struct tt_concat_args *args)
{
	uint32_t rank = in->spec.shape.rank, dims[] = {rank - 2, rank - 1};
	struct tt_permute_args back = {.in = in, .dims = dims, .memory = args->memory};

	return tt_call_transpose(out, call, &back);
}

static const struct form forms[] = {
	{has_partial_tiles, untilize, tilize, 0},
	{has_unaligned_lines, add_dim, take_dim, 1},
	{has_unaligned_rows, transpose, transpose_back, -1},
};

/* Back from the forms that were taken, last one first. What is made on the way is given up after all. */
static tt_status bring_back(struct tt_tensor **out, struct tt_call *call, uint32_t taken,
			    const struct tt_concat_args *args)
{
	struct tt_temps temps = {.call = call};
	struct tt_tensor *now;
	tt_status status;

	TT_TRY(join(&now, call, args));
	for (size_t i = TT_COUNT(forms); i-- > 0;) {
		if (!(taken >> i & 1))
			continue;
		status = forms[i].back(&now, call, tt_temps_keep(&temps, now), args);
		if (status != TTNN_OK)
			return tt_temps_end(&temps, status);
	}
	*out = now;
	return tt_temps_end(&temps, TTNN_OK);
}

/*
 * Forms are taken one after the other, each only where it is wanted; the result goes back through
 * them in reverse.
 */
static tt_status join_any(struct tt_tensor **out, struct tt_call *call,
			  const struct tt_concat_args *args)
{
	struct tt_concat_args formed = *args;
	struct tt_tensor **tensors = NULL, **next = NULL;
	uint32_t taken = 0;
	tt_status status = TTNN_OK;

	formed.cores = NULL;
	for (size_t i = 0; i < TT_COUNT(forms) && status == TTNN_OK; i++) {
		if (!forms[i].wanted(&formed))
			continue;
		status = each(&next, call, &formed, forms[i].into);
		if (tensors)
			tt_call_drop_all(call, tensors, args->count);
		tensors = status == TTNN_OK ? next : NULL;
		formed.in = tensors;
		formed.dim += (uint32_t)forms[i].shift;
		taken |= 1u << i;
	}
	if (status == TTNN_OK)
		status = bring_back(out, call, taken, &formed);
	if (tensors)
		tt_call_drop_all(call, tensors, args->count);
	return status;
}

/* ---- the operation ---------------------------------------------------------------------------------------------- */

/* Equal but for the joined dimension. */
static tt_status check_shapes(const struct tt_concat_args *args)
{
	const struct ttnn_shape *first = &args->in[0]->spec.shape;

	for (size_t i = 0; i < args->count; i++) {
		const struct ttnn_shape *shape = &args->in[i]->spec.shape;
		bool match = shape->rank == first->rank;

		for (uint32_t d = 0; d < first->rank; d++) {
			if (d == args->dim)
				continue;
			TT_TRY(tt_need_dim(shape, d));
			match = match && shape->dim[d] == first->dim[d];
		}
		TT_REQUIRE(match, "shapes_match",
			   "All dimensions must be the same size except for the dimension along "
			   "which the contenation is taking place.");
	}
	return TTNN_OK;
}

/* A list of tensors as an array in the arena of the call. */
static tt_status tensors_arg(struct tt_tensor ***out, size_t *count, const struct tt_call *call,
			     const char *name)
{
	const struct ttnn_value *list = tt_call_arg(call, name);
	struct tt_tensor **tensors =
		tt_arena_calloc(call->arena, list->count + 1, sizeof(struct tt_tensor *));

	TT_NEED_MEMORY(tensors);
	for (uint32_t i = 0; i < list->count; i++)
		tensors[i] = list->items[i].tensor;
	*out = tensors;
	*count = list->count;
	return TTNN_OK;
}

static tt_status call_concat(struct tt_tensor **out, struct tt_call *call, struct tt_tensor **in,
			     const struct tt_concat_args *args)
{
	struct ttnn_value *items = tt_arena_calloc(call->arena, args->count, sizeof(*items));

	TT_NEED_MEMORY(items);
	for (size_t i = 0; i < args->count; i++)
		items[i] = ttnn_v_tensor(in[i]);
	return TT_CALL(out, call, "ttnn.concat", {"tensors", ttnn_v_list(items, args->count)},
		       {"dim", ttnn_v_int(args->dim)},
		       {"memory_config", ttnn_v_memory(args->memory)},
		       {"groups", ttnn_v_int(args->groups)});
}

/* Rows that are joined as columns, and so many of them that a column does not fit into a core. */
static bool has_long_columns(const struct tt_concat_args *args)
{
	const struct tt_tensor *first = args->in[0];
	uint64_t bytes = tt_element_bytes(first), alignment = tt_page_alignment(first);
	bool unaligned = false;

	if (args->dim + 1 != first->spec.shape.rank || first->spec.shape.rank < 2 ||
	    tt_align_to(bytes * tt_shape_last(&first->spec.shape, 2), alignment) <=
		    tt_l1_room(tt_tensor_device(first)))
		return false;
	for (size_t i = 0; i < args->count && !unaligned; i++)
		unaligned = tt_shape_last(&args->in[i]->spec.shape, 1) * bytes % alignment;
	return unaligned && (first->spec.layout == TTNN_ROW_MAJOR || has_partial_tiles(args));
}

/* Some rows of all inputs, joined. */
static tt_status join_rows(struct tt_tensor **out, struct tt_call *call,
			   const struct tt_concat_args *args, uint32_t from, uint32_t to)
{
	struct tt_tensor **parts =
		tt_arena_calloc(call->arena, args->count, sizeof(struct tt_tensor *));
	tt_status status = TTNN_OK;
	size_t made = 0;

	TT_NEED_MEMORY(parts);
	while (made < args->count && status == TTNN_OK) {
		struct ttnn_shape end = args->in[made]->spec.shape, begin = {.rank = end.rank};

		begin.dim[end.rank - 2] = from;
		end.dim[end.rank - 2] = to;
		status = tt_call_slice(
			&parts[made], call,
			&(struct tt_part){args->in[made], &begin, &end, args->memory});
		made += status == TTNN_OK;
	}
	if (status == TTNN_OK)
		status = call_concat(out, call, parts, args);
	tt_call_drop_all(call, parts, made);
	return status;
}

/* So many rows at once as a core holds twice. */
static tt_status join_in_parts(struct tt_tensor **out, struct tt_call *call,
			       const struct tt_concat_args *args)
{
	const struct ttnn_tensor_spec *first = &args->in[0]->spec;
	uint32_t rows = tt_shape_last(&first->shape, 2);
	uint32_t tall = first->layout == TTNN_TILE ? first->tile.height : 1;
	uint32_t most = (uint32_t)(tt_l1_room(tt_tensor_device(args->in[0])) /
				   (2 * tt_element_bytes(args->in[0])) / tall * tall);
	struct tt_concat_args whole = *args;
	struct tt_tensor **parts = tt_arena_calloc(call->arena, rows / most + 1, sizeof(*parts));
	tt_status status = TTNN_OK;

	TT_NEED_MEMORY(parts);
	whole.count = 0;
	whole.dim--;
	whole.groups = 1;
	for (uint32_t row = 0; row < rows && status == TTNN_OK; row += most) {
		status = join_rows(&parts[whole.count], call, args, row,
				   rows - row < most ? rows : row + most);
		whole.count += status == TTNN_OK;
	}
	if (status == TTNN_OK)
		status = call_concat(out, call, parts, &whole);
	tt_call_drop_all(call, parts, whole.count);
	return status;
}

/*
 * One tensor is only moved. Where upstream's program for unaligned tiles serves, nothing is
 * transformed.
 */
static tt_status concat(struct tt_tensor **out, struct tt_call *call, struct tt_concat_args *args,
			int64_t dim)
{
	if (args->count == 1)
		return tt_call_to_memory(out, call, args->in[0], args->memory);
	TT_TRY(tt_normal_dim(&args->dim, dim, args->in[0]->spec.shape.rank));
	TT_TRY(check_shapes(args));
	for (size_t i = 0; i < args->count; i++)
		TT_TRY(tt_need_device(args->in[i]));
	if ((args->cores && !tt_tensor_is_sharded(args->in[0]) &&
	     args->memory->layout == TTNN_INTERLEAVED) ||
	    tt_concat_unaligned_can(args, true))
		return join(out, call, args);
	if (has_long_columns(args))
		return join_in_parts(out, call, args);
	return join_any(out, call, args);
}

/*
 * Interleaved in DRAM without a memory config, wherever the inputs are. output_tensor exists in
 * the signature only to be refused.
 */
static tt_status expand_concat(struct tt_call *call)
{
	static const struct ttnn_memory_config dram;
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");
	int64_t groups = tt_call_int(call, "groups", 1);
	struct tt_concat_args args = {.groups = (uint32_t)groups,
				      .memory = memory ? memory : &dram,
				      .cores = tt_call_core_set(call, "sub_core_grids")};
	struct tt_tensor **tensors, *out;

	TT_TRY(tensors_arg(&tensors, &args.count, call, "tensors"));
	TT_REQUIRE(args.count, "!input_tensors.empty()",
		   "ttnn.concat: expected a non-empty list of Tensors!");
	TT_NEED(groups >= 1 && groups <= UINT16_MAX, "ttnn.concat: groups must be 1 to %d",
		UINT16_MAX);
	TT_REQUIRE(!tt_call_tensor(call, "output_tensor"), "!optional_output_tensor.has_value()",
		   "optional output tensor currently unsupported!");
	args.in = tensors;
	return tt_call_give(call, concat(&out, call, &args, tt_call_int(call, "dim", 0)), &out);
}

/* unsqueeze of each, then concat along the new dimension. */
static tt_status expand_stack(struct tt_call *call)
{
	int64_t dim = tt_call_int(call, "dim", 0);
	struct tt_tensor **tensors, *out = NULL;
	struct ttnn_value *items;
	struct ttnn_arg args[2] = {{"tensors", ttnn_v_none()}, {"dim", ttnn_v_int(dim)}};
	size_t count, made = 0;
	tt_status status = TTNN_OK;

	TT_TRY(tensors_arg(&tensors, &count, call, "input_tensors"));
	TT_REQUIRE(count, "!input_tensors.empty()", "Stack expects at least one tensor");
	items = tt_arena_calloc(call->arena, count, sizeof(*items));
	TT_NEED_MEMORY(items);
	for (; made < count && status == TTNN_OK; made++) {
		struct ttnn_arg one[] = {{"input_tensor", ttnn_v_tensor(tensors[made])},
					 {"dim", ttnn_v_int(dim)}};

		status = tt_call_op(&tensors[made], call, "ttnn.unsqueeze", one, TT_COUNT(one));
		items[made] = ttnn_v_tensor(tensors[made]);
	}
	args[0].value = ttnn_v_list(items, count);
	if (status == TTNN_OK)
		status = tt_call_op(&out, call, "ttnn.concat", args, TT_COUNT(args));
	else
		made--;
	tt_call_drop_all(call, tensors, made);
	TT_TRY(status);
	tt_call_return(call, out);
	return TTNN_OK;
}

static const struct tt_op ops[] = {
	{TT_MOVE_ROW(
		"concat", expand_concat, tt_golden_concat, "Tensors joined along a dimension.",
		"tensors: Tensors, dim: int = 0, *, memory_config: MemoryConfig? = None, "
		"output_tensor: Tensor? = None, groups: int = 1, sub_core_grids: CoreRangeSet? = "
		"None")},
	{TT_MOVE_ROW("stack", expand_stack, tt_golden_stack,
		     "Tensors joined along a new dimension.", "input_tensors: Tensors, dim: int"),
	 .adds_dim = true},
};

const struct tt_op_family tt_family_concat = {"movement", ops, TT_COUNT(ops)};
