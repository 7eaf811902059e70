"""A run as a small moving picture: GIF, or SVG that moves by itself (SMIL) in any browser.

    animate("crane.gif", plant, log)      from Python, with the log of a run, just made or loaded
    workbench simulate case.yaml --animation crane.svg

Real time up to 15 s; longer runs go faster, as the picture says. Bodies and cylinders are those of `outline`.
"""

from __future__ import annotations

import io
import os
from typing import Any, NamedTuple

import numpy as np

from reports.outline import picture
from reports.picture import Outline, Picture
from workbench.contract.errors import InputError
from workbench.contract.units import format_quantity
from workbench.run.log import Log

from .sketch import PLATE, STYLES
from .style import FAINT, INK, ORANGE

KINDS = {".gif": 0.1, ".svg": 0.1}  # s between frames; SVG is drawn in between
LONGEST = 15.0  # s an animation takes
MARGIN, BAR = 16.0, 26.0  # pixels around the machine, and below it for the time
FINE = 3  # a GIF is drawn so many times as large and made smaller, for smooth edges


class Film(NamedTuple):
    """Frames ready to be drawn: outlines in pixels, y downwards, at times t of the run; `pixels` (width, height)."""

    t: np.ndarray
    frames: list[Outline]
    path: np.ndarray | None
    stands: np.ndarray
    foot: float
    pixels: tuple[int, int]
    speed: float

    @property
    def seconds(self) -> float:
        """How long it takes to see."""
        return float(self.t[-1] - self.t[0]) / self.speed


def check_animation(path: str | os.PathLike, plant: Any) -> Picture:
    """How `plant` will be drawn; InputError for a file that is neither .gif nor .svg, and for a plant that cannot be drawn."""
    kind = os.path.splitext(os.fspath(path))[1].lower()
    if kind not in KINDS:
        raise InputError(
            f"an animation is a .gif or .svg, not {kind or 'a file without ending'}",
            file=os.fspath(path),
            mend="name it so that it ends in .gif or .svg",
        )
    drawn = picture(plant)
    if drawn is None:
        raise InputError(
            f"{type(plant).__name__} has no bodies that could be drawn",
            mend="animate a crane, arms behind valves, a four-bar or a mechanism; for others write --csv and plot it",
        )
    return drawn


def animate(
    path: str | os.PathLike, plant: Any, log: Log, *, width: int = 480, speed: float | None = None
) -> None:
    """Write the run in `log` of `plant` as a moving picture, whole or not at all; the ending says which kind.

    width: of the picture in pixels. speed: seconds of the run that pass in one second; None: 1 for runs up to 15 s, more for
    longer ones. Raises InputError for other endings, plants that cannot be drawn, logs that lack their positions, and runs too
    short to move.
    """
    from workbench.files.atomic import check_writable, write_atomic

    check_writable(path)
    drawn = check_animation(path, plant)
    kind = os.path.splitext(os.fspath(path))[1].lower()
    made = (gif if kind == ".gif" else svg)(film(drawn, log, KINDS[kind], width, speed))
    write_atomic(path, lambda stream: stream.write(made))


def film(
    drawn: Picture, log: Log, every: float, width: int = 480, speed: float | None = None
) -> Film:
    """Frames of a run, one each `every` seconds of watching; what a run did after it blew up is left out."""
    if missing := [name for name in drawn.names if name not in log]:
        raise InputError(
            f"log: {missing[0]!r} is not in it, so the machine's positions are not known",
            mend="give the log of a run of this machine",
        )
    if not width >= 64 or (speed is not None and not 0 < speed < np.inf):
        raise InputError(
            f"animation: width {width}, speed {speed}",
            mend="at least 64 pixels, and a speed greater than zero",
        )
    q = drawn.positions(log)
    sound = np.isfinite(q).all(1) & (np.abs(q - q[0]) < 100.0).all(1)  # rad, m
    last = len(q) - 1 if sound.all() else int(np.argmin(sound)) - 1
    length = float(log.time[max(last, 0)] - log.time[0])
    if not length > 0:
        raise InputError("log: the run is too short to move", mend="run it for longer")
    speed = speed or max(1.0, length / LONGEST)
    t = log.time[0] + np.linspace(0.0, length, max(2, round(length / speed / every) + 1))
    chosen = np.clip(np.searchsorted(log.time, t - 1e-9), 0, last)
    outlines = [drawn.at(q[i]) for i in chosen]
    tool = drawn.tool(log)
    return _scaled(drawn, outlines, t, tool if tool is None else tool[: last + 1], width, speed)


