/*
 * golden_experts.c: goldens of weights of experts. Each element of the result is looked up: from its place to the core, from the core
 * and the block to row and column.
 */
#include "golden/golden_experts.h"

#include <math.h>
#include <string.h>

#include "device/device.h"
#include "device/devtensor.h"

#define SIDE 32

/* ---- choice -------------------------------------------------------------------------------------------------------- */

double tt_golden_bf16(double number)
{
	float rounded = (float)number;
	uint32_t bits;

	memcpy(&bits, &rounded, sizeof(bits));
	bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000u;
	memcpy(&rounded, &bits, sizeof(bits));
	return (double)rounded;
}

uint32_t tt_golden_rank(const double *values, uint32_t count, uint32_t place)
{
	uint32_t rank = 0;

	for (uint32_t i = 0; i < count; i++)
		rank += i < place ? values[i] >= values[place] : values[i] > values[place];
	return rank;
}

void tt_golden_leave_groups(double *values)
{
	double sums[8] = {0};

	for (uint32_t e = 0; e < 256; e++)
		if (tt_golden_rank(&values[e / 32 * 32], 32, e % 32) < 2)
			sums[e / 32] += values[e];
	for (uint32_t g = 0; g < 8; g++)
		sums[g] = tt_golden_bf16(sums[g]);
	for (uint32_t e = 0; e < 256; e++)
		if (tt_golden_rank(sums, 8, e / 32) >= 4)
			values[e] = -INFINITY;
}

/* ---- places -------------------------------------------------------------------------------------------------------- */

/* What the reader of a core knows. */
struct place {
	int64_t cores, rows, columns; /* tiles of the weights, without bias */
	int64_t layers, experts;
	int64_t high, half_high; /* rows of tiles in a block four tiles wide, and two */
};

static tt_status place_of(struct place *out, struct tt_golden *golden, const char *name)
{
	const struct tt_call *call = &golden->call;
	struct tt_tensor *tensor = tt_call_tensor(call, name);
	const struct tt_device *device = tensor ? tt_tensor_device(tensor) : NULL;
	int64_t hidden = tt_call_int(call, "K", 0) / SIDE,
		between = tt_call_int(call, "N", 0) / SIDE;
	bool bias = tt_call_tensor(call, "tt_b0") || tt_call_tensor(call, "tt_b2");
	bool down = name[4] == '2', longer;

	TT_NEED(device, "%s: the golden needs tensors on a device", golden->op->name);
	longer = device->info.dram_banks == 8 && hidden == 80 && between == 20 && !bias;
	*out = (struct place){.cores = device->info.dram_banks,
			      .rows = down ? between : hidden,
			      .columns = down ? hidden : between,
			      .layers = tt_call_int(call, "L", 0),
			      .experts = tt_call_int(call, "E", 0),
			      .high = longer ? 10 : 7,
			      .half_high = longer ? 20 : 14};
	TT_NEED(out->cores > 0 && hidden > 0 && between > 0 && out->layers > 0 && out->experts > 0,
		"%s: nothing to pack", golden->op->name);
	return TTNN_OK;
}

/* Tiles of the cores before one: its share of the remainder comes as a line is drawn on a raster. */
static int64_t before(int64_t tiles, int64_t core, int64_t cores)
{
	int64_t more;

	cores = (int64_t)tt_divisor((uint64_t)cores);
	more = tiles % cores;
	return core * (tiles / cores) + (core && more ? 1 + (core - 1) * more / cores : 0);
}

static int64_t share(int64_t tiles, int64_t core, int64_t cores)
{
	return before(tiles, core + 1, cores) - before(tiles, core, cores);
}

static int64_t up(int64_t count, int64_t step)
{
	return (count + step - 1) / step;
}

/* Columns kept for a core. */
static int64_t kept(const struct place *place, int64_t core)
{
	int64_t most = up(place->columns, place->cores), alike = most < 4 ? 4 : up(most, 2) * 2;

	return most < alike ? share(place->columns, core, place->cores) : alike;
}

