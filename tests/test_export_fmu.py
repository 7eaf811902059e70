"""Controllers, plants and loops as FMUs: the run to the last bit by a master of our own and by FMPy, states kept and restored."""

import io
import re
import subprocess
import zipfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from exported_parts import LOOP, exported_part, scenario
from fmu_client import Refused, Unit

from workbench import InputError, simulate
from workbench.contract.wrappers import Delayed
from workbench.interop.export.c_text import CText
from workbench.interop.export.fmu.archive import packed, sources_of
from workbench.interop.export.fmu.model import law_model, system_model
from workbench.interop.export.law_graph import law_graph
from workbench.interop.export.package import law_digest
from workbench.interop.export.replay import replay
from workbench.interop.export.system_package import system_text
from workbench.numerics.compiler import compiler

pytestmark = pytest.mark.skipif(compiler() is None, reason="no C compiler")
PARTS = ("controller", "plant", "loop")
T = 1e-3
EXCHANGE = {  # functions that FMI 2.0 asks of model exchange alone
    *("fmi2EnterEventMode", "fmi2NewDiscreteStates", "fmi2EnterContinuousTimeMode", "fmi2SetTime"),
    *("fmi2CompletedIntegratorStep", "fmi2SetContinuousStates", "fmi2GetDerivatives"),
    *("fmi2GetEventIndicators", "fmi2GetContinuousStates", "fmi2GetNominalsOfContinuousStates"),
}


def law_of(graph, run):
    return law_model(CText(graph, "law", False, (), law_digest(graph, False)), run)


@pytest.fixture(scope="module")
def models():
    """Each part as (model, inputs of the run, what is seen before each step: outputs or states of the plant)."""
    graph = law_graph(LOOP.controller)
    run = replay(LOOP, scenario(), graph)
    made = {"controller": (law_of(graph, run), run.inputs[:, 1:], run.commands)}
    for part in ("plant", "loop"):
        system, run = exported_part(part)
        made[part] = system_model(system_text(system, run, part), run), run.inputs, run.states
    return made


@pytest.fixture(scope="module")
def units(models, tmp_path_factory):
    """(part, version) → the FMU, unpacked and loaded."""
    folder = tmp_path_factory.mktemp("fmus")
    made = {}
    for part, (model, _, _) in models.items():
        for version in (2, 3):
            path = folder / f"{part}{version}.fmu"
            path.write_bytes(packed(model, version, ["a page & <more>"], {"case.yaml": "x"}))
            made[part, version] = Unit(path, folder / f"{part}{version}")
    return made


def walk(unit, instance, inputs, first=0):
    """What is seen of the states before each sample, and of the outputs after it."""
    given = unit.of("input")
    seen = []
    for k, row in enumerate(inputs, first):
        before = instance.get(unit.of("local"))
        instance.set(dict(zip(given, row)))
        instance.step(k * T, T)
        seen.append((before, instance.get(unit.of("output"))))
    return [np.array(column) for column in zip(*seen)]


def begun(unit, row):
    made = unit.instance()
    made.begin(dict(zip(unit.of("input"), row)))
    return made


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("part", PARTS)
def test_the_unit_makes_the_run_to_the_last_bit(models, units, part, version):
    _, inputs, wanted = models[part]
    unit = units[part, version]
    states, outputs = walk(unit, begun(unit, inputs[0]), inputs)
    found = outputs if part == "controller" else states[:, :3]
    assert np.array_equal(found, wanted) and np.ptp(found[:, 0]) > 1e-5
    if part != "controller":  # x, p, and the command of the loop
        assert np.array_equal(outputs[:-1, :2], wanted[1:, [0, 2]])
    if part == "loop":
        assert np.array_equal(outputs[:, 2], models["controller"][2][:, 0])


