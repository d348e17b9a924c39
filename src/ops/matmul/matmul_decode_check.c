/*
 * matmul_decode_check.c: what MatmulDecodeDeviceOperation of ttnn 0.81 refuses, in its words.
 */
#include "device/device.h"
#include "ops/matmul/matmul_decode.h"
#include "ops/mem_rows.h"
#include "tensor/enums.h"
#include "tensor/shape.h"
#include "tensor/tile.h"

#define MOST_ROW_TILES 8 /* of a result that the engine holds */

static tt_status check_kinds(const struct tt_launch *launch)
{
	static const char *const layouts[] = {"input_tensor_a.layout() == Layout::TILE",
					      "input_tensor_b.layout() == Layout::TILE"};
	static const char *const places[] = {"input_tensor_a.memory_config().memory_layout() == "
					     "TensorMemoryLayout::WIDTH_SHARDED",
					     "input_tensor_b.memory_config().memory_layout() == "
					     "TensorMemoryLayout::WIDTH_SHARDED"};

	for (int i = TT_DECODE_A; i <= TT_DECODE_B; i++)
		TT_REQUIRE(launch->inputs[i]->spec.layout == TTNN_TILE, layouts[i],
			   "Input tensor %c must be in tile layout", 'A' + i);
	for (int i = TT_DECODE_A; i <= TT_DECODE_B; i++) {
		const struct ttnn_memory_config *memory = &launch->inputs[i]->spec.memory;

		TT_REQUIRE(memory->layout == TTNN_WIDTH_SHARDED, places[i],
			   "Input tensor %c must be in width sharded memory layout, but got "
			   "TensorMemoryLayout::%s",
			   'A' + i, tt_enum_name(&tt_enum_memory_layout, memory->layout));
		TT_NEED(memory->has_shard, "bad optional access");
	}
	return TTNN_OK;
}

static tt_status check_rows(const struct tt_launch *launch, const char *what)
{
	uint32_t tiles = tt_decode_row_tiles(launch),
		 height = launch->inputs[TT_DECODE_A]->spec.tile.height;

	TT_REQUIRE(tiles <= MOST_ROW_TILES, "M_tiles <= 8",
		   "%s matmul_decode requires M_tiles (= ceil(M / tile_height)) <= 8 so the output "
		   "block fits in DST, but got M_tiles=%u (M=%u, tile_height=%u)",
		   what, tiles, tt_decode_number(launch, TT_DECODE_ROWS), height);
	return TTNN_OK;
}

static tt_status check_a_width(const struct tt_launch *launch)
{
	uint32_t width = tt_decode_shard(launch, TT_DECODE_A)->width;

	TT_REQUIRE(width % TT_TILE == 0, "a_shard.shape[1] % tt::constants::TILE_WIDTH == 0",
		   "Input tensor A shard width %u must be divisible by the tile width 32", width);
	return TTNN_OK;
}

static tt_status check_batch_blocks(const struct tt_launch *launch)
{
	const struct ttnn_shape *b = &launch->inputs[TT_DECODE_B]->spec.shape;
	const struct ttnn_shard_spec *shard = tt_decode_shard(launch, TT_DECODE_B);
	uint32_t blocks = tt_decode_number(launch, TT_DECODE_B_BLOCKS),
		 each = tt_decode_number(launch, TT_DECODE_BATCH) / blocks;
	uint32_t columns = tt_decode_number(launch, TT_DECODE_COLS),
		 inner = tt_decode_number(launch, TT_DECODE_INNER);
	uint32_t n_blocks = tt_decode_number(launch, TT_DECODE_N_BLOCKS), cores;

	TT_REQUIRE(shard->height % TT_TILE == 0 && shard->width % TT_TILE == 0,
		   "b_shard_h % tt::constants::TILE_HEIGHT == 0 && b_shard_w % "
		   "tt::constants::TILE_WIDTH == 0",
		   "batched matmul_decode requires B shard dims [%u, %u] to be tile-aligned (tile "
		   "32x32)",
		   shard->height, shard->width);
	TT_REQUIRE(shard->height == each * inner,
		   "b_shard_h == static_cast<uint32_t>(Bc) * operation_attributes.K",
		   "batched matmul_decode expects B shard height %u to equal Bc * K = %u * %u = %u",
		   shard->height, each, inner, each * inner);
	TT_REQUIRE(shard->width == columns / n_blocks, "b_shard_w == static_cast<uint32_t>(Nc)",
		   "batched matmul_decode expects B shard width %u to equal Nc = N / n_blocks = %u",
		   shard->width, columns / n_blocks);
	cores = (uint32_t)ttnn_core_set_cores(shard->grid);
	TT_REQUIRE(cores == blocks * n_blocks, "num_B_cores == b_blocks * n_blocks",
		   "batched matmul_decode expects B sharded across b_blocks * n_blocks = %u * %u = "
		   "%u cores, but got %u",
		   blocks, n_blocks, blocks * n_blocks, cores);
	TT_REQUIRE(tt_shape_last(b, 2) == each * inner,
		   "input_tensor_b.logical_shape()[-2] == Bc * operation_attributes.K",
		   "batched matmul_decode expects B logical height %u to equal Bc * K = %u * %u = "
		   "%u",
		   tt_shape_last(b, 2), each, inner, each * inner);
	return TTNN_OK;
}

