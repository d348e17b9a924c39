# ttnn.c
#
#   make quickstart     install what is missing, build, run a network and show what it did
#   make                build/ttnn, build/libttnn.so, build/libttnn.a
#   make test           install what the tests need and run them all
#   make help           everything else
#
# MODE=debug|asan|tsan|cover builds beside the release build, in build/MODE. CC=clang works too.
# CPPFLAGS, CFLAGS, LDFLAGS and LDLIBS are yours: they come after the project's own flags.

VERSION := 0.1.0
ABI := 0
MODE ?= release
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
FUZZ_SECONDS ?= 60
Q := $(if $(V),,@)

ifeq ($(MODE),fuzz)
CC := clang
endif
ifeq ($(origin CC),default)
CC := gcc
endif

OUT_release := build
OUT_fuzz := build/fuzzing
OUT := $(or $(OUT_$(MODE)),build/$(MODE))

MODE_release := -O2 -g -DNDEBUG
MODE_debug := -O0 -g3
MODE_asan := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
MODE_tsan := -O1 -g -fsanitize=thread -fno-omit-frame-pointer
MODE_cover := -O0 -g --coverage
MODE_fuzz := -O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
ifeq ($(MODE_$(MODE)),)
$(error MODE=$(MODE) is none of release, debug, asan, tsan, cover, fuzz)
endif

# ---- flags ----------------------------------------------------------------------------------
# The libraries are the rows of scripts/packages that are modules of the build.
PKGS := $(shell awk '$$1 ~ /^build/ && $$3 == "module" { print $$4 }' scripts/packages)
PKGS_FOUND := $(shell pkg-config --exists $(PKGS) 2>/dev/null && echo yes)

WARN := -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla \
	-Wconversion -Wno-sign-conversion $(if $(CI),-Werror)
OWN_CPPFLAGS := -Iinclude -Isrc -D_GNU_SOURCE -DTTNN_VERSION='"$(VERSION)"'
OWN_CFLAGS := -std=c17 $(WARN) $(MODE_$(MODE)) -fPIC -fvisibility=hidden -ffp-contract=off \
	$(if $(PKGS_FOUND),$(shell pkg-config --cflags $(PKGS)))
OWN_LDFLAGS := $(filter -fsanitize=% --coverage,$(MODE_$(MODE)))
OWN_LDLIBS := $(if $(PKGS_FOUND),$(shell pkg-config --libs $(PKGS))) -lm -lpthread -ldl
COMPILE = $(CC) $(OWN_CPPFLAGS) $(CPPFLAGS) $(OWN_CFLAGS) $(CFLAGS)
LINK = $(CC) $(OWN_LDFLAGS) $(LDFLAGS)
LIBS = $(OWN_LDLIBS) $(LDLIBS)

# A file NAME.isa.c is compiled once for every instruction set; the rest once.
ISAS := plain $(if $(filter x86_64,$(shell uname -m)),avx2 avx512)
ISA_plain :=
ISA_avx2 := -mavx2 -mfma -mbmi2 -mf16c
ISA_avx512 := $(ISA_avx2) -mavx512f -mavx512bw -mavx512vl -mavx512dq -mprefer-vector-width=512

