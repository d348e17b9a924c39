/* Products beside sums of shards of which each device gets a part, and products of what all devices have. */
#include <ttnn_frontend.h>

#include "test.h"

#include "event/value.h"
#include "golden.h"
#include "ops/collective/collective.h"
#include "ops/given_mesh.h"
#include "ops/objects.h"
#include "ops/op_enums.h"
#include "tensor/core.h"
#include "tensor/memory.h"

/* Shards side by side on cores of these rows and columns. */
static struct ttnn_memory_config shards(uint32_t x, uint32_t y, uint32_t columns, uint32_t rows,
					uint32_t width)
{
	const struct ttnn_core_range range = {{x, y}, {x + columns - 1, y + rows - 1}};
	struct ttnn_shard_spec shard = {.height = 32, .width = width};
	struct ttnn_memory_config out;

	CHECK_OK(ttnn_core_set_make(&shard.grid, &range, 1));
	CHECK_OK(ttnn_memory_config_sharded(&out, TTNN_WIDTH_SHARDED, TTNN_L1, &shard));
	return out;
}

/* A ring of cores around which shards of the rows go; `senders` of a prefetcher send to each so many cores. */
static struct ttnn_value ring_config(struct tt_arena *arena, uint32_t k, uint32_t n,
				     uint32_t receivers)
{
	const struct ttnn_arg fields[] = {
		{"compute_with_storage_grid_size", {.kind = TTNN_VALUE_CORE, .core = {8, 1}}},
		{"in0_block_w", ttnn_v_int(k)},
		{"out_subblock_h", ttnn_v_int(1)},
		{"out_subblock_w", ttnn_v_int(1)},
		{"per_core_M", ttnn_v_int(1)},
		{"per_core_N", ttnn_v_int(n)},
		{"fuse_batch", ttnn_v_bool(true)},
		{"fused_activation", ttnn_v_none()},
		{"mcast_in0", ttnn_v_bool(false)},
		{"gather_in0", ttnn_v_bool(true)},
		{"num_global_cb_receivers", ttnn_v_int(receivers)},
	};
	struct ttnn_value config;

	CHECK_OK(tt_object_make(&config, arena, "MatmulMultiCoreReuseMultiCast1DProgramConfig",
				fields, TT_COUNT(fields)));
	return config;
}

static void add_common(struct given *given)
{
	given_add(given, "dim", ttnn_v_int(3));
	given_add(given, "cross_device_semaphore", ttnn_v_int(0));
	given_add(given, "cluster_axis", ttnn_v_int(1));
	given_add(given, "mesh_device", ttnn_v_device(golden_opened));
	given_add(given, "subdevice_id", ttnn_v_int(0));
}

/* The buffer of packets. */
static void add_buffer(struct given *given, enum ttnn_dtype dtype)
{
	struct ttnn_spec_args buffer = given_spec(dtype, 1, 1, 32, 512 * 8);

	buffer.memory = shards(0, 2, 8, 1, 512);
	given_tensor(given, "intermediate_packet_buffer", &buffer, 0, 0);
}

static enum ttnn_dtype dtype_of(uint32_t n)
{
	return n % 3 == 2 ? TTNN_BFLOAT8_B : TTNN_BFLOAT16;
}

/* Rows in shards of k tiles on so many cores of the sixth row, and their weights, of n tiles in a core's result. */
static struct ttnn_memory_config add_operands(struct given *given, uint32_t n, uint32_t cores,
					      bool dram)
{
	uint32_t k = 1 + n % 2, wide = 1 + n % 3;
	struct ttnn_spec_args a = given_spec(TTNN_BFLOAT16, 1, 1, 32, 32 * k * cores);
	struct ttnn_spec_args b = given_spec(dtype_of(n), 1, 1, 32 * k * cores, 32 * wide * cores);

	a.memory = shards(0, 5, cores, 1, 32 * k);
	if (!dram) {
		b.memory = shards(0, 5, cores, 1, 32 * wide);
		b.memory.shard.height = 32 * k * cores;
	}
	given_chips(given, "input_tensor", &a, -1, 1);
	given_chips(given, "weight_tensor", &b, -1, 1);
	return shards(0, 5, cores, 1, 32 * wide);
}

