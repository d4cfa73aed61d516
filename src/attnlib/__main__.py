"""The command `attnlib`: learn to translate from two files, then translate, evaluate, align, make a page.

Each command is a thin shell over a function: see `attnlib.text.learning`, `attnlib.text.model`,
`attnlib.text.evaluation` and `attnlib.pictures.page`. What is wrong is said in one sentence, with the exit status 2.
"""

import argparse
import errno
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from operator import methodcaller
from pathlib import Path
from typing import Any

from attnlib.text.settings import MAX_LINE, Architecture, Settings, add_options, flag_of, options_of
from attnlib.writing import write_atomically, written_in_the_end

_PARSER = argparse.ArgumentParser(
    prog="attnlib",
    description="Learn to translate from two files, one sentence a line; then translate, and see where it looked.",
    epilog="attnlib COMMAND --help shows an example of each command.",
)
_COMMANDS = _PARSER.add_subparsers(dest="command", required=True, metavar="COMMAND")

_option = partial(methodcaller, "add_argument")
_MODEL = (
    _option("--model", type=Path, required=True, metavar="FOLDER", help="the model's folder"),
    _option("--device", help="cpu, cuda, or cuda:1 and so on; default: a GPU if there is one"),
    _option(
        "--float32",
        action="store_true",
        help="multiply in float32, also where the processor has units for bfloat16",
    ),
)
_TEXT = (
    _option("source", metavar="SOURCE", help="sentences, one a line; without TARGET, pairs with tabs"),
    _option("target", nargs="?", metavar="TARGET", help="their translations"),
    _option("--longest", type=int, default=MAX_LINE, help="most words or subwords of a line; a longer one is refused"),
)
_REPLACEMENT = (
    _option(
        "--replace-unknown",
        action="store_true",
        help="replace an unknown word by the source word that it looked at most",
    ),
    _option(
        "--dictionary",
        metavar="FILE",
        help="the same, but by its translation if FILE has it: a word, a tab and its translation on each line",
    ),
)
_OUTPUT = _option("-o", "--output", type=Path, required=True, metavar="FILE", help="the page, one HTML file")
_SEARCH = (
    _option("--beam", type=int, default=5, help="hypotheses that the search keeps; 1 is greedy"),
    _option(
        "--max-length",
        type=int,
        help="most words or subwords of a translation; default: twice those of its source, and 50 more",
    ),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line, and give its exit status: 0, 2 for what is wrong with what was asked, or 130 after Ctrl-C.

    Parameters
    ----------
    arguments : words, optional
        None: those that the process was called with.
    """
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, or errors would go to the output
    args = _PARSER.parse_args(arguments)
    try:
        with _products(args):
            args.run(args)
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read the output has read enough
        _let_go_of_the_output()
    except KeyboardInterrupt:
        return 130
    except (ValueError, FloatingPointError) as error:
        return _refuse(args, _with_flag(str(error)) if args.command == "train" else str(error))
    except (MemoryError, RuntimeError) as error:
        if not isinstance(error, MemoryError) and "memory" not in str(error):
            raise
        return _refuse(args, "not enough memory; smaller batches, fewer features or a narrower beam need less")
    except OSError as error:
        return _refuse(args, _explain(error, "goes on" if args.command == "train" else "begins anew"))
    return 0


def _products(args: argparse.Namespace) -> AbstractContextManager[None]:
    """Choose how a command that multiplies matrices does it."""
    if getattr(args, "float32", True):
        return nullcontext()
    from attnlib.devices import bfloat16_products, device_named  # noqa: PLC0415, help should not wait for torch

    return bfloat16_products(device_named(args.device))


def _explain(error: OSError, then: str) -> str:
    name = error.filename or "the output"
    if name == "the output":
        _let_go_of_the_output()
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"no space left for {name}; make room, and the same command {then}"
    return f"{name}: {(error.strerror or str(error)).lower()}"


def _let_go_of_the_output() -> None:
    """Write what is still to be written nowhere, so that it does not fail again when the process ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _refuse(args: argparse.Namespace, why: str) -> int:
    process = "" if os.environ.get("WORLD_SIZE", "1") == "1" else f", process {os.environ.get('RANK')}"
    _say(f"attnlib {args.command}{process}: {why}")
    return 2


class _Help(argparse.ArgumentDefaultsHelpFormatter, argparse.RawDescriptionHelpFormatter):
    """Say defaults, where there are any, and leave an example's lines as they are."""

    def _get_help_string(self, action: argparse.Action) -> str | None:
        silent = action.default is None or isinstance(action.default, bool)
        return action.help if silent else super()._get_help_string(action)


def _command(
    about: str, example: str, *options: Callable[[argparse.ArgumentParser], Any]
) -> Callable[[Callable], Callable]:
    """Make a command of a function, whose name, without the underscore in front, is the command's."""

    def declare(run: Callable) -> Callable:
        name = run.__name__.removeprefix("_")
        command = _COMMANDS.add_parser(
            name,
            help=about,
            description=f"{about[0].upper()}{about[1:]}.",
            epilog=f"example:\n  attnlib {name} {example}",
            formatter_class=_Help,
        )
        command.set_defaults(run=run)
        for add in options:
            add(command)
        return run

    return declare


@_command(
    "write a text to try the other commands on: English and French sentences of a small grammar",
    "text",
    _option("folder", type=Path, metavar="FOLDER", help="where the files go"),
    _option("--train", type=int, default=20_000, help="sentence pairs to learn from"),
    _option("--dev", type=int, default=200, help="sentence pairs kept apart"),
    _option("--seed", type=int, default=1, help="another seed gives other sentences"),
)
def _toy(args: argparse.Namespace) -> None:
    from attnlib.text.files import write_toy  # noqa: PLC0415, help should not wait for torch

    write_toy(args.folder, train=args.train, dev=args.dev, seed=args.seed)
    _say(f"wrote train and dev, each as .en, .fr and .links, to {args.folder}")


def _add_training(train: argparse.ArgumentParser) -> None:
    groups = {name: train.add_argument_group(name) for name in ("the text", "the model", "the training")}
    text = groups["the text"]
    text.add_argument("--source", required=True, metavar="FILE", help="sentences, one a line; .gz too")
    text.add_argument("--target", metavar="FILE", help="their translations; without it, --source has pairs with tabs")
    text.add_argument("--dev", nargs="+", metavar="FILE", help="two such files, or one, kept apart to choose the best")
    add_options(groups, Architecture, Settings)
    groups["the training"].add_argument(
        "--save-seconds", type=float, default=60.0, help="from one save of a run to the next"
    )


@_command(
    "learn from sentence pairs; the same command again goes on with a run that was killed",
    "--source train.de --target train.en --dev dev.de dev.en --model runs/deen",
    *_MODEL,
    _add_training,
)
def _train(args: argparse.Namespace) -> None:
    from attnlib import processes  # noqa: PLC0415
    from attnlib.devices import device_named  # noqa: PLC0415
    from attnlib.text.files import PairFiles, read_pairs  # noqa: PLC0415
    from attnlib.text.learning import learn  # noqa: PLC0415

    device = device_named(args.device)
    with processes.joined(device):
        say = (lambda line: None) if processes.rank() else _say
        with processes.first_goes_ahead():
            settings, files = _settings(args), args.dev or []
            if len(files) > 2:
                raise ValueError(f"--dev is {len(files)} files; expected two, or one of pairs with a tab between")
            pairs = PairFiles(args.source, args.target, longest=args.longest)
            if not files and (args.patience or args.score_every):
                raise ValueError("--patience and --dev-every are about dev scores; expected --dev with them")
            dev = read_pairs(*files, longest=args.longest) if files else None
            if dev and (dev.empty or dev.long):
                say(f"dev: {dev}")
        progress = True if sys.stderr.isatty() else "lines"
        how = {"save_seconds": args.save_seconds, "progress": progress, "say": say, "device": device}
        learn(args.model, pairs, dev.pairs if dev else (), settings, **how)
        say(f"the model is in {args.model}")


def _settings(args: argparse.Namespace) -> Settings:
    def of(cls: type) -> dict[str, Any]:
        return {one.name: getattr(args, one.name) for one in options_of(cls)}

    preset, options = Architecture(**of(Architecture)).options(args.seed)
    return Settings(preset=preset, options=options, **of(Settings))


def _with_flag(why: str) -> str:
    """Name an option in place of the setting with which a refusal begins."""
    flags = {one.name: flag_of(one) for cls in (Architecture, Settings) for one in options_of(cls)}
    name, *rest = why.split(" ", 1)
    return " ".join([flags.get(name, name), *rest])


@_command(
    "translate the standard input line by line",
    "--model runs/deen < new.de > new.en",
    *_MODEL,
    _option("--links", type=Path, metavar="FILE", help="also write which word comes from which, as i-j"),
    _option(
        "--longest", type=int, default=MAX_LINE, help="most words or subwords of a line; a longer one is cut to them"
    ),
    *_REPLACEMENT,
    *_SEARCH,
)
def _translate(args: argparse.Namespace) -> None:
    from attnlib.text.model import translate_stream  # noqa: PLC0415

    model, replace = _load(args), _replacement(args)
    _check_no_stream(args.links)
    options = {"beam": args.beam, "max_length": args.max_length, "longest": args.longest, "replace": replace}
    with written_in_the_end(args.links) if args.links else nullcontext() as linked:
        translate_stream(model, sys.stdin.buffer, sys.stdout.buffer, linked=linked, say=_say, **options)


@_command(
    "translate a text and compare with its translation",
    "--model runs/deen test.de test.en --gold test.links",
    *_MODEL,
    _option("--gold", metavar="FILE", help="word links, i-j sure and i?j possible: alignment error rate"),
    _option(
        "--tokenize",
        metavar="NAME",
        help="how sacrebleu cuts words for BLEU; default: none for a model of words, 13a for one of subwords",
    ),
    *_TEXT,
    *_REPLACEMENT,
    *_SEARCH,
)
def _evaluate(args: argparse.Namespace) -> None:
    from attnlib.text.evaluation import evaluate  # noqa: PLC0415
    from attnlib.text.files import read_gold  # noqa: PLC0415

    model, pairs = _model_and_text(args)
    gold, replace = read_gold(args.gold, pairs) if args.gold else None, _replacement(args)
    options = {"beam": args.beam, "max_length": args.max_length, "tokenize": args.tokenize, "say": _say}
    print(evaluate(model, pairs, gold=gold, replace=replace, **options))


@_command(
    "link the words of a text and its translation, as i-j, a line for each pair",
    "--model runs/deen test.de test.en > test.links",
    *_MODEL,
    *_TEXT,
)
def _align(args: argparse.Namespace) -> None:
    from attnlib.text.files import pharaoh  # noqa: PLC0415

    model, pairs = _model_and_text(args)
    for links in model.links_of(pairs):
        print(pharaoh(links))


@_command(
    "write the model itself as a page, in which one can type sentences and change where it looks",
    "--model runs/deen -o deen.html",
    *_MODEL,
    _OUTPUT,
    *_SEARCH,
)
def _page(args: argparse.Namespace) -> None:
    from attnlib.pictures.page import page_of  # noqa: PLC0415

    title = args.model.resolve().name
    page = page_of(_load(args).translator, title, beam=args.beam, max_length=args.max_length or 200).encode()
    _say(f"{args.output} takes {len(page) / 1e6:.1f} MB")
    write_atomically(args.output, page)
    _say(f"open {args.output}")


def _check_no_stream(links: Path | None) -> None:
    """Refuse to write links into a file that the command reads from or writes to already."""
    for number, what in enumerate(("the sentences come from", "the translations go to")):
        if links and links.is_file() and os.path.samestat(links.stat(), os.fstat(number)):
            raise ValueError(f"--links is {links}, the file that {what}; expected another")


def _load(args: argparse.Namespace) -> Any:
    from attnlib.devices import device_named  # noqa: PLC0415
    from attnlib.text.model import load  # noqa: PLC0415

    return load(args.model, device_named(args.device))


def _model_and_text(args: argparse.Namespace) -> tuple[Any, list[tuple[Sequence[str], Sequence[str]]]]:
    from attnlib.text.files import read_beside  # noqa: PLC0415

    pairs, model = list(read_beside(args.source, args.target)), _load(args)
    model.check_longest(pairs, args.longest, args.source)
    return model, pairs


def _replacement(args: argparse.Namespace) -> dict[str, str] | None:
    from attnlib.text.files import read_dictionary  # noqa: PLC0415

    if args.dictionary:
        return read_dictionary(args.dictionary)
    return {} if args.replace_unknown else None


if __name__ == "__main__":
    sys.exit(main())
