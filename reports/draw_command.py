"""`workbench draw FILE`: a machine at its start, to a file or to the screen."""

from __future__ import annotations

import os
import sys
import tempfile

from workbench.contract.errors import Faults, InputError


def run_draw(options, load_plant) -> int:
    """Draw what `load_plant` (name → plant and title) finds, and say where to.

    A machine whose parts do not fit is drawn, too: then the Faults that name what does not are raised after the drawing.
    """
    from workbench.files.atomic import check_writable

    from .drawing import check_drawable, show_drawing

    path = options.output
    if path is not None:
        if os.path.realpath(path) == os.path.realpath(options.file):
            raise InputError(
                "--output would overwrite the machine's file",
                file=path,
                mend="give it a name of its own",
            )
        check_writable(path)
    faults = None
    try:
        plant, title = load_plant(options.file)
    except Faults as why:
        if why.machine is None:
            raise
        faults = why
        plant = why.machine
        title = f"{plant.name}: does not fit"
    check_drawable(plant, path)
    shown = path is None and _has_display() and show_drawing(plant, title)
    if not shown:
        _write(path, plant, title)
    if faults is not None:
        raise faults
    return 0


def _write(path: str | None, plant, title: str) -> None:
    """The drawing in a file, one of its own where none is named."""
    from workbench.commands import terminal

    from .drawing import draw

    if path is None:
        path = _aside()
        terminal.say("there is no display for a window; -o FILE writes the drawing where you want")
    draw(plant, path, title)
    terminal.say(f"drawn: {terminal.clean(path)}")


def _has_display() -> bool:
    """Whether a window can open here."""
    if sys.platform in ("win32", "darwin"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _aside() -> str:
    """A new file of its own among the temporary ones."""
    handle, path = tempfile.mkstemp(prefix="drawing-", suffix=".svg")
    os.close(handle)
    return path
