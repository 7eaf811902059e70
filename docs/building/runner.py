"""Runs one job, and writes what it found into its folder."""

from __future__ import annotations

import contextlib
import io
import json
import logging
import time
import traceback
from pathlib import Path

ROOT = Path(__file__).parents[2]
LOOKS = {
    "figure.figsize": (7.2, 4.0),
    "figure.constrained_layout.use": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "svg.hashsalt": "fluidproof",
}
LARGE = 300_000  # bytes: a picture with more is kept as pixels


def work(kind: str, words, text: str, options: dict, folder: str) -> None:
    """Run one job and write told.json into its folder; what fails is told there."""
    into = Path(folder)
    into.mkdir(parents=True, exist_ok=True)
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    begun = time.perf_counter()
    try:
        told = {"verdict": verdict, "drawn": drawn, "gallery": gallery}[kind](
            words, text, options, into
        )
    except (Exception, SystemExit):
        told = {"error": traceback.format_exc()[-3000:]}
    told["seconds"] = time.perf_counter() - begun
    (into / "told.json").write_text(json.dumps(told, ensure_ascii=False), "utf-8")


def drawn(words, text, options, folder: Path) -> dict:
    """A picture of `docs.building.pictures`."""
    from docs.building.pictures import draw

    (folder / "picture.svg").write_bytes(draw(*words))
    return {"pictures": ["picture.svg"]}


def verdict(words, text, options, folder: Path) -> dict:
    """A claim asked of a case as printed, and the figures of the report that are named."""
    from docs.building.answers import answer, figures

    case, study, found = answer(words[0], text, options)
    told = {"word": found.word, **_row(found)}
    pictures = []
    for name, picture in figures(case, study, options.get("figure", "").split()):
        (folder / f"{name}.svg").write_bytes(picture)
        pictures.append(f"{name}.svg")
    return told | {"pictures": pictures}


def _row(found) -> dict:
    from workbench.contract.units import format_quantity as say

    margin = "" if found.margin is None else say(found.margin, found.unit, 3)
    limit = "" if found.limit is None else say(found.limit, found.unit, 3)
    return {
        "claim": found.claim,
        "strength": found.strength or "",
        "margin": margin,
        "limit": limit,
        "worst": found.worst,
        "counted": found.counted,
    }


def gallery(words, text, options, folder: Path) -> dict:
    """A script: what it prints, and every figure that it leaves open or keeps under a name."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    plt.close("all")
    printed = io.StringIO()
    pictures = []
    with matplotlib.rc_context(LOOKS), contextlib.redirect_stdout(printed), contextlib.chdir(ROOT):
        names = {"__name__": "__main__"}
        exec(compile(text, f"{words[0]}.py", "exec"), names)
        for number, figure in enumerate(figures_left(names), 1):
            pictures.append(_kept(figure, f"{words[0]}-{number}", folder))
    plt.close("all")
    return {"printed": printed.getvalue(), "pictures": pictures}


def figures_left(names: dict) -> list:
    """The figures that a script leaves open, then those that it keeps under a name."""
    import matplotlib.pyplot as plt
    from matplotlib.figure import Figure

    left = [plt.figure(number) for number in plt.get_fignums()]
    named = [thing for thing in names.values() if isinstance(thing, Figure)]
    return left + [figure for figure in named if figure not in left]


def _kept(fig, name: str, folder: Path) -> str:
    """The figure in a file: lines, or pixels where there are too many of them."""
    stream = io.BytesIO()
    fig.savefig(stream, format="svg", metadata={"Date": None})
    if stream.tell() <= LARGE:
        (folder / f"{name}.svg").write_bytes(stream.getvalue())
        return f"{name}.svg"
    fig.savefig(folder / f"{name}.png", dpi=160)
    return f"{name}.png"
