/*
 * attention_ring_exp.c: exp_ring_joint_scaled_dot_product_attention: the same without causality where each row of cores has whole heads,
 * or segments of them, and the last column sends.
 *
 * Models ExpRingJointSDPADeviceOperation of ttnn 0.81 with ExpRingJointSDPAMeshWorkloadFactory (a program for each chip): refusals,
 * memory, cores. What a chip computes is attention_ring_run.c; a length that is on the device is read when it runs. The statistics
 * are 0. Not modelled: which cores the senders have.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "device/device.h"
#include "device/devtensor.h"
#include "ops/attention/attention_ring.h"
#include "ops/collective/collective.h"
#include "ops/compute.h"
#include "ops/creation/creation.h"
#include "ops/mem_rows.h"
#include "ops/objects.h"
#include "ops/usual.h"

#define ATTRS(X)                                                                                   \
	TT_RING_ATTRS(X)                                                                           \
	X(TT_EXP_WORKERS, "num_workers_per_link")                                                  \
	X(TT_EXP_BUFFERS, "num_buffers_per_channel")                                               \
	X(TT_EXP_TOPOLOGY, "topology")
#define FIELD(id_, ...) {.name = __VA_ARGS__},
static const struct tt_field fields[] = {ATTRS(FIELD)};
enum {
	TT_EXP_WORKERS = TT_RING_ATTR_COUNT,
	TT_EXP_BUFFERS,
	TT_EXP_TOPOLOGY,
	TT_EXP_COUNT,
};
static const struct tt_schema schema = {"<ExpRingJointSDPAParams>", fields, TT_EXP_COUNT, false};
enum { LENGTH = TT_RING_INPUTS, INPUTS }; /* the length, if it is on the device */

#define PASSES_MOST 3
#define LENGTH_PAGE 64

/* ---- sizes ------------------------------------------------------------------------------------------------------ */

/* Cores that compute, chunks of a head, and rows of cores that they fill. */
struct spread {
	uint64_t columns, rows, own, joint, segments, passes; /* own, joint: chunks of queries */
};

static struct ttnn_core grid_of(const struct tt_launch *launch)
{
	const struct ttnn_value *config = &launch->attrs[TT_RING_CONFIG];
	struct ttnn_core core = launch->device->info.compute_grid;

	if (config->kind == TTNN_VALUE_OBJECT)
		tt_object_core(&core, &config->items[TT_SDPA_GRID]);
	return core;
}

static struct spread spread_of(const struct tt_launch *launch)
{
	uint64_t chunk = tt_ring_chunk(launch, TT_SDPA_Q_CHUNK);
	struct ttnn_core grid = grid_of(launch);
	struct spread s = {.columns = grid.x - 1,
			   .rows = grid.y,
			   .own = tt_div_up(tt_ring_dim(launch, TT_RING_Q, 2), chunk),
			   .joint = tt_ring_dim(launch, TT_RING_JOINT_Q, 2) / chunk};

	s.segments = (s.own + s.joint) / s.columns;
	s.passes = tt_div_up((uint64_t)tt_ring_dim(launch, TT_RING_Q, 0) *
				     tt_ring_dim(launch, TT_RING_Q, 1) * s.segments,
			     s.rows);
	return s;
}

/* ---- refusals ----------------------------------------------------------------------------------------------------- */

/* The same of three tensors, which are asked for it by name. */
#define SAME(first, second, third, wanted)                                                         \
	((first) == (wanted) && (second) == (wanted) && (third) == (wanted))