# ---- sources --------------------------------------------------------------------------------
CLI_SRC := $(wildcard src/cli/*.c)
LIB_SRC := $(filter-out $(CLI_SRC),$(wildcard src/*/*.c src/*/*/*.c))
ISA_SRC := $(filter %.isa.c,$(LIB_SRC))
# A test program is one file, but for tests/fidelity/fidelity.c and tests/hostile/calls.c, which have parts.
FIDELITY_SRC := $(wildcard tests/fidelity/fidelity_*.c)
CALLS_SRC := $(wildcard tests/hostile/calls_*.c)
TEST_SRC := $(filter-out $(FIDELITY_SRC) $(CALLS_SRC),$(wildcard tests/*/*.c))
FUZZ_SRC := $(filter-out fuzz/replay.c,$(wildcard fuzz/*.c))
BENCH_SRC := $(wildcard bench/*.c)
EXAMPLE_SRC := $(wildcard examples/*.c)

objects = $(patsubst %.c,$(OUT)/obj/%.o,$(1))
LIB_OBJ := $(call objects,$(filter-out $(ISA_SRC),$(LIB_SRC))) \
	$(foreach isa,$(ISAS),$(patsubst %.isa.c,$(OUT)/obj/%.$(isa).o,$(ISA_SRC)))
# Files that are part of the library, as C (scripts/embed).
PROFILES := $(wildcard data/profiles/*.json data/profiles/*/*.json)
WORKSPACE := $(shell find python/compat -type f ! -name '*.pyc' | LC_ALL=C sort)
SOURCES := $(wildcard data/workspace/*)
LIB_OBJ += $(OUT)/obj/gen/profiles.o $(OUT)/obj/gen/workspace.o $(OUT)/obj/gen/sources.o
CLI_OBJ := $(call objects,$(CLI_SRC))
PROGRAM_SRC := $(TEST_SRC) $(FUZZ_SRC) $(BENCH_SRC) $(EXAMPLE_SRC)
PROGRAMS := $(patsubst %.c,$(OUT)/%,$(PROGRAM_SRC))

.PHONY: all programs
all: $(OUT)/ttnn $(OUT)/libttnn.so $(OUT)/libttnn.a $(OUT)/include/ttnn_ops.h
# All that `make test` runs, and the benchmarks: they must compile at all times.
programs: all $(PROGRAMS) $(OUT)/broken/ttnn

# ---- objects and libraries ------------------------------------------------------------------
# Objects are made again when the compiler or a flag changes. Without the libraries nothing is begun.
FLAGS := $(COMPILE) $(LINK) $(LIBS)
# Writes a text to the target, and touches it only when the text differs.
write = $(Q)mkdir -p $(@D); printf '%s\n' '$(subst ','\'',$(1))' | cmp -s - $@ || \
	printf '%s\n' '$(subst ','\'',$(1))' >$@

$(OUT)/flags: .FORCE
	$(Q)$(if $(PKGS_FOUND),true,scripts/setup.sh --check build)
	$(call write,$(FLAGS))
# So that the library forgets the object of a deleted source.
$(OUT)/objects: .FORCE
	$(call write,$(LIB_OBJ) $(PROFILES) $(WORKSPACE) $(SOURCES))
.FORCE:
.PRECIOUS: $(OUT)/obj/%.o
.DELETE_ON_ERROR:

say = @$(if $(V),,printf '  %-7s %s\n' $(1) $(2))

$(OUT)/obj/tests/%.o: private OWN_CPPFLAGS += -Itests -I$(OUT)/include
$(OUT)/obj/bench/%.o: private OWN_CPPFLAGS += -I$(OUT)/include
# Examples are what users write: they see the public headers only.
$(OUT)/obj/examples/%.o: private OWN_CPPFLAGS := -Iinclude -I$(OUT)/include
$(call objects,$(wildcard bench/*.c examples/*.c $(patsubst %,tests/%/*.c,fidelity ops trace))): | $(OUT)/include/ttnn_ops.h

# Fuzz targets read; what computes is linked for the tables of operations, and half of the library.
ifeq ($(MODE),fuzz)
$(addprefix $(OUT)/obj/src/,backend/% golden/% $(patsubst src/%,%%,$(wildcard src/ops/*/))): \
	private OWN_CFLAGS := $(filter-out $(MODE_fuzz),$(OWN_CFLAGS)) -O0
endif

$(OUT)/obj/%.o: %.c $(OUT)/flags
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D); $(COMPILE) -MMD -MP -c $< -o $@
# Nobody reads the floating-point exception flags or errno, and with them gcc vectorises little.
ISA_OPT := $(if $(filter release asan tsan,$(MODE)),-O3) -fno-trapping-math -fno-math-errno
define isa_rule
$(OUT)/obj/%.$(1).o: %.isa.c $(OUT)/flags
	$$(call say,CC,"$$< ($(1))")
	$$(Q)mkdir -p $$(@D); $$(COMPILE) $(ISA_OPT) $(ISA_$(1)) -DTT_ISA=$(1) -MMD -MP -c $$< -o $$@
