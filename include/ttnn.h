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
	X(INTERNAL, "a bug in this library")                                                       \
	X(TIMEOUT, "it took longer than TT_METAL_OPERATION_TIMEOUT_SECONDS")                       \
	X(CANCELLED, "a binding gave it up while it ran")                                          \
	X(RANGE, "an index is beyond the end of its list")

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
 * X(NAME, name, code, class, element bytes, mantissa bits of a block float, layouts, file code)
 * The codes are the numbers that reports and traces carry; .tensorbin files have codes of their own,
 * -1 being none. Block floats share one exponent per 16 elements and exist in TILES only; their
 * element size counts the mantissa, as upstream does. What exists in ROWS only is converted from
 * and to float32 alone.
 */
#define TTNN_DTYPE_LIST(X)                                                                         \
	X(BFLOAT16, bfloat16, 0, FLOAT, 2, 0, ANY, 0)                                              \
	X(FLOAT32, float32, 1, FLOAT, 4, 0, ANY, 1)                                                \
	X(UINT32, uint32, 2, UNSIGNED, 4, 0, ANY, 2)                                               \
	X(BFLOAT8_B, bfloat8_b, 3, BLOCK, 1, 7, TILES, 3)                                          \
	X(BFLOAT4_B, bfloat4_b, 4, BLOCK, 1, 3, TILES, 4)                                          \
	X(UINT8, uint8, 5, UNSIGNED, 1, 0, ANY, 5)                                                 \
	X(UINT16, uint16, 6, UNSIGNED, 2, 0, ANY, 6)                                               \
	X(INT32, int32, 7, SIGNED, 4, 0, ANY, 7)                                                   \
	X(FP8_E4M3, fp8_e4m3, 8, FLOAT, 1, 0, ROWS, -1)                                            \
	X(INT8, int8, 9, SIGNED, 1, 0, ANY, 8)

enum ttnn_dtype {
#define TTNN_X(NAME, name, code, class, bytes, mantissa, layouts, file) TTNN_##NAME = code,
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

/*
 * How texts are spelled: SEED as ttnn's documentation shows them (torch's tensors, "bfloat16",
 * ttnn.Shape), TT_METAL as the released tt-metal prints them ("BFLOAT16", Shape).
 */
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
	TTNN_VALUE_LIST,        /* count items */
	TTNN_VALUE_OBJECT,      /* a struct of `schema`: one item per field */
	TTNN_VALUE_OPAQUE,      /* a frontend's own object: only its text is known */
	TTNN_VALUE_SEEN_TENSOR, /* in traces: what a tensor was like; no argument of a call */
	TTNN_VALUE_SEEN_DEVICE, /* in traces: `count` is the id of the device */
	TTNN_VALUE_DICT,        /* count items: key, value, key, value ... */
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
		const struct tt_event_tensor *seen; /* SEEN_TENSOR */
		const struct ttnn_value *items;     /* LIST, OBJECT, DICT */
	};
};

/* ---- making and reading values ------------------------------------------------------------ */

/* A shape from signed extents; refuses negative or too large extents and ranks. */
TTNN_API enum ttnn_status ttnn_shape_make(struct ttnn_shape *out, const int64_t *dims, size_t rank);

/* The number of elements; refuses a product beyond 64 bits, and a rank beyond TTNN_MAX_RANK. */
TTNN_API enum ttnn_status ttnn_shape_volume(uint64_t *out, const struct ttnn_shape *shape);

/* Same rank and same extents; a rank beyond TTNN_MAX_RANK equals nothing. */
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

/* By what specs are made from; row-major specs do not count their tile, which has no meaning. */
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

/*
 * With other numbers in the same places, padding too. The tensor itself if it has that type. Block
 * floats turn ROW_MAJOR into TILE, which is refused when that needs more padding; fp8_e4m3 stays
 * ROW_MAJOR and is converted from and to float32 only.
 */
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

/*
 * Gives the device memory of a tensor back, if this tensor is the only owner; with force also when
 * others share it. The tensor that a view came from is then not allocated either; other views can be
 * read until they are given up, too. Of a part of a mesh tensor the memory on all chips goes.
 * The tensor itself stays the caller's. Returns whether memory was given back: never on the host.
 */
TTNN_API bool ttnn_tensor_deallocate(ttnn_tensor *tensor, bool force);

