"""Operations that are written in Python, and modules under the names that upstream keeps operations in."""

import sys
import types

_FAMILIES = "binary binary_backward comparison conv2d creation data_movement embedding losses matmul moreh reduction ternary transformer unary"


class _Family(types.ModuleType):
    """Has what ttnn has: which family an operation belongs to is not asked. Operations of moreh are there without their prefix, and no others."""

    def __getattr__(self, name):
        import ttnn

        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(ttnn, f"moreh_{name}" if self.__name__.endswith(".moreh") else name)


for _name in _FAMILIES.split():
    globals()[_name] = sys.modules[f"{__name__}.{_name}"] = _Family(f"{__name__}.{_name}")
