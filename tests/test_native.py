"""Compiled code against the virtual machine, and the cache of compiled code: shared, healed, done without."""

import importlib
import os
import shlex
import subprocess
import sys
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from small import Bent, Curved, Fast, Feedback, Linear, Push

from controllers.pid.law import PID
from controllers.vdc import VDC
from workbench import (
    ClosedLoop,
    Delayed,
    Filtered,
    Noisy,
    Sampled,
    Saturated,
    Scenario,
    Sine,
    simulate,
)
from workbench.numerics import exponential
from workbench.numerics.mapped import Mapped

RUNS, COMPILER = (
    importlib.import_module("workbench.run.fused"),
    importlib.import_module("workbench.numerics.compiler"),
)
PLANT = Linear(
    ((0.0, 1.0), (-3.0, -0.4)), ((0.0,), (1.3,)), ((1.0, 0.0), (0.0, 1.0)), ((0.2,), (0.7,))
)
LAW = Feedback(PLANT, ((5.0, 1.1),), ((5.0, 0.3),))
PUSH = Push(lambda t: np.sin(9 * t) + (t > 0.043))
WAVE = Sine("output", (0.1, 0.2), (0.3, 0.1), 1.7, ramp=0.1)


def crane_loops(two_joint):
    return {
        "held": ClosedLoop(two_joint, Sampled(VDC(two_joint, derivative="dirty"), 2e-3)),
        "delayed by fractions, noisy": ClosedLoop(
            two_joint,
            Delayed(
                Sampled(
                    Saturated(
                        Filtered(Noisy(PID(two_joint), 1e-5, ("x",)), 60.0, signals=("p",)),
                        -5.0,
                        5.0,
                    ),
                    2e-3,
                ),
                2.9e-3,
            ),
        ),
        "continuous": ClosedLoop(two_joint, VDC(two_joint, derivative="zero")),
    }


def apart(a, b):
    """Largest difference of two logs, relative to each signal's size."""
    assert a.names == b.names and np.array_equal(a.time, b.time)
    size = np.maximum(np.abs(b.values).max(axis=0), 1e-9 * np.abs(b.values).max())
    return float((np.abs(a.values - b.values) / np.where(size > 0, size, 1.0)).max())


@pytest.mark.parametrize("which", ("held", "delayed by fractions, noisy", "continuous"))
def test_compiled_is_the_virtual_machine(two_joint, which):
    loop = crane_loops(two_joint)[which]
    path = Sine("joint", "start", (0.05, 0.08), 0.9, ramp=0.2)
    push = {"f_Dy": Sine("output", 50.0, 30.0, 9.0), "m_Dz": 12.0}
    scenario = Scenario(0.1, path, push, offset={"q_1": 0.01, "u_s_1": -0.3, "u_s_2": -0.2}, seed=4)
    compiled = simulate(loop, scenario)
    assert apart(compiled, simulate(loop, scenario, compiled=False)) < 1e-9
    spools = np.column_stack([compiled.array(n) for n in ("u_s_1", "u_s_2")])
    assert (spools[1:] * spools[:-1] < 0).any()  # a kink was on the way


@pytest.mark.parametrize("stiff", ((), ("x0",), ("x1", "x2"), ("x0", "x1", "x2")))
def test_blocks_of_the_exponential_method(stiff, monkeypatch):
    monkeypatch.setattr(exponential, "GENTLE", 0.0)
    monkeypatch.setattr(RUNS, "_loops", {})
    scenario = Scenario(0.5, disturbances={"w": PUSH}, max_step=0.01)
    runs = [simulate(Curved(stiff=stiff), scenario, compiled=c) for c in (None, False)]
    assert apart(*runs) < 1e-12
    assert (apart(runs[0], simulate(Curved(), scenario)) > 1e-11) == bool(
        stiff
    )  # RK4 where nothing is stiff


