"""The study of valve circuits holds and its check is not empty; what reports show of valves is what the circuit says."""

from dataclasses import replace
from pathlib import Path

import metering_cases as cases
import numpy as np
import pytest

from plants import FourBar
from plants.valve_circuits import Γ, Λ, Circuit, Openings, operating
from reports import figures_metering, metering
from reports.document import Content, rendered
from reports.studies import kikuuwe22 as study
from reports.studies.kikuuwe22_shown import draw, text
from workbench import Scenario, Sine, load, simulate
from workbench.file import loads

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.fixture(scope="module")
def found():
    return study.results()


@pytest.fixture(scope="module")
def run():
    """Two arms on one pump: case and log."""
    case = load(EXAMPLES / "two-arms-one-pump.yaml")
    return case.plant, simulate(case.loop, case.scenario)


# ---- the study -----------------------------------------------------------------------------------------------------------------
def test_kikuuwe22(found):
    study.check(found)


def row(what, ours):
    return lambda r: replace(r, rows=tuple(replace(x, ours=ours) if x.what == what else x for x in r.rows))


def reversed_order(field):
    """Values of a family of maps under the parameters turned round."""
    return lambda r: replace(r, **{field: dict(zip(getattr(r, field), reversed(getattr(r, field).values())))})


def risen(maps):
    key = next(iter(maps))
    return {**maps, key: maps[key]._replace(f=maps[key].f + np.linspace(0, 1.0, len(maps[key].f)) * 1e6)}


@pytest.mark.parametrize("spoil", [
    row("Γ(0) from, u_c = 0.5", 1.008e6), row("Γ(0) to", 0.9e6), row("Γ(0) from, u_c = −0.5", -432e3),
    row("largest rise of Γ along v", 10.0), row("error of Γ with max(ε, ·), u_b = 0.003", 0.0),
    row("share of NaN, u_b ≤ 1e-8", 0.0), row("velocity off there, at most", 0.0),
    row("locked arm off after 0.3 s, as printed", 0.0),
    row("locked arm off after 0.3 s", 0.1),
    row("the rod-side relief opens at", 7.41), row("force from then on", -47e4), row("arm moves while locked, peak to peak", 0.1),
    row("rate swings, valves open to shut", 1.0), row("|x − ℓ| at most", 0.1), row("arm lower at 2 s with u_a = 0.5, by", -0.1),
    row("first impulse, u_a = 0.5 to 0", 0.5), row("the same, u_a = 0.5 from the start on", 1.0),
    row("sinks before u_c opens, by", 0.0), row("arm 1 raised, II to I", 1.0), row("before arm 2 moves, I and II apart", 1e-3),
    lambda r: replace(r, table=replace(r.table, seen=r.table.seen - {"+0b"})),
    lambda r: replace(r, table=replace(r.table, nowhere=1)),
    lambda r: replace(r, table=replace(r.table, gap=1e-6)),
    reversed_order("by_command"), reversed_order("by_bleed"), reversed_order("by_u_a"), reversed_order("regenerated"),
    lambda r: replace(r, by_bleed=risen(r.by_bleed)),
    lambda r: replace(r, shared={way: dict(zip(f, reversed(f.values()))) for way, f in r.shared.items()}),
])
def test_a_wrong_result_is_refused(found, spoil):
    with pytest.raises(AssertionError):
        study.check(spoil(found))


def test_table_1_with_a_wrong_row_is_seen(monkeypatch):
    """Were a row's force another segment's, the gap would say so."""
    printed = study.segments
    monkeypatch.setattr(study, "segments", lambda *given: printed(*given) | {"+1a": printed(*given)["+1b"]})
    assert study.table_1(40).gap > 1e-3


