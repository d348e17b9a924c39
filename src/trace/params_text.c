/* params_text.c: the text of one call, in every dialect. */
#include <string.h>
#include <time.h>

#include "base/lock.h"
#include "base/mem.h"
#include "device/device.h"
#include "device/devtensor.h"
#include "event/value_text.h"
#include "tensor/dtype.h"
#include "tensor/memory.h"
#include "tensor/text.h"
#include "tensor/value_json.h"
#include "trace/params.h"

/* ---- dialects -------------------------------------------------------------------------------------- */

/* As ttnn's own documents and the files beside them have a tensor. */
#define SHORT_TENSOR                                                                               \
	{                                                                                          \
		TT_PARAMS_TYPE, TT_PARAMS_SHAPE, TT_PARAMS_DTYPE, TT_PARAMS_VALUES,                \
			TT_PARAMS_ORIGINAL_SHAPE, TT_PARAMS_ORIGINAL_DTYPE, TT_PARAMS_LAYOUT,      \
			TT_PARAMS_STORAGE,                                                         \
	}

static const struct tt_params_style styles[] = {
	{.name = "seed",
	 .number_key = "operation_number",
	 .directory = "generated/ttnn/operation_parameters",
	 .timestamp = true,
	 .num_tensors = true,
	 .inlined = true,
	 .shards = true,
	 .errors = true,
	 .tests = true,
	 .texts = TTNN_DIALECT_SEED,
	 .tensor = SHORT_TENSOR},
	{.name = "tt-metal",
	 .number_key = "operation_id",
	 .directory = "generated/ttnn/reports/operation_parameters",
	 .qualified = true,
	 .objects = true,
	 .texts = TTNN_DIALECT_TT_METAL,
	 .tensor = {TT_PARAMS_TYPE, TT_PARAMS_ORIGINAL_SHAPE, TT_PARAMS_ORIGINAL_DTYPE,
		    TT_PARAMS_MESH, TT_PARAMS_SHAPE, TT_PARAMS_DTYPE, TT_PARAMS_VALUES,
		    TT_PARAMS_LAYOUT, TT_PARAMS_STORAGE, TT_PARAMS_MEMORY}},
	/* The example files that came with the documents of January 2026. */
	{.name = "2026-01",
	 .number_key = "operation_id",
	 .directory = "generated/ttnn/reports/operation_parameters",
	 .qualified = true,
	 .texts = TTNN_DIALECT_SEED,
	 .tensor = SHORT_TENSOR},
};

const struct tt_params_style *tt_params_style_at(size_t i)
{
	return i < sizeof(styles) / sizeof(styles[0]) ? &styles[i] : NULL;
}

const struct tt_params_style *tt_params_style(const char *name)
{
	const struct tt_params_style *style;

	for (size_t i = 0; (style = tt_params_style_at(i)); i++)
		if (strcmp(style->name, name) == 0)
			break;
	return style;
}

/* ---- names ------------------------------------------------------------------------------------------- */

/* The C library has a lock of its own for the time zone, which it does not look after at a fork. */
TT_LOCK_STATIC(time_lock, TT_RANK_TIME, NULL);

void tt_params_stamp(char out[TT_PARAMS_STAMP], int64_t wall_ns)
{
	time_t seconds = (time_t)(wall_ns / 1000000000);
	struct tm local;
	size_t length;

	tt_lock_take(&time_lock);
	localtime_r(&seconds, &local);
	length = strftime(out, TT_PARAMS_STAMP, "%Y%m%d_%H%M%S", &local);
	tt_lock_give(&time_lock);
	snprintf(out + length, TT_PARAMS_STAMP - length, "_%06d",
		 (int)(wall_ns % 1000000000 / 1000));
}

void tt_params_file_name(struct tt_str *out, uint64_t number, const char *name, const char *stamp)
{
	tt_str_addu(out, number);
	tt_str_addc(out, '_');
	for (; *name; name++) {
		bool pair = name[0] == ':' && name[1] == ':';

		tt_str_addc(out, pair || *name == '.' || *name == '/' ? '_' : *name);
		name += pair;
	}
	tt_str_addc(out, '_');
	tt_str_adds(out, stamp);
	tt_str_adds(out, ".json");
}

/* ---- small values ------------------------------------------------------------------------------------ */

