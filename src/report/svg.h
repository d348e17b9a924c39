/*
 * svg.h: pictures of graphs as SVG files, for `ttnn export svg` and `ttnn import --svg`.
 *
 * The files need nothing else: no script, no fonts, no links outwards. Every box has an id ("b12") and a
 * tooltip. Texts of graphs are escaped, characters that XML does not have are replaced.
 */
#ifndef TT_REPORT_SVG_H
#define TT_REPORT_SVG_H

#include "base/str.h"
#include "report/diagram.h"
#include "trace/exporter.h"

/* Writes the picture of a graph to a file; `title` stands above it (NULL: none). */
tt_status tt_svg_save(const char *path, const struct tt_graph *graph, const char *title,
		      const struct tt_diagram_options *options);

/* The same, appended to a text. */
tt_status tt_svg_text(struct tt_str *out, const struct tt_graph *graph, const char *title,
		      const struct tt_diagram_options *options);

/*
 * Draws the graph of that file in a folder, which is made if absent: STEM.svg, its calls, and STEM.flow.svg, the
 * levelized graph. Traces keep their suffix. Counts what is written.
 */
tt_status tt_svg_report(uint64_t *count, const char *folder, const char *file,
			const struct tt_graph *graph);

/* svg and flow, for `ttnn export`. */
extern const struct tt_exporters tt_picture_exporters;

#endif
