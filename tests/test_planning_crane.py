"""The planar crane against the full machine, closed forms, an independent rigid-body library and virtual work."""

from dataclasses import replace

import numpy as np
import pytest
from oracles import planar_crane as written_out
from planning_cases import REFERENCE, random_crane, random_joints

from plants import Body, machine
from plants.crane.planar import Actuator, planar_crane, planar_cranes, read_planar
from plants.crane.planar_whole import WholeCrane, reduced
from workbench import InputError

CRANE = machine("hiab-xs031").plant


def without_cylinders(plant):
    """The machine with massless cylinders: what the reduction stands for."""
    bare = []
    for s in plant.structures:
        bare.append(replace(s, revolute=replace(s.revolute, case=Body(), piston=Body())))
    return replace(plant, structures=tuple(bare))


def test_the_shipped_file_has_the_numbers_of_the_reference_case():
    c, given = planar_crane(), REFERENCE
    assert planar_cranes() == ("hiab-reduced",)
    assert (c.L_1, c.L_2, *c.origin) == (given["L1"], given["L2"], given["ox"], given["oy"])
    np.testing.assert_allclose(
        c.joint_range(), [given["q1"], given["q2"], given["q3"]], rtol=0, atol=1e-12
    )
    assert [(b.mass, b.r, b.inertia) for b in c.bodies] == list(
        zip(given["m"], given["r"], given["I"])
    )
    assert [b.s for b in c.bodies] == [0.0] * 3 and c.h == 0.0
    assert [(a.bore, a.rod) for a in c.cylinders] == list(given["cyl"])
    assert [a.v_max for a in c.cylinders] == list(given["vmax"]) and [
        a.a_max for a in c.cylinders
    ] == list(given["amax"])
    for triangle, key, low in ((c.lift, "c1", given["q1"][0]), (c.tilt, "c2", given["q2"][0])):
        assert (triangle.a, triangle.b, triangle.d_0) == given[key]
        assert triangle.length(low) == pytest.approx(triangle.d_0, abs=1e-12)
    assert c.cylinders[1].stroke == pytest.approx(given["tilt_stroke"], abs=5e-6)


def test_its_numbers_follow_from_the_full_machine():
    c, full = planar_crane(), reduced(CRANE)
    assert [b.mass for b in full.bodies] == pytest.approx([b.mass for b in c.bodies], abs=0.005)
    assert [b.r for b in full.bodies] == pytest.approx([b.r for b in c.bodies], abs=5e-4)
    assert (full.L_1, full.L_2) == pytest.approx((c.L_1, c.L_2), abs=2e-4)
    assert full.joint_range()[0][0] == pytest.approx(c.joint_range()[0][0], abs=1e-4)


def test_geometry_is_that_of_the_full_machine():
    whole, rng = WholeCrane.of(CRANE), np.random.default_rng(3)
    for _ in range(10):
        q = random_joints(rng, whole)
        at = whole.positions(q)
        np.testing.assert_allclose(whole.tip(q), CRANE.tool(at)[:2], atol=1e-12)
        x, _, lever = CRANE.cylinder_motion(at, [0.0] * 3)
        np.testing.assert_allclose(whole.pistons(q), x, atol=1e-12)
        np.testing.assert_allclose(whole.levers(q), lever, atol=1e-12)


def test_forces_are_those_of_the_full_machine_without_cylinder_masses():
    rng = np.random.default_rng(4)
    bare = replace(
        without_cylinders(CRANE),
        payload=Body(31.0, (0.1, -0.07, 0.02), (1.0, 1.5, 1.2, 0.1, 0.2, -0.1)),
    )
    crane, whole = reduced(bare), WholeCrane.of(bare)
    for _ in range(10):
        q, qd, qdd = random_joints(rng, crane), rng.normal(size=3), rng.normal(size=3)
        np.testing.assert_allclose(crane.forces(q, qd, qdd), whole.forces(q, qd, qdd), rtol=1e-9)


def test_cylinder_masses_are_a_small_part_of_the_forces():
    crane, whole, rng = reduced(CRANE), WholeCrane.of(CRANE), np.random.default_rng(5)
    found = []
    for _ in range(20):
        q = random_joints(rng, crane)
        a, b = (np.array(c.forces(q, [0.0] * 3, [0.0] * 3)) for c in (crane, whole))
        found.append(np.abs(a - b) / np.abs(b).max())
    assert 1e-4 < np.max(found) < 0.05


@pytest.mark.parametrize("seed", range(4))
def test_tip_and_joints_are_inverse(seed):
    crane, rng = random_crane(seed), np.random.default_rng(seed)
    for _ in range(20):
        q = random_joints(rng, crane)
        np.testing.assert_allclose(crane.joints(crane.tip(q), q[2]), q, atol=1e-9)


