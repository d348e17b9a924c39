/*
 * matmul_check.c: what is refused of a product whatever its config, and what several configs refuse
 * alike. Upstream's conditions, in upstream's order.
 */
#include <stdarg.h>
#include <stdio.h>

#include "ops/compute.h"
#include "ops/matmul/matmul_check.h"
#include "tensor/text.h"

/* Upstream puts the name of the config before its text. */
tt_status tt_matmul_refuse(const struct tt_matmul_config *config, const char *condition,
			   const char *format, ...)
{
	char text[1024];
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	return tt_fail_cond(TTNN_INVALID, condition, "%s: %s", tt_matmul_config_name(config), text);
}

/* ---- operands --------------------------------------------------------------------------------------- */

/* On one device, and not deallocated. */
static tt_status check_places(const struct tt_matmul *matmul)
{
	TT_REQUIRE(tt_tensor_device(matmul->a) && tt_tensor_device(matmul->b),
		   "input_tensor_a.storage_type() == StorageType::DEVICE and "
		   "input_tensor_b.storage_type() == StorageType::DEVICE",
		   "Operands to matmul need to be on device!");
	TT_REQUIRE(tt_tensor_buffer(matmul->a) && tt_tensor_buffer(matmul->b),
		   "input_tensor_a.buffer() != nullptr and input_tensor_b.buffer() != nullptr",
		   "Operands to matmul need to be allocated in buffers on device!");
	TT_REQUIRE(tt_tensor_device(matmul->a) == tt_tensor_device(matmul->b),
		   "input_tensor_a.device() == input_tensor_b.device()",
		   "Operands to matmul need to be on the same device!");
	return TTNN_OK;
}

static bool is_float(enum ttnn_dtype dtype)
{
	return dtype == TTNN_BFLOAT16 || dtype == TTNN_FLOAT32 || dtype == TTNN_BFLOAT8_B ||
	       dtype == TTNN_BFLOAT4_B;
}

/*
 * Tiles 32 wide in a and 32 high in b: the matrix unit takes 32 along the depth, whatever the
 * other extent.
 */
static tt_status check_operands(const struct tt_matmul *matmul)
{
	const struct ttnn_tensor_spec *a = &matmul->a->spec, *b = &matmul->b->spec;

	TT_TRY(check_places(matmul));
	TT_REQUIRE(a->layout == TTNN_TILE && b->layout == TTNN_TILE,
		   "(input_tensor_a.layout() == Layout::TILE && input_tensor_b.layout() == "
		   "Layout::TILE)",
		   "Inputs to matmul must be tilized");
	TT_REQUIRE(matmul->a_tile.width == 32 && matmul->b_tile.height == 32,
		   "(in0_tile.get_width() == TILE_WIDTH && in1_tile.get_height() == TILE_WIDTH)",
		   "Matmul inner tile dim must be 32 (hardware constraint): got in0 tile width "
		   "%u, in1 tile height %u",
		   matmul->a_tile.width, matmul->b_tile.height);
	TT_REQUIRE(is_float(a->dtype), "is_floating_point(input_tensor_a.dtype())",
		   "Unsupported data format for input A: DataType::%s", tt_dtype_text(a->dtype));
	TT_REQUIRE(is_float(b->dtype), "is_floating_point(input_tensor_b.dtype())",
		   "Unsupported data format for input B: DataType::%s", tt_dtype_text(b->dtype));
	return TTNN_OK;
}

/*
 * K once as logical extents and once in tiles: padded operands may agree in one and not in the
 * other.
 */
static tt_status check_extents(const struct tt_matmul *matmul)
{
	uint32_t width = tt_shape_last(&matmul->a_shape, 1);
	uint32_t height = tt_shape_last(&matmul->b_shape, 2);
	uint32_t depth_b = tt_shape_last(&matmul->b_padded, 2) / matmul->b_tile.height;

	TT_REQUIRE(matmul->b_shape.rank >= 2, "b_shape.rank() >= 2",
		   "Matmul expects input B rank >= 2, got %u", matmul->b_shape.rank);
	TT_REQUIRE(width > 0, "a_shape[-1] > 0", "K dimension must be positive, got 0");
	TT_REQUIRE(width == height, "a_shape[-1] == b_shape[-2]",
		   "The width of the first tensor must be equal to the height of the second "
		   "tensor. Mismatch: width=%u height=%u",
		   width, height);
	TT_REQUIRE(tt_shape_last(&matmul->b_shape, 1) > 0, "b_shape[-1] > 0",
		   "Matmul requires N (columns of B) > 0, got 0");
	TT_REQUIRE(matmul->a_shape.rank < 2 || tt_shape_last(&matmul->a_shape, 2) > 0,
		   "a_shape[-2] > 0", "Matmul requires M (rows of A) > 0, got 0");
	TT_REQUIRE(matmul->k == depth_b, "Kt_a == Kt_b",
		   "K dimension in tiles must match between input A (%u) and input B (%u)",
		   matmul->k, depth_b);
	return TTNN_OK;
}

