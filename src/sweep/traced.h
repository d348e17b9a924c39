/*
 * traced.h: configurations traced from models, from master files of any layout (docs/formats/master.md).
 *
 * The layout of November 2025 tells each call as a list of texts by position. Here they become typed arguments by name:
 * names from the order of that release (store/order.h), types from the operation's own signatures. In that of 2026
 * positions are those of the signature, and other arguments have their names. What a tracer could not write is lost; a
 * stand-in takes its place, and the call says so. Called by sweeps and by the test of all real configurations.
 */
#ifndef TT_SWEEP_TRACED_H
#define TT_SWEEP_TRACED_H

#include "base/arena.h"
#include "base/json.h"
#include "ops/op.h"

#define TT_TRACED_NOTES 8

/* One configuration of the file; everything in it lives as long as the file is loaded. */
struct tt_traced_config {
	const char *op;             /* "ttnn.experimental.plus_one" */
	const char *source;         /* the test it was seen in first, or "" */
	size_t number;              /* among those of its operation, from 0 */
	const struct tt_json *args; /* a list of one-member objects, as V1 has them */
	bool python;                /* positions are those of a Python call: the signature's */
};

struct tt_traced {
	struct tt_json_doc *doc;
	struct tt_arena arena;
	struct tt_traced_config *configs;
	size_t count;
};

/* Reads a master file of any layout, gzip or plain, or a store. */
tt_status tt_traced_load(struct tt_traced *out, const char *path);
void tt_traced_free(struct tt_traced *traced);

/* A tensor that a call wants. */
struct tt_traced_tensor {
	struct ttnn_tensor_spec spec;
	bool on_host;
	const char *arg; /* the argument's name */
	size_t item;     /* in a list of tensors */
};

/* Who makes the tensors, and owns them: it lives at least as long as the call. */
struct tt_traced_maker {
	tt_status (*tensor)(ttnn_tensor **out, void *context,
			    const struct tt_traced_tensor *tensor);
	void *context;
	ttnn_device *device;
};

/* A call ready for ttnn_call(). */
struct tt_traced_call {
	struct ttnn_arg args[TT_ARGS_MAX];
	size_t count;
	/* The recorded value that each argument was made of; NULL: it was lost. Lives as long as the file. */
	const struct tt_json *recorded[TT_ARGS_MAX];
	const char *notes[TT_TRACED_NOTES]; /* what was lost, and what stands for it */
	size_t note_count;
	size_t lost; /* values that something stands for */
};

/* Makes the arguments of a configuration, in `arena`. TTNN_FORMAT when they make no sense. */
tt_status tt_traced_bind(struct tt_traced_call *out, struct tt_arena *arena,
			 const struct tt_traced_config *config,
			 const struct tt_traced_maker *maker);

/* The value of an object that is no tensor, {"MemoryConfig": {...}}, in `arena`: for who compares. */
tt_status tt_traced_object(struct ttnn_value *out, struct tt_arena *arena,
			   const struct tt_json *object);

/* The specification of a tensor, {"tensor_spec": ..., "layout": ...}, and whether it is on the host. */
tt_status tt_traced_spec(struct ttnn_tensor_spec *out, bool *on_host, const struct tt_json *tensor);

/* ---- between traced.c, traced_value.c and traced_lost.c -------------------------------------------- */

/* A lost argument, and the call as far as it was read. */
struct tt_traced_lost {
	const char *op, *arg;
	const struct tt_traced_call *call;
};

/* What stands for a lost argument; `text` says so. False: nothing does. */
bool tt_traced_stand_in(struct ttnn_value *out, const char **text, struct tt_arena *arena,
			const struct tt_traced_lost *lost);

/*
 * The value of a text for an argument of this name, by the types that the signatures give it.
 * Numbers, booleans, lists, enumerations, texts and "nullopt". False when none fits.
 */
bool tt_traced_text(struct ttnn_value *out, struct tt_arena *arena,
		    const struct tt_overloads *overloads, const char *arg, const char *text);

/* The member of an enumeration that a text names with its type: "UnaryOpType::SILU". */
bool tt_traced_member(struct ttnn_value *out, const char *text);

/* An object that was written as its text, in `arena`: "Conv2dConfig(weights_dtype=...)", "8-8". */
tt_status tt_traced_printed(struct ttnn_value *out, struct tt_arena *arena, const char *text);

#endif
