/*
 * fp8_blocks.c: numbers of tokens as FP8 with a scale for each block of 128, back, and packed beside each other for a cache.
 *
 * Models PerTokenCastToFp8DeviceOperation, PerTokenCastBackDeviceOperation and PackScaledFp8KvCacheDeviceOperation of ttnn 0.81
 * (deepseek_prefill) with their factories: specs, refusals, memory, cores. Rows that belong to no expert are zeros where upstream leaves them
 * undefined.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "device/generation.h"
#include "golden/golden_fp8.h"
#include "ops/movement/movement.h"
#include "ops/usual.h"
#include "ops/values.h"

#define TO_ATTRS(X)                                                                                \
	X(TO_MEMORY, "output_memory_config")                                                       \
	X(TO_POWER, "round_scale_to_power_of_two")
TT_ATTRS(to_schema, "PerTokenCastToFp8Params", TO_ATTRS);
#define BACK_ATTRS(X)                                                                              \
	X(DTYPE, "output_dtype")                                                                   \
	X(MEMORY, "output_memory_config")                                                          \
	X(NARROW, "narrow_scales_to_bf16")                                                         \
	X(AWARE, "token_count_aware")                                                              \
	X(EXPERTS, "experts_per_chip")                                                             \
	X(TAILS, "scales_from_metadata")
TT_ATTRS(back_schema, "PerTokenCastBackParams", BACK_ATTRS);
#define PACK_ATTRS(X) X(PACK_MEMORY, "output_memory_config")
TT_ATTRS(pack_schema, "PackScaledFp8KvCacheParams", PACK_ATTRS);
enum { CODES, SCALES, REGIONS, COUNTS, TABLE };
enum { LATENT, LATENT_SCALES, ROPE, PARTS };
#define BLOCK 128 /* numbers that have a scale together */
#define LARGEST 448.0
#define LEAST 1e-4    /* that the largest of a block is taken for */
#define BATCH_TILES 8 /* two blocks of a row of tiles */
#define ARGUMENTS 16  /* bytes that the cores of a row tell each other */
#define LATENT_WIDTH 512
#define SCALES_WIDTH 4
#define ROPE_WIDTH 64
#define ROW_BYTES (LATENT_WIDTH + 4 * SCALES_WIDTH + 2 * ROPE_WIDTH)

/* ---- what they have in common ------------------------------------------------------------------------------------ */

static bool in_dram(const struct ttnn_memory_config *memory)
{
	return memory->buffer == TTNN_DRAM && !tt_memory_config_is_sharded(memory);
}

static tt_status check_place(const struct tt_tensor *tensor, const char *name)
{
	TT_REQUIRE(in_dram(&tensor->spec.memory), "is_dram_interleaved(tensor.memory_config())",
		   "%s must be DRAM interleaved", name);
	return TTNN_OK;
}

static tt_status check_rows(const struct tt_tensor *tensor, const char *name)
{
	TT_REQUIRE(tensor->spec.layout == TTNN_ROW_MAJOR,
		   "tensor.layout() == tt::tt_metal::Layout::ROW_MAJOR", "%s must be ROW_MAJOR",
		   name);
	return check_place(tensor, name);
}

static tt_status check_output(const struct ttnn_memory_config *memory, const char *text)
{
	TT_REQUIRE(in_dram(memory), "is_dram_interleaved(attrs.output_memory_config)",
		   "%s must be DRAM interleaved", text);
	return TTNN_OK;
}

static uint64_t row_count(const struct tt_tensor *tensor)
{
	uint32_t width = tt_shape_last(&tensor->spec.shape, 1);

	return width ? tt_shape_count(&tensor->spec.shape) / width : 0;
}

/* Cores by units of work, column after column. */
static tt_status cores_of(const ttnn_core_set **out, const struct tt_launch *launch, uint64_t units)
{
	struct tt_work_split split;

	TT_TRY(tt_split_work(&split, tt_grid_size(launch->grid), units, TTNN_ORIENT_COL_MAJOR));
	*out = split.all;
	return TTNN_OK;
}

/* ---- to FP8 ------------------------------------------------------------------------------------------------------ */

