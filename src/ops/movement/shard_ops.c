/*
 * shard_ops.c: the same values in other places: between interleaved and sharded, between
 * shardings, and to_memory_config, which picks one of these programs or a plain copy.
 *
 * Models InterleavedToShardedDeviceOperation and ShardedToInterleavedDeviceOperation of ttnn
 * 0.81 (data_movement/sharded), one factory each: refusals, memory, cores. Both may change the
 * dtype of tiles on the way. Between shardings it is reshard.c, where that serves, else a copy
 * through DRAM. Not modelled: partial forms (interleaved_to_sharded_partial).
 */
#include <inttypes.h>

#include "golden/golden_movement.h"
#include "ops/movement/movement.h"
#include "ops/movement/shard_ops.h"
#include "ops/objects.h"

tt_status tt_shard_refuse(const char *message)
{
	return tt_fail_cond(TTNN_INVALID, "valid", "%s", message);
}

#define refuse tt_shard_refuse

static tt_status refuse_layout(const char *format, enum ttnn_memory_layout layout)
{
	const char *name = tt_enum_name(&tt_enum_memory_layout, (int64_t)layout);

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	return tt_fail_cond(TTNN_INVALID, "valid", format, name);
#pragma GCC diagnostic pop
}

static bool is_standard(const struct ttnn_tile *tile)
{
	return tile->height == TT_TILE_DEFAULT.height && tile->width == TT_TILE_DEFAULT.width;
}

static tt_status refuse_tile(const char *operation, const struct ttnn_tile *tile)
{
	return tt_fail_cond(TTNN_INVALID, "valid", "%s requires standard 32x32 tiles, got %ux%u",
			    operation, tile->height, tile->width);
}

tt_status tt_shard_spec(struct ttnn_tensor_spec *out, const struct tt_shard_want *want)
{
	if (want->out) {
		*out = want->out->spec;
		return TTNN_OK;
	}
	return tt_spec_simple(out, &want->in->spec.shape, want->dtype, want->in->spec.layout,
			      want->memory);
}

/* Bytes of the unit that shards are counted in, tiles or rows of a shard; and how many there are. */
static uint64_t unit_bytes(const struct tt_tensor *tensor, const struct ttnn_memory_config *memory)
{
	if (tensor->spec.layout == TTNN_TILE)
		return tt_tile_bytes_of(tensor->spec.dtype);
	return tt_shard_width(memory) * tt_element_bytes(tensor);
}

static uint64_t shard_units(enum ttnn_layout layout, const struct ttnn_memory_config *memory)
{
	if (layout != TTNN_TILE)
		return tt_shard_height(memory);
	return (uint64_t)(tt_shard_height(memory) / TT_TILE_DEFAULT.height) *
	       (tt_shard_width(memory) / TT_TILE_DEFAULT.width);
}

/* ---- interleaved to sharded --------------------------------------------------------------------- */

#define I2S_ATTRS(X)                                                                               \
	X(I2S_MEMORY, "output_mem_config")                                                         \
	X(I2S_DTYPE, "output_dtype")                                                               \
	X(I2S_KEEP, "keep_l1_aligned", .unkeyed = true)
TT_ATTRS(i2s_schema, "InterleavedToShardedParams", I2S_ATTRS);

/* The tensor that was given for the result, if any, beside what it must be. */
static tt_status check_output(const struct tt_shard_want *want,
			      const struct ttnn_memory_config *memory)
{
	const struct ttnn_tensor_spec *out;

	if (!want->out)
		return TTNN_OK;
	out = &want->out->spec;
	if (!ttnn_memory_config_equal(&out->memory, memory))
		return refuse("Mismatched output memory config");
	if (out->dtype != want->dtype)
		return refuse("Mismatched output dtype");
	if (!tt_tensor_device(want->out))
		return refuse("Operands to shard need to be on device!");
	if (!tt_tensor_buffer(want->out))
		return refuse("Operands to shard need to be allocated in buffers on device!");
	if (tt_tensor_device(want->out) != tt_tensor_device(want->in))
		return refuse("Operands to shard need to be on the same device!");
	if (out->layout != want->in->spec.layout)
		return refuse("Output tensor layout must match input tensor layout");
	return TTNN_OK;
}

