"""The crane of two joints under VDC in its tube: the first samples always, the whole example and its faults in long runs."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from workbench.commands.verbs import read_case
from workbench.run.simulate import simulate
from workbench.verification.claims import Tube
from workbench.verification.run import run
from workbench.verification.tube.asked import widths
from workbench.verification.tube.blocks import filled
from workbench.verification.tube.checker.file import load
from workbench.verification.tube.checker.judge import followed, judge
from workbench.verification.tube.checker.samples import walked
from workbench.verification.tube.claim import check_tube
from workbench.verification.tube.posed import posed
from workbench.verification.tube.search import matrices, tiny

FILE = str(Path(__file__).parents[1] / "examples" / "tube-crane.yaml")


def read(*changes):
    """(case, claim) of the example with some keys changed."""
    case = read_case(FILE, changes)
    return case, next(c for c in case.claims if isinstance(c, Tube))


def stays(case, claim, c, shares) -> None:
    """Runs from these shares of the starts are in the tube at every sample."""
    half = widths(claim, case.loop)
    moving = ~c.flow.still()[c.section]
    own = dict(case.scenario.offset)
    for share in shares:
        moved = {name: own.get(name, 0.0) + s * w for (name, w), s in zip(half.items(), share)}
        x = simulate(case.loop, replace(case.scenario, offset={**own, **moved})).values
        x = x[: len(c.z), c.section]
        z = np.where(moving, x, np.vstack([c.z[:1], x[:-1]]))[1:]
        reach = c.reach[1 : len(z) + 1, 0, c.section]
        assert (np.abs(z - c.z[1 : len(z) + 1]) <= reach * (1 + 1e-6)).all()


def test_the_first_samples_hold_the_widest_starts():
    """Reaches 5 % wider than the linear loop's suffice for ten samples, and hold runs from corners."""
    case, claim = read("scenario.duration=10 ms")
    question = posed(run(case.loop, case.scenario), widths(claim, case.loop))
    course: dict = {}
    linear = matrices(question, course)
    c = tiny(question)
    reach = followed(c, partial(walked, course=course)).need
    c = filled(c, 1.03 * reach, linear, np.zeros(c.states, bool), course)
    assert (c.reach[:-1] <= 1.05 * reach[:-1] + 1e-190).all()
    seen = followed(c)
    assert question.ends == "horizon" and seen.failed is None
    assert seen.need[0, 0, :2] == pytest.approx(1e-4) and seen.need[0, 0, 4:8] == pytest.approx(2e4)
    stays(case, claim, c, [np.ones(6), np.array([1, -1, 1, -1, -1, 1])])


@pytest.fixture(scope="module")
def proved(tmp_path_factory):
    path = str(tmp_path_factory.mktemp("crane") / "crane.npz")
    case, claim = read()
    verdict = check_tube(replace(claim, certificate=path), run(case.loop, case.scenario))
    return case, claim, verdict, load(path)


@pytest.mark.long
def test_the_crane_is_proved_and_its_runs_stay_in_the_tube(proved):
    case, claim, verdict, c = proved
    assert verdict.holds and verdict.strength == "proof"
    judge(c)
    rng = np.random.default_rng(4)
    stays(case, claim, c, [*rng.choice([-1.0, 1.0], (8, 6)), *rng.uniform(-1, 1, (8, 6))])


@pytest.mark.long
@pytest.mark.parametrize("fault", ("loop.sample_time=7 ms", "controller.βk_f=3000 1/s"))
def test_a_fault_of_the_loop_is_not_proved(fault):
    case, claim = read(fault)
    assert not check_tube(claim, run(case.loop, case.scenario)).holds
