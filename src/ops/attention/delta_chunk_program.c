/*
 * delta_chunk_program.c: what the device runs for gated delta nets in chunks: one program for the parts of chunks and one that goes
 * through them, or one for both, on cores of two kinds or on one for each head.
 *
 * Models ChunkGdnPrepOperation, ChunkGdnScanOperation and ChunkGdnDeviceOperation of ttnn 0.81: specs, refusals, memory, cores.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "ops/attention/delta_chunk.h"
#include "ops/compute.h"
#include "ops/movement/movement.h"
#include "ops/objects.h"
#include "ops/op_enums.h"

#define SHAPE                                                                                      \
	{.name = "BH"}, {.name = "num_chunks"}, {.name = "chunk_size"}, {.name = "key_dim"},       \
	{                                                                                          \
		.name = "val_dim"                                                                  \
	}
#define FLAT                                                                                       \
	{.name = "v_flat"}, {.name = "HV"}, {.name = "qk_flat"}, {.name = "Hk"},                   \
		{.name = "qk_norm"},                                                               \
	{                                                                                          \
		.name = "scale"                                                                    \
	}
#define ENDS                                                                                       \
	{.name = "output_mem_config"},                                                             \
	{                                                                                          \
		.name = "compute_kernel_config"                                                    \
	}

static const struct tt_field prep_fields[] = {
	SHAPE, FLAT, {.name = "prep_serial"}, {.name = "tinv"}, ENDS};
enum { PREP_SERIAL = TT_DELTA_SHAPE_ATTRS, PREP_INVERSE, PREP_MEMORY, PREP_COMPUTE, PREP_ATTRS };
static const struct tt_schema prep_schema = {"ChunkGdnPrepParams", prep_fields, PREP_ATTRS, false};

static const struct tt_field scan_fields[] = {SHAPE,
					      {.name = "output_final_state"},
					      {.name = "use_mcast"},
					      {.name = "force_serial"},
					      ENDS};
enum {
	SCAN_FINAL = TT_DELTA_VALUE + 1,
	SCAN_MCAST,
	SCAN_SERIAL,
	SCAN_MEMORY,
	SCAN_COMPUTE,
	SCAN_ATTRS
};
static const struct tt_schema scan_schema = {"ChunkGdnScanParams", scan_fields, SCAN_ATTRS, false};

static const struct tt_field one_fields[] = {{.name = "impl"},
					     SHAPE,
					     FLAT,
					     {.name = "np"},
					     {.name = "nv"},
					     {.name = "nbuf"},
					     {.name = "unicast"},
					     {.name = "posted"},
					     {.name = "handoff_checks"},
					     {.name = "handoff_fault"},
					     {.name = "placement"},
					     {.name = "pool_extra_num"},
					     {.name = "pool_extra_den"},
					     {.name = "tinv"},
					     {.name = "output_final_state"},
					     ENDS};
enum {
	ONE_IMPL,
	ONE_PRODUCERS = 1 + TT_DELTA_SHAPE_ATTRS,
	ONE_RECEIVERS,
	ONE_DEPTH,
	ONE_UNICAST,
	ONE_POSTED,
	ONE_CHECKS,
	ONE_FAULT,
	ONE_PLACEMENT,
	ONE_EXTRA,
	ONE_EXTRA_OF,
	ONE_INVERSE,
	ONE_FINAL,
	ONE_MEMORY,
	ONE_COMPUTE,
	ONE_ATTRS
};
static const struct tt_schema one_schema = {"ChunkGdnParams", one_fields, ONE_ATTRS, false};

enum { MONO, FUSED };
static const struct tt_enum_row impl_rows[] = {{MONO, "Mono"}, {FUSED, "Fused"}};
static const struct tt_enum impl_enum = {"ChunkGdnImpl", impl_rows, TT_COUNT(impl_rows)};
enum { HORNER, SFPU };
static const struct tt_enum_row inverse_rows[] = {{HORNER, "HORNER"}, {SFPU, "SFPU_FP32"}};
static const struct tt_enum inverse_enum = {"GdnTinv", inverse_rows, TT_COUNT(inverse_rows)};
enum { AUTO, BY_HORNER, BY_SUBSTITUTION }; /* of ChunkGdnWyInverse */

static bool is_mono(const struct tt_launch *launch)
{
	return launch->attrs[ONE_IMPL].integer == MONO;
}

/* ---- specs and refusals ----------------------------------------------------------------------------------------- */

static uint32_t shape_of(const struct tt_launch *launch, int attr)
{
	return (uint32_t)tt_delta_shape(launch)[attr].integer;
}

