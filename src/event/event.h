/*
 * event.h: what the runtime tells about what it does. The contract between the layers that run
 * things (device, backend, ops, frontends) and the layer that records them.
 *
 * Every fact is told once, here, as one struct tt_event. A projection (graph, profile, report)
 * reads these records and nothing else. With nobody listening an emit costs one predictable
 * branch: always write `if (tt_event_on()) tt_event_emit(...)`, so that not even the record is
 * filled in.
 *
 * Records point at data of the emitter that is valid during the call only. A listener copies what
 * it keeps, must not call back into the runtime, and never fails: what it cannot keep it counts.
 *
 * Order within a thread is program order. Nothing is promised between threads but the times.
 *
 * Traces store these structs field by field (event/fields.h) and their reader (trace/source.h) makes
 * them again, so that a projection is written once against struct tt_event and works on a live
 * listener and on a file alike.
 *
 * To add a field: a member at the end of its struct here, one line at the end of its list in
 * event/fields.h, and the value where it is told. Older traces read as zero there. To add a kind:
 * a row at the end of the enumeration, its struct in the union, its list in event/fields.h.
 */
#ifndef TT_EVENT_EVENT_H
#define TT_EVENT_EVENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "event/value.h"
#include "tensor/spread.h"

/* The numbers are in files: new ones go to the end. */
enum tt_event_kind {
	TT_EVENT_SCOPE_BEGIN,
	TT_EVENT_SCOPE_END,
	TT_EVENT_BUFFER_ALLOC,
	TT_EVENT_BUFFER_FREE,
	TT_EVENT_PROGRAM,         /* a program was chosen for the innermost scope */
	TT_EVENT_PROGRAM_MEMORY,  /* one circular buffer, dataflow buffer or scratchpad */
	TT_EVENT_PROGRAM_RELEASE, /* all program memory of a device is free again */
	TT_EVENT_PROGRAM_LAUNCH,  /* the program runs on one chip */
	TT_EVENT_ERROR,
	TT_EVENT_MARK,        /* a word from the user: signposts */
	TT_EVENT_DEVICE_OPEN, /* also for every open device when a capture begins */
	TT_EVENT_DEVICE_CLOSE,
	TT_EVENT_TENSOR,       /* a tensor is there that no scope tells of, or has another id now */
	TT_EVENT_STACK,        /* where the scope was called from that this thread begins next */
	TT_EVENT_THREAD,       /* in traces alone: the first record of a thread */
	TT_EVENT_PYTHON_IO,    /* what Python knows of a call, or of its return */
	TT_EVENT_LOSS,         /* in traces alone: so many records could not be kept */
	TT_EVENT_CALL,         /* what a user called is done: what was given, what came of it */
	TT_EVENT_BUFFER_THERE, /* a buffer that was there when a capture began */
	TT_EVENT_PROGRAM_RUN, /* a launched program has ended on one chip: while somebody profiles */
	TT_EVENT_METAL_TRACE, /* operations are captured on a device, or run again */
	TT_EVENT_PLACE, /* the line of the user's that calls the scope this thread begins next */
	TT_EVENT_ZONE_BEGIN, /* a stretch of the user's own, which graphs do not show */
	TT_EVENT_ZONE_END,
	TT_EVENT_KINDS
};

/* What kind of step a scope is. All are told; a dialect decides which are written. In files too. */
enum tt_scope_kind {
	TT_SCOPE_FRONTEND,  /* a call from Python: "ttnn.add" */
	TT_SCOPE_OPERATION, /* "ttnn::add" */
	TT_SCOPE_PRIM,      /* "ttnn::prim::binary_ng" */
	TT_SCOPE_DEVICE_OP, /* "BinaryNgDeviceOperation" */
	TT_SCOPE_CREATE,    /* "tt::tt_metal::create_device_tensor" */
	TT_SCOPE_HOST,      /* "Tensor::to_device", "Tensor::deallocate" */
};

