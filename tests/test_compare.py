"""Cases side by side: numbers of one run, words of its verdicts, what is not alike; the command and its outputs."""

import json
import math

import numpy as np
import pytest
from pypdf import PdfReader

from reports.comparison import Compared, claims, rendered
from workbench.cases.file import loads
from workbench.commands.cli import main
from workbench.commands.compare import compare, under
from workbench.commands.compare_table import document, rows, text
from workbench.contract.errors import InputError
from workbench.verification.judge import verify
from workbench.verification.run import run

FORM = """
plant: {plant}
controller: {law}
loop: {{sample_time: {T}}}
scenario:
  reference: {{type: Sine, space: output, centre: start, amplitude: [1 mm], frequency: 2 Hz, ramp: 0.2 s}}
  duration: {duration}
claims: {{tracking: {{error: {error}, settle: 0.3 s}}}}
"""
PID = "{law: PID, K_p: 0.4, K_i: 2, feed: gain, K_v: 0.0087}"
MPC = "{law: MPC, Q: 1, S: 10, horizon: 15, observer: {σ_y: 1e-6, σ_d: 2e-6}}"


def case(
    law=PID, T="1 ms", error="0.1 mm", duration="1 s", plant="ieha-published-linear", name="a.yaml"
):
    return loads(FORM.format(law=law, T=T, error=error, duration=duration, plant=plant), name)


@pytest.fixture(scope="module")
def found():
    return compare([case(), case(MPC, "2 ms", "1 um")], [{"K": "60 1/s"}])


def test_numbers_are_those_of_the_run_and_its_verdicts(found):
    for entry, made in zip(found.entries, (case(), case(MPC, "2 ms", "1 um"))):
        r = run(made.loop, made.scenario)
        e = np.abs(r.log.array("Y_d") - r.log.array("Y"))[r.log.time >= 0.3]
        assert np.isclose(entry.nominal.error, e.max(), rtol=1e-12)
        assert np.isclose(entry.nominal.rms, np.sqrt(np.mean(e**2)), rtol=1e-12)
        assert entry.also[0].error > 1.05 * entry.nominal.error  # half the gain
        assert 0 < entry.seconds < 1 and entry.period == made.loop.period
    assert found.entries[0].law == "PID" and found.entries[1].law == "MPC" and not found.notes
    pid = found.entries[0]
    own = case()
    alone = verify(own.loop, own.scenario, own.claims)
    assert [v.word for v in pid.verdicts] == [v.word for v in alone]
    margins = next(v for v in pid.verdicts if v.key == "linear-stability").data["margins"][0]
    assert pid.gain == margins["gain_up"] and pid.phase == margins["phase"]


def test_a_limit_shown_is_the_one_that_was_searched(two_joint):
    form = (
        "plant: {{machine: hiab-xs031, lock: {{extension: 0.5 m}}}}\ncontroller: PID\nscenario: {{duration: 4 s}}\n"
        "claims: {claims}\n"
    )
    claims = "{practical-stability: false, sample-time-limit: {up_to: 4 ms}, delay-limit: false}"
    asked = loads(form.format(claims=claims), "asked.yaml")
    other = loads(
        form.format(
            claims="{practical-stability: false, sample-time-limit: false, delay-limit: false}"
        ),
        "not.yaml",
    )
    found = compare([asked, other])
    limit = next(v for v in found.entries[0].verdicts if v.key == "sample-time-limit")
    assert (
        found.entries[0].sample_time == limit.data["good"] and found.entries[1].sample_time is None
    )
    assert [e.label for e in found.entries] == [
        "asked.yaml",
        "not.yaml",
    ]  # one law: the files' names tell them apart


def test_what_is_not_alike_is_said():
    base = case(name="base.yaml")
    other = case(plant="{machine: ieha-published-linear, change: {K: 97 1/s}}", name="other.yaml")
    longer = case(duration="1.5 s", name="longer.yaml")
    first, second = compare([base, other, longer]).notes
    assert (
        "machine differs" in first
        and "K" in first
        and "scenario differs" in second
        and "duration" in second
    )


