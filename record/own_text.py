"""Runs of ``attnlib train`` with one option changed, on texts of four kinds, for *Your own text*.

``python record/own_text.py --data FOLDER --processes 2`` trains with each of `OPTIONS` on each of `TEXTS` that is not
recorded yet, and writes its line into ``own-text.csv`` when it is done: killed at any moment, the same command does
what is left. The rule for the default was written before the first run: of the options whose BLEU on the captions is
within .3 of the best, those with the lowest alignment error rate. With all runs it gives concat.

``own-text.early.csv`` has where the weights lie in the course of training on 400 pairs, for some of the scores: means
over all target words of the largest weight, of the weight on the right source words, and of that on "the".
``own-text.growth.csv`` has the mean length of their states, and the mean difference between the largest and the
smallest score of a state. ``own-text.scaled.csv`` has the alignment error of three of them with other seeds.
"""

import multiprocessing
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import torch
from sentences import read_data
from tables import run_command, write_lines

from attnbook.experiments.captions import load_captions
from attnbook.experiments.runs import RECORDED, read_table
from attnbook.language.phrases import words
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

SCALED = ", scaled"
"""Behind an option: scores are divided by the square root of the number of features, as a Transformer's are."""

EARLY = ("--score dot", "--score general", "--score concat", "--score dot --words", "--score dot" + SCALED)
"""Those that are looked at in the course of training.

The last was added when the others were recorded, and this was written before its first run: if the weights stay on
"the" because scores are far apart, then with it less than half of the weight lies there after 20 steps in each run, and
more lies on the right words after 400 steps than with the dot score, on average by .1 or more.

The first was so, the second was not: .47, and .50 with the dot score. But with scaled scores the largest weight is only
.56, so the right words may still have it. This was written before the first run of ``own-text.scaled``, which has new
seeds: its alignment error is lower than with the dot score, on average by .2 or more. It was lower by .19.
"""

FINALISTS = ("--score dot", "--score concat", "--preset rnn_search")
"""Those that were trained on longer texts, too."""


class Text(NamedTuple):
    """What is trained on, what chooses the weights, and what is measured: BLEU of `test`, links of `linked`."""

    train: list[SentencePair]
    dev: list[SentencePair]
    test: list[SentencePair]
    linked: list[SentencePair]
    gold: list[GoldAlignment]


class Look(NamedTuple):
    """What is looked at in the course of training: the models, after which steps, and what is measured of each."""

    options: tuple[str, ...]
    seeds: range
    steps: tuple[int, ...]
    measure: Callable[[EncoderDecoder, Text], dict[str, float]]


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
        pair = draw_sentence(rng)
        drawn.setdefault(pair.source, pair)
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


def draw_sentence(rng: Random) -> SentencePair:
    """Draw a sentence: who does what, half of the time with a place."""
    verb = draw_word(rng, _VERBS)
    parts = [draw_phrase(rng), verb, draw_phrase(rng)]
    if rng.random() < 0.5:
        parts += [draw_word(rng, _PREPOSITIONS), draw_phrase(rng)]
    return join(*parts, words(".", "."))


def draw_word(rng: Random, choices: str) -> SentencePair:
    """Draw a word and its translation."""
    return words(*rng.choice(choices.split("|")).split())


def draw_phrase(rng: Random) -> SentencePair:
    """Draw a noun with its article and often with an adjective, which follows the noun in Spanish."""
    (noun,), (sustantivo,), _ = draw_word(rng, _NOUNS)
    article, ending = ("la", "a") if sustantivo in _FEMININE else ("el", "o")
    if rng.random() < 0.6:
        (adjective,), (stem,), _ = draw_word(rng, _ADJECTIVES)
        links = frozenset({(0, 0), (1, 2), (2, 1)})
        return SentencePair(("the", adjective, noun), (article, sustantivo, stem + ending), links)
    return join(words("the", article), words(noun, sustantivo))


def join(*parts: SentencePair) -> SentencePair:
    """Put parts one after another; `attnbook.language.phrases.concatenate` would elide Spanish as if it were French."""
    whole = SentencePair((), (), frozenset())
    for source, target, links in parts:
        moved = {(i + len(whole.source), t + len(whole.target)) for i, t in links}
        whole = SentencePair(whole.source + source, whole.target + target, whole.links | moved)
    return whole


def settings_of(text: str, options: str, seed: int) -> TrainingConfig:
    """Collect the settings of a run; the rest is as it is by default."""
    given = dict(OPTIONS[options])
    vocabulary = {"words": given.pop("words", False)}
    preset, architecture = Architecture(**given).options(seed)
    return TrainingConfig(preset=preset, options=architecture, **vocabulary, seed=seed, steps=TEXTS[text].steps)


