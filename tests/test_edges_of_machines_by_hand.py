"""Edges and books of machines: wrenches at cuts in equilibrium, inertia, projections, what a drive alone or many ask for."""

from dataclasses import replace
from types import SimpleNamespace

import mechanisms as made
import numpy as np
import pytest

from plants import scales
from plants.components.circuit_checks import check_pins
from plants.components.friction import BengisuAkay, BrownMcPhee, CoulombViscous, Stribeck
from plants.components.friction.enclosure import ROUNDING, _lowest
from plants.drives.laws import Force, SpringDamper
from plants.machine_files import file_of, machine_sections
from plants.multibody import (
    assembly,
    cuts,
    drive_forces,
    dynamics,
    linear,
    required,
    strokes,
)
from plants.multibody.checks import check_masses
from plants.multibody.mechanism import Mechanism
from plants.multibody.parts import Actuator, Pin
from plants.multibody.urdf.tree import _axis
from plants.shipped import read_sources
from workbench.contract.errors import InputError

PUSH = Actuator("push", Force(), Pin("ground", (-1.0, 0.4, 0.0)), Pin("crank", (1.0, 0.1, 0.0)))
TIE = Actuator("tie", SpringDamper(900.0, 3.0, 40.0), Pin("crank", (0.7, 0.3, 0.0)), Pin("rocker", (1.2, 0.1, 0.0)))  # fmt: skip


def bars(method, **options):
    own = made.four_bar(actuators=(PUSH, TIE), method=method, **options)
    damped = zip(own.bodies, (7.0, 3.0, 5.0))
    return replace(own, bodies=tuple(replace(b, damping=d) for b, d in damped))


def at_rest(method):
    """(mechanism, the whole of it at its start, lines of its actuators)."""
    rig = bars(method)
    z = list(rig.assembly.z)
    q = [z[i] for i in rig.own[0]]
    at = required.whole(rig, q, [0.0] * len(rig.own[1]))
    return rig, at, required.lines(rig, at)


# ---- cuts -----------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("method", ["projected", "minimal"])
def test_every_body_is_in_equilibrium_between_its_cuts(method):
    """Net wrench = joint − joints it carries + actuators + loop; a joint's own force along its axis is what is passive there."""
    rig, at, own = at_rest(method)
    planar = ((3.0, -2.0, 5.0), (1.0, 4.0, -7.0), (-6.0, 2.0, 2.0))
    nets = [((x, y, 0.0), (0.0, 0.0, m)) for x, y, m in planar]
    passive = [0.7, -0.4, 0.9]
    net = [np.ravel(w) for w in nets]
    lever = np.array(own.by_coordinate, float)[:, 0]
    B = np.array(at.B, float)[0]
    asked = np.array(required.joint_forces(rig, at.motion, nets)) - passive
    forces = [(B @ asked - lever[1] * 11.0) / lever[0], 11.0]
    found = cuts.cuts(rig, at, own, nets, forces, passive)
    joint, loop = [np.ravel(w) for w in found.joint], np.ravel(found.loop[0])
    push, tie = (f * np.ravel(w) for f, w in zip(forces, own.wrench))
    assert net[0] == pytest.approx(joint[0] - joint[1] + push - tie, abs=1e-9)
    assert net[1] == pytest.approx(joint[1] - joint[2], abs=1e-9)
    assert net[2] == pytest.approx(joint[2] + tie - loop, abs=1e-9)
    for b, w, p in zip(at.motion.b, joint, passive):
        assert np.ravel(b) @ w == pytest.approx(p, abs=1e-9)
    sizes = [np.ravel(w) for w in found.sizes]
    assert sizes[2] == pytest.approx(abs(net[2]) + abs(tie) + abs(loop))
    assert sizes[0] == pytest.approx(sum(map(abs, net)) + abs(push) + 2 * abs(tie) + abs(loop))


