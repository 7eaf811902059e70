"""PID: linear loops against python-control, saturation, sampling order, feed-forward on the crane."""

from dataclasses import dataclass, replace
from typing import Annotated

import control
import numpy as np
import pytest
from crane_as_mechanism import with_servos
from rig import HIAB

from controllers.pid.law import PID
from plants.crane.manipulator import Manipulator
from plants.drives.laws import Force
from workbench import (
    ClosedLoop,
    Hold,
    InputError,
    Sampled,
    Scenario,
    Signal,
    Sine,
    System,
    Waypoints,
    simulate,
)
from workbench.cases.build import build
from workbench.cases.file import loads
from workbench.cases.yaml_input import read
from workbench.contract.parameters import Unit

CRANE = build(Manipulator, read(HIAB).value["plant"], "plant").locked(extension=0.5)


@dataclass(frozen=True)
class Lag(System):
    """τ ẋ = k u − x, twice side by side."""

    k: Annotated[tuple[float, float], Unit("m/V")] = (0.37, 0.61)
    τ: Annotated[tuple[float, float], Unit("s")] = (0.23, 0.47)
    states = outputs = (Signal("a", "m"), Signal("b", "m"))
    inputs = (Signal("u_a", "V"), Signal("u_b", "V"))

    def initial(self):
        return [0.0, 0.0]

    def rhs(self, t, x, u):
        return [(k * ui - xi) / τ for k, τ, xi, ui in zip(self.k, self.τ, x, u)]

    def out(self, t, x):
        return list(x)


LAG = Lag()
s = control.tf("s")


def pid(**fields):
    given = {
        "K_p": (7.0, 4.1),
        "K_i": (13.0, 5.3),
        "u_max": 1e6,
        "feed": "none",
        "damping": "none",
    } | fields
    return PID(LAG, **given)


def run(law, reference, duration=2.0, **fields):
    return simulate(ClosedLoop(LAG, law), Scenario(duration, reference, **fields))


# ---- linear loops ----------------------------------------------------------------------------------------------------
def test_step_response():
    log = run(pid(), Hold("output", (1.7, -0.6)), max_step=2e-3)
    for i, (name, to) in enumerate((("a", 1.7), ("b", -0.6))):
        C = [7.0, 4.1][i] + [13.0, 5.3][i] / s
        _, x = control.step_response(control.feedback(C * LAG.k[i] / (LAG.τ[i] * s + 1)), log.time)
        np.testing.assert_allclose(log.array(name), to * x, atol=1e-8)
        np.testing.assert_allclose(log.array(f"e_{name}"), to - log.array(name), atol=1e-14)


def test_filtered_derivative_and_velocity_feed_forward():
    ω, K_d, K_v, τ = 5.7, 0.31, 0.83, 0.043
    law = pid(K_d=(K_d,), τ=τ, feed="gain", K_v=(K_v,))
    log = run(law, Sine("output", (0.0, 0.0), (0.4, 0.9), ω / (2 * np.pi)), max_step=1e-3)
    for i, name in enumerate("ab"):
        C = [7.0, 4.1][i] + [13.0, 5.3][i] / s + K_d * s / (τ * s + 1)
        G = LAG.k[i] / (LAG.τ[i] * s + 1)
        response = control.ss(control.minreal(G * (C + K_v * s) / (1 + G * C), verbose=False))
        _, x = control.forced_response(response, log.time, log.array(f"{name}_d"))
        moved = np.abs(x).max()
        # forced_response joins the samples by straight lines
        np.testing.assert_allclose(log.array(name), x, atol=3e-6 * moved)


def test_sampled_approaches_continuous_with_first_order():
    reference = Sine("output", (0.0, 0.0), (0.4, 0.9), 0.9)
    law = pid(K_d=(0.31,), τ=0.043)
    exact = run(law, reference, log_period=0.02, max_step=5e-4)
    error = []
    for T_s in (0.02, 0.01, 0.005, 0.0025):
        log = run(Sampled(law, T_s), reference, log_period=0.02, max_step=5e-4)
        assert np.array_equal(log.time, exact.time) or np.allclose(log.time, exact.time)
        error.append(max(np.abs(log.array(n) - exact.array(n)).max() for n in "ab"))
    order = np.log2(np.array(error[:-1]) / error[1:])
    assert (np.abs(order - 1) < 0.25).all() and abs(order[-1] - 1) < abs(order[0] - 1)


