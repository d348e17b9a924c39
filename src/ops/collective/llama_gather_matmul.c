/*
 * llama_gather_matmul.c: llama_all_gather_matmul_async, the columns of all devices of a row or column one behind the other,
 * and their product with a matrix.
 *
 * Models LlamaAllGatherMatmulAsyncDeviceOperation of ttnn 0.81: specs, refusals, buffers of who sends, of the cores that
 * gather (in a tensor that the caller gives), and of a product whose cores all have the whole of what was gathered. For
 * them a tensor is made on cores that upstream knows, and given up again. Not modelled: signals between them, and what
 * is in that tensor.
 */
#include "device/device.h"
#include "golden/golden_fused.h"
#include "ops/collective/fused_matmul.h"
#include "ops/movement/movement.h"
#include "ops/op_enums.h"
#include "ops/usual.h"

#define ATTRS(X)                                                                                   \
	X(PRODUCT, "matmul_struct")                                                                \
	X(DIM, "dim")                                                                              \
	X(LINKS, "num_links")                                                                      \
	X(SIZE, "ring_size")                                                                       \
	X(MEMORY, "output_memory_config")                                                          \
	X(TOPOLOGY, "topology")                                                                    \
	X(SIGNAL, "semaphore", .unkeyed = true)                                                    \
	X(SUB_DEVICE, "sub_device_id")                                                             \
	X(AXIS, "cluster_axis")
TT_ATTRS(schema, "<LlamaAllGatherMatmulAsyncParams>", ATTRS);

enum { IN, WEIGHT, BETWEEN };
enum { RESULT, GATHERED, OUTPUTS };

#define COPIES 60u /* cores that have a copy of what was gathered */
#define STEPS 4u   /* in which it arrives */
#define FIRST 3u   /* the first buffer of the product */

/* ---- specs ----------------------------------------------------------------------------------------------------- */

/* A copy of all columns on each of the cores that Llama multiplies on. */
static tt_status gathered_spec(struct ttnn_tensor_spec *out, const struct tt_launch *launch)
{
	static const struct ttnn_core_range box = {{1, 0}, {6, 9}};
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec;
	const struct ttnn_memory_config *memory = launch->attrs[MEMORY].memory;
	uint32_t size = tt_attr_u32(launch, SIZE), last = in->padded.rank - 1;
	uint64_t width = (uint64_t)in->padded.dim[last] * size;
	struct ttnn_shape shape = in->padded;
	struct ttnn_memory_config place;
	struct ttnn_shard_spec shard;

	TT_NEED(memory->has_shard, "bad optional access");
	TT_NEED(width * COPIES <= UINT32_MAX, "there are too many columns to be gathered");
	shape.dim[last] = (uint32_t)width;
	TT_TRY(tt_spec_simple(out, &shape, in->dtype, in->layout, memory));
	shard = memory->shard;
	shard.width *= size;
	shard.orientation = TTNN_ORIENT_ROW_MAJOR;
	TT_TRY(ttnn_core_set_make(&shard.grid, &box, 1));
	TT_TRY(ttnn_memory_config_sharded(&place, TTNN_WIDTH_SHARDED, TTNN_L1, &shard));
	shape.dim[last] = (uint32_t)(width * COPIES);
	return tt_spec_simple(out, &shape, in->dtype, in->layout, &place);
}

static tt_status llama_infer(struct tt_launch *launch)
{
	launch->output_count = OUTPUTS;
	TT_TRY(gathered_spec(&launch->specs[GATHERED], launch));
	return tt_matmul_result(&launch->specs[RESULT], launch->extra);
}

/* ---- refusals -------------------------------------------------------------------------------------------------- */

static tt_status check_links(const struct tt_launch *launch)
{
	const struct tt_tensor *in = launch->inputs[IN];
	uint32_t links = tt_attr_u32(launch, LINKS);

	TT_REQUIRE(in->spec.page_bytes % tt_page_alignment(in) == 0,
		   "page_size % input0.buffer()->alignment() == 0",
		   "All Gather Replicate currently requires aligned pages");
	TT_REQUIRE(links > 0, "args.num_links > 0",
		   "Error, num_links should be more than 0 but has %u", links);
	TT_REQUIRE(links <= launch->device->info.compute_grid.y,
		   "args.num_links <= input0.device()->compute_with_storage_grid_size().y",
		   "Worker cores used by links are parallelizaed over rows");
	return TTNN_OK;
}

