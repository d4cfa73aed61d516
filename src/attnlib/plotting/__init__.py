"""Plots, interactive cards, and tables."""

from attnlib.plotting.cards import Question, table
from attnlib.plotting.demo import attention_demo
from attnlib.plotting.plane import query_plane
from attnlib.plotting.player import step_player
