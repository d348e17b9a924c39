/* The recordings of a run as one sequence of rows. */
#include "profile/merge.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/progress.h"

/* One process. */
struct part {
	struct tt_source *source;
	struct tt_ops_walk *walk;
	struct tt_ops_row *row; /* the next one, or NULL */
};

struct merge {
	const struct tt_ops_options *options;
	struct tt_ops_totals *totals;
	struct part *parts;
	size_t count;
	struct part **heap; /* those that have a row; i is before 2 i + 1 and 2 i + 2 */
	size_t left;
	struct tt_map ends;    /* process and device → when its last kernel ended, cycles */
	struct tt_map threads; /* process and thread, that have rows */
	struct tt_progress progress;
};

/* ---- opening ---------------------------------------------------------------------------------------------- */

static tt_status open_part(struct merge *merge, struct part *part, const char *path)
{
	const struct tt_trace_info *info;

	TT_TRY(tt_source_open(&part->source, path));
	if (merge->options->window)
		TT_TRY(tt_source_window(part->source, merge->options->window));
	info = tt_source_info(part->source);
	merge->totals->lost += info->lost;
	return TTNN_OK;
}

static int64_t first_begin(const struct merge *merge)
{
	int64_t first = INT64_MAX;

	for (size_t i = 0; i < merge->count; i++) {
		int64_t began = tt_source_info(merge->parts[i].source)->began_ns;

		if (began < first)
			first = began;
	}
	return first;
}

/* Operations that are looked at where the beginning stands for the whole. */
#define BEGINNING 20000

/* Looks through all of them, then begins with their rows. */
static tt_status begin_walks(struct tt_ops_survey *survey, struct merge *merge)
{
	int64_t first = first_begin(merge);

	for (size_t i = 0; i < merge->count; i++) {
		struct part *part = &merge->parts[i];
		struct tt_ops_survey own = {0};
		struct tt_ops_place place = {
			.process = (uint32_t)i,
			.first_launch = survey->launches,
			.offset_ns = (uint64_t)(tt_source_info(part->source)->began_ns - first),
			.dialect = merge->options->dialect};

		own = *survey;
		own.launches = 0;
		TT_TRY(tt_ops_survey(&own, part->source, merge->options->widths ? BEGINNING : 0));
		own.launches += survey->launches;
		*survey = own;
		TT_TRY(tt_ops_walk_new(&part->walk, part->source, &place));
	}
	return TTNN_OK;
}

/* ---- rows ------------------------------------------------------------------------------------------------- */

static tt_status next_row(struct part *part)
{
	return tt_ops_walk_next(&part->row, part->walk);
}

/* By time; of rows at one time those of the first process come first. */
static bool is_before(const struct part *a, const struct part *b)
{
	return a->row->order_ns != b->row->order_ns ? a->row->order_ns < b->row->order_ns : a < b;
}

/* Lets the part at this place of the heap sink to where it belongs. */
static void sink(struct merge *merge, size_t at)
{
	struct part **heap = merge->heap, *part = heap[at];

	for (size_t below; (below = 2 * at + 1) < merge->left; at = below) {
		if (below + 1 < merge->left && is_before(heap[below + 1], heap[below]))
			below++;
		if (!is_before(heap[below], part))
			break;
		heap[at] = heap[below];
	}
	heap[at] = part;
}

/* The first rows of all. */
static tt_status begin_rows(struct merge *merge)
{
	for (size_t i = 0; i < merge->count; i++) {
		TT_TRY(next_row(&merge->parts[i]));
		if (merge->parts[i].row)
			merge->heap[merge->left++] = &merge->parts[i];
	}
	for (size_t i = merge->left / 2; i-- > 0;)
		sink(merge, i);
	return TTNN_OK;
}

/* Goes on behind the earliest row. */
static tt_status pass_row(struct merge *merge)
{
	TT_TRY(next_row(merge->heap[0]));
	if (!merge->heap[0]->row)
		merge->heap[0] = merge->heap[--merge->left];
	if (merge->left)
		sink(merge, 0);
	return TTNN_OK;
}

/* Since the kernel of the row before on this device; the first one's is 0. */
static tt_status put_latency(struct merge *merge, struct tt_ops_row *row)
{
	uint32_t key[2] = {row->process, row->device};
	struct tt_map_entry *entry;
	bool first, back;
	uint64_t gap;

	if (!row->ran)
		return TTNN_OK;
	entry = tt_map_add(&merge->ends, key, sizeof(key), &first);
	if (!entry)
		return tt_fail_nomem();
	back = !first && row->kernel_begin < entry->number;
	gap = first  ? 0
	      : back ? entry->number - row->kernel_begin
		     : row->kernel_begin - entry->number;
	row->latency = (int64_t)tt_ops_ns(gap, row->chip->clock_mhz);
	if (back)
		row->latency = -row->latency;
	/* The later layout leaves those blank. */
	row->has_latency = !back || merge->options->dialect != TTNN_DIALECT_TT_METAL;
	if (first)
		merge->totals->devices++;
	entry->number = row->kernel_end;
	return TTNN_OK;
}

