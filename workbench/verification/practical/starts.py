"""Other starts of a run, with the reference where it was: positions off, a push (rates off), pressures off balance.

An other start displaces all states that can move, each by its own size times a random share, with a random sign. Starts come in
opposite pairs, so that every state is displaced both ways.

    size of a position    `spread` on a machine with joints (rad, m for what slides), else a tenth of what it covered on the
                          nominal run, at least a thousandth of the plant's own scale
    size of a rate        two sizes of its position a second: a push
    size of a pressure    2 % of the plant's pressure scale, else of the largest pressure seen
    others                a tenth of what they covered; those that never moved stay where they are

The memory of a law (filters, integrators, held commands) starts as the law itself starts it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from workbench.contract.capabilities import Posed
from workbench.contract.errors import InputError
from workbench.contract.system import System, names
from workbench.run.scenario import Scenario
from workbench.verification.scales import scales

PAIR = 2  # starts where a few are enough
SPREAD = 0.02  # rad, m of a sliding joint: how far a start is that nobody states
COVERED = 0.1  # share of what a state covered on the nominal run
LEAST = 1e-3  # share of the plant's own scale: what a state is moved by that never moved
PUSH = 2.0  # 1/s: rates are off by so many sizes of their position a second
UNBALANCED = 0.02  # share of the pressure scale
SMALLEST = (0.3, 1.0)  # share of its size by which a state is moved, at least and at most
CLOSER = 0.9  # a start that does not fit is drawn again, so much closer
# Of a start that is too far off for the machine that the equations describe.
SHARES = (0.7, 0.5, 0.35)
INSIDE = 1.001  # a start fits where one that is so much further off does: from the very end of a stroke any swing leaves it
# Sizes where neither run nor plant states any.
UNSCALED = {
    "m": 1e-3,
    "rad": 1e-2,
    "Pa": 1e5,
    "1": 1e-2,
}


@dataclass(frozen=True)
class Start:
    """One other start: how far each state of the plant is from the nominal start, name → amount in its unit."""

    amounts: Mapping[str, float]

    @property
    def words(self) -> str:
        """The largest amounts in words."""
        return ", ".join(f"{name} {amount:+.3g}" for name, amount in self.amounts.items())

    def scaled(self, factor: float) -> Start:
        """The start that is so many times as far off."""
        return Start({name: factor * amount for name, amount in self.amounts.items()})


def positions(plant: System) -> list[str]:
    """States that are positions: the joints a plant names, and every length or angle whose rate is a state, too."""
    units = {s.name: s.unit for s in plant.states}
    joints = [name for name in plant.joint_names or () if name in units]
    paired = [name for name in units if f"d{name}" in units and units[name] in ("m", "rad")]
    return joints + [name for name in paired if name not in joints]


def sizes(run, spread: float) -> dict[str, float]:
    """By how much each state of the plant is moved, name → amount; states that are not moved are left out."""
    plant = run.loop.plant
    own = scales(run.loop.plant)
    units = {s.name: s.unit for s in plant.states}
    places = positions(plant)
    jointed = is_jointed(plant)
    stated = bool(plant.scales())
    found: dict[str, float] = {}
    for name in units:
        scale = own.of_unit(units[name])
        seen = run.log.array(name)
        covered = (
            COVERED * float(np.ptp(seen[np.isfinite(seen)], axis=0))
            if np.isfinite(seen).any()
            else 0.0
        )
        if name in places:
            least = LEAST * scale.value if scale else UNSCALED.get(units[name], 0.0)
            found[name] = spread if jointed else max(covered, least)
        elif name in plant.pressure_names:
            found[name] = unbalanced(run)
        elif not jointed and not (name.startswith("d") and name[1:] in places):
            found[name] = max(covered, 0.0 if stated else UNSCALED.get(units[name], UNSCALED["1"]))
    for name in places:
        if f"d{name}" in units:
            found[f"d{name}"] = PUSH * found[name]
    return {name: size for name, size in found.items() if size > 0}


def unbalanced(run) -> float:
    """By how much a chamber pressure is put off balance, Pa."""
    plant = run.loop.plant
    scale = scales(plant).pressure
    if scale is not None:
        return UNBALANCED * scale.value
    largest = max(
        (float(np.abs(run.log.array(name)).max()) for name in plant.pressure_names), default=0.0
    )
    return UNBALANCED * largest if largest > 0 else UNSCALED["Pa"]


def is_jointed(plant: System) -> bool:
    """Whether it is a machine with joints, whose other starts are off by `spread`."""
    return bool(plant.joint_names) and isinstance(plant, Posed)


def drawn(run, runs: int, spread: float, amounts: Mapping[str, float] | None = None) -> list[Start]:
    """`runs` other starts in opposite pairs, from the scenario's seed. Raises InputError where none fits inside the strokes.

    amounts: `sizes` of another run of this loop.
    """
    own = sizes(run, spread) if amounts is None else amounts
    rng = np.random.default_rng(run.scenario.seed + 1)
    found: list[Start] = []
    while len(found) < runs:
        share = rng.uniform(*SMALLEST, len(own)) * rng.choice((-1.0, 1.0), len(own))
        for sign in (1.0, -1.0):
            amounts = {name: sign * k * size for k, (name, size) in zip(share, own.items())}
            found.append(_fitting(run, Start(amounts)))
    return found[:runs]


def outermost(run, amounts: Mapping[str, float]) -> list[Start]:
    """Two opposite starts at which every state is off by all of its amount, as far as they fit inside the strokes.

    Of chamber pressures every second one is off to the other side: both sides of a piston off alike hardly push it.
    """
    falling = run.loop.plant.pressure_names[1::2]
    way = {name: -size if name in falling else size for name, size in amounts.items()}
    signed = [{name: sign * size for name, size in way.items()} for sign in (1.0, -1.0)]
    return [_fitting(run, Start(amounts)) for amounts in signed]


def displaced(run, amounts: Mapping[str, float]) -> list[Start]:
    """Two opposite starts at which positions alone are off, all of them by all of their amount: nothing moves that could bring them
    back, or past a cycle that lies around rest."""
    own = {name: amount for name, amount in amounts.items() if name in positions(run.loop.plant)}
    return outermost(run, own) if own else []


def _fitting(run, start: Start) -> Start:
    """The start, drawn closer until the machine can stand there."""
    while not stands(run, start.scaled(INSIDE)):
        start = start.scaled(CLOSER)
        if max(map(abs, start.amounts.values())) < 1e-9:
            raise InputError(
                "practical-stability: no other start fits inside the strokes",
                mend="start further from the ends of the strokes",
            )
    return start


def stands(run, start: Start) -> bool:
    """Whether the machine can be at rest in the pose of this start: inside its strokes, and able to carry its weight."""
    plant = run.loop.plant
    if not isinstance(plant, Posed):
        return True
    try:
        plant.check_pose(pose(run, start))
        plant.rest(pose(run, start))
    except ValueError:
        return False
    return True


def pose(run, start: Start) -> tuple[float, ...]:
    """Joint positions of a start, as `Scenario.start` takes them."""
    return tuple(
        float(run.log.array(name)[0]) + start.amounts.get(name, 0.0)
        for name in leading(run.loop.plant)
    )


def leading(plant: System) -> list[str]:
    """The positions that `plant.rest` takes, in its order."""
    joints = plant.joint_names
    if joints:
        return list(joints)
    own = []
    for name in names(plant.states):
        if name not in positions(plant):
            break
        own.append(name)
    return own


def scenario_from(run, start: Start, base: Scenario) -> Scenario:
    """`base` from another start: at rest in its pose where the plant can say what that is, everything else by `offset`."""
    plant = run.loop.plant
    given = dict(base.offset)
    if not isinstance(plant, Posed):
        return replace(base, offset=_added(given, start.amounts))
    q = pose(run, start)
    posed = set(leading(plant))
    amounts = {name: amount for name, amount in start.amounts.items() if name not in posed}
    rest = {name: amount for name, amount in given.items() if name not in posed}
    return replace(base, start=q, offset=_added(rest, amounts))


def _added(one: Mapping[str, float], other: Mapping[str, float]) -> dict[str, float]:
    return {
        name: one.get(name, 0.0) + other.get(name, 0.0) for name in dict.fromkeys((*one, *other))
    }
