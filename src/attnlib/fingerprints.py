"""Which lines of a module its results depend on.

A recorded result holds for the code that made it. A docstring, or a check that only refuses wrong arguments, can change
without changing any result; a line that computes cannot.
"""

import ast
import re

_CHECK = re.compile(r"_?check_\w+")


def essence(source: str) -> str:
    """Leave out of a module's source what cannot change a result.

    That is: docstrings; blank lines; statements that do nothing but raise an error on a condition, which is taken to
    change nothing itself; functions named ``check_...`` or ``_check_...`` that return nothing, their calls and their
    import.

    Parameters
    ----------
    source : str
        A module's source.

    Returns
    -------
    str
        Its other lines, as they were; last, what it imports, one name a line.
    """
    nodes = list(ast.walk(ast.parse(source)))
    imports = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
    idle = [*imports, *(node for node in nodes if _is_docstring(node) or _is_guard(node) or _is_check(node))]
    dropped = {line for node in idle for line in range(node.lineno, node.end_lineno + 1)}
    lines = enumerate(source.splitlines(), start=1)
    kept = [line for number, line in lines if number not in dropped and line.strip()]
    return "\n".join(kept + sorted(name for node in imports for name in _imported(node)))


def _is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _is_guard(node: ast.AST) -> bool:
    """Say whether a statement is `if ...: raise ...`, or calls a check and keeps nothing of it."""
    if isinstance(node, ast.If):
        plain = not any(isinstance(part, ast.NamedExpr | ast.Await | ast.Yield) for part in ast.walk(node.test))
        return plain and not node.orelse and all(isinstance(step, ast.Raise) for step in node.body)
    called = node.value.func if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) else None
    name = getattr(called, "attr", getattr(called, "id", ""))
    return bool(_CHECK.fullmatch(name))


def _is_check(node: ast.AST) -> bool:
    """Say whether a function is a check: by its name, and since it returns nothing."""
    if not (isinstance(node, ast.FunctionDef) and _CHECK.fullmatch(node.name)):
        return False
    inside = list(ast.walk(node))
    returns = any(isinstance(step, ast.Return) and step.value is not None for step in inside)
    return not returns and not any(isinstance(step, ast.Yield | ast.YieldFrom | ast.Global) for step in inside)


def _imported(node: ast.Import | ast.ImportFrom) -> list[str]:
    """Name what an import brings, without checks."""
    module = "." * getattr(node, "level", 0) + (getattr(node, "module", "") or "")
    names = [name for name in node.names if not _CHECK.fullmatch(name.name)]
    return [f"{module} {name.name} {name.asname or ''}".strip() for name in names]
