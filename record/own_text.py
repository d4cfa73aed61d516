"""Runs of ``attnlib train`` with one option changed, on texts of four kinds, for *Your own text*.

``python record/own_text.py --data FOLDER --processes 2`` trains with each of `OPTIONS` on each of `TEXTS` that is not
recorded yet, and writes its line into ``own-text.csv`` when it is done: killed at any moment, the same command does
what is left. The rule for the default was written before the first run: of the options whose BLEU on the captions is
within .3 of the best, those with the lowest alignment error rate. The page says why it was not followed.

``own-text.early.csv`` has where the weights lie in the course of training on 400 pairs, for some of the scores: means
over all target words of the largest weight, of the weight on the right source words, and of that on "the".
``own-text.growth.csv`` has the mean length of their states and annotations, and the mean difference between the largest
and the smallest score of a state.
"""

import multiprocessing
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import torch
from sentences import read_data
from tables import run_command, write_lines

from attnbook.experiments.captions import load_captions
from attnbook.experiments.runs import RECORDED, read_table
from attnbook.language.sentences import sample
from attnbook.pretrained.folder import make
from attnlib.batching import collate
from attnlib.data import PAD, GoldAlignment, SentencePair
from attnlib.metrics import alignment_error_rate, attention_weights, forced_alignments
from attnlib.seq2seq import EncoderDecoder
from attnlib.training import TrainingState, train
from attntext.evaluation import evaluate
from attntext.loss import fused_backward
from attntext.processes import bfloat16_autocast
from attntext.settings import Architecture, TrainingConfig
from attntext.trainer import build_vocabularies, encode_text, train_model

TABLE = "own-text"

OPTIONS: Mapping[str, dict[str, Any]] = {
    "--score dot": {"score": "dot"},
    "--score general": {"score": "general"},
    "--score concat": {"score": "concat"},
    "--score dot --input-feeding False": {"score": "dot", "input_feeding": False},
    "--score dot --encoder backward": {"score": "dot", "encoder": "backward"},
    "--score dot --words": {"score": "dot", "words": True},
    "--score concat --words": {"score": "concat", "words": True},
    "--preset rnn_search": {"preset": "rnn_search"},
    "--preset transformer": {"preset": "transformer"},
}
"""One thing changed of the first, which was the default when they were trained, and two changes together."""

EARLY = ("--score dot", "--score general", "--score concat", "--score dot --words")
LOOKED_AT = (1, 20, 100, 200, 400)
GROWN_AT = (1, 20)
"""Whose weights are looked at, after which steps, and after which of them their vectors and scores."""

FINALISTS = ("--score dot", "--score concat", "--preset rnn_search")
"""Those that were trained on longer texts, too."""


class Text(NamedTuple):
    """What is trained on, what chooses the weights, and what is measured: BLEU of `test`, links of `linked`."""

    train: list[SentencePair]
    dev: list[SentencePair]
    test: list[SentencePair]
    linked: list[SentencePair]
    gold: list[GoldAlignment]


class Kind(NamedTuple):
    """A kind of text: how to read it, given the folder of the captions; its seeds; its steps; options to try."""

    read: Callable[[Path], Text]
    seeds: int
    steps: int | None = None
    options: tuple[str, ...] = tuple(OPTIONS)


def templates(pairs: int, _: Path) -> Text:
    """Make short English and Spanish sentences from templates, as somebody who has no text might."""
    rng, drawn = Random(1), {}
    while len(drawn) < pairs + 260:
        english, spanish, links = draw_sentence(rng)
        drawn.setdefault(english, SentencePair(english, spanish, links))
    drawn = [*drawn.values()]
    return with_links(drawn[:pairs], drawn[pairs : pairs + 60], drawn[pairs + 60 :])


def toy(_: Path) -> Text:
    """Draw the text of ``attnlib toy``, and 200 more sentences to measure."""
    draw = partial(sample, clauses=(1,))
    return with_links(draw(20_000, seed=1, part="train"), *(draw(200, seed=seed, part="test") for seed in (1, 2)))


def captions(folder: Path) -> Text:
    """Read the captions of Multi30k, English and German, and our own with links."""
    data, (linked, gold, _) = read_data(folder, "german"), zip(*load_captions("german"), strict=True)
    return Text(*data, [*linked], [*gold])


def with_links(train: list[SentencePair], dev: list[SentencePair], test: list[SentencePair]) -> Text:
    """Take the links of the test sentences, all of them sure."""
    return Text(train, dev, test, test, [GoldAlignment(pair.links, pair.links) for pair in test])


