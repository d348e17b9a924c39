"""link.py MEMORY PERFORMANCE, with the Python of ttnn-visualizer: whether it takes both for reports of one run, and in how many rows."""

import sys

from ttnn_visualizer.agent.handles import ReportRegistry, load_report
from ttnn_visualizer.agent.linking import operation_link

registry = ReportRegistry()
link = operation_link(registry, load_report(registry, *sys.argv[1:3])["handle"]).as_response()
print(link["status"], link.get("matched_rows", link.get("reason")))