static void put_text(struct tt_jsonw *w, struct tt_str *text)
{
	if (tt_str_status(text) != TTNN_OK && w->status == TTNN_OK)
		w->status = TTNN_NOMEM;
	tt_jsonw_stringn(w, tt_str_text(text), text->length);
	tt_str_deinit(text);
}

/* {"type": type, key: text} */
static void put_typed(struct tt_jsonw *w, const char *type, const char *key, struct tt_str *text)
{
	tt_jsonw_object(w);
	tt_jsonw_key_string(w, "type", type);
	tt_jsonw_key(w, key);
	put_text(w, text);
	tt_jsonw_end(w);
}

/* "DataType.BFLOAT16" */
static void put_member(struct tt_jsonw *w, const struct tt_enum *type, int64_t member)
{
	struct tt_str text = {0};

	tt_text_enum(&text, type, member, ".");
	put_text(w, &text);
}

static void put_list(struct tt_jsonw *w, const struct tt_params_style *style,
		     const uint32_t *numbers, uint32_t count)
{
	bool before;

	tt_jsonw_array(w);
	before = tt_jsonw_inline(w, style->inlined);
	for (uint32_t i = 0; i < count; i++)
		tt_jsonw_int(w, numbers[i]);
	tt_jsonw_end(w);
	tt_jsonw_inline(w, before);
}

/* ---- memory configs ---------------------------------------------------------------------------------- */

static void put_memory(struct tt_jsonw *w, const struct ttnn_memory_config *config)
{
	struct tt_str text = {0};
	bool sharded = config->layout != TTNN_INTERLEAVED;

	tt_jsonw_object(w);
	tt_jsonw_key(w, "memory_layout");
	put_member(w, &tt_enum_memory_layout, config->layout);
	tt_jsonw_key(w, "buffer_type");
	put_member(w, &tt_enum_buffer_type, config->buffer);
	tt_jsonw_key(w, "shard_spec");
	if (config->has_shard)
		tt_text_shard_spec(&text, &config->shard);
	else
		tt_str_adds(&text, "None");
	put_text(w, &text);
	tt_jsonw_key(w, "is_sharded");
	tt_jsonw_bool(w, sharded);
	tt_jsonw_key(w, "interleaved");
	tt_jsonw_bool(w, !sharded);
	tt_jsonw_key(w, "hash");
	tt_jsonw_int(w, (int64_t)(tt_memory_config_hash(0, config) >> 1));
	tt_jsonw_end(w);
}

/* ---- tensors ----------------------------------------------------------------------------------------- */

/* What numpy calls the array that holds the values. */
static enum ttnn_dtype value_dtype(enum ttnn_dtype dtype)
{
	return tt_dtype_is_integer(dtype) ? dtype : TTNN_FLOAT32;
}

/* The elements of a tensor's parts in rows; data NULL when they are not wanted. */
struct rows {
	char *data; /* those of one part after another's */
	enum ttnn_dtype dtype;
	uint32_t parts; /* that are written: one where all are the same */
	uint32_t shards;
	uint64_t bytes; /* of a part */
};

static tt_status read_part(void *data, const struct rows *rows, struct tt_tensor *tensor,
			   uint32_t part)
{
	struct tt_tensor *here;
	tt_status status;

	TT_TRY(tt_tensor_resident(&here, tensor, part, TT_BUFFER_READ));
	status = ttnn_tensor_to_data(data, rows->bytes, rows->dtype, here);
	ttnn_tensor_unref(here);
	return status;
}

static tt_status read_rows(struct rows *out, struct tt_tensor *tensor)
{
	const struct ttnn_tensor_spec *spec = &tensor->spec;
	uint64_t volume, bytes;

	out->dtype = value_dtype(spec->dtype);
	out->parts = 1;
	out->shards = tt_tensor_chips(tensor);
	TT_TRY(ttnn_shape_volume(&volume, &spec->shape));
	if (__builtin_mul_overflow(volume, tt_dtype_bytes(out->dtype), &out->bytes) ||
	    __builtin_mul_overflow(out->bytes, out->shards, &bytes))
		return tt_fail_nomem();
	out->data = tt_alloc(bytes);
	if (!out->data)
		return tt_fail_nomem();
	for (uint32_t i = 0; i < out->shards; i++) {
		char *here = out->data + i * out->bytes;
		tt_status status = read_part(here, out, tensor, i);

		if (status != TTNN_OK) {
			tt_free(out->data);
			out->data = NULL;
			return status;
		}
		if (memcmp(here, out->data, out->bytes) != 0)
			out->parts = out->shards;
	}
	return TTNN_OK;
}

