/*
 * golden_indexer_ring.c: how much keys of a ring of chips matter to the queries of the first one, token by token: each token has the
 * next place of the chip that it goes to.
 */
#include <math.h>

#include "device/device.h"
#include "device/devtensor.h"
#include "golden/golden_attention.h"
#include "golden/golden_mesh.h"

#define RING_MAX 64

struct ring {
	const struct tt_array *q, *weights, *parts[RING_MAX];
	uint64_t count, slot, start, valid, ratio, chunk; /* chunk: of queries on a chip, or 0 */
	uint64_t cuts;                                    /* pieces of a chip's chunk of keys */
};

/* A number that is said, or is in a tensor. */
static uint64_t number(struct tt_golden *golden, const char *name, const char *tensor,
		       uint64_t fallback)
{
	const struct tt_array *array = tt_golden_in(golden, tensor);

	return array ? (uint64_t)*tt_at(array, 0)
		     : (uint64_t)tt_call_int(&golden->call, name, (int64_t)fallback);
}

/* Where token n of the sequence is: the n-th that its holder gets, of holders that take turns. */
static void find(uint64_t *holder, uint64_t *at, uint64_t n, uint64_t chunk, uint64_t holders)
{
	*at = 0;
	*holder = n / tt_divisor(chunk) % tt_divisor(holders);
	for (uint64_t i = 0; i < n; i++) {
		tt_golden_step();
		*at += i / chunk % holders == *holder;
	}
}

/* The key of a place in the sequence. */
static const double *key_of(const struct ring *r, uint64_t n)
{
	uint64_t rows = r->parts[0]->shape.dim[2], width = r->parts[0]->shape.dim[3];
	uint64_t piece = n / tt_divisor(rows / tt_divisor(r->cuts)), at = n % (rows / r->cuts);

	if (r->chunk)
		find(&piece, &at, n, r->chunk / r->ratio / r->cuts, r->count * r->cuts);
	at += piece % r->cuts * (rows / r->cuts);
	return tt_array_span(r->parts[piece / r->cuts], (r->slot * rows + at) * width, width);
}

/* The place of the first chip's row: the next token from the start on that it gets. */
static uint64_t place_of(const struct ring *r, uint64_t row)
{
	uint64_t place = r->start;

	if (!r->chunk)
		return place + row;
	for (;; place++) {
		tt_golden_step();
		if (place / r->chunk % r->count == 0 && row-- == 0)
			return place;
	}
}

static double score(const struct ring *r, uint64_t row, uint64_t key)
{
	const uint32_t *dim = r->q->shape.dim;
	double sum = 0;

	if (key >= r->valid || key >= (place_of(r, row) + 1) / tt_divisor(r->ratio))
		return -INFINITY;
	for (uint64_t h = 0; h < dim[1]; h++) {
		const double *k = key_of(r, key);
		double product = 0;

		tt_divisor(dim[3] == r->parts[0]->shape.dim[3]);
		for (uint64_t i = 0; i < dim[3]; i++)
			product += *tt_at(r->q, (h * dim[2] + row) * dim[3] + i) * k[i];
		sum += fmax(product, 0) * *tt_at(r->weights, row * dim[1] + h);
	}
	return sum;
}

static tt_status read_ring(struct ring *r, struct tt_golden *golden)
{
	const struct tt_call *call = &golden->call;
	const struct tt_device *device = tt_golden_device(golden, "q");
	struct tt_golden_mesh mesh;

	TT_TRY(tt_golden_mesh_find(&mesh, golden, "q"));
	TT_GOLDEN_NEED(mesh.count > 0 && mesh.count <= RING_MAX);
	r->q = tt_golden_mesh_in(golden, "q", 0);
	r->weights = tt_golden_mesh_in(golden, "weights", 0);
	TT_GOLDEN_NEED(r->q && r->weights);
	for (uint32_t i = 0; i < mesh.count; i++) {
		r->parts[i] = tt_golden_mesh_in(golden, "k_local", i * mesh.step);
		TT_GOLDEN_NEED(r->parts[i]);
	}
	r->count = mesh.count;
	r->ratio = (uint64_t)tt_call_int(call, "key_compression_ratio", 1);
	r->chunk = (uint64_t)tt_call_int(call, "block_cyclic_chunk_local", 0);
	r->cuts = tt_call_bool(call, "block_cyclic_cache_tp_sharded", false)
			  ? device->rows * device->cols / mesh.count
			  : 1;
	return TTNN_OK;
}

tt_status tt_golden_indexer_ring(struct tt_golden *golden)
{
	const struct tt_call *call = &golden->call;
	uint64_t rows, keys, end;
	struct tt_array *out;
	struct ring r = {0};

	TT_TRY(read_ring(&r, golden));
	rows = r.q->shape.dim[2];
	TT_GOLDEN_NEED(r.parts[0]);
	keys = r.count * r.parts[0]->shape.dim[2];
	r.start = number(golden, "chunk_start_idx", "chunk_start_idx_tensor",
			 keys * r.ratio - r.count * (r.chunk ? r.chunk : rows));
	r.slot = number(golden, "cache_batch_idx", "cache_batch_idx_tensor", 0);
	if (tt_golden_in(golden, "cache_batch_idx_tensor"))
		r.slot = r.slot * (uint64_t)tt_call_int(call, "index_cache_num_layers", 1) +
			 (uint64_t)tt_call_int(call, "index_cache_layer_idx", 0);
	end = number(golden, "", "valid_end_tensor", keys * r.ratio);
	r.valid = (uint64_t)tt_call_int(call, "kv_len",
					(int64_t)((end + 31) / 32 * 32 / tt_divisor(r.ratio)));
	out = tt_golden_out(golden, &TT_SHAPE(1, 1, (uint32_t)rows, (uint32_t)keys), TTNN_BFLOAT16);
	TT_GOLDEN_NEED(out);
	for (uint64_t i = 0; i < out->count; i++)
		*tt_at(out, i) = score(&r, i / keys, i % keys);
	return TTNN_OK;
}
