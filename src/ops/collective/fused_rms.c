/*
 * fused_rms.c: fused_rms_minimal, rms_norm of a few rows that lie in shards across the chips of a row or column of the mesh.
 *
 * Models RMSAllGatherDeviceOperation of ttnn 0.81: spec, refusals, and the buffers of RMSAllGatherProgramFactory: those of
 * all cores with a shard, and of the one that adds their sums up and has the sums of other chips in the caller's `stats`.
 * What is added to the rows takes the sum's place. Not modelled: links, and sums in `stats`.
 */
#include "device/device.h"
#include "device/devtensor.h"
#include "golden/golden_fused.h"
#include "ops/collective/fused.h"
#include "ops/compute.h"
#include "ops/op_enums.h"
#include "ops/usual.h"
#include "tensor/memory.h"
#include "tensor/text.h"

#define ATTRS(X)                                                                                   \
	X(EPSILON, "eps")                                                                          \
	X(MEMORY, "output_mem_config")                                                             \
	X(SUBBLOCK, "subblock_wt")                                                                 \
	X(BLOCK, "block_wt")                                                                       \
	X(IN_PLACE, "inplace")                                                                     \
	X(GRID, "grid_size")                                                                       \
	X(COMPUTE, "compute_kernel_config")                                                        \
	X(DTYPE, "dtype")                                                                          \
	X(TOPOLOGY, "topology")                                                                    \
	X(LINKS, "num_links")                                                                      \
	X(SIZE, "ring_size")                                                                       \
	X(SIGNAL, "semaphore", .unkeyed = true)                                                    \
	X(AXIS, "cluster_axis")                                                                    \
	X(NOC1, "use_noc1_only")
TT_ATTRS(schema, "<RMSAllGatherParams>", ATTRS);

enum { IN, ADDED, WEIGHT, STATS };

#define HEADERS 16u     /* packets whose headers are kept, */
#define HEADER 48u      /* and the bytes of one */
#define SIGNAL_BYTES 2u /* of the buffer that only tells that sums are there */

/* ---- spec --------------------------------------------------------------------------------------------------------------- */

static tt_status rms_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec;
	const struct ttnn_memory_config *memory = launch->attrs[MEMORY].memory;
	const struct ttnn_value *dtype = &launch->attrs[DTYPE];
	struct ttnn_shape padded = in->padded;

	if (tt_infer_given(launch, 0))
		return TTNN_OK;
	TT_REQUIRE(memory->has_shard, "args.output_mem_config.shard_spec().has_value()",
		   "fused_rms_minimal requires a sharded output memory config (width-sharded in "
		   "L1); an interleaved output memory config is not supported.");
	TT_NEED(in->memory.has_shard, "bad optional access");
	if (!tt_shard_spec_equal(&memory->shard, &in->memory.shard)) {
		TT_TRY(tt_need_dim(&padded, 3));
		padded.dim[3] =
			memory->shard.width * (uint32_t)ttnn_core_set_cores(memory->shard.grid);
	}
	return tt_infer_padded(launch, &in->shape, &padded,
			       tt_value_given(dtype) ? (enum ttnn_dtype)dtype->integer : in->dtype,
			       TTNN_TILE);
}

/* ---- refusals ----------------------------------------------------------------------------------------------------------- */

static const char *dtype_text(const struct tt_tensor *tensor)
{
	return ttnn_dtype_name(tensor->spec.dtype, TTNN_DIALECT_TT_METAL);
}

static tt_status check_stats(const struct tt_launch *launch)
{
	const struct tt_tensor *stats = launch->inputs[STATS];
	bool fp32 = tt_compute_has(&launch->attrs[COMPUTE], TT_COMPUTE_FP32);

	TT_REQUIRE(stats, "tensor_args.stats.has_value()",
		   "fused_rms_minimal requires a pre-allocated stats tensor; passing stats=None is "
		   "not supported. It backs an internal globally-allocated circular buffer.");
	TT_REQUIRE(stats->spec.dtype == (fp32 ? TTNN_FLOAT32 : TTNN_BFLOAT16),
		   "tensor_args.stats->dtype() == expected_stats_dtype",
		   "fused_rms_minimal: stats tensor dtype (DataType::%s) must match the compute "
		   "accumulation format; with fp32_dest_acc_en=%s the stats tensor must be "
		   "DataType::%s. Allocate the stats tensor with that dtype (this is required for "
		   "correct circular-buffer sizing and the internal all-gather handshake).",
		   dtype_text(stats), fp32 ? "true" : "false", fp32 ? "FLOAT32" : "BFLOAT16");
	return TTNN_OK;
}