/* What is gathered lies in shards as wide as the devices' parts, in a tensor of the caller's. */
static tt_status check_between(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec,
				      *between = &launch->inputs[BETWEEN]->spec;
	struct ttnn_shape shape = in->shape;
	uint32_t size = tt_attr_u32(launch, SIZE);
	uint64_t cores;

	TT_NEED(in->memory.has_shard && between->memory.has_shard, "bad optional access");
	cores = ttnn_core_set_cores(between->memory.shard.grid);
	TT_REQUIRE(cores % size == 0 || cores == 1,
		   "intermediate_cores_vec.size() % args.ring_size == 0 || "
		   "intermediate_cores_vec.size() == 1",
		   "intermediate sharded cores ( %u ) must be divisible by num_links ( %u ) or 1 "
		   "for this work distribution scheme",
		   (uint32_t)cores, size);
	shape.dim[shape.rank - 1] *= size;
	TT_NEED(ttnn_shape_equal(&shape, &between->shape) && in->dtype == between->dtype &&
			in->layout == TTNN_TILE && between->layout == TTNN_TILE,
		"intermediate_tensor has no room for the tiles of all devices, side by side");
	return TTNN_OK;
}

static tt_status check_config(const struct tt_matmul_config *config)
{
	TT_NEED(config->kind == TT_MATMUL_1D, "std::get: wrong index for variant");
	TT_REQUIRE(!config->cast_a, "!config.mcast_in0",
		   "Only GATHER_IN0 is supported. MCAST_IN0 has been removed.");
	TT_REQUIRE(config->gather_a, "config.gather_in0",
		   "Only GATHER_IN0 is supported. This function requires gather_in0=true.");
	return TTNN_OK;
}

/* One shard of copies is multiplied. */
static tt_status check_blocks(const struct tt_launch *launch)
{
	const struct tt_matmul_plan *plan = launch->extra;
	const struct tt_matmul_config *config = &plan->config;
	uint32_t width = launch->specs[GATHERED].memory.shard.width, k = width / TT_TILE;
	uint32_t cores = config->grid.x * config->grid.y;
	uint64_t rows = tt_matmul_rows(&plan->matmul, config->fuse_batch), blocks;

	TT_REQUIRE(width == tt_shape_last(&plan->matmul.b_padded, 2), "ashape[-1] == bshape[-2]",
		   "Dimension K (A.shape[-1] and B.shape[-2]) must match for A and B in bmm_op");
	TT_NEED(config->k && config->m && config->n, "Arithmetic exception: division by zero");
	TT_REQUIRE(k % config->k == 0, "Kt % in0_block_w == 0",
		   "K dimension in tiles (%u) must be divisible by input block width (%u)", k,
		   config->k);
	blocks = tt_div_up(rows, config->m) * tt_div_up(plan->matmul.n, config->n);
	TT_REQUIRE(blocks <= cores, "num_blocks_total <= num_cores",
		   "Number of blocks exceeds number of cores: %u blocks > %u cores",
		   (uint32_t)blocks, cores);
	TT_NEED(launch->inputs[WEIGHT]->spec.memory.has_shard &&
			launch->specs[RESULT].memory.has_shard,
		"bad optional access");
	return TTNN_OK;
}

static tt_status llama_validate(struct tt_launch *launch)
{
	const struct tt_matmul_plan *plan = launch->extra;

	TT_TRY(check_links(launch));
	TT_NEED(tt_value_given(&launch->attrs[PRODUCT].items[0]), "bad optional access");
	TT_TRY(check_between(launch));
	TT_TRY(check_config(&plan->config));
	TT_TRY(check_blocks(launch));
	TT_NEED(tt_shape_last(&launch->inputs[BETWEEN]->spec.shape, 1) ==
			tt_shape_last(&launch->inputs[WEIGHT]->spec.shape, 2),
		"the columns of all devices and the rows of input_tensor1 must be as many");
	return TTNN_OK;
}

/* ---- the program ------------------------------------------------------------------------------------------------- */

static tt_status llama_choose(uint32_t *out, struct tt_launch *launch)
{
	struct tt_matmul_plan *plan;

	*out = 0;
	TT_TRY(tt_fused_keep_plan(&plan, launch));
	plan->first_buffer = FIRST;
	return TTNN_OK;
}

