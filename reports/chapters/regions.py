"""The region of attraction, and a gain that is not known."""

from __future__ import annotations

from reports.chapters.chapter import Chapter, Figures
from reports.figures import region
from reports.style import clean


class Regions(Chapter):
    name = "regions"
    analysis = {
        "region": "list of regions of starting states, each in a plane of two states, with its kind",
        "sector": "frequency response of the linear part, the sector, the criterion",
    }

    def figures(self, content) -> Figures:
        of = content.analysis.get
        return {
            "region": lambda: region.regions(of("region") or ()),
            "sector": lambda: region.sector(of("sector") or {}),
        }

    def rows(self, content, drawn: list[str]) -> dict:
        regions = content.analysis.get("region") or ()
        kinds = dict.fromkeys(clean(r.get("kind") or "", 60) for r in regions)
        sector = content.analysis.get("sector") or {}
        return {
            "regions": len(regions),
            "region_kinds": ", ".join(kinds),
            "criterion": clean(sector.get("criterion", ""), 20),
        }
