"""Options declared once: a dataclass's fields have the defaults, and say what the command's help says of them."""

from argparse import _ArgumentGroup
from collections.abc import Mapping, Sequence
from dataclasses import Field, field, fields
from types import NoneType
from typing import Any, get_args, get_type_hints


def option(
    default: Any,
    group: str,
    about: str | None = None,
    *,
    flag: str | None = None,
    choices: Sequence[str] | None = None,
    one_of: str | None = None,
) -> Any:
    """Declare a field that is an option of the command too.

    Parameters
    ----------
    default
        The field's.
    group, about : str
        The heading in the command's help, and what it says below.
    flag : str, optional
        What the command calls it. None: as the field, with hyphens. Of a field that is true or false, the option turns
        it round, or makes it false if the flag begins with ``--no``.
    choices : strings, optional
    one_of : str, optional
        Of all options with this name here only one may be given.
    """
    told = {"group": group, "about": about, "flag": flag, "choices": choices, "one_of": one_of}
    return field(default=default, metadata=told)


def declared(cls: type) -> list[Field]:
    """List the fields of a dataclass that are options."""
    return [one for one in fields(cls) if "group" in one.metadata]


def add_options(groups: Mapping[str, _ArgumentGroup], *classes: type) -> None:
    """Add the options of dataclasses to a parser's groups; a value that it reads has the name of its field."""
    alternatives: dict[str, Any] = {}
    for one, hint in ((one, get_type_hints(cls)[one.name]) for cls in classes for one in declared(cls)):
        told = one.metadata
        group = groups[told["group"]]
        if told["one_of"]:
            alternatives[told["one_of"]] = alternatives.get(told["one_of"]) or group.add_mutually_exclusive_group()
            group = alternatives[told["one_of"]]
        flag = told["flag"] or f"--{one.name.replace('_', '-')}"
        [kind] = {*(get_args(hint) or [hint])} - {NoneType}
        if kind is bool:
            how = {"action": "store_false" if one.default or flag.startswith("--no-") else "store_true"}
        else:
            metavar = None if told["choices"] else flag[2:].replace("-", "_").upper()
            how = {"type": kind, "choices": told["choices"], "metavar": metavar}
        group.add_argument(flag, dest=one.name, default=one.default, help=told["about"], **how)
