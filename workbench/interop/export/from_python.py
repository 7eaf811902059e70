"""A law out of a Python session: its code, held against the run of its loop."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from workbench.contract.closed_loop import ClosedLoop
from workbench.contract.errors import InputError
from workbench.interop.export.laws import graph_of, run_of
from workbench.interop.export.package import export_law
from workbench.run.scenario import Scenario, stated


def export(loop: ClosedLoop, scenario: Scenario, folder: str | os.PathLike, **options: Any) -> Path:
    """Write the loop's law as C to `folder`, which must not exist yet, and return the folder.

    The loop is run through `scenario`. What the law measured and commanded in that run is written beside the code, so that the
    code can be tested: `Compiled(folder)` compiles it and compares its commands with those of the run.
    options: name, single, about, verdicts and case of `export_law`.

    Raises InputError for what is no loop or scenario, a law that cannot be exported, a run that does not reach its end, and a
    folder that exists.
    """
    if not isinstance(loop, ClosedLoop):
        raise InputError(
            f"export: expected a loop, got {type(loop).__name__}",
            mend="write export(ClosedLoop(plant, Sampled(law, T_s=1e-3)), scenario, folder)",
        )
    graph = graph_of(loop.controller)
    return export_law(folder, graph, run_of(loop, stated(scenario), graph), **options)
