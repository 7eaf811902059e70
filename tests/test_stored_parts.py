"""Small parts of the verifier and of laws on inputs made for them: held by a table, see `stored`."""

from dataclasses import MISSING, fields, replace
from types import SimpleNamespace
from typing import get_args

import casadi as ca
import numpy as np
import pytest
from small import Feedback, Linear
from stored import held, members
from test_mpc_claims import GOOD
from test_sector import loop as in_sector

import controllers
import plants
from controllers.pid import PID
from controllers.pid_tuning import ByDiskMargin, ByRelay
from controllers.pid_tuning.oscillation import fundamental, held_fundamental, limit_cycle
from controllers.pid_tuning.relay_law import Relay
from controllers.pid_tuning.rules import gains
from controllers.riccati import riccati
from plants.metered_arm import MotorArm
from plants.multibody import coordinates
from plants.multibody.mechanism import Mechanism
from plants.multibody.parts import Body, Pin
from plants.valve_circuits import Openings, Pump, Section
from tests.linear_systems import random_loop
from workbench import ClosedLoop, Delayed, Sampled, Scenario, Signal
from workbench.verification import cause_wiring, norms
from workbench.verification.binomial import lower, upper
from workbench.verification.claims import Claim
from workbench.verification.limited import unlimited
from workbench.verification.limited_loop import limited
from workbench.verification.linear_loop import point
from workbench.verification.margin_verdicts import _around, _turned
from workbench.verification.saturation import Region
from workbench.verification.sector_search import largest_sector
from workbench.verification.terminal_claims import bears, sees_state


# ---- limits inside a law ----------------------------------------------------------------------------------------------
def bounded() -> list:
    """Minima and maxima of expressions, and which of them are limits."""
    x = ca.SX.sym("x", 2)
    v = 2 * x[0] - x[1]
    clipped = ca.fmin(ca.fmax(v, -1.5), 2.0)
    said = []
    for e in (
        clipped,
        ca.fmax(ca.fmin(v, 2.0), -1.5),
        ca.fmin(ca.fmax(v, 2.0), -1.5),
        ca.fmin(v, 2.0),
        ca.fmax(clipped, -1.5),
        ca.fmax(clipped, -1.0),
        ca.fmin(clipped, 2.0),
        ca.fmin(clipped, 1.0),
        ca.fmin(ca.fmin(v, 2.0), 1.0),
        ca.fmax(v, x[0]),
        ca.fmin(0.3, 0.4 * x[0]) + ca.fmax(x[1], 0.1) * 2,
    ):
        made, limits, which = unlimited(x, e)
        free = [limit.ψ for limit in limits]
        f = ca.Function("f", [x, *free], [made])
        at = [np.array(f([0.7, -0.4], *(0.1 * (k + 1) for k in range(len(free))))).ravel()]
        said.append([at, which, [[limit.low, limit.high] for limit in limits]])
    return said


def limits_of_loops() -> list:
    """Matrices of loops with a limit, at several points."""
    plant = Linear(((0.0, 1.0), (1.3, 0.2)), ((0.0,), (1.7,)), ((1.0, 0.0),), x0=(0.1, 0.0))
    law = PID(plant, K_p=(4.0,), K_i=(2.0,), K_d=(1.5,), feed="none", damping="none", u_max=0.9)
    found = []
    for made in (Sampled(law, 0.02), Delayed(Sampled(law, 0.02), 0.03)):
        loop = ClosedLoop(plant, made)
        found.append(limited(loop, point(plant, {}), [0.0] * len(made.references)))
    return [{k: getattr(f, k) for k in f.__dataclass_fields__} | members(f) for f in found]


# ---- regions, sectors -------------------------------------------------------------------------------------------------
def region(T) -> dict:
    """What a stored region says of itself, of changed ones, and of starts."""
    A, B, K = np.array([[0.0, 1.0], [1.3, 0.2]]), np.array([[0.0], [1.7]]), np.array([[-3.1, -2.2]])
    P = np.array([[9.0, 5.0], [5.0, 6.0]])
    own = Region(A, B, K, np.array([0.9]), None, P, np.array([[-1.7, -1.4]]), np.array([2.0]))
    if T:
        own = replace(own, A=np.eye(2) + T * A, B=T * B, T=T)
    others = {
        "as it is": own,
        "turned": replace(own, P=P + np.array([[0.0, 0.1], [0.0, 0.0]])),
        "no multiplier": replace(own, τ=np.array([0.0])),
        "no limit": replace(own, u_max=np.array([0.0])),
        "not definite": replace(own, P=P - 8 * np.eye(2)),
        "another gain": replace(own, G=0.2 * K),
        "large": replace(own, P=0.5 * P),
        "small": replace(own, P=20 * P),
    }
    return {
        name: [one.check(), *(one.bears(c) for c in (1e-12, 1e-6, 1e-3, 1e-2, 0.1))]
        if name not in ("not definite",)
        else one.check()
        for name, one in others.items()
    } | {
        "form": own._form().floats(),
        "largest": own._largest(np.abs(own.A), np.abs(own.B), np.abs(K)),
        "reach": [own.reach(x) for x in ([1.0, 0.0], [0.2, -0.3], [0.0, 0.0])],
        "holds": [own.holds(x) for x in ([0.3, 0.0], [0.34, 0.0], [0.1, -0.1])],
    }


