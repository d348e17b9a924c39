/* workspace_modules.c: one template, filled for each operation. */
#include "cli/workspace_modules.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <ttnn_configs.h>

#include "base/embed.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"

#define TEMPLATE "model_traced.py.in"
#define TIMEOUT 30

/* ---- samples ------------------------------------------------------------------------------------------------- */

/*
 * A suite with one small vector, for operations whose modules had one; operations without traced configurations are
 * here for it. Parameters are separated by bars, each with its value unless it is the usual one (`usual`).
 * To add one: a row.
 */
#define SUITE "model_traced_sample"
#define INPUT "input_a_dtype | input_a_layout | input_a_memory_config"
#define OUTPUT "output_memory_config | storage_type"
#define UNARY "input_shape | " INPUT " | output_memory_config"
#define BINARY                                                                                     \
	"input_shape | input_a_dtype | input_b_dtype | input_a_layout | input_b_layout | "         \
	"input_a_memory_config | input_b_memory_config | " OUTPUT
#define ROWS                                                                                       \
	"input_shape | input_a_dtype | input_a_layout = ttnn.ROW_MAJOR_LAYOUT | "                  \
	"input_a_memory_config | output_memory_config"
#define SHAPED(shape) "input_shape = " shape " | " INPUT

static const struct sample {
	const char *name;
	unsigned timeout; /* seconds; 0: TIMEOUT */
	const char *suite, *params;
} samples[] = {
	{"add", 0, SUITE, BINARY},
	{"all_gather_async", 45, NULL, NULL},
	{"concat", 0, SUITE,
	 "input_shape = {\"input_a\": (1, 1, 32, 16), \"input_b\": (1, 1, 32, 8)} | storage_type | " INPUT
	 " | input_b_dtype | input_b_layout | input_b_memory_config | output_memory_config"},
	{"conv2d", 60, "short_sweep_suite_conv2d",
	 "input_specs = [1, 16, 8, 4, 4, 1, 1, 1, 1, 0, 0, 1, 1, 1, False] | is_conv1d = False"},
	{"exp", 0, SUITE, UNARY " | storage_type"},
	{"global_avg_pool2d", 0, SUITE, UNARY " | storage_type"},
	{"interleaved_to_sharded", 0, SUITE, UNARY " | storage_type"},
	{"linear", 120, SUITE,
	 "input_shape = (32, 32) | weight_shape = (32, 32) | bias_shape = (32,) | input_a_dtype | "
	 "input_b_dtype | input_a_layout | input_b_layout | input_a_memory_config | "
	 "input_b_memory_config | output_memory_config | transpose_a = False | "
	 "transpose_b = False | has_bias = True | storage_type"},
	{"matmul", 0, SUITE, "input_shape | " INPUT " | input_b_memory_config | " OUTPUT},
	{"multiply", 0, SUITE, BINARY},
	{"nlp_concat_heads", 0, SUITE, SHAPED("(1, 12, 32, 64)") " | " OUTPUT},
	{"nlp_concat_heads_decode", 0, SUITE, SHAPED("(1, 12, 32, 64)") " | " OUTPUT},
	{"nlp_create_qkv_heads", 0, SUITE, SHAPED("(1, 1, 32, 768)") " | num_heads = 12 | " OUTPUT},
	{"nlp_create_qkv_heads_decode", 0, SUITE,
	 SHAPED("(1, 1, 32, 768)") " | num_heads = 12 | " OUTPUT},
	{"pad", 0, SUITE,
	 UNARY " | padding = ((0, 1), (0, 1), (0, 2), (0, 2)) | value = 0.0 | storage_type"},
	{"paged_fill_cache", 0, SUITE, SHAPED("(1, 1, 32, 64)") " | " OUTPUT},
	{"paged_scaled_dot_product_attention_decode", 0, SUITE,
	 SHAPED("(1, 8, 32, 64)") " | " OUTPUT},
	{"paged_update_cache", 0, SUITE, SHAPED("(1, 1, 32, 64)") " | " OUTPUT},
	{"permute", 0, SUITE, UNARY " | dims = (0, 2, 3, 1) | storage_type"},
	{"plus_one", 0, SUITE, ROWS " | storage_type"},
	{"reduce_scatter_minimal_async", 45, NULL, NULL},
	{"reshape", 0, SUITE, UNARY " | target_shape = (1, 32, 1, 32) | storage_type"},
	{"rms_norm", 0, SUITE,
	 "input_shape | " INPUT
	 " | input_b_dtype | input_b_layout | input_b_memory_config | " OUTPUT},
	{"rotary_embedding_llama", 0, SUITE, SHAPED("(1, 1, 32, 64)") " | " OUTPUT},
	{"scaled_dot_product_attention", 0, SUITE, SHAPED("(1, 8, 32, 64)") " | " OUTPUT},
	{"sharded_to_interleaved", 0, SUITE, UNARY " | storage_type"},
	{"sigmoid", 0, SUITE, UNARY " | storage_type"},
	{"sigmoid_accurate", 0, SUITE, UNARY " | storage_type"},
	{"silu", 0, SUITE, UNARY " | storage_type"},
	{"slice", 0, SUITE, UNARY " | storage_type"},
	{"subtract", 0, SUITE, BINARY},
	{"swish", 0, SUITE, UNARY " | storage_type"},
	{"tilize", 0, SUITE, ROWS " | storage_type"},
	{"tilize_with_val_padding", 0, SUITE,
	 ROWS " | padded_shape = (1, 1, 64, 64) | pad_value = 0.0 | storage_type"},
	{"topk", 0, SUITE, "input_shape | " INPUT " | k = 5 | dim = -1 | " OUTPUT},
	{"transpose", 0, SUITE,
	 SHAPED("(1, 32, 32, 32)") " | output_memory_config | dim0 = 0 | dim1 = 1 | storage_type"},
	{"typecast", 0, SUITE, "input_shape | " INPUT " | output_dtype = ttnn.float32 | " OUTPUT},
	{"untilize", 0, SUITE, UNARY " | storage_type"},
	{"untilize_with_unpadding", 0, SUITE, UNARY " | end_shape = (0, 0, 31, 31) | storage_type"},
};

