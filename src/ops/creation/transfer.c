/*
 * transfer.c: tensors to a device and back, other types on the host, data of tensors, and giving memory up.
 *
 * Nothing here launches a program. Bytes are shared where both sides lay them out alike: the device
 * model copies them when one side writes.
 */
#include "ops/creation/creation.h"
#include "ops/movement/movement.h"

#include <string.h>
#include <ttnn_frontend.h>

#include "device/device.h"
#include "device/devtensor.h"
#include "golden/golden.h"
#include "ops/rerun.h"
#include "ops/usual.h"
#include "tensor/layout.h"

/* ---- refusals ------------------------------------------------------------------------------------ */

tt_status tt_need_device(const struct tt_tensor *tensor)
{
	if (tt_tensor_device(tensor))
		return TTNN_OK;
	return tt_fail_cond(TTNN_INVALID, "device_storage != nullptr",
			    "Expected Tensor with DeviceStorage, got StorageType::HOST");
}

tt_status tt_need_host(const struct tt_tensor *tensor)
{
	if (!tt_tensor_device(tensor))
		return TTNN_OK;
	return tt_fail_cond(TTNN_INVALID, "host_storage != nullptr",
			    "Expected Tensor with HostStorage, got StorageType::DEVICE");
}

static tt_status need_allocated(const struct tt_tensor *tensor)
{
	if (ttnn_tensor_is_allocated(tensor))
		return TTNN_OK;
	return tt_fail_cond(TTNN_INVALID, "tt::exception", "Tensor is not allocated");
}

/* ---- hollow tensors -------------------------------------------------------------------------------- */

static void keep(struct tt_storage *storage)
{
	(void)storage;
}

/* Whoever wants the values gets this message. */
static const struct tt_storage_ops hollow_ops = {
	.name = "no memory: a dry run (NO_DISPATCH) computes no values",
	.destroy = keep,
	.hollow = true};
static struct tt_storage hollow = {.ops = &hollow_ops, .refs = 1};

tt_status tt_host_hollow(struct tt_tensor **out, const struct ttnn_tensor_spec *spec)
{
	return tt_tensor_wrap(out, spec, tt_storage_ref(&hollow), NULL);
}

/* ---- to a device -------------------------------------------------------------------------------------- */

static bool same_bytes(const struct ttnn_tensor_spec *a, const struct ttnn_tensor_spec *b)
{
	return a->bytes == b->bytes && a->rows == b->rows && a->cols == b->cols &&
	       ttnn_shape_equal(&a->padded, &b->padded);
}

/* The bytes of one part of a host tensor, laid out as `spec` says; a reference of the caller's. */
static tt_status lay_out(struct tt_storage **out, const struct ttnn_tensor_spec *spec,
			 struct tt_storage *bytes, const struct ttnn_tensor_spec *from)
{
	static const double zero = 0;
	struct tt_area to, src;
	tt_status status;

	if (same_bytes(spec, from)) {
		*out = tt_storage_ref(bytes);
		return TTNN_OK;
	}
	TT_TRY(tt_storage_new(out, spec->bytes));
	to = tt_area_of((*out)->data, spec);
	src = tt_area_of(bytes->data, from);
	status = tt_layout_copy(&to, &src, &zero);
	if (status != TTNN_OK)
		tt_storage_unref(*out);
	return status;
}

/* It knows its chip: a part that was taken out of a mesh lies on another than 0. */
static struct tt_storage *storage_on(const struct tt_tensor *tensor, size_t index)
{
	return tensor->layout ? tensor->layout->shards[index].storage : tensor->storage;
}

