"""Which element of a metered circuit is named: patterns of every element, sizes and words on four instants."""

from math import inf, nan

import numpy as np
import pytest

from plants.valve_circuits import diagnosis
from plants.valve_circuits.accounts.section import Flows, Section, section_flows
from plants.valve_circuits.diagnosis import Left, Suspect

one = lambda *values: np.array(values, float)
T = one(0.0, 1.25, 2.5, 3.75)
ROW = [0.5, 0.3, 8.0, 7.0, 2.0, 0.6, 0.7, 1.5, 0.4]
S = Section(ROW, one(1, 2, 3, 4), one(5, 6, 7, 8), one(5, 1, 3, -1), one(6, 2, 4, -4))
Q_ = Flows(*(one(*range(k, k + 4)) for k in range(10, 80, 10)), one(9, 9, 9, 9))


# ---- what is largest -------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "x, k",
    [
        ((1, 5, 3), 1),
        ((-1, -5, -3), 0),
        ((1, nan, 3), 1),
        ((inf, nan, 3), 0),
        ((1, 3, -inf), 2),
        ((2, 2, 1), 0),
    ],
)
def test_the_worst_of_a_run_is_its_largest_or_what_is_no_number(x, k):
    """∞ where it is none: nothing that is no number counts as small."""
    at, value = diagnosis._worst(one(*x))
    assert at == k and value == (x[k] if np.isfinite(x[k]) else inf)
    assert type(at) is int and type(value) is float


# ---- what an element would leave over --------------------------------------------------------------------------------------------
def test_what_balances_would_leave_without_an_element():
    """Its flow, where it comes and with the other sign where it goes; leaks by roots of their drops; a constant of the pump."""
    P = one(4, 4, 4, 9)
    found = {
        element: (words, pattern)
        for element, words, pattern in diagnosis._patterns({"j": S}, {"j": Q_}, P, 7.0)
    }
    names = ["ph_j", "pr_j", "th_j", "tr_j", "a_j", "check_j", "hR_j", "rR_j", "pump", "bleed"]
    assert list(found) == names
    h, r = ("j", "h"), ("j", "r")
    joins = {
        "ph_j": {h: Q_.Q_ph, "pump": -Q_.Q_ph},
        "pr_j": {r: Q_.Q_pr, "pump": -Q_.Q_pr},
        "th_j": {h: -Q_.Q_th},
        "tr_j": {r: -Q_.Q_tr},
        "a_j": {h: Q_.Q_a, r: -Q_.Q_a},
        "check_j": {
            h: 2.0 * np.sqrt(one(1, 0, 0, 0)),
            r: 0.6 * np.sqrt(one(2, 0, 0, 0)),
            "pump": -2.0 * np.sqrt(one(1, 0, 0, 0)) - 0.6 * np.sqrt(one(2, 0, 0, 0)),
        },
        "hR_j": {h: np.sqrt(one(5, 1, 3, 0))},
        "rR_j": {r: np.sqrt(one(6, 2, 4, 0))},
        "pump": {"pump": one(7, 7, 7, 7)},
        "bleed": {"pump": np.sqrt(P)},
    }
    for element, wanted in joins.items():
        assert {k: list(v) for k, v in found[element][1].items()} == {
            k: pytest.approx(list(v)) for k, v in wanted.items()
        }
    words = {element: said for element, (said, _) in found.items()}
    assert words["ph_j"].startswith("orifice (pump to head) passes {0:.3g} %")
    assert "regeneration, rod to head" in words["a_j"] and "rod to tank" in words["tr_j"]
    assert (
        words["check_j"] == "the pump's check leaks"
        and words["pump"] == "gives {0:.3g} % of its flow"
    )
    assert words["hR_j"] == "relief or suction check of the head side, to the tank: it leaks"
    assert "of the rod side" in words["rR_j"] and words["bleed"].startswith("does not take")


# ---- who is to blame -------------------------------------------------------------------------------------------------------------
KEYS = (("j", "h"), ("j", "r"), "pump")
ALL = np.ones(4, bool)


def left(**oil):
    """What h, r and pump leave over, with their size."""
    none = np.zeros(4)
    given = {
        ("j", "h"): oil.get("h", none),
        ("j", "r"): oil.get("r", none),
        "pump": oil.get("pump", none),
    }
    return {key: Left(x, np.abs(x), ALL) for key, x in given.items()}


def blamed(**oil):
    P = one(4e5, 5e5, 6e5, 7e5)
    return diagnosis._blamed(T, {"j": S}, {"j": Q_}, left(**oil), P, 7.0)


def test_nobody_is_blamed_for_nothing():
    assert blamed() == []


@pytest.mark.parametrize("α, said", [(0.25, "75 %"), (-0.5, "150 %"), (1.0, "0 %")])
def test_an_orifice_that_leaves_a_share_of_its_flow(α, said):
    """It passes 1 − α of what it should; the time is that of the largest of the balance that leaves most."""
    (found,) = blamed(h=-α * Q_.Q_th)
    assert found.element == "th_j" and found.size == pytest.approx(abs(α) * 33.0)
    assert (
        found.words
        == f"orifice (head to tank) passes {said} of what its coefficient and its drop give, t = 3.75 s"
    )
    (both,) = blamed(h=α * Q_.Q_a, r=-α * Q_.Q_a)
    assert both.element == "a_j" and f"passes {said}" in both.words