/* The value of a parameter without one, by how its name ends. */
static const struct {
	const char *end, *value;
} usual[] = {
	{"_shape", "(1, 1, 32, 32)"},
	{"_dtype", "ttnn.bfloat16"},
	{"_layout", "ttnn.TILE_LAYOUT"},
	{"_memory_config", "ttnn.DRAM_MEMORY_CONFIG"},
	{"storage_type", "\"StorageType::DEVICE\""},
};

static const struct sample *find_sample(const char *name)
{
	for (size_t i = 0; i < TT_COUNT(samples); i++)
		if (strcmp(samples[i].name, name) == 0)
			return &samples[i];
	return NULL;
}

static const char *usual_value(const char *name, size_t length)
{
	for (size_t i = 0; i < TT_COUNT(usual); i++) {
		size_t end = strlen(usual[i].end);

		if (length >= end && memcmp(name + length - end, usual[i].end, end) == 0)
			return usual[i].value;
	}
	return "None";
}

/* One parameter of a sample. */
struct param {
	const char *name, *value;
	size_t name_length, value_length;
};

static bool next_param(struct param *out, const char **at)
{
	const char *start = *at, *mark;
	size_t length;

	if (!start || !*start)
		return false;
	length = strcspn(start, "|");
	*at = start[length] ? start + length + 2 : NULL;
	if (start[length])
		length--; /* the blank before the bar */
	mark = memchr(start, '=', length);
	out->name = start;
	out->name_length = mark ? (size_t)(mark - start) - 1 : length;
	out->value = mark ? mark + 2 : usual_value(start, length);
	out->value_length = mark ? length - (size_t)(out->value - start) : strlen(out->value);
	return true;
}

/* ---- the parts of a module ------------------------------------------------------------------------------------ */

static void add_sample(struct tt_str *out, const struct sample *sample)
{
	const char *at = sample ? sample->params : NULL;
	struct param param;

	if (!at)
		return;
	tt_str_addf(out, "    \"%s\": {\n", sample->suite);
	while (next_param(&param, &at))
		tt_str_addf(out, "        \"%.*s\": [%.*s],\n", (int)param.name_length, param.name,
			    (int)param.value_length, param.value);
	tt_str_adds(out, "    },\n");
}

static bool has_column(const struct ttnn_suite_info *info, const struct param *param)
{
	for (size_t i = 0; i < info->column_count; i++)
		if (strlen(info->columns[i].name) == param->name_length &&
		    memcmp(info->columns[i].name, param->name, param->name_length) == 0)
			return true;
	return false;
}

/* Every suite gives some of them. */
static void add_arguments(struct tt_str *out, const struct ttnn_suite_info *info,
			  const struct sample *sample)
{
	const char *at = sample ? sample->params : NULL;
	struct param param;

	for (size_t i = 0; i < info->column_count; i++)
		tt_str_addf(out, "    %s=None,\n", info->columns[i].name);
	while (next_param(&param, &at))
		if (!has_column(info, &param))
			tt_str_addf(out, "    %.*s=None,\n", (int)param.name_length, param.name);
}

