/*
 * exchange.c: what chips of a mesh give each other besides whole tensors: tokens to the chips of their experts and back, and the states
 * of an attention to one chip.
 *
 * Models results and refusals of all_to_all_dispatch, all_to_all_combine and reduce_to_root of ttnn 0.81. Not modelled:
 * program memory (as in collective.c), tensors on the way, and what upstream leaves undefined, which are zeros here.
 */
#include <inttypes.h>
#include <math.h>

#include "backend/backend.h"
#include "golden/golden_collective.h"
#include "ops/collective/collective.h"
#include "ops/usual.h"

#define ATTRS(X)                                                                                   \
	X(AXIS, "cluster_axis")                                                                    \
	X(MEMORY, "output_mem_config")                                                             \
	X(ALONG, "dim")                                                                            \
	X(REDUCED, "local_reduce")                                                                 \
	X(ROOT, "root_coord")                                                                      \
	X(SCALE, "scale_fp32")
TT_ATTRS(schema, "ExchangeParams", ATTRS);

static uint32_t chip_count(const struct tt_launch *launch)
{
	return launch->device->rows * launch->device->cols;
}

/* ---- numbers of a chip ------------------------------------------------------------------------------------ */

/* The numbers of one chip's part of an input. */
static tt_status read_chip(double **out, const struct tt_launch *launch, size_t input,
			   uint32_t chip)
{
	uint64_t count = tt_shape_count(&launch->inputs[input]->spec.shape);
	struct tt_tensor *in;
	tt_status status;

	*out = tt_arena_alloc(launch->arena, (count + 1) * sizeof(**out));
	TT_NEED_MEMORY(*out);
	TT_TRY(tt_tensor_resident(&in, launch->inputs[input], chip, TT_BUFFER_READ));
	status = tt_tensor_numbers(*out, count, in);
	ttnn_tensor_unref(in);
	return status;
}

/* The same for an output, through a tensor on the host. */
static tt_status write_chip(const struct tt_launch *launch, size_t output, uint32_t chip,
			    const float *values)
{
	const struct ttnn_tensor_spec *own = &launch->outputs[output]->spec;
	struct ttnn_spec_args args = {
		.shape = own->shape, .dtype = own->dtype, .layout = own->layout, .tile = own->tile};
	struct ttnn_tensor_spec spec;
	struct tt_tensor *host, *out;
	tt_status status;

	TT_TRY(ttnn_tensor_spec_make(&spec, &args));
	TT_TRY(ttnn_tensor_from_data(&host, values, TTNN_FLOAT32, &spec, 0));
	status = tt_tensor_resident(&out, launch->outputs[output], chip, TT_BUFFER_OVERWRITE);
	if (status == TTNN_OK) {
		status = tt_backend_get()->reshape(out, host);
		ttnn_tensor_unref(out);
	}
	ttnn_tensor_unref(host);
	return status;
}

static float *new_values(const struct tt_launch *launch, size_t output)
{
	uint64_t count = tt_shape_count(&launch->outputs[output]->spec.shape);

	return tt_arena_calloc(launch->arena, count + 1, sizeof(float));
}

/* ---- tokens to their experts and back ------------------------------------------------------------------------ */

enum { TOKENS, CHOICES, MAPPING };

/* Whether an expert is on a chip. */
static bool lives(const struct tt_launch *launch, const double *mapping, double expert,
		  uint32_t chip)
{
	const struct ttnn_shape *shape = &launch->inputs[MAPPING]->spec.shape;
	uint32_t experts = tt_shape_last(shape, 2), chips = tt_shape_last(shape, 1);

	return expert < experts && chip < chips && mapping[(uint64_t)expert * chips + chip] != 0;
}

