"""How much is left: sample time and delay."""

from __future__ import annotations

from reports.chapters.chapter import Chapter, Figures
from reports.figures import proof


class Room(Chapter):
    name = "room"
    analysis = {
        "sample_time": "T_s (K,) s, v_max (K,) J, error_max (K,) m, stable (K,) bool, limit s, bound J",
        "delay": 'as sample_time; its times may be called "delay"',
    }

    def figures(self, content) -> Figures:
        of = content.analysis.get
        return {
            "sample_time": lambda: proof.scan(of("sample_time") or {}, "sample time"),
            "delay": lambda: proof.scan(of("delay") or {}, "delay"),
        }
