/*
 * repeat.c: tensors repeated along dimensions. One program does most of it; sharded tensors and rows
 * that are too wide go other ways.
 */
#include "ops/movement/repeat.h"

#include <inttypes.h>
#include <string.h>

#include "golden/golden_movement.h"
#include "ops/eltwise/eltwise.h"
#include "ops/movement/movement.h"
#include "ops/movement/shard_ops.h"

/* A call of repeat, and who shall do it. */
enum implementation { AUTO, NATIVE, CODEGEN };
struct request {
	struct tt_tensor *in, *out;             /* out: given, or NULL */
	struct tt_repeats repeats;              /* as given: as many as were */
	const struct ttnn_memory_config *asked; /* (optional) */
	struct ttnn_memory_config memory; /* of the output, shards perhaps still to be found */
	enum implementation how;
};

static tt_status view(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
		      const struct ttnn_shape *shape)
{
	return TT_CALL(out, call, "ttnn.view", {"input_tensor", ttnn_v_tensor(in)},
		       {"shape", ttnn_v_shape(shape)});
}

/* Tensor and repetitions of one rank: the tensor gets dimensions in front, or the list ones. */
static tt_status match_ranks(struct tt_tensor **out, struct tt_repeats *repeats,
			     struct tt_call *call, const struct request *request)
{
	uint32_t rank = request->in->spec.shape.rank, given = request->repeats.rank;
	struct ttnn_shape shape = {.rank = given};

	*repeats = request->repeats;
	if (rank < given) {
		for (uint32_t back = 1; back <= given; back++)
			shape.dim[given - back] = tt_shape_last(&request->in->spec.shape, back);
		return view(out, call, request->in, &shape);
	}
	repeats->rank = rank;
	for (uint32_t back = 1; back <= rank; back++)
		repeats->times[rank - back] =
			back <= given ? request->repeats.times[given - back] : 1;
	*out = ttnn_tensor_ref(request->in);
	return TTNN_OK;
}

static struct ttnn_shape repeated(const struct ttnn_shape *shape, const struct tt_repeats *repeats)
{
	struct ttnn_shape out = *shape;

	for (uint32_t d = 0; d < out.rank; d++)
		out.dim[d] *= repeats->times[d];
	return out;
}

static bool lacks_shards(const struct ttnn_memory_config *memory)
{
	return tt_memory_config_is_sharded(memory) && !memory->has_shard && !memory->has_nd_shard;
}

/* ---- the output ------------------------------------------------------------------------------------------------ */

/* A memory config beside a given output must be that of the output. */
static tt_status check_memory(const struct request *request)
{
	const struct ttnn_memory_config *asked = request->asked, *has = &request->out->spec.memory;

	if (!asked)
		return TTNN_OK;
	TT_REQUIRE(asked->buffer == has->buffer,
		   "memory_config->buffer_type() == out_mc.buffer_type()",
		   "repeat: memory_config must match optional_output_tensor memory config");
	if (asked->created_with_nd_shard) {
		TT_REQUIRE(ttnn_memory_config_equal(asked, has),
			   "memory_config->nd_shard_spec() == out_mc.nd_shard_spec()",
			   "repeat: memory_config nd_shard_spec must match optional_output_tensor");
		return TTNN_OK;
	}
	TT_REQUIRE(asked->layout == has->layout,
		   "memory_config->memory_layout() == out_mc.memory_layout()",
		   "repeat: memory_config must match optional_output_tensor memory config");
	TT_REQUIRE(!asked->has_shard || ttnn_memory_config_equal(asked, has),
		   "memory_config->shard_spec() == out_mc.shard_spec()",
		   "repeat: memory_config shard_spec must match optional_output_tensor");
	return TTNN_OK;
}

