/*
 * isin.c: which elements are among others: all bits are set where one is. Models IsInDeviceOperation of ttnn 0.81
 * with its one factory: specs, refusals, memory, cores, and the steps around it (to rows, to one dimension, back).
 * Not modelled: that a chip compares bits, so that 0 is not -0 there.
 */
#include <math.h>
#include <stdlib.h>

#include "golden/golden.h"
#include "ops/movement/movement.h"
#include "ops/values.h"

#define ATTRS(X)                                                                                   \
	X(UNIQUE, "assume_unique")                                                                 \
	X(INVERT, "invert")                                                                        \
	X(AT_ONCE, "single_fetch_subchunk_size")
TT_ATTRS(schema, "IsinParams", ATTRS);
enum { ELEMENTS, TESTS };
#define FOUND UINT32_MAX
#define L1_SHARE 0.8f /* of a core's memory, for what is read at once */
#define MULTIPLE 64u  /* elements are read in multiples of these */

static tt_status isin_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[ELEMENTS]->spec;
	uint64_t count, given;

	TT_TRY(ttnn_shape_volume(&count, &in->shape));
	TT_NEED(count <= UINT32_MAX, "isin: too many elements");
	if (tt_infer_given(launch, 0)) {
		TT_REQUIRE(launch->specs[0].dtype == TTNN_UINT32,
			   "tensor_args.optional_out->dtype() == OUTPUT_TENSOR_DATA_TYPE",
			   "Preallocated output should be of uint32 dtype");
		TT_TRY(ttnn_shape_volume(&given, &launch->specs[0].shape));
		TT_NEED(given == count, "isin: an output for other than %llu elements",
			(unsigned long long)count);
		return TTNN_OK;
	}
	return tt_spec_simple(&launch->specs[0], &TT_SHAPE((uint32_t)count), TTNN_UINT32,
			      TTNN_ROW_MAJOR, &in->memory);
}

static tt_status isin_validate(struct tt_launch *launch)
{
	TT_REQUIRE(!tt_tensor_is_sharded(launch->inputs[ELEMENTS]), "!elements.is_sharded()",
		   "Elements tensor is sharded");
	TT_REQUIRE(!tt_tensor_is_sharded(launch->inputs[TESTS]), "!test_elements.is_sharded()",
		   "Test elements tensor is sharded");
	return TTNN_OK;
}

static tt_status isin_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	uint64_t at_once = (uint64_t)launch->attrs[AT_ONCE].integer, count;
	struct tt_work_split split;

	TT_TRY(ttnn_shape_volume(&count, &launch->inputs[ELEMENTS]->spec.shape));
	TT_TRY(tt_split_work(&split, tt_grid_size(launch->grid), tt_div_up(count, at_once),
			     TTNN_ORIENT_COL_MAJOR));
	return TT_PLAN(plan, split.all,
		       TT_CB_ROW(0, "elements", .pages = 1,
				 .page = at_once * tt_element_bytes(launch->inputs[ELEMENTS])),
		       TT_CB_ROW(1, "test_elements", .pages = 1,
				 .page = at_once * tt_element_bytes(launch->inputs[TESTS])),
		       TT_CB_ROW(2, "output", .pages = 1,
				 .page = at_once * tt_element_bytes(launch->outputs[0])));
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The tests are sorted, those that are no numbers left out: nothing equals them. */
static tt_status isin_kernel(struct tt_launch *launch)
{
	bool invert = launch->attrs[INVERT].boolean;
	uint64_t count, all, tests = 0;
	double *elements, *sorted;
	uint32_t *out;

	TT_TRY(tt_values_of(&elements, &count, launch, ELEMENTS));
	TT_TRY(tt_values_of(&sorted, &all, launch, TESTS));
	out = tt_arena_alloc(launch->arena, (count + 1) * sizeof(*out));
	TT_NEED_MEMORY(out);
	for (uint64_t i = 0; i < all; i++)
		if (!isnan(sorted[i]))
			sorted[tests++] = sorted[i];
	qsort(sorted, tests, sizeof(*sorted), by_value);
	for (uint64_t i = 0; i < count; i++) {
		bool found = !isnan(elements[i]) &&
			     bsearch(&elements[i], sorted, tests, sizeof(*sorted), by_value);

		out[i] = found != invert ? FOUND : 0;
	}
	return tt_values_write(launch->outputs[0], out, TTNN_UINT32);
}

static const struct tt_prog prog = {
	.device_op = "IsInDeviceOperation",
	.prim = "ttnn::experimental::prim::isin",
	.attrs = &schema,
	.infer = isin_infer,
	.validate = isin_validate,
	TT_FACTORY("ttnn::experimental::prim::IsInProgramFactory", isin_memory),
	TT_KERNEL(isin_kernel),
	.cost = tt_cost_unmodelled_move,
};

/* ---- the operation ------------------------------------------------------------------------------------------ */

/* A tensor that becomes another one, and what it was first, which is the caller's. */
struct course {
	struct tt_tensor *now, *first;
};

