/* calls_tensor.c: tensors of random calls, and what is said of where they lie. See calls.h. */
#include <string.h>

#include "device/devtensor.h"
#include "hostile/calls.h"
#include "tensor/dtype.h"

#define MOST (1 << 14) /* elements of a tensor that has memory */

static const enum ttnn_dtype dtypes[] = {
	TTNN_BFLOAT16, TTNN_FLOAT32, TTNN_BFLOAT8_B, TTNN_INT32,
	TTNN_UINT32,   TTNN_UINT16,  TTNN_BFLOAT4_B, TTNN_UINT8,
};

/* ---- cores and places ---------------------------------------------------------------------------- */

int64_t calls_draw_edge(struct calls_draft *draft)
{
	static const int64_t edges[] = {
		0,          1,         -1,
		-2,         2,         31,
		33,         255,       65535,
		65536,      INT32_MAX, INT32_MIN,
		UINT32_MAX, 1000000,   INT32_MAX - 31l,
		-32,        -33,       7,
		1l << 40,   INT64_MIN, INT64_MAX,
		0,          0,         -1,
		INT32_MAX,  INT32_MIN, UINT32_MAX - 31l,
	};

	return CALLS_PICK(draft, edges);
}

const ttnn_core_set *calls_draw_cores(struct calls_draft *draft, enum calls_level level)
{
	static const uint32_t near[] = {0, 0, 1, 3, 6, 7}, far[] = {0, 7, 8, 11, 12, 100, 65535};
	struct ttnn_core_range ranges[3] = {{{0, 0}, {0, 0}}};
	size_t count = calls_chance(draft, 85) ? 1 : 2;
	const ttnn_core_set *set;

	if (level != CALLS_VALID && calls_chance(draft, 40))
		count = 0;
	for (size_t i = 0; i < count; i++) {
		struct ttnn_core end = {CALLS_PICK(draft, near), CALLS_PICK(draft, near)};

		if (level != CALLS_VALID)
			end = (struct ttnn_core){CALLS_PICK(draft, far), CALLS_PICK(draft, far)};
		ranges[i] = (struct ttnn_core_range){{0, 0}, end};
		if (count > 1)
			ranges[i].start = end;
		else if (calls_chance(draft, 20))
			ranges[i].start = (struct ttnn_core){end.x / 2, end.y / 2};
	}
	if (ttnn_core_set_make(&set, ranges, count) == TTNN_OK ||
	    ttnn_core_set_make(&set, ranges, 0) == TTNN_OK)
		return set;
	return NULL;
}

/* Shards that fit a tensor of the usual kind, or any. */
static void draw_shard(struct ttnn_memory_config *out, struct calls_draft *draft,
		       enum calls_level level)
{
	static const uint32_t sides[] = {32, 32, 64, 1, 16, 96, 128, 33, 0};
	static const enum ttnn_memory_layout layouts[] = {TTNN_HEIGHT_SHARDED, TTNN_WIDTH_SHARDED,
							  TTNN_BLOCK_SHARDED};
	struct ttnn_shard_spec shard = {.grid = calls_draw_cores(draft, level)};
	size_t known = level == CALLS_VALID ? 4 : TT_COUNT(sides);

	shard.height = sides[calls_random(draft, known)];
	shard.width = sides[calls_random(draft, known)];
	if (level == CALLS_HOSTILE && calls_chance(draft, 20))
		shard.height = (uint32_t)calls_draw_edge(draft);
	shard.orientation = calls_random(draft, 4) ? TTNN_ORIENT_ROW_MAJOR : TTNN_ORIENT_COL_MAJOR;
	if (ttnn_memory_config_sharded(out, CALLS_PICK(draft, layouts), TTNN_L1, &shard) != TTNN_OK)
		*out = (struct ttnn_memory_config){.buffer = TTNN_L1};
}

