"""Gains found by runs of the loop itself: tracking error against the delay or the sample time that the loop bears.

For any law that names the fields a search may change (`LawData.searched`): VDC, MPC, PID. `ByRuns(…).tune(loop, scenario)` gives a
`Traded`; `workbench tune` writes it into a case file.
"""

from __future__ import annotations

from controllers.gain_search.options import ByRuns
from controllers.gain_search.point import Point, Traded

__all__ = ["ByRuns", "Point", "Traded"]
