/*
 * sampling.c: a token for each user, drawn from the most likely ones; manual_seed, which sets the generators that draw.
 *
 * Models SamplingDeviceOperation and ManualSeedDeviceOperation of ttnn 0.81: specs, refusals, memory, cores, which
 * core's generator serves whom. Not modelled: the numbers of a chip's generator, so the same seed draws other tokens.
 */
#include <inttypes.h>
#include <math.h>

#include "backend/backend.h"
#include "golden/golden_reduction.h"
#include "ops/usual.h"
#include "ops/values.h"

/* ---- generators ------------------------------------------------------------------------------------------- */

#define NO_SEED UINT32_MAX /* leaves a generator as it is */
#define USERS_MAX 32

static atomic_uint_least64_t *generator_of(struct tt_device *device, struct ttnn_core core)
{
	uint32_t place = core.y * TT_RANDOM_COLUMNS + core.x;

	return &device->random[place % TT_RANDOM_CORES];
}

/* The next number of a state, from 0 up to 1, and the state behind it (SplitMix64). */
static double draw(uint64_t *state)
{
	uint64_t mixed = *state += UINT64_C(0x9E3779B97F4A7C15);

	mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94D049BB133111EB);
	return ldexp((double)((mixed ^ (mixed >> 31)) >> 40), -24);
}

/* ---- manual_seed -------------------------------------------------------------------------------------------- */

#define SEED_ATTRS(X)                                                                              \
	X(DEVICE, "device")                                                                        \
	X(SEED, "seeds", .unkeyed = true)                                                          \
	X(USER, "user_ids")                                                                        \
	X(SEED_CORES, "sub_core_grids", .text = TT_TEXT_FIXED, .fixed = "<CoreRangeSet>")
TT_ATTRS(seed_schema, "ManualSeedParams", SEED_ATTRS);
enum { SEEDS, USERS };

static tt_status seed_infer(struct tt_launch *launch)
{
	static const struct ttnn_memory_config plain = {.buffer = TTNN_DRAM};

	return tt_spec_simple(&launch->specs[0], &TT_SHAPE(1), TTNN_UINT32, TTNN_ROW_MAJOR, &plain);
}

static uint64_t volume(const struct tt_tensor *tensor)
{
	uint64_t count;

	return ttnn_shape_volume(&count, &tensor->spec.shape) == TTNN_OK ? count : 0;
}

static tt_status check_users(const struct ttnn_tensor_spec *spec)
{
	TT_REQUIRE(spec->dtype == TTNN_UINT32, "user_ids_tensor.dtype() == DataType::UINT32",
		   "User IDs tensor must be of type UINT32.");
	TT_REQUIRE(spec->layout == TTNN_ROW_MAJOR, "user_ids_tensor.layout() == Layout::ROW_MAJOR",
		   "User IDs tensor must have ROW_MAJOR layout.");
	return TTNN_OK;
}

/* A seed for each user, both as one row. */
static tt_status check_seeds(const struct tt_launch *launch)
{
	const struct tt_tensor *seeds = launch->inputs[SEEDS], *users = launch->inputs[USERS];

	TT_REQUIRE(seeds->spec.dtype == TTNN_UINT32, "seeds_tensor.dtype() == DataType::UINT32",
		   "Seeds tensor must be of type UINT32.");
	TT_REQUIRE(seeds->spec.layout == TTNN_ROW_MAJOR,
		   "seeds_tensor.layout() == Layout::ROW_MAJOR",
		   "Seeds tensor must have ROW_MAJOR layout.");
	if (users) {
		TT_TRY(check_users(&users->spec));
		TT_REQUIRE(volume(seeds) == volume(users),
			   "seeds_tensor.logical_volume() == user_ids_tensor.logical_volume()",
			   "Seeds tensor and User IDs tensor must have the same number of "
			   "elements. Got seeds volume: %" PRIu64 " and user_ids volume: %" PRIu64,
			   volume(seeds), volume(users));
		TT_REQUIRE(ttnn_shape_equal(&seeds->spec.shape, &users->spec.shape),
			   "seeds_tensor.logical_shape() == user_ids_tensor.logical_shape()",
			   "Seeds tensor and User IDs tensor must have the same shape.");
		TT_REQUIRE(seeds->spec.shape.rank == 1, "seeds_tensor.logical_shape().rank() == 1",
			   "Seeds tensor and User IDs tensor must be 1-dimensional.");
	}
	TT_REQUIRE(
		!tt_value_given(&launch->attrs[USER]), "!operation_attributes.user_ids.has_value()",
		"Seeds were provided as a tensor, so user_ids must not be provided as a scalar.");
	return TTNN_OK;
}

