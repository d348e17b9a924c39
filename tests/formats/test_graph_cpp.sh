#!/bin/sh
# The C++ headers compile, have every operation, and the documented snippets and the programs here run. $OUT is where the
# library is.
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
compile() {
	"$cxx" "-std=$1" -Wall -Wextra -Wpedantic -Werror -Iinclude -I"$out/include" "$2" -o "$3" \
		-L"$out" -lttnn -Wl,-rpath,"$(cd "$out" && pwd)"
}
compile c++17 tests/formats/graph_snippet.cpp "$dir/snippet"
"$dir/snippet" >"$dir/got"
cat >"$dir/wanted" <<'END'
21 nodes, ["ttnn::add", "ttnn::prim::binary_ng", "Device Operation", "create_device_tensor"]
create_device_tensor: some time
Device Operation: some time
ttnn::prim::binary_ng: some time
ttnn::add: some time
peak: 2048
"ttnn::add": 2 arguments
"ttnn::prim::binary_ng": 30 arguments
"Device Operation": 2 arguments
"create_device_tensor": 5 arguments
"tensor[1]" (level 1) inputs: [] outputs: [2, 3] internals: []
"tensor[3]" (level 1) inputs: [] outputs: [2, 3] internals: []
"ttnn::add" (level 1) inputs: [0, 1] outputs: [] internals: [3]
"ttnn::prim::binary_ng" (level 2) inputs: [0, 1] outputs: [] internals: []
"capture_start" "ttnn::add" 20
result: 3.5
refused: 1
END
diff "$dir/wanted" "$dir/got"

# The example of the page.
# shellcheck disable=SC2016
sed -n '/^```cpp$/,/^```$/{/^```/d;p}' docs/cpp.md >"$dir/page.cpp"
compile c++17 "$dir/page.cpp" "$dir/page"
printf 'ttnn::exp\nttnn::add\n3.21875\n' >"$dir/wanted"
"$dir/page" >"$dir/got"
diff "$dir/wanted" "$dir/got"

# Another file of the same program may include the headers, too.
printf '#include "%s"\n' ttnn/graph/graph_processor.hpp "$PWD/tests/formats/operations.cpp" >"$dir/both.cpp"
compile c++20 "$dir/both.cpp" "$dir/operations"
"$dir/operations"

# A function for each operation, in the namespace of its name.
names=$("$out/ttnn" ops | grep -c "^  ttnn\.")
functions=$(grep -c '^inline ' "$out/include/ttnn_ops.hpp")
[ "$names" = "$functions" ] || { echo "$names operations, $functions functions" && exit 1; }
grep -q '^namespace ttnn::transformer {' "$out/include/ttnn_ops.hpp"
