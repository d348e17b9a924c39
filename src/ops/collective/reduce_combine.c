/*
 * reduce_combine.c: selective_reduce_combine: what experts made of their tokens, packed on cores, back to the chips of the tokens.
 *
 * Models SelectiveReduceCombineDeviceOperation of ttnn 0.81 (experimental/ccl/moe/selective_reduce_combine) with its factory
 * UnifiedSelectReduce: refusals, the cut of a token among cores, one program for each chip with its buffers, two semaphores. Not
 * modelled: routes, and the cores that pass packets on, whose buffers lie outside of what is allocated. Rows of a new result that
 * nobody sends are zeros.
 */
#include <inttypes.h>

#include "backend/backend.h"
#include "base/str.h"
#include "device/devtensor.h"
#include "device/fabric.h"
#include "golden/golden_collective.h"
#include "ops/collective/exchange.h"
#include "ops/collective/reduce_combine.h"
#include "ops/movement/movement.h"
#include "ops/op_enums.h"
#include "tensor/text.h"

TT_ATTRS(schema, "SelectiveReduceCombineParams", TT_REDUCE_COMBINE_ATTRS);

enum { DENSE, ACTIVE, MAPS, COUNTS, INPUTS };

/* ---- how tokens lie on cores -------------------------------------------------------------------------------- */

/* A token is cut into pieces of so many bytes, each on a core; and tokens are dealt out to rows of such cores. */
struct layout {
	uint64_t tokens, experts, piece, pieces, rows;
};

static uint64_t token_count(const struct tt_launch *launch)
{
	return (uint64_t)launch->attrs[BATCH].integer * (uint64_t)launch->attrs[SEQUENCE].integer;
}

tt_status tt_combine_cut_find(struct tt_combine_cut *out, uint64_t bytes, uint64_t cores, bool even)
{
	uint64_t packet = tt_fabric_channel(tt_fabric_of(false)), whole = 1, left;

	while (whole * 2 <= packet)
		whole *= 2;
	packet = even ? whole : packet;
	out->piece = bytes / packet > cores ? bytes / packet : cores;
	out->piece = bytes / out->piece;
	TT_NEED(out->piece, "hidden_size is too small for %" PRIu64 " data-parallel cores", cores);
	out->pieces = bytes / out->piece < cores ? bytes / out->piece : cores;
	left = bytes - out->pieces * out->piece;
	if (left && out->pieces < cores) {
		out->pieces++; /* a shorter one */
		left = 0;
	}
	TT_REQUIRE(!left, "token_size_bytes == 0",
		   "selective_reduce_combine: %" PRIu64
		   " data-parallel core(s) cannot cover the token: %" PRIu64
		   " bytes left over (each segment is limited to %" PRIu64
		   " bytes by the fabric packet size); increase num_data_parallel_cores",
		   cores, left, out->piece);
	return TTNN_OK;
}

static tt_status find_layout(struct layout *out, const struct tt_launch *launch)
{
	uint64_t bytes = tt_attr_u32(launch, WIDTH) * tt_element_bytes(launch->inputs[DENSE]);
	struct tt_combine_cut cut;

	TT_TRY(tt_combine_cut_find(&cut, bytes, tt_attr_u32(launch, DATA_CORES),
				   launch->inputs[DENSE]->spec.dtype == TTNN_BFLOAT16));
	*out = (struct layout){.tokens = token_count(launch),
			       .experts = launch->inputs[MAPS]->spec.shape.dim[0],
			       .piece = cut.piece,
			       .pieces = cut.pieces,
			       .rows = tt_attr_u32(launch, TOKEN_CORES)};
	return TTNN_OK;
}

/* The chips along the axis; upstream takes any but 0 for the other one at first. */
static int64_t axis_of(const struct tt_launch *launch)
{
	return launch->attrs[AXIS].integer != 0;
}

static uint32_t members_of(const struct tt_launch *launch)
{
	return tt_group_size(launch->device, axis_of(launch));
}

/* ---- specs and refusals ------------------------------------------------------------------------------------- */