static double number_at(const void *data, enum ttnn_dtype dtype, uint64_t i)
{
	switch (dtype) {
	case TTNN_FLOAT32:
		return ((const float *)data)[i];
	case TTNN_INT32:
		return ((const int32_t *)data)[i];
	case TTNN_UINT16:
		return ((const uint16_t *)data)[i];
	case TTNN_UINT8:
		return ((const uint8_t *)data)[i];
	case TTNN_INT8:
		return ((const int8_t *)data)[i];
	default:
		return ((const uint32_t *)data)[i];
	}
}

static void put_part(struct tt_jsonw *w, const struct rows *rows, uint32_t part,
		     const struct ttnn_shape *shape)
{
	const void *data = rows->data + part * rows->bytes;
	uint32_t index[TTNN_MAX_RANK] = {0}, rank = shape->rank, open = 0;

	for (uint64_t i = 0; w->status == TTNN_OK; i++) {
		while (open < rank) {
			tt_jsonw_array(w);
			if (shape->dim[open++] == 0)
				goto up; /* nothing inside, whatever comes */
		}
		if (rows->dtype == TTNN_FLOAT32)
			tt_jsonw_real(w, number_at(data, rows->dtype, i));
		else
			tt_jsonw_int(w, (int64_t)number_at(data, rows->dtype, i));
	up:
		while (open && ++index[open - 1] >= shape->dim[open - 1]) {
			index[--open] = 0;
			tt_jsonw_end(w);
		}
		if (!open)
			return;
	}
}

/*
 * "values"; of a tensor on several devices those of the first one, which its shape describes. Style
 * "shards" says how many there are, and has "other_shards" unless all are the same.
 */
static void put_rows(struct tt_jsonw *w, const struct tt_params_style *style,
		     const struct rows *rows, const struct ttnn_shape *shape)
{
	bool before;

	tt_jsonw_key(w, "values");
	before = tt_jsonw_inline(w, style->inlined);
	put_part(w, rows, 0, shape);
	tt_jsonw_inline(w, before);
	if (!style->shards)
		return;
	if (rows->shards > 1)
		tt_jsonw_key_int(w, "shards", rows->shards);
	if (rows->parts == 1)
		return;
	tt_jsonw_key(w, "other_shards");
	tt_jsonw_inline(w, style->inlined);
	tt_jsonw_array(w);
	for (uint32_t i = 1; i < rows->parts; i++)
		put_part(w, rows, i, shape);
	tt_jsonw_end(w);
	tt_jsonw_inline(w, before);
}

static void put_placements(struct tt_jsonw *w, const struct tt_event_tensor *seen)
{
	struct tt_spread axis;

	tt_jsonw_array(w);
	for (unsigned i = 0; (axis = tt_spread_at(seen->spread, i)).extent; i++) {
		struct tt_str text = {0};

		if (axis.shard)
			tt_str_addf(&text, "PlacementShard(%d)", axis.dim);
		else
			tt_str_adds(&text, "PlacementReplicate");
		put_text(w, &text);
	}
	tt_jsonw_end(w);
}

/* What a device is known to be, live or from a trace; NULL: nothing. */
static const struct ttnn_device_info *device_of(const struct tt_params_writer *writer,
						const struct ttnn_value *value)
{
	struct tt_event_tensor seen;
	uint32_t id;

	if (value->kind == TTNN_VALUE_DEVICE)
		return &value->device->info;
	if (value->kind == TTNN_VALUE_TENSOR) {
		const struct tt_device *device = tt_tensor_device(value->tensor);

		return device ? &device->info : NULL;
	}
	if (!writer->device)
		return NULL;
	if (tt_value_seen_tensor(&seen, value))
		return seen.on_device ? writer->device(writer->context, seen.device_id) : NULL;
	return tt_value_seen_device(&id, value) ? writer->device(writer->context, id) : NULL;
}

