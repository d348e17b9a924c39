/* build.h: what tells this build, as it runs here, from another: what one has passed says nothing of the other. */
#ifndef TT_SWEEP_BUILD_H
#define TT_SWEEP_BUILD_H

#include "base/digest.h"

/*
 * 64 digits: of the code's build id (or of the whole file where it has none), the instruction set that is used and
 * whether oneDNN is.
 */
tt_status tt_build_digest(char out[TT_DIGEST_TEXT]);

#endif
