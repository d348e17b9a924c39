/* moe_compute: experts of other extents than 2880, as they were packed for the ring of cores, on one device and along an axis; @slow */
#include "test.h"

#include "golden.h"
#include "ops/given_mesh.h"
#include "ops/op_enums.h"
#include "tensor/spread.h"

static const char *const name = "ttnn.experimental.moe_compute";

static struct ttnn_spec_args in_one_shard(uint32_t rows, uint32_t columns, enum ttnn_dtype dtype)
{
	struct ttnn_core last = {golden_opened->info.compute_grid.x - 1,
				 golden_opened->info.compute_grid.y - 1};
	struct ttnn_core_range range = {last, last};
	struct ttnn_spec_args args = {
		.shape = {3, {1, rows, columns}},
		.dtype = dtype,
		.memory = {.layout = TTNN_HEIGHT_SHARDED, .buffer = TTNN_L1, .has_shard = true}};

	args.memory.shard = (struct ttnn_shard_spec){.height = rows, .width = columns};
	CHECK_OK(ttnn_core_set_make(&args.memory.shard.grid, &range, 1));
	return args;
}

static uint32_t up(uint32_t count, uint32_t step)
{
	return (count + step - 1) / step;
}

/* Extents, and how much of gate and up a bank has of them. */
struct extents {
	uint32_t in, between, blocks, rows;
	bool bias;
};
static const struct extents extents[] = {
	{256, 384, 1, 224, false}, {64, 384, 1, 224, false}, {256, 384, 1, 224, true},
	{512, 384, 2, 224, false}, {320, 480, 2, 224, true}, {96, 768, 1, 224, false},
	{416, 416, 2, 224, true},
};
static const struct extents of_parts = {64, 1920, 3, 224, false};
static const struct extents of_long_blocks = {2560, 640, 10, 320, false};

/* Their weights, other ones on every chip. */
static void add_weights(struct given *given, const struct extents *extent, uint32_t layers,
			uint32_t experts)
{
	uint32_t high = up(extent->between / 32 + extent->bias, 7) * 7 * 32;
	uint32_t groups = up(up(extent->in / 32, 12), 4), banks = golden_opened->info.dram_banks;
	struct ttnn_core_range range = {{0, 0}, {banks - 1, 0}};
	struct ttnn_spec_args args = {
		.shape = {6, {banks, layers, experts, extent->blocks, extent->rows, 128}},
		.dtype = layers > 1 ? TTNN_BFLOAT8_B : TTNN_BFLOAT4_B,
		.layout = TTNN_TILE,
		.memory = {.layout = TTNN_HEIGHT_SHARDED, .buffer = TTNN_DRAM, .has_shard = true}};

	if (extent == &of_long_blocks)
		groups = 5, high = 320;
	CHECK_OK(ttnn_core_set_make(&args.memory.shard.grid, &range, 1));
	args.memory.shard.width = 128;
	args.memory.shard.height = layers * experts * extent->blocks * extent->rows;
	given_chips(given, "matmul_w0_w1_tensor", &args, -0.2, 0.2);
	args.shape.dim[3] = groups;
	args.shape.dim[4] = high;
	args.memory.shard.height = layers * experts * groups * high;
	given_chips(given, "matmul_w2_tensor", &args, -0.2, 0.2);
}

static void add_case(struct given *given, uint32_t n)
{
	const struct extents *extent = &extents[n % TT_COUNT(extents)];
	uint32_t tokens = 1 + n * 5 % 33, k = 1 + n % 4, experts = 1 + n % 3,
		 layers = 1 + n % 5 / 4;
	struct ttnn_spec_args in = {.shape = {3, {1, tokens, extent->in}}, .dtype = TTNN_BFLOAT16};
	struct ttnn_spec_args ids = in_one_shard(tokens, k, TTNN_UINT16);
	int32_t mapping[8] = {0}, choices[64 * 4];

	for (uint32_t i = 0; i < 8; i++)
		mapping[i] = i % 3 == n % 3 && i / 3 < experts ? 0 : 1;
	for (uint32_t i = 0; i < tokens * k; i++)
		choices[i] = (int32_t)((i / k * 3 + i % k + n) % 8);
	given_tensor(given, "tilize_input_tensor", &in, -1, 1);
	given_put(given_tensor(given, "tilize_expert_indices_tensor", &ids, 0, 1), 0, choices);
	ids.dtype = TTNN_BFLOAT16;
	given_tensor(given, "tilize_expert_scores_tensor", &ids, 0, 1);
	given_numbers(given, "tilize_expert_mapping_tensor", &(struct ttnn_shape){2, {1, 8}},
		      TTNN_UINT16, mapping);
	add_weights(given, extent, layers, experts);
	given_add(given, "layer_id", ttnn_v_int(layers - 1));
	given_add(given, "output_height_shard_dim", ttnn_v_int(n % 5 == 3 ? 4 : 2));
	given_add(given, "intermediate_size", ttnn_v_int(extent->between));
	given_add(given, "has_bias", ttnn_v_bool(extent->bias));
	given_add(given, "activation_type", tt_value_enum(&tt_enum_moe_activation, n % 4));
	if (n % 4 == 3)
		given_add(given, "activation_limit", ttnn_v_real(0.5));
	if (n % 3 == 0)
		given_add(given, "compute_only", ttnn_v_bool(true));
	if (n % 3 == 2)
		given_add(given, "cluster_axis", ttnn_v_int(n % 2));
}