TEXTS: Mapping[str, Kind] = {
    "templates-400": Kind(partial(templates, 400), 5),
    "templates-400-short": Kind(partial(templates, 400), 5, 70, ("--score concat",)),  # ten passes
    "templates-4000": Kind(partial(templates, 4_000), 5, options=(*FINALISTS, "--score dot --words")),
    "toy": Kind(toy, 5, 1_500, FINALISTS),
    "captions": Kind(captions, 3, options=FINALISTS),
}

_NOUNS = (
    "dog perro|cat gato|boy niño|girl niña|woman mujer|man hombre|teacher maestra|doctor médico|bird pájaro|"
    "horse caballo|house casa|garden jardín|school escuela|street calle|book libro|letter carta|table mesa|"
    "window ventana|car coche|apple manzana"
)
_FEMININE = {"niña", "mujer", "maestra", "casa", "escuela", "calle", "carta", "mesa", "ventana", "manzana"}
_ADJECTIVES = "black negr|white blanc|small pequeñ|old viej|red roj|new nuev|quiet tranquil|pretty bonit"
_VERBS = "sees ve|finds encuentra|buys compra|draws dibuja|carries lleva|wants quiere|reads lee|paints pinta"
_PREPOSITIONS = "in en|near junto_a|behind detrás_de|with con"

Words = tuple[str, ...]
Linked = tuple[Words, Words, frozenset[tuple[int, int]]]
"""English and Spanish words, and their links."""


def draw_sentence(rng: Random) -> Linked:
    """Draw a sentence: who does what, half of the time with a place."""
    verb = draw_word(rng, _VERBS)
    parts = [draw_phrase(rng), verb, draw_phrase(rng)]
    if rng.random() < 0.5:
        parts += [draw_word(rng, _PREPOSITIONS), draw_phrase(rng)]
    return join(*parts, ((".",), (".",), frozenset({(0, 0)})))


def draw_word(rng: Random, words: str) -> Linked:
    """Draw a word and its translation."""
    english, spanish = rng.choice(words.split("|")).split()
    return (english,), (spanish,), frozenset({(0, 0)})


def draw_phrase(rng: Random) -> Linked:
    """Draw a noun with its article and often with an adjective, which follows the noun in Spanish."""
    (noun,), (sustantivo,), _ = draw_word(rng, _NOUNS)
    article, ending = ("la", "a") if sustantivo in _FEMININE else ("el", "o")
    if rng.random() < 0.6:
        (adjective,), (stem,), _ = draw_word(rng, _ADJECTIVES)
        links = frozenset({(0, 0), (1, 2), (2, 1)})
        return ("the", adjective, noun), (article, sustantivo, stem + ending), links
    return ("the", noun), (article, sustantivo), frozenset({(0, 0), (1, 1)})


def join(*parts: Linked) -> Linked:
    """Put parts one after another."""
    english, spanish, links = (), (), set()
    for source, target, between in parts:
        links |= {(i + len(english), t + len(spanish)) for i, t in between}
        english, spanish = english + source, spanish + target
    return english, spanish, frozenset(links)


def settings_of(text: str, options: str, seed: int) -> TrainingConfig:
    """Collect the settings of a run; the rest is as it is by default."""
    given = dict(OPTIONS[options])
    words = given.pop("words", False)
    preset, architecture = Architecture(**given).options(seed)
    return TrainingConfig(preset=preset, options=architecture, words=words, seed=seed, steps=TEXTS[text].steps)


def train_small(options: str, seed: int, look: Callable[[TrainingState, Sequence[SentencePair]], None]) -> None:
    """Train on 400 pairs, without choosing weights by a dev part; `look` at the state and the test part each step."""
    config, text = settings_of("templates-400", options, seed), templates(400, Path())
    vocabularies = build_vocabularies(text.train, config)
    sizes = {"max_tokens": config.max_tokens, "max_sentences": config.max_sentences}
    train(
        make({"settings": asdict(config)}, *vocabularies),
        encode_text(text.train, vocabularies, config).infinite_batches(**sizes, seed=seed),
        steps=max(LOOKED_AT),
        seed=seed,
        learning_rate=config.learning_rate,
        backward=partial(fused_backward, label_smoothing=config.label_smoothing, seed=seed),
        on_step=lambda state: look(state, text.test),
    )


def watch(options: str, seed: int) -> list[dict[str, Any]]:
    """Look at the weights after some steps."""
    lines: list[dict[str, Any]] = []

    def look(state: TrainingState, test: Sequence[SentencePair]) -> None:
        if state.step in LOOKED_AT:
            means = np.mean([each for pair in test for each in shares(state.model, pair)], axis=0).round(4).tolist()
            key = {"options": options, "seed": seed, "step": state.step}
            lines.append(key | dict(zip(("largest", "right", "the"), means, strict=True)))

    train_small(options, seed, look)
    return lines


