"""The program that goes with exported code, command by command as the comparison in Python; a run that shows nothing is said to."""

import shutil
import subprocess
from dataclasses import dataclass, replace

import numpy as np
import pytest
from exported import exported_axis

from workbench import Hold, Scenario, Signal
from workbench.contract.closed_loop import ClosedLoop
from workbench.contract.system import Controller
from workbench.contract.wrappers import Sampled
from workbench.interop.export.checking import against_run, like_the_run
from workbench.interop.export.comparison import STILL
from workbench.interop.export.compiled import Compiled
from workbench.interop.export.law_graph import law_graph
from workbench.interop.export.manifest import read_manifest
from workbench.interop.export.package import export_law
from workbench.interop.export.replay import Replay, replay
from workbench.numerics.compiler import compiler
from workbench.verification.defaults import defaults
from workbench.verification.judge import verify
from workbench.verification.run_claims import Unasked

SMALL = 0.009  # of the first command: below what floats are allowed


@dataclass(frozen=True)
class Two(Controller):
    """Two commands, each its own measurement, of these units."""

    of: tuple[str, str] = ("V", "V")
    measured = (Signal("a"), Signal("b"))

    @property
    def commands(self):
        return tuple(Signal(f"u_{name}", unit) for name, unit in zip("ab", self.of))

    def command(self, t, z, y, r):
        return [1.0 * y[0], 1.0 * y[1]]


def written(folder, units, small, single):
    """The law's folder, with a run in which the second measurement is `small` times the first."""
    graph = law_graph(Sampled(Two(units)))
    t = 1e-3 * np.arange(50)
    y = np.sin(np.arange(50.0))[:, None] * [1.0, small]
    run = Replay(t, y, np.empty((50, 0)), np.empty((50, 2)), y)
    return export_law(folder, graph, run, single=single), run


def changed(folder, old, new):
    """The source with this in place of that, once, in the step."""
    source = folder / "law.c"
    head, name, step = source.read_text().partition("void law_step(")
    assert old in step
    source.write_text(head + name + step.replace(old, new, 1))


def ran(folder):
    """(exit code, output) of the program in the folder."""
    if compiler() is None:
        pytest.skip("no C compiler")
    program = folder / "replay"
    sources = [folder / "replay.c", folder / "law.c"]
    flags = ("-std=c99", "-Wall", "-Werror", "-ffp-contract=off")
    subprocess.run([*compiler(), *flags, "-o", program, *sources, "-lm"], check=True)
    done = subprocess.run([program, folder / "run.csv"], capture_output=True, text=True)
    return done.returncode, done.stdout


@pytest.mark.parametrize("single", [True, False])
@pytest.mark.parametrize(
    "units, small", [(("V", "V"), 0.5), (("kN", "V"), SMALL), (("V", "V"), SMALL)]
)
@pytest.mark.parametrize("factor", [1.0, 0.0, -1.0])
def test_program_and_comparison_say_the_same(tmp_path, units, small, single, factor):
    """The second command is right, dropped or turned; it is as large as the first, the only one of its unit, or too small."""
    folder, run = written(tmp_path / "law", units, small, single)
    data = read_manifest(folder)
    given = run.commands.astype(np.float32 if single else float) * [1.0, factor]
    found = like_the_run("replay", given, run, data["allowed"], data["commands"])
    changed(folder, "u->u_b = ", f"u->u_b = {factor} * ")
    code, said = ran(folder)
    assert code == int(found.well is False)
    assert ("not checked: u_b: along the run so small" in said) == (
        single and small == SMALL and units[0] == "V"
    )
    assert ("wrong: u_b" in said) == (found.well is False)
    if factor != 1.0:
        assert found.well is not True


@pytest.mark.parametrize("command", ["u_a", "u_b"])
def test_one_sample_that_is_no_number_is_seen(tmp_path, command):
    """All samples after it are right again."""
    folder, _ = written(tmp_path / "law", ("V", "V"), 0.5, False)
    changed(folder, f"u->{command} = ", f"u->{command} = (in->t == 7e-3 ? 0.0 / 0.0 : 1.0) * ")
    code, said = ran(folder)
    assert code == 1 and f"wrong: {command} is up to" in said and "nan" in said.splitlines()[0]


def test_code_whose_run_shows_nothing_is_not_taken_without_a_word(tmp_path):
    """At rest any code that gives that command passes: the check says so, and so does every loop with the code as its law."""
    case, graph, moving = exported_axis("0.1 s")
    scenario = Scenario(reference=Hold("output", "start"), duration=0.02)
    resting = replay(case.loop, scenario, graph)
    still = Compiled(export_law(tmp_path / "still", graph, resting))
    shown = Compiled(export_law(tmp_path / "shown", graph, moving))
    assert against_run(still, resting).well is None and against_run(shown, moving).well
    assert still.unshown == STILL and shown.unshown == ""
    assert "not checked: no command changes" in ran(tmp_path / "still")[1]
    assert "not checked" not in ran(tmp_path / "shown")[1]
    rows = {}
    for law in (still, shown):
        loop = ClosedLoop(case.loop.plant, law)
        (unasked,) = [c for c in defaults(loop, case.scenario) if isinstance(c, Unasked)]
        (rows[law],) = verify(loop, replace(case.scenario, duration=0.02), [unasked])
    assert "law-of-the-code: no command changes along the run" in rows[still].worst
    assert rows[still].holds is None and "law-of-the-code" not in rows[shown].worst


def test_a_command_that_never_moves_is_named(tmp_path):
    folder, _ = written(tmp_path / "law", ("V", "V"), 0.0, False)
    law = Compiled(folder)
    assert law.unshown.startswith("u_b: along the run so small")
    assert "not checked: u_b:" in ran(folder)[1]
    copy = shutil.copytree(folder, tmp_path / "copy")
    assert Compiled(copy).not_asked == (("law-of-the-code", law.unshown),)
