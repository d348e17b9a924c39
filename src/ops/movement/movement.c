#include "ops/movement/movement.h"

#include "backend/backend.h"

/* ---- tensors --------------------------------------------------------------------------------- */

uint64_t tt_element_bytes(const struct tt_tensor *tensor)
{
	return tt_dtype_bytes(tensor->spec.dtype);
}

uint64_t tt_aligned_page(const struct tt_tensor *tensor)
{
	const struct tt_buffer *buffer = tt_tensor_buffer(tensor);

	return buffer ? buffer->layout.aligned_page : tensor->spec.page_bytes;
}

uint64_t tt_page_alignment(const struct tt_tensor *tensor)
{
	return tt_memory_alignment(tt_tensor_device(tensor), tensor->spec.memory.buffer);
}

uint32_t tt_shard_height(const struct ttnn_memory_config *memory)
{
	if (memory->has_shard)
		return memory->shard.height;
	return memory->has_nd_shard ? tt_shape_last(&memory->nd_shard.shape, 2) : 0;
}

uint32_t tt_shard_width(const struct ttnn_memory_config *memory)
{
	if (memory->has_shard)
		return memory->shard.width;
	return memory->has_nd_shard ? tt_shape_last(&memory->nd_shard.shape, 1) : 0;
}

uint64_t tt_memory_alignment(struct tt_device *device, enum ttnn_buffer_type type)
{
	return tt_devmem_alignment(device->memory, type);
}

uint64_t tt_l1_room(const struct tt_device *device)
{
	return device->limits.l1_size - device->limits.l1_base;
}

uint64_t tt_l1_free(struct tt_device *device)
{
	uint64_t end = device->limits.l1_size;

	tt_allocator_lowest(&end, &device->memory->allocator, TTNN_L1);
	return end > device->limits.l1_base ? end - device->limits.l1_base : 0;
}

uint64_t tt_l1_half(const struct tt_device *device)
{
	return device->limits.l1_size / 2 - device->limits.l1_base;
}

/* Interleaved pages are dealt round the banks: the fullest has the rounded-up share. */
uint64_t tt_l1_pending(struct tt_device *device, const struct ttnn_spec_args *args)
{
	uint64_t dram = tt_memory_alignment(device, TTNN_DRAM), bytes;
	struct ttnn_tensor_spec spec;

	if (args->memory.buffer != TTNN_L1 || tt_memory_config_is_sharded(&args->memory) ||
	    ttnn_tensor_spec_make(&spec, args) != TTNN_OK)
		return 0;
	bytes = tt_div_up(spec.pages, tt_devmem_banks(device->memory, TTNN_L1)->count) *
		tt_align_to(spec.page_bytes, tt_memory_alignment(device, TTNN_L1));
	return tt_align_to(bytes > dram ? bytes : dram, dram);
}

/* ---- memory rows ------------------------------------------------------------------------------- */

bool tt_converts(const struct tt_launch *launch)
{
	return launch->inputs[0]->spec.dtype != launch->outputs[0]->spec.dtype;
}

/*
 * Blocks as large as the free L1 allows. Cores at the right and lower edge have smaller ones
 * ("cliff"), and buffers of their own.
 */
tt_status tt_block_plan(struct tt_plan *plan, const struct tt_launch *launch,
			const struct tt_block_request *request)
{
	uint64_t in = request->in_tile, out = request->out_tile;
	uint64_t row = request->scratch ? in / request->tile.height : 0;
	uint64_t fixed = request->scratch ? 2 * tt_memory_alignment(launch->device, TTNN_DRAM) : 0;
	uint64_t room = tt_l1_free(launch->device), tiles, rest;
	struct tt_block_area area = {
		.width = tt_shape_last(&request->tiled->padded, 1) / request->tile.width,
		.height = tt_shape_last(&request->tiled->padded, 2) / request->tile.height,
		.limit = (room > fixed ? room - fixed : 0) / (in + out + row),
	};
	const ttnn_core_set *full, *cliff = NULL;
	struct tt_block_split_2d split;

	area.tiles = area.width * area.height;
	TT_TRY(tt_split_blocks_2d(&split, request->cores, &area, request->order));
	TT_TRY(tt_core_set_merge(&full, split.full, split.cliff_col));
	tiles = ttnn_core_set_cores(full) ? split.sub_block : 0;
	rest = split.row_rest;
	if (rest)
		TT_TRY(tt_core_set_merge(&cliff, split.cliff_row, split.cliff_both));
	return TT_PLAN(plan, full, TT_DFB_ROW(0, "in", .pages = tiles, .page = in),
		       TT_DFB_ROW(1, "out", .pages = tiles, .page = out),
		       TT_DFB_ROW(2, "in_cliff", .pages = rest, .page = in, .cores = cliff),
		       TT_DFB_ROW(3, "out_cliff", .pages = rest, .page = out, .cores = cliff),
		       TT_SCRATCH_ROW(0, "temp_cliff", .pages = request->scratch && rest,
				      .page = row * rest + fixed, .cores = cliff),
		       TT_SCRATCH_ROW(1, "temp", .pages = request->scratch && tiles,
				      .page = row * tiles + fixed));
}

