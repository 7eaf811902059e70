"""Search for counter-examples: edges in closed form, both sides, the smallest deviation, a case file that runs bit for bit."""

from dataclasses import dataclass, replace
from math import exp, log
from typing import Annotated

import numpy as np
import pytest
from small import Feedback

from workbench import (
    ClosedLoop,
    Hold,
    InputError,
    Sampled,
    Scenario,
    Signal,
    System,
    Unit,
    load,
    simulate,
    verify,
)
from workbench.commands.cli import main
from workbench.contract.parameters import digest
from workbench.contract.wrappers import Noisy
from workbench.run.provenance import described
from workbench.sweep.counterexample import counterexample
from workbench.verification import default_claims
from workbench.verification.defaults import DRAWS
from workbench.verification.observed.requirement_claims import Requirement
from workbench.verification.run import run
from workbench.verification.search.claim import Falsify
from workbench.verification.search.directions import directions, moved
from workbench.verification.search.falsify import check_falsify
from workbench.verification.search.minimise import FIRST, minimise
from workbench.verification.search.of_plant import Number
from workbench.verification.search.score import score
from workbench.verification.search.shrink import HALVINGS, shrunk
from workbench.verification.verdict import Verdict


@dataclass(frozen=True)
class Lag(System):
    """ẋ = k (u − x), so that x = x(0) e^(−kt) where u = 0; b is a number that does nothing."""

    k: Annotated[float, Unit("1/s"), "rate"] = 2.0
    b: Annotated[float, Unit("m"), "a length that nothing depends on"] = 0.4
    states = (Signal("x", "m", "position"),)
    inputs = (Signal("u", "m", "wanted"),)
    outputs = (Signal("y", "m", "position"),)

    def initial(self):
        return [0.2]

    def rhs(self, t, x, u):
        return [self.k * (u[0] - x[0]) + 0.0 * self.b]

    def out(self, t, x):
        return [x[0]]


LIMIT = 0.1
SCENARIO = Scenario(2.0, reference=Hold("output", (0.0,)))
LATE = Requirement(f"always[1 s, end] (x < {LIMIT} m)", "late")


def lag(k=2.0):
    plant = Lag(k=k)
    return ClosedLoop(plant, Sampled(Feedback(plant, ((0.0,),), ((1.0,),)), 10e-3))


def found(over, claims=(LATE,), budget=64, k=2.0, seed=1, scenario=SCENARIO):
    claim = Falsify(over=over, budget=budget, seed=seed)
    return check_falsify(claim, run(lag(k), scenario), claims)


# ---- the verdict, against closed forms -----------------------------------------------------------------------------
def test_a_slow_plant_is_found_and_shrunk_to_the_edge():
    """x(1 s) = 0.2 e^(−k) reaches 0.1 at k = ln 2; the range goes down to 0.2, the edge is approached from the violating side."""
    verdict = found({"k": (0.2, 5.0), "b": (0.1, 0.9)})
    k = verdict.data["counterexample"]["k"]
    edge = log(2.0)
    assert verdict.holds is False and verdict.counted and verdict.strength == "sampled"
    assert edge - 2.0**-HALVINGS * (2.0 - 0.2) <= k < edge
    assert set(verdict.data["counterexample"]) == {"k"}, "b does nothing, so it does not deviate"
    assert verdict.margin == pytest.approx(LIMIT - 0.2 * exp(-k), rel=1e-3)
    assert "late" in verdict.worst and "k = " in verdict.worst


def test_a_start_is_found_by_its_offset():
    """With k = 2 a start beyond 0.1 e² m breaks the sentence: an offset of 0.539 m."""
    verdict = found({"offset.x": ("-100 mm", "1 m")})
    amount = verdict.data["counterexample"]["offset.x"]
    edge = LIMIT * exp(2.0) - 0.2
    assert verdict.holds is False
    assert edge < amount <= edge + 2.0**-HALVINGS
    assert f"offset.x = {amount:.4g} m" in verdict.worst


