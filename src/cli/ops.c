/* ttnn ops: the operation table, for people and for programs. */
#include <stdio.h>
#include <string.h>

#include "base/jsonw.h"
#include "cli/cli.h"
#include "cli/ops_sample.h"
#include "ops/declare.h"
#include "ops/op.h"

static bool programs, as_json;

static const struct tt_opt options[] = {
	{"programs", 0, TT_OPT_FLAG, &programs, NULL, "also what it launches, and their memory"},
	{"json", 0, TT_OPT_FLAG, &as_json, NULL, "print JSON"},
	{0},
};

/* ---- as text ---------------------------------------------------------------------------------------- */

static void print_program(const struct tt_prog *prog, const struct ops_sample *sample)
{
	printf("  %s (%s)\n", prog->device_op, prog->prim);
	printf("    attributes:");
	for (size_t i = 0; i < prog->attrs->count; i++)
		printf("%s %s", i ? "," : "", prog->attrs->fields[i].name);
	printf("\n");
	for (size_t i = 0; i < prog->factory_count; i++) {
		printf("    factory %s\n", prog->factories[i].name);
		for (size_t b = 0; b < sample->built.count; b++) {
			const struct ops_built *built = &sample->built.data[b];

			for (size_t r = 0;
			     built->factory == &prog->factories[i] && r < built->lines.count; r++)
				printf("      %s\n",
				       built->lines.data[r] ? built->lines.data[r] : "");
		}
	}
}

/* The programs of the row, and those that the sample built besides. */
static bool in_row(const struct tt_op *op, const struct tt_prog *prog)
{
	for (size_t i = 0; op->programs && op->programs[i]; i++)
		if (op->programs[i] == prog)
			return true;
	return false;
}

static bool is_first(const struct ops_sample *sample, size_t place)
{
	for (size_t i = 0; i < place; i++)
		if (sample->built.data[i].prog == sample->built.data[place].prog)
			return false;
	return true;
}

static void each_program(const struct tt_op *op, const struct ops_sample *sample,
			 void (*tell)(void *context, const struct tt_prog *prog,
				      const struct ops_sample *sample),
			 void *context)
{
	for (size_t i = 0; op->programs && op->programs[i]; i++)
		tell(context, op->programs[i], sample);
	for (size_t i = 0; i < sample->built.count; i++)
		if (!in_row(op, sample->built.data[i].prog) && is_first(sample, i))
			tell(context, sample->built.data[i].prog, sample);
}

static void tell_text(void *context, const struct tt_prog *prog, const struct ops_sample *sample)
{
	(void)context;
	print_program(prog, sample);
}

static tt_status print_programs(const struct tt_op_entry *entry)
{
	struct ops_sample sample;

	TT_TRY(ops_sample(&sample, entry));
	printf("Launches:\n");
	each_program(entry->op, &sample, tell_text, NULL);
	if (sample.refused.length)
		printf("No sample of its memory: %s\n", tt_str_text(&sample.refused));
	else if (sample.built.count)
		printf("Memory is that of a call on tensors of [1, 1, 64, 64], bfloat16, in tiles, in "
		       "DRAM of an n150.\n");
	ops_sample_deinit(&sample);
	return TTNN_OK;
}

static tt_status print_op(const struct tt_op_entry *entry)
{
	const struct tt_op *op = entry->op;

	printf("%s (%s): %s\n", op->name, op->family, op->doc);
	for (size_t i = 0; i < entry->overloads.count; i++)
		printf("  %s(%s)\n", op->name, entry->overloads.sigs[i].text);
	printf("In C (ttnn_ops.h):\n");
	for (size_t i = 0; i < entry->overloads.count; i++) {
		struct tt_str text = {0};

		tt_declare(&text, entry, i);
		printf("  %s\n", tt_str_text(&text));
		tt_str_deinit(&text);
	}
	if (op->golden)
		printf("Golden: float64, accepted from a correlation of %g on.\n", op->pcc);
	if (op->programs && !programs) {
		printf("Launches:");
		for (size_t i = 0; op->programs[i]; i++)
			printf("%s %s", i ? "," : "", op->programs[i]->device_op);
		printf("\n");
	}
	return programs ? print_programs(entry) : TTNN_OK;
}

/* All operations, family after family. */
static void print_list(const struct tt_op_entry *entries, size_t count)
{
	const char *done = "";

	for (;;) {
		const char *family = NULL;
		size_t members = 0;

		for (size_t i = 0; i < count; i++) {
			const char *name = entries[i].op->family;

			if (strcmp(name, done) > 0 && (!family || strcmp(name, family) < 0))
				family = name;
		}
		if (!family)
			return;
		for (size_t i = 0; i < count; i++)
			members += strcmp(entries[i].op->family, family) == 0;
		printf("%s%s (%zu)\n", *done ? "\n" : "", family, members);
		for (size_t i = 0; i < count; i++)
			if (strcmp(entries[i].op->family, family) == 0)
				printf("  %-36s %s\n", entries[i].op->name, entries[i].op->doc);
		done = family;
	}
}

/* ---- as JSON ------------------------------------------------------------------------------------------ */

static void write_default(struct tt_jsonw *w, const struct tt_arg *arg)
{
	struct tt_str text = {0};

	tt_jsonw_key(w, "default");
	tt_sig_print_value(&text, &arg->fallback);
	tt_jsonw_string(w, tt_str_text(&text));
	tt_str_deinit(&text);
}

