"""A model as one page: write a sentence, read its translation, see where the model looked, and make it look elsewhere.

The page holds the model, its weights in float16, and the scripts of the book's live cards. It needs neither a server
nor a network, and asks nothing of either.
"""

from html import escape
from pathlib import Path
from typing import Any

from attnlib import pictures
from attnlib.checks import check_whole
from attnlib.data import Vocabulary
from attnlib.pictures.cards import embedded
from attnlib.pictures.live_card import asks, script, style
from attnlib.pictures.packing import network
from attnlib.scores import Location
from attnlib.text.model import Model
from attnlib.text.subwords import Subwords
from attnlib.transformer import TransformerEncoder

LARGEST = 64_000_000
"""What a page may take, in bytes."""

_FOLDER = Path(pictures.__file__).parent
_POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; form-action 'none'"
_PIECES = "It knows pieces of words: a piece with a dot before it goes on with a word. "


def page_of(model: Model, title: str, *, beam: int = 5, max_length: int = 200) -> str:
    """Write a model as a page of HTML.

    Parameters
    ----------
    model : Model
        Of recurrent networks.
    title : str
        What the page calls it.
    beam, max_length : int
        As for `Model.translate`; in the page one may choose between this beam and greedy search.

    Returns
    -------
    str
        What it translates is what `model` with its weights rounded to float16 translates, in float64.

    Raises
    ------
    ValueError
        If the model is a Transformer, or a weight is too large for float16 or not finite, or the page would be larger
        than `LARGEST`.
    """
    check_whole(beam=beam, max_length=max_length)
    if isinstance(model.translator.encoder, TransformerEncoder):
        raise ValueError("a page needs recurrent networks, and this model is a Transformer: train another --preset")
    page = _page(model, title, {"beam": beam, "most": max_length})
    if (size := len(page.encode())) > LARGEST:
        raise ValueError(
            f"the page would take {size / 1e6:.0f} MB; expected at most {LARGEST / 1e6:.0f} MB: "
            "train a smaller model, with fewer --features or a smaller --vocab-size"
        )
    return page


def _page(model: Model, title: str, search: dict[str, int]) -> str:
    translator = model.translator
    weights = sum(weight.numel() for weight in translator.state_dict().values())
    source, target = translator.source_vocabulary, translator.target_vocabulary
    pieces = isinstance(source, Subwords)
    score = getattr(getattr(translator.decoder, "align", None), "score", None)
    positions = len(score.W_a) - 1 if isinstance(score, Location) else None  # EOS apart
    own = {"pieces": pieces, "positions": positions, **search}
    data = {
        "names": ["Source", "Target", "", "", "piece" if pieces else "word"],
        "source": _numbered(source),
        "target": _numbered(target),
        "models": [{"title": title, "digest": "own", "asks": asks(translator), "steps": []}],
        "first": [""],
        "pairs": [],
        "kinds": [],
        "follow": {},
        "own": own,
    }
    scripts = (_FOLDER / "page.js").read_text("utf-8") + script()
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}"><link rel="icon" href="data:,">'
        f'<meta name="viewport" content="width=device-width"><title>{escape(title)}</title>\n'
        f"<style>\n{style()}{(_FOLDER / 'page.css').read_text('utf-8')}</style></head>\n<body><main>"
        f"<h1>{escape(title)}</h1>\n<p>This model of {weights:,} weights translates in the page itself: nothing that "
        f"you write leaves it. {_PIECES if pieces else ''}Choose a {'piece' if pieces else 'word'} of the translation "
        "to see where the model looked, and make it look elsewhere.</p>\n"
        '<div class="attnlib-card attnlib-live"><div class="attnlib-still"><p>The model is being read. If this stays, '
        "scripts are switched off, or the file is damaged: then write it again with attnlib page.</p></div>\n"
        f'<script type="application/json">{embedded(data)}</script></div>\n'
        f'<script type="application/json" data-model="own">{embedded(network(translator))}</script>\n'
        f"<script>\n{scripts}</script></main></body></html>\n"
    )


def _numbered(vocabulary: Vocabulary | Subwords) -> Any:
    """List what has the numbers from 4 on."""
    return vocabulary.pieces if isinstance(vocabulary, Subwords) else vocabulary.words
