"""The commands: what they print, write and answer; the table at every width; JSON any program can read."""

import gc
import importlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import plants
from workbench import Log
from workbench.commands import terminal
from workbench.commands.cli import main, verify_stability
from workbench.contract.system import Signal
from workbench.run import attempt
from workbench.run.log import Status
from workbench.verification.judge import Examination
from workbench.verification.verdict import Assumption, Verdict, exit_code

ROOT = Path(plants.__file__).parents[1]
HOLDS = Verdict("tracking", "tip error ≤ 5 mm", True, "sampled", 2.4e-3, "m", 5e-3, "t = 12.5 s")
BROKEN = Verdict(
    "settled",
    "no limit cycle",
    False,
    "sampled",
    -3.1e-3,
    "m",
    1e-3,
    "q_1 at 3.1 Hz, amplitude 4.1 mm",
)
OPEN = Verdict("linear", "gain margin ≥ 1.5", None, worst="noise has no derivative")
ASIDE = Verdict(
    "hypotheses",
    "theorem's hypotheses: 9 of 11 met",
    False,
    "sampled",
    worst="not met: valve lag",
    counted=False,
)
POWER = Verdict(
    "power",
    "virtual power flows cancel",
    True,
    "numerical",
    9.97e-13,
    "1",
    1e-12,
    "3e-15 of 5.4 kW, B_c2",
)
MANY = [ASIDE, HOLDS, BROKEN, OPEN, POWER]


