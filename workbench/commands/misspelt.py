"""Names on the command line that are nearly those of a file or of a shipped machine."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path

from workbench.contract.errors import InputError, short


def refuse_misspelt(given: str, machines: Sequence[str]) -> None:
    """Raise InputError with the nearest, where a name is near one of a case file here or of a shipped machine.

    A case file is near without its ending, too: crane for crane.yaml.
    """
    files = {p.name.rsplit(".", 1)[0]: p.name for p in Path(".").glob("*.y*ml")}
    near = difflib.get_close_matches(given, [*files, *machines], 2)
    if near:
        meant = " or ".join(dict.fromkeys(files.get(name, name) for name in near))
        raise InputError(
            f"there is no file and no shipped machine called {short(given)!r}",
            mend=f"did you mean {meant}?",
        )
