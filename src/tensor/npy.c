/* npy.c: see npy.h. */
#include "tensor/npy.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "tensor/convert.h"
#include "tensor/dtype.h"

#define MAGIC "\x93NUMPY"
#define ALIGN 64
/* Elements that are converted at a time. */
#define CHUNK 1024

/* ---- the header ------------------------------------------------------------------------------ */

struct header {
	char order; /* '<' or '>' */
	char kind;
	uint32_t bytes; /* of an element */
	bool fortran;
	struct ttnn_shape shape;
	size_t data; /* where the elements begin */
};

/* A reader of the few Python literals that headers are made of. */
struct text {
	const char *at, *end;
};

static tt_status bad(const char *what)
{
	return tt_fail(TTNN_FORMAT, "not a .npy file: %s", what);
}

static void skip_spaces(struct text *text)
{
	while (text->at < text->end && strchr(" \t\n", *text->at) && *text->at)
		text->at++;
}

/* Steps over this character, with spaces around it; false when there is another. */
static bool take(struct text *text, char c)
{
	skip_spaces(text);
	if (text->at == text->end || *text->at != c)
		return false;
	text->at++;
	skip_spaces(text);
	return true;
}

static bool take_word(struct text *text, const char *word)
{
	size_t length = strlen(word);

	if ((size_t)(text->end - text->at) < length || memcmp(text->at, word, length) != 0)
		return false;
	text->at += length;
	return true;
}

/* A string without escapes: what stands between the quotes. */
static bool take_string(struct text *out, struct text *text)
{
	char quote;

	skip_spaces(text);
	if (text->at == text->end || (*text->at != '\'' && *text->at != '"'))
		return false;
	quote = *text->at++;
	out->at = text->at;
	while (text->at < text->end && *text->at != quote && *text->at != '\\')
		text->at++;
	out->end = text->at;
	return take(text, quote);
}

static bool take_number(uint64_t *out, struct text *text)
{
	const char *begin = text->at;
	uint64_t value = 0;

	for (; text->at < text->end && *text->at >= '0' && *text->at <= '9'; text->at++)
		if (__builtin_mul_overflow(value, 10u, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(*text->at - '0'), &value))
			return false;
	if (text->at == begin)
		return false;
	if (text->at < text->end && *text->at == 'L') /* Python 2 wrote some numbers so */
		text->at++;
	*out = value;
	return true;
}

static tt_status read_descr(struct header *out, struct text *text)
{
	struct text descr;
	uint64_t bytes;

	skip_spaces(text);
	if (text->at < text->end && *text->at == '[')
		return tt_fail(TTNN_UNSUPPORTED, "structured .npy arrays hold no plain numbers");
	if (!take_string(&descr, text))
		return bad("the data type is no string");
	out->order = '<';
	if (descr.at < descr.end && strchr("<>|=", *descr.at) && *descr.at)
		out->order = *descr.at++ == '>' ? '>' : '<';
	if (descr.at == descr.end)
		return bad("the data type is empty");
	out->kind = *descr.at++;
	if (!take_number(&bytes, &descr) || descr.at != descr.end || bytes > UINT32_MAX)
		return bad("the data type is none of NumPy's");
	out->bytes = (uint32_t)bytes;
	return TTNN_OK;
}

static tt_status read_shape(struct header *out, struct text *text)
{
	bool comma = true;

	if (!take(text, '('))
		return bad("the shape is no tuple");
	while (!take(text, ')')) {
		uint64_t extent;

		if (!comma || !take_number(&extent, text))
			return bad("the shape is no tuple of numbers");
		if (out->shape.rank == TTNN_MAX_RANK || extent > UINT32_MAX)
			return bad("the shape is too large");
		out->shape.dim[out->shape.rank++] = (uint32_t)extent;
		comma = take(text, ',');
	}
	return TTNN_OK;
}

static tt_status read_dict(struct header *out, struct text *text)
{
	enum { DESCR = 1, FORTRAN = 2, SHAPE = 4, ALL = 7 };
	unsigned seen = 0, key;
	struct text name;

	if (!take(text, '{'))
		return bad("the header is no dict");
	while (!take(text, '}')) {
		if (!take_string(&name, text) || !take(text, ':'))
			return bad("the header is no dict of names");
		key = take_word(&name, "descr")           ? DESCR
		      : take_word(&name, "fortran_order") ? FORTRAN
		      : take_word(&name, "shape")         ? SHAPE
							  : 0;
		if (!key || name.at != name.end || seen & key)
			return bad("the header has another name than descr, fortran_order, shape");
		seen |= key;
		if (key == DESCR)
			TT_TRY(read_descr(out, text));
		else if (key == SHAPE)
			TT_TRY(read_shape(out, text));
		else if (take_word(text, "True"))
			out->fortran = true;
		else if (!take_word(text, "False"))
			return bad("fortran_order is neither True nor False");
		if (!take(text, ',') && (text->at == text->end || *text->at != '}'))
			return bad("the header has no comma where one must be");
	}
	if (seen != ALL || text->at != text->end)
		return bad("the header is not complete");
	return TTNN_OK;
}