/* The output cannot be the input: repeating reads while it writes. */
static tt_status check_given(const struct request *request, const struct tt_tensor *in,
			     const struct tt_repeats *repeats)
{
	struct ttnn_shape shape = repeated(&in->spec.shape, repeats);
	const struct tt_tensor *out = request->out;

	if (!out)
		return TTNN_OK;
	TT_TRY(check_memory(request));
	TT_REQUIRE(tt_tensor_device(out) == tt_tensor_device(request->in),
		   "out.device() == input_tensor.device()",
		   "repeat optional output must be on the same device");
	TT_REQUIRE(out->spec.dtype == request->in->spec.dtype,
		   "out.dtype() == input_tensor.dtype()", "repeat optional output dtype mismatch");
	TT_REQUIRE(out->spec.layout == request->in->spec.layout,
		   "out.layout() == input_tensor.layout()",
		   "repeat optional output layout mismatch");
	TT_REQUIRE(ttnn_shape_equal(&out->spec.shape, &shape),
		   "out.logical_shape() == expected_logical_shape",
		   "repeat optional output shape mismatch");
	TT_REQUIRE(tt_tensor_buffer(out) != tt_tensor_buffer(request->in),
		   "out.buffer() != input_tensor.buffer()",
		   "repeat: optional_output_tensor must not alias the input buffer");
	return TTNN_OK;
}

/*
 * Given output, then what was asked, then the input's; shards of the input are not kept, only
 * their layout.
 */
static void decide_memory(struct request *request)
{
	const struct ttnn_memory_config *in = &request->in->spec.memory;

	if (request->out) {
		request->memory = request->out->spec.memory;
	} else if (request->asked) {
		request->memory = *request->asked;
	} else if (tt_memory_config_is_sharded(in)) {
		request->memory =
			(struct ttnn_memory_config){.layout = in->layout, .buffer = in->buffer};
	} else {
		request->memory = *in;
	}
}

/* The config with shards, as the usual program needs it; interleaved when there are none. */
static tt_status repeat_resolve(struct ttnn_memory_config *out, const struct request *request,
				struct tt_tensor *in, const struct tt_repeats *repeats)
{
	const struct ttnn_memory_config *has = &in->spec.memory;
	struct ttnn_shape shape = repeated(&in->spec.shape, repeats);
	struct ttnn_spec_args args = {.shape = shape,
				      .dtype = in->spec.dtype,
				      .layout = in->spec.layout,
				      .tile = in->spec.tile};
	struct tt_repeat_request wanted = {.in = in, .layout = request->memory.layout};
	struct ttnn_tensor_spec spec;
	struct ttnn_shard_spec shard;
	bool found = true;
	uint32_t dim;

	*out = request->memory;
	if (!lacks_shards(out) || !tt_tensor_device(in))
		return TTNN_OK;
	if (tt_repeat_single(&dim, repeats) && has->has_shard && shape.rank >= 2 &&
	    repeats->times[dim] && tt_repeat_in_place(&in->spec, out, dim, repeats->times[dim])) {
		shard = tt_repeat_shard(&has->shard, dim + 1 == shape.rank, repeats->times[dim]);
	} else {
		args.memory.buffer = out->buffer;
		TT_TRY(ttnn_tensor_spec_make(&spec, &args));
		wanted.padded = &spec.padded;
		TT_TRY(tt_repeat_new_shards(&found, &shard, &wanted));
	}
	if (found)
		return ttnn_memory_config_sharded(out, out->layout, out->buffer, &shard);
	*out = (struct ttnn_memory_config){.buffer = out->buffer};
	return TTNN_OK;
}

/* ---- the usual program -------------------------------------------------------------------------------------------- */

/* Another form of a step's tensors, and the program that takes it. */
struct form {
	struct ttnn_shape shape; /* of the input */
	uint32_t dim;            /* the one that is repeated */
	tt_status (*launch)(struct tt_tensor **out, struct tt_call *call,
			    const struct tt_repeat_step *step);
};

/* One dimension under another shape of the same elements, and back. */
static tt_status step_as(struct tt_tensor **tensor, struct tt_call *call,
			 const struct tt_repeat_step *of, const struct form *form)
{
	struct ttnn_shape result = of->in->spec.shape, folded = form->shape;
	struct tt_repeat_step step = *of;
	struct tt_tensor *made;
	tt_status status;

	result.dim[of->dim] *= of->times;
	folded.dim[form->dim] *= of->times;
	step.dim = form->dim;
	TT_TRY(view(&step.in, call, of->in, &form->shape));
	status = of->out ? view(&step.out, call, of->out, &folded) : TTNN_OK;
	if (status == TTNN_OK)
		status = form->launch(&made, call, &step);
	if (status == TTNN_OK) {
		status = view(tensor, call, made, &result);
		tt_call_drop(call, made);
	}
	if (of->out)
		tt_call_drop(call, step.out);
	tt_call_drop(call, step.in);
	return status;
}

