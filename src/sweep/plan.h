/*
 * plan.h: the vectors of a native sweep: configurations of master files, vector files or lists, each with a seed and a
 * mutation.
 *
 * A native vector is a configuration and needs no code of its own: its module is the operation ("ttnn.add"), its parameters
 * are
 *	operation, configuration, seed, mutation, traced_source, positions, arguments
 * so that a vector file (vectors.h) tells all that is run. A list (docs/formats/vectors.md) is the short form: a line for
 * each vector, which leads to a configuration of a master file.
 *
 * A plan is made before children are started, who inherit it. One thread at a time.
 */
#ifndef TT_SWEEP_PLAN_H
#define TT_SWEEP_PLAN_H

#include "base/digest.h"
#include "base/map.h"
#include "base/vec.h"
#include "sweep/mutate.h"
#include "sweep/traced.h"
#include "sweep/vectors.h"

#define TT_PLAN_SUITE "model_traced"

/* One vector. */
struct tt_plan_vector {
	uint32_t config; /* of the plan's */
	struct tt_mutation mutation;
	bool mutate; /* of a master's configuration; else its arguments are as they are run */
	bool invalid;
	uint64_t seed;
	uint64_t position;
	const char *suite, *reason; /* the plan's; reason of an invalid one, or NULL */
	char hash[TT_VECTOR_HASH];
};

struct tt_plan_config {
	struct tt_traced_config traced;
	const char *master; /* digest of the file that it is from */
};

/* All zero is an empty one. */
struct tt_plan {
	TT_VEC(struct tt_traced *) masters;
	TT_VEC(struct tt_vector_file *) files;
	TT_VEC(struct tt_plan_config) configs;
	TT_VEC(struct tt_plan_vector) vectors;
	struct tt_map hashes; /* of its vectors */
	struct tt_arena arena;
	uint64_t position;
};

/* What of a source is wanted. All zero: every configuration as recorded, with seed 0. */
struct tt_plan_options {
	const char *const *ops; /* names in any spelling, or parts of them with '*' and '?' */
	size_t op_count;        /* 0: all */
	const char *suite;      /* NULL: any, and "model_traced" for masters */
	const char *vector;     /* (optional) the hash of the only one that is wanted */
	uint64_t seed;
	bool kinds[TT_MUTATION_KINDS]; /* mutations, one at a time */
	bool all_cases;                /* all combinations of all kinds */
	uint64_t every;                /* only each so-many-th configuration; 0: all */
};

/* Adds configurations of a master file of any layout, with their mutations. */
tt_status tt_plan_add_master(struct tt_plan *plan, const char *path,
			     const struct tt_plan_options *options);

/* Adds the native vectors of a vector file; *others are those of Python modules, which are left out. */
tt_status tt_plan_add_vectors(struct tt_plan *plan, size_t *others, const char *path,
			      const struct tt_plan_options *options);

/* Adds the vectors of a list; a master that it names is looked for beside it too. */
tt_status tt_plan_add_list(struct tt_plan *plan, const char *path,
			   const struct tt_plan_options *options);

/* Whether a file begins as a list does. */
bool tt_plan_is_list(const char *path);

/* Keeps each vector whose number is `index` modulo `count`: index from 0. */
void tt_plan_shard(struct tt_plan *plan, uint64_t index, uint64_t count);

/* What the plan is, as 64 digits: of the hashes of all vectors, in order. */
tt_status tt_plan_digest(char out[TT_DIGEST_TEXT], const struct tt_plan *plan);

/*
 * The configuration of a vector. The arguments of a mutated one are made now and live in `*doc`, to be freed; NULL
 * otherwise.
 */
tt_status tt_plan_config(struct tt_traced_config *out, struct tt_json_doc **doc,
			 const struct tt_plan *plan, const struct tt_plan_vector *vector);

/* Appends the parameters of a vector as one JSON object, without those that all vectors have. */
tt_status tt_plan_params(struct tt_str *out, const struct tt_plan *plan,
			 const struct tt_plan_vector *vector);

/* Writes all vectors: a file for each operation in a directory, or one list. How many files, and vectors. */
struct tt_plan_written {
	size_t files, vectors, unchanged;
};
tt_status tt_plan_write(struct tt_plan_written *out, const struct tt_plan *plan,
			const char *directory, const char *tag);
tt_status tt_plan_write_list(const struct tt_plan *plan, const char *path, const char *master);

void tt_plan_deinit(struct tt_plan *plan);

#endif
