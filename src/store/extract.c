#include "store/extract.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <ttnn_configs.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"
#include "store/names.h"
#include "store/rewrite.h"
#include "trace/graph.h"
#include "trace/stream.h"

/* ---- which ------------------------------------------------------------------------------------------- */

bool tt_extract_wants(const struct tt_extract *extract, const char *op)
{
	struct tt_str name = {0};
	bool wanted = strncmp(op, "ttnn.", 5) == 0 && strncmp(op, "ttnn.prim.", 10) != 0 &&
		      (extract->exclude_only || !tt_names_excluded(op));

	for (size_t i = 0; wanted && i < extract->excluded_count; i++) {
		tt_str_clear(&name);
		tt_names_dotted(&name, extract->excluded[i]);
		wanted = strcmp(tt_str_text(&name), op) != 0 &&
			 strcmp(tt_str_text(&name), op + 5) != 0;
	}
	tt_str_deinit(&name);
	return wanted && (!extract->listed || extract->listed(extract->context, op));
}

tt_status tt_extract_give(struct tt_extract *extract, const struct tt_master_call *call)
{
	extract->calls++;
	return extract->call(extract->context, call);
}

void tt_extract_source(struct tt_str *out, const struct tt_extract *extract, const char *test)
{
	static const char *const variables[] = {"HF_MODEL", "LLAMA_DIR"};
	size_t root = extract->root ? strlen(extract->root) : 0, start = out->length;
	const char *end = strstr(test, "::");

	if (root && strncmp(test, extract->root, root) == 0 && test[root] == '/')
		test += root + 1;
	tt_str_add(out, test, end && end > test ? (size_t)(end - test) : strlen(test));
	/* One demo runs many models. */
	if (tt_str_status(out) != TTNN_OK ||
	    !tt_ends_with(tt_str_text(out) + start, "simple_text_demo.py"))
		return;
	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
		if (getenv(variables[i]) && *getenv(variables[i]))
			tt_str_addf(out, " [%s:%s]", variables[i], getenv(variables[i]));
}

/* ---- graphs ------------------------------------------------------------------------------------------- */

/* Calls give(context, name, node) for each function of a graph that has arguments. */
static tt_status each_function(struct tt_stream *stream, void *context,
			       tt_status (*give)(void *context, const char *name,
						 const struct tt_graph_node *node))
{
	const struct tt_graph_param *name;
	const struct tt_graph_node *node;
	tt_status status;

	while ((status = tt_stream_next(&node, stream)) == TTNN_OK && node) {
		name = node->type == TT_GRAPH_FUNCTION_START && node->argument_count
			       ? tt_graph_find(node, TT_KEY_NAME)
			       : NULL;
		if (name && name->kind == TT_GRAPH_STRING)
			status = give(context, name->text, node);
		if (status != TTNN_OK)
			break;
	}
	return status;
}

static tt_status give_function(void *context, const char *name, const struct tt_graph_node *node)
{
	struct tt_extract *extract = context;
	struct tt_master_call call = {.layout = TT_MASTER_V1,
				      .source = extract->source ? extract->source : "unknown"};
	struct tt_str op = {0}, args = {0};
	tt_status status = TTNN_OK;

	tt_names_dotted(&op, name);
	if (tt_extract_wants(extract, tt_str_text(&op))) {
		status = tt_rewrite_arguments(&args, node->arguments, node->argument_count);
		call.op = tt_str_text(&op);
		call.args = tt_str_text(&args);
		call.length = args.length;
		if (status == TTNN_OK)
			status = tt_extract_give(extract, &call);
	}
	tt_str_deinit(&op);
	tt_str_deinit(&args);
	return status;
}

tt_status tt_extract_graph(struct tt_extract *extract, const char *path)
{
	struct tt_stream *stream;
	tt_status status;

	TT_TRY(tt_stream_of_json(&stream, path, NULL, false));
	status = each_function(stream, extract, give_function);
	tt_stream_close(stream);
	return status;
}

static tt_status write_function(void *context, const char *name, const struct tt_graph_node *node)
{
	struct tt_str args = {0};
	tt_status status = tt_rewrite_arguments(&args, node->arguments, node->argument_count);

	tt_jsonw_object(context);
	tt_jsonw_key_string(context, "operation", name);
	tt_jsonw_key(context, "arguments");
	tt_jsonw_raw(context, tt_str_text(&args), args.length);
	tt_jsonw_end(context);
	tt_str_deinit(&args);
	return status;
}

enum ttnn_status ttnn_configs_graph(char **out, const char *json, size_t length)
{
	struct tt_stream_text text = {json, length};
	struct tt_str written = {0};
	struct tt_stream *stream;
	struct tt_jsonw w;
	tt_status status;

