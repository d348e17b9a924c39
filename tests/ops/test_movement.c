/*
 * operations that move values against their goldens: each row of the family is called with tensors of
 * many shapes, types, layouts and placements, and gives the golden's values exactly
 */
#include "test.h"

#include "event/value.h"
#include "golden.h"
#include "ops/golden_cases.h"
#include "tensor/shape.h"

#define CASES 64
#define EVERY_DTYPE (GOLDEN_FLOATS | GOLDEN_BLOCKS | GOLDEN_INTEGERS)
#define UNCUT (GOLDEN_BIT(GOLDEN_DRAM) | GOLDEN_BIT(GOLDEN_L1))
#define ROWS_ONLY GOLDEN_BIT(TTNN_ROW_MAJOR)

/* What a case is called with, and what that lives in. The first argument is the tensor x. */
struct given {
	struct ttnn_arg args[10];
	size_t count;
	struct ttnn_value items[4][8];
	size_t item_count;
	struct ttnn_shape shape;
	struct ttnn_spec_args spec; /* of x; where another tensor or placement is made of it */
	ttnn_tensor *more[2];       /* beside x */
	uint64_t state;
};

typedef void (*arguments_fn)(struct given *given, size_t n, ttnn_tensor *x);

static void add(struct given *given, const char *name, struct ttnn_value value)
{
	given->args[given->count++] = (struct ttnn_arg){name, value};
}

/* A list of numbers that the case keeps. */
static struct ttnn_value list(struct given *given, const int64_t *numbers, size_t count)
{
	struct ttnn_value *items = given->items[given->item_count++];

	for (size_t i = 0; i < count; i++)
		items[i] = ttnn_v_int(numbers[i]);
	return ttnn_v_list(items, count);
}

static uint32_t draw(struct given *given, uint32_t below)
{
	return (uint32_t)(test_random(&given->state) % below);
}

/* A dimension, at times counted from the end. */
static int64_t draw_dim(struct given *given, uint32_t rank)
{
	int64_t dim = draw(given, rank);

	return draw(given, 3) ? dim : dim - (int64_t)rank;
}

/* Now and then the result goes elsewhere. */
static void add_memory(struct given *given, size_t n)
{
	static const struct ttnn_memory_config dram = {0}, l1 = {.buffer = TTNN_L1};

	if (n % 5 == 4)
		add(given, "memory_config", ttnn_v_memory(n % 2 ? &dram : &l1));
}

static void none(struct given *given, size_t n, ttnn_tensor *x)
{
	(void)given;
	(void)n;
	(void)x;
}

/* ---- the same values ------------------------------------------------------------------------------- */

static void memory_only(struct given *given, size_t n, ttnn_tensor *x)
{
	(void)x;
	add_memory(given, n);
}

/* Another placement that fits x. */
static void place(struct given *given, const char *name, enum golden_place where)
{
	golden_put(&given->spec, where);
	add(given, name, ttnn_v_memory(&given->spec.memory));
}

static void any_place(struct given *given, size_t n, ttnn_tensor *x)
{
	(void)x;
	place(given, "memory_config", (enum golden_place)(n % GOLDEN_PLACES));
}

static void some_shards(struct given *given, size_t n, ttnn_tensor *x)
{
	(void)x;
	place(given, "sharded_memory_config", GOLDEN_HEIGHT + (enum golden_place)(n % 3));
}

/* One of so many slices as have whole tiles, on as many cores as it has tiles down, across, or 2 x 2. */
static void slice_in_shards(struct given *given, size_t n, ttnn_tensor *x)
{
	static const enum ttnn_memory_layout schemes[] = {TTNN_HEIGHT_SHARDED, TTNN_WIDTH_SHARDED,
							  TTNN_BLOCK_SHARDED};
	uint64_t tiles = x->spec.rows / 32;
	uint32_t slices = 1 + draw(given, 6), down, across;
	bool narrow = n % 3 == 0, flat = n % 3 == 1;

	while (tiles % slices)
		slices--;
	down = (uint32_t)tiles / slices * 32;
	across = (uint32_t)x->spec.cols;
	add(given, NULL, (struct ttnn_value){.kind = TTNN_VALUE_CORE, .core = {8, 8}});
	add(given, NULL,
	    list(given,
		 (int64_t[]){flat ? down : (down / 32 + 1) / 2 * 32,
			     narrow ? across : (across / 32 + 1) / 2 * 32},
		 2));
	add(given, NULL, ttnn_v_int(slices));
	add(given, NULL, ttnn_v_int(draw(given, slices)));
	add(given, NULL, tt_value_enum(&tt_enum_memory_layout, schemes[n % 3]));
	add(given, NULL, tt_value_enum(&tt_enum_orientation, TTNN_ORIENT_ROW_MAJOR));
	if (n % 4 == 3 && x->spec.dtype == TTNN_BFLOAT16)
		add(given, "output_dtype", ttnn_v_dtype(TTNN_FLOAT32));
}

