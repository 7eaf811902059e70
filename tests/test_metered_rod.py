"""Rods behind metering valves on a pump whose line holds no oil, as drives of a mechanism: metered arms are such mechanisms."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from machine_ledger import at_random, loop_of, open_cuts, unbalanced
from mechanisms import CYLINDER, ROD, lift
from oracles import arms

from controllers import VDC, OpenLoop
from plants import MeteredArms
from plants.drives.metered_section import MeteredSection
from plants.drives.servo_cylinder import ServoCylinder
from plants.metered.arm import Arm, MotorArm
from plants.supplies.instant_pump import InstantPump
from plants.supplies.shared_pump import SharedPump
from plants.valve_circuits.circuit import Motor, Pump, Section
from workbench import ClosedLoop, InputError, Scenario, simulate
from workbench.contract.system import names
from workbench.numerics import calculus
from workbench.numerics.linearisation import linearize

pytestmark = pytest.mark.usefixtures("plain_code")

ONE = MeteredArms()
SECOND = Section("2", A_h=0.017, A_r=0.011, P_hM=30e6)
TWO = MeteredArms(
    arms=(Arm("1", M=1700.0, α=0.7), Arm("2", θ_0=-0.3, M=900.0, section=SECOND)), u_b=0.2, g=9.7
)
TURNED = MeteredArms(
    arms=(
        MotorArm(i=90.0, name="slew", M=1500.0, section=Motor("slew", D_r=44e-6)),
        Arm("boom", θ_0=-0.4, regeneration="command"),
        Arm("jib", θ_0=-0.6, M=700.0, regeneration="input"),
    )
)


def drawn(rng, plant):
    """A moving state around the start, commands of either sign, forces at the tips."""
    x = []
    for a in plant.arms:
        θ = a.θ_0 + 0.1 * rng.normal()
        x += [θ, 0.2 * rng.normal(), a.length(θ) + 3e-3 * rng.normal() * a.longest_lever]
    u = [
        float(v)
        if s.kind == "disturbance"
        else float(np.clip(w, 0.0 if s.name.startswith("u_a") else -1.0, 1.0))
        for s, v, w in zip(
            plant.inputs,
            2e3 * rng.normal(size=len(plant.inputs)),
            rng.normal(size=len(plant.inputs)),
        )
    ]
    return [float(v) for v in x], u


@pytest.mark.parametrize("plant", [ONE, TWO, TURNED], ids=["one", "two", "motor, regeneration"])
def test_metered_arms_are_this_mechanism(plant):
    """rhs, logged signals, powers and energy are those of the source's equations, to 1e-12 of their range over random states.

    What pump, bleed, relief and valves give and take is what reaches the rods.
    """
    rng, ours, theirs = np.random.default_rng(2), [], []
    for _ in range(20):
        x, u = drawn(rng, plant)
        told = dict(zip(plant.power_names, plant.powers(0.0, x, u)))
        beyond = [told.pop(f"{key}_{n}") for n in plant.names for key in ("element", "tip")]
        parts = (plant.rhs, plant.monitor)
        ours.append([*(v for part in parts for v in part(0.0, x, u)), plant.stored(0.0, x, u)])
        ours[-1] += [*beyond, sum(told.values())]
        powers = np.reshape(arms.powers(plant, x, u), (-1, 3))
        parts = (arms.rhs, arms.monitor)
        theirs.append([*(v for part in parts for v in part(plant, x, u)), arms.stored(plant, x)])
        theirs[-1] += [*powers[:, 1:].ravel(), powers[:, 0].sum()]
    ours, theirs = np.array(ours, float), np.array(theirs, float)
    size = np.maximum(np.abs(theirs).max(axis=0), 1e-3)
    assert (np.abs(ours - theirs).max(axis=0) / size).max() <= 1e-12


def measured(law, plant, x):
    at = dict(zip(names(plant.outputs), plant.out(0.0, x)))
    return [at[s.name] for s in law.measured]


@pytest.mark.parametrize("plant", [ONE, TURNED], ids=["one", "motor"])
def test_its_ledger_closes_where_the_pump_s_pressure_is_no_state(plant):
    plant = replace(plant, arms=tuple(replace(a, regeneration="none") for a in plant.arms))
    law = VDC(plant.mechanism)
    b = at_random(loop_of(law), 4)
    assert not unbalanced(b) and not open_cuts(b)
    assert (b.dissipation >= 0).all()


def test_a_section_with_the_oil_s_spring_shares_such_a_pump_too():
    """On a pump that keeps its pressure whatever is taken, P as a state and P as a root move it alike."""
    strong = Pump(Q=0.5, P_M=160e5)
    drive = MeteredSection(CYLINDER, 0.0)
    instant, slow = (
        lift(drive, supply=InstantPump(strong, 0.0)),
        lift(drive, supply=SharedPump(strong, 0.0)),
    )
    rng = np.random.default_rng(3)
    for _ in range(8):
        x = [0.3, 0.2 * rng.normal(), 0.3 + 1e-3 * rng.normal()]
        u = [float(rng.uniform(-1.0, 1.0))]
        ours, theirs = instant.rhs(0.0, x, u), slow.rhs(0.0, [*x, strong.P_M], u)
        assert ours == pytest.approx(theirs[:3], rel=1e-9, abs=1e-12)


def test_a_drive_whose_chambers_hold_oil_is_refused_on_it():
    with pytest.raises(InputError, match="flow of a ServoCylinder depends on the pressure of its"):
        lift(ServoCylinder(CYLINDER, 0.0), supply=InstantPump())


@pytest.mark.parametrize("plant", [ONE, TURNED], ids=["one", "motor"])
def test_the_law_is_the_same_under_the_arms_own_names(plant):
    plant = replace(plant, arms=tuple(replace(a, regeneration="none") for a in plant.arms))
    own, other = VDC(plant), VDC(plant.mechanism)
    rng, n = np.random.default_rng(8), len(plant.arms)
    x, _ = drawn(rng, plant)
    y, y_o = measured(own, plant, x), measured(other, plant.mechanism, plant.inner(x))
    assert names(own.measured)[:n] == list(plant.joint_names) and y == y_o
    r = [*x[::3], *(float(v) for v in 0.1 * rng.normal(size=3 * n))]
    z = [2e4] * n
    assert own.command(0.0, z, y, r) == other.command(0.0, z, y, r)
    assert names(own.references)[:n] == [f"{name}_d" for name in plant.joint_names]


# ---- slopes ---------------------------------------------------------------------------------------------------------
def slopes(plant, by):
    """∂(rates, powers)/∂x, or ∂/∂w of the commands, as functions of x and w."""
    traced = calculus.trace(plant, tuple(s.name for s in plant.inputs if s.kind == ""))
    t, x, w, c = arguments = traced.flow.sx_in()
    flow = traced.flow(*arguments)
    J = ca.Function("slopes", arguments, [ca.densify(ca.jacobian(flow, {"x": x, "w": w}[by]))])
    constants = traced.constants(plant)
    return lambda x, w: np.array(J(0.0, x, w, constants))


def behind_valves():
    """Every drive behind quasistatic metering valves, with regeneration in every form, on every pump that serves it."""
    for supply in (SharedPump(), InstantPump()):
        yield lift(MeteredSection(CYLINDER, 0.0), supply=supply)
        for regeneration in ("none", "command", "input"):
            yield lift(replace(ROD, regeneration=regeneration), supply=supply)


SOME = (0, 2)  # the others take many seconds
EVERY = [k if k in SOME else pytest.param(k, marks=pytest.mark.long) for k in range(8)]


@pytest.fixture(scope="module", params=EVERY)
def machine(request):
    return list(behind_valves())[request.param]


def anywhere(rng, plant):
    """A moving state, pressures from none to far above what the valves let in."""
    sizes = {"m": 3e-3, "m/s": 0.3, "Pa": 2e7}
    found = [
        abs(sizes[s.unit] * rng.normal()) if s.unit == "Pa" else x + sizes[s.unit] * rng.normal()
        for s, x in zip(plant.states, plant.initial())
    ]
    return np.array(found)


def test_slopes_by_states_are_numbers_whatever_is_shut(machine):
    """Branches that do not count take no part, be a valve shut or a pressure at its end."""
    by_state = slopes(machine, "x")
    rng, n = np.random.default_rng(4), len(machine.inputs)
    for opening in (-1.0, -0.2, 0.0, 1e-6, 0.3, 1.0):
        for more in (0.0, 0.4):
            for _ in range(6):
                w = [opening, *[more] * (n - 1)]
                assert np.isfinite(by_state(anywhere(rng, machine), w)).all()


def rates(plant, z):
    n = len(plant.states)
    return np.array(plant.rhs(0.0, z[:n].tolist(), z[n:].tolist()))


def test_slopes_are_those_of_differences(machine):
    """Where no valve is just shut, by states and by commands, at states at which nothing switches within the step."""
    rng, n, agreed = np.random.default_rng(5), len(machine.inputs), 0
    by_state, by_command = slopes(machine, "x"), slopes(machine, "w")
    for _ in range(12):
        x = anywhere(rng, machine)
        w = np.array([rng.choice([-1, 1]) * rng.uniform(0.1, 0.9), *rng.uniform(0.1, 0.9, n - 1)])
        J = np.hstack([by_state(x, w), by_command(x, w)])[: len(x)]
        z = np.concatenate([x, w])
        for k in range(len(z)):
            e = np.zeros(len(z))
            e[k] = 1e-5 * max(abs(z[k]), 1e-3)
            here, more, less = (rates(machine, z + s * e) for s in (0, 1, -1))
            right, left = (more - here) / e[k], (here - less) / e[k]
            size = np.abs(right).max() + 1e-6
            if np.abs(right - left).max() < 1e-3 * size:
                agreed += 1
                assert np.abs(0.5 * (right + left) - J[:, k]).max() <= 2e-3 * size
    assert agreed > 30


def test_there_is_no_slope_by_a_command_that_just_shuts_the_valves(machine):
    by_command = slopes(machine, "w")
    rng, n = np.random.default_rng(6), len(machine.inputs)
    moves = names(machine.states).index("rod_c")
    for _ in range(6):
        x = anywhere(rng, machine)
        assert np.isnan(by_command(x, [0.0, *[0.4] * (n - 1)])[moves, 0])
        assert np.isfinite(by_command(x, [-0.2, *[0.0] * (n - 1)])).all()
        if n > 1:
            assert np.isnan(by_command(x, [0.2, 0.0])[moves, 1])
    with pytest.raises(InputError, match="cannot linearise"):
        linearize(machine, machine.initial(), [0.0] * n)


@pytest.mark.long
def test_a_rod_whose_regeneration_is_shut_retracts_as_its_equations_in_plain_numbers():
    plant = lift(replace(ROD, regeneration="command"), supply=SharedPump())
    log = simulate(ClosedLoop(plant, OpenLoop(plant)), Scenario(0.02, disturbances={"u_c_c": -0.2}))
    assert log.status.completed
    x, h = np.array(plant.initial(), float), 1e-4

    def rate(x):
        return np.array(plant.rhs(0.0, [float(v) for v in x], [-0.2]), float)

    for _ in range(200):
        k_1 = rate(x)
        k_2 = rate(x + h / 2 * k_1)
        k_3 = rate(x + h / 2 * k_2)
        k_4 = rate(x + h * k_3)
        x = x + h / 6 * (k_1 + 2 * k_2 + 2 * k_3 + k_4)
    found = [log.array(name)[-1] for name in names(plant.states)]
    assert found == pytest.approx(x.tolist(), rel=1e-5)
