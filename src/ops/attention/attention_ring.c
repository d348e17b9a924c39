/*
 * attention_ring.c: attention of a sequence whose rows lie on the chips of a ring: each chip has its queries, and keys
 * and values go round. A second, "joint" sequence may stand behind the first, whole on every chip or cut as well.
 *
 * Models RingJointSDPADeviceOperation of ttnn 0.81 with RingJointSDPAMeshWorkloadFactory, which builds a program for
 * each chip: refusals, memory and cores of the attention and of the gathering beside it (a fabric of one dimension).
 * What a chip computes is attention_ring_run.c. Not modelled: the order in which parts arrive, lengths and slots that are
 * read from tensors, caches that begin anew (circular_kv_cache). The statistics are what the kernel keeps between
 * parts, and 0 here.
 */
#include <math.h>
#include <string.h>

#include "device/device.h"
#include "device/devtensor.h"
#include "device/fabric.h"
#include "device/generation.h"
#include "ops/attention/attention_ring.h"
#include "ops/attention/heads.h"
#include "ops/collective/collective.h"
#include "ops/compute.h"
#include "ops/cost.h"
#include "ops/creation/creation.h"
#include "ops/mem_rows.h"
#include "ops/objects.h"
#include "ops/usual.h"
#include "tensor/core.h"
#include "tensor/memory.h"
#include "tensor/shape.h"
#include "tensor/spec.h"
#include "tensor/tile.h"

static const struct tt_field fields[TT_RING_ATTR_COUNT] = {TT_RING_ATTRS(TT_ATTR_FIELD)};
static const struct tt_schema schema = {"<RingJointSDPAParams>", fields, TT_RING_ATTR_COUNT, false};

/* ---- what attributes and inputs say ---------------------------------------------------------------------- */

const struct ttnn_tensor_spec *tt_ring_spec(const struct tt_launch *launch, int input)
{
	return launch->inputs[input] ? &launch->inputs[input]->spec : NULL;
}

uint32_t tt_ring_dim(const struct tt_launch *launch, int input, int dim)
{
	return launch->inputs[input] ? launch->inputs[input]->spec.shape.dim[dim] : 0;
}

bool tt_ring_flag(const struct tt_launch *launch, int attr)
{
	return launch->attrs[attr].kind == TTNN_VALUE_BOOL && launch->attrs[attr].boolean;
}

uint64_t tt_ring_number(const struct tt_launch *launch, int attr)
{
	const struct ttnn_value *value = &launch->attrs[attr];

	return value->kind == TTNN_VALUE_INT && value->integer > 0 ? (uint64_t)value->integer : 0;
}

uint64_t tt_ring_slot(const struct tt_launch *launch)
{
	return tt_ring_number(launch, TT_RING_SLOT) * tt_ring_number(launch, TT_RING_LAYERS) +
	       tt_ring_number(launch, TT_RING_LAYER);
}

bool tt_ring_chunked(const struct tt_launch *launch)
{
	return tt_ring_dim(launch, TT_RING_Q, 2) < tt_ring_dim(launch, TT_RING_K, 2);
}

bool tt_ring_given(const struct tt_launch *launch, int attr)
{
	return tt_value_given(&launch->attrs[attr]);
}

uint64_t tt_ring_chunk(const struct tt_launch *launch, int field)
{
	return tt_sdpa_number(&launch->attrs[TT_RING_CONFIG], field, TT_TILE);
}

/* The columns of values: their own, or the first ones of the keys. */
uint32_t tt_ring_width(const struct tt_launch *launch)
{
	return launch->inputs[TT_RING_V] ? tt_ring_dim(launch, TT_RING_V, 3)
					 : (uint32_t)tt_ring_number(launch, TT_RING_LATENT);
}

/* The rows before a chip's own that a window reaches, in whole chunks of keys. */
uint64_t tt_ring_halo(const struct tt_launch *launch)
{
	uint64_t window = tt_ring_number(launch, TT_RING_WINDOW);
	uint64_t chunk = tt_ring_chunk(launch, TT_SDPA_K_CHUNK);

	return window && chunk ? tt_div_up(window - 1, chunk) * chunk : 0;
}

