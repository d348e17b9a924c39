"""Parameters that operations have besides their tensors: a table to extend.

A row is {operation: {parameter: "FIELD@PLACE"}}: suites of that operation get one more parameter. A place is the number
of an argument, its name, or t0, t1 ... for a tensor; fields are int, real, number, bool, ints (a list or shape), text,
type (a data type), shape, dtype, layout, memory, any (as it stands in the file). Where that is not enough, a row may be
a function: it gets the arguments of a configuration, [{"arg0": ...}, ...], and gives {parameter: value}.
"""

EXTRACTORS = {
    "typecast": {"output_dtype": "type@1"},
    "permute": {"dims": "ints@1"},
    # Add your operations here.
}


class OperationParameterExtractors:
    """The same for code that registers its extractors."""

    @staticmethod
    def register_extractor(operation_name, extract_func):
        EXTRACTORS[operation_name] = extract_func

    @staticmethod
    def get_extractor(operation_name):
        return EXTRACTORS.get(operation_name)
