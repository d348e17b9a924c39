/* Tokens, their experts and what those make of them, on meshes whose chips have other numbers each, against their goldens. */
#include "test.h"

#include "golden.h"
#include "ops/given_mesh.h"
#include "ops/op_enums.h"

/* In L1, with shards of so many tiles side by side. */
static struct ttnn_memory_config in_shards(uint32_t tiles, uint32_t count)
{
	struct ttnn_core_range range = {{1, 2}, {count, 2}};
	struct ttnn_memory_config out = {
		.layout = TTNN_WIDTH_SHARDED, .buffer = TTNN_L1, .has_shard = true};

	out.shard = (struct ttnn_shard_spec){.height = 32, .width = 32 * tiles};
	CHECK_OK(ttnn_core_set_make(&out.shard.grid, &range, 1));
	return out;
}

TEST(sums_of_a_ring)
{
	static const struct ttnn_memory_config l1 = {.buffer = TTNN_L1}, dram = {0};
	struct given given = {.state = 7};

	for (uint32_t n = 0; n < GOLDEN_CASES; n++) {
		uint32_t tiles = 2 + 2 * (n % 2), shards = 1 + n % 4, rows = n % 5 == 1 ? 20 : 32;
		struct ttnn_spec_args in =
			given_spec(n % 3 == 2 ? TTNN_BFLOAT8_B : TTNN_BFLOAT16, n % 7 ? 1 : 0,
				   n % 3 ? 1 : 0, rows, 32 * tiles * shards);

		given_mesh(n < GOLDEN_CASES / 2 ? 1 : 8, n < GOLDEN_CASES / 2 ? 8 : 1);
		in.memory = in_shards(tiles, shards);
		for (uint32_t i = 0; i < 8; i++) {
			given.items[i] = ttnn_v_tensor(given_chips(&given, NULL, &in, -2, 2));
			given.count--;
		}
		given_add(&given, NULL, ttnn_v_list(given.items, 8));
		given_add(&given, NULL, ttnn_v_memory(n % 2 ? &l1 : &dram));
		given_add(&given, NULL, ttnn_v_int(n % 4 == 1 ? (int)in.shape.rank - 1 : -1));
		given_add(&given, "num_links", ttnn_v_int(2));
		if (n % 3 == 1)
			given_add(&given, "cluster_axis", ttnn_v_int(n < GOLDEN_CASES / 2));
		given_case(&given, "ttnn.experimental.deepseek_moe_reduce_scatter", n, 8);
	}
}

/* Tokens of a chip in rows, what they choose of `experts`, and which chip has each of those in the eyes of every chip. */
static void add_tokens(struct given *given, uint32_t n, const struct ttnn_shape *tokens, uint32_t k,
		       uint32_t experts)
{
	static const int32_t owners[] = {0, 5, 3, 1, 4, 0, 2, 7, 0, 6, 5, 0, 4, 4, 1, 0};
	struct ttnn_spec_args in = {.shape = *tokens, .dtype = TTNN_BFLOAT16};
	struct ttnn_spec_args ids = {.shape = *tokens, .dtype = TTNN_UINT16};
	int32_t mapping[8 * 20];

	ids.shape.dim[3] = k;
	for (uint32_t i = 0; i < 8 * experts; i++)
		mapping[i] = owners[(i + n * (i / experts)) % 16];
	given_chips(given, NULL, &in, -2, 2);
	given_chips(given, NULL, &ids, 0, experts - 0.01);
	ids.dtype = TTNN_BFLOAT16;
	given_chips(given, NULL, &ids, 0, 1);
	given_numbers(given, NULL, &(struct ttnn_shape){2, {8, experts}}, TTNN_UINT16, mapping);
}

TEST(tokens_to_their_experts)
{
	const struct ttnn_value shared[] = {ttnn_v_int(3), ttnn_v_int(9)};
	const struct ttnn_value drain[] = {ttnn_v_int(2), ttnn_v_int(1)};
	struct given given = {.state = 9};

	for (uint32_t n = 0; n < 2 * GOLDEN_CASES; n++) {
		uint32_t experts = 16 + n % 3 * 2, k = 1 + n % 4, axis = n < GOLDEN_CASES || n % 2;
		struct ttnn_shape tokens = {4, {1 + n % 3, 1 + n % 2, 1 + n % 5, 32 + 8 * (n % 6)}};

		given_mesh(n < GOLDEN_CASES ? 1 : 2, n < GOLDEN_CASES ? 8 : 4);
		add_tokens(&given, n, &tokens, k, experts);
		if (n % 3)
			given_add(&given, "shared_expert_ids", ttnn_v_list(shared, n % 3));
		given_add(&given, "cluster_axis", ttnn_v_int(axis));
		given_add(&given, "drain_sync_tilizer_core", ttnn_v_list(drain, 2));
		if (n % 7 == 6)
			given_add(
				&given, "dispatch_algorithm",
				tt_value_enum(&tt_enum_dispatch_algorithm, TT_DISPATCH_BROADCAST));
		if (n % 5 == 4)
			given_add(&given, "worker_mode",
				  tt_value_enum(&tt_enum_worker_mode, TT_WORKER_TOKENS));
		given_case(&given, "ttnn.experimental.all_to_all_dispatch_metadata", n, 0);
	}
}

/* What experts of a chip have to do: [choice, token] of all members of a group, and where it is told. */
struct work {
	uint32_t members, experts, tokens, k, turn;
	int32_t active[64 * 12], maps[4 * 65 * 4], counts[4];
};

