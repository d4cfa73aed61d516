"""Pictures, some of which a reader can touch, and tables."""

from attnlib.pictures.cards import Question, table
from attnlib.pictures.demo import attention_demo
from attnlib.pictures.plane import query_plane
from attnlib.pictures.player import step_player
