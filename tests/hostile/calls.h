/*
 * calls.h: random calls of all operations. calls.c starts children and watches them, calls_run.c makes one call,
 * calls_draw.c draws its arguments, calls_tensor.c the tensors among them.
 *
 * A call follows from a seed, an operation and a round only: it can be repeated without those before it.
 */
#ifndef TT_TESTS_HOSTILE_CALLS_H
#define TT_TESTS_HOSTILE_CALLS_H

#include <ttnn_frontend.h>

#include "base/arena.h"
#include "base/str.h"
#include "base/vec.h"
#include "ops/op.h"

/* How an argument is drawn. */
enum calls_level {
	CALLS_VALID,   /* as the signature says, of about the size that others have */
	CALLS_MILD,    /* with one thing wrong */
	CALLS_HOSTILE, /* absurd */
};

/* A call as it is drawn and made. */
struct calls_draft {
	const struct tt_op_entry *entry;
	uint64_t state; /* of the random numbers */
	struct tt_arena arena;
	ttnn_device *device, *other, *closed; /* borrowed */
	ttnn_tensor *gone;                    /* on the one that is closed */
	const char *where;                    /* the name of the device */
	bool dry;                             /* nothing is computed */
	bool sparse;                 /* ... and tensors have no memory either: they may be large */
	struct ttnn_spec_args usual; /* what most of its tensors are like */
	struct ttnn_arg args[TT_ARGS_MAX];
	size_t count;
	TT_VEC(ttnn_tensor *) tensors;
	TT_VEC(ttnn_object *) objects;
};

/* A number below that; true so many times of a hundred; one of a list. */
uint64_t calls_random(struct calls_draft *draft, uint64_t below);
bool calls_chance(struct calls_draft *draft, unsigned percent);
#define CALLS_PICK(draft, list) ((list)[calls_random(draft, TT_COUNT(list))])

/* Draws a signature and its arguments. */
void calls_draw(struct calls_draft *draft);

/* What most tensors of the call are like; then one of them, by its parameter's name. */
void calls_draw_usual(struct calls_draft *draft);
struct ttnn_value calls_draw_tensor(struct calls_draft *draft, const char *name,
				    enum calls_level level);
void calls_draw_memory(struct ttnn_memory_config *out, struct calls_draft *draft,
		       enum calls_level level);
const ttnn_core_set *calls_draw_cores(struct calls_draft *draft, enum calls_level level);
int64_t calls_draw_edge(struct calls_draft *draft);

/* A call of a run. */
struct calls_which {
	const struct tt_op_entry *entry;
	uint64_t seed, round;
	bool golden, print, only_print;
};

enum calls_outcome { CALLS_RAN, CALLS_REFUSED, CALLS_INTERNAL, CALLS_SILENT, CALLS_OUTCOMES };

/* Makes it, in this process. */
enum calls_outcome calls_make(const struct calls_which *which);

#endif
