"""Reports: figures, tables and the PDF document. Nothing is computed here."""

from reports.content import Content
from reports.document import rendered, write_report
from reports.notebook import explore, report

__all__ = ["Content", "explore", "rendered", "report", "write_report"]
