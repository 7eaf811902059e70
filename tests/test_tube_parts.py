"""A tube for every part of the intervals of the plant's numbers: the parts cover what is asked, and each is proved by itself."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from tests.test_tube import ASKED, SINE, Integral, Throttled, loop
from workbench import ClosedLoop, InputError, Sampled, simulate
from workbench.contract.parameters import bind
from workbench.verification.run import run
from workbench.verification.tube import parts
from workbench.verification.tube.checker import file as files
from workbench.verification.tube.checker.cover import covered, together
from workbench.verification.tube.checker.section import Refused, constant
from workbench.verification.tube.claim import check_tube
from workbench.verification.tube.claim_settings import check_asked, varied
from workbench.verification.tube.opened import Varied

QUICK = replace(SINE, duration=1.2)
WIDE = {"k": (3.85, 4.15), "b": (2.9, 3.1)}
CLAIM = replace(ASKED, parameters=WIDE, parts={"k": 3, "b": 2}, error=0.2)


@pytest.fixture(autouse=True)
def one_core(monkeypatch):
    monkeypatch.setattr(parts, "cores", lambda: 1)


@pytest.fixture(scope="module")
def proved(tmp_path_factory):
    """(verdict, run, certificates) of a loop of which two numbers are known to a few hundredths."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parts, "cores", lambda: 1)
        folder = tmp_path_factory.mktemp("parts")
        made = run(loop(), QUICK)
        verdict = check_tube(replace(CLAIM, certificate=str(folder / "tube.npz")), made)
    return verdict, made, [str(path) for path in sorted(folder.iterdir())]


def test_parts_hold_together_what_one_tube_does_not(proved):
    whole = check_tube(replace(CLAIM, parts={}), run(loop(), QUICK))
    verdict, _, paths = proved
    assert whole.holds is None
    assert verdict.holds and verdict.strength == "proof" and verdict.data["parts"] == 6
    assert "k between 3.85 1/s and 4.15 1/s" in verdict.claim and "6 parts" in verdict.worst
    assert [path[-10:] for path in paths] == [f"tube-{k}.npz" for k in range(1, 7)]


def test_runs_of_any_numbers_are_in_the_tube_of_their_part_and_in_the_one_that_is_drawn(proved):
    verdict, made, paths = proved
    tubes = [files.load(path) for path in paths]
    drawn = made.kept["tube"]
    centre = made.log.values[:, :2]
    rng = np.random.default_rng(7)
    for _ in range(40):
        k, b = rng.uniform(*WIDE["k"]), rng.uniform(*WIDE["b"])
        k, b = (k, b) if rng.random() < 0.6 else (rng.choice(WIDE["k"]), rng.choice(WIDE["b"]))
        away = dict(zip("py", 4e-3 * rng.choice([-1, 1], 2)))
        log = simulate(bind(loop(), {"plant.k": k, "plant.b": b}), replace(QUICK, offset=away))
        z = np.column_stack([log.values[:, :2], [0.0, *log.values[:-1, 2]]])
        own = [c for c in tubes if (np.abs([k, b] - c.x0[4:]) <= c.half[4:]).all()]
        assert own
        for c in own:
            e = np.abs(z[: len(c.z)] - c.z[:, :3])
            assert (e[1:] <= c.reach[1:, 0, c.section][:, :3] * (1 + 1e-9) + 1e-12).all()
        far = np.abs(log.values[:, :2] - centre)[np.rint(drawn["t"] / 0.01).astype(int)]
        for j, name in enumerate("py"):
            assert (far[1:, j] <= drawn["width"][name][1:] * (1 + 1e-9) + 1e-12).all()
    for i, name in enumerate("py"):
        assert verdict.data["low"][name] == min(c.low[i] for c in tubes) < centre[:, i].min()
        assert verdict.data["high"][name] == max(c.high[i] for c in tubes) > centre[:, i].max()
    (told,) = verdict.data["told"].values()
    assert told == [min(c.least[0] for c in tubes), max(c.most[0] for c in tubes)]


def test_certificates_together_cover_the_box_to_the_last_bit(proved):
    tubes = [files.load(path) for path in proved[2]]
    ends = covered(tubes)
    stays = np.flatnonzero(constant(tubes[0]))
    for i, (low, high) in zip(stays, WIDE.values()):
        assert ends[i][0] <= low and high <= ends[i][1]
    assert np.ptp([c.x0[:4] for c in tubes], axis=0).max() == 0
    text = together(tubes)
    assert "p ± 0.004, y ± 0.004, with k from 3.85 to 4.15, b from 2.9 to 3.1" in text


