"""From a text to a model folder: the vocabularies, the model, and a training that a killed run goes on with."""

import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from hashlib import sha256
from itertools import islice
from pathlib import Path
from time import monotonic
from typing import Any

import torch

from attnlib import processes
from attnlib.data import Corpus, SentencePair
from attnlib.metrics import bleu, chrf, sentence_losses
from attnlib.progress import DevScore, Training
from attnlib.text import checkpoint
from attnlib.text.files import PairFiles, digest, hashed
from attnlib.text.model import Model, load
from attnlib.text.settings import Settings
from attnlib.text.store import open_store, remove_stores
from attnlib.text.subwords import VocabularyMaker
from attnlib.text.units import lacks_spaces
from attnlib.training import begin, train, warm, warm_cosine
from attnlib.translator import Translator


def learn(
    folder: str | Path,
    pairs: Iterable[SentencePair],
    dev: Sequence[SentencePair] = (),
    settings: Settings | None = None,
    *,
    save_seconds: float = 60.0,
    progress: bool | str | None = None,
    say: Callable[[str], Any] = lambda line: None,
    device: str | torch.device = "cpu",
) -> Model:
    """Train a model on sentence pairs, into a folder; or go on where an earlier call was killed.

    The model ends with the same weights, bit for bit, whether it was killed in between or not, provided that the
    machine and the numbers of threads and processes stay the same, and that `minutes` do not say when to end.

    Several processes share each batch: see `attnlib.processes`. The first writes the folder, which all must see.

    Parameters
    ----------
    folder : path
        Where the model will be. While it is trained, ``.training`` is added to the name, and the text in numbers is
        kept there too: see `attnlib.text.store`.
    pairs : sentence pairs
        What to learn from, gone through twice: a list, or `attnlib.text.files.PairFiles`, which take no memory.
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

    Raises
    ------
    OSError, TypeError, ValueError
        If a file cannot be written; `pairs` can be gone through only once; the folder holds something else, or a model
        of another configuration or text, or another process trains it.
    """
    if isinstance(pairs, Iterator):
        raise TypeError(f"pairs is a {type(pairs).__name__}; expected what can be gone through several times")
    folder, settings = _own(Path(folder)), settings or Settings()
    alone = nullcontext() if processes.rank() else checkpoint.only_one(folder, say)
    with alone, torch.random.fork_rng(devices=[]):
        with processes.first_goes_ahead():
            maker, text = _read(pairs, settings, say)
            some = [*islice(pairs, 1000)]
            unspaced = [lacks_spaces([pair[side] for pair in some]) for side in (0, 1)]
            config = {"settings": asdict(settings), "text": {"pairs": text, "dev": digest(dev)}, "unspaced": unspaced}
            state = _state(folder, config)
            if state == "complete":
                say(f"{folder} is complete already")
                _tidy(folder)
                return load(folder, device)
            translator = _translator(folder, config, state, maker, say).to(device)
            encoded = _encoded(folder, pairs, text, translator, settings, say=say)
            dev = _fitting(dev, translator, say)
            if dev and dev_metric(dev) == "chrF":
                say("dev: too few words for BLEU, which counts runs of four; the weights of the best chrF are kept")
        training = _begin(checkpoint.working(folder), translator, say)
        ended = _train(training, encoded, dev, settings, progress=progress, on_checkpoint=_saving(folder, save_seconds))
        del encoded  # some systems rename no folder while a file in it is mapped
        _finish(folder, training, ended)
    if ended == "interrupted":
        say("interrupted: the model is as it was then; the same command again goes on with it")
    return load(folder, device)


def _own(folder: Path) -> Path:
    """Follow a link, and give the folder "." its name: a folder that is made gets its name at the end."""
    folder = folder.resolve() if folder.is_symlink() or not folder.name else folder
    if not folder.name:
        raise ValueError(f"folder is {folder}; expected one that has a name")
    return folder


