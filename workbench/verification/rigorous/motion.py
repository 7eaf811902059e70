"""How a function V of the state moves along a loop, as expressions with rigorous bounds: V̇, or ΔV over a sample.

    continuous    V̇ = ∇V · f(x)
    sampled       ΔV = V(J(x)) − V(x) + Σ_{k<p} T^k/k! L_f^k V(J(x)) + T^p/p! L_f^p V(ξ),   ξ on the path of the sample

J is what happens at the sample instant (the new command; a release later than that is not covered); the path is enclosed
by Picard's operator. Where V or f has a kink or a step on the path, p = 1. A loop that only jumps has f = 0. Numbers of
the loop (parameters, constants) are symbols held at their values, so no derivative is rounded before it is enclosed. Every
entry of f and J may be off by a share of itself (`data_margin`): what the last digits decide is not decided here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import casadi as ca
import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.system import System, find, names
from workbench.numerics.calculus import trace
from workbench.numerics.intervals.enclosure import box
from workbench.verification.linear.data_margin import NEUTRAL
from workbench.verification.rigorous.curvature import Curvature
from workbench.verification.rigorous.motion_sample import Sample
from workbench.verification.rigorous.motion_text import text_of


class Motion:
    """V and its motion over z = (states of the box, inputs that vary, parameters that vary).

    inputs: numbers (others at their default), or (low, high) for any course between; parameters, by path: (low, high).
    Raises InputError where the flow or the law depends on time, or the motion on a state that is not in the box.

        V        bounds of V
        fall     bounds of V̇, or of ΔV without its remainder (`motion_sample`)
        curved   curvatures of V and V̇ on the box; None of a sampled loop
        held     inputs that stay at a number; varying, ranges: what varies, and between which bounds
    """

    def __init__(
        self,
        system: System,
        V: Callable[[Sequence], object],
        states: Sequence[str],
        inputs: Mapping[str, object] | None = None,
        parameters: Mapping[str, tuple[float, float]] | None = None,
    ):
        inputs = dict(inputs or {})
        parameters = dict(parameters or {})
        _fits(system, inputs)
        traced = trace(system, tuple(inputs))
        if traced.is_timed:
            raise InputError(
                "the loop depends on time explicitly",
                key="certificate",
                mend="leave the time-dependent part out, or make it an input with bounds",
            )
        self._name(system, inputs, parameters)
        known = names(system.states)
        at = [known.index(find(system.states, n, "certificate, box").name) for n in states]
        self.period = None if system.period is None else float(system.period)
        self.text = text = text_of(system, traced, V, at, inputs, parameters)
        self.bear(NEUTRAL)
        self.V = text.bound(text.value)
        if self.period is None:
            fall = ca.jtimes(text.value, text.x, text.flow)
            self.fall = text.within(fall)
            self.curved = [
                Curvature(text.z, len(at), part, text.fixed, text.values)
                for part in (text.value, fall)
            ]
        else:
            self.curved = None
            self.sample = Sample(text, self.period, flows=traced.n_moving > 0)
            self.fall = self.sample.fall

    def _name(self, system: System, inputs: dict, parameters: dict) -> None:
        """Which inputs are held, and what varies between which bounds."""
        defaults = system.defaults()
        given = {s.name: inputs.get(s.name, defaults.get(s.name, 0.0)) for s in system.inputs}
        self.held = {name: float(v) for name, v in given.items() if not np.ndim(v)}
        between = {name: v for name, v in inputs.items() if np.ndim(v)}
        self.varying = (*between, *parameters)
        self.ranges = [tuple(map(float, v)) for v in (*between.values(), *parameters.values())]

    def bear(self, change: float) -> None:
        """From now on bounds hold after any relative change of ẋ and of x⁺, entry by entry, of up to so much."""
        at = self.text.data
        self.text.values[at] = [box(-change, change)] * (at.stop - at.start)

    def change(self, low, high):
        """(lower, upper, weights) of V̇ or ΔV on boxes of z, and bounds of the states on their way (None: continuous)."""
        if self.period is None:
            return *self.fall.over(low, high), None
        return self.sample.change(low, high)


def _fits(system: System, inputs: Mapping) -> None:
    if system.hosted:
        raise InputError(
            "the loop's controller is called from Python and has no expression",
            key="certificate",
            mend="a supplied V needs a law written as an expression",
        )
    if system.period is not None and system.lag:
        raise InputError(
            "a command released between samples is not covered by a supplied certificate",
            key="certificate",
            mend="take the delay out, or a whole number of samples",
        )
    for name in inputs:
        find(system.inputs, name, "certificate, inputs")
