"""Whether time itself changes, after a run, what the loop does: gains that fade, a mode that is switched on by the clock.

A run shows what a loop does until its end. What depends on time beyond its references and disturbances may be another loop later:

    g(t) = (f(t, x), f(t, x + δ) − f(t, x))      x, w and r held at what they were at an instant of the run

is evaluated at many instants within the run, and at many after it, up to a day and to a thousand times its length. Where a value
leaves the range that it had within the run, nothing that the run showed is said of then: undecided. What repeats (a sine in the
law, a pump seen piston by piston) stays in its range, and so does what ends within the run (a soft start). f is the flow and the
jump of a traced loop, the flow of a plant on floats and the step of a law called from Python (`called_clock`). A plant that
has no flow, an FMU by co-simulation, is run on (`run_on`).

A number that a law counts up sample by sample, whatever it measures, is a clock as well, and is set on together with time. So are
numbers of its memory that run on at the end of its run (`traced_memory`, `called_clock`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.system import names
from workbench.contract.units import format_quantity as say
from workbench.numerics.calculus import Traced, trace
from workbench.verification.practical.run_on import of_run_on
from workbench.verification.practical.starts import SPREAD, sizes
from workbench.verification.run import Run
from workbench.verification.verdict import STABILITY, Verdict

DAY = 86400.0  # s
LENGTHS = 1e3  # of the run: as far as is looked, at least
INSIDE = 400  # instants within the run
LATER = 150  # instants after it
SLACK = 0.05  # of the range within the run: by how much a value may leave it
SAME = 1e-9  # of the largest value: what counts as no change
ROWS = (
    0.05,
    0.5,
    1.0,
)  # instants of the run at which everything else is held, shares of its length
MEND = "run it for as long as that, or keep time and counters out of law and plant"
STEADY = 1e-9  # share by which a clock may stray from a straight line


def stray(
    answer: Callable[[float], np.ndarray],
    length: float,
    what: Sequence[str],
    within: int = INSIDE,
    after: int = LATER,
    least: float = SAME,
) -> str:
    """In words, the first instant after a run of this length (s) at which a value of `answer` leaves its range; "" for none.

    what: whose values these are, again and again where there are more of them. within, after: how many instants are tried.
    least: share of its largest size by which a value may change in any case.
    """
    rng = np.random.default_rng(1)
    inside = np.array([answer(t) for t in (0.0, length, *length * rng.uniform(size=within))])
    low, high = inside.min(axis=0), inside.max(axis=0)
    room = SLACK * (high - low) + least * np.abs(inside).max(axis=0)
    most = max(DAY, LENGTHS * length)
    for t in np.sort(length * np.exp(rng.uniform(0.0, np.log(most / length), after))):
        value = answer(float(t))
        over = np.maximum(value - high, low - value) - room
        over[~np.isfinite(over)] = np.inf
        over[~np.isfinite(inside).all(axis=0)] = -np.inf
        if (over > 0).any():
            who = what[int(np.argmax(over)) % len(what)]
            return f"at t = {say(float(t), 's', 3)} {who} does what it did at no time of the run"
    return ""


def timed(run: Run) -> str:
    """When, and of what, the loop does something that it did at no time of the run, in words; "" where nothing was found."""
    if "timed" not in run.kept:
        run.kept["timed"] = _timed(run)
    return run.kept["timed"]


def _timed(run: Run) -> str:
    if not run.log.status.completed or len(run.log.time) < 2:
        return ""
    if not run.loop.hosted:
        from workbench.verification.practical.traced_memory import of_memory

        return of_traced(run) or of_memory(run)
    from workbench.verification.practical.called_clock import of_called

    return of_plant(run) or of_called(run)


def of_traced(run: Run) -> str:
    """Of a loop that is an expression: its flow and its jumps. One that knows no time, and has no clock, costs nothing."""
    loop = run.loop
    traced = trace(loop, run.demand.live)
    maps = [traced.flow] if loop.period is None else [traced.flow, traced.jump]
    clocks = _clocks(run, maps[-1])
    if not clocks and not any(f.jac_sparsity(0, 0).nnz() for f in maps):
        return ""
    answers = (_traced_answer(run, traced, maps, clocks, row) for row in _rows(run))
    return _first(run, answers, names(loop.states))


def _first(run: Run, answers: Iterable[Callable], what: Sequence[str]) -> str:
    """What `stray` says of the first of these that leaves its range."""
    found = (stray(answer, run.scenario.length(), what) for answer in answers)
    return next(filter(None, found), "")


def _traced_answer(run: Run, traced: Traced, maps: Sequence, clocks: Mapping, row: int) -> Callable:
    """g(t) of a loop that is an expression, everything else as in this row."""
    n = len(run.loop.states)
    x = np.array([run.log.array(s.name)[row] for s in run.loop.states])
    w = run.demand.at(run.log.time[[row]])[0]
    off = moved(run)
    constants = traced.constants(run.loop)
    others = [i for i in range(n) if i not in clocks]

    def at(t: float, x: np.ndarray) -> np.ndarray:
        for i, (begin, rate) in clocks.items():
            x[i] = begin + rate * t
        found = [np.array(f(t, x, w, constants)).ravel()[:n] for f in maps]
        kept = np.zeros((len(maps), n))
        kept[:, others] = np.array(found)[:, others]
        return kept.ravel()

    def answer(t: float) -> np.ndarray:
        here = at(t, x.copy())
        return np.concatenate([here, at(t, x + off) - here])

    return answer


def _clocks(run: Run, step) -> dict[int, tuple[float, float]]:
    """States of the law that run on whatever is measured: place → (value at t = 0, rate in 1/s)."""
    first = len(run.loop.plant.states)
    on_states = np.array(step.jac_sparsity(0, 1)) != 0
    on_inputs = np.array(step.jac_sparsity(0, 2)) != 0
    found = {}
    for i, signal in enumerate(run.loop.controller.states, first):
        others = np.delete(on_states[i], i)
        if not others.any() and not on_inputs[i].any():
            line = straight(run.log.time, run.log.array(signal.name))
            found |= {i: line} if line else {}
    return found


def straight(time: np.ndarray, values: np.ndarray) -> tuple[float, float] | None:
    """(value at t = 0, rate) of what runs on along a straight line; None of anything else, or of what stands."""
    rate = (values[-1] - values[0]) / (time[-1] - time[0])
    line = values[0] + rate * (time - time[0])
    apart = np.abs(values - line).max()
    if rate == 0 or not apart <= STEADY * np.abs(values).max():
        return None
    return float(values[0] - rate * time[0]), float(rate)


def of_plant(run: Run) -> str:
    """Of a plant beside a law called from Python: its flow, where it has one."""
    try:
        return _first(
            run, (_plant_answer(run, row) for row in _rows(run)), names(run.loop.plant.states)
        )
    except InputError:  # no flow that could be asked
        return of_run_on(run)


def _plant_answer(run: Run, row: int) -> Callable:
    """g(t) of the plant, its commands as in this row."""
    plant = run.loop.plant
    x = np.array([run.log.array(s.name)[row] for s in plant.states])
    commanded = {c: float(run.log.array(c)[row]) for c in names(run.loop.controller.commands)}
    given = {**plant.defaults(), **commanded}
    u = [float(given.get(s.name, 0.0)) for s in plant.inputs]
    off = moved(run)[: len(x)]

    def answer(t: float) -> np.ndarray:
        here = np.array(plant.rhs(t, list(x), u), float)
        return np.concatenate([here, np.array(plant.rhs(t, list(x + off), u), float) - here])

    return answer


def moved(run: Run) -> np.ndarray:
    """By how much every state is off in f(t, x + δ): as other starts have it; what the law keeps stays."""
    amounts = sizes(run, SPREAD)
    return np.array([amounts.get(s.name, 0.0) for s in run.loop.states])


def _rows(run: Run) -> Iterable[int]:
    """Rows of the log at which everything but time is held."""
    last = len(run.log.time) - 1
    return dict.fromkeys(round(share * last) for share in ROWS)


def beyond_the_run(run: Run, verdicts: Sequence[Verdict]) -> list[Verdict]:
    """The verdicts; what holds about stability is undecided where time itself changes, after the run, what the loop does."""
    if not any(_speaks(v) for v in verdicts):
        return list(verdicts)
    found = timed(run)
    if not found:
        return list(verdicts)
    why = f"time itself may change the loop: {found}; {MEND}"
    return [_open(v, why) if _speaks(v) else v for v in verdicts]


def _speaks(v: Verdict) -> bool:
    return v.counted and v.holds is True and v.key in STABILITY


def _open(v: Verdict, why: str) -> Verdict:
    return replace(v, holds=None, strength=None, margin=None, worst=f"{why}; was: {v.worst}")