endef
$(foreach isa,$(ISAS),$(eval $(call isa_rule,$(isa))))

$(OUT)/gen/profiles.c: $(PROFILES) scripts/embed $(OUT)/objects
	$(call say,EMBED,data/profiles)
	$(Q)mkdir -p $(@D); scripts/embed tt_embedded_profiles data/profiles .json >$@
$(OUT)/gen/workspace.c: $(WORKSPACE) scripts/embed $(OUT)/objects
	$(call say,EMBED,python/compat)
	$(Q)mkdir -p $(@D); scripts/embed tt_embedded_workspace python/compat '' >$@
$(OUT)/gen/sources.c: $(SOURCES) scripts/embed $(OUT)/objects
	$(call say,EMBED,data/workspace)
	$(Q)mkdir -p $(@D); scripts/embed tt_embedded_sources data/workspace '' >$@
$(OUT)/obj/gen/%.o: $(OUT)/gen/%.c $(OUT)/flags
	$(Q)mkdir -p $(@D); $(COMPILE) -MMD -MP -c $< -o $@

$(OUT)/libttnn.a: $(LIB_OBJ) $(OUT)/objects
	$(call say,AR,$@)
	$(Q)rm -f $@; $(AR) rcs $@ $(LIB_OBJ)
$(OUT)/libttnn.so: $(LIB_OBJ) $(OUT)/objects
	$(call say,LD,$@)
	$(Q)$(LINK) -shared -Wl,-soname,libttnn.so.$(ABI) $(LIB_OBJ) -o $@ $(LIBS)
	$(Q)ln -sf $(@F) $@.$(ABI)
$(OUT)/ttnn: $(CLI_OBJ) $(OUT)/libttnn.a
	$(call say,LD,$@)
	$(Q)$(LINK) $^ -o $@ $(LIBS)

# The same program with a kernel that computes something else: what a sweep has to find.
$(OUT)/broken/ttnn: src/backend/cpu/rotary_kernel.c $(CLI_OBJ) $(OUT)/libttnn.a
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D); $(COMPILE) -DTT_BROKEN_KERNEL -c $< -o $(@D)/rotary.o
	$(Q)$(LINK) $(CLI_OBJ) $(@D)/rotary.o $(OUT)/libttnn.a -o $@ $(LIBS)

# The typed functions are made from the operation tables, and touched only when they change.
$(OUT)/tools/gen_ops: $(OUT)/obj/tools/gen_ops.o $(OUT)/libttnn.a
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D); $(LINK) $^ -o $@ $(LIBS)
$(OUT)/gen/ttnn_ops.h: $(OUT)/tools/gen_ops
	$(call say,GEN,$@)
	$(Q)mkdir -p $(@D); $< $@ $@pp
$(OUT)/include/ttnn_ops.h: $(OUT)/gen/ttnn_ops.h
	$(Q)mkdir -p $(@D); for to in $@ $@pp; do cmp -s $(<D)/$${to##*/} $$to || cp $(<D)/$${to##*/} $$to; done

# ---- programs of one file: tests, fuzz targets, benchmarks, examples ------------------------
# A fuzz target is fed by fuzz/replay.c, and by the fuzzing engine in MODE=fuzz.
FUZZ_MAIN := $(if $(filter fuzz,$(MODE)),-fsanitize=fuzzer,$(OUT)/obj/fuzz/replay.o)
$(patsubst %.c,$(OUT)/%,$(FUZZ_SRC)): $(filter %.o,$(FUZZ_MAIN))
$(OUT)/fuzz/%: $(OUT)/obj/fuzz/%.o $(OUT)/libttnn.a
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D); $(LINK) $< $(FUZZ_MAIN) $(OUT)/libttnn.a -o $@ $(LIBS)
$(OUT)/tests/fidelity/fidelity: $(call objects,$(FIDELITY_SRC))
$(OUT)/tests/hostile/calls: $(call objects,$(CALLS_SRC))
$(filter-out $(OUT)/fuzz/%,$(PROGRAMS)): $(OUT)/%: $(OUT)/obj/%.o $(OUT)/libttnn.a
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D); $(LINK) $(filter %.o,$^) $(OUT)/libttnn.a -o $@ $(LIBS)

