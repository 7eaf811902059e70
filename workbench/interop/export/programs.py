"""What goes with the code: a program that replays the run, and what builds it."""

from __future__ import annotations

from typing import Any

from workbench.interop.export.comparison import allowances, unshown
from workbench.interop.export.replay import Replay

CMAKE = """\
cmake_minimum_required(VERSION 3.10)
project({name} C)
set(CMAKE_C_STANDARD 99)
set(CMAKE_C_EXTENSIONS OFF)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
# Products and sums are rounded one by one, as in the run that was verified.
add_compile_options(-ffp-contract=off)
add_library({name} {name}.c)
add_executable(replay replay.c)
target_link_libraries(replay {name} m)
enable_testing()
add_test(NAME replay COMMAND replay ${{CMAKE_CURRENT_SOURCE_DIR}}/run.csv)
"""

_REPLAY = """\
/* The verified run again, by the exported law: each row of the file has t, measurements, references and the commands that were
 * given. Ends with 0 where the law gives the same commands{near}. */
#include <math.h>
#include <stdio.h>

#include "{name}.h"

#define IN (sizeof({name}_inputs) / sizeof({real}))
#define OUT {out}

/* Each command, and by how much it may be off, in its unit. */
static const char *const commands[OUT] = {{{commands}}};
static const double allowed[OUT] = {{{allowed}}};

/* The larger of two; what is not a number stays. */
static double further(double apart, double difference) {{ return difference <= apart || apart != apart ? apart : difference; }}

int main(int argc, char **argv)
{{
  {name}_memory z = {name}_initial_memory;
  {name}_inputs in;
  {name}_outputs u;
  {real} *given = ({real} *)&in, *made = ({real} *)&u;
  double apart[OUT] = {{0.0}}, worst = 0.0, wanted[OUT], value;
  long rows = 0;
  int well = 1;
  FILE *file = fopen(argc > 1 ? argv[1] : "run.csv", "r");
  if (!file) {{
    fprintf(stderr, "cannot read the run\\n");
    return 3;
  }}
  while (fscanf(file, "%lf", &value) == 1) {{
    given[0] = ({real})value;
    for (unsigned i = 1; i < IN; ++i) {{
      if (fscanf(file, "%lf", &value) != 1) return 3;
      given[i] = ({real})value;
    }}
    for (unsigned i = 0; i < OUT; ++i)
      if (fscanf(file, "%lf", &wanted[i]) != 1) return 3;
    if (rows == 0) {name}_start(&{name}_default_constants, &in, &z);
    {name}_step(&{name}_default_constants, &in, &z, &u);
    for (unsigned i = 0; i < OUT; ++i) apart[i] = further(apart[i], fabs((double)made[i] - wanted[i]));
    ++rows;
  }}
  fclose(file);
  for (unsigned i = 0; i < OUT; ++i) worst = further(worst, apart[i]);
  printf("%ld samples, commands up to %g apart\\n", rows, worst);
  for (unsigned i = 0; i < OUT; ++i) {{
    if (apart[i] <= allowed[i]) continue;
    printf("wrong: %s is up to %g apart, %g is allowed\\n", commands[i], apart[i], allowed[i]);
    well = 0;
  }}{untold}
  return rows > 0 && well ? 0 : 1;
}}
"""

_UNTOLD = """
  puts("not checked: {words}");"""


def replay_program(text: Any, run: Replay) -> str:
    """The program that replays `run.csv`, whose rows are those of `run`."""
    words = text.words["outputs"]
    signals = [{"name": w, "unit": s.unit} for w, s in zip(words, text.graph.commands)]
    limits = allowances(run.commands, text.allowed, signals)
    untold = unshown(run.commands, text.allowed, signals)
    return _REPLAY.format(
        name=text.name,
        real=text.language.real,
        out=len(signals),
        commands=", ".join(f'"{word}"' for word in words),
        allowed=", ".join(repr(float(limit)) for limit in limits),
        near=f" within {text.allowed:g} of the largest of their unit"
        if text.allowed
        else ", to the last bit",
        untold=_UNTOLD.format(words=untold) if untold else "",
    )
