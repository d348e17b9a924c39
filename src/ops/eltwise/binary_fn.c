/*
 * binary_fn.c: what is known of each two-operand function: the types it takes, which of them it takes
 * together, which unit computes it, what it does to its operands first.
 */
#include "ops/eltwise/binary.h"

#include "tensor/dtype.h"

#define BIT(dtype) (1u << (dtype))
#define BF16 BIT(TTNN_BFLOAT16)
#define F32 BIT(TTNN_FLOAT32)
#define I32 BIT(TTNN_INT32)
#define U32 BIT(TTNN_UINT32)
#define U16 BIT(TTNN_UINT16)
#define U8 BIT(TTNN_UINT8)
#define FLOATS (BF16 | F32 | BIT(TTNN_BFLOAT8_B) | BIT(TTNN_BFLOAT4_B))
#define WHOLE (I32 | U32 | U16)

/* Which different types a function takes together. */
enum mix {
	MIX_NONE,
	MIX_FLOATS,
	MIX_PLAIN_FLOATS, /* those that are no block floats */
	MIX_SCALE,        /* anything with a scale, which is of floats */
};

/* When the vector unit computes it. */
enum sfpu {
	SFPU_ALWAYS,
	SFPU_NEVER,
	SFPU_32,         /* the same type twice, of 32 bits or uint16 */
	SFPU_32_BF16,    /* and bfloat16 */
	SFPU_MUL,        /* no block float, unless it may be fast: then as SFPU_32 */
	SFPU_DIV,        /* always, unless it may be fast: then float32 or int32 twice */
	SFPU_SAME_FLOAT, /* the same float twice */
	SFPU_F32,        /* float32 twice */
	SFPU_I32,        /* int32 twice */
	SFPU_WHOLE_SAME, /* the same integer twice */
	SFPU_WHOLE,      /* any two integers */
	SFPU_WHOLE_32,   /* any two of 32 bits */
};

/* Which operands are transformed first, on the matrix unit (FPU) or on both. */
enum { A_ALWAYS = 1, B_ALWAYS = 2, A_FPU = 4, B_FPU = 8, BF16_FPU = 16 };

struct row {
	uint16_t takes;
	uint8_t mix, sfpu, stages;
};

#define ARITHMETIC(sfpu_, stages_)                                                                 \
	{                                                                                          \
		FLOATS | WHOLE, MIX_FLOATS, sfpu_, stages_                                         \
	}
#define COMPARISON                                                                                 \
	{                                                                                          \
		FLOATS | WHOLE | U8, MIX_FLOATS, SFPU_32_BF16, 0                                   \
	}

/* A function that is not here takes nothing. */
static const struct row rows[] = {
	[TT_BINARY_ADD] = ARITHMETIC(SFPU_32, 0),
	[TT_BINARY_SUB] = ARITHMETIC(SFPU_32, 0),
	[TT_BINARY_RSUB] = ARITHMETIC(SFPU_32, A_FPU),
	[TT_BINARY_MUL] = ARITHMETIC(SFPU_MUL, 0),
	[TT_BINARY_SQUARED_DIFFERENCE] = ARITHMETIC(SFPU_32, 0),
	[TT_BINARY_LOGICAL_AND] = ARITHMETIC(SFPU_32, A_ALWAYS | B_ALWAYS),
	[TT_BINARY_LOGICAL_OR] = ARITHMETIC(SFPU_32, A_ALWAYS | B_ALWAYS),
	[TT_BINARY_LOGICAL_XOR] = ARITHMETIC(SFPU_32, A_ALWAYS | B_ALWAYS),
	[TT_BINARY_EQ] = COMPARISON,
	[TT_BINARY_NE] = COMPARISON,
	[TT_BINARY_LT] = COMPARISON,
	[TT_BINARY_LE] = COMPARISON,
	[TT_BINARY_GT] = COMPARISON,
	[TT_BINARY_GE] = COMPARISON,
	[TT_BINARY_DIV] = {FLOATS | I32, MIX_FLOATS, SFPU_DIV, B_FPU},
	[TT_BINARY_DIV_FLOOR] = {FLOATS | I32, MIX_NONE, SFPU_ALWAYS, 0},
	[TT_BINARY_DIV_TRUNC] = {FLOATS | I32, MIX_NONE, SFPU_ALWAYS, 0},
	[TT_BINARY_LDEXP] = {FLOATS, MIX_NONE, SFPU_F32, B_ALWAYS | BF16_FPU},
	[TT_BINARY_LOGADDEXP] = {FLOATS, MIX_NONE, SFPU_SAME_FLOAT, 0},
	[TT_BINARY_LOGADDEXP2] = {FLOATS, MIX_NONE, SFPU_SAME_FLOAT, 0},
	[TT_BINARY_BIAS_GELU] = {FLOATS, MIX_NONE, SFPU_F32, 0},
	[TT_BINARY_HYPOT] = {FLOATS, MIX_NONE, SFPU_F32, A_ALWAYS | B_ALWAYS},
	[TT_BINARY_XLOGY] = {FLOATS, MIX_NONE, SFPU_ALWAYS, 0},
	[TT_BINARY_ATAN2] = {FLOATS, MIX_NONE, SFPU_ALWAYS, 0},
	[TT_BINARY_POWER] = {FLOATS, MIX_NONE, SFPU_ALWAYS, 0},
	[TT_BINARY_NEXTAFTER] = {BF16 | F32, MIX_NONE, SFPU_ALWAYS, 0},
	[TT_BINARY_ISCLOSE] = {FLOATS | I32, MIX_PLAIN_FLOATS, SFPU_ALWAYS, 0},
	[TT_BINARY_MAXIMUM] = {FLOATS | I32 | U32, MIX_NONE, SFPU_ALWAYS, 0},
	[TT_BINARY_MINIMUM] = {FLOATS | I32 | U32, MIX_NONE, SFPU_ALWAYS, 0},
	[TT_BINARY_REMAINDER] = {FLOATS | I32 | U32, MIX_NONE, SFPU_ALWAYS, 0},
	[TT_BINARY_FMOD] = {FLOATS | I32, MIX_NONE, SFPU_ALWAYS, 0},
	[TT_BINARY_BITWISE_AND] = {WHOLE, MIX_NONE, SFPU_WHOLE_SAME, 0},
	[TT_BINARY_BITWISE_OR] = {WHOLE, MIX_NONE, SFPU_WHOLE_SAME, 0},
	[TT_BINARY_BITWISE_XOR] = {WHOLE, MIX_NONE, SFPU_WHOLE_SAME, 0},
	[TT_BINARY_LEFT_SHIFT] = {WHOLE, MIX_NONE, SFPU_WHOLE, 0},
	[TT_BINARY_RIGHT_SHIFT] = {WHOLE, MIX_NONE, SFPU_WHOLE, 0},
	[TT_BINARY_LOGICAL_RIGHT_SHIFT] = {I32 | U32, MIX_NONE, SFPU_WHOLE_32, 0},
	[TT_BINARY_GCD] = {I32, MIX_NONE, SFPU_I32, 0},
	[TT_BINARY_LCM] = {I32, MIX_NONE, SFPU_I32, 0},
	[TT_BINARY_WHERE_TST] = {FLOATS | I32 | U32, MIX_NONE, SFPU_ALWAYS, 0},
	[TT_BINARY_WHERE_TTS] = {FLOATS | I32 | U32, MIX_NONE, SFPU_ALWAYS, 0},
	[TT_BINARY_QUANT] = {FLOATS | I32, MIX_SCALE, SFPU_ALWAYS, 0},
	[TT_BINARY_REQUANT] = {FLOATS | I32 | U8, MIX_SCALE, SFPU_ALWAYS, 0},
	[TT_BINARY_DEQUANT] = {FLOATS | I32 | U8, MIX_SCALE, SFPU_ALWAYS, 0},
};

