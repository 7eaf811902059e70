"""Predictive laws as C: the commands, statuses and fallbacks of the law in Python, also where nothing is feasible."""

import shutil
import subprocess

import numpy as np
import pytest
from actuator import Actuator, mpc
from exported import built
from fmu_client import Unit
from forging import planted

from controllers import Limit
from controllers.mpc.loop import BROKEN, SETTINGS, TOLERATED
from workbench import ClosedLoop, Hold, InputError, Sampled, Scenario
from workbench.interop.export import solver_text
from workbench.interop.export.checking import against_run, sanitized
from workbench.interop.export.compiled import Compiled
from workbench.interop.export.fmu.archive import packed
from workbench.interop.export.fmu.model import law_model
from workbench.interop.export.laws import graph_of, run_of, text_of
from workbench.interop.export.package import export_law
from workbench.interop.export.processor import missing, on_processor
from workbench.interop.export.ros2_package import export_ros2
from workbench.interop.export.structured_text import StructuredText

LAWS = {
    "hard limits": mpc(limits=(Limit("Y", -1e-4, 1e-4),), N=8, known=()),
    "soft limits, blocks": mpc(
        N=9, blocks=(1, 1, 2, 3), limits=(Limit("Y", -5e-5, 4e-5, soft=True),)
    ),
    "states measured, terminal set": mpc(
        Actuator(all_states=True), observer=None, N=8, known=(), terminal="set"
    ),
}


def exported(law, folder):
    loop = ClosedLoop(law.model, Sampled(law, law.T_s))
    scenario = Scenario(0.03, Hold("output", (5e-5,)), max_step=1e-4)
    graph = graph_of(loop.controller)
    run = run_of(loop, scenario, graph)
    return graph, run, Compiled(export_law(folder, graph, run))


@pytest.fixture(scope="module", params=list(LAWS))
def both(request, tmp_path_factory):
    law = LAWS[request.param]
    return law, *exported(law, tmp_path_factory.mktemp("mpc") / "law")


def test_the_code_gives_the_commands_of_the_run(both):
    _, _, run, compiled = both
    found = against_run(compiled, run)
    assert found.well and "1e-09" in found.words and np.ptp(run.commands) > 1e-6


def driven(law, compiled, graph, size, rng, samples=60):
    """(commands, status, fallback) of the law in Python and in C, over samples that no machine gives."""
    z, memory = law.initial(), compiled.initial()
    ours, theirs = [], []
    r = np.zeros(len(graph.references))
    for k in range(samples):
        y = size * rng.normal(size=len(graph.measured)) * (k % 20 > 8)
        r = np.where(rng.random(len(r)) < 0.1, 5e-5 * rng.normal(size=len(r)), r)
        if k == 0:
            z = law.start(0.0, z, y, r)
            memory = compiled.start(0.0, memory, y, r)
        z, u = law.step(0.0, z, y, r)
        memory, v = compiled.step(0.0, memory, y, r)
        ours.append([*u, z.last.solution.status, z.last.fallback])
        told = dict(zip((s.name for s in graph.memory), memory))
        theirs.append([*v, told["status"], told["fallback"]])
    return np.array(ours, float), np.array(theirs)


@pytest.mark.parametrize("size", [2e-5, 3e-3])
def test_status_and_fallback_are_those_of_the_law(both, size):
    law, graph, _, compiled = both
    ours, theirs = driven(law, compiled, graph, size, np.random.default_rng(5))
    assert np.array_equal(ours[:, 1:], theirs[:, 1:])
    assert np.abs(ours[:, 0] - theirs[:, 0]).max() <= 1e-9 * np.abs(ours[:, 0]).max() > 0


def test_the_stand_ins_were_tried(both):
    """Where limits are hard, samples without a solution are among those above: the last one stands in, then the terminal law."""
    law, graph, _, compiled = both
    if not law.limits or law.limits[0].soft:
        pytest.skip("its limits are soft, or those of commands alone")
    _, theirs = driven(law, compiled, graph, 3e-3, np.random.default_rng(5))
    assert {1.0, 2.0} <= set(theirs[:, 2]) and theirs[:, 1].min() < 0


def test_the_same_numbers_stand_in_both():
    """What the code has of the solver's settings is what the law has."""
    assert solver_text.SETTINGS["primal_tol"] == SETTINGS["primal_tol"]
    assert solver_text.SETTINGS["dual_tol"] == SETTINGS["dual_tol"]
    assert solver_text.SETTINGS["iterations"] == SETTINGS["iter_limit"]
    assert (solver_text.TOLERATED, solver_text.BROKEN) == (TOLERATED, BROKEN)


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_no_name_is_one_of_a_c_library(both):
    """With the extensions of GNU's and BSD's on, math.h declares more than C99 has: newlib's does so always."""
    _, _, _, compiled = both
    told = ["cc", "-std=gnu11", "-D_GNU_SOURCE", "-fsyntax-only", str(compiled.folder / "law.c")]
    assert subprocess.run(told, capture_output=True, text=True).stderr == ""


