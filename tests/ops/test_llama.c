/* Fused collectives of Llama on meshes whose chips have other numbers each, against their goldens. */
#include "test.h"

#include "event/value.h"
#include "golden.h"
#include "ops/given_mesh.h"
#include "ops/objects.h"
#include "ops/op_enums.h"

static const char *const rms_minimal = "ttnn.fused_rms_minimal";
static const char *const concat_users = "ttnn.experimental.all_gather_concat";

#define CORE(x_, y_) ((struct ttnn_value){.kind = TTNN_VALUE_CORE, .core = {x_, y_}})

/* So many shards of whole columns in rows of `across` cores. */
static void put_shards(struct ttnn_spec_args *spec, uint32_t width, uint32_t across, uint32_t down)
{
	struct ttnn_shard_spec shard = {.height = 32, .width = width};

	CHECK_OK(tt_core_set_grid(&shard.grid, across, down));
	CHECK_OK(ttnn_memory_config_sharded(&spec->memory, TTNN_WIDTH_SHARDED, TTNN_L1, &shard));
}

static struct ttnn_value object(struct tt_arena *arena, const char *name,
				const struct ttnn_arg *fields, size_t count)
{
	struct ttnn_value config = {0};

	CHECK_OK(tt_object_make(&config, arena, name, fields, count));
	return config;
}

static struct ttnn_value norm_config(struct tt_arena *arena, uint32_t block, bool in_place)
{
	return object(arena, "LayerNormShardedMultiCoreProgramConfig",
		      (struct ttnn_arg[]){{"compute_with_storage_grid_size", CORE(8, 8)},
					  {"subblock_w", ttnn_v_int(1)},
					  {"block_h", ttnn_v_int(1)},
					  {"block_w", ttnn_v_int(block)},
					  {"inplace", ttnn_v_bool(in_place)}},
		      5);
}

static struct ttnn_value exact(struct tt_arena *arena)
{
	return object(arena, "WormholeComputeKernelConfig",
		      (struct ttnn_arg[]){{"fp32_dest_acc_en", ttnn_v_bool(true)}}, 1);
}

/* Rows in shards, with and without what is added, whose results stay where they are or move. */
static void add_rms(struct given *given, struct tt_arena *arena, uint32_t n)
{
	static const enum ttnn_dtype dtypes[] = {TTNN_BFLOAT16, TTNN_FLOAT32, TTNN_BFLOAT8_B};
	uint32_t across = 1 + n % 4, down = 1 + n % 2, tiles = 1 + n % 3;
	uint32_t width = 32 * across * down * tiles, rows = n % 4 == 2 ? 5 : 32;
	bool full = n % 3 == 1, moves = n % 5 == 3, stays = n % 6 == 4;
	struct ttnn_spec_args in = given_spec(dtypes[n % 3], 1, 1, rows, width),
			      factors = given_spec(full ? TTNN_FLOAT32 : TTNN_BFLOAT16, 1, 1,
						   width / 32, 32),
			      stats = given_spec(full ? TTNN_FLOAT32 : TTNN_BFLOAT16, 1, 1, 32,
						 256),
			      *out;

	put_shards(&in, 32 * tiles, across, down);
	put_shards(&stats, 256, 1, 1);
	factors.layout = TTNN_ROW_MAJOR;
	given_chips(given, NULL, &in, -3, 3);
	given_add(given, "program_config", norm_config(arena, tiles, stays));
	given_add(given, "cluster_axis", ttnn_v_int(n % 3 != 2));
	given_add(given, "mesh_device", ttnn_v_device(golden_opened));
	given_add(given, "global_semaphore", ttnn_v_int(0));
	given_chips(given, "weight", &factors, -2, 2);
	given_tensor(given, "stats", &stats, 0, 0);
	given_add(given, "epsilon", ttnn_v_real(n % 2 ? 1e-5 : 1e-2));
	if (n % 2)
		given_chips(given, "residual_input_tensor", &in, -2, 2);
	if (full)
		given_add(given, "compute_kernel_config", exact(arena));
	if (n % 7 == 6)
		given_add(given, "dtype",
			  tt_value_enum(&tt_enum_dtype, full ? TTNN_BFLOAT16 : TTNN_FLOAT32));
	if (!moves || stays)
		return;
	out = tt_arena_alloc(arena, sizeof(*out));
	*out = in;
	put_shards(out, 64, (width / 32 + 1) / 2, 1);
	given_add(given, "memory_config", ttnn_v_memory(&out->memory));
}