static tt_status check_joint(const struct tt_launch *launch, const uint32_t *q, const uint32_t *k)
{
	const uint32_t *jq, *jk, *jv;

	if (!launch->inputs[TT_RING_JOINT_Q])
		return TTNN_OK;
	jq = launch->inputs[TT_RING_JOINT_Q]->spec.shape.dim;
	jk = launch->inputs[TT_RING_JOINT_K]->spec.shape.dim;
	jv = launch->inputs[TT_RING_JOINT_V]->spec.shape.dim;
	TT_REQUIRE(SAME(jq[0], jk[0], jv[0], q[0]),
		   "joint_q_shape[0] == B && joint_k_shape[0] == B && joint_v_shape[0] == B",
		   "Joint batch sizes must match. Got B: %u, joint_Q: %u, joint_K: %u, joint_V: %u",
		   q[0], jq[0], jk[0], jv[0]);
	TT_REQUIRE(
		SAME(jq[3], jk[3], jv[3], q[3]),
		"joint_q_shape[3] == DH && joint_k_shape[3] == DH && joint_v_shape[3] == DH",
		"Joint head dimensions must match. Got DH: %u, joint_Q: %u, joint_K: %u, joint_V: "
		"%u",
		q[3], jq[3], jk[3], jv[3]);
	TT_REQUIRE(jq[1] == q[1] && jk[1] == k[1] && jv[1] == k[1],
		   "joint_q_shape[1] == NQH && joint_k_shape[1] == NKH && joint_v_shape[1] == NKH",
		   "Joint num heads must match. Got NQH: %u, NKH: %u, joint_Q: %u, joint_K: %u, "
		   "joint_V: %u",
		   q[1], k[1], jq[1], jk[1], jv[1]);
	TT_REQUIRE(jk[2] == jq[2] && jv[2] == jq[2],
		   "joint_k_shape[2] == L && joint_v_shape[2] == L",
		   "Joint sequence length must match. Got joint_K: %u, joint_V: %u", jk[2], jv[2]);
	return TTNN_OK;
}

static tt_status check_length(const struct tt_launch *launch, uint32_t keys)
{
	const struct ttnn_tensor_spec *length = tt_ring_spec(launch, LENGTH);
	uint64_t rows = tt_ring_number(launch, TT_RING_ROWS), volume;

	if (!length) {
		TT_REQUIRE(rows <= keys, "args.logical_n <= N_global",
			   "Logical sequence length must be less than or equal to global sequence "
			   "length. Got logical sequence length: %" PRIu64
			   ", global sequence length: %u",
			   rows, keys);
		TT_REQUIRE(rows >= 1, "args.logical_n >= 1",
			   "Logical sequence length must be at least 1 (shard 0 must contain real "
			   "tokens). Got logical sequence length: %" PRIu64,
			   rows);
		return TTNN_OK;
	}
	TT_REQUIRE(length->dtype == TTNN_UINT32 || length->dtype == TTNN_INT32,
		   "t.dtype() == DataType::UINT32 || t.dtype() == DataType::INT32",
		   "logical_n tensor must be UINT32 or INT32 (the kernels read element 0 as a raw "
		   "32-bit word). Got DataType::%s",
		   tt_enum_name(&tt_enum_dtype, (int64_t)length->dtype));
	TT_TRY(ttnn_shape_volume(&volume, &length->shape));
	TT_REQUIRE(volume == 1, "t.logical_volume() == 1",
		   "logical_n tensor must hold exactly one value (the kernels read page 0, element "
		   "0). Got volume %" PRIu64,
		   volume);
	return TTNN_OK;
}