/* Tokens and choices are rows of bfloat16 and uint16; the mapping has a column a device. */
static tt_status check_experts(const struct tt_launch *launch, const char *choices)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[TOKENS]->spec;
	const struct ttnn_tensor_spec *ids = &launch->inputs[CHOICES]->spec;
	const struct ttnn_tensor_spec *mapping = &launch->inputs[MAPPING]->spec;

	TT_REQUIRE(in->layout == TTNN_ROW_MAJOR,
		   "input_tensor.layout() == tt::tt_metal::Layout::ROW_MAJOR",
		   "Input tensor must be in row major layout");
	TT_REQUIRE(ids->layout == TTNN_ROW_MAJOR, "layout() == tt::tt_metal::Layout::ROW_MAJOR",
		   "%s tensor must be in row major layout", choices);
	TT_REQUIRE(in->dtype == TTNN_BFLOAT16,
		   "input_tensor.dtype() == tt::tt_metal::DataType::BFLOAT16",
		   "Input tensor must be bfloat16");
	TT_REQUIRE(ids->dtype == TTNN_UINT16, "dtype() == tt::tt_metal::DataType::UINT16",
		   "%s tensor must be uint16", choices);
	TT_REQUIRE(!tt_memory_config_is_sharded(launch->attrs[MEMORY].memory),
		   "!operation_attributes.output_mem_config.is_sharded()",
		   "Output memory config must not be sharded");
	TT_REQUIRE(in->shape.rank == 4 && ids->shape.rank == 4 && mapping->shape.rank == 4,
		   "input_shape.rank() == 4",
		   "Input, metadata, and mapping tensors must all be rank 4");
	TT_REQUIRE(tt_shape_last(&mapping->shape, 1) >= chip_count(launch),
		   "mapping_shape[-1] == num_devices",
		   "The mapping has %u devices, the mesh has %u", tt_shape_last(&mapping->shape, 1),
		   chip_count(launch));
	return TTNN_OK;
}

/* Results are behind each other along batches or rows, chip after chip of a group. */
static tt_status dispatch_infer(struct tt_launch *launch)
{
	const struct ttnn_shape *in = &launch->inputs[TOKENS]->spec.shape;
	const struct ttnn_shape *ids = &launch->inputs[CHOICES]->spec.shape;
	uint32_t size = tt_group_size(launch->device, tt_group_axis(&launch->attrs[AXIS]));
	int64_t along = launch->attrs[ALONG].integer;
	struct ttnn_shape shape = {
		4, {1, tt_shape_last(in, 4), tt_shape_last(ids, 2), tt_shape_last(in, 1)}};

	TT_TRY(check_experts(launch, "Indices"));
	for (uint32_t i = 0; i < 3; i++)
		TT_REQUIRE(in->dim[i] == ids->dim[i], "input_shape[i] == indices_shape[i]",
			   "Input and indices tensor must have the same shape for all dimensions "
			   "except the last. Mismatch at dimension %u with shape %u and %u",
			   i, in->dim[i], ids->dim[i]);
	TT_REQUIRE(along == 1 || along == 2,
		   "operation_attributes.output_concat_dim == 1 || "
		   "operation_attributes.output_concat_dim == 2",
		   "Output concat dimension must be 1 or 2, got %" PRId64
		   ". Output concat dimension is used to determine the dimension to concat the "
		   "output tokens along.",
		   along);
	TT_REQUIRE(in->dim[1] == 1, "input_shape[1] == 1",
		   "Input tensor must have one row of batches, got %u", in->dim[1]);
	shape.dim[along] *= size;
	launch->output_count = 2;
	for (uint32_t i = 0; i < 2; i++) {
		if (i)
			shape.dim[3] = tt_shape_last(ids, 1);
		TT_TRY(tt_check_given(launch, i, &shape));
		if (tt_infer_given(launch, i))
			continue;
		TT_TRY(tt_spec_simple(&launch->specs[i], &shape, launch->inputs[i]->spec.dtype,
				      TTNN_ROW_MAJOR, launch->attrs[MEMORY].memory));
	}
	return TTNN_OK;
}

/* Where the tokens of a member begin, and how far apart its batches are. */
struct span {
	uint64_t rows, first, stride;
};