/* The generated program takes four dimensions. */
static tt_status one_step(struct tt_tensor **tensor, struct tt_call *call,
			  const struct tt_repeat_step *of)
{
	const struct ttnn_shape *shape = &of->in->spec.shape;
	uint32_t more = 4 - shape->rank;
	struct form form = {.shape.rank = 4, .dim = of->dim + more, .launch = tt_repeat_pages};

	if (!more)
		return tt_repeat_pages(tensor, call, of);
	for (uint32_t d = 0; d < 4; d++)
		form.shape.dim[d] = d < more ? 1 : shape->dim[d - more];
	return step_as(tensor, call, of, &form);
}

/* Equal placement, ND shards aside. */
static bool is_placed(const struct ttnn_memory_config *a, const struct ttnn_memory_config *b)
{
	if (a->layout != b->layout || a->buffer != b->buffer)
		return false;
	return !tt_memory_config_is_sharded(a) ||
	       (a->has_shard == b->has_shard &&
		(!a->has_shard ||
		 (a->shard.grid == b->shard.grid && a->shard.height == b->shard.height &&
		  a->shard.width == b->shard.width &&
		  a->shard.orientation == b->shard.orientation)));
}

/* What plan says is done first: out of shards, out of tiles. */
static tt_status repeat_prepare(struct tt_tensor **working, struct tt_call *call,
				const struct tt_repeat_plan *plan)
{
	static const struct ttnn_memory_config dram;
	struct tt_tensor *next;
	tt_status status;

	if (plan->unshard) {
		status = tt_call_to_memory(&next, call, *working, &dram);
		TT_TRY(tt_call_replace(working, call, status, &next));
	}
	if (plan->by_rows) {
		status = TT_CALL(&next, call, "ttnn.untilize",
				 {"input_tensor", ttnn_v_tensor(*working)});
		TT_TRY(tt_call_replace(working, call, status, &next));
	}
	return TTNN_OK;
}

/* Back under the shape, into tiles, to the memory. */
static tt_status repeat_finish(struct tt_tensor **working, struct tt_call *call,
			       const struct ttnn_tensor_spec *in, const struct ttnn_shape *shape,
			       const struct ttnn_memory_config *memory)
{
	struct ttnn_arg tiles[] = {{"tensor", ttnn_v_none()},
				   {"layout", ttnn_v_layout(TTNN_TILE)},
				   {"dtype", ttnn_v_dtype(in->dtype)}};
	struct tt_tensor *next;
	tt_status status;

	if (!ttnn_shape_equal(&(*working)->spec.shape, shape)) {
		status = view(&next, call, *working, shape);
		TT_TRY(tt_call_replace(working, call, status, &next));
	}
	if (in->layout == TTNN_TILE && (*working)->spec.layout != TTNN_TILE) {
		tiles[0].value = ttnn_v_tensor(*working);
		status = tt_call_op(&next, call, "ttnn.to_layout", tiles, TT_COUNT(tiles));
		TT_TRY(tt_call_replace(working, call, status, &next));
	}
	if (!is_placed(&(*working)->spec.memory, memory)) {
		status = tt_call_to_memory(&next, call, *working, memory);
		TT_TRY(tt_call_replace(working, call, status, &next));
	}
	return TTNN_OK;
}

/* Leaves the result in *out, or NULL. */
static tt_status by_pages(struct tt_tensor **out, struct tt_call *call,
			  const struct request *request, struct tt_tensor *in,
			  const struct tt_repeats *repeats)
{
	const struct ttnn_tensor_spec spec = in->spec;
	struct ttnn_shape shape = repeated(&spec.shape, repeats);
	struct tt_tensor *working = ttnn_tensor_ref(in), *next;
	struct tt_repeat_plan plan;
	tt_status status;

	tt_repeat_plan(&plan, in, repeats, &request->memory);
	TT_TRY(repeat_prepare(&working, call, &plan));
	for (uint32_t i = 0; i < plan.count; i++) {
		bool last = i + 1 == plan.count;
		struct tt_repeat_step step = {.in = working,
					      .out = last && plan.into_given ? request->out : NULL,
					      .dim = plan.dims[i],
					      .times = plan.times[plan.dims[i]],
					      .memory = last ? &plan.last : &plan.between};

		status = one_step(&next, call, &step);
		TT_TRY(tt_call_replace(&working, call, status, &next));
	}
	TT_TRY(repeat_finish(&working, call, &spec, &shape, &request->memory));
	return tt_call_into(out, call, request->out, working);
}