/* ---- specs ----------------------------------------------------------------------------------------------- */

tt_status tt_ring_infer(struct tt_launch *launch)
{
	static const struct ttnn_memory_config dram;
	const struct ttnn_tensor_spec *q, *joint = tt_ring_spec(launch, TT_RING_JOINT_Q);
	struct ttnn_shape shapes[3];

	for (int i = 0; i < TT_RING_INPUTS; i++) {
		if (!launch->inputs[i])
			continue;
		TT_TRY(tt_need_dim(&launch->inputs[i]->spec.shape, 3));
		TT_NEED(launch->inputs[i]->spec.shape.rank == 4, "inputs have 4 dimensions, not %u",
			launch->inputs[i]->spec.shape.rank);
	}
	q = tt_ring_spec(launch, TT_RING_Q);
	shapes[0] = shapes[1] = shapes[2] = q->shape;
	if (joint)
		shapes[1] = joint->shape;
	else
		shapes[1].dim[2] = 0;
	shapes[0].dim[3] = shapes[1].dim[3] = tt_ring_width(launch);
	shapes[2].dim[3] = 1;
	shapes[2].dim[2] = 2 * (q->padded.dim[2] + (joint ? joint->padded.dim[2] : 0));
	launch->output_count = TT_COUNT(shapes);
	for (size_t i = 0; i < TT_COUNT(shapes); i++)
		TT_TRY(tt_spec_simple(&launch->specs[i], &shapes[i], TTNN_BFLOAT16, TTNN_TILE,
				      &dram));
	return TTNN_OK;
}

/* ---- program memory ---------------------------------------------------------------------------------------- */

/* The height and width of the largest block of tiles that the matrix engine holds, and that divides these. */
void tt_ring_block(uint64_t out[2], const uint64_t size[2], uint64_t most, const uint64_t limit[2])
{
	static const uint8_t blocks[][2] = {{2, 4}, {4, 2}, {1, 8}, {8, 1}, {1, 7}, {7, 1}, {2, 3},
					    {3, 2}, {1, 6}, {6, 1}, {1, 5}, {5, 1}, {2, 2}, {1, 4},
					    {4, 1}, {1, 3}, {3, 1}, {1, 2}, {2, 1}};

	out[0] = out[1] = 1;
	for (size_t i = 0; i < TT_COUNT(blocks); i++) {
		uint64_t h = blocks[i][0], w = blocks[i][1];

		if (h * w > most || h > limit[0] || w > limit[1] || size[0] % h || size[1] % w)
			continue;
		out[0] = h;
		out[1] = w;
		return;
	}
}

struct sizes {
	uint64_t q, k, width, out_width; /* of chunks, in tiles */
	uint64_t mask, out;              /* tiles */
	bool twice, fp32, window, shared;
};

/* Two groups of rows take turns where a core has one chunk of queries, which they hold. */
static uint64_t out_tiles(const struct tt_launch *launch, const struct sizes *s)
{
	uint64_t most = tt_compute_tiles(&launch->attrs[TT_RING_COMPUTE]), block[2];
	bool in_place = s->shared && s->q == 1;

	tt_ring_block(block, (uint64_t[]){s->q, s->out_width}, most,
		      (uint64_t[]){s->fp32 ? s->q : 2, in_place ? 1 : s->out_width});
	if (block[0] == 1 && 2 * block[1] <= most && s->q >= 2)
		block[0] = 2;
	if (s->fp32 || (tt_ring_number(launch, TT_RING_SIZE) > 1 && s->twice) ||
	    s->q > 2 * block[0])
		return s->q * s->out_width;
	return 2 * block[0] * s->out_width;
}

