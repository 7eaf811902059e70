"""Laws as C: the same numbers to the last bit, files that were changed are refused, and what cannot be exported is said."""

import json
import re
import shutil
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np
import pytest
from exported import exported_axis
from forging import constant, forged, in_step, planted

from workbench import ClosedLoop, Hold, InputError, Scenario, Signal, Sine, simulate, verify
from workbench.contract.system import Controller
from workbench.contract.wrappers import Delayed, Sampled
from workbench.interop.export.building import built
from workbench.interop.export.checking import against_run, sanitized
from workbench.interop.export.compiled import Compiled
from workbench.interop.export.from_python import export
from workbench.interop.export.heading import worst
from workbench.interop.export.identifiers import identifiers
from workbench.interop.export.languages import DOUBLE, SINGLE, statements
from workbench.interop.export.law_graph import law_graph
from workbench.interop.export.library import replayed
from workbench.interop.export.manifest import read_manifest
from workbench.interop.export.package import export_law
from workbench.interop.export.replay import replay
from workbench.interop.export.straight import straight
from workbench.verification.run_claims import Tracking


@pytest.fixture(scope="module")
def axis():
    return exported_axis("0.3 s")


@pytest.fixture(scope="module")
def folder(axis, tmp_path_factory):
    """The axis's law, exported."""
    _, graph, run = axis
    return export_law(
        tmp_path_factory.mktemp("c") / "law", graph, run, name="axis", about=["*/ int"]
    )


def test_the_code_gives_the_commands_of_the_run_to_the_last_bit(axis, folder):
    _, _, run = axis
    law = Compiled(folder)
    memory, commands = replayed(law.library, run, law.initial())
    assert np.array_equal(commands, run.commands) and np.array_equal(memory, run.memory)
    assert np.ptp(run.commands) > 1e-5 and against_run(law, run).well


@pytest.mark.parametrize(
    "change",
    [
        in_step(r"(= v\d+) - (v\d+;)", r"\1 + \2"),
        in_step(r"k->c\[4\]", "k->c[5]"),
        in_step(r"u->X = (v\d+);", r"u->X = 0.0 * \1;"),
    ],
    ids=["sign", "gain", "no command"],
)
def test_a_fault_in_the_code_is_seen_by_the_replay(axis, folder, tmp_path, change):
    """Source and hash were changed together: the digest of the numbers is right, the commands are not."""
    copy = planted(folder, tmp_path, "axis.c", change)
    with pytest.raises(InputError, match="does not do what the verified law did"):
        Compiled(copy)
    law = Compiled(folder)
    vars(law)["library"] = built(copy, read_manifest(copy))
    assert against_run(law, axis[2]).well is False


def test_a_run_in_which_nothing_moves_shows_nothing(axis, folder):
    case, graph, _ = axis
    at_rest = replay(case.loop, Scenario(reference=Hold("output", "start"), duration=0.01), graph)
    assert against_run(Compiled(folder), at_rest).well is None


def test_the_worse_code_counts():
    assert [worst(0, 2), worst(1, 2), worst(2, 1), worst(0, 0), worst(2, 0)] == [2, 1, 1, 0, 2]


def test_the_shipped_program_replays_the_run_without_undefined_behaviour(folder):
    found = sanitized(folder, "axis")
    assert found.well in (True, None) and ("301 samples" in found.words or found.well is None)


@pytest.mark.parametrize(
    "fault",
    [
        "  volatile int big = 2147483647; big += 1;",
        "  volatile double far[2]; far[(int)in->t + 2] = 0.0;",
    ],
    ids=["overflow", "beyond"],
)
def test_undefined_behaviour_is_seen_by_the_sanitizers(folder, tmp_path, fault):
    if sanitized(folder, "axis").well is None:
        pytest.skip("this compiler has no sanitizers")
    start = re.compile(r"(void axis_step\([^)]*\)\n\{\n)")
    copy = planted(folder, tmp_path, "axis.c", lambda code: start.sub(rf"\1{fault}\n", code))
    assert sanitized(copy, "axis").well is False


