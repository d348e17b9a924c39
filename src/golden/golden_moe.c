/* golden_moe.c: see golden_moe.h. Weights are read where the ring's cores have them, a token's sums are added up one by one. */
#include "golden/golden_moe.h"

#include <math.h>

#include "device/device.h"
#include "device/devtensor.h"
#include "golden/golden_experts.h"
#include "golden/golden_mesh.h"
#include "tensor/bf16.h"
#include "tensor/layout.h"

#define CORES 12u
#define TILE 32u
#define EXTENT 2880u
#define ROWS (EXTENT + TILE) /* of packed weights: the last tile is the bias */
#define ENDS UINT32_MAX

/* The tiles of a core of the ring, and which is its first. */
static const uint32_t tiles_of[CORES] = {8, 8, 7, 7, 8, 8, 7, 7, 8, 8, 7, 7};
static const uint32_t start_of[CORES] = {0, 8, 16, 23, 30, 38, 46, 53, 60, 68, 76, 83};

/* Packed weights: tens of millions of numbers of four bits, which float32 holds as they are. */
struct packed {
	struct ttnn_shape shape;
	float *data;
};

struct layer {
	const struct tt_array *in, *ids, *scores, *mapping;
	struct packed first, back;
	uint64_t tokens, experts, k, all;
	uint64_t chip;       /* whose experts they are */
	uint64_t cols, each; /* chips in a row of the mesh; tokens of each chip along the axis */
	bool along;
	bool all_sent;  /* also tokens whose choices are all the same */
	uint64_t lines; /* of `active` */
	struct tt_array *counts, *active, *maps, *tiles, *rows;
};

/* One row of 128 packed numbers, of the n-th column group of a core. */
static const float *packed(const struct packed *weights, uint64_t core, uint64_t expert,
			   uint64_t group, uint64_t row)
{
	const uint32_t *dim = weights->shape.dim;
	uint64_t at = core * dim[1] * dim[2] + expert;

	if (((at * dim[3] + group) * dim[4] + row + 1) * dim[5] > tt_shape_count(&weights->shape))
		tt_array_stray();
	return weights->data + ((at * dim[3] + group) * dim[4] + row) * dim[5];
}

static tt_status read_packed(struct packed *out, struct tt_golden *golden, const char *name)
{
	struct tt_tensor *tensor = tt_golden_tensor(golden, name), *resident;
	struct tt_area rows, area;
	tt_status status;

	out->shape = tensor->spec.shape;
	TT_GOLDEN_NEED(out->shape.rank == 6 && out->shape.dim[0] == CORES);
	out->data = tt_arena_calloc(golden->arena, tt_shape_count(&out->shape), sizeof(float));
	TT_GOLDEN_NEED(out->data);
	TT_TRY(tt_tensor_resident(&resident, tensor, 0, TT_BUFFER_READ));
	rows = tt_area_rows(out->data, &out->shape, TTNN_FLOAT32);
	area = tt_area_of(resident->storage->data, &tensor->spec);
	status = tt_layout_copy(&rows, &area, NULL);
	ttnn_tensor_unref(resident);
	return status;
}

/* What a core of the ring makes of a token with one group of gate and up. */
static void half_of(double *between, const struct layer *layer, uint64_t token, uint64_t expert,
		    uint64_t core)
{
	for (uint64_t group = 0; group < 4; group++) {
		double sums[128] = {0};

		for (uint64_t k = 0; k < ROWS; k++) {
			double x = k < EXTENT ? *tt_at(layer->in, token * EXTENT + k) : 1;
			const float *row = packed(&layer->first, core, expert, group, k);

			for (uint64_t c = 0; c < 128 && x != 0; c++)
				sums[c] += x * row[c];
		}
		for (uint64_t c = 0; c < 64 && 2 * group + c / TILE < tiles_of[core]; c++) {
			double gate = fmin(sums[c / TILE * 64 + c % TILE], 7);
			double up = sums[c / TILE * 64 + TILE + c % TILE];

			up = fmax(fmin(up, 7), -7) + 1;
			between[(start_of[core] + 2 * group) * TILE + c] =
				up * gate / (1 + exp(-1.702 * gate));
		}
	}
}

