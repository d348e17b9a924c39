/*
 * random_ops.c: tensors of random values. The same seed gives the same values on every machine.
 *
 * Models RandDeviceOperation, RandnDeviceOperation, UniformDeviceOperation and BernoulliDeviceOperation of ttnn
 * 0.81: refusals, memory, cores. Not modelled: the chip's own generator: values are others than a chip's.
 */
#include <float.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "backend/backend.h"
#include "ops/compute.h"
#include "ops/creation/creation.h"
#include "ops/usual.h"

/* ---- what the programs share --------------------------------------------------------------------------- */

/* Seed 0 is another one each time, but the same ones in every run of a program. */
static uint64_t seed_of(const struct ttnn_value *value)
{
	static atomic_uint_least64_t next = 1;
	int64_t seed = 0;

	if (tt_value_integer(&seed, value) && seed)
		return (uint64_t)seed;
	return atomic_fetch_add_explicit(&next, 1, memory_order_relaxed) * 0x9e3779b97f4a7c15u;
}

/* Tiles of the output over the grid, column by column. */
static tt_status cores(const ttnn_core_set **out, const struct tt_launch *launch)
{
	struct tt_work_split split;

	TT_TRY(tt_split_work(&split, launch->device->limits.grid, launch->outputs[0]->spec.pages,
			     TTNN_ORIENT_COL_MAJOR));
	*out = split.all;
	return TTNN_OK;
}

static tt_status random_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const ttnn_core_set *all;

	TT_TRY(cores(&all, launch));
	return TT_PLAN(plan, all,
		       TT_CB_ROW(24, "intermed_cb", .pages = 2, .page = tt_page_out0(launch)));
}

static bool is_float(enum ttnn_dtype dtype)
{
	return dtype == TTNN_BFLOAT16 || dtype == TTNN_FLOAT32;
}

/* The default of upstream's operations of this kind. */
static struct ttnn_value compute_config(struct tt_call *call)
{
	static const struct tt_compute_usual usual = {.fidelity = TT_HIFI4, .approx = true};

	return tt_compute_config(call, tt_call_arg(call, "compute_kernel_config"), &usual);
}

/* The last number before `high` that a dtype has; none is smaller than a normal one. */
static double random_before(double high, enum ttnn_dtype dtype)
{
	float last = nextafterf((float)high, -INFINITY);
	uint32_t bits;

	if (last > -FLT_MIN && last < FLT_MIN)
		last = last < 0 ? -FLT_MIN : 0;
	memcpy(&bits, &last, sizeof(bits));
	if (dtype == TTNN_BFLOAT16 && bits & 0xffff)
		bits = (bits & 0xffff0000u) + (last < 0 ? 0x10000u : 0);
	memcpy(&last, &bits, sizeof(bits));
	return last;
}

static tt_status check_bounds(double low, double high)
{
	if (low < high)
		return TTNN_OK;
	return tt_fail_cond(TTNN_INVALID, "from < to",
			    "Uniform range lower bound must be less than upper bound, got [%g, %g)",
			    low, high);
}

/* ---- a new tensor -------------------------------------------------------------------------------------------- */

enum {
	NEW_SHAPE,
	NEW_DTYPE,
	NEW_LAYOUT,
	NEW_MEMORY,
	NEW_DEVICE,
	NEW_LOW, /* RandDeviceOperation */
	NEW_HIGH,
	NEW_SEED,
	NEW_SPLIT,
	NEW_MAPPER,
	NEW_CORES,
	NEW_ATTRS,
	NORMAL_COMPUTE = NEW_LOW, /* RandnDeviceOperation */
	NORMAL_SEED,
	NORMAL_ATTRS
};

