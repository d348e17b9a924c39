/* embedding, heads, rotary positions, caches and attention against their goldens */
#include "test.h"

#include "golden.h"
#include "ops/given.h"
#include "ops/golden_cases.h"

#define CASES 22

/* A tensor of tiles that lies here and there. */
static struct ttnn_spec_args tiles(uint32_t n, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
	static const enum ttnn_dtype dtypes[] = {TTNN_BFLOAT16, TTNN_FLOAT32, TTNN_BFLOAT8_B};
	struct ttnn_spec_args spec = given_spec(dtypes[n % 3], a, b, c, d);

	golden_put(&spec, n % 4 == 3 ? GOLDEN_L1 : GOLDEN_DRAM);
	return spec;
}

static struct ttnn_spec_args plain(uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
	return given_spec(TTNN_BFLOAT16, a, b, c, d);
}

/* A shard of 32 rows for each entry of dimension 1, on cores of a row from `row` on. */
static void per_user(struct ttnn_spec_args *spec, uint32_t row)
{
	uint32_t users = spec->shape.dim[1], last = spec->shape.rank - 1;
	struct ttnn_core_range range = {{0, row}, {users - 1, row}};
	struct ttnn_shard_spec shard = {.height = (spec->shape.dim[last - 1] + 31) / 32 * 32,
					.width = spec->shape.dim[last]};

	CHECK_OK(ttnn_core_set_make(&shard.grid, &range, 1));
	CHECK_OK(ttnn_memory_config_sharded(&spec->memory, TTNN_HEIGHT_SHARDED, TTNN_L1, &shard));
}

/* ---- embedding ------------------------------------------------------------------------------------ */

TEST(embedding)
{
	static const uint32_t lengths[] = {32, 45, 1, 64, 96, 7};
	struct given given = {.state = 1};

	for (uint32_t n = 0; n < CASES; n++) {
		struct ttnn_spec_args index = {.dtype = TTNN_UINT32};
		struct ttnn_spec_args table = plain(0, 0, 100, 32 * (1 + n % 3) + (n % 5 ? 0 : 6));

		index.shape = (struct ttnn_shape){2, {1 + n % 3, lengths[n % 6]}};
		if (n % 7 == 6)
			index.shape = (struct ttnn_shape){1, {lengths[n % 6]}};
		index.layout = n % 6 == 5 ? TTNN_TILE : TTNN_ROW_MAJOR;
		table.layout = n % 4 == 2 ? TTNN_TILE : TTNN_ROW_MAJOR;
		given_tensor(&given, NULL, &index, 0, 100);
		given_tensor(&given, NULL, &table, -3, 3);
		if (n % 2)
			given_add(&given, "layout", ttnn_v_layout(TTNN_TILE));
		else
			given_add(&given, "layout", ttnn_v_layout(TTNN_ROW_MAJOR));
		if (n % 10 == 1)
			given_add(&given, "dtype", ttnn_v_dtype(TTNN_FLOAT32));
		given_case(&given, "ttnn.embedding", n, 1);
	}
}

TEST(gradients_of_tables)
{
	for (size_t n = 0; n < GOLDEN_CASES; n++) {
		uint32_t batch = (uint32_t)n % 3 + 1, length = 32 * ((uint32_t)n % 2 + 1);
		uint32_t table = 32 * ((uint32_t)n % 4 + 1) + (n % 5 == 4 ? 8 : 0);
		uint32_t width = 32 * ((uint32_t)n % 3 + 1);
		struct ttnn_spec_args weight = given_spec(TTNN_BFLOAT16, 0, 0, table, width);
		struct ttnn_spec_args grad = given_spec(n % 4 == 3 ? TTNN_BFLOAT8_B : TTNN_BFLOAT16,
							1, 1, batch * length, width);
		struct given given = {.state = n + 1};
		int32_t numbers[3 * 64];

		for (uint32_t i = 0; i < batch * length; i++)
			numbers[i] = (int32_t)((i * 7919u + n) % (n % 2 ? table : 5));
		given_numbers(&given, NULL, &(struct ttnn_shape){2, {batch, length}}, TTNN_UINT32,
			      numbers);
		given_tensor(&given, NULL, &weight, -1, 1);
		if (n % 3 == 2)
			grad.memory.buffer = TTNN_L1;
		given_tensor(&given, NULL, &grad, -1, 1);
		given_case(&given, "ttnn.embedding_bw", n, 8);
	}
}

