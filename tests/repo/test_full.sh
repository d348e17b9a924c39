#!/usr/bin/env bash
# tests/full/run cannot pass in CI without a comparison, says when torch is missing, and installs once.
set -eu
dir=$(mktemp -d "${TMPDIR:-/tmp}/ttnn-full.XXXXXX")
trap 'rm -rf "$dir"' EXIT
mkdir -p "$dir"/{bin,tests/full}
cp tests/full/{run,venv,requirements.txt} "$dir/tests/full/"
export PATH="$dir/bin:$PATH" LOG="$dir/log" VENV=yes REFUSED=''

# A python3 whose environments hold a pip that refuses what REFUSED names, and tests that pass.
cat >"$dir/bin/python3" <<-'END'
	#!/bin/sh
	[ -n "$VENV" ] || exit 1
	mkdir -p "$3/bin"
	printf '#!/bin/sh\necho "pip $*" >>"$LOG"\ncase "$*" in *"${REFUSED:-nothing}"*) exit 1 ;; esac\n' >"$3/bin/pip"
	printf '#!/bin/sh\necho "5 passed, 0 failed"\n' >"$3/bin/python"
	chmod +x "$3/bin/pip" "$3/bin/python"
END
chmod +x "$dir/bin/python3"

expect() {
	local code=$1 want=$2 got=0
	"$dir/tests/full/run" >"$dir/out" 2>&1 || got=$?
	[ "$got" = "$code" ] && grep -q -- "$want" "$dir/out" && return
	echo "exit $got, not $code, or not '$want':"
	cat "$dir/out"
	exit 1
}

unset CI
VENV='' expect 0 '^0 passed, 0 failed, 1 skipped'
REFUSED=requirements expect 0 '^0 passed, 0 failed, 1 skipped'
export CI=true
VENV='' expect 1 '^0 passed, 1 failed'
REFUSED=requirements expect 1 '^0 passed, 1 failed'
REFUSED=requirements expect 1 '^0 passed, 1 failed' # what was begun does not count
: >"$LOG"
REFUSED=torch expect 0 'WARNING: no torch'
grep -q '5 passed' "$dir/out"
[ "$(wc -l <"$LOG")" = 2 ]
expect 0 'WARNING: no torch' # nothing is downloaded again, and it is still said
[ "$(wc -l <"$LOG")" = 2 ]
rm -rf "$dir/build"
expect 0 '^5 passed'
if grep -q WARNING "$dir/out"; then exit 1; fi
