/*
 * event_text.h: an event as one line of text, everything in it but times: for comparing what listeners
 * heard with what a trace says. Shares nothing with the recorder or the reader.
 */
#ifndef TT_TESTS_EVENT_TEXT_H
#define TT_TESTS_EVENT_TEXT_H

#include <inttypes.h>

#include "event/event.h"
#include "tensor/text.h"

static inline void text_shape(struct tt_str *out, const struct ttnn_shape *shape)
{
	tt_str_addc(out, '[');
	for (uint32_t i = 0; i < shape->rank; i++)
		tt_str_addf(out, "%s%" PRIu32, i ? " " : "", shape->dim[i]);
	tt_str_addc(out, ']');
}

static inline void text_cores(struct tt_str *out, const ttnn_core_set *set)
{
	if (set)
		tt_text_core_set(out, set, TTNN_DIALECT_TT_METAL);
	else
		tt_str_adds(out, "NULL");
}

static inline void text_memory(struct tt_str *out, const struct ttnn_memory_config *memory)
{
	tt_str_addf(out, "{%d %d %d%d%d%d%d", memory->layout, memory->buffer, memory->has_shard,
		    memory->has_nd_shard, memory->created_with_nd_shard,
		    memory->per_core_allocation, memory->range_lockstep_allocation);
	if (memory->has_shard) {
		tt_str_addf(out, " %" PRIu32 "x%" PRIu32 " %d ", memory->shard.height,
			    memory->shard.width, memory->shard.orientation);
		text_cores(out, memory->shard.grid);
	}
	if (memory->has_nd_shard) {
		text_shape(out, &memory->nd_shard.shape);
		tt_str_addf(out, " %d %d ", memory->nd_shard.orientation,
			    memory->nd_shard.strategy);
		text_cores(out, memory->nd_shard.grid);
	}
	tt_str_addc(out, '}');
}

static inline void text_tensor(struct tt_str *out, const struct tt_event_tensor *tensor)
{
	const struct ttnn_tensor_spec *spec = tensor->spec;

	tt_str_addf(out, " #%" PRIu64 " %d%d buffer %" PRIu64 " at %" PRIu64 " on %" PRIu32 " (",
		    tensor->id, tensor->on_device, tensor->owns, tensor->buffer_id, tensor->address,
		    tensor->device_id);
	text_shape(out, &spec->shape);
	tt_str_addf(out, " %d %d %" PRIu32 "x%" PRIu32 "%d", spec->dtype, spec->layout,
		    spec->tile.height, spec->tile.width, spec->tile.transpose);
	text_memory(out, &spec->memory);
	text_shape(out, &spec->alignment);
	text_shape(out, &spec->padded);
	tt_str_addf(out,
		    " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
		    " %" PRIu64 ")",
		    spec->rows, spec->cols, spec->page_rows, spec->page_cols, spec->page_bytes,
		    spec->pages, spec->bytes);
}

static inline void text_tensors(struct tt_str *out, const struct tt_event_tensor *tensors,
				size_t count)
{
	tt_str_addf(out, " %zu:", count);
	for (size_t i = 0; i < count; i++)
		text_tensor(out, &tensors[i]);
}

static inline void text_schema(struct tt_str *out, const struct tt_schema *schema)
{
	if (!schema) {
		tt_str_adds(out, " no schema");
		return;
	}
	tt_str_addf(out, " %s%d(", schema->name, schema->named);
	for (size_t i = 0; i < schema->count; i++) {
		const struct tt_field *f = &schema->fields[i];

		tt_str_addf(out, "%s %d %s %d%d%d%d%d %s,", f->name, f->text,
			    f->fixed ? f->fixed : "-", f->unkeyed, f->unprinted, f->omit_empty,
			    f->spaced, f->words, f->json ? f->json : "-");
	}
	tt_str_addc(out, ')');
}