def test_a_gap_between_certificates_is_named(proved):
    tubes = [files.load(path) for path in proved[2]]
    with pytest.raises(Refused, match="leave out k from 4.0"):
        covered([c for k, c in enumerate(tubes) if k != 4])
    thin = replace(tubes[4], half=tubes[4].half * np.where(constant(tubes[4]), 1 - 1e-12, 1.0))
    with pytest.raises(Refused, match="leave out"):
        covered([thin if k == 4 else c for k, c in enumerate(tubes)])
    less = replace(tubes[4], half=tubes[4].half * np.where(constant(tubes[4]), 1.0, 0.25))
    assert "p ± 0.001, y ± 0.001" in together([*tubes, less])


def test_certificates_of_other_loops_runs_or_noise_prove_nothing_together(proved):
    first, other = (files.load(path) for path in proved[2][:2])
    moved = np.where(constant(other), other.x0, other.x0 + 1.0)
    for changed, words in [
        (replace(other, T=0.02), "of another loop"),
        (replace(other, w=other.w + 1e-9), "other references"),
        (replace(other, slack=other.slack + 1e-9), "other references"),
        (replace(other, fresh=other.fresh + 1e-9), "other noise"),
        (replace(other, after=other.after[::-1]), "ends otherwise"),
        (replace(other, x0=moved), "no p is a start of all"),
    ]:
        with pytest.raises(Refused, match=words):
            covered([first, changed])
    law = other.parameters.copy()
    law[np.flatnonzero(other.prelude.depends().any(axis=0))[0]] *= 1.01
    with pytest.raises(Refused, match="of another loop"):
        covered([first, replace(other, parameters=law)])


def test_several_files_are_checked_one_by_one_and_together(proved, capsys, tmp_path):
    assert files.main(*proved[2]) == 0
    told = capsys.readouterr().out
    assert told.count("proved: ") == 6 and "stays in one of these 6 tubes" in told
    assert files.main(*proved[2][:3], *proved[2][4:]) == 1
    assert "refused: together they leave out" in capsys.readouterr().out
    bad = files.load(proved[2][1])
    np.savez(tmp_path / "bad.npz", **replace(bad, reach=bad.reach / 2).arrays())
    assert files.main(proved[2][0], str(tmp_path / "bad.npz")) == 1
    assert "bad.npz: refused: sample" in capsys.readouterr().out
    assert files.main(proved[2][0], str(tmp_path / "none.npz")) == 3


def test_a_part_without_a_tube_leaves_the_whole_undecided_and_is_named():
    """With k from −8 the chamber fills itself: no part there comes closer."""
    claim = replace(CLAIM, parameters={"k": (-8.0, 5.0)}, parts={"k": 13}, certificate="no.npz")
    verdict = check_tube(claim, run(loop(), replace(QUICK, duration=0.6)))
    assert verdict.holds is None
    assert verdict.worst.startswith("with k between -8 1/s and -7 1/s: ")
    assert verdict.claim.count("k between -8 1/s and 5 1/s")


def test_faults_have_no_tube_in_parts_either():
    for law in (Integral(K=-6.0), Integral(K=120.0)):
        verdict = check_tube(CLAIM, run(loop(law), replace(QUICK, duration=0.6)))
        assert verdict.holds is None and verdict.worst


def test_a_bound_that_one_part_does_not_keep_is_not_held():
    verdict = check_tube(
        replace(CLAIM, error=0.132), run(loop(), QUICK)
    )  # 0.1317 in the run itself
    assert verdict.holds is None and "is only known to stay" in verdict.worst


@pytest.mark.quick
def test_parts_share_their_edges_and_reach_from_end_to_end():
    numbers = (Varied("m", "kg", 2.0, 1.0, 4.0), Varied("β", "Pa", 7.0, 7.0, 7.3))
    found = parts.cut(numbers, {"m": 3})
    assert found == [{"m": (float(k), k + 1.0), "β": (7.0, 7.3)} for k in (1, 2, 3)]
    thirds = parts.cut(numbers, {"β": 3})
    assert [p["β"][1] for p in thirds[:-1]] == [p["β"][0] for p in thirds[1:]]
    assert (thirds[0]["β"][0], thirds[-1]["β"][1]) == (7.0, 7.3)
    assert len(parts.cut(numbers, {"m": 3, "β": 4})) == 12


