/* Operations that are a collective and something else, on meshes whose chips have other numbers each, against their goldens. */
#include "test.h"

#include "event/value.h"
#include "golden.h"
#include "ops/activation.h"
#include "ops/given_mesh.h"
#include "ops/objects.h"
#include "ops/op_enums.h"

static const char *const gather_matmul = "ttnn.experimental.all_gather_matmul_async";
static const char *const matmul_scatter = "ttnn.experimental.matmul_reduce_scatter_async";

static const char *const gather_minimal = "ttnn.experimental.all_gather_minimal_matmul_async";
static const char *const strided_minimal =
	"ttnn.experimental.strided_all_gather_minimal_matmul_async";

#define CORE(x_, y_) ((struct ttnn_value){.kind = TTNN_VALUE_CORE, .core = {x_, y_}})

/* Blocks of one tile; the product is on so many columns and rows of cores. */
static struct ttnn_value block_config(struct tt_arena *arena, int64_t cols, int64_t rows)
{
	const struct ttnn_arg fields[] = {
		{"compute_with_storage_grid_size", CORE((uint32_t)cols, (uint32_t)rows)},
		{"in0_block_w", ttnn_v_int(1)},
		{"out_subblock_h", ttnn_v_int(1)},
		{"out_subblock_w", ttnn_v_int(1)},
		{"per_core_M", ttnn_v_int(1)},
		{"per_core_N", ttnn_v_int(1)},
		{"transpose_mcast", ttnn_v_bool(false)},
		{"fused_activation", ttnn_v_none()},
		{"fuse_batch", ttnn_v_bool(false)},
	};
	struct ttnn_value config;

	CHECK_OK(tt_object_make(&config, arena, "MatmulMultiCoreReuseMultiCastProgramConfig",
				fields, TT_COUNT(fields)));
	return config;
}

TEST(products_of_what_is_gathered)
{
	struct given given = {.state = 5};
	struct tt_arena arena = {0};

	given_mesh(1, 8);
	for (uint32_t n = 0; n < GOLDEN_CASES; n++) {
		enum ttnn_dtype dtype = n % 4 == 3 ? TTNN_FLOAT32 : TTNN_BFLOAT16;
		uint32_t rows = 32 * (1 + n % 3) - (n % 5 == 2 ? 7 : 0), width = 32 * (1 + n % 2);
		uint32_t columns = 32 * (1 + n % 4);
		const struct ttnn_spec_args a = given_spec(dtype, 1, 1, rows, width),
					    b = given_spec(dtype, 1, 1, 8 * width, columns),
					    all = given_spec(dtype, 1, 1, rows, 8 * width),
					    bias = given_spec(dtype, 1, 1, 1, columns);

		given_chips(&given, NULL, &a, -2, 2);
		given_chips(&given, NULL, &b, -2, 2);
		if (n % 3 == 1)
			given_tensor(&given, "persistent_output_buffer", &all, 0, 0);
		if (n % 4 == 1)
			given_chips(&given, "bias", &bias, -2, 2);
		given_add(&given, "dim", ttnn_v_int(3));
		given_add(&given, "multi_device_global_semaphore", given_list(&given, 0, 1, 2));
		given_add(&given, "all_gather_core_grid_offset", CORE(0, 6));
		given_add(&given, "program_config", block_config(&arena, 8, 6));
		given_case(&given, gather_matmul, n, 8);
	}
	tt_arena_deinit(&arena);
}

TEST(sums_of_products)
{
	struct given given = {.state = 6};
	struct tt_arena arena = {0};

	given_mesh(1, 8);
	for (uint32_t n = 0; n < GOLDEN_CASES; n++) {
		enum ttnn_dtype dtype = n % 4 == 3 ? TTNN_FLOAT32 : TTNN_BFLOAT16;
		uint32_t batches = 1 + n % 2, rows = 32 * (1 + n % 3), depth = 32 * (1 + n % 4);
		const struct ttnn_spec_args a = given_spec(dtype, batches, 1, rows, depth),
					    b = given_spec(dtype, 1, 1, depth, 256),
					    between = given_spec(dtype, batches, 1, rows, 256),
					    out = given_spec(dtype, batches, 1, rows, 32),
					    bias = given_spec(dtype, 1, 1, 1, 256);

		given_chips(&given, NULL, &a, -2, 2);
		given_chips(&given, NULL, &b, -2, 2);
		given_tensor(&given, NULL, &between, 0, 0);
		given_tensor(&given, "persistent_output_buffer", &out, 0, 0);
		if (n % 4 == 1)
			given_chips(&given, "bias", &bias, -2, 2);
		given_add(&given, "dim", ttnn_v_int(3));
		given_add(&given, "multi_device_global_semaphore", given_list(&given, 0, 1, 3));
		given_add(&given, "reduce_scatter_core_grid_offset", CORE(0, 6));
		given_add(&given, "program_config", block_config(&arena, 8, 6));
		/* Eight products are rounded before they are added up. */
		given_case(&given, matmul_scatter, n, 30);
	}
	tt_arena_deinit(&arena);
}

