/*
 * creation.c: tensors from nothing.
 *
 * As upstream, values are said to be made on the host and moved; here they are made where they
 * end up, so a large tensor costs nothing twice and a dry run nothing at all.
 *
 * Models FullDeviceOperation of ttnn 0.81 (full/device) with its three factories, for
 * interleaved results, shards, and shards of any rank: specs, refusals, memory, cores. It fills
 * one page and writes it everywhere. Not modelled: how the page is filled.
 */
#include <math.h>

#include "backend/backend.h"
#include "golden/golden.h"
#include "ops/creation/creation.h"
#include "ops/usual.h"

static const struct ttnn_memory_config dram;

static enum ttnn_layout layout_arg(const struct tt_call *call, enum ttnn_layout fallback)
{
	const struct ttnn_value *value = tt_call_arg(call, "layout");

	return value->kind == TTNN_VALUE_ENUM ? (enum ttnn_layout)value->integer : fallback;
}

static struct tt_device *device_arg(const struct tt_call *call)
{
	const struct ttnn_value *value = tt_call_arg(call, "device");

	return value->kind == TTNN_VALUE_DEVICE ? value->device : NULL;
}

/* ---- values ------------------------------------------------------------------------------------------ */

/* What element i is: value, or value + i × step. */
struct values {
	bool range;
	double value, step;
};

/* Whole numbers are truncated, as upstream's conversion does. */
static tt_status write_part(struct tt_tensor *part, const struct values *values)
{
	const struct tt_backend *backend = tt_backend_get();
	double value = values->value;

	if (values->range)
		return backend->range(part, value, values->step);
	if (tt_dtype_is_integer(part->spec.dtype))
		value = trunc(value);
	return backend->fill(part, value, TT_FILL_ALL);
}

/* The same on every chip. */
static tt_status write_values(struct tt_tensor *tensor, const struct values *values)
{
	if (!tt_tensor_device(tensor))
		return write_part(tensor, values);
	if (tt_run_mode() == TTNN_RUN_NO_DISPATCH)
		return TTNN_OK;
	for (uint32_t chip = 0; chip < tt_tensor_chips(tensor); chip++) {
		struct tt_tensor *part;
		tt_status status;

		TT_TRY(tt_tensor_resident(&part, tensor, chip, TT_BUFFER_OVERWRITE));
		status = write_part(part, values);
		ttnn_tensor_unref(part);
		TT_TRY(status);
	}
	return TTNN_OK;
}

/* Gives the tensor to the call, with these values. */
static tt_status creation_finish(struct tt_call *call, struct tt_tensor *tensor,
				 const struct values *values)
{
	tt_status status = write_values(tensor, values);

	if (status != TTNN_OK) {
		tt_call_drop(call, tensor);
		return status;
	}
	tt_call_return(call, tensor);
	return TTNN_OK;
}

/* A host tensor with these values, or on its way to the device `device`. */
struct request {
	struct ttnn_spec_args spec;              /* of the host tensor */
	struct tt_device *device;                /* NULL: stays on the host */
	const struct ttnn_memory_config *memory; /* on the device */
	struct tt_tensor *output;                /* (optional) written into instead */
	bool converts;                           /* upstream makes it of another type first */
	struct values values;
};

/*
 * Upstream's scopes in upstream's order: made on the host, converted, copied or moved. Values are
 * written once, at the end.
 */
static tt_status make(struct tt_call *call, const struct request *request)
{
	struct ttnn_tensor_spec spec;
	struct tt_tensor *host, *out;

	TT_TRY(ttnn_tensor_spec_make(&spec, &request->spec));
	if (!request->device && !request->output)
		TT_TRY(tt_tensor_alloc(&host, &spec));
	else
		TT_TRY(tt_host_hollow(&host, &spec));
	if (request->converts) {
		tt_call_own(call, host);
		TT_TRY(tt_host_to_dtype(&host, call, host, spec.dtype));
	}
	if (request->output) {
		tt_call_own(call, host);
		TT_TRY(tt_host_copy_to_device(call, host, request->output));
		return creation_finish(call, ttnn_tensor_ref(request->output), &request->values);
	}
	if (!request->device)
		return creation_finish(call, host, &request->values);
	tt_call_own(call, host);
	TT_TRY(tt_host_to_device(&out, call, host, request->device, request->memory));
	return creation_finish(call, out, &request->values);
}

