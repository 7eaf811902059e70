"""Loops on which the verifier is tested: cranes with every kind of valve, friction, oil, law and signal path."""

from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from oracles.random_machines import random_base, random_body, random_machine, random_pose

from controllers.vdc import VDC
from controllers.vdc.body_gain import BodyGain
from plants import CoulombViscous, LuGre, Oil, Stribeck, Walls, machine
from workbench import ClosedLoop, Delayed, Filtered, Noisy, Quantised, Sampled, Waypoints
from workbench.contract.system import innermost
from workbench.contract.wrappers.around import Around
from workbench.numerics.mapped import Mapped
from workbench.run.targets import target_name
from workbench.verification.ledger.balance import LedgerFunction

FULL = machine("hiab-xs031").plant
REAL = FULL.locked(extension=0.5)  # two joints, spools of second order


def swapped(plant, change):
    """The machine with `change(cylinder)` in place of every cylinder."""

    def swap(segment):
        return segment and replace(segment, cylinder=change(segment.cylinder))

    return replace(
        plant,
        structures=tuple(
            replace(s, revolute=swap(s.revolute), prismatic=swap(s.prismatic))
            for s in plant.structures
        ),
    )


def every(plant, **fields):
    """The machine with fields of all its cylinders exchanged."""
    return swapped(plant, lambda c: replace(c, **fields))


def valves(plant, **fields):
    """The machine with fields of all its valves exchanged."""
    return swapped(plant, lambda c: replace(c, valve=replace(c.valve, **fields)))


CRANE = replace(valves(REAL, lag="ideal"), pressures=None)  # starts at rest, in equilibrium
START = tuple(map(float, CRANE.initial()[:2]))
PATH = Waypoints("joint", (START, (START[0] + 0.15, START[1] - 0.2), START), 1.0)
LUGRE = LuGre(F_c=2900.0, F_s=4300.0, v_s=0.031, b=2100.0, σ_0=0.9e7, σ_1=3.8e4)
STRIBECK = Stribeck(F_c=2900.0, F_s=4400.0, v_s=0.03, b=1900.0)


def sampled(plant, law=None, T_s=1e-3, **options):
    """Plant and VDC at T_s; without `law` the controller knows the plant."""
    return ClosedLoop(plant, Sampled(law or VDC(model=plant, **options), T_s))


def continuous(plant, law=None, **options):
    """Plant and the continuous law."""
    return ClosedLoop(plant, law or VDC(model=plant, **options))


def noisy(law):
    """Filters, noise and an encoder around a law, sampled."""
    seen = Filtered(Noisy(law, σ=2e4, signals=("p",)), 90.0, signals=("p",))
    return Sampled(Quantised(seen, 3e-4, signals=("q",)), 2e-3)


@final
@dataclass(frozen=True, eq=False)
class Reversed(Around):
    """Ports of all valves swapped."""

    inner: Any

    def command(self, t, z, y, r):
        return [-u for u in self.inner.command(t, z, y, r)]

    def step_at(self, T_s, t, z, y, r):
        memory, u = self.inner.step_at(T_s, t, z, y, r)
        return memory, [-v for v in u]


def random_loop(seed, n, **how):
    """A random machine of n structures, its law told of another payload."""
    rng = np.random.default_rng(seed)
    m = every(random_machine(rng, n, **how), V_a0=2e-4, V_b0=3e-4, c_i=2e-13, c_e=1e-13)
    law = VDC(
        model=replace(m, payload=random_body(rng, 70.0)), K_I=41.0, κ=7.0, k_x=(5e-3,), βk_f=(90.0,)
    )
    return sampled(m, law)


def own_gains(plant):
    """A law with a gain of its own, not symmetric, on one body."""
    A = np.random.default_rng(5).normal(size=(6, 6))
    K = 300 * (A @ A.T / 6 + np.eye(6)) + 200 * (A - A.T)
    return VDC(model=plant, K_I=55.0, gains=(BodyGain("tilt.B1", tuple(map(float, K.ravel()))),))


def heavier(plant, share=1.1):
    """The machine with wrong arm masses."""
    return replace(
        plant,
        structures=tuple(
            replace(
                s,
                revolute=replace(
                    s.revolute, arm=replace(s.revolute.arm, mass=share * s.revolute.arm.mass)
                ),
            )
            for s in plant.structures
        ),
    )


BASE = tuple(f"{q}{a}" for q in ("g_", "V_b", "ω_b", "A_b", "α_b") for a in "xyz")
TIP = tuple(f"{q}{a}" for q in ("f_D", "m_D") for a in "xyz")
LOADED = replace(CRANE, payload=random_body(np.random.default_rng(8), 180.0, 0.3))
LEAKY = every(CRANE, c_i=4e-13, c_e=2e-13)
AIRY = replace(CRANE, oil=Oil(β=1.1e9, air=0.011))
WALLS = Walls(B_h=0.7e9, V_ha=2e-4, V_hb=2e-4, B_c=210e9)
RUBBED = every(CRANE, friction=LUGRE)