static struct span span_of(const struct tt_launch *launch, const struct ttnn_shape *part,
			   uint32_t member, uint32_t members)
{
	uint64_t batches = part->dim[0], rows = part->dim[2];

	if (launch->attrs[ALONG].integer == 1)
		return (struct span){rows, member * batches * rows, rows};
	return (struct span){rows, member * rows, rows * members};
}

/* A chip gets a token if one of its experts was chosen, and every token's choices. */
static void take_tokens(const struct tt_launch *launch, float *const *out, double *const *in,
			uint32_t chip, const struct span *span)
{
	uint64_t width = tt_shape_last(&launch->inputs[TOKENS]->spec.shape, 1);
	uint64_t k = tt_shape_last(&launch->inputs[CHOICES]->spec.shape, 1);
	uint64_t tokens = tt_shape_count(&launch->inputs[CHOICES]->spec.shape) / (k ? k : 1);

	for (uint64_t token = 0; token < tokens; token++) {
		uint64_t to = span->first + token / span->rows * span->stride + token % span->rows;
		const double *ids = &in[CHOICES][token * k];
		bool here = false;

		for (uint64_t i = 0; i < k; i++) {
			out[1][to * k + i] = (float)ids[i];
			here |= lives(launch, in[MAPPING], ids[i], chip);
		}
		for (uint64_t i = 0; here && i < width; i++)
			out[0][to * width + i] = (float)in[TOKENS][token * width + i];
	}
}

/* Rows of tokens whose experts are elsewhere stay zero. */
static tt_status dispatch_kernel(struct tt_launch *launch)
{
	int64_t axis = tt_group_axis(&launch->attrs[AXIS]);

	for (uint32_t chip = 0; chip < chip_count(launch); chip++) {
		float *out[2] = {new_values(launch, 0), new_values(launch, 1)};
		struct tt_group group;

		if (!out[0] || !out[1])
			return tt_fail_nomem();
		tt_group_find(&group, launch->device, axis, chip);
		for (uint32_t i = 0; i < group.count; i++) {
			struct span span = span_of(launch, &launch->inputs[TOKENS]->spec.shape, i,
						   group.count);
			double *in[3];

			for (size_t k = TOKENS; k <= MAPPING; k++)
				TT_TRY(read_chip(&in[k], launch, k, group.chips[i]));
			take_tokens(launch, out, in, chip, &span);
		}
		TT_TRY(write_chip(launch, 0, chip, out[0]));
		TT_TRY(write_chip(launch, 1, chip, out[1]));
	}
	return TTNN_OK;
}

/* Contributions of each local expert, or of all of them together. */
static tt_status check_combine(const struct tt_launch *launch)
{
	const struct ttnn_shape *in = &launch->inputs[TOKENS]->spec.shape;
	const struct ttnn_shape *ids = &launch->inputs[CHOICES]->spec.shape;
	uint32_t experts = tt_shape_last(&launch->inputs[MAPPING]->spec.shape, 2);
	uint32_t chips = chip_count(launch), extent;
	int64_t axis = tt_group_axis(&launch->attrs[AXIS]), along = launch->attrs[ALONG].integer;

	TT_TRY(check_experts(launch, "Metadata"));
	TT_REQUIRE(experts % chips == 0, "experts % num_devices == 0",
		   "Number of experts %u should be evenly divisible by devices: %u", experts,
		   chips);
	if (launch->attrs[REDUCED].boolean)
		TT_REQUIRE(in->dim[0] == 1, "input_shape[0] == 1",
			   "Expecting input dim 0 equal to num devices: %u, got: %u", chips,
			   in->dim[0]);
	else
		TT_REQUIRE(in->dim[0] == experts / chips, "input_shape[0] == experts / num_devices",
			   "Expected input shape dim 0: %u to be equal to expert mapping dim 2: %u",
			   in->dim[0], experts);
	TT_REQUIRE(axis >= 0, "operation_attributes.axis.has_value()",
		   "Axis must be specified at the moment");
	TT_REQUIRE(along == 1 || along == 2,
		   "operation_attributes.output_shard_dim == 1 || "
		   "operation_attributes.output_shard_dim == 2",
		   "Output shard dimension must be 1 or 2, got %" PRId64
		   ". Output shard dimension is used to determine the dimension to shard the "
		   "output tokens along.",
		   along);
	extent = ids->dim[along];
	TT_REQUIRE(extent % tt_group_size(launch->device, axis) == 0, "batch % axis_group == 0",
		   along == 1 ? "Batch %u must be divisible by axis group"
			      : "Sequence length %u must be divisible by axis group",
		   extent);
	TT_REQUIRE(in->dim[1] == ids->dim[1] && in->dim[2] == ids->dim[2],
		   "input_shape[1] == metadata_shape[1]",
		   "Contributions have %u batches of %u tokens, the metadata %u of %u", in->dim[1],
		   in->dim[2], ids->dim[1], ids->dim[2]);
	return TTNN_OK;
}

