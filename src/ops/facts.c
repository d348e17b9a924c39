/*
 * facts.c: what is recorded of a program before it runs, for profiles: its cores, its arithmetic, how fast a perfect
 * chip were. Worked out when somebody records, once for a program; programs that take any shape have facts for
 * each that came.
 */
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "device/device.h"
#include "device/perf.h"
#include "device/work_split.h"
#include "ops/compute.h"
#include "ops/cost.h"
#include "ops/launch.h"
#include "tensor/core.h"
#include "tensor/shape.h"

/* Shapes beyond this are worked out each time they come. */
#define FACTS_MAX 64

/* ---- cores -------------------------------------------------------------------------------------------- */

/* The cores of all memory of a program. */
static const ttnn_core_set *memory_cores(const struct tt_program *program)
{
	const ttnn_core_set *all = NULL, *more;

	for (size_t i = 0; i < program->rows.count; i++) {
		const ttnn_core_set *cores = program->rows.data[i].cores;

		if (!cores || cores == all || !ttnn_core_set_cores(cores))
			continue;
		if (!all)
			all = cores;
		else if (tt_core_set_merge(&more, all, cores) == TTNN_OK)
			all = more;
	}
	return all;
}

const ttnn_core_set *tt_cost_split(const struct tt_launch *launch, uint64_t units)
{
	struct tt_work_split split;

	if (tt_split_work_in(&split, launch->grid, units, TTNN_ORIENT_COL_MAJOR) != TTNN_OK)
		return launch->grid;
	return split.cores ? split.all : NULL;
}

/* Those that hold the result, or share its pages. */
static const ttnn_core_set *page_cores(const struct tt_launch *launch)
{
	const struct tt_tensor *out = launch->output_count ? launch->outputs[0] : NULL;
	const struct tt_tensor *of = out ? out : launch->input_count ? launch->inputs[0] : NULL;

	if (!of)
		return launch->grid;
	if (of->spec.memory.has_shard && of->spec.memory.buffer != TTNN_DRAM)
		return of->spec.memory.shard.grid;
	return tt_cost_split(launch, of->spec.pages);
}

static const ttnn_core_set *cores_of(const struct tt_launch *launch,
				     const struct tt_program *program)
{
	/* What takes any shape has memory on all cores, whatever they have to do. */
	const ttnn_core_set *cores = launch->prog->key ? NULL : memory_cores(program);

	return cores ? cores : page_cores(launch);
}

/* ---- arithmetic --------------------------------------------------------------------------------------- */

static const struct ttnn_value *field_of(const struct tt_schema *schema,
					 const struct ttnn_value *values, const char *name)
{
	for (size_t i = 0; i < schema->count; i++)
		if (strcmp(schema->fields[i].name, name) == 0)
			return &values[i];
	return NULL;
}

uint32_t tt_cost_fidelity(const struct tt_launch *launch)
{
	const struct ttnn_value *config =
		field_of(launch->prog->attrs, launch->attrs, "compute_kernel_config");
	const struct ttnn_value *fidelity = NULL;

	if (config && config->kind == TTNN_VALUE_OBJECT)
		fidelity = field_of(config->schema, config->items, "math_fidelity");
	return fidelity && fidelity->kind == TTNN_VALUE_ENUM ? (uint32_t)fidelity->integer
							     : TT_HIFI4;
}

/* ---- the model ---------------------------------------------------------------------------------------- */

static size_t take_specs(const struct ttnn_tensor_spec **out, struct tt_tensor *const *tensors,
			 size_t count)
{
	size_t used = 0;

	for (size_t i = 0; i < count && i < TT_OUTPUTS_MAX; i++)
		if (tensors[i])
			out[used++] = &tensors[i]->spec;
	return used;
}

static void request(struct ttnn_value *out, const struct tt_perf *perf,
		    const struct ttnn_tensor_spec *const *specs, size_t count)
{
	for (size_t i = 0; i < count; i++)
		out[i] = ttnn_v_real((double)tt_perf_request(perf, specs[i]));
}

