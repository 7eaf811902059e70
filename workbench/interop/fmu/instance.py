"""One instance of an FMU inside the process that runs it: FMPy's bindings, called the same way for FMI 2 and 3.

This and `stepping` are run by `worker` alone. Numbers are those of the FMU, in its own units.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

WARNING = 1  # the last status that is no failure
WORDS = ("ok", "warning", "discard", "error", "fatal", "pending")
KEPT = 4  # messages of the FMU that are told with a failure
LONGEST = 300
GETTERS = {"Real": "Real", "Integer": "Integer", "Boolean": "Boolean", "Enumeration": "Integer"}


class Refused(Exception):
    """A call that the FMU did not do, and what it said."""


class Instance:
    """spec: folder, library, identifier, token, version, kind of the FMU; see `link.Link.open`."""

    def __init__(self, spec: dict[str, Any]) -> None:
        import fmpy.fmi2
        import fmpy.fmi3

        self.version = spec["version"]
        self.exchange = spec["kind"] == "model-exchange"
        self.messages: list[str] = []
        module = fmpy.fmi2 if self.version == 2 else fmpy.fmi3
        name = f"FMU{self.version}{'Model' if self.exchange else 'Slave'}"
        self.fmu = getattr(module, name)(
            guid=spec["token"],
            modelIdentifier=spec["identifier"],
            unzipDirectory=spec["folder"],
            libraryPath=spec["library"],
            instanceName=spec["identifier"],
        )
        self.prefix = f"fmi{self.version}"
        self.made = False

    # ---- life -----------------------------------------------------------------------------------
    def instantiate(self) -> None:
        """A fresh instance; an older one is given back."""
        if self.made:
            getattr(self.fmu.dll, f"{self.prefix}FreeInstance")(self.fmu.component)
            self.made = False
        if self.version == 2:
            self.fmu.instantiate(callbacks=self._callbacks())
        else:
            self.fmu.instantiate(logMessage=self._told3)
        self.made = True

    def initialise(self, settings: list) -> None:
        """From instantiation to the first instant, t = 0; settings: [type, reference, value] of starts, parameters and inputs."""
        for kind, reference, value in settings:
            self.set(kind, reference, value)
        if self.version == 2:
            self.fmu.setupExperiment(startTime=0.0)
            self.fmu.enterInitializationMode()
        else:
            self.fmu.enterInitializationMode(startTime=0.0)
        self.fmu.exitInitializationMode()

    def _callbacks(self) -> Any:
        from fmpy import fmi2
        from fmpy.fmi1 import calloc, free

        made = fmi2.fmi2CallbackFunctions()
        made.logger = fmi2.fmi2CallbackLoggerTYPE(self._told2)
        made.allocateMemory = fmi2.fmi2CallbackAllocateMemoryTYPE(calloc)
        made.freeMemory = fmi2.fmi2CallbackFreeMemoryTYPE(free)
        try:
            from fmpy.logging import addLoggerProxy

            addLoggerProxy(ctypes.byref(made))
        except (
            ImportError,
            OSError,
            AttributeError,
        ):  # without it, messages are told with their places unfilled
            pass
        return made

    def _told2(self, environment: Any, name: Any, status: int, category: Any, text: Any) -> None:
        self._told(status, text)

    def _told3(self, environment: Any, status: int, category: Any, text: Any) -> None:
        self._told(status, text)

    def _told(self, status: int, text: Any) -> None:
        if status > WARNING and text:
            words = " ".join(text.decode("utf-8", "replace").split())
            self.messages = [*self.messages, words[:LONGEST]][-KEPT:]

    # ---- values ---------------------------------------------------------------------------------
    def call(self, name: str, *arguments: Any) -> None:
        """A function of the FMU. Raises Refused by its status."""
        status = getattr(self.fmu.dll, self.prefix + name)(self.fmu.component, *arguments)
        if status > WARNING:
            word = WORDS[status] if 0 <= status < len(WORDS) else str(status)
            raise Refused(f"{self.prefix}{name} answered {word}")

    def set(self, kind: str, reference: int, value: float) -> None:
        """One variable of any type."""
        if kind in ("Real", "Float64", "Float32"):
            getattr(self.fmu, f"set{kind}")([reference], [value])
        elif kind == "Boolean":
            self.fmu.setBoolean([reference], [bool(value)])
        elif kind == "Enumeration":
            (self.fmu.setInteger if self.version == 2 else self.fmu.setInt64)(
                [reference], [int(value)]
            )
        else:
            getattr(self.fmu, f"set{kind}")([reference], [int(value)])


class Reals:
    """Real variables of an FMU, set or read at once; other types one by one.

    variables: (type, value reference), in order.
    """

    def __init__(self, inside: Instance, variables: list) -> None:
        self.inside = inside
        self.n = len(variables)
        self.values = np.zeros(self.n)
        fast = "Real" if inside.version == 2 else "Float64"
        self.whole = all(kind == fast for kind, _ in variables)
        self.variables = variables
        self.references = (ctypes.c_uint * max(self.n, 1))(*(r for _, r in variables))
        self.at = self.values.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
        counts = (self.n,) if inside.version == 2 else (self.n, self.n)
        self.arguments = (self.references, counts[0], self.at, *counts[1:])
        self.fast = fast
        self.known = np.full(self.n, np.nan)

    def read(self) -> np.ndarray:
        """Their values now."""
        if not self.n:
            return self.values
        if self.whole:
            self.inside.call(f"Get{self.fast}", *self.arguments)
            return self.values
        for i, (kind, reference) in enumerate(self.variables):
            getter = GETTERS.get(kind, kind) if self.inside.version == 2 else kind
            getter = "Int64" if getter == "Enumeration" else getter
            (value,) = getattr(self.inside.fmu, f"get{getter}")([reference])
            self.values[i] = float(value)
        return self.values

    def write(self, values: np.ndarray) -> bool:
        """Set them; whether anything changed."""
        if not self.n or (values == self.known).all():
            return False
        self.values[:] = values
        if self.whole:
            self.inside.call(f"Set{self.fast}", *self.arguments)
        else:
            for (kind, reference), value in zip(self.variables, values.tolist()):
                self.inside.set(kind, reference, value)
        self.known[:] = values
        return True

    def forget(self) -> None:
        """A new instance has other values."""
        self.known[:] = np.nan