/* A number for a user is that of a core. */
static tt_status seed_validate(struct tt_launch *launch)
{
	const struct ttnn_value *user = &launch->attrs[USER];

	if (launch->inputs[SEEDS])
		return check_seeds(launch);
	TT_REQUIRE(!tt_value_given(user) || (user->integer >= 0 && user->integer < USERS_MAX),
		   "operation_attributes.user_ids.value() >= 0 && "
		   "operation_attributes.user_ids.value() <= 31",
		   "User IDs scalar must be in the range [0, 31].");
	return TTNN_OK;
}

static const ttnn_core_set *cores_of(const struct tt_launch *launch, size_t attr)
{
	const struct ttnn_value *given = &launch->attrs[attr];

	return given->kind == TTNN_VALUE_CORE_SET ? given->core_set : launch->grid;
}

/* Buffers only if users are in a tensor: a core looks for its own number there. */
static tt_status seed_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	uint64_t page = tt_tile_bytes_of(TTNN_UINT32);
	struct tt_tensor *users = launch->inputs[USERS], *seeds = launch->inputs[SEEDS];

	return TT_PLAN(plan, cores_of(launch, SEED_CORES),
		       TT_DFB_ROW(0, "user_ids", .pages = users != NULL, .page = page),
		       TT_DFB_ROW(1, "seeds", .pages = users && seeds, .page = page),
		       TT_DFB_ROW(2, "kernel_communication", .pages = users != NULL, .page = page));
}

static const struct tt_factory seed_factories[] = {
	{"ttnn::prim::ManualSeedSingleSeedToAllCoresProgramFactory", seed_memory},
	{"ttnn::prim::ManualSeedSingleSeedSingleCoreProgramFactory", seed_memory},
	{"ttnn::prim::ManualSeedSingleSeedSetCoresProgramFactory", seed_memory},
	{"ttnn::prim::ManualSeedSetSeedsSetCoresProgramFactory", seed_memory},
};

static tt_status seed_choose(uint32_t *out, struct tt_launch *launch)
{
	if (launch->inputs[USERS])
		*out = launch->inputs[SEEDS] ? 3 : 2;
	else
		*out = tt_value_given(&launch->attrs[USER]);
	return TTNN_OK;
}

/* The user's core is the one at its place in the grid. */
static void seed_core(const struct tt_launch *launch, uint64_t user, uint64_t seed)
{
	const ttnn_core_set *cores = cores_of(launch, SEED_CORES);

	if (seed == NO_SEED || user >= ttnn_core_set_cores(cores))
		return;
	atomic_store(
		generator_of(launch->device, tt_core_set_at(cores, user, TTNN_ORIENT_ROW_MAJOR)),
		seed);
}

/* Sets the generators of the model: by user, or of all cores. */
static tt_status seed_kernel(struct tt_launch *launch)
{
	const struct ttnn_value *seed = &launch->attrs[SEED], *user = &launch->attrs[USER];
	struct tt_tensor *users = launch->inputs[USERS], *seeds = launch->inputs[SEEDS];
	struct tt_tensor *counted = users ? users : seeds;
	uint64_t count = counted ? volume(counted) : 0, all;
	double *numbers = tt_arena_alloc(launch->arena, 2 * (count + 1) * sizeof(*numbers));

	TT_NEED_MEMORY(numbers);
	if (seeds)
		TT_TRY(tt_tensor_numbers(numbers, count, seeds));
	if (users)
		TT_TRY(tt_tensor_numbers(&numbers[count], count, users));
	for (uint64_t i = 0; users && i < count; i++)
		seed_core(launch, (uint64_t)numbers[count + i],
			  (uint64_t)(seeds ? numbers[i] : (double)seed->integer));
	if (users)
		return TTNN_OK;
	if (tt_value_given(user)) {
		seed_core(launch, (uint64_t)user->integer, (uint64_t)seed->integer);
		return TTNN_OK;
	}
	/* Seeds that are nobody's: all get the first one. */
	all = ttnn_core_set_cores(cores_of(launch, SEED_CORES));
	for (uint64_t i = 0; i < all && (count || !seeds); i++)
		seed_core(launch, i, (uint64_t)(seeds ? numbers[0] : (double)seed->integer));
	return TTNN_OK;
}