/* Every chip gets its part of a tensor that is spread, or all of one that is not. */
static tt_status write_bytes(struct tt_tensor *device, const struct tt_tensor *host)
{
	for (uint32_t chip = 0; tt_tensor_buffer(device) && chip < tt_tensor_chips(device);
	     chip++) {
		struct tt_storage *part = host->storage, *bytes;
		struct tt_buffer *buffer;
		tt_status status;
		uint32_t own;

		if (host->layout && chip < host->layout->shard_count)
			part = host->layout->shards[chip].storage;
		if (!part->data || tt_run_mode() == TTNN_RUN_NO_DISPATCH)
			return TTNN_OK;
		TT_TRY(lay_out(&bytes, &device->spec, part, &host->spec));
		buffer = tt_buffer_of(&own, storage_on(device, chip));
		status = tt_buffer_set_data(buffer, own, bytes);
		tt_storage_unref(bytes);
		TT_TRY(status);
	}
	return TTNN_OK;
}

/* As the host's tensor is; one that knows of no mesh goes to all devices, as if they stood in a line. */
static uint64_t spread_on(const struct tt_device *device, const struct tt_tensor *host)
{
	struct ttnn_shape line = {1, {device->memory->chips}};

	if (device->memory->chips > 1 && ttnn_tensor_shard_count(host) == 1)
		return tt_spread_copies(&line);
	return host->spread;
}

/* A new tensor on the device with the bytes of one on the host. */
static tt_status transfer_place(struct tt_tensor **out, struct tt_tensor *tensor,
				struct tt_device *device, const struct ttnn_memory_config *memory)
{
	struct ttnn_spec_args args = tt_tensor_spec_args(&tensor->spec);
	struct ttnn_tensor_spec spec;
	struct tt_tensor *placed;
	tt_status status;

	if (memory)
		args.memory = *memory;
	TT_TRY(ttnn_tensor_spec_make(&spec, &args));
	TT_TRY(tt_rerun_check_write(device));
	TT_TRY(tt_device_tensor_new(&placed, device, &spec));
	placed->spread = spread_on(device, tensor);
	status = write_bytes(placed, tensor);
	if (status != TTNN_OK) {
		ttnn_tensor_unref(placed);
		return status;
	}
	*out = placed;
	return TTNN_OK;
}

/* The last argument that is recorded is whether upstream's caller gave a memory config. */
static tt_status to_device(struct tt_tensor **out, struct tt_call *call, struct ttnn_value *args,
			   const struct ttnn_memory_config *memory)
{
	struct tt_tensor *tensor = args[0].tensor;
	struct tt_device *device = args[1].device;
	tt_status status;

	if (!device)
		return tt_device_check_open(device);
	tt_host_begin(call, "Tensor::to_device", args, 3);
	if (tt_tensor_device(tensor)) {
		*out = ttnn_tensor_ref(tensor);
		tt_host_end(call, NULL, TTNN_OK);
		return TTNN_OK;
	}
	status = transfer_place(out, tensor, device, memory);
	tt_host_end_as_is(call, status == TTNN_OK ? *out : NULL, status);
	return status;
}

tt_status tt_host_to_device(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *tensor,
			    struct tt_device *device, const struct ttnn_memory_config *memory)
{
	struct ttnn_value args[] = {ttnn_v_tensor(tensor), ttnn_v_device(device), ttnn_v_int(1)};

	return to_device(out, call, args, memory);
}

tt_status tt_host_table_to_device(struct tt_tensor **out, struct tt_call *call,
				  struct tt_tensor *tensor, struct tt_device *device)
{
	struct ttnn_value args[] = {ttnn_v_tensor(tensor), ttnn_v_device(device), ttnn_v_int(0)};

	return to_device(out, call, args, NULL);
}

/* The same shape and dtype; the layout is converted. */
static tt_status check_copy(struct tt_tensor *host, struct tt_tensor *device)
{
	TT_TRY(tt_need_host(host));
	if (!tt_tensor_device(device))
		return tt_need_device(device);
	TT_TRY(need_allocated(device));
	TT_REQUIRE(ttnn_shape_equal(&host->spec.shape, &device->spec.shape),
		   "host_tensor.logical_shape() == device_tensor.logical_shape()",
		   "Host tensor has different shape");
	TT_REQUIRE(host->spec.dtype == device->spec.dtype,
		   "host_tensor.dtype() == device_tensor.dtype()",
		   "Host tensor has different dtype");
	return tt_rerun_check_write(tt_tensor_device(device));
}

