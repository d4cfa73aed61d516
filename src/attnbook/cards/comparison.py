"""The comparison (chapter 4): one sentence, translated in the page by several models, each a row of light under it.

Without scripts, on paper and in few colors it is a table of the translations.
"""

from collections.abc import Mapping, Sequence
from html import escape

import torch

from attnbook.cards.card import Card, card, model_digest, still_table
from attnbook.cards.explorer import WHOLE
from attnbook.cards.french import grammar_tables
from attnbook.cards.packing import pack_models
from attnbook.language.phrases import concatenate, words
from attnbook.language.sentences import max_output_length, sample
from attnlib.batching import encode_batch
from attnlib.checks import check_whole
from attnlib.data import EOS, SentencePair, as_pair
from attnlib.search import greedy_search
from attnlib.seq2seq import EncoderDecoder

MOST = 8
"""Greatest number of models of a card, and of clauses of a sentence that grows."""

_END = "(end)"
_SEEDS = 2, 419, 668, 21, 33, 47, 60  # of sentences: three in which models fail one after another, then as they come


def model_comparison(
    models: Mapping[str, EncoderDecoder], sentences: Sequence[Sequence[SentencePair | tuple]] = (), *, length: int = 2
) -> Card:
    """Build a card in which several models translate the same sentence.

    Each model is a row: the French words are lamps, and the light of each falls on the English words above as its
    weights say. The reader chooses a French or an English word, lets the sentence grow by clauses, puts first in
    English what French puts last, or types a sentence. Words that are not in the right translation are marked. The
    models run in the page.

    Parameters
    ----------
    models : mapping of str to EncoderDecoder
        Up to `MOST` models by title, of the grammar of `attnbook.language.sentences`, with the same vocabularies.
    sentences : sequence of sequences of SentencePair, optional
        Sentences that grow, as lists of clauses. If empty, those of `growing_sentences`: in the first three, the
        pretrained models fail one after another.
    length : int, default 2
        Clauses of the sentence that is shown first.
    """
    packed = pack_models(models, MOST)
    growing = [[as_pair(clause) for clause in clauses] for clauses in sentences] or growing_sentences()
    check_whole(1, len(growing[0]), length=length)
    pair, network = joined(growing[0][:length]), next(iter(models.values()))
    steps = {title: _translate(model, pair.source) for title, model in models.items()}
    data = {
        "grammar": grammar_tables(),
        "source": network.source_vocabulary.words,
        "target": network.target_vocabulary.words,
        "models": [
            {"title": title, "digest": model_digest(one), "D": one["parts"].get("D"), "steps": steps[title]}
            for title, one in zip(models, packed, strict=True)
        ],
        "sentences": [[" ".join(clause.source) for clause in one] for one in growing],
        "length": length,
    }
    rows = [_row(title, [word for word, _ in steps[title]], [*pair.target, _END]) for title in models]
    english = " ".join(pair.source)
    still = still_table(english, ("model", "words", "translation"), rows)
    translations = "; ".join(f"{title}: {' '.join(word for word, _ in steps[title][:-1])}" for title in models)
    return card("comparison", still, data, f"{english}. {translations}", packed)


def growing_sentences() -> list[list[SentencePair]]:
    """Draw the sentences that a card lets grow if it is given none.

    Each has eight short clauses. Its first three stages are of the test part; the others are longer than all sentences
    of a training.
    """
    drawn = (sample(40, seed, [1], part="test", reordering=0) for seed in _SEEDS)
    return [[clause for clause in clauses if len(clause.source) < 9][:MOST] for clauses in drawn]


def joined(clauses: Sequence[SentencePair]) -> SentencePair:
    """Join clauses by *and*."""
    first, *others = clauses
    return concatenate(first, *(part for clause in others for part in (words("and", "et"), clause)))


@torch.no_grad()
def _translate(model: EncoderDecoder, sentence: Sequence[str]) -> list[tuple[str, list[int] | None]]:
    """Translate a sentence; return its words, the end counted, each with its weights in ten-thousandths."""
    source, lengths = encode_batch([sentence], model.source_vocabulary)
    best = greedy_search(model, source, lengths, max_output_length(sentence))
    ids = best.ids[0].tolist()
    written = [*model.target_vocabulary.decode(ids), *[_END] * (ids[-1] == EOS)]
    weights = [None] * len(ids) if best.weights is None else (WHOLE * best.weights[0]).round().int().tolist()
    return [*zip(written, weights, strict=True)]


def _row(title: str, written: list[str], right: list[str]) -> str:
    """Write a row of the table: a model's translation, and whether it is right. The script marks what is wrong."""
    verdict = "✓ right" if written == right else "wrong"
    translation = escape(" ".join(written))
    return f'<th scope="row">{escape(title)}</th><td>{verdict}</td><td lang="fr">{translation}</td>'
