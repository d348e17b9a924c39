/*
 * fidelity.h: the parts of the program `fidelity`, which runs recorded programs on this library and
 * compares what happens with what was recorded of the released ttnn.
 *
 *	fidelity.c          the command line, the recordings, the order of things
 *	fidelity_value.c    expressions of recorded steps → values
 *	fidelity_run.c      a program's steps → what this library did
 *	fidelity_expect.c   a recorded run → what the original did
 *	fidelity_memory.c   a run's recording → device memory, against a model
 *	fidelity_database.c a run's trace and reports → databases in both dialects, against each other
 *	fidelity_mutate.c   a program with other arguments → what must hold whatever is called
 *	fidelity_jobs.c     child processes
 *	fidelity_report.c   tables, lists, docs/fidelity.md
 *
 * What is compared is text: for each aspect a list of lines, which the last two make in the same
 * form. So equal means equal lines, and a difference is a line to show.
 */
#ifndef FIDELITY_H
#define FIDELITY_H

#include "base/arena.h"
#include "base/json.h"
#include "base/str.h"
#include "base/vec.h"
#include "ops/op.h"

/*
 * To add an aspect: a line here, its lines in expect() and observe(). X(name, what is equal)
 */
#define FID_ASPECTS(X)                                                                             \
	X(outcome, "ran, or refused at the recorded step (a recorded crash wants a refusal)")      \
	X(text, "kind and message of refusals, without file, line and list of signatures")         \
	X(specs, "shape, padded shape, dtype, layout, storage and memory config of results")       \
	X(addresses, "NORMAL: where inputs and results lie")                                       \
	X(buffers, "program memory: kind, size, cores, borrowed or not, in order")                 \
	X(programs, "the programs that were launched, which factory built them, cached or not")    \
	X(scopes, "which functions were entered, in order, how deep")                              \
	X(allocator, "the state of device memory afterwards")                                      \
	X(cache, "how many programs the cache holds afterwards")                                   \
	X(graph,                                                                                   \
	  "the whole graph in dialect tt-metal, but pointers, times and how core sets are cut")    \
	X(warm, "NORMAL: the same body once more: what the program cache knows then")              \
	X(memory,                                                                                  \
	  "views of its recording, in both dialects and from JSON: memory as a slow model has it")

enum fid_aspect {
#define X(name, text) FID_##name,
	FID_ASPECTS(X)
#undef X
		FID_ASPECT_COUNT
};

enum fid_mode { FID_NO_DISPATCH, FID_NORMAL, FID_MODES };

extern const char *const fid_aspect_names[FID_ASPECT_COUNT];
extern const char *const fid_aspect_texts[FID_ASPECT_COUNT];
extern const char *const fid_mode_names[FID_MODES];

/* The lines of every aspect; present: whether there is anything to compare. */
struct fid_account {
	struct tt_str lines[FID_ASPECT_COUNT];
	bool present[FID_ASPECT_COUNT];
};
void fid_account_deinit(struct fid_account *account);

/* Appends one line; newlines in it are written \n. */
void fid_line(struct tt_str *out, const char *format, ...) TTNN_PRINTF(2, 3);

/* One recorded program. */
struct fid_program {
	const char *name;             /* "unary/relu/dram" */
	const char *label;            /* "n150": the device it was recorded on */
	const struct tt_json *record; /* borrowed from the file's document */
	bool have;                    /* all its operations are in our tables */
	bool held;                    /* in the half that nobody looks at while developing */
};

/* ---- values ------------------------------------------------------------------------------------ */

/* A named result of a step. Several tensors when it is a list; a NULL tensor is None. */
struct fid_slot {
	const char *name;
	ttnn_tensor **tensors;
	size_t count;
	bool list;
	bool torch;             /* stands for a torch tensor */
	struct ttnn_value made; /* what fid_make() made of its tensors, which are no results then */
	bool given;             /* existed before the body */
};

