/*
 * llama_reduce.c: llama_reduce_scatter, which adds up what the chips of a row have in shards and gives each its part, and
 * llama_rs_create_heads, which cuts the part into heads.
 *
 * Models LlamaReduceScatterDeviceOperation and LlamaReduceScatterCreateHeadsDeviceOperation of ttnn 0.81: specs,
 * refusals, and the buffers of who sends and who adds up: packets of a few tiles (or blocks of rows), each added up on a
 * core of the caller's buffer; senders read from as many shards as their packets come from. Not modelled: which core
 * sends what to whom.
 */
#include "backend/backend.h"
#include "device/device.h"
#include "device/devtensor.h"
#include "golden/golden_collective.h"
#include "ops/collective/fused.h"
#include "ops/collective/llama.h"
#include "ops/dims.h"
#include "ops/op_enums.h"
#include "ops/usual.h"

#define PACKET 4352u /* bytes that go through the fabric at once, */
#define POWER 4096u  /* and what is used of them for bfloat16 */

#define SIGNAL .text = TT_TEXT_FIXED, .fixed = "<GlobalSemaphore>", .unkeyed = true
#define SUB_DEVICE .text = TT_TEXT_FIXED, .fixed = "<StrongType>"

#define SCATTER_ATTRS(X)                                                                           \
	X(DIM, "dim")                                                                              \
	X(SIGNAL_OF, "cross_device_semaphore", SIGNAL)                                             \
	X(SUB_DEVICE_OF, "subdevice_id", SUB_DEVICE)                                               \
	X(AXIS, "cluster_axis")                                                                    \
	X(MEMORY, "output_mem_config")                                                             \
	X(SIZE, "ring_devices")                                                                    \
	X(LINKS, "num_links")                                                                      \
	X(TOPOLOGY, "topology")                                                                    \
	X(NOC1, "use_noc1_only")
TT_ATTRS(scatter_schema, "operation_attributes_t", SCATTER_ATTRS);
_Static_assert((int)scatter_schema_count == TT_LLAMA_SCATTER_COUNT,
	       "ops/collective/llama.h says how many");

/* The first six are the same. */
#define HEADS_ATTRS(X)                                                                             \
	X(H_DIM, "dim")                                                                            \
	X(H_SIGNAL, "cross_device_semaphore", SIGNAL)                                              \
	X(H_SUB_DEVICE, "subdevice_id", SUB_DEVICE)                                                \
	X(H_AXIS, "cluster_axis")                                                                  \
	X(H_MEMORY, "output_mem_config")                                                           \
	X(H_SIZE, "ring_devices")                                                                  \
	X(H_TOPOLOGY, "topology")                                                                  \
	X(H_LINKS, "num_links")                                                                    \
	X(H_HEADS, "num_heads")                                                                    \
	X(H_KV_HEADS, "num_kv_heads")                                                              \
	X(H_WIDTH, "head_dim")                                                                     \
	X(H_ROWS, "slice_size")                                                                    \
	X(H_PLACE, "qkv_memory_config")                                                            \
	X(H_NOC1, "use_noc1_only")                                                                 \
	X(H_USUAL_CORES, "use_optimal_ccl_for_llama")
TT_ATTRS(heads_schema, "operation_attributes_t", HEADS_ATTRS);

enum { IN, BUFFER };

/* ---- packets -------------------------------------------------------------------------------------------------------- */

/* What is sent, in pages of some size: so many of each shard, and of a packet. */
struct packets {
	uint32_t page;    /* bytes */
	uint32_t each;    /* pages of a shard */
	uint32_t shards;  /* of which pages are sent */
	uint32_t pages;   /* in a packet */
	uint32_t adders;  /* cores that add up a packet */
	uint32_t senders; /* one for each link */
};