/* ---- one value ------------------------------------------------------------------------------------------ */

/* What full() and its relatives are asked for, with every choice made. */
struct full {
	struct ttnn_shape shape;
	enum ttnn_dtype dtype;
	enum ttnn_layout layout;
	struct tt_device *device;
	const struct ttnn_memory_config *memory;
	struct tt_tensor *output;
	struct tt_tensor *like; /* of which it is said how that is spread; or NULL */
	double value;
};

/* Block floats are converted on the host. */
static tt_status make_full(struct tt_call *call, const struct full *full)
{
	bool block = tt_dtype_is_block(full->dtype);
	struct request request = {.spec = {.shape = full->shape,
					   .dtype = full->dtype,
					   .layout = full->layout,
					   .memory = block ? *full->memory : dram},
				  .device = full->device,
				  .memory = full->memory,
				  .output = block ? NULL : full->output,
				  .converts = block,
				  .values = {.value = full->value}};

	TT_REQUIRE(full->dtype != TTNN_FP8_E4M3, "tt::exception",
		   "full/zeros/ones: FP8_E4M3 is an output-only dtype, used exclusively by the "
		   "DeepSeek V3 prefill combine and dispatch ops; host-side construction via fill "
		   "is not supported.");
	return make(call, &request);
}

/* An output tensor decides everything. */
static void adopt_output(struct full *full)
{
	if (!full->output)
		return;
	full->shape = full->output->spec.shape;
	full->dtype = full->output->spec.dtype;
	full->layout = full->output->spec.layout;
	full->memory = &full->output->spec.memory;
	full->device = tt_tensor_device(full->output);
}

/* The value of zeros and ones stands in their row. */
static double value_of(const struct tt_op *op, const struct tt_call *call)
{
	return op->row ? *(const double *)op->row : tt_call_real(call, "fill_value", 0);
}

/* zeros, ones and full share it; the row says which value. */
static tt_status expand_full(struct tt_call *call)
{
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");
	struct full full = {.dtype = tt_call_dtype(call, "dtype", TTNN_BFLOAT16),
			    .device = device_arg(call),
			    .memory = memory ? memory : &dram,
			    .output = tt_call_tensor(call, "optional_tensor"),
			    .value = value_of(call->entry->op, call)};

	TT_TRY(tt_call_shape(&full.shape, call, "shape"));
	full.layout = layout_arg(call, tt_dtype_is_block(full.dtype) ? TTNN_TILE : TTNN_ROW_MAJOR);
	adopt_output(&full);
	return make_full(call, &full);
}

/* Tiles of the input's own floating-point type are filled on the device. */
static bool fills_on_device(const struct tt_tensor *like, const struct full *full)
{
	return like->spec.layout == TTNN_TILE && full->layout == TTNN_TILE &&
	       full->dtype == like->spec.dtype &&
	       (full->dtype == TTNN_BFLOAT8_B || full->dtype == TTNN_BFLOAT16 ||
		full->dtype == TTNN_FLOAT32);
}

/* A tensor on the device is filled by a program, not by a copy. */
static tt_status fill_like(struct tt_call *call, struct tt_tensor *like, const struct full *full)
{
	struct ttnn_arg args[] = {
		{NULL, ttnn_v_tensor(like)},
		{NULL, ttnn_v_real(full->value)},
		{"memory_config", *tt_call_arg(call, "memory_config")},
		{"output_tensor", ttnn_v_tensor(full->output)},
	};
	struct tt_tensor *out;

	return tt_call_give(call, tt_call_op(&out, call, "ttnn.fill", args, 4), &out);
}