static tt_status to_infer(struct tt_launch *launch)
{
	const struct ttnn_memory_config *memory = launch->attrs[TO_MEMORY].memory;
	struct ttnn_shape shape = launch->inputs[0]->spec.shape;

	TT_NEED(shape.rank, "per_token_cast_to_fp8: input rank must be >= 2, got 0");
	launch->output_count = 2;
	TT_TRY(tt_spec_simple(&launch->specs[0], &shape, TTNN_FP8_E4M3, TTNN_ROW_MAJOR, memory));
	shape.dim[shape.rank - 1] /= BLOCK;
	return tt_spec_simple(&launch->specs[1], &shape, TTNN_FLOAT32, TTNN_ROW_MAJOR, memory);
}

static tt_status to_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	uint32_t width = tt_shape_last(&in->shape, 1);

	TT_TRY(check_place(launch->inputs[0], "per_token_cast_to_fp8: input_tensor"));
	TT_TRY(check_output(launch->attrs[TO_MEMORY].memory,
			    "per_token_cast_to_fp8: output memory config"));
	TT_REQUIRE(in->dtype == TTNN_BFLOAT16 || in->dtype == TTNN_FLOAT32,
		   "input.dtype() == tt::tt_metal::DataType::BFLOAT16 || input.dtype() == "
		   "tt::tt_metal::DataType::FLOAT32",
		   "per_token_cast_to_fp8: input dtype must be BFLOAT16 or FLOAT32, got %d",
		   (int)in->dtype);
	TT_REQUIRE(in->shape.rank >= 2, "rank >= 2",
		   "per_token_cast_to_fp8: input rank must be >= 2, got %u", in->shape.rank);
	TT_REQUIRE(width % BLOCK == 0, "H % fp8::BLOCK_W == 0",
		   "per_token_cast_to_fp8: hidden dim H=%u must be a multiple of BLOCK_W=%d", width,
		   BLOCK);
	TT_REQUIRE(row_count(launch->inputs[0]) > 0, "folded_M > 0",
		   "per_token_cast_to_fp8: M must be > 0");
	return TTNN_OK;
}

/* Row by row; of tiles, block by block. */
static tt_status to_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct tt_tensor *in = launch->inputs[0];
	bool tiles = in->spec.layout == TTNN_TILE;
	uint64_t page = tt_page_f32(launch), half = tt_page_bf16(launch), units;
	uint64_t own = in->spec.dtype == TTNN_FLOAT32 ? page : half;
	const ttnn_core_set *cores;

	units = tiles ? in->spec.pages / (BLOCK / TT_TILE) : row_count(in);
	TT_TRY(cores_of(&cores, launch, units));
	return TT_PLAN(plan, cores, TT_CB_ROW(0, "cb_in", .pages = BATCH_TILES, .page = own),
		       TT_CB_ROW(1, "cb_tile", .pages = BATCH_TILES, .page = half),
		       TT_CB_ROW(3, "cb_scaler", .pages = 1, .page = page),
		       TT_CB_ROW(4, "cb_abs", .pages = BATCH_TILES, .page = page),
		       TT_CB_ROW(5, "cb_scale_tiles", .pages = 2, .page = page),
		       TT_CB_ROW(7, "cb_inv_scale_tiles", .pages = 2, .page = page),
		       TT_CB_ROW(16, "cb_output_e4m3", .pages = BATCH_TILES, .page = page / 4),
		       TT_CB_ROW(6, "cb_scale_scratch", .pages = tiles ? TT_TILE : 1,
				 .page = tt_aligned_page(launch->outputs[1])));
}

static double scale_of(const double *block, bool power)
{
	double most = LEAST;

	for (uint32_t i = 0; i < BLOCK; i++)
		most = fmax(most, fabs(block[i]));
	most /= LARGEST;
	return power ? exp2(ceil(log2(most))) : most;
}

