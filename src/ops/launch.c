/*
 * launch.c: the second half of the door: one program from its row to the chip.
 */
#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/mem.h"
#include "device/buffer.h"
#include "device/generation.h"
#include "device/progcache.h"
#include "event/alike.h"
#include "ops/chip_order.h"
#include "ops/launch.h"
#include "ops/rerun.h"
#include "ops/usual.h"

/* ---- the cache key -------------------------------------------------------------------------------- */

/*
 * A hash of everything the program depends on. It is the whole key, so two programs with the same
 * hash would be taken for one; upstream keys its cache by 64 bits too.
 */
struct tt_key {
	uint64_t hash;
};

void tt_key_number(struct tt_key *key, uint64_t number)
{
	key->hash = tt_hash_u64(key->hash, number);
}

void tt_key_values(struct tt_key *key, const struct ttnn_value *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		key->hash = tt_value_hash(key->hash, &values[i]);
}

void tt_key_shape(struct tt_key *key, const struct ttnn_shape *shape)
{
	key->hash = tt_shape_hash(key->hash, shape);
}

void tt_key_spec(struct tt_key *key, const struct ttnn_tensor_spec *spec)
{
	key->hash = tt_tensor_spec_hash(key->hash, spec);
}

void tt_key_layout(struct tt_key *key, const struct ttnn_tensor_spec *spec)
{
	tt_key_number(key, (uint64_t)spec->dtype << 8 | (uint64_t)spec->layout);
	tt_key_number(key, (uint64_t)spec->tile.height << 32 | (uint64_t)spec->tile.width << 1 |
				   spec->tile.transpose);
	key->hash = tt_memory_config_key(key->hash, &spec->memory);
	tt_key_shape(key, &spec->alignment);
}

/* `prog` and `grid` stand for those of the launch. */
static inline struct tt_key make_key(const struct tt_launch *launch, uint64_t prog, uint64_t grid)
{
	const struct tt_schema *schema = launch->prog->attrs;
	struct tt_key key = {0};

	tt_key_number(&key, prog);
	tt_key_number(&key, grid);
	if (launch->prog->key) {
		launch->prog->key(&key, launch);
		return key;
	}
	for (size_t i = 0; i < schema->count; i++)
		if (!schema->fields[i].unkeyed)
			tt_key_values(&key, &launch->attrs[i], 1);
	for (size_t i = 0; i < launch->input_count; i++) {
		tt_key_number(&key, launch->inputs[i] != NULL);
		if (launch->inputs[i])
			tt_key_spec(&key, &launch->inputs[i]->spec);
	}
	return key;
}

uint64_t tt_launch_hash(const struct tt_launch *launch)
{
	const char *name = launch->prog->device_op;

	return make_key(launch, tt_hash(0, name, strlen(name)), tt_core_set_hash(launch->grid))
		.hash;
}

/* ---- program memory ---------------------------------------------------------------------------------- */

/* What the cache keeps of a program. */
struct built {
	struct tt_tensor *kept[TT_KEPT_MAX];
	struct tt_program program;
	struct tt_program
		*others; /* of chips that have another one: all parts but the first; owned */
	uint32_t other_count;
	struct tt_event_block memory; /* what the program takes, emitted each time; owned */
	struct tt_facts_list facts;   /* the same of what else is known of it */
	uint32_t factory;
	enum tt_kept_order order;
	bool begun;          /* the program of the first chip was built */
	uint32_t rows, cols; /* of the mesh */
};

struct tt_plan {
	struct tt_program *program;
	const struct tt_program_limits *limits;
	struct built *built;
};

void tt_plan_begun(struct tt_plan *plan)
{
	plan->built->begun = true;
}

_Static_assert(TT_KEPT_MAX <= TT_CHIPS_MAX, "room for an order of all that is kept");

static void give_up_by_chip(struct tt_tensor **kept, uint32_t rows, uint32_t cols)
{
	uint32_t order[TT_CHIPS_MAX];

	tt_chip_order(order, rows, cols);
	for (uint32_t i = 0; i < rows * cols; i++)
		ttnn_tensor_unref(kept[order[i]]);
}

