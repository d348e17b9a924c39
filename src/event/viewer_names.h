/*
 * viewer_names.h: what a viewer (viewer.h) asks for by number: texts, and the places of the program that zones name.
 * Numbers begin with 1 and are never given twice; 0 is none, as when memory is exhausted. Whoever uses it has a lock.
 */
#ifndef TT_EVENT_VIEWER_NAMES_H
#define TT_EVENT_VIEWER_NAMES_H

#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "event/event.h"
#include "event/tracy_wire.h"

/* All zero is an empty one. It lives as long as the process. */
struct tt_viewer_names {
	struct tt_map strings, locations; /* text → number, likewise */
	TT_VEC(const char *) texts;
	TT_VEC(struct tt_wire_location) places;
	struct tt_str text; /* that is being made */
	size_t passing;     /* texts that come and go, so far */
};

/* The number of a text, which is copied. */
uint64_t tt_viewer_string(struct tt_viewer_names *names, const char *text);

/* The same for one of many that come and go: 0 also when too many were kept. */
uint64_t tt_viewer_passing(struct tt_viewer_names *names, const char *text);

/* The text of a number; NULL: there is none. It stays. */
const char *tt_viewer_string_of(const struct tt_viewer_names *names, uint64_t number);

/* The number of a place in the program; its names are static or interned. */
uint64_t tt_viewer_location(struct tt_viewer_names *names, const struct tt_event_zone *zone);

/* The number of a text with what a call was given, a line for each; 0 if that is nothing, or too many were kept. */
uint64_t tt_viewer_arguments(struct tt_viewer_names *names,
			     const struct tt_event_scope_begin *begin);

#endif
