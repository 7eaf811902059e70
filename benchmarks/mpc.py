"""Time and accuracy of one predictive-control solve on the published linear actuator, beside other ways to the same QP.

1 ms samples, limits on X and its rate, load known ahead; the states a closed loop meets. Ours: DAQP set up once, called with
the last active set, including the update of the QP from the state. The others get the same QP (H, f, rows, limits), in their
own warm-started form, or the same problem in words (cvxpy with parameters; do-mpc where it is installed).

    python benchmarks/mpc.py [seconds of closed loop, 2 by default]
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter_ns

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from controllers import MPC, Observer  # noqa: E402
from controllers.mpc.check import refined  # noqa: E402
from controllers.mpc.loop import Fast  # noqa: E402
from plants import LinearActuator  # noqa: E402

X_MAX, T = 4e-4, 1e-3
TARGETS = {20: (12.0, 150.0), 50: (18.0, 150.0)}  # µs: median, 99.9th percentile


def controller(N: int) -> MPC:
    """Position control with limits and the load known ahead."""
    return MPC(
        LinearActuator(),
        Q=(1e6,),
        S=(1e5,),
        N=N,
        u_min=(-X_MAX,),
        u_max=(X_MAX,),
        slew=(0.08,),
        tracked=("Y",),
        signals=("Y",),
        known=("F_ext",),
        observer=Observer(σ_y=(1e-6,), σ_d=(1e-6,)),
    )


def met(law: MPC, seconds: float) -> list[np.ndarray]:
    """θ of every sample of a closed loop: a sine and steps, at times beyond what the actuator can follow, under a 600 N load."""
    q, k_all = law.prepared.problem, np.arange(law.N + 1)
    m, x, found = q.model, np.zeros(len(q.model.A)), []
    z = law.start(0.0, law.initial(), [0.0], None)
    for k in range(int(seconds / T)):
        t = (k + k_all) * T
        r = 0.01 * np.sin(np.pi * t) + 1e-3 * (np.floor(t / 0.25) % 2)
        v = 600.0 * np.sin(2 * np.pi * 1.3 * t)
        z, u = law.step(k * T, z, [x[4]], [*r.tolist(), *v.tolist()])
        found.append(z.last.θ)
        x = m.A @ x + m.B @ u + m.E0 @ v[:1] + m.E1 @ v[1:2]
    return found


def timed(solve: Callable, cases: list, passes: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """(µs of every case, first move of every case in strokes); the fastest of some passes through all cases in order, so
    that the tail is the solver's and not that of whatever else the machine does."""
    times, first = np.full((passes, len(cases)), np.inf), np.empty(len(cases))
    for turn in times:
        for i, case in enumerate(cases):
            begin = perf_counter_ns()
            u = solve(case)
            turn[i] = (perf_counter_ns() - begin) / 1e3
            first[i] = u
    return times.min(axis=0), first


# ---- the solvers -------------------------------------------------------------------------------------------------------
def ours(law):
    solver = Fast(law.prepared.dense)
    return lambda θ: solver.solve(θ).z[0]


def by_cvxpy(law, name):
    from controllers.mpc.convex import stated

    made = stated(law.prepared.problem, scale=law.prepared.dense.scale, solver=name)
    made.accuracy.clear()
    return lambda θ: made.solve(θ)[0][0, 0] / X_MAX


def by_osqp(law, tolerance):
    import osqp
    from scipy.sparse import csc_matrix, triu

    d = law.prepared.dense
    A = np.vstack([np.eye(len(d.H)), d.G])
    solver, begun = osqp.OSQP(), []

    def solve(θ):
        lower, upper = d.bounds(θ)
        f = d.F @ θ + d.c1
        if not begun:
            solver.setup(
                csc_matrix(triu(d.H)),
                f,
                csc_matrix(A),
                lower,
                upper,
                verbose=False,
                eps_abs=tolerance,
                eps_rel=tolerance,
                max_iter=20000,
            )
            begun.append(True)
        else:
            solver.update(q=f, l=lower, u=upper)
        return solver.solve(raise_error=False).x[0]

    return solve


def by_casadi(law, plugin, options):
    import casadi as ca

    d = law.prepared.dense
    solver = ca.conic(
        "qp", plugin, {"h": ca.DM(d.H).sparsity(), "a": ca.Sparsity.dense(*d.G.shape)}, options
    )
    H, G, last, n = ca.DM(d.H), ca.DM(d.G), {}, len(d.H)

    def solve(θ):
        lower, upper = d.bounds(θ)
        result = solver(
            h=H,
            g=d.F @ θ + d.c1,
            a=G,
            lbx=lower[:n],
            ubx=upper[:n],
            lba=lower[n:],
            uba=upper[n:],
            **last,
        )
        last.update(x0=result["x"], lam_x0=result["lam_x"], lam_a0=result["lam_a"])
        return float(result["x"][0])

    return solve


def others(law) -> dict[str, tuple[Callable, int]]:
    """Name → (make the solver, how many samples it gets)."""
    from functools import partial

    return {
        "OSQP direct, 1e-3": (partial(by_osqp, law, 1e-3), 1000),
        "OSQP direct, 1e-8": (partial(by_osqp, law, 1e-8), 300),
        "CasADi conic, DAQP": (partial(by_casadi, law, "daqp", {"error_on_fail": False}), 1000),
        "CasADi conic, qpOASES": (
            partial(by_casadi, law, "qpoases", {"printLevel": "none", "error_on_fail": False}),
            1000,
        ),
        "cvxpy, parameters, DAQP": (partial(by_cvxpy, law, "DAQP"), 100),
        "cvxpy, parameters, OSQP": (partial(by_cvxpy, law, "OSQP"), 100),
        "cvxpy, parameters, Clarabel": (partial(by_cvxpy, law, "CLARABEL"), 100),
    }


