/*
 * matmul_ring.c: products of one shape each, on the cores beside the banks of DRAM: the last projection of latent attention, and the
 * scores of a gate with its choice of experts.
 *
 * Models MatmulWODeviceOperation (deepseek/mla) and MoEGateMMDeviceOperation (deepseek/moe) of ttnn 0.81 with their one factory each: refusals,
 * memory, cores, where results lie. Every core has a copy of the tokens; a bank has some rows of the weights, or some columns. What
 * cores keep on the way in the output is left as it was.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "golden/golden_experts.h"
#include "ops/expert_ring.h"
#include "ops/experts.h"
#include "ops/matmul/matmul.h"
#include "ops/movement/movement.h"
#include "ops/usual.h"
#include "ops/values.h"
#include "tensor/distribution.h"

#define LAST_ATTRS(X) X(LAYER, "layer_id")
TT_ATTRS(last_schema, "operation_attributes_t", LAST_ATTRS);
#define GATE_ATTRS(X)                                                                              \
	X(GATE_LAYER, "layer_id")                                                                  \
	X(COLUMN, "column_id")
TT_ATTRS(gate_schema, "operation_attributes_t", GATE_ATTRS);
enum { TOKENS, WEIGHT, OUT, INPUTS };
#define WAYS 12u /* banks that the weights are made for */

/* The last projection. */
#define COLLECTORS 7u
#define CHUNKS 4u /* columns of tiles of each */
#define LAST_ROWS 512u
#define MOST_ROWS 44u /* of tiles in a bank */
/* The gate. */
#define GATE_ROWS 224u
#define SENT_ROWS 72u /* of tiles, the last ones, in a bank of two columns */
#define OWN_ROWS (GATE_ROWS - SENT_ROWS)
#define GATE_LINES (OWN_ROWS / 2 + 1)
#define EXPERTS 256u
#define CHOSEN 8u
#define NUMBER_SHIFT 7 /* a chosen expert's number is in the bits of a bfloat16 */

static tt_status ring_infer(struct tt_launch *launch)
{
	launch->output_count = 1;
	launch->specs[0] = launch->inputs[OUT]->spec;
	return TTNN_OK;
}

static tt_status last_validate(struct tt_launch *launch)
{
	uint32_t rank = launch->inputs[TOKENS]->spec.shape.rank;

	TT_REQUIRE(rank >= 2, "tensor_args.input_tensor.logical_shape().rank() >= 2",
		   "Input tensor must be at least rank 2, got %u", rank);
	return TTNN_OK;
}

/* ---- memory ------------------------------------------------------------------------------------------------------- */

static tt_status ring_set(const ttnn_core_set **out, struct tt_ring_core *ring, uint32_t *count,
			  const struct tt_device *device)
{
	struct ttnn_core cores[TT_RING_MOST];

	TT_TRY(tt_ring_cores(ring, count, device));
	for (uint32_t i = 0; i < *count; i++)
		cores[i] = ring[i].core;
	return tt_cores_set(out, cores, *count);
}

/* The last cores of the grid that are not of the ring. */
static tt_status collectors_find(struct ttnn_core *out, const struct tt_device *device,
				 const ttnn_core_set *ring)
{
	struct ttnn_core grid = device->info.compute_grid;
	uint32_t found = 0;

	for (uint32_t y = grid.y; y--;)
		for (uint32_t x = grid.x; x-- && found < COLLECTORS;)
			if (!tt_core_set_contains(ring, (struct ttnn_core){x, y}))
				out[found++] = (struct ttnn_core){x, y};
	TT_REQUIRE(found == COLLECTORS, "false", "Failed to find %u cores", COLLECTORS);
	return TTNN_OK;
}

