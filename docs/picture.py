"""Draws docs/report.png, a page of the report of examples/hiab-xs031.yaml, and docs/crane.svg, its run: python docs/picture.py"""

import io
from pathlib import Path

from PIL import Image

from reports import Content, rendered
from reports.animation import animate
from workbench import load
from workbench.verification import examine

HERE = Path(__file__).parent
case = load(HERE.parent / "examples" / "hiab-xs031.yaml")
found = examine(case.loop, case.scenario, case.claims)
content = Content.of(
    case, found, command="verify-stability examples/hiab-xs031.yaml --report report.pdf"
)
pages = rendered(content, "png", 90)
picture = Image.open(io.BytesIO(pages[0])).convert("RGB")
picture.quantize(128).save(HERE / "report.png", optimize=True)
animate(HERE / "crane.svg", case.plant, found.log, width=360, speed=3.0)
