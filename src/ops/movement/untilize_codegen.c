/*
 * untilize_codegen.c: the usual way from tiles to rows: bfloat16 and bfloat8_b, interleaved on
 * both sides.
 *
 * Models UntilizeCodegenDeviceOperation of ttnn 0.81 (data_movement/untilize) with its one
 * factory: memory and cores. How deep its buffers are depends on the L1 that is free when the
 * program is looked up, so that is part of its key. Not modelled: the code that upstream
 * generates.
 */
#include "ops/movement/untilize_codegen.h"

#include "ops/movement/movement.h"
#include "ops/movement/untilize.h"

#define ATTRS(X) X(MEMORY, "output_mem_config")
TT_ATTRS(schema, "UntilizeCodegenOperationAttributes", ATTRS);

/* Two rows of tiles of more bytes are not taken on. */
#define WIDE_LIMIT 800000
#define TILE_BYTES 2048

static bool is_aligned(const struct ttnn_tensor_spec *in)
{
	return tt_shape_last(&in->shape, 2) % TT_TILE == 0 &&
	       tt_shape_last(&in->shape, 1) % TT_TILE == 0;
}

/* How the tiles are dealt out: units of `pages` tiles. */
struct deal {
	uint64_t pages, units;
};

/*
 * Units of tiles for the cores: rows of tiles, cut into equal parts where there are more cores
 * than rows.
 */
static struct deal deal_of(const struct ttnn_tensor_spec *in, uint64_t cores)
{
	uint64_t across = in->cols / TT_TILE, rows = in->rows / TT_TILE, best = 1;

	if (!is_aligned(in))
		return (struct deal){across, rows};
	if (rows == 1 && across > 1)
		return (struct deal){tt_div_up(across, across < cores ? across : cores), across};
	for (uint64_t cut = 2; rows < cores && cut <= across && cut <= cores / rows; cut++)
		if (across % cut == 0)
			best = cut;
	return (struct deal){across / best, rows * best};
}

/* Depths of both buffers in units; both 0 when even one unit each does not fit. */
struct depth {
	uint64_t in, out;
};

/* Double buffers on both sides if they fit, else of the input, else none. */
static struct depth depth_of(const struct ttnn_tensor_spec *in, const struct tt_device *device,
			     uint64_t room)
{
	struct deal deal = deal_of(in, ttnn_core_set_cores(device->grid));
	uint64_t unit = deal.pages * TILE_BYTES;

	if (4 * unit <= room)
		return (struct depth){2, 2};
	if (3 * unit <= room)
		return (struct depth){2, 1};
	return (struct depth){2 * unit <= room, 2 * unit <= room};
}

/* Interleaved, 32 × 32, a row within the generated kernel's limit. */
static bool is_supported(const struct ttnn_tensor_spec *in, const struct tt_device *device,
			 const struct ttnn_memory_config *memory)
{
	uint64_t across = in->cols / TT_TILE, rows = in->rows / TT_TILE;

	if (in->layout != TTNN_TILE || in->tile.height != 32 || in->tile.width != 32 ||
	    in->tile.transpose || tt_memory_config_is_sharded(&in->memory) ||
	    tt_memory_config_is_sharded(memory) ||
	    (in->dtype != TTNN_BFLOAT16 && in->dtype != TTNN_BFLOAT8_B))
		return false;
	if (!is_aligned(in))
		return in->dtype == TTNN_BFLOAT16 &&
		       2 * tt_div_up(tt_shape_last(&in->shape, 1), TT_TILE) * TILE_BYTES <=
			       WIDE_LIMIT;
	if (rows > 1)
		return 2 * across * TILE_BYTES <= WIDE_LIMIT;
	return across <= 1 ||
	       2 * deal_of(in, ttnn_core_set_cores(device->grid)).pages * TILE_BYTES <=
		       tt_l1_room(device);
}

