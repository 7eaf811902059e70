"""The manifest of an exported law read back, and files and numbers held against it."""

from __future__ import annotations

import hashlib
import json
import os
import re
from pathlib import Path
from typing import Any

from workbench import __version__
from workbench.contract.errors import InputError
from workbench.interop.export.identifiers import identifiers
from workbench.interop.export.library import Library
from workbench.interop.export.package import FORMAT, MANIFEST, manifest_digest

MOST = 4_000_000  # bytes of a manifest that are read
EXPORT = "write one with workbench export FILE --c FOLDER"
LISTS = ("parameters", "memory", "initial", "measured", "references", "commands", "wrappers")


def folder_of(path: str | os.PathLike) -> Path:
    """The folder with the manifest of a law: the path itself, or where the library lies, or one above."""
    given = Path(path)
    if given.is_dir():
        return given
    if not given.is_file():
        raise InputError("there is no such folder or library", file=str(path), mend=EXPORT)
    places = (given.absolute().parent, given.absolute().parent.parent)
    for folder in places:
        if (folder / MANIFEST).is_file():
            return folder
    raise InputError(
        f"there is no {MANIFEST} beside this library, which says what its signals are",
        file=str(path),
        mend="leave the library in the folder that was exported, or in one below it",
    )


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of an exported law; InputError where there is none that can be read."""
    path = folder / MANIFEST
    try:
        if path.stat().st_size > MOST:
            raise ValueError("it is too large")
        data = json.loads(path.read_text("utf-8"))
        _check_version(data)
        _check_form(data)
    except (OSError, ValueError, KeyError, TypeError) as why:
        raise InputError(
            f"this is no exported law: {MANIFEST}: {why}", file=str(folder), mend=EXPORT
        ) from None
    return data


def _check_version(data: dict[str, Any]) -> None:
    """ValueError for a law that another version wrote, whose digest is of other things or worked out otherwise."""
    if data["format"] != FORMAT:
        by = f" (fluidproof {data['version']})" if "version" in data else ""
        raise ValueError(
            f"it was written by another version of the workbench{by}: {data['format']!r}, and this one reads {FORMAT!r}"
        )


def _check_form(data: dict[str, Any]) -> None:
    """ValueError, KeyError or TypeError where something is missing or of another kind."""
    if not str(data["name"]).isidentifier():
        raise ValueError(f"{data['name']!r} is no name")
    for key in LISTS:
        if not isinstance(data[key], list):
            raise ValueError(f"{key} is no list")
    if not float(data["sample_time"]) > 0:
        raise ValueError(f"sample_time is {data['sample_time']}")
    float(data["lag"])
    int(data["constants"])
    float(data["allowed"])
    str(data["digest"])
    str(data["version"])
    dict(data["sha256"])


def check_files(folder: Path, data: dict[str, Any]) -> None:
    """InputError where header or source are not, byte by byte, those that the verdicts were given for."""
    for name, wanted in data["sha256"].items():
        try:
            body = (folder / _inside(name)).read_bytes()
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


def check_header(folder: Path, data: dict[str, Any]) -> None:
    """InputError where the header's structs name their numbers otherwise, or in another order, than the manifest's signals.

    Library and replay take numbers by their places; a program takes them by these names.
    """
    name = data["name"]
    text = (folder / f"{name}.h").read_text("utf-8", "replace")
    given = {"inputs": ("measured", "references"), "outputs": ("commands",), "memory": ("memory",)}
    for struct, kinds in given.items():
        first = ["t"] if struct == "inputs" else []
        wanted = identifiers([*first, *(s["name"] for kind in kinds for s in data[kind])])
        body = re.search(rf"typedef struct \{{([^}}]*)\}} {name}_{struct};", text)
        found = re.findall(r"^ *(?:double|float) (\w+);", body[1] if body else "", re.M)
        if found != wanted:
            raise InputError(
                f"{name}_{struct} has other members, or in another order, than {MANIFEST} has signals",
                file=str(folder / f"{name}.h"),
                mend="export the law again",
            )


def _inside(name: str) -> str:
    """A file's name, of which nothing leads out of the folder."""
    parts = [part for part in Path(name).parts if part not in ("..", "/")]
    return str(Path(*parts[-2:]))


def check_numbers(library: Library, data: dict[str, Any], path: str) -> None:
    """InputError where the numbers in a library are not those of the verdicts."""
    if library.sample_time != library.kind(data["sample_time"]):
        raise InputError(
            f"the library is for samples of {library.sample_time:g} s, {MANIFEST} says {data['sample_time']:g} s",
            file=path,
            mend="build the library from the files that were exported",
        )
    found = manifest_digest(data, library.parameters, library.constants, library.initial)
    if found != data["digest"] and data["version"] != __version__:
        raise InputError(
            f"the law was exported by version {data['version']} of fluidproof, and this is version {__version__}, "
            "to which its numbers are not those of the verdicts",
            file=path,
            mend=EXPORT,
        )
    if found != data["digest"]:
        raise InputError(
            f"the numbers in the library are not those of the verdicts, or {MANIFEST} has other signals: "
            f"digest {found}, not {data['digest']}",
            file=path,
            mend="build the library from the files that were exported",
        )
