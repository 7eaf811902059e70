"""A Matplotlib figure that a notebook shows. Imported where something is drawn, since Matplotlib takes long to import."""

from __future__ import annotations

from io import BytesIO

from matplotlib.figure import Figure


class ShownFigure(Figure):
    """A figure that shows itself at the end of a notebook's cell, also where pyplot was never imported there."""

    def _repr_png_(self) -> bytes:
        """The picture as notebooks ask for it."""
        stream = BytesIO()
        self.savefig(stream, format="png")
        return stream.getvalue()
