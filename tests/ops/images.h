/*
 * images.h: what the tests of pools and convolutions share: a device with room for tables, and images.
 * Include it after golden_cases.h.
 */
#ifndef TT_TESTS_OPS_IMAGES_H
#define TT_TESTS_OPS_IMAGES_H

/* The device of the golden tests, with a small part of L1 for the tables that windows need. */
static inline ttnn_device *image_device(void)
{
	if (!golden_opened)
		CHECK_OK(ttnn_device_open(&golden_opened, 0,
					  &(struct ttnn_device_options){.profile = golden_profile,
									.l1_small_size = 32768}));
	return golden_opened;
}

/* Images of n × h × w elements in rows, with c channels. */
static inline ttnn_tensor *image_make(const uint32_t nhwc[4], enum ttnn_dtype dtype,
				      enum ttnn_layout layout, uint64_t *state)
{
	struct ttnn_spec_args spec = {.shape = {4, {1, 1, nhwc[0] * nhwc[1] * nhwc[2], nhwc[3]}},
				      .dtype = dtype,
				      .layout = layout};

	image_device();
	return golden_make(&spec, state, -2, 2);
}

/* A list of two numbers, in `items`. */
static inline struct ttnn_value image_pair(struct ttnn_value items[2], uint32_t a, uint32_t b)
{
	items[0] = ttnn_v_int(a);
	items[1] = ttnn_v_int(b);
	return ttnn_v_list(items, 2);
}

#endif
