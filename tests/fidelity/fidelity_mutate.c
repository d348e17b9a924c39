/*
 * fidelity_mutate.c: recorded programs with other arguments. See fidelity.h.
 *
 * A mutation replaces the values of one to three expressions of a program, wherever they stand: extents of its tensors,
 * their types and places, arguments, objects, tensors themselves. Nobody knows what has to come of it; but the process
 * lives on, whoever is refused is told why, and device memory is given back. Which expressions, and by what, follows
 * from the program's name and the mutation's number alone.
 */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <ttnn_frontend.h>
#include <unistd.h>

#include "base/clock.h"
#include "device/device.h"
#include "device/devtensor.h"
#include "device/progcache.h"
#include "event/value.h"
#include "fidelity/fidelity.h"

#define CHANGES 3
#define ROOM ((rlim_t)6 << 30) /* bytes that a child may have */
#define PATIENCE 2e9           /* ns: calls that take longer are cancelled */
#define HANG 60                /* seconds: this is no patience any more */

int64_t fid_mutations, fid_first_mutation = 1;

/* What is changed while steps are interpreted. */
static struct {
	bool on;
	uint64_t seen, at[CHANGES], state;
	size_t count;
	uint64_t begun; /* when the mutation was */
} change;

/* SplitMix64. */
static uint64_t draw(uint64_t below)
{
	uint64_t z = change.state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return (z ^ z >> 31) % below;
}

/* ---- other values ------------------------------------------------------------------------------------- */

static int64_t other_number(int64_t number)
{
	static const int64_t edges[] = {
		0,
		1,
		2,
		-1,
		-2,
		31,
		32,
		33,
		64,
		255,
		256,
		65535,
		65536,
		INT32_MAX,
		INT32_MIN,
		UINT32_MAX,
		UINT32_MAX + 1l,
		INT64_MAX,
		INT64_MIN,
		1l << 40,
		INT32_MAX - 31l,
		1000000,
	};
	uint64_t bits = (uint64_t)number;

	switch (draw(10)) {
	case 0:
		return (int64_t)(bits + 1);
	case 1:
		return (int64_t)(bits - 1);
	case 2:
		return (int64_t)(2 * bits);
	case 3:
		return number / 2;
	case 4:
		return (int64_t)(0 - bits);
	case 5:
		return (int64_t)(bits + 32);
	case 6:
		return (int64_t)(bits - 32);
	default:
		return edges[draw(TT_COUNT(edges))];
	}
}

static double other_real(double real)
{
	const double edges[] = {0, -real, NAN, INFINITY, -INFINITY, 1e300, 1e-300, real * 2, 1};

	return edges[draw(TT_COUNT(edges))];
}

/* A list without an item, with one twice, with two exchanged, or without any. */
static struct ttnn_value other_list(const struct ttnn_value *list, struct tt_arena *arena)
{
	struct ttnn_value *items = tt_arena_calloc(arena, list->count + 1ul, sizeof(*items)), item;
	size_t count = list->count, a, b;

	if (!items || !count)
		return ttnn_v_list(items, items && draw(2) ? 1 : 0);
	memcpy(items, list->items, count * sizeof(*items));
	a = draw(count), b = draw(count);
	switch (draw(5)) {
	case 0:
		return ttnn_v_list(items, 0);
	case 1:
		memmove(items + a, items + a + 1, (count - a) * sizeof(*items));
		return ttnn_v_list(items, count - 1);
	case 2:
		items[count] = items[a];
		return ttnn_v_list(items, count + 1);
	case 3:
		item = items[a], items[a] = items[b], items[b] = item;
		return ttnn_v_list(items, count);
	default:
		items[a] = draw(2) ? ttnn_v_none() : ttnn_v_int(other_number(1));
		return ttnn_v_list(items, count);
	}
}

/* Another tensor of the program, nothing, or the same without its memory. */
static struct ttnn_value other_tensor(const struct ttnn_value *given, struct fid_names *names)
{
	for (int attempt = 0; attempt < 8 && names->slots.count; attempt++) {
		const struct fid_slot *slot = &names->slots.data[draw(names->slots.count)];
		size_t i = slot->count ? draw(slot->count) : 0;

		if (slot->count && slot->tensors[i] && slot->tensors[i] != given->tensor)
			return ttnn_v_tensor(slot->tensors[i]);
	}
	if (draw(2) && given->tensor)
		ttnn_tensor_deallocate(given->tensor, true);
	return *given;
}