/* [choices, batch, sequence, width], of which one dimension is shared by the group. */
static tt_status combine_infer(struct tt_launch *launch)
{
	const struct ttnn_shape *ids = &launch->inputs[CHOICES]->spec.shape;
	struct ttnn_shape shape = {4,
				   {tt_shape_last(ids, 1), tt_shape_last(ids, 3),
				    tt_shape_last(ids, 2),
				    tt_shape_last(&launch->inputs[TOKENS]->spec.shape, 1)}};

	TT_TRY(check_combine(launch));
	shape.dim[launch->attrs[ALONG].integer] /=
		tt_group_size(launch->device, tt_group_axis(&launch->attrs[AXIS]));
	TT_TRY(tt_check_given(launch, 0, &shape));
	return tt_infer_one(launch, &shape, TTNN_BFLOAT16, TTNN_ROW_MAJOR);
}

/* Which of a chip's experts this one is: they are in order. */
static uint64_t local_expert(const struct tt_launch *launch, const double *mapping, double expert,
			     uint32_t chip)
{
	uint64_t before = 0;

	for (uint64_t e = 0; (double)e < expert && !launch->attrs[REDUCED].boolean; e++)
		before += lives(launch, mapping, (double)e, chip);
	return before;
}

/* What one chip gives the tokens of another: a row for each choice of an expert of its own. */
static void give_rows(const struct tt_launch *launch, float *out, double *const *in, uint32_t from,
		      uint32_t own)
{
	const struct ttnn_shape *ids = &launch->inputs[CHOICES]->spec.shape;
	const struct ttnn_shape *part = &launch->outputs[0]->spec.shape;
	uint64_t k = part->dim[0], rows = part->dim[2], width = part->dim[3];
	uint64_t all = (uint64_t)ids->dim[1] * ids->dim[2];
	bool batches = launch->attrs[ALONG].integer == 1;

	for (uint64_t token = 0; token < part->dim[1] * rows; token++) {
		uint64_t batch = token / rows + (batches ? own * part->dim[1] : 0);
		uint64_t row = token % rows + (batches ? 0 : own * rows);
		uint64_t at = batch * ids->dim[2] + row;
		bool given = false;

		for (uint64_t i = 0; i < k; i++) {
			double expert = in[CHOICES][at * k + i];
			uint64_t local;

			if (!lives(launch, in[MAPPING], expert, from) ||
			    (given && launch->attrs[REDUCED].boolean))
				continue;
			given = true;
			local = local_expert(launch, in[MAPPING], expert, from);
			if (local >= launch->inputs[TOKENS]->spec.shape.dim[0])
				continue; /* the mapping names more experts than there are contributions */
			for (uint64_t c = 0; c < width; c++)
				out[(i * part->dim[1] * rows + token) * width + c] =
					(float)in[TOKENS][(local * all + at) * width + c];
		}
	}
}

