"""The decoder that HF_MODEL names, on the machine of its row: batch-1 is computed as far as it can be, and every
variant runs whole without dispatch. --layers N computes N layers."""

import pytest

from ttnn_models import text_demo


@pytest.mark.parametrize("variant", list(text_demo.VARIANTS))
@pytest.mark.parametrize("optimizations", ["performance", "accuracy"])
def test_demo_text(variant, optimizations, layers):
    text_demo.run(variant, optimizations, layers=layers)
