"""Plots, interactive cards, and tables."""

from importlib import import_module
from typing import Any

_NAMES = {
    "card": "Question table",
    "comparison": "model_comparison",
    "crossfade": "draw_transformer",
    "demo": "attention_demo",
    "differences": "draw_differences",
    "explorer": "attention_explorer",
    "plane": "query_plane",
    "player": "step_player",
    "searchlights": "learning_film",
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}
__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(_HOMES)