static tt_status check_shapes(const struct tt_launch *launch)
{
	const uint32_t *q = launch->inputs[TT_RING_Q]->spec.shape.dim;
	const uint32_t *k = launch->inputs[TT_RING_GATHERED_K]->spec.shape.dim;
	const uint32_t *v = launch->inputs[TT_RING_GATHERED_V]->spec.shape.dim;
	uint32_t ring = (uint32_t)tt_ring_number(launch, TT_RING_SIZE);

	TT_REQUIRE(k[0] == q[0] && v[0] == q[0], "k_shape[0] == B && v_shape[0] == B",
		   "Batch sizes must match. Got Q: %u, K: %u, V: %u", q[0], k[0], v[0]);
	TT_REQUIRE(k[3] == q[3] && v[3] == q[3], "k_shape[3] == DH && v_shape[3] == DH",
		   "Head dimensions must match. Got Q: %u, K: %u, V: %u", q[3], k[3], v[3]);
	TT_REQUIRE(v[1] == k[1], "v_shape[1] == NKH", "Num heads must match. Got K: %u, V: %u",
		   k[1], v[1]);
	TT_TRY(check_joint(launch, q, k));
	TT_REQUIRE(v[2] == k[2], "v_shape[2] == N_global",
		   "V sequence length must be equal to global sequence length. Got V: %u, global "
		   "sequence length: %u",
		   v[2], k[2]);
	TT_REQUIRE((uint64_t)k[2] >= (uint64_t)q[2] * ring, "N_global >= N_local * args.ring_size",
		   "Gathered K seq length must be >= local sequence length times ring size. Got "
		   "global sequence length: %u, local sequence length: %u, ring size: %u",
		   k[2], q[2], ring);
	TT_TRY(check_length(launch, k[2]));
	TT_REQUIRE(q[1] == k[1], "NQH == NKH",
		   "Q num_heads must be equal to K num_heads. Got Q: %u, K: %u", q[1], k[1]);
	return TTNN_OK;
}

/* What a chip has of keys and values is as they are gathered. */
static tt_status check_parts(const struct tt_launch *launch)
{
	const uint32_t *q = launch->inputs[TT_RING_Q]->spec.shape.dim;
	const uint32_t *k = launch->inputs[TT_RING_K]->spec.shape.dim;
	const uint32_t *v = launch->inputs[TT_RING_V]->spec.shape.dim;

	TT_NEED(q[0] && q[1] && q[2] && q[3], "there is nothing to attend");
	for (int d = 0; d < 4; d++)
		TT_NEED(k[d] == v[d] && (d == 2 ? k[d] <= q[d] : k[d] == q[d]),
			"dimension %d of the keys or values is not as that of the queries", d);
	return TTNN_OK;
}

static tt_status check_chunks(const struct tt_launch *launch)
{
	static const int operands[] = {TT_RING_Q,       TT_RING_GATHERED_K, TT_RING_GATHERED_V,
				       TT_RING_JOINT_Q, TT_RING_JOINT_K,    TT_RING_JOINT_V};
	static const struct {
		int dim;
		const char *name;
	} dims[] = {{0, "batch"}, {1, "num_heads"}, {3, "head_dim"}};
	uint64_t q = tt_ring_chunk(launch, TT_SDPA_Q_CHUNK),
		 k = tt_ring_chunk(launch, TT_SDPA_K_CHUNK);
	uint32_t rows = tt_ring_dim(launch, TT_RING_Q, 2);

	TT_REQUIRE(q && q % TT_TILE == 0,
		   "q_chunk_size > 0 && q_chunk_size % tt::constants::TILE_WIDTH == 0",
		   "q_chunk_size must be a positive multiple of TILE_SIZE. Got q_chunk_size: "
		   "%" PRIu64 ", TILE_SIZE: 32",
		   q);
	TT_REQUIRE(k && k % TT_TILE == 0,
		   "k_chunk_size > 0 && k_chunk_size % tt::constants::TILE_WIDTH == 0",
		   "k_chunk_size must be a positive multiple of TILE_SIZE. Got k_chunk_size: "
		   "%" PRIu64 ", TILE_SIZE: 32",
		   k);
	TT_REQUIRE(rows % TT_TILE == 0, "N_local % tt::constants::TILE_HEIGHT == 0",
		   "Local sequence length must be divisible by TILE_HEIGHT. Got N_local: %u, "
		   "TILE_HEIGHT: 32",
		   rows);
	for (size_t i = 0; i < TT_COUNT(operands); i++)
		for (size_t d = 0; launch->inputs[operands[i]] && d < TT_COUNT(dims); d++) {
			const struct ttnn_tensor_spec *spec = tt_ring_spec(launch, operands[i]);
			char condition[64];

			snprintf(condition, sizeof(condition),
				 "logical_shape[%d] == padded_shape[%d]", dims[d].dim, dims[d].dim);
			TT_REQUIRE(spec->shape.dim[dims[d].dim] == spec->padded.dim[dims[d].dim],
				   condition, "Padding is not supported on the %s dimension",
				   dims[d].name);
		}
	return TTNN_OK;
}

