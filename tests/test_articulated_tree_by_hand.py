"""A tree of bodies against plain rigid-body mechanics: poses by rotation vectors, motion by differences in time, virtual power."""

from math import sqrt

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from plants.multibody import articulated, tree
from plants.multibody.branching import tree as branched
from plants.multibody.parts import Body
from plants.multibody.tree import Ground

GRAVITY = (1.3, -9.2, 2.1)
A = (0.5, 0.6, 0.7, 0.05, -0.04, 0.03)
B = (0.21, 0.33, 0.4, -0.02, 0.05, 0.04)
C = (0.31, 0.44, 0.5, 0.03, 0.02, -0.06)
D = (0.11, 0.12, 0.14, 0.01, 0.02, 0.03)
E = (0.25, 0.2, 0.3, -0.03, 0.01, 0.02)
BODIES = (
    Body("a", "c", "revolute", (0.4, -0.3, 0.2), (1.0, 2.0, -2.0), 3.0, (0.1, 0.2, -0.15), A),
    Body("b", "c", "spherical", (-0.2, 0.5, 0.3), mass=1.7, com=(0.3, -0.1, 0.2), inertia=B),
    Body("c", "ground", "prismatic", (0.6, 0.1, -0.7), (2.0, -1.0, 2.0), 2.2, (-0.2, 0.3, 0.1), C),
    Body("d", "b", "fixed", (0.25, 0.15, -0.35), mass=0.8, com=(0.05, 0.1, 0.15), inertia=D),
    Body("e", "d", "revolute", (0.15, -0.45, 0.05), (0.0, 0.6, 0.8), 1.1, (0.2, 0.1, -0.3), E),
)
T = branched(BODIES)
Z = [0.7, 0.4, -0.5, 0.3, 0.8, 0.35, -0.6]
RATES = [0.9, -0.4, 0.7, 1.1, 0.6, -0.8]
Z[1:5] = list(np.array(Z[1:5]) / np.linalg.norm(Z[1:5]))


# ---- the same by hand -----------------------------------------------------------------------------------------------------
def posed(bodies, T, z):
    """Origin and rotation of every body."""
    found = [None] * len(bodies)
    for j in T.order:
        body, p, (at, many) = bodies[j], T.parent[j], T.z[j]
        r_p, R_p = found[p] if p >= 0 else (np.zeros(3), np.eye(3))
        r, R = r_p + R_p @ body.point, R_p
        own = np.array(body.axis) / np.linalg.norm(body.axis)
        if body.joint == "revolute":
            R = R_p @ Rotation.from_rotvec(own * z[at]).as_matrix()
        elif body.joint == "prismatic":
            r = r + R_p @ own * z[at]
        elif body.joint == "spherical":
            a, b, c, d = z[at : at + many]
            R = R_p @ Rotation.from_quat([b, c, d, a]).as_matrix()
        found[j] = r, R
    return found


def poses(z):
    return posed(BODIES, T, z)


def later(rates, t):
    """Positions after t at constant rates; those of the ball joint about its own body's axes."""
    a, b, c, d = Z[1:5]
    turned = Rotation.from_quat([b, c, d, a]) * Rotation.from_rotvec(np.array(rates[1:4]) * t)
    b, c, d, a = turned.as_quat()
    return [
        Z[0] + rates[0] * t,
        a,
        b,
        c,
        d,
        Z[5] + rates[4] * t,
        Z[6] + rates[5] * t,
    ]


def vee(S):
    return np.array([S[2, 1], S[0, 2], S[1, 0]])


def twists(rates, h=1e-4):
    """Velocity of the body's point at the origin and ω of every body, and their derivatives while the rates stay."""

    def at(t):
        before, here, after = (poses(later(rates, t + k * h)) for k in (-1, 0, 1))
        found = []
        for (r_0, R_0), (r, R), (r_1, R_1) in zip(before, here, after):
            ω = vee((R_1 - R_0) / (2 * h) @ R.T)
            found.append(np.array([(r_1 - r_0) / (2 * h) - np.cross(ω, r), ω]))
        return np.array(found)

    return at(0.0), (at(h) - at(-h)) / (2 * h)


UNITS = [twists([float(i == k) for i in range(6)])[0] for k in range(6)]


def tensor(body, R):
    xx, yy, zz, xy, xz, yz = body.inertia
    return R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T


def near(found, wanted, off=2e-6):
    return np.asarray(found, float).ravel() == pytest.approx(np.ravel(wanted), rel=off, abs=off)


MOTION = tree.move(BODIES, T, Z, RATES)
OWN = [tree.inertia(body, r, R) for body, r, R in zip(BODIES, MOTION.r, MOTION.R)]


def mass_matrix():
    """Σ m vᵀv + ωᵀ J ω of the velocities that unit rates give."""
    M = np.zeros((6, 6))
    for j, (body, (r, R)) in enumerate(zip(BODIES, poses(Z))):
        c, J = r + R @ body.com, tensor(body, R)
        for i in range(6):
            for k in range(6):
                (v, ω), (w, ψ) = UNITS[i][j], UNITS[k][j]
                M[i, k] += body.mass * (v + np.cross(ω, c)) @ (w + np.cross(ψ, c)) + ω @ J @ ψ
    return M