static tt_status check_batched(const struct tt_launch *launch)
{
	uint32_t columns = tt_decode_number(launch, TT_DECODE_COLS),
		 blocks = tt_decode_number(launch, TT_DECODE_N_BLOCKS);

	TT_REQUIRE(blocks && columns % blocks == 0,
		   "n_blocks > 0 && operation_attributes.N % n_blocks == 0",
		   "Batched matmul_decode requires n_blocks %u to be a positive divisor of N %u",
		   blocks, columns);
	TT_TRY(check_rows(launch, "batched"));
	TT_TRY(check_a_width(launch));
	return check_batch_blocks(launch);
}

/* How many blocks of k and of n the weights have. */
static tt_status check_partial_blocks(const struct tt_launch *launch)
{
	const struct ttnn_shard_spec *shard = tt_decode_shard(launch, TT_DECODE_B);
	const struct ttnn_shape *b = &launch->inputs[TT_DECODE_B]->spec.shape;
	uint32_t k = (uint32_t)tt_div_up(tt_decode_number(launch, TT_DECODE_INNER), TT_TILE), high;
	uint32_t n = (uint32_t)tt_div_up(tt_decode_number(launch, TT_DECODE_COLS), TT_TILE), wide,
		 cores;

	high = shard->height / TT_TILE;
	wide = shard->width / TT_TILE;
	TT_REQUIRE(high && k % high == 0, "K_tiles % Kc_tiles == 0",
		   "partial_width_sharded matmul_decode requires K_tiles %u to be divisible by the "
		   "B shard height in tiles %u (Kc=%u)",
		   k, high, shard->height);
	TT_REQUIRE(k / high % 2 == 0, "K_blocks % 2 == 0",
		   "partial_width_sharded matmul_decode requires an even number of K-blocks (the "
		   "cross-core reduction sums partials pairwise), but got K_blocks=%u",
		   k / high);
	TT_REQUIRE(n % wide == 0, "N_tiles % Nc_tiles == 0",
		   "partial_width_sharded matmul_decode requires N_tiles %u to be divisible by the "
		   "B shard width in tiles %u (Nc=%u)",
		   n, wide, shard->width);
	cores = (uint32_t)ttnn_core_set_cores(shard->grid);
	TT_REQUIRE(cores == k / high * (n / wide), "num_B_cores == K_blocks * N_blocks",
		   "partial_width_sharded matmul_decode expects B sharded across K_blocks * "
		   "N_blocks = %u * %u = %u cores, but got %u",
		   k / high, n / wide, k / high * (n / wide), cores);
	TT_REQUIRE(tt_shape_last(b, 2) == shard->height,
		   "input_tensor_b.logical_shape()[-2] == static_cast<int>(Kc)",
		   "partial_width_sharded matmul_decode expects B logical height %u to equal the "
		   "shard height Kc=%u",
		   tt_shape_last(b, 2), shard->height);
	TT_REQUIRE(tt_shape_last(b, 1) == k / high * tt_decode_number(launch, TT_DECODE_COLS),
		   "input_tensor_b.logical_shape()[-1] == K_blocks * operation_attributes.N",
		   "partial_width_sharded matmul_decode expects B logical width %u to equal "
		   "K_blocks * N = %u * %u = %u (B is reshaped/permuted so the K-blocks fold into "
		   "the width)",
		   tt_shape_last(b, 1), k / high, tt_decode_number(launch, TT_DECODE_COLS),
		   k / high * tt_decode_number(launch, TT_DECODE_COLS));
	return TTNN_OK;
}

