"""Exported laws of every example, each with drawn numbers: how many runs does the code make to the last bit?

    python benchmarks/exported_draws.py [--draws 200] [--seconds 0.05] [--only ieha-pid]

A law is written and compiled once. For every draw each number of it is changed by up to a tenth (those of its model and its
samples stay), the loop is simulated, and the code is given the constants of the draw and what the law saw. A linear MPC has its
numbers worked out before, so it is held against the run of its file alone, within what its manifest allows.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from common import machine_in_words

from workbench.cases.file import load
from workbench.contract.errors import InputError
from workbench.contract.parameters import bind, leaves
from workbench.contract.system import innermost
from workbench.interop.export.checking import against_run
from workbench.interop.export.compiled import Compiled
from workbench.interop.export.law_graph import LawGraph
from workbench.interop.export.laws import graph_of, run_of
from workbench.interop.export.library import replayed
from workbench.interop.export.package import export_law

EXAMPLES = Path(__file__).parents[1] / "examples"
STAY = ("model", "T_s", "delay")  # what of a path leaves its number as it is


def drawn(controller, random: np.random.Generator):
    """The controller with other numbers of its own."""
    own = (
        leaf
        for leaf in leaves(controller)
        if not leaf.constant and not any(word in leaf.path for word in STAY)
    )
    return bind(
        controller, {leaf.path: leaf.value * float(random.uniform(0.9, 1.1)) for leaf in own}
    )


def constants(graph: LawGraph, controller) -> np.ndarray:
    """Those of the exported code for other numbers."""
    at = {leaf.path: leaf.value for leaf in leaves(controller)}
    values = np.array([at[leaf.path] for leaf in graph.parameters], float)
    return np.array(graph.prepare(values)).ravel()


def counted(case, scenario, graph: LawGraph, code, draws: int) -> tuple[int, int, int]:
    """(runs to the last bit, runs in which no command changes, draws that have no run)."""
    random = np.random.default_rng(3)
    well = resting = refused = 0
    for _ in range(draws):
        try:
            controller = drawn(case.loop.controller, random)
            run = run_of(replace(case.loop, controller=controller), scenario, graph)
        except InputError:
            refused += 1
            continue
        code.constants = constants(graph, controller)
        initial = np.array(controller.initial(), float)
        _, commands = replayed(code, run, initial)
        well += np.array_equal(commands, run.commands)
        resting += not np.ptp(run.commands, axis=0).any()
    return well, resting, refused


def row(case, seconds: float, draws: int) -> str:
    """What an example's law gives, in words."""
    scenario = replace(case.scenario, duration=seconds)
    graph = graph_of(case.loop.controller)
    run = run_of(case.loop, scenario, graph)
    with tempfile.TemporaryDirectory() as beside:
        law = Compiled(export_law(Path(beside) / "law", graph, run))
    if not isinstance(graph, LawGraph):
        return f"MPC: {against_run(law, run).words}"
    well, resting, refused = counted(case, scenario, graph, law.library, draws)
    told = f"{well} of {draws - refused} to the last bit"
    told += f", {resting} at rest" if resting else ""
    kind = type(innermost(case.loop.controller)).__name__
    return f"{kind}: {told}" + (f", {refused} without a run" if refused else "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=0.05)
    parser.add_argument("--only", nargs="*")
    options = parser.parse_args()
    print(machine_in_words())
    for path in sorted(EXAMPLES.glob("*.yaml")):
        if options.only and path.stem not in options.only:
            continue
        begun = time.perf_counter()
        try:
            told = row(load(path), options.seconds, options.draws)
        except InputError as why:
            told = f"not exported: {str(why).splitlines()[0]}"
        print(f"{path.stem:24}{told} ({time.perf_counter() - begun:.0f} s)", flush=True)


if __name__ == "__main__":
    main()
