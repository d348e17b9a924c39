# ttnn.c
#
#   make quickstart     install what is missing, build, run an example
#   make                build/ttnn, build/libttnn.so, build/libttnn.a
#   make test           install what the tests need and run them all
#   make help           everything else
#
# MODE=debug|asan|tsan|cover builds beside the release build, in build/MODE. CC=clang works too.

VERSION := 0.1.0
MODE ?= release
CC := $(if $(filter default,$(origin CC)),gcc,$(CC))
PREFIX ?= /usr/local
Q := $(if $(V),,@)

OUT_release := build
OUT := $(or $(OUT_$(MODE)),build/$(MODE))

WARN := -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla \
	-Wconversion -Wno-sign-conversion $(if $(CI),-Werror)
MODE_release := -O2 -g -DNDEBUG
MODE_debug := -O0 -g3
MODE_asan := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
MODE_tsan := -O1 -g -fsanitize=thread -fno-omit-frame-pointer
MODE_cover := -O0 -g --coverage
ifeq ($(MODE_$(MODE)),)
$(error MODE=$(MODE) is none of release, debug, asan, tsan, cover)
endif

PKGS := yyjson zlib
CPPFLAGS += -Iinclude -Isrc -D_GNU_SOURCE -DTTNN_VERSION='"$(VERSION)"'
CFLAGS += -std=c17 $(WARN) $(MODE_$(MODE)) -fPIC -fvisibility=hidden -ffp-contract=off \
	$(shell pkg-config --cflags $(PKGS) 2>/dev/null)
LDFLAGS += $(filter -fsanitize=% --coverage,$(MODE_$(MODE)))
LDLIBS += $(shell pkg-config --libs $(PKGS) 2>/dev/null || echo -lyyjson -lz) -lm -lpthread -ldl

# ---- sources --------------------------------------------------------------------------------
# A file NAME.isa.c is compiled once for every instruction set; the rest once.
ISAS := plain $(if $(filter x86_64,$(shell uname -m)),avx2 avx512)
ISA_plain :=
ISA_avx2 := -mavx2 -mfma -mbmi2 -mf16c
ISA_avx512 := $(ISA_avx2) -mavx512f -mavx512bw -mavx512vl -mavx512dq -mprefer-vector-width=512

CLI_SRC := $(wildcard src/cli/*.c)
LIB_SRC := $(filter-out $(CLI_SRC),$(wildcard src/*/*.c src/*/*/*.c))
ISA_SRC := $(filter %.isa.c,$(LIB_SRC))
LIB_OBJ := $(patsubst %.c,$(OUT)/obj/%.o,$(filter-out $(ISA_SRC),$(LIB_SRC))) \
	$(foreach isa,$(ISAS),$(patsubst %.isa.c,$(OUT)/obj/%.$(isa).o,$(ISA_SRC)))
CLI_OBJ := $(patsubst %.c,$(OUT)/obj/%.o,$(CLI_SRC))
TEST_SRC := $(wildcard tests/*/*.c)
TEST_BIN := $(patsubst tests/%.c,$(OUT)/tests/%,$(TEST_SRC))
FUZZ_SRC := $(wildcard fuzz/*.c)
FUZZ_BIN := $(patsubst fuzz/%.c,$(OUT)/fuzz/%,$(filter-out fuzz/replay.c,$(FUZZ_SRC)))
BENCH_BIN := $(patsubst bench/%.c,$(OUT)/bench/%,$(wildcard bench/*.c))
EXAMPLE_BIN := $(patsubst examples/%.c,$(OUT)/examples/%,$(wildcard examples/*.c))

.PHONY: all
all: $(OUT)/ttnn $(OUT)/libttnn.so $(OUT)/libttnn.a

# Objects are made again when the compiler or its flags change.
FLAGS := $(CC) $(CPPFLAGS) $(CFLAGS)
$(OUT)/flags: .FORCE
	$(Q)mkdir -p $(@D); printf '%s\n' '$(subst ','\'',$(FLAGS))' | cmp -s - $@ || \
		printf '%s\n' '$(subst ','\'',$(FLAGS))' >$@
.FORCE:

COMPILE = $(Q)mkdir -p $(@D); echo "  CC      $<"; $(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP

$(OUT)/obj/%.o: %.c $(OUT)/flags
	$(COMPILE) -c $< -o $@
define isa_rule
$(OUT)/obj/%.$(1).o: %.isa.c $(OUT)/flags
	$$(COMPILE) -O3 $(ISA_$(1)) -DTT_ISA=$(1) -c $$< -o $$@
endef
$(foreach isa,$(ISAS),$(eval $(call isa_rule,$(isa))))

$(OUT)/libttnn.a: $(LIB_OBJ)
	$(Q)rm -f $@; echo "  AR      $@"; $(AR) rcs $@ $^
$(OUT)/libttnn.so: $(LIB_OBJ)
	$(Q)echo "  LD      $@"; $(CC) -shared -Wl,-soname,libttnn.so.0 $(LDFLAGS) $^ -o $@ $(LDLIBS)
$(OUT)/ttnn: $(CLI_OBJ) $(OUT)/libttnn.a
	$(Q)echo "  LD      $@"; $(CC) $(LDFLAGS) $^ -o $@ $(LDLIBS)

# ---- programs of one file: tests, fuzz targets, benchmarks, examples -------------------------
PROGRAM = $(Q)mkdir -p $(@D); echo "  CC      $<"; $(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP $(LDFLAGS)

$(OUT)/tests/%: tests/%.c $(OUT)/libttnn.a
	$(PROGRAM) -Itests $< $(OUT)/libttnn.a -o $@ $(LDLIBS)
$(OUT)/bench/%: bench/%.c $(OUT)/libttnn.a
	$(PROGRAM) $< $(OUT)/libttnn.a -o $@ $(LDLIBS)
$(OUT)/fuzz/%: fuzz/%.c fuzz/replay.c $(OUT)/libttnn.a
	$(PROGRAM) $< fuzz/replay.c $(OUT)/libttnn.a -o $@ $(LDLIBS)
# Examples see the public headers only.
$(OUT)/examples/%: examples/%.c $(OUT)/libttnn.a
	$(Q)mkdir -p $(@D); echo "  CC      $<"; $(CC) -std=c17 $(WARN) $(MODE_$(MODE)) -Iinclude \
		-MMD -MP $(LDFLAGS) $< $(OUT)/libttnn.a -o $@ $(LDLIBS)

-include $(LIB_OBJ:.o=.d) $(CLI_OBJ:.o=.d) $(TEST_BIN:=.d) $(BENCH_BIN:=.d) $(FUZZ_BIN:=.d) \
	$(EXAMPLE_BIN:=.d)

.PHONY: clean
clean:
	$(Q)rm -rf build
