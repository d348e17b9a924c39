/* tokens to the buffers of experts of a prefill, and back, against their goldens */
#include "test.h"

#include "golden.h"
#include "ops/given_mesh.h"

#define CASES 22
#define PREFILL "ttnn.experimental.deepseek_prefill."

static const struct ttnn_memory_config memory[] = {{.buffer = TTNN_DRAM}, {.buffer = TTNN_L1}};

TEST(offsets)
{
	static const uint32_t meshes[][3] = {{1, 8, 1}, {2, 4, 0}, {2, 4, 1}, {4, 2, 0}};
	struct given given = {.state = 1};

	for (uint32_t n = 0; n < CASES + 2; n++) {
		const uint32_t *mesh = meshes[n / 6];
		uint32_t each = 1 + n % 5, experts = each * (2 + n % 4) * 4;
		struct ttnn_spec_args in = {.dtype = TTNN_UINT32};

		given_mesh(mesh[0], mesh[1]);
		in.shape = n % 2 ? (struct ttnn_shape){1, {experts}}
				 : (struct ttnn_shape){2, {1, experts}};
		in.memory = memory[n % 3 == 2];
		given_chips(&given, "input_tensor", &in, 0, n % 4 ? 100 : 2);
		given_add(&given, "cluster_axis", ttnn_v_int(mesh[2]));
		given_add(&given, "num_links", ttnn_v_int(1));
		given_add(&given, "experts_per_chip", ttnn_v_int(each));
		given_add(&given, "memory_config", ttnn_v_memory(&memory[n % 2]));
		given_case(&given, PREFILL "offset_cumsum", n, 1);
	}
}

/* A group's experts in order, of which each chip has some; others are of another group. */
struct plan {
	uint32_t chips, rows, cols, each, experts, choices, tokens;
	uint32_t chosen[8][4 * 64 * 2];
	int32_t counts[64], offsets[64], regions[64], total;
};

/* Every chip's choices, never the same expert twice, and where its tokens go in the buffers of its column. */
static void make_choices(struct plan *plan, struct given *given)
{
	plan->chips = plan->rows * plan->cols;
	for (uint32_t chip = 0; chip < plan->chips; chip++)
		for (uint32_t i = 0; i < plan->tokens * plan->choices; i++) {
			uint32_t first = (uint32_t)(test_random(&given->state) % plan->experts);
			uint32_t k = i % plan->choices;

			plan->chosen[chip][i] =
				k ? (plan->chosen[chip][i - 1] + 1) % plan->experts : first;
		}
}

static uint32_t tokens_of(const struct plan *plan, uint32_t chip, uint32_t expert)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < plan->tokens * plan->choices; i++)
		count += plan->chosen[chip][i] == expert;
	return count;
}

/* Of the chips of a column up to one: how many tokens the experts have, and where the next one goes. */
static void count_tokens(struct plan *plan, uint32_t chip)
{
	uint32_t col = chip % plan->cols;

	for (uint32_t e = 0; e < plan->experts; e++) {
		uint32_t before = e % plan->each ? e - 1 : e;

		plan->counts[e] = plan->offsets[e] = 0;
		for (uint32_t row = 0; row < plan->rows; row++) {
			uint32_t own = tokens_of(plan, row * plan->cols + col, e);

			plan->counts[e] += (int32_t)own;
			plan->offsets[e] += row < chip / plan->cols ? (int32_t)own : 0;
		}
		plan->regions[e] =
			e == before ? 0
				    : plan->regions[before] + (plan->counts[before] + 31) / 32 * 32;
		plan->offsets[e] += plan->regions[e];
	}
}

