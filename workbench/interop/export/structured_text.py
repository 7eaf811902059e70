"""A law as structured text (IEC 61131-3) for PLCs: one function block, the same operations in the same order."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from workbench.contract.errors import InputError
from workbench.contract.system import Signal
from workbench.interop.export.identifiers import identifiers
from workbench.interop.export.languages import Language, statements
from workbench.interop.export.law_graph import LawGraph
from workbench.interop.export.straight import straight


def _number(value: float) -> str:
    if not abs(value) < float("inf"):
        raise InputError(
            f"the law has the constant {value}, which structured text has no word for",
            key="controller",
            mend="export it as C",
        )
    mantissa, _, exponent = repr(float(value)).partition("e")
    mantissa = mantissa if "." in mantissa else f"{mantissa}.0"
    return f"{mantissa}E{int(exponent)}" if exponent else mantissa


def _truth(condition: str) -> str:
    """A condition as the number that expressions have in its place."""
    return f"SEL({condition}, 0.0, 1.0)"


FORMS = {
    "add": "{0} + {1}",
    "sub": "{0} - {1}",
    "mul": "{0} * {1}",
    "div": "{0} / {1}",
    "neg": "-{0}",
    "sq": "{0} * {0}",
    "twice": "2.0 * {0}",
    "inv": "1.0 / {0}",
    "assign": "{0}",
    "lt": _truth("{0} < {1}"),
    "le": _truth("{0} <= {1}"),
    "eq": _truth("{0} = {1}"),
    "ne": _truth("{0} <> {1}"),
    "and": _truth("({0} <> 0.0) AND ({1} <> 0.0)"),
    "or": _truth("({0} <> 0.0) OR ({1} <> 0.0)"),
    "not": _truth("{0} = 0.0"),
    "sign": "SEL({0} < 0.0, SEL({0} > 0.0, {0}, 1.0), -1.0)",
    "if_else_zero": "SEL({0} <> 0.0, 0.0, {1})",
    "sqrt": "SQRT({0})",
    "sin": "SIN({0})",
    "cos": "COS({0})",
    "tan": "TAN({0})",
    "asin": "ASIN({0})",
    "acos": "ACOS({0})",
    "atan": "ATAN({0})",
    "exp": "EXP({0})",
    "log": "LN({0})",
    "pow": "EXPT({0}, {1})",
    "constpow": "EXPT({0}, {1})",
    "fabs": "ABS({0})",
    # the next whole number below; of numbers that a DINT holds, such as turns of an angle
    "floor": "DINT_TO_LREAL(TRUNC({0})) - SEL(DINT_TO_LREAL(TRUNC({0})) > {0}, 0.0, 1.0)",
    "ceil": "DINT_TO_LREAL(TRUNC({0})) + SEL(DINT_TO_LREAL(TRUNC({0})) < {0}, 0.0, 1.0)",
    # the remainder of a quotient that a DINT holds; a quotient rounded to a whole number leaves nothing
    "fmod": "{0} - {1} * DINT_TO_LREAL(TRUNC({0} / {1}))",
    "copysign": "SEL({1} < 0.0, ABS({0}), -ABS({0}))",
    # by the smaller over the larger of the two, nowhere over zero; (0, 0) gives 0, as a zero has no sign here
    "atan2": "SEL(ABS({0}) > ABS({1}), ATAN({0} / SEL({1} = 0.0, {1}, 1.0)) + SEL({1} < 0.0, 0.0, SEL({0} < 0.0, "
    "3.141592653589793, -3.141592653589793)), SEL({0} < 0.0, 1.5707963267948966, -1.5707963267948966) - "
    "ATAN({1} / SEL({0} = 0.0, {0}, 1.0)))",
    "cosh": "(EXP({0}) + EXP(-{0})) / 2.0",
    # near zero, where exponentials cancel, by its series: x^11/11! is below 1e-16 of x
    "sinh": "SEL(ABS({0}) < 0.1, (EXP({0}) - EXP(-{0})) / 2.0, {0} * (1.0 + {0} * {0} / 6.0 * (1.0 + {0} * {0} / 20.0 * "
    "(1.0 + {0} * {0} / 42.0 * (1.0 + {0} * {0} / 72.0)))))",
    "fmin": "MIN({0}, {1})",
    "fmax": "MAX({0}, {1})",
    "hypot": "SQRT({0} * {0} + {1} * {1})",
    # tanh x = 1 − 2/(e^2x + 1), within one rounding of 1; beyond 20 it is ±1
    "tanh": "1.0 - 2.0 / (EXP(2.0 * LIMIT(-20.0, {0}, 20.0)) + 1.0)",
}
ST = Language("structured text", "LREAL", _number, FORMS, "{0} := {1};", "{0} := {1};")


@dataclass(frozen=True, eq=False)
class StructuredText:
    """The text of a law's function block.

    about: lines of its comment; digest: of its numbers.

    Raises InputError, when it is written, for a law that is applied between samples, and for an operation that the language lacks.
    """

    graph: Any
    name: str = "law"
    about: Sequence[str] = field(default=())
    digest: str = ""

    def text(self) -> str:
        """The function block: call it once every sample; the first call makes its memory fit the measurement."""
        graph = self._graph()
        given = [Signal("t", "s", "time since the start"), *graph.measured, *graph.references]
        signals = (*given, *graph.commands, *graph.memory)
        words = identifiers([_free(word) for word in identifiers([s.name for s in signals])])
        inputs = words[: len(given)]
        outputs = words[len(given) : len(given) + len(graph.commands)]
        memory = words[len(given) + len(graph.commands) :]
        start = self._body("start", inputs, memory, [memory])
        step = self._body("step", inputs, memory, [memory, outputs])
        initial = [_number(float(v)) for v in graph.controller.initial()]
        constants = [_number(float(v)) for v in graph.constants]
        about = [
            *self.about,
            "",
            f"Digest of its numbers: {self.digest}",
            f"Sample time: {graph.controller.period} s",
        ]
        return "\n".join(
            [
                *_comment(about),
                f"FUNCTION_BLOCK {self.name}",
                *_declared("VAR_INPUT", given, inputs),
                *_declared("VAR_OUTPUT", graph.commands, outputs),
                *_declared("VAR", graph.memory, memory, initial),
                "VAR",
                "  begun : BOOL := FALSE;",
                "END_VAR",
                "VAR CONSTANT",
                *(f"  c{i} : LREAL := {value};" for i, value in enumerate(constants)),
                "END_VAR",
                "VAR_TEMP",
                *(f"  {word} : LREAL;" for word in _places([*start, *step])),
                "END_VAR",
                "IF NOT begun THEN",
                *(f"  {line}" for line in start),
                "  begun := TRUE;",
                "END_IF;",
                *step,
                "END_FUNCTION_BLOCK",
                "",
            ]
        )

    def _graph(self) -> LawGraph:
        """The law's graph; InputError for a law that has no structured text."""
        graph = self.graph
        if not isinstance(graph, LawGraph):
            raise InputError(
                "MPC solves a quadratic program at every sample, which has no structured text here",
                key="controller",
                mend="export it as C",
            )
        if graph.release is not None:
            raise InputError(
                "the law is applied between samples, and a PLC's task runs at samples alone",
                key="loop.delay",
                mend="give a delay of whole samples, or none",
            )
        return graph

    def _body(
        self, which: str, inputs: list[str], memory: list[str], writes: list[list[str]]
    ) -> list[str]:
        first = 1 + len(self.graph.measured)

        def reads(argument: int, place: int) -> str:
            starts = (inputs, memory, inputs[1:first], inputs[first:])
            return f"c{place}" if argument == len(starts) else starts[argument][place]

        return statements(straight(self.graph.functions[which]), ST, reads, writes)


