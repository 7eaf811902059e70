"""Verdicts on gain, phase and disk margins."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from workbench.verification.linear.margins import disk_margin, loop_margins, stable_with
from workbench.verification.linear.stability import stable_verdict
from workbench.verification.linear.systems import LinearSystem, feedback
from workbench.verification.verdict import Verdict


def margin_verdicts(
    L: LinearSystem,
    what: str,
    *,
    gain_up: float | None = 2.0,
    gain_down: float | None = 0.5,
    phase: float | None = np.pi / 6,
    delay: float | None = None,
    disk: float | None = None,
) -> list[Verdict]:
    """Verdicts on a SISO loop: stable, then each required margin (phase in rad, delay in s; None: not asked).

    A margin of an unstable loop is violated, of an undecided one undecided. Within 1e-8 (relative) of what is required
    it is undecided. Gain, phase and disk are re-checked by closed-loop eigenvalues at the required factors.
    """
    margins = loop_margins(L)
    disk_found = disk_margin(L) if disk is not None else None
    up = f"gain times {gain_up} keeps it stable"
    down = f"gain times {gain_down} keeps it stable"
    turned = f"phase margin at least {phase} rad"
    late = f"{delay} s of delay keeps it stable"
    both = f"disk margin at least {disk}"
    α = disk_found and disk_found.α
    asked = (
        _Asked("gain-up", gain_up, margins.gain_up, "1", up, [gain_up]),
        _Asked("gain-down", gain_down, margins.gain_down, "1", down, [gain_down]),
        _Asked("phase", phase, margins.phase_margin, "rad", turned, _turned(phase)),
        _Asked("delay", delay, margins.delay_margin, "s", late, []),
        _Asked("disk", disk, α, "1", both, _around(disk)),
    )
    closed = LinearSystem(feedback(L).A, L.B, L.C, L.D, L.T)
    return [
        stable_verdict(closed, what),
        *(_compared(L, margins.stability, what, one) for one in asked if one.limit is not None),
    ]


class _Asked(NamedTuple):
    """One margin: what is required of it, what was found, and the factors on the loop that must leave it stable."""

    key: str
    limit: float | None
    found: Any
    unit: str
    claim: str
    factors: list


def _turned(phase: float | None) -> list:
    """The loop turned by the phase, both ways."""
    return [np.exp(1j * (phase or 0)), np.exp(-1j * (phase or 0))]


def _around(disk: float | None) -> list:
    """Factors (1 + δ/2)/(1 − δ/2) just inside the edge |δ| = `disk`."""
    edge = (disk or 0) * 0.999999 * np.exp(1j * np.arange(0.1, 6.3, 0.2))
    return [(1 + d / 2) / (1 - d / 2) for d in edge]


def _compared(L, inside, what: str, asked: _Asked) -> Verdict:
    """The verdict on one margin of the loop called `what`."""
    _, limit, found, unit, _, factors = asked
    key = f"margin-{asked.key}"
    claim = f"{what}: {asked.claim}"
    source = "crossovers from eigenvalues of the mirror pencil" + (
        ", factors re-checked" if factors else ""
    )
    said = partial(Verdict, key, claim, unit=unit, limit=limit, source=source)
    if inside.holds is not True:
        strength = None if inside.holds is None else "numerical"
        return said(inside.holds, strength, worst=f"no margin: {inside.why}")
    left = limit - found if key == "margin-gain-down" else found - limit
    holds = bool(left > 0)
    worst = f"margin {found:.6g} {unit}"
    if abs(left) <= 1e-8 * max(abs(limit), 1e-300):
        holds = None
        worst = f"margin {found:.9g} {unit}: at the edge within rounding"
    elif holds and not all(stable_with(L, f) for f in factors):
        holds = None
        worst += ", but eigenvalues at the required change do not confirm it"
    if np.isinf(found):
        worst = "no change of this kind destabilises" if holds else worst
        return said(holds, "numerical" if holds else None, worst=worst)
    strength = None if holds is None else "numerical"
    return said(holds, strength, float(left), worst=worst, data={"found": float(found)})
