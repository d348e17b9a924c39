#include "ops/op_enums.h"

#include "base/vec.h"
#include "tensor/fn.h"

#define TT_X(name, number, y) {number, #name},
static const struct tt_enum_row unary_rows[] = {TT_UNARY_LIST(TT_X)};
#undef TT_X
#define TT_X(name, number) {number, #name},
static const struct tt_enum_row binary_rows[] = {TT_BINARY_LIST(TT_X)};
static const struct tt_enum_row ternary_rows[] = {TT_TERNARY_LIST(TT_X)};

static const struct tt_enum_row gelu_rows[] = {
	{TT_GELU_ACCURATE, "Accurate"},
	{TT_GELU_FAST, "FastLut"},
	{TT_GELU_TANH, "Tanh"},
};
static const struct tt_enum_row sigmoid_rows[] = {
	{TT_SIGMOID_ACCURATE, "Accurate"},
	{TT_SIGMOID_FAST_EXP, "AccurateWithFastExp"},
	{TT_SIGMOID_FAST, "FastApproximate"},
};

static const struct tt_enum_row embeddings_rows[] = {
	{TT_EMBEDDING_GENERIC, "GENERIC"},
	{TT_EMBEDDING_PADDED, "PADDED"},
	{TT_EMBEDDING_BINARY, "BINARY"},
};

static const struct tt_enum_row loss_rows[] = {
	{TT_LOSS_NONE, "NONE"},
	{TT_LOSS_MEAN, "MEAN"},
	{TT_LOSS_SUM, "SUM"},
};

static const struct tt_enum_row bcast_math_rows[] = {
	{TT_BCAST_ADD, "ADD"},
	{TT_BCAST_SUB, "SUB"},
	{TT_BCAST_MUL, "MUL"},
};
static const struct tt_enum_row bcast_dim_rows[] = {
	{TT_BCAST_H, "H"},
	{TT_BCAST_W, "W"},
	{TT_BCAST_HW, "HW"},
};

const struct tt_enum tt_enum_bcast_math = {"BcastOpMath", bcast_math_rows,
					   TT_COUNT(bcast_math_rows)};
const struct tt_enum tt_enum_bcast_dim = {"BcastOpDim", bcast_dim_rows, TT_COUNT(bcast_dim_rows)};
const struct tt_enum tt_enum_loss_reduction = {"LossReductionMode", loss_rows, TT_COUNT(loss_rows)};
const struct tt_enum tt_enum_gelu_variant = {"GeluVariant", gelu_rows, TT_COUNT(gelu_rows)};
const struct tt_enum tt_enum_sigmoid_mode = {"SigmoidMode", sigmoid_rows, TT_COUNT(sigmoid_rows)};
const struct tt_enum tt_enum_embeddings = {"EmbeddingsType", embeddings_rows,
					   TT_COUNT(embeddings_rows)};
const struct tt_enum tt_enum_unary = {"UnaryOpType", unary_rows, TT_COUNT(unary_rows)};
const struct tt_enum tt_enum_binary = {"BinaryOpType", binary_rows, TT_COUNT(binary_rows)};
const struct tt_enum tt_enum_ternary = {"TernaryOpType", ternary_rows, TT_COUNT(ternary_rows)};

static const struct tt_enum_row padding_rows[] = {{0, "Zeros"}, {1, "Replicate"}};
const struct tt_enum tt_enum_padding = {"PaddingMode", padding_rows, TT_COUNT(padding_rows)};

static const struct tt_enum_row sparse_kvformat_rows[] = {
	{0, "BF16"}, {1, "FP8_E4M3"}, {2, "SCALED_FP8"}};
const struct tt_enum tt_enum_sparse_kv_format = {"SparseKVFormat", sparse_kvformat_rows,
						 TT_COUNT(sparse_kvformat_rows)};

static const struct tt_enum_row rgb_range_rows[] = {{0, "MinusOneToOne"}, {1, "ZeroToOne"}};
const struct tt_enum tt_enum_rgb_range = {"RGBRange", rgb_range_rows, TT_COUNT(rgb_range_rows)};

static const struct tt_enum_row yuv_space_rows[] = {{0, "BT601"}, {1, "BT709"}, {2, "BT2020"}};
const struct tt_enum tt_enum_yuv_space = {"YUVColorSpace", yuv_space_rows,
					  TT_COUNT(yuv_space_rows)};

static const struct tt_enum_row yuv_format_rows[] = {{0, "YUV420Planar"}};
const struct tt_enum tt_enum_yuv_format = {"YUVFormat", yuv_format_rows, TT_COUNT(yuv_format_rows)};

static const struct tt_enum_row yuv_range_rows[] = {{0, "Full"}, {1, "Limited"}};
const struct tt_enum tt_enum_yuv_range = {"YUVRange", yuv_range_rows, TT_COUNT(yuv_range_rows)};

static const struct tt_enum_row wy_inverse_rows[] = {
	{0, "AUTO"}, {1, "HORNER"}, {2, "FORWARD_SUBSTITUTION"}};
const struct tt_enum tt_enum_wy_inverse = {"ChunkGdnWyInverse", wy_inverse_rows,
					   TT_COUNT(wy_inverse_rows)};