static tt_status check_grid(const struct tt_launch *launch)
{
	struct ttnn_core grid = grid_of(launch), all = launch->device->info.compute_grid;
	uint64_t links = tt_ring_number(launch, TT_RING_LINKS);
	const struct ttnn_value *topology = &launch->attrs[TT_EXP_TOPOLOGY];

	TT_REQUIRE(links == 2, "args.num_links == 2",
		   "Exp ring joint SDPA requires exactly 2 links. Got %" PRIu64 ".", links);
	TT_REQUIRE(topology->kind == TTNN_VALUE_ENUM && topology->integer == TT_TOPOLOGY_RING,
		   "args.topology == ttnn::ccl::Topology::Ring",
		   "Exp ring joint SDPA requires Ring topology.");
	TT_REQUIRE(grid.x <= all.x && grid.y <= all.y,
		   "user_grid.x <= device_grid.x && user_grid.y <= device_grid.y",
		   "Program config grid (%ux%u) exceeds device grid (%ux%u).", grid.x, grid.y,
		   all.x, all.y);
	TT_REQUIRE(grid.x >= 2, "user_grid.x >= 2",
		   "Program config grid (%ux%u) too narrow: needs at least 2 columns (the last "
		   "column is reserved for the fabric MUX kernels).",
		   grid.x, grid.y);
	TT_NEED(grid.y, "Program config grid has no rows");
	return TTNN_OK;
}

static tt_status check_segments(const struct tt_launch *launch)
{
	struct ttnn_core all = launch->device->info.compute_grid;
	uint64_t chunk = tt_ring_chunk(launch, TT_SDPA_Q_CHUNK);
	uint32_t joint = tt_ring_dim(launch, TT_RING_JOINT_Q, 2);
	const uint32_t *q = launch->inputs[TT_RING_Q]->spec.shape.dim;
	const struct spread s = spread_of(launch);
	uint64_t chunks = s.own + s.joint, heads = (uint64_t)q[0] * q[1],
		 total = heads * s.segments;

	TT_REQUIRE(joint % chunk == 0, "L == 0 || L % q_chunk_size == 0",
		   "Joint sequence length (%u) must be 0 or divisible by q_chunk_size (%" PRIu64
		   ").",
		   joint, chunk);
	TT_REQUIRE(
		chunks % s.columns == 0, "num_q_chunks % sdpa_grid_x == 0",
		"Q chunks per head (num_local=%" PRIu64 " + num_joint=%" PRIu64 " = %" PRIu64
		") must be a multiple of the SDPA grid columns (%" PRIu64
		") on device grid %u×%u. Adjust q_chunk_size so ceil(N_local / q_chunk_size) is a "
		"multiple of %" PRIu64 ".",
		s.own, s.joint, chunks, s.columns, all.x, all.y, s.columns);
	TT_REQUIRE(
		total >= s.rows, "total_segments >= sdpa_grid_y",
		"Head-segments (B=%u x NQH=%u x segs_per_head=%" PRIu64 " = %" PRIu64
		") must cover all %" PRIu64
		" SDPA grid rows; rows without a segment are not supported. Use a program_config "
		"grid with at most %" PRIu64
		" rows, or a smaller q_chunk_size to raise segs_per_head.",
		q[0], q[1], s.segments, total, s.rows, total);
	TT_REQUIRE(
		s.passes <= PASSES_MOST, "num_passes <= kMaxPasses",
		"Number of head-segments (B=%u × NQH=%u × segs_per_head=%" PRIu64 " = %" PRIu64
		") needs %" PRIu64 " serial passes on %" PRIu64
		" SDPA grid rows (device grid %u×%u), but at most %d are supported. Reduce batch "
		"size or head count (e.g. via tensor parallelism), or use a larger q_chunk_size.",
		q[0], q[1], s.segments, total, s.passes, s.rows, all.x, all.y, PASSES_MOST);
	return TTNN_OK;
}

