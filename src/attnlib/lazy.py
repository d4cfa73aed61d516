"""Names that a package offers and loads when they are first used (every chapter, so that chapter 1 needs no torch)."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def attach(package: str, names: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return the ``__getattr__``, ``__dir__`` and ``__all__`` of a package.

    Parameters
    ----------
    package : str
        Name of the package.
    names : mapping of str to str
        The names that are offered of each module, with spaces between them, by the name of the module in the package.
    """
    homes = {name: module for module, offered in names.items() for name in offered.split()}

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{homes[name]}"), name)

    return load, lambda: sorted(homes), list(homes)
