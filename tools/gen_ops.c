/*
 * gen_ops: writes ttnn_ops.h, the typed C functions, from the operation table. Run by the build.
 *
 *	gen_ops FILE
 *
 * Each signature becomes one inline function over ttnn_call(): arguments without a default are
 * parameters, the others members of an options struct whose zero means "not given". A further
 * signature of the same operation is named after the types in which it differs. The header is C and
 * C++; its functions take what <ttnn.h> makes.
 */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "ops/declare.h"
#include "ops/gives.h"

static void add_options(struct tt_str *out, const struct tt_sig *sig, const char *name)
{
	tt_str_addf(out, "struct %s_options {\n", name);
	for (size_t i = 0; i < sig->count; i++)
		if (sig->args[i].has_default)
			tt_str_addf(out, "\tstruct ttnn_value %s;\n", sig->args[i].name);
	tt_str_adds(out, "};\n");
}

static void add_body(struct tt_str *out, const struct tt_op_entry *entry, const struct tt_sig *sig)
{
	tt_str_addf(out, "{\n\tstruct ttnn_arg args[%zu];\n\tsize_t count = 0;\n\n",
		    sig->count ? sig->count : 1);
	for (size_t i = 0; i < sig->count; i++) {
		const struct tt_arg *arg = &sig->args[i];
		const char *tab = arg->has_default ? "\t\t" : "\t";
		const char *wrap = tt_declare_wrap(arg);

		if (arg->has_default)
			tt_str_addf(out,
				    "\tif (options && options->%s.kind != TTNN_VALUE_ABSENT) {\n",
				    arg->name);
		tt_str_addf(out, "%sargs[count].name = \"%s\";\n%sargs[count++].value = ", tab,
			    arg->name, tab);
		if (arg->has_default)
			tt_str_addf(out, "options->%s;\n\t}\n", arg->name);
		else if (!wrap)
			tt_str_addf(out, "%s;\n", arg->name);
		else
			tt_str_addf(out, "%s(%s);\n", wrap, arg->name);
	}
	tt_str_addf(out, "\treturn %s(out, \"%s\", args, count, TTNN_FRONTEND_C);\n}\n\n",
		    tt_gives_many(entry->op->gives) ? "ttnn_call" : "ttnn_call_one",
		    entry->op->name);
}

static void add_function(struct tt_str *out, const struct tt_op_entry *entry, size_t which)
{
	const struct tt_sig *sig = &entry->overloads.sigs[which];
	struct tt_str name = {0};

	tt_declare_name(&name, entry, which);
	tt_str_addf(out, "/* %s: %s */\n", entry->op->name, entry->op->doc);
	if (tt_declare_has_options(sig))
		add_options(out, sig, tt_str_text(&name));
	tt_str_adds(out, "static inline ");
	tt_declare(out, entry, which);
	tt_str_addc(out, '\n');
	add_body(out, entry, sig);
	tt_str_deinit(&name);
}

static tt_status write_header(const char *path)
{
	struct tt_str out = {0};
	size_t count;
	const struct tt_op_entry *entries = tt_op_all(&count);
	tt_status status = tt_op_registry();

	TT_TRY(status);
	tt_str_addf(
		&out,
		"/*\n * ttnn_ops.h: typed functions for %zu operations. Made by the build; do not "
		"edit.\n *\n * Results belong to the caller; options may be NULL, and their "
		"members zero. See ttnn.h for the\n * conventions, and `ttnn ops NAME` for what an "
		"operation takes.\n */\n#ifndef TTNN_OPS_H\n#define TTNN_OPS_H\n\n"
		"/* NOLINTBEGIN(readability-function-size) */\n#include "
		"<ttnn.h>\n\n",
		count);
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < entries[i].overloads.count; k++)
			add_function(&out, &entries[i], k);
	tt_str_adds(&out, "/* NOLINTEND(readability-function-size) */\n#endif\n");
	status = tt_str_status(&out);
	if (status == TTNN_OK)
		status = tt_file_save(path, out.data, out.length);
	tt_str_deinit(&out);
	return status;
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: gen_ops FILE\n");
		return 2;
	}
	if (write_header(argv[1]) == TTNN_OK)
		return 0;
	fprintf(stderr, "gen_ops: %s\n", ttnn_error());
	return 2;
}
