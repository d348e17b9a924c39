/*
 * Matrix products against their goldens, by every kind of program; and what programs keep in L1 where
 * no recorded program tells: rows that the released library was asked for.
 */
#include "test.h"

#include "backend/cpu/weights.h"
#include "base/arena.h"
#include "device/device.h"
#include "event/event.h"
#include "golden.h"
#include "ops/golden_cases.h"
#include "ops/objects.h"
#include "ops/op_enums.h"
#include "tensor/text.h"

static struct tt_arena arena;

/* ---- configs ---------------------------------------------------------------------------------------- */

enum kind { NONE, REUSE, TWO, ONE_A, ONE_B, GATHER, DRAM, BATCHED };

/* A program config: what the tables below give of it. */
struct config {
	enum kind kind;
	struct ttnn_core grid;
	uint32_t k, m, n, block_h, block_w;
	const char *activation;
	bool no_fuse, transpose;
};

static struct ttnn_value activation_value(const char *name)
{
	struct ttnn_value out = ttnn_v_none();
	int64_t fn;

	if (name && tt_enum_find(&fn, &tt_enum_unary, name))
		CHECK_OK(tt_object_make(
			&out, &arena, "UnaryWithParam",
			(struct ttnn_arg[]){{NULL, tt_value_enum(&tt_enum_unary, fn)}}, 1));
	return out;
}

static void put(struct ttnn_arg *args, size_t *count, const char *name, struct ttnn_value value)
{
	args[(*count)++] = (struct ttnn_arg){name, value};
}

static struct ttnn_value config_value(const struct config *c)
{
	static const char *const names[] = {
		[REUSE] = "MatmulMultiCoreReuseProgramConfig",
		[TWO] = "MatmulMultiCoreReuseMultiCastProgramConfig",
		[ONE_A] = "MatmulMultiCoreReuseMultiCast1DProgramConfig",
		[ONE_B] = "MatmulMultiCoreReuseMultiCast1DProgramConfig",
		[GATHER] = "MatmulMultiCoreReuseMultiCast1DProgramConfig",
		[DRAM] = "MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig",
		[BATCHED] = "MatmulMultiCoreReuseMultiCastBatchedDRAMShardedProgramConfig",
	};
	struct ttnn_arg args[16];
	struct ttnn_value out = ttnn_v_none();
	size_t n = 0;

	put(args, &n, "in0_block_w", ttnn_v_int(c->k));
	put(args, &n, "per_core_M", ttnn_v_int(c->m));
	put(args, &n, "per_core_N", ttnn_v_int(c->n));
	if (c->kind != REUSE)
		put(args, &n, "fused_activation", activation_value(c->activation));
	if (c->kind < DRAM) {
		put(args, &n, "compute_with_storage_grid_size",
		    (struct ttnn_value){.kind = TTNN_VALUE_CORE, .core = c->grid});
		put(args, &n, "out_subblock_h", ttnn_v_int(1));
		put(args, &n, "out_subblock_w", ttnn_v_int(1));
	}
	if (c->kind == TWO)
		put(args, &n, "transpose_mcast", ttnn_v_bool(c->transpose));
	if (c->kind == TWO || c->kind == ONE_A || c->kind == ONE_B || c->kind == GATHER) {
		put(args, &n, "fuse_batch", ttnn_v_bool(!c->no_fuse));
		put(args, &n, "out_block_h", c->block_h ? ttnn_v_int(c->block_h) : ttnn_v_none());
		put(args, &n, "out_block_w", c->block_w ? ttnn_v_int(c->block_w) : ttnn_v_none());
	}
	if (c->kind == ONE_A || c->kind == ONE_B || c->kind == GATHER) {
		put(args, &n, "mcast_in0", ttnn_v_bool(c->kind == ONE_A));
		put(args, &n, "gather_in0", ttnn_v_bool(c->kind == GATHER));
	}
	CHECK_OK(tt_object_make(&out, &arena, names[c->kind], args, n));
	return out;
}

/* ---- places ------------------------------------------------------------------------------------------- */

/* Where a tensor lies: nowhere in particular is DRAM; a grid of 0 leaves the shards open. */
struct place {
	enum ttnn_memory_layout layout;
	enum ttnn_buffer_type buffer;
	struct ttnn_core end; /* the cores from (0, 0) to here */
	uint32_t height, width;
	bool readers; /* the cores that read the banks of DRAM instead */
};

#define L1                                                                                         \
	{                                                                                          \
		.buffer = TTNN_L1                                                                  \
	}
#define SHARDS(layout_, x_, y_, h_, w_)                                                            \
	{                                                                                          \
		.layout = TTNN_##layout_##_SHARDED, .buffer = TTNN_L1, .end = {x_, y_},            \
		.height = h_, .width = w_                                                          \
	}
#define OPEN(layout_)                                                                              \
	{                                                                                          \
		.layout = TTNN_##layout_##_SHARDED, .buffer = TTNN_L1                              \
	}

static struct ttnn_memory_config memory_of(const struct place *place)
{
	struct ttnn_memory_config out = {.layout = place->layout, .buffer = place->buffer};
	struct ttnn_shard_spec shard = {.height = place->height, .width = place->width};
	struct ttnn_core_range ranges[16];
	struct ttnn_core cores[16];
	size_t count = 1;

	if (!place->height)
		return out;
	ranges[0] = (struct ttnn_core_range){{0, 0}, place->end};
	if (place->readers) {
		count = ttnn_device_get_info(golden_device())->dram_banks;
		CHECK_OK(tt_workers_dram(cores, &golden_device()->workers, 0));
		for (size_t i = 0; i < count; i++)
			ranges[i] = (struct ttnn_core_range){cores[i], cores[i]};
	}
	CHECK_OK(ttnn_core_set_make(&shard.grid, ranges, count));
	CHECK_OK(ttnn_memory_config_sharded(&out, place->layout, place->buffer, &shard));
	return out;
}

