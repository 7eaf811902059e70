"""The runs of practical stability: the undisturbed one made longer, those from other starts, and what each of them showed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from workbench.contract.capabilities import ends
from workbench.contract.system import innermost, names
from workbench.run.reference import Waypoints
from workbench.verification.ledger.balance import has_ledger
from workbench.verification.linear.modes import Modes
from workbench.verification.observed.path import ON_PATH, path_size
from workbench.verification.observed.response import swings
from workbench.verification.practical.nearer import from_nearer
from workbench.verification.practical.returning import (
    Judged,
    Return,
    distances,
    judged,
    returns,
    thinned,
    worst_of,
)
from workbench.verification.practical.starts import (
    SPREAD,
    Start,
    drawn,
    is_jointed,
    positions,
    scenario_from,
    sizes,
)
from workbench.verification.practical.switches.margins import Extent
from workbench.verification.practical.switches.of_run import extent_of
from workbench.verification.run import Run, no_machine, run_many
from workbench.verification.run import run as simulated
from workbench.verification.scales import scales, signal_floor

# rad or m: oscillation smaller than this does not end a scan, on a machine of any size.
FLOOR = 1e-3
HARDLY = 0.01  # share of `spread`: joints that move less than that while oil settles have shown no motion
CHATTER = 0.05  # share of the range used: commands that chatter less do not end a scan
# Share of a path's size, and of the machine's own: the smallest oscillation that ends a scan on a plant without a tool.
SMALL = 0.1 * ON_PATH


def longer(scenario, duration: float | None = None):
    """The scenario over `duration` (twice its own by default): the path walked again where it closes, else held at its end."""
    reference = scenario.reference
    wanted = 2 * scenario.length() if duration is None else duration
    if not isinstance(reference, Waypoints) or reference.points[0] != reference.points[-1]:
        return replace(scenario, duration=wanted)
    dwell = reference.dwell
    lap = reference.duration + dwell
    laps = max(1, math.ceil(wanted * (1 - 1e-9) / lap))
    return replace(
        scenario,
        reference=replace(reference, repeat=laps * reference.repeat),
        duration=wanted + dwell,
    )


def walking(run: Run, settle: float) -> Run:
    """A run that still follows the path after settling: this run, or one that lasts longer where most of the path comes before.

    What is left of v while a machine rests bounds nothing that happens while it moves.
    """
    again = longer(run.scenario)
    lap = ends(run.scenario.reference)
    if (
        again.reference is run.scenario.reference
        or settle <= lap / 2
        or not run.log.status.completed
    ):
        return run
    return undisturbed(run, 2 * run.scenario.length())


def undisturbed(run: Run, duration: float) -> Run:
    """The run over `duration` under the reference it had; a run that lasts long enough is not simulated again."""
    if duration <= run.scenario.length() and run.log.status.completed:
        reference = run.demand.reference or run.scenario.reference
        return replace(run, scenario=replace(run.scenario, reference=reference, duration=duration))
    if duration not in run.kept:
        scenario = replace(run.scenario, reference=run.demand.reference or run.scenario.reference)
        wanted = longer(scenario, duration)
        run.kept[duration] = simulated(run.loop, wanted)
    return run.kept[duration]


def longest(run: Run) -> Run:
    """The undisturbed run that lasts longest, of those that were made."""
    made = [one for key, one in run.kept.items() if isinstance(key, int | float)]
    done = [one for one in made if one.log.status.completed]
    return max((run, *done), key=lambda one: one.log.time[-1])


def lasting(run: Run, settle: float) -> Run:
    """The run; where it ends within the time allowed for settling, a run over twice that time."""
    if run.log.time[-1] > settle or not run.log.status.completed:
        return run
    return undisturbed(run, 2 * settle)


def stands_still(run: Run) -> bool:
    """True for a run with a law on which no position leaves its resolution: what it shows is no motion."""
    places = [name for name in positions(run.loop.plant) if name in run.log] or names(
        run.loop.plant.outputs
    )
    return all(
        float(np.ptp(run.log.array(name))) <= _resolution(run, name)
        for name in places
        if name in run.log
    )


def _resolution(run: Run, name: str) -> float:
    """By how much a signal may move and still show nothing: rounding, and on joints HARDLY what another start would be off."""
    plant = run.loop.plant
    least = HARDLY * SPREAD if is_jointed(plant) else 0.0
    return max(signal_floor(plant, name), 1e-9 * float(np.abs(run.log.array(name)).max()), least)


def stirred(run: Run) -> Run:
    """The run, or where it stands still, one from another start and twice as long."""
    open_ = innermost(run.loop.controller).open
    if open_ or not run.log.status.completed or not stands_still(run):
        return run
    if "stirred" not in run.kept:
        (start,) = drawn(run, 1, SPREAD)
        scenario = replace(run.scenario, reference=run.demand.reference or run.scenario.reference)
        wanted = scenario_from(run, start, longer(scenario))
        run.kept["stirred"] = simulated(run.loop, wanted)
    return run.kept["stirred"]


@dataclass(frozen=True, eq=False)
class Outcome:
    """What one disturbed run showed.

    v, t, cause   largest settled v (J), when, and its largest term; NaN for a law without an accompanying function
    gone          why the run ended early or left a stroke; empty when it did not
    followed      False where the integrator or the equations ended, not the loop
    unreal        why no machine does what the run shows (vacuum, a change point), in words; "" where one may
    share         of its start that the run began with, and `further` what was unreal of the whole one (see `nearer`)
    unrest        the sustained oscillation it ends in, in words
    found         how each signal came back
    apart         name of a signal → (t, distance), thinned for drawing: the largest value of each short interval
    compared      what the switches of its law compared; None of a law without
    """

    v: float
    t: float
    cause: str
    gone: str
    unrest: str
    found: tuple[Return, ...]
    apart: Mapping[str, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)
    followed: bool = True
    compared: Extent | None = None
    unreal: str = ""
    share: float = 1.0
    further: str = ""

    @property
    def worst(self) -> Return | None:
        """The return that decides."""
        return worst_of(list(self.found))


def observe(run: Run, nominal: Run, signals: Sequence[Judged], settle: float) -> Outcome:
    """What a disturbed run showed beside the undisturbed one."""
    if run.end:
        return Outcome(
            math.inf,
            run.log.status.t_end,
            run.end,
            run.end,
            "",
            (),
            followed=run.log.status.followed,
            compared=extent_of(run),
        )
    v, t, cause = settled_storage(run, settle) if has_ledger(run.loop) else (math.nan, math.nan, "")
    apart = {name: thinned(run.log.time, d) for name, d in distances(run, nominal, signals).items()}
    back = tuple(returns(run, nominal, signals))
    return Outcome(
        v, t, cause, "", restless(run), back, apart, compared=extent_of(run), unreal=no_machine(run)
    )


def settled_storage(run: Run, settle: float) -> tuple[float, float, str]:
    """(largest v after settling, its time, largest cause there); inf for a run that diverged or left a stroke."""
    if not run.log.status.completed:
        return math.inf, run.log.status.t_end, run.log.status.message
    if run.left[1]:
        return math.inf, *run.left
    t, v = run.storage
    first = int(np.searchsorted(t, min(settle, 0.9 * t[-1])))
    k = first + int(np.argmax(np.where(np.isfinite(v[first:]), v[first:], math.inf)))
    if not math.isfinite(v[k]):
        return math.inf, float(t[k]), f"v is not finite at t = {t[k]:.3f} s"
    own = {(s, c, name): d[0] for (s, c, name), d in run.at(k).perturbations.items()}
    s, c, name = max(own, key=lambda key: own[key])
    return float(v[k]), float(t[k]), f"structure {s}, {name} term of {c}"


def restless(run: Run) -> str:
    """The sustained oscillation or chatter in the settled half of a run, in words; empty where there is none.

    Where it cannot be told from what time drives nothing is said: no other start can be had, and so no return is seen either.
    """
    return swings(run, floor_of(run), CHATTER).words(CHATTER)


def floor_of(run: Run) -> float:
    """Amplitude of an error below which it is no oscillation, in its unit: a millimetre, of a small machine a share of its path.

    A machine with a tool is judged in lengths of its tool. Where nothing moves, and the plant states no size, it is FLOOR.
    """
    plant = run.loop.plant
    if plant.has_tool:
        return FLOOR
    own = scales(plant).of_unit(run.error_unit)
    sizes_known = (path_size(run.loop, run.scenario), 0.0 if own is None else own.value)
    return min([FLOOR, *(SMALL * size for size in sizes_known if size > 0)])


def disturbed(
    claim,
    run: Run,
    starts: list[Start],
    allowed,
    modes: Modes,
    tick,
    amounts: Mapping[str, float] | None = None,
) -> tuple[list[Outcome], float]:
    """(what every disturbed run showed, its duration): lengthened until nothing is on its way, or the limit is reached.

    amounts: by how much states are moved, where these are not the `sizes` of this run.
    """
    slowest = modes.slowest.settles if modes.slowest else 0.0
    twice = 2 * run.scenario.length()
    first = claim.duration or twice
    most = max(first, claim.longest)
    duration = max(first, min(slowest, most))
    signals = judged(run, sizes(run, claim.spread) if amounts is None else amounts, allowed)
    todo = list(range(len(starts)))
    found = [None] * len(starts)
    while True:
        nominal = undisturbed(run, duration)
        look = partial(observe, nominal=nominal, signals=signals, settle=claim.settle)

        def shown(which, share, base=nominal.scenario, look=look, tick=None):
            some = [starts[i] if share == 1.0 else starts[i].scaled(share) for i in which]
            return run_many([(run.loop, scenario_from(run, s, base)) for s in some], look, tick)

        for i, one in zip(todo, shown(todo, 1.0, tick=tick)):
            found[i] = one
        todo = [i for i in todo if _wants_longer(found[i])]
        if not todo or duration >= most:
            return from_nearer(run, found, shown), duration
        duration = min(2 * duration, most)


def _wants_longer(outcome: Outcome) -> bool:
    """True where something is not back yet, and a longer run could show that it comes."""
    worst = outcome.worst
    return worst is not None and worst.word in ("returning", "staying") and not worst.lenient
