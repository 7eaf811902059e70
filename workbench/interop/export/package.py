"""An exported law as a folder: header, source, a program that replays the run, the case, its verdicts, what is what."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from workbench import __version__
from workbench.contract.errors import InputError
from workbench.contract.system import Controller, Signal
from workbench.interop.export.identifiers import identifier
from workbench.interop.export.laws import Graph, text_of
from workbench.interop.export.programs import CMAKE, replay_program
from workbench.interop.export.replay import Replay

MANIFEST = "law.json"
FORMAT = "fluidproof exported law 2"  # another number when the digest is of other things, or the manifest has others
RUN = "run.csv"
SIGNALS = ("memory", "measured", "references", "commands")
REPLAYED = 1000  # samples of the run that go with the code


def digest_of(names: Sequence[str], *numbers: np.ndarray) -> str:
    """Hash of names and numbers, to the last bit: what the verdicts are of."""
    told = hashlib.sha256("\n".join(names).encode())
    for values in numbers:
        told.update(np.ascontiguousarray(values, "<f8").tobytes())
    return told.hexdigest()[:32]


def law_digest(graph: Graph, single: bool) -> str:
    """Digest of what the code is of: numbers rounded to floats where it has floats, signals with units, sample time and lag."""
    kind = np.float32 if single else np.float64
    numbers = [v.astype(kind) for v in (graph.values, graph.constants, graph.initial)]
    return digest_of(_named(told(graph)), *numbers, _times(told(graph)))


def manifest_digest(data: Mapping[str, Any], *numbers: np.ndarray) -> str:
    """The digest that a manifest and these numbers have: parameters, constants, memory before the start."""
    return digest_of(_named(data), *numbers, _times(data))


def _named(data: Mapping[str, Any]) -> list[str]:
    """Parameters and signals in order, with their units."""
    signals = [f"{kind} {s['name']} {s['unit']}" for kind in SIGNALS for s in data[kind]]
    return [*data["parameters"], *signals]


def _times(data: Mapping[str, Any]) -> np.ndarray:
    return np.array([data["sample_time"], data["lag"]], float)


def told(graph: Graph) -> dict[str, Any]:
    """What a law is called and when it is called, as plain data."""
    return {
        "sample_time": float(graph.controller.period or 0.0),
        "lag": float(graph.controller.lag),
        "parameters": [leaf.path for leaf in graph.parameters],
        "constants": len(graph.constants),
        "initial": [float(v) for v in graph.initial],
        **{kind: [signal(s) for s in getattr(graph, kind)] for kind in SIGNALS},
    }


def manifest(text: Any, files: Mapping[str, str], verdicts: Any) -> dict[str, Any]:
    """What the folder holds, as plain data."""
    graph = text.graph
    return {
        "format": FORMAT,
        "version": __version__,
        "name": text.name,
        "law": type(graph.controller).__name__,
        "single": text.single,
        "digest": text.digest,
        "wrappers": wrappers(graph.controller),
        "operations": text.operations,
        "allowed": text.allowed,
        **told(graph),
        "verdicts": verdicts,
        "sha256": {name: hashlib.sha256(body.encode()).hexdigest() for name, body in files.items()},
    }


def wrappers(controller: Any) -> list[str]:
    """Classes of what stands around the law and is part of the code, from the outside in."""
    found = []
    while isinstance(controller, Controller) and controller.inner is not None:
        found.append(type(controller).__name__)
        controller = controller.inner
    return found


def signal(s: Signal) -> dict[str, str]:
    """A signal as plain data."""
    return {"name": s.name, "unit": s.unit, "meaning": s.meaning, "kind": s.kind}


def export_law(
    folder: str | os.PathLike,
    graph: Graph,
    run: Replay,
    *,
    name: str = "law",
    single: bool = False,
    about: Sequence[str] = (),
    verdicts: Any = None,
    case: str = "",
) -> Path:
    """Write the law as C to `folder`, which must not exist yet; all of it or nothing.

    graph: the law's expressions. run: what the law measured and commanded in a run; its first samples are written beside the code.
    name: prefix of all C names. single: True for `float` in place of `double`. about: lines of the header's comment. verdicts: the
    verdicts on the loop, as plain data. case: the text of its case file.

    Raises InputError for a folder that exists, for a law with an operation that has no counterpart in C, and where the files
    cannot be written.
    """
    name = identifier(name)
    digest = law_digest(graph, single)
    text = text_of(graph, name=name, single=single, about=tuple(about), digest=digest)
    code = {f"{name}.h": text.header(), f"{name}.c": text.source(), **text.beside}
    few = run.first(REPLAYED)
    rows = {RUN: table(few)}
    others = {
        "replay.c": replay_program(text, few),
        "CMakeLists.txt": CMAKE.format(name=name),
        **rows,
    }
    if case:
        others["case.yaml"] = case
    data = manifest(text, {**code, **rows}, verdicts)
    others[MANIFEST] = json.dumps(data, ensure_ascii=False, indent=1) + "\n"
    return put(Path(folder), {**code, **others})


def free(folder: str | os.PathLike) -> None:
    """InputError where something is there already."""
    if os.path.lexists(folder):
        raise InputError(
            "there is such a file or folder already",
            file=str(folder),
            mend="name a folder that is not there yet, or remove this one first",
        )


@contextmanager
def all_or_none() -> Iterator[list[str]]:
    """A list of the files and folders that a command has written so far: where the next one cannot be, none of them stays."""
    written: list[str] = []
    try:
        yield written
    except BaseException:
        for target in written:
            _removed(target)
        raise


def _removed(target: str) -> None:
    """Take away what a command has just written."""
    with suppress(OSError):
        if os.path.isdir(target):
            shutil.rmtree(target)
        else:
            os.remove(target)


def put(folder: Path, files: Mapping[str, str]) -> Path:
    """Write files by their names into a new folder, all of them or nothing; InputError where that cannot be done."""
    free(folder)
    try:
        beside = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.absolute().parent))
    except OSError as why:
        raise InputError(
            f"no folder can be made there: {why.strerror}",
            file=str(folder),
            mend="choose another place",
        ) from None
    try:
        for name, body in files.items():
            (beside / name).parent.mkdir(exist_ok=True)
            (beside / name).write_text(body, "utf-8")
        os.chmod(beside, 0o755)
        os.rename(beside, folder)
    except BaseException as why:
        with suppress(OSError):
            shutil.rmtree(beside)
        if isinstance(why, OSError):
            raise InputError(
                f"the folder cannot be written: {why.strerror}",
                file=str(folder),
                mend="choose another place",
            ) from None
        raise
    return folder


def table(run: Replay) -> str:
    """Rows of a run for `replay.c`: memory before the first sample, then t, y, r, u of each, every digit of them."""
    rows = np.column_stack([run.inputs, run.commands])
    lines = [" ".join(repr(float(v)) for v in row) for row in rows]
    return "\n".join(lines) + "\n"
