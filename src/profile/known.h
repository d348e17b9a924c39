/*
 * known.h: programs that were seen lately, so that what all operations of a program share is made once.
 */
#ifndef TT_PROFILE_KNOWN_H
#define TT_PROFILE_KNOWN_H

#include "base/map.h"
#include "profile/ops_row.h"
#include "trace/argmemo.h"

/* What a program's facts are; copied. */
struct tt_ops_facts {
	uint64_t hash;
	const ttnn_core_set *cores;
	bool computes, modelled;
	const char *fidelity; /* static, or NULL */
	uint64_t compute_ns, bandwidth_ns, ideal_ns;
	double *bandwidths; /* of inputs, then of outputs */
	uint32_t input_bws, output_bws;
	char *source;
};

/* All zero but for the dialect is an empty one. */
struct tt_ops_known {
	enum ttnn_dialect dialect;
	struct tt_argmemo memo; /* numbers that stand for attributes */
	struct tt_argtext_style style;
	struct tt_map attributes; /* number of the memo and name → struct tt_ops_attributes */
	struct tt_map facts;      /* all that they say → struct tt_ops_facts */
	struct tt_map programs;   /* all that they are made of → struct tt_ops_program */
	struct tt_str key;
	uint64_t count; /* different ones so far */
};

/* An operation that is under way: what its program is found by. */
struct tt_ops_seen {
	const char *name;                     /* the source's */
	uint64_t number;                      /* of its attributes */
	struct tt_ops_attributes *attributes; /* a reference */
	const struct tt_ops_facts *facts;     /* NULL: none were told */
	struct tt_ops_tensor *tensors;        /* inputs, then outputs */
	uint32_t inputs, outputs;
};

/* The attributes of a device operation that begins: a reference, and their number; NULL: memory is exhausted. */
struct tt_ops_attributes *tt_ops_known_attributes(uint64_t *number, struct tt_ops_known *known,
						  const struct tt_event_scope_begin *begin);

/* The facts that a PROGRAM tells, valid as long as `known`; *out is NULL when it tells none. */
tt_status tt_ops_known_facts(const struct tt_ops_facts **out, struct tt_ops_known *known,
			     const struct tt_event_program *program);

/* The program of an operation: a reference; NULL when memory is exhausted. */
struct tt_ops_program *tt_ops_known_program(struct tt_ops_known *known,
					    const struct tt_ops_seen *seen);

void tt_ops_known_deinit(struct tt_ops_known *known);

#endif
