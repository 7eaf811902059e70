"""A metering circuit as a diagram: pump with bleed and relief, a section a cylinder with its check, four valves, two reliefs."""

from __future__ import annotations

from reports import tables, valve_words
from reports.style import BLUE, GREY, INK, ORANGE, WIDTH, figure, named

SECTIONS = 3  # drawn
UNIT = 0.52  # inches, at most
LIMITS = "#9A6A00"
# Heights: pump's line, behind the check, chambers, cylinder, tank.
MAIN, FED, NODE, PORT, TANK = 2.0, 2.65, 3.9, 4.75, 0.45
STEP, BEFORE = 4.75, 2.75  # widths: of a section, of what stands before the first


def circuit(plant):
    """The diagram of a machine behind metering valves, at most SECTIONS of its sections; None for other plants."""
    has = valve_words.behind(plant)
    if has is None:
        return None
    n = min(len(has.names), SECTIONS)
    across = BEFORE + STEP * n - 0.45
    up = 6.5
    unit = min(UNIT, WIDTH / across)
    fig = figure(up * unit, across * unit)
    ax = fig.add_axes((0, 0, 1, 1))
    ax.set(xlim=(-BEFORE, across - BEFORE), ylim=(-0.45, up - 0.45))
    ax.set_axis_off()
    _supply(ax, has, "" if has.balance == "all" else "V_p", STEP * (n - 1) + 1.7)
    for j in range(n):
        _section(ax, STEP * j, has.circuit.sections[j], has.titles[j])
        if has.regenerates[j]:
            _regeneration(ax, STEP * j)
    if n < len(has.names):
        ax.text(
            across - BEFORE - 0.05,
            MAIN,
            f"… {len(has.names) - n} more",
            fontsize=7,
            ha="right",
            va="bottom",
        )
    return fig


def _pipe(ax, *points, color=INK, layer=1.0):
    ax.plot(
        *zip(*points),
        color=color,
        lw=0.9,
        solid_capstyle="round",
        solid_joinstyle="round",
        zorder=layer,
    )


def _text(ax, x, y, words, ha="left", **keywords):
    ax.text(x, y, words, **{"fontsize": 7, "ha": ha, "va": "center", **keywords})


def _box(ax, left, right, low, high, fill="white", edge=INK, layer=2.0):
    ax.fill(
        [left, right, right, left], [low, low, high, high], fc=fill, ec=edge, lw=0.9, zorder=layer
    )


def _arrow(ax, start, end, color):
    ax.annotate(
        "",
        end,
        start,
        arrowprops={
            "arrowstyle": "-|>",
            "color": color,
            "lw": 0.8,
            "mutation_scale": 5,
            "shrinkA": 0,
            "shrinkB": 0,
        },
        zorder=5,
    )


def _dot(ax, x, y):
    ax.plot(x, y, "o", ms=2.4, color=INK, zorder=3)


def _tank(ax, x, y):
    """An open vessel below (x, y)."""
    _pipe(ax, (x - 0.17, y), (x - 0.17, y - 0.16), (x + 0.17, y - 0.16), (x + 0.17, y))


def _valve(ax, x, y, words, side=1):
    """A throttle that can be moved."""
    _box(ax, x - 0.19, x + 0.19, y - 0.19, y + 0.19, edge=BLUE)
    _arrow(ax, (x - 0.17, y - 0.17), (x + 0.17, y + 0.17), BLUE)
    _text(ax, x + 0.28 * side, y, words, "left" if side > 0 else "right", color=BLUE)


def _relief(ax, x, y, side=1):
    """A limit, its arrow beside the line, shut by a spring on one side."""
    _box(ax, x - 0.16, x + 0.16, y - 0.16, y + 0.16, edge=ORANGE)
    _arrow(ax, (x - 0.06 * side, y + 0.15), (x - 0.06 * side, y - 0.15), ORANGE)
    _pipe(
        ax,
        *((x + side * (0.16 + 0.04 * k), y + (0.07 if k % 2 else -0.07)) for k in range(5)),
        color=ORANGE,
    )


def _check(ax, x, y):
    """Passes oil upwards: a ball on its seat."""
    ax.plot([x - 0.13, x, x + 0.13], [y + 0.1, y - 0.06, y + 0.1], color=INK, lw=0.9, zorder=3)
    ax.plot(x, y + 0.07, "o", ms=3.2, mfc="white", mec=INK, mew=0.8, zorder=4)


def _supply(ax, has, volume, end):
    """Pump, bleed, relief, and the line to the sections."""
    from matplotlib.patches import Circle

    pump = has.circuit.pump
    x = -BEFORE + 0.5
    _pipe(ax, (x, TANK), (x, 0.98))
    _tank(ax, x, TANK)
    ax.add_patch(Circle((x, 1.28), 0.3, fc="white", ec=INK, lw=0.9, zorder=2))
    ax.fill([x - 0.11, x + 0.11, x], [1.4, 1.4, 1.57], color=INK, zorder=3)
    _pipe(ax, (x, 1.58), (x, MAIN), (end, MAIN))
    _text(ax, x - 0.05, MAIN + 0.3, "$P$", color=INK)
    _text(ax, x + 0.05, TANK - 0.42, tables.quantity(pump.Q, "m^3/s", 3), "center")
    for at in (-1.5, -0.7):
        _pipe(ax, (at, MAIN), (at, TANK))
        _tank(ax, at, TANK)
        _dot(ax, at, MAIN)
    _valve(ax, -1.5, 1.3, "$u_{b}$")
    _relief(ax, -0.7, 1.3)
    _text(ax, -0.7, TANK - 0.42, tables.quantity(pump.P_M, "Pa", 3), "center", color=LIMITS)
    if volume:
        _pipe(ax, (-1.85, MAIN), (-1.85, MAIN + 0.3))
        _dot(ax, -1.85, MAIN)
        ax.add_patch(Circle((-1.85, MAIN + 0.5), 0.2, fc="#FBEFD5", ec=GREY, lw=0.8, zorder=2))
        _text(ax, -1.58, MAIN + 0.5, "$V_{p}$")