/* ---- the other programs ---------------------------------------------------------------------------------------------- */

static bool is_whole_tiles(const struct tt_tensor *in)
{
	const struct ttnn_shape *shape = &in->spec.shape;

	return in->spec.layout == TTNN_TILE && shape->rank >= 2 &&
	       tt_shape_last(shape, 1) % TT_TILE == 0 && tt_shape_last(shape, 2) % TT_TILE == 0;
}

static uint32_t product(const struct ttnn_shape *shape, uint32_t from, uint32_t to)
{
	uint32_t volume = 1;

	for (uint32_t d = from; d < to; d++)
		volume *= shape->dim[d];
	return volume;
}

/* Rows as four dimensions of which the second is repeated, or as two of which the last is. */
static tt_status step_of_rows(struct tt_tensor **tensor, struct tt_call *call,
			      const struct tt_repeat_step *of)
{
	const struct ttnn_shape *shape = &of->in->spec.shape;
	uint32_t rank = shape->rank, width = shape->dim[rank - 1];
	struct form form = {.shape = {4,
				      {product(shape, 0, of->dim), shape->dim[of->dim],
				       product(shape, of->dim + 1, rank - 1), width}},
			    .dim = 1,
			    .launch = tt_repeat_rows};

	if (of->dim + 1 == rank)
		form.shape = (struct ttnn_shape){2, {product(shape, 0, rank - 1), width}};
	return step_as(tensor, call, of, &form);
}

/* Replaces a tensor by itself in another layout. */
static tt_status in_layout(struct tt_tensor **tensor, struct tt_call *call, enum ttnn_layout layout,
			   const enum ttnn_dtype *dtype)
{
	struct ttnn_arg args[] = {{"tensor", ttnn_v_tensor(*tensor)},
				  {"layout", ttnn_v_layout(layout)},
				  {"dtype", dtype ? ttnn_v_dtype(*dtype) : ttnn_v_none()}};
	struct tt_tensor *next;
	tt_status status = tt_call_op(&next, call, "ttnn.to_layout", args, dtype ? 3 : 2);

	return tt_call_replace(tensor, call, status, &next);
}

/* Dimension by dimension, from the last one on; `given` for the last step. */
static tt_status all_steps(struct tt_tensor **working, struct tt_call *call,
			   const struct tt_repeats *repeats,
			   const struct ttnn_memory_config *memory, struct tt_tensor *given)
{
	bool tiles = is_whole_tiles(*working);
	uint32_t first = 0;

	while (repeats->times[first] == 1)
		first++;
	for (uint32_t d = repeats->rank; d-- > first;) {
		struct tt_repeat_step step = {.in = *working,
					      .native = repeats->native,
					      .out = d == first ? given : NULL,
					      .dim = d,
					      .times = repeats->times[d],
					      .memory = memory};
		struct tt_tensor *next;
		tt_status status;

		if (step.times == 1)
			continue;
		status = tiles ? tt_repeat_tiles(&next, call, &step)
			       : step_of_rows(&next, call, &step);
		TT_TRY(tt_call_replace(working, call, status, &next));
	}
	return TTNN_OK;
}

/* From interleaved to shards, found now if they were not given. */
static tt_status shard_again(struct tt_tensor **working, struct tt_call *call,
			     const struct request *request)
{
	const struct ttnn_memory_config *in = &request->in->spec.memory;
	struct tt_repeat_request wanted = {.in = *working,
					   .padded = &(*working)->spec.padded,
					   .layout = request->memory.layout,
					   .order = in->has_shard ? &in->shard.orientation : NULL};
	struct ttnn_memory_config memory = request->memory;
	struct ttnn_arg args[] = {{"tensor", ttnn_v_tensor(*working)},
				  {"memory_config", ttnn_v_memory(&memory)},
				  {"output_tensor", ttnn_v_tensor(request->out)}};
	struct ttnn_shard_spec shard;
	struct tt_tensor *next;
	bool found;
	tt_status status;

	if (lacks_shards(&memory)) {
		TT_TRY(tt_repeat_new_shards(&found, &shard, &wanted));
		if (!found)
			return TTNN_OK;
		TT_TRY(ttnn_memory_config_sharded(&memory, memory.layout, memory.buffer, &shard));
	}
	if (memory.has_shard && !memory.created_with_nd_shard) {
		status = tt_call_to_shards(&next, call, *working, &memory, request->out);
	} else {
		status = tt_call_op(&next, call, "ttnn.to_memory_config", args,
				    request->out ? 3 : 2);
	}
	return tt_call_replace(working, call, status, &next);
}