/* A tensor as it is at this moment. */
struct tt_event_tensor {
	uint64_t id;
	const struct ttnn_tensor_spec *spec;
	bool on_device;
	bool owns;          /* false: a view that does not own its buffer */
	uint64_t buffer_id; /* 0: none, or not allocated any more */
	uint64_t address;
	uint32_t device_id; /* of the mesh device */
	uint64_t spread;    /* over the devices of a mesh: tensor/spread.h */
};

struct tt_event_scope_begin {
	enum tt_scope_kind kind;
	const char *name; /* static or interned: never freed */
	const struct tt_schema *schema;
	const struct ttnn_value *args;
	size_t arg_count;
	const struct tt_event_tensor *inputs; /* in argument order, repeats kept */
	size_t input_count;
	uint32_t
		left_out; /* of an OPERATION: so many args at the end are defaults that nobody gave */
};

/* The scope in which a tensor gives its memory back. */
#define TT_SCOPE_DEALLOCATE "Tensor::deallocate"

/* Whether an outermost scope is a call of the user, which is numbered: not when a tensor merely loses its last owner. */
static inline bool tt_scope_is_call(const struct tt_event_scope_begin *begin)
{
	return begin->kind != TT_SCOPE_HOST || !begin->name ||
	       strcmp(begin->name, TT_SCOPE_DEALLOCATE) != 0;
}

struct tt_event_scope_end {
	const struct tt_event_tensor *outputs;
	size_t output_count;
	bool aborted;         /* left by a failure; an ERROR record came before */
	uint64_t duration_ns; /* since its begin; in traces alone, 0 when live */
};

struct tt_event_buffer {
	uint64_t buffer_id; /* never reused in a process */
	uint32_t device_id;
	enum ttnn_buffer_type type;
	enum ttnn_memory_layout layout;
	uint64_t size;      /* unaligned */
	uint64_t page_size; /* unaligned */
	uint64_t bank_size; /* aligned bytes in the fullest bank */
	uint32_t cores;     /* that hold data; 0: interleaved */
	uint64_t address;   /* 0 in a dry run without addresses */
	bool real;          /* false: a dry run's */
};

/* Values that are the same each time they are told: the recorder writes them once. */
struct tt_event_block {
	const struct ttnn_value *values;
	size_t count;
	uint64_t hash; /* tt_block_hash() of them; 0 in traces */
};

/*
 * PROGRAM_MEMORY is told when upstream tells of it: when a program is new, of every chip. `memory` is all
 * that it takes on one chip, told each time it is launched: tt_event_memory_row() reads it. `facts` is what
 * else is known of it before it runs: tt_event_facts_read() reads it.
 */
struct tt_event_program {
	const char *factory; /* upstream's type name, or NULL when none was chosen yet */
	uint32_t factory_index;
	bool cache_hit;
	uint32_t device_id;           /* of the mesh device */
	struct tt_event_block memory; /* none in dry runs, which tell PROGRAM_MEMORY each time */
	struct tt_event_block facts;
};

enum tt_program_memory_kind {
	TT_MEMORY_CIRCULAR_BUFFER,
	TT_MEMORY_DATAFLOW_BUFFER,
	TT_MEMORY_SCRATCHPAD,
	TT_MEMORY_PLANNED, /* a circular buffer again, as a dry capture inside a real one wants it */
};

struct tt_event_program_memory {
	enum tt_program_memory_kind kind;
	uint32_t index; /* the circular buffer's number */
	uint64_t size;
	uint64_t address; /* 0: not placed */
	const ttnn_core_set *cores;
	bool borrowed; /* lives inside a tensor's buffer */
	uint32_t device_id;
};

/* A row of a program's memory as values. */
enum tt_memory_value {
	TT_MEMORY_KIND,
	TT_MEMORY_INDEX,
	TT_MEMORY_SIZE,
	TT_MEMORY_ADDRESS,
	TT_MEMORY_BORROWED,
	TT_MEMORY_CORES,
	TT_MEMORY_VALUES
};

/* What is known of a program before it runs; the values in the block are in this order. */
enum tt_fact_value {
	TT_FACT_HASH,
	TT_FACT_CORES,
	TT_FACT_COMPUTES,
	TT_FACT_FIDELITY,
	TT_FACT_COMPUTE_NS,
	TT_FACT_BANDWIDTH_NS,
	TT_FACT_IDEAL_NS,
	TT_FACT_INPUT_BW,
	TT_FACT_OUTPUT_BW,
	TT_FACT_SOURCE,
	TT_FACT_VALUES
};