def test_a_leak_lets_oil_out_and_never_in():
    """The same pattern with the other sign is no leak, and a relief that opens explains nothing of it."""
    leak = np.sqrt(one(5, 1, 3, 0))
    (found,) = blamed(h=0.125 * leak)
    assert (found.element, found.words[-10:]) == (
        "hR_j",
        "t = 0.00 s",
    ) and "it leaks" in found.words
    (found,) = blamed(h=-0.125 * leak)
    assert found.element == "hS_j" and "come into the head side from nowhere" in found.words


def test_a_weak_pump_gives_less():
    (found,) = blamed(pump=one(0.7, 0.7, 0.7, 0.7))
    assert found.element == "pump" and found.words.startswith("gives 90 % of its flow, t = ")


PUMPS = "the pump's relief (or a pump that gives less)"
OUT = "relief (or suction check) of the {} side passes 1.5e+04 l/min out at {} bar, t = 1.25 s"
IN = "1.5e+04 l/min come into the {} side from nowhere at {} bar, t = 1.25 s"


@pytest.mark.parametrize("oil, element, said", [
    ({"pump": one(0, 0, 0.5, 0)}, "pR", f"{PUMPS} passes 3e+04 l/min at 6 bar, t = 2.50 s"),
    ({"pump": one(0, 0, -0.5, 0)}, "pR", f"{PUMPS} would have to take back 3e+04 l/min at 6 bar, t = 2.50 s"),
    ({"h": one(0, 0.25, 0, 0)}, "hR_j", OUT.format("head", "1e-05")),
    ({"h": one(0, -0.25, 0, 0)}, "hS_j", IN.format("head", "1e-05")),
    ({"r": one(0, 0.25, 0, 0), "h": one(0, 0, 0.1, 0)}, "rR_j", OUT.format("rod", "2e-05")),
    ({"r": one(0, -0.25, 0, 0), "pump": one(0, 0, 0, 0.1)}, "rS_j", IN.format("rod", "2e-05")),
])  # fmt: skip
def test_what_no_element_explains_is_told_where_it_is(oil, element, said):
    """At the instant and balance that leave most."""
    (found,) = blamed(**oil)
    assert (found.element, found.words) == (element, said)
    assert found.size == max(np.abs(x).max() for x in oil.values())


@pytest.mark.parametrize("share, element", [(0.81, "th_j"), (0.79, "hS_j")])
def test_an_element_is_named_that_explains_four_fifths(share, element):
    """The rest is across its pattern."""
    shape = Q_.Q_th / np.sqrt(Q_.Q_th @ Q_.Q_th)
    rest = one(1, -1, -1, 1)
    rest = rest - (rest @ shape) * shape
    rest = rest / np.sqrt(rest @ rest)
    (found,) = blamed(h=-10 * (np.sqrt(share) * shape + np.sqrt(1 - share) * rest))
    assert found.element == element


# ---- whether a section moves at its speed ----------------------------------------------------------------------------------------
def moving(monkeypatch, speeds):
    """`_moving` of S, told that it moves at these speeds; with what was asked."""
    asked = []

    def passed(row, β, f, P, found):
        asked.append((row, β, f, P))
        return speeds[len(asked) - 1], 0.0

    monkeypatch.setattr(diagnosis, "passed", passed)
    return diagnosis._moving(T, "j", S, one(4, 5, 6, -7)), asked


def test_a_section_that_moves_at_another_speed_is_told(monkeypatch):
    """Over the speed with its widest valve fully fed, and its own; under f − β v at no less than no pressure."""
    found, asked = moving(monkeypatch, [1.0, 2.5, 3.0, 3.75])
    full = [(2.0 * np.sqrt(8.0) + 1e-6) / 0.5 + v for v in S.v]
    assert found.size == pytest.approx(0.5 / full[1])
    assert found.element == "section j"
    assert (
        found.words
        == "its force, 0.006 kN, is not one of those at which it moves at 2 m/s, t = 1.25 s"
    )
    for k, (row, β, f, P) in enumerate(asked):
        assert row.tolist() == ROW and pytest.approx((0.5 * 8.0 + 0.3 * 7.0) / full[k]) == β
        assert f == pytest.approx(S.f[k] - β * S.v[k]) and P == max((4, 5, 6, -7)[k], 0)
    assert len(asked) == 4


def test_a_section_whose_speed_is_no_number_is_told(monkeypatch):
    found, _ = moving(monkeypatch, [1.0, 2.0, nan, 4.0])
    assert found.size == inf and found.words.endswith("t = 2.50 s")
    fine, _ = moving(monkeypatch, [1.0, 2.0, 3.0, 4.0])
    assert fine.size == 0.0


