/*
 * delta_rule.c: gated delta nets token by token, and their chunks one after the other: states of keys × values that decay
 * and learn what they did not foretell.
 *
 * Models FusedRecurrentGatedDeltaRuleDeviceOperation and GatedDeltaAttnSeqDeviceOperation of ttnn 0.81 with their one factory
 * each: specs, refusals, memory, cores. Not modelled: rounding between the steps of a token.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "golden/golden.h"
#include "ops/attention/delta_rule.h"
#include "ops/attention/heads.h"
#include "ops/compute.h"
#include "ops/creation/creation.h"
#include "ops/movement/movement.h"
#include "ops/usual.h"
#include "ops/values.h"

/* ---- what both have ---------------------------------------------------------------------------------------- */

/* A core for each head, column after column, each by itself. */
tt_status tt_delta_cores(const ttnn_core_set **out, const struct tt_launch *launch, uint64_t heads)
{
	uint32_t rows = launch->device->info.compute_grid.y;
	struct ttnn_core_range *ranges = tt_arena_calloc(launch->arena, heads + 1, sizeof(*ranges));

	TT_NEED_MEMORY(ranges);
	for (uint32_t i = 0; i < heads; i++)
		ranges[i].start = ranges[i].end = (struct ttnn_core){i / rows, i % rows};
	return ttnn_core_set_make(out, ranges, heads);
}

/* The numbers of an input, of which there must be so many. */
tt_status tt_delta_numbers(double **out, const struct tt_launch *launch, size_t input,
			   uint64_t most)
{
	uint64_t count;

	TT_TRY(tt_values_of(out, &count, launch, input));
	TT_NEED(count == most, "an input has %" PRIu64 " numbers, not %" PRIu64, count, most);
	return TTNN_OK;
}

/* out[rows × columns] += by × a[rows × inner] · b[inner × columns] */
void tt_delta_product(double *out, const double *a, const double *b, const uint32_t size[3],
		      double by)
{
	uint64_t rows = size[0], inner = size[1], columns = size[2];

	for (uint64_t r = 0; r < rows; r++)
		for (uint64_t i = 0; i < inner; i++) {
			double factor = by * a[r * inner + i];

			for (uint64_t c = 0; c < columns; c++)
				out[r * columns + c] += factor * b[i * columns + c];
		}
}

/* Float64 as an output of float32 holds it. */
tt_status tt_delta_write(const struct tt_launch *launch, size_t output, const double *values)
{
	uint64_t count;
	float *small;

	TT_TRY(ttnn_shape_volume(&count, &launch->outputs[output]->spec.shape));
	small = tt_arena_alloc(launch->arena, (count + 1) * sizeof(*small));
	TT_NEED_MEMORY(small);
	for (uint64_t i = 0; i < count; i++)
		small[i] = (float)values[i];
	return tt_values_write(launch->outputs[output], small, TTNN_FLOAT32);
}

double *tt_delta_zeros(const struct tt_launch *launch, uint64_t count)
{
	return tt_arena_calloc(launch->arena, count + 1, sizeof(double));
}

/* One more step of a tensor on its way, by an operation with one more argument. */
tt_status tt_delta_step(struct tt_tensor **at, struct tt_call *call, const char *name,
			struct ttnn_value with)
{
	struct tt_tensor *next;

	return tt_call_assign(at, call,
			      TT_CALL(&next, call, name, {NULL, ttnn_v_tensor(*at)}, {NULL, with}),
			      &next);
}

/* The same in another type, if it has not got it. */
tt_status tt_delta_cast(struct tt_tensor **at, struct tt_call *call, enum ttnn_dtype dtype)
{
	return (*at)->spec.dtype == dtype
		       ? TTNN_OK
		       : tt_delta_step(at, call, "ttnn.typecast", ttnn_v_dtype(dtype));
}

static const struct ttnn_value swapped[] = {{.kind = TTNN_VALUE_INT, .integer = 0},
					    {.kind = TTNN_VALUE_INT, .integer = 2},
					    {.kind = TTNN_VALUE_INT, .integer = 1},
					    {.kind = TTNN_VALUE_INT, .integer = 3}};

/* Tokens and heads change places. */
tt_status tt_delta_swap(struct tt_tensor **at, struct tt_call *call)
{
	return tt_delta_step(at, call, "ttnn.permute", ttnn_v_list(swapped, TT_COUNT(swapped)));
}

