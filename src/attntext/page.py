"""A model as one web page (``attnlib page``), to translate sentences and to edit the attention.

The page contains the model, its weights in float16, and the scripts of the attention demo. It needs neither a server
nor a network.
"""

from html import escape
from pathlib import Path

from attnbook.cards.card import embedded, read_assets
from attnbook.cards.explorer import shown_data
from attnbook.cards.packing import pack
from attnlib.checks import check_whole
from attnlib.seq2seq import EncoderDecoder
from attntext.stream import longest_source

_HERE = Path(__file__).parent

LARGEST = 64_000_000
"""Greatest size of a page, in bytes."""

_POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; form-action 'none'"
_PIECES = "It knows pieces of words: a piece with a dot before it goes on with a word. "


def page_of(model: EncoderDecoder, title: str, *, beam_size: int, max_length: int) -> str:
    """Return a model as an HTML page.

    Parameters
    ----------
    model : EncoderDecoder
        A model, with vocabularies of words or of subwords.
    title : str
        Title of the page.
    beam_size : int
        Hypotheses of the beam search. In the page, the reader can also choose greedy search.
    max_length : int
        Most words or subwords of a translation.

    Returns
    -------
    str
        The page. Its translations are those of `model` in float64, with weights rounded to float16.
    """
    beam_size, max_length = check_whole(beam_size=beam_size, max_length=max_length)
    weights = sum(weight.numel() for weight in model.state_dict().values())
    packed = pack(model)
    pieces = hasattr(model.source_vocabulary, "pieces")
    unit, hint, listed = ("piece", _PIECES, "pieces") if pieces else ("word", "", "words")
    attends = model.decoder.has_attention
    then = "change where the model looks" if attends else "replace words of its translation"
    shown = {"title": title, "digest": "own", "D": packed["parts"].get("D"), "steps": []}
    data = {
        **shown_data(("source", "target", "", "", unit), [], [shown]),
        "source": getattr(model.source_vocabulary, listed),
        "target": getattr(model.target_vocabulary, listed),
        "own": {"pieces": pieces, "positions": longest_source(model), "beam": beam_size, "most": max_length},
    }
    names = "models", "cards", "demo"
    page = (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}"><link rel="icon" href="data:,">'
        f'<meta name="viewport" content="width=device-width"><title>{escape(title)}</title>\n'
        f"<style>\n{read_assets(names, 'css')}{read_assets(['page'], 'css', _HERE)}</style></head>\n<body><main>"
        f"<h1>{escape(title)}</h1>\n<p>This model of {weights:,} weights translates in the page itself: nothing that "
        f"you write leaves it. {hint}Write a sentence, then {then}.</p>\n"
        '<div class="attnlib-card attnlib-demo"><div class="at-still"><p>The model is being read. If this stays, '
        "scripts are switched off, or the file is damaged: then write it again with attnlib page.</p></div>\n"
        f'<script type="application/json">{embedded(data)}</script></div>\n'
        f'<script type="application/json" data-model="own">{embedded(packed)}</script>\n'
        f"<script>\n{read_assets(['page'], 'js', _HERE)}{read_assets(names, 'js')}</script></main></body></html>\n"
    )
    if (size := len(page.encode())) > LARGEST:
        raise ValueError(
            f"the page would take {size / 1e6:.0f} MB; expected at most {LARGEST / 1e6:.0f} MB: "
            "train a smaller model, with fewer --features or a smaller --vocab-size"
        )
    return page
