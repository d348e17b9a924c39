/* what bindings to other languages need: tables, objects, texts of values, borrowed bytes, parts */
#include "test.h"

#include <ttnn_frontend.h>

#include "ops/objects.h"
#include "ops/op.h"

static const char *gives(const char *name)
{
	struct ttnn_op_info info;

	ttnn_op_get_info(&info, ttnn_op_find(name));
	return info.gives;
}

TEST(what_operations_give)
{
	struct ttnn_results results = {.count = 3, .extents = {1, {64}}};
	struct ttnn_results_room room;
	struct ttnn_value value;

	CHECK(strcmp(gives("ttnn.relu"), "Tensor") == 0);
	CHECK(strcmp(gives("ttnn.split"), "[Tensor]") == 0);
	CHECK(strcmp(gives("ttnn.conj"), "Complex") == 0);
	CHECK(strcmp(gives("ttnn.conj_bw"), "[Complex]") == 0);
	CHECK(strcmp(gives("ttnn.conv1d"), "Tensor, int, (Tensor, Tensor)") == 0);
	value = ttnn_results_value(&room, &results, ttnn_op_find("ttnn.conv1d"));
	CHECK(value.kind == TTNN_VALUE_LIST && value.count == 3);
	CHECK(value.items[1].kind == TTNN_VALUE_INT && value.items[1].integer == 64);
	CHECK(value.items[2].kind == TTNN_VALUE_LIST && value.items[2].count == 2);
	/* What was not asked for is left out; one part is no tuple. */
	results.extents = (struct ttnn_shape){2, {8, 9}};
	results.count = 1;
	value = ttnn_results_value(&room, &results, ttnn_op_find("ttnn.conv2d"));
	CHECK(value.count == 2 && value.items[1].items[1].integer == 9);
	results.extents.rank = 0;
	value = ttnn_results_value(&room, &results, ttnn_op_find("ttnn.conv2d"));
	CHECK(value.kind != TTNN_VALUE_LIST);
	value = ttnn_results_value(&room, &results, ttnn_op_find("ttnn.split"));
	CHECK(value.kind == TTNN_VALUE_LIST && value.count == 1);
}

TEST(all_operations_and_their_signatures_can_be_listed)
{
	struct ttnn_op_info info;
	const ttnn_op *op;
	const char *of;
	char *text;
	size_t i;

	for (i = 0; (op = ttnn_op_at(i)); i++) {
		ttnn_op_get_info(&info, op);
		CHECK(ttnn_op_find(info.name) == op);
		CHECK(info.signatures > 0 && *info.doc);
		for (size_t k = 0; k < info.signatures; k++) {
			CHECK_OK(ttnn_op_signature(&text, op, k));
			CHECK(strchr(text, '(') && text[strlen(text) - 1] == ')');
			ttnn_free(text);
		}
		CHECK(ttnn_op_signature(&text, op, info.signatures) == TTNN_NOTFOUND);
	}
	CHECK(i > 200);
	CHECK_STR(ttnn_op_alias(&of, 0) ? of : "", "ttnn.divide_");
	CHECK(ttnn_op_find("ttnn.nothing") == NULL);
}

/* Two tables of the same name would be two types to a signature. */
TEST(enumerations_have_names_of_their_own)
{
	const char *module, *name;
	const ttnn_enum *a, *b;
	int64_t value;

	for (size_t i = 0; (a = ttnn_enum_at(&module, i)); i++) {
		CHECK(ttnn_enum_member(&name, &value, a, 0));
		for (size_t k = 0; k < i; k++) {
			b = ttnn_enum_at(&module, k);
			if (strcmp(ttnn_enum_name(a), ttnn_enum_name(b)) == 0)
				TEST_FAIL("two enumerations are called %s", ttnn_enum_name(a));
		}
	}
}

/* A frontend's members are those that signatures ask for. */
TEST(enumerations_of_signatures_are_listed)
{
	const struct tt_enum *wanted;
	const ttnn_enum *listed;
	const char *module;
	bool more;

	for (size_t i = 0; wanted = tt_arg_type_enum(&more, i), more; i++) {
		bool found = wanted == NULL;

		for (size_t k = 0; (listed = ttnn_enum_at(&module, k)); k++)
			found |= listed == wanted;
		if (!found)
			TEST_FAIL("enum_list.c lacks %s", wanted->name);
	}
}

TEST(objects_are_made_changed_and_printed)
{
	struct ttnn_arg args[] = {{"op_type", tt_value_enum(&tt_enum_math_fidelity, 0)}};
	struct ttnn_value value = ttnn_v_bool(true);
	const char *module;
	ttnn_object *object;
	char *text;

	CHECK_OK(ttnn_object_new(&object, "WormholeComputeKernelConfig", NULL, 0));
	CHECK_STR(ttnn_object_field(object, 3), "packer_l1_acc");
	CHECK_OK(ttnn_object_set(object, "packer_l1_acc", &value));
	CHECK(ttnn_object_value(object).items[3].boolean);
	value = ttnn_v_string("no");
	CHECK(ttnn_object_set(object, "packer_l1_acc", &value) == TTNN_TYPE);
	CHECK(ttnn_object_value(object).items[3].boolean);
	CHECK(ttnn_object_set(object, "nothing", &value) == TTNN_NOTFOUND);
	value = ttnn_object_value(object);
	CHECK_OK(ttnn_value_json(&text, &value, TTNN_DIALECT_SEED));
	CHECK(strstr(text, "\"packer_l1_acc\":true"));
	ttnn_free(text);
	ttnn_object_free(object);
	CHECK(ttnn_object_new(&object, "Nothing", args, 1) == TTNN_NOTFOUND);
	for (size_t i = 0; ttnn_object_kind(&module, i); i++)
		CHECK(tt_object_known(ttnn_object_kind(&module, i)));
}