/* The legacy form of an ND config, where there is one: what the checks look at. */
static tt_status resolve_i2s(struct ttnn_memory_config *out, const struct tt_shard_want *want)
{
	struct tt_shard_want anew = *want;
	struct ttnn_tensor_spec spec;

	*out = *want->memory;
	if (out->layout != TTNN_ND_SHARDED)
		return TTNN_OK;
	anew.out = NULL;
	TT_TRY(tt_shard_spec(&spec, &anew));
	if (spec.memory.layout == TTNN_ND_SHARDED)
		return refuse("interleaved_to_sharded does not support ND sharding. Please use "
			      "ttnn.to_memory_config or ttnn.copy instead.");
	*out = spec.memory;
	return TTNN_OK;
}

/*
 * Upstream gives these texts from validate and uses the same conditions to choose, so they are one
 * function.
 */
static tt_status check_i2s(struct ttnn_memory_config *resolved, const struct tt_shard_want *want)
{
	const struct ttnn_tensor_spec *in = &want->in->spec;

	if (!tt_tensor_buffer(want->in))
		return refuse("Operands to shard need to be allocated in buffers on device!");
	if (tt_dtype_is_block(want->dtype) && in->layout == TTNN_ROW_MAJOR)
		return refuse("Output dtype BFLOAT8_B/BFLOAT4_B requires TILE layout, but input "
			      "tensor layout is ROW_MAJOR");
	TT_TRY(resolve_i2s(resolved, want));
	if (want->out && !ttnn_shape_equal(&want->out->spec.shape, &in->shape))
		return refuse("Mismatched output shape");
	TT_TRY(check_output(want, resolved));
	if (in->memory.layout != TTNN_INTERLEAVED)
		return refuse_layout("Input tensor memory layout must be INTERLEAVED, but got "
				     "TensorMemoryLayout::%s",
				     in->memory.layout);
	if (!tt_memory_config_is_sharded(want->memory))
		return refuse("Output memory config must be sharded");
	if (resolved->layout == TTNN_BLOCK_SHARDED && resolved->buffer != TTNN_L1)
		return refuse("We don't support DRAM block sharding");
	if (in->layout == TTNN_ROW_MAJOR &&
	    resolved->shard.width * tt_element_bytes(want->in) %
		    tt_memory_alignment(tt_tensor_device(want->in), TTNN_L1))
		return refuse("Shard page size must currently have L1 aligned page size");
	if (in->dtype != want->dtype && in->layout != TTNN_TILE)
		return refuse("Input tensor layout must be TILE when dtype conversion is needed");
	if (in->layout != TTNN_TILE)
		return TTNN_OK;
	if (!is_standard(&in->tile))
		return refuse_tile("interleaved_to_sharded", &in->tile);
	if (want->out && !tt_tile_equal(&want->out->spec.tile, &in->tile))
		return refuse("Output tensor tile shape must match input tensor tile shape");
	return TTNN_OK;
}

struct tt_shard_want tt_shard_wanted(const struct tt_launch *launch,
				     const struct ttnn_value *memory,
				     const struct ttnn_value *dtype)
{
	return (struct tt_shard_want){
		.in = launch->inputs[0],
		.out = launch->input_count > 1 ? launch->inputs[1] : NULL,
		.memory = memory->memory,
		.dtype = dtype ? (enum ttnn_dtype)dtype->integer : launch->inputs[0]->spec.dtype,
	};
}

static tt_status i2s_infer(struct tt_launch *launch)
{
	struct tt_shard_want want =
		tt_shard_wanted(launch, &launch->attrs[I2S_MEMORY], &launch->attrs[I2S_DTYPE]);

	return tt_shard_spec(&launch->specs[0], &want);
}