static tt_status last_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	uint64_t page = tt_page_bf16(launch), weight = tt_tile_bytes_of(TTNN_BFLOAT8_B);
	const ttnn_core_set *ring, *last, *all;
	struct tt_ring_core cores[TT_RING_MOST];
	struct ttnn_core collectors[COLLECTORS];
	uint32_t count;

	TT_TRY(ring_set(&ring, cores, &count, launch->device));
	TT_TRY(collectors_find(collectors, launch->device, ring));
	TT_TRY(tt_cores_set(&last, collectors, COLLECTORS));
	TT_TRY(tt_core_set_merge(&all, ring, last));
	return TT_PLAN(
		plan, ring, TT_CB_ROW(0, "cb_r2c_w", .pages = 2 * 3 * COLLECTORS, .page = weight),
		TT_CB_ROW(2, "cb_c2w_out", .pages = CHUNKS * COLLECTORS, .page = page),
		TT_CB_ROW(3, "cb_s2c_in2", .pages = CHUNKS * WAYS, .page = page, .cores = all),
		TT_CB_ROW(1, "cb_s2c_in", .pages = LAST_ROWS, .page = page,
			  .backing = launch->inputs[TOKENS]),
		TT_CB_ROW(4, "cb_s2c_out", .pages = CHUNKS, .page = page, .cores = last,
			  .backing = launch->inputs[OUT]));
}

static tt_status gate_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	uint64_t page = tt_page_bf16(launch);
	struct tt_ring_core cores[TT_RING_MOST];
	const ttnn_core_set *ring;
	uint32_t count;

	TT_TRY(ring_set(&ring, cores, &count, launch->device));
	return TT_PLAN(plan, ring, TT_CB_ROW(0, "cb_r2c_w", .pages = 32 * 3, .page = page),
		       TT_CB_ROW(2, "cb_c2w_rdy", .pages = 1, .page = sizeof(float)),
		       TT_CB_ROW(3, "cb_w2c_in2", .pages = 1, .page = tt_page_f32(launch)),
		       TT_CB_ROW(5, "cb_w2c_in3", .pages = 1, .page = page),
		       TT_CB_ROW(6, "cb_w2c_in4", .pages = 1, .page = page),
		       TT_CB_ROW(7, "cb_w2c_in5", .pages = 1, .page = page),
		       TT_CB_ROW(8, "cb_w2c_in6", .pages = 4, .page = page),
		       TT_CB_ROW(9, "cb_w2c_in7", .pages = 4, .page = page),
		       TT_CB_ROW(1, "cb_s2c_in", .pages = GATE_ROWS, .page = page,
				 .backing = launch->inputs[TOKENS]),
		       TT_CB_ROW(4, "cb_s2c_out", .pages = 1, .page = page,
				 .backing = launch->inputs[OUT]));
}

static tt_status gate_choose(uint32_t *out, struct tt_launch *launch)
{
	uint32_t banks = launch->device->info.dram_banks;

	*out = 0;
	TT_REQUIRE(banks == WAYS, "num_cores == required_cores",
		   "moe_gate_mm requires exactly %u DRAM-aligned cores (Wormhole); got %u. This "
		   "op's ring algorithm is hardcoded for Wormhole's 12 DRAM views and does not "
		   "support other architectures.",
		   WAYS, banks);
	return TTNN_OK;
}

/* ---- numbers ------------------------------------------------------------------------------------------------------ */

/* A tensor as rows, of which a core or bank has some. */
struct rows {
	double *values;
	uint64_t count, width;
	const struct tt_tensor *tensor;
};

static tt_status rows_of(struct rows *out, const struct tt_launch *launch, size_t which)
{
	uint64_t count;

	out->tensor = launch->inputs[which];
	TT_TRY(tt_values_of(&out->values, &count, launch, which));
	out->width = tt_shape_last(&out->tensor->spec.shape, 1);
	out->count = out->width ? count / out->width : 0;
	return TTNN_OK;
}

static double value_at(const struct rows *rows, uint64_t row, uint64_t column)
{
	return row < rows->count && column < rows->width ? rows->values[row * rows->width + column]
							 : 0;
}

/* Which shard of a tensor a core has; false when none, or when the tensor is not sharded. */
static bool shard_on(uint64_t *out, const struct tt_tensor *tensor, struct ttnn_core core)
{
	const struct ttnn_memory_config *memory = &tensor->spec.memory;
	uint64_t count;

	if (!memory->has_shard)
		return false;
	count = ttnn_core_set_cores(memory->shard.grid);
	for (*out = 0; *out < count; ++*out) {
		struct ttnn_core at =
			tt_core_set_at(memory->shard.grid, *out, memory->shard.orientation);

		if (at.x == core.x && at.y == core.y)
			return true;
	}
	return false;
}