static tt_status to_kernel(struct tt_launch *launch)
{
	bool power = launch->attrs[TO_POWER].boolean;
	float *codes, *scales;
	uint64_t count;
	double *in;

	TT_TRY(tt_values_of(&in, &count, launch, 0));
	codes = tt_arena_alloc(launch->arena, (count + 1) * sizeof(*codes));
	scales = tt_arena_alloc(launch->arena, (count / BLOCK + 1) * sizeof(*scales));
	TT_NEED_MEMORY(codes && scales);
	for (uint64_t i = 0; i < count / BLOCK; i++)
		scales[i] = (float)scale_of(&in[i * BLOCK], power);
	for (uint64_t i = 0; i < count; i++)
		codes[i] = (float)(in[i] / (double)scales[i / BLOCK]);
	TT_TRY(tt_values_write(launch->outputs[0], codes, TTNN_FLOAT32));
	return tt_values_write(launch->outputs[1], scales, TTNN_FLOAT32);
}

/* ---- back -------------------------------------------------------------------------------------------------------- */

static tt_status back_infer(struct tt_launch *launch)
{
	launch->output_count = 1;
	return tt_spec_simple(&launch->specs[0], &launch->inputs[CODES]->spec.shape,
			      (enum ttnn_dtype)launch->attrs[DTYPE].integer, TTNN_ROW_MAJOR,
			      launch->attrs[MEMORY].memory);
}

static tt_status check_index(const struct tt_tensor *tensor, const char *name)
{
	const struct ttnn_shape *shape = &tensor->spec.shape;
	char text[128];

	TT_TRY(check_rows(tensor, name));
	TT_REQUIRE(tensor->spec.dtype == TTNN_UINT32,
		   "tensor.dtype() == tt::tt_metal::DataType::UINT32",
		   "%s must be UINT32, got DataType::%s", name,
		   tt_enum_name(&tt_enum_dtype, (int64_t)tensor->spec.dtype));
	if (shape->rank == 1 || (shape->rank == 2 && shape->dim[0] == 1))
		return TTNN_OK;
	snprintf(text, sizeof(text), "%s must be 1D or 2D with first dimension == 1, got shape %%s",
		 name);
	return tt_fail_shapes(TTNN_INVALID, "valid_1d || valid_2d", text, shape, shape);
}

static tt_status check_experts(const struct tt_launch *launch)
{
	uint32_t regions = tt_shape_last(&launch->inputs[REGIONS]->spec.shape, 1);
	uint32_t counts = tt_shape_last(&launch->inputs[COUNTS]->spec.shape, 1);
	uint32_t table = tt_shape_last(&launch->inputs[TABLE]->spec.shape, 1);
	int64_t experts = launch->attrs[EXPERTS].integer;

	TT_TRY(check_index(launch->inputs[REGIONS], "per_token_cast_back: expert_region_offsets"));
	TT_TRY(check_index(launch->inputs[COUNTS], "per_token_cast_back: expert_token_counts"));
	TT_TRY(check_index(launch->inputs[TABLE], "per_token_cast_back: global_expert_idx_table"));
	TT_REQUIRE(counts == regions,
		   "expert_token_counts->logical_shape()[-1] == "
		   "expert_region_offsets->logical_shape()[-1]",
		   "per_token_cast_back: expert_token_counts last dim (%u) must equal "
		   "expert_region_offsets last dim (%u)",
		   counts, regions);
	TT_REQUIRE(experts > 0, "attrs.experts_per_chip > 0",
		   "per_token_cast_back: experts_per_chip must be > 0");
	TT_REQUIRE(experts <= table,
		   "attrs.experts_per_chip <= global_expert_idx_table->logical_shape()[-1]",
		   "per_token_cast_back: experts_per_chip (%" PRId64
		   ") must be <= global_expert_idx_table last dim (%u)",
		   experts, table);
	return TTNN_OK;
}

