/*
 * indexer_ring.c: ring_indexer_score_dsa: how much keys matter to queries where each chip of a ring has a part of the keys, which are
 * gathered on the way.
 *
 * Models the part of IndexerScoreDeviceOperation of ttnn 0.81 that is a ring, with RingIndexerScoreDsaMeshWorkloadFactory, which builds a
 * program for each chip: refusals, memory, cores, also of the senders beside it. Numbers that are on the device are read when the
 * program runs. Not modelled: the order in which bands of keys are visited; how a ring of a whole mesh winds through it.
 */
#include <inttypes.h>

#include "device/fabric.h"
#include "ops/attention/attention_ring.h"
#include "ops/attention/heads.h"
#include "ops/attention/indexer_score.h"
#include "ops/collective/collective.h"
#include "ops/creation/creation.h"
#include "ops/op_enums.h"

#define RING_MOST 32

enum {
	LINKS,
	TOPOLOGY,
	SEMAPHORES,
	SUB_DEVICE,
	WHOLE,
	WINDING,
	MESH_ROWS,
	MESH_COLS,
	ORDER,
	FIELDS
};
static const struct tt_field ring_fields[FIELDS] = {
	[LINKS] = {.name = "num_links"},
	[TOPOLOGY] = {.name = "topology"},
	[SEMAPHORES] = {.name = "ag_semaphore",
			.text = TT_TEXT_EACH,
			.fixed = "<GlobalSemaphore>",
			.unkeyed = true},
	[SUB_DEVICE] = {.name = "ag_sub_device_id"},
	[WHOLE] = {.name = "full_mesh"},
	[WINDING] = {.name = "orientation", .text = TT_TEXT_ALWAYS, .fixed = "Orientation::Row"},
	[MESH_ROWS] = {.name = "mesh_rows"},
	[MESH_COLS] = {.name = "mesh_cols"},
	[ORDER] = {.name = "order"},
};
static const struct tt_schema ring_schema = {"FusedRingConfig", ring_fields, FIELDS, false};

static const struct tt_field cyclic_fields[] = {{.name = "sp"}, {.name = "chunk_local"}};
static const struct tt_schema cyclic_schema = {"BlockCyclicLayout", cyclic_fields, 2, false};

/* ---- refusals of the program --------------------------------------------------------------------------------------- */

static tt_status check_slabs(const struct tt_launch *launch)
{
	const struct ttnn_value *cyclic = &launch->attrs[TT_SCORE_CYCLIC];
	uint32_t keys = launch->inputs[TT_SCORE_K]->spec.shape.dim[2];
	uint32_t rows = launch->inputs[TT_SCORE_Q]->spec.shape.dim[2];
	uint64_t chunk, all, ratio = tt_attr_u32(launch, TT_SCORE_RATIO);

	if (!tt_value_given(cyclic))
		return TTNN_OK;
	chunk = (uint64_t)cyclic->items[TT_SCORE_CHUNK].integer;
	all = chunk * (uint64_t)cyclic->items[TT_SCORE_CHIPS].integer;
	TT_REQUIRE(chunk && chunk % TT_TILE == 0,
		   "chunk_local > 0 && chunk_local % tt::constants::TILE_WIDTH == 0",
		   "block_cyclic_chunk_local (%" PRIu64 ") must be > 0 and tile-aligned", chunk);
	TT_REQUIRE(keys % all == 0, "T % chunk_global == 0",
		   "global chunk %" PRIu64
		   " (= sp*chunk_local) must divide T %u (the cache must be "
		   "a whole number of global chunks)",
		   all, keys);
	TT_NEED(rows <= chunk * ratio, "indexer_score: a chip has %u rows of a chunk of %" PRIu64,
		rows, chunk * ratio);
	return TTNN_OK;
}

