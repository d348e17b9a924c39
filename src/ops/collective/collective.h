/*
 * collective.h: the room of operations in which chips of a mesh give each other their data.
 *
 *	collective      groups of chips, and the parts that they get of each other
 *	all_gather, reduce_scatter, direct, all_reduce, broadcast, partition, send, high_bw
 *	                operations of their names; composite: what they are made of where no program can do it
 *	async           the same with semaphores of the caller's; async_program, its programs
 *	regroup         everybody's parts to everybody, another cut of a dimension
 *	neighbors       rows of the chips before and behind
 *	exchange        tokens to experts and back; remap, their scores; root, states to one chip
 *	moe_scatter     sums of experts in a ring; dispatch_metadata, tokens to experts with their scores;
 *	                reduce_combine, what experts made of them back;
 *	                moe_gpt, what they make (moe_gpt_run); moe_compute the same for other extents (moe_compute_run),
 *	                moe_work whose tokens are whose, moe_places on which cores
 *	links           what they ask of the fabric
 *	placements      how their results are spread over the mesh
 *	ring_gather     parts of several tensors from the others; ring_workers, who sends them
 *	strided_scatter sums in the order in which a product gives its blocks
 *	fused           programs made of a collective and something else: fused_matmul, fused_minimal, fused_strided and
 *	                fused_strided_scatter with products, fused_norm and fused_rms with norms, llama_reduce,
 *	                llama_gather and llama_heads with heads, llama_matmul and llama_gather_matmul with products
 *
 * What these files share, and attention with them, is which chips take part together: all, or those of one row or
 * column of the mesh (cluster_axis).
 */
#ifndef TT_OPS_COLLECTIVE_COLLECTIVE_H
#define TT_OPS_COLLECTIVE_COLLECTIVE_H

#include "device/device.h"
#include "ops/op.h"

#define TT_GROUP_MAX 64

struct tt_group {
	uint32_t chips[TT_GROUP_MAX]; /* their places on the mesh, in order */
	uint32_t count;
	uint32_t own; /* the place of the chip itself in the group */
};

/* The group of a chip; axis 0 goes down a column of the mesh, 1 along a row, -1 over all. */
void tt_group_find(struct tt_group *out, const struct tt_device *device, int64_t axis,
		   uint32_t chip);

/* How many chips such a group has. */
uint32_t tt_group_size(const struct tt_device *device, int64_t axis);

/* The axis that an argument or attribute names; -1 for none. */
int64_t tt_group_axis(const struct ttnn_value *value);

/* What the chips of a group have afterwards of the dimension. */
enum tt_group_result {
	TT_GROUP_SAME,      /* the same, all of them */
	TT_GROUP_GATHERED,  /* the same, put together along it */
	TT_GROUP_SCATTERED, /* a part each, of what was added up */
	TT_GROUP_DIVIDED,   /* a part each, of what they had */
};

/* How the result is spread when a tensor of a mesh goes through such a group (tensor/spread.h). */
uint64_t tt_group_spread(const struct tt_tensor *in, int64_t axis, enum tt_group_result result,
			 uint32_t dim);

/* The place of the mesh coordinate that an argument is, as a number; -1 without one. */
tt_status tt_group_place(struct ttnn_value *out, const struct tt_call *call, const char *name);

/* A part of a member's tensor to a place in another, all of it along the other dimensions. */
struct tt_share {
	uint32_t dim, extent; /* what is cut, */
	int64_t from;
	uint32_t to_dim; /* and where it goes */
	int64_t to;
	uint32_t shift; /* dimensions that the output has in front, moved to `at` in the first */
	int64_t at;
};

/* The part of one chip's first input, read there. */
tt_status tt_share_receive(struct tt_tensor *out, const struct tt_launch *launch, uint32_t chip,
			   const struct tt_share *part);

/* All members' parts one above the other, added up in float32 (integers as they are). */
tt_status tt_share_sum(struct tt_tensor *out, const struct tt_launch *launch,
		       const struct tt_group *group, struct tt_share part);

/* Members of tt_enum_topology. */
enum { TT_TOPOLOGY_LINEAR = 1, TT_TOPOLOGY_RING = 2, TT_TOPOLOGY_MESH = 3, TT_TOPOLOGY_TORUS = 4 };

/* ---- what is made of others (composite.c) ------------------------------------------------------------------ */

/* All parts on all chips, one tensor each, concatenated there: for pages that have to be put together anew. */
struct tt_gather_args {
	struct tt_tensor *in;
	int64_t dim;
	const struct ttnn_memory_config
		*memory; /* (optional) where shards are made; else results stay where parts are */
	struct ttnn_value axis, sub_device, links, topology;
};
tt_status tt_gather_by_concat(struct tt_tensor **out, struct tt_call *call,
			      const struct tt_gather_args *args);

