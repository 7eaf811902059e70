"""The modes of a loop along one of its runs: where the run starts, where it ends, and on the way.

`frozen_time` says where a run is looked at, `modes` what a mode is and when it grows.
"""

from __future__ import annotations

from dataclasses import replace

from workbench.contract.errors import InputError
from workbench.verification.linear.called_law import Unread
from workbench.verification.linear.frozen_time import HostedPoints, TracedPoints
from workbench.verification.linear.modes import Modes, Place, least_growth
from workbench.verification.run import Run

SAME = 3  # looks that have the same modes, where time does not matter to them
ALIKE = 1e-4  # share of a mode: by how much those may differ


def slowest_and_unstable(run: Run) -> Modes:
    """Modes of the loop at the start, at the end, at a few points on the way, and set in motion.

    Noise and rounding of measured signals are left out, since they have no derivative. What cannot
    be linearised is in `reasons`; nothing is raised.
    """
    said = lambda why: f"{why.message}; {why.mend}" if isinstance(why, Unread) else ""
    points = HostedPoints(run) if run.loop.hosted else TracedPoints(run)
    places: list[Place] = []
    reasons = []
    unread = ""

    def take(looks) -> None:
        nonlocal unread
        for look in looks:
            try:
                places.extend(look())
            except InputError as why:
                reasons.append(why.message)
                unread = said(why) or unread

    try:
        looks = list(points.looks())
    except InputError as why:
        return Modes((), (why.message,), said(why))
    take(looks)
    places = seen_again(places, float(run.log.time[-1]))
    if places and not any(place.lasts for place in places):
        take([points.come_to_rest])
    return Modes(tuple(places), tuple(dict.fromkeys(reasons)), "" if places else unread)


def seen_again(places: list[Place], length: float) -> list[Place]:
    """The places of a run of this length (s); of one that never rests those whose modes are the same at SAME of them count as
    those at rest do: a linear plant inside its limits, which starts away from its equilibrium."""
    if any(place.rests for place in places):
        return places
    made = []
    for place in places:
        alike = sum(_alike(place, other, least_growth(length)) for other in places)
        if alike >= SAME:
            modes = (replace(m, bound=max(m.rounding, least_growth(length))) for m in place.modes)
            place = replace(place, again=True, modes=tuple(modes))
        made.append(place)
    return made


def _alike(one: Place, other: Place, least: float) -> bool:
    """Whether two places have the same modes, to ALIKE of each and to what is neutral."""
    if len(one.modes) != len(other.modes):
        return False
    near = (min(abs(m.s - k.s) - ALIKE * abs(m.s) for k in other.modes) for m in one.modes)
    return max(near, default=0.0) <= least
