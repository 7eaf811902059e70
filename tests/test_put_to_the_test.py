"""What a run puts to the test: samples at which parts are asked, sentences that one sample decides, errors as wide as a path."""

from types import SimpleNamespace

import numpy as np
import pytest

from workbench.verification.observed import reachable
from workbench.verification.temporal import syntax as S
from workbench.verification.temporal.put_to import asked_at, covered
from workbench.verification.temporal.robustness import Monitor
from workbench.verification.temporal.sentence import read
from workbench.verification.temporal.windows import Instants

TIME = np.arange(6.0)
UNITS = {"x": "m", "y": "m", "time": "s"}


def answer(text, x, y=None):
    columns = {"x": np.array(x, float), "y": np.array(y or [0] * 6, float), "time": TIME}
    return read(text, UNITS), columns


def test_intervals_of_samples():
    found = covered(np.array([1, 4, 3]), np.array([2, 4, 1]), 6)
    assert found.tolist() == [False, True, True, False, True, False]
    assert not covered(np.zeros(0, int), np.zeros(0, int), 3).any()


@pytest.mark.parametrize(
    "text, left, right",
    [
        ("x < 1 m and always[2 s, 3 s] (y < 1 m)", "100000", "001100"),
        ("always[1 s, 2 s] (x < 1 m implies eventually[1 s, 2 s] (y < 1 m))", "011000", "001110"),
        ("x < 1 m until[2 s, 4 s] y > 1 m", "111110", "001110"),
        ("x < 1 m until[2 s, 4 s] y < 1 m", "110000", "001000"),
        ("x < 1 m until y < 1 m", "000000", "100000"),
        ("always[3 s, 4 s] (x < 1 m since[1 s, 2 s] y > 1 m)", "011110", "011100"),
        ("always[3 s, 4 s] (x < 1 m since[1 s, 2 s] y < 1 m)", "000110", "001100"),
        ("always[4 s, end] (x < 1 m or once[1 s, 1 s] (y < 1 m))", "000011", "000110"),
    ],
)
def test_samples_at_which_parts_are_asked(text, left, right):
    sentence, columns = answer(text, [0] * 6)
    both = S.comparisons(sentence.formula)
    monitor = Monitor(
        Instants(TIME), {c: np.full(6, 0.0 if c.operator == "<" else -1.0) for c in both}
    )
    found = asked_at(monitor, sentence.formula)
    told = ["".join(str(int(v)) for v in found[id(c)]) for c in both]
    assert told == [left, right]


@pytest.mark.parametrize(
    "text, x, idle",
    [
        ("(always[0 s, 2 s] (x > 1 m)) implies (always (y < 3 m))", [0, 0, 0, 2, 2, 2], True),
        ("(always[0 s, 2 s] (x > 1 m)) implies (always (y < 3 m))", [2, 2, 2, 0, 0, 0], False),
        ("always[0 s, 2 s] (x > 1 m implies y < 3 m)", [0, 0, 0, 2, 2, 2], True),
        ("always[0 s, 3 s] (x > 1 m implies y < 3 m)", [0, 0, 0, 2, 2, 2], False),
        ("not (eventually (x > 1 m and y > 1 m))", [0] * 6, True),
        ("not (eventually (x > 1 m and y > 1 m))", [2] * 6, False),
        ("always (not (x > 1 m until y > 1 m))", [0] * 6, True),
        ("always (not (x > 1 m until y > 1 m))", [0, 0, 2, 2, 0, 0], False),
        ("not (eventually (y > 1 m or (x > 1 m and y > 2 m)))", [0] * 6, True),
        ("(x > 1 m implies y < 3 m) until (time >= 2 s)", [0, 0, 0, 2, 2, 2], True),
        ("(x > 1 m implies y < 3 m) until (time >= 2 s)", [0, 2, 0, 2, 2, 2], False),
        ("eventually (x > 1 m and y > 1 m) implies always (y < 1 m)", [0] * 6, True),
    ],
)
def test_what_was_never_true_where_it_was_asked(text, x, idle):
    sentence, columns = answer(text, x)
    found = sentence.on(TIME, columns)
    assert found.holds is True and bool(found.idle) is idle


@pytest.mark.parametrize(
    "text, blind",
    [
        ("always (historically[7 s, 9 s] (x > 1 m)) and always (y < 1 m)", True),
        ("always[0 s, 1 s] (y < 1 m and historically[2 s, 9 s] (x > 1 m))", True),
        ("always (not (y < 1 m since[7 s, 9 s] x > 1 m)) and always (y < 1 m)", True),
        ("always[0 s, 2 s] (y < 1 m and historically[2 s, 9 s] (x < 1 m))", False),
        ("always (y < 1 m) or eventually[7 s, 9 s] (x > 1 m)", False),
    ],
)
def test_what_looks_back_at_nothing(text, blind):
    sentence, columns = answer(text, [0] * 6)
    found = sentence.on(TIME, columns)
    assert found.holds is True and bool(found.blind) is blind


@pytest.mark.parametrize(
    "text, decides",
    [
        ("always (once (x < 1 m))", True),
        ("always (once[0 s, 9 s] (x < 1 m))", True),
        ("always (once[0 s, 4 s] (x < 1 m))", False),
        ("eventually (x < 1 m)", True),
        ("always (x < 1 m)", False),
        ("always (y < 1 m since x < 1 m)", False),
        ("always (time < 1 s or x < 1 m)", False),
        ("always (time < 9 s or x < 1 m)", True),
        ("not (always (x > 1 m))", True),
        ("always (once (x <= 0 m))", True),
    ],
)
def test_sentences_that_the_first_sample_decides(text, decides):
    sentence, columns = answer(text, [0] * 6)
    assert sentence.by_first_sample(TIME, columns) is decides


# ---- errors that a machine which stays where it began would have --------------------------------------------------------
@pytest.mark.parametrize(
    "text, margin, wide",
    [
        ("abs(e_x) < 9 m", 5.0, True),
        ("abs(e_x) < 9 m", 4.9, False),
        ("x_d - x < 9 m", 5.0, True),
        ("x < 9 m", 5.0, False),
        ("abs(e_z) < 9 m", 5.0, False),
        ("abs(e_s) < 9 m", 0.4, False),
        ("abs(e_s) < 9 m", 0.5, True),
    ],
)
def test_an_error_as_wide_as_the_way_of_its_reference_says_nothing(monkeypatch, text, margin, wide):
    """x is wanted up to 5 m from where it began, s up to 0.1 m; z stays."""
    wanted = np.array([0.0, 5.0, 1.0])
    x = np.array([0.0, 4.0, 1.0])
    told = {"e_x": wanted - x, "e_s": wanted / 50, "e_z": np.zeros(3)}
    log = SimpleNamespace(
        names=("x", "x_d", "s", "z"),
        array=lambda n: x if n == "x" else np.zeros(3),
        signal=lambda n: SimpleNamespace(unit="m"),
    )
    run = SimpleNamespace(fine=SimpleNamespace(log=log), error_unit="m")
    run.loop = SimpleNamespace(plant=None)
    monkeypatch.setattr(reachable, "columns", lambda run, names: {n: told[n] for n in names})
    monkeypatch.setattr(reachable, "joint_errors", lambda run: dict.fromkeys("xsz"))
    monkeypatch.setattr(reachable, "scales", lambda plant: SimpleNamespace(of_unit=lambda u: None))
    found = reachable._room(text, run, {"margin": margin, "unit": "m"})
    assert bool(found) is wide
    assert not wide or "is more than the whole movement" in found