TEST(rows_in_shards)
{
	struct given given = {.state = 21};
	struct tt_arena arena = {0};

	for (uint32_t n = 0; n < GOLDEN_CASES; n++) {
		given_mesh(n < 15 ? 2 : 1, n < 15 ? 4 : 8);
		add_rms(&given, &arena, n);
		given_case(&given, rms_minimal, n, 6);
	}
	tt_arena_deinit(&arena);
}

/* The first number of a float32 tensor on a chip. */
static float first_of(ttnn_tensor *tensor, uint32_t chip)
{
	ttnn_tensor *part;
	float out;

	CHECK_OK(tt_tensor_resident(&part, tensor, chip, TT_BUFFER_READ));
	memcpy(&out, tt_tensor_data(part), sizeof(out));
	ttnn_tensor_unref(part);
	return out;
}

/* What is added becomes the sum, on all chips. */
TEST(rows_take_what_is_added)
{
	struct given given = {.state = 22};
	struct tt_arena arena = {0};
	float sums[8];
	ttnn_tensor *out;

	given_mesh(2, 4);
	add_rms(&given, &arena, 1);
	for (uint32_t i = 0; i < 8; i++)
		sums[i] = first_of(given.tensors[0], i) + first_of(given.tensors[3], i);
	CHECK_OK(ttnn_call_one(&out, rms_minimal, given.args, given.count, TTNN_FRONTEND_C));
	for (uint32_t i = 0; i < 8; i++)
		CHECK(first_of(given.tensors[3], i) == sums[i]);
	ttnn_tensor_unref(out);
	given_free(&given);
	tt_arena_deinit(&arena);
}

/* The semaphore must be on all cores that have shards. */
TEST(rows_need_their_semaphore)
{
	struct given given = {.state = 23};
	struct tt_arena arena = {0};
	struct ttnn_value cores = {.kind = TTNN_VALUE_CORE_SET};
	ttnn_tensor *out;

	given_mesh(2, 4);
	add_rms(&given, &arena, 3);
	CHECK_OK(tt_core_set_grid(&cores.core_set, 1, 1));
	given.args[4].value =
		object(&arena, "GlobalSemaphore",
		       (struct ttnn_arg[]){{"cores", cores}, {"value", ttnn_v_int(0)}}, 2);
	CHECK_FAILS(ttnn_call_one(&out, rms_minimal, given.args, given.count, TTNN_FRONTEND_C),
		    TTNN_INVALID,
		    "the input shard grid {[0-0 - 3-1]} is not contained within the semaphore grid "
		    "{[0-0 - 0-0]}");
	given_free(&given);
	tt_arena_deinit(&arena);
}

/* A memory config of shards in these ranges of cores, in the arena. */
static struct ttnn_value place(struct tt_arena *arena, enum ttnn_memory_layout layout,
			       const struct ttnn_core_range ranges[2], uint32_t height,
			       uint32_t width)
{
	struct ttnn_memory_config *memory = tt_arena_alloc(arena, sizeof(*memory));
	struct ttnn_shard_spec shard = {.height = height, .width = width};

	CHECK_OK(ttnn_core_set_make(&shard.grid, ranges, 2));
	CHECK_OK(ttnn_memory_config_sharded(memory, layout, TTNN_L1, &shard));
	return ttnn_v_memory(memory);
}

/* Eight users of each chip, on the cores that the operation knows. */
static void add_users(struct given *given, struct tt_arena *arena, uint32_t n)
{
	static const struct ttnn_core_range own[] = {{{1, 0}, {3, 1}}, {{1, 2}, {2, 2}}},
					    room[] = {{{4, 0}, {7, 5}}, {{0, 6}, {7, 6}}},
					    result[] = {{{1, 0}, {3, 4}}, {{1, 5}, {1, 5}}};
	uint32_t heads = n % 3 == 2 ? 16 : 8;
	struct ttnn_spec_args in = given_spec(n % 4 == 3 ? TTNN_FLOAT32 : TTNN_BFLOAT16, 1, 8, 32,
					      128),
			      buffer;

	in.layout = n % 2 ? TTNN_TILE : TTNN_ROW_MAJOR;
	buffer = in;
	buffer.shape.dim[1] = 32;
	in.memory = *place(arena, TTNN_HEIGHT_SHARDED, own, 32, 128).memory;
	buffer.memory = *place(arena, TTNN_HEIGHT_SHARDED, room, 32, 128).memory;
	given_chips(given, NULL, &in, -2, 2);
	given_tensor(given, NULL, &buffer, 0, 0);
	given_add(given, "dim", ttnn_v_int(1));
	given_add(given, "cluster_axis", ttnn_v_int(n % 5 < 3 || golden_opened->rows == 1));
	given_add(given, "mesh_device", ttnn_v_device(golden_opened));
	given_add(given, "multi_device_global_semaphore", ttnn_v_int(0));
	given_add(given, "num_heads", ttnn_v_int(heads));
	given_add(given, "memory_config", place(arena, TTNN_WIDTH_SHARDED, result, 32, heads * 8));
	given_add(given, "num_links", ttnn_v_int(1 + n % 4));
}