def test_a_lift_beyond_90_degrees_keeps_its_branch():
    """(22) of the paper has asin here."""
    c = planar_crane()
    q = [np.radians(93.0), -2.0, 0.3]
    np.testing.assert_allclose(c.joints(c.tip(q), q[2]), q, atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_levers_are_derivatives_of_the_piston_positions(seed):
    crane, rng, h = random_crane(seed), np.random.default_rng(seed), 1e-6
    q = random_joints(rng, crane)
    for i in range(3):
        step = [h if k == i else 0.0 for k in range(3)]
        slope = (crane.pistons(np.add(q, step))[i] - crane.pistons(np.subtract(q, step))[i]) / (
            2 * h
        )
        assert slope == pytest.approx(crane.levers(q)[i], rel=1e-7)


@pytest.mark.parametrize("seed", range(3))
def test_motion_follows_the_path(seed):
    """r(q(t)) along the rates that `motion` gives has the path's velocity and acceleration (independent: central differences)."""
    crane, rng = random_crane(seed), np.random.default_rng(seed)
    q0 = random_joints(rng, crane)
    r, (rd, rdd, u, w) = crane.tip(q0), (rng.normal(size=2), rng.normal(size=2), 0.2, -0.3)
    q, qd, qdd = crane.motion(r, rd, rdd, q0[2], u, w)
    h = 1e-4
    at = [
        crane.tip([a + s * b + s * s / 2 * c for a, b, c in zip(q, qd, qdd)]) for s in (-h, 0.0, h)
    ]
    np.testing.assert_allclose((np.array(at[2]) - at[0]) / (2 * h), rd, atol=1e-6)
    np.testing.assert_allclose(
        (np.array(at[2]) - 2 * np.array(at[1]) + at[0]) / h**2, rdd, atol=1e-5
    )
    assert (qd[2], qdd[2]) == (u, w)


@pytest.mark.parametrize("seed", range(3))
def test_power_of_the_cylinders_is_the_rate_of_the_energy(seed):
    """Σ F ẋ = d/dt (kinetic + potential), the energies written down without any of the crane's dynamics."""
    crane, rng = random_crane(seed), np.random.default_rng(seed + 10)
    q, qd, qdd = random_joints(rng, crane), rng.normal(size=3), rng.normal(size=3)

    def places(q):
        θ1, θ2 = q[0], q[0] + q[1]
        turn = lambda θ, r, s: np.array(
            [r * np.cos(θ) - s * np.sin(θ), r * np.sin(θ) + s * np.cos(θ)]
        )
        elbow, (a, b, c) = turn(θ1, crane.L_1, 0.0), crane.bodies
        ℓ = crane.L_2 + q[2]
        return [
            turn(θ1, a.r, a.s),
            elbow + turn(θ2, b.r, b.s),
            elbow + turn(θ2, ℓ + c.r, c.s),
            elbow + turn(θ2, ℓ, crane.h),
        ]

    masses = [*(b.mass for b in crane.bodies), crane.load]

    def energy(s):
        at = lambda s: np.array(q) + s * np.array(qd) + s * s / 2 * np.array(qdd)
        rate, h = np.array(qd) + s * np.array(qdd), 1e-5
        v = [(a - b) / (2 * h) for a, b in zip(places(at(s) + h * rate), places(at(s) - h * rate))]
        ω = [rate[0], rate[0] + rate[1], rate[0] + rate[1]]
        return sum(
            m * (vi @ vi / 2 + crane.g * p[1]) for m, vi, p in zip(masses, v, places(at(s)))
        ) + sum(b.inertia * w**2 / 2 for b, w in zip(crane.bodies, ω))

    h = 1e-3
    rate = (8 * (energy(h) - energy(-h)) - (energy(2 * h) - energy(-2 * h))) / (12 * h)
    power = np.dot(crane.forces(q, qd, qdd), np.multiply(crane.levers(q), qd))
    assert power == pytest.approx(rate, rel=1e-6)


def test_a_file_with_a_wrong_key_is_refused_with_its_line(tmp_path):
    file = tmp_path / "c.yaml"
    file.write_text("crane:\n  name: x\n  L_3: 2 m\n")
    with pytest.raises(InputError, match=r"line 3.*L_3"):
        read_planar(file)
    with pytest.raises(InputError, match="shipped"):
        planar_crane("hiab")
    with pytest.raises(ValueError, match="rod"):
        Actuator(0.05, 0.06, 1.0, 0.1, 0.2)


def test_other_machines_are_refused():
    with pytest.raises(InputError, match="lift, a tilt and an extension"):
        reduced(CRANE.locked(extension=0.5))


@pytest.mark.parametrize("name", planar_cranes())
def test_forces_are_those_of_the_bodies_written_out(name):
    """At random motions, arrays at once; with a load, a tip beside the axis and centres beside the links."""
    rng, crane = np.random.default_rng(3), planar_crane(name)
    beside = tuple(replace(b, s=s) for b, s in zip(crane.bodies, (0.1, -0.2, 0.05)))
    crane = replace(crane, load=130.0, h=0.17, g=9.7, bodies=beside)
    ends = zip(crane.joint_range(), rng.random((3, 40)))
    q = [low + (high - low) * share for (low, high), share in ends]
    qd, qdd = rng.normal(size=(2, 3, 40))
    ours, theirs = (
        np.array(f(q, list(qd), list(qdd)))
        for f in (crane.forces, lambda *a: written_out.forces(crane, *a))
    )
    size = np.abs(theirs).max(axis=1, keepdims=True)
    assert (np.abs(ours - theirs) <= 1e-12 * size).all()