static const struct tt_field new_fields[NEW_ATTRS] = {
	[NEW_SHAPE] = {.name = "shape"},
	[NEW_DTYPE] = {.name = "dtype"},
	[NEW_LAYOUT] = {.name = "layout"},
	[NEW_MEMORY] = {.name = "memory_config"},
	[NEW_DEVICE] = {.name = "device"},
	[NEW_LOW] = {.name = "from", .unkeyed = true},
	[NEW_HIGH] = {.name = "to", .unkeyed = true},
	[NEW_SEED] = {.name = "seed", .unkeyed = true},
	[NEW_SPLIT] = {.name = "mesh_dim_is_sharded", .text = TT_TEXT_SMALL},
	[NEW_MAPPER] = {.name = "mesh_mapper"},
	[NEW_CORES] = {.name = "sub_core_grids"},
};
static const struct tt_schema new_schema = {"operation_attributes_t", new_fields, NEW_ATTRS, false};

static const struct tt_field normal_fields[NORMAL_ATTRS] = {
	[NEW_SHAPE] = {.name = "shape"},
	[NEW_DTYPE] = {.name = "dtype"},
	[NEW_LAYOUT] = {.name = "layout"},
	[NEW_MEMORY] = {.name = "memory_config"},
	[NEW_DEVICE] = {.name = "device"},
	[NORMAL_COMPUTE] = {.name = "compute_kernel_config"},
	[NORMAL_SEED] = {.name = "seed", .unkeyed = true},
};
static const struct tt_schema normal_schema = {"operation_attributes_t", normal_fields,
					       NORMAL_ATTRS, false};

static tt_status new_infer(struct tt_launch *launch)
{
	return tt_infer_one(launch, launch->attrs[NEW_SHAPE].shape,
			    (enum ttnn_dtype)launch->attrs[NEW_DTYPE].integer,
			    (enum ttnn_layout)launch->attrs[NEW_LAYOUT].integer);
}

/* Floats only. */
static tt_status randn_validate(struct tt_launch *launch)
{
	if (is_float((enum ttnn_dtype)launch->attrs[NEW_DTYPE].integer))
		return TTNN_OK;
	return tt_fail_cond(TTNN_INVALID,
			    "operation_attributes.dtype == DataType::FLOAT32 || "
			    "operation_attributes.dtype == DataType::BFLOAT16",
			    "Randn: Output tensor must be Float32 or Bfloat16");
}

/* How values are spread: chips that differ only along what is not cut have the same. */
struct mapping {
	struct ttnn_shape extents;    /* rank 0: there is none */
	int32_t dims[TT_SPREAD_DIMS]; /* of the tensor; -1: not cut */
	uint64_t seed;
};

/* The seed of a chip: its own along dimensions that are cut. */
static uint64_t seed_at(const struct mapping *mapping, uint32_t chip)
{
	uint64_t part = 0, step = 1;

	for (uint32_t i = mapping->extents.rank; i-- > 0; chip /= mapping->extents.dim[i]) {
		if (mapping->dims[i] < 0)
			continue;
		part += chip % mapping->extents.dim[i] * step;
		step *= mapping->extents.dim[i];
	}
	return mapping->seed + part;
}

/* One program function for both kinds: which is known by their validation. */
static tt_status new_kernel(struct tt_launch *launch)
{
	const struct mapping *mapping = launch->extra;
	bool normal = launch->prog->validate == randn_validate;
	const struct ttnn_value *attrs = launch->attrs;
	struct tt_random_job job = {.out = launch->outputs[0],
				    .kind = normal ? TT_RANDOM_NORMAL : TT_RANDOM_UNIFORM,
				    .seed = seed_of(&attrs[normal ? NORMAL_SEED : NEW_SEED]),
				    .low = normal ? 0 : attrs[NEW_LOW].real,
				    .high = normal ? 1 : attrs[NEW_HIGH].real};

	if (mapping && mapping->extents.rank)
		job.seed = seed_at(mapping, launch->chip);
	return tt_backend_get()->random(&job);
}

static uint64_t rand_spread(const struct tt_launch *launch)
{
	const struct mapping *mapping = launch->extra;
	uint64_t spread = 0;

	if (!mapping || !mapping->extents.rank)
		return tt_spread_copies(&TT_SHAPE(launch->device->rows, launch->device->cols));
	for (uint32_t i = 0; i < mapping->extents.rank; i++)
		spread =
			tt_spread_with(spread, i,
				       (struct tt_spread){mapping->extents.dim[i],
							  mapping->dims[i] >= 0, mapping->dims[i]});
	return spread;
}

