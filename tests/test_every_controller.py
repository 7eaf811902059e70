"""What every controller must keep: the contract, and one text for floats and expressions, alone and inside wrappers.

A new law is tested by adding it to LAWS.
"""

from dataclasses import replace

import numpy as np
import pytest
from draws import apart, on_floats, plant_inputs, plant_state, varied_machine

from controllers.force_position import ForcePosition
from controllers.pid.law import PID
from controllers.vdc import VDC
from controllers.vdc.body_gain import BodyGain
from plants import machine
from plants.components.friction import LuGre
from workbench import ClosedLoop, Delayed, Filtered, Noisy, Quantised, Sampled, Saturated
from workbench.contract.system import Controller, names
from workbench.numerics.calculus import trace
from workbench.run.targets import parse

CRANE = machine("hiab-xs031").plant
VARIED = varied_machine(3, (False, True))
RUBBING = varied_machine(6, (False, False))
GAIN = np.diag([900.0, 800.0, 700.0, 60.0, 50.0, 40.0]) + 7.0 * np.triu(np.ones((6, 6)), 1)

LAWS = {
    "vdc": VDC(CRANE),
    "vdc, piston": VDC(CRANE, space="piston", λ=(7.0, 8.0, 9.0), derivative="desired"),
    "vdc, cartesian": VDC(CRANE, space="cartesian", derivative="desired"),
    "vdc, varied, dirty": VDC(VARIED, derivative="dirty", τ=3e-3, κ=11.0, K_I=4.0),
    "vdc, varied, difference": VDC(VARIED, derivative="difference", k_x=(5e-3, 6e-3, 7e-3)),
    "vdc, bristles": VDC(
        RUBBING, derivative="zero", gains=(BodyGain("s0.B1", tuple(GAIN.ravel().tolist())),)
    ),
    "vdc, bristles, model": VDC(RUBBING),
    "pid": PID(CRANE),
    "pid, derivative": PID(
        CRANE, K_d=(1.3,), feed="gain", damping="none", anti_windup="clamp", δ=0.4
    ),
    "pid, varied": PID(VARIED, K_p=(50.0, 60.0, 70.0), anti_windup="none"),
}
WRAPPED = {
    "sampled": lambda law: Sampled(law, 2e-3),
    "delayed, a fraction": lambda law: Delayed(Sampled(law, 2e-3), 3.1e-3),
    "delayed, whole": lambda law: Delayed(Sampled(law, 2e-3), 2e-3),
    "all": lambda law: Delayed(
        Sampled(
            Saturated(
                Quantised(Filtered(Noisy(law, 2e-4, ("p",)), 35.0, 0.8, ("p",)), 1e-4, ("q", "x")),
                -3.0,
                4.0,
            ),
            2e-3,
        ),
        1.3e-3,
    ),
    "other order": lambda law: Sampled(
        Noisy(Quantised(Saturated(Filtered(law, 50.0), -3.0, 4.0), 1e-3), 1e-5), 4e-3
    ),
    "continuous": lambda law: Saturated(Filtered(law, 50.0), -3.0, 4.0),
}
MEMBERS = {
    "command": lambda c, t, z, y, r: c.command(t[0], z, y, r),
    "rhs": lambda c, t, z, y, r: c.rhs(t[0], z, y, r),
    "start": lambda c, t, z, y, r: c.start(t[0], z, y, r),
    "monitor": lambda c, t, z, y, r: c.monitor(t[0], z, y, r),
    "step_at": lambda c, t, z, y, r: [v for part in c.step_at(t[1], t[0], z, y, r) for v in part],
    "update": lambda c, t, z, y, r: c.update(t[0], z, y, r),
    "release": lambda c, t, z, y, r: c.release(t[0], z, y, r),
}
SIZES = {
    "m": 0.2,
    "rad": 0.1,
    "Pa": 40e5,
    "N": 2e4,
    "V": 2.0,
    "m/s": 0.1,
    "rad/s": 0.2,
    "Pa/s": 1e7,
    "N/s": 1e5,
}


def draw(law, seed=3):
    """(memory, measurement, reference): a plant state measured, references near it, memory of the right size."""
    rng = np.random.default_rng(seed)
    plant = innermost(law).model
    x = plant_state(rng, plant)
    y_all = dict(zip(names(plant.outputs), plant.out(0.0, x)))
    y = [y_all[s.name] for s in law.measured]
    spaces = {
        n: v
        for space in plant.spaces
        if space in usable(plant)
        for n, v in zip(plant.task_names(space), plant.task(space, x[: plant.n]))
    }
    r = [
        spaces.get(s.name.removesuffix("_d"), 0.0) + 0.05 * rng.normal()
        if s.kind == "reference"
        else rng.normal()
        for s in law.references
    ]
    size = lambda s: 1e-5 if "z_" in s.name else SIZES.get(s.unit, 1.0)
    z = [
        y_all.get(s.name.removesuffix("_filtered"), 0.0) + rng.normal() * size(s)
        for s in law.states
    ]
    return z, y, [float(v) for v in r]


RATES = ("", "/s", "/s^2", "/s^3")


@pytest.mark.parametrize("law", [*LAWS.values(), ForcePosition(machine("four-bar").plant)])
def test_a_reference_has_the_unit_of_its_derivative(law):
    """That of the position over s, s², s³."""
    positions = {s.name: s.unit for s in law.references if parse(s.name)[1] == 0}
    assert positions
    for s in law.references:
        name, order = parse(s.name)
        if s.kind == "reference":
            assert s.unit == f"{positions[f'{name}_d']}{RATES[order]}", s.name


