/* announcement.h: reading what processes tell the server of a profile (event/announce.h draws it). */
#ifndef TT_PROFILE_ANNOUNCEMENT_H
#define TT_PROFILE_ANNOUNCEMENT_H

#include "base/arena.h"
#include "event/announce.h"

enum tt_announcement_state {
	TT_ANNOUNCEMENT_PART,  /* so far it can become one */
	TT_ANNOUNCEMENT_WHOLE, /* all of it is there */
	TT_ANNOUNCEMENT_NONE,  /* it is none of ours */
};

/* What the first bytes of a connection are; *size is set to that of a whole one. */
enum tt_announcement_state tt_announcement_look(size_t *size, const void *data, size_t length);

/* Reads a whole one. Texts are the arena's, never NULL. TTNN_FORMAT when it makes no sense. */
tt_status tt_announcement_read(struct tt_announcement *out, struct tt_arena *arena,
			       const void *data, size_t size);

#endif
