"""Whether the run that a tube is asked around keeps the tube's bounds: it is one of the runs that the claim is about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.contract.system import names
from workbench.contract.units import format_quantity as say
from workbench.verification.temporal.signals import columns
from workbench.verification.tube.claim_settings import bounds
from workbench.verification.tube.measures import STORED, named

ROUNDING = 1e-6  # share of what a bound leaves by which it is exceeded at least
ON_SAMPLE = 1e-6  # share of a sample time by which an instant may be off


@dataclass(frozen=True)
class Left:
    """A bound that a run leaves most: the words, and the instant, s."""

    words: str
    instant: float


def leaves(claim: Any, run: Any) -> Left | None:
    """Where the run is furthest beyond the first of the tube's bounds that it leaves; None where it keeps them all.

    A state is held against its bounds at every step of the run, what is told of samples at samples.
    """
    asked = bounds(claim, run.loop)
    own = names(run.loop.states)
    told = named(run.loop)
    time = run.fine.log.time
    asked_of = (claim.after <= time) & (time <= run.log.time[-1])
    seen = [name for name in asked if name in own or name != STORED]
    for name, values in columns(run, seen).items():
        if values is None:
            continue
        counted = asked_of if name in own else asked_of & at_samples(time, run.loop.period)
        low, high = asked[name]
        excess = np.where(counted, np.maximum(low - values, values - high), -np.inf)
        k = int(np.argmax(excess))
        if excess[k] > ROUNDING * (high - low):
            unit = told.get(name) or run.loop.states[own.index(name)].unit
            edge = low if values[k] < low else high
            text = f"{name} = {say(values[k], unit)} in the run itself, asked to stay {side(edge, low)} {say(edge, unit)}"
            return Left(f"{text}, at t = {time[k]:.4g} s", float(time[k]))
    return None


def side(edge: float, low: float) -> str:
    """On which side of a bound a value is to stay."""
    return "above" if edge == low else "below"


def at_samples(time: np.ndarray, period: float) -> np.ndarray:
    """Which instants are those of samples."""
    samples = time / period
    return np.abs(samples - np.round(samples)) < ON_SAMPLE