static const struct tt_prog seed_program = {
	.device_op = "ManualSeedDeviceOperation",
	.prim = "ttnn::prim::manual_seed",
	.attrs = &seed_schema,
	.infer = seed_infer,
	.validate = seed_validate,
	.choose = seed_choose,
	TT_FACTORIES(seed_factories),
	TT_KERNEL(seed_kernel),
};

/* A plain seed has no tensor to know a device by: it must be given. */
static tt_status seed_expand(struct tt_call *call)
{
	const struct ttnn_value *seeds = tt_call_arg(call, "seeds");
	const struct ttnn_value *device = tt_call_arg(call, "device");
	const struct ttnn_value *users = tt_call_arg(call, "user_ids");
	bool one_seed = seeds->kind != TTNN_VALUE_TENSOR,
	     one_user = users->kind != TTNN_VALUE_TENSOR;
	struct tt_device *where = device->kind == TTNN_VALUE_DEVICE ? device->device : NULL;

	TT_REQUIRE(!one_seed || where, "device.has_value()",
		   "Device must be provided when seeds is a uint32_t value.");
	TT_REQUIRE(!one_seed || (seeds->integer >= 0 && seeds->integer <= UINT32_MAX),
		   "seeds <= UINT32_MAX", "A seed is from 0 to %u, not %" PRId64, UINT32_MAX,
		   seeds->integer);
	if (!where)
		where = tt_tensor_device(tt_call_tensor(call, "seeds"));
	TT_REQUIRE(where, "tt::exception", "Device Operations expect device tensors as inputs");
	call->device = where;
	return TT_LAUNCH_RETURN(
		call, &seed_program,
		TT_INPUTS(tt_call_tensor(call, "seeds"), tt_call_tensor(call, "user_ids")),
		TT_BIND(call, seed_schema, [DEVICE] = ttnn_v_device(where),
			[SEED] = one_seed ? *seeds : ttnn_v_none(),
			[USER] = one_user ? *users : ttnn_v_none()));
}

/* ---- sampling ----------------------------------------------------------------------------------------------- */

#define ATTRS(X)                                                                                   \
	X(DRAW_SEED, "seed")                                                                       \
	X(CORES, "sub_core_grids", .text = TT_TEXT_FIXED, .fixed = "<CoreRangeSet>")
TT_ATTRS(schema, "SamplingParams", ATTRS);
enum { VALUES, INDICES, K, P, TEMPERATURE };
#define MOST_K 32

/* One token for each user. */
static tt_status sampling_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[VALUES]->spec;

	if (tt_infer_given(launch, 0))
		return TTNN_OK;
	return tt_spec_simple(&launch->specs[0], &TT_SHAPE(1, 1, 1, tt_shape_last(&in->shape, 2)),
			      TTNN_UINT32, TTNN_ROW_MAJOR, &in->memory);
}

static bool is_index(const struct tt_tensor *tensor)
{
	return tensor->spec.dtype == TTNN_UINT32 || tensor->spec.dtype == TTNN_INT32;
}

static bool is_interleaved(const struct tt_tensor *tensor)
{
	return tensor->spec.memory.layout == TTNN_INTERLEAVED;
}

