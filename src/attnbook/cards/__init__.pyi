from attnbook.cards.card import Question as Question
from attnbook.cards.card import table as table
from attnbook.cards.comparison import model_comparison as model_comparison
from attnbook.cards.demo import attention_demo as attention_demo
from attnbook.cards.differences import draw_differences as draw_differences
from attnbook.cards.explorer import attention_explorer as attention_explorer
from attnbook.cards.plane import query_plane as query_plane
from attnbook.cards.player import step_player as step_player
