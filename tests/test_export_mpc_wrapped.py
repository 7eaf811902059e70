"""Predictive laws inside filters, limits, noise, quantisers and delays as C: the commands of the run, and of the loop."""

import numpy as np
import pytest
from actuator import mpc
from forging import planted

from controllers import Limit
from workbench import ClosedLoop, Hold, InputError, Scenario, simulate
from workbench.cases.file import loads
from workbench.contract.trust import trusting
from workbench.contract.wrappers import Delayed, Filtered, Noisy, Quantised, Sampled, Saturated
from workbench.interop.export.building import built
from workbench.interop.export.checking import against_run, sanitized
from workbench.interop.export.compiled import Compiled
from workbench.interop.export.laws import graph_of, run_of
from workbench.interop.export.manifest import read_manifest
from workbench.interop.export.package import export_law

LAW = mpc(limits=(Limit("Y", -1e-4, 1e-4),), N=8, known=())
T = LAW.T_s
ONE = {
    "filter": lambda law: Sampled(Filtered(law, 300.0), T),
    "limit": lambda law: Sampled(Saturated(law, -2e-5, 1e-4), T),
    "quantiser": lambda law: Sampled(Quantised(law, 1e-6), T),
    "noise": lambda law: Sampled(Noisy(law, 1e-6), T),
    "delay": lambda law: Delayed(Sampled(law, T), 2 * T),
}


def inside(law):
    """All of them at once."""
    seen = Filtered(Quantised(Noisy(law, 1e-7), 1e-6), 300.0)
    return Sampled(Saturated(seen, -2e-5, 1e-4), T)


def exported(controller, folder):
    """(graph, run, folder) of the law in this controller."""
    loop = ClosedLoop(LAW.model, controller)
    graph = graph_of(loop.controller)
    run = run_of(loop, Scenario(0.03, Hold("output", (5e-5,)), max_step=1e-4), graph)
    return loop, run, export_law(folder, graph, run)


@pytest.fixture(scope="module")
def everything(tmp_path_factory):
    """All wrappers, and a delay of two samples."""
    return exported(Delayed(inside(LAW), 2 * T), tmp_path_factory.mktemp("all") / "law")


def test_the_code_gives_the_commands_of_the_run(everything):
    loop, run, folder = everything
    code = Compiled(folder)
    found = against_run(code, run)
    assert found.well and "1e-09" in found.words and np.ptp(run.commands) > 1e-6
    assert run.commands.max() <= 1e-4 and run.commands.min() == -2e-5
    assert not run.commands[:2].any() and run.commands[2:].any()
    assert code.manifest["wrappers"] == [
        "Delayed",
        "Sampled",
        "Saturated",
        "Filtered",
        "Quantised",
        "Noisy",
    ]


def test_what_the_controller_saw_is_recorded_outside_its_wrappers(everything):
    """Measurements are the plant's, draws of the noise are among the references."""
    loop, run, _ = everything
    log = simulate(loop, Scenario(0.03, Hold("output", (5e-5,)), max_step=1e-4))
    assert np.array_equal(run.commands[:, 0], log["X"].values)
    assert [s.name for s in loop.controller.references][-1] == "noise_Y"
    assert np.array_equal(run.measured[:, 0], log["Y"].values) and np.ptp(run.references[:, -1]) > 1


def test_the_code_closes_the_loop(everything):
    """Another scenario, in which limits of the law and of the wrappers are active."""
    loop, _, folder = everything
    scenario = Scenario(0.06, Hold("output", (-9e-5,)), max_step=1e-4)
    before = simulate(loop, scenario)
    after = simulate(ClosedLoop(LAW.model, Compiled(folder)), scenario)
    moved = float(np.ptp(before["Y"].values))
    assert moved > 5e-5
    assert float(np.abs(after["Y"].values - before["Y"].values).max()) < 1e-9 * moved


