/*
 * gen_ops: writes ttnn_ops.h and ttnn_ops.hpp, the functions of C and C++, from the operation table. Run by
 * the build.
 *
 *	gen_ops FILE.h FILE.hpp
 *
 * In C each signature becomes one inline function over ttnn_call(): arguments without a default are
 * parameters, the others members of an options struct whose zero means "not given". A further
 * signature of the same operation is named after the types in which it differs. The header is C and
 * C++; its functions take what <ttnn.h> makes.
 *
 * In C++ each operation becomes one function in the namespace of its name, ttnn::transformer::NAME, with the
 * arguments of all its signatures; those that may be left out have a default. See ttnn/ttnn.hpp.
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

/* ---- C++ ------------------------------------------------------------------------------------ */

/* A parameter of a C++ function: an argument of all signatures that have it. */
struct param {
	const char *name;
	bool required, tensor; /* in all of them */
	bool placed;           /* given by its place, since signatures name it differently */
};

#define PARAMS_MAX (TT_SIGS_MAX * TT_ARGS_MAX)

/* Positional argument `place` of a signature, or NULL. */
static const struct tt_arg *placed_arg(const struct tt_sig *sig, size_t place)
{
	for (size_t i = 0; i < sig->count; i++)
		if (!sig->args[i].keyword_only && !sig->args[i].unseen && place-- == 0)
			return &sig->args[i];
	return NULL;
}

static bool is_tensor(const struct tt_arg *arg)
{
	return arg->type_count == 1 && !arg->optional &&
	       strcmp(tt_arg_type_name(arg->types[0]), "Tensor") == 0;
}

static bool is_taken(const struct param *params, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(params[i].name, name) == 0)
			return true;
	return false;
}

/* The parameter in a place of all signatures; false after the last. Without a name: it has its own elsewhere. */
static bool merge_place(struct param *params, size_t count, size_t place,
			const struct tt_overloads *overloads)
{
	struct param *param = &params[count];
	const char *first = NULL;

	*param = (struct param){.required = true, .tensor = true};
	for (size_t k = 0; k < overloads->count; k++) {
		const struct tt_arg *arg = placed_arg(&overloads->sigs[k], place);

		param->required = param->required && arg && !arg->has_default;
		if (!arg)
			continue;
		param->tensor = param->tensor && is_tensor(arg);
		param->placed = param->placed || (first && strcmp(first, arg->name) != 0);
		first = first ? first : arg->name;
		if (!param->name && !is_taken(params, count, arg->name))
			param->name = arg->name;
	}
	return first != NULL;
}

/* Those that have a place, and then the others by name. */
static size_t merge_params(struct param params[PARAMS_MAX], const struct tt_overloads *overloads)
{
	size_t count = 0;

	for (size_t place = 0; merge_place(params, count, place, overloads); place++)
		count += params[count].name != NULL;
	/* What stands before one that is given by its place is, too. */
	for (size_t i = count; i-- > 1;)
		params[i - 1].placed = params[i - 1].placed || params[i].placed;
	for (size_t k = 0; k < overloads->count; k++)
		for (size_t i = 0; i < overloads->sigs[k].count; i++) {
			const struct tt_arg *arg = &overloads->sigs[k].args[i];

			if (!arg->keyword_only || arg->unseen || is_taken(params, count, arg->name))
				continue;
			params[count++] = (struct param){.name = arg->name,
							 .required = overloads->count == 1 &&
								     !arg->has_default,
							 .tensor = is_tensor(arg)};
		}
	return count;
}

static void add_cpp_function(struct tt_str *out, const struct tt_op_entry *entry, const char *name)
{
	struct param params[PARAMS_MAX];
	size_t count = merge_params(params, &entry->overloads);
	bool many = tt_gives_many(entry->op->gives), required = true;

	tt_str_addf(out, "/* %s: %s */\ninline %s %s(", entry->op->name, entry->op->doc,
		    many ? "std::vector<Tensor>" : "Tensor", name);
	for (size_t i = 0; i < count; i++) {
		required = required && params[i].required;
		tt_str_addf(out, "%sconst %s &%s%s", i ? ", " : "",
			    required && params[i].tensor ? "Tensor" : "Value", params[i].name,
			    required ? "" : " = {}");
	}
	tt_str_addf(out, ")\n{\n\treturn ::ttnn::detail::%s(\"%s\", {", many ? "many" : "one",
		    entry->op->name);
	for (size_t i = 0; i < count; i++)
		tt_str_addf(out, "%s{\"%s\", %s%s}", i ? ", " : "", params[i].name, params[i].name,
			    params[i].placed ? ", true" : "");
	tt_str_adds(out, "});\n}\n\n");
}