/* ---- calls ---------------------------------------------------------------------------------------------- */

struct side {
	struct ttnn_shape shape;
	enum ttnn_dtype dtype;
	struct place place;
};

/* A product; a rank of 0 leaves the bias out. */
struct product {
	struct side a, b, bias;
	bool transpose_a, transpose_b;
	const char *activation;
	struct place out;
	enum ttnn_dtype dtype;
	bool has_dtype, has_out, exact; /* exact: float32 sums are asked for */
	struct config config;
	struct ttnn_core grid; /* of the caller */
};

#define S(...)                                                                                     \
	{                                                                                          \
		sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t),                              \
		{                                                                                  \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}
#define BF16 TTNN_BFLOAT16
#define F32 TTNN_FLOAT32
#define BF8 TTNN_BFLOAT8_B
#define BF4 TTNN_BFLOAT4_B

static ttnn_tensor *side_tensor(const struct side *side, uint64_t *state)
{
	struct ttnn_spec_args args = {.shape = side->shape,
				      .dtype = side->dtype,
				      .layout = TTNN_TILE,
				      .memory = memory_of(&side->place)};

	return golden_make(&args, state, -1, 1);
}

/* The arguments of a product; `memory` is where the config of the result is kept. */
static size_t product_args(struct ttnn_arg *args, struct ttnn_memory_config *memory,
			   ttnn_tensor *const *tensors, const struct product *p)
{
	struct ttnn_value compute = ttnn_v_none();
	size_t n = 0;

	put(args, &n, NULL, ttnn_v_tensor(tensors[0]));
	put(args, &n, NULL, ttnn_v_tensor(tensors[1]));
	if (p->bias.shape.rank)
		put(args, &n, "bias", ttnn_v_tensor(tensors[2]));
	put(args, &n, "transpose_a", ttnn_v_bool(p->transpose_a));
	put(args, &n, "transpose_b", ttnn_v_bool(p->transpose_b));
	put(args, &n, "activation", ttnn_v_string(p->activation));
	if (p->has_dtype)
		put(args, &n, "dtype", ttnn_v_dtype(p->dtype));
	if (p->has_out) {
		*memory = memory_of(&p->out);
		put(args, &n, "memory_config", ttnn_v_memory(memory));
	}
	if (p->config.kind)
		put(args, &n, "program_config", config_value(&p->config));
	if (p->grid.x)
		put(args, &n, "core_grid",
		    (struct ttnn_value){.kind = TTNN_VALUE_CORE, .core = p->grid});
	if (p->exact)
		CHECK_OK(tt_object_make(
			&compute, &arena, "WormholeComputeKernelConfig",
			(struct ttnn_arg[]){{"fp32_dest_acc_en", ttnn_v_bool(true)}}, 1));
	put(args, &n, "compute_kernel_config", compute);
	return n;
}

static void run_product(const struct product *p, const char *name, uint64_t *state)
{
	ttnn_tensor *tensors[3] = {side_tensor(&p->a, state), side_tensor(&p->b, state), NULL};
	struct ttnn_memory_config memory;
	struct ttnn_arg args[16];
	size_t count;

	if (p->bias.shape.rank)
		tensors[2] = side_tensor(&p->bias, state);
	count = product_args(args, &memory, tensors, p);
	golden_case_on_threads(name, args, count, 8);
	for (size_t i = 0; i < 3; i++)
		ttnn_tensor_unref(tensors[i]);
	tt_arena_reset(&arena);
}

/* ---- goldens ---------------------------------------------------------------------------------------------- */

