"""`workbench sweep`: case files with values exchanged by name, and what a sweep file can get wrong."""

import importlib.util
import json
import re

import pytest

from workbench import load, verify
from workbench.cases.file import loads
from workbench.commands import cli
from workbench.contract.parameters import leaves
from workbench.contract.system import innermost
from workbench.sweep import Table
from workbench.sweep.form import read_sweep
from workbench.sweep.outcome import digest

BASE = """\
plant: ieha-published-linear
controller: {law: PID, K_p: 0.4, K_i: 2, feed: gain, K_v: 0.0087}
loop: {sample_time: 1 ms}
scenario:
  reference: {type: Sine, space: output, centre: start, amplitude: [1 cm], frequency: 0.5 Hz}
  duration: 0.4 s
claims: {region-of-attraction: false}
"""
SWEEP = """\
case: base.yaml
grid:
  controller.K_p: [0.4, 0.3]
  loop.delay: [0 ms, 2 ms]
collect:
  verdicts: [tracking, saturation]
  signals: {top: {signal: Y, take: max}}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "base.yaml").write_text(BASE)
    (tmp_path / "sweep.yaml").write_text(SWEEP)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_command_gives_what_verify_says_of_each_case_written_out(folder, capsys):
    assert cli.main(["sweep", "sweep.yaml", "--jobs", "1"]) == 0
    said = capsys.readouterr().out
    assert (
        "4 cases over controller.K_p, loop.delay" in said and "4 ran, 0 failed · sweep.nc" in said
    )
    table = Table.load("sweep.nc")
    assert table.column("loop.delay").unit == "s" and list(table["loop.delay"]) == [0.0, 0.002] * 2
    assert table.about["case"]["plant"] == "ieha-published-linear"
    for i, (K_p, delay) in enumerate([(0.4, 0), (0.4, 2), (0.3, 0), (0.3, 2)]):
        text = BASE.replace("K_p: 0.4", f"K_p: {K_p}").replace(
            "1 ms}", f"1 ms, delay: {delay} ms}}"
        )
        case = loads(text, "written.yaml")
        assert case.loop.controller != load("base.yaml").loop.controller or i == 0
        found = {v.key: v for v in verify(case.loop, case.scenario, case.claims)}
        for key in ("tracking", "saturation"):
            assert (
                table[key][i] == found[key].word and table[f"{key}.margin"][i] == found[key].margin
            )
    assert len(set(table["tracking.margin"])) == 4 and table.column("tracking.margin").unit == "m"
    assert len(set(table["top"])) == 4 and table.column("top").unit == "m"


NAMES = [  # name, value, where the value must arrive in the case
    ("plant.payload.mass", "37 kg", lambda c: c.plant.payload.mass, 37.0),
    (
        "plant.all.valve.frequency",
        "61 Hz",
        lambda c: {p.value for p in leaves(c.plant) if p.path.endswith("valve.frequency")},
        {61.0},
    ),
    ("plant.change.payload.mass", "38 kg", lambda c: c.plant.payload.mass, 38.0),
    ("plant.lock.extension", "0.4 m", lambda c: len(c.plant.labels), 2),
    (
        "plant.friction",
        {"law": "Frictionless"},
        lambda c: type(c.plant.cylinders[0].friction).__name__,
        "Frictionless",
    ),
    ("model.payload.mass", "12 kg", lambda c: innermost(c.controller).model.payload.mass, 12.0),
    (
        "controller.model.payload.mass",
        13,
        lambda c: innermost(c.controller).model.payload.mass,
        13.0,
    ),
    ("controller.lambda", "9 1/s", lambda c: innermost(c.controller).λ[0], 9.0),
    ("controller.λ", "9 1/s", lambda c: innermost(c.controller).λ[0], 9.0),
    ("loop.sample_time", "3 ms", lambda c: c.loop.period, 3e-3),
    ("scenario.seed", 5, lambda c: c.scenario.seed, 5),
    ("scenario.reference.leg", "4 s", lambda c: c.scenario.reference.leg, 4.0),
    (
        "claims.tracking.error",
        "7 mm",
        lambda c: next(k.error for k in c.claims if type(k).__name__ == "Tracking"),
        7e-3,
    ),
]


PATH = "scenario: {reference: {type: Waypoints, space: joint, points: [start, [-70 deg, -105 deg, 0.6 m]], leg: 3 s}}\n"
SHORT = f"plant: hiab-xs031\n{PATH}"
LONG = f"""plant: {{machine: hiab-xs031, change: {{payload.mass: 5 kg}}}}
controller: {{law: VDC, λ: 7, model: {{change: {{payload.mass: 6 kg}}}}}}
loop: {{delay: 1 ms}}
{PATH}"""


@pytest.mark.quick
@pytest.mark.parametrize(
    "name, value, at, wanted", NAMES, ids=lambda v: v if isinstance(v, str) else ""
)
@pytest.mark.parametrize("base", [SHORT, LONG], ids=["short", "long"])
def test_names_find_their_place(tmp_path, name, value, at, wanted, base):
    base = base.replace(", 0.6 m]", "]") if "lock" in name else base
    (tmp_path / "base.yaml").write_text(base)
    (tmp_path / "s.yaml").write_text(
        f"case: base.yaml\ngrid:\n  {name}: [{json.dumps(value, ensure_ascii=False)}]\n"
    )
    asked = read_sweep(tmp_path / "s.yaml")
    case = asked.study.case(asked.grid.points()[0])
    assert at(case) == pytest.approx(wanted) if isinstance(wanted, float) else at(case) == wanted


def test_units_of_plain_numbers_are_those_of_what_they_set(tmp_path):
    (tmp_path / "s.yaml").write_text(
        "case: hiab-xs031\ngrid: {plant.payload.mass: [0, 5], loop.delay: [0], controller.λ: [8], "
        "scenario.seed: [1, 2], plant.friction: [{law: LuGre}]}\n"
    )
    assert read_sweep(tmp_path / "s.yaml").units == {
        "plant.payload.mass": "kg",
        "loop.delay": "s",
        "controller.λ": "1/s",
        "scenario.seed": "",
        "plant.friction": "",
    }


BAD = [  # text, line, what the message holds
    ("case: base.yaml\n", None, "nothing to vary"),
    ("grid: {loop.delay: [1 ms]}\n", None, "there is no case:"),
    ("case: bas.yaml\ngrid: {loop.delay: [1 ms]}\n", None, "no such file"),
    ("case: base.yaml\ngird: {loop.delay: [1 ms]}\n", 2, "did you mean grid"),
    ("case: base.yaml\ngrid:\n  lop.delay: [1 ms]\n", 3, "did you mean loop"),
    ("case: base.yaml\ngrid:\n  loop.dealy: [1 ms]\n", 3, "did you mean delay"),
    ("case: base.yaml\ngrid:\n  plant.paylod: [1 kg]\n", 3, "nothing called 'paylod'"),
    ("case: base.yaml\ngrid:\n  controller.K_p.x: [1]\n", 3, "nothing below controller.K_p"),
    ("case: base.yaml\ngrid:\n  controller: [PID]\n", 3, "whole section"),
    ("case: base.yaml\ngrid:\n  loop.delay: []\n", 3, "an empty one"),
    ("case: base.yaml\ngrid:\n  loop.delay: 1 ms\n", 3, "expected a list of values"),
    ("case: base.yaml\ngrid:\n  loop.delay: [1 kg]\n", 3, "a time was expected"),
    ("case: base.yaml\ngrid:\n  loop.delay: [1 ms, 2 kg]\n", 3, "different units: kg, s"),
    (
        "case: base.yaml\ngrid:\n  loop.delay: {from: 1 ms, to: 2 kg, count: 3}\n",
        3,
        "different units",
    ),
    ("case: base.yaml\ngrid:\n  loop.delay: {from: 0 ms, to: 2 ms}\n", 3, "count is missing"),
    (
        "case: base.yaml\ngrid:\n  loop.delay: {from: 0 ms, to: 2 ms, count: 2.5}\n",
        3,
        "whole number",
    ),
    (
        "case: base.yaml\ngrid:\n  loop.delay: {from: 0 ms, to: 2 ms, count: 1000000000}\n",
        3,
        "grid.loop.delay.count: 1000000000 cases at least, expected at most 1000000: at 10 ms each they take 116 days",
    ),
    (
        "case: base.yaml\ndraws:\n  count: 1000000000\n  of: {loop.delay: {uniform: [0 ms, 1 ms]}}\n",
        3,
        "draws.count: 1000000000",
    ),
    (
        "case: base.yaml\ngrid:\n  loop.delay: {from: 0 ms, to: 2 ms, count: 3, spacing: log}\n",
        3,
        "greater than zero",
    ),
    (
        "case: base.yaml\ndraws:\n  count: 3\n  of: {loop.delay: {unifrom: [0 ms, 1 ms]}}\n",
        4,
        "did you mean uniform",
    ),
    (
        "case: base.yaml\ndraws:\n  count: 3\n  of: {loop.delay: {uniform: [2 ms, 1 ms]}}\n",
        4,
        "swap them",
    ),
    (
        "case: base.yaml\ndraws:\n  count: 3\n  of: {loop.delay: {uniform: [2 ms]}}\n",
        4,
        "two numbers",
    ),
    (
        "case: base.yaml\ndraws:\n  of: {loop.delay: {uniform: [0 ms, 2 ms]}}\n",
        2,
        "count is missing",
    ),
    (
        "case: base.yaml\ngrid: {loop.delay: [0 ms]}\ndraws: {count: 2, of: {loop.delay: {uniform: [0, 1]}}}\n",
        3,
        "grid and drawn",
    ),
    (
        "case: base.yaml\ngrid: {loop.delay: [0 ms]}\ncollect:\n  verdicts: [trackin]\n",
        4,
        "did you mean tracking",
    ),
    (
        "case: base.yaml\ngrid: {loop.delay: [0 ms]}\ncollect:\n  signals: {top: {signal: Z}}\n",
        4,
        "Z",
    ),
    (
        "case: base.yaml\ngrid: {loop.delay: [0 ms]}\ncollect:\n  signals: {top: {signal: Y, take: most}}\n",
        4,
        "most",
    ),
    (
        "case: base.yaml\ngrid: {loop.delay: [0 ms]}\ncollect: {verdicts: false, statistics: false}\n",
        3,
        "nothing is collected",
    ),
    ("case: [1]\ngrid: {loop.delay: [0 ms]}\n", 1, "expected a case file"),
    ("- 1\n", 1, "expected a mapping"),
]


@pytest.mark.parametrize("text, line, words", BAD, ids=[words for *_, words in BAD])
def test_a_file_that_cannot_be_is_answered_at_its_line(folder, capsys, text, line, words):
    (folder / "bad.yaml").write_text(text)
    before = sorted(p.name for p in folder.iterdir())
    assert cli.main(["sweep", "bad.yaml"]) == 3
    said = capsys.readouterr().err
    assert words in said and "mend: " in said and "Traceback" not in said
    if line:
        assert f"bad.yaml, line {line}" in said, said
    assert sorted(p.name for p in folder.iterdir()) == before


def test_values_out_of_range_are_rows_others_go_on(folder, capsys):
    (folder / "s.yaml").write_text(SWEEP.replace("[0 ms, 2 ms]", "[0 ms, -1 ms]"))
    assert cli.main(["sweep", "s.yaml", "--jobs", "1", "--quiet"]) == 0
    assert capsys.readouterr().out == ""
    errors = Table.load("s.nc").errors
    assert [bool(e) for e in errors] == [
        False,
        True,
    ] * 2 and "s.yaml, line 4, loop.delay" in errors[1]


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["--scheduler", "kubernetes"], "no address of a Dask scheduler"),
        (["--scheduler", "tcp://"], "no address of a Dask scheduler"),
        (["--out", "base.yaml"], "NetCDF or Parquet"),
        (["--jobs", "0"], "expected one or more"),
        (["--jobs", "x"], "invalid int"),
        (["--out", "no/t.nc"], "no such directory"),
    ],
)
def test_wrong_options_are_one_message(folder, capsys, arguments, words):
    try:
        code = cli.main(["sweep", "sweep.yaml", *arguments])
    except SystemExit as left:
        code = left.code
    said = capsys.readouterr().err
    assert code == 3 and words in said and said.count("mend:") == 1
    assert sorted(p.name for p in folder.iterdir()) == ["base.yaml", "sweep.yaml"]


def test_without_dask_a_scheduler_is_refused(folder, capsys, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert cli.main(["sweep", "sweep.yaml", "--scheduler", "tcp://127.0.0.1:8786"]) == 3
    assert "fluidproof[cluster]" in capsys.readouterr().err


def test_content_follows_the_files_a_case_names(folder):
    (folder / "path.csv").write_text("0,0\n1,0.01\n")
    recorded = re.sub(r"\{type: Sine.*\}", "{type: Recorded, file: path.csv, space: output}", BASE)
    (folder / "base.yaml").write_text(recorded)
    point = {"controller.K_p": 0.4, "loop.delay": "0 ms"}

    def hashed():
        from workbench.sweep import places

        places._hash.cache_clear()
        return digest(read_sweep("sweep.yaml").study, point)

    first = hashed()
    (folder / "base.yaml").write_text("# a remark\n" + (folder / "base.yaml").read_text())
    assert hashed() == first
    (folder / "path.csv").write_text("0,0\n1,0.02\n")
    assert hashed() != first


def test_interrupted_it_says_how_to_go_on(folder, capsys, monkeypatch):
    from workbench.sweep import cases

    runs, real = [], cases.results

    def results(case, collect):
        runs.append(case)
        if len(runs) == 3:
            raise KeyboardInterrupt
        return real(case, collect)

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(cases, "results", interrupt)
    assert cli.main(["sweep", "sweep.yaml", "--jobs", "1"]) == 130
    assert "before any case had finished" in capsys.readouterr().err and not list(
        folder.glob("sweep.nc*")
    )
    monkeypatch.setattr(cases, "results", results)
    assert cli.main(["sweep", "sweep.yaml", "--jobs", "1"]) == 130
    assert "go on with --resume" in capsys.readouterr().err and not (folder / "sweep.nc").exists()
    assert cli.main(["sweep", "sweep.yaml", "--jobs", "1", "--resume"]) == 0
    assert len(runs) == 5 and "2 of them taken from the journal" in capsys.readouterr().out
