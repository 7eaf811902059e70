"""Delays of a fit: intervals along the valley that they share with the lags, and what to say about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from workbench.identification.descent import Task
from workbench.identification.profile import along_delay, is_flat
from workbench.identification.uncertainty import OPEN, Estimate, Noise, covariance, half_width


def valleys(
    task: Task, channels, lost: int, noise: Noise | None, freedom: float, held
) -> dict[str, dict]:
    """Input → (parameter → (low, high)) along the valley of its delay, where the covariance may lie about it."""
    free = replace(
        task, shapes=tuple(replace(s, delay=True) if s.input in held else s for s in task.shapes)
    )
    if not any(s.estimates_delay and s.lags for s in free.shapes):
        return {}
    weighted = [w * e for w, e in zip(free.weights, free.residuals(channels))]
    C = covariance(free.jacobian(channels), weighted, lost + len(held), noise, free.sizes(channels))
    names = [n for s in free.shapes for n in s.names()]
    found = {}
    for i, (s, c) in enumerate(zip(free.shapes, channels)):
        if not (s.estimates_delay and s.lags):
            continue
        at = names.index(f"τ_{s.input}")
        if s.input not in held and not is_flat(c, half_width(float(np.sqrt(C[at, at])), freedom)):
            continue
        seen = along_delay(free, channels, i, C, freedom)
        found[s.input] = dict(zip(names, zip(seen.low, seen.high))) | {"closed": seen.closed}
    return found


def widened(found: Sequence[Estimate], along: dict[str, dict]) -> tuple[Estimate, ...]:
    """Estimates with the intervals of the valleys, where these are wider."""
    new = []
    for e in found:
        own = [valley[e.name] for valley in along.values() if e.name in valley]
        low = min([e.low, *(pair[0] for pair in own)])
        high = max([e.high, *(pair[1] for pair in own)])
        open_ended = any(not valley["closed"] for valley in along.values() if e.name in valley)
        known = (high - low) / 2 <= OPEN * abs(e.value)
        new.append(
            replace(e, low=float(low), high=float(high), identified=bool(known and not open_ended))
        )
    return tuple(new)


def held_delays(along: dict[str, dict], held: Sequence[str]) -> tuple[Estimate, ...]:
    """Delays held at zero, with what the data allow."""
    found = []
    for input in held:
        low, high = along[input][f"τ_{input}"] if input in along else (0.0, 0.0)
        found.append(
            Estimate(
                f"τ_{input}", 0.0, float(high / 2), float(min(low, 0.0)), float(high), "s", False
            )
        )
    return tuple(found)


def delays_in_words(along, held, found, derived) -> list[str]:
    """What a reader must know of delays: held at zero, or known as a sum with the lags only."""
    notes = []
    known = {e.name: e for e in (*found, *derived)}
    for input, valley in along.items():
        low, high = valley[f"τ_{input}"]
        least = "at least " if not valley["closed"] else ""
        if input in held:
            notes.append(
                f"delay of {input}: the estimate is below zero and held at 0; the data allow up to {least}{high:.2g} s "
                "beside other lags"
            )
        lag = known[f"Σλ_{input}"]
        delay = known.get(f"τ_{input}")
        if not lag.identified or delay is None or not delay.identified:
            notes.append(
                f"delay and lags of {input} cannot be told apart from these signals: only their sum is known; what the "
                "delay takes, the lags lack. Excite faster, or hold the delay at a known number"
            )
    return notes
