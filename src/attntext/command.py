"""The command `attnlib`: train a model on parallel text, then translate, evaluate, align, or export a page.

Each command is a thin layer over a function of `attntext.files`, `attntext.trainer`, `attntext.stream`,
`attntext.evaluation` or `attntext.page`. An error is one sentence, with the exit status 2.
"""

import errno
import os
import sys
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import tyro
from tyro.conf import FlagCreatePairsOff, OmitArgPrefixes, Positional, arg

from attntext.atomic_files import OUTPUT, open_output, reopened
from attntext.settings import Architecture, TrainingConfig, read_settings

_LESS_MEMORY = {
    "toy": "expected a smaller --train or --dev",
    "train": "expected a smaller --features, --num-layers, --vocab-size, --max-tokens or --max-sentences",
    "translate": "expected a smaller --beam-size, --max-length or --max-input-length",
    "evaluate": "expected a smaller --beam-size or --max-length, or shorter lines",
    "align": "expected shorter lines, or --device cpu",
    "page": "expected a smaller model",
}


@dataclass(frozen=True)
class Common:
    """Model and device."""

    model: Path
    """the model's folder"""
    device: str | None = None
    """cpu, cuda, or cuda:1 and so on. None: a GPU if there is one"""
    float32: bool = False
    """multiply matrices in float32, even if bfloat16 is faster"""


@dataclass(frozen=True)
class Search:
    """Beam search."""

    beam_size: int = 5
    """hypotheses of the beam search; 1 is greedy search"""
    max_length: int | None = None
    """most words or subwords of a translation. None: twice those of its source, and 50 more"""
    replace_unknown: bool = False
    """replace each unknown word by the source word of greatest weight"""


def toy(folder: Positional[Path], train: int = 20_000, dev: int = 200, seed: int = 1) -> None:
    """Write a small English-French text to try the other commands on.

    Parameters
    ----------
    folder : path
        folder of the files
    train : int, default 20,000
        number of training pairs
    dev : int, default 200
        number of dev pairs
    seed : int, default 1
        seed of the sentences
    """
    from attntext.files import write_toy  # noqa: PLC0415, help should not wait for torch

    write_toy(folder, train=train, dev=dev, seed=seed)
    _log(f"wrote train and dev, each as .en, .fr and .links, to {folder}")


def train(
    *,
    common: OmitArgPrefixes[Common],
    source: Path,
    architecture: OmitArgPrefixes[Architecture],
    training: OmitArgPrefixes[TrainingConfig],
    target: Path | None = None,
    dev: tuple[Path, ...] = (),
    save_seconds: float = 60.0,
    start: Annotated[Path | None, arg(name="from")] = None,
    config: Path | None = None,
) -> None:
    """Train a model on sentence pairs, or continue an interrupted training.

    Example: attnlib train --source train.de --target train.en --dev dev.de dev.en --model runs/deen

    Parameters
    ----------
    source : path
        sentences, one a line; packed by gzip, bzip2 or xz too
    architecture : Architecture
        Network. None stands for the setting of the preset's paper; without a preset: Luong's decoder, concat score.
    training : TrainingConfig
        Training. The epochs count unless steps or minutes are given. The defaults were chosen by a few trials.
    target : path, optional
        their translations; without it, --source has pairs with tabs
    dev : paths, optional
        two dev files, or one with tabs; the weights with the best dev score are kept
    save_seconds : float, default 60
        seconds between two saves of the training
    start : path, optional
        a trained model to train further, on the same or another text, with its vocabularies and its options
    config : path, optional
        the config.json of a training, whose options count unless others are given
    """
    from attntext import processes  # noqa: PLC0415
    from attntext.files import ParallelText, read_parallel  # noqa: PLC0415
    from attntext.trainer import train_model  # noqa: PLC0415

    device = processes.resolve_device(common.device)
    with processes.init_distributed(device), processes.bfloat16_autocast(device, enabled=not common.float32):
        log = (lambda line: None) if processes.rank() else _log
        preset, options = architecture.options(training.seed)
        settings = replace(training, preset=preset, options=options)
        settings.check()
        if len(dev) > 2:
            raise ValueError(f"dev is {len(dev)} files; expected two files, or one of tab-separated pairs")
        if not dev and (settings.patience or settings.eval_every):
            raise ValueError("patience and eval_every need dev scores; expected dev files (--dev)")
        pairs = ParallelText(source, target, max_length=settings.max_input_length)
        kept = read_parallel(*dev, max_length=settings.max_input_length) if dev else None
        if kept:
            log(f"dev: {kept}")
        train_model(
            common.model,
            pairs,
            kept.pairs if kept else (),
            settings,
            start=start,
            save_seconds=save_seconds,
            progress=True,
            log=log,
            device=device,
        )
        log(f"the model is in {common.model}")


