"""Graphs kept between processes: the same to the last bit, and only while text, graph key and versions are what they were."""

import os
import sys
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np
import pytest

import controllers.vdc.law as LAW
import plants.components.valve as VALVE
from controllers import VDC
from plants import LinearActuator
from workbench import ClosedLoop, Sampled, changed
from workbench.contract import as_written as AS_WRITTEN
from workbench.contract import own_text as OWN_TEXT
from workbench.numerics import calculus as CALCULUS
from workbench.numerics import code_cache
from workbench.numerics import kept_graphs as KEPT
from workbench.numerics.kept_graphs import Graphs, kept


@pytest.fixture(autouse=True)
def fresh(monkeypatch, tmp_path):
    """An empty folder, in a process in which nothing was replaced yet; everything is worth keeping."""
    tmp_path.chmod(0o700)
    monkeypatch.setenv("FLUIDPROOF_CACHE", str(tmp_path))
    monkeypatch.setattr(OWN_TEXT, "_version", OWN_TEXT._Version())
    monkeypatch.setattr(AS_WRITTEN, "_checked", {})
    monkeypatch.setattr(KEPT, "WORTH", -1.0)
    monkeypatch.setattr(KEPT, "LONG", 0)
    return tmp_path


@pytest.fixture
def loop(two_joint):
    return ClosedLoop(two_joint, Sampled(VDC(two_joint), 1e-3))


class Counted:
    """Makes graphs, and counts how often."""

    def __init__(self):
        self.times = 0

    def __call__(self):
        self.times += 1
        x = ca.SX.sym("x", 2)
        f = ca.Function("f", [x], [ca.vertcat(ca.sin(x[0]) / 3.1, x[1] - 0.1)])
        return Graphs({"f": f}, {"names": ["a", "β"], "n": 7, "none": None})


def test_made_once_and_read_back_to_the_last_bit(loop, fresh):
    make = Counted()
    first = kept("any", loop, ("w",), make)
    again = kept("any", loop, ("w",), make)
    assert make.times == 1
    assert again.words == first.words == {"names": ["a", "β"], "n": 7, "none": None}
    assert again.functions["f"].serialize() == first.functions["f"].serialize()
    x = np.array([0.3, -2.7])
    assert bytes(np.array(again.functions["f"](x))) == bytes(np.array(first.functions["f"](x)))
    assert {path.stat().st_mode & 0o077 for path in fresh.glob("graphs-*.json")} == {0}


def test_numbers_are_none_of_the_key_everything_else_is(loop, two_joint, monkeypatch):
    make = Counted()
    kept("any", loop, ("w",), make)
    heavier = ClosedLoop(changed(two_joint, {"payload.mass": 31.0}), loop.controller)
    kept("any", heavier, ("w",), make)
    assert make.times == 1
    kept("any", loop, ("w", "v"), make)
    kept("other", loop, ("w",), make)
    kept("any", replace(loop, controller=VDC(two_joint)), ("w",), make)
    assert make.times == 4
    monkeypatch.setattr(AS_WRITTEN, "files_digest", lambda: "another text")
    kept("any", loop, ("w",), make)
    assert make.times == 5


def test_a_replaced_method_or_constant_is_traced_anew(loop, monkeypatch, fresh):
    make = Counted()
    kept("any", loop, (), make)
    files = sorted(fresh.iterdir())
    replaced = [
        (LAW.VDC, "command", lambda self, t, z, y, r: [0.0]),
        (VALVE, "D_MIN", 2 * VALVE.D_MIN),
        (VALVE.Valve, "supply_flow", VALVE.Valve.tank_flow),
    ]
    for k, (where, name, value) in enumerate(replaced, start=2):
        with monkeypatch.context() as patch:
            patch.setattr(where, name, value)
            patch.setattr(AS_WRITTEN, "_checked", {})
            patch.setattr(
                OWN_TEXT, "_version", OWN_TEXT._Version()
            )  # replaced before the first look
            kept("any", loop, (), make)
            assert make.times == k
    with monkeypatch.context() as patch:  # after it
        patch.setattr(LAW.VDC, "command", LAW.VDC.required)
        kept("any", loop, (), make)
        assert make.times == 5
    assert sorted(fresh.iterdir()) == files
    kept("any", loop, (), make)
    assert make.times == 5


def test_parts_of_somebody_else_are_traced_anew(loop, fresh):
    @dataclass(frozen=True)
    class Own(VDC):
        pass

    make = Counted()
    own = replace(loop, controller=Sampled(Own(loop.plant), 1e-3))
    for _ in range(2):
        kept("any", own, (), make)
    assert make.times == 2 and not list(fresh.iterdir())


@pytest.mark.parametrize("damage", ("cut", "changed", "sealed anew"))
def test_a_damaged_file_is_made_anew(loop, fresh, damage):
    make = Counted()
    kept("any", loop, (), make)
    (file,) = fresh.glob("graphs-*.json")
    data = file.read_bytes()
    spoilt = data[:-20] if damage == "cut" else data[:40] + b"?" + data[41:]
    file.write_bytes(spoilt)
    if damage == "sealed anew":
        code_cache.seal(file).write_text(code_cache.stamp(spoilt))
    kept("any", loop, (), make)
    kept("any", loop, (), make)
    assert make.times == 2 and file.read_bytes() == data


def test_graphs_of_older_texts_are_removed(loop, fresh, monkeypatch):
    for text in "abcde":
        monkeypatch.setattr(AS_WRITTEN, "files_digest", lambda text=text: 20 * text)
        kept("any", loop, (), Counted())
        for file in fresh.glob(f"graphs-{text}*"):
            os.utime(file, (ord(text), ord(text)))
    left = {KEPT._generation(file)[0] for file in fresh.glob("graphs-*")}
    assert left == {"c", "d", "e"}


def test_a_trace_from_disk_is_the_trace(monkeypatch, fresh):
    plant = LinearActuator()
    before = dict(CALCULUS._traces)
    CALCULUS._traces.clear()
    made = CALCULUS.trace(plant, ())
    CALCULUS._traces.clear()
    found = []
    look = KEPT._read
    monkeypatch.setattr(KEPT, "_read", lambda file: found.append(look(file)) or found[-1])
    read = CALCULUS.trace(plant, ())
    CALCULUS._traces.update(before)
    assert found[-1] is not None and read is not made and vars(read).keys() == vars(made).keys()
    for name, value in vars(made).items():
        if isinstance(value, ca.Function):
            assert getattr(read, name).serialize() == value.serialize(), name
        else:
            assert getattr(read, name) == value and type(getattr(read, name)) is type(value), name


def test_the_librarys_modules_are_as_written():
    """Else nothing would ever be kept."""
    loaded = [
        m
        for name, m in sys.modules.items()
        if name.startswith((*OWN_TEXT.TRACED, *AS_WRITTEN.TRACING))
    ]
    assert len(loaded) > 60
    assert not [m.__name__ for m in loaded if not AS_WRITTEN.as_written(m)]
