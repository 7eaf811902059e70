"""The parser of the command line, in our words."""

from __future__ import annotations

import argparse
from typing import NoReturn

from workbench.commands.guard import BAD


class _Parser(argparse.ArgumentParser):
    """Wrong usage is exit code 3 (2 means undecided), with the nearest option."""

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
