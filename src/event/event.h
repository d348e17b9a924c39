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
 */
#ifndef TT_EVENT_EVENT_H
#define TT_EVENT_EVENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "event/value.h"

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
	TT_EVENT_MARK, /* a word from the user: signposts */
	TT_EVENT_DEVICE_OPEN,
	TT_EVENT_DEVICE_CLOSE,
	TT_EVENT_KINDS
};

/* What kind of step a scope is. All are told; a dialect decides which are written. */
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
};

struct tt_event_scope_begin {
	enum tt_scope_kind kind;
	const char *name; /* static or interned: never freed */
	const struct tt_schema *schema;
	const struct ttnn_value *args;
	size_t arg_count;
	const struct tt_event_tensor *inputs; /* in argument order, repeats kept */
	size_t input_count;
};

struct tt_event_scope_end {
	const struct tt_event_tensor *outputs;
	size_t output_count;
	bool aborted; /* left by a failure; an ERROR record came before */
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

struct tt_event_program {
	const char *factory; /* upstream's type name, or NULL when none was chosen yet */
	uint32_t factory_index;
	bool cache_hit;
};

enum tt_program_memory_kind {
	TT_MEMORY_CIRCULAR_BUFFER,
	TT_MEMORY_DATAFLOW_BUFFER,
	TT_MEMORY_SCRATCHPAD,
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

struct tt_event_program_launch {
	uint32_t device_id, chip_id;
	uint64_t launch; /* counts launches of the process from 1 */
	const ttnn_core_set *cores;
};

struct tt_event_error {
	enum ttnn_status status;
	const char *message;
	const char *condition; /* "" when the refusal had none */
};

struct tt_event_mark {
	const char *text;
	const char *detail; /* (optional) */
};

struct tt_event_device {
	const struct tt_device *device;
	uint32_t device_id;
};

struct tt_event {
	enum tt_event_kind kind;
	union {
		struct tt_event_scope_begin begin;
		struct tt_event_scope_end end;
		struct tt_event_buffer buffer; /* BUFFER_ALLOC, BUFFER_FREE */
		struct tt_event_program program;
		struct tt_event_program_memory memory;
		struct tt_event_program_launch launch;
		struct tt_event_error error;
		struct tt_event_mark mark;
		struct tt_event_device device; /* DEVICE_*, and PROGRAM_RELEASE */
	};
};

/* Who listens. `emit` is called on the thread where it happened, from any thread at once. */
struct tt_event_listener {
	void (*emit)(struct tt_event_listener *self, const struct tt_event *event);
};

extern atomic_bool tt_event_switch; /* read through tt_event_on() */

static inline bool tt_event_on(void)
{
	return __builtin_expect(atomic_load_explicit(&tt_event_switch, memory_order_relaxed), 0);
}

/* Tells the listener, if there is one. */
void tt_event_emit(const struct tt_event *event);

/*
 * Makes `listener` the one that hears (NULL: nobody) and returns the one before. The caller keeps
 * the listener alive until it was replaced and no emit is under way any more.
 */
struct tt_event_listener *tt_event_listen(struct tt_event_listener *listener);

#endif