@pytest.mark.long
def test_a_processor_gives_the_commands_of_the_run(both):
    if missing():
        pytest.skip(missing())
    _, _, run, compiled = both
    found = on_processor(compiled.folder, compiled.manifest, run)
    apart = np.abs(found.commands - run.commands[: len(found.commands)]).max()
    assert apart <= 1e-9 * np.abs(run.commands).max() and found.instructions > 1000


def test_the_solvers_source_and_licence_go_along(both):
    _, _, _, compiled = both
    given = {path.name for path in (compiled.folder / "daqp").iterdir()}
    assert {"LICENSE", "README.md", "daqp.c", "types.h"} <= given
    header = (compiled.folder / "law.h").read_text()
    assert (
        "#define LAW_ITERATIONS 2000" in header and "#define LAW_OPERATIONS_OF_ITERATION" in header
    )
    source = compiled.folder / "daqp" / "daqp.c"
    kept = source.read_text()
    try:
        source.write_text(kept + "\n")
        with pytest.raises(InputError, match="daqp.c was changed"):
            Compiled(compiled.folder)
    finally:
        source.write_text(kept)


@pytest.mark.long
@pytest.mark.skipif(shutil.which("g++") is None, reason="no C++ compiler")
def test_it_is_a_controller_of_ros(both, tmp_path):
    """Its package is compiled and driven along the run; a law without parameters has nothing to prepare."""
    law, graph, run, _ = both
    folder = export_ros2(tmp_path / "mpc_law", graph, run, limits={})
    sizes = [len(s) for s in (graph.commands, graph.measured, graph.references)]
    made = built(folder)
    said = subprocess.run(
        [made, folder / "law" / "run.csv", *map(str, sizes), str(round(1 / law.T_s))],
        capture_output=True,
        text=True,
        check=True,
    )
    rows = [line.split() for line in said.stdout.splitlines() if line[0].isdigit()]
    found = np.array([[float.fromhex(v) for v in row[2:]] for row in rows])
    assert np.abs(found - run.commands).max() <= 1e-9 * np.abs(run.commands).max()


@pytest.mark.parametrize("version", [2, 3])
def test_its_fmu_makes_the_run(both, tmp_path, version):
    """By a master of our own, and without a problem that FMPy finds where it is installed."""
    law, graph, run, _ = both
    if law is not LAWS["hard limits"]:
        pytest.skip("one of them is enough")
    path = tmp_path / "law.fmu"
    model = law_model(text_of(graph, name="law"), run)
    path.write_bytes(packed(model, version))
    unit = Unit(path, tmp_path / "unit")
    instance = unit.instance()
    given = unit.of("input")
    instance.begin(dict(zip(given, run.inputs[0, 1:])))
    found = []
    for k, row in enumerate(run.inputs[:, 1:]):
        instance.set(dict(zip(given, row)))
        instance.step(k * law.T_s, law.T_s)
        found.append(instance.get(unit.of("output")))
    assert np.abs(np.array(found) - run.commands).max() <= 1e-9 * np.abs(run.commands).max() > 0
    validation = pytest.importorskip("fmpy.validation", reason="FMPy is not installed")
    assert validation.validate_fmu(str(path)) == []


@pytest.mark.long
def test_it_runs_without_undefined_behaviour(both):
    assert sanitized(both[3].folder, "law").well in (True, None)


def test_a_changed_number_is_refused(both, tmp_path):
    if both[0] is not LAWS["hard limits"]:
        pytest.skip("one of them is enough")

    def first(code):
        at = code.index("0.", code.index("law_default_constants = {"))
        return code[:at] + "1." + code[at + 2 :]

    with pytest.raises(InputError, match="numbers in the library are not those"):
        Compiled(planted(both[3].folder, tmp_path, "law.c", first))


def test_a_changed_sign_is_refused(both, tmp_path):
    """Its hash is made to fit, and its numbers are those of the digest: the rows of its run tell."""
    if both[0] is not LAWS["hard limits"]:
        pytest.skip("one of them is enough")
    turned = lambda code: code.replace("x[i] += dot(k->L", "x[i] -= dot(k->L", 1)
    with pytest.raises(InputError, match="does not do what the verified law did"):
        Compiled(planted(both[3].folder, tmp_path, "law.c", turned))


def test_what_has_no_text_is_refused(tmp_path):
    law = LAWS["hard limits"]
    loop = ClosedLoop(law.model, Sampled(law, law.T_s))
    with pytest.raises(InputError, match="no structured text"):
        StructuredText(graph_of(loop.controller)).text()
    graph = graph_of(loop.controller)
    with pytest.raises(InputError, match="--float"):
        export_law(tmp_path / "law", graph, None, single=True)
    assert not list(tmp_path.iterdir())
