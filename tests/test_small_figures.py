"""Single numbers that stand beside others: axes of a region, margins rounded down, Riccati residuals, sizes of drives."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.linalg

from controllers import riccati
from controllers.vdc.drives.pure_force import PureForce
from controllers.vdc.force_rate import rate
from plants.drives.ieha_drive import IEHADrive
from plants.drives.metering import speed_gain
from workbench.verification.linear.claims import _rounded_down
from workbench.verification.linear.data_margin import NEUTRAL
from workbench.verification.linear.stability import lyapunov_stable
from workbench.verification.regions import search as region_search


@pytest.mark.parametrize("x, holds", [((0.4, 1.0), True), ((0.6, 0.0), None)])
def test_half_axes_of_a_saturated_region(monkeypatch, x, holds):
    """P = diag(4, 1/4): half axes 1/2 and 2; a state outside leaves the claim undecided."""
    P = np.diag([4.0, 0.25])
    region = SimpleNamespace(
        P=P, holds=lambda x: np.array(x) @ P @ x <= 1, bears=lambda change: change <= 1e-3
    )
    monkeypatch.setattr(region_search, "attracted", lambda *given: region)
    one = np.eye(2)
    found = region_search.saturated_region(-one, one, -one, 1.0, inside=[x])
    assert found.holds is holds and found.margin == pytest.approx(0.5) and found.unit == "1"
    assert found.data["P"] == P.tolist()
    if holds:
        assert found.strength == "proof" and found.worst.startswith("half axes 0.5 to 2; ")
        assert found.data["change"] >= NEUTRAL
    else:
        assert found.worst == "not inside: (0.6, 0)"


def test_a_region_that_bears_no_change_of_the_data_is_not_proven(monkeypatch):
    region = SimpleNamespace(P=np.eye(2), holds=lambda x: True, bears=lambda change: False)
    monkeypatch.setattr(region_search, "attracted", lambda *given: region)
    one = np.eye(2)
    assert region_search.saturated_region(-one, one, -one, 1.0).holds is None
    monkeypatch.setattr(region_search, "attracted", lambda *given: None)
    unstable = region_search.saturated_region(one, one, 0 * one, 1.0)
    assert unstable.holds is False and unstable.margin == pytest.approx(-1.0)
    assert region_search.saturated_region(-one, one, -one, 1.0).holds is None


@pytest.mark.parametrize(
    "value, found",
    [
        (1.23999e-3, 1.23e-3),
        (0.3, 0.3),  # 0.3/0.001 is a little less than 300 in floating point
        (0.07, 0.07),
        (9.999, 9.99),
        (123456.0, 123000.0),
        (0.0, 0.0),
        (-2.5, -2.5),
        (math.inf, math.inf),
    ],
)
def test_three_digits_of_a_margin_never_above_it(value, found):
    assert _rounded_down(value) == pytest.approx(found, rel=1e-13)
    for own in np.arange(100, 1000) * 1e-5:  # what has three digits keeps them
        assert _rounded_down(own) == pytest.approx(own, rel=1e-12)


# ---- Riccati's equation ----------------------------------------------------------------------------------------------------
def scalar(p, a=0.9, b=0.5, q=2.0, r=3.0, s=0.25):
    """(what is judged of a solution p of one state, K)."""
    K = (b * p * a + s) / (r + b * p * b)
    one = lambda v: np.array([[v]])
    return riccati._judged(*map(one, (a, b, q, r, s, K, p))), K


@pytest.mark.parametrize("p", [7.0, 1e6, 1e-3])
def test_what_is_judged_of_a_solution(p):
    """|a²p − (abp + s)K + q − p| over the largest of its terms, |a − bK|; p itself weighs 1."""
    (residual, radius, low), K = scalar(p)
    terms = (0.81 * p, (0.45 * p + 0.25) * K, 2.0, p)
    assert residual == pytest.approx(abs(terms[0] - terms[1] + terms[2] - terms[3]) / max(terms))
    assert radius == pytest.approx(abs(0.9 - 0.5 * K))
    assert low == 0.0  # of nothing negative
    assert scalar(math.nan)[0] is None and scalar(math.inf)[0] is None
    assert scalar(1e151)[0] is None and scalar(1e-151)[0] is None


def test_what_the_cross_weight_takes_from_the_states():
    """Q − S R⁻¹ Sᵀ ⪰ 0: one state with q r = s² is the edge."""
    one = lambda v: np.array([[v]])
    riccati._check_weights(one(2.0), one(2.0), one(2.0))
    riccati._check_weights(one(2.0), one(2.0), one(-1.9))
    for s in (2.01, -2.01):
        with pytest.raises(Exception, match="weight of the states"):
            riccati._check_weights(one(2.0), one(2.0), one(s))
    with pytest.raises(Exception, match="weight of the inputs"):
        riccati._check_weights(one(2.0), one(0.0), one(0.0))


# ---- drives ------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("F_max, force", [(900.0, 900.0), (None, 2e7 * 4e-4)])
def test_sizes_of_an_ieha(F_max, force):
    """Twice the stop's limit is the stroke; without a largest force the micro-valve's supply on the smaller area."""
    drive = SimpleNamespace(
        S_A=4e-4,
        S_B=5e-4,
        F_max=F_max,
        valve=SimpleNamespace(P_s=2e7),
        stop_Y=SimpleNamespace(limit=0.03),
        stop_E=SimpleNamespace(limit=2e-3),
        velocity_gain=50.0,
    )
    found = IEHADrive.sizes(drive, None)
    assert (found.force, found.stroke, found.speed) == pytest.approx((force, 0.06, 0.1))
    assert found.pressure == pytest.approx(force / 4e-4)
    assert found.energy == pytest.approx(force * 0.06)


def test_the_speed_of_a_rod_behind_metering_valves():
    """Without force A_h p_h = A_r p_r; Q = c √Δp on both sides. Solved for each direction, then averaged."""
    c = {"c_ph": 3e-8, "c_tr": 2e-8, "c_th": 5e-8, "c_pr": 4e-8}
    A_h, A_r, P = 3e-3, 2e-3, 1.5e7

    def speed(A_in, A_out, into, out):
        """v with P − p_in = (A_in v/into)², p_out = (A_out v/out)², A_in p_in = A_out p_out."""
        low, high = 0.0, 1e3
        for _ in range(200):
            v = (low + high) / 2
            p_in, p_out = P - (A_in * v / into) ** 2, (A_out * v / out) ** 2
            low, high = (v, high) if A_in * p_in > A_out * p_out else (low, v)
        return low

    out = speed(A_h, A_r, c["c_ph"], c["c_tr"])
    back = speed(A_r, A_h, c["c_pr"], c["c_th"])
    found = speed_gain(SimpleNamespace(A_h=A_h, A_r=A_r, **c), P)
    assert found == pytest.approx((out + back) / 2)


# ---- parts of laws -----------------------------------------------------------------------------------------------------------
def test_the_rate_of_a_required_force():
    """Dirty: (f − s)/τ. Filtered difference: d + ω (f − s) with ω = 2π times the cutoff; nothing without either."""
    law = lambda kind: SimpleNamespace(derivative=kind, τ=0.2, cutoff=5.0)
    kept, f = [1.0, 2.0, 30.0, 40.0], [4.0, 8.0]
    assert rate(law("dirty"), kept, f) == pytest.approx([15.0, 30.0])
    ω = 10 * math.pi
    assert rate(law("difference"), kept, f) == pytest.approx([30 + 3 * ω, 40 + 6 * ω])
    assert rate(law("none"), kept, f) == [0.0, 0.0]
    for value in f:
        assert rate(law("difference"), [*f, 3.0, 4.0], f) == [3.0, 4.0], value


def test_what_is_told_of_a_pure_force():
    part = PureForce.__new__(PureForce)
    object.__setattr__(part, "label", "lift")
    given = SimpleNamespace(lever=0.4, v_r=0.7, v=0.2)
    assert part.shown(None, given) == {"lever lift": 0.4, "Δẋ lift": pytest.approx(0.5)}
    assert part.rate(None) == math.inf


@pytest.mark.parametrize("T", [None, 0.1])
@pytest.mark.parametrize("fault", ["raises", "nan"])
def test_a_lyapunov_equation_without_a_solution_proves_nothing(monkeypatch, T, fault):
    """Whether the solver gives up or gives no numbers; the same matrix is proven where it solves."""
    A = np.array([[-0.5, 0.2], [0.0, -0.3]])
    assert lyapunov_stable(A, T)

    def solve(*given, **more):
        if fault == "raises":
            raise np.linalg.LinAlgError("singular")
        return np.full((2, 2), np.nan)

    for name in ("solve_continuous_lyapunov", "solve_discrete_lyapunov"):
        monkeypatch.setattr(scipy.linalg, name, solve)
    assert lyapunov_stable(A, T) is False