static tt_status check_scales(const struct tt_launch *launch)
{
	enum ttnn_dtype dtype = launch->inputs[SCALES]->spec.dtype;
	const char *name = tt_enum_name(&tt_enum_dtype, (int64_t)dtype);

	if (launch->attrs[AWARE].boolean)
		TT_TRY(check_experts(launch));
	if (launch->attrs[TAILS].boolean)
		TT_REQUIRE(dtype == TTNN_FLOAT32 || dtype == TTNN_UINT32 || dtype == TTNN_INT32,
			   "sdt == tt::tt_metal::DataType::FLOAT32 || sdt == "
			   "tt::tt_metal::DataType::UINT32 || sdt == tt::tt_metal::DataType::INT32",
			   "per_token_cast_back: metadata scale source dtype must be "
			   "FLOAT32/UINT32/INT32, got DataType::%s",
			   name);
	else if (launch->attrs[AWARE].boolean)
		TT_REQUIRE(dtype == TTNN_FLOAT32,
			   "input_scale.dtype() == tt::tt_metal::DataType::FLOAT32",
			   "per_token_cast_back: input_scale dtype must be FLOAT32, got "
			   "DataType::%s",
			   name);
	else
		TT_REQUIRE(dtype == TTNN_FLOAT32,
			   "input_scale.dtype() == tt::tt_metal::DataType::FLOAT32",
			   "per_token_cast_back: input_scale dtype must be FLOAT32");
	return TTNN_OK;
}

static tt_status check_back_shapes(const struct tt_launch *launch)
{
	const struct ttnn_shape *codes = &launch->inputs[CODES]->spec.shape;
	const struct ttnn_shape *scales = &launch->inputs[SCALES]->spec.shape;
	uint32_t width = tt_shape_last(codes, 1), own = tt_shape_last(scales, 1);

	TT_REQUIRE(codes->rank >= 2, "rank >= 2",
		   "per_token_cast_back: input_e4m3 rank must be >= 2");
	TT_REQUIRE(codes->rank == scales->rank, "e4m3_shape.size() == scale_shape.size()",
		   "per_token_cast_back: input_e4m3 (%uD) and input_scale (%uD) must have the "
		   "same rank",
		   codes->rank, scales->rank);
	for (uint32_t i = 0; i + 1 < codes->rank; i++)
		TT_REQUIRE(codes->dim[i] == scales->dim[i], "e4m3_shape[i] == scale_shape[i]",
			   "per_token_cast_back: leading dim %u mismatch (%u vs %u)", i,
			   codes->dim[i], scales->dim[i]);
	if (launch->attrs[TAILS].boolean) {
		TT_REQUIRE(width % BLOCK == 0, "H % fp8::BLOCK_W == 0",
			   "per_token_cast_back: e4m3 last dim (%u) must be a multiple of BLOCK_W "
			   "(%d)",
			   width, BLOCK);
		TT_REQUIRE(own >= width / BLOCK, "H_scale >= blocks_per_row",
			   "per_token_cast_back: metadata last dim (%u) must be >= H/BLOCK_W (%u) "
			   "to hold the scale tail",
			   own, width / BLOCK);
	} else {
		TT_REQUIRE(width == own * BLOCK, "H == H_scale * fp8::BLOCK_W",
			   "per_token_cast_back: e4m3 last dim (%u) must equal scale last dim (%u) "
			   "* BLOCK_W (%d)",
			   width, own, BLOCK);
	}
	TT_REQUIRE(row_count(launch->inputs[CODES]) > 0, "static_cast<uint32_t>(folded_M) > 0",
		   "per_token_cast_back: row count M must be > 0");
	return TTNN_OK;
}

static tt_status back_validate(struct tt_launch *launch)
{
	int64_t dtype = launch->attrs[DTYPE].integer;

	TT_TRY(check_rows(launch->inputs[CODES], "per_token_cast_back: input_e4m3"));
	TT_TRY(check_rows(launch->inputs[SCALES], "per_token_cast_back: input_scale"));
	TT_TRY(check_output(launch->attrs[MEMORY].memory,
			    "per_token_cast_back: output memory config"));
	TT_REQUIRE(tt_is_blackhole(launch->device),
		   "input_e4m3.device()->arch() == tt::ARCH::BLACKHOLE",
		   "per_token_cast_back: FP8_E4M3 path requires Blackhole hardware, got arch %s",
		   launch->device->info.arch);
	TT_REQUIRE(launch->inputs[CODES]->spec.dtype == TTNN_FP8_E4M3,
		   "input_e4m3.dtype() == tt::tt_metal::DataType::FP8_E4M3",
		   "per_token_cast_back: input_e4m3 dtype must be FP8_E4M3");
	TT_TRY(check_scales(launch));
	TT_REQUIRE(dtype == TTNN_BFLOAT16 || dtype == TTNN_FLOAT32,
		   "attrs.output_dtype == tt::tt_metal::DataType::BFLOAT16 || attrs.output_dtype "
		   "== tt::tt_metal::DataType::FLOAT32",
		   "per_token_cast_back: output_dtype must be BFLOAT16 or FLOAT32");
	return check_back_shapes(launch);
}