def test_parts_of_what_has_no_interval_or_too_many_are_refused():
    for given, words in [
        ({"g": 2}, "parts.g: it has no interval"),
        ({"k": 0}, "parts.k: 0, expected a whole number"),
        ({"k": 40, "b": 40}, "1600 tubes, expected no more than 1000"),
    ]:
        with pytest.raises(InputError, match=words):
            check_asked(replace(CLAIM, parts=given), loop())
    with pytest.raises(InputError, match="parts"):
        replace(CLAIM, parts={"k": 2.5})


def test_files_of_certificates_are_numbered_in_one_width():
    assert parts.file_of("a/crane.npz", 0, 1) == "a/crane.npz"
    assert parts.file_of("a/crane.npz", 0, 24) == "a/crane-01.npz"
    assert parts.file_of("crane.v2.npz", 23, 24) == "crane.v2-24.npz"


@dataclass(frozen=True)
class Deadly(Throttled):
    """Ends its process where its k is not the stored one."""

    def initial(self):
        if self.k != 4.0:
            import os

            os._exit(7)
        return super().initial()


def test_parts_on_processes_are_those_in_this_one(monkeypatch, proved):
    monkeypatch.setattr(parts, "cores", lambda: 2)
    claim = replace(CLAIM, parameters={"k": WIDE["k"]}, parts={"k": 3})
    beside = check_tube(claim, run(loop(), QUICK))
    monkeypatch.setattr(parts, "cores", lambda: 1)
    alone = check_tube(claim, run(loop(), QUICK))
    assert beside.holds and beside.data == alone.data and beside.worst == alone.worst


def test_a_part_whose_process_dies_decides_nothing(monkeypatch):
    monkeypatch.setattr(parts, "cores", lambda: 2)
    dead = ClosedLoop(Deadly(), Sampled(Integral(), 0.01))
    claim = replace(CLAIM, parameters={"k": (3.9, 4.1)}, parts={"k": 2})
    verdict = check_tube(claim, run(dead, replace(QUICK, duration=0.2)))
    assert verdict.holds is None and "the process that ran it died 3 times" in verdict.worst


def test_where_no_process_can_be_started_parts_go_one_after_the_other(monkeypatch):
    """As in a script without a main of its own; what was found before stays found."""

    def broken(work, todo, jobs, answer, lost):
        yield todo[1][0], answer(work, todo[1][1])
        raise InputError("a process could not be started")

    monkeypatch.setattr(parts, "cores", lambda: 2)
    monkeypatch.setattr(parts, "on_processes", broken)
    asked = []
    monkeypatch.setattr(parts, "of_part", lambda work, claim: asked.append(claim) or claim)
    made = run(loop(), replace(QUICK, duration=0.1))
    assert list(parts.searches(made, ["a", "b", "c"])) == [(1, "b"), (0, "a"), (2, "c")]
    assert asked == ["b", "a", "c"]


def test_the_starts_of_a_part_are_those_of_the_run_to_the_last_bit(monkeypatch):
    """An offset takes a part's run there but for rounding; its tube is asked from the run's own start."""
    monkeypatch.setattr(parts, "judged", lambda claim, run, share, start: start)
    system, scenario = loop(), replace(QUICK, duration=0.1, offset={"p": 0.1, "y": 1 / 3})
    found = parts.of_part((system, scenario), replace(CLAIM, parameters={"k": (3.9, 4.3)}))
    assert found.tolist() == list(run(system, scenario).demand.start)


def test_a_part_that_cannot_run_decides_nothing(monkeypatch):
    def refused(*given):
        raise InputError("nothing holds it there")

    monkeypatch.setattr(parts, "other", refused)
    claim = replace(CLAIM, parameters={"k": (3.9, 4.1)}, parts={"k": 2})
    verdict = check_tube(claim, run(loop(), replace(QUICK, duration=0.2)))
    assert verdict.holds is None and verdict.worst.endswith("nothing holds it there")


def test_what_is_varied_is_around_the_middle_of_its_part():
    one = parts.centre("k", 3.0, 3.5)
    assert (one.value, one.low, one.high) == (3.25, 3.0, 3.5)
    assert varied(CLAIM, loop())[0].half >= 0.15


def test_a_state_that_no_run_moves_has_no_ratio_in_the_report():
    """Widths twice as large as the hull; of a state that only rounding widens there is no ratio."""
    from reports.chapters.tube import state_rows

    width, hull = np.array([0.2, 0.4]), np.array([0.1, 0.2])
    found = {"width": {"q": width, "v": width * 1e-24}, "hull": {"q": hull, "v": np.zeros(2)}}
    rows = state_rows(found, {"q": "rad", "v": "m/s"})
    assert [row[0] for row in rows] == ["q", "v"]
    assert [row[-1] for row in rows] == ["2", "–"]