/* The rows that a bank has of a layer: where they begin, and where the bank's end. */
struct bank {
	uint64_t first, end;
};

static struct bank bank_of(const struct rows *weight, uint32_t bank, uint64_t layer, uint64_t lines)
{
	uint64_t shard = bank, height = weight->count / WAYS;

	if (shard_on(&shard, weight->tensor, (struct ttnn_core){bank, 0}))
		height = weight->tensor->spec.memory.shard.height;
	return (struct bank){shard * height + layer * lines, (shard + 1) * height};
}

/* Rows of a core's copy of the tokens, from one on, times a tile of weights. */
struct product {
	const struct rows *tokens, *weight;
	uint64_t first;       /* row of the copy */
	uint64_t from;        /* column of the tokens */
	uint64_t row, column; /* of the weights' tile */
	uint64_t end;         /* of the bank's rows */
};

/* What a bank has not adds nothing. */
static void add_tile(double *out, uint64_t stride, const struct product *product)
{
	const struct rows *weight = product->weight;

	if (product->column + TT_TILE > weight->width)
		return;
	for (uint64_t i = 0;
	     i < TT_TILE && product->row + i < product->end && product->row + i < weight->count;
	     i++) {
		const double *line =
			&weight->values[(product->row + i) * weight->width + product->column];

		for (uint64_t m = 0; m < TT_TILE; m++) {
			double token =
				value_at(product->tokens, product->first + m, product->from + i);

			for (uint64_t c = 0; c < TT_TILE; c++)
				out[m * stride + c] += token * line[c];
		}
	}
}

static uint64_t copy_on(const struct rows *tokens, struct ttnn_core core)
{
	uint64_t shard = 0;

	shard_on(&shard, tokens->tensor, core);
	return shard * TT_TILE;
}

static tt_status write_back(struct tt_launch *launch, const struct rows *rows)
{
	float *values =
		tt_arena_alloc(launch->arena, (rows->count * rows->width + 1) * sizeof(float));

	TT_NEED_MEMORY(values);
	for (uint64_t i = 0; i < rows->count * rows->width; i++)
		values[i] = (float)rows->values[i];
	return tt_values_write(launch->outputs[0], values, TTNN_FLOAT32);
}

/* How many rows of tiles a bank has. */
static uint32_t rows_in(uint32_t bank)
{
	return bank % 8 < 2 ? MOST_ROWS : MOST_ROWS - 2;
}

static tt_status last_kernel(struct tt_launch *launch)
{
	const uint64_t width = CHUNKS * COLLECTORS * TT_TILE;
	struct tt_ring_core ring[TT_RING_MOST];
	struct ttnn_core collectors[COLLECTORS];
	struct rows tokens, weight, out;
	const ttnn_core_set *set;
	uint32_t count;
	double *sums = tt_arena_calloc(launch->arena, TT_TILE * width, sizeof(*sums));

	TT_NEED_MEMORY(sums);
	TT_TRY(ring_set(&set, ring, &count, launch->device));
	TT_TRY(collectors_find(collectors, launch->device, set));
	TT_TRY(rows_of(&tokens, launch, TOKENS));
	TT_TRY(rows_of(&weight, launch, WEIGHT));
	TT_TRY(rows_of(&out, launch, OUT));
	for (uint32_t i = 0; i < count && i < WAYS; i++) {
		uint32_t bank = ring[i].bank, before = 0;
		struct bank part = bank_of(&weight, bank, tt_attr_u32(launch, LAYER),
					   (uint64_t)CHUNKS * MOST_ROWS * TT_TILE);

		for (uint32_t b = 0; b < bank; b++)
			before += rows_in(b);
		for (uint32_t k = 0; k < rows_in(bank); k++)
			for (uint32_t n = 0; n < CHUNKS * COLLECTORS; n++)
				add_tile(&sums[(size_t)n * TT_TILE], width,
					 &(struct product){
						 &tokens, &weight, copy_on(&tokens, ring[i].core),
						 (uint64_t)(before + k) * TT_TILE,
						 part.first +
							 (uint64_t)(n / COLLECTORS * rows_in(bank) +
								    k) *
								 TT_TILE,
						 (uint64_t)(n % COLLECTORS) * TT_TILE, part.end});
	}
	for (uint32_t n = 0; n < CHUNKS * COLLECTORS; n++) {
		uint64_t shard, wide = out.tensor->spec.memory.shard.width, column;

		if (!shard_on(&shard, out.tensor, collectors[n % COLLECTORS]))
			continue;
		column = shard * wide + (uint64_t)n / COLLECTORS * TT_TILE;
		for (uint64_t m = 0; m < TT_TILE && m < out.count; m++)
			for (uint64_t c = 0; c < TT_TILE && column + c < out.width; c++)
				out.values[m * out.width + column + c] =
					sums[m * width + (uint64_t)n * TT_TILE + c];
	}
	return write_back(launch, &out);
}

