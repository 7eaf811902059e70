"""Virtual decomposition control of a hydraulic crane: the checks of [Petrovic22], Section 7, and what its stability
theorem says about a machine with valves, friction and a sample time.

    python -m reports.studies.petrovic22 [picture.svg]

Model (the crane of the paper's Fig. 10 as two closed chains), specification (what the theorem asks for), analysis and
result follow in this order. `results()` computes, `check()` asserts, `main()` prints and draws. The corners of its
path are published nowhere; A, B, C, D are those of the authors' own supplementary code.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np

from workbench.cases.file import loads
from workbench.numerics.calculus import directional, jacobian_columns
from workbench.run.metrics import performance_index
from workbench.verification.claims import Identity, Inequality
from workbench.verification.ledger.claims import check_identity, check_inequality
from workbench.verification.observed.oscillation import oscillation
from workbench.verification.run import Run, run

# ---- model ----------------------------------------------------------------------------------------------------------
# From the start to A, then two A-B-C-D loops, two seconds a leg, on a quintic rest-to-rest path. Gains: λ = 8 1/s,
# K_A = 10 M_A, k_x = 6 mm, β k_f = 120 1/s. The paper has measurement noise and filters, but no numbers for them.
CASE = """
plant:
  machine: hiab-xs031
  lock: {{extension: 0.5 m}}
  change: {{{change}}}
{friction}
controller: {{law: VDC, λ: 8 1/s, κ: 10 1/s, k_x: 6 mm, βk_f: 120 1/s}}
loop: {{sample_time: {sample_time}{more}}}
scenario:
  reference: {{type: Waypoints, space: cartesian, points: [start, {points}], leg: 2 s}}
  offset: {{{offset}}}
"""
A = "[2.5 m, 1 m]"
B = "[3 m, 1.5 m]"
C = "[3.5 m, 1 m]"
D = "[3 m, 0.5 m]"
IDEAL = "all.valve.lag: ideal"  # static valves (82), (83), as in the paper
NOISE = ", noise: {sigma: 0.02 bar, signals: [p]}, filter: {frequency: 200 Hz, signals: [p]}"


def case(
    change: str = IDEAL,
    friction: str = "",
    sample_time: str = "continuous",
    offset: str = "",
    more: str = "",
    legs: int = 9,
):
    """The crane on its path, with what is different written as in a case file."""
    points = ", ".join([A, *[B, C, D, A] * 2][:legs])
    return loads(
        CASE.format(
            change=change,
            friction=f"  friction: {friction}" if friction else "",
            points=points,
            sample_time=sample_time,
            offset=offset,
            more=more,
        ),
        "petrovic22.yaml",
    )


# ---- specification --------------------------------------------------------------------------------------------------
# (99), v̇ ≤ −Σ ΔVᵀK_AΔV − Σ (k_f/k_x)Δf², is proved for a continuous law, monotone friction and a static valve within
# its limits. Each case but the first drops one of these; the start is half a degree off: v is far from rounding.
OFF = "q_1: 0.5 deg"
CASES = {
    "monotone friction, ideal valve": {"offset": OFF},
    "Stribeck friction": {"offset": OFF, "friction": "{law: Stribeck}"},
    "LuGre friction": {"offset": OFF, "friction": "{law: LuGre}"},
    "valve of 100 Hz": {"offset": OFF, "change": "all.valve.frequency: 100 Hz"},
    "valve limited to 4 V": {"offset": OFF, "change": f"{IDEAL}, all.valve.u_max: 4 V"},
    "hold of 1 ms": {"offset": OFF, "sample_time": "1 ms"},
}
HOLDS = (0.25, 0.5, 1.0, 2.0, 4.0)  # ms; with a hold, v scales as T_s² and the error as T_s
TOO_SLOW = 30.0  # ms


# ---- analysis -------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Row:
    """What one case did to (99): share of instants violated, largest excess (W) and |v̇| (W), its cause; residual of the
    completed identity; largest tool error after 4 s (m)."""

    share: float
    excess: float
    top: float
    cause: str
    residual: float
    error: float


@dataclass(frozen=True, eq=False)
class Results:
    """Everything `check` asserts and `main` shows."""

    forces: tuple[np.ndarray, np.ndarray]  # (68) and Lagrange's equations, (N, 2) N
    rows: dict[str, Row]
    holds: tuple[np.ndarray, np.ndarray, np.ndarray]  # T_s s, max v J, max tool error m
    slow: tuple | None  # oscillation found at TOO_SLOW
    real: Run  # 1 kHz, 30 Hz valves, noise, filter
    ρ: float  # s


def lagrange_forces(plant, q, qd, qdd) -> list:
    """Piston forces from the energy alone: f_i dx_i/dq_i = d/dt ∂T/∂q̇_i − ∂T/∂q_i + ∂U/∂q_i, exact derivatives.

    No force, reaction or acceleration of the manipulator's text enters, only its positions, velocities and masses.
    """
    n = plant.n
    u = [plant.defaults().get(s.name, 0.0) for s in plant.inputs]
    rest = [0.0] * (len(plant.states) - 2 * n)
    E = lambda q, qd: plant.stored(0.0, [*q, *qd, *rest], u)
    U = lambda q: E(q, [0.0] * n)
    T = lambda s: [E(s[:n], s[n:]) - U(s[:n])]
    momentum = lambda s: [column[0] for column in jacobian_columns(T, s)[n:]]
    rate = directional(momentum, [*q, *qd], [*qd, *qdd])
    kinetic = [column[0] for column in jacobian_columns(T, [*q, *qd])[:n]]
    weight = [column[0] for column in jacobian_columns(lambda q: [U(q)], q)]
    _, _, lever = plant.cylinder_motion(q, qd)
    return [(p - k + w) / arm for p, k, w, arm in zip(rate, kinetic, weight, lever)]


def compare_forces(plant, n: int = 40) -> tuple[np.ndarray, np.ndarray]:
    """Fig. 12: piston forces (68) along an arbitrary motion of both joints, against Lagrange's equations."""
    t = np.linspace(0.0, 6.0, n)
    middle = np.array([-1.35, -1.75])
    swing = np.array([0.35, 0.45])
    ω = np.array([1.3, 2.1])
    φ = np.array([0.4, 1.9])
    angle = np.outer(t, ω) + φ
    q = middle + swing * np.sin(angle)
    qd = swing * ω * np.cos(angle)
    qdd = -swing * ω**2 * np.sin(angle)
    paper = [plant.inverse_dynamics(*map(list, state))[0] for state in zip(q, qd, qdd)]
    return np.array(paper, float), np.array(
        [lagrange_forces(plant, *map(list, s)) for s in zip(q, qd, qdd)], float
    )


