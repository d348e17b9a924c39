/*
 * op.h: the two tables. An operation is what a user calls; a program is what a device runs.
 *
 * Their rows are the only description there is: call checking, the typed C functions, Python
 * signatures, argument texts, parameter files, configuration hashes, sweeps, docs, golden tests and
 * the fidelity score all read them.
 *
 * To add an operation: one row in a family's table, or a new family file with its table and one
 * line in families.c. To add a program: one struct tt_prog beside the operation that launches it.
 *
 * What happens in a call, in run.c, the one door (nothing else calls these functions):
 *
 *	ttnn_call("ttnn.mean", ...)
 *	  resolve the signature                             sig.h
 *	  begin scope "ttnn::mean"
 *	  op->expand(call)                                  calls programs and operations:
 *	    tt_call_program(call, ...)
 *	      begin scope "ttnn::prim::reduce", "ReduceDeviceOperation"
 *	      prog->infer      output specs; may refuse
 *	      create outputs   (unless given)               scope "create_device_tensor"
 *	      look up the program cache
 *	      prog->validate   refusals that upstream makes when outputs exist already
 *	      factory rows     program memory: sizes, core sets; placed and checked
 *	      prog->kernel     through the backend, unless this is a dry run
 *	      end scopes
 *	  end scope
 */
#ifndef TT_OPS_OP_H
#define TT_OPS_OP_H

#include "base/arena.h"
#include "base/vec.h"
#include "event/event.h"
#include "ops/sig.h"
#include "tensor/core.h"
#include "tensor/dtype.h"
#include "tensor/enums.h"
#include "tensor/memory.h"
#include "tensor/shape.h"
#include "tensor/spec.h"
#include "tensor/tensor.h"
#include "tensor/tile.h"

#define TT_OUTPUTS_MAX 64
#define TT_PROGRAM_INPUTS_MAX (TT_OUTPUTS_MAX + 1) /* as many, and one beside them */
#define TT_KEPT_MAX 36 /* as many semaphores as a program of 32 chips needs */

struct tt_call;
struct tt_prog;
struct tt_launch;
struct tt_golden;
struct tt_plan;
struct tt_key;

/* ---- operations -------------------------------------------------------------------------------- */

#define TT_USUAL_PCC 0.999

struct tt_op {
	const char *name;   /* "ttnn.add": dots, as Python says it */
	const char *family; /* (optional) "binary"; else the name of its table */
	const char *doc;    /* one sentence */
	const char *sigs[TT_SIGS_MAX];
	tt_status (*expand)(struct tt_call *call);
	tt_status (*golden)(struct tt_golden *golden); /* (optional) float64, slow, obvious */
	double pcc;      /* (optional) acceptance against golden; else TT_USUAL_PCC */
	const void *row; /* (optional) the family's own row, for expand and golden */
	const char *
		frontend; /* (optional) the name recordings show, where Python has another; "": none */
	const char
		*gives; /* (optional) what it gives, if not one tensor: "[Tensor]" (ops/gives.h) */
	bool adds_dim; /* dimensions are counted of the result, which has one more than the input */
	bool overload; /* more signatures of the operation of this name in another table */
	const struct tt_prog *const
		*programs; /* (optional) that it may launch itself; ends with NULL */
};

/* The member .programs, from a list of their addresses. */
#define TT_PROGRAMS(...)                                                                           \
	.programs = (const struct tt_prog *const[])                                                \
	{                                                                                          \
		__VA_ARGS__, NULL                                                                  \
	}

/* The rows of one family file. */
struct tt_op_family {
	const char *name; /* the family of its rows that name none */
	const struct tt_op *ops;
	size_t count;
};

/* A row with its parsed signatures; lives until the process ends. */
struct tt_op_entry {
	const struct tt_op *op;
	struct tt_overloads overloads;
	const char *cpp_name;            /* "ttnn::add" */
	const struct tt_op_entry *other; /* (optional) the row of the signatures from `own` on */
	size_t own;
};

/* The row whose signature fitted these arguments: the entry itself, or its other one. */
static inline const struct tt_op_entry *tt_op_fitting(const struct tt_op_entry *entry,
						      const struct tt_args *args)
{
	bool other = entry->other && args->sig >= &entry->overloads.sigs[entry->own];

	return other ? entry->other : entry;
}