def test_ranges_without_a_violation_are_not_refuted():
    """Just inside the edge nothing violates: undecided, not counted, with the closest call, which is the corner."""
    verdict = found({"k": (log(2.0) + 0.01, 5.0)})
    assert verdict.holds is None and not verdict.counted
    assert verdict.worst.startswith("not refuted in 64 runs; closest: late")
    assert verdict.data["counterexample"] is None and len(verdict.data["runs"]) == 64
    room = LIMIT - 0.2 * exp(-(log(2.0) + 0.01))
    share = room / (LIMIT - 0.2 * exp(-2.0))
    least = min(row["score"] for row in verdict.data["runs"])
    assert least == pytest.approx(share, rel=1e-3)


def test_two_deviations_are_needed_together():
    """Neither a slow plant nor a far start breaks it alone: both stay in the counter-example."""
    verdict = found({"k": (1.0, 3.0), "offset.x": (-0.05, 0.15), "b": (0.1, 0.9)})
    amounts = verdict.data["counterexample"]
    assert 0.2 * exp(-1.0) < LIMIT and 0.35 * exp(-2.0) < LIMIT < 0.35 * exp(-1.0)
    assert verdict.holds is False and set(amounts) == {"k", "offset.x"}
    assert (0.2 + amounts["offset.x"]) * exp(-amounts["k"]) > LIMIT


def test_a_run_that_breaks_the_sentence_itself_is_not_searched():
    verdict = found({"k": (0.2, 5.0)}, k=0.3)
    assert verdict.holds is None and not verdict.counted
    assert "nothing was searched" in verdict.worst


def test_without_requirements_nothing_is_asked():
    verdict = found({"k": (0.2, 5.0)}, claims=())
    assert verdict.holds is None and verdict.counted and "no requirement" in verdict.worst


def test_the_budget_is_kept_and_the_seed_repeats():
    """As many runs as were asked for, also where that is no whole generation; the same seed gives the same runs."""
    over = {"k": (log(2.0) + 0.01, 5.0), "b": (0.1, 0.9)}
    once, again, other = (found(over, budget=21, seed=seed) for seed in (3, 3, 4))
    values = [[row["values"] for row in v.data["runs"]] for v in (once, again, other)]
    assert [len(v) for v in values] == [21, 21, 21]
    assert values[0] == values[1] != values[2]


def test_a_claim_among_the_others():
    """`verify` asks it with the requirements beside it, and its row decides."""
    claims = (LATE, Falsify(over={"k": (0.2, 5.0)}, budget=16))
    rows = {v.key: v for v in verify(lag(), SCENARIO, claims)}
    assert rows["requirements.late"].holds is True and rows["falsify"].holds is False


def test_runs_that_cannot_be_made_are_no_violation(monkeypatch):
    """A machine that cannot be built at some places is refused there; the others are judged."""
    import workbench.verification.search.search as search

    whole = search.moved

    def choosy(loop, scenario, amounts):
        if any(d.name == "b" and value > 0.5 for d, value in amounts.items()):
            raise InputError("b: too long")
        return whole(loop, scenario, amounts)

    monkeypatch.setattr(search, "moved", choosy)
    verdict = found({"k": (log(2.0) + 0.01, 5.0), "b": (0.1, 0.9)}, budget=32)
    scores = [(row["values"][1] > 0.5, row["score"]) for row in verdict.data["runs"]]
    assert verdict.holds is None
    assert any(far for far, _ in scores) and all((one is None) == far for far, one in scores)


# ---- scores --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "holds, margin, nominal, expected",
    [
        (True, 0.02, 0.08, 0.25),
        (True, 0.16, 0.08, 2.0),
        (False, -0.04, 0.08, -0.5),
        (False, 0.0, 0.08, -1e-12),
        (False, None, 0.08, -1.0),
        (True, None, 0.08, 1.0),
        (True, 0.3, None, 1.0),
    ],
)
def test_margins_are_shares_of_the_nominal_ones(monkeypatch, holds, margin, nominal, expected):
    """What is violated scores below zero however small its margin; what has no margin counts by its sign."""
    import workbench.verification.search.score as scores

    given = Verdict("r", "r", holds, "sampled", margin)
    known = Verdict("r", "r", True, "sampled", nominal)
    monkeypatch.setattr(scores, "verdicts", lambda asked, run: [given])
    assert score([LATE], [known], None).value == pytest.approx(expected, abs=1e-15)
    assert score([LATE], [known], None).violated == (holds is False)