def test_controller_and_plant_together_are_the_loop(models, units):
    """The master steps the controller first, hands its commands to the plant, steps that: the run of `simulate`."""
    log = simulate(LOOP, scenario())
    law, plant = units["controller", 3], units["plant", 3]
    wanted = models["controller"][1][:, 1]
    first = [float(log["x"][0]), wanted[0]]
    one, other = begun(law, first), begun(plant, [0.0, 12.5])
    x_out = plant.names.index("x")
    for k in range(len(log)):
        (x,) = other.get([x_out])
        assert x == float(log["x"][k])
        one.set(dict(zip(law.of("input"), [x, wanted[k]])))
        one.step(k * T, T)
        other.set({plant.names.index("u"): one.get(law.of("output"))[0]})
        other.step(k * T, T)


@pytest.mark.parametrize("version", [2, 3])
def test_a_state_that_was_kept_goes_on_as_before(models, units, version):
    _, inputs, _ = models["loop"]
    unit = units["loop", version]
    one = begun(unit, inputs[0])
    walk(unit, one, inputs[:20])
    kept = one.state()
    ahead = walk(unit, one, inputs[20:40], 20)
    one.restore(kept)
    other = unit.instance()
    other.restore(kept)  # in another instance, which was never initialised
    for instance in (one, other):
        again = walk(unit, instance, inputs[20:40], 20)
        assert all(np.array_equal(a, b) for a, b in zip(ahead, again))
    with pytest.raises(Refused, match="another model"):
        begun(units["plant", version], [0.0, 0.0]).restore(kept)


def test_instances_know_nothing_of_each_other(models, units):
    _, inputs, wanted = models["plant"]
    unit = units["plant", 3]
    one, other = begun(unit, inputs[0]), begun(unit, inputs[0])
    for k, row in enumerate(inputs[:20]):
        one.set(dict(zip(unit.of("input"), row)))
        other.set(dict(zip(unit.of("input"), -row)))
        one.step(k * T, T)
        other.step(k * T, T)
    other.free()
    at = unit.of("local")[:3]
    assert np.array_equal(one.get(at), wanted[20])
    one.call("Reset")
    one.begin(dict(zip(unit.of("input"), inputs[0])))
    assert np.array_equal(walk(unit, one, inputs)[0], wanted)


@pytest.mark.parametrize("version", [2, 3])
def test_what_is_refused_is_said(models, units, version):
    unit = units["loop", version]
    with pytest.raises(Refused, match="token|GUID"):
        unit.instance("another")
    one = unit.instance()
    with pytest.raises(Refused, match="before the initialisation"):
        one.step(0.0, T)
    with pytest.raises(Refused, match="start at 0.0004 s"):
        one.begin({}, start=0.0004)
    one = begun(unit, models["loop"][1][0])
    with pytest.raises(Refused, match="0.0014 s is not a whole number"):
        one.step(0.0, 1.4 * T)
    with pytest.raises(Refused, match="begins at 0.005 s"):
        one.step(5 * T, T)
    for name, why in (
        ("time", "the time"),
        ("x", "an output"),
        ("state.v", "before the first step alone"),
        ("state.sum", "memory of the law"),
        ("plant.m", "before the first step alone"),
    ):
        with pytest.raises(Refused, match=why):
            one.set({unit.names.index(name): 1.0})
    with pytest.raises(Refused, match="no variable"):
        one.get([999])
    one.set({unit.names.index("F"): float("nan")})
    with pytest.raises(Refused, match="left all numbers"):
        one.step(0.0, T)


def test_several_samples_make_one_step_and_parameters_change_the_plant(models, units):
    _, inputs, _ = models["plant"]
    unit = units["plant", 3]
    step, slow, heavy = begun(unit, inputs[0]), begun(unit, inputs[0]), unit.instance()
    heavy.begin({**dict(zip(unit.of("input"), inputs[0])), unit.names.index("m"): 82.0})
    for k in range(5):
        slow.step(k * T, T)
    step.step(0.0, 5 * T)
    heavy.step(0.0, 5 * T)
    at = unit.of("output")
    assert step.get(at) == slow.get(at) != heavy.get(at)


