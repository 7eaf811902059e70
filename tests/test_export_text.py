"""Laws as structured text: read back by a reader of its own, they give the commands of the run."""

from dataclasses import dataclass, replace

import casadi as ca
import numpy as np
import pytest
from exported import exported_axis
from structured_text import Block

from workbench import ClosedLoop, InputError, Sampled, Scenario, Signal
from workbench.contract.system import Controller
from workbench.contract.wrappers import Delayed, Filtered, Noisy, Quantised, Saturated
from workbench.interop.export.compiled import Compiled
from workbench.interop.export.languages import statements
from workbench.interop.export.law_graph import law_graph
from workbench.interop.export.library import replayed
from workbench.interop.export.package import export_law
from workbench.interop.export.replay import replay
from workbench.interop.export.straight import straight
from workbench.interop.export.structured_text import FORMS, ST, StructuredText


@pytest.fixture(scope="module")
def axis():
    return exported_axis("0.1 s")


def read_back(graph, run, name="law"):
    block = Block(StructuredText(graph, name, ["*) x"]).text())
    return np.array([block(*row) for row in run.inputs.tolist()])


def test_the_block_gives_the_commands_of_the_run(axis):
    _, graph, run = axis
    found = read_back(graph, run)
    assert np.abs(found - run.commands).max() <= 1e-12 * np.ptp(run.commands) and np.ptp(found) > 0


@dataclass(frozen=True)
class Awkward(Controller):
    """Memory and signals whose names the language, or the block, has for itself."""

    states = (Signal("v1"), Signal("begun"), Signal("IF"))
    measured = (Signal("Y", "m"),)
    commands = (Signal("X", "m"),)

    def step(self, t, z, y, r):
        turned = np.tanh(z[0] - 3 * y[0]) + np.sign(y[0]) * np.where(y[0] < z[1], z[2], -2.5)
        return [z[1], z[2] + y[0], turned], [z[0] + 1e-5 * turned]


def test_names_and_words_of_the_language_do_not_meet(axis):
    case, _, _ = axis
    loop = ClosedLoop(case.loop.plant, Sampled(Awkward()))
    graph = law_graph(loop.controller)
    run = replay(loop, Scenario(duration=0.02, offset={"Y": 1e-3}), graph)
    found = read_back(graph, run)
    assert np.allclose(found, run.commands, rtol=1e-12, atol=1e-16) and np.ptp(run.commands) > 0


@pytest.mark.quick
def test_every_word_of_the_table_means_what_the_graph_means():
    a, b = ca.SX.sym("a"), ca.SX.sym("b")
    made = [
        *(a + b, a - b, a * b, a / b, -a, a < b, a <= b, ca.eq(a, b), ca.ne(a, b), a**2, 2 * a),
        *(
            ca.logic_and(a - 2, b),
            ca.logic_or(a - 2, b - 2.5),
            ca.logic_not(a - 2),
            1 / a,
            ca.sign(a),
        ),
        *(
            ca.if_else(a < b, a, b),
            ca.fmin(a, b),
            ca.fmax(a, b),
            ca.fabs(a),
            ca.floor(a),
            ca.sin(a),
            ca.cos(a),
        ),
        *(
            ca.tan(a),
            ca.tanh(a),
            ca.tanh(20 * a),
            ca.exp(a),
            ca.atan(a),
            ca.sqrt(ca.fabs(a)),
            ca.hypot(a, b),
        ),
        *(ca.log(ca.fabs(b)), ca.fabs(a) ** b, ca.fabs(a) ** 2.5, ca.asin(a / 9), ca.acos(a / 9)),
        *(ca.ceil(a), ca.atan2(a, b), ca.fmod(a, b), ca.copysign(a, b), ca.cosh(a)),
        *(ca.sinh(a), ca.sinh(a / 30), ca.fmod(7.1 * a, b / 3)),
    ]
    f = ca.Function("f", [a, b], [ca.vertcat(*made)])
    program = straight(f)
    asked = {o.name for o in program.operations} - {"input", "output", "const"}
    assert not set(FORMS) - asked - {"assign"}, "a word of the table that is not tried"
    lines = statements(program, ST, lambda i, j: "ab"[i], [[f"y{k}" for k in range(len(made))]])
    places = {line.split(" :=")[0] for line in lines}
    declared = "\n".join(f"{place} : LREAL;" for place in sorted(places))
    text = f"FUNCTION_BLOCK f\nVAR_INPUT a : LREAL; b : LREAL; END_VAR\nVAR {declared} END_VAR\n"
    block = Block(text + "\n".join(lines) + "\nEND_FUNCTION_BLOCK\n")
    for x in (-2.5, -1.0, 0.75, 2.0):
        for z in (-3.0, -1.0, 0.75, 2.5):
            block(x, z)
            found = [block.variables[f"y{k}"] for k in range(len(made))]
            assert np.allclose(found, np.array(f(x, z)).ravel(), rtol=1e-12, atol=1e-15), (x, z)


