/*
 * from_data.c: tensors from plain data: from_torch, as_tensor.
 *
 * Models convert_python_tensor_to_tt_tensor() of ttnn 0.81. The host converts, but data that a mapper cut for a mesh
 * goes to the device in rows and as it is where the device can do the rest: tilize, typecast and untilize then. Not
 * modelled: data in rows that does not fit its shards, which upstream leaves in DRAM and is refused here.
 */
#include "device/buffer.h"
#include "golden/golden.h"
#include "ops/movement/movement.h"

static const struct ttnn_memory_config dram;

/* What a tensor from data becomes. */
static tt_status data_args(struct ttnn_spec_args *out, const struct tt_call *call)
{
	const struct tt_tensor *data = tt_call_tensor(call, "tensor");
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");
	const struct ttnn_value *layout = tt_call_arg(call, "layout");
	const struct ttnn_value *tile = tt_call_arg(call, "tile");
	enum ttnn_dtype dtype = tt_call_dtype(call, "dtype", data->spec.dtype);

	*out = (struct ttnn_spec_args){.shape = data->spec.shape,
				       .dtype = dtype,
				       .layout = tt_dtype_is_block(dtype) ? TTNN_TILE
									  : TTNN_ROW_MAJOR,
				       .memory = memory ? *memory : dram};
	if (layout->kind == TTNN_VALUE_ENUM)
		out->layout = (enum ttnn_layout)layout->integer;
	if (tile->kind == TTNN_VALUE_TILE)
		out->tile = *tile->tile;
	TT_REQUIRE(!tt_dtype_is_block(dtype) || out->layout == TTNN_TILE, "layout == Layout::TILE",
		   "Layout must be Layout::TILE for bfloat8_b or bfloat4_b!");
	return TTNN_OK;
}

/* ---- cut for a mesh ----------------------------------------------------------------------------------------------- */

static bool is_cut(const struct tt_tensor *data)
{
	return data->spread & TT_SPREAD_CUTS;
}

/* Whether no dimension before those that are cut has more than one index: each part lies in one piece. */
static bool is_whole_cut(const struct tt_tensor *data)
{
	const struct ttnn_shape *shape = &data->spec.shape;
	uint64_t extent[TTNN_MAX_RANK]; /* of what was cut */
	struct tt_spread axis;
	uint32_t last = 0;

	for (uint32_t d = 0; d < shape->rank; d++)
		extent[d] = shape->dim[d];
	for (unsigned i = 0; (axis = tt_spread_at(data->spread, i)).extent; i++) {
		uint32_t dim = (uint32_t)(axis.dim + (axis.dim < 0 ? (int32_t)shape->rank : 0));

		if (!axis.shard || dim >= shape->rank)
			continue;
		extent[dim] *= axis.extent;
		last = dim > last ? dim : last;
	}
	for (uint32_t d = 0; d < last; d++)
		if (extent[d] != 1)
			return false;
	return true;
}

/* Upstream casts each part that it cuts, to the type that it has. */
static tt_status cast_part(struct tt_tensor **part, struct tt_call *call)
{
	struct ttnn_value args[] = {ttnn_v_tensor(*part), ttnn_v_dtype((*part)->spec.dtype)};
	struct tt_tensor *cast = NULL;
	tt_status status;

	tt_host_begin(call, "tt::tt_metal::to_dtype", args, 2);
	status = tt_tensor_wrap(&cast, &(*part)->spec, tt_storage_ref((*part)->storage), NULL);
	tt_host_end_as_is(call, cast, status);
	if (status != TTNN_OK)
		return status;
	ttnn_tensor_unref(*part);
	*part = cast;
	return TTNN_OK;
}

/* The type that data has when upstream's conversion begins: its own, but shards keep the size of their tiles. */
static enum ttnn_dtype source_dtype(const struct tt_tensor *data,
				    const struct ttnn_tensor_spec *spec)
{
	if (!tt_memory_config_is_sharded(&spec->memory) ||
	    tt_tile_bytes_of(data->spec.dtype) == tt_tile_bytes_of(spec->dtype))
		return data->spec.dtype;
	return tt_dtype_is_block(spec->dtype) ? TTNN_BFLOAT16 : spec->dtype;
}