static tt_status i2s_validate(struct tt_launch *launch)
{
	struct tt_shard_want want =
		tt_shard_wanted(launch, &launch->attrs[I2S_MEMORY], &launch->attrs[I2S_DTYPE]);
	struct ttnn_memory_config resolved;

	return check_i2s(&resolved, &want);
}

/* Rows read from DRAM go through a scratchpad of so many slots. */
#define SCRATCH_SLOTS 4

/* Bytes of a unit in a tensor's pages, where units are those of a sharded memory. */
static uint64_t unit_page(const struct tt_tensor *tensor, const struct ttnn_memory_config *shards)
{
	return tt_align_to(unit_bytes(tensor, shards), tt_page_alignment(tensor));
}

/* A slot of scratch is a row and what aligning it costs. */
static tt_status i2s_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[0], *out = launch->outputs[0];
	const struct ttnn_memory_config *shards = &out->spec.memory;
	uint64_t dram = tt_memory_alignment(launch->device, TTNN_DRAM);
	uint64_t units = shard_units(in->spec.layout, shards);
	const ttnn_core_set *cores;

	TT_TRY(tt_cores_near(&cores, out));
	return TT_PLAN(plan, cores,
		       TT_DFB_ROW(0, "out", .pages = units, .page = unit_page(out, shards),
				  .backing = shards->buffer == TTNN_DRAM ? NULL : out),
		       TT_DFB_ROW(1, "in", .pages = tt_converts(launch) ? units : 0,
				  .page = unit_page(in, shards)),
		       TT_SCRATCH_ROW(0, "scratch", .pages = in->spec.layout == TTNN_ROW_MAJOR,
				      .page = SCRATCH_SLOTS *
					      tt_align_to(unit_bytes(in, shards) + dram, dram)));
}

static const struct tt_prog prog_i2s = {
	.device_op = "InterleavedToShardedDeviceOperation",
	.prim = "ttnn::prim::interleaved_to_sharded",
	.attrs = &i2s_schema,
	.infer = i2s_infer,
	.validate = i2s_validate,
	TT_FACTORY("ttnn::prim::InterleavedToShardedProgramFactory", i2s_memory),
	TT_KERNEL(tt_kernel_copy),
	.cost = tt_cost_convert,
};

/* A given output is an input as well. */
tt_status tt_shard_launch(struct tt_tensor **out, struct tt_call *call, const struct tt_prog *prog,
			  const struct tt_shard_want *want, const struct ttnn_value *attrs)
{
	struct tt_tensor *inputs[] = {want->in, want->out};

	return TT_LAUNCH(out, call, prog, .attrs = attrs, .inputs = inputs,
			 .input_count = want->out ? 2 : 1, TT_OUTPUTS(want->out), .in_place = true);
}

static tt_status launch_i2s(struct tt_tensor **out, struct tt_call *call,
			    const struct tt_shard_want *want, bool keep_aligned)
{
	struct ttnn_value attrs[i2s_schema_count] = {
		ttnn_v_memory(want->memory), ttnn_v_dtype(want->dtype), ttnn_v_bool(keep_aligned)};

	return tt_shard_launch(out, call, &prog_i2s, want, attrs);
}

/* ---- sharded to interleaved ----------------------------------------------------------------------- */

#define S2I_ATTRS(X)                                                                               \
	X(S2I_MEMORY, "output_mem_config")                                                         \
	X(S2I_DTYPE, "output_dtype")                                                               \
	X(S2I_SLICES, "num_slices")                                                                \
	X(S2I_INDEX, "slice_index")
TT_ATTRS(s2i_schema, "ShardedToInterleavedParams", S2I_ATTRS);

