/*
 * kda_affine.c: what groups of chunks do to a state, S → A·S + B, put together (Kimi Delta Attention): as one of each head, as the states
 * that groups begin with, and along the chips of a sequence: kda.reduce_affine_transforms, affine_exclusive_scan, chain_affine_transforms.
 *
 * Models ReduceAffineTransformsOperation, AffineExclusiveScanOperation and ChainAffineTransformsOperation of ttnn 0.81 with a factory
 * each: specs, refusals, memory, cores. Where a sequence begins within the rows of a chip, that chip has its begin and, behind that, its
 * end. What is beyond the end of a sequence is the state as it was.
 */
#include <inttypes.h>
#include <string.h>

#include "device/generation.h"
#include "ops/attention/attention.h"
#include "ops/attention/kda.h"
#include "ops/compute.h"
#include "ops/creation/creation.h"
#include "ops/usual.h"
#include "ops/values.h"

#define ATTRS(X)                                                                                   \
	X(FIRST, "batch_heads")                                                                    \
	X(SECOND, "groups_per_head")                                                               \
	X(KEYS, "key_dim")                                                                         \
	X(VALUES, "value_dim")                                                                     \
	X(AXIS, "sequence_parallel_axis")                                                          \
	X(ROWS, "local_rows")                                                                      \
	X(MEMORY, "output_mem_config")                                                             \
	X(COMPUTE, "compute_kernel_config")
TT_ATTRS(reduce_schema, "ReduceAffineTransformsParams", ATTRS);
static const struct tt_schema scan_schema = {"AffineExclusiveScanParams", reduce_schema_fields,
					     reduce_schema_count, false};
/* Of a chain the first number is that of the chips, the second that of the heads. */
static const struct tt_schema chain_schema = {"ChainAffineTransformsParams", reduce_schema_fields,
					      reduce_schema_count, false};
enum { A, B, START_OF_REDUCE, END_OF_REDUCE };
enum { STATE = 2, TAIL_A, TAIL_B, TAIL_STATE, START_OF_SCAN, END_OF_SCAN };
enum { STEPS, CHAIN_STATE, START_OF_CHAIN };
#define NUMBER_PAGE 32

static const char *name_of(const struct tt_launch *launch)
{
	return launch->prog->prim + sizeof("ttnn::prim::") - 1;
}

/* Where a chip's rows are in the sequence, whose begin is such an input. */
static tt_status course_of(struct tt_kda_course *c, const struct tt_launch *launch, size_t start)
{
	return tt_kda_course_of(c, launch,
				&(struct tt_kda_question){launch->attrs[AXIS].integer,
							  tt_attr_u32(launch, ROWS), start,
							  start + 1});
}

/* ---- small matrices ----------------------------------------------------------------------------------------------------- */

/* out = a·in + b, of rows × rows and rows × columns numbers; without b nothing is added. */
static void apply(float *out, const float *a, const float *in, const float *b,
		  const uint64_t size[2])
{
	uint64_t rows = size[0], columns = size[1];

	for (uint64_t i = 0; i < rows; i++) {
		float *line = &out[i * columns];

		memset(line, 0, columns * sizeof(*line));
		for (uint64_t k = 0; k < rows; k++)
			for (uint64_t j = 0; j < columns; j++)
				line[j] += a[i * rows + k] * in[k * columns + j];
		for (uint64_t j = 0; b && j < columns; j++)
			line[j] += b[i * columns + j];
	}
}

static tt_status read_floats(float **out, const struct tt_launch *launch, size_t input)
{
	double *values;
	uint64_t count;

	TT_TRY(tt_values_of(&values, &count, launch, input));
	*out = tt_arena_alloc(launch->arena, (count + 1) * sizeof(**out));
	TT_NEED_MEMORY(*out);
	for (uint64_t i = 0; i < count; i++)
		(*out)[i] = (float)values[i];
	return TTNN_OK;
}

/* So many matrices, and two to change places with. */
static tt_status new_floats(float **out, const struct tt_launch *launch, uint64_t count)
{
	*out = tt_arena_calloc(launch->arena, count + 1, sizeof(**out));
	return *out ? TTNN_OK : tt_fail_nomem();
}

/* ---- one of each head ------------------------------------------------------------------------------------------------------ */