def test_the_same_model_is_the_same_file(models, tmp_path):
    model, _, _ = models["controller"]
    one, other = packed(model), packed(model)
    assert one == other
    with zipfile.ZipFile(io.BytesIO(one)) as archive:
        names = archive.namelist()
    assert names == sorted(names) and "sources/buildDescription.xml" in names
    with pytest.raises(InputError, match="FMI 1"):
        packed(model, 1)


@pytest.mark.quick
def test_laws_that_an_fmu_cannot_hold_are_refused():
    late = Delayed(LOOP.controller, 0.4e-3)
    graph = law_graph(late)
    with pytest.raises(InputError, match="after its sample"):
        law_of(graph, SimpleNamespace())
    graph = law_graph(LOOP.controller)
    with pytest.raises(InputError, match="doubles"):
        law_model(CText(graph, "law", True, (), ""), SimpleNamespace())


@pytest.mark.parametrize("version", [2, 3])
def test_the_sources_compile_without_a_warning_and_two_link_into_one(models, version, tmp_path):
    """With a prefix for the functions, as tools do that link units into a program."""
    for part in ("controller", "plant"):
        for name, text in sources_of(models[part][0], version).items():
            (tmp_path / name).write_text(text)
        flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-Wno-maybe-uninitialized"]
        prefix = f"-DFMI{version}_FUNCTION_PREFIX={part}_"
        command = [*compiler(), *flags, prefix, "-fPIC", "-c", f"fmi{version}.c"]
        subprocess.run([*command, "-o", f"{part}.o"], cwd=tmp_path, check=True)
    link = [*compiler(), "-shared", "controller.o", "plant.o", "-o", "both.so"]
    subprocess.run(link, cwd=tmp_path, check=True)


# ---- with FMPy ----
@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("part", PARTS)
def test_fmpy_finds_no_problem_and_makes_the_run(models, part, version, tmp_path):
    fmpy = pytest.importorskip("fmpy", reason="FMPy is not installed: pip install fluidproof[fmi]")
    from fmpy.validation import validate_fmu

    model, inputs, wanted = models[part]
    path = tmp_path / "unit.fmu"
    path.write_bytes(packed(model, version))
    assert validate_fmu(str(path)) == []
    given = [v.name for v in model.of("input")]
    kinds = [("time", float), *((name, float) for name in given)]
    rows = [(k * T, *row) for k, row in enumerate(inputs)]
    shown = [v.name for v in model.of("output" if part == "controller" else "local")]
    result = fmpy.simulate_fmu(
        str(path),
        stop_time=(len(rows) - 1) * T,
        step_size=T,
        output_interval=T,
        input=np.array(rows, kinds),
        output=shown,
    )
    late = 1 if part == "controller" else 0  # commands are seen after the sample that they are of
    for i, name in enumerate(shown[: wanted.shape[1]]):
        ours = wanted[: len(wanted) - late, i]
        assert np.abs(result[name][late:] - ours).max() <= 1e-12 * np.abs(ours).max()


@pytest.mark.parametrize("version", [2, 3])
def test_the_functions_are_those_of_the_standards_headers(models, version, tmp_path):
    fmpy = pytest.importorskip("fmpy", reason="FMPy is not installed: pip install fluidproof[fmi]")
    for name, text in sources_of(models["plant"][0], version).items():
        (tmp_path / name).write_text(text)
    headers = Path(fmpy.__file__).parent / "c-code"
    flags = ["-std=c99", "-I", str(headers), "-include", f"fmi{version}Functions.h"]
    subprocess.run([*compiler(), *flags, "-c", f"fmi{version}.c"], cwd=tmp_path, check=True)
    told = ["nm", "--defined-only", f"fmi{version}.o"]
    made = subprocess.run(told, cwd=tmp_path, capture_output=True, text=True).stdout.split()
    text = (headers / f"fmi{version}Functions.h").read_text()
    declared = set(re.findall(rf"fmi{version}\w+TYPE\s+(fmi{version}\w+);", text))
    of_exchange = {name for name in declared if version == 2 and name in EXCHANGE}
    assert len(declared) > 40 and declared - of_exchange <= set(made)
