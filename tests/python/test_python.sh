#!/usr/bin/env bash
# The Python package with the tests that need no torch; those named hostile have a run of their own. @slow
set -eu
case $OUT in
build/tsan) echo "Python itself is not built for it" && exit 77 ;;
build) mode=release ;;
*) mode=${OUT#build/} ;;
esac
python=${PYTHON:-python3}
header=$($python -c 'import sysconfig; print(sysconfig.get_path("include"))' 2>/dev/null)/Python.h
[ -e "$header" ] || { echo "no $python with its headers: scripts/setup.sh python" && exit 77; }
$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "$python is older than 3.11" && exit 77; }
$python -c 'import pytest' 2>/dev/null || { echo "no pytest: scripts/setup.sh python" && exit 77; }

# With the compiler of the build, or all of it would be made again.
compiler=$(sed -n '1s/ -Iinclude.*//p' "$OUT/flags")
make --no-print-directory MODE="$mode" CC="$compiler" PYTHON="$python" python
export PYTHONPATH=$PWD/$OUT/python PYTHONDONTWRITEBYTECODE=1
if [ "$mode" = asan ]; then # the program is Python's, so the library with the checks comes first
	LD_PRELOAD=$(${compiler#ccache } -print-file-name=libasan.so):$(${compiler#ccache } -print-file-name=libubsan.so)
	# The documents' commands start programs by the dozen, and models compute for long: what they call is tested by itself.
	set -- --ignore-glob='*test_seeds_[cms]*' --ignore-glob='*test_seeds_profile*'
	export LD_PRELOAD ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 TTNN_TEST_CALLS=500 PYTHONMALLOC=malloc
fi
exec "$python" -m pytest -q --tb=short -p no:cacheprovider --ignore-glob='*hostile*' "$@" tests/python