static const struct tt_factory rand_factory = {
	.name = "ttnn::operations::rand::RandDeviceOperation::RandProgramFactory",
	.memory = random_memory,
};
static const struct tt_factory randn_factory = {
	.name = "ttnn::operations::randn::RandnDeviceOperation::ProgramFactory",
	.memory = random_memory,
};

static const struct tt_prog prog_rand = {
	.device_op = "RandDeviceOperation",
	.prim = "ttnn::prim::uniform",
	.attrs = &new_schema,
	.infer = new_infer,
	.factories = &rand_factory,
	.factory_count = 1,
	TT_KERNEL(new_kernel),
	.spread = rand_spread,
	.per_chip = true, /* each has a seed of its own */
};
static const struct tt_prog prog_randn = {
	.device_op = "RandnDeviceOperation",
	.prim = "ttnn::prim::randn",
	.attrs = &normal_schema,
	.infer = new_infer,
	.validate = randn_validate,
	.factories = &randn_factory,
	.factory_count = 1,
	TT_KERNEL(new_kernel),
};

/* A list of numbers, or none. */
static const struct ttnn_value *list_at(const struct ttnn_value *list, uint32_t place)
{
	static const struct ttnn_value none = {0};

	return list->kind == TTNN_VALUE_LIST && place < list->count &&
			       list->items[place].kind == TTNN_VALUE_LIST
		       ? &list->items[place]
		       : &none;
}

/* The mapper of a call, as two lists: extents of its distribution, if they are not the mesh's, and what they cut. */
static tt_status read_mapping(struct mapping *out, const struct tt_call *call,
			      const struct tt_device *device)
{
	const struct ttnn_value *given = tt_call_arg(call, "mesh_mapper");
	const struct ttnn_value *extents = list_at(given, 0), *dims = list_at(given, 1);
	uint64_t size = 1;

	*out = (struct mapping){.seed = seed_of(tt_call_arg(call, "seed"))};
	if (!tt_value_given(given))
		return TTNN_OK;
	TT_NEED(given->kind == TTNN_VALUE_LIST && given->count == 2 &&
			extents->count <= TT_SPREAD_DIMS && dims->count <= TT_SPREAD_DIMS,
		"%s: mesh_mapper is no MeshMapperConfig", call->entry->op->name);
	out->extents = (struct ttnn_shape){2, {device->rows, device->cols}};
	if (extents->count)
		out->extents.rank = extents->count;
	for (uint32_t i = 0; i < extents->count; i++)
		out->extents.dim[i] = (uint32_t)extents->items[i].integer;
	TT_REQUIRE(dims->count == out->extents.rank,
		   "config.placements.size() == mesh_shape.dims()",
		   "ttnn::rand: placements size (%u) must match mesh dimensions (%u)", dims->count,
		   out->extents.rank);
	for (uint32_t i = 0; i < dims->count; i++) {
		out->dims[i] = dims->items[i].kind == TTNN_VALUE_INT
				       ? (int32_t)dims->items[i].integer
				       : INT32_MIN;
		size *= out->extents.dim[i];
	}
	TT_REQUIRE(size <= (uint64_t)device->rows * device->cols,
		   "mesh_shape.mesh_size() <= device.num_devices()",
		   "ttnn::rand: distribution mesh size (%llu) exceeds device mesh size (%u)",
		   (unsigned long long)size, device->rows * device->cols);
	TT_NEED(size == (uint64_t)device->rows * device->cols,
		"%s: values can only be spread over all devices of a mesh", call->entry->op->name);
	return TTNN_OK;
}