static tt_status combine_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[DENSE]->spec;
	uint64_t members = members_of(launch);
	struct ttnn_shape shape = {3, {tt_attr_u32(launch, CHOICES)}};

	TT_NEED(token_count(launch) / members <= UINT32_MAX, "there are too many tokens");
	shape.dim[1] = (uint32_t)(token_count(launch) / members);
	shape.dim[2] = tt_attr_u32(launch, WIDTH);
	TT_TRY(tt_spec_simple(&launch->specs[0], &shape, in->dtype, TTNN_ROW_MAJOR,
			      launch->attrs[MEMORY].memory));
	return launch->extra ? tt_create_for_nothing(launch, 0) : TTNN_OK;
}

/* Of each token its number, and for each expert which choice it was and its score; and rows of numbers, one more than tokens. */
static tt_status check_tables(const struct tt_launch *launch)
{
	const struct tt_tensor *active = launch->inputs[ACTIVE], *maps = launch->inputs[MAPS];
	uint64_t experts = maps->spec.shape.dim[0], tokens = token_count(launch);
	uint64_t words = tt_shape_last(&maps->spec.shape, 1), bytes = tt_element_bytes(active);
	uint64_t aligned =
		tt_align_to((2 * experts + 1) * bytes,
			    tt_memory_alignment(launch->device, active->spec.memory.buffer));
	uint64_t l1 = tt_memory_alignment(launch->device, TTNN_L1);

	TT_REQUIRE(
		tt_shape_last(&active->spec.shape, 1) / tokens == aligned / bytes,
		"activations_stride_elm == expected_activations_stride_elm",
		"The token activations tensor is expected to have aligned 2 * experts_per_device "
		"+ 1 elements per token");
	TT_REQUIRE(words % (tokens + 1) == 0, "maps_row_elms % (total_tokens + 1) == 0",
		   "The dense token maps tensor is expected to hold (total_tokens + 1) = %" PRIu64
		   " equally strided token indices per expert, but its last dim (%" PRIu64
		   ") is not a multiple of that",
		   tokens + 1, words);
	bytes = words * tt_element_bytes(maps);
	TT_REQUIRE(
		bytes % l1 == 0,
		"tt::align(maps_row_bytes, tt::tt_metal::hal::get_l1_alignment()) == "
		"maps_row_bytes",
		"The dense token maps tensor row (%" PRIu64
		" bytes) must already be L1 aligned (%" PRIu64
		" bytes); otherwise the per-expert page padding breaks the kernels' maps indexing",
		bytes, l1);
	return TTNN_OK;
}

static tt_status combine_validate(struct tt_launch *launch)
{
	const struct ttnn_shape *maps = &launch->inputs[MAPS]->spec.shape;
	uint64_t links = tt_attr_u32(launch, LINKS), workers;
	struct layout layout;

	TT_REQUIRE(maps->rank == 2,
		   "tensor_args.dense_token_maps_tensor.logical_shape().rank() == 2",
		   "dense_token_maps_tensor must be rank 2 ([experts, per-token-stride]); got rank "
		   "%u",
		   maps->rank);
	TT_REQUIRE(links > 0, "num_links > 0", "num_links must be > 0, got %" PRIu64, links);
	TT_TRY(find_layout(&layout, launch));
	workers = layout.rows * layout.pieces;
	TT_REQUIRE(workers % links == 0, "num_worker_cores % num_links == 0",
		   "num_worker_cores (%" PRIu64 ") must be divisible by num_links (%" PRIu64 ")",
		   workers, links);
	TT_TRY(check_tables(launch));
	return launch->extra ? tt_check_given(launch, 0, &launch->specs[0].shape) : TTNN_OK;
}

/* ---- the program -------------------------------------------------------------------------------------------- */

/* The caller's semaphore stands for the second, which is made all the same. */
static tt_status combine_choose(uint32_t *out, struct tt_launch *launch)
{
	bool small = tt_has_l1_small(launch->device);
	struct layout layout;

	*out = 0;
	TT_TRY(find_layout(&layout, launch));
	TT_REQUIRE(launch->attrs[WORKERS].count, "cores_.num_cores() > 0",
		   "CoreRangeSet must have at least one core");
	TT_NEED(layout.rows * layout.pieces <= launch->attrs[WORKERS].count,
		"worker_cores are %u, of which %" PRIu64 " are needed",
		launch->attrs[WORKERS].count, layout.rows * layout.pieces);
	TT_TRY(tt_keep_semaphores(launch, 2, small));
	if (tt_value_given(&launch->attrs[SIGNAL])) {
		ttnn_tensor_unref(launch->kept[--launch->kept_count]);
		launch->kept[launch->kept_count] = NULL;
	}
	TT_REQUIRE(launch->attrs[AXIS].integer < 2,
		   "normalized_index >= 0 && normalized_index < size",
		   "Index out of bounds: %" PRId64 " not in [-2, 2)", launch->attrs[AXIS].integer);
	TT_REQUIRE(members_of(launch) > 1 || ttnn_fabric_get() == TTNN_FABRIC_NONE,
		   "!neighbors.empty()", "No neighbors found");
	return TTNN_OK;
}