/* Into a tensor of some such slices. */
static void slice_of_many(struct given *given, size_t n, ttnn_tensor *x)
{
	uint32_t slices = 1 + draw(given, 4), rank = x->spec.shape.rank;
	uint32_t width = x->spec.shape.dim[rank - 1];

	given->spec.shape = (struct ttnn_shape){4, {1, slices, (uint32_t)x->spec.rows, width}};
	golden_put(&given->spec, n % 2 ? GOLDEN_L1 : GOLDEN_DRAM);
	given->more[0] = golden_make(&given->spec, &given->state, -9, 9);
	add(given, NULL, ttnn_v_tensor(given->more[0]));
	add(given, NULL, ttnn_v_int(slices));
	add(given, NULL, ttnn_v_int(draw(given, slices)));
}

static void other_shards(struct given *given, size_t n, ttnn_tensor *x)
{
	(void)x;
	place(given, "output_memory_config", GOLDEN_HEIGHT + (enum golden_place)(n % 3));
}

static void any_layout(struct given *given, size_t n, ttnn_tensor *x)
{
	(void)x;
	add(given, NULL, ttnn_v_layout(n % 2 ? TTNN_TILE : TTNN_ROW_MAJOR));
	add_memory(given, n);
}

/* Into another tensor of the same kind. */
static void target(struct given *given, size_t n, ttnn_tensor *x)
{
	(void)x;
	if (n % 3 == 1)
		golden_put(&given->spec, GOLDEN_L1);
	given->more[0] = golden_make(&given->spec, &given->state, -9, 9);
	add(given, NULL, ttnn_v_tensor(given->more[0]));
}

static void target_or_memory(struct given *given, size_t n, ttnn_tensor *x)
{
	if (n % 2)
		any_place(given, n / 2, x);
	else
		target(given, n / 2, x);
}

static void fill_value(struct given *given, size_t n, ttnn_tensor *x)
{
	if (tt_dtype_is_integer(x->spec.dtype))
		add(given, NULL, ttnn_v_int((int64_t)n));
	else
		add(given, NULL, ttnn_v_real(1.5));
}

/* ---- other shapes ------------------------------------------------------------------------------------- */

/* Two neighbours in one, a dimension cut in two, or all in one. */
static void other_shape(struct given *given, size_t n, ttnn_tensor *x)
{
	const struct ttnn_shape *from = &x->spec.shape;
	int64_t dims[8];
	size_t count = 0;
	uint32_t at = draw(given, from->rank), cut = from->dim[at] % 2 ? 1 : 2;

	for (uint32_t d = 0; d < from->rank; d++) {
		bool joins = n % 3 == 0 && d && d == at;

		if (joins) {
			dims[count - 1] *= from->dim[d];
		} else if (n % 3 == 1 && d == at) {
			dims[count++] = from->dim[d] / cut;
			dims[count++] = cut;
		} else if (n % 3 == 2 && d) {
			dims[0] *= from->dim[d];
		} else {
			dims[count++] = from->dim[d];
		}
	}
	if (n % 4 == 3)
		dims[draw(given, (uint32_t)count)] = -1;
	add(given, NULL, list(given, dims, count));
}

/* The outer dimensions folded into the last but one: no element has to move. */
static void view_shape(struct given *given, size_t n, ttnn_tensor *x)
{
	const struct ttnn_shape *from = &x->spec.shape;
	int64_t dims[3] = {1, 1, 1};
	uint32_t last = from->rank - 1;

	for (uint32_t d = 0; d < last; d++)
		dims[n % 2] *= from->dim[d];
	dims[2] = from->dim[last];
	if (n % 2)
		add(given, NULL, list(given, dims + 1, 2));
	else
		add(given, NULL, list(given, (int64_t[]){dims[0], dims[2]}, 2));
}

/* The outer dimensions of a tensor in whole tiles folded together, or into the rows. */
static void raw_shape(struct given *given, size_t n, ttnn_tensor *x)
{
	const uint32_t *dim = x->spec.shape.dim;
	int64_t dims[] = {1, (int64_t)dim[0] * dim[1], dim[2], dim[3]};

	if (n % 4 < 2) {
		dims[2] *= dims[1];
		dims[1] = 1;
	}
	for (size_t i = 0; i < 4 && n % 2; i++)
		add(given, NULL, ttnn_v_int(dims[i]));
	if (n % 2 == 0)
		add(given, NULL, list(given, dims, 4));
}

static void squeezed(struct given *given, size_t n, ttnn_tensor *x)
{
	if (n % 3)
		add(given, NULL, ttnn_v_int(draw_dim(given, x->spec.shape.rank)));
}

static void one_more(struct given *given, size_t n, ttnn_tensor *x)
{
	(void)n;
	add(given, NULL, ttnn_v_int(draw_dim(given, x->spec.shape.rank + 1)));
}

static void another_order(struct given *given, size_t n, ttnn_tensor *x)
{
	uint32_t rank = x->spec.shape.rank;
	int64_t dims[8];

	for (uint32_t d = 0; d < rank; d++)
		dims[d] = d;
	for (uint32_t d = rank; d-- > 1;) {
		uint32_t other = draw(given, d + 1);
		int64_t kept = dims[d];

		dims[d] = dims[other];
		dims[other] = kept;
	}
	if (n % 6 == 5)
		dims[0] -= rank;
	add(given, NULL, list(given, dims, rank));
	add_memory(given, n);
}

static void two_dims(struct given *given, size_t n, ttnn_tensor *x)
{
	add(given, NULL, ttnn_v_int(draw_dim(given, x->spec.shape.rank)));
	add(given, NULL, ttnn_v_int(draw_dim(given, x->spec.shape.rank)));
	add_memory(given, n);
}

