"""From a text to a model folder: the vocabularies, the model, and a training that a killed run goes on with."""

import errno
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from hashlib import sha256
from itertools import islice
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple
from warnings import catch_warnings, simplefilter

import numpy as np
import torch
from filelock import FileLock, Timeout

from attnlib import processes
from attnlib.data import UNKNOWN, Corpus, SentencePair, Tokenizer, Vocabulary
from attnlib.metrics import bleu, chrf, sentence_losses
from attnlib.text import folder as folders
from attnlib.text.config import TrainingConfig
from attnlib.text.files import ParallelText, digest, hashed
from attnlib.text.model import Model, load
from attnlib.text.subwords import Sample, Subwords
from attnlib.text.units import lacks_spaces
from attnlib.training import DevScore, TrainingState, init_training, train, warmup_constant, warmup_cosine
from attnlib.translator import Translator
from attnlib.writing import add_path_to_errors


def train_model(
    folder: str | Path,
    pairs: Iterable[SentencePair],
    dev: Sequence[SentencePair] = (),
    config: TrainingConfig | None = None,
    *,
    save_seconds: float = 60.0,
    progress: bool | None = None,
    log: Callable[[str], Any] = lambda line: None,
    device: str | torch.device = "cpu",
) -> Model:
    """Train a model on sentence pairs, into a folder; or go on where an earlier call was killed.

    The model ends with the same weights, bit for bit, whether it was killed in between or not, provided that the
    machine and the numbers of threads and processes stay the same, and that `minutes` do not say when to end.

    Several processes share each batch: see `attnlib.processes`. The first writes the folder, which all must see.

    Parameters
    ----------
    folder : path
        Where the model will be.
    pairs : sentence pairs
        What to learn from, gone through twice: a list, or an `attnlib.text.files.ParallelText`.
    dev : sentence pairs, optional
        Sentences kept apart. If there are any, the weights that translate them best are kept.
    config : TrainingConfig, optional
    save_seconds : float
        How often the training is kept on disk.
    progress : bool, optional
        See `attnlib.training.train`.
    log : function
        What to do with a sentence about the text, the model or a dev score.
    device : str or torch.device

    Raises
    ------
    OSError, TypeError, ValueError
        If a file cannot be written; `pairs` can be gone through only once; the folder holds something else, or a model
        of another configuration or text, or another process trains it.
    """
    if isinstance(pairs, Iterator):
        raise TypeError(f"pairs is a {type(pairs).__name__}; expected what can be gone through several times")
    folder, config = Path(folder), config or TrainingConfig()
    config.check()
    with _alone(folder, log), torch.random.fork_rng(devices=[]):
        with processes.main_process_first():
            sides, text = _survey(pairs, config)
            about = {"settings": asdict(config), "text": {"pairs": text, "dev": digest(dev)}}
            about["unspaced"] = [lacks_spaces([pair[side] for pair in islice(pairs, 1000)]) for side in (0, 1)]
            if isinstance(pairs, ParallelText):
                log(str(pairs))
            begun = _check_folder(folder, about)
            if begun and _is_complete(folder):
                log(f"{folder} is complete already")
                return load(folder, device)
            if not begun and processes.rank():
                raise ValueError(f"{folder} is not there for this process; expected a folder that all of them see")
            known = folders.read_vocabularies(folder) if begun else build_vocabularies(sides, config)
            del sides
            corpus = encode_text(pairs, known, config, log)
            translator = folders.make(about, *known).to(device)
            if not begun:
                folders.begin_folder(folder, about, *known)
            log(f"{sum(p.numel() for p in translator.parameters()):,} weights; vocabularies of {_sizes(known)}")
        state = _resume(folder, translator, log)
        watch = Watch(folder, dev, config, save_seconds, log)
        reason = _train(state, corpus, config, watch=watch, progress=progress)
        _finish(folder, state, reason)
    if reason == "interrupted":
        log("interrupted: the model is as it was then; the same command again goes on with it")
    return load(folder, device)


def build_vocabularies(sides: Sequence[Sample | Counter[str]], config: TrainingConfig) -> tuple[Tokenizer, Tokenizer]:
    """Make the vocabularies of source and target, which are one and the same if they are shared."""
    size = config.vocab_size
    if config.words:
        least = config.min_count or 2
        source, target = (Vocabulary.of_counts(side, min_count=least, max_size=size) for side in sides)
        return source, target
    for side, name in zip(sides, ("source", "target"), strict=True):
        if size < side.min_size:
            raise ValueError(
                f"vocab_size is {size}; expected at least {side.min_size}, as the {name} text has "
                f"{side.min_size - 5:,} different letters, each of which is a subword"
            )
    source = Subwords.of_sample(sides[0], size)
    return source, source if config.share_vocabulary else Subwords.of_sample(sides[1], size)