static tt_status copy_to_device(struct tt_tensor *host, struct tt_tensor *device)
{
	TT_TRY(check_copy(host, device));
	device->spread = spread_on(tt_tensor_device(device), host);
	return write_bytes(device, host);
}

/* Recorded as copy_to_device. */
tt_status tt_host_copy_to_device(struct tt_call *call, struct tt_tensor *host,
				 struct tt_tensor *device)
{
	struct ttnn_value args[] = {ttnn_v_tensor(host), ttnn_v_tensor(device), tt_optional_text()};
	tt_status status;

	tt_host_begin(call, "tt::tt_metal::copy_to_device", args, 3);
	status = copy_to_device(host, device);
	tt_host_end(call, status == TTNN_OK ? device : NULL, status);
	return status;
}

/* The pages that lie on these cores, on one chip. */
static tt_status write_pages(struct tt_storage *storage, const struct ttnn_tensor_spec *spec,
			     const struct tt_storage *bytes, const ttnn_core_set *cores)
{
	struct tt_storage *old;
	struct tt_buffer *buffer;
	uint64_t page = spec->page_bytes;
	uint32_t chip;

	buffer = tt_buffer_of(&chip, storage);
	TT_TRY(tt_buffer_data(&old, buffer, chip, TT_BUFFER_UPDATE));
	for (uint64_t i = 0; i < spec->pages && (i + 1) * page <= spec->bytes; i++)
		if (tt_core_set_contains(cores, tt_buffer_find_page(buffer, i).core))
			memcpy((char *)old->data + i * page, (const char *)bytes->data + i * page,
			       page);
	tt_storage_unref(old);
	return TTNN_OK;
}

/* Only the shards of these cores are written; a dry run writes none. */
static tt_status write_cores(struct tt_tensor *device, const struct tt_tensor *host,
			     const ttnn_core_set *cores)
{
	for (uint32_t chip = 0; tt_tensor_buffer(device) && chip < tt_tensor_chips(device);
	     chip++) {
		struct tt_storage *part = host->storage, *bytes;
		tt_status status;

		if (host->layout && chip < host->layout->shard_count)
			part = host->layout->shards[chip].storage;
		if (!part->data || tt_run_mode() == TTNN_RUN_NO_DISPATCH ||
		    !ttnn_core_set_cores(cores))
			return TTNN_OK;
		TT_REQUIRE(tt_memory_config_is_sharded(&device->spec.memory),
			   "is_sharded(buffer.buffer_layout())",
			   "Writing to some cores alone needs a device tensor in shards");
		TT_TRY(lay_out(&bytes, &device->spec, part, &host->spec));
		status = write_pages(storage_on(device, chip), &device->spec, bytes, cores);
		tt_storage_unref(bytes);
		TT_TRY(status);
	}
	return TTNN_OK;
}

/* ---- to the host --------------------------------------------------------------------------------------- */

/* The bytes of a chip: none where a dry run made none. */
static tt_status read_bytes(struct tt_storage **out, struct tt_tensor *tensor, size_t index)
{
	uint32_t chip;
	struct tt_buffer *buffer = tt_buffer_of(&chip, storage_on(tensor, index));

	if (tt_buffer_root(buffer)->mode == TT_BUFFER_REAL)
		return tt_buffer_data(out, buffer, chip, TT_BUFFER_READ);
	*out = tt_storage_ref(&hollow);
	return TTNN_OK;
}

/* The layout of a spread tensor with storages of the host's. */
static tt_status read_layout(struct tt_mesh_layout **out, struct tt_tensor *tensor)
{
	const struct tt_mesh_layout *from = tensor->layout;
	struct tt_mesh_layout *layout;
	tt_status status = TTNN_OK;

	TT_TRY(tt_mesh_layout_like(&layout, from));
	for (size_t i = 0; i < from->shard_count && status == TTNN_OK; i++)
		status = read_bytes(&layout->shards[i].storage, tensor, i);
	if (status != TTNN_OK) {
		tt_mesh_layout_unref(layout);
		return status;
	}
	*out = layout;
	return TTNN_OK;
}

