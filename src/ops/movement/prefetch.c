/*
 * prefetch.c: dram_prefetcher, which sends weights ahead of the products that want them, through a ring of memory
 * (a global circular buffer) from the cores beside the banks to those that multiply.
 *
 * Models DramPrefetcherOperation of ttnn 0.81 with its one factory: refusals, memory, cores. A product with `global_cb`
 * takes its weights from where they are, so that nothing has to be sent here; the result says nothing upstream, and
 * is zeros. Not modelled: pipes (prefetcher_pipes), and what waits for what.
 */
#include <inttypes.h>

#include "backend/backend.h"
#include "golden/golden.h"
#include "ops/movement/movement.h"
#include "ops/objects.h"

#define ATTRS(X)                                                                                   \
	X(LAYERS, "num_layers")                                                                    \
	X(PERFORMANCE, "enable_performance_mode")                                                  \
	X(RING, "global_cb", .text = TT_TEXT_FIXED, .fixed = "<GlobalCircularBuffer>")             \
	X(PIPES, "prefetcher_pipes", .text = TT_TEXT_FIXED, .fixed = "{}")
TT_ATTRS(schema, "DramPrefetcherParams", ATTRS);

#define DEPTH 3u         /* blocks that a reader has at once */
#define SIGNAL_BYTES 16u /* a page of what tells the writer, and of the ring: L1's alignment */
#define ADDRESS_BYTES 4u /* of a tensor */

static const struct tt_tensor *addresses(const struct tt_launch *launch)
{
	return launch->inputs[launch->input_count - 1];
}

static const struct ttnn_value *ring_of(const struct tt_launch *launch)
{
	return launch->attrs[RING].items;
}

static uint64_t ring_receivers(const struct ttnn_value *ring, size_t sender)
{
	return ttnn_core_set_cores(ring[TT_GLOBAL_CB_RECEIVERS].items[sender].core_set);
}

/* The cores that read: as many as banks have a part of the first tensor. */
static uint64_t readers(const struct tt_launch *launch)
{
	const struct ttnn_memory_config *memory = &launch->inputs[0]->spec.memory;

	return memory->has_shard ? ttnn_core_set_cores(memory->shard.grid) : 0;
}

static tt_status prefetch_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *first = &launch->inputs[0]->spec;
	const struct ttnn_memory_config memory = {.layout = TTNN_INTERLEAVED, .buffer = TTNN_DRAM};

	return tt_spec_simple(&launch->specs[0], &TT_SHAPE(TT_TILE, TT_TILE), first->dtype,
			      first->layout, &memory);
}

static tt_status check_weights(const struct tt_tensor *tensor, size_t number, uint64_t receivers)
{
	const struct ttnn_memory_config *memory = &tensor->spec.memory;
	enum ttnn_dtype dtype = tensor->spec.dtype;
	uint32_t across;

	TT_REQUIRE(tensor->spec.layout == TTNN_TILE, "tensor.layout() == Layout::TILE",
		   "All tensors must be tilized");
	TT_REQUIRE(memory->layout == TTNN_WIDTH_SHARDED,
		   "tensor.memory_config().memory_layout() == TensorMemoryLayout::WIDTH_SHARDED",
		   "Input tensors must be width sharded");
	TT_REQUIRE(memory->buffer == TTNN_DRAM,
		   "tensor.memory_config().buffer_type() == BufferType::DRAM",
		   "Input tensors must be in DRAM");
	across = memory->shard.width / tensor->spec.tile.width;
	TT_REQUIRE(across % receivers == 0, "shard_width_in_tiles % num_receivers_per_sender == 0",
		   "Tensor %zu's shard is %u tiles wide, which does not split evenly over the "
		   "%" PRIu64 " receiver cores per sender. Each receiver must get the same whole "
		   "number of tile columns.",
		   number, across, receivers);
	TT_REQUIRE(dtype == TTNN_BFLOAT4_B || dtype == TTNN_BFLOAT8_B || dtype == TTNN_BFLOAT16,
		   "tensor_data_format == tt::DataFormat::Bfp4_b || tensor_data_format == "
		   "tt::DataFormat::Bfp8_b || tensor_data_format == tt::DataFormat::Float16_b",
		   "Input tensors must be of type Bfp4_b, Bfp8_b, or Float16_b");
	return TTNN_OK;
}

static tt_status check_addresses(const struct tt_tensor *tensor)
{
	const struct ttnn_memory_config *memory = &tensor->spec.memory;

	TT_REQUIRE(tensor->spec.layout == TTNN_ROW_MAJOR,
		   "tensor_addrs.layout() == Layout::ROW_MAJOR",
		   "Tensor containing addresses must be row major");
	TT_REQUIRE(memory->layout == TTNN_HEIGHT_SHARDED,
		   "tensor_addrs.memory_config().memory_layout() == "
		   "TensorMemoryLayout::HEIGHT_SHARDED",
		   "Tensor containing addresses must be height sharded");
	TT_REQUIRE(memory->buffer == TTNN_L1,
		   "tensor_addrs.memory_config().buffer_type() == BufferType::L1",
		   "Tensor containing addresses must be in L1");
	TT_REQUIRE(tensor->spec.dtype == TTNN_UINT32,
		   "tensor_addrs_data_format == tt::DataFormat::UInt32",
		   "Tensor containing addresses must be of type UInt32");
	return TTNN_OK;
}

