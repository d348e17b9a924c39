#!/bin/bash
# trace_all_models.sh

# Trace all models in a directory
for test in models/demos/wormhole/*/demo/demo.py; do
    echo "Tracing $test"
    python generic_ops_tracer.py "$test::test_demo"
done

# Results accumulated in ttnn_operations_master.json