def test_a_run_that_diverges_or_is_too_short_has_no_numbers():
    wild = case("{law: PID, K_p: 40, K_i: 0, feed: none}", T="5 ms", duration="20 s")
    done = under(run(wild.loop, wild.scenario), 0.3)
    assert math.isinf(done.error) or not done.settled
    short = under(run(case().loop, case(duration="0.2 s").scenario), 0.3)
    assert math.isnan(short.error) and short.settled is None and "shorter" in short.words


def test_a_loop_that_hunts_is_shown_beside_a_sound_one():
    """Its saturation is violated and has a cause; the share of time at the limit is that of the command, and no other number."""
    sound, hunting = compare([case(), case(PID.replace("0.4", "6"))]).entries
    assert sound.saturated == 0.0 and sound.counts[1:] == (0, 0)
    violated = {v.key: v for v in hunting.verdicts if v.holds is False}
    assert "cause" in violated["saturation"].data
    assert hunting.saturated == violated["saturation"].data["shares"]["X"] > 0.01


@pytest.mark.quick
def test_bad_input():
    with pytest.raises(InputError, match="1 case, expected two or more"):
        compare([case()])
    with pytest.raises(InputError, match="there is no|did you mean"):
        compare([case(), case(MPC, "2 ms")], [{"KK": 3.0}])


# ---- table, JSON, page ------------------------------------------------------------------------------------------------
def test_table_and_document_say_the_same(found):
    table, doc = dict(rows(found)), document(found)
    assert table["sample time"] == ["1 ms", "2 ms"]
    counts = doc["cases"][1]["counts"]
    assert (
        table["claims hold / violated / undecided"][1]
        == f"{counts['holds']} / {counts['violated']} / {counts['undecided']}"
    )
    assert {"K = 60 1/s: largest error", "K = 60 1/s: settled"} <= table.keys()
    assert "sample time up to" not in table  # nobody asked
    json.dumps(doc, allow_nan=False)
    for room in (60, 130):
        printed = text(found, room)
        assert (
            all(len(line) <= room for line in printed.splitlines())
            and "PID" in printed
            and "MPC" in printed
        )


def test_page_shows_table_claims_and_who_was_asked_what(found):
    page = rendered(Compared(found, "2026-01-01", "workbench compare a b"))
    assert page == rendered(Compared(found, "2026-01-01", "workbench compare a b"))
    import io

    words = PdfReader(io.BytesIO(page)).pages[0].extract_text()
    assert "PID" in words and "largest error" in words and "what was claimed" in words
    tracking = next(row for row in claims(found) if row[0] == "tracking")
    assert "0.1" in tracking[1] and "1 µm" in tracking[2].replace(
        "\u00a0", " "
    )  # limits differ: each says its own


def test_the_command(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, made in (("a.yaml", case()), ("b.yaml", case(PID.replace("0.4", "0.5")))):
        (tmp_path / name).write_text(made.text, "utf-8")
    assert (
        main(
            [
                "compare",
                "a.yaml",
                "b.yaml",
                "--also",
                "K: 60 1/s",
                "--json",
                "c.json",
                "--report",
                "c.pdf",
            ]
        )
        == 0
    )
    printed = capsys.readouterr().out
    assert "largest error" in printed and "written: c.json, c.pdf" in printed
    doc = json.loads((tmp_path / "c.json").read_text("utf-8"))
    assert (
        doc["format"] == "fluidproof-comparison"
        and doc["changes"] == [{"K": "60 1/s"}]
        and len(doc["cases"]) == 2
    )
    assert (tmp_path / "c.pdf").read_bytes().startswith(b"%PDF")
    for wrong, words in (
        (["a.yaml"], "expected two or more"),
        (["a.yaml", "b.yaml", "--also", "K"], "--also"),
        (["a.yaml", "b.yaml", "--json", "b.yaml"], "would overwrite a case file"),
        (["a.yaml", "b.yaml", "--json", "x", "--report", "x"], "would overwrite --json"),
        (["a.yaml", "b.yaml", "--also", "KK: 2"], "KK"),
        (["a.yaml", "c.yaml"], "c.yaml"),
    ):
        assert main(["compare", *wrong]) == 3
        assert words in capsys.readouterr().err and not (tmp_path / "x").exists()