/* Scores of all experts from what the banks have, and biases. Two of three cores have rows of one column, the third the rest of both. */
static tt_status gate_scores(double *scores, double *bias, struct tt_launch *launch)
{
	struct tt_ring_core ring[TT_RING_MOST];
	struct rows tokens, weight;
	uint32_t count;

	TT_TRY(tt_ring_cores(ring, &count, launch->device));
	TT_TRY(rows_of(&tokens, launch, TOKENS));
	TT_TRY(rows_of(&weight, launch, WEIGHT));
	for (uint32_t i = 0; i < count; i++) {
		uint32_t column = i / 3 * 2 + (i % 3 ? i % 3 - 1 : 0);
		uint32_t rows = i % 3 ? OWN_ROWS : 2 * SENT_ROWS;
		struct bank part = bank_of(&weight, ring[i].bank, tt_attr_u32(launch, GATE_LAYER),
					   (uint64_t)GATE_LINES * TT_TILE);
		uint64_t last = part.first + (uint64_t)(GATE_LINES - 1) * TT_TILE;

		for (uint32_t k = 0; k < rows; k++) {
			uint32_t to = i % 3 ? column : column + k % 2;
			uint32_t row = i % 3 ? k : OWN_ROWS + k / 2;

			add_tile(&scores[(size_t)to * TT_TILE], EXPERTS,
				 &(struct product){&tokens, &weight, copy_on(&tokens, ring[i].core),
						   (uint64_t)row * TT_TILE,
						   part.first + (uint64_t)(k / 2) * TT_TILE,
						   (uint64_t)(k % 2) * TT_TILE, part.end});
		}
		for (uint32_t c = 0; i % 3 && last < part.end && c < TT_TILE; c++)
			bias[column * TT_TILE + c] = value_at(&weight, last, c);
	}
	return TTNN_OK;
}

/* A number whose upper half, as a bfloat16, has these bits. */
static double number_of_bits(uint32_t bits)
{
	float number;

	bits <<= 16;
	memcpy(&number, &bits, sizeof(number));
	return (double)number;
}

/* The last core of the ring has in its tile a row for each chosen expert's biased score, then one for each one's number. */
static tt_status gate_kernel(struct tt_launch *launch)
{
	static const struct tt_expert_groups groups = {EXPERTS, 8, 2, 4, false};
	double *scores = tt_arena_calloc(launch->arena, TT_TILE * EXPERTS, sizeof(*scores));
	double bias[EXPERTS] = {0};
	struct tt_ring_core ring[TT_RING_MOST];
	struct rows out;
	uint64_t shard;
	uint32_t count;

	TT_NEED_MEMORY(scores);
	TT_TRY(gate_scores(scores, bias, launch));
	TT_TRY(rows_of(&out, launch, OUT));
	TT_TRY(tt_ring_cores(ring, &count, launch->device));
	if (!shard_on(&shard, out.tensor, ring[count - 1].core))
		return write_back(launch, &out);
	shard *= out.tensor->spec.memory.shard.width;
	for (uint64_t m = 0; m < TT_TILE && shard + m < out.width; m++) {
		double *biased = &scores[m * EXPERTS];
		uint32_t places[CHOSEN];

		for (uint32_t e = 0; e < EXPERTS; e++)
			biased[e] = tt_experts_rounded(
				tt_experts_rounded(1 / (1 + exp(-biased[e]))) + bias[e]);
		tt_experts_leave_groups(biased, &groups);
		tt_experts_best(places, CHOSEN, biased, EXPERTS);
		for (uint32_t i = 0; i < CHOSEN && CHOSEN + i < out.count; i++) {
			out.values[i * out.width + shard + m] = biased[places[i]];
			out.values[(CHOSEN + i) * out.width + shard + m] =
				number_of_bits(places[i] << NUMBER_SHIFT);
		}
	}
	return write_back(launch, &out);
}

