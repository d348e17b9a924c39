#include "ops/sig.h"

#include <ctype.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "device/devtensor.h"
#include "event/value_text.h"
#include "ops/op_enums.h"
#include "tensor/enums.h"
#include "tensor/shape.h"
#include "tensor/text.h"

#define KIND(k) (1u << (k))

/*
 * A type of argument. To add one: a row here. `kinds` are the kinds of value that fit, `items` the
 * kinds of a list's items (0: not a list), `enumeration` the enumeration a member must be of.
 */
struct tt_arg_type {
	const char *name;
	const char *python; /* as upstream's messages name it */
	uint32_t kinds, items;
	const struct tt_enum *enumeration;
	const char *object; /* (optional) what the names of objects that fit hold */
};

#define INTS (KIND(TTNN_VALUE_INT))
#define UNSIGNED (1u << 31) /* none is negative; in `items`, lists of items are pairs */
#define LONG (1u << 30)     /* of 64 bits, where others have 32 */
#define TWO (1u << 28)      /* a list of two */
#define STEP (1u << 29) /* in `items`: a function, or it and its parameter, for an object of it */
#define NUMBERS (KIND(TTNN_VALUE_INT) | KIND(TTNN_VALUE_REAL))
#define ANY (KIND(TTNN_VALUE_KINDS) - 1)
#define ANY_LIST (KIND(TTNN_VALUE_LIST))
#define CCL_TYPE(name) "ttnn.experimental.ccl_experimental." name
#define UNARY (KIND(TTNN_VALUE_OBJECT) | KIND(TTNN_VALUE_ENUM) | ANY_LIST)

