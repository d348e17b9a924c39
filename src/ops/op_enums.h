/* op_enums.h: upstream's enumerations that operations take as arguments or attributes. */
#ifndef TT_OPS_OP_ENUMS_H
#define TT_OPS_OP_ENUMS_H

#include "event/value.h"

extern const struct tt_enum tt_enum_unary, tt_enum_binary, tt_enum_ternary;
extern const struct tt_enum tt_enum_padding;
extern const struct tt_enum tt_enum_topology, tt_enum_fabric, tt_enum_reduce_type;
extern const struct tt_enum tt_enum_signal_aggregators;
extern const struct tt_enum tt_enum_worker_mode, tt_enum_dispatch_algorithm, tt_enum_moe_activation;
extern const struct tt_enum tt_enum_gelu_variant, tt_enum_sigmoid_mode, tt_enum_embeddings;
extern const struct tt_enum tt_enum_sparse_kv_format, tt_enum_wy_inverse;
extern const struct tt_enum tt_enum_moreh_softmax, tt_enum_moreh_softmax_strategy;
extern const struct tt_enum tt_enum_moreh_softmax_backward, tt_enum_moreh_softmax_backward_strategy;
extern const struct tt_enum tt_enum_loss_reduction, tt_enum_bcast_math, tt_enum_bcast_dim;

enum tt_gelu_variant { TT_GELU_ACCURATE = 0, TT_GELU_FAST = 1, TT_GELU_TANH = 2 };
enum tt_sigmoid_mode { TT_SIGMOID_FAST = 0, TT_SIGMOID_FAST_EXP = 1, TT_SIGMOID_ACCURATE = 2 };
enum tt_worker_mode { TT_WORKER_DIRECT = 0, TT_WORKER_TOKENS = 1, TT_WORKER_PAYLOAD = 2 };
enum tt_dispatch_algorithm { TT_DISPATCH_BROADCAST = 0, TT_DISPATCH_ONE_WAY = 2 };
enum tt_embeddings { TT_EMBEDDING_GENERIC = 0, TT_EMBEDDING_PADDED = 1, TT_EMBEDDING_BINARY = 2 };
enum tt_bcast_math { TT_BCAST_ADD = 0, TT_BCAST_SUB = 1, TT_BCAST_MUL = 2 };
enum tt_bcast_dim { TT_BCAST_H = 0, TT_BCAST_W = 1, TT_BCAST_HW = 2 };
enum tt_loss_reduction { TT_LOSS_NONE = 0, TT_LOSS_MEAN = 1, TT_LOSS_SUM = 2 };

/* What experts of a prefill do between their products. */
extern const struct tt_enum tt_enum_routed_expert_activation;

/* What pictures in red, green and blue, and in brightness and colour are like. */
extern const struct tt_enum tt_enum_rgb_range, tt_enum_yuv_space, tt_enum_yuv_format,
	tt_enum_yuv_range;

#endif