/* Whether the data is there: false once the memory was given back or the device closed. */
TTNN_API bool ttnn_tensor_is_allocated(const ttnn_tensor *tensor);

/* ---- devices ------------------------------------------------------------------------------- */

/*
 * A device: a mesh of one or more virtual chips, and their memory. The chips of a mesh are used in
 * step: a buffer has the same address on each of them.
 *
 * Devices are opened on a machine, which a profile describes: one that the library has ("n150",
 * "t3k", ...; `ttnn devices` lists them), or a file (docs/formats/profile.md), or an upstream cluster
 * descriptor. The variable TTNN_DEVICE names the default, which is n150 without it.
 */
typedef struct tt_device ttnn_device;

/* Where commands are dispatched: takes cores away from computing, or none. */
enum ttnn_dispatch {
	TTNN_DISPATCH_AUTO = 0, /* as the profile says */
	TTNN_DISPATCH_WORKER,   /* a row or column of tensix cores */
	TTNN_DISPATCH_ETHERNET, /* ethernet cores */
	TTNN_DISPATCH_SLOW,     /* the host */
};

/* Which tensix cores dispatch when they do. */
enum ttnn_dispatch_axis { TTNN_AXIS_AUTO = 0, TTNN_AXIS_ROW, TTNN_AXIS_COLUMN };

/* What happens in an operation, and at which addresses: as in which release. */
enum ttnn_generation {
	TTNN_GENERATION_AUTO = 0, /* that of TTNN_GENERATION, else release-0.81 */
	TTNN_GENERATION_RELEASE,  /* "release-0.81" */
	TTNN_GENERATION_CLASSIC,  /* "classic": as the older documents show it */
};

/* What upstream takes when these are not given. */
#define TTNN_DEFAULT_L1_SMALL_SIZE 0
#define TTNN_DEFAULT_TRACE_REGION_SIZE 0
#define TTNN_DEFAULT_WORKER_L1_SIZE 0

/* How a device is opened; all zero is the default of everything. */
struct ttnn_device_options {
	const char *profile;    /* name or path; NULL: TTNN_DEVICE */
	const char *memory_map; /* whose base addresses; NULL: the profile's or generation's */
	enum ttnn_generation generation;
	uint64_t l1_small_size;     /* bytes of every core's L1 kept for small buffers */
	uint64_t trace_region_size; /* bytes of DRAM kept for traces, over all banks */
	uint64_t worker_l1_size;    /* bytes of L1 for buffers; 0: all behind the kernels' ring */
	uint32_t queues;            /* command queues, 1 or 2; 0: 1 */
	enum ttnn_dispatch dispatch;
	enum ttnn_dispatch_axis axis;
};

/* Which part of the machine, or of a mesh; all zero is all of it. */
struct ttnn_mesh_options {
	uint32_t rows, cols; /* 0 × 0: all */
	bool has_offset;
	uint32_t row, col;     /* the place of the first chip, when has_offset */
	const uint32_t *chips; /* the very chips by id, row by row; NULL: as they are wired */
	size_t chip_count;
};

/* What never changes of a device, but rows, cols and the order of chips, which a reshape does. */
struct ttnn_device_info {
	uint32_t id;           /* of the mesh; counts in the process, from 0 */
	uint32_t rows, cols;   /* of the mesh */
	uint32_t chip_count;   /* rows × cols */
	const uint32_t *chips; /* their ids, row by row */

	const char *profile;     /* "n150" */
	const char *arch;        /* "wormhole_b0" */
	const char *arch_name;   /* "WORMHOLE_B0" */
	const char *arch_family; /* that of the known architecture it works like: "wormhole_b0" */
	uint32_t arch_code;      /* upstream's number */
	const char *cluster;     /* "N150" */
	uint32_t cluster_code;   /* upstream's number */
	enum ttnn_generation generation;
	const char *memory_map; /* "release-0.81" */

	struct ttnn_core logical_grid; /* columns and rows of cores that are not harvested */
	struct ttnn_core compute_grid; /* of those that compute */
	uint32_t dram_banks, l1_banks;
	uint64_t dram_bank_size, l1_size; /* of a whole bank */
	uint64_t dram_base, l1_base;      /* the lowest address of a buffer */
	uint64_t max_worker_l1_size;
	uint32_t dram_alignment, l1_alignment, pcie_alignment;
	uint32_t circular_buffers;              /* of one core */
	uint32_t queues, clock_mhz, card_count; /* of the machine */
	float sfpu_eps, sfpu_nan, sfpu_inf;
	const char *board_type, *device_series; /* of the machine: "Wormhole", "n300" (or "") */
};