static struct ttnn_value minimal_config(struct tt_arena *arena, uint32_t n)
{
	const struct ttnn_arg fields[] = {
		{"M_block_size", ttnn_v_int(1)}, {"K_block_size", ttnn_v_int(1)},
		{"N_block_size", ttnn_v_int(n)}, {"subblock_h", ttnn_v_int(1)},
		{"subblock_w", ttnn_v_int(1)},   {"compute_with_storage_grid_size", CORE(4, 4)},
	};
	struct ttnn_value config;

	CHECK_OK(tt_object_make(&config, arena, "MinimalMatmulConfig", fields, TT_COUNT(fields)));
	return config;
}

static struct ttnn_value topology(struct tt_arena *arena, bool ring)
{
	struct ttnn_value *out = tt_arena_alloc(arena, sizeof(*out));

	*out = tt_value_enum(&tt_enum_topology, ring ? 2 : 1);
	return *out;
}

static struct ttnn_value compute(struct tt_arena *arena)
{
	const struct ttnn_arg fields[] = {{"fp32_dest_acc_en", ttnn_v_bool(true)}};
	struct ttnn_value config;

	CHECK_OK(tt_object_make(&config, arena, "WormholeComputeKernelConfig", fields,
				TT_COUNT(fields)));
	return config;
}

/* What a case of a product in blocks has besides its operands: a bias, a gate, an activation, chunks. */
static void add_more(struct given *given, struct tt_arena *arena, uint32_t n, uint32_t rows,
		     uint32_t columns)
{
	const struct ttnn_spec_args bias = given_spec(TTNN_BFLOAT16, 0, 0, 1, columns),
				    added = given_spec(TTNN_BFLOAT16, 1, 1, rows, columns),
				    gate = given_spec(TTNN_BFLOAT16, 1, 1, n % 2 ? 1 : rows,
						      columns);
	bool strided = !given->args[2].name; /* it has more arguments by place */
	struct ttnn_value gelu;

	if (n % 3 == 1)
		given_chips(given, strided ? "bias" : "bias_tensor", &bias, -2, 2);
	if (n % 5 == 1) {
		given_chips(given, strided ? "fused_ternary_input_a" : "addcmul_input_tensor1",
			    &added, -2, 2);
		given_chips(given, strided ? "fused_ternary_input_b" : "addcmul_input_tensor2",
			    &gate, -2, 2);
		given_add(given, strided ? "fused_ternary_scalar" : "scalar", ttnn_v_real(0.5));
	} else if (n % 5 == 2) {
		CHECK_OK(tt_activation_named(&gelu, arena, "gelu"));
		given_add(given, "fused_activation", gelu);
	} else if (n % 5 == 3) {
		given_add(given, "fuse_swiglu", ttnn_v_bool(true));
	} else if (n % 5 == 4) {
		given_add(given, "chunks", ttnn_v_int(2));
	}
}

