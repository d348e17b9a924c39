/*
 * devtensor.h: tensors whose data is on a device: a spec, and a buffer in the device's memory
 * (device/buffer.h) with bytes for each chip.
 */
#ifndef TT_DEVICE_DEVTENSOR_H
#define TT_DEVICE_DEVTENSOR_H

#include "device/buffer.h"
#include "tensor/tensor.h"

struct tt_device;

/* What this thread's calls do: read by the operation layer and when a buffer is made. */
enum ttnn_run_mode tt_run_mode(void);
/* Returns the mode before. */
enum ttnn_run_mode tt_run_mode_set(enum ttnn_run_mode mode);

/*
 * Whether this thread runs operations again whose results have their places already: buffers that it
 * makes get none, and none that has one is given back. Setting it returns what it was before.
 */
bool tt_rerunning(void);
bool tt_rerunning_set(bool on);

/*
 * Whether this thread only asks what an operation would say (tt_call_rehearse()): it finds no programs in caches and
 * counts none. Setting it returns what it was before.
 */
bool tt_asking(void);
bool tt_asking_set(bool on);

/*
 * How many dry captures this thread has inside a real one. What runs is told to them as a dry run
 * would tell it, too. Returns the number after `more` were added.
 */
int tt_run_rehearsals(int more);

/*
 * A tensor of values that are not set. In a dry run its buffer has no memory, and no address
 * unless ttnn_set_dry_addresses() asks for one. Closed devices make none, not even empty ones.
 */
tt_status tt_device_tensor_new(struct tt_tensor **out, struct tt_device *device,
			       const struct ttnn_tensor_spec *spec);

/*
 * A tensor with the bytes and the address of another, which owns neither: for moving what lies in a
 * place that is given back before. Make it before the other one is deallocated.
 */
tt_status tt_device_tensor_ghost(struct tt_tensor **out, struct tt_tensor *tensor);

/* A tensor of this spec in a buffer that is there: spread as `like` is, or (NULL) on one chip. */
tt_status tt_device_tensor_in(struct tt_tensor **out, struct tt_buffer *buffer, uint32_t chip,
			      const struct ttnn_tensor_spec *spec,
			      const struct tt_mesh_layout *like);

/* A tensor of this spec in a part of the buffer of another: on the same chips, spread the same way. */
tt_status tt_device_tensor_part(struct tt_tensor **out, struct tt_tensor *tensor,
				const struct ttnn_tensor_spec *spec,
				const struct tt_buffer_part *part);

/* The same for buffers. Of the same number of bytes. */
tt_status tt_buffer_adopt(struct tt_buffer *buffer, struct tt_buffer *from);

/* Gives a tensor the bytes of another of the same size, without copying them. */
tt_status tt_device_tensor_adopt(struct tt_tensor *tensor, struct tt_tensor *from);

/* The device of a tensor, or NULL: on the host, or the device was closed. Borrowed. */
struct tt_device *tt_tensor_device(const struct tt_tensor *tensor);

/* The buffer of a tensor, or NULL: on the host, or deallocated. Borrowed. */
struct tt_buffer *tt_tensor_buffer(const struct tt_tensor *tensor);

/* Whether a tensor is the only one in its buffer: none is a view of it, or shares it otherwise. */
bool tt_tensor_is_sole(const struct tt_tensor *tensor);

/* Gives up the tensor and its memory, whoever shares it; nothing on the host. */
void tt_tensor_give_up(struct tt_tensor *tensor);

/* Whether giving up this reference frees the buffer. */
bool tt_tensor_owns_alone(const struct tt_tensor *tensor);

/* How many chips hold a part of the tensor; 1 on the host. */
uint32_t tt_tensor_chips(const struct tt_tensor *tensor);

/*
 * The part on one chip as a tensor whose bytes are at hand, for a backend to read or write; a host
 * tensor is itself. A tensor of one part is that part, wherever it lies. The caller's to unref. What
 * is written through it is the device tensor's.
 */
tt_status tt_tensor_resident(struct tt_tensor **out, struct tt_tensor *tensor, uint32_t chip,
			     enum tt_buffer_access access);

/* The logical elements of the first part, in row-major order, as numbers. */
tt_status tt_tensor_numbers(double *out, uint64_t count, struct tt_tensor *tensor);

#endif
