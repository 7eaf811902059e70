"""What one run costs beside the bare equations: energy integrals, kinks, stiff steps, the log, and what Python does around it.

    python benchmarks/one_run.py [--repeat 9] [--lag]

The two-joint crane with ideal valves (--lag: as shipped) under VDC at 1 kHz over 10 s of the demo path. "By hand" is the same graph
in forty lines of C: jump, one RK4 step a sample, and no log. Then our compiled loop without what it can do without, and with one
part after the other; last the whole way from scenario to Log. All are timed in turns, in processor time of the fastest turn, so
that other work on the machine counts little. States at the end agree with those of the whole run.
"""

from __future__ import annotations

import argparse
import ctypes
from dataclasses import replace
from time import process_time

import casadi as ca
import numpy as np
from common import cranes, demo_path, machine_in_words, vdc_loop

from workbench import simulate
from workbench.numerics.c_code import NUMBERS, address, generated, renamed
from workbench.numerics.compiler import library
from workbench.numerics.native import Loop
from workbench.run.demand import Demand
from workbench.run.fused import Fused
from workbench.run.pace import Pace
from workbench.run.start import start_state

SECONDS = 10.0
BY_HAND = """
#define CALL(f, y_) do { const double *arg[4] = {&t, y, w, c}; double *res[1] = {(y_)}; f(arg, res, 0, work, 0); } while (0)
void by_hand(long n, double h, double *x, const double *W, const double *c, double *work) {
  double y[NX], k1[NX], k2[NX], k3[NX], k4[NX];
  for (long k = 0; k < n; ++k) {
    const double *w = W + k * NW;
    double t = k * h;
    for (int i = 0; i < NX; ++i) y[i] = x[i];
    CALL(jump, x);
    if (k == n - 1) return;
    for (int i = 0; i < NX; ++i) y[i] = x[i];
    CALL(flow, k1);
    for (int i = 0; i < NI; ++i) y[i] = x[i] + 0.5 * h * k1[i];
    t = k * h + 0.5 * h;
    CALL(flow, k2);
    for (int i = 0; i < NI; ++i) y[i] = x[i] + 0.5 * h * k2[i];
    CALL(flow, k3);
    for (int i = 0; i < NI; ++i) y[i] = x[i] + h * k3[i];
    t = k * h + h;
    CALL(flow, k4);
    for (int i = 0; i < NI; ++i) x[i] += h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
  }
}
"""


def ideal(segment):
    """The segment with a valve that follows its command."""
    cylinder = segment.cylinder
    return replace(segment, cylinder=replace(cylinder, valve=replace(cylinder.valve, lag="ideal")))


def fused(lag: bool) -> Fused:
    """The run that all rows make."""
    plant = cranes()["two-joint"]
    if not lag:
        structures = tuple(replace(s, revolute=ideal(s.revolute)) for s in plant.structures)
        plant = replace(plant, structures=structures)
    loop = vdc_loop(plant)
    path = demo_path(duration=SECONDS)
    x0 = start_state(loop, path)
    return Fused(loop, path, Demand(loop, path, x0), x0)


def motion_alone(traced) -> ca.Function:
    """The flow without powers."""
    given = [ca.SX.sym(name, traced.motion.size1_in(i)) for i, name in enumerate("txwc")]
    return ca.Function("flow", given, [traced.motion(*given)[: traced.n_moving]])


def nothing(traced) -> ca.Function:
    given = [ca.SX.sym(name, traced.motion.size1_in(i)) for i, name in enumerate("txwc")]
    return ca.Function("nothing", given, [ca.SX(0, 1)])


def by_hand(run: Fused, begun: np.ndarray):
    """A call that takes the run with forty lines of C; it returns the state at the end."""
    t = run.traced
    functions = [motion_alone(t), renamed(t.jump, "jump")]
    sizes = {"LANES": 1, "NX": t.n_states, "NI": t.n_moving, "NW": len(t.live)}
    lib = library(generated(functions, sizes, BY_HAND, NUMBERS))
    d = ctypes.c_double
    p = ctypes.c_void_p
    lib.by_hand.argtypes = [ctypes.c_long, d, p, p, p, p]
    lib.by_hand.restype = None
    work = np.empty(max(f.sz_w() for f in functions) + 1)
    inputs = np.ascontiguousarray(run.inputs)

    def call() -> np.ndarray:
        x = begun.copy()
        arrays = map(address, (x, inputs, run.constants, work))
        lib.by_hand(len(inputs), run.loop.period, *arrays)
        return x

    return call


def compiled(run: Fused, begun: np.ndarray, log: bool, **without):
    """A call that takes the run with our compiled loop, whose trace is changed so."""
    traced = replace(run.traced, **without)
    machine = Loop(traced, monitored=False)
    g = run.grid_at(Pace())
    inputs = np.ascontiguousarray(run.inputs)
    segments = (g.T, g.n1, g.h1, g.n2, g.h2)
    rows = np.empty((g.n, machine.row)) if log else None

    def call() -> np.ndarray:
        state = np.concatenate([begun, np.zeros(traced.n_powers)])
        machine.run(0, g.n, 1, True, *segments, state, inputs, None, run.constants, rows)
        return state[: traced.n_states]

    return call


def fastest(calls: dict, repeat: int) -> dict[str, float]:
    """Processor seconds of the fastest of several turns of every call."""
    found = dict.fromkeys(calls, np.inf)
    for _ in range(repeat):
        for name, call in calls.items():
            begin = process_time()
            call()
            found[name] = min(found[name], process_time() - begin)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=9)
    parser.add_argument("--lag", action="store_true", help="valves of second order, as shipped")
    options = parser.parse_args()
    run = fused(options.lag)
    t = run.traced
    begun = np.array(t.start(0.0, run.x0, run.inputs[0], run.constants)).ravel()
    no_stiff = {"blocks": (), "stiff_at": (), "stiff": nothing(t)}
    no_kinks = {"guards": nothing(t)}
    no_powers = {"motion": motion_alone(t), "n_powers": 0}
    calls = {
        "by hand: RK4 in C, no log": by_hand(run, begun),
        "our loop, the same": compiled(run, begun, False, **no_stiff, **no_kinks, **no_powers),
        "… with energy integrals": compiled(run, begun, False, **no_stiff, **no_kinks),
        "… and kinks": compiled(run, begun, False, **no_stiff),
        "… and stiff steps": compiled(run, begun, False),
        "… and a row of the log a sample": compiled(run, begun, True),
        "scenario to Log, every sample": lambda: simulate(run.loop, run.scenario),
        "scenario to Log, every 100 samples": lambda: simulate(
            run.loop, replace(run.scenario, log_period=0.1)
        ),
    }
    for call in calls.values():
        call()
    spent = fastest(calls, options.repeat)
    least = spent["by hand: RK4 in C, no log"]
    print(machine_in_words())
    print(
        "| one run of 10 s | processor, ms | ratio | more than the row above |\n|---|---|---|---|"
    )
    before = least
    for name, seconds in spent.items():
        print(
            f"| {name} | {1e3 * seconds:.1f} | {seconds / least:.2f} | {(seconds - before) / least:+.2f} |"
        )
        before = seconds


if __name__ == "__main__":
    main()
