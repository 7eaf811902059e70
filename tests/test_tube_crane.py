"""The crane of two joints under VDC in its tube: the first samples always, the whole example and its faults in long runs."""

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from workbench.commands.verbs import read_case
from workbench.contract.parameters import leaves
from workbench.contract.wrappers.around import Around
from workbench.run.simulate import simulate
from workbench.verification.claims import Tube
from workbench.verification.run import run
from workbench.verification.tube import search
from workbench.verification.tube.beside import other
from workbench.verification.tube.blocks import filled
from workbench.verification.tube.checker.file import load
from workbench.verification.tube.checker.judge import followed, judge
from workbench.verification.tube.checker.samples import walked
from workbench.verification.tube.claim import check_tube
from workbench.verification.tube.claim_settings import free, varied, widths
from workbench.verification.tube.posed import posed
from workbench.verification.tube.progress import Share
from workbench.verification.tube.rate import rate
from workbench.verification.tube.rounds import Result
from workbench.verification.tube.search import matrices, samples, tiny

EXAMPLES = Path(__file__).parents[1] / "examples"


def read(*changes, name="tube-crane"):
    """(case, claim) of the example with some keys changed."""
    case = read_case(str(EXAMPLES / f"{name}.yaml"), changes)
    return case, next(c for c in case.claims if isinstance(c, Tube))


def stays(case, claim, c, shares) -> None:
    """Runs from these shares of the starts, and of the numbers that are known to bounds, are in the tube at every sample."""
    made = run(case.loop, case.scenario)
    half, numbers = widths(claim, case.loop), varied(claim, case.loop)
    section = c.section[c.section < len(case.loop.states)]
    many = len(section)
    moving = ~c.flow.still()[section]
    for share in shares:
        x = simulate(*other(made, half, numbers, share)).values[: len(c.z), section]
        z = np.where(moving, x, np.vstack([c.z[:1, :many], x[:-1]]))[1:]
        reach = c.reach[1 : len(z) + 1, 0, section]
        assert (np.abs(z - c.z[1 : len(z) + 1, :many]) <= reach * (1 + 1e-6)).all()


def first_samples(case, claim):
    """(run, question, tube) of the first samples, 3 % wider than the linear loop needs it."""
    made = run(case.loop, case.scenario)
    question = posed(made, widths(claim, case.loop), free=free(claim, case.loop))
    course: dict = {}
    linear = matrices(question, samples(tiny(question), None, course))
    c = tiny(question)
    reach = followed(c, partial(walked, course=course)).need
    c = filled(c, 1.03 * reach, linear, np.zeros(c.states, bool), course)
    assert followed(c).failed is None
    return made, question, c


def test_the_first_samples_hold_the_widest_starts():
    """Reaches 5 % wider than the linear loop's suffice for ten samples, and hold runs from corners."""
    case, claim = read("scenario.duration=10 ms")
    question = posed(run(case.loop, case.scenario), widths(claim, case.loop))
    course: dict = {}
    linear = matrices(question, samples(tiny(question), None, course))
    c = tiny(question)
    reach = followed(c, partial(walked, course=course)).need
    c = filled(c, 1.03 * reach, linear, np.zeros(c.states, bool), course)
    assert (c.reach[:-1] <= 1.05 * reach[:-1] + 1e-190).all()
    seen = followed(c)
    assert question.ends == "horizon" and seen.failed is None
    assert seen.need[0, 0, :2] == pytest.approx(1e-4) and seen.need[0, 0, 4:8] == pytest.approx(2e4)
    stays(case, claim, c, [np.ones(6), np.array([1, -1, 1, -1, -1, 1])])


@pytest.mark.long
def test_the_first_samples_hold_every_load():
    """Payload ± 5 %, oil ± 10 % and supply ± 2 % beside the widest starts, over ten samples."""
    numbers = "claims.tube.parameters={payload.mass: [19 kg, 21 kg], oil.β: [720 MPa, 880 MPa], p_s: [181.3 bar, 188.7 bar]}"
    case, claim = read("scenario.duration=10 ms", numbers, name="tube-crane-loads")
    _, _, c = first_samples(case, claim)
    stays(case, claim, c, [np.ones(9), np.array([1, -1, 1, -1, -1, 1, 1, -1, -1])])
    own = {leaf.path: leaf.value for leaf in leaves(case.loop)}
    assert own["controller.inner.model.payload.mass"] == own["plant.payload.mass"] == 20.0


@dataclass(frozen=True, eq=False)
class Flipped(Around):
    """A law whose second command has the wrong sign."""

    inner: Any

    def step_at(self, T_s, t, z, y, r):
        memory, (u, v) = self.inner.step_at(T_s, t, z, y, r)
        return memory, [u, -v]