/* Indices that no table has, and gradients that are not theirs. */
TEST(embedding_goldens_refuse)
{
	struct ttnn_spec_args weight = given_spec(TTNN_BFLOAT16, 0, 0, 32, 32);
	struct ttnn_spec_args grad = given_spec(TTNN_BFLOAT16, 1, 1, 32, 32);
	struct ttnn_spec_args more = given_spec(TTNN_BFLOAT16, 1, 1, 64, 32);
	struct ttnn_shape shape = {2, {1, 32}};
	int32_t numbers[32] = {0}, beyond[32] = {[31] = 32};
	struct given given = {.state = 1};

	given_numbers(&given, NULL, &shape, TTNN_UINT32, beyond);
	given_tensor(&given, NULL, &weight, -1, 1);
	given_refused(&given, "ttnn.embedding", "index 32 is outside of a table of 32 rows");
	given_numbers(&given, NULL, &shape, TTNN_UINT32, beyond);
	given_tensor(&given, NULL, &weight, -1, 1);
	given_tensor(&given, NULL, &grad, -1, 1);
	given_refused(&given, "ttnn.embedding_bw", "index 32 is outside of a table of 32 rows");
	given_numbers(&given, NULL, &shape, TTNN_UINT32, numbers);
	given_tensor(&given, NULL, &weight, -1, 1);
	given_tensor(&given, NULL, &more, -1, 1);
	given_refused(&given, "ttnn.embedding_bw",
		      "must be equal to number of indices in index tensor");
}

/* ---- heads ------------------------------------------------------------------------------------------ */

/* The number of heads, at times fewer for keys and values; returns the width of a fused row. */
static uint32_t add_heads(struct given *given, uint32_t n, uint32_t width, bool grouped)
{
	uint32_t heads = 1 + n % 4, few = grouped && heads % 2 == 0 ? heads / 2 : heads;

	given_add(given, "num_heads", ttnn_v_int(heads));
	if (few != heads)
		given_add(given, "num_kv_heads", ttnn_v_int(few));
	return (heads + 2 * few) * width;
}

TEST(create_heads)
{
	struct given given = {.state = 2};

	for (uint32_t n = 0; n < CASES; n++) {
		uint32_t width = 32 * (1 + n % 3), rows = 32 + 9 * n % 5;
		struct given heads = {.state = 2};
		uint32_t across = add_heads(&heads, n, width, n % 5 != 4);
		struct ttnn_spec_args spec = tiles(n, 1 + n % 2, 1, rows, across);

		if (n % 5 == 4)
			spec.shape.dim[3] = across / 3;
		given_tensor(&given, NULL, &spec, -3, 3);
		if (n % 5 == 4) {
			spec.shape.dim[3] = across / 3 * 2;
			given_tensor(&given, NULL, &spec, -3, 3);
		}
		for (size_t i = 0; i < heads.count; i++)
			given_add(&given, heads.args[i].name, heads.args[i].value);
		given_add(&given, "transpose_k_heads", ttnn_v_bool(n % 2));
		given_case(&given, "ttnn.experimental.nlp_create_qkv_heads", n, 1);
	}
}

/* A core for each head of keys, with its queries. */
TEST(create_heads_of_shards)
{
	for (uint32_t n = 0; n < CASES; n++) {
		uint32_t keys = 1 + n % 8, queries = 1 + n % 3, width = 32 * (1 + n % 2);
		bool apart = n % 4 == 3;
		const struct ttnn_core_range box = {{0, 0}, {keys - 1, 0}};
		struct ttnn_memory_config out = {.layout = TTNN_HEIGHT_SHARDED, .buffer = TTNN_L1};
		struct ttnn_spec_args spec = tiles(0, 1, 1, 32, 32);
		struct ttnn_shard_spec shard = {.height = 32};
		struct given given = {.state = n + 1};

		CHECK_OK(ttnn_core_set_make(&shard.grid, &box, 1));
		for (uint32_t i = 0; i < (apart ? 2 : 1); i++) {
			shard.width = width * (i ? 2 : apart ? queries : queries + 2);
			spec.shape.dim[3] = shard.width * keys;
			CHECK_OK(ttnn_memory_config_sharded(&spec.memory, TTNN_WIDTH_SHARDED,
							    TTNN_L1, &shard));
			given_tensor(&given, NULL, &spec, -3, 3);
		}
		given_add(&given, "num_heads", ttnn_v_int(keys * queries));
		given_add(&given, "num_kv_heads", ttnn_v_int(keys));
		given_add(&given, "transpose_k_heads", ttnn_v_bool(false));
		given_add(&given, "memory_config", ttnn_v_memory(&out));
		given_case(&given, "ttnn.experimental.nlp_create_qkv_heads", n, 1);
	}
}

TEST(split_heads)
{
	struct given given = {.state = 3};

	for (uint32_t n = 0; n < CASES; n++) {
		struct given heads = {.state = 3};
		uint32_t across = add_heads(&heads, n, 32 * (1 + n % 2), n % 2);
		struct ttnn_spec_args spec = tiles(n, 0, 1 + n % 3, 20 + 12 * (n % 4), across);

		given_tensor(&given, NULL, &spec, -3, 3);
		for (size_t i = 0; i < heads.count; i++)
			given_add(&given, heads.args[i].name, heads.args[i].value);
		given_add(&given, "transpose_key", ttnn_v_bool(n % 2 == 0));
		given_case(&given, "ttnn.transformer.split_query_key_value_and_split_heads", n, 1);
	}
}

