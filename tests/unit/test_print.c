/*
 * test_print.c: tensors print as recorded from tt-metal's ttnn and from torch: tests/data/print,
 * made by record.py there.
 */
#include "test.h"

#include "base/json.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

/* As value() of record.py. */
static double value(int64_t i, const char *kind)
{
	static const double special[] = {0.0,       -0.0,  1.0,      NAN, INFINITY,
					 -INFINITY, 1e-10, 123456.0, -2.5};
	int64_t v = (i * 7919 + 13) % 2003 - 1001;

	if (strcmp(kind, "ramp") == 0)
		return (double)i;
	if (strcmp(kind, "mixed") == 0)
		return (double)v / 64;
	if (strcmp(kind, "wide") == 0)
		return ldexp((double)v, 3 * (int)(i % 9 - 4));
	if (strcmp(kind, "small") == 0)
		return (double)v / 1e9;
	if (strcmp(kind, "large") == 0)
		return (double)v * 1e7;
	if (strcmp(kind, "whole") == 0)
		return (double)v;
	if (strcmp(kind, "special") == 0)
		return special[i % 9];
	if (strcmp(kind, "nan") == 0)
		return NAN;
	if (strcmp(kind, "few") == 0)
		return (double)(i % 3 - 1);
	if (strcmp(kind, "one") == 0)
		return i == 0 ? (double)v / 64 : 0;
	return 0;
}

static double integer(int64_t i, enum ttnn_dtype dtype)
{
	uint32_t bits = 8 * tt_dtype_bytes(dtype);
	int64_t range = (int64_t)1 << bits;
	bool is_signed = dtype == TTNN_INT32 || dtype == TTNN_INT8;

	return (double)(i * 2654435761 % range - (is_signed ? range / 2 : 0));
}

static struct ttnn_shape shape_of(const struct tt_json *list)
{
	struct tt_json_iter it = tt_json_iter(list);
	struct ttnn_shape shape = {0};
	uint64_t extent = 0;

	while (tt_json_next(&it) && tt_json_uint(&extent, it.value))
		shape.dim[shape.rank++] = (uint32_t)extent;
	return shape;
}

static const char *text_of(const struct tt_json *row, const char *key)
{
	const char *text = tt_json_string(tt_json_get(row, key), NULL);

	return text ? text : "";
}

static uint32_t number_of(const struct tt_json *row, const char *key)
{
	uint64_t value = 0;

	(void)tt_json_uint(&value, tt_json_get(row, key));
	return (uint32_t)value;
}

static ttnn_tensor *make(const struct tt_json *row)
{
	struct ttnn_spec_args args = {.shape = shape_of(tt_json_get(row, "shape"))};
	struct ttnn_shape padded = shape_of(tt_json_get(row, "padded"));
	ttnn_tensor *tensor = NULL, *more = NULL;
	struct ttnn_tensor_spec spec;
	static uint32_t data[4096];
	uint64_t count = 0;
	enum ttnn_dtype from;

	CHECK_OK(ttnn_dtype_find(&args.dtype, text_of(row, "dtype")));
	args.layout = strcmp(text_of(row, "layout"), "TILE") == 0 ? TTNN_TILE : TTNN_ROW_MAJOR;
	CHECK_OK(ttnn_tensor_spec_make(&spec, &args));
	CHECK_OK(ttnn_shape_volume(&count, &args.shape));
	from = tt_dtype_is_integer(args.dtype) ? args.dtype : TTNN_FLOAT32;
	for (uint64_t i = 0; i < count; i++) {
		double v = from == TTNN_FLOAT32 ? value((int64_t)i, text_of(row, "values"))
						: integer((int64_t)i, args.dtype);

		if (from == TTNN_FLOAT32)
			((float *)data)[i] = (float)v;
		else if (tt_dtype_bytes(from) == 4)
			data[i] = (uint32_t)(int64_t)v;
		else if (tt_dtype_bytes(from) == 2)
			((uint16_t *)data)[i] = (uint16_t)v;
		else
			((uint8_t *)data)[i] = (uint8_t)(int64_t)v;
	}
	CHECK_OK(ttnn_tensor_from_data(&tensor, data, from, &spec, 0));
	if (padded.rank) {
		double pad = 0;

		CHECK(tt_json_real(&pad, tt_json_get(row, "pad")));
		CHECK_OK(ttnn_tensor_pad(&more, tensor, &padded, NULL, pad));
		ttnn_tensor_unref(tensor);
		tensor = more;
	}
	return tensor;
}