def _scaled(drawn, outlines, t, tool, width, speed) -> Film:
    """From metres to pixels."""
    seen = [s.points for o in outlines for s in o.strokes] + ([] if tool is None else [tool])
    points = np.vstack(
        [*seen, drawn.stands + [drawn.foot, 0.0], drawn.stands - [drawn.foot, 0.3 * drawn.foot]]
    )
    low = points.min(0)
    high = points.max(0)
    size = (width - 2 * MARGIN) / max(high[0] - low[0], 0.5 * (high[1] - low[1]), 1e-9)
    height = int(np.ceil((high[1] - low[1]) * size + 2 * MARGIN + BAR))
    aside = 0.5 * (width - 2 * MARGIN - (high[0] - low[0]) * size)
    put = lambda p: (
        None
        if p is None
        else np.stack(
            [MARGIN + aside + (p[..., 0] - low[0]) * size, MARGIN + (high[1] - p[..., 1]) * size],
            -1,
        )
    )
    frames = [
        Outline([s._replace(points=put(s.points)) for s in o.strokes], put(o.pins), put(o.tip), [])
        for o in outlines
    ]
    return Film(
        t, frames, put(tool), put(drawn.stands), drawn.foot * size, (int(width), height), speed
    )


def _words(made: Film) -> str:
    return format_quantity(float(made.t[-1]), "s", 4) + (
        f", × {made.speed:.3g}" if made.speed != 1 else ""
    )


def _ground(made: Film) -> list[np.ndarray]:
    """Lines of the ground."""
    w = made.foot
    lines = []
    for x, y in made.stands:
        lines.append(np.array([[x - w, y], [x + w, y]]))
        lines += [
            np.array([[at, y], [at - 0.2 * w, y + 0.24 * w]]) for at in np.linspace(x - w, x + w, 7)
        ]
    return lines


def _order(outline: Outline):
    return sorted(outline.strokes, key=lambda s: STYLES[s.kind][3])


# ---- GIF --------------------------------------------------------------------------------------------------------------
def gif(made: Film) -> bytes:
    """The film as an animated GIF that goes on for ever."""
    from PIL import Image

    images = [_frame(made, k) for k in range(len(made.frames))]
    palette = images[0].quantize(16, method=Image.Quantize.MEDIANCUT)
    shown = [image.quantize(palette=palette, dither=Image.Dither.NONE) for image in images]
    stream = io.BytesIO()
    # GIF counts hundredths of a second.
    each = 10 * max(2, round(100 * made.seconds / (len(shown) - 1)))
    shown[0].save(
        stream, "GIF", save_all=True, append_images=shown[1:], duration=each, loop=0, disposal=1
    )
    return stream.getvalue()