static tt_status check_parts(const struct tt_launch *launch)
{
	const struct ttnn_memory_config *memory = &launch->inputs[TT_SCORE_LOCAL]->spec.memory;
	const struct ttnn_value *ring = launch->attrs[TT_SCORE_RING].items;
	bool nd = memory->has_nd_shard && memory->buffer == TTNN_DRAM;
	uint32_t semaphores = ring[SEMAPHORES].kind == TTNN_VALUE_LIST ? ring[SEMAPHORES].count : 0;

	TT_REQUIRE(!tt_memory_config_is_sharded(memory) || nd,
		   "kl_mem.memory_layout() == TensorMemoryLayout::INTERLEAVED || nd_sharded_dram",
		   "indexer_score fused: k_local must be interleaved or ND-sharded DRAM (got "
		   "TensorMemoryLayout::%s)",
		   tt_enum_name(&tt_enum_memory_layout, (int64_t)memory->layout));
	TT_REQUIRE(semaphores >= 2, "semaphores.size() >= 2",
		   "indexer_score fused: ag_multi_device_global_semaphore needs >= 2 global "
		   "semaphores (got %u)",
		   semaphores);
	return TTNN_OK;
}

/* A tensor with one number. */
static tt_status check_number(const struct tt_launch *launch, size_t input, const char *name)
{
	const struct ttnn_tensor_spec *spec;
	uint64_t volume;

	if (!launch->inputs[input])
		return TTNN_OK;
	spec = &launch->inputs[input]->spec;
	TT_REQUIRE(spec->dtype == TTNN_UINT32, "m.dtype() == DataType::UINT32",
		   "indexer_score: %s must be UINT32 (got DataType::%s)", name,
		   tt_enum_name(&tt_enum_dtype, (int64_t)spec->dtype));
	TT_REQUIRE(spec->layout == TTNN_ROW_MAJOR, "m.layout() == Layout::ROW_MAJOR",
		   "indexer_score: %s must be ROW_MAJOR (got Layout::TILE)", name);
	TT_TRY(ttnn_shape_volume(&volume, &spec->shape));
	TT_REQUIRE(volume == 1, "m.logical_volume() == 1",
		   "indexer_score: %s must hold exactly 1 element (got %" PRIu64 ")", name, volume);
	TT_REQUIRE(spec->memory.buffer == TTNN_DRAM,
		   "m.memory_config().buffer_type() == BufferType::DRAM",
		   "indexer_score: %s must be in DRAM", name);
	return TTNN_OK;
}

static tt_status check_slot_number(const struct tt_launch *launch)
{
	uint32_t layers = tt_attr_u32(launch, TT_SCORE_LAYERS),
		 layer = tt_attr_u32(launch, TT_SCORE_LAYER);

	if (!launch->inputs[TT_SCORE_SLOT_THERE])
		return TTNN_OK;
	TT_REQUIRE(
		!tt_value_given(&launch->attrs[TT_SCORE_SLOT]),
		"!attrs.cache_batch_idx.has_value()",
		"indexer_score: cache_batch_idx and cache_batch_idx_tensor are mutually exclusive "
		"-- pass the scalar OR the 1-element user-id tensor (the tensor is the trace-safe "
		"form)");
	TT_REQUIRE(launch->inputs[TT_SCORE_START_THERE], "t.has_chunk_start_metadata()",
		   "indexer_score: cache_batch_idx_tensor requires chunk_start_idx_tensor -- the "
		   "fused all-gather derives the slot and the valid extent from the same metadata, "
		   "and a slot with a host-scalar extent would be frozen at capture time anyway");
	TT_TRY(check_number(launch, TT_SCORE_SLOT_THERE, "cache_batch_idx_tensor"));
	TT_REQUIRE(layer < layers, "attrs.index_cache_layer_idx < attrs.index_cache_num_layers",
		   "indexer_score: index_cache_layer_idx %u must be < index_cache_num_layers %u",
		   layer, layers);
	return TTNN_OK;
}

