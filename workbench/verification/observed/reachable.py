"""Vacuous claims: a bound that the machine cannot exceed at all would also be met by a law that does nothing.

The largest possible error of the tool, or of the outputs that follow a reference, is compared with what a claim allows:

    D       max_t |wanted(t) − where the machine began|, on a scenario whose reference goes somewhere: the error of one that stays
    size    of the machine: its stroke or angle, and how far its tool was from its base; of a plant that states no scale FAR times
            the largest value that the signals have in the run

A chamber's pressure is limited by its supply and by vacuum, a share of a run by all of it, oil by the volume of the chambers, v by
the energy of the supply in them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from workbench.contract.units import format_quantity as say
from workbench.numerics.overflow import may_overflow
from workbench.run.targets import target_name
from workbench.verification.observed.path import FARTHEST, path_size
from workbench.verification.observed.requirements import error_units, joint_errors, size_of
from workbench.verification.practical.starts import UNSCALED
from workbench.verification.run import Run
from workbench.verification.scales import scales
from workbench.verification.temporal.parser import parse
from workbench.verification.temporal.sentence import understood
from workbench.verification.temporal.signals import columns, table
from workbench.verification.temporal.syntax import looks_ahead, signals_in
from workbench.verification.temporal.unbreakable import unbreakable
from workbench.verification.verdict import Verdict

FAR = 100.0  # times the largest value of a signal that nobody gave a scale
AMPLIFIED = 10.0  # times the supply's pressure: no ratio of areas makes more of it
ATMOSPHERE = 101325.0  # Pa: below zero by this, a gauge shows vacuum
LITTLE = 0.1  # share of the largest way: a joint that moves less, as it must on a path of the tool, may be asked to hold still
MEND = "state a bound that the machine could exceed"


def put_in_reach(claim: Any, verdict: Verdict, run: Run) -> Verdict:
    """The verdict, made undecided where it holds only because its bound is one that this machine cannot exceed."""
    if not verdict.holds or not claim.reach or not run.log.status.completed:
        return verdict
    why = REACHES[claim.reach](claim, run, verdict)
    if not why:
        return verdict
    return verdict.overruled(f"says nothing: {why}; {MEND}", unit="", limit=None, instant=None)


@may_overflow()
def way(run: Run) -> float:
    """D in the unit of the error; 0 where the reference does not leave the place where the machine began."""
    if run.demand.reference is None or not path_size(run.loop, run.scenario) > 0:
        return 0.0
    if run.loop.plant.has_tool and run.demand.reference.space != "output":
        wanted = run.demand.desired_tool(run.log.time)
        if wanted is None or "tcp_x" not in run.log:
            return 0.0
        began = np.array([run.log.array(f"tcp_{a}")[0] for a in "xyz"])
        return float(np.linalg.norm(wanted - began, axis=1).max())
    names = [name for name, order in run.demand.wanted if order == 0]
    off = [run.log.array(target_name(n, 0)) - run.log.array(n)[0] for n in names]
    return float(np.linalg.norm(off, axis=0).max()) if off else 0.0


@may_overflow()
def size(run: Run, unit: str) -> float:
    """The size of the machine in this unit."""
    log = run.log
    own = scales(run.loop.plant).of_unit(unit)
    axes = [log.array(f"tcp_{a}") for a in "xyz" if f"tcp_{a}" in log]
    tool = float(np.linalg.norm(axes, axis=0).max()) if axes and unit == "m" else 0.0
    if own is not None:
        return max(own.value, tool)
    known = [s.name for s in run.loop.plant.outputs if s.unit == unit and s.name in log]
    known += [name for name in joint_errors(run) if log.signal(name).unit == unit]
    seen = max((float(np.abs(log.array(name)).max()) for name in known), default=0.0)
    return FAR * max(seen, tool, UNSCALED.get(unit, UNSCALED["1"]))


def too_wide(run: Run, allowed: float, unit: str) -> str:
    """In words, why an error of the tool, or of outputs, cannot be larger than what is allowed; "" where it can."""
    moved = way(run)
    if 0 < moved <= allowed:
        return f"{say(allowed, unit, 3)} is more than the whole movement, {say(moved, unit, 3)}"
    largest = size(run, unit)
    if allowed >= largest:
        return (
            f"{say(allowed, unit, 3)} is more than the size of the machine, {say(largest, unit, 3)}"
        )
    return ""


def tracking(claim: Any, run: Run, verdict: Verdict) -> str:
    return too_wide(run, size_of(claim, "error", [run.error_unit]), run.error_unit)


def scan(claim: Any, run: Run, verdict: Verdict) -> str:
    """Of the error that a scan of limits still counts as settled."""
    largest = size(run, run.error_unit)
    if claim.error < largest:
        return ""
    own = (say(one, run.error_unit, 3) for one in (claim.error, largest))
    return "an error of {} is more than the size of the machine, {}".format(*own)


def settled(claim: Any, run: Run, verdict: Verdict) -> str:
    """Of the floor of oscillations and of chatter's share."""
    if claim.chatter >= 1:
        return f"chatter of {100 * claim.chatter:.3g} % is more than a command's whole range"
    units = error_units(run.loop)
    if not units:
        return ""
    floor = size_of(claim, "floor", units)
    widest = max(_swing(run, name) for name in joint_errors(run) or ("",))
    if floor < widest:
        return ""
    return f"a swing of {say(floor, units[0], 3)} is more than the machine moves, {say(widest, units[0], 3)}"


def _swing(run: Run, name: str) -> float:
    """The largest value that an error can have: that of a machine which stays where it began, else the machine's size."""
    if not name:
        return float("inf")
    unit = run.log.signal(name).unit
    if run.demand.reference is None or not path_size(run.loop, run.scenario) > 0:
        return size(run, unit)
    value = run.log.array(name)
    moved = float(np.abs(joint_errors(run)[name] + value - value[0]).max())
    return moved or size(run, unit)


