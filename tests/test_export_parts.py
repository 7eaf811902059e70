"""Plants and loops as C: the run to the last bit, what cannot be exported is said, and a fault in the code is seen."""

import json
import shutil
import subprocess
from dataclasses import dataclass, replace

import numpy as np
import pytest
from exported_parts import LOOP, Axis, Law, exported_part, scenario

from workbench import ClosedLoop, InputError, Sine
from workbench.contract.wrappers import Delayed, Sampled
from workbench.interop.export.checking import linted, sanitized
from workbench.interop.export.system_command import UNFOLLOWED
from workbench.interop.export.system_package import export_system, system_digest, system_text
from workbench.interop.export.system_run import system_graph
from workbench.numerics.adaptive import Adaptive, Fixed
from workbench.numerics.compiler import compiler

EXPLICIT = ("hiab-xs031-pid", "two-cylinders", "arm-imv-vdc", "excavator")
MACHINES = (
    *EXPLICIT,
    "ieha-pid",
    "ieha-friction",
    "ieha-arm",
    "four-bar",
)  # the last have implicit steps
needs_compiler = pytest.mark.skipif(compiler() is None, reason="no C compiler")


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """(graph, run, folder) of each part."""
    made = {}
    for part in ("plant", "loop"):
        graph, run = exported_part(part)
        folder = tmp_path_factory.mktemp("c") / part
        made[part] = graph, run, export_system(folder, graph, run, name="axis", about=["*/ int"])
    return made


def replayed(folder, name="axis"):
    """Exit code and words of the program that goes with the code."""
    program = folder / "replay-here"
    sources = [str(folder / "replay.c"), str(folder / f"{name}.c")]
    flags = ["-std=c99", "-O1", "-ffp-contract=off", "-Wall", "-Wno-maybe-uninitialized", "-Werror"]
    subprocess.run([*compiler(), *flags, "-o", str(program), *sources, "-lm"], check=True)
    ran = subprocess.run([str(program), str(folder / "run.csv")], capture_output=True, text=True)
    program.unlink()
    return ran.returncode, ran.stdout


@needs_compiler
@pytest.mark.parametrize("part", ["plant", "loop"])
def test_the_code_makes_the_run_to_the_last_bit(folders, part):
    _, run, folder = folders[part]
    assert replayed(folder) == (0, "61 samples, states up to 0 apart\n")
    beyond = run.states[:, 0] > Axis().x_end
    assert beyond.any() and not beyond.all()  # over the kink and back
    data = json.loads((folder / f"{part}.json").read_text())
    assert data["format"] == f"fluidproof exported {part} 1" and data["moving"] == 3


@needs_compiler
@pytest.mark.parametrize("part", ["plant", "loop"])
def test_pushes_that_change_within_samples_are_taken_at_the_stages(part, tmp_path):
    wave = Sine("output", 30.0, 200.0, 90.0, ramp=0.01)
    graph, run = exported_part(part, duration=0.03, disturbances={"F": wave})
    folder = export_system(tmp_path / "c", graph, run, name="axis")
    assert graph.driven and replayed(folder)[0] == 0
    push_at = {"plant": 4, "loop": 3}[part]
    rows = [line.split() for line in (folder / "run.csv").read_text().splitlines()]
    for row in rows:  # the middle of each step gets what its beginning has
        row[push_at + 2] = row[push_at]
    (folder / "run.csv").write_text("\n".join(map(" ".join, rows)) + "\n")
    assert replayed(folder)[0] == 1


@needs_compiler
def test_the_shipped_program_has_no_undefined_behaviour(folders):
    _, _, folder = folders["loop"]
    assert sanitized(folder, "axis").well in (True, None)
    assert linted(folder, UNFOLLOWED).well in (True, None)


@dataclass(frozen=True)
class Watched(Axis):
    """Adaptive steps, which are small about the cushion's edge."""

    @property
    def adaptive(self):
        return Adaptive((1e-8, 1e-6, 1e2), watched="x", edges=(self.x_end,))


@dataclass(frozen=True)
class Equal(Axis):
    """Equal implicit steps."""

    fixed = Fixed(5e-4)


@dataclass(frozen=True)
class Integrated(Axis):
    """An integrator that no text has."""

    integrator = staticmethod(lambda system, traced, compiled: None)


STIFF = {"adaptive": Watched(), "fixed": Equal(), "implicit": Axis(τ=1e-9, stiff=())}
WAVE = {"F": Sine("output", 30.0, 200.0, 90.0, ramp=0.01)}


