"""Reports: figures, tables and the PDF document. Nothing is computed here."""

from reports.content import Content
from reports.document import rendered, write_report
from reports.drawing import draw
from reports.notebook import explore, report

__all__ = ["Content", "draw", "explore", "rendered", "report", "write_report"]
