/*
 * attention_ring_check.c: what RingJointSDPADeviceOperation of ttnn 0.81 refuses, in its words and its order.
 */
#include <string.h>

#include "base/vec.h"
#include "ops/attention/attention_ring.h"
#include "ops/compute.h"
#include "ops/objects.h"
#include "tensor/core.h"
#include "tensor/memory.h"
#include "tensor/tile.h"

/* What is gathered, and the tensor that it is gathered in. */
static const int gathered[][2] = {{TT_RING_K, TT_RING_GATHERED_K},
				  {TT_RING_V, TT_RING_GATHERED_V},
				  {TT_RING_JOINT_K, TT_RING_GATHERED_JOINT_K},
				  {TT_RING_JOINT_V, TT_RING_GATHERED_JOINT_V}};

static tt_status check_gathered(const struct tt_launch *launch, const int pair[2], unsigned i)
{
	const struct ttnn_tensor_spec *in = tt_ring_spec(launch, pair[0]),
				      *out = tt_ring_spec(launch, pair[1]);
	const struct ttnn_tensor_spec *first = tt_ring_spec(launch, TT_RING_K);
	unsigned long long ring = tt_ring_number(launch, TT_RING_SIZE);

	TT_REQUIRE(out->layout == TTNN_TILE, "output_tensor.layout() == Layout::TILE",
		   "Output tensor %u must be tiled", i);
	TT_REQUIRE(out->dtype == first->dtype, "output_tensor.dtype() == dtype",
		   "Output tensor %u dtype should match input tensors but has DataType::%s", i,
		   ttnn_dtype_name(out->dtype, TTNN_DIALECT_TT_METAL));
	TT_REQUIRE(ttnn_memory_config_equal(&out->memory,
					    &tt_ring_spec(launch, TT_RING_GATHERED_K)->memory),
		   "output_tensor.memory_config() == operation_attributes.output_mem_config",
		   "Output tensor %u memory config should match output_mem_config", i);
	for (unsigned d = 0; d < 4; d++) {
		unsigned long long want = in->shape.dim[d], got = out->shape.dim[d];

		if (d == tt_ring_number(launch, TT_RING_DIM)) {
			want = tt_ring_given(launch, TT_RING_WINDOW) ? tt_ring_halo(launch)
								     : want * ring;
			TT_REQUIRE(
				got >= want, "output_shape[d] >= minimum",
				"Output tensor %u gather dim %u too small: got %llu, expected >= %llu",
				i, d, got, want);
		} else if (d == 0 && tt_ring_given(launch, TT_RING_SLOT)) {
			TT_REQUIRE(
				got == 1 || got == want,
				"output_shape[d] == 1 || output_shape[d] == expected_output_shape[d]",
				"Output tensor %u batch dim must be 1 (single-slot gather) or %llu: "
				"got %llu",
				i, want, got);
		} else {
			TT_REQUIRE(
				got == want, "output_shape[d] == expected_output_shape[d]",
				"Output tensor %u non-gather dim %u mismatch: got %llu, expected %llu",
				i, d, got, want);
		}
	}
	return TTNN_OK;
}

static tt_status check_gathering(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *first = tt_ring_spec(launch, TT_RING_K);
	unsigned count = 0;

	for (size_t i = 0; i < TT_COUNT(gathered); i++) {
		const struct ttnn_tensor_spec *in = tt_ring_spec(launch, gathered[i][0]);

		if (!tt_ring_spec(launch, gathered[i][1]))
			continue;
		TT_REQUIRE(in->layout == TTNN_TILE, "input_tensor.layout() == Layout::TILE",
			   "Input tensor %u must be tiled", count);
		TT_REQUIRE(in->dtype == first->dtype, "input_tensor.dtype() == dtype",
			   "All input tensors must have the same dtype. Input tensor %u has dtype "
			   "DataType::%s but expected DataType::%s",
			   count, ttnn_dtype_name(in->dtype, TTNN_DIALECT_TT_METAL),
			   ttnn_dtype_name(first->dtype, TTNN_DIALECT_TT_METAL));
		count++;
	}
	TT_REQUIRE(tt_ring_number(launch, TT_RING_LINKS), "operation_attributes.num_links > 0",
		   "Error, num_links should be more than 0 but has 0");
	count = 0;
	for (size_t i = 0; i < TT_COUNT(gathered); i++)
		if (tt_ring_spec(launch, gathered[i][1]))
			TT_TRY(check_gathered(launch, gathered[i], count++));
	return TTNN_OK;
}

