/*
 * ttnn.h: TT-NN in plain C. The public interface, and the vocabulary of everything inside.
 *
 * Conventions, true for every call unless its comment says otherwise:
 *
 *   errors    A function that can fail returns enum ttnn_status. TTNN_OK is 0. On failure the
 *             outputs are untouched and ttnn_error() holds one complete sentence for this thread.
 *   ownership What a function hands out through a `ttnn_tensor **` (or `char **`) belongs to the
 *             caller, who gives it back with ttnn_tensor_unref() (or ttnn_free()). Pointers
 *             returned directly are borrowed and live as long as the object they came from.
 *   NULL      Objects must not be NULL. *_unref and ttnn_free accept NULL. Options may be NULL,
 *             which means the defaults.
 *   threads   Any function may be called from any thread. Objects are immutable after creation
 *             except where said, so they may be shared between threads without locks.
 *   order     Outputs first, then inputs, then options.
 */
#ifndef TTNN_H
#define TTNN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TTNN_API __attribute__((visibility("default")))
#define TTNN_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define TTNN_API
#define TTNN_PRINTF(fmt, args)
#endif

/* ---- status ------------------------------------------------------------------------------ */

/* To add a status: one line here. X(NAME, "what it means") */
#define TTNN_STATUS_LIST(X)                                                                        \
	X(OK, "no error")                                                                          \
	X(NOMEM, "host memory is exhausted")                                                       \
	X(INVALID, "an argument is not valid")                                                     \
	X(TYPE, "the arguments fit no signature")                                                  \
	X(UNSUPPORTED, "valid, but not supported here")                                            \
	X(NOTFOUND, "no such thing")                                                               \
	X(IO, "the system could not read or write")                                                \
	X(FORMAT, "the content is not what its format demands")                                    \
	X(DEVICE_OOM, "device memory is exhausted")                                                \
	X(STATE, "not possible in the present state")                                              \
	X(INTERNAL, "a bug in this library")

enum ttnn_status {
#define TTNN_X(name, text) TTNN_##name,
	TTNN_STATUS_LIST(TTNN_X)
#undef TTNN_X
};

/* The name of a status ("NOMEM"), or "?" for a number that is none. Never NULL. */
TTNN_API const char *ttnn_status_name(enum ttnn_status status);

/*
 * The message of the last failure on this thread: complete, printable, without a newline at the
 * end. Empty when nothing failed yet. Valid until the next failure on this thread.
 */
TTNN_API const char *ttnn_error(void);

/* Gives back memory that a function of this library handed out as text or bytes. NULL is fine. */
TTNN_API void ttnn_free(void *memory);

/* The version of the library, such as "0.1.0". */
TTNN_API const char *ttnn_version(void);

/* ---- element types ----------------------------------------------------------------------- */

/*
 * To add a data type: one line here and, for a floating-point type that is no block float, its load
 * and store functions in src/tensor/convert.isa.c.
 * X(NAME, name, code, class, element bytes, mantissa bits of a block float)
 * The codes are the numbers that files and traces carry. Block floats share one exponent per 16
 * elements and exist in tiles only; their element size counts the mantissa, as upstream does.
 */
#define TTNN_DTYPE_LIST(X)                                                                         \
	X(BFLOAT16, bfloat16, 0, FLOAT, 2, 0)                                                      \
	X(FLOAT32, float32, 1, FLOAT, 4, 0)                                                        \
	X(UINT32, uint32, 2, UNSIGNED, 4, 0)                                                       \
	X(BFLOAT8_B, bfloat8_b, 3, BLOCK, 1, 7)                                                    \
	X(BFLOAT4_B, bfloat4_b, 4, BLOCK, 1, 3)                                                    \
	X(UINT8, uint8, 5, UNSIGNED, 1, 0)                                                         \
	X(UINT16, uint16, 6, UNSIGNED, 2, 0)                                                       \
	X(INT32, int32, 7, SIGNED, 4, 0)                                                           \
	X(FP8_E4M3, fp8_e4m3, 8, FLOAT, 1, 0)                                                      \
	X(INT8, int8, 9, SIGNED, 1, 0)

enum ttnn_dtype {
#define TTNN_X(NAME, name, code, class, bytes, mantissa) TTNN_##NAME = code,
	TTNN_DTYPE_LIST(TTNN_X)
#undef TTNN_X
		TTNN_DTYPE_COUNT
};

