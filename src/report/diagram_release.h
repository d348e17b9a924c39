/*
 * diagram_release.h: boxes of what is given back.
 *
 * Only diagram_calls.c uses it. While a graph is walked each deallocation is a box, so that repetitions
 * are found; then those that follow each other become one.
 */
#ifndef TT_REPORT_DIAGRAM_RELEASE_H
#define TT_REPORT_DIAGRAM_RELEASE_H

#include "report/diagram.h"

/*
 * A new box in the scope for something given back now, by the call of this name ("": outside of any);
 * TT_BOX_NONE when memory is exhausted. The name is borrowed.
 */
uint32_t tt_release_box(struct tt_diagram *diagram, const char *name, uint32_t scope);

/* The box of this number frees memory too: "DRAM 4 KiB", which is borrowed. */
tt_status tt_release_add(struct tt_diagram *diagram, uint32_t index, const char *memory);

/* Makes boxes of the same name that follow each other in their scope, with no call in between, one. */
tt_status tt_release_merge(struct tt_diagram *diagram);

#endif