static tt_status prep_infer(struct tt_launch *launch)
{
	uint32_t heads = shape_of(launch, TT_DELTA_HEADS), chunk = shape_of(launch, TT_DELTA_CHUNK);
	uint32_t chunks = shape_of(launch, TT_DELTA_CHUNKS), key = shape_of(launch, TT_DELTA_KEY);
	uint32_t value = shape_of(launch, TT_DELTA_VALUE);
	const uint32_t sizes[TT_DELTA_PARTS][2] = {{chunk, value}, {chunk, key}, {chunk, key},
						   {chunk, chunk}, {key, chunk}, {TT_TILE, TT_TILE},
						   {chunk, chunk}};

	launch->output_count = TT_DELTA_PARTS;
	for (size_t i = 0; i < TT_DELTA_PARTS; i++) {
		const struct ttnn_shape shape = TT_SHAPE(heads, chunks, sizes[i][0], sizes[i][1]);

		TT_TRY(tt_spec_simple(&launch->specs[i], &shape, TTNN_FLOAT32, TTNN_TILE,
				      launch->attrs[PREP_MEMORY].memory));
	}
	return TTNN_OK;
}

/* What comes out of chunks, in bfloat16 where a core has a head of its own, and the last states. */
static tt_status scan_infer(struct tt_launch *launch)
{
	bool one = launch->prog->attrs == &one_schema;
	const struct ttnn_memory_config *memory =
		launch->attrs[one ? ONE_MEMORY : SCAN_MEMORY].memory;
	uint32_t heads = shape_of(launch, TT_DELTA_HEADS), value = shape_of(launch, TT_DELTA_VALUE);
	const struct ttnn_shape out = TT_SHAPE(heads, shape_of(launch, TT_DELTA_CHUNKS),
					       shape_of(launch, TT_DELTA_CHUNK), value);
	const struct ttnn_shape state = TT_SHAPE(heads, shape_of(launch, TT_DELTA_KEY), value);

	launch->output_count = 2;
	TT_TRY(tt_spec_simple(&launch->specs[0], &out,
			      one && is_mono(launch) ? TTNN_BFLOAT16 : TTNN_FLOAT32, TTNN_TILE,
			      memory));
	return tt_spec_simple(&launch->specs[1], &state, TTNN_FLOAT32, TTNN_TILE, memory);
}

static tt_status check_input(const struct tt_launch *launch, int input, enum ttnn_dtype dtype)
{
	static const char *const names[TT_DELTA_INPUTS] = {
		"q",     "k",      "v",      "g",       "beta",
		"eye_c", "tril_c", "ones_c", "masks_c", "initial_state"};
	const struct ttnn_tensor_spec *spec = &launch->inputs[input]->spec;
	bool gate = input == TT_DELTA_G || input == TT_DELTA_BETA;

	TT_REQUIRE(spec->layout == TTNN_TILE, "t.layout() == Layout::TILE",
		   "chunk_gdn: %s must be TILE layout", names[input]);
	TT_REQUIRE(spec->dtype == dtype || (gate && spec->dtype == TTNN_BFLOAT16),
		   "t.dtype() == dt", "chunk_gdn: %s has wrong dtype", names[input]);
	return TTNN_OK;
}

static tt_status check_compute(const struct ttnn_value *config)
{
	static const char text[] =
		"chunk_gated_delta_rule runs HiFi4 with fp32 destination accumulation and no "
		"approx mode on every path (its recurrent state and WY inverse are fp32); "
		"compute_kernel_config asked for math_fidelity %d (HiFi4 = 4), fp32_dest_acc_en "
		"%s, math_approx_mode %s";
	int fidelity = (int)config->items[TT_COMPUTE_FIDELITY].integer;
	bool fp32 = tt_compute_has(config, TT_COMPUTE_FP32);
	bool approx = tt_compute_has(config, TT_COMPUTE_APPROX);

	TT_REQUIRE(fidelity == TT_HIFI4 && fp32 && !approx,
		   "cfg.math_fidelity == MathFidelity::HiFi4 && cfg.fp32_dest_acc_en && "
		   "!cfg.math_approx_mode",
		   text, fidelity, fp32 ? "true" : "false", approx ? "true" : "false");
	return TTNN_OK;
}

