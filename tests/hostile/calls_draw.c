/* calls_draw.c: arguments of random calls, by the types of their signatures. See calls.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "hostile/calls.h"
#include "ops/objects.h"
#include "ops/op_enums.h"

#define DEPTH 3 /* of objects in objects, lists in lists */

static struct ttnn_value draw_value(struct calls_draft *draft, const struct tt_arg *arg,
				    enum calls_level level, int depth);

/* SplitMix64. */
uint64_t calls_random(struct calls_draft *draft, uint64_t below)
{
	uint64_t z = draft->state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return (z ^ z >> 31) % below;
}

bool calls_chance(struct calls_draft *draft, unsigned percent)
{
	return calls_random(draft, 100) < percent;
}

/* What a maker is asked for: the argument, and how. */
struct wish {
	const struct tt_arg *arg;
	enum calls_level level;
	int depth;
};

/* ---- numbers, words ------------------------------------------------------------------------------------- */

static bool named(const struct wish *wish, const char *word)
{
	return strstr(wish->arg->name, word) != NULL;
}

/* What extents, counts and dimensions usually are. */
static int64_t usual_int(struct calls_draft *draft, const struct wish *wish)
{
	static const int64_t small[] = {0, 1, 1, 1, 2, 2, 3, 4, 8, 16, 32, 64};
	const struct ttnn_shape *shape = &draft->usual.shape;
	int64_t rank = shape->rank ? shape->rank : 1;

	if (named(wish, "dim") || named(wish, "axis"))
		return (int64_t)calls_random(draft, 2 * (uint64_t)rank) - rank;
	if (shape->rank && calls_chance(draft, 40))
		return shape->dim[calls_random(draft, shape->rank)];
	return CALLS_PICK(draft, small);
}

static int64_t draw_int(struct calls_draft *draft, const struct wish *wish)
{
	int64_t number = usual_int(draft, wish);

	if (wish->level == CALLS_VALID || calls_chance(draft, 15))
		return number;
	if (wish->level == CALLS_MILD && calls_chance(draft, 40))
		return number + (calls_random(draft, 2) ? 1 : -1);
	return calls_draw_edge(draft);
}

static double draw_real(struct calls_draft *draft, const struct wish *wish)
{
	static const double usual[] = {0, 1, 0.5, -1, 2, 1e-5, 3.25, 0.1};
	static const double odd[] = {0,        -1,   1e300, -1e300, 1e-300, 4294967296.0,
				     0.999999, -0.0, 1e38};
	const double none[] = {NAN, INFINITY, -INFINITY};

	if (wish->level == CALLS_VALID)
		return CALLS_PICK(draft, usual);
	return calls_chance(draft, 40) ? CALLS_PICK(draft, none) : CALLS_PICK(draft, odd);
}

static struct ttnn_value make_int(struct calls_draft *draft, const struct wish *wish)
{
	return ttnn_v_int(draw_int(draft, wish));
}

static struct ttnn_value make_size(struct calls_draft *draft, const struct wish *wish)
{
	int64_t number = draw_int(draft, wish);

	return ttnn_v_int(number < 0 && number > INT64_MIN && calls_chance(draft, 80) ? -number
										      : number);
}

static struct ttnn_value make_float(struct calls_draft *draft, const struct wish *wish)
{
	return ttnn_v_real(draw_real(draft, wish));
}

static struct ttnn_value make_scalar(struct calls_draft *draft, const struct wish *wish)
{
	return calls_chance(draft, 50) ? make_int(draft, wish) : make_float(draft, wish);
}

static struct ttnn_value make_bool(struct calls_draft *draft, const struct wish *wish)
{
	(void)wish;
	return ttnn_v_bool(calls_random(draft, 2));
}

static struct ttnn_value make_word(struct calls_draft *draft, const struct wish *wish)
{
	static const char *const usual[] = {
		"none",   "tanh",     "bilinear", "nearest", "zeros", "relu",      "gelu",
		"silu",   "floor",    "trunc",    "mean",    "sum",   "bicubic",   "border",
		"zigzag", "balanced", "constant", "left",    "right", "row_major",
	};
	static char longest[2000];
	static const char *const odd[] = {"",      "x",    "%s%n%s", "\xff\xfe",
					  longest, "RELU", "None",   "\n"};

