"""Margins that fall in stairs, norms of several matrices at once, and where a run of one instant is looked at, by hand."""

from types import SimpleNamespace

import numpy as np
import pytest

from workbench.contract.errors import InputError
from workbench.verification.linear.frozen_time import TracedPoints
from workbench.verification.practical.later.crossings import crossings
from workbench.verification.rigorous import supplied
from workbench.verification.tube.checker import balls


def test_stairs_before_a_crossing_do_not_use_up_what_is_looked_at():
    found = crossings(lambda t: (np.floor(t / 100.0) - 20.5)[None], 6.0)
    assert any(abs(t - 2100.0) < 1.0 for t in found), found


@pytest.mark.parametrize("part", ["mid", "rad"])
@pytest.mark.parametrize("k", [0, 1])
def test_an_infinite_entry_spoils_its_own_matrix_only(part, k):
    whole = {"mid": np.stack([np.eye(2)] * 2), "rad": np.zeros((2, 2, 2))}
    whole[part][k, 1 - k, 0] = np.inf
    found = balls.norm(balls.Balls(**whole))
    assert np.isinf(found[k]) and found[1 - k] == pytest.approx(1.0)


@pytest.mark.parametrize("η, larger", [(0.0, 1.0), (0.36, 1.25), (0.5, np.inf), (0.7, np.inf)])
def test_vectors_that_are_not_quite_orthogonal_widen_the_norm(monkeypatch, η, larger):
    monkeypatch.setattr(balls, "above_identity", lambda V: np.full(V.shape[:-2], η))
    found = balls.norm(balls.Balls.exact(np.diag([2.0, 1.0])[None]))
    assert found == pytest.approx([2.0 * larger])


@pytest.mark.parametrize("rows, stills", [(1, [0]), (5, [0, 4])])
def test_the_end_is_looked_at_where_it_is_not_the_start(rows, stills):
    own = object.__new__(TracedPoints)
    asked = []
    own.log = SimpleNamespace(time=np.arange(float(rows)))
    own.x, own.speeds = np.zeros((rows, 1)), []
    own.prepare = lambda: None
    own.still = lambda k, where: asked.append((k, where)) or []
    own.moving = own.frozen = lambda k: []
    for look in own.looks():
        look()
    assert asked == list(zip(stills, ["at the start", "at the end"]))


@pytest.mark.parametrize("low, high", [(1.0, 1.0), (2.0, 1.0), (-np.inf, 1.0)])
def test_a_box_without_width_is_said_as_such(low, high):
    with pytest.raises(InputError, match="expected numbers with low < high"):
        supplied._sensible(["x"], [(low, high)], [1.0], [0.1], 1.0, [1.0])
