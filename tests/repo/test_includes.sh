#!/usr/bin/env bash
# The include law holds, for what is called too, and scripts/check_includes sees each kind of break.
set -eu
scripts/check_includes

dir=$(mktemp -d "${TMPDIR:-/tmp}/ttnn-includes.XXXXXX")
trap 'rm -rf "$dir"' EXIT
mkdir -p "$dir"/{scripts,include,examples,src/{base,tensor,stray,golden,ops/{norm,conv}}}
cp scripts/check_includes scripts/layers "$dir/scripts/"
cp include/*.h "$dir/include/"
cat >"$dir/src/base/a.h" <<-END
	#include "tensor/b.h"
END
cat >"$dir/src/tensor/b.h" <<-END
	#include <yyjson.h>
	#include <sys/stat.h>
	#include <unheard_of.h>
	#include "c.h"
	#include "base/a.h"
END
echo 'int alone(size_t size);' >"$dir/src/tensor/needs_more.h"
echo '#include <stdio.h>' >"$dir/src/stray/d.c"
echo '#include "tensor/b.h"' >"$dir/examples/e.c"
echo '#include "ops/norm/norm.h"' >"$dir/src/golden/g.c"
echo '#include "ops/conv/conv.h"' >"$dir/src/ops/norm/n.c"
echo '#include "ops/movement/inner.h"' >"$dir/src/ops/conv/c.c"
mkdir "$dir/src/cli"
touch "$dir"/src/{base,tensor,cli}/twin.c
# Declared by hand, or in <ttnn.h>: what is called tells. What has no source any more is left out.
mkdir -p "$dir"/build/obj/src/{base,tensor}
echo 'int high(void); int low(void) { return high(); }' >"$dir/src/base/low.c"
echo 'int low(void); int high(void) { return low(); }' >"$dir/src/tensor/high.c"
for source in base/low tensor/high; do
	${CC:-gcc} -c -o "$dir/build/obj/src/$source.o" "$dir/src/$source.c"
done
cp "$dir/build/obj/src/base/low.o" "$dir/build/obj/src/base/gone.o"

if OUT=build "$dir/scripts/check_includes" >"$dir/found" 2>/dev/null; then exit 1; fi
diff - <(sort "$dir/found") <<-'END'
	examples/e.c:1: "tensor/b.h": only <ttnn*.h> here
	src/base/a.h: does not compile alone
	src/base/a.h:1: src/base may not include "tensor/b.h"
	src/base/low.o: src/base may not use high of src/tensor
	src/golden/g.c:1: src/golden may not include "ops/norm/norm.h"
	src/ops/conv/c.c:1: "ops/movement/inner.h" is for src/ops/movement alone; others have its movement.h
	src/ops/norm/n.c:1: src/ops/norm may not include "ops/conv/conv.h"
	src/stray/d.c:1: src/stray has no row in scripts/layers
	src/tensor/b.h: does not compile alone
	src/tensor/b.h:1: <yyjson.h> belongs to src/base alone
	src/tensor/b.h:3: <unheard_of.h>: no row of scripts/layers knows it
	src/tensor/b.h:4: "c.h": write the path from src/
	src/tensor/needs_more.h: does not compile alone
	src/tensor/twin.c: src/base/twin.c has that basename already
END