/* Rows of down begin with those that its core made itself, then those of the cores before it. */
static void whole_of(double *out, const struct layer *layer, const double *between, uint64_t expert,
		     uint64_t core)
{
	for (uint64_t group = 0; group < 2; group++) {
		double sums[128] = {0};
		uint64_t row = 0;

		for (uint64_t step = 0; step <= CORES; step++) {
			uint64_t from = (core + CORES - step) % CORES;
			uint64_t count = step < CORES ? tiles_of[from] * TILE : TILE;

			for (uint64_t i = 0; i < count; i++, row++) {
				double x = step < CORES ? between[start_of[from] * TILE + i] : 1;
				const float *weight =
					packed(&layer->back, core, expert, group, row);

				for (uint64_t c = 0; c < 128; c++)
					sums[c] += x * weight[c];
			}
		}
		for (uint64_t c = 0; c < 128 && 4 * group + c / TILE < tiles_of[core]; c++)
			out[(start_of[core] + 4 * group) * TILE + c] = sums[c];
	}
}

/* A chip's experts are numbered in order; `seen` is the chip in whose eyes they are its own. */
static bool owns(const struct layer *layer, uint64_t seen, uint64_t expert)
{
	uint64_t row = layer->mapping->count > layer->all ? seen : 0;

	return *tt_at(layer->mapping, row * layer->all + expert) == (double)layer->chip;
}

static uint64_t place_of(const struct layer *layer, uint64_t expert)
{
	uint64_t place = 0;

	for (uint64_t i = 0; i < expert; i++)
		place += owns(layer, layer->chip, i);
	return place;
}

/* A token whose choices are all the same was not sent to anybody. */
static bool was_sent(const struct layer *layer, const double *ids)
{
	for (uint64_t i = 1; i < layer->k; i++)
		if (ids[i] != ids[0])
			return true;
	return layer->k == 1;
}

/* Numbers of a token's row: its choices and scores. */
static void tell_token(struct layer *layer, uint64_t token, uint64_t *found, uint64_t words)
{
	uint64_t source = token / layer->each * (layer->along ? 1 : layer->cols);
	const double *ids = tt_array_span(layer->ids, token * layer->k, layer->k);
	double *row = tt_array_span(layer->active, *found * words, words), *count, *map;
	bool any = false;

	for (uint64_t i = 0; i < layer->k && (layer->all_sent || was_sent(layer, ids)); i++) {
		uint64_t expert = (uint64_t)ids[i], place = place_of(layer, expert);

		if (!owns(layer, source, expert) || !owns(layer, layer->chip, expert))
			continue;
		any = true;
		row[0] = (double)token;
		row[1 + place] = (double)i;
		row[1 + layer->experts + place] =
			tt_bf16_store((float)*tt_at(layer->scores, token * layer->k + i));
		count = tt_at(layer->counts, place);
		map = tt_array_span(layer->maps,
				    (place * (layer->tokens + 1) + (uint64_t)*count) * 4, 2);
		map[0] = (double)token;
		map[1] = layer->all_sent ? (double)i : 0;
		++*count;
	}
	*found += any;
}

static void tell_all(struct layer *layer)
{
	uint64_t words = layer->active->count / layer->lines, found = 0;

	for (uint64_t t = 0; t < layer->lines; t++)
		for (uint64_t e = 0; e < layer->experts; e++)
			*tt_at(layer->active, t * words + 1 + e) = (double)layer->k + 1;
	for (uint64_t t = 0; t < layer->tokens; t++)
		tell_token(layer, t, &found, words);
	if (found < layer->lines)
		*tt_at(layer->active, found * words) = ENDS;
	for (uint64_t i = (found + 1) * words; i < layer->active->count; i++)
		*tt_at(layer->active, i) = 0;
	for (uint64_t e = 0; e < layer->experts; e++)
		*tt_at(layer->maps,
		       (e * (layer->tokens + 1) + (uint64_t)*tt_at(layer->counts, e)) * 4) = ENDS;
}

/* The same bytes of a core as tiles of two by two faces. */
static void as_tiles(const struct layer *layer, uint64_t shard)
{
	uint64_t size = 2 * TILE * (uint64_t)layer->rows->shape.dim[3];
	uint64_t across = layer->rows->shape.dim[3] / TILE;

	for (uint64_t i = 0; i < size; i++) {
		uint64_t tile = i / 1024, face = i / 256 % 4, row = i / 16 % 16, col = i % 16;

		row += tile / across * TILE + face / 2 * 16;
		col += tile % across * TILE + face % 2 * 16;
		*tt_at(layer->tiles, shard * size + row * across * TILE + col) =
			*tt_at(layer->rows, shard * size + i);
	}
}

/* Where cores collect: the first rectangle beside the ring, on a grid of eight columns it begins in the second. */
struct collectors {
	uint64_t high, wide, grid, x, y;
};

