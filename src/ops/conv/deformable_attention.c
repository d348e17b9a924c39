/*
 * deformable_attention.c: weighted sums of what images show in the places of a grid, several for each query. Models
 * MSDAOperation (multi-scale deformable attention of one level) of ttnn 0.81: refusals, memory, cores. Not modelled:
 * weights that are rounded before they are used.
 */
#include "backend/backend.h"
#include "golden/golden_window.h"
#include "ops/movement/movement.h"

#define ATTRS(X)                                                                                   \
	X(MEMORY, "output_memory_config")                                                          \
	X(CORNERS, "align_corners")
TT_ATTRS(schema, "operation_attributes_t", ATTRS);

/* Images [N, height, width, D]; places [N, Q × P, 1, 2]; weights [N, Q, P]. */
enum { VALUE, GRID, WEIGHTS, INPUTS };

static tt_status deformable_infer(struct tt_launch *launch)
{
	const struct ttnn_shape *value = &launch->inputs[VALUE]->spec.shape;
	const struct ttnn_shape *weights = &launch->inputs[WEIGHTS]->spec.shape;
	struct ttnn_shape shape = {.rank = 3};

	TT_NEED(value->rank > 3, "ShapeBase[] index out of range. 3 not in [-4, %u)", value->rank);
	TT_NEED(weights->rank > 1, "ShapeBase[] index out of range. 1 not in [-4, %u)",
		weights->rank);
	shape.dim[0] = value->dim[0];
	shape.dim[1] = weights->dim[1];
	shape.dim[2] = value->dim[3];
	return tt_spec_simple(&launch->specs[0], &shape, TTNN_BFLOAT16, TTNN_ROW_MAJOR,
			      launch->attrs[MEMORY].memory);
}

/* What each of them must be alike, one thing after the other. */
static tt_status check_alike(const struct tt_launch *launch)
{
	static const char *const texts[][INPUTS][2] = {
		{{"value.dtype() == DataType::BFLOAT16", "value must be BFLOAT16"},
		 {"grid.dtype() == DataType::BFLOAT16", "grid must be BFLOAT16"},
		 {"attn.dtype() == DataType::BFLOAT16", "attn must be BFLOAT16"}},
		{{"value.layout() == Layout::ROW_MAJOR", "value must be ROW_MAJOR"},
		 {"grid.layout() == Layout::ROW_MAJOR", "grid must be ROW_MAJOR"},
		 {"attn.layout() == Layout::ROW_MAJOR", "attn must be ROW_MAJOR"}},
		{{"value.memory_config().memory_layout() == TensorMemoryLayout::INTERLEAVED",
		  "value memory_layout must be INTERLEAVED"},
		 {"grid.memory_config().memory_layout() == TensorMemoryLayout::INTERLEAVED",
		  "grid memory_layout must be INTERLEAVED"},
		 {"attn.memory_config().memory_layout() == TensorMemoryLayout::INTERLEAVED",
		  "attn memory_layout must be INTERLEAVED"}},
	};

	for (size_t what = 0; what < TT_COUNT(texts); what++) {
		for (size_t i = 0; i < INPUTS; i++) {
			const struct ttnn_tensor_spec *spec = &launch->inputs[i]->spec;
			const bool holds[] = {spec->dtype == TTNN_BFLOAT16,
					      spec->layout == TTNN_ROW_MAJOR,
					      spec->memory.layout == TTNN_INTERLEAVED};

			TT_REQUIRE(holds[what], texts[what][i][0], "%s", texts[what][i][1]);
		}
	}
	return TTNN_OK;
}

static tt_status check_rank(const struct ttnn_shape *shape, uint32_t rank, const char *condition,
			    const char *format)
{
	return shape->rank == rank ? TTNN_OK
				   : tt_fail_shapes(TTNN_INVALID, condition, format, shape, shape);
}

static tt_status check_shapes(const struct ttnn_shape *value, const struct ttnn_shape *grid,
			      const struct ttnn_shape *weights)
{
	TT_TRY(check_rank(value, 4, "vs.rank() == 4",
			  "value rank must be 4 (N, h_in, w_in, D), got %s"));
	TT_TRY(check_rank(grid, 4, "gs.rank() == 4", "grid rank must be 4 (N, Q*P, 1, 2), got %s"));
	TT_TRY(check_rank(weights, 3, "as.rank() == 3", "attn rank must be 3 (N, Q, P), got %s"));
	TT_REQUIRE(grid->dim[3] == 2, "gs[-1] == 2", "grid last dim must be 2 (x, y)");
	TT_REQUIRE(grid->dim[2] == 1, "gs[-2] == 1",
		   "grid 3rd dim must be 1 (single sample per row)");
	TT_REQUIRE(value->dim[0] == grid->dim[0] && value->dim[0] == weights->dim[0],
		   "vs[0] == gs[0] && vs[0] == as[0]", "N (batch*head) dim mismatch");
	TT_REQUIRE(value->dim[0], "vs[0] > 0", "N must be > 0");
	TT_REQUIRE(value->dim[1] && value->dim[2], "vs[1] > 0 && vs[2] > 0",
		   "h_in and w_in must be > 0");
	TT_REQUIRE(weights->dim[1], "as[1] > 0", "Q must be > 0");
	TT_REQUIRE(weights->dim[2], "as[2] > 0", "P must be > 0");
	TT_REQUIRE(value->dim[3] && value->dim[3] % TT_FACE == 0, "vs[-1] > 0 && vs[-1] % 16 == 0",
		   "value's last dim (D) must be a positive multiple of 16, got %u", value->dim[3]);
	TT_REQUIRE(grid->dim[1] == weights->dim[1] * weights->dim[2], "qp == q * p",
		   "grid dim 1 (= Q*P = %u) must equal attn Q*P (= %u * %u = %u)", grid->dim[1],
		   weights->dim[1], weights->dim[2], weights->dim[1] * weights->dim[2]);
	return TTNN_OK;
}