/* An element of weights [L, E, rows, columns], or of their bias behind the rows. */
static double weight_at(const struct tt_array *weights, const struct tt_array *bias,
			const int64_t at[4])
{
	int64_t rows = weights->shape.dim[2], columns = weights->shape.dim[3];
	int64_t expert = at[0] * weights->shape.dim[1] + at[1];

	if (at[2] < rows)
		return *tt_at(weights, (uint64_t)((expert * rows + at[2]) * columns + at[3]));
	if (at[2] == rows && bias)
		return *tt_at(bias, (uint64_t)(expert * columns + at[3]));
	return 0;
}

/* ---- gate and up ------------------------------------------------------------------------------------------------ */

/* Which core's block is `line`, counted in rows of tiles from the expert's first, and which line of the core's; false behind all. */
static bool core_of_line(int64_t *core, int64_t *line, const struct place *place, int64_t rows)
{
	for (*core = 0; *core < place->cores; ++*core) {
		int64_t columns = kept(place, *core);
		int64_t lines = columns / 2 * up(rows, place->high) * place->high +
				columns % 2 * up(rows, place->half_high) * place->high;

		if (*line < lines)
			return true;
		*line -= lines;
	}
	return false;
}

/* Row and column of tiles, and which weight, of the tile at a line of a core's and one of its four places. */
static bool gate_up_tile(int64_t tile[3], const struct place *place, const int64_t where[3],
			 int64_t rows)
{
	int64_t core = where[0], line = where[1], slot = where[2];
	int64_t high = up(rows, place->high) * place->high, pair = line / high;
	int64_t own = share(place->columns, core, place->cores), column;

	tile[2] = slot % 2;
	if (pair < kept(place, core) / 2) {
		tile[0] = line % high;
		column = pair * 2 + slot / 2;
	} else {
		tile[0] = (line - pair * high) * 2 + slot / 2;
		column = kept(place, core) - 1;
	}
	tile[1] = before(place->columns, core, place->cores) + column;
	return column < own;
}

tt_status tt_golden_pack_gate_up(struct tt_golden *golden)
{
	const struct tt_array *weights[2] = {tt_golden_in(golden, "tt_w0"),
					     tt_golden_in(golden, "tt_w1")};
	const struct tt_array *bias[2] = {tt_golden_in(golden, "tt_b0"),
					  tt_golden_in(golden, "tt_b1")};
	struct place place;
	struct tt_array *out;
	int64_t rows, blocks = 0, each, shape[6];
	bool alike = true;

	TT_TRY(place_of(&place, golden, "tt_w0"));
	TT_GOLDEN_NEED(weights[0] && weights[1] && weights[0]->shape.rank == 4);
	rows = place.rows + (bias[0] != NULL);
	for (int64_t core = 0; core < place.cores; core++) {
		blocks += kept(&place, core) / 2 * up(rows, place.high) +
			  kept(&place, core) % 2 * up(rows, place.half_high);
		alike = alike && kept(&place, core) == kept(&place, 0);
	}
	each = up(blocks, place.cores);
	alike = alike && kept(&place, 0) % 2 == 0 && place.high == 7;
	out = tt_golden_out(
		golden,
		&(struct ttnn_shape){
			6,
			{(uint32_t)place.cores, (uint32_t)place.layers, (uint32_t)place.experts,
			 (uint32_t)(alike ? kept(&place, 0) / 2 : each),
			 (uint32_t)((alike ? up(rows, place.high) : 1) * place.high * SIDE),
			 4 * SIDE}},
		weights[0]->dtype);
	TT_GOLDEN_NEED(out);
	for (int i = 0; i < 6; i++)
		shape[i] = out->shape.dim[i];
	for (uint64_t i = 0; i < out->count; i++) {
		int64_t column = (int64_t)i % shape[5], line = (int64_t)i / shape[5];
		int64_t in_bank = line % (shape[3] * shape[4]);
		int64_t expert = line / (shape[3] * shape[4]), core, tile[3];
		int64_t bank = expert / (place.layers * place.experts);
		int64_t at = (bank * shape[3] * shape[4] + in_bank) / SIDE;

		if (!core_of_line(&core, &at, &place, rows) ||
		    !gate_up_tile(tile, &place, (int64_t[]){core, at, column / SIDE}, rows))
			continue;
		*tt_at(out, i) = weight_at(weights[tile[2]], bias[tile[2]],
					   (int64_t[]){expert / place.experts % place.layers,
						       expert % place.experts,
						       tile[0] * SIDE + in_bank % SIDE,
						       tile[1] * SIDE + column % SIDE});
	}
	return TTNN_OK;
}