/*
 * The row of a device in reports, with upstream's names.
 * X(name)
 */
#define TTNN_DEVICE_ROW_LIST(X)                                                                    \
	X(num_y_cores)                                                                             \
	X(num_x_cores)                                                                             \
	X(num_y_compute_cores)                                                                     \
	X(num_x_compute_cores)                                                                     \
	X(worker_l1_size)                                                                          \
	X(l1_num_banks)                                                                            \
	X(l1_bank_size)                                                                            \
	X(address_at_first_l1_bank)                                                                \
	X(address_at_first_l1_cb_buffer)                                                           \
	X(num_banks_per_storage_core)                                                              \
	X(num_compute_cores)                                                                       \
	X(num_storage_cores)                                                                       \
	X(total_l1_memory)                                                                         \
	X(total_l1_for_tensors)                                                                    \
	X(total_l1_for_interleaved_buffers)                                                        \
	X(total_l1_for_sharded_buffers)                                                            \
	X(cb_limit)                                                                                \
	X(num_dram_channels)                                                                       \
	X(dram_size_per_channel)

struct ttnn_device_row {
#define TTNN_X(name) uint64_t name;
	TTNN_DEVICE_ROW_LIST(TTNN_X)
#undef TTNN_X
};

/* The state of a kind of device memory: the same in every bank. */
struct ttnn_memory_view {
	uint32_t banks;      /* 0 when there is none of this kind */
	uint64_t bank_bytes; /* all in bytes of one bank */
	uint64_t allocated, free, largest_free;
	double fragmentation; /* the share of the free bytes outside of the largest free block */
};

/* Who holds device memory. */
struct ttnn_memory_holder {
	uint64_t buffer_id;  /* as events and reports name it */
	uint64_t address;    /* the same in every bank */
	uint64_t bank_bytes; /* held in every bank, rounded as the allocator does */
	uint64_t size;       /* of the whole buffer, without any padding */
};

/* A machine as its profile describes it. */
struct ttnn_system_info {
	char name[64], arch[64], cluster[64];
	uint32_t cluster_code;
	uint32_t rows, cols; /* the mesh of all chips */
	uint32_t chip_count; /* also those that are in no mesh */
};

/* What a profile (NULL: the default one) describes, without opening anything. */
TTNN_API enum ttnn_status ttnn_system_info(struct ttnn_system_info *out, const char *profile);

/* The name of built-in profile i, in order of their names; NULL behind the last. */
TTNN_API const char *ttnn_profile_name(size_t i);

/*
 * Opens one chip by its id. As upstream does, it makes a mesh of that chip and a submesh of it,
 * which is the device: on a new process its id is 1. Chips may be open any number of times.
 */
TTNN_API enum ttnn_status ttnn_device_open(ttnn_device **out, uint32_t chip,
					   const struct ttnn_device_options *options);

/* Opens a mesh of the machine's chips, laid out as upstream does; mesh NULL: all of them. */
TTNN_API enum ttnn_status ttnn_mesh_open(ttnn_device **out, const struct ttnn_mesh_options *mesh,
					 const struct ttnn_device_options *options);

/*
 * Frees all buffers of a device and of its submeshes, and refuses new ones. What is asked about it
 * is still answered. The second time nothing happens. Any thread may call this while others use
 * the device: what they begin after it is refused with TTNN_STATE.
 */
TTNN_API void ttnn_device_close(ttnn_device *device);

/* One owner more; returns its argument. */
TTNN_API ttnn_device *ttnn_device_ref(ttnn_device *device);
/* One owner less; the last one closes. NULL is fine. */
TTNN_API void ttnn_device_unref(ttnn_device *device);

/* A mesh of a part of the chips, with memory of its own. chips must be NULL. */
TTNN_API enum ttnn_status ttnn_device_submesh(ttnn_device **out, ttnn_device *parent,
					      const struct ttnn_mesh_options *mesh);

/*
 * The whole mesh cut into submeshes of this shape, row by row. *out is an array of *count devices:
 * unref each and give the array back with ttnn_free().
 */
TTNN_API enum ttnn_status ttnn_device_cut(ttnn_device ***out, size_t *count, ttnn_device *parent,
					  uint32_t rows, uint32_t cols);