static void work_on(struct layer *layer, const struct collectors *on, double *between, double *made)
{
	uint64_t width = layer->rows->shape.dim[3], part = width / TILE / on->wide * TILE;
	uint64_t block = layer->tokens / on->high * part;

	for (uint64_t e = 0; e < layer->experts; e++) {
		uint64_t count = (uint64_t)*tt_at(layer->counts, e), i = 0;

		for (uint64_t row = 0; row < on->high; row++)
			for (uint64_t n = 0; n < count / on->high + (row < count % on->high);
			     n++, i++) {
				uint64_t token = (uint64_t)*tt_at(
					layer->maps, (e * (layer->tokens + 1) + i) * 4);

				for (uint64_t core = 0; core < CORES; core++)
					half_of(between, layer, token, e, core);
				for (uint64_t core = 0; core < CORES; core++)
					whole_of(made, layer, between, e, core);
				for (uint64_t c = 0; c < EXTENT && c / part < on->wide; c++)
					*tt_at(layer->rows,
					       ((on->y + row) * on->grid + on->x + c / part) * 2 *
							       TILE * width +
						       e * block + n * part + c % part) = made[c];
			}
	}
	for (uint64_t shard = 0; shard < layer->rows->shape.dim[0]; shard++)
		as_tiles(layer, shard);
}

/* The results, by the tokens and the grid. */
static tt_status make_results(struct layer *layer, struct tt_golden *golden,
			      const struct tt_device *device)
{
	uint32_t cores = device->info.compute_grid.x * device->info.compute_grid.y;
	uint32_t width = (uint32_t)tt_call_int(&golden->call, "hidden_size", EXTENT);
	uint32_t experts = (uint32_t)layer->experts, tokens = (uint32_t)layer->tokens + 1;
	struct ttnn_shape shape = {4, {cores, 2, TILE, width}};

	layer->counts = tt_golden_out(golden, &(struct ttnn_shape){2, {1, (experts + 3) / 4 * 4}},
				      TTNN_UINT32);
	layer->active = tt_golden_out(
		golden, &(struct ttnn_shape){2, {1, tokens * ((2 * experts + 4) / 4 * 4)}},
		TTNN_UINT32);
	layer->maps =
		tt_golden_out(golden, &(struct ttnn_shape){2, {experts, tokens * 4}}, TTNN_UINT32);
	layer->tiles = tt_golden_out(golden, &shape, TTNN_BFLOAT16);
	layer->rows = tt_golden_out(golden, &shape, TTNN_BFLOAT16);
	TT_GOLDEN_NEED(layer->counts && layer->active && layer->maps && layer->tiles &&
		       layer->rows);
	return TTNN_OK;
}

tt_status tt_golden_moe_gpt(struct tt_golden *golden)
{
	static const char *const names[] = {"input_tensor", "expert_indices", "expert_scores",
					    "expert_mapping"};
	const struct tt_device *device = tt_golden_device(golden, names[0]);
	const struct tt_array *in[4];
	struct collectors on = {.x = 1};
	struct layer layer;
	double *between, *made;

	for (size_t i = 0; i < 4; i++) {
		in[i] = tt_golden_in(golden, names[i]);
		TT_GOLDEN_NEED(in[i]);
	}
	TT_GOLDEN_NEED(device);
	layer = (struct layer){.in = in[0], .ids = in[1], .scores = in[2], .mapping = in[3]};
	TT_TRY(read_packed(&layer.first, golden, "w0_w1_tensor"));
	TT_TRY(read_packed(&layer.back, golden, "w2_tensor"));
	layer.tokens = in[0]->shape.dim[0], layer.experts = layer.first.shape.dim[2];
	layer.k = tt_shape_last(&in[1]->shape, 1), layer.all = tt_shape_last(&in[3]->shape, 1);
	layer.cols = device->cols;
	layer.along = tt_call_int(&golden->call, "cluster_axis", 0) == 1;
	layer.each = layer.tokens / (layer.along ? device->cols : device->rows);
	on.high = (uint64_t)tt_call_int(&golden->call, "output_height_shard_dim", 4);
	on.wide = (uint64_t)tt_call_int(&golden->call, "output_width_shard_dim", 3);
	on.grid = device->info.compute_grid.x;
	layer.lines = layer.tokens + 1;
	golden->first_chip = true;
	TT_GOLDEN_NEED(layer.each && layer.k && on.high && on.wide);
	TT_TRY(make_results(&layer, golden, device));
	between = tt_arena_calloc(golden->arena, EXTENT, sizeof(*between));
	made = tt_arena_calloc(golden->arena, EXTENT, sizeof(*made));
	TT_GOLDEN_NEED(between && made);
	tell_all(&layer);
	work_on(&layer, &on, between, made);
	return TTNN_OK;
}

