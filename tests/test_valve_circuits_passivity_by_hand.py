"""Passivity of valve circuits: its conditions one by one, what is drawn to try it, how two states are compared, verdicts."""

from dataclasses import dataclass
from math import inf, nan
from types import SimpleNamespace
from typing import Annotated

import numpy as np
import pytest

from plants.valve_circuits import passivity
from plants.valve_circuits.circuit import Circuit, Motor, Pump, Section
from plants.valve_circuits.passivity import Drawn, check_passive, conditions
from workbench.contract.parameters import Unit, bind
from workbench.verification.verdict import Assumption

LIFT = Section("lift", 0.02, 0.012, 2e7, 3e7, 1e-7, 2e-7, 3e-7, 4e-7, 5e-7)
TURN = Motor("turn", 4e-5, 5e-5, 1.1e7, 1.3e7, 6e-7, 7e-7, 8e-7, 9e-7, 1e-6)
BOTH = Circuit((LIFT, TURN), Pump(2e-3, 1.6e7, 0.9e-7))


# ---- conditions ------------------------------------------------------------------------------------------------------------------
def test_conditions_are_told_by_their_smallest_number():
    """Coefficients, reliefs, areas, the pump's flow."""
    orifices, reliefs, areas, flow = conditions(BOTH)
    assert (orifices.margin, orifices.worst) == (0.9e-7, "pump.c_b") and "orifice" in orifices.text
    assert (reliefs.margin, reliefs.worst) == (1.1e7, "turn.P_hM") and "relief" in reliefs.text
    assert (areas.margin, areas.worst) == (4e-5, "turn.D_h") and areas.unit == "m^2"
    assert (flow.margin, flow.worst) == (2e-3, "pump.Q") and "constant" in flow.text
    assert all(a.holds is True for a in conditions(BOTH))


@pytest.mark.parametrize(
    "path, value, k, holds",
    [
        ("sections.lift.c_th", 0.0, 0, True),
        ("sections.lift.c_th", -1e-300, 0, False),
        ("pump.c_b", inf, 0, False),
        ("sections.turn.P_rM", 0.0, 1, False),
        ("sections.turn.P_rM", 1e-300, 1, True),
        ("pump.P_M", inf, 1, False),
        ("sections.lift.A_r", 0.0, 2, False),
        ("sections.turn.D_r", nan, 2, False),
        ("pump.Q", 0.0, 3, False),
        ("pump.Q", 1e-300, 3, True),
    ],
)
def test_each_condition_is_compared_exactly(path, value, k, holds):
    """An orifice may be shut; nothing else may be zero, and nothing infinite."""
    found = conditions(bind(BOTH, {path: value}))
    assert [a.holds for a in found] == [holds if j == k else True for j in range(4)]
    if not holds:
        assert found[k].worst.endswith(path.split(".")[-1])
        assert (
            found[k].margin is None
            if value != value
            else found[k].margin == (value if value < 1 else found[k].margin)
        )


def test_numbers_that_there_are_none_of():
    none = passivity._least("text", {}, "Pa", True)
    assert (none.holds, none.margin, none.worst, none.unit) == (None, None, "none found", "Pa")
    odd = passivity._least("text", {"a": 3.0, "b": nan, "c": -1.0}, "Pa", False)
    assert (odd.holds, odd.margin, odd.worst) == (False, None, "b")


@dataclass(frozen=True)
class Odd:
    Q: Annotated[float, Unit("m^3/s"), "flow"] = 5e-3
    P_M: Annotated[float, Unit("Pa"), "relief"] = 3e7
    name: str = "odd"
    rise: Annotated[float, Unit("m^3/(s*Pa)"), "flow for pressure"] = 1e-9


def test_a_part_of_another_kind_comes_first():
    """It may mean something else by its units: none of its numbers counts for a condition."""
    first, *others = conditions(Circuit((LIFT,), Odd()))
    assert first.holds is None and first.worst == "pump.Q, pump.P_M, pump.rise"
    assert [a.worst for a in others] == ["lift.c_ph", "lift.P_hM", "lift.A_r", "none found"]
    assert [a.holds for a in others] == [True, True, True, None]


