/*
 * print.c: tensors as text.
 *
 * The seed dialect prints as torch does: columns as wide as the widest number shown, whole numbers
 * as "3.", lines of at most line_width, the middle of long dimensions left out when there are more
 * than `threshold` elements. The tt-metal dialect prints as tt-metal does: fixed widths, the middle
 * of every dimension of more than four left out. (Where 0.81.1 shows padding, behind the first plane
 * of padded tiles, we show the elements.)
 *
 * Both choose the scientific notation by the same rule, over the numbers they show (seed) or over
 * all that are stored (tt-metal).
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"
#include "tensor/convert.h"
#include "tensor/dtype.h"
#include "tensor/layout.h"
#include "tensor/shape.h"
#include "tensor/tensor.h"

#define PREFIX "ttnn.Tensor("

struct printer {
	struct tt_str str;
	struct ttnn_print_options options;
	struct tt_area area;
	void *rows; /* the elements as float32 when the area is not the tensor's own */
	bool integer, sci;
	bool summary; /* dimensions of more than 2 × edge show their ends only */
	uint32_t edge;
	/* the seed dialect: */
	TT_VEC(double) shown; /* in the order of printing */
	size_t next;
	bool whole; /* all shown are whole numbers, of a floating-point type */
	int width;
};

/* How large the numbers are that are neither zero nor infinite nor NaN. */
struct range {
	double least, most;
	bool any, whole;
};

static void range_add(struct range *range, double value)
{
	double size = fabs(value);

	if (!isfinite(value) || value == 0)
		return;
	if (!range->any || size < range->least)
		range->least = size;
	if (!range->any || size > range->most)
		range->most = size;
	range->any = true;
	range->whole &= value == ceil(value);
}

static bool choose_sci(const struct printer *printer, const struct range *range)
{
	if (printer->options.sci != TTNN_SCI_AUTO)
		return printer->options.sci == TTNN_SCI_ON;
	return range->any &&
	       (range->most / range->least > 1000 || range->most > 1e8 || range->least < 1e-4);
}

static uint32_t extent_of(const struct printer *printer, uint32_t d)
{
	return printer->area.shape.dim[d];
}

/* The index after `i`; leaves the middle out. *gap tells that it did. */
static uint32_t next_index(const struct printer *printer, uint32_t d, uint32_t i, bool *gap)
{
	uint32_t extent = extent_of(printer, d);

	*gap = printer->summary && extent > 2 * printer->edge && i + 1 == printer->edge;
	return *gap ? extent - printer->edge : i + 1;
}

/* ---- tt-metal ------------------------------------------------------------------------------ */

static int digits(const struct printer *printer)
{
	return printer->options.precision == TTNN_PRINT_NO_DIGITS ? 0
								  : (int)printer->options.precision;
}

static tt_status metal_element(struct printer *printer, const uint32_t *index)
{
	double value = 0;

	TT_TRY(tt_area_get(&value, &printer->area, index));
	if (printer->integer)
		tt_str_addf(&printer->str, "%5" PRId64, (int64_t)value);
	else if (printer->sci)
		tt_str_addf(&printer->str, "%*.*e", digits(printer) + 7, digits(printer), value);
	else
		tt_str_addf(&printer->str, "%*.*f", digits(printer) + 3, digits(printer), value);
	return TTNN_OK;
}

static void indent(struct tt_str *str, size_t spaces)
{
	while (spaces-- > 0)
		tt_str_addc(str, ' ');
}

/* Dimension d at the given index of the outer ones. */
static tt_status metal_dimension(struct printer *printer, uint32_t *index, uint32_t d)
{
	uint32_t rank = printer->area.shape.rank, extent = extent_of(printer, d), i = 0;
	const char *after = d + 1 == rank ? " " : d + 2 == rank ? "\n" : "\n\n";
	bool gap;

	tt_str_addc(&printer->str, '[');
	while (i < extent) {
		index[d] = i;
		if (d + 1 == rank) {
			TT_TRY(metal_element(printer, index));
		} else {
			if (i > 0)
				indent(&printer->str, strlen(PREFIX) + d + 1);
			TT_TRY(metal_dimension(printer, index, d + 1));
		}
		if (i + 1 < extent)
			tt_str_addf(&printer->str, ",%s", after);
		i = next_index(printer, d, i, &gap);
		if (gap) {
			indent(&printer->str, d + 1 == rank ? 1 : strlen(PREFIX) + d + 1);
			tt_str_addf(&printer->str, "...,%s", after);
		}
	}
	tt_str_addc(&printer->str, ']');
	return TTNN_OK;
}