/* The most shards that one sender reads: it has packets that follow each other. */
static uint32_t most_shards(const struct packets *p)
{
	uint32_t total = p->shards * p->each, packets = (uint32_t)tt_div_up(total, p->pages);
	uint32_t most = 0;

	for (uint32_t sender = 0, at = 0; sender < p->senders; sender++) {
		uint32_t own = packets / p->senders + (sender < packets % p->senders);
		uint32_t end = at + own * p->pages < total ? at + own * p->pages : total;
		uint32_t count = end > at ? (uint32_t)tt_div_up(end, p->each) - at / p->each : 0;

		most = count > most ? count : most;
		at = end;
	}
	return most;
}

/* Shards of an input of which every chip has as many, the last of them perhaps only padding. */
static uint32_t shard_count(const struct tt_launch *launch, uint32_t size)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec;
	uint64_t shards = tt_div_up(tt_shape_last(&in->shape, 1), in->memory.shard.width);

	return (uint32_t)(tt_div_up(shards, size) * size);
}

/* The first cores of a set, in its order. */
static tt_status first_cores(const ttnn_core_set **out, const ttnn_core_set *set, uint32_t count)
{
	uint32_t all = (uint32_t)ttnn_core_set_cores(set);
	struct ttnn_core_range ranges[TT_GROUP_MAX * 4];

	count = count < all ? count : all;
	TT_NEED(count && count <= TT_COUNT(ranges), "%u cores cannot add up packets", count);
	for (uint32_t i = 0; i < count; i++)
		ranges[i].start = ranges[i].end = tt_core_set_at(set, i, TTNN_ORIENT_ROW_MAJOR);
	return ttnn_core_set_make(out, ranges, count);
}

/* The first cores of the grid that are in a set: rows come first, whatever the cut. */
static tt_status first_free(const ttnn_core_set **out, const struct tt_launch *launch,
			    const ttnn_core_set *free, uint32_t count)
{
	struct ttnn_core_range ranges[TT_GROUP_MAX];
	uint32_t used = 0;

	TT_NEED(count && count <= TT_GROUP_MAX && count <= ttnn_core_set_cores(free),
		"Not enough cores available for %u links", count);
	for (uint32_t i = 0; used < count; i++) {
		struct ttnn_core core =
			tt_core_set_at(launch->device->grid, i, TTNN_ORIENT_ROW_MAJOR);

		if (tt_core_set_contains(free, core))
			ranges[used].start = ranges[used].end = core, used++;
	}
	return ttnn_core_set_make(out, ranges, used);
}

static uint32_t packet_bytes(const struct tt_launch *launch)
{
	return launch->inputs[IN]->spec.dtype == TTNN_BFLOAT16 ? POWER : PACKET;
}

/* The buffers of both: shards of the input, headers, room for a packet of every chip, what is sent, and sums. */
static tt_status packet_memory(struct tt_plan *plan, const struct tt_launch *launch,
			       const ttnn_core_set *cores, const struct packets *p,
			       struct tt_tensor *out)
{
	uint32_t size = tt_group_members(launch);
	uint32_t wide = out ? out->spec.memory.shard.width / TT_TILE : 1;

	return TT_PLAN(
		plan, cores,
		TT_CB_ROW(0, "input", .pages = p->each, .page = p->page,
			  .backing = launch->inputs[IN]),
		TT_CB_ROW(1, "output", .pages = out ? wide : 0, .page = p->page, .backing = out),
		TT_CB_ROW(2, "packet_header", .pages = 8, .page = 96),
		TT_CB_ROW(4, "fabric_receiver", .pages = p->pages * size, .page = p->page,
			  .backing = launch->inputs[BUFFER]),
		TT_CB_ROW(3, "fabric_sender", .pages = most_shards(p) * (size - 1) * p->each,
			  .page = p->page),
		TT_CB_ROW(5, "accumulator", .pages = 2 * p->pages * wide * size, .page = p->page));
}

/* ---- refusals ----------------------------------------------------------------------------------------------------------- */