static tt_status exp_validate(struct tt_launch *launch)
{
	const char *strategy = launch->attrs[TT_RING_STRATEGY].text;

	TT_REQUIRE(strcmp(strategy, "rear") == 0, "args.joint_strategy == \"rear\"",
		   "Joint strategy must be 'rear'. Got: %s", strategy);
	TT_TRY(tt_ring_check_kinds(launch));
	TT_TRY(check_shapes(launch));
	TT_TRY(check_chunks(launch));
	TT_TRY(check_grid(launch));
	TT_TRY(check_segments(launch));
	return check_parts(launch);
}

/* ---- memory ------------------------------------------------------------------------------------------------------- */

/* Sums have to be kept apart where a part of the ring has a single chunk of keys, or may have, or cores take turns. */
static bool keeps_twice(const struct tt_launch *launch, const struct spread *s)
{
	uint64_t rows = tt_ring_dim(launch, TT_RING_Q, 2),
		 k = tt_ring_chunk(launch, TT_SDPA_K_CHUNK);
	uint64_t all = tt_ring_number(launch, TT_RING_ROWS),
		 ring = tt_ring_number(launch, TT_RING_SIZE);
	uint64_t joint = tt_div_up(tt_ring_dim(launch, TT_RING_JOINT_Q, 2), k);

	if (launch->inputs[LENGTH] || s->passes > 1)
		return true;
	for (uint64_t i = 0; i < ring; i++) {
		uint64_t own = all > i * rows ? tt_lesser(all - i * rows, rows) : 0;

		if (tt_div_up(own, k) + (i + 1 == ring ? joint : 0) == 1)
			return true;
	}
	return false;
}

/* Tiles of a mask: -inf, and one that ends within. */
static uint64_t mask_tiles(const struct tt_launch *launch)
{
	uint64_t k = tt_ring_chunk(launch, TT_SDPA_K_CHUNK),
		 all = tt_ring_number(launch, TT_RING_ROWS);

	if (launch->inputs[LENGTH])
		return 2;
	if (tt_ring_dim(launch, TT_RING_Q, 2) % k == 0 && all % k == 0 &&
	    tt_ring_dim(launch, TT_RING_JOINT_Q, 2) % k == 0)
		return 0;
	return 1 + (all % TT_TILE != 0);
}

struct sizes {
	uint64_t q, k, width, out; /* tiles */
	bool streams, twice;
};

/* Where sums stream, two groups of rows take turns in the output. */
static struct sizes sizes_of(const struct tt_launch *launch)
{
	uint64_t most = tt_compute_tiles(&launch->attrs[TT_RING_COMPUTE]), block[2], out[2];
	const struct spread spread = spread_of(launch);
	struct sizes s = {.q = tt_ring_chunk(launch, TT_SDPA_Q_CHUNK) / TT_TILE,
			  .k = tt_ring_chunk(launch, TT_SDPA_K_CHUNK) / TT_TILE,
			  .width = tt_ring_dim(launch, TT_RING_Q, 3) / TT_TILE,
			  .twice = keeps_twice(launch, &spread)};
	bool fp32 = tt_compute_has(&launch->attrs[TT_RING_COMPUTE], TT_COMPUTE_FP32);

	tt_ring_block(block, (uint64_t[]){s.q, s.k}, most, (uint64_t[]){s.q, s.k});
	s.streams = !fp32 && block[0] <= 2 && s.k % (most / block[0]) == 0 && s.q > block[0];
	tt_ring_block(out, (uint64_t[]){s.q, s.width}, most, (uint64_t[]){2, s.width});
	if (out[0] == 1 && 2 * out[1] <= most && s.q >= 2)
		out[0] = 2;
	s.out = s.streams && s.q > 2 * out[0] ? 2 * out[0] * s.width : s.q * s.width;
	return s;
}