static tt_status read_header(struct header *out, const uint8_t *data, size_t size)
{
	size_t length, start;
	struct text text;

	*out = (struct header){0};
	if (size < 10 || memcmp(data, MAGIC, 6) != 0)
		return bad("it does not begin with \\x93NUMPY");
	if (data[6] < 1 || data[6] > 3)
		return tt_fail(TTNN_UNSUPPORTED, ".npy version %u.%u is not known", data[6],
			       data[7]);
	start = data[6] == 1 ? 10 : 12;
	if (size < start)
		return bad("it ends in the header");
	length = (size_t)data[8] | (size_t)data[9] << 8;
	if (start == 12)
		length |= (size_t)data[10] << 16 | (size_t)data[11] << 24;
	if (length > size - start)
		return bad("it ends in the header");
	out->data = start + length;
	text = (struct text){(const char *)data + start, (const char *)data + out->data};
	return read_dict(out, &text);
}

/* ---- elements -------------------------------------------------------------------------------- */

static uint64_t load(const uint8_t *at, uint32_t bytes)
{
	uint64_t value = 0;

	memcpy(&value, at, bytes);
	return value;
}

static float from_half(uint32_t half)
{
	uint32_t exponent = half >> 10 & 31, mantissa = half & 1023;
	float value;

	if (exponent == 31) { /* infinity, or NaN with its payload */
		uint32_t bits = (half & 0x8000) << 16 | 0x7f800000 | mantissa << 13;

		memcpy(&value, &bits, 4);
		return value;
	}
	value = exponent ? ldexpf((float)(mantissa + 1024), (int)exponent - 25)
			 : ldexpf((float)mantissa, -24);
	return half & 0x8000 ? -value : value;
}

static tt_status read_f2(void *dst, const uint8_t *src, size_t count)
{
	for (size_t i = 0; i < count; i++)
		((float *)dst)[i] = from_half((uint32_t)load(src + 2 * i, 2));
	return TTNN_OK;
}

static tt_status read_f8(void *dst, const uint8_t *src, size_t count)
{
	double values[CHUNK];

	memcpy(values, src, count * sizeof(double));
	return tt_convert_from_f64(dst, TTNN_FLOAT32, values, count);
}

static tt_status read_i2(void *dst, const uint8_t *src, size_t count)
{
	for (size_t i = 0; i < count; i++)
		((int32_t *)dst)[i] = (int16_t)load(src + 2 * i, 2);
	return TTNN_OK;
}

static tt_status read_i8(void *dst, const uint8_t *src, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		int64_t value = (int64_t)load(src + 8 * i, 8);

		if (value < INT32_MIN || value > INT32_MAX)
			return tt_fail(TTNN_UNSUPPORTED,
				       "the array of int64 holds %" PRId64
				       ", which does not fit int32",
				       value);
		((int32_t *)dst)[i] = (int32_t)value;
	}
	return TTNN_OK;
}

static tt_status read_u8(void *dst, const uint8_t *src, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t value = load(src + 8 * i, 8);

		if (value > UINT32_MAX)
			return tt_fail(TTNN_UNSUPPORTED,
				       "the array of uint64 holds %" PRIu64
				       ", which does not fit uint32",
				       value);
		((uint32_t *)dst)[i] = (uint32_t)value;
	}
	return TTNN_OK;
}

static tt_status read_bool(void *dst, const uint8_t *src, size_t count)
{
	for (size_t i = 0; i < count; i++)
		((uint8_t *)dst)[i] = src[i] != 0;
	return TTNN_OK;
}

/* To read another type: one row here. The first row of a data type is how it is saved. */
struct element {
	char kind;
	uint32_t bytes;
	enum ttnn_dtype dtype;
	/* At most CHUNK elements in the order of this machine; NULL: they are as they should be. */
	tt_status (*read)(void *dst, const uint8_t *src, size_t count);
};

static const struct element elements[] = {
	{'f', 4, TTNN_FLOAT32, NULL},    {'u', 1, TTNN_UINT8, NULL},
	{'u', 2, TTNN_UINT16, NULL},     {'u', 4, TTNN_UINT32, NULL},
	{'i', 1, TTNN_INT8, NULL},       {'i', 4, TTNN_INT32, NULL},
	{'f', 2, TTNN_FLOAT32, read_f2}, {'f', 8, TTNN_FLOAT32, read_f8},
	{'i', 2, TTNN_INT32, read_i2},   {'i', 8, TTNN_INT32, read_i8},
	{'u', 8, TTNN_UINT32, read_u8},  {'b', 1, TTNN_UINT8, read_bool},
};
#define ELEMENTS (sizeof(elements) / sizeof(elements[0]))

