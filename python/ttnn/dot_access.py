"""Dictionaries whose members are also attributes."""

__all__ = ["DotAccessDict", "make_dot_access_dict"]


class DotAccessDict(dict):
    """`tree.layer.conv` is `tree["layer"]["conv"]`; what is not there is a KeyError either way."""

    __getattr__ = dict.__getitem__
    __delattr__ = dict.__delitem__


def make_dot_access_dict(dictionary, *, ignore_types=None):
    """The same tree with DotAccessDict at each level; dictionaries of `ignore_types` stay what they are."""
    kept = (DotAccessDict, *(ignore_types or ()))
    if isinstance(dictionary, kept):
        return dictionary
    return DotAccessDict(
        (name, make_dot_access_dict(value, ignore_types=ignore_types) if isinstance(value, dict) else value)
        for name, value in dictionary.items()
    )