void calls_draw_memory(struct ttnn_memory_config *out, struct calls_draft *draft,
		       enum calls_level level)
{
	static const enum ttnn_memory_layout layouts[] = {TTNN_HEIGHT_SHARDED, TTNN_WIDTH_SHARDED,
							  TTNN_BLOCK_SHARDED, TTNN_ND_SHARDED};

	*out = (struct ttnn_memory_config){.buffer = calls_random(draft, 3) ? TTNN_DRAM : TTNN_L1};
	if (calls_chance(draft, level == CALLS_VALID ? 20 : 60))
		draw_shard(out, draft, level);
	else if (level != CALLS_VALID && calls_chance(draft, 50))
		out->layout = CALLS_PICK(draft, layouts); /* sharded without a spec */
	if (level == CALLS_HOSTILE && calls_chance(draft, 15))
		out->buffer = TTNN_L1_SMALL;
}

/* ---- what tensors are like ------------------------------------------------------------------------- */

static struct ttnn_shape any_shape(struct calls_draft *draft)
{
	static const struct ttnn_shape shapes[] = {
		{4, {1, 1, 32, 32}},  {4, {1, 1, 64, 64}}, {4, {1, 1, 32, 64}},
		{4, {1, 8, 32, 64}},  {2, {32, 32}},       {2, {64, 128}},
		{3, {2, 32, 64}},     {4, {2, 3, 32, 32}}, {4, {1, 1, 32, 128}},
		{4, {1, 2, 64, 32}},  {4, {1, 32, 8, 64}}, {4, {1, 4, 32, 32}},
		{4, {1, 1, 1, 32}},   {4, {1, 7, 33, 45}}, {1, {5}},
		{4, {2, 2, 2, 2}},    {3, {3, 32, 64}},    {5, {1, 2, 3, 4, 5}},
		{4, {1, 1, 256, 32}}, {4, {8, 1, 32, 32}}, {4, {1, 16, 16, 32}},
		{4, {32, 1, 1, 64}},
	};

	return CALLS_PICK(draft, shapes);
}

void calls_draw_usual(struct calls_draft *draft)
{
	draft->usual = (struct ttnn_spec_args){
		.shape = any_shape(draft),
		.dtype =
			dtypes[calls_chance(draft, 50) ? 0 : calls_random(draft, TT_COUNT(dtypes))],
		.layout = calls_chance(draft, 80) ? TTNN_TILE : TTNN_ROW_MAJOR,
	};
	if (calls_chance(draft, 15))
		calls_draw_memory(&draft->usual.memory, draft, CALLS_VALID);
}

/* Whether a parameter of this name holds positions. */
static bool is_index(const char *name)
{
	static const char *const words[] = {"ind",   "ids",  "table", "mapping", "pos",
					    "token", "mask", "count", "offset",  "len"};

	for (size_t i = 0; i < TT_COUNT(words); i++)
		if (strstr(name, words[i]))
			return true;
	return false;
}

/* Most are as usual; some are transposed, a row of it, or of their own. */
static void vary(struct ttnn_spec_args *args, struct calls_draft *draft, const char *name)
{
	struct ttnn_shape *shape = &args->shape;
	uint32_t last = shape->rank ? shape->dim[shape->rank - 1] : 1;
	uint64_t way = calls_random(draft, 100);

	if (way < 10 && shape->rank > 1) {
		shape->dim[shape->rank - 1] = shape->dim[shape->rank - 2];
		shape->dim[shape->rank - 2] = last;
	} else if (way < 18) {
		*shape = (struct ttnn_shape){4, {1, 1, 1, last}};
	} else if (way < 22) {
		*shape = (struct ttnn_shape){1, {last}};
	} else if (way < 25) {
		*shape = (struct ttnn_shape){2, {last, last}};
	} else if (way < 40) {
		*shape = any_shape(draft);
	}
	if (!is_index(name) || calls_chance(draft, 30))
		return;
	args->dtype = calls_chance(draft, 50) ? TTNN_UINT32 : TTNN_INT32;
	args->layout = calls_chance(draft, 70) ? TTNN_ROW_MAJOR : TTNN_TILE;
}

