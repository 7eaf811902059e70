"""Proofs of one state and small matrices, solved by hand; what is said of them; how a loop with limits is taken apart."""

from dataclasses import dataclass, replace
from types import SimpleNamespace

import casadi as ca
import numpy as np
import pytest

from tests.small import Linear
from workbench import ClosedLoop, Controller, Sampled
from workbench.contract.errors import InputError
from workbench.contract.system import Signal
from workbench.verification.linear import local_claim, quadratic
from workbench.verification.linear.limited_loop import _affine, limited
from workbench.verification.linear.loop import point
from workbench.verification.linear.stability import spectral
from workbench.verification.linear.systems import LinearSystem
from workbench.verification.observed.oscillation import uncommanded
from workbench.verification.predictive.ingredients import (
    TerminalIngredients,
    strict_terminal_cost,
    with_slew,
)
from workbench.verification.predictive.terminal_claims import bears, seen
from workbench.verification.regions.search import attracted, saturated_region
from workbench.verification.temporal.parser import parse


# ---- quadratic certificates ----------------------------------------------------------------------------------------------
def test_slack_of_a_certificate_is_proven():
    """−(AᵀP + PA) = diag(4, 12): 4 and hardly less; P − AᵀPA likewise; none where P does not fall."""
    A, P = np.diag([-2.0, -3.0]), np.diag([1.0, 2.0])
    assert 4.0 * (1 - 1e-7) <= quadratic.slack(A, P) <= 4.0
    assert quadratic.slack(np.diag([0.5, 0.0]), P, 0.1) == pytest.approx(0.75)
    assert quadratic.slack(-A, P) == 0.0 and quadratic.slack(A, -P) == 0.0
    assert quadratic.tolerates(A, P, 0.4) and not quadratic.tolerates(A, P, 4 / (2 * np.sqrt(5)))


def test_slack_is_made_smaller_until_it_is_proven(monkeypatch):
    """Each refusal takes a billionth; where sixty do not help there is none."""
    A, P = np.array([[-2.0]]), np.array([[1.0]])
    asked = []

    def definite(M, strict=True):
        asked.append(M)
        return len(asked) > 3

    monkeypatch.setattr(quadratic, "lyapunov_exactly", lambda *_: True)
    monkeypatch.setattr(quadratic, "definite", definite)
    assert quadratic.slack(A, P) == pytest.approx(4.0 * (1 - 1e-9) ** 3, rel=1e-13)
    monkeypatch.setattr(quadratic, "definite", lambda *_, **__: False)
    assert quadratic.slack(A, P) == 0.0


# ---- terminal costs ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("ε", [1e-7, 0.1])
def test_a_terminal_cost_is_a_share_larger_than_that_of_its_law(ε):
    """One state: P_0 = W/(1 − a²), W = Q − 2SK + RK²; with the share P_0 (1 + ε/(1 − a²)). It falls by ℓ and that more."""
    A, B, Q, R, K, S = 0.9, 0.5, 2.0, 3.0, 0.7, 0.4
    a = A - B * K
    W = Q - 2 * S * K + R * K * K
    P_0 = W / (1 - a * a)
    one = lambda v: np.array([[v]])
    P = strict_terminal_cost(one(A), one(B), one(Q), one(R), one(K), one(S), ε)
    assert P[0, 0] == pytest.approx(P_0 * (1 + ε / (1 - a * a)), rel=1e-12)
    assert P[0, 0] - a * a * P[0, 0] - W == pytest.approx(ε * P_0, rel=1e-6)
    plain = strict_terminal_cost(A, B, Q, R, K, ε=ε)
    assert plain[0, 0] == pytest.approx((Q + R * K * K) / (1 - a * a) * (1 + ε / (1 - a * a)))


def terminal(Q=1.0, R=1.0, P=3.0, S=0.0):
    one = lambda v: np.array([[v]])
    none = np.zeros((0, 1))
    return TerminalIngredients(
        one(0.5), one(0.1), one(Q), one(R), one(P), one(0.0), 1, none, none, np.zeros(0), S=one(S)
    )


