"""Every number a law gives at random states, its ledger's rows and what it prepares: held by a table, see `stored`."""

from dataclasses import fields, is_dataclass

import actuator
import numpy as np
import pytest
from draws import on_floats
from ledger_cases import CASES as CRANES
from ledger_cases import random_states
from machine_ledger import loop_of, states_at_random
from mechanisms import hydraulic, lift
from random_linkages import linkage
from stored import held, members
from test_every_controller import LAWS, MEMBERS, draw
from test_machine_vdc_ieha import with_drives
from test_machine_vdc_metered import BRISTLES, CRANE, metered
from test_mpc import VARIANTS
from test_mpc_path import Bent, Duffing

from controllers import MPC, VDC, ForcePosition, Limit, Observer
from controllers.pid_tuning import ByDiskMargin, ByRelay
from plants import LuGre, machine
from workbench.cases.file import loads
from workbench.verification.ledger import entries_of

FOUR_BAR = machine("four-bar").plant


# ---- laws on their own ------------------------------------------------------------------------------------------------
def law_numbers(law, seeds=(3, 4)) -> dict:
    """What a law computes of a drawn memory, measurement and reference."""
    found: dict = {"itself": members(law)}
    for seed in seeds:
        z, y, r = draw(law, seed)
        found[f"at {seed}"] = {
            name: on_floats(law, call, [0.2, 2e-3], z, y, r) for name, call in MEMBERS.items()
        }
    return found


# ---- ledgers ----------------------------------------------------------------------------------------------------------
LEDGERS = {
    "servo cylinder": lambda: VDC(lift(), K_I=30.0, κ=7.0),
    "linkage, a crank": lambda: VDC(linkage(1, links=2), K_I=3.0),
    "throttled": lambda: VDC(hydraulic("minimal"), κ=9.5),
    "throttled, bristles": lambda: VDC(hydraulic("minimal", "modified LuGre")),
    "metered": lambda: VDC(metered(CRANE)),
    "metered, bristles": lambda: VDC(metered(BRISTLES)),
    "pump's ring": lambda: VDC(
        with_drives(friction=LuGre(F_c=9.0, F_s=14.0, v_s=0.01, b=20.0, σ_0=1e5))
    ),
    "four-bar with force": lambda: VDC(hydraulic("minimal", "LuGre"), βk_f=(50.0,)),
}


def ledger(make) -> dict:
    """Rows of a law's ledger and its quantities at random states, and what the law says of itself."""
    law = make()
    loop = loop_of(law)
    return {"rows": rows(loop, *states_at_random(loop, 5, 2)), "itself": members(law)}


OF_CRANES = (
    "dead band the model lacks",
    "LuGre friction, other bristles in the model",
    "hoses the model lacks",
    "air and stiffness the model lacks",
    "moving base",
    "filters, noise, quantiser",
    "piston space, full crane",
    "dirty derivative, continuous",
    "filtered difference",
    "gains of the bodies' own",
    "random machine, 1 structure, sliding",
)


def crane_ledger(name: str) -> list:
    """Rows of a crane's ledger at random states."""
    loop, disturbances = CRANES[name]
    return rows(loop, *random_states(loop, disturbances, 2))


def rows(loop, t, x, w, live) -> list:
    """Entries and quantities of a loop's ledger at states, on floats."""
    defaults = {s.name: loop.defaults().get(s.name, 0.0) for s in loop.inputs}
    found = []
    for time, state, given in zip(t, x, w):
        u = list((defaults | dict(zip(live, given.tolist()))).values())
        at = (float(time), state.tolist(), u)
        found.append(entries_of(loop, *at, loop.rhs(*at)))
    return found


# ---- predictive control -----------------------------------------------------------------------------------------------
def prepared(law) -> dict:
    """The stated problem, its dense form, and moves of drawn states, many of them with limits active."""
    made = law.prepared
    rng = np.random.default_rng(8)
    solver = law.solver(made)
    found = {
        "prepared": members(made) | {f.name: shown(getattr(made, f.name)) for f in fields(made)},
        "gain": law.gain() if made.dense is not None else None,
        "stage": law.stage,
    }
    for spread in (0.02, 0.1, 0.5):
        θ = actuator.drawn(law, rng, spread)
        s = solver.solve(θ)
        found[f"moves, {spread}"] = {"θ": θ, "status": s.status, "z": s.z}
        if s.status == 1:
            found[f"value, {spread}"] = made.dense.value(θ, s.z)
    return found


