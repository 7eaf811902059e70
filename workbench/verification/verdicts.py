"""What `verify` returns: a list of verdicts that shows itself as a table, in a terminal and in a notebook."""

from __future__ import annotations

import html

from workbench.verification.verdict import Verdict, exit_code

COLOURS = {"holds": "#1a7f37", "violated": "#b3261e", "undecided": "#9a6700"}


class Verdicts(list[Verdict]):
    """Verdicts in the order of the claims; a list in all else."""

    def __repr__(self) -> str:
        """One line a claim, then the tally."""
        from workbench.commands.terminal import tally

        return "\n".join([*map(repr, self), tally(self, (), exit_code(self))])

    def _repr_html_(self) -> str:
        """A table; claims for information are pale."""
        from workbench.commands.terminal import HEAD, row, tally

        head = "".join(f"<th style='text-align:left'>{html.escape(word)}</th>" for word in HEAD)
        lines = [_line(row(v), v) for v in self]
        said = html.escape(tally(self, (), exit_code(self)))
        return f"<table><tr>{head}</tr>{''.join(lines)}</table><p>{said}</p>"


def _line(cells: tuple[str, ...], verdict: Verdict) -> str:
    pale = "" if verdict.counted else " style='opacity:0.6'"
    shown = [f"<td style='text-align:left'>{html.escape(cell)}</td>" for cell in cells]
    colour = COLOURS[verdict.word]
    shown[1] = f"<td style='color:{colour};font-weight:600'>{html.escape(cells[1])}</td>"
    return f"<tr{pale}>{''.join(shown)}</tr>"
