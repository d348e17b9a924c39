/*
 * stop.h: commands that make files end in order when they are to end: at Ctrl-C, a closed terminal, SIGTERM.
 * The library gives up what it does, which removes what is unfinished, and the program ends as by the signal; the
 * second one ends it at once.
 *
 *	cli_stop_watch();
 *	if (tt_report_import(&counts, &options) != TTNN_OK)
 *		return cli_stop_fail();
 */
#ifndef TT_CLI_STOP_H
#define TT_CLI_STOP_H

/* From now on these signals cancel what the library does on this thread. Those that are ignored stay so. */
void cli_stop_watch(void);

/* Ends the program if such a signal came; else cli_fail(). */
int cli_stop_fail(void);

#endif