/* The input's shards are on cores that know the semaphore. */
static tt_status check_signal(const struct tt_launch *launch)
{
	const struct ttnn_value *signal = &launch->attrs[SIGNAL];
	const ttnn_core_set *cores = launch->inputs[IN]->spec.memory.shard.grid;
	struct tt_str texts[2] = {{0}};
	tt_status status;

	if (signal->kind != TTNN_VALUE_OBJECT || !signal->count ||
	    signal->items[0].kind != TTNN_VALUE_CORE_SET ||
	    tt_core_set_includes(signal->items[0].core_set, cores))
		return TTNN_OK;
	tt_text_core_set(&texts[0], cores, TTNN_DIALECT_TT_METAL);
	tt_text_core_set(&texts[1], signal->items[0].core_set, TTNN_DIALECT_TT_METAL);
	status = tt_fail_cond(
		TTNN_INVALID, "semaphore_cores.contains(a.shard_spec().value().grid)",
		"fused_rms_minimal requires the input to be sharded on the grid the "
		"global_semaphore was created on; the input shard grid %s is not contained within "
		"the semaphore grid %s.",
		tt_str_text(&texts[0]), tt_str_text(&texts[1]));
	tt_str_deinit(&texts[0]);
	tt_str_deinit(&texts[1]);
	return status;
}

static tt_status check_input(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec;
	const struct ttnn_memory_config *out = launch->attrs[MEMORY].memory;
	const uint32_t *dim = in->shape.dim;

	TT_REQUIRE(in->padded.rank == 4, "a.padded_shape().rank() == 4",
		   "Input shape must be rank 4");
	TT_REQUIRE(dim[0] == 1 && dim[1] == 1 && dim[2] <= 32 && dim[3] % 32 == 0,
		   "a.logical_shape()[0] == 1 && a.logical_shape()[1] == 1 && "
		   "a.logical_shape()[2] <= 32 && a.logical_shape()[3] % 32 == 0",
		   "Input tensor shape does not meet the requirements set by this OP: input tensor "
		   "shape must be (1,1,M,N) where M <= 32 and N is a multiple of 32");
	TT_REQUIRE(in->memory.has_shard, "a.is_sharded()",
		   "fused_rms_minimal requires a width-sharded L1 input; an interleaved input is "
		   "not supported. Reshard to width-sharded L1 first.");
	TT_REQUIRE(in->memory.buffer == TTNN_L1,
		   "a.memory_config().buffer_type() == BufferType::L1",
		   "fused_rms_minimal requires the input in L1 but got buffer type BufferType::%s.",
		   tt_enum_name(&tt_enum_buffer_type, in->memory.buffer));
	TT_REQUIRE(in->memory.layout == TTNN_WIDTH_SHARDED,
		   "a.memory_config().memory_layout() == TensorMemoryLayout::WIDTH_SHARDED",
		   "fused_rms_minimal requires a width-sharded input but got memory layout "
		   "TensorMemoryLayout::%s.",
		   tt_enum_name(&tt_enum_memory_layout, in->memory.layout));
	TT_TRY(check_signal(launch));
	TT_REQUIRE(out->has_shard, "args.output_mem_config.shard_spec().has_value()",
		   "fused_rms_minimal requires a sharded output memory config (width-sharded in "
		   "L1); an interleaved output memory config is not supported.");
	TT_REQUIRE(out->shard.orientation == TTNN_ORIENT_ROW_MAJOR,
		   "args.output_mem_config.shard_spec().value().orientation == "
		   "ShardOrientation::ROW_MAJOR",
		   "Minimal version requires row major sharding orientation");
	TT_REQUIRE(in->memory.shard.orientation == TTNN_ORIENT_ROW_MAJOR,
		   "a.shard_spec().value().orientation == ShardOrientation::ROW_MAJOR",
		   "Minimal version requires row major sharding orientation");
	TT_REQUIRE(in->layout == TTNN_TILE, "a.layout() == Layout::TILE",
		   "Input tensor layout must be TILE but got Layout::ROW_MAJOR");
	TT_REQUIRE(
		in->dtype == TTNN_FLOAT32 || in->dtype == TTNN_BFLOAT16 ||
			in->dtype == TTNN_BFLOAT8_B,
		"a.dtype() == DataType::FLOAT32 or a.dtype() == DataType::BFLOAT16 or a.dtype() "
		"== DataType::BFLOAT8_B",
		"Input tensor dtype must be FLOAT32, BFLOAT16, or BFLOAT8_B but got DataType::%s",
		dtype_text(launch->inputs[IN]));
	return TTNN_OK;
}

