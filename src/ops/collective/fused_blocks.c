/* fused_blocks.c: see fused_minimal.h. */
#include <inttypes.h>
#include <string.h>

#include "device/device.h"
#include "ops/activation.h"
#include "ops/collective/fused_minimal.h"
#include "ops/compute.h"
#include "ops/usual.h"

const struct ttnn_value *tt_blocks_attrs(const struct tt_launch *launch)
{
	return tt_launch_attr(launch, "matmul_struct")->items;
}

bool tt_blocks_swiglu(const struct tt_launch *launch)
{
	return tt_blocks_attrs(launch)[TT_MINIMAL_SWIGLU].boolean;
}

/* The product alone, of these operands; its outputs are those from `first` on. */
struct tt_launch tt_blocks_part(const struct tt_launch *launch, struct tt_tensor **inputs,
				size_t first)
{
	struct tt_launch part = *launch;

	part.prog = &tt_prog_minimal_matmul;
	part.attrs = tt_blocks_attrs(launch);
	part.inputs = inputs;
	part.input_count = 5;
	part.output_count = launch->output_count - first;
	for (size_t i = 0; i < part.output_count; i++)
		part.outputs[i] = launch->outputs[first + i];
	inputs[2] = launch->inputs[TT_BLOCKS_BIAS];
	inputs[3] = launch->inputs[TT_BLOCKS_ADDED];
	inputs[4] = launch->inputs[TT_BLOCKS_GATE];
	return part;
}

/* The result is as wide as the weights, or half of it; chunks share that, or have widths of their own. */
uint32_t tt_blocks_width(const struct tt_launch *launch)
{
	uint32_t width = tt_shape_last(&launch->inputs[TT_BLOCKS_WEIGHT]->spec.shape, 1);

	return tt_blocks_swiglu(launch) ? width / 2 : width;
}

tt_status tt_blocks_chunk(uint32_t *out, const struct tt_launch *launch, size_t chunk)
{
	const struct ttnn_value *widths = tt_launch_attr(launch, "chunk_sizes");
	uint32_t chunks = (uint32_t)tt_blocks_attrs(launch)[TT_MINIMAL_CHUNKS].integer;
	int64_t width;

	*out = tt_blocks_width(launch) / chunks;
	if (widths->kind != TTNN_VALUE_LIST || widths->count == 0)
		return TTNN_OK;
	TT_NEED(chunk < widths->count && tt_value_integer(&width, &widths->items[chunk]) &&
			width > 0 && width <= UINT32_MAX,
		"chunk_sizes has no width of chunk %zu", chunk);
	*out = (uint32_t)width;
	return TTNN_OK;
}

/* The chunks of the product, in tiles, from output `first` on. */
tt_status tt_blocks_infer(struct tt_launch *launch, size_t first, struct ttnn_shape shape)
{
	const struct ttnn_value *attrs = tt_blocks_attrs(launch);
	const struct ttnn_tensor_spec *in = &launch->inputs[TT_BLOCKS_IN]->spec;
	const struct ttnn_value *memory = &attrs[TT_MINIMAL_MEMORY],
				*dtype = &attrs[TT_MINIMAL_DTYPE];

	launch->output_count = first + (size_t)attrs[TT_MINIMAL_CHUNKS].integer;
	for (size_t i = first; i < launch->output_count; i++) {
		TT_TRY(tt_blocks_chunk(&shape.dim[shape.rank - 1], launch, i - first));
		TT_TRY(tt_spec_simple(
			&launch->specs[i], &shape,
			tt_value_given(dtype) ? (enum ttnn_dtype)dtype->integer : in->dtype,
			TTNN_TILE,
			memory->kind == TTNN_VALUE_MEMORY ? memory->memory : &in->memory));
	}
	return TTNN_OK;
}

tt_status tt_blocks_find(struct tt_blocks *out, const struct tt_launch *launch)
{
	const struct ttnn_value *config = &tt_blocks_attrs(launch)[TT_MINIMAL_CONFIG];

	*out = (struct tt_blocks){.m = tt_minimal_block(config, TT_MINIMAL_M),
				  .k = tt_minimal_block(config, TT_MINIMAL_K),
				  .n = tt_minimal_block(config, TT_MINIMAL_N),
				  .cores = launch->device->grid};
	if (config->kind != TTNN_VALUE_OBJECT ||
	    config->items[TT_MINIMAL_GRID].kind != TTNN_VALUE_CORE)
		return TTNN_OK;
	return tt_core_set_grid(&out->cores, config->items[TT_MINIMAL_GRID].core.x,
				config->items[TT_MINIMAL_GRID].core.y);
}

