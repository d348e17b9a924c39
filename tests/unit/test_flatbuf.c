/* test_flatbuf.c: FlatBuffers are built as the format's own builder does, and read with suspicion */
#include "test.h"

#include "base/flatbuf.h"

/*
 * A table with a u16 7 as field 1 and a vector [1, 2, 3] as field 0, written by hand, with more
 * padding than a builder leaves.
 */
static const uint8_t small[] = {
	16, 0, 0,  0,             /* root: 16 further on */
	0,  0,                    /* padding to the table's alignment */
	8,  0, 12, 0, 8, 0, 6, 0, /* vtable: 8 bytes, table of 12, field 0 at 8, field 1 at 6 */
	0,  0,                    /* padding; not part of the vtable */
	10, 0, 0,  0,             /* the table: its vtable is 10 bytes back */
	0,  0,                    /* inside of the table: what aligns field 1 */
	7,  0,                    /* field 1 */
	4,  0, 0,  0,             /* field 0: 4 further on */
	3,  0, 0,  0,             /* the vector */
	1,  0, 0,  0, 2, 0, 0, 0, 3, 0, 0, 0,
};

static void build_small(struct tt_fb_builder *builder)
{
	tt_fb_ref vector = tt_fb_vector_u32(builder, (uint32_t[]){1, 2, 3}, 3);

	tt_fb_table_begin(builder);
	tt_fb_add_ref(builder, 0, vector);
	tt_fb_add(builder, 1, 2, 7, 0);
	tt_fb_add(builder, 2, 4, 5, 5); /* the default is not written */
	tt_fb_finish(builder, tt_fb_table_end(builder));
}

TEST(read_by_hand)
{
	struct tt_fb fb = {small, sizeof(small)};
	struct tt_fb_table root = {0}, none = {0};
	struct tt_fb_vector vector = {0};
	const uint8_t *place = small;
	uint64_t value = 0;

	CHECK_OK(tt_fb_root(&root, &fb));
	CHECK_OK(tt_fb_get(&value, &root, 1, 2, 0));
	CHECK_INT(value, 7);
	CHECK_OK(tt_fb_get(&value, &root, 2, 4, 42));
	CHECK_INT(value, 42);
	CHECK_OK(tt_fb_get_vector(&vector, &root, 0, 4));
	CHECK_INT(vector.count, 3);
	CHECK_INT(tt_fb_load(vector.data + 8, 4), 3);
	CHECK_OK(tt_fb_get_table(&none, &root, 9));
	CHECK(!none.fb);
	CHECK_OK(tt_fb_get(&value, &none, 0, 8, 13)); /* an absent table has no fields */
	CHECK_INT(value, 13);
	CHECK_OK(tt_fb_get_struct(&place, &root, 3, 16));
	CHECK(!place);
	CHECK(!tt_fb_has_identifier(&fb, "TEST"));
}

TEST(built_is_read)
{
	struct tt_fb_builder builder = {0};
	struct tt_fb_table root = {0}, inner = {0};
	struct tt_fb_vector list = {0}, numbers = {0};
	const uint8_t *place = NULL;
	tt_fb_ref refs[3], vector, pair;
	uint64_t value = 0;
	struct tt_fb fb;

	for (uint32_t i = 0; i < 3; i++) {
		vector = tt_fb_vector_u32(&builder, (uint32_t[]){i, 10 * i}, i ? 2 : 0);
		tt_fb_table_begin(&builder);
		tt_fb_add_ref(&builder, 0, vector);
		tt_fb_add(&builder, 3, 1, 200 + i, 0);
		refs[i] = tt_fb_table_end(&builder);
	}
	vector = tt_fb_vector_refs(&builder, refs, 3);
	pair = tt_fb_struct_u64(&builder, (uint64_t[]){1, UINT64_MAX}, 2);
	tt_fb_table_begin(&builder);
	tt_fb_add(&builder, 5, 8, 1ull << 40, 0);
	tt_fb_add_ref(&builder, 1, pair);
	tt_fb_add_ref(&builder, 0, vector);
	tt_fb_finish(&builder, tt_fb_table_end(&builder));
	CHECK_OK(tt_fb_builder_status(&builder));
	CHECK_INT(builder.size % 8, 0);
	CHECK_INT(builder.vtables.count, 2); /* the three inner tables share one */

	fb = (struct tt_fb){tt_fb_builder_data(&builder), builder.size};
	CHECK_OK(tt_fb_root(&root, &fb));
	CHECK_OK(tt_fb_get(&value, &root, 5, 8, 0));
	CHECK(value == 1ull << 40);
	CHECK_OK(tt_fb_get_struct(&place, &root, 1, 16));
	CHECK(place && tt_fb_load(place + 8, 8) == UINT64_MAX);
	CHECK_OK(tt_fb_get_vector(&list, &root, 0, 4));
	CHECK_INT(list.count, 3);
	for (uint32_t i = 0; i < 3; i++) {
		CHECK_OK(tt_fb_element(&inner, &list, i));
		CHECK_OK(tt_fb_get(&value, &inner, 3, 1, 0));
		CHECK_INT(value, 200 + i);
		CHECK_OK(tt_fb_get_vector(&numbers, &inner, 0, 4));
		CHECK_INT(numbers.count, i ? 2 : 0);
	}
	tt_fb_builder_deinit(&builder);
}

