"""A ground that moves and a tool that pushes: Newton's laws on machines that carry machines, and the energy they bring."""

from dataclasses import replace

import numpy as np
import pytest
from mechanisms import random_positions, random_tree

from plants.components.spatial import add, cross, turn, unturn
from plants.drives.laws import Force
from plants.multibody import required, tree
from plants.multibody.mechanism import Mechanism
from plants.multibody.parts import Actuator, Body, Pin
from workbench import InputError
from workbench.contract.system import names

STEMS = ("g_", "V_b", "ω_b", "A_b", "α_b")


def vector(rng, size=1.0):
    return [float(v) for v in size * rng.normal(size=3)]


def carried(seed):
    """(a machine on a carrier that turns and slides freely, the same machine on a ground that moves)."""
    riding = random_tree(seed, 5)
    rng = np.random.default_rng(seed)
    renamed = tuple(
        replace(b, parent="carrier" if b.parent == "ground" else b.parent) for b in riding.bodies
    )
    slide = Body("slide", "ground", "prismatic", tuple(vector(rng)), tuple(vector(rng)), 3.1)
    carrier = Body(
        "carrier", "slide", "spherical", tuple(vector(rng)), mass=7.3, com=(0.1, 0.2, -0.3)
    )
    carrier = replace(carrier, inertia=(1.1, 1.3, 1.7, 0.1, -0.2, 0.05))
    whole = Mechanism((slide, carrier, *renamed), gravity=riding.gravity)
    alone = replace(riding, moving_ground=True)
    return whole, alone


def motion_of_the_carrier(whole, z, rates):
    """(g, V, ω, A, α) of the carrier's frame in its own axes, and the accelerations of the bodies that ride on it."""
    motion = whole.moving(z, rates)
    accelerations, _ = whole.accelerations(motion, rates, [])
    true = required.swept(whole, motion, rates, accelerations)
    R, r = motion.R[1], motion.r[1]
    at_frame = lambda Z: (unturn(R, add(Z[0], cross(Z[1], r))), unturn(R, Z[1]))
    up = unturn(R, [-v for v in whole.gravity])
    return [up, *at_frame(true.Z[1]), *at_frame(true.rate[1])], accelerations[4:]


