"""Microseconds a sample of exported laws, beside the same law in the fused loop and beside PID written by hand.

    python benchmarks/exported_law.py [--rounds 200] [--draws 20]

Each law is run over the samples of its own run, in C, again and again; the least time of the rounds counts. Then parameter sets
are drawn for each law, exported, compiled, and held against their own runs: how many give every command to the last bit.
"""

from __future__ import annotations

import argparse
import ctypes
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from common import machine_in_words

from workbench import Scenario
from workbench.cases.file import load
from workbench.contract.parameters import bind, leaves
from workbench.interop.export.checking import against_run
from workbench.interop.export.compiled import Compiled
from workbench.interop.export.law_graph import LawGraph, law_graph
from workbench.interop.export.package import export_law
from workbench.interop.export.replay import Replay, replay
from workbench.numerics.calculus import trace
from workbench.numerics.compiler import library
from workbench.numerics.mapped import Mapped
from workbench.run.demand import Demand
from workbench.run.start import start_state

EXAMPLES = Path(__file__).parents[1] / "examples"
LAWS = (
    "hiab-xs031-two-joint",
    "hiab-xs031",
    "excavator",
    "arm-imv-vdc",
    "hiab-xs031-pid",
    "ieha-pid",
)
SECONDS = 2.0  # of each run

# The PID of ieha-pid.yaml as an engineer would write it: integral by back-calculation, feed-forward, limit.
BY_HAND = """
typedef struct { double integral; double error; } memory;
static double pid(memory *m, double wanted, double rate, double position)
{
  const double K_p = 0.4, K_i = 2.0, K_v = 0.0087, u_max = 5e-4, T_s = 1e-3, T_t = 0.2, tau = 0.02;
  double e = wanted - position;
  double u = K_p * e + m->integral + K_v * rate;
  double limited = u > u_max ? u_max : u < -u_max ? -u_max : u;
  m->integral += T_s * (K_i * e + (limited - u) / T_t);
  m->error = (tau * m->error + T_s * e) / (tau + T_s);
  return limited;
}
double rounds(long times, long n, const double *in, double *sum)
{
  double total = 0.0;
  for (long k = 0; k < times; ++k) {
    memory m = {0.0, 0.0};
    for (long i = 0; i < n; ++i) total += pid(&m, in[4 * i + 2], in[4 * i + 3], in[4 * i + 1]);
  }
  *sum = total;
  return total;
}
"""


def driver(folder: Path, graph: LawGraph) -> ctypes.CDLL | None:
    """The law's step over rows of inputs, many times, as a library."""
    width = 1 + len(graph.measured) + len(graph.references)
    code = (
        (folder / "law.c").read_text().replace('#include "law.h"', (folder / "law.h").read_text())
    )
    return library(
        code
        + f"""
double rounds(long times, long n, const double *in, double *sum)
{{
  double total = 0.0;
  for (long k = 0; k < times; ++k) {{
    law_memory z = {{0}};
    law_outputs u;
    law_start(&law_default_constants, (const law_inputs *)in, &z);
    for (long i = 0; i < n; ++i) {{
      law_step(&law_default_constants, (const law_inputs *)(in + {width} * i), &z, &u);
      total += *(double *)&u;
    }}
  }}
  *sum = total;
  return total;
}}
"""
    )


def microseconds(code: ctypes.CDLL, run: Replay, rounds: int) -> float:
    """Least time a sample over the rounds."""
    inputs = np.ascontiguousarray(run.inputs)
    total = ctypes.c_double()
    code.rounds.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    best = float("inf")
    for _ in range(rounds):
        begun = time.perf_counter()
        code.rounds(1, len(inputs), inputs.ctypes.data, ctypes.addressof(total))
        best = min(best, time.perf_counter() - begun)
    return 1e6 * best / len(inputs)


def fused(loop, scenario: Scenario, rounds: int) -> float:
    """Least time a sample of the loop's own jump, on states of its run."""
    from workbench import simulate

    demand = Demand(loop, scenario, start_state(loop, scenario))
    log = simulate(loop, scenario)
    traced = trace(loop, demand.live)
    jump = Mapped(traced.jump)
    states = np.ascontiguousarray(np.column_stack([log[s.name] for s in loop.states]))
    given = np.ascontiguousarray(demand.at(log.time))
    constants = traced.constants(loop)
    times = np.ascontiguousarray(log.time[:, None])
    best = float("inf")
    for _ in range(rounds):
        begun = time.perf_counter()
        jump(times, states, given, constants)
        best = min(best, time.perf_counter() - begun)
    return 1e6 * best / len(log)


def drawn(controller, random: np.random.Generator):
    """The controller with every number of its own changed by up to a tenth; those of its model and its sample time stay."""
    own = [
        leaf
        for leaf in leaves(controller)
        if not leaf.constant and "model" not in leaf.path and not leaf.path.endswith("T_s")
    ]
    return bind(
        controller, {leaf.path: leaf.value * float(random.uniform(0.9, 1.1)) for leaf in own}
    )


def same(case, scenario: Scenario, draws: int) -> int:
    """How many of so many draws give the commands of their own run to the last bit."""
    random = np.random.default_rng(1)
    well = 0
    for _ in range(draws):
        loop = replace(case.loop, controller=drawn(case.loop.controller, random))
        graph = law_graph(loop.controller)
        run = replay(loop, scenario, graph)
        with tempfile.TemporaryDirectory() as beside:
            law = Compiled(export_law(Path(beside) / "law", graph, run))
            well += bool(against_run(law, run).well)
    return well


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--draws", type=int, default=20)
    options = parser.parse_args()
    print(machine_in_words())
    heads = ("exported, µs", "fused loop, µs", "ratio", "run and export, s", "to the last bit")
    print(f"{'law':24}" + "".join(f"{head:>18}" for head in heads))
    for name in LAWS:
        case = load(EXAMPLES / f"{name}.yaml")
        scenario = replace(case.scenario, duration=SECONDS)
        begun = time.perf_counter()
        graph = law_graph(case.loop.controller)
        run = replay(case.loop, scenario, graph)
        with tempfile.TemporaryDirectory() as beside:
            folder = export_law(Path(beside) / "law", graph, run)
            seconds = time.perf_counter() - begun
            code = driver(folder, graph)
        assert code is not None, "a C compiler is needed"
        ours = microseconds(code, run, options.rounds)
        own = fused(case.loop, scenario, max(5, options.rounds // 10))
        bitwise = same(case, scenario, options.draws)
        told = (
            f"{ours:.3g}",
            f"{own:.3g}",
            f"{ours / own:.2f}",
            f"{seconds:.1f}",
            f"{bitwise} of {options.draws}",
        )
        print(f"{name:24}" + "".join(f"{word:>18}" for word in told), flush=True)
    hand = library(BY_HAND)
    assert hand is not None
    by_hand = microseconds(hand, run, options.rounds)
    print(f"PID by hand {by_hand:.4f} µs, exported {ours:.4f} µs, ratio {ours / by_hand:.2f}")


if __name__ == "__main__":
    main()