static tt_status check_senders(const struct tt_launch *launch)
{
	struct ttnn_core grid = grid_of(launch);
	long long workers = (long long)tt_ring_number(launch, TT_EXP_WORKERS);
	int64_t axis = launch->attrs[TT_RING_AXIS].integer;

	TT_REQUIRE(axis < 2, "physical_coord.dims() > cluster_axis.value()",
		   "cluster axis %" PRId64 " is out of range for physical coord rank 2 ", axis);
	TT_REQUIRE(
		grid.x - 1 >= 3, "sdpa_grid.x >= 3",
		"SDPA grid must have at least 3 columns (1+ pure SDPA + 2 MUX writers). user_grid "
		"has %u cols, sdpa_grid has %u cols.",
		grid.x, grid.x - 1);
	TT_REQUIRE(
		grid.y % 2 == 0, "sdpa_grid.y % 2 == 0",
		"SDPA grid rows (%u) must be even so the backward/forward MUX client halves match.",
		grid.y);
	TT_REQUIRE(workers == grid.y / 2,
		   "num_workers_per_link == args.num_workers_per_link || mux_on_bottom_row",
		   "num_workers_per_link (%lld) must equal sdpa_grid.y / 2 (%u).", workers,
		   grid.y / 2);
	TT_NEED(grid.y > 2,
		"Cannot create CoreRangeSet with specified core ranges because core ranges [%u-0 - "
		"%u-0] and [%u-0 - %u-0] overlap!",
		grid.x - 1, grid.x - 1, grid.x - 1, grid.x - 1);
	TT_NEED(tt_ring_number(launch, TT_RING_SIZE) > 1,
		"Expected different src and dst chip ids but got same");
	TT_NEED(tt_ring_number(launch, TT_RING_SEMAPHORES) >= 2,
		"GlobalSemaphore is in a moved-from state.");
	return TTNN_OK;
}

static tt_status exp_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	uint64_t small = tt_tile_bytes_of(TTNN_BFLOAT16),
		 kv = tt_tensor_tile_bytes(launch->inputs[TT_RING_GATHERED_K]);
	struct ttnn_core grid = grid_of(launch);
	const struct sizes s = sizes_of(launch);
	uint64_t area = s.q * s.width, turns = spread_of(launch).passes > 1 ? 2 : 1;
	uint64_t both = s.twice ? 2 : 1;
	const ttnn_core_set *cores;

	TT_TRY(check_senders(launch));
	TT_TRY(tt_core_set_grid(&cores, grid.x - 1, grid.y));
	TT_TRY(TT_PLAN(plan, cores,
		       TT_CB_ROW(0, "q_in", .pages = turns * area,
				 .page = tt_tensor_tile_bytes(launch->inputs[TT_RING_Q])),
		       TT_CB_ROW(1, "k_in", .pages = 2 * s.k * s.width, .page = kv),
		       TT_CB_ROW(2, "v_in", .pages = 2 * s.k * s.width, .page = kv),
		       TT_CB_ROW(3, "mask_in", .pages = mask_tiles(launch), .page = small),
		       TT_CB_ROW(4, "scale_in", .pages = 1, .page = small),
		       TT_CB_ROW(5, "identity_scale_in", .pages = 1, .page = small),
		       TT_CB_ROW(6, "stats_in", .pages = both * s.q, .page = small),
		       TT_CB_ROW(7, "prev_out", .pages = both * area, .page = small),
		       TT_CB_ROW(8, "col_identity", .pages = 1, .page = small),
		       TT_CB_ROW(24, "qk_im", .pages = s.q * s.k, .page = small),
		       TT_CB_ROW(25, "out_im_A", .pages = area, .page = small),
		       TT_CB_ROW(26, "out_im_B", .pages = area, .page = small),
		       TT_CB_ROW(27, "max_A", .pages = s.q, .page = small),
		       TT_CB_ROW(28, "max_B", .pages = s.q, .page = small),
		       TT_CB_ROW(29, "sum_A", .pages = s.q, .page = small),
		       TT_CB_ROW(30, "sum_B", .pages = s.q, .page = small),
		       TT_CB_ROW(31, "exp_max_diff", .pages = s.q, .page = small),
		       TT_CB_ROW(16, "out", .pages = s.out, .page = small),
		       TT_CB_ROW(17, "stats_out", .pages = s.q, .page = small)));
	return TT_PLAN(plan, cores,
		       TT_CB_ROW(9, "recip_scratch", .pages = s.streams, .page = small),
		       TT_CB_ROW(12, "length", .pages = launch->inputs[LENGTH] != NULL,
				 .page = LENGTH_PAGE),
		       TT_CB_ROW(10, "sum", .pages = s.streams ? both * s.q : 0, .page = small));
}

