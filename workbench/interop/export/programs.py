"""What goes with the code: a program that replays the run, and what builds it."""

from __future__ import annotations

from typing import Any

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
#define ALLOWED {allowed} /* of the largest command */

int main(int argc, char **argv)
{{
  {name}_memory z = {name}_initial_memory;
  {name}_inputs in;
  {name}_outputs u;
  {real} *given = ({real} *)&in, *made = ({real} *)&u;
  double largest = 0.0, apart = 0.0, wanted[OUT], value;
  long rows = 0;
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
    for (unsigned i = 0; i < OUT; ++i) {{
      double difference = fabs((double)made[i] - wanted[i]);
      if (!(difference <= apart)) apart = difference;
      if (fabs(wanted[i]) > largest) largest = fabs(wanted[i]);
    }}
    ++rows;
  }}
  fclose(file);
  printf("%ld samples, commands up to %g apart, the largest is %g\\n", rows, apart, largest);
  return rows > 0 && apart <= ALLOWED * largest ? 0 : 1;
}}
"""


def replay_program(text: Any) -> str:
    """The program that replays `run.csv`."""
    return _REPLAY.format(
        name=text.name,
        real=text.language.real,
        out=len(text.graph.commands),
        allowed=repr(text.allowed),
        near=f" within {text.allowed:g} of the largest" if text.allowed else ", to the last bit",
    )
