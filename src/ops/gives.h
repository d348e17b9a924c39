/*
 * gives.h: what an operation gives, as its row says it (tt_op.gives):
 *
 *	NULL, "Tensor"                          one tensor
 *	"[Tensor]"                              a list of tensors, or none at all
 *	"Complex", "[Complex]"                  complex tensors: real and imaginary part in turn
 *	"Tensor, (int, int), (Tensor, Tensor)"  a tuple; parts that were not asked for are left out. Numbers
 *	                                        are the extents of struct ttnn_results.
 *
 * The event of a call, Python and the typed functions of ttnn_ops.h read it.
 */
#ifndef TT_OPS_GIVES_H
#define TT_OPS_GIVES_H

#include <ttnn.h>
#include <ttnn_frontend.h>

/* Whether the results are several by what they are, however many they are: a list, or complex. */
bool tt_gives_many(const char *gives);

/* Whether the results are complex tensors. */
bool tt_gives_pairs(const char *gives);

/* As ttnn_results_value() (ttnn_frontend.h), for a row's text. */
struct ttnn_value tt_gives_value(struct ttnn_results_room *room, const struct ttnn_results *results,
				 const char *gives);

#endif
