"""Training of a model folder on a text (``attnlib train``), with dev scores, and with saves to continue from."""

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from hashlib import sha256
from itertools import islice
from math import inf
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
import torch
from tqdm import tqdm

from attnbook.pretrained.folder import (
    CONFIG,
    TRAINING,
    WEIGHTS,
    load,
    make,
    read_config,
    read_vocabularies,
    refuse_damage,
)
from attnbook.pretrained.subwords import Subwords
from attnlib.batching import Corpus
from attnlib.data import UNK, SentencePair, Tokenizer, Vocabulary, as_pair
from attnlib.metrics import bleu, chrf, token_nll
from attnlib.presets import LONGEST_LOCATION_SOURCE
from attnlib.seq2seq import EncoderDecoder
from attnlib.training import train, warmup_constant, warmup_cosine
from attnlib.translation import translate_all
from attnlib.units import lacks_spaces
from attntext import processes, saving
from attntext.evaluation import attention_warning
from attntext.files import ParallelText, check_pairs, pairs_digest
from attntext.loss import fused_backward, fused_loss
from attntext.saving import TextTraining
from attntext.settings import LEAST_STEPS, TrainingConfig

_FIRST = 5  # words of each sentence, which are enough to compare how fast steps are


def train_model(
    folder: str | Path,
    pairs: Iterable[SentencePair | tuple],
    dev: Iterable[SentencePair | tuple] = (),
    config: TrainingConfig | None = None,
    *,
    start: str | Path | None = None,
    save_seconds: float = 60.0,
    progress: bool | None = None,
    log: Callable[[str], Any] = lambda line: None,
    device: str | torch.device = "cpu",
) -> EncoderDecoder:
    """Train a model on sentence pairs, or continue an interrupted training.

    Parameters
    ----------
    folder : path
        The model folder.
    pairs : iterable of SentencePair
        The training text. An `attntext.files.ParallelText` is read several times, and need not be in memory.
    dev : iterable of SentencePair, optional
        Dev sentences. If there are any, the weights with the best dev score are kept.
    config : TrainingConfig, optional
        Settings of the training. If None, the defaults.
    start : path, optional
        Folder of a trained model of the same options to train further. Its vocabularies are kept, and the learning rate
        starts again.
    save_seconds : float, default 60
        Seconds between two saves of the training.
    progress : bool, optional
        Whether to show a progress bar. If None, only in a terminal.
    log : callable, optional
        Called with each message about the text, the model or a dev score.
    device : str or torch.device, default "cpu"
        Device of the network.

    Raises
    ------
    OSError, TypeError, ValueError
        If a file cannot be written; a setting is out of range; a source is too long for the location score; the folder
        holds something else, or a model of another configuration or text; or another process trains into it.

    Notes
    -----
    The final weights are the same, bit for bit, with and without interruptions, on the same machine with the same
    number of threads and processes, unless `minutes` set the length of training.

    Several processes share each batch: see `attntext.processes`. The first one writes the folder, which all must see.
    """
    folder, config, began = Path(folder), config or TrainingConfig(), monotonic()
    config.check()
    start = None if start is None else Path(start)
    text = pairs if isinstance(pairs, ParallelText) else [as_pair(pair) for pair in pairs]
    dev_text = [as_pair(pair) for pair in dev]
    with saving.alone(folder):
        if not torch.is_grad_enabled():
            raise ValueError("train_model is called without gradients; expected no torch.no_grad or inference_mode")
        with processes.main_process_first():
            resumed = (folder / TRAINING).exists()
            prepared = _prepare(folder, text, dev_text, config, start, log=log, device=torch.device(device))
        if prepared is None:
            log(f"{folder} is complete already; --from trains it further")
            return load(folder, device)
        corpus, network = prepared[0], prepared[1].to(device)
        state = saving.read_training(folder, network) if resumed else TextTraining.of(network)
        if resumed:
            log(f"going on after step {state.step:,}")
        sizes: dict[str, Any] = {"max_tokens": config.max_tokens, "max_sentences": config.max_sentences}
        epoch, share = corpus.in_one_epoch(**sizes), (processes.rank(), processes.world_size())
        watch = Watch(folder, dev_text, config, config.eval_every or max(epoch, 50), save_seconds, log)
        how: dict[str, Any] = config.train_arguments(epoch)
        if how["steps"] and how["steps"] != config.steps:
            log(f"{how['steps']:,} steps, which are {how['steps'] // epoch} passes through the text (--epochs)")
        with refuse_damage(folder / CONFIG):
            settings = processes.ComputeSettings(**read_config(folder)["compute"])
        with processes.compute_with(settings), _bar(progress, how["steps"], state) as bar:
            if config.minutes:
                how["minutes"] = max(config.minutes - watch.seconds_of_a_score(state) / 60, 1e-9)
            state.spend(monotonic() - began)
            processes.agree(state)

            def on_step(state: Any) -> None:
                watch(state)
                _advance(
                    bar, state, float(how["steps"] or inf), 60 * (how["minutes"] or inf), config.label_smoothing > 0
                )

            reason = train(
                network,
                corpus.infinite_batches(**sizes, seed=config.seed, skip=state.step, share=share),
                **how,
                schedule={"cosine": warmup_cosine, "constant": warmup_constant}[config.schedule],
                backward=partial(fused_backward, label_smoothing=config.label_smoothing, seed=config.seed),
                state=state,
                on_step=on_step,
            ).stop_reason
            if reason != "interrupted":
                watch.score_last(state)
        _finish(folder, state, reason)
    if reason == "interrupted":
        kept = "with the best dev score so far" if state.best else "of the last step"
        log(f"interrupted: {folder} has the weights {kept}; the same command again goes on after step {state.step:,}")
    elif not start and state.step < LEAST_STEPS:
        log(
            f"only {state.step} steps, and below about {LEAST_STEPS} a model translates poorly; "
            "expected more --epochs, --steps or --minutes"
        )
    model = load(folder, device)
    if reason != "interrupted" and (warning := attention_warning(model, [*islice(dev_text or text, 100)])):
        log(warning)
    return model


