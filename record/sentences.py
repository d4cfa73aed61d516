"""Runs on real sentences, Multi30k: its files, one run, and what is recorded of it. Of the text there are figures only.

Elliott, Frank, Sima'an and Specia 2016, "Multi30K: Multilingual English-German Image Descriptions"; its French is of
Elliott, Frank, Barrault, Bougares and Specia 2017, "Findings of the Second Shared Task on Multimodal Machine
Translation and Multilingual Image Description".

Of the test set "test": ``perplexity`` of a word, EOS among them, given the true words before it; ``bleu_beam``, the
words as they stand; ``bleu_beam_copied``, if each unknown word becomes the source word that it attends to most;
``bleu_beam_known``, of the sentences without unknown words, if translations must not hold any. Of "captions", our own:
``bleu_beam``, and ``alignment_error_rate`` of forced decoding.

The details have step, loss and BLEU of each score on the dev part (``dev``); ``signatures`` of BLEU and chrF; and of
seed 0 the captions' ``translations``, their ``log_probabilities``, ``weights`` and ``forced_attention``, the weights
for the true ones: both in hundredths, a row a target word.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache
from html import unescape
from math import exp
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from tables import Run, environment

from attnbook.experiments.captions import LANGUAGES, load_captions
from attnbook.experiments.plan import GRAMMAR, ExperimentConfig
from attnbook.experiments.runs import Recording
from attnbook.pretrained.folder import load_history
from attnlib.data import UNK, SentencePair, Tokenizer
from attnlib.metrics import attention_weights, token_nll
from attnlib.seq2seq import EncoderDecoder
from attnlib.translation import translate_all
from attnlib.units import Words, split_words
from attntext.evaluation import evaluate, score_translations
from attntext.files import iter_parallel, pairs_digest
from attntext.settings import TrainingConfig
from attntext.trainer import train_model

SOURCE = "github.com/multi30k/dataset"
"""Where the text is from. Its files are in the folder data/task1/tok."""

FILES = ("train", "val", "test_2017_flickr")
"""What the files of the parts of `Data` are called."""


class Data(NamedTuple):
    """English captions and their translations: to learn from, to choose the best weights by, and to measure."""

    train: list[SentencePair]
    dev: list[SentencePair]
    test: list[SentencePair]


def settings_of(config: ExperimentConfig, seed: int) -> TrainingConfig:
    """Collect the settings of a training on a text; the rest is as it is by default."""
    given = {"learning_rate": config.learning_rate, "max_input_length": config.max_input_length}
    return TrainingConfig(
        preset=config.model,
        options={**config.options, **config.sizes, "seed": seed},
        words=not config.subwords,
        epochs=10,  # as the recorded settings say; the steps count
        steps=config.max_steps,
        eval_every=config.eval_every,
        seed=seed,
        **{name: x for name, x in given.items() if x is not None},
    )


def search_of(config: ExperimentConfig) -> dict[str, int]:
    """Collect the settings of the beam search."""
    return {"beam_size": config.beam_size, "max_length": config.max_length}


@lru_cache(maxsize=2)
def read_data(folder: Path, language: str) -> Data:
    """Read all parts in English and one of `attnbook.experiments.captions.LANGUAGES`, except pairs with an empty side.

    A file is called ``val.lc.norm.tok.en``, as in the repository, or ``val.en``, or either with ``.gz``. The files
    spell marks as HTML does, such as "&apos;". These are replaced by the marks that they stand for, so that a word is
    spelt in one way. This makes no two words alike, and leaves BLEU as it is.

    Raises
    ------
    OSError, ValueError
        If a file is missing: it names all that are; otherwise as for `attntext.files.iter_parallel`.
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


def train_and_measure(config: ExperimentConfig, seed: int, data: Data, folder: Path, **how: Any) -> Run:
    """Train a configuration with a seed, or go on with that, and measure the model: see the top of this module.

    Raises
    ------
    KeyboardInterrupt
        If Ctrl-C ended the training. The same call goes on with it.
    """
    model = train_model(folder, data.train[: config.num_pairs], data.dev, settings_of(config, seed), **how)
    if model.config["ended"] == "interrupted":
        raise KeyboardInterrupt
    run = measure_model(model, config, seed, data)
    scored = [line for line in load_history(folder) if "dev_bleu" in line]
    dev = [[line["step"], round(line["dev_loss"], 4), round(line["dev_bleu"], 4)] for line in scored]
    return Run(run.tables, run.details | {"dev": dev})