/* Tiles of a mask, which are made once: -inf, the diagonal or the edges of a window, and tiles that end within. */
static uint64_t mask_tiles(const struct tt_launch *launch, uint64_t k_chunk)
{
	bool cut = launch->inputs[TT_RING_GATHERED_JOINT_K] != NULL;
	uint64_t rows =
		tt_ring_given(launch, TT_RING_BEFORE) ? 0 : tt_ring_number(launch, TT_RING_ROWS);
	uint64_t part = tt_ring_dim(launch, TT_RING_JOINT_Q, 2);
	uint64_t joint = cut ? tt_ring_number(launch, TT_RING_JOINT_ROWS) : part;
	bool window = tt_ring_given(launch, TT_RING_WINDOW);
	bool diagonal = tt_ring_flag(launch, TT_RING_CAUSAL) && !window;
	bool padded = tt_ring_dim(launch, TT_RING_K, 2) % k_chunk != 0 || rows % k_chunk != 0 ||
		      (part &&
		       (tt_div_up(part, TT_TILE) * TT_TILE % k_chunk != 0 || joint % k_chunk != 0));

	if (!padded && !diagonal && !window)
		return 0;
	return 1 + (window ? TT_RING_EDGES : diagonal) + (rows % TT_TILE != 0) +
	       (joint % TT_TILE != 0);
}

static tt_status sizes_of(struct sizes *s, const struct tt_launch *launch, uint64_t cores)
{
	uint64_t most = ttnn_core_set_cores(launch->grid);
	uint64_t q_chunk = tt_ring_chunk(launch, TT_SDPA_Q_CHUNK);
	const uint32_t *q = launch->inputs[TT_RING_Q]->spec.shape.dim;
	uint64_t chunks = tt_div_up(q[2], q_chunk) +
			  tt_div_up(tt_ring_dim(launch, TT_RING_JOINT_Q, 2), q_chunk);

	TT_REQUIRE(cores <= most,
		   "num_cores <= mesh_device->compute_with_storage_grid_size().x * "
		   "mesh_device->compute_with_storage_grid_size().y",
		   "Provided grid must not contain more cores than the device. Got %llu cores, "
		   "expected at most %llu cores.",
		   (unsigned long long)cores, (unsigned long long)most);
	*s = (struct sizes){
		.q = q_chunk / TT_TILE,
		.k = tt_ring_chunk(launch, TT_SDPA_K_CHUNK) / TT_TILE,
		.width = q[3] / TT_TILE,
		.out_width = tt_ring_width(launch) / TT_TILE,
		.mask = mask_tiles(launch, tt_ring_chunk(launch, TT_SDPA_K_CHUNK)),
		.twice = tt_div_up((uint64_t)q[0] * q[1] * chunks, cores) > 1,
		.fp32 = tt_compute_has(&launch->attrs[TT_RING_COMPUTE], TT_COMPUTE_FP32),
		.window = tt_ring_given(launch, TT_RING_WINDOW),
		.shared = !launch->inputs[TT_RING_V],
	};
	s->out = out_tiles(launch, s);
	TT_REQUIRE(!tt_ring_given(launch, TT_RING_BEFORE) || !s->fp32,
		   "!kv_pad_rotation_enabled || use_streaming_compute",
		   "kv_actual_isl requires the ring-joint streaming compute path; the "
		   "compute_common.hpp path selected by fp32_dest_acc_en=true is not supported.");
	TT_REQUIRE(!s->shared || !s->fp32, "use_streaming_compute || !v_shares_k_buffer",
		   "Latent-V ring attention is implemented only for streaming compute "
		   "(fp32_dest_acc_en must be false)");
	return TTNN_OK;
}

/* The gathering beside it. Of a window one worker sends what the next chip needs. */
static tt_status sender_rows(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct tt_ring_senders senders = {
		.offset = launch->attrs[TT_RING_OFFSET].core,
		.columns = tt_ring_flag(launch, TT_RING_COLUMNS),
		.links = tt_ring_number(launch, TT_RING_LINKS),
		.page = tt_tensor_tile_bytes(launch->inputs[TT_RING_K]),
	};
	bool window = tt_ring_given(launch, TT_RING_WINDOW);
	const ttnn_core_set *back;

	TT_REQUIRE(
		!window || tt_ring_number(launch, TT_RING_SEMAPHORES) >= 3,
		"semaphores.size() >= 3",
		"Neighbor halo requires three global semaphores: backward all-gather, forward "
		"all-gather, and dedicated halo. Sliding-window models must allocate 3 semaphores; "
		"non-halo models may allocate 2");
	if (!window)
		return tt_ring_sender_rows(plan, launch, &senders);
	TT_TRY(tt_ring_workers(&back, launch, &senders, (const uint64_t[]){1, 0}));
	return TT_PLAN(plan, back, TT_CB_ROW(0, NULL, .pages = 32, .page = senders.page),
		       TT_CB_ROW(1, NULL, .pages = 16, .page = 48));
}

