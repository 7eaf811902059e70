"""Steps of the assembly on constraints with known solutions: circles and lines in a plane of two joints."""

from types import SimpleNamespace

import numpy as np
import pytest

from plants.multibody import assembly
from plants.multibody.parts import Loop, Place
from workbench.contract.errors import InputError

A, B = Place("one", name="ear"), Place("two")


def body(name, joint="revolute", start=0.0, rate=0.0, hold=False):
    return SimpleNamespace(name=name, joint=joint, start=start, rate=rate, hold=hold)


def machine(Φ, G, n=2, hold=(), joint="spherical", M=None):
    """Joints of one number with constraints Φ(z) = 0 and their slopes G(z)."""
    return SimpleNamespace(
        bodies=tuple(body(f"b{i}", hold=i in hold) for i in range(n)),
        loops=(Loop("ring", A, B, joint),),
        tree=SimpleNamespace(n_v=n, body_of=tuple(range(n))),
        coordinates=tuple(SimpleNamespace(name=f"q_b{i}") for i in range(n)),
        constraints=lambda z: (np.array(Φ(np.array(z, float))), np.array(G(np.array(z, float)))),
        moved=lambda z, δ: list(np.array(z, float) + np.array(δ)),
        mass_matrix=lambda z: np.eye(n) if M is None else M,
    )  # fmt: skip


def circle(r):
    return lambda z: [z @ z - r * r], lambda z: [2 * z]


@pytest.fixture
def sized(monkeypatch):
    monkeypatch.setattr(assembly, "_size", lambda mechanism, z: 2.5)


# ---- solving --------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("damping", [0.0, 0.3])
def test_a_damped_step(damping):
    """σ/(σ² + damping σ_max²) of each singular value; those below 1e-8 of the largest take no part."""
    U = np.linalg.qr(np.array([[1.0, 2, 3], [2, -1, 1], [0, 4, -2]]))[0]
    V = np.linalg.qr(np.array([[2.0, 1, 0], [1, -3, 1], [2, 2, 5]]))[0]
    target = np.array([0.7, -1.1, 0.4])
    for σ in ((5.0, 2.0, 0.5), (5.0, 2.0, 1e-9), (5e-4, 2e-4, 3e-11)):
        found = assembly._damped(U @ np.diag(σ) @ V.T, target, damping)
        gains = [s / (s * s + damping * σ[0] ** 2) if s > 2e-8 * σ[0] else 0.0 for s in σ]
        assert found == pytest.approx(V @ np.diag(gains) @ U.T @ target)


@pytest.mark.parametrize("M", [np.eye(2), np.diag([5.0, 0.7]), np.array([[3.0, 0.8], [0.8, 1.4]])])
def test_the_closed_position_is_the_nearest_in_the_metric_of_the_mass(sized, M):
    """M (z − z_0) is along the slope of the constraint there."""
    z_0 = np.array([1.5, 1.2])
    found = np.array(assembly._closed(machine(*circle(2.0)), z_0, M, np.array([True, True])))
    assert found @ found == pytest.approx(4.0, abs=1e-9)
    pull = M @ (found - z_0)
    assert pull[0] * found[1] - pull[1] * found[0] == pytest.approx(0.0, abs=1e-8)
    assert pull @ found > 0
    if M[0, 0] == 1:
        assert found == pytest.approx(2.0 * z_0 / np.linalg.norm(z_0))


def test_what_is_held_stays_and_the_other_closes(sized):
    free = np.array([False, True])
    found = assembly._closed(machine(*circle(2.0)), [1.1, 0.4], np.diag([5.0, 0.7]), free)
    assert found == pytest.approx([1.1, np.sqrt(4 - 1.21)]) and found[0] == 1.1
    with pytest.raises(InputError, match="loops.ring: cannot be closed; 0.41"):
        assembly._closed(machine(*circle(2.0)), [2.1, 0.4], np.eye(2), free)


def test_without_loops_a_guess_stays(sized):
    free = machine(lambda z: [], lambda z: [])
    assert assembly._closed(free, [1.1, 0.4], np.eye(2), np.array([True] * 2)) == [1.1, 0.4]