struct tt_event_facts {
	uint64_t hash;              /* of the program: the same in every process */
	const ttnn_core_set *cores; /* that work on one chip; NULL: not known */
	bool computes;              /* false: it moves data alone */
	bool has_fidelity;
	uint32_t fidelity; /* of its arithmetic, as MathFidelity has it: LoFi 0, HiFi4 4 */
	bool modelled;     /* whether there is a model of its speed; else the rest is none */
	uint64_t compute_ns, bandwidth_ns, ideal_ns;
	const struct ttnn_value *input_bw, *output_bw; /* REAL: bytes per ns that tensors need */
	size_t input_bw_count, output_bw_count;
	const char *source; /* the file with its kernel, "src/ops/eltwise/binary.c" */
};

struct tt_event_program_launch {
	uint32_t device_id, chip_id;
	uint64_t launch;            /* counts launches of the process from 1 */
	const ttnn_core_set *cores; /* of the device: all that programs may use */
};

/*
 * Told when the kernel of a launch has ended on a chip, with that time. Times are ticks when live,
 * nanoseconds in traces. The threads that the machine has for a chip's work stand for its cores.
 * Operations that run again (METAL_TRACE) have the number their launch had when it was captured.
 */
struct tt_event_program_run {
	uint32_t device_id, chip_id;
	uint64_t launch;
	const char *name;                  /* of the device operation */
	uint64_t whole;                    /* up to now, from when the chip turned to it */
	uint64_t kernel;                   /* of that, the kernel: the last part */
	uint32_t threads;                  /* that worked on it */
	uint64_t busy_min, busy_max, busy; /* of one thread, and of all of them together */
	uint64_t starts;                   /* from the first thread's start to the last one's */
	uint32_t trace_id, session;        /* session 0: it was not run again */
};

enum tt_metal_trace_step {
	TT_METAL_TRACE_BEGIN,
	TT_METAL_TRACE_END,
	TT_METAL_TRACE_REPLAY, /* its programs follow as PROGRAM_RUN */
	TT_METAL_TRACE_RELEASE,
	TT_METAL_TRACE_DONE, /* the replay is over */
};

struct tt_event_metal_trace {
	enum tt_metal_trace_step step;
	uint32_t device_id, trace_id;
	uint32_t session; /* of a replay, from 1; 0 otherwise */
};

/* A line of the user's program. */
struct tt_event_place {
	const char *file, *function; /* static or interned */
	uint32_t line;
};

/* Zones nest, apart from scopes: an end belongs to the zone that was begun last on its thread. */
struct tt_event_zone {
	const char *name; /* static or interned, as the next two; NULL: the function's */
	const char *function, *file;
	uint32_t line, color; /* color: 0xRRGGBB, 0: none */
};

struct tt_event_error {
	enum ttnn_status status;
	const char *message;
	const char *condition; /* "" when the refusal had none */
};

/* In files. */
enum tt_mark_kind {
	TT_MARK_SIGNPOST, /* ttnn_mark(): a header and what it says */
	TT_MARK_MESSAGE,  /* a line of text */
	TT_MARK_FRAME,    /* the end of a round; its text is "" */
};

struct tt_event_mark {
	const char *text;
	const char *detail; /* (optional) */
	enum tt_mark_kind kind;
	uint32_t color; /* 0xRRGGBB; 0: none */
};

struct tt_event_device {
	const struct tt_device *device; /* NULL in traces: what is needed of it is below */
	uint32_t device_id;
	const struct ttnn_device_info *info; /* NULL with PROGRAM_RELEASE and DEVICE_CLOSE */
	const struct ttnn_device_row *row;   /* its row in reports; NULL likewise */
};

/* Tensors that no scope tells of. */
struct tt_event_mention {
	const struct tt_event_tensor *tensors;
	size_t count;
};