def test_the_code_closes_the_loop(axis, folder):
    case, _, _ = axis
    before = simulate(case.loop, case.scenario)
    after = simulate(ClosedLoop(case.loop.plant, Compiled(folder)), case.scenario)
    moved = float(np.ptp(before["Y"].values))
    assert moved > 1e-3
    assert float(np.abs(after["Y"].values - before["Y"].values).max()) < 1e-12 * moved


def test_other_numbers_are_other_code(axis, tmp_path):
    """Three draws of gains: each exported law gives the commands of its own run, and not those of another one."""
    case, _, _ = axis
    random = np.random.default_rng(4)
    digests = set()
    for k in range(3):
        law = case.loop.controller.inner
        gains = {"K_p": (float(random.uniform(0.1, 0.6)),), "K_i": (float(random.uniform(0.5, 3)),)}
        loop = replace(
            case.loop, controller=replace(case.loop.controller, inner=replace(law, **gains))
        )
        graph = law_graph(loop.controller)
        run = replay(loop, case.scenario, graph)
        code = Compiled(export_law(tmp_path / f"law{k}", graph, run))
        assert against_run(code, run).well
        other = replay(case.loop, case.scenario, graph)
        assert against_run(code, other).well is False
        digests.add(code.manifest["digest"])
    assert len(digests) == 3


def test_floats_round_and_say_so(axis, tmp_path):
    _, graph, run = axis
    law = Compiled(export_law(tmp_path / "law", graph, run, single=True))
    found = against_run(law, run)
    _, commands = replayed(law.library, run, law.initial())
    apart = np.abs(commands - run.commands).max() / np.abs(run.commands).max()
    assert found.well and "apart" in found.words and 0 < apart < 1e-4
    assert "double" not in (tmp_path / "law" / "law.c").read_text()


def test_parameters_make_the_constants(axis, folder):
    """`prepare` on the default parameters gives the default constants; on others, others."""
    import ctypes

    library = Compiled(folder).library
    made = np.zeros_like(library.constants)
    parameters = library.parameters
    pointer = lambda a: ctypes.c_void_p(a.ctypes.data)
    library.code.axis_prepare(pointer(parameters), pointer(made))
    assert np.array_equal(made, library.constants)
    parameters[0] *= 2
    library.code.axis_prepare(pointer(parameters), pointer(made))
    assert (made != library.constants).sum() == 1


@pytest.mark.parametrize("file", ["axis.c", "axis.h", "law.json"])
def test_one_changed_number_is_refused(folder, tmp_path, file):
    copy = tmp_path / "law"
    shutil.copytree(folder, copy)
    text = (copy / file).read_text()
    if file == "law.json":
        text = text.replace('"digest": "', '"digest": "0')
    else:
        text = re.sub(r"0\.001\b", "0.002", text, count=1)
    assert text != (copy / file).read_text()
    (copy / file).write_text(text)
    with pytest.raises(InputError, match="verdicts are not of it|digest"):
        Compiled(copy)


def test_a_manifest_that_was_changed_along_is_refused_by_its_numbers(folder, tmp_path):
    """Whoever changes a number in the code and the code's hash has still the wrong digest."""
    other = lambda code: re.sub(r"(default_constants = \{\{)[^,]+", r"\g<1>0.125", code)
    copy = planted(folder, tmp_path, "axis.c", other)
    with pytest.raises(InputError, match="digest"):
        Compiled(copy)


def test_a_constant_that_is_changed_with_its_digest_is_refused_by_the_claims(
    axis, folder, tmp_path
):
    case, graph, run = axis
    scenario = Scenario(0.8, Sine("output", "start", 4e-3, 1.0, ramp=0.2))
    asked = [Tracking(error=25e-6, settle=0.3)]
    plant = case.loop.plant
    (well,) = verify(ClosedLoop(plant, Compiled(folder)), scenario, asked)
    weaker = Compiled(forged(folder, tmp_path, constant("0.4", "0.1")))
    (wrong,) = verify(ClosedLoop(plant, weaker), scenario, asked)
    assert well.holds is True and wrong.holds is False
    assert against_run(weaker, run).well is False