/* Heads of all batches first: [batches × heads, tokens], and a width where there is one. */
tt_status tt_delta_split(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			 const struct tt_delta_heads *heads)
{
	const struct ttnn_shape *shape = &heads->shape;
	struct tt_tensor *t = ttnn_tensor_ref(in);
	tt_status status = tt_delta_cast(&t, call, heads->dtype);

	*out = NULL;
	if (status == TTNN_OK)
		status = tt_delta_step(&t, call, "ttnn.permute",
				       ttnn_v_list(swapped, shape->rank + (size_t)1));
	if (status == TTNN_OK)
		status = TT_CALL(out, call, "ttnn.reshape", {NULL, ttnn_v_tensor(t)},
				 {NULL, ttnn_v_shape(shape)});
	if (status != TTNN_OK)
		*out = NULL;
	return tt_call_drop_after(call, status, t);
}

/* ---- chunks: refusals --------------------------------------------------------------------------------------- */

#define SEQ_ATTRS(X)                                                                               \
	X(SEQ_HEADS, "num_heads")                                                                  \
	X(SEQ_CHUNKS, "num_chunks")                                                                \
	X(SEQ_CHUNK, "chunk_size")                                                                 \
	X(SEQ_KEY, "key_dim")                                                                      \
	X(SEQ_VALUE, "val_dim")                                                                    \
	X(SEQ_MEMORY, "output_mem_config")                                                         \
	X(SEQ_COMPUTE, "compute_kernel_config")
TT_ATTRS(seq_schema, "GatedDeltaAttnSeqParams", SEQ_ATTRS);
enum { UNIT, V_BETA, K_BETA, INTRA, Q_DECAY, K_DECAY, LAST_DECAY, INVERSE, SEQ_STATE, SEQ_INPUTS };
#define SIDE (4 * TT_TILE) /* of a chunk, of keys and of values: what the kernel is written for */

/* By their names, and their shapes as attributes; 0: one, TT_TILE: a tile. */
static const struct {
	const char *name;
	uint8_t rank;
	int dims[4];
} seq_inputs[SEQ_INPUTS] = {
	{"L_unit", 4, {SEQ_HEADS, SEQ_CHUNKS, SEQ_CHUNK, SEQ_CHUNK}},
	{"v_beta_sc", 4, {SEQ_HEADS, SEQ_CHUNKS, SEQ_CHUNK, SEQ_VALUE}},
	{"k_bd_sc", 4, {SEQ_HEADS, SEQ_CHUNKS, SEQ_CHUNK, SEQ_KEY}},
	{"intra_attn", 4, {SEQ_HEADS, SEQ_CHUNKS, SEQ_CHUNK, SEQ_CHUNK}},
	{"q_decay", 4, {SEQ_HEADS, SEQ_CHUNKS, SEQ_CHUNK, SEQ_KEY}},
	{"k_decay_t", 4, {SEQ_HEADS, SEQ_CHUNKS, SEQ_KEY, SEQ_CHUNK}},
	{"dl_exp", 4, {SEQ_HEADS, SEQ_CHUNKS, -1, -1}},
	{"L_inv", 4, {SEQ_HEADS, SEQ_CHUNKS, SEQ_CHUNK, -TT_TILE}},
	{"initial_state", 3, {SEQ_HEADS, SEQ_KEY, SEQ_VALUE}},
};

static uint32_t extent(const struct tt_launch *launch, int dim)
{
	return dim < 0 ? (uint32_t)-dim : tt_attr_u32(launch, dim);
}

static tt_status seq_infer(struct tt_launch *launch)
{
	const struct ttnn_memory_config *memory = launch->attrs[SEQ_MEMORY].memory;
	uint32_t heads = tt_attr_u32(launch, SEQ_HEADS), value = tt_attr_u32(launch, SEQ_VALUE);
	const struct ttnn_shape out = TT_SHAPE(heads, tt_attr_u32(launch, SEQ_CHUNKS),
					       tt_attr_u32(launch, SEQ_CHUNK), value);
	const struct ttnn_shape state = {3, {heads, tt_attr_u32(launch, SEQ_KEY), value}};

	launch->output_count = 2;
	TT_TRY(tt_spec_simple(&launch->specs[0], &out, TTNN_FLOAT32, TTNN_TILE, memory));
	return tt_spec_simple(&launch->specs[1], &state, TTNN_FLOAT32, TTNN_TILE, memory);
}

