"""An exported law as a controller: what runs is the code, so every claim is asked of the code."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.system import Signal
from workbench.interop.export.library import Library
from workbench.interop.export.package import MANIFEST, digest_of
from workbench.numerics.compiler import compiler

MOST = 4_000_000  # bytes of a manifest that are read
FLAGS = ("-std=c99", "-O2", "-ffp-contract=off", "-fPIC", "-shared")
PATIENCE = 240.0  # s for the compiler


class Compiled:
    """An exported law, compiled here and called at every sample.

    folder: what `workbench export --c` wrote. Its code is compiled and **run in this process**: give only what you trust.

    Raises InputError for a folder that holds no law, for files that are not those that were written, for numbers in the library
    that the verdicts are not of, for a law that is applied between samples, and where no compiler is found.
    """

    def __init__(self, folder: str | os.PathLike) -> None:
        self.folder = Path(folder)
        data = read_manifest(self.folder)
        check_files(self.folder, data)
        if data["lag"]:
            raise InputError(
                f"the law is applied {data['lag']:g} s after its sample, which only the exported program does",
                file=str(self.folder),
                mend="export the law without the delay, and put Delayed(…) around it here",
            )
        self.manifest = data
        self.T_s = float(data["sample_time"])
        self.measured = _signals(data["measured"])
        self.references = _signals(data["references"])
        self.commands = _signals(data["commands"])
        self.library = built(self.folder, data)
        check_numbers(self.library, data, self.folder)

    def initial(self) -> np.ndarray:
        return np.array(self.manifest["initial"], self.library.kind)

    def start(self, t: float, z: np.ndarray, y: Sequence[float], r: Sequence[float]) -> np.ndarray:
        return self.library.start(np.array([t, *y, *r]), z)

    def step(self, t: float, z: np.ndarray, y: Sequence[float], r: Sequence[float]) -> tuple:
        memory, u = self.library.step(np.array([t, *y, *r]), z)
        return memory, [float(v) for v in u]

    def __deepcopy__(self, memo: Any) -> Compiled:
        return self  # it keeps nothing from sample to sample


def _signals(given: Sequence[dict[str, str]]) -> tuple[Signal, ...]:
    return tuple(Signal(s["name"], s["unit"], s["meaning"], s["kind"]) for s in given)


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of an exported law; InputError where there is none that can be read."""
    path = folder / MANIFEST
    try:
        if path.stat().st_size > MOST:
            raise ValueError("it is too large")
        data = json.loads(path.read_text("utf-8"))
        if data["format"] != "fluidproof exported law 1":
            raise ValueError("it is of another version")
        for key in ("name", "digest", "sample_time", "lag", "initial", "sha256", "constants"):
            data[key]
    except (OSError, ValueError, KeyError, TypeError) as why:
        raise InputError(
            f"this is no exported law: {MANIFEST}: {why}",
            file=str(folder),
            mend="write one with workbench export FILE --c FOLDER",
        ) from None
    return data


def check_files(folder: Path, data: dict[str, Any]) -> None:
    """InputError where header or source are not, byte by byte, those that the verdicts were given for."""
    for name, wanted in data["sha256"].items():
        try:
            body = (folder / Path(name).name).read_bytes()
        except OSError as why:
            raise InputError(
                f"{name} cannot be read: {why.strerror}",
                file=str(folder),
                mend="export the law again",
            ) from None
        if hashlib.sha256(body).hexdigest() != wanted:
            raise InputError(
                f"{name} was changed after it was exported, and the verdicts are not of it",
                file=str(folder / name),
                mend="change the case file and export again",
            )


def check_numbers(library: Library, data: dict[str, Any], folder: Path) -> None:
    """InputError where the numbers in a library are not those of the verdicts."""
    found = digest_of(data["parameters"], library.parameters, library.constants)
    if found != data["digest"]:
        raise InputError(
            f"the numbers in the library are not those of the verdicts: digest {found}, not {data['digest']}",
            file=str(folder),
            mend="build the library from the files that were exported",
        )


def built(folder: Path, data: dict[str, Any], flags: Sequence[str] = ()) -> Library:
    """The law compiled into a folder of its own, and loaded."""
    cc = compiler()
    if cc is None:
        raise InputError("no C compiler was found", mend="install gcc or clang")
    name = data["name"]
    sizes = {
        "parameters": len(data["parameters"]),
        "constants": int(data["constants"]),
        "memory": len(data["memory"]),
        "outputs": len(data["commands"]),
    }
    beside = Path(tempfile.mkdtemp(prefix="fluidproof-law-"))
    try:
        target = beside / f"{name}.so"
        _compiled([cc, *FLAGS, *flags, "-o", str(target), str(folder / f"{name}.c"), "-lm"], folder)
        return Library(target, name, sizes, bool(data["single"]))
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
