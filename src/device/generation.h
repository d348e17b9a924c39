/* generation.h: which chip a device is, and which release it behaves like, where programs differ. */
#ifndef TT_DEVICE_GENERATION_H
#define TT_DEVICE_GENERATION_H

#include <string.h>

#include "device/device.h"

/* Whether the device is a Blackhole. */
static inline bool tt_is_blackhole(const struct tt_device *device)
{
	return strcmp(device->info.arch_family, "blackhole") == 0;
}

/* Whether it behaves like the older release; NULL does not. */
static inline bool tt_is_classic(const struct tt_device *device)
{
	return device && device->setup.generation == TTNN_GENERATION_CLASSIC;
}

#endif