/* ---- down ---------------------------------------------------------------------------------------------------------- */

/* Columns of down of the cores before one. */
static int64_t before_down(const struct place *place, int64_t core)
{
	int64_t n = place->rows, k = place->columns, c = place->cores;

	if (n % c + k % c != c)
		return before(k, core, c);
	return core * (k / c) + core - (before(n, core, c) - core * (n / c));
}

/* Which row of tiles comes n-th to a core round the ring; -1 behind all. */
static int64_t nth_row(const struct place *place, int64_t core, int64_t n)
{
	for (int64_t i = 0; i < place->cores; i++) {
		int64_t from = (core - i + place->cores) % place->cores;

		if (n < share(place->rows, from, place->cores))
			return before(place->rows, from, place->cores) + n;
		n -= share(place->rows, from, place->cores);
	}
	return -1;
}

/* The element of down at a line and column of what a core reads of an expert. */
static void down_element(int64_t at[2], const struct place *place, const int64_t where[3],
			 const int64_t extents[3])
{
	int64_t core = where[0], line = where[1], column = where[2];
	int64_t groups = extents[0], high = extents[1] * SIDE, rows = extents[2];
	int64_t group = line / high, row = line % high, n;

	if (group >= groups) { /* two rows of tiles beside each other */
		row = (line - groups * high) / SIDE * 2 * SIDE + line % SIDE +
		      column / (2 * SIDE) * SIDE;
		column %= 2 * SIDE;
		group = groups;
	}
	column += group * 4 * SIDE;
	n = row / SIDE;
	at[0] = at[1] = -1;
	if (column >= (before_down(place, core + 1) - before_down(place, core)) * SIDE)
		return;
	at[1] = before_down(place, core) * SIDE + column;
	if (n < place->rows)
		at[0] = nth_row(place, core, n) * SIDE + row % SIDE;
	else if (n < rows)
		at[0] = row;
}

tt_status tt_golden_pack_down(struct tt_golden *golden)
{
	const struct tt_array *weights = tt_golden_in(golden, "tt_w2");
	const struct tt_array *bias = tt_golden_in(golden, "tt_b2");
	int64_t most, groups, high, rows, lines, experts;
	struct place place;
	struct tt_array *out;
	bool half;

	TT_TRY(place_of(&place, golden, "tt_w2"));
	TT_GOLDEN_NEED(weights && weights->shape.rank == 4);
	rows = place.rows + (bias != NULL);
	high = up(rows, place.high) * place.high;
	most = up(place.columns, place.cores);
	half = place.high != 7 && most % 4 && most % 4 <= 2;
	groups = up(most, 4) - half;
	lines = (groups * high + half * up(rows, place.half_high) * place.high) * SIDE;
	experts = place.layers * place.experts;
	out = tt_golden_out(
		golden,
		&(struct ttnn_shape){6,
				     {(uint32_t)place.cores, (uint32_t)place.layers,
				      (uint32_t)place.experts,
				      (uint32_t)(half ? lines / (place.high * SIDE) : groups),
				      (uint32_t)((half ? place.high : high) * SIDE), 4 * SIDE}},
		weights->dtype);
	TT_GOLDEN_NEED(out);
	for (uint64_t i = 0; i < out->count; i++) {
		int64_t line = (int64_t)i / (4 * SIDE), expert = line / lines % experts, at[2];

		down_element(
			at, &place,
			(int64_t[]){line / lines / experts, line % lines, (int64_t)i % (4 * SIDE)},
			(int64_t[]){groups, high, rows});
		if (at[0] >= 0 && at[1] >= 0)
			*tt_at(out, i) =
				weight_at(weights, bias,
					  (int64_t[]){expert / place.experts,
						      expert % place.experts, at[0], at[1]});
	}
	return TTNN_OK;
}