/* Repeated zero times: an empty tensor by ttnn.zeros. */
static tt_status no_elements(struct tt_tensor **out, struct tt_call *call,
			     const struct request *request, const struct ttnn_shape *shape)
{
	const struct ttnn_tensor_spec *in = &request->in->spec;
	struct ttnn_memory_config plain = {.buffer = in->memory.buffer};
	struct tt_tensor *zeros;

	TT_TRY(TT_CALL(&zeros, call, "ttnn.zeros", {"shape", ttnn_v_shape(shape)},
		       {"dtype", ttnn_v_dtype(in->dtype)}, {"layout", ttnn_v_layout(in->layout)},
		       {"device", ttnn_v_device(tt_tensor_device(request->in))},
		       {"memory_config", ttnn_v_memory(request->out     ? &request->out->spec.memory
						       : request->asked ? request->asked
									: &plain)}));
	return tt_call_into(out, call, request->out, zeros);
}

/* Nothing is repeated: only the place may change. */
static tt_status just_once(struct tt_tensor **out, struct tt_call *call,
			   const struct request *request, struct tt_tensor *in)
{
	const struct ttnn_memory_config *has = &request->in->spec.memory;
	struct tt_repeat_request wanted = {.in = in,
					   .padded = &in->spec.padded,
					   .layout = request->memory.layout,
					   .order =
						   has->has_shard ? &has->shard.orientation : NULL};
	struct ttnn_memory_config memory = request->memory;
	struct ttnn_shard_spec shard;
	struct tt_tensor *moved;
	bool found;

	if (lacks_shards(&memory) && has->layout == memory.layout && has->buffer == memory.buffer) {
		memory = *has;
	} else if (lacks_shards(&memory)) {
		TT_TRY(tt_repeat_new_shards(&found, &shard, &wanted));
		if (found)
			TT_TRY(ttnn_memory_config_sharded(&memory, memory.layout, memory.buffer,
							  &shard));
		else
			memory = (struct ttnn_memory_config){.buffer = memory.buffer};
	}
	TT_TRY(tt_call_to_memory(&moved, call, in, &memory));
	return tt_call_into(out, call, request->out, moved);
}

/*
 * One program a dimension. Sharded results are cut at the end, unless shards can be repeated where
 * they are.
 */
static tt_status steps_apart(struct tt_tensor **working, struct tt_call *call,
			     const struct request *request, const struct tt_repeats *repeats)
{
	static const struct ttnn_memory_config l1 = {.buffer = TTNN_L1};
	const struct ttnn_tensor_spec *in = &request->in->spec;
	struct ttnn_memory_config memory = request->memory;
	bool rows = in->layout == TTNN_TILE && !is_whole_tiles(*working);
	uint32_t dim = 0;
	bool native = tt_tensor_is_sharded(request->in) && tt_repeat_single(&dim, repeats) &&
		      tt_repeat_in_place(&(*working)->spec, &memory, dim, repeats->times[dim]);
	bool later = !native && tt_memory_config_is_sharded(&memory);
	bool lands = request->out && !rows && !later &&
		     tt_tensor_buffer(*working) != tt_tensor_buffer(request->out);
	struct tt_tensor *next;

	if (!native && tt_tensor_is_sharded(*working)) {
		tt_status status = tt_call_to_memory(&next, call, *working, &l1);

		TT_TRY(tt_call_replace(working, call, status, &next));
	}
	if (later)
		memory = (struct ttnn_memory_config){.buffer = memory.buffer};
	if ((*working)->spec.layout == TTNN_TILE && rows)
		TT_TRY(in_layout(working, call, TTNN_ROW_MAJOR, NULL));
	TT_TRY(all_steps(working, call, repeats, &memory, lands ? request->out : NULL));
	if (rows)
		TT_TRY(in_layout(working, call, TTNN_TILE, &in->dtype));
	return later ? shard_again(working, call, request) : TTNN_OK;
}