/* A sender for each reader, and as many receivers for each. */
static tt_status check_senders(const struct tt_launch *launch)
{
	const struct ttnn_value *ring = ring_of(launch), *senders = &ring[TT_GLOBAL_CB_SENDERS];
	uint64_t count = readers(launch), receivers = ring_receivers(ring, 0);

	TT_REQUIRE(senders->count >= count, "mapping.size() >= num_readers",
		   "ttnn.dram_prefetcher needs one GlobalCircularBuffer sender per reader core: "
		   "the weights are sharded over %" PRIu64 " DRAM banks, so %" PRIu64
		   " reader cores, but only %u were given",
		   count, count, senders->count);
	for (uint64_t i = 0; i < count; i++) {
		struct ttnn_core core = senders->items[i].core, first = senders->items[0].core;

		TT_REQUIRE(
			ring_receivers(ring, i) == receivers,
			"receivers.num_cores() == readers.num_receivers_per_reader",
			"ttnn.dram_prefetcher needs the same number of receivers per reader, but "
			"reader %" PRIu64 " (sender %u-%u) has %" PRIu64
			" and reader 0 (sender %u-%u) has %" PRIu64,
			i, core.x, core.y, ring_receivers(ring, i), first.x, first.y, receivers);
	}
	return TTNN_OK;
}

static tt_status prefetch_validate(struct tt_launch *launch)
{
	TT_REQUIRE(launch->attrs[LAYERS].integer > 0, "args.num_layers > 0",
		   "Prefetcher must run for at least 1 layer");
	TT_REQUIRE(tt_value_given(&launch->attrs[RING]), "has_global_cb != has_pipes",
		   "ttnn.dram_prefetcher needs exactly one delivery target, global_cb or "
		   "prefetcher_pipes, but got global_cb=None and 0 prefetcher_pipes");
	TT_REQUIRE(readers(launch) > 0, "num_readers > 0",
		   "Number of reader cores must be greater than zero");
	TT_NEED(ring_receivers(ring_of(launch), 0), "The first sender has no receivers");
	TT_TRY(check_senders(launch));
	for (size_t i = 0; i + 1 < launch->input_count; i++)
		TT_TRY(check_weights(launch->inputs[i], i, ring_receivers(ring_of(launch), 0)));
	return check_addresses(addresses(launch));
}

/* ---- memory --------------------------------------------------------------------------------------------- */

/* The largest block of all tensors, in tiles, and the largest tile, in bytes. */
static void find_largest(uint64_t *tiles, uint64_t *tile, const struct tt_launch *launch,
			 uint64_t blocks)
{
	*tiles = *tile = 0;
	for (size_t i = 0; i + 1 < launch->input_count; i++) {
		const struct ttnn_tensor_spec *spec = &launch->inputs[i]->spec;
		const struct ttnn_shard_spec *shard = &spec->memory.shard;
		uint64_t rows = tt_div_up(shard->height / spec->tile.height, blocks);
		uint64_t block = rows * (shard->width / spec->tile.width);
		uint64_t bytes = tt_tensor_tile_bytes(launch->inputs[i]);

		*tiles = block > *tiles ? block : *tiles;
		*tile = bytes > *tile ? bytes : *tile;
	}
}

/* The first senders, which read. */
static tt_status find_readers(const ttnn_core_set **out, const struct tt_launch *launch)
{
	const struct ttnn_value *senders = &ring_of(launch)[TT_GLOBAL_CB_SENDERS];
	uint64_t count = readers(launch);
	struct ttnn_core_range *ranges = tt_arena_alloc(launch->arena, count * sizeof(*ranges));

	TT_NEED_MEMORY(ranges);
	for (uint64_t i = 0; i < count; i++)
		ranges[i] =
			(struct ttnn_core_range){senders->items[i].core, senders->items[i].core};
	return ttnn_core_set_make(out, ranges, count);
}

