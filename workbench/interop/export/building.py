"""An exported law built: its source compiled here, or a library that somebody compiled opened."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from workbench.contract.errors import InputError
from workbench.interop.export.library import Library
from workbench.numerics.compiler import MEND, NONE, compiler

FLAGS = ("-std=c99", "-O2", "-ffp-contract=off", "-fPIC", "-shared")
PATIENCE = 240.0  # s for the compiler


def opened(path: Path, data: dict[str, Any]) -> Library:
    """The library in a file, as its manifest describes it."""
    sizes = {
        "parameters": len(data["parameters"]),
        "constants": int(data["constants"]),
        "memory": len(data["memory"]),
        "inputs": 1 + len(data["measured"]) + len(data["references"]),
        "outputs": len(data["commands"]),
    }
    return Library(path, data["name"], sizes, bool(data["single"]), data["digest"])


def built(folder: Path, data: dict[str, Any], flags: Sequence[str] = ()) -> Library:
    """The law compiled into a folder of its own, and loaded."""
    cc = compiler()
    if cc is None:
        raise InputError(NONE, mend=MEND)
    name = data["name"]
    beside = Path(tempfile.mkdtemp(prefix="fluidproof-law-"))
    try:
        target = beside / f"{name}.so"
        _compiled(
            [*cc, *FLAGS, *flags, "-o", str(target), str(folder / f"{name}.c"), "-lm"], folder
        )
        return opened(target, data)
    finally:
        shutil.rmtree(beside, ignore_errors=True)  # what is loaded stays loaded


def _compiled(command: list[str], folder: Path) -> None:
    try:
        run = subprocess.run(
            command, capture_output=True, timeout=PATIENCE, stdin=subprocess.DEVNULL, check=False
        )
    except subprocess.TimeoutExpired:
        raise InputError(
            f"the compiler did not end within {PATIENCE:g} s",
            file=str(folder),
            mend="use another one ($CC)",
        ) from None
    if run.returncode:
        said = run.stderr.decode("utf-8", "replace").strip().splitlines()
        raise InputError(
            f"the exported law cannot be compiled: {said[0][:200] if said else run.returncode}",
            file=str(folder),
            mend="export it again",
        )
