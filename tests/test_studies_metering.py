"""The study of valve circuits holds and its check is not empty."""

from dataclasses import replace

import metering_cases as cases
import numpy as np
import pytest

from plants.valve_circuits import Γ, Λ, Openings
from reports.studies import kikuuwe22 as study
from reports.studies.kikuuwe22_shown import draw, text


@pytest.fixture(scope="module")
def found():
    return study.results()


# ---- the study -----------------------------------------------------------------------------------------------------------------
def test_kikuuwe22(found):
    study.check(found)


def row(what, ours):
    return lambda r: replace(
        r, rows=tuple(replace(x, ours=ours) if x.what == what else x for x in r.rows)
    )


def reversed_order(field):
    """Values of a family of maps under the parameters turned round."""
    return lambda r: replace(
        r, **{field: dict(zip(getattr(r, field), reversed(getattr(r, field).values())))}
    )


def risen(maps):
    key = next(iter(maps))
    return {
        **maps,
        key: maps[key]._replace(f=maps[key].f + np.linspace(0, 1.0, len(maps[key].f)) * 1e6),
    }


@pytest.mark.parametrize(
    "spoil",
    [
        row("Γ(0) from, u_c = 0.5", 1.008e6),
        row("Γ(0) to", 0.9e6),
        row("Γ(0) from, u_c = −0.5", -432e3),
        row("largest rise of Γ along v", 10.0),
        row("error of Γ with max(ε, ·), u_b = 0.003", 0.0),
        row("share of NaN, u_b ≤ 1e-8", 0.0),
        row("velocity off there, at most", 0.0),
        row("locked arm off after 0.3 s, as printed", 0.0),
        row("locked arm off after 0.3 s", 0.1),
        row("the rod-side relief opens at", 7.41),
        row("force from then on", -47e4),
        row("arm moves while locked, peak to peak", 0.1),
        row("rate swings, valves open to shut", 1.0),
        row("|x − ℓ| at most", 0.1),
        row("arm lower at 2 s with u_a = 0.5, by", -0.1),
        row("first impulse, u_a = 0.5 to 0", 0.5),
        row("the same, u_a = 0.5 from the start on", 1.0),
        row("sinks before u_c opens, by", 0.0),
        row("arm 1 raised, II to I", 1.0),
        row("before arm 2 moves, I and II apart", 1e-3),
        lambda r: replace(r, table=replace(r.table, seen=r.table.seen - {"+0b"})),
        lambda r: replace(r, table=replace(r.table, nowhere=1)),
        lambda r: replace(r, table=replace(r.table, gap=1e-6)),
        reversed_order("by_command"),
        reversed_order("by_bleed"),
        reversed_order("by_u_a"),
        reversed_order("regenerated"),
        lambda r: replace(r, by_bleed=risen(r.by_bleed)),
        lambda r: replace(
            r, shared={way: dict(zip(f, reversed(f.values()))) for way, f in r.shared.items()}
        ),
    ],
)
def test_a_wrong_result_is_refused(found, spoil):
    with pytest.raises(AssertionError):
        study.check(spoil(found))


def test_table_1_with_a_wrong_row_is_seen(monkeypatch):
    """Were a row's force another segment's, the gap would say so."""
    printed = study.segments
    monkeypatch.setattr(
        study, "segments", lambda *given: printed(*given) | {"+1a": printed(*given)["+1b"]}
    )
    assert study.table_1(40).gap > 1e-3


def test_formulas_as_printed_are_right_where_they_should_be():
    """With the bleed well open the printed Λ and Γ are those of the circuit: what is counted as wrong is not a slip of ours."""
    rng = np.random.default_rng(3)
    for _ in range(60):
        c, u = cases.circuit(rng), rng.uniform(0.1, 1.0, 2)
        opened, u_b, (β, f) = (
            Openings(u_ph=u[0], u_tr=u[1]),
            rng.uniform(0.2, 1.0),
            cases.load(rng, 1),
        )
        row_, supply = c.rows(opened)[0], c.supply(u_b)
        v = float(Λ(c, opened, u_b, β[0], f[0])[0])
        if v > 0:
            with np.errstate(invalid="ignore"):  # branches not taken
                assert study.printed_Λ(row_, supply, β, f)[0] == pytest.approx(
                    v, rel=1e-7, abs=1e-9
                )
        w = rng.uniform(0.01, 1.0)
        full = row_[0] * row_[2] + row_[1] * row_[3]
        assert study.printed_Γ(row_, supply, w, 1e-30) == pytest.approx(
            Γ(c, opened, u_b, w).low[0], abs=1e-9 * full
        )


def test_what_is_shown(found, tmp_path):
    written = text(found)
    for words in (
        "7.404",
        "7.404       7.404",
        "“decelerated”",
        "not if opened with u_c",
        "+2b            +    x    x    o    x    o   yes",
    ):
        assert words in written, words
    draw(found, str(tmp_path / "study.svg"))
    assert (tmp_path / "study.svg").stat().st_size > 50_000
