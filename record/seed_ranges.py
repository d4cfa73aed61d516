"""What chapters 2 and 3 say of single models, for nine models more of each kind.

A chapter speaks of the model that came with the package. Each is trained again by its recipe, with the first nine of
the plan's seeds, and measured as the chapters do, in float64. The lines of the tables that have `pretrained` are those
of the package's own models. ``python record/seed_ranges.py`` writes what is missing in the tables, about a minute a
model.

- ``seed_ranges.csv``: a line for each model, seed, and test set.
- ``seed_ranges.word_classes.csv``: where the words of chapter 2's classes attend to most.
- ``seed_ranges.words_kept.csv``: words that come first still when weights are replaced (chapter 3).
- ``seed_ranges.hidden_words.csv``: translations that keep their negation or adjective when words are hidden (chapters 2
  and 3).
- ``seed_ranges.transplants.csv``: French adjectives changed by transplanted annotations (chapter 3).
- ``seed_ranges.windows.csv``: what the windows of local models cost (chapter 3).
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
import tyro
from interventions import exchanges, kept_when_hidden, transplanted, unmoved_without, words_kept
from recipes import RECIPES, held_out_sentences, retrain
from tables import is_recorded, replace_lines

from attnlib import load_pretrained
from attnlib.data import SentencePair
from attnlib.experiments.predictions import max_output_length, window_centers
from attnlib.experiments.runs import RECORDED
from attnlib.metrics import alignment_error_rate, attention_weights, exact_match, forced_alignments
from attnlib.seq2seq import EncoderDecoder
from attnlib.translation import translate_all

MODELS = "bahdanau", "global", "forwards", "local-p", "local-m"
SEEDS = range(10, 19)
ARTICLES = frozenset(("le", "la", "l'", "les", "un", "une"))
SHOWN = ("a", "woman", "sees", "the", "european", "area")
"""Chapter 3's sentence."""

HALF_WIDTH = 4
"""Of the local models' windows."""

Lines = Mapping[str, list[dict]]
"""Lines for each table, by the table's name."""


def measure(name: str, translator: EncoderDecoder) -> Lines:
    """Measure a model as chapters 2 and 3 do: lines for each table, without model and seed."""
    short = held_out_sentences(1, 2, 3)
    written, links = translations(translator, short), forced_alignments(translator, short)
    eight = held_out_sentences(8)
    lines = {
        "": [
            {"test_set": "seen lengths", **qualities(short, written, links), **adjectives(short, links)}
            | {"median_greatest_weight": median_greatest_weight(translator, short[:100])},
            {"test_set": "8 clauses", **neighbors(eight, forced_alignments(translator, eight))},
        ],
        "word_classes": word_classes(short, links),
    }
    if name in ("bahdanau", "global", "forwards"):
        lines["words_kept"] = words_kept(translator, short, written)
        lines["transplants"] = transplants(translator)
        lines["hidden_words"] = hidden_adjectives(translator)
    if name == "bahdanau":
        exact = [pair for pair, words in zip(short, written, strict=True) if words == pair.target]
        lines["hidden_words"] += hidden_words(translator, exact)
    if name.startswith("local"):
        lines["windows"] = [*windows(translator)]
    return lines


def translations(translator: EncoderDecoder, pairs: Sequence[SentencePair]) -> list[tuple[str, ...]]:
    """Translate greedily, each within `max_output_length`."""
    sources = [pair.source for pair in pairs]
    longest = [max_output_length(source) for source in sources]
    return [one.words for one in translate_all(translator, sources, beam_size=1, max_length=longest)]


def qualities(pairs, written, links) -> dict[str, float]:
    """Compute exact match and alignment error rates: of all pairs, of exact translations, of links one word on."""
    exact = [n for n, (words, pair) in enumerate(zip(written, pairs, strict=True)) if words == pair.target]
    shifted = [{(i, t - 1) for i, t in each if t} for each in links]
    gold = [pair.links for pair in pairs]
    return {
        "exact_match": exact_match(written, [pair.target for pair in pairs]),
        "alignment_error_rate": alignment_error_rate(links, gold),
        "alignment_error_rate_of_exact": alignment_error_rate([links[n] for n in exact], [gold[n] for n in exact]),
        "alignment_error_rate_of_word_before": alignment_error_rate(shifted, gold),
        **neighbors(pairs, links),
    }


def neighbors(pairs, links) -> dict[str, float]:
    """Compute the shares of French words linked to the right word, its neighbors, its copies, and other words."""
    kinds = dict.fromkeys(("right", "one_left", "one_right", "same_word", "other_word"), 0)
    for pair, alignment in zip(pairs, links, strict=True):
        for i, t in alignment:
            if gold := {k for k, at in pair.links if at == t}:
                same = pair.source[i] in {pair.source[k] for k in gold}
                where = (i in gold, i - 1 in gold, i + 1 in gold, same, True)
                kinds[("right", "one_right", "one_left", "same_word", "other_word")[where.index(True)]] += 1
    return {f"linked_{kind}": n / sum(kinds.values()) for kind, n in kinds.items()}


def adjectives(pairs, links) -> dict[str, float]:
    """Compute the shares of adjectives after their noun that attend to themselves, and to the noun or to its right."""
    hits = []
    for pair, alignment in zip(pairs, links, strict=True):
        where = {t: i for i, t in alignment}
        hits += [(where[t] == own, where[t] >= noun) for t, own, noun in adjectives_behind(pair)]
    own, noun = np.mean(hits, axis=0)
    return {"adjectives": len(hits), "on_adjective": own, "on_noun_or_beyond": noun}