@pytest.mark.parametrize(
    "W, c, Q, holds",
    [
        (0.2, 0.3, 1.0, True),
        (1e-5, 1e-6, 1.0, True),
        (0.2, 0.0, 1.0, False),
        (-0.2, 0.3, 1.0, False),
        (0.2, 0.3, -0.1, False),
        (0.2, 0.3, 0.0, True),
        (50.0, 0.3, 1.0, False),
    ],
)
def test_a_stage_cost_sees_the_state(W, c, Q, holds):
    """c ℓ − W(0.5 x + 0.1 u)² + W x² > 0 for all x, u, with c > 0, W > 0 and ℓ ≥ 0."""
    form = np.array([[c * Q - 0.25 * W + W, -0.05 * W], [-0.05 * W, c - 0.01 * W]])
    assert seen(terminal(Q), np.array([[W]]), c) is holds
    if holds:
        assert np.linalg.eigvalsh(form)[0] > 0


def test_what_a_terminal_cost_bears():
    """P − 0.25 P − Q = 1.25: a change of A by a share δ takes 2·0.5·P·δ·0.5 of it and more."""
    t = terminal()
    W = np.array([[0.2]])
    assert bears(t, W, 0.3, 1e-6) and bears(t, W, 0.3, 0.1) and not bears(t, W, 0.3, 2.0)


def test_what_a_gain_makes_of_a_change():
    """x⁺ = u = −x/2: with A = 0 all that a relative change moves of the closed loop is B K. 1 − ((1 + δ)/2)² > q + r/4."""
    one = lambda v: np.array([[v]])
    none = np.zeros((0, 1))
    t = TerminalIngredients(
        one(0.0), one(1.0), one(0.01), one(0.01), one(1.0), one(0.5), 1, none, none, np.zeros(0)
    )
    most = 2 * np.sqrt(1 - 0.01 - 0.0025) - 1  # 0.987
    assert bears(t, one(1.0), 1e3, most - 1e-6) and not bears(t, one(1.0), 1e3, most + 1e-6)


def test_rows_of_limits_on_commands_their_moves_and_outputs():
    """(x, u_{−1}) moves on; each finite limit is a row of E (x, u_{−1}) + F u ≤ g with its sign."""
    A, B, E, F, g = with_slew([[0.5]], [[2.0]], [-1.0], [np.inf], 0.3, [[4.0]], [-np.inf], [7.0])
    assert A.tolist() == [[0.5, 0.0], [0.0, 0.0]] and B.tolist() == [[2.0], [1.0]]
    rows = [(*e, *f, v) for e, f, v in zip(E.tolist(), F.tolist(), g.tolist())]
    assert rows == [(0, 0, -1, 1.0), (0, -1, 1, 0.3), (0, 1, -1, 0.3), (4, 0, 0, 7.0)]
    wrong = [
        {"N": 0},
        {"N": 3, "blocks": (1, 1)},
        {"N": 2, "blocks": (2, 0)},
        {"K": np.ones((2, 1))},
    ]
    for fault in wrong:
        with pytest.raises(InputError):
            replace(terminal(), **fault)
    replace(terminal(), N=3, blocks=(1, 2))


# ---- regions -------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "fault",
    [
        {"A": np.eye(3)},
        {"K": np.ones((1, 3))},
        {"K": np.ones((2, 2))},
        {"u_max": 0.0},
        {"u_max": -1.0},
    ],
)
def test_a_saturated_loop_whose_parts_do_not_fit_is_refused(fault):
    good = {"A": np.diag([-1.0, -2.0]), "B": np.ones((2, 1)), "K": -np.ones((1, 2)), "u_max": 1.0}
    with pytest.raises(InputError, match="saturated loop"):
        attracted(**(good | fault))