/* Tiles smaller than 32 × 32: combinations that upstream does not support yet. */
static tt_status check_small_tiles(const struct tt_matmul *matmul,
				   const struct tt_matmul_config *config)
{
	const struct ttnn_tile *a = &matmul->a_tile, *b = &matmul->b_tile;
	enum ttnn_dtype dtype = matmul->b->spec.dtype;

	if (a->height == 32 && b->width == 32)
		return TTNN_OK;
	TT_REQUIRE(!b->transpose || b->width != 16, "false",
		   "matmul does not support transposed in1 with tile width 16 (in1 tile is %ux%u "
		   "with transpose). Use tile width 32 for transposed in1, or disable "
		   "transpose_tile.",
		   b->height, b->width);
	TT_NEED((dtype != TTNN_BFLOAT8_B && dtype != TTNN_BFLOAT4_B) || a->height >= 16 ||
			(config->kind != TT_MATMUL_1D && config->kind != TT_MATMUL_2D),
		"matmul tiny-tile combo with in1 dtype DataType::%s and tile_h %u is not "
		"currently supported on the mcast program config path (requires tile_h >= 16); "
		"see issue #42927",
		tt_dtype_text(dtype), a->height);
	return TTNN_OK;
}

/* ---- the result --------------------------------------------------------------------------------------- */

/* A given output has the dtype and the memory config that were asked for. */
static tt_status check_given_output(const struct tt_matmul *matmul)
{
	const struct ttnn_tensor_spec *given = &matmul->output->spec;

	TT_REQUIRE(given->dtype == matmul->dtype,
		   "optional_output_tensor_c->dtype() == attributes.output_dtype.value()",
		   "Type mismatch between optional output tensor DataType::%s & output tensor "
		   "DataType::%s",
		   tt_dtype_text(given->dtype), tt_dtype_text(matmul->dtype));
	if (!ttnn_memory_config_equal(&given->memory, &matmul->memory))
		return tt_matmul_refuse_memory(
			"optional_output_tensor_c->memory_config() == attributes.output_mem_config",
			&given->memory, &matmul->memory);
	return TTNN_OK;
}

/* A block sharded request on one row or column of cores may become width or height sharded. */
static tt_status check_output(const struct tt_matmul *matmul, const struct ttnn_tensor_spec *out)
{
	const struct ttnn_memory_config *asked = &matmul->memory;
	bool row = false, column = false;
	struct ttnn_core_range box;

	if (matmul->output)
		return check_given_output(matmul);
	if (asked->layout == TTNN_BLOCK_SHARDED && asked->has_shard) {
		TT_TRY(tt_core_set_box(&box, asked->shard.grid));
		column = box.start.x == box.end.x;
		row = box.start.y == box.end.y;
	}
	TT_REQUIRE(out->memory.layout == asked->layout ||
			   (column && out->memory.layout == TTNN_HEIGHT_SHARDED) ||
			   (row && out->memory.layout == TTNN_WIDTH_SHARDED),
		   "memory_layout_compatible",
		   "Mismatch between computed TensorMemoryLayout::%s and provided "
		   "TensorMemoryLayout::%s mem config memory layout",
		   tt_enum_name(&tt_enum_memory_layout, out->memory.layout),
		   tt_enum_name(&tt_enum_memory_layout, asked->layout));
	return TTNN_OK;
}

/* ---- grids, blocks ---------------------------------------------------------------------------------------- */

static bool has_blocks(const struct tt_matmul_config *config)
{
	return config->kind == TT_MATMUL_REUSE || config->kind == TT_MATMUL_2D ||
	       config->kind == TT_MATMUL_1D;
}

