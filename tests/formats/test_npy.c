/*
 * test_npy.c: .npy files made by NumPy (tests/data/npy, see record.py there) are read as what they
 * are, ours are the same as NumPy's, and bad ones are refused. Where python3 has NumPy, it is asked
 * as well.
 */
#include "test.h"

#include "base/file.h"
#include "base/json.h"
#include "tensor/npy.h"
#include "tensor/shape.h"

#define DATA "tests/data/npy"
#define SCRATCH test_path("x.npy")

/* As value() of record.py, with Python's remainder. */
static double value(int64_t i, char kind)
{
	int64_t v = (i * 7919 + 13) % 2003 - 1001;

	switch (kind) {
	case 'f':
		return (double)v / 64;
	case 'b':
		return v != 0 && v % 3 == 0;
	case 'u':
		return (double)((v % 100 + 100) % 100);
	default:
		return (double)((v % 200 + 200) % 200 - 100);
	}
}

static bool shape_is(const struct ttnn_shape *shape, const struct tt_json *list)
{
	struct tt_json_iter it = tt_json_iter(list);
	uint64_t extent;
	uint32_t d = 0;

	while (tt_json_next(&it))
		if (d == shape->rank || !tt_json_uint(&extent, it.value) ||
		    extent != shape->dim[d++])
			return false;
	return d == shape->rank;
}

static bool same_file(const char *path, const char *other)
{
	size_t a = 0, b = 1;
	char *x = NULL, *y = NULL;
	bool same;

	CHECK_OK(tt_file_read(&x, &a, path));
	CHECK_OK(tt_file_read(&y, &b, other));
	same = x && y && a == b && memcmp(x, y, a) == 0;
	tt_free(x);
	tt_free(y);
	return same;
}

static void check_file(const struct tt_json *row)
{
	const char *name = tt_json_string(tt_json_get(row, "file"), NULL);
	const char *kind = tt_json_string(tt_json_get(row, "kind"), NULL);
	const struct ttnn_tensor_spec *spec;
	ttnn_tensor *tensor = NULL;
	enum ttnn_dtype dtype = 0;
	uint64_t count = 0;
	bool same = false;
	char path[256];
	float values[64];

	snprintf(path, sizeof(path), DATA "/%s.npy", name);
	CHECK_OK(ttnn_npy_load(&tensor, path));
	if (!tensor)
		return;
	spec = ttnn_tensor_get_spec(tensor);
	CHECK_OK(ttnn_dtype_find(&dtype, tt_json_string(tt_json_get(row, "dtype"), NULL)));
	CHECK_INT(spec->dtype, dtype);
	CHECK_INT(spec->layout, TTNN_ROW_MAJOR);
	CHECK(shape_is(&spec->shape, tt_json_get(row, "shape")));
	CHECK_OK(ttnn_shape_volume(&count, &spec->shape));
	CHECK_OK(ttnn_tensor_to_data(values, count * 4, TTNN_FLOAT32, tensor));
	for (uint64_t i = 0; i < count; i++)
		if (values[i] != value((int64_t)i, *kind)) {
			TEST_FAIL("%s: element %" PRIu64 " is %g, not %g", name, i, values[i],
				  value((int64_t)i, *kind));
			break;
		}
	CHECK(tt_json_bool(&same, tt_json_get(row, "same")));
	if (same) {
		CHECK_OK(ttnn_npy_save(SCRATCH, tensor));
		if (!same_file(SCRATCH, path))
			TEST_FAIL("%s is written differently", name);
	}
	ttnn_tensor_unref(tensor);
}

TEST(files_of_numpy)
{
	struct tt_json_doc *doc = NULL;
	struct tt_json_iter it;
	int rows = 0;

	CHECK_OK(tt_json_load(&doc, DATA "/npy.json"));
	if (!doc)
		return;
	it = tt_json_iter(tt_json_root(doc));
	for (; tt_json_next(&it); rows++)
		check_file(it.value);
	CHECK_INT(rows, 52);
	tt_json_free(doc);
}

