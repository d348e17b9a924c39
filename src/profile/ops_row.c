/* ops_row.c: rows of performance reports and what they share. */
#include <string.h>

#include "base/mem.h"
#include "event/event.h"
#include "profile/ops_row.h"

void tt_ops_attributes_unref(struct tt_ops_attributes *attributes)
{
	if (!attributes || --attributes->refs)
		return;
	for (uint32_t i = 0; i < attributes->count; i++)
		tt_free((void *)attributes->rows[i].text);
	tt_free(attributes->rows);
	tt_free(attributes);
}

void tt_ops_program_unref(struct tt_ops_program *program)
{
	if (!program || --program->refs)
		return;
	tt_ops_attributes_unref(program->attributes);
	tt_free((void *)program->op_code);
	tt_free(program->tensors);
	tt_free(program->bandwidths);
	tt_free(program->source);
	tt_str_deinit(&program->cells);
	tt_free(program);
}

struct tt_ops_program *tt_ops_program_new(const char *op_code, struct tt_ops_attributes *attributes,
					  uint32_t inputs, uint32_t outputs)
{
	struct tt_ops_program *program = tt_calloc(1, sizeof(*program));

	if (!program) {
		tt_ops_attributes_unref(attributes);
		return NULL;
	}
	program->refs = 1;
	program->attributes = attributes;
	program->inputs = inputs;
	program->outputs = outputs;
	program->op_code = tt_strdup(op_code);
	program->tensors = tt_calloc((size_t)inputs + outputs + 1, sizeof(*program->tensors));
	if (program->op_code && program->tensors)
		return program;
	tt_ops_program_unref(program);
	return NULL;
}

/* ---- rows --------------------------------------------------------------------------------------------- */

void tt_ops_row_deinit(struct tt_ops_row *row)
{
	tt_ops_program_unref(row->program);
	tt_free(row->text);
	tt_free(row->message);
	tt_free(row->loc);
	tt_free(row->const_eval);
	tt_free(row->metadata);
	*row = (struct tt_ops_row){0};
}

static bool copy_text(char **text)
{
	if (*text)
		*text = tt_strdup(*text);
	return *text;
}

bool tt_ops_row_copy(struct tt_ops_row *out, const struct tt_ops_row *row)
{
	char **texts[] = {&out->text, &out->message, &out->loc, &out->const_eval, &out->metadata};
	bool good = true;

	*out = *row;
	if (out->program)
		out->program->refs++;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (*texts[i] && !copy_text(texts[i]))
			good = false;
	if (!good)
		tt_ops_row_deinit(out);
	return good;
}

/* ---- tensors ------------------------------------------------------------------------------------------ */

/* The last four extents; those that are not there are 1, those before are left out, as upstream does it. */
static void four(uint32_t out[4], const struct ttnn_shape *shape)
{
	for (uint32_t i = 0; i < 4; i++)
		out[i] = i + shape->rank < 4 ? 1 : shape->dim[i + shape->rank - 4];
}

void tt_ops_tensor_of(struct tt_ops_tensor *out, const struct tt_event_tensor *tensor)
{
	const struct ttnn_tensor_spec *spec = tensor->spec;

	memset(out, 0, sizeof(*out));
	out->on_device = tensor->on_device;
	out->device = (uint16_t)tensor->device_id;
	if (!spec)
		return;
	four(out->padded, &spec->padded);
	four(out->logical, &spec->shape);
	out->dtype = (uint8_t)spec->dtype;
	out->layout = (uint8_t)spec->layout;
	out->buffer = (uint8_t)spec->memory.buffer;
	out->memory_layout = (uint8_t)spec->memory.layout;
	out->bytes = spec->bytes;
	out->known = true;
}

static const char *name_of(const struct tt_enum *type, int64_t value)
{
	const char *name = tt_enum_name(type, value);

	return name ? name : "";
}

const char *tt_ops_dtype_name(const struct tt_ops_tensor *tensor)
{
	return name_of(&tt_enum_dtype, tensor->dtype);
}

const char *tt_ops_layout_name(const struct tt_ops_tensor *tensor)
{
	return name_of(&tt_enum_layout, tensor->layout);
}

const char *tt_ops_buffer_name(const struct tt_ops_tensor *tensor)
{
	return name_of(&tt_enum_buffer_type, tensor->buffer);
}

const char *tt_ops_memory_layout_name(const struct tt_ops_tensor *tensor)
{
	return name_of(&tt_enum_memory_layout, tensor->memory_layout);
}

void tt_ops_memory_text(struct tt_str *out, const struct tt_ops_tensor *tensor)
{
	if (!tensor->on_device) {
		tt_str_adds(out, "HOST");
		return;
	}
	tt_str_adds(out, "DEV_");
	tt_str_addu(out, tensor->device);
	tt_str_addc(out, '_');
	tt_str_adds(out, tt_ops_buffer_name(tensor));
	tt_str_addc(out, '_');
	tt_str_adds(out, tt_ops_memory_layout_name(tensor));
}

/* ---- places and times --------------------------------------------------------------------------------- */

/* "add" of "ttnn.add" and of "ttnn::add". */
static const char *last_part(const char *name)
{
	const char *last = name;

	for (const char *at = name; *at; at++)
		if ((*at == '.' || *at == ':') && at[1])
			last = at + 1;
	return last;
}

void tt_ops_loc_text(struct tt_str *out, const struct tt_ops_row *row)
{
	if (row->loc) {
		tt_str_adds(out, row->loc);
	} else if (row->file) {
		tt_str_adds(out, "loc(fused[\"");
		tt_str_adds(out, row->file);
		tt_str_adds(out, "\":");
		tt_str_addu(out, row->line);
		tt_str_adds(out, ":0, \"");
		tt_str_adds(out, row->name ? last_part(row->name) : "");
		tt_str_adds(out, "\"])");
	} else {
		tt_str_adds(out, "loc(unknown)");
	}
}

/* number × 1000 / by or number × by / 1000, half to even, without overflow. */
static uint64_t scale(uint64_t number, uint64_t up, uint64_t down)
{
	__extension__ typedef unsigned __int128 wide;
	wide product = (wide)number * up;
	uint64_t whole, rest;

	if (up == down)
		return number;
	/* Long divisions are slow, and rare: after half a year of nanoseconds. */
	whole = product >> 64 ? (uint64_t)(product / down) : (uint64_t)product / down;
	rest = (uint64_t)product - whole * down;

	if (rest * 2 > down || (rest * 2 == down && (whole & 1)))
		whole++;
	return whole;
}

uint64_t tt_ops_ns(uint64_t cycles, uint32_t mhz)
{
	return mhz ? scale(cycles, 1000, mhz) : 0;
}

uint64_t tt_ops_cycles(uint64_t ns, uint32_t mhz)
{
	return scale(ns, mhz, 1000);
}