def _prepare(
    folder: Path,
    pairs: Iterable[SentencePair],
    dev: Sequence[SentencePair],
    config: TrainingConfig,
    start: Path | None,
    *,
    log: Callable[[str], Any],
    device: torch.device,
) -> tuple[Corpus, EncoderDecoder] | None:
    """Encode the text and build the network in a new folder or one of the same training; None if it is complete."""
    text = {"pairs": pairs_digest(check_pairs("pairs", pairs)), "dev": pairs_digest(check_pairs("dev", dev))}
    first = load(start) if start else None
    text["from"] = sha256((start / WEIGHTS).read_bytes()).hexdigest() if start else ""
    about: dict[str, Any] = {"settings": asdict(config), "text": text}
    if isinstance(pairs, ParallelText):
        log(str(pairs))
    sides = zip(*(pair[:2] for pair in islice(pairs, 1000)), strict=True)
    about["unspaced"] = [not config.words and lacks_spaces(sentences) for sentences in sides]
    begun = saving.check_same(folder, about)
    if begun and not (folder / TRAINING).exists() and (folder / WEIGHTS).exists():
        if read_config(folder).get("ended") == "interrupted":
            raise ValueError(
                f"{folder} has no {TRAINING}; expected that of its interrupted training, or another --model"
            )
        return None
    if not begun and processes.rank():
        raise ValueError(f"{folder} is missing for this process; expected a folder that all processes share")
    vocabularies = (
        first.vocabularies if first else read_vocabularies(folder) if begun else build_vocabularies(pairs, config)
    )
    corpus = encode_text(pairs, vocabularies, config, log)
    if config.options.get("score") == "location":
        _check_location_sources(corpus, dev, vocabularies[0])
    network = make(about, *vocabularies)
    if first:
        try:
            network.load_state_dict(first.state_dict())
        except RuntimeError:
            raise ValueError(f"from is {start}, a model of another architecture; expected its own options") from None
    if first and not begun:
        lack = f"they lack {np.count_nonzero(corpus.ids == UNK):,} words of the text"
        log(f"from {start}, whose vocabularies are kept: {lack}. The learning rate starts again")
    if not begun:
        with torch.random.fork_rng(devices=[]):  # from which dropout draws
            settings = processes.fastest_settings(_sample_step(network, corpus, config), device, log=log)
        saving.begin_folder(folder, about | {"compute": settings._asdict()}, *vocabularies)
    size, (source, target) = sum(p.numel() for p in network.parameters()), map(len, vocabularies)
    shares = ", ".join(f"{100 * share:.1f}" for share in known_shares(corpus))
    log(f"{size:,} weights; vocabularies of {source:,}, {target:,}, which cover {shares} percent of the text")
    return corpus, network


