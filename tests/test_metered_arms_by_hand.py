"""Metered arms on one pump, two with cylinders and one with a motor: signals in their order, commands, rest, limits, gains."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from plants.drives import metering
from plants.metered import on_valves
from plants.metered.arm import Arm, MotorArm
from plants.metered.arms import MeteredArms
from plants.metered.arms_valves import MeteredArmsValves
from plants.valve_circuits.circuit import Motor, Pump, Section
from workbench.contract.errors import InputError

BOOM = Arm(
    "boom", L_g=1.25, L_m=0.7, L_f=2.75, M=900.0, J=650.0, r_bx=-1.1, r_by=-0.8, K=3e6, B=4e4
)
JIB = replace(
    BOOM, name="jib", M=400.0, θ_0=0.3, K=2e6, B=5e4, regeneration="input",
    section=Section(A_h=0.02, A_r=0.011, P_hM=3e7, P_rM=4.5e7),
)  # fmt: skip
SLEW = MotorArm(
    i=21.0, name="slew", L_g=0.3, L_f=2.5, M=300.0, J=90.0, θ_0=0.2, K=5e3, B=70.0,
    regeneration="command", section=Motor(D_h=3e-5, D_r=5e-5, P_hM=2e7, P_rM=1.5e7),
)  # fmt: skip
ARMS = MeteredArms(arms=(BOOM, JIB, SLEW), pump=Pump(Q=2e-3, P_M=1.8e7, c_b=2e-6), u_b=0.2, g=9.7)
NAMES = ("boom", "jib", "slew")
X = [0.1, 0.2, 1.1, -0.4, 0.5, 1.3, 0.7, -0.6, 15.0]
U = [0.5, -0.25, 0.75, 0.4, 100.0, 200.0, 300.0]


def told(signals):
    return [(s.name, s.unit) for s in signals]


def test_signals_of_arms():
    """Arm by arm; of a motor's rod angles, rates and torques."""
    per_arm = lambda *keys: [(f"{k}_{n}", unit(k, n)) for n in NAMES for k in keys]

    def unit(key, name):
        own = {"θ": "rad", "dθ": "rad/s", "P_h": "Pa", "P_r": "Pa"}
        lengths = {"x": 0, "l": 0, "stretch": 0, "dl": 1, "v": 1, "f": 2}
        turned, plain = ("rad", "rad/s", "N*m"), ("m", "m/s", "N")
        return own.get(key) or (turned if name == "slew" else plain)[lengths[key]]

    states = per_arm("θ", "dθ", "x")
    assert told(ARMS.states) == states
    commands = [(f"u_c_{n}", "1") for n in NAMES]
    assert told(ARMS.inputs) == [*commands, ("u_a_jib", "1"), *((f"f_ey_{n}", "N") for n in NAMES)]
    assert [s.kind for s in ARMS.inputs[-4:]] == ["", *["disturbance"] * 3]
    assert told(ARMS.outputs) == [*per_arm("l"), *per_arm("dl"), *states]
    shown = per_arm("l", "v", "f", "stretch", "P_h", "P_r")
    assert told(ARMS.monitors) == [*shown, ("P", "Pa"), ("r_P", "1")]
    assert ARMS.states[3].meaning == "angle of arm jib"
    assert ARMS.names == NAMES and ARMS.n == 3 and ARMS.cuts_commands is True
    assert ARMS.joint_names == ("θ_boom", "θ_jib", "θ_slew")
    assert ARMS.pressure_names == tuple(f"{k}_{n}" for n in NAMES for k in ("P_h", "P_r"))
    assert ARMS.task_names("any") == list(ARMS.joint_names) and ARMS.task("any", (1, 2)) == [1, 2]


def test_names_of_the_mechanism_and_causes_of_its_account():
    pairs = (("q", "θ"), ("dq", "dθ"), ("rod", "x"), ("f_p", "f"))
    assert ARMS.called == {f"{a}_{n}": f"{b}_{n}" for n in NAMES for a, b in pairs}
    own = [f"{v}_{n}" for n in NAMES for v in (*metering.VALVES, "element", "tip")]
    assert list(ARMS.causes) == ["pump", "bleed", "relief", *own]
    assert all(causes == (name,) for name, causes in ARMS.causes.items())


def test_ranges_of_commands():
    both = {f"u_c_{n}": (-1.0, 1.0) for n in NAMES}
    assert ARMS.limits() == both | {"u_a_jib": (0.0, 1.0)}


def test_commands_go_to_their_arms():
    """Arm by arm the command, with the opening of regeneration where that is an input; then the forces at the tips."""
    assert ARMS.given(U) == [0.5, -0.25, 0.4, 0.75, 100.0, 200.0, 300.0]
    assert MeteredArms(arms=(BOOM,)).given([0.5, 9.0]) == [0.5, 9.0]


