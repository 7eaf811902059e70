"""Sizes are known before memory is taken: long logs go to disk, what does not fit is refused with its size."""

import mmap
import shutil
import tempfile
from collections import namedtuple

import numpy as np
import pytest
from small import Feedback, Linear

from workbench import ClosedLoop, Delayed, Sampled, Scenario, Sine, room, simulate
from workbench.errors import InputError
from workbench.file import loads
from workbench.verification import claims as C
from workbench.verification import verify

PLANT = Linear(((-0.7, 3.0), (-2.0, -0.4)), ((0.0,), (4.0,)), ((1.0, 0.0),), x0=(0.2, 0.0))
LAW = Feedback(PLANT, ((1.7,),), ((1.7,),))
LOOP, WALK = ClosedLoop(PLANT, Sampled(LAW, 1e-3)), Scenario(3.0, Sine("output", 0.0, 0.3, 1.3))


class Brought:
    """A user's law."""

    measured, commands, references, T_s = ("y0",), ("u0",), ("y0_d",), 1e-3

    def command(self, t, z, y, r):
        return [1.7 * (r[0] - y[0])]


def on_disk(values):
    while isinstance(values, np.ndarray):
        values = values.base
    return isinstance(values, mmap.mmap)


@pytest.mark.parametrize("loop", [LOOP, ClosedLoop(PLANT, Brought())], ids=["fused", "hosted"])
def test_a_long_log_goes_to_disk_and_leaves_nothing_there(monkeypatch, tmp_path, loop):
    whole = simulate(loop, WALK)
    monkeypatch.setattr(room, "SMALL", 1000)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    mapped = simulate(loop, WALK)
    assert on_disk(mapped.values) and not on_disk(whole.values)
    assert list(tmp_path.iterdir()) == []
    np.testing.assert_array_equal(mapped.values, whole.values)
    asked = [C.Tracking(error=1.0, settle=1.0), C.Settled(floor=0.1)]
    monkeypatch.setattr(room, "SMALL", 2**40)
    in_memory = [(v.key, v.holds, v.margin) for v in verify(loop, WALK, asked)]
    monkeypatch.setattr(room, "SMALL", 1000)
    assert [(v.key, v.holds, v.margin) for v in verify(loop, WALK, asked)] == in_memory


def test_a_log_that_fits_on_no_disk_is_refused_with_its_size(monkeypatch):
    monkeypatch.setattr(room, "SMALL", 1000)
    monkeypatch.setattr(
        shutil,
        "disk_usage",
        lambda path: namedtuple("Usage", "total used free")(10**9, 10**9 - 10**4, 10**4),
    )
    with pytest.raises(
        InputError, match=r"takes \d+ kB \(3001 rows of \d+ numbers\).* 10 kB left"
    ) as refused:
        simulate(LOOP, WALK)
    assert "log_period" in refused.value.mend
    assert len(simulate(LOOP, Scenario(3.0, WALK.reference, log_period=1.0))) == 4


def test_inputs_that_take_too_much_are_refused_before_they_are_made():
    with pytest.raises(
        InputError, match=r"about \d+(\.\d+)? GB of memory \(40000001 samples of \d+ signals\)"
    ):
        loads(
            "plant: hiab-xs031\nscenario: {duration: 40000 s, reference: {type: Hold, space: joint, point: start}}\n"
        )


def test_a_delay_mistyped_is_refused_and_one_that_fits_is_not():
    with pytest.raises(
        InputError, match="10001 samples of every command.*1 s at a sample time of 0.001 s"
    ) as refused:
        loads("plant: hiab-xs031\nloop: {delay: 10 s}\n")
    assert "was 10 ms meant" in refused.value.mend and refused.value.line
    loop = ClosedLoop(PLANT, Delayed(Sampled(LAW, 1e-3), 0.3))
    assert simulate(loop, Scenario(0.5, WALK.reference)).status.completed