def test_formulas_as_printed_are_right_where_they_should_be():
    """With the bleed well open the printed Λ and Γ are those of the circuit: what is counted as wrong is not a slip of ours."""
    rng = np.random.default_rng(3)
    for _ in range(60):
        c, u = cases.circuit(rng), rng.uniform(0.1, 1.0, 2)
        opened, u_b, (β, f) = Openings(u_ph=u[0], u_tr=u[1]), rng.uniform(0.2, 1.0), cases.load(rng, 1)
        row_, supply = c.rows(opened)[0], c.supply(u_b)
        v = float(Λ(c, opened, u_b, β[0], f[0])[0])
        if v > 0:
            with np.errstate(invalid="ignore"):  # branches not taken
                assert study.printed_Λ(row_, supply, β, f)[0] == pytest.approx(v, rel=1e-7, abs=1e-9)
        w = rng.uniform(0.01, 1.0)
        full = row_[0] * row_[2] + row_[1] * row_[3]
        assert study.printed_Γ(row_, supply, w, 1e-30) == pytest.approx(Γ(c, opened, u_b, w).low[0], abs=1e-9 * full)


def test_what_is_shown(found, tmp_path):
    written = text(found)
    for words in ("7.404", "7.404       7.404", "“decelerated”", "not if opened with u_c",
                  "+2b            +    x    x    o    x    o   yes"):
        assert words in written, words
    draw(found, str(tmp_path / "study.svg"))
    assert (tmp_path / "study.svg").stat().st_size > 50_000


# ---- what reports show ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("regeneration", [False, True])
def test_a_map_is_the_circuits(regeneration):
    rng = np.random.default_rng(11)
    for direction in (1, -1, 0):
        c, u_b = cases.circuit(rng), rng.uniform(0.1, 0.9)
        opened = cases.openings(rng, direction, regeneration)
        m = metering.force_map(c, opened, u_b, -0.7, 0.9, 33)
        full = c.sections[0].A_h * c.sections[0].P_hM + c.sections[0].A_r * c.sections[0].P_rM
        assert np.all(np.diff(m.v) >= 0) and np.diff(m.f).max() < 1e-6 * full
        for v in rng.choice(m.v, 6):
            low, high = (end[0] for end in Γ(c, opened, u_b, v))
            assert m.f[m.v == v][[0, -1]] == pytest.approx([high, low], abs=1e-9 * full)
        at_0 = Γ(c, opened, u_b, 0.0)
        assert (0.0, *(pytest.approx(float(end[0]), abs=1e-9 * full) for end in at_0)) in m.sets
        assert m.bands[0][0] == -0.7 and m.bands[-1][1] == 0.9 and all(a[1] == b[0] for a, b in zip(m.bands, m.bands[1:]))


def test_bands_are_rows_of_the_table():
    m = metering.force_map(Circuit(), Openings.command(0.5), 0.2, -1.0, 1.0)
    assert [name for _, _, name in m.bands] == ["F_hM", "+2a", "+1a", "+3", "-F_rM"]
    shut = metering.force_map(Circuit(), Openings.command(0.5), 0.0, -1.0, 1.0)
    assert sorted(v for v, _, _ in shut.sets) == pytest.approx([0.0, Circuit().pump.Q / 0.024])  # a set at Q/A_h too


def test_the_run_is_on_the_map_of_its_arm(run):
    """Γ̂ of (107) at the logged pressure of the pump holds the logged force of each arm, at any instant."""
    plant, log = run
    for i in range(20, len(log.time) - 1, 173):
        for j, name in enumerate(plant.names):
            v, f = log.array(f"v_{name}")[i], log.array(f"f_{name}")[i]
            c = metering.held_at(plant.circuit, j, log.array("P")[i])
            low, high = Γ(c, Openings.command(log.array(f"u_c_{name}")[i]), 0.0, v)
            assert low[0] - 20.0 <= f <= high[0] + 20.0, (log.time[i], name)


