"""Whether code that a case file names may run: a library, a simulator of somebody else's. Case files hold data, never code.

`--trust` on a command, or `with fp.trusting():` in Python, says that whoever made the file and what it names is trusted, for
this once. It reaches worker processes of this machine through their environment.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from workbench.contract.errors import InputError

VARIABLE = "FLUIDPROOF_TRUST"


@contextmanager
def trusting(given: bool = True) -> Iterator[None]:
    """Inside this `with` block, code that case files name may run: an exported law, an FMU.

    given: False leaves everything as it is outside, so that an option can be passed on.
    """
    before = os.environ.get(VARIABLE)
    if given:
        os.environ[VARIABLE] = "1"
    try:
        yield
    finally:
        os.environ.pop(VARIABLE, None)
        if before is not None:
            os.environ[VARIABLE] = before


def trusted(named: str, what: str, key: str) -> None:
    """Nothing where code that files name may run, else the refusal.

    named: the code as the file names it; what: what that is, such as "a compiled law"; key: where the file names it.

    Raises InputError.
    """
    if os.environ.get(VARIABLE) != "1":
        raise InputError(
            f"{named} is {what}: code that would run on this machine with all that you may do",
            key=key,
            mend="look who made it; then add --trust to the command (in Python: with fp.trusting():)",
        )