TEST(what_cannot_be_a_tensor)
{
	ttnn_tensor *tensor = NULL;

	CHECK_FAILS(ttnn_npy_load(&tensor, DATA "/not_complex.npy"), TTNN_UNSUPPORTED, "'c8'");
	CHECK_FAILS(ttnn_npy_load(&tensor, DATA "/not_text.npy"), TTNN_UNSUPPORTED, "'U2'");
	CHECK_FAILS(ttnn_npy_load(&tensor, DATA "/not_fields.npy"), TTNN_UNSUPPORTED, "structured");
	CHECK_FAILS(ttnn_npy_load(&tensor, DATA "/not_i8.npy"), TTNN_UNSUPPORTED,
		    "holds 1099511627776, which does not fit int32");
	CHECK_FAILS(ttnn_npy_load(&tensor, DATA "/not_u8.npy"), TTNN_UNSUPPORTED,
		    "holds 4294967296, which does not fit uint32");
	CHECK_FAILS(ttnn_npy_load(&tensor, DATA "/not_objects.npy"), TTNN_FORMAT, "data type");
	CHECK_FAILS(ttnn_npy_load(&tensor, DATA "/none.npy"), TTNN_NOTFOUND, "none.npy");
}

/* All half-precision numbers, against the definition. */
TEST(every_float16)
{
	static unsigned char file[128 + 65536 * 2];
	static float got[65536];
	ttnn_tensor *tensor = NULL;
	int wrong = 0;

	memset(file, ' ', 128);
	memcpy(file, "\x93NUMPY\x01\x00\x76\x00", 10);
	memcpy(file + 10, "{'descr': '<f2', 'fortran_order': False, 'shape': (65536,)}", 59);
	file[127] = '\n';
	for (int i = 0; i < 65536; i++) {
		file[128 + 2 * i] = (unsigned char)i;
		file[129 + 2 * i] = (unsigned char)(i >> 8);
	}
	CHECK_OK(tt_npy_read(&tensor, file, sizeof(file), NULL));
	if (!tensor)
		return;
	CHECK_OK(ttnn_tensor_to_data(got, sizeof(got), TTNN_FLOAT32, tensor));
	for (int i = 0; i < 65536; i++) {
		int exponent = i >> 10 & 31, mantissa = i & 1023;
		double want = exponent == 0   ? mantissa * 0x1p-24
			      : exponent < 31 ? (1 + mantissa / 1024.0) * pow(2, exponent - 15)
			      : mantissa == 0 ? INFINITY
					      : NAN;

		if (isnan(want))
			wrong += !isnan(got[i]);
		else
			wrong += got[i] != (i & 0x8000 ? -want : want) ||
				 !!signbit(got[i]) != (i >= 0x8000);
	}
	CHECK_INT(wrong, 0);
	ttnn_tensor_unref(tensor);
}

/* ---- headers ----------------------------------------------------------------------------------- */

static tt_status read_text(const char *text, const char *data, size_t bytes, int version)
{
	size_t length = strlen(text), start = version == 1 ? 10 : 12;
	char *file = malloc(start + length + bytes);
	ttnn_tensor *tensor = NULL;
	tt_status status;

	memcpy(file, "\x93NUMPY", 6);
	file[6] = (char)version;
	file[7] = 0;
	for (size_t i = 8; i < start; i++)
		file[i] = (char)(length >> 8 * (i - 8));
	memcpy(file + start, text, length);
	memcpy(file + start + length, data, bytes);
	status = tt_npy_read(&tensor, file, start + length + bytes, NULL);
	if (status == TTNN_OK)
		ttnn_tensor_unref(tensor);
	free(file);
	return status;
}

