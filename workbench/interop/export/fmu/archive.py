"""An FMU as a file: sources, a binary for this machine, descriptions, the case; the same bytes from the same model."""

from __future__ import annotations

import io
import platform
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

from workbench.contract.errors import InputError
from workbench.interop.export.fmu.description import MATHS, build_description, description
from workbench.interop.export.fmu.model import Model, units_of
from workbench.numerics.compiler import compiler

FLAGS = ("-std=c99", "-O2", MATHS, "-fPIC", "-shared", "-fvisibility=hidden")
PATIENCE = 240.0  # s for the compiler
EPOCH = (1980, 1, 1, 0, 0, 0)  # date of every file in the archive
_PAGE = """\
<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{name}</title></head>
<body><h1>{name}: a {part}</h1><pre>{about}</pre></body></html>
"""


def packed(
    model: Model, version: int = 3, about: Sequence[str] = (), resources: Mapping[str, str] = {}
) -> bytes:
    """The bytes of the FMU.

    about: lines on what it is and what was verified, for its page. resources: texts that go along, by file name. Without a C
    compiler there are sources alone.

    Raises InputError where the compiler refuses.
    """
    from workbench import __version__

    if version not in (2, 3):
        raise InputError(f"there is no FMI {version} here", key="--fmi", mend="give 2 or 3")
    sources = sources_of(model, version)
    files: dict[str, bytes] = {
        "modelDescription.xml": description(model, version, f"fluidproof {__version__}").encode(),
        "documentation/index.html": _page(model, about).encode(),
        **{f"sources/{name}": text.encode() for name, text in sources.items()},
        **{f"resources/{name}": text.encode() for name, text in resources.items()},
    }
    if version == 3:
        units = units_of(sources)
        files["sources/buildDescription.xml"] = build_description(model, units).encode()
    binary = built(model, sources)
    if binary is not None:
        files[binary_path(model.name, version)] = binary
    return _zipped(files)


def sources_of(model: Model, version: int) -> dict[str, str]:
    """Files of C by name: the model's, the layout, the interface."""
    here = Path(__file__).parent
    own = {name: (here / name).read_text("utf-8") for name in (f"fmi{version}.c", "instance.h")}
    return {**model.code, "layout.h": model.layout(), **own}


def binary_path(name: str, version: int) -> str:
    """Where the binary for this machine lies in an FMU."""
    machine = {"amd64": "x86_64", "x64": "x86_64", "arm64": "aarch64"}
    word = machine.get(platform.machine().lower(), platform.machine().lower())
    system, ending = {
        "win32": ("windows", "dll"),
        "darwin": ("darwin", "dylib"),
    }.get(sys.platform, ("linux", "so"))
    if version == 3:
        return f"binaries/{word}-{system}/{name}.{ending}"
    short = {"windows": "win", "darwin": "darwin", "linux": "linux"}[system]
    folder = f"{short}64" if word == "x86_64" else f"{word}-{system}"
    return f"binaries/{folder}/{name}.{ending}"


def built(model: Model, sources: Mapping[str, str]) -> bytes | None:
    """The shared library of the sources; None without a compiler."""
    cc = compiler()
    if cc is None:
        return None
    beside = Path(tempfile.mkdtemp(prefix="fluidproof-fmu-"))
    try:
        for name, text in sources.items():
            (beside / name).parent.mkdir(exist_ok=True)
            (beside / name).write_text(text, "utf-8")
        _compiled([*cc, *FLAGS, "-o", "model", *units_of(sources), "-lm"], beside)
        return (beside / "model").read_bytes()
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _compiled(command: list[str], folder: Path) -> None:
    try:
        run = subprocess.run(
            command,
            cwd=folder,
            capture_output=True,
            timeout=PATIENCE,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise InputError(
            f"the compiler did not end within {PATIENCE:g} s", mend="use another one ($CC)"
        ) from None
    if run.returncode:
        said = run.stderr.decode("utf-8", "replace").strip().splitlines()
        raise InputError(
            f"the FMU cannot be compiled: {said[0][:200] if said else run.returncode}",
            mend="use another compiler ($CC)",
        )


def _page(model: Model, about: Sequence[str]) -> str:
    return _PAGE.format(name=escape(model.name), part=model.part, about=escape("\n".join(about)))


def _zipped(files: Mapping[str, bytes]) -> bytes:
    """The archive, in order of names, without dates or owners."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3
            entry.external_attr = (0o755 if name.startswith("binaries/") else 0o644) << 16
            archive.writestr(entry, files[name], compresslevel=9)
    return stream.getvalue()