uint64_t tt_blocks_tile(const struct tt_tensor *tensor)
{
	return tensor ? tt_tile_bytes_of(tensor->spec.dtype) : 0;
}

/* What follows the sums: a bias, what is added, the gate. */
tt_status tt_blocks_more(struct tt_plan *plan, const struct tt_launch *launch,
			 const struct tt_blocks *blocks)
{
	bool fp32 = tt_compute_has(&tt_blocks_attrs(launch)[TT_MINIMAL_COMPUTE], TT_COMPUTE_FP32);
	uint64_t area = blocks->m * blocks->n;
	struct tt_tensor *const *in = launch->inputs;

	return TT_PLAN(plan, blocks->cores,
		       TT_CB_ROW(3, "intermediate_cb", .pages = area,
				 .page = tt_tile_bytes_of(fp32 ? TTNN_FLOAT32 : TTNN_BFLOAT16)),
		       TT_CB_ROW(4, "in2_cb", .pages = in[TT_BLOCKS_BIAS] ? blocks->n : 0,
				 .page = tt_blocks_tile(in[TT_BLOCKS_BIAS])),
		       TT_CB_ROW(5, "ternary_a_cb", .pages = in[TT_BLOCKS_ADDED] ? area : 0,
				 .page = tt_blocks_tile(in[TT_BLOCKS_ADDED])),
		       TT_CB_ROW(6, "ternary_c_cb", .pages = in[TT_BLOCKS_GATE] ? blocks->n : 0,
				 .page = tt_blocks_tile(in[TT_BLOCKS_GATE])));
}

/* A ring is closed where one line of chips is the whole machine. */
tt_status tt_blocks_check_ring(const struct tt_launch *launch, int64_t axis)
{
	uint32_t size = tt_group_size(launch->device, axis);
	struct tt_group group;

	tt_group_find(&group, launch->device, axis, 0);
	TT_REQUIRE(size == launch->device->profile->rows * launch->device->profile->cols ||
			   size == 2,
		   "forwarding_direction.has_value()",
		   "Could not find any forwarding direction from src (M0, D0) to dst (M0, D%u)",
		   group.chips[size - 1]);
	return TTNN_OK;
}

bool tt_blocks_takes(const struct tt_tensor *tensor)
{
	return !tt_dtype_is_integer(tensor->spec.dtype);
}

/* What both say of the product, as an object in the arena. */
tt_status tt_blocks_bind(struct ttnn_value *out, struct tt_call *call, const char *memory,
			 const struct ttnn_value *scalar)
{
	static const struct tt_compute_usual usual = {
		.fidelity = TT_HIFI2, .fp32 = true, .l1_acc = true};
	struct ttnn_value *attrs =
		tt_arena_alloc(call->arena, TT_MINIMAL_ATTR_COUNT * sizeof(*attrs));
	int64_t chunks = tt_call_int(call, "chunks", 1);
	double factor;

	TT_NEED_MEMORY(attrs);
	memset(attrs, 0, TT_MINIMAL_ATTR_COUNT * sizeof(*attrs));
	TT_REQUIRE(chunks >= 1, "chunks >= 1",
		   "minimal_matmul requires chunks >= 1, got chunks=%" PRId64, chunks);
	TT_NEED(chunks <= TT_OUTPUTS_MAX - 2, "%s makes at most %d chunks, got chunks=%" PRId64,
		call->entry->op->name, TT_OUTPUTS_MAX - 2, chunks);
	attrs[TT_MINIMAL_CONFIG] = *tt_call_arg(call, "config");
	TT_TRY(tt_activation_of(&attrs[TT_MINIMAL_ACTIVATION], call->arena,
				tt_call_arg(call, "fused_activation")));
	attrs[TT_MINIMAL_MEMORY] = *tt_call_arg(call, memory);
	attrs[TT_MINIMAL_DTYPE] = *tt_call_arg(call, "dtype");
	if (tt_value_number(&factor, scalar))
		attrs[TT_MINIMAL_SCALAR] = ttnn_v_real(factor);
	attrs[TT_MINIMAL_COMPUTE] =
		tt_compute_config(call, tt_call_arg(call, "compute_kernel_config"), &usual);
	attrs[TT_MINIMAL_CHUNKS] = ttnn_v_int(chunks);
	attrs[TT_MINIMAL_DIM] = ttnn_v_int(-1);
	attrs[TT_MINIMAL_SWIGLU] = ttnn_v_bool(tt_call_bool(call, "fuse_swiglu", false));
	*out = tt_value_object(tt_prog_minimal_matmul.attrs, attrs);
	return TTNN_OK;
}