static tt_status check_added(const struct tt_launch *launch)
{
	const struct tt_tensor *added = launch->inputs[ADDED];

	if (!added)
		return TTNN_OK;
	TT_REQUIRE(added->spec.layout == TTNN_TILE, "b.value().layout() == Layout::TILE",
		   "layout is not tile!");
	TT_REQUIRE(ttnn_shape_equal(&launch->inputs[IN]->spec.padded, &added->spec.padded),
		   "a.padded_shape() == b.value().padded_shape()", "shape is not same!");
	TT_NEED(ttnn_shape_equal(&launch->inputs[IN]->spec.shape, &added->spec.shape),
		"fused_rms_minimal adds as many rows as there are");
	return TTNN_OK;
}

static tt_status check_weight(const struct tt_launch *launch)
{
	const struct tt_tensor *weight = launch->inputs[WEIGHT];
	uint32_t width = tt_shape_last(&launch->inputs[IN]->spec.padded, 1);

	TT_REQUIRE(weight, "gamma.has_value()",
		   "fused_rms_minimal requires a weight (gamma) tensor; passing weight=None is not "
		   "supported.");
	TT_REQUIRE(weight->spec.layout == TTNN_ROW_MAJOR,
		   "gamma.value().layout() == Layout::ROW_MAJOR",
		   "RMS all gather requires a weight which is row major");
	TT_REQUIRE(
		tt_shape_last(&weight->spec.padded, 1) == TT_TILE &&
			tt_shape_count(&weight->spec.padded) / TT_TILE == width / TT_TILE,
		"(gamma.value().padded_shape()[-1] == input_width && "
		"gamma.value().physical_volume() / input_width == a.padded_shape()[-1] / "
		"input_width)",
		"Gamma tensor width (%u) must equal input width (%u) and physical volume / width "
		"must match",
		tt_shape_last(&weight->spec.padded, 1), TT_TILE);
	TT_REQUIRE(weight->spec.dtype == TTNN_FLOAT32 || weight->spec.dtype == TTNN_BFLOAT16,
		   "gamma.value().dtype() == DataType::FLOAT32 or gamma.value().dtype() == "
		   "DataType::BFLOAT16",
		   "Gamma tensor dtype must be FLOAT32 or BFLOAT16 but got DataType::%s",
		   dtype_text(weight));
	TT_NEED(tt_shape_count(&weight->spec.shape) == width, "a weight has no padding");
	return TTNN_OK;
}