static tt_status back_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	bool aware = launch->attrs[AWARE].boolean, narrow = launch->attrs[NARROW].boolean;
	uint64_t page = tt_page_f32(launch), half = tt_page_bf16(launch), own[TABLE + 1] = {0};
	uint64_t units = row_count(launch->inputs[CODES]);
	const ttnn_core_set *cores = launch->grid;

	if (!aware)
		TT_TRY(cores_of(&cores, launch, units));
	for (size_t i = REGIONS; i <= TABLE && aware; i++)
		own[i] = tt_aligned_page(launch->inputs[i]);
	return TT_PLAN(plan, cores,
		       TT_CB_ROW(0, "cb_in_e4m3", .pages = BATCH_TILES, .page = page / 4),
		       TT_CB_ROW(2, "cb_tile", .pages = BATCH_TILES, .page = narrow ? half : page),
		       TT_CB_ROW(1, "cb_scale", .pages = 2, .page = page),
		       TT_CB_ROW(3, "cb_product", .pages = narrow ? 2 : BATCH_TILES,
				 .page = narrow ? half : page),
		       TT_CB_ROW(16, "cb_out", .pages = BATCH_TILES,
				 .page = tt_tile_bytes_of(launch->outputs[0]->spec.dtype)),
		       TT_CB_ROW(4, "cb_scale_scratch", .pages = TT_TILE,
				 .page = tt_aligned_page(launch->inputs[SCALES])),
		       TT_CB_ROW(5, "cb_ctrl", .pages = aware, .page = ARGUMENTS),
		       TT_CB_ROW(6, "cb_offsets", .pages = aware, .page = own[REGIONS]),
		       TT_CB_ROW(7, "cb_counts", .pages = aware, .page = own[COUNTS]),
		       TT_CB_ROW(8, "cb_table", .pages = aware, .page = own[TABLE]),
		       TT_CB_ROW(9, "cb_offsets_writer", .pages = aware, .page = own[REGIONS]),
		       TT_CB_ROW(10, "cb_counts_writer", .pages = aware, .page = own[COUNTS]),
		       TT_CB_ROW(11, "cb_table_writer", .pages = aware, .page = own[TABLE]));
}

/* Scales at the end of rows: numbers, or the bits of such. */
static double scale_at(const struct tt_launch *launch, const double *scales, uint64_t row,
		       uint64_t block)
{
	const struct ttnn_tensor_spec *spec = &launch->inputs[SCALES]->spec;
	uint64_t width = tt_shape_last(&spec->shape, 1);
	uint64_t blocks = tt_shape_last(&launch->inputs[CODES]->spec.shape, 1) / BLOCK;
	double value = scales[row * width + width - blocks + block];
	uint32_t bits;
	float number;

	if (spec->dtype == TTNN_FLOAT32)
		return value;
	bits = spec->dtype == TTNN_INT32 ? (uint32_t)(int32_t)value : (uint32_t)value;
	memcpy(&number, &bits, sizeof(number));
	return (double)number;
}

/* Which rows are tokens of the chip's experts. */
static tt_status mark_rows(bool *rows, uint64_t count, const struct tt_launch *launch)
{
	double *tables[TABLE + 1];
	uint64_t sizes[TABLE + 1];

	if (!launch->attrs[AWARE].boolean) {
		memset(rows, true, count);
		return TTNN_OK;
	}
	for (size_t i = REGIONS; i <= TABLE; i++)
		TT_TRY(tt_values_of(&tables[i], &sizes[i], launch, i));
	for (int64_t e = 0; e < launch->attrs[EXPERTS].integer; e++) {
		uint64_t own = (uint64_t)tables[TABLE][e], start, end;

		if (own >= sizes[REGIONS])
			continue;
		start = (uint64_t)tables[REGIONS][own];
		end = start + (uint64_t)tables[COUNTS][own];
		for (uint64_t row = start; row < end && row < count; row++)
			rows[row] = true;
	}
	return TTNN_OK;
}

