"""Operations that are written in Python, and modules under the names that upstream keeps operations in."""

import sys
import types

_FAMILIES = "binary binary_backward comparison conv2d creation data_movement embedding losses matmul moreh reduction ternary transformer unary"


# What the family of training has under other names than ttnn.moreh_NAME.
_MOREH = {"abs": "abs_pow"}
_MOREH_TYPES = "SoftmaxOp SoftmaxOpParallelizationStrategy SoftmaxBackwardOp SoftmaxBackwardOpParallelizationStrategy".split()
_NOT_MOREH = ("abs_pow", "full", "full_like")


class _Family(types.ModuleType):
    """Has what ttnn has: which family an operation belongs to is not asked."""

    def __getattr__(self, name):
        import ttnn

        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(ttnn, name)


class _Moreh(types.ModuleType):
    """The operations named moreh_ without their prefix, and their enumerations; no others."""

    def __getattr__(self, name):
        import ttnn

        if name in _MOREH_TYPES:
            return getattr(ttnn._ttnn.operations.moreh, f"Moreh{name}")
        if name.startswith("__") or name in _NOT_MOREH:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        return getattr(ttnn, f"moreh_{_MOREH.get(name, name)}")

    def __dir__(self):
        import ttnn

        own = {v: k for k, v in _MOREH.items()}
        names = {own.get(n[6:], n[6:]) for n in dir(ttnn) if n.startswith("moreh_")}
        return sorted((names | set(_MOREH_TYPES) | set(super().__dir__())) - set(_NOT_MOREH))


for _name in _FAMILIES.split():
    globals()[_name] = sys.modules[f"{__name__}.{_name}"] = (_Moreh if _name == "moreh" else _Family)(f"{__name__}.{_name}")