/* ---- parts ------------------------------------------------------------------------------------------------ */

/* From somewhere to somewhere behind it, along each dimension; whole tiles at times. */
static void draw_part(int64_t *begin, int64_t *end, struct given *given, ttnn_tensor *x, bool tiles)
{
	const struct ttnn_shape *shape = &x->spec.shape;

	for (uint32_t d = 0; d < shape->rank; d++) {
		uint32_t unit = tiles && d + 2 >= shape->rank && shape->dim[d] % 32 == 0 ? 32 : 1;
		uint32_t units = shape->dim[d] / unit, first = draw(given, units);

		begin[d] = first * unit;
		end[d] = begin[d] + (int64_t)(1 + draw(given, units - first)) * unit;
	}
}

static void part(struct given *given, size_t n, ttnn_tensor *x)
{
	uint32_t rank = x->spec.shape.rank;
	int64_t begin[8], end[8], step[8];

	draw_part(begin, end, given, x, n % 2);
	for (uint32_t d = 0; d < rank; d++)
		step[d] = 1 + draw(given, 3);
	add(given, NULL, list(given, begin, rank));
	add(given, NULL, list(given, end, rank));
	if (n % 4 == 2)
		add(given, NULL, list(given, step, rank));
	add_memory(given, n);
}

/* Up to and including an element. */
static void up_to(struct given *given, size_t n, ttnn_tensor *x)
{
	(void)n;
	given->shape = x->spec.shape;
	for (uint32_t d = 0; d < given->shape.rank; d++)
		given->shape.dim[d] =
			draw(given, 3) ? given->shape.dim[d] - 1 : draw(given, given->shape.dim[d]);
	add(given, NULL, ttnn_v_shape(&given->shape));
}

static void start_and_end(struct given *given, size_t n, ttnn_tensor *x)
{
	int64_t begin[8], end[8];

	(void)n;
	draw_part(begin, end, given, x, false);
	add(given, NULL, list(given, begin, x->spec.shape.rank));
	add(given, NULL, list(given, end, x->spec.shape.rank));
}

static void indices(struct given *given, size_t n, ttnn_tensor *x)
{
	uint32_t rank = x->spec.shape.rank, count = 1 + draw(given, rank);
	struct ttnn_value *items = given->items[3];
	static struct ttnn_value parts[8][2];
	int64_t begin[8], end[8];

	draw_part(begin, end, given, x, false);
	for (uint32_t i = 0; i < count; i++) {
		parts[i][0] = ttnn_v_int(begin[i]);
		parts[i][1] = ttnn_v_int(end[i]);
		items[i] = draw(given, 3) ? ttnn_v_list(parts[i], 2) : ttnn_v_int(begin[i]);
	}
	if (n % 5 == 3 && count < rank) {
		items[count] = ttnn_v_string("...");
		count++;
	}
	add(given, NULL, ttnn_v_list(items, count));
}

static void pieces(struct given *given, size_t n, ttnn_tensor *x)
{
	const struct ttnn_shape *shape = &x->spec.shape;
	uint32_t dim = draw(given, shape->rank), extent = shape->dim[dim];
	uint32_t first = 1 + draw(given, extent);

	if (n % 2 && first < extent)
		add(given, NULL, list(given, (int64_t[]){first, extent - first}, 2));
	else
		add(given, NULL, ttnn_v_int(extent > 1 ? (extent + 1) / 2 : 1));
	add(given, NULL, ttnn_v_int(dim));
}

static void in_parts(struct given *given, size_t n, ttnn_tensor *x)
{
	add(given, NULL, ttnn_v_int(1 + (int64_t)n % 3));
	add(given, NULL, ttnn_v_int(draw_dim(given, x->spec.shape.rank)));
}

/* ---- joined, repeated, padded --------------------------------------------------------------------------------- */

/* Two or three tensors that differ in one dimension. */
static void join(struct given *given, size_t n, ttnn_tensor *x, bool same, int64_t dim)
{
	uint32_t at = (uint32_t)(dim < 0 ? dim + x->spec.shape.rank : dim);
	size_t count = 1 + n % 2;

	given->items[3][0] = ttnn_v_tensor(x);
	for (size_t i = 0; i < count; i++) {
		if (!same && draw(given, 2)) {
			given->spec.shape.dim[at] = 1 + draw(given, 70);
			golden_put(&given->spec, GOLDEN_DRAM);
		}
		given->more[i] = golden_make(&given->spec, &given->state, -9, 9);
		given->items[3][i + 1] = ttnn_v_tensor(given->more[i]);
	}
	given->count = 0;
	add(given, NULL, ttnn_v_list(given->items[3], count + 1));
	add(given, NULL, ttnn_v_int(dim));
}

static void joined(struct given *given, size_t n, ttnn_tensor *x)
{
	join(given, n, x, n % 3 == 0, draw_dim(given, x->spec.shape.rank));
	add_memory(given, n);
}

static void stacked(struct given *given, size_t n, ttnn_tensor *x)
{
	join(given, n, x, true, draw_dim(given, x->spec.shape.rank + 1));
}

