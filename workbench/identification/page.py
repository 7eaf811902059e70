"""A page of text for a terminal: tables and notes, so many columns wide, with colours where they are wanted."""

from __future__ import annotations

import io
from typing import Any


class Page:
    """What is printed on it, by Rich, is read back with `text`."""

    def __init__(self, room: int, colour: bool) -> None:
        from rich.console import Console

        self._sheet = io.StringIO()
        self._console = Console(
            file=self._sheet,
            width=room,
            force_terminal=colour,
            color_system="standard" if colour else None,
            force_jupyter=False,
            highlight=False,
            emoji=False,
            markup=False,
            legacy_windows=False,
        )

    def print(self, *content: Any, **how: Any) -> None:
        """Print as a console of Rich does."""
        self._console.print(*content, **how)

    def text(self) -> str:
        """All that was printed, without the white at the ends of its lines."""
        return "\n".join(line.rstrip() for line in self._sheet.getvalue().splitlines())
