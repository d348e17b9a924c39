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
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "ops/op.h"

/* How a type is passed in C, and which constructor wraps it. Everything else is a ttnn_value. */
static const struct {
	const char *type, *c, *wrap;
} passing[] = {
	{"Tensor", "ttnn_tensor *", "ttnn_v_tensor"},
	{"int", "int64_t ", "ttnn_v_int"},
	{"size", "int64_t ", "ttnn_v_int"},
	{"long", "int64_t ", "ttnn_v_int"},
	{"float", "double ", "ttnn_v_real"},
	{"Scalar", "double ", "ttnn_v_real"},
	{"bool", "bool ", "ttnn_v_bool"},
	{"str", "const char *", "ttnn_v_string"},
	{"Shape", "const struct ttnn_shape *", "ttnn_v_shape"},
	{"sizes", "const struct ttnn_shape *", "ttnn_v_shape"},
	{"DataType", "enum ttnn_dtype ", "ttnn_v_dtype"},
	{"Layout", "enum ttnn_layout ", "ttnn_v_layout"},
	{"MemoryConfig", "const struct ttnn_memory_config *", "ttnn_v_memory"},
	{"CoreRangeSet", "const ttnn_core_set *", "ttnn_v_core_set"},
	{"Device", "ttnn_device *", "ttnn_v_device"},
};

static int how(const struct tt_arg *arg)
{
	if (arg->type_count == 1 && !arg->optional)
		for (size_t i = 0; i < sizeof(passing) / sizeof(passing[0]); i++)
			if (strcmp(tt_arg_type_name(arg->types[0]), passing[i].type) == 0)
				return (int)i;
	return -1;
}

/*
 * "ttnn.transformer.attention_softmax" → "ttnn_transformer_attention_softmax"; methods of a tensor
 * are named ttnn_method_*, without the underscores of Python's own.
 */
static void add_name(struct tt_str *out, const char *name)
{
	static const char method[] = "ttnn.Tensor.";
	size_t length;

	if (strncmp(name, method, sizeof(method) - 1) == 0) {
		name += sizeof(method) - 1;
		length = strlen(name);
		if (length > 4 && strncmp(name, "__", 2) == 0) {
			name += 2;
			length -= 4;
		}
		tt_str_adds(out, "ttnn_method_");
		tt_str_add(out, name, length);
		return;
	}
	for (; *name; name++)
		tt_str_addc(out, *name == '.' ? '_' : *name);
}

/* "_scalar": the types of a signature that differ from those of the first one. */
static void add_types(struct tt_str *out, const struct tt_op_entry *entry, size_t which)
{
	const struct tt_sig *first = &entry->overloads.sigs[0],
			    *sig = &entry->overloads.sigs[which];
	for (size_t i = 0; which && i < sig->count; i++) {
		const char *type = tt_arg_type_name(sig->args[i].types[0]);

		if (sig->args[i].has_default ||
		    (i < first->count && first->args[i].types[0] == sig->args[i].types[0]))
			continue;
		tt_str_addc(out, '_');
		for (; *type; type++)
			tt_str_addc(out, (char)tolower((unsigned char)*type));
	}
}

/* That, and a number where it does not tell the signature from an earlier one. */
static void add_suffix(struct tt_str *out, const struct tt_op_entry *entry, size_t which)
{
	struct tt_str mine = {0};
	bool taken = false;

	add_types(&mine, entry, which);
	for (size_t i = 0; i < which; i++) {
		struct tt_str other = {0};

		add_types(&other, entry, i);
		taken = taken || strcmp(tt_str_text(&mine), tt_str_text(&other)) == 0;
		tt_str_deinit(&other);
	}
	tt_str_adds(out, tt_str_text(&mine));
	if (taken)
		tt_str_addf(out, "_%zu", which + 1);
	tt_str_deinit(&mine);
}

static bool has_options(const struct tt_sig *sig)
{
	for (size_t i = 0; i < sig->count; i++)
		if (sig->args[i].has_default)
			return true;
	return false;
}

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
		int passed = how(arg);

		if (arg->has_default)
			tt_str_addf(out,
				    "\tif (options && options->%s.kind != TTNN_VALUE_ABSENT) {\n",
				    arg->name);
		tt_str_addf(out, "%sargs[count].name = \"%s\";\n%sargs[count++].value = ", tab,
			    arg->name, tab);
		if (arg->has_default)
			tt_str_addf(out, "options->%s;\n\t}\n", arg->name);
		else if (passed < 0)
			tt_str_addf(out, "%s;\n", arg->name);
		else
			tt_str_addf(out, "%s(%s);\n", passing[passed].wrap, arg->name);
	}
	tt_str_addf(out, "\treturn %s(out, \"%s\", args, count, TTNN_FRONTEND_C);\n}\n\n",
		    entry->op->many ? "ttnn_call" : "ttnn_call_one", entry->op->name);
}

static void add_function(struct tt_str *out, const struct tt_op_entry *entry, size_t which)
{
	const struct tt_sig *sig = &entry->overloads.sigs[which];
	struct tt_str name = {0};

	add_name(&name, entry->op->name);
	add_suffix(&name, entry, which);
	tt_str_addf(out, "/* %s: %s */\n", entry->op->name, entry->op->doc);
	if (has_options(sig))
		add_options(out, sig, tt_str_text(&name));
	tt_str_addf(out, "static inline enum ttnn_status %s(%s", tt_str_text(&name),
		    entry->op->many ? "struct ttnn_results *out" : "ttnn_tensor **out");
	for (size_t i = 0; i < sig->count; i++) {
		int passed = how(&sig->args[i]);

		if (!sig->args[i].has_default)
			tt_str_addf(out, ", %s%s",
				    passed < 0 ? "struct ttnn_value " : passing[passed].c,
				    sig->args[i].name);
	}
	if (has_options(sig))
		tt_str_addf(out, ", const struct %s_options *options", tt_str_text(&name));
	tt_str_adds(out, ")\n");
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
