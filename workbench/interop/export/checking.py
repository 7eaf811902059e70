"""The exported code held against the run, and looked at by tools that look at code."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from workbench.interop.export.again import given_twice
from workbench.interop.export.comparison import allowances, off_by, unshown
from workbench.interop.export.compiled import Compiled
from workbench.interop.export.package import RUN
from workbench.interop.export.replay import Replay
from workbench.numerics.compiler import NONE, compiler

# s for each tool, and for the program; cppcheck takes a minute for a thousand operations.
PATIENCE = 240.0
FATAL = "-fno-sanitize-recover=all"  # what the sanitizers find ends the program
SANITIZED = ("-std=c99", "-O1", "-g", "-ffp-contract=off", "-fsanitize=address,undefined", FATAL)
# The text as one compiler sees it: cppcheck takes a minute for each way in which it could be preprocessed.
ONE_COMPILER = "-D__GNUC__=12"
CPPCHECK = (
    "--enable=warning,portability",
    "--error-exitcode=1",
    "--quiet",
    "--std=c99",
    ONE_COMPILER,
)


@dataclass(frozen=True)
class Finding:
    """What a check says: `well` is None where it could not be made, with the reason in `words`."""

    what: str
    well: bool | None
    words: str


def in_words(finding: Finding) -> str:
    """A finding as a line."""
    word = {True: "well", False: "wrong", None: "not checked"}[finding.well]
    return f"{finding.what}: {word}: {finding.words}"


def checked(law: Compiled, run: Replay) -> list[Finding]:
    """Every check of an exported law: the replay of the run, then the tools that this machine has."""
    return [against_run(law, run), sanitized(law.folder, law.library.name), linted(law.folder)]


def checked_by_program(folder: Path, name: str) -> list[Finding]:
    """Checks of a law that is applied between samples: the program that goes with it replays the run, as only it can."""
    return [sanitized(folder, name), linted(folder)]


def against_run(law: Compiled, run: Replay) -> Finding:
    """The code given what the law saw in the run: to the last bit with doubles, within what its manifest allows else."""
    commands, why = given_twice(law.library, run, law.initial())
    if why:
        return Finding("replay", False, why)
    data = law.manifest
    return like_the_run("replay", commands, run, float(data["allowed"]), data["commands"])


def like_the_run(
    what: str,
    commands: np.ndarray,
    run: Replay,
    allowed: float,
    signals: Sequence[dict[str, str]],
    also: str = "",
) -> Finding:
    """Commands of exported code against those of a run, each within `allowed` of the largest of its unit.

    Not checked where no command changes, and where one is so small that code without it would pass. also: words that follow.
    """
    apart = off_by(commands, run.commands)
    worst = float(apart.max(initial=0.0))
    words = f"{len(run.t)} samples, " + (
        f"commands up to {worst:.3g} apart" if worst else "every command the same to the last bit"
    )
    if allowed:
        words += f", {allowed:g} of the largest is allowed"
    if not (apart <= allowances(run.commands, allowed, signals)).all():
        return Finding(what, False, words + also)
    untold = unshown(run.commands, allowed, signals)
    return Finding(what, None, untold) if untold else Finding(what, True, words + also)


def sanitized(folder: Path, name: str) -> Finding:
    """The replay under the compiler's sanitizers: memory and undefined behaviour."""
    what = "address and undefined behaviour sanitizers"
    cc = compiler()
    if cc is None:
        return Finding(what, None, NONE)
    beside = Path(tempfile.mkdtemp(prefix="fluidproof-check-"))
    try:
        program = beside / "replay"
        sources = [str(folder / "replay.c"), str(folder / f"{name}.c")]
        made = ran_within([*cc, *SANITIZED, "-o", str(program), *sources, "-lm"])
        if made is None or made.returncode:
            return Finding(what, None, "this compiler has none")
        ran = ran_within([str(program), str(folder / RUN)])
        if ran is None:
            return Finding(what, None, f"it did not end within {PATIENCE:g} s")
        said = (ran.stderr or ran.stdout).strip().splitlines()
        return Finding(what, ran.returncode == 0, said[0][:200] if said else "")
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def linted(folder: Path, spared: Sequence[str] = ()) -> Finding:
    """cppcheck without findings, where it is installed; spared: names of checks that are not made."""
    tool = shutil.which("cppcheck")
    if tool is None:
        return Finding("cppcheck", None, "it is not installed")
    ran = ran_within([tool, *CPPCHECK, *(f"--suppress={name}" for name in spared), str(folder)])
    if ran is None:
        return Finding("cppcheck", None, f"it did not end within {PATIENCE:g} s")
    said = ran.stderr.strip().splitlines()
    return Finding("cppcheck", ran.returncode == 0, said[0][:200] if said else "nothing found")


def ran_within(
    command: list[str], patience: float = PATIENCE
) -> subprocess.CompletedProcess[str] | None:
    """A command that has ended; None where it did not within `patience`, s."""
    try:
        return subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=patience,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None
