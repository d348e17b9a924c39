"""Captured graphs as lists of operations with their arguments."""

import json

from ttnn import _ttnn


class GraphTracerUtils:
    @staticmethod
    def serialize_graph(captured_graph):
        """{"content": [{"operation": "ttnn::add", "arguments": [{"arg0": ...}, ...]}, ...]} of what was captured."""
        return json.loads(_ttnn.configs.graph(json.dumps(captured_graph)))
