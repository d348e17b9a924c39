/*
 * ttnn_zones.h: what a program tells profilers of itself, besides its operations: stretches of its own, messages,
 * rounds. All cost a branch when nobody records.
 *
 *	TTNN_ZONE("load");
 *	...
 *	ttnn_zone_end();
 *
 * Signposts are ttnn_mark() of <ttnn.h>. With the texts MLIR_OP_LOCATION, MLIR_CONST_EVAL_OP and
 * MLIR_PROGRAM_METADATA its detail belongs to the operations that follow, up to the next of that text.
 */
#ifndef TTNN_ZONES_H
#define TTNN_ZONES_H

#include <ttnn.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A stretch of a program; graphs do not show it. Texts are not copied: they live as long as the process. */
struct ttnn_zone {
	const char *name;            /* NULL: the function's */
	const char *function, *file; /* (optional) one of name and function is there */
	uint32_t line, color;        /* color: 0xRRGGBB, 0: none */
};

/* Zones nest; begin and end on the same thread. An end too many is passed over by readers. */
TTNN_API void ttnn_zone_begin(const struct ttnn_zone *zone);
TTNN_API void ttnn_zone_end(void);

/* The same with a name and colour that are known now; NULL, 0: none. */
TTNN_API void ttnn_zone_end_as(const char *name, uint32_t color);

/* Begins a zone of this name, which is a constant, here. */
#define TTNN_ZONE(zone_name)                                                                       \
	do {                                                                                       \
		static const struct ttnn_zone ttnn_zone_here = {zone_name, __func__, __FILE__,     \
								__LINE__, 0};                      \
		ttnn_zone_begin(&ttnn_zone_here);                                                  \
	} while (0)

/*
 * A line of text. One that is written as Tracy's clients write signposts ("`TT_SIGNPOST: header`"), or as the marks
 * above with a ';' behind the header, is such a mark.
 */
TTNN_API void ttnn_message(const char *text, uint32_t color);

/* The end of a round of whatever the program does again and again. */
TTNN_API void ttnn_frame(void);

#ifdef __cplusplus
}
#endif

#endif
