"""Options of identification that no record bears: a sentence each, and what is sound beside it."""

import numpy as np
import pytest

from workbench.commands.cli import main
from workbench.identification import read_record

NAMED = ["identify", "t.csv", "--input", "X", "--quiet"]
IDENTIFY = [*NAMED, "--output", "Y", "--order", "1"]


@pytest.fixture
def record(tmp_path, monkeypatch):
    """First-order lag of 0.2 s under a square wave, 400 samples at 100 Hz."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FLUIDPROOF_DEBUG", "1")  # what is no InputError is raised
    t = np.arange(400) * 0.01
    x = np.sign(np.sin(4.0 * t))
    x[0] = 0.0
    y = np.zeros(400)
    for k in range(399):
        y[k + 1] = x[k] + (y[k] - x[k]) * np.exp(-0.05)
    rows = "".join(f"{a:.6g},{b:.6g},{c:.9g}\n" for a, b, c in zip(t, x, y))
    (tmp_path / "t.csv").write_text("time [s],X [mm],Y [bar]\n" + rows)
    return tmp_path / "t.csv"


@pytest.mark.parametrize(
    "options, words",
    (
        (["--decimate", "1000000000"], "decimate: every 1000000000-th of 400 samples"),
        (["--resample", "1e-12 s"], "samples"),
        (["--resample", "1e-300"], "samples"),
        (["--period", "1e300 s"], "steps of time"),
        (["--period", "1e-300 s"], "steps of time"),
        (["--delay", "1e300"], "delay of X"),
        (["--delay", "1e9"], "delay of X"),
    ),
)
def test_options_that_no_record_bears(options, words, record, capsys):
    assert main(IDENTIFY + options) == 3
    said = capsys.readouterr().err
    assert words in said and "mend: " in said and len(said) < 1000


@pytest.mark.parametrize("order", ("²", "9" * 400))
def test_orders_that_are_no_numbers(order, record, capsys):
    assert main([*NAMED, "--output", "Y", "--order", order]) == 3
    said = capsys.readouterr().err
    assert "--order: '" in said and "mend: " in said and len(said) < 1000


def test_options_that_a_record_bears(record):
    assert main(IDENTIFY + ["--decimate", "2", "--delay", "0.01"]) == 0
    assert read_record(record, ["X"], ["Y"], resample=2e-3).T == pytest.approx(2e-3)
    assert read_record(record, ["X"], ["Y"], period=1e-6).T == pytest.approx(1e-6)


@pytest.mark.parametrize("epoch", ("9" * 30, "²", "-5", ""))
def test_a_day_that_is_none(epoch, monkeypatch):
    from workbench.commands.outputs import _today

    monkeypatch.setenv("SOURCE_DATE_EPOCH", epoch)
    assert _today() > "2024"
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    assert _today() == "1970-01-01"
