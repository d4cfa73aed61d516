"""Drawings of models (chapters 1 to 3, and 6): source words, annotations, contexts, decoder states, and target words.

Each is a file in the folder ``drawings``, in which each part and each arrow has a name and a line. They are drawn after
Bahdanau et al. 2015, figure 1, Luong et al. 2015, figures 2 to 4, and Vaswani et al. 2017, figure 1. Further inputs of
the output layer, such as the context in Bahdanau's readout, are left out. The widths of the arrows illustrate weights;
they come from no trained model.
"""

import re
from html import unescape
from pathlib import Path

from attnbook.cards.card import Card, card
from attnlib.checks import check_choice

_FOLDER = Path(__file__).with_name("drawings")
_BUTTONS = (
    '<input type="radio" name="attnlib-model" class="at-from" checked="" aria-label="Luong’s model (chapter 3)">'
    '<input type="radio" name="attnlib-model" class="at-to" aria-label="Transformer">\n'
)
_KEYS = (
    '<p class="at-keys"><span><i class="at-lit"></i> you have built it, in chapter <b>1</b> <b>2</b> <b>3</b></span> '
    '<span class="at-luong"><i class="at-gone"></i> will be gone</span><span class="at-new">'
    "new: <i>f</i> feed-forward network, residual path, <u></u> layer norm</span></p>"
    '<p class="at-luong">Which arrows will go? Switch to the Transformer.</p>'
    '<p class="at-new">All arrows from one state to the next are gone, and so is the first state of the decoder. '
    "Words are now connected by attention alone, so each needs a vector for its position. Annotations, queries, and "
    "contexts are where they were.</p>"
)


def draw_model(name: str) -> Card:
    """Draw a model over two decoder steps, with what is new in it marked.

    Parameters
    ----------
    name : str
        The model: ``no-attention``; ``bahdanau``; ``bahdanau-appendix``, with words predicted from the previous state,
        as in appendix A.2.2 and `attnlib.decoders.BahdanauDecoder`; ``luong``, with input feeding and a backward
        encoder; or ``transformer``, which takes the place of Luong's model when the reader switches.
    """
    check_choice(sorted(path.stem for path in _FOLDER.glob("*.svg")), name=name)
    svg = "".join((_FOLDER / f"{name}.svg").read_text("utf-8").splitlines())
    label = unescape(re.findall('aria-label="(.*?)"', svg)[0])
    if name == "transformer":
        return card("crossfade", f"{_BUTTONS}{svg}{_KEYS}\n", {}, label)
    return card("schematic", f"{svg}\n", {}, label)