# ---- limits ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("wrap", [lambda law: law, lambda law: Sampled(law, 0.01)])
def test_anti_windup_limits_overshoot(wrap):
    over = {}
    for kind in ("none", "back", "clamp"):
        law = pid(K_i=(40.0,), u_max=3.1, anti_windup=kind, T_t=0.15)
        log = run(wrap(law), Hold("output", (1.0, 1.0)), 6.0)
        assert max(np.abs(log.array("u_a")).max(), np.abs(log.array("u_b")).max()) == 3.1
        over[kind] = log.array("a").max() - 1.0
        assert log.array("a")[-1] == pytest.approx(1.0, abs=0.02)
    assert (
        over["none"] > 0.1 and over["back"] < over["none"] / 3 and over["clamp"] < over["none"] / 3
    )


def test_out_of_reach_the_integral_settles_where_back_calculation_balances():
    log = run(pid(u_max=2.0, T_t=0.15), Hold("output", (3.0, -3.0)), 12.0)
    for i, name in enumerate("ab"):
        e, side = log.array(f"e_{name}")[-1], 1 - 2 * i
        assert e == pytest.approx(side * (3.0 - 2.0 * LAG.k[i]), rel=1e-6)
        K_p, K_i = (7.0, 4.1)[i], (13.0, 5.3)[i]
        excess = K_p * e + log.array(f"I_{name}")[-1] - side * 2.0
        assert excess == pytest.approx(K_i * e * 0.15, rel=1e-6)
    wound = run(pid(u_max=2.0, anti_windup="none"), Hold("output", (3.0, -3.0)), 12.0)
    assert wound.array("I_a")[-1] > 5 * log.array("I_a")[-1]


@pytest.mark.parametrize("kind", ["back", "clamp", "none"])
@pytest.mark.parametrize("wrap", [lambda law: law, lambda law: Sampled(law, 0.01)])
def test_without_integral_action_a_limit_leaves_nothing_behind(kind, wrap):
    """K_i = 0 of the first lag: I stays 0 at the limit, and the lag ends at k K_p r/(1 + k K_p); the other one has an integral."""
    law = wrap(pid(K_i=(0.0, 5.3), u_max=2.0, anti_windup=kind, T_t=0.15))
    log = run(law, Hold("output", (0.5, 0.5)), 8.0)
    k, K_p = LAG.k[0], 7.0
    assert np.abs(log.array("u_a")).max() == 2.0 and np.abs(log.array("I_a")).max() == 0.0
    assert log.array("a")[-1] == pytest.approx(0.5 * k * K_p / (1 + k * K_p), rel=1e-6)
    assert np.abs(log.array("I_b")).max() > 0.1


# ---- the crane -------------------------------------------------------------------------------------------------------
def overlapping(dead_band):
    """The crane with leaking cylinders and overlapping valves."""
    from workbench.contract.parameters import bind, leaves

    new = {
        leaf.path: value
        for leaf in leaves(CRANE)
        for end, value in ((".dead_band", dead_band), (".c_i", 3e-13), (".c_e", 1e-13))
        if leaf.path.endswith(end)
    }
    assert len(new) == 3 * CRANE.n
    return bind(CRANE, new)