static tt_status check_inverse(const struct tt_launch *launch, int64_t inverse)
{
	if (inverse == HORNER)
		return TTNN_OK;
	TT_REQUIRE(shape_of(launch, TT_DELTA_CHUNK) == TT_TILE,
		   "chunk_size == tt::constants::TILE_HEIGHT",
		   "chunk_gdn: the SFPU WY-inverse solve (wy_inverse=FORWARD_SUBSTITUTION) needs "
		   "chunk_size == 32 (got %u)",
		   shape_of(launch, TT_DELTA_CHUNK));
	TT_REQUIRE(tt_is_blackhole(launch->device),
		   "any_input.device()->arch() == tt::ARCH::BLACKHOLE",
		   "chunk_gdn: the SFPU WY-inverse solve (wy_inverse=FORWARD_SUBSTITUTION) is "
		   "Blackhole-only");
	return TTNN_OK;
}

static tt_status check_tensors(const struct tt_launch *launch)
{
	for (int i = 0; i < TT_DELTA_INPUTS; i++)
		if (i < (int)launch->input_count)
			TT_TRY(check_input(launch, i,
					   i <= TT_DELTA_V ? TTNN_BFLOAT16 : TTNN_FLOAT32));
	TT_REQUIRE(shape_of(launch, TT_DELTA_KEY) % TT_TILE == 0, "attrs.key_dim % TILE_WIDTH == 0",
		   "key_dim must be a multiple of 32");
	TT_REQUIRE(shape_of(launch, TT_DELTA_VALUE) % TT_TILE == 0,
		   "attrs.val_dim % TILE_WIDTH == 0", "val_dim must be a multiple of 32");
	TT_NEED(shape_of(launch, TT_DELTA_KEY) && shape_of(launch, TT_DELTA_VALUE) &&
			shape_of(launch, TT_DELTA_HEADS) && shape_of(launch, TT_DELTA_CHUNKS),
		"chunk_gdn: there is nothing to compute");
	return TTNN_OK;
}

static tt_status prep_validate(struct tt_launch *launch)
{
	TT_TRY(check_tensors(launch));
	TT_TRY(check_inverse(launch, launch->attrs[PREP_INVERSE].integer));
	return check_compute(&launch->attrs[PREP_COMPUTE]);
}

static tt_status scan_choose(uint32_t *out, struct tt_launch *launch)
{
	struct ttnn_core grid = launch->device->info.compute_grid;
	uint32_t heads = shape_of(launch, TT_DELTA_HEADS);

	*out = 0;
	TT_REQUIRE(heads <= grid.x * grid.y, "BH <= ncores",
		   "num_heads %u exceeds compute cores %u", heads, grid.x * grid.y);
	return TTNN_OK;
}

static void need_of(struct tt_delta_need *out, const struct tt_launch *launch)
{
	*out = (struct tt_delta_need){
		.grid = launch->device->info.compute_grid,
		.heads = shape_of(launch, TT_DELTA_HEADS),
		.chunks = shape_of(launch, TT_DELTA_CHUNKS),
		.values = shape_of(launch, TT_DELTA_VALUE) / TT_TILE,
	};
}

static void layout_of(struct tt_delta_layout *out, const struct tt_launch *launch)
{
	*out = (struct tt_delta_layout){
		.producers = tt_attr_u32(launch, ONE_PRODUCERS),
		.receivers = tt_attr_u32(launch, ONE_RECEIVERS),
		.depth = tt_attr_u32(launch, ONE_DEPTH),
		.placement = tt_attr_u32(launch, ONE_PLACEMENT),
	};
}

static tt_status check_mono(const struct tt_launch *launch)
{
	const struct ttnn_value *shape = tt_delta_shape(launch);
	struct ttnn_core grid = launch->device->info.compute_grid;
	uint32_t heads = shape_of(launch, TT_DELTA_HEADS);

	TT_REQUIRE(!shape[TT_DELTA_V_FLAT].boolean && !shape[TT_DELTA_QK_FLAT].boolean &&
			   !shape[TT_DELTA_NORM].boolean,
		   "!attrs.v_flat && !attrs.qk_flat && !attrs.qk_norm",
		   "chunk_gdn: the mono program takes head-major q/k/v only (no flat inputs, no "
		   "in-kernel qk-norm)");
	TT_REQUIRE(heads <= grid.x * grid.y, "attrs.BH <= grid.x * grid.y",
		   "chunk_gdn: the mono program needs one core per head: BH=%u exceeds the %ux%u "
		   "grid",
		   heads, grid.x, grid.y);
	return TTNN_OK;
}

