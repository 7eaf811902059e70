"""A servo axis under PID whose law is exported: what the tests of exported laws share."""

import shutil
import subprocess
from pathlib import Path

import pytest

from workbench.cases.file import loads
from workbench.interop.export.law_graph import law_graph
from workbench.interop.export.replay import replay

STUBS = Path(__file__).with_name("ros2_stubs")
WARNINGS = ("-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter")
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


def built(package, *flags):
    """The package's controller with the manager, built into the folder above."""
    if shutil.which("g++") is None:
        pytest.skip("no C++ compiler")
    made = package.parent / f"manager{len(flags)}"
    law = made.with_suffix(".o")
    quiet = {"check": True, "capture_output": True, "text": True}
    c = ["gcc", "-std=c99", "-O1", "-ffp-contract=off", "-c", package / "law" / "law.c", "-o", law]
    subprocess.run(c, **quiet)
    roots = [f"-I{package / 'include'}", f"-I{package / 'law'}", f"-I{STUBS}"]
    own = [package / "src" / f"{name}.cpp" for name in ("controller", "plugins")]
    sources = [*own, STUBS / "manager.cpp", law]
    cpp = ["g++", "-std=c++17", "-O0", *WARNINGS, *flags, *roots, *sources, "-o", made]
    subprocess.run(cpp, **quiet)
    return made