/* Rows of a shard are pages. */
static tt_status check_s2i_rows(const struct tt_shard_want *want)
{
	uint64_t alignment = tt_memory_alignment(tt_tensor_device(want->in), TTNN_L1);

	if (want->in->spec.layout != TTNN_ROW_MAJOR)
		return TTNN_OK;
	TT_REQUIRE(want->in->spec.memory.shard.width * tt_element_bytes(want->in) % alignment == 0,
		   "valid", "Shard page size must be aligned to %" PRIu64 "B for L1 Tensor",
		   alignment);
	return TTNN_OK;
}

/* As check_i2s(), the other way. */
static tt_status check_s2i(const struct tt_shard_want *want)
{
	const struct ttnn_tensor_spec *in = &want->in->spec;

	if (!tt_tensor_buffer(want->in))
		return refuse("Operands to shard need to be allocated in buffers on device!");
	if (!tt_memory_config_is_sharded(&in->memory))
		return refuse("Input tensor must be sharded");
	if (in->memory.buffer != TTNN_L1)
		return refuse("Input tensor must be in L1");
	TT_TRY(check_output(want, want->memory));
	if (want->memory->layout != TTNN_INTERLEAVED)
		return refuse("Output memory config must be Interleaved");
	if (in->memory.layout == TTNN_ND_SHARDED)
		return refuse("sharded_to_interleaved does not support ND sharding. Please use "
			      "ttnn.to_memory_config or ttnn.copy instead.");
	TT_TRY(check_s2i_rows(want));
	if (in->dtype != want->dtype && in->layout != TTNN_TILE)
		return refuse("If diff output type, tensor must be TILED");
	if (in->layout != TTNN_TILE)
		return TTNN_OK;
	if (!is_standard(&in->tile))
		return refuse_tile("sharded_to_interleaved", &in->tile);
	if (want->out && !tt_tile_equal(&want->out->spec.tile, &in->tile))
		return refuse("Output tensor tile shape must match input tensor tile shape");
	return TTNN_OK;
}

/* Tiles keep their padded shape, rows are padded anew. */
static tt_status s2i_infer(struct tt_launch *launch)
{
	struct tt_shard_want want =
		tt_shard_wanted(launch, &launch->attrs[S2I_MEMORY], &launch->attrs[S2I_DTYPE]);
	const struct ttnn_tensor_spec *in = &want.in->spec;
	struct ttnn_spec_args args = {.shape = in->shape,
				      .dtype = want.dtype,
				      .layout = in->layout,
				      .memory = *want.memory};

	if (want.out || in->layout == TTNN_ROW_MAJOR)
		return tt_shard_spec(&launch->specs[0], &want);
	return tt_tensor_spec_padded(&launch->specs[0], &args, &in->padded);
}

static tt_status s2i_validate(struct tt_launch *launch)
{
	struct tt_shard_want want =
		tt_shard_wanted(launch, &launch->attrs[S2I_MEMORY], &launch->attrs[S2I_DTYPE]);

	return check_s2i(&want);
}

/* The cores whose shards hold more than padding. */
static tt_status s2i_cores(const ttnn_core_set **out, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_shard_spec *shard = &in->memory.shard;
	bool by_row = shard->orientation == TTNN_ORIENT_ROW_MAJOR;
	uint64_t rows = in->rows, cols = in->cols, down, across;
	struct ttnn_core_range box;

	if (in->layout == TTNN_ROW_MAJOR) {
		TT_TRY(tt_shape_rows(&rows, &in->shape));
		cols = tt_shape_last(&in->shape, 1);
	}
	down = tt_div_up(rows, shard->height);
	across = tt_div_up(cols, shard->width);
	if (in->memory.layout != TTNN_BLOCK_SHARDED)
		return tt_cores_first(out, shard->grid, down * across, shard->orientation);
	TT_TRY(tt_core_set_box(&box, shard->grid));
	box.end.x = box.start.x + (uint32_t)(by_row ? across : down) - 1;
	box.end.y = box.start.y + (uint32_t)(by_row ? down : across) - 1;
	return ttnn_core_set_make(out, &box, 1);
}

