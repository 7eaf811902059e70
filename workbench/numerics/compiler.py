"""The system's C compiler, asked politely: bounded in time and in what it may say; its libraries kept by `code_cache`."""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
import selectors
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


class CompilerError(Exception):
    """The compiler made nothing: its last words, or that it hung."""


@cache
def compiler() -> str | None:
    """Path of the C compiler: $CC, cc, gcc or clang; None when there is none or FLUIDPROOF_COMPILER=none."""
    if os.environ.get("FLUIDPROOF_COMPILER", "") == "none":
        return None
    for name in (os.environ.get("FLUIDPROOF_COMPILER"), os.environ.get("CC"), "cc", "gcc", "clang"):
        path = shutil.which(name) if name else None
        if path:
            return path
    return None


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


def own_flags() -> tuple[str, ...]:
    """Flags that a compiler may not know: SPARED, and this processor's own instructions, where the cache can tell it from others.

    The numbers are the same.
    """
    return (*SPARED, "-march=native") if processor() else SPARED


_hung: set[str] = set()  # compilers that are not asked again by this process


def library(source: str, further: tuple[str, ...] = ()) -> ctypes.CDLL | None:
    """The source compiled and loaded, from the disk cache where it is there; None when there is no working compiler.

    `further` flags are this source's own and stand after the others.
    """
    cc = compiler()
    if cc is None:
        _slow("no C compiler was found (install gcc or clang, or set FLUIDPROOF_COMPILER)")
        return None
    asked = (
        source,
        cc,
        *FLAGS,
        *own_flags(),
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
        _slow(f"the C compiler {cc} failed ({reason})")
        return None


def _loaded(cc: str, source: str, target: Path, further: tuple[str, ...]) -> ctypes.CDLL:
    if code_cache.whole(target):
        try:
            return ctypes.CDLL(str(target))
        except OSError:  # of another machine: made anew
            pass
    _compile(cc, source, target, further)
    return ctypes.CDLL(str(target))


def _compile(cc: str, source: str, target: Path, further: tuple[str, ...] = ()) -> None:
    if cc in _hung:
        raise CompilerError("it did not end before")
    # A private folder and a rename: several processes may start at once, and a killed one leaves nothing half-written.
    with code_cache.building(target.parent) as folder:
        c = Path(folder) / "part.c"
        so = Path(folder) / "part.so"
        c.write_text(source, "utf-8")
        files = ("-o", str(so), str(c), "-lm")
        said = _asked([cc, *FLAGS, *own_flags(), *further, *files])
        # a compiler that does not know them, or this processor.
        if said is not None and own_flags():
            said = _asked([cc, *FLAGS, *further, *files])
        if said is not None:
            raise CompilerError(said)
        if not so.is_file():
            raise CompilerError("it wrote no library")
        code_cache.keep(so, target)


def _asked(command: list[str]) -> str | None:
    """None when the command ended well, else the last line that it said. It has PATIENCE seconds, its children too."""
    run = subprocess.Popen(
        command,
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
        _hung.add(command[0])
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
            Notice(f"{why}: running in CasADi's virtual machine, about 15 times slower"),
            stacklevel=3,
        )