/* The first chip along a line has one neighbour, others have two. */
tt_status tt_combine_check_mux(struct tt_plan *plan, const struct tt_launch *launch,
			       const struct ttnn_value *params, const ttnn_core_set *workers)
{
	const ttnn_core_set *mux = params[MUX].core_set, *both;
	uint32_t members = tt_group_size(launch->device, params[AXIS].integer != 0);
	uint32_t neighbors = members < 3 ? members - 1 : 2;
	uint64_t links = (uint64_t)params[LINKS].integer, has = mux ? ttnn_core_set_cores(mux) : 0;
	bool line = params[TOPOLOGY].integer == TT_TOPOLOGY_LINEAR;
	struct tt_str text = {0};
	tt_status status = TTNN_OK;

	if (line && links > has)
		neighbors = 1;
	if (mux)
		tt_text_core_set(&text, mux, TTNN_DIALECT_TT_METAL);
	if (!tt_has_l1_small(launch->device) && ttnn_fabric_get() != TTNN_FABRIC_NONE)
		status = tt_fail_cond(
			TTNN_INVALID, "l1_small_bank_size > 0",
			"The fabric mux reserves raw L1 on cores %s outside the allocator, but this "
			"device was opened with l1_small_size = 0. GlobalSemaphores then fall back "
			"to BufferType::L1 and can be allocated inside the mux's region, which "
			"silently overwrites them and hangs (#56769). Open the mesh device with "
			"l1_small_size > 0 (16384 is sufficient) so semaphores are placed in "
			"L1_SMALL, above the mux.",
			mux ? tt_str_text(&text) : "{}");
	else if (links * neighbors > has)
		status = tt_fail_cond(
			TTNN_INVALID, "needed_cores <= available_cores",
			"Not enough mux cores! Needed: %" PRIu64 " (num_links=%" PRIu64
			" * neighbors.size()=%u), Available: %" PRIu64 ". mux_core_range_set=%s",
			links * neighbors, links, neighbors, has, mux ? tt_str_text(&text) : "{}");
	tt_str_deinit(&text);
	if (status != TTNN_OK && line && links <= has && tt_has_l1_small(launch->device))
		tt_plan_begun(plan);
	TT_TRY(status);
	if (!neighbors)
		return TTNN_OK;
	TT_TRY(tt_cores_first(&mux, mux, links * neighbors, TTNN_ORIENT_ROW_MAJOR));
	TT_TRY(tt_core_set_intersect(&both, mux, workers));
	TT_REQUIRE(!ttnn_core_set_cores(both), "noc_modes.size() <= 1",
		   "KernelGroup must have the same noc mode for all kernels");
	return TTNN_OK;
}

/* The workers that have something to send. */
static tt_status find_workers(const ttnn_core_set **out, const struct tt_launch *launch,
			      uint64_t count)
{
	const struct ttnn_value *list = &launch->attrs[WORKERS];
	struct ttnn_core *cores = tt_arena_alloc(launch->arena, (list->count + 1) * sizeof(*cores));

	TT_NEED_MEMORY(cores);
	for (uint64_t i = 0; i < count; i++)
		cores[i] = list->items[i].core;
	return tt_cores_set(out, cores, count);
}

