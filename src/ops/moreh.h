/*
 * moreh.h: what the operations named moreh_, which training uses, have in common: how exactly they compute, what they
 * refuse, outputs that may be left out, and arithmetic on tensors between the steps of a kernel.
 *
 * Their programs take the tensors to write to among their inputs (tt_program_args.in_place): so does upstream, whose
 * cache tells a program with a given tensor from one without.
 */
#ifndef TT_OPS_MOREH_H
#define TT_OPS_MOREH_H

#include "ops/op.h"
#include "tensor/fn.h"

/* HiFi4, approximate, or what the call's argument compute_kernel_config says. */
struct ttnn_value tt_moreh_compute(struct tt_call *call);

/* A memory config argument of the call by its name, or that of a tensor. */
struct ttnn_value tt_moreh_memory(const struct tt_call *call, const char *name,
				  const struct tt_tensor *like);

/* Bytes of a tile of sums: of float32 where the config (an attribute) asks for it, else of this type. */
uint64_t tt_moreh_sum_bytes(const struct ttnn_value *compute, enum ttnn_dtype dtype);

/* ---- refusals ------------------------------------------------------------------------------------ */

#define TT_MOREH_TENSORS 12

/* What a program calls itself and its inputs, in their order; it does not check those without a name. */
struct tt_moreh_names {
	const char *program;
	const char *tensors[TT_MOREH_TENSORS];
	bool block_floats; /* takes bfloat8_b, too */
	bool integers;     /* takes int32, too */
};

/* Only bfloat16 in tiles; missing inputs are fine. */
tt_status tt_moreh_check(const struct tt_launch *launch, const struct tt_moreh_names *names);
tt_status tt_moreh_check_one(const struct tt_tensor *tensor, const struct tt_moreh_names *names,
			     const char *name);

/* One number, or one row, of rank 2 or 4: other ranks are neither. */
bool tt_moreh_is_scalar(const struct tt_tensor *tensor);
bool tt_moreh_is_row(const struct tt_tensor *tensor);

/* An item of the call's list are_required_outputs; refused as upstream's vector does if there are fewer. */
tt_status tt_moreh_required(bool *out, const struct tt_call *call, size_t place);

/* ---- dimensions ----------------------------------------------------------------------------------- */

/*
 * Those of the call's argument `dim` as they were given, below zero and twice, too; all of `rank` where there are none.
 * `sorted`: in ascending order. `out` has TTNN_MAX_RANK places.
 */
tt_status tt_moreh_dims(int64_t *out, size_t *count, const struct tt_call *call, uint32_t rank,
			bool sorted);

/* ---- outputs that may be left out ------------------------------------------------------------------ */

#define TT_MOREH_SLOTS 4

/* Which outputs a launch has, and which tensors were given for them. */
struct tt_moreh_slots {
	size_t count;
	bool there[TT_MOREH_SLOTS];
	struct tt_tensor *given[TT_MOREH_SLOTS];
};

/* Launches a program that has these outputs; NULL in `out`, which has as many places, for those it has not. */
tt_status tt_moreh_launch(struct tt_tensor **out, struct tt_call *call,
			  const struct tt_program_args *args, const struct tt_moreh_slots *slots);

/* The same, where all are the results of the call. */
tt_status tt_moreh_launch_return(struct tt_call *call, const struct tt_program_args *args,
				 const struct tt_moreh_slots *slots);

/* For the program: the output at a place, or NULL; and whether it has one. */
struct tt_tensor *tt_moreh_slot(const struct tt_launch *launch, size_t slot);
bool tt_moreh_has(const struct tt_launch *launch, size_t slot);

/* Its infer(): given tensors have their specs, others these, one for each place (NULL: all are given). */
tt_status tt_moreh_infer(struct tt_launch *launch, const struct ttnn_tensor_spec *made);

/* ---- arithmetic between steps ----------------------------------------------------------------------- */

/* A scratch tensor of float32 with the elements of another, in this shape. */
tt_status tt_moreh_view(struct tt_tensor **out, const struct ttnn_shape *shape,
			struct tt_tensor *in);
tt_status tt_moreh_matrix(struct tt_tensor **out, uint64_t rows, uint64_t cols,
			  struct tt_tensor *in);

/* out = a FN b, or a FN number, broadcast to the shape of `out`, which may be a or b. */
tt_status tt_moreh_map(struct tt_tensor *out, enum tt_binary_fn fn, struct tt_tensor *a,
		       struct tt_tensor *b);
tt_status tt_moreh_map_number(struct tt_tensor *out, enum tt_binary_fn fn, struct tt_tensor *a,
			      double number);

/* out = f(a), step by step. */
tt_status tt_moreh_apply(struct tt_tensor *out, struct tt_tensor *a,
			 const struct tt_unary_step *steps, size_t count);

/* out = |a| to a power; of 0 to a negative one it is infinite. */
tt_status tt_moreh_power(struct tt_tensor *out, struct tt_tensor *a, double power);

/* Sums over the dimensions of these bits into a scratch tensor, in which they have an extent of 1. */
tt_status tt_moreh_sum(struct tt_tensor **out, struct tt_tensor *in, uint32_t dims);

#endif