/* Builds the index of all operations, once; fails only for want of memory or by a bad row. */
tt_status tt_op_registry(void);

/* The operation of this name ("ttnn.add", "ttnn::add", "add"), or NULL. */
const struct tt_op_entry *tt_op_find(const char *name);

/* All operations, sorted by name. */
const struct tt_op_entry *tt_op_all(size_t *count);

/* Refuses, with upstream's condition and message, what does not hold. */
#define TT_REQUIRE(holds, condition, ...)                                                          \
	do {                                                                                       \
		if (!(holds))                                                                      \
			return tt_fail_cond(TTNN_INVALID, condition, __VA_ARGS__);                 \
	} while (0)

/* The same without a condition: exceptions of upstream that have none, and what it leaves undone. */
#define TT_NEED(holds, ...)                                                                        \
	do {                                                                                       \
		if (!(holds))                                                                      \
			return tt_fail(TTNN_INVALID, __VA_ARGS__);                                 \
	} while (0)

/* Upstream's words for a dimension that a shape has not. */
tt_status tt_need_dim(const struct ttnn_shape *shape, uint32_t index);

/* Memory that was asked for must be there. */
#define TT_NEED_MEMORY(pointer)                                                                    \
	do {                                                                                       \
		if (!(pointer))                                                                    \
			return tt_fail_nomem();                                                    \
	} while (0)

/* ---- a running operation -------------------------------------------------------------------------- */

/*
 * What expand() gets. Tensors that it makes on the way are its own: it gives the result away with
 * tt_call_return() and drops the rest, on failures too (tt_call_own() makes that automatic).
 */
struct tt_call {
	const struct tt_op_entry *entry;
	const struct tt_args *args;
	struct tt_call *parent;   /* NULL for the outermost */
	struct tt_arena *arena;   /* lives until the outermost call returns */
	struct tt_device *device; /* of the first device tensor among the arguments, or NULL */
	struct tt_tensor *results[TT_OUTPUTS_MAX];
	size_t result_count;
	struct ttnn_shape extents;               /* (optional) as in struct ttnn_results */
	struct tt_tensor *owned[TT_OUTPUTS_MAX]; /* dropped when expand() returns, newest first */
	size_t owned_count;
};

/* The value of an argument: what was given, or its default. Never NULL; absent if unknown. */
const struct ttnn_value *tt_call_arg(const struct tt_call *call, const char *name);

/* Whether the caller gave it (None counts as given). */
bool tt_call_given(const struct tt_call *call, const char *name);

/* Shorthands: NULL or the fallback when absent, None or of another kind. */
struct tt_tensor *tt_call_tensor(const struct tt_call *call, const char *name);
const struct ttnn_memory_config *tt_call_memory(const struct tt_call *call, const char *name);
const ttnn_core_set *tt_call_core_set(const struct tt_call *call, const char *name);
int64_t tt_call_int(const struct tt_call *call, const char *name, int64_t fallback);
double tt_call_real(const struct tt_call *call, const char *name, double fallback);
bool tt_call_bool(const struct tt_call *call, const char *name, bool fallback);
enum ttnn_dtype tt_call_dtype(const struct tt_call *call, const char *name,
			      enum ttnn_dtype fallback);

/* Integers of a list or shape argument into `out`; *count is their number, 0 when not given. */
tt_status tt_call_ints(int64_t *out, size_t *count, size_t most, const struct tt_call *call,
		       const char *name);

/* The result (one reference goes over to the call). Several: in order. */
void tt_call_return(struct tt_call *call, struct tt_tensor *tensor);

/* The call drops this reference when expand() returns, whatever happens. Returns its argument. */
struct tt_tensor *tt_call_own(struct tt_call *call, struct tt_tensor *tensor);

/*
 * Gives a device tensor up now, also one that tt_call_own() got. As a destructor does it: a scope "Tensor::deallocate" when this
 * was the last owner. As an assignment over it does: the buffer is freed without one. NULL for the call: it keeps what it owns.
 */
void tt_call_drop(struct tt_call *call, struct tt_tensor *tensor);
void tt_call_overwrite(struct tt_call *call, struct tt_tensor *tensor);

/* Frees the buffer of a tensor under its owners, in a scope "Tensor::deallocate". */
void tt_call_deallocate(struct tt_call *call, struct tt_tensor *tensor);