/* Every chip takes back the rows of its own tokens. */
static tt_status combine_kernel(struct tt_launch *launch)
{
	int64_t axis = tt_group_axis(&launch->attrs[AXIS]);

	for (uint32_t chip = 0; chip < chip_count(launch); chip++) {
		float *out = new_values(launch, 0);
		struct tt_group group;

		TT_NEED_MEMORY(out);
		tt_group_find(&group, launch->device, axis, chip);
		for (uint32_t i = 0; i < group.count; i++) {
			double *in[3];

			for (size_t k = TOKENS; k <= MAPPING; k++)
				TT_TRY(read_chip(&in[k], launch, k, group.chips[i]));
			give_rows(launch, out, in, group.chips[i], group.own);
		}
		TT_TRY(write_chip(launch, 0, chip, out));
	}
	return TTNN_OK;
}

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
		float *out = new_values(launch, which);

		TT_NEED_MEMORY(out);
		for (uint64_t i = 0; state && i < count; i++) {
			uint64_t core = i % wide / l->memory.shard.width;
			uint64_t sum = i / wide * narrow + core * s->memory.shard.width;

			out[i] = (float)(which == VALUES ? state[VALUES][i] / state[SUMS][sum]
							 : state[which][i]);
		}
		TT_TRY(write_chip(launch, which, chip, out));
	}
	return TTNN_OK;
}

/* States are merged chip by chip; only the root keeps the result. */
static tt_status root_kernel(struct tt_launch *launch)
{
	uint32_t root = (uint32_t)launch->attrs[ROOT].integer;
	double *state[3], *other[3];

	for (uint32_t chip = 0; chip < chip_count(launch); chip++) {
		for (size_t i = VALUES; i <= MAXIMA; i++)
			TT_TRY(read_chip(chip ? &other[i] : &state[i], launch, i, chip));
		if (chip)
			add_state(state, other, launch);
	}
	for (uint32_t chip = 0; chip < chip_count(launch); chip++)
		TT_TRY(write_state(launch, chip == root ? state : NULL, chip));
	return TTNN_OK;
}

/* ---- rows ------------------------------------------------------------------------------------------------------ */

#define PROGRAM(device_, prim_, infer_, validate_, kernel_)                                        \
	.device_op = device_, .prim = "ttnn::prim::" prim_, .attrs = &schema, .infer = infer_,     \
	.validate = validate_, TT_FACTORY("ttnn::prim::ExchangeProgramFactory", NULL),             \
	TT_KERNEL(kernel_), .cost = tt_cost_unmodelled_move, .together = true
static const struct tt_prog dispatch_program = {PROGRAM("AllToAllDispatchDeviceOperation",
							"all_to_all_dispatch", dispatch_infer, NULL,
							dispatch_kernel)};
static const struct tt_prog combine_program = {PROGRAM("AllToAllCombineDeviceOperation",
						       "all_to_all_combine", combine_infer, NULL,
						       combine_kernel)};
static const struct tt_prog root_program = {
	PROGRAM("ReduceToRootOp", "reduce_to_root", root_infer, root_validate, root_kernel)};

/* What an operation takes: its program, its tensors, and the dimension that results lie along. */
struct exchange {
	const struct tt_prog *program;
	const char *tensors[3], *outputs[3], *along;
	bool dram; /* results are in DRAM unless asked for elsewhere */
};

static const struct exchange dispatch_row = {
	&dispatch_program,
	{"input_tensor", "expert_indices_tensor", "expert_mapping_tensor"},
	{0},
	"output_concat_dim",
	true};
static const struct exchange combine_row = {
	&combine_program,
	{"input_tensor", "expert_metadata_tensor", "expert_mapping_tensor"},
	{"output_tensor"},
	"output_shard_dim",
	true};
static const struct exchange root_row = {&root_program,
					 {"input_tensor_l", "input_tensor_s", "input_tensor_m"},
					 {"output_tensor_l", "output_tensor_s", "output_tensor_m"},
					 "",
					 false};