def test_a_step_goes_half_a_size_at_most(sized):
    """One constraint, linear but far away: steps of 0.5 · 2.5 in the coordinate that moves most."""
    visited = []
    own = machine(lambda z: [z[0] - 9.0], lambda z: [np.array([1.0, 0.0])])
    moved = own.moved
    own.moved = lambda z, δ: visited.append(np.array(δ)) or moved(z, δ)
    assembly._closed(own, [0.0, 0.3], np.eye(2), np.array([True, True]))
    assert visited[0] == pytest.approx([1.25, 0.0]) and visited[6] == pytest.approx([1.25, 0.0])
    assert visited[7] == pytest.approx([0.25, 0.0])


def test_positions_far_off_their_loops_are_not_drawn_nearer(sized):
    """Where the way back leaves the loops by more than 1 % of the size, the closed positions stay."""
    W, free = np.eye(2), np.array([True, True])
    bent = machine(lambda z: [z[1] - 40 * z[0] ** 2], lambda z: [np.array([-80 * z[0], 1.0])])
    closed = [1.0, 40.0]
    assert assembly._nearest(bent, closed, np.array([1.3, 60.0]), W, free, 2.5) == closed
    line = machine(lambda z: [z[1] - 2 * z[0]], lambda z: [np.array([-2.0, 1.0])])
    near = assembly._nearest(line, [1.0, 2.0], np.array([0.5, -0.4]), W, free, 2.5)
    guess = np.array([1.0, 2.0]) - [0.5, -0.4]
    assert near == pytest.approx(np.array([1.0, 2.0]) * (guess @ [1, 2]) / 5)


# ---- rates ----------------------------------------------------------------------------------------------------------------
def test_rates_are_the_nearest_that_the_loops_allow():
    """Δ ∝ M⁻¹ Gᵀ with G ż = 0."""
    M, G = np.diag([2.0, 5.0, 3.0]), np.array([[1.0, -2.0, 0.5]])
    own = machine(None, None, 3)
    given = np.array([0.7, -0.4, 1.2])
    found = assembly._projected(own, G, M, given, np.array([True] * 3))
    W = np.linalg.inv(M)
    assert found == pytest.approx(given - (W @ G.T @ np.linalg.solve(G @ W @ G.T, G @ given)))
    kept = assembly._projected(own, G, M, given, np.array([True, False, True]))
    assert kept[1] == -0.4 and G @ kept == pytest.approx([0.0], abs=1e-12)
    assert given.tolist() == [0.7, -0.4, 1.2]


@pytest.mark.parametrize("rate, fits", [(0.9e-9, True), (1.1e-9, False), (9e-6, False)])
def test_rates_that_are_held_must_fit_the_loops(rate, fits):
    own = machine(None, None, 2, hold=(0,))
    G = np.array([[1.0, 0.0]])
    ask = lambda: assembly._projected(own, G, np.eye(2), np.array([rate, 0.3]), np.array([False, True]))  # fmt: skip
    if fits:
        assert ask() == pytest.approx([rate, 0.3])
        return
    with pytest.raises(InputError, match="the loops do not allow the rates at which b0 start"):
        ask()
    assembly._projected(own, G, np.eye(2), np.array([rate, -1e4]), np.array([False, True]))


# ---- what is given and what is found --------------------------------------------------------------------------------------
def test_the_guess_has_quaternions_for_rotation_vectors():
    φ = np.array([0.4, -0.7, 0.2])
    half = np.linalg.norm(φ) / 2
    parts = SimpleNamespace(
        bodies=(
            body("a", start=0.3, rate=0.9),
            body("b", "spherical", tuple(φ), (0.1, 0.2, -0.5)),
            body("c", "fixed"),
            body("d", "spherical", (0.0, 0.0, 0.0), 0.0),
            body("e", "prismatic", -0.6, 1.1),
        )
    )
    z, rates = assembly.guess(parts)
    ball = [np.cos(half), *(np.sin(half) * φ / (2 * half))]
    assert z == pytest.approx([0.3, *ball, 1.0, 0.0, 0.0, 0.0, -0.6])
    assert rates == pytest.approx([0.9, 0.1, 0.2, -0.5, 0.0, 0.0, 0.0, 1.1])