/* Values in tiles, indices in rows. */
static tt_status check_inputs(const struct tt_launch *launch)
{
	const struct tt_tensor *values = launch->inputs[VALUES], *indices = launch->inputs[INDICES];

	TT_REQUIRE(is_interleaved(values),
		   "input_values_tensor.memory_config().memory_layout() == "
		   "TensorMemoryLayout::INTERLEAVED",
		   "Only INTERLEAVED memory layout is supported for inputs!");
	TT_REQUIRE(values->spec.dtype == TTNN_BFLOAT16,
		   "input_values_tensor.dtype() == DataType::BFLOAT16",
		   "Only BFLOAT16 is supported for inputs!");
	TT_REQUIRE(values->spec.layout == TTNN_TILE, "input_values_tensor.layout() == Layout::TILE",
		   "Only TILE_LAYOUT is supported for inputs!");
	TT_REQUIRE(is_interleaved(indices),
		   "input_indices_tensor.memory_config().memory_layout() == "
		   "TensorMemoryLayout::INTERLEAVED",
		   "Only INTERLEAVED memory layout is supported for inputs!");
	TT_REQUIRE(is_index(indices),
		   "input_indices_tensor.dtype() == DataType::UINT32 || "
		   "input_indices_tensor.dtype() == DataType::INT32",
		   "Only UINT32 & INT32 dtypes are supported for input indices!");
	TT_REQUIRE(indices->spec.layout == TTNN_ROW_MAJOR,
		   "input_indices_tensor.layout() == Layout::ROW_MAJOR",
		   "Only ROW_MAJOR is supported for input indices!");
	TT_REQUIRE(ttnn_shape_equal(&indices->spec.shape, &values->spec.shape),
		   "input_indices_tensor.logical_shape() == input_values_tensor.logical_shape()",
		   "Input values and indices must have the same shape!");
	return TTNN_OK;
}

/* At most 32 users; widths whose tiles are a power of two. */
static tt_status check_extents(const struct ttnn_shape *shape)
{
	const uint32_t *dim = shape->dim;
	uint32_t tiles;

	TT_REQUIRE(shape->rank == 4, "input_shape.rank() == 4",
		   "Sampling input_values must be rank-4; got rank %u", shape->rank);
	TT_REQUIRE(dim[0] == 1 && dim[1] == 1, "input_shape[0] == 1 && input_shape[1] == 1",
		   "Sampling requires input dims 0 and 1 (N, C) to be 1; got [%u, %u, %u, %u]!",
		   dim[0], dim[1], dim[2], dim[3]);
	TT_REQUIRE(dim[2] >= 1 && dim[2] <= USERS_MAX, "num_users >= 1 && num_users <= 32",
		   "Sampling currently supports between 1 and 32 users (one core per user); got "
		   "%u!",
		   dim[2]);
	TT_REQUIRE(dim[3] && dim[3] % TT_TILE == 0,
		   "input_shape[3] != 0 && input_shape[3] % 32 == 0",
		   "Input inner dim (%u) must be non-zero and divisible by 32, pad if needed!",
		   dim[3]);
	tiles = dim[3] / TT_TILE;
	TT_REQUIRE(
		(tiles & (tiles - 1)) == 0, "(Wt & (Wt - 1)) == 0",
		"Input inner dim (%u) must yield a power-of-2 number of tiles (Wt = W/32 = %u); "
		"pad W up to the next power-of-2 multiple of 32 (e.g. with -inf values and dummy "
		"indices) if needed!",
		dim[3], tiles);
	return TTNN_OK;
}

/* A row of one token each. */
static tt_status check_output(const struct tt_tensor *out, uint32_t users)
{
	const struct ttnn_shape *shape = &out->spec.shape;
	const uint32_t *dim = shape->dim;

	TT_REQUIRE(is_index(out),
		   "preallocated_output_tensor.value().dtype() == DataType::UINT32 || "
		   "preallocated_output_tensor.value().dtype() == DataType::INT32",
		   "Only UINT32 & INT32 dtypes are supported for outputs!");
	TT_REQUIRE(is_interleaved(out),
		   "preallocated_output_tensor.value().memory_config().memory_layout() == "
		   "TensorMemoryLayout::INTERLEAVED",
		   "Only INTERLEAVED memory layout is supported for outputs!");
	TT_REQUIRE(shape->rank == 4, "sampling_pre_out_shape.rank() == 4",
		   "Sampling preallocated output must be rank-4, got rank %u", shape->rank);
	TT_REQUIRE(dim[0] == 1 && dim[1] == 1 && dim[2] == 1 && dim[3] == users,
		   "sampling_pre_out_shape[3] == input_shape[2]",
		   "Sampling preallocated output logical shape must be [1,1,1,%u] (input dim 2), "
		   "got [%u,%u,%u,%u]",
		   users, dim[0], dim[1], dim[2], dim[3]);
	return TTNN_OK;
}

