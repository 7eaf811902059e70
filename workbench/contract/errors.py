"""The one error users see: what is wrong, where, what was expected and how to mend it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

LONGEST = 60  # characters of what a file says that a message repeats
LONGEST_MESSAGE = 3000  # characters of a message, and of how to mend it
LONGEST_KEY = 300
MOST_FAULTS = 12  # that one message lists


def short(text: object, longest: int = LONGEST) -> str:
    """A text as messages repeat it: cut where it is long."""
    text = str(text)
    return text if len(text) <= longest else text[: longest - 1] + "…"


def some_numbers(count: int) -> str:
    """How many numbers a vector of `count` may be written with, one for all of them included."""
    return "one number" if count == 1 else f"1 or {count} numbers"


def miscounted(
    field: str, got: object, count: int, of: str = "", each: Sequence[str] = ()
) -> InputError:
    """The refusal of a vector of another length than `count`; of: what has one number each, each: their names in order."""
    what = f", one per {of}" if of and count > 1 else ""
    names = f" ({', '.join(each)})" if len(each) > 1 else ""
    return InputError(
        f"{field}: expected {some_numbers(count)}{what}, got {got}",
        mend="write one number"
        if count == 1
        else f"write one number for all, or one for each in order{names}",
    )


def in_words(why: Exception) -> str:
    """The message of an exception raised by a calculation; overflow and division by zero in words about the numbers."""
    if isinstance(why, OverflowError):
        return "these numbers are too large to calculate with"
    if isinstance(why, ZeroDivisionError):
        return "these numbers lead to a division by zero"
    return str(why) or type(why).__name__


class InputError(ValueError):
    """Input that cannot be used.

    file, line, key   where (any may be missing)
    message           what is wrong and what was expected; cut where it is longer than a screen
    mend              what to do about it: text, or a function that returns the text. The function is called only when
                      somebody reads the advice, as finding it may take long
    """

    def __init__(
        self,
        message: str,
        *,
        file: str | None = None,
        line: int | None = None,
        key: str | None = None,
        mend: str | Callable[[], str] = "",
    ) -> None:
        self.message, self._mend = short(message, LONGEST_MESSAGE), mend
        self.file, self.line = file, line
        self.key = key if key is None else short(key, LONGEST_KEY)
        super().__init__(self.message)

    def advice(self) -> str:
        """What to do about it. As another error's `mend`, pass this method itself: the text is then found when it is read."""
        if callable(self._mend):
            self._mend = self._mend()
        return short(self._mend, LONGEST_MESSAGE)

    @property
    def mend(self) -> str:
        """What to do about it."""
        return self.advice()

    def __str__(self) -> str:
        place = ", ".join(
            p for p in (self.file, f"line {self.line}" if self.line else None, self.key) if p
        )
        return (
            (f"{place}: " if place else "")
            + self._said
            + (f"\n  mend: {self.mend}" if self.mend else "")
        )

    @property
    def _said(self) -> str:
        """The message without the name that its key ends in: 'claims.sector.low: low: …' says it twice."""
        last = (self.key or "").rpartition(".")[2]
        return self.message.removeprefix(f"{last}: ") if last else self.message

    def at(
        self, *, file: str | None = None, line: int | None = None, key: str | None = None
    ) -> InputError:
        """This error with its place filled in where it was missing."""
        return InputError(
            self.message,
            file=self.file or file,
            line=self.line or line,
            key=self.key or key,
            mend=self.advice,
        )


class Faults(InputError):
    """All that is wrong with one input, each fault with its own place.

    each      the faults, none of them twice at one line
    machine   the machine that they were found on, for a drawing; None where nothing can be drawn

    `file`, `line`, `key`, `message` and `mend` are those of the first one.
    """

    def __init__(self, faults: Iterable[InputError], machine: Any = None) -> None:
        self.each = _flat(faults)
        self.machine = machine
        first = self.each[0]
        super().__init__(
            first.message, file=first.file, line=first.line, key=first.key, mend=first.advice
        )

    def __reduce__(self) -> tuple:
        """How another process gets them: each fault, and not the message of the first one alone."""
        return type(self), (self.each, self.machine)

    def __str__(self) -> str:
        listed = [str(fault) for fault in self.each[:MOST_FAULTS]]
        more = len(self.each) - len(listed)
        if more:
            listed.append(f"and {more} more")
        return "\n".join(listed)

    def at(
        self, *, file: str | None = None, line: int | None = None, key: str | None = None
    ) -> Faults:
        return self.each_as(lambda fault: fault.at(file=file, line=line, key=key))

    def each_as(self, change: Callable[[InputError], InputError]) -> Faults:
        """The same faults, each as `change` returns it."""
        return Faults([change(fault) for fault in self.each], self.machine)


def _flat(faults: Iterable[InputError]) -> tuple[InputError, ...]:
    """Every single fault once; what an anchor repeats stands at one line."""
    found: dict[tuple, InputError] = {}
    for fault in faults:
        for single in fault.each if isinstance(fault, Faults) else (fault,):
            key = single.key or ""
            place = (single.line, key.rpartition(".")[2]) if single.line else key
            found.setdefault((single.file, place, single.message), single)
    return tuple(found.values())


def tried(steps: Iterable[Callable[[], Any]]) -> list[Any]:
    """What every step returns.

    Raises InputError where one step does, and Faults where several do: no step is left out because another one fails.
    """
    made = []
    faults = []
    for step in steps:
        try:
            made.append(step())
        except InputError as why:
            faults.append(why)
    if len(faults) == 1:
        raise faults[0]
    if faults:
        raise Faults(faults)
    return made


class Notice(UserWarning):
    """What a user should know about how a run is made, whatever becomes of it; the commands show it on stderr."""
