/*
 * gen_ops: writes ttnn_ops.h, the typed C functions, from the operation table. Run by the build.
 *
 * Each signature becomes one inline function over ttnn_call(): arguments without a default are
 * parameters, the others members of an options struct whose zero means "not given". A second
 * signature of the same operation is named after the types in which it differs.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "ops/op.h"

/* How a type is passed in C, and which constructor wraps it. Everything else is a ttnn_value. */
static const struct {
	const char *type, *c, *wrap;
} passing[] = {
	{"Tensor", "ttnn_tensor *", "ttnn_v_tensor"},
	{"int", "int64_t ", "ttnn_v_int"},
	{"float", "double ", "ttnn_v_real"},
	{"Scalar", "double ", "ttnn_v_real"},
	{"bool", "bool ", "ttnn_v_bool"},
	{"str", "const char *", "ttnn_v_string"},
	{"Shape", "const struct ttnn_shape *", "ttnn_v_shape"},
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

/* "ttnn.transformer.attention_softmax" → "ttnn_transformer_attention_softmax" */
static void c_name(char *out, size_t size, const char *name)
{
	size_t i;

	for (i = 0; name[i] && i + 1 < size; i++)
		out[i] = name[i] == '.' ? '_' : name[i];
	out[i] = '\0';
}

/* "_scalar": the types of `sig` that differ from those of the first signature. */
static void suffix(char *out, size_t size, const struct tt_op_entry *entry, size_t which)
{
	const struct tt_sig *first = &entry->overloads.sigs[0],
			    *sig = &entry->overloads.sigs[which];
	size_t used = 0;

	out[0] = '\0';
	for (size_t i = 0; which && i < sig->count && used + 24 < size; i++) {
		const char *type = tt_arg_type_name(sig->args[i].types[0]);

		if (sig->args[i].has_default ||
		    (i < first->count && first->args[i].types[0] == sig->args[i].types[0]))
			continue;
		out[used++] = '_';
		while (*type)
			out[used++] = (char)tolower((unsigned char)*type++);
		out[used] = '\0';
	}
	if (which && !used)
		snprintf(out, size, "_%zu", which + 1);
}

static bool has_options(const struct tt_sig *sig)
{
	for (size_t i = 0; i < sig->count; i++)
		if (sig->args[i].has_default)
			return true;
	return false;
}

static void print_options(const struct tt_sig *sig, const char *name)
{
	printf("struct %s_options {\n", name);
	for (size_t i = 0; i < sig->count; i++)
		if (sig->args[i].has_default)
			printf("\tstruct ttnn_value %s;\n", sig->args[i].name);
	printf("};\n");
}

static void print_body(const struct tt_op_entry *entry, const struct tt_sig *sig)
{
	size_t count = sig->count;

	printf("{\n\tstruct ttnn_arg args[%zu];\n\tsize_t count = 0;\n\n", count ? count : 1);
	for (size_t i = 0; i < sig->count; i++) {
		const struct tt_arg *arg = &sig->args[i];
		int passed = how(arg);

		if (arg->has_default)
			printf("\tif (options && options->%s.kind != TTNN_VALUE_ABSENT)\n\t",
			       arg->name);
		printf("\targs[count++] = (struct ttnn_arg){\"%s\", ", arg->name);
		if (arg->has_default)
			printf("options->%s};\n", arg->name);
		else if (passed < 0)
			printf("%s};\n", arg->name);
		else
			printf("%s(%s)};\n", passing[passed].wrap, arg->name);
	}
	printf("\treturn %s(out, \"%s\", args, count, TTNN_FRONTEND_C);\n}\n\n",
	       entry->op->many ? "ttnn_call" : "ttnn_call_one", entry->op->name);
}

static void print_function(const struct tt_op_entry *entry, size_t which)
{
	const struct tt_sig *sig = &entry->overloads.sigs[which];
	char name[160], tail[96], full[256];

	c_name(name, sizeof(name), entry->op->name);
	suffix(tail, sizeof(tail), entry, which);
	snprintf(full, sizeof(full), "%s%s", name, tail);
	printf("/* %s: %s */\n", entry->op->name, entry->op->doc);
	if (has_options(sig))
		print_options(sig, full);
	printf("static inline enum ttnn_status %s(%s", full,
	       entry->op->many ? "struct ttnn_results *out" : "ttnn_tensor **out");
	for (size_t i = 0; i < sig->count; i++) {
		int passed = how(&sig->args[i]);

		if (!sig->args[i].has_default)
			printf(", %s%s", passed < 0 ? "struct ttnn_value " : passing[passed].c,
			       sig->args[i].name);
	}
	if (has_options(sig))
		printf(", const struct %s_options *options", full);
	printf(")\n");
	print_body(entry, sig);
}

int main(void)
{
	size_t count;
	const struct tt_op_entry *entries = tt_op_all(&count);

	if (!entries) {
		fprintf(stderr, "gen_ops: %s\n", ttnn_error());
		return 2;
	}
	printf("/* ttnn_ops.h: typed functions for %zu operations. Made by the build; do not edit.\n"
	       " * Results belong to the caller; options may be NULL. See ttnn.h for the conventions.\n"
	       " */\n#ifndef TTNN_OPS_H\n#define TTNN_OPS_H\n\n#include <ttnn.h>\n\n",
	       count);
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < entries[i].overloads.count; k++)
			print_function(&entries[i], k);
	printf("#endif\n");
	return ferror(stdout) ? 2 : 0;
}