# ---- motion ---------------------------------------------------------------------------------------------------------------
def test_rotations():
    u, φ = np.array([2.0, -1.0, 2.0]) / 3, 0.8
    turned = tree.rotation(list(u), np.cos(φ), np.sin(φ))
    assert turned == pytest.approx(Rotation.from_rotvec(φ * u).as_matrix().ravel())
    e = [0.5, -0.7, 1.1, 0.3]
    whole = Rotation.from_quat([*e[1:], e[0]]).as_matrix()
    assert tree.attitude(e) == pytest.approx(whole.ravel())


def test_a_quaternion_turns_with_the_rate_in_its_bodys_axes():
    e, ω = np.array([0.5, -0.7, 1.1, 0.3]), np.array([0.4, -0.9, 0.6])
    scalar, own = e[0], e[1:]
    wanted = [-own @ ω / 2, *(scalar * ω + np.cross(own, ω)) / 2]
    assert tree.quaternion_rate(e, ω) == pytest.approx(wanted)
    assert tree.velocities(BODIES, T, Z, RATES) == pytest.approx(
        [0.9, *tree.quaternion_rate(Z[1:5], RATES[1:4]), 0.6, -0.8]
    )


def test_a_small_motion_is_added_and_quaternions_keep_their_length():
    δ = [0.02, 0.3, -0.2, 0.4, 0.05, -0.07]
    found = tree.moved(BODIES, T, Z, δ)
    e = np.array(Z[1:5]) + tree.quaternion_rate(Z[1:5], δ[1:4])
    assert found == pytest.approx([0.72, *e / sqrt(e @ e), 0.4, -0.67])


def test_poses_velocities_and_what_is_left_of_accelerations():
    Z_j, rate = twists(RATES)
    for j, (r, R) in enumerate(poses(Z)):
        assert near(MOTION.r[j], r) and near(MOTION.R[j], R)
        assert near(MOTION.Z[j], Z_j[j]) and near(MOTION.bias[j], rate[j], 1e-5)
    assert MOTION.ground == tree.REST and MOTION.z == Z
    for k, unit in enumerate(UNITS):
        for j in range(5):
            moves = T.body_of[k] == j or k in T.above[j]
            assert near(unit[j], MOTION.b[k] if moves else np.zeros(6))


def test_poses_alone_take_no_rates():
    still = tree.move(BODIES, T, Z, None, ground=Ground(((1.0, 2.0, 3.0),) * 2, ((4.0,) * 3,) * 2))
    assert near(still.r, MOTION.r, 0) and near(still.R, MOTION.R, 0) and near(still.b, MOTION.b, 0)
    assert near(still.Z, np.zeros((5, 6)), 0) and near(still.bias, np.zeros((5, 6)), 0)
    assert still.ground == tree.REST


def test_a_joint_may_be_told_its_cosine_and_sine():
    told = tree.move(BODIES, T, [9.0, *Z[1:]], RATES, {0: (np.cos(0.7), np.sin(0.7))})
    assert near(told.R, MOTION.R, 1e-14) and near(told.bias, MOTION.bias, 1e-14)


GROUND = Ground(((0.3, -0.5, 0.2), (0.7, 0.4, -0.6)), ((-0.2, 0.8, 0.5), (0.9, -0.3, 0.1)))


def test_the_motion_of_the_ground_is_added_and_turns_what_moves_on_it():
    """Ż = Ż_0 + Ż_rel + Z_0 × Z_rel."""
    carried = tree.move(BODIES, T, Z, RATES, ground=GROUND)
    (v_0, ω_0), rate_0 = np.array(GROUND.Z), np.array(GROUND.rate)
    for j in range(5):
        v, ω = np.array(MOTION.Z[j])
        turned = np.array([np.cross(ω_0, v) + np.cross(v_0, ω), np.cross(ω_0, ω)])
        assert near(carried.Z[j], np.array(GROUND.Z) + MOTION.Z[j], 1e-13)
        assert near(carried.bias[j], rate_0 + np.array(MOTION.bias[j]) + turned, 1e-13)
    assert carried.ground == GROUND


def test_points_and_directions_of_bodies():
    """Differences in time of what is fixed in body e."""
    at, h = np.array([0.3, -0.2, 0.5]), 1e-4
    paths = [poses(later(RATES, k * h))[4] for k in (-1, 0, 1)]
    places = [r + R @ at for r, R in paths]
    ways = [R @ at for _, R in paths]
    for (d_0, d, d_1), found in (
        (places, tree.point(MOTION, 4, at)),
        (ways, tree.direction(MOTION, 4, at)),
    ):
        assert near(found[0], d) and near(found[1], (d_1 - d_0) / (2 * h))
        assert near(found[2], (d_1 - 2 * d + d_0) / h**2, 1e-5)