static void times(struct given *given, size_t n, ttnn_tensor *x)
{
	int64_t counts[8];

	for (uint32_t d = 0; d < x->spec.shape.rank; d++)
		counts[d] = 1 + (draw(given, 2) ? 0 : draw(given, 3));
	add(given, NULL, list(given, counts, x->spec.shape.rank));
	add_memory(given, n);
}

static void each_times(struct given *given, size_t n, ttnn_tensor *x)
{
	add(given, NULL, ttnn_v_int(1 + (int64_t)n % 4));
	add(given, NULL, ttnn_v_int(draw_dim(given, x->spec.shape.rank)));
}

/* Dimensions of extent 1 grow; others stay, by their extent or by -1. */
static void wider(struct given *given, size_t n, ttnn_tensor *x)
{
	const struct ttnn_shape *shape = &x->spec.shape;
	int64_t dims[8];
	size_t count = 0;

	if (n % 4 == 3 && shape->rank < 5)
		dims[count++] = 2;
	for (uint32_t d = 0; d < shape->rank; d++)
		dims[count++] = shape->dim[d] == 1 ? 1 + (int64_t)draw(given, 5)
				: draw(given, 4)   ? (int64_t)shape->dim[d]
						   : -1;
	add(given, NULL, list(given, dims, count));
}

/* The same, in at most four dimensions and without -1. */
static void broadcast(struct given *given, size_t n, ttnn_tensor *x)
{
	const struct ttnn_shape *shape = &x->spec.shape;
	int64_t dims[8];
	size_t count = 0;

	if (n % 4 == 3 && shape->rank < 4)
		dims[count++] = 2;
	for (uint32_t d = 0; d < shape->rank; d++)
		dims[count++] = shape->dim[d] == 1 ? 1 + (int64_t)draw(given, 5) : shape->dim[d];
	add(given, NULL, list(given, dims, count));
}

/* A larger tensor that takes this one somewhere, every second element perhaps. */
static void slice_of_another(struct given *given, size_t n, ttnn_tensor *x)
{
	uint32_t rank = x->spec.shape.rank;
	int64_t start[8], end[8], step[8];

	for (uint32_t d = 0; d < rank; d++) {
		start[d] = draw(given, 4);
		step[d] = 1 + (n % 3 == 2 && draw(given, 2));
		end[d] = start[d] + (x->spec.shape.dim[d] - 1) * step[d] + 1;
		given->spec.shape.dim[d] = (uint32_t)end[d] + draw(given, 3);
	}
	golden_put(&given->spec, GOLDEN_DRAM);
	given->more[0] = golden_make(&given->spec, &given->state, -9, 9);
	add(given, NULL, ttnn_v_tensor(given->more[0]));
	add(given, NULL, list(given, start, rank));
	add(given, NULL, list(given, end, rank));
	add(given, NULL, list(given, step, rank));
}

static void rolled(struct given *given, size_t n, ttnn_tensor *x)
{
	uint32_t rank = x->spec.shape.rank;

	if (n % 3 == 0) {
		add(given, NULL, ttnn_v_int((int64_t)draw(given, 90) - 40));
	} else if (n % 3 == 1) {
		add(given, NULL, ttnn_v_int((int64_t)draw(given, 9) - 4));
		add(given, NULL, ttnn_v_int(draw_dim(given, rank)));
	} else {
		add(given, NULL, list(given, (int64_t[]){3, -1}, rank > 1 ? 2 : 1));
		add(given, NULL, list(given, (int64_t[]){rank - 1, 0}, rank > 1 ? 2 : 1));
	}
}

/* Elements behind each dimension, and in rows before it too. */
static void padding(struct given *given, size_t n, ttnn_tensor *x)
{
	static struct ttnn_value pairs[8][2];
	uint32_t rank = x->spec.shape.rank, count = n % 4 == 1 ? 1 : rank;
	bool tiles = x->spec.layout == TTNN_TILE;

	for (uint32_t d = 0; d < count; d++) {
		pairs[d][0] = ttnn_v_int(tiles || draw(given, 2) ? 0 : draw(given, 4));
		pairs[d][1] = ttnn_v_int(draw(given, 2) ? 0 : draw(given, 40));
		given->items[3][d] = ttnn_v_list(pairs[d], 2);
	}
	add(given, NULL, ttnn_v_list(given->items[3], count));
	add(given, NULL, ttnn_v_real(3));
	add_memory(given, n);
}

static void whole_tiles(struct given *given, size_t n, ttnn_tensor *x)
{
	given->shape = x->spec.shape;
	for (uint32_t back = 1; back <= 2 && back <= given->shape.rank; back++) {
		uint32_t *dim = &given->shape.dim[given->shape.rank - back];

		*dim = (*dim + 31) / 32 * 32 + (n % 3 == back && given->shape.rank < 5 ? 32 : 0);
	}
	add(given, NULL, ttnn_v_shape(&given->shape));
	add(given, NULL, ttnn_v_real(2));
	add_memory(given, n);
}

/* The shape around it and where in that it begins. */
static void around(struct given *given, size_t n, ttnn_tensor *x)
{
	int64_t dims[8], start[8];

	(void)n;
	for (uint32_t d = 0; d < x->spec.shape.rank; d++) {
		start[d] = draw(given, 3);
		dims[d] = start[d] + x->spec.shape.dim[d] + draw(given, 4);
	}
	add(given, NULL, list(given, dims, x->spec.shape.rank));
	add(given, NULL, list(given, start, x->spec.shape.rank));
	add(given, NULL, ttnn_v_real(3));
}

