"""Small kernels and what feeds them, from numbers written down: sums of bodies, valves above a return, switches of a graph."""

from types import SimpleNamespace

import casadi as ca
import metering_cases as cases
import numpy as np
import pytest

from plants.components import scalars
from plants.components.spatial import IDENTITY, Body
from plants.crane.planar_whole import _folded, _lump, reduced
from plants.drives import metering
from plants.drives.contract import Line
from plants.valve_circuits import Λ, Circuit, Openings, Pump, Section, closed, compiled, operating
from workbench.contract.errors import InputError
from workbench.verification.practical.switches.graph import of_time, sided, switches_in

TURN = (0.0, -1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0)  # by 90° about z


# ---- bodies --------------------------------------------------------------------------------------
def test_bodies_that_are_lumped_have_one_centre_and_their_inertia_about_it():
    """2 kg at (3, 1) and 6 kg at (1, 2), seen from (1, 1) along y: at (0, −2) and (1, 0); Steiner's parts beside their own."""
    one = (
        SimpleNamespace(r=(2.0, 1.0, 0.0), R=IDENTITY),
        Body(2.0, (1.0, 0.0, 0.3), (0.5, 0.6, 0.7, 0.0, 0.0, 0.0)),
    )
    two = (
        SimpleNamespace(r=(1.0, 1.0, 9.0), R=TURN),
        Body(6.0, (1.0, 0.0, -4.0), (0.4, 0.3, 0.2, 0.0, 0.0, 0.0)),
    )
    link = _lump([one, two], (1.0, 1.0), np.pi / 2, shift=-5.0)
    along, beside = (2 * 0.0 + 6 * 1.0) / 8, (2 * -2.0 + 6 * 0.0) / 8
    spread = 2 * (along**2 + (beside + 2) ** 2) + 6 * ((1 - along) ** 2 + beside**2)
    assert (link.mass, link.r, link.s) == pytest.approx((8.0, along - 5.0, beside))
    assert link.inertia == pytest.approx(0.7 + 0.2 + spread)


@pytest.mark.parametrize(
    "angle, folded", [(0.3, 0.3), (np.pi, np.pi), (-np.pi, np.pi), (4.0, 4.0 - 2 * np.pi)]
)
def test_an_angle_folded(angle, folded):
    assert _folded(angle) == pytest.approx(folded)


@pytest.mark.parametrize("q", [(-1.3, -1.9, 0.0), (-1.1, -1.4, 0.6)])
def test_the_tip_of_the_reduced_crane_is_where_that_of_the_machine_is(crane, q):
    """Retracted and extended; its tilt joint and its tip along and beside the boom."""
    plan = reduced(crane)
    first, last = crane.frames(list(q))
    foot, tip = (np.array(frame.r[:2], float) for frame in (first["B1"], last["E2"]))
    axis = np.array(last["B5"].R, float).reshape(3, 3)[:2, 0]
    elbow = tip - (plan.L_2 + q[2]) * axis - plan.h * np.array([-axis[1], axis[0]])
    assert plan.origin == pytest.approx(tuple(foot))
    assert np.hypot(*(elbow - foot)) == pytest.approx(plan.L_1, rel=1e-9)
    assert elbow == pytest.approx(np.array(last["B1"].r[:2], float))


def test_a_product_with_an_exact_zero_is_none_in_a_graph_and_computed_on_floats():
    x = ca.SX.sym("x")
    for a, b in ((0.0, x), (x, 0.0)):
        assert scalars.plain_product(a, b) == 0.0 and type(scalars.plain_product(a, b)) is float
    assert scalars.plain_product(1.0, x) is x and scalars.plain_product(x, 1.0) is x
    assert np.isnan(scalars.plain_product(0.0, np.nan)) and np.isnan(
        scalars.plain_product(np.nan, 0.0)
    )
    assert scalars.plain_product(1.0, 3.0) == 3.0 and scalars.plain_product(-2.0, 3.0) == -6.0
    assert (
        scalars.plain_sum(0.0, x) is x
        and scalars.plain_sum(x, 0.0) is x
        and scalars.plain_difference(x, 0.0) is x
    )
    assert scalars.plain_difference(0.0, 3.0) == -3.0 and scalars.plain_sum(2.0, 3.0) == 5.0


# ---- valves --------------------------------------------------------------------------------------
def test_a_section_works_above_its_return():
    """Of a return at 3 bar only the difference of its lines matters."""
    row = [3e-3, 2e-3, 210e5, 230e5, 4e-7, 0.0, 0.0, 5e-7, 0.0]
    own = metering.behind(row, 2e4, 1e5, 0.01)
    high = metering.metered(own, Line(153e5, 3e5), [0.7])
    low = metering.metered(own, Line(150e5, 0.0), [0.7])
    other = metering.metered(own, Line(153e5, 0.0), [0.7])
    for name in ("speed", "force", "flow", "P_h", "P_r"):
        assert float(getattr(high, name)) == pytest.approx(float(getattr(low, name)), rel=1e-12)
    assert float(high.flow) != pytest.approx(float(other.flow), rel=1e-6)


