#include "tensor/tile.h"

static bool is_legal(const struct ttnn_tile *tile)
{
	/* Heights are the powers of two up to 32; widths one or two faces. */
	return tile->height && tile->height <= 2 * TT_FACE &&
	       !(tile->height & (tile->height - 1)) &&
	       (tile->width == TT_FACE || tile->width == 2 * TT_FACE);
}

tt_status tt_tile_check(const struct ttnn_tile *tile)
{
	if (!is_legal(tile))
		return tt_fail_cond(TTNN_INVALID, "it != TILE_FACE_HW_CHOICES.end()",
				    "Tile size is not valid for our hardware");
	if (tile->transpose && tile->height < TT_FACE)
		return tt_fail_cond(TTNN_INVALID,
				    "tile_height == constants::FACE_HEIGHT || "
				    "tile_height == constants::TILE_HEIGHT",
				    "Tile height must equal 16 or 32 in transpose mode");
	return TTNN_OK;
}

struct tt_faces tt_tile_faces(const struct ttnn_tile *tile)
{
	struct tt_faces faces = {tile->height < TT_FACE ? tile->height : TT_FACE, TT_FACE, 0};

	if (faces.height) /* a trace may hold a tile that nobody checked */
		faces.count = tile->height / faces.height * (tile->width / faces.width);
	return faces;
}

bool tt_tile_equal(const struct ttnn_tile *a, const struct ttnn_tile *b)
{
	return a->height == b->height && a->width == b->width && a->transpose == b->transpose;
}