static tt_status count_row(struct merge *merge, const struct tt_ops_row *row)
{
	uint32_t key[2] = {row->process, row->thread};
	bool added = false;

	if (row->kind == TT_OPS_TRACE)
		return TTNN_OK;
	merge->totals->rows++;
	if (row->kind == TT_OPS_SIGNPOST) {
		merge->totals->signposts++;
		return TTNN_OK;
	}
	merge->totals->operations++;
	merge->totals->replayed += row->session != 0;
	if (!tt_map_add(&merge->threads, key, sizeof(key), &added))
		return tt_fail_nomem();
	merge->totals->threads += added;
	return TTNN_OK;
}

/* Rows between two looks at the bar. */
#define POLL 4096

/* Whether a row has more tensors than the beginning had; remembers how many. */
static bool is_wider(const struct merge *merge, const struct tt_ops_row *row)
{
	struct tt_ops_widths *widths = merge->options->widths;

	if (!widths || !row->program ||
	    (row->program->inputs <= widths->inputs && row->program->outputs <= widths->outputs))
		return false;
	if (row->program->inputs > widths->inputs)
		widths->inputs = row->program->inputs;
	if (row->program->outputs > widths->outputs)
		widths->outputs = row->program->outputs;
	return true;
}

static tt_status emit_rows(struct merge *merge, const struct tt_ops_writer *writers)
{
	TT_TRY(begin_rows(merge));
	while (merge->left) {
		struct part *part = merge->heap[0];

		if (is_wider(merge, part->row))
			return tt_fail(TTNN_STATE,
				       "an operation has more tensors than those before");
		TT_TRY(put_latency(merge, part->row));
		TT_TRY(count_row(merge, part->row));
		for (const struct tt_ops_writer *w = writers; w->sink; w++)
			TT_TRY(w->sink->row(w->context, part->row));
		if (merge->options->label && merge->totals->rows % POLL == 0)
			tt_progress_add(&merge->progress, POLL);
		TT_TRY(pass_row(merge));
	}
	return TTNN_OK;
}

/* The most of what is known so far: in both of them. */
static void take_widths(struct tt_ops_widths *widths, struct tt_ops_survey *survey)
{
	if (survey->inputs < widths->inputs)
		survey->inputs = widths->inputs;
	if (survey->outputs < widths->outputs)
		survey->outputs = widths->outputs;
	widths->inputs = survey->inputs;
	widths->outputs = survey->outputs;
}

static tt_status run(struct merge *merge, const struct tt_ops_input *inputs,
		     const struct tt_ops_writer *writers)
{
	struct tt_ops_survey survey = {0};
	tt_status status;

	for (size_t i = 0; i < merge->count; i++)
		TT_TRY(open_part(merge, &merge->parts[i], inputs[i].path));
	TT_TRY(begin_walks(&survey, merge));
	if (merge->options->widths)
		take_widths(merge->options->widths, &survey);
	for (const struct tt_ops_writer *w = writers; w->sink; w++)
		if (w->sink->begin)
			TT_TRY(w->sink->begin(w->context, &survey));
	if (merge->options->label)
		tt_progress_init(
			&merge->progress, merge->options->label,
			tt_source_info(merge->parts[0].source)->counts[TT_EVENT_PROGRAM_LAUNCH] >
					survey.operations
				? tt_source_info(merge->parts[0].source)
					  ->counts[TT_EVENT_PROGRAM_LAUNCH]
				: survey.operations);
	status = emit_rows(merge, writers);
	if (merge->options->label)
		tt_progress_deinit(&merge->progress);
	return status;
}

tt_status tt_ops_merge(struct tt_ops_totals *totals, const struct tt_ops_input *inputs,
		       size_t count, const struct tt_ops_options *options,
		       const struct tt_ops_writer *writers)
{
	struct merge merge = {.options = options,
			      .totals = totals,
			      .parts = tt_calloc(count + 1, sizeof(struct part)),
			      .heap = tt_calloc(count + 1, sizeof(struct part *)),
			      .count = count};
	tt_status status;

	*totals = (struct tt_ops_totals){.processes = (uint32_t)count};
	status = merge.parts && merge.heap ? run(&merge, inputs, writers) : tt_fail_nomem();
	for (size_t i = 0; merge.parts && i < count; i++) {
		const struct part *part = &merge.parts[i];

		if (part->source) {
			const struct tt_trace_info *info = tt_source_info(part->source);

			totals->damaged += !info->complete || info->bad_chunks;
		}
		tt_ops_walk_free(part->walk);
		tt_source_close(part->source);
	}
	tt_map_deinit(&merge.ends);
	tt_map_deinit(&merge.threads);
	tt_free(merge.heap);
	tt_free(merge.parts);
	return status;
}