def test_fed_forward_flow_holds_the_piston_force():
    """At p = p̄ and the wanted velocity, the commanded valve leaves A_a p_a − A_b p_b unchanged."""
    crane, rng = overlapping(0.4), np.random.default_rng(5)
    law = PID(crane, K_p=(0.0,), K_i=(0.0,), δ=1.0, w=1e-9)
    for _ in range(20):
        x = [rng.uniform(0.1, 0.9) * c.stroke for c in crane.cylinders]
        v = list(rng.uniform(-0.04, 0.04, crane.n))
        p = list(rng.uniform(30e5, 150e5, 2 * crane.n))
        z = [0.0] * crane.n + [0.0] * crane.n + p
        u = law.command(0.0, z, [*x, *p], [*x, *v])
        for i, c in enumerate(crane.cylinders):
            pair = p[2 * i : 2 * i + 2]
            assert 0.4 < abs(u[i]) < 10 and np.sign(u[i]) == np.sign(v[i])
            flows = c.valve.flows(u[i], *pair, crane.p_s, crane.p_r)
            da, db = c.pressure_rates(crane.oil, x[i], v[i], *pair, *flows)
            assert abs(c.A_a * da - c.A_b * db) < 1e-9 * c.A_a * abs(da) + 1e-3


def test_feed_forward_cuts_the_tracking_error():
    rms = {}
    for feed in ("none", "flow"):
        log = simulate(
            ClosedLoop(CRANE, Sampled(PID(CRANE, feed=feed), 1e-3)),
            Scenario(6.0, Sine("joint", "start", (0.06, 0.09), 0.2)),
        )
        rms[feed] = np.array([np.sqrt(np.mean(log.array(f"e_x_{k}") ** 2)) for k in "12"])
    assert (rms["flow"] < 0.4 * rms["none"]).all()


CORNERS = ("start", (2.5, 1.0), (3.0, 1.5), (3.5, 1.0), (3.0, 0.5), (2.5, 1.0), "start")


def demonstrated(**fields):
    """The demonstration path, with largest piston errors (m)."""
    law = Sampled(PID(CRANE, **fields), 1e-3)
    log = simulate(ClosedLoop(CRANE, law), Scenario(reference=Waypoints("cartesian", CORNERS, 5.0)))
    assert log.status.completed
    return log, np.array([np.abs(log.array(f"e_x_{k}")).max() for k in "12"])


def test_default_gains_track_the_demonstration_path():
    log, error = demonstrated()
    assert (error < 2.5e-3).all()
    for k in "12":
        assert np.abs(np.diff(log.array(f"u_{k}"))).max() < 0.05  # no chatter
    for t, corner in zip(range(5, 30, 5), CORNERS[1:]):
        at = np.argmin(np.abs(log.time - t))
        assert (
            np.hypot(log.array("tcp_x")[at] - corner[0], log.array("tcp_y")[at] - corner[1]) < 0.01
        )


@pytest.mark.parametrize(
    "gains, hunts",
    [({}, False), ({"K_p": (70.0,), "K_i": (120.0,)}, True)],
    ids=["default", "fast sum"],
)
def test_integral_action_faster_than_the_oil_relaxes_against_dry_friction_hunts(
    crane, gains, hunts
):
    """Every piston comes back to a standing reference and stays; with a faster sum the extension never does."""
    law = Sampled(PID(crane, **gains), 2e-3)
    log = simulate(
        ClosedLoop(crane, law),
        Scenario(60.0, Hold("piston", "start"), offset={"dx_t2": 0.1, "dq_1": 0.05}),
    )
    last = log.time > 40.0
    between = (log.time > 15.0) & (log.time < 35.0)
    off = {name: np.abs(log.array(f"e_{name}")) for name in ("x_1", "x_2", "x_t2")}
    if hunts:
        assert off["x_t2"][last].max() > 1e-3
        assert off["x_t2"][last].max() > 0.5 * off["x_t2"][between].max()
    else:
        for error in off.values():
            assert error[last].max() < error[between].max()
            assert error[last].max() < 1e-4


def test_pressure_feedback_damps_the_crane():
    _, damped = demonstrated(K_p=(100.0,))
    _, bare = demonstrated(K_p=(100.0,), damping="none")
    assert (damped < 0.2 * bare).all()


