/*
 * test_extract.c: configurations out of parameter files: upstream's own tracer made the same of the calls of whole
 * models (tests/data/master).
 */
#include "store/extract.h"

#include <stdlib.h>

#include "base/file.h"
#include "base/map.h"
#include "base/mem.h"
#include "store/names.h"
#include "test.h"

static const char folder[] = "tests/data/master";
static struct tt_names listed_names;

static bool listed(void *context, const char *op)
{
	(void)context;
	return tt_names_has(&listed_names, op);
}

static tt_status add(void *context, const struct tt_master_call *call)
{
	bool added;

	return tt_master_add(&added, context, call);
}

/* Adds the calls of a model, one JSON a line, to a master. */
static void extract_model(struct tt_master *master, const char *model)
{
	struct tt_extract extract = {
		.layout = TT_MASTER_V2, .call = add, .listed = listed, .context = master};
	struct tt_extract_run run = {
		.trace_uid = "00000000-0000-0000-0000-000000000000",
		.machine = {.board_type = "Wormhole", .device_series = "n150", .card_count = 1}};
	struct tt_json_parser parser = {0};
	struct tt_str path = {0}, source = {0};
	char *text;
	size_t size;

	tt_str_addf(&source, "models/%s", model);
	run.source = tt_str_text(&source);
	tt_str_addf(&path, "%s/calls/%s.jsonl.gz", folder, model);
	CHECK_OK(tt_file_read(&text, &size, tt_str_text(&path)));
	for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n') {
		struct tt_json_part part = {.name = model,
					    .whole = text,
					    .start = (size_t)(at - text),
					    .length = strcspn(at, "\n")};
		const struct tt_json *record;

		CHECK_OK(tt_json_parser_read(&record, &parser, &part));
		CHECK_OK(tt_extract_record(&extract, tt_json_get(record, "record"), &run));
	}
	tt_free(text);
	tt_json_parser_deinit(&parser);
	tt_str_deinit(&path);
	tt_str_deinit(&source);
}

/* The configurations of a V2 file as "operation config_hash", counted. */
static size_t read_hashes(struct tt_map *out, const char *path)
{
	struct tt_json_doc *doc = NULL;
	struct tt_json_iter op, config;
	size_t count = 0;

	CHECK_OK(tt_json_load(&doc, path));
	op = tt_json_iter(tt_json_get(tt_json_root(doc), "operations"));
	while (tt_json_next(&op)) {
		config = tt_json_iter(tt_json_get(op.value, "configurations"));
		while (tt_json_next(&config)) {
			const char *hash =
				tt_json_string(tt_json_get(config.value, "config_hash"), NULL);
			struct tt_str key = {0};
			struct tt_map_entry *entry;

			tt_str_addf(&key, "%s %s", op.key, hash ? hash : "none");
			entry = tt_map_add(out, tt_str_text(&key), key.length, NULL);
			CHECK(entry != NULL);
			if (entry)
				entry->number++;
			count++;
			tt_str_deinit(&key);
		}
	}
	tt_json_free(doc);
	return count;
}

/* Both files have the same configurations, by their hashes. */
static void compare(const char *ours, const char *theirs, const char *name)
{
	struct tt_map a = {0}, b = {0};
	size_t count = read_hashes(&a, ours), wanted = read_hashes(&b, theirs);

	for (size_t i = 0; i < b.count; i++)
		if (!tt_map_finds(&a, b.entries[i].key))
			TEST_FAIL("%s: %s is missing", name, b.entries[i].key);
	for (size_t i = 0; i < a.count; i++)
		if (!tt_map_finds(&b, a.entries[i].key))
			TEST_FAIL("%s: %s is too much", name, a.entries[i].key);
	CHECK_INT(count, wanted);
	tt_map_deinit(&a);
	tt_map_deinit(&b);
}

static const char *const models[] = {
	"attention_block",     "efficientnet_b0",    "llama_tiny",
	"mbconv_block",        "minilm_l6",          "mlp",
	"resnet50_refused",    "resnet_bottleneck",  "up_efficientnetb0",
	"up_llama_1b_2layers", "up_llama_1b_decode", "up_mnist",
	"up_mobilenetv2",      "up_openpdn_mnist",   "up_sentence_bert",
	"up_whisper",
};
#define MODELS (sizeof(models) / sizeof(models[0]))

TEST(models_give_what_upstreams_tracer_made_of_them)
{
	CHECK_OK(tt_names_load(&listed_names, "data/workspace/Allops.txt"));
	for (size_t i = 0; i < MODELS; i++) {
		const char *path = test_path("model.json");
		struct tt_str theirs = {0};
		struct tt_master *master;

		CHECK_OK(tt_master_new(&master, TT_MASTER_V2));
		extract_model(master, models[i]);
		CHECK_OK(tt_master_save(master, path, TT_MASTER_V2));
		tt_master_free(master);
		tt_str_addf(&theirs, "%s/models/%s.json.gz", folder, models[i]);
		compare(path, tt_str_text(&theirs), models[i]);
		tt_str_deinit(&theirs);
	}
	tt_names_deinit(&listed_names);
}

TEST(all_models_merge_as_upstreams_did)
{
	const char *path = test_path("all.json");
	struct tt_master *master;

	CHECK_OK(tt_names_load(&listed_names, "data/workspace/Allops.txt"));
	CHECK_OK(tt_master_new(&master, TT_MASTER_V2));
	for (size_t i = 0; i < MODELS; i++)
		extract_model(master, models[i]);
	CHECK_OK(tt_master_save(master, path, TT_MASTER_V2));
	tt_master_free(master);
	compare(path, "tests/data/master/models_merged.json.gz", "all");
	tt_names_deinit(&listed_names);
}
