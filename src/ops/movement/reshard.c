/*
 * reshard.c: the program that cuts a sharded tensor into other shards.
 *
 * Models ReshardDeviceOperation of ttnn 0.81 (data_movement/sharded/reshard/device): refusals,
 * memory, cores, and the choice of a factory (reshard_choose()):
 *
 *	ReshardSameWidthFactory   height shards to height shards: rows stay whole
 *	ReshardSameHeightFactory  width shards to width shards of rows: columns stay whole
 *	ReshardGenericFactory     other shards, both sides in L1
 *	NdReshardCopyPages, NdReshardCopyLocalShard  shards of any rank, or in DRAM
 *
 * The first two have a form each for which side is local (in L1, on the cores that work): the
 * result, else the input. Not modelled: the strides in which pages are copied.
 */
#include <inttypes.h>

#include "ops/movement/movement.h"
#include "ops/movement/shard_ops.h"

#define ATTRS(X) X(MEMORY, "output_mem_config")
TT_ATTRS(schema, "ReshardParams", ATTRS);

/* In the order of upstream's list, which traces show. */
enum {
	SAME_WIDTH_OUT,
	SAME_WIDTH_IN,
	SAME_HEIGHT_OUT,
	SAME_HEIGHT_IN,
	GENERIC,
	COPY_PAGES,
	COPY_LOCAL_IN,
	COPY_LOCAL_OUT,
	FACTORIES
};

/* ---- refusals --------------------------------------------------------------------------------------- */

bool tt_reshard_is_legacy(const struct ttnn_memory_config *in, const struct ttnn_memory_config *out)
{
	if (!in->has_shard || !out->has_shard)
		return false;
	if (in->layout == out->layout && in->layout != TTNN_BLOCK_SHARDED &&
	    in->layout != TTNN_ND_SHARDED && in->buffer == TTNN_L1)
		return true;
	return out->buffer == TTNN_L1;
}

/* A given output agrees in shape, dtype and layout. */
static tt_status check_output(const struct tt_shard_want *want)
{
	const struct ttnn_tensor_spec *in = &want->in->spec, *out;

	if (!want->out)
		return TTNN_OK;
	out = &want->out->spec;
	if (!ttnn_shape_equal(&in->shape, &out->shape))
		return tt_fail_shapes(TTNN_INVALID, "valid",
				      "Input tensor logical shape (%s) must equal output tensor "
				      "logical shape (%s)",
				      &in->shape, &out->shape);
	TT_REQUIRE(in->dtype == out->dtype, "valid",
		   "Input tensor dtype (DataType::%s) must equal output tensor dtype "
		   "(DataType::%s)",
		   ttnn_dtype_name(in->dtype, TTNN_DIALECT_TT_METAL),
		   ttnn_dtype_name(out->dtype, TTNN_DIALECT_TT_METAL));
	TT_REQUIRE(in->layout == out->layout, "valid",
		   "Input tensor layout (Layout::%s) must equal output tensor layout (Layout::%s)",
		   tt_enum_name(&tt_enum_layout, (int64_t)in->layout),
		   tt_enum_name(&tt_enum_layout, (int64_t)out->layout));
	return TTNN_OK;
}

static tt_status refuse_width(const char *which, const struct tt_shard_want *want, uint32_t width,
			      uint64_t page)
{
	return tt_fail_cond(
		TTNN_INVALID, "valid",
		"%s row-major shard width %u with data type DataType::%s gives page size %" PRIu64
		" bytes, which must be aligned to %" PRIu64 " bytes for reshard",
		which, width, ttnn_dtype_name(want->in->spec.dtype, TTNN_DIALECT_TT_METAL), page,
		tt_memory_alignment(tt_tensor_device(want->in), TTNN_L1));
}

