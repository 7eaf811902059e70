"""Where `verify-stability` and `workbench` begin: Ctrl-C ends them with one line from the first instant on.

While libraries are imported, which takes most of a second, there is no command yet that could answer an interrupt:
until then the signal itself is answered, here. This module imports nothing that takes time.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
from types import FrameType
from typing import NoReturn

from workbench.commands.codes import INTERRUPTED


def _ended(number: int, frame: FrameType | None) -> NoReturn:
    os.write(2, b"interrupted; nothing was written\n")
    os._exit(INTERRUPTED)


def _listening() -> bool:
    """Whether an interrupt would reach this process as Python has it: not under nohup, not in a thread's care."""
    return signal.getsignal(signal.SIGINT) in (signal.default_int_handler, _ended)


if _listening():
    signal.signal(signal.SIGINT, _ended)


def verify_stability() -> int:
    """`verify-stability FILE`."""
    return _left(_begun("verify_stability"))


def main() -> int:
    """`workbench VERB …`."""
    return _left(_begun("main"))


def _begun(command: str) -> int:
    """Run a command of `cli`: an interrupt is the command's own once it is imported, and nobody's when it has ended."""
    from workbench.commands import cli

    listening = _listening()
    if listening:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return int(getattr(cli, command)())
    except KeyboardInterrupt:  # between two lines of ours, outside what the command guards
        os.write(2, b"interrupted\n")
        return INTERRUPTED
    finally:
        if listening:
            signal.signal(signal.SIGINT, signal.SIG_IGN)


def _left(code: int) -> int:
    """The process ends here with this code: to free a million objects one by one takes as long as many a command.

    What is written is out before, and what was asked for at the end is done. A stream that nobody reads any more, or a full
    disk, is left to Python to report: then the code is returned.
    """
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        return code
    atexit._run_exitfuncs()
    os._exit(code)
