"""Pictures, some of which a reader can touch, and tables."""

from attnlib.pictures.cards import table
from attnlib.pictures.live_card import live