def test_valve_states_and_shares(run):
    plant, log = run
    found = metering.states(log, plant)
    assert found.lasts.sum() == pytest.approx(log.time[-1] - found.t[0]) and np.all(found.lasts[:-1] > 0)
    for i in range(0, len(found.t), 37):
        at = int(np.abs(log.time - found.t[i]).argmin())
        u = tuple(Openings.command(log.array(f"u_c_{n}")[at]) for n in plant.names)
        now = operating(plant.circuit, u, plant.u_b, *([log.array(f"{k}_{n}")[at] for n in plant.names] for k in "vf"))
        assert found.open["pR"][i] == now.pR and [found.rows[n][i] for n in plant.names] == [s.segment for s in now.sections]
        for n, s in zip(plant.names, now.sections):
            assert all(found.open[f"{key}_{n}"][i] == getattr(s, key) for key in metering.VALVES)
    relieved = found.t[found.open["rR_2"]]  # arm 2 is stopped at 2 s: its rod side is at its relief for a while
    at_limit = log.time[log.array("P_r_2") > 40e6 * (1 - 1e-9)]
    assert [relieved[0], relieved[-1]] == pytest.approx([at_limit[0], at_limit[-1]], abs=0.02) and not found.open["rR_1"].any()
    facts = metering.facts(log, plant)
    share = {valve: (open_.split()[0], first.split()[0]) for valve, open_, first in facts["valves"]}
    assert facts["several"] and share["pump check, arm 2"] == ("33.3", "1") and share["rod relief, arm 1"] == ("never", "–")


def test_the_pumps_energy_is_shared_out(run):
    plant, log = run
    energy = {where: float(share.replace("\u202f", " ").replace("\xa0", " ").replace("−", "-").split()[0])
              for where, _, share in metering.spent(log, plant)}
    assert energy.pop("given by the pump") == 100.0
    assert sum(energy.values()) == pytest.approx(100.0, abs=0.3)  # three digits each


def test_other_plants_have_no_valves_to_show(run):
    assert metering.facts(run[1], FourBar()) == {"valves": [], "spent": [], "several": False}
    assert metering.facts(None, run[0])["valves"] == [] and figures_metering.operating_points(run[1], FourBar()) is None
    assert figures_metering.valve_states(None, run[0]) is None


def test_a_run_that_blew_up_has_no_chapter(run):
    plant, log = run
    lost = replace(log, values=np.where(np.arange(len(log.signals)) == log.names.index("v_2"), np.nan, log.values))
    assert metering.facts(lost, plant)["valves"] == [] and figures_metering.operating_points(lost, plant) is None


def test_a_delayed_command_counts_when_it_arrives():
    """What the valves got is shown, not what the controller said."""
    text = (EXAMPLES / "arm-imv.yaml").read_text("utf-8")
    case = loads(text[: text.index("controller:")] + "controller: PID\nloop: {sample_time: 10 ms, delay: 25 ms}\n"
                 "scenario: {duration: 1 s}\n", "delayed.yaml")
    log = simulate(case.loop, case.scenario)
    later = log.time > 0.05
    assert metering.column(log, "u_c_1")[later] == pytest.approx(log.array("u_c_1_applied")[later], abs=1e-12)


def test_a_command_that_never_rests_is_drawn_in_equal_stretches():
    plant = study.ARM
    log = simulate(plant, Scenario(1.0, disturbances={"u_c_1": Sine("output", (0.0,), (0.6,), 1.0)}))
    parts = figures_metering.phases(log, plant)
    assert len(parts) == 4 and parts[0][0] == 0 and parts[-1][1] == len(log.time)
    assert len(figures_metering.operating_points(log, plant).axes) == 4


def test_chapter_of_the_report(run):
    import io

    from pypdf import PdfReader

    plant, log = run
    pdf = rendered(Content("two arms", "?", log=log, plant=plant))
    words = " ".join(page.extract_text() for page in PdfReader(io.BytesIO(pdf)).pages)
    for said in ("Valves", "rod relief, arm 2", "given by the pump", "The force–velocity map", "head suction check, arm 2"):
        assert said in words, said