/* The row names the tensors; the other arguments are found by name. */
static tt_status exchange_expand(struct tt_call *call)
{
	static const struct ttnn_memory_config plain = {.buffer = TTNN_DRAM};
	const struct exchange *row = call->entry->op->row;
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");
	struct tt_tensor *in[3] = {NULL}, *given[3] = {NULL};
	struct ttnn_value root;
	size_t inputs = 0;

	for (; inputs < 3 && row->tensors[inputs]; inputs++) {
		in[inputs] = tt_call_tensor(call, row->tensors[inputs]);
		TT_REQUIRE(tt_tensor_device(in[inputs]), "storage_type == DEVICE",
			   "%s: the tensor must be on a device", call->entry->op->name);
	}
	for (size_t i = 0; i < 3; i++)
		given[i] = row->outputs[i]
				   ? tt_call_tensor(call, row->outputs[i])
				   : tt_value_item_tensor(tt_call_arg(call, "output_tensors"), i);
	TT_TRY(tt_group_place(&root, call, "root_coord"));
	if (!memory)
		memory = row->dram ? &plain : &in[0]->spec.memory;
	return TT_LAUNCH_RETURN(
		call, row->program, .inputs = in, .input_count = inputs, .outputs = given,
		.output_count = 3,
		TT_BIND(call, schema, [AXIS] = *tt_call_arg(call, "cluster_axis"),
			[MEMORY] = ttnn_v_memory(memory),
			[ALONG] = ttnn_v_int(tt_call_int(call, row->along, 1)),
			[REDUCED] = ttnn_v_bool(tt_call_bool(call, "local_reduce", false)),
			[ROOT] = root, [SCALE] = ttnn_v_real(tt_call_real(call, "scale_fp32", 1))));
}

#define LINKS "num_links: int? = None, topology: enum? = None"
#define PLACE "subdevice_id: SubDeviceId? = None, memory_config: MemoryConfig? = None"
#define ROW(name_, row_, golden_, doc_, sig_)                                                      \
	.name = "ttnn." name_, .doc = doc_, .sigs = {sig_}, .expand = exchange_expand,             \
	.golden = golden_, .row = &(row_)

static const struct tt_op ops[] = {
	{ROW("all_to_all_combine", combine_row, tt_golden_all_to_all_combine,
	     "What experts made of tokens, back to the devices of those.",
	     "input_tensor: Tensor, expert_metadata_tensor: Tensor, "
	     "expert_mapping_tensor: Tensor, *, local_reduce: bool = False, "
	     "output_shard_dim: int? = 1, cluster_axis: int? = None, " PLACE
	     ", output_tensor: Tensor? = None, " LINKS)},
	{ROW("all_to_all_dispatch", dispatch_row, tt_golden_all_to_all_dispatch,
	     "Tokens to the devices of their experts, and everybody's choices of experts to all.",
	     "input_tensor: Tensor, expert_indices_tensor: Tensor, "
	     "expert_mapping_tensor: Tensor, *, cluster_axis: int? = None, "
	     "output_tensors: Tensors? = None, " LINKS
	     ", memory_config: MemoryConfig? = None, subdevice_id: SubDeviceId? = None, "
	     "output_concat_dim: int? = 1"),
	 .gives = "[Tensor]"},
	{ROW("reduce_to_root", root_row, tt_golden_reduce_to_root,
	     "The attention that the states of all devices make together, on one of them.",
	     "input_tensor_l: Tensor, input_tensor_s: Tensor, input_tensor_m: Tensor, "
	     "root_coord: sizes, *, scale_fp32: float = 1.0, topology: enum? = None, "
	     "output_tensor_l: Tensor? = None, output_tensor_s: Tensor? = None, "
	     "output_tensor_m: Tensor? = None, intermediate_tensor: Tensor? = None, "
	     "input_mux_cores: any = None"),
	 .gives = "[Tensor]"},
};

const struct tt_op_family tt_family_exchange = {"exchange", ops, TT_COUNT(ops)};