/* The part of a chip. */
static tt_status cut_shape(struct ttnn_shape *shape, struct mapping *mapping)
{
	for (uint32_t i = 0; i < mapping->extents.rank; i++) {
		int32_t dim = mapping->dims[i];

		if (dim == INT32_MIN) {
			mapping->dims[i] = -1;
			continue;
		}
		TT_REQUIRE(dim >= 0 && dim < (int32_t)shape->rank, "dim < shard_dims.size()",
			   "ttnn::rand: MeshMapperConfig shard dim %llu exceeds tensor rank %u",
			   (unsigned long long)(int64_t)dim, shape->rank);
		TT_REQUIRE(shape->dim[dim] % mapping->extents.dim[i] == 0,
			   "shard_dims[dim] % mesh_shape[i] == 0",
			   "ttnn::rand: shape[%d]=%u is not divisible by mesh dimension size %u",
			   dim, shape->dim[dim], mapping->extents.dim[i]);
		shape->dim[dim] /= mapping->extents.dim[i];
	}
	return TTNN_OK;
}

/* What it is in graphs: which dimensions are cut, and where their parts are. */
static tt_status mapping_texts(struct ttnn_value *attrs, struct tt_call *call,
			       const struct mapping *mapping, const struct tt_device *device)
{
	struct ttnn_topology spread = {.distribution = mapping->extents};
	uint32_t rank = mapping->extents.rank;
	struct ttnn_value *cut = tt_arena_calloc(call->arena, rank + 1, sizeof(*cut));
	struct ttnn_placement placements[TT_SPREAD_DIMS];

	TT_NEED_MEMORY(cut);
	attrs[NEW_SPLIT] = ttnn_v_list(cut, rank);
	attrs[NEW_MAPPER] = ttnn_v_none();
	if (!rank || !device)
		return TTNN_OK;
	spread.mesh = (struct ttnn_shape){2, {device->rows, device->cols}};
	for (uint32_t i = 0; i < rank; i++) {
		placements[i] = (struct ttnn_placement){mapping->dims[i] >= 0, mapping->dims[i]};
		cut[i] = ttnn_v_bool(placements[i].shard);
	}
	return tt_topology_text(&attrs[NEW_MAPPER], call, &spread, placements);
}

/* Launches, as tiles; the result is the caller's. */
static tt_status launch_new(struct tt_tensor **out, struct tt_call *call,
			    const struct tt_prog *prog, enum ttnn_dtype dtype)
{
	struct ttnn_value attrs[NEW_ATTRS] = {
		[NEW_DTYPE] = ttnn_v_dtype(dtype),
		[NEW_LAYOUT] = ttnn_v_layout(TTNN_TILE),
		[NEW_MEMORY] = *tt_call_arg(call, "memory_config"),
		[NEW_DEVICE] = *tt_call_arg(call, "device"),
	};
	struct mapping mapping = {.seed = 0};
	struct ttnn_shape shape;

	TT_TRY(tt_call_shape(&shape, call, "shape"));
	if (prog == &prog_rand && call->device) {
		TT_TRY(read_mapping(&mapping, call, call->device));
		TT_TRY(cut_shape(&shape, &mapping));
	}
	attrs[NEW_SHAPE] = ttnn_v_shape(&shape);
	if (prog == &prog_randn) {
		attrs[NORMAL_COMPUTE] = compute_config(call);
		attrs[NORMAL_SEED] = *tt_call_arg(call, "seed");
	} else {
		attrs[NEW_LOW] = ttnn_v_real(tt_call_real(call, "low", 0));
		attrs[NEW_HIGH] = ttnn_v_real(random_before(tt_call_real(call, "high", 1), dtype));
		attrs[NEW_SEED] = *tt_call_arg(call, "seed");
		TT_TRY(mapping_texts(attrs, call, &mapping, call->device));
	}
	return TT_LAUNCH(out, call, prog, .attrs = attrs, .extra = &mapping);
}

/* Replaces *tensor by what an operation makes of it. */
static tt_status random_turn(struct tt_tensor **tensor, struct tt_call *call, const char *op,
			     struct ttnn_value what)
{
	struct ttnn_arg args[] = {{NULL, ttnn_v_tensor(*tensor)}, {NULL, what}};
	struct tt_tensor *out;
	tt_status status = tt_call_op(&out, call, op, args, 2);

	if (status != TTNN_OK) {
		tt_call_drop(call, *tensor);
		return status;
	}
	tt_call_overwrite(call, *tensor);
	*tensor = out;
	return TTNN_OK;
}

