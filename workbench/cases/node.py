"""Node: one value of a YAML file and its place, so that every refusal names file, line and key."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.contract.errors import InputError, short


def after_comma(word: str) -> str:
    """What to do about a word that stands as a key and is the end of a number with a decimal comma; "" for other words."""
    if not word[:1].isdigit():
        return ""
    return f"write numbers with a decimal point, as in 1.{word[:20]}: a comma begins a new key"


@dataclass(frozen=True)
class Node:
    """One value of a YAML file and its place.

    value    dict of str → Node, list of Nodes, str, bool, int, float or None
    line     1-based; inside a mapping the line of the key
    column   1-based
    file     as it is named in messages
    """

    value: object
    line: int
    column: int = 1
    file: str = ""

    def error(self, message: str, *, key: str | None = None, mend: str = "") -> InputError:
        """An InputError at this place."""
        return InputError(
            message, file=self.file or None, line=self.line, key=key or None, mend=mend
        )

    def below(self, key: str) -> Node | None:
        """What stands at a dotted key, or the nearest above it; None where there is not even its first step."""
        found = None
        inside = self.value
        for step in key.split("."):
            if not isinstance(inside, dict) or step not in inside:
                break
            found = inside[step]
            inside = found.value
        return found

    def plain(self) -> object:
        """The value without places: dicts, lists and scalars."""
        if isinstance(self.value, dict):
            return {k: v.plain() for k, v in self.value.items()}
        if isinstance(self.value, list):
            return [v.plain() for v in self.value]
        return self.value

    @property
    def words(self) -> str:
        """What this is, for messages: 'a list', 'the text "abc"', 'the number 3'."""
        value = self.value
        if value is None:
            return "nothing"
        if isinstance(value, dict):
            return "a mapping"
        if isinstance(value, list):
            return "a list"
        if isinstance(value, bool):
            return f"the truth value {str(value).lower()}"
        if isinstance(value, str):
            return f"the text {short(value)!r}"
        return f"the number {value!r}"