static void give_up(struct tt_tensor **kept, enum tt_kept_order order)
{
	size_t count = 0;

	while (count < TT_KEPT_MAX && kept[count])
		count++;
	for (size_t i = 0; i < count; i++) {
		size_t which = order == TT_KEPT_BACKWARD ? count - 1 - i
			       : order == TT_KEPT_FORWARD || order == TT_KEPT_BUILT_FORWARD
				       ? i
				       : (i + count - 1) % count;

		ttnn_tensor_unref(kept[which]);
	}
}

static void free_built(void *data)
{
	struct built *built = data;

	if (built->order == TT_KEPT_BY_CHIP && built->rows * built->cols <= TT_KEPT_MAX)
		give_up_by_chip(built->kept, built->rows, built->cols);
	else
		give_up(built->kept, built->order);
	tt_program_deinit(&built->program);
	for (uint32_t i = 0; i < built->other_count; i++)
		tt_program_deinit(&built->others[i]);
	tt_free(built->others);
	tt_free((void *)(uintptr_t)built->memory.values);
	tt_facts_free(&built->facts);
	tt_free(built);
}

/* Upstream counts the entries of a dataflow buffer in so many bits, and refuses more. */
#define DATAFLOW_ENTRIES_MAX UINT16_MAX

static inline tt_status add_row(struct tt_plan *plan, const struct tt_buffer_row *row,
				const ttnn_core_set *cores)
{
	struct tt_program_row placed = {.kind = row->kind,
					.name = row->name,
					.size = row->pages * row->page,
					.cores = cores};

	TT_REQUIRE(row->kind != TT_MEMORY_DATAFLOW_BUFFER || row->pages <= DATAFLOW_ENTRIES_MAX,
		   "capacity <= max_capacity",
		   "DFB %u: capacity %" PRIu64
		   " exceeds the maximum %d (HW BUFFER_CAPACITY is 16 bits); reduce num_entries.",
		   row->index, row->pages, DATAFLOW_ENTRIES_MAX);
	if (row->kind == TT_MEMORY_CIRCULAR_BUFFER) {
		placed.view_count = 1;
		placed.views[0] = (struct tt_program_view){row->index, (uint32_t)row->page};
	}
	if (row->backing) {
		const struct tt_buffer *buffer = tt_tensor_buffer(row->backing);

		placed.borrowed = true;
		placed.address = buffer && buffer->address ? buffer->address + row->offset : 0;
		if (buffer && row->kind == TT_MEMORY_CIRCULAR_BUFFER) {
			placed.room = buffer->layout.bank_bytes;
			placed.far = row->backing->spec.memory.buffer == TTNN_DRAM;
		}
	}
	return tt_program_add(plan->program, &placed, plan->limits);
}

tt_status tt_plan_empty(struct tt_plan *plan, const struct tt_buffer_row *row)
{
	return add_row(plan, row, row->cores);
}

tt_status tt_plan_buffers(struct tt_plan *plan, const ttnn_core_set *cores,
			  const struct tt_buffer_row *rows, size_t count)
{
	for (const struct tt_buffer_row *row = rows; row < rows + count; row++)
		if (row->pages)
			TT_TRY(add_row(plan, row, row->cores ? row->cores : cores));
	return TTNN_OK;
}

uint64_t tt_buffers_bytes(const struct tt_buffer_row *rows, size_t count)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < count; i++)
		bytes += rows[i].backing ? 0 : rows[i].pages * rows[i].page;
	return bytes;
}

static bool has_circular(const struct tt_program *program)
{
	return program->rows.count && program->rows.data[0].kind == TT_MEMORY_CIRCULAR_BUFFER;
}

static tt_status check(struct tt_program *program, const struct tt_launch *launch)
{
	uint64_t lowest = TT_PROGRAM_L1_EMPTY;

	/* It fitted when it was recorded, and takes no room now. */
	if (tt_rerunning())
		return TTNN_OK;
	tt_allocator_lowest(&lowest, &launch->device->memory->allocator, TTNN_L1);
	return tt_program_check(program, &launch->device->limits, lowest);
}