@pytest.mark.parametrize("method", ["projected", "minimal"])
def test_inertia_of_the_coordinates(method):
    """Bᵀ M B, and rows of J_s of the driven actuators alone."""
    rig = made.four_bar(actuators=(TIE, PUSH), method=method)
    z = list(rig.assembly.z)
    at = required.whole(rig, [z[i] for i in rig.own[0]], [0.0] * len(rig.own[1]))
    M, B = np.array(rig.mass_matrix(z), float), np.array(at.B, float)
    q = [z[i] for i in rig.own[0]]
    assert np.array(drive_forces.inertia(rig, q)) == pytest.approx(B @ M @ B.T)
    lines = required.lines(rig, at)
    assert drive_forces.rows_at(rig, q) == [pytest.approx(lines.by_coordinate[1])]
    tree = made.random_tree(2, 4)
    z, _ = made.random_positions(np.random.default_rng(1), tree)
    M = np.array(tree.mass_matrix(z), float)
    assert np.array(drive_forces.inertia(tree, z)) == pytest.approx(M, abs=1e-12)


def test_rates_are_put_on_the_loops_in_the_metric_of_the_mass():
    rig = made.four_bar()
    z = list(rig.assembly.z)
    M, G = np.array(rig.mass_matrix(z), float), np.array(rig.constraints(z)[1], float)[:2]
    given = np.array([0.3, -0.5, 0.8])
    back, rates = dynamics.projected(rig, z, list(given))
    W = np.linalg.inv(M)
    wanted = given - W @ G.T @ np.linalg.solve(G @ W @ G.T, G @ given)
    closed = made.four_bar(method="minimal")
    same, given_back = dynamics.projected(closed, z, given)
    assert same is z and given_back is given
    assert back == pytest.approx(z, abs=1e-12) and rates == pytest.approx(wanted)
    off, _ = dynamics.projected(rig, [z[0] + 1e-4, z[1], z[2]], list(given))
    assert np.abs(rig.constraints(off)[0]).max() < 1e-10
    assert [dynamics.damping(SimpleNamespace(used=(0, 1)[:n], kept=(0,))) for n in (1, 2)] == [0.0, 1e-4]  # fmt: skip


def test_leading_rates_are_found_where_loops_have_no_closed_form():
    assert made.four_bar().leads == (0,) == made.four_bar().lead
    closed = made.four_bar(method="minimal")
    assert closed.leads == () and closed.lead == (0,) and made.cart_pole().leads == ()


def test_rows_that_are_independent_are_solved_once():
    M = SimpleNamespace(b=[0] * 3, solve=lambda row: [v * 0.3 for v in row])
    own = linear.held(M, [[1.0, 0.7, -0.4], [0.2, -0.9, 1.3]])
    b = [0.7, -1.9]
    assert own.multipliers(b) == linear.solve(own.S, b)


# ---- a ground that moves --------------------------------------------------------------------------------------------------
def test_the_power_of_the_base_goes_with_its_twist_all_the_way():
    """Linear along any twist: that of all ones is the mean of those to both sides of it."""
    rig = Mechanism(
        (made.bar("a", "ground", 2.0, 16.0, start=0.4), made.bar("b", "a", 1.5, 9.0, point=(2.0, 0.0, 0.0))),
        moving_ground=True,
    )  # fmt: skip
    names = [s.name for s in rig.inputs]

    def power(twist):
        u = dict.fromkeys(names, 0.0) | {"g_y": 9.81}
        for name in names:
            if name.startswith(("V_b", "ω_b")):
                u[name] = twist
        return float(rig.powers(0.0, [0.4, -0.7, 0.2, 0.5], list(u.values()))[-1])

    def moved(*V):
        u = dict.fromkeys(names, 0.0) | {"g_y": 9.81} | dict(zip(("V_bx", "V_by", "V_bz"), V))
        return float(rig.powers(0.0, [0.4, -0.7, 0.2, 0.5], list(u.values()))[-1])

    assert moved(0.5, -0.7, 0.0) == pytest.approx(moved(0.5, 0.0, 0.0) + moved(0.0, -0.7, 0.0))
    assert abs(moved(0.5, 0.0, 0.0)) > 0.1
    assert rig.power_names[-1] == "base" and power(0.0) == 0.0
    assert power(1.0) == pytest.approx((power(0.999) + power(1.001)) / 2, rel=1e-4) and abs(power(1.0)) > 1  # fmt: skip


# ---- edges ----------------------------------------------------------------------------------------------------------------
def test_pins_may_come_as_near_as_the_stroke():
    check_pins(SimpleNamespace(range=(0.9, 1.8), stroke=0.9, l_20=0.4), "drive")