def _sample_step(network: EncoderDecoder, corpus: Corpus, config: TrainingConfig) -> Callable[[], Any]:
    """Make a function that computes gradients from the first words of a batch, and does not keep them."""
    sizes: dict[str, Any] = {"max_tokens": config.max_tokens, "max_sentences": config.max_sentences}
    batch = next(corpus.infinite_batches(**sizes, seed=config.seed))
    source, lengths, target = batch.source[:, :_FIRST], batch.lengths.clamp(max=_FIRST), batch.target[:, :_FIRST]

    def step() -> None:
        with processes.cast_weights_once():
            fused_loss(network, source, lengths, target, config.label_smoothing).backward()
        network.zero_grad()

    return step


def build_vocabularies(pairs: Iterable[SentencePair], config: TrainingConfig) -> tuple[Tokenizer, Tokenizer]:
    """Return source and target vocabulary; if they are shared, the same object twice."""
    if config.share_vocabulary:
        both = _build_vocabulary((pair.source + pair.target for pair in pairs), config)
        return both, both
    source = _build_vocabulary((pair.source for pair in pairs), config)
    target = _build_vocabulary((pair.target for pair in pairs), config)
    return source, target


def _build_vocabulary(sentences: Iterable[Sequence[str]], config: TrainingConfig) -> Tokenizer:
    if config.words:
        return Vocabulary.from_sentences(sentences, min_count=config.min_count or 2, max_size=config.vocab_size)
    return Subwords.train(sentences, config.vocab_size)


def encode_text(
    pairs: Iterable[SentencePair],
    vocabularies: tuple[Tokenizer, Tokenizer],
    config: TrainingConfig,
    log: Callable[[str], Any] = lambda line: None,
) -> Corpus:
    """Encode a text as arrays of ids, without the pairs that are too long, whose number is logged."""
    corpus, longest = Corpus.from_pairs(pairs, *vocabularies), min(config.max_input_length, config.max_tokens - 1)
    fits = corpus.lengths.max(1) - 1 <= longest
    if not fits.any():
        raise ValueError(f"pairs is a text of long pairs; expected one of at most {longest} subwords or words a side")
    if left_out := len(fits) - np.count_nonzero(fits):
        log(f"left out: {left_out:,} pairs too long for the model")
    return Corpus(corpus.ids, corpus.starts[fits], corpus.lengths[fits])


def known_shares(corpus: Corpus) -> tuple[float, float]:
    """Return which share of the words or subwords of each side is known. EOS does not count."""
    unknown = np.flatnonzero(corpus.ids == UNK)
    pairs = np.searchsorted(corpus.starts, unknown, "right") - 1
    sources, targets = corpus.lengths[pairs].T.astype(np.int64)
    offsets = unknown - corpus.starts[pairs]  # of a pair, or of one after it that was left out
    counts = ((offsets >= 0) & (offsets < sources)).sum(), ((offsets >= sources) & (offsets < sources + targets)).sum()
    source, target = 1 - counts / (corpus.lengths.sum(0, dtype=np.int64) - len(corpus))
    return float(source), float(target)


def _check_location_sources(corpus: Corpus, dev: Sequence[SentencePair], vocabulary: Tokenizer) -> None:
    """Raise a ValueError if a source has more positions than the location score has weights."""
    limit = LONGEST_LOCATION_SOURCE - 1  # EOS takes a position
    longest = {
        "training text (max_input_length)": int(corpus.lengths[:, 0].max()) - 1,
        "dev text": max((sum(vocabulary.sizes(pair.source)) for pair in dev), default=0),
    }
    for text, length in longest.items():
        if length > limit:
            raise ValueError(
                f"score is location, and the longest source of the {text} has {length:,} words or subwords; expected "
                f"at most {limit}, or another score"
            )


def dev_metric(dev: Sequence[SentencePair]) -> str:
    """Return the name of the dev metric, "BLEU" or "chrF".

    BLEU counts 4-grams. In a text with few of them, good translations can have a BLEU of 0. BLEU is therefore chosen
    only if the references have at least as many 4-grams as sentences, and spaces between words.
    """
    references = [pair.target for pair in dev]
    runs = sum(max(0, len(words) - 3) for words in references)
    return "BLEU" if runs >= len(references) and not lacks_spaces(references) else "chrF"


def dev_score(network: Any, dev: Sequence[SentencePair]) -> tuple[float, float]:
    """Compute the mean loss of the references, in nats per word, and the `dev_metric` of greedy search, 0 to 100."""
    sources, references = [pair.source for pair in dev], [pair.target for pair in dev]
    with processes.cast_weights_once():
        translations = [one.words for one in translate_all(network, sources, beam_size=1)]
    compare = {"BLEU": bleu, "chrF": chrf}[dev_metric(dev)]
    loss = float(np.concatenate(token_nll(network, dev)).mean())
    return loss, compare(translations, references).score