/* What was not given is as the tensor's; a given output decides dtype and layout. */
static tt_status expand_full_like(struct tt_call *call)
{
	struct tt_tensor *like = tt_call_tensor(call, "tensor");
	struct tt_device *own = tt_tensor_device(like), *device = device_arg(call);
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");
	struct full full = {.shape = like->spec.shape,
			    .dtype = tt_call_dtype(call, "dtype", like->spec.dtype),
			    .layout = layout_arg(call, like->spec.layout),
			    .device = device ? device : own,
			    .memory = memory ? memory
				      : own  ? &like->spec.memory
					     : &dram,
			    .output = tt_call_tensor(call, "optional_tensor"),
			    .value = value_of(call->entry->op, call)};

	if (full.output) {
		full.dtype = full.output->spec.dtype;
		full.layout = full.output->spec.layout;
	}
	if (own && fills_on_device(like, &full))
		return fill_like(call, like, &full);
	adopt_output(&full);
	return make_full(call, &full);
}

/* ---- no value --------------------------------------------------------------------------------------------- */

/* Only allocated. Spread as `like` is, or (NULL) over the mesh. */
static tt_status creation_create(struct tt_call *call, const struct ttnn_spec_args *args,
				 struct tt_device *device, const struct tt_tensor *like)
{
	struct ttnn_tensor_spec spec;
	struct tt_tensor *out;

	/* Upstream's own words for a sharded layout without a shard spec. */
	TT_NEED(!tt_memory_config_is_sharded(&args->memory) || args->memory.has_shard ||
			args->memory.has_nd_shard,
		"bad optional access");
	TT_TRY(ttnn_tensor_spec_make(&spec, args));
	TT_TRY(tt_call_create(&out, call, device, &spec));
	if (like && tt_tensor_device(like) == device)
		out->spread = like->spread;
	tt_call_return(call, out);
	return TTNN_OK;
}

/* Row-major without a layout. */
static tt_status expand_empty(struct tt_call *call)
{
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");
	struct ttnn_spec_args args = {.dtype = tt_call_dtype(call, "dtype", TTNN_BFLOAT16),
				      .layout = layout_arg(call, TTNN_ROW_MAJOR),
				      .memory = memory ? *memory : dram};

	TT_TRY(tt_call_shape(&args.shape, call, "shape"));
	return creation_create(call, &args, device_arg(call), NULL);
}

/* On the tensor's device without another one. */
static tt_status expand_empty_like(struct tt_call *call)
{
	const struct tt_tensor *like = tt_call_tensor(call, "tensor");
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");
	struct tt_device *device = device_arg(call);
	struct ttnn_spec_args args = {.shape = like->spec.shape,
				      .dtype = tt_call_dtype(call, "dtype", like->spec.dtype),
				      .layout = layout_arg(call, like->spec.layout),
				      .memory = memory ? *memory : like->spec.memory};

	if (!device)
		device = tt_tensor_device(like);
	TT_NEED(device,
		"ttnn.empty_like: the tensor is on the host: say on which device the new one "
		"shall be");
	return creation_create(call, &args, device, like);
}

/* ---- ranges ------------------------------------------------------------------------------------------------- */

/* Rounded up; unsigned, so that no difference overflows. */
static tt_status range_length(uint32_t *out, int64_t start, int64_t stop, int64_t step)
{
	uint64_t width = step < 0 ? 0 - (uint64_t)step : (uint64_t)step;
	uint64_t distance =
		start < stop ? (uint64_t)stop - (uint64_t)start : (uint64_t)start - (uint64_t)stop;

	TT_REQUIRE(step, "step != 0", "Step must be nonzero");
	TT_REQUIRE((step <= 0 || start <= stop) && (step >= 0 || start >= stop),
		   "!((step > 0 && start > stop) || (step < 0 && start < stop))",
		   "Invalid range: Step direction does not match range bounds");
	distance = tt_div_up(distance, width);
	TT_NEED(distance <= UINT32_MAX, "ttnn.arange: more elements than a dimension can have");
	*out = (uint32_t)distance;
	return TTNN_OK;
}

/* Upstream's list. */
static tt_status check_range_dtype(enum ttnn_dtype dtype)
{
	switch (dtype) {
	case TTNN_BFLOAT16:
	case TTNN_FLOAT32:
	case TTNN_UINT16:
	case TTNN_UINT32:
	case TTNN_INT32:
		return TTNN_OK;
	case TTNN_FP8_E4M3:
		return tt_fail_cond(
			TTNN_INVALID, "tt::exception",
			"arange: FP8_E4M3 is an output-only dtype, used exclusively by the "
			"DeepSeek V3 prefill combine and dispatch ops; host-side "
			"construction via arange is not supported.");
	default:
		return tt_fail_cond(TTNN_INVALID, "tt::exception", "Unsupported dtype");
	}
}

