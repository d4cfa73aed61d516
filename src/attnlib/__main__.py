"""The command `attnlib`: learn to translate from two files, then translate, evaluate, align, make a page.

Each command is a thin shell over a function: see `attnlib.text.training`, `attnlib.text.model`,
`attnlib.text.evaluation` and `attnlib.plotting.page`. What is wrong is said in one sentence, with the exit status 2.
"""

import errno
import os
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Any

import tyro
from tqdm import tqdm
from tyro.conf import FlagCreatePairsOff, OmitArgPrefixes, Positional, arg

from attnlib.text.config import Architecture, TrainingConfig
from attnlib.writing import atomic_open, write_atomically


@dataclass(frozen=True)
class Common:
    """Which model, and where it computes."""

    model: Path
    """the model's folder"""
    device: str | None = None
    """cpu, cuda, or cuda:1 and so on; None: a GPU if there is one"""
    float32: bool = False
    """multiply in float32, also where the processor has units for bfloat16"""


@dataclass(frozen=True)
class Search:
    """How translations are searched for."""

    beam_size: int = 5
    """hypotheses that the search keeps; 1 is greedy"""
    max_length: int | None = None
    """most words or subwords of a translation; None: twice those of its source, and 50 more"""


def toy(folder: Positional[Path], train: int = 20_000, dev: int = 200, seed: int = 1) -> None:
    """Write a text to try the other commands on: English and French sentences of a small grammar.

    Args:
        folder: where the files go
        train: sentence pairs to learn from
        dev: sentence pairs kept apart
        seed: another seed gives other sentences
    """
    from attnlib.text.files import write_toy  # noqa: PLC0415, help should not wait for torch

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
) -> None:
    """Learn from sentence pairs; the same command again goes on with a run that was killed.

    Example: attnlib train --source train.de --target train.en --dev dev.de dev.en --model runs/deen

    Args:
        source: sentences, one a line; .gz too
        target: their translations; without it, --source has pairs with tabs
        dev: two such files, or one, kept apart to choose the best
        save_seconds: from one save of a run to the next
    """
    from attnlib import processes  # noqa: PLC0415
    from attnlib.devices import resolve_device  # noqa: PLC0415
    from attnlib.text.files import ParallelText, read_parallel  # noqa: PLC0415
    from attnlib.text.training import train_model  # noqa: PLC0415

    device = resolve_device(common.device)
    with processes.init_distributed(device), _products(common):
        log = (lambda line: None) if processes.rank() else _log
        with processes.main_process_first():
            preset, options = architecture.options(training.seed)
            config = replace(training, preset=preset, options=options)
            config.check()
            if len(dev) > 2:
                raise ValueError(f"dev is {len(dev)} files; expected two, or one of pairs with a tab between")
            if not dev and (config.patience or config.eval_every):
                raise ValueError("patience and eval_every are about dev scores; expected --dev with them")
            pairs = ParallelText(source, target, max_length=config.max_input_length)
            kept = read_parallel(*dev, max_length=config.max_input_length) if dev else None
            if kept:
                log(f"dev: {kept}")
        how = {"save_seconds": save_seconds, "progress": True, "log": log, "device": device}
        train_model(common.model, pairs, kept.pairs if kept else (), config, **how)
        log(f"the model is in {common.model}")


def translate(
    common: OmitArgPrefixes[Common],
    search: OmitArgPrefixes[Search],
    links: Path | None = None,
    replace_unknown: bool = False,
    max_input_length: int = 1000,
) -> None:
    """Translate the standard input line by line.

    Example: attnlib translate --model runs/deen < new.de > new.en

    Args:
        links: also write which word comes from which, as i-j, into this file
        replace_unknown: replace an unknown word by the source word that it looked at most
        max_input_length: most words or subwords of a line; a longer one is cut to them
    """
    from attnlib.text.model import translate_stream  # noqa: PLC0415

    for number, what in enumerate(("the sentences come from", "the translations go to")):
        if links and links.is_file() and os.path.samestat(links.stat(), os.fstat(number)):
            raise ValueError(f"links is {links}, the file that {what}; expected another")
    options = vars(search) | {"replace_unknown": replace_unknown, "max_input_length": max_input_length}
    with _products(common), atomic_open(links) if links else nullcontext() as linked:
        model = _load(common)
        translate_stream(model, sys.stdin.buffer, sys.stdout.buffer, linked=linked, log=_log, **options)


