"""Rows of bodies and cuts, a delayed loop's matrices, expressions taken apart, paths that stray: small cases by hand."""

from types import SimpleNamespace

import casadi as ca
import numpy as np
import pytest
from scipy.linalg import expm

from controllers.vdc import body_rows
from controllers.vdc.body_rows import BASE, TIP, BodyRows
from workbench.contract.errors import InputError
from workbench.verification import proofs
from workbench.verification.linear import loop_family as linear_family
from workbench.verification.rigorous.lifting import lift
from workbench.verification.search import of_path
from workbench.verification.search.of_path import Path

# ---- rows of bodies -----------------------------------------------------------------------------------------------------------
Δ = ([1.0, -2.0, 3.0], [0.5, -0.25, 2.0])
F = ([4.0, 5.0, -6.0], [7.0, -8.0, 9.0])
G = ([1.0, -1.0, 2.0], [-3.0, 0.5, 1.0])


def test_the_power_of_a_cut_and_the_magnitude_of_its_terms():
    """Δᵀ(F − G), its sign by the way; |Δ|ᵀ(|F| + |G|), and a hundredth of what f × r is made of, for both wrenches."""
    size = (4 + 10 + 18 + 3.5 + 2 + 18) + (1 + 2 + 6 + 1.5 + 0.125 + 2)
    x, y, z = 0.3, 0.7, 1.1
    arms = 0.0
    for (a, b, c), _ in (F, G):
        a, b, c = abs(a), abs(b), abs(c)
        arms += 0.5 * (y * c + z * b) + 0.25 * (z * a + x * c) + 2.0 * (x * b + y * a)
    power = (3 - 12 - 24) + (5 + 2.125 + 16)
    for way in (1.0, -1.0):
        found = body_rows._flow(Δ, (F, G), way, (x, -y, z))
        assert found == pytest.approx((way * power, size + 0.01 * arms))
    assert body_rows.magnitude(Δ, F) == pytest.approx(55.5)


def test_names_of_bodies_and_what_the_tool_pushes_with():
    assert body_rows.in_subsystem("lift.B1") == ("lift", "B1")
    assert body_rows.in_subsystem("boom") == ("boom", "boom")
    nets = [F, G]
    assert body_rows._pushed(nets, None) is nets
    first, second = body_rows._pushed(nets, (1, F))
    assert first == F and second == ([5.0, 4.0, -4.0], [4.0, -7.5, 10.0])


def test_what_enters_through_the_tool_and_through_a_ground_that_moves():
    """The tool's wrench on its own body; from the base what all cuts of the ground carry away, with their magnitudes."""
    for moves in (True, False):
        flows = [{}, {}, {"joint a": (3.0, 5.0), "joint b": (-7.0, 11.0)}]
        own = SimpleNamespace(machine=SimpleNamespace(moving_ground=moves))
        BodyRows._outer(own, flows, [Δ, Δ, Δ], (1, F))
        power = 4 - 10 - 18 + 3.5 + 2 + 18
        assert flows[0] == {} and flows[1] == {TIP: pytest.approx((power, 55.5))}
        assert flows[2].get(BASE) == ((4.0, 16.0) if moves else None)
        BodyRows._outer(own, flows, [Δ, Δ, Δ], None)
        assert set(flows[1]) == {TIP}


def test_a_damped_joint_of_two_rates_and_a_load():
    """d Δż² of the body's own rates alone, and d (ż_r² + ż²); a load's power on Δ goes in and is its perturbation."""
    bodies = [SimpleNamespace(damping=9.0), SimpleNamespace(damping=2.5)]
    tree = SimpleNamespace(v=[(0, 1), (1, 2)])
    machine = SimpleNamespace(
        bodies=bodies, tree=tree, actuators=[SimpleNamespace(name="weight", joint="hip")]
    )
    need = SimpleNamespace(rates=[5.0, 0.3, -0.7], at=SimpleNamespace(rates=[1.0, 0.1, 0.4]))
    found = BodyRows._damped(SimpleNamespace(machine=machine), need, 1)
    assert found == pytest.approx((2.5 * (0.04 + 1.21), 2.5 * (0.1 + 0.65)))
    own = SimpleNamespace(machine=machine)
    own.cut = lambda i: BodyRows.cut(own, i)
    row = BodyRows._load(own, 0, -0.3, 40.0)
    assert (row.subsystem, row.name) == ("weight", "load weight")
    assert row.flows == {"joint hip": pytest.approx(-12.0)} and row.storage == row.dissipation == 0
    assert row.perturbations == {"load": pytest.approx(12.0)} and row.scale == pytest.approx(12.0)
    machine.actuators[0] = SimpleNamespace(name="weight", joint=None)
    assert BodyRows.cut(own, 0) == "pins weight"


