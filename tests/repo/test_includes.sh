#!/usr/bin/env bash
# The include law holds, and scripts/check_includes sees each kind of break.
set -eu
scripts/check_includes

dir=$(mktemp -d "${TMPDIR:-/tmp}/ttnn-includes.XXXXXX")
trap 'rm -rf "$dir"' EXIT
mkdir -p "$dir"/{scripts,include,examples,src/{base,tensor,stray}}
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

if "$dir/scripts/check_includes" >"$dir/found" 2>/dev/null; then exit 1; fi
diff - <(sort "$dir/found") <<-'END'
	examples/e.c:1: "tensor/b.h": only <ttnn*.h> here
	src/base/a.h: does not compile alone
	src/base/a.h:1: src/base may not include "tensor/b.h"
	src/stray/d.c:1: src/stray has no row in scripts/layers
	src/tensor/b.h: does not compile alone
	src/tensor/b.h:1: <yyjson.h> belongs to src/base alone
	src/tensor/b.h:3: <unheard_of.h>: no row of scripts/layers knows it
	src/tensor/b.h:4: "c.h": write the path from src/
	src/tensor/needs_more.h: does not compile alone
END