/* One call on a stack. */
struct tt_event_frame {
	uint64_t address;   /* of the code; 0 in Python */
	const char *module; /* the file the code is in, or NULL; NULL when live */
	uint64_t offset;    /* of the address in that file's memory */
	const char *symbol; /* the nearest name the linker knows, or NULL; NULL when live */
	uint64_t symbol_offset;
	const char *text; /* a line of Python's own, or NULL */
};

struct tt_event_stack {
	const struct tt_event_frame *frames; /* innermost first */
	size_t count;
	bool python;
};

struct tt_event_thread {
	uint64_t system_id; /* the kernel's number */
	const char *name;
};

/* What the Python package tells: a JSON object, written and read by frontends alone. */
struct tt_event_python_io {
	bool returned; /* of the call that was told last and has not returned; else of a new one */
	const char *json;
};

struct tt_event_loss {
	uint64_t records;
	const char *reason;
};

/*
 * A call, as its user wrote it: before the signature was resolved. Emitted inside its scope, as the last
 * thing, and only while someone listens to calls (call.h).
 */
struct tt_event_call {
	const char *name;                /* "ttnn.add" */
	const struct ttnn_value *values; /* one for each of enum tt_call_value */
	size_t value_count;
	const char *error; /* why it failed; NULL: it did not */
};

enum tt_call_value {
	TT_CALL_ARGS,   /* a LIST: by position */
	TT_CALL_KWARGS, /* a DICT: by name, in the order given */
	TT_CALL_RESULT, /* NONE when it gave nothing */
	TT_CALL_VALUES
};

struct tt_event {
	enum tt_event_kind kind;
	uint64_t ticks; /* tt_clock_ticks() when it happened; 0: now, or with the one before */
	union {
		struct tt_event_scope_begin begin;
		struct tt_event_scope_end end;
		struct tt_event_buffer buffer; /* BUFFER_ALLOC, BUFFER_FREE, BUFFER_THERE */
		struct tt_event_program program;
		struct tt_event_program_memory memory;
		struct tt_event_program_launch launch;
		struct tt_event_error error;
		struct tt_event_mark mark;
		struct tt_event_device device;   /* DEVICE_*, and PROGRAM_RELEASE */
		struct tt_event_mention mention; /* TENSOR */
		struct tt_event_stack stack;
		struct tt_event_thread thread;
		struct tt_event_python_io python_io;
		struct tt_event_loss loss;
		struct tt_event_call call;
		struct tt_event_program_run run;
		struct tt_event_metal_trace metal_trace;
		struct tt_event_place place;
		struct tt_event_zone zone; /* ZONE_BEGIN; of ZONE_END name and color, if given */
	};
};

/* ---- telling ------------------------------------------------------------------------------------- */

extern atomic_bool tt_event_switch; /* read through tt_event_on() */

static inline bool tt_event_on(void)
{
	return __builtin_expect(atomic_load_explicit(&tt_event_switch, memory_order_relaxed), 0);
}

/* Tells everyone who listens. */
void tt_event_emit(const struct tt_event *event);

/*
 * Tells of several things that happened one right after the other, for less than one by one: those
 * behind the first have the time of the one before them unless they say theirs. What they point at must
 * not change from one to the next.
 */
void tt_event_emit_all(const struct tt_event *events, size_t count);

/* Whether this thread tells nothing: what it does was told already. Returns what it was before. */
bool tt_event_mute(bool on);

/*
 * What this thread tells from now on is kept here and told by nobody, until it is ended with NULL: for who tells of
 * it together with what is around it. What it points at must last as long. A thread that is mute keeps nothing;
 * what there is no room for is lost, so leave enough. Not within one another.
 */
struct tt_event_held {
	struct tt_event *events;
	size_t count, room;
};
void tt_event_hold(struct tt_event_held *held);

/* A tensor as it is now; *out borrows its spec. */
void tt_event_describe(struct tt_event_tensor *out, const struct tt_tensor *tensor);

/* The same text for ever: the name of a scope that is not a constant. NULL when memory is exhausted. */
const char *tt_event_intern(const char *text);

/* A row of program memory to values, TT_MEMORY_VALUES of them, and back; false when they are none. */
void tt_event_memory_values(struct ttnn_value *out, const struct tt_event_program_memory *row);
bool tt_event_memory_row(struct tt_event_program_memory *out,
			 const struct tt_event_program *program, size_t row);

