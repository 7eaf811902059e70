"""Whether a disturbed run comes back to the undisturbed one under the same reference, signal by signal, and how fast.

Both runs have the same reference and the same noise, so their difference is the loop's response to the disturbance alone: it
decays, stays (a neutral direction, a limit cycle of another phase) or grows. The largest distance in the first half of the run is
compared with that in each of the last three sixths:

    back        at most BACK of the first half's largest, or within the tolerance and at most HALF of it
    returning   not back, and smaller from sixth to sixth, in all by FALLING
    growing     larger in the last sixth than GROWING times two sixths before, and above the tolerance
                (a pressure: larger than ever before)
    staying     anything else

A chamber pressure that stays is no violation: the common mode of a cylinder's pressures is neutral at rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from workbench.contract.system import names
from workbench.run.targets import parse
from workbench.verification.practical.meters import meters
from workbench.verification.practical.starts import positions, unbalanced
from workbench.verification.scales import signal_floor

BACK = 0.1
HALF = 0.5
FALLING = 0.95
GROWING = 1.5
TOLERANCE = 0.25  # share of the size of the disturbance: what a position may stay away by
FREE = 0.02  # rad, m or 1: size of the disturbance of a joint whose positions are no states of their own
ROUNDING = 1e-9  # share of the largest value of a signal: distances below are those of rounding


@dataclass(frozen=True)
class Judged:
    """A signal whose return is judged: its columns in the log, tolerance, and whether it is a pressure."""

    name: str
    columns: tuple[str, ...]
    unit: str
    tolerance: float
    pressure: bool = False


@dataclass(frozen=True)
class Return:
    """How one signal of one disturbed run came back.

    largest   of the first half, in the signal's unit;  last: of the last sixth
    after     time (s) from which it stayed within BACK of the largest, or within the tolerance; inf when it did not
    rate      1/s at which it fell, from its largest value to where it came back; 0 where it did not
    """

    signal: Judged
    word: str
    largest: float
    last: float
    after: float
    rate: float
    moved: bool

    @property
    def lenient(self) -> bool:
        """True for a pressure that does not grow."""
        return self.signal.pressure and self.word != "growing"


def judged(run, sizes: Mapping[str, float], allowed: float | None) -> list[Judged]:
    """Signals whose return is asked: the tool, what follows a reference, every state that is moved, every chamber pressure.

    States that only count (`meters`) are not.

    allowed: tolerance of the tool, or of the outputs that follow a reference; None where none is known.
    """
    plant = run.loop.plant
    log = run.log
    units = {s.name: s.unit for s in (*plant.outputs, *plant.states)}
    found = {}
    if "tcp_x" in log:
        axes = tuple(name for name in ("tcp_x", "tcp_y", "tcp_z") if name in log)
        found["tool"] = Judged("tool", axes, "m", allowed or 0.0)
    for name in followed(run):
        if name in log:
            found[name] = Judged(name, (name,), units.get(name, "1"), allowed or 0.0)
    counting = meters(run.loop)
    for name in (*positions(plant), *sizes):
        rate = name[1:] in units and name.startswith("d")
        elsewhere = name in found or name in plant.pressure_names or name in counting
        if elsewhere or rate or name not in log:
            continue
        found[name] = Judged(name, (name,), units.get(name, "1"), TOLERANCE * sizes.get(name, 0.0))
    for joint in plant.free_joints(names(run.loop.controller.commands)):
        columns = tuple(s.name for s in joint.positions)
        if columns[0] not in found and columns[0] in log:
            found[columns[0]] = Judged(joint.name, columns, joint.unit, TOLERANCE * FREE)
    for name in plant.pressure_names:
        if name in log:
            found[name] = Judged(name, (name,), "Pa", unbalanced(run), pressure=True)
    return list(found.values())


def followed(run) -> list[str]:
    """Outputs or joints a reference of the loop refers to, position itself, without those of a machine's tool."""
    asked = [s.name for s in run.loop.inputs if s.kind == "reference" and "@" not in s.name]
    return list(dict.fromkeys(name for name, order in map(parse, asked) if order == 0))


def distances(run, nominal, signals) -> dict[str, np.ndarray]:
    """|disturbed − nominal| of every judged signal at the instants both logs have, name → (N,)."""
    count = min(len(run.log.time), len(nominal.log.time))
    found = {}
    for signal in signals:
        apart = [run.log.array(c)[:count] - nominal.log.array(c)[:count] for c in signal.columns]
        found[signal.name] = np.sqrt(sum(a * a for a in apart))
    return found


