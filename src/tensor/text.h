/*
 * text.h: how the values of this layer print, in both dialects.
 *
 * The texts are upstream's, character for character, with their quirks (a ShardSpec lacks a brace
 * per range; some lists have blanks behind commas and some have not). What differs between the
 * dialects are the fields of struct tt_text_style: nothing else here asks which dialect it is.
 *
 * All functions append to `str`; a failed append shows in tt_str_status().
 */
#ifndef TT_TENSOR_TEXT_H
#define TT_TENSOR_TEXT_H

#include "base/str.h"
#include "tensor/enums.h"

/* One dialect. To make another thing differ: a field here, its two values in text.c. */
struct tt_text_style {
	const char *shape;                           /* name of a shape: "Shape" */
	const char *core_open, *core_mid, *core_end; /* around x and y of a core */
	const char *no, *yes;                        /* a boolean parameter of a node */
	bool qualified;                              /* "Layout::TILE", not "TILE" */
	bool memory_tail;      /* a memory config ends with its allocation flags */
	bool row_tile;         /* a row-major page config names a tile */
	bool shard_shape_lost; /* JSON has a sentence in place of an ND shard's shape */
};

/* The row of a dialect; a number that is none gives the default's. */
const struct tt_text_style *tt_text_style(enum ttnn_dialect dialect);

/* "Name([1, 2, 3])": SmallVector, Alignment, MeshShape, MeshCoordinate and their like. */
void tt_text_list(struct tt_str *str, const char *name, const struct ttnn_shape *values);

/* "Shape([1, 2, 3])". */
void tt_text_shape(struct tt_str *str, const struct ttnn_shape *shape, enum ttnn_dialect dialect);

/* "BufferType::L1" or "BufferType.L1": type, separator, member; "Invalid" for a number of none. */
void tt_text_enum(struct tt_str *str, const struct tt_enum *type, int64_t value,
		  const char *separator);

/* A member as the field of a node: "Layout::TILE", or just "TILE"; dtypes "bfloat16". */
void tt_text_member(struct tt_str *str, const struct tt_enum *type, int64_t value,
		    enum ttnn_dialect dialect);

void tt_text_core(struct tt_str *str, struct ttnn_core core, enum ttnn_dialect dialect);

/* "[0-0 - 7-3]". */
void tt_text_core_range(struct tt_str *str, const struct ttnn_core_range *range,
			enum ttnn_dialect dialect);

/* "{[0-0 - 7-7], [0-8 - 3-8]}". */
void tt_text_core_set(struct tt_str *str, const ttnn_core_set *set, enum ttnn_dialect dialect);

/* "ttnn.CoreGrid(x=7, y=8)". */
void tt_text_core_grid(struct tt_str *str, uint32_t width, uint32_t height);

/* "Tile(tile_shape={32, 32},face_shape={16, 16},num_faces=4)", as an argument. */
void tt_text_tile(struct tt_str *str, const struct ttnn_tile *tile);

/* "Tile with shape: [32, 32]", as Python shows it. */
void tt_text_tile_repr(struct tt_str *str, const struct ttnn_tile *tile);

void tt_text_shard_spec(struct tt_str *str, const struct ttnn_shard_spec *spec);
void tt_text_nd_shard_spec(struct tt_str *str, const struct ttnn_nd_shard_spec *spec);
void tt_text_memory_config(struct tt_str *str, const struct ttnn_memory_config *config,
			   enum ttnn_dialect dialect);

/* "TensorSpec(logical_shape=...,tensor_layout=...)", the inside of a tensor argument. */
void tt_text_tensor_spec(struct tt_str *str, const struct ttnn_tensor_spec *spec,
			 enum ttnn_dialect dialect);

#endif
