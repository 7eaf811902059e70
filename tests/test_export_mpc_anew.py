"""Predictive laws that linearise anew at every sample as C: the estimates, statuses and commands of the law in Python."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import numpy as np
import pytest
from forging import planted

from controllers import MPC, Limit, Observer
from controllers.mpc.loop import NO_MODEL
from controllers.mpc.sequence import FIRST
from workbench import (
    ClosedLoop,
    Delayed,
    Filtered,
    Hold,
    InputError,
    Sampled,
    Scenario,
    Signal,
    System,
    simulate,
)
from workbench.cases.file import load
from workbench.contract.parameters import Unit
from workbench.contract.plain import plain
from workbench.interop.export import path_core
from workbench.interop.export.checking import against_run, sanitized
from workbench.interop.export.compiled import Compiled
from workbench.interop.export.laws import graph_of, run_of
from workbench.interop.export.manifest import read_manifest
from workbench.interop.export.package import export_law


@dataclass(frozen=True)
class Ram(System):
    """A mass that a valve moves; the flow falls with the root of the pressure that is left.

    q̇ = v,   v̇ = A p − b v + F,   ṗ = β (c u √|1.3 − s(u) p| − A v), smooth where it is 0
    """

    A: Annotated[float, Unit("1")] = 0.8
    b: Annotated[float, Unit("1")] = 0.35
    β: Annotated[float, Unit("1")] = 6.0
    c: Annotated[float, Unit("1")] = 1.7
    states = (Signal("q", "m"), Signal("v", "m/s"), Signal("p", "Pa"))
    inputs = (Signal("u", "V"), Signal("F", "N", kind="disturbance"))
    outputs = (Signal("q", "m"), Signal("p", "Pa"), Signal("v", "m/s"))

    def initial(self):
        return [0.1, 0.0, 0.02]

    def limits(self):
        return {"u": (-0.6, 0.6)}

    def rhs(self, t, x, w):
        _, v, p = x
        u, F = w
        left = np.sqrt(np.sqrt((1.3 - np.tanh(20 * u) * p) ** 2 + 0.1))
        return [v, self.A * p - self.b * v + F, self.β * (self.c * u * left - self.A * v)]

    def out(self, t, x):
        return [x[0], x[2], x[1]]


def observer(place):
    """Of position and pressure; what is not known acts there."""
    return Observer((1e-4, 2e-4), (1e-3,), σ_x=(1e-4,), disturbance=(place,))


def law(**changes):
    settings = {
        "Q": (50.0,),
        "S": (0.2,),
        "N": 8,
        "T_s": 0.04,
        "u_min": (-0.5,),
        "u_max": (0.5,),
        "signals": ("q", "p"),
        "observer": observer("F"),
        "terminal": "none",
        "relinearise": True,
    }
    return MPC(Ram(), **{**settings, **changes})


LAWS = {
    "observer": law(),
    "states measured, blocks, slew": law(
        signals=(), observer=None, blocks=(1, 2, 2, 3), slew=(4.0,), iterations=2, preview=0
    ),
    "disturbance at the output": law(observer=observer("p")),
}


def exported(controller, folder, duration=1.6):
    """(loop, graph, run, code) along a step, a load and noise that the law does not know of."""
    loop = ClosedLoop(Ram(b=0.3), controller)
    graph = graph_of(loop.controller)
    scenario = Scenario(duration, Hold("output", (0.4,)), offset={"v": 0.05}, max_step=5e-3)
    run = run_of(loop, scenario, graph)
    return loop, graph, run, export_law(folder, graph, run)


CASES = [
    "observer",
    "states measured, blocks, slew",
    pytest.param("disturbance at the output", marks=pytest.mark.long),
]


@pytest.fixture(scope="module", params=CASES)
def made(request, tmp_path_factory):
    own = LAWS[request.param]
    return own, *exported(Sampled(own, own.T_s), tmp_path_factory.mktemp("anew") / "law")


def test_the_code_gives_the_commands_of_the_run(made):
    _, _, _, run, folder = made
    code = Compiled(folder)
    found = against_run(code, run)
    assert found.well and "1e-09" in found.words
    assert np.ptp(run.commands) > 0.5 and np.abs(run.commands).max() == pytest.approx(0.5)


def test_estimates_and_statuses_are_those_of_the_law(made):
    """Over samples that no machine gives: jumps, and a sensor that drops out, at which the plant has no derivative."""
    own, _, graph, _, folder = made
    code = Compiled(folder)
    at = [s.name for s in graph.memory]
    rng = np.random.default_rng(4)
    z, memory = own.initial(), code.initial()
    seen = set()
    for k in range(40):
        y = 0.3 * rng.normal(size=len(graph.measured))
        if k in (12, 13, 30) and own.observer is None:
            y[1] = np.nan
        r = np.full(len(graph.references), 0.2 * np.sin(0.3 * k))
        if k == 0:
            z, memory = own.start(0.0, z, y, r), code.start(0.0, memory, y, r)
        z, u = own.step(0.0, z, y, r)
        memory, v = code.step(0.0, memory, y, r)
        told = dict(zip(at, memory))
        assert told["status"] == z.last.solution.status and told["fallback"] == z.last.fallback
        assert np.abs(np.array(v) - u).max() < 1e-9
        assert np.allclose(memory[: len(z.x)], z.x, rtol=1e-9, atol=1e-12, equal_nan=True)
        seen.add((told["status"], told["fallback"]))
    assert (1.0, 0.0) in seen
    if own.observer is None:
        assert {(NO_MODEL, 1.0)} <= seen


def test_the_code_closes_the_loop(made):
    own, loop, _, _, folder = made
    scenario = Scenario(1.2, Hold("output", (-0.2,)), offset={"p": 0.1}, max_step=5e-3)
    before = simulate(loop, scenario)
    after = simulate(ClosedLoop(loop.plant, Compiled(folder)), scenario)
    assert np.ptp(before["q"].values) > 0.1
    assert np.abs(after["q"].values - before["q"].values).max() < 1e-9


FAULTS = {
    "sign": ("told[1] = ", "told[1] = -"),
    "memory": ("    covariance_ahead(k, &along, cov);\n", ""),
    "path": ("    driven(&along, x, commands, states);\n    for", "    for"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_in_the_code_is_refused(made, tmp_path, fault):
    own, _, _, _, folder = made
    if own is not LAWS["observer"]:
        pytest.skip("one of them is enough")
    change = lambda code: code.replace(*FAULTS[fault], 1)
    with pytest.raises(InputError, match="does not do what the verified law did"):
        Compiled(planted(folder, tmp_path, "law.c", change))


def test_wrappers_go_with_it(tmp_path):
    controller = Delayed(Sampled(Filtered(law(), 8.0), 0.04), 0.04)
    _, _, run, folder = exported(controller, tmp_path / "law", 0.8)
    assert (
        against_run(Compiled(folder), run).well
        and read_manifest(folder)["wrappers"][0] == "Delayed"
    )


@pytest.mark.long
def test_it_runs_without_undefined_behaviour(made):
    assert sanitized(made[4], "law").well in (True, None)


@pytest.mark.long
@pytest.mark.parametrize("name", ["hiab-xs031-mpc", "excavator-mpc"])
def test_laws_of_machines_give_the_commands_of_their_runs(name, tmp_path):
    case = load(Path(__file__).parents[1] / "examples" / f"{name}.yaml")
    graph = graph_of(case.loop.controller)
    run = run_of(case.loop, replace(case.scenario, duration=0.4), graph)
    assert against_run(Compiled(export_law(tmp_path / "law", graph, run)), run).well


def test_the_same_numbers_stand_in_both():
    assert (path_core.NO_MODEL, path_core.FIRST) == (NO_MODEL, FIRST)


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"limits": (Limit("q", -1.0, 1.0),)}, "limits of outputs"),
        ({"R": (0.1,)}, "R weighs its commands"),
        ({"delay": 0.04}, "dead time of its own"),
        (
            {"known": ("F",), "observer": observer("u")},
            "known ahead",
        ),
        ({"terminal": "cost"}, "terminal cost"),
    ],
)
def test_what_has_no_c_is_refused(changes, words):
    own = plain(law(**changes), Ram())
    with pytest.raises(InputError, match=f"linearises anew at every sample: .*{words}"):
        graph_of(Sampled(own, 0.04))