/* Of rows every stored number counts, padding too. */
static tt_status range_of_rows(struct range *out, const struct tt_area *area)
{
	uint64_t count = area->rows * area->cols;
	double values[256];

	for (uint64_t i = 0, n; i < count; i += n) {
		n = count - i < 256 ? count - i : 256;
		TT_TRY(tt_convert_to_f64(
			values, (const uint8_t *)area->data + i * tt_dtype_bytes(area->dtype),
			area->dtype, (size_t)n));
		for (uint64_t k = 0; k < n; k++)
			range_add(out, values[k]);
	}
	return TTNN_OK;
}

/* Of tiles, the elements. */
static tt_status range_of_tiles(struct range *out, const struct tt_area *area)
{
	uint32_t index[TTNN_MAX_RANK] = {0}, d;
	double value = 0;

	for (d = 0; d < area->shape.rank; d++)
		if (!area->shape.dim[d])
			return TTNN_OK;
	do {
		TT_TRY(tt_area_get(&value, area, index));
		range_add(out, value);
		for (d = area->shape.rank; d > 0 && ++index[d - 1] == area->shape.dim[d - 1]; d--)
			index[d - 1] = 0;
	} while (d > 0);
	return TTNN_OK;
}

static tt_status metal_text(struct printer *printer, const struct ttnn_tensor_spec *spec)
{
	uint32_t index[TTNN_MAX_RANK] = {0};
	struct range range = {0};
	struct tt_str *str = &printer->str;

	printer->edge = 2;
	printer->summary = printer->options.profile == TTNN_PRINT_SHORT;
	tt_str_adds(str, PREFIX);
	if (printer->options.profile == TTNN_PRINT_EMPTY) {
		tt_str_adds(str, "...");
	} else {
		if (!printer->integer && printer->options.sci == TTNN_SCI_AUTO)
			TT_TRY(printer->area.tile.height ? range_of_tiles(&range, &printer->area)
							 : range_of_rows(&range, &printer->area));
		printer->sci = choose_sci(printer, &range);
		if (spec->shape.rank)
			TT_TRY(metal_dimension(printer, index, 0));
		else
			TT_TRY(metal_element(printer, index));
	}
	tt_str_adds(str, ", shape=Shape(");
	tt_shape_list(str, &spec->shape);
	tt_str_addf(str, "), dtype=DataType::%s, layout=Layout::%s)",
		    ttnn_dtype_name(spec->dtype, TTNN_DIALECT_TT_METAL),
		    spec->layout == TTNN_TILE ? "TILE" : "ROW_MAJOR");
	return TTNN_OK;
}

/* ---- seed ---------------------------------------------------------------------------------- */

/* Collects what will be shown, in order. */
static tt_status collect(struct printer *printer, uint32_t *index, uint32_t d)
{
	double *value;
	bool gap;

	if (d == printer->area.shape.rank) {
		value = TT_VEC_PUSH(&printer->shown);
		return value ? tt_area_get(value, &printer->area, index) : tt_fail_nomem();
	}
	for (uint32_t i = 0; i < extent_of(printer, d); i = next_index(printer, d, i, &gap)) {
		index[d] = i;
		TT_TRY(collect(printer, index, d + 1));
	}
	return TTNN_OK;
}

static int format(char *out, size_t room, const struct printer *printer, double value)
{
	int precision = digits(printer);

	if (printer->integer)
		return snprintf(out, room, "%" PRId64, (int64_t)value);
	if (printer->sci)
		return snprintf(out, room, "%.*e", precision, value);
	if (printer->whole)
		return snprintf(out, room, isfinite(value) ? "%.0f." : "%.0f", value);
	return snprintf(out, room, "%.*f", precision, value);
}

