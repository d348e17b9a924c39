#!/usr/bin/env bash
# What README.md shows is so: its code is part of the example, its output is what the example prints, its
# commands work, also the second time, its links lead somewhere, the make targets of the documents and the C functions
# that docs/ttnn-ops.md names exist.
set -eu
[ "$OUT" = build ] || { echo "the README tells of the release build" && exit 77; }
block() { awk -v start="\`\`\`$1" '$0 == start { on = 1; next } /^```/ { on = 0 } on' README.md; }

code=$(block c) printed=$(block text | sed 1d)
[ -n "$code" ] && [ -n "$printed" ]
[[ $(cat examples/tensors.c) == *"$code"* ]] || { echo "README's code is not in examples/tensors.c"; exit 1; }
[[ $("$OUT/examples/tensors") == *"$printed"* ]] || { echo "the example prints otherwise"; exit 1; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ln -s "$(realpath "$OUT")" "$work/build"
gzip -dc tests/data/report/recorded/add/report.json.gz >"$work/report.json"
# shellcheck disable=SC2016 # backquotes of Markdown
commands=$(sed -n '/^```$/,/^```$/{s/^\(build\/ttnn [^#]*\).*/\1/p;}' README.md | grep -v softmax)
[ "$(grep -c . <<<"$commands")" -ge 5 ] || { echo "README's commands were not found"; exit 1; }
for time in first second; do
	while read -r command; do
		(cd "$work" && sh -c "$command" </dev/null >out 2>&1) || { echo "$time time: $command:"; cat "$work/out"; exit 1; }
	done <<<"$commands"
done

# shellcheck disable=SC2016
functions=$(grep -oE '\bttnn_[a-z_0-9]+\(|`ttnn_[a-z_0-9]+`' docs/ttnn-ops.md | grep -oE 'ttnn_[a-z_0-9]+' | sort -u)
for name in $functions; do
	grep -qE "\b$name\(" "$OUT/gen/ttnn_ops.h" include/ttnn.h || { echo "docs/ttnn-ops.md: there is no $name"; exit 1; }
done

for document in README.md ARCHITECTURE.md CONTRIBUTING.md docs/README.md; do
	grep -oE '\]\([^)#]+\)' "$document" | tr -d '()]' | while read -r link; do
		[ -e "$(dirname "$document")/$link" ] || { echo "$document: $link leads nowhere"; exit 1; }
	done
	{ grep -oE '(^|`)make [a-z][a-z-]*' "$document" || true; } | sed 's/.*make //' | while read -r target; do
		grep -qE "^([a-z-]+ )*${target}[a-z -]*:" Makefile || { echo "$document: make $target?"; exit 1; }
	done
done
