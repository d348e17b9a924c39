/*
 * vectors.c: any text as a vector file, and as a list of vectors. What is accepted is made a plan; a vector file of that plan,
 * read again, has the same vectors. Each vector is bound as far as that goes without tensors.
 */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "scratch.h"
#include "sweep/inputs.h"
#include "sweep/plan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good)
{
	if (!good)
		abort();
}

/* Its arguments are whatever they are: they may be refused, never more. */
static void bind(const struct tt_plan *plan, const struct tt_plan_vector *vector)
{
	struct tt_traced_config config;
	struct tt_json_doc *doc = NULL;
	struct tt_inputs inputs = {0};
	struct tt_arena arena = {0};
	struct tt_str text = {0};
	bool applies;

	check(tt_plan_config(&config, &doc, plan, vector) == TTNN_OK);
	if (tt_op_registry() == TTNN_OK && tt_op_find(config.op)) {
		struct tt_call_source source = tt_call_of_config(&config);

		(void)!tt_inputs_survey(&inputs, &arena, &source);
	}
	(void)!tt_mutate(&text, &applies, config.args, (struct tt_mutation){{1, 2, 0, 1}});
	tt_str_deinit(&text);
	tt_json_free(doc);
	tt_arena_deinit(&arena);
}

static void again(const struct tt_plan *plan)
{
	for (size_t i = 0; i < plan->vectors.count && i < 100; i++) {
		const struct tt_plan_vector *vector = &plan->vectors.data[i];
		struct tt_vector_suite suite = {
			.module = plan->configs.data[vector->config].traced.op,
			.name = vector->suite,
			.tag = "",
			.count = 1};
		struct tt_vectors_saved saved;
		struct tt_vector_file file;
		struct tt_vector one = {.invalid = vector->invalid, .reason = vector->reason};
		struct tt_str params = {0};

		check(tt_plan_params(&params, plan, vector) == TTNN_OK);
		one.params = tt_str_text(&params);
		one.length = params.length;
		suite.vectors = &one;
		unlink(scratch(1));
		check(tt_vectors_save(&saved, scratch(1), &suite) == TTNN_OK && saved.count == 1);
		check(tt_vector_file_open(&file, scratch(1)) == TTNN_OK && file.count == 1);
		tt_vector_file_close(&file);
		tt_str_deinit(&params);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tt_plan plan = {0};
	size_t others = 0;

	check(tt_file_save(scratch(0), data, size) == TTNN_OK);
	if (tt_plan_is_list(scratch(0)))
		(void)!tt_plan_add_list(&plan, scratch(0), &(struct tt_plan_options){0});
	else
		(void)!tt_plan_add_vectors(&plan, &others, scratch(0),
					   &(struct tt_plan_options){0});
	for (size_t i = 0; i < plan.vectors.count; i++)
		bind(&plan, &plan.vectors.data[i]);
	again(&plan);
	tt_plan_deinit(&plan);
	return 0;
}