static const struct tt_arg_type types[] = {
	{"Tensor", "ttnn.Tensor", KIND(TTNN_VALUE_TENSOR), 0, NULL, NULL},
	{"Tensors", "collections.abc.Sequence[ttnn.Tensor]", ANY_LIST, KIND(TTNN_VALUE_TENSOR),
	 NULL, NULL},
	{"ComplexTensor", "ttnn._ttnn.operations.complex.ComplexTensor", ANY_LIST,
	 KIND(TTNN_VALUE_TENSOR), NULL, NULL},
	{"Scalar", "int | int | float", NUMBERS | KIND(TTNN_VALUE_BOOL), 0, NULL, NULL},
	{"int", "int", INTS | KIND(TTNN_VALUE_BOOL), 0, NULL, NULL},
	{"size", "int", INTS | KIND(TTNN_VALUE_BOOL) | UNSIGNED, 0, NULL, NULL},
	{"long", "int", INTS | KIND(TTNN_VALUE_BOOL) | LONG, 0, NULL, NULL},
	{"float", "float", NUMBERS | KIND(TTNN_VALUE_BOOL), 0, NULL, NULL},
	{"bool", "bool", KIND(TTNN_VALUE_BOOL), 0, NULL, NULL},
	{"str", "str", KIND(TTNN_VALUE_STRING), 0, NULL, NULL},
	{"Shape", "ttnn._ttnn.types.Shape", KIND(TTNN_VALUE_SHAPE) | ANY_LIST, INTS | UNSIGNED,
	 NULL, NULL},
	{"sizes", "collections.abc.Sequence[int]", KIND(TTNN_VALUE_SHAPE) | ANY_LIST,
	 INTS | UNSIGNED, NULL, NULL},
	{"ints", "collections.abc.Sequence[int]", KIND(TTNN_VALUE_SHAPE) | ANY_LIST, INTS, NULL,
	 NULL},
	{"floats", "collections.abc.Sequence[float]", ANY_LIST, NUMBERS, NULL, NULL},
	{"point", "tuple[float, float]", ANY_LIST | TWO, NUMBERS, NULL, NULL},
	{"bools", "collections.abc.Sequence[bool]", ANY_LIST, KIND(TTNN_VALUE_BOOL), NULL, NULL},
	{"pairs", "collections.abc.Sequence[collections.abc.Sequence[int]]", ANY_LIST,
	 ANY_LIST | KIND(TTNN_VALUE_SHAPE) | UNSIGNED, NULL, NULL},
	{"slices", "collections.abc.Sequence[slice]", ANY_LIST, ANY, NULL, NULL},
	{"DataType", "ttnn.DataType", KIND(TTNN_VALUE_ENUM), 0, &tt_enum_dtype, NULL},
	{"Layout", "ttnn.Layout", KIND(TTNN_VALUE_ENUM), 0, &tt_enum_layout, NULL},
	{"BufferType", "ttnn.BufferType", KIND(TTNN_VALUE_ENUM), 0, &tt_enum_buffer_type, NULL},
	{"MemoryLayout", "ttnn.TensorMemoryLayout", KIND(TTNN_VALUE_ENUM), 0,
	 &tt_enum_memory_layout, NULL},
	{"Orientation", "ttnn.ShardOrientation", KIND(TTNN_VALUE_ENUM), 0, &tt_enum_orientation,
	 NULL},
	{"MathFidelity", "ttnn.MathFidelity", KIND(TTNN_VALUE_ENUM), 0, &tt_enum_math_fidelity,
	 NULL},
	{"GeluVariant", "ttnn._ttnn.operations.unary.GeluVariant", KIND(TTNN_VALUE_ENUM), 0,
	 &tt_enum_gelu_variant, NULL},
	{"SigmoidMode", "ttnn._ttnn.operations.unary.SigmoidMode", KIND(TTNN_VALUE_ENUM), 0,
	 &tt_enum_sigmoid_mode, NULL},
	{"EmbeddingsType", "ttnn._ttnn.operations.embedding.EmbeddingsType", KIND(TTNN_VALUE_ENUM),
	 0, &tt_enum_embeddings, NULL},
	{"BcastOpMath", "ttnn._ttnn.types.BcastOpMath", KIND(TTNN_VALUE_ENUM), 0,
	 &tt_enum_bcast_math, NULL},
	{"BcastOpDim", "ttnn._ttnn.types.BcastOpDim", KIND(TTNN_VALUE_ENUM), 0, &tt_enum_bcast_dim,
	 NULL},
	{"LossReductionMode", "ttnn._ttnn.operations.loss.LossReductionMode", KIND(TTNN_VALUE_ENUM),
	 0, &tt_enum_loss_reduction, NULL},
	{"MorehSoftmaxOp", "ttnn.moreh.MorehSoftmaxOp", KIND(TTNN_VALUE_ENUM), 0,
	 &tt_enum_moreh_softmax, NULL},
	{"MorehSoftmaxStrategy", "ttnn.moreh.MorehSoftmaxOpParallelizationStrategy",
	 KIND(TTNN_VALUE_ENUM), 0, &tt_enum_moreh_softmax_strategy, NULL},
	{"MorehSoftmaxBackwardOp", "ttnn.moreh.MorehSoftmaxBackwardOp", KIND(TTNN_VALUE_ENUM), 0,
	 &tt_enum_moreh_softmax_backward, NULL},
	{"MorehSoftmaxBackwardStrategy", "ttnn.moreh.MorehSoftmaxBackwardOpParallelizationStrategy",
	 KIND(TTNN_VALUE_ENUM), 0, &tt_enum_moreh_softmax_backward_strategy, NULL},
	{"PaddingMode", "ttnn._ttnn.operations.conv.PaddingMode", KIND(TTNN_VALUE_ENUM), 0,
	 &tt_enum_padding, NULL},
	{"SparseKVFormat", "ttnn.transformer.SparseKVFormat", KIND(TTNN_VALUE_ENUM), 0,
	 &tt_enum_sparse_kv_format, NULL},
	{"ChunkGdnWyInverse", "ttnn._ttnn.operations.transformer.ChunkGdnWyInverse",
	 KIND(TTNN_VALUE_ENUM), 0, &tt_enum_wy_inverse, NULL},
	{"YUVFormat", "ttnn._ttnn.operations.experimental.YUVFormat", KIND(TTNN_VALUE_ENUM), 0,
	 &tt_enum_yuv_format, NULL},
	{"YUVColorSpace", "ttnn._ttnn.operations.experimental.YUVColorSpace", KIND(TTNN_VALUE_ENUM),
	 0, &tt_enum_yuv_space, NULL},
	{"RGBRange", "ttnn._ttnn.operations.experimental.RGBRange", KIND(TTNN_VALUE_ENUM), 0,
	 &tt_enum_rgb_range, NULL},
	{"YUVRange", "ttnn._ttnn.operations.experimental.YUVRange", KIND(TTNN_VALUE_ENUM), 0,
	 &tt_enum_yuv_range, NULL},
	{"YUVCoefficients", "ttnn._ttnn.operations.experimental.YUVCoefficients",
	 KIND(TTNN_VALUE_OBJECT), 0, NULL, "YUVCoefficients"},
	{"MemoryConfig", "ttnn.MemoryConfig", KIND(TTNN_VALUE_MEMORY), 0, NULL, NULL},
	{"CoreRangeSet", "ttnn.CoreRangeSet", KIND(TTNN_VALUE_CORE_SET), 0, NULL, NULL},
	{"CoreCoord", "ttnn.CoreCoord", KIND(TTNN_VALUE_CORE) | ANY_LIST, INTS, NULL, NULL},
	{"CoreCoords", "collections.abc.Sequence[ttnn.CoreCoord]", ANY_LIST, KIND(TTNN_VALUE_CORE),
	 NULL, NULL},
	{"CoreGrid", "ttnn._ttnn.types.CoreGrid", KIND(TTNN_VALUE_CORE), 0, NULL, NULL},
	{"Tile", "ttnn.Tile", KIND(TTNN_VALUE_TILE), 0, NULL, NULL},
	{"ShardSpec", "ttnn.ShardSpec", KIND(TTNN_VALUE_SHARD), 0, NULL, NULL},
	{"Device", "ttnn._ttnn.multi_device.MeshDevice", KIND(TTNN_VALUE_DEVICE), 0, NULL, NULL},
	{"Unary", "ttnn._ttnn.activation.EltwiseUnaryWithParam", UNARY, STEP, NULL,
	 "UnaryWithParam"},
	{"Unarys", "collections.abc.Sequence[ttnn._ttnn.activation.EltwiseUnaryWithParam]",
	 ANY_LIST, UNARY | STEP, NULL, NULL},
	{"ComputeConfig", "ttnn.core.WormholeComputeKernelConfig", KIND(TTNN_VALUE_OBJECT), 0, NULL,
	 "ComputeKernelConfig"},
	{"UnaryWithParam", "ttnn._ttnn.activation.UnaryWithParam", UNARY, STEP, NULL,
	 "UnaryWithParam"},
	{"MatmulConfig",
	 "ttnn::operations::matmul::MatmulMultiCoreProgramConfig | "
	 "ttnn.matmul.MatmulMultiCoreReuseProgramConfig | "
	 "ttnn.matmul.MatmulMultiCoreReuseMultiCastProgramConfig | "
	 "ttnn.matmul.MatmulMultiCoreReuseMultiCast1DProgramConfig | "
	 "ttnn.matmul.MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig | "
	 "ttnn.matmul.MatmulMultiCoreReuseMultiCastBatchedDRAMShardedProgramConfig",
	 KIND(TTNN_VALUE_OBJECT), 0, NULL, "Matmul"},
	{"GlobalCb", "ttnn._ttnn.global_circular_buffer.global_circular_buffer",
	 KIND(TTNN_VALUE_OBJECT), 0, NULL, NULL},
	{"Pipes", "collections.abc.Sequence[ttnn._ttnn.prefetcher_pipe.PrefetcherPipe]", ANY_LIST,
	 KIND(TTNN_VALUE_OPAQUE), NULL, NULL},
	{"ProgramConfig", "ttnn.ProgramConfig", KIND(TTNN_VALUE_OBJECT), 0, NULL, NULL},
	{"SubDeviceId", "ttnn._ttnn.device.SubDeviceId", INTS | KIND(TTNN_VALUE_OPAQUE), 0, NULL,
	 NULL},
	{"RoutedExpertActivation", "ttnn._ttnn.operations.experimental.RoutedExpertActivation",
	 KIND(TTNN_VALUE_ENUM), 0, &tt_enum_routed_expert_activation, NULL},
	{"Topology", "ttnn.ccl.Topology", KIND(TTNN_VALUE_ENUM), 0, &tt_enum_topology, NULL},
	{"WorkerMode", CCL_TYPE("WorkerMode"), KIND(TTNN_VALUE_ENUM), 0, &tt_enum_worker_mode,
	 NULL},
	{"DispatchAlgorithm", CCL_TYPE("DispatchAlgorithm"), KIND(TTNN_VALUE_ENUM), 0,
	 &tt_enum_dispatch_algorithm, NULL},
	{"MoEActivationFunction", CCL_TYPE("MoEActivationFunction"), KIND(TTNN_VALUE_ENUM), 0,
	 &tt_enum_moe_activation, NULL},
	{"enum", "int", KIND(TTNN_VALUE_ENUM), 0, NULL, NULL},
	{"any", "object", ANY & ~KIND(TTNN_VALUE_ABSENT), ANY, NULL, NULL},
};

