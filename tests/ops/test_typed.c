/* the typed functions of ttnn_ops.h: what they pass on, and what they leave out */
#include "test.h"

#include <ttnn_ops.h>

#include "device/devtensor.h"

static ttnn_device *device;

TEST(parameters_and_options_arrive)
{
	struct ttnn_shape shape = {2, {32, 64}};
	struct ttnn_memory_config l1 = {.buffer = TTNN_L1};
	ttnn_tensor *tensor = NULL;
	const struct ttnn_tensor_spec *spec;

	CHECK_OK(ttnn_device_open(&device, 0, &(struct ttnn_device_options){.profile = "n150"}));
	CHECK_OK(ttnn_full(&tensor, &shape, 3,
			   &(struct ttnn_full_options){.dtype = ttnn_v_dtype(TTNN_FLOAT32),
						       .layout = ttnn_v_layout(TTNN_TILE),
						       .device = ttnn_v_device(device),
						       .memory_config = ttnn_v_memory(&l1)}));
	spec = ttnn_tensor_get_spec(tensor);
	CHECK_INT(spec->dtype, TTNN_FLOAT32);
	CHECK_INT(spec->layout, TTNN_TILE);
	CHECK_INT(spec->memory.buffer, TTNN_L1);
	CHECK(ttnn_shape_equal(&spec->shape, &shape));
	CHECK(tt_tensor_device(tensor) == device);
	ttnn_tensor_unref(tensor);
}

TEST(options_may_be_left_out)
{
	struct ttnn_shape shape = {1, {5}};
	ttnn_tensor *tensor = NULL;

	CHECK_OK(ttnn_zeros(&tensor, &shape, NULL));
	CHECK_INT(ttnn_tensor_get_spec(tensor)->dtype, TTNN_BFLOAT16);
	ttnn_tensor_unref(tensor);
	CHECK_OK(ttnn_zeros(&tensor, &shape,
			    &(struct ttnn_zeros_options){.dtype = ttnn_v_dtype(TTNN_BFLOAT16)}));
	CHECK_INT(ttnn_tensor_get_spec(tensor)->layout, TTNN_ROW_MAJOR);
	ttnn_tensor_unref(tensor);
}

TEST(a_second_signature_has_a_name_of_its_own)
{
	ttnn_tensor *tensor = NULL;

	CHECK_OK(ttnn_arange(&tensor, 2, 8, NULL));
	CHECK_INT(ttnn_tensor_get_spec(tensor)->shape.dim[0], 6);
	ttnn_tensor_unref(tensor);
	CHECK_OK(ttnn_arange_2(&tensor, 8, NULL));
	CHECK_INT(ttnn_tensor_get_spec(tensor)->shape.dim[0], 8);
	ttnn_tensor_unref(tensor);
}

TEST(results_of_any_number)
{
	struct ttnn_shape shape = {2, {32, 32}};
	ttnn_tensor *tensor = NULL, *host = NULL;
	struct ttnn_results none;

	CHECK_OK(ttnn_ones(&tensor, &shape,
			   &(struct ttnn_ones_options){.device = ttnn_v_device(device)}));
	CHECK_OK(ttnn_method_cpu(&host, tensor, NULL));
	CHECK(!tt_tensor_device(host));
	CHECK_OK(ttnn_deallocate(&none, tensor, NULL));
	CHECK_INT(none.count, 0);
	ttnn_tensor_unref(host);
	ttnn_tensor_unref(tensor);
	ttnn_device_unref(device);
}
