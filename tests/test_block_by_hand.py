"""What the lanes of a block made goes to the tables of their runs: a run that is at its end keeps what it has done."""

from types import SimpleNamespace

import numpy as np

from workbench.run.block import Block


def test_a_lane_at_its_end_keeps_what_it_has_done():
    """Rows of a sample each: one run goes on, one ends within the samples, one ended before."""
    given = []
    block = Block.__new__(Block)
    block.rows = "rows"
    block.runs = [SimpleNamespace(columns=SimpleNamespace(keep=(0, 2)))]
    block.logged = [np.zeros((n, 4)) for n in (10, 7, 3)]
    block.grids = [SimpleNamespace(kept=lambda done: done)] * 3
    block.done = [5, 5, 3]
    block.lanes = SimpleNamespace(distribute=lambda *asked: given.append(asked))
    block._take(5, [5, 2, 0])
    assert block.done == [10, 7, 3]
    ((rows, keep, tables),) = given
    assert (rows, keep, [len(table) for table in tables]) == ("rows", (0, 2), [5, 2, 0])
    assert all(np.shares_memory(t, whole) for t, whole in zip(tables[:2], block.logged))