static tt_status check_sink(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *sink = tt_ring_spec(launch, TT_RING_SINK);
	const uint32_t *s;

	if (!sink)
		return TTNN_OK;
	s = sink->shape.dim;
	TT_REQUIRE(tt_ring_flag(launch, TT_RING_CAUSAL), "args.is_causal",
		   "RingJointSDPA attention_sink is supported only for causal attention");
	TT_REQUIRE(!launch->inputs[TT_RING_JOINT_Q], "!has_joint_tensors",
		   "RingJointSDPA attention_sink does not support joint attention tensors");
	TT_REQUIRE(sink->layout == TTNN_TILE, "attention_sink.layout() == Layout::TILE",
		   "Attention sink must be tilized");
	TT_REQUIRE(sink->dtype == TTNN_BFLOAT16, "attention_sink.dtype() == DataType::BFLOAT16",
		   "GPT-OSS attention sink must be BF16");
	TT_REQUIRE(sink->memory.buffer == TTNN_DRAM,
		   "attention_sink.buffer()->buffer_type() == tt::tt_metal::BufferType::DRAM",
		   "Attention sink must be in DRAM");
	TT_REQUIRE(s[0] == 1, "sink_shape[0] == 1",
		   "Attention sink batch dimension must be 1, got %u", s[0]);
	TT_REQUIRE(s[1] == tt_ring_dim(launch, TT_RING_Q, 1), "sink_shape[1] == q_shape[1]",
		   "Attention sink local num_heads must match Q. Got sink: %u, Q: %u", s[1],
		   tt_ring_dim(launch, TT_RING_Q, 1));
	TT_REQUIRE(s[2] == 1, "sink_shape[2] == 1",
		   "Attention sink sequence dimension must be 1, got %u", s[2]);
	TT_REQUIRE(s[3] == 1, "sink_shape[3] == 1",
		   "Attention sink hidden dimension must be 1, got %u", s[3]);
	TT_REQUIRE(!tt_compute_has(&launch->attrs[TT_RING_COMPUTE], TT_COMPUTE_FP32),
		   "!get_fp32_dest_acc_en(args.compute_kernel_config)",
		   "RingJointSDPA attention_sink requires streaming compute; set "
		   "fp32_dest_acc_en=false");
	return TTNN_OK;
}

/* The cores of the attention lie above those of the gathering, or to the left of them. */
static tt_status check_cores(const struct tt_launch *launch)
{
	struct ttnn_core offset = launch->attrs[TT_RING_OFFSET].core;
	bool columns = tt_ring_flag(launch, TT_RING_COLUMNS);
	const ttnn_core_set *grid;
	struct ttnn_core_range box;

	TT_TRY(tt_sdpa_cores(&grid, launch, &launch->attrs[TT_RING_CONFIG]));
	TT_TRY(tt_core_set_box(&box, grid));
	TT_REQUIRE(!columns || offset.x > box.end.x,
		   "args.ccl_core_grid_offset.x >= "
		   "args.program_config.value().compute_with_storage_grid_size.x",
		   "SDPA coregrid overlaps with AllGather coregrid (column-major)");
	TT_REQUIRE(columns || offset.y > box.end.y,
		   "args.ccl_core_grid_offset.y >= "
		   "args.program_config.value().compute_with_storage_grid_size.y",
		   "SDPA coregrid overlaps with AllGather coregrid (row-major)");
	return TTNN_OK;
}

/* What the attention reads: queries, what was gathered, and the second sequence. */
static const int operands[] = {TT_RING_Q,       TT_RING_GATHERED_K, TT_RING_GATHERED_V,
			       TT_RING_JOINT_Q, TT_RING_JOINT_K,    TT_RING_JOINT_V};

