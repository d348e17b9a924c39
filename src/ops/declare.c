#include "ops/declare.h"

#include <ctype.h>
#include <string.h>

#include "ops/gives.h"

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

bool tt_declare_has_options(const struct tt_sig *sig)
{
	for (size_t i = 0; i < sig->count; i++)
		if (sig->args[i].has_default)
			return true;
	return false;
}

void tt_declare_name(struct tt_str *out, const struct tt_op_entry *entry, size_t which)
{
	add_name(out, entry->op->name);
	add_suffix(out, entry, which);
}

const char *tt_declare_wrap(const struct tt_arg *arg)
{
	int passed = how(arg);

	return passed < 0 ? NULL : passing[passed].wrap;
}

void tt_declare(struct tt_str *out, const struct tt_op_entry *entry, size_t which)
{
	const struct tt_sig *sig = &entry->overloads.sigs[which];
	struct tt_str name = {0};

	tt_declare_name(&name, entry, which);
	tt_str_addf(out, "enum ttnn_status %s(%s", tt_str_text(&name),
		    tt_gives_many(entry->op->gives) ? "struct ttnn_results *out"
						    : "ttnn_tensor **out");
	for (size_t i = 0; i < sig->count; i++) {
		int passed = how(&sig->args[i]);

		if (!sig->args[i].has_default)
			tt_str_addf(out, ", %s%s",
				    passed < 0 ? "struct ttnn_value " : passing[passed].c,
				    sig->args[i].name);
	}
	if (tt_declare_has_options(sig))
		tt_str_addf(out, ", const struct %s_options *options", tt_str_text(&name));
	tt_str_addc(out, ')');
	if (name.failed)
		out->failed = true;
	tt_str_deinit(&name);
}
