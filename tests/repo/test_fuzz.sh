#!/usr/bin/env bash
# scripts/fuzz fails when a target finds something, is not there or runs nothing, and says so of each.
set -eu
dir=$(mktemp -d "${TMPDIR:-/tmp}/ttnn-fuzz.XXXXXX")
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/fuzz"
target() {
	printf '#!/bin/sh\n%s\n' "$2" >"$dir/fuzz/$1"
	chmod +x "$dir/fuzz/$1"
}
target good 'echo "stat::number_of_executed_units: 7"'
target finds 'echo "stat::number_of_executed_units: 7"; echo a crash; exit 77'
target idle 'echo "stat::number_of_executed_units: 0"'
expect() {
	local code=$1 want=$2 got=0
	shift 2
	scripts/fuzz "$dir" 1 "$@" >"$dir/out" 2>&1 || got=$?
	[ "$got" = "$code" ] || { echo "$*: exit $got, not $code"; cat "$dir/out"; exit 1; }
	[ -z "$want" ] || grep -q "$want" "$dir/out" || { echo "$*: no '$want'"; cat "$dir/out"; exit 1; }
}
expect 0 '^ok   good: 7 runs$' good
expect 1 '^a crash$' finds good
expect 1 '^FAIL idle' good idle
expect 1 '^FAIL missing' good missing good
# Every target of the tree is run when none is named.
count=0
for source in fuzz/*.c; do
	name=$(basename "$source" .c)
	[ "$name" != replay ] || continue
	target "$name" 'echo "stat::number_of_executed_units: 1"'
	count=$((count + 1))
done
expect 0 ''
[ "$(grep -c '^ok ' "$dir/out")" = "$count" ]
