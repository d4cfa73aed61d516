"""Check the docstrings of the package: numpydoc's rules, for every public function of two or more parameters."""

import inspect
import sys
from collections.abc import Iterator
from importlib import import_module
from pkgutil import walk_packages

from numpydoc.validate import validate

import attnlib

RULES = {
    "PR01": "a parameter is not documented",
    "PR02": "what is documented is no parameter",
    "PR03": "parameters are in another order",
    "PR04": "a parameter has no type",
    "RT01": "there is no section Returns",
    "YD01": "there is no section Yields",
    "SS06": "the summary has more than one line",
}


def public_functions() -> Iterator[str]:
    """Yield the full name of each public function and method that takes two or more parameters."""
    for found in walk_packages(attnlib.__path__, "attnlib."):
        module = import_module(found.name)
        for name, value in vars(module).items():
            if name.startswith("_") or getattr(value, "__module__", None) != found.name:
                continue
            members = vars(value).items() if inspect.isclass(value) else [("", value)]
            for member, found_there in members:
                function = getattr(found_there, "__func__", found_there)  # of a class method
                if member.startswith("_") or not inspect.isfunction(function):
                    continue
                own = [p for p in inspect.signature(function).parameters if p not in ("self", "cls")]
                if len(own) > 1 and function.__module__ == found.name:
                    yield ".".join(filter(None, (found.name, name, member)))


def main() -> int:
    """Print what is against a rule, and return 1 if anything is."""
    complaints = [
        f"{name}: {text}" for name in public_functions() for code, text in validate(name)["errors"] if code in RULES
    ]
    print(*complaints, sep="\n")
    return bool(complaints)


if __name__ == "__main__":
    sys.exit(main())
