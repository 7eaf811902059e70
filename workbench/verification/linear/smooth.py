"""A loop without the noise and the rounding of its measurements, which have no derivative."""

from __future__ import annotations

from dataclasses import replace

from workbench.contract.closed_loop import ClosedLoop
from workbench.contract.wrappers import Noisy, Quantised


def smooth(loop: ClosedLoop) -> ClosedLoop:
    """The loop without noise and rounding around its law."""
    return ClosedLoop(loop.plant, _unwrapped(loop.controller))


def _unwrapped(controller):
    while isinstance(controller, (Noisy, Quantised)):
        controller = controller.inner
    if controller.inner is not None:
        return replace(controller, inner=_unwrapped(controller.inner))
    return controller
