"""The C compiler, asked politely: bounded in time and in what it may say; its libraries kept by `code_cache`.

It is the system's, or the one that the package ziglang brings (`pip install 'fluidproof[compiler]'`).
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib.util
import os
import platform
import selectors
import shlex
import shutil
import signal
import subprocess
import sys
import time
import warnings
from functools import cache
from pathlib import Path

from workbench.contract.errors import Notice
from workbench.numerics import code_cache

# $FLUIDPROOF_OPTIMISE: -Og compiles in half the time of -O2 and runs 15 % longer. The numbers are the same.
FLAGS = (
    os.environ.get("FLUIDPROOF_OPTIMISE", "-O2"),
    "-fno-math-errno",
    "-fno-semantic-interposition",  # functions of one library may be put into each other
    "-ffp-contract=off",
    "-shared",
    "-fPIC",
)
# Passes of GCC that look for what CasADi has already done: without them a compile takes a sixth less time, and a run no longer.
# The last one makes the allocator of registers quick where a function has thousands of numbers: up to a quarter less again.
SPARED = (
    "-fno-gcse",
    "-fno-tree-pre",
    "-fno-tree-slp-vectorize",
    "--param=ira-max-conflict-table-size=0",
)
PATIENCE = 240.0  # s for one compile; what is not compiled by then runs in the virtual machine
WORDS = 10_000  # bytes of what a compiler says that are kept


NONE = "no C compiler was found"
MEND = "install gcc or clang, or pip install 'fluidproof[compiler]', or set FLUIDPROOF_COMPILER"


class CompilerError(Exception):
    """The compiler made nothing: its last words, or that it hung."""


@cache
def compiler() -> tuple[str, ...] | None:
    """The command that compiles C; None where there is none, or FLUIDPROOF_COMPILER=none.

    The first that is there of $FLUIDPROOF_COMPILER, $CC, cc, gcc, clang, and the compiler of the package ziglang.
    """
    chosen = os.environ.get("FLUIDPROOF_COMPILER", "")
    if chosen == "none":
        return None
    for command in (chosen, os.environ.get("CC", ""), "cc", "gcc", "clang"):
        found = _found(command)
        if found:
            return found
    if importlib.util.find_spec("ziglang") is not None:
        return (sys.executable, "-m", "ziglang", "cc")
    return None


def _found(command: str) -> tuple[str, ...] | None:
    """The command with the path of its program, which may stand whole, with spaces; None where there is no such program."""
    whole = shutil.which(command)
    if whole:
        return (whole,)
    words = shlex.split(command)
    path = shutil.which(words[0]) if words else None
    return (path, *words[1:]) if path else None


@cache
def processor() -> str:
    """What tells this processor from others that run other instructions; "" where the system does not say (Linux does)."""
    try:
        lines = (
            Path("/proc/cpuinfo").read_text("utf-8", "replace").partition("\n\n")[0].splitlines()
        )
    except OSError:
        return ""
    told = (
        "vendor_id",
        "cpu family",
        "model",
        "model name",
        "flags",
        "Features",
        "CPU implementer",
        "CPU part",
        "isa",
    )
    return "\n".join(line for line in lines if line.partition(":")[0].strip() in told)


def own_flags() -> tuple[tuple[str, ...], ...]:
    """Flags that a compiler may not know, the most first: SPARED, and this processor's own instructions.

    These are left out where the cache cannot tell the processor from others. The numbers are the same.
    """
    native = ("-march=native",) if processor() else ()
    return ((*SPARED, *native), native, ())


_hung: set[tuple[str, ...]] = set()  # compilers that are not asked again by this process
_known: dict[
    tuple[str, ...], tuple[str, ...]
] = {}  # of `own_flags`, those that a compiler knew before


def library(source: str, further: tuple[str, ...] = ()) -> ctypes.CDLL | None:
    """The source compiled and loaded, from the disk cache where it is there; None when there is no working compiler.

    `further` flags are this source's own and stand after the others.
    """
    cc = compiler()
    if cc is None:
        _slow(f"{NONE} ({MEND})")
        return None
    asked = (
        source,
        *cc,
        *FLAGS,
        *own_flags()[0],
        *further,
        sys.platform,
        platform.machine(),
        processor(),
    )
    key = hashlib.sha256("\0".join(asked).encode()).hexdigest()[:32]
    try:
        try:
            return _loaded(cc, source, code_cache.folder() / f"{key}.so", further)
        except (
            OSError
        ):  # a cache nobody can write, a full disk: keep the code for this process only
            return _loaded(cc, source, code_cache.private_folder() / f"{key}.so", further)
    except (OSError, CompilerError) as reason:
        _slow(f"the C compiler {shlex.join(cc)} failed ({reason})")
        return None


def _loaded(
    cc: tuple[str, ...], source: str, target: Path, further: tuple[str, ...]
) -> ctypes.CDLL:
    if code_cache.whole(target):
        try:
            return ctypes.CDLL(str(target))
        except OSError:  # of another machine: made anew
            pass
    _compile(cc, source, target, further)
    return ctypes.CDLL(str(target))


def _compile(cc: tuple[str, ...], source: str, target: Path, further: tuple[str, ...] = ()) -> None:
    if cc in _hung:
        raise CompilerError("it did not end before")
    # A private folder and a rename: several processes may start at once, and a killed one leaves nothing half-written.
    with code_cache.building(target.parent) as folder:
        c = Path(folder) / "part.c"
        so = Path(folder) / "part.so"
        c.write_text(source, "utf-8")
        files = ("-o", str(so), str(c), "-lm")
        said: str | None = "it knows no flags"
        for own in [_known[cc]] if cc in _known else own_flags():
            said = _asked(cc, [*FLAGS, *own, *further, *files])
            if said is None:
                _known[cc] = own
                break
        if said is not None:
            raise CompilerError(said)
        if not so.is_file():
            raise CompilerError("it wrote no library")
        code_cache.keep(so, target)


def _asked(cc: tuple[str, ...], words: list[str]) -> str | None:
    """None when the compiler ended well, else the last line that it said. It has PATIENCE seconds, its children too."""
    run = subprocess.Popen(
        [*cc, *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        process_group=0,
    )
    try:
        said = _heard(run, time.monotonic() + PATIENCE)
    except BaseException:  # Ctrl-C reaches us only: it has a group of its own
        _end(run)
        raise
    if said is None:
        _end(run)
        _hung.add(cc)
        raise CompilerError(f"it did not end within {PATIENCE:g} s")
    if run.returncode == 0:
        return None
    lines = said.decode("utf-8", "replace").strip().splitlines()
    return lines[-1][:300] if lines else f"exit {run.returncode}"


def _heard(run: subprocess.Popen, until: float) -> bytes | None:
    """The end of what a process writes on stderr until it ends; None when it is not done in time."""
    said = b""
    assert run.stderr is not None  # it is started with a pipe
    with selectors.DefaultSelector() as listen:
        listen.register(run.stderr, selectors.EVENT_READ)
        while (left := until - time.monotonic()) > 0:
            if not listen.select(min(left, 0.05 if run.poll() is not None else left)):
                if run.poll() is not None:  # a child of its keeps the pipe open, silently
                    break
                continue
            heard = os.read(run.stderr.fileno(), 65536)
            if not heard:
                break
            said = (said + heard)[-WORDS:]
    try:
        run.wait(max(0.0, until - time.monotonic()))
    except subprocess.TimeoutExpired:
        return None
    run.stderr.close()
    return said


def _end(run: subprocess.Popen) -> None:
    try:
        os.killpg(run.pid, signal.SIGKILL)
    except OSError:  # it has just ended
        pass
    run.wait()
    if run.stderr is not None:
        run.stderr.close()


_said: set[str] = set()


def _slow(why: str) -> None:
    """Say once a process that code runs uncompiled."""
    if not _said:
        _said.add(why)
        warnings.warn(
            Notice(f"{why}: running in CasADi's virtual machine, about 25 times slower"),
            stacklevel=3,
        )