static const struct product plain[] = {
	{.a = {.shape = S(32, 32), .dtype = BF16}, .b = {.shape = S(32, 32), .dtype = BF16}},
	{.a = {.shape = S(45, 70), .dtype = BF16}, .b = {.shape = S(70, 33), .dtype = BF16}},
	{.a = {.shape = S(1, 64), .dtype = F32}, .b = {.shape = S(64, 1), .dtype = F32}},
	{.a = {.shape = S(64), .dtype = BF16}, .b = {.shape = S(64), .dtype = BF16}},
	{.a = {.shape = S(40), .dtype = F32}, .b = {.shape = S(40, 50), .dtype = F32}},
	{.a = {.shape = S(50, 40), .dtype = F32}, .b = {.shape = S(40), .dtype = F32}},
	{.a = {.shape = S(2, 3, 45, 64), .dtype = BF16}, .b = {.shape = S(64, 33), .dtype = BF16}},
	{.a = {.shape = S(2, 3, 20, 33), .dtype = F32},
	 .b = {.shape = S(2, 3, 33, 40), .dtype = F32}},
	{.a = {.shape = S(3, 64, 96), .dtype = BF16}, .b = {.shape = S(3, 96, 64), .dtype = BF8}},
	{.a = {.shape = S(2, 1, 2, 33, 20), .dtype = BF16},
	 .b = {.shape = S(2, 1, 2, 20, 65), .dtype = BF16}},
	{.a = {.shape = S(1, 1, 64, 96), .dtype = BF16},
	 .b = {.shape = S(1, 3, 96, 40), .dtype = BF16}},
	{.a = {.shape = S(70, 45), .dtype = BF16},
	 .b = {.shape = S(70, 33), .dtype = BF16},
	 .transpose_a = true},
	{.a = {.shape = S(45, 70), .dtype = F32},
	 .b = {.shape = S(33, 70), .dtype = F32},
	 .transpose_b = true},
	{.a = {.shape = S(2, 40, 30), .dtype = BF16},
	 .b = {.shape = S(2, 50, 40), .dtype = BF16},
	 .transpose_a = true,
	 .transpose_b = true},
	{.a = {.shape = S(40, 30), .dtype = BF16, .place = L1},
	 .b = {.shape = S(50, 40), .dtype = BF16, .place = L1},
	 .transpose_a = true,
	 .transpose_b = true},
	{.a = {.shape = S(64, 128), .dtype = BF8}, .b = {.shape = S(128, 64), .dtype = BF8}},
	{.a = {.shape = S(64, 128), .dtype = BF16}, .b = {.shape = S(128, 64), .dtype = BF4}},
	{.a = {.shape = S(100, 64), .dtype = BF16},
	 .b = {.shape = S(64, 100), .dtype = BF16},
	 .has_dtype = true,
	 .dtype = F32},
	{.a = {.shape = S(64, 64), .dtype = F32},
	 .b = {.shape = S(64, 64), .dtype = BF16},
	 .has_dtype = true,
	 .dtype = BF8},
	{.a = {.shape = S(45, 70), .dtype = BF16},
	 .b = {.shape = S(70, 33), .dtype = BF16},
	 .activation = "relu"},
	{.a = {.shape = S(4, 32, 64), .dtype = BF16, .place = L1},
	 .b = {.shape = S(64, 96), .dtype = BF16},
	 .activation = "silu"},
	{.a = {.shape = S(300, 64), .dtype = BF16},
	 .b = {.shape = S(64, 40), .dtype = BF16},
	 .has_out = true,
	 .out = L1},
	{.a = {.shape = S(256, 128), .dtype = BF16},
	 .b = {.shape = S(128, 256), .dtype = BF16},
	 .grid = {4, 4}},
	{.a = {.shape = S(2, 3, 33, 64), .dtype = BF16},
	 .b = {.shape = S(2, 3, 64, 40), .dtype = BF16},
	 .grid = {8, 8}},
	{.a = {.shape = S(256, 128), .dtype = BF16},
	 .b = {.shape = S(128, 256), .dtype = BF16},
	 .grid = {4, 4},
	 .activation = "gelu"},
	{.a = {.shape = S(96, 64), .dtype = BF16},
	 .b = {.shape = S(64, 96), .dtype = BF16},
	 .exact = true},
};

static const struct product configured[] = {
	{.a = {.shape = S(1, 4, 64, 64), .dtype = BF16},
	 .b = {.shape = S(1, 4, 64, 96), .dtype = BF16},
	 .config = {.kind = REUSE, .grid = {8, 8}, .k = 1, .m = 2, .n = 3}},
	{.a = {.shape = S(1, 4, 64, 64), .dtype = BF16, .place = SHARDS(HEIGHT, 3, 0, 64, 64)},
	 .b = {.shape = S(1, 4, 64, 96), .dtype = BF16, .place = SHARDS(HEIGHT, 3, 0, 64, 96)},
	 .has_out = true,
	 .out = OPEN(HEIGHT),
	 .config = {.kind = REUSE, .grid = {4, 1}, .k = 2, .m = 2, .n = 3}},
	{.a = {.shape = S(1, 1, 128, 128), .dtype = BF16},
	 .b = {.shape = S(1, 1, 128, 128), .dtype = BF16},
	 .config = {.kind = TWO, .grid = {4, 4}, .k = 2, .m = 1, .n = 1, .activation = "RELU"}},
	{.a = {.shape = S(1, 1, 128, 128), .dtype = BF16, .place = SHARDS(BLOCK, 3, 3, 32, 32)},
	 .b = {.shape = S(1, 1, 128, 256), .dtype = BF8},
	 .has_out = true,
	 .out = OPEN(BLOCK),
	 .config = {.kind = TWO, .grid = {4, 4}, .k = 1, .m = 1, .n = 2}},
	{.a = {.shape = S(2, 3, 64, 96), .dtype = BF16},
	 .b = {.shape = S(2, 3, 96, 64), .dtype = BF16},
	 .config = {.kind = TWO, .grid = {8, 8}, .k = 3, .m = 1, .n = 1, .no_fuse = true}},
	{.a = {.shape = S(128, 64), .dtype = BF16},
	 .b = {.shape = S(64, 96), .dtype = BF16},
	 .config = {.kind = TWO, .grid = {8, 8}, .k = 1, .m = 1, .n = 1, .transpose = true}},
	{.a = {.shape = S(1, 1, 32, 256), .dtype = BF16, .place = SHARDS(WIDTH, 7, 0, 32, 32)},
	 .b = {.shape = S(1, 1, 256, 256), .dtype = BF16},
	 .has_out = true,
	 .out = OPEN(WIDTH),
	 .config = {.kind = ONE_A, .grid = {8, 1}, .k = 1, .m = 1, .n = 1, .activation = "SILU"}},
	{.a = {.shape = S(1, 1, 64, 256), .dtype = BF16},
	 .b = {.shape = S(1, 1, 256, 200), .dtype = BF16},
	 .config = {.kind = ONE_A,
		    .grid = {8, 8},
		    .k = 2,
		    .m = 2,
		    .n = 2,
		    .block_h = 1,
		    .block_w = 1}},
	{.a = {.shape = S(1, 1, 256, 64), .dtype = BF16, .place = SHARDS(HEIGHT, 3, 1, 32, 64)},
	 .b = {.shape = S(1, 1, 64, 96), .dtype = BF16},
	 .has_out = true,
	 .out = OPEN(HEIGHT),
	 .config = {.kind = ONE_B, .grid = {4, 2}, .k = 1, .m = 1, .n = 3}},
	{.a = {.shape = S(1, 1, 64, 64), .dtype = BF16},
	 .b = {.shape = S(1, 3, 64, 96), .dtype = BF16},
	 .config = {.kind = ONE_B, .grid = {8, 8}, .k = 2, .m = 1, .n = 3, .no_fuse = true}},
	{.a = {.shape = S(1, 1, 32, 256), .dtype = BF16, .place = SHARDS(WIDTH, 7, 0, 32, 32)},
	 .b = {.shape = S(1, 1, 256, 256), .dtype = BF16, .place = SHARDS(WIDTH, 7, 0, 256, 32)},
	 .has_out = true,
	 .out = SHARDS(WIDTH, 7, 0, 32, 32),
	 .config = {.kind = GATHER, .grid = {8, 1}, .k = 1, .m = 1, .n = 1}},
	{.a = {.shape = S(1, 1, 32, 256), .dtype = BF16, .place = SHARDS(WIDTH, 7, 0, 32, 32)},
	 .b = {.shape = S(1, 1, 256, 384),
	       .dtype = BF8,
	       .place = {.layout = TTNN_WIDTH_SHARDED,
			 .buffer = TTNN_DRAM,
			 .end = {11, 0},
			 .height = 256,
			 .width = 32}},
	 .has_out = true,
	 .out = OPEN(WIDTH),
	 .config = {.kind = DRAM, .k = 1, .m = 1, .n = 2, .activation = "RELU"}},
	{.a = {S(1, 12, 32, 64),
	       BF16,
	       {.layout = TTNN_HEIGHT_SHARDED,
		.buffer = TTNN_L1,
		.height = 32,
		.width = 64,
		.readers = true}},
	 .b = {.shape = S(1, 12, 64, 96),
	       .dtype = BF16,
	       .place = {.layout = TTNN_HEIGHT_SHARDED,
			 .buffer = TTNN_DRAM,
			 .end = {11, 0},
			 .height = 64,
			 .width = 96}},
	 .has_out = true,
	 .out = {.layout = TTNN_HEIGHT_SHARDED,
		 .buffer = TTNN_L1,
		 .height = 32,
		 .width = 96,
		 .readers = true},
	 .config = {.kind = BATCHED, .k = 2, .m = 1, .n = 3}},
};

