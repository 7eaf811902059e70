"""An FMU's archive, unpacked with care: within limits, below a folder of its own, and only what is needed to run it.

Every name in the archive is checked before anything is written. What is counted are bytes as they come out, not those an entry
claims. Sources, documentation and binaries for other platforms stay packed.
"""

from __future__ import annotations

import atexit
import hashlib
import io
import os
import platform
import shutil
import stat
import struct
import sys
import tempfile
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, final

from workbench.contract.errors import InputError, short
from workbench.files.open_file import contents, shown

MOST_PACKED = 500_000_000  # bytes of the file
MOST_BYTES = 1_000_000_000  # of all that is unpacked
MOST_ENTRIES = 20_000
PART = 1 << 20
DESCRIPTION = "modelDescription.xml"


@final
@dataclass(frozen=True)
class Unpacked:
    """An FMU on disk: the file it came from, its digest, the folder it lies in, platforms that it has binaries for."""

    file: str
    digest: str
    folder: Path
    platforms: tuple[str, ...]

    def library(self, identifier: str, version: int) -> Path:
        """The shared library of an interface for this machine. Raises InputError where the FMU brings none."""
        for name in own_platforms(version):
            path = self.folder / "binaries" / name / f"{identifier}{ending()}"
            if path.is_file():
                return path
        has = ", ".join(self.platforms) or "none: it holds sources only"
        raise InputError(
            f"it has no binary {identifier}{ending()} for this machine ({own_platforms(version)[0]}); it has: {has}",
            file=self.file,
            mend="export it for this platform, or build its sources",
        )


def ending() -> str:
    """How shared libraries end here."""
    return {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")


def own_platforms(version: int) -> tuple[str, ...]:
    """Folders of binaries for this machine, by FMI 2 or 3."""
    system = {"win32": "windows", "darwin": "darwin"}.get(sys.platform, "linux")
    machine = platform.machine().lower()
    called = {"amd64": "x86_64", "arm64": "aarch64", "i686": "x86", "i386": "x86"}
    pair = f"{called.get(machine, machine)}-{system}"
    if version == 3:
        return (pair,)
    old = {"windows": "win"}.get(system, system) + str(8 * struct.calcsize("P"))
    suits = called.get(machine, machine).startswith("x86") or system == "darwin"
    return (old, pair) if suits else (pair,)


_made: dict[str, Unpacked] = {}


def unpacked(path: str | os.PathLike) -> Unpacked:
    """The FMU at `path`, unpacked once for each content. Raises InputError for a file that is none, or is too much."""
    data = contents(path, MOST_PACKED, "an FMU")
    digest = hashlib.sha256(data).hexdigest()
    if digest not in _made:
        folder = Path(tempfile.mkdtemp(prefix="fluidproof-fmu-"))
        atexit.register(_removed, folder, os.getpid())
        try:
            platforms = _unpack(data, folder, shown(path))
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        _made[digest] = Unpacked(shown(path), digest, folder, platforms)
    return _made[digest]


def _removed(folder: Path, made_by: int) -> None:
    if os.getpid() == made_by:
        shutil.rmtree(folder, ignore_errors=True)


def _unpack(data: bytes, folder: Path, file: str) -> tuple[str, ...]:
    """Write what is needed below `folder`; the platforms that it has binaries for."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
            if len(entries) > MOST_ENTRIES:
                raise _refused(file, f"it holds {len(entries)} files, more than {MOST_ENTRIES}")
            names = [_checked(entry, file) for entry in entries]
            platforms = sorted({n.parts[1] for n in names if _is_binary(n)})
            room = MOST_BYTES
            for entry, name in zip(entries, names):
                if not entry.is_dir() and _is_needed(name):
                    room -= _written(archive, entry, folder / name, room, file)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError) as why:
        if isinstance(why, InputError):
            raise
        words = short(" ".join(str(why).split()))
        raise _refused(file, f"this is no FMU: no zip archive that can be read ({words})") from None
    except OSError as why:
        raise _refused(file, f"it cannot be unpacked: {why.strerror or why}") from None
    if not (folder / DESCRIPTION).is_file():
        raise _refused(file, f"this is no FMU: there is no {DESCRIPTION} in it")
    return tuple(platforms)


def _checked(entry: zipfile.ZipInfo, file: str) -> PurePosixPath:
    """The entry's path below the folder. Raises InputError for one that leaves it, is a link, or is encrypted."""
    told = short(shown(entry.filename))
    path = PurePosixPath(entry.filename)
    bad = "\\" in entry.filename or ":" in entry.filename or "\0" in entry.orig_filename
    if bad or not path.parts or path.is_absolute() or ".." in path.parts:
        raise _refused(file, f"its entry {told!r} would leave the folder it is unpacked to")
    if stat.S_ISLNK(entry.external_attr >> 16):
        raise _refused(file, f"its entry {told!r} is a link")
    if entry.flag_bits & 1:
        raise _refused(file, f"its entry {told!r} is encrypted")
    return path


def _is_binary(name: PurePosixPath) -> bool:
    return len(name.parts) > 2 and name.parts[0] == "binaries"


def _is_needed(name: PurePosixPath) -> bool:
    if _is_binary(name):
        return name.parts[1] in {*own_platforms(2), *own_platforms(3)}
    return name.parts[0] == "resources" or str(name) == DESCRIPTION


def _written(archive: Any, entry: Any, path: Path, room: int, file: str) -> int:
    """Write one entry; its size. Raises InputError where it is more than there is room for."""
    path.parent.mkdir(parents=True, exist_ok=True)
    size = 0
    with archive.open(entry) as source, open(path, "xb") as target:
        while part := source.read(PART):
            size += len(part)
            if size > room:
                raise _refused(file, f"unpacked it is more than {MOST_BYTES / 1e6:g} MB")
            target.write(part)
    return size


def _refused(file: str, words: str) -> InputError:
    return InputError(
        words, file=file, mend="export it again, and give only FMUs whose origin you know"
    )
