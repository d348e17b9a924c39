/* libpq.c: loads PostgreSQL's client library. */
#include "db/libpq.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/env.h"

#define SONAME "libpq.so.5"

static struct tt_libpq library;
static char why[300]; /* it cannot be used; "": it can */

/* A function's address is no object of C: it is copied as bytes. */
static void find(void *out, void *handle, const char *name)
{
	void *found = dlsym(handle, name);

	memcpy(out, &found, sizeof(found));
	if (!found && !*why)
		snprintf(why, sizeof(why),
			 "%s has no %s: version 14 or newer of PostgreSQL's client library is "
			 "needed (Debian: apt-get install libpq5)",
			 SONAME, name);
}

static void load(void)
{
	const char *other = tt_env("TTNN_LIBPQ");
	void *handle = dlopen(other ? other : SONAME, RTLD_NOW | RTLD_LOCAL);

	if (!handle) {
		snprintf(why, sizeof(why),
			 "PostgreSQL's client library cannot be loaded (%.150s): install it "
			 "(Debian: apt-get install libpq5)",
			 dlerror());
		return;
	}
#define FIND(type, name, parameters) find(&library.name, handle, #name);
	TT_LIBPQ_LIST(FIND)
#undef FIND
}

tt_status tt_libpq_get(const struct tt_libpq **out)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, load);
	*out = &library;
	return *why ? tt_fail(TTNN_UNSUPPORTED, "%s", why) : TTNN_OK;
}