static tt_status one_validate(struct tt_launch *launch)
{
	struct tt_delta_layout layout;
	struct tt_delta_need need;

	TT_TRY(check_tensors(launch));
	TT_TRY(check_inverse(launch, launch->attrs[ONE_INVERSE].integer));
	if (is_mono(launch)) {
		TT_TRY(check_mono(launch));
		return check_compute(&launch->attrs[ONE_COMPUTE]);
	}
	need_of(&need, launch);
	layout_of(&layout, launch);
	TT_REQUIRE(need.values % layout.receivers == 0, "Vt % attrs.nv == 0",
		   "chunk_gdn_fused: nv (%u) must divide Vt (%u)", layout.receivers, need.values);
	TT_REQUIRE(need.heads * layout.depth <= 1024, "attrs.BH * attrs.nbuf <= 1024",
		   "chunk_gdn_fused: BH * nbuf (%u * %u) credit words exceed the 1024-word credit "
		   "tile",
		   need.heads, layout.depth);
	TT_REQUIRE(layout.placement != TT_DELTA_ROW_BY_ROW ||
			   layout.receivers + layout.producers <= need.grid.x,
		   "L <= grid.x",
		   "chunk_gdn_fused: row-local placement needs NV+NP=%u <= grid.x=%u",
		   layout.receivers + layout.producers, need.grid.x);
	return check_compute(&launch->attrs[ONE_COMPUTE]);
}

static tt_status one_choose(uint32_t *out, struct tt_launch *launch)
{
	*out = is_mono(launch) ? MONO : FUSED;
	return TTNN_OK;
}

/* ---- memory -------------------------------------------------------------------------------------------------------- */

/* So many cores, row after row, each a range by itself; `in_row` of them side by side. */
static tt_status rows_of_cores(const ttnn_core_set **out, const struct tt_launch *launch,
			       uint64_t count, uint32_t in_row)
{
	struct ttnn_core_range *ranges = tt_arena_calloc(launch->arena, count + 1, sizeof(*ranges));

	TT_NEED_MEMORY(ranges);
	for (uint32_t i = 0; i < count; i++)
		ranges[i].start = ranges[i].end = (struct ttnn_core){i % in_row, i / in_row};
	return ttnn_core_set_make(out, ranges, count);
}

/* Sizes in tiles: a chunk squared, with keys, with values; keys with values. */
struct tiles {
	uint64_t chunk, square, keys, values, state;
};

static struct tiles tiles_of(const struct tt_launch *launch, uint64_t receivers)
{
	uint64_t chunk = shape_of(launch, TT_DELTA_CHUNK) / TT_TILE;
	uint64_t keys = shape_of(launch, TT_DELTA_KEY) / TT_TILE;
	uint64_t values = shape_of(launch, TT_DELTA_VALUE) / TT_TILE / receivers;

	return (struct tiles){chunk, chunk * chunk, chunk * keys, chunk * values, keys * values};
}

/* Where buffers are put, and the index of the next. */
struct shelf {
	struct tt_plan *plan;
	const struct tt_launch *launch;
	const ttnn_core_set *cores;
	uint32_t next;
};
#define SMALL (UINT64_C(1) << 63) /* bfloat16 */

/* A circular buffer for each number of tiles, in order. */
static tt_status put_buffers(struct shelf *shelf, const uint64_t *tiles, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t page =
			tiles[i] & SMALL ? tt_page_bf16(shelf->launch) : tt_page_f32(shelf->launch);

		TT_TRY(TT_PLAN(
			shelf->plan, shelf->cores,
			TT_CB_ROW(shelf->next++, NULL, .pages = tiles[i] & ~SMALL, .page = page)));
	}
	return TTNN_OK;
}
#define PUT(shelf, ...)                                                                            \
	put_buffers(shelf, (const uint64_t[]){__VA_ARGS__},                                        \
		    TT_COUNT(((const uint64_t[]){__VA_ARGS__})))

static tt_status prep_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct ttnn_core grid = launch->device->info.compute_grid;
	uint64_t heads = shape_of(launch, TT_DELTA_HEADS), cores = (uint64_t)grid.x * grid.y;
	uint64_t work = heads * shape_of(launch, TT_DELTA_CHUNKS);
	const struct tiles t = tiles_of(launch, 1);
	const ttnn_core_set *set;

	if (launch->attrs[PREP_SERIAL].boolean && heads < cores)
		cores = heads;
	TT_TRY(rows_of_cores(&set, launch, work < cores ? work : cores, grid.x));
	return PUT((&(struct shelf){plan, launch, set, 0}), t.keys | SMALL, t.keys | SMALL,
		   t.values | SMALL, t.chunk, t.chunk, t.square, t.square, t.square, 1, t.chunk,
		   t.chunk, t.chunk + 1, t.square, 2 * t.square, 2 * t.values, t.keys, t.keys, 3,
		   2 * t.keys, 2 * t.keys, 2 * t.square, 1, 2, 1, 2 * t.keys, t.keys, t.keys, 1,
		   t.chunk, 1, t.square, 1);
}

