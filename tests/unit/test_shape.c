/* shapes and tiles */
#include "test.h"

#include "base/str.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"
#include "tensor/tile.h"

TEST(shapes_are_made_from_signed_extents)
{
	struct ttnn_shape shape = TT_SHAPE(7);
	int64_t dims[40] = {2, 0, UINT32_MAX};

	CHECK_OK(ttnn_shape_make(&shape, dims, 3));
	CHECK_INT(shape.rank, 3);
	CHECK_INT(shape.dim[2], UINT32_MAX);
	CHECK_OK(ttnn_shape_make(&shape, NULL, 0));
	CHECK_INT(shape.rank, 0);

	shape = TT_SHAPE(7);
	dims[1] = -1;
	CHECK_FAILS(ttnn_shape_make(&shape, dims, 3), TTNN_INVALID, "Dimension 1 of a shape is -1");
	dims[1] = INT64_MIN;
	CHECK_FAILS(ttnn_shape_make(&shape, dims, 2), TTNN_INVALID, "-9223372036854775808");
	dims[1] = (int64_t)UINT32_MAX + 1;
	CHECK_FAILS(ttnn_shape_make(&shape, dims, 2), TTNN_INVALID, "4294967296");
	CHECK_FAILS(ttnn_shape_make(&shape, dims, 33), TTNN_INVALID, "33 dimensions");
	CHECK(ttnn_shape_equal(&shape, &TT_SHAPE(7))); /* untouched by the failures */
}

TEST(volumes_are_counted_or_refused)
{
	struct ttnn_shape scalar = {0};
	uint64_t volume = 99;

	CHECK_OK(ttnn_shape_volume(&volume, &scalar));
	CHECK_INT(volume, 1);
	CHECK_OK(ttnn_shape_volume(&volume, &TT_SHAPE(2, 3, 5)));
	CHECK_INT(volume, 30);
	CHECK_OK(ttnn_shape_volume(&volume, &TT_SHAPE(UINT32_MAX, UINT32_MAX)));
	CHECK(volume == (uint64_t)UINT32_MAX * UINT32_MAX);
	CHECK_FAILS(ttnn_shape_volume(&volume, &TT_SHAPE(UINT32_MAX, UINT32_MAX, 2)), TTNN_INVALID,
		    "Shape([4294967295, 4294967295, 2]) holds more elements");
	CHECK_OK(ttnn_shape_volume(&volume, &TT_SHAPE(UINT32_MAX, UINT32_MAX, 2, 0)));
	CHECK_INT(volume, 0);
	CHECK_OK(tt_shape_rows(&volume, &TT_SHAPE(2, 3, 5)));
	CHECK_INT(volume, 6);
	CHECK_OK(tt_shape_rows(&volume, &scalar));
	CHECK_INT(volume, 1);
}

TEST(shapes_are_equal_by_content)
{
	struct ttnn_shape a = TT_SHAPE(1, 2, 3), b = TT_SHAPE(1, 2, 3, 9);

	CHECK(!ttnn_shape_equal(&a, &b));
	b.rank = 3; /* what lies beyond the rank does not count */
	CHECK(ttnn_shape_equal(&a, &b));
	CHECK(tt_shape_hash(5, &a) == tt_shape_hash(5, &b));
	CHECK(tt_shape_hash(5, &a) != tt_shape_hash(6, &a));
	CHECK(tt_shape_hash(0, &TT_SHAPE(1)) != tt_shape_hash(0, &TT_SHAPE(1, 1)));
	CHECK_INT(tt_shape_last(&a, 1), 3);
	CHECK_INT(tt_shape_last(&a, 3), 1);
	CHECK_INT(tt_shape_last(&a, 4), 1);
}

/* A shape that no function made: asan sees it when an extent beyond the 32 is read. */
TEST(ranks_beyond_the_most)
{
	struct ttnn_shape *wide = calloc(1, sizeof(*wide));
	uint64_t volume = 99;
	char *text = NULL;

	for (uint32_t i = 0; i < TTNN_MAX_RANK; i++)
		wide->dim[i] = 1;
	wide->rank = TTNN_MAX_RANK + 1;
	CHECK_FAILS(ttnn_shape_volume(&volume, wide), TTNN_INVALID, "A shape of 33 dimensions");
	CHECK_FAILS(tt_shape_rows(&volume, wide), TTNN_INVALID, "A shape of 33 dimensions");
	CHECK_INT(volume, 99);
	CHECK(!ttnn_shape_equal(wide, wide));
	CHECK_FAILS(ttnn_shape_text(&text, wide, TTNN_DIALECT_SEED), TTNN_INVALID,
		    "A shape of 33 dimensions");
	CHECK(!text);
	(void)tt_shape_hash(1, wide); /* values are hashed before they are looked at */
	wide->rank = TTNN_MAX_RANK;
	CHECK_OK(ttnn_shape_volume(&volume, wide));
	CHECK(ttnn_shape_equal(wide, wide));
	free(wide);
}

