"""Pictures, some of which a reader can touch, and tables."""

from attnlib.pictures.live_card import live
from attnlib.pictures.tables import table

__all__ = ["live", "table"]
