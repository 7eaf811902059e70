"""Studies for tests of sweeps, light to import in the processes that run them."""

import os
import signal
import time
from pathlib import Path

from workbench.contract.errors import InputError


def product(point):
    """Numbers that need every bit, a text, a unit."""
    a, b = point["a"], point["b"]
    return {
        "product": (a * b, "J"),
        "ratio": a / (b + 0.1),
        "word": "even" if round(a) % 2 == 0 else "odd",
        "none": None,
    }


def failing(point):
    """Fails in three ways, holds otherwise."""
    if point["a"] == 1:
        raise InputError("a must not be one", mend="give two")
    if point["a"] == 2:
        return {"value": 1 / 0}
    if point["a"] == 3:
        return {"value": [1, 2]}
    return {"value": float(point["a"])}


def marked(point):
    """`product`, and a line in a file for each time it ran; slow enough to be killed in between."""
    with open(os.path.join(point["folder"], "ran"), "a") as stream:
        stream.write(f"{point['a']} {point['b']}\n")
    time.sleep(0.03)
    return product(point)


def deadly(point):
    """Kills its process the first time it meets a = 3."""
    mark = Path(point["folder"]) / "died"
    if point["a"] == 3 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return product(point)


def fatal(point):
    """Kills its process whenever a = 3."""
    if point["a"] == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return product(point)


def slow(point):
    """`product` after 0.05 s."""
    time.sleep(0.05)
    return product(point)


def environment(name, point):
    """Whether a variable is "1" where this runs."""
    return {"value": "1" if os.environ[name] == "1" else "other"}


class Late:
    """`product`, for processes that are killed while they load it: the first `times` of them."""

    def __init__(self, folder, times):
        self.folder, self.times = folder, times

    def __reduce__(self):
        return arrived, (self.folder, self.times)

    def __call__(self, point):
        return product(point)


def arrived(folder, times):
    """The study as a process gets it, or the end of the process."""
    killed = list(Path(folder).glob("killed-*"))
    if len(killed) < times:
        (Path(folder) / f"killed-{os.getpid()}").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return Late(folder, times)