const struct tt_enum *tt_arg_type_enum(bool *more, size_t i)
{
	*more = i < sizeof(types) / sizeof(types[0]);
	return *more ? types[i].enumeration : NULL;
}

const char *tt_arg_type_name(const struct tt_arg_type *type)
{
	return type->name;
}

/* ---- parsing -------------------------------------------------------------------------------- */

struct parser {
	const char *at, *text;
	struct tt_arena *arena;
};

static tt_status bad(const struct parser *p, const char *what)
{
	return tt_fail(TTNN_INTERNAL, "signature \"%s\": %s at \"%.20s\"", p->text, what, p->at);
}

static void skip_space(struct parser *p)
{
	while (*p->at == ' ')
		p->at++;
}

static bool take(struct parser *p, char c)
{
	skip_space(p);
	if (*p->at != c)
		return false;
	p->at++;
	skip_space(p);
	return true;
}

static size_t word_length(const char *at)
{
	size_t n = 0;

	while (isalnum((unsigned char)at[n]) || at[n] == '_' || at[n] == '.' || at[n] == '-' ||
	       at[n] == '+')
		n++;
	return n;
}

static const struct tt_arg_type *find_type(const char *name, size_t length)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (strlen(types[i].name) == length && memcmp(types[i].name, name, length) == 0)
			return &types[i];
	return NULL;
}