def test_undecided_requirements_say_nothing(monkeypatch):
    import workbench.verification.search.score as scores

    known = Verdict("r", "r", True, "sampled", 1.0)
    monkeypatch.setattr(scores, "verdicts", lambda asked, run: [Verdict("r", "r", None)])
    one = score([LATE], [known], None)
    assert not one.violated and one.value == np.inf and one.verdict is None


# ---- search and shrinking ------------------------------------------------------------------------------------------
@pytest.mark.parametrize("n", (1, 2, 3, 6))
def test_a_narrow_corner_is_found(n):
    """A cone around a place off the corners, below zero within 0.1 of it: a share of 0.1ⁿ of the box, or less."""
    target = np.linspace(-0.55, 0.62, n) if n > 1 else np.array([0.37])
    asked = []

    def values(places):
        asked.append(len(places))
        return np.linalg.norm(places - target, axis=1) - 0.1

    minimise(n, values, 400, 5, lambda scores: bool(np.min(scores) < 0))
    assert sum(asked) < 400 and max(asked) <= FIRST


def test_a_budget_below_one_generation():
    asked = []
    minimise(
        2, lambda places: asked.append(len(places)) or np.ones(len(places)), 5, 1, lambda s: False
    )
    assert asked == [5]


def test_shrinking_a_half_space():
    """z₀ + 2 z₁ > ½ from (0.7, 0.9, 0.3): the smallest ones go, z₁ alone comes down to ¼."""
    tried = []

    def violates(z):
        tried.append(z)
        return z[0] + 2 * z[1] > 0.5

    small = shrunk(np.array([0.7, 0.9, 0.3]), violates)
    assert small[0] == 0.0 and small[2] == 0.0
    assert 0.25 < small[1] <= 0.25 + 0.9 * 2.0**-HALVINGS * 2
    assert len(tried) <= 3 + 4 * HALVINGS


def test_shrinking_keeps_what_is_needed():
    """A product of two deviations: both stay, and the result still violates."""
    small = shrunk(np.array([-0.8, 0.9]), lambda z: -z[0] * z[1] > 0.3)
    assert -small[0] * small[1] > 0.3 and (small != 0).all()
    assert -small[0] * small[1] < 0.3 * 1.1


# ---- files and command ---------------------------------------------------------------------------------------------
FILE = """
plant: {machine: hiab-xs031, lock: {extension: 0.5 m}}
controller: {law: VDC}
loop: {sample_time: 2 ms}
scenario:
  reference: {type: Waypoints, space: cartesian, points: [start, [2.5 m, 1 m], start], leg: 1.5 s}
claims:
  tracking: {error: 5 mm, settle: 1 s}
  falsify: {over: {payload.mass: [0 kg, 60 kg], offset.q_2: [-1 mrad, 1 mrad]}, budget: 16}
"""


@pytest.fixture
def written(tmp_path):
    path = tmp_path / "crane.yaml"
    path.write_text(FILE)
    return path


def test_the_command_writes_a_case_that_violates_bit_for_bit(written, capsys):
    """What the search ran and what the file says are the same numbers, and the law still believes there is no load."""
    out = written.parent / "corner.yaml"
    assert main(["falsify", str(written), "-o", str(out), "--quiet"]) == 1
    assert capsys.readouterr().out == ""
    text = out.read_text()
    assert text.startswith("# Violates: ") and "falsify: false" in text
    case, corner = load(written), load(out)
    mass = corner.plant.payload.mass
    assert 0 < mass < 60
    along = directions(case.loop, case.scenario, {"payload.mass": (0.0, 60.0)})
    loop, scenario = moved(case.loop, case.scenario, {along[0]: mass})
    assert digest(loop) == digest(corner.loop) and described(scenario) == described(corner.scenario)
    one, other = simulate(loop, scenario), simulate(corner.loop, corner.scenario)
    assert one.values.tobytes() == other.values.tobytes()
    said = {
        v.key: v
        for v in verify(
            corner.loop,
            corner.scenario,
            corner.claims[:0] + tuple(c for c in corner.claims if c.searched),
        )
    }
    assert any(v.holds is False for v in said.values())