	memset(longest, 'x', sizeof(longest) - 1);
	return ttnn_v_string(wish->level == CALLS_VALID ? CALLS_PICK(draft, usual)
							: CALLS_PICK(draft, odd));
}

/* ---- lists -------------------------------------------------------------------------------------------------- */

/* About as many as there are dimensions. */
static size_t draw_length(struct calls_draft *draft, const struct wish *wish)
{
	static const size_t usual[] = {1, 2, 2, 3, 4, 4, 5};

	if (wish->level != CALLS_VALID && calls_chance(draft, 50))
		return calls_random(draft, 10) ? calls_random(draft, 10) : 40;
	return calls_chance(draft, 50) ? draft->usual.shape.rank : CALLS_PICK(draft, usual);
}

static struct ttnn_value make_list(struct calls_draft *draft, const struct wish *wish, size_t count,
				   struct ttnn_value make(struct calls_draft *draft,
							  const struct wish *wish))
{
	struct ttnn_value *items = tt_arena_calloc(&draft->arena, count + 1, sizeof(*items));
	size_t odd = wish->level == CALLS_MILD && count ? calls_random(draft, count) : count;

	for (size_t i = 0; items && i < count; i++) {
		struct wish item = *wish;

		if (wish->level == CALLS_MILD && i != odd)
			item.level = CALLS_VALID;
		items[i] = make(draft, &item);
	}
	return ttnn_v_list(items, items ? count : 0);
}

/* The usual shape, with a permutation's or a slice's numbers, or others. */
static struct ttnn_value make_ints(struct calls_draft *draft, const struct wish *wish)
{
	const struct ttnn_shape *shape = &draft->usual.shape;
	size_t rank = shape->rank, way = calls_random(draft, 6);
	struct ttnn_value list;
	struct ttnn_value *items;

	if (wish->level != CALLS_VALID || way > 3)
		return make_list(draft, wish, draw_length(draft, wish), make_int);
	list = make_list(draft, wish, rank, make_int);
	items = tt_arena_calloc(&draft->arena, rank + 1, sizeof(*items));
	for (size_t i = 0; items && i < rank; i++)
		items[i] = ttnn_v_int(way == 0   ? shape->dim[i]
				      : way == 1 ? 0
				      : way == 2 ? 1
						 : (int64_t)(rank - 1 - i));
	return items ? ttnn_v_list(items, rank) : list;
}

static struct ttnn_value make_sizes(struct calls_draft *draft, const struct wish *wish)
{
	struct ttnn_value list = make_ints(draft, wish);
	struct ttnn_shape *shape = tt_arena_calloc(&draft->arena, 1, sizeof(*shape));

	if (!shape || list.count > TTNN_MAX_RANK || calls_chance(draft, 50))
		return list;
	shape->rank = list.count;
	for (uint32_t i = 0; i < list.count; i++)
		shape->dim[i] = (uint32_t)list.items[i].integer;
	return ttnn_v_shape(shape);
}

static struct ttnn_value make_floats(struct calls_draft *draft, const struct wish *wish)
{
	return make_list(draft, wish, draw_length(draft, wish), make_scalar);
}

static struct ttnn_value make_point(struct calls_draft *draft, const struct wish *wish)
{
	return make_list(draft, wish, 2, make_float);
}

static struct ttnn_value make_bools(struct calls_draft *draft, const struct wish *wish)
{
	return make_list(draft, wish, draw_length(draft, wish), make_bool);
}

static struct ttnn_value make_two(struct calls_draft *draft, const struct wish *wish)
{
	return make_list(draft, wish, 2, make_size);
}

static struct ttnn_value make_pairs(struct calls_draft *draft, const struct wish *wish)
{
	return make_list(draft, wish, draw_length(draft, wish), make_two);
}

