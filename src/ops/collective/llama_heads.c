/*
 * llama_heads.c: all_reduce_create_qkv_heads, which adds up what the chips of a row or column have in shards, and cuts some
 * rows of the sum into heads.
 *
 * Models AllReduceCreateQkvHeadsDeviceOperation of ttnn 0.81: specs, refusals, and buffers of who sends, who adds up and who
 * looks where the rows begin. Not modelled: which core sends what to whom.
 */
#include "backend/backend.h"
#include "device/device.h"
#include "device/devtensor.h"
#include "golden/golden_fused.h"
#include "ops/collective/exchange.h"
#include "ops/collective/fused.h"
#include "ops/movement/movement.h"
#include "ops/op_enums.h"
#include "ops/usual.h"

#define ATTRS(X)                                                                                   \
	X(LINKS, "num_links")                                                                      \
	X(SIZE, "ring_size")                                                                       \
	X(MEMORY, "all_reduce_mem_config")                                                         \
	X(TOPOLOGY, "topology")                                                                    \
	X(SIGNAL, "semaphore", .unkeyed = true)                                                    \
	X(WIDTH, "head_dim")                                                                       \
	X(NOC1, "use_noc1_only")                                                                   \
	X(HEADS, "num_heads")                                                                      \
	X(KV_HEADS, "num_kv_heads")                                                                \
	X(ROWS, "slice_size")                                                                      \
	X(PLACE, "final_mem_config")                                                               \
	X(DTYPE, "dtype")                                                                          \
	X(AXIS, "cluster_axis")
TT_ATTRS(schema, "<AllReduceCreateQkvHeadsParams>", ATTRS);

enum { IN, BUFFER, OFFSET };
enum { SUM, Q, K, V, OUTPUTS };

#define MOST_HEADS 32u
#define MOST_USERS 32u

static uint32_t row_count(const struct tt_launch *launch)
{
	return tt_value_given(&launch->attrs[ROWS]) ? tt_attr_u32(launch, ROWS)
						    : launch->inputs[IN]->spec.shape.dim[2];
}

static enum ttnn_dtype dtype_of(const struct tt_launch *launch)
{
	return (enum ttnn_dtype)launch->attrs[DTYPE].integer;
}

/* ---- specs ------------------------------------------------------------------------------------------------------------ */

/* Each row is on a core of its own; heads fill whole tiles, as many for keys as for queries. */
static tt_status heads_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec;
	const struct ttnn_memory_config *place = launch->attrs[PLACE].memory;
	uint32_t rows = row_count(launch), heads = tt_attr_u32(launch, HEADS);
	struct ttnn_shard_spec shard = {.height = (heads + TT_TILE - 1) / TT_TILE * TT_TILE,
					.width = tt_attr_u32(launch, WIDTH),
					.orientation = TTNN_ORIENT_ROW_MAJOR};
	struct ttnn_memory_config memory;
	struct ttnn_shape shape;

	TT_NEED(rows, "slice_size must be positive");
	launch->output_count = OUTPUTS;
	TT_TRY(tt_spec_simple(&launch->specs[SUM], &in->shape, dtype_of(launch), in->layout,
			      launch->attrs[MEMORY].memory));
	TT_NEED(place->has_shard, "bad optional access");
	for (uint32_t i = 0; i + Q < OUTPUTS; i++) {
		TT_TRY(tt_head_cores(&shard.grid, place->shard.grid, i, rows));
		TT_TRY(ttnn_memory_config_sharded(&memory, place->layout, place->buffer, &shard));
		shape = TT_SHAPE(in->shape.dim[0], rows, tt_attr_u32(launch, i ? KV_HEADS : HEADS),
				 shard.width);
		TT_TRY(tt_spec_simple(&launch->specs[Q + i], &shape, dtype_of(launch), in->layout,
				      &memory));
	}
	return TTNN_OK;
}

/* ---- refusals ----------------------------------------------------------------------------------------------------------- */

static tt_status check_links(const struct tt_launch *launch)
{
	const struct tt_tensor *in = launch->inputs[IN];
	uint32_t links = tt_attr_u32(launch, LINKS), size = tt_attr_u32(launch, SIZE);
	uint32_t rows = launch->device->info.compute_grid.y;
	uint64_t alignment = tt_page_alignment(in);

	TT_REQUIRE(in->spec.page_bytes % alignment == 0,
		   "page_size % input_tensor.buffer()->alignment() == 0",
		   "All Gather currently requires aligned pages. page_size=%u, alignment=%u",
		   (uint32_t)in->spec.page_bytes, (uint32_t)alignment);
	TT_REQUIRE(size % 2 == 0, "operation_attributes.ring_size % 2 == 0",
		   "AllReduceAsync currently only supports even number of blocks in the reduction "
		   "kernel. ring_size=%u",
		   size);
	TT_REQUIRE(links > 0, "operation_attributes.num_links > 0",
		   "Error, num_links should be more than 0 but has %u", links);
	TT_REQUIRE(links <= rows,
		   "operation_attributes.num_links <= "
		   "input_tensor.device()->compute_with_storage_grid_size().y",
		   "Worker cores used by links are parallelized over rows. num_links=%u, "
		   "grid_size.y=%u",
		   links, rows);
	return TTNN_OK;
}