/* ---- moe_compute ------------------------------------------------------------------------------------------------- */

struct compute {
	struct layer layer;
	struct tt_golden_expert expert;
	const struct tt_array *weights[2];
	struct tt_array *back; /* rows of tokens, as choices; NULL for none */
	int64_t activation;
	double limit;
	struct collectors on;
	uint64_t deep,
		parts; /* cores in a column of those that collect; into which a token's columns are cut */
	uint64_t shared, across; /* last experts that so many chips share */
	bool rows;               /* whether cores that collect get anything */
	double *between, *made;
};

/* What an expert does between its products. */
static double activate(const struct compute *compute, double gate, double up)
{
	switch (compute->activation) {
	case 1:
		gate = fmin(gate, 7);
		return (fmax(fmin(up, 7), -7) + 1) * gate / (1 + exp(-1.702 * gate));
	case 2:
		return up * gate *
		       (1 - 1 / (1 + exp(2 * sqrt(2 / 3.14159265358979323846) *
					 (gate + 0.044715 * pow(gate, 3)))));
	case 3:
		gate = fmin(gate, compute->limit);
		up = fmax(fmin(up, compute->limit), -compute->limit);
		break;
	default:
		break;
	}
	return up * gate / (1 + exp(-gate));
}

static void work_token(const struct compute *compute, uint64_t token)
{
	const struct tt_golden_expert *expert = &compute->expert;
	int64_t in = expert->in, between = expert->between;

	for (int64_t n = 0; n < between; n++) {
		double sums[2];

		for (int i = 0; i < 2; i++) {
			sums[i] = expert->first[i][in * between + n];
			for (int64_t k = 0; k < in; k++)
				sums[i] += expert->first[i][k * between + n] *
					   *tt_at(compute->layer.in,
						  token * (uint64_t)in + (uint64_t)k);
		}
		compute->between[n] = activate(compute, sums[0], sums[1]);
	}
	for (int64_t k = 0; k < in; k++) {
		compute->made[k] = expert->back[between * in + k];
		for (int64_t n = 0; n < between; n++)
			compute->made[k] += compute->between[n] * expert->back[n * in + k];
	}
}

/* Where the n-th token of a row of cores goes. */
static void collect(const struct compute *compute, uint64_t half, uint64_t row, uint64_t n)
{
	uint64_t width = (uint64_t)compute->expert.in, part = width / compute->parts;

	for (uint64_t c = 0; c < width && compute->rows; c++) {
		uint64_t core = row * compute->parts + c / part;
		uint64_t x = compute->on.x + core / compute->deep,
			 y = compute->on.y + core % compute->deep;

		*tt_at(compute->layer.rows, ((y * compute->on.grid + x) * 2 + half) * TILE * width +
						    n * part + c % part) = compute->made[c];
	}
}

static void unpack(struct compute *compute, uint64_t e)
{
	struct tt_golden_expert *expert = &compute->expert;
	int64_t size = (expert->in + 1) * (expert->between + 1);

	for (int64_t i = 0; i < size; i++)
		expert->first[0][i] = expert->first[1][i] = expert->back[i] = 0;
	expert->expert = (int64_t)e;
	expert->parts =
		e + compute->shared >= compute->layer.experts ? (int64_t)compute->across : 0;
	tt_golden_unpack_expert(expert, compute->weights[0], compute->weights[1]);
}

/* What an expert of the first chip makes of its tokens, on the cores that collect. */
static void work_expert(struct compute *compute, uint64_t e)
{
	struct layer *layer = &compute->layer;
	uint64_t count = (uint64_t)*tt_at(layer->counts, e), row = 0, n = 0;

	unpack(compute, e);
	for (uint64_t i = 0; i < count; i++, n++) {
		if (n == count / compute->on.high + (row < count % compute->on.high))
			row++, n = 0;
		work_token(compute,
			   (uint64_t)*tt_at(layer->maps, (e * (layer->tokens + 1) + i) * 4));
		collect(compute, e % 2, row, n);
	}
}

