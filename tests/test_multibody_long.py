"""Long chains: text and time that grow with the number of bodies, not with its cube; the same numbers as by matrices."""

import casadi as ca
import numpy as np
import pytest
from mechanisms import four_bar, random_inertia, random_positions, random_tree, slider_crank, vector
from test_multibody_trees import in_pinocchio, pin, theirs

from plants.multibody import articulated, linear, loops, tree
from plants.multibody.mechanism import Mechanism
from plants.multibody.parts import Body
from workbench.numerics.c_code import MOST_OPERATIONS
from workbench.numerics.calculus import trace  # noqa: F401 — lets NumPy functions act on expressions


def chain(n, seed=0):
    """n bodies one behind the other, on hinges of any direction."""
    rng, bodies = np.random.default_rng(seed), []
    for j in range(n):
        mass, inertia = random_inertia(rng)
        bodies.append(
            Body(
                f"b{j}",
                f"b{j - 1}" if j else "ground",
                point=vector(rng, 0.3),
                axis=vector(rng),
                mass=mass,
                com=vector(rng, 0.1),
                inertia=inertia,
                start=float(rng.normal()),
            )
        )
    return Mechanism(tuple(bodies))


def operations(n) -> int:
    """Of the accelerations of a chain, as text."""
    mechanism = chain(n)
    z, v = ([ca.SX.sym(f"{letter}{k}") for k in range(n)] for letter in "zv")
    found, _ = mechanism.accelerations(mechanism.moving(z, v), v, [])
    return ca.Function("a", [ca.vertcat(*z), ca.vertcat(*v)], [ca.vertcat(*found)]).n_instructions()


@pytest.mark.parametrize("seed", range(5))
def test_branches_solve_what_the_matrix_does(seed):
    """Every kind of joint, branching, several right-hand sides; on text as on floats."""
    mechanism, rng = random_tree(seed, 9), np.random.default_rng(seed)
    z, _ = random_positions(rng, mechanism)
    motion = mechanism.moving(z, None)
    M = np.array(mechanism.mass_matrix(z), float)
    F = articulated.branches(mechanism.tree, tree.inertias(mechanism.bodies, motion), motion.b)
    for _ in range(3):
        Q = rng.normal(size=len(M))
        x = np.array(F.solve(list(map(float, Q))))
        assert x == pytest.approx(
            np.array(linear.solve(linear.factors(M.tolist()), list(Q))), rel=1e-11, abs=1e-12
        )
        assert M @ x == pytest.approx(Q, rel=1e-10, abs=1e-11)
    unit = [0.0] * len(M)
    unit[-1] = 1.0
    assert F.solve(unit) == pytest.approx(np.linalg.solve(M, unit), rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("make", [four_bar, slider_crank])
def test_loops_held_by_branches_are_held_as_by_the_matrix(make):
    mechanism = make()
    z, rates = list(mechanism.assembly.z), list(mechanism.assembly.rates)
    motion = mechanism.moving(z, rates)
    own = tree.inertias(mechanism.bodies, motion)
    rows = [mechanism.rows(motion)[i] for i in mechanism.kept]
    G = np.array(loops.jacobian(mechanism.tree, rows, motion.b), float)
    M, Q = (
        np.array(mechanism.mass_matrix(z), float),
        np.array(
            mechanism.loads(
                motion,
                own,
                rates,
                [p._replace(force=37.0) for p in mechanism.pulls(motion, z, rates, None, None)],
            ),
            float,
        ),
    )
    whole = np.block([[M, G.T], [G, np.zeros((len(G),) * 2)]])
    want = np.linalg.solve(whole, [*Q, *(-row.bias for row in rows)])
    pulls = [p._replace(force=37.0) for p in mechanism.pulls(motion, z, rates, None, None)]
    accelerations, λ = mechanism.accelerations(motion, rates, pulls)
    assert np.array(accelerations, float) == pytest.approx(want[: len(M)], rel=1e-10, abs=1e-11)
    assert np.array(λ, float) == pytest.approx(want[len(M) :], rel=1e-9, abs=1e-9)


def test_fifty_bodies_fall_as_in_pinocchio_and_keep_their_energy():
    mechanism, rng = chain(50), np.random.default_rng(9)
    model = in_pinocchio(mechanism)
    z, rates = random_positions(rng, mechanism)
    q, v, which = theirs(mechanism, model, z, rates)
    accelerations, _ = mechanism.accelerations(mechanism.moving(z, rates), rates, [])
    want = pin.aba(model, model.createData(), q, v, np.zeros(model.nv))
    assert np.abs(np.array(accelerations, float)[which] - want).max() < 1e-9 * np.abs(want).max()
    h = 1e-6
    ahead, behind = (
        sum(
            mechanism.energies(
                [a + s * h * b for a, b in zip(z, rates)],
                [b + s * h * float(c) for b, c in zip(rates, accelerations)],
            )
        )
        for s in (1, -1)
    )
    kinetic, _ = mechanism.energies(z, rates)
    assert abs(ahead - behind) / (2 * h) < 1e-4 * kinetic


def test_text_grows_with_the_number_of_bodies():
    """So many more operations for ten bodies more, wherever: a matrix and its factors would take the cube."""
    few, more, many = (operations(n) for n in (10, 20, 50))
    assert more - few < 1.05 * (many - more) / 3 < 1.1 * (more - few)
    assert many < MOST_OPERATIONS  # so that it is compiled
