"""Rows of cut joints: what they keep together and parallel, their derivatives by differences in time, and wrenches by power."""

from types import SimpleNamespace

import numpy as np
import pytest
from test_articulated_tree_by_hand import BODIES, MOTION, RATES, UNITS, T, Z, later, near, poses

from plants.multibody import loops, spatial_rates, tree
from plants.multibody.parts import Loop, Place

A = Place("a", (0.2, -0.4, 0.3), (1.0, -2.0, 2.0), (0.5, 0.7, -0.2))
E = Place("e", (-0.3, 0.1, 0.6), (0.6, 0.0, -0.8), (0.3, 1.0, 0.4))
WORLD = Place("ground", (1.2, 0.3, -0.5), (-0.3, 0.4, 1.2), (1.0, 0.5, 0.2))
NUMBER = {"ground": -1, "a": 0, "b": 1, "e": 4}
KINDS = ("spherical", "revolute", "prismatic")
CUTS = [Loop("k", a, b, kind) for kind in KINDS for a, b in ((A, E), (E, A), (WORLD, E), (A, WORLD))]  # fmt: skip


def ends(loop):
    return NUMBER[loop.a.body], NUMBER[loop.b.body]


def unit(a):
    return np.array(a) / np.linalg.norm(a)


def in_space(loop, z):
    """Of both places: point, axis, a normal across it and the third, in the world."""
    found = []
    for place, j in zip((loop.a, loop.b), ends(loop)):
        r, R = poses(z)[j] if j >= 0 else (np.zeros(3), np.eye(3))
        u = unit(place.axis)
        n = unit(place.normal - u * (u @ place.normal))
        found.append((r + R @ place.point, R @ u, R @ n, R @ np.cross(u, n)))
    return found


def values(loop, z):
    (p, u, n, m), (q, w, k, _) = in_space(loop, z)
    d = q - p
    if loop.joint == "spherical":
        return np.array([n @ d, m @ d, u @ d])
    if loop.joint == "revolute":
        return np.array([n @ d, m @ d, u @ d, n @ w, m @ w])
    return np.array([n @ d, m @ d, n @ w, m @ w, m @ k])


@pytest.mark.parametrize("loop", CUTS, ids=lambda loop: f"{loop.joint}-{loop.a.body}-{loop.b.body}")
def test_rows_of_a_cut_and_their_derivatives(loop):
    h = 1e-4
    before, here, after = (values(loop, later(RATES, k * h)) for k in (-1, 0, 1))
    found = loops.rows(loop, MOTION, *ends(loop))
    assert len(found) == loops.ROWS[loop.joint] == len(here)
    assert near([row.value for row in found], here, 1e-9)
    assert near([row.rate for row in found], (after - before) / (2 * h))
    assert near([row.bias for row in found], (after - 2 * here + before) / h**2, 1e-5)
    assert {(row.a, row.b) for row in found} == {ends(loop)}


@pytest.mark.parametrize("loop", CUTS, ids=lambda loop: f"{loop.joint}-{loop.a.body}-{loop.b.body}")
def test_a_row_has_the_power_of_its_wrench(loop):
    """Φ̇ = wᵀ (Z_b − Z_a) for every motion; Φ_z are these powers for one rate each."""
    found = loops.rows(loop, MOTION, *ends(loop))
    G = np.array(loops.jacobian(T, found, MOTION.b), float)
    twist = lambda Z, j: np.zeros(6) if j < 0 else np.ravel(Z[j])
    h = 1e-4
    for k, Z_j in enumerate(UNITS):
        one = [float(i == k) for i in range(6)]
        slope = (values(loop, later(one, h)) - values(loop, later(one, -h))) / (2 * h)
        a, b = (twist(Z_j, j) for j in ends(loop))
        assert near([np.ravel(row.wrench) @ (b - a) for row in found], slope)
        assert near(G[:, k], slope)
    assert near(G @ RATES, [row.rate for row in found], 1e-12)


@pytest.mark.parametrize("loop", CUTS, ids=lambda loop: f"{loop.joint}-{loop.a.body}-{loop.b.body}")
def test_wrenches_turn_with_what_they_are_fixed_in(loop):
    h, found = 1e-5, loops.turning(loop, MOTION, *ends(loop))
    wrenches = []
    for way in (-1, 1):
        there = tree.move(BODIES, T, later(RATES, way * h), RATES)
        rows = loops.rows(loop, there, *ends(loop))
        wrenches.append(np.array([np.ravel(row.wrench) for row in rows]))
    assert near(found, (wrenches[1] - wrenches[0]) / (2 * h))