static tt_status reduce_kernel(struct tt_launch *launch)
{
	uint64_t heads = tt_attr_u32(launch, FIRST), groups = tt_attr_u32(launch, SECOND), used;
	const uint64_t keys[2] = {tt_attr_u32(launch, KEYS), tt_attr_u32(launch, KEYS)};
	const uint64_t size[2] = {keys[0], tt_attr_u32(launch, VALUES)};
	uint64_t square = keys[0] * keys[0], part = size[0] * size[1];
	float *a, *b, *all, *sums, *next;
	struct tt_kda_course c;

	TT_TRY(course_of(&c, launch, START_OF_REDUCE));
	used = tt_div_up(c.own, c.rows / groups);
	TT_TRY(read_floats(&a, launch, A));
	TT_TRY(read_floats(&b, launch, B));
	TT_TRY(new_floats(&all, launch, heads * square));
	TT_TRY(new_floats(&sums, launch, heads * part));
	TT_TRY(new_floats(&next, launch, square + part));
	for (uint64_t h = 0; h < heads; h++) {
		for (uint64_t i = 0; i < keys[0]; i++)
			all[h * square + i * keys[0] + i] = 1;
		for (uint64_t g = h * groups; g < h * groups + used; g++) {
			apply(next, &a[g * square], &all[h * square], NULL, keys);
			memcpy(&all[h * square], next, square * sizeof(*next));
			apply(next, &a[g * square], &sums[h * part], &b[g * part], size);
			memcpy(&sums[h * part], next, part * sizeof(*next));
		}
	}
	TT_TRY(tt_values_write(launch->outputs[0], all, TTNN_FLOAT32));
	return tt_values_write(launch->outputs[1], sums, TTNN_FLOAT32);
}

/* ---- states that groups begin with ------------------------------------------------------------------------------------------- */

/* Groups before the split follow the first state, those behind it that of the end, which the split's own leads to. */
static tt_status scan_kernel(struct tt_launch *launch)
{
	uint64_t heads = tt_attr_u32(launch, FIRST), groups = tt_attr_u32(launch, SECOND);
	const uint64_t size[2] = {tt_attr_u32(launch, KEYS), tt_attr_u32(launch, VALUES)};
	uint64_t square = size[0] * size[0], part = size[0] * size[1];
	float *in[TAIL_STATE + 1], *out;
	struct tt_kda_course c;

	TT_TRY(course_of(&c, launch, START_OF_SCAN));
	for (size_t i = 0; i <= TAIL_STATE; i++)
		TT_TRY(read_floats(&in[i], launch, i));
	TT_TRY(new_floats(&out, launch, heads * groups * part));
	for (uint64_t n = 0; n < heads * groups; n++) {
		uint64_t g = n % groups, h = n / groups, each = c.rows / groups, row = g * each;
		bool split = row > c.head && row - each < c.head;
		const float *before = &out[(n ? n - 1 : 0) * part];

		if (g == 0)
			before = &in[STATE][h * part];
		else if (row == c.head || split)
			before = &in[TAIL_STATE][h * part];
		if (g == 0 || row == c.head)
			memcpy(&out[n * part], before, part * sizeof(*out));
		else if (row > c.head)
			apply(&out[n * part], &in[TAIL_A][(n - 1) * square], before,
			      &in[TAIL_B][(n - 1) * part], size);
		else
			apply(&out[n * part], &in[A][(n - 1) * square], before,
			      &in[B][(n - 1) * part], size);
	}
	return tt_values_write(launch->outputs[0], out, TTNN_FLOAT32);
}

/* ---- along chips -------------------------------------------------------------------------------------------------------------- */

/* One step of a head: a row of the tensor has the row of A, then that of B. */
static void chain_step(float *state, float *next, float *parts, const float *packed,
		       const uint64_t size[2])
{
	uint64_t keys = size[0], values = size[1];
	float *b = parts + keys * keys;

	for (uint64_t i = 0; i < keys; i++) {
		memcpy(&parts[i * keys], &packed[i * (keys + values)], keys * sizeof(*parts));
		memcpy(&b[i * values], &packed[i * (keys + values) + keys],
		       values * sizeof(*parts));
	}
	apply(next, parts, state, b, size);
	memcpy(state, next, keys * values * sizeof(*state));
}

static tt_status chain_kernel(struct tt_launch *launch)
{
	uint64_t heads = tt_attr_u32(launch, SECOND);
	const uint64_t size[2] = {tt_attr_u32(launch, KEYS), tt_attr_u32(launch, VALUES)};
	uint64_t part = size[0] * size[1], packed = size[0] * (size[0] + size[1]);
	float *steps, *state, *entry, *next, *parts;
	struct tt_kda_course c;

	TT_TRY(course_of(&c, launch, START_OF_CHAIN));
	TT_TRY(read_floats(&steps, launch, STEPS));
	TT_TRY(read_floats(&state, launch, CHAIN_STATE));
	TT_TRY(new_floats(&entry, launch, heads * part));
	TT_TRY(new_floats(&next, launch, part));
	TT_TRY(new_floats(&parts, launch, packed));
	for (uint64_t s = 0; s < c.chips; s++) {
		uint64_t rank = (c.first + s) % c.chips;

		if (s == c.place)
			memcpy(entry, state, heads * part * sizeof(*entry));
		for (uint64_t h = 0; h < heads; h++)
			chain_step(&state[h * part], next, parts,
				   &steps[(rank * heads + h) * packed], size);
	}
	TT_TRY(tt_values_write(launch->outputs[0], entry, TTNN_FLOAT32));
	return tt_values_write(launch->outputs[1], state, TTNN_FLOAT32);
}

