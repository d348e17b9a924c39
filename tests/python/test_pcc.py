"""The comparison of upstream's tests (tests/data/values/pcc_cases.json was recorded there)."""

import array
import json
import pathlib

import pytest
import ttnn
from ttnn.testing import assert_with_pcc, check_with_pcc, comp_pcc

CASES = json.loads((pathlib.Path(__file__).resolve().parent.parent / "data" / "values" / "pcc_cases.json").read_text())


def tensor(texts, dtype):
    numbers = array.array("f", [float(text) for text in texts])
    return ttnn.Tensor(numbers.tolist(), [len(numbers)], getattr(ttnn.DataType, dtype.upper()), ttnn.ROW_MAJOR_LAYOUT)


@pytest.mark.parametrize("case", CASES)
def test_recorded(case):
    given, dtype = CASES[case], case.rsplit("/", 1)[1]
    passed, found = comp_pcc(tensor(given["golden"], dtype), tensor(given["calc"], dtype), 0.99)
    assert passed == given["head"][0]
    assert found == pytest.approx(float(given["head"][1]), abs=1e-9)


def test_check():
    a, b = tensor("1234", "float32"), tensor("1235", "float32")
    assert check_with_pcc(a, a, threshold=0.999) == (True, "1.0")
    passed, message = check_with_pcc(a, b)
    assert not passed and message.startswith("0.98")
    assert check_with_pcc(a, b, pcc=0.9)[0] and check_with_pcc(a, b, threshold=0.9)[0]
    shorter = tensor("123", "float32")
    text = "list(expected_pytorch_result.shape)=[4] vs list(actual_pytorch_result.shape)=[3]"
    assert check_with_pcc(a, shorter) == (False, text)
    with pytest.raises(AssertionError):
        assert_with_pcc(a, b)
    assert assert_with_pcc(a, a) == (True, "1.0")