/* Among how many cores the values of a head are shared out: as many as there are, side by side if they get the rest together. */
static uint32_t receivers_of(const struct tt_launch *launch, uint64_t heads)
{
	struct ttnn_core grid = launch->device->info.compute_grid;
	uint32_t values = shape_of(launch, TT_DELTA_VALUE) / TT_TILE;
	bool together = launch->attrs[SCAN_MCAST].boolean;

	if (launch->attrs[SCAN_SERIAL].boolean)
		return 1;
	for (uint32_t parts = values; parts > 1; parts--)
		if (values % parts == 0 && heads * parts <= (uint64_t)grid.x * grid.y &&
		    !(together && (parts > grid.x || heads > grid.x / parts * grid.y)))
			return parts;
	return 1;
}

static tt_status scan_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	uint64_t heads = shape_of(launch, TT_DELTA_HEADS);
	uint32_t parts = receivers_of(launch, heads), in_row = launch->device->info.compute_grid.x;
	const ttnn_core_set *cores;
	struct tiles t;

	if (launch->attrs[SCAN_MCAST].boolean)
		in_row = in_row / parts * parts;
	TT_TRY(rows_of_cores(&cores, launch, heads * parts, in_row));
	t = tiles_of(launch, parts);
	return PUT((&(struct shelf){plan, launch, cores, 0}), t.values, t.keys, t.keys, t.square,
		   t.keys, 1, t.square, t.state, t.state, t.state, 2 * t.values, t.state, t.values,
		   t.values, 1);
}

static tt_status mono_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct tiles t = tiles_of(launch, 1);
	const uint64_t sizes[] = {t.square, t.keys, t.values, t.state};
	const ttnn_core_set *cores;
	uint64_t most = 0;

	for (size_t i = 0; i < TT_COUNT(sizes); i++)
		most = sizes[i] > most ? sizes[i] : most;
	TT_TRY(tt_delta_cores(&cores, launch, shape_of(launch, TT_DELTA_HEADS)));
	return PUT((&(struct shelf){plan, launch, cores, 0}), t.keys | SMALL, t.keys | SMALL,
		   t.values | SMALL, t.chunk, t.chunk, t.square, t.square, t.square, 2 * t.state,
		   t.chunk, t.chunk, t.chunk, t.square, t.square, t.values, t.keys,
		   (2 * t.values) | SMALL, t.values, t.keys, t.keys, t.square, 2 * t.state,
		   t.values, t.values, t.keys, t.state, t.state, t.state, most, most, most,
		   2 * t.state);
}

static tt_status set_of(const ttnn_core_set **out, const struct tt_launch *launch,
			const struct ttnn_core *cores, size_t count)
{
	struct ttnn_core_range *ranges = tt_arena_calloc(launch->arena, count + 1, sizeof(*ranges));

	TT_NEED_MEMORY(ranges);
	for (size_t i = 0; i < count; i++)
		ranges[i].start = ranges[i].end = cores[i];
	TT_TRY(ttnn_core_set_make(out, ranges, count));
	return tt_core_set_merge(out, *out, NULL);
}

/* Both kinds of cores have what goes from one to the other in the same places. */
static tt_status fused_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const ttnn_core_set *all, *receivers, *producers;
	struct tt_delta_layout layout;
	struct tt_delta_need need;
	struct ttnn_core *cores;
	size_t counts[2], most;
	struct tiles t, own;

	need_of(&need, launch);
	layout_of(&layout, launch);
	most = (size_t)need.grid.x * need.grid.y;
	cores = tt_arena_calloc(launch->arena, 2 * most + 1, sizeof(*cores));
	TT_NEED_MEMORY(cores);
	TT_TRY(tt_delta_place(cores, cores + most, counts, &need, &layout));
	TT_TRY(set_of(&receivers, launch, cores, counts[0]));
	TT_TRY(set_of(&producers, launch, cores + most, counts[1]));
	TT_TRY(tt_core_set_merge(&all, receivers, producers));
	t = tiles_of(launch, 1);
	own = tiles_of(launch, layout.receivers);
	TT_TRY(PUT((&(struct shelf){plan, launch, all, 0}), t.values * layout.depth,
		   t.keys * layout.depth, t.keys * layout.depth, t.square * layout.depth,
		   t.keys * layout.depth, layout.depth, t.square * layout.depth, 4));
	TT_TRY(PUT((&(struct shelf){plan, launch, producers, 8}), (2 * t.keys) | SMALL,
		   (2 * t.keys) | SMALL, (2 * t.values) | SMALL, 2 * t.chunk, 2 * t.chunk, t.square,
		   t.square, t.square, 1, t.chunk, t.chunk, t.chunk + 1, t.square, t.keys, t.keys,
		   1, 1, t.keys, t.keys, 1, t.chunk, 1, t.square, 1));
	return PUT((&(struct shelf){plan, launch, receivers, 8}), own.state, own.values,
		   2 * own.values, own.state, own.values, own.state, 1, own.state);
}