/* ---- refusals ------------------------------------------------------------------------------------------------------------------- */

/* Kinds that a tensor may be of: float32 or bfloat16, or one of them, or numbers in rows. */
enum kind { EITHER, SMALL, LARGE, NUMBER };

static tt_status check_tensor(const struct tt_launch *launch, size_t input, const char *name,
			      enum kind kind)
{
	static const struct {
		enum ttnn_dtype dtype;
		const char *words;
	} kinds[] = {[EITHER] = {TTNN_FLOAT32, "FLOAT32 or BFLOAT16"},
		     [SMALL] = {TTNN_BFLOAT16, "BFLOAT16"},
		     [LARGE] = {TTNN_FLOAT32, "FLOAT32"},
		     [NUMBER] = {TTNN_UINT32, "UINT32"}};
	const struct ttnn_tensor_spec *spec = &launch->inputs[input]->spec;
	enum ttnn_layout layout = kind == NUMBER ? TTNN_ROW_MAJOR : TTNN_TILE;
	bool fits = spec->dtype == kinds[kind].dtype ||
		    (kind == EITHER && spec->dtype == TTNN_BFLOAT16);

	TT_REQUIRE(spec->layout == layout, "tensor.layout() == required_layout",
		   "%s: %s must use %s layout, got Layout::%s", name_of(launch), name,
		   tt_enum_name(&tt_enum_layout, (int64_t)layout),
		   tt_enum_name(&tt_enum_layout, (int64_t)spec->layout));
	TT_REQUIRE(fits,
		   kind == EITHER ? "std::find(accepted_dtypes.begin(), accepted_dtypes.end(), "
				    "tensor.dtype()) != accepted_dtypes.end()"
				  : "tensor.dtype() == required_dtype",
		   "%s: %s must be %s, got DataType::%s", name_of(launch), name, kinds[kind].words,
		   tt_enum_name(&tt_enum_dtype, (int64_t)spec->dtype));
	return TTNN_OK;
}

static tt_status check_same(const struct tt_launch *launch, const size_t pair[2], const char *what)
{
	const struct ttnn_tensor_spec *one = &launch->inputs[pair[0]]->spec;
	const struct ttnn_tensor_spec *other = &launch->inputs[pair[1]]->spec;

	TT_REQUIRE(one->dtype == other->dtype, "lhs.dtype() == rhs.dtype()",
		   "%s: %s must have matching dtypes, got DataType::%s and DataType::%s",
		   name_of(launch), what, tt_enum_name(&tt_enum_dtype, (int64_t)one->dtype),
		   tt_enum_name(&tt_enum_dtype, (int64_t)other->dtype));
	return TTNN_OK;
}

static tt_status check_number(const struct tt_launch *launch, size_t input, const char *name)
{
	uint64_t volume;

	if (input >= launch->input_count || !launch->inputs[input])
		return TTNN_OK;
	TT_TRY(check_tensor(launch, input, name, NUMBER));
	TT_TRY(ttnn_shape_volume(&volume, &launch->inputs[input]->spec.shape));
	TT_REQUIRE(volume == 1,
		   strcmp(name, "actual_start") == 0 ? "actual_start.logical_shape().volume() == 1"
						     : "actual_end.logical_shape().volume() == 1",
		   "%s: %s must be a scalar", name_of(launch), name);
	return TTNN_OK;
}

static tt_status check_rows(const struct tt_launch *launch, bool groups)
{
	uint64_t rows = tt_attr_u32(launch, ROWS), count = tt_attr_u32(launch, SECOND);

	if (!groups) {
		TT_REQUIRE(rows && rows % TT_TILE == 0,
			   "attrs.local_rows > 0 && attrs.local_rows % "
			   "tt::constants::TILE_HEIGHT == 0",
			   "%s: local_rows must be positive and 32-aligned", name_of(launch));
		return TTNN_OK;
	}
	TT_REQUIRE(rows && rows % TT_TILE == 0 && rows / TT_TILE % count == 0,
		   "attrs.local_rows > 0 && attrs.local_rows % tt::constants::TILE_HEIGHT == 0 && "
		   "(attrs.local_rows / tt::constants::TILE_HEIGHT) % attrs.groups_per_head == 0",
		   "%s: local_rows must contain a positive whole number of 32-token chunks per "
		   "group",
		   name_of(launch));
	return TTNN_OK;
}