static tt_status check_numbers(const struct tt_launch *launch)
{
	if (launch->inputs[TT_SCORE_START_THERE]) {
		TT_REQUIRE(
			!tt_value_given(&launch->attrs[TT_SCORE_LENGTH]),
			"!attrs.kv_len.has_value()",
			"indexer_score: kv_len must not be set alongside chunk_start_idx_tensor -- "
			"on the metadata path it is derived on-device as chunk_start_idx + "
			"sp*chunk_local (exactly what the scalar path passes)");
		TT_REQUIRE(tt_value_given(&launch->attrs[TT_SCORE_CYCLIC]),
			   "attrs.has_block_cyclic()",
			   "indexer_score: chunk_start_idx_tensor requires the block-cyclic layout "
			   "(block_cyclic_chunk_local), whose sp/chunk_local are what the kernel "
			   "derives kv_len and the causal rotation from");
		TT_TRY(check_number(launch, TT_SCORE_START_THERE, "chunk_start_idx_tensor"));
	}
	TT_REQUIRE(
		!launch->inputs[TT_SCORE_END_THERE] || launch->inputs[TT_SCORE_START_THERE],
		"t.has_chunk_start_metadata()",
		"indexer_score: valid_end_tensor requires chunk_start_idx_tensor -- it only CAPS "
		"the bound the chunk-start derivation produces, so on its own there is nothing for "
		"it to cap");
	TT_TRY(check_number(launch, TT_SCORE_END_THERE, "valid_end_tensor"));
	return check_slot_number(launch);
}

static uint32_t ring_size(const struct tt_launch *launch)
{
	const struct ttnn_value *axes = &launch->attrs[TT_SCORE_AXES];

	return tt_group_size(launch->device, axes->count ? axes->items[0].integer : -1);
}

/* What a chip has of the keys is as the gathered ones are. */
static tt_status check_local(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *part = &launch->inputs[TT_SCORE_LOCAL]->spec;
	const struct ttnn_tensor_spec *all = &launch->inputs[TT_SCORE_K]->spec;
	const uint32_t *p = part->shape.dim, *a = all->shape.dim;
	bool one = tt_value_given(&launch->attrs[TT_SCORE_SLOT]) ||
		   launch->inputs[TT_SCORE_SLOT_THERE];

	TT_REQUIRE(all->shape.rank == 4, "ks.rank() == 4",
		   "indexer_score fused: gathered k must be rank 4");
	TT_REQUIRE(part->shape.rank == 4 && p[1] == 1, "kls.rank() == 4 && kls[1] == 1",
		   "indexer_score fused: k_local must be [B,1,sll,D]");
	TT_REQUIRE(!one || a[0] == 1, "ks[0] == 1",
		   "indexer_score fused indexed cache requires gathered k batch 1 (got %u)", a[0]);
	TT_REQUIRE(one || p[0] == a[0], "kls[0] == ks[0]",
		   "indexer_score fused: k_local batch %u must equal gathered k batch %u when no "
		   "cache slot is selected (neither cache_batch_idx nor cache_batch_idx_tensor)",
		   p[0], a[0]);
	TT_REQUIRE(p[3] == a[3], "kls[3] == ks[3]",
		   "indexer_score fused: k_local head dim %u != k head dim %u", p[3], a[3]);
	TT_REQUIRE(part->dtype == all->dtype, "kl.dtype() == k.dtype()",
		   "indexer_score fused: k_local dtype DataType::%s must match gathered k dtype "
		   "DataType::%s (the reader reads local + remote shards as one format)",
		   tt_enum_name(&tt_enum_dtype, (int64_t)part->dtype),
		   tt_enum_name(&tt_enum_dtype, (int64_t)all->dtype));
	TT_REQUIRE(part->layout == TTNN_TILE, "kl.layout() == Layout::TILE",
		   "indexer_score fused: k_local must be TILE layout");
	TT_REQUIRE(p[2] % TT_TILE == 0, "kls[2] % tt::constants::TILE_WIDTH == 0",
		   "indexer_score fused: k_local seq %u must be tile-aligned", p[2]);
	TT_REQUIRE(ring_size(launch) <= RING_MOST, "ring_size <= 32",
		   "indexer_score fused: ring_size %u exceeds the reader's maximum supported ring "
		   "size 32",
		   ring_size(launch));
	TT_REQUIRE(a[2] == ring_size(launch) * p[2], "ks[2] == ring_size * kls[2]",
		   "indexer_score fused: gathered k seq %u must equal ring_size (%u) * k_local seq "
		   "(%u)",
		   a[2], ring_size(launch), p[2]);
	return TTNN_OK;
}