/* Blocks of columns, each with the queries, keys and values of its heads; every third without blocks. */
TEST(split_heads_in_blocks)
{
	struct given given = {.state = 7};

	for (uint32_t n = 0; n < CASES; n++) {
		bool blocks = n % 3 != 2;
		uint32_t groups = blocks ? 1 + n % 3 : 1, heads = groups * (1 + n % 2);
		uint32_t width = 32 * (1 + n % 2), batch = blocks ? 1 + n % 4 : 7 + n % 2;
		struct ttnn_spec_args spec =
			tiles(0, batch, 1, 32 * (1 + n % 2), 3 * heads * width);
		struct ttnn_shard_spec shard = {.height = spec.shape.dim[2],
						.width = 3 * heads * width / groups};

		spec.dtype = n % 4 == 3 ? TTNN_BFLOAT8_B : TTNN_BFLOAT16;
		CHECK_OK(ttnn_core_set_make(
			&shard.grid, &(struct ttnn_core_range){{0, 0}, {groups - 1, batch - 1}},
			1));
		if (blocks)
			CHECK_OK(ttnn_memory_config_sharded(&spec.memory, TTNN_BLOCK_SHARDED,
							    TTNN_L1, &shard));
		given_tensor(&given, NULL, &spec, -3, 3);
		given_add(&given, "compute_with_storage_grid_size",
			  ((struct ttnn_value){.kind = TTNN_VALUE_CORE, .core = {8, 8}}));
		given_add(&given, "num_heads", ttnn_v_int(heads));
		given_add(&given, "memory_config",
			  ttnn_v_memory(&(struct ttnn_memory_config){
				  .layout = blocks ? TTNN_HEIGHT_SHARDED : TTNN_INTERLEAVED,
				  .buffer = TTNN_L1}));
		given_case(&given, "ttnn.experimental.split_query_key_value_and_split_heads", n, 1);
	}
}

/* A head of keys follows its queries; blocks of whole groups, in either orientation, by either name. */
TEST(heads_of_groups)
{
	struct given given = {.state = 8};

	for (uint32_t n = 0; n < 2 * CASES; n++) {
		bool split = n >= CASES, transposed = n % 5 == 2;
		uint32_t across = 1 + n % 3, groups = across * (1 + n % 2), per = 1 + n / 2 % 3;
		uint32_t width = 32 * (1 + n % 2), batch = 1 + n % 4, rows = 32 * (1 + n / 3 % 2);
		uint32_t columns = groups * (per + 2) * width;
		struct ttnn_spec_args spec = split ? tiles(0, 0, batch, rows, columns)
						   : tiles(0, batch, 1, rows, columns);
		struct ttnn_shard_spec shard = {.height = rows, .width = columns / across};
		struct ttnn_core_range range = {{0, 0}, {across - 1, batch - 1}};

		if (transposed) {
			shard.orientation = TTNN_ORIENT_COL_MAJOR;
			range.end = (struct ttnn_core){batch - 1, across - 1};
		}
		spec.dtype = n % 4 == 3   ? TTNN_BFLOAT8_B
			     : n % 4 == 1 ? TTNN_FLOAT32
					  : TTNN_BFLOAT16;
		CHECK_OK(ttnn_core_set_make(&shard.grid, &range, 1));
		CHECK_OK(ttnn_memory_config_sharded(&spec.memory, TTNN_BLOCK_SHARDED, TTNN_L1,
						    &shard));
		given_tensor(&given, NULL, &spec, -3, 3);
		given_add(&given, "num_heads", ttnn_v_int(groups * per));
		given_add(&given, "num_kv_heads", ttnn_v_int(groups));
		given_add(&given, split ? "transpose_key" : "transpose_k_heads",
			  ttnn_v_bool(n % 3 == 0));
		given_add(&given, "memory_config",
			  ttnn_v_memory(&(struct ttnn_memory_config){.layout = TTNN_HEIGHT_SHARDED,
								     .buffer = TTNN_L1}));
		given_case(&given,
			   split ? "ttnn.transformer.split_query_key_value_and_split_heads"
				 : "ttnn.experimental.create_qkv_heads",
			   n, 1);
	}
}

TEST(heads_of_models)
{
	static const struct {
		const char *op;
		uint32_t width;
	} models[] = {
		{"ttnn.experimental.nlp_create_qkv_heads_falcon7b", 4672},
		{"ttnn.experimental.nlp_create_qkv_heads_vit", 2304},
		{"ttnn.experimental.nlp_create_qkv_heads_segformer", 160},
	};
	struct given given = {.state = 4};

	for (size_t i = 0; i < 3; i++)
		for (uint32_t n = 0; n < 20; n++) {
			struct ttnn_spec_args spec =
				tiles(n, 1, 1, 10 + 11 * (n % 5), models[i].width);

			given_tensor(&given, NULL, &spec, -3, 3);
			given_case(&given, models[i].op, n, 1);
		}
}

