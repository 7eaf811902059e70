"""An exported law as a shared library: its functions on arrays, and as a controller."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np

from workbench.contract.errors import InputError

SIZES = ("parameters", "constants", "memory", "inputs", "outputs")
OTHER = "build it from the files that were exported with law.json"


class Library:
    """The functions of an exported law, by ctypes: `start`, `step`, `release` on rows of numbers.

    sizes: how many numbers parameters, constants, memory, inputs and outputs have. digest: of its numbers. The library is code and
    is run as such: load only what you trust.

    Raises InputError for a file that is no such library, and of other sizes or another digest; nothing of it is called then.
    """

    def __init__(
        self, path: str | Path, name: str, sizes: dict[str, int], single: bool, digest: str
    ) -> None:
        try:
            self.code = ctypes.CDLL(str(Path(path).resolve()))
        except OSError as why:
            raise InputError(
                f"the library cannot be loaded: {why}",
                file=str(path),
                mend="build it on this machine",
            ) from None
        self.name, self.sizes = name, sizes
        self.kind = np.float32 if single else np.float64
        self._real = ctypes.c_float if single else ctypes.c_double
        self._check(str(path), digest)
        self.constants = self._default("constants")

    def _check(self, path: str, digest: str) -> None:
        """InputError where sizes or digest that the library says of itself are not those expected."""
        wanted = [np.dtype(self.kind).itemsize, *(self.sizes[what] for what in SIZES)]
        try:
            found = list((ctypes.c_uint * 6).in_dll(self.code, f"{self.name}_sizes"))
            self.sample_time = self._real.in_dll(self.code, f"{self.name}_sample_time").value
            own = (ctypes.c_char * 32).in_dll(self.code, f"{self.name}_digest").value.decode()
        except (ValueError, UnicodeDecodeError):
            raise InputError(
                f"the library is no exported law called {self.name}",
                file=path,
                mend=OTHER,
            ) from None
        if own != digest:
            raise InputError(
                f"the library is of another version of the law: its digest is {own}, {digest} is expected",
                file=path,
                mend=OTHER,
            )
        if found != wanted:
            raise InputError(
                f"the library is of another version of the law: bytes of a number and sizes are {found}, {wanted} are expected",
                file=path,
                mend=OTHER,
            )

    def _default(self, what: str) -> np.ndarray:
        """The numbers compiled in: parameters or constants."""
        array = (self._real * max(self.sizes[what], 1)).in_dll(
            self.code, f"{self.name}_default_{what}"
        )
        return np.array(array[: self.sizes[what]], self.kind)

    @property
    def initial(self) -> np.ndarray:
        """The memory before `start`."""
        count = self.sizes["memory"]
        array = (self._real * max(count, 1)).in_dll(self.code, f"{self.name}_initial_memory")
        return np.array(array[:count], self.kind)

    @property
    def parameters(self) -> np.ndarray:
        return self._default("parameters")

    def start(self, inputs: np.ndarray, memory: np.ndarray) -> np.ndarray:
        """Memory that fits the first measurement."""
        z = np.array(memory, self.kind)
        self._call("start", np.asarray(inputs, self.kind), z)
        return z

    def step(
        self, inputs: np.ndarray, memory: np.ndarray, which: str = "step"
    ) -> tuple[np.ndarray, np.ndarray]:
        """(memory, commands) after a sample, or after `release`."""
        z = np.array(memory, self.kind)
        u = np.zeros(max(self.sizes["outputs"], 1), self.kind)
        self._call(which, np.asarray(inputs, self.kind), z, u)
        return z, u

    def _call(self, which: str, inputs: np.ndarray, *written: np.ndarray) -> None:
        function = getattr(self.code, f"{self.name}_{which}")
        given = (self.constants, np.ascontiguousarray(inputs), *written)
        room = [a if a.size else np.zeros(1, self.kind) for a in given]
        function(*(ctypes.c_void_p(a.ctypes.data) for a in room))


def replayed(library: Library, run: Any, memory: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(memory, commands) of every sample of a Replay, from `memory`."""
    z = library.start(run.inputs[0], memory)
    kept = []
    commands = []
    for row in run.inputs:
        z, u = library.step(row, z)
        kept.append(z)
        commands.append(u)
    return np.array(kept, float), np.array(commands, float)