def test_a_spring_gives_back_less_than_it_is_required_to(monkeypatch):
    """D = −Δ (f_r − f) with Δ the rates that its arm sees of what is required less what is; a drive with an input is a load."""
    inputs = {"spring": (), "weight": ("F",)}
    actuators = [
        SimpleNamespace(name=n, joint="hip", drive=SimpleNamespace(inputs=inputs.__getitem__))
        for n in inputs
    ]
    own = SimpleNamespace(machine=SimpleNamespace(actuators=actuators))
    own.cut = lambda i: BodyRows.cut(own, i)
    own._load = lambda i, Δ, force: ("load", i, Δ, force)
    monkeypatch.setattr(body_rows.bodies, "spring_forces", lambda *_: {0: -30.0, 1: 8.0})
    monkeypatch.setattr(
        body_rows.linear,
        "times",
        lambda rows, v: [sum(a * v[k] for k, a in row.items()) for row in rows],
    )
    need = SimpleNamespace(
        lines=SimpleNamespace(by_joint=[{0: 2.0}, {1: 3.0}]),
        rates=[0.5, 0.7],
        at=SimpleNamespace(rates=[0.1, 0.2]),
        every=[50.0, 60.0],
    )
    spring, load = BodyRows._springs(own, need, [-30.0, 8.0])
    assert spring.dissipation == pytest.approx(-0.8 * 80.0)
    assert spring.flows == {"joint hip": spring.dissipation} and spring.perturbations == {}
    assert spring.scale == pytest.approx(0.8 * 80.0) and spring.name == "spring spring"
    assert load == ("load", 1, pytest.approx(1.5), 8.0)


# ---- a delayed loop as matrices ----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("whole, rest", [(0, 0.3), (1, 0.0), (2, 0.7)])
def test_a_delayed_loop_follows_a_queue_of_commands(whole, rest):
    """ẋ = A x + B u, u = D C x + c z of `whole` samples and a rest ago, z⁺ = a z + b C x: sample by sample with a list."""
    T = 0.1
    A, B = np.array([[-1.0, 2.0], [0.5, -3.0]]), np.array([[0.7], [-0.4]])
    C = np.array([[1.0, -0.5]])
    one = lambda v: np.array([[v]])
    law = SimpleNamespace(A=one(0.8), B=one(0.3), C=one(-1.5), D=one(0.6), T=T)
    parts = linear_family._Parts(n=2, m=1, k=1, whole=whole)
    assert parts.size == 2 + (whole + 2) + 1
    jump = linear_family._sampled(parts, law, C)
    release = linear_family._released(parts)
    flow = np.array(linear_family._held(parts, np.hstack([A, B]).tolist()))
    early, late = linear_family._times((), whole, rest * T, T)
    assert (early, late) == pytest.approx((rest * T, T - rest * T))
    state = np.zeros(parts.size)
    state[:2], state[-1] = [0.9, -0.3], 0.25
    past = [0.11, -0.23, 0.37, 0.53][: whole + 1]  # the newest first
    state[2] = past[whole]  # what is applied before the first sample
    state[3 : 3 + whole + 1] = past
    x, z, line, applied = state[:2].copy(), state[-1], list(past), past[whole]
    for _ in range(5):
        state = jump @ state
        line = [float(0.6 * (C @ x)[0] - 1.5 * z), *line]
        z = float(0.8 * z + 0.3 * (C @ x)[0])
        for length in (early, late):
            if length == late:
                state = release @ state
                applied = line[whole]
            state = expm(flow * length) @ state
            both = np.block([[A, B], [np.zeros((1, 3))]])
            x = (expm(both * length) @ np.r_[x, applied])[:2]
        line = line[: whole + 1]
        assert state[:2] == pytest.approx(x, rel=1e-12) and state[-1] == pytest.approx(z)


def test_a_delay_that_varies_and_one_that_reaches_over_a_sample():
    early, late = linear_family._times(("m", "delay"), 2, 0.0, 0.1)
    assert early([9.0, 0.23]) == pytest.approx(0.03) and late([9.0, 0.23]) == pytest.approx(0.07)
    for range_ in ((0.2, 0.3), (0.21, 0.29)):
        linear_family._refuse_beyond_a_sample(range_, 2, 0.1)
    for range_ in ((-0.01, 0.05), (0.21, 0.301)):
        with pytest.raises(InputError, match="reaches over a sample"):
            linear_family._refuse_beyond_a_sample(range_, 2, 0.1)