/* ---- programs ---------------------------------------------------------------------------------------------------- */

#define DIRECT(name)                                                                               \
	"ttnn::device_operation::MeshDeviceOperationAdapter<ttnn::prim::" name                     \
	">::DirectDescriptorFactory"
static const struct tt_prog prep_program = {
	.device_op = "ChunkGdnPrepOperation",
	.prim = "ttnn::prim::chunk_gdn_prep",
	.attrs = &prep_schema,
	.infer = prep_infer,
	.validate = prep_validate,
	TT_FACTORY("ttnn::prim::ChunkGdnPrepProgramFactory", prep_memory),
	TT_KERNEL(tt_delta_prep_kernel),
	.drops_forward = true,
};
static const struct tt_prog scan_program = {
	.device_op = "ChunkGdnScanOperation",
	.prim = "ttnn::prim::chunk_gdn_scan",
	.attrs = &scan_schema,
	.infer = scan_infer,
	.choose = scan_choose,
	TT_FACTORY("ttnn::prim::ChunkGdnScanProgramFactory", scan_memory),
	TT_KERNEL(tt_delta_scan_kernel),
	.drops_forward = true,
};
static const struct tt_factory one_factories[] = {
	[MONO] = {.name = "ttnn::prim::ChunkGdnMonoProgramFactory", .memory = mono_memory},
	[FUSED] = {.name = "ttnn::prim::ChunkGdnFusedProgramFactory", .memory = fused_memory},
};
static const struct tt_prog one_program = {
	.device_op = "ChunkGdnDeviceOperation",
	.prim = "ttnn::prim::chunk_gdn",
	.attrs = &one_schema,
	.infer = scan_infer,
	.validate = one_validate,
	.choose = one_choose,
	TT_FACTORIES(one_factories),
	TT_KERNEL(tt_delta_chunk_kernel),
	.drops_forward = true,
};
const struct tt_prog *const tt_delta_programs[] = {&prep_program, &scan_program, &one_program,
						   NULL};

/* ---- launching --------------------------------------------------------------------------------------------------- */

static const struct ttnn_value *field(const struct tt_delta_chunks *chunks, int which)
{
	static const struct ttnn_value none;

	return chunks->config->kind == TTNN_VALUE_OBJECT ? &chunks->config->items[which] : &none;
}

static struct ttnn_value inverse_of(const struct tt_delta_chunks *chunks)
{
	const struct ttnn_value *wanted = tt_call_arg(chunks->call, "wy_inverse");
	bool solved = wanted->integer == BY_SUBSTITUTION ||
		      (wanted->integer == AUTO && tt_is_blackhole(chunks->call->device) &&
		       chunks->shape[TT_DELTA_CHUNK].integer == TT_TILE);

	return tt_value_enum(&inverse_enum, solved ? SFPU : HORNER);
}