tt_status tt_launch_keep(struct tt_launch *launch, struct tt_tensor *tensor)
{
	if (launch->kept_count == TT_KEPT_MAX) {
		ttnn_tensor_unref(tensor);
		return tt_fail(TTNN_INTERNAL, "%s keeps more than %d tensors",
			       launch->prog->device_op, TT_KEPT_MAX);
	}
	launch->kept[launch->kept_count++] = tensor;
	return TTNN_OK;
}

static enum tt_kept_order unbuilt_order(const struct tt_launch *launch)
{
	enum tt_kept_order order = launch->prog->kept_order;

	return order == TT_KEPT_BUILT_FORWARD || order == TT_KEPT_BY_CHIP ? TT_KEPT_BACKWARD
									  : order;
}

/* What was made for a program that was not built after all. */
static void drop_kept(struct tt_launch *launch)
{
	give_up(launch->kept, unbuilt_order(launch));
	memset(launch->kept, 0, launch->kept_count * sizeof(launch->kept[0]));
	launch->kept_count = 0;
}

static _Thread_local struct {
	tt_build_listener listener;
	void *context;
} builds;

void tt_launch_listen(tt_build_listener listener, void *context)
{
	builds.listener = listener;
	builds.context = context;
}

/* One program: rows, and for dataflow buffers the checks that upstream makes while it builds. */
static tt_status build_part(struct built *built, struct tt_launch *launch, uint32_t part)
{
	struct tt_program *program = part ? &built->others[part - 1] : &built->program;
	struct tt_plan plan = {
		.program = program, .limits = &launch->device->limits, .built = built};

	tt_program_start(program);
	launch->part = part;
	if (launch->factory->memory)
		TT_TRY(launch->factory->memory(&plan, launch));
	if (!program->rows.count || has_circular(program))
		return TTNN_OK;
	TT_TRY(tt_program_place(program, plan.limits));
	return check(program, launch);
}

static tt_status build_parts(struct built *built, struct tt_launch *launch)
{
	TT_TRY(build_part(built, launch, 0));
	if (launch->prog->parts < 2)
		return TTNN_OK;
	built->others = tt_calloc(launch->prog->parts - 1u, sizeof(*built->others));
	TT_NEED_MEMORY(built->others);
	for (uint32_t i = 1; i < launch->prog->parts; i++) {
		built->other_count = i;
		TT_TRY(build_part(built, launch, i));
	}
	return TTNN_OK;
}

static tt_status build(struct built **out, struct tt_launch *launch)
{
	struct built *built = tt_calloc(1, sizeof(*built));
	tt_status status;

	TT_NEED_MEMORY(built);
	memcpy(built->kept, launch->kept, launch->kept_count * sizeof(built->kept[0]));
	memset(launch->kept, 0, launch->kept_count * sizeof(launch->kept[0]));
	launch->kept_count = 0;
	built->factory = (uint32_t)(launch->factory - launch->prog->factories);
	built->order = launch->prog->kept_order;
	built->rows = launch->device->rows;
	built->cols = launch->device->cols;
	status = build_parts(built, launch);
	if (status != TTNN_OK) {
		if (!built->begun)
			built->order = unbuilt_order(launch);
		free_built(built);
		return status;
	}
	if (builds.listener)
		builds.listener(builds.context, launch, &built->program);
	*out = built;
	return TTNN_OK;
}

/* ---- telling ------------------------------------------------------------------------------------------- */

/* What is emitted of a program, together: a few events at a time. */
struct emissions {
	size_t count;
	struct tt_event events[8];
};

static void emit_all(struct emissions *emissions)
{
	if (emissions->count)
		tt_event_emit_all(emissions->events, emissions->count);
	emissions->count = 0;
}

/* Room for one more; the caller fills in what belongs to its kind. */
static struct tt_event *emit(struct emissions *emissions, enum tt_event_kind kind)
{
	struct tt_event *event;

	if (emissions->count == sizeof(emissions->events) / sizeof(emissions->events[0]))
		emit_all(emissions);
	event = &emissions->events[emissions->count++];
	event->kind = kind;
	event->ticks = 0;
	return event;
}

/* What is the same each time events of a program are emitted. */
struct emitted {
	struct tt_event_block memory;
	const struct tt_facts *facts; /* NULL: memory is exhausted, or nobody listens */
};

