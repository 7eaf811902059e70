"""`workbench export`: what it writes of each part, and what it refuses before anything is written."""

import argparse
import json
import re
import zipfile
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from exported_parts import LOOP, scenario

from workbench import InputError
from workbench.commands.cli import main
from workbench.interop.export import command, heading, system_command
from workbench.interop.export.options import export_options
from workbench.numerics.compiler import compiler
from workbench.verification.judge import Examination
from workbench.verification.verdict import Verdict

EXAMPLES = Path(__file__).parents[1] / "examples"
BROKEN = Verdict("stability", "the loop is <stable>", False, "sampled", -0.2, "m")
TOLD = json.loads(json.dumps([BROKEN.as_dict()]))
AXIS = """
plant: ieha-published-linear
controller: {law: PID, K_p: 0.4, K_i: 2, K_d: 0.001 s, feed: gain, K_v: 0.0087}
scenario: {duration: 0.1 s}
"""


def exported(monkeypatch, tmp_path, *words, report=None):
    """Exit code of the command on the small axis, whose claims are stubbed."""
    for module in (command, system_command):
        monkeypatch.setattr(module, "examine", lambda *_: Examination([BROKEN], None, {}))
    parser = argparse.ArgumentParser()
    export_options(parser)
    options = parser.parse_args([*words, "--quiet"])
    options.set = []
    (tmp_path / "axis.yaml").write_text("plant: axis\n")
    case = SimpleNamespace(
        loop=LOOP,
        scenario=scenario(0.02),
        claims=None,
        path=str(tmp_path / "axis.yaml"),
        name="axis",
        located=lambda *_: nullcontext(),
    )
    monkeypatch.setattr(command.terminal, "title", lambda _: "axis")
    return command.run_export(options, case, "2026-01-01", report)


@pytest.mark.skipif(compiler() is None, reason="no C compiler")
@pytest.mark.parametrize("part", ["controller", "plant", "loop"])
def test_folder_and_unit_carry_the_verdicts(part, monkeypatch, tmp_path):
    folder, unit = tmp_path / "code", tmp_path / "unit.fmu"
    words = ["--c", str(folder), "--fmu", str(unit), "--part", part]
    assert exported(monkeypatch, tmp_path, *words) == 1  # the claim is violated, and it is written
    name = {"controller": "law"}.get(part, part)
    header = (folder / f"{name}.h").read_text()
    assert f"axis: its {name}, exported 2026-01-01" in header
    assert "NOT every counted claim holds" in header and "violated" in header
    assert json.loads((folder / f"{name}.json").read_text())["verdicts"] == TOLD
    with zipfile.ZipFile(unit) as archive:
        told = json.loads(archive.read("resources/verdicts.json"))
        assert told["part"] == part and told["verdicts"] == TOLD
        assert archive.read("resources/case.yaml") == b"plant: axis\n"
        page = archive.read("documentation/index.html").decode()
        assert "NOT every" in page and "&lt;stable&gt;" in page and "<stable>" not in page
        assert f"sources/{name}.c" in archive.namelist()


@pytest.mark.skipif(compiler() is None, reason="no C compiler")
@pytest.mark.parametrize("part", ["controller", pytest.param("loop", marks=pytest.mark.long)])
def test_a_report_has_a_chapter_on_the_code(part, monkeypatch, tmp_path):
    from io import BytesIO

    from pypdf import PdfReader

    from reports import Content, rendered
    from reports.page.document import page

    seen = []
    write = lambda path, case, examination: seen.append((path, examination))
    folder = tmp_path / "code"
    words = ["--c", str(folder), "--part", part, "--check", "--report", "r.pdf"]
    assert exported(monkeypatch, tmp_path, *words, report=write) == 1
    ((path, examination),) = seen
    content = Content("A case", "Is it?", (BROKEN,), analysis=examination.analysis)
    pages = PdfReader(BytesIO(rendered(content))).pages
    text = " ".join("\n".join(page.extract_text() for page in pages).split())
    name = {"controller": "law"}.get(part, part)
    digest = json.loads((folder / f"{name}.json").read_text())["digest"]
    assert path == "r.pdf" and "Exported code" in text and digest in text
    assert "sanitizers well" in text and "sample time 1 ms" in text
    shown = page(content)
    assert 'id="exported"' in shown and digest in shown and ">well</span>" in shown
    assert 'id="exported"' not in page(replace(content, analysis={}))
    empty = PdfReader(BytesIO(rendered(replace(content, analysis={})))).pages
    assert all("Exported code" not in page.extract_text() for page in empty)


@pytest.mark.parametrize(
    "words, said",
    [
        (["--part", "plant"], "nothing is asked for"),
        (["--part", "plant", "--st", "a.st"], "--st is about the law"),
        (["--part", "loop", "--c", "new", "--float"], "--float is about the law"),
        (["--part", "loop", "--c", "new", "--judge"], "--judge is about the law"),
        (["--part", "loop", "--fmu", "a.fmu", "--check"], "are about C"),
        (["--fmu", "a.fmu", "--float"], "an FMU has doubles"),
        (["--fmu", "there.fmu"], "already"),
        (["--fmu", "a.st", "--st", "a.st"], "--st would overwrite --fmu"),
        (["--fmu", "a.fmu", "--report", "axis.yaml"], "--report would overwrite the case file"),
        (["--fmu", "nowhere/a.fmu"], "no such directory"),
        (["--c", "nowhere/a"], "no such directory"),
    ],
)
def test_what_cannot_be_written_is_said_and_nothing_is(words, said, monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "axis.yaml").write_text(AXIS)
    (tmp_path / "there.fmu").write_text("mine")
    assert main(["export", "axis.yaml", *words]) == 3
    assert re.search(said, capsys.readouterr().err)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["axis.yaml", "there.fmu"]
    assert (tmp_path / "there.fmu").read_text() == "mine"