/* Sizes of zero would divide by zero later; the grid must be on the chip. */
static tt_status check_grid(const struct tt_matmul *matmul, const struct tt_matmul_config *config)
{
	struct ttnn_core grid = config->grid, full = matmul->full_grid;

	if (config->kind == TT_MATMUL_MULTI)
		return TTNN_OK;
	if (has_blocks(config) && !config->gather_a) {
		TT_CONFIG_REQUIRE(config, grid.x != 0 && grid.y != 0, "grid.x > 0 && grid.y > 0",
				  "compute_with_storage_grid_size must be non-zero, got (%u, %u)",
				  grid.x, grid.y);
		TT_CONFIG_REQUIRE(config, grid.x <= full.x && grid.y <= full.y,
				  "grid.x <= device_grid.x && grid.y <= device_grid.y",
				  "compute_with_storage_grid_size (%u, %u) must fit within device "
				  "grid (%u, %u)",
				  grid.x, grid.y, full.x, full.y);
	}
	TT_CONFIG_REQUIRE(config,
			  config->kind != TT_MATMUL_DRAM || config->bank_workers == 1 ||
				  tt_is_blackhole(matmul->device),
			  "program_config.num_workers_per_dram_bank == 1 || "
			  "input_tensor_a.device()->arch() == tt::ARCH::BLACKHOLE",
			  "num_workers_per_dram_bank > 1 is currently supported only on Blackhole");
	TT_CONFIG_REQUIRE(config, config->k != 0, "in0_block_w != 0",
			  "in0_block_w is 0, which is not valid");
	TT_CONFIG_REQUIRE(config, config->m != 0, "per_core_M != 0",
			  "per_core_M is 0, which is not valid");
	TT_CONFIG_REQUIRE(config, config->n != 0, "per_core_N != 0",
			  "per_core_N is 0, which is not valid");
	return TTNN_OK;
}

/* "NAME (4) must be divisible by OTHER (3)" */
static tt_status check_divides(const struct tt_matmul_config *config, const char *name,
			       uint32_t size, const char *by_name, uint32_t by)
{
	char condition[128];

	if (size % by == 0)
		return TTNN_OK;
	snprintf(condition, sizeof(condition), "program_config.%s %% program_config.%s == 0", name,
		 by_name);
	return tt_matmul_refuse(config, condition, "%s (%u) must be divisible by %s (%u)", name,
				size, by_name, by);
}

/* As many tiles as the destination registers hold. */
static uint32_t registers(const struct tt_matmul *matmul)
{
	return tt_compute_tiles(&matmul->compute) * (32u * 32u) /
	       (matmul->tile.height * matmul->tile.width);
}

/* Upstream names the field in condition and text. */
static tt_status check_not_zero(const struct tt_matmul_config *config, const char *name,
				uint32_t size)
{
	char condition[64];

	if (size)
		return TTNN_OK;
	snprintf(condition, sizeof(condition), "program_config.%s != 0", name);
	return tt_matmul_refuse(config, condition, "%s is 0, which is not valid", name);
}

/*
 * per_core_M and per_core_N are whole blocks, blocks are whole subblocks, and a subblock fits the
 * destination registers.
 */
static tt_status check_blocks(const struct tt_matmul *matmul, const struct tt_matmul_config *config)
{
	if (!has_blocks(config))
		return TTNN_OK;
	TT_CONFIG_REQUIRE(config, matmul->k % config->k == 0,
			  "Kt % program_config.in0_block_w == 0",
			  "Kt (%u) must be divisible by in0_block_w (%u)", matmul->k, config->k);
	TT_TRY(check_not_zero(config, "out_subblock_h", config->sub_h));
	TT_TRY(check_not_zero(config, "out_subblock_w", config->sub_w));
	if (config->kind == TT_MATMUL_REUSE) {
		TT_TRY(check_divides(config, "per_core_M", config->m, "out_subblock_h",
				     config->sub_h));
		TT_TRY(check_divides(config, "per_core_N", config->n, "out_subblock_w",
				     config->sub_w));
	} else {
		TT_TRY(check_not_zero(config, "out_block_h", config->block_h));
		TT_TRY(check_not_zero(config, "out_block_w", config->block_w));
		TT_TRY(check_divides(config, "out_block_h", config->block_h, "out_subblock_h",
				     config->sub_h));
		TT_TRY(check_divides(config, "out_block_w", config->block_w, "out_subblock_w",
				     config->sub_w));
		TT_TRY(check_divides(config, "per_core_M", config->m, "out_block_h",
				     config->block_h));
		TT_TRY(check_divides(config, "per_core_N", config->n, "out_block_w",
				     config->block_w));
	}
	TT_CONFIG_REQUIRE(config, (uint64_t)config->sub_h * config->sub_w <= registers(matmul),
			  "program_config.out_subblock_h * program_config.out_subblock_w <= "
			  "available_reg_count",
			  "out_subblock_w %u times out_subblock_h %u needs to be at most %u to "
			  "fit in hardware",
			  config->sub_w, config->sub_h, registers(matmul));
	return TTNN_OK;
}