/* A program that is being interpreted. */
struct fid_names {
	struct tt_arena arena; /* of values and names, until the run ends */
	struct tt_device *device;
	TT_VEC(struct fid_slot) slots; /* in order of first use; deleted ones have no name */
	struct tt_str captures;        /* the graphs of captures inside the capture */
};

struct fid_slot *fid_slot_find(struct fid_names *names, const char *name);
void fid_slot_clear(struct fid_slot *slot);

/*
 * The value of an expression. A torch tensor becomes a tensor when `torch` says so, else an object
 * that no operation takes. TTNN_NOTFOUND when the library has no such thing.
 */
tt_status fid_value(struct ttnn_value *out, struct fid_names *names, const struct tt_json *json,
		    bool torch);

/*
 * The first argument, a torch tensor, cut for the chips as the argument mesh_mapper says (fidelity_mapper.c): a number
 * is the dimension that is cut, all else but None says that every chip gets the whole.
 */
tt_status fid_map(struct fid_names *names, struct ttnn_arg *args, size_t count);

/*
 * Steps that make what has memory but is no tensor (fidelity_made.c): global semaphores, on all cores, and global
 * circular buffers. What is made has the step's name.
 */
bool fid_makes(const char *call);
tt_status fid_make(struct fid_names *names, const struct tt_json *step, const char *call);

/* What a step calls: the operation's name, and whether Python records the call. NULL: nothing. */
struct fid_callee {
	const char *op;
	bool frontend;
	bool torch; /* takes torch tensors */
};
bool fid_callee(struct fid_callee *out, const struct tt_json *step);

/* Whether all that a program needs is in the tables. */
bool fid_have(const struct tt_json *program);

/* What a refusal is called that is the library's own fault. */
#define FID_INTERNAL "InternalError"

/* ---- accounts ----------------------------------------------------------------------------------- */

/* Programs are run on this machine instead of that of their label; NULL: they are not. */
extern const char *fid_machine;

/* Whether databases of the runs are compared, too: those of both dialects. */
extern bool fid_databases;

/* The steps of a program one by one; false when one ended it. `setup`: those before the capture. */
bool fid_run_steps(struct fid_account *out, struct fid_names *names, const struct tt_json *steps,
		   bool setup);

/* Drops what there is, as the end of the process does. */
void fid_names_deinit(struct fid_names *names);

/* What is taken of device memory. */
void fid_lines_allocator(struct tt_str *out, struct tt_device *device);

/* Opens the device that a label names, with a program's options. */
tt_status fid_device_open(struct tt_device **out, const char *label, const struct tt_json *options);

/* Runs a program; `recorded` is read for the names of results only. */
void fid_observe(struct fid_account *out, const struct fid_program *program, enum fid_mode mode);

/* Records what happens until the end, whose differences from the model of device memory become lines. */
struct fid_memory;
struct fid_memory *fid_memory_begin(struct tt_device *device, enum fid_mode mode);
void fid_memory_end(struct tt_str *out, struct fid_memory *memory);

/*
 * Records all that happens until the end, whose databases in the two dialects must tell the same, pages too; and so
 * must those of the reports of a capture within, one in each dialect.
 */
struct tt_capture;
struct tt_capture *fid_database_begin(void);
void fid_database_end(struct tt_str *out, struct tt_capture *capture);
void fid_reports_begin(enum ttnn_run_mode mode);
void fid_reports_end(struct tt_str *out);

/* What was recorded. False: the original died. */
bool fid_expect(struct fid_account *out, const struct fid_program *program, enum fid_mode mode);

/* The recorded run of a mode. */
const struct tt_json *fid_run(const struct fid_program *program, enum fid_mode mode);

/* A message without pointers, places in files and lists of signatures; into `arena`. */
const char *fid_message(struct tt_arena *arena, const char *text);

/*
 * A line for each node of a graph, without what differs from run to run: addresses of devices,
 * durations, the way in which a set of cores is cut.
 */
void fid_nodes(struct tt_str *out, const struct tt_json *graph);

/* The same for a capture inside the capture. */
void fid_inner(struct tt_str *out, const char *name, const struct tt_json *graph);