/* Without causality all are of one kind, and values as wide as keys. */
static bool strict(const struct tt_launch *launch)
{
	return (!tt_ring_flag(launch, TT_RING_CAUSAL) && !tt_ring_chunked(launch)) ||
	       tt_ring_flag(launch, TT_RING_CROSS);
}

tt_status tt_ring_check_kinds(const struct tt_launch *launch)
{
	enum ttnn_dtype dtype = tt_ring_spec(launch, TT_RING_Q)->dtype;

	for (size_t i = 0; i < TT_COUNT(operands) && strict(launch); i++)
		TT_REQUIRE(!launch->inputs[operands[i]] ||
				   tt_ring_spec(launch, operands[i])->dtype == dtype,
			   "tensor.dtype() == dtype",
			   "All tensors must have the same dtype. Expected DataType::%s, got "
			   "DataType::%s",
			   ttnn_dtype_name(dtype, TTNN_DIALECT_TT_METAL),
			   ttnn_dtype_name(tt_ring_spec(launch, operands[i])->dtype,
					   TTNN_DIALECT_TT_METAL));
	for (size_t i = 0; i < TT_COUNT(operands); i++) {
		const struct ttnn_tensor_spec *spec = tt_ring_spec(launch, operands[i]);

		if (!spec)
			continue;
		TT_REQUIRE(spec->layout == TTNN_TILE, "tensor.layout() == Layout::TILE",
			   "Inputs to Joint SDPA must be tilized");
		TT_REQUIRE(spec->dtype == TTNN_BFLOAT16 || spec->dtype == TTNN_BFLOAT8_B ||
				   spec->dtype == TTNN_BFLOAT4_B,
			   "tensor.dtype() == DataType::BFLOAT16 || tensor.dtype() == "
			   "DataType::BFLOAT8_B || tensor.dtype() == DataType::BFLOAT4_B",
			   "Inputs to Joint SDPA must be BF16 or BF8 or BF4");
		TT_REQUIRE(spec->memory.buffer == TTNN_DRAM,
			   "tensor.buffer()->buffer_type() == tt::tt_metal::BufferType::DRAM",
			   "Operands to Joint SDPA need to be in DRAM");
	}
	return TTNN_OK;
}

static const char *word(bool flag)
{
	return flag ? "true" : "false";
}

static tt_status check_modes(const struct tt_launch *launch)
{
	bool causal = tt_ring_flag(launch, TT_RING_CAUSAL),
	     cross = tt_ring_flag(launch, TT_RING_CROSS);
	bool balanced = tt_ring_flag(launch, TT_RING_BALANCED), chunked = tt_ring_chunked(launch);
	unsigned rows = tt_ring_dim(launch, TT_RING_Q, 2), keys = tt_ring_dim(launch, TT_RING_K, 2);

	TT_NEED(rows, "there are no queries");
	TT_NEED(!chunked || cross || tt_ring_given(launch, TT_RING_BEFORE) || keys % rows == 0,
		"%u rows of keys are no whole number of chunks of %u", keys, rows);
	TT_REQUIRE(!launch->inputs[TT_RING_JOINT_Q] || !causal, "!(L != 0 && args.is_causal)",
		   "Causality is enabled only for ring attention");
	TT_REQUIRE(
		tt_ring_number(launch, TT_RING_ROWS), "args.logical_n > 0",
		"Logical sequence length must be > 0; kernels derive last-valid-tile = logical_nt - 1 "
		"and would underflow.");
	TT_REQUIRE(
		rows <= keys, "N_local_q <= N_local_kv",
		"Per-device Q seq length must be <= per-device K/V seq length. Equal: full-prefill "
		"path. Less: chunked-prefill path. Greater is undefined. Got N_local_q=%u, "
		"N_local_kv=%u",
		rows, keys);
	TT_REQUIRE(
		!chunked || causal || cross, "!is_chunked || args.is_causal || args.is_cross",
		"Chunked-shaped prefill (N_local_q < N_local_kv) must be causal (incremental prefill) "
		"or cross (is_cross=True, non-causal short-Q/long-K). Got N_local_q=%u, N_local_kv=%u, "
		"is_causal=%s, is_cross=%s",
		rows, keys, word(causal), word(cross));
	TT_REQUIRE(
		!cross || chunked, "is_chunked",
		"is_cross requires per-device Q seq length < K/V seq length; use the full-prefill "
		"non-causal path for equal lengths. Got N_local_q=%u, N_local_kv=%u",
		rows, keys);
	TT_REQUIRE(
		!cross || !causal, "!args.is_causal",
		"is_cross and is_causal are mutually exclusive (cross attention applies no triangle)");
	TT_REQUIRE(!cross || !balanced, "!args.is_balanced",
		   "is_cross is non-causal; balanced zigzag load-balancing is causal-only");
	return TTNN_OK;
}