TEST(products_beside_sums)
{
	struct given given = {.state = 3};
	struct tt_arena arena = {0};

	for (uint32_t n = 0; n < GOLDEN_CASES; n++) {
		uint32_t cores = n % 2 ? 4 : 8, shard = 32 << n % 2;
		struct ttnn_spec_args in =
			given_spec(dtype_of(n + 1), 1, 1, 32, 8 * shard - (n % 8 == 7 ? 128 : 0));
		struct ttnn_memory_config out;

		given_mesh(n < 11 ? 2 : 4, n < 11 ? 4 : 2);
		out = add_operands(&given, n, cores, n % 4 == 1);
		in.memory = shards(0, 0, 8, 1, shard);
		given_chips(&given, "rs_tensor", &in, -2, 2);
		add_buffer(&given, in.dtype);
		add_common(&given);
		given_add(&given, "num_links", ttnn_v_int(1 + n % 2));
		given_add(&given, "memory_config_mm", ttnn_v_memory(&out));
		given_add(&given, "program_config", ring_config(&arena, 1 + n % 2, 1 + n % 3, 1));
		given_case(&given, "ttnn.experimental.llama_rs_matmul", n, 10);
	}
	tt_arena_deinit(&arena);
}

/* Four readers in column 0, two receivers of each beside it. */
static struct ttnn_value ring_of(struct tt_arena *arena, ttnn_tensor **room)
{
	struct ttnn_spec_args args = {.shape = {2, {12, 200 * 1024}}, .dtype = TTNN_UINT8};
	struct ttnn_value from[4], to[4], made, out;
	struct ttnn_tensor_spec spec;

	args.memory = shards(0, 4, 3, 4, 200 * 1024);
	args.memory.layout = TTNN_HEIGHT_SHARDED;
	args.memory.shard.height = 1;
	CHECK_OK(ttnn_tensor_spec_make(&spec, &args));
	CHECK_OK(ttnn_tensor_reserve(room, golden_opened, &spec));
	for (uint32_t i = 0; i < 4; i++) {
		from[i] = (struct ttnn_value){.kind = TTNN_VALUE_CORE, .core = {0, 4 + i}};
		to[i] = ttnn_v_core_set(shards(1, 4 + i, 2, 1, 32).shard.grid);
	}
	const struct ttnn_arg fields[] = {{"room", ttnn_v_tensor(*room)},
					  {"senders", ttnn_v_list(from, 4)},
					  {"receivers", ttnn_v_list(to, 4)},
					  {"size", ttnn_v_int(200 * 1024)}};

	CHECK_OK(tt_object_make(&made, arena, "GlobalCircularBuffer", fields, TT_COUNT(fields)));
	CHECK_OK(tt_value_copy(&out, arena, &made));
	return out;
}

/* Two products with the same rows; the first is added up. */
TEST(sums_of_first_products)
{
	struct given given = {.state = 4};
	struct tt_arena arena = {0};

	for (uint32_t n = 0; n < GOLDEN_CASES; n++) {
		uint32_t k = 1 + n % 2, wide = 1 + n % 3;
		struct ttnn_spec_args a = given_spec(TTNN_BFLOAT16, 1, 1, 32, 256 * k);
		struct ttnn_spec_args b = given_spec(dtype_of(n), 1, 1, 256 * k, 256 * wide);
		struct ttnn_memory_config out = shards(1, 4, 2, 4, 32 * wide);
		ttnn_tensor *room;

		given_mesh(n < 11 ? 2 : 4, n < 11 ? 4 : 2);
		a.memory = shards(1, 4, 2, 4, 32 * k);
		b.memory = shards(0, 0, 4, 1, 64 * wide);
		b.memory.buffer = TTNN_DRAM;
		b.memory.shard.height = 256 * k;
		given_chips(&given, "input_tensor", &a, -1, 1);
		given_chips(&given, "weight_tensor", &b, -1, 1);
		given_chips(&given, "second_weight_tensor", &b, -1, 1);
		add_buffer(&given, TTNN_BFLOAT16);
		add_common(&given);
		given_add(&given, "memory_config_mm", ttnn_v_memory(&out));
		given_add(&given, "program_config", ring_config(&arena, k, wide, 2));
		given_add(&given, "global_cb", ring_of(&arena, &room));
		given_case(&given, "ttnn.experimental.llama_rs_matmul", n, 20);
		ttnn_tensor_unref(room);
	}
	tt_arena_deinit(&arena);
}

