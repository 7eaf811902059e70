"""Pictures of the reference's pages: machines at their start, curves of friction, what a drive or a supply does in an example."""

from __future__ import annotations

from pathlib import Path

import numpy as np

PARTS = Path(__file__).parents[1] / "parts"
WORDS = {
    "machines": "the machine at its start, with names",
    "friction": "friction over speed, and over small displacements",
    "drives": "the example's run: what is commanded, how far the load moves, and the pressures",
    "supplies": "the example's run: the supply's pressure, and how far the loads move",
}


def words(folder: str) -> str:
    """What such a picture shows, for those who do not see it."""
    return WORDS[folder]


def drawable(folder: str, name: str) -> bool:
    """Whether there is something to draw: an example beside the page, or a curve of the law."""
    return folder == "friction" or example(folder, name).exists()


def example(folder: str, name: str) -> Path:
    """The case file that is shown and run on a page, where there is one."""
    return PARTS / folder / f"{name}.yaml"


def draw(folder: str, name: str) -> bytes:
    """The picture as SVG."""
    from reports.style import drawing, svg

    with drawing():
        return svg({"machines": _machine, "friction": _friction}.get(folder, _run)(folder, name))


def _machine(folder: str, name: str):
    """A mechanism with its table of strokes and its reach, another machine as its report draws it."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from plants import Mechanism, machine
    from reports import sketch
    from reports.drawing import SIZE, draw_on

    plant = machine(name).plant
    if not isinstance(plant, Mechanism):
        return sketch.machine(plant, ghosts=0)
    fig = Figure(figsize=SIZE)
    FigureCanvasAgg(fig)
    draw_on(fig, plant)
    return fig


def _friction(folder: str, name: str):
    """Steady force over speed, and force over displacement where a speed swings slowly."""
    from docs.building import catalogue
    from reports.style import BLUE, WIDTH, figure
    from workbench.numerics.sliding import drive, steady

    law = _with_numbers(catalogue.frictions()[name])
    fig = figure(2.6, WIDTH)
    left, right = (fig.add_axes((x, 0.19, 0.37, 0.74)) for x in (0.10, 0.60))
    v = np.linspace(-0.2, 0.2, 801)
    left.plot(1e3 * v, steady(law, v)[0], color=BLUE)
    left.set(xlabel="v, mm/s", ylabel="steady force, N")
    t = np.linspace(0.0, 4.0, 4001)
    swung = drive(law, t, 2e-3 * np.sin(np.pi * t) * np.minimum(t, 1.0))
    right.plot(1e3 * swung.x, swung.F, color=BLUE)
    right.set(xlabel="x, mm", ylabel="force, N")
    return fig


def _with_numbers(cls: type):
    """A law with its defaults."""
    return cls()


def _run(folder: str, name: str):
    """The example's run, open loop."""
    from reports.style import WIDTH, figure
    from workbench.cases.file import load
    from workbench.run.simulate import simulate

    case = load(example(folder, name))
    log = simulate(case.loop, case.scenario)
    shown = [
        (signals, unit)
        for signals, unit in (_of(log, "1", "V"), _of(log, "m", "rad"), _of(log, "Pa"))
        if signals
    ]
    fig = figure(1.4 * len(shown) + 0.4, WIDTH)
    for i, (signals, unit) in enumerate(shown):
        _panel(fig, i, len(shown), log, signals, unit)
    return fig


def _of(log, *units: str):
    """(names, unit) of what the log has in the first of these units."""
    for unit in units:
        names = [s.name for s in log.signals if s.unit == unit and np.ptp(log[s.name].values) > 0]
        if names:
            return names[:6], unit
    return [], ""


def _panel(fig, i: int, count: int, log, signals: list[str], unit: str) -> None:
    from reports.style import symbol
    from workbench.contract.units import display

    high = (1 - 0.16) / count
    ax = fig.add_axes((0.1, 0.13 + (count - 1 - i) * high, 0.74, high * 0.8))
    most = max(float(np.abs(log[name].values).max()) for name in signals)
    word, size = display(unit, most)
    for name in signals:
        ax.plot(log.time, log[name].values / size, label=symbol(name))
    ax.set_ylabel("" if word in ("", "1") else word)
    ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1.02), frameon=False, fontsize=7)
    if i == count - 1:
        ax.set_xlabel("t, s")
    else:
        ax.set_xticklabels([])
