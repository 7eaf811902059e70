"""The claim on local stability at an equilibrium, with margins per actuator."""

from __future__ import annotations

from functools import partial

import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.system import names
from workbench.numerics.calculus import trace
from workbench.verification.linear.local import jacobians_of, linearised
from workbench.verification.linear.loop import TURNS
from workbench.verification.linear.margins import disk_margin, loop_margins
from workbench.verification.linear.stability import stability
from workbench.verification.linear.systems import LinearSystem, break_loop
from workbench.verification.run import Run
from workbench.verification.verdict import Assumption, Verdict

STILL = 1e-2  # scaled rates below this count as an equilibrium


def check_linear(claim, run: Run) -> Verdict:
    """Local stability at the start's equilibrium, and margins per actuator, for the worst combination of valve sides."""
    text = f"linearised at rest: stable, gain margin ≥ {claim.gain:g}, phase margin ≥ {np.degrees(claim.phase):.3g}°"
    source = "exact sampled linearisation; margins at every crossover"
    said = partial(Verdict, "linear", text, source=source, counted=claim.counted)
    try:
        _refuse_timed(run)
        found = linearised(run)
    except InputError as why:
        return said(None, worst=f"cannot linearise: {why.message}")
    refused = _unlinear(found, said)
    if refused is not None:
        return refused
    judged = [(loc, stability(loc.A, loc.T, loc.states)) for loc in found]
    at, worst = min(judged, key=lambda e: e[1].spectrum.margin)
    rate = _rate(worst.spectrum.margin, at.T)
    data = {
        "eigenvalues": worst.spectrum.eigenvalues,
        "rate": float(rate),
        "residual": at.residual,
        "deflated": at.deflated,
        "leak": at.leak,
    }
    note = _sides(len(found), len(run.loop.plant.cylinders))
    if worst.holds is not True:
        strength = "numerical" if worst.holds is False else None
        return said(worst.holds, strength, worst=worst.why, assumptions=note, data=data)
    rows, loops = margins_of(run, found)
    least = min(rows, key=lambda row: _share(row, claim))
    return said(
        _share(least, claim) >= 1,
        "numerical",
        *_nearest(least, claim),
        f"actuator {least['actuator']}: gain {least['gain_down']:.3g} … {least['gain_up']:.3g}, "
        f"phase {np.degrees(least['phase']):.3g}°, delay near "
        f"{1e3 * least['delay']:.3g} ms, disk {least['disk']:.3g}; slowest mode {rate:.3g} 1/s",
        assumptions=note,
        data=data | {"margins": rows, "loops": loops},
    )


def _unlinear(found, said) -> Verdict | None:
    """The verdict where the start is no equilibrium, or has no slope; None where the linearisations say something."""
    off = max(found, key=lambda loc: loc.residual)
    if not off.residual <= STILL:
        return said(
            None,
            worst=f"the start is no equilibrium (rates up to {off.residual:.2g} in units of "
            "1 rad/s², 10 bar/s, 1 V): nothing to linearise about",
            data={"residual": off.residual},
        )
    endless = steep_states(found)
    if not endless:
        return None
    return said(
        None,
        worst=f"no slope at rest: {', '.join(endless[:4])} change with the root of something that is zero there (a valve "
        "just shut), or follow from what does",
    )


def _rate(margin: float, T: float | None) -> float:
    """Rate of the slowest mode, 1/s, of a spectrum whose margin is in 1/s, or in 1 a sample of T s."""
    if T is None:
        return margin
    return -np.log(max(1e-300, 1 - margin)) / T if margin < 1 else np.inf


def _sides(taken: int, valves: int) -> tuple[Assumption, ...]:
    """How many combinations of the valves' sides were taken."""
    if not valves:
        return ()
    return (
        Assumption(
            "valve sides taken one combination at a time",
            None,
            None,
            "",
            f"{taken} of {2**valves} combinations",
            "kink at u = 0",
        ),
    )


def _shares(row: dict, claim) -> dict[str, float]:
    """The margins of an actuator over what is asked for; 1 and more is enough."""
    return {
        "phase": row["phase"] / claim.phase,
        "gain_up": row["gain_up"] / claim.gain,
        "gain_down": 1 / (max(row["gain_down"], 1e-9) * claim.gain),
    }


def _share(row: dict, claim) -> float:
    """The smallest of them."""
    return min(_shares(row, claim).values())


def _nearest(row: dict, claim) -> tuple[float | None, str, float]:
    """What is left, in which unit, of which limit: the phase where enough is left of all, else the margin that lacks most."""
    shares = _shares(row, claim)
    least = min(shares, key=shares.__getitem__)
    if shares[least] >= 1 or least == "phase":
        left = float(row["phase"] - claim.phase)
        return left if np.isfinite(left) else None, "rad", claim.phase
    if least == "gain_up":
        return float(row["gain_up"] - claim.gain), "1", claim.gain
    return float(1 / claim.gain - row["gain_down"]), "1", 1 / claim.gain


def margins_of(run, locals_) -> tuple[list[dict], dict]:
    """Margins of each actuator's loop (others closed), worst over the given linearisations, and one frequency response each."""
    rows = []
    loops = {}
    for i, name in enumerate(names(run.loop.controller.commands)):
        label = name.removeprefix("u_")
        each = []
        for loc in locals_:
            L = break_loop(loc.A, loc.B, loc.C, i, loc.T)
            m = loop_margins(L)
            disk = disk_margin(L)
            each.append(
                {
                    "actuator": label,
                    "gain_up": _or_zero(m.gain_up),
                    "gain_down": 1.0 if m.gain_down is None else float(m.gain_down),
                    "phase": _or_zero(m.phase_margin),
                    "delay": _or_zero(m.delay_margin),
                    "disk": _or_zero(disk.α),
                }
            )
            if label not in loops:
                loops[label] = response(L)
        rows.append(
            {"actuator": label, "gain_down": max(e["gain_down"] for e in each)}
            | {k: min(e[k] for e in each) for k in ("gain_up", "phase", "delay", "disk")}
        )
    return rows, loops


def _or_zero(value):
    return 0.0 if value is None else float(value)


def response(L: LinearSystem, points: int = 300):
    """(ω, L) for drawing."""
    top = np.pi / L.T if L.T else 1e3
    ω = np.geomspace(1e-1, top, points)
    return ω, L.response(ω)[:, 0, 0]


def _refuse_timed(run: Run) -> None:
    """InputError where slopes of the loop depend on time: at one instant they say nothing."""
    if run.loop.hosted or run.loop.no_derivative:
        return
    jac = jacobians_of(trace(run.loop, run.demand.live))
    if any(jac[part].jac_sparsity(0, 0).nnz() for part in ("flow", "jump", "release")):
        raise InputError(f"the loop {TURNS}", mend="verify it by runs")


def steep_states(found) -> list[str]:
    """States whose rows of A are not finite: names from the first linearisation in which there are such rows."""
    for loc in found:
        rows = np.isfinite(loc.A).all(axis=1)
        if not rows.all():
            return [name for name, finite in zip(loc.states, rows) if not finite]
    return []