/* What all devices of a line have, gathered in a tensor that is given, and its product. */
TEST(products_of_what_is_gathered)
{
	struct given given = {.state = 5};
	struct tt_arena arena = {0};

	for (uint32_t n = 0; n < GOLDEN_CASES; n++) {
		uint32_t axis = n % 2, size = n < 11 ? 4 : 2, k = 2 + 2 * (n % 2), wide = 1 + n % 3;
		uint32_t cores = n % 4 == 3 ? 2 : 4;
		struct ttnn_spec_args in = given_spec(dtype_of(n), 1, 1, 32, 32 * k);
		struct ttnn_spec_args all = given_spec(dtype_of(n), 1, 1, 32, 32 * k * size);
		struct ttnn_spec_args b =
			given_spec(dtype_of(n + 1), 1, 1, 32 * k * size, 32 * wide * cores);
		struct ttnn_memory_config out = shards(1, 5, cores, 1, 32 * wide);

		given_mesh_of("galaxy_bh", axis ? n % 3 ? 1 : 2 : size, axis ? size : 1);
		in.memory = shards(1, 1, 2, 1, 16 * k);
		all.memory = shards(3, 0, 1, size, 32 * k);
		b.memory = out;
		b.memory.shard.height = 32 * k * size;
		given_chips(&given, "input_tensor0", &in, -1, 1);
		given_chips(&given, "input_tensor1", &b, -1, 1);
		given_tensor(&given, "intermediate_tensor", &all, 0, 0);
		given_add(&given, "dim", ttnn_v_int(3));
		given_add(&given, "cluster_axis", ttnn_v_int(axis));
		given_add(&given, "mesh_device", ttnn_v_device(golden_opened));
		given_add(&given, "topology", tt_value_enum(&tt_enum_topology, TT_TOPOLOGY_LINEAR));
		given_add(&given, "multi_device_global_semaphore", ttnn_v_int(0));
		given_add(&given, "num_links", ttnn_v_int(1 + n % 2));
		given_add(&given, "ag_memory_config", ttnn_v_memory(&all.memory));
		given_add(&given, "mm_memory_config", ttnn_v_memory(&out));
		given_add(&given, "program_config", ring_config(&arena, k, wide, 1));
		given_case(&given, "ttnn.experimental.llama_all_gather_matmul_async", n, 10);
	}
	tt_arena_deinit(&arena);
}

/* What the others have of one tensor or two, in new tensors or in some that are larger. */
TEST(parts_of_the_others)
{
	struct given given = {.state = 6};

	for (uint32_t n = 0; n < GOLDEN_CASES; n++) {
		uint32_t axis = n % 2, dim = n % 4, count = 1 + n % 3 % 2, size = axis ? 4 : 2;
		struct ttnn_value ins[2], outs[2], signals[2] = {ttnn_v_int(0), ttnn_v_int(1)};

		given_mesh(2, 4);
		for (uint32_t i = 0; i < count; i++) {
			struct ttnn_spec_args in =
				given_spec(dtype_of(n), 1, 2, 32 << n % 2, 32 + 32 * i);
			struct ttnn_spec_args out = in;

			out.shape.dim[dim] *= size;
			out.shape.dim[dim] += n % 5 == 4 ? 32 : 0;
			ins[i] = ttnn_v_tensor(given_chips(&given, NULL, &in, -2, 2));
			outs[i] = ttnn_v_tensor(given_chips(&given, NULL, &out, -2, 2));
		}
		given.count = 0;
		given_add(&given, "input_tensor", ttnn_v_list(ins, count));
		given_add(&given, "persistent_output_buffer",
			  ttnn_v_list(outs, n % 3 == 2 ? 0 : count));
		given_add(&given, "dim", ttnn_v_int(n % 7 == 6 ? (int64_t)dim - 4 : dim));
		given_add(&given, "multi_device_global_semaphore", ttnn_v_list(signals, 2));
		given_add(&given, "cluster_axis", ttnn_v_int(axis));
		given_add(&given, "mesh_device", ttnn_v_device(golden_opened));
		given_add(&given, "topology", tt_value_enum(&tt_enum_topology, TT_TOPOLOGY_RING));
		given_case(&given, "ttnn.experimental.ring_attention_all_gather_async", n, 0);
	}
}

TEST(zz_all_rows)
{
	golden_check_family("llama_matmul");
	golden_close();
}