static bool can_be_random(enum ttnn_dtype dtype)
{
	return dtype != TTNN_UINT8 && dtype != TTNN_INT8 && dtype != TTNN_FP8_E4M3;
}

/* Whole numbers are cast from float32. */
static tt_status expand_rand(struct tt_call *call)
{
	enum ttnn_dtype dtype = tt_call_dtype(call, "dtype", TTNN_BFLOAT16);
	const struct ttnn_value *layout = tt_call_arg(call, "layout");
	struct tt_tensor *out;

	TT_REQUIRE(can_be_random(dtype), "is_supported_output_dtype(dtype)",
		   "[ttnn::rand] Output dtype DataType::%s is not supported.",
		   ttnn_dtype_name(dtype, TTNN_DIALECT_TT_METAL));
	TT_TRY(check_bounds(tt_call_real(call, "low", 0), tt_call_real(call, "high", 1)));
	TT_TRY(launch_new(&out, call, &prog_rand, is_float(dtype) ? dtype : TTNN_FLOAT32));
	if (!is_float(dtype))
		TT_TRY(random_turn(&out, call, "ttnn.typecast", ttnn_v_dtype(dtype)));
	if (layout->integer != TTNN_TILE)
		TT_TRY(random_turn(&out, call, "ttnn.to_layout", *layout));
	tt_call_return(call, out);
	return TTNN_OK;
}

/* Tiles first, another layout behind it. */
static tt_status expand_randn(struct tt_call *call)
{
	const struct ttnn_value *layout = tt_call_arg(call, "layout");
	struct tt_tensor *out;

	TT_TRY(launch_new(&out, call, &prog_randn, tt_call_dtype(call, "dtype", TTNN_BFLOAT16)));
	if (layout->integer != TTNN_TILE)
		TT_TRY(random_turn(&out, call, "ttnn.to_layout", *layout));
	tt_call_return(call, out);
	return TTNN_OK;
}

/* ---- into a tensor that exists ------------------------------------------------------------------------------------ */

#define UNIFORM_LIST(X)                                                                            \
	X(UNIFORM_LOW, "from", .unkeyed = true)                                                    \
	X(UNIFORM_HIGH, "to", .unkeyed = true)                                                     \
	X(UNIFORM_SEED, "seed", .unkeyed = true)                                                   \
	X(UNIFORM_MEMORY, "memory_config")                                                         \
	X(UNIFORM_COMPUTE, "compute_kernel_config")
TT_ATTRS(uniform_schema, "operation_attributes_t", UNIFORM_LIST);

static tt_status uniform_validate(struct tt_launch *launch)
{
	if (launch->inputs[0]->spec.layout == TTNN_TILE)
		return TTNN_OK;
	return tt_fail_cond(TTNN_INVALID, "(tensor_args.input.layout() == Layout::TILE)",
			    "Uniform: Input tensor must be tilized");
}

/* In [low, high). */
static tt_status uniform_kernel(struct tt_launch *launch)
{
	struct tt_random_job job = {.out = launch->outputs[0],
				    .kind = TT_RANDOM_UNIFORM,
				    .seed = seed_of(&launch->attrs[UNIFORM_SEED]),
				    .low = launch->attrs[UNIFORM_LOW].real,
				    .high = launch->attrs[UNIFORM_HIGH].real};

	return tt_backend_get()->random(&job);
}

static const struct tt_factory uniform_factory = {
	.name = "ttnn::operations::uniform::UniformDeviceOperation::UniformProgramFactory",
	.memory = random_memory,
};
static const struct tt_prog prog_uniform = {
	.device_op = "UniformDeviceOperation",
	.prim = "ttnn::prim::uniform",
	.attrs = &uniform_schema,
	.infer = tt_infer_in_place,
	.validate = uniform_validate,
	.factories = &uniform_factory,
	.factory_count = 1,
	TT_KERNEL(uniform_kernel),
};