static void write_sig(struct tt_jsonw *w, const struct tt_sig *sig)
{
	tt_jsonw_array(w);
	for (size_t i = 0; i < sig->count; i++) {
		const struct tt_arg *arg = &sig->args[i];

		tt_jsonw_object(w);
		tt_jsonw_key(w, "name");
		tt_jsonw_string(w, arg->name);
		tt_jsonw_key(w, "types");
		tt_jsonw_array(w);
		for (uint32_t t = 0; t < arg->type_count; t++)
			tt_jsonw_string(w, tt_arg_type_name(arg->types[t]));
		tt_jsonw_end(w);
		tt_jsonw_key(w, "optional");
		tt_jsonw_bool(w, arg->optional);
		tt_jsonw_key(w, "keyword_only");
		tt_jsonw_bool(w, arg->keyword_only);
		if (arg->has_default)
			write_default(w, arg);
		tt_jsonw_end(w);
	}
	tt_jsonw_end(w);
}

static void write_factory(struct tt_jsonw *w, const struct tt_factory *factory,
			  const struct ops_sample *sample)
{
	tt_jsonw_object(w);
	tt_jsonw_key(w, "name");
	tt_jsonw_string(w, factory->name);
	tt_jsonw_key(w, "memory");
	tt_jsonw_array(w);
	for (size_t b = 0; b < sample->built.count; b++) {
		const struct ops_built *built = &sample->built.data[b];

		for (size_t i = 0; built->factory == factory && i < built->lines.count; i++)
			tt_jsonw_string(w, built->lines.data[i] ? built->lines.data[i] : "");
	}
	tt_jsonw_end(w);
	tt_jsonw_end(w);
}

static void tell_json(void *context, const struct tt_prog *prog, const struct ops_sample *sample)
{
	struct tt_jsonw *w = context;

	tt_jsonw_object(w);
	tt_jsonw_key(w, "device_operation");
	tt_jsonw_string(w, prog->device_op);
	tt_jsonw_key(w, "prim");
	tt_jsonw_string(w, prog->prim);
	tt_jsonw_key(w, "attributes");
	tt_jsonw_array(w);
	for (size_t i = 0; i < prog->attrs->count; i++)
		tt_jsonw_string(w, prog->attrs->fields[i].name);
	tt_jsonw_end(w);
	tt_jsonw_key(w, "factories");
	tt_jsonw_array(w);
	for (size_t i = 0; i < prog->factory_count; i++)
		write_factory(w, &prog->factories[i], sample);
	tt_jsonw_end(w);
	tt_jsonw_end(w);
}

static void write_programs(struct tt_jsonw *w, const struct tt_op_entry *entry)
{
	struct ops_sample sample;

	tt_jsonw_key(w, "programs");
	tt_jsonw_array(w);
	if (ops_sample(&sample, entry) == TTNN_OK)
		each_program(entry->op, &sample, tell_json, w);
	ops_sample_deinit(&sample);
	tt_jsonw_end(w);
}

static void write_op(struct tt_jsonw *w, const struct tt_op_entry *entry)
{
	const struct tt_op *op = entry->op;

	tt_jsonw_object(w);
	tt_jsonw_key(w, "name");
	tt_jsonw_string(w, op->name);
	tt_jsonw_key(w, "family");
	tt_jsonw_string(w, op->family);
	tt_jsonw_key(w, "doc");
	tt_jsonw_string(w, op->doc);
	tt_jsonw_key(w, "signatures");
	tt_jsonw_array(w);
	for (size_t i = 0; i < entry->overloads.count; i++)
		write_sig(w, &entry->overloads.sigs[i]);
	tt_jsonw_end(w);
	tt_jsonw_key(w, "c_functions");
	tt_jsonw_array(w);
	for (size_t i = 0; i < entry->overloads.count; i++) {
		struct tt_str text = {0};

		tt_declare(&text, entry, i);
		tt_jsonw_string(w, tt_str_text(&text));
		tt_str_deinit(&text);
	}
	tt_jsonw_end(w);
	tt_jsonw_key(w, "golden");
	tt_jsonw_bool(w, op->golden != NULL);
	if (programs)
		write_programs(w, entry);
	tt_jsonw_end(w);
}

static void put(void *context, const void *data, size_t size)
{
	fwrite(data, 1, size, context);
}

static int print_json(const struct tt_op_entry *entries, size_t count, bool list)
{
	struct tt_jsonw w;

	tt_jsonw_init(&w, put, stdout, (struct tt_jsonw_style){.indent = 2});
	if (list)
		tt_jsonw_array(&w);
	for (size_t i = 0; i < count; i++)
		write_op(&w, &entries[i]);
	if (list)
		tt_jsonw_end(&w);
	if (tt_jsonw_finish(&w) != TTNN_OK)
		return cli_fail();
	printf("\n");
	return TT_EXIT_DONE;
}

/* ---- the command ----------------------------------------------------------------------------------------- */

static int run(const struct tt_cmd *cmd, size_t operand_count, char **operands)
{
	size_t count = 0;
	const struct tt_op_entry *entries = tt_op_all(&count);
	const struct tt_op_entry *entry = operand_count ? tt_op_find(operands[0]) : NULL;

	(void)cmd;
	if (tt_op_registry() != TTNN_OK)
		return cli_fail();
	if (operand_count && !entry) {
		tt_fail(TTNN_NOTFOUND, "there is no operation %s; `ttnn ops` lists them all",
			operands[0]);
		return cli_fail();
	}
	if (as_json)
		return print_json(entry ? entry : entries, entry ? 1 : count, !entry);
	if (!entry)
		print_list(entries, count);
	else if (print_op(entry) != TTNN_OK)
		return cli_fail();
	return TT_EXIT_DONE;
}

const struct tt_cmd cli_ops = {
	.name = "ops",
	.help = "print the operations, or one of them",
	.operands = "[NAME]",
	.most = 1,
	.more = "NAME is what Python calls it, \"ttnn.add\" or \"add\", or C++: \"ttnn::add\".\n",
	.options = options,
	.run = run,
};