static struct ttnn_value other_shape(const struct ttnn_value *given, struct tt_arena *arena)
{
	struct ttnn_shape *shape = tt_arena_calloc(arena, 1, sizeof(*shape));

	if (!shape)
		return *given;
	*shape = *given->shape;
	if (shape->rank && draw(3))
		shape->dim[draw(shape->rank)] = (uint32_t)other_number(32);
	else
		shape->rank = (uint32_t)draw(TTNN_MAX_RANK + 1);
	return ttnn_v_shape(shape);
}

static struct ttnn_value other_cores(const struct ttnn_value *given)
{
	static const uint32_t ends[] = {0, 1, 3, 6, 7, 8, 11, 100, 65535};
	struct ttnn_core end = {ends[draw(TT_COUNT(ends))], ends[draw(TT_COUNT(ends))]};
	struct ttnn_core_range range = {{0, 0}, end};
	const ttnn_core_set *set;

	if (given->kind == TTNN_VALUE_CORE)
		return (struct ttnn_value){.kind = TTNN_VALUE_CORE, .core = end};
	if (draw(3) == 0)
		range.start = end;
	return ttnn_core_set_make(&set, &range, draw(8) ? 1 : 0) == TTNN_OK ? ttnn_v_core_set(set)
									    : *given;
}

static struct ttnn_value other_memory(const struct ttnn_value *given, struct tt_arena *arena)
{
	struct ttnn_memory_config *memory = tt_arena_calloc(arena, 1, sizeof(*memory));

	if (!memory)
		return *given;
	*memory = *given->memory;
	switch (draw(4)) {
	case 0:
		*memory = (struct ttnn_memory_config){.buffer = draw(2) ? TTNN_DRAM : TTNN_L1};
		break;
	case 1:
		memory->buffer = memory->buffer == TTNN_L1 ? TTNN_DRAM : TTNN_L1;
		break;
	case 2:
		memory->layout = (enum ttnn_memory_layout)tt_enum_memory_layout
					 .rows[draw(tt_enum_memory_layout.count)]
					 .value;
		break;
	default:
		memory->shard.height = (uint32_t)other_number(memory->shard.height);
		break;
	}
	return ttnn_v_memory(memory);
}

/* A value of about any kind. */
static struct ttnn_value any_value(struct fid_names *names)
{
	static const struct ttnn_memory_config memory;
	static const struct ttnn_shape shape = {2, {32, 32}};
	struct ttnn_value tensor = {.kind = TTNN_VALUE_TENSOR};

	switch (draw(11)) {
	case 0:
		return (struct ttnn_value){0};
	case 1:
		return ttnn_v_int(other_number(0));
	case 2:
		return ttnn_v_real(other_real(1));
	case 3:
		return ttnn_v_bool(draw(2));
	case 4:
		return ttnn_v_string(draw(2) ? "" : "relu");
	case 5:
		return ttnn_v_dtype(
			(enum ttnn_dtype)tt_enum_dtype.rows[draw(tt_enum_dtype.count)].value);
	case 6:
		return ttnn_v_memory(&memory);
	case 7:
		return ttnn_v_shape(&shape);
	case 8:
		return ttnn_v_list(NULL, 0);
	case 9:
		tensor = other_tensor(&tensor, names);
		return tensor.tensor ? tensor : ttnn_v_none();
	default:
		return ttnn_v_none();
	}
}

static struct ttnn_value other_value(const struct ttnn_value *given, struct fid_names *names)
{
	if (draw(10) == 0)
		return any_value(names);
	switch (given->kind) {
	case TTNN_VALUE_BOOL:
		return ttnn_v_bool(!given->boolean);
	case TTNN_VALUE_INT:
		return ttnn_v_int(other_number(given->integer));
	case TTNN_VALUE_REAL:
		return ttnn_v_real(other_real(given->real));
	case TTNN_VALUE_ENUM:
		return tt_value_enum(
			given->enumeration,
			given->enumeration->rows[draw(given->enumeration->count)].value);
	case TTNN_VALUE_SHAPE:
		return other_shape(given, &names->arena);
	case TTNN_VALUE_MEMORY:
		return other_memory(given, &names->arena);
	case TTNN_VALUE_CORE:
	case TTNN_VALUE_CORE_SET:
		return other_cores(given);
	case TTNN_VALUE_TENSOR:
		return other_tensor(given, names);
	case TTNN_VALUE_LIST:
		return other_list(given, &names->arena);
	default:
		return any_value(names);
	}
}