-include $(patsubst %.o,%.d,$(LIB_OBJ) $(CLI_OBJ) $(call objects,$(PROGRAM_SRC) $(FIDELITY_SRC) $(CALLS_SRC) \
	fuzz/replay.c tools/gen_ops.c))

# ---- python ---------------------------------------------------------------------------------
# CPython wants functions as "void *", which is not pedantic.
# The extension for $(PYTHON), and the package around it: importable from $(OUT)/python.
PYTHON ?= python3
PY_SRC := $(wildcard python/src/*.c)
PY_FILES := $(wildcard python/ttnn/*.py python/ttnn/*/*.py python/ttnn_models/*.py python/tracy/*.py python/tt_lib/*.py python/tt_lib/*/*.py)
# A Python made for debugging counts references; the extension then does so, too.
PY_ASK = $(shell $(PYTHON) -c 'import sys, sysconfig as s; print(s.get_path("include"), s.get_config_var("EXT_SUFFIX"), \
	"-DPy_DEBUG" * hasattr(sys, "gettotalrefcount"))')
ifneq ($(filter python,$(MAKECMDGOALS)),)
PY_FOUND := $(PY_ASK)
PY_INCLUDE := $(word 1,$(PY_FOUND))
PY_SUFFIX := $(word 2,$(PY_FOUND))
PY_OUT := $(OUT)/obj/python$(basename $(PY_SUFFIX))
PY_OBJ := $(patsubst python/src/%.c,$(PY_OUT)/%.o,$(PY_SRC))
PY_LIB := $(OUT)/python/ttnn/_ttnn$(PY_SUFFIX)

.PHONY: python
# What pip would note about the package beside it: pytest finds the plugin there.
PY_NOTE := $(OUT)/python/ttnn-$(VERSION).dist-info
python: $(PY_LIB) $(patsubst python/%,$(OUT)/python/%,$(PY_FILES)) $(PY_NOTE)/entry_points.txt $(PY_NOTE)/METADATA
$(PY_NOTE)/%: pyproject.toml python/backend.py
	$(Q)mkdir -p $(@D); $(PYTHON) python/backend.py $(@F) >$@
$(PY_OUT)/%.o: python/src/%.c $(OUT)/flags
	$(call say,CC,$<)
	$(Q)[ -e $(PY_INCLUDE)/Python.h ] || scripts/setup.sh --check python
	$(Q)mkdir -p $(@D); $(COMPILE) -Wno-pedantic $(word 3,$(PY_FOUND)) -isystem $(PY_INCLUDE) -MMD -MP -c $< -o $@
$(PY_LIB): $(PY_OBJ) $(OUT)/libttnn.a
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D); $(LINK) -shared $^ -o $@ $(LIBS)
$(OUT)/python/%.py: python/%.py
	$(Q)mkdir -p $(@D); cp $< $@
-include $(PY_OBJ:.o=.d)
endif

# ---- tests ----------------------------------------------------------------------------------
# Set-up may install pkg-config itself, which this makefile has already asked for the flags: so the
# build is another make. It uses all cores unless -j was given.
PARALLEL = $(if $(findstring -j,$(MAKEFLAGS)),,-j$(shell nproc))
SUBMAKE = +$(Q)$(MAKE) --no-print-directory $(PARALLEL)

.PHONY: setup test test-fast test-threads test-full test-hostile test-master test-visualizer test-perfetto test-upstream \
	test-tt-metal test-cluster test-superset
setup:
	$(Q)scripts/setup.sh build
test test-fast: setup
	$(Q)scripts/setup.sh python test || echo 'make test: without the tests of the Python package or of the C++ header'
	$(SUBMAKE) programs
	$(Q)tests/run --out $(OUT) $(if $(@:test=),--$(@:test-%=%))
test-threads: setup
	$(SUBMAKE) all $(patsubst %.c,$(OUT)/%,$(shell grep -l '@threads' $(TEST_SRC)))
	$(Q)tests/run --out $(OUT) --threads
