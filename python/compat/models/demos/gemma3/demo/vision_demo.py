"""A picture and a question for google/gemma-3-27b-it, or what HF_MODEL names, on a T3000. A script, too."""

from ttnn_models import vision_demo


def test_multimodal_demo_text(layers):
    vision_demo.run(layers=layers)


if __name__ == "__main__":
    vision_demo.main()