static tt_status parse_types(struct tt_arg *arg, struct parser *p)
{
	do {
		size_t length = word_length(p->at);
		const struct tt_arg_type *type = find_type(p->at, length);

		if (!type || arg->type_count == sizeof(arg->types) / sizeof(arg->types[0]))
			return bad(p, "unknown type, or too many,");
		arg->types[arg->type_count++] = type;
		p->at += length;
	} while (take(p, '|'));
	arg->optional = take(p, '?');
	return TTNN_OK;
}

/* Where tensors lie by default. */
static const struct ttnn_memory_config dram = {.buffer = TTNN_DRAM}, l1 = {.buffer = TTNN_L1};

static tt_status parse_default(struct tt_arg *arg, struct parser *p);

/* What stands between brackets, each item as a default of the same types. */
static tt_status parse_list(struct tt_arg *arg, struct parser *p)
{
	struct ttnn_value *items = tt_arena_calloc(p->arena, 8, sizeof(*items));
	size_t count = 0;

	if (!items)
		return tt_fail_nomem();
	while (!take(p, ']')) {
		if (count == 8)
			return bad(p, "too long a list as default");
		TT_TRY(parse_default(arg, p));
		items[count++] = arg->fallback;
		take(p, ',');
	}
	arg->fallback = ttnn_v_list(count ? items : NULL, count);
	return TTNN_OK;
}

static tt_status parse_default(struct tt_arg *arg, struct parser *p)
{
	const struct tt_enum *type = arg->types[0]->enumeration;
	size_t length = word_length(p->at);
	char word[64];
	char *end;

	arg->has_default = true;
	if (take(p, '['))
		return parse_list(arg, p);
	if (length == 0 || length >= sizeof(word))
		return bad(p, "no default");
	memcpy(word, p->at, length);
	word[length] = '\0';
	p->at += length;
	if (strcmp(word, "None") == 0)
		arg->fallback = ttnn_v_none();
	else if (strcmp(word, "True") == 0 || strcmp(word, "False") == 0)
		arg->fallback = ttnn_v_bool(word[0] == 'T');
	else if (arg->types[0]->kinds == KIND(TTNN_VALUE_STRING)) {
		const char *text = tt_arena_strdup(p->arena, word);

		if (!text)
			return tt_fail_nomem();
		arg->fallback = ttnn_v_string(text);
	} else if (arg->types[0]->kinds == KIND(TTNN_VALUE_MEMORY))
		arg->fallback = ttnn_v_memory(strcmp(word, "L1") == 0 ? &l1 : &dram);
	else if (type) {
		int64_t member;

		if (!tt_enum_find(&member, type, word))
			return bad(p, "unknown enumeration member before");
		arg->fallback = tt_value_enum(type, member);
	} else if (strchr(word, '.') || strchr(word, 'e') || strcmp(word, "inf") == 0)
		arg->fallback = ttnn_v_real(strtod(word, &end));
	else if (isdigit((unsigned char)word[0]) || word[0] == '-')
		arg->fallback = ttnn_v_int(strtoll(word, &end, 10));
	else
		arg->fallback = ttnn_v_string(tt_arena_strdup(p->arena, word));
	return TTNN_OK;
}