test-master: setup
	$(SUBMAKE) $(OUT)/ttnn
	$(Q)tests/master/run $(OUT)
test-visualizer: setup
	$(Q)scripts/setup.sh visualizer || echo 'make test-visualizer: without the pages in a browser'
	$(SUBMAKE) all python
	$(Q)tests/visualizer/run $(OUT)
test-perfetto: setup
	$(Q)scripts/setup.sh visualizer || true
	$(SUBMAKE) all python
	$(Q)tests/perfetto/run $(OUT)
# Imports the same reports, and derives the same profiles, with the released ttnn where it can be installed.
test-upstream: setup
	$(SUBMAKE) all python
	$(Q)tests/upstream/run $(OUT)
# Upstream's documentation examples, unit tests and models of a checkout, with our module: REF=DIR, RUN='--random 1'.
test-tt-metal: setup
	$(SUBMAKE) python
	$(Q)tests/tt-metal/run --out $(OUT) $(if $(REF),--ref $(REF)) $(RUN) || [ $$? = 77 ]
# A real PostgreSQL and a real Slurm, of this machine, run each EVERY-th configuration of the real master.
EVERY ?= 1
test-cluster: setup
	$(Q)scripts/setup.sh cluster || true
	$(SUBMAKE) $(OUT)/ttnn
	$(Q)tests/cluster/run $(OUT) $(EVERY)
	$(Q)tests/cluster/faults $(OUT) $(if $(EVERY:1=),3,20) || [ $$? = 77 ]
	$(Q)[ $(EVERY) != 1 ] || tests/cluster/image
test-superset: setup
	$(Q)scripts/setup.sh cluster || true
	$(SUBMAKE) $(OUT)/ttnn $(OUT)/broken/ttnn
	$(Q)tests/superset/run $(OUT)
test-hostile: setup
	$(Q)scripts/setup.sh full || true
	$(SUBMAKE) programs
	$(Q)tests/hostile/run $(OUT) $(HOSTILE)
test-full: setup
	$(Q)scripts/setup.sh full || true
	$(SUBMAKE) programs
	$(Q)tests/full/run $(OUT)

# ---- bench, fuzz, cover, lint ---------------------------------------------------------------
BENCH_BIN := $(patsubst %.c,$(OUT)/%,$(BENCH_SRC))
.PHONY: bench bench-python bench-import bench-visualizer fuzz fuzz-programs cover
bench: setup
	$(SUBMAKE) all $(BENCH_BIN)
	$(Q)for program in $(BENCH_BIN); do echo "== $$program"; $$program || exit 1; done
bench-python: setup
	$(SUBMAKE) python
	$(Q)PYTHONPATH=$(OUT)/python $(PYTHON) bench/python.py
bench-import: setup
	$(SUBMAKE) $(OUT)/ttnn
	$(Q)$(PYTHON) bench/import.py $(OUT)/ttnn
bench-visualizer: setup
	$(SUBMAKE) $(OUT)/ttnn
	$(Q)$(PYTHON) bench/visualizer.py $(OUT)/ttnn
fuzz-programs: $(patsubst %.c,$(OUT)/%,$(FUZZ_SRC))
fuzz:
	$(Q)scripts/setup.sh build fuzz
	$(SUBMAKE) MODE=fuzz fuzz-programs
	$(Q)scripts/fuzz build/fuzzing $(FUZZ_SECONDS)
cover: setup
	$(SUBMAKE) MODE=cover programs
	$(Q)find build/cover -name '*.gcda' -delete
	$(Q)tests/run --out build/cover
	$(Q)scripts/cover build/cover

