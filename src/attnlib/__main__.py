"""The command `attnlib`: learn to translate from two files, then translate, evaluate, align, explore.

Each command is a thin shell over a function: see `attnlib.text.learning`, `attnlib.text.model` and
`attnlib.text.evaluation`. What is wrong is said in one sentence, with the exit status 2.
"""

import argparse
import errno
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from attnlib.text.options import add_options, declared
from attnlib.text.settings import Architecture, Settings


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line, and give its exit status: 0, 2 for what is wrong with what was asked, or 130 after Ctrl-C.

    Parameters
    ----------
    arguments : words, optional
        None: those that the process was called with.
    """
    given = _parser().parse_args(arguments)
    try:
        _check_open(given.command)
        given.run(given)
        if sys.stdout:
            sys.stdout.flush()
    except BrokenPipeError:  # whoever read the output has read enough
        _let_go_of_the_output()
        return 0
    except KeyboardInterrupt:
        return 130
    except (ValueError, FloatingPointError) as error:
        return _refused(given, str(error))
    except OSError as error:
        name = error.filename or "the output"
        if name == "the output":
            _let_go_of_the_output()
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            then = "goes on" if given.command == "train" else "begins anew"
            return _refused(given, f"no space left for {name}; make room, and the same command {then}")
        return _refused(given, f"{name}: {(error.strerror or str(error)).lower()}")
    return 0


def _check_open(command: str) -> None:
    """Refuse an input or an output that is closed, where the command needs it; do without the errors' stream."""
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, open to the end
    for stream, name, commands in (
        (sys.stdin, "input", ("translate",)),
        (sys.stdout, "output", ("translate", "evaluate", "align")),
    ):
        if stream is None and command in commands:
            raise ValueError(f"the standard {name} is closed; expected one that is open")