def test_long_runs_are_asked_at_some_instants(monkeypatch):
    """At 120, the first and the last among them."""
    asked = []
    monkeypatch.setattr(diagnosis, "passed", lambda row, β, f, P, found: (asked.append(P) or f, 0))
    many = np.arange(1000.0)
    s = Section(ROW, 0 * many, 0 * many, 0 * many, 0 * many)
    assert diagnosis._moving(many, "j", s, many).size == 0.0
    assert len(asked) == 120 and (asked[0], asked[-1]) == (0.0, 999.0)


# ---- all of it -------------------------------------------------------------------------------------------------------------------
def given(monkeypatch, size=1e-9, speed=0.0):
    """`suspects` with one finding of each kind, of these sizes."""
    monkeypatch.setattr(
        diagnosis, "_limits", lambda t, name, s: [Suspect(f"limit {name}", size, "")]
    )
    monkeypatch.setattr(
        diagnosis,
        "_blamed",
        lambda t, s, f, left, P, Q: [Suspect("blamed", 0.25, (sorted(map(str, left)), Q))],
    )
    monkeypatch.setattr(
        diagnosis, "_moving", lambda t, name, s, P: Suspect(f"section {name}", speed, "")
    )
    P = one(4e5, 9.9e5, 6e5, 7e5)
    pair = {"a": S, "b": S}
    flows = {k: section_flows(S, P) for k in pair}
    return lambda held: diagnosis.suspects(T, pair, flows, (4.0, 9e5, 0.5), P, held)


def test_suspects_are_told_the_largest_first(monkeypatch):
    """Elements before sections, and no rounding of 1e-9; the pump's own balance only where its pressure settles at once."""
    found = given(monkeypatch, 0.5, 0.75)(held=False)
    assert [s.element for s in found] == [
        "limit a",
        "limit b",
        "blamed",
        "pR",
        "section a",
        "section b",
    ]
    keys, Q = found[2].words
    assert keys == ["('a', 'h')", "('a', 'r')", "('b', 'h')", "('b', 'r')", "pump"] and Q == 4.0
    assert found[3].size == pytest.approx(0.1)
    assert (
        found[3].words == "the pump's relief stays shut at 9.9 bar, it is set to 9 bar, t = 1.25 s"
    )
    held = given(monkeypatch, 0.5, 0.75)(held=True)
    assert [s.element for s in held] == ["limit a", "limit b", "blamed", "section a", "section b"]
    assert "pump" not in held[2].words[0]


@pytest.mark.parametrize("size, told", [(1e-9, False), (1.0001e-9, True)])
def test_rounding_is_nobodys(monkeypatch, size, told):
    found = [s.element for s in given(monkeypatch, size, size)(held=True)]
    assert ("limit a" in found, "section b" in found) == (told, told)


def test_limits_that_pressures_break():
    """Over the relief and below the tank, each over the relief's pressure; a force of nobody over that of both reliefs."""
    P_h, P_r = one(7e5, 8.8e5, 1e5, -4e4), one(1e5, 7.7e5, -7e4, 2e5)
    row = [0.5, 0.3, 8e5, 7e5, *ROW[4:]]
    f = 0.5 * P_h - 0.3 * P_r + one(0, 0, 0, -6.1e4)
    found = {
        s.element: s for s in diagnosis._limits(T, "j", Section(row, one(0, 0, 0, 0), f, P_h, P_r))
    }
    assert list(found) == ["hR_j", "hS_j", "rR_j", "rS_j", "rod_j"]
    assert [s.size for s in found.values()] == pytest.approx([0.1, 0.05, 0.1, 0.1, 0.1])
    assert (
        found["hR_j"].words
        == "relief of the head side stays shut at 8.8 bar, it is set to 8 bar, t = 1.25 s"
    )
    assert found["rS_j"].words == "suction check of the rod side stays shut at -0.7 bar, t = 2.50 s"
    assert found["rod_j"].words == "its sides do not give its force at t = 3.75 s"


def test_a_shut_section_is_measured_by_next_to_no_flow(monkeypatch):
    """1e-6 m³/s over its area, where no valve is open and it stands."""
    shut, still = [*ROW[:4], 0.0, 0.0, 0.0, 0.0, 0.0], 0.0 * T
    monkeypatch.setattr(diagnosis, "passed", lambda row, β, f, P, found: (1e-7, 0.0))
    found = diagnosis._moving(T, "j", Section(shut, still, still, still, still), still)
    assert found.size == pytest.approx(1e-7 / (1e-6 / 0.5))


@pytest.mark.parametrize(
    "share, known", [(1e-6, False), (1.01e-6, True), (1 - 1e-6, False), (1 - 1.01e-6, True)]
)
def test_a_chamber_is_at_its_limit_within_a_millionth(share, known):
    zero = np.zeros(1)
    s = Section(ROW, zero, zero, zero + 8.0 * share, zero + 7.0 * share)
    q = Flows(*[zero] * 7, zero + 9.0)
    assert diagnosis._chamber(s, q, "h", 7.0).known.tolist() == [known]
    assert diagnosis._chamber(s, q, "r", 7.0).known.tolist() == [known]