def adjectives_behind(pair: SentencePair) -> list[tuple[int, int, int]]:
    """List the adjectives that follow their noun in French: target position, source position, and that of the noun."""
    at = {t: i for i, t in sorted(pair.links)}
    nouns = {t: min(i for i, other in pair.links if other == t) for t in at}
    behind = sorted(t for t in at if at[t] < nouns.get(t - 1, 0))
    for t in behind:
        nouns[t] = nouns[t - 1]
    return [(t, at[t], nouns[t]) for t in behind]


def median_greatest_weight(translator: EncoderDecoder, pairs: Sequence[SentencePair]) -> float:
    """Compute the median of the words' greatest weights."""
    return float(np.median([row.max() for pair in pairs for row in attention_weights(translator, pair)]))


def word_classes(pairs, links) -> list[dict]:
    """Count for each class of French words how many attend to their gold link, to its left, and to its right."""
    counts: dict[str, list[int]] = {}
    for pair, alignment in zip(pairs, links, strict=True):
        gold = {t: i for i, t in sorted(pair.links)}
        for i, t in alignment:
            sides = counts.setdefault(_word_class(pair, t, gold[t]), [0, 0, 0])
            sides[0 if (i, t) in pair.links else 1 if i < gold[t] else 2] += 1
    columns = "words", "on_gold_link", "left_of_it", "right_of_it"
    counted = sorted((kind, [sum(sides), *sides]) for kind, sides in counts.items())
    return [{"word_class": kind, **dict(zip(columns, sides, strict=True))} for kind, sides in counted]


def _word_class(pair: SentencePair, t: int, i: int) -> str:
    word = pair.target[t]
    if word in ARTICLES:
        return "later article" if t else "first article"
    if word in ("ne", "n'", "pas"):
        return "pas" if word == "pas" else "ne"
    earlier = [j for j, before in pair.links if before == t - 1]
    return "adjective after its noun" if earlier and i < min(earlier) else "other"


def hidden_words(translator: EncoderDecoder, pairs: Sequence[SentencePair]) -> list[dict]:
    """Count the negated sentences that are translated exactly, and still are when no step may attend to some words."""
    negated = [pair for pair in pairs if "not" in pair.source]
    return [
        {"hidden": " ".join(words), "sentences": len(negated), "kept": unmoved_without(translator, negated, words)}
        for words in (("not",), ("do", "does"), ("not", "do", "does"))
    ]


def hidden_adjectives(translator: EncoderDecoder) -> list[dict]:
    """Count the sentences whose French adjective is written when no step may attend to the English one.

    "european" is chapter 3's sentence alone.
    """
    distinct = [*{each.one.source: each for each in exchanges()}.values()]
    kept = [kept_when_hidden(translator, each) for each in distinct]
    shown = [each.one.source == SHOWN for each in distinct]
    return [
        {"hidden": "adjective", "sentences": len(kept), "kept": sum(kept)},
        {"hidden": "european", "sentences": sum(shown), "kept": int(kept[shown.index(True)])},
    ]


def transplants(translator: EncoderDecoder) -> list[dict]:
    """Compute how often annotations from a sentence with another adjective change the French adjective.

    ``changed``: the share over all exchanges. ``probability_shown``: that of *célèbre* in chapter 3's sentence.
    """
    every = exchanges()
    (shown,) = [each for each in every if each.one.source == SHOWN and "famous" in each.other.source]
    parts = {"adjective": lambda e: [e.adjective], "noun": lambda e: [e.noun]}
    parts |= {"both": lambda e: [e.adjective, e.noun], "noun and end": lambda e: [e.noun, len(e.one.source)]}
    return [
        {
            "replaced": part,
            "changed": float(np.mean([transplanted(translator, each, places(each))[0] for each in every])),
            "probability_shown": transplanted(translator, shown, places(shown))[1],
        }
        for part, places in parts.items()
    ]


def windows(translator: EncoderDecoder) -> Iterator[dict]:
    """For each number of clauses, split exact match by whether the words lie near the diagonal, and follow the centers.

    ``share`` and ``predicted_share`` are the places in the source that translate the word after the first six, and the
    centers p_t there, as shares of the sentence; ``words_ahead`` is the difference in words.
    """
    for clauses in (1, 2, 3, 4, 5, 6, 8):
        pairs = held_out_sentences(clauses)
        furthest = np.array([max(abs(i - t) for i, t in pair.links) for pair in pairs])
        outside = furthest > HALF_WIDTH
        written = translations(translator, pairs)
        right = np.array([words == pair.target for words, pair in zip(written, pairs, strict=True)])
        six = [pair for pair in pairs if any(t == 6 for _, t in pair.links)]
        lengths = np.array([len(pair.source) + 1 for pair in six])
        gold = np.array([np.mean([i for i, t in pair.links if t == 6]) for pair in six])
        centers = np.array([p[6] for p in window_centers(translator, six)])
        yield {
            "clauses": clauses,
            "sentences": len(pairs),
            "exact": int(right.sum()),
            "outside": int(outside.sum()),
            "exact_outside": int(right[outside].sum()),
            "share": np.mean(gold / lengths),
            "predicted_share": np.mean(centers / lengths),
            "words_ahead": np.mean(centers - gold),
        }


def main(tables: Path = RECORDED) -> None:
    """Train and measure the models that the tables lack.

    Parameters
    ----------
    tables
        The folder of the tables; the default is in the package.
    """
    torch.set_num_threads(1)
    for seed in (None, *SEEDS):
        for name in MODELS:
            key = {"model": name, "seed": seed or RECIPES[name].seed, "pretrained": not seed}
            if not is_recorded("seed_ranges", tables, **key):
                model = retrain(name, seed) if seed else load_pretrained(name)
                replace_lines(measure(name, model), "seed_ranges", tables, **key)
                print(name, key["seed"], flush=True)


if __name__ == "__main__":
    tyro.cli(main)
