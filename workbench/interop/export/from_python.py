"""A law out of a Python session: its code, held against the run of its loop."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from workbench.contract.closed_loop import ClosedLoop
from workbench.interop.export.laws import graph_of, run_of
from workbench.interop.export.package import export_law
from workbench.run.scenario import Scenario


def export(loop: ClosedLoop, scenario: Scenario, folder: str | os.PathLike, **options: Any) -> Path:
    """Write the loop's law as C to `folder`, with the run through `scenario` that the code is held against; returns the folder.

    options: name, single, about, verdicts and case of `export_law`. `Compiled(folder)` builds the code and compares it.

    Raises InputError for a law that cannot be exported, a run that does not come to its end, and a folder that is there.
    """
    graph = graph_of(loop.controller)
    return export_law(folder, graph, run_of(loop, scenario, graph), **options)