static tt_status back_kernel(struct tt_launch *launch)
{
	uint64_t width = tt_shape_last(&launch->inputs[CODES]->spec.shape, 1), count, unused;
	double *codes, *scales;
	float *out;
	bool *rows;

	TT_NEED(width >= BLOCK, "A row of codes has blocks of %u", BLOCK);
	TT_TRY(tt_values_of(&codes, &count, launch, CODES));
	TT_TRY(tt_values_of(&scales, &unused, launch, SCALES));
	out = tt_arena_calloc(launch->arena, count + 1, sizeof(*out));
	rows = tt_arena_calloc(launch->arena, count / width + 1, sizeof(*rows));
	TT_NEED_MEMORY(out && rows);
	TT_TRY(mark_rows(rows, count / width, launch));
	for (uint64_t i = 0; i < count / BLOCK; i++) {
		uint64_t row = i * BLOCK / width;
		double scale;

		if (!rows[row])
			continue;
		scale = scale_at(launch, scales, row, i % (width / BLOCK));
		for (uint64_t k = i * BLOCK; k < (i + 1) * BLOCK; k++)
			out[k] = (float)(codes[k] * scale);
	}
	return tt_values_write(launch->outputs[0], out, TTNN_FLOAT32);
}

/* ---- packed ------------------------------------------------------------------------------------------------------ */

static tt_status pack_infer(struct tt_launch *launch)
{
	struct ttnn_shape shape = launch->inputs[LATENT]->spec.shape;

	TT_NEED(shape.rank, "pack_scaled_fp8_kv_cache: latent must have at least one dimension");
	shape.dim[shape.rank - 1] = ROW_BYTES;
	launch->output_count = 1;
	return tt_spec_simple(&launch->specs[0], &shape, TTNN_FP8_E4M3, TTNN_ROW_MAJOR,
			      launch->attrs[PACK_MEMORY].memory);
}

static tt_status check_part(const struct tt_tensor *tensor, const char *name, enum ttnn_dtype dtype,
			    uint32_t width)
{
	uint32_t own = tt_shape_last(&tensor->spec.shape, 1);

	TT_TRY(check_rows(tensor, name));
	TT_REQUIRE(tensor->spec.dtype == dtype, "tensor.dtype() == dtype", "%s has the wrong dtype",
		   name);
	TT_REQUIRE(tensor->spec.shape.rank, "!tensor.logical_shape().empty()",
		   "%s must have at least one dimension", name);
	TT_REQUIRE(own == width, "tensor.logical_shape()[-1] == width",
		   "%s last dim must be %u, got %u", name, width, own);
	return TTNN_OK;
}

static tt_status pack_validate(struct tt_launch *launch)
{
	const struct ttnn_shape *shape = &launch->inputs[LATENT]->spec.shape;

	TT_TRY(check_part(launch->inputs[LATENT], "pack_scaled_fp8_kv_cache: latent", TTNN_FP8_E4M3,
			  LATENT_WIDTH));
	TT_TRY(check_part(launch->inputs[LATENT_SCALES], "pack_scaled_fp8_kv_cache: scales",
			  TTNN_FLOAT32, SCALES_WIDTH));
	TT_TRY(check_part(launch->inputs[ROPE], "pack_scaled_fp8_kv_cache: rope", TTNN_BFLOAT16,
			  ROPE_WIDTH));
	TT_TRY(check_output(launch->attrs[PACK_MEMORY].memory, "pack_scaled_fp8_kv_cache: output"));
	for (size_t i = LATENT_SCALES; i < PARTS; i++) {
		const struct ttnn_shape *own = &launch->inputs[i]->spec.shape;

		TT_REQUIRE(shape->rank == own->rank,
			   "shape.size() == args.scales.logical_shape().size() && shape.size() == "
			   "args.rope.logical_shape().size()",
			   "all inputs must have the same rank");
		for (uint32_t d = 0; d + 1 < shape->rank; d++)
			TT_REQUIRE(shape->dim[d] == own->dim[d],
				   "shape[dim] == args.scales.logical_shape()[dim] && shape[dim] "
				   "== args.rope.logical_shape()[dim]",
				   "all inputs must have identical leading shapes");
	}
	TT_REQUIRE(row_count(launch->inputs[LATENT]) > 0, "rows > 0", "row count must be positive");
	return TTNN_OK;
}

