"""Pumps, lines and rods of oil that can be compressed, and bodies in space, at states that are written down."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from plants.components import spatial
from plants.components.spatial import Body, Frame
from plants.drives.compressible_rod import CompressibleRod
from plants.drives.contract import Line
from plants.drives.metered_rod import MeteredRod
from plants.supplies.instant_pump import AT, InstantPump
from plants.supplies.load_sensing import LoadSensing, aim, resting
from plants.supplies.two_lines import SelectedLines
from plants.valve_circuits.circuit import Pump
from workbench.contract.errors import InputError

# ---- a pump whose pressure follows at once --------------------------------------------------------------------------------------
PUMP = InstantPump(pump=Pump(Q=2e-3, P_M=1.6e7), u_b=0.2)


@pytest.mark.parametrize(
    "P, opens",
    [(1e7, False), (1.6e7, True), (1.6e7 * (1 - 0.9 * AT), True), (1.6e7 * (1 - 1.1 * AT), False)],
)
def test_the_relief_takes_what_is_left_at_its_pressure(P, opens):
    """Q P = bleed + relief + taken at the relief; below it nothing goes through the relief."""
    found = PUMP.account(np.array([P]), 3e-4, None)
    bled = PUMP.k_b * np.sqrt(P)
    assert found.given == pytest.approx([2e-3 * P]) and found.stored.tolist() == [0.0]
    assert found.lost["bleed"] == pytest.approx([bled * P])
    assert found.lost["relief"] == pytest.approx([(2e-3 - bled - 3e-4) * P if opens else 0.0])


def test_powers_of_a_pump_are_those_of_what_it_gives():
    line = Line(9e6, 0.0, SimpleNamespace(flow=4e-4, left=0.25))
    takers = [(None, SimpleNamespace(line=line))] * 2
    bled = PUMP.k_b * 3e3
    expected = [2e-3 * 9e6, -bled * 9e6, -(2e-3 - bled - 8e-4) * 9e6, -8e-4 * 9e6]
    assert PUMP.powers(None, takers, None) == pytest.approx(expected)
    assert PUMP.shown(None, takers, None) == [9e6, 0.25]


@pytest.mark.parametrize(
    "speeds, taken",
    [
        ((0.05, -0.1), 0.05 * 0.01 + 0.1 * 0.004),
        ((-0.05, 0.1), 0.05 * 0.006 + 0.1 * 0.008),
        ((0.0, 0.0), 0.0),
    ],
)
def test_the_pressure_left_while_pistons_move(speeds, taken):
    """The pump feeds the chamber that grows; the bleed passes the rest, and the relief holds its pressure."""
    areas = ((0.01, 0.006), (0.008, 0.004))
    left = 2e-3 - taken
    found = PUMP.left_by(areas, speeds)
    assert found == pytest.approx(min((left / PUMP.k_b) ** 2, 1.6e7))
    assert PUMP.left_by(areas, (1.0, 1.0)) == 0.0


# ---- lines that follow the load --------------------------------------------------------------------------------------------------
SENSING = LoadSensing(margin=2e6, nominal=8e5, flow=5e-4, standby=3e6, p_top=1.8e7, p_r=5e5, τ=0.05)


@pytest.mark.parametrize(
    "load, taken, wanted",
    [
        (6e6, (2e-4, -1e-4), 8e6 + 8e5 * 0.04),
        (6e6, (-2e-4,), 8e6),
        (5e5, (), 3e6),
        (1.7e7, (), 1.8e7),
        (1e6, (5e-4,), 3.8e6),
    ],
)
def test_what_a_pump_aims_at(load, taken, wanted):
    """A margin above the load that grows with the square of the flow, between standby and the top."""
    assert aim(SENSING, load, taken, 1.8e7) == pytest.approx(wanted)


def test_the_pressure_at_rest_and_between_what_it_stays():
    assert resting(SENSING, [5e5, 7e6, 2e6], 1.8e7) == 9e6
    assert resting(SENSING, [5e5], 1.8e7) == 3e6 and resting(SENSING, [1.7e7], 1.8e7) == 1.8e7
    assert SENSING.initial([(1e6, 2e6), (4e6, 3e6)]) == [6e6]
    assert SENSING.range == (3e6, 1.8e7) and replace(SENSING, standby=0.0).range == (2.5e6, 1.8e7)
    assert SENSING.unloaded == Line(5e5 + 2.8e6, 5e5)
    assert replace(SENSING, nominal=3e7).unloaded.p_s == 1.8e7
    assert SENSING.circuit_pump.P_M == 1.75e7


def test_a_pump_goes_to_what_it_aims_at_in_its_time_constant():
    drive = SimpleNamespace(port=lambda load, flow, w: load, flow=lambda load, flow: flow)
    takers = [(drive, SimpleNamespace(at=(4e6, 2e-4))), (drive, SimpleNamespace(at=(7e6, 3e-4)))]
    assert SENSING.rates([6e6], takers, None) == pytest.approx([(9e6 + 8e5 - 6e6) / 0.05])


@pytest.mark.parametrize("change", [{"margin": 1.75e7}, {"standby": 1.8e7}])
def test_a_margin_that_leaves_nothing_is_refused(change):
    with pytest.raises(InputError, match="is more than the pump gives"):
        replace(SENSING, **change)
    below = {name: 0.999 * value for name, value in change.items()}
    assert replace(SENSING, **below)


LINES = SelectedLines(drives=("a", "b"), low=8e6, high=1.8e7, margin=1e6, w=2e5, τ=0.04, p_r=5e5)


@pytest.mark.parametrize(
    "p, line", [(6.8e6, 8e6), (6.9e6, 1.3e7), (7e6, 1.8e7), (2e7, 1.8e7), (0.0, 8e6)]
)
def test_a_selector_takes_the_lower_line_that_moves_the_load(p, line):
    """With a margin in hand the high one; between them over a width."""
    assert LINES.selected(p) == pytest.approx(line)
    (first, second) = LINES.initial([(0.0, 0.0), (p, 1.0)])
    assert first == 8e6 and second == pytest.approx(line)
    drive = SimpleNamespace(port=lambda load, w: load)
    takers = [(drive, SimpleNamespace(at=(p,))), (drive, SimpleNamespace(at=(0.0,)))]
    rates = LINES.rates([1e7, 7e6], takers, None)
    assert rates == pytest.approx([(line - 1e7) / 0.04, (8e6 - 7e6) / 0.04])


@pytest.mark.parametrize("low", [5e5, 1.8e7])
def test_the_low_line_is_between_the_others(low):
    with pytest.raises(InputError, match="is not between the return pressure"):
        replace(LINES, low=low)


# ---- a rod of oil that can be compressed -----------------------------------------------------------------------------------------
ROD = CompressibleRod(rod=MeteredRod(K=4e7, B=3e5), β=8e8, V_h=9e-3, V_r=5e-3, G=2e-6, w=1e-6)
ROW = [0.02, 0.011, 1.5e7, 1.2e7, 1e-7, 2e-7, 3e-7, 4e-7, 5e-7]


def test_flows_through_the_valves_of_a_section():
    """From pump and rod side in one way only, to the tank in both; reliefs and suction checks at their slope."""
    q = ROD.flows(ROW, 1e7, 4e6, 9e6)
    assert (q.Q_ph, q.Q_pr) == pytest.approx((1e-7 * np.sqrt(6e6), 2e-7 * 1e3))
    assert (q.Q_th, q.Q_tr) == pytest.approx((3e-7 * 2e3, 4e-7 * 3e3))
    assert q.Q_a == pytest.approx(5e-7 * np.sqrt(5e6)) and (q.Q_ho, q.Q_ro) == (0.0, 0.0)
    q = ROD.flows(ROW, 1e7, 1.6e7, -1e5)
    assert q.Q_ph == pytest.approx(0.0, abs=1e-12) and q.Q_a == pytest.approx(0.0, abs=1e-12)
    assert q.Q_ho == pytest.approx(2e-6 * 1e6) and q.Q_ro == pytest.approx(-2e-6 * 1e5)
    assert q.Q_tr < 0


def test_how_a_rod_moves_and_what_that_costs(monkeypatch):
    """B (ẋ − i ṡ) = A_h P_h − A_r P_r − K (x − i s); β/V ΔQ; powers of every valve, whose sum is that of the oil and the rod."""
    monkeypatch.setattr(CompressibleRod, "row", lambda self, u: ROW)
    x, s, sdot, line = [0.3, 6e6, 4e6], 0.31, 0.05, Line(1.1e7, 1e6)
    i = ROD.rod.i
    at = ROD.at_work(x, s, sdot, None, line)
    force = 0.02 * 6e6 - 0.011 * 4e6
    spring = ROD.rod.spring(x, s)
    assert at.force == pytest.approx(force) and ROD.force(x, s, sdot, None, line) == pytest.approx(
        i * force
    )
    assert at.speed == pytest.approx((force - spring + 3e5 * i * sdot) / 3e5) and at.P == 1e7
    q = at.flows
    rates = ROD.rates(x, s, sdot, None, line)
    head = 8e8 / 9e-3 * (q.Q_ph - q.Q_th + q.Q_a - q.Q_ho - 0.02 * at.speed)
    rod = 8e8 / 5e-3 * (q.Q_pr - q.Q_tr - q.Q_a - q.Q_ro + 0.011 * at.speed)
    assert rates == pytest.approx([at.speed, head, rod])
    assert ROD.flow(x, s, sdot, None, line) == pytest.approx(q.Q_ph + q.Q_pr)
    assert ROD.shown(x, s, sdot, None, line) == pytest.approx([0.3 - i * s, at.speed, force])
    powers = ROD.powers(x, s, sdot, None, line)
    taken = q.Q_ph + q.Q_pr
    assert powers[:2] == pytest.approx([1.1e7 * taken, -1e6 * taken])
    assert powers[2:4] == pytest.approx([-q.Q_ph * 4e6, -q.Q_pr * 6e6])
    assert powers[4:6] == pytest.approx([-q.Q_th * 6e6, -q.Q_tr * 4e6])
    assert powers[6] == pytest.approx(-q.Q_a * (4e6 - 6e6)) and powers[7:9] == pytest.approx(
        [0.0, 0.0]
    )
    assert powers[9] == pytest.approx(-3e5 * (at.speed - i * sdot) ** 2)
    back = ROD.at_work([0.3, 4e6, 6e6], s, sdot, None, line).flows
    assert back.Q_a == pytest.approx(5e-7 * np.sqrt(2e6))
    other = ROD.powers([0.3, 4e6, 6e6], s, sdot, None, line)
    assert other[6] == pytest.approx(-back.Q_a * 2e6)
    beyond = ROD.powers([0.3, 1.6e7, 1.3e7], s, sdot, None, line)
    assert beyond[7:9] == pytest.approx([-2e-6 * 1e6 * 1.6e7, -2e-6 * 1e6 * 1.3e7])
    oil = (9e-3 * 36e12 + 5e-3 * 16e12) / (2 * 8e8)
    assert ROD.stored(x, s) == pytest.approx(ROD.rod.stored(x, s) + oil)


def test_a_rod_at_rest_pushes_with_one_chamber():
    section = ROD.rod.section
    _, head, rod = ROD.initial(0.2, 3e4, Line(1e7, 1e6))
    assert head == pytest.approx(3e4 / ROD.rod.i / section.A_h) and rod == 0.0
    _, head, rod = ROD.initial(0.2, -3e4, Line(1e7, 1e6))
    assert rod == pytest.approx(3e4 / ROD.rod.i / section.A_r) and head == 0.0


@pytest.mark.parametrize(
    "u, felt", [(0.01, 2e6), (0.04, 3e6), (-0.01, 3.5e6), (-0.04, 6e6), (0.0, 1e6)]
)
def test_the_port_of_a_rod_is_the_chamber_that_is_fed(u, felt):
    """Over an opening of 0.02 it begins to count, above the return."""
    found = ROD.port([0.1, 2e6, 5e6], None, None, [u], Line(1e7, 1e6), 0.02)
    assert found == pytest.approx(felt)


# ---- space -----------------------------------------------------------------------------------------------------------------------
A, B = [2.0, -3.0, 5.0], [7.0, 11.0, -13.0]
R = [0.36, 0.48, -0.8, -0.8, 0.6, 0.0, 0.48, 0.64, 0.6]


def test_vectors_and_rotations():
    M = np.array(R).reshape(3, 3)
    J = (1.0, 2.0, 3.0, 0.5, -0.25, 0.125)
    tensor = np.array([[1.0, 0.5, -0.25], [0.5, 2.0, 0.125], [-0.25, 0.125, 3.0]])
    assert spatial.add(A, B) == [9.0, 8.0, -8.0] and spatial.sub(A, B) == [-5.0, -14.0, 18.0]
    assert spatial.dot(A, B) == -84.0 and spatial.cross(A, B) == np.cross(A, B).tolist()
    assert spatial.turn(R, A) == pytest.approx(M @ A) and spatial.unturn(R, A) == pytest.approx(
        M.T @ A
    )
    about = spatial.about_z(0.6, 0.8)
    assert spatial.compose(R, about) == pytest.approx((M @ np.reshape(about, (3, 3))).ravel())
    assert spatial.turn(about, [1.0, 0.0, 2.0]) == pytest.approx([0.6, 0.8, 2.0])
    assert spatial.inertia_times(J, A) == pytest.approx(tensor @ A)
    assert spatial.power((A, B), (B, B)) == -84.0 + 49.0 + 121.0 + 169.0
    assert spatial.plus((A, B), (B, A)) == ([9.0, 8.0, -8.0], [9.0, 8.0, -8.0])
    assert spatial.minus((A, B), (B, A)) == ([-5.0, -14.0, 18.0], [5.0, 14.0, -18.0])


@pytest.mark.parametrize("off, fits", [(0.9e-6, True), (1.1e-6, False)])
def test_a_frame_is_a_rotation(off, fits):
    nearly = (1.0, off, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
    if fits:
        assert Frame(R=nearly).R == nearly
        return
    with pytest.raises(InputError, match="not a rotation matrix"):
        Frame(R=nearly)


@pytest.mark.parametrize("given", [{"r": (1.0, 2.0)}, {"R": (1.0,) * 8}])
def test_a_frame_has_an_origin_and_nine_numbers(given):
    with pytest.raises(InputError, match="an origin r of 3 and a rotation R of 9"):
        Frame(**given)


def test_a_mirror_is_no_rotation():
    with pytest.raises(InputError, match="det R = -1"):
        Frame(R=(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, -1.0))


def points(*masses_and_places):
    """A body of points, at least three of them."""
    m = sum(mass for mass, _ in masses_and_places)
    com = sum(mass * np.array(place) for mass, place in masses_and_places) / m
    J = sum(
        mass * ((d := np.array(place) - com) @ d * np.eye(3) - np.outer(d, d))
        for mass, place in masses_and_places
    )
    six = (J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2])
    return Body(m, tuple(map(float, com)), tuple(map(float, six)))


FIRST = ((2.0, (1.0, 0.5, -1.0)), (3.0, (-1.0, 2.0, 0.5)), (1.5, (0.0, -1.0, 2.0)))
SECOND = ((1.0, (3.0, 1.0, 1.0)), (4.0, (2.0, -2.0, 0.5)), (0.5, (-3.0, 0.0, 1.0)))


def test_bodies_are_joined_and_moved_as_their_points_are():
    whole = points(*FIRST).joined(points(*SECOND))
    exact = points(*FIRST, *SECOND)
    assert whole.mass == pytest.approx(exact.mass) and whole.com == pytest.approx(exact.com)
    assert whole.inertia == pytest.approx(exact.inertia)
    frame = Frame((0.5, -1.0, 2.0), tuple(R))
    turned = [(m, np.array(frame.r) + np.reshape(R, (3, 3)) @ place) for m, place in FIRST]
    moved = points(*FIRST).moved(frame)
    assert moved.com == pytest.approx(points(*turned).com)
    assert moved.inertia == pytest.approx(points(*turned).inertia)
    nothing = Body()
    assert nothing.joined(Body(com=(1.0, 2.0, 3.0))) is nothing


@pytest.mark.parametrize(
    "moments, fits",
    [
        ((1.0, 2.0, 3.0), True),
        ((1.0, 2.0, 3.0 * 1.0019), True),
        ((1.0, 2.0, 3.0 * 1.0021), False),
        ((0.0, 2.0, 2.0), True),
        ((-1e-9, 2.0, 2.0), True),
        ((-1e-8, 2.0, 2.0), False),
    ],
)
def test_moments_of_a_body_are_those_of_some_masses(moments, fits):
    if fits:
        assert Body(1.0, inertia=(*moments, 0.0, 0.0, 0.0)).inertia[:3] == moments
        return
    with pytest.raises(InputError, match="belong to no body"):
        Body(1.0, inertia=(*moments, 0.0, 0.0, 0.0))


def test_inertia_needs_mass():
    with pytest.raises(InputError, match="a body with inertia but no mass"):
        Body(0.0, inertia=(1.0, 1.0, 1.0, 0.0, 0.0, 0.0))