/* Told when nothing can refuse the program any more. */
static void emit_program(struct emissions *emissions, const struct tt_launch *launch,
			 const struct emitted *emitted, bool hit)
{
	if (!tt_event_on())
		return;
	emit(emissions, TT_EVENT_PROGRAM)->program = (struct tt_event_program){
		.factory = launch->factory->name,
		.factory_index = (uint32_t)(launch->factory - launch->prog->factories),
		.cache_hit = hit,
		.device_id = launch->device->id,
		.memory = emitted->memory,
		.facts = emitted->facts ? emitted->facts->block : (struct tt_event_block){0},
	};
}

/* Of a placed program. What lies in a tensor's buffer lies elsewhere the next time. */
static tt_status describe_memory(struct built *built)
{
	size_t rows = built->program.rows.count;
	struct ttnn_value *values = tt_calloc(rows * TT_MEMORY_VALUES + 1, sizeof(*values));

	TT_NEED_MEMORY(values);
	for (size_t i = 0; i < rows; i++) {
		const struct tt_program_row *row = &built->program.rows.data[i];

		tt_event_memory_values(&values[i * TT_MEMORY_VALUES],
				       &(struct tt_event_program_memory){
					       .kind = row->kind,
					       .index = row->view_count ? row->views[0].index : 0,
					       .size = row->size,
					       .address = row->borrowed ? 0 : row->address,
					       .cores = row->cores,
					       .borrowed = row->borrowed,
				       });
	}
	built->memory = (struct tt_event_block){values, rows * TT_MEMORY_VALUES,
						tt_block_hash(values, rows * TT_MEMORY_VALUES)};
	return TTNN_OK;
}

/* Program memory is free again: what was there before makes room. */
static void emit_release(struct emissions *emissions, const struct tt_launch *launch, uint32_t id)
{
	/* The older release reports it only when circular buffers had really been placed. */
	if (tt_event_on() && !tt_is_classic(launch->device))
		emit(emissions, TT_EVENT_PROGRAM_RELEASE)->device =
			(struct tt_event_device){.device = launch->device, .device_id = id};
}

/* How rows are recorded: where they are, where they would be, and what a dry capture records besides. */
enum emitting { PLACED, BLIND, PLANNED };

/* Row by row, each on every one of these devices. */
static void emit_memory(struct emissions *emissions, const struct tt_program *program,
			const uint32_t *ids, uint32_t id_count, enum emitting how)
{
	if (!tt_event_on())
		return;
	for (size_t i = 0; i < program->rows.count * id_count; i++) {
		const struct tt_program_row *row = &program->rows.data[i / id_count];

		emit(emissions, TT_EVENT_PROGRAM_MEMORY)->memory = (struct tt_event_program_memory){
			.kind = how == PLANNED ? TT_MEMORY_PLANNED : row->kind,
			.index = row->view_count ? row->views[0].index : 0,
			.size = row->size,
			.address = how == PLACED ? row->address : 0,
			.cores = row->cores,
			.borrowed = row->borrowed,
			.device_id = ids[i % id_count],
		};
	}
}

static atomic_uint_least64_t launches;

void tt_launch_set_count(uint64_t count)
{
	atomic_store(&launches, count);
}

/* Rehearsals count as well, but not what only is asked. */
static uint64_t count_launch(void)
{
	if (tt_asking())
		return 0;
	return atomic_fetch_add_explicit(&launches, 1, memory_order_relaxed) + 1;
}

/* The program of a chip; NULL if it takes no part. */
static struct tt_program *program_of(struct built *built, const struct tt_launch *launch,
				     uint32_t chip)
{
	uint32_t part = launch->prog->part ? launch->prog->part(launch, chip) : 0;

	if (part == TT_NO_PART)
		return NULL;
	return part ? &built->others[part - 1] : &built->program;
}

