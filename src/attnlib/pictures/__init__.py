"""Pictures of alignments and of learning, some that a reader can touch; the source of a function to show beside."""

from attnlib.pictures.source import source_of

__all__ = ["source_of"]