/* Extents, those of the corner, and x only for its type and place. */
static void corner(struct given *given, size_t n, ttnn_tensor *x)
{
	static const int64_t numbers[][6] = {
		{1, 1, 64, 64, 32, 16}, {2, 3, 32, 96, 5, 70}, {1, 2, 7, 32, 7, 1}};

	given->count = 0;
	for (size_t i = 0; i < 6; i++)
		add(given, NULL, ttnn_v_int(numbers[n % 3][i]));
	add(given, NULL, ttnn_v_tensor(x));
}

static void corner_values(struct given *given, size_t n, ttnn_tensor *x)
{
	corner(given, n, x);
	add(given, NULL, ttnn_v_real(1.5));
	add(given, NULL, ttnn_v_real(-2));
}

/* ---- by indices ---------------------------------------------------------------------------------------------------- */

/* A tensor of indices below `below`, laid out like x. */
static ttnn_tensor *draw_indices(struct given *given, const struct ttnn_shape *shape,
				 uint32_t below)
{
	struct ttnn_spec_args spec = {
		.shape = *shape, .dtype = TTNN_UINT32, .layout = given->spec.layout};

	return golden_make(&spec, &given->state, 0, below);
}

/* An index as x is, with another extent along a dimension, and smaller along others at times. */
static void taken(struct given *given, size_t n, ttnn_tensor *x)
{
	int64_t dim = draw_dim(given, x->spec.shape.rank);
	uint32_t at = (uint32_t)(dim < 0 ? dim + x->spec.shape.rank : dim);

	given->shape = x->spec.shape;
	given->shape.dim[at] = 1 + draw(given, 70);
	if (n % 3 == 1)
		given->shape.dim[0] = 1 + draw(given, given->shape.dim[0]);
	given->more[0] = draw_indices(given, &given->shape, x->spec.shape.dim[at]);
	add(given, "dim", ttnn_v_int(dim));
	add(given, "index", ttnn_v_tensor(given->more[0]));
}

/* Every index once along the dimension, or some of them several times when they are added up. */
static void put(struct given *given, ttnn_tensor *x, int64_t dim, bool several)
{
	uint32_t at = (uint32_t)(dim < 0 ? dim + x->spec.shape.rank : dim);
	uint32_t extent = x->spec.shape.dim[at];
	struct ttnn_spec_args spec = {.shape = x->spec.shape, .dtype = TTNN_UINT32};
	struct ttnn_tensor_spec made;
	uint64_t count = 1, inner = 1;
	ttnn_tensor *host = NULL;
	int32_t *indices;

	for (uint32_t d = 0; d < x->spec.shape.rank; d++) {
		count *= x->spec.shape.dim[d];
		inner *= d > at ? x->spec.shape.dim[d] : 1;
	}
	indices = calloc(count, sizeof(*indices));
	for (uint64_t i = 0; i < count && indices; i++)
		indices[i] = (int32_t)(several ? draw(given, extent) : (i / inner + 1) % extent);
	spec.layout = x->spec.layout;
	CHECK_OK(ttnn_tensor_spec_make(&made, &spec));
	CHECK_OK(ttnn_tensor_from_data(&host, indices, TTNN_INT32, &made, 0));
	free(indices);
	CHECK_OK(ttnn_call_one(&given->more[0], "ttnn.to_device",
			       (struct ttnn_arg[]){{NULL, ttnn_v_tensor(host)},
						   {NULL, ttnn_v_device(golden_device())}},
			       2, TTNN_FRONTEND_C));
	ttnn_tensor_unref(host);
	given->more[1] = golden_make(&given->spec, &given->state, -9, 9);
	add(given, "dim", ttnn_v_int(dim));
	add(given, "index", ttnn_v_tensor(given->more[0]));
	add(given, "src", ttnn_v_tensor(given->more[1]));
}

static void put_once(struct given *given, size_t n, ttnn_tensor *x)
{
	bool adds = n % 4 == 3;

	put(given, x, draw_dim(given, x->spec.shape.rank), adds);
	if (adds)
		add(given, "reduce", ttnn_v_string("add"));
}

static void put_several(struct given *given, size_t n, ttnn_tensor *x)
{
	(void)n;
	put(given, x, draw_dim(given, x->spec.shape.rank), true);
}

/* Slices of another tensor; every slice is replaced once at most. */
static void replaced(struct given *given, size_t n, ttnn_tensor *x)
{
	uint32_t dim = draw(given, x->spec.shape.rank), extent = x->spec.shape.dim[dim];
	uint32_t count = 1 + draw(given, extent);
	struct ttnn_spec_args ids = {.shape = {4, {1, 1, 1, count}}, .dtype = TTNN_UINT32};

	given->spec.shape.dim[dim] = count;
	golden_put(&given->spec, n % 2 ? GOLDEN_DRAM : GOLDEN_L1);
	given->more[0] = golden_make(&ids, &given->state, 0, extent);
	given->more[1] = golden_make(&given->spec, &given->state, -9, 9);
	given->count = 0;
	add(given, NULL, ttnn_v_tensor(given->more[0]));
	add(given, NULL, ttnn_v_tensor(x));
	add(given, NULL, ttnn_v_tensor(given->more[1]));
	add(given, "dim", ttnn_v_int(dim));
}