# ---- lint -----------------------------------------------------------------------------------
# Of the analyzers only what a change can affect is run again. Tests are not analyzed, but formatted.
SCRIPTS := $(shell grep -lE '^\#!.*sh$$' scripts/* tests/run tests/*/run tests/full/venv tests/*/*.sh .ci/* 2>/dev/null)
C_FILES := $(wildcard $(foreach dir,src include tests fuzz bench examples tools python,$(addprefix $(dir)/,*.[ch] \
	*/*.[ch] */*/*.[ch])))
HEADERS := $(filter %.h,$(C_FILES))
TIDY_SRC := $(LIB_SRC) $(CLI_SRC) $(BENCH_SRC) $(EXAMPLE_SRC) $(wildcard fuzz/*.c tools/*.c)
# The analyzer may take so many steps in a function: a quarter of its own limit, in a fifth of the time.
TIDY_FLAGS := $(OWN_CPPFLAGS) -I$(OUT)/include -std=c17 $(ISA_avx512) -DTT_ISA=plain \
	-Xclang -analyzer-config -Xclang max-nodes=50000
LINTS := lint-format lint-text lint-includes lint-shell lint-clang lint-cppcheck lint-tidy

.PHONY: lint format $(LINTS)
lint:
	$(Q)scripts/setup.sh build lint
	$(SUBMAKE) -k $(LINTS)
format:
	$(Q)clang-format -i $(C_FILES)
# Versions differ in details; one decides, the others only tell.
FORMAT_VERSION := 14
lint-format:
	$(Q)for file in $(C_FILES); do clang-format $$file | cmp -s - $$file || \
		{ echo "$$file: not as clang-format writes it; run 'make format'"; bad=1; }; done; \
		test -z "$$bad" || ! clang-format --version | grep -q 'version $(FORMAT_VERSION)\.'
lint-text:
	$(Q)scripts/check_text
lint-includes:
	$(Q)scripts/check_includes
lint-shell:
	$(Q)shellcheck $(SCRIPTS)
# What clang warns of in files that gcc compiles without a word.
lint-clang: $(OUT)/include/ttnn_ops.h
	$(Q)printf '%s\n' $(filter %.c,$(C_FILES)) | xargs -P 2 -n 16 clang -fsyntax-only $(OWN_CPPFLAGS) -Itests -I$(OUT)/include \
		-std=c17 $(WARN) -Werror -Wno-pedantic $(ISA_avx512) -DTT_ISA=plain $(addprefix -isystem ,$(word 1,$(PY_ASK)))
lint-cppcheck:
	$(Q)mkdir -p build/lint/cppcheck
	$(Q)cppcheck -q --std=c11 --enable=warning,performance,portability --error-exitcode=1 \
		--inline-suppr --suppressions-list=scripts/cppcheck --cppcheck-build-dir=build/lint/cppcheck \
		$(OWN_CPPFLAGS) -DTT_ISA=plain src fuzz examples bench
lint-tidy: $(patsubst %.c,build/lint/%.tidy,$(TIDY_SRC))
build/lint/%.tidy: %.c .clang-tidy scripts/tidy.h $(HEADERS) | $(OUT)/include/ttnn_ops.h
	$(call say,TIDY,$<)
	$(Q)mkdir -p $(@D); clang-tidy --quiet $< -- $(TIDY_FLAGS) \
		$(if $(filter src/base/status.c,$<),,-include scripts/tidy.h) >$@.log 2>&1 || \
		{ grep -E '(error|warning):' $@.log; echo "$<: how it comes to that: $@.log"; exit 1; }; touch $@

# ---- install --------------------------------------------------------------------------------
PUBLIC := $(shell find include -name '*.h*')
INSTALLED := $(PREFIX)/bin/ttnn $(LIBDIR)/libttnn.a $(LIBDIR)/libttnn.so.$(VERSION) \
	$(LIBDIR)/libttnn.so.$(ABI) $(LIBDIR)/libttnn.so $(LIBDIR)/pkgconfig/ttnn.pc \
	$(PUBLIC:%=$(PREFIX)/%) $(PREFIX)/include/ttnn_ops.h $(PREFIX)/include/ttnn_ops.hpp \
	$(PROFILES:data/%=$(PREFIX)/share/ttnn/%)

.PHONY: install uninstall
install: all
	$(Q)install -d $(sort $(dir $(addprefix $(DESTDIR),$(INSTALLED))))
	$(Q)install -m 755 $(OUT)/ttnn $(DESTDIR)$(PREFIX)/bin/ttnn
	$(Q)install -m 644 $(OUT)/libttnn.a $(DESTDIR)$(LIBDIR)/libttnn.a
	$(Q)install -m 755 $(OUT)/libttnn.so $(DESTDIR)$(LIBDIR)/libttnn.so.$(VERSION)
	$(Q)ln -sf libttnn.so.$(VERSION) $(DESTDIR)$(LIBDIR)/libttnn.so.$(ABI)
	$(Q)ln -sf libttnn.so.$(ABI) $(DESTDIR)$(LIBDIR)/libttnn.so
	$(Q)for file in $(PUBLIC); do install -m 644 $$file $(DESTDIR)$(PREFIX)/$$file || exit 1; done
	$(Q)install -m 644 $(OUT)/include/ttnn_ops.h $(OUT)/include/ttnn_ops.hpp $(DESTDIR)$(PREFIX)/include/
	$(Q)for file in $(PROFILES:data/%=%); do \
		install -m 644 data/$$file $(DESTDIR)$(PREFIX)/share/ttnn/$$file || exit 1; done
	$(Q)sed 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR)|; s|@VERSION@|$(VERSION)|; s|@REQUIRES@|$(PKGS)|' \
		ttnn.pc.in >$(DESTDIR)$(LIBDIR)/pkgconfig/ttnn.pc
	$(refresh)
uninstall:
	$(Q)rm -f $(addprefix $(DESTDIR),$(INSTALLED))
	$(refresh)
# So that programs find the shared library when they start; packagers (DESTDIR) do that themselves.
LDCONFIG ?= ldconfig
refresh = $(if $(DESTDIR),,$(Q)[ "$$(id -u)" != 0 ] || PATH=$$PATH:/usr/sbin:/sbin $(LDCONFIG) || \
	echo "install: '$(LDCONFIG)' failed: programs may not find libttnn.so")

# ---- first steps ----------------------------------------------------------------------------
.PHONY: quickstart help clean
quickstart: setup
	$(SUBMAKE) all $(patsubst %.c,$(OUT)/%,$(EXAMPLE_SRC))
	$(Q)scripts/quickstart $(OUT)

help:
	@printf '%s\n' \
		'make                  build/ttnn, build/libttnn.so, build/libttnn.a' \
		'make quickstart       install what is missing, build, run a network and show what it did' \
		'make python           the Python package for PYTHON=python3, in build/python (pip install . does it too)' \
		'make test             install what is missing, build, run all tests (tests/run PATTERN: some)' \
		'make test-fast        those that take seconds' \
		'make test-threads     those with threads, for MODE=tsan' \
		'make test-full        those that compare with numpy and torch, in build/venv' \
		'make test-hostile     signals, forks, threads, small disks; TTNN_TEST_LONG=10: ten times as long' \
		'make test-visualizer  ttnn-visualizer, in build/visualizer, opens a database of ours' \
		'make test-perfetto    Perfetto'\''s own page, in build/perfetto, opens timelines of ours' \
		'make test-cluster     the real master on a PostgreSQL and a Slurm that are started here; EVERY=10: a tenth' \
		'make test-superset    Apache Superset, in build/superset, imports a dashboard of ours' \
		'make lint             formatting, clang'\''s warnings, clang-tidy, cppcheck, shellcheck, include law, sizes' \
		'make format           let clang-format rewrite the sources' \
		'make test-master      every configuration traced from real models, against its golden' \
		'make test-upstream    imports of reports, against the released ttnn (installed in build/upstream)' \
		'make test-tt-metal    upstream'\''s own tests and models of a checkout, REF=DIR, with our module' \
		'make bench            the benchmarks (ratios; never pass or fail)' \
		'make bench-python     what calls from Python cost' \
		'make bench-import     what importing reports costs' \
		'make bench-visualizer how fast ttnn-visualizer answers from databases of ours' \
		'make fuzz             fuzz every target for FUZZ_SECONDS=60' \
		'make cover            how much of each directory the tests run' \
		'make install          to PREFIX=/usr/local, LIBDIR=PREFIX/lib, under DESTDIR; make uninstall' \
		'make clean            remove build/' \
		'' \
		'MODE=release|debug|asan|tsan|cover   CC=gcc|clang   V=1 shows the commands   CI=1: warnings are errors'

clean:
	$(Q)rm -rf build
