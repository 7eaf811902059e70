"""What the verifier says of an entry: exit code, verdicts, whether the cause is named."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict, dataclass
from time import process_time

from tests.faults.entries import Entry, make
from workbench.contract.errors import InputError
from workbench.verification.judge import examine
from workbench.verification.verdict import Verdict, exit_code

HOLDS, VIOLATED, UNDECIDED, REFUSED = 0, 1, 2, 3
FAULT = 70  # of the workbench
KILLED = 124  # by the time limit


@dataclass(frozen=True)
class Outcome:
    """Exit code of `verify-stability`, processor time in s, counted verdicts that do not hold, whether one names the cause."""

    name: str
    family: str
    sound: bool
    exit: int
    seconds: float
    named: bool | None
    text: tuple[str, ...]
    holding: tuple[str, ...]
    digest: str

    @property
    def wrong_yes(self) -> bool:
        return not self.sound and self.exit == HOLDS

    @property
    def refused(self) -> bool:
        """A fault that is violated, or whose file is not accepted."""
        return not self.sound and self.exit in (VIOLATED, REFUSED)


def digest(entry: Entry) -> str:
    """What the entry says, as a short hash: results of another text are not its results."""
    text = json.dumps(asdict(entry), sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def judged(entry: Entry) -> Outcome:
    """The verdicts on an entry's loop."""
    begun = process_time()
    try:
        made = make(entry)
        verdicts = examine(made.loop, made.scenario, made.claims).verdicts
    except InputError as why:
        text = (f"{why.key or 'input'}: {why}",)
        return _outcome(entry, REFUSED, begun, text, ())
    except Exception as why:  # noqa: BLE001 - a list of hundreds goes on
        return _outcome(entry, FAULT, begun, (f"{type(why).__name__}: {why}",), ())
    counted = [v for v in verdicts if v.counted]
    said = " ".join(_found(v) for v in counted if not v.holds)
    text = tuple(f"{v.key} {v.word}: {_words(v)}" for v in counted if not v.holds)
    holding = tuple(f"{v.key}: {v.worst}" for v in counted if v.holds)
    return _outcome(entry, exit_code(verdicts), begun, text, holding, said)


def _mentions(said: str, word: str) -> bool:
    """Whether a sentence has the word, a long one also as the beginning of a word."""
    end = "" if len(word) >= 5 else r"(?!\w)"
    case = re.IGNORECASE if len(word) > 2 else 0
    return re.search(rf"(?<!\w){re.escape(word)}{end}", said, case) is not None


def _words(v: Verdict) -> str:
    return f"{v.claim}: {_found(v)}"


def _found(v: Verdict) -> str:
    """What a verdict says of this run alone; the claim's own sentence is the same for every loop and names no cause."""
    failed = [f"{a.text} ({a.worst})" for a in v.assumptions if a.holds is False]
    return "; ".join((v.worst, *failed))


def _outcome(entry: Entry, code: int, begun: float, text, holding, said: str = "") -> Outcome:
    named = None
    if entry.names and code in (VIOLATED, REFUSED):
        said = said or " ".join(text)
        named = any(_mentions(said, word) for word in entry.names)
    return Outcome(
        entry.name,
        entry.family,
        entry.sound,
        code,
        process_time() - begun,
        named,
        text,
        holding,
        digest(entry),
    )