tt_status tt_score_check_ring(const struct tt_launch *launch)
{
	const struct ttnn_value *ring = launch->attrs[TT_SCORE_RING].items;
	int64_t topology = ring[TOPOLOGY].integer;
	struct tt_score_work w;

	TT_TRY(check_slabs(launch));
	TT_TRY(check_parts(launch));
	TT_TRY(check_numbers(launch));
	TT_TRY(check_local(launch));
	TT_REQUIRE(topology == TT_TOPOLOGY_LINEAR || topology == TT_TOPOLOGY_RING,
		   "fused.topology == ttnn::ccl::Topology::Linear || fused.topology == "
		   "ttnn::ccl::Topology::Ring",
		   "indexer_score fused: topology must be Linear or Ring");
	TT_TRY(tt_need_dim(&launch->inputs[TT_SCORE_Q]->spec.shape, 3));
	tt_score_work_of(&w, launch);
	TT_REQUIRE(w.at_once == w.heads,
		   "resolve_head_group(attrs.program_config, q_shape[1]) == q_shape[1]",
		   "indexer_score fused: head_group_size must be 0 or Hi (no head streaming)");
	return TTNN_OK;
}

/* ---- the program --------------------------------------------------------------------------------------------------- */

/* The senders have columns of their own at the right; numbers on the device go to all cores. */
static tt_status ring_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct tt_device *device = launch->device;
	const struct ttnn_core grid = device->info.compute_grid;
	int64_t links = launch->attrs[TT_SCORE_RING].items[LINKS].integer;
	struct tt_ring_senders senders = {.columns = true,
					  .page = tt_page_in1(launch),
					  .numbers = launch->inputs[TT_SCORE_START_THERE] != NULL};
	uint64_t kept, numbers = 0;

	TT_REQUIRE(links >= 1, "fused.num_links >= 1",
		   "indexer_score fused: num_links must be >= 1 (got %" PRId64 ")", links);
	kept = tt_div_up(2 * (uint64_t)links, grid.y);
	TT_REQUIRE(grid.x > kept, "phys_grid.x > reserved_cols",
		   "indexer_score fused: grid too small to reserve %" PRIu64 " AG cols", kept);
	if (senders.numbers)
		numbers = launch->inputs[TT_SCORE_SLOT_THERE] ? 3 : 2;
	TT_TRY(tt_score_rows(plan, launch, grid.x - kept, numbers));
	TT_REQUIRE(!launch->attrs[TT_SCORE_RING].items[WHOLE].boolean ||
			   (device->rows > 1 && device->cols > 1),
		   "rank_mapping.mesh_rows > 1 && rank_mapping.mesh_cols > 1",
		   "full-mesh ring-attention requires both mesh dimensions greater than one, got "
		   "%ux%u",
		   device->rows, device->cols);
	senders.offset = (struct ttnn_core){grid.x - (uint32_t)kept, 0};
	senders.links = (uint64_t)links;
	return tt_ring_sender_rows(plan, launch, &senders);
}

static tt_status ring_choose(uint32_t *out, struct tt_launch *launch)
{
	(void)launch;
	*out = 1;
	return TTNN_OK;
}