static tt_status check_shards(const struct tt_launch *launch, int dim)
{
	static const char *const names[] = {"input_tensor", "intermediate_packet_buffer"};
	static const char *const has[] = {
		"input_tensor.shard_spec().has_value()",
		"tensor_args.intermediate_packet_buffer.shard_spec().has_value()"};
	static const char *const rows[] = {
		"input_tensor.shard_spec().value().shape[0] == 32",
		"tensor_args.intermediate_packet_buffer.shard_spec().value().shape[0] == 32"};
	uint32_t size = tt_attr_u32(launch, SIZE);

	TT_REQUIRE(launch->attrs[DIM].integer == 3, "attributes.dim == 3", "dim must be %d, got %d",
		   dim, (int)launch->attrs[DIM].integer);
	TT_REQUIRE(launch->attrs[AXIS].integer == 1, "attributes.cluster_axis == 1",
		   "cluster_axis must be 1, got %d", (int)launch->attrs[AXIS].integer);
	TT_REQUIRE(size == 4 || size == 2,
		   "attributes.ring_devices == 4 or attributes.ring_devices == 2",
		   "ring_devices must be 4 or 2, got %u", size);
	for (int i = 0; i < 2; i++) {
		const struct ttnn_memory_config *memory = &launch->inputs[i]->spec.memory;

		TT_REQUIRE(memory->has_shard, has[i], "%s must have a shard spec", names[i]);
		TT_REQUIRE(memory->shard.height == 32, rows[i],
			   "%s shard height must be 32 but got %u", names[i], memory->shard.height);
	}
	return TTNN_OK;
}

/* The same of the place of the result. */
static tt_status check_place(const struct ttnn_value *place, const char *name)
{
	const struct ttnn_memory_config *memory = place->memory;

	if (place->kind != TTNN_VALUE_MEMORY)
		return TTNN_OK;
	TT_REQUIRE(memory->has_shard, "shard_spec().has_value()", "%s must have a shard spec",
		   name);
	TT_REQUIRE(memory->shard.height == 32, "shard_spec().value().shape[0] == 32",
		   "%s shard height must be 32 but got %u", name, memory->shard.height);
	return TTNN_OK;
}

/* ---- adding up ------------------------------------------------------------------------------------------------------------ */

/* Shards that are not full count as if they were: the last chip's part ends in padding. */
static uint32_t part_width(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec;
	uint32_t width = in->shape.dim[launch->attrs[DIM].integer];
	uint32_t cores = (uint32_t)ttnn_core_set_cores(in->memory.shard.grid);

	if (width % in->memory.shard.width == 0)
		return width / tt_attr_u32(launch, SIZE);
	return (uint32_t)tt_div_up(width / TT_TILE, cores) * cores * TT_TILE /
	       tt_attr_u32(launch, SIZE);
}

static tt_status scatter_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec;
	const struct ttnn_value *memory = &launch->attrs[MEMORY];
	struct ttnn_shape shape = in->shape;
	uint32_t dim = tt_attr_u32(launch, DIM);
	struct ttnn_memory_config place;
	struct ttnn_shard_spec shard;

	TT_NEED(in->memory.has_shard, "bad optional access");
	TT_REQUIRE(shape.dim[dim] % tt_attr_u32(launch, SIZE) == 0,
		   "input_width % attributes.ring_devices == 0",
		   "input shape width must be divisible by num_devices");
	shape.dim[dim] = part_width(launch);
	if (memory->kind == TTNN_VALUE_MEMORY)
		return tt_spec_simple(&launch->specs[0], &shape, in->dtype, in->layout,
				      memory->memory);
	shard = (struct ttnn_shard_spec){.height = tt_shape_last(&in->shape, 2),
					 .width = TT_TILE,
					 .orientation = TTNN_ORIENT_ROW_MAJOR};
	TT_TRY(tt_split_cores(&shard.grid, launch->device->info.compute_grid,
			      (struct ttnn_core){0, 0}, shape.dim[dim] / TT_TILE,
			      in->memory.shard.orientation));
	TT_TRY(ttnn_memory_config_sharded(&place, in->memory.layout, in->memory.buffer, &shard));
	return tt_spec_simple(&launch->specs[0], &shape, in->dtype, in->layout, &place);
}