TEST(concat_heads)
{
	struct given given = {.state = 5};

	for (uint32_t n = 0; n < 2 * CASES; n++) {
		struct ttnn_spec_args spec =
			tiles(n / 2, 1 + n % 2, 1 + n % 5, 10 + 17 * (n % 4), 32 * (1 + n % 3));

		given_tensor(&given, NULL, &spec, -3, 3);
		given_case(&given,
			   n % 2 ? "ttnn.experimental.nlp_concat_heads"
				 : "ttnn.transformer.concatenate_heads",
			   n, 1);
	}
}

TEST(heads_while_decoding)
{
	struct given given = {.state = 6};

	for (uint32_t n = 0; n < CASES; n++) {
		uint32_t users = 1 + n % 8, heads = 4 + 4 * n % 4;
		struct ttnn_spec_args spec = tiles(n, 1, 1, users, (heads + 8) * 32);

		given_tensor(&given, NULL, &spec, -3, 3);
		given_add(&given, "num_heads", ttnn_v_int(heads));
		given_add(&given, "num_kv_heads", ttnn_v_int(4));
		given_case(&given, "ttnn.experimental.nlp_create_qkv_heads_decode", n, 1);

		spec = tiles(n, 1, users, n % 2 ? 32 : heads, 32 * (1 + n % 3));
		per_user(&spec, 0);
		given_tensor(&given, NULL, &spec, -3, 3);
		given_add(&given, "num_heads", ttnn_v_int(heads));
		given_case(&given, "ttnn.experimental.nlp_concat_heads_decode", n, 1);
	}
}

/* ---- rotary positions --------------------------------------------------------------------------------- */

TEST(rotary)
{
	struct given given = {.state = 7};

	for (uint32_t n = 0; n < CASES; n++) {
		uint32_t width = n % 4 ? 64 * (1 + n % 3) : 32, rows = 32 * (1 + (n % 3));
		struct ttnn_spec_args spec = tiles(n, 1, 1 + n % 4, rows, width);
		struct ttnn_spec_args table = plain(1, 1, 128, width);

		given_tensor(&given, NULL, &spec, -3, 3);
		given_tensor(&given, NULL, &table, -1, 1);
		given_tensor(&given, NULL, &table, -1, 1);
		if (n % 3 == 2)
			given_add(&given, NULL, ttnn_v_int((int64_t)n * 5));
		given_case(&given, "ttnn.experimental.rotary_embedding", n, 2);

		given_tensor(&given, NULL, &spec, -3, 3);
		table = plain(1, 1, rows, width);
		given_tensor(&given, NULL, &table, -1, 1);
		given_tensor(&given, NULL, &table, -1, 1);
		given_case(&given, "ttnn.experimental.rotary_embedding_hf", n, 2);

		/* Both halves are whole tiles. */
		spec.shape.dim[3] = 64 * (1 + n % 4);
		given_tensor(&given, NULL, &spec, -3, 3);
		given_case(&given, "ttnn.experimental.rotate_half", n, 1);
	}
}

TEST(rotary_by_a_matrix)
{
	struct given given = {.state = 8};

	for (uint32_t n = 0; n < CASES; n++) {
		uint32_t width = 32 * (1 + n % 4), rows = 20 + 32 * (n % 3);
		struct ttnn_spec_args spec = plain(1, 1 + n % 4, rows, width);
		struct ttnn_spec_args table = plain(1, 1, rows, width), turn = plain(1, 1, 32, 32);
		bool decode = n % 3 == 2;

		if (decode) {
			spec = plain(1, 1 + n % 8, 4 + n % 8, width);
			table = plain(1, 1 + n % 8, n % 2 ? 1 : 32, width);
			turn = plain(1, 1, 32 * (1 + n % 8), 32);
			per_user(&spec, 0);
			per_user(&table, 0);
			turn.memory = (struct ttnn_memory_config){0};
		}
		given_tensor(&given, NULL, &spec, -3, 3);
		given_tensor(&given, NULL, &table, -1, 1);
		given_tensor(&given, NULL, &table, -1, 1);
		if (decode) {
			struct ttnn_core_range range = {{0, 0}, {n % 8, 0}};
			struct ttnn_shard_spec shard = {.height = 32, .width = 32};

			CHECK_OK(ttnn_core_set_make(&shard.grid, &range, 1));
			CHECK_OK(ttnn_memory_config_sharded(&turn.memory, TTNN_HEIGHT_SHARDED,
							    TTNN_L1, &shard));
		}
		given_tensor(&given, NULL, &turn, -1, 1);
		given_add(&given, "is_decode_mode", ttnn_v_bool(decode));
		given_case(&given, "ttnn.experimental.rotary_embedding_llama", n, 4);
	}
}