/* The submeshes that are in use, oldest first; as ttnn_device_cut() otherwise. */
TTNN_API enum ttnn_status ttnn_device_submeshes(ttnn_device ***out, size_t *count,
						ttnn_device *parent);

/*
 * Gives a mesh another shape of as many chips; not while another thread uses it. Refused while there
 * are buffers in its memory: they know their chips by place.
 */
TTNN_API enum ttnn_status ttnn_device_reshape(ttnn_device *device, uint32_t rows, uint32_t cols);

/* Borrowed. */
TTNN_API const struct ttnn_device_info *ttnn_device_get_info(const ttnn_device *device);

/* Fills in the row of a device, as it was when it was opened; closed devices have theirs too. */
TTNN_API void ttnn_device_get_row(struct ttnn_device_row *out, const ttnn_device *device);

/* Refuses SYSTEM_MEMORY. */
TTNN_API enum ttnn_status ttnn_device_memory(struct ttnn_memory_view *out, ttnn_device *device,
					     enum ttnn_buffer_type type);

/* The largest holders of a kind of memory (not of SYSTEM_MEMORY), largest first: *count, at most max. */
TTNN_API enum ttnn_status ttnn_device_holders(struct ttnn_memory_holder *out, size_t *count,
					      size_t max, ttnn_device *device,
					      enum ttnn_buffer_type type);

/* "MeshDevice(1x1 grid, 1 devices)"; free with ttnn_free(). */
TTNN_API enum ttnn_status ttnn_device_text(char **out, const ttnn_device *device);

/* The core that a bank belongs to: a logical core for L1, (bank, 0) for DRAM. */
TTNN_API enum ttnn_status ttnn_device_bank_core(struct ttnn_core *out, const ttnn_device *device,
						enum ttnn_buffer_type type, uint32_t bank);

/* What commands call a logical core, and the way back. */
TTNN_API enum ttnn_status ttnn_device_worker_core(struct ttnn_core *out, const ttnn_device *device,
						  struct ttnn_core logical);
TTNN_API enum ttnn_status ttnn_device_logical_core(struct ttnn_core *out, const ttnn_device *device,
						   struct ttnn_core worker);

/* The logical core best placed to read each DRAM bank over NoC 0 or 1: `dram_banks` cores. */
TTNN_API enum ttnn_status ttnn_device_dram_workers(struct ttnn_core *out, const ttnn_device *device,
						   uint32_t noc);

/* The program cache, which is on at first: how many programs, how often one was found
 * or not since the device was opened, forget them, switch it. */
TTNN_API uint64_t ttnn_device_program_cache_entries(ttnn_device *device);
TTNN_API void ttnn_device_program_cache_counts(uint64_t *hits, uint64_t *misses,
					       ttnn_device *device);
TTNN_API void ttnn_device_program_cache_clear(ttnn_device *device);
TTNN_API void ttnn_device_program_cache_enable(ttnn_device *device, bool on);

/* ---- operations ------------------------------------------------------------------------------ */

/* An argument of a call by name; name NULL is the next positional one. */
struct ttnn_arg {
	const char *name;
	struct ttnn_value value;
};

/*
 * How values are written in C. What they point at must outlive the call. A NULL pointer gives
 * "none".
 */
/* A tensor, borrowed. */
TTNN_API struct ttnn_value ttnn_v_tensor(ttnn_tensor *tensor);
/* A whole number. */
TTNN_API struct ttnn_value ttnn_v_int(int64_t integer);
/* A floating-point number. */
TTNN_API struct ttnn_value ttnn_v_real(double real);
/* True or false. */
TTNN_API struct ttnn_value ttnn_v_bool(bool boolean);
/* Given as "none", which differs from not being given. */
TTNN_API struct ttnn_value ttnn_v_none(void);
/* A text, borrowed. */
TTNN_API struct ttnn_value ttnn_v_string(const char *text);
/* A data type. */
TTNN_API struct ttnn_value ttnn_v_dtype(enum ttnn_dtype dtype);
/* A layout. */
TTNN_API struct ttnn_value ttnn_v_layout(enum ttnn_layout layout);
/* A shape, borrowed. */
TTNN_API struct ttnn_value ttnn_v_shape(const struct ttnn_shape *shape);
/* A memory config, borrowed. */
TTNN_API struct ttnn_value ttnn_v_memory(const struct ttnn_memory_config *memory);
/* A set of cores, as ttnn_core_set_make() gives it. */
TTNN_API struct ttnn_value ttnn_v_core_set(const ttnn_core_set *set);
/* A device, borrowed. */
TTNN_API struct ttnn_value ttnn_v_device(ttnn_device *device);
/* A list of `count` values, borrowed; an empty one may be NULL. */
TTNN_API struct ttnn_value ttnn_v_list(const struct ttnn_value *items, size_t count);