/* What is added lies as the rows do; the result in shards of the same kind. */
static tt_status check_places(const struct tt_launch *launch)
{
	const struct tt_tensor *added = launch->inputs[ADDED];
	const struct ttnn_memory_config *in = &launch->inputs[IN]->spec.memory,
					*out = launch->attrs[MEMORY].memory;

	TT_REQUIRE(out->layout != TTNN_HEIGHT_SHARDED,
		   "args.output_mem_config.is_sharded() && args.output_mem_config.memory_layout() "
		   "!= TensorMemoryLayout::HEIGHT_SHARDED",
		   "Sharded inputs require sharded outputs.");
	if (added) {
		TT_REQUIRE(added->spec.memory.has_shard, "b.value().is_sharded()",
			   "residual tensor b should be sharded if input a is sharded");
		TT_REQUIRE(tt_shard_spec_equal(&added->spec.memory.shard, &in->shard),
			   "b.value().shard_spec() == a.shard_spec()",
			   "Both a and b should have the same shard spec");
		TT_REQUIRE(ttnn_memory_config_equal(&added->spec.memory, in),
			   "b.value().memory_config() == a.memory_config()",
			   "Both a and b should have the same memory config");
	}
	TT_REQUIRE(tt_shape_last(&launch->inputs[IN]->spec.padded, 2) == TT_TILE,
		   "a.padded_shape()[-2] == input_height",
		   "Only activations with batch size = 32 are supported");
	TT_REQUIRE(in->buffer == out->buffer,
		   "a.memory_config().buffer_type() == args.output_mem_config.buffer_type()",
		   "Input tensor buffer type (BufferType::%s) must match output memory config "
		   "buffer type (BufferType::%s)",
		   tt_enum_name(&tt_enum_buffer_type, in->buffer),
		   tt_enum_name(&tt_enum_buffer_type, out->buffer));
	TT_REQUIRE(in->layout == out->layout,
		   "a.memory_config().memory_layout() == args.output_mem_config.memory_layout()",
		   "Input tensor memory layout (TensorMemoryLayout::%s) must match output memory "
		   "config layout (TensorMemoryLayout::%s)",
		   tt_enum_name(&tt_enum_memory_layout, in->layout),
		   tt_enum_name(&tt_enum_memory_layout, out->layout));
	return TTNN_OK;
}

static tt_status check_blocks(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec;
	const struct ttnn_shard_spec *shard = &in->memory.shard;
	struct ttnn_core grid = launch->attrs[GRID].core;
	uint32_t block = tt_attr_u32(launch, BLOCK), subblock = tt_attr_u32(launch, SUBBLOCK);
	struct ttnn_core_range box;

	TT_REQUIRE(subblock && block % subblock == 0, "args.block_wt % args.subblock_wt == 0",
		   "block_w must be divisible by subblock_w.");
	TT_TRY(tt_core_set_box(&box, shard->grid));
	TT_REQUIRE(box.end.x - box.start.x < grid.x && box.end.y - box.start.y < grid.y,
		   "bbox.end_coord.x - bbox.start_coord.x < args.grid_size.x && bbox.end_coord.y - "
		   "bbox.start_coord.y < args.grid_size.y",
		   "Shard grid bounding box must fit within compute grid size");
	TT_REQUIRE(tt_div_up(tt_shape_last(&in->padded, 1) / TT_TILE,
			     ttnn_core_set_cores(shard->grid)) == block,
		   "tt::div_up(Kt, shard_spec.num_cores()) == args.block_wt",
		   "block_w must equal to K / num_cores.");
	TT_REQUIRE(block * TT_TILE == shard->width,
		   "args.block_wt * input_width == shard_spec.shape[1]",
		   "block_w (%u) * input_width (%u) must equal shard_spec shape[1] (%u)", block,
		   TT_TILE, shard->width);
	TT_NEED(block, "there are no columns to bring to a scale");
	return TTNN_OK;
}

static tt_status rms_validate(struct tt_launch *launch)
{
	TT_TRY(check_stats(launch));
	TT_TRY(check_input(launch));
	TT_TRY(check_added(launch));
	TT_TRY(check_weight(launch));
	TT_TRY(check_places(launch));
	TT_TRY(check_blocks(launch));
	TT_NEED(ttnn_shape_equal(&launch->specs[0].shape, &launch->inputs[IN]->spec.shape) &&
			launch->specs[0].memory.has_shard &&
			launch->inputs[STATS]->spec.memory.has_shard,
		"fused_rms_minimal writes shards of the input's shape, and has its sums in some");
	return TTNN_OK;
}

