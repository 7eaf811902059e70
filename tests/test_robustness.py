"""Robustness of formulas in time: against its definition, closed forms, and planted errors of the monitor."""

from dataclasses import replace

import numpy as np
import pytest
from temporal_oracle import rho, sentence, truth

from workbench.contract.errors import InputError
from workbench.verification.temporal import syntax as S
from workbench.verification.temporal import windows
from workbench.verification.temporal.deciding import deciding
from workbench.verification.temporal.parser import parse
from workbench.verification.temporal.robustness import Monitor, decided, truths
from workbench.verification.temporal.sentence import read
from workbench.verification.temporal.terms import Units, margin
from workbench.verification.temporal.windows import Instants, largest, least

PLAIN = {"x": "1", "y": "1"}


def monitored(text, t, columns, complete=True):
    """(formula, its monitor) on samples."""
    formula = Units(text, PLAIN).formula(parse(text))
    margins = {c: margin(c, columns) for c in S.comparisons(formula)}
    return formula, Monitor(Instants(t, complete), margins)


def grids(rng, n):
    """Even, uneven, and with two samples at one instant, as a jump has."""
    even = 0.1 * np.arange(n)
    uneven = np.cumsum(rng.uniform(0.02, 0.25, n))
    return even, uneven, np.sort(np.concatenate([even[: n // 2], even[: n - n // 2]]))


@pytest.mark.parametrize("seed", range(8))
def test_robustness_is_that_of_the_definition(seed):
    """Both bounds, at every sample, of sentences at random; on complete runs and on ones that were cut."""
    rng = np.random.default_rng(seed)
    seen = set()
    for _ in range(30):
        text = sentence(rng)
        n = int(rng.integers(2, 26))
        for t in grids(rng, n):
            complete = bool(rng.integers(2))
            columns = {"x": rng.normal(size=n), "y": rng.integers(-8, 9, n) / 8}
            formula, monitor = monitored(text, t, columns, complete)
            bounds = monitor.bounds(formula)
            for told, unknown in ((bounds.low, -np.inf), (bounds.up, np.inf)):
                wanted = rho(formula, monitor.margins, t, unknown, complete)
                np.testing.assert_array_equal(told, wanted, f"{text} on {t}")
            assert (bounds.low <= bounds.up).all()
            seen.add(decided(monitor, formula, bounds))
    assert seen == {True, False, None}


@pytest.mark.parametrize("seed", range(4))
def test_a_decided_sentence_says_what_its_words_say(seed):
    """Signals on the same few numbers as the limits, so that margins are often zero and strictness decides."""
    rng = np.random.default_rng(100 + seed)
    zero = 0
    for _ in range(60):
        text, t = sentence(rng, depth=2), 0.1 * np.arange(16)
        columns = {name: rng.integers(-4, 5, len(t)) / 8 for name in PLAIN}
        formula, monitor = monitored(text, t, columns)
        bounds = monitor.bounds(formula)
        said = {c: truths(c, m) > 0 for c, m in monitor.margins.items()}
        for k in (0, 7):
            zero += bounds.low[k] == 0 or bounds.up[k] == 0
            worst, best = (truth(formula, said, t, k, unknown) for unknown in (False, True))
            wanted = worst if worst == best else None
            assert decided(monitor, formula, bounds, k) is wanted, text
    assert zero


@pytest.mark.parametrize("seed", range(4))
def test_the_margin_was_read_where_it_is_said(seed):
    """The comparison's own margin there is the robustness of the whole, up to the sign that `not` turns."""
    rng = np.random.default_rng(200 + seed)
    found = 0
    for _ in range(80):
        text, t = sentence(rng, depth=3), 0.1 * np.arange(60)
        columns = {name: rng.normal(size=len(t)) for name in PLAIN}
        formula, monitor = monitored(text, t, columns)
        bounds = monitor.bounds(formula)
        for upper, told in ((False, bounds.low), (True, bounds.up)):
            at = deciding(monitor, formula, upper)
            assert (at is None) == bool(np.isinf(told[0])), text
            if at is not None:
                found += 1
                assert abs(monitor.margins[at.comparison][at.sample]) == abs(told[0]), text
    assert found > 60


@pytest.mark.parametrize("seed", range(3))
def test_sliding_extremes_are_those_of_the_slices(seed):
    rng = np.random.default_rng(seed)
    for n in (1, 2, 3, 17, 200):
        values = rng.normal(size=n)
        for _ in range(20):
            first = rng.integers(0, n, 50)
            last = np.minimum(first + rng.integers(-1, n + 1, 50), n - 1)
            low = [values[a : b + 1].min() if b >= a else np.inf for a, b in zip(first, last)]
            high = [values[a : b + 1].max() if b >= a else -np.inf for a, b in zip(first, last)]
            np.testing.assert_array_equal(least(values, first, last), low)
            np.testing.assert_array_equal(largest(values, first, last), high)


# ---- closed forms -----------------------------------------------------------------------------------------------------
T = np.linspace(0.0, 10.0, 10_001)
CURVES = {
    "sine": np.sin(T),
    "ramp": T / 10,
    "step": np.where(T >= 4.0, 1.0, 0.0),
    "decay": np.exp(-T),
}
TABLE = {name: "1" for name in CURVES}


@pytest.mark.parametrize(
    "text, holds, margin, time",
    [
        # sin t is largest at π/2 + 2πk and least at 3π/2 + 2πk
        ("always[0 s, 4 s] (sine < 1.2)", True, 0.2, np.pi / 2),
        ("always[2 s, 7 s] (sine < 0.5)", False, 0.5 - np.sin(2.0), 2.0),
        ("eventually[2 s, 7 s] (sine < -0.9)", True, 0.1, 3 * np.pi / 2),
        ("always[0 s, 3 s] (sine >= 0)", True, 0.0, 0.0),
        ("always[0 s, 3 s] (sine > 0)", False, 0.0, 0.0),
        ("always[3.2 s, 6 s] not (sine >= 0)", True, -np.sin(3.2), 3.2),
        # t/10 passes 0.3 at 3 s
        ("eventually[0 s, 2 s] (ramp > 0.3)", False, -0.1, 2.0),
        ("eventually[0 s, 4 s] (ramp > 0.3)", True, 0.1, 4.0),
        ("(ramp < 0.5) until[0 s, 6 s] (ramp >= 0.4)", True, 0.05, 4.5),
        ("(ramp < 0.3) until[0 s, 6 s] (ramp >= 0.4)", False, -0.05, 3.5),
        # the step stands at 1 from 4 s on
        ("eventually[0 s, 4 s] (step > 0.5)", True, 0.5, 4.0),
        ("eventually[0 s, 3.999 s] (step > 0.5)", False, -0.5, 0.0),
        ("always[4 s, end] (step > 0.5)", True, 0.5, 4.0),
        ("always[3.999 s, end] (step > 0.5)", False, -0.5, 3.999),
        ("always (step > 0.5 implies historically[0 s, 1 s] (step > 0.5))", False, -0.5, 4.0),
        ("always (step > 0.5 implies always[0 s, 1 s] (step > 0.5))", None, None, None),
        ("always[0 s, 9 s] (step > 0.5 implies always[0 s, 1 s] (step > 0.5))", True, 0.5, 0.0),
        ("always[5 s, end] once[0.9 s, 1.1 s] (step > 0.5)", True, 0.5, 3.9),
        ("always[4 s, end] ((step > 0.5) since[0 s, 1 s] (step < 0.5))", False, -0.5, 5.0),
        # e^−t
        ("eventually[0 s, 5 s] always (decay < 0.01)", True, 0.01 - np.exp(-5.0), 5.0),
        ("eventually[0 s, 4 s] always (decay < 0.01)", False, 0.01 - np.exp(-4.0), 4.0),
        ("always (abs(sine) <= sqrt(1 - 0) and max(decay, ramp) < 1.5)", True, 0.0, np.pi / 2),
    ],
)
def test_what_is_known_in_closed_form(text, holds, margin, time):
    answer = read(text, TABLE).on(T, CURVES)
    assert answer.holds is holds
    if margin is None:
        assert answer.margin is None
    else:
        assert answer.margin == pytest.approx(margin, abs=1e-6)
    if time is not None and "once" not in text and "sqrt" not in text:
        assert answer.time == pytest.approx(time, abs=6e-4)


def test_errors_planted_in_the_monitor_are_seen(monkeypatch):
    """A window off by one sample, strict taken for not strict, the past for the future: a closed form above changes."""
    sure = [
        ("eventually[0 s, 3.999 s] (step > 0.5)", False),
        ("always[4 s, end] (step > 0.5)", True),
        ("always[0 s, 3 s] (sine > 0)", False),
        ("always (step > 0.5 implies historically[0 s, 1 s] (step > 0.5))", False),
    ]

    def wrong():
        return [text for text, holds in sure if read(text, TABLE).on(T, CURVES).holds is not holds]

    assert not wrong()
    window = Instants.window
    with monkeypatch.context() as planted:
        later = lambda self, i, past: (
            lambda w: replace(w, last=np.minimum(w.last + 1, len(self.time) - 1))
        )(window(self, i, past))
        planted.setattr(Instants, "window", later)
        assert sure[0][0] in wrong()
    with monkeypatch.context() as planted:
        earlier = lambda self, i, past: (lambda w: replace(w, first=np.maximum(w.first - 1, 0)))(
            window(self, i, past)
        )
        planted.setattr(Instants, "window", earlier)
        assert sure[1][0] in wrong()
    with monkeypatch.context() as planted:
        planted.setattr(S.Comparison, "strict", property(lambda self: False))
        assert wrong() == [sure[2][0]]
    with monkeypatch.context() as planted:
        planted.setattr(Instants, "window", lambda self, i, past: window(self, i, False))
        assert sure[3][0] in wrong()


def test_a_horizon_beyond_the_run_is_undecided_unless_what_was_seen_decides():
    ask = lambda text, complete=True: read(text, TABLE).on(T, CURVES, complete)
    assert ask("always[0 s, 20 s] (sine < 2)").holds is None
    assert ask("always[0 s, 20 s] (sine < 0.5)").holds is False
    assert ask("eventually[0 s, 20 s] (sine > 0.5)").holds is True
    assert ask("eventually[0 s, 20 s] (sine > 2)").holds is None
    assert ask("always[20 s, end] (sine < 2)").holds is None, (
        "an interval after the run is no empty one"
    )
    assert ask("always (sine < 2)").holds is True and ask("always (sine < 2)", False).holds is None
    assert ask("always (sine < 0.5)", False).holds is False
    assert ask("(ramp < 2) until (ramp > 2)").holds is False, (
        "until asks for the second part in the run"
    )
    assert ask("(ramp < 2) until (ramp > 2)", False).holds is None
    assert read("always[2 s, 3 s] eventually[0 s, 4 s] (sine > 0)", TABLE).until == 7.0


def test_intervals_between_samples_hold_the_one_before():
    """Samples at 0, 1, …: [0.4 s, 0.6 s] holds the one at 0; [0.4 s, 1.6 s] the one at 1; ends count."""
    t, x = np.arange(6.0), np.array([5.0, 1.0, 4.0, 2.0, 3.0, 0.0])
    at = lambda text: read(text, {"x": "1"}).on(t, {"x": x}).margin
    assert at("eventually[0.4 s, 0.6 s] (x > 0)") == 5
    assert at("eventually[0.4 s, 1.6 s] (x > 0)") == 1
    assert at("eventually[1 s, 2 s] (x > 0)") == 4
    assert at("eventually[1.0000001 s, 1.9 s] (x > 0)") == 1
    assert at("eventually[1.01 s, 2 s] (x > 0)") == 4
    assert at("always[3 s, 3 s] once[0.4 s, 0.6 s] (x > 0)") == 4


def test_a_finer_log_changes_what_is_seen_only_between_its_samples():
    """Three steps of 0.1 s are 0.3 s whatever rounding says, on any grid that holds the ends."""
    for n in (11, 101, 1001, 10_001):
        t = np.linspace(0.0, 1.0, n)
        answer = read("always[0.3 s, 0.7 s] (x < 1)", {"x": "1"}).on(t, {"x": t})
        assert answer.margin == pytest.approx(0.3, abs=1e-12) and answer.time == pytest.approx(0.7)


# ---- units of margins --------------------------------------------------------------------------------------------------
def test_a_mixed_margin_is_a_share_and_every_clause_keeps_its_own():
    table = {"e": "m", "p": "Pa", "q": "rad"}
    t = np.linspace(0.0, 1.0, 11)
    columns = {"e": 4e-3 * t, "p": 1.5e7 + 0 * t, "q": 0.1 * t}
    text = "always (e < 5 mm and p < 200 bar and q > -0.5 rad)"
    answer = read(text, table).on(t, columns)
    assert answer.mixed and answer.holds and answer.unit == "1"
    assert answer.margin == pytest.approx(1 / 5) and answer.clause == "e < 5 mm"
    own = [(c.text, c.margin, c.unit) for c in answer.clauses]
    assert [text for text, _, _ in own] == [
        "always (e < 5 mm)",
        "always (p < 200 bar)",
        "always (q > -0.5 rad)",
    ]
    assert [m for _, m, _ in own] == pytest.approx([1e-3, 5e6, 0.5])
    assert [u for _, _, u in own] == ["m", "Pa", "rad"]
    other = read("always (e < 5 mm and q < p * 1 rad / 200 bar)", table)
    assert other.on(t, columns, scale=lambda unit: 0.25).margin == pytest.approx(0.2)


def test_a_margin_of_one_unit_is_in_that_unit():
    t = np.linspace(0.0, 1.0, 11)
    answer = read("always (1 bar < p < 200 bar)", {"p": "Pa"}).on(t, {"p": 2e5 + 0 * t})
    assert not answer.mixed and answer.unit == "Pa" and answer.margin == pytest.approx(1e5)
    assert answer.clause == "1 bar < p" and answer.words == "p = 2 bar"


@pytest.mark.parametrize("power", [-3, -1, 2])
def test_a_positive_scale_changes_no_answer(power):
    rng = np.random.default_rng(5)
    for _ in range(20):
        text, t = sentence(rng), 0.1 * np.arange(30)
        columns = {name: rng.integers(-4, 5, len(t)) / 8 for name in PLAIN}
        formula, monitor = monitored(text, t, columns)
        scaled = Monitor(monitor.instants, {c: m * 2.0**power for c, m in monitor.margins.items()})
        answers = [decided(m, formula, m.bounds(formula)) for m in (monitor, scaled)]
        assert answers[0] == answers[1]


def test_slopes_are_the_derivatives_of_the_margin():
    t = np.linspace(0.0, 1.0, 3)
    columns = {"x": 3.0 + 0 * t, "y": 4.0 + 0 * t}
    answer = read("always (sqrt(x*x + y*y) < 6)", PLAIN).on(t, columns)
    assert answer.margin == pytest.approx(1.0)
    assert answer.slopes == pytest.approx({"x": 3 / 5, "y": 4 / 5}, rel=1e-6)


def test_a_margin_that_is_no_number_is_refused_with_its_instant():
    t = np.linspace(0.0, 1.0, 3)
    for text in ("always (1 / x < 3)", "always (sqrt(x - 1) < 3)"):
        with pytest.raises(ValueError, match="not a number at t = 0 s"):
            read(text, PLAIN).on(t, {"x": t, "y": t})


def test_what_looks_at_the_first_instant_alone_is_refused():
    for text in ("x < 1", "historically (x < 1)", "always[0 s, 0 s] (x < 1)", "not once (x < 1)"):
        with pytest.raises(InputError, match="first instant") as why:
            read(text, PLAIN)
        assert "always" in why.value.mend
    read("x < 1 and always[1 s, end] (y < 1)", PLAIN)


def test_windows_have_no_loop_over_samples(monkeypatch):
    """Twenty thousand samples, an uneven grid: the extremes slid are as many as lengths, not of samples."""
    calls = []
    slid = windows._slid
    counted = lambda *a, **k: (calls.append(1), slid(*a, **k))[1]
    monkeypatch.setattr(windows, "_slid", counted)
    rng = np.random.default_rng(1)
    t = np.cumsum(rng.uniform(0.5, 1.5, 20_000))
    window = Instants(t).window(S.Interval(0.0, 500.0), False)
    least(rng.normal(size=len(t)), window.first, window.last)
    assert calls, "it is the one that is counted"
    assert len(calls) <= 20


def test_equal_steps_are_known_from_two_samples_on():
    """One distance for all of them, else none; also where the first samples are at one instant."""
    for time, step in (([0.0], None), ([0.0, 0.5], 0.5), ([1.0, 1.0], None), ([0, 0.1, 0.3], None)):
        assert Instants(np.array(time, float), True).step == step