/* Blocks pay only for wide matrices (more than 32 tiles), and if more cores get work. */
tt_status tt_block_is_wider(bool *out, const ttnn_core_set *cores, const struct ttnn_shape *padded,
			    uint64_t block_tiles, uint64_t rows)
{
	struct tt_block_area area = {.width = tt_shape_last(padded, 1) / TT_TILE,
				     .height = tt_shape_last(padded, 2) / TT_TILE,
				     .tiles = block_tiles,
				     .limit = TT_SPLIT_NO_LIMIT};
	struct tt_block_split_2d blocks;
	struct tt_block_split lines;

	*out = false;
	if (area.width <= 32 || (area.height <= 32 && area.width <= area.height))
		return TTNN_OK;
	TT_TRY(tt_split_blocks(&lines, cores, rows, TTNN_ORIENT_COL_MAJOR));
	TT_TRY(tt_split_blocks_2d(&blocks, cores, &area, TTNN_ORIENT_COL_MAJOR));
	*out = lines.cores < blocks.cores;
	return TTNN_OK;
}

/* ---- cores ------------------------------------------------------------------------------------- */

#define CORES_MAX 1024

/* Single cores merged into as few ranges as upstream's CoreRangeSet would. */
tt_status tt_cores_set(const ttnn_core_set **out, const struct ttnn_core *cores, size_t count)
{
	struct ttnn_core_range ranges[CORES_MAX];
	const ttnn_core_set *singles;

	TT_NEED(count <= CORES_MAX, "more than %d cores", CORES_MAX);
	for (size_t i = 0; i < count; i++)
		ranges[i] = (struct ttnn_core_range){cores[i], cores[i]};
	TT_TRY(ttnn_core_set_make(&singles, ranges, count));
	return tt_core_set_merge(out, singles, NULL);
}

/* All of them if there are not more. */
tt_status tt_cores_first(const ttnn_core_set **out, const ttnn_core_set *set, uint64_t count,
			 enum ttnn_orientation order)
{
	struct ttnn_core cores[CORES_MAX];
	size_t found;

	if (count >= ttnn_core_set_cores(set)) {
		*out = set;
		return TTNN_OK;
	}
	found = tt_core_set_list(cores, count < CORES_MAX ? count : CORES_MAX, set, order);
	return tt_cores_set(out, cores, found);
}

/* A tensor in DRAM: the worker of each bank that holds a shard. */
static tt_status near_banks(const ttnn_core_set **out, const struct tt_tensor *tensor,
			    const struct tt_distribution *distribution, uint64_t count)
{
	struct ttnn_core workers[TT_ARCH_BANKS], cores[CORES_MAX];

	TT_TRY(tt_workers_dram(workers, &tt_tensor_device(tensor)->workers, 0));
	for (uint64_t i = 0; i < count; i++) {
		struct ttnn_core bank = tt_distribution_core(distribution, i);

		TT_NEED(bank.x < TT_ARCH_BANKS, "there is no DRAM bank %u", bank.x);
		cores[i] = workers[bank.x];
	}
	return tt_cores_set(out, cores, count);
}