/* Who calls: the outermost scope of the call. METHOD is of a binding's object, no operation to its user. */
enum ttnn_frontend { TTNN_FRONTEND_C = 0, TTNN_FRONTEND_PYTHON = 1, TTNN_FRONTEND_METHOD = 2 };

/* What a call by name hands back. */
struct ttnn_results {
	ttnn_tensor *tensors[64]; /* each is the caller's to unref; NULL for an output not made */
	size_t count;
	struct ttnn_shape
		extents; /* of the image, if a convolution was asked for them; else rank 0 */
	bool pairs;      /* they are complex tensors: real and imaginary part in turn */
};

/*
 * Calls an operation ("ttnn.add", "ttnn::add" or "add") with these arguments. TTNN_TYPE: they fit
 * none of its signatures. TTNN_NOTFOUND: there is no such operation.
 */
TTNN_API enum ttnn_status ttnn_call(struct ttnn_results *out, const char *name,
				    const struct ttnn_arg *args, size_t arg_count,
				    enum ttnn_frontend frontend);

/* The same for an operation with one result. */
TTNN_API enum ttnn_status ttnn_call_one(ttnn_tensor **out, const char *name,
					const struct ttnn_arg *args, size_t arg_count,
					enum ttnn_frontend frontend);

/* ---- parameter files ------------------------------------------------------------------------- */

/*
 * One JSON file for every operation that is called from now on, on any thread: what was given and
 * what came of it (docs/params.md), complete before the call returns. `values` writes the elements of
 * tensors too. They go to `dir`; NULL is what TTNN_OPERATION_TRACE_DIR says, else a directory
 * generated/ttnn/operation_parameters here. The numbers of files go on where they were. An operation
 * whose file cannot be written is none the worse for it; the first one is told on stderr.
 * TTNN_TRACE_PARAMS=1 (or values, or async) in the environment does the same at the first operation.
 */
TTNN_API enum ttnn_status ttnn_params_trace(bool enable, bool values, const char *dir);

/* Whether files are written by a thread of their own, behind the calls; not those with values. */
TTNN_API void ttnn_params_async(bool on);

/* Waits until all files are written. How many operations of this process have none. */
TTNN_API uint64_t ttnn_params_flush(void);

/*
 * Dry run: from now on this thread's calls compute specs and program memory, but no data. As
 * upstream's dry runs do, they place nothing: the address of every buffer they make is 0, and none is
 * refused for want of memory. Returns what it was before.
 */
enum ttnn_run_mode { TTNN_RUN_NORMAL = 0, TTNN_RUN_NO_DISPATCH = 1 };
TTNN_API enum ttnn_run_mode ttnn_set_run_mode(enum ttnn_run_mode mode);

/*
 * Whether dry runs of this thread place their buffers after all, as a real run would: in a copy of
 * the device's memory map, so that they have addresses and can run out of memory, and nothing real
 * changes. The copy is made when a dry run's first buffer is, and given up with the last of them: what
 * is allocated and freed for real in between does not show in it. Program memory is still checked
 * against the real one. Returns what it was before.
 */
TTNN_API bool ttnn_set_dry_addresses(bool on);

/* ---- running operations again ---------------------------------------------------------------- */

/*
 * A trace as cards have them (no recording of what happens: that is below): the operations that
 * run on a device between begin and end, from any thread. They are checked and their results get their
 * places, but as on a card nothing is computed until the trace is run. Every program among them must
 * have run before (TTNN_STATE), and no data may go to the host or come from it meanwhile.
 *
 * Running a trace reads and writes what lies at the same addresses then: tensors that were given to
 * the operations, whatever their contents are now, and results that were kept. What was freed since
 * must have been allocated again as it was. It takes no device memory and is not recorded.
 *
 * *id counts traces in the process. queue is below the `queues` of the device; one trace at a time can
 * be captured on a device. Closing the device releases its traces.
 */
TTNN_API enum ttnn_status ttnn_device_trace_begin(uint32_t *id, ttnn_device *device,
						  uint32_t queue);