/* The shard is the input buffer; a second one only where the dtype changes. */
static tt_status s2i_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[0], *out = launch->outputs[0];
	const struct ttnn_memory_config *shards = &in->spec.memory;
	uint64_t units = shard_units(in->spec.layout, shards);
	const ttnn_core_set *cores;

	TT_TRY(s2i_cores(&cores, launch));
	return TT_PLAN(
		plan, cores,
		TT_DFB_ROW(0, "src0", .pages = units, .page = unit_page(in, shards), .backing = in),
		TT_DFB_ROW(1, "out", .pages = tt_converts(launch) ? units : 0,
			   .page = unit_page(out, shards)));
}

static const struct tt_prog prog_s2i = {
	.device_op = "ShardedToInterleavedDeviceOperation",
	.prim = "ttnn::prim::sharded_to_interleaved",
	.attrs = &s2i_schema,
	.infer = s2i_infer,
	.validate = s2i_validate,
	TT_FACTORY("ttnn::prim::ShardedToInterleavedProgramFactory", s2i_memory),
	TT_KERNEL(tt_kernel_copy),
	.cost = tt_cost_convert,
};

static tt_status launch_s2i(struct tt_tensor **out, struct tt_call *call,
			    const struct tt_shard_want *want)
{
	struct ttnn_value attrs[s2i_schema_count] = {ttnn_v_memory(want->memory),
						     ttnn_v_dtype(want->dtype), ttnn_v_int(1),
						     ttnn_v_int(0)};

	return tt_shard_launch(out, call, &prog_s2i, want, attrs);
}

/* ---- to_memory_config ------------------------------------------------------------------------------- */

/*
 * Whether sharded_to_interleaved serves: it must accept the tensor, and what it needs beside the
 * shard must fit into L1.
 */
static bool can_s2i(const struct tt_shard_want *want)
{
	struct tt_device *device = tt_tensor_device(want->in);
	const struct ttnn_memory_config *shards = &want->in->spec.memory;
	uint64_t unit;

	if (check_s2i(want) != TTNN_OK)
		return false;
	if (want->in->spec.dtype == want->dtype)
		return true;
	unit = want->in->spec.layout == TTNN_TILE
		       ? tt_tile_bytes_of(want->dtype)
		       : (uint64_t)shards->shard.width * tt_dtype_bytes(want->dtype);
	unit = tt_align_to(unit, tt_memory_alignment(device, want->memory->buffer));
	return shard_units(want->in->spec.layout, shards) * unit < tt_l1_room(device);
}

/*
 * Whether its buffers would fit into L1: four units to align, the shard, and a copy of it for
 * another dtype.
 */
static bool can_i2s(const struct tt_shard_want *want)
{
	struct tt_device *device = tt_tensor_device(want->in);
	uint64_t dram = tt_memory_alignment(device, TTNN_DRAM), in_unit, out_unit, units, total;
	bool tiled = want->in->spec.layout == TTNN_TILE;
	struct ttnn_memory_config shards;

	if (check_i2s(&shards, want) != TTNN_OK)
		return false;
	in_unit = unit_bytes(want->in, &shards);
	out_unit = tiled ? tt_tile_bytes_of(want->dtype)
			 : (uint64_t)shards.shard.width * tt_dtype_bytes(want->dtype);
	units = shard_units(want->in->spec.layout, &shards);
	total = 4 * tt_align_to(in_unit + dram, dram);
	if (want->in->spec.dtype != want->dtype)
		total += units * tt_align_to(in_unit, tt_page_alignment(want->in));
	total += units * tt_align_to(out_unit, tt_memory_alignment(device, shards.buffer));
	return total < tt_l1_room(device);
}

