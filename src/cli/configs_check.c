/* ttnn configs check: each configuration read as typed arguments, against the signatures of operations. */
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "cli/cli.h"
#include "cli/configs.h"
#include "store/convert_args.h"
#include "store/names.h"
#include "sweep/traced.h"
#include "tensor/tensor.h"

static bool notes;

static const struct tt_opt options[] = {
	CONFIGS_MASTER_OPTION,
	{"notes", 0, TT_OPT_FLAG, &notes, NULL,
	 "also print what stands for arguments that the file lost"},
	{0},
};

struct checking {
	struct tt_master *master;
	struct tt_json_parser parser, converted;
	struct tt_convert convert;
	struct tt_str text, name;
	ttnn_device *device;
	size_t count, bad, stood_in;
};

/* A tensor that is looked at alone: it has no data. */
static tt_status make_tensor(ttnn_tensor **out, void *context,
			     const struct tt_traced_tensor *wanted)
{
	struct tt_tensor *tensor = tt_arena_calloc(context, 1, sizeof(*tensor));

	if (!tensor)
		return tt_fail_nomem();
	tensor->spec = wanted->spec;
	*out = tensor;
	return TTNN_OK;
}

/* The arguments in the grammar of November 2025, whatever the file's. */
static tt_status read_args(const struct tt_json **out, struct checking *c, size_t op, size_t number)
{
	enum tt_master_layout layout = tt_master_layout(c->master);
	struct tt_json_part part = {.name = "a configuration"};

	TT_TRY(tt_master_args(out, c->master, &c->parser, op, number));
	if (layout != TT_MASTER_V2)
		return TTNN_OK;
	tt_str_clear(&c->text);
	TT_TRY(tt_convert_args(&c->text, &c->convert, *out, layout, TT_MASTER_V1));
	part.whole = tt_str_text(&c->text);
	part.length = c->text.length;
	return tt_json_parser_read(out, &c->converted, &part);
}

/* Whether an operation takes the arguments; the message says why not. */
static tt_status check_call(struct tt_traced_call *call, struct tt_arena *arena,
			    const struct checking *c, const struct tt_traced_config *config)
{
	struct tt_traced_maker maker = {
		.tensor = make_tensor, .context = arena, .device = c->device};
	struct tt_args args;

	TT_TRY(tt_traced_bind(call, arena, config, &maker));
	return tt_sig_resolve(&args, &tt_op_find(config->op)->overloads, call->args, call->count);
}

/* The first line of a message that says something. */
static void print_reason(const char *name, size_t number)
{
	const char *text = ttnn_error();

	text += strspn(text, " \n");
	printf("%s %zu: %.*s\n", name, number + 1, (int)strcspn(text, "\n"), text);
}

static tt_status check_config(struct checking *c, size_t op, size_t number)
{
	struct tt_traced_config config = {
		.op = tt_str_text(&c->name), .source = "", .number = number};
	struct tt_traced_call call = {0};
	struct tt_arena arena = {0};
	tt_status status = read_args(&config.args, c, op, number);

	c->count++;
	if (status == TTNN_OK) {
		config.python = tt_master_layout(c->master) == TT_MASTER_V2;
		status = check_call(&call, &arena, c, &config);
	}
	if (status != TTNN_OK && status != TTNN_NOMEM) {
		c->bad++;
		print_reason(config.op, number);
		status = TTNN_OK;
	}
	c->stood_in += call.note_count > 0;
	for (size_t i = 0; notes && i < call.note_count; i++)
		printf("%s %zu: %s\n", config.op, number + 1, call.notes[i]);
	tt_arena_deinit(&arena);
	return status;
}

static tt_status check_all(struct checking *c)
{
	for (size_t i = 0; i < tt_master_op_count(c->master); i++) {
		const char *name = tt_master_op_name(c->master, i);

		tt_str_clear(&c->name);
		/* The guides' block has bare names. */
		if (strncmp(name, "ttnn", 4) != 0)
			tt_str_adds(&c->name, "ttnn.");
		tt_names_dotted(&c->name, name);
		TT_TRY(tt_str_status(&c->name));
		for (size_t k = 0; k < tt_master_config_count(c->master, i); k++)
			TT_TRY(check_config(c, i, k));
	}
	return TTNN_OK;
}

static int run(const struct tt_cmd *cmd, size_t count, char **operands)
{
	const char *path = count ? operands[0] : configs_path();
	struct checking c = {0};
	tt_status status = tt_master_open(&c.master, path);

	(void)cmd;
	if (status == TTNN_OK)
		status = ttnn_device_open(&c.device, 0, &(struct ttnn_device_options){0});
	if (status == TTNN_OK)
		status = check_all(&c);
	if (status == TTNN_OK)
		printf("%s: %zu configurations, %zu of them runnable, %zu with something that stands for what was lost\n",
		       path, c.count, c.count - c.bad, c.stood_in);
	ttnn_device_unref(c.device);
	tt_master_free(c.master);
	tt_json_parser_deinit(&c.parser);
	tt_json_parser_deinit(&c.converted);
	tt_convert_deinit(&c.convert);
	tt_str_deinit(&c.text);
	tt_str_deinit(&c.name);
	if (status != TTNN_OK)
		return cli_fail();
	return c.bad ? TT_EXIT_NO : TT_EXIT_DONE;
}

const struct tt_cmd configs_check = {
	.name = "check",
	.help = "say which configurations no operation takes, and why",
	.operands = "[FILE]",
	.most = 1,
	.more = "Each configuration is read as typed arguments and held against the signatures\n"
		"of its operation; nothing is run. The exit code is 1 when one does not fit.\n",
	.options = options,
	.run = run,
};