/* "ttnn::transformer" of an operation's name; "ttnn::method" for those of Tensor. */
static void add_namespace(struct tt_str *out, const char *name)
{
	const char *last = strrchr(name, '.');

	if (strncmp(name, "ttnn.Tensor.", 12) == 0) {
		tt_str_adds(out, "ttnn::method");
		return;
	}
	for (; name < last; name++)
		if (*name == '.')
			tt_str_adds(out, "::");
		else
			tt_str_addc(out, *name);
}

/* The function of an operation, after the head of its namespace where the one before has another. */
static void add_cpp(struct tt_str *out, struct tt_str *space, const struct tt_op_entry *entry)
{
	const char *last = strrchr(entry->op->name, '.') + 1;
	struct tt_str mine = {0}, name = {0};

	add_namespace(&mine, entry->op->name);
	if (strcmp(tt_str_text(&mine), tt_str_text(space)) != 0)
		tt_str_addf(out, "%snamespace %s {\n\n", space->length ? "}\n\n" : "",
			    tt_str_text(&mine));
	if (strncmp(last, "__", 2) == 0)
		tt_str_add(&name, last + 2, strlen(last) - 4);
	else
		tt_str_adds(&name, last);
	add_cpp_function(out, entry, tt_str_text(&name));
	if (name.failed || mine.failed)
		out->failed = true;
	tt_str_deinit(&name);
	tt_str_deinit(space);
	*space = mine;
}

/* ---- files ---------------------------------------------------------------------------------- */

static void write_c(struct tt_str *out, const struct tt_op_entry *entries, size_t count)
{
	tt_str_addf(
		out,
		"/*\n * ttnn_ops.h: typed functions for %zu operations. Made by the build; do not "
		"edit.\n *\n * Results belong to the caller; options may be NULL, and their "
		"members zero. See ttnn.h for the\n * conventions, and `ttnn ops NAME` for what an "
		"operation takes.\n */\n#ifndef TTNN_OPS_H\n#define TTNN_OPS_H\n\n"
		"/* NOLINTBEGIN(readability-function-size) */\n#include "
		"<ttnn.h>\n\n",
		count);
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < entries[i].overloads.count; k++)
			add_function(out, &entries[i], k);
	tt_str_adds(out, "/* NOLINTEND(readability-function-size) */\n#endif\n");
}

static void write_cpp(struct tt_str *out, const struct tt_op_entry *entries, size_t count)
{
	struct tt_str space = {0};

	tt_str_addf(
		out,
		"/*\n * ttnn_ops.hpp: functions of C++ for %zu operations. Made by the build; do "
		"not edit, and include\n * <ttnn/ttnn.hpp>, which says what they have in common. "
		"`ttnn ops NAME` says what an operation takes.\n */\n#ifndef TTNN_OPS_HPP\n"
		"#define TTNN_OPS_HPP\n\n#include <ttnn/ttnn.hpp>\n\n",
		count);
	for (size_t i = 0; i < count; i++)
		add_cpp(out, &space, &entries[i]);
	tt_str_adds(out, "}\n#endif\n");
	tt_str_deinit(&space);
}

static tt_status write_header(const char *path,
			      void (*write)(struct tt_str *out, const struct tt_op_entry *entries,
					    size_t count))
{
	struct tt_str out = {0};
	size_t count;
	const struct tt_op_entry *entries = tt_op_all(&count);
	tt_status status;

	write(&out, entries, count);
	status = tt_str_status(&out);
	if (status == TTNN_OK)
		status = tt_file_save(path, out.data, out.length);
	tt_str_deinit(&out);
	return status;
}

int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: gen_ops FILE.h FILE.hpp\n");
		return 2;
	}
	if (tt_op_registry() == TTNN_OK && write_header(argv[1], write_c) == TTNN_OK &&
	    write_header(argv[2], write_cpp) == TTNN_OK)
		return 0;
	fprintf(stderr, "gen_ops: %s\n", ttnn_error());
	return 2;
}