/* Buffers are numbered as they come. */
static tt_status ring_rows(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *const *in = launch->inputs;
	uint64_t small = tt_tile_bytes_of(TTNN_BFLOAT16), sums;
	uint64_t k_tile = tt_tensor_tile_bytes(in[TT_RING_K]), kept;
	const ttnn_core_set *grid;
	struct sizes s = {0};

	TT_TRY(tt_sdpa_cores(&grid, launch, &launch->attrs[TT_RING_CONFIG]));
	TT_TRY(sizes_of(&s, launch, ttnn_core_set_cores(grid)));
	sums = tt_tile_bytes_of(s.fp32 ? TTNN_FLOAT32 : TTNN_BFLOAT16);
	kept = s.window ? 0 : s.q; /* between parts */
	TT_TRY(TT_PLAN(
		plan, grid,
		TT_CB_ROW(0, "cb_q_in", .pages = s.q * s.width * (s.twice ? 2 : 1),
			  .page = tt_tensor_tile_bytes(in[TT_RING_Q])),
		TT_CB_ROW(1, "cb_k_in", .pages = s.k * s.width * (s.shared ? 3 : 2),
			  .page = k_tile),
		TT_CB_ROW(2, "cb_v_in", .pages = s.shared ? 0 : 2 * s.k * s.out_width,
			  .page = k_tile),
		TT_CB_ROW(3, "cb_mask_in", .pages = s.mask, .page = small),
		TT_CB_ROW(4, "cb_attention_sink", .pages = in[TT_RING_SINK] != NULL, .page = small),
		TT_CB_ROW(5, "cb_scale_in", .pages = 1, .page = small),
		TT_CB_ROW(6, "cb_identity_scale_in", .pages = 1, .page = small),
		TT_CB_ROW(7, "cb_col_identity", .pages = 1, .page = small),
		TT_CB_ROW(8, "cb_qk_im", .pages = s.q * s.k, .page = sums),
		TT_CB_ROW(9, "cb_out_im_A", .pages = s.q * s.out_width, .page = small),
		TT_CB_ROW(10, "cb_out_im_B", .pages = s.q * s.out_width, .page = small),
		TT_CB_ROW(11, "cb_max_A", .pages = s.q, .page = small),
		TT_CB_ROW(12, "cb_max_B", .pages = s.q, .page = small),
		TT_CB_ROW(13, "cb_sum_A", .pages = s.q, .page = sums),
		TT_CB_ROW(14, "cb_sum_B", .pages = s.q, .page = sums),
		TT_CB_ROW(15, "cb_exp_max_diff", .pages = s.q, .page = small),
		TT_CB_ROW(16, "cb_out", .pages = s.out, .page = small),
		TT_CB_ROW(17, "cb_stats_in", .pages = kept, .page = small),
		TT_CB_ROW(18, "cb_prev_out", .pages = kept * s.out_width, .page = small),
		TT_CB_ROW(19, "cb_stats_out", .pages = kept, .page = small),
		TT_CB_ROW(20, "cb_recip_scratch", .pages = !s.fp32, .page = small),
		TT_CB_ROW(21, "cb_sum_out", .pages = s.fp32 ? 0 : kept, .page = small),
		TT_CB_ROW(22, "cb_sum_in", .pages = s.fp32 ? 0 : kept, .page = small),
		TT_CB_ROW(23, "cb_signal", .pages = !s.fp32, .page = 16),
		TT_CB_ROW(24, "cb_kv_pad_derived", .pages = 1, .page = 64)));
	return sender_rows(plan, launch);
}