/* "shape" and "device_ids" of a mesh. */
static void put_mesh(struct tt_jsonw *w, const struct tt_params_style *style,
		     const struct ttnn_device_info *info)
{
	tt_jsonw_key(w, "shape");
	put_list(w, style, (const uint32_t[]){info->rows, info->cols}, 2);
	tt_jsonw_key(w, "device_ids");
	if (info->chip_count)
		put_list(w, style, info->chips, info->chip_count);
	else
		tt_jsonw_null(w);
}

/* A tensor being written. */
struct subject {
	const struct ttnn_value *value;
	struct tt_event_tensor seen;
	struct rows rows; /* data NULL: without values */
};

static void put_dtype(struct tt_jsonw *w, const struct tt_params_style *style,
		      enum ttnn_dtype dtype)
{
	if (style->qualified)
		put_member(w, &tt_enum_dtype, dtype);
	else
		tt_jsonw_string(w, ttnn_dtype_name(dtype, TTNN_DIALECT_SEED));
}

static void put_spread(struct tt_jsonw *w, const struct tt_params_writer *writer,
		       const struct subject *subject)
{
	const struct ttnn_device_info *info =
		subject->seen.buffer_id ? device_of(writer, subject->value) : NULL;
	struct tt_spread axis;

	tt_jsonw_key(w, "mesh_device");
	tt_jsonw_object(w);
	tt_jsonw_key(w, "placements");
	put_placements(w, &subject->seen);
	tt_jsonw_key(w, "distribution_shape");
	tt_jsonw_array(w);
	for (unsigned i = 0; (axis = tt_spread_at(subject->seen.spread, i)).extent; i++)
		tt_jsonw_int(w, axis.extent);
	tt_jsonw_end(w);
	if (info)
		put_mesh(w, writer->style, info);
	tt_jsonw_end(w);
}

static void put_field(struct tt_jsonw *w, struct tt_params_writer *writer,
		      const struct subject *subject, enum tt_params_field field)
{
	const struct tt_params_style *style = writer->style;
	const struct ttnn_tensor_spec *spec = subject->seen.spec;
	const struct rows *rows = &subject->rows;
	bool device = subject->seen.on_device;

	switch (field) {
	case TT_PARAMS_TYPE:
		tt_jsonw_key_string(w, "type", "ttnn.Tensor");
		break;
	case TT_PARAMS_SHAPE:
	case TT_PARAMS_ORIGINAL_SHAPE:
		tt_jsonw_key(w, field == TT_PARAMS_SHAPE ? "shape" : "original_shape");
		put_list(w, style, spec->shape.dim, spec->shape.rank);
		break;
	case TT_PARAMS_DTYPE:
		tt_jsonw_key(w, "dtype");
		if (rows->data)
			tt_jsonw_string(w, ttnn_dtype_name(rows->dtype, TTNN_DIALECT_SEED));
		else
			put_dtype(w, style, spec->dtype);
		break;
	case TT_PARAMS_VALUES:
		if (rows->data)
			put_rows(w, style, rows, &spec->shape);
		break;
	case TT_PARAMS_ORIGINAL_DTYPE:
		tt_jsonw_key(w, "original_dtype");
		put_dtype(w, style, spec->dtype);
		break;
	case TT_PARAMS_MESH:
		put_spread(w, writer, subject);
		break;
	case TT_PARAMS_LAYOUT:
		tt_jsonw_key(w, "layout");
		if (style->qualified)
			put_member(w, &tt_enum_layout, spec->layout);
		else
			tt_jsonw_string(w, tt_enum_name(&tt_enum_layout, spec->layout));
		break;
	case TT_PARAMS_STORAGE:
		tt_jsonw_key_string(w, "storage_type",
				    style->qualified
					    ? device ? "StorageType.DEVICE" : "StorageType.HOST"
				    : device ? "DEVICE_STORAGE"
					     : "HOST_STORAGE");
		break;
	case TT_PARAMS_MEMORY:
		tt_jsonw_key(w, "memory_config");
		put_memory(w, &spec->memory);
		break;
	case TT_PARAMS_END:
		break;
	}
}