/* Some slices set to a number of the tensor's kind. */
static void set_slices(struct given *given, size_t n, ttnn_tensor *x)
{
	uint32_t dim = draw(given, x->spec.shape.rank), extent = x->spec.shape.dim[dim];
	struct ttnn_spec_args ids = {.shape = {1, {1 + draw(given, extent)}}, .dtype = TTNN_UINT32};
	bool whole = tt_dtype_is_integer(x->spec.dtype);

	given->more[0] = golden_make(&ids, &given->state, 0, extent);
	add(given, NULL, ttnn_v_int(dim));
	add(given, NULL, ttnn_v_tensor(given->more[0]));
	add(given, NULL, whole ? ttnn_v_int((int64_t)n - 7) : ttnn_v_real(0.5 * (double)n));
}

/* Rows of each batch; none is set twice. */
static void rows_of_batches(struct given *given, ttnn_tensor *x, bool sets)
{
	const struct ttnn_shape *shape = &x->spec.shape;
	uint32_t rows = sets ? 1 + draw(given, shape->dim[1]) : 1 + draw(given, 40);
	struct ttnn_spec_args ids = {.shape = {2, {shape->dim[0], rows}},
				     .dtype = TTNN_UINT32,
				     .layout = x->spec.layout};
	uint32_t *values = calloc((size_t)shape->dim[0] * rows, sizeof(*values));
	struct ttnn_tensor_spec made;
	ttnn_tensor *host;

	for (uint32_t i = 0; i < shape->dim[0] * rows && values; i++)
		values[i] = sets ? (i % rows + 1) % shape->dim[1] : draw(given, shape->dim[1]);
	CHECK_OK(ttnn_tensor_spec_make(&made, &ids));
	CHECK_OK(ttnn_tensor_from_data(&host, values, TTNN_UINT32, &made, 0));
	free(values);
	CHECK_OK(ttnn_call_one(&given->more[0], "ttnn.to_device",
			       (struct ttnn_arg[]){{NULL, ttnn_v_tensor(host)},
						   {NULL, ttnn_v_device(golden_device())}},
			       2, TTNN_FRONTEND_C));
	ttnn_tensor_unref(host);
	add(given, NULL, ttnn_v_tensor(given->more[0]));
	if (!sets)
		return;
	given->spec.shape.dim[1] = rows;
	given->more[1] = golden_make(&given->spec, &given->state, -9, 9);
	add(given, NULL, ttnn_v_tensor(given->more[1]));
}

static void rows_taken(struct given *given, size_t n, ttnn_tensor *x)
{
	(void)n;
	rows_of_batches(given, x, false);
}

static void rows_set(struct given *given, size_t n, ttnn_tensor *x)
{
	(void)n;
	rows_of_batches(given, x, true);
}

/* From the first on; a part that begins elsewhere would have to begin at the first bank. */
static void first_ones(struct given *given, size_t n, ttnn_tensor *x)
{
	add(given, NULL, ttnn_v_int(n % 2 ? 0 : -(int64_t)x->spec.shape.rank));
	add(given, NULL, ttnn_v_int(0));
	add(given, NULL, ttnn_v_int(1 + draw(given, x->spec.shape.dim[0])));
}

/* ---- the table ---------------------------------------------------------------------------------------------------- */

#define SHARDS (GOLDEN_BIT(GOLDEN_HEIGHT) | GOLDEN_BIT(GOLDEN_WIDTH) | GOLDEN_BIT(GOLDEN_BLOCK))
#define PLACES (GOLDEN_BIT(GOLDEN_PLACES) - 1)
#define BFLOAT16 GOLDEN_BIT(TTNN_BFLOAT16)

struct row {
	const char *name; /* without "ttnn." */
	arguments_fn arguments;
	struct golden_wants wants;
	bool changes; /* its arguments: threads are not compared */
	bool host;
	bool steps;  /* block floats are rounded more than once, on the way too */
	bool rounds; /* sums are rounded */
};

#define ROW(name_, arguments_, layouts_, places_)                                                  \
	.name = name_, .arguments = arguments_,                                                    \
	.wants = {.dtypes = EVERY_DTYPE, .layouts = layouts_, .places = places_}
/* tensors in any layout and place; in rows; in tiles */
#define ANY(name_, arguments_) ROW(name_, arguments_, GOLDEN_BOTH_LAYOUTS, PLACES)
#define ROWS(name_, arguments_) ROW(name_, arguments_, ROWS_ONLY, PLACES)
#define TILES(name_, arguments_) ROW(name_, arguments_, GOLDEN_BIT(TTNN_TILE), PLACES)
#define FOUR(name_, arguments_, dtypes_)                                                           \
	.name = name_, .arguments = arguments_,                                                    \
	.wants = {.dtypes = dtypes_,                                                               \
		  .layouts = GOLDEN_BOTH_LAYOUTS,                                                  \
		  .places = PLACES,                                                                \
		  .min_rank = 4,                                                                   \
		  .max_rank = 4}