/* ---- the operations --------------------------------------------------------------------------------------------- */

#define FACTORY(operation)                                                                         \
	"ttnn::device_operation::MeshDeviceOperationAdapter<ttnn::operations::experimental::"      \
	"deepseek::" operation ">::DirectDescriptorFactory"
static const struct tt_prog last_program = {
	.device_op = "MatmulWODeviceOperation",
	.prim = "ttnn::prim::matmul_wo",
	.attrs = &last_schema,
	.infer = ring_infer,
	.validate = last_validate,
	TT_FACTORY(FACTORY("mla::MatmulWODeviceOperation"), last_memory),
	TT_KERNEL(last_kernel),
};
static const struct tt_prog gate_program = {
	.device_op = "MoEGateMMDeviceOperation",
	.prim = "ttnn::prim::moe_gate_mm",
	.attrs = &gate_schema,
	.infer = ring_infer,
	.choose = gate_choose,
	TT_FACTORY(FACTORY("moe::moe_gate_mm::MoEGateMMDeviceOperation"), gate_memory),
	TT_KERNEL(gate_kernel),
};

static tt_status ring_expand(struct tt_call *call)
{
	const struct tt_prog *prog = *(const struct tt_prog *const *)call->entry->op->row;
	struct ttnn_value attrs[gate_schema_count] = {{0}};
	struct tt_tensor *inputs[INPUTS] = {tt_call_tensor(call, "input_tensor"),
					    tt_call_tensor(call, "w_tensor"),
					    tt_call_tensor(call, "output_tensor")};

	return TT_LAUNCH_RETURN(call, prog, .attrs = tt_attrs_bind(call, prog->attrs, attrs),
				.inputs = inputs, .input_count = INPUTS, .outputs = &inputs[OUT],
				.output_count = 1, .in_place = true);
}

/* ---- goldens ------------------------------------------------------------------------------------------------------ */

/* Banks' numbers in the ring's order: banks sorted by their workers, the last row first. */
static tt_status golden_ring(struct tt_ring_core *ring, const struct tt_golden *golden)
{
	const struct tt_tensor *in = tt_call_tensor(&golden->call, "input_tensor");
	const struct tt_device *device = in ? tt_tensor_device(in) : NULL;
	uint32_t count;

	TT_NEED(device, "%s: the golden needs tensors on a device", golden->op->name);
	TT_TRY(tt_ring_cores(ring, &count, device));
	TT_NEED(count == WAYS, "%s: the golden is that of %u banks", golden->op->name, WAYS);
	return TTNN_OK;
}

/* Which part of a tensor a core has, by the order of its cores. */
static int64_t golden_part(const struct tt_golden *golden, const char *name, struct ttnn_core core)
{
	const struct tt_tensor *out = tt_call_tensor(&golden->call, name);
	struct ttnn_core cores[64];
	size_t count;

	if (!out->spec.memory.has_shard)
		return -1;
	count = tt_core_set_list(cores, TT_COUNT(cores), out->spec.memory.shard.grid,
				 out->spec.memory.shard.orientation);
	for (size_t i = 0; i < count; i++)
		if (cores[i].x == core.x && cores[i].y == core.y)
			return (int64_t)i;
	return -1;
}

/* The first row of a core's copy of the tokens. */
static uint64_t golden_copy(const struct tt_golden *golden, struct ttnn_core core)
{
	int64_t part = golden_part(golden, "input_tensor", core);

	return part < 0 ? 0 : (uint64_t)part * 32;
}

/* Weights [..., banks, lines, width], of which there may be less: 0 behind. */
static double line_of_bank(const struct tt_array *weight, uint64_t bank, uint64_t line,
			   uint64_t column)
{
	uint64_t width = tt_shape_last(&weight->shape, 1),
		 lines = weight->count / WAYS / tt_divisor(width);

	return line < lines ? *tt_at(weight, (bank * lines + line) * width + column) : 0;
}