/* Chooses notation and width by all that is shown. Zeros alone need but one column. */
static void measure(struct printer *printer)
{
	struct range range = {.whole = true};
	int width;

	for (size_t i = 0; i < printer->shown.count; i++)
		range_add(&range, printer->shown.data[i]);
	printer->width = 1;
	printer->whole = range.whole;
	if (!printer->integer) {
		if (!range.any)
			return;
		printer->sci = choose_sci(printer, &range);
	}
	for (size_t i = 0; i < printer->shown.count; i++) {
		double value = printer->shown.data[i];

		/* Zeros, infinities and NaN among others do not widen the columns. */
		if (!printer->integer && (!isfinite(value) || value == 0))
			continue;
		width = format(NULL, 0, printer, value);
		printer->width = width > printer->width ? width : printer->width;
	}
}

static void seed_element(struct printer *printer)
{
	double value = printer->shown.data[printer->next++];
	char text[512];
	int length = format(text, sizeof(text), printer, value);

	if (length >= (int)sizeof(text))
		length = (int)sizeof(text) - 1;
	indent(&printer->str, length < printer->width ? (size_t)(printer->width - length) : 0);
	tt_str_add(&printer->str, text, (size_t)length);
}

/* The innermost dimension: as many on a line as the line takes. */
static void seed_row(struct printer *printer, uint32_t d)
{
	size_t left = strlen(PREFIX) + d + 1, column = 0, per_line = 1;
	uint32_t extent = extent_of(printer, d), i = 0;
	size_t one = (size_t)printer->width + 2, line = printer->options.line_width;
	bool gap = false;

	if (line > left - 1 && (line - left + 1) / one > 1)
		per_line = (line - left + 1) / one;
	tt_str_addc(&printer->str, '[');
	while (i < extent) {
		if (gap)
			tt_str_adds(&printer->str, " ...");
		else
			seed_element(printer);
		if (gap)
			gap = false;
		else
			i = next_index(printer, d, i, &gap);
		if (i < extent && ++column % per_line) {
			tt_str_adds(&printer->str, ", ");
		} else if (i < extent) {
			tt_str_adds(&printer->str, ",\n");
			indent(&printer->str, left);
		}
	}
	tt_str_addc(&printer->str, ']');
}

static void seed_dimension(struct printer *printer, uint32_t d)
{
	uint32_t rank = printer->area.shape.rank, i = 0;
	bool gap;

	if (d + 1 == rank) {
		seed_row(printer, d);
		return;
	}
	tt_str_addc(&printer->str, '[');
	while (i < extent_of(printer, d)) {
		seed_dimension(printer, d + 1);
		i = next_index(printer, d, i, &gap);
		for (int part = gap ? 0 : 1; part < 2 && i < extent_of(printer, d); part++) {
			tt_str_addc(&printer->str, ',');
			for (uint32_t n = d + 1; n < rank; n++)
				tt_str_addc(&printer->str, '\n');
			indent(&printer->str, strlen(PREFIX) + d + 1);
			if (part == 0)
				tt_str_adds(&printer->str, "...");
		}
	}
	tt_str_addc(&printer->str, ']');
}

/* ", key=value" on this line if it fits. */
static void seed_suffix(struct printer *printer, const char *key, const char *value)
{
	const char *text = tt_str_text(&printer->str), *line = strrchr(text, '\n');
	size_t column = strlen(line ? line + 1 : text);

	if (column + strlen(key) + strlen(value) + 4 > printer->options.line_width) {
		tt_str_adds(&printer->str, ",\n");
		indent(&printer->str, strlen(PREFIX));
	} else {
		tt_str_adds(&printer->str, ", ");
	}
	tt_str_addf(&printer->str, "%s=%s", key, value);
}

static tt_status seed_values(struct printer *printer, uint64_t volume)
{
	uint32_t index[TTNN_MAX_RANK] = {0};

	if (printer->options.profile == TTNN_PRINT_EMPTY) {
		tt_str_adds(&printer->str, "...");
		return TTNN_OK;
	}
	if (volume == 0) {
		tt_str_adds(&printer->str, "[]");
		return TTNN_OK;
	}
	printer->edge = printer->options.edge_items;
	printer->summary =
		printer->options.profile == TTNN_PRINT_SHORT && volume > printer->options.threshold;
	TT_TRY(collect(printer, index, 0));
	measure(printer);
	if (printer->area.shape.rank)
		seed_dimension(printer, 0);
	else
		seed_element(printer);
	return TTNN_OK;
}