static tt_status pack_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const ttnn_core_set *cores;

	TT_TRY(cores_of(&cores, launch, row_count(launch->inputs[LATENT])));
	return TT_PLAN(plan, cores, TT_CB_ROW(0, "scratch", .pages = 1, .page = LATENT_WIDTH));
}

/* The bytes of one chip's part of a tensor go into or out of those of the rows. */
static tt_status pack_chip(struct tt_launch *launch, uint32_t chip)
{
	static const uint64_t sizes[] = {LATENT_WIDTH, 4 * SCALES_WIDTH, 2 * ROPE_WIDTH};
	uint64_t rows = row_count(launch->inputs[LATENT]), place = 0;
	struct tt_tensor *out, *in;
	uint8_t *to;
	const uint8_t *from;

	TT_TRY(tt_tensor_resident(&out, launch->outputs[0], chip, TT_BUFFER_OVERWRITE));
	TT_TRY(tt_scratch_keep(out));
	to = tt_tensor_data(out);
	for (size_t i = LATENT; i < PARTS; place += sizes[i++]) {
		TT_TRY(tt_tensor_resident(&in, launch->inputs[i], chip, TT_BUFFER_READ));
		TT_TRY(tt_scratch_keep(in));
		from = tt_tensor_data(in);
		for (uint64_t row = 0; row < rows; row++)
			memcpy(&to[row * ROW_BYTES + place], &from[row * sizes[i]], sizes[i]);
	}
	return TTNN_OK;
}