/* Those of layer 0 as [16384, 896]: from a row to its bank and back. */
static const uint32_t starts[WAYS + 1] = {0,   44,  88,  130, 172, 214, 256,
					  298, 340, 384, 428, 470, 512};

static uint64_t bank_of_row(uint64_t k)
{
	uint64_t bank = 0;

	while (starts[bank + 1] <= k / 32)
		bank++;
	return bank;
}

static double last_weight(const struct tt_array *weight, uint64_t k, uint64_t n)
{
	uint64_t bank = bank_of_row(k), rows, tile = k / 32, column = n / 32, line;

	rows = starts[bank + 1] - starts[bank];
	line = (column / 7 * rows + tile - starts[bank]) * 32 + k % 32;
	return line_of_bank(weight, bank, line, column % 7 * 32 + n % 32);
}

static tt_status last_golden(struct tt_golden *golden)
{
	const struct tt_array *in = tt_golden_in(golden, "input_tensor");
	const struct tt_array *weight = tt_golden_in(golden, "w_tensor");
	const struct tt_array *given = tt_golden_in(golden, "output_tensor");
	struct ttnn_core cores[TT_RING_MOST], collectors[COLLECTORS];
	struct tt_ring_core ring[TT_RING_MOST];
	const ttnn_core_set *set;
	uint64_t width, copies[WAYS];
	struct tt_array *out;

	TT_GOLDEN_NEED(in && weight && given && given->shape.rank == 2);
	TT_TRY(golden_ring(ring, golden));
	for (uint32_t i = 0; i < WAYS; i++) {
		cores[i] = ring[i].core;
		copies[ring[i].bank] = golden_copy(golden, ring[i].core);
	}
	TT_TRY(tt_cores_set(&set, cores, WAYS));
	TT_TRY(collectors_find(collectors, tt_golden_device(golden, "input_tensor"), set));
	out = tt_golden_out(golden, &given->shape, given->dtype);
	TT_GOLDEN_NEED(out && given->shape.dim[0] == 32);
	width = given->shape.dim[1];
	for (uint64_t i = 0; i < out->count; i++)
		*tt_at(out, i) = *tt_at(given, i);
	for (uint64_t n = 0; n < 896; n++) {
		uint64_t tile = n / 32;
		int64_t part = golden_part(golden, "output_tensor", collectors[tile % 7]);
		uint64_t column = (uint64_t)part * (width / 7) + tile / 7 * 32 + n % 32;

		double sums[32] = {0};

		for (uint64_t k = 0; k < 16384; k++) {
			double factor = last_weight(weight, k, n);

			for (uint64_t m = 0; m < 32 && factor != 0; m++)
				sums[m] += *tt_at(in, (copies[bank_of_row(k)] + m) * 16384 + k) *
					   factor;
		}
		for (uint64_t m = 0; m < 32 && part >= 0; m++)
			*tt_at(out, m * width + column) = sums[m];
	}
	return TTNN_OK;
}

/* Which of the ring has a row's part of a column. */
static uint64_t gate_place(uint64_t k, uint64_t n)
{
	uint64_t column = n / 32;

	return column / 2 * 3 + (k / 32 < 152 ? 1 + column % 2 : 0);
}

/* A weight of layer 0, or a bias behind the rows: of 12 parts of 77 lines of tiles, two wide. */
static double gate_weight(const struct tt_array *weight, const struct tt_ring_core *ring,
			  uint64_t k, uint64_t n)
{
	uint64_t tile = k / 32, place = gate_place(k < 7168 ? k : 0, n), line, side;

	if (k >= 7168) { /* the bias */
		line = 76;
		side = 0;
	} else if (tile < 152) {
		line = tile / 2;
		side = tile % 2;
	} else {
		line = tile - 152;
		side = n / 32 % 2;
	}
	return line_of_bank(weight, ring[place].bank, line * 32 + k % 32, side * 32 + n % 32);
}