/* The first one is that without a ring, which indexer_score.c has. */
static const struct tt_factory factories[] = {
	TT_FACTORY_ROW("ttnn::operations::experimental::indexer_score::program::"
		       "IndexerScoreProgramFactory",
		       NULL),
	TT_FACTORY_ROW("ttnn::operations::experimental::indexer_score::program::"
		       "RingIndexerScoreDsaMeshWorkloadFactory",
		       ring_memory),
};

static const struct tt_prog program = {
	.device_op = "IndexerScoreDeviceOperation",
	.prim = "ttnn::prim::indexer_score",
	.attrs = &tt_score_schema,
	.infer = tt_score_infer,
	.validate = tt_score_validate,
	TT_FACTORIES(factories),
	.choose = ring_choose,
	.key = tt_score_key,
	TT_KERNEL(tt_score_ring_kernel),
	.per_chip = true,
	.together = true,
};

/* ---- the operation ------------------------------------------------------------------------------------------------- */

/* How a call's rows and keys are spread; an axis is -1 where none is named. */
struct spread {
	int64_t axis, sub, slabs, chunk, ratio, rows;
	int64_t chips, others, stripes; /* chips of the ring, and of the mesh for each of them */
};

/* A ring of all chips of a mesh. */
static tt_status check_whole(const struct tt_call *call)
{
	TT_REQUIRE(!tt_value_given(tt_call_arg(call, "seq_subshard_axis")),
		   "!seq_subshard_axis.has_value()",
		   "ring_indexer_score_dsa cluster_axis=None does not allow seq_subshard_axis");
	TT_REQUIRE(!tt_value_given(tt_call_arg(call, "block_cyclic_sp_axis")),
		   "!block_cyclic_sp_axis.has_value()",
		   "ring_indexer_score_dsa cluster_axis=None does not allow block_cyclic_sp_axis; "
		   "pass only block_cyclic_chunk_local for a full-mesh block-cyclic cache");
	TT_REQUIRE(
		tt_fabric_is_plane(tt_fabric_of(true)) && tt_fabric_is_plane(ttnn_fabric_get()),
		"tt::tt_fabric::is_2d_fabric_config(fabric_config)",
		"ring_indexer_score_dsa cluster_axis=None requires a 2D fabric config (FABRIC_2D "
		"or FABRIC_2D_TORUS_X/Y/XY), got FabricConfig::%s",
		tt_enum_name(&tt_enum_fabric, (int64_t)ttnn_fabric_get()));
	return TTNN_OK;
}

static tt_status check_given(const struct tt_call *call, const struct spread *s)
{
	bool axis = s->slabs >= 0, chunk = s->chunk >= 0;

	if (s->axis < 0) {
		TT_REQUIRE(!chunk || s->chunk == s->rows, "query_chunk_local == Sq",
			   "indexer_score fused full-mesh block_cyclic_chunk_local (%" PRId64
			   ") must equal q_isl (%" PRId64 ")",
			   s->chunk, s->rows);
		return TTNN_OK;
	}
	TT_REQUIRE(axis == chunk,
		   "block_cyclic_sp_axis.has_value() == block_cyclic_chunk_local.has_value()",
		   "indexer_score: block_cyclic_sp_axis and block_cyclic_chunk_local must both be "
		   "set or both unset (got sp_axis=%s, chunk_local=%s)",
		   axis ? "true" : "false", chunk ? "true" : "false");
	TT_REQUIRE(!tt_call_bool(call, "block_cyclic_cache_tp_sharded", false) || axis,
		   "!block_cyclic_cache_tp_sharded || block_cyclic_sp_axis.has_value()",
		   "indexer_score: block_cyclic_cache_tp_sharded requires block_cyclic_sp_axis / "
		   "block_cyclic_chunk_local");
	TT_REQUIRE(s->sub < 0 || axis,
		   "!seq_subshard_axis.has_value() || block_cyclic_sp_axis.has_value()",
		   "indexer_score: seq_shard_axes[1] (TP sub-shard) requires a block-cyclic layout "
		   "(block_cyclic_sp_axis/chunk_local)");
	TT_REQUIRE(!axis || s->axis == s->slabs,
		   "cluster_axis.has_value() && *cluster_axis == *block_cyclic_sp_axis",
		   "indexer_score fused: block_cyclic_sp_axis (%" PRId64
		   ") must equal cluster_axis (the ring axis)",
		   s->slabs);
	return TTNN_OK;
}

