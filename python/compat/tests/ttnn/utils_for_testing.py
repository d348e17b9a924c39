"""How tests compare results: one rule, the library's."""

from ttnn.testing import assert_with_pcc, check_with_pcc, comp_pcc
