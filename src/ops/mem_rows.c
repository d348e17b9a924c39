#include "ops/mem_rows.h"

#include "base/str.h"
#include "device/device.h"
#include "device/work_split.h"
#include "tensor/text.h"

static uint64_t page_of(const struct ttnn_tensor_spec *spec)
{
	return tt_dtype_tile_bytes(spec->dtype, &spec->tile);
}

static uint64_t page_in(const struct tt_launch *launch, size_t which)
{
	if (which >= launch->input_count || !launch->inputs[which])
		return 0;
	return page_of(&launch->inputs[which]->spec);
}

uint64_t tt_page_in0(const struct tt_launch *launch)
{
	return page_in(launch, 0);
}

uint64_t tt_page_in1(const struct tt_launch *launch)
{
	return page_in(launch, 1);
}

uint64_t tt_page_in2(const struct tt_launch *launch)
{
	return page_in(launch, 2);
}

uint64_t tt_page_out0(const struct tt_launch *launch)
{
	return page_of(&launch->outputs[0]->spec);
}

uint64_t tt_page_bf16(const struct tt_launch *launch)
{
	(void)launch;
	return tt_tile_bytes_of(TTNN_BFLOAT16);
}

uint64_t tt_page_f32(const struct tt_launch *launch)
{
	(void)launch;
	return tt_tile_bytes_of(TTNN_FLOAT32);
}

uint64_t tt_tile_bytes_of(enum ttnn_dtype dtype)
{
	return tt_dtype_tile_bytes(dtype, &TT_TILE_DEFAULT);
}

uint64_t tt_tensor_tile_bytes(const struct tt_tensor *tensor)
{
	return tensor ? tt_tile_bytes_of(tensor->spec.dtype) : 0;
}

uint64_t tt_tiles_across(const struct tt_tensor *tensor)
{
	return tt_shape_last(&tensor->spec.padded, 1) / TT_TILE;
}

tt_status tt_cores_by_tile(const ttnn_core_set **out, const struct tt_launch *launch)
{
	struct tt_work_split split;

	TT_TRY(tt_split_work(&split, launch->device->info.compute_grid,
			     launch->inputs[0]->spec.pages, TTNN_ORIENT_COL_MAJOR));
	*out = split.all;
	return TTNN_OK;
}

uint64_t tt_shard_tiles(const struct ttnn_tensor_spec *spec)
{
	if (!spec->memory.has_shard)
		return 0;
	return (uint64_t)spec->memory.shard.height * spec->memory.shard.width /
	       ((uint64_t)spec->tile.height * spec->tile.width);
}

bool tt_shards_even(const struct ttnn_tensor_spec *spec)
{
	const struct ttnn_shard_spec *shard = &spec->memory.shard;

	return spec->memory.has_shard && shard->height && shard->width &&
	       spec->rows % shard->height == 0 && spec->cols % shard->width == 0;
}

tt_status tt_spec_simple(struct ttnn_tensor_spec *out, const struct ttnn_shape *shape,
			 enum ttnn_dtype dtype, enum ttnn_layout layout,
			 const struct ttnn_memory_config *memory)
{
	struct ttnn_spec_args args = {
		.shape = *shape, .dtype = dtype, .layout = layout, .memory = *memory};

	return ttnn_tensor_spec_make(out, &args);
}

/* Takes the texts over. */
static tt_status fail_texts(tt_status status, const char *condition, const char *format,
			    struct tt_str texts[2])
{
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	tt_fail_cond(status, condition, format, tt_str_text(&texts[0]), tt_str_text(&texts[1]));
#pragma GCC diagnostic pop
	tt_str_deinit(&texts[0]);
	tt_str_deinit(&texts[1]);
	return status;
}

tt_status tt_fail_shapes(tt_status status, const char *condition, const char *format,
			 const struct ttnn_shape *first, const struct ttnn_shape *second)
{
	struct tt_str texts[2] = {{0}};

	for (int i = 0; i < 2; i++) {
		tt_str_adds(&texts[i], "Shape(");
		tt_shape_list(&texts[i], i ? second : first);
		tt_str_addc(&texts[i], ')');
	}
	return fail_texts(status, condition, format, texts);
}

tt_status tt_fail_specs(const char *condition, const char *format,
			const struct ttnn_tensor_spec *first, const struct ttnn_tensor_spec *second)
{
	struct tt_str texts[2] = {{0}};

	tt_text_tensor_spec(&texts[0], first, TTNN_DIALECT_TT_METAL);
	tt_text_tensor_spec(&texts[1], second, TTNN_DIALECT_TT_METAL);
	return fail_texts(TTNN_INVALID, condition, format, texts);
}