/* Data that is as it should be is not copied: upstream does not count it then, nor cast its parts. */
static tt_status make_part(struct tt_tensor **out, struct tt_call *call, const void *bytes,
			   const struct ttnn_tensor_spec *spec)
{
	const struct tt_tensor *data = tt_call_tensor(call, "tensor");
	bool cut = is_cut(data);
	bool borrowed = spec->layout == TTNN_ROW_MAJOR && spec->dtype == source_dtype(data, spec) &&
			ttnn_shape_equal(&spec->padded, &spec->shape);
	bool before = tt_tensor_hide(borrowed && !cut);
	tt_status status = ttnn_tensor_from_data(out, bytes, data->spec.dtype, spec,
						 tt_call_real(call, "pad_value", 0));

	tt_tensor_hide(before);
	if (status != TTNN_OK || !cut)
		return status;
	if (data->id == UINT64_MAX && bytes == data->layout->shards[0].storage->data)
		tt_tensor_renumber(*out); /* what was cut had a number, too */
	if (borrowed && is_whole_cut(data))
		return TTNN_OK;
	status = cast_part(out, call);
	if (status != TTNN_OK)
		ttnn_tensor_unref(*out);
	return status;
}

/* Each part of data that is cut for a mesh; parts that are the same share their bytes. */
static tt_status spread_parts(struct tt_tensor **parts, size_t *made, struct tt_call *call,
			      const struct ttnn_tensor_spec *spec)
{
	const struct tt_tensor *data = tt_call_tensor(call, "tensor");
	const struct tt_shard *shards = data->layout->shards;

	for (*made = 0; *made < data->layout->shard_count; ++*made) {
		size_t i = *made, same = tt_spread_first(data->spread, i);

		if (!shards[i].storage || !shards[i].storage->data ||
		    data->spec.layout != TTNN_ROW_MAJOR)
			return tt_fail(TTNN_INVALID, "parts of data must be in rows on the host");
		if (same < i)
			parts[i] = ttnn_tensor_ref(parts[same]);
		else
			TT_TRY(make_part(&parts[i], call, shards[i].storage->data, spec));
	}
	return TTNN_OK;
}

static tt_status spread_data(struct tt_tensor **out, struct tt_call *call,
			     const struct ttnn_tensor_spec *spec)
{
	const struct tt_mesh_layout *layout = tt_call_tensor(call, "tensor")->layout;
	struct tt_tensor **parts =
		tt_arena_alloc(call->arena, layout->shard_count * sizeof(struct tt_tensor *));
	struct tt_mesh_layout *like = NULL;
	size_t made = 0;
	tt_status status;

	TT_NEED_MEMORY(parts);
	status = spread_parts(parts, &made, call, spec);
	if (status == TTNN_OK)
		status = tt_mesh_layout_like(&like, layout);
	for (size_t i = 0; status == TTNN_OK && i < made; i++)
		like->shards[i].storage = tt_storage_ref(parts[i]->storage);
	if (status == TTNN_OK)
		status = tt_tensor_wrap(out, &parts[0]->spec, tt_storage_ref(parts[0]->storage),
					like);
	if (status == TTNN_OK)
		(*out)->spread = tt_call_tensor(call, "tensor")->spread;
	while (made)
		ttnn_tensor_unref(parts[--made]);
	return status;
}

/* ---- on the device ------------------------------------------------------------------------------------------------ */

static bool device_converts(enum ttnn_dtype dtype)
{
	return dtype == TTNN_FLOAT32 || dtype == TTNN_BFLOAT16 || tt_dtype_is_block(dtype);
}

/* What a bank holds of a tensor of this spec in another type and layout; 0: that cannot be. */
static uint64_t bank_bytes(const struct tt_device *device, const struct ttnn_tensor_spec *spec,
			   enum ttnn_dtype dtype, enum ttnn_layout layout)
{
	struct ttnn_spec_args args = tt_tensor_spec_args(spec);
	struct ttnn_tensor_spec other;
	struct tt_buffer_layout place;

	args.dtype = dtype;
	args.layout = layout;
	if (layout == TTNN_ROW_MAJOR)
		args.tile = TT_TILE_DEFAULT;
	if (ttnn_tensor_spec_make(&other, &args) != TTNN_OK ||
	    tt_buffer_layout_make(&place, device->memory, &other) != TTNN_OK)
		return 0;
	return place.bank_bytes;
}

/* Whether each step finds room for what it reads and what it writes, as if nothing else were there. */
static bool has_room(struct tt_device *device, const struct ttnn_tensor_spec *spec,
		     enum ttnn_dtype source)
{
	uint64_t rows = bank_bytes(device, spec, source, TTNN_ROW_MAJOR), most = rows;
	uint64_t tiles = bank_bytes(device, spec, source, TTNN_TILE);
	uint64_t cast = bank_bytes(device, spec, spec->dtype, TTNN_TILE);
	struct ttnn_memory_view view;

