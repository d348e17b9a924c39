#!/usr/bin/env bash
# A recording that is changed in one place is missed in that aspect, and in no other.
set -u
fidelity=$OUT/tests/fidelity/fidelity
data=tests/data/reference/programs/n150
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/n150"
failed=0

# miss FILE PROGRAM SED ASPECTS: which aspects the changed program misses.
miss() {
	local file=$1 program=$2 change=$3 want=$4 got='' aspect
	gzip -dc "$data/$file.jsonl.gz" | grep -F "\"name\":\"$program\"" | sed "$change" |
		gzip >"$dir/n150/$file.jsonl.gz"
	gzip -dc "$dir/n150/$file.jsonl.gz" | grep -q . || { echo "no $program" && failed=1; }
	for aspect in outcome text specs addresses buffers programs scopes allocator cache warm; do
		"$fidelity" "$dir" --list-failures $aspect | grep -q . && got="$got $aspect"
	done
	rm "$dir/n150/$file.jsonl.gz"
	[ "$got" = "${want:+ $want}" ] && return
	echo "$program with $change misses \"$got\", not \"$want\""
	failed=1
}

relu=$(gzip -dc $data/unary_shape.jsonl.gz | head -n 1 | sed 's/^{"name":"\([^"]*\)".*/\1/')
miss unary_shape "$relu" '' ''
miss unary_shape "$relu" 's/"dtype":"DataType.BFLOAT16"/"dtype":"DataType.FLOAT32"/g' specs
miss unary_shape "$relu" 's/"outputs":{"y":\(.*\)"address":1/"outputs":{"y":\1"address":2/' addresses
miss unary_shape "$relu" 's/"size":4096/"size":8192/' buffers
miss unary_shape "$relu" 's/"program_factory_index":0/"program_factory_index":1/' programs
miss unary_shape "$relu" 's/"name":"tt::tt_metal::create_device_tensor"/"name":"other"/' scopes
miss unary_shape "$relu" 's/"largest_free":1/"largest_free":2/' allocator
miss unary_shape "$relu" 's/"cache_entries":[0-9]*,"memory"/"cache_entries":9,"memory"/' cache
miss unary_shape "$relu" 's/\(.*\)"cache_entries":[0-9]*/\1"cache_entries":9/' warm
miss error error/relu/number 's/incompatible/compatible/g' text

# Memory of programs on meshes, whatever else is other there.
for how in "--machine n300" "--machine t3k"; do
	# shellcheck disable=SC2086 # words
	"$fidelity" --label n150 --only '^binary_place/add/(dram|l1)|^softmax/' $how --list-failures memory |
		grep ' normal ' && failed=1
done

# Databases of both dialects: of each kind of program some, with all that is told otherwise by design.
sample='^(binary/b|creation/full|error/(add|conv2d|oom)|host_device|permute/0|pool/global|recovery/s|repeat/1|reshape/m|sequence/from|softmax/|split|to_torch|upsample/h|model/mlp)'
"$fidelity" --label n150 --only "$sample" --databases --list-failures memory | grep . && failed=1
exit $failed