/* Only cores that hold a shard: the grid may have more than the tensor needs. */
tt_status tt_cores_near(const ttnn_core_set **out, const struct tt_tensor *tensor)
{
	const struct tt_distribution *distribution = &tt_tensor_buffer(tensor)->layout.distribution;
	uint64_t count = tt_distribution_cores(distribution);
	struct ttnn_core cores[CORES_MAX];

	TT_NEED(count <= CORES_MAX, "more than %d cores", CORES_MAX);
	if (tensor->spec.memory.buffer == TTNN_DRAM)
		return near_banks(out, tensor, distribution, count);
	if (count == ttnn_core_set_cores(distribution->cores)) {
		*out = distribution->cores;
		return TTNN_OK;
	}
	for (uint64_t i = 0; i < count; i++)
		cores[i] = tt_distribution_core(distribution, i);
	return tt_cores_set(out, cores, count);
}

struct ttnn_core tt_grid_size(const ttnn_core_set *grid)
{
	struct ttnn_core_range box = {0};

	if (tt_core_set_box(&box, grid) != TTNN_OK)
		return (struct ttnn_core){0, 0};
	return (struct ttnn_core){box.end.x + 1, box.end.y + 1};
}

tt_status tt_split_among(struct tt_work_split *out, const struct tt_launch *launch,
			 const struct ttnn_value *cores, uint64_t units)
{
	if (tt_value_given(cores))
		return tt_split_work_in(out, cores->core_set, units, TTNN_ORIENT_COL_MAJOR);
	return tt_split_work(out, tt_grid_size(launch->grid), units, TTNN_ORIENT_COL_MAJOR);
}

tt_status tt_cores_for(const ttnn_core_set **out, const struct tt_launch *launch, uint64_t units)
{
	struct tt_work_split split;

	TT_TRY(tt_split_work(&split, tt_grid_size(launch->grid), units, TTNN_ORIENT_COL_MAJOR));
	*out = split.all;
	return TTNN_OK;
}

/* ---- other operations ---------------------------------------------------------------------------- */

/* Leading dimensions multiplied into the first one. */
struct ttnn_shape tt_shape_folded(const struct ttnn_shape *shape, uint32_t rank)
{
	struct ttnn_shape out = {.rank = rank};

	if (shape->rank <= rank)
		return *shape;
	for (uint32_t back = 1; back <= rank; back++)
		out.dim[rank - back] = tt_shape_last(shape, back);
	for (uint32_t back = rank + 1; back <= shape->rank; back++)
		out.dim[0] *= tt_shape_last(shape, back);
	return out;
}

/* With a padded shape it is upstream's other signature. */
tt_status tt_call_reshape(struct tt_tensor **out, struct tt_call *call,
			  const struct tt_reshape_args *args)
{
	struct ttnn_arg given[4] = {{"input_tensor", ttnn_v_tensor(args->in)}};
	size_t count = 1;

	given[count++] = (struct ttnn_arg){args->padded ? "logical_shape" : "shape",
					   ttnn_v_shape(args->shape)};
	if (args->padded)
		given[count++] = (struct ttnn_arg){"padded_shape", ttnn_v_shape(args->padded)};
	if (args->sub_cores)
		given[count++] =
			(struct ttnn_arg){"sub_core_grids", ttnn_v_core_set(args->sub_cores)};
	return tt_call_op(out, call, "ttnn.reshape", given, count);
}

struct tt_tensor *tt_temps_keep(struct tt_temps *temps, struct tt_tensor *tensor)
{
	temps->tensors[temps->count++] = tensor;
	return tensor;
}

tt_status tt_temps_end(struct tt_temps *temps, tt_status status)
{
	while (temps->count)
		tt_call_drop(NULL, temps->tensors[--temps->count]); /* the call may own it, too */
	return status;
}

/*
 * All outer dimensions as one, so that four are left: what most programs of this room take.
 * Leading ones are squeezed one at a time, as upstream's loop does, since each one is a node of
 * a recording; then one reshape.
 */
