/* Profiles and cluster descriptors: whatever reads is written, and what is written reads back. */
#include <stdint.h>
#include <stdlib.h>

#include "device/profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct tt_profile *profile,
		  void (*write)(struct tt_str *, const struct tt_profile *))
{
	struct tt_profile *again;
	struct tt_str text = {0};

	write(&text, profile);
	if (tt_str_status(&text) != TTNN_OK ||
	    tt_profile_parse(&again, tt_str_text(&text), text.length, "again") != TTNN_OK ||
	    again->cluster.chip_count != profile->cluster.chip_count)
		abort();
	tt_profile_unref(again);
	tt_str_deinit(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tt_profile *profile;

	if (tt_profile_parse(&profile, (const char *)data, size, "input") != TTNN_OK)
		return 0;
	/* An architecture of the file itself has no name that another file could use. */
	if (profile->arch.code == 2 || profile->arch.code == 3)
		check(profile, tt_profile_write);
	tt_profile_unref(profile);
	return 0;
}
