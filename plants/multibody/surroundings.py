"""What the surroundings of a machine do to it: motion of the ground it stands on, and a wrench at its tool.

    Z_0 = (V_b, ω_b),  Ż_0 = (A_b, α_b)        twist of the ground's frame about its own origin, and its rate
    g                                          the direction of weight, upwards: it replaces −gravity
    F_D = (f_D, m_D)                           what the tool exerts on its surroundings

All of the ground's are in its own axes; A_b and α_b are the derivatives of V_b and ω_b component by component. F_D acts at the
tool, in the axes of its body. The equations of motion stay those of the mechanism in the ground's axes, where every body's twist
and its rate begin with the ground's. Into the energy of the bodies, counted from the ground's origin, they bring

    P_tip = −Z·F_D,    P_base = Z_0·Σ F* − M g·V_b

with Σ F* the sum of the net wrenches of all bodies, weight included, and of F_D: the wrench of the ground on the machine. The
weight direction turns with the ground; this accounts for the power of the weight except for lifting the origin (M g·V_b).

Source: [Petrovic22] eqs (24)–(34), Definition 4; [Featherstone08] chapter 2 for the rate of a twist.
"""

from __future__ import annotations

from typing import NamedTuple

from plants.components.spatial import ZERO3, add, cross, dot, plus, power, scale, turn
from plants.multibody import required
from plants.multibody.tree import REST, ZERO6, Ground, Motion
from workbench.contract.once import once
from workbench.contract.system import Signal

AXES = "xyz"
GROUND = (
    ("g_", "m/s^2", "weight direction in the ground's frame"),
    ("V_b", "m/s", "velocity of the ground"),
    ("ω_b", "rad/s", "rate of the ground"),
    ("A_b", "m/s^2", "acceleration of the ground"),
    ("α_b", "rad/s^2", "angular acceleration of the ground"),
)
TOOL = (
    ("f_D", "N", "force of the tool on its surroundings"),
    ("m_D", "N m", "moment of the tool on its surroundings"),
)


class Surroundings(NamedTuple):
    """Motion of the ground, gravity in its axes, and the wrench of the tool in the axes of its body, None where there is none."""

    ground: Ground
    gravity: tuple | list
    wrench: tuple | None = None


def _stated(mechanism) -> tuple:
    ground = GROUND if mechanism.moving_ground else ()
    return (*ground, *(TOOL if mechanism.tool_wrench else ()))


def signals(mechanism) -> tuple[Signal, ...]:
    """Inputs of kind "disturbance": of a mechanism with `moving_ground` the rows of GROUND, with `tool_wrench` those of TOOL."""
    return tuple(
        Signal(f"{stem}{axis}", unit, meaning, "disturbance")
        for stem, unit, meaning in _stated(mechanism)
        for axis in AXES
    )


def defaults(mechanism) -> dict[str, float]:
    """The weight direction of a ground at rest."""
    if not mechanism.moving_ground:
        return {}
    return {f"g_{axis}": -value for axis, value in zip(AXES, mechanism.gravity)}


@once
def given(mechanism, u) -> Surroundings:
    """The Surroundings from all inputs u of the plant; those of `signals` are the last of them."""
    stated = _stated(mechanism)
    at = len(u) - 3 * len(stated)
    rows = [list(u[at + 3 * i : at + 3 * i + 3]) for i in range(len(stated))]
    ground = REST
    gravity = mechanism.gravity
    wrench = None
    if mechanism.moving_ground:
        up, V, ω, A, α, *rows = rows
        ground = Ground((V, ω), (A, α))
        gravity = scale(-1.0, up)
    if mechanism.tool_wrench:
        wrench = tuple(rows)
    return Surroundings(ground, gravity, wrench)


def at_tool(mechanism, motion: Motion, wrench):
    """(number of the tool's body, F_D about the origin); None without one."""
    if wrench is None:
        return None
    j = mechanism.number(mechanism.tcp.body)
    f, m = (turn(motion.R[j], part) for part in wrench)
    place = add(motion.r[j], turn(motion.R[j], mechanism.tcp.point))
    return j, (f, add(m, cross(place, f)))


def power_names(mechanism) -> tuple[str, ...]:
    """The causes they are in the energy account."""
    tip = ("tip",) if mechanism.tool_wrench else ()
    return (*tip, "base") if mechanism.moving_ground else tip


def powers(mechanism, around: Surroundings, motion: Motion, rates, pulls) -> list:
    """W by `power_names`."""
    found = []
    if mechanism.tool_wrench:
        j, wrench = at_tool(mechanism, motion, around.wrench)
        found.append(-power(motion.Z[j], wrench))
    if mechanism.moving_ground:
        found.append(_base_power(mechanism, around, motion, rates, pulls))
    return found


def _base_power(mechanism, around: Surroundings, motion: Motion, rates, pulls):
    V, ω = around.ground.Z
    if all(isinstance(v, float) and v == 0.0 for v in (*V, *ω)):
        return 0.0
    own, _ = mechanism.accelerations(motion, rates, pulls, around)
    accelerations = mechanism.all_accelerations(motion, rates, own)
    true = required.swept(mechanism, motion, rates, accelerations, around.ground)
    reaction = ZERO6
    for net in required.net_wrenches(mechanism, motion, true, around.gravity):
        reaction = plus(reaction, net)
    tool = at_tool(mechanism, motion, around.wrench)
    if tool is not None:
        reaction = plus(reaction, tool[1])
    mass = sum(body.mass for body in mechanism.bodies)
    return power(around.ground.Z, reaction) + mass * dot(around.gravity, V)


def at_rest(mechanism) -> Surroundings:
    """Firm ground, and a tool that touches nothing."""
    return Surroundings(REST, mechanism.gravity, (ZERO3, ZERO3) if mechanism.tool_wrench else None)