# ---- refusals --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: PID(CRANE, K_p=(1.0, 2.0, 3.0)), "K_p: expected 1 or 2 numbers"),
        (lambda: PID(CRANE, K_i=(-1.0,)), "K_i: .*zero or greater"),
        (lambda: PID(CRANE, feed="fast"), "feed: expected one of none, gain, flow, got 'fast'"),
        (lambda: PID(LAG), "this plant is a Lag"),
        (lambda: pid(δ=0.5), "this plant is a Lag"),
        (lambda: pid(signals=("a",)), "expected 2 measured positions"),
        (lambda: pid(signals=("a", "c")), "there is no signal 'c'"),
    ],
)
def test_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_signals():
    law = PID(CRANE)
    assert [r.name for r in law.references] == ["x_1_d", "x_2_d", "dx_1_d", "dx_2_d"]
    assert [y.name for y in law.measured] == ["x_1", "x_2", "p_a1", "p_b1", "p_a2", "p_b2"]
    assert [y.name for y in replace(law, feed="gain", damping="none").measured] == ["x_1", "x_2"]
    assert [y.name for y in pid(signals=("b", "a")).measured] == ["b", "a"]
    with pytest.raises(InputError):
        ClosedLoop(LAG, law)


# ---- on a machine drawn by pins ----------------------------------------------------------------------------------------
def test_a_crane_drawn_by_pins_gets_the_same_commands():
    """Flow fed forward, pressures fed back and overlap made up for: as on the crane, whose pistons it measures from their pins."""
    crane = CRANE
    drawn = with_servos(crane)
    own = {"feed": "flow", "damping": "pressure", "δ": 0.5, "K_d": (0.7,)}
    own["signals"] = tuple(s.name for s in drawn.outputs if s.name in ("s_c1", "s_c2"))
    laws = PID(crane, **own | {"signals": ()}), PID(drawn, **own)
    closed = np.array([one.drive.closed for one in drawn.actuators])
    rng = np.random.default_rng(8)
    for _ in range(20):
        x, v = rng.uniform(0.1, 0.4, 2), rng.uniform(-0.1, 0.1, 2)
        wanted, p, slow = x + rng.uniform(-0.01, 0.01, 2), *rng.uniform(20e5, 160e5, (2, 4))
        z = [*rng.uniform(-1, 1, 2), *rng.uniform(-0.01, 0.01, 2), *slow]
        given = [
            law.command(0.0, z, [*(x + at), *p], [*(wanted + at), *v])
            for law, at in zip(laws, (np.zeros(2), closed))
        ]
        assert given[1] == pytest.approx(given[0], rel=1e-12, abs=1e-12)
        assert max(map(abs, given[0])) > 0.05


def test_a_pid_that_feeds_flow_forward_measures_the_pistons():
    drawn = with_servos(CRANE)
    with pytest.raises(InputError, match="needs the actuators' own positions, s_c1, s_c2"):
        PID(drawn, feed="flow", damping="none", signals=("q_arm1", "q_arm2"))


def test_pressure_feedback_suits_the_force_that_a_machine_has():
    """A tenth of the command's range where the force changes by all that the supply can give."""
    plant = loads("plant: patu-655").loop.plant
    K_f = PID.design(plant).K_f
    for one, K in zip(plant.notched, K_f, strict=True):
        assert K * one.p_s * one.chambers.A_a == pytest.approx(0.1 * one.chambers.valve.u_max)


def test_pressure_feedback_is_what_damps_a_machine_with_chambers():
    drawn = with_servos(CRANE)
    assert PID.design(drawn, damping="none").damped_by == "damping: pressure"
    assert PID.design(drawn).damped_by == "" == PID.design(LAG).damped_by


def test_pressures_are_fed_back_where_every_actuator_has_chambers():
    """What is left out, on a drawn machine; one actuator without chambers, and none are read."""
    drawn = with_servos(CRANE)
    assert (PID.design(drawn).damping, PID.design(LAG).damping) == ("pressure", "none")
    first, *others = drawn.actuators
    bare = replace(drawn, actuators=(replace(first, drive=Force()), *others))
    assert PID.design(bare).damping == "none"
