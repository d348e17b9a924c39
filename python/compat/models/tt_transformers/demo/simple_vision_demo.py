"""A picture and a question for meta-llama/Llama-3.2-11B-Vision-Instruct, or what HF_MODEL names: layers of their own see
the picture. --layers N computes N layers."""

import os

from ttnn_models import vision_demo


def test_multimodal_demo_text(layers):
    vision_demo.run(os.environ.get("HF_MODEL") or "meta-llama/Llama-3.2-11B-Vision-Instruct", layers)
