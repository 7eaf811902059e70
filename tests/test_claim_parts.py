"""Numbers and words beside verdicts, by hand: what was given back, shares at limits, friction's account, edges of what is asked."""

import math
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from controllers.vdc.drives.observed_friction import account
from plants.components.friction import LuGre, Stribeck
from plants.ieha.actuator import IEHA
from workbench.contract.machine_limits import Limit
from workbench.contract.system import Signal
from workbench.run.log import Log, Status
from workbench.verification import run_claims
from workbench.verification.ledger import claims as ledger_claims
from workbench.verification.ledger.balance import Balance
from workbench.verification.linear import frozen_time
from workbench.verification.linear.stability import positive_definite
from workbench.verification.observed import shares
from workbench.verification.practical.returned import (
    in_words,
    neutral_pressures,
    row,
    share_given_back,
    slowest_return,
)
from workbench.verification.practical.returning import Return
from workbench.verification.rigorous.balls import _inverse
from workbench.verification.temporal.sentence import read


# ---- what came back ----------------------------------------------------------------------------------------------------
def back(name="q", word="back", largest=0.4, last=0.1, after=2.0, rate=0.5, moved=True, bar=False):
    signal = SimpleNamespace(name=name, unit="Pa" if bar else "m", pressure=bar)
    return Return(signal, word, largest, last, after, rate, moved)


def outcomes(*found):
    return [SimpleNamespace(found=list(found[:1])), SimpleNamespace(found=list(found[1:]))]


def test_the_smallest_share_that_was_given_back():
    """1 − last/largest of what moved, pressures and what never moved aside; none where a number says nothing."""
    assert share_given_back(outcomes(back(), back(last=0.3))) == pytest.approx(0.25)
    assert share_given_back(outcomes(back(last=0.0))) == 1.0
    aside = (back(last=0.4, bar=True), back(last=0.4, moved=False), back(largest=0.0))
    assert share_given_back(outcomes(back(), *aside)) == pytest.approx(0.75)
    assert share_given_back(outcomes(*aside)) == 0.0
    assert share_given_back(outcomes(back(last=math.inf))) is None
    assert share_given_back(outcomes(back(last=0.8))) == pytest.approx(-1.0)


def test_the_slowest_return_that_was_seen():
    """The latest of those that are back, at a rate that is one."""
    slow, quick = back("slow", after=9.0, rate=0.11), back("quick", after=1.0, rate=3.0)
    later = back("still", word="returning", after=50.0)
    odd = (back(after=70.0, rate=0.0), back(after=80.0, rate=math.inf), back(after=90, moved=False))
    found = slowest_return(outcomes(quick, slow, later, *odd))
    assert found == "slowest back: slow after 9 s, at 0.11 1/s"
    assert slowest_return(outcomes(later, *odd)) == "back at once"


def test_pressures_that_neither_come_back_nor_grow():
    stays = lambda name, last, word="staying": back(name, word, 9e5, last, bar=True)
    (found,) = neutral_pressures(
        outcomes(stays("p_a", 2e5), stays("p_b", 3e5), stays("p_a", 1e5), stays("p_c", 9e5, "back"))
    )
    assert found.holds is None and found.worst.startswith("p_a, p_b stay up to 3 bar off")
    grown = stays("p_c", 9e5, "growing")
    assert neutral_pressures(outcomes(grown, stays("p_d", 1.0, "back"), back())) == ()


@pytest.mark.parametrize(
    "word, said",
    [("growing", "grows away to"), ("staying", "stays"), ("returning", "is still")]
    + [("back", "is back to")],
)
def test_a_return_in_words_and_as_a_row(word, said):
    one = back(word=word, after=math.inf)
    assert in_words(one, 8.0) == f"q {said} 0.1 m off at 8 s, of 0.4 m that it was off"
    assert row(one)["after"] is None and row(one)["rate"] == 0.5 and row(one)["word"] == word


# ---- shares of time at limits --------------------------------------------------------------------------------------------
def limited(u, low=-2.0, high=8.0):
    signals = (Signal("u", "V"),)
    u = np.array(u, float)
    log = Log(np.arange(float(len(u))), u[:, None], signals, {}, Status(True, "ended", 1.0))
    plant = SimpleNamespace(limits=lambda: {"u": (low, high)})
    law = SimpleNamespace(inner=None)
    return SimpleNamespace(log=log, loop=SimpleNamespace(plant=plant, controller=law))