/* Whole tiles keep the padded shape; others give the logical one. */
static tt_status output_spec(struct ttnn_tensor_spec *out, const struct ttnn_tensor_spec *in,
			     const struct ttnn_memory_config *memory)
{
	struct ttnn_spec_args args = {.shape = in->shape,
				      .dtype = tt_untilized_dtype(in->dtype),
				      .layout = TTNN_ROW_MAJOR,
				      .memory = *memory};

	return is_aligned(in) ? tt_tensor_spec_padded(out, &args, &in->padded)
			      : ttnn_tensor_spec_make(out, &args);
}

/* Asked before the output exists, so its share of L1 counts. */
bool tt_untilize_codegen_can(const struct tt_tensor *in, const struct ttnn_memory_config *memory)
{
	struct tt_device *device = tt_tensor_device(in);
	struct ttnn_tensor_spec spec;
	struct ttnn_spec_args args;
	uint64_t room, pending;

	if (!is_supported(&in->spec, device, memory) ||
	    output_spec(&spec, &in->spec, memory) != TTNN_OK)
		return false;
	args = (struct ttnn_spec_args){.shape = spec.padded,
				       .dtype = spec.dtype,
				       .layout = TTNN_ROW_MAJOR,
				       .memory = *memory};
	room = tt_l1_free(device);
	pending = tt_l1_pending(device, &args);
	return depth_of(&in->spec, device, room > pending ? room - pending : 0).in;
}

static tt_status untilize_codegen_infer(struct tt_launch *launch)
{
	return output_spec(&launch->specs[0], &launch->inputs[0]->spec,
			   launch->attrs[MEMORY].memory);
}

static void untilize_codegen_key(struct tt_key *key, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct depth depth = depth_of(in, launch->device, tt_l1_free(launch->device));

	tt_key_values(key, launch->attrs, schema_count);
	tt_key_spec(key, in);
	tt_key_number(key, depth.in << 8 | depth.out);
}

/* Asked again when the program is built: the depth follows the L1 that is free then. */
static tt_status untilize_codegen_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	enum ttnn_dtype dtype = is_aligned(in) ? launch->outputs[0]->spec.dtype : in->dtype;
	uint64_t dram = tt_memory_alignment(launch->device, TTNN_DRAM);
	struct deal deal = deal_of(in, ttnn_core_set_cores(launch->device->grid));
	struct depth depth = depth_of(in, launch->device, tt_l1_free(launch->device));
	struct tt_work_split split;

	TT_NEED(depth.in, "untilize: no plan of circular buffers fits into L1");
	TT_TRY(tt_split_work(&split, tt_grid_size(launch->device->grid), deal.units,
			     TTNN_ORIENT_ROW_MAJOR));
	return TT_PLAN(plan, split.all,
		       TT_CB_ROW(0, "cb_in", .pages = depth.in * deal.pages,
				 .page = tt_align_to(tt_tile_bytes_of(in->dtype), dram)),
		       TT_CB_ROW(16, "cb_out", .pages = depth.out * deal.pages,
				 .page = tt_align_to(tt_tile_bytes_of(dtype), dram)));
}

static const struct tt_prog prog = {
	.device_op = "UntilizeCodegenDeviceOperation",
	.prim = "ttnn::prim::untilize_codegen",
	.attrs = &schema,
	.infer = untilize_codegen_infer,
	TT_FACTORY("ttnn::prim::UntilizeCodegenProgramFactory", untilize_codegen_memory),
	.key = untilize_codegen_key,
	TT_KERNEL(tt_kernel_copy),
	.cost = tt_cost_untilize,
};

tt_status tt_untilize_codegen_launch(struct tt_tensor **out, struct tt_call *call,
				     struct tt_tensor *in, const struct ttnn_memory_config *memory)
{
	struct ttnn_value attrs[] = {ttnn_v_memory(memory)};

	return TT_LAUNCH(out, call, &prog, TT_INPUTS(in), .attrs = attrs);
}