TEST(headers)
{
	static const char *const good[] = {
		"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n",
		"{'shape':(2L,),'fortran_order':True,'descr':'=f4'}",
		" { \"descr\" : \"f4\" ,\n\"fortran_order\" : False , 'shape' : ( 1 , 2 , ) } \n",
		"{'descr': '|i1', 'fortran_order': False, 'shape': ()}",
	};
	static const struct {
		const char *text, *why;
	} bad[] = {
		{"", "no dict"},
		{"{", "dict of names"},
		{"{}", "not complete"},
		{"{'descr': '<f4', 'fortran_order': False}", "not complete"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} x", "not complete"},
		{"{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}", "neither True nor False"},
		{"{'descr': 4, 'fortran_order': False, 'shape': (2,)}", "no string"},
		{"{'descr': '', 'fortran_order': False, 'shape': (2,)}", "empty"},
		{"{'descr': '<', 'fortran_order': False, 'shape': (2,)}", "empty"},
		{"{'descr': '<f', 'fortran_order': False, 'shape': (2,)}", "none of NumPy's"},
		{"{'descr': '<f4x', 'fortran_order': False, 'shape': (2,)}", "none of NumPy's"},
		{"{'descr': '<f99999999999', 'fortran_order': False, 'shape': (2,)}", "NumPy's"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': [2]}", "no tuple"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}", "tuple of numbers"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (2 2)}", "tuple of numbers"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296,)}", "too large"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
		 "tuple of numbers"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (3,)}", "ends too early"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': "
		 "(4294967295, 4294967295, 4294967295)}",
		 ""},
		{"{'descr': '<f4', 'descr': '<f4', 'shape': (2,)}", "another name"},
		{"{'descr': '<f4', 'more': False, 'shape': (2,)}", "another name"},
		{"{'descr': '<f4' 'fortran_order': False, 'shape': (2,)}", "comma"},
		{"{'descr': '<f\\x34', 'fortran_order': False, 'shape': (2,)}", "no string"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,"
		 "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)}",
		 "too large"},
	};

	for (int version = 1; version <= 3; version++) {
		for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
			CHECK_OK(read_text(good[i], "12345678", 8, version));
		for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
			tt_status status = read_text(bad[i].text, "12345678", 8, version);

			if (status == TTNN_OK || !strstr(ttnn_error(), bad[i].why))
				TEST_FAIL("%s: %s: %s", bad[i].text, ttnn_status_name(status),
					  status == TTNN_OK ? "" : ttnn_error());
		}
	}
	CHECK_FAILS(read_text(good[0], "12345678", 8, 4), TTNN_UNSUPPORTED, "version 4.0");
	CHECK_FAILS(read_text(good[0], "12345678", 8, 0), TTNN_UNSUPPORTED, "version 0.0");
}

TEST(files_cut_short)
{
	size_t size = 0;
	char *data = NULL;

	CHECK_OK(tt_file_read(&data, &size, DATA "/version3.npy"));
	for (size_t length = 0; length < size; length++) {
		char *copy = malloc(length ? length : 1);
		ttnn_tensor *tensor = NULL;

		memcpy(copy, data, length);
		CHECK_INT(tt_npy_read(&tensor, copy, length, NULL), TTNN_FORMAT);
		free(copy);
	}
	tt_free(data);
}

/* ---- tensors ------------------------------------------------------------------------------------ */

/* Types that .npy does not have become float32, tiles become rows. */
TEST(saved_as_something_else)
{
	static const enum ttnn_dtype dtypes[] = {TTNN_BFLOAT16, TTNN_BFLOAT8_B, TTNN_BFLOAT4_B,
						 TTNN_FLOAT32, TTNN_UINT16};
	float values[3 * 5], back[3 * 5];

	for (int i = 0; i < 15; i++)
		values[i] = (float)(i % 8);
	for (size_t k = 0; k < 5; k++) {
		struct ttnn_spec_args args = {
			.shape = {2, {3, 5}}, .dtype = dtypes[k], .layout = TTNN_TILE};
		ttnn_tensor *tensor = NULL, *loaded = NULL;
		struct ttnn_tensor_spec spec;

		CHECK_OK(ttnn_tensor_spec_make(&spec, &args));
		CHECK_OK(ttnn_tensor_from_data(&tensor, values, TTNN_FLOAT32, &spec, 0));
		CHECK_OK(ttnn_npy_save(SCRATCH, tensor));
		CHECK_OK(ttnn_npy_load(&loaded, SCRATCH));
		CHECK_INT(loaded->spec.dtype, k == 4 ? TTNN_UINT16 : TTNN_FLOAT32);
		CHECK_OK(ttnn_tensor_to_data(back, sizeof(back), TTNN_FLOAT32, loaded));
		CHECK(memcmp(back, values, sizeof(back)) == 0);
		ttnn_tensor_unref(tensor);
		ttnn_tensor_unref(loaded);
	}
}