def test_what_a_file_cannot_say_is_refused(written, monkeypatch):
    """A value that no key of a file reaches: nothing is written."""
    case = load(written)
    (along,) = directions(case.loop, case.scenario, {"payload.mass": (0.0, 60.0)})
    monkeypatch.setattr(Number, "written", lambda *given: {"plant.no.such": 1.0})
    with pytest.raises(InputError, match="no case file says what violates"):
        counterexample(case, {along: 0.7}, "")


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["--over", "payload.mass"], "is no range"),
        (["--over", "payload.mass=0kg"], "is no range"),
        (["--over", "payload.mas=0kg..3kg"], "did you mean payload.mass"),
        (["--budget", "0"], "1 to 100000"),
    ],
)
def test_wrong_arguments(written, capsys, arguments, words):
    assert main(["falsify", str(written), *arguments, "--quiet"]) == 3
    assert words in capsys.readouterr().err
    assert [p.name for p in written.parent.iterdir()] == ["crane.yaml"]


def test_a_file_that_is_there_is_kept(written, capsys):
    other = written.parent / "crane-violates.yaml"
    other.write_text("mine")
    assert main(["falsify", str(written), "--quiet"]) == 3
    assert other.read_text() == "mine" and "already" in capsys.readouterr().err


def test_wrong_names_in_a_file_are_refused_at_their_line(tmp_path, capsys):
    path = tmp_path / "wrong.yaml"
    path.write_text(FILE.replace("payload.mass", "payload.mess"))
    assert main(["falsify", str(path)]) == 3
    said = capsys.readouterr().err
    assert "payload.mess" in said and "wrong.yaml" in said


# ---- by default ----------------------------------------------------------------------------------------------------
def noisy():
    plant = Lag()
    law = Noisy(Feedback(plant, ((0.3,),), ((1.0,),)), 0.02)
    return ClosedLoop(plant, Sampled(law, 10e-3))


def test_other_draws_of_a_stated_noise_are_searched_by_default():
    """A loop with noise is asked for a few other seeds; a loop without is asked nothing that nobody stated."""
    (asked,) = [c for c in default_claims(noisy(), SCENARIO) if isinstance(c, Falsify)]
    assert list(asked.over) == ["seed"] and asked.budget == DRAWS
    assert not [c for c in default_claims(lag(), SCENARIO) if isinstance(c, Falsify)]


def test_another_draw_that_violates_is_told_by_its_seed():
    """x stays below a limit by a hair under the case's own noise; the draw that is told breaks it, and counts."""
    most = float(simulate(noisy(), SCENARIO).array("x")[50:].max())
    limit = Requirement(f"always[500 ms, end] (x < {most + 1e-9!r} m)", "near")
    (asked,) = [c for c in default_claims(noisy(), SCENARIO) if isinstance(c, Falsify)]
    verdict = check_falsify(asked, run(noisy(), SCENARIO), (limit,))
    seed = int(verdict.data["counterexample"]["seed"])
    assert verdict.holds is False and verdict.counted and f"seed = {seed}" in verdict.worst
    other = simulate(noisy(), replace(SCENARIO, seed=seed)).array("x")[50:].max()
    assert other > most
    far = replace(limit, sentence=f"always[500 ms, end] (x < {most + 1.0!r} m)")
    quiet = check_falsify(asked, run(noisy(), SCENARIO), (far,))
    assert quiet.holds is None and not quiet.counted and f"in {DRAWS} runs" in quiet.worst