static void emit_launch(struct emissions *emissions, const struct tt_launch *launch)
{
	uint32_t chips = tt_launch_chips(launch->device), *order;
	bool first = true;

	if (!tt_event_on())
		return;
	order = tt_launch_order(launch);
	for (uint32_t i = 0; i < chips; i++) {
		uint32_t chip = order ? order[i] : i;
		struct tt_event *event;

		if (launch->prog->part && launch->prog->part(launch, chip) == TT_NO_PART)
			continue;
		event = emit(emissions, TT_EVENT_PROGRAM_LAUNCH);
		event->ticks = first ? tt_clock_ticks() : 0;
		first = false;
		event->launch = (struct tt_event_program_launch){
			.device_id = launch->device->id,
			.chip_id = launch->device->chips[chip],
			.launch = launch->number,
			.cores = launch->device->grid,
		};
	}
}

/* ---- the steps of a launch ------------------------------------------------------------------------------- */

static tt_status create_output(struct tt_launch *launch, size_t i)
{
	struct tt_tensor *made;

	if (launch->prog->view && i == launch->prog->view)
		TT_TRY(tt_tensor_share(&made, launch->outputs[i - 1], &launch->specs[i]));
	else
		TT_TRY(tt_call_create(&made, launch->call, launch->device, &launch->specs[i]));
	launch->outputs[i] = made;
	return TTNN_OK;
}

tt_status tt_create_for_nothing(struct tt_launch *launch, size_t which)
{
	struct tt_tensor *made;

	TT_TRY(tt_call_create(&made, launch->call, launch->device, &launch->specs[which]));
	tt_call_drop(launch->call, made);
	return TTNN_OK;
}

/* Behind a view an output that was given is made all the same. */
static tt_status create_outputs(struct tt_launch *launch)
{
	struct tt_spread_tensors tensors = {launch->inputs, launch->outputs, launch->input_count,
					    launch->output_count};
	uint64_t spread = launch->prog->spread ? launch->prog->spread(launch)
					       : tt_spread_of_results(&tensors);

	for (size_t k = 0; k < launch->output_count; k++) {
		size_t i = tt_launch_output_at(launch, k);

		if (launch->prog->infer_output && !launch->outputs[i])
			TT_TRY(launch->prog->infer_output(launch, i));
		if (!launch->outputs[i])
			TT_TRY(create_output(launch, i));
		else if (launch->prog->view && i > launch->prog->view)
			TT_TRY(tt_create_for_nothing(launch, i));
		/* One that was given is spread as its values are from now on. */
		if (spread && launch->outputs[i]->spread != spread)
			launch->outputs[i]->spread = spread;
	}
	return TTNN_OK;
}

static tt_status choose(struct tt_launch *launch)
{
	uint32_t index = 0;

	if (launch->prog->choose)
		TT_TRY(launch->prog->choose(&index, launch));
	if (index >= launch->prog->factory_count)
		return tt_fail(TTNN_INTERNAL, "%s has no factory %u", launch->prog->device_op,
			       index);
	launch->factory = &launch->prog->factories[index];
	return TTNN_OK;
}

/* A dry run: what would be there, nothing placed, nothing kept. */
static void rehearse_built(const struct tt_launch *launch, struct built *built, bool hit)
{
	uint32_t times = tt_launch_programs(launch);
	uint32_t *order = launch->prog->part ? tt_launch_order(launch) : NULL;
	struct emitted emitted = {.memory = {0}};
	struct emissions emissions;

	emissions.count = 0;
	for (uint32_t i = 0; i < times; i++) {
		struct tt_program *program = program_of(built, launch, order ? order[i] : i);

		if (!program)
			continue;
		emit_release(&emissions, launch, launch->device->id);
		emit_memory(&emissions, program, &launch->device->id, 1, BLIND);
	}
	if (tt_event_on())
		emitted.facts = tt_facts_of(&built->facts, launch, &built->program);
	emit_program(&emissions, launch, &emitted, hit);
	emit_all(&emissions);
	count_launch();
}

/* Where upstream's programs go before what they belong to. */
static void drop_built(struct tt_launch *launch, struct built *built)
{
	for (size_t i = 0; i < TT_KEPT_MAX && launch->prog->drops_kept; i++) {
		tt_call_drop(launch->call, built->kept[i]);
		built->kept[i] = NULL;
	}
}

/* A program that does not go to the chips after all gives back what it holds. */
static void give_back(struct emissions *emissions, struct tt_launch *launch, struct built *built)
{
	emit_all(emissions);
	drop_built(launch, built);
	for (uint32_t i = 0; i < tt_launch_chips(launch->device); i++)
		emit_release(emissions, launch, launch->device->chips[i]);
}