/* What is wrong with a tensor. */
enum twist {
	TWIST_NONE,
	TWIST_DEALLOCATED,
	TWIST_EMPTY,
	TWIST_HOST,
	TWIST_RANK0,
	TWIST_RANK1,
	TWIST_DTYPE,
	TWIST_LAYOUT,
	TWIST_MEMORY,
	TWIST_OTHER_DEVICE,
	TWIST_CLOSED_DEVICE,
	TWIST_WORDS, /* any bits */
	TWIST_RANKS, /* of many dimensions */
	TWIST_EXTENT,
	TWIST_AGAIN, /* another tensor of the call */
	TWIST_LARGE,
	TWISTS
};

static void twist_spec(struct ttnn_spec_args *args, struct calls_draft *draft, enum twist twist)
{
	static const uint32_t extents[] = {1, 2, 3, 5, 31, 33, 64, 0};
	struct ttnn_shape *shape = &args->shape;

	switch (twist) {
	case TWIST_EMPTY:
		if (shape->rank)
			shape->dim[calls_random(draft, shape->rank)] = 0;
		break;
	case TWIST_RANK0:
		shape->rank = 0;
		break;
	case TWIST_RANK1:
		*shape = (struct ttnn_shape){1, {calls_random(draft, 2) ? 32 : 1}};
		break;
	case TWIST_DTYPE:
		args->dtype = calls_random(draft, 12) ? CALLS_PICK(draft, dtypes) : TTNN_FP8_E4M3;
		break;
	case TWIST_LAYOUT:
		args->layout = args->layout == TTNN_TILE ? TTNN_ROW_MAJOR : TTNN_TILE;
		break;
	case TWIST_MEMORY:
		calls_draw_memory(&args->memory, draft, CALLS_MILD);
		break;
	case TWIST_RANKS:
		while (shape->rank < 3 + calls_random(draft, 8))
			shape->dim[shape->rank++] = 1;
		break;
	case TWIST_EXTENT:
		if (shape->rank)
			shape->dim[calls_random(draft, shape->rank)] = CALLS_PICK(draft, extents);
		break;
	case TWIST_LARGE:
		if (shape->rank && draft->sparse)
			shape->dim[calls_random(draft, shape->rank)] =
				(uint32_t)calls_draw_edge(draft);
		break;
	default:
		break;
	}
}

/* ---- making them ------------------------------------------------------------------------------------- */

static bool spec_of(struct ttnn_tensor_spec *out, struct ttnn_spec_args *args, uint64_t most)
{
	uint64_t count;

	if (tt_dtype_is_block(args->dtype))
		args->layout = TTNN_TILE;
	return ttnn_shape_volume(&count, &args->shape) == TTNN_OK && count <= most &&
	       ttnn_tensor_spec_make(out, args) == TTNN_OK &&
	       (out->bytes >> 20 == 0 || most != MOST);
}

/* On the host, of small numbers. */
static ttnn_tensor *make_host(struct calls_draft *draft, const struct ttnn_tensor_spec *spec,
			      bool small)
{
	static float data[MOST + 1];
	bool whole = tt_dtype_is_integer(spec->dtype);
	double most = small ? 4 : 8;
	ttnn_tensor *out = NULL;
	uint64_t count = 0;

	if (ttnn_shape_volume(&count, &spec->shape) != TTNN_OK || count > MOST)
		return NULL;
	for (uint64_t i = 0; i < count; i++)
		data[i] = whole ? (float)calls_random(draft, (uint64_t)most)
				: (float)calls_random(draft, 4096) / 1024 - 1;
	return ttnn_tensor_from_data(&out, data, TTNN_FLOAT32, spec, 0) == TTNN_OK ? out : NULL;
}