@needs_compiler
@pytest.mark.parametrize("part, pushed", [("plant", WAVE), ("loop", {})], ids=["plant", "loop"])
@pytest.mark.parametrize("kind", STIFF)
def test_implicit_steps_are_those_of_the_run(kind, part, pushed, tmp_path):
    """The run has power flows, the code has none: steps and states do not depend on these."""
    loop = ClosedLoop(STIFF[kind], LOOP.controller)
    graph, run = exported_part(part, loop, 0.03, disturbances=pushed)
    assert graph.stiff and graph.driven == bool(pushed) and np.ptp(run.states[:, 0]) > 1e-5
    folder = export_system(tmp_path / "c", graph, run, name="axis")
    assert replayed(folder) == (0, "31 samples, states up to 0 apart\n")
    text = (folder / "axis.c").read_text()
    settings = {"adaptive": ("FIRST 1e-06", "FIRST 2e-06"), "fixed": ("GAMMA 0.25", "GAMMA 0.26")}
    old, new = settings.get(kind, settings["fixed"])
    assert old in text
    (folder / "axis.c").write_text(text.replace(old, new))
    assert replayed(folder)[0] == 1


@needs_compiler
def test_what_is_built_in_a_program_with_other_parameters_has_the_settings_of_steps():
    graph, run = exported_part("plant", ClosedLoop(Watched(), LOOP.controller), 0.01)
    text = system_text(graph, run, "axis")
    assert len(graph.settings) == 3 + 1 + 1 + 1  # errors, period, edge, share of a state
    for value in graph.settings:
        assert f"= {float(value)!r};" in text.source()


def in_flow(old, new):
    """A change of the first place in the flow."""

    def change(text):
        head, name, flow = text.partition("static int flow(")
        return head + name + flow.replace(old, new, 1)

    return change


@needs_compiler
@pytest.mark.parametrize(
    "change",
    [
        in_flow(" - ", " + "),
        in_flow("arg[3][", "1.000001 * arg[3]["),
        lambda text: text.replace("#define LOOKS 3", "#define LOOKS 1"),
        lambda text: text.replace("0.0, 1, 0.001,", "0.0, 1, 0.00101,"),
    ],
    ids=["sign", "constant", "kink", "step"],
)
def test_a_fault_in_the_code_is_seen(folders, tmp_path, change):
    _, _, folder = folders["loop"]
    copy = tmp_path / "c"
    shutil.copytree(folder, copy)
    text = (copy / "axis.c").read_text()
    assert change(text) != text
    (copy / "axis.c").write_text(change(text))
    assert replayed(copy)[0] == 1


def test_other_numbers_have_another_digest(folders):
    graph, run, _ = folders["plant"]
    other, _ = exported_part("plant", ClosedLoop(Axis(m=41.5), LOOP.controller), 0.01)
    assert system_digest(graph) != system_digest(other)
    moved, _ = exported_part("plant", LOOP, 0.01, offset={"x": 1e-9})
    assert system_digest(graph) != system_digest(moved)


@needs_compiler
def test_draws_of_parameters_make_their_own_runs(tmp_path):
    random = np.random.default_rng(7)
    for k in range(2):
        drawn = Axis(m=float(random.uniform(20, 60)), d=float(random.uniform(100, 500)))
        loop = ClosedLoop(drawn, Sampled(Law(k=float(random.uniform(0.1, 0.4))), 1e-3))
        graph, run = exported_part("loop", loop, 0.02)
        assert replayed(export_system(tmp_path / f"{k}", graph, run, name="axis"))[0] == 0


@pytest.mark.parametrize(
    "part, loop, said",
    [
        ("loop", ClosedLoop(Axis(), lambda t, y, r: [0.0]), "called from Python"),
        ("plant", ClosedLoop(Axis(), Law()), "no samples"),
        ("plant", ClosedLoop(Axis(), Delayed(LOOP.controller, 0.4e-3)), "after a sample"),
        ("plant", ClosedLoop(Integrated(), LOOP.controller), "brings an integrator of its own"),
    ],
    ids=["python", "continuous", "delayed", "integrated"],
)
def test_what_cannot_be_exported_is_said(part, loop, said):
    with pytest.raises(InputError, match=said):
        system_graph(loop, scenario(0.01), part)


def test_a_law_that_is_python_leaves_its_plant_to_be_exported():
    loop = ClosedLoop(Axis(), lambda t, y, r: [1e-4])
    graph, run = system_graph(loop, replace(scenario(0.01), reference=None), "plant")
    assert np.all(run.inputs[:, 0] == 1e-4) and graph.moving == 3


@needs_compiler
@pytest.mark.long
@pytest.mark.parametrize("part", ["plant", "loop"])
@pytest.mark.parametrize("name", MACHINES)
def test_machines_make_their_runs_to_the_last_bit(name, part, tmp_path):
    from pathlib import Path

    from workbench.cases.file import load

    case = load(Path(__file__).parents[1] / "examples" / f"{name}.yaml")
    graph, run = system_graph(case.loop, replace(case.scenario, duration=0.5), part)
    assert replayed(export_system(tmp_path / "c", graph, run, name="axis"))[0] == 0