static tt_status check_kind(const struct ttnn_tensor_spec *spec, const char *name)
{
	TT_REQUIRE(spec->memory.buffer == TTNN_DRAM,
		   "t.buffer()->buffer_type() == BufferType::DRAM", "%s must be in DRAM", name);
	TT_REQUIRE(spec->layout == TTNN_TILE, "t.layout() == Layout::TILE", "%s must be tiled",
		   name);
	TT_REQUIRE(spec->dtype == TTNN_FLOAT32, "t.dtype() == DataType::FLOAT32",
		   "%s must be float32, got DataType::%s", name,
		   tt_enum_name(&tt_enum_dtype, (int64_t)spec->dtype));
	return TTNN_OK;
}

static tt_status check_shape(const struct tt_launch *launch, int input)
{
	const struct ttnn_shape *shape = &launch->inputs[input]->spec.shape;
	const char *name = seq_inputs[input].name;

	TT_REQUIRE(shape->rank == seq_inputs[input].rank, "s.rank() == expected.size()",
		   "%s rank mismatch: %u vs %u", name, shape->rank, seq_inputs[input].rank);
	for (uint32_t i = 0; i < shape->rank; i++) {
		uint32_t want = extent(launch, seq_inputs[input].dims[i]);

		TT_REQUIRE(shape->dim[i] == want, "static_cast<uint32_t>(s[i]) == e",
			   "%s dim[%u] expected %u got %u", name, i, want, shape->dim[i]);
	}
	return TTNN_OK;
}

static tt_status seq_validate(struct tt_launch *launch)
{
	int count = launch->inputs[SEQ_STATE] ? SEQ_INPUTS : SEQ_STATE;

	for (int i = 0; i < count; i++)
		TT_TRY(check_kind(&launch->inputs[i]->spec, seq_inputs[i].name));
	TT_REQUIRE(launch->attrs[SEQ_CHUNK].integer == SIDE, "C == kRequiredDim",
		   "chunk_size must be exactly %d, got %u", SIDE, tt_attr_u32(launch, SEQ_CHUNK));
	TT_REQUIRE(launch->attrs[SEQ_KEY].integer == SIDE, "Dk == kRequiredDim",
		   "key_dim must be exactly %d, got %u", SIDE, tt_attr_u32(launch, SEQ_KEY));
	TT_REQUIRE(launch->attrs[SEQ_VALUE].integer == SIDE, "Dv == kRequiredDim",
		   "val_dim must be exactly %d, got %u", SIDE, tt_attr_u32(launch, SEQ_VALUE));
	for (int i = 0; i < count; i++)
		TT_TRY(check_shape(launch, i));
	return TTNN_OK;
}

static tt_status seq_choose(uint32_t *out, struct tt_launch *launch)
{
	struct ttnn_core grid = launch->device->info.compute_grid;
	uint32_t heads = tt_attr_u32(launch, SEQ_HEADS), cores = grid.x * grid.y;

	*out = 0;
	TT_REQUIRE(heads <= cores, "BH <= compute_grid.x * grid_y",
		   "num_heads %u exceeds total compute cores %u×%u=%u", heads, grid.x, grid.y,
		   cores);
	TT_NEED(heads && launch->attrs[SEQ_CHUNKS].integer,
		"gated_delta_attn_seq wants at least one head and one chunk");
	return TTNN_OK;
}

static tt_status seq_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	static const uint8_t tiles[28] = {16, 16, 16, 16, 16, 16, 1,  16, 16, 4,  4,  4,  0,  0,
					  1,  1,  1,  1,  16, 16, 16, 16, 16, 16, 32, 16, 16, 16};
	const ttnn_core_set *cores;

	TT_TRY(tt_delta_cores(&cores, launch, tt_attr_u32(launch, SEQ_HEADS)));
	for (uint32_t i = 0; i < TT_COUNT(tiles); i++)
		TT_TRY(TT_PLAN(plan, cores,
			       TT_CB_ROW(i, NULL, .pages = tiles[i], .page = tt_page_f32(launch))));
	return TTNN_OK;
}

/* ---- chunks: numbers ------------------------------------------------------------------------------------------ */

/*
 * What a chunk's matrix, of which the inverses of the blocks on its diagonal are known, makes of `x`: block after
 * block, less what those before it explain.
 */
static void solve(double *x, const double *unit, const double *inverse)
{
	static const uint32_t block[3] = {TT_TILE, TT_TILE, SIDE};
	double rest[TT_TILE * SIDE];

	for (uint32_t b = 0; b < SIDE / TT_TILE; b++) {
		double *rows = &x[b * TT_TILE * SIDE];

		for (uint32_t r = 0; r < TT_TILE; r++) {
			const double *left = &unit[(b * TT_TILE + r) * SIDE];

			tt_delta_product(&rows[r * SIDE], left, x,
					 (const uint32_t[]){1, b * TT_TILE, SIDE}, -1);
		}
		for (uint32_t i = 0; i < TT_TILE * SIDE; i++) {
			rest[i] = rows[i];
			rows[i] = 0;
		}
		tt_delta_product(rows, &inverse[b * TT_TILE * TT_TILE], rest, block, 1);
	}
}