/* ---- program memory ---------------------------------------------------------------------------------------------------- */

/* The matrix engine holds so many tiles. */
static tt_status check_engine(const struct tt_launch *launch)
{
	const struct ttnn_value *compute = &launch->attrs[COMPUTE];
	uint32_t most = tt_compute_tiles(compute), subblock = tt_attr_u32(launch, SUBBLOCK);
	bool fp32 = tt_compute_has(compute, TT_COMPUTE_FP32);
	char condition[32];

	snprintf(condition, sizeof(condition), "subblock_wt <= %u", most);
	TT_REQUIRE(subblock <= most, condition,
		   "subblock_wt=%u, but subblock width must less than %u tiles %swhen "
		   "dst_full_sync_en is %s",
		   subblock, most, fp32 ? "in fp32 mode " : "",
		   tt_compute_has(compute, TT_COMPUTE_FULL_SYNC) ? "true" : "false");
	return TTNN_OK;
}

/* Sums that wait on a core: of all cores, or of its row and then of the other rows. */
static tt_status sums_of(uint32_t *out, const struct tt_launch *launch, const ttnn_core_set *cores,
			 struct ttnn_core *first)
{
	uint32_t columns = tt_shape_last(&launch->inputs[IN]->spec.padded, 1) / TT_TILE, x, y;
	struct ttnn_core_range box;

	TT_TRY(tt_core_set_box(&box, cores));
	x = box.end.x - box.start.x + 1;
	y = box.end.y - box.start.y + 1;
	*out = x > 1 && y > 1 ? x + y - 1
			      : (uint32_t)tt_div_up(columns, tt_attr_u32(launch, BLOCK));
	*first = box.start;
	return TTNN_OK;
}

static tt_status rms_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *const *in = launch->inputs;
	const struct ttnn_shard_spec *shard = &in[IN]->spec.memory.shard,
				     *place = &launch->outputs[0]->spec.memory.shard;
	uint64_t full = tt_tile_bytes_of(tt_compute_has(&launch->attrs[COMPUTE], TT_COMPUTE_FP32)
						 ? TTNN_FLOAT32
						 : TTNN_BFLOAT16);
	uint64_t half = tt_tile_bytes_of(TTNN_BFLOAT16), own = tt_page_in0(launch);
	struct tt_tensor *rows = in[ADDED] ? in[ADDED] : in[IN], *out = launch->outputs[0];
	uint64_t page = tt_tensor_tile_bytes(rows), result = tt_page_out0(launch);
	uint32_t block = tt_attr_u32(launch, BLOCK), sums;
	bool stays = tt_shard_spec_equal(shard, place);
	const ttnn_core_set *cores = shard->grid, *sender;
	struct ttnn_core_range first;

	TT_TRY(check_engine(launch));
	TT_TRY(sums_of(&sums, launch, cores, &first.start));
	first.end = first.start;
	TT_TRY(ttnn_core_set_make(&sender, &first, 1));
	return TT_PLAN(
		plan, cores, TT_CB_ROW(0, "scaler", .pages = 1, .page = half),
		TT_CB_ROW(1, "scaler_global", .pages = 1, .page = half),
		TT_CB_ROW(2, "ex_partial2", .pages = 1, .page = full),
		TT_CB_ROW(3, "ex2", .pages = 1, .page = full),
		TT_CB_ROW(4, "ex_external2", .pages = sums, .page = full),
		TT_CB_ROW(6, "pre_x", .pages = block, .page = full),
		TT_CB_ROW(7, "to_allgather", .pages = 1, .page = tt_tensor_tile_bytes(in[STATS])),
		TT_CB_ROW(8, "packet_header", .pages = HEADERS, .page = HEADER),
		TT_CB_ROW(22, "input", .pages = in[ADDED] ? block : 0, .page = own,
			  .backing = in[IN]),
		TT_CB_ROW(21, "residual", .pages = in[ADDED] ? block : 0, .page = page,
			  .backing = rows),
		TT_CB_ROW(12, "rows", .pages = block, .page = page, .backing = rows),
		TT_CB_ROW(5, "pre_rows", .pages = block, .page = page, .backing = rows),
		TT_CB_ROW(9, "ex_global", .pages = 1, .page = full),
		TT_CB_ROW(10, "output", .pages = block, .page = result,
			  .backing = stays ? out : NULL),
		TT_CB_ROW(11, "gamma", .pages = block, .page = tt_tensor_tile_bytes(in[WEIGHT])),
		TT_CB_ROW(13, "epsilon", .pages = 1, .page = half),
		TT_CB_ROW(14, "scaler_devices", .pages = 1, .page = half),
		TT_CB_ROW(15, "x", .pages = block, .page = full),
		TT_CB_ROW(16, "output_reshard", .pages = stays ? 0 : place->width / TT_TILE,
			  .page = result, .backing = out),
		TT_CB_ROW(17, "variance", .pages = 1, .page = full, .cores = sender),
		TT_CB_ROW(18, "stats_reduced", .pages = 1, .page = full, .cores = sender),
		TT_CB_ROW(19, "stats", .pages = tt_shape_last(&in[STATS]->spec.padded, 1) / TT_TILE,
			  .page = full, .cores = sender, .backing = in[STATS]),
		TT_CB_ROW(20, "signal", .pages = 1, .page = SIGNAL_BYTES));
}