@pytest.mark.parametrize("word", ["half", "all"])
def test_other_parts_are_unknown(word, capsys, tmp_path):
    (tmp_path / "axis.yaml").write_text(AXIS)
    with pytest.raises(SystemExit, match="3"):
        main(["export", str(tmp_path / "axis.yaml"), "--part", word])
    assert "controller" in capsys.readouterr().err


@pytest.mark.parametrize("part", ["controller", "loop"])
def test_a_full_disk_leaves_nothing(part, monkeypatch, tmp_path):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("workbench.files.atomic.os.replace", full)
    with pytest.raises(InputError, match="the disk is full"):
        targets = ["--c", str(tmp_path / "code"), "--fmu", str(tmp_path / "unit.fmu")]
        exported(monkeypatch, tmp_path, *targets, "--part", part)
    assert [p.name for p in tmp_path.iterdir()] == ["axis.yaml"]


def test_what_another_program_wrote_meanwhile_stays(monkeypatch, tmp_path):
    """Taken away is what the command wrote, and not what stood in its way."""
    unit = tmp_path / "unit.fmu"

    def meanwhile(*_):
        unit.write_text("mine")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("workbench.files.atomic.os.replace", meanwhile)
    with pytest.raises(InputError):
        exported(monkeypatch, tmp_path, "--c", str(tmp_path / "code"), "--fmu", str(unit))
    assert unit.read_text() == "mine" and not (tmp_path / "code").exists()


@pytest.mark.parametrize(
    "words, said",
    [
        (["linear-mpc", "--fmu", "a.fmu", "--st", "a.st"], "no structured text"),
        (["linear-mpc", "--fmu", "a.fmu", "--c", "new", "--float"], "solved to 1e-10"),
        (["ieha-pid-tuned", "--c", "new", "--ros2", "axis_law"], "runs at samples alone"),
        (["ieha-pid-tuned", "--c", "new", "--st", "a.st"], "task runs at samples alone"),
        (["ieha-pid-tuned", "--c", "new", "--fmu", "a.fmu"], "from sample to sample"),
        (["ieha-pid-tuned", "--c", "new", "--check", "--judge"], "applied between samples"),
        (["ieha-pid-tuned", "--c", "new", "--processor", "cortex-m7"], "applied between samples"),
    ],
)
def test_a_law_that_a_target_cannot_hold_is_refused_before_anything_runs(
    words, said, monkeypatch, tmp_path, capsys
):
    def verified(*_):
        raise AssertionError("it ran")

    monkeypatch.setattr(command, "examine", verified)
    monkeypatch.chdir(tmp_path)
    name, *targets = words
    assert main(["export", str(EXAMPLES / f"{name}.yaml"), *targets]) == 3
    assert said in capsys.readouterr().err and not list(tmp_path.iterdir())


# ---- what the first lines say ----------------------------------------------------------------------------------------------
STABLE = Verdict("linear-stability", "it is stable", True, "proof")
QUIET = Verdict("settled", "nothing swings", True, "sampled")


@pytest.mark.parametrize(
    "verdicts, said",
    [
        ([STABLE, QUIET], "exit 0: every counted claim holds"),
        ([QUIET], "exit 0: every counted claim holds; stability was not asked"),
        (
            [replace(STABLE, holds=False, counted=False), QUIET],
            "exit 0: every counted claim holds; stability does not count: linear-stability violated",
        ),
        ([STABLE, BROKEN], "exit 1: NOT every counted claim holds"),
        ([replace(STABLE, holds=None), QUIET], "exit 2: NOT every counted claim holds"),
    ],
)
def test_the_header_says_so_where_stability_was_not_asked(monkeypatch, verdicts, said):
    monkeypatch.setattr(heading.terminal, "title", lambda _: "axis")
    options = SimpleNamespace(part="controller", set=[], float=False)
    lines = heading.header(None, options, "2026-01-01", verdicts)
    assert lines[1] == said and any("nothing swings" in line for line in lines) is (
        QUIET in verdicts
    )


@pytest.mark.skipif(compiler() is None, reason="no C compiler")
@pytest.mark.parametrize("well", [True, False])
def test_a_law_that_is_applied_between_samples_is_checked_by_its_program(
    monkeypatch, tmp_path, capsys, well
):
    """Its code cannot be called once a sample; the program replays samples and releases. A command of the run that is not its own
    is wrong."""
    file, folder = tmp_path / "axis.yaml", tmp_path / "code"
    file.write_text(AXIS + "loop: {sample_time: 1 ms, delay: 1.5 ms}\n")
    written = command.export_law

    def spoilt(*given, **kept):
        made = written(*given, **kept)
        lines = (folder / "run.csv").read_text().splitlines()
        *row, last = lines[-1].split()
        lines[-1] = " ".join([*row, str(2 * float(last) + 1.0)])
        (folder / "run.csv").write_text("\n".join(lines) + "\n")
        return made

    if not well:
        monkeypatch.setattr(command, "export_law", spoilt)
    claims = ["--set", "claims.practical-stability=false"]
    code = main(["export", str(file), "--c", str(folder), "--check", *claims])
    said = capsys.readouterr().out
    if "this compiler has none" in said:
        pytest.skip("no sanitizers")
    assert ("sanitizers: well" in said) is well and ("sanitizers: wrong" in said) is not well
    assert well or code == 1