static struct ttnn_value make_slice(struct calls_draft *draft, const struct wish *wish)
{
	if (calls_chance(draft, 20))
		return ttnn_v_none();
	return calls_chance(draft, 30) ? make_int(draft, wish)
				       : make_list(draft, wish, 3, make_int);
}

static struct ttnn_value make_slices(struct calls_draft *draft, const struct wish *wish)
{
	return make_list(draft, wish, draw_length(draft, wish), make_slice);
}

/* ---- tensors and places ---------------------------------------------------------------------------------------- */

static struct ttnn_value make_tensor(struct calls_draft *draft, const struct wish *wish)
{
	return calls_draw_tensor(draft, wish->arg->name, wish->level);
}

static struct ttnn_value make_tensors(struct calls_draft *draft, const struct wish *wish)
{
	size_t count = 1 + calls_random(draft, 4);

	if (wish->level != CALLS_VALID && calls_chance(draft, 30))
		count = calls_random(draft, 2) ? 0 : 70;
	return make_list(draft, wish, count, make_tensor);
}

static struct ttnn_value make_complex(struct calls_draft *draft, const struct wish *wish)
{
	size_t count = wish->level == CALLS_HOSTILE ? calls_random(draft, 4) : 2;

	return make_list(draft, wish, count, make_tensor);
}

static struct ttnn_value make_memory(struct calls_draft *draft, const struct wish *wish)
{
	struct ttnn_memory_config *memory = tt_arena_calloc(&draft->arena, 1, sizeof(*memory));

	if (!memory)
		return ttnn_v_none();
	calls_draw_memory(memory, draft, wish->level);
	return ttnn_v_memory(memory);
}

static struct ttnn_value make_shard(struct calls_draft *draft, const struct wish *wish)
{
	struct ttnn_shard_spec *shard = tt_arena_calloc(&draft->arena, 1, sizeof(*shard));

	if (!shard)
		return ttnn_v_none();
	shard->grid = calls_draw_cores(draft, wish->level);
	shard->height = wish->level == CALLS_VALID ? 32 : (uint32_t)calls_draw_edge(draft);
	shard->width = wish->level == CALLS_VALID ? 32 : (uint32_t)calls_draw_edge(draft);
	return (struct ttnn_value){.kind = TTNN_VALUE_SHARD, .shard = shard};
}

static struct ttnn_value make_core_set(struct calls_draft *draft, const struct wish *wish)
{
	const ttnn_core_set *set = calls_draw_cores(draft, wish->level);

	return set ? ttnn_v_core_set(set) : ttnn_v_none();
}

static struct ttnn_value make_core(struct calls_draft *draft, const struct wish *wish)
{
	static const uint32_t near[] = {8, 8, 7, 1, 2, 4, 0},
			      far[] = {0, 0, 13, 255, 65535, UINT32_MAX};
	bool valid = wish->level == CALLS_VALID;
	struct ttnn_core core = {valid ? CALLS_PICK(draft, near) : CALLS_PICK(draft, far),
				 valid ? CALLS_PICK(draft, near) : CALLS_PICK(draft, far)};

	return (struct ttnn_value){.kind = TTNN_VALUE_CORE, .core = core};
}

static struct ttnn_value make_cores(struct calls_draft *draft, const struct wish *wish)
{
	return make_list(draft, wish, draw_length(draft, wish), make_core);
}

static struct ttnn_value make_core_sets(struct calls_draft *draft, const struct wish *wish)
{
	return make_list(draft, wish, draw_length(draft, wish), make_core_set);
}

static struct ttnn_value make_tile(struct calls_draft *draft, const struct wish *wish)
{
	static const uint32_t sides[] = {32, 16, 8, 4, 2, 1};
	struct ttnn_tile *tile = tt_arena_calloc(&draft->arena, 1, sizeof(*tile));
	bool valid = wish->level == CALLS_VALID;

	if (!tile)
		return ttnn_v_none();
	tile->height = valid ? CALLS_PICK(draft, sides) : (uint32_t)calls_draw_edge(draft);
	tile->width = valid || calls_random(draft, 2) ? 32 : (uint32_t)calls_draw_edge(draft);
	return (struct ttnn_value){.kind = TTNN_VALUE_TILE, .tile = tile};
}