/* Written over its input. */
static tt_status expand_uniform(struct tt_call *call)
{
	struct tt_tensor *input = tt_call_tensor(call, "input"), *out;
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");
	struct ttnn_value attrs[uniform_schema_count] = {
		[UNIFORM_LOW] = ttnn_v_real(tt_call_real(call, "from", 0)),
		[UNIFORM_HIGH] =
			ttnn_v_real(random_before(tt_call_real(call, "to", 1), input->spec.dtype)),
		[UNIFORM_SEED] = *tt_call_arg(call, "seed"),
		[UNIFORM_MEMORY] = ttnn_v_memory(memory ? memory : &input->spec.memory),
		[UNIFORM_COMPUTE] = compute_config(call),
	};

	TT_REQUIRE(is_float(input->spec.dtype),
		   "input.dtype() == DataType::BFLOAT16 || input.dtype() == DataType::FLOAT32",
		   "Uniform: Input tensor must be Float32 or Bfloat16");
	TT_TRY(check_bounds(attrs[UNIFORM_LOW].real, tt_call_real(call, "to", 1)));
	TT_REQUIRE(tt_tensor_device(input), "input.device() != nullptr",
		   "Uniform: Input tensor needs to be on device");
	return tt_call_give(call,
			    TT_LAUNCH(&out, call, &prog_uniform, .attrs = attrs, TT_INPUTS(input),
				      TT_OUTPUTS(input), .in_place = true),
			    &out);
}

/* ---- by probability -------------------------------------------------------------------------------------------------- */

#define BERNOULLI_LIST(X)                                                                          \
	X(BERNOULLI_SEED, "seed", .unkeyed = true)                                                 \
	X(BERNOULLI_DTYPE, "dtype")                                                                \
	X(BERNOULLI_MEMORY, "memory_config")                                                       \
	X(BERNOULLI_COMPUTE, "compute_kernel_config")
TT_ATTRS(bernoulli_schema, "operation_attributes_t", BERNOULLI_LIST);

static tt_status bernoulli_infer(struct tt_launch *launch)
{
	return tt_infer_one(launch, &launch->inputs[0]->spec.shape,
			    (enum ttnn_dtype)launch->attrs[BERNOULLI_DTYPE].integer, TTNN_TILE);
}

/* Both sides ask the same. */
static tt_status bernoulli_check(const struct tt_tensor *tensor, const char *side, const char *name)
{
	char condition[128];

	if (tensor->spec.layout != TTNN_TILE) {
		snprintf(condition, sizeof(condition), "(%s.layout() == Layout::TILE)", name);
		return tt_fail_cond(TTNN_INVALID, condition, "Bernoulli: %s tensor must be tilized",
				    side);
	}
	if (is_float(tensor->spec.dtype))
		return TTNN_OK;
	snprintf(condition, sizeof(condition),
		 "%s.dtype() == DataType::BFLOAT16 || %s.dtype() == DataType::FLOAT32", name, name);
	return tt_fail_cond(TTNN_INVALID, condition,
			    "Bernoulli: %s tensor must be Float32 or Bfloat16", side);
}

/* A given output has the same volume. */
static tt_status bernoulli_validate(struct tt_launch *launch)
{
	struct tt_tensor *output = launch->inputs[1];
	uint64_t in, out;

	TT_TRY(bernoulli_check(launch->inputs[0], "Input", "input"));
	if (!output)
		return TTNN_OK;
	TT_TRY(bernoulli_check(output, "Output", "output.value()"));
	TT_TRY(ttnn_shape_volume(&in, &launch->inputs[0]->spec.shape));
	TT_TRY(ttnn_shape_volume(&out, &output->spec.shape));
	if (in == out)
		return TTNN_OK;
	return tt_fail_cond(TTNN_INVALID,
			    "input.logical_volume() == output.value().logical_volume()",
			    "Bernoulli: Output and input tensor shape must be equal");
}

/* A tile of probabilities, two of random numbers, one of results. */
static tt_status bernoulli_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const ttnn_core_set *all;

	TT_TRY(cores(&all, launch));
	return TT_PLAN(plan, all, TT_CB_ROW(0, "in_cb", .pages = 2, .page = tt_page_in0(launch)),
		       TT_CB_ROW(24, "intermed_cb", .pages = 2, .page = tt_page_f32(launch)),
		       TT_CB_ROW(25, "intermed1_cb", .pages = 1, .page = tt_page_out0(launch)));
}

