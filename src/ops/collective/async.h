/*
 * async.h: programs of collectives that take the caller's semaphores (async_program.c), for the operations that launch them
 * (async.c) and for those that multiply besides (fused_matmul.c).
 */
#ifndef TT_OPS_COLLECTIVE_ASYNC_H
#define TT_OPS_COLLECTIVE_ASYNC_H

#include "ops/collective/collective.h"

/* In the order in which ReduceScatterMinimalAsyncParams prints them; the others print nothing but their name. */
#define TT_ASYNC_ATTRS(X)                                                                          \
	X(TT_ASYNC_DIM, "dim")                                                                     \
	X(TT_ASYNC_LINKS, "num_links")                                                             \
	X(TT_ASYNC_SIZE, "ring_size")                                                              \
	X(TT_ASYNC_MEMORY, "output_mem_config")                                                    \
	X(TT_ASYNC_BETWEEN, "optional_intermediate_mem_config")                                    \
	X(TT_ASYNC_TOPOLOGY, "topology")                                                           \
	X(TT_ASYNC_SEMAPHORES, "semaphore", .text = TT_TEXT_EACH, .fixed = "<GlobalSemaphore>",    \
	  .unkeyed = true)                                                                         \
	X(TT_ASYNC_BARRIER, "barrier_semaphore", .text = TT_TEXT_FIXED,                            \
	  .fixed = "<GlobalSemaphore>", .unkeyed = true)                                           \
	X(TT_ASYNC_PERSISTENT, "using_persistent_buffers")                                         \
	X(TT_ASYNC_SUB_DEVICE, "sub_device_id", .text = TT_TEXT_ALWAYS, .fixed = "<StrongType>")   \
	X(TT_ASYNC_AXIS, "cluster_axis")                                                           \
	X(TT_ASYNC_CHUNKS, "chunks_per_sync")                                                      \
	X(TT_ASYNC_WORKERS, "num_workers_per_link")                                                \
	X(TT_ASYNC_BUFFERS, "num_buffers_per_channel")                                             \
	X(TT_ASYNC_COMPUTE, "compute_kernel_config")                                               \
	X(TT_ASYNC_MESH, "mesh_shape")                                                             \
	X(TT_ASYNC_NODES, "fabric_node_ids")                                                       \
	X(TT_ASYNC_REVERSED, "reverse_order", .unprinted = true)                                   \
	X(TT_ASYNC_DTYPE, "dtype", .unprinted = true)                                              \
	X(TT_ASYNC_OFFSET, "core_grid_offset", .unprinted = true)
enum { TT_ASYNC_ATTRS(TT_ATTR_ID) TT_ASYNC_COUNT };

/* Of parts; of sums, whose second output is the result; of sums through a buffer, the second input. */
extern const struct tt_prog tt_prog_gather_async, tt_prog_scatter_async, tt_prog_reduce_async;

/* What these programs are told besides the call's arguments. */
struct tt_async_request {
	struct tt_tensor *in;
	int64_t dim;
	const struct ttnn_memory_config *memory;
	const struct ttnn_value *semaphores, *barrier;
	bool reversed;
};

/* Fills their attributes. */
tt_status tt_async_bind(struct ttnn_value *attrs, struct tt_call *call,
			const struct tt_async_request *request);
/* Gathers into a given tensor or a new one; scatters sums, and gives up what was on the way. */
tt_status tt_async_gather(struct tt_tensor **out, struct tt_call *call,
			  const struct tt_async_request *request, struct tt_tensor *given);
tt_status tt_async_scatter(struct tt_tensor **out, struct tt_call *call,
			   const struct tt_async_request *request);
/* The tensor is on a mesh that has the axis. */
tt_status tt_async_on_mesh(const struct tt_call *call, const struct tt_tensor *in);

/* What a ring has on the way when sums are scattered: chunks of tiles for every member, and for one. */
tt_status tt_ring_specs(struct ttnn_tensor_spec out[2], const struct tt_tensor *input, uint32_t dim,
			uint32_t size, bool fp32);
/* Whether it has these: not along batches. */
bool tt_ring_has_chunks(bool ring, uint32_t dim, uint32_t rank);

/* What scatters sums over chips as a line or a ring does: the buffers of its senders; the second output of a chip. */
tt_status tt_scatter_memory(struct tt_plan *plan, const struct tt_launch *launch);
tt_status tt_serve_scatter(struct tt_tensor *out, const struct tt_launch *launch, uint32_t chip,
			   const struct tt_group *group);
/* How many senders it has for each link and direction: as many as the launch says, or as its bytes are worth. */
uint32_t tt_scatter_workers(const struct tt_launch *launch);
/* How sums of this tensor are computed: as the call says, or in float32; None: as usual. */
struct ttnn_value tt_sum_compute(struct tt_call *call, const struct tt_tensor *in);

#endif