/* Another operation, through the door; its only result in *out (yours to own or return). */
tt_status tt_call_op(struct tt_tensor **out, struct tt_call *parent, const char *name,
		     const struct ttnn_arg *args, size_t arg_count);

/*
 * The same for operations that upstream writes in Python: what they call is recorded as a call from
 * Python, if they themselves were called from there.
 */
tt_status tt_call_python(struct tt_tensor **out, struct tt_call *parent, const char *name,
			 const struct ttnn_arg *args, size_t arg_count);

/* Whether the outermost call of this thread comes from Python. */
bool tt_call_from_python(void);

/* Gives back the memory this thread keeps for its next calls. */
void tt_call_forget_thread(void);

/* The same, all results. */
tt_status tt_call_op_all(struct ttnn_results *out, struct tt_call *parent, const char *name,
			 const struct ttnn_arg *args, size_t arg_count);

/*
 * Whether the operation would take these arguments, in its own words: a dry run of which nobody hears, and that leaves nothing:
 * no programs, numbers, results. What it would do to the tensors it is given it does; give it others (golden/golden_door.c).
 */
tt_status tt_call_rehearse(const struct tt_op_entry *entry, const struct tt_args *args);

/* ---- programs ---------------------------------------------------------------------------------------- */

/* What a program row's functions get. */
struct tt_launch {
	const struct tt_prog *prog;
	struct tt_call *call;
	struct tt_arena *arena;
	struct tt_device *device;
	const struct ttnn_value *attrs;  /* by position in prog->attrs */
	struct tt_tensor *const *inputs; /* NULL where an optional input is missing */
	size_t input_count;
	struct ttnn_tensor_spec *specs; /* of the outputs: infer() fills them */
	size_t output_count; /* and sets how many there are, if not one (at most TT_OUTPUTS_MAX) */
	struct tt_tensor *outputs[TT_OUTPUTS_MAX]; /* given beforehand, or made from specs */
	const ttnn_core_set *grid;        /* the cores it may use: the compute grid, or fewer */
	const struct tt_factory *factory; /* from choose() on */
	void *work;        /* (optional) what choose() computed for the memory rows, in arena */
	const void *extra; /* (optional) what the launcher worked out already */
	struct tt_tensor *kept[TT_KEPT_MAX]; /* tensors the program needs: tt_launch_keep() */
	size_t kept_count;
	uint32_t chip;   /* kernel(): whose tensors it gets */
	uint32_t part;   /* memory(): which of the programs, if chips have different ones */
	uint64_t number; /* kernel(): of the launches of the process */
};

/*
 * A program may need tensors of its own, tables say, that stay on the device as long as it is
 * cached. choose() makes them and hands them over here: the reference is the program's, also on
 * failure.
 */
tt_status tt_launch_keep(struct tt_launch *launch, struct tt_tensor *tensor);

/* Is called for every program that this thread builds, with its memory; NULL: nobody is. */
struct tt_program;
typedef void (*tt_build_listener)(void *context, const struct tt_launch *launch,
				  const struct tt_program *program);
void tt_launch_listen(tt_build_listener listener, void *context);

/* For tests: so many launches were made in this process. */
void tt_launch_set_count(uint64_t count);

/* One way to build a program. */
struct tt_factory {
	const char *name; /* upstream's type name */
	/* (optional) lists its buffers: TT_PLAN() */
	tt_status (*memory)(struct tt_plan *plan, const struct tt_launch *launch);
};

/*
 * What a program costs, for profiles (facts.c): set to what holds without tt_prog.cost, which changes what is
 * other. `cycles` are those of its arithmetic and transfers on a perfect chip (device/perf.h), of `inputs` tensors
 * and all outputs.
 */
struct tt_cost {
	bool moves;                 /* it moves data alone; otherwise: */
	uint32_t fidelity;          /* HiFi4, or what its attribute compute_kernel_config says */
	const ttnn_core_set *cores; /* that have work: those of its memory, or by tiles */
	bool modelled;              /* not, without a tt_prog.cost */
	uint64_t cycles;
	size_t inputs; /* all */
};

#define TT_NO_PART UINT32_MAX

/*
 * How what a program keeps is given up: as members of a struct, as a vector, as a vector in front of the last, as a
 * vector once the program is built, which before were variables of a function, or one of each chip with the chips' programs
 * (ops/chip_order.h).
 */