/* Rows of shards must be aligned, but for two programs that take care of it. */
static tt_status check_rows(const struct tt_shard_want *want, const struct ttnn_memory_config *out)
{
	const struct ttnn_memory_config *in = &want->in->spec.memory;
	uint64_t alignment = tt_memory_alignment(tt_tensor_device(want->in), TTNN_L1);
	uint64_t page = tt_shard_width(out) * tt_element_bytes(want->in);
	bool heights = in->layout == TTNN_HEIGHT_SHARDED && out->layout == TTNN_HEIGHT_SHARDED;

	if (want->in->spec.layout != TTNN_ROW_MAJOR)
		return TTNN_OK;
	if ((heights && (in->buffer == TTNN_L1 || out->buffer == TTNN_L1)) ||
	    (in->buffer == TTNN_DRAM && out->buffer == TTNN_DRAM))
		return TTNN_OK;
	if (want->in->spec.page_bytes != tt_aligned_page(want->in))
		return refuse_width("Input", want, tt_shard_width(in), want->in->spec.page_bytes);
	if (page % alignment)
		return refuse_width("Output", want, tt_shard_width(out), page);
	return TTNN_OK;
}

/* The newer programs move page by page. */
static tt_status check_pages(const struct tt_shard_want *want, const struct ttnn_tensor_spec *out)
{
	const struct ttnn_tensor_spec *in = &want->in->spec;
	struct tt_distribution there;
	uint64_t here = tt_tensor_buffer(want->in)->layout.distribution.pages;

	if (in->memory.buffer != TTNN_DRAM && in->memory.buffer != TTNN_L1)
		return tt_shard_refuse("Input buffer type must be DRAM or L1 for ND sharded "
				       "specialized reshard path");
	if (out->memory.buffer != TTNN_DRAM && out->memory.buffer != TTNN_L1)
		return tt_shard_refuse("Output buffer type must be DRAM or L1 for ND sharded "
				       "specialized reshard path");
	TT_TRY(tt_distribution_make(&there, out));
	TT_REQUIRE(here == there.pages, "valid",
		   "Number of input (%" PRIu64 ") and output (%" PRIu64 ") pages must match", here,
		   there.pages);
	TT_REQUIRE(
		in->page_bytes == out->page_bytes, "valid",
		"Input and output tensors must have the same page size. Input page size: %" PRIu64
		", Output page size: %" PRIu64,
		in->page_bytes, out->page_bytes);
	return TTNN_OK;
}

/* Only 32 × 32. */
static tt_status check_tile(const struct tt_shard_want *want)
{
	const struct ttnn_tile *tile = &want->in->spec.tile;

	if (want->in->spec.layout != TTNN_TILE)
		return TTNN_OK;
	TT_REQUIRE(tile->height == TT_TILE_DEFAULT.height && tile->width == TT_TILE_DEFAULT.width,
		   "valid", "reshard requires standard 32x32 tiles, got %ux%u", tile->height,
		   tile->width);
	if (want->out && !tt_tile_equal(&want->out->spec.tile, tile))
		return tt_shard_refuse(
			"Output tensor tile shape must match input tensor tile shape");
	return TTNN_OK;
}

/*
 * Used for the refusals of reshard, and by to_memory_config to see whether it can be used at all.
 */
tt_status tt_reshard_check(const struct tt_shard_want *want)
{
	const struct ttnn_memory_config *in = &want->in->spec.memory;
	const struct ttnn_memory_config *out = want->out ? &want->out->spec.memory : want->memory;
	struct ttnn_tensor_spec spec;

	if (!tt_tensor_buffer(want->in))
		return tt_shard_refuse(
			"Operands to shard need to be allocated in buffers on device!");
	if (!tt_memory_config_is_sharded(in))
		return tt_shard_refuse("input must be sharded");
	TT_TRY(check_output(want));
	if (!tt_memory_config_is_sharded(out))
		return tt_shard_refuse("output must be sharded");
	if (tt_is_dram_blocks(in) || tt_is_dram_blocks(out))
		return tt_shard_refuse("We don't support DRAM block sharding");
	TT_TRY(check_rows(want, out));
	TT_TRY(tt_shard_spec(&spec, want));
	return tt_reshard_is_legacy(in, &spec.memory) ? check_tile(want) : check_pages(want, &spec);
}

static tt_status reshard_infer(struct tt_launch *launch)
{
	struct tt_shard_want want = tt_shard_wanted(launch, &launch->attrs[MEMORY], NULL);

	return tt_shard_spec(&launch->specs[0], &want);
}