/* Numbers that are other ones on every chip. */
static void put_numbers(ttnn_tensor *tensor, uint32_t chip, enum ttnn_dtype dtype,
			const int32_t *numbers, size_t count)
{
	uint16_t *words;
	ttnn_tensor *to;

	CHECK_OK(tt_tensor_resident(&to, tensor, chip, TT_BUFFER_OVERWRITE));
	words = tt_tensor_data(to);
	for (size_t i = 0; i < count; i++) {
		if (dtype == TTNN_UINT16)
			words[i] = (uint16_t)numbers[i];
		else
			((int32_t *)(void *)words)[i] = numbers[i];
	}
	ttnn_tensor_unref(to);
}

static ttnn_tensor *add_numbers(struct given *given, const char *name, uint32_t rows,
				uint32_t width, enum ttnn_dtype dtype)
{
	struct ttnn_spec_args args = {.dtype = dtype};

	args.shape = (struct ttnn_shape){3, {1, rows, width}};
	return given_tensor(given, name, &args, 0, 1);
}

static void dispatch_args(struct given *given, const struct plan *plan, uint32_t n, bool padded)
{
	int32_t table[64], numbers[4 * 64 * 2];
	ttnn_tensor *ids =
		add_numbers(given, "indices_tensor", plan->tokens, plan->choices, TTNN_UINT16);
	ttnn_tensor *at = add_numbers(given, "expert_offsets_tensor", 1, plan->experts,
				      n % 2 ? TTNN_INT32 : TTNN_UINT32);
	struct plan copy = *plan;

	for (uint32_t chip = 0; chip < plan->chips; chip++) {
		count_tokens(&copy, chip);
		for (uint32_t i = 0; i < plan->tokens * plan->choices; i++)
			numbers[i] = padded && i >= plan->tokens / 2 * plan->choices
					     ? (int32_t)plan->experts
					     : (int32_t)plan->chosen[chip][i];
		put_numbers(ids, chip, TTNN_UINT16, numbers, plan->tokens * plan->choices);
		put_numbers(at, chip, TTNN_INT32, copy.offsets, plan->experts);
	}
	for (uint32_t e = 0; e <= plan->experts; e++)
		table[e] = e / plan->each < plan->rows ? (int32_t)(e / plan->each) : -1;
	given_numbers(given, "expert_dispatch_table_tensor",
		      &(struct ttnn_shape){2, {1, plan->experts + 1}}, TTNN_INT32, table);
	given_add(given, "dispatch_group_size", ttnn_v_int(plan->rows));
	given_add(given, "num_routed_experts", ttnn_v_int(plan->experts));
	given_add(given, "metadata_len", ttnn_v_int(3));
}

static void both_args(struct given *given, const struct plan *plan)
{
	given_add(given, "experts_per_chip", ttnn_v_int(plan->each));
	given_add(given, "num_experts_per_tok", ttnn_v_int(plan->choices));
	given_add(given, "cluster_axis", ttnn_v_int(0));
}

static void make_plan(struct plan *plan, struct given *given, uint32_t n)
{
	*plan = (struct plan){.rows = n < 11 ? 2 : 4, .cols = n < 11 ? 4 : 2};
	plan->each = 1 + n % 3;
	plan->experts = plan->each * plan->rows * (1 + n % 2);
	plan->choices = 1 + n % 2;
	plan->tokens = n % 5 == 4 ? 13 : 32 * (1 + n % 2);
	make_choices(plan, given);
}

TEST(dispatch)
{
	struct given given = {.state = 2};

	for (uint32_t n = 0; n < CASES; n++) {
		struct ttnn_spec_args in = {.dtype = TTNN_BFLOAT16};
		static struct plan plan;
		bool padded = n % 4 == 3;
		int32_t config[2];

		given_mesh(n < 11 ? 2 : 4, n < 11 ? 4 : 2);
		make_plan(&plan, &given, n);
		in.layout = n % 3 ? TTNN_TILE : TTNN_ROW_MAJOR;
		in.shape = (struct ttnn_shape){3, {1, plan.tokens, 32 * (1 + n % 3)}};
		in.memory = memory[n % 5 == 1];
		given_chips(&given, "input_tensor", &in, -3, 3);
		dispatch_args(&given, &plan, n, padded);
		both_args(&given, &plan);
		given_add(&given, "max_dispatch_buffer_token_size", ttnn_v_int(n % 6 ? 256 : 40));
		given_add(&given, "memory_config", ttnn_v_memory(&memory[n % 2]));
		config[0] = (int32_t)plan.tokens / 2;
		config[1] = n % 8 == 7;
		if (padded)
			given_numbers(&given, "padding_config", &(struct ttnn_shape){2, {1, 2}},
				      TTNN_UINT32, config);
		given_case(&given, PREFILL "dispatch", n, 1);
	}
}