static tt_status check_options(const struct tt_launch *launch)
{
	TT_REQUIRE(!tt_memory_config_is_sharded(launch->attrs[MEMORY].memory),
		   "!memory_config.is_sharded()", "%s: output memory must be interleaved",
		   name_of(launch));
	TT_REQUIRE(!tt_compute_has(&launch->attrs[COMPUTE], TT_COMPUTE_L1_ACC),
		   "!config.packer_l1_acc",
		   "%s: packer_l1_acc=true is unsupported because the compute kernel does not "
		   "accumulate through L1",
		   name_of(launch));
	return TTNN_OK;
}

static tt_status check_extents(const struct tt_launch *launch, bool state)
{
	uint32_t keys = tt_attr_u32(launch, KEYS), values = tt_attr_u32(launch, VALUES);

	TT_REQUIRE(keys && values && keys % TT_TILE == 0 && values % TT_TILE == 0,
		   state ? "s_shape[1] > 0 && s_shape[2] > 0 && s_shape[1] % "
			   "tt::constants::TILE_WIDTH == 0 && s_shape[2] % "
			   "tt::constants::TILE_WIDTH == 0"
			 : "a_shape[1] > 0 && b_shape[2] > 0 && a_shape[1] % "
			   "tt::constants::TILE_WIDTH == 0 && b_shape[2] % "
			   "tt::constants::TILE_WIDTH == 0",
		   "%s: K and V must be positive and tile aligned", name_of(launch));
	return TTNN_OK;
}

static tt_status check_pair(const struct tt_launch *launch)
{
	const uint32_t *a = launch->inputs[A]->spec.shape.dim,
		       *b = launch->inputs[B]->spec.shape.dim;

	TT_TRY(check_same(launch, (const size_t[]){A, B},
			  launch->input_count > START_OF_SCAN ? "a and b" : "inputs"));
	TT_REQUIRE(a[0] == b[0], "a_shape[0] == b_shape[0]",
		   "%s: inputs must have matching leading dimensions", name_of(launch));
	TT_REQUIRE(a[1] == a[2], "a_shape[1] == a_shape[2]",
		   "%s: a must contain square KxK matrices", name_of(launch));
	TT_REQUIRE(a[1] == b[1], "a_shape[1] == b_shape[1]",
		   "%s: a and b must have matching K dimensions", name_of(launch));
	return check_extents(launch, false);
}

static tt_status check_workers(const struct tt_launch *launch)
{
	uint64_t workers = (uint64_t)tt_attr_u32(launch, FIRST) * tt_attr_u32(launch, SECOND);
	uint64_t most = ttnn_core_set_cores(launch->device->grid);

	TT_REQUIRE(workers <= most, "group_workers <= worker_limit",
		   "%s: supports at most %" PRIu64 " group workers on this device, got %" PRIu64,
		   name_of(launch), most, workers);
	return TTNN_OK;
}

static tt_status check_axis(const struct tt_launch *launch)
{
	TT_REQUIRE(launch->attrs[AXIS].integer < 2,
		   "sequence_parallel_axis < device.shape().dims()",
		   "KDA: invalid sequence_parallel_axis");
	return TTNN_OK;
}

static tt_status check_machine(const struct tt_launch *launch, const char *condition)
{
	TT_REQUIRE(tt_is_blackhole(launch->device), condition,
		   "%s is only supported on Blackhole architecture, got wormhole_b0",
		   name_of(launch));
	return TTNN_OK;
}

static tt_status reduce_validate(struct tt_launch *launch)
{
	TT_TRY(check_rows(launch, true));
	TT_TRY(check_tensor(launch, A, "a", EITHER));
	TT_TRY(check_tensor(launch, B, "b", EITHER));
	TT_TRY(check_pair(launch));
	TT_TRY(check_workers(launch));
	TT_TRY(check_number(launch, START_OF_REDUCE, "actual_start"));
	TT_TRY(check_number(launch, END_OF_REDUCE, "actual_end"));
	return check_options(launch);
}

static tt_status check_states(const struct tt_launch *launch)
{
	const struct ttnn_shape *state = &launch->inputs[STATE]->spec.shape;

	TT_REQUIRE(state->rank == 3 && state->dim[0] == tt_attr_u32(launch, FIRST) &&
			   state->dim[1] == tt_attr_u32(launch, KEYS) &&
			   state->dim[2] == tt_attr_u32(launch, VALUES),
		   "state_shape[0] == attrs.batch_heads && state_shape[1] == attrs.key_dim && "
		   "state_shape[2] == attrs.value_dim",
		   "%s: initial_state shape must be [batch_heads, K, V]", name_of(launch));
	TT_NEED(ttnn_shape_equal(&launch->inputs[A]->spec.shape,
				 &launch->inputs[TAIL_A]->spec.shape) &&
			ttnn_shape_equal(&launch->inputs[B]->spec.shape,
					 &launch->inputs[TAIL_B]->spec.shape),
		"%s: tail summaries must have the shapes of the head's", name_of(launch));
	TT_REQUIRE(ttnn_shape_equal(&launch->inputs[TAIL_STATE]->spec.shape, state),
		   "in.tail_entry_states.logical_shape() == state_shape",
		   "%s: tail_entry_states shape must match initial_state", name_of(launch));
	return TTNN_OK;
}

