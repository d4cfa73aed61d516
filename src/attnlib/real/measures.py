"""One run: a row trained with a seed, and what is recorded of it. Of the text there are figures only.

``training``: ``steps``, ``words`` and ``seconds`` of it, ``words_per_second``; how many numbers it learns,
``parameters``; how many words each side knows, ``vocabularies``; ``losses``, in nats per word, smoothed labels, each
the mean of up to a hundred steps; ``dev``: step, loss and BLEU of each score; ``best``, the step whose weights
were kept.

``test``, of the test part:

======================== ===========================================================================================
``sentences``            how many there are
``perplexity``           of a word, EOS among them, given the true words before it
``bleu``, ``chrf``       of beam search, the words as they stand; ``signatures`` say how
``by_length``            shortest and longest source, sentences, BLEU
``greedy``               BLEU if the likeliest word is taken at each step
``length``, ``endless``  words of the translations to one of the true ones; how many translations had to be cut off
``exact``                the share that is right word for word
``bleu_13a``             BLEU if sacrebleu cuts the same translations and references again, as if they were raw text
``unknown``              the share of unknown words among source words, and among the words of the true translations
``written``, ``copied``  how many unknown words the translations hold; BLEU if each becomes the source word that it
                         looked at most. None: a model without attention
``tells``                Spearman's correlation of a sentence's own chrF with the probability of its translation, a
                         word, and with the entropy of the weights, a word. None: a model without attention
======================== ===========================================================================================

``captions``, of our own: ``bleu``, ``chrf`` and ``alignment_error`` of forced decoding; ``seen``, how many of the
English ones are in the text. Of seed 0 also ``translations`` and their ``probabilities``, as logarithms; and, for
models with attention, ``weights`` of these translations and ``forced``, the weights when the model is given the true
ones: both in hundredths, a row a target word.
"""

from collections.abc import Mapping, Sequence
from math import exp, log
from pathlib import Path
from typing import Any

import numpy as np
from sacrebleu.metrics import CHRF
from scipy.stats import spearmanr

from attnlib.data import UNKNOWN, SentencePair
from attnlib.metrics import alignment_error_rate, looks
from attnlib.real.captions import captions
from attnlib.real.data import Data
from attnlib.real.plan import EFFORT, Effort, TextRow
from attnlib.text.checkpoint import read_history
from attnlib.text.evaluation import compared
from attnlib.text.learning import learn
from attnlib.text.model import Model, Translation, sentence_losses


def train_and_measure(
    row: TextRow, seed: int, data: Data, folder: Path, effort: Effort = EFFORT, **how: Any
) -> dict[str, dict[str, Any]]:
    """Train a row with a seed, or go on with that, and measure what it has become.

    Parameters
    ----------
    row : TextRow
    seed : int
    data : Data
        In the row's language.
    folder : Path
        Where the model will be, and what is kept of it while it is trained.
    effort : Effort
    **how
        As for `attnlib.text.learning.learn`: device, progress.

    Returns
    -------
    dict
        ``training``, ``test``, ``captions``: see the top of this module.

    Raises
    ------
    KeyboardInterrupt
        If Ctrl-C ended the training. The same call goes on with it.
    """
    model = learn(folder, data.train[: row.pairs], data.dev, row.settings(seed, effort), **how)
    if model.config["ended"] == "interrupted":
        raise KeyboardInterrupt
    how_found = {"beam": effort.beam, "max_length": effort.max_length}
    return {
        "training": _training(model, folder),
        "test": _test(model, data.test, how_found),
        "captions": _captions(model, row.language, data.train, how_found, whole=seed == 0),
    }


def _training(model: Model, folder: Path) -> dict[str, Any]:
    *steps, end = read_history(folder)
    dev = [
        [line["step"], round(line["dev_loss"], 4), round(line["dev_bleu"], 4)] for line in steps if "dev_bleu" in line
    ]
    translator = model.translator
    return {
        "steps": steps[-1]["step"],
        "words": end["words"],
        "seconds": end["seconds"],
        "words_per_second": round(end["words"] / end["seconds"], 1),
        "parameters": sum(weight.numel() for weight in translator.parameters()),
        "vocabularies": [len(translator.source_vocabulary), len(translator.target_vocabulary)],
        "losses": [[line["step"], round(line["loss"], 4)] for line in steps if "loss" in line],
        "dev": dev,
        "best": max(dev, key=lambda score: (score[2], -score[1]))[0],
    }