/* What experts made, where it lies; whose tokens they are; and what the fabric is told. */
static tt_status combine_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *maps = &launch->inputs[MAPS]->spec;
	const struct ttnn_tensor_spec *counts = &launch->inputs[COUNTS]->spec;
	uint64_t l1 = tt_memory_alignment(launch->device, TTNN_L1), words;
	const ttnn_core_set *cores;
	struct layout layout;

	TT_TRY(find_layout(&layout, launch));
	TT_TRY(find_workers(&cores, launch, layout.rows * layout.pieces));
	words = TT_COMBINE_COUNT_WORDS * layout.experts * tt_element_bytes(launch->inputs[COUNTS]);
	TT_TRY(TT_PLAN(
		plan, cores,
		TT_CB_ROW(3, "data", .pages = 1,
			  .page = layout.piece * layout.tokens / layout.rows * layout.experts,
			  .backing = launch->inputs[DENSE]),
		TT_CB_ROW(4, "dense_token_maps", .pages = layout.experts,
			  .page = tt_align_to(maps->page_bytes, l1)),
		TT_CB_ROW(5, "token_counts", .pages = 1,
			  .page = tt_align_to(counts->page_bytes + words, l1)),
		TT_CB_ROW(6, "token_activations", .pages = 1,
			  .page = tt_align_to(launch->inputs[ACTIVE]->spec.page_bytes, l1)),
		TT_CB_ROW(7, "client_interface", .pages = 3, .page = TT_COMBINE_CLIENT_BYTES)));
	return tt_combine_check_mux(plan, launch, launch->attrs, cores);
}

/* ---- numbers -------------------------------------------------------------------------------------------------- */

/* What a chip has of others' tokens. */
struct source {
	struct layout layout;
	struct tt_tensor *dense; /* there */
	double *active, *maps, *counts;
	uint64_t stride, map_stride; /* words of a token in the tables */
};

/* Which choice of the token this expert was; UINT64_MAX if the token is not among the active ones. */
static uint64_t choice_of(const struct source *in, double token, uint64_t expert)
{
	for (uint64_t t = 0; t < in->layout.tokens; t++)
		if (in->active[t * in->stride] == token)
			return (uint64_t)in->active[t * in->stride + 1 + expert];
	return UINT64_MAX;
}

/* Elements of a shard, from one on, to a row of the result: as many as lie in one row of the tensor at a time. */
static tt_status move_piece(struct tt_tensor *out, const struct source *in, uint64_t core,
			    uint64_t first, const uint64_t to[4])
{
	const struct ttnn_tensor_spec *spec = &in->dense->spec;
	const struct ttnn_shard_spec *shard = &spec->memory.shard;
	uint32_t rank = spec->shape.rank;
	uint64_t width = shard->width ? shard->width : 1, across = spec->cols / width, done = 0;

	across += across == 0;
	while (done < to[3]) {
		uint64_t row = (first + done) / width, col = (first + done) % width;
		struct tt_move_loop loop = {(uint32_t)(width - col), (int32_t)rank - 1, 2, 1, 1};
		struct tt_move_job job = {
			.out = out, .in = in->dense, .loops = &loop, .loop_count = 1};

		if (loop.extent > to[3] - done)
			loop.extent = (uint32_t)(to[3] - done);
		row += core / across * shard->height;
		col += core % across * shard->width;
		if (row >= spec->rows || col + loop.extent > spec->shape.dim[rank - 1])
			return TTNN_OK; /* beyond what there is */
		job.in_start[rank - 1] = (int64_t)col;
		for (uint32_t d = rank - 1; d-- > 0; row /= spec->shape.dim[d])
			job.in_start[d] = (int64_t)(row % spec->shape.dim[d]);
		job.out_start[0] = (int64_t)to[0];
		job.out_start[1] = (int64_t)to[1];
		job.out_start[2] = (int64_t)(to[2] + done);
		TT_TRY(tt_backend_get()->move(&job));
		done += loop.extent;
	}
	return TTNN_OK;
}

/* The shard of a worker: which one its core has. */
static uint64_t shard_of(const struct tt_launch *launch, uint64_t worker)
{
	const struct ttnn_shard_spec *shard = &launch->inputs[DENSE]->spec.memory.shard;
	struct ttnn_core core = launch->attrs[WORKERS].items[worker].core, at;
	uint64_t i = 0, all = ttnn_core_set_cores(shard->grid);

	for (; i < all; i++) {
		at = tt_core_set_at(shard->grid, i, shard->orientation);
		if (at.x == core.x && at.y == core.y)
			break;
	}
	return i;
}

