"""Nodes at which held commands may change their sign: which commands these are, and how many rows they may cost."""

from types import SimpleNamespace

import numpy as np
import pytest
from test_tube_crane import read
from test_tube_section import K, refused, tube

from workbench.verification.run import run
from workbench.verification.tube import paths
from workbench.verification.tube.blocks import crossed
from workbench.verification.tube.checker import samples
from workbench.verification.tube.checker.section import MOST_SPLITS, check_shape
from workbench.verification.tube.claim_settings import widths
from workbench.verification.tube.paths import turning
from workbench.verification.tube.posed import posed


def test_a_node_is_split_at_every_command_that_may_turn_or_at_none():
    """Of eight held states six may turn at the first node, seven at the second, none at the third; a ninth is not held."""
    low = np.full((3, 9), 1.0)
    low[0, 1:7] = -0.5
    low[1, 1:8] = -0.5
    low[:, 8] = -0.5
    seen = SimpleNamespace(low=low, high=np.full((3, 9), 2.0))
    held = np.arange(9) < 8
    found = crossed(seen, held, np.array([4, 5, 7]))
    assert found.tolist() == [[4, i, 0.0] for i in range(1, 7)] and MOST_SPLITS == 6
    low[1, 7] = 0.0  # at its edge it does not turn
    assert [k for k, _, _ in crossed(seen, held, np.array([4, 5, 7]))] == [4] * 6 + [5] * 6
    seen.high[0, 3] = 0.0
    assert 3 not in crossed(seen, held, np.array([4, 5, 7]))[:5, 1]


@pytest.mark.parametrize("many, parts", [(0, 1), (1, 1), (2, 2), (3, 3), (5, 6)])
def test_a_group_is_looked_at_in_parts_of_so_many_rows(monkeypatch, many, parts):
    """Six nodes of up to 2^many rows, 16 of them at once."""
    monkeypatch.setattr(samples, "ROWS", 16)
    nodes = np.array([2, 3, 5, 7, 8, 9])
    splits = [(5, i, 0.0) for i in range(many)] + [(4, i, 0.0) for i in range(6)]
    c = SimpleNamespace(splits=np.array(splits, float))
    found = samples.fitting(c, nodes)
    assert len(found) == parts and np.concatenate(found).tolist() == nodes.tolist()
    assert all(len(part) << many <= 16 or len(part) == 1 for part in found)
    assert len(samples.fitting(SimpleNamespace(splits=np.zeros((0, 3))), nodes)) == 1


def test_a_certificate_with_more_splits_of_a_node_is_refused():
    splits = np.array([[0.0, 1.0, number] for number in range(MOST_SPLITS)])
    check_shape(tube(splits=np.vstack([splits, [[K - 1, 1.0, 0.0]]])))
    more = np.vstack([splits, [[0.0, 1.0, 9.0]]])
    assert refused(splits=more) == "splits: more than 6 of one node"


@pytest.mark.parametrize(
    "delay, name",
    [("0.3 ms", "u_axis_held"), ("5 ms", "u_axis_applied"), ("5.3 ms", "u_axis_queue5")],
)
def test_of_a_queue_of_commands_the_one_whose_turn_it_is_may_turn(delay, name):
    case, claim = read("scenario.duration=20 ms", f"loop.delay={delay}", name="tube-servo")
    c = posed(run(case.loop, case.scenario), widths(claim, case.loop), claim.substeps).tube
    held = c.flow.still() & turning(c)
    assert name in c.names[held]
    assert set(c.names[held]) <= {name, "u_axis_applied"}


@pytest.mark.parametrize(
    "lag, substeps, seen",
    [
        (0.0, [0, 2], [(1.0, 0.5), (1.5, 0.5)]),
        (0.4, [1, 2], [(1.0, 0.4), (14.0, 0.3), (14.3, 0.3)]),  # released before the second flow
    ],
)
def test_polynomials_go_on_from_the_release(monkeypatch, lag, substeps, seen):
    """A state that grows by the length of every step; the release puts ten times of it."""
    steps = []

    def step(x, h):
        steps.append((float(x[0, 0]), h))
        return x[:, None] * np.ones((1, 3, 1)), x + h

    path = SimpleNamespace(step=step, jumped=lambda program, x: 10 * x)
    monkeypatch.setattr(paths, "Path", lambda c, nodes: path)
    monkeypatch.setattr(paths, "starts", lambda path: np.ones((1, 1)))
    c = SimpleNamespace(lag=lag, T=1.0, substeps=np.array(substeps), release=None)
    found = paths.polynomials(c, np.array([0]), 1)
    assert np.ravel(steps) == pytest.approx(np.ravel(seen)) and len(found) == len(seen)
    steps.clear()
    paths.polynomials(c, np.array([0]), 3)
    assert len(steps) == 3 * len(seen)
    assert sum(h for _, h in steps) == pytest.approx(1.0)