def dev_score(translator: Any, pairs: Sequence[SentencePair]) -> tuple[float, float]:
    """Take the loss of true translations, in nats per word, and the `dev_metric` of greedy ones, words as they are."""
    words = sum(len(translator.target_vocabulary.encode(pair.target)) for pair in pairs)
    sources, references = [pair.source for pair in pairs], [pair.target for pair in pairs]
    translations = [one.words for one in Model(translator).translate_all(sources, beam=1, max_length=200)]
    score = bleu if dev_metric(pairs) == "BLEU" else chrf
    return sum(sentence_losses(translator, pairs)) / words, score(translations, references).score


def dev_metric(pairs: Sequence[SentencePair]) -> str:
    """Choose between BLEU and chrF.

    BLEU counts runs of four words. Where there are hardly any, good translations have a BLEU of 0 and a babbling model
    may have more: references have to hold as many such runs as there are sentences.
    """
    references = [pair.target for pair in pairs]
    runs = sum(max(0, len(words) - 3) for words in references)
    return "chrF" if runs < len(references) or lacks_spaces(references) else "BLEU"


@dataclass(frozen=True)
class Scoring:
    """Scores a translator while it is trained, as `attnlib.training.train`'s ``on_step``.

    The weights with the best score, by the metric and then by loss, are kept in ``Training.best``. Of several processes
    the first scores, for all.

    Attributes
    ----------
    score : function
        From a translator to its loss and its BLEU, or other metric.
    every : int
        The steps from one score to the next; the last step is followed by one too.
    patience : int, optional
        End when so many scores in a row were no better than the best before them.
    """

    score: Callable[[Translator], tuple[float, float]]
    every: int
    patience: int | None = None
    metric: str = "BLEU"

    def __call__(self, training: Training, last: bool) -> None:
        """Score, if it is time to, and ask for an early end, if that is due."""
        if training.step % self.every and not last:
            return
        training.read()
        loss, score = processes.from_first(lambda: self.score(training.translator), 2)
        training.scores.append(DevScore(training.step, loss, score, self.metric))
        if _best(training) == len(training.scores) - 1:
            training.best = {name: x.detach().clone() for name, x in training.translator.state_dict().items()}
        training.early = self.is_over(training)

    def is_over(self, training: Training) -> bool:
        """Look whether patience has come to its end."""
        since = len(training.scores) - 1 - _best(training) if training.scores else 0
        return self.patience is not None and since >= self.patience


def _best(training: Training) -> int:
    """Take the number of the best score, of equal ones the first."""
    return max(range(len(training.scores)), key=lambda n: training.scores[n].rank)


def _read(pairs: Iterable[SentencePair], settings: Settings, say: Callable[[str], Any]) -> tuple[VocabularyMaker, str]:
    """Go through the text once, for its vocabularies and its digest."""
    maker, total = VocabularyMaker(settings), sha256()
    for pair in hashed(pairs, total):
        maker.add(pair)
    if isinstance(pairs, PairFiles):
        say(str(pairs))
    return maker, total.hexdigest()


def _state(folder: Path, config: dict[str, Any]) -> str | None:
    """Tell what there is of this configuration: what is "complete", "interrupted" or "begun", or nothing."""
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
            length = not {"epochs", "steps", "minutes"}.isdisjoint(other)
            why = " A training cannot be made longer: its learning rate has fallen by its length." if length else ""
            raise ValueError(
                f"{there} holds a model of another configuration: {what}.{why} Give its own configuration to go on "
                "with it, another --model, or remove it to begin anew"
            )
    if there == beside:
        return "begun"
    return "interrupted" if kept["ended"] == "interrupted" else "complete"


def _translator(
    folder: Path, config: dict[str, Any], state: str | None, maker: VocabularyMaker, say: Callable[[str], Any]
) -> Translator:
    """Make the translator with the vocabularies of the working folder; make that folder first, if there is none."""
    beside = checkpoint.working(folder)
    if state is None and processes.rank():
        raise ValueError(f"{beside} is not there for this process; expected a folder that all of them see")
    if state == "interrupted":
        folder.rename(beside)
    known = checkpoint.read_vocabularies(beside, checkpoint.read_config(beside)) if state else maker.make(say)
    translator = checkpoint.make(config, *known)
    if state is None:
        checkpoint.begin_folder(folder, config, *known)
    weights = sum(p.numel() for p in translator.parameters())
    say(f"{weights:,} weights; vocabularies of {len(known[0]):,}, {len(known[1]):,}")
    return translator


