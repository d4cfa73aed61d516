"""Plots, interactive cards, and tables."""

from attnlib.lazy import attach

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
__getattr__, __dir__, __all__ = attach(__name__, _NAMES)
