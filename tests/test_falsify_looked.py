"""A search counts, undecided, where it has not looked: too few runs, ranges that move nothing, no requirement that counts."""

from dataclasses import replace
from math import log

import pytest
from test_falsify import FILE, LATE, SCENARIO, found, lag, noisy

from workbench import Scenario, load, verify
from workbench.verification import default_claims
from workbench.verification.run import run
from workbench.verification.run_claims import Tracking, Unasked
from workbench.verification.search.claim import Falsify
from workbench.verification.search.falsify import check_falsify, fewest
from workbench.verification.search.moves import MATTERS, move
from workbench.verification.verdict import exit_code

INSIDE = (log(2.0) + 0.01, 5.0)  # 1/s: rates at which nothing violates, nearly down to the edge
NARROW = (2.0, 2.0 + 1e-9)


@pytest.mark.parametrize(
    "over, words",
    [
        ({"k": NARROW}, "searched nothing"),
        ({"b": (0.1, 0.9)}, "searched nothing"),
        ({"offset.x": (0.0, 1e-9), "k": NARROW}, "searched nothing"),
        ({"delay": (0.0, 0.05)}, "searched nothing"),
    ],
)
def test_ranges_that_move_nothing_were_not_searched(over, words):
    """A billionth of a rate, a number nothing depends on, a delay of a command that stays zero: undecided, and it counts."""
    verdict = found(over, budget=16)
    assert verdict.holds is None and verdict.counted
    assert words in verdict.worst and "wider range" in verdict.worst


def test_ranges_that_move_something_are_searched():
    """One number that matters is enough, also where the range of it is a thousandth, and only its start lies beside the case."""
    for over in ({"k": INSIDE, "b": (0.1, 0.9)}, {"k": (2.0, 2.002)}, {"offset.x": (-1e-4, 0.0)}):
        verdict = found(over, budget=16)
        assert verdict.holds is None and not verdict.counted
        assert "closest: late" in verdict.worst


def test_how_far_a_run_is_from_another():
    """x = 0.2 e^(−kt) from elsewhere by δ is δ apart at most, as a share of 0.2."""
    before = run(lag(), SCENARIO)
    assert move(before, before) == 0.0
    for share in (1e-9, 1e-2):
        after = run(lag(), replace(SCENARIO, offset={"x": 0.2 * share}))
        assert move(after, before) == pytest.approx(share, rel=1e-6)
        assert (move(after, before) > MATTERS) == (share > MATTERS)


@pytest.mark.parametrize("budget", (1, 2, 7))
def test_a_budget_below_the_fewest_runs_has_not_looked(budget):
    verdict = found({"k": INSIDE}, budget=budget)
    assert verdict.holds is None and verdict.counted
    assert f"not refuted in {budget} runs" in verdict.worst and "larger budget" in verdict.worst


def test_the_fewest_runs_grow_with_the_directions():
    """Both ends of every direction: five of them take ten runs, and nine are too few."""
    over = {"k": INSIDE, "b": (0.1, 0.9), "offset.x": (-0.01, 0.0)}
    assert fewest(3) == 8 and fewest(5) == 10
    enough = found(over, budget=fewest(len(over)))
    assert enough.holds is None and not enough.counted


def test_one_run_that_violates_is_enough():
    """A counter-example needs no budget: with a single run that violates the answer is that it does."""
    assert found({"k": (0.05, 2.0)}, budget=2).holds is False


def test_runs_that_cannot_be_made_do_not_count_as_looked(monkeypatch):
    """Where the machine cannot be built nearly everywhere, nearly nothing was seen."""
    import workbench.verification.search.search as search
    from workbench import InputError

    whole = search.moved

    def choosy(loop, scenario, amounts):
        if any(d.name == "b" and value > 0.15 for d, value in amounts.items()):
            raise InputError("b: too long")
        return whole(loop, scenario, amounts)

    monkeypatch.setattr(search, "moved", choosy)
    verdict = found({"k": INSIDE, "b": (0.14, 0.9)}, budget=12)
    assert verdict.holds is None and verdict.counted and "could be made" in verdict.worst


def test_only_requirements_that_count_are_searched():
    """What is there for information may be violated; a search over nothing that counts is undecided."""
    told = replace(LATE, counted=False)
    over = {"k": (0.2, 5.0)}
    assert found(over, claims=(told,)).counted and found(over, claims=(told,)).holds is None
    assert found(over, claims=(LATE,)).holds is False
    free = replace(LATE, sentence="always (x < 1 m)", name="free")
    assert found(over, claims=(told, free)).holds is None


def test_the_exit_code_of_a_search_alone():
    """Not refuted is no Yes: with a search that looked the requirement decides; one that did not leaves the file undecided."""
    looked = verify(lag(), SCENARIO, (LATE, Falsify(over={"k": INSIDE}, budget=16)))
    assert [v.holds for v in looked] == [True, None] and exit_code(looked) == 0
    for claims in (
        (LATE, Falsify(over={"k": NARROW}, budget=16)),
        (LATE, Falsify(over={"k": INSIDE}, budget=1)),
        (Falsify(over={"k": INSIDE}, budget=16),),
        (replace(LATE, counted=False), Falsify(over={"k": INSIDE}, budget=16)),
    ):
        assert exit_code(verify(lag(), SCENARIO, claims)) == 2


def test_a_push_of_a_nanonewton_on_a_crane(tmp_path):
    """The crane goes its path as it would without the push: nothing was searched; pushes of 100 N are."""
    path = tmp_path / "crane.yaml"
    for push, code in (("1e-9 N", 2), ("100 N", 0)):
        text = FILE.replace("offset.q_2: [-1 mrad, 1 mrad]", f"disturbance.f_Dy: [0 N, {push}]")
        path.write_text(text.replace("payload.mass: [0 kg, 60 kg], ", ""))
        case = load(path)
        asked = [c for c in case.claims if isinstance(c, (Tracking, Falsify))]
        assert exit_code(verify(case.loop, case.scenario, asked)) == code


def test_draws_need_no_width():
    """A draw of noise has a name, no distance: two of them are searched where a range of a number would be too narrow."""
    (asked,) = [c for c in default_claims(noisy(), SCENARIO) if isinstance(c, Falsify)]
    for over in (asked.over, {"seed": (0, 1)}):
        verdict = check_falsify(replace(asked, over=over), run(noisy(), SCENARIO), (LATE,))
        assert verdict.holds is None and not verdict.counted


def test_draws_of_a_run_that_ends_while_settling_are_not_searched_by_default(two_joint):
    """Nothing could be judged on such runs; the reason stands in the row of what was not asked."""
    from controllers import VDC
    from workbench import ClosedLoop, Sampled, Waypoints
    from workbench.contract.wrappers import Noisy

    law = Noisy(VDC(two_joint), 1e3, ("p",))
    loop = ClosedLoop(two_joint, Sampled(law, 2e-3))
    path = Waypoints("joint", ("start", (-1.21, -1.90), "start"), leg=1.0)
    for duration, told in ((2.5, True), (8.0, False)):
        claims = default_claims(loop, Scenario(duration, reference=path))
        assert any(isinstance(c, Falsify) for c in claims) is not told
        left_out = [key for c in claims if isinstance(c, Unasked) for key, _ in c.items]
        assert ("falsify" in left_out) is told