/* Told to be made on the host, and converted. */
static tt_status expand_arange(struct tt_call *call)
{
	int64_t start = tt_call_int(call, "start", 0), step = tt_call_int(call, "step", 1);
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");
	struct request request = {.spec = {.dtype = tt_call_dtype(call, "dtype", TTNN_BFLOAT16),
					   .layout = layout_arg(call, TTNN_ROW_MAJOR),
					   .memory = memory ? *memory : dram},
				  .device = device_arg(call),
				  .converts = true,
				  .values = {true, (double)start, (double)step}};

	TT_TRY(check_range_dtype(request.spec.dtype));
	request.spec.shape.rank = 1;
	TT_TRY(range_length(&request.spec.shape.dim[0], start, tt_call_int(call, "end", 0), step));
	return make(call, &request);
}

/* ---- the program that fills ------------------------------------------------------------------------------------ */

#define FULL_LIST(X)                                                                               \
	X(FULL_SHAPE, "shape", .text = TT_TEXT_SMALL)                                              \
	X(FULL_VALUE, "fill_value", .text = TT_TEXT_FIXED, .fixed = "<variant>")                   \
	X(FULL_DEVICE, "mesh_device")                                                              \
	X(FULL_DTYPE, "dtype")                                                                     \
	X(FULL_LAYOUT, "layout")                                                                   \
	X(FULL_MEMORY, "memory_config")                                                            \
	X(FULL_TOPOLOGY, "tensor_topology")
TT_ATTRS(full_schema, "operation_attributes_t", FULL_LIST);

static tt_status full_infer(struct tt_launch *launch)
{
	return tt_infer_one(launch, launch->attrs[FULL_SHAPE].shape,
			    (enum ttnn_dtype)launch->attrs[FULL_DTYPE].integer,
			    (enum ttnn_layout)launch->attrs[FULL_LAYOUT].integer);
}

/* moreh_full alone has these rules; ttnn.full does not run this program. */
static tt_status full_validate(struct tt_launch *launch)
{
	const struct ttnn_shape *shape = launch->attrs[FULL_SHAPE].shape;
	enum ttnn_dtype dtype = (enum ttnn_dtype)launch->attrs[FULL_DTYPE].integer;

	TT_REQUIRE(dtype == TTNN_BFLOAT16 || dtype == TTNN_INT32 || dtype == TTNN_FLOAT32,
		   "operation_attributes.dtype == DataType::BFLOAT16 || "
		   "operation_attributes.dtype == DataType::INT32 || operation_attributes.dtype "
		   "== DataType::FLOAT32",
		   "Full: Unsupported data type DataType::%s",
		   ttnn_dtype_name(dtype, TTNN_DIALECT_TT_METAL));
	TT_REQUIRE(shape->rank >= 2, "shape.size() > 1",
		   "Full operation error: Shape size must be greater than 1, but got shape size = "
		   "%u",
		   shape->rank);
	for (uint32_t i = 0; i < shape->rank; i++)
		TT_REQUIRE(shape->dim[i], "shape[i] > 0",
			   "Full operation error: Invalid shape at index %u. Each dimension of "
			   "the shape must be greater than 0, butgot shape[%u] = 0",
			   i, i);
	return TTNN_OK;
}

/* The worker that is nearest to each DRAM bank of a sharded tensor. */
static tt_status bank_workers(const ttnn_core_set **out, const struct tt_launch *launch,
			      const ttnn_core_set *banks)
{
	struct ttnn_core workers[64];
	struct ttnn_core_range ranges[64];
	size_t count = 0;

	if (ttnn_device_get_info(launch->device)->dram_banks > 64)
		return tt_fail(TTNN_INTERNAL, "more than 64 DRAM banks");
	TT_TRY(ttnn_device_dram_workers(workers, launch->device, 0));
	for (uint64_t i = 0; i < ttnn_core_set_cores(banks) && i < 64; i++) {
		struct ttnn_core bank = tt_core_set_at(banks, i, TTNN_ORIENT_ROW_MAJOR);

		ranges[count++] = (struct ttnn_core_range){workers[bank.x], workers[bank.x]};
	}
	return ttnn_core_set_make(out, ranges, count);
}

