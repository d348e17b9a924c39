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
	golden_check_family("collective_moe");
}

TEST(zz_close)
{
	golden_close();
}
