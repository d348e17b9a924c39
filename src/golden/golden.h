/*
 * golden.h: the truth. Each operation's result computed the slow and obvious way, in float64, on
 * plain row-major arrays of the logical shape.
 *
 * Goldens share no code with the backends: nothing under src/backend may be included here or in a
 * golden function. They are called by tests, sweeps and `get_golden_function`.
 */
#ifndef TT_GOLDEN_GOLDEN_H
#define TT_GOLDEN_GOLDEN_H

#include <stdatomic.h>

#include "ops/op.h"
#include "tensor/fn.h"

/* A tensor's values. dtype is what the device tensor has: integers are whole numbers here. */
struct tt_array {
	struct ttnn_shape shape;
	enum ttnn_dtype dtype;
	uint64_t count;
	double *data;
};

/* A golden computation under way: arguments in, arrays out. Everything lives in `arena`. */
struct tt_golden {
	const struct tt_op *op;
	struct tt_call call; /* read arguments with tt_call_*(); tensors with tt_golden_in() */
	struct tt_arena *arena;
	struct tt_array out[TT_OUTPUTS_MAX];
	size_t out_count;
	bool first_chip; /* what the first chip of a mesh has: the others have other results */
	struct tt_golden_seen *seen; /* what was read of its tensors, the last one first */
};

/*
 * Runs an operation's golden on these arguments (tensors on host or device are read): the one door. What the operation
 * refuses of shapes, ranges and types is refused in its words (golden_door.h). TTNN_CANCELLED or TTNN_TIMEOUT when it was
 * interrupted or its time is over (base/deadline.h). A golden that asks for an element that is not there ends there and is
 * refused; so is one whose arrays the machine has no memory for.
 *
 * Goldens end in the middle therefore: at every tt_at(), tt_array_span() and tt_golden_*(). They own nothing but what is in the arena.
 */
tt_status tt_golden_run(struct tt_golden *out, struct tt_arena *arena, const char *name,
			const struct ttnn_arg *args, size_t arg_count);

/* The values of a tensor argument, or NULL when it was not given. Tensors are read once, however often they are asked for. */
const struct tt_array *tt_golden_in(struct tt_golden *golden, const char *name);

/* A tensor that the golden cannot do without, and the device that it must be on: else the golden ends. */
struct tt_tensor *tt_golden_tensor(const struct tt_golden *golden, const char *name);
struct tt_device *tt_golden_device(const struct tt_golden *golden, const char *name);

/* The same of a tensor that must have four dimensions: NULL with the message set when it has others. */
const struct tt_array *tt_golden_in4(struct tt_golden *golden, const char *name);

/* The values of any tensor of the call (an item of a list, say); NULL with the message set on failure. */
const struct tt_array *tt_golden_read(struct tt_golden *golden, struct tt_tensor *tensor);

/* The same of what one chip of a mesh has of it; NULL for no tensor. */
const struct tt_array *tt_golden_part(struct tt_golden *golden, struct tt_tensor *tensor,
				      uint32_t chip);

/* A new array of this shape, zeroed, as the next output; NULL when memory is exhausted. */
struct tt_array *tt_golden_out(struct tt_golden *golden, const struct ttnn_shape *shape,
			       enum ttnn_dtype dtype);

/* A scratch array that is no output. */
struct tt_array *tt_golden_temp(struct tt_golden *golden, const struct ttnn_shape *shape);

/* Elements that goldens may still ask for before one looks at the clock: about so many, of all threads together. */
extern atomic_int tt_golden_steps;

/* Looks at the clock, and ends the golden of this thread if it has to. For loops that ask for no elements, too. */
void tt_golden_look(void);
static inline void tt_golden_step(void)
{
	int left = atomic_load_explicit(&tt_golden_steps, memory_order_relaxed) - 1;

	atomic_store_explicit(&tt_golden_steps, left, memory_order_relaxed);
	if (__builtin_expect(left < 0, 0))
		tt_golden_look();
}

/* Ends the golden of this thread: its arguments did not fit together. Without one: a place apart. */
double *tt_array_stray(void);

/*
 * The element at a flat index. With one that the array has not the golden ends: so goldens need not check what they
 * only would read or write past an end. An array that was not given (NULL) has none.
 */
static inline double *tt_at(const struct tt_array *array, uint64_t index)
{
	tt_golden_step();
	return __builtin_expect(array && index < array->count, 1) ? array->data + index
								  : tt_array_stray();
}

/* The same of `count` elements from `first` on, for plain loops over them; NULL of none. */
double *tt_array_span(const struct tt_array *array, uint64_t first, uint64_t count);

/* One extent of a tensor that may have too few dimensions: with one that it has not the golden ends. */
uint32_t tt_array_extent(const struct tt_array *array, uint32_t d);

/* A divisor: with zero the golden ends. */
static inline uint64_t tt_divisor(uint64_t value)
{
	if (!value)
		tt_array_stray();
	return value ? value : 1;
}

/* The place of an extent counted from the end, 1 the last; with one that a shape has not the golden ends. */
static inline uint32_t tt_from_end(const struct ttnn_shape *shape, uint32_t back)
{
	if (back > shape->rank)
		tt_array_stray();
	return back > shape->rank ? 0 : shape->rank - back;
}

/* The place of a dimension, counted from the end when negative; with one that a rank has not the golden ends. */
static inline uint32_t tt_place_of(int64_t dim, uint32_t rank)
{
	dim += dim < 0 ? rank : 0;
	if (dim < 0 || dim >= rank)
		tt_array_stray();
	return dim < 0 || dim >= rank ? 0 : (uint32_t)dim;
}

/* A number as a whole one, whatever it is: the nearest that there is, 0 of a NaN. */
int64_t tt_whole(double value);

/* The flat index of a coordinate, and the coordinate of a flat index. */
uint64_t tt_array_index(const struct tt_array *array, const uint64_t *coordinate);
void tt_array_coordinate(uint64_t *coordinate, const struct tt_array *array, uint64_t index);

/* The value at a coordinate of the (larger, broadcast) shape `of`, numpy rules. */
double tt_array_broadcast(const struct tt_array *array, const struct ttnn_shape *of,
			  const uint64_t *coordinate);

/* The broadcast shape of two shapes, of which `out` may be one; false when they do not fit. */
bool tt_broadcast_shape(struct ttnn_shape *out, const struct ttnn_shape *a,
			const struct ttnn_shape *b);

/* Ends a golden whose input or result could not be had; the message is set, and says now that it was a golden. */
#define TT_GOLDEN_NEED(holds)                                                                      \
	do {                                                                                       \
		if (!(holds))                                                                      \
			return tt_fail_prefix(TTNN_INVALID, "golden");                             \
	} while (0)

/* A result as the dtype holds it: integers wrap as two's complement does, floats stay. */
double tt_golden_fit(enum ttnn_dtype dtype, double value);

/* Several unary functions, one after the other, each result fitted to the dtype. */
double tt_golden_chain(const struct tt_unary_step *steps, size_t count, enum ttnn_dtype dtype,
		       double x);

/* An activation of the call applied to every value; none is fine. */
tt_status tt_golden_activate(struct tt_array *array, struct tt_golden *golden,
			     const struct ttnn_value *activation);

/* The element-wise functions in float64 (golden_fn.c). */
double tt_golden_unary(const struct tt_unary_step *step, double x);
double tt_golden_binary(enum tt_binary_fn fn, const double *params, double a, double b);
double tt_golden_ternary(enum tt_ternary_fn fn, const double *params, double a, double b, double c);

#endif
