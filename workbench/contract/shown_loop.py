"""How a closed loop shows itself in a notebook: plant, law and rate in a line."""

from __future__ import annotations

import html
from typing import Any

from workbench.contract.plain import Plain
from workbench.contract.system import Signal, System, innermost


class ShownLoop:
    """The part of `workbench.contract.closed_loop.ClosedLoop` that describes it."""

    plant: System
    controller: Any
    period: float | None
    states: tuple[Signal, ...]

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """For notebooks and IPython: plant and law in a line."""
        printer.text(self.described)

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(self.described)}</p>"

    @property
    def described(self) -> str:
        """'ClosedLoop: HIAB XS 031 under VDC, every 2 ms; 12 states'."""
        law = innermost(self.controller)
        name = type(law.law if isinstance(law, Plain) else law).__name__
        rate = "continuous" if self.period is None else f"every {1e3 * self.period:g} ms"
        plant = getattr(self.plant, "title", "") or type(self.plant).__name__
        return f"ClosedLoop: {plant} under {name}, {rate}; {len(self.states)} states"