	if (source != spec->dtype) {
		most = rows + tiles > tiles + cast ? rows + tiles : tiles + cast;
		if (spec->layout == TTNN_ROW_MAJOR) {
			uint64_t last =
				cast + bank_bytes(device, spec, spec->dtype, TTNN_ROW_MAJOR);

			most = last > most ? last : most;
		}
	} else if (spec->layout == TTNN_TILE) {
		most = rows + tiles;
	}
	return ttnn_device_memory(&view, device, spec->memory.buffer) == TTNN_OK &&
	       most <= view.bank_bytes;
}

/* Whether the device makes the tensor of data, which goes there as `source` says. */
static bool made_on_device(struct ttnn_tensor_spec *source, struct tt_call *call,
			   const struct ttnn_tensor_spec *spec, struct tt_device *device)
{
	const struct tt_tensor *data = tt_call_tensor(call, "tensor");
	struct ttnn_spec_args args = {
		.shape = spec->shape, .dtype = source_dtype(data, spec), .memory = spec->memory};
	uint64_t volume = 0;

	if (!data->layout || !device || !device_converts(args.dtype) ||
	    !device_converts(spec->dtype) || tt_call_bool(call, "preserve_nan_values", false) ||
	    (tt_dtype_is_block(spec->dtype) && !tt_call_bool(call, "enable_bfloat_opt", false)) ||
	    spec->memory.per_core_allocation || device->sub_device_count)
		return false;
	if (spec->layout == TTNN_TILE &&
	    (spec->tile.height % TT_TILE != 0 || spec->tile.width % TT_TILE != 0))
		return false;
	if (ttnn_shape_volume(&volume, &spec->shape) != TTNN_OK || volume == 0 ||
	    !has_room(device, spec, args.dtype))
		return false;
	tt_memory_config_strip(&args.memory);
	if (ttnn_tensor_spec_make(source, &args) == TTNN_OK)
		return true;
	args.memory = dram; /* rows need not fit into shards of tiles */
	return ttnn_tensor_spec_make(source, &args) == TTNN_OK;
}

static tt_status to_layout(struct tt_tensor **tensor, struct tt_call *call, enum ttnn_layout layout,
			   const struct ttnn_memory_config *memory)
{
	struct tt_tensor *next = NULL;
	tt_status status;

	if ((*tensor)->spec.layout == layout)
		return TTNN_OK;
	status =
		TT_CALL(&next, call, "ttnn.to_layout", {"tensor", ttnn_v_tensor(*tensor)},
			{"layout", ttnn_v_layout(layout)}, {"memory_config", ttnn_v_memory(memory)},
			{"pad_value", ttnn_v_real(tt_call_real(call, "pad_value", 0))});
	return tt_call_replace(tensor, call, status, &next);
}

/* Rows on the device become what they were to become. */
static tt_status from_data_finish(struct tt_tensor **tensor, struct tt_call *call,
				  const struct ttnn_tensor_spec *spec)
{
	struct ttnn_memory_config memory = spec->memory;
	struct tt_tensor *next = NULL;
	tt_status status;

	tt_memory_config_strip(&memory);
	if ((*tensor)->spec.dtype != spec->dtype) {
		TT_TRY(to_layout(tensor, call, TTNN_TILE, &memory));
		status = tt_call_cast(&next, call, *tensor, spec->dtype);
		TT_TRY(tt_call_replace(tensor, call, status, &next));
	}
	return to_layout(tensor, call, spec->layout, &memory);
}

/* ---- from data ---------------------------------------------------------------------------------------------------- */

/* In a dry run nothing is copied to a device. */
static tt_status make_host(struct tt_tensor **out, struct tt_call *call,
			   const struct ttnn_tensor_spec *spec, const struct tt_device *device)
{
	const struct tt_tensor *data = tt_call_tensor(call, "tensor");

	if (!data->layout || tt_tensor_device(data))
		TT_TRY(tt_tensor_need_host(data, "data"));
	if (data->layout)
		TT_TRY(spread_data(out, call, spec));
	else if (device && tt_run_mode() == TTNN_RUN_NO_DISPATCH)
		TT_TRY(tt_host_hollow(out, spec));
	else
		TT_TRY(ttnn_tensor_from_data(out, data->storage->data, data->spec.dtype, spec,
					     tt_call_real(call, "pad_value", 0)));
	/* what it is made of was counted too, unless it has a number */
	if (data->id == UINT64_MAX && !is_cut(data))
		tt_tensor_renumber(*out);
	return TTNN_OK;
}

