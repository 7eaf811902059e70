"""Panels of the page, one a file, in the order of the page; `panel.Panel` says what one is.

To add one: a file with an object of it, its name in `PANELS`.
"""

from __future__ import annotations

from reports.page.panels.claims import Claims
from reports.page.panels.closest import Closest
from reports.page.panels.commands import Commands
from reports.page.panels.forces import Forces
from reports.page.panels.panel import Panel
from reports.page.panels.pressures import Pressures
from reports.page.panels.storage import Storage
from reports.page.panels.tracking import Tracking
from reports.page.panels.valves import Valves

PANELS: tuple[Panel, ...] = (
    Tracking(),
    Storage(),
    Pressures(),
    Commands(),
    Valves(),
    Forces(),
    Claims(),
    Closest(),
)