def test_regions_of_one_state_by_ball_by_starts_and_to_their_end():
    """ẋ = 0.5 x + u, |u| ≤ 1 attracts |x| < 2; of a stable plant up to a hundred times what the limit leaves untouched."""
    one = lambda v: np.array([[v]])
    by_ball = attracted(one(0.5), one(1.0), one(-2.0), 1.0)
    assert 1.9 < 1 / np.sqrt(by_ball.P[0, 0]) < 2.0
    by_starts = attracted(one(0.5), one(1.0), one(-2.0), 1.0, starts=[[0.1], [-0.3]])
    assert 1.9 < 1 / np.sqrt(by_starts.P[0, 0]) < 2.0
    wide = attracted(one(-0.5), one(1.0), one(-2.0), 1.0)
    assert 49.9 < 1 / np.sqrt(wide.P[0, 0]) < 75.0
    sampled = attracted(one(1.2), one(1.0), one(-0.7), 1.0, 0.1)
    assert 4.7 < 1 / np.sqrt(sampled.P[0, 0]) < 5.0  # 1.2 x − 1 = x
    assert attracted(one(0.5), one(1.0), one(0.3), 1.0) is None
    found = saturated_region(one(0.5), one(1.0), one(-2.0), 1.0, inside=[np.array([1.5])])
    assert found.holds is True and 1.9 < found.margin < 2.0
    out = saturated_region(one(0.5), one(1.0), one(-2.0), 1.0, inside=[np.array([2.5])])
    assert out.holds is None and out.worst.startswith("not inside") and "2.5" in out.worst
    loose = saturated_region(one(0.5), one(1.0), one(0.3), 1.0)
    assert loose.holds is False and loose.margin == pytest.approx(-0.8)


# ---- words and numbers ---------------------------------------------------------------------------------------------------
def test_states_that_take_part_in_a_mode():
    """The three largest shares above 0.15, the largest first; by number where there are no names."""
    found = spectral(np.diag([-1.0, -5.0]))
    own = replace(
        found,
        eigenvalues=np.array([-1.5 + 2j, -3.0]),
        participation=np.array([[0.16, 0.5, 0.14, 0.2], [0.2, 0.21, 0.3, 0.29]]),
    )
    assert own.describe(0, ["a", "b", "c", "d"]) == "λ = -1.5 ± 2j (b, d, a)"
    assert own.describe(1, ["a", "b", "c"]) == "λ = -3 (c, x[3], b)"


def test_a_mode_at_the_origin_of_samples_is_infinitely_fast():
    """Deadbeat: ζ = 1, ω_n = ∞, margin 1; of z = 0.5 by its logarithm; continuous by its size."""
    found = spectral(np.diag([0.0, 0.5]), 0.1)
    k = int(np.argmin(np.abs(found.eigenvalues)))
    assert found.margins[k] == 1.0 and found.damping[k] == 1.0 and np.isinf(found.frequency[k])
    assert found.frequency[1 - k] == pytest.approx(np.log(2) / 0.1)
    ring = spectral([[0.0, 1.0], [-25.0, -2.0]])
    assert ring.frequency == pytest.approx(5.0) and ring.damping == pytest.approx(0.2)
    assert ring.margin == pytest.approx(1.0) and ring.participation == pytest.approx(0.5)


def test_the_smallest_of_three_margins_over_what_is_asked():
    claim = SimpleNamespace(gain=2.0, phase=0.5)
    row = {"gain_up": 6.0, "gain_down": 0.1, "phase": 2.0}
    assert local_claim._share(row, claim) == pytest.approx(3.0)
    assert local_claim._share(row | {"gain_down": 0.4}, claim) == pytest.approx(1.25)
    assert local_claim._share(row | {"phase": 0.25}, claim) == pytest.approx(0.5)
    assert local_claim._share(row | {"gain_down": 0.0}, claim) == pytest.approx(3.0)


def test_a_response_for_drawing():
    """Three hundred frequencies from 0.1 rad/s to half the sampling's, or 1000 rad/s."""
    ω, L = local_claim.response(LinearSystem([[-2.0]], [[3.0]], [[1.0]], [[0.0]]))
    assert len(ω) == 300 and ω[0] == pytest.approx(0.1) and ω[-1] == pytest.approx(1e3)
    assert pytest.approx(3 / (1j * ω + 2)) == L
    ω, _ = local_claim.response(LinearSystem([[0.5]], [[1.0]], [[1.0]], [[0.0]], 0.01))
    assert ω[-1] == pytest.approx(np.pi / 0.01)


def test_a_period_that_fits_exactly_three_times_is_taken_out():
    t = np.linspace(0.0, 3.0, 61)
    e = np.sin(2 * np.pi * t) + 0.1 * t
    time, left = uncommanded(t, e, [1.0])
    assert time[0] == pytest.approx(1.0) and left == pytest.approx(0.1, abs=1e-9)
    time, left = uncommanded(t[:-1], e[:-1], [1.0])
    assert len(time) == 60 and left.tolist() == e[:-1].tolist()
    time, left = uncommanded(t + 5.0, e, [1.0, 0.5])
    assert time[0] == pytest.approx(6.5) and left == pytest.approx(0.0, abs=1e-9)