/* ---- the program --------------------------------------------------------------------------------------------------- */

/* Reads the length if it is on the device; there is a first row, and none behind the last. */
static tt_status exp_kernel(struct tt_launch *launch)
{
	struct ttnn_value *attrs = tt_arena_alloc(launch->arena, TT_EXP_COUNT * sizeof(*attrs));
	uint32_t keys = tt_ring_dim(launch, TT_RING_GATHERED_K, 2);
	struct tt_launch copy = *launch;
	struct tt_tensor *tensor;
	double length = 0;
	tt_status status;

	if (!launch->inputs[LENGTH])
		return tt_ring_run(launch);
	TT_NEED_MEMORY(attrs);
	TT_TRY(tt_tensor_resident(&tensor, launch->inputs[LENGTH], 0, TT_BUFFER_READ));
	status = tt_tensor_numbers(&length, 1, tensor);
	ttnn_tensor_unref(tensor);
	TT_TRY(status);
	length = length < 1 ? 1 : length > keys ? keys : length;
	memcpy(attrs, launch->attrs, TT_EXP_COUNT * sizeof(*attrs));
	attrs[TT_RING_ROWS] = ttnn_v_int((int64_t)length);
	copy.attrs = attrs;
	return tt_ring_run(&copy);
}

static const struct tt_prog program = {
	.device_op = "ExpRingJointSDPADeviceOperation",
	.prim = "ttnn::prim::exp_ring_joint_scaled_dot_product_attention",
	.attrs = &schema,
	.infer = tt_ring_infer,
	.validate = exp_validate,
	TT_FACTORY("ttnn::prim::ExpRingJointSDPAMeshWorkloadFactory", exp_memory),
	TT_KERNEL(exp_kernel),
	.cost = tt_ring_cost,
	.per_chip = true,
	.together = true,
	.drops_forward = true,
};

/* ---- the operation -------------------------------------------------------------------------------------------------- */

static tt_status exp_attrs(struct ttnn_value attrs[TT_EXP_COUNT], struct tt_call *call,
			   const struct tt_device *device)
{
	static const struct tt_compute_usual usual = {.fidelity = TT_HIFI2, .approx = true};
	const struct ttnn_value *semaphores = tt_call_arg(call, "multi_device_global_semaphore");
	const struct ttnn_value *length = tt_call_arg(call, "logical_n");
	long long dim = tt_call_int(call, "dim", 0);

	for (int i = 0; i < TT_EXP_COUNT; i++)
		attrs[i] = *tt_call_arg(call, fields[i].name);
	TT_NEED(length->kind == TTNN_VALUE_INT || length->kind == TTNN_VALUE_TENSOR,
		"logical_n is a whole number or a tensor with one");
	TT_NEED(length->kind != TTNN_VALUE_INT || length->integer >= 0,
		"logical_n is not negative");
	TT_REQUIRE(dim >= -4 && dim < 4, "gather_dim >= -rank && gather_dim <= rank - 1",
		   "Dimension input should be in between -4 and 3, but has %lld", dim);
	if (length->kind == TTNN_VALUE_TENSOR)
		attrs[TT_RING_ROWS] = ttnn_v_none();
	attrs[TT_RING_SIZE] =
		ttnn_v_int(tt_group_size(device, attrs[TT_RING_AXIS].integer == 0 ? 0 : 1));
	attrs[TT_RING_DIM] = ttnn_v_int(dim < 0 ? dim + 4 : dim);
	attrs[TT_RING_JOINT_ROWS] = ttnn_v_int(0);
	attrs[TT_RING_LAYERS] = ttnn_v_int(1);
	attrs[TT_RING_LAYER] = ttnn_v_int(0);
	attrs[TT_RING_COMPUTE] =
		tt_compute_config(call, tt_call_arg(call, "compute_kernel_config"), &usual);
	attrs[TT_RING_SEMAPHORES] =
		ttnn_v_int(semaphores->kind == TTNN_VALUE_LIST ? semaphores->count : 2);
	return TTNN_OK;
}