struct module {
	const char *name; /* "all_gather_async" */
	const char *full; /* "ttnn::experimental::all_gather_async" */
	const struct sample *sample;
	const struct ttnn_suite_info *info;
};

/* "ttnn::add" as "ttnn.add". */
static void add_dotted(struct tt_str *out, const char *full)
{
	for (; *full; full++) {
		bool mark = full[0] == ':' && full[1] == ':';

		tt_str_addc(out, mark ? '.' : *full);
		full += mark;
	}
}

static void add_part(struct tt_str *out, const char *mark, size_t length,
		     const struct module *module)
{
	const struct sample *sample = module->sample;

	if (length == 4 && memcmp(mark, "NAME", 4) == 0)
		tt_str_adds(out, module->name);
	else if (length == 8 && memcmp(mark, "FUNCTION", 8) == 0)
		add_dotted(out, module->full);
	else if (length == 7 && memcmp(mark, "TIMEOUT", 7) == 0)
		tt_str_addu(out, sample && sample->timeout ? sample->timeout : TIMEOUT);
	else if (length == 6 && memcmp(mark, "SAMPLE", 6) == 0)
		add_sample(out, sample);
	else
		add_arguments(out, module->info, sample);
}

/* The template with its marks, @NAME@ and the like, replaced. */
static void fill(struct tt_str *out, const struct module *module)
{
	const struct tt_embedded *source = tt_embedded_sources;
	const char *at;

	while (strcmp(source->name, TEMPLATE) != 0)
		source++;
	at = (const char *)source->data;
	for (const char *mark; (mark = strchr(at, '@'));) {
		size_t length = strcspn(mark + 1, "@");

		tt_str_add(out, at, (size_t)(mark - at));
		add_part(out, mark + 1, length, module);
		at = mark + length + 2;
	}
	tt_str_adds(out, at);
}

static tt_status put_module(const struct module *module, cli_put_module *put, void *context)
{
	struct tt_str text = {0}, name = {0};
	tt_status status;

	fill(&text, module);
	tt_str_addf(&name, "tests/sweep_framework/sweeps/model_traced/%s_model_traced.py",
		    module->name);
	status = tt_str_status(&text);
	if (status == TTNN_OK)
		status = tt_str_status(&name);
	if (status == TTNN_OK)
		status = put(context, tt_str_text(&name), tt_str_text(&text), text.length);
	tt_str_deinit(&text);
	tt_str_deinit(&name);
	return status;
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

/* The name behind the namespaces; NULL when it is none for a file. */
static const char *bare_name(const char *full)
{
	const char *bare = strrchr(full, ':');

	if (!bare)
		bare = strrchr(full, '.');
	bare = bare ? bare + 1 : full;
	for (const char *c = bare; *c; c++)
		if (!isalnum((unsigned char)*c) && *c != '_')
			return NULL;
	return *bare ? bare : NULL;
}

static tt_status put_traced(ttnn_configs *configs, const char *full, cli_put_module *put,
			    void *context)
{
	struct module module = {.name = bare_name(full), .full = full};
	ttnn_suite *suite;
	tt_status status;

	if (!module.name)
		return TTNN_OK;
	TT_TRY(ttnn_configs_suite(&suite, configs, full, false));
	module.sample = find_sample(module.name);
	module.info = ttnn_suite_get(suite);
	status = put_module(&module, put, context);
	ttnn_suite_free(suite);
	return status;
}

/* Operations that have a sample and no configurations. */
static tt_status put_sample(ttnn_configs *configs, const struct sample *sample, cli_put_module *put,
			    void *context)
{
	char full[128];

	snprintf(full, sizeof(full), "ttnn::%s", sample->name);
	if (ttnn_configs_of(configs, sample->name) || !sample->params)
		return TTNN_OK;
	return put_module(&(struct module){sample->name, full, sample,
					   &(struct ttnn_suite_info){.column_count = 0}},
			  put, context);
}

tt_status cli_workspace_modules(const char *master, cli_put_module *put, void *context)
{
	ttnn_configs *configs;
	tt_status status = TTNN_OK;
	const char *name;

	TT_TRY(ttnn_configs_open(&configs, master));
	for (size_t i = 0; status == TTNN_OK && (name = ttnn_configs_name(configs, i)); i++)
		status = put_traced(configs, name, put, context);
	for (size_t i = 0; status == TTNN_OK && i < TT_COUNT(samples); i++)
		status = put_sample(configs, &samples[i], put, context);
	ttnn_configs_free(configs);
	return status;
}