@pytest.mark.parametrize("stiff", ((), ("y",)))
@pytest.mark.parametrize("d", (0.2, 2e-3, 0.0))
def test_kinks_are_found_alike(d, stiff):
    """Edges of a dead band, one or three in a step, under a push that jumps between samples."""
    scenario = Scenario(
        2.0,
        disturbances={"w": Push(lambda t: np.sin(9 * t) + 0.7 * (t > 0.043))},
        log_period=0.1,
        max_step=0.04,
    )
    runs = [simulate(Bent(d, stiff=stiff), scenario, compiled=c) for c in (None, False)]
    assert apart(*runs) < 1e-12
    assert apart(runs[0], simulate(Bent(d, guarded=False, stiff=stiff), scenario)) > 1e-7


@pytest.mark.parametrize(
    "wrap",
    (
        lambda law: law,
        lambda law: Sampled(law, 0.02),
        lambda law: Delayed(Sampled(law, 0.02), 0.05),
        lambda law: Delayed(Sampled(Noisy(law, 0.1), 0.02), 0.033),
    ),
    ids=("continuous", "sampled", "whole", "fraction"),
)
def test_driven_flow_and_sparse_logs(wrap):
    """Disturbances that are functions of time enter at the stages; logs keep every third sample."""
    loop = ClosedLoop(PLANT, wrap(LAW))
    scenario = Scenario(0.6, WAVE, {"w0": PUSH}, log_period=0.06, max_step=7e-3, seed=2)
    a, b = simulate(loop, scenario), simulate(loop, scenario, compiled=False)
    assert len(a) == 11 and apart(a, b) < 1e-12


def test_divergence_is_the_same(monkeypatch):
    monkeypatch.setattr(RUNS, "CHUNK", 7)
    plant = Linear(((40.0,),), ((1.0,),), ((1.0,),), x0=(1e290,))
    loop = ClosedLoop(plant, Sampled(Feedback(plant, ((0.0,),)), 0.05))
    logs = [simulate(loop, Scenario(3.0, max_step=0.01), compiled=c) for c in (None, False)]
    assert (
        not logs[0].status.completed
        and logs[0].status == logs[1].status
        and len(logs[0]) == len(logs[1]) > 7
    )
    assert (
        logs[0].status.t_end == pytest.approx(0.05 * len(logs[0])) and logs[0].status.state == "x0"
    )


def test_mapped():
    x, y, s = ca.SX.sym("x", 3), ca.SX.sym("y", 2), ca.SX.sym("s", 2)
    f = ca.Function(
        "f",
        [x, y, s],
        [ca.vertcat(ca.sin(x[0]) * s[1] + y[1], x[1] ** 2 - s[0], ca.fmax(x[2], y[0]))],
    )
    rng = np.random.default_rng(3)
    X, Y, shared = rng.normal(size=(50, 3)), rng.normal(size=(50, 2)), np.array([0.7, 1.9])
    exact = np.column_stack(
        [np.sin(X[:, 0]) * 1.9 + Y[:, 1], X[:, 1] ** 2 - 0.7, np.maximum(X[:, 2], Y[:, 0])]
    )
    for compiled in (None, False):
        g = Mapped(f, compiled)
        assert (g.lib is None) == (compiled is False)
        assert g(X, Y, shared) == pytest.approx(exact, rel=1e-14)
        assert g(X[::-1].T.copy().T, Y, shared) == pytest.approx(
            g(X[::-1].copy(), Y, shared)
        )  # any memory layout
        assert g(X[0], Y[0], shared) == pytest.approx(exact[:1])


@pytest.mark.parametrize("n", (1, 7, 8, 9, 17))
def test_a_row_has_the_same_numbers_whichever_rows_stand_beside_it(n):
    x, s = ca.SX.sym("x", 2), ca.SX.sym("s", 2)
    value = ca.sqrt(ca.fabs(x[0])) * s[0] + ca.tanh(x[1]) / s[1]
    g = Mapped(ca.Function("f", [x, s], [ca.vertcat(value, ca.if_else(x[0] > 0, x[1], -s[0]))]))
    X, shared = np.random.default_rng(5).normal(size=(40, 2)), np.array([1.3, 0.6])
    assert g(X[:n], shared).tobytes() == g(X, shared)[:n].tobytes()
    exact = np.sqrt(np.abs(X[:, 0])) * 1.3 + np.tanh(X[:, 1]) / 0.6
    assert g(X, shared)[:, 0] == pytest.approx(exact, rel=1e-14)