void fid_change(struct ttnn_value *value, struct fid_names *names)
{
	uint64_t number = change.seen++;

	for (size_t i = 0; change.on && i < change.count; i++)
		if (change.at[i] == number) {
			struct tt_str text = {0};

			*value = other_value(value, names);
			tt_str_addf(&text, "  expression %llu: a value of kind %d",
				    (unsigned long long)number, value->kind);
			if (value->kind == TTNN_VALUE_INT || value->kind == TTNN_VALUE_ENUM)
				tt_str_addf(&text, ": %lld", (long long)value->integer);
			fprintf(stderr, "%s\n", tt_str_text(&text));
			tt_str_deinit(&text);
		}
}

/* ---- goldens -------------------------------------------------------------------------------------------------- */

#define GOLDEN_MOST (1 << 14) /* elements of a call's tensors */

static uint64_t elements_of(const struct ttnn_value *value)
{
	uint64_t count = 0;

	if (value->kind == TTNN_VALUE_TENSOR && value->tensor &&
	    ttnn_shape_volume(&count, &value->tensor->spec.shape) != TTNN_OK)
		return UINT64_MAX / 128;
	for (uint32_t i = 0; value->kind == TTNN_VALUE_LIST && i < value->count; i++)
		count += elements_of(&value->items[i]);
	return count;
}

void fid_also_golden(const struct tt_op_entry *entry, const struct ttnn_arg *args, size_t count)
{
	struct ttnn_results results;
	uint64_t elements = 0;

	for (size_t i = 0; i < count; i++)
		elements += elements_of(&args[i].value);
	if (!change.on || !entry->op->golden || elements > GOLDEN_MOST)
		return;
	if (ttnn_op_golden(&results, entry, args, count) != TTNN_OK)
		return;
	for (size_t i = 0; i < results.count; i++)
		ttnn_tensor_unref(results.tensors[i]);
}

/* ---- other contents ------------------------------------------------------------------------------------------ */

/* Words of four bytes as they may stand in memory that nobody wrote, or that somebody wrote wrong. */
static void fill_words(unsigned char *data, size_t size)
{
	uint64_t kind = draw(6), most = 1 + draw(40);

	for (size_t i = 0; i + 4 <= size && kind; i += 4) {
		uint64_t bits = change.state =
			change.state * 6364136223846793005u + 1442695040888963407u;
		uint32_t word = (uint32_t)(bits >> 32);

		if (kind == 1)
			word = word % (uint32_t)most;
		else if (kind == 2)
			word = word % (uint32_t)most * 0x10001;
		else if (kind == 3)
			word = UINT32_MAX;
		else if (kind == 4)
			word = (word & 0x807f807f) | 0x3f803f80;
		memcpy(data + i, &word, sizeof(word));
	}
}

/* Positions, counts and numbers of all tensors so far, on every chip. */
static void fill_tensors(struct fid_names *names)
{
	uint32_t chips = names->device->rows * names->device->cols;

	for (size_t i = 0; i < names->slots.count; i++) {
		const struct fid_slot *slot = &names->slots.data[i];

		for (size_t k = 0; k < slot->count && !slot->made.kind; k++) {
			ttnn_tensor *tensor = slot->tensors[k], *room;

			if (!tensor || !tt_tensor_device(tensor) || !tt_tensor_buffer(tensor) ||
			    tensor->spec.bytes > 1 << 22)
				continue;
			for (uint32_t chip = 0; chip < chips; chip++)
				if (tt_tensor_resident(&room, tensor, chip, TT_BUFFER_OVERWRITE) ==
				    TTNN_OK) {
					fill_words(tt_tensor_data(room), (size_t)room->spec.bytes);
					ttnn_tensor_unref(room);
				}
		}
	}
}

/* ---- a program ---------------------------------------------------------------------------------------------- */