/* ---- back again ---------------------------------------------------------------------------------------------------- */

/* A matrix of weights with, or without, a row of bias behind it. */
struct unpacked {
	double *matrix;
	int64_t rows, columns;
	bool bias;
};

/* Adds a packed element to its row; all rows of a tile of bias to the last one. */
static void add_to(const struct unpacked *to, int64_t row, int64_t column, double value)
{
	if (row >= to->rows && (!to->bias || row >= to->rows + SIDE))
		return;
	row = row < to->rows ? row : to->rows;
	to->matrix[row * to->columns + column] += value;
}

/* The one shape whose blocks are of forty tiles. */
static bool has_longer_reads(const struct tt_golden_expert *expert)
{
	return expert->cores == 8 && expert->in == 80 * SIDE && expert->between == 20 * SIDE &&
	       !expert->bias;
}

static void unpack_up(struct tt_golden_expert *out, const struct tt_array *packed)
{
	bool longer = has_longer_reads(out);
	struct place place = {.cores = out->cores,
			      .rows = out->in / SIDE,
			      .columns = out->between / SIDE,
			      .high = longer ? 10 : 7,
			      .half_high = longer ? 20 : 14};
	struct unpacked to = {NULL, out->in, out->between, out->bias};
	int64_t rows = place.rows + out->bias, all = out->layers * out->experts;
	int64_t lines = (int64_t)packed->count / (4 * SIDE) / (all * out->cores), tile[3], core;

	for (int64_t bank = 0; bank < out->cores; bank++)
		for (int64_t i = 0; i < lines * 4 * SIDE; i++) {
			int64_t line = i / (4 * SIDE), column = i % (4 * SIDE);
			int64_t at = (bank * lines + line) / SIDE;
			int64_t from = bank * all + out->layer * out->experts + out->expert;

			if (!core_of_line(&core, &at, &place, rows) ||
			    !gate_up_tile(tile, &place, (int64_t[]){core, at, column / SIDE}, rows))
				continue;
			to.matrix = out->first[tile[2]];
			add_to(&to, tile[0] * SIDE + line % SIDE, tile[1] * SIDE + column % SIDE,
			       *tt_at(packed, (uint64_t)(from * lines * 4 * SIDE + i)));
		}
}

static void unpack_back(struct tt_golden_expert *out, const struct tt_array *packed)
{
	struct place place = {
		.cores = out->cores, .rows = out->between / SIDE, .columns = out->in / SIDE};
	const struct unpacked to = {out->back, out->between, out->in, out->bias};
	int64_t rows = (place.rows + out->bias) * SIDE, all = out->layers * out->experts, at[2];
	int64_t most = up(place.columns, place.cores), step = has_longer_reads(out) ? 10 : 7;
	int64_t high = up(place.rows + out->bias, step) * step;
	bool half = step == 10 && most % 4 && most % 4 <= 2;
	int64_t groups = up(most, 4) - half, lines = (groups * high + half * high / 2) * SIDE;

	for (int64_t core = 0; core < out->cores; core++)
		for (int64_t i = 0; i < lines * 4 * SIDE; i++) {
			int64_t from = core * all + out->layer * out->experts + out->expert;

			down_element(at, &place, (int64_t[]){core, i / (4 * SIDE), i % (4 * SIDE)},
				     (int64_t[]){groups, high, rows});
			if (at[0] >= 0 && at[1] >= 0)
				add_to(&to, at[0], at[1],
				       *tt_at(packed, (uint64_t)(from * lines * 4 * SIDE + i)));
		}
}

/* Of a shared expert a core reads its first columns alone, as many as the largest part has in pairs. */
static void leave_columns(struct tt_golden_expert *out)
{
	int64_t tiles = out->between / SIDE,
		most = up(up(up(tiles, out->parts), out->cores), 2) * 2;

	most = most < 4 ? 4 : most;
	for (int64_t core = 0; core < out->cores; core++) {
		int64_t first = (before(tiles, core, out->cores) + most) * SIDE;
		int64_t end = before(tiles, core + 1, out->cores) * SIDE;

		for (int64_t row = 0; row <= out->in; row++)
			for (int64_t column = first; column < end; column++)
				out->first[0][row * out->between + column] =
					out->first[1][row * out->between + column] = 0;
	}
}