/* ---- numbers -------------------------------------------------------------------------------------------------------------- */

/* The rows of a chip are added to what the caller has there. */
static tt_status add_rows(const struct tt_launch *launch, uint32_t chip)
{
	struct tt_tensor *rows, *sum;
	tt_status status;

	TT_TRY(tt_part_here(&rows, launch->inputs[IN], chip));
	TT_TRY(tt_tensor_resident(&sum, launch->inputs[ADDED], chip, TT_BUFFER_UPDATE));
	status = tt_part_combine(sum, rows, TT_BINARY_ADD);
	ttnn_tensor_unref(sum);
	return status;
}

static tt_status scaled(struct tt_tensor **out, const struct tt_launch *launch, uint32_t chip)
{
	struct tt_tensor *weight, *factors;
	struct tt_launch rows = *launch;
	struct tt_group group;

	if (launch->inputs[ADDED])
		rows.inputs = &launch->inputs[ADDED];
	tt_group_find(&group, launch->device, launch->attrs[AXIS].integer, chip);
	TT_TRY(tt_part_norm(
		out, &rows, &group,
		(struct tt_norm_job){.kind = TT_NORM_RMS, .epsilon = launch->attrs[EPSILON].real}));
	TT_TRY(tt_part_here(&weight, launch->inputs[WEIGHT], chip));
	TT_TRY(tt_scratch_f32(&factors, &TT_SHAPE(1, 1, 1, (*out)->spec.shape.dim[3])));
	TT_TRY(tt_backend_get()->reshape(factors, weight));
	return tt_part_combine(*out, factors, TT_BINARY_MUL);
}

/* All of it is worked out before any is written: a result may take the place of what others still need. */
static tt_status rms_kernel(struct tt_launch *launch)
{
	uint32_t chips = launch->device->rows * launch->device->cols;
	struct tt_tensor **parts = tt_arena_calloc(launch->arena, chips, sizeof(*parts)), *out;
	tt_status status = TTNN_OK;

	TT_NEED_MEMORY(parts);
	for (uint32_t i = 0; i < chips && launch->inputs[ADDED]; i++)
		TT_TRY(add_rows(launch, i));
	for (uint32_t i = 0; i < chips; i++)
		TT_TRY(scaled(&parts[i], launch, i));
	for (uint32_t i = 0; i < chips && status == TTNN_OK; i++) {
		TT_TRY(tt_tensor_resident(&out, launch->outputs[0], i, TT_BUFFER_OVERWRITE));
		status = tt_backend_get()->map(
			&(struct tt_map_job){.out = out, .arity = 1, .in = {parts[i]}});
		ttnn_tensor_unref(out);
	}
	return status;
}