static const struct row *row_of(enum tt_binary_fn fn)
{
	static const struct row none = {.sfpu = SFPU_NEVER};

	return (size_t)fn < sizeof(rows) / sizeof(rows[0]) ? &rows[fn] : &none;
}

static bool among(uint32_t set, enum ttnn_dtype dtype)
{
	return set >> dtype & 1;
}

bool tt_binary_takes(enum tt_binary_fn fn, enum ttnn_dtype dtype)
{
	return among(row_of(fn)->takes, dtype);
}

/* Which two types an operation takes together. */
bool tt_binary_mixes(enum tt_binary_fn fn, enum ttnn_dtype a, enum ttnn_dtype b)
{
	if (a == b)
		return true;
	switch ((enum mix)row_of(fn)->mix) {
	case MIX_FLOATS:
		return among(FLOATS, a) && among(FLOATS, b);
	case MIX_PLAIN_FLOATS:
		return among(BF16 | F32, a) && among(BF16 | F32, b);
	case MIX_SCALE:
		return among(FLOATS, b);
	case MIX_NONE:
		break;
	}
	return false;
}

/* Whether the vector unit (SFPU) computes it, by function and types. */
bool tt_binary_on_sfpu(enum tt_binary_fn fn, enum ttnn_dtype a, enum ttnn_dtype b, bool fast)
{
	switch ((enum sfpu)row_of(fn)->sfpu) {
	case SFPU_ALWAYS:
		return true;
	case SFPU_NEVER:
		return false;
	case SFPU_MUL:
		if (!fast)
			return !tt_dtype_is_block(a) && !tt_dtype_is_block(b);
		return a == b && among(F32 | WHOLE, a);
	case SFPU_32:
		return a == b && among(F32 | WHOLE, a);
	case SFPU_32_BF16:
		return a == b && among(F32 | WHOLE | BF16, a);
	case SFPU_DIV:
		return !fast || (a == b && among(F32 | I32, a));
	case SFPU_SAME_FLOAT:
		return a == b && among(FLOATS, a);
	case SFPU_F32:
		return a == TTNN_FLOAT32 && b == TTNN_FLOAT32;
	case SFPU_I32:
		return a == TTNN_INT32 && b == TTNN_INT32;
	case SFPU_WHOLE_SAME:
		return a == b && among(WHOLE, a);
	case SFPU_WHOLE:
		return among(WHOLE, a) && among(WHOLE, b);
	case SFPU_WHOLE_32:
		return among(I32 | U32, a) && among(I32 | U32, b);
	}
	return false;
}

/* Operands that are prepared in a buffer of their own. */
struct tt_binary_stages tt_binary_stages(enum tt_binary_fn fn, enum ttnn_dtype a, bool sfpu)
{
	uint8_t stages = row_of(fn)->stages;
	bool bf16 = !sfpu && (stages & BF16_FPU);

	/* What has to become bfloat16 first goes through a buffer too. */
	return (struct tt_binary_stages){
		.a = (stages & A_ALWAYS) || (!sfpu && (stages & A_FPU)) ||
		     (bf16 && a != TTNN_BFLOAT16),
		.b = (stages & B_ALWAYS) || (!sfpu && (stages & B_FPU)),
		.in_bf16 = bf16,
	};
}
