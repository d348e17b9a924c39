/* Attention of sequences that are cut among the chips of a mesh of 2 x 4, against its golden, which knows the first chip. */
#include "test.h"

#include "event/value.h"
#include "golden.h"
#include "ops/given_mesh.h"
#include "ops/golden_cases.h"
#include "ops/objects.h"

#define ROWS 2u
#define COLS 4u
#define SIZE(n) ttnn_v_int((int64_t)(n))

static const char *const ring = "ttnn.transformer.ring_joint_scaled_dot_product_attention";
static const char *const latent = "ttnn.transformer.ring_mla";

static void open_mesh(void)
{
	given_mesh(ROWS, COLS);
}

/* A tensor with other numbers on every chip. */
static void add_tensor(struct given *given, const char *name, const struct ttnn_spec_args *args)
{
	given_chips(given, name, args, -2, 2);
}

struct wish {
	uint32_t batches, heads, key_heads, value_heads, rows, keys, width, value_width, joint;
	uint32_t slots, gathered;
	int64_t logical, axis;
	enum ttnn_dtype q, kv;
	int64_t q_chunk, k_chunk;
};

static struct wish usual(uint32_t n)
{
	uint32_t heads = 1 + n % 3;

	return (struct wish){.batches = 1 + n % 2,
			     .heads = heads,
			     .key_heads = heads,
			     .value_heads = heads,
			     .rows = 32 * (1 + n % 3),
			     .keys = 32 * (1 + n % 3),
			     .width = 32 * (1 + n % 4 / 2),
			     .value_width = 32 * (1 + n % 4 / 2),
			     .slots = 1 + n % 2,
			     .axis = n % 5 != 0,
			     .q = TTNN_BFLOAT16,
			     .kv = TTNN_BFLOAT16,
			     .q_chunk = n % 2 ? 32 : 64,
			     .k_chunk = n % 3 ? 32 : 128};
}

static void add_places(struct given *given, struct tt_arena *arena, const struct wish *w)
{
	static const struct tt_enum_row rows[] = {{0, "Linear"}};
	static const struct tt_enum topology = {"Topology", rows, 1};
	const struct ttnn_arg fields[] = {
		{"compute_with_storage_grid_size", {.kind = TTNN_VALUE_CORE, .core = {8, 7}}},
		{"q_chunk_size", ttnn_v_int(w->q_chunk)},
		{"k_chunk_size", ttnn_v_int(w->k_chunk)},
	};
	struct ttnn_value config;

	CHECK_OK(tt_object_make(&config, arena, "SDPAProgramConfig", fields, TT_COUNT(fields)));
	given_add(given, "program_config", config);
	given_add(given, "logical_n", ttnn_v_int(w->logical));
	given_add(given, "dim", ttnn_v_int(2));
	given_add(given, "multi_device_global_semaphore", given_list(given, 0, 1, 3));
	given_add(given, "num_links", ttnn_v_int(1));
	given_add(given, "cluster_axis", ttnn_v_int(w->axis));
	given_add(given, "mesh_device", ttnn_v_device(golden_opened));
	given_add(given, "topology", tt_value_enum(&topology, 0));
	given_add(given, "ccl_core_grid_offset",
		  (struct ttnn_value){.kind = TTNN_VALUE_CORE, .core = {0, 7}});
}

/* The tensors and all arguments that every call has. */
static void add_all(struct given *given, struct tt_arena *arena, struct wish *w)
{
	uint32_t chips = w->axis ? COLS : ROWS;
	const struct ttnn_spec_args specs[] = {
		given_spec(w->q, w->batches, w->heads, w->rows, w->width),
		given_spec(w->kv, w->slots, w->key_heads, w->keys, w->width),
		given_spec(w->kv, w->slots, w->value_heads, w->keys, w->value_width),
		given_spec(w->kv, w->batches, w->heads, w->joint, w->width),
		given_spec(w->kv, w->batches, w->key_heads,
			   w->gathered ? w->gathered : chips * w->keys, w->width),
		given_spec(w->kv, w->batches, w->value_heads,
			   w->gathered ? w->gathered : chips * w->keys, w->value_width),
	};

	if (!w->logical)
		w->logical = chips * w->keys;
	for (int i = 0; i < 3; i++)
		add_tensor(given, NULL, &specs[i]);
	for (int i = 0; i < 3 && w->joint; i++)
		add_tensor(given, NULL, &specs[3]);
	given_tensor(given, "persistent_output_buffer_k", &specs[4], 0, 0);
	given_tensor(given, "persistent_output_buffer_v", &specs[5], 0, 0);
	given_add(given, "joint_strategy", ttnn_v_string("rear"));
	add_places(given, arena, w);
}