TEST(users_of_all)
{
	struct given given = {.state = 24};
	struct tt_arena arena = {0};
	ttnn_tensor *out;

	for (uint32_t n = 0; n < GOLDEN_CASES; n++) {
		given_mesh_of("galaxy_wh", n < 11 ? 1 : 2, n < 11 ? 4 : 2);
		add_users(&given, &arena, n);
		given_case(&given, concat_users, n, 1);
	}
	/* Smaller chips have not all the cores that are told. */
	given_mesh(1, 4);
	add_users(&given, &arena, 0);
	CHECK_FAILS(ttnn_call_one(&out, concat_users, given.args, given.count, TTNN_FRONTEND_C),
		    TTNN_INVALID, "No core coordinate found at location: (5, 9, TENSIX, LOGICAL)");
	given_free(&given);
	tt_arena_deinit(&arena);
}

/* Sums of shards, and heads of some rows of them. */
static void add_heads(struct given *given, struct tt_arena *arena, uint32_t n)
{
	static const struct ttnn_core_range cores[] = {{{0, 0}, {7, 5}}, {{0, 6}, {7, 7}}};
	uint32_t heads = 1 + n % 5, kv = 1 + n % heads % 2, rows = 1 + n % 7, width = 32 << n % 3;
	uint32_t tiles = (heads + 2 * kv) * width / 32, axis = n % 3 != 2;
	uint32_t size = axis ? golden_opened->cols : golden_opened->rows;
	struct ttnn_spec_args in = given_spec(n % 4 == 3 ? TTNN_FLOAT32 : TTNN_BFLOAT16, 1, 1,
					      n % 2 ? 32 : 20, tiles * 32),
			      sums = in, buffer = in, *place_of_sums;
	int32_t offset[4] = {(int32_t)n};

	put_shards(&in, 32, tiles <= 8 ? tiles : 8, (tiles + 7) / 8);
	put_shards(&sums, 64, (tiles + 1) / 2 <= 8 ? (tiles + 1) / 2 : 8, (tiles + 15) / 16);
	buffer.shape.dim[3] = 64 * size * (uint32_t)ttnn_core_set_cores(sums.memory.shard.grid);
	buffer.shape.dim[2] = 32;
	put_shards(&buffer, 64 * size, (tiles + 1) / 2 <= 8 ? (tiles + 1) / 2 : 8,
		   (tiles + 15) / 16);
	place_of_sums = tt_arena_alloc(arena, sizeof(sums));
	*place_of_sums = sums;
	given_chips(given, NULL, &in, -2, 2);
	given_tensor(given, NULL, &buffer, 0, 0);
	given_numbers(given, NULL, &(struct ttnn_shape){2, {1, 4}}, TTNN_INT32, offset);
	given_add(given, "cluster_axis", ttnn_v_int(axis));
	given_add(given, "mesh_device", ttnn_v_device(golden_opened));
	given_add(given, "multi_device_global_semaphore", ttnn_v_int(0));
	given_add(given, "num_heads", ttnn_v_int(heads));
	given_add(given, "num_kv_heads", ttnn_v_int(kv));
	given_add(given, "memory_config", ttnn_v_memory(&place_of_sums->memory));
	given_add(given, "slice_size", ttnn_v_int(n < 12 ? rows : 8));
	given_add(given, "dtype", tt_value_enum(&tt_enum_dtype, TTNN_BFLOAT16));
	given_add(given, "final_memory_config",
		  place(arena, TTNN_HEIGHT_SHARDED, cores, 32, width));
}

TEST(heads_of_some_rows)
{
	struct given given = {.state = 25};
	struct tt_arena arena = {0};

	for (uint32_t n = 0; n < GOLDEN_CASES; n++) {
		given_mesh(n < 11 ? 2 : 4, n < 11 ? 4 : 2);
		add_heads(&given, &arena, n % 13);
		given_case(&given, "ttnn.experimental.all_reduce_create_qkv_heads", n, 10);
	}
	tt_arena_deinit(&arena);
}

TEST(zz_all_rows)
{
	golden_check_family("collective_llama");
	golden_close();
}
