/*
 * argtext.h: arguments of functions as graphs write them (project.c): upstream's texts, with
 * tensors by their specs and devices by number or address.
 */
#ifndef TT_TRACE_ARGTEXT_H
#define TT_TRACE_ARGTEXT_H

#include "trace/dialect.h"
#include "trace/spectext.h"

/* How texts are made. */
struct tt_argtext_style {
	enum ttnn_dialect dialect;
	struct tt_spectexts specs; /* all zero to begin with; to be freed */
};

/* "Tensor(storage=DeviceStorage(),tensor_spec=TensorSpec(...))" */
void tt_argtext_tensor(struct tt_str *out, const struct tt_event_tensor *tensor,
		       struct tt_argtext_style *style);

/* Any value. */
void tt_argtext_value(struct tt_str *out, const struct ttnn_value *value,
		      struct tt_argtext_style *style);

/* Argument `index` of `tt_argtext_count(scope)` of a function: graphs show none behind the last that was given. */
size_t tt_argtext_count(const struct tt_event_scope_begin *scope);
void tt_argtext(struct tt_str *out, const struct tt_event_scope_begin *scope, size_t index,
		struct tt_argtext_style *style);

#endif
