"""What a picture of a machine is made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from workbench.run.log import Log


class Stroke(NamedTuple):
    """A line through points (n, 2) m; kind "link", "plate" (closed), "rod", "case", "tube" (a case that is a link), "slide"."""

    kind: str
    points: np.ndarray


class Label(NamedTuple):
    """A name beside a point of the drawing; of: "body" or "cylinder"."""

    text: str
    at: np.ndarray
    of: str = "body"


class Outline(NamedTuple):
    """One pose: lines from back to front, pin joints (m, 2), the tool's point where there is one, names."""

    strokes: list[Stroke]
    pins: np.ndarray
    tip: np.ndarray | None
    labels: list[Label]


class Picture(NamedTuple):
    """How a machine is drawn: `at(q)` for the values q of the logged signals `names`, `start` among them, and where it
    stands (k, 2), on feet of half-width `foot` m; `drawn` are the two directions that are drawn, in words, and `view` (3, 2)
    as vectors."""

    at: Callable[[Sequence[float]], Outline]
    names: list[str]
    start: list[float]
    stands: np.ndarray
    foot: float
    drawn: tuple[str, str] = ("x, m", "y, m")
    view: np.ndarray = np.eye(3, 2)

    def positions(self, log: Log | None) -> np.ndarray:
        """(N, n) values of `names` along a run; the start alone where they are not logged."""
        if log is None or any(name not in log for name in self.names):
            return np.array([self.start], float)
        return np.stack([log.array(name) for name in self.names], 1)

    def tool(self, log: Log | None) -> np.ndarray | None:
        """(N, 2): where the tool is drawn along a run; None where its place is not logged."""
        if log is None or "tcp_x" not in log or "tcp_y" not in log:
            return None
        known = [name for name in ("tcp_x", "tcp_y", "tcp_z") if name in log]
        with np.errstate(invalid="ignore"):  # a run that diverged
            return np.stack([log.array(name) for name in known], 1) @ self.view[: len(known)]