def _let_go_of_the_output() -> None:
    """Write what is still to be written nowhere, so that it does not fail again when the process ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _train(given: argparse.Namespace) -> None:
    from attnlib import processes  # noqa: PLC0415, help should not wait for torch
    from attnlib.devices import device_named  # noqa: PLC0415
    from attnlib.text.checkpoint import check_free  # noqa: PLC0415
    from attnlib.text.files import read_pairs  # noqa: PLC0415
    from attnlib.text.learning import learn  # noqa: PLC0415
    from attnlib.text.stream import scan_pairs  # noqa: PLC0415
    from attnlib.text.vocabularies import VocabularyMaker  # noqa: PLC0415

    device = device_named(given.device)
    with processes.joined(device):
        say = (lambda said: None) if processes.rank() else _say
        with processes.first_goes_ahead():
            settings = _settings(given)
            if not processes.rank():
                check_free(given.model)
            maker = VocabularyMaker(settings)
            text = scan_pairs(given.source, given.target, longest=given.longest, maker=maker)
            say(str(text))
            dev = read_pairs(*_sides(given.dev, "--dev"), longest=given.longest).pairs if given.dev else []
        progress = True if sys.stderr.isatty() else "lines"
        how = {"save_seconds": given.save_seconds, "progress": progress, "say": say, "device": device}
        learn(given.model, text.pairs, dev, settings, **how)
        say(f"the model is in {given.model}")


def _settings(given: argparse.Namespace) -> Settings:
    def told(cls: type) -> dict[str, Any]:
        return {one.name: getattr(given, one.name) for one in declared(cls)}

    preset, options = Architecture(**told(Architecture)).told(given.seed)
    return Settings(preset=preset, options=options, **told(Settings))


def _load(given: argparse.Namespace) -> Any:
    from attnlib.devices import device_named  # noqa: PLC0415
    from attnlib.text.model import load  # noqa: PLC0415

    return load(given.model, device_named(given.device))


def _translate(given: argparse.Namespace) -> None:
    from attnlib.text.model import translate_stream  # noqa: PLC0415
    from attnlib.writing import written_in_the_end  # noqa: PLC0415

    options = {"beam": given.beam, "max_length": given.max_length, "longest": given.longest, "say": _say}
    model, streams = _load(given), (sys.stdin.buffer, sys.stdout.buffer)
    options["replace"] = _replacement(given)
    if not given.links:
        translate_stream(model, *streams, **options)
        return
    with written_in_the_end(given.links) as linked:
        translate_stream(model, *streams, linked=linked, **options)


def _evaluate(given: argparse.Namespace) -> None:
    from attnlib.text.evaluation import evaluate  # noqa: PLC0415
    from attnlib.text.files import read_beside, read_gold  # noqa: PLC0415

    pairs = list(read_beside(*_sides(given.text, "the text")))
    gold = None if given.gold is None else read_gold(given.gold, pairs)
    model = _load(given)
    model.check_longest(pairs, given.longest, given.text[0])
    found = evaluate(
        model,
        pairs,
        beam=given.beam,
        max_length=given.max_length,
        tokenize=given.tokenize,
        gold=gold,
        replace=_replacement(given),
    )
    print(found)


def _align(given: argparse.Namespace) -> None:
    from attnlib.text.files import pharaoh, read_beside  # noqa: PLC0415

    pairs = list(read_beside(*_sides(given.text, "the text")))
    model = _load(given)
    model.check_longest(pairs, given.longest, given.text[0])
    for links in model.links_of(pairs):
        print(pharaoh(links))


def _explore(given: argparse.Namespace) -> None:
    from attnlib.writing import write_atomically  # noqa: PLC0415

    page = _load(given).page(given.sentence, beam=given.beam, max_length=given.max_length)
    write_atomically(given.output, page.encode())
    _say(f"open {given.output}")


def _toy(given: argparse.Namespace) -> None:
    from attnlib.text.toy import write_toy  # noqa: PLC0415

    write_toy(given.folder, train=given.train, dev=given.dev, seed=given.seed)
    _say(f"wrote train and dev, each as .en, .fr and .links, to {given.folder}")


def _replacement(given: argparse.Namespace) -> dict[str, str] | None:
    from attnlib.text.files import read_dictionary  # noqa: PLC0415

    if given.dictionary:
        return read_dictionary(given.dictionary)
    return {} if given.replace_unknown else None


def _sides(files: Sequence[str], name: str) -> Sequence[str]:
    if len(files) > 2:
        raise ValueError(f"{name} is {len(files)} files; expected two, or one of pairs with a tab between")
    return files


def _say(said: str) -> None:
    print(said, file=sys.stderr, flush=True)


def _refused(given: argparse.Namespace, said: str) -> int:
    process = "" if os.environ.get("WORLD_SIZE", "1") == "1" else f", process {os.environ.get('RANK')}"
    _say(f"attnlib {given.command}{process}: {said}")
    return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="attnlib",
        description="Learn to translate from two files, one sentence a line; then translate, and see where it looked.",
        epilog="attnlib COMMAND --help shows an example of each command.",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for run, add_options_of_its_own, about, example in _COMMANDS:
        name = run.__name__.removeprefix("_")
        command = commands.add_parser(
            name,
            help=about,
            description=f"{about[0].upper()}{about[1:]}.",
            epilog=f"example:\n  attnlib {name} {example}",
            formatter_class=_Help,
        )
        command.set_defaults(run=run)
        if run is not _toy:
            command.add_argument("--model", type=Path, required=True, metavar="FOLDER", help="the model's folder")
            command.add_argument("--device", help="cpu, cuda, or cuda:1 and so on; default: a GPU if there is one")
        add_options_of_its_own(command)
    return parser


class _Help(argparse.ArgumentDefaultsHelpFormatter, argparse.RawDescriptionHelpFormatter):
    """Say defaults, where there are any, and leave an example's lines as they are."""

    def _get_help_string(self, action: argparse.Action) -> str | None:
        return (
            action.help
            if action.default is None or isinstance(action.default, bool)
            else super()._get_help_string(action)
        )