def encode_text(
    pairs: Iterable[SentencePair],
    vocabularies: tuple[Tokenizer, Tokenizer],
    config: TrainingConfig,
    log: Callable[[str], Any] = lambda line: None,
) -> Corpus:
    """Turn a text into numbers, two or four bytes each, and leave out the pairs that are too long."""
    longest, left_out, words, unknown = min(config.max_input_length, config.max_tokens - 1), 0, [0, 0], [0, 0]
    ids, lengths = array("H" if max(map(len, vocabularies)) <= 1 << 16 else "I"), array("I")
    for pair in pairs:
        sides = [known.encode(side) for known, side in zip(vocabularies, pair[:2], strict=True)]
        for n, side in enumerate(sides):
            words[n] += len(side) - 1
            unknown[n] += side.count(UNKNOWN)
        if max(map(len, sides)) - 1 > longest:
            left_out += 1
            continue
        for side in sides:
            ids.extend(side)
            lengths.append(len(side))
    if not lengths:
        raise ValueError(f"no pair is left: all are longer than {longest} subwords or words; expected a shorter one")
    if left_out:
        log(f"left out: {left_out:,} pairs too long for the model")
    for name, known, part, whole in zip(("source", "target"), vocabularies, unknown, words, strict=True):
        if isinstance(known, Vocabulary):
            log(f"{name}: {len(known.words):,} words, which are {1 - part / whole:.2%} of the text")
    both = np.frombuffer(lengths, lengths.typecode).reshape(-1, 2)
    sizes = both.sum(1, dtype=np.int64)
    return Corpus(np.frombuffer(ids, ids.typecode), sizes.cumsum() - sizes, both)


class DevMetric(NamedTuple):
    """How greedy translations of the dev sentences are compared: by BLEU or by chrF."""

    name: str
    compare: Callable[[Sequence[Sequence[str]], Sequence[Sequence[str]]], Any]


def dev_metric(dev: Sequence[SentencePair]) -> DevMetric:
    """Choose between BLEU and chrF.

    BLEU counts runs of four words. Where there are hardly any, good translations have a BLEU of 0 and a babbling model
    may have more: references have to hold as many such runs as there are sentences.
    """
    references = [pair.target for pair in dev]
    runs = sum(max(0, len(words) - 3) for words in references)
    enough = runs >= len(references) and not lacks_spaces(references)
    return DevMetric("BLEU", bleu) if enough else DevMetric("chrF", chrf)


def dev_score(translator: Any, dev: Sequence[SentencePair]) -> tuple[float, float]:
    """Take the loss of true translations, in nats per word, and the `dev_metric` of greedy ones, words as they are."""
    words = sum(len(translator.target_vocabulary.encode(pair.target)) for pair in dev)
    sources, references = [pair.source for pair in dev], [pair.target for pair in dev]
    translations = [one.words for one in Model(translator).translate_all(sources, beam=1, max_length=200)]
    return sum(sentence_losses(translator, dev)) / words, dev_metric(dev).compare(translations, references).score


@dataclass
class Watch:
    """Looks at a training after each step: scores it `every` so many steps and at the end, and saves it."""

    folder: Path
    dev: Sequence[SentencePair]
    config: TrainingConfig
    save_seconds: float
    log: Callable[[str], Any]
    every: int = 0

    def __post_init__(self):
        self.saved, self.metric = monotonic(), dev_metric(self.dev).name if self.dev else ""
        if self.metric == "chrF":
            self.log("dev: too few words for BLEU, which counts runs of four; the weights of the best chrF are kept")

    def __call__(self, state: TrainingState, last: bool) -> None:
        """Score, of several processes the first for all, and ask for an early end; save."""
        if self.dev and (state.step % self.every == 0 or last):
            scores = (0.0, 0.0) if processes.rank() else dev_score(state.translator, self.dev)
            self.add(state, *processes.all_reduce_max(*scores))
        if not processes.rank() and monotonic() - self.saved >= self.save_seconds:
            folders.write_training(self.folder, state)
            self.saved = monotonic()

    def add(self, state: TrainingState, loss: float, score: float) -> None:
        """Keep a score, the weights if it is the best, and whether patience has come to its end."""
        state.dev_scores.append(DevScore(state.step, loss, score, self.metric))
        best = max(range(len(state.dev_scores)), key=lambda n: state.dev_scores[n].rank)  # of equal ones the first
        if best == len(state.dev_scores) - 1:
            state.best = {name: x.detach().clone() for name, x in state.translator.state_dict().items()}
        since = len(state.dev_scores) - 1 - best
        state.should_stop = self.config.patience is not None and since >= self.config.patience
        self.log(f"step {state.step:,}: dev loss {loss:.3f}, {self.metric} {score:.2f}")


