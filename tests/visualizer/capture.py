"""capture.py FILE: a small model of ours, captured to a report. Exits 1 where that cannot be done."""

import sys

try:
    import ttnn

    capture = ttnn.graph.end_graph_capture_to_file
except (ImportError, AttributeError) as error:
    print(f"test-visualizer: no capture of our own ({error}); a recorded report is used")
    sys.exit(1)

device = ttnn.open_device(device_id=0)
weights = [
    ttnn.full([1, 1, rows, columns], 0.5, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    for rows, columns in ((64, 128), (128, 32))
]
ttnn.graph.enable_detailed_buffer_tracing()
ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NORMAL)
x = ttnn.full([1, 1, 32, 64], 1.0, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device,
              memory_config=ttnn.L1_MEMORY_CONFIG)
x = ttnn.matmul(x, weights[0], memory_config=ttnn.L1_MEMORY_CONFIG)
x = ttnn.relu(x)
x = ttnn.matmul(x, weights[1], memory_config=ttnn.L1_MEMORY_CONFIG)
x = ttnn.softmax(x, dim=-1)
capture(sys.argv[1])
ttnn.close_device(device)