static tt_status parse_arg(struct tt_arg *arg, struct parser *p)
{
	size_t length = word_length(p->at);

	if (!length)
		return bad(p, "no argument name");
	arg->name = tt_arena_strndup(p->arena, p->at, length);
	if (!arg->name)
		return tt_fail_nomem();
	p->at += length;
	if (!take(p, ':'))
		return bad(p, "no type");
	TT_TRY(parse_types(arg, p));
	return take(p, '=') ? parse_default(arg, p) : TTNN_OK;
}

/* ---- names ------------------------------------------------------------------------------------ */

/* Every call looks a dozen names up: a table with open addressing, never more than half full. */
_Static_assert(TT_SIG_SLOTS >= 2 * TT_ARGS_MAX && !(TT_SIG_SLOTS & (TT_SIG_SLOTS - 1)), "slots");

static uint32_t slot_of(const char *name)
{
	size_t length = strlen(name);

	if (!length)
		return 0;
	return (uint32_t)(length + 5u * (uint8_t)name[0] + 11u * (uint8_t)name[length / 2] +
			  3u * (uint8_t)name[length - 1]) %
	       TT_SIG_SLOTS;
}

static uint32_t next(uint32_t slot)
{
	return (slot + 1) % TT_SIG_SLOTS;
}

static void enter(struct tt_sig *sig, size_t index)
{
	uint32_t slot = slot_of(sig->args[index].name);

	while (sig->slots[slot])
		slot = next(slot);
	sig->slots[slot] = (uint8_t)(index + 1);
}

/* What a trace says of the arguments. */
static tt_status make_schema(struct tt_sig *sig, struct tt_arena *arena)
{
	struct tt_field *fields = tt_arena_calloc(arena, sig->count + 1, sizeof(*fields));

	if (!fields)
		return tt_fail_nomem();
	for (size_t i = 0; i < sig->count; i++) {
		fields[i].name = sig->args[i].name;
		fields[i].defaulted = sig->args[i].has_default;
	}
	sig->schema =
		(struct tt_schema){.name = "arguments", .fields = fields, .count = sig->count};
	return TTNN_OK;
}

tt_status tt_sig_parse(struct tt_sig *out, struct tt_arena *arena, const char *text)
{
	struct parser parser = {.at = text, .text = text, .arena = arena};
	struct tt_arg *args = tt_arena_calloc(arena, TT_ARGS_MAX, sizeof(*args));
	bool keyword_only = false;
	size_t count = 0;

	if (!args)
		return tt_fail_nomem();
	skip_space(&parser);
	while (*parser.at) {
		if (take(&parser, '*')) {
			keyword_only = true;
		} else {
			if (count == TT_ARGS_MAX)
				return bad(&parser, "too many arguments");
			args[count].unseen = take(&parser, '-');
			TT_TRY(parse_arg(&args[count], &parser));
			args[count++].keyword_only = keyword_only;
		}
		if (*parser.at && !take(&parser, ','))
			return bad(&parser, "no comma");
	}
	*out = (struct tt_sig){.text = text,
			       .args = args,
			       .count = count,
			       .sites = tt_arena_calloc(arena, TT_SIG_SITES, sizeof(*out->sites))};
	if (!out->sites)
		return tt_fail_nomem();
	for (size_t i = 0; i < count; i++)
		enter(out, i);
	return make_schema(out, arena);
}

/* Most names are literals: the one that lay here before is looked at first. */
int tt_sig_index(const struct tt_sig *sig, const char *name)
{
	_Atomic uint8_t *site =
		&sig->sites[((uintptr_t)name ^ (uintptr_t)name >> 5) % TT_SIG_SITES];
	int index = atomic_load_explicit(site, memory_order_relaxed) - 1;

	if (index >= 0 && strcmp(sig->args[index].name, name) == 0)
		return index;
	for (uint32_t slot = slot_of(name); sig->slots[slot]; slot = next(slot)) {
		index = sig->slots[slot] - 1;
		if (strcmp(sig->args[index].name, name) == 0) {
			atomic_store_explicit(site, (uint8_t)(index + 1), memory_order_relaxed);
			return index;
		}
	}
	return -1;
}

/* ---- fitting a call --------------------------------------------------------------------------- */

/*
 * The one place where numbers are held against their width: behind it, operations may narrow what
 * they were given. A type that takes floats takes any whole number as one of those.
 */
static bool has_width(uint32_t kinds, const struct ttnn_value *value)
{
	if (value->kind != TTNN_VALUE_INT || kinds & (LONG | KIND(TTNN_VALUE_REAL)))
		return true;
	return value->integer >= (kinds & UNSIGNED ? 0 : INT32_MIN) && value->integer <= UINT32_MAX;
}