/* One chunk of one head: at[] are its numbers, `state` goes on to the next. */
static void seq_chunk(double *out, double *state, double *const at[SEQ_INPUTS])
{
	static const uint32_t square[3] = {SIDE, SIDE, SIDE};
	double *fresh = at[V_BETA], decay = *at[LAST_DECAY];

	solve(fresh, at[UNIT], at[INVERSE]);
	solve(at[K_BETA], at[UNIT], at[INVERSE]);
	tt_delta_product(fresh, at[K_BETA], state, square, -1);
	tt_delta_product(out, at[Q_DECAY], state, square, 1);
	tt_delta_product(out, at[INTRA], fresh, square, 1);
	for (uint32_t i = 0; i < SIDE * SIDE; i++)
		state[i] *= decay;
	tt_delta_product(state, at[K_DECAY], fresh, square, 1);
}

static tt_status seq_kernel(struct tt_launch *launch)
{
	uint64_t heads = tt_attr_u32(launch, SEQ_HEADS), chunks = tt_attr_u32(launch, SEQ_CHUNKS);
	uint64_t square = SIDE * SIDE;
	const uint64_t size[SEQ_STATE] = {square, square, square, square,
					  square, square, 1,      SIDE * TT_TILE};
	double *values[SEQ_INPUTS], *at[SEQ_INPUTS], *out, *state;

	for (size_t i = 0; i < SEQ_STATE; i++)
		TT_TRY(tt_delta_numbers(&values[i], launch, i, heads * chunks * size[i]));
	out = tt_delta_zeros(launch, heads * chunks * square);
	state = tt_delta_zeros(launch, heads * square);
	TT_NEED_MEMORY(out && state);
	if (launch->inputs[SEQ_STATE])
		TT_TRY(tt_delta_numbers(&state, launch, SEQ_STATE, heads * square));
	for (uint64_t n = 0; n < heads * chunks; n++) {
		for (size_t i = 0; i < SEQ_STATE; i++)
			at[i] = &values[i][n * size[i]];
		seq_chunk(&out[n * square], &state[n / chunks * square], at);
	}
	TT_TRY(tt_delta_write(launch, 0, out));
	return tt_delta_write(launch, 1, state);
}

static const struct tt_prog seq_program = {
	.device_op = "GatedDeltaAttnSeqDeviceOperation",
	.prim = "ttnn::prim::gated_delta_attn_seq",
	.attrs = &seq_schema,
	.infer = seq_infer,
	.validate = seq_validate,
	.choose = seq_choose,
	TT_FACTORY("ttnn::device_operation::MeshDeviceOperationAdapter<ttnn::prim::"
		   "GatedDeltaAttnSeqDeviceOperation>::DirectDescriptorFactory",
		   seq_memory),
	TT_KERNEL(seq_kernel),
	.drops_forward = true,
};

static tt_status seq_expand(struct tt_call *call)
{
	static const struct tt_compute_usual usual = {.fidelity = TT_HIFI2, .fp32 = true};
	static const struct ttnn_memory_config dram;
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");
	struct tt_tensor *inputs[SEQ_INPUTS];
	struct ttnn_value attrs[seq_schema_count];

	for (int i = 0; i < SEQ_INPUTS; i++)
		inputs[i] = tt_call_tensor(call, seq_inputs[i].name);
	TT_TRY(tt_need_device(inputs[UNIT]));
	for (int i = 0; i <= SEQ_CHUNK; i++) {
		TT_TRY(tt_need_dim(&inputs[UNIT]->spec.shape, (uint32_t)i));
		attrs[i] = ttnn_v_int(inputs[UNIT]->spec.shape.dim[i]);
	}
	TT_TRY(tt_need_dim(&inputs[K_BETA]->spec.shape, 3));
	TT_TRY(tt_need_dim(&inputs[V_BETA]->spec.shape, 3));
	attrs[SEQ_KEY] = ttnn_v_int(inputs[K_BETA]->spec.shape.dim[3]);
	attrs[SEQ_VALUE] = ttnn_v_int(inputs[V_BETA]->spec.shape.dim[3]);
	attrs[SEQ_MEMORY] = ttnn_v_memory(memory ? memory : &dram);
	attrs[SEQ_COMPUTE] =
		tt_compute_config(call, tt_call_arg(call, "compute_kernel_config"), &usual);
	return TT_LAUNCH_RETURN(call, &seq_program, .attrs = attrs, .inputs = inputs,
				.input_count = SEQ_INPUTS);
}