def test_speed_and_flow_have_no_slope_where_a_command_just_shuts_valves():
    """Both change with the opening of other valves on either side of it."""
    row = [3e-3, 2e-3, 210e5, 230e5, 4e-7, 0.0, 0.0, 5e-7, 0.0]
    u = ca.SX.sym("u")
    found = metering.metered(metering.behind(row, 2e4, 1e5, 0.01), Line(150e5, 0.0), [u])
    slopes = ca.Function("slopes", [u], [ca.jacobian(v, u) for v in (found.speed, found.flow)])
    assert all(np.isnan(float(v)) for v in slopes(0.0))
    assert all(float(v) == 0.0 for at in (-0.3, 0.4) for v in slopes(at))


def test_many_sections_at_once_move_each_as_the_closed_form_says():
    """More of them than a row has numbers, and fewer; out, back and at rest."""
    seen = set()
    rng = np.random.default_rng(4)
    for M in (3, 12):
        circuits = [cases.circuit(rng) for _ in range(M)]
        ways = rng.choice((-1, 1), M)
        rows = [c.rows(cases.openings(rng, int(w)))[0] for c, w in zip(circuits, ways)]
        rows = np.array([[float(e) for e in row] for row in rows])
        supply = np.array([[float(e) for e in c.supply(0.2)] for c in circuits])
        β, f = rng.uniform(1e4, 1e6, M), rng.normal(size=M) * 3e5
        v = np.full(M, np.nan)
        compiled.scalar_all(rows, supply, β, f, v)
        alone = [float(closed.Λ(*each)) for each in zip(rows, supply, β, f)]
        assert v == pytest.approx(alone, rel=1e-12, abs=1e-15)
        seen |= set(np.sign(v))
    assert seen == {-1.0, 0.0, 1.0}


@pytest.mark.parametrize("β, f", [(0.0, 1.0), (-1.0, 1.0), (np.inf, 1.0), (1e5, np.nan)])
def test_a_section_without_damping_has_no_velocity(β, f):
    rng = np.random.default_rng(5)
    with pytest.raises(InputError, match="β must be greater than zero"):
        Λ(cases.circuit(rng), cases.openings(rng, 1), 0.0, [β], [f])


def test_the_pumps_relief_is_open_where_nothing_takes_its_flow():
    """All shut: the pump's whole flow by its relief; a bleed that takes all of it leaves the pressure below."""
    pump = Pump(2e-3, 20e6, 1e-6)
    one = Circuit((Section("a", 0.01, 0.006, 25e6, 24e6),), pump)
    shut = operating(one, Openings(), 0.0, [0.0])
    assert shut.pR is True and shut.Q_M == pytest.approx(2e-3) and shut.Q_b == 0.0
    bled = operating(one, Openings(), 1.0, [0.0])
    assert bled.pR is False and bled.Q_M == pytest.approx(0.0, abs=1e-12)
    assert bled.Q_b == pytest.approx(2e-3)


# ---- switches of a graph -------------------------------------------------------------------------
def test_what_switches_compare():
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    found = {op: (a, b) for op, a, b in switches_in([ca.sign(x) + ca.fabs(3 * y) + ca.fmin(x, y)])}
    assert set(found) == {ca.OP_SIGN, ca.OP_FABS, ca.OP_FMIN}
    for op in (ca.OP_SIGN, ca.OP_FABS):
        assert found[op][1].is_constant() and float(found[op][1]) == 0.0
    assert float(ca.substitute(found[ca.OP_FABS][0], y, 2.0)) == 6.0


def test_a_tie_is_on_the_side_that_is_taken_there():
    switches = [(op, None, None) for op in (ca.OP_LT, ca.OP_LE, ca.OP_FMIN)]
    margins = np.array([[0.0, -2.0], [0.0, 3.0], [0.0, 5.0]])
    found = sided(margins, switches)
    assert found[:, 1].tolist() == [-2.0, 3.0, 5.0] and found[2, 0] == 0.0
    assert found[0, 0] > 0 > found[1, 0]


def test_margins_that_know_the_time_or_a_clock():
    """t < 3 and 2 x₁ < 7, x₁ a clock, each as left minus right; what compares x₀ alone is no margin of time."""
    t, x, w, c = (ca.SX.sym(name, n) for name, n in (("t", 1), ("x", 2), ("w", 1), ("c", 0)))
    turns = ca.if_else(t < 3, x[0], w) + ca.if_else(2 * x[1] < 7, 1.0, 0.0) + ca.fabs(x[0])
    flow = ca.Function("flow", [t, x, w, c], [ca.vertcat(turns, x[0])])
    still = ca.Function("jump", [t, x, w, c], [ca.fmin(x[0], w)])
    traced = SimpleNamespace(flow=flow)
    margins = of_time(traced, [flow, still], [1])
    assert sorted(np.array(margins(2.0, [9.0, 5.0], 0.5, [])).ravel()) == [-1.0, 3.0]
    alone = of_time(traced, [flow, still], [])
    assert np.array(alone(4.5, [9.0, 5.0], 0.5, [])).ravel().tolist() == [1.5]
    assert of_time(traced, [still], []) is None