/* All pieces of one active token of an expert, the n-th of a row of cores, to its place. */
static tt_status send_token(struct tt_tensor *out, const struct tt_launch *launch,
			    const struct source *in, const uint64_t at[4])
{
	uint64_t bytes = tt_element_bytes(launch->inputs[DENSE]), piece = in->layout.piece / bytes;
	uint64_t block = in->layout.piece * in->layout.tokens / in->layout.rows / bytes;
	uint64_t expert = at[0], row = at[1], n = at[2], token = at[3];
	uint64_t choice = choice_of(in, (double)token, expert);
	uint64_t width = tt_attr_u32(launch, WIDTH);

	if (choice >= out->spec.shape.dim[0])
		return TTNN_OK;
	for (uint64_t i = 0; i < in->layout.pieces; i++) {
		uint64_t to[] = {choice, token % out->spec.shape.dim[1], i * piece, piece};

		if (to[2] + piece > width)
			to[3] = width - to[2];
		TT_TRY(move_piece(out, in, shard_of(launch, row * in->layout.pieces + i),
				  expert * block + n * piece, to));
	}
	return TTNN_OK;
}

/* What a chip sends to one member of its group, whose tokens are one part of all. */
static tt_status send_to(struct tt_tensor *out, const struct tt_launch *launch,
			 const struct source *in, uint64_t member)
{
	uint64_t own = out->spec.shape.dim[1], experts = in->layout.experts, rows = in->layout.rows;

	for (uint64_t e = 0; e < experts; e++) {
		double said = in->counts[e];
		uint64_t count = said > 0 && said < (double)in->layout.tokens ? (uint64_t)said
				 : said > 0                                   ? in->layout.tokens
									      : 0;

		for (uint64_t i = 0, row = 0, n = 0; i < count; i++, n++) {
			double token = in->maps[(e * (in->layout.tokens + 1) + i) * in->map_stride];

			if (n == count / rows + (row < count % rows))
				row++, n = 0;
			if (!(token >= (double)(member * own) &&
			      token < (double)((member + 1) * own)))
				continue;
			TT_TRY(send_token(out, launch, in,
					  (const uint64_t[]){e, row, n, (uint64_t)token}));
		}
	}
	return TTNN_OK;
}

/* The tables of a chip; numbers that the counts lack are zeros. */
static tt_status read_source(struct source *out, const struct tt_launch *launch, uint32_t chip)
{
	uint64_t have = tt_shape_count(&launch->inputs[COUNTS]->spec.shape);
	double *counts;

	TT_TRY(find_layout(&out->layout, launch));
	TT_TRY(tt_chip_read(&out->active, launch, ACTIVE, chip));
	TT_TRY(tt_chip_read(&out->maps, launch, MAPS, chip));
	TT_TRY(tt_chip_read(&counts, launch, COUNTS, chip));
	out->counts = tt_arena_calloc(launch->arena, out->layout.experts + 1, sizeof(double));
	TT_NEED_MEMORY(out->counts);
	for (uint64_t e = 0; e < out->layout.experts && e < have; e++)
		out->counts[e] = counts[e];
	out->stride = tt_shape_last(&launch->inputs[ACTIVE]->spec.shape, 1) / out->layout.tokens;
	out->map_stride =
		tt_shape_last(&launch->inputs[MAPS]->spec.shape, 1) / (out->layout.tokens + 1);
	return tt_tensor_resident(&out->dense, launch->inputs[DENSE], chip, TT_BUFFER_READ);
}

static tt_status send_all(const struct tt_launch *launch, const struct source *in, uint32_t chip)
{
	struct tt_group group;
	tt_status status = TTNN_OK;

	tt_group_find(&group, launch->device, axis_of(launch), chip);
	for (uint32_t i = 0; i < group.count && status == TTNN_OK; i++) {
		struct tt_tensor *out;

		TT_TRY(tt_tensor_resident(&out, launch->outputs[0], group.chips[i],
					  TT_BUFFER_UPDATE));
		if (out->spec.shape.dim[1])
			status = send_to(out, launch, in, i);
		ttnn_tensor_unref(out);
	}
	return status;
}

static tt_status combine_kernel(struct tt_launch *launch)
{
	TT_NEED(launch->inputs[DENSE]->spec.memory.has_shard,
		"dense_input_tensor must be sharded over the worker cores");
	for (uint32_t chip = 0; !launch->extra && chip < tt_chip_count(launch); chip++) {
		struct tt_tensor *out;
		tt_status status;

		TT_TRY(tt_tensor_resident(&out, launch->outputs[0], chip, TT_BUFFER_OVERWRITE));
		status = tt_backend_get()->fill(out, 0, TT_FILL_ALL);
		ttnn_tensor_unref(out);
		TT_TRY(status);
	}
	for (uint32_t chip = 0; chip < tt_chip_count(launch); chip++) {
		struct source in;
		tt_status status;

		TT_TRY(read_source(&in, launch, chip));
		status = send_all(launch, &in, chip);
		ttnn_tensor_unref(in.dense);
		TT_TRY(status);
	}
	return TTNN_OK;
}