TEST(experts_of_one_device)
{
	struct given given = {.state = 5};

	golden_keep_memory();
	golden_device();
	for (uint32_t n = 0; n < 24; n++) {
		add_case(&given, n);
		given_case(&given, name, n, 40);
	}
	golden_close();
}

/* The last columns of down in blocks of half the width, which one shape has on eight banks. */
TEST(blocks_of_half_the_width)
{
	struct given given = {.state = 6};
	const int32_t mapping[] = {1, 0, 1, 0}, choices[] = {1, 0, 3, 1, 2, 0};

	given_mesh_of("p150", 1, 1);
	for (uint32_t n = 0; n < 2; n++) {
		struct ttnn_spec_args in = {.shape = {3, {1, 3, of_long_blocks.in}},
					    .dtype = TTNN_BFLOAT16};
		struct ttnn_spec_args ids = in_one_shard(3, 2, TTNN_UINT16);

		given_tensor(&given, "tilize_input_tensor", &in, -1, 1);
		given_put(given_tensor(&given, "tilize_expert_indices_tensor", &ids, 0, 1), 0,
			  choices);
		ids.dtype = TTNN_BFLOAT16;
		given_tensor(&given, "tilize_expert_scores_tensor", &ids, 0, 1);
		given_numbers(&given, "tilize_expert_mapping_tensor",
			      &(struct ttnn_shape){2, {1, 4}}, TTNN_UINT16, mapping);
		add_weights(&given, &of_long_blocks, 1, 2);
		given_add(&given, "layer_id", ttnn_v_int(0));
		given_add(&given, "output_height_shard_dim", ttnn_v_int(2));
		given_add(&given, "intermediate_size", ttnn_v_int(of_long_blocks.between));
		given_add(&given, "cluster_axis", ttnn_v_int(n));
		given_case(&given, name, n, 40);
	}
	golden_close();
}

/* Chips that send each other tokens, of a mesh. */
struct line {
	uint32_t rows, cols, axis;
};

/* Which chip has an expert in the eyes of every chip; the last ones, shared, each chip itself. */
static void add_mapping(struct given *given, uint32_t n, uint32_t routed, uint32_t shared)
{
	uint32_t chips = golden_opened->rows * golden_opened->cols, all = chips * routed + shared;
	int32_t mapping[8 * 32];

	for (uint32_t chip = 0; chip < chips; chip++)
		for (uint32_t e = 0; e < all; e++)
			mapping[chip * all + e] =
				(int32_t)(e < chips * routed ? (e * 3 + n) % chips : chip);
	given_numbers(given, "tilize_expert_mapping_tensor", &(struct ttnn_shape){2, {chips, all}},
		      TTNN_UINT16, mapping);
}

/* Tokens that have come from all chips of a line, with what they chose there; now and then the same twice. */
static void add_tokens(struct given *given, uint32_t n, uint32_t tokens, const uint32_t in_k_all[3])
{
	struct ttnn_spec_args in = {.shape = {3, {1, tokens, in_k_all[0]}}, .dtype = TTNN_BFLOAT16};
	uint32_t k = in_k_all[1], all = in_k_all[2];
	struct ttnn_spec_args ids = in_one_shard(tokens, k, TTNN_UINT16);
	int32_t choices[64 * 4];
	ttnn_tensor *chosen;

	for (uint32_t i = 0; i < tokens * k; i++)
		choices[i] = (int32_t)((i / k * 5 + i % k * (n % 7 == 6 ? all / 2 : 1) + n) % all);
	given_chips(given, "tilize_input_tensor", &in, -1, 1);
	chosen = given_tensor(given, "tilize_expert_indices_tensor", &ids, 0, 1);
	for (uint32_t chip = 0; chip < golden_opened->rows * golden_opened->cols; chip++)
		given_put(chosen, chip, choices);
	ids.dtype = TTNN_BFLOAT16;
	given_chips(given, "tilize_expert_scores_tensor", &ids, 0, 1);
}