RESERVED = frozenset(
    "AND ANY ARRAY AT BOOL BY BYTE CASE CONFIGURATION CONSTANT DATE DINT DO DWORD ELSE ELSIF EN END_IF ENO EXIT FALSE FOR FUNCTION "
    "IF INT LINT LREAL LWORD MOD NOT OF ON OR PROGRAM REAL REPEAT RETURN SEL SINT STEP STRING STRUCT TASK THEN TIME TO TRUE TYPE "
    "UDINT UINT UNTIL VAR WHILE WITH WORD XOR ABS ACOS ASIN ATAN COS EXP EXPT LIMIT LN LOG MAX MIN SIN SQRT TAN TRUNC".split()
)


def _free(word: str) -> str:
    """A name that is no word of the language and none that the block has for itself."""
    taken = word.upper() in RESERVED or re.fullmatch(r"(v|c|old)\d+|begun", word, re.IGNORECASE)
    return f"{word.lstrip('_')}_signal" if taken else word


def _places(lines: Sequence[str]) -> list[str]:
    """Names of intermediate places, in order."""
    found = (re.match(r"(v\d+|old\d+) :=", line) for line in lines)
    return list(dict.fromkeys(m[1] for m in found if m))


def _declared(
    head: str, signals: Sequence[Signal], words: Sequence[str], values: Sequence[str] = ()
) -> list[str]:
    told = [f" := {value}" for value in values] or [""] * len(words)
    lines = [
        f"  {word} : LREAL{value}; (* {_plain(s.unit)}{': ' + _plain(s.meaning) if s.meaning else ''} *)"
        for word, s, value in zip(words, signals, told)
    ]
    return [head, *lines, "END_VAR"]


def _comment(lines: Sequence[str]) -> list[str]:
    return ["(*", *(f"  {_plain(line)}".rstrip() for line in lines), "*)"]


def _plain(text: str) -> str:
    """Text that ends no comment and begins none."""
    return " ".join(text.replace("*)", "* )").replace("(*", "( *").split("\n"))
