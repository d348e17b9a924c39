/* experts: the choice of them, their weights as cores read them, products of one shape, against their goldens; @slow */
#include "test.h"

#include "golden.h"
#include "ops/given.h"
#include "ops/golden_cases.h"

#define CASES 22
#define X "ttnn.experimental."
#define MOE X "deepseek.moe."

/* Shards of these extents in a row of cores, or of banks. */
static void put_shards(struct ttnn_spec_args *spec, uint32_t count, uint32_t height, uint32_t width)
{
	struct ttnn_core_range range = {{0, 0}, {count - 1, 0}};

	spec->memory.layout = TTNN_HEIGHT_SHARDED;
	spec->memory.has_shard = true;
	spec->memory.shard = (struct ttnn_shard_spec){.height = height, .width = width};
	CHECK_OK(ttnn_core_set_make(&spec->memory.shard.grid, &range, 1));
}

/* ---- weights ------------------------------------------------------------------------------------------------- */

static void add_extents(struct given *given, uint32_t layers, uint32_t experts, uint32_t k,
			uint32_t n)
{
	given_add(given, "L", ttnn_v_int(layers));
	given_add(given, "E", ttnn_v_int(experts));
	given_add(given, "K", ttnn_v_int(k));
	given_add(given, "N", ttnn_v_int(n));
}

/* Hidden and intermediate extents: with and without remainders, less than one column for a core, many. */
static const uint32_t extents[][2] = {{64, 384},  {96, 96},   {224, 480}, {64, 768},
				      {32, 1216}, {480, 160}, {416, 64},  {64, 1568}};

TEST(packed)
{
	static const enum ttnn_dtype dtypes[] = {TTNN_BFLOAT16, TTNN_FLOAT32, TTNN_BFLOAT16};
	struct given given = {.state = 1};

	golden_keep_memory();
	for (uint32_t n = 0; n < CASES; n++) {
		const uint32_t *extent = extents[n % TT_COUNT(extents)];
		uint32_t k = extent[0], m = extent[1], layers = 1 + n % 5 / 4, experts = 1 + n % 2;
		enum ttnn_dtype dtype = dtypes[n % 3];
		struct ttnn_spec_args up = given_spec(dtype, layers, experts, k, m);
		struct ttnn_spec_args down = given_spec(dtype, layers, experts, m, k);
		struct ttnn_spec_args bias = given_spec(dtype, layers, experts, m, 0);
		struct ttnn_spec_args low = given_spec(dtype, layers, experts, k, 0);

		if (n % 7 == 6)
			up.layout = down.layout = TTNN_ROW_MAJOR;
		given_tensor(&given, "tt_w0", &up, -2, 2);
		given_tensor(&given, "tt_w1", &up, -2, 2);
		add_extents(&given, layers, experts, k, m);
		given_case(&given, X "prepare_w0_w1_tensor_for_moe_compute", n, 1);
		given_tensor(&given, "tt_w2", &down, -2, 2);
		add_extents(&given, layers, experts, k, m);
		given_case(&given, X "prepare_w2_tensor_for_moe_compute", n, 1);
		up.layout = down.layout = TTNN_TILE;
		given_tensor(&given, "tt_w0", &up, -2, 2);
		given_tensor(&given, "tt_w1", &up, -2, 2);
		given_tensor(&given, "tt_b0", &bias, -2, 2);
		given_tensor(&given, "tt_b1", &bias, -2, 2);
		add_extents(&given, layers, experts, k, m);
		given_case(&given, X "prepare_w0_w1_tensor_with_bias", n, 1);
		given_tensor(&given, "tt_w2", &down, -2, 2);
		given_tensor(&given, "tt_b2", &low, -2, 2);
		add_extents(&given, layers, experts, k, m);
		given_case(&given, X "prepare_w2_tensor_with_bias", n, 1);
	}
}

TEST(shared)
{
	static const char *const names[] = {"routed_w0", "routed_w1", "routed_w2",
					    "shared_w0", "shared_w1", "shared_w2"};
	struct given given = {.state = 2};

	for (uint32_t n = 0; n < CASES; n++) {
		const uint32_t *extent = extents[n % TT_COUNT(extents)];
		uint32_t part = n % 3 ? extent[1] : 32;

		for (int i = 0; i < 6; i++) {
			uint32_t between = i < 3 ? extent[1] : part;
			struct ttnn_spec_args spec =
				given_spec(TTNN_BFLOAT16, 1 + n % 2, i < 3 ? 1 + n % 3 : 1,
					   extent[0], between);

			if (i % 3 == 2) {
				spec.shape.dim[2] = between;
				spec.shape.dim[3] = extent[0];
			}
			given_tensor(&given, names[i], &spec, -2, 2);
		}
		given_add(&given, "cluster_axis", ttnn_v_int(n % 2));
		given_case(&given, X "add_shared_expert_weights", n, 1);
	}
}