static const struct tt_prog program = {
	.device_op = "SelectiveReduceCombineDeviceOperation",
	.prim = "ttnn::prim::selective_reduce_combine",
	.attrs = &schema,
	.infer = combine_infer,
	.validate = combine_validate,
	TT_FACTORY("ttnn::experimental::prim::UnifiedSelectReduce", combine_memory),
	.choose = combine_choose,
	TT_KERNEL(combine_kernel),
	.cost = tt_cost_unmodelled_move,
	.per_chip = true,
	.together = true,
};

/* ---- the call ------------------------------------------------------------------------------------------------- */

static tt_status combine_expand(struct tt_call *call)
{
	static const char *const names[INPUTS + 1] = {
		"dense_input_tensor", "dense_activations_tensor", "dense_token_maps_tensor",
		"dense_token_counts_tensor", "output_tensor"};
	static const struct ttnn_memory_config dram = {.buffer = TTNN_DRAM};
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");
	const struct ttnn_value *workers = tt_call_arg(call, "worker_cores");
	struct tt_tensor *in[INPUTS + 1];
	const ttnn_core_set *cores = NULL;
	struct tt_launch launch = {.arena = call->arena};
	struct ttnn_value attrs[schema_count] = {0};

	for (size_t i = 0; i <= INPUTS; i++)
		in[i] = tt_call_tensor(call, names[i]);
	TT_REQUIRE(call->device, "is_device_tensor(input_tensor)",
		   "Device Operations expect device tensors as inputs");
	TT_NEED(tt_call_int(call, "batch_size", 0) && tt_call_int(call, "seq_size", 0) &&
			tt_call_int(call, "token_parallel_core_dim", 0) &&
			tt_call_int(call, "data_parallel_core_dim", 0),
		"batch_size, seq_size, token_parallel_core_dim and data_parallel_core_dim must be "
		"positive");
	attrs[WORKERS] = *workers;
	launch.attrs = attrs;
	if (workers->count)
		TT_TRY(find_workers(&cores, &launch, workers->count));
	attrs[AXIS] = *tt_call_arg(call, "cluster_axis");
	attrs[TOKEN_CORES] = *tt_call_arg(call, "token_parallel_core_dim");
	attrs[DATA_CORES] = *tt_call_arg(call, "data_parallel_core_dim");
	attrs[MEMORY] = ttnn_v_memory(memory ? memory : &dram);
	attrs[LOCAL] = ttnn_v_bool(false);
	return TT_LAUNCH_RETURN(
		call, &program, .inputs = in, .input_count = in[INPUTS] ? INPUTS + 1 : INPUTS,
		TT_OUTPUTS(in[INPUTS]), .attrs = tt_attrs_bind(call, &schema, attrs), .grid = cores,
		.extra = in[INPUTS], .in_place = true);
}

static const struct tt_op ops[] = {
	{
		.name = "ttnn.experimental.selective_reduce_combine",
		.doc = "What experts made of their tokens, packed on cores, back to the tokens' devices.",
		.sigs = {"dense_input_tensor: Tensor, dense_activations_tensor: Tensor, "
			 "dense_token_maps_tensor: Tensor, dense_token_counts_tensor: Tensor, "
			 "hidden_size: size, batch_size: size, seq_size: size, "
			 "select_experts_k: size, cluster_axis: size, topology: Topology, "
			 "num_links: size, token_parallel_core_dim: size, "
			 "data_parallel_core_dim: size, worker_cores: CoreCoords, "
			 "mux_core_range_set: CoreRangeSet, *, memory_config: MemoryConfig? = None, "
			 "output_tensor: Tensor? = None, "
			 "optional_cross_device_semaphore: any? = None"},
		.expand = combine_expand,
		.golden = tt_golden_reduce_combine,
		TT_PROGRAMS(&program),
	},
};

const struct tt_op_family tt_family_reduce_combine = {"collective_moe", ops, TT_COUNT(ops)};
