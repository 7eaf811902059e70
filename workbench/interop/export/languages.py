"""Operations as text: a table for each language, and a program as statements. To add a language, add a `Language`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from workbench.contract.errors import InputError
from workbench.interop.export.straight import Operation, Straight

_INFIX = {
    "add": "{0} + {1}",
    "sub": "{0} - {1}",
    "mul": "{0} * {1}",
    "div": "{0} / {1}",
    "neg": "-{0}",
    "lt": "{0} < {1}",
    "le": "{0} <= {1}",
    "eq": "{0} == {1}",
    "ne": "{0} != {1}",
    "and": "{0} && {1}",
    "or": "{0} || {1}",
    "not": "!{0}",
    "sq": "{0} * {0}",
    "assign": "{0}",
}
_FUNCTIONS = {
    "sqrt": "sqrt",
    "sin": "sin",
    "cos": "cos",
    "tan": "tan",
    "asin": "asin",
    "acos": "acos",
    "atan": "atan",
    "atan2": "atan2",
    "sinh": "sinh",
    "cosh": "cosh",
    "tanh": "tanh",
    "exp": "exp",
    "log": "log",
    "pow": "pow",
    "constpow": "pow",
    "fabs": "fabs",
    "floor": "floor",
    "ceil": "ceil",
    "fmod": "fmod",
    "fmin": "fmin",
    "fmax": "fmax",
    "hypot": "hypot",
    "copysign": "copysign",
}


@dataclass(frozen=True)
class Language:
    """How numbers, operations and assignments are written.

    number: a value as text. forms: name of an operation → its text over {0}, {1}. named: a new place {0} and what it is, {1};
    stored: an old place.
    """

    name: str
    real: str
    number: Callable[[float], str]
    forms: dict[str, str] = field(repr=False)
    named: str = "const double {0} = {1};"
    stored: str = "{0} = {1};"

    def text(self, operation: Operation, operands: Sequence[str]) -> str:
        """The right side of an operation.

        Raises InputError for one that the language has no word for.
        """
        form = self.forms.get(operation.name)
        if form is None:
            raise InputError(
                f"the law uses {operation.name}, which {self.name} has no word for",
                key="controller",
                mend="write the law with + − · / and the functions of math.h",
            )
        return form.format(*operands)


def _forms(suffix: str) -> dict[str, str]:
    two = {"atan2", "pow", "constpow", "fmod", "fmin", "fmax", "hypot", "copysign"}
    calls = {
        name: f"{word}{suffix}({{0}}{', {1}' if name in two else ''})"
        for name, word in _FUNCTIONS.items()
    }
    one = f"1.0{suffix}"
    zero = f"0.0{suffix}"
    return {
        **_INFIX,
        **calls,
        "inv": f"{one} / {{0}}",
        "twice": f"2.0{suffix} * {{0}}",
        "sign": f"{{0}} < {zero} ? -{one} : {{0}} > {zero} ? {one} : {{0}}",
        "if_else_zero": f"{{0}} != {zero} ? {{1}} : {zero}",
    }


def _double(value: float) -> str:
    if value != value:
        return "NAN"
    if value in (float("inf"), -float("inf")):
        return "INFINITY" if value > 0 else "-INFINITY"
    text = repr(value)
    return text if any(sign in text for sign in ".e") else text + ".0"


DOUBLE = Language("C with doubles", "double", _double, _forms(""))


def _single(value: float) -> str:
    text = _double(value)
    return text if text.lstrip("-")[0].isalpha() else text + "f"


SINGLE = Language("C with floats", "float", _single, _forms("f"), "const float {0} = {1};")


Reads = Callable[[int, int], str]


def statements(
    program: Straight, language: Language, reads: Reads, writes: Sequence[Sequence[str]]
) -> list[str]:
    """The program as statements: `reads(argument, place)` is where an input comes from, `writes[result][place]` where one goes.

    Results are written after all operations, so that they may lie in the places of inputs.
    """
    words: dict[int, str] = {}
    lines = []
    given: dict[str, str] = {}
    for operation in program.operations:
        if operation.target is None:
            result, place, source = operation.operands
            given[writes[result][place]] = words[source]
            continue
        if operation.name == "const":
            assert operation.value is not None
            text = language.number(operation.value)
            words[operation.target] = f"({text})" if text.startswith("-") else text
            continue
        if operation.name == "input":
            words[operation.target] = reads(*operation.operands)
            continue
        word = f"v{operation.target}"
        text = language.text(operation, [words[o] for o in operation.operands])
        lines.append(language.named.format(word, text))
        words[operation.target] = word
    for where in (word for result in writes for word in result):
        given.setdefault(where, language.number(0.0))
    return lines + _stored(given, language)


def _stored(given: dict[str, str], language: Language) -> list[str]:
    """Assignments of results; what another one reads from its old place is put aside first."""
    overwritten = set(given)
    aside = {source for source in given.values() if source in overwritten}
    kept = {source: f"old{i}" for i, source in enumerate(sorted(aside))}
    moved = [(place, source) for place, source in given.items() if place != source]
    needed = {source for place, source in moved if source in kept}
    lines = [language.named.format(kept[source], source) for source in sorted(needed)]
    return lines + [
        language.stored.format(place, kept[source] if source in needed else source)
        for place, source in moved
    ]