TEST(large_files_stay_in_the_file)
{
	struct ttnn_tensor_spec spec;
	ttnn_tensor *tensor = NULL, *back = NULL;
	uint32_t *data;

	CHECK_OK(ttnn_tensor_spec_make(
		&spec, &(struct ttnn_spec_args){.shape = {2, {600, 1000}}, .dtype = TTNN_UINT32}));
	CHECK_OK(tt_tensor_alloc(&tensor, &spec));
	data = tt_tensor_data(tensor);
	for (uint32_t i = 0; i < 600 * 1000; i++)
		data[i] = i * 2654435761u;
	CHECK_OK(ttnn_npy_save(SCRATCH, tensor));
	CHECK_OK(ttnn_npy_load(&back, SCRATCH));
	CHECK_STR(back->storage->ops->name, "mapped file");
	unlink(SCRATCH);
	CHECK(memcmp(ttnn_tensor_bytes(back), data, spec.bytes) == 0);
	ttnn_tensor_unref(tensor);
	ttnn_tensor_unref(back);
}

TEST(tensors_of_several_devices)
{
	ttnn_tensor *tensor = NULL;

	CHECK_OK(ttnn_tensor_load(&tensor, "tests/data/host/mesh_rows.tensorbin"));
	CHECK_FAILS(ttnn_npy_save(SCRATCH, tensor), TTNN_UNSUPPORTED, "spread over 4");
	ttnn_tensor_unref(tensor);
}

/* What NumPy itself reads from our file, and the bytes it would write. */
TEST(numpy_agrees)
{
	struct ttnn_spec_args args = {
		.shape = {3, {2, 3, 7}}, .dtype = TTNN_BFLOAT16, .layout = TTNN_TILE};
	static const char program[] =
		"import io, sys, numpy as np\n"
		"a = np.load(sys.argv[1])\n"
		"want = ((np.arange(42) * 7919 + 13) % 251 - 125).reshape(2, 3, 7) / 8\n"
		"b = io.BytesIO()\n"
		"np.save(b, a)\n"
		"sys.exit(not (a.dtype == np.float32 and (a == want).all()\n"
		"              and (np.lib.NumpyVersion(np.__version__) < '1.24.0'\n"
		"                   or b.getvalue() == open(sys.argv[1], 'rb').read())))\n";
	struct ttnn_tensor_spec spec;
	ttnn_tensor *tensor = NULL;
	char command[1024];
	float values[42];

	if (system("python3 -c 'import numpy' 2>/dev/null") != 0) {
		printf("numpy_agrees: skipped, python3 has no NumPy\n");
		return;
	}
	for (int i = 0; i < 42; i++)
		values[i] = (float)((i * 7919 + 13) % 251 - 125) / 8;
	CHECK_OK(ttnn_tensor_spec_make(&spec, &args));
	CHECK_OK(ttnn_tensor_from_data(&tensor, values, TTNN_FLOAT32, &spec, 0));
	CHECK_OK(ttnn_npy_save(SCRATCH, tensor));
	CHECK_OK(tt_file_save(test_path("check.py"), program, strlen(program)));
	snprintf(command, sizeof(command), "python3 %s %s", test_path("check.py"), SCRATCH);
	CHECK_INT(system(command), 0);
	ttnn_tensor_unref(tensor);
}

static tt_status copy_file(const char *path)
{
	ttnn_tensor *tensor = NULL, *tiled = NULL;
	tt_status status = ttnn_npy_load(&tensor, path);

	if (status == TTNN_OK)
		status = ttnn_tensor_to_layout(&tiled, tensor, TTNN_TILE, 0);
	if (status == TTNN_OK)
		status = ttnn_npy_save(SCRATCH, tiled);
	if (status == TTNN_OK)
		status = ttnn_npy_save(SCRATCH, tensor);
	ttnn_tensor_unref(tensor);
	ttnn_tensor_unref(tiled);
	return status;
}

SCENARIO(load_and_save)
{
	TT_TRY(copy_file(DATA "/f8_big.npy"));
	return copy_file(DATA "/i4_fortran.npy");
}