/* Facts to TT_FACT_VALUES values, which borrow from it, and back; false when there are none. */
void tt_event_facts_values(struct ttnn_value *out, const struct tt_event_facts *facts);
bool tt_event_facts_read(struct tt_event_facts *out, const struct tt_event_program *program);

/*
 * Devices are told through these, which also remember those that are open: a capture begins with
 * them and their buffers. The struct is the device's; its `info` and `row` stay valid until the close.
 */
struct tt_event_known {
	struct tt_event_device device;
	/* (optional) Visits the buffers that live on it, oldest first; false: memory is exhausted. */
	bool (*each_buffer)(const struct tt_event_known *known,
			    void (*visit)(void *context, const struct tt_event_buffer *buffer),
			    void *context);
	bool listed;
	struct tt_event_known *older, *newer;
};
void tt_event_device_open(struct tt_event_known *known);
/* Nothing happens when it is not open. */
void tt_event_device_close(struct tt_event_known *known);

/* Calls visit() for every open device, in the order of opening, under the lock of their list. */
void tt_event_each_device(void (*visit)(void *context, const struct tt_event_device *device),
			  void *context);

/* The same for the buffers on all of them; false when some were left out: memory is exhausted. */
bool tt_event_each_buffer(void (*visit)(void *context, const struct tt_event_buffer *buffer),
			  void *context);

/*
 * Whether stacks are wanted: of C and of Python. Whoever begins a scope for a user calls
 * tt_event_emit_stack() before, which costs a branch when they are not. Counted: as often off as on.
 */
struct tt_event_stacks {
	atomic_int c, python;
};
extern struct tt_event_stacks tt_event_stacks;

/* Records the C stack of the caller: the function of the library that the user called, then the user's. */
void tt_event_emit_c_stack(void);

static inline void tt_event_emit_stack(void)
{
	if (__builtin_expect(atomic_load_explicit(&tt_event_stacks.c, memory_order_relaxed), 0))
		tt_event_emit_c_stack();
}

/*
 * Whether somebody profiles: PROGRAM_RUN, PLACE and METAL_TRACE are told then alone. Counted, as stacks.
 */
extern atomic_int tt_event_profiles; /* read through tt_event_profile_on() */

static inline bool tt_event_profile_on(void)
{
	return __builtin_expect(atomic_load_explicit(&tt_event_profiles, memory_order_relaxed), 0);
}

/* ---- tensors and devices in values --------------------------------------------------------------- */

/*
 * Arguments hold live tensors and devices while they happen (TTNN_VALUE_TENSOR, TTNN_VALUE_DEVICE)
 * and descriptions of them in traces (TTNN_VALUE_SEEN_TENSOR, TTNN_VALUE_SEEN_DEVICE). These read
 * both; false when the value is neither.
 */
bool tt_value_seen_tensor(struct tt_event_tensor *out, const struct ttnn_value *value);
bool tt_value_seen_device(uint32_t *device_id, const struct ttnn_value *value);

/* ---- listening ----------------------------------------------------------------------------------- */

/* How many can listen at a time. */
#define TT_LISTENERS_MAX 32

/* Who listens; both are called on the thread where it happened, from any thread at once. */
struct tt_event_listener {
	void (*emit)(struct tt_event_listener *self, const struct tt_event *event);
	/* (optional) Several that were told together; without it they come one by one. */
	void (*emit_all)(struct tt_event_listener *self, const struct tt_event *events,
			 size_t count);
};

/*
 * From now on `listener` hears; it and tt_event_detach() may be called at any time by any thread, but
 * by a listener. TTNN_STATE when too many do. After the detach no emit begins; one that is under
 * way on another thread may still end: the caller keeps the listener alive until then.
 */
tt_status tt_event_attach(struct tt_event_listener *listener);
void tt_event_detach(struct tt_event_listener *listener);

/*
 * For tests, which are alone: makes `listener` the one that hears in this place (NULL: nobody) and
 * returns the one before.
 */
struct tt_event_listener *tt_event_listen(struct tt_event_listener *listener);

#endif