static tt_status scatter_validate(struct tt_launch *launch)
{
	TT_TRY(check_shards(launch, 1)); /* upstream says 1 */
	return check_place(&launch->attrs[MEMORY], "output_mem_config");
}

/* What is sent in full packets, and the cores that add them up. */
static tt_status full_packets(struct packets *out, const ttnn_core_set **adders,
			      const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec;
	uint32_t size = tt_attr_u32(launch, SIZE), links = tt_attr_u32(launch, LINKS);

	*out = (struct packets){.page = (uint32_t)tt_tile_bytes_of(in->dtype),
				.each = in->memory.shard.width / TT_TILE,
				.shards = shard_count(launch, size) / size,
				.senders = links};
	TT_NEED(links > 0, "num_links must be positive");
	TT_NEED(out->each, "llama_reduce_scatter adds up tiles in shards");
	out->pages = packet_bytes(launch) / out->page;
	return first_cores(adders, launch->inputs[BUFFER]->spec.memory.shard.grid,
			   (uint32_t)tt_div_up((uint64_t)out->shards * out->each, out->pages));
}

tt_status tt_llama_scatter_cores(const ttnn_core_set **out, const struct tt_launch *launch)
{
	const ttnn_core_set *adders, *senders;
	struct packets p;

	TT_TRY(full_packets(&p, &adders, launch));
	TT_TRY(tt_llama_senders(&senders, launch, tt_attr_u32(launch, LINKS)));
	return tt_core_set_merge(out, adders, senders);
}

static tt_status scatter_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *out = &launch->outputs[0]->spec;
	uint32_t links = tt_attr_u32(launch, LINKS);
	uint32_t tiles = tt_shape_last(&out->shape, 1) / TT_TILE;
	const ttnn_core_set *adders, *cores;
	struct packets p;

	TT_TRY(full_packets(&p, &adders, launch));
	TT_NEED(tiles && out->memory.has_shard, "llama_reduce_scatter adds up tiles in shards");
	if (tt_div_up(tiles, links) < p.pages)
		p.pages = (uint32_t)tt_div_up(tiles, links);
	TT_REQUIRE(p.pages % p.each == 0 || p.each > p.pages,
		   "num_pages_per_packet % input_tiles_per_core_width == 0 || "
		   "input_tiles_per_core_width > num_pages_per_packet",
		   "must have num_pages per packet divisible by num_tiles per core, or num_tiles "
		   "per core larger than num_pages per packet");
	TT_TRY(tt_llama_scatter_cores(&cores, launch));
	return packet_memory(plan, launch, cores, &p, launch->outputs[0]);
}

static tt_status serve_scatter(struct tt_tensor *out, const struct tt_launch *launch, uint32_t chip,
			       const struct tt_group *group)
{
	struct tt_share part = tt_share_whole(launch, tt_attr_u32(launch, DIM));
	uint32_t own = part_width(launch), from = own * group->own;

	(void)chip;
	/* Behind the end there is padding. */
	if (from + own > part.extent)
		TT_TRY(tt_backend_get()->fill(out, 0, TT_FILL_ALL));
	if (from >= part.extent)
		return TTNN_OK;
	part.extent = part.extent - from < own ? part.extent - from : own;
	part.from = from;
	return tt_share_sum(out, launch, group, part);
}
TT_SERVE(scatter, 0)

/* ---- heads ---------------------------------------------------------------------------------------------------------------- */

enum { Q, K, V, HEAD_TENSORS };

