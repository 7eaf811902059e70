"""The tube: how wide it is over time, beside runs from its starts, and where it is tight."""

from __future__ import annotations

import numpy as np

from reports import tables
from reports.chapters.chapter import Chapter, Figures
from reports.figures import tube
from reports.style import clean


class Tube(Chapter):
    name = "tube"
    analysis = {
        "tube": "t (K,) s, width, hull {state: (K,)}, told {name: (K,)}, grown (K,), tight {t s, grown, by, edges}, "
        "size {samples, states, bytes}, runs"
    }

    def figures(self, content) -> Figures:
        found = content.analysis.get("tube")
        return {"tube": lambda: tube.widths(found, units(content))} if found else {}

    def rows(self, content, drawn: list[str]) -> dict:
        found = content.analysis.get("tube")
        if not found:
            return {"tube": None}
        tight = found["tight"]
        size = found["size"]
        verdict = next((v for v in content.verdicts if v.key == "tube"), None)
        return {
            "tube": {
                "asked": tables.wrapped(verdict.claim) if verdict else "",
                "word": verdict.word if verdict else "",
                "runs": str(found["runs"]),
                "rows": state_rows(found, units(content)),
                "tight": tables.quantity(tight["t"], "s"),
                "grown": tables.percent(tight["grown"]),
                "by": clean(tight["by"], 40),
                "edges": str(tight["edges"]),
                "samples": str(size["samples"]),
                "states": str(size["states"]),
                "bytes": tables.quantity(size["bytes"] / 1e6, digits=2),
            }
        }


def units(content) -> dict[str, str]:
    return {s.name: s.unit for s in content.plant.states} if content.plant else {}


def state_rows(found, units: dict[str, str]) -> list[list[str]]:
    """[state, half-width at first, at its widest, at the end, median of tube over hull] of every state that moves."""
    rows = []
    for name, width in found["width"].items():
        unit = units.get(name, "1")
        sizes = [tables.quantity(v, unit, 3) for v in (width[0], width.max(), width[-1])]
        wider = ratio(times_as_wide(width, found["hull"][name]))
        rows.append([clean(name, 40), *sizes, wider])
    return rows


def ratio(value: float) -> str:
    """A ratio in three digits, – where there is none."""
    return "–" if np.isnan(value) else f"{value:.3g}"


def times_as_wide(width: np.ndarray, hull: np.ndarray) -> float:
    """Median of tube over hull, as long as runs are not closer than a hundredth of what they were."""
    seen = np.isfinite(hull) & (hull > 0.01 * np.nanmax(hull)) & (hull > 0)
    return float(np.median(width[seen] / hull[seen])) if seen.any() else np.nan
