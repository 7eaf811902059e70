"""Chapters of the report, one a file, in the order of the report; `chapter.Chapter` says what one is."""

from __future__ import annotations

from reports.chapters.assumptions import Assumptions
from reports.chapters.belief import Belief
from reports.chapters.chapter import Chapter, Figures
from reports.chapters.energy import Energy
from reports.chapters.law import Law
from reports.chapters.ledger import Ledger
from reports.chapters.linearised import Linearised
from reports.chapters.machine import Machine
from reports.chapters.metering import Metering
from reports.chapters.parameters import Parameters
from reports.chapters.regions import Regions
from reports.chapters.repeat import Repeat
from reports.chapters.returns import Returns
from reports.chapters.room import Room
from reports.chapters.run import Run

CHAPTERS: tuple[Chapter, ...] = (
    Machine(),
    Belief(),
    Run(),
    Metering(),
    Energy(),
    Law(),
    Ledger(),
    Assumptions(),
    Returns(),
    Room(),
    Regions(),
    Linearised(),
    Repeat(),
    Parameters(),
)


def analyses() -> dict[str, str]:
    """Every array that a report may show: name → what it holds."""
    return {name: words for chapter in CHAPTERS for name, words in chapter.analysis.items()}


def planned(content) -> Figures:
    """Name → function that draws it, in the order of the report; it may still return None."""
    return {name: draw for chapter in CHAPTERS for name, draw in chapter.figures(content).items()}
