"""Wall seconds per simulated second of the hydraulic crane under VDC, ours and others, side by side; and our error.

    python benchmarks/simulation.py [--repeat 7] [--quick]

One closed loop for all: plant with valves and friction, VDC with the exact rate of the required force, 1 kHz hold, the
demo path. Ours includes everything up to the finished Log. What cannot run 30 s in reasonable time runs a shorter
stretch, which the last column says.
"""

from __future__ import annotations

import argparse
import math
import warnings
from functools import partial

import numpy as np
from common import T_S, cranes, demo_path, machine_in_words, row, table, timed, vdc_loop
from simulation_peers import Callables, plain_text, restarted

from workbench import ClosedLoop, Log, Scenario, simulate
from workbench.contract.system import names

FINE = 64  # steps per sample of the converged reference
HELD = 1e-6  # a state that moves less than this is held, its error is judged absolutely


# ---- ours -----------------------------------------------------------------------------------------------------------
class UserPID:
    """What a user writes in plain Python: position PID per piston, with feed-forward of the wanted velocity."""

    measured = ("x_1", "x_2")
    references = ("x_1_d", "x_2_d", "dx_1_d", "dx_2_d")
    T_s = T_S

    def initial(self):
        return [0.0, 0.0, 0.0, 0.0]

    def step(self, t, z, y, r):
        u, new = [], list(z)
        for i in (0, 1):
            e = r[i] - y[i]
            slope = (e - z[2 + i]) / self.T_s
            new[i], new[2 + i] = z[i] + 120.0 * self.T_s * e, e
            u.append(max(-10.0, min(10.0, 70.0 * e + new[i] + 0.05 * slope + 40.0 * r[2 + i])))
        return new, u


