"""A handful of hostile inputs for every reader; thousands of them are in benchmarks/fuzz.py."""

import os
import signal

import pytest
from fuzz_readers import READERS, attempt, prepared
from fuzzing import hostile

# target → inputs here: what is dear is seldom
COUNTS = {
    "case": 40,
    "plan": 40,
    "sweep": 5,
    "reference": 40,
    "table": 40,
    "formula": 150,
    "unit": 100,
    "certificate": 40,
    "journal": 30,
    "command": 15,
    "log": 3,
    "mat": 2,
    "run": 2,
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with what inputs may name, where the reader stands; a reader that hangs is ended."""

    def late(*_):
        raise TimeoutError("20 s are over")

    before = signal.signal(signal.SIGALRM, late)
    monkeypatch.chdir(tmp_path)
    yield prepared(tmp_path)
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("target", READERS)
def test_a_reader_takes_it_or_says_what_is_wrong(target, folder):
    for k in range(COUNTS[target]):
        _, data = hostile(20, k, target)
        signal.alarm(60)
        trouble = attempt(target, data, folder)
        signal.alarm(0)
        assert trouble is None, (k, data[:2000])
        os.chdir(folder)


def test_the_same_seed_gives_the_same_inputs():
    for target in READERS:
        assert hostile(3, 7, target) == hostile(3, 7, target)
    assert hostile(3, 7) != hostile(4, 7)
    inputs = {hostile(3, k) for k in range(300)}
    assert len(inputs) > 250 and len({target for target, _ in inputs}) > 8


def test_trouble_is_seen(folder, monkeypatch):
    """The fuzzer itself: a reader that fails is told, with its place; one that refuses is not."""
    from workbench.contract.errors import InputError
    from workbench.verification.observed import expression

    def fails(*_):
        raise KeyError("slip")

    def refuses(*_):
        raise InputError("no formula")

    monkeypatch.setattr(expression, "formula", fails)
    assert attempt("formula", b"x", folder).startswith("KeyError at ")
    monkeypatch.setattr(expression, "formula", refuses)
    assert attempt("formula", b"x", folder) is None
