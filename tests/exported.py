"""A servo axis under PID whose law is exported: what the tests of exported laws share."""

from workbench.cases.file import loads
from workbench.interop.export.law_graph import law_graph
from workbench.interop.export.replay import replay

AXIS = """
plant: ieha-published-linear
controller: {law: PID, K_p: 0.4, K_i: 2, K_d: 0.001 s, feed: gain, K_v: 0.0087}
scenario:
  reference: {type: Sine, space: output, centre: start, amplitude: [1 cm], frequency: 2 Hz}
"""


def exported_axis(duration):
    """(case, graph, run) of the axis."""
    case = loads(f"{AXIS}  duration: {duration}\n")
    graph = law_graph(case.loop.controller)
    return case, graph, replay(case.loop, case.scenario, graph)