/* Shards lie side by side, and the buffer has room for everybody's. */
static tt_status check_places(const struct tt_launch *launch)
{
	const struct {
		const char *name, *condition;
		const struct ttnn_memory_config *memory;
	} places[] = {{"input",
		       "input_tensor.memory_config().memory_layout() == "
		       "TensorMemoryLayout::WIDTH_SHARDED",
		       &launch->inputs[IN]->spec.memory},
		      {"buffer",
		       "buffer_tensor.memory_config().memory_layout() == "
		       "TensorMemoryLayout::WIDTH_SHARDED",
		       &launch->inputs[BUFFER]->spec.memory},
		      {"output",
		       "operation_attributes.all_reduce_mem_config.memory_layout() == "
		       "TensorMemoryLayout::WIDTH_SHARDED",
		       launch->attrs[MEMORY].memory}};
	const struct ttnn_shard_spec *room = &places[1].memory->shard,
				     *out = &places[2].memory->shard;
	uint64_t want = (uint64_t)out->height * out->width * tt_attr_u32(launch, SIZE),
		 has = (uint64_t)room->height * room->width;

	for (size_t i = 0; i < TT_COUNT(places); i++)
		TT_REQUIRE(places[i].memory->layout == TTNN_WIDTH_SHARDED &&
				   places[i].memory->has_shard,
			   places[i].condition,
			   "Unsupported memory layout for %s tensor TensorMemoryLayout::%s.",
			   places[i].name,
			   tt_enum_name(&tt_enum_memory_layout, places[i].memory->layout));
	TT_REQUIRE(tt_core_set_includes(room->grid, out->grid),
		   "buffer_tensor.memory_config().shard_spec()->grid.contains( "
		   "operation_attributes.all_reduce_mem_config.shard_spec()->grid)",
		   "The output tensor must reside on a subset of the cores of the buffer tensor");
	TT_REQUIRE(want <= has,
		   "output_shard_shape_volume * operation_attributes.ring_size <= "
		   "buffer_shard_shape_volume",
		   "The shard size for the buffer must be large enough to hold the intermediate "
		   "tensor. Require at least %u but has %u",
		   (uint32_t)want, (uint32_t)has);
	return TTNN_OK;
}

static tt_status check_input(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec;
	const uint32_t *dim = in->shape.dim;

	TT_REQUIRE(dtype_of(launch) == TTNN_BFLOAT16,
		   "operation_attributes.dtype == tt::tt_metal::DataType::BFLOAT16",
		   "Unsupported data format DataType::%s, currently only bfloat16 is supported",
		   ttnn_dtype_name(dtype_of(launch), TTNN_DIALECT_TT_METAL));
	TT_REQUIRE(in->layout == TTNN_TILE, "input_tensor.layout() == Layout::TILE",
		   "Only tile layout is supported for input tensor, but got Layout::ROW_MAJOR");
	TT_NEED(dim[3] % TT_TILE == 0 && dim[2] <= MOST_USERS && dim[1] == 1 && dim[0] == 1,
		"Unsupported input shape: up to %u users of one batch, and whole tiles",
		MOST_USERS);
	TT_REQUIRE(in->memory.shard.height * (uint64_t)in->padded.dim[3] ==
			   tt_shape_count(&in->padded),
		   "input_tensor.shard_spec().value().shape[0] == input_tensor.physical_volume() / "
		   "input_tensor.padded_shape()[-1]",
		   "Shard shape must be correct");
	TT_REQUIRE(in->memory.shard.orientation == TTNN_ORIENT_ROW_MAJOR,
		   "input_tensor.shard_spec().value().orientation == ShardOrientation::ROW_MAJOR",
		   "Shard orientation must be ROW_MAJOR, but got ShardOrientation::COL_MAJOR");
	return TTNN_OK;
}

