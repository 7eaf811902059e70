"""Options of `workbench export`."""

from __future__ import annotations

from typing import Any


def export_options(parser: Any) -> None:
    parser.add_argument("--c", metavar="FOLDER", help="write it as C99 into this new folder")
    parser.add_argument(
        "--fmu", metavar="FILE", help="write it as an FMU for co-simulation into this new file"
    )
    parser.add_argument(
        "--fmi", type=int, choices=(2, 3), default=3, help="version of the FMU (default: 3)"
    )
    parser.add_argument(
        "--part",
        choices=("controller", "plant", "loop"),
        default="controller",
        help="what of the loop is written (default: controller)",
    )
    parser.add_argument(
        "--st",
        metavar="FILE",
        help="write the law as structured text (IEC 61131-3) into this new file",
    )
    parser.add_argument(
        "--ros2",
        metavar="PACKAGE",
        help="write a ros2_control controller package around the law into this new folder",
    )
    parser.add_argument(
        "--name", help="what its identifiers begin with (default: law, plant or loop)"
    )
    parser.add_argument(
        "--float", action="store_true", help="single precision, for processors without doubles"
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="compile it, hold it against the whole run, look for undefined behaviour",
    )
    parser.add_argument(
        "--processor",
        choices=("cortex-m7",),
        help="cross-compile it and run it in QEMU on the samples of the run",
    )
    parser.add_argument(
        "--judge", action="store_true", help="ask the claims again, of the compiled code as the law"
    )
    parser.add_argument(
        "--report",
        metavar="FILE",
        help="write the report (PDF or HTML), with a chapter on the exported code",
    )
    parser.add_argument("--quiet", action="store_true", help="print nothing")