/* Any bits, on every chip. */
static void fill_words(struct calls_draft *draft, ttnn_tensor *tensor)
{
	uint32_t chips = draft->device ? (uint32_t)ttnn_device_get_info(draft->device)->rows *
						 ttnn_device_get_info(draft->device)->cols
				       : 0;
	uint64_t kind = calls_random(draft, 4);
	ttnn_tensor *room;

	for (uint32_t chip = 0; chip < chips; chip++) {
		if (!tt_tensor_device(tensor) ||
		    tt_tensor_resident(&room, tensor, chip, TT_BUFFER_OVERWRITE) != TTNN_OK)
			return;
		for (uint64_t i = 0; i + 4 <= room->spec.bytes; i += 4) {
			uint32_t word = (uint32_t)calls_random(draft, 1ul << 32);

			word = kind == 0   ? UINT32_MAX
			       : kind == 1 ? 0x7f807f80
			       : kind == 2 ? word % 100
					   : word;
			memcpy((char *)tt_tensor_data(room) + i, &word, sizeof(word));
		}
		ttnn_tensor_unref(room);
	}
}

static ttnn_tensor *make(struct calls_draft *draft, const struct ttnn_tensor_spec *spec,
			 ttnn_device *device, bool small)
{
	ttnn_tensor *host, *out = NULL;

	if (draft->sparse && device)
		return tt_device_tensor_new(&out, device, spec) == TTNN_OK ? out : NULL;
	host = make_host(draft, spec, small);
	if (!host || !device)
		return host;
	if (ttnn_call_one(&out, "ttnn.to_device",
			  (struct ttnn_arg[]){{NULL, ttnn_v_tensor(host)},
					      {NULL, ttnn_v_device(device)},
					      {NULL, ttnn_v_memory(&spec->memory)}},
			  3, TTNN_FRONTEND_C) != TTNN_OK)
		return host;
	ttnn_tensor_unref(host);
	return out;
}

static enum twist draw_twist(struct calls_draft *draft, enum calls_level level)
{
	if (level == CALLS_VALID)
		return calls_random(draft, 50) ? TWIST_NONE : TWIST_EXTENT;
	return (enum twist)(1 + calls_random(draft, TWISTS - 1));
}

struct ttnn_value calls_draw_tensor(struct calls_draft *draft, const char *name,
				    enum calls_level level)
{
	struct ttnn_spec_args args = draft->usual;
	enum twist twist = draw_twist(draft, level);
	ttnn_device *device = draft->device;
	ttnn_tensor *tensor, **kept;
	struct ttnn_tensor_spec spec;

	if (twist == TWIST_AGAIN && draft->tensors.count)
		return ttnn_v_tensor(
			draft->tensors.data[calls_random(draft, draft->tensors.count)]);
	if (twist == TWIST_CLOSED_DEVICE)
		return ttnn_v_tensor(draft->gone);
	vary(&args, draft, name);
	twist_spec(&args, draft, twist);
	if (level == CALLS_HOSTILE)
		twist_spec(&args, draft, draw_twist(draft, level));
	if (!spec_of(&spec, &args, draft->sparse ? UINT64_MAX : MOST)) {
		args.memory = (struct ttnn_memory_config){0};
		if (!spec_of(&spec, &args, MOST)) {
			args.shape = (struct ttnn_shape){2, {32, 32}};
			if (!spec_of(&spec, &args, MOST))
				return ttnn_v_none();
		}
	}
	if (twist == TWIST_HOST)
		device = NULL;
	else if (twist == TWIST_OTHER_DEVICE)
		device = draft->other;
	tensor = make(draft, &spec, device, is_index(name));
	if (!tensor)
		return ttnn_v_none();
	kept = TT_VEC_PUSH(&draft->tensors);
	if (!kept) {
		ttnn_tensor_unref(tensor);
		return ttnn_v_none();
	}
	*kept = tensor;
	if (twist == TWIST_DEALLOCATED)
		ttnn_tensor_deallocate(tensor, true);
	else if (twist == TWIST_WORDS)
		fill_words(draft, tensor);
	return ttnn_v_tensor(tensor);
}