/* ---- who computes what ------------------------------------------------------------------------------------ */

static bool inside(const ttnn_core_set *set, struct ttnn_core grid)
{
	struct ttnn_core_range box;

	return tt_core_set_box(&box, set) == TTNN_OK && box.end.x < grid.x && box.end.y < grid.y;
}

/* Fails with a set of cores in the text, at its only %s. */
static tt_status refuse_cores(const char *condition, const char *name, const ttnn_core_set *set,
			      const char *tail)
{
	struct tt_str text = {0};

	tt_text_core_set(&text, set, TTNN_DIALECT_TT_METAL);
	tt_fail_cond(TTNN_INVALID, condition, "%s %s must lie within %s", name, tt_str_text(&text),
		     tail);
	tt_str_deinit(&text);
	return TTNN_INVALID;
}

/*
 * Shards in L1 lie within the compute grid; DRAM shards are on banks, which are counted otherwise.
 */
static tt_status check_shards_inside(const struct tt_tensor *tensor, struct ttnn_core grid)
{
	const struct ttnn_memory_config *memory = &tensor->spec.memory;
	char tail[64];

	if (!tt_tensor_is_sharded(tensor) || memory->buffer == TTNN_DRAM || !memory->has_shard ||
	    inside(memory->shard.grid, grid))
		return TTNN_OK;
	snprintf(tail, sizeof(tail), "compute grid (%u, %u)", grid.x, grid.y);
	return refuse_cores("range.contains(shard_grid)", "Tensor shard spec grid",
			    memory->shard.grid, tail);
}

/* The same for the result, against the cores that the config uses. */
static tt_status check_output_inside(const struct tt_matmul *matmul,
				     const struct tt_matmul_config *config, struct ttnn_core grid)
{
	const struct ttnn_memory_config *memory = &matmul->memory;
	char name[128], tail[64];

	if (!tt_memory_config_is_sharded(memory) || memory->buffer == TTNN_DRAM ||
	    !memory->has_shard || inside(memory->shard.grid, grid))
		return TTNN_OK;
	snprintf(name, sizeof(name), "%s: output shard grid", tt_matmul_config_name(config));
	snprintf(tail, sizeof(tail), "extent %u-%u", grid.x, grid.y);
	return refuse_cores("bbox.contains(shard_grid)", name, memory->shard.grid, tail);
}

/* Whole matrices per core: the sharded operand's cores each get the same number of blocks. */
static tt_status check_reuse_work(const struct tt_matmul *matmul,
				  const struct tt_matmul_config *config)
{
	const struct tt_tensor *lead = NULL;
	uint64_t blocks;
	size_t cores;

	if (config->kind != TT_MATMUL_REUSE)
		return TTNN_OK;
	blocks = (uint64_t)matmul->batch_a * matmul->m / config->m * (matmul->n / config->n);
	TT_TRY(check_shards_inside(matmul->a, matmul->full_grid));
	TT_TRY(check_shards_inside(matmul->b, matmul->full_grid));
	if (tt_tensor_is_sharded(matmul->a) && matmul->a->spec.memory.buffer != TTNN_DRAM)
		lead = matmul->a;
	else if (tt_tensor_is_sharded(matmul->b) && matmul->b->spec.memory.buffer != TTNN_DRAM)
		lead = matmul->b;
	if (!lead || !lead->spec.memory.has_shard)
		return TTNN_OK;
	cores = ttnn_core_set_cores(lead->spec.memory.shard.grid);
	TT_REQUIRE(blocks % cores == 0, "num_output_blocks % num_cores == 0",
		   "MatmulMultiCoreReuseProgramConfig: num_output_blocks (%llu) must be evenly "
		   "divisible by the number of cores in the input shard grid (%zu)",
		   (unsigned long long)blocks, cores);
	return TTNN_OK;
}