enum ttnn_layout { TTNN_ROW_MAJOR = 0, TTNN_TILE = 1 };

enum ttnn_buffer_type {
	TTNN_DRAM = 0,
	TTNN_L1 = 1,
	TTNN_SYSTEM_MEMORY = 2,
	TTNN_L1_SMALL = 3,
	TTNN_TRACE = 4,
};

enum ttnn_memory_layout {
	TTNN_INTERLEAVED = 0,
	TTNN_HEIGHT_SHARDED = 2,
	TTNN_WIDTH_SHARDED = 3,
	TTNN_BLOCK_SHARDED = 4,
	TTNN_ND_SHARDED = 5,
};

enum ttnn_orientation { TTNN_ORIENT_ROW_MAJOR = 0, TTNN_ORIENT_COL_MAJOR = 1 };

enum ttnn_shard_strategy { TTNN_ROUND_ROBIN_1D = 0, TTNN_GRID_2D = 1, TTNN_CONTIGUOUS_1D = 2 };

/* How texts are spelled: as the project's documents show them, or as the released tt-metal does. */
enum ttnn_dialect { TTNN_DIALECT_SEED = 0, TTNN_DIALECT_TT_METAL = 1 };

/* ---- values ------------------------------------------------------------------------------ */

/* As many dimensions as numpy arrays may have. */
#define TTNN_MAX_RANK 32

/* Extents, outermost first. rank 0 is a scalar. Entries beyond rank are not read. */
struct ttnn_shape {
	uint32_t rank;
	uint32_t dim[TTNN_MAX_RANK];
};

struct ttnn_core {
	uint32_t x, y;
};

/* Both ends belong to the range. */
struct ttnn_core_range {
	struct ttnn_core start, end;
};

/*
 * An immutable list of core ranges in the order given. Equal lists are one object, so two sets are
 * equal exactly when their pointers are; they live until the process ends.
 */
typedef struct tt_core_set ttnn_core_set;

/* height × width of a tile; a transposed tile stores its faces and values column by column. */
struct ttnn_tile {
	uint32_t height, width;
	bool transpose;
};

struct ttnn_shard_spec {
	const ttnn_core_set *grid;
	uint32_t height, width;
	enum ttnn_orientation orientation;
};

struct ttnn_nd_shard_spec {
	struct ttnn_shape shape;
	const ttnn_core_set *grid;
	enum ttnn_orientation orientation;
	enum ttnn_shard_strategy strategy;
};

/* Where a tensor lies. All zero is DRAM, interleaved: the default everywhere. */
struct ttnn_memory_config {
	enum ttnn_memory_layout layout;
	enum ttnn_buffer_type buffer;
	bool has_shard, has_nd_shard;
	bool created_with_nd_shard;
	bool per_core_allocation, range_lockstep_allocation;
	struct ttnn_shard_spec shard;       /* when has_shard */
	struct ttnn_nd_shard_spec nd_shard; /* when has_nd_shard */
};

/*
 * Everything about a tensor but its data. Filled by ttnn_tensor_spec_make(), which computes the
 * lower half from the upper; change the upper half only through that function.
 */
struct ttnn_tensor_spec {
	struct ttnn_shape shape; /* logical */
	enum ttnn_dtype dtype;
	enum ttnn_layout layout;
	struct ttnn_tile tile;            /* 32 × 32 when row-major */
	struct ttnn_memory_config memory; /* with both shard specs where both can say the same */
	struct ttnn_shape alignment;      /* right-aligned with shape */

	struct ttnn_shape padded; /* what storage holds, dimension by dimension */
	uint64_t rows, cols;      /* the same as a matrix: the physical shape */
	uint64_t page_rows, page_cols;
	uint64_t page_bytes, pages; /* unaligned page size; pages × page_bytes = bytes */
	uint64_t bytes;
};

/* A tensor: a spec and reference counted storage, on the host or on a device. */
typedef struct tt_tensor ttnn_tensor;

/* ---- values of any kind -------------------------------------------------------------------- */

