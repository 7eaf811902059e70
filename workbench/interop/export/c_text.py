"""A law as C99: a header with its structs, a source with its functions.

All memory is the caller's, nothing is allocated, no name is global but those that begin with the law's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from workbench.contract.system import Signal
from workbench.interop.export.identifiers import identifiers
from workbench.interop.export.languages import DOUBLE, SINGLE, Language, Reads, statements
from workbench.interop.export.law_graph import LawGraph, short
from workbench.interop.export.straight import Straight, most_counted, straight
from workbench.numerics.c_code import NUMBERS

WHAT = {
    "start": "Memory that fits the first measurement; call it once before the first step.",
    "step": "One sample: the memory goes on, the commands are those to apply from now on.",
    "release": "The second instant of a sample, LAG after it: commands that wait less than a sample for their time are applied.",
}


@dataclass(frozen=True, eq=False)
class CText:
    """The files' text. name: what every identifier begins with; single: floats in place of doubles; digest: of the constants."""

    graph: LawGraph
    name: str = "law"
    single: bool = False
    about: Sequence[str] = field(default=())
    digest: str = ""

    prepared = False  # its constants follow from parameters

    @property
    def language(self) -> Language:
        return SINGLE if self.single else DOUBLE

    @cached_property
    def programs(self) -> dict[str, Straight]:
        """Name of a function → its operations."""
        return {name: straight(f) for name, f in self.graph.functions.items()}

    @property
    def operations(self) -> int:
        """Operations of the longest function: every path is taken at every sample, so it is the worst case, too."""
        sampled = [program for name, program in self.programs.items() if name != "start"]
        return most_counted(sampled)

    @cached_property
    def words(self) -> dict[str, list[str]]:
        """What a struct holds → the identifiers of its members, in order."""
        return words_of(self.graph)

    @property
    def allowed(self) -> float:
        """How far commands may be off those of the run, as a share of the largest."""
        return 1e-2 if self.single else 0.0

    @property
    def beside(self) -> dict[str, str]:
        """Files that the source is built with: name → text."""
        return {}

    def header(self) -> str:
        """The header: structs with units, constants, functions."""
        n = self.name
        g = self.graph
        parameters = [Signal(p.path, p.info.unit, p.info.meaning) for p in g.parameters]
        numbers = [
            f"#define {n.upper()}_LAG {DOUBLE.number(float(g.controller.lag))} /* s, from a sample to `release`; 0: none */",
            f"#define {n.upper()}_OPERATIONS {self.operations} /* at most, and at every sample */",
        ]
        structs = [
            struct(n, "parameters", self.language.real, parameters, self.words),
            array_struct(n, "constants", self.language.real, len(g.constants)),
            *signal_structs(self, self.language.real),
        ]
        functions = [
            "/* Constants of other parameters. Verdicts were given for the default ones alone. */",
            f"void {n}_prepare(const {n}_parameters *p, {n}_constants *k);",
        ]
        for name in self.programs:
            functions += ["", f"/* {WHAT[name]} */", f"{signature(n, name)};"]
        return header_of(self, numbers, structs, functions)

    def source(self) -> str:
        """The source: constants, then the functions as one operation a line."""
        n = self.name
        prepare = self._function(
            f"void {n}_prepare(const {n}_parameters *p, {n}_constants *k)",
            straight(self.graph.prepare),
            lambda argument, place: f"p->{self.words['parameters'][place]}",
            [[f"k->c[{i}]" for i in range(len(self.graph.constants))]],
        )
        own = [] if self.single else ["", f"/* {'-' * 100} */", "#define LANES 1", NUMBERS]
        return "\n".join([*_head(self), *prepare, *own, "", *self._steps(), ""])

    def _steps(self) -> list[str]:
        memory = [f"z->{word}" for word in self.words["memory"]]
        commands = [f"u->{word}" for word in self.words["outputs"]]
        lines = []
        for name, program in self.programs.items():
            results = [memory] if name == "start" else [memory, commands]
            lines += [
                *self._function(signature(self.name, name), program, self._reads(), results),
                "",
            ]
        return lines

    def _reads(self) -> Reads:
        """Where argument and place of a function of the law are found in the structs."""
        inputs = self.words["inputs"]
        first = 1 + len(self.graph.measured)
        return lambda argument, place: (
            "in->t",
            f"z->{self.words['memory'][place]}" if argument == 1 else "",
            f"in->{inputs[1 + place]}" if argument == 2 else "",
            f"in->{inputs[first + place]}" if argument == 3 else "",
            f"k->c[{place}]",
        )[argument]

    def _function(
        self, signature: str, program: Straight, reads: Reads, writes: Sequence[Sequence[str]]
    ) -> list[str]:
        return function(signature, statements(program, self.language, reads, writes))


def function(signature: str, body: Sequence[str]) -> list[str]:
    """A function of these statements; what it is given and does not use is said."""
    unused = [f"(void){word};" for word in _arguments(signature) if not _used(word, body)]
    return [signature, "{", *(f"  {line}" for line in (*unused, *body)), "}"]


def words_of(graph: Any) -> dict[str, list[str]]:
    """What a struct of a law holds → the identifiers of its members, in order."""
    inputs = identifiers(["t", *(s.name for s in (*graph.measured, *graph.references))])
    return {
        "parameters": identifiers([short(leaf.path) for leaf in graph.parameters]),
        "memory": identifiers([s.name for s in graph.memory]),
        "inputs": inputs,
        "outputs": identifiers([s.name for s in graph.commands]),
    }