def test_openings_of_sections():
    """Regeneration opens with the command, or its input, while the rod extends; one without has none for good."""
    boom, jib, slew = ARMS.regeneration(U)
    assert (boom, float(jib), float(slew)) == (0.0, 0.0, 0.75) and isinstance(boom, float)
    assert float(ARMS.regeneration([0.5, 0.3, -0.1, 0.4])[1]) == 0.4
    rows = ARMS.rows([0.5, 0.3, -0.1, 0.4])
    for arm, row, u_c, u_a in zip(ARMS.arms, rows, (0.5, 0.3, -0.1), (0.0, 0.4, 0.0)):
        assert row == pytest.approx(metering.opened(arm.section, u_c, u_a))


def test_where_arms_start_and_what_is_measured():
    lengths = [a.length(θ) for a, θ in zip(ARMS.arms, X[::3])]
    rates = [a.lever(θ) * w for a, θ, w in zip(ARMS.arms, X[::3], X[1::3])]
    assert ARMS.out(0.0, X) == pytest.approx([*lengths, *rates, *X])
    starts = [n for a in ARMS.arms for n in (a.θ_0, 0.0, a.length(a.θ_0))]
    assert ARMS.initial() == pytest.approx(starts)


def test_at_rest_what_lies_between_carries_the_weight():
    """K (x − ℓ) ℓ' = M g L_g cos θ."""
    angles = (-0.2, 0.6, 0.9)
    rest = ARMS.rest(angles)
    assert all(isinstance(number, float) for number in rest) and len(rest) == 9
    for j, (a, θ) in enumerate(zip(ARMS.arms, angles)):
        at, rate, x = rest[3 * j : 3 * j + 3]
        carried = a.K * (x - a.length(θ)) * a.lever(θ)
        assert (at, rate) == (θ, 0.0)
        assert carried == pytest.approx(a.M * 9.7 * a.L_g * np.cos(θ))


def test_what_arms_show(monkeypatch):
    keys = ("v", "f_p", "stretch", "P_h", "P_r")
    at = {f"{k}_{n}": f"{k} {n}" for n in NAMES for k in keys} | {"P": "P", "r_P": "r"}
    own = SimpleNamespace(arms=ARMS.arms, logged=lambda t, x, u: at)
    found = MeteredArms.monitor(own, 0.0, X, U)
    expected = []
    for a, θ in zip(ARMS.arms, X[::3]):
        expected += [a.length(θ), *(f"{k} {a.name}" for k in keys)]
    assert found == [*expected, "P", "r"]


@pytest.mark.parametrize("θ_0", [-2.9, -1.2, 0.4, 1.5, 3.3])
def test_arms_turn_between_the_dead_points_of_their_cylinders(θ_0):
    """Half a turn around where they start, the lever zero at both ends; a motor half a turn either way."""
    turned = replace(ARMS, arms=(replace(BOOM, θ_0=θ_0), JIB))
    for a, start, (low, high) in zip(turned.arms, (θ_0, 0.3), turned.joint_range()):
        assert low < start < high and high - low == pytest.approx(np.pi)
        assert [a.lever(end) for end in (low, high)] == pytest.approx([0.0, 0.0], abs=1e-12)
    assert ARMS.joint_range()[2] == pytest.approx((0.2 - np.pi, 0.2 + np.pi))


# ---- what arms can -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "shares, rate",
    [((1.0, 4.0, 9.0), 1.0 / 7), ((9.0, 1.0, 4.0), 1.0 / 7), ((60.0, 80.0, 43.0), 6.0)],
)
def test_a_position_loop_is_a_seventh_of_the_slowest_resonance(shares, rate):
    """ℓ'_M √(K/I), and 6 1/s at most."""
    stiff = [a.inertia * (s / a.longest_lever) ** 2 for a, s in zip(ARMS.arms, shares)]
    assert ARMS.borne(stiff) == pytest.approx(rate)
    own = replace(ARMS, h=1e-6, arms=[replace(a, K=K) for a, K in zip(ARMS.arms, stiff)])
    assert own.loop_rate == pytest.approx(rate)


def test_gains_and_damping_are_those_of_all_arms():
    gains = [metering.speed_gain(a.section, 1.8e7) for a in ARMS.arms]
    assert ARMS.velocity_gain == pytest.approx(sum(gains) / 3)
    assert ARMS.damping == {"boom.B": 4e4, "jib.B": 5e4, "slew.B": 70.0}
    assert ARMS.longest_step == min(a.step_limit() for a in ARMS.arms)