TEST(rotary_of_queries_and_keys)
{
	struct given given = {.state = 9};

	for (uint32_t n = 0; n < CASES; n++) {
		uint32_t width = 32 * (1 + n % 4), users = 1 + n % 8;
		struct ttnn_spec_args q = plain(1, users, 4 + n % 8, width);
		struct ttnn_spec_args k = plain(1, users, 1, width);
		struct ttnn_spec_args table = plain(1, 2 * users, n % 2 ? 1 : 32, width);
		struct ttnn_spec_args turn = plain(1, 2 * users, 32, 32);
		struct ttnn_core_range both = {{0, 0}, {users - 1, 1}};
		struct ttnn_shard_spec shard = {.height = 32, .width = width};

		per_user(&q, 0);
		per_user(&k, 1);
		CHECK_OK(ttnn_core_set_make(&shard.grid, &both, 1));
		CHECK_OK(ttnn_memory_config_sharded(&table.memory, TTNN_HEIGHT_SHARDED, TTNN_L1,
						    &shard));
		shard.width = 32;
		CHECK_OK(ttnn_memory_config_sharded(&turn.memory, TTNN_HEIGHT_SHARDED, TTNN_L1,
						    &shard));
		turn.shape = (struct ttnn_shape){4, {1, 1, 64 * users, 32}};
		given_tensor(&given, NULL, &q, -3, 3);
		given_tensor(&given, NULL, &k, -3, 3);
		given_tensor(&given, NULL, &table, -1, 1);
		given_tensor(&given, NULL, &table, -1, 1);
		given_tensor(&given, NULL, &turn, -1, 1);
		given_case(&given, "ttnn.experimental.rotary_embedding_llama_fused_qk", n, 4);
	}
}

/* ---- caches ---------------------------------------------------------------------------------------------- */

TEST(whole_caches)
{
	static const char *const fills[] = {"ttnn.fill_cache",
					    "ttnn.kv_cache.fill_cache_for_user_"};
	static const char *const updates[] = {"ttnn.update_cache",
					      "ttnn.kv_cache.update_cache_for_token_"};
	struct given given = {.state = 10};

	for (uint32_t n = 0; n < 2 * CASES; n++) {
		uint32_t heads = 1 + n % 3, width = 32 * (1 + n % 2);
		struct ttnn_spec_args cache = tiles(n / 2, 4, heads, 128, width);
		struct ttnn_spec_args in = cache;

		in.shape.dim[0] = 1;
		in.shape.dim[2] = 32 * (1 + n % 2) - (n % 5 == 4 ? 7 : 0);
		given_tensor(&given, NULL, &cache, -3, 3);
		given_tensor(&given, NULL, &in, -3, 3);
		given_add(&given, NULL, ttnn_v_int((int64_t)(n % 4)));
		given_add(&given, "update_idx", ttnn_v_int(n % 3 ? 0 : 64));
		given_case(&given, fills[n % 2], n, 1);

		cache = tiles(n / 2, n % 2 ? 32 : 8, heads, 64, width);
		in.dtype = n % 4 == 2 ? TTNN_BFLOAT16 : cache.dtype;
		in.shape.dim[2] = 32;
		given_tensor(&given, NULL, &cache, -3, 3);
		given_tensor(&given, NULL, &in, -3, 3);
		given_add(&given, NULL, ttnn_v_int((int64_t)(n * 3 % 64)));
		if (n % 2 == 0)
			given_add(&given, "batch_offset", ttnn_v_int((int64_t)(n % 24)));
		given_case(&given, updates[n / 2 % 2], n, 1);
	}
}

/* The blocks of users that have `each` of them, in an order that mixes them. */
static void add_pages(struct given *given, uint32_t users, uint32_t each)
{
	int32_t pages[64];

	for (uint32_t i = 0; i < users * each; i++)
		pages[i] = (int32_t)((i * 5 + 3) % (users * each));
	given_numbers(given, "page_table", &(struct ttnn_shape){2, {users, each}}, TTNN_INT32,
		      pages);
}

/* Tables only where 5 mixes the numbers without meeting one twice. */
static bool mixes(uint32_t count)
{
	return count % 5 != 0;
}

static void add_positions(struct given *given, const char *name, uint32_t users, uint32_t below)
{
	int32_t positions[32];

	for (uint32_t i = 0; i < users; i++)
		positions[i] = i % 5 == 4 ? -1 : (int32_t)(i * 29 % below);
	given_numbers(given, name, &(struct ttnn_shape){1, {users}}, TTNN_INT32, positions);
}

static void paged_update(uint32_t n, bool both)
{
	uint32_t users = 1 + n % 8, each = 2, heads = 1 + n % 3;
	uint32_t width = 32 * (1 + n % 2);
	bool paged = n % 2 && mixes(users * each);
	struct ttnn_spec_args cache = tiles(n, paged ? users * each : users, heads, 64, width);
	struct ttnn_spec_args in = plain(1, users, n % 3 ? heads : 32, width), other = in;
	struct given given = {.state = 11 + n};

	in.dtype = other.dtype = cache.dtype == TTNN_FLOAT32 ? TTNN_FLOAT32 : TTNN_BFLOAT16;
	per_user(&in, 0);
	per_user(&other, 1);
	given_tensor(&given, NULL, &cache, -3, 3);
	given_tensor(&given, NULL, &in, -3, 3);
	if (both) {
		given_tensor(&given, NULL, &cache, -3, 3);
		given_tensor(&given, NULL, &other, -3, 3);
	}
	if (n % 4 == 2)
		given_add(&given, "update_idxs", given_list(&given, 3, 2, users));
	else
		add_positions(&given, "update_idxs_tensor", users, 64);
	if (paged)
		add_pages(&given, users, each);
	given_case(&given,
		   both ? "ttnn.experimental.paged_fused_update_cache"
			: "ttnn.experimental.paged_update_cache",
		   n, 1);
}