static tt_status scan_validate(struct tt_launch *launch)
{
	TT_TRY(check_rows(launch, true));
	TT_TRY(check_machine(launch, "in.a.device()->arch() == tt::ARCH::BLACKHOLE"));
	TT_TRY(check_tensor(launch, A, "a", EITHER));
	TT_TRY(check_tensor(launch, B, "b", EITHER));
	TT_TRY(check_tensor(launch, STATE, "initial_state", LARGE));
	TT_TRY(check_pair(launch));
	TT_TRY(check_tensor(launch, TAIL_A, "tail_a", EITHER));
	TT_TRY(check_same(launch, (const size_t[]){A, TAIL_A}, "a and tail_a"));
	TT_TRY(check_tensor(launch, TAIL_B, "tail_b", EITHER));
	TT_TRY(check_same(launch, (const size_t[]){B, TAIL_B}, "b and tail_b"));
	TT_TRY(check_tensor(launch, TAIL_STATE, "tail_entry_states", LARGE));
	TT_TRY(check_states(launch));
	TT_TRY(check_workers(launch));
	TT_TRY(check_number(launch, START_OF_SCAN, "actual_start"));
	TT_TRY(check_number(launch, END_OF_SCAN, "actual_end"));
	return check_options(launch);
}

static tt_status chain_validate(struct tt_launch *launch)
{
	const uint32_t *t = launch->inputs[STEPS]->spec.shape.dim;
	const uint32_t *s = launch->inputs[CHAIN_STATE]->spec.shape.dim;
	uint32_t most = (uint32_t)ttnn_core_set_cores(launch->device->grid);
	int64_t axis = launch->attrs[AXIS].integer;

	TT_TRY(check_rows(launch, false));
	TT_TRY(check_machine(launch, "in.transforms.device()->arch() == tt::ARCH::BLACKHOLE"));
	TT_TRY(check_tensor(launch, STEPS, "transforms", SMALL));
	TT_TRY(check_tensor(launch, CHAIN_STATE, "initial_state", LARGE));
	TT_TRY(check_number(launch, START_OF_CHAIN, "actual_start"));
	TT_TRY(check_options(launch));
	TT_REQUIRE(
		tt_compute_has(&launch->attrs[COMPUTE], TT_COMPUTE_FP32),
		"attrs.compute_kernel_config.fp32_dest_acc_en",
		"%s: fp32_dest_acc_en must be enabled; the FP32 product unpacks to DST for the add",
		name_of(launch));
	TT_REQUIRE(t[1] == s[0] && t[2] == s[1] && t[3] == s[1] + s[2],
		   "t_shape[1] == s_shape[0] && t_shape[2] == s_shape[1] && t_shape[3] == "
		   "s_shape[1] + s_shape[2]",
		   "%s: transforms [P, B*H, K, K + V] must match initial_state [B*H, K, V]",
		   name_of(launch));
	TT_TRY(check_extents(launch, true));
	TT_REQUIRE(axis < 2, "attrs.sequence_parallel_axis < mesh->shape().dims()",
		   "%s: invalid sequence_parallel_axis", name_of(launch));
	TT_REQUIRE(t[0] == (axis ? launch->device->cols : launch->device->rows),
		   "t_shape[0] == mesh->shape()[attrs.sequence_parallel_axis]",
		   "%s: transforms must hold one transition per sequence-parallel rank",
		   name_of(launch));
	TT_REQUIRE(t[1] <= most, "attrs.batch_heads <= grid.x * grid.y",
		   "%s: supports at most %u batch-heads on this device, got %u", name_of(launch),
		   most, t[1]);
	TT_NEED(t[1], "%s: there are no heads", name_of(launch));
	return TTNN_OK;
}

/* ---- specs and memory ------------------------------------------------------------------------------------------------------------ */

/* Matrices of numbers of 32 bits: so many of keys by keys or by values. */
static tt_status large_spec(struct tt_launch *launch, size_t output, uint64_t count, bool square)
{
	const struct ttnn_shape shape = {3,
					 {(uint32_t)count, tt_attr_u32(launch, KEYS),
					  tt_attr_u32(launch, square ? KEYS : VALUES)}};

	return tt_spec_simple(&launch->specs[output], &shape, TTNN_FLOAT32, TTNN_TILE,
			      launch->attrs[MEMORY].memory);
}

static tt_status reduce_infer(struct tt_launch *launch)
{
	launch->output_count = 2;
	TT_TRY(large_spec(launch, 0, tt_attr_u32(launch, FIRST), true));
	return large_spec(launch, 1, tt_attr_u32(launch, FIRST), false);
}