/* Each choice of a token is of another expert; a row of a table for each token that a chip has something to do with. */
static void find_work(struct work *work, uint32_t member)
{
	uint32_t stride = (2 * work->experts + 1 + 3) / 4 * 4, rows = 0;

	memset(work->active, 0xff, sizeof(work->active));
	memset(work->maps, 0, sizeof(work->maps));
	memset(work->counts, 0, sizeof(work->counts));
	for (uint32_t t = 0; t < work->tokens; t++) {
		bool here = false;

		for (uint32_t k = 0; k < work->k; k++) {
			uint32_t expert =
				(t * 5 + k * 3 + work->turn) % (work->members * work->experts);
			uint32_t own = expert % work->experts;
			int32_t *count = &work->counts[own];

			if (expert / work->experts != member)
				continue;
			here = true;
			work->active[rows * stride] = (int32_t)t;
			work->active[rows * stride + 1 + own] = (int32_t)k;
			work->maps[(own * (work->tokens + 1) + (uint32_t)*count) * 4] = (int32_t)t;
			(*count)++;
		}
		rows += here;
	}
}

static void add_work(struct given *given, struct work *work, uint32_t axis)
{
	static const struct ttnn_memory_config l1 = {.buffer = TTNN_L1};
	uint32_t stride = (2 * work->experts + 1 + 3) / 4 * 4;
	const struct ttnn_shape shapes[] = {{2, {1, work->tokens * stride}},
					    {2, {work->experts, (work->tokens + 1) * 4}},
					    {2, {1, work->experts}}};
	const int32_t *numbers[] = {work->active, work->maps, work->counts};
	ttnn_tensor *tensors[3];

	for (uint32_t i = 0; i < 3; i++) {
		struct ttnn_spec_args args = {
			.shape = shapes[i], .dtype = TTNN_UINT32, .memory = l1};

		tensors[i] = given_tensor(given, NULL, &args, 0, 1);
	}
	for (uint32_t chip = 0; chip < golden_opened->rows * golden_opened->cols; chip++) {
		find_work(work, axis ? chip % golden_opened->cols : chip / golden_opened->cols);
		for (uint32_t i = 0; i < 3; i++)
			given_put(tensors[i], chip, numbers[i]);
	}
}

/* Tokens in pieces: each on a core, and tokens of an expert dealt out to rows of such. */
static void add_dense(struct given *given, const struct work *work, uint32_t rows, uint32_t pieces,
		      uint32_t width)
{
	struct ttnn_core_range range = {{1, 0}, {pieces, rows - 1}};
	struct ttnn_spec_args args = {
		.shape = {5, {pieces, rows, work->experts, work->tokens / rows, width / pieces}},
		.dtype = TTNN_BFLOAT16,
		.memory = {.layout = TTNN_HEIGHT_SHARDED, .buffer = TTNN_L1, .has_shard = true}};

	args.memory.shard = (struct ttnn_shard_spec){.height = work->experts * work->tokens / rows,
						     .width = width / pieces};
	CHECK_OK(ttnn_core_set_make(&args.memory.shard.grid, &range, 1));
	given_chips(given, NULL, &args, -2, 2);
	for (uint32_t i = 0; i < rows * pieces; i++)
		given->items[i] =
			(struct ttnn_value){.kind = TTNN_VALUE_CORE,
					    .core = tt_core_set_at(args.memory.shard.grid,
								   i % pieces * rows + i / pieces,
								   TTNN_ORIENT_ROW_MAJOR)};
}

TEST(what_experts_made)
{
	static const char *const name = "ttnn.experimental.selective_reduce_combine";
	struct ttnn_core_range four = {{7, 0}, {7, 3}};
	const ttnn_core_set *mux;
	struct given given = {.state = 11};

	CHECK_OK(ttnn_core_set_make(&mux, &four, 1));
	for (uint32_t n = 0; n < 2 * GOLDEN_CASES; n++) {
		uint32_t axis = n < GOLDEN_CASES || n % 2, rows = 1 + n % 2 * 3,
			 pieces = 1 << n % 3, width = 64 * (1 + n % 3);
		struct work work = {.members = n < GOLDEN_CASES ? 8 : (axis ? 4 : 2),
				    .experts = 1 + n % 4,
				    .tokens = 16 * (1 + n % 4),
				    .k = 1 + n % 3,
				    .turn = n};
		struct ttnn_spec_args out = {.dtype = TTNN_BFLOAT16};

		work.k = work.experts * work.members < 7 && work.k > 2 ? 2 : work.k;
		given_mesh(n < GOLDEN_CASES ? 1 : 2, n < GOLDEN_CASES ? 8 : 4);
		add_dense(&given, &work, rows, pieces, width);
		add_work(&given, &work, axis);
		out.shape = (struct ttnn_shape){3, {work.k, work.tokens / work.members, width}};
		const int64_t numbers[] = {width, work.tokens / (1 + n % 2), 1 + n % 2, work.k,
					   axis};
		for (size_t i = 0; i < TT_COUNT(numbers); i++)
			given_add(&given, NULL, ttnn_v_int(numbers[i]));
		given_add(&given, NULL, tt_value_enum(&tt_enum_topology, 1));
		given_add(&given, NULL, ttnn_v_int(1));
		given_add(&given, NULL, ttnn_v_int(rows));
		given_add(&given, NULL, ttnn_v_int(pieces));
		given_add(&given, NULL, ttnn_v_list(given.items, rows * pieces));
		given_add(&given, NULL,
			  (struct ttnn_value){.kind = TTNN_VALUE_CORE_SET, .core_set = mux});
		if (n % 4 == 1)
			given_tensor(&given, "output_tensor", &out, -1, 1);
		given_case(&given, name, n, 0);
	}
}

TEST(zz_close)
{
	golden_check_family("collective_moe");
	golden_close();
}
