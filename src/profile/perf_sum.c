/* The operations of a performance report by name. */
#include "profile/perf_sum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Gaps of more microseconds could be avoided. */
#define LONG_GAP_US 6.5

static struct tt_perf_group *group_of(struct tt_perf_sum *sum, const struct tt_perf_op *op)
{
	struct tt_map_entry *entry =
		tt_map_add(&sum->names, op->op_code, strlen(op->op_code), NULL);
	struct tt_perf_group *group;

	if (!entry)
		return NULL;
	if (!entry->pointer) {
		group = tt_calloc(1, sizeof(*group));
		if (!group)
			return NULL;
		group->category = op->category;
		entry->pointer = group;
	}
	return entry->pointer;
}

static tt_status add_time(struct tt_perf_sum *sum, struct tt_perf_group *group,
			  const struct tt_perf_op *op)
{
	uint64_t key[2] = {(uint64_t)(uintptr_t)group, op->config};
	struct tt_map_entry *entry = tt_map_add(&sum->configs, key, sizeof(key), NULL);
	double us = op->us.value, apart;
	struct tt_perf_config *config;

	if (!entry)
		return tt_fail_nomem();
	if (!entry->pointer)
		entry->pointer = tt_calloc(1, sizeof(*config));
	config = entry->pointer;
	if (!config)
		return tt_fail_nomem();
	config->group = group;
	config->count++;
	apart = us - config->mean;
	config->mean += apart / (double)config->count;
	config->squares += apart * (us - config->mean);
	group->timed++;
	group->us += us;
	group->mean = group->us / (double)group->timed;
	group->longest_us = fmax(group->longest_us, us);
	return TTNN_OK;
}

/* The noise of a sum is that of its parts. */
static void sum_noise(struct tt_perf_sum *sum)
{
	for (size_t i = 0; i < sum->configs.count; i++) {
		const struct tt_perf_config *config = sum->configs.entries[i].pointer;
		double n = (double)config->count, single = TT_PERF_SINGLE_NOISE / 3 * config->mean;

		config->group->variance +=
			config->count > 1 ? n * config->squares / (n - 1) : single * single;
	}
}

static void free_slow(struct tt_perf_slow *slow)
{
	tt_free(slow->op_code);
	tt_free(slow->size);
	tt_free(slow->advice);
	*slow = (struct tt_perf_slow){0};
}

/* Keeps the line if it is one of the slowest. */
static tt_status keep_slow(struct tt_perf_sum *sum, const struct tt_perf_op *op)
{
	size_t at = sum->slow_count;
	struct tt_str advice = {0};
	struct tt_perf_slow slow = {.line = op->line,
				    .outer = op->outer,
				    .bound = op->bound,
				    .us = op->us,
				    .gap = op->gap,
				    .dram_percent = op->dram_percent,
				    .flops_percent = op->flops_percent,
				    .cores = op->cores,
				    .limit = op->limit};

	while (at && sum->slow[at - 1].us.value < op->us.value)
		at--;
	if (at == TT_PERF_SLOWEST)
		return TTNN_OK;
	tt_perf_advice(&advice, op, "; ");
	slow.op_code = tt_strdup(op->op_code);
	slow.size = tt_strdup(op->size);
	slow.advice = tt_strdup(tt_str_text(&advice));
	tt_str_deinit(&advice);
	if (!slow.op_code || !slow.size || !slow.advice) {
		free_slow(&slow);
		return tt_fail_nomem();
	}
	if (sum->slow_count == TT_PERF_SLOWEST)
		free_slow(&sum->slow[--sum->slow_count]);
	memmove(&sum->slow[at + 1], &sum->slow[at], (sum->slow_count - at) * sizeof(slow));
	sum->slow[at] = slow;
	sum->slow_count++;
	return TTNN_OK;
}

static tt_status add(void *context, const struct tt_perf_op *op)
{
	struct tt_perf_sum *sum = context;
	struct tt_perf_group *group;

	if (op->signpost)
		return TTNN_OK;
	group = group_of(sum, op);
	if (!group)
		return tt_fail_nomem();
	group->count++;
	group->limits[op->limit]++;
	sum->category_ops[op->category]++;
	if (op->cores > group->cores)
		group->cores = op->cores;
	if (op->host_us.known)
		sum->host_us += op->host_us.value;
	if (op->gap.known) {
		group->gap_us += op->gap.value;
		if (op->gap.value > LONG_GAP_US) {
			sum->long_gaps++;
			sum->long_gap_us += op->gap.value;
		}
	}
	if (!op->us.known)
		return TTNN_OK;
	TT_TRY(add_time(sum, group, op));
	sum->category_us[op->category] += op->us.value;
	group->flops_us += op->us.value * op->flops_percent.value;
	group->dram_us += op->us.value * op->dram_percent.value;
	return keep_slow(sum, op);
}

static int by_time(const void *a, const void *b)
{
	const struct tt_perf_group *x = *(struct tt_perf_group *const *)a,
				   *y = *(struct tt_perf_group *const *)b;

	if (x->us != y->us)
		return x->us > y->us ? -1 : 1;
	return strcmp(x->op_code, y->op_code);
}

tt_status tt_perf_sum_file(struct tt_perf_sum *out, struct tt_perf_file *file)
{
	TT_TRY(tt_perf_file_each(file, add, out));
	out->groups = tt_calloc(out->names.count + 1, sizeof(struct tt_perf_group *));
	if (!out->groups)
		return tt_fail_nomem();
	out->count = out->names.count;
	for (size_t i = 0; i < out->count; i++) {
		out->groups[i] = out->names.entries[i].pointer;
		out->groups[i]->op_code = out->names.entries[i].key;
	}
	sum_noise(out);
	qsort(out->groups, out->count, sizeof(struct tt_perf_group *), by_time);
	return TTNN_OK;
}

void tt_perf_sum_deinit(struct tt_perf_sum *sum)
{
	for (size_t i = 0; i < sum->names.count; i++)
		tt_free(sum->names.entries[i].pointer);
	for (size_t i = 0; i < sum->configs.count; i++)
		tt_free(sum->configs.entries[i].pointer);
	tt_map_deinit(&sum->configs);
	for (size_t i = 0; i < sum->slow_count; i++)
		free_slow(&sum->slow[i]);
	tt_free((void *)sum->groups);
	tt_map_deinit(&sum->names);
	*sum = (struct tt_perf_sum){0};
}

const struct tt_perf_group *tt_perf_sum_find(const struct tt_perf_sum *sum, const char *op_code)
{
	const struct tt_map_entry *entry = tt_map_finds(&sum->names, op_code);

	return entry ? entry->pointer : NULL;
}

double tt_perf_group_error(const struct tt_perf_group *group)
{
	return group->timed ? sqrt(group->variance) / (double)group->timed : 0;
}