def test_biases_of_rows_on_a_ground_that_moves():
    """(Φ_z)˙ ż along the true motion itself is Φ̇_z ż, whatever carries both places: what is between bodies knows no ground."""
    loop = CUTS[4]
    mechanism = SimpleNamespace(
        loops=(loop,),
        cuts=[ends(loop)],
        used=(0, 2, 3),
        rows=lambda motion: loops.rows(loop, motion, *ends(loop)),
    )
    ground = tree.Ground(((0.3, -0.5, 0.2), (0.7, 0.4, -0.6)), ((0.0,) * 3, (0.0,) * 3))
    carried = tree.move(BODIES, T, Z, RATES, ground=ground)
    wanted = [MOTION_ROWS[i].bias for i in (0, 2, 3)]
    for motion, of in ((MOTION, tree.REST), (carried, ground)):
        swept = SimpleNamespace(Z=motion.Z, rate=motion.bias)
        assert near(spatial_rates.biases(mechanism, motion, swept, of), wanted, 1e-11)


MOTION_ROWS = loops.rows(CUTS[4], MOTION, *ends(CUTS[4]))


@pytest.mark.parametrize("a", [-1, 0])
def test_biases_of_rows_to_the_ground_take_its_twist_and_its_rate(a):
    """A ground that moves as a body of its own would: the row is that between two bodies with the same twists."""
    loop = CUTS[6] if a < 0 else CUTS[4]
    mechanism = SimpleNamespace(
        loops=(loop,),
        cuts=[ends(loop)],
        used=(0, 1, 2, 3, 4),
        rows=lambda motion: loops.rows(loop, motion, *ends(loop)),
    )
    base = tree.Ground(((0.3, -0.5, 0.2), (0.7, 0.4, -0.6)), ((0.4, 0.1, -0.9), (0.2, 0.6, 0.5)))
    carried = tree.move(BODIES, T, Z, RATES, ground=base)
    wanted = SimpleNamespace(Z=carried.Z, rate=carried.bias)
    found = spatial_rates.biases(mechanism, carried, wanted, base)
    rows = loops.rows(loop, carried, *ends(loop))
    assert near(found, [row.bias for row in rows], 1e-11)


# ---- lines and sides ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("a, b", [(A, E), (E, A), (WORLD, A)])
def test_a_line_between_two_pins(a, b):
    i, j = NUMBER[a.body], NUMBER[b.body]
    h = 1e-4

    def apart(t):
        at = [
            place.point if n < 0 else poses(later(RATES, t))[n][0] + poses(later(RATES, t))[n][1] @ place.point
            for place, n in ((a, i), (b, j))
        ]  # fmt: skip
        return np.array(at[1]) - at[0], np.array(at[1])

    d, at_b = apart(0.0)
    s, rate, (n, m) = loops.line_of(MOTION, i, a, j, b)
    assert s == pytest.approx(np.linalg.norm(d))
    lengths = [np.linalg.norm(apart(t)[0]) for t in (-h, h)]
    assert rate == pytest.approx((lengths[1] - lengths[0]) / (2 * h), rel=1e-6)
    assert near(n, d / s, 1e-12) and near(m, np.cross(at_b, d / s), 1e-12)


@pytest.mark.parametrize("kind, many", [("spherical", 0), ("revolute", 1), ("prismatic", 2)])
def test_axes_and_normals_that_must_face_each_other(kind, many):
    loop = Loop("k", A, E, kind)
    (_, u, n, _), (_, w, k, _) = in_space(loop, Z)
    assert near(loops.facing(loop, MOTION, 0, 4), [u @ w, n @ k][:many], 1e-12)


def test_wrenches_are_gathered_on_bodies_and_not_on_the_ground():
    one, two = ((1.0, 2.0, 3.0), (4.0, 5.0, 6.0)), ((0.5, -1.0, 7.0), (2.0, 9.0, -3.0))
    assert np.array(loops.opposite(one)).tolist() == [[-1, -2, -3], [-4, -5, -6]]
    wrenches = [None, None]
    for j in (-1, 0, 1, 1):
        loops.loaded(wrenches, j, one if j < 1 else two)
    loops.loaded(wrenches, 1, one)
    assert np.array(wrenches[0]).tolist() == [[1, 2, 3], [4, 5, 6]]
    assert np.array(wrenches[1]).tolist() == [[2, 0, 17], [8, 23, 0]]


def test_rows_belong_to_loops_in_order():
    made = [Loop(str(n), A, E, kind) for n, kind in enumerate(("spherical", "prismatic", "revolute"))]  # fmt: skip
    assert loops.loop_of_row(made) == [0] * 3 + [1] * 5 + [2] * 5