def test_slopes_are_rounded_outwards():
    """Where tanh is 1 to rounding nothing is left of Coulomb friction; a viscous friction counts in what is rounded."""
    law = CoulombViscous(F_c=310.0, b=43.0, width=0.004)
    assert law.slope(18.5 * 0.004)[0] == 43.0
    heavy = BengisuAkay(F_c=310.0, F_s=770.0, v_s=0.021, b=1e8, ξ=55.0)
    low, _ = heavy.slope(0.5)
    assert 1e8 - 55 * 460 - low == pytest.approx(ROUNDING * 1e8, rel=0.01)


def test_slopes_that_lose_digits_are_enclosed_by_what_they_lose():
    """Far beyond w nothing of the smoothed sign is left but its rounding; at v_s the bump of Brown–McPhee is zero."""
    law = Stribeck(F_c=310.0, F_s=770.0, v_s=0.5, b=0.0, width=7e-3)
    v = np.array([30 * 7e-3])
    low, high = law._slope_within(v, v)
    falling = -2 * 460 / 0.25 * v * np.exp(-((v / 0.5) ** 2))
    loose = ROUNDING * 1080 / 7e-3
    assert high - falling == pytest.approx(loose, rel=0.2) and low < falling
    smooth = BrownMcPhee(F_c=0.0, F_s=770.0, v_s=0.02, b=0.0)
    low, high = smooth._slope_within(np.array([0.02]), np.array([0.02]))
    assert (low[0], high[0]) == pytest.approx((-ROUNDING * 38500, ROUNDING * 38500), rel=1e-2)


@pytest.mark.parametrize("size, slack, looks", [(1e4, 5e-7, 1), (1e4, 5e-6, 2), (1e-4, 5e-7, 1), (1e-4, 5e-6, 2)])  # fmt: skip
def test_a_range_is_found_to_a_millionth_of_its_size(size, slack, looks):
    asked = []

    def within(l, h):
        asked.append(len(l))
        low = size * (1 - slack * (h > l) * (len(asked) < 3))
        return low, low

    assert _lowest(within, np.array([0.0, 1.0]), 1.0, 60) == pytest.approx(size, rel=1e-5)
    assert len(asked) == 2 * looks


def test_a_start_without_loops_is_looked_at_no_further():
    assert assembly.check_regular(SimpleNamespace(loops=()), [0.1], np.eye(1)) is None
    assert assembly.check_regular(SimpleNamespace(loops=("k",)), [], np.eye(0)) is None


@pytest.mark.parametrize("size, closes", [(0.9e-9, True), (1.1e-9, False)])
def test_a_loop_is_closed_in_eight_steps_or_to_a_nanometre(size, closes):
    looked = []
    constraints = lambda z: (looked.append(z), (np.array([size]), np.array([[1.0]])))[1]
    rig = SimpleNamespace(
        tree=SimpleNamespace(n_v=1), moved=lambda z, δ: [z[0] + δ[0]], constraints=constraints
    )
    there = strokes._stepped(rig, [1.0], [0.5])
    assert len(looked) == 8
    assert there == (pytest.approx([1.5 - 8 * size]) if closes else None)


def test_an_axis_that_is_not_said_is_x():
    element = lambda numbers: SimpleNamespace(one=lambda tag: numbers)
    silent = SimpleNamespace(numbers=lambda name, default: default)
    for said in (None, silent):
        assert _axis(element(said)).tolist() == [1.0, 0.0, 0.0]
    short = SimpleNamespace(numbers=lambda name, default: (0.0, 0.3, 0.4))
    assert _axis(element(short)) == pytest.approx([0.0, 0.6, 0.8])


def test_scales_of_a_four_bar():
    """Rate of the crank: speed of the cylinder by the range of one and the stroke of the other."""
    sizes = SimpleNamespace(source="pump", energy=5.0, pressure=7.0, force=11.0, stroke=0.4, speed=0.3)  # fmt: skip
    plant = SimpleNamespace(circuit=SimpleNamespace(sizes=lambda: sizes), joint_range=lambda: ((0.2, 1.7),))  # fmt: skip
    found = scales.of_four_bar(plant)
    assert found["angle"].value == pytest.approx(1.5)
    assert found["rate"].value == pytest.approx(0.3 * 1.5 / 0.4)


