/* near edges: with far ones, all of them, in the order in which they were told */
#include "test.h"

#include "trace/near.h"

#define NODES 6000
#define EDGES 40000

struct told {
	uint32_t from, to, nodes;
};

/* Edges as they are told while there are more and more nodes: most near, some from long ago. */
static void make_edges(struct told *edges)
{
	uint64_t state = 7;

	for (uint32_t i = 0; i < EDGES; i++) {
		uint32_t nodes = 1 + i * (NODES - 1) / EDGES;
		uint32_t back = (uint32_t)(test_random(&state) % (i % 5 ? 40 : nodes));

		edges[i] = (struct told){back < nodes ? nodes - 1 - back : 0, i, nodes};
	}
}

TEST(near_and_far_edges_are_all)
{
	static struct told edges[EDGES];
	struct tt_near_block block = {0};
	struct tt_near near = {0};
	size_t far = 0, wrong = 0;

	make_edges(edges);
	for (int times = 0; times < 2; times++, tt_near_clear(&near)) {
		uint32_t next = 0;

		for (uint32_t number = 0; number * TT_NEAR_BLOCK < NODES; number++) {
			/* Up to the third block behind it. */
			for (; next < EDGES && edges[next].nodes <= (number + 3) * TT_NEAR_BLOCK;
			     next++)
				if (tt_near_is(edges[next].from, edges[next].nodes))
					CHECK(tt_near_add(&near, edges[next].from, edges[next].to));
				else
					far++;
			CHECK(tt_near_take(&block, &near));
			CHECK(tt_near_sort(&block));
			for (uint32_t n = 0; n < TT_NEAR_BLOCK; n++) {
				size_t count, at = 0;
				const uint32_t *list = tt_near_of(&count, &block, n);

				for (uint32_t i = 0; i < EDGES && at <= count; i++)
					if (edges[i].from == number * TT_NEAR_BLOCK + n &&
					    tt_near_is(edges[i].from, edges[i].nodes))
						wrong += at >= count || list[at++] != edges[i].to;
				wrong += at != count;
			}
		}
	}
	CHECK_INT(wrong, 0);
	CHECK(far > EDGES / 10 && far < EDGES);
	tt_near_block_deinit(&block);
	tt_near_deinit(&near);
}

/* One event may make thousands of nodes, before anybody asks. */
TEST(blocks_wait)
{
	struct tt_near_block block = {0};
	struct tt_near near = {0};
	size_t count;

	for (uint32_t i = 0; i < 100 * TT_NEAR_BLOCK; i += TT_NEAR_BLOCK / 2)
		CHECK(tt_near_add(&near, i, i + 1));
	for (uint32_t i = 0; i < 100; i++) {
		CHECK(tt_near_take(&block, &near));
		CHECK(tt_near_sort(&block));
		CHECK_INT(*tt_near_of(&count, &block, TT_NEAR_BLOCK / 2),
			  i * TT_NEAR_BLOCK + TT_NEAR_BLOCK / 2 + 1);
		CHECK_INT(count, 1);
	}
	tt_near_block_deinit(&block);
	tt_near_deinit(&near);
}

SCENARIO(near_edges)
{
	struct tt_near_block block = {0};
	struct tt_near near = {0};
	bool good = true;

	for (uint32_t i = 0; good && i < 6 * TT_NEAR_BLOCK; i++)
		good = tt_near_add(&near, i, i + 1);
	for (int i = 0; good && i < 6; i++)
		good = tt_near_take(&block, &near) && tt_near_sort(&block);
	tt_near_block_deinit(&block);
	tt_near_deinit(&near);
	return good ? TTNN_OK : tt_fail_nomem();
}