/* What there is one of for each user. */
static tt_status check_settings(const struct tt_launch *launch, uint32_t users)
{
	static const char *const names[] = {[K] = "k", [P] = "p", [TEMPERATURE] = "temp"};

	TT_REQUIRE(is_index(launch->inputs[K]),
		   "k.dtype() == DataType::UINT32 || k.dtype() == DataType::INT32",
		   "Only UINT32 & INT32 dtypes are supported for k!");
	TT_REQUIRE(launch->inputs[P]->spec.dtype == TTNN_BFLOAT16,
		   "p.dtype() == DataType::BFLOAT16", "Only BFLOAT16 dtypes are supported for p!");
	TT_REQUIRE(launch->inputs[TEMPERATURE]->spec.dtype == TTNN_BFLOAT16,
		   "temp.dtype() == DataType::BFLOAT16",
		   "Only BFLOAT16 dtypes are supported for temp!");
	for (size_t i = K; i <= TEMPERATURE; i++)
		TT_REQUIRE(launch->inputs[i]->spec.layout == TTNN_ROW_MAJOR,
			   "layout() == Layout::ROW_MAJOR",
			   "Only ROW_MAJOR layout is supported for %s!", names[i]);
	for (size_t i = K; i <= TEMPERATURE; i++) {
		const struct ttnn_shape *shape = &launch->inputs[i]->spec.shape;

		TT_REQUIRE(shape->rank == 1 && shape->dim[0] == users,
			   "logical_shape() == Shape({num_users})",
			   "%s must have shape [%u] (one per user)!", names[i], users);
	}
	return TTNN_OK;
}

/* A core for each user. */
static tt_status sampling_validate(struct tt_launch *launch)
{
	const struct ttnn_value *cores = &launch->attrs[CORES];
	const struct ttnn_shape *shape = &launch->inputs[VALUES]->spec.shape;
	uint32_t users = tt_shape_last(shape, 2);

	TT_TRY(check_inputs(launch));
	TT_TRY(check_extents(shape));
	if (cores->kind == TTNN_VALUE_CORE_SET) {
		TT_REQUIRE(tt_core_set_includes(launch->grid, cores->core_set),
			   "device_grid.contains(sub_core_grids)",
			   "Sampling: sub_core_grids must be contained in the device grid");
		TT_REQUIRE(
			ttnn_core_set_cores(cores->core_set) >= users,
			"args.sub_core_grids.value().num_cores() >= num_users",
			"Subcore grid must supply at least num_users (%u) cores, but found %" PRIu64
			"!",
			users, (uint64_t)ttnn_core_set_cores(cores->core_set));
	}
	TT_TRY(check_output(launch->outputs[0], users));
	return check_settings(launch, users);
}

/*
 * Upstream lists the cores' own scratchpads as its hash table does: newest first, turned around whenever it grows, with
 * two other kernels in it before.
 */
static uint32_t listed(uint32_t users, uint32_t place)
{
	enum { FIRST = 11, SECOND = 27 };
	uint32_t newest = users <= FIRST ? 0 : users <= SECOND ? FIRST : SECOND;

	if (place < users - newest)
		return users - 1 - place;
	place -= users - newest;
	if (newest == FIRST)
		return place;
	return place < FIRST ? FIRST - 1 - place : place;
}

/* Each user's core by itself, in the order of upstream's list. */
static tt_status add_scratch(struct tt_plan *plan, const ttnn_core_set *cores, uint32_t users)
{
	for (uint32_t i = 0; i < users; i++) {
		struct ttnn_core core =
			tt_core_set_at(cores, listed(users, i), TTNN_ORIENT_ROW_MAJOR);
		const ttnn_core_set *own;

		TT_TRY(ttnn_core_set_make(&own, &(struct ttnn_core_range){core, core}, 1));
		TT_TRY(TT_PLAN(plan, own,
			       TT_SCRATCH_ROW(0, "output", .pages = 1, .page = 4 * USERS_MAX),
			       TT_SCRATCH_ROW(1, "k", .pages = 1, .page = 4ull * users),
			       TT_SCRATCH_ROW(2, "p", .pages = 1, .page = 2ull * users)));
	}
	return TTNN_OK;
}