static tt_status scan_infer(struct tt_launch *launch)
{
	return large_spec(launch, 0, launch->inputs[A]->spec.shape.dim[0], false);
}

static tt_status chain_infer(struct tt_launch *launch)
{
	launch->output_count = 2;
	TT_TRY(large_spec(launch, 0, tt_attr_u32(launch, SECOND), false));
	return large_spec(launch, 1, tt_attr_u32(launch, SECOND), false);
}

/* Tiles of A, of B, of both, and their bytes; a core for each group. */
struct sizes {
	uint64_t a, b, page, large;
	const ttnn_core_set *cores;
};

static tt_status sizes_of(struct sizes *s, const struct tt_launch *launch)
{
	uint64_t keys = tt_attr_u32(launch, KEYS) / TT_TILE,
		 values = tt_attr_u32(launch, VALUES) / TT_TILE;
	struct tt_work_split split;

	TT_TRY(check_axis(launch));
	TT_TRY(tt_split_work(&split, launch->device->info.compute_grid,
			     launch->inputs[A]->spec.shape.dim[0], TTNN_ORIENT_ROW_MAJOR));
	*s = (struct sizes){.a = keys * keys,
			    .b = keys * values,
			    .page = tt_tensor_tile_bytes(launch->inputs[A]),
			    .large = tt_tile_bytes_of(TTNN_FLOAT32),
			    .cores = split.all};
	return TTNN_OK;
}

static tt_status reduce_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct sizes s;

	TT_TRY(sizes_of(&s, launch));
	return TT_PLAN(plan, s.cores, TT_DFB_ROW(0, "a", .pages = s.a, .page = s.page),
		       TT_DFB_ROW(1, "b", .pages = s.b, .page = s.page),
		       TT_DFB_ROW(2, "a_state", .pages = 2 * s.a, .page = s.large),
		       TT_DFB_ROW(3, "b_state", .pages = 2 * s.b, .page = s.large),
		       TT_DFB_ROW(4, "a_received", .pages = 2 * s.a, .page = s.large),
		       TT_DFB_ROW(5, "b_received", .pages = 2 * s.b, .page = s.large),
		       TT_DFB_ROW(6, "a_product", .pages = s.a, .page = s.large),
		       TT_DFB_ROW(7, "b_product", .pages = s.b, .page = s.large),
		       TT_DFB_ROW(8, "b_sum", .pages = s.b, .page = s.large),
		       TT_DFB_ROW(9, "start", .pages = 1, .page = NUMBER_PAGE));
}

static tt_status scan_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct sizes s;

	TT_TRY(sizes_of(&s, launch));
	return TT_PLAN(plan, s.cores, TT_DFB_ROW(0, "a", .pages = s.a, .page = s.page),
		       TT_DFB_ROW(1, "b", .pages = s.b, .page = s.page),
		       TT_DFB_ROW(2, "a_state", .pages = 2 * s.a, .page = s.large),
		       TT_DFB_ROW(3, "b_state", .pages = 2 * s.b, .page = s.large),
		       TT_DFB_ROW(4, "a_product", .pages = s.a, .page = s.large),
		       TT_DFB_ROW(5, "b_product", .pages = s.b, .page = s.large),
		       TT_DFB_ROW(6, "received", .pages = s.a + s.b, .page = s.large),
		       TT_DFB_ROW(7, "initial", .pages = s.b, .page = s.large),
		       TT_DFB_ROW(8, "sum", .pages = s.b, .page = s.large),
		       TT_DFB_ROW(9, "tail", .pages = s.a + s.b, .page = s.page),
		       TT_DFB_ROW(10, "tail_state", .pages = s.b, .page = s.large),
		       TT_DFB_ROW(11, "out", .pages = s.b, .page = s.large),
		       TT_DFB_ROW(12, "start", .pages = 1, .page = NUMBER_PAGE));
}

/* Columns of values are cut among cores of a column while all heads have room; a column has whole heads. */
static tt_status chain_cores(const ttnn_core_set **out, uint64_t *cuts,
			     const struct tt_launch *launch)
{
	struct ttnn_core grid = launch->device->info.compute_grid;
	uint64_t heads = tt_attr_u32(launch, SECOND),
		 values = tt_attr_u32(launch, VALUES) / TT_TILE;
	uint64_t column, count;
	struct ttnn_core_range ranges[2] = {0};
	struct tt_work_split split;

	for (*cuts = tt_lesser(values, grid.y); *cuts > 1; --*cuts)
		if (values % *cuts == 0 && heads <= grid.x * (grid.y / *cuts))
			break;
	if (*cuts <= 1) {
		*cuts = 1;
		TT_TRY(tt_split_work(&split, grid, heads, TTNN_ORIENT_ROW_MAJOR));
		*out = split.all;
		return TTNN_OK;
	}
	column = grid.y / *cuts;
	count = heads / column;
	ranges[0].end = (struct ttnn_core){(uint32_t)count - 1, (uint32_t)(column * *cuts) - 1};
	ranges[1].start = (struct ttnn_core){(uint32_t)count, 0};
	ranges[1].end = (struct ttnn_core){(uint32_t)count, (uint32_t)(heads % column * *cuts) - 1};
	return ttnn_core_set_make(out, &ranges[count == 0], (count > 0) + (heads % column > 0));
}