TEST(products_are_those_of_their_goldens)
{
	uint64_t state = 1;

	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		run_product(&plain[i], "ttnn.matmul", &state);
	for (size_t i = 0; i < sizeof(configured) / sizeof(configured[0]); i++)
		run_product(&configured[i], "ttnn.matmul", &state);
}

/* The same with biases of all sorts: fused, added behind, broadcast. */
TEST(linear_layers_are_those_of_their_goldens)
{
	uint64_t state = 2;

	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
		struct product p = plain[i];
		uint32_t n = p.b.shape.dim[p.b.shape.rank - (p.transpose_b ? 2 : 1)];

		if (p.a.shape.rank == 1 || p.b.shape.rank == 1 ||
		    ((p.transpose_a || p.transpose_b) && p.a.place.buffer == TTNN_L1))
			continue;
		p.bias = (struct side){.dtype = i % 3 ? BF16 : F32};
		p.bias.shape = i % 4 == 0   ? (struct ttnn_shape){1, {n}}
			       : i % 4 == 1 ? (struct ttnn_shape){2, {1, n}}
			       : i % 4 == 2 ? (struct ttnn_shape){4, {1, 1, 1, n}}
					    : (struct ttnn_shape){2, {1, 1}};
		run_product(&p, "ttnn.linear", &state);
	}
	for (size_t i = 0; i < sizeof(configured) / sizeof(configured[0]); i++) {
		struct product p = configured[i];
		uint32_t n = p.b.shape.dim[p.b.shape.rank - 1];

		if (p.config.kind >= GATHER || p.b.place.height)
			continue;
		p.bias = (struct side){(struct ttnn_shape){1, {n}}, BF16, {0}};
		run_product(&p, "ttnn.linear", &state);
	}
}

TEST(sums_of_a_matrix_and_a_product_are_those_of_their_goldens)
{
	static const double factors[][2] = {{1, 1}, {2, 0.5}, {-1, 1}, {1, 0}, {0.25, 3}};
	static const enum ttnn_dtype dtypes[] = {BF16, F32, BF8, BF16};
	static const uint32_t sizes[][3] = {
		{64, 128, 256}, {45, 70, 33}, {32, 32, 32}, {1, 64, 40}};
	uint64_t state = 3;

	for (size_t i = 0; i < 24; i++) {
		const uint32_t *size = sizes[i % 4];
		enum ttnn_dtype dtype = dtypes[i / 4 % 4];
		struct side sides[] = {
			{.shape = S(size[0], size[2]), .dtype = dtype, .place = {0}},
			{.shape = S(size[0], size[1]), .dtype = dtype, .place = {0}},
			{.shape = S(size[1], size[2]), .dtype = dtype, .place = {0}}};
		struct ttnn_arg args[5];
		ttnn_tensor *tensors[3];

		if (i % 5 == 0)
			sides[1].place.buffer = TTNN_L1;
		for (size_t k = 0; k < 3; k++) {
			tensors[k] = side_tensor(&sides[k], &state);
			args[k] = (struct ttnn_arg){NULL, ttnn_v_tensor(tensors[k])};
		}
		args[3] = (struct ttnn_arg){"alpha", ttnn_v_real(factors[i % 5][0])};
		args[4] = (struct ttnn_arg){"beta", ttnn_v_real(factors[i % 5][1])};
		golden_case_on_threads("ttnn.addmm", args, 5, 8);
		for (size_t k = 0; k < 3; k++)
			ttnn_tensor_unref(tensors[k]);
	}
}