static tt_status deformable_validate(struct tt_launch *launch)
{
	TT_TRY(check_alike(launch));
	TT_REQUIRE(launch->attrs[MEMORY].memory->layout == TTNN_INTERLEAVED,
		   "attrs.output_memory_config.memory_layout() == TensorMemoryLayout::INTERLEAVED",
		   "output_memory_config memory_layout must be INTERLEAVED");
	return check_shapes(&launch->inputs[VALUE]->spec.shape, &launch->inputs[GRID]->spec.shape,
			    &launch->inputs[WEIGHTS]->spec.shape);
}

/* A row as a page of its buffer. */
static uint64_t stick(const struct tt_tensor *tensor)
{
	return tt_align_to(tt_shape_last(&tensor->spec.shape, 1) * tt_element_bytes(tensor),
			   tt_page_alignment(tensor));
}

/* A tile of up to 32 queries at a time; two of what goes from kernel to kernel. */
static tt_status deformable_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_shape *weights = &launch->inputs[WEIGHTS]->spec.shape;
	struct tt_tensor *out = launch->outputs[0];
	uint64_t wide = tt_div_up(tt_shape_last(&out->spec.shape, 1), TT_TILE);
	uint64_t tile = tt_tile_bytes_of(TTNN_BFLOAT16);
	struct tt_work_split split;

	TT_TRY(tt_split_work(&split, launch->device->info.compute_grid,
			     weights->dim[0] * tt_div_up(weights->dim[1], TT_TILE),
			     TTNN_ORIENT_COL_MAJOR));
	return TT_PLAN(
		plan, split.all,
		TT_CB_ROW(0, "value_scratch", .pages = TT_TILE,
			  .page = stick(launch->inputs[VALUE])),
		TT_CB_ROW(1, "grid", .pages = (uint64_t)TT_TILE * weights->dim[2],
			  .page = stick(launch->inputs[GRID])),
		TT_CB_ROW(2, "attn", .pages = TT_TILE, .page = stick(launch->inputs[WEIGHTS])),
		TT_CB_ROW(3, "input_tile", .pages = 2 * wide, .page = tile),
		TT_CB_ROW(4, "scalar_tile", .pages = 2, .page = tile),
		TT_CB_ROW(16, "output_tile", .pages = 2 * wide, .page = tile),
		TT_CB_ROW(5, "output_scratch", .pages = 1, .page = stick(out)));
}

static tt_status deformable_kernel(struct tt_launch *launch)
{
	struct tt_tensor *weights = launch->inputs[WEIGHTS];

	return tt_backend_get()->sample(
		&(struct tt_sample_job){.out = launch->outputs[0],
					.in = launch->inputs[VALUE],
					.grid = launch->inputs[GRID],
					.weights = weights,
					.together = weights->spec.shape.dim[2],
					.corners = launch->attrs[CORNERS].boolean});
}

static void deformable_cost(struct tt_cost *cost, const struct tt_launch *launch)
{
	tt_cost_tensors(cost, launch);
	cost->inputs = INPUTS;
}

static const struct tt_prog program = {
	.device_op = "MSDAOperation",
	.prim = "ttnn::prim::multi_scale_deformable_attn",
	.attrs = &schema,
	.infer = deformable_infer,
	.validate = deformable_validate,
	TT_FACTORY("ttnn::device_operation::MeshDeviceOperationAdapter<ttnn::operations::"
		   "experimental::multi_scale_deformable_attn::MSDAOperation>::"
		   "DirectDescriptorFactory",
		   deformable_memory),
	TT_KERNEL(deformable_kernel),
	.cost = deformable_cost,
};

static tt_status deformable_expand(struct tt_call *call)
{
	struct tt_tensor *value = tt_call_tensor(call, "value");

	return TT_LAUNCH_RETURN(
		call, &program,
		TT_INPUTS(value, tt_call_tensor(call, "grid"), tt_call_tensor(call, "attn")),
		TT_BIND(call, schema, [MEMORY] = tt_value_memory_or_like(call, value)));
}

static const struct tt_op ops[] = {
	{.name = "ttnn.experimental.multi_scale_deformable_attn",
	 .doc = "Weighted sums of what images show in the places of a grid, several for each query.",
	 .sigs = {"value: Tensor, grid: Tensor, attn: Tensor, *, memory_config: MemoryConfig? = None, "
		  "align_corners: bool = False"},
	 .expand = deformable_expand,
	 .golden = tt_golden_deformable,
	 TT_PROGRAMS(&program)},
};

const struct tt_op_family tt_family_deformable_attention = {"deformable_attention", ops,
							    TT_COUNT(ops)};