/* Every chip's part of a tensor on a mesh. */
static tt_status fetch(struct tt_tensor **out, struct tt_tensor *tensor)
{
	struct tt_mesh_layout *layout = NULL;
	struct tt_storage *storage;

	TT_TRY(need_allocated(tensor));
	TT_TRY(tt_rerun_check_read(tt_tensor_device(tensor)));
	if (tensor->layout) {
		TT_TRY(read_layout(&layout, tensor));
		storage = tt_storage_ref(layout->shards[0].storage);
	} else {
		TT_TRY(read_bytes(&storage, tensor, 0));
	}
	TT_TRY(tt_tensor_wrap(out, &tensor->spec, storage, layout));
	(*out)->spread = tensor->spread;
	return TTNN_OK;
}

/* Recorded as Tensor::cpu; a host tensor is returned as it is. */
static tt_status from_device(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *tensor,
			     bool blocking)
{
	struct ttnn_value args[] = {ttnn_v_tensor(tensor), ttnn_v_int(blocking)};
	tt_status status;

	if (!tt_tensor_device(tensor)) {
		TT_TRY(need_allocated(tensor)); /* or the device was closed */
		*out = ttnn_tensor_ref(tensor);
		return TTNN_OK;
	}
	tt_host_begin(call, "Tensor::cpu", args, 2);
	status = fetch(out, tensor);
	tt_host_end(call, status == TTNN_OK ? *out : NULL, status);
	return status;
}

tt_status tt_host_from_device(struct tt_tensor **out, struct tt_call *call,
			      struct tt_tensor *tensor)
{
	return from_device(out, call, tensor, true);
}

/* Tensors of a dry run have no bytes: only the spec changes. */
static tt_status hollow_dtype(struct tt_tensor **out, struct tt_tensor *tensor,
			      enum ttnn_dtype dtype)
{
	struct ttnn_spec_args args = tt_tensor_spec_args(&tensor->spec);
	struct ttnn_tensor_spec spec;

	args.dtype = dtype;
	TT_TRY(ttnn_tensor_spec_make(&spec, &args));
	TT_TRY(tt_tensor_share(out, tensor, &spec));
	(*out)->view = false;
	return TTNN_OK;
}

/* Recorded as to_dtype; the result keeps its number. */
tt_status tt_host_to_dtype(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *tensor,
			   enum ttnn_dtype dtype)
{
	struct ttnn_value args[] = {ttnn_v_tensor(tensor), ttnn_v_dtype(dtype)};
	tt_status status;

	tt_host_begin(call, "tt::tt_metal::to_dtype", args, 2);
	status = tt_need_host(tensor);
	if (status == TTNN_OK && tensor->storage == &hollow)
		status = hollow_dtype(out, tensor, dtype);
	else if (status == TTNN_OK)
		status = ttnn_tensor_to_dtype(out, tensor, dtype);
	if (status == TTNN_OK && *out == tensor)
		tt_host_end(call, *out, status);
	else
		tt_host_end_as_is(call, status == TTNN_OK ? *out : NULL, status);
	return status;
}

/* ---- the operations ---------------------------------------------------------------------------------------- */

static const struct ttnn_memory_config dram;

/* DRAM without a memory config. */
static tt_status expand_to_device(struct tt_call *call)
{
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");
	struct tt_tensor *out;

	return tt_call_give(call,
			    tt_host_to_device(&out, call, tt_call_tensor(call, "tensor"),
					      tt_call_arg(call, "device")->device,
					      memory ? memory : &dram),
			    &out);
}