static const struct tt_factory bernoulli_factory = {
	.name = "ttnn::operations::bernoulli::BernoulliDeviceOperation::BernoulliProgramFactory",
	.memory = bernoulli_memory,
};

/* 1 with the probability that the element says. */
static tt_status bernoulli_kernel(struct tt_launch *launch)
{
	struct tt_random_job job = {.out = launch->outputs[0],
				    .kind = TT_RANDOM_BERNOULLI,
				    .seed = seed_of(&launch->attrs[BERNOULLI_SEED]),
				    .probability = launch->inputs[0]};

	return tt_backend_get()->random(&job);
}

static const struct tt_prog prog_bernoulli = {
	.device_op = "BernoulliDeviceOperation",
	.prim = "ttnn::prim::bernoulli",
	.attrs = &bernoulli_schema,
	.infer = bernoulli_infer,
	.validate = bernoulli_validate,
	.factories = &bernoulli_factory,
	.factory_count = 1,
	TT_KERNEL(bernoulli_kernel),
};

/* float32 without a dtype. */
static tt_status expand_bernoulli(struct tt_call *call)
{
	struct tt_tensor *inputs[] = {tt_call_tensor(call, "input"),
				      tt_call_tensor(call, "output")};
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");
	struct ttnn_value attrs[bernoulli_schema_count] = {
		[BERNOULLI_SEED] = *tt_call_arg(call, "seed"),
		[BERNOULLI_DTYPE] = ttnn_v_dtype(tt_call_dtype(call, "dtype", TTNN_FLOAT32)),
		[BERNOULLI_MEMORY] = ttnn_v_memory(memory ? memory : &inputs[0]->spec.memory),
		[BERNOULLI_COMPUTE] = compute_config(call),
	};
	struct tt_tensor *out;

	TT_REQUIRE(tt_tensor_device(inputs[0]), "input.device() != nullptr",
		   "Bernoulli: Input tensor needs to be on device");
	return tt_call_give(call,
			    TT_LAUNCH(&out, call, &prog_bernoulli, .attrs = attrs, .inputs = inputs,
				      .input_count = 2, TT_OUTPUTS(inputs[1]), .in_place = true),
			    &out);
}

/* ---- the rows --------------------------------------------------------------------------------------------------------- */

#define OP(name_, expand_, prog_, doc_, sig_)                                                      \
	{                                                                                          \
		.name = "ttnn." name_, .doc = doc_, .sigs = {sig_}, .expand = expand_,             \
		TT_PROGRAMS(&prog_)                                                                \
	}
#define NEW                                                                                        \
	"shape: Shape, device: Device, *, dtype: DataType = BFLOAT16, layout: Layout = TILE, "     \
	"memory_config: MemoryConfig = DRAM, "
#define COMPUTE "compute_kernel_config: ComputeConfig? = None"

static const struct tt_op ops[] = {
	OP("bernoulli", expand_bernoulli, prog_bernoulli,
	   "1 with the probability that the input gives, else 0.",
	   "input: Tensor, seed: int = 0, *, output: Tensor? = None, dtype: DataType? = None, "
	   "memory_config: MemoryConfig? = None, " COMPUTE),
	OP("rand", expand_rand, prog_rand, "Values spread evenly from low to before high.",
	   NEW "low: float = 0.0, high: float = 1.0, seed: int = 0, mesh_mapper: any? = None"),
	OP("randn", expand_randn, prog_randn, "Values of a normal distribution around 0.",
	   NEW COMPUTE ", seed: int? = None"),
	OP("uniform", expand_uniform, prog_uniform,
	   "Overwrites a tensor with values spread evenly.",
	   "input: Tensor, from: float = 0, to: float = 1, seed: int = 0, *, memory_config: "
	   "MemoryConfig? = None, " COMPUTE),
};

const struct tt_op_family tt_family_random = {"random", ops, TT_COUNT(ops)};
