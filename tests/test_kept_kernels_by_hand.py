"""Files of compiled kernels as they are kept, ranges of a crane's joints on both branches, and limits of its commands."""

import hashlib
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest

from plants import machine
from plants.crane.poses import CranePoses
from plants.crane.segments import Revolute
from plants.metered.crane_names import MeteredCraneNames
from plants.valve_circuits import jit


@pytest.fixture
def files(tmp_path):
    """Files of this version and source, in a folder of their own."""
    own = object.__new__(jit._Files)
    own._index_path = str(tmp_path / "kept.nbi")
    own._version, own._source_stamp = "0.61", ("stamp", 7)
    own._data_path = lambda name: str(tmp_path / name)

    @contextmanager
    def opened(path):
        with open(path, "wb") as stream:
            yield stream

    own._open_for_write = opened
    return own


def test_what_is_kept_is_taken_up_by_the_same_version_and_source(files):
    files._save_index({"f": "kept.1.nbc"})
    assert files._load_index() == {"f": "kept.1.nbc"}
    files._source_stamp = ("stamp", 8)
    assert files._load_index() == {}
    files._source_stamp, files._version = ("stamp", 7), "0.62"
    assert files._load_index() == {}


def test_code_that_is_kept_is_whole_or_not_there(files, tmp_path):
    """Each file ends with the checksum of the rest."""
    files._save_data("one.nbc", {"code": [1, 2, 3]})
    assert files._load_data("one.nbc") == {"code": [1, 2, 3]}
    path = tmp_path / "one.nbc"
    whole = path.read_bytes()
    assert whole[-32:] == hashlib.sha256(whole[:-32]).digest()
    path.write_bytes(bytes([whole[0] ^ 1]) + whole[1:])
    with pytest.raises(OSError, match="damaged"):
        files._load_data("one.nbc")
    files._save_index({"f": "x"})
    path = tmp_path / "kept.nbi"
    path.write_bytes(path.read_bytes()[:-1])
    assert files._load_index() == {}
    path.unlink()
    assert files._load_index() == {}


@pytest.mark.parametrize("kept", [None, "files"])
def test_a_kernel_is_kept_where_there_is_a_place(monkeypatch, kept):
    """Compiled with the division of NumPy, which no zero stops, and while others run."""
    made = SimpleNamespace(_cache="none of its own")
    options = {}
    monkeypatch.setattr(
        jit.numba, "njit", lambda **given: options.update(given) or (lambda function: made)
    )
    monkeypatch.setattr(jit, "_cache_of", lambda function, where: kept)

    def kernel():
        return 1

    assert jit.jit(kernel) is made and kernel.__qualname__.endswith(jit._STAMP)
    assert made._cache == (kept or "none of its own")
    assert options == {"error_model": "numpy", "nogil": True}


@pytest.mark.parametrize(
    "place, kept",
    [("{}/kernels", True), ("{}", False), ("{}-other/kernels", False), ("/elsewhere", False)],
)
def test_a_kernel_is_kept_below_its_folder_and_nowhere_else(monkeypatch, tmp_path, place, kept):
    """Numba takes another place where it cannot write: then nothing is kept."""
    seen = []

    def cache(function):
        seen.append(jit.numba.config.CACHE_DIR)
        locator = SimpleNamespace(get_source_stamp=lambda: ("stamp", 7))
        impl = SimpleNamespace(locator=locator, filename_base="kernel")
        return SimpleNamespace(cache_path=place.format(tmp_path), _impl=impl)

    monkeypatch.setattr(jit.caching, "FunctionCache", cache)
    monkeypatch.setattr(jit, "_Files", lambda *given: given)
    before = jit.numba.config.CACHE_DIR
    found = jit._cache_of(len, str(tmp_path))
    assert seen == [str(tmp_path)] and before == jit.numba.config.CACHE_DIR
    if kept:
        assert found._cache_file == (f"{tmp_path}/kernels", "kernel", ("stamp", 7))
    else:
        assert found is None


@pytest.mark.parametrize("fault", [OSError, RuntimeError])
def test_a_folder_that_cannot_be_made_keeps_nothing(monkeypatch, fault):
    def cache(function):
        raise fault

    monkeypatch.setattr(jit.caching, "FunctionCache", cache)
    before = jit.numba.config.CACHE_DIR
    assert jit._cache_of(len, "/nowhere") is None and before == jit.numba.config.CACHE_DIR


def test_joints_turn_on_the_branch_of_the_pose():
    """As far to the other side: between retracted and extended cylinders, and the extension's stroke."""
    crane = machine("hiab-xs031").plant
    plain = CranePoses.joint_range(SimpleNamespace(pose=None, segments=crane.segments))
    for pose in ([1.0] * len(plain), [-1.0] * len(plain)):
        found = CranePoses.joint_range(SimpleNamespace(pose=pose, segments=crane.segments))
        for one, own, segment in zip(found, plain, crane.segments):
            turned = isinstance(segment, Revolute) and pose[0] > 0
            assert one == pytest.approx((-own[1], -own[0]) if turned else own)
    revolute = next(s for s in crane.segments if isinstance(s, Revolute))
    ends = [float(revolute.angle(revolute.x0 + x)) for x in (0.0, revolute.cylinder.stroke)]
    at = next(k for k, s in enumerate(crane.segments) if s is revolute)
    assert plain[at] == pytest.approx((min(ends), max(ends))) and -np.pi < plain[at][0] < 0


def test_commands_of_a_metered_crane_open_fully_both_ways():
    found = MeteredCraneNames.limits(SimpleNamespace(labels=("a", "b")))
    assert found == {"u_c_a": (-1.0, 1.0), "u_c_b": (-1.0, 1.0)}