/* Queries of the chip with the keys of all. */
void tt_ring_cost(struct tt_cost *cost, const struct tt_launch *launch)
{
	const uint32_t *q = launch->inputs[TT_RING_Q]->spec.shape.dim;
	uint64_t joint = tt_ring_dim(launch, TT_RING_JOINT_Q, 2);
	uint64_t width = (uint64_t)q[3] + tt_ring_width(launch);

	tt_cost_set_product(cost, launch,
			    &(struct tt_perf_product){
				    .m = q[2] + joint,
				    .k = tt_ring_flag(launch, TT_RING_CAUSAL) ? width / 2 : width,
				    .n = tt_ring_dim(launch, TT_RING_GATHERED_K, 2) + joint,
				    .batch = (uint64_t)q[0] * q[1],
			    });
}

static const struct tt_prog program = {
	.device_op = "RingJointSDPADeviceOperation",
	.prim = "ttnn::prim::ring_joint_scaled_dot_product_attention",
	.attrs = &schema,
	.infer = tt_ring_infer,
	.validate = tt_ring_check,
	TT_FACTORY("ttnn::prim::RingJointSDPAMeshWorkloadFactory", ring_rows),
	TT_KERNEL(tt_ring_run),
	.cost = tt_ring_cost,
	.per_chip = true,
	.together = true,
	.drops_forward = true,
};

/* ---- operations -------------------------------------------------------------------------------------------- */

/* What models do not ask for. */
static tt_status check_taken(const struct tt_call *call)
{
	static const char *const tensors[] = {"logical_n", "logical_l", "slot_id",
					      "kv_actual_isl_tensor", "kv_valid_end_tensor"};

	static const char *const joint[] = {"joint_tensor_q", "joint_tensor_k", "joint_tensor_v"};
	const struct ttnn_value *length = tt_call_arg(call, "logical_l");

	for (size_t i = 0; i < TT_COUNT(joint); i++)
		TT_NEED(!tt_call_tensor(call, joint[i]) ||
				tt_call_tensor(call, joint[i])->spec.shape.rank == 4,
			"%s has four dimensions", joint[i]);
	TT_NEED(!tt_value_given(length) || length->kind == TTNN_VALUE_INT ||
			length->kind == TTNN_VALUE_TENSOR,
		"logical_l is a whole number");
	for (size_t i = 0; i < TT_COUNT(tensors); i++)
		if (tt_call_arg(call, tensors[i])->kind == TTNN_VALUE_TENSOR)
			return tt_fail(TTNN_UNSUPPORTED, "%s: %s in a tensor is not supported",
				       call->entry->op->name, tensors[i]);
	if (!tt_value_given(tt_call_arg(call, "cluster_axis")))
		return tt_fail(TTNN_UNSUPPORTED,
			       "%s: a ring of all chips of a mesh is not supported",
			       call->entry->op->name);
	if (tt_call_bool(call, "circular_kv_cache", false))
		return tt_fail(TTNN_UNSUPPORTED, "%s: a circular cache is not supported",
			       call->entry->op->name);
	return TTNN_OK;
}

/* A second sequence without rows is none. */
static struct tt_tensor *joint_of(struct tt_call *call, const char *name)
{
	struct tt_tensor *tensor = tt_call_tensor(call, name);

	return tensor && tensor->spec.shape.dim[2] ? tensor : NULL;
}

/* Where a cut second sequence is gathered, if no tensor is given for it. */
static tt_status gathered_joint(struct tt_tensor **out, struct tt_call *call, const char *name,
				struct tt_tensor *joint, uint32_t ring)
{
	struct ttnn_shape shape = joint->spec.shape;
	struct ttnn_tensor_spec spec;

	*out = tt_call_tensor(call, name);
	if (*out)
		return TTNN_OK;
	shape.dim[2] *= ring;
	TT_TRY(tt_spec_simple(&spec, &shape, joint->spec.dtype, TTNN_TILE, &joint->spec.memory));
	TT_TRY(tt_call_create(out, call, tt_tensor_device(joint), &spec));
	tt_call_own(call, *out);
	return TTNN_OK;
}

