"""What the commands show: the table of verdicts, the progress bar, messages. Plain text, colour only where wanted.

Nothing that comes from a file can send control codes to the terminal; nothing is cut off, long text is wrapped.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import textwrap
import time
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TextIO

from workbench.contract.units import format_quantity
from workbench.verification.verdict import Verdict, answers_stability, lost_for_information

HEAD = ("claim", "verdict", "strength", "margin", "worst at / why")
GAP = "  "
NARROW = 76  # columns; below this every claim gets its own paragraph
UNLIMITED = 160  # columns where there is no terminal
COLOURS = {"holds": "32", "violated": "1;31", "undecided": "33"}
PATIENCE = 1.0  # s before a progress bar appears


def clean(text: object) -> str:
    """Text without control characters; line breaks stay."""
    return "".join(
        "�" if unicodedata.category(c) in ("Cc", "Cf", "Cs") and c != "\n" else c for c in str(text)
    )


def width(text: str) -> int:
    """Columns a text takes on a terminal."""
    return sum(map(_columns_of, text))


def _columns_of(letter: str) -> int:
    if unicodedata.combining(letter):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1


def columns(stream=None) -> int:
    """Width to write to: the terminal's, $COLUMNS, or plenty."""
    stream = stream or sys.stdout
    given = os.environ.get("COLUMNS", "")
    if stream.isatty() or given.isdigit():
        return max(20, shutil.get_terminal_size().columns)
    return UNLIMITED


def coloured(stream=None) -> bool:
    """Whether colour is wanted: a terminal that can, and no NO_COLOR."""
    stream = stream or sys.stdout
    return (
        stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM", "") != "dumb"
    )


_QUANTITY = re.compile(
    r"(?<=\d) (?=(?:[mµkM]?(?:m|s|J|W|N|V|Hz|rad|Pa)|bar|deg|°|l/min|kg|%)(?![^\W_]))"
)


def wrap(text: str, room: int) -> list[str]:
    """Lines of at most `room` columns; a word longer than that stays whole, a number stays with its unit."""
    joined = _QUANTITY.sub("\xa0", text)
    return [
        line.replace("\xa0", " ")
        for part in joined.split("\n")
        for line in textwrap.wrap(
            part, max(room, 1), break_long_words=False, break_on_hyphens=False
        )
        or [""]
    ]


# ---- the table ----------------------------------------------------------------------------------------------------
def margin(verdict: Verdict) -> str:
    """'2.4 mm left', '3 mm over'; '–' where there is no number."""
    if verdict.margin is None:
        return "–"
    if verdict.margin in (float("inf"), float("-inf")):
        return "unlimited" if verdict.margin > 0 else "none"
    text = format_quantity(abs(verdict.margin), verdict.unit or "1", 3)
    if verdict.margin == 0:
        return text
    return f"{text} left" if verdict.margin > 0 else f"{text} over"


def row(verdict: Verdict) -> tuple[str, ...]:
    """The table's cells for one verdict; information claims in parentheses."""
    cells = (verdict.claim, verdict.word, verdict.strength or "–", margin(verdict), verdict.worst)
    claim, *rest, worst = map(clean, cells)
    if verdict.counted:
        return claim, *rest, worst
    return f"({claim}", *rest, f"{worst}; information)" if worst else "information)"


def table(verdicts: Sequence[Verdict], room: int, colour: bool = False) -> str:
    """All verdicts, those that count first: a table, or paragraphs where the terminal is narrow."""
    listed = sorted(verdicts, key=lambda v: not v.counted)
    rows = [row(v) for v in listed]
    words = [v.word if v.counted else "" for v in listed]
    return (
        _paragraphs(rows, words, room, colour)
        if room < NARROW
        else _table(rows, words, room, colour)
    )


