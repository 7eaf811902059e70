"""Arrays that a report draws of a loop, beside those of the verdicts; nothing here decides anything.

    sensitivity   actuator → {ω, L, S, T, M_S, ω_S, M_T, ω_T, disk}: L(jω) of the loop broken there, |S|, |T|, their exact
                  peaks, and the circle around −1 (centre, radius) that the disk margin keeps L out of
    model         the plant against what the controller believes it is: frequency and step responses
    tracking      outputs beside their references, errors, what disturbed meanwhile
    limits        commands, slews and outputs beside their limits, and when they were at them
    solver        what a predictive controller's solver said at every sample
    hypotheses    what the textbook's argument for predictive control assumes, and whether this loop has it

`previews` needs a run of its own, so it is asked for when a report is written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from workbench.contract.capabilities import Varies
from workbench.contract.closed_loop import ClosedLoop
from workbench.contract.errors import InputError
from workbench.contract.parameters import digest
from workbench.contract.system import names, rewrapped
from workbench.run import metrics
from workbench.run.targets import target_name
from workbench.verification import run_claims
from workbench.verification.linear.systems import LinearSystem, break_loop, feedback
from workbench.verification.results.limits import limits
from workbench.verification.results.model import POINTS, followed, law_of, model, where
from workbench.verification.run import Run


def run_arrays(run: Run, claims: Sequence) -> dict:
    """The arrays named above that suit this loop and rest on no verdict."""
    plain = not run.loop.plant.structures and len(run.log.time) > 2
    made = {
        "solver": solver(run),
        "hypotheses": hypotheses(run),
    }
    if plain:
        made |= {
            "model": model(run, claims),
            "tracking": tracking(run, claims),
            "limits": limits(run),
        }
    return {name: value for name, value in made.items() if value}


# ---- the loop, broken at a command ------------------------------------------------------------------------------------
def sensitivity(run: Run, claims, verdicts) -> dict:
    """Per actuator, see the module; peaks are the worst over the linearisations, curves those of the first."""
    drawn = {v.key: v for v in verdicts if v.data.get("margins")}
    source = drawn.get("linear") or drawn.get("linear-stability")
    if source is None:
        return {}
    rows = {row["actuator"]: row for row in source.data["margins"]}
    return {
        name: around(loops, rows[name]["disk"])
        for name, loops in _loops(run, claims, source.key)
        if name in rows
    }


def _loops(run, claims, key) -> Iterator[tuple[str, list[LinearSystem]]]:
    from workbench.verification.linear.local import linearised
    from workbench.verification.linear.loop import closed

    commands = names(run.loop.controller.commands)
    if key == "linear":
        found = linearised(run)
        for i, name in enumerate(commands):
            yield (
                name.removeprefix("u_"),
                [break_loop(loc.A, loc.B, loc.C, i, loc.T) for loc in found],
            )
    else:
        M, B, K = closed(run.loop, where(run, claims))
        for i, name in enumerate(commands):
            yield name, [break_loop(M, B, K, i, run.loop.period and float(run.loop.period))]


def around(loops: Sequence[LinearSystem], α: float) -> dict:
    """|S|, |T| of the first loop, the largest peaks of all, and the circle of the disk margin α; see [Seiler20]."""
    from workbench.verification.linear.norms import hinf_norm
    from workbench.verification.linear.stability import stability

    M_S, ω_S = M_T, ω_T = -1.0, 0.0
    for L in loops:
        T = feedback(L)
        S = LinearSystem(T.A, T.B, -T.C, 1.0 - T.D, T.T)
        inside = stability(T.A, T.T)
        M_S, ω_S = max((M_S, ω_S), hinf_norm(S, inside=inside, least=M_S), key=lambda e: e[0])
        M_T, ω_T = max((M_T, ω_T), hinf_norm(T, inside=inside, least=M_T), key=lambda e: e[0])
    ω = frequencies(loops[0])
    L = loops[0].response(ω)[:, 0, 0]
    return {
        "ω": ω,
        "L": L,
        "S": np.abs(1 / (1 + L)),
        "T": np.abs(L / (1 + L)),
        "M_S": M_S,
        "ω_S": ω_S,
        "M_T": M_T,
        "ω_T": ω_T,
        "disk": excluded(α),
    }


def frequencies(L: LinearSystem) -> np.ndarray:
    """Evenly on a logarithmic axis, 0.1 rad/s … π/T (1e3 where there is none), and densely around lightly damped poles."""
    top = L.top if L.T else 1e3
    λ = np.linalg.eigvals(L.A).astype(complex)  # real ones of a sampled loop may be negative
    s = λ if L.T is None else np.log(λ[np.abs(λ) > 0]) / L.T
    light = [p for p in s if 0.1 < p.imag < top and abs(p.real) < 0.3 * p.imag]
    near = [
        p.imag + max(abs(p.real), 1e-3 * p.imag) * np.sinh(np.linspace(-4, 4, 41)) for p in light
    ]
    ω = np.concatenate([np.geomspace(0.1, top, POINTS), *near])
    return np.unique(ω[(ω >= 0.1) & (ω <= top)])


def excluded(α: float) -> tuple[float, float] | None:
    """(centre, radius) of the circle −1/f, f on the edge of the disk of size α and skew 0; None unless 0 < α < 2.

    f runs from (1 − α/2)/(1 + α/2) to its inverse, so −1/f lies around −(1 + α²/4)/(1 − α²/4).
    """
    if not 0 < α < 2:
        return None
    near = -(1 - α / 2) / (1 + α / 2)
    far = -(1 + α / 2) / (1 - α / 2)
    return (near + far) / 2, (near - far) / 2


# ---- the run ------------------------------------------------------------------------------------------------------------
def tracking(run: Run, claims) -> dict:
    """What follows a reference, what disturbs: {t, settle, outputs: [{name, unit, wanted, got, error, rms, largest, at}],
    disturbances: [{name, unit, values}]}; rms and largest error from `settle` seconds on."""
    wanted = followed(run)
    if not wanted:
        return {}
    log = run.log
    settle = next((float(c.settle) for c in claims if isinstance(c, run_claims.Tracking)), 0.0)
    outputs = [
        {
            "name": name,
            "unit": log.signal(name).unit,
            "wanted": log.array(target_name(name, 0)),
            "got": log.array(name),
            **error(log, name, settle),
        }
        for name in wanted
    ]
    loads = [
        s
        for s in run.loop.plant.inputs
        if s.kind == "disturbance" and s.name in log and np.any(log.array(s.name) != 0)
    ]
    return {
        "t": log.time,
        "settle": settle,
        "outputs": outputs,
        "disturbances": [
            {"name": s.name, "unit": s.unit, "values": log.array(s.name)} for s in loads
        ],
    }


def error(log, name: str, settle: float) -> dict:
    """{error (N,), rms, largest, at} of an output, from `settle` seconds on (of all there is where that leaves nothing)."""
    t = log.time
    e = log.array(target_name(name, 0)) - log.array(name)
    late = np.isfinite(e) & (t >= settle)
    if np.count_nonzero(late) < 2:
        late = np.isfinite(e)
    if np.count_nonzero(late) < 2:
        return {"error": e, "rms": np.nan, "largest": np.nan, "at": float(t[0])}
    k = int(np.where(late, np.abs(e), -1.0).argmax())
    return {
        "error": e,
        "rms": metrics.rms(t[late], e[late]),
        "largest": float(np.abs(e[k])),
        "at": float(t[k]),
    }


def previews(run: Run, settle: float = 0.0) -> dict[str, dict]:
    """The same run under a predictive controller that sees nothing ahead: output → `error`; {} where it does not look ahead
    anyway, where a run takes long, or where that one does not reach its end."""
    key = ("previews", settle)
    if key not in run.kept:
        run.kept[key] = _previews(run, settle)
    return run.kept[key]


def _previews(run: Run, settle: float) -> dict[str, dict]:
    from workbench.run.simulate import simulate

    law = law_of(run.loop)
    plant = run.loop.plant
    slow = plant.adaptive is not None and plant.adaptive.period  # pistons one by one
    if not law.ahead or slow or not followed(run):
        return {}
    try:
        log = simulate(
            ClosedLoop(plant, rewrapped(run.loop.controller, replace(law, preview=0))), run.scenario
        )
    except InputError:  # limits that cannot be kept without looking ahead
        return {}
    if not log.status.completed or len(log) != len(run.log):
        return {}
    return {name: error(log, name, settle) for name in followed(run)}


def solver(run: Run) -> dict:
    """{t, iterations, active, slack (N,), optimal (share), events: words → times} of a predictive controller's solver."""
    from workbench.verification.predictive.of_run import predictive
    from workbench.verification.predictive.run_claims import FALLBACK, STATUS

    log = run.log
    if predictive(run.loop) is None or "mpc_status" not in log:
        return {}
    status, fallback = (np.rint(log.array(f"mpc_{n}")).astype(int) for n in ("status", "fallback"))
    events: dict[str, np.ndarray] = {}
    for values, words, good, what in (
        (status, STATUS, (1, 2), ""),
        (fallback, FALLBACK, (0,), "fallback: "),
    ):
        for v in np.unique(values):
            if v not in good:
                events[what + words.get(int(v), f"status {v}")] = log.time[values == v]
    fine = np.isin(status, (1, 2)) & (fallback == 0)
    return {
        "t": log.time,
        "optimal": float(np.mean(fine)),
        "events": events,
        **{n: log.array(f"mpc_{n}") for n in ("iterations", "active", "slack")},
    }


def hypotheses(run: Run) -> list[tuple[str, bool]]:
    """(hypothesis, whether this loop has it) of the stability theorem for predictive control; [] for other laws."""
    from workbench.verification.linear.loop import is_linear
    from workbench.verification.predictive.of_run import constant, predictive
    from workbench.verification.predictive.run_claims import _around

    law = predictive(run.loop)
    loop = run.loop
    if law is None:
        return []
    _, moves = constant(run)
    found = [
        ("constant reference", moves != "the reference is constant"),
        (
            "no disturbance",
            moves == ""
            or not any(
                isinstance(v, Varies) or v != 0.0 for v in run.scenario.disturbances.values()
            ),
        ),
        ("the plant is linear", is_linear(loop.plant)),
        ("the model is the plant", digest(law.model) == digest(loop.plant)),
    ]
    return [*found, *((text, False) for text in _around(loop, law)), *law.hypotheses().items()]
