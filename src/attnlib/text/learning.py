"""From a text to a model folder: the vocabularies, the model, and a training that a killed run goes on with."""

import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from time import monotonic
from typing import Any

import torch

from attnlib import processes
from attnlib.metrics import bleu
from attnlib.progress import Training
from attnlib.text import checkpoint
from attnlib.text.files import digest
from attnlib.text.model import Model, load, sentence_losses
from attnlib.text.scoring import Scoring
from attnlib.text.settings import Settings
from attnlib.text.store import Stored, remove_stores, stored
from attnlib.text.stream import PairFiles
from attnlib.text.vocabularies import VocabularyMaker
from attnlib.training import begin, train, warm, warm_cosine
from attnlib.translator import Translator
from attnlib.vocabulary import SentencePair, Tokenizer


def learn(
    folder: str | Path,
    pairs: Iterable[SentencePair],
    dev: Sequence[SentencePair] = (),
    settings: Settings | None = None,
    *,
    save_seconds: float = 60.0,
    progress: bool | str | None = None,
    say: Callable[[str], Any] = lambda said: None,
    device: str | torch.device = "cpu",
) -> Model:
    """Train a model on sentence pairs, into a folder; or go on where an earlier call was killed.

    The model ends with the same weights, bit for bit, whether it was killed in between or not, provided that the
    machine and the numbers of threads and processes stay the same, and that `minutes` do not say when to end.

    Several processes share each batch: see `attnlib.processes`. The first of them writes the folder, which all of them
    must see, also from other machines.

    Parameters
    ----------
    folder : path
        Where the model will be. While it is trained, ``.training`` is added to the name, and the text in numbers is
        kept there too: see `attnlib.text.store`.
    pairs : sentence pairs
        What to learn from, gone through several times: a list, or the pairs of `attnlib.text.stream.scan_pairs`, which
        take no memory.
    dev : sentence pairs, optional
        Sentences kept apart. If there are any, the weights that translate them best are kept.
    settings : Settings, optional
    save_seconds : float
        How often the training is kept on disk.
    progress : bool or "lines", optional
        See `attnlib.training.train`.
    say : function
        What to do with a sentence about the text, the vocabularies and the model.
    device : str or torch.device
        Where to train: see `attnlib.devices.device_named`.

    Returns
    -------
    Model

    Raises
    ------
    OSError
        If a file cannot be written.
    TypeError
        If `pairs` can be gone through only once.
    ValueError
        If the folder holds something else, or a model of another configuration or text, or another process trains it.
    """
    if isinstance(pairs, Iterator):
        raise TypeError(f"pairs is a {type(pairs).__name__}; expected what can be gone through several times")
    folder, settings = Path(folder), settings or Settings()
    text = pairs.digest if isinstance(pairs, PairFiles) else digest(pairs)
    config = {"settings": asdict(settings), "text": {"pairs": text, "dev": digest(dev)}}
    beside = checkpoint.working(folder)
    with ExitStack() as held, torch.random.fork_rng(devices=[]):
        with processes.first_goes_ahead():
            if _is_complete(folder, config, held):
                say(f"{folder} is complete already")
                return load(folder, device)
            translator = _translator(folder, config, pairs, settings, say).to(device)
            encoded = _stored(beside, pairs, text, translator, settings, say=say).encoded
        training = _begin(beside, translator, say)
        sizes = {"max_tokens": settings.words, "max_sentences": settings.sentences}
        epoch = encoded.in_one_epoch(**sizes)
        scoring = Scoring(lambda now: dev_score(now, dev), settings.score_every or epoch, settings.patience)
        training.early = scoring.is_over(training)
        share = processes.rank(), processes.count()
        history = train(
            translator,
            encoded.endless(**sizes, seed=settings.seed, skip=training.step, share=share),
            **settings.length(epoch),
            seed=settings.seed,
            learning_rate=settings.learning_rate,
            clip=settings.clip,
            smoothing=settings.smoothing,
            schedule={"cosine": warm_cosine, "constant": warm}[settings.schedule],
            progress=progress,
            training=training,
            on_step=scoring if dev else None,
            on_checkpoint=_saving(beside, save_seconds),
        )
        del encoded  # some systems rename no folder while a file in it is mapped
        _finish(folder, training, history.ended)
    if history.ended == "interrupted":
        say("interrupted: the model is as it was then; the same command again goes on with it")
    return load(folder, device)


def dev_score(translator: Any, pairs: Sequence[SentencePair]) -> tuple[float, float]:
    """Take the loss of true translations, in nats per word, and the BLEU of greedy ones, words as they are."""
    words = sum(len(translator.target_vocabulary.encode(pair.target)) for pair in pairs)
    found = Model(translator, {}).translate_all([pair.source for pair in pairs], beam=1)
    return (
        sum(sentence_losses(translator, pairs)) / words,
        bleu([translation.words for translation in found], [pair.target for pair in pairs]).score,
    )