def signature(law: str, name: str) -> str:
    """Of a function of a law, without its end."""
    out = "" if name == "start" else f", {law}_outputs *u"
    return (
        f"void {law}_{name}(const {law}_constants *k, const {law}_inputs *in, {law}_memory *z{out})"
    )


def signal_structs(text: Any, real: str) -> list[list[str]]:
    """Structs of memory, inputs and outputs."""
    g = text.graph
    given = [Signal("t", "s", "time since the start"), *g.measured, *g.references]
    return [
        struct(text.name, kind, real, signals, text.words)
        for kind, signals in (("memory", g.memory), ("inputs", given), ("outputs", g.commands))
    ]


def header_of(
    text: Any, numbers: Sequence[str], structs: Sequence[Sequence[str]], functions: Sequence[str]
) -> str:
    """A header of these macros, structs and functions, with what the headers of all laws have."""
    n = text.name
    guard = f"{n.upper()}_H"
    period = DOUBLE.number(float(text.graph.controller.period or 0.0))
    real = (SINGLE if text.single else DOUBLE).real
    return "\n".join(
        [
            *comment(text.about),
            f"#ifndef {guard}",
            f"#define {guard}",
            "",
            "#ifdef __cplusplus",
            'extern "C" {',
            "#endif",
            "",
            f"#define {n.upper()}_SAMPLE_TIME {period} /* s */",
            *numbers,
            f'#define {n.upper()}_DIGEST "{text.digest}"',
            "",
            *(line for lines in structs for line in (*lines, "")),
            "/* The numbers that the verdicts are of, and their digest. */",
            f"extern const char {n}_digest[];",
            f"extern const {real} {n}_sample_time; /* s */",
            f"extern const unsigned {n}_sizes[6]; /* bytes of a number; then of parameters, constants, memory, inputs, outputs */",
            f"extern const {n}_parameters {n}_default_parameters;",
            f"extern const {n}_constants {n}_default_constants;",
            "",
            "/* What the memory is before `start`. */",
            f"extern const {n}_memory {n}_initial_memory;",
            "",
            *functions,
            "",
            "#ifdef __cplusplus",
            "}",
            "#endif",
            f"#endif /* {guard} */",
            "",
        ]
    )


def _head(text: CText) -> list[str]:
    """What the source begins with: its numbers, as the language writes them."""
    language = text.language
    return [
        f'#include "{text.name}.h"',
        "",
        "#include <math.h>",
        "",
        "/* Rounding is part of the law: no product and sum in one, no other order (GCC: -ffp-contract=off). */",
        "#if !defined(__GNUC__) || defined(__clang__)",
        "#pragma STDC FP_CONTRACT OFF",
        "#endif",
        "",
        *numbers_of(text, language, f"{{{told(text.graph.constants, language)}}}"),
    ]


def numbers_of(text: Any, language: Language, constants: str) -> list[str]:
    """The definitions of what the header declares. constants: their initialiser, inside its braces."""
    n = text.name
    g = text.graph
    return [
        f"const char {n}_digest[] = {n.upper()}_DIGEST;",
        f"const {language.real} {n}_sample_time = ({language.real}){n.upper()}_SAMPLE_TIME;",
        f"const unsigned {n}_sizes[6] = {{sizeof({language.real}), {', '.join(map(str, sizes_of(g).values()))}}};",
        f"const {n}_parameters {n}_default_parameters = {{{told(g.values, language)}}};",
        f"const {n}_constants {n}_default_constants = {{{constants}}};",
        f"const {n}_memory {n}_initial_memory = {{{told(g.initial, language)}}};",
        "",
    ]


def told(values: Iterable[float], language: Language) -> str:
    """Numbers as an initialiser."""
    return ", ".join(language.number(float(v)) for v in values) or "0"


def sizes_of(graph: Any) -> dict[str, int]:
    """How many numbers each of a law's structs holds."""
    return {
        "parameters": len(graph.parameters),
        "constants": len(graph.constants),
        "memory": len(graph.memory),
        "inputs": 1 + len(graph.measured) + len(graph.references),
        "outputs": len(graph.commands),
    }


def _arguments(signature: str) -> list[str]:
    inner = signature[signature.index("(") + 1 : -1]
    return [part.split("*")[-1].strip() for part in inner.split(",")]


def _used(word: str, body: Sequence[str]) -> bool:
    return any(re.search(rf"\b{word}(->|\[)", line) for line in body)


def struct(
    name: str, kind: str, real: str, members: Sequence[Any], words: dict[str, list[str]]
) -> list[str]:
    """A struct of named numbers, each with its unit and meaning; C has no empty ones."""
    lines = [
        f"  {real} {word}; /* {_plain(s.unit)}{': ' + _plain(s.meaning) if s.meaning else ''} */"
        for word, s in zip(words[kind], members)
    ]
    return ["typedef struct {", *(lines or ["  char none;"]), f"}} {name}_{kind};"]


def array_struct(name: str, kind: str, real: str, count: int) -> list[str]:
    """A struct of numbers without names of their own."""
    return [
        "/* What follows from the parameters alone, worked out once. */",
        "typedef struct {",
        f"  {real} c[{max(count, 1)}];",
        f"}} {name}_{kind};",
    ]


def comment(lines: Sequence[str]) -> list[str]:
    """Lines as a comment of C; nothing in them ends it."""
    return ["/*", *(f" * {_plain(line)}".rstrip() for line in lines), " */"] if lines else []


def _plain(text: str) -> str:
    """Text that ends no comment and begins none."""
    return " ".join(
        text.replace("*/", "* /").replace("/*", "/ *").replace("??/", "? ?/").split("\n")
    )