TTNN_API enum ttnn_status ttnn_device_trace_end(ttnn_device *device, uint32_t id, uint32_t queue);

/* Runs it, as often as one likes; TTNN_STATE when there is no such trace. */
TTNN_API enum ttnn_status ttnn_device_trace_run(ttnn_device *device, uint32_t id);

/* Forgets it, also one that is still captured; nothing happens when there is none. */
TTNN_API void ttnn_device_trace_release(ttnn_device *device, uint32_t id);

/* Whether a trace is being captured. */
TTNN_API bool ttnn_device_trace_active(const ttnn_device *device);

/* ---- traces -------------------------------------------------------------------------------- */

/* A recording of everything that happens, on its way into a file. */
typedef struct tt_trace ttnn_trace;

/* All zero but one of path and directory: everything. */
struct ttnn_trace_options {
	const char *path; /* of the .ttrace file */
	/*
	 * Instead of a path: the file is named after program and process and made when there is
	 * something to write; a child process after fork() goes on in a file of its own.
	 */
	const char *directory;
	bool this_thread;       /* the calling thread alone */
	uint64_t first_op;      /* from outermost call number so and so (counted from 1)... */
	uint64_t op_count;      /* ...and so many; 0: to the end */
	const char *begin_mark; /* from each mark with this text... */
	const char *end_mark;   /* ...to the next one with this */
	uint64_t last_ops;      /* the last so many outermost calls alone: a flight recorder */
	uint32_t flush_ms; /* how often what lies in buffers is written; 0: when they are full */
	bool stacks;       /* C stacks of calls */
	bool calls;        /* arguments as their users wrote them */
	bool profile; /* what profiles need: when programs ran on each chip, lines of callers */
};

/* What a recording came to. */
struct ttnn_trace_summary {
	uint64_t events, operations; /* operations: outermost calls */
	uint64_t lost;               /* records that could not be kept */
	uint64_t bytes;
	char reason[160]; /* why records are missing; "" if none are */
};

/* Begins to record; recordings run side by side. The environment's TTNN_TRACE=DIR does the same. */
TTNN_API enum ttnn_status ttnn_trace_begin(ttnn_trace **out,
					   const struct ttnn_trace_options *options);

/* Writes all that was recorded so far. Any thread may call it. */
TTNN_API enum ttnn_status ttnn_trace_flush(ttnn_trace *trace);

/*
 * Ends the recording and frees it, also when it fails: the file could not be written. Missing records
 * are no failure; *out, which may be NULL, tells of them.
 */
TTNN_API enum ttnn_status ttnn_trace_end(struct ttnn_trace_summary *out, ttnn_trace *trace);

/* A word in the recordings: signposts, and the ends of windows. `detail` may be NULL. Also <ttnn_zones.h>. */
TTNN_API void ttnn_mark(const char *text, const char *detail);

/*
 * A function of yours around the operations it calls: recordings and graphs show it as they show
 * operations. Begin and end on the same thread; the name is copied. TTNN_STATE for an end too many.
 */
TTNN_API enum ttnn_status ttnn_function_begin(const char *name);
TTNN_API enum ttnn_status ttnn_function_end(void);

/* ---- reports ------------------------------------------------------------------------------- */

/* All zero is the default. */
struct ttnn_import_options {
	const char *db_name; /* NULL: db.sqlite */
	const char *schema;  /* NULL: "3.5"; or "3.3" */
	bool strict;         /* as upstream in all it refuses and appends to */
	bool as_tables;      /* no views, no more indexes than upstream has */
	bool svg;            /* pictures of the graphs too, in output/graphs */
};

/*
 * Makes a database for ttnn-visualizer in the folder `output` of a report, or of all in a folder: the
 * command `ttnn import`. A failure leaves what was there, but TTNN_FORMAT with a *summary: broken files of the folder are
 * left out and named. *summary, if wanted, says what was imported; free it with ttnn_free().
 */
TTNN_API enum ttnn_status ttnn_import_report(char **summary, const char *input, const char *output,
					     const struct ttnn_import_options *options);

/* ---- graphs --------------------------------------------------------------------------------- */

/*
 * A captured graph: nodes in the order of what happened, as seed documents and upstream know them
 * (docs/graphs.md). What ttnn_graph_end() gives, or a file that anyone wrote.
 */
typedef struct tt_graph ttnn_graph;