def _section(ax, x, section, title):
    """Draw check valve, metering valves, reliefs and cylinder of one actuator."""
    _pipe(ax, (x + 1.7, MAIN), (x + 1.7, FED))
    _dot(ax, x + 1.7, MAIN)
    _check(ax, x + 1.7, 0.5 * (MAIN + FED))
    _pipe(ax, (x + 0.3, FED), (x + 3.1, FED))
    _dot(ax, x + 1.7, FED)
    for port, fed, drained, side in ((x + 0.75, "ph", "th", 1), (x + 2.65, "pr", "tr", -1)):
        up = port - 0.45 * side
        down = port + 0.45 * side
        for y in (MAIN, FED):  # passed without touching
            ax.plot([down - 0.09, down + 0.09], [y, y], color="white", lw=2.5, zorder=1.2)
        for leg, end, height, name in ((up, FED, 3.25, fed), (down, TANK, 1.3, drained)):
            _pipe(ax, (port, NODE), (leg, NODE), (leg, end), layer=1.4)
            _valve(ax, leg, height, f"$u_{{{name}}}$", side if leg == up else -side)
        _tank(ax, down, TANK)
        _pipe(ax, (port, NODE), (port, PORT))
        _dot(ax, port, NODE)
        _limits(ax, port, side, section.P_hM if side > 0 else section.P_rM)
    (_motor if valve_words.turns(section) else _cylinder)(ax, x, section, title)


def _regeneration(ax, x):
    """From the rod's side back to the head's, one way."""
    y = 4.5
    _pipe(ax, (x + 0.75, y), (x + 2.65, y))
    _dot(ax, x + 0.75, y)
    _dot(ax, x + 2.65, y)
    ax.plot([x + 1.18, x + 1.34, x + 1.18], [y + 0.13, y, y - 0.13], color=INK, lw=0.9, zorder=3)
    ax.plot(x + 1.17, y, "o", ms=3.2, mfc="white", mec=INK, mew=0.8, zorder=4)
    _valve(ax, x + 2.0, y, "")
    _text(ax, x + 2.0, y - 0.36, "$u_{a}$", "center", color=BLUE)


def _limits(ax, port, side, limit):
    """Relief and suction check of a chamber, side by side between its port and the tank."""
    near = port - 0.75 * side
    far = port - 1.23 * side
    top = 4.3
    end = 3.3
    _pipe(ax, (port, top), (far, top), (far, end + 0.1))
    _pipe(ax, (near, top), (near, end + 0.1))
    _pipe(ax, (near, end + 0.1), (far, end + 0.1))
    _pipe(ax, (0.5 * (near + far), end + 0.1), (0.5 * (near + far), end - 0.05))
    _dot(ax, port, top)
    _dot(ax, near, top)
    _tank(ax, 0.5 * (near + far), end - 0.05)
    _check(ax, near, 3.85)
    _relief(ax, far, 3.85, side)
    _text(
        ax,
        0.5 * (near + far),
        end - (0.42 if side > 0 else 0.7),
        tables.quantity(limit, "Pa", 3),
        "center",
        color=LIMITS,
    )


def _cylinder(ax, x, section, title):
    """Case, piston and rod; the rod as thick as its share of the area."""
    thick = 0.5 * (1 - min(section.A_r / section.A_h, 0.9)) + 0.06
    middle = PORT + 0.275
    _box(ax, x + 0.4, x + 3.0, PORT, PORT + 0.55, "#E8F1F7")
    _box(ax, x + 1.5, x + 1.7, PORT, PORT + 0.55, GREY, layer=3.0)
    _box(ax, x + 1.7, x + 3.5, middle - thick / 2, middle + thick / 2, layer=3.0)
    _text(ax, x + 1.7, PORT + 0.78, named(title, 24), "center", fontsize=8)


def _motor(ax, x, section, title):
    """A circle with a triangle at each port."""
    from matplotlib.patches import Circle

    middle = x + 1.7
    high = PORT + 0.275
    for port, side in ((x + 0.75, -1), (x + 2.65, 1)):
        _pipe(ax, (port, PORT), (port, high), (middle + 0.35 * side, high))
        edge = middle + 0.33 * side
        point = middle + 0.16 * side
        ax.fill([edge, edge, point], [high - 0.11, high + 0.11, high], color=INK, zorder=4)
    ax.add_patch(Circle((middle, high), 0.35, fc="#E8F1F7", ec=INK, lw=0.9, zorder=3))
    _text(ax, middle, PORT + 0.83, named(title, 24), "center", fontsize=8)
