"""Plants and loops as C, held against their runs under drawn parameters, and the time that a sample of them takes.

    python benchmarks/exported_parts.py [--draws 20] [--seconds 0.3]

The code is written and compiled once for each grid of steps. For every draw (each number of the law by up to a tenth, the plant's
masses and pressures by up to a hundredth) the loop is simulated, and the code makes the same run with the draw's constants: counted
is how many give every state of the plant to the last bit.
"""

from __future__ import annotations

import argparse
import ctypes
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from common import machine_in_words

from workbench.cases.file import load
from workbench.contract.errors import InputError
from workbench.contract.parameters import bind, leaves
from workbench.interop.export.system_graph import SystemGraph
from workbench.interop.export.system_package import system_text
from workbench.interop.export.system_run import SystemRun, system_graph
from workbench.numerics.compiler import library

EXAMPLES = Path(__file__).parents[1] / "examples"
CASES = ("two-cylinders", "arm-imv-vdc", "hiab-xs031-pid")  # smallest first
VARIED = ("mass", "pressure")  # what of the plant is drawn, too


def drawn(loop, random: np.random.Generator):
    """The loop with other numbers."""
    values = {}
    for leaf in leaves(loop):
        law = leaf.path.startswith("controller.") and "model" not in leaf.path
        if leaf.constant or leaf.path.endswith("T_s") or not leaf.value:
            continue
        if law:
            values[leaf.path] = leaf.value * float(random.uniform(0.9, 1.1))
        elif leaf.path.startswith("plant.") and leaf.path.endswith(VARIED):
            values[leaf.path] = leaf.value * float(random.uniform(0.99, 1.01))
    return bind(loop, values)


def compiled(graph: SystemGraph, run: SystemRun) -> ctypes.CDLL:
    """The exported code as a library."""
    text = system_text(graph, run, "part")
    code = library(text.source().replace('#include "part.h"', text.header()))
    assert code is not None, "a C compiler is needed"
    return code


def walked(code: ctypes.CDLL, graph: SystemGraph, run: SystemRun) -> tuple[bool, float]:
    """(whether every state is that of the run, microseconds a sample)."""
    at = lambda a: ctypes.c_void_p(a.ctypes.data)
    c = np.append(graph.constants, 0.0)
    x = np.array(graph.start)
    rows = np.column_stack([run.t, run.inputs])
    code.part_start(at(c), at(np.ascontiguousarray(rows[0])), at(x))
    same, spent = True, 0.0
    for row, wanted in zip(np.ascontiguousarray(rows), run.states):
        same &= np.array_equal(x[: graph.moving], wanted)
        begun = time.perf_counter()
        code.part_step(at(c), at(row), at(x))
        spent += time.perf_counter() - begun
    return same, 1e6 * spent / len(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=0.3)
    options = parser.parse_args()
    print(machine_in_words())
    print(f"{'case':18}{'part':8}{'a sample, µs':>14}{'to the last bit':>18}{'no run':>8}")
    for name in CASES:
        case = load(EXAMPLES / f"{name}.yaml")
        scenario = replace(case.scenario, duration=options.seconds)
        for part in ("plant", "loop"):
            random = np.random.default_rng(5)
            codes: dict = {}
            well = refused = 0
            least = float("inf")
            for _ in range(options.draws):
                try:
                    graph, run = system_graph(drawn(case.loop, random), scenario, part)
                except InputError:  # a draw that cannot be held at its start
                    refused += 1
                    continue
                assert not graph.driven
                code = codes.get(graph.grid) or codes.setdefault(graph.grid, compiled(graph, run))
                same, spent = walked(code, graph, run)
                well += same
                least = min(least, spent)
            made = options.draws - refused
            told = f"{well} of {made}"
            print(f"{name:18}{part:8}{least:14.1f}{told:>18}{refused:8}", flush=True)


if __name__ == "__main__":
    main()