/*
 * Begins a capture on this thread. Captures nest, and a line on stderr says so, once for the outer one; each end is that of the
 * newest. The outermost one's mode decides what is run: NORMAL, or NO_DISPATCH as a dry run does. In dialect `seed` a capture
 * hears every thread, else only the calling one (<ttnn_frontend.h>: in any). The dialect is what TTNN_DIALECT says ("tt-metal"),
 * else `seed`; the second function is told. Fails only for want of memory or of room for captures.
 */
TTNN_API enum ttnn_status ttnn_graph_begin(enum ttnn_run_mode mode);
TTNN_API enum ttnn_status ttnn_graph_begin_as(enum ttnn_run_mode mode, enum ttnn_dialect dialect);

/* How many captures this thread has begun and not ended. */
TTNN_API uint32_t ttnn_graph_depth(void);

/* Ends it. *out is the caller's (ttnn_graph_free()); out may be NULL. TTNN_STATE: this thread has no capture. */
TTNN_API enum ttnn_status ttnn_graph_end(ttnn_graph **out);

/*
 * The same, and writes a report: the graph, the devices it used, when it was and how long it took.
 * Directories are made. The capture has ended also when the file cannot be written; an empty path is
 * refused before that.
 */
TTNN_API enum ttnn_status ttnn_graph_end_to_file(ttnn_graph **out, const char *path);

/* The report of the newest capture so far, which goes on; free with ttnn_free(). */
TTNN_API enum ttnn_status ttnn_graph_report(char **out);

/* NULL is fine. */
TTNN_API void ttnn_graph_free(ttnn_graph *graph);

/* From a file (graph or report JSON of any dialect, gzip or plain; a .ttrace), or from JSON text. */
TTNN_API enum ttnn_status ttnn_graph_load(ttnn_graph **out, const char *path);
TTNN_API enum ttnn_status ttnn_graph_parse(ttnn_graph **out, const char *json, size_t length);

/* The list of nodes as JSON text; indent 0: all on one line. Free with ttnn_free(). */
TTNN_API enum ttnn_status ttnn_graph_json(char **out, const ttnn_graph *graph, unsigned indent);

/* One node. Everything it points at is the graph's. */
struct ttnn_graph_node {
	const char *type;      /* "function_start" */
	const char *name;      /* of a function, else "" */
	int32_t level, thread; /* thread: from 0 in the order of first words; -1: all are of one */
	uint64_t duration_ns;  /* 0: none */
	const uint32_t *connections, *inputs;
	const char *const *arguments, *const *stack;
	uint32_t connection_count, input_count, argument_count, stack_count;
};
TTNN_API size_t ttnn_graph_count(const ttnn_graph *graph);
/* False when there is no such node. */
TTNN_API bool ttnn_graph_get(struct ttnn_graph_node *out, const ttnn_graph *graph, size_t index);
/* A param that is a text, or a number in either form; NULL, false: there is none. */
TTNN_API const char *ttnn_graph_text(const ttnn_graph *graph, size_t index, const char *key);
TTNN_API bool ttnn_graph_number(uint64_t *out, const ttnn_graph *graph, size_t index,
				const char *key);

/*
 * An answer about a graph, as JSON text (free with ttnn_free()). `what` is one of calltrace, peak_l1,
 * per_core (argument: cores that interleaved buffers are spread over, 0 if the graph tells), dram,
 * counts, output_tensors, output_info, levelized (argument: the deepest level), duration, pretty, dot.
 */
TTNN_API enum ttnn_status ttnn_graph_query(char **out, const ttnn_graph *graph, const char *what,
					   int64_t argument);

/* A picture of its calls, as `ttnn export svg` draws it (free with ttnn_free()); `title` may be NULL. */
TTNN_API enum ttnn_status ttnn_graph_svg(char **out, const ttnn_graph *graph, const char *title);

/* Switches of the process, off at first: C stacks of calls, pages of buffers in reports, Python's stacks. */
enum ttnn_graph_switch {
	TTNN_GRAPH_STACKS,
	TTNN_GRAPH_PAGES,
	TTNN_GRAPH_PYTHON_STACKS,
	TTNN_GRAPH_SWITCHES
};
TTNN_API void ttnn_graph_set(enum ttnn_graph_switch which, bool on);
TTNN_API bool ttnn_graph_is_set(enum ttnn_graph_switch which);

#ifdef __cplusplus
}
#endif
#endif