/* A core must not compute more rows of tiles than the tensor has. */
static tt_status check_rows_fit(const struct tt_matmul_config *config, const char *condition,
				uint32_t rows)
{
	if (config->m <= rows)
		return TTNN_OK;
	return tt_matmul_refuse(
		config, condition,
		"per_core_M (%u) exceeds Mt (%u). Each core would compute more "
		"output row tiles than the tensor has. Reduce per_core_M to at most "
		"Mt.",
		config->m, rows);
}

/* Blocks must not be more than cores; along the side that is sent to all there may be one only. */
static tt_status check_work_1d(const struct tt_matmul *matmul,
			       const struct tt_matmul_config *config)
{
	uint32_t m = tt_matmul_rows(matmul, config->fuse_batch);
	uint64_t y = tt_div_up(m, config->m), x = tt_div_up(matmul->n, config->n);
	uint64_t cores = (uint64_t)config->grid.x * config->grid.y, blocks;

	TT_CONFIG_REQUIRE(config, !config->hops || !ttnn_core_set_cores(config->hops),
			  "program_config.hop_cores.empty()",
			  "Hop cores are not supported for any mode besides gather_in0.");
	blocks = x * y;
	TT_CONFIG_REQUIRE(config, blocks <= cores, "num_blocks_total <= num_cores",
			  "Number of blocks exceeds number of cores: %llu blocks > %llu cores",
			  (unsigned long long)blocks, (unsigned long long)cores);
	TT_CONFIG_REQUIRE(config, !config->cast_a || y == 1, "num_blocks_y == 1",
			  "mcast_in0 requires M (%u) to fit within a single per_core_M block "
			  "(%u), got num_blocks_y=%llu",
			  m, config->m, (unsigned long long)y);
	TT_CONFIG_REQUIRE(config, config->cast_a || x == 1, "num_blocks_x == 1",
			  "mcast_in1 requires N (%u) to fit within a single per_core_N block "
			  "(%u), got num_blocks_x=%llu. A single in1 sender multicasts one "
			  "per_core_N-wide weight slice to the whole grid, so multi-column N is "
			  "not supported here; use MatmulMultiCoreReuseMultiCastProgramConfig "
			  "(the 2D factory) for multi-column N.",
			  matmul->n, config->n, (unsigned long long)x);
	if (!config->cast_a)
		TT_TRY(check_rows_fit(config, "per_core_M <= Mt", m));
	return check_output_inside(matmul, config, config->grid);
}

/* Rows of blocks fit the rows of the grid, columns its columns; transpose_mcast swaps them. */
static tt_status check_work_2d(const struct tt_matmul *matmul,
			       const struct tt_matmul_config *config)
{
	uint32_t m = tt_matmul_rows(matmul, config->fuse_batch);
	uint64_t y = tt_div_up(m, config->m), x = tt_div_up(matmul->n, config->n);

	TT_TRY(check_rows_fit(config, "program_config.per_core_M <= Mt", m));
	if (config->transpose_cast) {
		uint64_t swap = x;

		x = y;
		y = swap;
	}
	TT_CONFIG_REQUIRE(config, x <= config->grid.x, "num_blocks_x <= grid.x",
			  "Num output blocks along x (%llu) must be smaller than or equal to the "
			  "number of columns in compute grid (%u)!",
			  (unsigned long long)x, config->grid.x);
	TT_CONFIG_REQUIRE(config, y <= config->grid.y, "num_blocks_y <= grid.y",
			  "Num output blocks along y (%llu) must be smaller than or equal to the "
			  "number of rows in compute grid (%u)!",
			  (unsigned long long)y, config->grid.y);
	return check_output_inside(matmul, config, config->grid);
}

/*
 * Each kind of config against the cores it will use. gather_in0 takes a from all cores in turn: it
 * knows no transposition.
 */