static tt_status run_two(struct tt_delta_chunks *chunks)
{
	bool given = chunks->config->kind == TTNN_VALUE_OBJECT;
	struct tt_tensor *parts[TT_OUTPUTS_MAX] = {NULL};
	struct ttnn_value prep[PREP_ATTRS], scan[SCAN_ATTRS];
	size_t count = 0, two = 2;
	tt_status status;

	for (int i = 0; i < TT_DELTA_SHAPE_ATTRS; i++)
		prep[i] = chunks->shape[i];
	for (int i = 0; i < SCAN_FINAL; i++)
		scan[i] = chunks->shape[i];
	prep[PREP_SERIAL] = ttnn_v_bool(given && field(chunks, TT_DELTA_PREP_SERIAL)->boolean);
	prep[PREP_INVERSE] = inverse_of(chunks);
	prep[PREP_MEMORY] = scan[SCAN_MEMORY] = chunks->memory;
	prep[PREP_COMPUTE] = scan[SCAN_COMPUTE] = chunks->compute;
	scan[SCAN_FINAL] = ttnn_v_bool(chunks->final);
	scan[SCAN_MCAST] = ttnn_v_bool(!given || field(chunks, TT_DELTA_MCAST)->boolean);
	scan[SCAN_SERIAL] = ttnn_v_bool(given && field(chunks, TT_DELTA_SCAN_SERIAL)->boolean);
	TT_TRY(tt_call_programs(parts, &count, chunks->call,
				&(struct tt_program_args){.prog = &prep_program,
							  .attrs = prep,
							  .inputs = chunks->inputs,
							  .input_count = TT_DELTA_STATE}));
	parts[TT_DELTA_PARTS] = chunks->inputs[TT_DELTA_STATE];
	status = tt_call_programs(chunks->results, &two, chunks->call,
				  &(struct tt_program_args){.prog = &scan_program,
							    .attrs = scan,
							    .inputs = parts,
							    .input_count = TT_DELTA_PARTS + 1});
	tt_call_drop_all(chunks->call, parts, TT_DELTA_PARTS);
	return status;
}

/* What of a layout is given, checked in upstream's order. */
static tt_status read_config(struct tt_delta_need *need, const struct tt_delta_chunks *chunks)
{
	const struct ttnn_value *producers = field(chunks, TT_DELTA_PRODUCERS);
	const struct ttnn_value *receivers = field(chunks, TT_DELTA_RECEIVERS);
	const struct ttnn_value *depth = field(chunks, TT_DELTA_DEPTH);
	const struct ttnn_value *pool = field(chunks, TT_DELTA_POOL);
	const struct ttnn_value *local = field(chunks, TT_DELTA_ROW_LOCAL);
	const struct ttnn_value *share = field(chunks, TT_DELTA_SHARE);
	double part = 0;

	TT_REQUIRE(!tt_value_given(producers) || producers->integer >= 1,
		   "!fused_cfg->num_producers.has_value() || np_pin >= 1",
		   "chunk_gdn_fused: num_producers must be >= 1 (got %u)",
		   (uint32_t)producers->integer);
	TT_REQUIRE(!tt_value_given(receivers) || receivers->integer >= 1,
		   "!fused_cfg->num_receivers.has_value() || nv_pin >= 1",
		   "chunk_gdn_fused: num_receivers must be >= 1 (got %u)",
		   (uint32_t)receivers->integer);
	TT_REQUIRE(!tt_value_given(depth) || (depth->integer >= 1 && depth->integer <= 8),
		   "!fused_cfg->handoff_depth.has_value() || (nbuf_pin >= 1 && nbuf_pin <= 8)",
		   "chunk_gdn_fused: handoff_depth must be in [1, 8] (got %u)",
		   (uint32_t)depth->integer);
	TT_REQUIRE(!tt_value_number(&part, share) || (part >= 0 && part <= 1),
		   "!share.has_value() || (*share >= 0.0f && *share <= 1.0f)",
		   "chunk_gdn_fused: pool_extra_share must be in [0, 1] (got %g)", part);
	need->producers = (uint32_t)producers->integer;
	need->receivers = (uint32_t)receivers->integer;
	need->depth = (uint32_t)depth->integer;
	need->pool = tt_value_given(pool) ? pool->boolean : -1;
	need->local = tt_value_given(local) ? local->boolean : -1;
	return TTNN_OK;
}

static tt_status choose_layout(struct tt_delta_layout *out, const struct tt_delta_chunks *chunks,
			       struct tt_delta_need *need)
{
	const struct ttnn_value *share = field(chunks, TT_DELTA_SHARE);
	double part;
	bool pays;

	TT_TRY(read_config(need, chunks));
	TT_REQUIRE(tt_delta_choose(out, &pays, need), "choice.nv >= 1",
		   "chunk_gdn_fused: no fused geometry fits BH=%u on a %ux%u grid with "
		   "num_receivers=%u num_producers=%u producer_pool=%s (0 / free = unset); the "
		   "dispatch must choose phased",
		   need->heads, need->grid.x, need->grid.y, need->receivers, need->producers,
		   need->pool < 0 ? "free"
		   : need->pool   ? "true"
				  : "false");
	if (out->extra && tt_value_number(&part, share))
		out->extra = (uint32_t)lround(part * out->producers);
	if (out->placement != TT_DELTA_SHARED_POOL && need->local >= 0)
		out->placement = need->local ? TT_DELTA_ROW_BY_ROW : TT_DELTA_ROW_MAJOR;
	TT_REQUIRE(!field(chunks, TT_DELTA_POSTED)->boolean ||
			   field(chunks, TT_DELTA_UNICAST)->boolean,
		   "!attrs.posted || attrs.unicast",
		   "chunk_gdn_fused: posted writes require the unicast transport (unicast=true)");
	return TTNN_OK;
}

