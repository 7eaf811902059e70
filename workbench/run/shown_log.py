"""How a log shows itself in a notebook: a line, a table of signals, curves (`log_shown`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class ShownLog:
    """The part of `workbench.run.log.Log` that describes it."""

    time: Any
    names: list[str]
    status: Any

    def __repr__(self) -> str:
        """'log of 30001 instants, 0 s … 30 s, 67 signals: q_1, q_2, …; completed'."""
        most = 8
        listed = ", ".join(self.names[:most]) + (", …" if len(self.names) > most else "")
        span = f"{self.time[0]:g} s … {self.time[-1]:g} s"
        return f"log of {len(self.time)} instants, {span}, {len(self.names)} signals: {listed}; {self.status.message}"

    def _repr_html_(self) -> str:
        """For notebooks: the signals with their units and ranges."""
        from workbench.run.log_shown import as_html

        return as_html(self)

    def picked(self, patterns: str | Sequence[str]) -> list[str]:
        """Names of signals, * for any letters: picked("p_*"). InputError with the nearest for what fits none."""
        from workbench.run.log_shown import picked

        return picked(self, patterns)

    def plot(self, *patterns: str) -> Any:
        """Curves over time, one axis a unit: log.plot("p_*", "u_1"). A Matplotlib figure, which notebooks show."""
        from workbench.run.log_shown import plot

        return plot(self, patterns or ("*",))