/* Each row of a batch is on a core of its own: those of the keys follow those of the queries, and so on. */
static tt_status heads_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec;
	const struct ttnn_memory_config *place = launch->attrs[H_PLACE].memory;
	uint32_t rows = tt_attr_u32(launch, H_ROWS), heads = tt_attr_u32(launch, H_HEADS);
	uint32_t width = tt_attr_u32(launch, H_WIDTH);
	const struct ttnn_shape shape = {4, {in->shape.dim[0], rows, heads, width}};
	struct ttnn_shard_spec shard = {
		.height = heads, .width = width, .orientation = TTNN_ORIENT_ROW_MAJOR};
	struct ttnn_memory_config memory;

	TT_NEED(launch->attrs[H_PLACE].kind == TTNN_VALUE_MEMORY, "bad optional access");
	TT_NEED(place->has_shard, "llama_rs_create_heads needs the cores of its heads");
	launch->output_count = HEAD_TENSORS;
	for (uint32_t i = 0; i < HEAD_TENSORS; i++) {
		TT_TRY(tt_head_cores(&shard.grid, place->shard.grid, i, rows));
		TT_TRY(ttnn_memory_config_sharded(&memory, place->layout, place->buffer, &shard));
		TT_TRY(tt_spec_simple(&launch->specs[i], &shape, in->dtype, in->layout, &memory));
	}
	return TTNN_OK;
}

static tt_status heads_validate(struct tt_launch *launch)
{
	const struct ttnn_shape *in = &launch->inputs[IN]->spec.shape;

	TT_TRY(check_shards(launch, 3));
	TT_TRY(check_place(&launch->attrs[H_PLACE], "qkv_memory_config"));
	TT_NEED(in->rank == 4 && in->dim[0] == 1 && in->dim[1] == 1 &&
			in->dim[2] % tt_attr_u32(launch, H_SIZE) == 0,
		"llama_rs_create_heads takes rows of one batch, as many for each device");
	return TTNN_OK;
}

/* A block is a shard's rows for one chip. */
static tt_status heads_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec;
	uint32_t links = tt_attr_u32(launch, H_LINKS);
	struct packets p = {.each = 1, .senders = links};
	const ttnn_core_set *adders, *senders, *cores, *free;

	TT_NEED(links > 0, "num_links must be positive");
	p.page = tt_attr_u32(launch, H_ROWS) * in->memory.shard.width *
		 (uint32_t)tt_dtype_bytes(in->dtype);
	p.shards = (uint32_t)tt_div_up(tt_shape_last(&in->shape, 1), in->memory.shard.width);
	p.pages = p.page ? packet_bytes(launch) / p.page : 0;
	TT_NEED(p.pages, "a packet has no room for a block of %u bytes", p.page);
	if (tt_div_up(p.shards, links) < p.pages)
		p.pages = (uint32_t)tt_div_up(p.shards, links);
	TT_TRY(first_cores(&adders, launch->inputs[BUFFER]->spec.memory.shard.grid,
			   (uint32_t)tt_div_up(p.shards, p.pages)));
	if (launch->attrs[H_USUAL_CORES].boolean) {
		TT_TRY(tt_llama_senders(&senders, launch, links));
	} else {
		TT_TRY(tt_core_set_subtract(&free, launch->device->grid, adders));
		TT_TRY(tt_core_set_merge(&free, free, NULL));
		TT_TRY(first_free(&senders, launch, free, links));
	}
	TT_TRY(tt_core_set_merge(&cores, adders, senders));
	return packet_memory(plan, launch, cores, &p, NULL);
}

/* Heads from `first` on, of rows in which they stand side by side, to a tensor that has room for all. */
static tt_status cut_heads(struct tt_tensor *out, struct tt_tensor *rows, uint32_t first,
			   uint32_t count)
{
	const struct ttnn_shape *shape = &out->spec.shape;
	const struct tt_move_loop loops[] = {
		{shape->dim[1], 2, 1, 1, 1},
		{count, 3, 2, shape->dim[3], 1},
		{shape->dim[3], 3, 3, 1, 1},
	};
	struct tt_move_job job = {.out = out, .in = rows, .loops = loops, .loop_count = 3};

	job.in_start[3] = (int64_t)first * shape->dim[3];
	return tt_backend_get()->move(&job);
}