/* What height-sharded rows need to be copied from shards of another alignment. */
static uint64_t reshard_scratch(const struct tt_shard_want *want)
{
	const struct ttnn_memory_config *in = &want->in->spec.memory, *out = want->memory;
	const struct ttnn_memory_config *remote = out->buffer == TTNN_L1 ? in : out;
	const struct ttnn_memory_config *local = out->buffer == TTNN_L1 ? out : in;
	struct tt_device *device = tt_tensor_device(want->in);
	uint64_t unit = unit_bytes(want->in, in), there, here;

	there = tt_align_to(unit, tt_memory_alignment(device, remote->buffer));
	here = tt_align_to(unit, tt_memory_alignment(device, local->buffer));
	if (there == unit && here == unit)
		return 0;
	return shard_units(want->in->spec.layout, remote) * there;
}

/* The conditions, and that its scratch fits. */
static bool can_reshard(const struct tt_shard_want *want)
{
	const struct ttnn_memory_config *in = &want->in->spec.memory, *out = want->memory;
	uint64_t room = tt_l1_room(tt_tensor_device(want->in));
	bool legacy;

	if (tt_reshard_check(want) != TTNN_OK)
		return false;
	legacy = tt_reshard_is_legacy(in, out);
	if (legacy && in->layout == TTNN_HEIGHT_SHARDED && out->layout == TTNN_HEIGHT_SHARDED &&
	    reshard_scratch(want) >= room)
		return false;
	if (!legacy && in->buffer == TTNN_DRAM && out->buffer == TTNN_DRAM) {
		uint64_t page = want->in->spec.layout == TTNN_TILE
					? tt_tile_bytes_of(want->in->spec.dtype)
					: tt_shape_last(&want->in->spec.padded, 1) *
						  tt_element_bytes(want->in);

		return tt_align_to(page, tt_page_alignment(want->in)) < room;
	}
	return true;
}

/* Rows cannot be resharded into other widths in another direction. */
static bool needs_detour(const struct tt_shard_want *want)
{
	const struct ttnn_memory_config *in = &want->in->spec.memory, *out = want->memory;

	return in->has_shard && out->has_shard && in->shard.width != out->shard.width &&
	       in->layout != out->layout && want->in->spec.layout == TTNN_ROW_MAJOR;
}

/* Sharded to sharded by way of DRAM. *out stays NULL when that cannot be done either. */
static tt_status detour(struct tt_tensor **out, struct tt_call *call,
			const struct tt_shard_want *want)
{
	static const struct ttnn_memory_config dram;
	struct tt_shard_want away = {.in = want->in, .memory = &dram, .dtype = want->dtype};
	struct tt_shard_want back = *want;

	if (!can_s2i(&away))
		return TTNN_OK;
	TT_TRY(launch_s2i(&back.in, call, &away));
	tt_call_own(call, back.in);
	return can_i2s(&back) ? launch_i2s(out, call, &back, false) : TTNN_OK;
}

/*
 * In upstream's order: another dtype is a copy, then reshard, then a detour, then from
 * interleaved. *out stays NULL where none serves.
 */
static tt_status to_sharded(struct tt_tensor **out, struct tt_call *call,
			    const struct tt_shard_want *want, bool has_dtype)
{
	if (tt_tensor_is_sharded(want->in)) {
		if (!needs_detour(want)) {
			if (has_dtype)
				return tt_copy_launch(out, call, want);
			if (can_reshard(want))
				return tt_reshard_launch(out, call, want);
		}
		TT_TRY(detour(out, call, want));
		if (*out)
			return TTNN_OK;
	}
	return can_i2s(want) ? launch_i2s(out, call, want, false) : TTNN_OK;
}