def _add_toy(toy: argparse.ArgumentParser) -> None:
    toy.add_argument("folder", type=Path, metavar="FOLDER", help="where the files go")
    toy.add_argument("--train", type=int, default=20_000, help="sentence pairs to learn from")
    toy.add_argument("--dev", type=int, default=200, help="sentence pairs kept apart")
    toy.add_argument("--seed", type=int, default=1, help="another seed gives other sentences")


def _add_train(train: argparse.ArgumentParser) -> None:
    groups = {name: train.add_argument_group(name) for name in ("the text", "the model", "the training")}
    text = groups["the text"]
    text.add_argument("--source", required=True, metavar="FILE", help="sentences, one a line; .gz too")
    text.add_argument("--target", metavar="FILE", help="their translations; without it, --source has pairs with tabs")
    text.add_argument("--dev", nargs="+", metavar="FILE", help="two such files, or one, kept apart to choose the best")
    add_options(groups, Architecture, Settings)
    groups["the training"].add_argument(
        "--save-seconds", type=float, default=60.0, help="from one save of a run to the next"
    )


def _add_translate(translate: argparse.ArgumentParser) -> None:
    translate.add_argument("--links", type=Path, metavar="FILE", help="also write which word comes from which, as i-j")
    translate.add_argument(
        "--longest", type=int, default=1000, help="most words or subwords of a line; a longer one is cut to them"
    )
    _add_replacement(translate)
    _add_search(translate)


def _add_evaluate(evaluate: argparse.ArgumentParser) -> None:
    evaluate.add_argument("--gold", metavar="FILE", help="word links, i-j sure and i?j possible: alignment error rate")
    evaluate.add_argument(
        "--tokenize",
        metavar="NAME",
        help="how sacrebleu cuts words for BLEU; default: none for a model of words, 13a for one of subwords",
    )
    _add_text(evaluate)
    _add_replacement(evaluate)
    _add_search(evaluate)


def _add_explore(explore: argparse.ArgumentParser) -> None:
    explore.add_argument("sentence", help="words separated by spaces")
    explore.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help="the page, one HTML file")
    _add_search(explore)


def _add_text(command: argparse.ArgumentParser) -> None:
    command.add_argument("text", nargs="+", metavar="FILE", help="source and target, or one file with tabs")
    command.add_argument(
        "--longest", type=int, default=1000, help="most words or subwords of a line; a longer one is refused"
    )


def _add_replacement(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--replace-unknown",
        action="store_true",
        help="replace an unknown word by the source word that it looked at most",
    )
    command.add_argument(
        "--dictionary",
        metavar="FILE",
        help="the same, but by its translation if FILE has it: a word, a tab and its translation on each line",
    )


def _add_search(command: argparse.ArgumentParser) -> None:
    command.add_argument("--beam", type=int, default=5, help="hypotheses that the search keeps; 1 is greedy")
    command.add_argument("--max-length", type=int, default=200, help="most words or subwords of a translation")


_COMMANDS = (
    (
        _toy,
        _add_toy,
        "write a text to try the other commands on: English and French sentences of a small grammar",
        "text",
    ),
    (
        _train,
        _add_train,
        "learn from sentence pairs; the same command again goes on with a run that was killed",
        "--source train.de --target train.en --dev dev.de dev.en --model runs/deen",
    ),
    (
        _translate,
        _add_translate,
        "translate the standard input line by line",
        "--model runs/deen < new.de > new.en",
    ),
    (
        _evaluate,
        _add_evaluate,
        "translate a text and compare with its translation",
        "--model runs/deen test.de test.en --gold test.links",
    ),
    (
        _align,
        _add_text,
        "link the words of a text and its translation, as i-j, a line for each pair",
        "--model runs/deen test.de test.en > test.links",
    ),
    (
        _explore,
        _add_explore,
        "translate a sentence and show in a page where each word looked",
        '--model runs/deen "ein hund rennt" -o dog.html',
    ),
)


if __name__ == "__main__":
    sys.exit(main())