@pytest.mark.parametrize(
    "holds, word, text",
    [
        ([True, True], None, None),
        ([None, False], "not so", "second"),
        ([True, None], "not known of", "second"),
        ([False, None], "not so", "first"),
    ],
)
def test_what_does_not_hold_is_told_before_what_is_not_known(holds, word, text):
    needed = [Assumption(t, h, 1.0, "", f"where {t}") for t, h in zip(("first", "second"), holds)]
    found = passivity.undecided("key", "claim", "source", needed, False)
    if word is None:
        assert found is None
        return
    assert (found.holds, found.key, found.counted) == (None, "key", False)
    assert found.worst == f"{text}: {word}, where {text}" and list(found.assumptions) == needed


@pytest.mark.parametrize(
    "sections, held, words",
    [
        (1, False, "1 section on one pump"),
        (2, False, "2 sections on one pump"),
        (2, True, "2 sections at a common pressure of the pump"),
    ],
)
def test_a_circuit_in_words(sections, held, words):
    assert passivity.on(SimpleNamespace(sections=[0] * sections), held) == words


# ---- what is drawn ---------------------------------------------------------------------------------------------------------------
MANY = 4000
FULL = np.array(
    [
        [0.02, 0.012, 2e7, 3e7, 1e-7, 2e-7, 3e-7, 4e-7, 5e-7],
        [4e-5, 5e-5, 1.1e7, 1.3e7, 6e-7, 7e-7, 8e-7, 9e-7, 1e-6],
    ]
)
V_0 = np.array([(2e-3 + 5e-7 * 2e7**0.5) / 0.02, (2e-3 + 1e-6 * 1.1e7**0.5) / 4e-5])


def drawn(held=False):
    return passivity.drawn(BOTH, MANY, np.random.default_rng(3), held)


def test_openings_that_are_drawn():
    """Of each valve, where its way is open: 15 % shut, 15 % fully open, the rest between; a third of the sections open both."""
    d = drawn()
    assert d.rows.shape == (MANY, 2, 9) and d.rows[:, :, :4] == pytest.approx(
        np.tile(FULL[:, :4], (MANY, 1, 1))
    )
    share = d.rows[:, :, 4:] / FULL[:, 4:]
    assert share.min() == 0.0 and share.max() == pytest.approx(1.0)
    out, back = (share[:, :, k] > 0 for k in ([0, 3], [1, 2]))
    for j in range(2):
        ways = [out[:, j].any(1) & ~back[:, j].any(1), back[:, j].any(1) & ~out[:, j].any(1)]
        assert [w.mean() for w in ways] == pytest.approx([0.333, 0.333], abs=0.04)
        for k, way in zip(range(4), (out, back, back, out)):
            mine = share[way[:, j].any(1), j, k]
            assert (mine == 1.0).mean() == pytest.approx(0.15, abs=0.03)
            assert np.median(mine[(mine > 0) & (mine < 1)]) == pytest.approx(0.5, abs=0.05)
        free = share[:, j, 4]
        assert [(free == e).mean() for e in (0.0, 1.0)] == pytest.approx([0.15, 0.15], abs=0.02)
    assert d.v_0 == pytest.approx(V_0)


def test_pumps_that_are_drawn():
    """The bleed shut, open, or at one opening between; held, at a pressure from 5 % to 105 % of the relief, whatever is taken."""
    d = drawn()
    assert np.all(d.supply[:, :2] == [2e-3, 1.6e7])
    bleeds = np.unique(d.supply[:, 2])
    assert len(bleeds) == 3 and (bleeds[0], bleeds[2]) == (0.0, 0.9e-7)
    held = drawn(True).supply
    assert (
        held[:, 0] == pytest.approx(10 * (0.02 * V_0[0] + 4e-5 * V_0[1])) and not held[:, 2].any()
    )
    share = held[:, 1] / 1.6e7
    assert (share.min(), share.max()) == pytest.approx((0.05, 1.05), abs=0.005)