/* To a device, or on the host into another layout; on a device that is an operation of its own. */
static tt_status expand_method_to(struct tt_call *call)
{
	struct tt_tensor *tensor = tt_call_tensor(call, "tensor"), *out;
	const struct ttnn_value *layout = tt_call_arg(call, "layout");
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");
	struct ttnn_value args[] = {ttnn_v_tensor(tensor), *tt_call_arg(call, "device"),
				    ttnn_v_int(memory != NULL)};

	if (!tt_value_given(layout))
		return tt_call_give(call, to_device(&out, call, args, memory), &out);
	if (!tt_tensor_device(tensor))
		return tt_call_give(
			call,
			tt_host_to_layout(&out, call, tensor, (enum ttnn_layout)layout->integer),
			&out);
	return tt_call_give(call,
			    TT_CALL(&out, call, "ttnn.to_layout", {NULL, args[0]}, {NULL, *layout}),
			    &out);
}

static tt_status expand_from_device(struct tt_call *call)
{
	struct tt_tensor *tensor = tt_call_tensor(call, "tensor"), *out;

	return tt_call_give(
		call, from_device(&out, call, tensor, tt_call_bool(call, "blocking", true)), &out);
}

/* On the host only. */
static tt_status expand_to_dtype(struct tt_call *call)
{
	struct tt_tensor *tensor = tt_call_tensor(call, "tensor"), *out;

	return tt_call_give(call,
			    tt_host_to_dtype(&out, call, tensor,
					     tt_call_dtype(call, "dtype", tensor->spec.dtype)),
			    &out);
}

static tt_status expand_copy_to_device(struct tt_call *call)
{
	return tt_host_copy_to_device(call, tt_call_tensor(call, "host_tensor"),
				      tt_call_tensor(call, "device_tensor"));
}

/* Recorded under upstream's long name of it. */
static tt_status expand_copy_partial(struct tt_call *call)
{
	struct tt_tensor *host = tt_call_tensor(call, "host_tensor");
	struct tt_tensor *device = tt_call_tensor(call, "device_tensor");
	const ttnn_core_set *cores = tt_call_core_set(call, "logical_core_filter");
	struct ttnn_value args[] = {ttnn_v_tensor(host), ttnn_v_tensor(device),
				    *tt_call_arg(call, "logical_core_filter"), tt_optional_text()};
	tt_status status;

	tt_host_begin(call, "ttnn::experimental::core_subset_write::copy_to_device_filtered", args,
		      TT_COUNT(args));
	status = check_copy(host, device);
	if (status == TTNN_OK)
		status = write_cores(device, host, cores);
	tt_host_end(call, NULL, status);
	return status;
}

/* Nothing for tensors on the host, and for what others share without force. */
static tt_status expand_deallocate(struct tt_call *call)
{
	struct tt_tensor *tensor = tt_call_tensor(call, "tensor");

	bool force = tt_call_bool(call, "force", false);

	if (!tt_tensor_device(tensor) || !(force || tt_tensor_owns_alone(tensor)))
		return TTNN_OK;
	tt_host_begin(call, TT_SCOPE_DEALLOCATE, NULL, 0);
	ttnn_tensor_deallocate(tensor, force);
	tt_host_end(call, NULL, TTNN_OK);
	return TTNN_OK;
}

/* Allocated with the spec of another tensor. */
static tt_status expand_empty_on_device(struct tt_call *call)
{
	struct tt_tensor *out;

	return tt_call_give(call,
			    tt_call_create(&out, call, tt_call_arg(call, "device")->device,
					   &tt_call_tensor(call, "like")->spec),
			    &out);
}

/* ---- back to data ------------------------------------------------------------------------------------------ */

/* "MeshShape([2, 2])" */
static tt_status refuse_spread(const struct tt_tensor *tensor)
{
	const struct ttnn_shape *mesh = &tensor->layout->mesh;

	return tt_fail_cond(TTNN_INVALID, "buffers.size() == 1",
			    "Can't convert a tensor distributed on MeshShape([%u, %u]) mesh to "
			    "row-major logical tensor. Supply a mesh composer to concatenate "
			    "multi-device shards.",
			    mesh->dim[0], mesh->dim[1]);
}