/* A core for each user. */
static tt_status user_cores(const ttnn_core_set **out, const struct tt_launch *launch,
			    uint32_t users)
{
	struct ttnn_core_range ranges[USERS_MAX];

	for (uint32_t i = 0; i < users; i++) {
		struct ttnn_core core =
			tt_core_set_at(cores_of(launch, CORES), i, TTNN_ORIENT_ROW_MAJOR);

		ranges[i] = (struct ttnn_core_range){core, core};
	}
	return ttnn_core_set_make(out, ranges, users);
}

/* As in topk: values and places sorted side by side; then sums, and a tile of random numbers. */
static tt_status sampling_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_shape *shape = &launch->inputs[VALUES]->spec.shape;
	uint32_t users = shape->dim[2], width = shape->dim[3] / TT_TILE;
	uint64_t value = tt_page_in0(launch), place = tt_tile_bytes_of(TTNN_UINT16);
	const ttnn_core_set *cores;

	TT_TRY(user_cores(&cores, launch, users));
	TT_TRY(TT_PLAN(plan, cores, TT_DFB_ROW(0, "input_values", .pages = 4, .page = value),
		       TT_DFB_ROW(1, "index", .pages = 4, .page = place),
		       TT_DFB_ROW(2, "scaler_max", .pages = 1, .page = value),
		       TT_DFB_ROW(3, "scaler_sum", .pages = 1, .page = value),
		       TT_DFB_ROW(4, "topk_mask", .pages = 4, .page = value),
		       TT_DFB_ROW(5, "input_transposed", .pages = width, .page = value),
		       TT_DFB_ROW(6, "index_transposed", .pages = width, .page = place),
		       TT_DFB_ROW(7, "values", .pages = 2, .page = value),
		       TT_DFB_ROW(8, "local_vals", .pages = 2, .page = value),
		       TT_DFB_ROW(9, "output_ind", .pages = 2, .page = place),
		       TT_DFB_ROW(10, "cur_max", .pages = 1, .page = value),
		       TT_DFB_ROW(11, "cur_sum", .pages = 1, .page = value),
		       TT_DFB_ROW(12, "rand_tile", .pages = 1, .page = value),
		       TT_DFB_ROW(13, "final_indices_rm", .pages = USERS_MAX,
				  .page = 4ull * shape->dim[3]),
		       TT_DFB_ROW(14, "temp", .pages = 1, .page = 2ull * users)));
	return add_scratch(plan, cores, users);
}

/* ---- drawing --------------------------------------------------------------------------------------------------- */

/* The places of the largest values, largest first, equal ones in order. */
static void find_largest(uint32_t *places, uint32_t count, const double *values, uint32_t width)
{
	uint32_t found = 0;

	for (uint32_t i = 0; i < width; i++) {
		uint32_t at = found;

		while (at && values[i] > values[places[at - 1]])
			at--;
		if (at == count)
			continue;
		if (found < count)
			found++;
		for (uint32_t k = found - 1; k > at; k--)
			places[k] = places[k - 1];
		places[at] = i;
	}
}

/* What decides of a user. */
struct setting {
	uint32_t k;
	double p, scale; /* one by the temperature */
	double chance;
};

/* The likelihoods of the k largest; of these the first ones that make up more than p; of these one. */
static uint32_t choose_token(const double *values, uint32_t width, const struct setting *setting)
{
	uint32_t places[MOST_K], k = setting->k, kept;
	double weights[MOST_K], sum = 0, whole = 0, drawn = 0;

	if (k > width)
		k = width;
	find_largest(places, k, values, width);
	for (uint32_t i = 0; i < k; i++)
		sum += weights[i] = exp((values[places[i]] - values[places[0]]) * setting->scale);
	for (kept = 0; kept < k && !(whole > setting->p); kept++)
		whole += weights[kept] / sum;
	for (uint32_t i = 0; i < kept; i++) {
		drawn += weights[i] / sum / whole;
		if (drawn > setting->chance)
			return places[i];
	}
	return places[0];
}

