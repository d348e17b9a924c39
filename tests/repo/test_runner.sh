#!/usr/bin/env bash
# tests/run adds up what programs, scripts, cases and fuzz targets say, and notices crashes, wrong
# output, missing programs and missing corpora.
set -eu
dir=$(mktemp -d "${TMPDIR:-/tmp}/ttnn-runner.XXXXXX")
trap 'rm -rf "$dir"' EXIT
mkdir -p "$dir"/{tests/{unit,cli},fuzz/corpus,examples,build/{tests/unit,fuzz,examples}}
cp tests/run "$dir/tests/"
cp tests/cli/run "$dir/tests/cli/"

# A test program that prints and does this.
program() {
	echo "/* $3 */" >"$dir/$1.c"
	printf '#!/bin/sh\n%s\n' "$2" >"$dir/build/$1"
	chmod +x "$dir/build/$1"
}
expect() {
	local code=$1 want=$2
	shift 2
	if "$dir/tests/run" "$@" >"$dir/out" 2>&1; then got=0; else got=$?; fi
	[ "$got" = "$code" ] && [ "$(tail -n 1 "$dir/out")" = "$want" ] && return
	echo "tests/run $*: exit $got, not $code, or not '$want':"
	cat "$dir/out"
	exit 1
}

expect 1 '0 passed, 0 failed'
program tests/unit/test_good 'echo 3 passed, 0 failed' ''
program tests/unit/test_slow 'echo 5 passed, 0 failed, 2 skipped' @slow
program tests/unit/test_threads 'echo 7 passed, 0 failed' @threads
expect 0 '15 passed, 0 failed, 2 skipped'
expect 0 '10 passed, 0 failed' --fast
expect 0 '7 passed, 0 failed' --threads
expect 0 '3 passed, 0 failed' unit/test_go
program tests/unit/test_bad 'echo FAILED one; echo 2 passed, 1 failed; exit 1' ''
expect 1 '5 passed, 1 failed' good bad
program tests/unit/test_leak 'echo 2 passed, 0 failed; exit 1' ''
expect 1 '2 passed, 1 failed' leak
program tests/unit/test_crash 'kill -SEGV $$' ''
expect 1 '0 passed, 1 failed' crash
program tests/unit/test_silent : ''
expect 1 '0 passed, 1 failed' silent
echo >"$dir/tests/unit/test_unbuilt.c"
expect 1 '0 passed, 1 failed' unbuilt

# shellcheck disable=SC2016 # the program's own
program fuzz/reader '[ -d "$1" ]' ''
expect 1 '0 passed, 1 failed' fuzz/
mkdir "$dir/fuzz/corpus/reader"
program examples/hello 'echo hello' ''
printf '#!/bin/sh\necho "no card here"; exit 77\n' >"$dir/tests/unit/test_card.sh"
chmod +x "$dir/tests/unit/test_card.sh"
expect 0 '2 passed, 0 failed, 1 skipped' fuzz/ hello card

printf '# A case.\n$ hello\n> hello\n= 0\n$ echo no >&2; printf yes; exit 3\n' >"$dir/tests/cli/hello.case"
expect 1 '0 passed, 1 failed' cli/
expect 0 '1 passed, 0 failed' --update cli/
expect 0 '1 passed, 0 failed' cli/
diff "$dir/tests/cli/hello.case" - <<-'END'
	# A case.
	$ hello
	> hello
	= 0
	$ echo no >&2; printf yes; exit 3
	> yes
	\ no newline at the end
	! no
	= 3
END
