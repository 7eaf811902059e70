"""Other starts from which the machine leaves what its equations describe although it comes back: they are repeated from nearer.

A push takes oil from a chamber faster than its valve can give it. The equations then pull with oil, to any pressure, where oil
cavitates; what they make of it no machine does. So such a start is repeated with SHARES of its size, and the first run that stays
above vacuum counts in its place. Where none does, the verdict is undecided. The same is done where a linkage passes a change point.
A run that does not come back counts as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.verification.practical.starts import SHARES, Start
from workbench.verification.run import Run, no_machine
from workbench.verification.verdict import Assumption

if TYPE_CHECKING:
    from workbench.verification.practical.disturbed import Outcome


def from_nearer(
    run: Run, found: Sequence[Outcome], again: Callable[[list[int], float], list[Outcome]]
) -> list[Outcome]:
    """The outcomes; one that no machine shows is replaced by what the same start showed from nearer.

    Those of a run that no machine makes without being disturbed stay as they are: its verdicts say so already.
    again(which, share): the outcomes of these starts at this share of their size.
    """
    found = list(found)
    if not any(map(_in_vain, found)) or no_machine(run):
        return found
    for share in SHARES:
        todo = [i for i, outcome in enumerate(found) if _in_vain(outcome)]
        for i, outcome in zip(todo, again(todo, share) if todo else ()):
            further = found[i].further or found[i].unreal
            found[i] = replace(outcome, share=share, further=further)
    return found


def _in_vain(outcome: Outcome) -> bool:
    """Whether it comes back, on a way that no machine takes."""
    worst = outcome.worst
    away = worst is not None and worst.word in ("growing", "staying") and not worst.lenient
    return bool(outcome.unreal) and not (outcome.gone or outcome.unrest or away)


def nothing_shown(run: Run, outcomes: Sequence[Outcome]) -> str:
    """In words, that a start shows what no machine does, from nearer too; "" where every start shows something.

    Of a run that no machine makes without being disturbed nothing is said here.
    """
    i = next((i for i, outcome in enumerate(outcomes) if _in_vain(outcome)), None)
    if i is None or no_machine(run):
        return ""
    where = f"start {i + 1} of {len(outcomes)}"
    return f"{where}: {outcomes[i].unreal}; so it does from nearer, down to {SHARES[-1]:g} times as far off"


def taken(starts: Sequence[Start], outcomes: Sequence[Outcome]) -> list[Start]:
    """The starts as they were taken in the end."""
    pairs = zip(starts, outcomes)
    return [s if o.share == 1.0 else s.scaled(o.share) for s, o in pairs]


def nearer(outcomes: Sequence[Outcome]) -> tuple[Assumption, ...]:
    """That other starts were taken from nearer, as an assumption that is not known to be enough; () where none was."""
    least = min(outcomes, key=lambda outcome: outcome.share)
    if least.share == 1.0:
        return ()
    text = f"other starts are no further off than {least.share:g} times their size"
    return (Assumption(text, None, worst=f"from further {least.further}"),)
