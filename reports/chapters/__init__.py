"""Chapters of the report, one a file, in the order of the report; `chapter.Chapter` says what one is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from reports.chapters.assumptions import Assumptions
from reports.chapters.belief import Belief
from reports.chapters.chapter import Chapter
from reports.chapters.energy import Energy
from reports.chapters.exported import Exported
from reports.chapters.falsify import Falsify
from reports.chapters.law import Law
from reports.chapters.ledger import Ledger
from reports.chapters.linearised import Linearised
from reports.chapters.machine import Machine
from reports.chapters.metering import Metering
from reports.chapters.parameters import Parameters
from reports.chapters.regions import Regions
from reports.chapters.repeat import Repeat
from reports.chapters.requirements import Requirements
from reports.chapters.rest import Rest
from reports.chapters.returns import Returns
from reports.chapters.room import Room
from reports.chapters.run import Run
from reports.chapters.sensitivity import Sensitivity
from reports.chapters.tube import Tube

CHAPTERS: tuple[Chapter, ...] = (
    Machine(),
    Belief(),
    Run(),
    Requirements(),
    Falsify(),
    Sensitivity(),
    Metering(),
    Energy(),
    Law(),
    Ledger(),
    Assumptions(),
    Tube(),
    Returns(),
    Rest(),
    Room(),
    Regions(),
    Linearised(),
    Exported(),
    Repeat(),
    Parameters(),
)


@dataclass(frozen=True, eq=False)
class Planned:
    """A figure of the report: what draws it (it may still return None), and the objects it is drawn from."""

    draw: Callable[[], Any]
    basis: tuple


def analyses() -> dict[str, str]:
    """Every array that a report may show: name → what it holds."""
    read = [{**chapter.analysis, **chapter.printed} for chapter in CHAPTERS]
    return {name: words for arrays in read for name, words in arrays.items()}


def planned(content) -> dict[str, Planned]:
    """Name → what draws it and what that rests on, in the order of the report."""
    return {
        name: Planned(draw, basis(chapter, content))
        for chapter in CHAPTERS
        for name, draw in chapter.figures(_seen(chapter, content)).items()
    }


def basis(chapter: Chapter, content) -> tuple:
    """What a chapter's figures are drawn from: the run, the machine, the law and the arrays that it declares."""
    arrays = (content.analysis.get(name) for name in chapter.analysis)
    return content.log, content.plant, content.controller, *arrays


def _seen(chapter: Chapter, content):
    """The content with no arrays but those that the chapter declares, and no verdicts: figures are drawn before there are any."""
    declared = {n: a for n, a in content.analysis.items() if n in chapter.analysis}
    return replace(content, verdicts=(), analysis=declared)
