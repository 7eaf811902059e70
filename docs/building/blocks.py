"""The code blocks of a page, in order, and what it means to run them.

yaml      a case file: loaded, and kept under the name in its first line (`# axis.yaml`). A piece of one (sections without a
          `plant`) is loaded with a plant; what has no section at all is only parsed
python    executed, one after the other, in one set of names for the page
console   commands behind `$ `, run in the page's folder; `# exit 1` behind one says how it ends (0 where nothing is said)
text      what is printed or written elsewhere: not run
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

DOCS = Path(__file__).parents[1]
FENCE = re.compile(r"^(`{3,})([^\n`]*)\n(.*?)^\1$", re.MULTILINE | re.DOTALL)
NOT_RUN = ("python3 -m venv", ".venv/bin/", "pip install", "sphinx-build", "git ")  # installing
RUN = ("yaml", "python", "console")


@dataclass(frozen=True)
class Block:
    """A piece of code on a page: its language, its text, the line that it begins in."""

    language: str
    text: str
    line: int


def blocks(text: str) -> Iterator[Block]:
    """The code blocks of a page that are run."""
    for found in FENCE.finditer(text):
        if found[2] in RUN:
            yield Block(found[2], found[3], text[: found.start()].count("\n") + 2)


def pages() -> list[Path]:
    """The pages that are written by hand and have blocks to run."""
    written = sorted(DOCS.glob("*.md")) + sorted(
        path
        for folder in ("start", "guides", "help", "theory", "parts")
        for path in (DOCS / folder).rglob("*.md")
    )
    return [path for path in written if any(blocks(path.read_text("utf-8")))]


class Folder:
    """A folder in which a page is followed: the machines that pages name are there, and what its blocks write.

    Raises AssertionError, with file and line, for a block that does not do what it says.
    """

    def __init__(self, page: Path, at: Path):
        self.page = page
        self.at = at
        self.names: dict = {"__name__": "page"}
        for path in (DOCS / "examples").glob("*.*"):
            shutil.copy(path, at)
        shutil.copytree(DOCS.parent / "examples", at / "examples")

    def follow(self) -> None:
        """Run every block."""
        with contextlib.chdir(self.at):
            for block in blocks(self.page.read_text("utf-8")):
                try:
                    getattr(self, f"_{block.language}")(block.text)
                except (Exception, SystemExit) as why:
                    raise AssertionError(f"{self.page}, line {block.line}: {why!r}") from why

    def _yaml(self, text: str) -> None:
        from workbench.cases.file import loads
        from workbench.cases.form import SECTIONS
        from workbench.cases.yaml_input import parse
        from workbench.contract.trust import trusting

        name = re.match(r"# ([\w.-]+\.yaml)\n", text)
        if name:
            Path(name[1]).write_text(text, "utf-8")
        node = parse(text, name[1] if name else "block.yaml")
        keys = set(node.value) if isinstance(node.value, dict) else set()
        if keys and keys <= set(SECTIONS):
            if "plant" not in keys:
                text = f"plant: ieha-published-linear\n{text}"
            with trusting():  # code that the page itself has exported
                case = loads(text, str(Path(name[1] if name else "block.yaml").resolve()))
            self.names |= {"case": case, "loop": case.loop, "scenario": case.scenario}

    def _python(self, text: str) -> None:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(text, str(self.page), "exec", dont_inherit=True), self.names)

    def _console(self, text: str) -> None:
        for line in re.findall(r"^\$ (.*)$", text, re.MULTILINE):
            command, _, comment = line.partition("  # ")
            if not command.startswith(NOT_RUN):
                allowed = [int(code) for code in re.findall(r"\d+", comment)] or [0]
                code = _ran(command)
                assert code in allowed, f"{command}: exit {code}"


def _ran(command: str) -> int:
    """Exit code of a command of this repository, run in this process."""
    from workbench.commands import cli

    name, *words = shlex.split(command)
    act = {"verify-stability": cli.verify_stability, "workbench": cli.main}[name]
    os.environ.setdefault("COLUMNS", "140")
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        try:
            return int(act(words) or 0)
        except SystemExit as left:
            return int(left.code or 0)