def translate(
    *,
    common: OmitArgPrefixes[Common],
    search: OmitArgPrefixes[Search],
    source: Positional[Path | None] = None,
    output: Annotated[Path | None, arg(aliases=["-o"])] = None,
    links: Path | None = None,
    n_best: int | None = None,
    max_input_length: int = 1000,
) -> None:
    """Translate a text line by line.

    Example: attnlib translate new.de -o new.en --model runs/deen

    Parameters
    ----------
    source : path, optional
        sentences, one a line; without it, the standard input
    output : path, optional
        file for the translations; without it, the standard output
    links : path, optional
        file for the word links, as i-j
    n_best : int, optional
        translations of each line, as: number of the line from 0 ||| translation ||| log probability
    max_input_length : int, default 1000
        most words or subwords of a line; a longer line is cut
    """
    from attntext.stream import INPUT, translate_stream  # noqa: PLC0415

    given = source.open("rb") if source else nullcontext(_opened(sys.stdin, INPUT).buffer)
    written = open_output(output) if output else nullcontext(_opened(sys.stdout, OUTPUT).buffer)
    options: Any = vars(search) | {"max_input_length": max_input_length, "n_best": n_best}
    with (
        given as lines,
        _loaded(common) as model,
        written as to,
        open_output(links) if links else nullcontext() as linked,
    ):
        if not source and sys.stdin.isatty():
            _log("Type a sentence and press Enter. Ctrl-D ends (in Windows: Ctrl-Z, then Enter).")
        translate_stream(model, lines, to, linked=linked, name=source or INPUT, log=_log, **options)


def evaluate(
    *,
    common: OmitArgPrefixes[Common],
    source: Positional[Path],
    search: OmitArgPrefixes[Search],
    target: Positional[Path | None] = None,
    gold: Path | None = None,
    tokenize: str | None = None,
) -> None:
    """Translate a text and score the translations against its references.

    Example: attnlib evaluate --model runs/deen test.de test.en --gold test.links

    Parameters
    ----------
    source : path
        sentences, one a line; without a target, pairs with tabs
    target : path, optional
        their references
    gold : path, optional
        gold word links, i-j sure and i?j possible, for the alignment error rate
    tokenize : str, optional
        sacrebleu's tokenizer for BLEU. None: none for words, 13a for subwords, zh or char without spaces
    """
    from attnlib.units import units_of  # noqa: PLC0415
    from attntext import evaluation  # noqa: PLC0415
    from attntext.files import iter_parallel, read_gold  # noqa: PLC0415
    from attntext.processes import cast_weights_once, compute_with  # noqa: PLC0415
    from attntext.stream import count_unknown, log_unknown, search_settings  # noqa: PLC0415

    output, pairs = _opened(sys.stdout, OUTPUT), [*iter_parallel(source, target)]
    with _loaded(common) as model:
        links = read_gold(gold, [units_of(*pair, model.unspaced) for pair in pairs]) if gold else None
        sources = [pair[0] for pair in pairs]
        settings = search_settings(model, sources, search.beam_size, _log)
        with compute_with(settings), cast_weights_once():
            log_unknown(source, *count_unknown(model.source_vocabulary, sources), _log)
            scores = evaluation.evaluate(model, pairs, tokenize=tokenize, gold=links, **vars(search))
        print(scores, file=output)


def align(common: OmitArgPrefixes[Common], source: Positional[Path], target: Positional[Path | None] = None) -> None:
    """Link the words of sentence pairs, as i-j, a line for each pair.

    Example: attnlib align --model runs/deen test.de test.en > test.links

    Parameters
    ----------
    source : path
        sentences, one a line; without a target, pairs with tabs
    target : path, optional
        their translations
    """
    from attnlib.metrics import forced_alignments  # noqa: PLC0415
    from attntext.files import format_pharaoh, iter_parallel  # noqa: PLC0415
    from attntext.processes import compute_with, fastest_settings, resolve_device  # noqa: PLC0415
    from attntext.stream import count_unknown, log_unknown  # noqa: PLC0415

    output, pairs = _opened(sys.stdout, OUTPUT), [*iter_parallel(source, target)]
    with _loaded(common) as model:
        sample = partial(forced_alignments, model, pairs[:64])
        with compute_with(fastest_settings(sample, resolve_device(common.device), len(pairs), log=_log)):
            for name, vocabulary, side in zip((source, target or source), model.vocabularies, (0, 1), strict=True):
                log_unknown(name, *count_unknown(vocabulary, [pair[side] for pair in pairs]), _log)
            for links in forced_alignments(model, pairs):
                print(format_pharaoh(links), file=output)