/* The elements in rows; block floats as float32. */
static tt_status to_rows(struct tt_tensor **out, struct tt_tensor *host)
{
	struct ttnn_spec_args args = {.shape = host->spec.shape, .dtype = host->spec.dtype};
	struct ttnn_tensor_spec spec;
	struct tt_area to, from;
	tt_status status;

	TT_TRY(need_allocated(host));
	if (host->layout && host->layout->shard_count > 1)
		return refuse_spread(host);
	if (tt_dtype_is_block(args.dtype))
		args.dtype = TTNN_FLOAT32;
	TT_TRY(ttnn_tensor_spec_make(&spec, &args));
	/* A program that is rehearsed goes on with zeros, as upstream's; behind it, none are made up. */
	if (host->storage == &hollow && tt_run_mode() == TTNN_RUN_NO_DISPATCH &&
	    ttnn_tensor_new(out, &spec) == TTNN_OK)
		return TTNN_OK;
	TT_TRY(tt_tensor_need_host(host, "reading the elements"));
	TT_TRY(tt_tensor_alloc(out, &spec));
	to = tt_area_of(tt_tensor_data(*out), &spec);
	from = tt_area_of(host->storage->data, &host->spec);
	status = tt_layout_copy(&to, &from, NULL);
	if (status != TTNN_OK)
		ttnn_tensor_unref(*out);
	return status;
}

/* "RowMajorHostBuffer(<HostBuffer>, {1, 1, 40, 50}, DataType::BFLOAT16)" */
static struct ttnn_value rows_text(struct tt_call *call, const struct ttnn_tensor_spec *spec)
{
	struct ttnn_value value = {.kind = TTNN_VALUE_OPAQUE, .text = ""};
	struct tt_str text = {0};
	const char *copy;

	if (!tt_event_on())
		return value;
	tt_str_adds(&text, "RowMajorHostBuffer(<HostBuffer>, {");
	for (uint32_t i = 0; i < spec->shape.rank; i++)
		tt_str_addf(&text, "%s%u", i ? ", " : "", spec->shape.dim[i]);
	tt_str_addf(&text, "}, DataType::%s)", ttnn_dtype_name(spec->dtype, TTNN_DIALECT_TT_METAL));
	copy = tt_arena_strdup(call->arena, tt_str_text(&text));
	tt_str_deinit(&text);
	value.text = copy ? copy : "";
	return value;
}

/* The rows, and with the dtype. Upstream's are no tensor of its own, so Python's have no number yet. */
static tt_status framework_rows(struct tt_tensor **out, struct tt_call *call,
				struct tt_tensor *host)
{
	bool before = tt_tensor_hide(tt_call_from_python());
	tt_status status = to_rows(out, host);
	enum ttnn_dtype dtype;

	if (status == TTNN_OK) {
		dtype = tt_call_dtype(call, "dtype", (*out)->spec.dtype);
		if (dtype != (*out)->spec.dtype) {
			tt_call_own(call, *out);
			status = ttnn_tensor_to_dtype(out, *out, dtype);
		}
	}
	tt_tensor_hide(before);
	return status;
}

/* Python upstream: from_device, then a conversion that is only recorded here. */
static tt_status expand_to_torch(struct tt_call *call)
{
	struct tt_tensor *tensor = tt_call_tensor(call, "tensor"), *host, *out;
	struct ttnn_arg args[] = {{NULL, ttnn_v_tensor(tensor)}, {"queue_id", ttnn_v_none()}};
	struct ttnn_value text;

	if (tt_tensor_device(tensor))
		TT_TRY(tt_call_python(&host, call, "ttnn.from_device", args, 2));
	else
		host = ttnn_tensor_ref(tensor);
	tt_call_own(call, host);
	TT_TRY(framework_rows(&out, call, host));
	text = rows_text(call, &host->spec);
	tt_host_begin(call, "tt::tt_metal::detail::convert_tt_tensor_to_framework_tensor", &text,
		      1);
	tt_host_end(call, NULL, TTNN_OK);
	tt_call_return(call, out);
	return TTNN_OK;
}