def _test(model: Model, pairs: Sequence[SentencePair], how: Mapping[str, int]) -> dict[str, Any]:
    sides = [(pair.source, pair.target) for pair in pairs]
    found = model.translate_all([source for source, _ in sides], **how)
    scores = compared([f.words for f in found], sides, "none")
    greedy = model.translate_all([source for source, _ in sides], **how | {"beam": 1})
    sizes = [sum(model.translator.target_vocabulary.sizes(f.words)) for f in found]
    attends = model.translator.decoder.attends
    copied = [f.with_unknown_replaced().words for f in found] if attends else None
    return {
        "sentences": scores.sentences,
        "perplexity": round(_perplexity(model, pairs), 4),
        "bleu": round(scores.bleu, 4),
        "chrf": round(scores.chrf, 4),
        "signatures": list(scores.signatures),
        "by_length": [[*part[:3], round(part.bleu.score, 4)] for part in scores.by_length],
        "greedy": round(compared([f.words for f in greedy], sides, "none").bleu, 4),
        "length": round(sum(len(f.words) for f in found) / sum(len(target) for _, target in sides), 4),
        "endless": sum(size >= how["max_length"] for size in sizes),
        "exact": scores.exact,
        "bleu_13a": round(compared([f.words for f in found], sides, "13a").bleu, 4),
        "unknown": _unknown(model, pairs),
        "written": sum("<unknown>" in word for f in found for word in f.words),
        "copied": round(compared(copied, sides, "none").bleu, 4) if attends else None,
        "tells": _tells(found, pairs) if attends else None,
    }


def _captions(
    model: Model, language: str, train: Sequence[SentencePair], how: Mapping[str, int], *, whole: bool
) -> dict[str, Any]:
    pairs, gold, _ = zip(*captions(language), strict=True)
    sides, known = [pair[:2] for pair in pairs], {pair.source for pair in train}
    found = model.translate_all([source for source, _ in sides], **how)
    scores = compared([f.words for f in found], sides, "none")
    attends = model.translator.decoder.attends
    measures = {
        "bleu": round(scores.bleu, 4),
        "chrf": round(scores.chrf, 4),
        "alignment_error": round(_alignment_error(model, sides, gold), 4) if attends else None,
        "seen": sum(source in known for source, _ in sides),
    }
    if whole:
        measures["translations"] = [str(f) for f in found]
        measures["probabilities"] = [_log_probability(f) for f in found]
    if attends and whole:
        measures["weights"] = [_hundredths(f.weights) for f in found]
        measures["forced"] = [_hundredths(looks(model.translator, pair)) for pair in pairs]
    return measures


def _perplexity(model: Model, pairs: Sequence[SentencePair]) -> float:
    numbers = sum(len(model.translator.target_vocabulary.encode(pair.target)) for pair in pairs)
    return exp(sum(sentence_losses(model.translator, pairs)) / numbers)


def _unknown(model: Model, pairs: Sequence[SentencePair]) -> list[float]:
    known = model.translator.source_vocabulary, model.translator.target_vocabulary
    sides = [pair.source for pair in pairs], [pair.target for pair in pairs]
    encoded = [[numbers.encode(words)[:-1] for words in side] for numbers, side in zip(known, sides, strict=True)]
    return [round(float(np.mean([n == UNKNOWN for part in side for n in part])), 4) for side in encoded]


def _tells(found: Sequence[Translation], pairs: Sequence[SentencePair]) -> Mapping[str, float | None]:
    chrf, whole = CHRF(), [n for n, f in enumerate(found) if f.words]
    quality = [chrf.sentence_score(str(found[n]), [" ".join(pairs[n].target)]).score for n in whole]
    probability = [_log_probability(found[n]) / len(found[n].words) for n in whole]
    entropy = [_entropy(found[n].weights) for n in whole]
    both = {"probability": probability, "entropy": entropy}
    return {name: _correlation(quality, numbers) for name, numbers in both.items()}


def _correlation(one: Sequence[float], other: Sequence[float]) -> float | None:
    """Correlate ranks, if not all of them are the same."""
    if min(len({*one}), len({*other})) < 2:
        return None
    return round(float(spearmanr(one, other).statistic), 4)


def _log_probability(found: Translation) -> float:
    return round(log(max(found.probability, 1e-300)), 4)


def _entropy(weights: np.ndarray) -> float:
    return float(-(weights * np.log(np.maximum(weights, 1e-12))).sum(axis=1).mean())


def _alignment_error(model: Model, sides: Sequence[tuple], gold: Sequence[Any]) -> float:
    return alignment_error_rate(model.links_of(sides), [one.sure for one in gold], [one.possible for one in gold])


def _hundredths(weights: np.ndarray) -> list[list[int]]:
    return np.rint(100 * np.asarray(weights)).astype(int).tolist()