/* The older of upstream's ways: nothing, once, or steps. */
static tt_status by_steps(struct tt_tensor **out, struct tt_call *call,
			  const struct request *request)
{
	struct tt_repeats repeats;
	struct tt_tensor *working;
	struct ttnn_shape shape;
	bool none = false, once = true;

	TT_TRY(match_ranks(&working, &repeats, call, request));
	shape = repeated(&working->spec.shape, &repeats);
	for (uint32_t d = 0; d < repeats.rank; d++) {
		none = none || !repeats.times[d];
		once = once && repeats.times[d] == 1;
	}
	if (none) {
		return tt_call_drop_after(call, no_elements(out, call, request, &shape), working);
	}
	if (!shape.rank || once) {
		return tt_call_drop_after(
			call,
			shape.rank ? just_once(out, call, request, working)
				   : tt_fail_cond(TTNN_INVALID,
						  "working_tensor.logical_shape().rank() > 0",
						  "repeat does not support rank 0 tensors"),
			working);
	}
	TT_TRY(steps_apart(&working, call, request, &repeats));
	return tt_call_into(out, call, request->out, working);
}

/* ---- the operations ------------------------------------------------------------------------------------------------ */

/* Tiles that are not full go through rows, which bfloat4_b cannot be. */
static tt_status check_rows(const struct tt_tensor *in, const struct tt_repeats *repeats)
{
	struct ttnn_spec_args args = {.shape = repeated(&in->spec.shape, repeats),
				      .dtype = in->spec.dtype};
	struct ttnn_tensor_spec spec;

	if (in->spec.dtype != TTNN_BFLOAT4_B || !tt_repeat_by_rows(in, repeats))
		return TTNN_OK;
	return ttnn_tensor_spec_make(&spec, &args);
}

/* Generated program if it can and nobody forbids it (`implementation`), else steps. */
static tt_status repeat(struct tt_tensor **out, struct tt_call *call, struct request *request)
{
	struct request paged = *request;
	struct tt_repeats repeats;
	struct tt_tensor *working;
	tt_status status;
	bool pages;

	decide_memory(request);
	paged.memory = request->memory;
	TT_TRY(match_ranks(&working, &repeats, call, request));
	status = repeat_resolve(&paged.memory, request, working, &repeats);
	if (status == TTNN_OK)
		status = check_given(request, working, &repeats);
	if (status == TTNN_OK)
		status = check_rows(working, &repeats);
	pages = request->how != NATIVE &&
		tt_repeat_pages_can(working, &repeats, &paged.memory, request->out);
	if (status == TTNN_OK && request->how == CODEGEN && !pages)
		status = tt_fail_cond(TTNN_INVALID, "supported",
				      "repeat: implementation=\"codegen\" requires a supported "
				      "input and an interleaved output");
	if (status == TTNN_OK && pages)
		status = by_pages(out, call, &paged, working, &repeats);
	else if (status == TTNN_OK)
		status = by_steps(out, call, request);
	tt_call_drop(call, working);
	return status;
}

/* Dimension by dimension, with the program of an older release. */
static tt_status repeat_as_before(struct tt_tensor **out, struct tt_call *call,
				  const struct request *request)
{
	struct tt_classic_repeat_args args = {.input = request->in, .memory = request->asked};

	for (; args.dim < request->repeats.rank; args.dim++) {
		args.times = request->repeats.times[args.dim];
		if (args.times == 1)
			continue;
		TT_TRY(tt_classic_repeat(out, call, &args));
		args.input = tt_call_own(call, *out);
	}
	*out = ttnn_tensor_ref(args.input);
	return TTNN_OK;
}

/* Which of upstream's two implementations the call asks for. */
static tt_status read_implementation(enum implementation *out, const struct tt_call *call)
{
	static const char *const names[] = {
		[AUTO] = "auto", [NATIVE] = "native", [CODEGEN] = "codegen"};
	const struct ttnn_value *value = tt_call_arg(call, "implementation");
	const char *asked = value->kind == TTNN_VALUE_STRING ? value->text : "auto";

	for (size_t i = 0; i < TT_COUNT(names); i++)
		if (strcmp(names[i], asked) == 0) {
			*out = (enum implementation)i;
			return TTNN_OK;
		}
	return tt_fail_cond(TTNN_INVALID, "tt::exception",
			    "Unknown repeat implementation '%s': expected 'auto', 'native', or "
			    "'codegen'",
			    asked);
}