/* A call of two tensors and some more arguments; their tensors are given back. */
static void run_other(const char *name, const struct side *sides, const struct ttnn_arg *more,
		      size_t count, uint64_t *state)
{
	ttnn_tensor *tensors[2] = {side_tensor(&sides[0], state), side_tensor(&sides[1], state)};
	struct ttnn_arg args[10] = {{NULL, ttnn_v_tensor(tensors[0])},
				    {NULL, ttnn_v_tensor(tensors[1])}};

	for (size_t i = 0; i < count; i++)
		args[2 + i] = more[i];
	golden_case_on_threads(name, args, 2 + count, 8);
	ttnn_tensor_unref(tensors[0]);
	ttnn_tensor_unref(tensors[1]);
	tt_arena_reset(&arena);
}

/* Two tensors whose rows continue each other at a whole tile; pairs of tiles of which one gates the other. */
TEST(products_of_joined_rows_and_gated_pairs)
{
	uint64_t state = 9;

	for (size_t i = 0; i < 20; i++) {
		uint32_t m = 5 + 11 * (uint32_t)i % 90, n = 64 * (1 + (uint32_t)i % 3);
		uint32_t k[] = {10 + 13 * (uint32_t)i % 80, 7 + 29 * (uint32_t)i % 70};
		uint32_t all = (k[0] + 31) / 32 * 32 + k[1];
		const struct side sides[] = {{S(1, 2, m, k[0]), i % 4 ? BF16 : BF8, {0}},
					     {S(1, 2, m, k[1]), i % 4 ? BF16 : BF8, {0}},
					     {S(all, n), BF16, {0}},
					     {S(1, n), BF16, {0}}};
		ttnn_tensor *tensors[4];
		struct ttnn_value list[2];

		for (size_t t = 0; t < 4; t++)
			tensors[t] = side_tensor(&sides[t], &state);
		for (size_t t = 0; t < 2; t++)
			list[t] = ttnn_v_tensor(tensors[t]);
		struct ttnn_arg args[] = {
			{NULL, ttnn_v_list(list, 2)},
			{NULL, ttnn_v_tensor(tensors[2])},
			{"bias_tensor", i % 2 ? ttnn_v_tensor(tensors[3]) : ttnn_v_none()},
			{"fuse_swiglu", ttnn_v_bool(i % 3 == 2)}};

		golden_case_on_threads("ttnn.experimental.minimal_matmul", args, 4, 8);
		for (size_t t = 0; t < 4; t++)
			ttnn_tensor_unref(tensors[t]);
	}
	for (size_t i = 0; i < 20; i++) {
		uint32_t chunks = 1 + (uint32_t)i % 3, n = 64 * chunks * (1 + (uint32_t)i % 2);
		struct side sides[] = {{S(2, 33 + (uint32_t)i, 64), i % 5 ? BF16 : BF8, {0}},
				       {S(64, n), BF16, {0}}};
		struct side bias = {S(1, n), BF16, {0}};
		ttnn_tensor *row = side_tensor(&bias, &state);
		struct ttnn_arg more[] = {
			{"chunks", ttnn_v_int(chunks)},
			{"bias_tensor", i % 2 ? ttnn_v_tensor(row) : ttnn_v_none()},
			{"fuse_swiglu", ttnn_v_bool(true)}};

		run_other("ttnn.experimental.minimal_matmul", sides, &more[1], 2, &state);
		run_other("ttnn.experimental.minimal_matmul_split", sides, more, 3, &state);
		ttnn_tensor_unref(row);
	}
}

TEST(products_by_other_programs_are_those_of_their_goldens)
{
	static const enum ttnn_dtype dtypes[] = {BF16, BF8, BF16, BF4};
	static const struct ttnn_shape lefts[] = {S(64, 64), S(2, 3, 45, 64), S(33, 64), S(1, 64),
						  S(1, 1, 100, 64)};
	uint64_t state = 5;

	for (size_t i = 0; i < 20; i++) {
		uint32_t n = 30 + (uint32_t)i * 7;
		struct side sides[] = {
			{lefts[i % 5], dtypes[i % 4], {.buffer = i % 3 == 0 ? TTNN_L1 : TTNN_DRAM}},
			{S(64, n), dtypes[i / 4 % 2], {0}}};
		struct side bias = {.shape = S(1, n), .dtype = BF16, .place = {0}};
		ttnn_tensor *added = side_tensor(&bias, &state);
		struct ttnn_arg more[] = {
			{"bias_tensor", i % 2 ? ttnn_v_tensor(added) : ttnn_v_none()},
			{"fused_activation",
			 i % 5 == 4 ? activation_value("RELU") : ttnn_v_none()}};

		run_other("ttnn.experimental.minimal_matmul", sides, more, 2, &state);
		ttnn_tensor_unref(added);
	}
	for (size_t i = 0; i < 20; i++) {
		uint32_t chunks = 1 + (uint32_t)i % 4, n = 32 * chunks * (1 + (uint32_t)i % 2);
		uint32_t m = 33 + (uint32_t)i;
		struct side sides[] = {{S(2, m, 64), dtypes[i % 2], {0}}, {S(64, n), BF16, {0}}};
		struct side rest[] = {{S(1, n), BF16, {0}}, {S(2, m, n), BF16, {0}}};
		ttnn_tensor *row = side_tensor(&rest[0], &state);
		ttnn_tensor *whole = side_tensor(&rest[1], &state);
		struct ttnn_arg more[] = {
			{"chunks", ttnn_v_int(chunks)},
			{"bias_tensor", i % 2 ? ttnn_v_tensor(row) : ttnn_v_none()}};
		struct ttnn_arg gated[] = {
			{"scalar", ttnn_v_real(0.5 * (double)i)},
			{"addcmul_input_tensor1", ttnn_v_tensor(whole)},
			{"addcmul_input_tensor2", ttnn_v_tensor(i % 3 ? row : whole)},
			{"bias_tensor", i % 2 ? ttnn_v_tensor(row) : ttnn_v_none()}};

		run_other("ttnn.experimental.minimal_matmul_split", sides, more, 2, &state);
		run_other("ttnn.experimental.dit_minimal_matmul_addcmul_fused", sides, gated, 4,
			  &state);
		ttnn_tensor_unref(row);
		ttnn_tensor_unref(whole);
	}
	for (size_t i = 0; i < 20; i++) {
		bool turn_a = i % 4 == 1, turn_b = i % 4 == 2;
		uint32_t m = 20 + 9 * (uint32_t)i, k = 33 + (uint32_t)i, n = 50 - (uint32_t)i;
		struct side sides[] = {{.dtype = BF16}, {.dtype = BF16}};
		struct ttnn_arg more[] = {{"transpose_input", ttnn_v_bool(turn_a)},
					  {"transpose_other", ttnn_v_bool(turn_b)}};

		sides[0].shape = (struct ttnn_shape){4, {2, 1, turn_a ? k : m, turn_a ? m : k}};
		sides[1].shape = (struct ttnn_shape){
			4, {1, 1 + (uint32_t)i % 3, turn_b ? n : k, turn_b ? k : n}};
		run_other("ttnn.moreh_matmul", sides, more, 2, &state);
		sides[0].shape = (struct ttnn_shape){3, {3, m, k}};
		sides[1].shape = (struct ttnn_shape){3, {3, k, n}};
		run_other("ttnn.moreh_bmm", sides, NULL, 0, &state);
		sides[1].shape = (struct ttnn_shape){2, {n, k}};
		run_other("ttnn.moreh_linear", sides, NULL, 0, &state);
		sides[0].shape = sides[1].shape = (struct ttnn_shape){4, {1, 1, 1, 20 * m}};
		run_other("ttnn.moreh_dot", sides, NULL, 0, &state);
	}
}

