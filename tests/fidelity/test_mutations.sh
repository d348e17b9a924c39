#!/usr/bin/env bash
# Recorded programs with a few values changed, and with other contents of their tensors: whatever comes of them, the process lives on, device
# memory is given back, and refusals have words. TTNN_TEST_LONG=10: ten mutations of each program instead of one of each fortieth;
# TTNN_TEST_SEED says which. One is repeated with FIDELITY_LOUD=1 and --only PROGRAM --mutate 1 --from NUMBER.
set -u
seed=${TTNN_TEST_SEED:-1} long=${TTNN_TEST_LONG:-1} each=40
[ "$long" = 1 ] || each=1
[ "${OUT##*/}" = asan ] && [ "$long" = 1 ] && each=200
found=$("$OUT/tests/fidelity/fidelity" --mutate "$long" --from "$seed" --each $each --list-failures outcome) || exit 1
[ -z "$found" ] && exit 0
echo "mutations $seed to $((seed + long - 1)), each $each-th program:"
echo "$found"
exit 1
