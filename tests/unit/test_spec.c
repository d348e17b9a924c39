/* tensor specs: padding, pages, shard checks, against recorded answers */
#include "test.h"

#include "values.h"

#include "tensor/memory.h"
#include "tensor/read.h"
#include "tensor/shape.h"
#include "tensor/spec.h"
#include "tensor/text.h"
#include "tensor/tile.h"

static void check_shape(const struct ttnn_shape *got, const struct tt_json *want)
{
	struct ttnn_shape shape = {0};
	struct tt_str text = {0};

	CHECK_OK(tt_json_read_shape(&shape, want));
	if (ttnn_shape_equal(got, &shape))
		return;
	tt_shape_list(&text, got);
	tt_str_addc(&text, ' ');
	tt_shape_list(&text, &shape);
	TEST_FAIL("padded shape and recorded one: %s", tt_str_text(&text));
	tt_str_deinit(&text);
}

static void check_memory_text(const struct ttnn_memory_config *memory, const struct tt_json *want)
{
	struct tt_str text = {0};

	tt_text_memory_config(&text, memory, TTNN_DIALECT_TT_METAL);
	CHECK_STR(tt_str_text(&text), tt_json_string(want, NULL));
	tt_str_deinit(&text);
}

/* What a spec holds must agree with itself. */
static void check_consistent(const struct ttnn_tensor_spec *spec)
{
	uint64_t volume = 0;

	CHECK_OK(ttnn_shape_volume(&volume, &spec->padded));
	CHECK_INT(volume, spec->rows * spec->cols);
	CHECK_INT(spec->pages * spec->page_rows * spec->page_cols, volume);
	CHECK_INT(spec->pages * spec->page_bytes, spec->bytes);
}

struct tally {
	size_t accepted, with_pages, refused, crashed;
};

static void check_row(struct tally *tally, const struct tt_json *row)
{
	struct ttnn_spec_args args = row_spec(row), again;
	struct ttnn_tensor_spec spec, second;
	tt_status status = ttnn_tensor_spec_make(&spec, &args);
	uint64_t pages = 0, page = 0;

	if (tt_json_get(row, "crash")) {
		tally->crashed++; /* anything but that */
		return;
	}
	if (tt_json_get(row, "refused")) {
		tally->refused++;
		CHECK_INT(status, TTNN_INVALID);
		check_refusal(tt_json_get(row, "refused"));
		return;
	}
	if (status != TTNN_OK) {
		TEST_FAIL("refused, but recorded as fine: %s", ttnn_error());
		return;
	}
	tally->accepted++;
	check_consistent(&spec);
	check_memory_text(&spec.memory, tt_json_get(row, "text"));
	if (tt_json_get(row, "padded")) {
		tally->with_pages++;
		check_shape(&spec.padded, tt_json_get(row, "padded"));
		CHECK(tt_json_uint(&pages, tt_json_get(row, "pages")));
		CHECK(tt_json_uint(&page, tt_json_get(row, "page")));
		CHECK_INT(spec.pages, pages);
		CHECK_INT(spec.page_bytes, page);
	}
	again = tt_tensor_spec_args(&spec);
	CHECK_OK(ttnn_tensor_spec_make(&second, &again));
	CHECK(ttnn_tensor_spec_equal(&spec, &second));
	CHECK(tt_tensor_spec_hash(1, &spec) == tt_tensor_spec_hash(1, &second));
}

TEST(recorded_specs)
{
	struct tt_json_doc *doc = NULL;
	struct tt_json_iter it;
	struct tally tally = {0};
	int failures = 0;

	CHECK_OK(tt_json_load(&doc, VALUES_DATA "specs.json.gz"));
	it = tt_json_iter(tt_json_root(doc));
	for (size_t i = 0; tt_json_next(&it); i++) {
		check_row(&tally, it.value);
		if (test_failures > failures)
			fprintf(stderr, "  ^ row %zu of specs.json.gz\n", i + 1);
		failures = test_failures;
	}
	printf("%zu recorded specs accepted (%zu with pages), %zu refused, %zu crashes passed by\n",
	       tally.accepted, tally.with_pages, tally.refused, tally.crashed);
	CHECK(tally.accepted > 500 && tally.with_pages > 350 && tally.refused > 150);
	tt_json_free(doc);
}

