#include "backend/cpu/dnnl_load.h"

#if TT_HAS_DNNL
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "base/env.h"
#include "base/lock.h"
#include "base/str.h"

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
	return all && out->version()->major == DNNL_VERSION_MAJOR;
}

/* Found as the library finds it: the program's, if it has one for all, comes before its own. */
static void *find_openmp(void *library, const char *name)
{
	void *function = dlsym(RTLD_DEFAULT, name);

	return function ? function : dlsym(library, name);
}

/* Whether the library's calls can be kept from starting threads. */
static bool find_threads(struct tt_dnnl *out, void *library)
{
	switch (out->version()->cpu_runtime) {
	case DNNL_RUNTIME_SEQ:
	case DNNL_RUNTIME_THREADPOOL: /* it is given none */
		return true;
	case DNNL_RUNTIME_OMP:
		*(void **)&out->set_threads = find_openmp(library, "omp_set_num_threads");
		*(void **)&out->get_threads = find_openmp(library, "omp_get_max_threads");
		return out->set_threads && out->get_threads;
	default:
		return false;
	}
}

/* ---- the processor ------------------------------------------------------------------------------- */

#define AMX_SINCE 3 /* before this version it dies of an illegal instruction on some processors */

/* Products of bfloat16 that the processor has: with AVX-512, with AMX. */
struct half {
	bool avx512, amx;
};

#if defined(__x86_64__)
#include <cpuid.h>

static struct half find_half(void)
{
	struct half half = {false, false};
	unsigned a, b, c, d;

	if (__get_cpuid_count(7, 0, &a, &b, &c, &d))
		half.amx = d >> 22 & 1;
	if (__get_cpuid_count(7, 1, &a, &b, &c, &d))
		half.avx512 = a >> 5 & 1;
	return half;
}
#else
static struct half find_half(void)
{
	return (struct half){false, false};
}
#endif

/*
 * What the library may use is decided by its version and the processor, and said before its first
 * use: to try it would need another process, and this one may have threads and must not be forked.
 */
static void choose_instructions(struct tt_dnnl *dnnl)
{
	struct half half = find_half();
	bool avoid_amx = half.amx && dnnl->version()->major < AMX_SINCE;

	if (dnnl->isa == TT_ISA_AVX2) {
		dnnl->set_max_cpu_isa(dnnl_cpu_isa_avx2);
		return;
	}
	dnnl->half = half.avx512 || (half.amx && !avoid_amx);
	/* Somebody else in this process may have used it before us: then it is too late to say so. */
	if (avoid_amx &&
	    dnnl->set_max_cpu_isa(half.avx512 ? dnnl_cpu_isa_avx512_core_bf16
					      : dnnl_cpu_isa_avx512_core) != dnnl_success)
		dnnl->half = dnnl->everything = false;
}

/* ---- calls --------------------------------------------------------------------------------------- */

/* The number is this thread's own in OpenMP: no other thread of the program sees the change. */
int tt_dnnl_alone(const struct tt_dnnl *dnnl)
{
	int before = dnnl->get_threads ? dnnl->get_threads() : 1;

	if (before != 1)
		dnnl->set_threads(1);
	return before;
}

void tt_dnnl_not_alone(const struct tt_dnnl *dnnl, int before)
{
	if (before != 1)
		dnnl->set_threads(before);
}

/* ---- all ----------------------------------------------------------------------------------------- */

TT_LOCK_STATIC(loader_lock, TT_RANK_LOADER, NULL);

static void load(void)
{
	const char *choice = tt_env("TTNN_DNNL");
	void *library;
	int before;

	found.isa = tt_cpu_isa();
	if (found.isa == TT_ISA_PLAIN || (choice && strcmp(choice, "0") == 0))
		return;
	/* A child of a fork in the middle would have half a library. */
	tt_lock_take(&loader_lock);
	library = open_library(choice && strchr(choice, '/') ? choice : NULL);
	tt_lock_give(&loader_lock);
	if (!library || !find_functions(&found, library) || !find_threads(&found, library))
		return;
	found.everything = choice && strcmp(choice, "all") == 0;
	choose_instructions(&found);
	before = tt_dnnl_alone(&found);
	usable = found.engine_create(&found.engine, dnnl_cpu, 0) == dnnl_success;
	tt_dnnl_not_alone(&found, before);
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
