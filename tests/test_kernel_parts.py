"""Kernels of valve circuits on few circuits each: roots against their own equations, one way against another, steps by hand."""

import metering_cases as cases
import numpy as np
import pytest

from plants.valve_circuits.crossed import passed
from plants.valve_circuits.kernel import _clip, _flows, _head, _next, _rod, _root, pumped, section
from plants.valve_circuits.quick import DONE, SLOW, _through, quick
from plants.valve_circuits.roots import given, loaded, moving, resolve, resolve_all
from plants.valve_circuits.stepping import _advance

DRAWS = 12


def rows_of(rng, N=1, way=None, regeneration=False):
    circuit = cases.circuit(rng, N)
    ways = [way if way is not None else int(rng.choice((-1, 1))) for _ in range(N)]
    asked = [cases.openings(rng, w, regeneration and w == 1, edges=0.0) for w in ways]
    rows = np.array([[float(e) for e in row] for row in circuit.rows(asked)])
    return rows, np.array([float(e) for e in circuit.supply(0.3)])


def full(rows) -> float:
    """A flow to compare with."""
    return float(rows[:, 4:].max() * np.sqrt(rows[:, 2:4].max()))


# ---- small pieces -----------------------------------------------------------------------------------------------------
def test_signed_roots_and_clips():
    assert _root(9.0) == 3.0 and _root(-4.0) == -2.0 and _root(0.0) == 0.0
    assert [_clip(x, -1.0, 2.0) for x in (-5.0, -1.0, 0.5, 2.0, 7.0)] == [-1, -1, 0.5, 2, 2]


def test_an_out_side_that_drains_into_the_in_side_alone_moves_by_the_difference_of_areas():
    """A differential cylinder with the way to the tank shut; of equal sides nothing drains, and the longer way decides."""
    row = lambda A_r: np.array([3e-3, A_r, 2e7, 2e7, 1e-7, 0.0, 0.0, 0.0, 2e-7])
    state, v, q, Q_p, _ = quick(row(2e-3), 1e5, 1e3, 1.5e7, 0.0, 0.0)
    assert (
        state == DONE and v > 0 and q == pytest.approx(2e-3 * v) and Q_p == pytest.approx(1e-3 * v)
    )
    assert quick(row(3e-3), 1e5, 1e3, 1.5e7, 0.0, 0.0)[0] == SLOW


def test_flow_into_a_chamber_that_is_held():
    """k √(P − P_i) and its derivative; none where the pump's pressure is no higher, or the valve is shut."""
    assert _through(1.0, 9.0, 5.0) == (2.0, 0.25) and _through(3.0, 9.0, 5.0) == (6.0, 0.75)
    assert _through(1.0, 5.0, 5.0) == _through(1.0, 4.0, 5.0) == _through(0.0, 9.0, 5.0) == (0, 0)


def test_where_to_look_next_in_a_bracket():
    """False position; the middle each third time and where the bracket shrank by less than half; kept off both ends."""
    assert _next(1.0, -1.0, 5.0, 3.0, 100.0, 0) == pytest.approx(2.0)
    assert (
        _next(1.0, -1.0, 5.0, 3.0, 100.0, 2) == 3.0 and _next(1.0, -1.0, 5.0, 3.0, 100.0, 5) == 3.0
    )
    assert _next(1.0, -1.0, 5.0, 3.0, 7.9, 0) == 3.0
    assert _next(1.0, -1.0, 5.0, 3.0, 8.1, 0) == pytest.approx(2.0)
    assert _next(1.0, -1e-9, 5.0, 3.0, 100.0, 0) == pytest.approx(1.004)
    assert _next(1.0, -3.0, 5.0, 1e-9, 100.0, 1) == pytest.approx(4.996)
    a = 1.0
    b = np.nextafter(1.0, 2.0)
    assert _next(a, -1.0, b, 1.0, 100.0, 0) == 0.5 * (a + b)


