/*
 * loader.c: any text as a master file whose configurations are made parameters of tests: every suite has as many values in
 * each column as it has rows, and no configuration is lost without being counted.
 */
#include <stdlib.h>
#include <string.h>
#include <ttnn_configs.h>

#include "base/file.h"
#include "scratch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good)
{
	if (!good)
		abort();
}

static void ask_suite(ttnn_configs *configs, const char *name, bool all_cases)
{
	const struct ttnn_suite_info *info;
	ttnn_suite *suite;

	if (ttnn_configs_suite(&suite, configs, name, all_cases) != TTNN_OK)
		return;
	info = ttnn_suite_get(suite);
	check(info->left_out <= info->configurations);
	for (size_t i = 0; i < info->column_count; i++)
		check(info->product ? info->columns[i].count <= info->row_count
				    : info->columns[i].count == info->row_count);
	for (size_t i = 0; i < info->row_count; i++)
		check(info->numbers[i] < info->configurations);
	ttnn_suite_free(suite);
}

static void ask(ttnn_configs *configs)
{
	const char *name;
	ttnn_loaded *loaded;

	for (size_t i = 0; (name = ttnn_configs_name(configs, i)); i++) {
		size_t count = ttnn_configs_of(configs, name);

		ask_suite(configs, name, false);
		ask_suite(configs, name, true);
		if (ttnn_configs_tensors(&loaded, configs, name) == TTNN_OK) {
			check(ttnn_loaded_value(loaded)->count == count);
			ttnn_loaded_free(loaded);
		}
		if (ttnn_configs_arguments(&loaded, configs, name) == TTNN_OK)
			ttnn_loaded_free(loaded);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct ttnn_memory_config config;
	ttnn_configs *configs;
	ttnn_loaded *loaded;
	char *cleaned;

	if (ttnn_configs_tensor(&loaded, text, size) == TTNN_OK)
		ttnn_loaded_free(loaded);
	(void)ttnn_configs_memory(&config, text, size);
	if (ttnn_configs_clean(&cleaned, text, size) == TTNN_OK)
		ttnn_free(cleaned);
	check(tt_file_save(scratch(0), data, size) == TTNN_OK);
	if (ttnn_configs_open(&configs, scratch(0)) == TTNN_OK) {
		if (ttnn_configs_rule(configs, "add", "first=any@0 named=number@dtype") == TTNN_OK)
			ask(configs);
		ttnn_configs_free(configs);
	}
	return 0;
}
