"""Files go out whole or not at all, and what was there before stays."""

import errno
import gc
import os
import resource
import stat
import sys

import pytest
from test_input import nobody

from workbench.contract.errors import InputError
from workbench.files.atomic import check_writable, replacing, write_atomic


def failing(why):
    def write(stream):
        stream.write(b"half")
        stream.flush()
        raise why

    return write


def test_writes_whole_and_replaces(tmp_path):
    path = tmp_path / "run.json"
    check_writable(path)
    assert os.listdir(tmp_path) == []
    write_atomic(path, lambda stream: stream.write(b"one"))
    assert stat.S_IMODE(path.stat().st_mode) & 0o600 == 0o600
    path.chmod(0o640)
    write_atomic(path, lambda stream: stream.write(b"two"))
    assert path.read_bytes() == b"two" and os.listdir(tmp_path) == ["run.json"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_new_file_has_the_usual_rights(tmp_path):
    (tmp_path / "usual").touch()
    write_atomic(tmp_path / "new", lambda stream: stream.write(b"x"))
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "run.nc").symlink_to(tmp_path / "real" / "run.nc")
    write_atomic(tmp_path / "run.nc", lambda stream: stream.write(b"x"))
    assert (tmp_path / "run.nc").is_symlink() and (
        tmp_path / "real" / "run.nc"
    ).read_bytes() == b"x"


@pytest.mark.parametrize(
    "why, shown, words",
    [
        (OSError(errno.ENOSPC, "no space"), InputError, "the disk is full"),
        (KeyboardInterrupt(), KeyboardInterrupt, None),
        (OSError(errno.EIO, "disk error"), InputError, "disk error"),
        (LookupError("mine"), LookupError, "mine"),
    ],
)
def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path, why, shown, words):
    path = tmp_path / "run.json"
    path.write_bytes(b"old")
    with pytest.raises(shown, match=words):
        write_atomic(path, failing(why))
    assert path.read_bytes() == b"old" and os.listdir(tmp_path) == ["run.json"]


def test_the_disk_fills_up_while_writing(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # Python would cut its own files short
    path = tmp_path / "run.json"
    path.write_bytes(b"old")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, hard))
        with pytest.raises(InputError, match="larger than allowed") as caught:
            write_atomic(path, lambda stream: stream.write(b"x" * 20_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert caught.value.file == str(path) and caught.value.mend
    assert path.read_bytes() == b"old" and os.listdir(tmp_path) == ["run.json"]


def test_the_disk_turns_out_full_when_flushed(tmp_path, monkeypatch):
    def full(_):
        raise OSError(errno.ENOSPC, "no space")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match="the disk is full"):
        write_atomic(tmp_path / "run.json", lambda stream: stream.write(b"x"))
    assert os.listdir(tmp_path) == []


def test_targets_that_cannot_be(tmp_path):
    (tmp_path / "file").touch()
    os.mkfifo(tmp_path / "pipe")
    cases = [
        (tmp_path, "this is a directory"),
        (tmp_path / "none" / "run.json", "no such directory"),
        (tmp_path / "file" / "run.json", "a file, not a directory"),
        ("/dev/null", "a device or a pipe"),
        (tmp_path / "pipe", "a device or a pipe"),
        (str(tmp_path / "new") + "/", "this is a directory"),
        ("", "empty"),
        (tmp_path / ("x" * 300), "too long"),
        ("a\0b", "null byte"),
    ]
    for path, words in cases:
        for attempt in (
            check_writable,
            lambda p: write_atomic(p, lambda stream: stream.write(b"x")),
        ):
            with pytest.raises(InputError, match=words) as caught:
                attempt(path)
            assert caught.value.mend
    assert sorted(os.listdir(tmp_path)) == ["file", "pipe"]
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_a_directory_of_somebody_else(tmp_path):
    tmp_path.chmod(0o500)
    with nobody(), pytest.raises(InputError, match="may not be written to"):
        check_writable(tmp_path / "run.json")


def test_writers_that_want_a_name(tmp_path):
    with replacing(tmp_path / ("n" * 200 + ".nc")) as temporary:
        assert temporary.suffix == ".nc" and temporary.parent == tmp_path
        temporary.write_text("data")
    assert os.listdir(tmp_path) == ["n" * 200 + ".nc"]


# ---- interrupted ------------------------------------------------------------------------------------------------------
class Interrupting:
    """Raises KeyboardInterrupt before the k-th line of `workbench.files.atomic` that is run in the block, as Ctrl-C would."""

    def __init__(self, k: int):
        self.left = k

    def _line(self, frame, event, _):
        if not frame.f_code.co_filename.endswith("atomic.py"):
            return None
        if event == "line":
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt
        return self._line

    def __enter__(self):
        sys.settrace(self._line)
        return self

    def __exit__(self, *_):
        sys.settrace(None)


@pytest.fixture
def young():
    """What was there before the test is not looked through by each collection of it."""
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.usefixtures("young")
@pytest.mark.parametrize(
    "act",
    (lambda path: write_atomic(path, lambda stream: stream.write(b"new")), check_writable),
    ids=("write", "check"),
)
def test_interrupted_at_any_line(act, tmp_path):
    path, interrupted = tmp_path / "out.nc", 0
    for k in range(1, 200):
        path.write_bytes(b"old")
        try:
            with Interrupting(k) as interrupting:
                act(path)
        except KeyboardInterrupt:
            interrupted += 1
        gc.collect()
        assert [p.name for p in tmp_path.iterdir()] == ["out.nc"], k
        assert path.read_bytes() in (b"old", b"new"), k
        if interrupting.left > 0:
            break
    assert 10 < interrupted < 150 and interrupting.left > 0
    assert path.read_bytes() == (b"old" if act is check_writable else b"new")