enum tt_kept_order {
	TT_KEPT_BACKWARD,
	TT_KEPT_FORWARD,
	TT_KEPT_LAST_FORWARD,
	TT_KEPT_BUILT_FORWARD,
	TT_KEPT_BY_CHIP
};

struct tt_prog {
	const char *device_op;                        /* "BinaryNgDeviceOperation" */
	const char *prim;                             /* "ttnn::prim::binary_ng" */
	const struct tt_schema *attrs;                /* texts, cache key */
	tt_status (*infer)(struct tt_launch *launch); /* (optional) else as the first input */
	/* (optional) the spec of this output, where upstream infers it when others were made already */
	tt_status (*infer_output)(struct tt_launch *launch, size_t which);
	/* (optional) what upstream runs while it makes the outputs: zeros into them, say */
	tt_status (*prepare)(struct tt_launch *launch);
	tt_status (*validate)(struct tt_launch *launch); /* (optional) */
	const struct tt_factory *factories;
	size_t factory_count;
	/* (optional) index of the factory; also fills launch->work. Default 0. */
	tt_status (*choose)(uint32_t *out, struct tt_launch *launch);
	/* (optional) the cache key, where it is not all attributes and all input specs */
	void (*key)(struct tt_key *key, const struct tt_launch *launch);
	tt_status (*kernel)(struct tt_launch *launch); /* TT_KERNEL() sets both */
	const char *source;                            /* the file it is in */
	/* (optional) how its results are spread, where that is not as all inputs are together */
	uint64_t (*spread)(const struct tt_launch *launch);
	/* (optional) for profiles; with neither work nor kept tensors: the program may be cached */
	void (*cost)(struct tt_cost *cost, const struct tt_launch *launch);
	bool per_chip; /* builds a program of its own for each chip of a mesh */
	/* (optional) of those: which of `parts` programs a chip has, counted from 0, or TT_NO_PART */
	uint32_t (*part)(const struct tt_launch *launch, uint32_t chip);
	uint8_t parts;
	bool together;   /* the kernel runs once for all chips, whose parts it takes by itself */
	bool drops_kept; /* in a dry run, or refused, kept tensors go in a scope each */
	uint8_t prim_args; /* (optional) how many arguments `prim` takes; else tensors and attributes */
	uint8_t emits; /* (optional) its result is so many of the outputs: the rest is written aside */
	bool prim_blind;    /* (optional) and nobody sees that there are tensors among them */
	bool mute;          /* (optional) nobody sees that there are tensors in its result */
	bool drops_forward; /* (optional) refused, its outputs go first to last, as a vector's do */
	enum tt_kept_order kept_order;
	/* (optional) of those: chips at one place along this axis have one program together */
	int64_t (*shared_across)(const struct tt_launch *launch);
	bool few; /* (optional) most chips take no part: programs go out from the last part to the first */
	bool last_first; /* (optional) its outputs are made from the last to the first */
	bool in_order;   /* (optional) of those per chip: they go out in the order of the chips */
	/* (optional) this output is the buffer of the one before, which is made first; those behind come next */
	uint32_t view;
};

/*
 * The attributes of a program, each written once: LIST(X) is a row of X(ID, "name", ...) with other members of
 * struct tt_field behind the name. Makes the positions ID and the schema `name_`, which has name_##_count.
 */