tt_status tt_call_fold_to_4d(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			     const ttnn_core_set *sub_cores)
{
	const struct ttnn_shape shape = in->spec.shape;
	struct ttnn_shape folded = tt_shape_folded(&shape, 4);
	struct tt_reshape_args args = {.in = in, .shape = &folded, .sub_cores = sub_cores};
	struct tt_tensor *next;

	for (uint32_t i = 0; args.in->spec.shape.rank > 4 && shape.dim[i] == 1; i++) {
		tt_status status =
			TT_CALL(&next, call, "ttnn.squeeze",
				{"input_tensor", ttnn_v_tensor(args.in)}, {"dim", ttnn_v_int(0)});

		if (args.in != in)
			tt_call_overwrite(call, args.in);
		TT_TRY(status);
		args.in = next;
	}
	if (args.in->spec.shape.rank <= 4) {
		*out = args.in == in ? ttnn_tensor_ref(in) : args.in;
		return TTNN_OK;
	}
	if (args.in == in) /* the caller's, who may have given it to the call */
		return tt_call_reshape(out, call, &args);
	return tt_call_overwrite_after(call, tt_call_reshape(out, call, &args), args.in);
}

/* ---- running ------------------------------------------------------------------------------------- */

/* Output dimension d is input dimension dims[d]; NULL: the same. */
tt_status tt_move_permute(struct tt_tensor *out, struct tt_tensor *in, const uint32_t *dims)
{
	const struct ttnn_shape *shape = &out->spec.shape;
	struct tt_move_loop loops[TTNN_MAX_RANK];
	struct tt_move_job job = {.out = out, .in = in, .loops = loops, .loop_count = shape->rank};

	for (uint32_t d = 0; d < shape->rank; d++)
		loops[d] = (struct tt_move_loop){shape->dim[d], (int32_t)(dims ? dims[d] : d),
						 (int32_t)d, 1, 1};
	return tt_backend_get()->move(&job);
}

tt_status tt_move_copy(struct tt_tensor *out, struct tt_tensor *in)
{
	return tt_move_permute(out, in, NULL);
}

/* A block of so many elements from one place to another, with steps in the input. */
tt_status tt_move_part(struct tt_tensor *out, struct tt_tensor *in,
		       const struct tt_move_block *block)
{
	uint32_t rank = out->spec.shape.rank;
	struct tt_move_loop loops[TTNN_MAX_RANK];
	struct tt_move_job job = {.out = out, .in = in, .loops = loops, .loop_count = rank};

	for (uint32_t d = 0; d < rank; d++) {
		loops[d] = (struct tt_move_loop){block->extent[d], (int32_t)d, (int32_t)d,
						 block->in_step ? block->in_step[d] : 1, 1};
		job.in_start[d] = block->in_start ? block->in_start[d] : 0;
		job.out_start[d] = block->out_start ? block->out_start[d] : 0;
	}
	return tt_backend_get()->move(&job);
}

/* What was computed elsewhere is copied into the tensor that the caller gave. */
tt_status tt_call_into(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *given,
		       struct tt_tensor *result)
{
	*out = result;
	if (!given || !tt_tensor_device(result) || result == given)
		return TTNN_OK;
	return tt_call_drop_after(call,
				  TT_CALL(out, call, "ttnn.copy",
					  {"input_a", ttnn_v_tensor(result)},
					  {"input_b", ttnn_v_tensor(given)}),
				  result);
}

tt_status tt_call_replace(struct tt_tensor **tensor, struct tt_call *call, tt_status status,
			  struct tt_tensor *const *next)
{
	if (status == TTNN_OK)
		tt_call_overwrite(call, *tensor);
	else
		tt_call_drop(call, *tensor);
	*tensor = status == TTNN_OK ? *next : NULL;
	return status;
}

tt_status tt_kernel_copy(struct tt_launch *launch)
{
	return tt_move_copy(launch->outputs[0], launch->inputs[0]);
}

const ttnn_core_set *tt_cores_or_all(const struct tt_launch *launch, const struct ttnn_value *given)
{
	return tt_value_given(given) ? given->core_set : launch->device->grid;
}

bool tt_shards_uneven(const struct ttnn_tensor_spec *spec)
{
	uint64_t rows;

	return !spec->memory.has_shard || spec->padded.rank < 2 ||
	       tt_shape_rows(&rows, &spec->padded) != TTNN_OK || rows % spec->memory.shard.height ||
	       tt_shape_last(&spec->padded, 1) % spec->memory.shard.width;
}
