"""The source of a function, as a reader wants to see it beside its equation."""

import ast
from collections.abc import Callable
from inspect import Parameter, Signature, getsource, signature, unwrap
from textwrap import dedent
from types import FunctionType, MethodType


def source_of(function: Callable) -> str:
    """Read a function's source: the signature without annotations, the body without its docstring.

    Parameters
    ----------
    function : function or method
        One written in Python, in a file.

    Returns
    -------
    str
        The source, from ``def`` on, as it stands in the file but for what is left out.
    """
    if not isinstance(unwrap(function), FunctionType | MethodType) or function.__name__ == "<lambda>":
        raise TypeError(f"function is {function!r}; expected a function or a method")
    source = dedent(getsource(function))
    definition, lines = ast.parse(source).body[0], source.splitlines()
    first = definition.body[0]
    begin = first.end_lineno if ast.get_docstring(definition) is not None else first.lineno - 1
    while lines[begin - 1].lstrip().startswith("#"):
        begin -= 1
    parameters = [p.replace(annotation=Parameter.empty) for p in signature(function).parameters.values()]
    return "\n".join([f"def {definition.name}{Signature(parameters)}:", *lines[begin:]])