enum ttnn_value_kind {
	TTNN_VALUE_ABSENT, /* not given: what an all-zero value is */
	TTNN_VALUE_NONE,   /* given as "none" */
	TTNN_VALUE_BOOL,
	TTNN_VALUE_INT,
	TTNN_VALUE_REAL,
	TTNN_VALUE_STRING, /* count bytes, zero-terminated */
	TTNN_VALUE_ENUM,   /* a member of `enumeration` */
	TTNN_VALUE_SHAPE,
	TTNN_VALUE_MEMORY,
	TTNN_VALUE_CORE,
	TTNN_VALUE_CORE_SET,
	TTNN_VALUE_TILE,
	TTNN_VALUE_SHARD,
	TTNN_VALUE_ND_SHARD,
	TTNN_VALUE_TENSOR,
	TTNN_VALUE_DEVICE,
	TTNN_VALUE_LIST,   /* count items */
	TTNN_VALUE_OBJECT, /* a struct of `schema`: one item per field */
	TTNN_VALUE_OPAQUE, /* a frontend's own object: only its text is known */
	TTNN_VALUE_KINDS
};

/*
 * An argument of an operation, or a part of one. Values own nothing: what they point at belongs to
 * the caller and must live as long as the call they are given to. All zero means "not given".
 */
struct ttnn_value {
	uint8_t kind; /* enum ttnn_value_kind */
	uint32_t count;
	union {
		const struct tt_enum *enumeration;
		const struct tt_schema *schema;
	};
	union {
		bool boolean;
		int64_t integer; /* INT, ENUM */
		double real;
		const char *text; /* STRING, OPAQUE */
		const struct ttnn_shape *shape;
		const struct ttnn_memory_config *memory;
		struct ttnn_core core;
		const ttnn_core_set *core_set;
		const struct ttnn_tile *tile;
		const struct ttnn_shard_spec *shard;
		const struct ttnn_nd_shard_spec *nd_shard;
		ttnn_tensor *tensor;
		struct tt_device *device;
		const struct ttnn_value *items; /* LIST, OBJECT */
	};
};

/* ---- making and reading values ------------------------------------------------------------ */

/* A shape from signed extents; refuses negative or too large extents and ranks. */
TTNN_API enum ttnn_status ttnn_shape_make(struct ttnn_shape *out, const int64_t *dims, size_t rank);

/* The number of elements; refuses a product beyond 64 bits. */
TTNN_API enum ttnn_status ttnn_shape_volume(uint64_t *out, const struct ttnn_shape *shape);

TTNN_API bool ttnn_shape_equal(const struct ttnn_shape *a, const struct ttnn_shape *b);

/* The set of these ranges. Refuses ranges that end before they start, and overlapping ones. */
TTNN_API enum ttnn_status ttnn_core_set_make(const ttnn_core_set **out,
					     const struct ttnn_core_range *ranges, size_t count);

/* The ranges of a set, in the order given; *count may be NULL. Borrowed, valid for ever. */
TTNN_API const struct ttnn_core_range *ttnn_core_set_ranges(const ttnn_core_set *set,
							    size_t *count);

/* How many cores a set holds. */
TTNN_API size_t ttnn_core_set_cores(const ttnn_core_set *set);

/*
 * Sharded in two dimensions (layout HEIGHT, WIDTH or BLOCK); spec may be NULL. Whether it fits a
 * tensor is checked by ttnn_tensor_spec_make().
 */
TTNN_API enum ttnn_status ttnn_memory_config_sharded(struct ttnn_memory_config *out,
						     enum ttnn_memory_layout layout,
						     enum ttnn_buffer_type buffer,
						     const struct ttnn_shard_spec *spec);

/* Sharded in any number of dimensions. Whether it fits is checked as above. */
TTNN_API enum ttnn_status ttnn_memory_config_nd(struct ttnn_memory_config *out,
						enum ttnn_buffer_type buffer,
						const struct ttnn_nd_shard_spec *spec);

/* By the shard spec they were created with: what a tensor spec derived does not count. */
TTNN_API bool ttnn_memory_config_equal(const struct ttnn_memory_config *a,
				       const struct ttnn_memory_config *b);

/* What ttnn_tensor_spec_make() starts from; all zero but shape is a bfloat16 row-major scalar. */
struct ttnn_spec_args {
	struct ttnn_shape shape;
	enum ttnn_dtype dtype;
	enum ttnn_layout layout;
	struct ttnn_tile tile; /* 0 × 0: 32 × 32 */
	struct ttnn_memory_config memory;
	struct ttnn_shape alignment; /* rank 0: the layout's own */
};

