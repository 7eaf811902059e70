"""ΔV of a sampled loop over one sample, with rigorous bounds: what jumps, then a Taylor expansion along the flow.

    ΔV = V(J(x)) − V(x) + Σ_{k<p} T^k/k! L_f^k V(J(x)) + T^p/p! L_f^p V(ξ),   ξ on the path of the sample

The path is enclosed by Picard's operator. p = ORDER where V and f are smooth on the enclosed path, else p = 1. Every
product with the sample time is widened by the factors below, more than its rounding. See `motion`.
"""

from __future__ import annotations

from math import factorial

import casadi as ca
import numpy as np

from workbench.numerics.intervals.enclosure import box
from workbench.verification.rigorous.motion_text import Text

ORDER = 3  # of the Taylor expansion over a sample
TRIES = 8  # tries of an enclosure of all paths, each wider than the last
TIGHTER = 2  # times that an enclosure found is made narrower


class Sample:
    """ΔV of a loop whose law is sampled with a period, s; flows: whether anything moves between two samples.

    fall   bounds of ΔV at order ORDER without its remainder; leap: those of V(J(x)) − V(x)
    jump   bounds of every entry of J; None of one that depends on a state without a range
    flow   bounds of every entry of f along a path
    rest   bounds of L_f V and L_f^ORDER V along a path
    """

    def __init__(self, text: Text, period: float, flows: bool):
        self.text = text
        self.period = period
        self.flows = flows
        slopes = [text.value]
        for _ in range(ORDER if flows else 0):
            slopes.append(ca.jtimes(slopes[-1], text.x, text.flow))

        def after(expression):
            return ca.substitute([expression], [text.x], [text.jumped])[0]

        parts = [text.T**k / factorial(k) * after(d) for k, d in enumerate(slopes[:ORDER]) if k]
        leap = after(text.value) - text.value
        self.fall = text.within(leap + sum(parts, ca.SX(0)))
        text.check_within(text.jumped[text.at])
        states = range(text.x.numel())
        self.jump = [
            None if text.outside(text.jumped[i]) else text.bound(text.jumped[i]) for i in states
        ]
        self.flow = [text.bound_along(text.flow[i]) for i in states]
        self.rest = [text.bound_along(slopes[k]) for k in (1, ORDER)] if flows else None
        self.leap = text.within(leap)

    def change(self, low, high):
        """(lower, upper, weights) of ΔV on boxes of z, and bounds of the box's states over the sample."""
        a, b, weights = self.fall.over(low, high)
        r_low, r_high, way, smooth = self._path(low, high)
        if not smooth.all():
            down, above, _ = self.leap.over(low, high)
            a = np.where(smooth, a, down)
            b = np.where(smooth, b, above)
        with np.errstate(all="ignore"):
            a = np.nextafter(a + r_low, -np.inf)
            b = np.nextafter(b + r_high, np.inf)
        return np.where(np.isnan(a), -np.inf, a), np.where(np.isnan(b), np.inf, b), weights, way

    def _path(self, low, high):
        """(bounds of the remainder of ΔV, bounds of the box's states over the sample, whether it is that of order p)."""
        n = len(low)
        at = self.text.at
        start = self._start(low, high)
        if not self.flows:
            return np.zeros(n), np.zeros(n), (start[0][:, at], start[1][:, at]), np.ones(n, bool)
        varying = slice(len(at), None)

        def wide(states):
            """Boxes of the states, with what varies."""
            down, above = states
            return np.hstack([down, low[:, varying]]), np.hstack([above, high[:, varying]])

        states = self._picard(start, lambda B: [f.plain(*wide(B))[:2] for f in self.flow])
        smooth = self._smooth(*wide(states))
        first, last = (g.plain(*wide(states))[:2] for g in self.rest)
        r_low, r_high = self._remainder(first, last, smooth)
        return r_low, r_high, (states[0][:, at], states[1][:, at]), smooth

    def _start(self, low, high):
        """Bounds of all states just after the jump; ±∞ of one that depends on a state without a range."""
        n = len(low)
        nothing = (np.full(n, -np.inf), np.full(n, np.inf))
        found = [b.over(low, high)[:2] if b else nothing for b in self.jump]
        return np.array([down for down, _ in found]).T, np.array([above for _, above in found]).T

    def _remainder(self, first, last, smooth):
        """(lower, upper) of T^p/p! L_f^p V: p = ORDER from `last` where smooth, p = 1 from `first` elsewhere."""
        with np.errstate(all="ignore"):
            T_above = self.period * (1 + 1e-15)
            T_below = self.period * (1 - 1e-15)
            weight = self.period**ORDER / factorial(ORDER) * (1 + 1e-14)
            low, high = first
            low = np.minimum(low * T_above, low * T_below)
            high = np.maximum(high * T_above, high * T_below)
            return (
                np.where(smooth, np.minimum(last[0], 0) * weight, low),
                np.where(smooth, np.maximum(last[1], 0) * weight, high),
            )

    def _smooth(self, low, high) -> np.ndarray:
        """Whether V and f have neither kinks nor steps on the boxes (of all states and what varies)."""
        own = self.text.edges
        n, given = low.shape
        marks = own.steps + own.kinks
        if not marks:
            return np.ones(n, bool)
        boxes = [box(low[:, i], high[:, i]) for i in range(given)]
        held = self.text.values[: own.x.numel() - given]
        found = own.enclose(own.function(ca.vertcat(*marks)), [*boxes, *held])
        return np.all([np.broadcast_to(e.low == e.high, (n,)) for e in found], axis=0)

    def _picard(self, start, flow):
        """B ⊇ start + [0, T] f(B): then every path from `start` stays in B for the whole sample. ±∞ where none was found."""

        def image(B):
            slopes = flow(B)
            with np.errstate(all="ignore"):
                down, above = (np.array([s[i] for s in slopes]).T * self.period for i in (0, 1))
                return (
                    np.nextafter(start[0] + np.minimum(0, down) * (1 + 1e-14), -np.inf),
                    np.nextafter(start[1] + np.maximum(0, above) * (1 + 1e-14), np.inf),
                )

        B = start
        down, above = image(B)
        ok = np.zeros(len(start[0]), bool)
        for _ in range(TRIES):
            with np.errstate(all="ignore"):
                grown = np.maximum(above - start[1], start[0] - down)
                room = 0.2 * grown + 1e-12 * (1 + np.abs(above))
                kept = ok[:, None]
                B = np.where(kept, B[0], down - room), np.where(kept, B[1], above + room)
                down, above = image(B)
            ok |= ((down >= B[0]) & (above <= B[1])).all(axis=1)
            if ok.all():
                break
        for _ in range(TIGHTER):  # an enclosure of all paths gives a narrower one
            down, above = image(B)
            B = np.maximum(B[0], down), np.minimum(B[1], above)
        kept = ok[:, None]
        return np.where(kept, B[0], -np.inf), np.where(kept, B[1], np.inf)
