"""Untrusted XML, read with care: elements with their attributes and lines, and nothing else.

No document type, so no entities and nothing from elsewhere; so many bytes, elements and levels at most. Text between elements is
left out.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite
from typing import Any, final
from xml.parsers import expat

from workbench.contract.errors import InputError, short
from workbench.files.open_file import contents, shown

MOST_BYTES = 8_000_000
MOST_ELEMENTS = 200_000
MOST_LEVELS = 64
LONGEST = 4000  # letters of an attribute


@final
@dataclass(eq=False)
class Element:
    """An element: its tag, attributes and children, and where it stands."""

    tag: str
    attributes: dict[str, str]
    file: str
    line: int
    inside: list[Element] = field(default_factory=list)

    def error(self, words: str, mend: str = "") -> InputError:
        """A refusal at this element."""
        return InputError(f"<{self.tag}>: {words}", file=self.file, line=self.line, mend=mend)

    def every(self, tag: str) -> list[Element]:
        """Its children of this kind."""
        return [child for child in self.inside if child.tag == tag]

    def one(self, tag: str) -> Element | None:
        """Its only child of this kind; None where there is none. Raises InputError for several."""
        found = self.every(tag)
        if len(found) > 1:
            raise found[1].error(f"the second one in <{self.tag}>", "keep one of them")
        return found[0] if found else None

    def text(self, name: str) -> str:
        """An attribute that must be there."""
        if not self.attributes.get(name):
            raise self.error(f"it has no {name}", f'write <{self.tag} {name}="…">')
        return self.attributes[name]

    def numbers(self, name: str, default: tuple[float, ...]) -> tuple[float, ...]:
        """As many finite numbers as the default has, separated by spaces; the default where the attribute is missing."""
        if name not in self.attributes:
            return default
        words = self.attributes[name].split()
        try:
            found = tuple(map(float, words))
        except ValueError:
            found = ()
        if len(found) != len(default) or not all(map(isfinite, found)):
            many = "one finite number" if len(default) == 1 else f"{len(default)} finite numbers"
            raise self.error(
                f'{name}="{short(self.attributes[name])}": expected {many}',
                "separate numbers by spaces, in SI units; expand macros (xacro) first",
            )
        return found

    def number(self, name: str, default: float | None = None) -> float:
        """One finite number; without a default it must be there."""
        if default is None:
            self.text(name)
        return self.numbers(name, (0.0 if default is None else default,))[0]


def read_xml(
    path: Any, what: str, most: int = MOST_BYTES, longest: int = LONGEST, called: str = ""
) -> Element:
    """The outermost element of a file. Raises InputError for a file that is none, or is too much; `what` was expected.

    most, longest: bytes of the file and letters of an attribute. called: the file's name in messages.
    """
    return _Reader(called or shown(path), longest).read(contents(path, most, what))


class _Reader:
    """Collects elements while expat goes through the bytes."""

    def __init__(self, file: str, longest: int = LONGEST) -> None:
        self.file = file
        self.longest = longest
        self.count = 0
        self.open: list[Element] = []
        self.top: Element | None = None
        self.parser = parser = expat.ParserCreate()
        parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
        parser.StartDoctypeDeclHandler = self._refuse_type
        parser.EntityDeclHandler = self._refuse_type
        parser.ExternalEntityRefHandler = self._refuse_type
        parser.StartElementHandler = self._begin
        parser.EndElementHandler = self._end

    def read(self, data: bytes) -> Element:
        try:
            self.parser.Parse(data, True)
        except InputError:
            raise
        except expat.ExpatError as why:
            words = expat.ErrorString(why.code) or "damaged"
            raise self._error(f"this is no XML: {words}", why.lineno, "export it again") from None
        except (ValueError, LookupError):  # an encoding that is not known
            raise self._error("its encoding is not known", 1, "save it as UTF-8") from None
        if self.top is None:
            raise self._error("it has no element", 1, "export it again")
        return self.top

    def _error(self, words: str, line: int, mend: str) -> InputError:
        return InputError(words, file=self.file, line=line, mend=mend)

    def _refuse_type(self, *_: Any) -> int:
        raise self._error(
            "it declares a document type or entities, which are not read",
            self.parser.CurrentLineNumber,
            "take the <!DOCTYPE …> out",
        )

    def _begin(self, tag: str, attributes: dict[str, str]) -> None:
        line = self.parser.CurrentLineNumber
        self.count += 1
        if self.count > MOST_ELEMENTS or len(self.open) >= MOST_LEVELS:
            words = f"more than {MOST_ELEMENTS} elements, or deeper than {MOST_LEVELS}"
            raise self._error(words, line, "keep what describes the machine only")
        if any(len(value) > self.longest for value in attributes.values()):
            raise self._error(
                f"<{short(tag)}>: an attribute is longer than {self.longest} letters",
                line,
                "export it again",
            )
        element = Element(short(tag), attributes, self.file, line)
        if self.open:
            self.open[-1].inside.append(element)
        elif self.top is None:
            self.top = element
        self.open.append(element)

    def _end(self, tag: str) -> None:
        self.open.pop()