static struct ttnn_value make_device(struct calls_draft *draft, const struct wish *wish)
{
	if (wish->level == CALLS_VALID || calls_chance(draft, 20))
		return ttnn_v_device(draft->device);
	return ttnn_v_device(calls_random(draft, 2) ? draft->other : draft->closed);
}

static struct ttnn_value make_sub_device(struct calls_draft *draft, const struct wish *wish)
{
	return ttnn_v_int(wish->level == CALLS_VALID ? 0 : calls_draw_edge(draft));
}

/* ---- enumerations and objects ----------------------------------------------------------------------------------- */

static struct ttnn_value member_of(struct calls_draft *draft, const struct tt_enum *type,
				   enum calls_level level)
{
	static const int64_t outside[] = {-1, 255, 256, 1000, INT32_MAX, INT32_MIN, 65};

	if (level != CALLS_VALID && calls_chance(draft, 40))
		return tt_value_enum(type, CALLS_PICK(draft, outside));
	return tt_value_enum(type, type->rows[calls_random(draft, type->count)].value);
}

/* Of the enumeration that the argument takes; of any, where it takes all. */
static struct ttnn_value make_member(struct calls_draft *draft, const struct wish *wish)
{
	const struct tt_enum *found[80], *type;
	const char *module;
	size_t count = 0;

	for (size_t i = 0; count < TT_COUNT(found) && (type = ttnn_enum_at(&module, i)); i++) {
		struct ttnn_value value = tt_value_enum(type, type->rows[0].value);

		if (type->count && tt_arg_accepts(wish->arg, &value))
			found[count++] = type;
	}
	if (!count)
		return ttnn_v_none();
	return member_of(draft, found[calls_random(draft, count)], wish->level);
}

/* An object of this kind; None where its fields are refused. */
static struct ttnn_value object_of(struct calls_draft *draft, const char *kind,
				   const struct wish *wish)
{
	ttnn_object *object = NULL, **kept;
	struct ttnn_arg args[TT_ARGS_MAX];
	size_t count = 0, odd;
	struct tt_sig sig;

	if (wish->depth >= DEPTH || tt_object_signature(&sig, &draft->arena, kind) != TTNN_OK)
		return ttnn_v_none();
	odd = wish->level == CALLS_MILD && sig.count ? calls_random(draft, sig.count) : sig.count;
	for (size_t i = 0; i < sig.count; i++) {
		enum calls_level level =
			wish->level == CALLS_MILD && i != odd ? CALLS_VALID : wish->level;

		if (sig.args[i].has_default && i != odd && calls_chance(draft, 60))
			continue;
		args[count++] = (struct ttnn_arg){
			sig.args[i].name, draw_value(draft, &sig.args[i], level, wish->depth + 1)};
	}
	if (ttnn_object_new(&object, kind, args, count) != TTNN_OK)
		return ttnn_v_none();
	kept = TT_VEC_PUSH(&draft->objects);
	if (!kept) {
		ttnn_object_free(object);
		return ttnn_v_none();
	}
	*kept = object;
	return ttnn_object_value(object);
}

/* Of a kind whose name holds a word; "": of any. */
static struct ttnn_value object_like(struct calls_draft *draft, const char *word,
				     const struct wish *wish)
{
	const char *found[80], *kind, *module;
	size_t count = 0;

	for (size_t i = 0; count < TT_COUNT(found) && (kind = ttnn_object_kind(&module, i)); i++)
		if (strstr(kind, word))
			found[count++] = kind;
	return count ? object_of(draft, found[calls_random(draft, count)], wish) : ttnn_v_none();
}

static struct ttnn_value make_compute(struct calls_draft *draft, const struct wish *wish)
{
	return object_like(draft, wish->level == CALLS_HOSTILE ? "" : "Compute", wish);
}

static struct ttnn_value make_matmul_config(struct calls_draft *draft, const struct wish *wish)
{
	return object_like(draft, wish->level == CALLS_HOSTILE ? "Config" : "Matmul", wish);
}