/* A number shifted by 7 is the exponent of a bfloat16 without a fraction. */
static double bits_as_number(uint32_t expert)
{
	return expert == 0 ? 0 : expert == 255 ? INFINITY : ldexp(1, (int)expert - 127);
}

/* What each of 32 tokens has of each expert: the biased score. */
static double *golden_keys(struct tt_golden *golden, const struct tt_ring_core *ring)
{
	const struct tt_array *in = tt_golden_in(golden, "input_tensor");
	const struct tt_array *weight = tt_golden_in(golden, "w_tensor");
	double *keys = tt_arena_calloc(golden->arena, 32 * 256, sizeof(*keys));

	for (uint64_t e = 0; keys && e < 256; e++) {
		for (uint64_t k = 0; k < 7168; k++) {
			double factor = gate_weight(weight, ring, k, e);

			uint64_t copy = golden_copy(golden, ring[gate_place(k, e)].core);

			for (uint64_t m = 0; m < 32 && factor != 0; m++)
				keys[m * 256 + e] += *tt_at(in, (copy + m) * 7168 + k) * factor;
		}
		for (uint64_t m = 0; m < 32; m++) {
			double score = tt_golden_bf16(1 / (1 + exp(-keys[m * 256 + e])));

			keys[m * 256 + e] =
				tt_golden_bf16(score + gate_weight(weight, ring, 7168, e));
		}
	}
	return keys;
}

static tt_status gate_golden(struct tt_golden *golden)
{
	const struct tt_array *in = tt_golden_in(golden, "input_tensor");
	const struct tt_array *weight = tt_golden_in(golden, "w_tensor");
	const struct tt_array *given = tt_golden_in(golden, "output_tensor");
	struct tt_ring_core ring[TT_RING_MOST];
	struct tt_array *out;
	int64_t part;
	double *keys;

	TT_GOLDEN_NEED(in && weight && given && given->shape.rank == 2);
	TT_TRY(golden_ring(ring, golden));
	out = tt_golden_out(golden, &given->shape, given->dtype);
	TT_GOLDEN_NEED(out);
	for (uint64_t i = 0; i < out->count; i++)
		*tt_at(out, i) = *tt_at(given, i);
	part = golden_part(golden, "output_tensor", ring[WAYS - 1].core);
	keys = golden_keys(golden, ring);
	TT_NEED_MEMORY(keys);
	for (uint64_t m = 0; m < 32 && part >= 0; m++) {
		double *own = &keys[m * 256];
		uint64_t column = (uint64_t)part * 32 + m;

		tt_golden_leave_groups(own);
		for (uint32_t e = 0; e < 256; e++) {
			uint64_t rank = tt_golden_rank(own, 256, e);

			if (rank >= 8)
				continue;
			*tt_at(out, rank * given->shape.dim[1] + column) = own[e];
			*tt_at(out, (8 + rank) * given->shape.dim[1] + column) = bits_as_number(e);
		}
	}
	return TTNN_OK;
}

static const struct tt_prog *const last_programs[] = {&last_program, NULL};
static const struct tt_prog *const gate_programs[] = {&gate_program, NULL};
static const struct tt_op ops[] = {
	{.name = "ttnn.experimental.deepseek.mla.matmul_wo",
	 .family = "matmul_ring",
	 .doc = "Tokens times the weights of a layer that banks share, summed up on seven cores.",
	 .sigs = {"input_tensor: Tensor, *, w_tensor: Tensor, output_tensor: Tensor, layer_id: size"},
	 .expand = ring_expand,
	 .golden = last_golden,
	 .pcc = 0.99,
	 .row = last_programs,
	 .programs = last_programs},
	{.name = "ttnn.experimental.deepseek.moe.moe_gate_mm",
	 .family = "matmul_ring",
	 .doc = "Scores of 256 experts for 32 tokens and their choice, in one tile.",
	 .sigs = {"input_tensor: Tensor, *, w_tensor: Tensor, output_tensor: Tensor, layer_id: size, "
		  "column_id: size"},
	 .expand = ring_expand,
	 .golden = gate_golden,
	 .pcc = 0.99,
	 .row = gate_programs,
	 .programs = gate_programs},
};

const struct tt_op_family tt_family_matmul_ring = {"matmul_ring", ops, TT_COUNT(ops)};
