/* merge_masters.c: adding all that another master has. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/master_parts.h"
#include "store/sorted.h"

/* One way in which a configuration of another master was made. */
static tt_status add_execution(bool *added, struct tt_master *master, struct tt_master_incoming *in,
			       const char *source, const struct tt_json *execution)
{
	const struct tt_json *machine = tt_json_get(execution, "machine_info");
	const char *const details[2] = {
		tt_json_string(tt_json_get(execution, "trace_uid"), NULL),
		tt_json_string(tt_json_get(execution, "pytest_args"), NULL),
	};
	bool is_new = false;
	size_t op, number;

	/* Of V1 a machine is told without an execution around it. */
	if (!machine && tt_json_get(execution, "board_type"))
		machine = execution;
	tt_str_clear(&master->made);
	tt_sorted_dump(&master->made, tt_json_kind(machine) == TT_JSON_OBJECT ? machine : NULL);
	TT_TRY(tt_str_status(&master->made));
	TT_TRY(tt_master_run_of(
		&in->run, master, source, details,
		(struct tt_master_machine_text){master->made.data, master->made.length}));
	if (!tt_json_uint(&in->count, tt_json_get(execution, "count")))
		in->count = 1;
	TT_TRY(tt_master_add_parsed(&op, &number, &is_new, master, in));
	*added |= is_new;
	return tt_master_count_call(master, in, op, number);
}

/* Sources and machines of V1: each machine with the first source, then the other sources. */
static tt_status add_sources(bool *added, struct tt_master *master, struct tt_master_incoming *in,
			     const struct tt_master_said *said)
{
	struct tt_json_iter machines = tt_json_iter(said->machines),
			    sources = tt_json_iter(said->sources);
	bool any = false;

	while (tt_json_kind(said->machines) == TT_JSON_ARRAY && tt_json_next(&machines)) {
		any = true;
		TT_TRY(add_execution(added, master, in, tt_master_said_source(said),
				     machines.value));
	}
	if (!any)
		TT_TRY(add_execution(added, master, in, tt_master_said_source(said), NULL));
	while (tt_json_kind(said->sources) == TT_JSON_ARRAY && tt_json_next(&sources)) {
		const char *source = tt_json_string(sources.value, NULL);

		if (source && strcmp(source, tt_master_said_source(said)) != 0)
			TT_TRY(add_execution(added, master, in, source,
					     tt_json_at(said->machines, 0)));
	}
	return TTNN_OK;
}

/* Where a configuration is, and when it was seen: V2 numbers them. */
struct seen {
	uint64_t id;
	uint32_t op, number;
};

/* *calls grows by how many the configuration stands for. */
static tt_status merge_config(bool *added, uint64_t *calls, struct tt_master *master,
			      struct tt_master *from, const struct seen *of)
{
	const size_t op = of->op, number = of->number;
	struct tt_master_incoming in = {
		.op = from->ops.data[op].name, .layout = from->layout, .most = true};
	const struct tt_json *config;
	struct tt_master_said said;
	struct tt_json_iter it;

	TT_TRY(tt_master_entry(&config, from, &from->parser,
			       &from->ops.data[op].entries.data[number]));
	tt_master_say(&said, config);
	in.args = said.args;
	if (tt_json_kind(said.args) == TT_JSON_OBJECT)
		in.layout = TT_MASTER_V2; /* whatever the file is otherwise */
	else if (tt_json_kind(said.args) != TT_JSON_ARRAY)
		return tt_master_fail_args(in.op, in.layout, said.args);
	else if (in.layout == TT_MASTER_V2)
		in.layout = TT_MASTER_V1;
	in.sweep_hash = tt_json_get(config, "sweep_source_hash");
	*calls += tt_master_said_count(&said);
	if (!tt_json_count(said.executions))
		return add_sources(added, master, &in, &said);
	for (it = tt_json_iter(said.executions); tt_json_next(&it);) {
		const char *source = tt_json_string(tt_json_get(it.value, "source"), NULL);

		TT_TRY(add_execution(added, master, &in, source ? source : "", it.value));
	}
	return TTNN_OK;
}

static int by_id(const void *a, const void *b)
{
	const struct seen *left = a, *right = b;

	if (left->id != right->id)
		return left->id < right->id ? -1 : 1;
	if (left->op != right->op)
		return left->op < right->op ? -1 : 1;
	return (left->number > right->number) - (left->number < right->number);
}

static size_t count_entries(const struct tt_master *master)
{
	size_t count = 0;

	for (size_t op = 0; op < master->ops.count; op++)
		count += master->ops.data[op].entries.count;
	return count;
}

/* All configurations in the order in which they were seen, where they say so. */
static tt_status order_entries(struct seen *out, struct tt_master *master)
{
	size_t count = 0;

	for (size_t op = 0; op < master->ops.count; op++)
		for (size_t i = 0; i < master->ops.data[op].entries.count; i++) {
			const struct tt_json *config;

			out[count] = (struct seen){0, (uint32_t)op, (uint32_t)i};
			if (master->layout == TT_MASTER_V2) {
				TT_TRY(tt_master_entry(&config, master, &master->parser,
						       &master->ops.data[op].entries.data[i]));
				tt_json_uint(&out[count].id, tt_json_get(config, "config_id"));
			}
			count++;
		}
	qsort(out, count, sizeof(*out), by_id);
	return TTNN_OK;
}

static tt_status merge_ordered(size_t *added, struct tt_master *master, struct tt_master *from,
			       const struct seen *order, size_t count)
{
	uint64_t calls = 0;

	for (size_t i = 0; i < count; i++) {
		bool is_new = false;

		TT_TRY(merge_config(&is_new, &calls, master, from, &order[i]));
		*added += is_new;
	}
	for (size_t i = 0; i < from->models.count; i++)
		if (!tt_map_add(&master->models, from->models.entries[i].key,
				from->models.entries[i].length, NULL))
			return tt_fail_nomem();
	master->total_operations += from->total_operations ? from->total_operations : calls;
	return TTNN_OK;
}

tt_status tt_master_merge(size_t *added, struct tt_master *master, struct tt_master *from)
{
	size_t count = count_entries(from);
	struct seen *order;
	tt_status status;

	*added = 0;
	if (master == from)
		return TTNN_OK;
	TT_TRY(tt_master_fold(from));
	order = tt_calloc(count + 1, sizeof(*order));
	status = order ? order_entries(order, from) : tt_fail_nomem();
	if (status == TTNN_OK)
		status = merge_ordered(added, master, from, order, count);
	tt_free(order);
	return status;
}