def usable(plant):
    planar = plant.n == 2 + sum(name.startswith("x") for name in plant.joint_names)
    return [s for s in plant.spaces if s != "cartesian" or planar]


def innermost(law):
    while law.inner is not None:
        law = law.inner
    return law


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_same_text_on_floats_and_expressions(law):
    z, y, r = draw(law)
    for name, call in MEMBERS.items():
        assert apart(law, call, [0.2, 2e-3], z, y, r) < 1e-12, name


@pytest.mark.parametrize("law", ["vdc, varied, dirty", "pid, varied"])
@pytest.mark.parametrize("wrapping", WRAPPED)
def test_same_text_inside_wrappers(law, wrapping):
    wrapped = WRAPPED[wrapping](LAWS[law])
    z, y, r = draw(wrapped, 4)
    sampled = wrapped.period is not None
    for name, call in MEMBERS.items():
        if name != "step_at" or not sampled:
            assert apart(wrapped, call, [0.2, 2e-3], z, y, r) < 1e-12, name


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_contract(law):
    z, y, r = draw(law)
    n, m = len(law.states), len(law.commands)
    lengths = {
        "command": m,
        "rhs": n,
        "start": n,
        "monitor": len(law.monitors),
        "step_at": n + m,
        "update": n,
        "release": n,
    }
    assert {k: len(on_floats(law, f, [0.0, 2e-3], z, y, r)) for k, f in MEMBERS.items()} == lengths
    assert len(law.initial()) == n
    assert repeatable(law, z, y, r)
    for group in (law.states, law.monitors, law.references, law.measured, law.commands):
        assert len(set(names(group))) == len(group)
    assert {s.kind for s in law.references} <= {"reference", "noise"}
    loop = ClosedLoop(innermost(law).model, law)
    assert len(set(names(loop.states))) == len(loop.states) and len(set(names(loop.inputs))) == len(
        loop.inputs
    )


@pytest.mark.parametrize("law", ["vdc, varied, dirty", "vdc, bristles", "pid, varied"])
@pytest.mark.parametrize("wrapping", WRAPPED)
def test_closed_loops_trace_to_the_text(law, wrapping):
    """All functions of a traced loop (parameters hoisted, defaults folded in) against the loop on floats."""
    loop = ClosedLoop(innermost(LAWS[law]).model, WRAPPED[wrapping](LAWS[law]))
    rng = np.random.default_rng(5)
    z, _, r = draw(loop.controller, 5)
    x = [*plant_state(rng, loop.plant), *z]
    free = plant_inputs(rng, loop.plant)[loop.plant.n :]
    w = [*free, *r]
    traced = trace(loop, names(loop.inputs))
    c = traced.constants(loop)
    text = {
        "flow": [*loop.rhs(0.2, x, w), *loop.powers(0.2, x, w)],
        "jump": loop.update(0.2, x, w),
        "release": loop.release(0.2, x, w),
        "start": loop.start(0.2, x, w),
        "out": loop.out(0.2, x),
        "log": [*loop.monitor(0.2, x, w), loop.stored(0.2, x, w)],
        "guards": loop.guards(0.2, x, w),
    }
    for name, values in text.items():
        found = np.array(getattr(traced, name)(0.2, x, w, c)).ravel()
        scale = np.maximum(np.abs(values), 1e-3 * np.abs(found).max())
        assert (np.abs(found - values) / scale).max() < 1e-11, name
    motion = np.array(traced.motion(0.2, x, w, c)).ravel()
    flow = np.array(traced.flow(0.2, x, w, c)).ravel()
    k = traced.n_moving
    assert (
        np.array_equal(motion, [*flow[:k], *flow[traced.n_states :]])
        and not flow[k : traced.n_states].any()
    )


def repeatable(law, z, y, r):
    """Whether every function gives the same numbers when called again."""
    return all(
        np.array_equal(*(on_floats(law, f, [0.1, 2e-3], z, y, r) for _ in range(2)))
        for f in MEMBERS.values()
    )


def test_a_law_with_hidden_memory_is_seen():
    class Hidden(Controller):
        measured, commands, calls = CRANE.outputs[:1], CRANE.inputs[:1], 0

        def command(self, t, z, y, r):
            Hidden.calls += 1
            return [y[0] + 1e-9 * self.calls]

    assert not repeatable(Hidden(), [], [0.4], [])


def test_a_mass_is_a_number_and_a_friction_law_is_of_the_graph():
    from workbench.contract.parameters import graph_key

    heavy = replace(CRANE, payload=replace(CRANE.payload, mass=40.0))
    pairs = ((CRANE, CRANE), (heavy, CRANE), (CRANE, heavy))
    loops = [ClosedLoop(plant, Sampled(VDC(model), 1e-3)) for plant, model in pairs]
    assert len({graph_key(loop) for loop in loops}) == 1
    assert len({id(trace(loop, ("q_1_d",))) for loop in loops}) == 1
    lift = CRANE.structures[0].revolute
    rubbing = replace(
        CRANE,
        structures=(
            replace(
                CRANE.structures[0],
                revolute=replace(lift, cylinder=replace(lift.cylinder, friction=LuGre())),
            ),
            CRANE.structures[1],
        ),
    )
    assert graph_key(rubbing) != graph_key(CRANE)
