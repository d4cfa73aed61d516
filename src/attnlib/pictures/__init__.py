"""Pictures, some that a reader can touch; tables; and the source of a function, to show beside an equation."""

from attnlib.pictures.live_card import live
from attnlib.pictures.source import source_of
from attnlib.pictures.tables import table

__all__ = ["live", "source_of", "table"]
