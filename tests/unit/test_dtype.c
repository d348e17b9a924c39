/* the table of data types */
#include "test.h"

#include "tensor/dtype.h"

TEST(names_in_both_dialects)
{
	static const struct {
		enum ttnn_dtype dtype;
		int code;
		const char *seed, *metal;
	} rows[] = {
		{TTNN_BFLOAT16, 0, "bfloat16", "BFLOAT16"},
		{TTNN_FLOAT32, 1, "float32", "FLOAT32"},
		{TTNN_UINT32, 2, "uint32", "UINT32"},
		{TTNN_BFLOAT8_B, 3, "bfloat8_b", "BFLOAT8_B"},
		{TTNN_BFLOAT4_B, 4, "bfloat4_b", "BFLOAT4_B"},
		{TTNN_UINT8, 5, "uint8", "UINT8"},
		{TTNN_UINT16, 6, "uint16", "UINT16"},
		{TTNN_INT32, 7, "int32", "INT32"},
		{TTNN_FP8_E4M3, 8, "fp8_e4m3", "FP8_E4M3"},
		{TTNN_INT8, 9, "int8", "INT8"},
		{TTNN_DTYPE_COUNT, 10, "INVALID", "INVALID"},
		{(enum ttnn_dtype) - 1, -1, "INVALID", "INVALID"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CHECK_INT((int)rows[i].dtype, rows[i].code);
		CHECK_STR(ttnn_dtype_name(rows[i].dtype, TTNN_DIALECT_SEED), rows[i].seed);
		CHECK_STR(ttnn_dtype_name(rows[i].dtype, TTNN_DIALECT_TT_METAL), rows[i].metal);
	}
}

TEST(finds_a_name_in_any_spelling)
{
	static const struct {
		const char *name;
		enum ttnn_dtype dtype;
	} rows[] = {
		{"bfloat16", TTNN_BFLOAT16},
		{"BFLOAT16", TTNN_BFLOAT16},
		{"DataType.BFLOAT8_B", TTNN_BFLOAT8_B},
		{"DataType::UINT16", TTNN_UINT16},
		{"ttnn.int8", TTNN_INT8},
		{"ttnn.DataType.FP8_E4M3", TTNN_FP8_E4M3},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		enum ttnn_dtype dtype = TTNN_DTYPE_COUNT;

		CHECK_OK(ttnn_dtype_find(&dtype, rows[i].name));
		CHECK_INT(dtype, rows[i].dtype);
	}
	for (int code = 0; code < TTNN_DTYPE_COUNT; code++) {
		enum ttnn_dtype dtype = TTNN_DTYPE_COUNT;

		CHECK_OK(ttnn_dtype_find(
			&dtype, ttnn_dtype_name((enum ttnn_dtype)code, TTNN_DIALECT_SEED)));
		CHECK_INT(dtype, code);
	}
}

TEST(refuses_other_names)
{
	static const char *const names[] = {"",          "float16",    "bfloat",     "bfloat16 ",
					    "DataType.", "bfloat8_bb", "torch.int8", "INVALID"};
	enum ttnn_dtype dtype = TTNN_UINT8;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		CHECK_FAILS(ttnn_dtype_find(&dtype, names[i]), TTNN_NOTFOUND, names[i]);
	CHECK_FAILS(ttnn_dtype_find(&dtype, "float16"), TTNN_NOTFOUND,
		    "there is no data type \"float16\"; there are bfloat16 float32 uint32");
	CHECK_INT(dtype, TTNN_UINT8);
}

TEST(sizes_and_classes)
{
	static const struct {
		enum ttnn_dtype dtype;
		unsigned bytes, is_block, is_integer;
	} rows[] = {
		{TTNN_BFLOAT16, 2, 0, 0},  {TTNN_FLOAT32, 4, 0, 0},     {TTNN_UINT32, 4, 0, 1},
		{TTNN_BFLOAT8_B, 1, 1, 0}, {TTNN_BFLOAT4_B, 1, 1, 0},   {TTNN_UINT8, 1, 0, 1},
		{TTNN_UINT16, 2, 0, 1},    {TTNN_INT32, 4, 0, 1},       {TTNN_FP8_E4M3, 1, 0, 0},
		{TTNN_INT8, 1, 0, 1},      {TTNN_DTYPE_COUNT, 0, 0, 0},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CHECK_INT(tt_dtype_bytes(rows[i].dtype), rows[i].bytes);
		CHECK_INT(tt_dtype_is_block(rows[i].dtype), rows[i].is_block);
		CHECK_INT(tt_dtype_is_integer(rows[i].dtype), rows[i].is_integer);
	}
	CHECK(!tt_dtype_find(TTNN_DTYPE_COUNT));
	CHECK(!tt_dtype_find((enum ttnn_dtype) - 1));
}

/* As upstream's schema of tensor files numbers them. */
TEST(codes_in_files)
{
	static const enum ttnn_dtype codes[] = {TTNN_BFLOAT16,  TTNN_FLOAT32,   TTNN_UINT32,
						TTNN_BFLOAT8_B, TTNN_BFLOAT4_B, TTNN_UINT8,
						TTNN_UINT16,    TTNN_INT32,     TTNN_INT8};
	enum ttnn_dtype dtype = TTNN_DTYPE_COUNT;

	for (unsigned code = 0; code < 9; code++) {
		CHECK(tt_dtype_of_file(&dtype, code));
		CHECK_INT(dtype, codes[code]);
	}
	CHECK(!tt_dtype_of_file(&dtype, 9));
	CHECK(!tt_dtype_of_file(&dtype, 255));
	CHECK_INT(dtype, TTNN_INT8);
	CHECK_INT(tt_dtype_find(TTNN_FP8_E4M3)->file, -1);
}

TEST(tile_bytes_with_exponents)
{
	static const struct {
		struct ttnn_tile tile;
		size_t bfloat16, bfloat8, bfloat4, exponents;
	} rows[] = {
		{{32, 32, false}, 2048, 1088, 576, 64}, {{32, 32, true}, 2048, 1088, 576, 64},
		{{16, 32, false}, 1024, 544, 288, 32},  {{32, 16, false}, 1024, 544, 288, 32},
		{{16, 16, true}, 512, 272, 144, 16},    {{8, 32, false}, 512, 272, 144, 16},
		{{8, 16, false}, 256, 144, 80, 16},     {{4, 32, false}, 256, 144, 80, 16},
		{{2, 16, false}, 64, 48, 32, 16},       {{1, 16, false}, 32, 32, 24, 16},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct ttnn_tile *tile = &rows[i].tile;

		CHECK_INT(tt_dtype_tile_bytes(TTNN_BFLOAT16, tile), rows[i].bfloat16);
		CHECK_INT(tt_dtype_tile_bytes(TTNN_FLOAT32, tile), 2 * rows[i].bfloat16);
		CHECK_INT(tt_dtype_tile_bytes(TTNN_INT8, tile), rows[i].bfloat16 / 2);
		CHECK_INT(tt_dtype_tile_bytes(TTNN_BFLOAT8_B, tile), rows[i].bfloat8);
		CHECK_INT(tt_dtype_tile_bytes(TTNN_BFLOAT4_B, tile), rows[i].bfloat4);
		CHECK_INT(tt_dtype_tile_bytes(TTNN_DTYPE_COUNT, tile), 0);
		CHECK_INT(tt_dtype_exponent_bytes(TTNN_BFLOAT4_B, tile), rows[i].exponents);
		CHECK_INT(tt_dtype_exponent_bytes(TTNN_UINT8, tile), 0);
	}
}

SCENARIO(dtypes_need_no_memory)
{
	enum ttnn_dtype dtype;

	TT_TRY(ttnn_dtype_find(&dtype, "ttnn.bfloat4_b"));
	if (ttnn_dtype_find(&dtype, "no such type") != TTNN_NOTFOUND)
		return TTNN_INTERNAL;
	return TTNN_OK;
}
