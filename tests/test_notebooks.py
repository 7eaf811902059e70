"""The notebooks run from top to bottom without a display, and moving a gain compiles nothing."""

import importlib
import os
import shutil
from dataclasses import replace
from pathlib import Path

import nbclient
import nbformat
import pytest

from controllers import VDC
from plants import machine
from reports.studies import alfayad16_control as alfayad16
from workbench import ClosedLoop, Sampled, Scenario, Sine, simulate
from workbench.verification import examine
from workbench.verification.claims import Identity
from workbench.verification.run_claims import Settled, Tracking

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
REPORTS = {"tune_vdc": "tuned.pdf"}  # what a notebook writes


def executed(path, folder):
    """The notebook with its outputs. A kernel and its client that both wait for the other's message are started again."""
    known = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    for left in (2, 1, 0):
        book = nbformat.read(path, 4)
        client = nbclient.NotebookClient(
            book, timeout=150, resources={"metadata": {"path": str(folder)}}
        )
        try:
            client.execute(env=os.environ | {"PYTHONPATH": known})
            return book
        except nbclient.exceptions.CellTimeoutError:
            if not left:
                raise


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_runs_headless(path, tmp_path):
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    folder = shutil.copytree(ROOT / "notebooks", tmp_path / "notebooks")
    book = executed(path, folder)
    outputs = [output for cell in book.cells for output in cell.get("outputs", [])]
    assert sum("image/png" in output.get("data", {}) for output in outputs) >= 4
    assert any(
        "application/vnd.jupyter.widget-view+json" in output.get("data", {}) for output in outputs
    )
    complaints = [output["text"] for output in outputs if output.get("name") == "stderr"]
    assert all("virtual machine" in text for text in complaints), (
        complaints
    )  # said where there is no compiler
    if path.stem in REPORTS:
        assert (folder / REPORTS[path.stem]).read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_no_outputs_are_stored(path):
    assert not any(
        cell.get("outputs") or cell.get("execution_count") for cell in nbformat.read(path, 4).cells
    )


def guarded(monkeypatch, *names):
    """A list; once something is in it, what compiles is refused. Replaced beforehand: replacing code later is a reason to trace."""
    armed = []

    def guard(name):
        module, _, last = name.rpartition(".")
        own = getattr(importlib.import_module(module), last)

        def called(*arguments, **options):
            if armed:
                raise AssertionError("a move compiles")
            return own(*arguments, **options)

        monkeypatch.setattr(name, called)

    for name in names:
        guard(name)
    return armed


def test_gains_and_sample_time_are_numbers_to_the_compiled_loop(monkeypatch):
    crane = machine("hiab-xs031").plant.locked(extension=0.5)
    scenario = Scenario(4.0, Sine("joint", "start", (0.03, 0.05), 0.2))

    def move(**gains):
        T_s = gains.pop("T_s", 1e-3)
        return examine(
            ClosedLoop(crane, Sampled(VDC(crane, **gains), T_s)),
            scenario,
            (Tracking(), Identity(), Settled()),
        ).log

    armed = guarded(
        monkeypatch,
        "workbench.numerics.c_code.library",
        "workbench.numerics.calculus._trace",
        "workbench.verification.ledger.balance.LedgerFunction",
    )
    before = move()

    armed.append(True)
    after = move(λ=(11.0,), κ=13.0, k_x=(4e-3,), βk_f=(90.0,), T_s=2e-3)
    assert abs(after.array("e_q_1")).max() != abs(before.array("e_q_1")).max()
    with pytest.raises(AssertionError, match="a move compiles"):
        move(derivative="zero")  # another graph: it does compile


def test_horizon_weights_and_observer_are_numbers_to_the_compiled_plant(monkeypatch):
    scenario = replace(alfayad16.TRACK, duration=0.5)

    def move(plant=alfayad16.CONTROL, **settings):
        law = alfayad16.mpc(**settings)
        return simulate(ClosedLoop(plant, law), scenario).array("X"), alfayad16.open_loop(
            law
        ).A.shape

    armed = guarded(
        monkeypatch, "workbench.numerics.c_code.library", "workbench.numerics.calculus._trace"
    )
    X, shape = move()
    armed.append(True)
    observer = replace(alfayad16.mpc().observer, σ_d=(1e-7,))
    again, same = move(move=3.0, N=25, observer=observer, model=replace(alfayad16.LINEAR, K=121.0))
    assert same == shape and abs(again - X).max() > 1e-6
    with pytest.raises(AssertionError, match="a move compiles"):
        move(replace(alfayad16.CONTROL, circuit="open"))  # another graph: it does compile
