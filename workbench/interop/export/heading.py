"""What exported code begins with: where it comes from, and the verdicts of the loop that it is from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from workbench.commands import terminal
from workbench.verification.verdict import Verdict, exit_code

ROUNDS = "The loop was verified with doubles, and this code has floats: --check and --judge tell what that changes."
NAMES = {"controller": "law", "plant": "plant", "loop": "loop"}  # of parts in what is written
ROOM = 110  # columns of the verdicts in the header


def worst(*codes: int) -> int:
    """The exit code of several: 1 where one is violated, else 2 where one is undecided."""
    return next((code for code in (1, 2) if code in codes), 0)


def header(case: Any, options: Any, today: str, verdicts: Sequence[Verdict]) -> list[str]:
    """The comment that a header begins with: what the law is, and what was verified of the loop that it is from."""
    from workbench import __version__

    table = terminal.table(verdicts, ROOM)
    return [
        f"{terminal.title(case)}: its {NAMES[options.part]}, exported {today} by fluidproof {__version__}.",
        _answer(verdicts),
        *(f"Set beside what case.yaml says: {text}" for text in options.set),
        *([ROUNDS] if options.float else []),
        "",
        "Verdicts on the loop of the case file (case.yaml), its law on its plant; they are of these numbers alone:",
        "",
        *table.splitlines(),
    ]


def _answer(verdicts: Sequence[Verdict]) -> str:
    """The exit code of the verdicts and what it means; that stability was not asked belongs to it."""
    code = exit_code(verdicts)
    if code != 0:
        return f"exit {code}: NOT every counted claim holds"
    return "; ".join(
        ["exit 0: every counted claim holds", *filter(None, [terminal.unanswered(verdicts, code)])]
    )


def text_of(case: Any) -> str:
    """The case file as it is; empty for a case that has none."""
    try:
        with open(case.path, encoding="utf-8") as stream:
            return stream.read()
    except (OSError, TypeError, UnicodeDecodeError):
        return ""