# ---- the cache -------------------------------------------------------------------------------------------------------
SCRIPT = """
import sys, warnings
sys.path[:0] = [{root!r}, {tests!r}]
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    from small import Curved, Fast
    from workbench import Scenario, simulate
    for system in (Curved(), Curved(k=5.0), Fast()):
        log = simulate(system, Scenario(0.05))
    print(repr(log.array("x0")[-1]))
for w in said:
    print("WARNING", w.message)
"""
HERE = Path(__file__).parent


def start(**environment):
    script = SCRIPT.format(root=str(HERE.parent), tests=str(HERE))
    return subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {k: str(v) for k, v in environment.items()},
    )


def finish(process):
    """(last number, warnings) of a run."""
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    number, *said = out.splitlines()
    return float(number.removeprefix("np.float64(").removesuffix(")")), said


@pytest.fixture
def counting(tmp_path):
    """(compiler that counts its calls, number of calls so far)."""
    real, script, calls = COMPILER.compiler(), tmp_path / "ccc", tmp_path / "calls"
    if real is None:
        pytest.skip("no C compiler")
    script.write_text(f'#!/bin/sh\necho called >> "{calls}"\nexec {shlex.join(real)} "$@"\n')
    script.chmod(0o755)
    return script, lambda: len(calls.read_text().splitlines()) if calls.exists() else 0


@pytest.fixture(scope="module")
def expected():
    return float(simulate(Fast(), Scenario(0.05), compiled=False).array("x0")[-1])


def test_a_second_process_does_not_compile(tmp_path, counting, expected):
    compiler, calls = counting
    where = {"FLUIDPROOF_COMPILER": compiler, "FLUIDPROOF_CACHE": tmp_path / "cache"}
    number, said = finish(start(**where))
    assert number == pytest.approx(expected, rel=1e-12) and not said
    assert (
        calls() == 4
    )  # a loop and its monitors; another number in the same graph needs no compiler
    assert finish(start(**where)) == (number, []) and calls() == 4
    # Damaged files (a full disk, another machine's) are made anew.
    for file in (tmp_path / "cache").glob("*.so"):
        file.write_bytes(b"nothing that loads")
    assert finish(start(**where)) == (number, []) and calls() == 8
    kept = {p.suffix for p in (tmp_path / "cache").iterdir()}
    assert kept == {".so", ".sha256"}  # nothing half-written is left


def test_two_processes_at_once(tmp_path, counting, expected):
    compiler, calls = counting
    where = {"FLUIDPROOF_COMPILER": compiler, "FLUIDPROOF_CACHE": tmp_path / "cache"}
    both = [start(**where), start(**where)]
    for process in both:
        assert finish(process) == (pytest.approx(expected, rel=1e-12), [])
    assert 4 <= calls() <= 8 and len(list((tmp_path / "cache").iterdir())) == 8


def test_a_broken_compiler_is_said_once(tmp_path, expected):
    broken = tmp_path / "broken"
    broken.write_text('#!/bin/sh\necho "$5: it is Monday" >&2\nexit 1\n')
    broken.chmod(0o755)
    number, said = finish(start(FLUIDPROOF_COMPILER=broken, FLUIDPROOF_CACHE=tmp_path / "cache"))
    assert number == pytest.approx(expected, rel=1e-12)
    assert len(said) == 1 and "it is Monday" in said[0] and "slower" in said[0]


def test_without_a_compiler(tmp_path, expected):
    number, said = finish(start(FLUIDPROOF_COMPILER="none", FLUIDPROOF_CACHE=tmp_path / "cache"))
    assert number == pytest.approx(expected, rel=1e-12)
    assert len(said) == 1 and "no C compiler" in said[0] and not (tmp_path / "cache").exists()


def test_a_cache_that_cannot_be_written(tmp_path, counting, expected):
    compiler, calls = counting
    (tmp_path / "file").write_text("in the way")
    number, said = finish(
        start(FLUIDPROOF_COMPILER=compiler, FLUIDPROOF_CACHE=tmp_path / "file" / "cache")
    )
    assert number == pytest.approx(expected, rel=1e-12) and not said and calls() == 4


