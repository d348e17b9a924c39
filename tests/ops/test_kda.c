/* what Kimi Delta Attention has of its own, against its goldens */
#include "test.h"

#include "golden.h"
#include "ops/given_mesh.h"
#include "ops/golden_cases.h"
#include "ops/objects.h"

#define CASES 24

TEST(norms)
{
	struct given given = {.state = 1};

	for (uint32_t n = 0; n < CASES; n++) {
		uint32_t batches = 1 + n % 2, heads = 1 + n % 4, rows = 32 * (1 + n % 3);
		uint32_t width = 32 * (1 + n % 5 / 2), offset = n % 4 == 3 ? 32 : 0;
		enum ttnn_dtype dtype = n % 3 ? TTNN_FLOAT32 : TTNN_BFLOAT16;
		const struct ttnn_spec_args in = given_spec(dtype, batches * heads, rows, width, 0);
		const struct ttnn_spec_args gate =
			given_spec(TTNN_BFLOAT16, batches, rows,
				   heads * width + offset + (n % 6 == 2 ? 64 : 0), 0);
		const struct ttnn_spec_args weight = given_spec(TTNN_BFLOAT16, width, 0, 0, 0);

		given_tensor(&given, "input", &in, -2, 2);
		given_tensor(&given, "gate", &gate, -3, 3);
		given_tensor(&given, "weight", &weight, -1, 2);
		given_add(&given, "num_heads", ttnn_v_int(heads));
		if (n % 5 == 1)
			given_add(&given, "epsilon", ttnn_v_real(0.125));
		if (n % 2)
			given_add(&given, "output_dtype", ttnn_v_dtype(TTNN_BFLOAT16));
		if (offset)
			given_add(&given, "gate_column_offset", ttnn_v_int(offset));
		given_case(&given, "ttnn.experimental.kda.sigmoid_gated_rms_norm", n, 2);
	}
}

/* Groups of heads, of a sequence that begins anywhere on so many chips. */
struct wish {
	uint32_t chips, heads, groups, keys, values, rows;
	int32_t start, end;
	bool ends;
	enum ttnn_dtype dtype;
};

static struct wish wish_of(uint32_t n)
{
	struct wish w = {.chips = n % 3 == 2 ? 2 : 1,
			 .heads = 1 + n % 3,
			 .groups = 1 + n % 4,
			 .keys = 32 * (1 + n % 2),
			 .values = 32 * (1 + n % 3 / 2),
			 .dtype = n % 4 == 1 ? TTNN_BFLOAT16 : TTNN_FLOAT32,
			 .ends = n % 5 == 4};

	w.rows = 64 * w.groups;
	w.start = (int32_t)(32 * (n * 5 % (3 * w.rows / 32)));
	w.end = w.start + (int32_t)(w.chips * w.rows) - 32 * (int32_t)(n % 3) - 7;
	return w;
}

static void add_numbers(struct given *given, const struct wish *w)
{
	given_numbers(given, "actual_start", &(struct ttnn_shape){1, {1}}, TTNN_UINT32, &w->start);
	if (w->ends)
		given_numbers(given, "actual_end", &(struct ttnn_shape){1, {1}}, TTNN_UINT32,
			      &w->end);
	given_add(given, "local_rows", ttnn_v_int(w->rows));
}

/* Numbers that do not grow where matrices are multiplied. */
static void add_pair(struct given *given, const struct wish *w, const char *const names[2])
{
	const struct ttnn_spec_args a =
		given_spec(w->dtype, w->heads * w->groups, w->keys, w->keys, 0);
	const struct ttnn_spec_args b =
		given_spec(w->dtype, w->heads * w->groups, w->keys, w->values, 0);

	given_tensor(given, names[0], &a, -0.2, 0.2);
	given_tensor(given, names[1], &b, -1, 1);
}

TEST(reduced)
{
	static const char *const names[] = {"a", "b"};
	struct given given = {.state = 2};

	for (uint32_t n = 0; n < CASES; n++) {
		struct wish w = wish_of(n);

		given_mesh_of("p150_x4", w.chips, 1);
		add_pair(&given, &w, names);
		given_add(&given, "groups_per_head", ttnn_v_int(w.groups));
		add_numbers(&given, &w);
		given_case(&given, "ttnn.experimental.kda.reduce_affine_transforms", n, 2);
	}
}

