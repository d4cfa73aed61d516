"""Runs on real sentences, Multi30k: its files, one run, and what is recorded of it. Of the text there are figures only.

Elliott, Frank, Sima'an and Specia 2016, "Multi30K: Multilingual English-German Image Descriptions"; its French is of
Elliott, Frank, Barrault, Bougares and Specia 2017, "Findings of the Second Shared Task on Multimodal Machine
Translation and Multilingual Image Description".

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

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache, partial
from html import unescape
from importlib.metadata import version
from math import exp, log
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from sacrebleu.metrics import CHRF
from scipy.stats import spearmanr

from attnlib.data import UNKNOWN, SentencePair
from attnlib.experiments.captions import LANGUAGES, captions
from attnlib.experiments.measures import parameters
from attnlib.experiments.plan import TextRow
from attnlib.experiments.records import Job, Ledger, lines_of
from attnlib.metrics import looks, sentence_losses
from attnlib.text.evaluation import compared, evaluate
from attnlib.text.files import Words, digest, iter_parallel, split_words
from attnlib.text.folder import load_history
from attnlib.text.model import Model, Translation
from attnlib.text.training import train_model
from attnlib.writing import write_atomically

SOURCE = "github.com/multi30k/dataset"
"""Where the text is from. Its files are in the folder data/task1/tok."""

FILES = ("train", "val", "test_2017_flickr")
"""What the files of the parts of `Data` are called."""


class Data(NamedTuple):
    """English captions and their translations: to learn from, to choose the best weights by, and to measure."""

    train: list[SentencePair]
    dev: list[SentencePair]
    test: list[SentencePair]


@lru_cache(maxsize=2)
def read_data(folder: Path, language: str) -> Data:
    """Read all parts in English and one of `attnlib.experiments.captions.LANGUAGES`, except pairs with an empty side.

    A file is called ``val.lc.norm.tok.en``, as in the repository, or ``val.en``, or either with ``.gz``. The files
    spell marks as HTML does, such as "&apos;". These are replaced by the marks that they stand for, so that a word is
    spelt in one way. This makes no two words alike, and leaves BLEU as it is.

    Raises
    ------
    OSError, ValueError
        If a file is missing: it names all that are; otherwise as for `attnlib.text.files.iter_parallel`.
    """
    names = [(name, ending) for name in FILES for ending in ("en", LANGUAGES[language])]
    paths = [_file(folder, *name) for name in names]
    missing = [f"{name}.lc.norm.tok.{ending}" for (name, ending), path in zip(names, paths, strict=True) if not path]
    if missing:
        raise ValueError(
            f"--data is {folder}, which lacks {', '.join(missing)} (or .gz); expected the files of the folder "
            f"data/task1/tok of {SOURCE}"
        )
    parts = zip(paths[::2], paths[1::2], strict=True)
    return Data(*([_plain(*sides) for sides in iter_parallel(*part) if all(sides)] for part in parts))


def missing_runs(
    ledger: Ledger, runs: Iterable[tuple[TextRow, int]], data: Path, models: Path, **how: Any
) -> Iterator[Job]:
    """List those of the runs that are not recorded yet. Models go into a folder each in `models`.

    Parameters
    ----------
    data : Path
        The folder of the text: see `read_data`.
    **how
        As for `attnlib.text.training.train_model`: device, progress.

    Raises
    ------
    ValueError
        If a run is recorded with other settings than the plan's, or with another text.
    """
    for row, seed in runs:
        about = {"settings": asdict(row.settings(seed)), "effort": row.effort}
        about["text"] = _digests(data, row.language, row.pairs)
        recorded = ledger.runs(row.name).get(str(seed))
        if recorded is None:
            run = partial(_run, row, seed, about, data, results=ledger.folder, models=models, **how)
            yield Job(row.name, str(seed), run)
        elif other := [part for part in about if recorded[part] != about[part]]:
            raise ValueError(
                f"{row.name}, seed {seed}, is recorded with another {other[0]}; give another --folder for yours"
            )


def train_and_measure(row: TextRow, seed: int, data: Data, folder: Path, **how: Any) -> dict[str, dict[str, Any]]:
    """Train a row with a seed, or go on with that, and measure what it has become: see the top of this module.

    Raises
    ------
    KeyboardInterrupt
        If Ctrl-C ended the training. The same call goes on with it.
    """
    model = train_model(folder, data.train[: row.pairs], data.dev, row.settings(seed), **how)
    if model.config["ended"] == "interrupted":
        raise KeyboardInterrupt
    search = {name: row.effort[name] for name in ("beam", "max_length")} | {"prefer_finished": True}
    return {
        "training": _training(model, folder),
        "test": _test(model, data.test, search),
        "captions": _captions(model, row.language, data.train, search, whole=seed == 0),
    }


def write_counts(language: str, train: Sequence[SentencePair], folder: Path) -> None:
    """Write how often each word of our captions stands in the text that is learnt from, and a digest of that text."""
    counts = {"text": digest(train)}
    for side, name in enumerate(("english", language)):
        ours = {word for caption in captions(language) for word in caption.pair[side]}
        theirs = Counter(word for pair in train for word in pair[side])
        counts[name] = {word: theirs[word] for word in sorted(ours)}
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(folder / f"{language}.words.json", f"{{\n{lines_of(counts)}\n}}\n".encode())


def _run(
    row: TextRow, seed: int, about: dict[str, Any], text: Path, *, results: Path, models: Path, **how: Any
) -> dict[str, Any]:
    data, device = read_data(text, row.language), how.get("device", torch.device("cpu"))
    write_counts(row.language, data.train, results)
    gpu = {"gpu": torch.cuda.get_device_name(device)} if device.type == "cuda" else {}
    environment = gpu | {"threads": torch.get_num_threads(), "sentencepiece": version("sentencepiece")}
    return (
        about | {"environment": environment} | train_and_measure(row, seed, data, models / f"{row.name}.{seed}", **how)
    )


@lru_cache
def _digests(folder: Path, language: str, pairs: int | None) -> dict[str, str]:
    data = read_data(folder, language)
    return {"train": digest(data.train[:pairs]), "dev": digest(data.dev), "test": digest(data.test)}


def _training(model: Model, folder: Path) -> dict[str, Any]:
    *steps, end = load_history(folder)
    dev = [
        [line["step"], round(line["dev_loss"], 4), round(line["dev_bleu"], 4)] for line in steps if "dev_bleu" in line
    ]
    translator = model.translator
    return {
        "steps": steps[-1]["step"],
        "words": end["words"],
        "seconds": end["seconds"],
        "words_per_second": round(end["words"] / end["seconds"], 1),
        "parameters": parameters(translator),
        "vocabularies": [len(translator.source_vocabulary), len(translator.target_vocabulary)],
        "losses": [[line["step"], round(line["loss"], 4)] for line in steps if "loss" in line],
        "dev": dev,
        "best": max(dev, key=lambda score: (score[2], -score[1]))[0],
    }


def _test(model: Model, pairs: Sequence[SentencePair], how: Mapping[str, Any]) -> dict[str, Any]:
    sides = [(pair.source, pair.target) for pair in pairs]
    translations = model.translate_all([source for source, _ in sides], **how)
    words = [one.words for one in translations]
    scores = compared(words, sides, "none")
    sizes = [sum(model.translator.target_vocabulary.sizes(each)) for each in words]
    attends = model.translator.decoder.attends
    copied = [one.with_unknown_replaced().words for one in translations] if attends else None
    return {
        "sentences": scores.sentences,
        "perplexity": round(_perplexity(model, pairs), 4),
        "bleu": round(scores.bleu, 4),
        "chrf": round(scores.chrf, 4),
        "signatures": list(scores.signatures),
        "by_length": [[*part[:3], round(part.bleu.score, 4)] for part in scores.by_length],
        "greedy": round(evaluate(model, sides, **how | {"beam": 1}, tokenize="none").bleu, 4),
        "length": round(sum(map(len, words)) / sum(len(target) for _, target in sides), 4),
        "endless": sum(size >= how["max_length"] for size in sizes),
        "exact": scores.exact,
        "bleu_13a": round(compared(words, sides, "13a").bleu, 4),
        "unknown": _unknown(model, pairs),
        "written": sum("<unknown>" in word for each in words for word in each),
        "copied": round(compared(copied, sides, "none").bleu, 4) if attends else None,
        "tells": _tells(translations, pairs) if attends else None,
    }


def _captions(
    model: Model, language: str, train: Sequence[SentencePair], how: Mapping[str, Any], *, whole: bool
) -> dict[str, Any]:
    pairs, gold, _ = zip(*captions(language), strict=True)
    sides, known = [pair[:2] for pair in pairs], {pair.source for pair in train}
    attends = model.translator.decoder.attends
    scores = evaluate(model, sides, **how, tokenize="none", gold=gold if attends else None)
    measures = {
        "bleu": round(scores.bleu, 4),
        "chrf": round(scores.chrf, 4),
        "alignment_error": round(scores.alignment_error, 4) if attends else None,
        "seen": sum(source in known for source, _ in sides),
    }
    if whole:
        translations = model.translate_all([source for source, _ in sides], **how)
        measures["translations"] = [str(one) for one in translations]
        measures["probabilities"] = [_log_probability(one) for one in translations]
        if attends:
            measures["weights"] = [_hundredths(one.weights) for one in translations]
            measures["forced"] = [_hundredths(looks(model.translator, pair)) for pair in pairs]
    return measures


def _perplexity(model: Model, pairs: Sequence[SentencePair]) -> float:
    numbers = sum(len(model.translator.target_vocabulary.encode(pair.target)) for pair in pairs)
    return exp(sum(sentence_losses(model.translator, pairs)) / numbers)


def _unknown(model: Model, pairs: Sequence[SentencePair]) -> list[float]:
    vocabularies = model.translator.source_vocabulary, model.translator.target_vocabulary
    shares = []
    for vocabulary, side in zip(vocabularies, ("source", "target"), strict=True):
        numbers = [n for pair in pairs for n in vocabulary.encode(getattr(pair, side))[:-1]]
        shares.append(round(numbers.count(UNKNOWN) / len(numbers), 4))
    return shares


def _tells(translations: Sequence[Translation], pairs: Sequence[SentencePair]) -> Mapping[str, float | None]:
    chrf, both = CHRF(), [(one, pair) for one, pair in zip(translations, pairs, strict=True) if one.words]
    quality = [chrf.sentence_score(str(one), [" ".join(pair.target)]).score for one, pair in both]
    return {
        "probability": _correlation(quality, [_log_probability(one) / len(one.words) for one, _ in both]),
        "entropy": _correlation(quality, [_entropy(one.weights) for one, _ in both]),
    }


def _correlation(one: Sequence[float], other: Sequence[float]) -> float | None:
    """Correlate ranks, if not all of them are the same."""
    if min(len({*one}), len({*other})) < 2:
        return None
    return round(float(spearmanr(one, other).statistic), 4)


def _log_probability(translation: Translation) -> float:
    return round(log(max(translation.probability, 1e-300)), 4)


def _entropy(weights: np.ndarray) -> float:
    return float(-(weights * np.log(np.maximum(weights, 1e-12))).sum(axis=1).mean())


def _hundredths(weights: np.ndarray) -> list[list[int]]:
    return np.rint(100 * np.asarray(weights)).astype(int).tolist()


def _plain(*sides: Words) -> SentencePair:
    return SentencePair(*(split_words(unescape(" ".join(words))) for words in sides))


def _file(folder: Path, name: str, ending: str) -> Path | None:
    names = (f"{name}{middle}.{ending}{end}" for middle in (".lc.norm.tok", "") for end in ("", ".gz"))
    return next((folder / path for path in names if (folder / path).is_file()), None)