def evaluate(
    *,
    common: OmitArgPrefixes[Common],
    source: Positional[Path],
    search: OmitArgPrefixes[Search],
    target: Positional[Path | None] = None,
    gold: Path | None = None,
    tokenize: str | None = None,
    replace_unknown: bool = False,
) -> None:
    """Translate a text and compare with its translation.

    Example: attnlib evaluate --model runs/deen test.de test.en --gold test.links

    Args:
        source: sentences, one a line; without a target, pairs with tabs
        target: their translations
        gold: word links, i-j sure and i?j possible: alignment error rate
        tokenize: how sacrebleu cuts words for BLEU; None: none for whole words, 13a for subwords, zh or char for
            languages without spaces
        replace_unknown: replace an unknown word by the source word that it looked at most
    """
    from attnlib.text import evaluation  # noqa: PLC0415
    from attnlib.text.files import iter_parallel, read_gold  # noqa: PLC0415

    pairs, model = [*iter_parallel(source, target)], _load(common)
    links = read_gold(gold, model.units_of(pairs)) if gold else None
    options = vars(search) | {"tokenize": tokenize, "replace_unknown": replace_unknown}
    with _products(common):
        print(evaluation.evaluate(model, pairs, gold=links, log=_log, **options))


def align(common: OmitArgPrefixes[Common], source: Positional[Path], target: Positional[Path | None] = None) -> None:
    """Link the words of a text and its translation, as i-j, a line for each pair.

    Example: attnlib align --model runs/deen test.de test.en > test.links

    Args:
        source: sentences, one a line; without a target, pairs with tabs
        target: their translations
    """
    from attnlib.text.files import format_pharaoh, iter_parallel  # noqa: PLC0415

    with _products(common):
        for links in _load(common).links_of([*iter_parallel(source, target)]):
            print(format_pharaoh(links))


def page(
    common: OmitArgPrefixes[Common],
    output: Annotated[Path, arg(aliases=["-o"])],
    beam_size: int = 5,
    max_length: int = 200,
) -> None:
    """Write the model itself as a page, in which one can type sentences and change where it looks.

    Example: attnlib page --model runs/deen -o deen.html

    Args:
        output: the page, one HTML file
        beam_size: hypotheses that the search keeps
        max_length: most words or subwords of a translation
    """
    from attnlib.plotting.page import page_of  # noqa: PLC0415

    title = common.model.resolve().name
    content = page_of(_load(common).network, title, beam_size=beam_size, max_length=max_length).encode()
    _log(f"{output} takes {len(content) / 1e6:.1f} MB")
    write_atomically(output, content)
    _log(f"open {output}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line, and give its exit status: 0, 2 for what is wrong with what was asked, or 130 after Ctrl-C.

    Parameters
    ----------
    arguments : words, optional
        None: those that the process was called with.
    """
    given = sys.argv[1:] if arguments is None else arguments
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, or errors would go to the output
    commands = {each.__name__: each for each in (toy, train, translate, evaluate, align, page)}
    about = "Learn to translate from two files, one sentence a line; then translate, and see where it looked."
    config = (FlagCreatePairsOff,)
    try:
        tyro.extras.subcommand_cli_from_dict(commands, prog="attnlib", description=about, args=given, config=config)
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read the output has read enough
        _let_go_of_the_output()
    except KeyboardInterrupt:
        return 130
    except (ValueError, FloatingPointError) as error:
        return _refuse(given, _with_options(str(error)))
    except (MemoryError, RuntimeError) as error:
        if not isinstance(error, MemoryError) and "memory" not in str(error):
            raise
        return _refuse(given, "not enough memory; smaller batches, fewer features or a narrower beam need less")
    except OSError as error:
        return _refuse(given, _explain(error))
    return 0


def _products(common: Common) -> AbstractContextManager[Any]:
    """Choose how a command multiplies matrices."""
    from attnlib.devices import bfloat16_autocast, resolve_device  # noqa: PLC0415

    return nullcontext() if common.float32 else bfloat16_autocast(resolve_device(common.device))


def _load(common: Common) -> Any:
    from attnlib.devices import resolve_device  # noqa: PLC0415
    from attnlib.text.model import load  # noqa: PLC0415

    return load(common.model, resolve_device(common.device))


def _with_options(why: str) -> str:
    """Name options as the command does, where a refusal begins with the name of an argument."""
    names = {one.name for cls in (Architecture, TrainingConfig, Search) for one in fields(cls)} | {"dev", "links"}
    return " ".join(
        f"--{word.replace('_', '-')}" if word in names and (n == 0 or "_" in word) else word
        for n, word in enumerate(why.split(" "))
    )


def _explain(error: OSError) -> str:
    name = error.filename or "the output"
    if name == "the output":
        _let_go_of_the_output()
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"no space left for {name}; make room, and give the same command again"
    return f"{name}: {(error.strerror or str(error)).lower()}"


def _let_go_of_the_output() -> None:
    """Write what is still to be written nowhere, so that it does not fail again when the process ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _log(line: str) -> None:
    tqdm.write(line, file=sys.stderr)
    sys.stderr.flush()


def _refuse(given: Sequence[str], why: str) -> int:
    process = "" if os.environ.get("WORLD_SIZE", "1") == "1" else f", process {os.environ.get('RANK')}"
    _log(f"attnlib {given[0]}{process}: {why}")
    return 2


if __name__ == "__main__":
    sys.exit(main())
