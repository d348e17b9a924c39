/*
 * root.c: reduce_to_root: the attention that the states of all chips make together, on one of them.
 *
 * Models results and refusals of reduce_to_root of ttnn 0.81. Not modelled: its program memory, the tensor on the way, and what
 * upstream leaves undefined, which are zeros here.
 */
#include <math.h>

#include "golden/golden_collective.h"
#include "ops/collective/exchange.h"
#include "ops/usual.h"

#define ATTRS(X)                                                                                   \
	X(ROOT, "root_coord")                                                                      \
	X(SCALE, "scale_fp32")
TT_ATTRS(schema, "ReduceToRootParams", ATTRS);

/* ---- states of an attention --------------------------------------------------------------------------------- */

enum { VALUES, SUMS, MAXIMA };

/* As the inputs. */
static tt_status root_infer(struct tt_launch *launch)
{
	launch->output_count = 3;
	for (size_t i = VALUES; i <= MAXIMA; i++) {
		TT_TRY(tt_check_given(launch, i, &launch->inputs[i]->spec.shape));
		if (!tt_infer_given(launch, i))
			launch->specs[i] = launch->inputs[i]->spec;
	}
	return TTNN_OK;
}

/* Values, sums and maxima belong together: shards of each have the same rows. */
static tt_status root_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *l = &launch->inputs[VALUES]->spec;
	const struct ttnn_tensor_spec *s = &launch->inputs[SUMS]->spec;
	const struct ttnn_tensor_spec *m = &launch->inputs[MAXIMA]->spec;

	TT_REQUIRE(l->layout == TTNN_TILE && s->layout == TTNN_TILE && m->layout == TTNN_TILE,
		   "input_l.layout() == tt::tt_metal::Layout::TILE",
		   "ReduceToRoot requires TILE layout for all three input tensors");
	TT_REQUIRE(l->memory.has_shard && s->memory.has_shard && m->memory.has_shard,
		   "input_l.is_sharded() && input_s.is_sharded() && input_m.is_sharded()",
		   "ReduceToRoot requires all three input tensors to be sharded");
	TT_REQUIRE(ttnn_shape_equal(&s->shape, &m->shape), "input_s.shape() == input_m.shape()",
		   "ReduceToRoot requires sums and maxima of one shape");
	TT_REQUIRE(tt_shape_count(&l->shape) * tt_shape_last(&s->shape, 1) ==
				   tt_shape_count(&s->shape) * tt_shape_last(&l->shape, 1) &&
			   (uint64_t)tt_shape_last(&l->shape, 1) * s->memory.shard.width ==
				   (uint64_t)tt_shape_last(&s->shape, 1) * l->memory.shard.width,
		   "input_l.shape() fits input_s.shape()",
		   "ReduceToRoot requires values, sums and maxima on the same cores");
	return TTNN_OK;
}

/* One chip's state is added to another: maxima, sums, values; a core's first column serves its values. */
static void add_state(double *const *to, double *const *from, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *l = &launch->inputs[VALUES]->spec;
	const struct ttnn_tensor_spec *s = &launch->inputs[SUMS]->spec;
	uint64_t wide = tt_shape_last(&l->shape, 1), narrow = tt_shape_last(&s->shape, 1);
	double scale = launch->attrs[SCALE].real;

	for (uint64_t i = 0; i < tt_shape_count(&l->shape); i++) {
		uint64_t core = i % wide / l->memory.shard.width;
		uint64_t state = i / wide * narrow + core * s->memory.shard.width;
		double top = fmax(to[MAXIMA][state], from[MAXIMA][state]);

		to[VALUES][i] = to[VALUES][i] * exp((to[MAXIMA][state] - top) * scale) +
				from[VALUES][i] * exp((from[MAXIMA][state] - top) * scale);
	}
	for (uint64_t i = 0; i < tt_shape_count(&s->shape); i++) {
		double top = fmax(to[MAXIMA][i], from[MAXIMA][i]);

		to[SUMS][i] = to[SUMS][i] * exp((to[MAXIMA][i] - top) * scale) +
			      from[SUMS][i] * exp((from[MAXIMA][i] - top) * scale);
		to[MAXIMA][i] = top;
	}
}

