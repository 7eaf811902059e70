"""Verifying one case again and again: in a process of its own, which ends as soon as the file has changed once more."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import NamedTuple

PAUSE = 0.25  # s between two looks at the files
NAMED = re.compile(r"[\w./ -]+\.(?:ya?ml|csv|nc|mat|fmu)\b")  # files that a case may rest on
COMMAND = (sys.executable, "-m", "workbench.commands.cli", "report")
ENDED = "the verification ended without a page and without a word"


class State(NamedTuple):
    """Which page is the newest (0: none yet), whether one is being made, what is wrong with the file as it is ("": nothing)."""

    version: int = 0
    running: bool = True
    message: str = ""


class Runs:
    """The page of a case, made anew whenever a file it rests on changes. `start`, then `state` and `page`; `stop` at the end.

    Threads may ask at any time. A page that was made stays until a better one is there, so an error in the file costs none.
    """

    def __init__(self, file: str, command: tuple[str, ...] = COMMAND):
        self.file = file
        self.command = command
        self.state = State()
        self.page = b""
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def start(self) -> None:
        """Verify for the first time, and go on watching."""
        self._thread.start()

    def stop(self) -> None:
        """End the verification that is running, and wait for its process."""
        self._ending.set()
        self._thread.join()

    def _watch(self) -> None:
        with tempfile.TemporaryDirectory(prefix="fluidproof-view-") as folder:
            made = Path(folder) / "page.html"
            while not self._ending.is_set():
                seen = stamps(self.file)
                self._verify(made, seen)
                while not self._ending.wait(PAUSE) and stamps(self.file) == seen:
                    pass

    def _verify(self, made: Path, seen: dict) -> None:
        """Make a page of the files as they are, unless they change meanwhile."""
        self.state = self.state._replace(running=True)
        command = [*self.command, "-o", str(made), "--", self.file]
        with tempfile.TemporaryFile() as told:
            child = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=told,
                start_new_session=True,  # Ctrl-C is for us, and we end it
            )
            try:
                if not self._ended(child, seen):
                    return
            finally:
                child.kill()
                child.wait()
            told.seek(0)
            words = told.read().decode("utf-8", "replace").strip()
        self._tell(child.returncode, made, words)

    def _ended(self, child: subprocess.Popen, seen: dict) -> bool:
        """Whether the verification came to its end before a file changed or all shall end."""
        while child.poll() is None:
            if self._ending.wait(PAUSE) or stamps(self.file) != seen:
                return False
        return True

    def _tell(self, code: int, made: Path, words: str) -> None:
        if code == 0 and made.exists():
            self.page = made.read_bytes()
            self.state = State(self.state.version + 1, False, "")
        else:
            self.state = State(self.state.version, False, words or ENDED)


def stamps(file: str) -> dict[str, tuple[int, int]]:
    """When the file and those that it names were changed, and their sizes; a file that is not there has none."""
    found: dict[str, tuple[int, int]] = {}
    for path in (Path(file), *_named(Path(file))):
        try:
            known = os.stat(path)
        except OSError:
            continue
        found[str(path)] = (known.st_mtime_ns, known.st_size)
    return found


def _named(file: Path) -> list[Path]:
    """Files beside the case that its text names."""
    try:
        text = file.read_text("utf-8", "replace")
    except OSError:
        return []
    return [file.parent / name.strip() for name in NAMED.findall(text)]
