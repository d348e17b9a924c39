/*
 * diagram_links.h: links as they are drawn: in the scope that holds both ends, equal ones as one.
 *
 * Only diagram*.c see it.
 */
#ifndef TT_REPORT_DIAGRAM_LINKS_H
#define TT_REPORT_DIAGRAM_LINKS_H

#include "report/diagram.h"

/* All links between two boxes of a scope. */
struct tt_bundle {
	uint32_t scope, from, to;
	enum tt_link_kind kind; /* of the most important of them */
	uint32_t link;          /* the first that is so */
	uint32_t count;         /* different tensors */
	uint32_t label; /* a new box that names the tensors if they are several; TT_BOX_NONE */
	/* Ports in `to` and `from` if these are repetitions: lines go on there; TT_BOX_NONE. */
	uint32_t enter, leave;
};

/*
 * Bundles of all links that are drawn or order boxes, by scope; in the diagram's arena. Makes the
 * labels and the ports.
 */
tt_status tt_diagram_bundle(struct tt_bundle **out, size_t *count, struct tt_diagram *diagram);

#endif