@pytest.mark.parametrize("fault", ("none", "late", pytest.param("flipped", marks=pytest.mark.long)))
def test_runs_side_by_side_of_a_late_or_flipped_loop_do_not_come_closer(fault):
    """6 ms of dead time, or one wire the wrong way round, are told from the sound loop within 20 samples."""
    case, claim = read("scenario.duration=20 ms", *(["loop.delay=6 ms"] if fault == "late" else []))
    loop = case.loop
    if fault == "flipped":
        law = replace(loop.controller, inner=Flipped(loop.controller.inner))
        loop = replace(loop, controller=law)
    question = posed(run(loop, case.scenario), widths(claim, loop))
    pace = rate(matrices(question, samples(tiny(question))), question.tube.after, question.tube.T)
    assert (pace > 0) == (fault == "none")


def certified(tmp_path_factory, name):
    path = str(tmp_path_factory.mktemp("crane") / "crane.npz")
    case, claim = read(name=name)
    verdict = check_tube(replace(claim, certificate=path), run(case.loop, case.scenario))
    return case, claim, verdict, load(path)


@pytest.mark.long
@pytest.mark.parametrize(
    "name", ("tube-crane", "tube-crane-loads", "tube-crane-period", "tube-crane-rests")
)
def test_the_crane_is_proved_and_its_runs_stay_in_the_tube(name, tmp_path_factory):
    case, claim, verdict, c = certified(tmp_path_factory, name)
    assert verdict.holds and verdict.strength == "proof"
    judge(c)
    rng = np.random.default_rng(4)
    many = len(widths(claim, case.loop)) + len(claim.parameters)
    stays(case, claim, c, [*rng.choice([-1.0, 1.0], (8, many)), *rng.uniform(-1, 1, (8, many))])


FAULTS = ("loop.sample_time=7 ms", "loop.delay=6 ms", "controller.βk_f=3000 1/s")


@pytest.mark.long
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_the_loop_is_not_proved(fault):
    case, claim = read(fault)
    assert not check_tube(claim, run(case.loop, case.scenario)).holds


@pytest.mark.parametrize("failed, finer_tried", ((None, False), (2, False), (6, True)))
def test_a_search_that_fails_behind_an_edge_is_made_again_with_finer_steps_there(
    failed, finer_tried, monkeypatch
):
    """Node 4 misses more than the others: a search that fails behind it is made again with finer steps there, any other is not."""
    case, _ = read("scenario.duration=10 ms")
    question = posed(run(case.loop, case.scenario), {"q_1": 1e-4})
    asked = []

    def tried(question, seen, course, progress):
        asked.append(question.tube.finer)
        return Result(question.tube, None, failed)

    monkeypatch.setattr(search, "tried", tried)
    rough = np.arange(len(question.tube.z)) == 4
    monkeypatch.setattr(search, "roughly", lambda question, seen: rough[: len(seen.node)])
    monkeypatch.setattr(search, "closed", lambda question: question)
    search.at_edges(question, Share(None, 1), search.as_it_is)
    assert (asked[0] == 1).all()
    assert [list(finer) for finer in asked[1:]] == finer_tried * [list(np.where(rough, 8, 1))]


def test_what_weighs_gets_finer_steps_at_once(monkeypatch):
    case, _ = read("scenario.duration=10 ms")
    question = posed(run(case.loop, case.scenario), {"q_1": 1e-4})
    asked = []
    monkeypatch.setattr(search, "tried", lambda question, *_: asked.append(question.tube.finer))
    monkeypatch.setattr(search, "weighs", lambda *_: True)
    rough = np.arange(len(question.tube.z)) == 4
    monkeypatch.setattr(search, "roughly", lambda question, seen: rough[: len(seen.node)])
    monkeypatch.setattr(search, "closed", lambda question: question)
    search.at_edges(question, Share(None, 1), search.as_it_is)
    assert len(asked) == 1 and list(asked[0]) == list(np.where(rough, 8, 1))


@pytest.mark.parametrize("bounded", [True, False])
def test_finer_steps_that_cannot_be_bounded_leave_those_that_can(monkeypatch, bounded):
    """Many short steps of a mode that rings lose what one long step keeps."""
    case, _ = read("scenario.duration=10 ms")
    question = posed(run(case.loop, case.scenario), {"q_1": 1e-4})
    asked = []
    bare = search.samples

    def samples(c, *given):
        rows = bare(c, *given)
        if c.finer.max() > 1 and not bounded:
            rows.error[4] = np.inf
        return rows

    monkeypatch.setattr(search, "samples", samples)
    monkeypatch.setattr(search, "tried", lambda question, *_: asked.append(question.tube.finer))
    monkeypatch.setattr(search, "weighs", lambda *_: True)
    monkeypatch.setattr(search, "roughly", lambda question, seen: np.arange(len(seen.node)) == 4)
    monkeypatch.setattr(search, "closed", lambda question: question)
    search.at_edges(question, Share(None, 1), search.as_it_is)
    assert [finer.max() for finer in asked] == [8 if bounded else 1]
