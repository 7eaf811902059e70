"""Outputs that are either complete or not there: written to a temporary file beside the target, then renamed.

Whatever goes wrong on the way (a full disk, Ctrl-C, a failing writer), the temporary file goes and an existing file
stays as it was.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from workbench.contract.errors import InputError

_REASONS = {
    errno.ENOSPC: ("the disk is full", "free some space, or write to another disk"),
    errno.EDQUOT: ("the disk quota is used up", "free some space, or write to another disk"),
    errno.EFBIG: (
        "the file would become larger than allowed here",
        "raise the limit (ulimit -f), or write less",
    ),
    errno.EACCES: ("this directory may not be written to", "choose a directory of yours"),
    errno.EPERM: ("this file or directory may not be written to", "choose a directory of yours"),
    errno.EROFS: ("this disk is read-only", "write to another disk"),
    errno.ENOENT: ("there is no such directory", "create it first (mkdir -p)"),
    errno.ENOTDIR: ("part of the path is a file, not a directory", "check the path"),
    errno.EISDIR: ("this is a directory; expected the name of a file", "add a file name to it"),
    errno.ENAMETOOLONG: ("this name is too long", "choose a shorter one"),
}


def write_atomic(path: str | os.PathLike, write: Callable[[BinaryIO], object]) -> None:
    """`write(stream)` to `path`, all or nothing. Raises InputError when the file cannot be written."""
    with replacing(path) as temporary, _explained(path), open(temporary, "wb") as stream:
        write(stream)


@contextmanager
def replacing(path: str | os.PathLike) -> Iterator[Path]:
    """Path of an empty temporary file that becomes `path` when the block ends well; for writers that want a name.

    It has the ending of `path`. Operating-system errors inside the block are taken as failures to write `path`.
    """
    with _explained(path):
        target = _checked(path)
    # Named before it is there, so that whatever interrupts can take it away.
    temporary = _beside(target)
    try:
        with _explained(path):
            _create(temporary, target)
            yield temporary
            flush(temporary)
            os.replace(temporary, target)
    except BaseException:  # Ctrl-C included
        with suppress(OSError):
            os.unlink(temporary)
        raise
    with suppress(OSError):  # not every system lets a directory be flushed
        flush(target.parent)


def check_writable(path: str | os.PathLike) -> None:
    """Raise InputError when `path` cannot be written, found out before long work by creating a file beside it."""
    with _explained(path):
        target = _checked(path)
        temporary = _beside(target)
        try:
            _create(temporary, target)
            os.unlink(temporary)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary)
            raise


def _checked(path: Any) -> Path:
    """The file behind `path` (links followed): new or regular."""
    if not os.fspath(path):
        raise InputError("the name of the output file is empty", mend="give a file name")
    target = Path(os.path.realpath(path))
    try:
        mode = os.stat(target).st_mode
    except FileNotFoundError:
        if os.fspath(path).endswith(("/", os.sep)):
            raise IsADirectoryError(errno.EISDIR, "") from None
        return target
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "")
    if not stat.S_ISREG(mode):
        raise InputError(
            "cannot be written: this is a device or a pipe",
            file=os.fspath(path),
            mend="name a file",
        )
    return target


def _beside(target: Path) -> Path:
    """A name beside `target` that nothing has."""
    return target.parent / f".{target.stem[:40]}.{secrets.token_hex(6)}{target.suffix[-20:]}"


def _create(temporary: Path, target: Path) -> None:
    """A new empty file with the rights the target has or would get."""
    os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    with suppress(FileNotFoundError):
        os.chmod(temporary, stat.S_IMODE(os.stat(target).st_mode))


def flush(path: Path) -> None:
    """Have the system write a file or a folder to the disk now."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _explained(path: Any) -> Iterator[None]:
    """Operating-system errors as InputErrors that name `path`."""
    try:
        yield
    except (OSError, ValueError) as why:
        if not isinstance(why, OSError):
            if isinstance(why, InputError) or "null byte" not in str(why):
                raise
            why = OSError(errno.EINVAL, "the name holds a null byte")
        reason, mend = _REASONS.get(
            why.errno or 0, (why.strerror or str(why), "check the path and the disk")
        )
        raise InputError(
            f"cannot be written: {reason}", file=os.fsdecode(path).replace("\0", "␀"), mend=mend
        ) from why