TEST(quantized)
{
	static const enum ttnn_dtype dtypes[] = {TTNN_BFLOAT8_B, TTNN_BFLOAT16, TTNN_FLOAT32};
	static const struct ttnn_memory_config memory[] = {{.buffer = TTNN_DRAM},
							   {.buffer = TTNN_L1}};
	struct given given = {.state = 3};

	for (uint32_t n = 0; n < CASES; n++) {
		struct ttnn_spec_args in = given_spec(n % 2 ? TTNN_BFLOAT16 : TTNN_FLOAT32,
						      1 + n % 2, 0, 32, 32 * (1 + n % 4));

		given_tensor(&given, "device_tensor", &in, -2, 2);
		given_add(&given, "dtype", ttnn_v_dtype(dtypes[n % 3]));
		given_add(&given, "memory_config",
			  n % 4 == 3 ? ttnn_v_none() : ttnn_v_memory(&memory[n % 2]));
		given_case(&given, X "quantize_weights_via_host", n, 16);
	}
}

/* ---- choice ---------------------------------------------------------------------------------------------------- */

/* Transposed numbers of the experts of each block of each token. */
static void add_numbers(struct given *given, const struct ttnn_spec_args *spec, uint32_t tokens,
			uint32_t blocks)
{
	int32_t *numbers = calloc((size_t)tokens * blocks * 256, sizeof(*numbers));
	struct ttnn_spec_args args = *spec;
	struct ttnn_tensor_spec made;
	ttnn_tensor *host = NULL, *out = NULL;

	CHECK(numbers);
	for (uint32_t i = 0; i < tokens * blocks * 256; i++)
		numbers[i] = (int32_t)(i / 256 % blocks * 256 + i % 16 * 16 + i % 256 / 16);
	args.dtype = TTNN_UINT16;
	CHECK_OK(ttnn_tensor_spec_make(&made, &args));
	CHECK_OK(ttnn_tensor_from_data(&host, numbers, TTNN_INT32, &made, 0));
	CHECK_OK(ttnn_call_one(&out, "ttnn.to_device",
			       (struct ttnn_arg[]){{NULL, ttnn_v_tensor(host)},
						   {NULL, ttnn_v_device(golden_device())},
						   {NULL, ttnn_v_memory(&args.memory)}},
			       3, TTNN_FRONTEND_C));
	ttnn_tensor_unref(host);
	free(numbers);
	given->tensors[given->tensor_count++] = out;
	given_add(given, "input_indices_tensor", ttnn_v_tensor(out));
}

static void gate_case(struct given *given, uint32_t n, bool general)
{
	uint32_t tokens = 1 + n % 4, blocks = general && n % 5 == 3 ? 2 : 1;
	struct ttnn_spec_args in = given_spec(TTNN_BFLOAT16, tokens, blocks, 16, 16);
	struct ttnn_spec_args out = given_spec(TTNN_BFLOAT16, tokens, 1, 16, 0);

	put_shards(&in, tokens, 32 * blocks, 32);
	put_shards(&out, tokens, 32, 32);
	in.memory.buffer = out.memory.buffer = TTNN_L1;
	given_tensor(given, "input_tensor", &in, n % 2 ? -4 : 0, n % 2 ? 4 : 1);
	given_tensor(given, "bias_tensor", &in, -1, 1);
	add_numbers(given, &in, tokens, blocks);
	given_tensor(given, "output_tensor", &out, 0, 1);
	out.dtype = TTNN_UINT16;
	given_tensor(given, "output_indices_tensor", &out, 0, 9);
	given_add(given, "enable_sigmoid", ttnn_v_bool(n % 2));
	if (n % 3 == 1)
		given_add(given, "scaling_factor", ttnn_v_real(1));
	if (!general) {
		given_case(given, MOE "deepseek_moe_gate", n, 4);
		return;
	}
	if (n % 7 == 2) {
		given_add(given, "grouped", ttnn_v_bool(blocks == 1));
	} else {
		given_add(given, "topk", ttnn_v_int(4 + 2 * (n % 3)));
		given_add(given, "output_softmax", ttnn_v_bool(n % 4 > 1));
	}
	given_case(given, MOE "generalized_moe_gate", n, 4);
}

TEST(gates)
{
	struct given given = {.state = 4};

	for (uint32_t n = 0; n < CASES; n++) {
		gate_case(&given, n, false);
		gate_case(&given, n, true);
	}
}