def test_a_command_is_at_its_limit_within_a_billionth_of_its_range():
    near, off = 0.9e-8, 1.1e-8  # of a range of 10
    u = [8.0, 8.0 - near, 8.0 - off, -2.0, -2.0 + near, -2.0 + off, 9.0, -9.0, 0.0]
    found = shares.commands_at_limits(limited(u))["u"]
    assert found.tolist() == [True, True, False, True, True, False, True, True, False]
    assert shares.at_limit(limited([8.0, 0, 0, -2.0])).tolist() == [0.25, 0.25, 0.25, 0.5]
    assert shares.so_far(np.array([1, 0, 1, 1])).tolist() == [0.25, 0.25, 0.5, 0.75]


@pytest.mark.parametrize(
    "low, high, value, size",
    [
        (-2.0, 8.0, [99.0], 10.0),
        (-math.inf, 8.0, [3.0], 8.0),
        (-5.0, math.inf, [-3.0], 5.0),
        (-math.inf, 8.0, [-30.0], 30.0),
        (0.0, math.inf, [0.0], 1e-300),
    ],
)
def test_the_size_of_a_limit_and_when_it_is_reached(low, high, value, size):
    limit = Limit("spool", ("x",), low, high, "m")
    values = np.array(value)
    assert shares.size_of_limit(limit, values) == size and shares.name_of(limit) == "at spool"
    if math.isfinite(high):
        at = np.array([high - 0.9e-6 * size, high - 1.1e-6 * size, high])
        at[1:2] = high - 1.1e-6 * shares.size_of_limit(limit, at)
        at[0] = high - 0.9e-6 * shares.size_of_limit(limit, at)
        assert shares.limit_reached(limit, at).tolist() == [True, False, True]


# ---- friction in the account ------------------------------------------------------------------------------------------------
LAW = LuGre(F_c=30.0, F_s=50.0, v_s=0.02, b=11.0, σ_0=1e5, σ_1=200.0)


def test_each_perturbation_of_observed_friction():
    """−Δẋ (f_fr − f_f) + s (ẑ̇_law − ż); s (ẑ̇ − ẑ̇_own); s (ẑ̇_own − ẑ̇_law); ½ σ_0 (ẑ − z)²."""
    z, ẑ, v, Δx = [2e-4], [5e-4], 0.01, 0.03
    s = 1e5 * (5e-4 - 2e-4)
    (ż,) = LAW.rate(v, z)
    stored, d = account(LAW, 70.0, 20.0, Δx, v, z, ẑ, [0.4], [0.9], [0.6])
    assert stored == pytest.approx(0.5 * 1e5 * 9e-8)
    assert d["friction"] == pytest.approx(-0.03 * 50.0 + s * (0.4 - ż))
    assert d["hold"] == pytest.approx(s * 0.3) and d["parameters"] == pytest.approx(s * 0.2)
    _, d = account(LAW, 70.0, 20.0, Δx, v, z, ẑ, [0.4], [0.9])
    assert d["hold"] == pytest.approx(s * 0.5) and "parameters" not in d


@pytest.mark.parametrize("rub, ẑ", [([], []), ([1e-4], []), ([], [1e-4]), ([1e-4], [1e-4, 0.1])])
def test_friction_that_only_one_of_both_remembers_has_no_storage(rub, ẑ):
    assert account(Stribeck(), 70.0, 20.0, 0.03, 0.01, rub, ẑ, [0.4], [0.9]) == (
        0.0,
        {"friction": pytest.approx(-1.5)},
    )


def test_pistons_of_a_full_pump_are_states():
    """p_1 … p_N after the seven of the actuator, at the intake's pressure at first; then what the friction remembers."""
    plant = IEHA(detail="full", friction=LAW)
    N = plant.pump.N
    names = [s.name for s in plant.states]
    assert names[7:-1] == [f"p_{i}" for i in range(1, N + 1)] and names[-1] == "z_Y"
    assert len(plant.initial()) == len(names) == 8 + N
    assert list(plant.initial())[7:-1] == [plant.pump.P_rp] * N and plant.initial()[-1] == 0.0
    x = list(range(8 + N))
    assert plant.pistons(x) == list(range(7, 7 + N)) and plant.rubbing([0.0] * len(x))[1] == [0.0]
    assert len(IEHA().states) == 7


# ---- edges ----------------------------------------------------------------------------------------------------------------------
def test_a_tracking_error_is_a_finite_positive_number_or_a_quantity():
    for wrong in (0.0, -1.0, math.inf, math.nan):
        with pytest.raises(ValueError):
            run_claims.Tracking(error=wrong)
    run_claims.Tracking(error=1e-9)
    run_claims.Tracking(error="5 mm")


