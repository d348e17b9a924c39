/*
 * A report in a JSON file. The first pass finds where its parts lie; they are read in the order in
 * which the importer wants them, which is not the order of the file.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"
#include "report/report_source.h"
#include "report/spool.h"

/* The files of a report. */
enum { MAIN, RECORDS, COMPARISONS, FILES };

struct part {
	enum tt_json_kind kind; /* TT_JSON_NULL for what is no container */
	unsigned file;
	struct tt_jsonslice_place place;
};

struct json_source {
	struct tt_report_source base;
	struct tt_report_json_options options;
	struct part parts[TT_GRAPH_PART_COUNT];
	struct tt_jsonslice *files[FILES];
	unsigned walked;
	/* No matter of a fork (base/lock.h): it is shared within one call, which no child goes on with. */
	pthread_mutex_t lock;     /* of what is below */
	struct tt_spool elements; /* of the graph: struct tt_report_element */
};

static struct json_source *own(struct tt_report_source *source)
{
	return (struct json_source *)source; /* its first member */
}

/* ---- reading -------------------------------------------------------------------------------- */

static tt_status fetch_from(const struct tt_json **out, struct json_source *source, unsigned file,
			    struct tt_json_parser *parser, const struct tt_jsonslice_place *place)
{
	char text[128];

	if (place->length > source->options.value_limit) {
		snprintf(text, sizeof(text),
			 "a single value of %zu bytes: more than the limit of %zu", place->length,
			 source->options.value_limit);
		return tt_jsonslice_fail(source->files[file], place->start, text);
	}
	return tt_jsonslice_fetch(out, source->files[file], parser, place);
}

static enum tt_json_kind json_kind(struct tt_report_source *source, enum tt_graph_part part)
{
	return own(source)->parts[part].kind;
}

static tt_status json_read(const struct tt_json **out, struct tt_report_source *source,
			   enum tt_graph_part which, struct tt_json_parser *parser)
{
	const struct part *part = &own(source)->parts[which];

	*out = NULL;
	if (part->kind == TT_JSON_ABSENT)
		return TTNN_OK;
	return fetch_from(out, own(source), part->file, parser, &part->place);
}

static struct tt_jsonslice *walked(struct tt_report_source *source)
{
	return own(source)->files[own(source)->walked];
}

static tt_status json_walk(struct tt_report_source *source, enum tt_graph_part which)
{
	const struct part *part = &own(source)->parts[which];

	own(source)->walked = part->file;
	tt_jsonslice_seek(walked(source), &part->place);
	tt_jsonslice_enter(walked(source));
	return tt_jsonslice_status(walked(source));
}

static bool json_next(struct tt_report_source *source)
{
	return tt_jsonslice_next(walked(source));
}

static const char *json_key(struct tt_report_source *source)
{
	return tt_jsonslice_key(walked(source), NULL);
}

static enum tt_json_kind json_element_kind(struct tt_report_source *source)
{
	return tt_jsonslice_kind(walked(source));
}

static struct tt_report_place json_place(struct tt_report_source *source)
{
	struct tt_jsonslice_place place = tt_jsonslice_place(walked(source));

	return (struct tt_report_place){place.start, place.length, (unsigned)place.depth,
					own(source)->walked};
}

static void json_enter(struct tt_report_source *source)
{
	tt_jsonslice_enter(walked(source));
}

static tt_status json_fetch(const struct tt_json **out, struct tt_report_source *source,
			    struct tt_json_parser *parser, const struct tt_report_place *place)
{
	struct tt_jsonslice_place inner = {place->start, place->length, place->depth};

	return fetch_from(out, own(source), place->file, parser, &inner);
}

static struct tt_report_elements json_elements(struct tt_report_source *source,
					       enum tt_graph_part which)
{
	const struct part *part = &own(source)->parts[which];
	bool graph = which == TT_GRAPH_PART_GRAPH;

	return (struct tt_report_elements){graph ? (size_t)own(source)->elements.count : 0,
					   (unsigned)part->place.depth + 1,
					   own(source)->options.value_limit};
}

static tt_status json_element(struct tt_report_element *out, struct tt_report_source *source,
			      size_t at)
{
	const struct tt_report_element *element;
	tt_status status;

	*out = (struct tt_report_element){0};
	pthread_mutex_lock(&own(source)->lock);
	element = tt_spool_at(&own(source)->elements, at);
	status = element ? TTNN_OK : own(source)->elements.status;
	if (element)
		*out = *element;
	pthread_mutex_unlock(&own(source)->lock);
	if (status == TTNN_OK)
		return TTNN_OK;
	/* Each thread that asks gets a message of its own. */
	return status == TTNN_NOMEM ? tt_fail_nomem()
				    : tt_fail(status, "%s: a temporary file cannot be read again",
					      own(source)->elements.directory);
}