static int released;

static void release(void *owner)
{
	released += *(int *)owner;
}

TEST(borrowed_bytes_are_released_once)
{
	struct ttnn_spec_args args = {.shape = {2, {2, 2}}, .dtype = TTNN_FLOAT32};
	static const float data[] = {1, 2, 3, 4};
	struct ttnn_tensor_spec spec;
	ttnn_tensor *tensor, *view;
	int one = 1;

	released = 0;
	CHECK_OK(ttnn_tensor_spec_make(&spec, &args));
	CHECK_OK(ttnn_tensor_borrow(&tensor, data, &spec, release, &one));
	CHECK(ttnn_tensor_bytes(tensor) == (const void *)data);
	CHECK_OK(ttnn_tensor_view(&view, tensor, &(struct ttnn_shape){1, {4}}));
	ttnn_tensor_drop(tensor);
	CHECK_INT(released, 0);
	ttnn_tensor_drop(view);
	CHECK_INT(released, 1);
}

TEST(closing_waits_for_nobody_when_nobody_is_there)
{
	struct ttnn_device_options options = {.profile = "n150"};
	struct ttnn_memory_block *blocks;
	ttnn_device *device;
	size_t count;

	CHECK_OK(ttnn_device_open(&device, 0, &options));
	CHECK_OK(ttnn_device_blocks(&blocks, &count, device, TTNN_L1));
	CHECK(count == 1 && blocks[0].address == 0 && !blocks[0].allocated);
	ttnn_free(blocks);
	ttnn_device_close(device);
	ttnn_device_unref(device);
}

TEST(golden_functions_give_host_tensors)
{
	struct ttnn_spec_args args = {.shape = {2, {2, 2}}, .dtype = TTNN_FLOAT32};
	struct ttnn_arg arg = {.name = NULL};
	struct ttnn_results results;
	struct ttnn_tensor_spec spec;
	ttnn_tensor *tensor;

	CHECK_OK(ttnn_tensor_spec_make(&spec, &args));
	CHECK_OK(ttnn_tensor_new(&tensor, &spec));
	arg.value = ttnn_v_tensor(tensor);
	CHECK_OK(ttnn_op_golden(&results, ttnn_op_find("ttnn.exp"), &arg, 1));
	CHECK(*(const float *)ttnn_tensor_bytes(results.tensors[0]) == 1.0F);
	ttnn_tensor_drop(results.tensors[0]);
	CHECK(ttnn_op_golden(&results, ttnn_op_find("ttnn.deallocate"), &arg, 1) ==
	      TTNN_UNSUPPORTED);
	ttnn_tensor_drop(tensor);
}

/* ---- without memory ---------------------------------------------------------------------------------- */

SCENARIO(object)
{
	struct ttnn_value params[] = {ttnn_v_real(0.5)}, value;
	struct ttnn_arg args[] = {{"op_type", ttnn_v_enum(&tt_enum_math_fidelity, 2)},
				  {"params", ttnn_v_list(params, 1)}};
	ttnn_object *made;
	char *text = NULL;
	tt_status status;

	TT_TRY(ttnn_object_new(&made, "UnaryWithParam", args, 2));
	value = ttnn_v_list(params, 0);
	status = ttnn_object_set(made, "params", &value);
	value = ttnn_object_value(made);
	if (status == TTNN_OK)
		status = ttnn_value_text(&text, &value);
	ttnn_free(text);
	text = NULL;
	if (status == TTNN_OK)
		status = ttnn_value_json(&text, &value, TTNN_DIALECT_SEED);
	ttnn_free(text);
	ttnn_object_free(made);
	return status;
}

SCENARIO(parts)
{
	struct ttnn_spec_args args = {.shape = {2, {2, 2}}, .dtype = TTNN_FLOAT32};
	struct ttnn_placement placements[] = {{false, 0}, {true, 1}};
	struct ttnn_shape mesh = {2, {1, 2}}, one = {2, {1, 1}};
	ttnn_tensor *parts[2] = {NULL}, *all = NULL;
	struct ttnn_topology topology;
	struct ttnn_tensor_spec spec;
	tt_status status;

	TT_TRY(ttnn_tensor_spec_make(&spec, &args));
	status = ttnn_tensor_new(&parts[0], &spec);
	if (status == TTNN_OK)
		status = ttnn_tensor_new(&parts[1], &spec);
	if (status == TTNN_OK)
		status = ttnn_tensor_gather(&all, parts, &mesh, &mesh, placements);
	if (status == TTNN_OK) {
		ttnn_tensor_get_topology(&topology, all);
		CHECK(topology.coords == 2 && ttnn_tensor_placement(all, 1).dim == 1);
		CHECK(ttnn_tensor_coord(all, 1).dim[1] == 1);
		CHECK(ttnn_tensor_gather(&all, parts, &one, &mesh, placements) == TTNN_INVALID);
	}
	ttnn_tensor_unref(all);
	ttnn_tensor_unref(parts[0]);
	ttnn_tensor_unref(parts[1]);
	return status;
}
