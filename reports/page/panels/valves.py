"""Which valve is open when, of machines behind metering valves."""

from __future__ import annotations

import numpy as np

from reports import metering
from reports.page.panels.panel import Panel, Plot, Stretch
from reports.valve_words import VALVES, behind


class Valves(Panel):
    name = "Valve states"

    def plots(self, content) -> list[Plot]:
        if content.plant is None or metering.course(content.log, content.plant) is None:
            return []
        seen = metering.states(content.log, content.plant)
        ends = seen.t + seen.lasts
        common = {"pump relief": stretches(seen.t, ends, seen.open["pR"])}
        made = [Plot("pump", rows=common)]
        has = behind(content.plant)
        for name, title in zip(has.names, has.titles):
            rows = {
                words: stretches(seen.t, ends, seen.open[f"{key}_{name}"])
                for key, words in VALVES.items()
                if f"{key}_{name}" in seen.open
            }
            made.append(Plot(title or "cylinder", rows=rows, words="bars: the valve is open"))
        return made


def stretches(begins, ends, is_open) -> list[Stretch]:
    """Where a valve is open, neighbours joined."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], np.asarray(is_open, int), [0]])))
    return [Stretch(float(begins[a]), float(ends[b - 1])) for a, b in zip(edges[::2], edges[1::2])]