#define FILLS(name_, arguments_)                                                                   \
	.name = name_, .arguments = arguments_,                                                    \
	.wants = {.dtypes = BFLOAT16, .layouts = ROWS_ONLY, .places = UNCUT}
#define INDEX_FILL(name_)                                                                          \
	.name = name_, .arguments = set_slices,                                                    \
	.wants = {.dtypes = BFLOAT16 | GOLDEN_BIT(TTNN_FLOAT32) | GOLDEN_BIT(TTNN_INT32),          \
		  .layouts = ROWS_ONLY,                                                            \
		  .places = PLACES}

static const struct row rows[] = {
	{ANY("Tensor.__getitem__", indices)},
	{ROWS("Tensor.pad", around), .host = true},
	{ANY("Tensor.reshape", other_shape)},
	{ROWS("Tensor.unpad", start_and_end), .host = true},
	{ANY("assign", target_or_memory), .changes = true},
	{ANY("chunk", in_parts)},
	{ANY("clone", memory_only)},
	{ANY("concat", joined)},
	{ANY("copy", target), .changes = true},
	{ANY("expand", wider)},
	{.name = "experimental.broadcast_to",
	 .arguments = broadcast,
	 .wants = {.dtypes = EVERY_DTYPE,
		   .layouts = GOLDEN_BIT(TTNN_TILE),
		   .places = UNCUT,
		   .max_rank = 4}},
	{.name = "experimental.slice_write",
	 .arguments = slice_of_another,
	 .wants = {.dtypes = BFLOAT16 | GOLDEN_BIT(TTNN_FLOAT32) | GOLDEN_BIT(TTNN_INT32),
		   .layouts = GOLDEN_BOTH_LAYOUTS,
		   .places = UNCUT},
	 .changes = true},
	{.name = "experimental.view",
	 .arguments = raw_shape,
	 .wants = {.dtypes = EVERY_DTYPE,
		   .layouts = GOLDEN_BOTH_LAYOUTS,
		   .places = PLACES,
		   .min_rank = 4,
		   .max_rank = 4,
		   .multiple = 32}},
	{TILES("fill_implicit_tile_padding", fill_value)},
	{FILLS("fill_ones_rm", corner)},
	{FILLS("fill_rm", corner_values)},
	{ANY("gather", taken), .steps = true},
	{INDEX_FILL("index_fill")},
	{INDEX_FILL("index_fill_new")},
	{FOUR("indexed_fill", replaced, EVERY_DTYPE), .steps = true},
	{ROW("interleaved_to_sharded", some_shards, GOLDEN_BOTH_LAYOUTS, UNCUT)},
	{.name = "interleaved_to_sharded_partial",
	 .arguments = slice_in_shards,
	 .wants = {.dtypes = EVERY_DTYPE,
		   .layouts = GOLDEN_BIT(TTNN_TILE),
		   .places = UNCUT,
		   .min_rank = 4,
		   .max_rank = 4}},
	{ANY("move", none), .changes = true},
	{FOUR("nonzero", none, EVERY_DTYPE)},
	{ANY("pad", padding)},
	{ANY("permute", another_order)},
	{ANY("reallocate", none), .changes = true},
	{ANY("repeat", times)},
	{ANY("repeat_interleave", each_times), .steps = true},
	{ANY("reshape", other_shape)},
	{ROW("reshard", other_shards, GOLDEN_BOTH_LAYOUTS, SHARDS)},
	{ANY("roll", rolled)},
	{ROW("scatter", put_once, GOLDEN_BOTH_LAYOUTS, UNCUT), .rounds = true},
	{ROW("scatter_add", put_several, GOLDEN_BOTH_LAYOUTS, UNCUT), .rounds = true},
	{ROW("sharded_to_interleaved", memory_only, GOLDEN_BOTH_LAYOUTS, SHARDS)},
	{.name = "sharded_to_interleaved_partial",
	 .arguments = slice_of_many,
	 .wants = {.dtypes = EVERY_DTYPE,
		   .layouts = GOLDEN_BIT(TTNN_TILE),
		   .places = SHARDS,
		   .min_rank = 2},
	 .changes = true},
	{ANY("slice", part)},
	{ANY("split", pieces)},
	{ANY("squeeze", squeezed)},
	{ANY("stack", stacked)},
	{.name = "tilize",
	 .arguments = memory_only,
	 .wants = {.dtypes = EVERY_DTYPE,
		   .layouts = ROWS_ONLY,
		   .places = PLACES,
		   .min_rank = 2,
		   .multiple = 32}},
	{ROWS("tilize_with_val_padding", whole_tiles)},
	{ROWS("tilize_with_zero_padding", memory_only)},
	{ANY("to_layout", any_layout)},
	{ANY("to_memory_config", any_place)},
	{.name = "narrow",
	 .arguments = first_ones,
	 .wants = {.dtypes = BFLOAT16,
		   .layouts = GOLDEN_BOTH_LAYOUTS,
		   .places = GOLDEN_BIT(GOLDEN_DRAM),
		   .min_rank = 3}},
	{.name = "tosa_gather",
	 .arguments = rows_taken,
	 .wants = {.dtypes = BFLOAT16,
		   .layouts = GOLDEN_BIT(TTNN_TILE),
		   .places = UNCUT,
		   .min_rank = 3,
		   .max_rank = 3}},
	{.name = "tosa_scatter",
	 .arguments = rows_set,
	 .wants = {.dtypes = BFLOAT16,
		   .layouts = GOLDEN_BOTH_LAYOUTS,
		   .places = UNCUT,
		   .min_rank = 3,
		   .max_rank = 3}},
	{ANY("transpose", two_dims), .steps = true},
	{ANY("unsqueeze", one_more)},
	{ANY("unsqueeze_to_4D", none)},
	{TILES("untilize", memory_only)},
	{TILES("untilize_with_unpadding", up_to)},
	{ANY("view", view_shape)},
};

