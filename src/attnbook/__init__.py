"""What the pages of *Attention Before Transformers* need beside `attnlib`: sentences, pictures, records, and models.

- `language`: `lexicon`, `dictionary`, `phrases`, `sentences`: English and French sentences whose word links are known;
- `costs`: parameters and multiply-adds of a model;
- `cards`: interactive cards, schematics and `table`;
- `figures`: plots;
- `pretrained`: `folder`, `subwords`, `models`: the trained models that the chapters speak of;
- `experiments`: what is compared, how it is measured, and what was recorded, of the grammar and of real sentences.
"""

from importlib import import_module
from typing import Any

_NAMES = {
    "language.sentences": "sample",
    "pretrained.folder": "load",
    "pretrained.models": "load_pretrained",
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}
__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(_HOMES)
