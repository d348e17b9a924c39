#!/usr/bin/env bash
# A sample of the configurations traced from real models, swept; `make test-master` runs them all. A kernel that is broken is found.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
master=tests/data/master/master_2025-11.json.gz
sweep() { "$1"/ttnn sweep run -q -o "$work/$2" "${@:3}" | tee "$work/$2.log" | head -1; }

sweep "$OUT" sample --master $master --every 7 --largest 2000000
# Of the layout of 2026: positions of Python's signatures, names, objects as texts.
sweep "$OUT" models --master tests/data/master/models_merged.json.gz --largest 300000 --op '*slice*' --op '*attention*' \
	--op linear --op '*norm' --op '*concat*' --op softmax --op '*update*' --op '*rotary*'
# A second time nothing is run: this build has passed it.
sweep "$OUT" sample --master $master --every 7 --op pad >/dev/null
grep -q '^10 were passed by this build before' "$work/sample.log"

# A kernel that leaves out half of a rotation. The operation is named first.
if sweep "$OUT/broken" broken --master $master --every 9 --largest 300000; then
	echo "a broken kernel was not found"
	exit 1
fi
first=$("$OUT"/ttnn sweep results --db "$work/broken/results.sqlite" | head -1 || true)
case $first in
"ttnn.experimental.rotary_embedding_llama: "*" failed") ;;
*) echo "the broken operation is not named first: $first" && exit 1 ;;
esac
# Compared with the sound build it is worse.
sweep "$OUT" sound --master $master --every 9 --largest 300000 --op rotary_embedding_llama
code=0
"$OUT"/ttnn sweep results --compare "$work/sound/results.sqlite" "$work/broken/results.sqlite" | tail -1 || code=$?
[ $code = 1 ] || { echo "what became worse is not told: exit code $code" && exit 1; }
echo "1 passed, 0 failed"
