/* Programs that were seen lately. */
#include "profile/known.h"

#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "profile/attributes.h"
#include "tensor/core.h"
#include "tensor/enums.h"

/* How many are remembered: a network has some hundreds. Facts are small, and borrowed by operations under way. */
#define REMEMBERED 4096

/* ---- attributes --------------------------------------------------------------------------------------- */

static void forget_attributes(struct tt_ops_known *known)
{
	for (size_t i = 0; i < known->attributes.count; i++)
		tt_ops_attributes_unref(known->attributes.entries[i].pointer);
	tt_map_clear(&known->attributes);
}

struct tt_ops_attributes *tt_ops_known_attributes(uint64_t *number, struct tt_ops_known *known,
						  const struct tt_event_scope_begin *begin)
{
	struct tt_event_scope_begin alone = *begin; /* tensors are apart */
	const struct tt_argmemo_texts *texts;
	struct tt_ops_attributes *made;
	struct tt_map_entry *entry;
	uint64_t key[2];
	bool added;

	alone.inputs = NULL;
	alone.input_count = 0;
	texts = tt_argmemo_find(&known->memo, &alone, &known->style);
	if (!texts)
		return NULL;
	*number = key[0] = texts->number;
	key[1] = (uint64_t)(uintptr_t)begin->name;
	entry = tt_map_find(&known->attributes, key, sizeof(key));
	if (!entry) {
		made = tt_ops_attributes_make(begin, known->dialect);
		if (known->attributes.count >= REMEMBERED)
			forget_attributes(known);
		entry = made ? tt_map_add(&known->attributes, key, sizeof(key), &added) : NULL;
		if (!entry) {
			tt_ops_attributes_unref(made);
			return NULL;
		}
		entry->pointer = made;
	}
	made = entry->pointer;
	made->refs++;
	return made;
}

/* ---- facts -------------------------------------------------------------------------------------------- */

static void free_facts(struct tt_ops_facts *facts)
{
	if (facts) {
		tt_free(facts->bandwidths);
		tt_free(facts->source);
	}
	tt_free(facts);
}

static struct tt_ops_facts *copy_facts(const struct tt_event_facts *told)
{
	struct tt_ops_facts *facts = tt_calloc(1, sizeof(*facts));
	size_t count = told->modelled ? told->input_bw_count + told->output_bw_count : 0;

	if (!facts)
		return NULL;
	*facts = (struct tt_ops_facts){
		.hash = told->hash,
		.cores = told->cores,
		.computes = told->computes,
		.modelled = told->modelled,
		.fidelity = told->has_fidelity
				    ? tt_enum_name(&tt_enum_math_fidelity, told->fidelity)
				    : NULL,
		.compute_ns = told->compute_ns,
		.bandwidth_ns = told->bandwidth_ns,
		.ideal_ns = told->ideal_ns,
		.input_bws = count ? (uint32_t)told->input_bw_count : 0,
		.output_bws = count ? (uint32_t)told->output_bw_count : 0,
		.bandwidths = tt_calloc(count + 1, sizeof(double)),
		.source = told->source ? tt_strdup(told->source) : NULL,
	};
	if (!facts->bandwidths || (told->source && !facts->source)) {
		free_facts(facts);
		return NULL;
	}
	for (size_t i = 0; i < count; i++)
		facts->bandwidths[i] = i < told->input_bw_count
					       ? told->input_bw[i].real
					       : told->output_bw[i - told->input_bw_count].real;
	return facts;
}

static uint64_t hash_rates(uint64_t hash, const struct ttnn_value *rates, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t bits;

		memcpy(&bits, &rates[i].real, sizeof(bits));
		hash = tt_hash_u64(hash, bits);
	}
	return hash;
}

tt_status tt_ops_known_facts(const struct tt_ops_facts **out, struct tt_ops_known *known,
			     const struct tt_event_program *program)
{
	struct tt_event_facts told;
	struct tt_map_entry *entry;
	struct tt_ops_facts *made;
	uint64_t key[6];

	*out = NULL;
	if (!tt_event_facts_read(&told, program))
		return TTNN_OK;
	/* A program that takes any shape has one hash, and other cores and times for each. */
	key[0] = told.hash;
	key[1] = (uint64_t)(uintptr_t)told.cores;
	key[2] = told.compute_ns;
	key[3] = told.bandwidth_ns;
	key[4] = told.ideal_ns;
	key[5] = hash_rates(told.modelled, told.input_bw, told.input_bw_count);
	key[5] = hash_rates(key[5], told.output_bw, told.output_bw_count);
	entry = tt_map_find(&known->facts, key, sizeof(key));
	if (!entry) {
		made = copy_facts(&told);
		entry = made ? tt_map_add(&known->facts, key, sizeof(key), NULL) : NULL;
		if (!entry) {
			free_facts(made);
			return tt_fail_nomem();
		}
		entry->pointer = made;
	}
	*out = entry->pointer;
	return TTNN_OK;
}