def measure_model(model: EncoderDecoder, config: ExperimentConfig, seed: int, data: Data) -> Run:
    """Measure a trained model, or an ensemble, on the test part and on our captions."""
    search, key = search_of(config), {"model": config.name, "seed": seed}
    test, words, signatures = _test(model, data.test, search)
    captions, outputs = _captions(model, config.language, search, whole=seed == 0)
    lines = [key | {"test_set": "test"} | test, key | {"test_set": "captions"} | captions]
    tables = {"": lines, "words": [key | line for line in words], "environments": [environment()]}
    return Run(tables, key | {"signatures": signatures, "environment": environment()["id"]} | outputs)


def describe(config: ExperimentConfig, seed: int, folder: Path) -> dict[str, Any]:
    """Describe how a run was made: by its settings, its search, and digests of its text."""
    text = _digests(folder, config.language, config.num_pairs)
    return {"settings": asdict(settings_of(config, seed)), "search": search_of(config), "text": text}


def check_text(recording: Recording, left: Sequence[Any], folder: Path) -> None:
    """Raise an error if runs are left of a text that is not in the folder, or not that of the recorded runs."""
    configs = recording.plan.configs
    for language in {job.config.language for job in left} - {GRAMMAR}:
        read_data(folder, language)
        for run in (run for run in recording.details if configs[run["model"]].language == language):
            if run["text"] != _digests(folder, language, configs[run["model"]].num_pairs):
                raise ValueError(
                    f"--data is {folder}, with another text than {run['model']}, seed {run['seed']}, is recorded with; "
                    "expected the same text, or another --folder"
                )


@lru_cache
def _digests(folder: Path, language: str, pairs: int) -> dict[str, str]:
    data = read_data(folder, language)
    return {"train": pairs_digest(data.train[:pairs]), "dev": pairs_digest(data.dev), "test": pairs_digest(data.test)}


def _test(
    model: EncoderDecoder, pairs: Sequence[SentencePair], how: Mapping[str, Any]
) -> tuple[dict[str, Any], list[dict[str, Any]], list[str]]:
    sides = [(pair.source, pair.target) for pair in pairs]
    translations = translate_all(model, [source for source, _ in sides], **how)
    words = [one.words for one in translations]
    scores = score_translations(words, sides, "none")
    attends = model.decoder.has_attention
    copied = [one.with_unknown_replaced().words for one in translations] if attends else None
    known = [pair for pair in sides if not any(map(_unknown, model.vocabularies, pair))]
    metrics = {
        "sentences": scores.sentences,
        "perplexity": exp(np.concatenate(token_nll(model, pairs)).mean()),
        "bleu_beam": scores.bleu,
        "bleu_beam_copied": score_translations(copied, sides, "none").bleu if attends else None,
        "bleu_beam_known": evaluate(model, known, **how, allow_unknown=False, tokenize="none").bleu,
    }
    by_words = [
        {"words": f"{part[0]}-{part[1]}", "sentences": part[2], "bleu_beam": round(part.bleu, 4)}
        for part in scores.by_length
    ]
    return _rounded(metrics), by_words, list(scores.signatures)


def _captions(
    model: EncoderDecoder, language: str, how: Mapping[str, Any], *, whole: bool
) -> tuple[dict[str, Any], dict[str, Any]]:
    pairs, gold, _ = zip(*load_captions(language), strict=True)
    sides = [pair[:2] for pair in pairs]
    attends = model.decoder.has_attention
    scores = evaluate(model, sides, **how, tokenize="none", gold=gold if attends else None)
    metrics = {
        "sentences": len(pairs),
        "bleu_beam": scores.bleu,
        "alignment_error_rate": scores.alignment_error_rate,
    }
    outputs = dict.fromkeys(("translations", "log_probabilities", "weights", "forced_attention"))
    if whole:
        translations = translate_all(model, [source for source, _ in sides], **how)
        outputs["translations"] = [str(one) for one in translations]
        outputs["log_probabilities"] = [round(one.log_probability, 4) for one in translations]
        if attends:
            outputs["weights"] = [_hundredths(one.weights) for one in translations]
            outputs["forced_attention"] = [_hundredths(attention_weights(model, pair)) for pair in pairs]
    return _rounded(metrics), outputs


def _rounded(metrics: Mapping[str, float | None]) -> dict[str, float | None]:
    return {name: None if x is None else round(x, 4) for name, x in metrics.items()}


def _unknown(vocabulary: Tokenizer, words: Words) -> bool:
    return UNK in vocabulary.encode(words)


def _hundredths(weights: np.ndarray) -> list[list[int]]:
    return np.rint(100 * np.asarray(weights)).astype(int).tolist()


def _plain(*sides: Words) -> SentencePair:
    return SentencePair(*(split_words(unescape(" ".join(words))) for words in sides))


def _file(folder: Path, name: str, ending: str) -> Path | None:
    names = (f"{name}{middle}.{ending}{end}" for middle in (".lc.norm.tok", "") for end in ("", ".gz"))
    return next((folder / path for path in names if (folder / path).is_file()), None)