TEST(routers)
{
	struct given given = {.state = 5};

	for (uint32_t n = 0; n < CASES; n++) {
		uint32_t tokens = 1 + n * 7 % 32, inner = 32 * (1 + n % 5);
		struct ttnn_spec_args in = given_spec(TTNN_BFLOAT16, 0, 0, tokens, inner);
		struct ttnn_spec_args weight = given_spec(TTNN_BFLOAT16, 0, 0, inner, 128);
		struct ttnn_spec_args bias = given_spec(TTNN_BFLOAT16, 0, 0, tokens, 128);

		given_tensor(&given, "input_tensor", &in, -1, 1);
		given_tensor(&given, "weight_tensor", &weight, -1, 1);
		given_tensor(&given, "bias_tensor", &bias, -1, 1);
		given_add(&given, "k", ttnn_v_int(1 + n * 3 % 32));
		given_case(&given, X "topk_router_gpt", n, 4);
	}
}

/* ---- products on the ring ---------------------------------------------------------------------------------------- */

/* The banks have fewer rows than they might: what they have not is zero. */
static void ring_case(struct given *given, uint32_t n, bool gate)
{
	uint32_t inner = gate ? 7168 : 16384,
		 lines = gate && n % 8 == 0 ? 77 * 32 : 32 * (2 + n % 6);
	struct ttnn_spec_args in = given_spec(TTNN_BFLOAT16, 0, 12, 32, inner);
	struct ttnn_spec_args weight =
		given_spec(gate ? TTNN_BFLOAT16 : TTNN_BFLOAT8_B, gate ? 12 : 1, gate ? 1 : 12,
			   lines, gate ? 64 : 224);
	struct ttnn_spec_args out = given_spec(TTNN_BFLOAT16, 0, 0, 32, gate ? 384 : 896);
	struct ttnn_core workers[12];
	struct ttnn_core_range ranges[12];

	CHECK_OK(ttnn_device_dram_workers(workers, golden_device(), 0));
	for (int i = 0; i < 12; i++)
		ranges[i] = (struct ttnn_core_range){workers[i], workers[i]};
	put_shards(&in, 12, 32, inner);
	in.memory.buffer = TTNN_L1;
	CHECK_OK(ttnn_core_set_make(&in.memory.shard.grid, ranges, 12));
	put_shards(&weight, 12, lines, gate ? 64 : 224);
	put_shards(&out, 7, 32, 128);
	out.memory.layout = TTNN_WIDTH_SHARDED;
	out.memory.buffer = TTNN_L1;
	if (gate) {
		out.memory.shard.width = 32;
		out.memory.shard.grid = in.memory.shard.grid;
	} else {
		static const struct ttnn_core_range last[] = {
			{{6, 7}, {6, 7}}, {{5, 7}, {5, 7}}, {{4, 7}, {4, 7}}, {{2, 7}, {2, 7}},
			{{1, 7}, {1, 7}}, {{0, 7}, {0, 7}}, {{7, 6}, {7, 6}}};

		CHECK_OK(ttnn_core_set_make(&out.memory.shard.grid, last, 7));
	}
	given_tensor(given, "input_tensor", &in, -1, 1);
	given_tensor(given, "w_tensor", &weight, -0.1, 0.1);
	given_tensor(given, "output_tensor", &out, 0, 1);
	given_add(given, "layer_id", ttnn_v_int(0));
	if (gate)
		given_add(given, "column_id", ttnn_v_int(n % 16));
	given_case(given, gate ? MOE "moe_gate_mm" : X "deepseek.mla.matmul_wo", n, 4);
}

TEST(rings)
{
	struct given given = {.state = 6};

	for (uint32_t n = 0; n < CASES; n++) {
		ring_case(&given, n, false);
		ring_case(&given, n, true);
	}
}

/* ---- what was combined ----------------------------------------------------------------------------------------- */

TEST(tilized)
{
	struct given given = {.state = 7};

	for (uint32_t n = 0; n < CASES; n++) {
		uint32_t wide = 1 + n % 3, across = 1 + n % 2, high = 1 + n % 4;
		struct ttnn_spec_args in = {.dtype = TTNN_BFLOAT16};
		struct ttnn_core_range range = {{0, 0}, {across - 1, high - 1}};
		struct ttnn_memory_config memory = {.layout = TTNN_ND_SHARDED,
						    .buffer = TTNN_L1,
						    .has_nd_shard = true,
						    .created_with_nd_shard = true};

		in.shape = (struct ttnn_shape){3, {high, 32, 32 * wide * across}};
		memory.nd_shard.shape = (struct ttnn_shape){2, {32, 32 * wide}};
		CHECK_OK(ttnn_core_set_make(&memory.nd_shard.grid, &range, 1));
		golden_put(&in, n % 5 == 4 ? GOLDEN_L1 : GOLDEN_DRAM);
		given_tensor(&given, "input_tensor", &in, -2, 2);
		given_add(&given, "output_memory_config", ttnn_v_memory(&memory));
		given_case(&given, X "deepseek_moe_post_combine_tilize", n, 1);
	}
}

TEST(zz_all_rows)
{
	golden_check_family("moe_tilize");
	golden_check_family("expert_weights");
	golden_check_family("moe_gate");
	golden_check_family("topk_router");
	golden_check_family("matmul_ring");
	golden_close();
}
