"""The folder of compiled code: the user's alone or not used, its files whole or made anew; compilers that hang or babble."""

import gc
import hashlib
import os
import shlex
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest

from workbench.contract.errors import Notice
from workbench.numerics import code_cache, compiler

ROOT = Path(__file__).parents[1]
SEVEN = "int seven(void) { return 7; }"
EIGHT = "int seven(void) { return 8; }"

needs_compiler = pytest.mark.skipif(compiler.compiler() is None, reason="no C compiler")
needs_root = pytest.mark.skipif(
    os.geteuid() != 0, reason="only root can give a folder to another user"
)


@pytest.fixture
def asked(tmp_path, monkeypatch):
    """The folder that the cache is asked to use; nothing is known of it yet."""
    monkeypatch.setenv("FLUIDPROOF_CACHE", str(tmp_path / "cache"))
    code_cache._fit_folder.cache_clear()
    yield tmp_path / "cache"
    code_cache._fit_folder.cache_clear()


@pytest.fixture
def asking(tmp_path, monkeypatch):
    """A function that lets a shell script be the compiler; it has two seconds."""

    def ask(text: str) -> None:
        script = tmp_path / "ccc"
        script.write_text(f"#!/bin/sh\n{text}\n")
        script.chmod(0o755)
        monkeypatch.setattr(compiler, "compiler", lambda: (str(script),))
        monkeypatch.setattr(compiler, "PATIENCE", 2.0)
        monkeypatch.setattr(compiler, "_hung", set())
        monkeypatch.setattr(compiler, "_known", {})
        monkeypatch.setattr(compiler, "_said", set())

    return ask


def used():
    """(folder that is used, what was said about it)"""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        folder = code_cache.folder()
    assert all(issubclass(w.category, Notice) for w in said)
    return folder, [str(w.message) for w in said]


def library(source):
    """(library or None, what was said)"""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = compiler.library(source)
    return found, [str(w.message) for w in said]


# ---- which folder --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("given", ("", ".", "cache", "../cache"))
def test_a_relative_cache_home_is_none(given, tmp_path, monkeypatch):
    monkeypatch.delenv("FLUIDPROOF_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", given)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert code_cache.asked_folder() == tmp_path / ".cache" / "fluidproof"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "own"))
    assert code_cache.asked_folder() == tmp_path / "own" / "fluidproof"


@pytest.mark.parametrize("variable", ("FLUIDPROOF_CACHE", "HOME"))
def test_a_relative_folder_is_refused_in_words(variable, asked, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("FLUIDPROOF_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(variable, "here")
    folder, said = used()
    assert folder == code_cache.private_folder() and not (tmp_path / "here").exists()
    assert len(said) == 1 and "not absolute" in said[0] and "mend" in said[0]


def test_a_folder_of_ones_own_is_used(asked):
    assert used() == (asked, [])
    assert asked.stat().st_mode & 0o777 == 0o700
    code_cache._fit_folder.cache_clear()
    asked.chmod(0o755)  # others may read it
    assert used() == (asked, [])


@pytest.mark.parametrize("mode", (0o770, 0o702, 0o777))
def test_a_folder_that_others_may_write_is_refused(mode, asked):
    asked.mkdir()
    asked.chmod(mode)
    folder, said = used()
    assert folder == code_cache.private_folder() and folder.stat().st_mode & 0o777 == 0o700
    assert len(said) == 1 and "others may write there" in said[0] and f"{mode:04o}" in said[0]


@needs_root
@pytest.mark.parametrize("which", ("itself", "above", "behind a link"))
def test_a_folder_of_somebody_else_is_refused(which, asked):
    asked.parent.chmod(0o700)
    if which == "behind a link":
        (asked.parent / "theirs").mkdir(mode=0o700)
        asked.symlink_to(asked.parent / "theirs")
    else:
        asked.mkdir(mode=0o700)
    os.chown(asked.parent if which == "above" else asked, 12345, 12345)
    try:
        folder, said = used()
    finally:
        os.chown(asked.parent, 0, 0)
    assert folder == code_cache.private_folder() and "another user (number 12345)" in said[0]


def test_a_folder_that_others_may_exchange_is_refused(asked):
    asked.mkdir(mode=0o700)
    asked.parent.chmod(0o777)
    _, said = used()
    assert "above it" in said[0]
    code_cache._fit_folder.cache_clear()
    asked.parent.chmod(0o1777)  # as /tmp: only the owner may rename what is in it
    assert used() == (asked, [])


@needs_compiler
def test_a_planted_library_is_not_run(asked, tmp_path):
    """One in the current folder, one without its checksum, one that others may write."""
    assert compiler.library(SEVEN).seven() == 7
    (made,) = asked.glob("*.so")
    assert code_cache.whole(made)
    planted = tmp_path / "eight.so"
    (tmp_path / "eight.c").write_text(EIGHT)
    subprocess.run(
        [*compiler.compiler(), "-shared", "-fPIC", "-o", planted, tmp_path / "eight.c"], check=True
    )
    made.unlink()
    made.write_bytes(planted.read_bytes())
    assert not code_cache.whole(made)
    script = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
        f"from workbench.numerics.compiler import library\nprint(library({SEVEN!r}).seven())"
    )
    assert (
        subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=True
        ).stdout
        == "7\n"
    )
    assert code_cache.whole(made)
    made.chmod(0o666)
    assert not code_cache.whole(made)