/* Numbers of a tensor that names or marks things: given ones, in rows, on the device. */
static ttnn_tensor *numbers(const struct ttnn_shape *shape, enum ttnn_dtype dtype,
			    const uint32_t *values)
{
	struct ttnn_spec_args args = {.shape = *shape, .dtype = dtype};
	struct ttnn_tensor_spec spec;
	ttnn_tensor *host, *out;

	CHECK_OK(ttnn_tensor_spec_make(&spec, &args));
	CHECK_OK(ttnn_tensor_from_data(&host, values, TTNN_UINT32, &spec, 0));
	CHECK_OK(ttnn_call_one(&out, "ttnn.to_device",
			       (struct ttnn_arg[]){{NULL, ttnn_v_tensor(host)},
						   {NULL, ttnn_v_device(golden_device())}},
			       2, TTNN_FRONTEND_C));
	ttnn_tensor_unref(host);
	return out;
}

/* Which of the pairs are there: of both, of a, of b; named by an index, with and without a bias; packed. */
enum sparse_mode { BOTH, A_ALONE, B_ALONE, NAMED, NAMED_BIAS, PACKED, SPARSE_MODES };

static void run_sparse(enum sparse_mode mode, size_t i, uint64_t *state)
{
	static const enum ttnn_dtype dtypes[] = {BF16, BF8, F32, BF16};
	uint32_t groups = 2 + (uint32_t)i % 3, outer = mode == A_ALONE ? 2 : 1, marks[64], nnz = 0;
	uint32_t m = 20 + 11 * (uint32_t)i % 40, n = 33 + 5 * (uint32_t)i, batch;
	const uint32_t named[] = {groups - 1, 0};
	struct config config = {.kind = ONE_A, .grid = {8, 8}, .k = 1, .m = 2, .n = 1};
	struct side sides[] = {
		{{4, {outer, mode == B_ALONE ? 3 : groups, m, 64}}, dtypes[i % 4], {0}},
		{{4, {1, groups, 64, n}},
		 dtypes[i / 2 % 3],
		 {.buffer = i % 2 ? TTNN_L1 : TTNN_DRAM}}};
	struct side more = {{4, {1, 2, m, n}}, BF16, {0}}, bias = {{3, {groups, 1, n}}, BF16, {0}};
	ttnn_tensor *extra[3] = {NULL};
	struct ttnn_arg args[8];
	size_t count = 0;

	config.no_fuse = true;
	config.m = m > 32 ? 2 : 1;
	if (mode >= NAMED)
		sides[0].shape.dim[1] = mode == PACKED ? groups : 1;
	batch = mode == B_ALONE ? 3 * groups : mode == A_ALONE ? 2 * groups : groups;
	for (uint32_t k = 0; k < batch; k++)
		marks[k] = mode == PACKED ? k < 2 : (k + i) % 3 != 0;
	for (uint32_t k = 0; k < batch; k++)
		nnz += marks[k];
	extra[0] = numbers(&(struct ttnn_shape){2, {1, batch}}, BF16, marks);
	put(args, &count, "sparsity", ttnn_v_tensor(extra[0]));
	put(args, &count, "program_config", config_value(&config));
	put(args, &count, "is_input_a_sparse", ttnn_v_bool(mode <= A_ALONE || mode == PACKED));
	put(args, &count, "is_input_b_sparse", ttnn_v_bool(mode != A_ALONE));
	if (mode == PACKED || i % 2)
		put(args, &count, "nnz",
		    mode < NAMED || mode == PACKED ? ttnn_v_int(nnz) : ttnn_v_none());
	if (mode == NAMED || mode == NAMED_BIAS) {
		extra[1] = numbers(&(struct ttnn_shape){2, {1, 2}}, TTNN_UINT16, named);
		put(args, &count, "indices", ttnn_v_tensor(extra[1]));
	}
	if (mode == PACKED || mode == NAMED_BIAS) {
		extra[2] = side_tensor(mode == PACKED ? &more : &bias, state);
		put(args, &count, mode == PACKED ? "optional_output_tensor" : "bias",
		    ttnn_v_tensor(extra[2]));
	}
	run_other("ttnn.sparse_matmul", sides, args, count, state);
	for (size_t k = 0; k < 3; k++)
		ttnn_tensor_unref(extra[k]);
}

