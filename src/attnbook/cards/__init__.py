"""Plots, interactive cards, and tables."""

from attnlib.lazy import attach

_NAMES = {
    "card": "Question table",
    "comparison": "model_comparison",
    "demo": "attention_demo",
    "differences": "draw_differences",
    "drawings": "draw_model",
    "explorer": "attention_explorer",
    "matrix": "score_matrix",
    "plane": "query_plane",
    "player": "step_player",
    "searchlights": "learning_film",
}
__getattr__, __dir__, __all__ = attach(__name__, _NAMES)