TEST(rounding_is_checked)
{
	uint64_t out = 0;

	CHECK(tt_round_up(&out, 33, 32) && out == 64);
	CHECK(tt_round_up(&out, 64, 32) && out == 64);
	CHECK(tt_round_up(&out, 0, 32) && out == 0);
	CHECK(tt_round_up(&out, 5, 0) && out == 5);
	CHECK(!tt_round_up(&out, UINT64_MAX - 3, 32));
	CHECK_INT(tt_div_up(0, 4), 0);
	CHECK_INT(tt_div_up(9, 4), 3);
	CHECK(tt_div_up(UINT64_MAX, 2) == (uint64_t)1 << 63);
}

/* The table of legal tiles, written out: height, width, face height, faces, bytes of bfloat16,
 * float32, bfloat8_b, bfloat4_b. */
static const uint32_t legal_tiles[][8] = {
	{32, 32, 16, 4, 2048, 4096, 1088, 576}, {16, 32, 16, 2, 1024, 2048, 544, 288},
	{32, 16, 16, 2, 1024, 2048, 544, 288},  {16, 16, 16, 1, 512, 1024, 272, 144},
	{8, 32, 8, 2, 512, 1024, 272, 144},     {8, 16, 8, 1, 256, 512, 144, 80},
	{4, 32, 4, 2, 256, 512, 144, 80},       {4, 16, 4, 1, 128, 256, 80, 48},
	{2, 32, 2, 2, 128, 256, 80, 48},        {2, 16, 2, 1, 64, 128, 48, 32},
	{1, 32, 1, 2, 64, 128, 48, 32},         {1, 16, 1, 1, 32, 64, 32, 24},
};

TEST(tiles_have_faces_and_sizes)
{
	size_t legal = sizeof(legal_tiles) / sizeof(legal_tiles[0]), found = 0;

	for (size_t i = 0; i < legal; i++) {
		const uint32_t *row = legal_tiles[i];
		struct ttnn_tile tile = {row[0], row[1], false};
		struct tt_faces faces = tt_tile_faces(&tile);

		CHECK_INT(faces.height, row[2]);
		CHECK_INT(faces.width, 16);
		CHECK_INT(faces.count, row[3]);
		CHECK_INT(tt_dtype_tile_bytes(TTNN_BFLOAT16, &tile), row[4]);
		CHECK_INT(tt_dtype_tile_bytes(TTNN_FLOAT32, &tile), row[5]);
		CHECK_INT(tt_dtype_tile_bytes(TTNN_BFLOAT8_B, &tile), row[6]);
		CHECK_INT(tt_dtype_tile_bytes(TTNN_BFLOAT4_B, &tile), row[7]);
		CHECK_INT(tt_dtype_tile_bytes(TTNN_INT8, &tile), row[0] * row[1]);
	}
	for (uint32_t h = 0; h <= 70; h++)
		for (uint32_t w = 0; w <= 70; w++)
			found += tt_tile_check(&(struct ttnn_tile){h, w, false}) == TTNN_OK;
	CHECK_INT(found, legal);
}

TEST(bad_tiles_are_refused)
{
	CHECK_FAILS(tt_tile_check(&(struct ttnn_tile){24, 32, false}), TTNN_INVALID,
		    "Tile size is not valid for our hardware");
	CHECK_STR(tt_fail_condition(), "it != TILE_FACE_HW_CHOICES.end()");
	CHECK_FAILS(tt_tile_check(&(struct ttnn_tile){8, 32, true}), TTNN_INVALID,
		    "Tile height must equal 16 or 32 in transpose mode");
	CHECK_OK(tt_tile_check(&(struct ttnn_tile){16, 32, true}));
}

SCENARIO(shape_text)
{
	struct tt_str text = {0};
	tt_status status;

	tt_shape_list(&text, &TT_SHAPE(1, 22, 333, 4444, 55555, 666666, 7777777));
	status = tt_str_status(&text);
	if (status == TTNN_OK)
		CHECK_STR(tt_str_text(&text), "[1, 22, 333, 4444, 55555, 666666, 7777777]");
	tt_str_deinit(&text);
	return status;
}
