"""What the benchmarks share: the crane and its loop, medians of repeated timings, a table."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

CORNERS = ("start", (2.5, 1.0), (3.0, 1.5), (3.5, 1.0), (3.0, 0.5), (2.5, 1.0), "start")
LEG = 5.0  # s, so the path takes 30 s
T_S = 1e-3


@dataclass(frozen=True)
class Row:
    """One line of a table: what ran, its wall time (median and extremes), processor time, the target, a remark."""

    name: str
    value: float
    low: float
    high: float
    processor: float
    target: float | None = None
    note: str = ""

    @property
    def verdict(self) -> str:
        if self.target is None:
            return ""
        return "met" if self.value <= self.target else "MISSED"


def cranes() -> dict:
    """The HIAB XS 031: two joints (extension locked at 0.5 m) and three."""
    from plants import machine

    plant = machine("hiab-xs031").plant
    return {"two-joint": plant.locked(extension=0.5), "three-joint": plant}


def demo_path(**changes):
    """Scenario of the demo path, 30 s; `changes` are fields of Scenario."""
    from workbench import Scenario, Waypoints

    return Scenario(reference=Waypoints("cartesian", CORNERS, LEG), **changes)


def vdc_loop(plant):
    """VDC with the exact rate of the required force, 1 kHz hold, on a plant it knows perfectly."""
    from controllers import VDC
    from workbench import ClosedLoop, Sampled

    return ClosedLoop(plant, Sampled(VDC(model=plant), T_s=T_S))


def timed(run: Callable, repeat: int, warm: int = 1) -> list[tuple[float, float]]:
    """(wall, processor) seconds of each of `repeat` calls, after `warm` calls that do not count."""
    for _ in range(warm):
        run()
    found = []
    for _ in range(repeat):
        begin, used = perf_counter(), process_time()
        run()
        found.append((perf_counter() - begin, process_time() - used))
    return found


def row(
    name: str,
    seconds: list[tuple[float, float]],
    per: float = 1.0,
    target: float | None = None,
    note: str = "",
) -> Row:
    """Medians and extremes of the timings (wall, processor), divided by `per` (simulated seconds)."""
    wall = [w / per for w, _ in seconds]
    return Row(
        name, median(wall), min(wall), max(wall), median(c for _, c in seconds) / per, target, note
    )


def table(rows: list[Row], what: str, ratio: bool = True) -> str:
    """The rows as text; ratio: a column with each processor time over the first row's (load changes, it does not)."""
    width = max(len(r.name) for r in rows)
    head = f"{'':{width}}  {what:>9}  {'best':>9}  {'worst':>9}  {'processor':>9}  {'target':>6}  {'':6}"
    lines = [head + ("  times first" if ratio else "")]
    for r in rows:
        goal = "" if r.target is None else f"{r.target:g}"
        times = f"  {r.processor / rows[0].processor:11.1f}" if ratio else ""
        lines.append(
            f"{r.name:{width}}  {r.value:9.3g}  {r.low:9.3g}  {r.high:9.3g}  {r.processor:9.3g}  {goal:>6}  "
            f"{r.verdict:6}{times}  {r.note}".rstrip()
        )
    return "\n".join(lines)


def machine_in_words() -> str:
    """Cores, system, Python, and the load while measuring: other work on the machine makes every figure worse."""
    load = "/".join(f"{v:.1f}" for v in os.getloadavg()) if hasattr(os, "getloadavg") else "unknown"
    return (
        f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, Python {platform.python_version()}, "
        f"load {load} (1/5/15 min)"
    )