/* Slabs are as long as a chip's rows, or as those of all chips that stand for one of the ring. */
static tt_status check_slab_rows(const struct spread *s)
{
	bool both = s->chunk == s->rows * s->others && s->others > 1;

	TT_REQUIRE(s->chunk == s->rows || s->chunk == s->rows * s->others,
		   "query_chunk_local == Sq || query_chunk_local == Sq * tp",
		   "indexer_score: block_cyclic_chunk_local (%" PRId64 ") must be q_isl (%" PRId64
		   ") or tp*q_isl (%" PRId64 ")",
		   s->chunk, s->rows, s->rows * s->others);
	TT_REQUIRE(
		!both || s->sub >= 0,
		"!(both_axes && cluster_axis.has_value() && !seq_subshard_axis.has_value())",
		"indexer_score: block_cyclic_chunk_local == tp*q_isl (tp=%" PRId64
		" > 1) with seq_shard_axes=[SP] needs the TP axis too (seq_shard_axes=[SP, TP]) so "
		"the second axis's seq offset is applied; or pass seq_shard_axes=[] (flat "
		"linearization).",
		s->others);
	TT_REQUIRE(s->sub < 0 || both, "cluster_axis.has_value() && both_axes",
		   "indexer_score: seq_shard_axes TP axis needs the SP axis present "
		   "(seq_shard_axes=[SP, TP]) and a 2D seq shard (block_cyclic_chunk_local == "
		   "tp*q_isl); got has_sp_axis=true, chunk_local=%" PRId64 ", Sq*tp=%" PRId64,
		   s->chunk, s->rows * s->others);
	TT_REQUIRE(s->sub < 0 || (s->sub < 2 && s->sub != s->axis),
		   "*seq_subshard_axis < mesh_shape.dims() && *seq_subshard_axis != *cluster_axis",
		   "indexer_score: seq_shard_axes TP axis (%" PRId64
		   ") must be an in-range mesh axis distinct from the SP axis (%" PRId64 ")",
		   s->sub, s->axis);
	TT_REQUIRE(
		s->stripes == 1 || s->chunk / s->ratio % (s->others * TT_TILE) == 0,
		"(query_chunk_local / key_compression_ratio) % (tp * tt::constants::TILE_WIDTH) == "
		"0",
		"indexer_score: block_cyclic_cache_tp_sharded needs block_cyclic_chunk_local "
		"(%" PRId64 ") divisible by tp (%" PRId64
		") with a tile-aligned (%d) per-stripe chunk",
		s->chunk, s->others, TT_TILE);
	return TTNN_OK;
}

static int64_t place_of(const struct tt_call *call, const char *name)
{
	return tt_call_int(call, name, -1);
}

