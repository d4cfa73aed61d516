"""Names that a package offers and loads when they are asked for.

What a package offers is written once, as imports in the ``__init__.pyi`` beside its ``__init__.py``, where type
checkers read it too.
"""

import ast
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any


def attach(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return the ``__getattr__``, ``__dir__`` and ``__all__`` of a package, given its ``__name__`` and ``__file__``."""
    stub = ast.parse(Path(file).with_suffix(".pyi").read_text("utf-8"))
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    homes = {alias.name: str(node.module) for node in imports for alias in node.names}

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(homes[name]), name)

    return load, lambda: sorted(homes), list(homes)
