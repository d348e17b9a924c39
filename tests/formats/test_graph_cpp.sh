#!/bin/sh
# The C++ header compiles, and the documented snippet runs. $OUT is where the library is.
set -eu
out=${OUT:-build}
cxx=${CXX:-g++}
if ! command -v "$cxx" >/dev/null; then
	echo "no C++ compiler: skipped"
	exit 77
fi
if [ ! -f "$out/libttnn.so" ] || nm -D "$out/libttnn.so" | grep -q '__asan\|__tsan\|__gcov'; then
	echo "not with this build: skipped"
	exit 77
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
"$cxx" -std=c++17 -Wall -Wextra -Werror -Iinclude tests/formats/graph_snippet.cpp -o "$dir/snippet" \
	-L"$out" -lttnn -Wl,-rpath,"$(cd "$out" && pwd)"
got=$("$dir/snippet")
case $got in
*'["ttnn::add", "ttnn::prim::binary_ng", "Device Operation", "create_device_tensor"]'*) ;;
*)
	echo "the snippet printed: $got"
	exit 1
	;;
esac