static tt_status check_work(const struct tt_matmul *matmul, const struct tt_matmul_config *config)
{
	bool shards = tt_tensor_is_sharded(matmul->a) || tt_tensor_is_sharded(matmul->b) ||
		      tt_memory_config_is_sharded(&matmul->memory);

	if (config->kind == TT_MATMUL_2D)
		return check_work_2d(matmul, config);
	if (config->kind == TT_MATMUL_REUSE)
		return check_output_inside(matmul, config,
					   shards ? matmul->full_grid : config->grid);
	if (config->kind != TT_MATMUL_1D)
		return TTNN_OK;
	if (!config->gather_a)
		return check_work_1d(matmul, config);
	TT_CONFIG_REQUIRE(config, !matmul->transpose_a && !matmul->transpose_b,
			  matmul->transpose_a ? "!transpose_a" : "!transpose_b",
			  "transpose_%c is not supported with gather_in0",
			  matmul->transpose_a ? 'a' : 'b');
	TT_CONFIG_REQUIRE(config, tt_tensor_is_sharded(matmul->a), "input_tensor_a.is_sharded()",
			  "gather_in0 requires input A to be sharded");
	return check_output_inside(matmul, config, matmul->full_grid);
}

/* ---- batches, bias -------------------------------------------------------------------------------------------- */

/* Whether one matrix a may serve all matrices of b. */
static bool reuses_a(const struct tt_matmul *matmul, const struct tt_matmul_config *config)
{
	if (config->kind != TT_MATMUL_1D || config->fuse_batch || config->cast_a ||
	    tt_value_given(&config->activation))
		return false;
	if (matmul->a_shape.rank < 3 || matmul->b_shape.rank < 3)
		return false;
	return tt_matmul_batch(&matmul->a_shape) == 1 && !tt_tensor_is_sharded(matmul->a) &&
	       !tt_tensor_is_sharded(matmul->b);
}

/*
 * Batches agree extent by extent, or b has one matrix for all. Some kinds also reuse one matrix a.
 */
static tt_status check_batches(const struct tt_matmul *matmul,
			       const struct tt_matmul_config *config)
{
	const struct ttnn_shape *a = &matmul->a_shape, *b = &matmul->b_shape;

	if (matmul->broadcast) {
		if (tt_matmul_batch(b) == 1)
			return TTNN_OK;
		return tt_fail_cond(TTNN_INVALID, "get_batch_size(b_shape) == 1",
				    "Batch-broadcast matmul requires input B batch size 1 (shapes "
				    "BCMK*11KN=BCMN), got B batch size %u",
				    tt_matmul_batch(b));
	}
	TT_REQUIRE(a->rank == b->rank, "a_shape.rank() == b_shape.rank()",
		   "Batched (non-bcast) matmul requires inputs of the same rank, got a_shape "
		   "rank: %u vs b_shape rank: %u",
		   a->rank, b->rank);
	for (uint32_t i = 0; i + 2 < a->rank; i++)
		TT_REQUIRE(a->dim[i] == b->dim[i] || (a->dim[i] == 1 && reuses_a(matmul, config)),
			   "a_shape[i] == b_shape[i] || (a_shape[i] == 1 && in0_reuse())",
			   "bmm (non-bcast matmul) expects input tensors of shapes BCMK*BCKN=BCMN "
			   "or batch dimension %u mismatch: a=%u vs b=%u (dimension mismatch only "
			   "allowed when all batch dimensions of a are size 1 and using "
			   "MatmulMultiCoreReuseMultiCast1DProgramConfig with fuse_batch=false, "
			   "fused_activation=none, mcast_in0=false, and non-sharded inputs for "
			   "in0 reuse optimization)",
			   i, a->dim[i], b->dim[i]);
	return TTNN_OK;
}

/*
 * A bias is one row of tiles; the kind that gives out whole matrices takes one for each row of
 * tiles of the result.
 */
static tt_status check_bias_rows(const struct tt_matmul *matmul,
				 const struct tt_matmul_config *config)
{
	uint32_t rows = config->kind == TT_MATMUL_REUSE ? matmul->m : 1;
	uint32_t height = tt_shape_last(&matmul->bias->spec.padded, 2);

	TT_REQUIRE(tt_matmul_batch(&matmul->bias->spec.shape) == 1, "bias_batch_size == 1",
		   "Unsupported bias shape: batch size must be 1, got %u",
		   tt_matmul_batch(&matmul->bias->spec.shape));
	TT_REQUIRE(height == rows * matmul->a_tile.height,
		   "bias_shape_padded[-2] == expected_bias_height",
		   "Unsupported bias shape: padded second last dimension of bias, %u, not equal "
		   "to expected bias height, %u (tile height %u x %u bias tile-row(s))",
		   height, rows * matmul->a_tile.height, matmul->a_tile.height, rows);
	return TTNN_OK;
}