static bool is_pair(const struct ttnn_value *value)
{
	return value->kind != TTNN_VALUE_LIST ||
	       (value->count == 2 && value->items[0].kind == TTNN_VALUE_INT &&
		value->items[1].kind == TTNN_VALUE_INT && has_width(UNSIGNED, &value->items[0]) &&
		has_width(UNSIGNED, &value->items[1]));
}

/* UnaryOpType.SILU, (UnaryOpType.GELU, True), or an object. */
static bool is_step(const struct ttnn_value *value)
{
	const uint32_t numbers = NUMBERS | KIND(TTNN_VALUE_BOOL);

	if (value->kind == TTNN_VALUE_ENUM)
		return value->enumeration == &tt_enum_unary;
	return value->kind != TTNN_VALUE_LIST ||
	       (value->count == 2 && value->items[0].kind == TTNN_VALUE_ENUM &&
		value->items[0].enumeration == &tt_enum_unary &&
		numbers & KIND(value->items[1].kind));
}

/* Operations read the fields of an object by their places: it must be of the kind that has them. */
static bool is_kind(const struct tt_arg_type *type, const struct ttnn_value *value)
{
	return !type->object || value->kind != TTNN_VALUE_OBJECT ||
	       strstr(value->schema->name, type->object);
}

static bool type_fits(const struct tt_arg_type *type, const struct ttnn_value *value)
{
	if (!(type->kinds & KIND(value->kind)) || !has_width(type->kinds, value))
		return false;
	if (!is_kind(type, value))
		return false;
	if (type->items == STEP)
		return is_step(value);
	if (type->kinds & TWO && value->count != 2)
		return false;
	if (value->kind == TTNN_VALUE_ENUM && type->enumeration &&
	    value->enumeration != type->enumeration)
		return false;
	if (value->kind == TTNN_VALUE_LIST && type->items)
		for (uint32_t i = 0; i < value->count; i++)
			if (!(type->items & KIND(value->items[i].kind)) ||
			    !has_width(type->items, &value->items[i]) ||
			    (type->items & UNSIGNED && !is_pair(&value->items[i])) ||
			    (type->items & STEP && !is_step(&value->items[i])))
				return false;
	return true;
}

bool tt_arg_accepts(const struct tt_arg *arg, const struct ttnn_value *value)
{
	if (value->kind == TTNN_VALUE_NONE)
		return arg->optional;
	for (uint32_t i = 0; i < arg->type_count; i++)
		if (type_fits(arg->types[i], value))
			return true;
	return false;
}

/*
 * Every operation may be given the command queue it goes to. Execution is in order, so nothing
 * depends on it; an operation that has such an argument reads it.
 */
static bool is_queue(const struct ttnn_arg *arg)
{
	return (strcmp(arg->name, "queue_id") == 0 || strcmp(arg->name, "cq_id") == 0) &&
	       (arg->value.kind == TTNN_VALUE_NONE ||
		(arg->value.kind == TTNN_VALUE_INT && arg->value.integer >= 0 &&
		 arg->value.integer <= UINT8_MAX));
}

static bool sig_fits(struct tt_args *out, const struct tt_sig *sig, const struct ttnn_arg *args,
		     size_t arg_count)
{
	size_t position = 0;

	out->sig = sig;
	out->given = 0;
	for (size_t i = 0; i < arg_count; i++) {
		size_t slot = position;

		if (args[i].value.kind == TTNN_VALUE_ABSENT)
			continue;
		if (args[i].name) {
			int index = tt_sig_index(sig, args[i].name);

			if (index < 0 && is_queue(&args[i]))
				continue;
			if (index < 0)
				return false;
			slot = (size_t)index;
		} else {
			position++;
		}
		if (slot >= sig->count || (out->given & UINT64_C(1) << slot) ||
		    (!args[i].name && sig->args[slot].keyword_only) ||
		    !tt_arg_accepts(&sig->args[slot], &args[i].value))
			return false;
		out->values[slot] = args[i].value;
		out->given |= UINT64_C(1) << slot;
	}
	for (size_t i = 0; i < sig->count; i++) {
		if (out->given & UINT64_C(1) << i)
			continue;
		if (!sig->args[i].has_default)
			return false;
		out->values[i] = sig->args[i].fallback;
	}
	return true;
}