/* Every different spec in the arguments of the recorded programs and models, read, made and printed
 * again: custom alignments and both directions of derived shard specs are among them. */
TEST(recorded_spec_texts)
{
	struct tt_json_doc *doc = NULL;
	struct tt_json_iter it;
	size_t rows = 0, same = 0;

	CHECK_OK(tt_json_load(&doc, VALUES_DATA "spec_texts.json.gz"));
	it = tt_json_iter(tt_json_root(doc));
	for (; tt_json_next(&it); rows++) {
		struct ttnn_spec_args args;
		struct ttnn_tensor_spec spec;
		struct tt_str text = {0};
		struct tt_span span;

		span.text = tt_json_string(it.value, &span.length);
		CHECK_OK(tt_read_tensor_spec(&args, span));
		CHECK_OK(ttnn_tensor_spec_make(&spec, &args));
		check_consistent(&spec);
		tt_text_tensor_spec(&text, &spec, TTNN_DIALECT_TT_METAL);
		if (strcmp(tt_str_text(&text), span.text) == 0)
			same++;
		else
			TEST_FAIL("printed\n  %s\nread\n  %s", tt_str_text(&text), span.text);
		tt_str_deinit(&text);
	}
	printf("%zu of %zu recorded spec texts print the same\n", same, rows);
	CHECK_INT(rows, 2146);
	tt_json_free(doc);
}

/* ---- the numbers of the layout rules, worked out by hand ------------------------------------------- */

struct layout_row {
	struct ttnn_shape shape;
	enum ttnn_layout layout;
	enum ttnn_dtype dtype;
	struct ttnn_shape alignment, padded;
	uint64_t rows, cols, pages, page_bytes;
};

static const struct layout_row layout_rows[] = {
	/* rank 0 and 1 are as if ones stood before them */
	{{0}, TTNN_ROW_MAJOR, TTNN_BFLOAT16, {0}, {1, {1}}, 1, 1, 1, 2},
	{{0}, TTNN_TILE, TTNN_BFLOAT16, {0}, {2, {32, 32}}, 32, 32, 1, 2048},
	{{1, {5}}, TTNN_TILE, TTNN_FLOAT32, {0}, {2, {32, 32}}, 32, 32, 1, 4096},
	{{1, {5}}, TTNN_ROW_MAJOR, TTNN_FLOAT32, {0}, {1, {5}}, 1, 5, 1, 20},
	/* only the last two dimensions are padded, and the outer ones multiply */
	{{4, {5, 4, 3, 2}}, TTNN_TILE, TTNN_BFLOAT16, {0}, {4, {5, 4, 32, 32}}, 640, 32, 20, 2048},
	{{3, {2, 33, 65}}, TTNN_TILE, TTNN_BFLOAT8_B, {0}, {3, {2, 64, 96}}, 128, 96, 12, 1088},
	{{3, {2, 33, 65}}, TTNN_TILE, TTNN_BFLOAT4_B, {0}, {3, {2, 64, 96}}, 128, 96, 12, 576},
	{{3, {2, 33, 65}}, TTNN_ROW_MAJOR, TTNN_UINT8, {0}, {3, {2, 33, 65}}, 66, 65, 66, 65},
	/* nothing to store, but a page size of four bytes */
	{{2, {0, 7}}, TTNN_ROW_MAJOR, TTNN_BFLOAT16, {0}, {2, {0, 7}}, 0, 7, 0, 4},
	{{2, {7, 0}}, TTNN_ROW_MAJOR, TTNN_UINT8, {0}, {2, {7, 0}}, 7, 0, 0, 4},
	{{2, {0, 7}}, TTNN_TILE, TTNN_BFLOAT16, {0}, {2, {0, 32}}, 0, 32, 0, 2048},
	/* custom alignments: prepared weights; whole matrices of 96 rows; 6 × 5 rows up to 32 */
	{{2, {576, 64}},
	 TTNN_TILE,
	 TTNN_BFLOAT16,
	 {2, {768, 32}},
	 {2, {768, 64}},
	 768,
	 64,
	 48,
	 2048},
	{{3, {3, 30, 32}},
	 TTNN_TILE,
	 TTNN_BFLOAT16,
	 {3, {96, 32, 32}},
	 {3, {3, 32, 32}},
	 96,
	 32,
	 3,
	 2048},
	{{3, {4, 30, 32}},
	 TTNN_TILE,
	 TTNN_BFLOAT16,
	 {3, {96, 32, 32}},
	 {3, {6, 32, 32}},
	 192,
	 32,
	 6,
	 2048},
	{{2, {3, 100}}, TTNN_ROW_MAJOR, TTNN_BFLOAT16, {2, {4, 64}}, {2, {4, 128}}, 4, 128, 4, 256},
	/* an alignment of higher rank than the shape */
	{{1, {5}}, TTNN_ROW_MAJOR, TTNN_BFLOAT16, {3, {6, 3, 4}}, {3, {2, 3, 8}}, 6, 8, 6, 16},
};