/* New rows behind those that the cache has: where each goes follows from their number. */
static tt_status check_rotation(const struct tt_launch *launch)
{
	unsigned long long before = tt_ring_number(launch, TT_RING_BEFORE);
	unsigned long long all = tt_ring_number(launch, TT_RING_ROWS),
			   ring = tt_ring_number(launch, TT_RING_SIZE);
	unsigned rows = tt_ring_dim(launch, TT_RING_Q, 2), keys = tt_ring_dim(launch, TT_RING_K, 2);

	if (!tt_ring_given(launch, TT_RING_BEFORE))
		return TTNN_OK;
	TT_REQUIRE(all >= before, "args.logical_n >= kv_actual_isl",
		   "logical_n must be >= kv_actual_isl. Got logical_n=%llu, kv_actual_isl=%llu",
		   all, before);
	TT_REQUIRE(
		before % TT_TILE == 0 && all % TT_TILE == 0,
		"kv_actual_isl % tt::constants::TILE_HEIGHT == 0 && new_actual_isl % "
		"tt::constants::TILE_HEIGHT == 0",
		"KV-pad-aware rotation currently requires tile-aligned lengths. Got kv_actual_isl=%llu, "
		"new_actual_isl=%llu (logical_n - kv_actual_isl), TILE_HEIGHT=32",
		before, (all - before));
	TT_REQUIRE(
		all > before, "new_actual_isl > 0",
		"KV-pad-aware rotation requires at least one valid token in the current chunk. Got "
		"kv_actual_isl=%llu, logical_n=%llu",
		before, all);
	TT_REQUIRE(all <= keys * ring, "args.logical_n <= cache_capacity",
		   "KV-pad-aware rotation logical_n exceeds physical K/V cache capacity. Got "
		   "logical_n=%llu, cache capacity=%llu",
		   all, (keys * ring));
	TT_REQUIRE(all - before <= rows * ring, "new_actual_isl <= chunk_capacity",
		   "KV-pad-aware rotation expects current valid Q to fit in one fixed chunk. Got "
		   "new_actual_isl=%llu, chunk capacity=%llu",
		   (all - before), (rows * ring));
	TT_REQUIRE(
		tt_ring_chunked(launch), "is_chunked",
		"kv_actual_isl enables KV-pad-aware rotation and requires chunked-prefill input (Q.seq "
		"< K.seq). Got N_local_q=%u, N_local_kv=%u",
		rows, keys);
	TT_REQUIRE(
		tt_ring_flag(launch, TT_RING_CAUSAL), "args.is_causal",
		"kv_actual_isl enables KV-pad-aware rotation, which is causal-only. Got is_causal=false");
	TT_REQUIRE(
		!tt_ring_flag(launch, TT_RING_BALANCED), "!args.is_balanced",
		"kv_actual_isl does not support balanced zigzag distribution. Pass is_balanced=false.");
	TT_REQUIRE(
		rows && keys % rows == 0, "N_local_kv % N_local_q == 0",
		"KV-pad-aware rotation expects K/V local sequence length to be an integer number of "
		"Q-sized slabs. Got N_local_kv=%u, N_local_q=%u",
		keys, rows);
	return TTNN_OK;
}

