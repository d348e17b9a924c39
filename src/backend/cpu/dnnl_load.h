/*
 * dnnl_load.h: the functions of oneDNN, found at run time, for dnnl.c. The library is the one that the
 * headers are of: versions 2 and 3 have other functions.
 */
#ifndef TT_BACKEND_CPU_DNNL_LOAD_H
#define TT_BACKEND_CPU_DNNL_LOAD_H

#if __has_include(<oneapi/dnnl/dnnl.h>)
#define TT_HAS_DNNL 1
#include <oneapi/dnnl/dnnl.h>
#include <stdbool.h>

#include "base/cpu.h"

#if DNNL_VERSION_MAJOR >= 3
#define TT_DNNL_VERSIONED(X)                                                                       \
	X(memory_desc_create_with_strides)                                                         \
	X(memory_desc_create_with_tag)                                                             \
	X(memory_desc_destroy)                                                                     \
	X(matmul_primitive_desc_create)
#else
#define TT_DNNL_VERSIONED(X)                                                                       \
	X(memory_desc_init_by_strides)                                                             \
	X(memory_desc_init_by_tag)                                                                 \
	X(matmul_desc_init)                                                                        \
	X(primitive_desc_create)
#endif

/* To use another function: its name here. */
#define TT_DNNL_LIST(X)                                                                            \
	TT_DNNL_VERSIONED(X)                                                                       \
	X(version)                                                                                 \
	X(set_max_cpu_isa)                                                                         \
	X(engine_create)                                                                           \
	X(stream_create)                                                                           \
	X(stream_destroy)                                                                          \
	X(stream_wait)                                                                             \
	X(primitive_attr_create)                                                                   \
	X(primitive_attr_destroy)                                                                  \
	X(primitive_attr_set_scratchpad_mode)                                                      \
	X(primitive_attr_set_post_ops)                                                             \
	X(post_ops_create)                                                                         \
	X(post_ops_append_sum)                                                                     \
	X(post_ops_destroy)                                                                        \
	X(primitive_desc_query_md)                                                                 \
	X(primitive_desc_destroy)                                                                  \
	X(primitive_create)                                                                        \
	X(primitive_execute)                                                                       \
	X(primitive_destroy)                                                                       \
	X(reorder_primitive_desc_create)                                                           \
	X(memory_desc_get_size)                                                                    \
	X(memory_desc_equal)                                                                       \
	X(memory_create)                                                                           \
	X(memory_destroy)

struct tt_dnnl {
#define TT_X(name) __typeof__(dnnl_##name) *name;
	TT_DNNL_LIST(TT_X)
#undef TT_X
	/* Of OpenMP: how many threads a call from this thread may start. NULL: it never does. */
	void (*set_threads)(int count);
	int (*get_threads)(void);
	dnnl_engine_t engine;
	enum tt_isa isa; /* what the library may use */
	bool half;       /* the processor has bfloat16 products that it may use */
	bool everything; /* TTNN_DNNL=all */
};

/* NULL when there is none to use. Any thread may ask. */
const struct tt_dnnl *tt_dnnl_get(void);

/*
 * Every call into the library stands between these two: calls of this thread start no others. Gives
 * what was before, for the second.
 */
int tt_dnnl_alone(const struct tt_dnnl *dnnl);
void tt_dnnl_not_alone(const struct tt_dnnl *dnnl, int before);

#else
#define TT_HAS_DNNL 0
#endif
#endif