/* Checks the combination and computes padded shape, physical shape and pages. */
TTNN_API enum ttnn_status ttnn_tensor_spec_make(struct ttnn_tensor_spec *out,
						const struct ttnn_spec_args *args);

TTNN_API bool ttnn_tensor_spec_equal(const struct ttnn_tensor_spec *a,
				     const struct ttnn_tensor_spec *b);

/* Texts: "Shape([1, 32])", "{[0-0 - 7-7]}", "MemoryConfig(...)", "TensorSpec(...)" in the spelling
 * of a dialect. Free with ttnn_free(). */
TTNN_API enum ttnn_status ttnn_shape_text(char **out, const struct ttnn_shape *shape,
					  enum ttnn_dialect dialect);
TTNN_API enum ttnn_status ttnn_core_set_text(char **out, const ttnn_core_set *set,
					     enum ttnn_dialect dialect);
TTNN_API enum ttnn_status ttnn_memory_config_text(char **out,
						  const struct ttnn_memory_config *config,
						  enum ttnn_dialect dialect);
TTNN_API enum ttnn_status ttnn_tensor_spec_text(char **out, const struct ttnn_tensor_spec *spec,
						enum ttnn_dialect dialect);

/* Names: "bfloat16" in the seed dialect, "BFLOAT16" otherwise. "INVALID" for a number that is none. */
TTNN_API const char *ttnn_dtype_name(enum ttnn_dtype dtype, enum ttnn_dialect dialect);

/* The dtype of a name in any spelling ("bfloat16", "BFLOAT16", "DataType.BFLOAT16"). */
TTNN_API enum ttnn_status ttnn_dtype_find(enum ttnn_dtype *out, const char *name);

/* ---- tensors on the host ------------------------------------------------------------------- */

/* A zero-filled tensor. */
TTNN_API enum ttnn_status ttnn_tensor_new(ttnn_tensor **out, const struct ttnn_tensor_spec *spec);

/*
 * A tensor from row-major elements: `data` holds the elements of the logical shape, of type
 * data_dtype (no block float). They are converted, padded with pad_value and laid out as spec says.
 */
TTNN_API enum ttnn_status ttnn_tensor_from_data(ttnn_tensor **out, const void *data,
						enum ttnn_dtype data_dtype,
						const struct ttnn_tensor_spec *spec,
						double pad_value);

/* The way back: row-major elements of the logical shape. `bytes` must be their exact size. */
TTNN_API enum ttnn_status ttnn_tensor_to_data(void *data, size_t bytes, enum ttnn_dtype data_dtype,
					      const ttnn_tensor *tensor);

/* One owner more; returns its argument. */
TTNN_API ttnn_tensor *ttnn_tensor_ref(ttnn_tensor *tensor);
/* One owner less; the last one frees. NULL is fine. */
TTNN_API void ttnn_tensor_unref(ttnn_tensor *tensor);

/* Borrowed, lives as long as the tensor. */
TTNN_API const struct ttnn_tensor_spec *ttnn_tensor_get_spec(const ttnn_tensor *tensor);

/* The stored bytes in the tensor's own layout, spec->bytes of them. Borrowed. NULL if not on host. */
TTNN_API const void *ttnn_tensor_bytes(const ttnn_tensor *tensor);

/*
 * How many devices of a mesh hold a part of the tensor, each part with the tensor's spec. 1 unless
 * the tensor came from a file, or a frontend, that spread it.
 */
TTNN_API size_t ttnn_tensor_shard_count(const ttnn_tensor *tensor);

/* One of these parts as a tensor of its own; nothing is copied. */
TTNN_API enum ttnn_status ttnn_tensor_shard(ttnn_tensor **out, const ttnn_tensor *tensor,
					    size_t index);

/*
 * Another shape of the same number of elements over the same storage: a view, nothing is copied.
 * Refused when elements would have to move.
 */
TTNN_API enum ttnn_status ttnn_tensor_view(ttnn_tensor **out, ttnn_tensor *tensor,
					   const struct ttnn_shape *shape);