/* The buffers of the product. */
static tt_status product_memory(struct tt_plan *out, const struct tt_launch *launch)
{
	const struct tt_matmul_plan *plan = launch->work;
	const struct tt_matmul *matmul = &plan->matmul;
	const struct ttnn_tensor_spec *b = &matmul->b->spec;
	const struct ttnn_shard_spec *weights = &b->memory.shard;
	uint64_t k = launch->outputs[GATHERED]->spec.memory.shard.width / TT_TILE,
		 tiles = (uint64_t)plan->config.m * plan->config.n;
	uint64_t page_a = tt_tile_bytes_of(matmul->a->spec.dtype),
		 page_b = tt_tile_bytes_of(b->dtype);
	enum ttnn_dtype sums = tt_matmul_sums(matmul, STEPS);
	bool dram = b->memory.buffer == TTNN_DRAM;
	const ttnn_core_set *cores;

	TT_TRY(tt_core_set_merge(&cores, weights->grid, plan->config.hops));
	TT_TRY(TT_PLAN(out, cores,
		       TT_CB_ROW(FIRST, "in0", .pages = plan->config.m * (k / STEPS) * STEPS,
				 .page = page_a, .backing = launch->outputs[GATHERED])));
	if (tt_value_given(&matmul->global_cb))
		TT_TRY(tt_matmul_add_sent(out, launch, cores, page_b,
					  plan->config.n * (k / STEPS)));
	else
		TT_TRY(TT_PLAN(out, cores,
			       TT_CB_ROW(FIRST + 1, "in1",
					 .pages = dram ? 2 * (k / STEPS) * plan->config.n
						       : weights->height / TT_TILE *
								  (weights->width / TT_TILE /
								   plan->config.receivers),
					 .page = page_b, .backing = dram ? NULL : matmul->b)));
	return TT_PLAN(out, cores, TT_CB_ROW(FIRST + 3, "sync", .pages = 1, .page = 16),
		       TT_CB_ROW(FIRST + 4, "sync2", .pages = 1, .page = 16),
		       TT_CB_ROW(FIRST + 6, "interm", .pages = sums != matmul->dtype ? tiles : 0,
				 .page = tt_tile_bytes_of(sums)),
		       TT_CB_ROW(FIRST + 5, "out", .pages = tiles,
				 .page = tt_tile_bytes_of(matmul->dtype),
				 .backing = launch->outputs[RESULT]));
}

static tt_status llama_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec;
	struct tt_tensor *between = launch->inputs[BETWEEN];
	const ttnn_core_set *places = between->spec.memory.shard.grid, *left, *senders;
	uint32_t links = tt_attr_u32(launch, LINKS);

	TT_TRY(tt_core_set_subtract(&left, launch->grid, places));
	TT_TRY(tt_core_set_subtract(&left, left, launch->outputs[RESULT]->spec.memory.shard.grid));
	TT_TRY(tt_first_left(&senders, left, links));
	TT_TRY(TT_PLAN(plan, senders,
		       TT_CB_ROW(0, "src0", .pages = in->pages / links + 1, .page = in->page_bytes),
		       TT_CB_ROW(2, "inter", .pages = tt_shard_tiles(&between->spec),
				 .page = between->spec.page_bytes, .cores = places,
				 .backing = between),
		       TT_CB_ROW(1, "packet_header", .pages = 8, .page = 96)));
	return product_memory(plan, launch);
}

static tt_status llama_kernel(struct tt_launch *launch)
{
	struct tt_tensor *all = launch->inputs[BETWEEN];
	struct tt_launch part = *launch;

	TT_TRY(tt_part_gather(launch, &(struct tt_gathering){.out = all,
							     .in = launch->inputs[IN],
							     .dim = all->spec.shape.rank - 1u,
							     .axis = &launch->attrs[AXIS]}));
	part.prog = &tt_prog_matmul;
	part.inputs = (struct tt_tensor *const[]){all, launch->inputs[WEIGHT], NULL};
	part.input_count = 3;
	part.output_count = 1;
	return tt_part_run(&part);
}