def returns(run, nominal, signals) -> list[Return]:
    """How every judged signal of a disturbed run came back."""
    apart = distances(run, nominal, signals)
    time = run.log.time
    return [
        _returned(
            signal, time[: len(apart[signal.name])], apart[signal.name], _least(nominal, signal)
        )
        for signal in signals
    ]


def thinned(
    time: np.ndarray, apart: np.ndarray, intervals: int = 300
) -> tuple[np.ndarray, np.ndarray]:
    """(t, largest distance) of each of at most `intervals` equal stretches of time."""
    size = max(1, len(apart) // intervals)
    whole = len(apart) // size * size
    return time[:whole].reshape(-1, size)[:, 0], apart[:whole].reshape(-1, size).max(axis=1)


def _least(nominal, signal: Judged) -> float:
    """Distance below which a signal has not moved."""
    plant = nominal.loop.plant
    rounding = max(ROUNDING * float(np.abs(nominal.log.array(c)).max()) for c in signal.columns)
    return max(rounding, *(signal_floor(plant, c) for c in signal.columns))


def _returned(signal: Judged, time: np.ndarray, apart: np.ndarray, least: float) -> Return:
    half = len(apart) // 2
    largest = float(apart[:half].max())
    sixths = [float(part.max()) for part in np.array_split(apart[half:], 3)]
    first, middle, last = sixths
    enough = max(BACK * largest, min(signal.tolerance, HALF * largest), least)
    moved = max(largest, *sixths) > least
    if not np.isfinite(apart).all():
        word = "growing"
    elif last <= enough:
        word = "back"
    elif last > GROWING * first and last > max(
        signal.tolerance, least, largest if signal.pressure else 0.0
    ):
        word = "growing"
    elif first > middle > last and last < FALLING * first:
        word = "returning"
    else:
        word = "staying"
    after, rate = _fall(time, apart, enough, largest) if word == "back" else (np.inf, 0.0)
    return Return(signal, word, largest, last, after, rate, moved)


def _fall(
    time: np.ndarray, apart: np.ndarray, enough: float, largest: float
) -> tuple[float, float]:
    """(time from which the distance stays below `enough`, rate of the fall from its largest value until then)."""
    above = np.flatnonzero(apart > enough)
    if not len(above):
        return 0.0, np.inf
    end = float(time[above[-1]])
    begin = float(time[int(apart.argmax())])
    if end <= begin or largest <= enough:
        return end, np.inf
    return end, float(np.log(largest / enough) / (end - begin))


ORDER = {"growing": 3, "staying": 2, "returning": 1, "back": 0}


def severity(one: Return | None) -> tuple[float, float]:
    """How much a return speaks against the loop: what grows, then what stays, then what is on its way, then the slowest.

    A pressure that does not grow comes last; no return at all (nothing left its resolution) after that.
    """
    if one is None:
        return (-2.0, 0.0)
    if one.lenient:
        return (-1.0, one.last)
    return (ORDER[one.word], one.after if one.word == "back" else _share_left(one))


def _share_left(one: Return) -> float:
    """What is left of the largest distance of the first half; inf of a signal that only moved later."""
    return one.last / one.largest if one.largest > 0 else np.inf


def worst_of(found: list[Return]) -> Return | None:
    """The return that decides; None where no signal left its resolution."""
    return max((one for one in found if one.moved), key=severity, default=None)


def curves(outcomes) -> list[dict]:
    """What the report draws of other starts: every signal with its distances, start by start; the most telling signals first."""
    named = {r.signal.name: r.signal for o in outcomes for r in o.found if r.moved}
    worst = {
        name: max(severity(r) for o in outcomes for r in o.found if r.signal.name == name)
        for name in named
    }
    first = next(iter(named), None)
    order = sorted(
        named,
        key=lambda name: (name != first, named[name].pressure, tuple(-k for k in worst[name])),
    )
    found = []
    for name in order:
        own = [
            {"t": o.apart[name][0], "distance": o.apart[name][1], "word": r.word}
            for o in outcomes
            for r in o.found
            if r.signal.name == name
        ]
        signal = named[name]
        found.append(
            {"signal": name, "unit": signal.unit, "tolerance": signal.tolerance, "curves": own}
        )
    return found
