#!/usr/bin/env bash
# Pictures for Graphviz are drawn by the real `dot`: of recorded reports, and of parts of a program, in both dialects.
# Its release 2.43 ended with a fault for parts of 2, 3, 4 and 8 calls when edges were to keep their order.
set -u
cd "$(dirname "$0")/../.." || exit 2
ttnn=$PWD/$OUT/ttnn
if ! command -v dot >/dev/null; then
	echo "no dot: scripts/setup.sh test"
	[ -n "${CI:-}" ] && exit 1 # there it is installed
	exit 77
fi
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
failed=0 drawn=0

draw() { # ARGUMENTS of ttnn export dot
	if "$ttnn" export dot -o "$work/a.dot" "$@" && dot -Tsvg -o "$work/a.svg" "$work/a.dot" 2>"$work/said"; then
		drawn=$((drawn + 1))
	else
		echo "FAILED: dot of $*: $(cat "$work/said")"
		failed=$((failed + 1))
	fi
}

TTNN_TRACE=$work/trace "$OUT/examples/network" >/dev/null || exit 1
for dialect in seed tt-metal; do
	for first in 1 4 8 9 10 16; do
		for count in 1 2 3 4 8; do
			draw --dialect $dialect --first $first --count $count "$work"/trace/*.ttrace
		done
	done
done
for report in tests/data/report/recorded/*/report.json.gz tests/data/graph/sample.json; do
	draw "$report"
done
# The colours are those of the other pictures, and no text breaks out of its quotes.
for color in dce9f8 dcf0dd; do
	"$ttnn" export dot tests/data/report/recorded/add/report.json.gz | grep -q "#$color" || failed=$((failed + 1))
done
echo "$drawn drawn, $failed failed"
[ $failed = 0 ]
