"""An exported plant, or loop, as a folder: header, source, a program that replays the run, the case, its verdicts, what is what."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from workbench.interop.export.identifiers import identifier
from workbench.interop.export.package import REPLAYED, RUN, digest_of, put, signal
from workbench.interop.export.programs import CMAKE
from workbench.interop.export.system_graph import SystemGraph
from workbench.interop.export.system_run import SystemRun
from workbench.interop.export.system_text import SystemText

REPLAY = """\
/* The verified run again, by the exported {part}: each row of the file has t, inputs, {stages}and the plant's states before that
 * sample. Ends with 0 where these are the same, to the last bit. */
#include <math.h>
#include <stdio.h>

#include "{name}.h"

#define IN (sizeof({name}_inputs) / sizeof(double))
#define WITHIN {within}
#define STATES {states}

static int numbers(FILE *file, double *to, unsigned count)
{{
  for (unsigned i = 0; i < count; ++i)
    if (fscanf(file, "%lf", &to[i]) != 1) return 0;
  return 1;
}}

int main(int argc, char **argv)
{{
  {name}_state x = {name}_initial_state;
  {name}_inputs in;
  double within[WITHIN + 1], wanted[STATES], apart = 0.0;
  const double *made = (const double *)&x;
  long rows = 0, well = 1;
  FILE *file = fopen(argc > 1 ? argv[1] : "run.csv", "r");
  if (!file) {{
    fprintf(stderr, "cannot read the run\\n");
    return 3;
  }}
  while (well && numbers(file, (double *)&in, IN)) {{
    if (!numbers(file, within, WITHIN) || !numbers(file, wanted, STATES)) return 3;
    if (rows == 0) {name}_start(&{name}_default_constants, &in, &x);
    for (unsigned i = 0; i < STATES; ++i) {{
      double difference = fabs(made[i] - wanted[i]);
      if (!(difference <= apart || apart != apart)) apart = difference; /* what is not a number stays */
    }}
    well = {step};
    ++rows;
  }}
  fclose(file);
  printf("%ld samples, states up to %g apart\\n", rows, apart);
  return well && rows > 0 && apart == 0.0 ? 0 : 1;
}}
"""


def system_digest(graph: SystemGraph) -> str:
    """Digest of the numbers that the code has: parameters, constants, start, steps."""
    g = graph.grid
    steps = np.array([g.T, g.n1, g.h1, g.n2, g.h2], float)
    return digest_of(graph.traced.paths, graph.values, graph.constants, graph.start, steps)


def system_text(
    graph: SystemGraph, run: SystemRun, name: str, about: Sequence[str] = ()
) -> SystemText:
    """The text of a plant or a loop under this name."""
    return SystemText(graph, identifier(name), run.inputs[0], tuple(about), system_digest(graph))


def system_code(text: SystemText) -> dict[str, str]:
    """Header and source by the names of their files."""
    return {f"{text.name}.h": text.header(), f"{text.name}.c": text.source()}


def replay_program(text: SystemText) -> str:
    """The program that replays `run.csv`."""
    g = text.graph
    name = text.name
    held = f"{name}_step(&{name}_default_constants, &in, &x)"
    along = f"{name}_step_along(&{name}_default_constants, &in, within, &x)"
    return REPLAY.format(
        name=name,
        part=g.part,
        stages="inputs at the stages of its steps, " if g.driven else "",
        within=g.stages * len(g.inputs) if g.driven else 0,
        states=g.moving,
        step=along if g.driven else held,
    )


def system_manifest(text: SystemText, files: Mapping[str, str], verdicts: Any) -> dict[str, Any]:
    """What the folder holds, as plain data."""
    g = text.graph
    return {
        "format": f"fluidproof exported {g.part} 1",
        "name": text.name,
        g.part: type(g.system.plant).__name__,
        "digest": text.digest,
        "sample_time": g.sample_time,
        "steps": g.grid.n1 + g.grid.n2,
        "stages": g.stages,
        "driven": g.driven,
        "operations": text.operations,
        "parameters": list(g.traced.paths),
        "constants": len(g.constants),
        "states": [signal(s) for s in g.states],
        "moving": g.moving,
        "initial": [float(v) for v in g.start],
        "inputs": [signal(s) for s in g.inputs],
        "outputs": [signal(s) for s in g.outputs],
        "verdicts": verdicts,
        "sha256": {name: hashlib.sha256(body.encode()).hexdigest() for name, body in files.items()},
    }


def export_system(
    folder: str | os.PathLike,
    graph: SystemGraph,
    run: SystemRun,
    *,
    name: str = "plant",
    about: Sequence[str] = (),
    verdicts: Any = None,
    case: str = "",
) -> Path:
    """Write the plant, or the loop, to `folder`, which must not be there yet; all of it or nothing.

    run: what it was given and where it was; its first samples go with the code. The rest as of `export_law`.

    Raises InputError for a folder that is there, and where the disk refuses.
    """
    text = system_text(graph, run, name, about)
    code = system_code(text)
    others = {
        "replay.c": replay_program(text),
        "CMakeLists.txt": CMAKE.format(name=text.name),
        RUN: table(run.first(REPLAYED)),
    }
    if case:
        others["case.yaml"] = case
    data = system_manifest(text, code, verdicts)
    others[f"{graph.part}.json"] = json.dumps(data, ensure_ascii=False, indent=1) + "\n"
    return put(Path(folder), {**code, **others})


def table(run: SystemRun) -> str:
    """Rows of a run for `replay.c`, every digit of them."""
    lines = [" ".join(repr(float(v)) for v in row) for row in run.rows]
    return "\n".join(lines) + "\n"