def _encoded(
    folder: Path,
    pairs: Iterable[SentencePair],
    text: str,
    translator: Any,
    settings: Settings,
    *,
    say: Callable[[str], Any],
) -> Corpus:
    """Encode the text, without the pairs that are too long, or that the location score has no positions for."""
    vocabularies = translator.source_vocabulary, translator.target_vocabulary
    longest = min(settings.longest, settings.words - 1)
    beside, limits = checkpoint.working(folder), (min(longest, Model(translator).positions), longest)
    try:
        store = open_store(beside, pairs, text, vocabularies, limits)
    except ValueError:
        if not (beside / checkpoint.TRAINING).exists():  # nothing that the user could miss
            shutil.rmtree(beside)
        raise
    if not settings.subwords:
        for name, known, unknown in zip(("source", "target"), vocabularies, store.unknown, strict=True):
            say(f"{name}: {len(known.words):,} words, which are {1 - unknown:.2%} of the text")
    if store.left_out:
        say(f"left out: {store.left_out:,} pairs too long for the model")
    return store.encoded


def _fitting(dev: Sequence[SentencePair], translator: Translator, say: Callable[[str], Any]) -> Sequence[SentencePair]:
    """Leave out the pairs whose source has more positions than the location score."""
    sizes, most = translator.source_vocabulary.sizes, Model(translator).positions
    kept = [pair for pair in dev if sum(sizes(pair.source)) <= most]
    if len(kept) < len(dev):
        say(f"dev: left out: {len(dev) - len(kept):,} pairs too long for the model")
    return kept


def _begin(beside: Path, translator: Translator, say: Callable[[str], Any]) -> Training:
    """Take up the training in the folder, or else a new one, and set torch's generator as it had it."""
    if not (beside / checkpoint.TRAINING).exists():
        return begin(translator)
    training, random = checkpoint.read_training(beside, translator)
    torch.set_rng_state(random)
    say(f"going on after step {training.step:,}")
    return training


def _train(
    training: Training,
    encoded: Corpus,
    dev: Sequence[SentencePair],
    settings: Settings,
    **how: Any,
) -> str:
    """Take the steps that are left, and name what ended them."""
    sizes = {"max_tokens": settings.words, "max_sentences": settings.sentences}
    epoch, share = encoded.in_one_epoch(**sizes), (processes.rank(), processes.count())
    every, metric = settings.score_every or epoch, dev_metric(dev) if dev else "BLEU"
    scoring = Scoring(lambda now: dev_score(now, dev), every, settings.patience, metric)
    training.early = scoring.is_over(training)
    return train(
        training.translator,
        encoded.endless(**sizes, seed=settings.seed, skip=training.step, share=share),
        **settings.length(epoch),
        seed=settings.seed,
        learning_rate=settings.learning_rate,
        clip=settings.clip,
        smoothing=settings.smoothing,
        schedule={"cosine": warm_cosine, "constant": warm}[settings.schedule],
        training=training,
        on_step=scoring if dev else None,
        **how,
    ).ended


def _saving(folder: Path, save_seconds: float) -> Callable[[Training, bool], None]:
    """Save a training at its end, and when so many seconds have passed since it was saved: the first process does."""
    written = monotonic()

    def save(training: Training, last: bool) -> None:
        nonlocal written
        if not processes.rank() and (last or monotonic() - written >= save_seconds):
            checkpoint.write_training(checkpoint.working(folder), training.translator, training)
            written = monotonic()

    return save


def _finish(folder: Path, training: Training, ended: str) -> None:
    """Let the first process give the folder its name, with the best weights that there were."""
    if training.best is not None:
        training.translator.load_state_dict(training.best)
    with processes.first_goes_ahead():
        if not processes.rank():
            checkpoint.complete_folder(folder, training.translator, training, ended)
            if ended != "interrupted":
                _tidy(folder)


def _tidy(folder: Path) -> None:
    """Remove from a complete folder what only its training needed, and may have left there when it was killed."""
    (folder / checkpoint.TRAINING).unlink(missing_ok=True)
    remove_stores(folder)
