"""The documents tell the truth: commands, examples, links and exit codes."""

import re
import shlex
import subprocess
from pathlib import Path

import pytest

from plants import machines
from workbench.cases.file import laws, loads
from workbench.cases.form import SECTIONS, claim_names
from workbench.commands import cli, grammar
from workbench.verification.claims import Claim

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
GUIDES = README + "".join(path.read_text("utf-8") for path in sorted((ROOT / "docs").glob("*.md")))
CI = (ROOT / ".ci" / "run").read_text("utf-8")


def blocks(language):
    """Code blocks of the README in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("text", blocks("python"))
def test_python_runs_as_printed(text, capsys):
    exec(compile(text, "README.md", "exec"), {"__name__": "readme"})
    assert "holds" in capsys.readouterr().out


@pytest.mark.parametrize("text", blocks("yaml"))
def test_case_files_load_as_printed(text):
    case = loads(text, "README.yaml")
    assert case.loop.period == 2e-3 and case.plant.payload.mass == 50.0


def test_one_line_commands():
    run, test = (line.strip() for line in blocks("sh"))
    for line in (run, test):
        assert (
            line.startswith("python3 -m venv .venv && .venv/bin/pip install -q ")
            and "\n" not in line
        )
    assert test in CI.splitlines(), "continuous integration must run the README's own command"
    file, *options = shlex.split(run.split("verify-stability ")[1])
    assert (ROOT / file).is_file() and options == ["--report", "report.pdf"]


def test_commands_and_options_exist(capsys):
    lines = re.findall(r"^    ((?:verify-stability|workbench) .*)$", GUIDES, re.MULTILINE)
    assert len(lines) >= 4
    for line in lines:
        command, *words = shlex.split(line, comments=True)
        act = {"verify-stability": cli.verify_stability, "workbench": cli.main}[command]
        verb = words[:1] if command == "workbench" else []
        with pytest.raises(SystemExit) as left:
            act([*verb, "--help"])
        assert left.value.code == 0
        usage = capsys.readouterr().out
        assert all(option in usage for option in words if option.startswith("--"))


def test_the_readme_is_short():
    assert len(README.splitlines()) <= 150


def test_exit_codes_are_those_of_the_command():
    table = dict(re.findall(r"^\| (\d+) \| (.*?) \|$", README, re.MULTILINE))
    told = dict(re.findall(r"^  (\d+) +(.*)$", grammar.CODES, re.MULTILINE))
    assert table == told


def test_sections_and_names_exist():
    sections = set(re.findall(r"^\| `(\w+)` \| ", README, re.MULTILINE))
    assert sections == set(SECTIONS)
    words = set(re.findall(r"`([\w-]+)`", GUIDES))
    assert {"VDC", "PID"} <= words & set(laws())
    assert {w for w in words if w.endswith(("-stability", "-limit"))} - {"verify-stability"} <= set(
        claim_names(Claim)
    )
    named = set(re.findall(r"(?:workbench init|machine:) (\w[\w-]*)", README)) | set(
        re.findall(r'machine\("(.*?)"\)', README)
    )
    assert named and named <= set(machines())


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_and_paths_exist(document):
    text = document.read_text("utf-8")
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        assert target.startswith("https://") or (document.parent / target).exists(), target
    for path in re.findall(r"`([\w.-]+(?:/[\w.-]+)+/?)`", text):
        assert (ROOT / path).exists(), path


def test_names_in_contributing_exist():
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    named = re.findall(r"`(\w+)(?:\(\))?`\s+(?:of|in)\s+`([\w/.]+\.py)`", text)
    assert len(named) >= 6
    for name, file in named:
        assert re.search(rf"\b{name}\b", (ROOT / file).read_text("utf-8")), (name, file)


def test_continuous_integration_is_a_script_that_stops_at_the_first_failure():
    assert subprocess.run(["bash", "-n", str(ROOT / ".ci" / "run")]).returncode == 0
    assert "set -euo pipefail" in CI and (ROOT / ".ci" / "run").stat().st_mode & 0o100