static tt_status reshard_validate(struct tt_launch *launch)
{
	struct tt_shard_want want = tt_shard_wanted(launch, &launch->attrs[MEMORY], NULL);

	return tt_reshard_check(&want);
}

/* ---- factories ------------------------------------------------------------------------------------------ */

/* How many columns the shards of a row of cores span, padding included. */
static uint64_t span(const struct ttnn_shard_spec *shard)
{
	const struct ttnn_core_range *first = ttnn_core_set_ranges(shard->grid, NULL);
	uint64_t x = (uint64_t)first->end.x - first->start.x + 1;
	uint64_t y = (uint64_t)first->end.y - first->start.y + 1;

	return (x == 1 ? y : x) * shard->width;
}

/*
 * Two-dimensional shards: same width, same height, or any; the side in L1 is the local one.
 * FACTORIES: none of these.
 */
static uint32_t choose_legacy(const struct ttnn_tensor_spec *in,
			      const struct ttnn_memory_config *out)
{
	bool into_l1 = out->buffer == TTNN_L1;
	uint64_t width = tt_shape_last(&in->shape, 1);

	if (in->memory.layout == TTNN_HEIGHT_SHARDED && out->layout == TTNN_HEIGHT_SHARDED)
		return into_l1 ? SAME_WIDTH_OUT : SAME_WIDTH_IN;
	if (in->layout == TTNN_ROW_MAJOR && in->memory.layout == TTNN_WIDTH_SHARDED &&
	    out->layout == TTNN_WIDTH_SHARDED) {
		if (!into_l1)
			return SAME_HEIGHT_IN;
		return span(&in->memory.shard) > width || span(&out->shard) > width
			       ? GENERIC
			       : SAME_HEIGHT_OUT;
	}
	return in->memory.buffer != TTNN_DRAM && out->buffer != TTNN_DRAM ? GENERIC : FACTORIES;
}

/* What no older factory takes goes page by page, with the side in L1 as the local one. */
static tt_status reshard_choose(uint32_t *out, struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_memory_config *to = &launch->outputs[0]->spec.memory;

	if (tt_reshard_is_legacy(&in->memory, to)) {
		*out = choose_legacy(in, to);
		if (*out != FACTORIES)
			return TTNN_OK;
	}
	if (in->memory.buffer == TTNN_DRAM)
		*out = to->buffer == TTNN_DRAM ? COPY_PAGES : COPY_LOCAL_OUT;
	else
		*out = COPY_LOCAL_IN;
	return TTNN_OK;
}

/* The side whose shards the program works on where they are, and the other. */
static bool local_is_out(const struct tt_launch *launch)
{
	size_t factory = (size_t)(launch->factory - launch->prog->factories);

	return factory == SAME_WIDTH_OUT || factory == SAME_HEIGHT_OUT;
}

static struct tt_tensor *local(const struct tt_launch *launch)
{
	return local_is_out(launch) ? launch->outputs[0] : launch->inputs[0];
}

static struct tt_tensor *remote(const struct tt_launch *launch)
{
	return local_is_out(launch) ? launch->inputs[0] : launch->outputs[0];
}

/* A tile, or a row of the local shard. */
static uint64_t unit(const struct tt_launch *launch)
{
	const struct tt_tensor *tensor = local(launch);

	if (tensor->spec.layout == TTNN_TILE)
		return tt_tile_bytes_of(tensor->spec.dtype);
	return tensor->spec.memory.shard.width * tt_element_bytes(tensor);
}

static uint64_t units(const struct tt_tensor *tensor)
{
	const struct ttnn_shard_spec *shard = &tensor->spec.memory.shard;

	if (tensor->spec.layout == TTNN_TILE)
		return (uint64_t)shard->height * shard->width /
		       ((uint64_t)TT_TILE_DEFAULT.height * TT_TILE_DEFAULT.width);
	return shard->height;
}

/* A buffer over a shard claims no more than the whole tensor has. */
static uint64_t capped(uint64_t count, uint64_t page, const struct tt_tensor *tensor)
{
	uint64_t bytes = count * page;

	return (bytes < tensor->spec.bytes ? bytes : tensor->spec.bytes) / page;
}

