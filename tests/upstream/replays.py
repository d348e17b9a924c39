"""A run with signposts and a captured trace that runs three times: for profiles."""

import ttnn
from tracy import signpost

device = ttnn.open_device(device_id=0, trace_region_size=1 << 20)
x = ttnn.full([1, 1, 64, 64], 1.0, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
ttnn.relu(ttnn.matmul(x, x))
signpost("start", "a message")
tid = ttnn.begin_trace_capture(device, cq_id=0)
y = ttnn.relu(ttnn.matmul(x, x))
ttnn.end_trace_capture(device, tid, cq_id=0)
for _ in range(3):
    ttnn.execute_trace(device, tid, cq_id=0, blocking=True)
ttnn.release_trace(device, tid)
signpost("run: 1")
ttnn.add(x, x)
ttnn.close_device(device)