@pytest.mark.quick
@pytest.mark.parametrize("y", [-2.0, 0.0, 1e-9, 2.0])
@pytest.mark.parametrize("x", [-2.0, -1e-9, 0.0, 2.0])
def test_an_angle_is_that_of_atan2_on_the_axes_too(x, y):
    text = FORMS["atan2"].format("y", "x")
    block = Block(
        "FUNCTION_BLOCK f\nVAR_INPUT y : LREAL; x : LREAL; END_VAR\nVAR_OUTPUT q : LREAL; END_VAR\n"
        f"q := {text};\nEND_FUNCTION_BLOCK\n"
    )
    assert block(y, x)[0] == pytest.approx(np.arctan2(y, x), rel=1e-15, abs=1e-300)


def test_every_wrapper_is_exported(axis, tmp_path):
    """Noise, rounding, filter, limit, sampling and a delay of whole samples: C to the last bit, text to 1e-12."""
    case, _, _ = axis
    law = case.loop.controller.inner
    seen = Filtered(Quantised(Noisy(law, 1e-6), 1e-6), 120.0)
    wrapped = Delayed(Sampled(Saturated(seen, -1e-6, 2e-6), 1e-3), 2e-3)
    loop = ClosedLoop(case.loop.plant, wrapped)
    graph = law_graph(loop.controller)
    run = replay(loop, replace(case.scenario, duration=0.05), graph)
    found = read_back(graph, run)
    assert np.abs(found - run.commands).max() <= 1e-12 * np.ptp(run.commands)
    assert run.commands.min() >= -1e-6 and run.commands.max() == 2e-6
    code = Compiled(export_law(tmp_path / "law", graph, run))
    _, commands = replayed(code.library, run, code.initial())
    assert np.array_equal(commands, run.commands)
    assert code.manifest["wrappers"] == [type(w).__name__ for w in layers(wrapped)]


def layers(controller):
    while controller.inner is not None:
        yield controller
        controller = controller.inner


def test_what_a_plc_cannot_do_is_refused(axis):
    case, _, _ = axis
    late = replace(case.loop, controller=Delayed(case.loop.controller, 0.4e-3))
    with pytest.raises(InputError, match="between samples"):
        StructuredText(law_graph(late.controller)).text()
    with pytest.raises(InputError, match="no word"):
        ST.number(float("inf"))


@pytest.mark.long
@pytest.mark.parametrize("name", ["hiab-xs031-two-joint", "arm-imv-vdc"])
def test_laws_of_machines_are_read_back(name):
    from pathlib import Path

    from workbench.cases.file import load

    case = load(Path(__file__).parents[1] / "examples" / f"{name}.yaml")
    graph = law_graph(case.loop.controller)
    run = replay(case.loop, replace(case.scenario, duration=0.05), graph)
    found = read_back(graph, run)
    assert np.abs(found - run.commands).max() <= 1e-12 * np.abs(run.commands).max()