/* The generation `classic` has another way for repeats of all dimensions. */
static tt_status expand_repeat(struct tt_call *call)
{
	struct request request = {.in = tt_call_tensor(call, "input_tensor"),
				  .out = tt_call_tensor(call, "optional_output_tensor"),
				  .asked = tt_call_memory(call, "memory_config")};
	int64_t times[TTNN_MAX_RANK];
	struct tt_tensor *out;
	size_t count;

	TT_TRY(tt_call_ints(times, &count, TTNN_MAX_RANK, call, "repeat_dims"));
	request.repeats.rank = (uint32_t)count;
	for (size_t i = 0; i < count; i++)
		request.repeats.times[i] = (uint32_t)times[i];
	TT_TRY(read_implementation(&request.how, call));
	request.repeats.native = request.how == NATIVE;
	TT_TRY(tt_need_device(request.in));
	if (tt_is_classic(call->device) && !request.out && count == request.in->spec.shape.rank)
		TT_TRY(repeat_as_before(&out, call, &request));
	else
		TT_TRY(repeat(&out, call, &request));
	tt_call_return(call, out);
	return TTNN_OK;
}

/* How often each dimension must be repeated to have the extent that is asked for. */
static tt_status plan_expand(struct tt_repeats *repeats, struct ttnn_shape *shape,
			     const struct ttnn_shape *in, const int64_t *dims)
{
	for (uint32_t back = 1; back <= shape->rank; back++) {
		uint32_t d = shape->rank - back;
		uint32_t has = tt_shape_last(in, back);

		if (back <= in->rank && (dims[d] == -1 || dims[d] == has)) {
			repeats->times[d] = 1;
			shape->dim[d] = has;
			continue;
		}
		TT_REQUIRE(dims[d] >= 0 || back > in->rank, "shape[out_idx] >= 0",
			   "Expand dimension size must be -1 or non-negative (got %" PRId64 ")",
			   dims[d]);
		TT_REQUIRE(dims[d] >= 0, "shape[out_idx] >= 0",
			   "Leading dimension must be non-negative (got %" PRId64
			   "); it has no corresponding input dimension",
			   dims[d]);
		TT_REQUIRE(back > in->rank || has == 1, "src_dim == 1",
			   "Only size 1 dimensions can be expanded in the output shape");
		repeats->times[d] = (uint32_t)dims[d];
		shape->dim[d] = (uint32_t)dims[d];
	}
	return TTNN_OK;
}

/* As torch.expand: -1 keeps a dimension. The extra dimensions are repeats. */
static tt_status expand_expand(struct tt_call *call)
{
	struct request request = {.in = tt_call_tensor(call, "input_tensor"),
				  .asked = tt_call_memory(call, "memory_config")};
	int64_t dims[TTNN_MAX_RANK];
	struct ttnn_shape shape;
	struct tt_tensor *out, *seen;
	size_t count;
	tt_status status;

	TT_TRY(tt_call_ints(dims, &count, TTNN_MAX_RANK, call, "output_shape"));
	TT_REQUIRE(request.in->spec.shape.rank <= count, "source_rank <= new_rank",
		   "Output rank must be >= input rank for expand");
	shape.rank = request.repeats.rank = (uint32_t)count;
	TT_TRY(plan_expand(&request.repeats, &shape, &request.in->spec.shape, dims));
	TT_TRY(tt_need_device(request.in));
	TT_TRY(repeat(&out, call, &request));
	if (out->spec.shape.rank != shape.rank) {
		status = view(&seen, call, out, &shape);
		TT_TRY(tt_call_replace(&out, call, status, &seen));
	}
	tt_call_return(call, out);
	return TTNN_OK;
}

static const struct tt_op ops[] = {
	{TT_MOVE_ROW(
		"expand", expand_expand, tt_golden_expand,
		"A tensor whose dimensions of extent 1 are repeated until it has a shape.",
		"input_tensor: Tensor, output_shape: ints, *, memory_config: MemoryConfig? = None")},
	{TT_MOVE_ROW(
		"repeat", expand_repeat, tt_golden_repeat,
		"A tensor repeated along its dimensions.",
		"input_tensor: Tensor, repeat_dims: sizes, *, memory_config: MemoryConfig? = None, "
		"implementation: str = auto, optional_output_tensor: Tensor? = None")},
};

const struct tt_op_family tt_family_repeat = {"movement", ops, TT_COUNT(ops)};