/*
 * The call's operation along one axis, then along the other of what came of it; with these arguments of the call, at
 * most 16. The result is the call's.
 */
tt_status tt_call_by_axes(struct tt_call *call, struct tt_tensor *in, const char *const *others,
			  size_t count);

/* ---- what programs with semaphores share ------------------------------------------------------------------ */

/* How many chips take part, by the attribute cluster_axis; whether the last neighbours the first, by topology. */
uint32_t tt_group_members(const struct tt_launch *launch);
bool tt_group_is_ring(const struct tt_launch *launch);

/* The topology that chips really have: a ring only where one line is the whole machine. Absent: that of the fabric. */
struct ttnn_value tt_group_topology(const struct tt_device *device, const struct ttnn_value *asked,
				    int64_t axis);

/* The same without making a line of what is a mesh, or a torus. */
struct ttnn_value tt_group_usual_topology(const struct tt_device *device,
					  const struct ttnn_value *asked, int64_t axis);

/* The call's argument num_links, or how many links there are along its cluster_axis. */
tt_status tt_group_links(struct ttnn_value *out, const struct tt_call *call,
			 const struct tt_device *device);

/*
 * What there is of the fabric along each axis of the mesh, as lists of two; one that no chip sends along has one chip and
 * no links. The size is that of the group.
 */
struct tt_group_axes {
	struct ttnn_value fabric, topologies, straight, devices, links;
	uint32_t size;
};
tt_status tt_group_axes(struct tt_group_axes *out, struct tt_call *call,
			const struct tt_device *device, int64_t axis);

/* The cores that the call's subdevice_id and sub_core_grids (or sub_core_grid) leave. */
tt_status tt_group_cores(const ttnn_core_set **out, const struct tt_call *call,
			 struct tt_device *device);

/* For tt_prog.choose: so many semaphores of the program's own on all cores that it may use. */
tt_status tt_keep_semaphores(struct tt_launch *launch, uint32_t count, bool small);
bool tt_has_l1_small(const struct tt_device *device);

/* What one chip gets. */
typedef tt_status tt_serve_fn(struct tt_tensor *out, const struct tt_launch *launch, uint32_t chip,
			      const struct tt_group *group);

/* One output of every chip, one chip after the other. */
tt_status tt_group_serve(struct tt_launch *launch, size_t output, tt_serve_fn *serve);
#define TT_SERVE(name, output)                                                                     \
	static tt_status name##_kernel(struct tt_launch *launch)                                   \
	{                                                                                          \
		return tt_group_serve(launch, output, serve_##name);                               \
	}

/* All of the first input, along this dimension. */
struct tt_share tt_share_whole(const struct tt_launch *launch, uint32_t dim);

/* An attribute that is a dimension. */
uint32_t tt_attr_dim(const struct tt_launch *launch, const char *name);

/* The attribute num_links, or one; a refusal of none. */
uint32_t tt_link_count(const struct tt_launch *launch);
tt_status tt_check_links(const struct tt_launch *launch);

/*
 * The cores that send, link after link: for each of two directions one that passes on what the others send (`mux`,
 * which keeps nothing), and these; then `more` that only copy. In rows, from the first core.
 */
struct tt_senders {
	uint32_t workers, mux, more;
	const struct ttnn_core *from; /* (optional) where they begin: the caller says it */
};
tt_status tt_sender_cores(const ttnn_core_set **out, const struct tt_launch *launch,
			  const struct tt_senders *senders);

/* Pages of the first input that go through the fabric at once: four at most. */
uint32_t tt_packet_pages(const struct tt_launch *launch);

/* One output like the input, but for its shape. */
tt_status tt_infer_reshaped(struct tt_launch *launch, const struct ttnn_shape *shape);

/* What gathers parts of tensors beside a program: cores from an offset on, two for each link. */
struct tt_ring_senders {
	struct ttnn_core offset;
	uint64_t links, page; /* page: of the gathered tensor */
	bool columns;         /* cores go down columns */
	bool numbers;         /* how much there is to send is on the device */
};
tt_status tt_ring_sender_rows(struct tt_plan *plan, const struct tt_launch *launch,
			      const struct tt_ring_senders *senders);
/* Its cores: of `number[0]` for a link those of number `number[1]`, row by row from the offset on or column by column. */
tt_status tt_ring_workers(const ttnn_core_set **out, const struct tt_launch *launch,
			  const struct tt_ring_senders *senders, const uint64_t number[2]);

#endif