static void put_tensor(struct tt_jsonw *w, struct tt_params_writer *writer,
		       const struct ttnn_value *value)
{
	struct subject subject = {.value = value};
	const struct tt_params_style *style = writer->style;
	tt_status status;

	tt_value_seen_tensor(&subject.seen, value);
	if (writer->values && value->kind == TTNN_VALUE_TENSOR) {
		status = read_rows(&subject.rows, value->tensor);
		if (status != TTNN_OK)
			writer->missing = status;
	}
	tt_jsonw_object(w);
	for (size_t i = 0; i < sizeof(style->tensor) / sizeof(style->tensor[0]); i++)
		put_field(w, writer, &subject, style->tensor[i]);
	tt_jsonw_end(w);
	tt_free(subject.rows.data);
}

/* ---- torch's tensors --------------------------------------------------------------------------------- */

/*
 * A binding hands them over as {"type": "torch.Tensor", "shape": [...], "dtype": "torch.bfloat16"}
 * and, where values are wanted, "values": a tensor of the same elements, or lists of them.
 */
#define TORCH_ITEMS 6

static bool is_text(const struct ttnn_value *value, const char *text)
{
	return value->kind == TTNN_VALUE_STRING && strcmp(value->text, text) == 0;
}

static bool is_torch(const struct ttnn_value *value)
{
	return value->kind == TTNN_VALUE_DICT && value->count >= TORCH_ITEMS &&
	       is_text(&value->items[0], "type") && is_text(&value->items[1], "torch.Tensor") &&
	       value->items[5].kind == TTNN_VALUE_STRING;
}

static void put_torch(struct tt_jsonw *w, struct tt_params_writer *writer,
		      const struct ttnn_value *value)
{
	const struct ttnn_value *values =
		value->count > 7 && writer->values ? &value->items[7] : NULL;
	const char *dtype = value->items[5].text;
	struct rows rows = {0};
	tt_status status;

	if (values && values->kind == TTNN_VALUE_TENSOR) {
		status = read_rows(&rows, values->tensor);
		if (status != TTNN_OK) {
			writer->missing = status;
			values = NULL;
		}
	}
	if (rows.data)
		dtype = ttnn_dtype_name(rows.dtype, TTNN_DIALECT_SEED);
	else if ((values || !writer->style->qualified) && strncmp(dtype, "torch.", 6) == 0)
		dtype += 6;
	tt_jsonw_object(w);
	tt_jsonw_key_string(w, "type", "torch.Tensor");
	tt_jsonw_key(w, "shape");
	tt_params_value(w, writer, &value->items[3]);
	tt_jsonw_key_string(w, "dtype", dtype);
	if (values && rows.data) {
		put_rows(w, writer->style, &rows, &values->tensor->spec.shape);
	} else if (values) {
		tt_jsonw_key(w, "values");
		tt_params_value(w, writer, values);
	}
	tt_jsonw_end(w);
	tt_free(rows.data);
}

/* ---- objects ----------------------------------------------------------------------------------------- */

/* Upstream writes one of the switches as a text. */
static void put_compute(struct tt_jsonw *w, const struct ttnn_value *value)
{
	tt_jsonw_object(w);
	for (uint32_t i = 0; i < value->count; i++) {
		const struct tt_field *field = &value->schema->fields[i];
		const struct ttnn_value *item = &value->items[i];
		struct tt_str text = {0};

		tt_jsonw_key(w, field->name);
		if (strcmp(field->name, "math_approx_mode") == 0)
			tt_jsonw_string(w, item->boolean ? "True" : "False");
		else if (item->kind == TTNN_VALUE_BOOL)
			tt_jsonw_bool(w, item->boolean);
		else if (item->kind == TTNN_VALUE_ENUM)
			put_member(w, item->enumeration, item->integer);
		else if (item->kind == TTNN_VALUE_INT && item->integer == 0)
			tt_jsonw_string(w, "ThrottleLevel.NO_THROTTLE");
		else {
			tt_str_addf(&text, "ThrottleLevel.LEVEL_%lld", (long long)item->integer);
			put_text(w, &text);
		}
	}
	tt_jsonw_end(w);
}

static void put_object(struct tt_jsonw *w, const struct tt_params_style *style,
		       const struct ttnn_value *value)
{
	const char *name = value->schema->name;
	struct tt_str text = {0};

	if (style->objects && tt_ends_with(name, "ComputeKernelConfig")) {
		put_compute(w, value);
		return;
	}
	if (style->objects && strstr(name, "Matmul") && strstr(name, "ProgramConfig")) {
		tt_jsonw_object(w);
		tt_value_json_members(w, value, style->texts);
		tt_jsonw_key_string(w, "type", name);
		tt_jsonw_end(w);
		return;
	}
	tt_value_text(&text, value);
	put_typed(w, name, "value", &text);
}