TEST(padding_and_pages_by_hand)
{
	for (size_t i = 0; i < sizeof(layout_rows) / sizeof(layout_rows[0]); i++) {
		const struct layout_row *row = &layout_rows[i];
		struct ttnn_spec_args args = {.shape = row->shape,
					      .dtype = row->dtype,
					      .layout = row->layout,
					      .alignment = row->alignment};
		struct ttnn_tensor_spec spec = {0};

		CHECK_OK(ttnn_tensor_spec_make(&spec, &args));
		if (!ttnn_shape_equal(&spec.padded, &row->padded) || spec.rows != row->rows ||
		    spec.cols != row->cols || spec.pages != row->pages ||
		    spec.page_bytes != row->page_bytes)
			TEST_FAIL("row %zu: %" PRIu64 " x %" PRIu64 ", %" PRIu64
				  " pages of %" PRIu64,
				  i, spec.rows, spec.cols, spec.pages, spec.page_bytes);
	}
}

/* ---- refusals ------------------------------------------------------------------------------------- */

TEST(absurd_shapes_are_refused)
{
	struct ttnn_spec_args args = {.shape = TT_SHAPE(UINT32_MAX, UINT32_MAX, UINT32_MAX)};
	struct ttnn_tensor_spec spec = {.pages = 7};

	CHECK_FAILS(ttnn_tensor_spec_make(&spec, &args), TTNN_INVALID,
		    "Shape([4294967295, 4294967295, 4294967295])");
	args.shape = TT_SHAPE(UINT32_MAX, UINT32_MAX);
	args.dtype = TTNN_FLOAT32;
	CHECK_FAILS(ttnn_tensor_spec_make(&spec, &args), TTNN_INVALID, "more storage than");
	args.shape = TT_SHAPE(1, UINT32_MAX);
	CHECK_OK(ttnn_tensor_spec_make(&spec, &args));
	CHECK(spec.bytes == 4 * (uint64_t)UINT32_MAX);
	args.layout = TTNN_TILE; /* the padded extent leaves 32 bits */
	CHECK_FAILS(ttnn_tensor_spec_make(&spec, &args), TTNN_INVALID, "more storage than");
	args.shape.rank = 33;
	CHECK_FAILS(ttnn_tensor_spec_make(&spec, &args), TTNN_INVALID, "33 dimensions");
	args = (struct ttnn_spec_args){.shape = TT_SHAPE(1), .dtype = (enum ttnn_dtype)10};
	CHECK_FAILS(ttnn_tensor_spec_make(&spec, &args), TTNN_INVALID,
		    "is no data type; there are bfloat16 float32");
	args = (struct ttnn_spec_args){.shape = TT_SHAPE(1), .layout = (enum ttnn_layout)2};
	CHECK_FAILS(ttnn_tensor_spec_make(&spec, &args), TTNN_INVALID, "ROW_MAJOR or TILE");
	args = (struct ttnn_spec_args){.shape = TT_SHAPE(1), .tile = {16, 16, false}};
	CHECK_FAILS(ttnn_tensor_spec_make(&spec, &args), TTNN_INVALID,
		    "Configuring a ROW MAJOR page config with a custom tile");
	args = (struct ttnn_spec_args){.shape = TT_SHAPE(1),
				       .memory.buffer = (enum ttnn_buffer_type)9};
	CHECK_FAILS(ttnn_tensor_spec_make(&spec, &args), TTNN_INVALID, "no buffer type");
	args = (struct ttnn_spec_args){.shape = TT_SHAPE(1),
				       .memory.layout = (enum ttnn_memory_layout)1};
	CHECK_FAILS(ttnn_tensor_spec_make(&spec, &args), TTNN_INVALID, "no tensor memory layout");
	args = (struct ttnn_spec_args){.shape = TT_SHAPE(1), .memory.has_shard = true};
	CHECK_FAILS(ttnn_tensor_spec_make(&spec, &args), TTNN_INVALID, "needs a grid");
	CHECK(spec.bytes == 4 * (uint64_t)UINT32_MAX); /* failures leave the output alone */
}