def grow(options: str, seed: int) -> list[dict[str, Any]]:
    """Look at the vectors and the scores after the first steps of the same training."""
    lines: list[dict[str, Any]] = []

    def look(state: TrainingState, test: Sequence[SentencePair]) -> None:
        if state.step in GROWN_AT:
            means = {name: round(x, 4) for name, x in magnitudes(state.model, test).items()}
            lines.append({"options": options, "seed": seed, "step": state.step} | means)
        state.should_stop = state.step == max(GROWN_AT)

    train_small(options, seed, look)
    return lines


def magnitudes(model: EncoderDecoder, pairs: Sequence[SentencePair]) -> dict[str, float]:
    """Return the mean length of states and annotations, and how far the scores of a state lie apart."""
    layer, steps = model.decoder.attention, []
    handle = layer.register_forward_hook(lambda _, given, __: steps.append(given[:2]))
    source, lengths, target = collate(pairs, *model.vocabularies)
    model(source, lengths, target)
    handle.remove()
    memory, states = steps[0][1], torch.cat([s for s, _ in steps], 1)
    scores = layer.score(states, memory.keys)
    apart = scores.masked_fill(~memory.mask, -torch.inf).amax(2) - scores.masked_fill(~memory.mask, torch.inf).amin(2)
    real = target != PAD
    return {
        "state": states.norm(dim=2)[real].mean().item(),
        "annotation": memory.values.norm(dim=2)[memory.mask[:, 0]].mean().item(),
        "scores": apart[real].mean().item(),
    }


def shares(model: EncoderDecoder, pair: SentencePair) -> Iterator[tuple[float, float, float]]:
    """Yield, for each target word, the largest weight, the weight on the right words, and that on "the"."""
    articles = [word == "the" for word in pair.source]
    for t, row in enumerate(attention_weights(model, pair)):
        yield row.max(), sum(row[i] for i, linked in pair.links if linked == t), row[articles].sum()


def run(text: str, options: str, seed: int, data: Path) -> dict[str, Any]:
    """Train as the command does, and measure greedy and beam search and the links under forced decoding."""
    began, config, read = perf_counter(), settings_of(text, options, seed), TEXTS[text].read(data)
    with TemporaryDirectory() as folder, bfloat16_autocast(torch.device("cpu"), enabled=True):
        model = train_model(folder, read.train, read.dev, config, progress=False)
        pairs = [pair[:2] for pair in read.test]
        greedy, beam = (evaluate(model, pairs, tokenize="none", beam_size=size).bleu for size in (1, 5))
        sure, possible = zip(*read.gold, strict=True)
        error = alignment_error_rate(forced_alignments(model, read.linked), sure, possible)
    return {
        "text": text,
        "options": options,
        "seed": seed,
        "bleu_greedy": round(greedy, 2),
        "bleu_beam": round(beam, 2),
        "alignment_error_rate": round(error, 4),
        "seconds": round(perf_counter() - began),
    }


def main(data: Path, *, folder: Path = RECORDED, processes: int = 1, texts: tuple[str, ...] = tuple(TEXTS)) -> None:
    """Record the runs that are missing.

    Parameters
    ----------
    data
        The folder of the captions: see record/sentences.py.
    folder
        Where the table is; the default is in the package.
    processes
        How many runs at once.
    texts
        Which texts.
    """
    table = read_table(TABLE, folder)
    done = {*table[["text", "options", "seed"]].itertuples(index=False, name=None)} if len(table) else set()
    jobs = [(text, each, n) for text in texts for n in range(TEXTS[text].seeds) for each in TEXTS[text].options]
    left = [job for job in jobs if job not in done]
    with ProcessPoolExecutor(processes, multiprocessing.get_context("spawn"), torch.set_num_threads, (1,)) as pool:
        for name, look in (("early", watch), ("growth", grow)):
            seen = read_table(f"{TABLE}.{name}", folder)
            known = {*seen[["options", "seed"]].itertuples(index=False, name=None)} if len(seen) else set()
            unseen = [(each, n) for n in range(5) for each in EARLY if (each, n) not in known]
            for lines in pool.map(look, *zip(*unseen, strict=True)) if unseen else ():
                write_lines(lines, f"{TABLE}.{name}", folder, order=[*OPTIONS])
        for line in pool.map(run, *zip(*left, strict=True), [data.resolve()] * len(left)) if left else ():
            write_lines([line], TABLE, folder, order=[*TEXTS, *OPTIONS])
            print(line, flush=True)


if __name__ == "__main__":
    run_command(main)
