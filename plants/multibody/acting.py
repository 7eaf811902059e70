"""Actuators at work: lengths, rates and forces, and what they do to the bodies."""

from __future__ import annotations

from math import inf
from typing import NamedTuple

from plants.components.scalars import plain_sum
from plants.drives.contract import Line
from plants.multibody import loops
from plants.multibody.tree import Motion
from workbench.contract.machine_limits import Limit, command_limits, span_limits
from workbench.contract.system import names
from workbench.numerics.adaptive import Adaptive


class Pull(NamedTuple):
    """An actuator at one state of the machine: length s, rate ṡ, force F; x, u: its drive's states and inputs.

    wrench: of a unit force along its line, None for an actuator on a joint. line: pressures of its supply, None without one.
    """

    s: object
    rate: object
    force: object
    x: list
    u: list
    wrench: tuple | None
    line: Line | None = None

    @property
    def at(self) -> tuple:
        """Arguments of its drive's methods: states, length, rate, inputs, line."""
        return self.x, self.s, self.rate, self.u, self.line


def shared_out(mechanism, y) -> list[list]:
    """The states y of all drives and the supply as one list for each drive, and last one for the supply."""
    return dealt(y, [len(a.drive.states(a.name)) for a in mechanism.actuators])


def dealt(values, counts: list[int]) -> list[list]:
    """`values` cut into pieces of these lengths, in order, and a last piece with the rest."""
    parts = []
    at = 0
    for many in counts:
        parts.append(list(values[at : at + many]))
        at += many
    return [*parts, list(values[at:])]


def takers(mechanism, pulls: list[Pull]) -> list[tuple]:
    """(drive, its actuator at work) of all drives that take oil from the supply."""
    return [(a.drive, p) for a, p in zip(mechanism.actuators, pulls) if a.drive.needs_supply]


def on_supply(mechanism, pulls: list[Pull], own, u) -> tuple:
    """What a supply needs: its own states, the drives that take its oil, its own inputs."""
    first = sum(len(p.u) for p in pulls)
    after = first + len(mechanism.supply.inputs())
    return own[-1], takers(mechanism, pulls), list(u[first:after])


def rates(mechanism, pulls: list[Pull], own, u) -> list:
    """Rates of the states of all drives, then of the supply."""
    found = [r for a, p in zip(mechanism.actuators, pulls) for r in a.drive.rates(*p.at)]
    if mechanism.supply is not None:
        found += mechanism.supply.rates(*on_supply(mechanism, pulls, own, u))
    return found


def shown(mechanism, pulls: list[Pull], own, u) -> list:
    """What drives and supply log, as `signals.of_parts`."""
    found = []
    for a, p in zip(mechanism.actuators, pulls):
        found += a.drive.shown(*p.at)
        if a.drive.needs_supply:
            found.append(a.drive.flow(*p.at))
    if mechanism.supply is not None:
        found += mechanism.supply.shown(*on_supply(mechanism, pulls, own, u))
    return found


def powers(mechanism, pulls: list[Pull], own, u) -> list:
    """W of the drives, then of the supply."""
    found = [w for a, p in zip(mechanism.actuators, pulls) for w in a.drive.powers(*p.at)]
    if mechanism.supply is not None:
        found += mechanism.supply.powers(*on_supply(mechanism, pulls, own, u))
    return found


def velocity_gains(mechanism) -> tuple[float, ...]:
    """Velocity per unit of command without load, of each actuator that takes one; empty where a command is no velocity."""
    line = mechanism.line_unloaded
    commanded = [a for a in mechanism.actuators if a.drive.inputs(a.name)]
    gains = [a.drive.velocity_gain_on(line) for a in commanded]
    return () if None in gains else tuple(map(float, gains))


def constant_line(mechanism) -> Line | None:
    """Pressures of the supply, where they are numbers and all chambers are fed by it; else None."""
    fed = all(a.drive.needs_supply for a in mechanism.actuators if a.drive.pressures(a.name))
    supply = mechanism.supply
    if supply is None or supply.states() or supply.settles or not fed:
        return None
    return supply.most


def highest_line(mechanism) -> Line | None:
    """Highest pressures of the supply, where they limit all chambers; else None.

    They do not where a chamber is not fed by the supply, where a drive states limits of its own chambers, or where pressures are
    counted from the return line (p_r = 0).
    """
    supply = mechanism.supply
    chambered = [a.drive for a in mechanism.actuators if a.drive.pressures(a.name)]
    if supply is None or any(not d.needs_supply or d.pressure_limits for d in chambered):
        return None
    return supply.most if float(supply.most.p_r) > 0.0 else None


def pressure_limits(mechanism) -> tuple:
    """(lowest, highest) pressure that all drives with chambers allow, Pa; empty where one of them states none."""
    own = [a.drive.pressure_limits for a in mechanism.actuators if a.drive.pressures(a.name)]
    if not own or () in own:
        return ()
    return min(low for low, _ in own), max(high for _, high in own)