/* Pages over the grid, or each core its own shard. */
static tt_status full_choose(uint32_t *out, struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *spec = &launch->outputs[0]->spec;
	const struct ttnn_memory_config *memory = &spec->memory;
	struct tt_work_split *split = tt_arena_calloc(launch->arena, 1, sizeof(*split));

	TT_NEED_MEMORY(split);
	launch->work = split;
	*out = !tt_memory_config_is_sharded(memory) ? 0 : memory->has_shard ? 1 : 2;
	if (!*out)
		return tt_split_work(split, launch->device->limits.grid, spec->pages,
				     TTNN_ORIENT_COL_MAJOR);
	split->all = memory->has_shard ? memory->shard.grid : memory->nd_shard.grid;
	if (memory->buffer == TTNN_DRAM)
		return bank_workers(&split->all, launch, split->all);
	return TTNN_OK;
}

/* One page of the value on each core. */
static tt_status full_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct tt_work_split *split = launch->work;
	uint64_t page = launch->outputs[0]->spec.page_bytes;
	bool two = split->group[1] && ttnn_core_set_cores(split->group[1]) > 0;

	/* Spread pages: the cores that have one page more have a buffer of their own. */
	return TT_PLAN(plan, split->all, TT_DFB_ROW(0, "cb_value", .pages = 1, .page = page),
		       TT_DFB_ROW(1, "cb_value of group 2", .pages = two ? 1 : 0, .page = page));
}

static const struct tt_factory full_factories[] = {
	{.name = "ttnn::operations::full::FullInterleavedProgramFactory", .memory = full_memory},
	{.name = "ttnn::operations::full::FullShardedProgramFactory", .memory = full_memory},
	{.name = "ttnn::operations::full::FullNDShardedProgramFactory", .memory = full_memory},
};

static tt_status full_kernel(struct tt_launch *launch)
{
	double value = 0;

	tt_value_number(&value, &launch->attrs[FULL_VALUE]);
	return write_part(launch->outputs[0], &(struct values){.value = value});
}

static const struct tt_prog prog_full = {
	.device_op = "FullDeviceOperation",
	.prim = "ttnn::prim::full",
	.attrs = &full_schema,
	.infer = full_infer,
	.validate = full_validate,
	.factories = full_factories,
	.factory_count = 3,
	.choose = full_choose,
	TT_KERNEL(full_kernel),
	.cost = tt_cost_unmodelled_move,
};

/* Attributes in upstream's order. */
tt_status tt_topology_text(struct ttnn_value *out, struct tt_call *call,
			   const struct ttnn_topology *spread,
			   const struct ttnn_placement *placements)
{
	uint32_t cols = spread->mesh.dim[1], chips = spread->mesh.dim[0] * cols;
	struct tt_str text = {0};
	char *kept;

	tt_str_adds(&text, "TensorTopology(distribution_shape=MeshShape(");
	tt_shape_list(&text, &spread->distribution);
	tt_str_adds(&text, "), placements=SmallVector([");
	for (uint32_t i = 0; i < spread->distribution.rank; i++) {
		tt_str_adds(&text, i ? ", " : "");
		if (placements[i].shard)
			tt_str_addf(&text, "PlacementShard(%d)", placements[i].dim);
		else
			tt_str_adds(&text, "PlacementReplicate()");
	}
	tt_str_adds(&text, "]), mesh_coords=");
	for (uint32_t i = 0; i < chips; i++)
		tt_str_addf(&text, "%sMeshCoordinate([%u, %u])", i ? ", " : "", i / cols, i % cols);
	tt_str_addc(&text, ')');
	kept = tt_arena_strdup(call->arena, tt_str_text(&text));
	tt_str_deinit(&text);
	TT_NEED_MEMORY(kept);
	*out = ttnn_v_string(kept);
	return TTNN_OK;
}

