#include "trace/box_kinds.h"

#include <string.h>

enum tt_box_kind tt_box_kind_of_call(const char *name)
{
	if (strstr(name, "create_device_tensor"))
		return TT_BOX_CREATE;
	if (strstr(name, "deallocate"))
		return TT_BOX_RELEASE;
	if (strstr(name, "::prim::") ||
	    (!strstr(name, "::") && !strstr(name, "ttnn.") && !strstr(name, "(torch)") && *name))
		return TT_BOX_DEVICE;
	return strncmp(name, "ttnn", 4) == 0 ? TT_BOX_OPERATION : TT_BOX_HOST;
}