static void add_line_case(struct given *given, uint32_t n, const struct line *line)
{
	struct ttnn_core_range four = {{1, 1}, {2, 2}};
	uint32_t members = line->axis ? line->cols : line->rows, chips = line->rows * line->cols;
	uint32_t each = 1 + n % 4, shared = n % 3 == 1, routed = 1 + n % 2, k;
	const struct extents *extent =
		shared && n % 2 ? &of_parts : &extents[n % TT_COUNT(extents)];
	struct ttnn_spec_args out = {.dtype = TTNN_BFLOAT16};
	const ttnn_core_set *mux;

	CHECK_OK(ttnn_core_set_make(&mux, &four, 1));
	k = 1 + n % 4 < chips * routed ? 1 + n % 4 : chips * routed;
	out.shape = (struct ttnn_shape){3, {k, each, extent->in}};
	given_mesh(line->rows, line->cols);
	add_tokens(given, n, each * members,
		   (const uint32_t[]){extent->in, k, chips * routed + shared});
	add_mapping(given, n, routed, shared);
	add_weights(given, extent, 1 + n % 5 / 4, routed + shared);
	given_add(given, "layer_id", ttnn_v_int(n % 5 / 4));
	given_add(given, "output_height_shard_dim", ttnn_v_int(extent->in % 64 ? 4 : 2));
	given_add(given, "intermediate_size", ttnn_v_int(extent->between));
	given_add(given, "has_bias", ttnn_v_bool(extent->bias));
	given_add(given, "activation_type", tt_value_enum(&tt_enum_moe_activation, n % 4));
	if (n % 4 == 3)
		given_add(given, "activation_limit", ttnn_v_real(0.5));
	given_add(given, "cluster_axis", ttnn_v_int(line->axis));
	given_add(given, "mux_core_range_set", ttnn_v_core_set(mux));
	given_add(given, "topology", tt_value_enum(&tt_enum_topology, 1 + n % 2));
	given_add(given, "num_links", ttnn_v_int(1 + n % 5 / 4));
	if (shared)
		given_add(given, "num_shared_experts_per_device", ttnn_v_int(1));
	if (n % 4 == 2)
		given_tensor(given, "optional_output_tensor", &out, -1, 1);
}

/* A call that is refused with these words. */
static void refused(struct given *given, const char *text)
{
	struct ttnn_results results = {0};

	CHECK_FAILS(ttnn_call(&results, name, given->args, given->count, TTNN_FRONTEND_C),
		    TTNN_INVALID, text);
	given_free(given);
}

/* Chips beside an axis of one all work on the same tokens; a caller's tensor has rows of such numbers. */
TEST(tensors_that_do_not_fit)
{
	const struct line line = {1, 8, 0};
	struct given given = {.state = 8};
	struct ttnn_spec_args out = {.shape = {3, {1, 1, 256}}, .dtype = TTNN_FLOAT32};

	for (size_t i = 0; i < 4; i++) {
		add_line_case(&given, 0, &line);
		given.tensors[i]->spread = tt_spread_with(
			0, 0, (struct tt_spread){.extent = 8, .shard = true, .dim = 0});
		refused(&given, "on a multi-device mesh requires a fully replicated");
	}
	add_line_case(&given, 0, &(const struct line){1, 8, 1});
	given_tensor(&given, "optional_output_tensor", &out, -1, 1);
	refused(&given, "optional_output_tensor must have rows of 256 numbers of bfloat16");
	add_line_case(&given, 0, &(const struct line){1, 8, 1});
	given.args[given.count - 1].value = ttnn_v_int(0);
	refused(&given, "num_links must be greater than 0");
}

TEST(experts_along_an_axis)
{
	static const struct line lines[] = {{1, 8, 1}, {2, 4, 1}, {2, 4, 0}, {8, 1, 0},
					    {1, 4, 1}, {2, 1, 0}, {4, 2, 1}};
	struct given given = {.state = 7};

	for (uint32_t n = 0; n < 2 * TT_COUNT(lines); n++) {
		add_line_case(&given, n, &lines[n % TT_COUNT(lines)]);
		given_case(&given, name, n, 40);
	}
	golden_close();
	golden_check_family("moe_compute");
}