static const struct row *row_of(const char *name)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strcmp(name + strlen("ttnn."), rows[i].name) == 0)
			return &rows[i];
	return NULL;
}

/* A copy on the host. */
static ttnn_tensor *taken_home(ttnn_tensor *x)
{
	ttnn_tensor *host = NULL;

	CHECK_OK(ttnn_call_one(&host, "ttnn.from_device",
			       (struct ttnn_arg[]){{NULL, ttnn_v_tensor(x)}}, 1, TTNN_FRONTEND_C));
	ttnn_tensor_unref(x);
	return host;
}

/*
 * Whether upstream's rules refuse the case, or the memory of the chip, or it takes an operation that
 * there is not yet. Nothing else may be left out. *result, if wanted, is the spec of an only result.
 */
static bool is_refused(struct ttnn_tensor_spec *result, const char *name, const struct given *given)
{
	struct ttnn_results results = {.count = 0};
	tt_status status = ttnn_call(&results, name, given->args, given->count, TTNN_FRONTEND_C);

	if (result && results.count == 1)
		*result = results.tensors[0]->spec;
	for (size_t i = 0; i < results.count; i++)
		ttnn_tensor_unref(results.tensors[i]);
	if (status == TTNN_OK)
		return false;
	if (getenv("TEST_REFUSALS"))
		printf("%s: %s\n", name, ttnn_error());
	return status == TTNN_INVALID || status == TTNN_DEVICE_OOM || status == TTNN_NOTFOUND;
}

/* Whether the operation can be told where its result goes, and was not. */
static bool can_place(const char *name, const struct given *given)
{
	const struct tt_overloads *all = &tt_op_find(name)->overloads;
	bool can = false;

	for (size_t i = 0; i < all->count; i++)
		can = can || tt_sig_index(&all->sigs[i], "memory_config") >= 0;
	for (size_t i = 0; i < given->count; i++)
		can = can &&
		      !(given->args[i].name && strcmp(given->args[i].name, "memory_config") == 0);
	return can;
}

/* Some cases again with the result in shards. */
static bool place_result(struct given *given, const char *name, size_t n,
			 const struct ttnn_tensor_spec *result)
{
	if (n % 3 || !result->shape.rank || !can_place(name, given))
		return false;
	given->spec = (struct ttnn_spec_args){
		.shape = result->shape, .dtype = result->dtype, .layout = result->layout};
	place(given, "memory_config", GOLDEN_HEIGHT + (enum golden_place)(n / 3 % 3));
	return true;
}

static void run_case(const struct tt_op *op, const struct row *row, size_t n, size_t *refused)
{
	struct given given = {.state = n + 1, .spec = golden_input(n, &row->wants)};
	struct ttnn_spec_args spec = given.spec;
	ttnn_tensor *x = golden_make(&spec, &given.state, -9, 9);
	bool rounds = (row->rounds && !tt_dtype_is_integer(spec.dtype)) ||
		      (row->steps && tt_dtype_is_block(spec.dtype));
	struct ttnn_tensor_spec result = {.shape = {.rank = 0}};

	if (row->host)
		x = taken_home(x);
	add(&given, NULL, ttnn_v_tensor(x));
	row->arguments(&given, n, x);
	do {
		if (!row->changes && is_refused(&result, op->name, &given))
			++*refused;
		else if (!(row->changes ? golden_case : golden_case_on_threads)(
				 op->name, given.args, given.count, rounds ? 8 : 0))
			TEST_FAIL(
				"%s: case %zu: rank %u, ...%u × %u, type %d, layout %d, memory %d",
				op->name, n, spec.shape.rank, tt_shape_last(&spec.shape, 2),
				tt_shape_last(&spec.shape, 1), (int)spec.dtype, (int)spec.layout,
				(int)spec.memory.layout);
	} while (!row->changes && place_result(&given, op->name, n, &result));
	for (size_t i = 0; i < sizeof(given.more) / sizeof(given.more[0]); i++)
		ttnn_tensor_unref(given.more[i]);
	ttnn_tensor_unref(x);
}

TEST(rows_against_goldens)
{
	size_t count;
	const struct tt_op_entry *entries = tt_op_all(&count);

	for (size_t i = 0; i < count; i++) {
		const struct row *row = row_of(entries[i].op->name);
		size_t refused = 0;

		if (strcmp(entries[i].op->family, "movement") != 0)
			continue;
		if (!row)
			TEST_FAIL("%s: no cases", entries[i].op->name);
		for (size_t n = 0; row && n < CASES; n++)
			run_case(entries[i].op, row, n, &refused);
		if (refused)
			printf("%s: %zu more are refused\n", entries[i].op->name, refused);
	}
	golden_check_family("movement");
	golden_close();
}