def spans(actuators) -> dict[str, tuple[float, float]]:
    """(least, largest) of the logged s_…, of actuators where either is known."""
    return {f"s_{a.name}": a.span for a in actuators if a.span != (-inf, inf)}


def limits(mechanism) -> dict[str, tuple[float, float]]:
    """Range of the inputs of drives and supply that have one."""
    drives = [a.drive.limits(a.name) for a in mechanism.actuators]
    own = {} if mechanism.supply is None else mechanism.supply.limits()
    return {name: ends for given in (*drives, own) for name, ends in given.items()}


def machine_limits(mechanism) -> tuple[Limit, ...]:
    """Flow of the pump; what actuators can span, their chambers, spools and commands."""
    found = []
    if mechanism.supply is not None:
        found += mechanism.supply.machine_limits(mechanism.flow_names)
    found += span_limits(mechanism)
    for a in mechanism.actuators:
        found += a.drive.machine_limits(a.name, f"actuators.{a.name}.drive")
    return (*found, *command_limits(mechanism))


STEP_ERRORS = {
    "Pa": 0.1,
    "V": 1e-7,
    "V/s": 1e-4,
    "m": 1e-9,
    "rad": 1e-9,
    "m/s": 2e-8,
    "rad/s": 2e-8,
}


def adaptive(mechanism) -> Adaptive | None:
    """Settings of the adaptive integrator, from the drives' `step_errors`; None where no drive states any.

    States of other parts have the error of STEP_ERRORS by their unit. Steps end on a drive's edges, or at its pulses, only
    where a single drive has some.
    """
    asked = {}
    for a in mechanism.actuators:
        own = names(a.drive.states(a.name))
        asked |= dict(zip(own, a.drive.step_errors(a.name)))
    if not asked:
        return None
    errors = tuple(asked.get(s.name, STEP_ERRORS.get(s.unit, 1e-9)) for s in mechanism.states)
    pulses = {a.drive.pulse for a in mechanism.actuators} - {0.0}
    period = pulses.pop() if len(pulses) == 1 else 0.0
    edges = [a.drive.edges(a.name) for a in mechanism.actuators]
    edges = [edge for edge in edges if edge[0]]
    if len(edges) != 1:
        return Adaptive(errors, period)
    ((watched, values),) = edges
    return Adaptive(errors, period, watched, values)


def joint_at(mechanism, actuator) -> tuple[int, int]:
    """Which position and which rate are those of the joint an actuator is on."""
    j = mechanism.number(actuator.joint)
    return mechanism.tree.z[j][0], mechanism.tree.v[j][0]


def pulls(mechanism, motion: Motion, z, rates, own, u) -> list[Pull]:
    """What every actuator does, with its states `own` and all inputs u; None: lengths and rates only."""
    found = [length(mechanism, motion, z, rates, a) for a in mechanism.actuators]
    if own is None:
        return found
    asked = list(zip(mechanism.actuators, found, own, given_to(mechanism, u)))
    lines = [None] * len(found)
    if mechanism.supply is not None:
        each = [(a.drive, x, p.s, p.rate, w) for a, p, x, w in asked]
        lines = mechanism.supply.lines(own[-1], each)
    return [
        p._replace(force=a.drive.force(x, p.s, p.rate, w, line), x=x, u=w, line=line)
        for (a, p, x, w), line in zip(asked, lines)
    ]


def given_to(mechanism, u) -> list[list]:
    """The inputs of every drive, out of all inputs in order."""
    *parts, _ = dealt(u, [len(a.drive.inputs(a.name)) for a in mechanism.actuators])
    return parts


def length(mechanism, motion: Motion, z, rates, a) -> Pull:
    """Length and rate of an actuator and its line of action, without its drive's force."""
    if a.joint:
        i, j = joint_at(mechanism, a)
        return Pull(z[i], rates[j], None, [], [], None)
    s, rate, wrench = loops.line_of(
        motion, mechanism.number(a.a.body), a.a, mechanism.number(a.b.body), a.b
    )
    return Pull(s, rate, None, [], [], wrench)


def applied(mechanism, pulls: list[Pull], forces) -> tuple[list, list]:
    """(wrench on every body, force on every joint) of these forces of the actuators."""
    wrenches = [None] * len(mechanism.bodies)
    own = [0.0] * mechanism.tree.n_v
    for a, pull, F in zip(mechanism.actuators, pulls, forces):
        if pull.wrench is None:
            i = joint_at(mechanism, a)[1]
            own[i] = plain_sum(own[i], F)
            continue
        on_b = tuple([F * e for e in part] for part in pull.wrench)
        loops.loaded(wrenches, mechanism.number(a.b.body), on_b)
        loops.loaded(wrenches, mechanism.number(a.a.body), loops.opposite(on_b))
    return wrenches, own