/* ---- programs ----------------------------------------------------------------------------------------- */

static void forget_programs(struct tt_ops_known *known)
{
	for (size_t i = 0; i < known->programs.count; i++)
		tt_ops_program_unref(known->programs.entries[i].pointer);
	tt_map_clear(&known->programs);
}

static bool take_facts(struct tt_ops_program *program, const struct tt_ops_facts *facts)
{
	size_t count = (size_t)facts->input_bws + facts->output_bws;

	program->known = true;
	program->hash = facts->hash;
	program->cores = facts->cores ? (uint32_t)ttnn_core_set_cores(facts->cores) : 0;
	program->core_set = facts->cores;
	program->computes = facts->computes;
	program->fidelity = facts->fidelity;
	program->modelled = facts->modelled;
	program->compute_ns = facts->compute_ns;
	program->bandwidth_ns = facts->bandwidth_ns;
	program->ideal_ns = facts->ideal_ns;
	program->input_bws = facts->input_bws;
	program->output_bws = facts->output_bws;
	program->bandwidths = tt_calloc(count + 1, sizeof(double));
	program->source = facts->source ? tt_strdup(facts->source) : NULL;
	if (!program->bandwidths || (facts->source && !program->source))
		return false;
	memcpy(program->bandwidths, facts->bandwidths, count * sizeof(double));
	return true;
}

static struct tt_ops_program *make_program(struct tt_ops_known *known,
					   const struct tt_ops_seen *seen)
{
	struct tt_ops_attributes *attributes = seen->attributes;
	struct tt_ops_program *program;

	if (attributes)
		attributes->refs++;
	program = tt_ops_program_new(seen->name, attributes, seen->inputs, seen->outputs);
	if (!program)
		return NULL;
	program->number = ++known->count;
	if (seen->inputs + seen->outputs)
		memcpy(program->tensors, seen->tensors,
		       ((size_t)seen->inputs + seen->outputs) * sizeof(*seen->tensors));
	if (!seen->facts || take_facts(program, seen->facts))
		return program;
	tt_ops_program_unref(program);
	return NULL;
}

struct tt_ops_program *tt_ops_known_program(struct tt_ops_known *known,
					    const struct tt_ops_seen *seen)
{
	uint64_t head[] = {(uint64_t)(uintptr_t)seen->name, seen->number,
			   (uint64_t)(uintptr_t)seen->facts,
			   (uint64_t)seen->inputs << 32 | seen->outputs};
	struct tt_ops_program *program;
	struct tt_map_entry *entry;

	tt_str_clear(&known->key);
	tt_str_add(&known->key, (const char *)head, sizeof(head));
	tt_str_add(&known->key, (const char *)seen->tensors,
		   ((size_t)seen->inputs + seen->outputs) * sizeof(*seen->tensors));
	if (known->key.failed)
		return NULL;
	entry = tt_map_find(&known->programs, known->key.data, known->key.length);
	if (!entry) {
		program = make_program(known, seen);
		if (known->programs.count >= REMEMBERED)
			forget_programs(known);
		entry = program ? tt_map_add(&known->programs, known->key.data, known->key.length,
					     NULL)
				: NULL;
		if (!entry) {
			tt_ops_program_unref(program);
			return NULL;
		}
		entry->pointer = program;
	}
	program = entry->pointer;
	program->refs++;
	return program;
}

void tt_ops_known_deinit(struct tt_ops_known *known)
{
	forget_programs(known);
	forget_attributes(known);
	for (size_t i = 0; i < known->facts.count; i++)
		free_facts(known->facts.entries[i].pointer);
	tt_map_deinit(&known->programs);
	tt_map_deinit(&known->attributes);
	tt_map_deinit(&known->facts);
	tt_argmemo_deinit(&known->memo);
	tt_spectexts_deinit(&known->style.specs);
	tt_str_deinit(&known->key);
}
