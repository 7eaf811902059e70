"""Claims on linear loops: the case's loop and run handed to the methods that prove things."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from workbench.contract.capabilities import LinearisesItself
from workbench.contract.errors import InputError
from workbench.contract.system import names
from workbench.contract.units import format_quantity as say
from workbench.verification.linear.delay_margin import delay_margin
from workbench.verification.linear.hidden import hidden_modes
from workbench.verification.linear.local_claim import _or_zero as or_zero
from workbench.verification.linear.local_claim import response
from workbench.verification.linear.loop import (
    Point,
    closed,
    constant_memory,
    flat,
    in_names,
    is_linear,
    late_command,
    point,
)
from workbench.verification.linear.loop_family import family_of
from workbench.verification.linear.margins import disk_margin, loop_margins
from workbench.verification.linear.quadratic import quadratic_certificate
from workbench.verification.linear.robust import robust_stability
from workbench.verification.linear.systems import break_loop
from workbench.verification.ranges import ranges
from workbench.verification.verdict import Assumption, Verdict


def place_asked(claim: Any, loop: Any) -> None:
    """InputError for a place where the plant cannot be linearised: signals it has not."""
    point(loop.plant, claim.at)


def box_asked(claim: Any, loop: Any) -> None:
    """Raises InputError as `place_asked` does, and for numbers that the plant has not."""
    place_asked(claim, loop)
    boxed(loop, claim)


def _where(claim: Any, run: Any) -> tuple[Point, bool]:
    return point(run.loop.plant, claim.at), is_linear(run.loop.plant)


def check_linear_stability(claim: Any, run: Any) -> Verdict:
    """A quadratic certificate of the loop from sample to sample, or of a continuous law's flow."""
    at, linear = _where(claim, run)
    what = "the loop" if linear else f"the loop linearised at {at.words or 'the start'}"
    what += ", away from its limits,"
    try:
        M, B, C = closed(run.loop, at)
    except InputError as why:
        return _no_matrix("linear-stability", f"{what} is exponentially stable", why, claim)
    T = run.loop.period and float(run.loop.period)
    found = quadratic_certificate(M, T, what)
    λ = np.linalg.eigvals(M)
    k = int(np.abs(λ).argmax() if T else λ.real.argmax())
    f = abs(np.angle(λ[k])) / T if T else abs(λ[k].imag)
    where = f" at {f:.4g} rad/s ({f / 2 / np.pi:.3g} Hz)" if f else ""
    slowest = f"|λ| = {abs(λ[k]):.6g}" if T else f"Re λ = {λ[k].real:.6g} 1/s"
    worst = f"{in_names(found.worst, run.loop)}; slowest mode {slowest}{where}"
    A, inputs, outputs = flat(run.loop, at)
    for mode in hidden_modes(A, inputs, outputs, names(run.loop.plant.states)):
        worst += f"; hidden mode: {mode.words}"
    rows, responses = margins(run.loop, at, M, B, C) if found.holds else ([], {})
    worst += "".join(f"; {_margin_words(r)}" for r in rows)
    notes: tuple[Assumption, ...] = ()
    if not linear:
        notes = (Assumption("near that motion", None, source="linearised"),)
    strength, notes = _by_itself(run.loop.plant, found, notes)
    notes += tuple(
        Assumption(f"{name} stays what it is: nothing changes it", True)
        for name in constant_memory(run.loop)
    )
    data = {
        **found.data,
        **({"radius": float(abs(λ[k]))} if T else {}),
        "frequency": float(f),
        "eigenvalues": λ,
        "margins": rows,
        "loops": responses,
    }
    return replace(
        found,
        key="linear-stability",
        strength=strength,
        worst=worst,
        counted=claim.counted,
        assumptions=(*found.assumptions, *notes),
        data=data,
    )


def _by_itself(plant: Any, found: Verdict, notes: tuple) -> tuple[Any, tuple]:
    """(strength, notes) of a verdict on a plant that may have said by itself what it is near the point."""
    if not isinstance(plant, LinearisesItself) or found.strength is None:
        return found.strength, notes
    strength, where = plant.derivatives
    return strength, (*notes, Assumption("derivatives are right", None, source=where))


def _margin_words(r: dict) -> str:
    """Margins of one actuator, in words."""
    delay = say(_rounded_down(r["delay"]), "s", 3)
    delay += "" if r["delay_found"] else " at least (no further looked)"
    return (
        f"{r['actuator']}: gain × {r['gain_down']:.3g} … {r['gain_up']:.3g}, phase {np.degrees(r['phase']):.3g}°, "
        f"delay {delay}"
    )


def margins(loop: Any, at: Point, M: Any, B: Any, C: Any) -> tuple[list[dict], dict]:
    """Margins at each command, the others closed, as `local_claim.margins_of` has them, and the frequency responses."""
    rows = []
    responses = {}
    for i, name in enumerate(names(loop.controller.commands)):
        L = break_loop(M, B, C, i, loop.period and float(loop.period))
        m = loop_margins(L)
        disk = disk_margin(L)
        rows.append(
            {
                "actuator": name,
                "gain_up": or_zero(m.gain_up),
                "gain_down": 1.0 if m.gain_down is None else float(m.gain_down),
                "phase": or_zero(m.phase_margin),
                "disk": or_zero(disk.α),
            }
            | _delay(loop, at, i, m)
        )
        responses[name] = response(L)
    return rows, responses


def _delay(loop: Any, at: Point, i: int, m: Any) -> dict:
    """The delay margin of command i, s, and whether it is where the search ended or the edge itself.

    Sampled: the held command that comes later is not e^(−jωτ) times itself, see `delay_margin`.
    """
    if loop.period is None or m.delay_margin is None:
        return {"delay": or_zero(m.delay_margin), "delay_found": True}
    found = delay_margin(late_command(loop, at, i))
    return {"delay": found.lower, "delay_found": found.found}


def _rounded_down(value: float) -> float:
    """Three digits of a margin, never above it; inf and 0 stay."""
    if not np.isfinite(value) or value <= 0:
        return value
    step = 10.0 ** (np.floor(np.log10(value)) - 2)
    return float(np.floor(value / step * (1 + 1e-12)) * step)


def _no_matrix(key: Any, text: Any, why: Any, claim: Any) -> Verdict:
    return Verdict(
        key, text, None, worst=why.message, source="the loop as a linear one", counted=claim.counted
    )


# ---- parameters in a box --------------------------------------------------------------------------------------------------
def check_robust(claim: Any, run: Any, tick: Any = None) -> Verdict:
    """Stability for every parameter in the box; the law does not change with the parameters."""
    loop = run.loop
    at = point(run.loop.plant, claim.at)
    try:
        family, limits = family_of(loop, at, boxed(loop, claim))
    except InputError as why:
        return _no_matrix(
            "robust-stability", "the loop is exponentially stable in the whole box", why, claim
        )
    what = (
        "the loop" if is_linear(loop.plant) else f"the loop linearised at {at.words or 'the start'}"
    )
    found = robust_stability(family, limits, claim.mode, claim.budget, None, what)
    return replace(found, key="robust-stability", counted=claim.counted)


def boxed(loop: Any, claim: Any) -> dict[str, tuple[float, float]]:
    """Path of a plant's number (or "delay") → (low, high), SI."""
    return ranges(loop.plant, claim.box, "box", {"delay": "s"})