def test_cuts_of_a_ledger_without_any():
    """Nothing was looked at: undecided."""
    zeros = np.zeros((2, 1))
    b = Balance(np.arange(2.0), (("s", "a"),), zeros, zeros, zeros, zeros + 1.0, {}, {}, {})
    run = SimpleNamespace(
        balance=b,
        log=SimpleNamespace(status=Status(True, "ended", 1.0)),
        kept={ledger_claims.AROUND: b},
    )
    found = ledger_claims.check_power_flows(SimpleNamespace(tolerance=1e-9, counted=False), run)
    assert found.holds is None and found.worst == "no inner cut"


@pytest.mark.parametrize("k", [1, 2, 3, 5, 6, 8, 12, 720, 1024])
def test_one_over_a_whole_number_is_held(k):
    """Exactly for powers of two, between neighbours otherwise."""
    low, high = _inverse(k)
    exact = Fraction(1, k)
    assert Fraction(low) <= exact <= Fraction(high)
    assert bool(low == high) is (k in (1, 2, 8, 1024)) and high - low <= 5e-16 / k


def test_what_is_positive_definite_with_an_error():
    one = np.array([[2.0, 1.0], [1.0, 2.0]])
    assert positive_definite(one) and positive_definite(one, 0.49)
    assert not positive_definite(one, 0.51) and not positive_definite(np.zeros((1, 1)))
    assert not positive_definite(np.array([[1.0, 2.0], [2.0, 1.0]]))
    assert not positive_definite(np.array([[math.nan]])) and not positive_definite(-one)
    assert positive_definite(np.diag([1e-200, 1e200]))
    rows = np.array([[0.0, 0.9], [0.0, 0.0]])
    assert positive_definite(one, rows)


def test_the_sides_of_a_comparison_that_have_signals_are_told():
    sentence = read("always (2 * x < y + 1 m)", {"x": "m", "y": "m"})
    time = np.arange(3.0)
    answer = sentence.on(time, {"x": np.array([0.0, 4.0, 1.0]), "y": np.array([9.0, 2.0, 9.0])})
    assert answer.holds is False and "2 * x = 8 m, y + 1 m = 3 m" in str(vars(answer))
    plain = read("always (x < 3 m)", {"x": "m"}).on(time, {"x": np.array([0.0, 4.0, 1.0])})
    assert "x = 4 m" in str(vars(plain)) and "3 m = 3" not in str(vars(plain))


# ---- rows at which a run is linearised -----------------------------------------------------------
@pytest.mark.parametrize("lag, between", [(0.0, False), (0.3, False), (0.0, True)])
def test_a_row_is_looked_at_just_before_its_sample(monkeypatch, lag, between):
    """The plant as it is there, the law's memory as the sample before left it, or released it; between samples one row alone."""
    rows = np.array([[1.0, 10.0, 20.0], [2.0, 11.0, 21.0], [3.0, 12.0, 22.0]])
    asked = []

    def over(t, x, x_after, w, w_after):
        asked.append((t, x.tolist(), x_after.tolist(), w.tolist(), w_after.tolist()))
        return np.eye(3)

    released = lambda name, t, x, w: np.array([0.0, 77.0, 78.0])
    plant = SimpleNamespace(states=("q",))
    own = SimpleNamespace(
        loop=SimpleNamespace(plant=plant, lag=lag),
        log=SimpleNamespace(time=np.array([0.0, 0.1, 0.2])),
        x=rows,
        w=lambda k: np.array([float(k)]),
        matrices=SimpleNamespace(over_sample=over, value=released),
        state=("q", "z", "u"),
        commons=None,
        place=lambda k, where, *_: (k, where),
    )
    monkeypatch.setattr(frozen_time, "coarse", lambda loop, log: between)
    found = frozen_time.TracedPoints.visited(own, 2)
    assert found[0] == 2 and "t = 0.2 s" in found[1]
    ((t, x, after, w, w_after),) = asked
    assert t == 0.2 and w_after == [2.0]
    if between:
        assert x == after == [3.0, 12.0, 22.0] and w == [2.0]
    else:
        memory = [77.0, 78.0] if lag else [11.0, 21.0]
        assert x == [2.0, 11.0, 21.0] and after == [3.0, *memory] and w == [1.0]
    assert rows.tolist()[2] == [3.0, 12.0, 22.0]