def test_what_is_there_stays_and_nothing_is_half_written(axis, tmp_path):
    _, graph, run = axis
    (tmp_path / "law").mkdir()
    (tmp_path / "law" / "mine").write_text("mine")
    with pytest.raises(InputError, match="already"):
        export_law(tmp_path / "law", graph, run)
    with pytest.raises(InputError, match="no folder can be made"):
        export_law(tmp_path / "nowhere" / "law", graph, run)
    assert [p.name for p in tmp_path.iterdir()] == ["law"]


def test_laws_that_are_python_or_have_no_samples_are_refused(axis):
    case, _, _ = axis
    plant = case.loop.plant
    own = ClosedLoop(plant, lambda t, y, r: [0.0])
    with pytest.raises(InputError, match="called from Python"):
        law_graph(own.controller)
    with pytest.raises(InputError, match="sample time"):
        law_graph(case.loop.controller.inner)


def test_a_law_applied_between_samples_runs_in_its_program_alone(axis, tmp_path):
    case, _, _ = axis
    loop = replace(case.loop, controller=Delayed(case.loop.controller, 0.4e-3))
    graph = law_graph(loop.controller)
    run = replay(loop, case.scenario, graph)
    folder = export_law(tmp_path / "law", graph, run)
    assert "law_release(" in (folder / "law.h").read_text()
    with pytest.raises(InputError, match="after its sample"):
        Compiled(folder)


@dataclass(frozen=True)
class Swapped(Controller):
    """Memory that changes places: z⁺ = (z_2, z_1 + y), u = z_2."""

    states = (Signal("a"), Signal("b"))
    measured = (Signal("Y", "m"),)
    commands = (Signal("X", "m"),)

    def initial(self):
        return [0.25, -0.125]

    def step(self, t, z, y, r):
        return [z[1], z[0] + y[0]], [z[1]]


def test_memory_may_change_places(axis, tmp_path):
    case, _, _ = axis
    loop = ClosedLoop(case.loop.plant, Sampled(Swapped()))
    graph = law_graph(loop.controller)
    run = replay(loop, Scenario(duration=0.005, offset={"Y": 1e-3}), graph)
    law = Compiled(export_law(tmp_path / "law", graph, run))
    memory, u = replayed(law.library, run, law.initial())
    assert np.array_equal(memory, run.memory) and np.array_equal(u, run.commands)
    assert np.ptp(run.commands) > 0
    text = (tmp_path / "law" / "law.c").read_text()
    assert "law_initial_memory = {0.25, -0.125, 0.0};" in text
    assert sanitized(tmp_path / "law", "law").well in (True, None)


@pytest.mark.quick
def test_every_operation_means_in_c_what_it_means_in_the_graph():
    """Each word of the table, over signs and both sides of every comparison, against CasADi's own evaluation."""
    a, b = ca.SX.sym("a"), ca.SX.sym("b")
    made = [
        *(a + b, a - b, a * b, a / b, -a, a < b, a <= b, ca.eq(a, b), ca.ne(a, b)),
        *(ca.logic_and(a, b), ca.logic_or(a, b), ca.logic_not(a), a**2, 1 / a, 2 * a, ca.sign(a)),
        *(
            ca.if_else(a < b, a, b),
            ca.fmin(a, b),
            ca.fmax(a, b),
            ca.fabs(a),
            ca.floor(a),
            ca.ceil(a),
        ),
        *(ca.sin(a), ca.cos(a), ca.tan(a), ca.tanh(a), ca.exp(a), ca.atan(a), ca.atan2(a, b)),
        *(
            ca.sqrt(ca.fabs(a)),
            ca.log(ca.fabs(b)),
            ca.fmod(a, b),
            ca.fabs(a) ** b,
            ca.sinh(a),
            ca.cosh(a),
        ),
        *(ca.asin(a / 9), ca.acos(a / 9), ca.hypot(a, b), ca.copysign(a, b), ca.fabs(a) ** 2.5),
    ]
    f = ca.Function("f", [a, b], [ca.vertcat(*made)])
    program = straight(f)
    lines = statements(
        program, DOUBLE, lambda i, j: "ab"[i], [[f"y[{k}]" for k in range(len(made))]]
    )
    found = _run_c(lines, len(made))
    for (x, z), given in found.items():
        wanted = np.array(f(x, z)).ravel()
        assert np.allclose(given, wanted, rtol=4e-16, atol=0, equal_nan=True), (x, z)


