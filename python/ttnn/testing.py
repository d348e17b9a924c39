"""What upstream's tests compare with: comp_pcc, check_with_pcc, assert_with_pcc. The rule is the library's
(ttnn_tensor_comp_pcc), one for all of them."""

from ttnn import _ttnn
from ttnn.operations.core import _rows


def comp_pcc(golden, calculated, pcc=0.99):
    """(whether it is close enough, Pearson's correlation) of tensors or arrays of one shape."""
    found = _ttnn.tensor.comp_pcc(_rows(golden), _rows(calculated))
    return found >= pcc, found


def check_with_pcc(expected, actual, pcc=0.9999, *, threshold=None):
    """(whether it is close enough, a text that says how close)."""
    shapes = list(expected.shape), list(actual.shape)
    if shapes[0] != shapes[1]:
        return False, f"list(expected_pytorch_result.shape)={shapes[0]} vs list(actual_pytorch_result.shape)={shapes[1]}"
    passed, found = comp_pcc(expected, actual, pcc if threshold is None else threshold)
    return passed, str(found)


def assert_with_pcc(expected, actual, pcc=0.9999, *, threshold=None):
    """The same, which must be so."""
    passed, message = check_with_pcc(expected, actual, pcc, threshold=threshold)
    assert passed, message
    return passed, message