static tt_status make_data(struct tt_tensor **out, struct tt_call *call,
			   const struct ttnn_tensor_spec *spec)
{
	struct tt_device *device = tt_call_arg(call, "device")->kind == TTNN_VALUE_DEVICE
					   ? tt_call_arg(call, "device")->device
					   : NULL;
	struct ttnn_tensor_spec source;
	bool on_device = made_on_device(&source, call, spec, device);
	struct tt_tensor *host;
	tt_status status;

	TT_TRY(make_host(&host, call, on_device ? &source : spec, device));
	if (!device) {
		*out = host;
		return TTNN_OK;
	}
	status = tt_host_to_device(out, call, host, device, NULL);
	ttnn_tensor_unref(host);
	if (status == TTNN_OK && tt_call_tensor(call, "tensor")->layout) { /* upstream asks again */
		host = *out;
		status = tt_host_to_device(out, call, host, device, NULL);
		ttnn_tensor_unref(host);
	}
	return status == TTNN_OK && on_device ? from_data_finish(out, call, spec) : status;
}

/* What cuts a tensor for a mesh: an address, in recordings. */
static struct ttnn_value mapper_text(struct tt_call *call)
{
	const struct tt_tensor *data = tt_call_tensor(call, "tensor");
	struct ttnn_value value = {.kind = TTNN_VALUE_OPAQUE};
	char text[24];

	if (!data->layout)
		return ttnn_v_int(0);
	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)(uintptr_t)data->layout);
	value.text = tt_arena_strdup(call->arena, text);
	return value.text ? value : ttnn_v_int(0);
}

/* Recorded as upstream's conversion, with the arguments that it shows. */
static tt_status expand_from_torch(struct tt_call *call)
{
	struct ttnn_memory_config asked;
	struct ttnn_tensor_spec spec;
	struct ttnn_spec_args wanted;
	struct ttnn_value args[8];
	struct tt_tensor *out;
	tt_status status;

	TT_TRY(data_args(&wanted, call));
	TT_NEED(wanted.memory.layout == TTNN_INTERLEAVED || wanted.memory.has_shard ||
			wanted.memory.has_nd_shard,
		"ttnn.from_torch: Shard spec must not be None for sharded tensors");
	asked = wanted.memory;
	tt_memory_config_strip(&asked); /* as it was given */
	args[0] = ttnn_v_dtype(wanted.dtype);
	args[1] = ttnn_v_layout(wanted.layout);
	args[3] = ttnn_v_memory(&asked);
	args[6] = mapper_text(call);
	args[2] = args[4] = args[5] = args[7] = tt_optional_text();
	tt_host_begin(call, "ttnn::convert_python_tensor_to_tt_tensor", args, 8);
	status = ttnn_tensor_spec_make(&spec, &wanted);
	if (status == TTNN_OK)
		status = make_data(&out, call, &spec);
	tt_host_end_as_is(call, status == TTNN_OK ? out : NULL, status);
	TT_TRY(status);
	tt_call_return(call, out);
	return TTNN_OK;
}

/* Python upstream: from_torch with a rule of its own. */
static tt_status expand_as_tensor(struct tt_call *call)
{
	static const char *const names[] = {"tensor", "dtype",         "layout",
					    "device", "memory_config", "mesh_mapper"};
	struct ttnn_arg args[TT_COUNT(names)];
	struct tt_tensor *out;

	TT_NEED(tt_call_arg(call, "device")->kind != TTNN_VALUE_DEVICE ||
			tt_call_memory(call, "memory_config"),
		"memory_config must be specified when device is specified");
	for (size_t i = 0; i < TT_COUNT(names); i++)
		args[i] = (struct ttnn_arg){names[i], *tt_call_arg(call, names[i])};
	return tt_call_give(
		call, tt_call_python(&out, call, "ttnn.from_torch", args, TT_COUNT(names)), &out);
}

#define OP(name_, expand_, doc_, sig_)                                                             \
	{                                                                                          \
		.name = "ttnn." name_, .doc = doc_, .sigs = {sig_}, .expand = expand_,             \
		.golden = tt_golden_transfer, .pcc = 0.9999                                        \
	}

static const struct tt_op ops[] = {
	OP("as_tensor", expand_as_tensor, "A tensor from data, placed as it is told.",
	   "tensor: Tensor, dtype: DataType? = None, *, layout: Layout? = ROW_MAJOR, device: Device? = "
	   "None, memory_config: MemoryConfig? = None, mesh_mapper: any? = None"),
	OP("from_torch", expand_from_torch,
	   "A tensor from plain data: converted, laid out, placed.",
	   "tensor: Tensor, dtype: DataType? = None, *, spec: any? = None, tile: Tile? = None, "
	   "pad_value: float? = None, layout: Layout? = None, device: Device? = None, memory_config: "
	   "MemoryConfig? = None, mesh_mapper: any? = None, cq_id: int? = None, preserve_nan_values: "
	   "bool = False, col_tilize: bool = False, enable_bfloat_opt: bool = False"),
};

const struct tt_op_family tt_family_from_data = {"host", ops, TT_COUNT(ops)};
