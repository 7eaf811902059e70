"""A crane of parallel–serial structures and the mechanism it is written as: two texts, one machine."""

import numpy as np
import pytest
from oracles.random_machines import random_base, random_machine, random_state, random_tip

from plants.components.spatial import unturn
from plants.crane.bodies import PAYLOAD
from plants.multibody import required
from workbench.contract.system import names

SHAPES = [(1, (False,)), (2, (False, True)), (2, (True, True)), (3, (True, False, False))]


def drawn(seed, shape):
    """(crane, q, q̇, pressures and more, inputs of crane and mechanism) with base and tip at large."""
    rng = np.random.default_rng(seed)
    crane = random_machine(rng, *shape)
    q, qd, _ = random_state(rng, crane)
    R, V, A = random_base(rng)
    up = unturn(R, (0.0, crane.g, 0.0))
    f, m = random_tip(rng)
    rows = (up, *V, *A)
    around = [float(v) for row in rows for v in row]
    turned = [v for part in (f, m) for v in np.reshape(crane.axes[PAYLOAD], (3, 3)) @ part]
    volts = [float(v) for v in rng.uniform(-8.0, 8.0, crane.n)]
    p = [float(v) for v in rng.uniform(20e5, 160e5, 2 * crane.n)]
    return crane, q, qd, p, [*volts, *around, *f, *m], [*volts, *around, *map(float, turned)]


def states(crane, q, qd, p):
    """(state of the crane, of the mechanism) with spools and friction states at small random values."""
    rng = np.random.default_rng(7)
    at = dict(zip(names(crane.states), [*q, *qd, *p]))
    for s in crane.states[4 * crane.n :]:
        at[s.name] = float(rng.normal() * (1e-5 if s.unit == "m" else 2.0))
    own = [at[s.name] for s in crane.states]
    found = [*q, *qd]
    for a in crane.mechanism.actuators:
        for s in a.drive.states(a.name):
            found.append(at.get(s.name, at.get(s.name.replace(f"_{a.name}", a.name))))
    return own, found


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", [0, 1])
def test_one_machine(seed, shape):
    """Accelerations, pressures, energy and its causes, with the base on the move and a wrench at the tool."""
    crane, q, qd, p, u, u_m = drawn(seed, shape)
    x, x_m = states(crane, q, qd, p)
    m, n = crane.mechanism, crane.n
    a, b = crane.rhs(0.0, x, u), m.rhs(0.0, x_m, u_m)
    assert b[: 2 * n] == pytest.approx(a[: 2 * n], rel=1e-10)
    assert sorted(map(float, b[2 * n :])) == pytest.approx(
        sorted(map(float, a[2 * n :])), rel=1e-10
    )
    assert m.stored(0.0, x_m, u_m) == pytest.approx(crane.stored(0.0, x, u), rel=1e-11)
    theirs = dict(zip(crane.power_names, crane.powers(0.0, x, u)))
    mine = dict.fromkeys(theirs, 0.0) | {"damping": 0.0}
    for name, value in zip(m.power_names, m.powers(0.0, x_m, u_m)):
        mine[name.split("_")[0]] += float(value)
    assert mine.pop("damping") == 0.0
    for name, value in theirs.items():
        assert mine[name] == pytest.approx(float(value), rel=1e-10), name


@pytest.mark.parametrize("shape", SHAPES)
def test_forces_of_a_motion_are_those_of_the_paper(shape):
    """f_c (68), (55) from the projection; the base's reaction (69) from the sum of all net wrenches."""
    rng = np.random.default_rng(5)
    crane = random_machine(rng, *shape)
    m = crane.mechanism
    q, qd, qdd = random_state(rng, crane)
    f_c, reaction = crane.inverse_dynamics(q, qd, qdd)
    at = required.whole(m, q, qd)
    _, true = required.required(m, at, qd, qdd)
    nets = required.net_wrenches(m, at.motion, true)
    τ = required.projected(at.B, required.joint_forces(m, at.motion, nets))
    J = np.array(required.lines(m, at).by_coordinate, float)
    assert np.linalg.solve(J.T, np.array(τ, float)) == pytest.approx(
        np.array(f_c, float), rel=1e-10
    )
    total = np.sum([np.concatenate([*map(np.array, net)]) for net in nets], axis=0)
    assert total == pytest.approx(np.concatenate([*map(np.array, reaction)]), rel=1e-9)
