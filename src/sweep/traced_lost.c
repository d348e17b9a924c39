/* traced_lost.c: what stands for what the tracer of November 2025 lost. */
#include <string.h>

#include "ops/objects.h"
#include "ops/op_enums.h"
#include "sweep/traced.h"
#include "tensor/enums.h"
#include "tensor/fn.h"

/* ---- stand-ins --------------------------------------------------------------------------------------- */

static bool make_silu(struct ttnn_value *out, struct tt_arena *arena,
		      const struct tt_traced_call *call)
{
	struct ttnn_value *item = tt_arena_calloc(arena, 1, sizeof(*item));
	struct ttnn_arg type = {"op_type", tt_value_enum(&tt_enum_unary, TT_UNARY_SILU)};

	(void)call;
	if (!item || tt_object_make(item, arena, "UnaryWithParam", &type, 1) != TTNN_OK)
		return false;
	*out = ttnn_v_list(item, 1);
	return true;
}

static bool make_none(struct ttnn_value *out, struct tt_arena *arena,
		      const struct tt_traced_call *call)
{
	(void)arena;
	(void)call;
	*out = ttnn_v_none();
	return true;
}

/* Absent: the operation's own default. */
static bool make_absent(struct ttnn_value *out, struct tt_arena *arena,
			const struct tt_traced_call *call)
{
	(void)arena;
	(void)call;
	*out = (struct ttnn_value){0};
	return true;
}

/*
 * The traced network keeps its weights in block floats and its images in the sharding they come
 * with; with other weights, or shards of the operation's choice, some do not fit in L1.
 */
static bool make_conv(struct ttnn_value *out, struct tt_arena *arena,
		      const struct tt_traced_call *call)
{
	static const struct ttnn_memory_config unknown;
	const struct ttnn_value *first = &call->args[0].value;
	const struct tt_tensor *image = first->kind == TTNN_VALUE_TENSOR ? first->tensor : NULL;
	const struct ttnn_memory_config *memory = image ? &image->spec.memory : &unknown;
	struct ttnn_arg fields[] = {
		{"weights_dtype", ttnn_v_dtype(TTNN_BFLOAT8_B)},
		{"shard_layout", tt_value_enum(&tt_enum_memory_layout, memory->layout)},
	};

	return tt_object_make(out, arena, "Conv2dConfig", fields,
			      memory->layout == TTNN_INTERLEAVED ? 1 : 2) == TTNN_OK;
}

static const struct {
	const char *op, *arg, *text;
	bool (*make)(struct ttnn_value *out, struct tt_arena *arena,
		     const struct tt_traced_call *call);
} stand_ins[] = {
	{"ttnn.multiply", "input_tensor_a_activations",
	 "input_tensor_a_activations: [SILU], the gate of an MLP", make_silu},
	{"ttnn.linear", "activation", "activation: none", make_none},
	{"ttnn.matmul", "activation", "activation: none", make_none},
	{"ttnn.conv2d", "conv_config",
	 "conv_config: weights_dtype BFLOAT8_B, shard_layout that of the input if it has one",
	 make_conv},
	{"ttnn.conv2d", "slice_config", "slice_config: the default", make_absent},
	{"ttnn.experimental.all_gather_async", "multi_device_global_semaphore",
	 "multi_device_global_semaphore: the operation's own", make_absent},
	{"ttnn.experimental.all_gather_async", "topology", "topology: the default", make_absent},
	{"ttnn.experimental.all_gather_async", "subdevice_id", "subdevice_id: none", make_absent},
	{"ttnn.experimental.all_gather_async", "barrier_semaphore", "barrier_semaphore: none",
	 make_absent},
};

bool tt_traced_stand_in(struct ttnn_value *out, const char **text, struct tt_arena *arena,
			const struct tt_traced_lost *lost)
{
	for (size_t i = 0; i < sizeof(stand_ins) / sizeof(stand_ins[0]); i++)
		if (strcmp(stand_ins[i].op, lost->op) == 0 &&
		    strcmp(stand_ins[i].arg, lost->arg) == 0) {
			*text = stand_ins[i].text;
			return stand_ins[i].make(out, arena, lost->call);
		}
	return false;
}