/* How a tensor is spread, where that is known. */
static tt_status topology_of(struct ttnn_value *out, struct tt_call *call,
			     const struct tt_tensor *tensor)
{
	struct ttnn_topology spread;
	struct ttnn_placement placements[TT_SPREAD_DIMS];

	ttnn_tensor_get_topology(&spread, tensor);
	for (uint32_t i = 0; i < spread.distribution.rank && i < TT_SPREAD_DIMS; i++)
		placements[i] = ttnn_tensor_placement(tensor, i);
	return tt_topology_text(out, call, &spread, placements);
}

static tt_status launch_full(struct tt_call *call, const struct full *full)
{
	struct ttnn_value attrs[full_schema_count] = {
		[FULL_SHAPE] = ttnn_v_shape(&full->shape),
		[FULL_VALUE] = ttnn_v_real(full->value),
		[FULL_DEVICE] = ttnn_v_device(full->device),
		[FULL_DTYPE] = ttnn_v_dtype(full->dtype),
		[FULL_LAYOUT] = ttnn_v_layout(full->layout),
		[FULL_MEMORY] = ttnn_v_memory(full->memory),
		[FULL_TOPOLOGY] = ttnn_v_none(),
	};

	if (full->like)
		TT_TRY(topology_of(&attrs[FULL_TOPOLOGY], call, full->like));
	return TT_LAUNCH_RETURN(call, &prog_full, .attrs = attrs);
}

/* Tiles without a layout. */
static tt_status expand_moreh_full(struct tt_call *call)
{
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");
	struct full full = {.dtype = tt_call_dtype(call, "dtype", TTNN_BFLOAT16),
			    .layout = layout_arg(call, TTNN_TILE),
			    .device = device_arg(call),
			    .memory = memory ? memory : &dram,
			    .value = tt_call_real(call, "fill_value", 0)};

	TT_TRY(tt_call_shape(&full.shape, call, "shape"));
	return launch_full(call, &full);
}

/* Only of tensors on a device. */
static tt_status expand_moreh_full_like(struct tt_call *call)
{
	struct tt_tensor *like = tt_call_tensor(call, "input");
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");
	struct full full = {.shape = like->spec.shape,
			    .dtype = tt_call_dtype(call, "dtype", like->spec.dtype),
			    .layout = layout_arg(call, like->spec.layout),
			    .device = tt_tensor_device(like),
			    .memory = memory ? memory : &like->spec.memory,
			    .like = like,
			    .value = tt_call_real(call, "fill_value", 0)};

	TT_TRY(tt_need_device(like));
	return launch_full(call, &full);
}

/* ---- goldens ---------------------------------------------------------------------------------------------------------- */

/* The value everywhere, truncated for whole numbers. */
static tt_status golden_fill(struct tt_golden *golden, const struct ttnn_shape *shape,
			     enum ttnn_dtype dtype)
{
	struct tt_array *out = tt_golden_out(golden, shape, dtype);
	double value = value_of(golden->op, &golden->call);

	TT_NEED_MEMORY(out);
	for (uint64_t i = 0; i < out->count; i++)
		*tt_at(out, i) = tt_dtype_is_integer(dtype) ? trunc(value) : value;
	return TTNN_OK;
}

static tt_status golden_full(struct tt_golden *golden)
{
	struct ttnn_shape shape;

	TT_TRY(tt_call_shape(&shape, &golden->call, "shape"));
	return golden_fill(golden, &shape, tt_call_dtype(&golden->call, "dtype", TTNN_BFLOAT16));
}

/* The shape of the given tensor, under either name. */
static tt_status golden_full_like(struct tt_golden *golden)
{
	struct tt_tensor *like = tt_call_tensor(&golden->call, "tensor");

	if (!like)
		like = tt_call_tensor(&golden->call, "input");
	return golden_fill(golden, &like->spec.shape,
			   tt_call_dtype(&golden->call, "dtype", like->spec.dtype));
}

