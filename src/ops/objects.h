/*
 * objects.h: the configuration objects that operations take, as rows: the name under `ttnn`, the
 * fields with their types and defaults.
 *
 * Frontends and readers of recorded calls make them by name; operations read the fields by the
 * positions of their schema.
 */
#ifndef TT_OPS_OBJECTS_H
#define TT_OPS_OBJECTS_H

#include "base/arena.h"
#include "event/value.h"
#include "ops/sig.h"

/* How exact and where the matrix engine computes. */
enum tt_compute_field {
	TT_COMPUTE_FIDELITY,
	TT_COMPUTE_APPROX,
	TT_COMPUTE_FP32,
	TT_COMPUTE_L1_ACC,
	TT_COMPUTE_FULL_SYNC,
	TT_COMPUTE_THROTTLE,
	TT_COMPUTE_FIELDS
};
extern const struct tt_schema tt_schema_compute;

/* How normalisation goes over shards. The default config has the last three fields alone. */
enum tt_norm_config_field {
	TT_NORM_GRID,
	TT_NORM_SUBBLOCK_W,
	TT_NORM_BLOCK_H,
	TT_NORM_BLOCK_W,
	TT_NORM_INPLACE,
	TT_NORM_LEGACY_REDUCTION,
	TT_NORM_LEGACY_RSQRT,
	TT_NORM_WELFORD,
	TT_NORM_FIELDS
};
extern const struct tt_schema tt_schema_norm_default, tt_schema_norm_sharded;

/* Whether an argument is a default config that asks for Welford's method. */
bool tt_norm_config_welford(const struct ttnn_value *config);

/* How attention is cut into chunks. */
enum tt_sdpa_config_field {
	TT_SDPA_GRID,
	TT_SDPA_SUB_GRID,
	TT_SDPA_Q_CHUNK,
	TT_SDPA_K_CHUNK,
	TT_SDPA_EXP_APPROX,
	TT_SDPA_MAX_CORES,
	TT_SDPA_K_SPLITS,
	TT_SDPA_FIDELITY,
	TT_SDPA_SEGMENTED,
	TT_SDPA_FIELDS
};
extern const struct tt_schema tt_schema_sdpa;

/* Fields of a PagedCacheGeometryOverride. */
enum { TT_PAGED_BLOCK, TT_PAGED_KV_HEADS, TT_PAGED_FIELDS };
extern const struct tt_schema tt_schema_paged_geometry;

/* How chunks of gated delta nets are laid out on cores: together, in two programs, or a core for each head. */
enum tt_delta_fused_field {
	TT_DELTA_PRODUCERS,
	TT_DELTA_RECEIVERS,
	TT_DELTA_ROW_LOCAL,
	TT_DELTA_DEPTH,
	TT_DELTA_UNICAST,
	TT_DELTA_POSTED,
	TT_DELTA_POOL,
	TT_DELTA_SHARE,
	TT_DELTA_CHECKS,
	TT_DELTA_FAULT,
	TT_DELTA_FUSED_FIELDS
};
enum tt_delta_phased_field {
	TT_DELTA_MCAST,
	TT_DELTA_SCAN_SERIAL,
	TT_DELTA_PREP_SERIAL,
	TT_DELTA_PHASED_FIELDS
};
extern const struct tt_schema tt_schema_delta_fused, tt_schema_delta_phased, tt_schema_delta_mono;

/* What an indexer of keys takes at once: queries, keys, heads; no heads: all. */
enum { TT_INDEXER_Q, TT_INDEXER_K, TT_INDEXER_HEADS, TT_INDEXER_FIELDS };
extern const struct tt_schema tt_schema_indexer;

/*
 * A ring of memory that cores hand pages on through: what holds its memory, which the caller keeps; its senders, and
 * as many sets of receivers; its bytes on each core.
 */
enum tt_global_cb_field {
	TT_GLOBAL_CB_ROOM,
	TT_GLOBAL_CB_SENDERS,
	TT_GLOBAL_CB_RECEIVERS,
	TT_GLOBAL_CB_SIZE,
	TT_GLOBAL_CB_FIELDS
};
extern const struct tt_schema tt_schema_global_cb;

/* An argument that is one, whose lists fit each other; NULL when it was not given. Refuses others. */
tt_status tt_global_cb_read(const struct ttnn_value **fields, const struct ttnn_value *value);

/* Channels that a core convolves at once, in kda.qkv_causal_conv1d_silu. */
extern const struct tt_schema tt_schema_conv_silu;

/* A field that is a CoreCoord, also when it was given as a pair; false when it is neither. */
bool tt_object_core(struct ttnn_core *out, const struct ttnn_value *value);

/*
 * Makes an object of this name ("UnaryWithParam", "WormholeComputeKernelConfig") from the arguments
 * of a call, in `arena`. TTNN_NOTFOUND: there is no such kind; TTNN_TYPE: the arguments do not fit.
 */
tt_status tt_object_make(struct ttnn_value *out, struct tt_arena *arena, const char *name,
			 const struct ttnn_arg *args, size_t arg_count);

/* The fields of a kind as a signature, in `arena`. */
tt_status tt_object_signature(struct tt_sig *out, struct tt_arena *arena, const char *name);

/* The name of kind i, NULL behind the last. */
const char *tt_object_kind(size_t i);

/* The kind that has this schema, the first where several do; NULL when none has. */
const char *tt_object_kind_of(const struct tt_schema *schema);

/* The schema of this name, upstream's of the type; NULL when no kind has it. */
const struct tt_schema *tt_object_schema(const char *name);

/* Whether there is such a kind. */
bool tt_object_known(const char *name);

#endif
