"""Two versions of the package side by side: the wheel of a commit, built and unpacked into a folder of its own."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from common import ROOT

VERIFY = (  # the command of whichever version comes first on the path
    "import sys; from importlib.metadata import distribution\n"
    "(command,) = distribution('fluidproof').entry_points.select(name='verify-stability')\n"
    "sys.exit(command.load()())"
)


@dataclass(frozen=True)
class Version:
    """A commit as its users have it: the unpacked wheel, and the case as it is written in that commit."""

    commit: str
    words: str
    site: Path
    case: Path
    cache: Path
    report: Path


@dataclass(frozen=True)
class Timed:
    """One run of the command: wall and processor time in seconds (children included), and its exit code."""

    wall: float
    processor: float
    code: int


def said(*command: str) -> str:
    """What a command of git or pip prints; its own words as SystemExit where it fails."""
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines()
        raise SystemExit(f"{' '.join(command)} failed: {lines[-1] if lines else 'without a word'}")
    return done.stdout.strip()


def built(commit: str, case: str, folder: Path) -> Version:
    """The wheel of `commit`, built from its own files and unpacked under `folder`; `case`: a file of the repository."""
    source = folder / "source"
    wheels = folder / "wheels"
    site = folder / "site"
    source.mkdir(parents=True)
    packed = folder / "source.tar"
    said("git", "archive", "--format=tar", f"--output={packed}", commit)
    said("tar", "-x", "-f", str(packed), "-C", str(source))
    said(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(wheels), str(source))
    (wheel,) = wheels.glob("*.whl")
    said(
        sys.executable,
        "-m",
        "pip",
        "install",
        "-q",
        "--no-deps",
        "--target",
        str(site),
        str(wheel),
    )
    words = said("git", "log", "-1", "--format=%h %s", commit)
    return Version(commit, words, site, source / case, folder / "cache", folder / "report.pdf")


def run(version: Version, cache: Path) -> Timed:
    """`verify-stability CASE --report` of that wheel as a whole process."""
    environment = os.environ | {"PYTHONPATH": str(version.site), "FLUIDPROOF_CACHE": str(cache)}
    command = [
        sys.executable,
        "-c",
        VERIFY,
        str(version.case),
        "--report",
        str(version.report),
        "--quiet",
    ]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.perf_counter()
    done = subprocess.run(
        command, cwd=version.site.parent, env=environment, capture_output=True, check=False
    )
    wall = time.perf_counter() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Timed(wall, used, done.returncode)


def alternating(
    versions: tuple[Version, Version], repeat: int, fresh: bool
) -> tuple[list[Timed], list[Timed]]:
    """Each version `repeat` times, in turns that begin with the one and the other; fresh: an empty cache every time."""
    found: tuple[list[Timed], list[Timed]] = ([], [])
    for turn in range(repeat):
        for which in (0, 1) if turn % 2 == 0 else (1, 0):
            with tempfile.TemporaryDirectory() as empty:
                cache = Path(empty) if fresh else versions[which].cache
                found[which].append(run(versions[which], cache))
    return found


def compared(what: str, before: list[Timed], now: list[Timed]) -> str:
    """Two lines of medians and extremes, and their ratio."""
    width = 10
    lines = [
        f"{what:34}  {'wall, s':>{width}}  {'best':>{width}}  {'worst':>{width}}  {'processor':>{width}}  exit"
    ]
    for name, runs in (("before", before), ("now", now)):
        wall = [one.wall for one in runs]
        used = median(one.processor for one in runs)
        codes = ",".join(str(code) for code in sorted({one.code for one in runs}))
        lines.append(
            f"  {name:32}  {median(wall):{width}.2f}  {min(wall):{width}.2f}  {max(wall):{width}.2f}  "
            f"{used:{width}.2f}  {codes}"
        )
    wall = median(one.wall for one in now) / median(one.wall for one in before)
    best = min(one.wall for one in now) / min(one.wall for one in before)
    used = median(one.processor for one in now) / median(one.processor for one in before)
    lines.append(
        f"  {'now / before':32}  {wall:{width}.2f}  {best:{width}.2f}  {'':{width}}  {used:{width}.2f}"
    )
    return "\n".join(lines)


def compare(before: str, now: str, case: str, repeat: int) -> None:
    """Print the command's time, warm and on first use, of the wheels of two commits."""
    with tempfile.TemporaryDirectory() as folder:
        versions = tuple(
            built(commit, case, Path(folder) / name)
            for name, commit in (("before", before), ("now", now))
        )
        for name, version in zip(("before", "now"), versions):
            print(f"{name:6} {version.words}")
        first = alternating(versions, max(1, repeat // 2), fresh=True)
        print(compared(f"{case} --report, first use", *first), flush=True)
        for version in versions:
            version.cache.mkdir(mode=0o700)
            run(version, version.cache)
        warm = alternating(versions, repeat, fresh=False)
        print(compared(f"{case} --report, warm", *warm), flush=True)