static const struct tt_prog program = {
	.device_op = "LlamaAllGatherMatmulAsyncDeviceOperation",
	.prim = "ttnn::prim::llama_all_gather_matmul_async",
	.attrs = &schema,
	.infer = llama_infer,
	.validate = llama_validate,
	.choose = llama_choose,
	TT_KERNEL(llama_kernel),
	TT_FACTORY("ttnn::experimental::prim::LlamaAllGatherMatmulAsyncProgramFactory",
		   llama_memory),
	.per_chip = true,
	.together = true,
	.last_first = true,
	.mute = true,
};

/* ---- the call ---------------------------------------------------------------------------------------------------- */

static tt_status bind(struct ttnn_value *attrs, struct tt_call *call, struct tt_tensor *in)
{
	int64_t dim = tt_call_int(call, "dim", 0), rank = in->spec.shape.rank;
	struct tt_device *device = tt_tensor_device(in);
	int64_t axis = tt_call_int(call, "cluster_axis", 0) ? 1 : 0;
	const struct ttnn_value *memory = tt_call_arg(call, "ag_memory_config");

	dim += dim < 0 ? rank : 0;
	TT_REQUIRE(dim >= -rank && dim <= rank - 1, "gather_dim >= -rank && gather_dim <= rank - 1",
		   "Dimension input should be in between -%d and %d, but has %d", (int)rank,
		   (int)rank - 1, (int)tt_call_int(call, "dim", 0));
	attrs[DIM] = ttnn_v_int(dim);
	attrs[LINKS] = ttnn_v_int(tt_call_int(call, "num_links", 1));
	attrs[SIZE] = ttnn_v_int(tt_group_size(device, axis));
	attrs[MEMORY] = tt_value_given(memory) ? *memory : ttnn_v_memory(&in->spec.memory);
	attrs[TOPOLOGY] = tt_group_topology(device, tt_call_arg(call, "topology"), axis);
	attrs[SIGNAL] = *tt_call_arg(call, "multi_device_global_semaphore");
	attrs[SUB_DEVICE] = *tt_call_arg(call, "subdevice_id");
	attrs[AXIS] = ttnn_v_int(axis);
	return TTNN_OK;
}

static tt_status llama_expand(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor0"), *results[OUTPUTS] = {NULL};
	const struct tt_fused_operands of = {in, in, tt_call_tensor(call, "input_tensor1"),
					     .memory = "mm_memory_config"};
	struct ttnn_value attrs[schema_count] = {0};
	const ttnn_core_set *cores;
	struct tt_matmul_plan plan;
	size_t count = 0;

	TT_TRY(tt_async_on_mesh(call, in));
	TT_TRY(tt_need_dim(&in->spec.shape, 1));
	TT_TRY(bind(attrs, call, in));
	TT_TRY(tt_group_cores(&cores, call, tt_tensor_device(in)));
	TT_TRY(tt_fused_product(&plan, &attrs[PRODUCT], call, &of));
	TT_TRY(tt_call_programs(
		results, &count, call,
		&(struct tt_program_args){
			.prog = &program,
			TT_INPUTS(in, of.b, tt_call_tensor(call, "intermediate_tensor")),
			.attrs = attrs,
			.grid = cores,
			.extra = &plan}));
	tt_call_own(call, results[GATHERED]);
	tt_call_drop(call, results[GATHERED]);
	return tt_call_give(call, TTNN_OK, &results[RESULT]);
}

static const struct tt_op ops[] = {
	{.name = "ttnn.experimental.llama_all_gather_matmul_async",
	 .doc = "The columns of the devices of a row or column, and their product with a matrix.",
	 .sigs = {"input_tensor0: Tensor, input_tensor1: Tensor, intermediate_tensor: Tensor, "
		  "dim: int, cluster_axis: size, mesh_device: Device, topology: Topology, "
		  "multi_device_global_semaphore: any, *, num_links: size? = None, "
		  "ag_memory_config: MemoryConfig? = None, mm_memory_config: MemoryConfig? = None, "
		  "subdevice_id: SubDeviceId? = None, program_config: MatmulConfig? = None, "
		  "compute_kernel_config: ComputeConfig? = None, dtype: DataType? = None, "
		  "global_cb: GlobalCb? = None"},
	 .expand = llama_expand,
	 .golden = tt_golden_llama_gather_matmul,
	 TT_PROGRAMS(&program)},
};

const struct tt_op_family tt_family_llama_gather_matmul = {"llama_matmul", ops, TT_COUNT(ops)};