/* The vtable needs no alignment of its own: it stands right before its table. */
static const uint8_t want[] = {
	12, 0, 0, 0, 8, 0, 12, 0, 8, 0, 6, 0, 8, 0, 0, 0, 0, 0, 7, 0,
	4,  0, 0, 0, 3, 0, 0,  0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0,
};

TEST(the_bytes_are_those_of_the_rules)
{
	struct tt_fb_builder builder = {0};
	struct tt_fb_table root = {0};
	struct tt_fb fb;

	build_small(&builder);
	CHECK_OK(tt_fb_builder_status(&builder));
	CHECK_INT(builder.size, sizeof(want));
	CHECK(builder.size == sizeof(want) &&
	      memcmp(tt_fb_builder_data(&builder), want, sizeof(want)) == 0);
	fb = (struct tt_fb){tt_fb_builder_data(&builder), builder.size};
	CHECK_OK(tt_fb_root(&root, &fb));
	tt_fb_builder_deinit(&builder);
}

/* Reads everything the schema of the small table could hold. */
static tt_status read_all(const uint8_t *data, size_t size)
{
	struct tt_fb fb = {data, size};
	struct tt_fb_table root, table;
	struct tt_fb_vector vector;
	const uint8_t *place;
	uint64_t value;

	TT_TRY(tt_fb_root(&root, &fb));
	for (unsigned field = 0; field < 4; field++) {
		TT_TRY(tt_fb_get(&value, &root, field, 2, 0));
		TT_TRY(tt_fb_get_vector(&vector, &root, 0, 4));
		for (uint32_t i = 0; i < vector.count; i++)
			TT_TRY(tt_fb_element(&table, &vector, i));
	}
	TT_TRY(tt_fb_get_table(&table, &root, 0));
	return tt_fb_get_struct(&place, &root, 0, 16);
}

/* Every byte replaced by every value, and every length: read inside of the buffer or refused. */
TEST(any_bytes_are_safe)
{
	int refused = 0;

	for (size_t length = 0; length <= sizeof(small); length++) {
		uint8_t *copy = malloc(length ? length : 1);

		memcpy(copy, small, length);
		refused += read_all(copy, length) != TTNN_OK;
		free(copy);
	}
	for (size_t i = 0; i < sizeof(small); i++)
		for (int byte = 0; byte < 256; byte++) {
			uint8_t *copy = malloc(sizeof(small));

			memcpy(copy, small, sizeof(small));
			copy[i] = (uint8_t)byte;
			refused += read_all(copy, sizeof(small)) != TTNN_OK;
			free(copy);
		}
	CHECK(refused > 1000);
}

TEST(what_is_outside)
{
	static const uint8_t far_root[] = {200, 0, 0, 0, 0, 0, 0, 0};
	static const uint8_t no_root[] = {0, 0, 0, 0, 0, 0, 0, 0};
	static const uint8_t far_vtable[] = {4, 0, 0, 0, 0, 0, 0, 0x80};
	struct tt_fb_table root;

	CHECK_FAILS(tt_fb_root(&root, &(struct tt_fb){far_root, 8}), TTNN_FORMAT,
		    "the root reference at offset 0 lies outside");
	CHECK_FAILS(tt_fb_root(&root, &(struct tt_fb){no_root, 8}), TTNN_FORMAT, "root reference");
	CHECK_FAILS(tt_fb_root(&root, &(struct tt_fb){far_vtable, 8}), TTNN_FORMAT, "vtable");
	CHECK_FAILS(tt_fb_root(&root, &(struct tt_fb){far_root, 3}), TTNN_FORMAT, "root");
}

TEST(too_many_fields)
{
	struct tt_fb_builder builder = {0};

	tt_fb_table_begin(&builder);
	for (unsigned i = 0; i <= TT_FB_MAX_FIELDS; i++)
		tt_fb_add(&builder, i, 1, 1, 0);
	tt_fb_table_end(&builder);
	CHECK(tt_fb_builder_status(&builder) != TTNN_OK);
	tt_fb_builder_deinit(&builder);
}

SCENARIO(building)
{
	struct tt_fb_builder builder = {0};
	tt_status status;

	for (uint32_t i = 0; i < 100; i++) {
		tt_fb_vector_u32(&builder, (uint32_t[]){i, i, i}, i % 4);
		tt_fb_table_begin(&builder);
		tt_fb_add(&builder, i % 16, 4, 1, 0); /* sixteen different vtables */
		tt_fb_table_end(&builder);
	}
	build_small(&builder);
	status = tt_fb_builder_status(&builder);
	tt_fb_builder_deinit(&builder);
	return status;
}