static inline void text_value(struct tt_str *out, const struct ttnn_value *value)
{
	struct tt_event_tensor tensor;
	uint32_t device;

	if (tt_value_seen_tensor(&tensor, value)) {
		text_tensor(out, &tensor);
		return;
	}
	if (tt_value_seen_device(&device, value)) {
		tt_str_addf(out, " device %" PRIu32, device);
		return;
	}
	tt_str_addf(out, " %d:", value->kind);
	switch ((enum ttnn_value_kind)value->kind) {
	case TTNN_VALUE_BOOL:
		tt_str_addf(out, "%d", value->boolean);
		break;
	case TTNN_VALUE_INT:
		tt_str_addf(out, "%" PRId64, value->integer);
		break;
	case TTNN_VALUE_REAL:
		tt_str_addf(out, "%a", value->real);
		break;
	case TTNN_VALUE_STRING:
	case TTNN_VALUE_OPAQUE:
		tt_str_addf(out, "\"%s\"", value->text);
		break;
	case TTNN_VALUE_ENUM: {
		const char *name = tt_enum_name(value->enumeration, value->integer);

		tt_str_addf(out, "%s %" PRId64 " %s", value->enumeration->name, value->integer,
			    name ? name : "-");
		break;
	}
	case TTNN_VALUE_SHAPE:
		text_shape(out, value->shape);
		break;
	case TTNN_VALUE_MEMORY:
		text_memory(out, value->memory);
		break;
	case TTNN_VALUE_CORE:
		tt_str_addf(out, "%" PRIu32 ",%" PRIu32, value->core.x, value->core.y);
		break;
	case TTNN_VALUE_CORE_SET:
		text_cores(out, value->core_set);
		break;
	case TTNN_VALUE_TILE:
		tt_str_addf(out, "%" PRIu32 "x%" PRIu32 "%d", value->tile->height,
			    value->tile->width, value->tile->transpose);
		break;
	case TTNN_VALUE_SHARD:
		tt_text_shard_spec(out, value->shard);
		break;
	case TTNN_VALUE_ND_SHARD:
		tt_text_nd_shard_spec(out, value->nd_shard);
		break;
	case TTNN_VALUE_OBJECT:
		text_schema(out, value->schema);
		/* fall through */
	case TTNN_VALUE_LIST:
	case TTNN_VALUE_DICT:
		tt_str_addf(out, "%" PRIu32 "{", value->count);
		for (uint32_t i = 0; i < value->count; i++)
			text_value(out, &value->items[i]);
		tt_str_addc(out, '}');
		break;
	default:
		break;
	}
}

static inline void text_begin(struct tt_str *out, const struct tt_event_scope_begin *begin)
{
	tt_str_addf(out, " %d %s", begin->kind, begin->name);
	text_schema(out, begin->schema);
	for (size_t i = 0; i < begin->arg_count; i++)
		text_value(out, &begin->args[i]);
	text_tensors(out, begin->inputs, begin->input_count);
}

static inline void text_buffer(struct tt_str *out, const struct tt_event_buffer *buffer)
{
	tt_str_addf(out,
		    " %" PRIu64 " %" PRIu32 " %d %d %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu32
		    " %" PRIu64 " %d",
		    buffer->buffer_id, buffer->device_id, buffer->type, buffer->layout,
		    buffer->size, buffer->page_size, buffer->bank_size, buffer->cores,
		    buffer->address, buffer->real);
}

static inline void text_memory_row(struct tt_str *out, const struct tt_event_program_memory *memory)
{
	tt_str_addf(out, " %d %" PRIu32 " %" PRIu64 " %" PRIu64 " %d %" PRIu32 " ", memory->kind,
		    memory->index, memory->size, memory->address, memory->borrowed,
		    memory->device_id);
	text_cores(out, memory->cores);
}

static inline void text_device(struct tt_str *out, const struct tt_event_device *device)
{
	const struct ttnn_device_info *info = device->info;

	tt_str_addf(out, " %" PRIu32, device->device_id);
	if (!info)
		return;
	tt_str_addf(out, " %s %s %s %s %s %s %d %" PRIu32 "x%" PRIu32 " %" PRIu64 " %" PRIu64 " %g",
		    info->profile, info->arch, info->arch_name, info->arch_family, info->cluster,
		    info->memory_map, info->generation, info->compute_grid.x, info->compute_grid.y,
		    info->l1_base, info->dram_bank_size, (double)info->sfpu_eps);
	for (uint32_t i = 0; i < info->chip_count; i++)
		tt_str_addf(out, " %" PRIu32, info->chips[i]);
#define TT_X(name) tt_str_addf(out, " " #name " %" PRIu64, device->row->name);
	TTNN_DEVICE_ROW_LIST(TT_X)
#undef TT_X
}