static void put_device(struct tt_jsonw *w, const struct tt_params_writer *writer,
		       const struct ttnn_value *value)
{
	const struct ttnn_device_info *info = device_of(writer, value);
	struct tt_str text = {0};

	tt_str_adds(&text, "MeshDevice");
	if (info)
		tt_str_addf(&text, "(%ux%u grid, %u devices)", info->rows, info->cols,
			    info->chip_count);
	tt_jsonw_object(w);
	tt_jsonw_key_string(w, "type", "MeshDevice");
	tt_jsonw_key(w, writer->style->objects ? "repr" : "value");
	put_text(w, &text);
	if (info && writer->style->objects)
		put_mesh(w, writer->style, info);
	tt_jsonw_end(w);
}

/* Keys are texts; numbers and words become what JSON calls them, as in Python. */
static void put_key(struct tt_jsonw *w, const struct ttnn_value *key)
{
	struct tt_str text = {0};
	struct tt_jsonw inner;

	if (key->kind == TTNN_VALUE_STRING) {
		tt_jsonw_keyn(w, key->text, key->count);
		return;
	}
	tt_jsonw_init_str(&inner, &text, (struct tt_jsonw_style){0});
	tt_value_json(&inner, key, TTNN_DIALECT_SEED);
	if (tt_jsonw_finish(&inner) != TTNN_OK && w->status == TTNN_OK)
		w->status = inner.status;
	tt_jsonw_keyn(w, tt_str_text(&text), text.length);
	tt_str_deinit(&text);
}

static void put_dict(struct tt_jsonw *w, struct tt_params_writer *writer,
		     const struct ttnn_value *value)
{
	tt_jsonw_object(w);
	for (uint32_t i = 0; i + 1 < value->count; i += 2) {
		put_key(w, &value->items[i]);
		tt_params_value(w, writer, &value->items[i + 1]);
	}
	tt_jsonw_end(w);
}

/* Numbers, or lists of nothing else. */
static bool is_numbers(const struct ttnn_value *value)
{
	if (value->kind != TTNN_VALUE_LIST)
		return value->kind == TTNN_VALUE_INT || value->kind == TTNN_VALUE_REAL ||
		       value->kind == TTNN_VALUE_BOOL;
	for (uint32_t i = 0; i < value->count; i++)
		if (!is_numbers(&value->items[i]))
			return false;
	return true;
}

static void put_items(struct tt_jsonw *w, struct tt_params_writer *writer,
		      const struct ttnn_value *value)
{
	bool before;

	tt_jsonw_array(w);
	before = tt_jsonw_inline(w, writer->style->inlined && is_numbers(value));
	for (uint32_t i = 0; i < value->count; i++)
		tt_params_value(w, writer, &value->items[i]);
	tt_jsonw_end(w);
	tt_jsonw_inline(w, before);
}

/* Values that are shown by what they print. */
static void put_printed(struct tt_jsonw *w, const struct tt_params_style *style,
			const struct ttnn_value *value)
{
	static const char *const types[TTNN_VALUE_KINDS] = {
		[TTNN_VALUE_MEMORY] = "MemoryConfig",   [TTNN_VALUE_CORE] = "CoreCoord",
		[TTNN_VALUE_CORE_SET] = "CoreRangeSet", [TTNN_VALUE_TILE] = "Tile",
		[TTNN_VALUE_SHARD] = "ShardSpec",       [TTNN_VALUE_ND_SHARD] = "NdShardSpec",
	};
	struct tt_str text = {0};

	if (value->kind == TTNN_VALUE_MEMORY)
		tt_text_memory_config(&text, value->memory, style->texts);
	else if (value->kind == TTNN_VALUE_TILE)
		tt_text_tile_repr(&text, value->tile);
	else if (value->kind == TTNN_VALUE_OPAQUE)
		tt_str_adds(&text, value->text);
	else
		tt_value_text(&text, value);
	put_typed(w, value->kind == TTNN_VALUE_OPAQUE ? value->text : types[value->kind], "value",
		  &text);
}

