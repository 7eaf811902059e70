"""The same question over many cases: a study over a grid and random draws, on all cores or a Dask cluster, resumable.

    table = sweep(study, {"load": [0.0, 50.0], "supply": ["CP", "LS"]}, out="table.nc")

See `workbench.sweep.run.sweep`; `workbench sweep FILE` does it for case and plan files (`workbench.sweep.form`).
"""

from __future__ import annotations

from workbench.contract.lazy import imported

_HOME = {
    "sweep": "run",
    "Grid": "grid",
    "Draw": "grid",
    "spaced": "grid",
    "Table": "table",
    "CaseStudy": "cases",
    "Collect": "cases",
    "PlanStudy": "plans",
    "CollectPlans": "plans",
}

__all__ = list(_HOME)


def __getattr__(name: str):
    return imported(__name__, _HOME, name)