def do_mpc_model(m) -> tuple:
    """(do-mpc's model of the linear plant m, its state, its reference)."""
    import do_mpc

    model = do_mpc.model.Model("discrete")
    x = model.set_variable("_x", "x", shape=(len(m.A), 1))
    u = model.set_variable("_u", "u")
    r, v, w = (model.set_variable("_tvp", name) for name in ("r", "v", "w"))
    d = model.set_variable("_p", "d")
    model.set_rhs("x", m.A @ x + m.B * X_MAX @ u + m.E0 @ v + m.E1 @ w + m.B_d @ d)
    model.setup()
    return model, x, r


def do_mpc_solver(law):
    """The same problem in do-mpc (CasADi's IPOPT, multiple shooting); ImportError where it is not installed."""
    import do_mpc

    q = law.prepared.problem
    m, N = q.model, law.N
    model, x, r = do_mpc_model(m)
    made = do_mpc.controller.MPC(model)
    made.set_param(
        n_horizon=N,
        t_step=T,
        store_full_solution=False,
        nlpsol_opts={"ipopt.print_level": 0, "print_time": 0, "ipopt.sb": "yes"},
    )
    scale = law.prepared.dense.scale
    cost = 1e6 * (m.C @ x - r) ** 2 / scale
    made.set_objective(mterm=cost, lterm=cost)
    made.set_rterm(u=1e5 * X_MAX**2 / scale)
    made.bounds["lower", "_u", "u"], made.bounds["upper", "_u", "u"] = -1.0, 1.0
    table, parts = made.get_tvp_template(), made.get_p_template(1)
    now = {"θ": law.parameter(np.zeros(len(m.A)), 0.0)}

    def ahead(_):
        for k in range(N + 1):
            θ = now["θ"]
            vs = θ[q.at["v"]]
            table["_tvp", k, "r"] = θ[q.at["r"]][k]
            table["_tvp", k, "v"] = vs[k]
            table["_tvp", k, "w"] = vs[min(k + 1, N)]
        return table

    def disturbed(_):
        parts["_p", 0, "d"] = now["θ"][q.at["d"]]
        return parts

    made.set_tvp_fun(ahead)
    made.set_p_fun(disturbed)
    begun = []

    def solve(θ):
        now["θ"] = θ
        if not begun:
            made.setup()
            made.x0 = θ[q.at["x"]]
            made.set_initial_guess()
            begun.append(True)
        return float(made.make_step(θ[q.at["x"]][:, None])[0, 0])

    return solve


# ---- the table ---------------------------------------------------------------------------------------------------------
def row(name, times, apart, ratio) -> str:
    """One line of the table."""
    return (
        f"{name:<32}{np.median(times):>11.1f}{np.percentile(times, 99):>11.1f}{np.percentile(times, 99.9):>11.1f}"
        f"{apart:>12.1e}{ratio:>9.1f}"
    )


def compare(N: int, seconds: float) -> None:
    """Table for one horizon."""
    law = controller(N)
    cases = met(law, seconds)
    times, first = timed(ours(law), cases)
    solver = Fast(law.prepared.dense)
    solutions = [solver.solve(θ) for θ in cases]
    exact = [refined(law.prepared.dense, θ, s.λ) for θ, s in zip(cases, solutions)]
    truth = np.array([z[0] for z, _, _ in exact])
    active = np.array([np.count_nonzero(s.λ) for s in solutions])
    print(
        f"\nN = {N}: {len(cases)} samples, limits active in {np.mean(active > 0):.0%}, at most {active.max()}; "
        f"reference: KKT residual {max(residual for _, _, residual in exact):.1e} in extended precision"
    )
    print(f"{'':<32}{'median µs':>11}{'99 %':>11}{'99.9 %':>11}{'first move':>12}{'ratio':>9}")
    print(row("ours", times, np.abs(first - truth).max(), 1.0))
    for name, (make, count) in others(law).items():
        part = cases[:: max(len(cases) // count, 1)]
        part_truth = truth[:: max(len(cases) // count, 1)]
        try:
            other, found = timed(make(), part, 3 if count >= 300 else 1)
        except (
            Exception
        ) as reason:  # a solver that is not installed, or gives up, is a line in the table
            print(f"{name:<32}{type(reason).__name__}: {str(reason).splitlines()[0][:80]}")
            continue
        print(
            row(
                name,
                other,
                np.nanmax(np.abs(found - part_truth)),
                np.median(other) / np.median(times),
            )
        )
    try:
        other, _ = timed(do_mpc_solver(law), cases[:: max(len(cases) // 60, 1)], 1)
        print(
            row("do-mpc, IPOPT (no rate limit)", other, np.nan, np.median(other) / np.median(times))
        )
    except Exception as reason:
        print(f"{'do-mpc':<32}{type(reason).__name__}: {str(reason).splitlines()[0][:80]}")
    median, tail = TARGETS[N]
    print(
        f"target: median ≤ {median:g} µs {'met' if np.median(times) <= median else 'MISSED'}, 99.9 % ≤ {tail:g} µs "
        f"{'met' if np.percentile(times, 99.9) <= tail else 'MISSED'}, first move ≤ 1e-8 "
        f"{'met' if np.abs(first - truth).max() <= 1e-8 else 'MISSED'}"
    )


if __name__ == "__main__":
    for horizon in TARGETS:
        compare(horizon, float(sys.argv[1]) if len(sys.argv) > 1 else 2.0)