TEST(products_in_blocks)
{
	struct given given = {.state = 7};
	struct tt_arena arena = {0};

	given_mesh(2, 4);
	for (uint32_t n = 0; n < 2 * GOLDEN_CASES; n++) {
		bool strided = n % 2, whole = n % 7 == 5;
		uint32_t rows = 32 * (1 + n % 3), width = 32 * (1 + n % 2), columns = 128;
		uint32_t chips = n % 3 ? 4 : 2;
		const struct ttnn_spec_args a = given_spec(TTNN_BFLOAT16, 1, 1, rows, width),
					    b = given_spec(TTNN_BFLOAT16, 0, 0, chips * width,
							   columns),
					    all = given_spec(TTNN_BFLOAT16, 1, 1, rows,
							     chips * width);

		given_chips(&given, NULL, &a, -1, 1);
		given_chips(&given, NULL, &b, -1, 1);
		if (strided && whole)
			given_tensor(&given, NULL, &all, 0, 0);
		else if (strided)
			given_add(&given, NULL, ttnn_v_none());
		else if (whole)
			given_tensor(&given, "persistent_output_buffer", &all, 0, 0);
		if (strided) {
			given_add(&given, "dim", ttnn_v_int(3));
			given_add(&given, "strided_all_gather_core_grid_offset", CORE(0, 6));
			given_add(&given, "compute_kernel_config", compute(&arena));
		} else {
			given_add(&given, "num_workers_per_link", ttnn_v_int(4));
			if (n % 4 == 0)
				given_add(&given, "dtype", ttnn_v_dtype(TTNN_FLOAT32));
		}
		given_add(&given, "multi_device_global_semaphore", given_list(&given, 0, 1, 4));
		given_add(&given, "topology", topology(&arena, false));
		given_add(&given, "config", minimal_config(&arena, 2));
		given_add(&given, "cluster_axis", ttnn_v_int(chips == 4));
		add_more(&given, &arena, n / 2, rows, columns);
		given_case(&given, strided ? strided_minimal : gather_minimal, n, 10);
	}
	tt_arena_deinit(&arena);
}

/* Weights are in parts as well, along the other axis. */
TEST(products_with_weights_in_parts)
{
	struct given given = {.state = 8};
	struct tt_arena arena = {0};

	given_mesh(2, 2);
	for (uint32_t n = 0; n < 4; n++) {
		const struct ttnn_spec_args a = given_spec(TTNN_BFLOAT16, 1, 1, 64, 64),
					    b = given_spec(TTNN_BFLOAT16, 0, 0, 64, 128),
					    whole = given_spec(TTNN_BFLOAT16, 0, 0, 128, 128);

		given_chips(&given, NULL, &a, -1, 1);
		given_chips(&given, NULL, &b, -1, 1);
		given_tensor(&given, "persistent_weight_buffer", &whole, 0, 0);
		given_add(&given, "multi_device_global_semaphore", given_list(&given, 0, 1, 2));
		given_add(&given, "fsdp_multi_device_global_semaphore",
			  given_list(&given, 0, 1, 2));
		given_add(&given, "topology", topology(&arena, false));
		given_add(&given, "config", minimal_config(&arena, 2));
		given_add(&given, "cluster_axis", ttnn_v_int(n % 2));
		given_add(&given, "fsdp_cluster_axis", ttnn_v_int(1 - n % 2));
		given_add(&given, "num_workers_per_link", ttnn_v_int(2));
		given_add(&given, "num_links", ttnn_v_int(2));
		given_case(&given, gather_minimal, n, 10);
	}
	tt_arena_deinit(&arena);
}

/* Shards side by side on the first row of cores. */
static void put_shards(struct ttnn_spec_args *spec, uint32_t width, uint32_t cores)
{
	struct ttnn_shard_spec shard = {.height = 32, .width = width};

	CHECK_OK(tt_core_set_grid(&shard.grid, cores < 8 ? cores : 8, (cores + 7) / 8));
	CHECK_OK(ttnn_memory_config_sharded(&spec->memory, TTNN_WIDTH_SHARDED, TTNN_L1, &shard));
}

/* What both reductions of Llama are given. */
static void add_llama(struct given *given, struct ttnn_spec_args *in, uint32_t width,
		      uint32_t cores)
{
	struct ttnn_spec_args buffer = *in;

	put_shards(in, width, cores);
	buffer.shape.dim[3] = 512 * 16;
	put_shards(&buffer, 512, 16);
	given_chips(given, NULL, in, -2, 2);
	given_tensor(given, NULL, &buffer, 0, 0);
	given_add(given, "dim", ttnn_v_int(3));
	given_add(given, "cross_device_semaphore", ttnn_v_int(0));
	given_add(given, "subdevice_id", ttnn_v_int(0));
	given_add(given, "cluster_axis", ttnn_v_int(1));
	given_add(given, "mesh_device", ttnn_v_device(golden_opened));
}