/* The first columns of the keys as values. */
static tt_status check_latent(const struct tt_launch *launch)
{
	unsigned width = tt_ring_width(launch), columns = tt_ring_dim(launch, TT_RING_Q, 3);
	unsigned heads = tt_ring_dim(launch, TT_RING_GATHERED_K, 1);

	TT_REQUIRE(width, "VDH > 0", "V head dimension must be provided and non-zero");
	if (launch->inputs[TT_RING_V])
		return TTNN_OK;
	TT_REQUIRE(heads == 1, "NKH == 1",
		   "Latent-V mode currently supports one shared KV head. Got K/V heads: %u", heads);
	TT_REQUIRE(
		width < columns, "VDH < DH",
		"Latent-V mode reads V from K's strict prefix, so V head dim must be < K head dim. Got "
		"V: %u, K: %u",
		width, columns);
	TT_REQUIRE(width % TT_TILE == 0, "VDH % tt::constants::TILE_WIDTH == 0",
		   "Latent-V head dim must be tile aligned. Got V: %u, tile width: 32", width);
	return TTNN_OK;
}

static tt_status check_batches(const struct tt_launch *launch)
{
	unsigned batches = tt_ring_dim(launch, TT_RING_Q, 0),
		 k = tt_ring_dim(launch, TT_RING_GATHERED_K, 0);
	unsigned v = launch->inputs[TT_RING_V] ? tt_ring_dim(launch, TT_RING_GATHERED_V, 0) : k;
	unsigned cache = tt_ring_dim(launch, TT_RING_K, 0);
	unsigned long long layers = tt_ring_number(launch, TT_RING_LAYERS);
	unsigned long long layer = tt_ring_number(launch, TT_RING_LAYER);

	TT_REQUIRE(layer < layers, "args.kv_cache_layer_idx < args.kv_cache_num_layers",
		   "kv_cache_layer_idx=%llu must be less than kv_cache_num_layers=%llu", layer,
		   layers);
	if (tt_ring_given(launch, TT_RING_SLOT)) {
		unsigned long long slot = tt_ring_number(launch, TT_RING_SLOT);
		unsigned values =
			launch->inputs[TT_RING_V] ? tt_ring_dim(launch, TT_RING_V, 0) : cache;

		TT_REQUIRE(tt_ring_slot(launch) < cache && tt_ring_slot(launch) < values,
			   "cache_batch_idx < K_cache_batch && cache_batch_idx < V_cache_batch",
			   "cache batch %llu (kv_cache_batch_idx=%llu * kv_cache_num_layers=%llu + "
			   "kv_cache_layer_idx=%llu) is outside the KV cache batch (K=%u, V=%u)",
			   (unsigned long long)tt_ring_slot(launch), slot, layers, layer, cache,
			   values);
		TT_REQUIRE(
			batches == 1, "B == 1",
			"kv_cache_batch_idx currently selects one shared K/V cache slot for the whole "
			"query batch; indexed K/V cache mode requires Q batch size 1. Got Q batch size "
			"%u",
			batches);
		return TTNN_OK;
	}
	TT_REQUIRE(k == batches, "k_shape[0] == B", "K batch size must match Q. Got Q: %u, K: %u",
		   batches, k);
	TT_REQUIRE(v == batches, "v_shape[0] == B", "V batch size must match Q. Got Q: %u, V: %u",
		   batches, v);
	TT_REQUIRE(!launch->inputs[TT_RING_JOINT_Q] ||
			   (tt_ring_dim(launch, TT_RING_JOINT_Q, 0) == batches &&
			    tt_ring_dim(launch, TT_RING_JOINT_K, 0) == batches &&
			    tt_ring_dim(launch, TT_RING_JOINT_V, 0) == batches),
		   "joint_q_shape[0] == B && joint_k_shape[0] == B && joint_v_shape[0] == B",
		   "Batch sizes must match. Got Q: %u, joint_Q: %u, joint_K: %u, joint_V: %u",
		   batches, tt_ring_dim(launch, TT_RING_JOINT_Q, 0),
		   tt_ring_dim(launch, TT_RING_JOINT_K, 0),
		   tt_ring_dim(launch, TT_RING_JOINT_V, 0));
	return TTNN_OK;
}