static tt_status rehearse(struct tt_launch *launch)
{
	struct built *built;

	TT_TRY(build(&built, launch));
	rehearse_built(launch, built, false);
	drop_built(launch, built);
	free_built(built);
	return TTNN_OK;
}

/* Circular buffers are placed and checked when the program goes to the chips, each time anew. */
static tt_status go_to_chips(struct emissions *emissions, struct tt_launch *launch,
			     struct built *built, bool hit)
{
	struct tt_program *program = &built->program;
	uint32_t chips = tt_launch_chips(launch->device);
	struct emitted emitted = {.facts = NULL};
	tt_status status;

	for (uint32_t i = 0; i < tt_launch_programs(launch); i++)
		if (program_of(built, launch, i))
			emit_release(emissions, launch, launch->device->id);
	for (uint32_t i = 0; i < built->other_count && !hit; i++)
		if (has_circular(&built->others[i]))
			TT_TRY(tt_program_place(&built->others[i], &launch->device->limits));
	for (uint32_t i = 0; i < built->other_count; i++)
		TT_TRY(check(&built->others[i], launch));
	if (has_circular(program) && tt_run_rehearsals(0))
		emit_memory(emissions, program, &launch->device->id, 1, PLANNED);
	if (has_circular(program)) {
		status = hit ? TTNN_OK : tt_program_place(program, &launch->device->limits);
		if (status != TTNN_OK) {
			give_back(emissions, launch, built);
			return status;
		}
		/* Upstream does not tell of several programs that are launched as one. */
		if (!hit && tt_program_takes_room(program) &&
		    (!launch->prog->per_chip || chips == 1))
			emit_memory(emissions, program, launch->device->chips, chips, PLACED);
		status = check(program, launch);
		if (status != TTNN_OK && !hit)
			give_back(emissions, launch, built);
		TT_TRY(status);
	} else if (!hit) {
		emit_memory(emissions, program, &launch->device->id, 1, PLACED);
	}
	if (!hit)
		TT_TRY(describe_memory(built));
	emitted.memory = built->memory;
	if (tt_event_on())
		emitted.facts = tt_facts_of(&built->facts, launch, program);
	emit_program(emissions, launch, &emitted, hit);
	launch->number = count_launch();
	emit_launch(emissions, launch);
	return TTNN_OK;
}

static tt_status perform(struct tt_launch *launch, struct built *built, bool hit)
{
	struct emissions emissions;
	tt_status status;

	emissions.count = 0;
	status = go_to_chips(&emissions, launch, built, hit);
	emit_all(&emissions);
	TT_TRY(status);
	return tt_rerun_note_launch(launch->device, launch->number) ? TTNN_OK
								    : tt_launch_compute(launch);
}

static tt_status build_and_perform(struct tt_launch *launch, const struct tt_progcache_key *key)
{
	struct tt_progcache *cache = &launch->device->programs;
	struct tt_progcache_entry *entry = NULL;
	struct built *built;
	tt_status status;

	TT_TRY(build(&built, launch));
	status = perform(launch, built, false);
	/* What a program keeps has no place when it is run again: nobody else can use it. */
	if (status != TTNN_OK || tt_rerunning()) {
		free_built(built);
		return status;
	}
	status = tt_progcache_add(&entry, cache, key,
				  &(struct tt_progcache_payload){built, free_built});
	if (status != TTNN_OK)
		free_built(built);
	tt_progcache_unref(entry);
	return status;
}

static bool is_elsewhere(const struct tt_tensor *tensor, const struct tt_device *device)
{
	const struct tt_device *other = tensor ? tt_tensor_device(tensor) : NULL;

	return other && other != device;
}

/* The one place where tensors of two devices are refused; some programs did it before, in their own words. */
static tt_status check_devices(const struct tt_launch *launch)
{
	bool apart = false;

	for (size_t i = 0; i < launch->input_count && !apart; i++)
		apart = is_elsewhere(launch->inputs[i], launch->device);
	for (size_t i = 0; i < launch->output_count && !apart; i++)
		apart = is_elsewhere(launch->outputs[i], launch->device);
	if (!apart)
		return TTNN_OK;
	return tt_fail_cond(TTNN_INVALID, "tensor.device() == device",
			    "Operands to %s need to be on the same device!",
			    launch->call->entry->op->name);
}