/* The chunk's system is solved once, for values less what the state says of their keys. */
static void golden_chunk(const struct tt_array *const in[SEQ_INPUTS], struct tt_array *out,
			 struct tt_array *state, uint64_t n)
{
	uint64_t at = n * SIDE * SIDE,
		 head = n / tt_divisor(tt_array_extent(in[UNIT], 1)) * SIDE * SIDE;

	for (uint64_t v = 0; v < SIDE; v++) {
		double fresh[SIDE], rest[TT_TILE];

		for (uint64_t r = 0; r < SIDE; r++) {
			double sum = *tt_at(in[V_BETA], at + r * SIDE + v);

			for (uint64_t k = 0; k < SIDE; k++)
				sum -= *tt_at(in[K_BETA], at + r * SIDE + k) *
				       *tt_at(state, head + k * SIDE + v);
			for (uint64_t i = 0; i < r / TT_TILE * TT_TILE; i++)
				sum -= *tt_at(in[UNIT], at + r * SIDE + i) * fresh[i];
			rest[r % TT_TILE] = sum;
			for (uint64_t b = 0; r % TT_TILE == TT_TILE - 1 && b < TT_TILE; b++) {
				uint64_t row = r - (TT_TILE - 1) + b;

				fresh[row] = 0;
				for (uint64_t i = 0; i < TT_TILE; i++)
					fresh[row] +=
						rest[i] *
						*tt_at(in[INVERSE], (n * SIDE + row) * TT_TILE + i);
			}
		}
		for (uint64_t r = 0; r < SIDE; r++)
			for (uint64_t i = 0; i < SIDE; i++)
				*tt_at(out, at + r * SIDE + v) +=
					*tt_at(in[INTRA], at + r * SIDE + i) * fresh[i] +
					*tt_at(in[Q_DECAY], at + r * SIDE + i) *
						*tt_at(state, head + i * SIDE + v);
		for (uint64_t k = 0; k < SIDE; k++) {
			double *place = tt_at(state, head + k * SIDE + v);

			*place *= *tt_at(in[LAST_DECAY], n);
			for (uint64_t i = 0; i < SIDE; i++)
				*place += *tt_at(in[K_DECAY], at + k * SIDE + i) * fresh[i];
		}
	}
}

static tt_status golden_seq(struct tt_golden *golden)
{
	const struct tt_array *in[SEQ_INPUTS];
	struct tt_array *out, *state;
	uint32_t heads;

	for (int i = 0; i < SEQ_INPUTS; i++)
		in[i] = tt_golden_in(golden, seq_inputs[i].name);
	TT_GOLDEN_NEED(in[V_BETA] && in[V_BETA]->shape.rank == 4);
	heads = in[V_BETA]->shape.dim[0];
	out = tt_golden_out(golden, &in[V_BETA]->shape, TTNN_FLOAT32);
	state = tt_golden_out(golden, &(struct ttnn_shape){3, {heads, SIDE, SIDE}}, TTNN_FLOAT32);
	TT_GOLDEN_NEED(out && state);
	for (uint64_t i = 0; in[SEQ_STATE] && i < state->count; i++)
		*tt_at(state, i) = *tt_at(in[SEQ_STATE], i);
	for (uint64_t n = 0; n < out->count / (SIDE * SIDE); n++)
		golden_chunk(in, out, state, n);
	return TTNN_OK;
}

static const struct tt_op ops[] = {
	{.name = "ttnn.transformer.gated_delta_attn_seq",
	 .doc = "Gated delta nets, chunk after chunk: what is left when matrices of chunks are known.",
	 .sigs = {"L_unit: Tensor, v_beta_sc: Tensor, k_bd_sc: Tensor, intra_attn: Tensor, "
		  "q_decay: Tensor, k_decay_t: Tensor, dl_exp: Tensor, L_inv: Tensor, *, "
		  "initial_state: Tensor? = None, memory_config: MemoryConfig? = None, "
		  "compute_kernel_config: ComputeConfig? = None"},
	 .expand = seq_expand,
	 .golden = golden_seq,
	 .gives = "Tensor, Tensor",
	 TT_PROGRAMS(&seq_program)},
};

const struct tt_op_family tt_family_delta_rule = {"delta_rule", ops, TT_COUNT(ops)};
