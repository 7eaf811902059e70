"""A controller without what is wrapped around it: without hold and delay, without its own limits."""

from __future__ import annotations

from copy import copy

from workbench.contract.wrappers import Saturated


def instant(controller):
    """The controller without hold and delay."""
    while controller.period is not None:
        controller = controller.inner
    return controller


def unlimited(controller, waiting: bool = False):
    """The controller without its own limits on the command. waiting: True keeps the limit that waits for a pump's pressure."""
    if isinstance(controller, Saturated):
        return unlimited(controller.inner, waiting)
    if controller.inner is None:
        return controller
    # Not `replace`: its numbers may be expressions, which no check can judge.
    new = copy(controller)
    object.__setattr__(new, "inner", unlimited(controller.inner, waiting))
    if new.waits:
        object.__setattr__(new, "waits", waiting and new.waits)
    return new


def waits(controller) -> bool:
    """Whether a law waits for its pump."""
    return controller.waits or controller.inner is not None and waits(controller.inner)