# ---- the processor's own instructions --------------------------------------------------------------------------------
def test_own_instructions_change_no_number(monkeypatch, two_joint):
    loop, scenario = (
        crane_loops(two_joint)["held"],
        Scenario(0.1, Sine("joint", "start", (0.05, 0.08), 0.9, ramp=0.2)),
    )
    runs = []
    for own in (COMPILER.own_flags(), ((),)):
        monkeypatch.setattr(RUNS, "_loops", {})
        monkeypatch.setattr(COMPILER, "_known", {})
        monkeypatch.setattr(COMPILER, "own_flags", lambda own=own: own)
        runs.append(simulate(loop, scenario).values)
    assert np.array_equal(*runs)


@pytest.fixture
def unknown(monkeypatch):
    """No compiler is known yet, and none is after the test."""
    monkeypatch.delenv("FLUIDPROOF_COMPILER", raising=False)
    monkeypatch.delenv("CC", raising=False)
    COMPILER.compiler.cache_clear()
    yield
    COMPILER.compiler.cache_clear()


def test_the_compiler_is_that_of_the_environment_or_of_the_system_or_of_a_package(
    unknown, monkeypatch, tmp_path
):
    for name in ("gcc", "my cc"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    def found(**given):
        COMPILER.compiler.cache_clear()
        with pytest.MonkeyPatch.context() as patch:
            for key, value in given.items():
                patch.setenv(key, value)
            return COMPILER.compiler()

    gcc = str(tmp_path / "gcc")
    assert found() == (gcc,)
    assert found(CC="gcc -m64") == (gcc, "-m64")
    assert found(CC="my cc") == (str(tmp_path / "my cc"),)
    assert found(CC="there is none") == (gcc,)
    assert found(FLUIDPROOF_COMPILER="my cc", CC="gcc") == (str(tmp_path / "my cc"),)
    assert found(FLUIDPROOF_COMPILER="none") is None
    monkeypatch.setenv("PATH", "")
    for spec, command in ((None, None), ("there", (sys.executable, "-m", "ziglang", "cc"))):
        monkeypatch.setattr(COMPILER.importlib.util, "find_spec", lambda name, spec=spec: spec)
        assert found() == command


def test_a_compiler_that_knows_fewer_flags_is_asked_for_these_from_then_on(
    tmp_path, counting, monkeypatch
):
    compiler, calls = counting
    text = compiler.read_text().splitlines()
    text.insert(1, 'case "$*" in *param=*) exit 1;; esac')
    compiler.write_text("\n".join([text[0], text[2], text[1], text[3]]) + "\n")
    monkeypatch.setenv("FLUIDPROOF_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(COMPILER, "compiler", lambda: (str(compiler),))
    monkeypatch.setattr(COMPILER, "_known", {})
    assert COMPILER.library("int seven(void) { return 7; }").seven() == 7 and calls() == 2
    assert COMPILER.library("int eight(void) { return 8; }").eight() == 8 and calls() == 3


def test_code_for_one_processor_is_not_run_on_another(tmp_path, monkeypatch):
    if COMPILER.compiler() is None:
        pytest.skip("no C compiler")
    monkeypatch.setenv("FLUIDPROOF_CACHE", str(tmp_path))
    for processor in ("model name: one", "model name: other", "model name: one"):
        monkeypatch.setattr(COMPILER, "processor", lambda processor=processor: processor)
        assert COMPILER.library("int seven(void) { return 7; }").seven() == 7
    assert len(list(tmp_path.glob("*.so"))) == 2


def test_a_compiler_without_own_instructions(tmp_path, counting, expected):
    compiler, calls = counting
    plain = tmp_path / "plain"
    plain.write_text(
        f'#!/bin/sh\ncase "$*" in *-march=native*) echo "unknown flag" >&2; exit 1;; esac\nexec "{compiler}" "$@"\n'
    )
    plain.chmod(0o755)
    number, said = finish(start(FLUIDPROOF_COMPILER=plain, FLUIDPROOF_CACHE=tmp_path / "cache"))
    assert number == pytest.approx(expected, rel=1e-12) and not said and calls() == 4