def follow(table: str, options: str, seed: int) -> list[dict[str, Any]]:
    """Train on 400 pairs, without choosing weights by a dev part, and measure after some steps, as `LOOKS` says."""
    look, text = LOOKS[table], templates(400, Path())
    config = settings_of("templates-400", options.removesuffix(SCALED), seed)
    vocabularies = build_vocabularies(text.train, config)
    model = make({"settings": asdict(config)}, *vocabularies)
    if options.endswith(SCALED):
        model.decoder.attention.score.register_forward_hook(lambda _, given, scores: scores / given[0].shape[-1] ** 0.5)
    sizes = {"max_tokens": config.max_tokens, "max_sentences": config.max_sentences}
    lines: list[dict[str, Any]] = []

    def on_step(state: TrainingState) -> None:
        if state.step in look.steps:
            means = {name: round(x, 4) for name, x in look.measure(state.model, text).items()}
            lines.append({"options": options, "seed": seed, "step": state.step} | means)
        state.should_stop = state.step == max(look.steps)

    train(
        model,
        encode_text(text.train, vocabularies, config).infinite_batches(**sizes, seed=seed),
        steps=400,
        seed=seed,
        learning_rate=config.learning_rate,
        backward=partial(fused_backward, label_smoothing=config.label_smoothing, seed=seed),
        on_step=on_step,
    )
    return lines


def shares(model: EncoderDecoder, text: Text) -> dict[str, float]:
    """Return means over all target words: the largest weight, the weight on the right words, and that on "the"."""
    rows = []
    for pair in text.linked:
        articles = [word == "the" for word in pair.source]
        for t, row in enumerate(attention_weights(model, pair)):
            rows.append((row.max(), sum(row[i] for i, linked in pair.links if linked == t), row[articles].sum()))
    return dict(zip(("largest", "right", "the"), np.mean(rows, axis=0).tolist(), strict=True))


def magnitudes(model: EncoderDecoder, text: Text) -> dict[str, float]:
    """Return the mean length of states, and how far the scores of a state lie apart."""
    layer, steps = model.decoder.attention, []
    handle = layer.register_forward_hook(lambda _, given, __: steps.append(given[:2]))
    source, lengths, target = collate(text.linked, *model.vocabularies)
    model(source, lengths, target)
    handle.remove()
    memory, states = steps[0][1], torch.cat([s for s, _ in steps], 1)
    scores = layer.score(states, memory.keys)
    apart = scores.masked_fill(~memory.mask, -torch.inf).amax(2) - scores.masked_fill(~memory.mask, torch.inf).amin(2)
    real = target != PAD
    return {
        "state": states.norm(dim=2)[real].mean().item(),
        "scores": apart[real].mean().item(),
    }


def errors(model: EncoderDecoder, text: Text) -> dict[str, float]:
    """Return the alignment error rate under forced decoding."""
    sure, possible = zip(*text.gold, strict=True)
    return {"alignment_error_rate": alignment_error_rate(forced_alignments(model, text.linked), sure, possible)}


LOOKS = {
    "own-text.early": Look(EARLY, range(5), (1, 20, 100, 200, 400), shares),
    "own-text.growth": Look(EARLY, range(5), (1, 20), magnitudes),
    "own-text.scaled": Look(("--score dot", "--score dot" + SCALED, "--score concat"), range(5, 10), (400,), errors),
}
"""Tables of the course of training."""


def run(text: str, options: str, seed: int, data: Path) -> dict[str, Any]:
    """Train as the command does, and measure a beam search and the links under forced decoding."""
    config, read = settings_of(text, options, seed), TEXTS[text].read(data)
    with TemporaryDirectory() as folder, bfloat16_autocast(torch.device("cpu"), enabled=True):
        model = train_model(folder, read.train, read.dev, config, progress=False)
        pairs = [pair[:2] for pair in read.test]
        beam = evaluate(model, pairs, tokenize="none", beam_size=5).bleu
        error = errors(model, read)["alignment_error_rate"]
    return {
        "text": text,
        "options": options,
        "seed": seed,
        "bleu_beam": round(beam, 2),
        "alignment_error_rate": round(error, 4),
    }


def main(data: Path, *, folder: Path = RECORDED, processes: int = 1) -> None:
    """Record the runs that are missing.

    Parameters
    ----------
    data
        The folder of the captions: see record/sentences.py.
    folder
        Where the table is; the default is in the package.
    processes
        How many runs at once.
    """
    runs = [(text, each, n) for text in TEXTS for n in range(TEXTS[text].seeds) for each in TEXTS[text].options]
    with ProcessPoolExecutor(processes, multiprocessing.get_context("spawn"), torch.set_num_threads, (1,)) as pool:
        for name, look in LOOKS.items():
            runs_of = [(each, n) for n in look.seeds for each in look.options]
            followed = missing(name, ("options", "seed"), runs_of, folder)
            for future in as_completed([pool.submit(follow, name, *key) for key in followed]):
                write_lines(future.result(), name, folder, order=EARLY)
        left = missing(TABLE, ("text", "options", "seed"), runs, folder)
        for future in as_completed([pool.submit(run, *key, data.resolve()) for key in left]):
            write_lines([future.result()], TABLE, folder, order=[*TEXTS, *OPTIONS])
            print(future.result(), flush=True)


def missing(name: str, columns: Sequence[str], keys: Sequence[tuple[Any, ...]], folder: Path) -> list[tuple[Any, ...]]:
    """List the keys that no line of a table has in these columns."""
    known = {*read_table(name, folder).reindex(columns=[*columns]).itertuples(index=False, name=None)}
    return [key for key in keys if key not in known]


if __name__ == "__main__":
    run_command(main)
