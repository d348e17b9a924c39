/*
 * recipe.h: operations that upstream builds from others, written as text:
 *
 *	"t = subtract(end, input); return add(input, multiply(t, weight))"
 *
 * Used by the families of composites; the text is part of their rows, so a mistake in it is an
 * error of the row and shows in its first test.
 *
 * statements	name = expression | drop name | return expression, ...       separated by ';'
 * expression	number | 'string' | None | True | False | nan | inf | [FUNCTION, ...] | name | step
 *		| -name; a FUNCTION may have parameters in parentheses
 * step		operation(expression or keyword=expression, ...)
 *
 * Names are those of earlier statements, then those given with the recipe, then the call's
 * arguments. Tensors live as they do in C++, because that decides addresses: what a statement makes
 * on the way goes when it ends, newest first; names go when the recipe ends, newest first; a name
 * that is set again loses what it had at once. When a step is refused, what the rest of the text
 * drops goes first, in that order. A step gets the recipe's memory config unless a '~'
 * stands before its parenthesis.
 */
#ifndef TT_OPS_RECIPE_H
#define TT_OPS_RECIPE_H

#include "ops/op.h"

struct tt_recipe_name {
	const char *name;
	struct ttnn_value value;
};

struct tt_recipe {
	const char *text;
	const struct ttnn_memory_config *memory; /* (optional) */
	const struct tt_recipe_name *names;      /* (optional) */
	size_t name_count;
};

/* Runs it; what it returns are the call's results. */
tt_status tt_recipe_run(struct tt_call *call, const struct tt_recipe *recipe);

/* The same for a text with these names, in the memory config that the call was given. */
tt_status tt_recipe_compose(struct tt_call *call, const char *text,
			    const struct tt_recipe_name *names, size_t name_count);

#endif