/* Where the tokens of a chip's buffer come from, as dispatch says it. */
static void come_from(int32_t *metadata, const struct plan *plan, uint32_t chip, uint32_t room)
{
	struct plan copy = *plan;

	memset(metadata, 0xff, (size_t)room * 3 * sizeof(*metadata));
	for (uint32_t row = 0; row < plan->rows; row++) {
		uint32_t from = row * plan->cols + chip % plan->cols;

		count_tokens(&copy, from);
		for (uint32_t i = 0; i < plan->tokens * plan->choices; i++) {
			uint32_t expert = plan->chosen[from][i];
			uint32_t page = (uint32_t)copy.offsets[expert]++;

			if (expert / plan->each != chip / plan->cols || page >= room)
				continue;
			metadata[page * 3] = (int32_t)from;
			metadata[page * 3 + 1] = (int32_t)(i / plan->choices);
			metadata[page * 3 + 2] = (int32_t)(i % plan->choices);
		}
	}
}

TEST(combine)
{
	struct given given = {.state = 3};

	for (uint32_t n = 0; n < CASES; n++) {
		uint32_t room = n % 6 ? 256 : 64;
		struct ttnn_spec_args in = {.dtype = TTNN_BFLOAT16, .layout = TTNN_TILE};
		static int32_t metadata[3 * 256];
		ttnn_tensor *from, *counts, *regions;
		static struct plan plan;

		given_mesh(n < 11 ? 2 : 4, n < 11 ? 4 : 2);
		make_plan(&plan, &given, n);
		in.shape = (struct ttnn_shape){4, {1, 1, room, 32 * (1 + n % 3)}};
		if (n % 3 == 1)
			in.layout = TTNN_ROW_MAJOR;
		else if (n % 3 == 2)
			in.dtype = TTNN_BFLOAT8_B;
		given_chips(&given, "dispatched_buffer", &in, -3, 3);
		from = add_numbers(&given, "dispatched_metadata", room, 3, TTNN_INT32);
		from->spec.shape = from->spec.padded = (struct ttnn_shape){4, {1, 1, room, 3}};
		counts = add_numbers(&given, "expert_token_counts", 1, plan.experts, TTNN_INT32);
		regions = add_numbers(&given, "expert_region_offsets", 1, plan.experts, TTNN_INT32);
		for (uint32_t chip = 0; chip < plan.chips; chip++) {
			come_from(metadata, &plan, chip, room);
			count_tokens(&plan, chip);
			put_numbers(from, chip, TTNN_INT32, metadata, 3 * (size_t)room);
			put_numbers(counts, chip, TTNN_INT32, plan.counts, plan.experts);
			put_numbers(regions, chip, TTNN_INT32, plan.regions, plan.experts);
		}
		both_args(&given, &plan);
		given_add(&given, "dispatch_group_size", ttnn_v_int(plan.rows));
		given_add(&given, "seq_len_per_chip", ttnn_v_int(plan.tokens));
		given_add(&given, "memory_config", ttnn_v_memory(&memory[n % 2]));
		given_case(&given, PREFILL "combine", n, 1);
	}
}

TEST(zz_all_rows)
{
	golden_check_family("prefill_dispatch");
	golden_check_family("expert_offsets");
	golden_close();
}