TEST(sums_of_shards)
{
	struct given given = {.state = 9};

	for (uint32_t n = 0; n < GOLDEN_CASES; n++) {
		uint32_t shard = 32 << n % 3, cut = n % 4 == 3 && shard > 32 ? 32 * 4 : 0;
		struct ttnn_spec_args in =
			given_spec(n % 3 == 2 ? TTNN_BFLOAT8_B : TTNN_BFLOAT16, 1, 1, 32,
				   8 * shard - (cut < shard ? 0 : cut));

		given_mesh(n < 11 ? 2 : 4, n < 11 ? 4 : 2);
		add_llama(&given, &in, shard, 8);
		given_add(&given, "num_links", ttnn_v_int(1 + n % 2));
		given_case(&given, "ttnn.experimental.llama_reduce_scatter", n, 10);
	}
}

TEST(heads_of_sums)
{
	struct given given = {.state = 10};
	struct tt_arena arena = {0};

	for (uint32_t n = 0; n < GOLDEN_CASES; n++) {
		uint32_t heads = 1 + n % 4, kv = 1 + n % 2, width = 64 << n % 2;
		uint32_t columns = (heads + 2 * kv) * width;
		struct ttnn_spec_args in =
			given_spec(n % 5 == 1 ? TTNN_FLOAT32 : TTNN_BFLOAT16, 1, 1, 32, columns);
		struct ttnn_memory_config place;
		struct ttnn_shard_spec shard = {.height = 32, .width = width};

		in.layout = TTNN_ROW_MAJOR;
		given_mesh(n < 11 ? 2 : 4, n < 11 ? 4 : 2);
		add_llama(&given, &in, 32, columns / 32);
		CHECK_OK(tt_core_set_grid(&shard.grid, 8, 8));
		CHECK_OK(ttnn_memory_config_sharded(&place, TTNN_HEIGHT_SHARDED, TTNN_L1, &shard));
		given_add(&given, "topology", topology(&arena, false));
		given_add(&given, "num_links", ttnn_v_int(1));
		given_add(&given, "num_heads", ttnn_v_int(heads));
		given_add(&given, "num_kv_heads", ttnn_v_int(kv < heads ? kv : heads));
		given_add(&given, "qkv_memory_config", ttnn_v_memory(&place));
		given_case(&given, "ttnn.experimental.llama_rs_create_heads", n, 10);
	}
	tt_arena_deinit(&arena);
}

/* Norms of rows that lie across a row or a column of the mesh, or on one chip. */
static void add_norm(struct given *given, uint32_t n, bool layer)
{
	uint32_t batches = n % 5 == 1 ? 2 : 1, rows = 32 * (1 + n % 3), heads = 1 + n % 2;
	uint32_t width = 64 * heads, links = 1 + n % 2;
	bool each = !layer && heads > 1 && batches == 1 && n % 3 == 0, whole = n % 4 == 3;
	struct ttnn_value axis = n % 7 == 6 ? ttnn_v_none() : ttnn_v_int(n % 3 != 2);
	const struct ttnn_spec_args in = given_spec(TTNN_BFLOAT16, 1, batches, rows, width),
				    line = given_spec(TTNN_BFLOAT16, 0, 0, 1, width),
				    many = given_spec(TTNN_BFLOAT16, 0, 0, rows, width),
				    turn = given_spec(TTNN_BFLOAT16, 1, 1, 32, 32),
				    angles = given_spec(TTNN_BFLOAT16, 1, n % 4 < 2 ? 1 : heads,
							rows, width / heads);
	ttnn_tensor *x = given_chips(given, NULL, &in, -3, 3), *stats = NULL;

	given_add(given, "cluster_axis", axis);
	given_add(given, "mesh_device", ttnn_v_device(golden_opened));
	given_add(given, "multi_device_global_semaphore", given_list(given, 0, 1, 2));
	given_add(given, "num_heads_per_device", ttnn_v_int(heads));
	given_add(given, "num_preferred_links", ttnn_v_int(links));
	if (n % 2)
		given_chips(given, "weight", whole && batches == 1 ? &many : &line, -2, 2);
	if (n % 3 == 1)
		given_chips(given, "bias", &line, -2, 2);
	if (each)
		given_add(given, "per_head_norm", ttnn_v_bool(true));
	if (!layer && n % 4 == 2) {
		given_chips(given, "transformation_mat", &turn, -1, 1);
		given_chips(given, "rope_cos", &angles, -1, 1);
		given_chips(given, "rope_sin", &angles, -1, 1);
	}
	if (each || axis.kind == TTNN_VALUE_NONE)
		return;
	CHECK_OK(ttnn_call_one(
		&stats,
		layer ? "ttnn.experimental.dit_fused_distributed_layernorm_create_stats_buffer"
		      : "ttnn.experimental.dit_fused_distributed_rmsnorm_create_stats_buffer",
		(struct ttnn_arg[]){{NULL, ttnn_v_tensor(x)},
				    {NULL, axis},
				    {NULL, ttnn_v_device(golden_opened)},
				    {"num_links", ttnn_v_int(links)}},
		4, TTNN_FRONTEND_C));
	given->tensors[given->tensor_count++] = stats;
	given_add(given, "persistent_output_buffer", ttnn_v_tensor(stats));
}