/* What none of the special programs takes is a plain copy. */
static tt_status expand_to_memory_config(struct tt_call *call)
{
	struct tt_shard_want want = {.in = tt_call_tensor(call, "tensor"),
				     .out = tt_call_tensor(call, "output_tensor"),
				     .memory = tt_call_memory(call, "memory_config")};
	const struct ttnn_memory_config *now = &want.in->spec.memory;
	bool has_dtype = tt_value_given(tt_call_arg(call, "dtype"));
	struct tt_tensor *out = NULL;

	want.dtype = tt_call_dtype(call, "dtype", want.in->spec.dtype);
	if (tt_tensor_device(want.in) && ttnn_memory_config_equal(now, want.memory) && !want.out) {
		tt_call_return(call, ttnn_tensor_ref(want.in));
		return TTNN_OK;
	}
	TT_REQUIRE(!tt_is_dram_blocks(now) && !tt_is_dram_blocks(want.memory),
		   "!is_dram_block_sharded(original_memory_config) && "
		   "!is_dram_block_sharded(memory_config)",
		   "We don't support DRAM block sharding");
	if (tt_tensor_device(want.in)) {
		if (tt_memory_config_is_sharded(want.memory))
			TT_TRY(to_sharded(&out, call, &want, has_dtype));
		if (!out && tt_tensor_is_sharded(want.in) && can_s2i(&want))
			TT_TRY(launch_s2i(&out, call, &want));
	}
	if (!out)
		TT_TRY(tt_copy_launch(&out, call, &want));
	tt_call_return(call, out);
	return TTNN_OK;
}

tt_status tt_call_to_memory(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			    const struct ttnn_memory_config *memory)
{
	return TT_CALL(out, call, "ttnn.to_memory_config", {"tensor", ttnn_v_tensor(in)},
		       {"memory_config", ttnn_v_memory(memory)});
}

tt_status tt_call_to_shards(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			    const struct ttnn_memory_config *memory, struct tt_tensor *given)
{
	struct ttnn_arg args[] = {{"input_tensor", ttnn_v_tensor(in)},
				  {"sharded_memory_config", ttnn_v_memory(memory)},
				  {"preallocated_output", ttnn_v_tensor(given)}};

	return tt_call_op(out, call, "ttnn.interleaved_to_sharded", args, given ? 3 : 2);
}

/* ---- the rows -------------------------------------------------------------------------------------------- */

tt_status tt_shard_grid(const ttnn_core_set **out, const struct tt_call *call,
			const struct ttnn_shard_spec *shard, enum ttnn_memory_layout layout,
			uint64_t slices)
{
	const struct ttnn_value *grid = tt_call_arg(call, "grid");
	const struct ttnn_tensor_spec *in = &tt_call_tensor(call, "input_tensor")->spec;
	uint64_t down, across;
	struct ttnn_core size;

	if (grid->kind == TTNN_VALUE_CORE_SET) {
		*out = grid->core_set;
		return TTNN_OK;
	}
	TT_NEED(tt_object_core(&size, grid), "grid is no CoreCoord");
	TT_NEED(shard->height && shard->width, "a shard of height or width 0");
	down = tt_div_up(in->rows / slices, shard->height);
	across = tt_div_up(in->cols, shard->width);
	if (layout == TTNN_HEIGHT_SHARDED)
		across = 1;
	else if (layout == TTNN_WIDTH_SHARDED)
		down = 1;
	else if (layout != TTNN_BLOCK_SHARDED)
		return tt_fail_cond(TTNN_INVALID, "false", "Unsupported sharding scheme");
	return tt_split_cores(out, size, (struct ttnn_core){0, 0}, down * across,
			      shard->orientation);
}

/* The memory config of either signature. */
static tt_status i2s_requested(struct ttnn_memory_config *out, const struct tt_call *call)
{
	const struct ttnn_memory_config *given = tt_call_memory(call, "sharded_memory_config");
	struct ttnn_shard_spec shard = {
		.orientation = (enum ttnn_orientation)tt_call_int(call, "shard_orientation", 0)};
	enum ttnn_memory_layout layout =
		(enum ttnn_memory_layout)tt_call_int(call, "shard_scheme", 0);
	int64_t shape[2];
	size_t count;

	if (given) {
		*out = *given;
		return TTNN_OK;
	}
	TT_TRY(tt_call_ints(shape, &count, 2, call, "shard_shape"));
	TT_NEED(count == 2, "shard_shape has %zu entries, not two", count);
	shard.height = (uint32_t)shape[0];
	shard.width = (uint32_t)shape[1];
	TT_TRY(tt_shard_grid(&shard.grid, call, &shard, layout, 1));
	return ttnn_memory_config_sharded(out, layout, TTNN_L1, &shard);
}