def pressures(claim: Any, run: Run, verdict: Verdict) -> str:
    """Of the upper and the lower limit of chambers."""
    plant = run.loop.plant
    vacuum = max(plant.vacua.values(), default=-ATMOSPHERE)
    if claim.low < vacuum:
        return f"no chamber falls below vacuum, and {say(claim.low, 'Pa', 3)} is below it"
    if claim.high is None or plant.p_top is None or claim.high < AMPLIFIED * plant.p_top:
        return ""
    return f"{say(claim.high, 'Pa', 3)} is more than {AMPLIFIED:g} times the supply's {say(plant.p_top, 'Pa', 3)}"


def whole_share(claim: Any, run: Run, verdict: Verdict) -> str:
    """Of a share of the run, of the energy or of the power."""
    return "nothing has a larger share than all" if claim.share >= 1 else ""


def overshoot(claim: Any, run: Run, verdict: Verdict) -> str:
    """Of how far an output goes beyond its way, which the machine's size limits."""
    from workbench.verification.observed.overshoot import each_overshoot

    rooms = []
    for name in each_overshoot(run):
        value = run.log.array(name)
        asked = float(np.ptp(np.append(joint_errors(run)[name] + value, value[0])))
        rooms.append(size(run, run.log.signal(name).unit) / asked)
    if not rooms or claim.share < max(rooms):
        return ""
    return f"the machine's size is {100 * max(rooms):.3g} % of the way that is asked for"


def cavitation(claim: Any, run: Run, verdict: Verdict) -> str:
    """Of the oil that a chamber may draw, and of its lowest pressure."""
    own = scales(run.loop.plant)
    if claim.low < -ATMOSPHERE:
        return f"no chamber falls below vacuum, and {say(claim.low, 'Pa', 3)} is below it"
    if own.energy is None or own.pressure is None:
        return ""
    volume = own.energy.value / own.pressure.value
    if claim.drawn < volume:
        return ""
    return f"{say(claim.drawn, 'm^3', 3)} is more than the chambers hold, {say(volume, 'm^3', 3)}"


def storage(claim: Any, run: Run, verdict: Verdict) -> str:
    """Of the bound on v that a user states."""
    energy = scales(run.loop.plant).energy
    if claim.bound is None or energy is None or claim.bound < energy.value:
        return ""
    return f"{say(claim.bound, 'J', 3)} is more than all oil at full pressure has, {say(energy.value, 'J', 3)}"


def sentence(claim: Any, run: Run, verdict: Verdict) -> str:
    """Of the room that a sentence leaves; of a conjunction, where no part of it asks anything of this machine."""
    parts = verdict.data.get("clauses", ())
    if len(parts) == 1 and verdict.data["clause"]:
        room, unit = verdict.data.get("room") or (parts[0]["margin"], parts[0]["unit"])
        return _room(verdict.data["clause"], run, {"margin": room, "unit": unit})
    why = [_room(part["text"], run, part) for part in parts]
    asking = [part for part, wide in zip(parts, why) if not wide]
    if len(asking) == len(parts) or not all(_true_of_all(part["text"], run) for part in asking):
        return ""
    return next(filter(None, why))


def _true_of_all(text: str, run: Run) -> bool:
    """Whether nothing could make a part of a sentence false."""
    formula = parse(text)
    if not looks_ahead(formula):
        return False
    known = table(run.loop, run.demand)
    return unbreakable(understood(text, known), float(run.log.time[-1]))


def _room(text: str, run: Run, part: Mapping[str, Any]) -> str:
    """Of the room of one part: of an error, or of signals of which the machine states how large is large."""
    margin = part["margin"]
    unit = part["unit"]
    if margin is None:
        return ""
    named = signals_in(parse(text))
    if "tool_error" in named and unit == run.error_unit:
        return too_wide(run, margin, unit)
    moved = max((_way_of(run, name) for name in errors_in(named)), default=0.0)
    if 0 < moved <= margin and LITTLE * _whole_way(run, unit) <= margin:
        return f"{say(margin, unit, 3)} is more than the whole movement, {say(moved, unit, 3)}"
    own = scales(run.loop.plant).of_unit(unit)
    if own is None or margin < FARTHEST * own.value:
        return ""
    room = say(margin, unit, 3)
    return (
        f"the room left, {room}, is {FARTHEST:g} times what is large for the machine ({own.source})"
    )


def errors_in(named: Sequence[str]) -> list[str]:
    """Signals whose errors a sentence names, as e_x or as x beside x_d."""
    own = [name.removeprefix("e_") for name in named if name.startswith("e_")]
    return own + [name for name in named if f"{name}_d" in named]


def _way_of(run: Run, name: str) -> float:
    """The largest error of one signal if it stayed where it began, on the steps of the run; 0 of one without an error."""
    if name not in run.fine.log.names:
        return 0.0
    found = columns(run, [f"e_{name}"])[f"e_{name}"]
    value = run.fine.log.array(name)
    return 0.0 if found is None else float(np.abs(found + value - value[0]).max())


def _whole_way(run: Run, unit: str) -> float:
    """The largest of these, of all signals of this unit that follow something."""
    own = [n for n in joint_errors(run.fine) if run.fine.log.signal(n).unit == unit]
    return max((_way_of(run, name) for name in own), default=0.0)


REACHES: Mapping[str, Any] = {
    "tracking": tracking,
    "scan": scan,
    "settled": settled,
    "pressures": pressures,
    "share": whole_share,
    "overshoot": overshoot,
    "cavitation": cavitation,
    "storage": storage,
    "sentence": sentence,
}
