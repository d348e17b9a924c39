/*
 * box_kinds.h: what pictures of graphs show, each kind in its colours: the drawings of report/svg.c, and Graphviz
 * (dot.c).
 */
#ifndef TT_TRACE_BOX_KINDS_H
#define TT_TRACE_BOX_KINDS_H

#include <stdbool.h>

/*
 * Kinds of boxes: X(constant, class in the file, words in the legend, fill, line). To add one: a line
 * here. Those from TT_BOX_L1 on are chips: small, without content, in rows below the title.
 */
#define TT_BOX_KINDS(X)                                                                            \
	X(PAGE, "page", "", "#ffffff", "#ffffff")                                                  \
	X(OPERATION, "op", "operation", "#dce9f8", "#2f66a8")                                      \
	X(DEVICE, "dev", "device operation", "#dcf0dd", "#34833a")                                 \
	X(HOST, "host", "step on the host or a move", "#ebe4f5", "#6f4fa3")                        \
	X(CREATE, "new", "new tensor", "#e3f1f2", "#2c7f86")                                       \
	X(RELEASE, "rel", "tensor given back", "#fafafa", "#9a9a9a")                               \
	X(TENSOR, "tensor", "tensor from before", "#fdf3cf", "#a3810f")                            \
	X(REPEAT, "rep", "repeated", "#f7f7f7", "#777777")                                         \
	X(TAG, "tag", "from far above", "#ffffff", "#888888")                                      \
	X(LABEL, "label", "", "#ffffff", "#c4c4c4")                                                \
	X(PORT, "port", "", "#ffffff", "#ffffff")                                                  \
	X(L1, "l1", "allocated in L1", "#f9dcc0", "#b0621a")                                       \
	X(DRAM, "dram", "allocated in DRAM", "#e8dccf", "#7c5a36")                                 \
	X(FREE, "free", "freed", "#ffffff", "#9a9a9a")                                             \
	X(PROGRAM, "cb", "memory of the program", "#f8d9e6", "#b23a73")                            \
	X(ERROR, "error", "error", "#f8cfcb", "#b3261e")                                           \
	X(MORE, "more", "", "#ffffff", "#ffffff")

enum tt_box_kind {
#define X(constant, name, words, fill, line) TT_BOX_##constant,
	TT_BOX_KINDS(X)
#undef X
		TT_BOX_KIND_COUNT,
};

static inline bool tt_box_is_chip(enum tt_box_kind kind)
{
	return kind >= TT_BOX_L1;
}

/* The kind of a function of that name. */
enum tt_box_kind tt_box_kind_of_call(const char *name);

#endif
