/* parts of tensors on a mesh, masks of groups */
#include "test.h"

#include <ttnn_frontend.h>

static tt_status make(ttnn_tensor **out, const float *data, uint32_t rows, uint32_t cols)
{
	struct ttnn_spec_args args = {.shape = {2, {rows, cols}}, .dtype = TTNN_FLOAT32};
	struct ttnn_tensor_spec spec;

	TT_TRY(ttnn_tensor_spec_make(&spec, &args));
	return ttnn_tensor_from_data(out, data, TTNN_FLOAT32, &spec, 0);
}

static const float *floats(const ttnn_tensor *tensor)
{
	return ttnn_tensor_bytes(tensor);
}

static const struct ttnn_shape mesh = {2, {2, 3}};
static const struct ttnn_placement both[] = {{true, 0}, {true, -1}}, rows_only[] = {{true, 0}, {0}};

static void drop(ttnn_tensor **parts, size_t count)
{
	while (count)
		ttnn_tensor_unref(parts[--count]);
}

TEST(a_mesh_cuts_both_dimensions)
{
	ttnn_tensor *whole, *parts[6], *back;
	float data[4 * 6];

	for (int i = 0; i < 24; i++)
		data[i] = (float)i;
	CHECK_OK(make(&whole, data, 4, 6));
	CHECK_OK(ttnn_tensor_cut(parts, whole, &mesh, both));
	for (int i = 0; i < 6;
	     i++) { /* part (y, x) has rows 2y and 2y + 1, columns 2x and 2x + 1 */
		const struct ttnn_tensor_spec *spec = ttnn_tensor_get_spec(parts[i]);

		CHECK(spec->shape.dim[0] == 2 && spec->shape.dim[1] == 2);
		for (int k = 0; k < 4; k++)
			CHECK(floats(parts[i])[k] ==
			      (float)((i / 3 * 2 + k / 2) * 6 + i % 3 * 2 + k % 2));
	}
	CHECK_OK(ttnn_tensor_join(&back, parts, &mesh, both));
	CHECK(ttnn_tensor_get_spec(back)->shape.dim[0] == 4);
	CHECK(memcmp(floats(back), data, sizeof(data)) == 0);
	ttnn_tensor_unref(back);
	drop(parts, 6);
	CHECK_OK(ttnn_tensor_cut(parts, whole, &mesh, rows_only));
	CHECK(floats(parts[0])[11] == 11 && floats(parts[5])[0] == 12);
	drop(parts, 6);
	ttnn_tensor_unref(whole);
}

TEST(one_dimension_can_be_cut_twice)
{
	static const struct ttnn_placement twice[] = {{true, 1}, {true, 1}};
	float data[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
	ttnn_tensor *whole, *parts[6], *back;

	CHECK_OK(make(&whole, data, 1, 12));
	CHECK_OK(ttnn_tensor_cut(parts, whole, &mesh, twice));
	for (int i = 0; i < 6; i++)
		CHECK(floats(parts[i])[0] == (float)(2 * i));
	CHECK_OK(ttnn_tensor_join(&back, parts, &mesh, twice));
	CHECK(memcmp(floats(back), data, sizeof(data)) == 0);
	ttnn_tensor_unref(back);
	drop(parts, 6);
	ttnn_tensor_unref(whole);
}

TEST(what_cannot_be_cut_is_refused)
{
	static const struct ttnn_placement outside[] = {{true, 2}, {0}};
	static const struct ttnn_placement none[] = {{0}, {0}};
	ttnn_tensor *whole, *tiles, *parts[6];
	float data[20] = {0};

	CHECK_OK(make(&whole, data, 4, 5));
	CHECK(ttnn_tensor_cut(parts, whole, &mesh, both) == TTNN_INVALID);
	CHECK(ttnn_tensor_cut(parts, whole, &mesh, outside) == TTNN_INVALID);
	CHECK_OK(ttnn_tensor_to_layout(&tiles, whole, TTNN_TILE, 0));
	CHECK(ttnn_tensor_cut(parts, tiles, &mesh, none) == TTNN_INVALID);
	ttnn_tensor_unref(tiles);
	CHECK_OK(ttnn_tensor_cut(parts, whole, &mesh, none)); /* all have the same */
	CHECK(parts[0] == whole && parts[5] == whole);
	drop(parts, 6);
	ttnn_tensor_unref(whole);
}

/* As create_group_norm_input_mask(96, 8, 2) of ttnn 0.81.1 has them: 4 groups of 12 on each core. */
TEST(masks_of_groups)
{
	static const int first[] = {0, 12, 24, 4, 0, 12, 24, 4};
	struct ttnn_group_mask mask = {.channels = 96,
				       .groups = 8,
				       .cores = 2,
				       .dtype = TTNN_FLOAT32,
				       .tile_height = 32,
				       .tile_width = 32,
				       .last_rows = 5};
	ttnn_tensor *tensor, *rows;

	CHECK_OK(ttnn_group_mask_new(&tensor, &mask));
	CHECK_OK(ttnn_tensor_to_layout(&rows, tensor, TTNN_ROW_MAJOR, 0));
	CHECK(ttnn_tensor_get_spec(rows)->shape.dim[1] == 16);
	CHECK(ttnn_tensor_get_spec(rows)->shape.dim[3] == 64);
	for (int i = 0; i < 16 * 32 * 64; i++) {
		int group = i / 64 / 32, row = i / 64 % 32, col = i % 64;
		bool in = col >= first[group % 8] && col < first[group % 8] + 12;

		CHECK(floats(rows)[i] == (in && (group < 8 || row < 5) ? 1.0f : 0.0f));
	}
	ttnn_tensor_unref(rows);
	ttnn_tensor_unref(tensor);
	mask.cores = 3;
	CHECK(ttnn_group_mask_new(&tensor, &mask) == TTNN_INVALID);
	mask.groups = 0;
	CHECK(ttnn_group_mask_new(&tensor, &mask) == TTNN_INVALID);
}

SCENARIO(parts_while_memory_runs_out)
{
	struct ttnn_group_mask mask = {
		.channels = 64, .groups = 8, .cores = 1, .tile_height = 32, .tile_width = 32};
	ttnn_tensor *whole, *parts[6], *back = NULL, *masks = NULL;
	float data[24] = {0};
	tt_status status;

	TT_TRY(make(&whole, data, 4, 6));
	status = ttnn_tensor_cut(parts, whole, &mesh, both);
	ttnn_tensor_unref(whole);
	if (status != TTNN_OK)
		return status;
	status = ttnn_tensor_join(&back, parts, &mesh, both);
	drop(parts, 6);
	if (status == TTNN_OK)
		ttnn_tensor_unref(back);
	if (status == TTNN_OK)
		status = ttnn_group_mask_new(&masks, &mask);
	if (status == TTNN_OK)
		ttnn_tensor_unref(masks);
	return status;
}