static tt_status json_copy(char *out, struct tt_report_source *source, enum tt_graph_part which,
			   size_t start, size_t length)
{
	return tt_jsonslice_copy(out, own(source)->files[own(source)->parts[which].file], start,
				 length);
}

static tt_status json_status(struct tt_report_source *source)
{
	return tt_jsonslice_status(walked(source));
}

static tt_status json_fail(struct tt_report_source *source, const struct tt_report_place *place,
			   const char *what)
{
	return tt_jsonslice_fail(own(source)->files[place->file], place->start, what);
}

static void json_free(struct tt_report_source *source)
{
	for (int i = 0; i < FILES; i++)
		tt_jsonslice_free(own(source)->files[i]);
	tt_spool_deinit(&own(source)->elements);
	pthread_mutex_destroy(&own(source)->lock);
	tt_free(source);
}

/* ---- opening -------------------------------------------------------------------------------- */

static tt_status note_element(struct json_source *source, struct tt_jsonslice *slices)
{
	struct tt_jsonslice_place place = tt_jsonslice_place(slices);
	struct tt_report_element *element = tt_spool_push(&source->elements);

	if (!element)
		return tt_spool_status(&source->elements);
	*element = (struct tt_report_element){place.start, place.length};
	return TTNN_OK;
}

/*
 * What the cursor is at becomes a part, and the cursor is behind it. Containers are walked instead of
 * passed over at once: so their pages can be given back on the way.
 */
static tt_status note_part(struct json_source *source, enum tt_graph_part which, unsigned file)
{
	struct tt_jsonslice *slices = source->files[file];
	struct part *part = &source->parts[which];

	part->file = file;
	part->kind = tt_jsonslice_kind(slices);
	if (part->kind == TT_JSON_ABSENT) {
		part->kind = TT_JSON_NULL;
		part->place = tt_jsonslice_place(slices);
		return TTNN_OK;
	}
	part->place.start = tt_jsonslice_tell(slices, NULL);
	part->place.depth = file == MAIN;
	if (which == TT_GRAPH_PART_GRAPH)
		tt_spool_clear(&source->elements);
	tt_jsonslice_enter(slices);
	while (tt_jsonslice_next(slices))
		if (which == TT_GRAPH_PART_GRAPH)
			TT_TRY(note_element(source, slices));
	part->place.length = tt_jsonslice_tell(slices, NULL) - part->place.start;
	return TTNN_OK;
}

static tt_status find_parts(struct json_source *source, struct tt_graph_file *file)
{
	enum tt_graph_part which;

	while (tt_graph_file_next(&which, file)) {
		if (source->parts[which].kind != TT_JSON_ABSENT && !source->options.strict) {
			size_t at = tt_jsonslice_tell(file->slices, NULL);
			char text[64];

			snprintf(text, sizeof(text), "the key \"%s\" is there twice",
				 tt_jsonslice_key(file->slices, NULL));
			return tt_jsonslice_fail(file->slices, at, text);
		}
		TT_TRY(note_part(source, which, MAIN));
	}
	return tt_graph_file_end(file);
}

/* The path of a file that exists; NULL of one that does not. Empties `path`. */
static tt_status take_if_there(char **out, struct tt_str *path)
{
	if (path->failed || access(tt_str_text(path), F_OK) == 0)
		return tt_str_take(out, path);
	tt_str_deinit(path);
	return TTNN_OK;
}

/*
 * path with its last suffix replaced, as upstream names side files. Beside report.json.gz lies
 * report.python_io.json or report.python_io.json.gz. *out is NULL when there is none.
 */
static tt_status side_path(char **out, const char *path, const char *suffix)
{
	const char *name = strrchr(path, '/'), *dot;
	size_t length = tt_length_without(path, strlen(path), ".gz");
	struct tt_str text = {0};

	*out = NULL;
	name = name ? name + 1 : path;
	dot = memrchr(name, '.', length - (size_t)(name - path));
	if (dot && dot > name && dot + 1 < path + length)
		length = (size_t)(dot - path);
	tt_str_add(&text, path, length);
	tt_str_adds(&text, suffix);
	if (!text.failed && access(tt_str_text(&text), F_OK) != 0)
		tt_str_adds(&text, ".gz");
	return take_if_there(out, &text);
}

