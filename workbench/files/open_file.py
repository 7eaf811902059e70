"""Files that a case file names, opened with care: regular files of a bounded size, whatever the name leads to.

A name may lead to a directory, a device without end (/dev/zero), a pipe that nobody writes to, a circle of links, or a file
larger than the memory. What is opened is looked at, not its name, so that nothing can be exchanged in between.
Messages never repeat what is in a file: it may be one that its reader should not see.
"""

from __future__ import annotations

import os
import stat
import sys
from typing import BinaryIO

from workbench.contract.errors import InputError

MOST_TEXT = 64_000_000  # bytes of a file of numbers written as text
# Without waiting for somebody to write into a pipe; Windows has other words.
if sys.platform == "win32":
    _CALMLY = os.O_RDONLY | os.O_BINARY
else:
    _CALMLY = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC


class NoFile(InputError):
    """Nothing has this name."""


class TooLarge(InputError):
    """More than can be read."""


def shown(path: str | os.PathLike | bytes) -> str:
    """The path for messages: text, whatever bytes it has."""
    return os.fsdecode(path).encode("utf-8", "replace").decode().replace("\0", "␀")


def opened(path: str | os.PathLike, most: int, what: str = "a file") -> BinaryIO:
    """The regular file at `path`, open for reading. The caller reads `most` bytes at most.

    what: what was expected, for messages. Raises InputError for everything that is none, or is larger.
    """
    file = shown(path)
    try:
        descriptor = os.open(path, _CALMLY)
    except (FileNotFoundError, NotADirectoryError):
        raise NoFile(
            "there is no such file", file=file, mend="check the name and the directory you are in"
        ) from None
    except PermissionError:
        raise InputError(
            "this file may not be read", file=file, mend="allow reading (chmod +r)"
        ) from None
    except (OSError, ValueError) as why:
        raise _unreadable(why, file) from None
    try:
        found = os.fstat(descriptor)
        if stat.S_ISDIR(found.st_mode):
            raise InputError(
                f"expected {what}, this is a directory", file=file, mend="name the file inside it"
            )
        if not stat.S_ISREG(found.st_mode):
            raise InputError(
                f"expected {what}, this is a device or a pipe",
                file=file,
                mend="write the data to a file first",
            )
        if found.st_size > most:
            raise too_large(found.st_size, most, file)
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def contents(path: str | os.PathLike, most: int = MOST_TEXT, what: str = "a file") -> bytes:
    """All bytes of a file, `most` of them at most. Raises InputError as `opened`."""
    try:
        with opened(path, most, what) as stream:
            data = stream.read(most + 1)
    except InputError:
        raise
    except OSError as why:
        raise _unreadable(why, shown(path)) from None
    if len(data) > most:  # it grew, or is one of those without a size
        raise too_large(len(data), most, shown(path))
    return data


def text(path: str | os.PathLike, most: int = MOST_TEXT, what: str = "a text file") -> str:
    """A file's text, UTF-8 with or without its mark. Raises InputError as `opened`, and for other bytes."""
    return decoded(contents(path, most, what), shown(path))


def decoded(data: bytes, file: str) -> str:
    """The text in UTF-8; InputError at the line of the first byte that is none."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as why:
        raise InputError(
            f"byte {data[why.start]:#04x} is not UTF-8 text",
            file=file,
            line=data.count(b"\n", 0, why.start) + 1,
            mend="save the file with the encoding UTF-8",
        ) from None


def too_large(size: int, most: int, file: str) -> TooLarge:
    """The refusal of a file that is larger than can be read."""
    return TooLarge(
        f"{size / 1e6:.3g} MB; expected at most {most / 1e6:g} MB",
        file=file,
        mend="keep what is needed of it only, or record at a lower rate",
    )


def _unreadable(why: Exception, file: str) -> InputError:
    reason = (
        why.strerror if isinstance(why, OSError) and why.strerror else "the name holds a null byte"
    )
    return InputError(f"this file cannot be read: {reason}", file=file, mend="check the path")