def _is_complete(folder: Path, config: dict[str, Any], held: ExitStack) -> bool:
    """Look whether the model is there, and refuse what is of another configuration; else keep others from training it.

    A training that was killed at its very end may have left files in the model's folder: they go.
    """
    complete = _kept(folder, config) == "complete"
    if not (complete or processes.rank()):
        held.enter_context(checkpoint.only_one(folder))
        complete = _kept(folder, config) == "complete"
    if complete and not processes.rank():
        if (folder / checkpoint.TRAINING).exists():
            (folder / checkpoint.TRAINING).unlink()
        remove_stores(folder)
    return complete


def _kept(folder: Path, config: dict[str, Any]) -> str | None:
    """Find out what there is of this configuration: what is "complete", "interrupted" or "begun", or nothing."""
    beside = checkpoint.working(folder)
    if folder.exists() and beside.exists():
        raise ValueError(f"{folder} and {beside} both exist; remove the one that you do not want")
    there = next((place for place in (folder, beside) if place.exists()), None)
    if there is None or (there.is_dir() and not any(there.iterdir())):
        return None
    kept = checkpoint.read_config(there)
    for name in ("settings", "text"):
        other = [key for key in config[name] if kept.get(name, {}).get(key) != config[name][key]]
        if other:
            names = {"pairs": "another text", "dev": "other dev sentences"}
            what = "; ".join(names.get(key) or f"{key} {kept[name].get(key)}, not {config[name][key]}" for key in other)
            raise ValueError(
                f"{there} holds a model of another configuration: {what}. Give its own configuration to go on with it, "
                "another --model, or remove it to begin anew"
            )
    if there == beside:
        return "begun"
    return "interrupted" if kept["ended"] == "interrupted" else "complete"


def _translator(
    folder: Path, config: dict[str, Any], pairs: Iterable[SentencePair], settings: Settings, say: Callable[[str], Any]
) -> Translator:
    """Make the translator with the vocabularies of the working folder; make that folder first, if there is none."""
    beside = checkpoint.working(folder)
    begun = _kept(folder, config) is not None
    if processes.rank() and not beside.exists():
        raise ValueError(f"{beside} is not there for this process; expected a folder that all of them see")
    for there in (folder, beside):
        if not begun and there.exists():  # and empty
            there.rmdir()
    if begun:
        if folder.exists():
            folder.rename(beside)
        known = checkpoint.read_vocabularies(beside, checkpoint.read_config(beside))
    else:
        known = _vocabularies(pairs, settings, say)
    translator = checkpoint.make(config, *known)
    if not begun:
        checkpoint.begin_folder(folder, config, *known)
    weights = sum(p.numel() for p in translator.parameters())
    say(f"{weights:,} weights; vocabularies of {len(known[0]):,}, {len(known[1]):,}")
    return translator


def _begin(beside: Path, translator: Translator, say: Callable[[str], Any]) -> Training:
    """Take up the training in the folder, or else a new one, and set torch's generator as it had it."""
    if not (beside / checkpoint.TRAINING).exists():
        return begin(translator)
    training, random = checkpoint.read_training(beside, translator)
    torch.set_rng_state(random)
    say(f"going on after step {training.step:,}")
    return training


def _finish(folder: Path, training: Training, ended: str) -> None:
    """Let the first process give the folder its name, with the best weights that there were."""
    if training.best is not None:
        training.translator.load_state_dict(training.best)
    with processes.first_goes_ahead():
        if not processes.rank():
            checkpoint.complete_folder(folder, training.translator, training, ended)
            if ended != "interrupted":
                remove_stores(folder)


def _vocabularies(
    pairs: Iterable[SentencePair], settings: Settings, say: Callable[[str], Any]
) -> tuple[Tokenizer, Tokenizer]:
    maker = pairs.maker if isinstance(pairs, PairFiles) else None
    if maker is None or maker.settings != settings:
        maker = VocabularyMaker(settings)
        for pair in pairs:
            maker.add(pair)
    return maker.make(say)


def _stored(
    beside: Path,
    pairs: Iterable[SentencePair],
    text: str,
    translator: Any,
    settings: Settings,
    *,
    say: Callable[[str], Any],
) -> Stored:
    """Encode the text, without the pairs that are too long, or that the location score has no positions for."""
    vocabularies = translator.source_vocabulary, translator.target_vocabulary
    most = min(settings.longest, settings.words - 1)
    try:
        found = stored(beside, pairs, text, vocabularies, (min(most, Model(translator, {}).positions), most), say=say)
    except ValueError:
        if not (beside / checkpoint.TRAINING).exists():  # nothing that the user could miss
            shutil.rmtree(beside)
        raise
    if not settings.subwords:
        for name, known, unknown in zip(("source", "target"), vocabularies, found.unknown, strict=True):
            say(f"{name}: {len(known.words):,} words, which are {1 - unknown:.2%} of the text")
    if found.left_out:
        say(f"left out: {found.left_out:,} pairs too long for the model")
    return found


def _saving(beside: Path, save_seconds: float) -> Callable[[Training, bool], None]:
    """Save a training at its end, and when so many seconds have passed since it was saved: the first process does."""
    written = monotonic()

    def save(training: Training, last: bool) -> None:
        nonlocal written
        if not processes.rank() and (last or monotonic() - written >= save_seconds):
            checkpoint.write_training(beside, training.translator, training)
            written = monotonic()

    return save