/* What Python calls the type of a value, for "Called with". */
static const char *python_type(const struct ttnn_value *value)
{
	static const char *const names[TTNN_VALUE_KINDS] = {
		[TTNN_VALUE_NONE] = "NoneType",
		[TTNN_VALUE_BOOL] = "bool",
		[TTNN_VALUE_INT] = "int",
		[TTNN_VALUE_REAL] = "float",
		[TTNN_VALUE_STRING] = "str",
		[TTNN_VALUE_SHAPE] = "ttnn._ttnn.types.Shape",
		[TTNN_VALUE_MEMORY] = "ttnn.MemoryConfig",
		[TTNN_VALUE_CORE] = "ttnn.CoreCoord",
		[TTNN_VALUE_CORE_SET] = "ttnn.CoreRangeSet",
		[TTNN_VALUE_TILE] = "ttnn.Tile",
		[TTNN_VALUE_SHARD] = "ttnn.ShardSpec",
		[TTNN_VALUE_ND_SHARD] = "ttnn.NdShardSpec",
		[TTNN_VALUE_TENSOR] = "ttnn.Tensor",
		[TTNN_VALUE_DEVICE] = "ttnn._ttnn.multi_device.MeshDevice",
		[TTNN_VALUE_LIST] = "list",
	};
	const char *name = value->kind < TTNN_VALUE_KINDS ? names[value->kind] : NULL;

	if (value->kind == TTNN_VALUE_OPAQUE)
		name = value->text;
	for (size_t i = 0; value->kind == TTNN_VALUE_ENUM && i < sizeof(types) / sizeof(types[0]);
	     i++)
		if (types[i].enumeration == value->enumeration)
			name = types[i].python;
	return name ? name : "object";
}

static void print_list(struct tt_str *out, const struct ttnn_value *value)
{
	tt_str_addc(out, '[');
	for (uint32_t i = 0; i < value->count; i++) {
		if (i)
			tt_str_adds(out, ", ");
		tt_sig_print_value(out, &value->items[i]);
	}
	tt_str_addc(out, ']');
}

static void print_device(struct tt_str *out, const struct tt_device *device)
{
	char *text;

	if (ttnn_device_text(&text, device) != TTNN_OK)
		return;
	tt_str_adds(out, text);
	ttnn_free(text);
}

/* With its values, as upstream prints one that a call names. */
static void print_tensor(struct tt_str *out, struct tt_tensor *tensor)
{
	static const struct ttnn_print_options options = {.dialect = TTNN_DIALECT_TT_METAL};
	const struct ttnn_tensor_spec *spec = &tensor->spec;
	struct tt_tensor *host;
	char *text = NULL;

	if (!ttnn_tensor_is_allocated(tensor)) {
		tt_str_adds(out, "ttnn.Tensor(<buffer is not allocated>, shape=Shape(");
		tt_shape_list(out, &spec->shape);
		tt_str_addf(out, "), dtype=DataType::%s, layout=Layout::%s)",
			    tt_enum_name(&tt_enum_dtype, (int64_t)spec->dtype),
			    tt_enum_name(&tt_enum_layout, (int64_t)spec->layout));
		return;
	}
	if (tt_tensor_chips(tensor) == 1 &&
	    tt_tensor_resident(&host, tensor, 0, TT_BUFFER_READ) == TTNN_OK) {
		if (ttnn_tensor_text(&text, host, &options) != TTNN_OK)
			text = NULL;
		ttnn_tensor_unref(host);
	}
	tt_str_adds(out, text ? text : "ttnn.Tensor");
	ttnn_free(text);
}

void tt_sig_print_value(struct tt_str *out, const struct ttnn_value *value)
{
	char number[TT_FMT_MAX];

	switch (value->kind) {
	case TTNN_VALUE_STRING:
		tt_str_addf(out, "'%s'", value->text);
		break;
	case TTNN_VALUE_INT:
		tt_str_addf(out, "%lld", (long long)value->integer);
		break;
	case TTNN_VALUE_REAL:
		tt_str_add(out, number, tt_fmt_double(number, value->real));
		break;
	case TTNN_VALUE_BOOL:
		tt_str_adds(out, value->boolean ? "True" : "False");
		break;
	case TTNN_VALUE_NONE:
		tt_str_adds(out, "None");
		break;
	case TTNN_VALUE_ENUM:
		tt_text_enum(out, value->enumeration, value->integer, ".");
		break;
	case TTNN_VALUE_SHAPE:
	case TTNN_VALUE_MEMORY:
	case TTNN_VALUE_CORE:
	case TTNN_VALUE_CORE_SET:
	case TTNN_VALUE_SHARD:
	case TTNN_VALUE_ND_SHARD:
		tt_value_text(out, value);
		break;
	case TTNN_VALUE_TILE:
		tt_text_tile_repr(out, value->tile);
		break;
	case TTNN_VALUE_DEVICE:
		print_device(out, value->device);
		break;
	case TTNN_VALUE_LIST:
		print_list(out, value);
		break;
	case TTNN_VALUE_TENSOR:
		print_tensor(out, value->tensor);
		break;
	default:
		tt_str_adds(out, python_type(value));
	}
}