/* A second sequence is there as a whole; without rows it is none. */
static tt_status exp_joint(struct tt_tensor *in[INPUTS], const struct tt_call *call)
{
	static const char *const names[] = {"joint_tensor_q", "joint_tensor_k", "joint_tensor_v"};
	size_t count = 0;

	for (int i = 0; i < 3; i++) {
		struct tt_tensor *tensor = tt_call_tensor(call, names[i]);

		TT_NEED(!tensor || tensor->spec.shape.rank == 4, "%s has four dimensions",
			names[i]);
		count += tensor != NULL;
		in[TT_RING_JOINT_Q + i] = tensor;
	}
	TT_NEED(count == 0 || count == 3, "joint tensors are given all three or not at all");
	if (count && !in[TT_RING_JOINT_Q]->spec.shape.dim[2])
		in[TT_RING_JOINT_Q] = in[TT_RING_JOINT_K] = in[TT_RING_JOINT_V] = NULL;
	return TTNN_OK;
}

static tt_status exp_expand(struct tt_call *call)
{
	static const char *const names[] = {"input_tensor_q", "input_tensor_k", "input_tensor_v",
					    "persistent_output_buffer_k",
					    "persistent_output_buffer_v"};
	static const int places[] = {TT_RING_Q, TT_RING_K, TT_RING_V, TT_RING_GATHERED_K,
				     TT_RING_GATHERED_V};
	struct tt_tensor *in[INPUTS] = {NULL};
	struct ttnn_value attrs[TT_EXP_COUNT];

	for (size_t i = 0; i < TT_COUNT(names); i++) {
		in[places[i]] = tt_call_tensor(call, names[i]);
		TT_TRY(tt_need_device(in[places[i]]));
	}
	in[LENGTH] = tt_call_tensor(call, "logical_n");
	if (in[LENGTH])
		TT_TRY(tt_need_device(in[LENGTH]));
	TT_TRY(exp_joint(in, call));
	TT_TRY(exp_attrs(attrs, call, tt_tensor_device(in[0])));
	return tt_launch_return(call, &(struct tt_program_args){.prog = &program,
								.attrs = attrs,
								.inputs = in,
								.input_count = INPUTS});
}

static const struct tt_op ops[] = {
	{.name = "ttnn.transformer.exp_ring_joint_scaled_dot_product_attention",
	 .doc = "Attention of a sequence that is cut among chips, and of another one behind it, head by "
		"head.",
	 .sigs = {"input_tensor_q: Tensor, input_tensor_k: Tensor, input_tensor_v: Tensor, "
		  "joint_tensor_q: Tensor? = None, joint_tensor_k: Tensor? = None, joint_tensor_v: "
		  "Tensor? = None, *, persistent_output_buffer_k: Tensor, "
		  "persistent_output_buffer_v: Tensor, joint_strategy: str, logical_n: any, "
		  "program_config: ProgramConfig, scale: float? = None, compute_kernel_config: "
		  "ComputeConfig? = None, dim: int, multi_device_global_semaphore: any, num_links: "
		  "size, cluster_axis: size, mesh_device: Device, topology: enum, subdevice_id: "
		  "SubDeviceId? = None, num_workers_per_link: size = 1, num_buffers_per_channel: size "
		  "= 8"},
	 .expand = exp_expand,
	 .golden = tt_golden_attention_ring,
	 .pcc = 0.99,
	 .gives = "Tensor, Tensor, Tensor",
	 TT_PROGRAMS(&program)},
};

const struct tt_op_family tt_family_attention_ring_exp = {"attention_ring_exp", ops, TT_COUNT(ops)};
