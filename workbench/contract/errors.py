"""The one error users see: what is wrong, where, what was expected and how to mend it."""

from __future__ import annotations

LONGEST = 60  # characters of what a file says that a message repeats
LONGEST_MESSAGE = 3000  # characters of a message, and of how to mend it
LONGEST_KEY = 300


def short(text: object, longest: int = LONGEST) -> str:
    """A text as messages repeat it: cut where it is long."""
    text = str(text)
    return text if len(text) <= longest else text[: longest - 1] + "…"


def in_words(why: Exception) -> str:
    """What an exception of a calculation says, as a sentence: a number too large is a matter of numbers."""
    if isinstance(why, OverflowError):
        return "these numbers are too large to calculate with"
    if isinstance(why, ZeroDivisionError):
        return "these numbers lead to a division by zero"
    return str(why) or type(why).__name__


class InputError(ValueError):
    """Input that cannot be used.

    file, line, key   where (any may be missing)
    message           what is wrong and what was expected; cut where it is longer than a screen
    mend              what to do about it
    """

    def __init__(
        self,
        message: str,
        *,
        file: str | None = None,
        line: int | None = None,
        key: str | None = None,
        mend: str = "",
    ) -> None:
        self.message, self.mend = short(message, LONGEST_MESSAGE), short(mend, LONGEST_MESSAGE)
        self.file, self.line = file, line
        self.key = key if key is None else short(key, LONGEST_KEY)
        super().__init__(str(self))

    def __str__(self) -> str:
        place = ", ".join(
            p for p in (self.file, f"line {self.line}" if self.line else None, self.key) if p
        )
        return (
            (f"{place}: " if place else "")
            + self.message
            + (f"\n  mend: {self.mend}" if self.mend else "")
        )

    def at(
        self, *, file: str | None = None, line: int | None = None, key: str | None = None
    ) -> InputError:
        """This error with its place filled in where it was missing."""
        return InputError(
            self.message,
            file=self.file or file,
            line=self.line or line,
            key=self.key or key,
            mend=self.mend,
        )


class Notice(RuntimeWarning):
    """What a user should know about how a run is made, whatever becomes of it; the commands show it on stderr."""