ROW = np.array([0.5, 0.3, 8.0, 7.0, 2.0, 1.0, 0.7, 1.5, 0.4])


@pytest.mark.parametrize(
    "k_ph, k_pr, P, P_c",
    [(2, 1, 5, 5), (2, 1, 1, 3.6), (2, 0, 1, 4), (0, 1, 1, 2), (0, 0, 5, 5), (2, 0, 6, 6)],
)
def test_flows_at_given_pressures(k_ph, k_pr, P, P_c):
    """By the orifices' laws, at P_h = 4 and P_r = 2; behind a shut check flows cancel; regeneration from rod to head only."""
    row = ROW.copy()
    row[4:6] = k_ph, k_pr
    found = _flows(row, float(P), 4.0, 2.0)
    signed = lambda k, drop: k * np.sign(drop) * np.sqrt(abs(drop))
    wanted = [signed(k_ph, P_c - 4), signed(k_pr, P_c - 2), 0.7 * 2, 1.5 * np.sqrt(2), 0.0, P_c]
    assert found == pytest.approx(wanted)
    assert _flows(row, float(P), 2.0, 4.0)[4] == pytest.approx(0.4 * np.sqrt(2))
    assert _flows(row, float(P), -1.0, -4.0)[2:4] == (0.0, 0.0)


def test_balances_of_both_chambers():
    """A_h v − (q_ph − q_th + q_a) and −A_r v − (q_pr − q_tr − q_a) at v = v_0 + w (A_h P_h − A_r P_r)."""
    v_0, w, x, y, P = 0.3, 0.02, 1.0, 3.25, 5.0
    v = v_0 + w * (0.5 * x - 0.3 * y)
    q_ph, q_pr, q_th, q_tr, q_a, _ = _flows(ROW, P, x, y)
    assert _head(ROW, P, v_0, w, x, y) == pytest.approx(0.5 * v - (q_ph - q_th + q_a))
    assert _rod(ROW, P, v_0, w, x, y) == pytest.approx(-0.3 * v - (q_pr - q_tr - q_a))


# ---- one way against another ----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("regeneration", [False, True])
def test_nested_roots_find_what_the_general_way_finds(regeneration):
    """Velocity and the pump's flow of a section under a load, at a given pressure; also of one that moves at a given velocity."""
    rng = np.random.default_rng(11)
    for _ in range(DRAWS):
        rows, _ = rows_of(rng, 1, 1 if regeneration else None, regeneration)
        row = rows[0]
        (β,), (f,) = cases.load(rng, 1, 5.0, 7.0)
        P = rng.uniform(5e6, 40e6)
        found = np.zeros(9)
        v, Q_p = passed(row, β, f, P, found)
        x, y = section(row, P, -f / β, 1 / β)
        size = full(rows)
        assert -f / β + (row[0] * x - row[1] * y) / β == pytest.approx(v, abs=1e-6 * size / row[1])
        assert pumped(row, P, -f / β, 1 / β, x, y) == pytest.approx(Q_p, abs=1e-5 * size)
        state, w, q, Q, _ = quick(row, β, f, P, 0.0, 0.0)
        assert state in (DONE, SLOW)
        if state == DONE:
            assert w == pytest.approx(v, abs=1e-6 * size / row[1])
            assert pytest.approx(Q_p, abs=1e-5 * size) == Q
        at = np.zeros(9)
        again = moving(row, v, P, at)
        assert again == pytest.approx(Q_p, abs=1e-4 * size)
        assert at[:2] == pytest.approx(found[:2], abs=1e-3 * row[2]) or abs(v) < 1e-9