/* The rows of a chip, added up, and its heads. */
static tt_status heads_on(struct tt_launch *launch, uint32_t chip)
{
	uint32_t heads = tt_attr_u32(launch, H_HEADS), kv = tt_attr_u32(launch, H_KV_HEADS);
	struct tt_share part = tt_share_whole(launch, 2);
	struct ttnn_shape shape = launch->inputs[IN]->spec.shape;
	struct tt_tensor *rows, *out;
	struct tt_group group;
	tt_status status = TTNN_OK;

	tt_group_find(&group, launch->device, tt_group_axis(&launch->attrs[H_AXIS]), chip);
	part.extent = shape.dim[2] = tt_attr_u32(launch, H_ROWS);
	part.from = (int64_t)part.extent * group.own;
	TT_TRY(tt_scratch_f32(&rows, &shape));
	TT_TRY(tt_share_sum(rows, launch, &group, part));
	for (uint32_t i = 0; i < HEAD_TENSORS && status == TTNN_OK; i++) {
		uint32_t count = i == Q ? heads : kv;

		TT_TRY(tt_tensor_resident(&out, launch->outputs[i], chip, TT_BUFFER_OVERWRITE));
		status = tt_backend_get()->fill(out, 0, TT_FILL_ALL);
		if (status == TTNN_OK)
			status = cut_heads(out, rows, i == Q ? 0 : heads + (i - 1) * kv,
					   count < heads ? count : heads);
		ttnn_tensor_unref(out);
	}
	return status;
}

static tt_status heads_kernel(struct tt_launch *launch)
{
	for (uint32_t chip = 0; chip < launch->device->rows * launch->device->cols; chip++)
		TT_TRY(heads_on(launch, chip));
	return TTNN_OK;
}

/* ---- programs ------------------------------------------------------------------------------------------------------------- */