static tt_status chain_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	uint64_t keys = tt_attr_u32(launch, KEYS) / TT_TILE, large = tt_tile_bytes_of(TTNN_FLOAT32);
	uint64_t small = tt_tile_bytes_of(TTNN_BFLOAT16), cuts, part;
	const ttnn_core_set *cores;

	TT_TRY(chain_cores(&cores, &cuts, launch));
	part = keys * (tt_attr_u32(launch, VALUES) / TT_TILE / cuts);
	return TT_PLAN(plan, cores, TT_DFB_ROW(0, "initial", .pages = part, .page = large),
		       TT_DFB_ROW(1, "a", .pages = 2 * keys * keys, .page = small),
		       TT_DFB_ROW(2, "b", .pages = 2 * part, .page = small),
		       TT_DFB_ROW(3, "state", .pages = part, .page = large),
		       TT_DFB_ROW(4, "product", .pages = part, .page = large),
		       TT_DFB_ROW(5, "out", .pages = part, .page = large),
		       TT_DFB_ROW(6, "start", .pages = 1, .page = NUMBER_PAGE));
}

/* A program by the word of its functions, its name and that of its operation. */
#define PROGRAM(word_, name_, prim_)                                                               \
	static const struct tt_prog word_##_program = {                                            \
		.device_op = name_ "Operation",                                                    \
		.prim = "ttnn::prim::" prim_,                                                      \
		.attrs = &word_##_schema,                                                          \
		.infer = word_##_infer,                                                            \
		.validate = word_##_validate,                                                      \
		TT_FACTORY("ttnn::experimental::prim::" name_ "ProgramFactory", word_##_memory),   \
		TT_KERNEL(word_##_kernel),                                                         \
		.per_chip = true,                                                                  \
		.in_order = true,                                                                  \
		.drops_forward = true,                                                             \
	}
PROGRAM(reduce, "ReduceAffineTransforms", "reduce_affine_transforms");
PROGRAM(scan, "AffineExclusiveScan", "affine_exclusive_scan");
PROGRAM(chain, "ChainAffineTransforms", "chain_affine_transforms");

/* ---- the calls -------------------------------------------------------------------------------------------------------------------- */

static tt_status bind(struct ttnn_value attrs[reduce_schema_count], struct tt_call *call)
{
	static const struct ttnn_memory_config dram;
	static const struct tt_compute_usual usual = {.fidelity = TT_HIFI2, .fp32 = true};
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");

	attrs[AXIS] = ttnn_v_int(tt_call_int(call, "sequence_parallel_axis", 0));
	attrs[ROWS] = ttnn_v_int(tt_call_int(call, "local_rows", 0));
	attrs[MEMORY] = ttnn_v_memory(memory ? memory : &dram);
	attrs[COMPUTE] =
		tt_compute_config(call, tt_call_arg(call, "compute_kernel_config"), &usual);
	return TTNN_OK;
}

/* Tensors by their names; the last may be missing. */
static tt_status take(struct tt_tensor **out, const struct tt_call *call, const char *const *names,
		      size_t count)
{
	for (size_t i = 0; i < count; i++) {
		out[i] = tt_call_tensor(call, names[i]);
		if (out[i] || strcmp(names[i], "actual_end") != 0)
			TT_TRY(tt_need_device(out[i]));
	}
	return TTNN_OK;
}

/* Heads and groups of the first two tensors. */
static tt_status bind_groups(struct ttnn_value attrs[reduce_schema_count], struct tt_call *call,
			     struct tt_tensor *const *in)
{
	const char *name = strrchr(call->entry->op->name, '.') + 1;
	const struct ttnn_shape *a = &in[A]->spec.shape, *b = &in[B]->spec.shape;
	int64_t groups = tt_call_int(call, "groups_per_head", 0);

	TT_REQUIRE(groups > 0, "groups > 0", "%s: groups_per_head must be positive", name);
	TT_REQUIRE(a->rank == 3 && b->rank == 3, "shape.rank() == 3 && b_shape.rank() == 3",
		   "%s: inputs must be rank 3", name);
	TT_REQUIRE(a->dim[0] % groups == 0, "shape[0] % groups == 0",
		   "%s: leading dimension must be divisible by groups_per_head", name);
	TT_NEED(a->dim[0], "%s: there are no groups", name);
	attrs[FIRST] = ttnn_v_int(a->dim[0] / groups);
	attrs[SECOND] = ttnn_v_int(groups);
	attrs[KEYS] = ttnn_v_int(a->dim[1]);
	attrs[VALUES] = ttnn_v_int(b->dim[2]);
	return bind(attrs, call);
}

static tt_status reduce_expand(struct tt_call *call)
{
	static const char *const names[] = {"a", "b", "actual_start", "actual_end"};
	struct tt_tensor *in[TT_COUNT(names)];
	struct ttnn_value attrs[reduce_schema_count];

	TT_TRY(take(in, call, names, TT_COUNT(names)));
	TT_TRY(bind_groups(attrs, call, in));
	return TT_LAUNCH_RETURN(call, &reduce_program, .attrs = attrs, .inputs = in,
				.input_count = TT_COUNT(names));
}

static tt_status scan_expand(struct tt_call *call)
{
	static const char *const names[] = {"a",
					    "b",
					    "initial_state",
					    "tail_a",
					    "tail_b",
					    "tail_entry_states",
					    "actual_start",
					    "actual_end"};
	struct tt_tensor *in[TT_COUNT(names)];
	struct ttnn_value attrs[reduce_schema_count];

	TT_TRY(take(in, call, names, TT_COUNT(names)));
	TT_TRY(bind_groups(attrs, call, in));
	return TT_LAUNCH_RETURN(call, &scan_program, .attrs = attrs, .inputs = in,
				.input_count = TT_COUNT(names));
}

static tt_status chain_expand(struct tt_call *call)
{
	static const char *const names[] = {"transforms", "initial_state", "actual_start"};
	struct tt_tensor *in[TT_COUNT(names)];
	struct ttnn_value attrs[reduce_schema_count];
	const struct ttnn_shape *t, *s;

	TT_TRY(take(in, call, names, TT_COUNT(names)));
	t = &in[STEPS]->spec.shape;
	s = &in[CHAIN_STATE]->spec.shape;
	TT_REQUIRE(t->rank == 4, "t_shape.rank() == 4",
		   "chain_affine_transforms: transforms must be rank 4 [P, B*H, K, K + V]");
	TT_REQUIRE(s->rank == 3, "s_shape.rank() == 3",
		   "chain_affine_transforms: initial_state must be rank 3 [B*H, K, V]");
	attrs[FIRST] = ttnn_v_int(t->dim[0]);
	attrs[SECOND] = ttnn_v_int(s->dim[0]);
	attrs[KEYS] = ttnn_v_int(s->dim[1]);
	attrs[VALUES] = ttnn_v_int(s->dim[2]);
	TT_TRY(bind(attrs, call));
	return TT_LAUNCH_RETURN(call, &chain_program, .attrs = attrs, .inputs = in,
				.input_count = TT_COUNT(names));
}

#define PLACE                                                                                      \
	"memory_config: MemoryConfig? = None, compute_kernel_config: ComputeConfig? = None, "      \
	"sequence_parallel_axis: size = 0"
static const struct tt_op ops[] = {
	{.name = "ttnn.experimental.kda.affine_exclusive_scan",
	 .doc = "The states that groups of chunks begin with, each of which changes them.",
	 .sigs = {"a: Tensor, b: Tensor, initial_state: Tensor, groups_per_head: size, *, "
		  "actual_start: Tensor, local_rows: size, tail_a: Tensor, tail_b: Tensor, "
		  "tail_entry_states: Tensor, " PLACE ", actual_end: Tensor? = None"},
	 .expand = scan_expand,
	 .golden = tt_golden_affine_scan,
	 TT_PROGRAMS(&scan_program)},
	{.name = "ttnn.experimental.kda.chain_affine_transforms",
	 .doc = "The state that a chip's part of a sequence begins with, and that behind the last chip.",
	 .sigs = {"transforms: Tensor, initial_state: Tensor, *, actual_start: Tensor, local_rows: "
		  "size, " PLACE},
	 .expand = chain_expand,
	 .golden = tt_golden_affine_chain,
	 .gives = "Tensor, Tensor",
	 TT_PROGRAMS(&chain_program)},
	{.name = "ttnn.experimental.kda.reduce_affine_transforms",
	 .doc = "What all groups of chunks of a head do to a state, as one.",
	 .sigs = {"a: Tensor, b: Tensor, groups_per_head: size, *, actual_start: Tensor, local_rows: "
		  "size, " PLACE ", actual_end: Tensor? = None"},
	 .expand = reduce_expand,
	 .golden = tt_golden_affine_reduce,
	 .gives = "Tensor, Tensor",
	 TT_PROGRAMS(&reduce_program)},
};

const struct tt_op_family tt_family_kda_affine = {"kda_affine", ops, TT_COUNT(ops)};