TEST(scanned)
{
	static const char *const names[] = {"a", "b"}, *const tails[] = {"tail_a", "tail_b"};
	struct given given = {.state = 3};

	for (uint32_t n = 0; n < CASES; n++) {
		struct wish w = wish_of(n);
		const struct ttnn_spec_args state =
			given_spec(TTNN_FLOAT32, w.heads, w.keys, w.values, 0);

		w.ends = false;
		given_mesh_of("p150_x4", w.chips, 1);
		add_pair(&given, &w, names);
		given_tensor(&given, "initial_state", &state, -2, 2);
		given_add(&given, "groups_per_head", ttnn_v_int(w.groups));
		add_pair(&given, &w, tails);
		given_tensor(&given, "tail_entry_states", &state, -2, 2);
		add_numbers(&given, &w);
		given_case(&given, "ttnn.experimental.kda.affine_exclusive_scan", n, 2);
	}
}

TEST(chained)
{
	struct given given = {.state = 4};

	for (uint32_t n = 0; n < CASES; n++) {
		struct wish w = wish_of(n);
		uint32_t chips = 1 + n % 4;
		const struct ttnn_spec_args steps =
			given_spec(TTNN_BFLOAT16, chips, w.heads, w.keys, w.keys + w.values);
		const struct ttnn_spec_args state =
			given_spec(TTNN_FLOAT32, w.heads, w.keys, w.values, 0);

		w.ends = false;
		given_mesh_of("p150_x4", n % 2 ? 1 : chips, n % 2 ? chips : 1);
		given_tensor(&given, "transforms", &steps, -0.2, 0.2);
		given_tensor(&given, "initial_state", &state, -2, 2);
		add_numbers(&given, &w);
		given_add(&given, "sequence_parallel_axis", ttnn_v_int(n % 2));
		given_case(&given, "ttnn.experimental.kda.chain_affine_transforms", n, 2);
	}
}

TEST(convolved)
{
	struct given given = {.state = 5};
	struct tt_arena arena = {0};

	for (uint32_t n = 0; n < CASES; n++) {
		uint32_t widths[3] = {32 * (1 + n % 2), 32 * (1 + n % 3), 32},
			 chips = n % 3 == 2 ? 2 : 1;
		uint32_t all = widths[0] + widths[1] + widths[2], rows = 32 * (1 + n % 3);
		uint32_t offset = n % 5 == 3 ? 32 : 0;
		struct ttnn_spec_args in = given_spec(TTNN_BFLOAT16, 1, rows, all + offset, 0);
		struct ttnn_spec_args history = given_spec(TTNN_BFLOAT16, 1, 3, all, 0);
		const struct ttnn_spec_args tap = given_spec(TTNN_BFLOAT16, all, 0, 0, 0);
		const struct ttnn_arg chunk = {"channel_chunk_size", ttnn_v_int(32)};
		static const char *const names[] = {"q_width", "k_width", "v_width"};
		static const char *const taps[] = {"tap0", "tap1", "tap2", "tap3"};
		int32_t start = (int32_t)(32 * (n % 7));
		struct ttnn_value config;

		given_mesh_of("p150_x4", chips, 1);
		in.layout = n % 4 == 1 ? TTNN_ROW_MAJOR : TTNN_TILE;
		history.layout = TTNN_ROW_MAJOR;
		CHECK_OK(tt_object_make(&config, &arena, "QkvCausalConv1dSiluProgramConfig", &chunk,
					1));
		given_tensor(&given, "input", &in, -2, 2);
		given_tensor(&given, "history", &history, -2, 2);
		for (int i = 0; i < 4; i++)
			given_tensor(&given, taps[i], &tap, -1, 1);
		for (int i = 0; i < 3; i++)
			given_add(&given, names[i], ttnn_v_int(widths[i]));
		given_add(&given, "program_config", config);
		given_numbers(&given, "actual_start", &(struct ttnn_shape){1, {1}}, TTNN_UINT32,
			      &start);
		given_tensor(&given, "predecessor_carry", &history, -2, 2);
		if (offset)
			given_add(&given, "input_column_offset", ttnn_v_int(offset));
		given_case(&given, "ttnn.experimental.kda.qkv_causal_conv1d_silu", n, 2);
	}
	tt_arena_deinit(&arena);
}

TEST(zz_all_rows)
{
	golden_check_family("kda_conv");
	golden_check_family("kda_affine");
	golden_check_family("kda_norm");
	golden_close();
}