def _run_c(lines, n):
    import ctypes

    from workbench.numerics.compiler import library

    body = "\n".join(lines)
    text = f"#include <math.h>\nvoid f(double a, double b, double *y) {{\n{body}\n}}\n"
    code = library(text)
    if code is None:
        pytest.skip("no C compiler")
    found = {}
    for a in (-2.5, -1.0, 0.75, 2.0):
        for b in (-3.0, -1.0, 0.75, 2.5):
            y = np.zeros(n)
            code.f(ctypes.c_double(a), ctypes.c_double(b), ctypes.c_void_p(y.ctypes.data))
            found[a, b] = y
    return found


@pytest.mark.quick
def test_words_are_words_of_c():
    assert identifiers(["λ_x", "q_1", "dq_1@5", "int", "1a", "q-1", "q 1", "µ"]) == [
        *("lambda_x", "q_1", "dq_1_5", "_int", "_1a", "q_1_2", "q_1_3", "mu"),
    ]
    assert SINGLE.number(0.1) == "0.1f" and DOUBLE.number(1e300) == "1e+300"
    assert DOUBLE.number(3.0) == "3.0" and SINGLE.number(float("inf")) == "INFINITY"


@pytest.mark.long
@pytest.mark.parametrize("single", [False, True])
def test_a_processor_gives_the_commands_of_the_run(axis, tmp_path, single):
    from workbench.interop.export.processor import missing, on_processor

    if missing():
        pytest.skip(missing())
    _, graph, run = axis
    folder = export_law(tmp_path / "law", graph, run, single=single)
    found = on_processor(folder, json.loads((folder / "law.json").read_text()), run)
    apart = np.abs(found.commands - run.commands).max()
    assert apart <= 1e-5 * np.abs(run.commands).max() if single else apart == 0.0
    assert 17 < found.instructions < 200 and 0 < found.flash < 2000 and found.stack < 200


@pytest.mark.long
@pytest.mark.parametrize(
    "name", ["hiab-xs031-two-joint", "two-cylinders", "arm-imv-vdc", "ieha-arm"]
)
def test_laws_of_machines_are_the_same_to_the_last_bit(name, tmp_path):
    from pathlib import Path

    from workbench.cases.file import load

    case = load(Path(__file__).parents[1] / "examples" / f"{name}.yaml")
    graph = law_graph(case.loop.controller)
    run = replay(case.loop, case.scenario, graph)
    assert against_run(Compiled(export_law(tmp_path / "law", graph, run)), run).well


def test_a_law_out_of_python_is_that_of_the_command(axis, tmp_path):
    """One call writes the code that graph, run and package write; a folder that is there is left alone."""
    case, graph, run = axis
    folder = export(case.loop, case.scenario, tmp_path / "law", about=("an axis",))
    other = export_law(tmp_path / "other", graph, run, about=("an axis",))
    assert (folder / "law.c").read_bytes() == (other / "law.c").read_bytes()
    assert against_run(Compiled(folder), run).well
    with pytest.raises(InputError, match="law"):
        export(case.loop, case.scenario, folder)