static tt_status spread_of(struct spread *s, const struct tt_call *call,
			   const struct tt_device *device, const struct tt_tensor *q)
{
	int64_t all = (int64_t)device->rows * device->cols;

	*s = (struct spread){.axis = place_of(call, "cluster_axis"),
			     .sub = place_of(call, "seq_subshard_axis"),
			     .slabs = place_of(call, "block_cyclic_sp_axis"),
			     .chunk = place_of(call, "block_cyclic_chunk_local"),
			     .ratio = tt_call_int(call, "key_compression_ratio", 1),
			     .rows = q->spec.shape.dim[2]};
	if (s->axis < 0)
		TT_TRY(check_whole(call));
	TT_REQUIRE(s->axis < 2, "*cluster_axis < mesh_shape.dims()",
		   "ring_indexer_score_dsa cluster_axis must be an in-range mesh axis or None; got "
		   "%" PRId64 " for mesh MeshShape([%u, %u])",
		   s->axis, device->rows, device->cols);
	s->chips = tt_group_size(device, s->axis);
	s->others = all / s->chips;
	s->stripes = tt_call_bool(call, "block_cyclic_cache_tp_sharded", false) ? s->others : 1;
	TT_REQUIRE(s->ratio == 1 || s->ratio == 4,
		   "key_compression_ratio == 1 || key_compression_ratio == 4",
		   "indexer_score: key_compression_ratio must be 1 or 4 (got %" PRId64 ")",
		   s->ratio);
	TT_TRY(check_given(call, s));
	return s->axis >= 0 && s->slabs >= 0 ? check_slab_rows(s) : TTNN_OK;
}

/* Where the first rows are, if that is not said: so that all rows together end with the keys. */
static tt_status set_start(int64_t *out, const struct tt_call *call, const struct spread *s,
			   int64_t keys)
{
	bool given = tt_value_given(tt_call_arg(call, "chunk_start_idx"));
	bool slabs = s->chunk >= 0 && s->chips > 1;
	int64_t chips = s->chips == 1 && s->sub >= 0 ? s->others : s->chips;
	int64_t all = slabs ? s->chips * s->chunk : chips * s->rows;

	TT_REQUIRE(
		!given || !tt_call_tensor(call, "chunk_start_idx_tensor"),
		"!(chunk_start_idx.has_value() && chunk_start_idx_tensor.has_value())",
		"indexer_score: chunk_start_idx and chunk_start_idx_tensor are mutually exclusive");
	*out = tt_call_int(call, "chunk_start_idx", keys * s->ratio - all);
	TT_REQUIRE(given || !slabs || *out >= 0,
		   "static_cast<uint64_t>(T) * key_compression_ratio >= query_chunk",
		   "indexer_score: cannot deduce chunk_start_idx -- compressed T=%" PRId64
		   " (ratio %" PRId64 ") is shorter than global query chunk=%" PRId64
		   ". Pass chunk_start_idx explicitly if K does not equal history + the gathered "
		   "chunk.",
		   keys, s->ratio, all);
	TT_REQUIRE(
		given || *out >= 0,
		"static_cast<uint64_t>(T) * key_compression_ratio >= seq_ring * Sq",
		"indexer_score: cannot deduce chunk_start_idx -- compressed T=%" PRId64
		" (ratio %" PRId64 ") < seq_ring(%" PRId64 ")*Sq(%" PRId64
		") query tokens. Pass chunk_start_idx explicitly if K does not equal history + the "
		"gathered query chunk.",
		keys, s->ratio, chips, s->rows);
	return TTNN_OK;
}

/* The parts of the request that are objects, in `items`. */
static void set_layout(struct tt_score_request *r, struct ttnn_value items[FIELDS + 4],
		       const struct tt_call *call, const struct spread *s)
{
	const struct tt_device *device = tt_tensor_device(r->q);
	bool whole = s->axis < 0;

	items[LINKS] = ttnn_v_int(tt_call_int(call, "num_links", 1));
	items[TOPOLOGY] = *tt_call_arg(call, "topology");
	items[SEMAPHORES] = *tt_call_arg(call, "ag_multi_device_global_semaphore");
	items[SUB_DEVICE] = *tt_call_arg(call, "ag_sub_device_id");
	items[WHOLE] = ttnn_v_bool(whole);
	items[WINDING] = ttnn_v_int(0);
	items[MESH_ROWS] = ttnn_v_int(whole ? device->rows : 0);
	items[MESH_COLS] = ttnn_v_int(whole ? device->cols : 0);
	items[ORDER] = ttnn_v_none();
	items[FIELDS] = ttnn_v_int(s->axis);
	items[FIELDS + 1] = ttnn_v_int(s->sub);
	items[FIELDS + 2] = ttnn_v_int(s->chips);
	items[FIELDS + 3] = ttnn_v_int(s->chunk / s->ratio);
	r->ring = tt_value_object(&ring_schema, items);
	r->axes = ttnn_v_list(&items[FIELDS], whole ? 0 : s->sub < 0 ? 1 : 2);
	r->cyclic = s->chunk >= 0 && s->chips * s->stripes > 1
			    ? tt_value_object(&cyclic_schema, &items[FIELDS + 2])
			    : ttnn_v_none();
	r->stripes = s->stripes;
}

