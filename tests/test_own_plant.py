"""Branches of a plant of the user's own that no run took, those of what a law keeps, and numbers that add up beyond an edge."""

import casadi as ca
import numpy as np
import pytest
from faults.branches import Branching, Delegating
from faults.far import Far, Sensed

from controllers import PID
from workbench import ClosedLoop, Sampled, Scenario, Sine
from workbench.contract.plain import Plain
from workbench.interop.linear_plant import LinearPlant
from workbench.verification import claims as C
from workbench.verification.judge import verify
from workbench.verification.observed.running_on import within
from workbench.verification.practical.branches.ways import (
    COMMANDS,
    FASTER,
    FLOW,
    GAINS,
    MEMORY,
    _jumps,
)
from workbench.verification.practical.called.reach import functions_of
from workbench.verification.practical.switches.called import Called
from workbench.verification.practical.switches.graph import sided, switches_in
from workbench.verification.practical.switches.margins import Extent
from workbench.verification.practical.switches.of_run import extent_of, switches_of
from workbench.verification.run import run

T = 0.02
PATH = Scenario(6.0, Sine("output", (0.0,), (0.05,), 0.25))
LAG = LinearPlant((0.4,), (1.0,), (1.0,), ("a",), ("u",), ("a",))


def law_on(plant, called):
    name = plant.outputs[0].name
    if called:
        return Plain(Branching("nothing", 6.0, 0.2), references=(f"{name}_d",))
    return PID(plant, K_p=(6.0,), K_i=(0.0,), feed="none", damping="none", u_max=1e6)


def judged(plant, law):
    loop = ClosedLoop(plant, Sampled(law, T_s=T))
    (verdict,) = verify(loop, PATH, [C.PracticalStability(runs=2)])
    return verdict


# ---- plants ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("called", [False, True])
@pytest.mark.parametrize("how", ["turned", "gone", "latched"])
def test_a_branch_of_the_plant_beyond_the_other_starts_is_undecided(how, called):
    plant = Far(how)
    found = judged(plant, law_on(plant, called))
    assert found.holds is None, found.worst
    assert "no run took the other side of" in found.worst and "sq(y)" in found.worst
    assert FLOW in found.worst and "from a start with y +0.22" in found.worst.replace(
        " does not come back", ","
    )


@pytest.mark.parametrize("called", [False, True])
@pytest.mark.parametrize("how", ["limited", "zone"])
def test_limits_of_a_plant_and_less_gain_far_away_hold(how, called):
    plant = Far(how)
    found = judged(plant, law_on(plant, called))
    assert found.holds is True, found.worst


def test_the_switches_of_law_and_plant_stand_side_by_side():
    """The plant's margin at a row is h² − y², or its negative; a plant of this library brings none."""
    plant = Far("turned")
    law = Plain(Branching("zones", 6.0, 0.2), references=("y_d",))
    seen = run(ClosedLoop(plant, Sampled(law, T_s=T)), PATH)
    both = switches_of(seen)
    words = [both.words(k, seen) for k in range(len(extent_of(seen).low))]
    (k,) = [i for i, text in enumerate(words) if "sq(y)" in text]
    assert any("abs(e) < law.h" in text for text in words[:k])
    rows, low, high = both.margins(seen)
    y = seen.log.array("y")[rows]
    assert low[k] == pytest.approx(y**2 - 0.2**2) and high[k] == pytest.approx(low[k])
    x, z = both.at(seen, 0)
    points = np.repeat(np.concatenate([x, z])[:, None], 2, axis=1)
    points[0] = [0.1, 0.3]
    there = both.ask(seen, 0, points)
    assert there.commands[0] == pytest.approx([-0.6, -1.44])  # −6 y, beyond h 0.8 of it
    assert there.flow[0] == pytest.approx([0.04 - 0.6, 0.12 + 1.44])  # 0.4 y + g u
    named = Plain(Branching("zones", 6.0, 0.2), references=("a_d",))
    of_ours = run(ClosedLoop(LAG, Sampled(named, T_s=T)), PATH)
    assert not any(
        "sq" in switches_of(of_ours).words(k, of_ours) for k in range(len(extent_of(of_ours).low))
    )


def test_a_plant_without_switches_leaves_the_law_alone():
    law = Plain(Branching("nothing", 3.0, 1.0), references=("s_d",))
    seen = run(ClosedLoop(Sensed(), Sampled(law, T_s=T)), PATH)
    assert not hasattr(switches_of(seen), "flow")


# ---- what a law keeps -----------------------------------------------------------------------------
def test_methods_of_what_a_law_keeps_are_its_functions():
    law = Delegating("latch", 6.0, 0.2)
    assert {f.__name__ for f in functions_of(law)} == {"step", "passed"}


