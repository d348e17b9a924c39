/*
 * Texts and JSON of values from anywhere: read or refused with a sentence. What a text is read as
 * must print as something that reads as the same.
 */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "tensor/memory.h"
#include "tensor/read.h"
#include "tensor/text.h"
#include "tensor/value_json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void need(bool condition)
{
	if (!condition)
		abort();
}

static void check_config(const struct ttnn_memory_config *config)
{
	struct ttnn_memory_config again;
	struct tt_str text = {0};

	if (tt_memory_config_check(config) == TTNN_OK) {
		tt_text_memory_config(&text, config, TTNN_DIALECT_TT_METAL);
		need(tt_read_memory_config(&again, (struct tt_span){text.data, text.length}) ==
		     TTNN_OK);
		need(ttnn_memory_config_equal(config, &again));
	}
	tt_str_deinit(&text);
}

static void check_spec(const struct ttnn_spec_args *args)
{
	struct ttnn_spec_args read;
	struct ttnn_tensor_spec spec, again;
	struct tt_str text = {0};

	if (ttnn_tensor_spec_make(&spec, args) != TTNN_OK)
		return;
	tt_text_tensor_spec(&text, &spec, TTNN_DIALECT_SEED);
	need(tt_read_tensor_spec(&read, (struct tt_span){text.data, text.length}) == TTNN_OK);
	/* a shard of width 0 is an alignment of 0, which nobody may ask for */
	if (ttnn_tensor_spec_make(&again, &read) == TTNN_OK)
		need(ttnn_tensor_spec_equal(&spec, &again));
	tt_str_deinit(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tt_span text = {(const char *)data, size};
	struct ttnn_memory_config config;
	struct tt_json_doc *doc = NULL;
	const ttnn_core_set *cores;
	struct ttnn_spec_args args;
	struct ttnn_shape shape;

	(void)tt_read_shape(&shape, text);
	(void)tt_read_core_set(&cores, text);
	if (tt_read_memory_config(&config, text) == TTNN_OK)
		check_config(&config);
	if (tt_read_tensor_spec(&args, text) == TTNN_OK)
		check_spec(&args);
	if (tt_json_parse(&doc, text.text, size, "fuzz") == TTNN_OK &&
	    tt_json_read_memory_config(&config, tt_json_root(doc)) == TTNN_OK)
		check_config(&config);
	tt_json_free(doc);
	return 0;
}