def sectors() -> list:
    """Largest sectors with few and with many tries, up to a most."""
    return [
        largest_sector(in_sector(1.0), rounds=1)[0],
        largest_sector(in_sector(1.0), rounds=3)[0],
        largest_sector(in_sector(1.0), rounds=6)[0],
        largest_sector(in_sector(9.0), rounds=4)[0],
        largest_sector(in_sector(1.0), most=2.0)[0],
        largest_sector(in_sector(0.5, low=-0.2), rounds=5)[0],
        largest_sector(in_sector(1.0, 0.2, 1.5), "jury-lee", rounds=4)[0],
    ]


def terminal() -> list:
    """What a terminal cost bears."""
    W, c = sees_state(GOOD)
    return [bears(GOOD, W, k * c, δ) for k in (0.7, 1.0, 3.0) for δ in (1e-12, 1e-9, 1e-7, 1e-5)]


def frequencies() -> list:
    """Cuts of the frequency axis and zeros among them."""
    found = []
    for seed in (2, 3, 4, 5, 7):
        loop = random_loop(seed)
        ω = norms.cuts(loop, False)
        found.append([ω, norms.cuts(loop, True), norms.between(ω, loop.top)])
    zeros = [
        norms.crossings(f, np.array([0.5, 1.0, 2.0, 3.0]), 10.0)
        for f in (lambda w: w - 1.0, lambda w: (w - 2.0) ** 2 * 1e-3, lambda w: w - 20.0)
    ]
    return [found, zeros, _around(0.5), _turned(0.3)]


# ---- wires ------------------------------------------------------------------------------------------------------------
def wires() -> dict:
    """Every single fault of wires on the numbers 1, 2, 3 …, and the one fitted to a known residual."""
    measured = [
        Signal(n, u) for n, u in (("a", "m"), ("b", "m"), ("c", "Pa"), ("d", "m"), ("e", "m"))
    ]
    law = SimpleNamespace(measured=measured, commands=[Signal("u", "V"), Signal("v", "V")])
    y, u = [1.0, 2.0, 3.0, 4.0, 5.0], [7.0, 8.0]
    found = {k: [e.words, *e[1:3]] for k, e in enumerate(cause_wiring.edits(law))}
    said: dict = {k: [w, a(y), b(u)] for k, (w, a, b) in found.items()}
    for k, wanted in enumerate(([0.37, 2.0, 3.0, 4.0, 5.0], [1.0, 2.0, 30.5, 4.0, 5.0])):
        off = lambda edit, wanted=wanted: float(
            np.linalg.norm(np.subtract(edit[1](y), wanted))
            + np.linalg.norm(np.subtract(edit[2](u), u))
        )
        best = cause_wiring.fitted(law, off)
        said[f"fitted {k}"] = [best[0], best[1](y), best[2](u)]
    return said


# ---- laws -------------------------------------------------------------------------------------------------------------
def relays() -> dict:
    """A relay's steps, and cycles of known waves."""
    plant = Linear(((0.0,),), ((1.0,),), ((1.0,),))
    law = Relay(Feedback(plant, ((0.5,),)), plant.outputs[0], plant.inputs[0], 0.4, bias=0.1)
    t = np.arange(0.0, 3.0, 2e-3)
    e = np.sin(2 * np.pi * 1.7 * t) + 0.1
    side = np.where(np.sin(2 * np.pi * 1.7 * t + 0.6) > 0, 1.0, -1.0)
    u = 0.3 * side + 0.05
    return {
        "steps": [
            law.step_at(0.01, 0.0, [side], [y], [])
            for side in (-1.0, 1.0)
            for y in (-0.2, 0.0, 0.3)
        ],
        "shown": law.monitor(0.0, [1.0], [0.2], []),
        "cycle": [limit_cycle(t, side, e, u, ε) for ε in (0.0, 0.05, 2.0)],
        "waves": [fundamental(e[:1000], 2), held_fundamental(u[:1000], 2)],
        "rules": [
            gains(3.0, 0.7, rule, structure)
            for rule in ("ziegler-nichols", "tyreus-luyben", "astrom-hagglund")
            for structure in ("PI", "PID")
        ],
    }