void tt_params_value(struct tt_jsonw *w, struct tt_params_writer *writer,
		     const struct ttnn_value *value)
{
	struct tt_str text = {0};

	switch ((enum ttnn_value_kind)value->kind) {
	case TTNN_VALUE_ENUM:
		tt_text_enum(&text, value->enumeration, value->integer, ".");
		put_typed(w, value->enumeration->name, "repr", &text);
		break;
	case TTNN_VALUE_MEMORY:
		if (writer->style->objects) {
			put_memory(w, value->memory);
			break;
		}
		/* fall through */
	case TTNN_VALUE_CORE:
	case TTNN_VALUE_CORE_SET:
	case TTNN_VALUE_TILE:
	case TTNN_VALUE_SHARD:
	case TTNN_VALUE_ND_SHARD:
	case TTNN_VALUE_OPAQUE:
		put_printed(w, writer->style, value);
		break;
	case TTNN_VALUE_TENSOR:
	case TTNN_VALUE_SEEN_TENSOR:
		put_tensor(w, writer, value);
		break;
	case TTNN_VALUE_DEVICE:
	case TTNN_VALUE_SEEN_DEVICE:
		put_device(w, writer, value);
		break;
	case TTNN_VALUE_LIST:
		put_items(w, writer, value);
		break;
	case TTNN_VALUE_OBJECT:
		put_object(w, writer->style, value);
		break;
	case TTNN_VALUE_DICT:
		if (is_torch(value))
			put_torch(w, writer, value);
		else
			put_dict(w, writer, value);
		break;
	case TTNN_VALUE_SHAPE:
		put_list(w, writer->style, value->shape->dim, value->shape->rank);
		break;
	default: /* plain: none, numbers, texts */
		tt_value_json(w, value, writer->style->texts);
	}
}

/* ---- calls ------------------------------------------------------------------------------------------- */

/* How many tensors, torch's too, a value holds. */
static uint64_t count_tensors(const struct ttnn_value *value)
{
	uint64_t count = 0;

	if (value->kind == TTNN_VALUE_TENSOR || value->kind == TTNN_VALUE_SEEN_TENSOR ||
	    is_torch(value))
		return 1;
	if (value->kind != TTNN_VALUE_LIST && value->kind != TTNN_VALUE_DICT)
		return 0;
	for (uint32_t i = 0; i < value->count; i++)
		count += count_tensors(&value->items[i]);
	return count;
}

void tt_params_call(struct tt_jsonw *w, struct tt_params_writer *writer, uint64_t number,
		    const char *stamp, const struct tt_event_call *call)
{
	const struct tt_params_style *style = writer->style;
	const struct ttnn_value *args = &call->values[TT_CALL_ARGS];
	const struct ttnn_value *result = &call->values[TT_CALL_RESULT];
	uint64_t tensors = 0;

	tt_jsonw_object(w);
	tt_jsonw_key(w, style->number_key);
	tt_jsonw_uint(w, number);
	tt_jsonw_key_string(w, "operation_name", call->name);
	if (style->timestamp)
		tt_jsonw_key_string(w, "timestamp", stamp);
	tt_jsonw_key(w, "args");
	tt_jsonw_array(w);
	for (uint32_t i = 0; i < args->count; i++) {
		tt_jsonw_object(w);
		tt_jsonw_key_int(w, "position", i);
		tt_jsonw_key(w, "value");
		tt_params_value(w, writer, &args->items[i]);
		tt_jsonw_end(w);
	}
	tt_jsonw_end(w);
	tt_jsonw_key(w, "kwargs");
	put_dict(w, writer, &call->values[TT_CALL_KWARGS]);
	if (style->num_tensors) {
		for (size_t i = 0; i < TT_CALL_VALUES; i++)
			tensors += count_tensors(&call->values[i]);
		tt_jsonw_key(w, "num_tensors");
		tt_jsonw_uint(w, tensors);
	}
	if (tt_value_given(result)) {
		tt_jsonw_key(w, "return_value");
		tt_params_value(w, writer, result);
	}
	if (call->error && style->errors)
		tt_jsonw_key_string(w, "error", call->error);
	if (writer->test && style->tests)
		tt_jsonw_key_string(w, "test", writer->test);
	tt_jsonw_end(w);
}