@dataclass
class Watch:
    """A callback after each training step, which computes dev scores and saves the training.

    `every` is the number of steps between two dev scores; `saved`, the time of the last save, is at first that of the
    start.
    """

    folder: Path
    dev: Sequence[SentencePair]
    config: TrainingConfig
    every: int
    save_seconds: float
    log: Callable[[str], Any]
    saved: float = field(default_factory=monotonic)

    def __call__(self, state: TextTraining) -> None:
        """Compute a dev score if it is due, and save if it is time."""
        began = monotonic()
        if self.dev and state.step % self.every == 0:
            self._score(state)
        if not processes.rank() and monotonic() - self.saved >= self.save_seconds:
            try:
                saving.write_training(self.folder, state)
            except OSError as error:  # the save before stays, and the next one may succeed
                self.log(f"step {state.step:,}: not saved: {error.filename}: {error.strerror}")
            self.saved = monotonic()
        state.spend(monotonic() - began)
        processes.agree(state)

    def seconds_of_a_score(self, state: TextTraining) -> float:
        """Measure how long a dev score takes, which the time limit leaves for the last one."""
        began = monotonic()
        if self.dev and not processes.rank():
            with torch.no_grad():
                dev_score(state.model.eval(), self.dev)
        return processes.all_reduce_max(monotonic() - began)[0]

    def score_last(self, state: TextTraining) -> None:
        """Compute the dev score of the last step, unless it was due."""
        if self.dev and (not state.dev_scores or state.dev_scores[-1]["step"] < state.step):
            self._score(state)

    def _score(self, state: TextTraining) -> None:
        """Compute a dev score, keep the best weights, and request an early stop.

        Of several processes, the first computes the score for all.
        """
        scores = (0.0, 0.0) if processes.rank() else dev_score(state.model, self.dev)
        loss, score = processes.all_reduce_max(*scores)
        metric = dev_metric(self.dev)
        name = f"dev_{metric.lower()}"
        state.dev_scores.append({"step": state.step, "dev_loss": loss, name: score})
        ranks = [(line[name], -line["dev_loss"]) for line in state.dev_scores]
        since = len(ranks) - 1 - ranks.index(max(ranks))  # of equal ones the first is the best
        if not since:
            state.best = {name: x.detach().clone() for name, x in state.model.state_dict().items()}
        state.should_stop = self.config.patience is not None and since >= self.config.patience
        self.log(f"step {state.step:,}: dev loss {loss:.3f}, {metric} {score:.2f}")


def _bar(progress: bool | None, steps: int | None, state: TextTraining) -> tqdm:
    """Make a progress bar: redrawn twice a second in a terminal, a line every ten seconds elsewhere, as in a log."""
    hidden = None if progress is None else not progress or processes.rank() > 0
    how: dict[str, Any] = {"mininterval": 0.5}
    if hidden is not None and not sys.stderr.isatty():
        line = "{n_fmt}/{total_fmt} steps, {elapsed} so far, {remaining} left{postfix}"
        how = {"mininterval": 10.0, "file": _Lines(), "bar_format": line}
    return tqdm(total=steps, initial=state.step, disable=hidden, unit="step", smoothing=0, **how)


def _advance(bar: tqdm, state: TextTraining, steps: float, seconds: float, smoothed: bool) -> None:
    """Show one more step; with a time limit, the number of all steps is an estimate."""
    if seconds < inf and not bar.disable:
        rate = (state.step - bar.initial) / (bar.format_dict["elapsed"] or inf)
        bar.total = min(steps, state.step + int(rate * max(0, seconds - state.seconds)))
    bar.update()
    loss = {"smoothed_loss" if smoothed else "loss": f"{state.losses[-1]:.3f}"}
    bar.set_postfix(loss | {"words_s": f"{state.words_per_second:,.0f}"}, refresh=False)


class _Lines:
    """Standard error that is not a terminal: each state of a progress bar becomes a line."""

    def write(self, text: str) -> None:
        if line := text.strip():
            sys.stderr.write(f"{line}\n")

    def flush(self) -> None:
        sys.stderr.flush()


def _finish(folder: Path, state: TextTraining, reason: str) -> None:
    """Write the model with the best weights, on the first process."""
    with processes.main_process_first():
        if processes.rank():
            return
        saving.write_training(folder, state)
        if state.best is not None:
            state.model.load_state_dict(state.best)
        saving.complete_folder(folder, state, reason)
        if reason != "interrupted":
            (folder / TRAINING).unlink(missing_ok=True)
