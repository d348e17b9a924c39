/* conv_config.c: the objects by which callers configure convolutions. */
#include "ops/conv/conv.h"
#include "ops/movement/movement.h"

enum {
	WEIGHTS_DTYPE,
	ACTIVATION,
	DEALLOCATE,
	REALLOCATE,
	IN_DRAM,
	BLOCK_HEIGHT,
	WIDTH_DIV,
	RESHARD,
	OVERRIDE,
	LAYOUT,
	CORES,
	TRANSPOSE,
	OUT_LAYOUT,
	DOUBLE_ACT,
	DOUBLE_WEIGHTS,
	FULL_INNER,
	FOLD,
	REUSE,
	SPLIT,
	OVERRIDE_OUT,
	PADDING_MODE,
	FIELDS
};

static const struct tt_field conv_fields[FIELDS] = {
	[WEIGHTS_DTYPE] = {.name = "weights_dtype"},
	[ACTIVATION] = {.name = "activation"},
	[DEALLOCATE] = {.name = "deallocate_activation"},
	[REALLOCATE] = {.name = "reallocate_halo_output"},
	[IN_DRAM] = {.name = "config_tensors_in_dram"},
	[BLOCK_HEIGHT] = {.name = "act_block_h_override"},
	[WIDTH_DIV] = {.name = "act_block_w_div"},
	[RESHARD] = {.name = "reshard_if_not_optimal"},
	[OVERRIDE] = {.name = "override_sharding_config"},
	[LAYOUT] = {.name = "shard_layout"},
	[CORES] = {.name = "core_grid"},
	[TRANSPOSE] = {.name = "transpose_shards"},
	[OUT_LAYOUT] = {.name = "output_layout"},
	[DOUBLE_ACT] = {.name = "enable_act_double_buffer"},
	[DOUBLE_WEIGHTS] = {.name = "enable_weights_double_buffer"},
	[FULL_INNER] = {.name = "full_inner_dim"},
	[FOLD] = {.name = "enable_kernel_stride_folding"},
	[REUSE] = {.name = "enable_activation_reuse"},
	[SPLIT] = {.name = "force_split_reader"},
	[OVERRIDE_OUT] = {.name = "override_output_sharding_config"},
	[PADDING_MODE] = {.name = "padding_mode"},
};
const struct tt_schema tt_schema_conv = {"Conv2dConfig", conv_fields, FIELDS, true};
static const struct tt_enum_row slice_rows[] = {
	{TT_SLICE_L1, "L1_FULL"},
	{TT_SLICE_HEIGHT, "DRAM_HEIGHT"},
	{TT_SLICE_WIDTH, "DRAM_WIDTH"},
};
const struct tt_enum tt_enum_slice = {"SliceType", slice_rows, TT_COUNT(slice_rows)};

static const struct tt_field slice_fields[] = {{.name = "slice_type"}, {.name = "num_slices"}};
const struct tt_schema tt_schema_slice = {"Op2DSliceConfig", slice_fields, 2, true};

static enum tt_choice choice(const struct ttnn_value *value)
{
	if (value->kind != TTNN_VALUE_BOOL)
		return TT_CHOICE_OPEN;
	return value->boolean ? TT_CHOICE_YES : TT_CHOICE_NO;
}

void tt_conv_config_read(struct tt_conv_config *out, const struct ttnn_value *value)
{
	const struct ttnn_value *v = value->items;

	*out = (struct tt_conv_config){.move_halo = true,
				       .width_div = 1,
				       .out_layout = TTNN_TILE,
				       .activation = ttnn_v_none()};
	if (value->kind != TTNN_VALUE_OBJECT || value->schema != &tt_schema_conv)
		return;
	out->has_weights_dtype = tt_value_given(&v[WEIGHTS_DTYPE]);
	out->weights_dtype = (enum ttnn_dtype)v[WEIGHTS_DTYPE].integer;
	out->activation = v[ACTIVATION];
	out->free_input = v[DEALLOCATE].boolean;
	out->move_halo = v[REALLOCATE].boolean;
	out->tables_in_dram = v[IN_DRAM].boolean;
	out->block_height = (uint32_t)v[BLOCK_HEIGHT].integer;
	out->width_div = (uint32_t)v[WIDTH_DIV].integer;
	out->reshard = v[RESHARD].boolean;
	out->override_cores = v[OVERRIDE].boolean;
	out->has_layout = tt_value_given(&v[LAYOUT]);
	out->layout = (enum ttnn_memory_layout)v[LAYOUT].integer;
	out->cores = tt_value_given(&v[CORES]) ? v[CORES].core_set : NULL;
	out->transpose_shards = v[TRANSPOSE].boolean;
	out->out_layout = (enum ttnn_layout)v[OUT_LAYOUT].integer;
	out->double_act = v[DOUBLE_ACT].boolean;
	out->double_weights = v[DOUBLE_WEIGHTS].boolean;
	out->full_inner = v[FULL_INNER].boolean;
	out->fold = choice(&v[FOLD]);
	out->reuse = v[REUSE].boolean;
	out->split_reader = choice(&v[SPLIT]);
	out->override_output = v[OVERRIDE_OUT].boolean;
	out->replicate = v[PADDING_MODE].integer == 1;
}

void tt_conv_slices_read(struct tt_conv_slices *out, const struct ttnn_value *value)
{
	*out = (struct tt_conv_slices){0};
	if (value->kind != TTNN_VALUE_OBJECT || value->schema != &tt_schema_slice)
		return;
	out->given = true;
	out->kind = (enum tt_slice_kind)value->items[0].integer;
	out->count = (uint32_t)value->items[1].integer;
}
