"""Where compiled code is kept between runs: a folder of the user's alone, and files that are checked before they are run.

Code that is loaded from disk is run with the user's rights. So the folder is named by an absolute path, belongs to the
user and can be written by nobody else, and neither can what leads to it; each file in it has its length and its SHA-256
beside it. A folder that does not meet this is not used: a notice says so, and a private temporary folder takes its place
for this process.
"""

from __future__ import annotations

import atexit
import errno
import hashlib
import os
import shutil
import stat
import tempfile
import time
import warnings
from contextlib import suppress
from functools import cache
from pathlib import Path

from workbench.contract.errors import Notice
from workbench.files.atomic import flush

ABANDONED = 3600.0  # s after which a folder that a compile has left is nobody's
BUILD = "build-"
LONGEST = 200_000_000  # bytes of a library; ours have some hundred thousand


def asked_folder() -> Path:
    """$FLUIDPROOF_CACHE, or fluidproof in the user's cache folder. It may be unfit: see `folder`.

    A relative $XDG_CACHE_HOME is ignored, as its specification says: it would be another folder in every directory.
    """
    given = os.environ.get("FLUIDPROOF_CACHE", "")
    if given:
        return Path(given)
    base = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(base):
        return Path(base) / "fluidproof"
    return Path(os.path.expanduser("~")) / ".cache" / "fluidproof"


def folder() -> Path:
    """The folder to use: the one asked for where it is fit, else a private one that goes with this process."""
    return _fit_folder(asked_folder())


@cache
def _fit_folder(asked: Path) -> Path:
    try:
        fault = _made(asked)
    except OSError as why:
        fault = why.strerror or str(why)
    if fault is None:
        _sweep(asked)
        return asked
    if fault:
        warnings.warn(
            Notice(
                f"compiled code is not kept in {asked}: {fault}; it is compiled anew by every run "
                "(mend: give a folder of yours alone in FLUIDPROOF_CACHE, or chmod 700 it)"
            ),
            stacklevel=4,
        )
    return private_folder()


def _made(asked: Path) -> str | None:
    """Make the folder; None where it is fit, "" where nothing can be kept and nobody need know, else why it is not."""
    if not asked.is_absolute():
        return "the path is not absolute"
    try:
        asked.parent.mkdir(parents=True, exist_ok=True)
        asked.mkdir(mode=0o700, exist_ok=True)
    except OSError as why:
        if why.errno in (errno.EACCES, errno.EROFS, errno.ENOTDIR, errno.ENOSPC, errno.EEXIST):
            return ""  # a home that cannot be written is usual on test machines and in containers
        raise
    return unfit(asked)


def unfit(path: Path) -> str | None:
    """Why code from this folder may not be run; None when it may: the folder and all above it are in good hands."""
    if os.name != "posix":
        return None  # the user's own profile there, which others cannot write
    real = Path(os.path.realpath(path))
    fault = _foreign(os.stat(real), (os.geteuid(),), stat.S_IWGRP | stat.S_IWOTH)
    if fault:
        return fault
    if not os.access(real, os.W_OK | os.X_OK):
        return "it cannot be written"
    for above in real.parents:
        fault = _leads_astray(os.stat(above))
        if fault:
            return f"{above}, above it, {fault}"
    return None


def _leads_astray(found: os.stat_result) -> str | None:
    """Why somebody else could put another folder into the place of one in this one."""
    if found.st_mode & stat.S_ISVTX:  # as in /tmp: only the owner of an entry may rename it
        return _foreign(found, (0, os.geteuid()), 0)
    own_group = found.st_gid == found.st_uid  # a group of one, where every user has one
    return _foreign(
        found, (0, os.geteuid()), stat.S_IWOTH if own_group else stat.S_IWGRP | stat.S_IWOTH
    )


def _foreign(found: os.stat_result, owners: tuple[int, ...], others: int) -> str | None:
    if found.st_uid not in owners:
        return f"it belongs to another user (number {found.st_uid})"
    if found.st_mode & others:
        return f"others may write there (mode {stat.S_IMODE(found.st_mode):04o})"
    return None


@cache
def private_folder() -> Path:
    """A folder of this process, removed at its end."""
    made = tempfile.TemporaryDirectory(prefix="fluidproof-")
    atexit.register(made.cleanup)
    return Path(made.name)


# ---- files in it ---------------------------------------------------------------------------------------------------
def seal(path: Path) -> Path:
    """The file beside a library that holds its length and checksum."""
    return path.with_suffix(".sha256")


def stamp(data: bytes) -> str:
    """Length and checksum in words, as `seal` holds them."""
    return f"{len(data)} {hashlib.sha256(data).hexdigest()}\n"


def whole(path: Path) -> bool:
    """Whether the library is there, the user's own, and byte for byte what was put there."""
    try:
        found = os.lstat(path)
        if not stat.S_ISREG(found.st_mode) or found.st_size > LONGEST:
            return False
        if os.name == "posix" and _foreign(found, (os.geteuid(),), stat.S_IWGRP | stat.S_IWOTH):
            return False
        return seal(path).read_text("ascii", "replace") == stamp(path.read_bytes())
    except OSError:
        return False


def keep(made: Path, target: Path) -> None:
    """Move a finished library to its place, its seal after it; both are on the disk before they have their names."""
    mark = made.with_suffix(".sha256")
    mark.write_text(stamp(made.read_bytes()), "ascii")
    os.chmod(made, 0o600)
    for file in (made, mark):
        flush(file)
    os.replace(made, target)
    os.replace(mark, seal(target))
    with suppress(OSError):  # not every system lets a directory be flushed
        flush(target.parent)


def building(where: Path) -> tempfile.TemporaryDirectory:
    """A folder for one compile, named after this process so that others can see when it was left behind."""
    return tempfile.TemporaryDirectory(prefix=f"{BUILD}{_host()}-{os.getpid()}-", dir=where)


def _sweep(where: Path) -> None:
    """Remove what terminated compiles have left."""
    for left in where.glob(f"{BUILD}*"):
        if _abandoned(left):
            shutil.rmtree(left, ignore_errors=True)


def _abandoned(left: Path) -> bool:
    host, _, rest = left.name.removeprefix(BUILD).partition("-")
    number = rest.partition("-")[0]
    if host == _host() and number.isdigit() and not _alive(int(number)):
        return True
    try:
        return time.time() - os.lstat(left).st_mtime > ABANDONED
    except OSError:
        return False


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):  # somebody else's
        return True
    return True


def _host() -> str:
    """This machine in one word: a home folder may be shared between several."""
    import platform

    return hashlib.sha256(platform.node().encode()).hexdigest()[:8]