static tt_status prefetch_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	uint64_t tiles, tile, block, size, receivers, tensors = launch->input_count - 1;
	uint64_t layers = (uint64_t)launch->attrs[LAYERS].integer, blocks, read;
	const struct ttnn_value *ring = ring_of(launch);
	struct tt_tensor *room = ring[TT_GLOBAL_CB_ROOM].tensor;
	const ttnn_core_set *cores;

	TT_REQUIRE(tensors > 0, "!weight_tensors.empty()",
		   "dram_prefetcher needs at least one weight tensor besides the address tensor");
	TT_TRY(find_readers(&cores, launch));
	receivers = ring_receivers(ring, 0);
	blocks = readers(launch) * receivers;
	TT_NEED(blocks > 0, "Nobody reads, or nobody receives");
	size = (uint64_t)ring[TT_GLOBAL_CB_SIZE].integer;
	find_largest(&tiles, &tile, launch, blocks);
	block = tiles * tile;
	read = block * DEPTH;
	TT_REQUIRE(block / receivers * blocks <= size, "max_tensor_size <= global_cb_size",
		   "largest tensor %" PRIu64 " must fit in global cb %" PRIu64,
		   block / receivers * blocks, size);
	TT_REQUIRE(read <= size, "reader_cb_size <= global_cb_size",
		   "reader_cb_size %" PRIu64 " must not be larger than global cb %" PRIu64, read,
		   size);
	TT_REQUIRE(size % SIGNAL_BYTES == 0, "tt::exception",
		   "Total circular buffer size %" PRIu64 " B must be divisible by page size %u B",
		   size, SIGNAL_BYTES);
	return TT_PLAN(
		plan, cores,
		TT_CB_ROW(0, "reader", .pages = tiles * DEPTH, .page = tile, .backing = room),
		TT_CB_ROW(3, "sync", .pages = 1, .page = SIGNAL_BYTES),
		TT_CB_ROW(1, "tensor_addrs", .pages = layers * tensors, .page = ADDRESS_BYTES,
			  .backing = launch->inputs[launch->input_count - 1]),
		TT_CB_ROW(31, "remote", .pages = size / SIGNAL_BYTES, .page = SIGNAL_BYTES,
			  .backing = room));
}

static tt_status prefetch_kernel(struct tt_launch *launch)
{
	return tt_backend_get()->fill(launch->outputs[0], 0, TT_FILL_ALL);
}

static const struct tt_prog prog = {
	.device_op = "DramPrefetcherOperation",
	.prim = "ttnn::prim::dram_prefetcher",
	.attrs = &schema,
	.infer = prefetch_infer,
	.validate = prefetch_validate,
	TT_FACTORY("ttnn::prim::DramPrefetcherProgramFactory", prefetch_memory),
	TT_KERNEL(prefetch_kernel),
	.cost = tt_cost_unmodelled_move,
};

static tt_status prefetch_expand(struct tt_call *call)
{
	const struct ttnn_value *tensors = tt_call_arg(call, "tensors"), *ring;
	struct tt_tensor **inputs;

	TT_TRY(tt_global_cb_read(&ring, tt_call_arg(call, "global_cb")));
	if (tt_call_arg(call, "prefetcher_pipes")->count)
		return tt_fail(TTNN_UNSUPPORTED, "%s does not support prefetcher_pipes yet",
			       call->entry->op->name);
	TT_REQUIRE(tensors->count > 0, "!input_tensors.empty()",
		   "Must have at least one input tensor");
	inputs = tt_arena_alloc(call->arena, tensors->count * sizeof(struct tt_tensor *));
	TT_NEED_MEMORY(inputs);
	for (size_t i = 0; i < tensors->count; i++)
		inputs[i] = tensors->items[i].tensor;
	return TT_LAUNCH_RETURN(
		call, &prog, .inputs = inputs, .input_count = tensors->count,
		TT_BIND(call, schema, [LAYERS] = *tt_call_arg(call, "num_layers"),
			[PERFORMANCE] = *tt_call_arg(call, "enable_performance_mode"),
			[RING] = *tt_call_arg(call, "global_cb"), [PIPES] = ttnn_v_list(NULL, 0)));
}

/* ---- the table ------------------------------------------------------------------------------------------ */

static tt_status golden_prefetch(struct tt_golden *golden)
{
	const struct ttnn_value *tensors = tt_call_arg(&golden->call, "tensors");

	TT_NEED(tensors->count, "%s: there must be tensors", golden->op->name);
	/* All zero as it is made. */
	return tt_golden_out(golden, &TT_SHAPE(TT_TILE, TT_TILE),
			     tensors->items[0].tensor->spec.dtype)
		       ? TTNN_OK
		       : tt_fail_nomem();
}

static const struct tt_op ops[] = {
	{.name = "ttnn.dram_prefetcher",
	 .doc = "Sends weights from DRAM ahead of the products that want them, which name the same ring.",
	 .sigs = {"tensors: Tensors, num_layers: size, global_cb: GlobalCb ? = None, *, "
		  "enable_performance_mode: bool = False, prefetcher_pipes: Pipes = []"},
	 .expand = prefetch_expand,
	 .golden = golden_prefetch,
	 .pcc = 1,
	 TT_PROGRAMS(&prog)},
};

const struct tt_op_family tt_family_prefetch = {"prefetch", ops, TT_COUNT(ops)};