/* Some operations have a kind of their own, most of which have a word of their names. */
static struct ttnn_value make_config(struct calls_draft *draft, const struct wish *wish)
{
	static const struct {
		const char *operation, *kind;
	} known[] = {
		{"softmax", "Softmax"},  {"norm", "LayerNorm"},  {"sdpa", "SDPA"},
		{"dot_product", "SDPA"}, {"attention", "SDPA"},  {"conv3d", "Conv3d"},
		{"conv1d", "Conv1d"},    {"conv", "Conv2d"},     {"minimal", "Minimal"},
		{"matmul", "Matmul"},    {"linear", "Matmul"},   {"gdn", "ChunkGdn"},
		{"delta", "ChunkGdn"},   {"indexer", "Indexer"}, {"pool", "Slice"},
	};

	if (named(wish, "slice"))
		return object_like(draft, "Slice", wish);
	for (size_t i = 0; i < TT_COUNT(known) && wish->level != CALLS_HOSTILE; i++)
		if (strstr(draft->entry->op->name, known[i].operation))
			return object_like(draft, known[i].kind, wish);
	return object_like(draft, "Config", wish);
}

static struct ttnn_value make_global_cb(struct calls_draft *draft, const struct wish *wish)
{
	return object_of(draft, "GlobalCircularBuffer", wish);
}

static struct ttnn_value make_yuv(struct calls_draft *draft, const struct wish *wish)
{
	return object_of(draft, "YUVCoefficients", wish);
}

static struct ttnn_value make_semaphore(struct calls_draft *draft, const struct wish *wish)
{
	return object_of(draft, "GlobalSemaphore", wish);
}

/* A function; with its parameter; as an object. */
static struct ttnn_value make_unary(struct calls_draft *draft, const struct wish *wish)
{
	struct ttnn_value *items;
	uint64_t way = calls_random(draft, 3);

	if (way == 0)
		return object_of(draft, "UnaryWithParam", wish);
	items = tt_arena_calloc(&draft->arena, 2, sizeof(*items));
	if (!items)
		return ttnn_v_none();
	items[0] = member_of(draft, &tt_enum_unary, wish->level);
	items[1] = make_scalar(draft, wish);
	return way == 1 ? items[0] : ttnn_v_list(items, 2);
}

static struct ttnn_value make_unarys(struct calls_draft *draft, const struct wish *wish)
{
	return make_list(draft, wish, calls_random(draft, 4), make_unary);
}

static struct ttnn_value make_opaque(struct calls_draft *draft, const struct wish *wish)
{
	(void)draft;
	(void)wish;
	return (struct ttnn_value){.kind = TTNN_VALUE_OPAQUE, .text = "Thing"};
}

static struct ttnn_value make_pipes(struct calls_draft *draft, const struct wish *wish)
{
	return make_list(draft, wish, calls_random(draft, 3), make_opaque);
}

static struct ttnn_value make_any(struct calls_draft *draft, const struct wish *wish);

/* ---- by type ------------------------------------------------------------------------------------------------------- */

typedef struct ttnn_value maker(struct calls_draft *draft, const struct wish *wish);

/* To add one: a row; types without one are enumerations. */
static const struct {
	const char *type;
	maker *make;
} makers[] = {
	{"Tensor", make_tensor},
	{"Tensors", make_tensors},
	{"ComplexTensor", make_complex},
	{"Scalar", make_scalar},
	{"int", make_int},
	{"size", make_size},
	{"long", make_int},
	{"float", make_float},
	{"bool", make_bool},
	{"str", make_word},
	{"Shape", make_sizes},
	{"sizes", make_sizes},
	{"ints", make_ints},
	{"floats", make_floats},
	{"point", make_point},
	{"bools", make_bools},
	{"pairs", make_pairs},
	{"slices", make_slices},
	{"MemoryConfig", make_memory},
	{"CoreRangeSet", make_core_set},
	{"CoreCoord", make_core},
	{"CoreCoords", make_cores},
	{"CoreGrid", make_core},
	{"Tile", make_tile},
	{"ShardSpec", make_shard},
	{"Device", make_device},
	{"SubDeviceId", make_sub_device},
	{"Unary", make_unary},
	{"UnaryWithParam", make_unary},
	{"Unarys", make_unarys},
	{"ComputeConfig", make_compute},
	{"YUVCoefficients", make_yuv},
	{"MatmulConfig", make_matmul_config},
	{"GlobalCb", make_global_cb},
	{"Pipes", make_pipes},
	{"ProgramConfig", make_config},
	{"any", make_any},
};