@pytest.mark.parametrize("N", [1, 2])
def test_the_pumps_pressure_balances_its_flow(N):
    """Q − k_b √P − Σ Q_p is zero, or positive at the relief; for loads and for the velocities that they give."""
    rng = np.random.default_rng(12)
    reliefs = 0
    for _ in range(DRAWS):
        rows, supply = rows_of(rng, N)
        β, f = cases.load(rng, N, 5.0, 7.0)
        found, v = np.zeros((N, 9)), np.zeros(N)
        P = loaded(rows, supply, β, f, found, v)
        taken = sum(max(q[2] + q[3], 0.0) for q in found)
        left = supply[0] - supply[2] * np.sqrt(P) - taken
        small = 1e-6 * supply[0]
        if P == supply[1]:
            reliefs += 1
            assert left >= -small
        else:
            assert abs(left) < small and 0 < P < supply[1]
        own, q = np.zeros(N), np.zeros(N)
        assert resolve(rows, supply, β, f, own, q) == P and own == pytest.approx(v, abs=1e-9)
        both, each = np.zeros((2, N)), np.zeros(2)
        resolve_all(np.stack([rows] * 2), np.stack([supply] * 2), np.stack([β] * 2), np.stack([f] * 2), both, each)  # fmt: skip
        assert each == pytest.approx([P, P]) and both == pytest.approx(np.stack([own, own]))
        again = given(rows, supply, v, np.zeros((N, 9)))
        assert again == pytest.approx(P, rel=1e-3, abs=1e-3 * supply[1])
    assert 0 < reliefs < DRAWS


# ---- a step ------------------------------------------------------------------------------------------------------------------
def test_two_steps_of_an_arm_by_hand():
    """(72) and (79) for a motor's arm and a cylinder's: length and lever, the oil's force at the step's end, the pose after it."""
    rng = np.random.default_rng(13)
    rows, supply = rows_of(rng, 2)
    h, g, K, B = 1e-3, 9.81, 3e5, 4e4
    motor = [0.6, 1.1, 20.0, 9.0, K, B, 0.0, 0.0, 0.0, 0.0, 0.35]
    ram = [0.5, 0.9, 15.0, 7.0, K, B, 0.7, 0.2, -0.4, 0.3, 0.0]
    push = np.array([[50.0, -20.0], [30.0, 10.0]])
    found = np.zeros((5, 3, 2))
    θ, dθ, x, v, f = found
    θ[0] = 0.4, 0.9

    def geometry(arm, angle):
        if arm[10]:
            return arm[10] * angle, arm[10]
        L_m, α, r_x, r_y = arm[6:10]
        length = lambda a: np.hypot(-L_m * np.cos(a - α) - r_x, -L_m * np.sin(a - α) - r_y)
        ε = 1e-6
        return length(angle), (length(angle + ε) - length(angle - ε)) / (2 * ε)

    arms = (motor, ram)
    x[0] = [geometry(a, q)[0] for a, q in zip(arms, θ[0])]
    _advance(np.array(arms), np.stack([rows, rows]), supply, g, h, push, θ, dθ, x, v, f)
    before = None
    for k in range(2):
        lengths, levers = zip(*(geometry(a, q) for a, q in zip(arms, θ[k])))
        before = lengths if before is None else before
        β = np.full(2, B + h * K)
        pulled = np.array(
            [K * (x[k, j] - lengths[j]) - B * (lengths[j] - before[j]) / h for j in range(2)]
        )
        w = np.zeros(2)
        resolve(rows, supply, β, pulled, w, np.zeros(2))
        assert v[k + 1] == pytest.approx(w, abs=1e-12) and f[k + 1] == pytest.approx(pulled + β * w)
        assert x[k + 1] == pytest.approx(x[k] + h * w)
        for j, arm in enumerate(arms):
            L_g, L_f, M, inertia = arm[:4]
            torque = f[k + 1, j] * levers[j] + (L_f * push[k, j] - M * g * L_g) * np.cos(θ[k, j])
            assert dθ[k + 1, j] == pytest.approx(dθ[k, j] + h * torque / inertia, rel=1e-6)
            assert θ[k + 1, j] == pytest.approx(θ[k, j] + h * dθ[k + 1, j])
        before = lengths