TEST(paged_caches)
{
	for (uint32_t n = 0; n < CASES; n++) {
		uint32_t users = 1 + n % 3, each = 4;
		struct ttnn_spec_args cache = tiles(n, users * each, 1 + n % 2, 32, 64);
		struct ttnn_spec_args in = cache;
		struct given given = {.state = 12};

		paged_update(n, false);
		paged_update(n, true);
		in.shape.dim[0] = 1;
		in.shape.dim[2] = 20 + 17 * n % 5;
		given_tensor(&given, NULL, &cache, -3, 3);
		given_tensor(&given, NULL, &in, -3, 3);
		add_pages(&given, users, each);
		if (n % 3 == 1)
			given_numbers(&given, "batch_idx_tensor", &(struct ttnn_shape){1, {1}},
				      TTNN_UINT32, &(int32_t){(int32_t)(n % users)});
		else
			given_add(&given, "batch_idx", ttnn_v_int((int64_t)(n % users)));
		given_case(&given, "ttnn.experimental.paged_fill_cache", n, 1);
	}
}

TEST(counters)
{
	struct given given = {.state = 13};

	for (uint32_t n = 0; n < CASES; n++) {
		struct ttnn_spec_args spec = {.dtype = n % 2 ? TTNN_INT32 : TTNN_UINT32};

		spec.shape = (struct ttnn_shape){1 + n % 4, {7, 5, 3, 2}};
		given_tensor(&given, NULL, &spec, -50, 50);
		if (n % 3 == 1)
			given_add(&given, "skip_negative_entries", ttnn_v_bool(true));
		given_case(&given, "ttnn.plus_one", n, 1);
	}
}

/* ---- attention ------------------------------------------------------------------------------------------ */

static enum ttnn_dtype narrow(uint32_t n)
{
	return n % 4 == 3 ? TTNN_BFLOAT8_B : TTNN_BFLOAT16;
}

TEST(attention)
{
	struct given given = {.state = 14};

	for (uint32_t n = 0; n < 2 * CASES; n++) {
		uint32_t heads = 1 + n % 4, width = 32 * (1 + n % 3);
		uint32_t rows = 20 + 31 * n % 5, columns = n % 3 == 1 ? rows + 40 : rows;
		struct ttnn_spec_args q = given_spec(narrow(n), 1 + n % 2, heads, rows, width),
				      k = q;
		bool causal = n % 3 == 0;

		k.shape.dim[1] = heads % 2 ? heads : heads / 2;
		k.shape.dim[2] = columns;
		given_tensor(&given, NULL, &q, -2, 2);
		given_tensor(&given, NULL, &k, -2, 2);
		given_tensor(&given, NULL, &k, -2, 2);
		given_add(&given, "is_causal", ttnn_v_bool(causal));
		if (n % 3 == 1) {
			struct ttnn_spec_args mask = plain(n % 2 ? 1 : 1 + n % 2, 1, rows, columns);

			given_tensor(&given, "attn_mask", &mask, -4, 4);
		}
		if (n % 5 == 3)
			given_add(&given, "scale", ttnn_v_real(0.25));
		if (n % 3 != 1 && n % 4 == 1)
			given_add(&given, "sliding_window_size", ttnn_v_int(16));
		if (n % 7 == 6) {
			struct ttnn_spec_args sink = plain(1, heads, 1, 1);

			given_tensor(&given, "attention_sink", &sink, -2, 2);
		}
		if (n % 6 == 5)
			given_add(&given, "output_concat_heads", ttnn_v_bool(true));
		if (n == 5)
			golden_case_on_threads("ttnn.transformer.scaled_dot_product_attention",
					       given.args, given.count, 3);
		given_case(&given, "ttnn.transformer.scaled_dot_product_attention", n, 3);
	}
}

TEST(attention_of_segments)
{
	static const int32_t cuts[] = {0, 10, 40, 96};
	struct given given = {.state = 15};
	struct ttnn_spec_args q = plain(1, 2, 96, 64);

	given_tensor(&given, NULL, &q, -2, 2);
	given_tensor(&given, NULL, &q, -2, 2);
	given_tensor(&given, NULL, &q, -2, 2);
	given_add(&given, "is_causal", ttnn_v_bool(false));
	given_numbers(&given, "cu_window_seqlens", &(struct ttnn_shape){1, {4}}, TTNN_UINT32, cuts);
	given_case(&given, "ttnn.transformer.scaled_dot_product_attention", 0, 3);
}

