/* Weights that are sent ahead through a global circular buffer, and products that take them from there. */
#include <ttnn_frontend.h>

#include "test.h"

#include "event/value.h"
#include "golden.h"
#include "ops/given_mesh.h"
#include "ops/objects.h"
#include "tensor/core.h"

#define READERS_MAX 4
#define RECEIVERS_MAX 3

/* Readers in column 0, the receivers of each in its row beside it; what the calls of a case have in common. */
struct ring {
	struct tt_arena arena;
	uint32_t readers, receivers;
	const ttnn_core_set *senders, *banks, *workers;
	ttnn_tensor *room;
	struct ttnn_value global_cb;
};

static const ttnn_core_set *rectangle(uint32_t x, uint32_t y, uint32_t width, uint32_t height)
{
	const struct ttnn_core_range range = {{x, y}, {x + width - 1, y + height - 1}};
	const ttnn_core_set *out = NULL;

	CHECK_OK(ttnn_core_set_make(&out, &range, 1));
	return out;
}

static struct ttnn_memory_config shards(enum ttnn_memory_layout layout,
					enum ttnn_buffer_type buffer, const ttnn_core_set *cores,
					uint32_t height, uint32_t width)
{
	return (struct ttnn_memory_config){
		.layout = layout,
		.buffer = buffer,
		.has_shard = true,
		.shard = {.grid = cores, .height = height, .width = width}};
}

static void ring_init(struct ring *ring, uint32_t readers, uint32_t receivers, uint32_t size)
{
	const ttnn_core_set *all = rectangle(0, 0, 1 + receivers, readers);
	struct ttnn_spec_args args = {.shape = {2, {readers * (1 + receivers), size}},
				      .dtype = TTNN_UINT8,
				      .memory = shards(TTNN_HEIGHT_SHARDED, TTNN_L1, all, 1, size)};
	struct ttnn_value from[READERS_MAX], to[READERS_MAX];
	struct ttnn_tensor_spec spec;

	*ring = (struct ring){.readers = readers, .receivers = receivers};
	ring->senders = rectangle(0, 0, 1, readers);
	ring->banks = rectangle(0, 0, readers, 1);
	ring->workers = rectangle(1, 0, receivers, readers);
	CHECK_OK(ttnn_tensor_spec_make(&spec, &args));
	CHECK_OK(ttnn_tensor_reserve(&ring->room, golden_opened, &spec));
	for (uint32_t i = 0; i < readers; i++) {
		from[i] = (struct ttnn_value){.kind = TTNN_VALUE_CORE, .core = {0, i}};
		to[i] = ttnn_v_core_set(rectangle(1, i, receivers, 1));
	}
	const struct ttnn_arg fields[] = {
		{"room", ttnn_v_tensor(ring->room)},
		{"senders", ttnn_v_list(from, readers)},
		{"receivers", ttnn_v_list(to, readers)},
		{"size", ttnn_v_int(size)},
	};
	struct ttnn_value made;

	CHECK_OK(tt_object_make(&made, &ring->arena, "GlobalCircularBuffer", fields,
				TT_COUNT(fields)));
	CHECK_OK(tt_value_copy(&ring->global_cb, &ring->arena, &made));
}

static void ring_deinit(struct ring *ring)
{
	ttnn_tensor_unref(ring->room);
	tt_arena_deinit(&ring->arena);
}

static enum ttnn_dtype weights_dtype(uint32_t n)
{
	return n % 3 == 0 ? TTNN_BFLOAT16 : n % 3 == 1 ? TTNN_BFLOAT8_B : TTNN_BFLOAT4_B;
}

/* Rows and columns of weights in tiles of 32; each bank has the same number of columns. */
static struct ttnn_spec_args weights_spec(const struct ring *ring, uint32_t n, uint32_t rows,
					  uint32_t columns)
{
	return (struct ttnn_spec_args){.shape = {2, {rows, columns}},
				       .dtype = weights_dtype(n),
				       .layout = TTNN_TILE,
				       .memory = shards(TTNN_WIDTH_SHARDED, TTNN_DRAM, ring->banks,
							rows, columns / ring->readers)};
}

/* The tensors of a prefetcher as arguments: weights, and where those of each layer are. */
static void add_tensors(struct given *given, const struct ring *ring, uint32_t n, uint32_t layers,
			uint32_t count)
{
	uint32_t width = 32 * ring->readers * ring->receivers;
	struct ttnn_spec_args at = {
		.shape = {2, {ring->readers, layers * count}},
		.dtype = TTNN_UINT32,
		.memory = shards(TTNN_HEIGHT_SHARDED, TTNN_L1, ring->senders, 1, layers * count)};

	for (uint32_t i = 0; i <= count; i++) {
		struct ttnn_spec_args weights = weights_spec(ring, n + i, width * (1 + i), width);

		given->tensors[i] = golden_make(i == count ? &at : &weights, &given->state, 0, 2);
		given->items[i] = ttnn_v_tensor(given->tensors[i]);
	}
	given->tensor_count = count + 1;
	given_add(given, "tensors", ttnn_v_list(given->items, count + 1));
	given_add(given, "num_layers", ttnn_v_int(layers));
	given_add(given, "global_cb", ring->global_cb);
}