def test_loads_that_are_drawn():
    """β over four decades around relief force over full speed, f̄ to 1.2 of both reliefs."""
    β, f = passivity.loads(FULL, V_0, MANY, np.random.default_rng(4))
    most = FULL[:, 0] * FULL[:, 2] + FULL[:, 1] * FULL[:, 3]
    decades = np.log10(β / (most / V_0))
    assert β.shape == f.shape == (MANY, 2)
    for x, end in ((decades, 2.0), (f / most, 1.2)):
        assert [x.min(), x.max(), np.median(x)] == pytest.approx([-end, end, 0.0], abs=0.07)


# ---- two states under the same openings ------------------------------------------------------------------------------------------
def pairs(monkeypatch, v, w):
    """`_tried` on states of which the first pairs move at v under β v + f̄, and the others at w."""
    β, f, g_β, g = (
        np.array(x) for x in ([[2.0], [3.0]], [[0.5], [-1.0]], [[1.0], [4.0]], [[-0.25], [2.0]])
    )
    rows = np.zeros((2, 1, 9))
    monkeypatch.setattr(passivity, "drawn", lambda *given: Drawn(rows, None, β, f, np.array([0.1])))
    monkeypatch.setattr(passivity, "loads", lambda *given: (g_β, g))
    speeds = iter((v, w))

    def resolve(rows, supply, β, f, found, P):
        found[:] = np.array(next(speeds))

    monkeypatch.setattr(passivity, "resolve_all", resolve)
    return passivity._tried(None, 2, 0, False)


def test_pairs_of_states_by_their_product(monkeypatch):
    """(v − v')(f − f') over (|v| + |v'| + v_0)(|βv| + |f̄| + |βv'| + |f̄'|), the largest, and where."""
    share, at = pairs(monkeypatch, [[0.3], [-0.1]], [[-0.4], [0.5]])
    first = 0.7 * (1.1 + 0.65) / ((0.7 + 0.1) * (0.6 + 0.5 + 0.4 + 0.25))
    second = 0.6 * (1.3 + 4.0) / ((0.6 + 0.1) * (0.3 + 1.0 + 2.0 + 2.0))
    assert share == pytest.approx(first) and second < first
    assert at == "v = [0.3], f = [1.1] and v' = [-0.4], f' = [-0.65]"
    share, at = pairs(monkeypatch, [[-0.3], [-0.1]], [[-0.4], [0.5]])
    assert share == pytest.approx(second) and at.startswith("v = [-0.1], f = [-1.3]")
    share, at = pairs(monkeypatch, [[0.3], [nan]], [[-0.4], [0.5]])
    assert share == inf and at.startswith("v = [nan]")


@pytest.mark.parametrize(
    "worst, holds", [(-1.0, True), (1e-7, True), (1.1e-7, False), (inf, False)]
)
def test_a_pair_against_it_refutes_what_is_computed(monkeypatch, worst, holds):
    asked = []
    monkeypatch.setattr(passivity, "_tried", lambda *given: asked.append(given) or (worst, "here"))
    found = check_passive(BOTH)
    assert asked == [(BOTH, 300, 0, False)] and (found.holds, found.counted) == (holds, True)
    assert found.strength == ("proof" if holds else "sampled") and len(found.assumptions) == 4
    assert (
        found.data["samples"] == 300
        and found.data["rounding"] == 1e-7
        and found.key == "incremental-passivity"
    )
    if not holds:
        assert found.limit == 1e-7 and found.worst == "(v − v')·(f − f') > 0 at here"
        assert found.margin == pytest.approx(1e-7 - worst)
    assert check_passive(BOTH, 7, 5, False, True).counted is False and asked[-1] == (
        BOTH,
        7,
        5,
        True,
    )


def test_a_solver_that_finds_no_number_is_found_out(monkeypatch):
    monkeypatch.setattr(passivity, "resolve_all", lambda rows, supply, β, f, v, P: v.fill(nan))
    found = check_passive(BOTH, 3)
    assert (found.holds, found.strength, found.margin) == (False, "sampled", -inf)