/* Whether a later choice of a token is the same one: cores that combine know the last. */
static bool is_again(const struct compute *compute, const double *ids, uint64_t k)
{
	for (uint64_t i = k + 1; i < compute->layer.k && compute->rows; i++)
		if (ids[i] == ids[k])
			return true;
	return false;
}

/* What an expert of any chip makes of the first one's tokens. */
static void give_back(struct compute *compute, uint64_t e)
{
	struct layer *layer = &compute->layer;
	uint64_t each = compute->back->shape.dim[1], width = (uint64_t)compute->expert.in;

	unpack(compute, e);
	for (uint64_t i = 0; i < each * layer->k; i++) {
		uint64_t token = i / layer->k, k = i % layer->k;
		const double *ids = tt_array_span(layer->ids, token * layer->k, layer->k);
		uint64_t id = (uint64_t)ids[k];

		if (!owns(layer, 0, id) || !owns(layer, layer->chip, id) ||
		    place_of(layer, id) != e || is_again(compute, ids, k))
			continue;
		work_token(compute, token);
		for (uint64_t c = 0; c < width; c++)
			*tt_at(compute->back, (k * each + token) * width + c) = compute->made[c];
	}
}

/* The results, by the tokens and the grid; and where the cores are that collect, on a grid of eight by eight. */
static tt_status make_compute(struct compute *compute, struct tt_golden *golden,
			      const struct tt_device *device)
{
	struct layer *layer = &compute->layer;
	uint32_t cores = device->info.compute_grid.x * device->info.compute_grid.y;
	uint32_t experts = (uint32_t)layer->experts, tokens = (uint32_t)layer->tokens;
	uint32_t width = (uint32_t)compute->expert.in;
	struct ttnn_shape shape = {4, {cores, 2, TILE, width}};
	uint64_t collecting = compute->on.high * compute->parts;
	const struct tt_array *before = tt_golden_mesh_in(golden, "optional_output_tensor", 0);

	TT_GOLDEN_NEED(collecting && ((device->info.compute_grid.x == 8 &&
				       (collecting <= 12 || collecting == 16)) ||
				      !compute->rows));
	compute->on.x = collecting <= 12 ? 6 : 0;
	compute->on.y = collecting <= 12 ? 0 : 2;
	compute->deep = collecting == 16 ? 2 : collecting == 1 ? 1 : collecting / 2;
	layer->counts = tt_golden_out(
		golden, &(struct ttnn_shape){2, {cores, (experts + 3) / 4 * 4}}, TTNN_UINT32);
	layer->active = tt_golden_out(
		golden, &(struct ttnn_shape){2, {1, tokens * ((2 * experts + 4) / 4 * 4)}},
		TTNN_UINT32);
	layer->maps = tt_golden_out(golden, &(struct ttnn_shape){2, {experts, (tokens + 1) * 4}},
				    TTNN_UINT32);
	layer->tiles = tt_golden_out(golden, &shape, TTNN_BFLOAT16);
	layer->rows = tt_golden_out(golden, &shape, TTNN_BFLOAT16);
	TT_GOLDEN_NEED(layer->counts && layer->active && layer->maps && layer->tiles &&
		       layer->rows);
	if (tt_call_arg(&golden->call, "compute_only")->integer)
		return TTNN_OK;
	shape = before ? before->shape
		       : (struct ttnn_shape){3, {(uint32_t)layer->k, (uint32_t)layer->each, width}};
	TT_GOLDEN_NEED(shape.rank == 3 && shape.dim[1] == layer->each);
	compute->back = tt_golden_out(golden, &shape, TTNN_BFLOAT16);
	TT_GOLDEN_NEED(compute->back);
	for (uint64_t i = 0; before && i < before->count; i++)
		*tt_at(compute->back, i) = *tt_at(before, i);
	return TTNN_OK;
}

static tt_status make_room(struct compute *compute, struct tt_golden *golden)
{
	uint64_t size = (uint64_t)((compute->expert.in + 1) * (compute->expert.between + 1));
	double *room = tt_arena_calloc(golden->arena, size * 4, sizeof(*room));

	TT_GOLDEN_NEED(room);
	compute->expert.first[0] = room;
	compute->expert.first[1] = room + size;
	compute->expert.back = room + 2 * size;
	compute->made = room + 3 * size;
	compute->between = compute->made + compute->expert.in;
	return TTNN_OK;
}

static const char *const compute_names[] = {
	"tilize_input_tensor",         "tilize_expert_indices_tensor",
	"tilize_expert_scores_tensor", "tilize_expert_mapping_tensor",
	"matmul_w0_w1_tensor",         "matmul_w2_tensor"};

