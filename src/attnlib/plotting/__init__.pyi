from attnlib.plotting.cards import Question as Question
from attnlib.plotting.cards import table as table
from attnlib.plotting.comparison import model_comparison as model_comparison
from attnlib.plotting.demo import attention_demo as attention_demo
from attnlib.plotting.differences import draw_differences as draw_differences
from attnlib.plotting.explorer import attention_explorer as attention_explorer
from attnlib.plotting.plane import query_plane as query_plane
from attnlib.plotting.player import step_player as step_player