static tt_status check_partial(const struct tt_launch *launch)
{
	uint32_t tile = launch->inputs[TT_DECODE_A]->spec.tile.height,
		 tiles = tt_decode_row_tiles(launch);
	const struct ttnn_shard_spec *b = tt_decode_shard(launch, TT_DECODE_B);

	TT_TRY(check_rows(launch, "partial_width_sharded"));
	TT_REQUIRE(tt_decode_shard(launch, TT_DECODE_A)->height == tiles * tile,
		   "a_shard.shape[0] == static_cast<uint32_t>(M_tiles) * a_tile_height",
		   "Input tensor A shard height %u must equal M_tiles %u * tile height %u",
		   tt_decode_shard(launch, TT_DECODE_A)->height, tiles, tile);
	TT_TRY(check_a_width(launch));
	TT_REQUIRE(b->height % TT_TILE == 0 && b->width % TT_TILE == 0,
		   "Kc % tt::constants::TILE_HEIGHT == 0 && Nc % tt::constants::TILE_WIDTH == 0",
		   "partial_width_sharded matmul_decode requires B shard dims [%u, %u] to be "
		   "tile-aligned (tile 32x32)",
		   b->height, b->width);
	return check_partial_blocks(launch);
}

static tt_status check_full(const struct tt_launch *launch)
{
	const struct ttnn_shape *a = &launch->inputs[TT_DECODE_A]->spec.shape;
	const struct ttnn_shape *b = &launch->inputs[TT_DECODE_B]->spec.shape;

	for (uint32_t i = 0; b->rank > 2 && i + 2 < a->rank; i++)
		if (i >= b->rank || a->dim[i] != b->dim[i])
			return tt_fail_shapes(
				TTNN_INVALID,
				"input_tensor_a.logical_shape()[i] == "
				"input_tensor_b.logical_shape()[i]",
				"Input tensor A and B must have the same shape for all dimensions "
				"except the last two, but got %s and %s",
				a, b);
	TT_REQUIRE(tt_shape_last(b, 2) == tt_decode_number(launch, TT_DECODE_INNER),
		   "input_tensor_b.logical_shape()[-2] == operation_attributes.K",
		   "Input tensor B must have the same K dimension as the operation attributes");
	return TTNN_OK;
}

tt_status tt_decode_validate(struct tt_launch *launch)
{
	TT_TRY(check_kinds(launch));
	if (tt_decode_is_batched(launch))
		return check_batched(launch);
	return launch->attrs[TT_DECODE_PARTIAL].boolean ? check_partial(launch)
							: check_full(launch);
}

/* Tiles are 32 wide, and those of weights as high. */
tt_status tt_decode_check_tiles(const struct tt_launch *launch)
{
	const struct ttnn_tile *a = &launch->inputs[TT_DECODE_A]->spec.tile;
	const struct ttnn_tile *b = &launch->inputs[TT_DECODE_B]->spec.tile;

	TT_REQUIRE(b->height == TT_TILE, "inputB_tile_height == tt::constants::TILE_HEIGHT",
		   tt_decode_is_batched(launch) ? "Input tensor B tile height %u must be 32"
						: "Input tensor B %u tile height must be 32",
		   b->height);
	TT_REQUIRE(a->width == TT_TILE, "inputA_tile_width == tt::constants::TILE_WIDTH",
		   "Input tensor A tile width %u must be equal to the tile width 32", a->width);
	TT_REQUIRE(b->width == TT_TILE, "inputB_tile_width == tt::constants::TILE_WIDTH",
		   "Input tensor B tile width %u must be equal to the tile width 32", b->width);
	return TTNN_OK;
}