/* A page table under another name. */
static void add_table(struct given *given, uint32_t users, uint32_t each)
{
	add_pages(given, users, each);
	given->args[given->count - 1].name = "page_table_tensor";
}

TEST(attention_of_chunks)
{
	struct given given = {.state = 16};

	for (uint32_t n = 0; n < CASES; n++) {
		uint32_t heads = 1 + n % 4, width = 32 * (1 + n % 2);
		struct ttnn_spec_args q = given_spec(narrow(n), 1, heads, 32 * (1 + n % 3), width);
		struct ttnn_spec_args k = q;

		k.shape = (struct ttnn_shape){4, {8, heads % 2 ? heads : heads / 2, 32, width}};
		given_tensor(&given, NULL, &q, -2, 2);
		given_tensor(&given, NULL, &k, -2, 2);
		given_tensor(&given, NULL, &k, -2, 2);
		add_table(&given, 1, 8);
		given_add(&given, "chunk_start_idx", ttnn_v_int(32 * (int64_t)(n % 5)));
		given_case(&given, "ttnn.transformer.chunked_scaled_dot_product_attention", n, 3);
	}
}

TEST(attention_while_decoding)
{
	struct given given = {.state = 17};

	for (uint32_t n = 0; n < CASES; n++) {
		uint32_t users = 1 + n % 8, kv = 1 + n % 2;
		uint32_t heads = kv * (1 + n % 5), width = 32 * (1 + n % 3);
		struct ttnn_spec_args q = plain(1, users, heads, width);
		struct ttnn_spec_args k = given_spec(narrow(n), users, kv, 96, width);

		given_tensor(&given, NULL, &q, -2, 2);
		given_tensor(&given, NULL, &k, -2, 2);
		given_tensor(&given, NULL, &k, -2, 2);
		if (n % 4 == 3) {
			struct ttnn_spec_args mask = plain(users, 1, heads, 96);

			given_add(&given, "is_causal", ttnn_v_bool(false));
			given_tensor(&given, "attn_mask", &mask, -4, 4);
		} else if (n % 2) {
			given_add(&given, "cur_pos", given_list(&given, 5, 3, users));
		} else {
			add_positions(&given, "cur_pos_tensor", users, 96);
		}
		if (n % 5 == 2)
			given_add(&given, "sliding_window_size", ttnn_v_int(16));
		given_case(&given, "ttnn.transformer.scaled_dot_product_attention_decode", n, 3);
	}
}

TEST(attention_to_blocks)
{
	struct given given = {.state = 18};

	for (uint32_t n = 0; n < CASES; n++) {
		uint32_t users = 1 + n % 4, each = 3, kv = 1 + n % 2;
		uint32_t heads = kv * (1 + n % 5), width = 32 * (1 + n % 3);
		struct ttnn_spec_args q = plain(1, users, heads, width);
		struct ttnn_spec_args k = given_spec(narrow(n), users * each, kv, 32, width);

		given_tensor(&given, NULL, &q, -2, 2);
		given_tensor(&given, NULL, &k, -2, 2);
		given_tensor(&given, NULL, &k, -2, 2);
		add_table(&given, users, each);
		add_positions(&given, "cur_pos_tensor", users, 32 * each);
		given_case(&given, "ttnn.transformer.paged_scaled_dot_product_attention_decode", n,
			   3);
	}
}

TEST(latent_attention)
{
	struct given given = {.state = 19};

	for (uint32_t n = 0; n < CASES; n++) {
		uint32_t heads = 2 * (1 + n % 3), width = 32 * (2 + n % 2), rows = 20 + 31 * n % 5;
		uint32_t columns = n % 2 ? rows + 40 : rows;
		struct ttnn_spec_args q = given_spec(narrow(n), 1 + n % 2, heads, rows, width),
				      k = q, v;

		k.shape.dim[1] = n % 4 == 1 ? 2 : 1;
		k.shape.dim[2] = columns;
		v = k;
		v.shape.dim[1] = n % 4 == 1 ? 2 : heads;
		v.shape.dim[3] = 32;
		given_tensor(&given, NULL, &q, -2, 2);
		given_tensor(&given, NULL, &k, -2, 2);
		if (n % 3 == 2)
			given_tensor(&given, NULL, &v, -2, 2);
		else
			given_add(&given, NULL, ttnn_v_int(n % 5 == 4 ? width : 32 + n % 2 * 16));
		given_add(&given, "is_causal", ttnn_v_bool(n % 2 == 0));
		if (n % 4 == 3) {
			struct ttnn_spec_args mask = plain(1, 1, rows, columns);

			given_tensor(&given, "attn_mask", &mask, -4, 4);
		}
		if (n % 5 == 3)
			given_add(&given, "scale", ttnn_v_real(0.25));
		given_case(&given, "ttnn.transformer.flash_mla_prefill", n, 3);
	}
}