static ttnn_tensor *load(const char *name)
{
	ttnn_tensor *tensor = NULL;
	char path[256];

	snprintf(path, sizeof(path), "tests/data/host/%s.tensorbin", name);
	CHECK_OK(ttnn_tensor_load(&tensor, path));
	return tensor;
}

static struct ttnn_print_options options_of(const struct tt_json *row)
{
	struct ttnn_print_options options = {
		.threshold = number_of(row, "threshold"),
		.edge_items = number_of(row, "edge"),
		.line_width = number_of(row, "width"),
		.precision = number_of(row, "precision"),
	};
	const char *sci = text_of(row, "sci"), *profile = text_of(row, "profile");

	if (!options.precision)
		options.precision = TTNN_PRINT_NO_DIGITS;
	if (strcmp(text_of(row, "dialect"), "tt-metal") == 0)
		options.dialect = TTNN_DIALECT_TT_METAL;
	if (strcmp(sci, "auto") != 0)
		options.sci = strcmp(sci, "on") == 0 ? TTNN_SCI_ON : TTNN_SCI_OFF;
	if (strcmp(profile, "full") == 0)
		options.profile = TTNN_PRINT_FULL;
	if (strcmp(profile, "empty") == 0)
		options.profile = TTNN_PRINT_EMPTY;
	return options;
}

static void check_row(const struct tt_json *row, int number)
{
	const char *want = text_of(row, "text"), *file = text_of(row, "file");
	struct ttnn_print_options options = options_of(row);
	ttnn_tensor *tensor = *file ? load(file) : make(row);
	char *text = NULL;

	CHECK_OK(ttnn_tensor_text(&text, tensor, &options));
	if (text && options.dialect == TTNN_DIALECT_TT_METAL && strcmp(text, want) != 0)
		TEST_FAIL("case %d prints\n%s\nnot\n%s", number, text, want);
	/* Of the seed dialect the values were recorded; our own words follow them. */
	if (text && options.dialect == TTNN_DIALECT_SEED &&
	    (strncmp(text, "ttnn.Tensor(", 12) != 0 ||
	     strncmp(text + 12, want, strlen(want)) != 0 || text[12 + strlen(want)] != ','))
		TEST_FAIL("case %d prints\n%s\nnot\nttnn.Tensor(%s", number, text, want);
	ttnn_free(text);
	ttnn_tensor_unref(tensor);
}

TEST(as_recorded)
{
	struct tt_json_doc *doc = NULL;
	struct tt_json_iter it;
	int rows = 0;

	CHECK_OK(tt_json_load(&doc, "tests/data/print/print.json.gz"));
	if (!doc)
		return;
	it = tt_json_iter(tt_json_root(doc));
	for (; tt_json_next(&it); rows++)
		check_row(it.value, rows);
	CHECK_INT(rows, 379);
	tt_json_free(doc);
}

static char *print(struct ttnn_shape shape, enum ttnn_dtype dtype,
		   const struct ttnn_print_options *options)
{
	struct ttnn_tensor_spec spec;
	ttnn_tensor *tensor = NULL;
	char *text = NULL;
	float data[64];

	for (int i = 0; i < 64; i++)
		data[i] = (float)i / 2;
	CHECK_OK(ttnn_tensor_spec_make(
		&spec,
		&(struct ttnn_spec_args){.shape = shape, .dtype = dtype, .layout = TTNN_TILE}));
	CHECK_OK(ttnn_tensor_from_data(&tensor, data, TTNN_FLOAT32, &spec, 0));
	CHECK_OK(ttnn_tensor_text(&text, tensor, options));
	ttnn_tensor_unref(tensor);
	return text;
}

