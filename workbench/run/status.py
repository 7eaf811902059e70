"""How a run ended, as a value."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Status:
    """How a run ended: whether it reached its end, in words, at which time (s), and which state stopped it.

    state: name of the first state that was not finite or left its domain; empty when none did.
    followed: False where the integrator could not follow the run, or the plant's equations end, so that its end says nothing about
        the loop.
    """

    completed: bool
    message: str
    t_end: float
    state: str = ""
    followed: bool = True