def stub(monkeypatch, verdicts):
    log = Log(
        np.arange(3.0),
        np.array([[0.0], [np.nan], [1.0]]),
        (Signal("q_1", "rad"),),
        {"seed": 3, "parameter_hash": "ab12", "versions": {"numpy": "2"}},
        Status(True, "completed", 2.0),
    )
    module = importlib.import_module("workbench.verification.judge")
    monkeypatch.setattr(module, "examine", lambda *_: Examination(list(verdicts), log, {}))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "crane.yaml").write_text("plant: hiab-xs031\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


# ---- the table ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("room", [30, 45, 60, 75, 76, 80, 110, 160])
def test_nothing_is_cut_off_at_any_width(room):
    text = terminal.table(MANY, room)
    assert "\033" not in text
    flat = " ".join(text.split())
    for verdict in MANY:
        for number in terminal.margin(verdict).split():
            assert number in flat.split() or f"{number}," in flat.split()
        for word in (*verdict.claim.split(), *verdict.worst.split()):
            assert word in flat, word
    longest = max(len(w) for v in MANY for w in (v.claim + " " + v.worst).split()) + 6
    assert max(map(terminal.width, text.split("\n"))) <= max(room, longest)


def test_the_table_has_the_agreed_form():
    """Rows that count come first, in their order; information stands behind them."""
    head, holds, broken, open_, _, aside = terminal.table(MANY, 160).split("\n")
    assert head.split() == ["claim", "verdict", "strength", "margin", "worst", "at", "/", "why"]
    assert aside.startswith("(theorem's hypotheses") and aside.endswith(
        "not met: valve lag; information)"
    )
    assert (
        holds.split("  ")[0] == "tip error ≤ 5 mm" and "holds" in holds and "2.4 mm left" in holds
    )
    assert (
        "violated" in broken and "3.1 mm over" in broken and "undecided" in open_ and "–" in open_
    )
    assert holds.index("sampled") == head.index("strength") and broken.index(
        "3.1 mm"
    ) == head.index("margin")


def test_a_number_stays_with_its_unit():
    lines = terminal.wrap("nothing failed up to 40 ms, at 12.5 bar", 23)
    assert lines == ["nothing failed up to", "40 ms, at 12.5 bar"]
    assert terminal.wrap("runs 3 more", 7) == ["runs 3", "more"]


def test_margins_in_words():
    def words(margin, unit="m"):
        return terminal.margin(Verdict("k", "c", True, "sampled", margin, unit))

    assert (words(0.0024), words(-185e5, "Pa"), words(0.0), words(float("inf")), words(None)) == (
        "2.4 mm left",
        "185 bar over",
        "0 m",
        "unlimited",
        "–",
    )


def test_colour_only_where_it_is_wanted(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert terminal.coloured(Terminal()) and not terminal.coloured(io.StringIO())
    monkeypatch.setenv("NO_COLOR", "1")
    assert not terminal.coloured(Terminal())
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert not terminal.coloured(Terminal())
    painted = terminal.table(MANY, 160, colour=True)
    assert (
        painted.count("\033[0m") == len([v for v in MANY if v.counted])
        and "\033[1;31mviolated" in painted
    )


def test_text_from_a_file_cannot_steer_the_terminal():
    evil = Verdict("k", "claim \033[2J\x07", True, "sampled", 1.0, "m", worst="a\rb\u202e")
    shown = terminal.table([evil], 120) + terminal.headline("\033]0;x\x07", "f\033", 80)
    shown += terminal.tally([evil], ["\033"], 0)
    assert not set(shown) & {"\033", "\x07", "\r", "\u202e"}


# ---- verify-stability ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "verdicts, code", [([HOLDS, ASIDE], 0), (MANY, 1), ([HOLDS, OPEN], 2), ([ASIDE], 2), ([], 2)]
)
def test_exit_codes(verdicts, code, folder, monkeypatch, capsys):
    stub(monkeypatch, verdicts)
    assert verify_stability(["crane.yaml"]) == code == exit_code(verdicts)
    assert capsys.readouterr().out.rstrip().endswith(f"· exit {code}")


def test_what_is_printed(folder, monkeypatch, capsys):
    stub(monkeypatch, MANY)
    verify_stability(["crane.yaml", "--json", "v.json", "--log", "run.nc"])
    shown = capsys.readouterr()
    first, *_, last = shown.out.rstrip("\n").split("\n")
    assert first.startswith(
        "HIAB XS 031, 2 structures · VDC 1 kHz · demo path 30 s  "
    ) and first.endswith("crane.yaml")
    assert last == "2 hold, 1 violated, 1 undecided · run.nc · v.json · exit 1"
    assert not shown.err and "\033" not in shown.out
    assert len(Log.load("run.nc")) == 3


def test_quiet_answers_by_the_exit_code_alone(folder, monkeypatch, capsys):
    stub(monkeypatch, [BROKEN])
    assert verify_stability(["crane.yaml", "--quiet"]) == 1
    assert capsys.readouterr() == ("", "")


def test_a_shipped_name_in_place_of_a_file(folder, monkeypatch, capsys):
    stub(monkeypatch, [HOLDS])
    assert verify_stability(["hiab-xs031"]) == 0 and "hiab-xs031" in capsys.readouterr().out
    (folder / "hiab-xs031").write_text("plant: zebra\n")
    assert verify_stability(["hiab-xs031"]) == 3, "a file of that name comes first"


def test_json_is_plain_and_complete(folder, monkeypatch, capsys):
    data = {
        "values": np.array([1.0, np.nan]),
        "poles": np.array([1 + 2j]),
        "n": np.int64(3),
        "big": [float("inf")],
    }
    odd = Verdict(
        "odd",
        "c",
        False,
        "numerical",
        float("-inf"),
        "1",
        worst="w",
        assumptions=(Assumption("a", None, 2.5, "m"),),
        data=data,
    )
    stub(monkeypatch, [HOLDS, odd])
    assert verify_stability(["crane.yaml", "--json", "v.json"]) == 1

    def no_constant(text):
        raise AssertionError(text)

    found = json.loads((folder / "v.json").read_text("utf-8"), parse_constant=no_constant)
    assert (found["format"], found["version"], found["exit_code"]) == ("fluidproof-verdicts", 1, 1)
    assert found["counts"] == {"holds": 1, "violated": 1, "undecided": 0}
    first, second = found["verdicts"]
    assert set(first) == {f.name for f in HOLDS.__dataclass_fields__.values()} | {"verdict"}
    assert (first["margin"], first["verdict"], second["assumptions"][0]["holds"]) == (
        2.4e-3,
        "holds",
        None,
    )
    assert second["margin"] is None and second["data"] == {
        "values": [1.0, None],
        "poles": [{"real": 1.0, "imag": 2.0}],
        "n": 3,
        "big": [None],
    }
    assert found["not_finite"] == {
        "verdicts.1.margin": "minus infinite",
        "verdicts.1.data.values.1": "not a number",
        "verdicts.1.data.big.0": "infinite",
    }
    assert found["run"]["seed"] == 3 and found["run"]["parameter_hash"] == "ab12"
    assert found["case"]["text"] == "plant: hiab-xs031\n"


def test_the_report_gets_everything(folder, monkeypatch, capsys):
    import reports.document

    stub(monkeypatch, MANY)
    told = []
    monkeypatch.setattr(
        reports.document,
        "write_report",
        lambda path, content, progress, drawn: told.append((path, content)),
    )
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    monkeypatch.setattr(sys, "argv", ["/usr/bin/verify-stability"])
    assert verify_stability(["crane.yaml", "--report", "a b.pdf"]) == 1
    ((path, content),) = told
    assert (
        path == "a b.pdf"
        and content.verdicts == tuple(MANY)
        and content.case_text == "plant: hiab-xs031\n"
    )
    assert (
        content.date == "2023-11-14"
        and content.command == "verify-stability crane.yaml --report 'a b.pdf'"
    )
    assert (
        content.provenance["plant.p_s"][:2] == ("V", "Petrovic22")
        and type(content.controller).__name__ == "Sampled"
    )
    assert main(["report", "crane.yaml", "-o", "r.pdf"]) == 0, "a report is made, whatever it says"
    told.clear()
    assert verify_stability(["crane.yaml", "--report", "r.pdf", "--report", "r.html"]) == 1
    assert [path for path, _ in told] == ["r.pdf", "r.html"], "both are written"
    assert verify_stability(["crane.yaml", "--report", "r.pdf", "--report", "./r.pdf"]) == 3
    assert "--report would overwrite --report" in capsys.readouterr().err


def test_an_option_for_one_value_is_given_once(folder, capsys):
    with pytest.raises(SystemExit) as ended:
        verify_stability(["crane.yaml", "--json", "a.json", "--json", "b.json"])
    assert ended.value.code == 3
    assert "--json is given twice, a.json and b.json: give it once" in capsys.readouterr().err


OUT = (
    "identity",
    "power-flows",
    "hypotheses",
    "inequality",
    "practical-stability",
    "sample-time-limit",
    "delay-limit",
    "linear",
    "settled",
    "machine-limits",
    "holds-weight",
)
SHORT = f"""
plant: hiab-xs031
scenario: {{duration: 4 s}}
claims: {{{", ".join(f"{name}: false" for name in OUT)}}}
"""


def test_from_file_to_report(folder, capsys):
    """Nothing stubbed: a short run, verified, logged, reported, and simulated again to the same numbers."""
    (folder / "short.yaml").write_text(SHORT)
    assert (
        verify_stability(["short.yaml", "--report", "r.pdf", "--json", "v.json", "--log", "run.nc"])
        == 0
    )
    assert (
        "4 hold, 0 violated, 0 undecided · stability was not asked · run.nc · v.json · r.pdf · exit 0"
        in capsys.readouterr().out
    )
    assert (folder / "r.pdf").read_bytes().startswith(b"%PDF")
    assert len(json.loads((folder / "v.json").read_text())["verdicts"]) == 4
    assert main(["simulate", "short.yaml", "--log", "again.nc", "--csv", "run.csv"]) == 0
    first, again = Log.load("run.nc"), Log.load("again.nc")
    assert (
        first.names == again.names
        and np.array_equal(first.values, again.values)
        and len(again) == 4001
    )
    assert (folder / "run.csv").read_text().startswith("time [s],q_1 [rad],")


def test_a_run_that_diverges_says_so(folder, monkeypatch, capsys):
    monkeypatch.setattr(attempt, "MOST_STEPS", 1_000_000)  # so many show it, too
    (folder / "wild.yaml").write_text(
        "plant: hiab-xs031\nscenario: {duration: 20 ms, max_step: 20 ms, disturbances: {f_Dy: 1e15}}\n"
    )
    assert main(["simulate", "wild.yaml"]) == 1 and "diverged" in capsys.readouterr().out


# ---- workbench ----------------------------------------------------------------------------------------------------
def test_init_lists_writes_and_what_it_writes_verifies(folder, monkeypatch, capsys):
    assert main(["init"]) == 0 and "hiab-xs031" in capsys.readouterr().out
    assert main(["init", "hiab-xs031", "-o", "mine.yaml"]) == 0
    assert "verify-stability mine.yaml" in capsys.readouterr().out
    stub(monkeypatch, [HOLDS])
    assert verify_stability(["mine.yaml"]) == 0
    assert main(["init", "hiab"]) == 3 and "hiab-xs031" in capsys.readouterr().err


def test_schema_is_json(capsys):
    assert main(["schema"]) == 0
    assert set(json.loads(capsys.readouterr().out)["properties"]) == {
        "title",
        "sources",
        "plant",
        "controller",
        "loop",
        "scenario",
        "claims",
    }


@pytest.mark.parametrize("command", ["verify_stability", "main"])
def test_help_needs_no_library(command):
    code = f"""
import sys
from workbench.commands.cli import {command}
try:
    {command}(["--help"])
except SystemExit as ended:
    heavy = {{"numpy", "casadi", "scipy", "rich", "ruamel", "pint", "typer", "matplotlib", "xarray"}} & set(sys.modules)
    sys.exit(f"imported {{heavy}}" if heavy or ended.code else 0)
"""
    run = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert run.returncode == 0 and "usage:" in run.stdout, run.stderr


def test_a_reader_that_goes_away_and_a_terminal_without_greek(folder):
    code = "import sys; from workbench.commands.cli import main; sys.exit(main(['schema']))"
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    line = f'{sys.executable} -c "{code}" | head -1'
    run = subprocess.run(line, shell=True, capture_output=True, text=True, env=env)
    assert run.stdout == "{\n" and run.stderr == ""


def test_the_interpreter_is_left_as_it_was(folder, monkeypatch):
    """Inside a command garbage is collected rarely; its caller may be a program that needs it more often."""
    others, before, inside = gc.get_threshold(), (700, 10, 10), []
    gc.set_threshold(*before)  # the tests' own are those of a command
    monkeypatch.setattr(
        "workbench.commands.cli._verify", lambda *_: inside.append(gc.get_threshold()) or 0
    )
    try:
        assert verify_stability(["crane.yaml"]) == 0
        assert inside[0] > before == gc.get_threshold()
    finally:
        gc.set_threshold(*others)


def test_a_misspelt_verb_is_told_the_nearest(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["verfy", "crane.yaml"])
    assert ended.value.code == 3 and "did you mean verify?" in capsys.readouterr().err
