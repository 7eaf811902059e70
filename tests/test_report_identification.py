"""The report of an identification: says what the fit says, shows both sides of validation, takes any text."""

import io
import re
from dataclasses import replace

import numpy as np
import pytest

from reports import identification
from reports.identification import Identified
from workbench.commands.cli import main
from workbench.contract.errors import InputError
from workbench.contract.system import Signal
from workbench.identification import Channel, Record, Shape, compare, examine, fit, validate
from workbench.identification.curves import curves, responses

pypdf = pytest.importorskip("pypdf")
LAG, GAIN, NOISE, T = 0.021, 12.5, 3e-6, 2e-3


def a_record(seed, source, lag=LAG):
    """Y of an integrator behind one lag, under a step and a sweep of X, with white noise."""
    rng, t = np.random.default_rng(seed), np.arange(1500) * T
    x = np.where((t > 0.1) & (t < 0.9), 4e-4, 0.0) + np.where(
        t > 1.3, 3e-4 * np.sin(9 * (t - 1.3) ** 2), 0.0
    )
    y = (
        Channel.of_lags("X", GAIN, (lag,), 1).response(x, T, "foh")
        + NOISE * rng.normal(size=t.size)
        + 7e-4
    )
    return Record(
        t,
        x[:, None],
        y[:, None],
        (Signal("X", "m"),),
        (Signal("Y", "m"),),
        hold=("foh",),
        source=source,
    )


@pytest.fixture(scope="module")
def found():
    return fit(a_record(11, "a.csv"), Shape("X", 2, integrators=1), "Y")


def content(found, **more):
    return Identified(found, examine(found), **more)


def pages(pdf):
    return [re.sub(r"\s+", " ", p.extract_text()) for p in pypdf.PdfReader(io.BytesIO(pdf)).pages]


def test_curves_are_record_model_and_residual(found):
    (curve,) = curves(found, found.records, examine(found))
    assert np.std(curve["residual"]) == pytest.approx(NOISE, rel=0.1)
    np.testing.assert_allclose(curve["measured"] - curve["modelled"], curve["residual"], atol=1e-15)
    # Up to the record's offset the modelled curve is the exact response of the plant that made the record.
    exact = Channel.of_lags("X", GAIN, (LAG,), 1).response(found.records[0].input("X"), T, "foh")
    assert np.ptp(curve["modelled"] - exact) < NOISE and np.mean(
        curve["modelled"] - exact
    ) == pytest.approx(7e-4, abs=NOISE)
    assert [name for name, _, _ in curve["inputs"]] == ["X"]


def test_responses_are_the_transfer_function_where_the_record_can_tell(found):
    ω, G = responses(found)["X"]
    assert ω[0] == pytest.approx(2 * np.pi / (1499 * T)) and ω[-1] == pytest.approx(np.pi / T)
    np.testing.assert_allclose(G, GAIN / (1j * ω * (1 + LAG * 1j * ω)), rtol=0.02)


def test_the_report_says_what_the_fit_says(found):
    fresh = a_record(12, "fresh.csv")
    everything = " ".join(
        pages(
            identification.rendered(
                content(
                    found,
                    fresh=validate(found, fresh),
                    records=(fresh,),
                    date="3 May",
                    command="identify a.csv",
                    hints=("X looks odd",),
                )
            )
        )
    )
    for words in (
        "Y from X",
        "3 May",
        "identify a.csv",
        "X looks odd",
        "12.5",
        "a.csv",
        "fresh.csv",
        "Validation",
        "white",
        "1/s",
        f"fit {found.percent[0]:.3f}",
        "Ljung–Box",
        "Figure 5",
    ):
        assert words in everything, words


def test_what_is_missing_is_left_out(found):
    shown = identification.figures(content(found))
    assert set(shown) == {"responses", "residuals", "record_0"}
    everything = " ".join(pages(identification.rendered(content(found))))
    assert (
        "Validation" not in everything
        and "Which order" not in everything
        and "To repeat this" not in everything
    )


def test_a_model_that_misses_dynamics_is_said_to(found):
    other = a_record(13, "other.csv", lag=4 * LAG)
    given = identification.data(content(found, fresh=validate(found, other), records=(other,)), [])
    own, fresh = given["tests"]
    assert own[1] == "white" and own[4] == "none"
    assert fresh[1] == "not white" and fresh[4] == "X"


def test_orders_are_listed_with_the_chosen_one():
    selection = compare(
        [a_record(11, "a.csv")], [[Shape("X", n, integrators=1)] for n in (1, 2, 3)], "Y"
    )
    rows = identification.data(content(selection.best.fit, selection=selection), [])["orders"]
    assert [row[0] for row in rows] == ["1", "2", "3"] and [
        row[0] for row in rows if row[-1] == "chosen"
    ] == ["2"]
    assert "Which order" in " ".join(
        pages(identification.rendered(content(selection.best.fit, selection=selection)))
    )


def test_delay_zeros_and_an_unstable_pole_are_written(found):
    channels = (
        replace(
            found.model.channels[0], b=(GAIN, 0.3), a=(LAG, -2e-4), integrators=2, delay=4.5e-3
        ),
    )
    other = content(replace(found, model=replace(found.model, channels=channels)))
    (channel,) = identification.data(other, [])["channels"]
    assert (
        channel["delay"] == "4.5 ms" and channel["zeros"] == "−41.7 1/s" and not channel["stable"]
    )
    everything = " ".join(pages(identification.rendered(other)))
    assert "4.5 ms" in everything and "unstable" in everything


def test_any_name_arrives_as_it_is(found):
    hostile = '#panic("x") $a^$ [b] *c* <d> \\ @e.csv\x1b'
    bad = replace(found, records=(replace(found.records[0], source=hostile),), notes=(hostile,))
    everything = " ".join(
        pages(identification.rendered(content(bad, command=hostile, hints=(hostile,))))
    )
    assert '#panic("x") $a^$ [b] *c* <d>' in everything and "\x1b" not in everything


def test_same_content_same_bytes(found):
    assert identification.rendered(content(found)) == identification.rendered(content(found))


def table(path, r):
    np.savetxt(
        path,
        np.column_stack([r.t, 1e3 * r.u[:, 0], 1e3 * r.y[:, 0]]),
        delimiter=",",
        header="t [s],X [mm],Y [mm]",
        comments="",
    )
    return str(path)


def test_the_command_writes_it_whole_or_not_at_all(tmp_path, capsys):
    data, out = table(tmp_path / "a.csv", a_record(11, "")), tmp_path / "out.pdf"
    given = ["identify", data, "--input", "X", "--output", "Y", "--order", "2", "--integrator"]
    assert main([*given, "--report", str(out)]) == 0
    assert f"written: {out}" in capsys.readouterr().out and out.read_bytes()[:5] == b"%PDF-"
    for path, said in (
        (data, "would overwrite a record"),
        (str(tmp_path / "no" / "x.pdf"), "no such directory"),
    ):
        assert main([*given, "--report", path]) == 3
        assert said in capsys.readouterr().err
    assert main([*given, "--report", str(out), "--json", str(out)]) == 3
    assert "would overwrite --json" in capsys.readouterr().err
    with pytest.raises(InputError, match="no such directory"):
        identification.write_identification(
            tmp_path / "no" / "x.pdf", content(fit(a_record(1, ""), Shape("X", 2, integrators=1)))
        )