static tt_status run_one(struct tt_delta_chunks *chunks, struct tt_delta_need *need, int impl)
{
	struct tt_delta_layout layout = {1, 1, 2, TT_DELTA_ROW_MAJOR, 0, 1};
	struct ttnn_value attrs[ONE_ATTRS] = {[ONE_IMPL] = tt_value_enum(&impl_enum, impl)};
	bool given = impl == FUSED && chunks->config->kind == TTNN_VALUE_OBJECT;
	size_t count = 2;

	if (impl == FUSED)
		TT_TRY(choose_layout(&layout, chunks, need));
	TT_REQUIRE(impl == FUSED ||
			   tt_call_arg(chunks->call, "wy_inverse")->integer != BY_SUBSTITUTION,
		   "wy_inverse != ttnn::transformer::ChunkGdnWyInverse::FORWARD_SUBSTITUTION",
		   "chunk_gdn: the mono program computes the WY inverse with Horner only; "
		   "wy_inverse=FORWARD_SUBSTITUTION is not available on it (use HORNER or AUTO)");
	for (int i = 0; i < TT_DELTA_SHAPE_ATTRS; i++)
		attrs[1 + i] = chunks->shape[i];
	attrs[ONE_PRODUCERS] = ttnn_v_int(layout.producers);
	attrs[ONE_RECEIVERS] = ttnn_v_int(layout.receivers);
	attrs[ONE_DEPTH] = ttnn_v_int(layout.depth);
	attrs[ONE_UNICAST] = ttnn_v_bool(!given || field(chunks, TT_DELTA_UNICAST)->boolean);
	attrs[ONE_POSTED] = ttnn_v_bool(given && field(chunks, TT_DELTA_POSTED)->boolean);
	attrs[ONE_CHECKS] = ttnn_v_bool(given && field(chunks, TT_DELTA_CHECKS)->boolean);
	attrs[ONE_FAULT] = ttnn_v_int(given ? field(chunks, TT_DELTA_FAULT)->integer : 0);
	attrs[ONE_PLACEMENT] = ttnn_v_int(layout.placement);
	attrs[ONE_EXTRA] = ttnn_v_int(layout.extra);
	attrs[ONE_EXTRA_OF] = ttnn_v_int(layout.extra_of);
	attrs[ONE_INVERSE] =
		impl == FUSED ? inverse_of(chunks) : tt_value_enum(&inverse_enum, HORNER);
	attrs[ONE_FINAL] = ttnn_v_bool(chunks->final);
	attrs[ONE_MEMORY] = chunks->memory;
	attrs[ONE_COMPUTE] = chunks->compute;
	return tt_call_programs(chunks->results, &count, chunks->call,
				&(struct tt_program_args){.prog = &one_program,
							  .attrs = attrs,
							  .inputs = chunks->inputs,
							  .input_count = TT_DELTA_INPUTS});
}

tt_status tt_delta_run(struct tt_delta_chunks *chunks)
{
	struct tt_delta_need need = {
		.grid = chunks->call->device->info.compute_grid,
		.heads = (uint32_t)chunks->shape[TT_DELTA_HEADS].integer,
		.chunks = (uint32_t)chunks->shape[TT_DELTA_CHUNKS].integer,
		.values = (uint32_t)chunks->shape[TT_DELTA_VALUE].integer / TT_TILE,
		.pool = -1,
		.local = -1,
	};
	const struct tt_schema *schema =
		chunks->config->kind == TTNN_VALUE_OBJECT ? chunks->config->schema : NULL;
	struct tt_delta_layout layout;
	bool pays;

	if (schema == &tt_schema_delta_mono)
		return run_one(chunks, &need, MONO);
	if (schema == &tt_schema_delta_fused)
		return run_one(chunks, &need, FUSED);
	TT_NEED(!schema || schema == &tt_schema_delta_phased,
		"program_config is one of ChunkGdnFusedProgramConfig, ChunkGdnPhasedProgramConfig "
		"and ChunkGdnMonoProgramConfig");
	if (!schema && tt_delta_choose(&layout, &pays, &need) && pays)
		return run_one(chunks, &need, FUSED);
	return run_two(chunks);
}