/* "{[0-0 - 7-3]}" with the same cores cut in one fixed way. */
void fid_cores(struct tt_str *out, const ttnn_core_set *set);

/* ---- verdicts ------------------------------------------------------------------------------------ */

enum fid_verdict { FID_NOTHING, FID_PASSED, FID_FAILED };

struct fid_result {
	enum fid_verdict verdict[FID_ASPECT_COUNT];
	const char *reason[FID_ASPECT_COUNT]; /* why it failed; in the arena of the results */
};

/* Runs a program in one mode and compares. */
void fid_judge(struct fid_result *out, struct tt_arena *arena, const struct fid_program *program,
	       enum fid_mode mode);

/*
 * Instead of that: runs the body again and again, so many times, each time with another allocation that
 * fails. It is the outcome's failure when that ends in an internal error, or device memory is lost; whoever
 * wants to know of blocks freed twice or never uses a sanitizer.
 */
extern int64_t fid_starvings;
void fid_starve(struct fid_result *out, struct tt_arena *arena, const struct fid_program *program,
		enum fid_mode mode);

/*
 * Instead of that: runs it so many times, from this number on, each time with a few of its values changed. It is the
 * outcome's failure when the process dies or hangs, a refusal has no words, or device memory is lost.
 */
extern int64_t fid_mutations, fid_first_mutation;
void fid_mutate(struct fid_result *out, struct tt_arena *arena, const struct fid_program *program,
		enum fid_mode mode);

/* The value of an expression is known: that of a mutation may be another. */
void fid_change(struct ttnn_value *value, struct fid_names *names);

/* A call is about to be made: of a mutation's the golden is asked first. */
void fid_also_golden(const struct tt_op_entry *entry, const struct ttnn_arg *args, size_t count);

/* Prints the steps, and for each aspect "equal" or the lines that differ. */
void fid_show(const struct fid_program *program, enum fid_mode mode);

/* All runs of these programs, each program in a child of its own, `jobs` at a time. */
struct fid_jobs {
	size_t jobs;
	double seconds; /* for one program */
};
tt_status fid_run_all(struct fid_result (*out)[FID_MODES], struct tt_arena *arena,
		      const struct fid_program *programs, size_t count,
		      const struct fid_jobs *jobs);

/* ---- the report ----------------------------------------------------------------------------------- */

/* A program that was run. */
struct fid_outcome {
	const char *name, *label, *family;
	bool have, held;
	struct fid_result results[FID_MODES];
};

/* A refusal that was recorded, and how often it was met. */
struct fid_refusal {
	const char *text;
	size_t hits, misses; /* in programs that we have */
	size_t elsewhere;    /* in others */
};

struct fid_tally {
	struct tt_arena arena;
	TT_VEC(struct fid_outcome) outcomes;
	TT_VEC(struct fid_refusal) refusals;
};
void fid_tally_deinit(struct fid_tally *tally);

/* Adds the refusals of a program, with its verdicts. */
tt_status fid_tally_refusals(struct fid_tally *tally, const struct fid_program *program,
			     const struct fid_result results[FID_MODES]);

/* passed and total of one aspect over the outcomes that fit. */
struct fid_filter {
	const char *family; /* NULL: all */
	bool have_only;
	int half; /* 0 dev, 1 held, -1 both */
};
struct fid_count {
	size_t passed, total;
};
struct fid_count fid_tally_count(const struct fid_tally *tally, const struct fid_filter *filter,
				 enum fid_aspect aspect);

/* Rounded down to a tenth, so that 100.0 means all; 100 when there is nothing. */
double fid_percent(struct fid_count count);

void fid_print_table(struct fid_tally *tally);
void fid_print_totals(const struct fid_tally *tally);
void fid_print_failures(const struct fid_tally *tally, enum fid_aspect aspect);
tt_status fid_write_json(const char *path, const struct fid_tally *tally);
tt_status fid_write_docs(const char *path, const char *reasons, struct fid_tally *tally);

#endif
