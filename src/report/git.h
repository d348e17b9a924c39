/*
 * git.h: which commit a program is, for the metadata of a database.
 */
#ifndef TT_REPORT_GIT_H
#define TT_REPORT_GIT_H

#include "base/str.h"

struct tt_report_git {
	struct tt_str url, sha; /* "" when not known */
};

/* Asks git about the tree that TT_METAL_HOME names. Not knowing is no failure. */
tt_status tt_report_git_ask(struct tt_report_git *git);
void tt_report_git_deinit(struct tt_report_git *git);

#endif