TEST(latent_attention_of_chunks)
{
	struct given given = {.state = 20};

	for (uint32_t n = 0; n < CASES; n++) {
		uint32_t heads = 1 + n % 4, width = 32 * (2 + n % 2);
		struct ttnn_spec_args q = given_spec(narrow(n), 1, heads, 32 * (1 + n % 3), width);
		struct ttnn_spec_args k = q;

		k.shape = (struct ttnn_shape){4, {8, 1, 32, width}};
		given_tensor(&given, NULL, &q, -2, 2);
		given_tensor(&given, NULL, &k, -2, 2);
		given_add(&given, "head_dim_v", ttnn_v_int(32 + n % 3 * 16));
		add_table(&given, 1, 8);
		given_add(&given, "chunk_start_idx", ttnn_v_int(32 * (int64_t)(n % 5)));
		given_case(&given, "ttnn.transformer.chunked_flash_mla_prefill", n, 3);
	}
}

TEST(latent_attention_while_decoding)
{
	struct given given = {.state = 21};

	for (uint32_t n = 0; n < 2 * CASES; n++) {
		bool paged = n % 2;
		uint32_t users = 1 + n % 4, kv = 1 + n % 3 / 2, heads = kv * (1 + n % 5);
		uint32_t width = 32 * (2 + n % 2), length = paged ? 32 : 96;
		struct ttnn_spec_args q = plain(1, users, heads, width);
		struct ttnn_spec_args k =
			given_spec(narrow(n), paged ? users * 3 : users, kv, length, width);
		struct ttnn_spec_args v = k;

		v.shape.dim[3] = 32;
		given_tensor(&given, NULL, &q, -2, 2);
		given_tensor(&given, NULL, &k, -2, 2);
		if (n % 4 > 1)
			given_tensor(&given, "input_tensor_v", &v, -2, 2);
		given_add(&given, "head_dim_v", ttnn_v_int(n % 4 > 1 ? 32 : 64));
		if (paged)
			add_table(&given, users, 3);
		if (n % 3 || paged)
			add_positions(&given, "cur_pos_tensor", users, 96);
		else
			given_add(&given, "cur_pos", given_list(&given, 5, 3, users));
		if (n % 5 == 2)
			given_add(&given, "sliding_window_size", ttnn_v_int(16));
		if (n % 7 == 3) {
			struct ttnn_spec_args sink = given_spec(TTNN_BFLOAT16, 1, 1, heads, 32);

			sink.shape = (struct ttnn_shape){2, {heads, 32}};
			given_tensor(&given, "attention_sink", &sink, -2, 2);
		}
		given_case(&given,
			   paged ? "ttnn.transformer.paged_flash_multi_latent_attention_decode"
				 : "ttnn.transformer.flash_multi_latent_attention_decode",
			   n, 3);
	}
}

TEST(zz_all_rows)
{
	static const char *const families[] = {"embedding",    "heads",           "heads_decode",
					       "heads_split",  "heads_groups",    "rotary",
					       "rotary_llama", "kv_cache",        "paged_cache",
					       "attention",    "attention_decode"};

	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
		golden_check_family(families[i]);
	golden_close();
}

/* ---- memory runs out ---------------------------------------------------------------------------------- */

static tt_status on_device(ttnn_tensor **out, ttnn_device *device, const struct ttnn_shape *shape)
{
	return ttnn_call_one(out, "ttnn.zeros",
			     (struct ttnn_arg[]){{NULL, ttnn_v_shape(shape)},
						 {"layout", ttnn_v_layout(TTNN_TILE)},
						 {"device", ttnn_v_device(device)}},
			     3, TTNN_FRONTEND_C);
}

SCENARIO(heads_and_attention)
{
	const struct ttnn_shape shape = {4, {1, 1, 32, 192}};
	struct ttnn_results heads = {.count = 0};
	ttnn_tensor *x = NULL, *out = NULL;
	ttnn_device *device = NULL;
	tt_status status = ttnn_device_open(&device, 0, NULL);

	if (status == TTNN_OK)
		status = on_device(&x, device, &shape);
	if (status == TTNN_OK)
		status = ttnn_call(&heads, "ttnn.experimental.nlp_create_qkv_heads",
				   (struct ttnn_arg[]){{NULL, ttnn_v_tensor(x)},
						       {"num_heads", ttnn_v_int(2)},
						       {"transpose_k_heads", ttnn_v_bool(false)}},
				   3, TTNN_FRONTEND_C);
	if (status == TTNN_OK)
		status = ttnn_call_one(&out, "ttnn.transformer.scaled_dot_product_attention",
				       (struct ttnn_arg[]){{NULL, ttnn_v_tensor(heads.tensors[0])},
							   {NULL, ttnn_v_tensor(heads.tensors[1])},
							   {NULL, ttnn_v_tensor(heads.tensors[2])}},
				       3, TTNN_FRONTEND_C);
	for (size_t i = 0; i < heads.count; i++)
		ttnn_tensor_unref(heads.tensors[i]);
	ttnn_tensor_unref(x);
	ttnn_tensor_unref(out);
	ttnn_device_unref(device);
	return status;
}