CHANGED = {"filter": "  z->Y_filtered = v", "delay": "  z->X_queue1 = "}


@pytest.mark.parametrize("wrapper", CHANGED)
def test_a_fault_in_a_wrapper_is_refused(everything, tmp_path, wrapper):
    line = CHANGED[wrapper]
    halved = lambda code: code.replace(line, line.replace("= ", "= 0.5 * "))
    with pytest.raises(InputError, match="does not do what the verified law did"):
        Compiled(planted(everything[2], tmp_path, "law.c", halved))


def test_numbers_of_the_wrappers_are_in_the_digest(tmp_path):
    """Two limits, and nothing else, are different: so are the digests."""
    digests = set()
    for high in (1e-4, 2e-4):
        _, _, folder = exported(Sampled(Saturated(LAW, -2e-5, high), T), tmp_path / f"{high}")
        digests.add(read_manifest(folder)["digest"])
    assert len(digests) == 2


def test_commands_that_wait_less_than_a_sample_are_released(tmp_path):
    """Delayed by 1.4 samples: what is released within a sample is what the next step finds applied."""
    loop, run, folder = exported(Delayed(inside(LAW), 1.4 * T), tmp_path / "law")
    with pytest.raises(InputError, match="after its sample"):
        Compiled(folder)
    assert (
        loop.lag == pytest.approx(0.4 * T)
        and f"_LAG {loop.lag!r} " in (folder / "law.h").read_text()
    )
    data = read_manifest(folder)
    code = built(folder, data)
    z = code.start(run.inputs[0], np.array(data["initial"]))
    stepped, released = [], []
    for row in run.inputs:
        z, u = code.step(row, z)
        stepped.append(u)
        z, u = code.step(row, z, "release")
        released.append(u)
    assert np.array_equal(stepped[1:], released[:-1]) and np.ptp(stepped) > 1e-5
    assert np.abs(np.array(stepped) - run.commands).max() < 1e-9 * np.abs(run.commands).max()


@pytest.mark.long
@pytest.mark.parametrize("name", ONE)
def test_each_of_them_alone(tmp_path, name):
    _, run, folder = exported(ONE[name](LAW), tmp_path / "law")
    assert against_run(Compiled(folder), run).well
    assert sanitized(folder, "law").well in (True, None)


CASE = """
plant: ieha-published-linear
controller: {law: MPC, horizon: 8, S: 10, signals: [Y], observer: {σ_y: 1e-6, σ_d: 2e-6}}
loop: {sample_time: 2 ms, filter: {frequency: 100 Hz}, limit: 0.3 mm, delay: 2 ms}
scenario: {reference: {type: Hold, space: output, point: [1 mm]}, duration: 60 ms}
"""


def test_the_loop_section_goes_with_the_law(tmp_path):
    """A case file with a filter, a limit and a delay; as its code's law the file may not put them around it once more."""
    case = loads(CASE)
    graph = graph_of(case.loop.controller)
    run = run_of(case.loop, case.scenario, graph)
    export_law(tmp_path / "law", graph, run)
    assert against_run(Compiled(tmp_path / "law"), run).well
    text = CASE.replace(
        "{law: MPC, horizon: 8, S: 10, signals: [Y], observer: {σ_y: 1e-6, σ_d: 2e-6}}",
        "{law: Compiled, library: law}",
    )
    with trusting(), pytest.raises(InputError, match="loop.filter: .*in it already"):
        loads(text, str(tmp_path / "case.yaml"))
    bare = text.replace("loop: {sample_time: 2 ms,", "loop: {sample_time: 2 ms}\n#")
    with trusting():
        again = simulate(loads(bare, str(tmp_path / "case.yaml")).loop, case.scenario)
    before = simulate(case.loop, case.scenario)
    assert np.allclose(again["Y"].values, before["Y"].values, rtol=0, atol=1e-12)
    assert np.ptp(before["Y"].values) > 1e-5