@pytest.mark.parametrize("seed", [0, 1, 4])
def test_a_ground_that_moves_is_a_body_that_carries(seed):
    """What rides on a heavy body moves as on a ground that is moved like that body; nothing of the ground is left out."""
    whole, alone = carried(seed)
    rng = np.random.default_rng(seed + 50)
    z, rates = random_positions(rng, whole)
    stated, want = motion_of_the_carrier(whole, list(z), list(rates))
    x = [*z[5:], *rates[4:]]
    u = [v for row in stated for v in row]
    got = alone.rhs(0.0, x, u)[len(z) - 5 :]
    assert np.array(got, float) == pytest.approx(np.array(want, float), rel=1e-9, abs=1e-9)
    for k in range(0, 15, 3):  # each of the five counts
        other = list(u)
        other[k] += 0.7
        moved = np.array(alone.rhs(0.0, x, other)[len(z) - 5 :], float)
        assert np.abs(moved - np.array(want, float)).max() > 1e-3 or STEMS[k // 3] == "V_b"


def test_steady_travel_is_not_felt():
    """Galilei: a ground that travels steadily without turning changes no acceleration."""
    _, alone = carried(2)
    rng = np.random.default_rng(3)
    z, rates = random_positions(rng, alone)
    still = [v for v in alone.defaults().values()] + [0.0] * 12
    travel = list(still)
    travel[3:6] = vector(rng, 4.0)
    x = [*z, *rates]
    assert alone.rhs(0.0, x, travel) == pytest.approx(
        alone.rhs(0.0, x, still), rel=1e-10, abs=1e-10
    )


def arm(**options):
    """Two links with a drive each, and a tool."""
    bodies = (
        Body("boom", "ground", "revolute", (0.3, 0.4, 0.1), (0.2, 0.1, 1.0), 31.0, (0.7, 0.1, 0.2)),
        Body("stick", "boom", "prismatic", (0.9, 0.2, 0.0), (1.0, 0.3, 0.2), 17.0, (0.4, 0.2, 0.1)),
    )
    bodies = tuple(replace(b, inertia=(2.1, 2.6, 3.3, 0.2, -0.1, 0.3), damping=0.4) for b in bodies)
    drives = (
        Actuator("ram", Force(), Pin("ground", (0.5, -0.2, 0.0)), Pin("boom", (0.6, 0.3, 0.1))),
    )
    return Mechanism(
        bodies, (), drives, (0.3, -9.7, 0.5), tcp=Pin("stick", (0.5, 0.1, 0.2)), **options
    )


def test_the_wrench_of_the_tool_works_on_its_velocity():
    """M (z̈ − z̈_0) = −Jᵀ F_D with J by differences of the tool's place and attitude."""
    m = arm(tool_wrench=True)
    z, rates, u = [0.4, 0.25], [0.7, -0.3], [900.0]
    rng = np.random.default_rng(6)
    f, moment = vector(rng, 300.0), vector(rng, 80.0)
    free = np.array(m.rhs(0.0, [*z, *rates], [*u, *[0.0] * 6])[2:], float)
    pushed = np.array(m.rhs(0.0, [*z, *rates], [*u, *f, *moment])[2:], float)
    M = np.array(m.mass_matrix(z), float)
    motion = m.moving(z, rates)
    force = np.array(turn(motion.R[1], f), float)
    place = lambda z: np.array(tree.point(m.moving(z, None), 1, m.tcp.point)[0], float)
    h = 1e-6
    J = np.column_stack([(place([z[0] + h, z[1]]) - place([z[0] - h, z[1]])) / (2 * h),
                         (place([z[0], z[1] + h]) - place([z[0], z[1] - h])) / (2 * h)])  # fmt: skip
    axis = np.array((0.2, 0.1, 1.0)) / np.linalg.norm((0.2, 0.1, 1.0))
    turned = np.array([axis @ np.array(turn(motion.R[1], moment), float), 0.0])
    assert M @ (pushed - free) == pytest.approx(-(J.T @ force) - turned, rel=1e-6, abs=1e-6)


def test_all_that_they_bring_is_in_the_energy_account():
    """d(stored)/dt by differences along the motion of machine and ground is the sum of the powers."""
    m = arm(moving_ground=True, tool_wrench=True)
    rng = np.random.default_rng(9)
    x = np.array([0.4, 0.25, 0.7, -0.3])
    g, V, ω, A, α = (vector(rng, s) for s in (6.0, 1.0, 0.8, 2.0, 3.0))
    pushes = [700.0, *g, *V, *ω, *A, *α, *vector(rng, 200.0), *vector(rng, 60.0)]
    pushes = [700.0, *pushes[1:]]
    u = np.array(pushes)
    du = np.zeros(len(u))
    du[1:4], du[4:7], du[7:10] = -np.cross(ω, g), A, α
    dx = np.array(m.rhs(0.0, list(x), list(u)), float)
    stored = lambda s: float(m.stored(0.0, list(x + s * dx), list(u + s * du)))
    h = 1e-6
    rate = (stored(h) - stored(-h)) / (2 * h)
    account = dict(zip(m.power_names, m.powers(0.0, list(x), list(u))))
    assert set(account) == {"ram", "damping", "tip", "base"}
    assert sum(map(float, account.values())) == pytest.approx(rate, rel=1e-7)
    assert min(abs(float(v)) for v in account.values()) > 0.1


def test_firm_ground_costs_nothing():
    """Who asks for neither has neither inputs, defaults nor causes of energy from them."""
    assert names(arm().inputs) == ["u_ram"] and arm().defaults() == {}
    assert arm().power_names == ("ram", "damping")
    m = arm(moving_ground=True)
    assert m.defaults() == {"g_x": -0.3, "g_y": 9.7, "g_z": -0.5}
    x = [0.4, 0.25, 0.7, -0.3]
    u = [700.0, *m.defaults().values(), *[0.0] * 12]
    assert m.rhs(0.0, x, u) == pytest.approx(arm().rhs(0.0, x, [700.0]), rel=1e-12)
    assert m.powers(0.0, x, u)[-1] == 0.0


def test_what_cannot_be_is_refused():
    with pytest.raises(InputError, match="no tool for a wrench"):
        replace(arm(), tcp=None, tool_wrench=True)
    with pytest.raises(InputError, match="penalty takes no such"):
        replace(arm(), method="penalty", moving_ground=True)