def test_points_and_directions_of_the_ground():
    carried = tree.move(BODIES, T, Z, RATES, ground=GROUND)
    at = np.array([0.3, -0.2, 0.5])
    (v, ω), (a, α) = np.array(GROUND.Z), np.array(GROUND.rate)
    speed = v + np.cross(ω, at)
    r, rate, acceleration = tree.point(carried, -1, at)
    assert near(r, at, 0) and near(rate, speed, 1e-14)
    assert near(acceleration, a + np.cross(α, at) + np.cross(ω, speed), 1e-14)
    d, rate, acceleration = tree.direction(carried, -1, at)
    assert near(d, at, 0) and near(rate, np.cross(ω, at), 1e-14)
    assert near(acceleration, np.cross(α, at) + np.cross(ω, np.cross(ω, at)), 1e-14)
    assert [list(d) for d in tree.apart([(1, 2, 3), (4, 5, 7)], [(5, 5, 5), (9, 8, 7)])] == [
        [4, 3, 2],
        [5, 3, 0],
    ]


# ---- inertia and forces ---------------------------------------------------------------------------------------------------
def test_momentum_of_a_body():
    Z_j, _ = twists(RATES)
    for j, (body, (r, R)) in enumerate(zip(BODIES, poses(Z))):
        c, (v, ω) = r + R @ body.com, Z_j[j]
        p = body.mass * (v + np.cross(ω, c))
        assert near(OWN[j].times(MOTION.Z[j]), [p, tensor(body, R) @ ω + np.cross(c, p)])
    both = OWN[1].plus(OWN[4]).times(MOTION.Z[1])
    assert near(both, np.add(OWN[1].times(MOTION.Z[1]), OWN[4].times(MOTION.Z[1])), 1e-13)


def test_masses_and_energies_of_the_tree():
    M = mass_matrix()
    assert near(tree.mass_matrix(T, OWN, MOTION.b), M)
    kinetic, potential = tree.energies(BODIES, OWN, MOTION, GRAVITY)
    weights = sum(b.mass * (r + R @ b.com) for b, (r, R) in zip(BODIES, poses(Z)))
    assert kinetic == pytest.approx(np.array(RATES) @ M @ RATES / 2, rel=1e-6)
    assert potential == pytest.approx(-np.dot(GRAVITY, weights))


def test_forces_on_the_joints_by_virtual_power():
    """Weight, a wrench on two of the bodies, and what inertia takes at constant rates."""
    wrenches = [None, ((3.0, -7.0, 2.0), (1.5, 0.5, -4.0)), None, None, ((-2.0, 5.0, 1.0), (0.3, 2.5, 1.2))]  # fmt: skip
    Z_j, rate = twists(RATES)
    wanted = np.zeros(6)
    for j, (body, (r, R)) in enumerate(zip(BODIES, poses(Z))):
        c, J, (v, ω), (a, α) = r + R @ body.com, tensor(body, R), Z_j[j], rate[j]
        speeding = a + np.cross(α, c) + np.cross(ω, v + np.cross(ω, c))
        force = body.mass * (np.array(GRAVITY) - speeding)
        moment = -(J @ α + np.cross(ω, J @ ω))
        for k, unit in enumerate(UNITS):
            w, ψ = unit[j]
            wanted[k] += force @ (w + np.cross(ψ, c)) + moment @ ψ
            if wrenches[j] is not None:
                wanted[k] += wrenches[j][0] @ w + wrenches[j][1] @ ψ
    assert near(tree.forces(T, OWN, MOTION, GRAVITY, wrenches), wanted, 3e-5)


# ---- factored -------------------------------------------------------------------------------------------------------------
def matrix(I):
    xx = lambda S: np.array([[S[0], S[3], S[4]], [S[3], S[1], S[5]], [S[4], S[5], S[2]]])
    B = np.array(I.B, float)
    return np.block([[xx(I.A), B], [B.T, xx(I.C)]])


def test_what_a_body_resists_with():
    """As matrices of six rows: times a motion, two together, one without a direction."""
    one, other = articulated.resistance(OWN[0]), articulated.resistance(OWN[4])
    for k in range(6):
        unit = np.eye(6)[k]
        assert near(OWN[0].times(unit.reshape(2, 3)), matrix(one)[:, k], 1e-14)
    U, way = ((0.3, -0.7, 0.2), (0.5, 0.4, -0.9)), np.array([0.6, -0.2, 0.8, 0.1, -0.4, 0.7])
    less = one.plus(other).without(U, 0.37)
    whole = matrix(one) + matrix(other) - 0.37 * np.outer(np.ravel(U), np.ravel(U))
    assert near(matrix(less), whole, 1e-13)
    assert near(less.times(way.reshape(2, 3)), whole @ way, 1e-13)


def test_a_tree_that_is_factored_solves_as_its_matrix():
    Q = np.array([3.0, -1.0, 0.5, 2.0, 7.0, -4.0])
    M = np.array(tree.mass_matrix(T, OWN, MOTION.b), float)
    found = articulated.branches(T, OWN, MOTION.b)
    assert found.solve(list(Q)) == pytest.approx(np.linalg.solve(M, Q), rel=1e-10)
    assert found.b == MOTION.b and found.tree is T