static bool go_on(void)
{
	return (double)(tt_clock_ns() - change.begun) < PATIENCE;
}

/* So that a mutation does not take the memory of the machine, nor for ever. */
static void limit(void)
{
#ifndef __SANITIZE_ADDRESS__
	setrlimit(RLIMIT_AS, &(struct rlimit){ROOM, ROOM});
#endif
	setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
	ttnn_set_poll(go_on);
}

static void begin_mutation(const struct fid_program *program, uint64_t number, uint64_t expressions)
{
	uint64_t hash = 0xcbf29ce484222325u ^ number;

	for (const char *at = program->name; *at; at++)
		hash = (hash ^ (unsigned char)*at) * 0x100000001b3u;
	change.state = hash;
	change.count = 1 + draw(CHANGES);
	for (size_t i = 0; i < change.count; i++)
		change.at[i] = draw(expressions);
	change.seen = 0;
	change.on = true;
	change.begun = tt_clock_ns();
	ttnn_set_poll(go_on);
	alarm(HANG);
	fprintf(stderr, "%s %s mutation %llu\n", program->label, program->name,
		(unsigned long long)number);
}

/* What must hold whatever was called. */
static void judge(struct tt_str *out, const struct fid_account *account, uint64_t number)
{
	const char *text = tt_str_text(&account->lines[FID_text]);

	/* What only a kernel finds out is an internal error: told with FIDELITY_LOUD, and no failure. */
	if (strstr(text, "Error: \n"))
		fid_line(out, "mutation %llu: %s", (unsigned long long)number, text);
	fprintf(stderr, "    %s", *text ? text : "ran\n");
}

static void mutate_once(struct tt_str *out, const struct fid_program *program,
			struct tt_device *device, uint64_t number)
{
	struct fid_names names = {.device = device};
	struct fid_account account = {0};
	struct tt_str before = {0}, after = {0};
	int capture = (int)(number % 4);

	fid_lines_allocator(&before, device);
	if (fid_run_steps(&account, &names, tt_json_get(program->record, "setup"), true)) {
		if (number)
			fill_tensors(&names);
		if (capture < 2)
			ttnn_graph_begin_as(capture ? TTNN_RUN_NORMAL : TTNN_RUN_NO_DISPATCH,
					    TTNN_DIALECT_TT_METAL);
		fid_run_steps(&account, &names, tt_json_get(program->record, "body"), false);
	}
	alarm(0);
	change.on = false;
	judge(out, &account, number);
	while (ttnn_graph_depth() > 0)
		ttnn_graph_end(NULL);
	fid_names_deinit(&names);
	tt_progcache_clear(&device->programs);
	fid_lines_allocator(&after, device);
	/* A dry run only tells that memory is freed. */
	if (number && capture && strcmp(tt_str_text(&before), tt_str_text(&after)) != 0)
		fid_line(out, "mutation %llu: device memory differs: %s",
			 (unsigned long long)number, tt_str_text(&after));
	tt_str_deinit(&before);
	tt_str_deinit(&after);
	fid_account_deinit(&account);
}

void fid_mutate(struct fid_result *out, struct tt_arena *arena, const struct fid_program *program,
		enum fid_mode mode)
{
	struct tt_device *device = NULL;
	struct tt_str lines = {0};
	uint64_t expressions;

	if (mode != FID_NORMAL || !program->have)
		return;
	limit();
	change.on = false;
	if (fid_device_open(&device, program->label, tt_json_get(program->record, "device")) ==
	    TTNN_OK) {
		change.seen = 0;
		change.begun = tt_clock_ns();
		mutate_once(&lines, program, device, 0);
		expressions = change.seen;
		for (int64_t i = 0; i < fid_mutations && expressions; i++) {
			uint64_t number = (uint64_t)(fid_first_mutation + i);

			begin_mutation(program, number, expressions);
			mutate_once(&lines, program, device, number);
		}
	} else {
		fid_line(&lines, "no device: %s", ttnn_error());
	}
	ttnn_device_unref(device);
	out->verdict[FID_outcome] = lines.length ? FID_FAILED : FID_PASSED;
	out->reason[FID_outcome] = tt_arena_strdup(arena, tt_str_text(&lines));
	tt_str_deinit(&lines);
}
