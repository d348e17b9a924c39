#!/usr/bin/env bash
# What README.md shows is so: its code is part of the example, its output is what the example prints,
# its links lead somewhere and the make targets of the documents exist.
set -eu
[ "$OUT" = build ] || { echo "the README tells of the release build" && exit 77; }
block() { awk -v start="\`\`\`$1" '$0 == start { on = 1; next } /^```/ { on = 0 } on' README.md; }

code=$(block c) printed=$(block text | sed 1d)
[ -n "$code" ] && [ -n "$printed" ]
[[ $(cat examples/tensors.c) == *"$code"* ]] || { echo "README's code is not in examples/tensors.c"; exit 1; }
[[ $("$OUT/examples/tensors") == *"$printed"* ]] || { echo "the example prints otherwise"; exit 1; }

for document in README.md ARCHITECTURE.md CONTRIBUTING.md docs/README.md; do
	grep -oE '\]\([^)#]+\)' "$document" | tr -d '()]' | while read -r link; do
		[ -e "$(dirname "$document")/$link" ] || { echo "$document: $link leads nowhere"; exit 1; }
	done
	{ grep -oE '(^|`)make [a-z][a-z-]*' "$document" || true; } | sed 's/.*make //' | while read -r target; do
		grep -qE "^([a-z-]+ )*${target}[a-z -]*:" Makefile || { echo "$document: make $target?"; exit 1; }
	done
done
