/*
 * attention_ring_window.c: what RingJointSDPADeviceOperation of ttnn 0.81 refuses of a window, which reaches into the chip
 * before and no farther.
 */
#include "ops/attention/attention_ring.h"
#include "ops/objects.h"

/* What it wants of chunks and of what it is used with. */
static tt_status check_mode(const struct tt_launch *launch)
{
	unsigned rows = tt_ring_dim(launch, TT_RING_Q, 2);
	unsigned long long window = tt_ring_number(launch, TT_RING_WINDOW),
			   halo = tt_ring_halo(launch);
	unsigned long long q_chunk = tt_ring_chunk(launch, TT_SDPA_Q_CHUNK);
	unsigned long long k_chunk = tt_ring_chunk(launch, TT_SDPA_K_CHUNK);

	TT_REQUIRE(
		(q_chunk == 64 || q_chunk == 128) && k_chunk == 128,
		"supported_q_chunk && supported_k_chunk",
		"Chunked sliding attention supports Q chunks 64/128 and K chunk 128, got Q=%llu K=%llu",
		q_chunk, k_chunk);
	TT_REQUIRE(tt_ring_flag(launch, TT_RING_CAUSAL), "args.is_causal",
		   "Ring sliding-window attention is currently causal-only");
	TT_REQUIRE(tt_ring_chunked(launch), "is_chunked",
		   "Ring sliding-window attention requires chunked prefill");
	TT_REQUIRE(!tt_ring_flag(launch, TT_RING_BALANCED), "!args.is_balanced",
		   "Chunked ring sliding-window attention requires is_balanced=false");
	TT_REQUIRE(!launch->inputs[TT_RING_JOINT_Q], "L == 0",
		   "Ring sliding-window attention does not support joint tokens");
	TT_REQUIRE(halo, "halo_tokens > 0",
		   "Chunked sliding attention requires sliding_window_size > 1, got %llu", window);
	TT_REQUIRE(rows % q_chunk == 0, "N_local_q % q_chunk_size == 0",
		   "q_chunk_size must divide the per-device Q slab for chunked sliding attention");
	TT_REQUIRE(rows % k_chunk == 0, "N_local_q % k_chunk_size == 0",
		   "k_chunk_size must divide the per-device Q slab for chunked sliding attention");
	TT_REQUIRE(
		halo <= rows, "halo_tokens <= N_local_q",
		"Chunked sliding halo %llu (window %llu) exceeds the per-device Q slab %u; wider "
		"windows need a multi-hop halo",
		halo, window, rows);
	return TTNN_OK;
}

tt_status tt_ring_check_window(const struct tt_launch *launch)
{
	const uint32_t *q = tt_ring_spec(launch, TT_RING_Q)->shape.dim;
	unsigned keys = tt_ring_dim(launch, TT_RING_K, 2),
		 heads = tt_ring_dim(launch, TT_RING_K, 1);
	unsigned kept = tt_ring_dim(launch, TT_RING_GATHERED_K, 2);
	unsigned long long ring = tt_ring_number(launch, TT_RING_SIZE);

	if (!tt_ring_number(launch, TT_RING_WINDOW))
		return TTNN_OK;
	TT_REQUIRE(
		ring == 4 || ring == 8, "args.ring_size == 4 || args.ring_size == 8",
		"Chunked sliding attention supports the SP4 production ring or SP8 test ring, got SP%llu",
		ring);
	TT_REQUIRE(
		q[0] == 1 || (q[0] == 2 && ring == 8), "B == 1 || (B == 2 && args.ring_size == 8)",
		"Chunked sliding attention supports batch 1 or the SP8 batch-2 surrogate, got B=%u "
		"SP%llu",
		q[0], ring);
	TT_REQUIRE(
		heads && q[1] % heads == 0, "NKH > 0 && NQH % NKH == 0",
		"Chunked sliding attention requires Q heads to be a multiple of KV heads (GQA), got "
		"%uQ:%uK",
		q[1], heads);
	TT_REQUIRE(q[3] == tt_ring_width(launch),
		   "DH == tensor_args.v_head_dim(args.latent_v_head_dim)",
		   "Chunked sliding attention requires matching Q/V head dimension, got Q=%u V=%u",
		   q[3], tt_ring_width(launch));
	TT_REQUIRE(tt_ring_spec(launch, TT_RING_Q)->dtype == TTNN_BFLOAT16 &&
			   tt_ring_spec(launch, TT_RING_K)->dtype == TTNN_BFLOAT8_B,
		   "input_tensor_q.dtype() == DataType::BFLOAT16 && tensor_args.input_k.dtype() == "
		   "DataType::BFLOAT8_B && tensor_args.input_v->dtype() == DataType::BFLOAT8_B && "
		   "gathered_input_tensor_k.dtype() == DataType::BFLOAT8_B && "
		   "tensor_args.gathered_v->dtype() == DataType::BFLOAT8_B",
		   "Chunked sliding attention requires BF16 Q and BFP8_B K/V");
	TT_REQUIRE(
		kept < keys * ring, "gathered_buffer_n < N_local_kv * args.ring_size",
		"Chunked sliding attention requires a compact halo buffer, got gathered rows %u for "
		"%llu global rows",
		kept, (keys * ring));
	return check_mode(launch);
}