def test_the_valves_of_arms_are_a_circuit_of_their_names():
    circuit = ARMS.circuit
    assert [s.name for s in circuit.sections] == list(NAMES) and circuit.pump == ARMS.pump
    assert [type(s) for s in circuit.sections] == [Section, Section, Motor]
    told = ARMS.valve_sections
    assert told.titles == ("arm boom", "arm jib", "arm slew") and told.names == NAMES
    assert told.regenerates == (False, True, True) and told.balance == "all"
    assert (told.source, told.u_b) == (ARMS, 0.2)
    assert MeteredArms(arms=(BOOM,)).valve_sections.titles == ("",)
    assert MeteredArms(arms=(BOOM, JIB)).valve_sections.titles == ("arm boom", "arm jib")


def test_limits_of_arms():
    """Angles of those with cylinders, the widest range of pressures of all sections, commands."""
    assert ARMS.pressure_limits == pytest.approx((-metering.SUCTION, metering.OVER * 4.5e7))
    high = replace(BOOM, section=Section(P_hM=6e7, P_rM=1e7))
    widest = replace(ARMS, arms=(high, JIB)).pressure_limits
    assert widest == pytest.approx((-metering.SUCTION, metering.OVER * 6e7))
    limits = {limit.name: limit for limit in ARMS.machine_limits()}
    ranges = ARMS.joint_range()
    for name, (low, high) in zip(NAMES[:2], ranges):
        limit = limits[f"angle θ_{name}"]
        assert (limit.low, limit.high) == (low, high) and limit.signals == (f"θ_{name}",)
        assert (limit.unit, limit.kind, limit.key) == ("rad", "stroke", f"arms.{name}.r_bx")
    assert "angle θ_slew" not in limits and len(limits) == 2 + 2 * 6 + 4
    assert limits["pressure P_r_slew"].high == pytest.approx(metering.OVER * 4.5e7)


def test_what_arms_need_to_stand():
    """Against weight and tip force over the lever; sections bear by their own sides, N m of a motor."""
    found = ARMS.holding(X, U)
    forces = (100.0, 200.0, 300.0)
    for j, (arm, θ, f, held) in enumerate(zip(ARMS.arms, X[::3], forces, found)):
        weight = (arm.M * 9.7 * arm.L_g - arm.L_f * f) * np.cos(θ)
        assert held.needs * arm.lever(θ) == pytest.approx(weight)
        assert (held.low, held.high) == ARMS.circuit.bears(j, 0.2)
        assert (held.name, held.key) == (f"arm {arm.name}", "pump.P_M")
        assert held.limited_by == "reliefs of pump (180 bar) and chambers, bleed"
    assert [held.unit for held in found] == ["N", "N", "N m"]


# ---- what is asked of circuits -------------------------------------------------------------------------------------------------
def test_the_supply_of_arms_is_its_pump_and_bleed():
    assert ARMS.supply == [2e-3, 1.8e7, pytest.approx(4e-7)]


@pytest.mark.parametrize("held", [True, False])
def test_verdicts_are_asked_with_what_is_held(monkeypatch, held):
    """As many samples as a claim takes by itself, from seed 0, and those that are given."""
    from plants.valve_circuits import passivity, uniqueness

    monkeypatch.setattr(passivity, "check_passive", lambda *given, **named: (given, named))
    monkeypatch.setattr(uniqueness, "check_unique", lambda *given, **named: (given, named))
    own = SimpleNamespace(circuit="circuit", damping={"b.B": 3.0}, held=held)
    kind = on_valves.OnValves
    assert kind.passivity(own) == (("circuit", 300, 0), {"held": held})
    assert kind.passivity(own, 7, 5) == (("circuit", 7, 5), {"held": held})
    assert kind.uniqueness(own) == (("circuit", {"b.B": 3.0}, 100, 0), {"held": held})
    assert kind.uniqueness(own, 7, 5) == (("circuit", {"b.B": 3.0}, 7, 5), {"held": held})
    assert kind.held is False and MeteredArmsValves.held is False


# ---- what is refused -----------------------------------------------------------------------------------------------------------
def test_arms_of_the_source():
    arms = MeteredArms()
    assert arms == arms.as_shipped() == ARMS.as_shipped()
    assert (arms.arms, arms.pump, arms.u_b) == ((Arm(K=5e7, B=2.5e6),), Pump(), 0.3)
    assert (arms.g, arms.h) == (9.8, 1e-3)


@pytest.mark.parametrize("share, fits", [(0.999, True), (1.0, True), (1.001, False)])
def test_stiffness_and_damping_bear_the_step(share, fits):
    h = share * min(BOOM.step_limit(), JIB.step_limit())
    if fits:
        assert MeteredArms(arms=(BOOM, JIB), h=h).h == h
        return
    with pytest.raises(InputError) as why:
        MeteredArms(arms=(BOOM, JIB), h=h)
    assert f"bear steps up to {h / share:.3g} s only, not {h:g} s" in why.value.message


def test_a_pump_without_an_arm_drives_nothing():
    with pytest.raises(InputError, match="arms: there is none; give at least one"):
        MeteredArms(arms=())
