"""What is run while the site is built: examples of claims, scripts of the gallery, pictures. Two at once, each kept until what it
rests on changes: its own text, or the packages.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import re
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from docs.building.runner import work

DOCS = Path(__file__).parents[1]
ROOT = DOCS.parent
RAN = DOCS / "_build" / "ran"
PACKAGES = ("workbench", "plants", "controllers", "reports", "docs/building")
KINDS = (".py", ".c", ".h", ".yaml")
FENCE = re.compile(r"^(`{3,})\{(verdict|drawn)\} *(.*?)\n(.*?)^\1$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Job:
    """Something to run: kind, its words, its text."""

    kind: str
    words: tuple[str, ...]
    text: str = ""
    options: tuple[tuple[str, str], ...] = field(default=())

    @property
    def folder(self) -> Path:
        """Where its results are."""
        whole = json.dumps([self.kind, self.words, self.text, self.options, state()])
        return RAN / hashlib.sha256(whole.encode()).hexdigest()[:24]

    @property
    def told(self) -> dict:
        """What it found; {"error": …} where it could not be run."""
        return json.loads((self.folder / "told.json").read_text("utf-8"))


@cache
def state() -> str:
    """A digest of everything that results rest on."""
    found = hashlib.sha256()
    places = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*"))]
    beside = [
        p for folder in ("examples", "parts") for p in sorted((DOCS / folder).rglob("*.yaml"))
    ]
    for path in [*places, *beside]:
        if path.suffix in KINDS:
            found.update(path.read_bytes())
    return found.hexdigest()


def in_text(text: str) -> Iterator[Job]:
    """The jobs that a page's directives ask for."""
    for _, kind, words, body in FENCE.findall(text):
        options, content = split(body)
        yield Job(kind, tuple(words.split()), content, options)


def split(body: str) -> tuple[tuple[tuple[str, str], ...], str]:
    """(options, content) of a directive's body, as Sphinx reads it."""
    options = []
    lines = body.splitlines()
    while lines and (found := re.fullmatch(r":([\w-]+): *(.*)", lines[0])):
        options.append((found[1], found[2].strip()))
        lines.pop(0)
    return tuple(sorted(options)), "\n".join(lines).strip("\n")


def asked(sources: Iterable[Path]) -> list[Job]:
    """Every job of these pages and of the gallery, each once."""
    from docs.building import gallery

    found = [job for path in sources for job in in_text(path.read_text("utf-8"))]
    found += [Job("gallery", (entry.name,), entry.code) for entry in gallery.entries()]
    return list(dict.fromkeys(found))


def run(jobs: Iterable[Job], tell=print) -> None:
    """Run those that have not been run, in processes beside each other that begin anew."""
    waiting = [job for job in jobs if not (job.folder / "told.json").exists()]
    if not waiting:
        return
    threads = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    os.environ.update(threads | {"MPLBACKEND": "agg"})
    workers = int(os.environ.get("FLUIDPROOF_DOCS_JOBS", min(4, os.cpu_count() or 1)))
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max(1, workers), mp_context=context) as pool:
        going = {pool.submit(work, *_asked(job)): job for job in waiting}
        for i, done in enumerate(as_completed(going)):
            done.result()
            job = going[done]
            tell(f"ran {i + 1} of {len(waiting)}: {job.kind} {' '.join(job.words)}")


def _asked(job: Job) -> tuple:
    return job.kind, job.words, job.text, dict(job.options), str(job.folder)
