/*
 * creation.h: the room of tensors that come from nothing or from the host.
 *
 *	creation        zeros, ones, full, arange and their kin
 *	random_ops      random values
 *	fill_pad        values put into what is there: padding, corners
 *	from_data       from data, cut for a mesh or not
 *	transfer        to a device and back, other types on the host, giving up
 *
 * All of this header is for other rooms, whose operations take the same way where upstream's do: what happens to
 * a tensor without a program (transfer.c).
 */
#ifndef TT_OPS_CREATION_CREATION_H
#define TT_OPS_CREATION_CREATION_H

#include <ttnn_frontend.h>

#include "ops/op.h"

/*
 * A host tensor that is recorded but never read: it has no bytes. For operations whose values are
 * made where they are needed, on the device.
 */
tt_status tt_host_hollow(struct tt_tensor **out, const struct ttnn_tensor_spec *spec);

/*
 * How something is spread, as attributes of programs tell it: the placements for the extents of its distribution,
 * the devices of its mesh. The text lives as long as the call.
 */
tt_status tt_topology_text(struct ttnn_value *out, struct tt_call *call,
			   const struct ttnn_topology *spread,
			   const struct ttnn_placement *placements);

/*
 * The scope "Tensor::to_device": a tensor on the device with these bytes, or a hollow one's spec and
 * no values. `memory` NULL: as the tensor's own config says. One that is on a device stays.
 */
tt_status tt_host_to_device(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *tensor,
			    struct tt_device *device, const struct ttnn_memory_config *memory);
/* The same for a table of a program, whose place upstream does not choose. */
tt_status tt_host_table_to_device(struct tt_tensor **out, struct tt_call *call,
				  struct tt_tensor *tensor, struct tt_device *device);

/* The scope "Tensor::cpu": the bytes of a device tensor on the host. One on the host stays. */
tt_status tt_host_from_device(struct tt_tensor **out, struct tt_call *call,
			      struct tt_tensor *tensor);

/* The scope "tt::tt_metal::to_dtype": other numbers in the same places, on the host. */
tt_status tt_host_to_dtype(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *tensor,
			   enum ttnn_dtype dtype);

/* The scope "tt::tt_metal::copy_to_device": the bytes of a host tensor into a device tensor. */
tt_status tt_host_copy_to_device(struct tt_call *call, struct tt_tensor *host,
				 struct tt_tensor *device);

/* What upstream prints for an argument whose value it cannot show. */
static inline struct ttnn_value tt_optional_text(void)
{
	return (struct ttnn_value){.kind = TTNN_VALUE_OPAQUE, .text = "<optional>"};
}

/* The same numbers; rounding to the type is the acceptance bound's business. */
struct tt_golden;
tt_status tt_golden_transfer(struct tt_golden *golden);

/* Refusals in upstream's words. */
tt_status tt_need_device(const struct tt_tensor *tensor);
tt_status tt_need_host(const struct tt_tensor *tensor);

#endif
