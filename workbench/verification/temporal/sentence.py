"""A sentence read against the signals of a run, and what the run says to it.

    read(text, table)               → Sentence, once every name and unit fits
    Sentence.on(time, columns, …)   → Answer: holds, margin, the clause and the instant that decide

The margin of a sentence whose comparisons have one unit is its robustness in that unit. Where they differ, every comparison is
divided by a scale of its own and the margin is a share: the number on its constant side (5 mm of `x < 5 mm`), else the machine's
own scale of the unit, else one unit. A positive factor changes no sign, so the answer is the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from workbench.contract.units import format_quantity as say
from workbench.verification.temporal import syntax as S
from workbench.verification.temporal.contradiction import check_contradiction
from workbench.verification.temporal.deciding import deciding
from workbench.verification.temporal.parser import parse
from workbench.verification.temporal.put_to import by_first_sample, untested
from workbench.verification.temporal.refusal import refusal
from workbench.verification.temporal.robustness import Bounds, Monitor, decided
from workbench.verification.temporal.terms import Units, constant, margin, unit_of, value
from workbench.verification.temporal.windows import Instants

_LONG = re.compile(  # a number, and no part of a name; with its unit where that is plain SI
    r"(?<![\w.`])(\d+\.\d{5,}(?:e[+-]?\d+)?)(?: (Pa|rad|m|N|J|W)(?![\w/^*.]))?"
)


def _short(number: re.Match[str]) -> str:
    value = float(number[1])
    return say(value, number[2], 6) if number[2] else f"{value:.6g}"


Columns = Mapping[str, np.ndarray]
Scale = Callable[[str], float]  # unit → what is large in it


@dataclass(frozen=True, eq=False)
class Clause:
    """One part of a conjunction: its text, its answer, and its margin in `unit` ("1": a share, where units are mixed)."""

    text: str
    holds: bool | None
    margin: float | None
    unit: str


@dataclass(frozen=True, eq=False)
class Answer:
    """What a run says to a sentence.

    holds     true, false, or None where what comes after the run may change it
    margin    robustness at the start, in `unit`; None where it is undecided. unit "1" with `mixed`: a share of each scale
    clause    words of the comparison that decides, at `time` [s], sample `sample`, where its sides are `left` and `right`
    slopes    signal → change of the margin with it, at that instant
    series    robustness asked at every sample: bounds low ≤ ρ ≤ up (N,)
    curve     margin of the deciding comparison at every sample (N,), its opposite where `not` turns it
    room      margin of the comparison that decides in its own unit, and that unit; None where none decides
    idle      words of every condition of an `implies`, and of all parts of what is ruled out, where they are false at every sample
    never     words of what is ruled out beside something that came true, and is false at every sample
    blind     words of what looks back at intervals that hold no sample, wherever it is asked
    """

    holds: bool | None
    margin: float | None
    unit: str
    mixed: bool
    clause: str
    sample: int | None
    time: float | None
    words: str
    slopes: Mapping[str, float]
    clauses: tuple[Clause, ...]
    series: Bounds
    curve: np.ndarray | None = None
    room: tuple[float, str] | None = None
    idle: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    blind: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Sentence:
    """A sentence whose names and units fit; `units` of its comparisons, by their place in it.

    text: as it was written, plain numbers with the unit that they take, so that everybody reads what is asked.
    """

    text: str
    formula: S.Formula
    units: Mapping[S.Span, str]

    @property
    def shown(self) -> str:
        """The sentence for people: a number of more than six digits has six, in the unit that people use."""
        return _LONG.sub(_short, self.text)

    @property
    def line(self) -> str:
        """The sentence on one line."""
        return " ".join(self.text.split())

    @property
    def names(self) -> list[str]:
        """Signals that it names, each once."""
        return S.signals_in(self.formula)

    @property
    def mixed(self) -> bool:
        """Whether its comparisons differ in unit."""
        return len(set(self.units.values())) > 1

    @property
    def until(self) -> float:
        """The instant [s] from the start of the run up to which it looks."""
        return _reach(self.formula)

    def on(
        self, time: np.ndarray, columns: Columns, complete: bool = True, scale: Scale | None = None
    ) -> Answer:
        """What samples at `time` (N,) say; `complete` where nothing comes after them.

        Raises ValueError, with the comparison, where a margin is not a number.
        """
        margins = {c: self._margin(c, time, columns) for c in S.comparisons(self.formula)}
        scales = {c: self._scale(c, scale) if self.mixed else 1.0 for c in margins}
        monitor = Monitor(Instants(time, complete), {c: m / scales[c] for c, m in margins.items()})
        bounds = monitor.bounds(self.formula)
        holds = decided(monitor, self.formula, bounds)
        upper = holds is False or not np.isfinite(bounds.low[0])
        at = deciding(monitor, self.formula, upper)
        known = float((bounds.up if upper else bounds.low)[0])
        number = known if holds is not None and np.isfinite(known) else None
        unit = "1" if self.mixed else next(iter(self.units.values()))
        clauses = tuple(self._clauses(monitor, margins)) or (
            Clause(self.piece(self.formula), holds, number, unit),
        )
        answer = Answer(
            holds=holds,
            margin=number,
            unit=unit,
            mixed=self.mixed,
            clause="",
            sample=None,
            time=None,
            words="",
            slopes={},
            clauses=clauses,
            series=bounds,
        )
        idle, never, blind = map(tuple, untested(monitor, self.formula, self.piece))
        answer = replace(answer, idle=idle, never=never, blind=blind)
        if at is None:
            return answer
        c = at.comparison
        k = at.sample
        turned = -1.0 if known == -monitor.margins[c][k] != 0 else 1.0
        return replace(
            answer,
            curve=turned * monitor.margins[c],
            room=(abs(float(margins[c][k])), self.units[c.span]),
            clause=self.piece(c),
            sample=k,
            time=float(time[k]),
            words=self._values(c, columns, k),
            slopes={n: s / scales[c] for n, s in slopes(c, columns, k).items()},
        )

    def by_first_sample(self, time: np.ndarray, columns: Columns) -> bool:
        """Whether it is true by what the first sample shows, whatever the signals do later."""
        margins = {c: self._margin(c, time, columns) for c in S.comparisons(self.formula)}
        return by_first_sample(Monitor(Instants(time), margins), self.formula)

    def piece(self, part: S.Part) -> str:
        """The words that a part was read from."""
        return " ".join(self.text[part.span[0] : part.span[1]].split())

    def _margin(self, c: S.Comparison, time: np.ndarray, columns: Columns) -> np.ndarray:
        found = np.broadcast_to(np.asarray(margin(c, columns), float), time.shape)
        bad = np.flatnonzero(~np.isfinite(found))
        if len(bad):
            raise ValueError(f"{self.piece(c)} is not a number at t = {time[bad[0]]:.6g} s")
        return found

    def _scale(self, c: S.Comparison, scale: Scale | None) -> float:
        """What the margin of a comparison is a share of, where units are mixed."""
        for side in (c.right, c.left):
            number = constant(side)
            if number:
                return abs(number)
        return (scale(self.units[c.span]) if scale else 0.0) or 1.0

    def _values(self, c: S.Comparison, columns: Columns, k: int) -> str:
        """The sides of a comparison at a sample, those with signals: 'tool_error = 4.2 mm'."""
        at = {name: column[k] for name, column in columns.items()}
        unit = self.units[c.span]
        sides = [side for side in (c.left, c.right) if constant(side) is None]
        return ", ".join(f"{self.piece(s)} = {say(float(value(s, at)), unit, 3)}" for s in sides)

    def _clauses(self, monitor: Monitor, margins: Mapping) -> Iterator[Clause]:
        """Every part of a conjunction, each with a margin in its own unit where it has one; nothing of another formula."""
        plain = Monitor(monitor.instants, margins, monitor._windows)
        parts = list(self._split(self.formula))
        for text, part in parts if len(parts) > 1 else ():
            units = {self.units[c.span] for c in S.comparisons(part)}
            own = plain if len(units) == 1 else monitor
            bounds = own.bounds(part)
            holds = decided(own, part, bounds)
            number = float(bounds.up[0] if holds is False else bounds.low[0])
            unit = units.pop() if len(units) == 1 else "1"
            yield Clause(text, holds, number if np.isfinite(number) else None, unit)

    def _split(self, formula: S.Formula) -> Iterator[tuple[str, S.Formula]]:
        """(words, formula) of what must all be true: `always (a and b)` is `always a` and `always b`."""
        if isinstance(formula, S.Junction) and formula.kind == "and":
            for part in formula.parts:
                yield from self._split(part)
        elif isinstance(formula, S.Timed) and formula.every:
            head = " ".join(self.text[formula.span[0] : formula.part.span[0]].rstrip(" (").split())
            for text, part in self._split(formula.part):
                yield f"{head} ({text})", replace(formula, part=part)
        else:
            yield self.piece(formula), formula


def read(text: str, table: Mapping[str, str]) -> Sentence:
    """The sentence, its names and units those of `table`, signal → unit.

    Raises InputError with the column, also for bounds that contradict each other.
    """
    sentence = understood(text, table)
    check_contradiction(text, sentence.formula)
    return sentence


def understood(text: str, table: Mapping[str, str]) -> Sentence:
    """The sentence as `read` gives it, also where its bounds contradict each other."""
    units = Units(text, table)
    formula = units.formula(parse(text))
    if units.plain:  # people read the units that their numbers were given
        return understood(units.whole, table)
    _check_instants(text, formula)
    plain = {c.span: unit_of(c, units) for c in S.comparisons(formula)}
    return Sentence(text, formula, plain)


def _check_instants(text: str, formula: S.Formula) -> None:
    """InputError for a formula that says something of one instant of the run alone, its first or its last."""
    what = "this says something of the {} instant of the run alone"
    if not S.looks_ahead(formula):
        mend = "write always (…) for the whole run, or always[2 s, end] (…)"
        raise refusal(text, 1, what.format("first"), mend)
    if S.at_last_alone(formula):
        mend = "end an interval, as in eventually[0 s, 5 s] (always (…)) or always[0 s, 6 s] (eventually[0 s, 2 s] (…))"
        raise refusal(text, 1, what.format("last"), mend)


def slopes(c: S.Comparison, columns: Columns, k: int) -> dict[str, float]:
    """|∂margin/∂signal| of every signal of a comparison at a sample, by a central difference."""
    names = list(dict.fromkeys([*S.names_in(c.left), *S.names_in(c.right)]))
    at = {name: float(columns[name][k]) for name in names}
    found = {}
    for name in names:
        step = 1e-6 * max(abs(at[name]), 1e-3)
        ends = [float(margin(c, {**at, name: at[name] + side * step})) for side in (-1, 1)]
        slope = abs(ends[1] - ends[0]) / (2 * step)
        found[name] = slope if np.isfinite(slope) else 0.0
    return found


def _reach(formula: S.Formula) -> float:
    """How far after the instant at which it is asked a formula looks, s."""
    inner = max((_reach(part) for part in S.parts_of(formula)), default=0.0)
    if not isinstance(formula, S.Timed | S.Until) or formula.past:
        return inner
    interval = formula.interval
    return inner + (interval.end if np.isfinite(interval.end) else interval.begin)