static tt_status heads_validate(struct tt_launch *launch)
{
	const struct ttnn_memory_config *place = launch->attrs[PLACE].memory;
	uint32_t heads = tt_attr_u32(launch, HEADS), kv = tt_attr_u32(launch, KV_HEADS);
	uint32_t users = launch->inputs[IN]->spec.shape.dim[2];
	uint64_t cores = ttnn_core_set_cores(launch->device->grid);

	TT_TRY(check_links(launch));
	TT_TRY(check_places(launch));
	TT_TRY(check_input(launch));
	TT_REQUIRE(place->layout == TTNN_HEIGHT_SHARDED,
		   "operation_attributes.final_mem_config.is_sharded() && "
		   "operation_attributes.final_mem_config.memory_layout() == "
		   "TensorMemoryLayout::HEIGHT_SHARDED",
		   "Output tensor must be height sharded, but got "
		   "memory_layout=TensorMemoryLayout::%s",
		   tt_enum_name(&tt_enum_memory_layout, place->layout));
	TT_REQUIRE(heads <= MOST_HEADS, "operation_attributes.num_heads <= MAX_HEAD",
		   "There are %u q heads only %u are supported", heads, MOST_HEADS);
	TT_REQUIRE(heads >= kv,
		   "operation_attributes.num_heads >= operation_attributes.num_kv_heads",
		   "num_q_heads=%u must be greater than or equal to num_kv_heads=%u", heads, kv);
	TT_REQUIRE(cores >= 2ull * users, "num_cores >= 2 * num_users",
		   "Input coregrid size is %u. Need cores at least double of num_users=%u for "
		   "decode when q and k heads are not overlapping coregrid",
		   (uint32_t)cores, users);
	TT_NEED(kv > 0 && row_count(launch) <= users, "there are keys, and rows for all of %u",
		row_count(launch));
	return TTNN_OK;
}

/* ---- the program ---------------------------------------------------------------------------------------------------------- */

static tt_status heads_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec,
				      *out = &launch->outputs[SUM]->spec;
	const ttnn_core_set *cores = out->memory.shard.grid, *free, *senders, *all;
	uint64_t tiles = tt_shard_tiles(out);

	TT_TRY(tt_core_set_subtract(&free, launch->grid, cores));
	TT_TRY(tt_first_left(&senders, free, tt_attr_u32(launch, LINKS)));
	TT_TRY(tt_core_set_merge(&all, cores, senders));
	return TT_PLAN(
		plan, cores,
		TT_CB_ROW(15, "batch_offset", .pages = 1,
			  .page = tt_tensor_tile_bytes(launch->inputs[OFFSET])),
		TT_CB_ROW(0, "src0", .pages = in->pages, .page = in->page_bytes, .cores = senders),
		TT_CB_ROW(3, "packet_header", .pages = 16, .page = 48, .cores = senders),
		TT_CB_ROW(1, "reduction", .pages = tiles * tt_attr_u32(launch, SIZE),
			  .page = in->page_bytes, .cores = all, .backing = launch->inputs[BUFFER]),
		TT_CB_ROW(2, "out", .pages = tiles, .page = out->page_bytes,
			  .backing = launch->outputs[SUM]));
}

/* Heads from `first` on, of rows from `row` on. */
static tt_status cut(struct tt_tensor *out, struct tt_tensor *sum, uint32_t row, uint32_t first)
{
	const struct ttnn_shape *shape = &out->spec.shape;
	const struct tt_move_loop loops[] = {
		{shape->dim[1], 2, 1, 1, 1},
		{shape->dim[2], 3, 2, shape->dim[3], 1},
		{shape->dim[3], 3, 3, 1, 1},
	};

	return tt_backend_get()->move(
		&(struct tt_move_job){.out = out,
				      .in = sum,
				      .loops = loops,
				      .loop_count = 3,
				      .in_start = {0, 0, row, (int64_t)first * shape->dim[3]}});
}

static tt_status heads_on(struct tt_launch *launch, uint32_t chip)
{
	uint32_t heads = tt_attr_u32(launch, HEADS), kv = tt_attr_u32(launch, KV_HEADS);
	const uint32_t first[OUTPUTS] = {0, 0, heads, heads + kv};
	uint32_t users = launch->inputs[IN]->spec.shape.dim[2];
	tt_status status = TTNN_OK;
	struct tt_tensor *sum, *out;
	struct tt_group group;
	double *offset;

	TT_TRY(tt_chip_read(&offset, launch, OFFSET, chip));
	TT_NEED(offset[0] >= 0 && offset[0] + row_count(launch) <= users,
		"batch_offset is %.0f: there are %u rows", offset[0], users);
	tt_group_find(&group, launch->device, launch->attrs[AXIS].integer, chip);
	TT_TRY(tt_scratch_f32(&sum, &launch->inputs[IN]->spec.shape));
	TT_TRY(tt_share_sum(sum, launch, &group, tt_share_whole(launch, 0)));
	for (uint32_t i = 0; i < OUTPUTS && status == TTNN_OK; i++) {
		TT_TRY(tt_tensor_resident(&out, launch->outputs[i], chip, TT_BUFFER_OVERWRITE));
		status = i == SUM ? tt_backend_get()->map(&(struct tt_map_job){
					    .out = out, .arity = 1, .in = {sum}})
				  : cut(out, sum, (uint32_t)offset[0], first[i]);
		ttnn_tensor_unref(out);
	}
	return status;
}