static void fill(struct tt_facts *facts, const struct tt_launch *launch, const struct tt_cost *cost)
{
	const struct ttnn_tensor_spec *inputs[TT_OUTPUTS_MAX], *outputs[TT_OUTPUTS_MAX];
	struct tt_perf_work work = {.cycles = cost->cycles, .inputs = inputs, .outputs = outputs};
	struct tt_event_facts all = {
		.hash = tt_launch_hash(launch),
		.cores = cost->cores,
		.computes = !cost->moves,
		.has_fidelity = !cost->moves,
		.fidelity = cost->fidelity,
		.modelled = cost->modelled,
		.source = launch->prog->source,
	};
	struct tt_perf perf;

	if (cost->modelled) {
		work.input_count = take_specs(inputs, launch->inputs, cost->inputs);
		work.output_count = take_specs(outputs, launch->outputs, launch->output_count);
		perf = tt_perf_ideal(&launch->device->profile->arch, &work);
		request(facts->rates, &perf, inputs, work.input_count);
		request(facts->rates + work.input_count, &perf, outputs, work.output_count);
		all.compute_ns = perf.compute_ns;
		all.bandwidth_ns = perf.bandwidth_ns;
		all.ideal_ns = perf.ideal_ns;
		all.input_bw = facts->rates;
		all.input_bw_count = work.input_count;
		all.output_bw = facts->rates + work.input_count;
		all.output_bw_count = work.output_count;
	}
	tt_event_facts_values(facts->values, &all);
	facts->cores = cost->cores;
	/* Texts have no hash in blocks; this one is as constant as the program. */
	facts->block = (struct tt_event_block){
		facts->values, TT_FACT_VALUES,
		tt_hash_u64(tt_hash_u64(all.hash, facts->shapes), (uintptr_t)facts->cores) | 1};
}

/* For the list, or, if `once`, in the arena of the call. */
static struct tt_facts *make(const struct tt_launch *launch, const struct tt_program *program,
			     uint64_t shapes, bool once)
{
	size_t size = sizeof(struct tt_facts) +
		      (launch->input_count + launch->output_count) * sizeof(struct ttnn_value);
	struct tt_cost cost = {.fidelity = tt_cost_fidelity(launch), .inputs = launch->input_count};
	struct tt_facts *facts =
		once ? tt_arena_calloc(launch->arena, 1, size) : tt_calloc(1, size);

	if (!facts)
		return NULL;
	cost.cores = cores_of(launch, program);
	if (launch->prog->cost)
		launch->prog->cost(&cost, launch);
	if (cost.inputs > launch->input_count)
		cost.inputs = launch->input_count;
	facts->shapes = shapes;
	fill(facts, launch, &cost);
	return facts;
}

/* ---- finding ------------------------------------------------------------------------------------------ */

static uint64_t hash_shapes(uint64_t hash, struct tt_tensor *const *tensors, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (tensors[i])
			hash = tt_shape_hash(hash, &tensors[i]->spec.padded);
	return hash;
}

const struct tt_facts *tt_facts_of(struct tt_facts_list *list, const struct tt_launch *launch,
				   const struct tt_program *program)
{
	uint64_t shapes = 0;
	bool once;
	struct tt_facts *first = atomic_load_explicit(&list->first, memory_order_acquire), *facts;

	if (launch->prog->key) {
		shapes = hash_shapes(1, launch->inputs, launch->input_count);
		shapes = hash_shapes(shapes, launch->outputs, launch->output_count);
	}
	for (facts = first; facts; facts = facts->next)
		if (facts->shapes == shapes)
			return facts;
	once = atomic_load_explicit(&list->count, memory_order_relaxed) >= FACTS_MAX;
	facts = make(launch, program, shapes, once);
	if (!facts || once)
		return facts;
	facts->next = first;
	while (!atomic_compare_exchange_weak(&list->first, &facts->next, facts))
		;
	atomic_fetch_add(&list->count, 1);
	return facts;
}

void tt_facts_free(struct tt_facts_list *list)
{
	struct tt_facts *next;

	for (struct tt_facts *facts = atomic_load(&list->first); facts; facts = next) {
		next = facts->next;
		tt_free(facts);
	}
	atomic_store(&list->first, NULL);
}