@contextmanager
def _alone(folder: Path, log: Callable[[str], Any]) -> Iterator[None]:
    """Train into the folder while no other process does; refuse to if another one does, where that can be known."""
    if processes.rank():
        yield
        return
    path, new = folder / "training.lock", not folder.exists()
    with add_path_to_errors(folder, path):
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(path, timeout=0)
        if not _acquired(lock, folder):
            log(f"{folder} is on a file system without locks: let no second command train into it")
    try:
        yield
    finally:
        with suppress(PermissionError):  # on Windows, where the lock removes its file itself
            path.unlink(missing_ok=True)
        lock.release()
        if new and not any(folder.iterdir()):
            folder.rmdir()


def _acquired(lock: FileLock, folder: Path) -> bool:
    """Acquire a lock of the system's, which ends with this process; tell whether there are any.

    Where there is none, filelock raises an error or, in later versions, warns that a file will be the lock, which would
    outlive this process.
    """
    with catch_warnings():
        simplefilter("error")
        try:
            lock.acquire()
        except Timeout:
            raise ValueError(
                f"{folder} is being trained by another process; wait for its end, or give another --model"
            ) from None
        except (NotImplementedError, UserWarning):
            return False
        except OSError as error:
            if error.errno not in (errno.ENOSYS, errno.ENOLCK, errno.ENOTSUP):
                raise
            return False
    return True


def _survey(pairs: Iterable[SentencePair], config: TrainingConfig) -> tuple[list[Sample | Counter[str]], str]:
    """Go through the text once, for its vocabularies and its digest."""
    counted = Counter if config.words else Sample
    sides = [counted()] * 2 if config.share_vocabulary else [counted(), counted()]
    total = sha256()
    for pair in hashed(pairs, total):
        for side, words in zip(sides, pair[:2], strict=True):
            side.update(words)
    return sides, total.hexdigest()


def _check_folder(folder: Path, about: dict[str, Any]) -> bool:
    """Tell whether there is a training of this configuration in the folder; refuse what is something else."""
    if all(path.suffix in (".lock", ".words", ".pieces", ".new") for path in folder.iterdir()):  # what is there first
        return False
    kept = folders.read_config(folder)
    other = [(part, key) for part in ("settings", "text") for key in about[part] if _differs(kept, about, part, key)]
    if not other:
        return True
    names = {"pairs": "another text", "dev": "other dev sentences"}
    what = "; ".join(names.get(key) or f"{key} {kept[part].get(key)}, not {about[part][key]}" for part, key in other)
    length = not {"epochs", "steps", "minutes"}.isdisjoint(key for _, key in other)
    why = " A training cannot be made longer: its learning rate has fallen by its length." if length else ""
    raise ValueError(
        f"{folder} holds a model of another configuration: {what}.{why} Give its own configuration to go on with it, "
        "another --model, or remove it to begin anew"
    )


def _differs(kept: dict[str, Any], about: dict[str, Any], part: str, key: str) -> bool:
    return kept.get(part, {}).get(key) != about[part][key]


def _is_complete(folder: Path) -> bool:
    """Tell whether a training has come to its end."""
    return (folder / folders.WEIGHTS).exists() and not (folder / folders.TRAINING).exists()


def _resume(folder: Path, translator: Translator, log: Callable[[str], Any]) -> TrainingState:
    """Take up the training in the folder, or else a new one, and set torch's generator as it had it."""
    if not (folder / folders.TRAINING).exists():
        return init_training(translator)
    state = folders.read_training(folder, translator)
    log(f"going on after step {state.step:,}")
    return state


def _train(
    state: TrainingState,
    corpus: Corpus,
    config: TrainingConfig,
    *,
    watch: Watch,
    progress: bool | None,
) -> str:
    """Take the steps that are left, and name what ended them."""
    sizes = {"max_tokens": config.max_tokens, "max_sentences": config.max_sentences}
    epoch, share = corpus.in_one_epoch(**sizes), (processes.rank(), processes.world_size())
    watch.every = config.eval_every or epoch
    return train(
        state.translator,
        corpus.endless(**sizes, seed=config.seed, skip=state.step, share=share),
        **config.length(epoch),
        seed=config.seed,
        learning_rate=config.learning_rate,
        max_grad_norm=config.max_grad_norm,
        label_smoothing=config.label_smoothing,
        schedule={"cosine": warmup_cosine, "constant": warmup_constant}[config.schedule],
        progress=progress,
        state=state,
        on_step=watch,
    ).stop_reason


def _finish(folder: Path, state: TrainingState, reason: str) -> None:
    """Let the first process write the model, with the best weights that there were."""
    with processes.main_process_first():
        if processes.rank():
            return
        folders.write_training(folder, state)
        if state.best is not None:
            state.translator.load_state_dict(state.best)
        folders.complete_folder(folder, state.translator, state, reason)
        if reason != "interrupted":
            (folder / folders.TRAINING).unlink(missing_ok=True)


def _sizes(known: Sequence[Tokenizer]) -> str:
    return ", ".join(f"{len(one):,}" for one in known)
