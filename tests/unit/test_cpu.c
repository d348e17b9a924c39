/* detection of instruction sets */
#include "test.h"

#include <sys/wait.h>

#include "base/cpu.h"

TEST(levels_agree_with_the_compiler)
{
#if defined(__x86_64__)
	bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
		    __builtin_cpu_supports("bmi2");
	bool avx512 = avx2 && __builtin_cpu_supports("avx512f") &&
		      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
		      __builtin_cpu_supports("avx512dq");

	CHECK_INT(tt_cpu_has_isa(TT_ISA_AVX2), avx2);
	CHECK_INT(tt_cpu_has_isa(TT_ISA_AVX512), avx512);
#else
	CHECK(!tt_cpu_has_isa(TT_ISA_AVX2));
#endif
	CHECK(tt_cpu_has_isa(TT_ISA_PLAIN));
	CHECK_STR(tt_cpu_isa_name(TT_ISA_AVX512), "avx512");
	CHECK_STR(tt_cpu_isa_name((enum tt_isa)77), "?");
}

/* The level a new process of this name starts with; its exit code tells. */
static int isa_under(const char *setting)
{
	pid_t child;
	int status;

	fflush(NULL);
	child = fork();
	if (child == 0) {
		setenv("TTNN_ISA", setting, 1);
		_exit((int)tt_cpu_isa());
	}
	waitpid(child, &status, 0);
	return WEXITSTATUS(status);
}

TEST(the_environment_lowers_only)
{
	int best = isa_under("");

	CHECK_INT(isa_under("plain"), TT_ISA_PLAIN);
	CHECK_INT(isa_under("avx2"), best < TT_ISA_AVX2 ? best : TT_ISA_AVX2);
	CHECK_INT(isa_under("avx512"), best);
	CHECK_INT(isa_under("nonsense"), best);
}

TEST(forcing_stays_within_the_machine)
{
	enum tt_isa before = tt_cpu_isa();

	for (int i = 0; i < TT_ISA_COUNT; i++) {
		bool has = tt_cpu_has_isa((enum tt_isa)i);

		CHECK(tt_cpu_force_isa((enum tt_isa)i) == has);
		if (has)
			CHECK_INT(tt_cpu_isa(), i);
	}
	CHECK(tt_cpu_force_isa(before));
	CHECK_INT(tt_cpu_isa(), before);
}
