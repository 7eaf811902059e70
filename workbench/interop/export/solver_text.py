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
    function,
    header_of,
    numbers_of,
    signal_structs,
    signature,
    struct,
    told,
    words_of,
)
from workbench.interop.export.languages import DOUBLE, Language, Reads, statements
from workbench.interop.export.solver_graph import SolverGraph
from workbench.interop.export.straight import Straight, straight

HERE = Path(__file__).parent
SOURCES = ("auxiliary.c", "factorization.c", "daqp.c")
SETTINGS = {"primal_tol": 1e-10, "dual_tol": 1e-12, "iterations": 2000}
TOLERATED, BROKEN = 1e-7, -9  # of `controllers.mpc.loop`: excess over a limit, and its status
ALLOWED = 1e-9  # of the largest command: sums are taken in another order than in the run


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

    allowed = ALLOWED
    prepared = (
        True  # its constants are worked out, and there are no parameters that they follow from
    )

    def __post_init__(self) -> None:
        if self.single:
            raise InputError(
                "--float: the quadratic program is solved to 1e-10, which floats have not",
                mend="export MPC with doubles",
            )

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
        around = sum(sum(program.counts.values()) for program in self._around.values())
        return self.graph.core.operations + around

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
        for name in self._wrapped:
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
        parts = [*head, *self.graph.core.functions, filled(filled(own)), *self._functions(), ""]
        return "\n".join(parts)

    @cached_property
    def _around(self) -> dict[str, Straight]:
        """The functions of the wrappers, as programs."""
        return {name: straight(f) for name, f in self.graph.around.functions.items()}

    @property
    def _wrapped(self) -> dict[str, list[str]]:
        """Public function → what it does: what the law is given, the law, what becomes of its commands."""
        given, memory = "  double given[Y + R + 1];", "(double *)z"
        found = {
            "start": [
                given,
                "  seen_at_start(k, in, z, given);",
                f"  law_started(k, given, {memory});",
                "  around_start(k, in, z);",
            ],
            "step": [
                given.replace(";", ", moves[U];"),
                "  seen(k, in, z, given);",
                f"  law_stepped(k, given, {memory}, moves);",
                "  around_step(k, in, moves, z, u);",
            ],
        }
        if "around_release" in self._around:
            found["release"] = ["  around_release(k, in, z, u);"]
        return found

    def _functions(self) -> list[str]:
        """What stands around the law, and the functions of the header."""
        n, z, u = self.name, self._memory_words, self.words["outputs"]
        law = self.graph.law
        given = [f"given[{i}]" for i in range(len(law.measured) + len(law.references))]
        takes = f"const {n}_constants *k, const {n}_inputs *in"
        seen = f"{takes}, const {n}_memory *z, double *given"
        out = f"{n}_memory *z, {n}_outputs *u"
        parts = {
            "seen_at_start": (seen, [given]),
            "seen": (seen, [given]),
            "around_start": (f"{takes}, {n}_memory *z", [z]),
            "around_step": (f"{takes}, const double *moves, {out}", [z, [f"u->{w}" for w in u]]),
            "around_release": (f"{takes}, {out}", [z, [f"u->{w}" for w in u]]),
        }
        lines = []
        for name, program in self._around.items():
            arguments, writes = parts[name]
            head = f"static void {name}({arguments})"
            lines += [*function(head, statements(program, DOUBLE, self._reads(), writes)), ""]
        for name, body in self._wrapped.items():
            lines += [signature(n, name), "{", *body, "}", ""]
        return lines[:-1]

    @property
    def _memory_words(self) -> list[str]:
        """Where the memory of the wrappers is."""
        own = len(self.graph.core.memory)
        return [f"z->{word}" for word in self.words["memory"][own:]]

    def _reads(self) -> Reads:
        """Where argument and place of a function around the law are found."""
        inputs, memory = self.words["inputs"], self._memory_words
        first = 1 + len(self.graph.measured)
        return lambda argument, place: (
            "in->t",
            memory[place] if argument == 1 else "",
            f"in->{inputs[1 + place]}" if argument == 2 else "",
            f"in->{inputs[first + place]}" if argument == 3 else "",
            f"moves[{place}]",
            f"k->around[{place}]",
        )[argument]

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
            **core.words(),
        }