CASES = {  # name → (loop, disturbances)
    "ideal valve, continuous law": (continuous(CRANE), ()),
    "1 kHz hold": (sampled(CRANE), ()),
    "first-order valve, slew limit": (
        sampled(valves(CRANE, lag="first", frequency=37.0, slew=80.0)),
        (),
    ),
    "second-order valve": (sampled(REAL), ()),
    "dead band in valve and model": (sampled(valves(CRANE, dead_band=0.4)), ()),
    "dead band the model lacks": (sampled(valves(CRANE, dead_band=0.4), VDC(model=CRANE)), ()),
    "saturation at 0.5 V": (sampled(valves(CRANE, u_max=0.5)), ()),
    "Coulomb and viscous friction": (
        sampled(every(CRANE, friction=CoulombViscous(3900.0, 2800.0))),
        (),
    ),
    "Stribeck friction": (sampled(every(CRANE, friction=STRIBECK)), ()),
    "LuGre friction": (sampled(RUBBED), ()),
    "LuGre friction, the model Coulomb": (sampled(RUBBED, VDC(model=CRANE)), ()),
    "LuGre friction in the model only": (sampled(CRANE, VDC(model=RUBBED)), ()),
    "LuGre friction, other bristles in the model": (
        sampled(RUBBED, VDC(model=every(CRANE, friction=replace(LUGRE, σ_0=0.7e7)))),
        (),
    ),
    "leakage and dead volumes": (sampled(every(LEAKY, V_a0=3e-4, V_b0=2e-4)), ()),
    "hoses and tube in series": (sampled(every(LEAKY, walls=WALLS)), ()),
    "hoses the model lacks": (sampled(every(CRANE, walls=WALLS), VDC(model=CRANE)), ()),
    "leakage the model lacks": (sampled(LEAKY, VDC(model=CRANE)), ()),
    "air in the oil": (sampled(AIRY), ()),
    "air and stiffness the model lacks": (sampled(AIRY, VDC(model=CRANE)), ()),
    "payload the model lacks": (sampled(LOADED, VDC(model=CRANE)), ()),
    "payload in the model only": (sampled(CRANE, VDC(model=LOADED)), ()),
    "masses wrong by a tenth": (sampled(CRANE, VDC(model=heavier(CRANE))), ()),
    "moving base": (sampled(CRANE), BASE),
    "tip wrench": (sampled(LOADED), TIP),
    "fractional delay": (ClosedLoop(CRANE, Delayed(Sampled(VDC(model=CRANE), 1e-3), 1.7e-3)), ()),
    "filters, noise, quantiser": (ClosedLoop(REAL, noisy(VDC(model=CRANE))), ()),
    "piston space, full crane": (
        sampled(FULL, space="piston", λ=(8.0, 7.0, 6.0), k_x=(6e-3, 5e-3, 4e-3)),
        (),
    ),
    "cartesian space, full crane": (continuous(FULL, space="cartesian"), ()),
    "derivative along the desired motion": (sampled(CRANE, derivative="desired"), ()),
    "dirty derivative": (sampled(CRANE, derivative="dirty"), ()),
    "filtered difference": (sampled(CRANE, derivative="difference"), ()),
    "no derivative": (sampled(CRANE, derivative="zero"), ()),
    "dirty derivative, continuous": (continuous(CRANE, derivative="dirty"), ()),
    "gains of the bodies' own": (sampled(CRANE, own_gains(CRANE)), ()),
    "random machine, 1 structure, sliding": (random_loop(1, 1, prismatic=(True,)), BASE + TIP),
    "random machine, 2 structures": (random_loop(2, 2, prismatic=(False, True)), BASE + TIP),
    "random machine, 3 structures": (
        random_loop(4, 3, prismatic=(True, False, False), payload=210.0),
        BASE + TIP,
    ),
}

SPREAD = {
    "dq_": 0.5,
    "dx_": 0.2,
    "u_": 3.0,
    "du_": 40.0,
    "z_": 3e-4,
    "f_pr": 4e4,
    "df_pr": 4e4,
    "dp_": 1e7,
}


def random_states(loop, disturbances, n, seed=17):
    """(t, x, w, live) of a loop at random: any pose and speed, pressures anywhere, references near the pose."""
    rng, plant = np.random.default_rng(seed), loop.plant
    live = tuple(s.name for s in loop.inputs if s.kind != "disturbance" or s.name in disturbances)
    x, w = np.zeros((n, len(loop.states))), np.zeros((n, len(live)))
    for k in range(n):
        q = np.array(_pose(rng, plant))
        x[k] = [_state(rng, s.name, q, plant) for s in loop.states]
        given = dict(_wanted(rng, loop, q)) | dict(
            zip(
                BASE + TIP,
                [*_base(rng, plant), *rng.normal(size=3) * 2e3, *rng.normal(size=3) * 7e2],
            )
        )
        w[k] = [given.get(name, rng.normal()) for name in live]
    return np.zeros(n), x, w, live


def _pose(rng, plant):
    if plant.name == "random":
        return random_pose(rng, plant.structures)
    low, high = np.array(plant.joint_range()).T
    return low + (high - low) * rng.uniform(0.1, 0.9, plant.n)


def _state(rng, name, q, plant):
    if name in plant.joint_names:
        return q[plant.joint_names.index(name)]
    if name.startswith("p_"):
        return rng.uniform(plant.p_r, plant.p_s)
    size = max(
        ((len(a), size) for a, size in SPREAD.items() if name.startswith(a)), default=(0, 0.0)
    )[1]
    return size * rng.uniform(-1, 1)


def _base(rng, plant):
    R, (v, ω), (a, α) = random_base(rng)
    return [*(np.array(R).reshape(3, 3).T @ (0.0, plant.g, 0.0)), *v, *ω, *a, *α]


def _wanted(rng, loop, q):
    law = innermost(loop.controller)
    for name, at in zip(law.model.task_names(law.space), law.model.task(law.space, list(q))):
        for order, size in enumerate((0.02, 0.3, 1.0, 3.0)):
            yield target_name(name, order), (at if order == 0 else 0.0) + size * rng.normal()


def ledger_at_random(loop, disturbances=(), n=60, seed=17):
    """The ledger of a loop at random states; not compiled, they are few."""
    t, x, w, live = random_states(loop, disturbances, n, seed)
    f = LedgerFunction(loop, live)
    f.__dict__["f"] = Mapped(f._whole, compiled=False)
    return f(loop, t, x, w)