def shown(part):
    """Fields and members of a part of the problem."""
    if not is_dataclass(part):
        return part
    return members(part) | {f.name: getattr(part, f.name) for f in fields(part)}


def steps(law, y, r=None, count=4) -> dict:
    """Commands, memory and monitors of the first samples, the measurement held."""
    if r is None:
        r = [2e-4 * np.sin(i) for i in range(len(law.references))]
    z = law.start(0.0, law.initial(), y, r)
    found: dict = {}
    for k in range(count):
        z, u = law.step(0.0, z, [(1.0 + 0.1 * k) * v for v in y], r)
        found[f"step {k}"] = {"u": u, "shown": law.monitor(0.0, z, y, r)}
    return found


def duffing(**changes):
    settings = {
        "Q": (30.0,),
        "S": (0.02,),
        "N": 6,
        "T_s": 0.05,
        "u_min": (-3.0,),
        "u_max": (3.0,),
        "tracked": ("x",),
        "relinearise": True,
        "preview": 0,
    }
    return MPC(Duffing(), **(settings | changes))


SEQUENCES = {
    "Duffing": lambda: steps(duffing(terminal="none"), [0.31, -0.2], [0.45]),
    "Duffing, again and again": lambda: steps(duffing(iterations=3), [0.31, -0.2], [0.45]),
    "Duffing, weighted command": lambda: steps(duffing(R=(0.01,), slew=(20.0,)), [0.2, 0.1], [0.3]),
    "Duffing, delay": lambda: steps(duffing(delay=0.07), [0.31, -0.2], [0.1]),
    "Duffing, soft limit": lambda: steps(
        duffing(limits=(Limit("v", -0.3, 0.3, soft=True, linear=2.0, quadratic=30.0),)),
        [0.31, -0.2],
        [0.6],
    ),
    "Duffing, observed": lambda: steps(
        duffing(observer=Observer(σ_y=(1e-3, 1e-3), σ_d=(1e-2,), disturbance=("u",))),
        [0.31, -0.2],
        [0.45],
    ),
    "bent": lambda: steps(actuator.mpc(Bent(), relinearise=True), [1e-4]),
    "linear": lambda: steps(actuator.mpc(), [1e-4]),
    "linear, out of reach": lambda: steps(actuator.mpc(terminal="set", room=0.2, N=4), [3e-3]),
}


# ---- gains that are found ---------------------------------------------------------------------------------------------
def tuned(wish) -> object:
    """What tuning finds on the published actuator, as its record says."""
    return wish.tune(loads(ACTUATOR).loop)


ACTUATOR = """
plant: ieha-published-linear
controller: {law: PID, K_p: 0.4, K_i: 2, feed: gain, K_v: 0.0087}
"""
TUNED = {
    "disk margin": lambda: tuned(ByDiskMargin()),
    "disk margin, wide": lambda: tuned(ByDiskMargin(disk_margin=1.1)),
    "relay": lambda: tuned(ByRelay()),
}

CASES = {
    **{f"law, {name}": (lambda law=law: law_numbers(law)) for name, law in LAWS.items()},
    "law, force and position": lambda: law_numbers(ForcePosition(FOUR_BAR)),
    **{f"ledger, {name}": (lambda make=make: ledger(make)) for name, make in LEDGERS.items()},
    **{f"crane's ledger, {name}": (lambda name=name: crane_ledger(name)) for name in OF_CRANES},
    **{
        f"predictive, {name}": (lambda changes=changes: prepared(actuator.mpc(**changes)))
        for name, changes in VARIANTS.items()
    },
    **{f"along, {name}": make for name, make in SEQUENCES.items()},
    **{f"tuned, {name}": make for name, make in TUNED.items()},
}


def within(case: str) -> float:
    return 1e-7


@pytest.mark.parametrize("case", CASES)
def test_numbers_of_laws_are_those_of_the_table(case):
    held("controllers", case, CASES[case], within(case))
