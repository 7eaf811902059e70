"""Reports: figures, tables and the PDF document. Nothing is computed here."""

from reports.document import Content, rendered, write_report
from reports.notebook import explore, report

__all__ = ["Content", "explore", "rendered", "report", "write_report"]