static tt_status check_widths(const struct tt_launch *launch)
{
	unsigned q = tt_ring_dim(launch, TT_RING_Q, 3),
		 k = tt_ring_dim(launch, TT_RING_GATHERED_K, 3);
	unsigned joint[] = {tt_ring_dim(launch, TT_RING_JOINT_Q, 3),
			    tt_ring_dim(launch, TT_RING_JOINT_K, 3),
			    tt_ring_dim(launch, TT_RING_JOINT_V, 3)};
	bool joined = launch->inputs[TT_RING_JOINT_Q] != NULL;

	if (strict(launch)) {
		TT_REQUIRE(k == q && tt_ring_width(launch) == q, "k_shape[3] == DH && VDH == DH",
			   "Head dimensions must match. Got Q: %u, K: %u, V: %u", q, k,
			   tt_ring_width(launch));
		TT_REQUIRE(
			!joined || (joint[0] == q && joint[1] == q && joint[2] == q),
			"joint_q_shape[3] == DH && joint_k_shape[3] == DH && joint_v_shape[3] == DH",
			"Joint head dimensions must match Q. Got Q: %u, joint_Q: %u, joint_K: %u, "
			"joint_V: %u",
			q, joint[0], joint[1], joint[2]);
		return TTNN_OK;
	}
	TT_REQUIRE(k == q, "k_shape[3] == DH", "Q/K head dimensions must match. Got Q: %u, K: %u",
		   q, k);
	return TTNN_OK;
}

/* The second sequence cut among the chips, with rows beyond its end on the last ones. */
static tt_status check_parts(const struct tt_launch *launch, unsigned rows)
{
	static const struct {
		int attr;
		const char *condition, *text;
	} modes[] = {
		{TT_RING_CAUSAL, "!args.is_causal", "is_causal"},
		{TT_RING_BALANCED, "!args.is_balanced", "is_balanced (zigzag)"},
		{TT_RING_CROSS, "!args.is_cross", "is_cross"},
	};
	unsigned long long all = tt_ring_number(launch, TT_RING_JOINT_ROWS);
	unsigned long long ring = tt_ring_number(launch, TT_RING_SIZE);

	TT_REQUIRE(rows % TT_TILE == 0, "L % tt::constants::TILE_HEIGHT == 0",
		   "joint shard seq (%u) must be tile-aligned (TILE_HEIGHT=32)", rows);
	TT_REQUIRE(
		all <= rows * ring, "args.logical_l <= padded_L",
		"logical_l (%llu) must be <= the padded joint length (per-shard %u * ring_size %llu = "
		"%llu)",
		all, rows, ring, rows * ring);
	for (int i = TT_RING_GATHERED_JOINT_K; i <= TT_RING_GATHERED_JOINT_V; i++) {
		bool k = i == TT_RING_GATHERED_JOINT_K;

		TT_REQUIRE(tt_ring_dim(launch, i, 2) == rows * ring,
			   k ? "tensor_args.gathered_joint_k->logical_shape()[2] == padded_L"
			     : "tensor_args.gathered_joint_v->logical_shape()[2] == padded_L",
			   "gathered joint %c seq (%u) must equal the padded joint length (%llu)",
			   k ? 'K' : 'V', tt_ring_dim(launch, i, 2), rows * ring);
	}
	for (size_t i = 0; i < TT_COUNT(modes); i++)
		TT_REQUIRE(!tt_ring_flag(launch, modes[i].attr), modes[i].condition,
			   "sharded joint is incompatible with %s", modes[i].text);
	TT_REQUIRE(!tt_ring_given(launch, TT_RING_SLOT), "!args.kv_cache_batch_idx.has_value()",
		   "sharded joint is incompatible with indexed KV cache");
	return TTNN_OK;
}