static tt_status ring_inputs(struct tt_tensor *in[TT_RING_INPUTS], struct tt_call *call,
			     bool latent, const struct ttnn_value attrs[TT_RING_ATTR_COUNT])
{
	uint32_t ring = (uint32_t)attrs[TT_RING_SIZE].integer;

	in[TT_RING_K] = tt_call_tensor(call, latent ? "input_tensor_kv" : "input_tensor_k");
	in[TT_RING_V] = tt_call_tensor(call, "input_tensor_v");
	in[TT_RING_JOINT_Q] = joint_of(call, "joint_tensor_q");
	in[TT_RING_JOINT_K] = joint_of(call, "joint_tensor_k");
	in[TT_RING_JOINT_V] = joint_of(call, "joint_tensor_v");
	in[TT_RING_GATHERED_K] = tt_call_tensor(call, latent ? "persistent_output_buffer_kv"
							     : "persistent_output_buffer_k");
	in[TT_RING_GATHERED_V] = tt_call_tensor(call, "persistent_output_buffer_v");
	in[TT_RING_SINK] = tt_call_tensor(call, "attention_sink");
	if (!in[TT_RING_JOINT_K] || !in[TT_RING_JOINT_V] || !attrs[TT_RING_JOINT_ROWS].integer ||
	    in[TT_RING_JOINT_K]->spec.shape.dim[2] >= attrs[TT_RING_JOINT_ROWS].integer)
		return TTNN_OK;
	TT_TRY(gathered_joint(&in[TT_RING_GATHERED_JOINT_K], call,
			      "persistent_output_buffer_joint_k", in[TT_RING_JOINT_K], ring));
	return gathered_joint(&in[TT_RING_GATHERED_JOINT_V], call,
			      "persistent_output_buffer_joint_v", in[TT_RING_JOINT_V], ring);
}

static tt_status ring_attrs(struct ttnn_value attrs[TT_RING_ATTR_COUNT], struct tt_call *call,
			    const struct tt_device *device)
{
	static const struct tt_compute_usual usual = {.fidelity = TT_HIFI2, .approx = true};
	const struct ttnn_value *semaphores = tt_call_arg(call, "multi_device_global_semaphore");
	struct ttnn_value offset = {.kind = TTNN_VALUE_CORE};
	long long dim = tt_call_int(call, "dim", 0),
		  layers = tt_call_int(call, "kv_cache_num_layers", 1);
	long long layer = tt_call_int(call, "kv_cache_layer_idx", 0);

	for (int i = 0; i < TT_RING_ATTR_COUNT; i++)
		attrs[i] = *tt_call_arg(call, fields[i].name);
	TT_NEED(tt_object_core(&offset.core, &attrs[TT_RING_OFFSET]),
		"ccl_core_grid_offset is a core");
	TT_REQUIRE(dim >= -4 && dim < 4, "gather_dim >= -rank && gather_dim <= rank - 1",
		   "Dimension input should be in between -4 and 3, but has %lld", dim);
	attrs[TT_RING_OFFSET] = offset;
	attrs[TT_RING_SIZE] =
		ttnn_v_int(tt_group_size(device, tt_group_axis(&attrs[TT_RING_AXIS])));
	attrs[TT_RING_DIM] = ttnn_v_int(dim < 0 ? dim + 4 : dim);
	attrs[TT_RING_COMPUTE] =
		tt_compute_config(call, tt_call_arg(call, "compute_kernel_config"), &usual);
	attrs[TT_RING_LAYERS] = ttnn_v_int(layers);
	attrs[TT_RING_LAYER] = ttnn_v_int(layer);
	attrs[TT_RING_SEMAPHORES] =
		ttnn_v_int(semaphores->kind == TTNN_VALUE_LIST ? semaphores->count : 3);
	return TTNN_OK;
}