TEST(bad_alignments_are_refused)
{
	struct ttnn_spec_args args = {.shape = TT_SHAPE(2, 30, 32), .layout = TTNN_TILE};
	struct ttnn_shard_spec shard = {.height = 64, .width = 32};
	struct ttnn_tensor_spec spec;

	args.alignment = TT_SHAPE(48, 32, 32);
	CHECK_FAILS(ttnn_tensor_spec_make(&spec, &args), TTNN_INVALID,
		    "Padded shape can't be deducted from TensorLayout parameters "
		    "Alignment([48, 32, 32]) and Shape Shape([2, 30, 32])");
	args.alignment = TT_SHAPE(0, 32);
	CHECK_FAILS(ttnn_tensor_spec_make(&spec, &args), TTNN_INVALID, "alignment of 0");
	args.alignment = TT_SHAPE(UINT32_MAX, UINT32_MAX);
	CHECK_FAILS(ttnn_tensor_spec_make(&spec, &args), TTNN_INVALID, "more storage than");

	CHECK_OK(tt_core_set_grid(&shard.grid, 1, 1));
	CHECK_OK(ttnn_memory_config_sharded(&args.memory, TTNN_HEIGHT_SHARDED, TTNN_L1, &shard));
	args.alignment = TT_SHAPE(1, 32, 32);
	CHECK_FAILS(ttnn_tensor_spec_make(&spec, &args), TTNN_INVALID,
		    "Tensor must be interleaved if alignment has rank greater than 2!");
	args.layout = TTNN_ROW_MAJOR;
	args.memory.layout = TTNN_WIDTH_SHARDED;
	args.alignment = TT_SHAPE(48);
	CHECK_FAILS(ttnn_tensor_spec_make(&spec, &args), TTNN_INVALID,
		    "Expected physical shard shape 32 to be aligned to 64 along the width");
}

TEST(specs_differ_in_any_part)
{
	struct ttnn_spec_args base = {.shape = TT_SHAPE(64, 64), .layout = TTNN_TILE};
	struct ttnn_spec_args others[6] = {base, base, base, base, base, base};
	struct ttnn_tensor_spec a, b;

	others[0].shape = TT_SHAPE(64, 63);
	others[1].dtype = TTNN_FLOAT32;
	others[2].layout = TTNN_ROW_MAJOR;
	others[3].tile = (struct ttnn_tile){16, 32, false};
	others[4].memory.buffer = TTNN_L1;
	others[5].alignment = TT_SHAPE(64, 32);
	CHECK_OK(ttnn_tensor_spec_make(&a, &base));
	for (size_t i = 0; i < 6; i++) {
		CHECK_OK(ttnn_tensor_spec_make(&b, &others[i]));
		CHECK(!ttnn_tensor_spec_equal(&a, &b));
		CHECK(tt_tensor_spec_hash(0, &a) != tt_tensor_spec_hash(0, &b));
	}
}

/* Refusals print shapes, which may fail to be allocated: the refusal stands all the same. */
SCENARIO(refusals_need_no_memory)
{
	struct ttnn_spec_args args = {.shape = TT_SHAPE(64, 64), .layout = TTNN_TILE};
	struct ttnn_nd_shard_spec shard = {.shape = TT_SHAPE(30, 64)};
	struct ttnn_tensor_spec spec;

	TT_TRY(tt_core_set_grid(&shard.grid, 4, 4));
	TT_TRY(ttnn_memory_config_nd(&args.memory, TTNN_L1, &shard));
	CHECK_INT(ttnn_tensor_spec_make(&spec, &args), TTNN_INVALID);
	args.memory.nd_shard.shape = TT_SHAPE(32, 64);
	TT_TRY(ttnn_tensor_spec_make(&spec, &args));
	return TTNN_OK;
}