static tt_status check_joint(const struct tt_launch *launch)
{
	unsigned rows = tt_ring_dim(launch, TT_RING_JOINT_Q, 2);
	unsigned long long all = tt_ring_number(launch, TT_RING_JOINT_ROWS);

	TT_REQUIRE(tt_ring_dim(launch, TT_RING_JOINT_K, 2) == rows &&
			   tt_ring_dim(launch, TT_RING_JOINT_V, 2) == rows,
		   "joint_k_shape[2] == L && joint_v_shape[2] == L",
		   "Joint sequence length must match. Got joint_K: %u, joint_V: %u",
		   tt_ring_dim(launch, TT_RING_JOINT_K, 2),
		   tt_ring_dim(launch, TT_RING_JOINT_V, 2));
	if (launch->inputs[TT_RING_GATHERED_JOINT_K])
		return check_parts(launch, rows);
	TT_REQUIRE(
		!all || !rows || rows == all, "false",
		"joint per-device seq (%u) must equal logical_l (replicated) or logical_l/ring_size "
		"(sharded). logical_l=%llu, ring_size=%llu",
		rows, all, (unsigned long long)tt_ring_number(launch, TT_RING_SIZE));
	return TTNN_OK;
}

/* One head of keys for each of queries, for groups of them, or for all. What a second sequence has is left to chance. */
static tt_status check_heads(const struct tt_launch *launch)
{
	unsigned q = tt_ring_dim(launch, TT_RING_Q, 1),
		 k = tt_ring_dim(launch, TT_RING_GATHERED_K, 1);
	unsigned v = tt_ring_dim(launch, TT_RING_V, 1);
	bool groups = k == v && k && k < q && q % k == 0;

	if (!launch->inputs[TT_RING_V])
		return TTNN_OK;
	TT_REQUIRE(
		(q == k && k == v) || (k == 1 && v == q) || groups,
		"tensor_mha || tensor_separate_v_shared_k || tensor_gqa_grouped_kv",
		"Unsupported tensor-V head relationship. Expected MHA (NQH == NKH == NVH), separate-V "
		"shared-K (NKH == 1 && NVH == NQH), or GQA (NKH == NVH < NQH && NQH %% NKH == 0). Got "
		"NQH: %u, NKH: %u, NVH: %u",
		q, k, v);
	TT_REQUIRE(
		!launch->inputs[TT_RING_JOINT_Q] || !groups,
		"!has_joint_tensors || !tensor_gqa_grouped_kv",
		"Ring joint SDPA GQA with joint tensors is unsupported. Got NQH: %u, NKH: %u, NVH: %u",
		q, k, v);
	for (int i = TT_RING_JOINT_Q; i <= TT_RING_JOINT_V; i++)
		TT_NEED(!launch->inputs[i] || tt_ring_dim(launch, i, 1) ==
						      tt_ring_dim(launch, i - TT_RING_JOINT_Q, 1),
			"the two sequences have %u and %u heads",
			tt_ring_dim(launch, i - TT_RING_JOINT_Q, 1), tt_ring_dim(launch, i, 1));
	return TTNN_OK;
}

static tt_status check_lengths(const struct tt_launch *launch)
{
	unsigned long long all = tt_ring_number(launch, TT_RING_ROWS);
	unsigned long long ring = tt_ring_number(launch, TT_RING_SIZE);
	unsigned keys = tt_ring_dim(launch, TT_RING_K, 2), rows = tt_ring_dim(launch, TT_RING_Q, 2);
	unsigned long long whole = tt_ring_number(launch, TT_RING_WINDOW)
					   ? keys * ring
					   : tt_ring_dim(launch, TT_RING_GATHERED_K, 2);

	TT_REQUIRE(
		all <= whole, "args.circular_kv_cache || args.logical_n <= N_global",
		"Logical sequence length must be less than or equal to global sequence length. Got "
		"logical sequence length: %llu, global sequence length: %llu",
		all, whole);
	TT_TRY(check_joint(launch));
	TT_REQUIRE(
		whole >= keys * ring, "N_global >= N_local_kv * args.ring_size",
		"Gathered K seq length must be >= per-device K shard times ring size. Got N_global: "
		"%llu, N_local_kv: %u, ring_size: %llu",
		whole, keys, ring);
	TT_TRY(check_heads(launch));
	TT_REQUIRE(rows % TT_TILE == 0, "N_local_q % tt::constants::TILE_HEIGHT == 0",
		   "Per-device Q seq length must be divisible by TILE_HEIGHT. Got N_local_q: %u, "
		   "TILE_HEIGHT: 32",
		   rows);
	TT_REQUIRE(
		keys % TT_TILE == 0, "N_local_kv % tt::constants::TILE_HEIGHT == 0",
		"Per-device K/V seq length must be divisible by TILE_HEIGHT. Got N_local_kv: %u, "
		"TILE_HEIGHT: 32",
		keys);
	TT_REQUIRE(!launch->inputs[TT_RING_V] || tt_ring_dim(launch, TT_RING_V, 2) == keys,
		   "v_local_seq == N_local_kv",
		   "V local seq length must match K local seq length. Got V: %u, K: %u",
		   tt_ring_dim(launch, TT_RING_V, 2), keys);
	return TTNN_OK;
}