/* A tensor that a program is given, or NULL, is on a device; on which one, see above. */
static tt_status check_storage(const struct tt_tensor *tensor)
{
	if (!tensor)
		return TTNN_OK;
	TT_REQUIRE(tt_tensor_device(tensor), "is_device_tensor(input_tensor)",
		   "Device Operations expect device tensors as inputs");
	TT_REQUIRE(tt_tensor_buffer(tensor), "input_tensor.is_allocated()",
		   "Input Tensor is not allocated");
	return TTNN_OK;
}

static tt_status check_storages(const struct tt_launch *launch)
{
	for (size_t i = 0; i < launch->input_count; i++)
		TT_TRY(check_storage(launch->inputs[i]));
	for (size_t i = 0; i < TT_OUTPUTS_MAX; i++)
		TT_TRY(check_storage(launch->outputs[i]));
	return TTNN_OK;
}

static tt_status on_device(const struct tt_launch *launch)
{
	if (launch->device)
		return TTNN_OK;
	return tt_fail_cond(TTNN_INVALID, "tt::exception",
			    "Device Operations expect device tensors as inputs");
}

static tt_status steps(struct tt_launch *launch)
{
	bool dry = tt_run_mode() == TTNN_RUN_NO_DISPATCH;
	struct tt_progcache_entry *entry = NULL;
	struct tt_progcache_key key;
	struct tt_key hash;
	tt_status status = TTNN_OK;

	TT_TRY(on_device(launch));
	TT_TRY(check_storages(launch));
	launch->output_count = 1;
	TT_TRY(launch->prog->infer ? launch->prog->infer(launch) : tt_infer_like_input(launch));
	TT_TRY(create_outputs(launch));
	if (launch->prog->prepare)
		TT_TRY(launch->prog->prepare(launch));
	hash = make_key(launch, (uintptr_t)launch->prog, (uintptr_t)launch->grid);
	key = (struct tt_progcache_key){&hash, sizeof(hash)};
	if (!tt_asking())
		TT_TRY(tt_progcache_find(&entry, &launch->device->programs, &key,
					 launch->prog->device_op));
	if (launch->prog->validate)
		status = launch->prog->validate(launch);
	if (status == TTNN_OK)
		status = check_devices(launch);
	if (status != TTNN_OK) {
		tt_progcache_unref(entry);
		return status;
	}
	if (!entry) {
		if (!dry)
			TT_TRY(tt_rerun_check_new(launch->device));
		TT_TRY(choose(launch));
		return dry ? rehearse(launch) : build_and_perform(launch, &key);
	}
	launch->factory = &launch->prog->factories[((struct built *)entry->payload.data)->factory];
	if (dry)
		rehearse_built(launch, entry->payload.data, true);
	else
		status = perform(launch, entry->payload.data, true);
	tt_progcache_unref(entry);
	return status;
}

static struct tt_device *device_of(const struct tt_program_args *args, struct tt_call *call)
{
	for (size_t i = 0; i < args->input_count; i++)
		if (args->inputs[i] && tt_tensor_device(args->inputs[i]))
			return tt_tensor_device(args->inputs[i]);
	return call->device;
}

/*
 * The primitive and its device operation begin. The one has tensors and attributes as its arguments, the
 * other attributes alone: the same ones in memory, so that they are recorded once. Tensors that are to be
 * written to are among those that the device operation is given.
 */