void tt_golden_unpack_expert(struct tt_golden_expert *out, const struct tt_array *gate_up,
			     const struct tt_array *down)
{
	unpack_up(out, gate_up);
	unpack_back(out, down);
	if (out->parts)
		leave_columns(out);
}

/* ---- shared experts ---------------------------------------------------------------------------------------------- */

/* Experts of one weight: the chip's, then shared ones, of which it has the first of `parts` along the intermediate dimension. */
static tt_status append_shared(struct tt_golden *golden, const char *const names[2], uint32_t dim,
			       const int64_t cores_parts[2])
{
	const struct tt_array *routed = tt_golden_part(golden,
						       tt_call_tensor(&golden->call, names[0]), 0),
			      *shared = tt_golden_part(golden,
						       tt_call_tensor(&golden->call, names[1]), 0);
	struct ttnn_shape shape;
	struct tt_array *out;
	int64_t cores = cores_parts[0], tiles, own;

	TT_GOLDEN_NEED(routed && shared && routed->shape.rank == 4 && shared->shape.rank == 4);
	shape = routed->shape;
	shape.dim[1] += shared->shape.dim[1];
	out = tt_golden_out(golden, &shape, routed->dtype);
	TT_GOLDEN_NEED(out);
	tiles = shape.dim[dim] / SIDE;
	own = shared->shape.dim[dim] / SIDE / cores_parts[1];
	for (uint64_t i = 0; i < out->count; i++) {
		uint64_t at[TTNN_MAX_RANK];
		int64_t core = 0, tile;

		tt_array_coordinate(at, out, i);
		if (at[1] < routed->shape.dim[1]) {
			*tt_at(out, i) = *tt_at(routed, tt_array_index(routed, at));
			continue;
		}
		at[1] -= routed->shape.dim[1];
		tile = (int64_t)at[dim] / SIDE;
		while (core < cores && before(tiles, core + 1, cores) <= tile) {
			tt_golden_step();
			core++;
		}
		tt_divisor(core < cores);
		tile -= before(tiles, core, cores);
		if (tile >= share(own, core, cores))
			continue;
		at[dim] = (uint64_t)(before(own, core, cores) + tile) * SIDE + at[dim] % SIDE;
		*tt_at(out, i) = *tt_at(shared, tt_array_index(shared, at));
	}
	return TTNN_OK;
}

tt_status tt_golden_shared_experts(struct tt_golden *golden)
{
	static const char *const names[][2] = {
		{"routed_w0", "shared_w0"}, {"routed_w1", "shared_w1"}, {"routed_w2", "shared_w2"}};
	struct tt_tensor *first = tt_call_tensor(&golden->call, names[0][0]);
	const struct tt_device *device = first ? tt_tensor_device(first) : NULL;
	int64_t cores_parts[2];

	TT_NEED(device, "%s: the golden needs tensors on a device", golden->op->name);
	cores_parts[0] = device->info.dram_banks;
	cores_parts[1] =
		tt_call_int(&golden->call, "cluster_axis", 0) ? device->rows : device->cols;
	golden->first_chip = true;
	for (uint32_t i = 0; i < TT_COUNT(names); i++)
		TT_TRY(append_shared(golden, names[i], i < 2 ? 3 : 2, cores_parts));
	return TTNN_OK;
}

tt_status tt_golden_quantize_weights(struct tt_golden *golden)
{
	const struct tt_array *in = tt_golden_in(golden, "device_tensor");
	struct tt_array *out = in ? tt_golden_out(golden, &in->shape,
						  tt_call_dtype(&golden->call, "dtype", in->dtype))
				  : NULL;

	TT_GOLDEN_NEED(out);
	for (uint64_t i = 0; i < in->count; i++)
		*tt_at(out, i) = *tt_at(in, i);
	return TTNN_OK;
}