# ---- what is in it -------------------------------------------------------------------------------------------------
@needs_compiler
@pytest.mark.parametrize(
    "harm", ("truncated", "empty", "one bit", "no seal", "seal cut short", "seal is no text")
)
def test_damaged_libraries_are_made_anew(harm, asked):
    assert compiler.library(SEVEN).seven() == 7
    (made,) = asked.glob("*.so")
    good, seal = made.read_bytes(), code_cache.seal(made)
    assert seal.read_text() == code_cache.stamp(good)
    made.unlink()  # the loaded one stays as it is
    made.write_bytes(
        {
            "truncated": good[: len(good) // 2],
            "empty": b"",
            "one bit": good[:-1] + bytes([good[-1] ^ 1]),
        }.get(harm, good)
    )
    if harm == "no seal":
        seal.unlink()
    elif harm.startswith("seal"):
        seal.write_bytes(
            {"seal cut short": seal.read_bytes()[:20], "seal is no text": b"\xff\xfe\x00"}[harm]
        )
    assert not code_cache.whole(made)
    found, said = library(SEVEN)
    assert found.seven() == 7 and not said and code_cache.whole(made)
    assert {p.suffix for p in asked.iterdir()} == {".so", ".sha256"}


def test_what_terminated_compiles_leave_is_cleaned(asked):
    gone = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, text=True
    )
    asked.mkdir(mode=0o700)
    host = code_cache._host()
    dead = asked / f"build-{host}-{gone.stdout.strip()}-abc"
    living = asked / f"build-{host}-{os.getpid()}-abc"
    elsewhere, old = asked / f"build-0000-{gone.stdout.strip()}-abc", asked / "build-abcdefgh"
    for left in (dead, living, elsewhere, old):
        left.mkdir()
        (left / "part.c").write_text("int")
    os.utime(old, (time.time() - 2 * code_cache.ABANDONED,) * 2)
    assert used() == (asked, [])
    assert {p.name for p in asked.iterdir()} == {living.name, elsewhere.name}