TEST(what_is_sent_ahead)
{
	struct given given = {.state = 3};
	struct ring ring;

	given_mesh_of("n150", 1, 1);
	for (uint32_t n = 0; n < GOLDEN_CASES; n++) {
		ring_init(&ring, 1 + n % READERS_MAX, 1 + n % RECEIVERS_MAX, 400 * 1024);
		add_tensors(&given, &ring, n, 1 + n % 3, 1 + n % 2);
		given_add(&given, "enable_performance_mode", ttnn_v_bool(n % 2));
		given_case(&given, "ttnn.dram_prefetcher", n, 1);
		ring_deinit(&ring);
	}
}

static struct ttnn_value ring_config(struct ring *ring, uint32_t k, uint32_t n)
{
	const struct ttnn_arg fields[] = {
		{"compute_with_storage_grid_size",
		 {.kind = TTNN_VALUE_CORE, .core = {ring->receivers, ring->readers}}},
		{"in0_block_w", ttnn_v_int(k)},
		{"out_subblock_h", ttnn_v_int(1)},
		{"out_subblock_w", ttnn_v_int(1)},
		{"per_core_M", ttnn_v_int(1)},
		{"per_core_N", ttnn_v_int(n)},
		{"fuse_batch", ttnn_v_bool(true)},
		{"fused_activation", ttnn_v_none()},
		{"mcast_in0", ttnn_v_bool(false)},
		{"gather_in0", ttnn_v_bool(true)},
		{"num_global_cb_receivers", ttnn_v_int(ring->receivers)},
	};
	struct ttnn_value config;

	CHECK_OK(tt_object_make(&config, &ring->arena,
				"MatmulMultiCoreReuseMultiCast1DProgramConfig", fields,
				TT_COUNT(fields)));
	return config;
}

/* Products of rows in shards around the ring with weights that are in DRAM. */
TEST(products_of_what_was_sent)
{
	struct given given = {.state = 4};
	struct ttnn_memory_config out;
	struct ring ring;

	given_mesh_of("n150", 1, 1);
	for (uint32_t n = 0; n < GOLDEN_CASES; n++) {
		uint32_t k = 1 + n % 2, wide = 1 + n % 3, cores;

		ring_init(&ring, 1 + n % READERS_MAX, 1 + n % RECEIVERS_MAX, 200 * 1024);
		cores = ring.readers * ring.receivers;
		struct ttnn_spec_args a = given_spec(TTNN_BFLOAT16, 1, 1, 32, 32 * k * cores);
		struct ttnn_spec_args b = weights_spec(&ring, n, 32 * k * cores, 32 * wide * cores);

		a.memory = shards(TTNN_WIDTH_SHARDED, TTNN_L1, ring.workers, 32, 32 * k);
		out = shards(TTNN_WIDTH_SHARDED, TTNN_L1, ring.workers, 32, 32 * wide);
		given_tensor(&given, NULL, &a, -1, 1);
		given_tensor(&given, NULL, &b, -1, 1);
		given_add(&given, "program_config", ring_config(&ring, k, wide));
		given_add(&given, "memory_config", ttnn_v_memory(&out));
		given_add(&given, "global_cb", ring.global_cb);
		given_case(&given, n % 2 ? "ttnn.linear" : "ttnn.matmul", n, 4);
		ring_deinit(&ring);
	}
}

/* A ring that is none, or has no room, refuses in words. */
TEST(rings_that_do_not_fit)
{
	struct given given = {.state = 5};
	struct ttnn_value list[] = {ttnn_v_int(1)};
	ttnn_tensor *none = NULL;
	struct ring ring;

	given_mesh_of("n150", 1, 1);
	ring_init(&ring, 2, 2, 2048);
	add_tensors(&given, &ring, 0, 2, 1);
	CHECK_FAILS(ttnn_call_one(&none, "ttnn.dram_prefetcher", given.args, given.count,
				  TTNN_FRONTEND_C),
		    TTNN_INVALID, "largest tensor 8192 must fit in global cb 2048");
	given.args[2].value = ttnn_v_list(list, 1);
	CHECK(ttnn_call_one(&none, "ttnn.dram_prefetcher", given.args, given.count,
			    TTNN_FRONTEND_C) != TTNN_OK);
	given.args[2].value = ring_config(&ring, 1, 1);
	CHECK_FAILS(ttnn_call_one(&none, "ttnn.dram_prefetcher", given.args, given.count,
				  TTNN_FRONTEND_C),
		    TTNN_TYPE, "global_cb is no global circular buffer");
	given.args[0].value = ttnn_v_list(list, 0);
	given.args[2].value = ring.global_cb;
	CHECK_FAILS(ttnn_call_one(&none, "ttnn.dram_prefetcher", given.args, given.count,
				  TTNN_FRONTEND_C),
		    TTNN_INVALID, "Must have at least one input tensor");
	given_free(&given);
	ring_deinit(&ring);
}

TEST(zz_all_rows)
{
	golden_check_family("prefetch");
	golden_close();
}