static tt_status ring_attend(struct tt_call *call)
{
	struct tt_tensor *in[TT_RING_INPUTS] = {tt_call_tensor(call, "input_tensor_q")}, *out[3];
	bool latent = tt_call_tensor(call, "input_tensor_kv") != NULL;
	struct ttnn_value attrs[TT_RING_ATTR_COUNT];
	size_t count;

	TT_TRY(tt_need_device(in[0]));
	TT_TRY(check_taken(call));
	TT_TRY(ring_attrs(attrs, call, tt_tensor_device(in[0])));
	if (latent) {
		attrs[TT_RING_STRATEGY] = ttnn_v_string("rear");
		attrs[TT_RING_CAUSAL] = ttnn_v_bool(true);
		attrs[TT_RING_LATENT] = *tt_call_arg(call, "head_dim_v");
	}
	TT_TRY(ring_inputs(in, call, latent, attrs));
	TT_TRY(tt_call_programs(out, &count, call,
				&(struct tt_program_args){.prog = &program,
							  .attrs = attrs,
							  .inputs = in,
							  .input_count = TT_RING_INPUTS}));
	for (size_t i = 0; i < count; i++)
		if (latent && i == 1)
			tt_call_own(call, out[i]);
		else
			tt_call_return(call, out[i]);
	return TTNN_OK;
}

#define PLACES                                                                                     \
	"program_config: ProgramConfig, scale: float? = None, compute_kernel_config: "             \
	"ComputeConfig? = None, dim: int, multi_device_global_semaphore: any, num_links: size, "
#define MESH                                                                                       \
	"mesh_device: Device, topology: enum, subdevice_id: SubDeviceId? = None, "                 \
	"ccl_core_grid_offset: CoreCoord, use_column_major_ccl: bool = False, "
#define CACHE                                                                                      \
	"slot_id: Tensor? = None, kv_actual_isl_tensor: Tensor? = None, kv_cache_num_layers: "     \
	"size? = None, kv_cache_layer_idx: size? = None, kv_valid_end_tensor: Tensor? = None"
static const struct tt_prog *const programs[] = {&program, NULL};
static const struct tt_op ops[] = {
	{.name = "ttnn.transformer.ring_joint_scaled_dot_product_attention",
	 .family = "attention_ring",
	 .doc = "Attention of a sequence that is cut among chips, and of another one behind it.",
	 .sigs = {"input_tensor_q: Tensor, input_tensor_k: Tensor, input_tensor_v: Tensor, "
		  "joint_tensor_q: Tensor? = None, joint_tensor_k: Tensor? = None, "
		  "joint_tensor_v: Tensor? = None, *, persistent_output_buffer_k: Tensor, "
		  "persistent_output_buffer_v: Tensor, joint_strategy: str, logical_n: any, "
		  "logical_l: any = 0, " PLACES "cluster_axis: size, " MESH
		  "is_causal: bool = False, is_balanced: bool = False, is_cross: bool = False, "
		  "kv_cache_batch_idx: size? = None, kv_actual_isl: size? = None, attention_sink: "
		  "Tensor? = None, sliding_window_size: size? = None, circular_kv_cache: bool = "
		  "False, persistent_output_buffer_joint_k: Tensor? = None, "
		  "persistent_output_buffer_joint_v: Tensor? = None, " CACHE},
	 .expand = ring_attend,
	 .golden = tt_golden_attention_ring,
	 .pcc = 0.99,
	 .gives = "Tensor, Tensor, Tensor",
	 .programs = programs},
	{.name = "ttnn.transformer.ring_mla",
	 .family = "attention_ring",
	 .doc = "Latent attention of a sequence that is cut among chips.",
	 .sigs = {"input_tensor_q: Tensor, input_tensor_kv: Tensor, *, persistent_output_buffer_kv: "
		  "Tensor, head_dim_v: size, logical_n: size, " PLACES "cluster_axis: size?, " MESH
		  "is_balanced: bool = False, kv_cache_batch_idx: size? = None, kv_actual_isl: "
		  "size? = None, " CACHE},
	 .expand = ring_attend,
	 .golden = tt_golden_attention_ring,
	 .pcc = 0.99,
	 .gives = "Tensor, Tensor",
	 .programs = programs},
};

const struct tt_op_family tt_family_attention_ring = {"attention_ring", ops, TT_COUNT(ops)};