static tt_status heads_kernel(struct tt_launch *launch)
{
	for (uint32_t chip = 0; chip < launch->device->rows * launch->device->cols; chip++)
		TT_TRY(heads_on(launch, chip));
	return TTNN_OK;
}

static const struct tt_prog program = {
	.device_op = "AllReduceCreateQkvHeadsDeviceOperation",
	.prim = "ttnn::prim::all_reduce_create_qkv_heads",
	.attrs = &schema,
	.infer = heads_infer,
	.validate = heads_validate,
	TT_FACTORY("ttnn::experimental::prim::AllReduceCreateQkvHeadsMeshWorkloadFactory",
		   heads_memory),
	TT_KERNEL(heads_kernel),
	.per_chip = true,
	.together = true,
	.mute = true,
};

/* ---- call ----------------------------------------------------------------------------------------------------------------- */

static tt_status heads_expand(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor");
	int64_t heads = tt_call_int(call, "num_heads", 0),
		kv = tt_call_int(call, "num_kv_heads", heads), all = heads + 2 * kv;
	int64_t axis = tt_call_int(call, "cluster_axis", 0) ? 1 : 0;
	struct ttnn_value attrs[schema_count] = {0};
	uint32_t width;

	TT_TRY(tt_async_on_mesh(call, in));
	TT_TRY(tt_need_dim(&in->spec.padded, 3));
	TT_NEED(in->spec.shape.rank == 4, "all_reduce_create_qkv_heads takes four dimensions");
	width = in->spec.padded.dim[3];
	TT_REQUIRE(all > 0 && width % all == 0,
		   "input_tensor.padded_shape()[3] % (num_heads + 2 * num_kv_heads_val) == 0",
		   "Input shape %u must be divisible by num_heads + 2*num_kv_heads = %d", width,
		   (int)all);
	attrs[LINKS] = ttnn_v_int(tt_call_int(call, "num_links", 1));
	attrs[SIZE] = ttnn_v_int(tt_group_size(tt_tensor_device(in), axis));
	attrs[MEMORY] = tt_value_memory_or_like(call, in);
	attrs[PLACE] = *tt_call_arg(call, "final_memory_config");
	if (attrs[PLACE].kind != TTNN_VALUE_MEMORY)
		attrs[PLACE] = ttnn_v_memory(&in->spec.memory);
	attrs[SIGNAL] = *tt_call_arg(call, "multi_device_global_semaphore");
	attrs[WIDTH] = ttnn_v_int(width / all);
	attrs[KV_HEADS] = ttnn_v_int(kv);
	attrs[DTYPE] = tt_value_enum(&tt_enum_dtype, tt_call_dtype(call, "dtype", in->spec.dtype));
	attrs[AXIS] = ttnn_v_int(axis);
	tt_attrs_bind(call, &schema, attrs);
	return TT_LAUNCH_RETURN(call, &program,
				TT_INPUTS(in, tt_call_tensor(call, "buffer_tensor"),
					  tt_call_tensor(call, "batch_offset")),
				.attrs = attrs);
}

static const struct tt_op ops[] = {
	{.name = "ttnn.experimental.all_reduce_create_qkv_heads",
	 .doc = "Shards of the devices of a row or column added up; some rows of the sum as heads.",
	 .sigs = {"input_tensor: Tensor, buffer_tensor: Tensor, batch_offset: Tensor, "
		  "cluster_axis: size, mesh_device: Device, multi_device_global_semaphore: any, "
		  "num_heads: size, *, memory_config: MemoryConfig? = None, "
		  "topology: Topology = Linear, num_links: size? = None, "
		  "subdevice_id: SubDeviceId? = None, num_kv_heads: size? = None, "
		  "slice_size: size? = None, final_memory_config: MemoryConfig? = None, "
		  "dtype: DataType? = None, use_noc1_only: bool = False"},
	 .expand = heads_expand,
	 .golden = tt_golden_reduce_heads,
	 .gives = "(Tensor, Tensor, Tensor, Tensor)",
	 TT_PROGRAMS(&program)},
};

const struct tt_op_family tt_family_llama_heads = {"collective_llama", ops, TT_COUNT(ops)};