/* The number of a user's core; a seed starts its generator anew. All chips draw the same. */
static double chance_of(const struct tt_launch *launch, uint32_t user)
{
	const struct ttnn_value *seed = &launch->attrs[DRAW_SEED];
	struct ttnn_core core =
		tt_core_set_at(cores_of(launch, CORES), user, TTNN_ORIENT_ROW_MAJOR);
	atomic_uint_least64_t *generator = generator_of(launch->device, core);
	uint64_t state = atomic_load(generator);
	double chance;

	if (tt_value_given(seed) && seed->integer)
		state = (uint64_t)seed->integer;
	chance = draw(&state);
	if (launch->chip + 1 >= launch->device->rows * launch->device->cols)
		atomic_store(generator, state);
	return chance;
}

/* A k outside of its range is taken as the nearest within. */
static tt_status sampling_kernel(struct tt_launch *launch)
{
	const struct ttnn_shape *shape = &launch->inputs[VALUES]->spec.shape;
	uint32_t users = shape->dim[2], width = shape->dim[3];
	int32_t tokens[USERS_MAX] = {0};
	double *numbers[TEMPERATURE + 1];
	uint64_t count;

	for (size_t i = 0; i <= TEMPERATURE; i++)
		TT_TRY(tt_values_of(&numbers[i], &count, launch, i));
	for (uint32_t user = 0; user < users; user++) {
		double k = numbers[K][user];
		struct setting setting = {.k = k < 1        ? 1
					       : k > MOST_K ? MOST_K
							    : (uint32_t)k,
					  .p = numbers[P][user],
					  .scale = numbers[TEMPERATURE][user],
					  .chance = chance_of(launch, user)};
		uint64_t line = (uint64_t)user * width;
		uint32_t place = choose_token(&numbers[VALUES][line], width, &setting);

		tokens[user] = (int32_t)(int64_t)numbers[INDICES][line + place];
	}
	return tt_values_write(launch->outputs[0], tokens, TTNN_INT32);
}

static const struct tt_prog sampling_program = {
	.device_op = "SamplingDeviceOperation",
	.prim = "ttnn::prim::sampling",
	.attrs = &schema,
	.infer = sampling_infer,
	.validate = sampling_validate,
	TT_FACTORY("ttnn::prim::SamplingProgramFactory", sampling_memory),
	TT_KERNEL(sampling_kernel),
};

/* All five tensors on the device. */
static tt_status sampling_expand(struct tt_call *call)
{
	static const char *const names[] = {"input_values_tensor", "input_indices_tensor", "k", "p",
					    "temp"};
	struct tt_tensor *inputs[TT_COUNT(names)];

	for (size_t i = 0; i < TT_COUNT(names); i++) {
		inputs[i] = tt_call_tensor(call, names[i]);
		TT_REQUIRE(tt_tensor_device(inputs[i]), "tt::exception",
			   "Device Operations expect device tensors as inputs");
	}
	return TT_LAUNCH_RETURN(call, &sampling_program, .inputs = inputs,
				.input_count = TT_COUNT(names),
				TT_OUTPUTS(tt_call_tensor(call, "output_tensor")),
				TT_BIND(call, schema, [DRAW_SEED] = *tt_call_arg(call, "seed")));
}

static const struct tt_op ops[] = {
	{.name = "ttnn.manual_seed",
	 .family = "random",
	 .doc = "Starts the generators of random numbers of cores anew.",
	 .sigs = {"seeds: long | Tensor = 0, *, device: Device ? = None, "
		  "user_ids: int | Tensor ? = None, sub_core_grids: CoreRangeSet ? = None"},
	 .expand = seed_expand},
	{.name = "ttnn.sampling",
	 .family = "sampling",
	 .doc = "A token for each user, drawn from the most likely ones.",
	 .sigs = {"input_values_tensor: Tensor, input_indices_tensor: Tensor, k: Tensor, "
		  "p: Tensor, temp: Tensor, *, seed: long ? = None, "
		  "sub_core_grids: CoreRangeSet ? = None, output_tensor: Tensor ? = None"},
	 .expand = sampling_expand,
	 .golden = tt_golden_sampling,
	 .pcc = 1},
};

const struct tt_op_family tt_family_sampling = {"sampling", ops, TT_COUNT(ops)};
