"""An exported law as a controller: what runs is the code, so every claim is asked of the code."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, final

import numpy as np

from workbench.contract.declared import LawData
from workbench.contract.errors import InputError
from workbench.contract.system import Signal
from workbench.interop.export.again import check_run
from workbench.interop.export.building import built, opened
from workbench.interop.export.library import Library
from workbench.interop.export.manifest import (
    check_files,
    check_header,
    check_numbers,
    folder_of,
    read_manifest,
)


@final
@dataclass(frozen=True, eq=False)
class Compiled(LawData):
    """An exported law, compiled and called at every sample.

    path: the folder that `workbench export --c` wrote, whose code is compiled here; or a library that was built from it, beside
    its `law.json` or one folder below. digest: the digest of the law's numbers that is expected; "" accepts that of the folder.
    The code is **run in this process**: give only what you trust.

    Raises InputError where

      1. `path` holds no exported law, or no C compiler is found;
      2. a file was changed after the export, or the library has other numbers than its `law.json` or `digest`;
      3. the code commands something else than the law did in the recorded run, or remembers something after a new start;
      4. the command is applied some time after its sample: `Delayed` has to do that here.
    """

    path: str | os.PathLike
    digest: str = ""

    def __post_init__(self) -> None:
        data = self.manifest
        if self.digest not in ("", data["digest"]):
            raise InputError(
                f"digest: the law is of other numbers: its digest is {data['digest']}, {self.digest} is expected",
                file=str(self.path),
                mend="give the library of that digest, or leave digest out",
            )
        if data["lag"]:
            raise InputError(
                f"the law is applied {data['lag']:g} s after its sample, which only the exported program does",
                file=str(self.folder),
                mend="export the law without the delay, and put Delayed(…) around it here",
            )
        object.__setattr__(self, "path", str(self.path))
        object.__setattr__(self, "digest", data["digest"])
        _ = self.unshown  # the library is held against its run

    @cached_property
    def folder(self) -> Path:
        """Where the manifest is."""
        return folder_of(self.path)

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """What the law is, as plain data."""
        return read_manifest(self.folder)

    @cached_property
    def library(self) -> Library:
        """Its functions, held against the manifest."""
        if Path(self.path).is_dir():
            check_files(self.folder, self.manifest)
            check_header(self.folder, self.manifest)
            library = built(self.folder, self.manifest)
        else:
            library = opened(Path(self.path), self.manifest)
        check_numbers(library, self.manifest, str(self.path))
        return library

    @cached_property
    def unshown(self) -> str:
        """What the run that goes with the code does not show of it, in words; "" where every command is seen to be the law's."""
        return check_run(self.library, self.manifest, self.folder)

    @property
    def not_asked(self) -> tuple[tuple[str, str], ...]:
        """(key, reason) of a row of the default claims: the recorded run does not show that the code is the law."""
        return (("law-of-the-code", self.unshown),) if self.unshown else ()

    @property
    def T_s(self) -> float:
        return float(self.manifest["sample_time"])

    @property
    def measured(self) -> tuple[Signal, ...]:
        return _signals(self.manifest["measured"])

    @property
    def references(self) -> tuple[Signal, ...]:
        return _signals(self.manifest["references"])

    @property
    def commands(self) -> tuple[Signal, ...]:
        return _signals(self.manifest["commands"])

    def initial(self) -> np.ndarray:
        return np.array(self.manifest["initial"], self.library.kind)

    def start(self, t: float, z: np.ndarray, y: Sequence[float], r: Sequence[float]) -> np.ndarray:
        return self.library.start(np.array([t, *y, *r]), z)

    def step(self, t: float, z: np.ndarray, y: Sequence[float], r: Sequence[float]) -> tuple:
        memory, u = self.library.step(np.array([t, *y, *r]), z)
        return memory, [float(v) for v in u]

    def __deepcopy__(self, memo: Any) -> Compiled:
        return self  # it keeps nothing from sample to sample

    def __reduce__(self) -> tuple:
        return Compiled, (self.path, self.digest)


def _signals(given: Sequence[dict[str, str]]) -> tuple[Signal, ...]:
    return tuple(Signal(s["name"], s["unit"], s["meaning"], s["kind"]) for s in given)
