"""A master for FMUs in a few lines: unpacks one, loads its library, speaks FMI 2.0 or 3.0 with it."""

import ctypes
import xml.etree.ElementTree as ElementTree
import zipfile
from ctypes import byref, c_bool, c_char_p, c_double, c_int, c_size_t, c_uint, c_void_p
from pathlib import Path

LOG3 = ctypes.CFUNCTYPE(None, c_void_p, c_int, c_char_p, c_char_p)
LOG2 = ctypes.CFUNCTYPE(None, c_void_p, c_char_p, c_int, c_char_p, c_char_p, c_char_p)


class Callbacks(ctypes.Structure):
    _fields_ = [("logger", LOG2), *((name, c_void_p) for name in ("a", "f", "s", "environment"))]


class Unit:
    """The library of an FMU, unpacked into `folder`; `instance()` makes as many as one likes."""

    def __init__(self, path, folder):
        with zipfile.ZipFile(path) as archive:
            archive.extractall(folder)
        self.folder = Path(folder)
        self.root = ElementTree.parse(self.folder / "modelDescription.xml").getroot()
        self.version = int(self.root.get("fmiVersion")[0])
        self.token = self.root.get("instantiationToken") or self.root.get("guid")
        self.code = ctypes.CDLL(str(next((self.folder / "binaries").rglob("*.so"))))
        self.names = [v.get("name") for v in self.root.find("ModelVariables")]
        self.kinds = [v.get("causality") for v in self.root.find("ModelVariables")]

    def of(self, causality):
        """Value references of a causality."""
        return [i for i, kind in enumerate(self.kinds) if kind == causality]

    def instance(self, token=None):
        return Instance(self, self.token if token is None else token)


class Refused(Exception):
    """A call that was answered with an error, and what was logged."""


class Instance:
    def __init__(self, unit, token):
        self.unit, self.said = unit, []
        self.three = unit.version == 3
        name, token = b"one", token.encode()
        if self.three:
            self.log = LOG3(lambda e, s, c, text: self.said.append(text.decode()))
            make = self._function("InstantiateCoSimulation", c_void_p)
            off = c_bool(False)
            rest = (None, c_size_t(0), None, self.log, None)
            self.it = make(name, token, b"", off, off, off, off, *rest)
        else:
            say = lambda e, n, s, c, form, text: self.said.append(text.decode())
            self.log = Callbacks(LOG2(say))
            make = self._function("Instantiate", c_void_p)
            self.it = make(name, 1, token, b"", byref(self.log), 0, 0)
        if not self.it:
            raise Refused(self.said)

    def _function(self, name, result=c_int):
        found = getattr(self.unit.code, f"fmi{self.unit.version}{name}")
        found.restype = result
        return found

    def call(self, name, *given):
        if self._function(name)(c_void_p(self.it), *given):
            raise Refused(self.said[-1])

    def begin(self, values, start=0.0):
        """Initialise with these values by reference."""
        off, zero = c_bool(False), c_double(0.0)
        if self.three:
            self.call("EnterInitializationMode", off, zero, c_double(start), off, zero)
        else:
            self.call("SetupExperiment", 0, zero, c_double(start), 0, zero)
            self.call("EnterInitializationMode")
        self.set(values)
        self.call("ExitInitializationMode")

    def set(self, values):
        n = len(values)
        which, numbers = (c_uint * n)(*values), (c_double * n)(*values.values())
        self.call(*self._many("Set", which, numbers, n))

    def get(self, references):
        n = len(references)
        which, numbers = (c_uint * n)(*references), (c_double * n)()
        self.call(*self._many("Get", which, numbers, n))
        return list(numbers)

    def _many(self, verb, which, numbers, n):
        room = (c_size_t(n),) if self.three else ()
        return (verb + ("Float64" if self.three else "Real"), which, c_size_t(n), numbers, *room)

    def step(self, t, length):
        flags = [byref(c_bool()), byref(c_bool()), byref(c_bool()), byref(c_double())]
        off = c_bool(False) if self.three else c_int(0)
        more = flags if self.three else []
        self.call("DoStep", c_double(t), c_double(length), off, *more)

    def state(self):
        """The state as bytes."""
        word, size, held = self._words(), c_size_t(), c_void_p()
        self.call(f"Get{word}", byref(held))
        self.call(f"Serialized{word}Size", held, byref(size))
        room = ctypes.create_string_buffer(size.value)
        self.call(f"Serialize{word}", held, room, size)
        self.call(f"Free{word}", byref(held))
        assert held.value is None
        return room.raw

    def restore(self, state):
        word, held = self._words(), c_void_p()
        verb = "Deserialize" if self.three else "DeSerialize"
        self.call(f"{verb}{word}", state, c_size_t(len(state)), byref(held))
        self.call(f"Set{word}", held)
        self.call(f"Free{word}", byref(held))

    def _words(self):
        return "FMUState" if self.three else "FMUstate"

    def free(self):
        self._function("FreeInstance", None)(c_void_p(self.it))
        self.it = None