/* Either a memory config, or grid, shard shape, scheme and orientation. */
static tt_status expand_i2s(struct tt_call *call)
{
	struct ttnn_memory_config memory;
	struct tt_shard_want want = {.in = tt_call_tensor(call, "input_tensor"),
				     .out = tt_call_tensor(call, "preallocated_output"),
				     .memory = &memory};
	struct tt_tensor *out;

	TT_TRY(i2s_requested(&memory, call));
	want.dtype = tt_call_dtype(call, "output_dtype", want.in->spec.dtype);
	return tt_call_give(
		call, launch_i2s(&out, call, &want, tt_call_bool(call, "keep_l1_aligned", false)),
		&out);
}

/* DRAM unless told otherwise; a tensor without shards is returned as it is. */
static tt_status expand_s2i(struct tt_call *call)
{
	static const struct ttnn_memory_config dram;
	struct tt_shard_want want = {.in = tt_call_tensor(call, "input_tensor"),
				     .memory = tt_call_memory(call, "memory_config")};
	struct tt_tensor *out;

	if (!want.in->spec.memory.has_shard) {
		tt_call_return(call, ttnn_tensor_ref(want.in));
		return TTNN_OK;
	}
	want.memory = want.memory ? want.memory : &dram;
	want.dtype = tt_call_dtype(call, "output_dtype", want.in->spec.dtype);
	return tt_call_give(call, launch_s2i(&out, call, &want), &out);
}

/* The dtype stays. */
static tt_status expand_reshard(struct tt_call *call)
{
	struct tt_shard_want want = {.in = tt_call_tensor(call, "input_tensor"),
				     .out = tt_call_tensor(call, "output_tensor"),
				     .memory = tt_call_memory(call, "output_memory_config")};
	struct tt_tensor *out;

	want.dtype = want.in->spec.dtype;
	return tt_call_give(call, tt_reshard_launch(&out, call, &want), &out);
}

static const struct tt_op ops[] = {
	{TT_MOVE_ROW(
		"interleaved_to_sharded", expand_i2s, tt_golden_same,
		"Cuts a tensor into shards, one for each core.",
		"input_tensor: Tensor, grid: CoreCoord | CoreRangeSet, shard_shape: ints, shard_scheme: "
		"MemoryLayout, shard_orientation: Orientation, output_dtype: DataType? = None, *, "
		"keep_l1_aligned: bool? = False",
		"input_tensor: Tensor, sharded_memory_config: MemoryConfig, output_dtype: DataType? = "
		"None, *, keep_l1_aligned: bool? = False, preallocated_output: Tensor? = None")},
	{TT_MOVE_ROW(
		"reshard", expand_reshard, tt_golden_same,
		"Cuts a sharded tensor into other shards.",
		"input_tensor: Tensor, output_memory_config: MemoryConfig, output_tensor: Tensor? = "
		"None")},
	{TT_MOVE_ROW(
		"sharded_to_interleaved", expand_s2i, tt_golden_same,
		"Puts the shards of a tensor together again.",
		"input_tensor: Tensor, memory_config: MemoryConfig? = None, output_dtype: DataType? = "
		"None")},
	{TT_MOVE_ROW(
		"to_memory_config", expand_to_memory_config, tt_golden_same,
		"The same tensor in another place.",
		"tensor: Tensor, memory_config: MemoryConfig, dtype: DataType? = None, output_tensor: "
		"Tensor? = None")},
};

const struct tt_op_family tt_family_shard = {"movement", ops, TT_COUNT(ops)};