def test_files_of_machines(tmp_path):
    for text in ("[1, 2]", "crane: {}", "7"):
        path = tmp_path / "m.yaml"
        path.write_text(text, "utf-8")
        with pytest.raises(InputError, match="a machine's file needs a plant: section"):
            machine_sections(path)
    assert read_sources(None) == {} == read_sources(SimpleNamespace(value=None))
    assert read_sources(SimpleNamespace(value={"A": SimpleNamespace(value="a title")})) == {"A": "a title"}  # fmt: skip


def test_a_projection_takes_two_chord_steps_for_positions_and_two_for_rates(monkeypatch):
    """Rows are read where it begins and at each of them."""
    looked, rows = [], dynamics.kept
    monkeypatch.setattr(dynamics, "kept", lambda m, motion: looked.append(1) or rows(m, motion))
    rig = made.four_bar()
    dynamics.projected(rig, list(rig.assembly.z), [0.1, 0.2, 0.3])
    assert len(looked) == 1 + 2 + 2


# ---- strokes --------------------------------------------------------------------------------------------------------------
def followed(monkeypatch, arm=lambda z: 1.0, span=(-1e9, 1e9)):
    """A cylinder of length z with this lever arm, on a joint that turns as far as it likes."""
    monkeypatch.setattr(strokes, "_arms", lambda m, z: (np.array([z[0]]), np.eye(1), np.array([[arm(z[0])]])))  # fmt: skip
    monkeypatch.setattr(strokes, "_lengths", lambda m, z: (np.array([z[0]]), None))
    monkeypatch.setattr(strokes, "_stepped", lambda m, z, move: [z[0] + move[0]])
    rig = SimpleNamespace(actuators=[SimpleNamespace(span=span)])
    return strokes._followed(rig, 0, 1.0, [0.0])


def test_a_stroke_is_followed_for_four_hundred_steps(monkeypatch):
    """Of 0.05 in the joint that moves most."""
    path, dead = followed(monkeypatch)
    assert len(path) == 401 and path[-1][0] == pytest.approx(20.0) and dead == ()
    assert np.diff([s for s, _ in path]) == pytest.approx(0.05)


@pytest.mark.parametrize("least, ends", [(1.1e-2, False), (0.9e-2, True)])
def test_a_dead_point_has_a_hundredth_of_the_largest_arm(monkeypatch, least, ends):
    _, dead = followed(monkeypatch, lambda z: 3.0 if z < 0.12 else 3.0 * least)
    assert dead == ((pytest.approx(0.15),) if ends else ())


@pytest.mark.parametrize("back, closes", [(0.49, True), (0.51, False)])
def test_a_loop_is_closed_by_less_than_half_a_unit_or_not_at_all(back, closes):
    gaps = iter([back, 0.0])
    constraints = lambda z: (np.array([next(gaps)]), np.array([[1.0]]))
    rig = SimpleNamespace(
        tree=SimpleNamespace(n_v=1), moved=lambda z, δ: [z[0] + δ[0]], constraints=constraints
    )
    found = strokes._stepped(rig, [1.0], [0.5])
    assert found == ([pytest.approx(1.5 - back)] if closes else None)


# ---- files ----------------------------------------------------------------------------------------------------------------
def test_two_machines_of_like_names_are_told_and_no_more():
    with pytest.raises(InputError) as refused:
        file_of("four-ba")
    assert refused.value.mend == "did you mean four-bar or four-bar-printed?"
    with pytest.raises(InputError, match="no machine called 'zzzz' is shipped") as refused:
        file_of("zzzz")
    assert refused.value.mend.startswith("choose from ")


def test_the_body_that_moves_most_without_moving_mass_is_named():
    """Rows of unit length in a plane: (0.6, 0.8) is what both others are together, and counts most."""
    rows = np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]])
    own = SimpleNamespace(
        tree=SimpleNamespace(body_of=(0, 1, 2)),
        bodies=[SimpleNamespace(name=n) for n in ("boom", "link", "arm")],
    )
    with pytest.raises(InputError, match="bodies.link: its joint and others can move together"):
        check_masses(own, rows @ rows.T)
    assert check_masses(own, rows @ rows.T + 1e-9 * np.eye(3)) is None
