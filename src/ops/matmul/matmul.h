/*
 * matmul.h: the room of matrix products. Collectives multiply with it; the tables of objects take the schemas.
 *
 * The program of matmul, linear and addmm has parts: what is multiplied and how it is cut
 * (matmul_config.c, matmul_auto.c), what is refused (matmul_check.c, matmul_check_config.c), what a
 * program keeps in L1 (matmul_memory.c), and the program itself (matmul.c). The operations that
 * launch it are in matmul_ops.c. Products by other programs are in minimal_matmul.c, matmul_decode.c and moreh_matmul.c.
 *
 * All sizes with no other word are in tiles. "a" is m × k, "b" is k × n, both as they are multiplied:
 * after the transpositions that the program makes itself.
 */
#ifndef TT_OPS_MATMUL_MATMUL_H
#define TT_OPS_MATMUL_MATMUL_H

#include "device/device.h"
#include "ops/op.h"

/* ---- how a product is cut ------------------------------------------------------------------------- */

/* The program configs, in the order of upstream's variant. */
enum tt_matmul_kind {
	TT_MATMUL_MULTI, /* any core any tile: nothing is kept */
	TT_MATMUL_REUSE,
	TT_MATMUL_2D,
	TT_MATMUL_1D,
	TT_MATMUL_DRAM,         /* b is width sharded in DRAM */
	TT_MATMUL_BATCHED_DRAM, /* b is height sharded in DRAM, matrix by matrix */
};

/* A program config. Fields that a kind does not have are 0. */
struct tt_matmul_config {
	enum tt_matmul_kind kind;
	struct ttnn_core grid;     /* columns and rows of cores it may use */
	uint32_t k;                /* in0_block_w */
	uint32_t sub_h, sub_w;     /* out_subblock_h, out_subblock_w */
	uint32_t block_h, block_w; /* out_block_h, out_block_w */
	uint32_t m, n;             /* per_core_M, per_core_N */
	bool fuse_batch, cast_a, gather_a, transpose_cast, untilize, stream_b;
	struct ttnn_value activation; /* fused_activation, or none */
	const ttnn_core_set *allowed; /* allowed_worker_cores, or NULL */
	const ttnn_core_set *hops;    /* hop_cores, or NULL */
	uint32_t receivers;           /* num_global_cb_receivers */
	uint32_t bank_workers;        /* num_workers_per_dram_bank */
};

/* The schemas of the objects, by kind, and the signatures of their constructors. */
extern const struct tt_schema tt_schema_matmul[TT_MATMUL_BATCHED_DRAM + 1];
extern const char *const tt_sig_matmul[TT_MATMUL_BATCHED_DRAM + 1];

/* The same of minimal_matmul. */
extern const struct tt_schema tt_schema_minimal_matmul;
#define TT_SIG_MINIMAL_MATMUL                                                                      \
	"*, M_block_size: int = 1, K_block_size: int = 1, N_block_size: int = 1, "                 \
	"subblock_h: int = 1, subblock_w: int = 1, "                                               \
	"compute_with_storage_grid_size: CoreCoord ? = None"

/*
 * The program of minimal_matmul, for those that multiply among other things: its inputs are an operand, a matrix and, or
 * NULL, a bias, what is added and a gate. Its kernel cuts the product into as many columns as each output has.
 */
#define TT_MINIMAL_ATTRS(X)                                                                        \
	X(TT_MINIMAL_CONFIG, "config")                                                             \
	X(TT_MINIMAL_ACTIVATION, "fused_activation", .text = TT_TEXT_FIXED,                        \
	  .fixed = "<BasicUnaryWithParam>")                                                        \
	X(TT_MINIMAL_MEMORY, "output_mem_config")                                                  \
	X(TT_MINIMAL_DTYPE, "output_dtype")                                                        \
	X(TT_MINIMAL_SCALAR, "scalar")                                                             \
	X(TT_MINIMAL_COMPUTE, "compute_kernel_config")                                             \
	X(TT_MINIMAL_CHUNKS, "chunks")                                                             \
	X(TT_MINIMAL_DIM, "dim")                                                                   \
	X(TT_MINIMAL_SWIGLU, "fuse_swiglu")
