"""A linear predictive law as C99: its own arithmetic, and DAQP's source for the quadratic program. Nothing is allocated."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from workbench.contract.errors import InputError
from workbench.interop.export.c_text import (
    WHAT,
    header_of,
    numbers_of,
    signal_structs,
    signature,
    struct,
    told,
    words_of,
)
from workbench.interop.export.languages import DOUBLE, Language
from workbench.interop.export.solver_graph import SolverGraph
from workbench.interop.export.solver_shell import Shell

HERE = Path(__file__).parent
SOURCES = ("auxiliary.c", "factorization.c", "daqp.c")
SETTINGS = {"primal_tol": 1e-10, "dual_tol": 1e-12, "iterations": 2000}
TOLERATED, BROKEN = 1e-7, -9  # of `controllers.mpc.loop`: excess over a limit, and its status


@dataclass(frozen=True, eq=False)
class SolverText:
    """The files' text, see `CText`. Doubles alone: the solver's tolerances are none of floats.

    Raises InputError for `single`.
    """

    graph: SolverGraph
    name: str = "law"
    single: bool = False
    about: Sequence[str] = field(default=())
    digest: str = ""

    # Its constants are worked out; there are no parameters from which they would follow.
    prepared = True

    def __post_init__(self) -> None:
        if self.single:
            raise InputError(
                "--float: the quadratic program is solved to 1e-10, which floats have not",
                mend="export MPC with doubles",
            )

    @property
    def allowed(self) -> float:
        """How far commands may be off those of the run, as a share of the largest."""
        return self.graph.core.allowed

    @property
    def language(self) -> Language:
        return DOUBLE

    @cached_property
    def words(self) -> dict[str, list[str]]:
        return words_of(self.graph)

    @property
    def beside(self) -> dict[str, str]:
        """DAQP's files, with their licence."""
        files = sorted((HERE / "daqp").iterdir())
        return {f"daqp/{path.name}": path.read_text("utf-8") for path in files if path.is_file()}

    @property
    def operations(self) -> int:
        """Outside the solver, at most."""
        return self.graph.core.operations + self._shell.operations

    @property
    def per_iteration(self) -> int:
        """Operations of an iteration of the solver, about."""
        return self.graph.core.per_iteration

    def header(self) -> str:
        """The header: structs with units, constants, functions."""
        n = self.name
        upper = n.upper()
        numbers = [
            f"#define {upper}_LAG {DOUBLE.number(float(self.graph.controller.lag))} /* s, from a sample to `release`; 0: none */",
            f"#define {upper}_OPERATIONS {self.operations} /* at most at a sample, outside the solver */",
            f"#define {upper}_ITERATIONS {SETTINGS['iterations']} /* at most, of the solver, twice a sample: each takes about */",
            f"#define {upper}_OPERATIONS_OF_ITERATION {self.per_iteration}",
        ]
        members = [f"  double {name}[{values.size}];" for name, values in self.graph.fields.items()]
        structs = [
            struct(n, "parameters", "double", (), self.words),
            ["typedef struct {", *members, f"}} {n}_constants;"],
            *signal_structs(self, "double"),
        ]
        functions = []
        for name in self._shell.wrapped:
            functions += [f"/* {WHAT[name]} */", f"{signature(n, name)};", ""]
        return header_of(self, numbers, structs, functions[:-1])

    def source(self) -> str:
        """The source: DAQP's files are part of it, then constants and functions."""
        fields = self.graph.fields.values()
        rows = [f"{{{told(values.ravel(), DOUBLE)}}}" for values in fields]
        head = [
            f'#include "{self.name}.h"',
            "",
            "#include <math.h>",
            "",
            *(f'#include "daqp/{name}"' for name in SOURCES),
            "",
            *numbers_of(self, DOUBLE, ",\n  ".join(rows)),
        ]
        words = self._template_words()
        own = (HERE / self.graph.core.template).read_text("utf-8")
        filled = lambda text: re.sub(rf"@({'|'.join(words)})@", lambda m: words[m[1]], text)
        parts = [
            *head,
            *self.graph.core.functions,
            filled(filled(own)),
            *self._shell.functions(),
            "",
        ]
        return "\n".join(parts)

    @cached_property
    def _shell(self) -> Shell:
        """What stands around the law."""
        return Shell(self.graph, self.name, self.words)

    def _template_words(self) -> dict[str, str]:
        core = self.graph.core
        shared = (HERE / "mpc_qp.c.in").read_text("utf-8")
        return {
            **{name: str(size) for name, size in core.sizes.items()},
            "shared": shared,
            "name": self.name,
            "iterations": str(SETTINGS["iterations"]),
            "primal_tol": repr(SETTINGS["primal_tol"]),
            "dual_tol": repr(SETTINGS["dual_tol"]),
            "tolerated": repr(TOLERATED),
            "broken": f"({BROKEN})",
            "sample": f"{self.name.upper()}_SAMPLE_TIME",
            **core.words(),
        }