def regulators() -> list:
    """Riccati equations with and without cross weights."""
    rng = np.random.default_rng(3)
    A, B = rng.normal(size=(4, 4)), rng.normal(size=(4, 2))
    M = rng.normal(size=(6, 6))
    W = M @ M.T
    return [
        riccati(A, B, W[:4, :4], W[4:, 4:], W[:4, 4:]),
        riccati(A, B, np.diag([1.0, 0.0, 2.0, 0.5]), np.diag([0.1, 3.0])),
        riccati(A, B, np.diag([1.0, 1e-4, 2.0, 0.5]), np.diag([1e-6, 3e4])),
    ]


def tools() -> list:
    """Where a mechanism's tool is: branches, axes up and down, a joint that slides and one that is held."""
    given = {"mass": 1.0, "com": (0.2, 0.05, 0.0), "inertia": (0.1, 0.2, 0.3, 0.0, 0.0, 0.0)}
    up, down, along = (0.0, 0.0, 1.0), (0.0, 0.0, -1.0), (1.0, 0.0, 0.0)
    bodies = (
        Body("a", "ground", "revolute", point=(0.1, 0.2, 0.0), axis=up, **given),
        Body("b", "a", "revolute", point=(0.5, 0.0, 0.0), axis=down, **given),
        Body("c", "b", "prismatic", point=(0.4, 0.1, 0.0), axis=along, **given),
        Body("d", "a", "revolute", point=(0.2, 0.3, 0.0), axis=up, **given),
    )
    found = []
    for body, at in (("c", (0.3, 0.05, 0.0)), ("d", (0.1, 0.0, 0.0)), ("a", (0.2, 0.1, 0.0))):
        own = Mechanism(bodies, tcp=Pin(body, at))
        found.append(
            [coordinates.place(own, q) for q in ([0.3, 0.4, 0.2, -0.5], [1.0, -0.2, 0.1, 0.9])]
        )
    return found


def defaults() -> dict:
    """What a user gets who says nothing: defaults of claims, laws, supplies and components."""
    found = {}
    for kind in (*get_args(Claim), *KINDS):
        own = [f for f in fields(kind) if f.init and f.default is not MISSING]
        found[kind.__name__] = {f.name: f.default for f in own}
    return found


KINDS = (
    *(
        controllers.PID,
        controllers.VDC,
        controllers.MPC,
        controllers.LQR,
        controllers.ForcePosition,
    ),
    *(controllers.Observer, controllers.Limit, ByDiskMargin, ByRelay, Relay),
    *(plants.Valve, plants.Walls, plants.Oil, plants.Cylinder, plants.Motor, plants.Arm, MotorArm),
    *(plants.IEHA, plants.LinearActuator, plants.FourBar, plants.ThrottledCircuit),
    *(plants.LuGre, plants.ModifiedLuGre, plants.BengisuAkay, plants.BrownMcPhee, plants.Stribeck),
    *(plants.SharedPump, plants.InstantPump, plants.ConstantPressure, plants.LoadSensing),
    *(plants.MeteredArms, plants.MeteredTwin, plants.MeteredCrane, plants.Mechanism, Body, Pin),
    *(plants.IEHADrive, plants.MeteredSection, plants.MeteredRod, plants.ServoCylinder),
    *(Pump, Section, Openings, Scenario),
)


def written() -> list:
    """Matrices that a linear system keeps cannot be written over; a horizon may be one sample."""
    loop = random_loop(3)
    return [[M.flags.writeable for M in (loop.A, loop.B, loop.C, loop.D)], replace(GOOD, N=1).N]


CASES = {
    "bounded": bounded,
    "defaults": defaults,
    "written": written,
    "limits of loops": limits_of_loops,
    "region, flow": lambda: region(None),
    "region, samples": lambda: region(0.05),
    "sectors": sectors,
    "terminal": terminal,
    "frequencies": frequencies,
    "wires": wires,
    "relays": relays,
    "regulators": regulators,
    "tools": tools,
    "binomial": lambda: [
        [upper(k, n, α), lower(k, n, α)]
        for k, n in ((0, 10), (3, 20), (20, 20))
        for α in (0.01, 0.1)
    ],
}


def within(case: str) -> float:
    return 1e-7


@pytest.mark.parametrize("case", CASES)
def test_numbers_of_parts_are_those_of_the_table(case):
    held("parts", case, CASES[case], within(case))