TEST(norms_across_chips)
{
	struct given given = {.state = 11};

	given_mesh(2, 4);
	for (uint32_t n = 0; n < 2 * GOLDEN_CASES; n++) {
		add_norm(&given, n / 2, n % 2);
		given_case(&given,
			   n % 2 ? "ttnn.experimental.dit_fused_distributed_layernorm"
				 : "ttnn.experimental.dit_fused_distributed_rmsnorm",
			   n, 6);
	}
}

/* "collective_buffers": their pages follow from rows, links and chips; a packet has 34 sums, or 17 of two. */
TEST(buffers_for_sums)
{
	static const struct {
		uint32_t rows, links, axis, layer, pages;
	} cases[] = {
		{1, 1, 1, 0, 4},    {2, 1, 1, 0, 8},    {3, 1, 1, 0, 12}, {4, 1, 1, 0, 4},
		{8, 1, 1, 0, 4},    {8, 2, 1, 0, 8},    {34, 1, 1, 0, 4}, {35, 1, 1, 0, 8},
		{128, 1, 1, 0, 16}, {128, 2, 1, 0, 24}, {8, 1, 0, 0, 2},  {2, 1, 0, 0, 4},
		{1, 1, 1, 1, 4},    {2, 1, 1, 1, 8},    {4, 1, 1, 1, 4},  {17, 1, 1, 1, 4},
		{18, 1, 1, 1, 8},   {35, 1, 1, 1, 12},  {34, 2, 1, 1, 8}, {64, 2, 1, 1, 16},
		{8, 1, 0, 1, 2},    {3, 2, 1, 1, 12},   {4, 4, 1, 0, 16},
	};
	struct given given = {.state = 12};

	given_mesh(2, 4);
	for (size_t i = 0; i < TT_COUNT(cases); i++) {
		const struct ttnn_spec_args in =
			given_spec(TTNN_BFLOAT16, 1, 1, 32 * cases[i].rows, 64);
		ttnn_tensor *out = NULL;

		given_tensor(&given, NULL, &in, 0, 1);
		given_add(&given, "cluster_axis", ttnn_v_int(cases[i].axis));
		given_add(&given, "mesh_device", ttnn_v_device(golden_opened));
		given_add(&given, "num_links", ttnn_v_int(cases[i].links));
		CHECK_OK(ttnn_call_one(
			&out,
			cases[i].layer
				? "ttnn.experimental.dit_fused_distributed_layernorm_create_stats_"
				  "buffer"
				: "ttnn.experimental.dit_fused_distributed_rmsnorm_create_stats_"
				  "buffer",
			given.args, given.count, TTNN_FRONTEND_C));
		if (out && (out->spec.shape.dim[2] != cases[i].pages ||
			    out->spec.shape.dim[3] != 1088 || out->spec.dtype != TTNN_FLOAT32))
			TEST_FAIL("case %zu: %u pages of %u instead of %u of 1088", i,
				  out->spec.shape.dim[2], out->spec.shape.dim[3], cases[i].pages);
		ttnn_tensor_unref(out);
		given_free(&given);
	}
}

TEST(zz_all_rows)
{
	golden_check_family("collective_fused");
	golden_check_family("collective_norm");
	golden_close();
}