enum { TT_MINIMAL_ATTRS(TT_ATTR_ID) TT_MINIMAL_ATTR_COUNT };
extern const struct tt_prog tt_prog_minimal_matmul;

/* Refuses what cannot be added to the product of `act` and n columns, or be its gate. */
tt_status tt_minimal_check_gated(const struct ttnn_shape *added, const struct ttnn_shape *gate,
				 const struct ttnn_shape *act, uint32_t n);

/* A block's tiles along one of these, of a config or as upstream chooses them; and the place of its grid. */
enum { TT_MINIMAL_M, TT_MINIMAL_K, TT_MINIMAL_N, TT_MINIMAL_GRID = 5 };
uint64_t tt_minimal_block(const struct ttnn_value *config, size_t field);

/* Whether an object is such a config; fields that were left open are filled in where it is made. */
bool tt_matmul_config_is(const struct ttnn_value *value);
void tt_matmul_config_complete(const struct tt_schema *schema, struct ttnn_value *fields);

/* A config from its object and back; the object's fields are in `arena`. */
tt_status tt_matmul_config_read(struct tt_matmul_config *out, const struct ttnn_value *value);
tt_status tt_matmul_config_value(struct ttnn_value *out, struct tt_arena *arena,
				 const struct tt_matmul_config *config);

/* "MatmulMultiCoreReuseProgramConfig": for messages. */
const char *tt_matmul_config_name(const struct tt_matmul_config *config);

/* ---- what is multiplied ------------------------------------------------------------------------------ */

/* Everything a product depends on. */
struct tt_matmul {
	struct tt_call *call;
	struct tt_device *device;
	struct tt_tensor *a, *b, *bias, *output; /* the last two may be NULL */
	struct tt_tensor *also; /* (optional) a second b: its product is made with the first */
	bool transpose_a, transpose_b;

	struct ttnn_memory_config memory; /* of the result */
	enum ttnn_dtype dtype;
	struct ttnn_tile tile;     /* of the result */
	struct ttnn_value compute; /* a config of ops/compute.h */
	bool has_grid;             /* the caller chose a grid of cores */
	struct ttnn_core user_grid;
	struct ttnn_value activation; /* that the caller gave, or none */
	bool broadcast;               /* b is one matrix for all of a */
	bool batched;                 /* b is several matrices, as the caller gave it */
	bool untilize;
	struct ttnn_value sub_device_id;
	const ttnn_core_set *sub_device; /* its cores, or NULL */
	struct ttnn_value global_cb;     /* what b comes through (ops/objects.h), or none */

	/* Worked out from these by tt_matmul_measure(). */
	struct ttnn_shape a_shape, b_shape, a_padded, b_padded;
	struct ttnn_tile a_tile, b_tile;
	uint32_t m, k, n;           /* of one matrix */
	uint32_t batch_a, batch_b;  /* matrices, padded ones too */
	bool fp32, l1_acc;          /* from compute */
	struct ttnn_core full_grid; /* of the device */
	uint64_t room;              /* free bytes of L1 for program memory */
};

/* Fills in the second half. */
void tt_matmul_measure(struct tt_matmul *matmul);

/* The rows of the program: all matrices of a below each other when they are fused. */
static inline uint32_t tt_matmul_rows(const struct tt_matmul *matmul, bool fused)
{
	return fused ? matmul->m * matmul->batch_a : matmul->m;
}

/* The matrices in the outer dimensions of a shape. */
uint32_t tt_matmul_batch(const struct ttnn_shape *shape);

/* The shape of the result, without bias. */
tt_status tt_matmul_shape(struct ttnn_shape *out, const struct ttnn_shape *a,
			  const struct ttnn_shape *b);

/* Chooses a config as upstream does, from sizes, places and what is free in L1. */
tt_status tt_matmul_choose(struct tt_matmul_config *out, const struct tt_matmul *matmul);

/*
 * The bytes that circular buffers of a block of m by n tiles would take that is multiplied k at a time, as upstream
 * estimates them. Not what a program takes.
 */
uint32_t tt_matmul_estimate(const struct tt_matmul *matmul, uint32_t m, uint32_t n, uint32_t k);

/* The greatest common divisor: blocks must divide a shard's width and the depth. */
uint32_t tt_matmul_gcd(uint32_t a, uint32_t b);