@pytest.mark.parametrize("how, holds", [("latch", None), ("limits", True)])
def test_a_branch_in_an_object_that_the_law_keeps(how, holds):
    found = judged(LAG, Plain(Delegating(how, 6.0, 0.2), references=("a_d",)))
    assert found.holds is holds, found.worst
    assert holds or "`abs(e) > self.h`" in found.worst


# ---- what adds up ---------------------------------------------------------------------------------
def test_a_number_that_adds_up_beyond_an_edge_is_followed_though_the_first_start_comes_back():
    found = judged(LAG, Plain(Branching("few", 6.0, 0.2), references=("a_d",)))
    assert found.holds is None and "`law.count > 10`" in found.worst, found.worst


@pytest.mark.parametrize("duration", [8.0, 8])
def test_laps_that_are_counted_are_followed_whatever_kind_of_number_the_duration_is(duration):
    """One lap in the run, two in the longest that is made: what it counts is led on to the twelfth."""
    law = Sampled(Plain(Branching("laps", 6.0, 0.2), references=("a_d",)), T_s=T)
    slow = Scenario(duration, Sine("output", (0.0,), (0.05,), 0.125))
    (found,) = verify(ClosedLoop(LAG, law), slow, [C.PracticalStability(runs=2)])
    assert found.holds is None and "`law.count < 12`" in found.worst, found.worst


def test_a_number_runs_on_for_what_leads_memory_as_for_what_leads_time():
    """Looked at so often, a step at the very end is none of a number that runs on, and what it covered counts."""
    time = np.linspace(0.0, 1.0, 2001)
    step = np.where(time < 0.5, 0.0, 1.0)
    assert within(time, step) == 1.0 and within(time, time) == 0.0
    assert within(time, np.where(time > 0.9995, 2.0, step)) == 0.0  # runs on at the last look, too


def test_what_a_law_remembers_more_of_beyond_an_edge_is_gone_to():
    """Neither jumps nor other gains there: the sum grows with how far it is beyond h, and from 0.1 on it holds the law off."""
    found = judged(LAG, Plain(Branching("tires", 6.0, 0.2), references=("a_d",)))
    assert found.holds is None and FASTER in found.worst, found.worst


def compares(t, y, r):
    return [sum([y[0] < 2, y[0] <= 2, y[0] > 2, y[0] >= 2, min(y[0], 2)])]


def test_a_comparison_at_its_edge_is_on_the_side_that_it_takes_there():
    """2 < 2 and 2 > 2 are false: their margins 2 − 2 count as above and as below zero; of the smaller of two none is taken."""
    law = Called([compares])
    with law.noting():
        compares(0.0, [2], [])
        low, high = law.notes.look()
    own = np.flatnonzero(np.isfinite(low))  # of this function alone, of all in the file
    assert np.sign(low[own]).tolist() == [1.0, -1.0, -1.0, 1.0, 0.0]
    assert (low == high)[own].all() and np.abs(low[own]).max() < 1e-300


def test_a_graph_s_comparisons_at_their_edges_likewise():
    a, b = ca.SX.sym("a"), ca.SX.sym("b")
    switches = list(switches_in([(a < b) + (a <= b) * 2 + ca.fmin(a, b)]))
    margins = sided(np.zeros((3, 2)), switches)
    wanted = {ca.OP_LT: 1.0, ca.OP_LE: -1.0, ca.OP_FMIN: 0.0}
    assert np.sign(margins[:, 0]).tolist() == [wanted[kind] for kind, _, _ in switches]
    assert sided(np.full((3, 2), -0.7), switches).tolist() == [[-0.7] * 2] * 3


def test_one_side_alone():
    seen = Extent(np.array([1e-320, -3.0, 0.0, -1.0, 2.0]), np.array([4.0, -1e-320, 0.0, 1.0, 3.0]))
    assert seen.one_sided().tolist() == [0, 1, 4]
    assert [seen.side(k) for k in (0, 1, 4)] == [1.0, -1.0, 1.0]


@pytest.mark.parametrize(
    "values, jumps",
    [
        ([0.0, 1.0, 1.001, 2.0], False),  # as steep as beside the edge
        ([0.0, 0.0, 1.0, 1.0], True),
        ([1.0, 1.0, 1.0 + 1e-9, 1.0], False),  # rounding
        ([0.0, 0.0, 0.05, 1.0], False),  # a steep slope that begins there
    ],
)
def test_a_jump_is_more_than_rounding_and_than_what_goes_on_beside_it(values, jumps):
    assert _jumps(np.array([values])) is jumps


def test_words_of_changes_have_a_subject():
    assert all(
        words.startswith(("the law", "the plant"))
        for words in (COMMANDS, MEMORY, FLOW, GAINS, FASTER)
    )
