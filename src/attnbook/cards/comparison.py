"""The comparison (chapter 4): one sentence, translated in the page by several models, each a row of light under it.

Without scripts, on paper and in few colors it is a table of the translations.
"""

from collections.abc import Mapping, Sequence
from html import escape
from itertools import pairwise

import torch

from attnbook.cards.card import Card, card, model_digest, still_table
from attnbook.cards.explorer import WHOLE
from attnbook.cards.french import grammar_tables
from attnbook.cards.packing import pack_models
from attnbook.language.phrases import concatenate, words
from attnbook.language.sentences import sample
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


def count_wrong(ours: Sequence[str], right: Sequence[str]) -> int:
    """Count the words of a translation that are wrong or left out, as the card does.

    A wrong word in place of a right one counts once.
    """
    return max(len(ours), len(right)) - sum(place >= 0 for place in align(ours, right))


def align(ours: Sequence[str], right: Sequence[str]) -> list[int]:
    """Find where each word of a translation stands in the right one.

    Clauses, cut at *et*, are paired in order, so that the pairs share as many words as they can; then the words of
    each pair by their longest common subsequence. A longest common subsequence of the whole sentences would take
    words of one clause for those of another, which are right only by chance.
    """
    own, there = _clauses(ours), _clauses(right)
    found = [[_match([ours[n] for n in a], [right[n] for n in b]) for b in there] for a in own]
    shared = [[sum(n >= 0 for n in places) for places in row] for row in found]
    fits = [-1] * len(ours)
    for g, k in enumerate(_pair(shared, len(there))):
        for n, place in zip(own[g], found[g][k] if k >= 0 else [], strict=False):
            fits[n] = there[k][place] if place >= 0 else -1
    if ours[-1:] == right[-1:] == [_END]:
        fits[-1] = len(right) - 1
    return fits


def _clauses(words: Sequence[str]) -> list[list[int]]:
    """Cut a sentence before each *et*, and leave its end out."""
    cuts = [0, *(n for n, word in enumerate(words) if n and word == "et"), len(words) - (list(words[-1:]) == [_END])]
    return [[*range(*ends)] for ends in pairwise(cuts)]


def _match(ours: Sequence[str], right: Sequence[str]) -> list[int]:
    """Match two sentences by a longest common subsequence."""
    same = [[x == y for y in right] for x in ours]
    best = _best_sums([[int(x) for x in row] for row in same], len(right))
    places, a, b = [-1] * len(ours), 0, 0
    while a < len(ours) and b < len(right):
        if same[a][b]:
            places[a] = b
            a, b = a + 1, b + 1
        elif best[a + 1][b] >= best[a][b + 1]:
            a += 1
        else:
            b += 1
    return places


def _pair(shared: list[list[int]], right: int) -> list[int]:
    """Pair clauses in order; one that is like none takes a free place between its neighbors, if there is one."""
    best, pairs, g, k = _best_sums(shared, right), [-1] * len(shared), 0, 0
    while g < len(shared) and k < right:
        if shared[g][k] > 1 and shared[g][k] + best[g + 1][k + 1] == best[g][k]:
            pairs[g] = k
            g, k = g + 1, k + 1
        elif best[g][k + 1] >= best[g + 1][k]:
            k += 1
        else:
            g += 1
    for g, k in enumerate(pairs):
        before, after = max(pairs[:g], default=-1), next((k for k in pairs[g + 1 :] if k >= 0), right)
        if k < 0 and before + 1 < after:
            pairs[g] = before + 1
    return pairs


def _best_sums(gains: list[list[int]], right: int) -> list[list[int]]:
    """Sum the gains of pairs in order, from each place on: the most that any choice of them reaches."""
    best = [[0] * (right + 1) for _ in range(len(gains) + 1)]
    for a in reversed(range(len(gains))):
        for b in reversed(range(right)):
            best[a][b] = max(gains[a][b] + best[a + 1][b + 1], best[a + 1][b], best[a][b + 1])
    return best


@torch.no_grad()
def _translate(model: EncoderDecoder, sentence: Sequence[str]) -> list[tuple[str, list[int] | None]]:
    """Translate a sentence; return its words, the end counted, each with its weights in ten-thousandths."""
    source, lengths = encode_batch([sentence], model.source_vocabulary)
    best = greedy_search(model, source, lengths, len(sentence) + 9)
    ids = best.ids[0].tolist()
    written = [*model.target_vocabulary.decode(ids), *[_END] * (ids[-1] == EOS)]
    weights = [None] * len(ids) if best.weights is None else (WHOLE * best.weights[0]).round().int().tolist()
    return [*zip(written, weights, strict=True)]


def _row(title: str, written: list[str], right: list[str]) -> str:
    """Write a row of the table: a model's translation, its wrong words marked."""
    fits, wrong = align(written, right), count_wrong(written, right)
    marked = " ".join(
        escape(word) if place >= 0 else f'<u class="at-wrong">{escape(word)}</u>'
        for word, place in zip(written, fits, strict=True)
    )
    verdict = f"{wrong} wrong" if wrong else "✓ right"
    return f'<th scope="row">{escape(title)}</th><td>{verdict}</td><td lang="fr">{marked}</td>'
