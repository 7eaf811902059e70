"""The parser of the command line, in our words."""

from __future__ import annotations

import argparse
import os
import re
from typing import Any, NoReturn

from workbench.commands.codes import BAD


class _Once(argparse._StoreAction):
    """An option that takes one value: a second one is refused, where the last would win unseen."""

    def __call__(self, parser, namespace, values, option_string=None):  # type: ignore[no-untyped-def]
        given = vars(namespace).setdefault("_given", set())
        if option_string is not None and self.dest in given:
            before = getattr(namespace, self.dest)
            parser.error(f"{option_string} is given twice, {before} and {values}: give it once")
        given.add(self.dest)
        super().__call__(parser, namespace, values, option_string)


class _Parser(argparse.ArgumentParser):
    """Wrong usage is exit code 3 (2 means undecided), with the nearest option; every command has --version."""

    def __init__(self, *given: Any, **options: Any) -> None:
        from workbench import __version__

        super().__init__(*given, **options)
        self.register("action", None, _Once)
        version = f"fluidproof {__version__}"
        what = "say which version this is and end"
        self.add_argument("--version", action="version", version=version, help=what)

    def error(self, message: str) -> NoReturn:
        import difflib

        groups = [
            action for action in self._actions if isinstance(action, argparse._SubParsersAction)
        ]
        verbs = [verb for group in groups for verb in group.choices.values()]
        known = [
            option
            for parser in (self, *verbs)
            for action in parser._actions
            for option in action.option_strings
        ]
        wrong = message.split() if message.startswith("unrecognized") else ()
        words = [
            near
            for word in wrong
            if word.startswith("-") and word not in known
            for near in difflib.get_close_matches(word.split("=")[0], known, 1)
        ]
        chosen = re.match(r"argument VERB: invalid choice: '(.*?)'", message)
        if chosen:
            words = difflib.get_close_matches(chosen[1], [v for g in groups for v in g.choices], 1)
        hint = f"did you mean {' or '.join(words)}?" if words else f"see {self.prog} --help"
        self.exit(BAD, f"{self.prog}: {message}\n  mend: {hint}\n")


def _parser(prog: str, description: str, epilog: str = "") -> _Parser:
    return _Parser(
        prog=prog,
        description=description,
        epilog=epilog,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def typed(argument: str) -> str:
    """An argument as the text that was typed, in a locale that knows no Greek as well: its bytes read as UTF-8."""
    return os.fsencode(argument).decode("utf-8", "replace")


def case_argument(parser: argparse.ArgumentParser) -> None:
    """FILE, and what of it is set otherwise."""
    parser.add_argument("file", help="case file (YAML), or the name of a shipped machine")
    set_option(parser)


def set_option(parser: argparse.ArgumentParser) -> None:
    """`--set KEY=VALUE`, as often as wanted, and `--trust`: of every command that reads case files."""
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        type=typed,
        metavar="KEY=VALUE",
        help="another value at a key of the file, such as controller.λ=10 or plant.payload.mass=50kg; can be repeated",
    )
    parser.add_argument(
        "--trust",
        action="store_true",
        help="run code that the file names, such as a compiled law; without it such a file is refused",
    )