static void emit_begin(const struct tt_program_args *args)
{
	size_t attrs = args->prog->attrs->count, count = 0, most = args->prog->prim_args;
	struct ttnn_value values[2 * TT_OUTPUTS_MAX];
	struct tt_tensor *given[2 * TT_OUTPUTS_MAX];
	const struct ttnn_value *kept;
	size_t counts[2];

	for (size_t i = 0; i < args->input_count; i++) {
		given[i] = args->inputs[i];
		if (given[i])
			values[count++] = ttnn_v_tensor(given[i]);
	}
	counts[0] = args->prog->prim_blind ? 0 : args->input_count;
	counts[1] = args->input_count;
	for (size_t i = 0; i < args->output_count && i < TT_OUTPUTS_MAX && !args->in_place; i++)
		given[counts[1]++] = args->outputs[i];
	kept = attrs > 2 * TT_OUTPUTS_MAX - count ? args->attrs : &values[count];
	if (kept == args->attrs)
		attrs = 2 * TT_OUTPUTS_MAX - count;
	if (attrs)
		memcpy(&values[count], args->attrs, attrs * sizeof(values[0]));
	count += attrs;
	for (size_t i = count; i < most && i < 2 * TT_OUTPUTS_MAX; i++)
		values[i] = (struct ttnn_value){0};
	tt_emit_begin_both(
		(struct tt_event_scope_begin[2]){{.kind = TT_SCOPE_PRIM,
						  .name = args->prog->prim,
						  .args = values,
						  .arg_count = most ? most : count},
						 {.kind = TT_SCOPE_DEVICE_OP,
						  .name = args->prog->device_op,
						  .schema = args->prog->attrs,
						  .args = kept,
						  .arg_count = args->prog->attrs->count}},
		given, counts);
}

tt_status tt_call_programs(struct tt_tensor **out, size_t *count, struct tt_call *call,
			   const struct tt_program_args *args)
{
	struct ttnn_tensor_spec *specs =
		tt_arena_alloc(call->arena, TT_OUTPUTS_MAX * sizeof(*specs));
	struct tt_launch launch = {.prog = args->prog,
				   .call = call,
				   .arena = call->arena,
				   .device = device_of(args, call),
				   .attrs = args->attrs,
				   .inputs = args->inputs,
				   .input_count = args->input_count,
				   .extra = args->extra,
				   .specs = specs};
	tt_status status;
	size_t emitted;

	TT_NEED_MEMORY(specs);
	TT_NEED(args->input_count <= TT_PROGRAM_INPUTS_MAX, "%s takes at most %d tensors, not %zu",
		args->prog->device_op, TT_PROGRAM_INPUTS_MAX, args->input_count);
	launch.grid = args->grid || !launch.device ? args->grid : launch.device->grid;
	for (size_t i = 0; i < args->output_count; i++)
		launch.outputs[i] = args->outputs[i] ? ttnn_tensor_ref(args->outputs[i]) : NULL;
	if (tt_event_on())
		emit_begin(args);
	status = steps(&launch);
	drop_kept(&launch);
	if (status != TTNN_OK) {
		tt_emit_error(status);
		/* Given ones stay their owner's, who may be this very call. */
		for (size_t k = 0; k < TT_OUTPUTS_MAX; k++) {
			size_t i = args->prog->drops_forward ? k : TT_OUTPUTS_MAX - 1 - k;

			if (i < args->output_count && args->outputs[i])
				ttnn_tensor_unref(launch.outputs[i]);
			else
				tt_call_drop(call, launch.outputs[i]);
		}
		launch.output_count = 0;
	}
	emitted = launch.output_count;
	if (args->prog->emits && args->prog->emits < emitted)
		emitted = args->prog->emits;
	if (args->prog->mute)
		emitted = 0;
	tt_emit_end_both(launch.outputs, emitted, status != TTNN_OK);
	if (status != TTNN_OK)
		return status;
	for (size_t i = 0; i < launch.output_count; i++)
		out[i] = launch.outputs[i];
	for (size_t i = launch.output_count; i < args->output_count; i++)
		ttnn_tensor_unref(launch.outputs[i]); /* given, but no result */
	*count = launch.output_count;
	return TTNN_OK;
}

tt_status tt_call_program(struct tt_tensor **out, struct tt_call *call,
			  const struct tt_program_args *args)
{
	struct tt_tensor *all[TT_OUTPUTS_MAX];
	size_t count;

	TT_TRY(tt_call_programs(all, &count, call, args));
	if (count != 1)
		return tt_fail(TTNN_INTERNAL, "%s gave %zu outputs", args->prog->device_op, count);
	*out = all[0];
	return TTNN_OK;
}