def judged(r: Run) -> Row:
    """(99) and the completed identity (C.12) along a run."""
    v = check_inequality(Inequality(), r)
    identity = check_identity(Identity(), r)
    cause = v.worst.rsplit(", ", 1)[-1] if not v.holds else "–"
    return Row(
        v.data["share"],
        max(v.data["excess"], 0.0),
        v.data["largest_rate"],
        cause,
        identity.data["residual"],
        float(r.tool_error[r.settled(4.0)].max()),
    )


def results(legs: int = 9, holds: tuple[float, ...] = HOLDS) -> Results:
    """All numbers; fewer `legs` of the path and `holds` (ms) take less time."""
    go = lambda **what: (lambda c: run(c.loop, c.scenario))(case(legs=legs, **what))
    held = [go(sample_time=f"{T} ms") for T in holds]
    real = go(change="", sample_time="1 ms", more=NOISE)
    speed = np.gradient(
        np.column_stack([real.log.array("tcp_x"), real.log.array("tcp_y")]), real.log.time, axis=0
    )
    return Results(
        compare_forces(real.loop.plant),
        {name: judged(go(**what)) for name, what in CASES.items()},
        (
            np.array(holds) * 1e-3,
            *np.array([(r.storage[1].max(), r.tool_error.max()) for r in held]).T,
        ),
        oscillation(go(sample_time=f"{TOO_SLOW} ms"), 1e-3, 0.5),
        real,
        performance_index(real.tool_error, np.linalg.norm(speed, axis=1)),
    )


# ---- result ---------------------------------------------------------------------------------------------------------
def check(found: Results) -> None:
    """What the study says, as assertions."""
    paper, lagrange = found.forces
    # The paper resolves 2e-3.
    assert np.abs(paper - lagrange).max() < 1e-11 * np.abs(lagrange).max()

    sound, *others = found.rows.values()
    assert sound.share == 0 and sound.error < 1e-6
    assert all(row.share > 0 for row in others)
    # The identity holds wherever (99) does not.
    assert all(row.residual < 1e-12 for row in found.rows.values())
    # With LuGre friction the observer's storage pays for the friction: what is left is ḟ_pr from observed bristles.
    causes = ("friction", "derivative", "valve", "saturation", "hold")
    assert all(cause in row.cause for cause, row in zip(causes, others)), [
        row.cause for row in others
    ]
    stribeck, lugre, valve, limited, hold = others
    # Friction costs little,.
    assert stribeck.excess < 2e-3 * stribeck.top and lugre.excess < 1e-2 * lugre.top
    # a lagging valve is no small perturbation,.
    assert valve.excess > valve.top and valve.share > 0.5
    # And a limited one does not follow.
    assert limited.share > 0.1 and limited.error > 1e4 * sound.error
    assert 0.4 < hold.share < 0.7

    T, v, e = found.holds
    # v stays in a ball ∝ T_s²: practical.
    assert np.allclose(np.diff(np.log(v)) / np.diff(np.log(T)), 2.0, atol=0.2)
    # Stability, until the sample time.
    assert np.allclose(np.diff(np.log(e)) / np.diff(np.log(T)), 1.0, atol=0.1)
    assert found.slow is not None  # is too long

    log = found.real.log
    plant = found.real.loop.plant
    p = np.column_stack([log.array(s) for s in ("p_a1", "p_b1", "p_a2", "p_b2")])
    assert p.min() > plant.p_r and p.max() > plant.p_s  # Assumption 5 is not met, nor is it needed
    assert max(np.abs(log.array(f"u_{k}")).max() for k in "12") < 10.0
    assert found.real.tool_error.max() < 2e-3 and found.ρ < 5e-3