static tt_status ring_expand(struct tt_call *call)
{
	struct tt_score_request request = {
		.q = tt_call_tensor(call, "q"), .k = tt_call_tensor(call, "k"), .gated = true};
	struct ttnn_value items[FIELDS + 4], attrs[tt_score_schema_count];
	const struct ttnn_shape *q, *k, *local;
	struct spread s;

	TT_TRY(tt_need_device(request.q));
	TT_TRY(tt_need_device(request.k));
	TT_TRY(tt_need_device(tt_call_tensor(call, "weights")));
	TT_TRY(tt_need_device(tt_call_tensor(call, "k_local")));
	q = &request.q->spec.shape;
	k = &request.k->spec.shape;
	local = &tt_call_tensor(call, "k_local")->spec.shape;
	TT_TRY(tt_need_dim(q, 2));
	TT_TRY(tt_need_dim(k, 2));
	TT_TRY(tt_need_dim(local, 0));
	TT_TRY(spread_of(&s, call, tt_tensor_device(request.q), request.q));
	TT_TRY(set_start(&request.start, call, &s, k->dim[2]));
	set_layout(&request, items, call, &s);
	TT_TRY(tt_score_bind(attrs, call, &request));
	return TT_LAUNCH_RETURN(call, &program,
				TT_INPUTS(request.q, request.k, tt_call_tensor(call, "weights"),
					  tt_call_tensor(call, "k_local"),
					  tt_call_tensor(call, "chunk_start_idx_tensor"),
					  tt_call_tensor(call, "valid_end_tensor"),
					  tt_call_tensor(call, "cache_batch_idx_tensor")),
				.attrs = attrs);
}

static const struct tt_op ops[] = {
	{.name = "ttnn.experimental.ring_indexer_score_dsa",
	 .doc = "How much keys that are spread along a ring of chips matter to queries, by all "
		"heads together.",
	 .sigs = {"q: Tensor, k: Tensor, weights: Tensor, k_local: Tensor, "
		  "ag_multi_device_global_semaphore: any, *, cluster_axis: size?, topology: enum, "
		  "num_links: size = 1, ag_sub_device_id: SubDeviceId? = None, chunk_start_idx: size? "
		  "= None, key_compression_ratio: size = 1, program_config: ProgramConfig? = None, "
		  "compute_kernel_config: ComputeConfig? = None, cache_batch_idx: size? = None, "
		  "kv_len: size? = None, seq_subshard_axis: size? = None, block_cyclic_sp_axis: size? "
		  "= None, block_cyclic_chunk_local: size? = None, block_cyclic_cache_tp_sharded: "
		  "bool = False, chunk_start_idx_tensor: Tensor? = None, valid_end_tensor: Tensor? = "
		  "None, cache_batch_idx_tensor: Tensor? = None, index_cache_num_layers: size = 1, "
		  "index_cache_layer_idx: size = 0"},
	 .expand = ring_expand,
	 .golden = tt_golden_indexer_ring,
	 .pcc = 0.99,
	 TT_PROGRAMS(&program)},
};

const struct tt_op_family tt_family_indexer_ring = {"indexer_ring", ops, TT_COUNT(ops)};