/* By its name, as far as that says what it is. */
static struct ttnn_value make_any(struct calls_draft *draft, const struct wish *wish)
{
	static const struct {
		const char *word;
		maker *make;
	} words[] = {
		{"semaphore", make_semaphore}, {"room", make_tensor},     {"senders", make_cores},
		{"receivers", make_core_sets}, {"compute", make_compute}, {"config", make_config},
		{"tensor", make_tensor},       {"device", make_device},   {"params", make_floats},
		{"size", make_ints},           {"dim", make_int},         {"throttle", make_int},
	};
	struct wish inner = *wish;

	inner.depth++;
	if (wish->level != CALLS_HOSTILE && calls_chance(draft, 80))
		for (size_t i = 0; i < TT_COUNT(words); i++)
			if (named(wish, words[i].word))
				return words[i].make == make_semaphore && calls_chance(draft, 60)
					       ? make_list(draft, &inner,
							   1 + calls_random(draft, 3),
							   make_semaphore)
					       : words[i].make(draft, &inner);
	if (wish->depth >= DEPTH)
		return make_int(draft, wish);
	if (calls_chance(draft, 10))
		return make_list(draft, &inner, draw_length(draft, wish), make_any);
	return makers[calls_random(draft, TT_COUNT(makers))].make(draft, &inner);
}

static struct ttnn_value draw_value(struct calls_draft *draft, const struct tt_arg *arg,
				    enum calls_level level, int depth)
{
	struct wish wish = {arg, level, depth};
	const char *type;

	if (arg->optional && calls_chance(draft, 15))
		return ttnn_v_none();
	if (level == CALLS_HOSTILE && calls_chance(draft, 10))
		return make_any(draft, &wish);
	type = tt_arg_type_name(arg->types[calls_random(draft, arg->type_count)]);
	for (size_t i = 0; i < TT_COUNT(makers); i++)
		if (strcmp(makers[i].type, type) == 0)
			return makers[i].make(draft, &wish);
	return make_member(draft, &wish);
}

/* ---- a call ---------------------------------------------------------------------------------------------------------- */

static bool has_tensor(const struct tt_arg *arg)
{
	return strstr(tt_arg_type_name(arg->types[0]), "Tensor") != NULL;
}

/* Which argument of a call has one thing wrong: mostly a tensor. */
static size_t draw_odd(struct calls_draft *draft, const struct tt_sig *sig)
{
	size_t odd = sig->count ? calls_random(draft, sig->count) : 0;

	for (int i = 0;
	     i < 20 && sig->count && !has_tensor(&sig->args[odd]) && calls_chance(draft, 50); i++)
		odd = calls_random(draft, sig->count);
	return odd;
}

void calls_draw(struct calls_draft *draft)
{
	const struct tt_overloads *overloads = &draft->entry->overloads;
	const struct tt_sig *sig = &overloads->sigs[calls_random(draft, overloads->count)];
	uint64_t way = calls_random(draft, 100);
	size_t odd = way < 25 ? SIZE_MAX : draw_odd(draft, sig);
	unsigned given = (unsigned)calls_random(draft, 70);

	calls_draw_usual(draft);
	for (size_t i = 0; i < sig->count; i++) {
		const struct tt_arg *arg = &sig->args[i];
		enum calls_level level = i == odd ? CALLS_MILD : CALLS_VALID;

		if (way >= 75 && (i == odd || calls_chance(draft, 20)))
			level = CALLS_HOSTILE;
		if (arg->has_default && level == CALLS_VALID && !calls_chance(draft, given))
			continue;
		draft->args[draft->count++] =
			(struct ttnn_arg){arg->name, draw_value(draft, arg, level, 0)};
	}
}