@needs_compiler
def test_a_process_terminated_while_compiling(asked, tmp_path):
    slow = tmp_path / "slow"
    slow.write_text("#!/bin/sh\nsleep 60\n")
    slow.chmod(0o755)
    script = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
        f"from workbench.numerics.compiler import library\nlibrary({SEVEN!r})"
    )
    run = subprocess.Popen(
        [sys.executable, "-c", script],
        env=os.environ | {"FLUIDPROOF_COMPILER": str(slow)},
        process_group=0,
    )
    try:
        until = time.monotonic() + 60
        while not list(asked.glob("build-*")) and time.monotonic() < until:
            time.sleep(0.02)
        run.send_signal(signal.SIGTERM)
        run.wait(30)
    finally:
        run.kill()
    assert list(asked.glob("build-*"))
    assert compiler.library(SEVEN).seven() == 7
    assert not list(asked.glob("build-*"))


# ---- compilers -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "text",
    ("sleep 60", "sleep 60 & wait", "while :; do echo no >&2; done", "trap '' TERM; sleep 60"),
)
def test_a_compiler_that_hangs_is_left(text, asked, asking):
    asking(text)
    found, said = library(SEVEN)
    assert (
        found is None
        and len(said) == 1
        and "did not end within 2 s" in said[0]
        and "virtual machine" in said[0]
    )
    begun = time.monotonic()
    assert library(EIGHT) == (None, [])  # not asked again
    assert time.monotonic() - begun < 2.0 and not list(asked.glob("build-*"))


@pytest.mark.parametrize(
    "text, words",
    (
        (r"printf '\377\376 kaputt\n' >&2; exit 1", "kaputt"),
        ("exit 3", "exit 3"),
        ("exit 0", "wrote no library"),
        ("head -c 3000000 /dev/zero | tr '\\0' 'x' >&2; exit 1", "xxx"),
        (r"printf '\033[31mred\n' >&2; kill -9 $$", "red"),
    ),
)
def test_a_compiler_that_makes_nothing(text, words, asked, asking):
    asking(text)
    found, said = library(SEVEN)
    assert found is None and len(said) == 1 and words in said[0] and len(said[0]) < 1000


@needs_compiler
def test_a_compiler_that_babbles_and_works(asked, asking):
    real = compiler.compiler()
    asking(rf"printf '\377\376' >&2; printf '\377'; exec {shlex.join(real)} " + '"$@"')
    found, said = library(SEVEN)
    assert found.seven() == 7 and not said


# ---- Numba's files -------------------------------------------------------------------------------------------------
def test_numbas_files_are_checked(asked, tmp_path, monkeypatch):
    from plants.valve_circuits.jit import jit

    monkeypatch.setenv("XDG_CACHE_HOME", "")
    monkeypatch.chdir(tmp_path)
    source = tmp_path / "kernel.py"
    source.write_text("def twice(x):\n    return 2 * x\n")

    def run() -> bool:
        """Whether a fresh start finds its code on the disk."""
        gc.collect()  # Numba finds the module of an earlier start by weak references only
        names = {"__name__": __name__}
        exec(compile(source.read_text(), source, "exec"), names)
        twice = jit(names["twice"])
        assert twice(3.5) == 7.0
        return bool(sum(twice.stats.cache_hits.values()))

    assert not run() and run()
    (index,) = (asked / "numba").rglob("*.nbi")
    (data,) = (asked / "numba").rglob("*.nbc")
    for file in (index, data):
        good = file.read_bytes()
        changed = good[:-40] + bytes([good[-40] ^ 1]) + good[-39:]
        for harmed in (b"" if file is index else good[:-1], changed):
            file.write_bytes(harmed)
            assert not run() and run()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["cache", "kernel.py"]


def test_a_file_is_intact_with_its_checksum_and_with_no_other_byte(tmp_path):
    from plants.valve_circuits.jit import _intact

    path, content = tmp_path / "kept", bytes(range(256)) * 3
    whole = content + hashlib.sha256(content).digest()
    path.write_bytes(whole)
    assert _intact(path) == content
    for damaged in (whole[:-1], whole[1:], b"x" + whole[1:], whole[:-1] + b"x", whole + b"x", b""):
        path.write_bytes(damaged)
        with pytest.raises(OSError, match="damaged"):
            _intact(path)