def main(picture: str | None = None) -> None:
    """Print the tables, draw Figs 12 to 16."""
    found = results()
    paper, lagrange = found.forces
    print(
        f"Fig. 12: (68) against Lagrange's equations: {np.abs(paper - lagrange).max():.1e} N of "
        f"{np.abs(paper).max() / 1e3:.1f} kN\n"
    )
    print(
        f"{'case':32}{'(99) violated':>14}{'most by':>11}{'max |v̇|':>11}{'identity':>10}{'tool':>11}   cause"
    )
    for name, r in found.rows.items():
        numbers = f"{100 * r.share:12.1f} %{r.excess:9.2g} W{r.top:9.2g} W{r.residual:10.0e}{1e3 * r.error:8.2g} mm"
        print(f"{name:32}{numbers}   {r.cause}")
    print("\nhold, ms: " + ", ".join(f"{1e3 * T:g}" for T in found.holds[0]))
    print("v, µJ:    " + ", ".join(f"{1e6 * v:.3g}" for v in found.holds[1]))
    print("tool, µm: " + ", ".join(f"{1e6 * e:.3g}" for e in found.holds[2]))
    name, words, f, *_ = found.slow
    print(f"{TOO_SLOW:g} ms: {words} of {name}, {f:.3g} Hz\n")
    error = found.real.tool_error.max()
    p = max(found.real.log.array(f"p_a{k}").max() for k in "12")
    print(
        f"1 kHz, 30 Hz valves, noise: tool within {1e3 * error:.2f} mm, ρ = {1e3 * found.ρ:.2g} ms, p_a up to "
        f"{p / 1e5:.0f} bar"
    )
    check(found)
    if picture:
        draw(found, picture)
        print(f"wrote {picture}")


def draw(found: Results, path: str) -> None:
    """Figs 12 to 16: forces, path, required and obtained forces, pressures, voltages."""
    from matplotlib.figure import Figure

    log = found.real.log
    demand = found.real.demand
    fig = Figure((9, 8), layout="constrained")
    axes = fig.subplots(3, 2)
    for force, other in zip(found.forces[0].T, found.forces[1].T):
        axes[0, 0].plot(np.linspace(0, 6, len(force)), force / 1e3)
        axes[0, 0].plot(np.linspace(0, 6, len(force)), other / 1e3, "k.", ms=3)
    axes[0, 0].set(title="12  piston forces: (68), dots Lagrange", ylabel="kN")
    axes[0, 1].plot(*demand.desired_tool(log.time)[:, :2].T, "0.7", lw=4)
    axes[0, 1].plot(log.array("tcp_x"), log.array("tcp_y"))
    axes[0, 1].set(
        title="13  tool: desired (grey), obtained", xlabel="x, m", ylabel="y, m", aspect="equal"
    )
    for ax, k, name in zip(axes[1], "12", ("lift", "tilt")):
        ax.plot(log.time, log.array(f"f_pr{k}") / 1e3, "0.7", lw=4)
        ax.plot(log.time, log.array(f"f_p{k}") / 1e3)
        ax.set(title=f"14  {name}: required (grey) and obtained force", ylabel="kN")
    for k, color in zip("12", ("C0", "C1")):
        axes[2, 0].plot(log.time, log.array(f"p_a{k}") / 1e5, color, label=f"$p_{{a{k}}}$")
        axes[2, 0].plot(log.time, log.array(f"p_b{k}") / 1e5, color, ls="--", label=f"$p_{{b{k}}}$")
        axes[2, 1].plot(log.time, log.array(f"u_{k}"), color, label=f"$u_{k}$")
    axes[2, 0].set(title="15  pressures", ylabel="bar", xlabel="t, s")
    axes[2, 1].set(title="16  voltages", ylabel="V", xlabel="t, s")
    for ax in axes[2]:
        ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    fig.savefig(path)


if __name__ == "__main__":
    main(*sys.argv[1:2])
