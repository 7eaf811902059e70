"""Report of a mechanism: its picture, what its cylinders do, where the energy went; figures show the numbers of the log."""

from dataclasses import replace

import numpy as np
import pytest
from mechanisms import hydraulic
from test_report import HOSTILE, pages

from plants import LinearActuator, machine
from plants.four_bar.linkage import WORK_CYCLE, cylinder_work
from reports import Content, document, rendered, style, tables
from reports.figures import mechanism as figures_mechanism
from workbench import Log, Scenario, Signal, simulate
from workbench.run.energy import energy_account, energy_gap
from workbench.run.log import Status
from workbench.verification.results.analysis import energy_rows
from workbench.verification.run import run

PLANT = machine("four-bar").plant
LOG = simulate(PLANT, Scenario(10.0, disturbances={"U_ref": WORK_CYCLE}))


def content(log=LOG, plant=PLANT, **more):
    account = energy_account(
        log.array("E_stored"), {n: log.array(f"E_{n}") for n in plant.power_names}
    )
    rows = energy_rows(type("Ran", (), {"energy": account}))
    analysis = {"statistics": {"largest error": (1e-3, "m"), **rows}}
    return Content("a case", "Does it?", log=log, plant=plant, analysis=analysis, **more)


def changed(log, name, factor):
    values = log.values.copy()
    values[:, log.names.index(name)] *= factor
    return replace(log, values=values)


def test_gap_is_what_is_missing():
    t = np.linspace(0.0, 2.0, 9)
    gap = energy_gap(3.0 + t**2 + 0.1 * t, {"in": 5.0 + 2 * t**2, "out": -(t**2)})
    assert gap == pytest.approx(0.1 * t)
    assert energy_account(
        3.0 + t**2 + 0.1 * t, {"in": 5.0 + 2 * t**2, "out": -(t**2)}
    ).drift == pytest.approx(0.2)


def test_bars_are_the_account():
    account = energy_account(
        LOG.array("E_stored"), {n: LOG.array(f"E_{n}") for n in PLANT.power_names}
    )
    with style.drawing():
        ax = figures_mechanism.energy(LOG, PLANT).axes[0]
    drawn = dict(
        zip([t.get_text() for t in ax.get_yticklabels()], [bar.get_width() for bar in ax.patches])
    )
    size = 1e3 if ax.get_xlabel() == "kJ" else 1.0
    for name, joule in {**account.by, "stored": account.change}.items():
        assert drawn[name] * size == pytest.approx(joule, rel=1e-12)
    written = [t.get_text() for t in ax.texts]
    assert all(
        tables.quantity(account.by[name], "J", 3) in written for name in ("pump", "friction")
    )


def test_drift_is_drawn_as_it_is():
    """A planted loss: 2 % of the friction's work unaccounted for."""
    with style.drawing():
        for log, most in ((LOG, 1e-3), (changed(LOG, "E_friction", 0.98), None)):
            _, below, above = figures_mechanism.energy(log, PLANT).axes
            y = (
                below.get_lines()[-1].get_ydata()
                * {"J": 1.0, "mJ": 1e-3, "µJ": 1e-6}[below.get_ylabel()]
            )
            if most:
                assert np.abs(y).max() < most
            else:
                assert y[-1] == pytest.approx(0.02 * LOG.array("E_friction")[-1], rel=1e-2)
            assert [text.get_text() for text in above.get_legend().get_texts()] == [
                "brought",
                "potential",
                "kinetic",
                "oil",
                "stored",
            ]


def test_work_cycle_draws_the_work():
    """∫ F ds along the curve is the cylinder's work."""
    with style.drawing():
        length, force, friction = figures_mechanism.work_cycle(LOG).axes
    s, F = force.lines[0].get_data()
    unit = {"N": 1.0, "kN": 1e3}[force.get_ylabel()] * {"m": 1.0, "mm": 1e-3}[force.get_xlabel()]
    work = np.concatenate([[0.0], np.cumsum(0.5 * (F[1:] + F[:-1]) * np.diff(s)) * unit])
    assert np.abs(work).max() == pytest.approx(np.abs(cylinder_work(LOG)).max(), rel=5e-3)
    v, f = friction.lines[0].get_data()
    assert (
        v[np.argmax(f)] == pytest.approx(5.0, abs=1.0) and friction.get_xlabel() == "mm/s"
    )  # Stribeck's speed


def test_every_cylinder_of_a_mechanism_has_a_row():
    plant = hydraulic()
    log = simulate(plant, Scenario(0.05, disturbances={"U_ref_c": 5.0}))
    assert figures_mechanism.cylinders(log) == [("c", "s_c", "ds_c", "f_c", "")]
    with style.drawing():
        fig = figures_mechanism.work_cycle(log)
    assert [ax.get_title("left") for ax in fig.axes] == ["c: length", "c: force over length"]


def test_pages():
    found = pages(rendered(content()))
    everything = " ".join(found)
    for words in (
        "Where the energy went",
        "Work cycle",
        "coupler",
        "brought and taken",
        "energy drift, largest",
        "pump",
        "largest error",
        "friction over speed",
        "drift of the integration",
    ):
        assert words in everything, words
    assert everything.count("energy by") == 0  # the bars have the numbers, once
    assert "path of its tool" not in everything.split("The run")[0]


def test_what_states_no_energy_or_ended_early_has_no_such_chapter():
    plant = LinearActuator()
    log = simulate(plant, Scenario(0.1, log_period=0.01))
    assert not {"energy", "work_cycle"} & set(
        document.figures(Content("a", "b", log=log, plant=plant))
    )
    gone = replace(LOG, status=Status(False, "diverged", 10.0))
    drawn = set(document.figures(Content("a", "b", log=gone, plant=PLANT)))
    assert "machine" in drawn and not {"energy", "work_cycle"} & drawn
    rest = tables.energies_apart({"energy by pump": (1.0, "J"), "other": (2.0, "m")}, [])
    assert rest == ({"energy by pump": (1.0, "J"), "other": (2.0, "m")}, {})


def test_names_of_any_kind_are_only_names():
    t = np.linspace(0.0, 1.0, 20)
    odd = HOSTILE.replace("\x00", "")
    columns = [Signal(f"s_{odd}", "m"), Signal(f"ds_{odd}", "m/s"), Signal(f"f_{odd}", "N")]
    log = Log(
        t,
        np.stack([t, np.ones(20), np.sin(t)], 1),
        tuple(columns),
        {},
        Status(True, "completed", 1.0),
    )
    assert "Work cycle" in " ".join(pages(rendered(Content("a", "b", log=log))))


def test_chapter_of_a_loop_from_its_study():
    from workbench.cases.file import load
    from workbench.verification.judge import examine

    case = load("examples/four-bar.yaml")
    scenario = replace(case.scenario, duration=0.4)
    found = examine(
        case.loop, scenario, [c for c in case.claims if "limit" not in type(c).__name__.lower()]
    )
    everything = " ".join(pages(rendered(Content.of(case, found))))
    assert (
        "Where the energy went" in everything
        and tables.quantity(run(case.loop, scenario).energy.change, "J", 3) in everything
    )