TEST(products_of_marked_pairs_are_those_of_their_goldens)
{
	uint64_t state = 7;

	for (size_t i = 0; i < 5; i++)
		for (int mode = 0; mode < SPARSE_MODES; mode++)
			run_sparse((enum sparse_mode)mode, i, &state);
}

TEST(each_row_had_its_cases)
{
	golden_check_family("matmul");
	golden_check_family("sparse_matmul");
	golden_check_family("minimal_matmul");
	golden_check_family("moreh_matmul");
	golden_close();
	tt_arena_deinit(&arena);
}

/* ---- program memory ----------------------------------------------------------------------------------------- */

static struct tt_str heard;

static void hear(struct tt_event_listener *self, const struct tt_event *event)
{
	struct tt_str cores = {0};

	(void)self;
	if (event->kind != TT_EVENT_PROGRAM_MEMORY)
		return;
	tt_text_core_set(&cores, event->memory.cores, TTNN_DIALECT_TT_METAL);
	tt_str_addf(&heard, "%s%llu %s%s", heard.length ? "\n" : "",
		    (unsigned long long)event->memory.size, tt_str_text(&cores),
		    event->memory.borrowed ? " borrowed" : "");
	tt_str_deinit(&cores);
}

/* What the released library says, 0.81.1 on an n150. */
static const struct {
	struct product product;
	const char *rows;
} memories[] = {
	/* a in more blocks than the result has columns: those cores only pass it on */
	{{.a = {.shape = S(1, 1, 512, 512), .dtype = BF16, .place = SHARDS(BLOCK, 3, 7, 64, 128)},
	  .b = {.shape = S(1, 1, 512, 64), .dtype = BF16},
	  .config = {.kind = TWO, .grid = {8, 8}, .k = 2, .m = 2, .n = 1}},
	 "16384 {[0-0 - 1-7]}\n16384 {[2-0 - 3-7]}\n8192 {[0-0 - 1-7]}\n"
	 "16384 {[0-0 - 3-7]} borrowed\n4096 {[0-0 - 1-7]}"},
	{{.a = {.shape = S(1, 1, 32, 1024), .dtype = BF16, .place = SHARDS(WIDTH, 7, 1, 32, 64)},
	  .b = {.shape = S(1, 1, 1024, 512), .dtype = BF16},
	  .has_out = true,
	  .out = OPEN(WIDTH),
	  .config = {.kind = ONE_A, .grid = {8, 8}, .k = 2, .m = 1, .n = 2}},
	 "8192 {[0-0 - 7-0]}\n8192 {[0-1 - 7-1]}\n16384 {[0-0 - 7-0]}\n"
	 "4096 {[0-0 - 7-1]} borrowed\n4096 {[0-0 - 7-0]} borrowed"},
	{{.a = {.shape = S(1, 1, 32, 1024), .dtype = BF16},
	  .b = {.shape = S(1, 1, 1024, 512), .dtype = BF16, .place = SHARDS(WIDTH, 7, 0, 1024, 64)},
	  .config = {.kind = ONE_A, .grid = {8, 8}, .k = 2, .m = 1, .n = 2}},
	 "8192 {[0-0 - 7-0]}\n131072 {[0-0 - 7-0]} borrowed\n4096 {[0-0 - 7-0]}"},
	{{.a = {.shape = S(1, 1, 2048, 128), .dtype = BF16, .place = SHARDS(HEIGHT, 7, 3, 64, 128)},
	  .b = {.shape = S(1, 1, 128, 64), .dtype = BF16},
	  .config = {.kind = ONE_B, .grid = {8, 8}, .k = 2, .m = 2, .n = 2, .block_h = 1}},
	 "16384 {[0-0 - 7-3]}\n4096 {[0-0 - 7-3]} borrowed\n16384 {[0-0 - 7-3]}\n"
	 "4096 {[0-0 - 7-3]}"},
	{{.a = {.shape = S(1, 8, 128, 64), .dtype = BF16},
	  .b = {.shape = S(1, 8, 64, 128), .dtype = BF16},
	  .config = {.kind = REUSE, .grid = {8, 8}, .k = 2, .m = 8, .n = 4}},
	 "32768 {[0-0 - 0-3]}\n32768 {[0-0 - 0-3]}\n65536 {[0-0 - 0-3]}"},
	{{.a = {.shape = S(1, 8, 128, 64), .dtype = BF8},
	  .b = {.shape = S(1, 8, 64, 128), .dtype = BF8},
	  .config = {.kind = REUSE, .grid = {8, 8}, .k = 1, .m = 4, .n = 4}},
	 "8704 {[0-0 - 0-7]}\n8704 {[0-0 - 0-7]}\n17408 {[0-0 - 0-7]}\n32768 {[0-0 - 0-7]}"},
	{{.a = {.shape = S(1, 1, 32, 1024), .dtype = BF8, .place = SHARDS(WIDTH, 7, 0, 32, 128)},
	  .b = {.shape = S(1, 1, 1024, 1024),
		.dtype = BF8,
		.place = SHARDS(WIDTH, 7, 0, 1024, 128)},
	  .has_out = true,
	  .out = SHARDS(WIDTH, 7, 0, 32, 128),
	  .config = {.kind = GATHER, .grid = {8, 1}, .k = 4, .m = 1, .n = 4}},
	 "4352 {[0-0 - 7-0]} borrowed\n139264 {[0-0 - 7-0]} borrowed\n30464 {[0-0 - 7-0]}\n"
	 "16 {[0-0 - 7-0]}\n16 {[0-0 - 7-0]}\n8192 {[0-0 - 7-0]}\n4352 {[0-0 - 7-0]} borrowed"},
	{{.a = {.shape = S(1, 1, 32, 1024), .dtype = BF16, .place = SHARDS(WIDTH, 7, 0, 32, 128)},
	  .b = {.shape = S(1, 1, 1024, 1920),
		.dtype = BF8,
		.place = {.layout = TTNN_WIDTH_SHARDED,
			  .buffer = TTNN_DRAM,
			  .end = {11, 0},
			  .height = 1024,
			  .width = 160}},
	  .has_out = true,
	  .out = OPEN(WIDTH),
	  .config = {.kind = DRAM, .k = 4, .m = 1, .n = 8}},
	 "16384 {[0-0 - 7-7]}\n65280 {[0-0 - 7-7]}\n10240 {[0-0 - 7-7]}"},
	{{.a = {S(1, 24, 32, 128),
		BF16,
		{.layout = TTNN_HEIGHT_SHARDED,
		 .buffer = TTNN_L1,
		 .height = 64,
		 .width = 128,
		 .readers = true}},
	  .b = {.shape = S(1, 24, 128, 256),
		.dtype = BF16,
		.place = {.layout = TTNN_HEIGHT_SHARDED,
			  .buffer = TTNN_DRAM,
			  .end = {11, 0},
			  .height = 256,
			  .width = 256}},
	  .has_out = true,
	  .out = {.layout = TTNN_HEIGHT_SHARDED,
		  .buffer = TTNN_L1,
		  .height = 64,
		  .width = 256,
		  .readers = true},
	  .config = {.kind = BATCHED, .k = 2, .m = 1, .n = 8}},
	 "8192 {[0-0 - 7-7]}\n98304 {[0-0 - 7-7]}\n32768 {[0-0 - 7-7]}\n16384 {[0-0 - 7-7]}"},
};