/*
 * The bias is added tile by tile: its tiles are as high as a's and as wide as b's, and it is as
 * wide as the result.
 */
static tt_status check_bias(const struct tt_matmul *matmul, const struct tt_matmul_config *config)
{
	const struct ttnn_tensor_spec *bias = matmul->bias ? &matmul->bias->spec : NULL;
	const struct ttnn_tile *a = &matmul->a_tile, *b = &matmul->b_tile;

	if (!bias)
		return TTNN_OK;
	TT_REQUIRE(bias->tile.height == a->height && bias->tile.width == b->width,
		   "(bias_tile_shape[0] == in0_tile.get_height() && bias_tile_shape[1] == "
		   "in1_tile.get_width())",
		   "Unsupported bias tile shape: bias tile (%u, %u) has to be (in0 tile height "
		   "%u, in1 tile width %u)",
		   bias->tile.height, bias->tile.width, a->height, b->width);
	TT_REQUIRE(bias->layout == TTNN_TILE, "bias.layout() == Layout::TILE",
		   "Unsupported bias layout: Layout::ROW_MAJOR, has to be TILE");
	TT_TRY(check_bias_rows(matmul, config));
	TT_REQUIRE(tt_shape_last(&bias->padded, 1) == tt_shape_last(&matmul->b_padded, 1),
		   "bias_shape_padded[-1] == b_shape_padded[-1]",
		   "Unsupported bias shape: padded last dimension of bias, %u, not equal to "
		   "second input's padded last dimension, %u.",
		   tt_shape_last(&bias->padded, 1), tt_shape_last(&matmul->b_padded, 1));
	TT_REQUIRE(tt_shape_last(&bias->shape, 1) >= tt_shape_last(&matmul->b_shape, 1),
		   "bias_shape[-1] >= b_shape[-1]",
		   "Unsupported bias shape: last dimension of bias, %u, not equal to or greater "
		   "than second input's last dimension, %u.",
		   tt_shape_last(&bias->shape, 1), tt_shape_last(&matmul->b_shape, 1));
	TT_REQUIRE(a->height != 32 || b->width != 16 || b->transpose, "false",
		   "matmul fused bias does not support 32x16 narrow in1 tile (in0 tile height=%u, "
		   "in1 tile width=%u). Use tile width 32 when bias is fused, or apply bias as a "
		   "post-process add.",
		   a->height, b->width);
	return TTNN_OK;
}

/* untilize_out writes rows, which block floats cannot have. */
static tt_status check_untilize(const struct tt_matmul *matmul,
				const struct tt_matmul_config *config)
{
	if (!matmul->untilize)
		return TTNN_OK;
	TT_CONFIG_REQUIRE(config, matmul->dtype == TTNN_BFLOAT16 || matmul->dtype == TTNN_FLOAT32,
			  "(attributes.output_dtype.value() == DataType::BFLOAT16) || "
			  "(attributes.output_dtype.value() == DataType::FLOAT32)",
			  "Unsupported data type: DataType::%s, only BFLOAT16 and FLOAT32 are "
			  "supported",
			  tt_dtype_text(matmul->dtype));
	return TTNN_OK;
}

/* Upstream's order: the first condition that fails gives the text. */
tt_status tt_matmul_check(const struct tt_matmul *matmul, const struct tt_matmul_config *config,
			  const struct ttnn_tensor_spec *out)
{
	TT_TRY(check_operands(matmul));
	TT_TRY(check_extents(matmul));
	TT_TRY(check_output(matmul, out));
	TT_TRY(check_small_tiles(matmul, config));
	TT_TRY(check_grid(matmul, config));
	TT_TRY(check_blocks(matmul, config));
	TT_TRY(check_reuse_work(matmul, config));
	TT_TRY(check_work(matmul, config));
	TT_TRY(check_batches(matmul, config));
	TT_TRY(tt_matmul_check_second(matmul, config));
	TT_TRY(check_bias(matmul, config));
	TT_TRY(check_untilize(matmul, config));
	return tt_matmul_check_config(matmul, config);
}