static const struct tt_prog program = {
	.device_op = "RMSAllGatherDeviceOperation",
	.prim = "ttnn::prim::rms_allgather",
	.attrs = &schema,
	.infer = rms_infer,
	.validate = rms_validate,
	TT_FACTORY("ttnn::experimental::prim::RMSAllGatherProgramFactory", rms_memory),
	TT_KERNEL(rms_kernel),
	.per_chip = true,
	.together = true,
};

/* ---- call ------------------------------------------------------------------------------------------------------------------- */

static tt_status rms_expand(struct tt_call *call)
{
	static const struct tt_compute_usual usual = {.fidelity = TT_HIFI4, .approx = true};
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor"),
			 *given = tt_call_tensor(call, "persistent_output_tensor");
	const struct ttnn_value *config = tt_call_arg(call, "program_config"), *f = config->items;
	int64_t axis = tt_call_int(call, "cluster_axis", 0) ? 1 : 0;
	struct ttnn_value attrs[schema_count] = {0};

	TT_TRY(tt_async_on_mesh(call, in));
	TT_REQUIRE(config->kind == TTNN_VALUE_OBJECT && config->schema == &tt_schema_norm_sharded,
		   "false", "RMSAllGather only supports LayerNormShardedMultiCoreProgramConfig");
	attrs[EPSILON] = ttnn_v_real((float)tt_call_real(call, "epsilon", 1e-12));
	attrs[MEMORY] = tt_value_memory_or_like(call, in);
	attrs[SUBBLOCK] = f[TT_NORM_SUBBLOCK_W];
	attrs[BLOCK] = f[TT_NORM_BLOCK_W];
	attrs[IN_PLACE] = f[TT_NORM_INPLACE];
	attrs[GRID] = f[TT_NORM_GRID];
	attrs[COMPUTE] =
		tt_compute_config(call, tt_call_arg(call, "compute_kernel_config"), &usual);
	attrs[SIGNAL] = *tt_call_arg(call, "global_semaphore");
	attrs[TOPOLOGY] =
		tt_group_topology(tt_tensor_device(in), tt_call_arg(call, "topology"), axis);
	attrs[LINKS] = ttnn_v_int(tt_call_int(call, "num_links", 1));
	attrs[SIZE] = ttnn_v_int(tt_group_size(tt_tensor_device(in), axis));
	attrs[AXIS] = ttnn_v_int(axis);
	tt_attrs_bind(call, &schema, attrs);
	if (attrs[IN_PLACE].boolean && !given)
		given = in;
	return TT_LAUNCH_RETURN(call, &program,
				TT_INPUTS(in, tt_call_tensor(call, "residual_input_tensor"),
					  tt_call_tensor(call, "weight"),
					  tt_call_tensor(call, "stats"),
					  tt_call_tensor(call, "persistent_output_tensor")),
				TT_OUTPUTS(given), .attrs = attrs, .in_place = true);
}

static const struct tt_op ops[] = {
	{.name = "ttnn.fused_rms_minimal",
	 .doc = "rms_norm of a few rows in shards that lie across devices.",
	 .sigs = {"input_tensor: Tensor, program_config: ProgramConfig, cluster_axis: size, "
		  "mesh_device: Device, global_semaphore: any, *, "
		  "persistent_output_tensor: Tensor? = None, num_links: size? = None, "
		  "topology: Topology = Linear, subdevice_id: SubDeviceId? = None, "
		  "dtype: DataType? = None, compute_kernel_config: ComputeConfig? = None, "
		  "memory_config: MemoryConfig? = None, residual_input_tensor: Tensor? = None, "
		  "epsilon: float = 1e-12, weight: Tensor? = None, stats: Tensor? = None, "
		  "use_noc1_only: bool = False"},
	 .expand = rms_expand,
	 .golden = tt_golden_rms_minimal,
	 TT_PROGRAMS(&program)},
};

const struct tt_op_family tt_family_fused_rms = {"collective_llama", ops, TT_COUNT(ops)};
