#!/usr/bin/env bash
# Each family of operations is named by a test of tests/ops, which takes its rows from the registry. Two are tested call by
# call: conv_weights in tests/ops/test_conv.c, exchange in tests/python/test_torch_families.py.
set -eu
grep -rhoE '(\.family = |tt_family_[a-z_0-9]+ = \{)"[a-z_0-9]+"' src/ops | sed 's/.*"\(.*\)"/\1/' | sort -u |
	grep -vxE 'conv_weights|exchange' | {
	missing=0
	while read -r family; do
		grep -qrF "\"$family\"" tests/ops --include='*.[ch]' && continue
		echo "src/ops has a family \"$family\" that no test of tests/ops names"
		missing=1
	done
	exit $missing
}