static tt_status check_chunks(const struct tt_launch *launch)
{
	for (int k = 0; k < 2; k++) {
		unsigned long long size =
			tt_ring_chunk(launch, k ? TT_SDPA_K_CHUNK : TT_SDPA_Q_CHUNK);

		TT_REQUIRE(
			size && size % TT_TILE == 0,
			k ? "args.get_k_chunk_size() > 0 && args.get_k_chunk_size() % "
			    "tt::constants::TILE_WIDTH == 0"
			  : "args.get_q_chunk_size() > 0 && args.get_q_chunk_size() % "
			    "tt::constants::TILE_WIDTH == 0",
			"%c_chunk_size must be a positive multiple of TILE_SIZE. Got %c_chunk_size: "
			"%llu, TILE_SIZE: 32",
			k ? 'k' : 'q', k ? 'k' : 'q', size);
	}
	return TTNN_OK;
}

tt_status tt_ring_check(struct tt_launch *launch)
{
	const char *strategy = launch->attrs[TT_RING_STRATEGY].text;
	uint64_t half = tt_ring_dim(launch, TT_RING_Q, 2) / 2;

	TT_REQUIRE(!tt_ring_given(launch, TT_RING_WINDOW) || tt_ring_number(launch, TT_RING_WINDOW),
		   "!args.sliding_window_size.has_value() || args.has_sliding_window()",
		   "RingJointSDPA sliding_window_size must be greater than zero when provided");
	for (int i = TT_RING_JOINT_K; i <= TT_RING_JOINT_V; i++)
		TT_REQUIRE(!launch->inputs[i] == !launch->inputs[TT_RING_JOINT_Q],
			   "tensor_args.joint_q.has_value() == has_joint_tensors && "
			   "tensor_args.joint_k.has_value() == has_joint_tensors && "
			   "tensor_args.joint_v.has_value() == has_joint_tensors",
			   "Joint tensors must be provided all together or omitted altogether");
	TT_TRY(check_chunks(launch));
	TT_TRY(check_sink(launch));
	TT_TRY(check_gathering(launch));
	TT_TRY(check_cores(launch));
	TT_REQUIRE(strcmp(strategy, "rear") == 0, "args.joint_strategy == \"rear\"",
		   "Joint strategy must be 'rear'. Got: %s", strategy);
	TT_TRY(tt_ring_check_kinds(launch));
	TT_TRY(tt_ring_check_window(launch));
	TT_TRY(check_modes(launch));
	TT_TRY(check_rotation(launch));
	TT_REQUIRE(!tt_ring_flag(launch, TT_RING_BALANCED) ||
			   half % tt_ring_chunk(launch, TT_SDPA_Q_CHUNK) == 0,
		   "!(args.is_balanced && (N_local_q / 2) % q_chunk_size != 0)",
		   "q_chunk_size must divide half of local q seq_len in balanced case");
	TT_TRY(check_latent(launch));
	TT_TRY(check_batches(launch));
	TT_TRY(check_widths(launch));
	TT_TRY(check_lengths(launch));
	for (size_t i = 0; i < TT_COUNT(operands); i++) {
		const struct ttnn_tensor_spec *spec = tt_ring_spec(launch, operands[i]);

		TT_REQUIRE(!spec || spec->shape.dim[3] == spec->padded.dim[3],
			   "logical_shape[3] == padded_shape[3]",
			   "Padding is not supported on the head_dim dimension");
	}
	return TTNN_OK;
}