static tt_status seed_text(struct printer *printer, const struct ttnn_tensor_spec *spec)
{
	struct tt_str shape = {0};
	uint64_t volume;

	TT_TRY(ttnn_shape_volume(&volume, &spec->shape));
	tt_str_adds(&printer->str, PREFIX);
	TT_TRY(seed_values(printer, volume));
	tt_shape_list(&shape, &spec->shape);
	seed_suffix(printer, "shape", tt_str_text(&shape));
	seed_suffix(printer, "dtype", ttnn_dtype_name(spec->dtype, TTNN_DIALECT_SEED));
	seed_suffix(printer, "layout", spec->layout == TTNN_TILE ? "TILE" : "ROW_MAJOR");
	tt_str_addc(&printer->str, ')');
	printer->str.failed |= shape.failed;
	tt_str_deinit(&shape);
	return TTNN_OK;
}

/* ---- tensors ------------------------------------------------------------------------------- */

static uint32_t or_default(uint32_t value, uint32_t fallback)
{
	return value ? value : fallback;
}

/* Decodes block floats once when that is less work than a tile for every element. */
static tt_status choose_area(struct printer *printer, const ttnn_tensor *shard)
{
	const struct ttnn_tensor_spec *spec = &shard->spec;
	uint64_t volume;

	printer->area = tt_area_of(shard->storage->data, spec);
	if (!tt_dtype_is_block(spec->dtype) || printer->options.profile == TTNN_PRINT_EMPTY)
		return TTNN_OK;
	TT_TRY(ttnn_shape_volume(&volume, &spec->shape));
	if (printer->options.dialect == TTNN_DIALECT_SEED &&
	    printer->options.profile == TTNN_PRINT_SHORT && volume > printer->options.threshold)
		return TTNN_OK;
	printer->rows = tt_calloc((size_t)volume, sizeof(float));
	if (!printer->rows)
		return tt_fail_nomem();
	printer->area = tt_area_rows(printer->rows, &spec->shape, TTNN_FLOAT32);
	return ttnn_tensor_to_data(printer->rows, (size_t)volume * sizeof(float), TTNN_FLOAT32,
				   shard);
}

static tt_status print_shard(struct printer *printer, const ttnn_tensor *tensor, size_t index)
{
	ttnn_tensor *shard;
	tt_status status;

	TT_TRY(ttnn_tensor_shard(&shard, tensor, index));
	status = tt_tensor_need_host(shard, "printing");
	if (status == TTNN_OK)
		status = choose_area(printer, shard);
	if (status == TTNN_OK)
		status = printer->options.dialect == TTNN_DIALECT_SEED
				 ? seed_text(printer, &shard->spec)
				 : metal_text(printer, &shard->spec);
	tt_free(printer->rows);
	printer->rows = NULL;
	printer->shown.count = printer->next = 0;
	ttnn_tensor_unref(shard);
	return status;
}

enum ttnn_status ttnn_tensor_text(char **out, const ttnn_tensor *tensor,
				  const struct ttnn_print_options *options)
{
	struct printer printer = {.integer = tt_dtype_is_integer(tensor->spec.dtype)};
	struct ttnn_print_options *o = &printer.options;
	tt_status status = TTNN_OK;

	if (options)
		*o = *options;
	o->threshold = or_default(o->threshold, 1000);
	o->edge_items = or_default(o->edge_items, 3);
	o->precision = or_default(o->precision, 4);
	o->line_width = or_default(o->line_width, 80);
	if (o->precision != TTNN_PRINT_NO_DIGITS && o->precision > 100)
		return tt_fail(TTNN_INVALID, "%u digits behind the point are too many",
			       o->precision);
	for (size_t i = 0; i < ttnn_tensor_shard_count(tensor) && status == TTNN_OK; i++) {
		if (i > 0)
			tt_str_addc(&printer.str, '\n');
		status = print_shard(&printer, tensor, i);
	}
	TT_VEC_DEINIT(&printer.shown);
	if (status == TTNN_OK)
		return tt_str_take(out, &printer.str);
	tt_str_deinit(&printer.str);
	return status;
}
