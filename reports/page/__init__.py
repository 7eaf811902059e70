"""The page that moves: a run in one HTML file, the machine in space scrubbed together with its signals and verdicts."""

from reports.page.document import is_page, page, write_page

__all__ = ["is_page", "page", "write_page"]
