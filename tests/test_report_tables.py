"""Tables: every number with its unit, a true minus, never rounded up, and where it comes from."""

from dataclasses import replace

import numpy as np
import pytest

from plants import machine
from reports import parameter_tables, tables
from workbench.verification.verdict import Verdict

CRANE = machine("hiab-xs031").plant


def test_numbers_leave_with_units_and_true_minus():
    assert tables.quantity(1.85e7, "Pa") == "185 bar"
    assert tables.quantity(-2.4e-3, "m") == "−2.4 mm"
    assert tables.quantity(3e-15, "1") == "3·10⁻¹⁵"
    assert tables.quantity(None, "m") == "–"
    assert tables.quantity(2.91e-6, "m^3/(s*Pa^0.5)") == "2.91·10⁻⁶ m³/(s\u00a0√Pa)"


def test_numbers_within_words_are_written_so_too():
    assert tables.told("1.7e-15 of its terms, rod -60.8 kJ, structure2, tip-3") == (
        "1.7·10⁻¹⁵ of its terms, rod −60.8\u00a0kJ, structure2, tip-3"
    )


def test_page_one_cuts_what_the_assumptions_tell():
    verdict = Verdict(
        "a", "hypotheses", False, "sampled", worst="not met: " + "valve of order 2, " * 40
    )
    (row,) = tables.verdict_rows([verdict])
    assert row["short"].endswith(" …") and len(row["short"]) < 240 < len(row["worst"])
    (row,) = tables.verdict_rows([replace(verdict, worst="t = 3 s")])
    assert row["short"] == row["worst"] and row["worst"].startswith("t = 3")


def test_shares_and_ranges_never_round_up():
    assert tables.percent(0.05179) == "5.18\u00a0%" and tables.percent(1.0) == "100\u00a0%"
    assert (
        tables.percent(0.99999).startswith("more than 99.9")
        and tables.percent(0.9991, 3) == "99.9\u00a0%"
    )
    assert tables.percent(-0.0194) == "−1.94\u00a0%"
    assert (
        tables.range_of(-5e-4, 5e-4, "m") == "± 0.5 mm"
        and tables.range_of(1e5, np.inf, "Pa") == "at least 1 bar"
    )
    assert tables.range_of(0.0, 0.05, "m") == "0 m … 50 mm"
    assert tables.ratio("m/m") == "1" and tables.ratio("m/N") == "m/N"


def test_gains_are_given_both_ways():
    row = {"actuator": "X", "gain_up": np.inf, "gain_down": 0.25, "phase": None, "disk": 0.5}
    assert tables.margin_rows([row], None, {"X": {"M_S": 2.0, "M_T": np.inf}}) == [
        ["X", "× 0.25 … ∞", "–", "–", "0.5", "2", "∞"]
    ]
    assert tables.margin_rows([{"actuator": "a", "gain": np.inf, "phase": None}]) == [
        ["a", "∞", "–", "–", "–", "–", "–"]
    ]


def test_parameters_carry_value_unit_tag_and_source():
    provenance = {
        "structures.lift.revolute.cylinder": ("V", "P1", ""),
        "plant.p_s": ("D", "P2", "by hand"),
        "plant.p_r": ("A", "/somewhere/mine.yaml", ""),
        "pose": ("A", "", "guess"),
    }
    plain = lambda row: [text.replace("\u00a0", " ") for text in row]
    groups = {
        g["name"].replace("\u200b", ""): {r[0]: plain(r[1:]) for r in g["rows"]}
        for g in parameter_tables.parameter_groups(
            replace(CRANE, pose=(-1.3, 1.4, 0.2)), provenance, "plant."
        )
    }
    assert groups["lift · revolute · cylinder"]["bore"] == ["80 mm", "V", "P1", ""]
    assert (
        groups[""]["p_s"] == ["185 bar", "D", "P2", "by hand"]
        and groups[""]["p_r"][2] == "case file"
    )
    assert groups[""]["pose"] == ["(−1.3, 1.4, 0.2)", "A", "", "guess"]
    end = CRANE.structures[0].revolute.end
    assert groups["lift · revolute · end"]["r"][
        0
    ] == f"({', '.join(f'{1e3 * v:.5g}' for v in end.r)}) mm".replace("-", "−")
    assert groups["lift · revolute · cylinder · valve"]["lag"][0] == "second"


def test_a_model_that_differs_is_listed():
    assert parameter_tables.differing(CRANE, CRANE, "") == []
    assert parameter_tables.differing(replace(CRANE, p_s=150e5), CRANE, "") == [
        ["p_s", "150 bar", "185 bar"]
    ]


@pytest.mark.parametrize(
    "text, most, wanted",
    [
        ("my crane · VDC 1 kHz", 70, "my crane · VDC 1 kHz"),
        ("my crane · VDC 1 kHz · waypoints 22 s", 24, "my crane · VDC 1 kHz …"),
        ("my crane · VDC 1 kHz", 12, "my crane …"),
        ("an-unbroken-name-of-a-crane", 10, "an-unbrok…"),
    ],
)
def test_running_heads_end_at_a_word(text, most, wanted):
    assert tables.shortened(text, most) == wanted and len(wanted) <= most


@pytest.mark.parametrize(
    ("entered", "unit"),
    [("25 deg", "deg"), ("-37.5 deg", "deg"), ("0.02 rad", "rad"), ("1.2 rad", "rad")],
)
def test_angles_are_printed_in_the_unit_they_were_entered_in(entered, unit):
    from workbench.contract.units import quantity

    shown, size = parameter_tables.angle_unit([quantity(entered, "rad")])
    assert shown == unit
    assert f"{quantity(entered, 'rad') / size:.5g}" == entered.split()[0]