TEST(what_follows_the_values)
{
	struct ttnn_print_options narrow = {.line_width = 40}, none = {.profile = TTNN_PRINT_EMPTY};
	char *text = print(TT_SHAPE(2, 3), TTNN_BFLOAT16, NULL);

	CHECK_STR(text, "ttnn.Tensor([[0.0000, 0.5000, 1.0000],\n"
			"             [1.5000, 2.0000, 2.5000]], shape=[2, 3], dtype=bfloat16,\n"
			"            layout=TILE)");
	ttnn_free(text);
	text = print(TT_SHAPE(4), TTNN_INT32, &narrow);
	CHECK_STR(text, "ttnn.Tensor([0, 0, 1, 1], shape=[4],\n"
			"            dtype=int32, layout=TILE)");
	ttnn_free(text);
	text = print(TT_SHAPE(0, 4), TTNN_BFLOAT8_B, NULL);
	CHECK_STR(text, "ttnn.Tensor([], shape=[0, 4], dtype=bfloat8_b, layout=TILE)");
	ttnn_free(text);
	text = print(TT_SHAPE(2, 4), TTNN_FLOAT32, &none);
	CHECK_STR(text, "ttnn.Tensor(..., shape=[2, 4], dtype=float32, layout=TILE)");
	ttnn_free(text);
}

/* Block floats are read tile by tile when few of many are shown; the text must be the same. */
TEST(summaries_of_block_floats)
{
	struct ttnn_spec_args args = {.shape = TT_SHAPE(70, 90), .layout = TTNN_TILE};
	static float data[70 * 90];
	char *text[2] = {NULL, NULL};

	for (int i = 0; i < 70 * 90; i++)
		data[i] = (float)(i % 13);
	for (int k = 0; k < 2; k++) {
		struct ttnn_tensor_spec spec;
		ttnn_tensor *tensor = NULL;

		args.dtype = k ? TTNN_FLOAT32 : TTNN_BFLOAT8_B;
		CHECK_OK(ttnn_tensor_spec_make(&spec, &args));
		CHECK_OK(ttnn_tensor_from_data(&tensor, data, TTNN_FLOAT32, &spec, 0));
		CHECK_OK(ttnn_tensor_text(&text[k], tensor, NULL));
		ttnn_tensor_unref(tensor);
	}
	CHECK(text[0] && strstr(text[0], "..."));
	CHECK(text[0] && text[1] &&
	      strncmp(text[0], text[1], (size_t)(strstr(text[0], "dtype") - text[0])) == 0);
	ttnn_free(text[0]);
	ttnn_free(text[1]);
}

TEST(too_many_digits)
{
	ttnn_tensor *tensor = load("rows_rank1");
	char *text = NULL;

	CHECK_FAILS(ttnn_tensor_text(&text, tensor, &(struct ttnn_print_options){.precision = 101}),
		    TTNN_INVALID, "101 digits");
	CHECK_OK(ttnn_tensor_text(&text, tensor, &(struct ttnn_print_options){.precision = 100}));
	ttnn_free(text);
	ttnn_tensor_unref(tensor);
}

static tt_status print_file(const char *path, const struct ttnn_print_options *options)
{
	ttnn_tensor *tensor = NULL;
	char *text = NULL;
	tt_status status = ttnn_tensor_load(&tensor, path);

	if (status == TTNN_OK)
		status = ttnn_tensor_text(&text, tensor, options);
	ttnn_free(text);
	ttnn_tensor_unref(tensor);
	return status;
}

SCENARIO(printing)
{
	struct ttnn_print_options metal = {.dialect = TTNN_DIALECT_TT_METAL};

	TT_TRY(print_file("tests/data/host/mesh_rows.tensorbin", NULL));
	TT_TRY(print_file("tests/data/host/tile_bfloat8_b.tensorbin", &metal));
	return print_file("tests/data/host/tile_bfloat4_b.tensorbin", NULL);
}
