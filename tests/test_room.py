"""Sizes are known before memory is taken: long logs go to disk, what does not fit is refused with its size."""

import mmap
import re
import shutil
import tempfile
from collections import namedtuple
from pathlib import Path

import numpy as np
import pytest
from small import Feedback, Linear

from workbench import ClosedLoop, Delayed, Sampled, Scenario, Sine, simulate
from workbench.cases.file import loads
from workbench.contract.errors import InputError
from workbench.run import room
from workbench.run.log import Log
from workbench.verification import run_claims, verify

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
    asked = [run_claims.Tracking(error=1.0, settle=1.0), run_claims.Settled(floor=0.1)]
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


def resident(values):
    """Bytes of the mapping of a table that lie in memory, as Linux counts them."""
    address = values.ctypes.data
    lines = iter(Path("/proc/self/smaps").read_text().splitlines())
    for line in lines:
        found = re.match(r"([0-9a-f]+)-([0-9a-f]+) ", line)
        if found and int(found[1], 16) <= address < int(found[2], 16):
            size = next(row for row in lines if row.startswith("Rss:"))
            return 1024 * int(size.split()[1])
    raise AssertionError("no such mapping")


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="only Linux counts them there")
def test_pages_on_disk_are_given_back_and_read_again(monkeypatch):
    monkeypatch.setattr(room, "SMALL", 1000)
    values = room.table(200_000, 5)
    values[:] = np.arange(1_000_000.0).reshape(200_000, 5)
    assert resident(values) > 7_000_000
    room.release(values[1000:])
    assert resident(values) < 100_000
    np.testing.assert_array_equal(values[:, 3], np.arange(3.0, 1_000_000.0, 5.0))
    monkeypatch.setattr(room, "SMALL", 10**9)
    kept = room.table(20, 5)
    kept[:] = 7.0
    room.release(kept)
    assert (kept == 7.0).all()


def test_a_run_on_disk_gives_its_pages_back_as_it_goes(monkeypatch):
    """No more than some thousand rows of a long run lie in memory, whatever is done with its log."""
    if not Path("/proc/self/smaps").exists():
        pytest.skip("only Linux counts them there")
    monkeypatch.setattr(room, "SMALL", 1000)
    log = simulate(LOOP, Scenario(60.0, WALK.reference))
    size = log.values.nbytes
    assert size > 2_000_000 and resident(log.values) < size / 4


def test_a_log_on_disk_is_written_part_by_part(monkeypatch, tmp_path):
    """The files hold what the files of a log in memory hold; meanwhile a few rows of it lie in memory."""
    if not Path("/proc/self/smaps").exists():
        pytest.skip("only Linux counts them there")
    walk = Scenario(40.0, WALK.reference)
    kept = simulate(LOOP, walk)
    monkeypatch.setattr(room, "SMALL", 1000)
    mapped = simulate(LOOP, walk)
    monkeypatch.setattr("workbench.run.log_file.PART", 3000)
    for log, name in ((kept, "kept"), (mapped, "mapped")):
        log.to_csv(tmp_path / f"{name}.csv")
        assert log is kept or resident(mapped.values) < mapped.values.nbytes / 4
        log.save(tmp_path / f"{name}.nc")
        assert log is kept or resident(mapped.values) < mapped.values.nbytes / 4
    assert (tmp_path / "kept.csv").read_bytes() == (tmp_path / "mapped.csv").read_bytes()
    np.testing.assert_array_equal(Log.load(tmp_path / "mapped.nc").values, kept.values)