/* Shards of one width: the local one, and what is remote through a buffer where rows are not aligned. */
static tt_status reshard_width_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *here = local(launch), *there = remote(launch);
	uint64_t bytes = unit(launch), page = tt_align_to(bytes, tt_page_alignment(here));
	uint64_t remote_page = tt_align_to(bytes, tt_page_alignment(there));
	bool unaligned = local_is_out(launch) && (page != bytes || remote_page != bytes);
	const ttnn_core_set *cores;

	TT_TRY(tt_cores_near(&cores, here));
	return TT_PLAN(plan, cores,
		       TT_DFB_ROW(0, "shard", .pages = capped(units(here), page, here),
				  .page = page, .backing = here),
		       TT_DFB_ROW(1, "scratch", .pages = unaligned ? 2 * units(there) : 0,
				  .page = remote_page));
}

/* The local shard is the buffer. */
static tt_status reshard_height_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *here = local(launch);
	uint64_t page = unit(launch);
	const ttnn_core_set *cores;

	TT_TRY(tt_cores_near(&cores, here));
	return TT_PLAN(
		plan, cores,
		TT_DFB_ROW(0, "shard",
			   .pages = capped(remote(launch)->spec.memory.shard.height, page, here),
			   .page = page, .backing = here));
}

/* The output's shard is the buffer; cores fetch into it. */
static tt_status reshard_generic_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *out = launch->outputs[0];
	const struct ttnn_shard_spec *shard = &out->spec.memory.shard;
	uint64_t page = out->spec.page_bytes, bytes = units(out) * page;
	const ttnn_core_set *cores;

	if (out->spec.layout != TTNN_TILE)
		bytes = (uint64_t)shard->height * shard->width * tt_element_bytes(out);
	TT_TRY(tt_cores_near(&cores, out));
	return TT_PLAN(plan, cores,
		       TT_DFB_ROW(0, "dst", .pages = capped(bytes / page, page, out), .page = page,
				  .backing = out));
}

static tt_status reshard_pages_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	return TT_PLAN(
		plan, launch->grid,
		TT_DFB_ROW(0, "page", .pages = 1, .page = tt_aligned_page(launch->inputs[0])));
}

#define FACTORY(name_, memory_) TT_FACTORY_ROW("ttnn::prim::" name_, memory_)

static const struct tt_factory factories[FACTORIES] = {
	[SAME_WIDTH_OUT] = FACTORY("ReshardSameWidthFactory<true>", reshard_width_memory),
	[SAME_WIDTH_IN] = FACTORY("ReshardSameWidthFactory<false>", reshard_width_memory),
	[SAME_HEIGHT_OUT] = FACTORY("ReshardSameHeightFactory<true>", reshard_height_memory),
	[SAME_HEIGHT_IN] = FACTORY("ReshardSameHeightFactory<false>", reshard_height_memory),
	[GENERIC] = FACTORY("ReshardGenericFactory", reshard_generic_memory),
	[COPY_PAGES] = FACTORY("NdReshardCopyPagesFactory", reshard_pages_memory),
	[COPY_LOCAL_IN] = FACTORY("NdReshardCopyLocalShardFactory<true>", NULL),
	[COPY_LOCAL_OUT] = FACTORY("NdReshardCopyLocalShardFactory<false>", NULL),
};

static const struct tt_prog prog = {
	.device_op = "ReshardDeviceOperation",
	.prim = "ttnn::prim::reshard",
	.attrs = &schema,
	.infer = reshard_infer,
	.validate = reshard_validate,
	TT_FACTORIES(factories),
	.choose = reshard_choose,
	TT_KERNEL(tt_kernel_copy),
	.cost = tt_cost_move,
};

tt_status tt_reshard_launch(struct tt_tensor **out, struct tt_call *call,
			    const struct tt_shard_want *want)
{
	struct ttnn_value attrs[] = {ttnn_v_memory(want->memory)};

	return tt_shard_launch(out, call, &prog, want, attrs);
}
