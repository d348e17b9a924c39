"""Signatures as texts."""


def parameters(text):
    """The parameters of a signature, each as it is written."""
    inside, depth, part, parts = text[text.index("(") + 1 : text.rindex(")")], 0, "", []
    for c in inside + ",":
        depth += (c in "[({") - (c in "])}")
        if c == "," and depth == 0:
            parts.append(part.strip())
            part = ""
        else:
            part += c
    return [p for p in parts if p]