/* In another layout, tiles being 32 × 32; padding holds pad_value. The tensor itself if it is so. */
TTNN_API enum ttnn_status ttnn_tensor_to_layout(ttnn_tensor **out, ttnn_tensor *tensor,
						enum ttnn_layout layout, double pad_value);

/* With other numbers in the same places, padding too. The tensor itself if it has that type. */
TTNN_API enum ttnn_status ttnn_tensor_to_dtype(ttnn_tensor **out, ttnn_tensor *tensor,
					       enum ttnn_dtype dtype);

/*
 * More padding around what a ROW_MAJOR tensor stores: that goes to the indices `start` (NULL: all
 * 0) of the new padded shape, of the same rank, and value everywhere else. The shape stays.
 */
TTNN_API enum ttnn_status ttnn_tensor_pad(ttnn_tensor **out, ttnn_tensor *tensor,
					  const struct ttnn_shape *padded, const uint32_t *start,
					  double value);

/* The part of what a ROW_MAJOR tensor stores from the indices `start` to before `end`. */
TTNN_API enum ttnn_status ttnn_tensor_unpad(ttnn_tensor **out, ttnn_tensor *tensor,
					    const uint32_t *start, const uint32_t *end);

/* Padded to multiples of 32 in the last two dimensions, still ROW_MAJOR; and the way back. */
TTNN_API enum ttnn_status ttnn_tensor_pad_to_tile(ttnn_tensor **out, ttnn_tensor *tensor,
						  double value);
TTNN_API enum ttnn_status ttnn_tensor_unpad_from_tile(ttnn_tensor **out, ttnn_tensor *tensor,
						      const struct ttnn_shape *shape);

/*
 * Writes and reads upstream's .tensorbin; replaces the file only when the new one is complete.
 * What is loaded from a large file stays in the file until it is used, so change the file by
 * replacing it, as ttnn_tensor_save() does, and not in place. fp8_e4m3 has no code in the format.
 */
TTNN_API enum ttnn_status ttnn_tensor_save(const char *path, const ttnn_tensor *tensor);
TTNN_API enum ttnn_status ttnn_tensor_load(ttnn_tensor **out, const char *path);

/*
 * Writes and reads NumPy's .npy: the logical elements, ROW_MAJOR. Saved as float32: bfloat16, block
 * floats, fp8_e4m3. Loaded as float32: float16, float64; as uint8: bool; as int32: int16; as int32
 * or uint32 if every value fits: int64, uint64. Other types are as they are, the rest is refused.
 */
TTNN_API enum ttnn_status ttnn_npy_save(const char *path, const ttnn_tensor *tensor);
TTNN_API enum ttnn_status ttnn_npy_load(ttnn_tensor **out, const char *path);

/* How much of a tensor is printed. */
enum ttnn_print_profile {
	TTNN_PRINT_SHORT = 0, /* summarised */
	TTNN_PRINT_FULL = 1,
	TTNN_PRINT_EMPTY = 2, /* no values: "..." */
};

/* Whether floating-point values print as 1.5000e+03. */
enum ttnn_print_sci { TTNN_SCI_AUTO = 0, TTNN_SCI_ON = 1, TTNN_SCI_OFF = 2 };

/* For ttnn_print_options.precision: no digits behind the point. */
#define TTNN_PRINT_NO_DIGITS UINT32_MAX

/*
 * How tensors print; all zero means the defaults. The seed dialect prints as torch does. The
 * tt-metal dialect prints as tt-metal does: it knows profile, sci and precision only, and a short
 * text has two items at each end of every dimension of more than four.
 */
struct ttnn_print_options {
	uint32_t threshold;  /* more elements than this are summarised; default 1000 */
	uint32_t edge_items; /* shown at each end of a summarised dimension; default 3 */
	uint32_t precision;  /* digits behind the point; default 4 */
	uint32_t line_width; /* default 80 */
	enum ttnn_dialect dialect;
	enum ttnn_print_profile profile;
	enum ttnn_print_sci sci;
};

/* The text of a tensor's values and spec. Free with ttnn_free(). */
TTNN_API enum ttnn_status ttnn_tensor_text(char **out, const ttnn_tensor *tensor,
					   const struct ttnn_print_options *options);

#ifdef __cplusplus
}
#endif

#endif
