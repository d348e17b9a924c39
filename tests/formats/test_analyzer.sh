#!/bin/sh
# `ttnn configs --format classic` prints what tt-metal's analyzer of November 2025 printed, character for character:
# 75 recorded outputs. $OUT is where the program is.
set -eu
out=$(cd "${OUT:-build}" && pwd)
data=$(cd tests/data/master && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
mkdir -p shared/data golden
gzip -dc "$data/master_2025-11.json.gz" >shared/data/master_2025-11.json
gzip -dc "$data/analyzer.txt.gz" | awk '/^##### / { file = "golden/" $2; next } { print >file }'
configs() {
	command=$1
	shift
	"$out/ttnn" configs "$command" --format classic --master shared/data/master_2025-11.json "$@"
}
count=0
bad=0
for file in golden/*; do
	name=${file#golden/}
	case $name in
	list | stats) configs "$name" ;;
	noargs) configs show ;;
	nomatch_*) configs show "${name#nomatch_}" ;;
	brief_*) configs show --brief "${name#brief_}" ;;
	op_*) configs show "$(echo "${name#op_}" | sed 's/\./::/g')" ;;
	debug_*) configs show --debug "$(echo "${name#debug_}" | sed 's/\./::/g')" ;;
	esac >printed
	count=$((count + 1))
	if ! cmp -s printed "$file"; then
		bad=$((bad + 1))
		echo "$name differs:"
		diff printed "$file" | head -4
	fi
done
echo "$count outputs, $bad differ"
[ "$count" = 75 ] && [ "$bad" = 0 ]
