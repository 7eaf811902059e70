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

from workbench.contract.capabilities import Predictive, Varies
from workbench.contract.errors import InputError
from workbench.contract.parameters import digest
from workbench.contract.system import ClosedLoop, System, innermost, names, rewrapped
from workbench.numerics.calculus import linearize
from workbench.run import metrics
from workbench.run.demand import target_name
from workbench.verification import claims as C
from workbench.verification.linear import LinearSystem, break_loop, feedback
from workbench.verification.run import Run
from workbench.verification.sampled_data import hold

POINTS = 240  # of a frequency or step response


def report_arrays(run: Run, claims: Sequence, verdicts: Sequence) -> dict:
    """The arrays named above that suit this loop."""
    plain = not run.loop.plant.structures and len(run.log.time) > 2
    made = {
        "sensitivity": sensitivity(run, claims, verdicts),
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


def law_of(loop):
    """The control law itself, whatever is around it; a predictive one out of its host, a user's own code as its host."""
    from workbench.verification.linear_claims import predictive

    return predictive(loop) or innermost(loop.controller)


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
    from workbench.verification.linear_loop import closed
    from workbench.verification.local import linearised

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
    from workbench.verification.norms import hinf_norm

    peaks = []
    for L in loops:
        T = feedback(L)
        S = LinearSystem(T.A, T.B, -T.C, 1.0 - T.D, T.T)
        peaks.append((*hinf_norm(S), *hinf_norm(T)))
    (M_S, ω_S), (M_T, ω_T) = (
        max((p[i : i + 2] for p in peaks), key=lambda e: e[0]) for i in (0, 2)
    )
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
    λ = np.linalg.eigvals(L.A)
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
    near, far = -(1 - α / 2) / (1 + α / 2), -(1 + α / 2) / (1 - α / 2)
    return (near + far) / 2, (near - far) / 2


# ---- truth and belief ---------------------------------------------------------------------------------------------------
def where(run: Run, claims):
    """The point at which the claims linearise the plant: where `linear-stability` says, or its start."""
    from workbench.verification.linear_loop import point

    at = next((c.at for c in claims if isinstance(c, C.LinearStability)), {})
    return point(run.loop.plant, at)


def model(run: Run, claims) -> dict:
    """The plant against the controller's model, input by input: G(jω) and the response to a step as large as in the run.

    "channels": list of {input, output, unit (of G), ω, truth, model, t, size, size_unit, steps: output → (truth, model, unit)};
    "where" says at which point the plant was linearised, "why" (instead of channels) why it could not be. {} without a
    model, or where the two are one.
    """
    plant, law = run.loop.plant, law_of(run.loop)
    belief = law.model
    if (
        not run.loop.controller.commands
        or not isinstance(belief, System)
        or digest(belief) == digest(plant)
    ):
        return {}  # an open loop's model is asked nothing
    said = {"truth": type(plant).__name__, "model": type(belief).__name__}
    try:
        x, u, words = _point(run, claims)
        truth = _linear(plant, x, u)
        believed = _linear(belief, law.x_0 or belief.initial(), None)
    except InputError as why:
        return said | {"why": why.message}
    return said | {
        "where": words,
        "channels": [_channel(run, law, truth, believed, n) for n in _shared(plant, belief)],
    }


def _shared(plant, belief) -> list[str]:
    """Inputs that both have, commands first."""
    known = names(belief.inputs)
    return [s.name for s in sorted(plant.inputs, key=lambda s: s.kind != "") if s.name in known][:3]


def _point(run, claims):
    """(x, u, words): where a claim says, else the instant of the run whose command is nearest its rms."""
    from workbench.verification.linear_loop import refuse_turning

    plant = run.loop.plant
    refuse_turning(plant)
    at = where(run, claims)
    if at.words:
        return at.x, at.u, at.words
    u = run.log.array(names(run.loop.controller.commands)[0])
    usable = np.isfinite(u) & np.all(
        [np.isfinite(run.log.array(s.name)) for s in plant.states if s.name in run.log], axis=0
    )
    if not usable.any():
        raise InputError("the run has no state at which it could be linearised")
    size = np.where(usable, np.abs(u), np.inf)
    k = int(np.argmin(np.abs(size - np.sqrt(np.mean(u[usable] ** 2)))))
    pick = lambda signals: [
        float(run.log.array(s.name)[k]) if s.name in run.log else 0.0 for s in signals
    ]
    return (
        pick(plant.states),
        pick(plant.inputs),
        f"its state in the run at t = {run.log.time[k]:.3g} s",
    )


def _linear(system, x, u):
    return linearize(system, list(x), None if u is None else list(u))


def _channel(run, law, truth, believed, name) -> dict:
    """One input of both: see `model`."""
    plant, log = run.loop.plant, run.log
    signal = {s.name: s for s in (*plant.inputs, *plant.outputs)}
    both = [n for n in names(plant.outputs) if n in believed.outputs]
    followed = [s.name for s in law.follows if s.name in both] or both[:1]
    ω = np.geomspace(1.0, np.pi / run.loop.period if run.loop.period else 1e3, POINTS)
    span = (law.N if isinstance(law, Predictive) else 100) * (run.loop.period or 1e-3)
    values = log.array(name) if name in log else np.zeros(1)
    size = float(np.abs(values[np.isfinite(values)]).max(initial=0.0)) or 1.0
    made = {
        "input": name,
        "output": followed[0],
        "ω": ω,
        "t": np.linspace(0.0, span, POINTS),
        "size": size,
        "unit": f"{signal[followed[0]].unit}/{signal[name].unit}",
        "size_unit": signal[name].unit,
        "steps": {},
    }
    for key, found in (("truth", truth), ("model", believed)):
        i = found.inputs.index(name)
        G = LinearSystem(found.A, found.B[:, [i]], found.C, found.D[:, [i]])
        row = found.outputs.index(followed[0])
        made[key] = G.response(ω)[:, row, 0]
        y = size * step_response(G, span, POINTS)
        for output in both[:2]:
            made["steps"].setdefault(output, {"unit": signal[output].unit})[key] = y[
                :, found.outputs.index(output)
            ]
    return made


def step_response(G: LinearSystem, span: float, points: int) -> np.ndarray:
    """(points, outputs) of a continuous G with one input to a unit step at 0, from rest, exact at instants span/(points − 1)
    apart."""
    Φ, Γ = hold(G.A, G.B, span / (points - 1))
    x, y = np.zeros(len(G.A)), []
    for _ in range(points):
        y.append(G.C @ x + G.D[:, 0])
        x = Φ @ x + Γ[:, 0]
    return np.array(y)


# ---- the run ------------------------------------------------------------------------------------------------------------
def tracking(run: Run, claims) -> dict:
    """What follows a reference, what disturbs: {t, settle, outputs: [{name, unit, wanted, got, error, rms, largest, at}],
    disturbances: [{name, unit, values}]}; rms and largest error from `settle` seconds on."""
    wanted = followed(run)
    if not wanted:
        return {}
    log = run.log
    settle = next((float(c.settle) for c in claims if isinstance(c, C.Tracking)), 0.0)
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
    t, e = log.time, log.array(target_name(name, 0)) - log.array(name)
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


def followed(run: Run) -> list[str]:
    """Outputs that are given a path of their own."""
    reference = run.demand.reference
    if reference is None or reference.space != "output":
        return []
    return [
        n
        for n, order in run.demand.wanted
        if order == 0 and n in run.log and target_name(n, 0) in run.log
    ]


def previews(run: Run, settle: float = 0.0) -> dict[str, dict]:
    """The same run under a predictive controller that sees nothing ahead: output → `error`; {} where it does not look ahead
    anyway, where a run takes long, or where that one does not reach its end."""
    from workbench.run.simulate import simulate

    law, plant = law_of(run.loop), run.loop.plant
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


def limits(run: Run) -> list[dict]:
    """Everything that has a limit: {name, unit, kind ("command", "slew", "output"), soft, t, value, low, high, active (N,),
    share}; active within a billionth of a command's range, a millionth of another's."""
    law, log, found = law_of(run.loop), run.log, []
    T = float(run.loop.period or 0.0)
    each_sample = T and len(log.time) > 1 and abs(log.time[1] - log.time[0] - T) < 1e-9 * T

    def add(name, unit, kind, value, low, high, soft=False):
        ends = [abs(v) for v in (low, high) if np.isfinite(v)]
        near = (1e-9 if kind == "command" else 1e-6) * (
            high - low if np.isfinite(high - low) else max(ends)
        )
        active = (value >= high - near) | (value <= low + near)
        found.append(
            {
                "name": name,
                "unit": unit,
                "kind": kind,
                "soft": soft,
                "t": log.time,
                "value": value,
                "low": float(low),
                "high": float(high),
                "active": active,
                "share": float(np.mean(active)),
            }
        )

    free = [np.inf] * len(run.loop.controller.commands)
    slews = law.each("slew") if isinstance(law, Predictive) else free
    for (name, (low, high)), slew in zip(_command_limits(run, law).items(), slews):
        unit, u = log.signal(name).unit, log.array(name)
        if np.isfinite(low) or np.isfinite(high):
            add(name, unit, "command", u, low, high)
        if np.isfinite(slew) and each_sample:
            add(name, f"{unit}/s", "slew", np.diff(u, prepend=u[0]) / T, -slew, slew)
    for limit in law.limits:
        if limit.name in log:
            low, high = (
                (-np.inf if limit.low is None else limit.low),
                (np.inf if limit.high is None else limit.high),
            )
            add(
                limit.name,
                log.signal(limit.name).unit,
                "output",
                log.array(limit.name),
                low,
                high,
                limit.soft,
            )
    return found


def _command_limits(run, law) -> dict[str, tuple[float, float]]:
    """Range of every command: the plant's, narrowed by wrappers and the law's own limits."""
    from workbench.verification.requirements import command_limits

    outer, own = command_limits(run), names(run.loop.controller.commands)
    if isinstance(law, Predictive):
        low, high = law.each("u_min"), law.each("u_max")
    else:
        most = law.u_max if isinstance(law.u_max, (int, float)) else np.inf
        low, high = [-most] * len(own), [most] * len(own)
    ranges = {}
    for name, a, b in zip(own, low, high):
        c, d = outer.get(name, (-np.inf, np.inf))
        ranges[name] = (max(float(a), c), min(float(b), d))
    return ranges


def solver(run: Run) -> dict:
    """{t, iterations, active, slack (N,), optimal (share), events: words → times} of a predictive controller's solver."""
    from workbench.verification.linear_claims import FALLBACK, STATUS, predictive

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
    from workbench.verification.linear_claims import _around, constant, predictive
    from workbench.verification.linear_loop import is_linear

    law, loop = predictive(run.loop), run.loop
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