TEST(programs_keep_what_the_released_library_keeps)
{
	struct tt_event_listener listener = {.emit = hear};
	uint64_t state = 4;

	for (size_t i = 0; i < sizeof(memories) / sizeof(memories[0]); i++) {
		const struct product *p = &memories[i].product;
		ttnn_tensor *tensors[3] = {side_tensor(&p->a, &state), side_tensor(&p->b, &state)};
		ttnn_tensor *out = NULL;
		struct ttnn_memory_config memory;
		struct ttnn_arg args[16];
		size_t count = product_args(args, &memory, tensors, p);

		heard.length = 0;
		ttnn_set_run_mode(TTNN_RUN_NO_DISPATCH);
		tt_event_listen(&listener);
		CHECK_OK(ttnn_call_one(&out, "ttnn.matmul", args, count, TTNN_FRONTEND_C));
		tt_event_listen(NULL);
		CHECK_STR(tt_str_text(&heard), memories[i].rows);
		ttnn_tensor_unref(out);
		ttnn_set_run_mode(TTNN_RUN_NORMAL);
		ttnn_tensor_unref(tensors[0]);
		ttnn_tensor_unref(tensors[1]);
		tt_arena_reset(&arena);
	}
	tt_str_deinit(&heard);
	golden_close();
	tt_arena_deinit(&arena);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* Products that fail half way give back what they made: one is refused behind its program. */
static tt_status some_products(ttnn_device *device)
{
	struct ttnn_shape shapes[] = {{2, {40, 50}}, {2, {50, 60}}, {2, {20, 60}}, {1, {50}}};
	ttnn_tensor *t[4] = {NULL}, *out = NULL;
	tt_status status = TTNN_OK;

	for (size_t i = 0; i < 4 && status == TTNN_OK; i++)
		status = ttnn_call_one(&t[i], "ttnn.ones",
				       (struct ttnn_arg[]){{NULL, ttnn_v_shape(&shapes[i])},
							   {"layout", ttnn_v_layout(TTNN_TILE)},
							   {"device", ttnn_v_device(device)}},
				       3, TTNN_FRONTEND_C);
	for (size_t i = 0; i < 3 && status == TTNN_OK; i++) {
		struct ttnn_arg args[] = {{NULL, ttnn_v_tensor(t[0])},
					  {NULL, ttnn_v_tensor(t[i == 1 ? 3 : 1])},
					  {"activation", ttnn_v_string("gelu")},
					  {"bias", i == 2 ? ttnn_v_tensor(t[2]) : ttnn_v_none()}};

		status = ttnn_call_one(&out, "ttnn.linear", args, 4, TTNN_FRONTEND_C);
		if (i == 2 && status == TTNN_INVALID)
			status = TTNN_OK;
		else if (status == TTNN_OK)
			ttnn_tensor_unref(out);
	}
	for (size_t i = 0; i < 4; i++)
		ttnn_tensor_unref(t[i]);
	tt_weights_drop();
	return status;
}

SCENARIO(products_give_all_memory_back)
{
	ttnn_device *device;
	tt_status status;

	TT_TRY(ttnn_device_open(&device, 0, &(struct ttnn_device_options){.profile = "n150"}));
	status = some_products(device);
	ttnn_device_unref(device);
	tt_call_forget_thread();
	return status;
}