/* ---- goldens ------------------------------------------------------------------------------------------------------- */

tt_status tt_golden_transfer(struct tt_golden *golden)
{
	const struct tt_array *in = tt_golden_in(golden, "tensor");
	struct tt_array *out;

	TT_GOLDEN_NEED(in);
	out = tt_golden_out(golden, &in->shape, tt_call_dtype(&golden->call, "dtype", in->dtype));
	TT_NEED_MEMORY(out);
	for (uint64_t i = 0; i < in->count; i++)
		*tt_at(out, i) = *tt_at(in, i);
	return TTNN_OK;
}

/* ---- the rows ---------------------------------------------------------------------------------------------------------- */

#define OP(name_, expand_, golden_, doc_, ...)                                                     \
	{                                                                                          \
		.name = "ttnn." name_, .doc = doc_, .sigs = {__VA_ARGS__}, .expand = expand_,      \
		.golden = golden_, .pcc = 0.9999                                                   \
	}
#define NONE(name_, expand_, doc_, ...)                                                            \
	{                                                                                          \
		.name = "ttnn." name_, .doc = doc_, .sigs = {__VA_ARGS__}, .expand = expand_,      \
		.gives = "[Tensor]"                                                                \
	}

static const struct tt_op ops[] = {
	OP("Tensor.cpu", expand_from_device, tt_golden_transfer, "The method form of from_device.",
	   "tensor: Tensor, blocking: bool = True, cq_id: int? = None"),
	OP("Tensor.to", expand_method_to, tt_golden_transfer, "The method form of to_device.",
	   "tensor: Tensor, device: Device, memory_config: MemoryConfig? = None, cq_id: int? = None",
	   "tensor: Tensor, layout: Layout"),
	NONE("Tensor.deallocate", expand_deallocate,
	     "The method form of deallocate; memory that others share stays.",
	     "tensor: Tensor, force: bool = False"),
	OP("allocate_tensor_on_device", expand_empty_on_device, NULL,
	   "A device tensor like another one, its values not set.", "like: Tensor, device: Device"),
	NONE("copy_host_to_device_tensor", expand_copy_to_device,
	     "Writes the values of a host tensor into a device tensor.",
	     "host_tensor: Tensor, device_tensor: Tensor, cq_id: int? = None"),
	NONE("copy_host_to_device_tensor_partial", expand_copy_partial,
	     "Writes the values of a host tensor into those shards of a device tensor that lie on "
	     "some cores.",
	     "host_tensor: Tensor, device_tensor: Tensor, logical_core_filter: CoreRangeSet, cq_id: "
	     "int? = None"),
	NONE("deallocate", expand_deallocate, "Gives a tensor's device memory back now.",
	     "tensor: Tensor, force: bool = True"),
	OP("from_device", expand_from_device, tt_golden_transfer,
	   "A copy of a device tensor on the host.",
	   "tensor: Tensor, blocking: bool = True, queue_id: int? = None, cq_id: int? = None"),
	OP("to_device", expand_to_device, tt_golden_transfer,
	   "A copy of a host tensor on a device.",
	   "tensor: Tensor, device: Device, memory_config: MemoryConfig? = None, cq_id: int? = None"),
	OP("to_dtype", expand_to_dtype, tt_golden_transfer,
	   "A host tensor with numbers of another type.", "tensor: Tensor, dtype: DataType"),
	OP("to_torch", expand_to_torch, tt_golden_transfer,
	   "The logical elements in rows on the host; block floats as float32.",
	   "tensor: Tensor, dtype: DataType? = None, *, torch_rank: int? = None, mesh_composer: any? = "
	   "None, device: Device? = None, cq_id: int? = None"),
};

const struct tt_op_family tt_family_host = {"host", ops, TT_COUNT(ops)};
