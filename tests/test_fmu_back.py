"""Our plants that left as FMUs and come back: the same run to the last bit, the same verdicts."""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from exported_parts import LOOP, exported_part, scenario

from workbench import FMU, ClosedLoop, InputError, Sampled, Scenario, simulate, verify
from workbench.cases.file import load
from workbench.contract.system import innermost
from workbench.contract.trust import trusting
from workbench.interop.export.fmu.archive import packed
from workbench.interop.export.fmu.model import system_model
from workbench.interop.export.system_package import system_text
from workbench.interop.export.system_run import system_graph
from workbench.numerics.compiler import compiler
from workbench.verification import claims as C

pytest.importorskip("fmpy")
pytestmark = pytest.mark.skipif(compiler() is None, reason="no C compiler")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("back")
    system, run = exported_part("plant")
    model = system_model(system_text(system, run, "plant"), run)
    for version in (2, 3):
        (folder / f"axis{version}.fmu").write_bytes(packed(model, version))
    return folder


def back(files, version, **given):
    states = {name: f"state.{name}" for name in ("x", "v", "p")}
    seen = {name: states[name] for name in ("x", "p")}
    connect = {"disturbances": ["F"], "states": states, "outputs": seen}
    return FMU(files / f"axis{version}.fmu", trust=True, connect=connect, **given)


@pytest.mark.parametrize("version", [2, 3])
def test_the_loop_on_it_is_the_loop_that_it_came_from(files, version):
    there = replace(scenario(), offset={"x": 1e-4, "v": 2e-3})
    own = simulate(LOOP, there)
    found = simulate(ClosedLoop(back(files, version), LOOP.controller), there)
    for name in ("x", "v", "p", "u"):
        assert np.array_equal(found.array(name), own.array(name)), name
    assert np.ptp(own.array("x")) > 1e-5


@pytest.mark.long
def test_its_verdicts_are_those_of_the_case_it_came_from(files):
    asked = (
        C.Tracking(error=2e-3, settle=0.05),
        C.PracticalStability(runs=2, settle=0.1, duration=0.4, longest=0.4),
    )
    there = replace(scenario(), duration=0.3)
    ours = verify(LOOP, there, asked)
    theirs = verify(ClosedLoop(back(files, 3), LOOP.controller), there, asked)
    for one, other in zip(ours, theirs):
        assert one.holds is not None
        assert (one.key, one.holds, one.margin) == (other.key, other.holds, other.margin)


def test_its_parameters_are_set(files):
    there = Scenario(0.05, disturbances={"F": 60.0})
    axis = replace(LOOP.plant, m=20.0)
    own = simulate(
        ClosedLoop(axis, LOOP.controller), replace(there, reference=scenario().reference)
    )
    found = simulate(
        ClosedLoop(back(files, 2, parameters={"m": 20.0}), LOOP.controller),
        replace(there, reference=scenario().reference),
    )
    assert np.array_equal(found.array("x"), own.array("x"))


def test_the_shipped_case_with_a_plant_from_elsewhere_runs(tmp_path):
    """The FMU holds F_ext over a sample, where our own plant takes it at every stage: near, not equal."""
    folder = Path(__file__).parents[1] / "examples"
    ours = load(folder / "ieha-pid.yaml")
    short = replace(ours.scenario, duration=0.3)
    graph, run = system_graph(ours.loop, short, "plant")
    model = system_model(system_text(graph, run, "plant"), run)
    (tmp_path / "axis.fmu").write_bytes(packed(model, 3))
    shutil.copy(folder / "foreign" / "axis.yaml", tmp_path)
    with trusting():
        theirs = load(tmp_path / "axis.yaml")
    assert repr(theirs.scenario) == repr(ours.scenario)
    own = simulate(ours.loop, short).array("Y")
    found = simulate(theirs.loop, short).array("Y")
    assert np.ptp(own) > 1e-3 and np.abs(found - own).max() < 2e-6


def test_no_step_of_a_run_is_shorter_than_that_of_the_machine_itself(tmp_path):
    """A plant that left a loop of 2 ms steps by 2 ms, where a run takes 1 ms by default; a sample it does not fit is refused."""
    ours = load(Path(__file__).parents[1] / "examples" / "ieha-pid.yaml")
    slow = ClosedLoop(ours.loop.plant, Sampled(innermost(ours.loop.controller), 2e-3))
    short = replace(ours.scenario, duration=0.3)
    graph, run = system_graph(slow, short, "plant")
    (tmp_path / "axis.fmu").write_bytes(
        packed(system_model(system_text(graph, run, "plant"), run), 3)
    )
    shutil.copy(Path(__file__).parents[1] / "examples" / "foreign" / "axis.yaml", tmp_path)
    with trusting():
        axis = load(tmp_path / "axis.yaml").loop
    own = simulate(slow, short).array("Y")
    found = simulate(ClosedLoop(axis.plant, Sampled(innermost(axis.controller), 2e-3)), short)
    assert np.ptp(own) > 1e-3 and np.abs(found.array("Y") - own).max() < 5e-6
    with pytest.raises(InputError, match="takes steps of 0.002 s of its own"):
        simulate(ClosedLoop(axis.plant, Sampled(innermost(axis.controller), 3e-3)), short)
