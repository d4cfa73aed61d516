"""Plots, interactive cards, and tables."""

from attnlib.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
