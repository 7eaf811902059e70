"""The two kinds of laws that are exported: expressions, and predictive laws that solve a quadratic program at every sample."""

from __future__ import annotations

from typing import Any

from workbench.contract.closed_loop import ClosedLoop
from workbench.interop.export.c_text import CText
from workbench.interop.export.law_graph import LawGraph, law_graph
from workbench.interop.export.recorded import recorded
from workbench.interop.export.replay import Replay, replay
from workbench.interop.export.solver_graph import SolverGraph, is_solver, solver_graph
from workbench.interop.export.solver_text import SolverText
from workbench.run.scenario import Scenario

Graph = LawGraph | SolverGraph


def graph_of(controller: Any) -> Graph:
    """The law as it is exported. Raises InputError for one that cannot be."""
    return solver_graph(controller) if is_solver(controller) else law_graph(controller)


def run_of(loop: ClosedLoop, scenario: Scenario, graph: Graph) -> Replay:
    """The run that the exported law is held against. Raises InputError where it does not come to its end."""
    if isinstance(graph, SolverGraph):
        return recorded(loop, scenario)
    return replay(loop, scenario, graph)


def text_of(graph: Graph, **options: Any) -> CText | SolverText:
    """The C of a graph; options: name, single, about, digest."""
    return (SolverText if isinstance(graph, SolverGraph) else CText)(graph, **options)  # type: ignore[arg-type]