def _table(rows, words, room, colour) -> str:
    fixed = [max(map(width, (HEAD[i], *(r[i] for r in rows)))) for i in (1, 2, 3)]
    fixed[2] = min(fixed[2], 24)
    left = room - sum(fixed) - 4 * len(GAP)
    claim = min(max(map(width, (HEAD[0], *(r[0] for r in rows)))), max(left * 45 // 100, 12))
    worst = min(max(map(width, (HEAD[4], *(r[4] for r in rows)))), left - claim)
    widths = (claim, *fixed, worst)
    lines = [GAP.join(_padded(text, w) for text, w in zip(HEAD, widths)).rstrip()]
    for cells, word in zip(rows, words):
        wrapped = [wrap(text, w) for text, w in zip(cells, widths)]
        for k in range(max(map(len, wrapped))):
            parts = [_padded(c[k] if k < len(c) else "", w) for c, w in zip(wrapped, widths)]
            if k == 0:
                parts[1] = _painted(parts[1], word, colour)
            lines.append(GAP.join(parts).rstrip())
    return "\n".join(lines)


def _paragraphs(rows, words, room, colour) -> str:
    found = []
    for (claim, said, strength, left, worst), word in zip(rows, words):
        found += [_painted(said, word, colour)] + [f"  {line}" for line in wrap(claim, room - 2)]
        for text in (f"{strength}, {left}", worst):
            found += [f"    {line}" for line in wrap(text, room - 4)] if text else []
    return "\n".join(found)


def _padded(text: str, room: int) -> str:
    return text + " " * (room - width(text))


def _painted(text: str, word: str, colour: bool) -> str:
    return f"\033[{COLOURS[word]}m{text}\033[0m" if colour and word in COLOURS else text


def headline(title: str, file: str, room: int) -> str:
    """Title on the left, file on the right; one below the other where they do not fit."""
    title = clean(title)
    file = clean(file)
    space = min(room, 130) - width(title) - width(file)
    return (
        title + " " * space + file
        if space >= 2
        else "\n".join([*wrap(title, room), *wrap(file, room)])
    )


def tally(verdicts: Sequence[Verdict], written: Sequence[str], code: int) -> str:
    """'5 hold, 0 violated, 0 undecided · report.pdf · exit 0'."""
    n = {word: sum(v.counted and v.word == word for v in verdicts) for word in COLOURS}
    hold = "holds" if n["holds"] == 1 else "hold"
    counts = f"{n['holds']} {hold}, {n['violated']} violated, {n['undecided']} undecided"
    unasked = filter(None, [unanswered(verdicts, code)])
    return " · ".join([counts, *unasked, *map(clean, written), f"exit {code}"])


def unanswered(verdicts: Sequence[Verdict], code: int) -> str:
    """What is said of stability where every counted claim holds and none of them is about it; "" else."""
    if code != 0 or answers_stability(verdicts):
        return ""
    lost = lost_for_information(verdicts)
    return f"stability does not count: {lost} violated" if lost else "stability was not asked"


def title(case) -> str:
    """'HIAB XS 031, 2 structures · VDC 1 kHz · demo path 30 s'."""
    from workbench.contract.system import innermost

    parts = len(case.plant.structures)
    size = f", {parts} structure{'s' if parts > 1 else ''}" if parts else ""
    law = type(innermost(case.controller)).__name__
    rate = "continuous" if case.loop.period is None else format_quantity(1 / case.loop.period, "Hz")
    length = format_quantity(case.scenario.length(), "s")
    return f"{case.name}{size} · {law} {rate} · {_followed(case)} {length}"


def _followed(case) -> str:
    """What the run follows, in words: 'demo path', 'waypoints', 'standing still'."""
    from workbench.cases.default_path import DEMO, to_both_sides
    from workbench.contract.system import innermost

    path = case.scenario.reference
    if path == DEMO:
        return "demo path"
    if case.plant.demo_path is not None and path == to_both_sides(case.plant).reference:
        return "default path to both sides"
    if path is not None:
        return type(path).__name__.lower()
    if innermost(case.controller).open:
        return f"{', '.join(case.scenario.disturbances)} given"
    return "standing still"


# ---- progress and messages ----------------------------------------------------------------------------------------
@contextmanager
def progress(shown: bool) -> Iterator[Callable[..., None]]:
    """A callback (fraction, what) that draws a bar on stderr after a second of work; none without a terminal."""
    if not (shown and sys.stderr.isatty() and os.environ.get("TERM", "") != "dumb"):
        yield lambda fraction, what="": None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    bar = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    task = bar.add_task("", total=1.0)
    begun = time.monotonic()

    def tell(fraction: float, what: str = "") -> None:
        if not bar.live.is_started and time.monotonic() - begun > PATIENCE:
            bar.start()
        words = re.sub(
            r"(?<=[a-z])(?=[A-Z])", " ", clean(what)
        ).lower()  # SampleTimeLimit is sample time limit
        bar.update(task, completed=fraction, **({"description": words} if words else {}))

    try:
        yield tell
    finally:
        if bar.live.is_started:
            bar.stop()


def for_programs(text: str, stream: TextIO | None = None) -> str:
    """JSON as the stream can take it: letters it does not know as escapes, which say the same."""
    try:
        text.encode((stream or sys.stdout).encoding or "utf-8")
    except UnicodeEncodeError:
        return json.dumps(json.loads(text), indent=1)
    return text


def say(text: str) -> None:
    """A line on stdout."""
    print(text, flush=True)


def complain(text: str) -> None:
    """A message on stderr."""
    print(clean(text), file=sys.stderr, flush=True)