static void advance(struct course *course, struct tt_call *call, struct tt_tensor *next)
{
	struct tt_tensor *old = course->now;

	course->now = tt_call_own(call, next);
	if (old != course->first)
		tt_call_overwrite(call, old);
}

static tt_status to_layout(struct course *course, struct tt_call *call, enum ttnn_layout layout)
{
	struct tt_tensor *next;

	if (course->now->spec.layout == layout)
		return TTNN_OK;
	TT_TRY(TT_CALL(&next, call, "ttnn.to_layout", {"tensor", ttnn_v_tensor(course->now)},
		       {"layout", ttnn_v_layout(layout)}));
	advance(course, call, next);
	return TTNN_OK;
}

static tt_status to_shape(struct course *course, struct tt_call *call,
			  const struct ttnn_shape *shape)
{
	struct tt_tensor *next;

	TT_TRY(tt_call_reshape(&next, call,
			       &(struct tt_reshape_args){.in = course->now, .shape = shape}));
	advance(course, call, next);
	return TTNN_OK;
}

static tt_status flatten(struct course *course, struct tt_call *call)
{
	uint64_t count;

	if (course->first->spec.shape.rank <= 1)
		return TTNN_OK;
	TT_TRY(ttnn_shape_volume(&count, &course->first->spec.shape));
	TT_NEED(count <= UINT32_MAX, "isin: too many elements");
	return to_shape(course, call, &TT_SHAPE((uint32_t)count));
}

/* As many elements as fit in a core with as many tests and results. */
static int64_t elements_at_once(const struct tt_tensor *elements)
{
	uint64_t bytes = 2 * tt_element_bytes(elements) + sizeof(uint32_t);
	float room = (float)tt_tensor_device(elements)->limits.l1_size * L1_SHARE;

	return (int64_t)((uint32_t)(room / (float)bytes) & ~(MULTIPLE - 1));
}

static void drop(struct course *course, struct tt_call *call)
{
	if (course->now != course->first)
		tt_call_drop(call, course->now);
}

static tt_status isin_expand(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "elements");
	struct tt_tensor *among = tt_call_tensor(call, "test_elements"), *found;
	struct course elements = {in, in}, tests = {among, among}, out = {NULL, NULL};

	TT_REQUIRE(in->spec.dtype == among->spec.dtype, "elements.dtype() == test_elements.dtype()",
		   "elements.dtype: %s, test_elements.dtype: %s, they must be equal",
		   tt_enum_name(&tt_enum_dtype, (int64_t)in->spec.dtype),
		   tt_enum_name(&tt_enum_dtype, (int64_t)among->spec.dtype));
	TT_TRY(tt_need_device(in));
	TT_TRY(to_layout(&elements, call, TTNN_ROW_MAJOR));
	TT_TRY(to_layout(&tests, call, TTNN_ROW_MAJOR));
	TT_TRY(flatten(&elements, call));
	TT_TRY(flatten(&tests, call));
	TT_TRY(TT_LAUNCH(&found, call, &prog, TT_INPUTS(elements.now, tests.now),
			 TT_OUTPUTS(tt_call_tensor(call, "out")),
			 TT_BIND(call, schema, [AT_ONCE] = ttnn_v_int(elements_at_once(in)))));
	out.now = tt_call_own(call, found);
	if (in->spec.shape.rank != 1)
		TT_TRY(to_shape(&out, call, &in->spec.shape));
	TT_TRY(to_layout(&out, call, in->spec.layout));
	drop(&tests, call);
	drop(&elements, call);
	tt_call_return(call, ttnn_tensor_ref(out.now));
	return TTNN_OK;
}

/* ---- golden --------------------------------------------------------------------------------------------------- */

static tt_status isin_golden(struct tt_golden *golden)
{
	const struct tt_array *in = tt_golden_in(golden, "elements");
	const struct tt_array *tests = tt_golden_in(golden, "test_elements");
	bool invert = tt_call_bool(&golden->call, "invert", false);
	struct tt_array *out;

	TT_GOLDEN_NEED(in && tests);
	out = tt_golden_out(golden, &in->shape, TTNN_UINT32);
	TT_GOLDEN_NEED(out);
	for (uint64_t i = 0; i < in->count; i++) {
		bool found = false;

		for (uint64_t k = 0; k < tests->count && !found; k++)
			found = *tt_at(in, i) == *tt_at(tests, k);
		*tt_at(out, i) = found == invert ? 0 : (double)UINT32_MAX;
	}
	return TTNN_OK;
}

static const struct tt_op ops[] = {
	{.name = "ttnn.experimental.isin",
	 .doc = "Which elements are among others: 0xFFFFFFFF where one is, 0 elsewhere.",
	 .sigs = {"elements: Tensor, test_elements: Tensor, *, assume_unique: bool = False, "
		  "invert: bool = False, out: Tensor? = None"},
	 .expand = isin_expand,
	 .golden = isin_golden,
	 TT_PROGRAMS(&prog)},
};

const struct tt_op_family tt_family_isin = {"isin", ops, TT_COUNT(ops)};