static tt_status find_element(const struct element **out, const struct header *header)
{
	for (size_t i = 0; i < ELEMENTS; i++)
		if (elements[i].kind == header->kind && elements[i].bytes == header->bytes) {
			*out = &elements[i];
			return TTNN_OK;
		}
	return tt_fail(
		TTNN_UNSUPPORTED, "an array of type '%c%u' holds no numbers that fit a tensor",
		header->kind > ' ' && header->kind < 127 ? header->kind : '?', header->bytes);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Where in the file the next elements are: for Fortran order, as an odometer. */
struct cursor {
	const uint8_t *data;
	const struct header *header;
	uint64_t at; /* element, in C order */
	uint32_t index[TTNN_MAX_RANK];
	uint64_t stride[TTNN_MAX_RANK]; /* elements, in Fortran order */
	uint64_t offset;
};

static void cursor_init(struct cursor *cursor, const uint8_t *data, const struct header *header)
{
	uint64_t stride = 1;

	*cursor = (struct cursor){.data = data, .header = header};
	for (uint32_t d = 0; d < header->shape.rank; d++) {
		cursor->stride[d] = stride;
		stride *= header->shape.dim[d];
	}
}

static void cursor_step(struct cursor *cursor)
{
	const struct ttnn_shape *shape = &cursor->header->shape;

	for (uint32_t d = shape->rank; d-- > 0;) {
		cursor->offset += cursor->stride[d];
		if (++cursor->index[d] < shape->dim[d])
			return;
		cursor->offset -= cursor->stride[d] * shape->dim[d];
		cursor->index[d] = 0;
	}
}

/* The next `count` elements in C order and the byte order of this machine. */
static void cursor_read(uint8_t *out, struct cursor *cursor, size_t count)
{
	uint32_t bytes = cursor->header->bytes;

	if (!cursor->header->fortran)
		memcpy(out, cursor->data + cursor->at * bytes, count * bytes);
	else
		for (size_t i = 0; i < count; i++, cursor_step(cursor))
			memcpy(out + i * bytes, cursor->data + cursor->offset * bytes, bytes);
	cursor->at += count;
	if (cursor->header->order == '>')
		for (size_t i = 0; i < count; i++)
			for (uint32_t b = 0; b < bytes / 2; b++) {
				uint8_t *low = out + i * bytes + b;
				uint8_t *high = out + i * bytes + bytes - 1 - b, swap = *low;

				*low = *high;
				*high = swap;
			}
}

static tt_status read_elements(uint8_t *dst, const uint8_t *src, const struct header *header,
			       const struct element *element, uint64_t count)
{
	_Alignas(8) uint8_t chunk[CHUNK * 8];
	uint32_t bytes = tt_dtype_bytes(element->dtype);
	struct cursor cursor;

	cursor_init(&cursor, src, header);
	while (cursor.at < count) {
		size_t n = count - cursor.at < CHUNK ? (size_t)(count - cursor.at) : CHUNK;
		uint8_t *to = dst + cursor.at * bytes;

		if (!element->read) {
			cursor_read(to, &cursor, n);
			continue;
		}
		cursor_read(chunk, &cursor, n);
		TT_TRY(element->read(to, chunk, n));
	}
	return TTNN_OK;
}

tt_status tt_npy_read(ttnn_tensor **out, const void *data, size_t size, struct tt_mapping *mapping)
{
	const struct element *element = NULL;
	struct ttnn_tensor_spec spec;
	struct tt_storage *storage = NULL;
	struct header header;
	uint64_t count, bytes;
	tt_status status;

	TT_TRY(read_header(&header, data, size));
	TT_TRY(find_element(&element, &header));
	TT_TRY(ttnn_shape_volume(&count, &header.shape));
	if (__builtin_mul_overflow(count, header.bytes, &bytes) || bytes > size - header.data)
		return tt_fail(TTNN_FORMAT,
			       "the .npy file ends too early: %" PRIu64
			       " elements of %u bytes, %zu bytes left",
			       count, header.bytes, size - header.data);
	TT_TRY(ttnn_tensor_spec_make(
		&spec, &(struct ttnn_spec_args){.shape = header.shape, .dtype = element->dtype}));
	if (mapping && !element->read && !header.fortran && header.order == '<') {
		TT_TRY(tt_storage_new_mapped(&storage, mapping, header.data, bytes));
		return tt_tensor_wrap(out, &spec, storage, NULL);
	}
	TT_TRY(tt_storage_new(&storage, spec.bytes));
	status = read_elements(storage->data, (const uint8_t *)data + header.data, &header, element,
			       count);
	if (status == TTNN_OK)
		return tt_tensor_wrap(out, &spec, storage, NULL);
	tt_storage_unref(storage);
	return status;
}

enum ttnn_status ttnn_npy_load(ttnn_tensor **out, const char *path)
{
	struct tt_mapping *mapping;
	const struct tt_file_map *map;
	tt_status status;

	TT_TRY(tt_mapping_new(&mapping, path));
	map = tt_mapping_get(mapping);
	status = tt_npy_read(out, map->data, map->size, mapping);
	tt_mapping_unref(mapping);
	return status == TTNN_OK ? TTNN_OK : tt_fail_prefix(status, "%s", path);
}

/* ---- writing --------------------------------------------------------------------------------- */

/* The bytes before the elements, the same as NumPy writes (which leaves room to grow axis 0). */
static void write_header(struct tt_str *str, const struct element *element,
			 const struct ttnn_shape *shape)
{
	struct tt_str dict = {0};
	char digits[16];
	size_t start = 10, pad, length;

	tt_str_addf(&dict, "{'descr': '%c%c%u', 'fortran_order': False, 'shape': (",
		    element->bytes == 1 ? '|' : '<', element->kind, element->bytes);
	for (uint32_t d = 0; d < shape->rank; d++)
		tt_str_addf(&dict, d ? ", %" PRIu32 : "%" PRIu32, shape->dim[d]);
	tt_str_adds(&dict, shape->rank == 1 ? ",), }" : "), }");
	if (shape->rank)
		for (int n = snprintf(digits, sizeof(digits), "%" PRIu32, shape->dim[0]); n < 21;
		     n++)
			tt_str_addc(&dict, ' ');
	for (pad = -(start + dict.length + 1) % ALIGN; pad > 0; pad--)
		tt_str_addc(&dict, ' ');
	tt_str_addc(&dict, '\n');
	length = dict.length; /* at most 32 extents: far below 65,536 */
	tt_str_add(str, MAGIC "\x01", 8);
	tt_str_addc(str, (char)(length & 255));
	tt_str_addc(str, (char)(length >> 8));
	tt_str_add(str, tt_str_text(&dict), length);
	str->failed |= dict.failed;
	tt_str_deinit(&dict);
}

/* Writes the elements of a tensor that must be converted first. */
static tt_status write_converted(struct tt_file_out *file, const ttnn_tensor *tensor,
				 const struct element *element)
{
	uint64_t count;
	void *rows;
	tt_status status;

	TT_TRY(ttnn_shape_volume(&count, &tensor->spec.shape));
	if (count > SIZE_MAX / 8)
		return tt_fail_nomem();
	rows = tt_alloc((size_t)count * element->bytes);
	if (!rows)
		return tt_fail_nomem();
	status = ttnn_tensor_to_data(rows, (size_t)count * element->bytes, element->dtype, tensor);
	if (status == TTNN_OK)
		tt_file_write(file, rows, (size_t)count * element->bytes);
	tt_free(rows);
	return status;
}

static tt_status write_npy(struct tt_file_out *file, const ttnn_tensor *tensor)
{
	const struct ttnn_tensor_spec *spec = &tensor->spec;
	const struct element *element = &elements[0]; /* float32 holds what has no row */
	struct tt_str header = {0};
	tt_status status;

	for (size_t i = ELEMENTS; i-- > 0;)
		if (elements[i].dtype == spec->dtype)
			element = &elements[i];
	write_header(&header, element, &spec->shape);
	status = tt_str_status(&header);
	if (status == TTNN_OK) {
		tt_file_write(file, header.data, header.length);
		if (element->dtype == spec->dtype && spec->layout == TTNN_ROW_MAJOR &&
		    ttnn_shape_equal(&spec->shape, &spec->padded))
			tt_file_write(file, tensor->storage->data, (size_t)spec->bytes);
		else
			status = write_converted(file, tensor, element);
	}
	tt_str_deinit(&header);
	return status;
}

enum ttnn_status ttnn_npy_save(const char *path, const ttnn_tensor *tensor)
{
	struct tt_file_out *file;
	tt_status status;

	TT_TRY(tt_tensor_need_host(tensor, "saving as .npy"));
	TT_TRY(tt_file_create(&file, path));
	status = write_npy(file, tensor);
	if (status != TTNN_OK) {
		tt_file_discard(file);
		return tt_fail_prefix(status, "%s", path);
	}
	return tt_file_commit(file);
}