TEST(two_sequences)
{
	struct given given = {.state = 5};
	struct tt_arena arena = {0};

	open_mesh();
	for (uint32_t n = 0; n < 2 * GOLDEN_CASES; n++) {
		struct wish w = usual(n);

		w.slots = w.batches;
		w.joint = n % 3 ? 32 * (n % 3) - n % 4 / 3 * 5 : 0;
		w.logical = n % 2 ? (w.axis ? COLS : ROWS) * w.keys - n : 0;
		w.q = w.kv = n % 7 == 3 ? TTNN_BFLOAT8_B : TTNN_BFLOAT16;
		if (n % 5 == 4)
			w.keys += 64;
		add_all(&given, &arena, &w);
		if (n % 5 == 4)
			given_add(&given, "is_cross", ttnn_v_bool(true));
		if (n % 4 == 1)
			given_add(&given, "scale", ttnn_v_real(0.3));
		if (w.joint == 64 && n % 5 != 4)
			given_add(&given, "logical_l",
				  SIZE(n % 2 ? 64 * (w.axis ? COLS : ROWS) - n : 64));
		given_case(&given, ring, n, 3);
	}
	tt_arena_deinit(&arena);
}

TEST(causal)
{
	struct given given = {.state = 6};
	struct tt_arena arena = {0};

	open_mesh();
	for (uint32_t n = 0; n < GOLDEN_CASES; n++) {
		struct wish w = usual(n);

		w.batches = w.slots = 1;
		w.heads = n % 2 ? 4 : 2;
		w.key_heads = n % 3 ? 2 : 1;
		w.value_heads = n % 3 ? 2 : w.heads;
		w.value_width = n % 4 ? w.width : 64;
		w.rows = w.keys = 128;
		add_all(&given, &arena, &w);
		given_add(&given, "is_causal", ttnn_v_bool(true));
		given_add(&given, "is_balanced", ttnn_v_bool(n % 2));
		if (n % 3 == 1) {
			const struct ttnn_spec_args sink =
				given_spec(TTNN_BFLOAT16, 1, w.heads, 1, 1);

			given_tensor(&given, "attention_sink", &sink, -3, 3);
		}
		given_case(&given, ring, n, 3);
	}
	tt_arena_deinit(&arena);
}

/* The last rows of a sequence, with a cache of all before them. */
TEST(slabs)
{
	struct given given = {.state = 7};
	struct tt_arena arena = {0};

	open_mesh();
	for (uint32_t n = 0; n < GOLDEN_CASES; n++) {
		struct wish w = usual(n);
		int64_t chips = w.axis ? COLS : ROWS;
		bool window = n % 3 == 2 && w.axis;

		w.batches = 1;
		w.slots = 3;
		w.rows = window ? 128 : 64;
		w.keys = 3 * w.rows;
		w.logical = n % 2 || window ? 2 * chips * w.rows : 2 * chips * w.rows + 32;
		w.kv = window ? TTNN_BFLOAT8_B : TTNN_BFLOAT16;
		w.gathered = window ? 128 : 0;
		w.k_chunk = window ? 128 : w.k_chunk;
		w.q_chunk = window ? 64 : w.q_chunk;
		add_all(&given, &arena, &w);
		given_add(&given, "is_causal", ttnn_v_bool(true));
		given_add(&given, "kv_cache_batch_idx", SIZE(n % 3));
		if (window)
			given_add(&given, "sliding_window_size", ttnn_v_int(100));
		else if (n % 2 == 0)
			given_add(&given, "kv_actual_isl", SIZE(w.logical - 32 * (1 + n % 5)));
		given_case(&given, ring, n, 3);
	}
	tt_arena_deinit(&arena);
}

TEST(latent_values)
{
	struct given given = {.state = 8};
	struct tt_arena arena = {0};

	open_mesh();
	for (uint32_t n = 0; n < GOLDEN_CASES; n++) {
		struct wish w = usual(n);
		const struct ttnn_spec_args q = given_spec(w.q, 1, w.heads, 64, 96);
		const struct ttnn_spec_args kv = given_spec(w.q, 1, 1, n % 3 ? 64 : 128, 96);
		struct ttnn_spec_args all = kv;

		w.q_chunk = 32;
		all.shape.dim[2] *= w.axis ? COLS : ROWS;
		w.logical = all.shape.dim[2];
		add_tensor(&given, NULL, &q);
		add_tensor(&given, NULL, &kv);
		given_tensor(&given, "persistent_output_buffer_kv", &all, 0, 0);
		given_add(&given, "head_dim_v", SIZE(32 * (1 + n % 2)));
		given_add(&given, "is_balanced", ttnn_v_bool(n % 3 && n % 2));
		add_places(&given, &arena, &w);
		given_case(&given, latent, n, 3);
	}
	tt_arena_deinit(&arena);
}