#define SPACE "ttnn::operations::experimental::ccl::"
#define PROGRAM(name, device_, prim_, factory_)                                                    \
	.device_op = device_, .prim = "ttnn::prim::" prim_, .attrs = &name##_schema,               \
	.infer = name##_infer, .validate = name##_validate,                                        \
	TT_FACTORY(SPACE device_ "::" factory_, name##_memory), TT_KERNEL(name##_kernel),          \
	.per_chip = true, .together = true, .drops_forward = true
const struct tt_prog tt_prog_llama_scatter = {PROGRAM(scatter, "LlamaReduceScatterDeviceOperation",
						      "llama_reduce_scatter",
						      "LlamaReduceScatterAdd")};
static const struct tt_prog heads_program = {
	PROGRAM(heads, "LlamaReduceScatterCreateHeadsDeviceOperation",
		"llama_reduce_scatter_create_heads", "LlamaReduceScatterCreateHeads")};

/* ---- calls ------------------------------------------------------------------------------------------------------------------ */

/* What both are told. */
static tt_status bind(struct ttnn_value *attrs, struct tt_call *call, const struct tt_tensor *in,
		      const char *memory)
{
	struct tt_device *device;
	int64_t axis = tt_group_axis(tt_call_arg(call, "cluster_axis"));
	uint32_t dim;

	TT_TRY(tt_async_on_mesh(call, in));
	device = tt_tensor_device(in);
	TT_TRY(tt_normal_dim(&dim, tt_call_int(call, "dim", 3), in->spec.shape.rank));
	attrs[DIM] = ttnn_v_int(dim);
	attrs[SIZE] = ttnn_v_int(tt_group_size(device, axis));
	TT_REQUIRE(attrs[SIZE].integer > 1, "ring_devices > 1",
		   "reduce_scatter async op will only work for ring_devices > 1, but has %d",
		   (int)attrs[SIZE].integer);
	attrs[MEMORY] = *tt_call_arg(call, memory);
	return TTNN_OK;
}

tt_status tt_llama_scatter_bind(struct ttnn_value *attrs, struct tt_call *call,
				const struct tt_tensor *in, const char *memory)
{
	TT_TRY(bind(attrs, call, in, memory));
	TT_TRY(tt_group_links(&attrs[LINKS], call, tt_tensor_device(in)));
	attrs[TOPOLOGY] = tt_group_topology(tt_tensor_device(in), tt_call_arg(call, "topology"), 1);
	tt_attrs_bind(call, &scatter_schema, attrs);
	return TTNN_OK;
}

static tt_status scatter_expand(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor");
	struct ttnn_value attrs[scatter_schema_count] = {0};

	TT_TRY(tt_llama_scatter_bind(attrs, call, in, "memory_config"));
	return TT_LAUNCH_RETURN(call, &tt_prog_llama_scatter,
				TT_INPUTS(in, tt_call_tensor(call, "intermediate_packet_buffer")),
				.attrs = attrs);
}

static tt_status heads_expand(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor");
	int64_t heads = tt_call_int(call, "num_heads", 0),
		kv = tt_call_int(call, "num_kv_heads", 0);
	struct ttnn_value attrs[heads_schema_count] = {0};

	TT_TRY(bind(attrs, call, in, "memory_config"));
	TT_NEED(heads > 0 && kv >= 0 && heads <= UINT16_MAX && kv <= UINT16_MAX &&
			in->spec.shape.rank == 4,
		"llama_rs_create_heads needs heads, and a tensor of four dimensions");
	attrs[H_WIDTH] = ttnn_v_int(tt_shape_last(&in->spec.padded, 1) / (heads + 2 * kv));
	attrs[H_ROWS] = ttnn_v_int(tt_shape_last(&in->spec.padded, 2) / attrs[H_SIZE].integer);
	TT_NEED(attrs[H_WIDTH].integer && attrs[H_ROWS].integer,
		"llama_rs_create_heads: %u columns are too few for the heads, or %u rows for the "
		"devices",
		tt_shape_last(&in->spec.padded, 1), tt_shape_last(&in->spec.padded, 2));
	attrs[H_LINKS] = ttnn_v_int(tt_call_int(call, "num_links", 1));
	attrs[H_TOPOLOGY] =
		tt_group_topology(tt_tensor_device(in), tt_call_arg(call, "topology"), 1);
	tt_attrs_bind(call, &heads_schema, attrs);
	return TT_LAUNCH_RETURN(call, &heads_program,
				TT_INPUTS(in, tt_call_tensor(call, "intermediate_packet_buffer")),
				.attrs = attrs);
}

/* ---- rows --------------------------------------------------------------------------------------------------------------------- */

#define SELF_ARGS                                                                                  \
	"input_tensor: Tensor, intermediate_packet_buffer: Tensor, dim: int, "                     \
	"cross_device_semaphore: any, subdevice_id: SubDeviceId, cluster_axis: int, "              \
	"mesh_device: Device, "

static const struct tt_op ops[] = {
	{.name = "ttnn.experimental.llama_reduce_scatter",
	 .doc = "The shards of the devices of a row added up, and each device gets its part.",
	 .sigs = {SELF_ARGS "*, num_links: int? = None, memory_config: MemoryConfig? = None, "
			    "topology: Topology = Linear, use_noc1_only: bool = False"},
	 .expand = scatter_expand,
	 .golden = tt_golden_llama_reduce_scatter,
	 TT_PROGRAMS(&tt_prog_llama_scatter)},
	{.name = "ttnn.experimental.llama_rs_create_heads",
	 .doc = "Rows of the devices of a row added up; each device gets the heads of its part.",
	 .sigs = {SELF_ARGS "topology: Topology, *, num_links: int? = None, num_heads: int, "
			    "num_kv_heads: int, memory_config: MemoryConfig? = None, "
			    "qkv_memory_config: MemoryConfig? = None, use_noc1_only: bool = False, "
			    "use_optimal_ccl_for_llama: bool = False"},
	 .expand = heads_expand,
	 .golden = tt_golden_llama_heads,
	 .gives = "(Tensor, Tensor, Tensor)",
	 TT_PROGRAMS(&heads_program)},
};

const struct tt_op_family tt_family_llama_reduce = {"collective_fused", ops, TT_COUNT(ops)};