/* Values are divided by their sums at last. */
static tt_status write_state(const struct tt_launch *launch, double *const *state, uint32_t chip)
{
	const struct ttnn_tensor_spec *l = &launch->inputs[VALUES]->spec;
	const struct ttnn_tensor_spec *s = &launch->inputs[SUMS]->spec;
	uint64_t wide = tt_shape_last(&l->shape, 1), narrow = tt_shape_last(&s->shape, 1);

	for (size_t which = VALUES; which <= MAXIMA; which++) {
		uint64_t count = tt_shape_count(&launch->inputs[which]->spec.shape);
		float *out = tt_chip_zeros(launch, which);

		TT_NEED_MEMORY(out);
		for (uint64_t i = 0; state && i < count; i++) {
			uint64_t core = i % wide / l->memory.shard.width;
			uint64_t sum = i / wide * narrow + core * s->memory.shard.width;

			out[i] = (float)(which == VALUES ? state[VALUES][i] / state[SUMS][sum]
							 : state[which][i]);
		}
		TT_TRY(tt_chip_write(launch, which, chip, out));
	}
	return TTNN_OK;
}

/* States are merged chip by chip; only the root keeps the result. */
static tt_status root_kernel(struct tt_launch *launch)
{
	uint32_t root = (uint32_t)launch->attrs[ROOT].integer;
	double *state[3], *other[3];

	for (uint32_t chip = 0; chip < tt_chip_count(launch); chip++) {
		for (size_t i = VALUES; i <= MAXIMA; i++)
			TT_TRY(tt_chip_read(chip ? &other[i] : &state[i], launch, i, chip));
		if (chip)
			add_state(state, other, launch);
	}
	for (uint32_t chip = 0; chip < tt_chip_count(launch); chip++)
		TT_TRY(write_state(launch, chip == root ? state : NULL, chip));
	return TTNN_OK;
}

/* ---- the call ----------------------------------------------------------------------------------------------- */

static const struct tt_prog program = {
	.device_op = "ReduceToRootOp",
	.prim = "ttnn::prim::reduce_to_root",
	.attrs = &schema,
	.infer = root_infer,
	.validate = root_validate,
	TT_FACTORY("ttnn::operations::ccl::ReduceToRootOp::ReduceToRoot", NULL),
	TT_KERNEL(root_kernel),
	.cost = tt_cost_unmodelled_move,
	.together = true,
};

static tt_status root_expand(struct tt_call *call)
{
	static const char *const names[] = {"input_tensor_l", "input_tensor_s", "input_tensor_m"};
	static const char *const results[] = {"output_tensor_l", "output_tensor_s",
					      "output_tensor_m"};
	struct tt_tensor *in[3], *given[3];
	struct ttnn_value root;

	for (size_t i = 0; i < 3; i++) {
		in[i] = tt_call_tensor(call, names[i]);
		given[i] = tt_call_tensor(call, results[i]);
		TT_REQUIRE(tt_tensor_device(in[i]), "storage_type == DEVICE",
			   "%s: the tensor must be on a device", call->entry->op->name);
	}
	TT_TRY(tt_group_place(&root, call, "root_coord"));
	return TT_LAUNCH_RETURN(
		call, &program, .inputs = in, .input_count = 3, .outputs = given, .output_count = 3,
		TT_BIND(call, schema, [ROOT] = root,
			[SCALE] = ttnn_v_real(tt_call_real(call, "scale_fp32", 1))));
}

static const struct tt_op ops[] = {
	{.name = "ttnn.reduce_to_root",
	 .doc = "The attention that the states of all devices make together, on one of them.",
	 .sigs = {"input_tensor_l: Tensor, input_tensor_s: Tensor, input_tensor_m: Tensor, "
		  "root_coord: sizes, *, scale_fp32: float = 1.0, topology: enum? = None, "
		  "output_tensor_l: Tensor? = None, output_tensor_s: Tensor? = None, "
		  "output_tensor_m: Tensor? = None, intermediate_tensor: Tensor? = None, "
		  "input_mux_cores: any = None"},
	 .expand = root_expand,
	 .golden = tt_golden_reduce_to_root,
	 .gives = "[Tensor]"},
};

const struct tt_op_family tt_family_reduce_to_root = {"exchange", ops, TT_COUNT(ops)};