/* Heads of which each row of cores has whole ones, with as many chunks as there are columns. */
TEST(head_by_head)
{
	static const struct tt_enum_row rows[] = {{2, "Ring"}};
	static const struct tt_enum topology = {"Topology", rows, 1};
	struct given given = {.state = 10};
	struct tt_arena arena = {0};

	open_mesh();
	for (uint32_t n = 0; n < GOLDEN_CASES; n++) {
		uint32_t chips = n % 5 ? COLS : ROWS, width = 32 * (1 + n % 3),
			 joint = n % 3 ? 0 : 32;
		uint32_t queries = n % 4 == 3 ? 192 : 96, batches = 1 + n % 2, heads = 4 / batches;
		enum ttnn_dtype dtype = n % 6 == 5 ? TTNN_BFLOAT8_B : TTNN_BFLOAT16;
		const struct ttnn_spec_args q = given_spec(dtype, batches, heads, queries, width);
		const struct ttnn_spec_args jq = given_spec(dtype, batches, heads, joint, width);
		const struct ttnn_spec_args all =
			given_spec(dtype, batches, heads, chips * queries, width);
		int64_t chunk = queries / 3, length = chips * queries - (n % 4 ? n : 0);
		int32_t number = (int32_t)length;
		const struct ttnn_arg fields[] = {
			{"compute_with_storage_grid_size",
			 {.kind = TTNN_VALUE_CORE, .core = {joint ? 5 : 4, 4}}},
			{"q_chunk_size", ttnn_v_int(joint ? 32 : chunk)},
			{"k_chunk_size", ttnn_v_int(n % 2 ? 32 : 64)},
		};
		struct ttnn_value config;

		if (joint && queries == 192)
			continue;
		CHECK_OK(tt_object_make(&config, &arena, "SDPAProgramConfig", fields,
					TT_COUNT(fields)));
		for (int i = 0; i < 3; i++)
			add_tensor(&given, NULL, &q);
		for (int i = 0; i < 3 && joint; i++)
			given_tensor(&given, NULL, &jq, -2, 2);
		given_tensor(&given, "persistent_output_buffer_k", &all, 0, 0);
		given_tensor(&given, "persistent_output_buffer_v", &all, 0, 0);
		given_add(&given, "joint_strategy", ttnn_v_string("rear"));
		if (n % 7 == 2)
			given_numbers(&given, "logical_n", &(struct ttnn_shape){1, {1}},
				      TTNN_UINT32, &number);
		else
			given_add(&given, "logical_n", ttnn_v_int(length));
		given_add(&given, "program_config", config);
		if (n % 4 == 1)
			given_add(&given, "scale", ttnn_v_real(0.3));
		given_add(&given, "dim", ttnn_v_int(2));
		given_add(&given, "multi_device_global_semaphore", given_list(&given, 0, 1, 2));
		given_add(&given, "num_links", ttnn_v_int(2));
		given_add(&given, "cluster_axis", ttnn_v_int(n % 5 ? 1 : 0));
		given_add(&given, "mesh_device", ttnn_v_device(golden_opened));
		given_add(&given, "topology", tt_value_enum(&topology, 2));
		given_add(&given, "num_workers_per_link", ttnn_v_int(2));
		given_case(&given, "ttnn.transformer.exp_ring_joint_scaled_dot_product_attention",
			   n, 3);
	}
	tt_arena_deinit(&arena);
}

/* Rows that all chips have; with a start the keys are in blocks, in an order of their own. */
TEST(shared_out)
{
	struct given given = {.state = 9};
	struct tt_arena arena = {0};

	open_mesh();
	for (uint32_t n = 0; n < GOLDEN_CASES; n++) {
		uint32_t chips = n % 2 ? COLS : ROWS, heads = 2 * (1 + n % 2),
			 width = 32 * (1 + n % 3);
		enum ttnn_dtype dtype = n % 5 == 3 ? TTNN_BFLOAT8_B : TTNN_BFLOAT16;
		uint32_t rows = 2 * chips * (n % 3 ? 32 : 64), block = 32, start = n % 4 * 32;
		uint32_t blocks = (rows + start) / block;
		const struct ttnn_spec_args q = given_spec(dtype, 1, heads, rows, width);
		const struct ttnn_spec_args kv = n % 4 ? given_spec(dtype, blocks, 2, block, width)
						       : given_spec(dtype, 1, 2, rows, width);
		int32_t table[64];

		given_tensor(&given, NULL, &q, -2, 2);
		given_tensor(&given, NULL, &kv, -2, 2);
		given_tensor(&given, NULL, &kv, -2, 2);
		given_add(&given, "ring_size", SIZE(chips));
		if (n % 3)
			given_add(&given, "ring_id", SIZE(n % chips));
		for (uint32_t i = 0; i < blocks; i++)
			table[i] = (int32_t)(blocks - 1 - i);
		if (n % 4) {
			given_numbers(&given, "page_table", &(struct ttnn_shape){2, {1, blocks}},
				      TTNN_INT32, table);
			given_add(&given, "chunk_start_idx", SIZE(start));
		}
		given_case(&given, "ttnn.transformer.ring_distributed_scaled_dot_product_attention",
			   n, 3);
	}
	tt_arena_deinit(&arena);
}

TEST(zz_all_rows)
{
	golden_check_family("attention_ring");
	golden_check_family("attention_ring_exp");
	golden_check_family("attention_distributed");
	golden_close();
}
