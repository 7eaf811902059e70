"""Reports: figures, tables and the PDF document. Nothing is computed here."""

from reports.document import Content, rendered, write_report

__all__ = ["Content", "rendered", "write_report"]
