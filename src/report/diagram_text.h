/*
 * diagram_text.h: the words in pictures of graphs. Each function that takes an arena gives a text of it,
 * or NULL when memory is exhausted.
 */
#ifndef TT_REPORT_DIAGRAM_TEXT_H
#define TT_REPORT_DIAGRAM_TEXT_H

#include "report/diagram.h"

/* A text cut to so many characters, with "…" where it was cut; control characters become blanks. */
char *tt_diagram_cut(struct tt_arena *arena, const char *text, size_t most);

/* "24 KiB", "1.5 MiB", "200 B". */
void tt_diagram_bytes(char out[32], uint64_t bytes);

/* Of a tensor's node: "tensor 7"; "[1, 32] BFLOAT16 TILE L1". */
char *tt_diagram_tensor_title(struct tt_arena *arena, const struct tt_graph_node *node);
char *tt_diagram_tensor_text(struct tt_arena *arena, const struct tt_graph_node *node);

/* Whether a tensor's node says that it is in L1. */
bool tt_diagram_in_l1(const struct tt_graph_node *node);

/* Name, nodes, duration, arguments of a call. */
char *tt_diagram_call_tip(struct tt_arena *arena, const struct tt_graph *graph, uint32_t start,
			  uint32_t end);

/* Kind, number and params of any node, a line each. */
char *tt_diagram_node_tip(struct tt_arena *arena, const struct tt_graph *graph,
			  const struct tt_graph_node *node);

#endif