/* Appends the line, without its end. */
static inline void text_event(struct tt_str *out, const struct tt_event *event)
{
	tt_str_addf(out, "%d", event->kind);
	switch (event->kind) {
	case TT_EVENT_SCOPE_BEGIN:
		text_begin(out, &event->begin);
		break;
	case TT_EVENT_SCOPE_END:
		tt_str_addf(out, " %d", event->end.aborted);
		text_tensors(out, event->end.outputs, event->end.output_count);
		break;
	case TT_EVENT_BUFFER_ALLOC:
	case TT_EVENT_BUFFER_FREE:
	case TT_EVENT_BUFFER_THERE:
		text_buffer(out, &event->buffer);
		break;
	case TT_EVENT_PROGRAM:
		tt_str_addf(out, " %s %" PRIu32 " %d on %" PRIu32,
			    event->program.factory ? event->program.factory : "-",
			    event->program.factory_index, event->program.cache_hit,
			    event->program.device_id);
		for (size_t i = 0; i < event->program.memory.count; i++)
			text_value(out, &event->program.memory.values[i]);
		for (size_t i = 0; i < event->program.facts.count; i++)
			text_value(out, &event->program.facts.values[i]);
		break;
	case TT_EVENT_PROGRAM_MEMORY:
		text_memory_row(out, &event->memory);
		break;
	case TT_EVENT_PROGRAM_LAUNCH:
		tt_str_addf(out, " %" PRIu32 " %" PRIu32 " %" PRIu64 " ", event->launch.device_id,
			    event->launch.chip_id, event->launch.launch);
		text_cores(out, event->launch.cores);
		break;
	case TT_EVENT_ERROR:
		tt_str_addf(out, " %d \"%s\" \"%s\"", event->error.status, event->error.message,
			    event->error.condition);
		break;
	case TT_EVENT_MARK:
		tt_str_addf(out, " \"%s\" \"%s\" %d %06" PRIx32, event->mark.text,
			    event->mark.detail ? event->mark.detail : "-", event->mark.kind,
			    event->mark.color);
		break;
	case TT_EVENT_PROGRAM_RELEASE:
	case TT_EVENT_DEVICE_OPEN:
	case TT_EVENT_DEVICE_CLOSE:
		text_device(out, &event->device);
		break;
	case TT_EVENT_TENSOR:
		text_tensors(out, event->mention.tensors, event->mention.count);
		break;
	case TT_EVENT_STACK:
		tt_str_addf(out, " %d %zu", event->stack.python, event->stack.count);
		for (size_t i = 0; i < event->stack.count; i++)
			tt_str_addf(out, " %" PRIu64 " \"%s\"", event->stack.frames[i].address,
				    event->stack.frames[i].text ? event->stack.frames[i].text : "");
		break;
	case TT_EVENT_PYTHON_IO:
		tt_str_addf(out, " %d %s", event->python_io.returned, event->python_io.json);
		break;
	case TT_EVENT_LOSS:
		tt_str_addf(out, " %" PRIu64 " %s", event->loss.records, event->loss.reason);
		break;
	case TT_EVENT_CALL:
		tt_str_addf(out, " %s", event->call.name);
		for (size_t i = 0; i < event->call.value_count; i++)
			text_value(out, &event->call.values[i]);
		break;
	case TT_EVENT_PROGRAM_RUN: /* its times are ticks here, nanoseconds there */
		tt_str_addf(out,
			    " %s %" PRIu32 " %" PRIu32 " %" PRIu64 " %" PRIu32 " trace %" PRIu32
			    " %" PRIu32,
			    event->run.name, event->run.device_id, event->run.chip_id,
			    event->run.launch, event->run.threads, event->run.trace_id,
			    event->run.session);
		break;
	case TT_EVENT_METAL_TRACE:
		tt_str_addf(out, " %d %" PRIu32 " %" PRIu32 " %" PRIu32, event->metal_trace.step,
			    event->metal_trace.device_id, event->metal_trace.trace_id,
			    event->metal_trace.session);
		break;
	case TT_EVENT_PLACE:
		tt_str_addf(out, " %s:%" PRIu32 " %s", event->place.file, event->place.line,
			    event->place.function ? event->place.function : "-");
		break;
	case TT_EVENT_ZONE_BEGIN:
	case TT_EVENT_ZONE_END:
		tt_str_addf(out, " %s %s %s:%" PRIu32 " %06" PRIx32,
			    event->zone.name ? event->zone.name : "-",
			    event->zone.function ? event->zone.function : "-",
			    event->zone.file ? event->zone.file : "-", event->zone.line,
			    event->zone.color);
		break;
	case TT_EVENT_THREAD:
	case TT_EVENT_KINDS:
		break;
	}
}

#endif
