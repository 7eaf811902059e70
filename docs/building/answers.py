"""The answer to one claim about a case as printed on a page, and the figures of its report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from docs.building import catalogue

EXAMPLES = Path(__file__).parents[1] / "examples"  # machines that examples name


def answer(asked: str, text: str, options: Mapping[str, str]):
    """(case, examination, verdict) of the claim `asked`; `with` in the options: claims that it needs beside it."""
    from workbench.cases.file import loads
    from workbench.verification import examine

    case = loads(text, str(EXAMPLES / "example.yaml"))
    known = catalogue.claims()
    wanted = tuple(known[name] for name in [asked, *options.get("with", "").split()])
    claims = [claim for claim in case.claims if isinstance(claim, wanted)]
    found = examine(case.loop, case.scenario, claims)
    row = options.get("row", asked)
    rows = [v for v in found.verdicts if v.key == row or v.key.startswith(f"{row}.")]
    if not rows:
        raise LookupError(f"no row {row!r} among {[v.key for v in found.verdicts]}")
    return case, found, rows[0]


def figures(case, examination, names: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """(name, SVG) of figures of the report, in the order asked for."""
    if not names:
        return
    from reports import Content
    from reports.chapters import CHAPTERS
    from reports.style import drawing, svg

    content = Content.of(case, examination)
    plan = {k: f for chapter in CHAPTERS for k, f in chapter.figures(content).items()}
    with drawing():
        for name in names:
            if name not in plan:
                raise LookupError(f"no figure {name!r} among {sorted(plan)}")
            fig = plan[name]()
            if fig is not None:
                yield name, svg(fig)
