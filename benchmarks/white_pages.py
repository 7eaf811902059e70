"""How much of every page of a report is left white at its foot: `python benchmarks/white_pages.py A.pdf …`.

Needs pdftoppm. Shares are of the height between the margins (23 mm above, 21 mm below, of 297 mm). The last page may end anywhere.
"""

import subprocess
import sys

import numpy as np

from reports.placed import white


def pages(path: str) -> list[np.ndarray]:
    """Every page as grey values, 50 dots an inch."""
    raw = subprocess.run(
        ["pdftoppm", "-r", "50", "-gray", path], capture_output=True, check=True
    ).stdout
    found = []
    while raw:
        _, size, _, rest = raw.split(b"\n", 3)
        width, height = map(int, size.split())
        found.append(np.frombuffer(rest[: width * height], np.uint8).reshape(height, width))
        raw = rest[width * height :]
    return found


def main(paths: list[str]) -> None:
    """Print a line a report: pages, white share at the foot of each."""
    for path in paths:
        feet = [white(page) for page in pages(path)]
        inner = feet[:-1]
        loose = sum(foot > 0.2 for foot in inner)
        shown = " ".join(f"{100 * foot:.0f}" for foot in feet)
        mean = 100 * float(np.mean(inner)) if inner else 0.0
        print(
            f"{path}: {len(feet)} pages, {loose} left white by a fifth or more, mean {mean:.1f} %: {shown}"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
