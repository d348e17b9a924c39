/* creation.c: tensors from nothing. */
#include "device/device.h"
#include "device/devtensor.h"
#include "ops/op.h"
#include "ops/rows.h"
#include "tensor/memory.h"

static tt_status shape_arg(struct ttnn_shape *out, const struct tt_call *call, const char *name)
{
	int64_t dims[TTNN_MAX_RANK];
	size_t rank;

	TT_TRY(tt_call_ints(dims, &rank, TTNN_MAX_RANK, call, name));
	return ttnn_shape_make(out, dims, rank);
}

static tt_status expand_empty(struct tt_call *call)
{
	static const struct ttnn_memory_config dram;
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");
	struct ttnn_spec_args args = {.memory = memory ? *memory : dram};
	struct ttnn_tensor_spec spec;
	struct tt_tensor *out;

	TT_TRY(shape_arg(&args.shape, call, "shape"));
	args.dtype = tt_call_dtype(call, "dtype", TTNN_BFLOAT16);
	args.layout = (enum ttnn_layout)tt_call_arg(call, "layout")->integer;
	TT_TRY(ttnn_tensor_spec_make(&spec, &args));
	TT_TRY(tt_call_create(&out, call, call->device, &spec));
	tt_call_return(call, out);
	return TTNN_OK;
}

static const struct tt_op ops[] = {
	{.name = "ttnn.empty",
	 .family = "creation",
	 .doc = "A device tensor whose values are not set.",
	 .sigs = {"shape: ints, dtype: DataType = BFLOAT16, layout: Layout = ROW_MAJOR, device: "
		  "Device, memory_config: MemoryConfig? = None"},
	 .expand = expand_empty},
};

const struct tt_op_family tt_family_creation = {"creation", ops, sizeof(ops) / sizeof(ops[0])};