def test_rows_that_act_are_those_that_some_position_moves():
    """Kept alone where the others are zero everywhere; all that are not where one of those is left out."""
    rows = lambda *r: lambda z: [np.array(row) * (1 + z[0] ** 2) for row in r]
    own = machine(lambda z: [0.0] * 3, rows([1.0, 0.0], [0.0, 0.0], [0.0, 3.0]))
    assert assembly._used(own, [0.1, 0.2], (0, 2)) == (0, 2)
    doubled = machine(lambda z: [0.0] * 3, rows([1.0, 0.0], [2.0, 0.0], [0.0, 3e-9]))
    assert assembly._used(doubled, [0.1, 0.2], (1,)) == (0, 1)
    assert assembly._used(own, [0.1, 0.2], (0, 1, 2)) == (0, 1, 2)
    small = machine(lambda z: [0.0] * 3, rows([1e-4, 0.0], [2e-4, 0.0], [0.0, 9e-9]))
    assert assembly._used(small, [0.1, 0.2], (1,)) == (0, 1, 2)


def test_singular_values_that_are_not_zero():
    own = machine(lambda z: [0.0] * 3, lambda z: [[3.0, 0.0], [0.0, 2e-8], [0.0, 0.0]])
    assert assembly.smallest(own, [0.0, 0.0]) == pytest.approx([3.0])
    own = machine(lambda z: [0.0] * 3, lambda z: [[3e-3, 0.0], [0.0, 4e-10], [0.0, 0.0]])
    assert assembly.smallest(own, [0.0, 0.0]) == pytest.approx([3e-3, 4e-10], abs=1e-15)
    own = machine(lambda z: [0.0] * 3, lambda z: [[3.0, 0.0], [0.0, 4e-8], [0.0, 0.0]])
    assert assembly.smallest(own, [0.0, 0.0]) == pytest.approx([3.0, 4e-8])


def regular(monkeypatch, here, beside):
    """The check of a start with these singular values, between places with others."""
    own = machine(*circle(2.0))
    monkeypatch.setattr(assembly, "_closed", lambda m, z, M, free: "beside")
    monkeypatch.setattr(assembly, "smallest", lambda m, z: np.array(beside if z == "beside" else here))  # fmt: skip
    assembly.check_regular(own, [0.3, 0.4], np.eye(2))


@pytest.mark.parametrize(
    "here, beside",
    [([3.0], [3.0, 0.1]), ([3.0, 0.9e-3], [3.0, 1.0])],
)
def test_a_start_with_fewer_rows_than_beside_it_is_singular(monkeypatch, here, beside):
    with pytest.raises(InputError, match="the start is singular"):
        regular(monkeypatch, here, beside)


@pytest.mark.parametrize(
    "here, beside", [([3.0, 0.1], [3.0]), ([3.0, 1.1e-3], [3.0, 1.0]), ([3.0], [3.0]), ([], [])]
)
def test_other_starts_are_regular(monkeypatch, here, beside):
    assert regular(monkeypatch, here, beside) is None


def test_a_start_is_looked_at_from_three_places_beside_it(monkeypatch):
    """0.01 aside in all joints, free ones and held; a place that does not close says nothing."""
    seen = []

    def closed(mechanism, z, M, free):
        seen.append((np.array(z), free.tolist()))
        raise InputError("open")

    monkeypatch.setattr(assembly, "_closed", closed)
    monkeypatch.setattr(assembly, "smallest", lambda m, z: np.array([1.0]))
    assembly.check_regular(machine(*circle(2.0), hold=(0,)), [0.3, 0.4], np.eye(2))
    drawn = np.random.default_rng(5).normal(size=(3, 2))
    assert len(seen) == 3 and all(free == [True, True] for _, free in seen)
    for (z, _), way in zip(seen, drawn):
        assert z == pytest.approx(np.array([0.3, 0.4]) + 0.01 * way)


def test_rows_of_any_size_are_as_many_as_the_rank():
    small = np.array([[1e-4, 0.0], [2e-4, 0.0], [0.0, 1e-6]])
    assert assembly.independent(small) == (1, 2)
    assert assembly.independent(np.zeros((0, 2))) == () == assembly.independent(np.zeros((2, 2)))


def test_rows_are_told_by_loop_and_place_in_it():
    own = SimpleNamespace(loops=(Loop("k", A, B), Loop("m", A, B, "spherical")))
    assert assembly._row_names(own) == [("k", i) for i in range(5)] + [("m", i) for i in range(3)]