def test_an_interval_of_one_instant():
    for words in ("always[2 s, 2 s] (x < 1)", "once[0 s, 0 s] (x < 1)"):
        parse(words)
    with pytest.raises(InputError, match="interval is empty"):
        parse("always[2 s, 1.9 s] (x < 1)")


# ---- a loop with limits ----------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Offset(Controller):
    """z⁺ = 0.9 z + 0.2 y + 0.3 r + 0.05, u = clip(−1.1 z⁺ + 0.4 y + 0.6 r + 0.07, −0.5, 0.8)."""

    states = (Signal("z"),)
    measured = (Signal("y0", "1"),)
    commands = (Signal("u0", "1"),)
    references = (Signal("y0_d", "1", "", "reference"),)

    def initial(self):
        return [0.3]

    def after(self, z, y, r):
        return [0.9 * z[0] + 0.2 * y[0] + 0.3 * r[0] + 0.05]

    def step(self, t, z, y, r):
        after = self.after(z, y, r)
        return after, self.command(t, after, y, r)

    def rhs(self, t, z, y, r):
        return [-0.9 * z[0] + 0.2 * y[0] + 0.3 * r[0] + 0.05]

    def command(self, t, z, y, r):
        return [np.maximum(np.minimum(-1.1 * z[0] + 0.4 * y[0] + 0.6 * r[0] + 0.07, 0.8), -0.5)]


PLANT = Linear(A=((-1.0,),), B=((1.0,),), C=((1.0,),), x0=(0.2,))
T = 0.5


@pytest.mark.parametrize("r", [0.0, 1.7, -2.0])
def test_memory_commands_and_limits_with_what_is_constant_in_them(r):
    """One step of the loop, by the law's own text, from states on both sides of both limits; rest where the loop stands still."""
    own = limited(ClosedLoop(PLANT, Sampled(Offset(), T)), point(PLANT, {}), [r])
    assert own.states == ("x0", "z") and own.low == [-0.5] and own.high == [0.8] and own.T == T
    Φ = np.exp(-T)
    sides = set()
    for x in np.linspace(-2, 2, 9):
        for z in (-2.0, -0.4, 0.3, 2.0):
            (after,) = Offset().after([z], [x], [r])
            free = -1.1 * after + 0.4 * x + 0.6 * r + 0.07
            (u,) = Offset().command(0.0, [after], [x], [r])
            sides.add(np.sign(free - u))
            assert own.next(np.array([x, z])) == pytest.approx([Φ * x + (1 - Φ) * u, after])
            assert own.K @ [x, z] + own.w == pytest.approx([free])
            assert own.command @ [x, z] - own.K @ [x, z] == pytest.approx(0.0)
    assert sides == {-1.0, 0.0, 1.0}
    assert own.enter[:, 0] == pytest.approx([1 - Φ, 0.0]) and own.start == pytest.approx([0.2, 0.3])
    if r == 0.0:
        x, room = own.rest()
        assert own.next(x) == pytest.approx(x)
        v = (own.K @ x + own.w)[0]
        assert room == pytest.approx([min(0.8 - v, v + 0.5)]) and room[0] > 0


def test_the_flow_of_a_continuous_loop_with_limits():
    own = limited(ClosedLoop(PLANT, Offset()), point(PLANT, {}), [1.2])
    for x, z in ((0.1, 0.2), (2.0, -3.0), (-1.0, 2.0)):
        (u,) = Offset().command(0.0, [z], [x], [1.2])
        assert own.next(np.array([x, z])) == pytest.approx(
            [u - x, *Offset().rhs(0, [z], [x], [1.2])]
        )


def test_coefficients_of_an_affine_expression():
    x, y = ca.SX.sym("x", 2), ca.SX.sym("y")
    by_x, by_y, constant = _affine(ca.vertcat(2 * x[0] - 3 * y + 5, x[1]), [x, y], "no")
    assert by_x.tolist() == [[2, 0], [0, 1]] and by_y.tolist() == [[-3], [0]]
    assert constant.tolist() == [5, 0]
    for bent in (x[0] * x[0], ca.fabs(x[0]), ca.if_else(y > 0, 1, 0)):
        with pytest.raises(InputError, match="why"):
            _affine(bent, [x, y], "why")