def page(
    common: OmitArgPrefixes[Common],
    output: Annotated[Path, arg(aliases=["-o"])],
    beam_size: int = 5,
    max_length: int = 200,
) -> None:
    """Export a model as a web page to translate and to edit attention in.

    Example: attnlib page --model runs/deen -o deen.html

    Parameters
    ----------
    output : path
        the page, one HTML file
    beam_size : int, default 5
        hypotheses of the beam search
    max_length : int, default 200
        most words or subwords of a translation
    """
    from attntext.page import page_of  # noqa: PLC0415

    with _loaded(common) as model:
        title = common.model.resolve().name
        content = page_of(model, title, beam_size=beam_size, max_length=max_length).encode()
    _log(f"{output} takes {len(content) / 1e6:.1f} MB")
    with open_output(output) as file:
        file.write(content)
    _log(f"open {output}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line: return 0, 2 for an error in the request or its files, or 130 after Ctrl-C."""
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # for PyTorch: threads that spin while they wait take a core
    _hold_closed()
    given = sys.argv[1:] if arguments is None else arguments
    with redirect_stdout(reopened(sys.stdout, 1)), redirect_stderr(reopened(sys.stderr, 2)):
        try:
            status = _run(given)
            sys.stdout.flush()
        except KeyboardInterrupt:
            return 130
        except (ValueError, FloatingPointError) as error:
            return _refuse(given, str(error))
        except (MemoryError, RuntimeError) as error:
            from attnlib.checks import is_out_of_memory  # noqa: PLC0415, help should not wait for numpy

            if not is_out_of_memory(error):
                raise
            return _refuse(given, f"out of memory; {_LESS_MEMORY[given[0]]}")
        except OSError as error:
            if isinstance(error, BrokenPipeError) and error.filename == OUTPUT:  # whose reader has read enough
                return 0
            return _refuse(given, ": ".join(str(part) for part in (error.filename, error.strerror or error) if part))
    return status


def _run(given: Sequence[str]) -> int:
    if [*given] == ["--version"]:
        print(f"attnlib {version('attnlib')}")
        return 0
    commands: dict[str, Callable] = {each.__name__: each for each in (toy, train, translate, evaluate, align, page)}
    if [*given[:1]] == ["train"]:
        commands["train"] = _with_read_options(given)
    about = "Learn to translate from two files, one sentence a line; then translate, and see where it looked."
    config = (FlagCreatePairsOff,)
    try:
        tyro.extras.subcommand_cli_from_dict(commands, prog="attnlib", description=about, args=given, config=config)
    except SystemExit as ended:
        if isinstance(ended.code, str):  # what a process says that has lost another
            raise
        return ended.code or 0
    return 0


def _with_read_options(given: Sequence[str]) -> Callable[..., None]:
    """Return `train` with the options that --config or --from reads as defaults."""
    parser = ArgumentParser(add_help=False, allow_abbrev=False)
    for name in ("--config", "--from"):
        parser.add_argument(name, nargs="?", type=Path)
    files = [path for path in vars(parser.parse_known_args(given)[0]).values() if path]
    if not files:
        return train
    if len(files) > 1:
        raise ValueError(f"config is {files[0]} and from is {files[1]}; expected one of them")
    architecture, training = read_settings(files[0])
    if {word.partition("=")[0] for word in given} & {"--epochs", "--steps", "--minutes"}:
        training = replace(training, epochs=None, steps=None, minutes=None)
    return partial(train, architecture=architecture, training=training)


@contextmanager
def _loaded(common: Common) -> Iterator[Any]:
    """Load the model, which multiplies matrices inside as its options say."""
    from attnbook.pretrained.folder import load  # noqa: PLC0415
    from attntext.processes import bfloat16_autocast, resolve_device  # noqa: PLC0415

    device = resolve_device(common.device)
    with bfloat16_autocast(device, enabled=not common.float32):
        yield load(common.model, device)


def _hold_closed() -> None:
    """Keep files from getting the number or the name of a standard stream that is closed."""
    while (number := os.open(os.devnull, os.O_RDONLY)) <= 2:
        pass
    os.close(number)
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115, until the process ends


def _opened(stream: Any, name: str) -> Any:
    """Return a standard stream, or raise an error if it was closed when the command began."""
    if getattr(stream, "name", None) == os.devnull:
        raise OSError(errno.EBADF, "closed; expected an open one", name)
    return stream


def _log(line: str) -> None:
    from tqdm import tqdm  # noqa: PLC0415, help should not wait for bars

    tqdm.write(line, file=sys.stderr)
    sys.stderr.flush()


def _refuse(given: Sequence[str], why: str) -> int:
    _log(f"attnlib {given[0]}: {why}")
    return 2
