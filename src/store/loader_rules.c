/*
 * loader_rules.c: which parameters the suites of an operation have. Names and order are those of the original loader of
 * November 2025; where that one lost what was traced (data types, layouts and memory of linear and others,
 * asymmetric padding, memory of outputs), these fields keep it.
 *
 * A column is NAME=FIELD@PLACE: fields are those of loader_field.c, places by number are arguments ("0.1": item 1 of a
 * list in argument 0), "t0" is the first of the tensors among the arguments.
 */
#include <string.h>

#include "base/str.h"
#include "store/loader.h"

/* Padding as [[before, behind], ...]; else it is the padded shape and where the tensor goes. */
static bool pads_by_sides(const struct tt_loader_call *call)
{
	const char *text = tt_json_string(tt_loader_arg(call->args, 1), NULL);

	if (text)
		return strncmp(text, "[[", 2) == 0;
	return tt_json_kind(tt_json_at(tt_loader_arg(call->args, 1), 0)) == TT_JSON_ARRAY;
}

/* The five inputs of paged attention. */
#define PAGED_INPUT(letter, arg)                                                                   \
	"input_" letter "_dtype=dtype@" arg " input_" letter "_layout=layout@" arg                 \
	" input_" letter "_memory_config=memory@" arg " "

#define ONE_INPUT                                                                                  \
	"input_shape=shape@0 input_a_dtype=dtype@0 input_a_layout=layout@0 "                       \
	"input_a_memory_config=memory@0 "

/* To add one: a row. */
static const struct tt_loader_rule rules[] = {
	{"conv2d", true, "input_specs=conv2d is_conv1d=false", NULL, NULL},
	{"linear", true,
	 "input_shape=shape@0 weight_shape=shape@1 bias_shape=maybe_shape@2 input_a_dtype=dtype@0 "
	 "input_b_dtype=dtype@1 input_a_layout=layout@0 input_b_layout=layout@1 "
	 "input_a_memory_config=memory@0 input_b_memory_config=memory@1 "
	 "output_memory_config=memory@5,0 transpose_a=bool@3 transpose_b=bool@4 has_bias=given@2",
	 NULL, NULL},
	{"embedding", true,
	 "embedding_args=lookup input_dtype=dtype@0 weight_dtype=dtype@1 output_dtype=dtype@1 "
	 "input_layout=layout@0 weight_layout=layout@1 input_memory_config=memory@0 "
	 "weight_memory_config=memory@1 output_memory_config=memory@6,1",
	 NULL, NULL},
	{"concat", true,
	 "input_shape=shapes@0.* dim=int@1 input_a_dtype=dtype@0.0 input_a_layout=layout@0.0 "
	 "input_a_memory_config=memory@0.0 input_b_dtype=dtype@0.1 input_b_layout=layout@0.1 "
	 "input_b_memory_config=memory@0.1 output_memory_config=memory@2,0.0",
	 NULL, NULL},
	{"nlp_create_qkv_heads", true,
	 ONE_INPUT "num_q_heads=int@2 num_kv_heads=int@3 output_memory_config=memory@5,0", NULL,
	 NULL},
	{"nlp_create_qkv_heads_decode", true,
	 ONE_INPUT "num_heads=int@1 num_kv_heads=int@2 output_memory_config=memory@6,0", NULL,
	 NULL},
	{"paged_scaled_dot_product_attention_decode", true,
	 "input_shape=shapes@0,1,2,3,6 " PAGED_INPUT("a", "0") PAGED_INPUT("b", "1")
		 PAGED_INPUT("c", "2") PAGED_INPUT("d", "3")
			 PAGED_INPUT("e", "6") "output_memory_config=memory@10,0",
	 NULL, NULL},
	/* One tensor, and more. */
	{"permute", false, "dims=ints@1", NULL, NULL},
	{"transpose", false, "dim0=int@1 dim1=int@2", NULL, NULL},
	{"reshape", false, "target_shape=target", NULL, NULL},
	{"typecast", false, "output_dtype=type@1", NULL, NULL},
	{"pad", false, "output_padded_shape=padded input_tensor_start=pad_start value=pad_value",
	 pads_by_sides, "padding=padding value=pad_value"},
	{"untilize_with_unpadding", false, "output_memory_config=unsharded@t0 end_shape=ints@1",
	 NULL, NULL},
	{"tilize_with_val_padding", false, "padded_shape=ints@1 pad_value=number@2", NULL, NULL},
	{"nlp_concat_heads_decode", false, "num_heads=int@1", NULL, NULL},
	{"sharded_to_interleaved", false, "output_memory_config=dram", NULL, NULL},
	{"all_gather_async", false, "output_memory_config=memory@5,t0", NULL, NULL},
	{"max_pool2d", false,
	 "batch_size=int@1 input_h=int@2 input_w=int@3 channels=int@4 kernel_size=ints@5 "
	 "stride=ints@6 padding=ints@7 dilation=ints@8",
	 NULL, NULL},
	{"upsample", false, "scale_factor=any@1 mode=text@2", NULL, NULL},
};

const struct tt_loader_rule *tt_loader_rule(const char *op)
{
	const char *bare = op;

	for (const char *at = op; *at; at++)
		if (*at == ':' || *at == '.')
			bare = at + 1;
	for (size_t i = 0; i < TT_COUNT(rules); i++)
		if (strcmp(rules[i].op, bare) == 0)
			return &rules[i];
	return NULL;
}

const char *tt_loader_usual(size_t *cases, struct tt_arena *arena, size_t tensors)
{
	struct tt_str text = {0};
	const char *copy;

	if (tensors <= 1) {
		*cases = 5;
		return "input_shape=shape@t0 input_a_dtype=dtype@t0 input_a_layout=layout@t0 "
		       "input_a_memory_config=memory@t0 output_memory_config=memory@t0 "
		       "storage_type=storage@t0";
	}
	if (tensors == 2) {
		*cases = 7;
		return "input_shape=pair@t0,t1 input_a_dtype=dtype@t0 input_b_dtype=dtype@t1 "
		       "input_a_layout=layout@t0 input_b_layout=layout@t1 "
		       "input_a_memory_config=memory@t0 input_b_memory_config=memory@t1 "
		       "output_memory_config=memory@t0";
	}
	tt_str_adds(&text, "input_shape=shapes");
	for (size_t i = 0; i < tensors; i++)
		tt_str_addf(&text, "%ct%zu", i ? ',' : '@', i);
	for (size_t i = 0; i < tensors; i++)
		tt_str_addf(&text,
			    " input_%c_dtype=dtype@t%zu input_%c_layout=layout@t%zu "
			    "input_%c_memory_config=memory@t%zu",
			    (int)('a' + i), i, (int)('a' + i), i, (int)('a' + i), i);
	*cases = 1 + 3 * tensors;
	copy = tt_str_status(&text) == TTNN_OK ? tt_arena_strdup(arena, tt_str_text(&text)) : NULL;
	tt_str_deinit(&text);
	return copy;
}
