"""The text around a predictive law in C: what it is given, and what becomes of its commands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from workbench.interop.export.c_text import function, signature
from workbench.interop.export.languages import DOUBLE, Reads, statements
from workbench.interop.export.solver_graph import SolverGraph
from workbench.interop.export.straight import Straight, straight


@dataclass(frozen=True, eq=False)
class Shell:
    """The wrappers of a law as functions of C, and the functions of its header. words: identifiers, as `words_of` gives them."""

    graph: SolverGraph
    name: str
    words: Mapping[str, list[str]]

    @cached_property
    def programs(self) -> dict[str, Straight]:
        """The functions of the wrappers, as programs."""
        return {name: straight(f) for name, f in self.graph.around.functions.items()}

    @property
    def operations(self) -> int:
        """At most, at a sample."""
        return sum(sum(program.counts.values()) for program in self.programs.values())

    @property
    def wrapped(self) -> dict[str, list[str]]:
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
        if "around_release" in self.programs:
            found["release"] = ["  around_release(k, in, z, u);"]
        return found

    def functions(self) -> list[str]:
        """What stands around the law, and the functions of the header."""
        n = self.name
        z = self._memory_words
        u = self.words["outputs"]
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
        for name, program in self.programs.items():
            arguments, writes = parts[name]
            head = f"static void {name}({arguments})"
            lines += [*function(head, statements(program, DOUBLE, self._reads(), writes)), ""]
        for name, body in self.wrapped.items():
            lines += [signature(n, name), "{", *body, "}", ""]
        return lines[:-1]

    @property
    def _memory_words(self) -> list[str]:
        """Where the memory of the wrappers is."""
        own = len(self.graph.core.memory)
        return [f"z->{word}" for word in self.words["memory"][own:]]

    def _reads(self) -> Reads:
        """Where argument and place of a function around the law are found."""
        inputs = self.words["inputs"]
        memory = self._memory_words
        first = 1 + len(self.graph.measured)
        return lambda argument, place: (
            "in->t",
            memory[place] if argument == 1 else "",
            f"in->{inputs[1 + place]}" if argument == 2 else "",
            f"in->{inputs[first + place]}" if argument == 3 else "",
            f"moves[{place}]",
            f"k->around[{place}]",
        )[argument]
