#include "backend/cpu/dnnl_load.h"

#if TT_HAS_DNNL
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/lock.h"
#include "base/log.h"
#include "base/str.h"

#define TRY_SECONDS 20

static struct tt_dnnl found;
static bool usable;

/* ---- the library --------------------------------------------------------------------------------- */

/* libdnnl.so.2, libdnnl.so.3, or as Debian names those of version 3: libdnnl.so.3.6. */
static void *open_library(const char *path)
{
	struct tt_str name = {0};
	void *library = NULL;

	if (path)
		return dlopen(path, RTLD_NOW | RTLD_LOCAL);
	for (int minor = -1; minor < 32 && !library; minor++) {
		tt_str_clear(&name);
		tt_str_addf(&name, "libdnnl.so.%d", DNNL_VERSION_MAJOR);
		if (minor >= 0)
			tt_str_addf(&name, ".%d", minor);
		if (tt_str_status(&name) != TTNN_OK)
			break;
		library = dlopen(tt_str_text(&name), RTLD_NOW | RTLD_LOCAL);
	}
	tt_str_deinit(&name);
	return library;
}

static bool find_functions(struct tt_dnnl *out, void *library)
{
	bool all = true;

#define TT_X(name)                                                                                 \
	*(void **)&out->name = dlsym(library, "dnnl_" #name);                                      \
	all = all && out->name;
	TT_DNNL_LIST(TT_X)
#undef TT_X
	*(void **)&out->set_threads = dlsym(library, "omp_set_num_threads");
	*(void **)&out->get_threads = dlsym(library, "omp_get_max_threads");
	return all && out->version()->major == DNNL_VERSION_MAJOR;
}

/* ---- the processor ------------------------------------------------------------------------------- */

#if defined(__x86_64__)
#include <cpuid.h>

/* AVX-512 or AMX products of bfloat16. */
static bool has_half(void)
{
	unsigned a, b, c, d;

	if (__get_cpuid_count(7, 0, &a, &b, &c, &d) && (d >> 22 & 1))
		return true;
	return __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a >> 5 & 1);
}
#else
static bool has_half(void)
{
	return false;
}
#endif

/*
 * The products are tried in a child, which says so when they end well: on one processor with AMX a
 * release died in them of an illegal instruction. What the library may use can only be set before
 * its first use, which is the child's.
 */
static bool half_works(const struct tt_dnnl *dnnl)
{
	int ends[2];
	pid_t child;
	char word = 0;
	ssize_t got;

	if (pipe(ends) != 0)
		return false;
	child = fork();
	if (child == 0) {
		signal(SIGILL, SIG_DFL);
		signal(SIGSEGV, SIG_DFL);
		signal(SIGALRM, SIG_DFL);
		alarm(TRY_SECONDS);
		if (tt_dnnl_try_half(dnnl))
			(void)!write(ends[1], "y", 1);
		raise(SIGKILL); /* nothing of the parent's is ended twice */
	}
	close(ends[1]);
	do
		got = read(ends[0], &word, 1);
	while (got < 0 && errno == EINTR);
	close(ends[0]);
	while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	return got == 1 && word == 'y';
}

/* ---- all ----------------------------------------------------------------------------------------- */

TT_LOCK_STATIC(loader_lock, TT_RANK_LOADER, NULL);

static void load(void)
{
	const char *choice = getenv("TTNN_DNNL");
	void *library;

	found.isa = tt_cpu_isa();
	if (found.isa == TT_ISA_PLAIN || (choice && strcmp(choice, "0") == 0))
		return;
	/* A child of a fork in the middle would have half a library. */
	tt_lock_take(&loader_lock);
	library = open_library(choice && strchr(choice, '/') ? choice : NULL);
	tt_lock_give(&loader_lock);
	if (!library || !find_functions(&found, library))
		return;
	found.everything = choice && strcmp(choice, "all") == 0;
	found.half = found.isa == TT_ISA_AVX512 && has_half();
	if (found.isa == TT_ISA_AVX2) {
		found.set_max_cpu_isa(dnnl_cpu_isa_avx2);
	} else if (found.half && !half_works(&found)) {
		tt_log(TT_LOG_WARN, "oneDNN fails at products of bfloat16 on this processor: "
				    "they are made in float32");
		found.half = false;
		found.set_max_cpu_isa(dnnl_cpu_isa_avx512_core);
	}
	usable = found.engine_create(&found.engine, dnnl_cpu, 0) == dnnl_success;
}

const struct tt_dnnl *tt_dnnl_get(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, load);
	return usable ? &found : NULL;
}
#else
/* A file needs something in it. */
extern const int tt_dnnl_absent;
const int tt_dnnl_absent = 1;
#endif