/* ---- refusals ------------------------------------------------------------------------------------------- */

/* What holds for every config, and for several; tt_matmul_check_config() for one. */
tt_status tt_matmul_check(const struct tt_matmul *matmul, const struct tt_matmul_config *config,
			  const struct ttnn_tensor_spec *out);
tt_status tt_matmul_check_config(const struct tt_matmul *matmul,
				 const struct tt_matmul_config *config);

/* Two memory configs that should be one; `condition` is upstream's. */
tt_status tt_matmul_refuse_memory(const char *condition, const struct ttnn_memory_config *given,
				  const struct ttnn_memory_config *wanted);

/* A rectangle of cores. */
tt_status tt_matmul_rectangle(const ttnn_core_set **out, struct ttnn_core start, uint64_t width,
			      uint64_t height);

/* The dtype of partial sums over so many steps along the depth. */
enum ttnn_dtype tt_matmul_sums(const struct tt_matmul *matmul, uint64_t steps);

/* tt_fail_cond() with the name of a config before the text: "NAME: text". */
tt_status tt_matmul_refuse(const struct tt_matmul_config *config, const char *condition,
			   const char *format, ...) TTNN_PRINTF(3, 4);
#define TT_CONFIG_REQUIRE(config, holds, condition, ...)                                           \
	do {                                                                                       \
		if (!(holds))                                                                      \
			return tt_matmul_refuse(config, condition, __VA_ARGS__);                   \
	} while (0)

/* ---- the program ----------------------------------------------------------------------------------------- */

/* Part of a program of a collective, which has circular buffers alone: behind it, or before it. */
enum tt_matmul_fused { TT_MATMUL_ALONE, TT_MATMUL_BEHIND, TT_MATMUL_BEFORE };

/* What the rows of program memory are computed from: attributes and tensors of a launch. */
struct tt_matmul_plan {
	struct tt_matmul matmul;
	struct tt_matmul_config config;
	enum tt_matmul_fused fused;
	bool refused; /* without a config, and none could be chosen: tt_matmul_refused() */
	/* Of a ring (gather_in0) behind a collective: the number of its first buffer, cores that are not its own. */
	uint32_t first_buffer;
	const ttnn_core_set *taken;
};

/*
 * What arrives through the ring of a prefetcher, of the launch whose work is the plan: as many blocks of so many tiles of b
 * as it has room for.
 */
tt_status tt_matmul_add_sent(struct tt_plan *out, const struct tt_launch *launch,
			     const ttnn_core_set *cores, uint64_t page, uint64_t block);

/* Rows of program memory, by kind of config. */
tt_status tt_matmul_memory(struct tt_plan *out, const struct tt_launch *launch);

/*
 * Launches the program. `matmul` went through tt_matmul_complete(); `config` (optional) is the
 * caller's.
 */
tt_status tt_matmul_launch(struct tt_tensor **out, struct tt_call *call, struct tt_matmul *matmul,
			   const struct tt_matmul_config *config);

/*
 * For programs that multiply among other things. What tt_matmul_launch() would launch: its plan, and its attributes
 * as one object in the arena of the call; the spec of its result. Memory comes from tt_matmul_memory(), of a launch
 * whose work is the plan; the result from the program's kernel, of one whose extra is.
 */
tt_status tt_matmul_plan_make(struct tt_matmul_plan *out, struct ttnn_value *attrs,
			      const struct tt_matmul *matmul,
			      const struct tt_matmul_config *config);
tt_status tt_matmul_result(struct ttnn_tensor_spec *out, const struct tt_matmul_plan *plan);
/*
 * Why no config could be chosen, if so. Upstream chooses inside of the program: for the spec of a result in shards, else for
 * its checks.
 */
tt_status tt_matmul_refused(const struct tt_matmul_plan *plan);
extern const struct tt_prog tt_prog_matmul;

/* Fills in what callers leave open: dtype, tile, how exactly, broadcasting; then measures. */
tt_status tt_matmul_complete(struct tt_matmul *matmul, const struct tt_matmul_config *config,
			     const enum ttnn_dtype *dtype, const struct ttnn_tile *tile,
			     const struct ttnn_value *compute);

#endif