/* A part that is absent, or null, may be in a file of its own. */
static tt_status open_side(struct json_source *source, enum tt_graph_part which, unsigned number,
			   const char *path)
{
	TT_TRY(tt_jsonslice_open(&source->files[number], path));
	if (tt_jsonslice_next(source->files[number]))
		TT_TRY(note_part(source, which, number));
	return tt_jsonslice_status(source->files[number]);
}

/* Whether the report itself has the part. Null counts as absent, anything else does not. */
static bool has_part(struct json_source *source, enum tt_graph_part which)
{
	const struct part *part = &source->parts[which];

	return part->kind == TT_JSON_ARRAY || part->kind == TT_JSON_OBJECT;
}

/* The file for all reports of a folder. */
static tt_status common_path(char **out, const char *path)
{
	const char *slash = strrchr(path, '/');
	struct tt_str text = {0};

	*out = NULL;
	tt_str_add(&text, path, slash ? (size_t)(slash + 1 - path) : 0);
	tt_str_adds(&text, "comparison_records.json");
	return take_if_there(out, &text);
}

static tt_status open_sides(struct json_source *source, const char *path)
{
	tt_status status = TTNN_OK;
	char *side = NULL;

	if (!has_part(source, TT_GRAPH_PART_PYTHON_IO)) {
		TT_TRY(side_path(&side, path, ".python_io.json"));
		if (side)
			status = open_side(source, TT_GRAPH_PART_PYTHON_IO, RECORDS, side);
		tt_free(side);
		TT_TRY(status);
	}
	if (has_part(source, TT_GRAPH_PART_COMPARISONS))
		return TTNN_OK;
	TT_TRY(side_path(&side, path, ".comparison_records.json"));
	if (!side)
		TT_TRY(common_path(&side, path));
	if (side)
		status = open_side(source, TT_GRAPH_PART_COMPARISONS, COMPARISONS, side);
	tt_free(side);
	return status;
}

static const struct tt_report_source functions = {
	.kind = json_kind,
	.read = json_read,
	.walk = json_walk,
	.next = json_next,
	.key = json_key,
	.element_kind = json_element_kind,
	.place = json_place,
	.enter = json_enter,
	.fetch = json_fetch,
	.elements = json_elements,
	.element = json_element,
	.copy = json_copy,
	.status = json_status,
	.fail = json_fail,
	.free = json_free,
};

/* *object tells whether the file holds an object. */
static tt_status read_main(struct json_source *source, bool *object)
{
	struct tt_jsonslice *slices = source->files[MAIN];
	struct tt_graph_file file;

	*object = false;
	if (!tt_graph_file_begin(&file, slices)) {
		TT_TRY(tt_jsonslice_status(slices));
		return tt_jsonslice_fail(slices, 0, "no JSON value");
	}
	if (file.root == TT_JSON_OBJECT) {
		*object = true;
		return find_parts(source, &file);
	}
	/* No report, but is it JSON? A container is passed over, anything else read. */
	if (file.root == TT_JSON_ABSENT)
		tt_jsonslice_read(slices);
	return tt_graph_file_end(&file);
}

/* Takes the main file. *out is NULL when that is JSON, but no object. */
static tt_status make_source(struct tt_report_source **out, struct tt_jsonslice *file,
			     const char *path, const struct tt_report_json_options *options)
{
	struct json_source *source = tt_calloc(1, sizeof(*source));
	bool object = false;
	tt_status status;

	*out = NULL;
	if (!source) {
		tt_jsonslice_free(file);
		return tt_fail_nomem();
	}
	source->base = functions;
	source->options = *options;
	source->files[MAIN] = file;
	pthread_mutex_init(&source->lock, NULL);
	tt_spool_init(&source->elements, sizeof(struct tt_report_element), tt_fd_temp_directory());
	status = read_main(source, &object);
	if (status == TTNN_OK && object)
		status = open_sides(source, path);
	if (status == TTNN_OK && object)
		*out = &source->base;
	else
		json_free(&source->base);
	return status;
}

tt_status tt_report_source_json(struct tt_report_source **out, const char *path,
				const struct tt_report_json_options *options)
{
	struct tt_jsonslice *file;

	*out = NULL;
	TT_TRY(tt_jsonslice_open(&file, path));
	return make_source(out, file, path, options);
}
