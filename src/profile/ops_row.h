/*
 * ops_row.h: what a performance report says of one operation, as facts: walk.c makes such rows of recordings, the
 * writers (columns.c, logs.c) and the analysis (bounds.c) read them. Texts are not formatted here.
 */
#ifndef TT_PROFILE_OPS_ROW_H
#define TT_PROFILE_OPS_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ttnn.h>

#include "base/str.h"

enum tt_ops_kind {
	TT_OPS_DEVICE,   /* a program on one chip */
	TT_OPS_HOST,     /* an operation that the host computes */
	TT_OPS_SIGNPOST, /* a mark */
	TT_OPS_TRACE,    /* a captured trace begins, ends, runs again, goes: no line of a CSV */
};

/* As upstream words them in its log. */
enum tt_ops_step {
	TT_OPS_TRACE_BEGIN,
	TT_OPS_TRACE_END,
	TT_OPS_TRACE_REPLAY,
	TT_OPS_TRACE_RELEASE,
	TT_OPS_TRACE_STEPS
};

/* A tensor; without padding bytes that matter: cleared before it is filled in. */
struct tt_ops_tensor {
	uint32_t padded[4], logical[4]; /* W, Z, Y, X */
	uint8_t dtype, layout, buffer, memory_layout;
	uint8_t on_device, known; /* known: the numbers above are members of their enumerations */
	uint16_t device;          /* of the mesh */
	uint64_t bytes;
};

/* A member of the attributes, as text. */
struct tt_ops_attribute {
	const char *name, *text;
};

/* The attributes of an operation: by name, in the order of the alphabet. Shared. */
struct tt_ops_attributes {
	uint32_t refs;
	uint32_t count;
	struct tt_ops_attribute *rows;
};

/* What operations of the same program have in common. Shared; rows hold references. */
struct tt_ops_program {
	uint32_t refs;
	uint64_t number; /* counts different ones of a run, from 1 */
	const char *op_code;
	struct tt_ops_attributes *attributes; /* NULL: it has none */
	struct tt_ops_tensor *tensors;        /* inputs, then outputs */
	uint32_t inputs, outputs;
	bool known; /* the recording tells what follows */
	uint64_t hash;
	uint32_t cores;
	const ttnn_core_set *core_set; /* those; the source's, or NULL */
	bool computes;                 /* false: it moves data alone */
	const char *fidelity;          /* static; NULL: there is none */
	bool modelled;                 /* the next ones are the model's; else it has none */
	uint64_t compute_ns, bandwidth_ns, ideal_ns;
	double *bandwidths; /* of inputs, then of outputs */
	uint32_t input_bws, output_bws;
	char *source; /* the file with its kernel, or NULL */

	/* The CSV writer's: cells that depend on nothing else, as text (columns.c). */
	struct tt_str cells;
	uint32_t cell_ends[24];
	bool celled;
};

/* The chips of a mesh, which are all alike. */
struct tt_ops_chip {
	const char *arch; /* "wormhole_b0" */
	uint32_t clock_mhz;
	uint32_t cores; /* of one chip, that programs may use */
	const uint32_t *ids;
	uint32_t count;
};

struct tt_ops_row {
	enum tt_ops_kind kind;
	struct tt_ops_program *program; /* of an operation */
	char *text, *message;           /* of a signpost, owned; message may be NULL */
	uint64_t call;                  /* op id: program id × 1024 + device */
	uint32_t device;
	uint32_t mesh; /* id of its mesh device in the process */
	const struct tt_ops_chip *chip;

	uint64_t order_ns;              /* rows come in the order of these times */
	uint64_t begin_ns, duration_ns; /* on the host, since the run began */

	bool ran; /* the device told when: else all up to `starts` is not known */
	uint64_t fw_begin, fw_end, kernel_begin, kernel_end; /* cycles of the chip's clock */
	bool has_busy;
	uint64_t busy_min, busy_max, busy_avg; /* of the threads that stood for cores, ns */
	uint64_t starts;                       /* from the first thread's start to the last's, ns */
	bool has_latency;
	int64_t latency; /* since the operation before on this device, ns */

	bool cache_hit;
	uint32_t trace_id, session; /* session 0: it is no replay */
	enum tt_ops_step step;      /* of TT_OPS_TRACE */

	char *loc;        /* as a mark gave it, owned; NULL: the next three say where */
	const char *file; /* NULL: not known */
	uint32_t line;
	const char *name; /* of the call: "ttnn.add" */
	char *const_eval; /* owned; NULL: nobody said */
	char *metadata;   /* owned; NULL: nobody said */
	uint64_t
		outer; /* the outermost call, as parts of a recording count them; 0: outside of any */
	uint32_t process; /* of the run, from 0 */
	uint32_t thread;  /* of the process, from 0 */
};

/* ---- program.c ---------------------------------------------------------------------------------------- */

/* Give a reference back; NULL is fine. */
void tt_ops_attributes_unref(struct tt_ops_attributes *attributes);
void tt_ops_program_unref(struct tt_ops_program *program);

/* A program with room for this; its texts are copied, the attributes' reference is taken over. NULL: exhausted. */
struct tt_ops_program *tt_ops_program_new(const char *op_code, struct tt_ops_attributes *attributes,
					  uint32_t inputs, uint32_t outputs);

/* Frees what the row owns. */
void tt_ops_row_deinit(struct tt_ops_row *row);

/* A row of its own with the same content; false when memory is exhausted, and then *out needs no deinit. */
bool tt_ops_row_copy(struct tt_ops_row *out, const struct tt_ops_row *row);

struct tt_event_tensor;
void tt_ops_tensor_of(struct tt_ops_tensor *out, const struct tt_event_tensor *tensor);

/* "DEV_1_DRAM_INTERLEAVED" or "HOST"; then names as profiles write them, never NULL. */
void tt_ops_memory_text(struct tt_str *out, const struct tt_ops_tensor *tensor);
const char *tt_ops_dtype_name(const struct tt_ops_tensor *tensor);
const char *tt_ops_layout_name(const struct tt_ops_tensor *tensor);
const char *tt_ops_buffer_name(const struct tt_ops_tensor *tensor);
const char *tt_ops_memory_layout_name(const struct tt_ops_tensor *tensor);

/* The text of a place in the user's program, with commas: "loc(fused[\"a.py\":60:0, \"add\"])" or "loc(unknown)". */
void tt_ops_loc_text(struct tt_str *out, const struct tt_ops_row *row);

/* Cycles of a chip's clock to nanoseconds, rounded half to even as upstream prints them; and back. */
uint64_t tt_ops_ns(uint64_t cycles, uint32_t mhz);
uint64_t tt_ops_cycles(uint64_t ns, uint32_t mhz);

#endif
