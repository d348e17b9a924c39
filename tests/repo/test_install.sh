#!/usr/bin/env bash
# A user's program compiles against the installed library with what pkg-config says, with the shared
# and with the static library, and runs; uninstall leaves no file behind.
set -eu
[ "$OUT" = build ] || { echo "only the release build is installed" && exit 77; }
dir=$(mktemp -d "${TMPDIR:-/tmp}/ttnn-install.XXXXXX")
trap 'rm -rf "$dir"' EXIT

# The system learns of the library, unless it is only staged (DESTDIR) or root is not there.
refresh="ldconfig -X -C $dir/cache $dir/prefix/lib"
make -s install DESTDIR="$dir/stage" LDCONFIG="$refresh" >/dev/null
[ ! -e "$dir/cache" ]
make -s install PREFIX="$dir/prefix" LDCONFIG="$refresh" >/dev/null
if [ "$(id -u)" = 0 ]; then
	ldconfig -C "$dir/cache" -p | grep -q "libttnn.so.0 .*=> $dir/prefix/lib/libttnn.so.0"
fi
cat >"$dir/user.c" <<-'END'
	#include <stdio.h>
	#include <ttnn.h>
	int main(void)
	{
		return puts(ttnn_version()) < 0;
	}
END
export PKG_CONFIG_PATH="$dir/prefix/lib/pkgconfig"
read -ra compile < <(pkg-config --cflags ttnn)
read -ra shared < <(pkg-config --libs ttnn)
read -ra static < <(pkg-config --libs --static ttnn | sed 's/-lttnn/-Wl,-Bstatic -lttnn -Wl,-Bdynamic/')
version=$(pkg-config --modversion ttnn)

gcc -Wall -Werror "${compile[@]}" "$dir/user.c" -o "$dir/with_shared" "${shared[@]}"
gcc -Wall -Werror "${compile[@]}" "$dir/user.c" -o "$dir/with_static" "${static[@]}"
[ "$(LD_LIBRARY_PATH="$dir/prefix/lib" "$dir/with_shared")" = "$version" ]
[ "$("$dir/with_static")" = "$version" ]
LD_LIBRARY_PATH="$dir/prefix/lib" ldd "$dir/with_shared" | grep -q "libttnn.so.0 => $dir/prefix/lib/libttnn.so.0"
if ldd "$dir/with_static" | grep -q libttnn; then exit 1; fi
[ "$("$dir/prefix/bin/ttnn" --version)" = "ttnn $version" ]

# The C++ header is installed too; a staged installation compiles with the paths of the stage.
staged=(-I"$dir/stage/usr/local/include" -L"$dir/stage/usr/local/lib" -lttnn "-Wl,-rpath,$dir/stage/usr/local/lib")
gcc -Wall -Werror "$dir/user.c" -o "$dir/staged" "${staged[@]}"
[ "$("$dir/staged")" = "$version" ]
if command -v g++ >/dev/null; then
	g++ -std=c++17 -Wall -Wextra -Werror tests/formats/graph_snippet.cpp -o "$dir/snippet" "${staged[@]}"
	"$dir/snippet" | grep -q ttnn::add
else
	echo "no C++ compiler: the C++ header was not tried"
fi

# The library's own names do not leak out of it: only ttnn_ ones are seen.
nm -D --defined-only "$dir/prefix/lib/libttnn.so" | awk '$3 !~ /^ttnn_/ { print "exported: " $3; bad = 1 } END { exit bad }'

make -s uninstall PREFIX="$dir/prefix" LDCONFIG="$refresh"
[ -z "$(find "$dir/prefix" ! -type d)" ]