static tt_status pack_kernel(struct tt_launch *launch)
{
	for (uint32_t chip = 0; chip < launch->device->rows * launch->device->cols; chip++)
		TT_TRY(pack_chip(launch, chip));
	return TTNN_OK;
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

#define PROGRAM(name, Name, title)                                                                 \
	.device_op = Name "DeviceOperation", .prim = "ttnn::prim::" title,                         \
	.attrs = &name##_schema, .infer = name##_infer, .validate = name##_validate,               \
	TT_FACTORY("ttnn::experimental::prim::" title "::" Name "ProgramFactory", name##_memory),  \
	TT_KERNEL(name##_kernel)
static const struct tt_prog to_program = {PROGRAM(to, "PerTokenCastToFp8", "per_token_cast_to_fp8"),
					  .mute = true, .drops_forward = true};
static const struct tt_prog back_program = {
	PROGRAM(back, "PerTokenCastBack", "per_token_cast_back")};
static const struct tt_prog pack_program = {
	PROGRAM(pack, "PackScaledFp8KvCache", "pack_scaled_fp8_kv_cache"), .together = true};

static tt_status to_expand(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor");

	return TT_LAUNCH_RETURN(
		call, &to_program, TT_INPUTS(in),
		TT_BIND(call, to_schema, [TO_MEMORY] = tt_value_memory_or_like(call, in)));
}

/* One place that scales come from; what only some of them need must not be there otherwise. */
static tt_status check_call(const struct tt_call *call)
{
	bool aware = tt_call_bool(call, "token_count_aware", false);
	bool scales = tt_call_tensor(call, "input_scale") != NULL;
	bool metadata = tt_call_tensor(call, "metadata") != NULL;
	int experts = (tt_call_tensor(call, "expert_region_offsets") != NULL) +
		      (tt_call_tensor(call, "expert_token_counts") != NULL) +
		      (tt_call_tensor(call, "global_expert_idx_table") != NULL);

	if (!aware) {
		TT_REQUIRE(scales, "input_scale.has_value()",
			   "per_token_cast_back: input_scale is required (unless token_count_aware "
			   "with metadata)");
		TT_REQUIRE(!metadata && !experts,
			   "!metadata.has_value() && !expert_region_offsets.has_value() && "
			   "!expert_token_counts.has_value() && "
			   "!global_expert_idx_table.has_value()",
			   "per_token_cast_back: metadata / expert_* tensors are only valid when "
			   "token_count_aware=true");
		return TTNN_OK;
	}
	TT_REQUIRE(scales != metadata, "input_scale.has_value() != metadata.has_value()",
		   "per_token_cast_back: provide exactly one of `input_scale` or `metadata`");
	TT_REQUIRE(experts == 3,
		   "expert_region_offsets.has_value() && expert_token_counts.has_value() && "
		   "global_expert_idx_table.has_value()",
		   "per_token_cast_back: token_count_aware=true requires expert_region_offsets, "
		   "expert_token_counts and global_expert_idx_table");
	return TTNN_OK;
}

static tt_status back_expand(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_e4m3");
	struct tt_tensor *metadata = tt_call_tensor(call, "metadata");
	bool aware = tt_call_bool(call, "token_count_aware", false);
	enum ttnn_dtype dtype = tt_call_dtype(call, "output_dtype", TTNN_BFLOAT16);

	TT_TRY(check_call(call));
	return TT_LAUNCH_RETURN(
		call, &back_program,
		TT_INPUTS(in, metadata ? metadata : tt_call_tensor(call, "input_scale"),
			  tt_call_tensor(call, "expert_region_offsets"),
			  tt_call_tensor(call, "expert_token_counts"),
			  tt_call_tensor(call, "global_expert_idx_table")),
		TT_BIND(call, back_schema, [DTYPE] = tt_value_enum(&tt_enum_dtype, dtype),
			[MEMORY] = tt_value_memory_or_like(call, in),
			[EXPERTS] = aware ? *tt_call_arg(call, "experts_per_chip") : ttnn_v_int(0),
			[TAILS] = ttnn_v_bool(metadata != NULL)));
}

static tt_status pack_expand(struct tt_call *call)
{
	return TT_LAUNCH_RETURN(
		call, &pack_program,
		TT_INPUTS(tt_call_tensor(call, "latent"), tt_call_tensor(call, "scales"),
			  tt_call_tensor(call, "rope")),
		TT_BIND(call, pack_schema, [PACK_MEMORY] = *tt_call_arg(call, "memory_config")));
}

#define PREFILL "ttnn.experimental.deepseek_prefill."
static const struct tt_op ops[] = {
	{.name = PREFILL "pack_scaled_fp8_kv_cache",
	 .doc = "Latent FP8, its scales and rotated values: their bytes in one row for a cache.",
	 .sigs = {"latent: Tensor, scales: Tensor, rope: Tensor, *, memory_config: MemoryConfig = "
		  "DRAM"},
	 .expand = pack_expand,
	 .golden = tt_golden_pack_fp8,
	 .pcc = 0.9999,
	 TT_PROGRAMS(&pack_program)},
	{.name = PREFILL "per_token_cast_back",
	 .doc = "Numbers of FP8 blocks times the scales that they have.",
	 .sigs = {"input_e4m3: Tensor, input_scale: Tensor? = None, output_dtype: DataType? = "
		  "None, memory_config: MemoryConfig? = None, narrow_scales_to_bf16: bool = False, "
		  "token_count_aware: bool = False, expert_region_offsets: Tensor? = None, "
		  "expert_token_counts: Tensor? = None, global_expert_idx_table: Tensor? = None, "
		  "experts_per_chip: size = 0, metadata: Tensor? = None"},
	 .expand = back_expand,
	 .golden = tt_golden_cast_back,
	 TT_PROGRAMS(&back_program)},
	{.name = PREFILL "per_token_cast_to_fp8",
	 .doc = "Numbers as FP8, with a scale for each block of 128 of a token.",
	 .sigs = {"input_tensor: Tensor, memory_config: MemoryConfig? = None, *, "
		  "round_scale_to_power_of_two: bool = False"},
	 .expand = to_expand,
	 .golden = tt_golden_cast_to_fp8,
	 .gives = "(Tensor, Tensor)",
	 TT_PROGRAMS(&to_program)},
};

const struct tt_op_family tt_family_fp8_blocks = {"fp8_blocks", ops, TT_COUNT(ops)};
