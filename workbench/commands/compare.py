"""Cases side by side: what each loop's run and verdicts say, in one table; and again with the machine changed under them.

    tracking error, rms    of the tool (or the outputs) after settling
    settled                no limit cycle, no chatter
    sample time up to      the largest at which the practical claims still hold, where that was asked
    gain, phase            smallest margins of the linearised loop, one valve at a time, where it has them
    at its limit           largest share of time a command is saturated
    energy                 what went through the pump and out
    a sample takes         median time of the law on this machine: compiled code with the measurement, or a call from Python
    claims                 counted ones that hold, are violated, are undecided

Nothing is decided here: verdicts are those of `verify`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np

from workbench.cases.edit import changed
from workbench.contract.closed_loop import ClosedLoop
from workbench.contract.errors import InputError
from workbench.contract.own_laws import BESIDE_A_STEP, Stepped
from workbench.contract.parameters import leaves
from workbench.contract.plain import Plain
from workbench.contract.system import innermost, rewrapped
from workbench.numerics.mapped import Mapped
from workbench.run.provenance import described
from workbench.verification.judge import examine
from workbench.verification.observed.at_rest import comes_to_rest
from workbench.verification.observed.response import swings
from workbench.verification.run import Run, no_machine, run, run_many
from workbench.verification.run_claims import Tracking
from workbench.verification.verdict import Verdict, conjunction, exit_code

TIMED = 2.0  # s of a run whose samples are timed
FLOOR, CHATTER = 1e-4, 0.05  # as `run_claims.Settled`


@dataclass(frozen=True, eq=False)
class Under:
    """One run: largest and rms error after settling, whether it settled (None: it cannot be told), how it ended."""

    error: float
    rms: float
    settled: bool | None
    words: str
    unit: str = "m"


@dataclass(frozen=True, eq=False)
class Entry:
    """One case: its numbers (None where it has none), its verdicts, its errors over time, and the runs with changes."""

    label: str
    law: str
    period: float | None
    nominal: Under
    sample_time: float | None
    gain: float | None
    phase: float | None
    saturated: float | None
    energy: float | None
    seconds: float | None
    verdicts: tuple[Verdict, ...]
    time: np.ndarray
    errors: np.ndarray
    also: tuple[Under, ...] = ()

    @property
    def counts(self) -> tuple[int, int, int]:
        """Counted claims that hold, are violated, are undecided."""
        words = [v.word for v in self.verdicts if v.counted]
        return words.count("holds"), words.count("violated"), words.count("undecided")

    @property
    def exit_code(self) -> int:
        return exit_code(self.verdicts)


@dataclass(frozen=True, eq=False)
class Comparison:
    """The entries, the changes they were run under as well, and in words what is not alike about the cases."""

    entries: tuple[Entry, ...]
    changes: tuple[Mapping[str, Any], ...] = ()
    notes: tuple[str, ...] = ()


def compare(
    cases: Sequence,
    also: Sequence[Mapping[str, Any]] = (),
    progress: Callable[[float, str], None] | None = None,
) -> Comparison:
    """Verify every case (`workbench.load`), then run it with each change of `also` made to its plant, not to its law's model.

    Raises InputError for fewer than two cases, and for a change that a plant does not know.
    """
    if len(cases) < 2:
        raise InputError(
            f"compare: {len(cases)} case, expected two or more", mend="name another case file"
        )
    labels = _labels(cases)
    tell = progress or (lambda fraction, what="": None)
    for case in cases:
        for change in also:
            changed(case.plant, change)
    entries = []
    for i, case in enumerate(cases):
        part = lambda fraction, what="", i=i: tell(
            (i + fraction) / len(cases), f"{labels[i]}: {what}" if what else ""
        )
        with case.located():
            entries.append(_entry(labels[i], case, also, part))
    return Comparison(tuple(entries), tuple(also), tuple(_unlike(labels, cases)))


def _labels(cases) -> list[str]:
    """Laws where they tell the cases apart, else file names."""
    laws = [law_of(case.loop) for case in cases]
    files = [os.path.basename(case.path) or case.name for case in cases]
    names = laws if len(set(laws)) == len(laws) else files
    return [name if names.count(name) == 1 else f"{name} {i + 1}" for i, name in enumerate(names)]


def law_of(loop) -> str:
    """Name of the law inside all wrappers."""
    law = innermost(loop.controller)
    return type(law.law if isinstance(law, Plain) else law).__name__


def _least(told: Mapping[str, Mapping], margin: str) -> float | None:
    """The least margin of this name over the loops of a linear claim; told: key of a verdict → its data."""
    for key in ("linear-stability", "linear"):
        if margins := told.get(key, {}).get("margins"):
            return min(
                (one[margin] for one in margins if one.get(margin) is not None), default=None
            )
    return None


def _entry(label: str, case, also, tell) -> Entry:
    found = examine(
        case.loop, case.scenario, case.claims, lambda fraction, what="": tell(0.8 * fraction, what)
    )
    told = {verdict.key: verdict.data for verdict in found.verdicts}
    settle = next((c.settle for c in case.claims if isinstance(c, Tracking)), Tracking().settle)
    law = case.loop.controller
    jobs = [(ClosedLoop(changed(case.plant, change), law), case.scenario) for change in also]
    if jobs:
        tell(0.8, "changed")
    others = run_many(jobs, lambda r: under(r, settle))
    errors = found.run.tool_error
    energy = found.run.energy
    shares = told.get("saturation", {}).get("shares", {})
    return Entry(
        label=label,
        law=law_of(case.loop),
        period=case.loop.period,
        nominal=under(found.run, settle),
        sample_time=told.get("sample-time-limit", {}).get("good"),
        gain=_least(told, "gain_up"),
        phase=_least(told, "phase"),
        saturated=max(shares.values(), default=None),
        energy=None if energy is None else energy.through,
        seconds=seconds(case.loop, case.scenario),
        verdicts=tuple(found.verdicts),
        time=found.log.time,
        errors=np.full(len(found.log.time), np.nan) if errors is None else errors,
        also=tuple(others),
    )


def under(r: Run, settle: float) -> Under:
    """What a run did."""
    unit = "m"
    if not r.log.status.completed:
        return Under(np.inf, np.inf, False, r.log.status.message, unit)
    e = r.tool_error
    t = r.log.time
    if e is None or t[-1] <= settle:
        why = (
            "nothing to follow"
            if e is None
            else f"shorter than the {settle:g} s allowed for settling"
        )
        return Under(np.nan, np.nan, None, why, unit)
    part = r.settled(settle)
    if why := no_machine(r):
        return Under(float(e[part].max()), _rms(e[part]), False, why, unit)
    own = swings(r, FLOOR, CHATTER)
    words = own.words(CHATTER)
    brief = "" if comes_to_rest(r) else own.seen.brief
    unsure = own.open or bool(brief)
    settles = conjunction([not words, None if unsure else True])
    return Under(float(e[part].max()), _rms(e[part]), settles, words or brief, unit)


def _rms(e) -> float:
    return float(np.sqrt(np.mean(np.square(e))))


def _unlike(labels, cases) -> list[str]:
    """What besides the controller differs between the cases: then they are not alike."""
    first = cases[0]
    found = []
    numbers = {leaf.path: leaf.value for leaf in leaves(first.plant)}
    for label, case in zip(labels[1:], cases[1:]):
        own = {leaf.path: leaf.value for leaf in leaves(case.plant)}
        paths = [path for path in {**numbers, **own} if numbers.get(path) != own.get(path)]
        if type(case.plant) is not type(first.plant) or own.keys() != numbers.keys():
            found.append(f"{label} runs another machine than {labels[0]}")
        elif paths:
            more = f" and {len(paths) - 3} more" if len(paths) > 3 else ""
            found.append(
                f"{label}: the machine differs from that of {labels[0]} in {', '.join(paths[:3])}{more}"
            )
        mine = described(case.scenario)
        other = described(first.scenario)
        if mine != other:
            keys = ", ".join(k for k in mine if mine[k] != other.get(k))
            found.append(f"{label}: the scenario differs from that of {labels[0]} in {keys}")
    return found


# ---- computing time ---------------------------------------------------------------------------------------------------
class _Timed:
    """A law that is called from Python, with a clock around it."""

    def __init__(self, law):
        self.law, self.times = law, []
        # What a law can do is looked up on the object itself: Python 3.12 asks no __getattr__ for it.
        offered = {name: getattr(law, name) for name in BESIDE_A_STEP if hasattr(law, name)}
        vars(self).update(offered)

    def __getattr__(self, name):
        return getattr(self.__dict__["law"], name)

    def __deepcopy__(self, memo):
        return self

    def step(self, *arguments):
        begun = perf_counter()
        try:
            return self.law.step(*arguments)
        finally:
            self.times.append(perf_counter() - begun)


def seconds(loop, scenario) -> float | None:
    """Median time of a sample's law, s; None for a continuous loop, a law without `step`, a plant on floats."""
    if loop.period is None:
        return None
    short = replace(
        scenario, duration=min(scenario.length(), max(TIMED, 20 * loop.period)), log_period=None
    )
    law = innermost(loop.controller)
    if isinstance(law, Plain):
        if not isinstance(law.law, Stepped):
            return None
        clock = _Timed(law.law)
        run(ClosedLoop(loop.plant, rewrapped(loop.controller, replace(law, law=clock))), short)
        return float(np.median(clock.times))
    if loop.plant.on_floats:  # there is no graph of the loop
        return None
    r = run(loop, short)
    from workbench.numerics.calculus import trace

    traced = trace(loop, r.demand.live)
    jump = Mapped(traced.jump)
    c = np.ascontiguousarray(traced.constants(loop))
    at = r.log.time[:, None]
    w = r.demand.at(r.log.time)
    x = np.column_stack([r.log.array(s.name) for s in loop.states])
    jump(at, x, w, c)
    times = []
    for _ in range(5):
        begun = perf_counter()
        jump(at, x, w, c)
        times.append((perf_counter() - begun) / len(at))
    return float(np.median(times))