#define TT_ATTR_ID(id_, ...) id_,
#define TT_ATTR_FIELD(id_, ...) [id_] = {.name = __VA_ARGS__},
/* clang-format off */
#define TT_ATTRS(name_, type_, LIST)                                                               \
	enum { LIST(TT_ATTR_ID) name_##_count };                                                   \
	static const struct tt_field name_##_fields[name_##_count] = {LIST(TT_ATTR_FIELD)};        \
	static const struct tt_schema name_ = {type_, name_##_fields, name_##_count, false}
/* clang-format on */

#define TT_KERNEL(function) .kernel = (function), .source = __FILE__

/*
 * Launches a program. `outputs` are given tensors or NULL entries (or NULL for none given); the
 * results are in out[0 .. *count), each a reference of the caller's.
 */
struct tt_program_args {
	const struct tt_prog *prog;
	const struct ttnn_value *attrs;
	struct tt_tensor *const *inputs;
	size_t input_count;
	struct tt_tensor *const *outputs; /* (optional) */
	size_t output_count;
	const ttnn_core_set *grid; /* (optional) fewer cores than the compute grid */
	const void *extra;         /* (optional) for the row's functions */
	bool in_place;             /* what is written to is among the inputs: recorded once */
};
tt_status tt_call_programs(struct tt_tensor **out, size_t *count, struct tt_call *call,
			   const struct tt_program_args *args);

/* Makes an output that was given, and gives it up again, as some of upstream's do. */
tt_status tt_create_for_nothing(struct tt_launch *launch, size_t which);

/* The same for a program with one output. */
tt_status tt_call_program(struct tt_tensor **out, struct tt_call *call,
			  const struct tt_program_args *args);

/*
 * One buffer of a program, for tt_factory.memory: `pages` of so many bytes each, on the cores of its list or
 * on its own. Without pages there is no such buffer. The name is upstream's ("cb_in0").
 */
struct tt_buffer_row {
	enum tt_program_memory_kind kind;
	uint32_t index;
	const char *name;
	uint64_t pages, page;
	const ttnn_core_set *cores; /* (optional) other than those of the list */
	struct tt_tensor *backing;  /* (optional) the tensor in whose buffer it lies */
	uint64_t offset;            /* there */
};
#define TT_CB_ROW(index_, name_, ...)                                                              \
	{                                                                                          \
		.kind = TT_MEMORY_CIRCULAR_BUFFER, .index = (index_), .name = (name_), __VA_ARGS__ \
	}
#define TT_DFB_ROW(index_, name_, ...)                                                             \
	{                                                                                          \
		.kind = TT_MEMORY_DATAFLOW_BUFFER, .index = (index_), .name = (name_), __VA_ARGS__ \
	}
#define TT_SCRATCH_ROW(index_, name_, ...)                                                         \
	{                                                                                          \
		.kind = TT_MEMORY_SCRATCHPAD, .index = (index_), .name = (name_), __VA_ARGS__      \
	}

/* Appends these buffers in order. */
tt_status tt_plan_buffers(struct tt_plan *plan, const ttnn_core_set *cores,
			  const struct tt_buffer_row *rows, size_t count);
#define TT_PLAN(plan, cores, ...)                                                                  \
	tt_plan_buffers(plan, cores, (const struct tt_buffer_row[]){__VA_ARGS__},                  \
			TT_COUNT(((const struct tt_buffer_row[]){__VA_ARGS__})))

/* The bytes that buffers take without those that lie in a tensor. */
uint64_t tt_buffers_bytes(const struct tt_buffer_row *rows, size_t count);

/* Appends one, with its own cores, even if it has no pages. */
tt_status tt_plan_empty(struct tt_plan *plan, const struct tt_buffer_row *row);

/* What is refused from here on is the program of a chip behind the first, whose own has what the launch keeps. */
void tt_plan_begun(struct tt_plan *plan);

/* What a program depends on, for tt_prog.key: mixed one after the other. */
void tt_key_values(struct tt_key *key, const struct ttnn_value *values, size_t count);
void tt_key_number(struct tt_key *key, uint64_t number);
void tt_key_shape(struct tt_key *key, const struct ttnn_shape *shape);
void tt_key_spec(struct tt_key *key, const struct ttnn_tensor_spec *spec);
/* A spec without its shape: dtype, layout, tile, memory config, alignment. */
void tt_key_layout(struct tt_key *key, const struct ttnn_tensor_spec *spec);

/* ---- host steps ------------------------------------------------------------------------------------------ */

/*
 * A step that is recorded as a scope of its own but launches nothing ("Tensor::reshape"). Begin it,
 * do the work, end it with the result (NULL: none) or with the failure.
 */
void tt_host_begin(struct tt_call *call, const char *name, const struct ttnn_value *args,
		   size_t arg_count);
void tt_host_end(struct tt_call *call, struct tt_tensor *result, tt_status status);
/* The same for steps whose result keeps the number it was made with. */
void tt_host_end_as_is(struct tt_call *call, struct tt_tensor *result, tt_status status);

/* An empty device tensor, in a scope "create_device_tensor". */
tt_status tt_call_create(struct tt_tensor **out, struct tt_call *call, struct tt_device *device,
			 const struct ttnn_tensor_spec *spec);

#endif
