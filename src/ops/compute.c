#include "ops/compute.h"

#include <string.h>

#include "device/generation.h"

static const struct tt_field fields[TT_COMPUTE_FIELDS] = {
	[TT_COMPUTE_FIDELITY] = {.name = "math_fidelity", .text = TT_TEXT_MEMBER},
	[TT_COMPUTE_APPROX] = {.name = "math_approx_mode"},
	[TT_COMPUTE_FP32] = {.name = "fp32_dest_acc_en"},
	[TT_COMPUTE_L1_ACC] = {.name = "packer_l1_acc"},
	[TT_COMPUTE_FULL_SYNC] = {.name = "dst_full_sync_en"},
	[TT_COMPUTE_THROTTLE] = {.name = "throttle_level",
				 .text = TT_TEXT_FIXED,
				 .fixed = "ThrottleLevel::NO_THROTTLE"},
};
static const struct tt_schema schema = {"ComputeKernelConfig", fields, TT_COMPUTE_FIELDS, true};

struct ttnn_value tt_compute_config(struct tt_call *call, const struct ttnn_value *given,
				    const struct tt_compute_usual *usual)
{
	struct ttnn_value *items = tt_arena_alloc(call->arena, TT_COMPUTE_FIELDS * sizeof(*items));
	enum tt_fidelity fidelity;

	if (!items)
		return ttnn_v_none();
	if (given && given->kind == TTNN_VALUE_OBJECT && given->count == TT_COMPUTE_FIELDS) {
		memcpy(items, given->items, TT_COMPUTE_FIELDS * sizeof(*items));
		return tt_value_object(&schema, items);
	}
	/* HiFi3 is a way around what the older chips do in float32. */
	fidelity = usual->fidelity == TT_HIFI3 && call->device && tt_is_blackhole(call->device)
			   ? TT_HIFI4
			   : usual->fidelity;
	items[TT_COMPUTE_FIDELITY] = tt_value_enum(&tt_enum_math_fidelity, fidelity);
	items[TT_COMPUTE_APPROX] = ttnn_v_bool(usual->approx);
	items[TT_COMPUTE_FP32] = ttnn_v_bool(usual->fp32);
	items[TT_COMPUTE_L1_ACC] = ttnn_v_bool(usual->l1_acc);
	items[TT_COMPUTE_FULL_SYNC] = ttnn_v_bool(false);
	items[TT_COMPUTE_THROTTLE] = ttnn_v_int(0);
	return tt_value_object(&schema, items);
}

bool tt_compute_has(const struct ttnn_value *config, enum tt_compute_field field)
{
	return config->kind == TTNN_VALUE_OBJECT && config->count == TT_COMPUTE_FIELDS &&
	       config->items[field].boolean;
}

uint32_t tt_compute_tiles(const struct ttnn_value *config)
{
	uint32_t tiles = tt_compute_has(config, TT_COMPUTE_FULL_SYNC) ? 16 : 8;

	return tt_compute_has(config, TT_COMPUTE_FP32) ? tiles / 2 : tiles;
}