/* start + i × step. */
static tt_status golden_arange(struct tt_golden *golden)
{
	int64_t start = tt_call_int(&golden->call, "start", 0);
	int64_t step = tt_call_int(&golden->call, "step", 1);
	struct ttnn_shape shape = {.rank = 1};
	struct tt_array *out;

	TT_TRY(range_length(&shape.dim[0], start, tt_call_int(&golden->call, "end", 0), step));
	out = tt_golden_out(golden, &shape, tt_call_dtype(&golden->call, "dtype", TTNN_BFLOAT16));
	TT_NEED_MEMORY(out);
	for (uint64_t i = 0; i < out->count; i++)
		*tt_at(out, i) = (double)start + (double)i * (double)step;
	return TTNN_OK;
}

/* ---- the rows ------------------------------------------------------------------------------------------------------------- */

static const double zero = 0, one = 1;

#define OP(name_, expand_, golden_, row_, doc_, ...)                                               \
	{                                                                                          \
		.name = "ttnn." name_, .doc = doc_, .sigs = {__VA_ARGS__}, .expand = expand_,      \
		.golden = golden_, .pcc = 0.9999, .row = row_                                      \
	}
#define LAUNCH(name_, expand_, golden_, doc_, sig_)                                                \
	{                                                                                          \
		.name = "ttnn." name_, .doc = doc_, .sigs = {sig_}, .expand = expand_,             \
		.golden = golden_, .pcc = 0.9999, TT_PROGRAMS(&prog_full)                          \
	}
#define WHERE                                                                                      \
	"dtype: DataType? = None, layout: Layout? = None, device: Device? = None, memory_config: " \
	"MemoryConfig? = None"
#define OUTPUT ", optional_tensor: Tensor? = None"
#define RANGE                                                                                      \
	"*, dtype: DataType = BFLOAT16, device: Device? = None, memory_config: MemoryConfig = "    \
	"DRAM, layout: Layout = ROW_MAJOR"
#define MOREH                                                                                      \
	"*, dtype: DataType = BFLOAT16, layout: Layout = TILE, memory_config: MemoryConfig = DRAM"

static const struct tt_op ops[] = {
	OP("arange", expand_arange, golden_arange, NULL, "The numbers from start to before end.",
	   "start: long, end: long, step: long = 1, " RANGE, "end: long, " RANGE),
	OP("empty", expand_empty, NULL, NULL, "A device tensor whose values are not set.",
	   "shape: sizes, dtype: DataType = BFLOAT16, layout: Layout = ROW_MAJOR, device: Device, "
	   "memory_config: MemoryConfig = DRAM"),
	OP("empty_like", expand_empty_like, NULL, NULL,
	   "A device tensor like another one, its values not set.", "tensor: Tensor, *, " WHERE),
	OP("full", expand_full, golden_full, NULL, "A tensor of one value.",
	   "shape: sizes, fill_value: float, " WHERE OUTPUT),
	OP("full_like", expand_full_like, golden_full_like, NULL,
	   "A tensor of one value, like another one.",
	   "tensor: Tensor, fill_value: float, " WHERE OUTPUT),
	LAUNCH("moreh_full", expand_moreh_full, golden_full,
	       "A tensor of one value, filled on the device.",
	       "shape: sizes, fill_value: Scalar, device: Device, " MOREH),
	LAUNCH("moreh_full_like", expand_moreh_full_like, golden_full_like,
	       "A tensor of one value, like another one, filled on the device.",
	       "input: Tensor, fill_value: Scalar, dtype: DataType? = None, layout: Layout? = None, "
	       "memory_config: MemoryConfig? = None"),
	OP("ones", expand_full, golden_full, &one, "A tensor of ones.", "shape: sizes, " WHERE),
	OP("ones_like", expand_full_like, golden_full_like, &one,
	   "A tensor of ones, like another one.", "tensor: Tensor, " WHERE OUTPUT),
	OP("zeros", expand_full, golden_full, &zero, "A tensor of zeros.", "shape: sizes, " WHERE),
	OP("zeros_like", expand_full_like, golden_full_like, &zero,
	   "A tensor of zeros, like another one.", "tensor: Tensor, " WHERE OUTPUT),
};

const struct tt_op_family tt_family_creation = {"creation", ops, TT_COUNT(ops)};