	TT_TRY(tt_stream_of_json(&stream, "a graph", &text, false));
	tt_jsonw_init_str(&w, &written, (struct tt_jsonw_style){0});
	tt_jsonw_object(&w);
	tt_jsonw_key(&w, "content");
	tt_jsonw_array(&w);
	status = each_function(stream, &w, write_function);
	tt_jsonw_end(&w);
	tt_jsonw_end(&w);
	tt_stream_close(stream);
	if (status == TTNN_OK)
		status = tt_jsonw_finish(&w);
	if (status == TTNN_OK)
		return tt_str_take(out, &written);
	tt_str_deinit(&written);
	return status;
}

/* ---- masters ------------------------------------------------------------------------------------------ */

static tt_status give_config(struct tt_extract *extract, struct tt_master *master,
			     struct tt_json_parser *parser, size_t op, size_t number)
{
	enum tt_master_layout layout = tt_master_layout(master);
	struct tt_str text = {0}, name = {0};
	struct tt_master_config config;
	const struct tt_json *args;
	struct tt_jsonw w;
	tt_status status;

	tt_master_config(&config, master, op, number);
	tt_names_dotted(&name, config.op);
	TT_TRY(tt_master_args(&args, master, parser, op, number));
	tt_jsonw_init_str(&w, &text, (struct tt_jsonw_style){.compact = true});
	tt_jsonw_value(&w, args);
	status = tt_jsonw_finish(&w);
	if (status == TTNN_OK)
		status = tt_extract_give(
			extract, &(struct tt_master_call){
					 .op = tt_str_text(&name),
					 .layout = layout == TT_MASTER_SEED ? TT_MASTER_V1 : layout,
					 .args = tt_str_text(&text),
					 .length = text.length,
					 .source = *config.source ? config.source : "unknown",
					 .count = config.count});
	tt_str_deinit(&name);
	tt_str_deinit(&text);
	return status;
}

static tt_status extract_master(struct tt_extract *extract, const char *path)
{
	struct tt_json_parser parser = {0};
	struct tt_master *master;
	tt_status status = TTNN_OK;

	TT_TRY(tt_master_open(&master, path));
	for (size_t i = 0; i < tt_master_op_count(master) && status == TTNN_OK; i++)
		for (size_t k = 0; k < tt_master_config_count(master, i) && status == TTNN_OK; k++)
			status = give_config(extract, master, &parser, i, k);
	tt_json_parser_deinit(&parser);
	tt_master_free(master);
	return status;
}

/* ---- paths -------------------------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

struct paths {
	TT_VEC(char *) list;
};

/* The entries of a folder, sorted, as paths. */
static tt_status list_folder(struct paths *out, const char *directory)
{
	DIR *folder = opendir(directory);
	const struct dirent *entry;
	tt_status status = TTNN_OK;

	if (!folder)
		return tt_fail(TTNN_IO, "%s: the folder cannot be read: %s", directory,
			       strerror(errno));
	while (status == TTNN_OK && (entry = readdir(folder))) {
		struct tt_str path = {0};
		char **place;

		if (*entry->d_name == '.')
			continue;
		tt_str_addf(&path, "%s/%s", directory, entry->d_name);
		place = TT_VEC_PUSH(&out->list);
		status = place ? tt_str_take(place, &path) : tt_fail_nomem();
		if (place && status != TTNN_OK)
			out->list.count--;
	}
	closedir(folder);
	if (out->list.count)
		qsort(out->list.data, out->list.count, sizeof(*out->list.data), by_name);
	return status;
}

static bool is_folder(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* Traces of a folder; without any it holds parameter files. */
static tt_status extract_folder(struct tt_extract *extract, const char *directory)
{
	struct paths paths = {0};
	tt_status status = list_folder(&paths, directory);
	size_t traces = 0;

	for (size_t i = 0; i < paths.list.count && status == TTNN_OK; i++)
		if (tt_ends_with(paths.list.data[i], ".ttrace")) {
			traces++;
			status = tt_extract_trace(extract, paths.list.data[i]);
		}
	if (status == TTNN_OK && !traces)
		status = tt_extract_params(extract, directory);
	for (size_t i = 0; i < paths.list.count; i++)
		tt_free(paths.list.data[i]);
	TT_VEC_DEINIT(&paths.list);
	return status;
}

tt_status tt_extract_path(struct tt_extract *extract, const char *path)
{
	tt_status status;

	if (is_folder(path))
		return extract_folder(extract, path);
	if (tt_ends_with(path, ".ttrace"))
		return tt_extract_trace(extract, path);
	if (tt_ends_with(path, ".sqlite"))
		return extract_master(extract, path);
	/* JSON says itself what it is: a master has "operations". */
	status = extract_master(extract, path);
	return status == TTNN_FORMAT ? tt_extract_graph(extract, path) : status;
}