def ours(repeat: int) -> list:
    """Rows of our own simulators."""
    plants = cranes()
    two, three = (vdc_loop(plant) for plant in plants.values())
    path = demo_path()
    seconds = path.length()
    hosted = ClosedLoop(plants["two-joint"], UserPID())
    rows = []
    for name, loop, target, often, options in (
        ("compiled, fused, two-joint", two, 0.004, repeat, {}),
        ("compiled, fused, three-joint", three, 0.008, repeat, {}),
        ("user's PID in plain Python, two-joint", hosted, 0.02, repeat, {}),
        ("without a compiler, two-joint", two, 0.08, max(3, repeat // 2), {"compiled": False}),
        ("without a compiler, three-joint", three, None, max(3, repeat // 2), {"compiled": False}),
    ):
        rows.append(
            row(name, timed(partial(simulate, loop, path, **options), often), seconds, target)
        )
    return rows


def plant_states(log: Log, loop) -> np.ndarray:
    """Columns of the plant's states."""
    return np.column_stack([log.array(name) for name in names(loop.plant.states)])


def relative_errors(found: np.ndarray, true: np.ndarray) -> np.ndarray:
    """Largest error of each column over its range, or the error itself where the column is held."""
    spread = np.ptp(true, axis=0)
    return np.abs(found - true).max(axis=0) / np.where(spread > HELD, spread, 1.0)


def accuracy() -> str:
    """Error of the default step against a converged run, all plant states."""
    lines = []
    for name, plant in cranes().items():
        loop = vdc_loop(plant)
        true = plant_states(simulate(loop, demo_path(max_step=T_S / FINE)), loop)
        half = plant_states(simulate(loop, demo_path(max_step=2 * T_S / FINE)), loop)
        found = plant_states(simulate(loop, demo_path()), loop)
        errors, doubt = relative_errors(found, true), relative_errors(half, true).max()
        listed = "  ".join(f"{s} {e:.1e}" for s, e in zip(names(plant.states), errors))
        worst = int(errors.argmax())
        verdict = "met" if errors[worst] <= 1e-6 else "MISSED"
        lines += [
            f"{name}: largest error {errors[worst]:.1e} of range ({names(plant.states)[worst]}), target 1e-6 "
            f"{verdict}; the reference (h = 1 ms/{FINE}) is good to {doubt:.0e}",
            f"    {listed}",
        ]
    return "\n".join(lines)


# ---- others on the same loop ----------------------------------------------------------------------------------------
def scipy_rows() -> list:
    """Rows of solve_ivp, and how far it is from ours where both are converged."""
    rows = []
    loop, path = vdc_loop(cranes()["two-joint"]), demo_path()
    fast = Callables(loop, path)
    ways = [("C right-hand side", fast.compiled)] if fast._flow.lib is not None else []
    for text, kind in (*ways, ("CasADi right-hand side", fast.machine)):
        for method in ("RK45", "DOP853"):
            took = timed(partial(restarted, fast, kind, 1000, method, 1e-6), 3)
            rows.append(
                row(f"solve_ivp {method} each sample, {text}", took, 1.0, note="1 s, rtol 1e-6")
            )
    took = timed(lambda: plain_text(loop, path, 10), 1, warm=0)
    rows.append(
        row("solve_ivp RK45 each sample, plain NumPy", took, 0.01, note="0.01 s, rtol 1e-6")
    )
    return rows


def independent() -> str:
    """Our converged run against scipy's, two seconds of the sampled loop."""
    loop = vdc_loop(cranes()["two-joint"])
    fast = Callables(loop, demo_path())
    kind = fast.compiled if fast._flow.lib is not None else fast.machine
    theirs = restarted(fast, kind, 2000, "DOP853", 1e-13)
    log = simulate(loop, demo_path(max_step=T_S / FINE, duration=2.0))
    n = len(loop.plant.states)
    apart = relative_errors(plant_states(log, loop), theirs[:, :n])
    return f"converged run against DOP853 at rtol 1e-13, two-joint, first 2 s: {apart.max():.1e} of range"


def control_rows() -> list:
    """python-control on the continuous law (it has no hold): 0.2 s."""
    import control

    from controllers import VDC
    from workbench.interop.control import to_control
    from workbench.run.demand import Demand

    plant, span = cranes()["two-joint"], 0.2
    loop = ClosedLoop(plant, VDC(model=plant))
    x0 = np.array(loop.initial(), float)
    demand = Demand(loop, demo_path(), x0)
    t = np.arange(int(span / T_S) + 1) * T_S
    sys = to_control(loop, inputs=demand.live)
    run = lambda: control.input_output_response(
        sys, t, demand.at(t).T, x0, solve_ivp_kwargs={"rtol": 1e-6}
    )
    name = "python-control, continuous law, CasADi right-hand side"
    return [
        row(name, timed(run, 2, warm=0), span, note=f"{span} s, rtol 1e-6"),
        row("ours on that loop, compiled", timed(lambda: simulate(loop, demo_path()), 3), 30.0),
    ]


def step_through(machines: list, ends: list, span: float, h: float) -> None:
    """Run the next machine and keep where its joints end."""
    ends.append(machines.pop().run(span, h))


def exudyn_rows() -> list:
    """The mechanics alone, springs for cylinders: exudyn in redundant coordinates, ours in joint coordinates."""
    try:
        from exudyn_crane import ExudynCrane, SpringCrane
    except ImportError as reason:
        return [row(f"exudyn: {reason}", [(math.nan, math.nan)])]
    crane = SpringCrane(cranes()["two-joint"])
    ours_log = simulate(crane, Scenario(duration=10.0))
    rows = [
        row(
            "ours, mechanics alone, RK4",
            timed(lambda: simulate(crane, Scenario(duration=10.0)), 5),
            10.0,
        )
    ]
    for h in (1e-3, 1e-4):
        span, ends = 2.0, []
        fresh = [
            ExudynCrane(crane) for _ in range(3)
        ]  # each runs once: the solver leaves the end state behind
        took = timed(partial(step_through, fresh, ends, span, h), len(fresh), warm=0)
        q = ends[0]
        true = ours_log.values[: round(span / T_S) + 1, :2]
        apart = np.abs(q - true[-1]).max() / np.ptp(true, axis=0).max()
        rows.append(
            row(
                f"exudyn, generalised alpha, {1e3 * h:g} ms",
                took,
                span,
                note=f"{span:g} s; joints at the end within {apart:.0e} of range of ours",
            )
        )
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--repeat", type=int, default=7, help="timed runs of ours, after a warm one"
    )
    parser.add_argument("--quick", action="store_true", help="ours only")
    options = parser.parse_args()
    print(machine_in_words())
    rows = ours(options.repeat)
    if not options.quick:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            rows += scipy_rows() + control_rows()
    print(table(rows, "run/sim"))
    if not options.quick:
        print("\nmechanics alone, springs for cylinders\n" + table(exudyn_rows(), "run/sim"))
    print("\nerror of the default step, 1 ms\n" + accuracy())
    if not options.quick:
        print(independent())
    print(machine_in_words())


if __name__ == "__main__":
    main()
