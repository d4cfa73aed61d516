"""Pictures, some that a reader can touch; tables; and the source of a function, to show beside an equation."""

from attnlib.pictures.source import source_of
from attnlib.pictures.tables import table

__all__ = ["source_of", "table"]
