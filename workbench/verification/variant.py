"""The same loop with another sample time or delay."""

from __future__ import annotations

from dataclasses import replace

from workbench.contract.capabilities import Predictive
from workbench.contract.closed_loop import ClosedLoop
from workbench.contract.plain import Plain
from workbench.contract.system import innermost, rewrapped
from workbench.contract.wrappers import Delayed, Sampled
from workbench.run.scenario import Scenario


def variant(
    loop: ClosedLoop,
    scenario: Scenario,
    *,
    T_s: float | None = None,
    delay: float | None = None,
    capacity: int | None = None,
) -> tuple[ClosedLoop, Scenario]:
    """The loop with another sample time or delay; plant, law and all other settings are unchanged."""
    controller = loop.controller
    inner_delay = 0.0
    if isinstance(controller, Delayed):
        inner_delay = controller.delay
        controller = controller.inner
    if not isinstance(controller, Sampled):
        controller = Sampled(controller, T_s=T_s or 1e-3)
    if T_s is not None:
        law = innermost(controller)
        # a predictive law is designed for its sample time.
        if isinstance(law, Plain) and isinstance(law.law, Predictive):
            controller = rewrapped(controller, replace(law, law=replace(law.law, T_s=T_s)))
        controller = replace(controller, T_s=T_s)
    wanted = inner_delay if delay is None else delay
    if wanted > 0 or capacity is not None:
        controller = Delayed(
            controller, delay=wanted, **({} if capacity is None else {"capacity": capacity})
        )
    return ClosedLoop(loop.plant, controller), scenario