# ---- expressions taken apart --------------------------------------------------------------------------------------------------
def test_constants_switches_and_domains_of_an_expression():
    """Numbers other than small integers become inputs, each once; steps, kinks and partial operations are listed."""
    x = ca.SX.sym("x", 2)
    a, b = x[0], x[1]
    parts = [
        0.3 * a + 0.3 * b,
        1024 * a,
        1025 * b,
        ca.fabs(a) + ca.fmin(a, b),
        (a < b) * 2,
        ca.sqrt(b) / a,
    ]
    found = lift(x, ca.vertcat(*parts, a**3))
    assert found.constants == (0.3, 1025.0)
    assert (len(found.steps), len(found.kinks), len(found.domains)) == (1, 2, 2)
    at, κ = [-0.7, 2.0], list(found.constants)
    values = np.array(found.function(found.expression)(at, κ)).ravel()
    assert values == pytest.approx([0.39, -716.8, 2050.0, 0.0, 2.0, -np.sqrt(2.0) / 0.7, -0.343])
    doubled = np.array(found.function(found.expression)(at, [0.6, 1025.0])).ravel()
    assert doubled[0] == pytest.approx(0.78) and doubled[1:] == pytest.approx(values[1:])
    kinks = np.array(found.function(ca.vertcat(*found.kinks))(at, κ)).ravel()
    assert kinks == pytest.approx([-1.0, 1.0])
    domains = sorted(np.array(found.function(ca.vertcat(*found.domains))(at, κ)).ravel())
    assert domains == pytest.approx(sorted([np.sqrt(2.0), -np.sqrt(2.0) / 0.7]))
    none = lift(x, a + b)
    assert none.constants == () and none.κ.numel() == 0 and none.steps == none.kinks == ()
    with pytest.raises(InputError, match="not a number"):
        lift(x, a + ca.inf)


# ---- paths that stray ----------------------------------------------------------------------------------------------------------
UNITS = ["rad", "m", "rad"]
OWN = np.array([0.4, 0.2, 0.6])


def test_how_fast_a_strayed_path_may_be():
    """One and a half times the fastest component of the unit, or what is said, which may be as fast and no slower."""
    assert Path()._limit("rad", OWN, UNITS) == pytest.approx(0.9)
    assert Path()._limit("m", OWN, UNITS) == pytest.approx(0.3)
    assert Path(speed="0.7 rad/s")._limit("rad", OWN, UNITS) == 0.7
    assert Path(speed=0.6)._limit("rad", OWN, UNITS) == 0.6
    with pytest.raises(InputError, match="faster than 0.59"):
        Path(speed=0.59)._limit("rad", OWN, UNITS)
    with pytest.raises(InputError, match="stands still"):
        Path()._limit("m", np.array([0.4, 0.0, 0.6]), UNITS)
    with pytest.raises(InputError, match="speed: "):
        Path(speed="3 kg")._limit("m", OWN, UNITS)


@pytest.mark.parametrize("reach, share", [(1.0, 1.0), (0.99, 31 / 32), (0.4, 12 / 32), (0.01, 0.0)])
def test_a_deviation_is_made_smaller_until_the_machine_reaches_it(monkeypatch, reach, share):
    monkeypatch.setattr(of_path, "start_state", lambda loop, scenario: None)
    possible = lambda self, loop, scenario, amounts, x0: amounts["a"] <= 8.0 * reach
    monkeypatch.setattr(Path, "_possible", possible)
    found = Path().settled(None, None, {"a": 8.0, "b": -2.0})
    assert found == {"a": pytest.approx(8.0 * share), "b": pytest.approx(-2.0 * share)}


def test_where_a_path_strays_and_how_fast_it_is(monkeypatch):
    monkeypatch.setattr(of_path, "Deviated", lambda *given: given)
    path = Path(times=(0.0, 1.0, 2.0, 3.0), limits=(0.3, 0.9))
    amounts = {Where((0, 1)): 5.0, Where((1, 0)): -7.0}
    asked, times, values = path.strayed(SimpleNamespace(reference="path"), amounts)
    assert (asked, times) == ("path", path.times)
    assert values == ((0.0, 0.0), (0.0, 5.0), (-7.0, 0.0), (0.0, 0.0))
    seen = []

    def sample(t, order):
        seen.append((t[0], t[-1], len(t), order))
        return [None, np.column_stack([np.cos(t), -2 - t])]

    fast = of_path._speeds(SimpleNamespace(sample=sample), path.times)
    assert fast == pytest.approx([1.0, 5.0]) and seen == [(0.0, 3.0, 400, 1)]


class Where:
    """A direction: which knot, which component."""

    def __init__(self, of):
        self.of = of


@pytest.mark.parametrize("factor, possible", [(1.0, True), (1 + 5e-10, True), (1.001, False)])
def test_a_path_is_possible_within_its_speeds_and_the_machines_reach(monkeypatch, factor, possible):
    monkeypatch.setattr(
        of_path, "_speeds", lambda reference, times: np.array([0.3 * factor, 0.1, 9.0])
    )
    monkeypatch.setattr(Path, "moved", lambda self, loop, scenario, amounts: (loop, scenario))

    def demand(refused):
        def check(t):
            if refused:
                raise InputError("out of reach")

        return lambda *_: SimpleNamespace(reference=None, check=check)

    path = Path(times=(0.0, 3.0), limits=(0.3, 0.9))
    for refused in (False, True):
        monkeypatch.setattr(of_path, "Demand", demand(refused))
        assert path._possible(None, None, {}, None) is (possible and not refused)


def test_starts_that_a_region_must_contain():
    one = proofs.RegionOfAttraction(contains={"x": 1.0})
    two = proofs.RegionOfAttraction(contains=({"x": 1.0}, {"x": 2.0}))
    assert one.starts == ({"x": 1.0},) and two.starts == ({"x": 1.0}, {"x": 2.0})