def _frame(made: Film, k: int):
    """One picture."""
    from matplotlib import get_data_path
    from PIL import Image, ImageDraw, ImageFont

    width, height = made.pixels
    image = Image.new("RGB", (FINE * width, FINE * height), "white")
    pen = ImageDraw.Draw(image)
    scale = width / 480
    line = lambda points, color, w: _line(pen, FINE * points, color, FINE * w * scale)
    for ground in _ground(made):
        line(ground, INK, 0.8)
    if made.path is not None:
        line(made.path[:: max(1, len(made.path) // 600)], ORANGE, 1.2)
    frame = made.frames[k]
    for kind, points in _order(frame):
        color, _, w, _ = STYLES[kind]
        if kind == "plate":
            pen.polygon([tuple(p) for p in FINE * points], fill=PLATE)
            points = np.vstack([points, points[:1]])
        line(points, color, 1.3 * w)
    for x, y in FINE * frame.pins:
        r = 3.0 * FINE * scale
        pen.ellipse((x - r, y - r, x + r, y + r), "white", INK, round(FINE * scale))
    if frame.tip is not None:
        x, y = FINE * frame.tip
        r = 3.5 * FINE * scale
        pen.ellipse((x - r, y - r, x + r, y + r), ORANGE)
    done = (made.t[k] - made.t[0]) / (made.t[-1] - made.t[0])
    base = height - 0.5 * BAR
    end = width - MARGIN - 120
    line(np.array([[MARGIN, base], [end, base]]), FAINT, 2)
    line(np.array([[MARGIN, base], [MARGIN + done * (end - MARGIN), base]]), STYLES["case"][0], 2)
    font = ImageFont.truetype(
        os.path.join(get_data_path(), "fonts", "ttf", "DejaVuSans.ttf"), 11 * FINE
    )
    pen.text((FINE * (end + 8), FINE * base), f"{made.t[k]:.1f} of {_words(made)}", INK, font, "lm")
    return image.resize((width, height), Image.Resampling.BOX)


def _line(pen, points, color, w):
    pen.line([tuple(p) for p in points], color, max(1, round(w)), "curve")
    for x, y in points[[0, -1]]:
        pen.ellipse((x - w / 2, y - w / 2, x + w / 2, y + w / 2), color)


# ---- SVG --------------------------------------------------------------------------------------------------------------
def svg(made: Film) -> bytes:
    """The film as an SVG whose lines move between the frames; one path a kind of line."""
    width, height = made.pixels
    scale = width / 480
    base = height - 0.5 * BAR
    end = width - MARGIN - 120
    dur = f'dur="{made.seconds:.3f}s" repeatCount="indefinite"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'fill="none" stroke-linecap="round" stroke-linejoin="round">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        f'<path stroke="{INK}" stroke-width="{0.8 * scale:.2f}" d="{"".join(_d(g) for g in _ground(made))}"/>',
    ]
    if made.path is not None:
        thin = made.path[:: max(1, len(made.path) // 600)]
        parts.append(f'<path stroke="{ORANGE}" stroke-width="{1.2 * scale:.2f}" d="{_d(thin)}"/>')

    def moving(outlines, look):
        """Adds a path that has one outline a frame."""
        steps = f'><animate attributeName="d" {dur} values="{";".join(outlines)}"/></path>'
        still = len(set(outlines)) == 1
        parts.append(f'<path {look} d="{outlines[0]}"' + ("/>" if still else steps))

    for kind in sorted({s.kind for s in made.frames[0].strokes}, key=lambda kind: STYLES[kind][3]):
        color, _, thick, _ = STYLES[kind]
        fill = f' fill="{PLATE}"' if kind == "plate" else ""
        outlines = [_outline(frame, kind) for frame in made.frames]
        moving(outlines, f'stroke="{color}" stroke-width="{1.3 * thick * scale:.2f}"{fill}')
    dots = ["".join(f"M{x:.1f} {y:.1f}h0" for x, y in f.pins) for f in made.frames]
    for color, w in ((INK, 7.0), ("white", 5.0)):
        moving(dots, f'stroke="{color}" stroke-width="{w * scale:.2f}"')
    if made.frames[0].tip is not None:
        moving(
            [f"M{f.tip[0]:.1f} {f.tip[1]:.1f}h0" for f in made.frames],
            f'stroke="{ORANGE}" stroke-width="{7 * scale:.2f}"',
        )
    parts.append(f'<path stroke="{FAINT}" stroke-width="2" d="M{MARGIN} {base}H{end}"/>')
    moving(
        [f"M{MARGIN} {base}H{MARGIN + 0.01}", f"M{MARGIN} {base}H{end}"],
        f'stroke="{STYLES["case"][0]}" stroke-width="2"',
    )
    look = f'font-family="sans-serif" font-size="11" fill="{INK}"'
    parts += [f'<text x="{end + 8}" y="{base + 4}" {look}>{_words(made)}</text>', "</svg>"]
    return "\n".join(parts).encode()


def _outline(frame, kind: str) -> str:
    """One path through all lines of a kind; plates are closed."""
    lines = (stroke.points for stroke in frame.strokes if stroke.kind == kind)
    return "".join(_d(points, kind == "plate") for points in lines)


def _d(points, closed: bool = False) -> str:
    """A path through points, to a tenth of a pixel."""
    text = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    return f"M{text}{'Z' if closed else ''}"