static void print_keyword(struct tt_str *out, const struct ttnn_arg *arg)
{
	tt_str_addf(out, "%s=", arg->name);
	tt_sig_print_value(out, &arg->value);
}

/* "int | None = None" */
static void print_arg(struct tt_str *out, const struct tt_arg *arg)
{
	tt_str_addf(out, "%s: ", arg->name);
	for (uint32_t i = 0; i < arg->type_count; i++)
		tt_str_addf(out, "%s%s", i ? " | " : "", arg->types[i]->python);
	if (arg->optional)
		tt_str_adds(out, " | None");
	if (!arg->has_default)
		return;
	tt_str_adds(out, " = ");
	tt_sig_print_value(out, &arg->fallback);
}

void tt_sig_print(struct tt_str *out, const struct tt_sig *sig, const char *name)
{
	bool starred = false;

	tt_str_addf(out, "%s(", name);
	for (size_t i = 0; i < sig->count; i++) {
		if (sig->args[i].unseen)
			continue;
		if (i)
			tt_str_adds(out, ", ");
		if (sig->args[i].keyword_only && !starred) {
			tt_str_adds(out, "*, ");
			starred = true;
		}
		print_arg(out, &sig->args[i]);
	}
	tt_str_addc(out, ')');
}

/* The first whole number in a value that no 32 bits hold, or NULL. */
static const struct ttnn_value *too_wide(const struct ttnn_value *value)
{
	const struct ttnn_value *found = NULL;

	if (value->kind == TTNN_VALUE_INT &&
	    (value->integer < INT32_MIN || value->integer > UINT32_MAX))
		return value;
	for (uint32_t i = 0; value->kind == TTNN_VALUE_LIST && i < value->count && !found; i++)
		found = too_wide(&value->items[i]);
	return found;
}

/* Why nothing fits, where a number is the reason: it is not seen in the types. */
static void print_too_wide(struct tt_str *out, const struct ttnn_arg *args, size_t arg_count)
{
	const struct ttnn_value *found = NULL;

	for (size_t i = 0; i < arg_count && !found; i++)
		found = too_wide(&args[i].value);
	if (found)
		tt_str_addf(out, "\n\nThe number %lld does not fit: whole numbers have 32 bits.",
			    (long long)found->integer);
}

static tt_status fits_none(const struct tt_overloads *overloads, const struct ttnn_arg *args,
			   size_t arg_count)
{
	const char *name = overloads->name;
	const char *dot = strrchr(name, '.');
	const char *last = dot ? dot + 1 : name;
	struct tt_str text = {0};
	bool first = true;

	tt_str_addf(&text, "\n%s(): incompatible function arguments.\n\nCalled with:\n  %s(", name,
		    last);
	for (size_t i = 0; i < arg_count; i++) {
		if (args[i].value.kind == TTNN_VALUE_ABSENT)
			continue;
		if (!first)
			tt_str_adds(&text, ", ");
		first = false;
		if (args[i].name)
			print_keyword(&text, &args[i]);
		else
			tt_str_adds(&text, python_type(&args[i].value));
	}
	tt_str_adds(&text, ")\n\nAvailable signatures:");
	for (size_t i = 0; i < overloads->count; i++) {
		tt_str_adds(&text, "\n  ");
		tt_sig_print(&text, &overloads->sigs[i], last);
	}
	print_too_wide(&text, args, arg_count);
	tt_fail(TTNN_TYPE, "%s", tt_str_text(&text));
	tt_str_deinit(&text);
	return TTNN_TYPE;
}

tt_status tt_sig_resolve(struct tt_args *out, const struct tt_overloads *overloads,
			 const struct ttnn_arg *args, size_t arg_count)
{
	for (size_t i = 0; i < overloads->count; i++)
		if (sig_fits(out, &overloads->sigs[i], args, arg_count))
			return TTNN_OK;
	return fits_none(overloads, args, arg_count);
}