/* What a chip has of the arguments. */
static tt_status take_chip(struct compute *compute, struct tt_golden *golden, uint32_t chip)
{
	struct layer *layer = &compute->layer;
	const struct tt_array *in[6];

	for (size_t i = 0; i < 6; i++) {
		in[i] = tt_golden_mesh_in(golden, compute_names[i], chip);
		TT_GOLDEN_NEED(in[i]);
	}
	TT_GOLDEN_NEED(in[4]->shape.rank == 6 && in[0]->shape.rank == 3);
	layer->chip = chip;
	layer->in = in[0], layer->ids = in[1], layer->scores = in[2], layer->mapping = in[3];
	compute->weights[0] = in[4];
	compute->weights[1] = in[5];
	return TTNN_OK;
}

/* Extents, and which chips the tokens come from. */
static tt_status read_call(struct compute *compute, struct tt_golden *golden,
			   const struct tt_device *device)
{
	const struct tt_call *call = &golden->call;
	const struct ttnn_value *kind = tt_call_arg(call, "activation_type");
	const struct tt_array *weights = compute->weights[0];
	struct layer *layer = &compute->layer;
	uint32_t chips;

	layer->along = tt_call_int(call, "cluster_axis", 1) != 0;
	layer->cols = device->cols, layer->all_sent = true;
	chips = layer->along ? device->cols : device->rows;
	layer->tokens = layer->lines = (uint64_t)layer->in->shape.dim[0] * layer->in->shape.dim[1];
	layer->each = layer->tokens / chips;
	layer->experts = weights->shape.dim[2];
	layer->k = tt_shape_last(&layer->ids->shape, 1);
	layer->all = tt_shape_last(&layer->mapping->shape, 1);
	TT_GOLDEN_NEED(layer->each && layer->each * chips == layer->tokens);
	compute->expert =
		(struct tt_golden_expert){.in = layer->in->shape.dim[2],
					  .between = tt_call_int(call, "intermediate_size", 0),
					  .layers = weights->shape.dim[1],
					  .experts = weights->shape.dim[2],
					  .layer = tt_call_int(call, "layer_id", 0),
					  .cores = weights->shape.dim[0],
					  .bias = tt_call_arg(call, "has_bias")->integer};
	compute->activation = tt_value_given(kind) ? kind->integer : 0;
	compute->limit = tt_call_real(call, "activation_limit", 0);
	compute->shared = (uint64_t)tt_call_int(call, "num_shared_experts_per_device", 0);
	compute->across = layer->along ? device->rows : device->cols;
	if (chips == 1 || !tt_value_given(tt_call_arg(call, "cluster_axis")))
		compute->across = 1;
	compute->on.high = (uint64_t)tt_call_int(call, "output_height_shard_dim", 0);
	compute->rows = chips > 1 || !tt_value_given(tt_call_arg(call, "cluster_axis"));
	for (compute->parts = 4; compute->parts > 1; compute->parts--)
		if (compute->expert.in / TILE % (int64_t)compute->parts == 0)
			break;
	return TTNN_OK;
}

tt_status tt_golden_moe_compute(struct tt_golden *golden)
{
	const struct tt_device *device = tt_golden_device(golden, compute_names[0]);
	struct compute compute = {.on = {.grid = 8}};
	struct layer *layer = &compute.layer;
	struct tt_golden_mesh members;

	TT_GOLDEN_NEED(device);
	TT_TRY(tt_golden_mesh_find(&members, golden, compute_names[0]));
	golden->first_chip = true;
	TT_TRY(take_chip(&compute, golden, 0));
	TT_TRY(read_call(&compute, golden, device));
	TT_TRY(make_compute(&compute, golden, device));
	TT_TRY(make_room(&compute, golden));
	tell_all(layer);
	for (uint64_t e = 0; e < layer->experts && compute.rows; e++)
		work_expert(&compute, e);
	for (uint32_t m = 0; m < members.count && compute.back; m++) {
		TT_TRY(take_chip(&compute, golden, m * members.step));
		for (uint64_t e = 0; e < layer->experts; e++)
			give_back(&compute, e);
	}
	for (uint64_t i = 0; i < layer->counts->count; i++)
		*tt_at(layer->counts, i) = *tt_at(layer->counts, i % layer->counts->shape.dim[1]);
	for (uint64_t shard = 0; shard < layer->rows->shape.dim[0]; shard++)
		as_tiles(layer, shard);
	return TTNN_OK;
}
