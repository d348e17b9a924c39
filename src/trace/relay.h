/*
 * relay.h: the events of a source, read by a thread ahead of who uses them: to decode a trace takes as long as most of what
 * is made of it. Events come in batches, in the order of tt_source_next().
 *
 *	TT_TRY(tt_relay_new(&relay, source, true));
 *	while ((status = tt_relay_next(&seen, relay)) == TTNN_OK && seen)
 *		...
 *	tt_relay_free(relay);
 *
 * Where there is no second processor the caller reads by itself.
 */
#ifndef TT_TRACE_RELAY_H
#define TT_TRACE_RELAY_H

#include "trace/source.h"

struct tt_relay;

/*
 * The source is the relay's until that is freed, and goes on behind what was read of it then. `beside`: it is worth a
 * thread.
 */
tt_status tt_relay_new(struct tt_relay **out, struct tt_source *source, bool beside);

/* The next event, which lives until the next call; *out is NULL behind the last. */
tt_status tt_relay_next(const struct tt_seen **out, struct tt_relay *relay);

/* NULL is fine. */
void tt_relay_free(struct tt_relay *relay);

#endif
