/*
 * sig.h: signatures. An operation's row gives them as text; here they become tables.
 *
 *	"input_tensor: Tensor, dim: int | ints ? = None, *, dtype: DataType? = None, scale: float = 1.0"
 *
 * Behind each name stands one type or several joined by '|'; '?' admits None; '=' gives a default;
 * what follows '*' is keyword-only; '-' stands before an argument of another release, taken but in no text. An operation may have several signatures: the first that fits
 * a call is taken. The types are the rows of the table in sig.c.
 *
 * "absent", "None" and "default" stay apart: an argument that was not given keeps its default
 * value in tt_args.values, and tt_args.given says whether the caller gave it.
 */
#ifndef TT_OPS_SIG_H
#define TT_OPS_SIG_H

#include "base/arena.h"
#include "event/value.h"

#define TT_ARGS_MAX 40
#define TT_SIGS_MAX 6

struct tt_arg_type;

/* One argument of a signature. */
struct tt_arg {
	const char *name;
	const struct tt_arg_type *types[4];
	uint32_t type_count;
	bool optional; /* None is accepted */
	bool keyword_only;
	bool unseen; /* of another release: taken, in no text */
	bool has_default;
	struct ttnn_value fallback; /* when has_default */
};

#define TT_SIG_SLOTS 128
#define TT_SIG_SITES 32

struct tt_sig {
	const char *text;
	const struct tt_arg *args;
	size_t count;
	uint8_t slots[TT_SIG_SLOTS]; /* by hash of the name: 1 + its position, 0 where none is */
	_Atomic uint8_t *sites;  /* the same by where the name lies: what was found there last */
	struct tt_schema schema; /* the same for traces: names, and which have a default */
};

/* What a call was given, in the order of the signature that fits. */
struct tt_args {
	const struct tt_sig *sig;
	struct ttnn_value values[TT_ARGS_MAX];
	uint64_t given; /* bit i: the caller gave argument i */
};

/* Parses a signature into `arena`. A bad text is TTNN_INTERNAL: it is in our own tables. */
tt_status tt_sig_parse(struct tt_sig *out, struct tt_arena *arena, const char *text);

/* The signatures of one operation, tried in order. */
struct tt_overloads {
	const char *name; /* the operation's, for messages */
	struct tt_sig sigs[TT_SIGS_MAX];
	size_t count;
};

/*
 * Puts the arguments into the order of the first signature that fits. TTNN_TYPE says what it was
 * called with and what there is.
 */
tt_status tt_sig_resolve(struct tt_args *out, const struct tt_overloads *overloads,
			 const struct ttnn_arg *args, size_t arg_count);

/* Whether the argument takes this value. */
bool tt_arg_accepts(const struct tt_arg *arg, const struct ttnn_value *value);

/* The position of an argument in its signature, or -1. */
int tt_sig_index(const struct tt_sig *sig, const char *name);

/* The signature as upstream's messages and help show it. */
void tt_sig_print(struct tt_str *out, const struct tt_sig *sig, const char *name);

/* A value as Python's repr() shows upstream's objects: "DataType.BFLOAT16", "None", "0.5". */
void tt_sig_print_value(struct tt_str *out, const struct ttnn_value *value);

/* The enumeration of type i of the table, or NULL; *more is false behind the last. */
const struct tt_enum *tt_arg_type_enum(bool *more, size_t i);

/* The name of a type as this project's tables and C interface spell it. */
const char *tt_arg_type_name(const struct tt_arg_type *type);

#endif
