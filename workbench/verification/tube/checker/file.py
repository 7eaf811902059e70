"""A certificate of a tube as a file, and its check: NumPy, nothing else. Usage: workbench check file.npz …

Exit 0 and what is proved, exit 1 and why it is refused, exit 3 for a file that is no certificate.
"""

from __future__ import annotations

import os
import sys
import zipfile

import numpy as np

from .cover import together
from .data import Tube
from .judge import judge
from .section import Refused
from .words import proved

MOST_BYTES = 1_000_000_000


def load(path: str) -> Tube:
    """The certificate in a file. Raises ValueError for what is none, OSError for what cannot be read."""
    if os.path.getsize(path) > MOST_BYTES:
        raise ValueError("the file is larger than a certificate can be")
    try:
        with np.load(path, allow_pickle=False) as arrays:
            return Tube.of({name: arrays[name] for name in arrays.files})
    except (zipfile.BadZipFile, EOFError, TypeError, AttributeError, IndexError) as why:
        raise ValueError(f"not a certificate: {why}") from None


def main(*paths: str, quiet: bool = False) -> int:
    """Check files, and what they prove together; what comes of it is printed unless `quiet`."""

    def say(text: str) -> None:
        if not quiet:
            print(text)

    found = []
    for path in paths:
        named = f"{path}: " if len(paths) > 1 else ""
        try:
            c = load(path)
            judge(c)
        except (ValueError, OSError, TypeError, LookupError, ArithmeticError) as why:
            print(f"{path}: {why}", file=sys.stderr)
            return 3
        except Refused as why:
            say(f"{named}refused: {why}")
            return 1
        say(named + proved(c))
        found.append(c)
    if len(found) < 2:
        return 0
    try:
        say(together(found))
    except Refused as why:
        say(f"refused: {why}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
